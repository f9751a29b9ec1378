/*
 * cuda_program.c - what nvcc makes of a CUDA program, by hand: so `simtfuzz exec` is tested where there is no nvcc.
 *
 *     cuda_program WHAT FILE.ptx
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
    unsigned x, y, z;
} dim3;

void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **module);
void __cudaRegisterFunction(void **module, const char *host, char *device, const char *name,
                            int thread_limit, void *tid, void *bid, void *block, void *grid,
                            int *warp);
void __cudaRegisterVar(void **module, char *host, char *device, const char *name, int is_extern,
                       size_t bytes, int is_constant, int is_global);
int cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared,
                     void *stream);
int cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block, void **arguments,
                                size_t shared, void *stream);
int cudaMalloc(void **pointer, size_t bytes);
int cudaFree(void *pointer);
int cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
int cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset, int kind);
int cudaDeviceSynchronize(void);
int cudaLibraryLoadFromFile(void **library, const char *path, const int *options, void **values,
                            unsigned count, const int *library_options, void **library_values,
                            unsigned library_count);
int cudaLibraryGetKernel(void **kernel, void *library, const char *name);
int cudaLibraryUnload(void *library);
int cudaDeviceSetLimit(int limit, size_t value);
int cudaDeviceGetLimit(size_t *value, int limit);
int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream);
int cudaMallocArray(void **array, const int *channels, size_t width, size_t height, unsigned flags);
int cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height);
int cudaMallocAsync(void **pointer, size_t bytes, void *stream);
int cudaFreeAsync(void *pointer, void *stream);
int cudaMemsetAsync(void *to, int value, size_t bytes, void *stream);
int cudaStreamCreate(void **stream);
int cudaStreamDestroy(void *stream);
int cudaStreamSynchronize(void *stream);
int cudaStreamWaitEvent(void *stream, void *event, unsigned flags);
int cudaStreamBeginCapture(void *stream, int mode);
int cudaStreamEndCapture(void *stream, void **graph);
int cudaEventCreate(void **event);
int cudaEventDestroy(void *event);
int cudaEventRecord(void *event, void *stream);
int cudaEventRecordWithFlags(void *event, void *stream, unsigned flags);
int cudaLaunchHostFunc(void *stream, void (*function)(void *), void *data);
int cudaGraphCreate(void **graph, unsigned flags);
int cudaGraphAddKernelNode(void **node, void *graph, void *const *before, size_t count,
                           const void *parameters);
int cudaGraphAddMemcpyNode1D(void **node, void *graph, void *const *before, size_t count, void *to,
                             const void *from, size_t bytes, int kind);
int cudaGraphAddDependencies(void *graph, void *const *from, void *const *to, const void *edges,
                             size_t count);
int cudaGraphGetNodes(void *graph, void **nodes, size_t *count);
int cudaGraphGetEdges(void *graph, void **from, void **to, void *edges, size_t *count);
int cudaGraphInstantiate(void **instance, void *graph, unsigned long long flags);
int cudaGraphExecKernelNodeSetParams(void *instance, void *node, const void *parameters);
int cudaGraphAddNode(void **node, void *graph, void *const *before, const void *edges, size_t count,
                     const void *parameters);
int cudaGraphExecNodeSetParams(void *instance, void *node, const void *parameters);
int cudaStreamUpdateCaptureDependencies(void *stream, void *const *nodes, const void *edges,
                                        size_t count, unsigned flags);
int cudaHostRegister(void *pointer, size_t bytes, unsigned flags);
int cudaHostUnregister(void *pointer);
int cudaGraphChildGraphNodeGetGraph(void *node, void **graph);
int cudaGraphNodeSetEnabled(void *instance, void *node, unsigned enabled);
int cudaGraphExecUpdate(void *instance, void *graph, void *updated);
int cudaGraphLaunch(void *instance, void *stream);
int cudaIpcGetMemHandle(void *handle, void *pointer);
int cudaGraphDestroy(void *graph);
int cudaGraphExecDestroy(void *instance);
const char *cudaGetErrorString(int error);

enum { PTX = 1, CODE = 2, HEAD = 16, ENTRY = 64, ALL = 1 << 20, N = 96 };
enum { TO_DEVICE = 1, TO_HOST = 2 };

static unsigned char binary[ALL];
static char scale, clash, forever, half, talk, odd, few, missing, together, choose, take, spoil,
    keep, use, table, factor; /* their addresses are their names */

static void put(size_t at, uint64_t value, size_t bytes)
{
    memcpy(binary + at, &value, bytes);
}

/* One container with one entry. */
static void make_binary(const char *what, const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file)
        exit(9);
    size_t length = fread(binary + HEAD + ENTRY, 1, ALL - HEAD - ENTRY - 1, file);
    fclose(file);
    put(0, strcmp(what, "garbage") == 0 ? 0x12345678 : 0xba55ed50, 4);
    put(4, 1, 2);
    put(6, HEAD, 2);
    put(8, ENTRY + length + 1, 8);
    put(HEAD, strcmp(what, "code") == 0 ? CODE : PTX, 2);
    put(HEAD + 2, 0x101, 2);
    put(HEAD + 4, ENTRY, 4);
    put(HEAD + 8, strcmp(what, "truncated") == 0 ? 2 * length : length + 1, 8);
    put(HEAD + 28, 80, 4);
}

static void register_all(const char *what)
{
    /* What is linked is machine code; of what it was linked stands beside it. */
    static unsigned char linked[HEAD + ENTRY] = {0x50,
                                                 0xed,
                                                 0x55,
                                                 0xba,
                                                 1,
                                                 0,
                                                 HEAD,
                                                 0,
                                                 ENTRY,
                                                 [HEAD] = CODE,
                                                 [HEAD + 4] = ENTRY,
                                                 [HEAD + 28] = 80};
    static void *parts[] = {binary, NULL};
    static struct {
        uint32_t magic, version;
        void *data, *parts;
    } wrapper = {0x466243b1, 1, binary, NULL};
    if (strcmp(what, "linked") == 0) {
        wrapper.version = 2;
        wrapper.data = linked;
        wrapper.parts = parts;
    }
    void **module = __cudaRegisterFatBinary(&wrapper);
    const struct {
        const char *host, *name;
    } kernels[] = {{&scale, "scale"},   {&clash, "clash"},     {&forever, "forever"},
                   {&half, "half"},     {&talk, "talk"},       {&odd, "odd"},
                   {&few, "few"},       {&missing, "missing"}, {&together, "together"},
                   {&choose, "choose"}, {&take, "take"},       {&spoil, "spoil"},
                   {&keep, "keep"},     {&use, "use"}};
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        char *name = (char *)(uintptr_t)kernels[i].name;
        __cudaRegisterFunction(module, kernels[i].host, name, name, -1, NULL, NULL, NULL, NULL,
                               NULL);
    }
    __cudaRegisterVar(module, &factor, NULL, "factor", 0, 4, 0, 0);
    if (strcmp(what, "choose") == 0)
        __cudaRegisterVar(module, &table, NULL, "table", 0, 16, 0, 0);
    __cudaRegisterFatBinaryEnd(module);
}

static int launch(const void *kernel, unsigned blocks, unsigned threads, void *a, void *b)
{
    void *arguments[] = {&a, &b};
    int error =
        cudaLaunchKernel(kernel, (dim3){blocks, 1, 1}, (dim3){threads, 1, 1}, arguments, 0, NULL);
    return error ? error : cudaDeviceSynchronize();
}

/* in and out have N elements; so many blocks of 32 threads scale them. */
static int run_scale(unsigned blocks, int fill)
{
    int values[N], more = 5, wrong = 0;
    void *in, *out;
    cudaMalloc(&in, sizeof values);
    cudaMalloc(&out, sizeof values);
    for (int i = 0; i < N; i++)
        values[i] = i;
    if (fill)
        cudaMemcpy(in, values, sizeof values, TO_DEVICE);
    cudaMemcpyToSymbol(&factor, &more, sizeof more, 0, TO_DEVICE);
    int error = launch(&scale, blocks, 32, in, out);
    printf("scale: %s\n", cudaGetErrorString(error));
    error = cudaMemcpy(values, out, sizeof values, TO_HOST);
    for (int i = 0; i < N; i++)
        wrong += values[i] != 5 * i;
    printf("%d wrong\n", error ? -1 : wrong);
    cudaFree(in);
    cudaFree(out);
    return 0;
}

/* Four blocks that wait for each other, in a launch that is for that, or not. */
static void run_together(int cooperative)
{
    int values[8] = {0};
    void *out;
    cudaMalloc(&out, sizeof values);
    void *arguments[] = {&out};
    const dim3 grid = {4, 1, 1}, block = {32, 1, 1};
    int error = cooperative
                    ? cudaLaunchCooperativeKernel(&together, grid, block, arguments, 0, NULL)
                    : cudaLaunchKernel(&together, grid, block, arguments, 0, NULL);
    error = error ? error : cudaDeviceSynchronize();
    cudaMemcpy(values, out, sizeof values, TO_HOST);
    printf("together: %s, %d %d %d %d\n", cudaGetErrorString(error), values[4], values[5],
           values[6], values[7]);
    cudaFree(out);
}

/* Threads call what a table in the module has. */
static void run_choose(void)
{
    int values[4] = {0};
    void *out;
    cudaMalloc(&out, sizeof values);
    int error = launch(&choose, 1, 4, out, NULL);
    cudaMemcpy(values, out, sizeof values, TO_HOST);
    printf("choose: %s, %d %d %d %d\n", cudaGetErrorString(error), values[0], values[1], values[2],
           values[3]);
    cudaFree(out);
}

/* A thread takes memory of the heap, whose limit can be set before that. */
static void run_heap(const char *what)
{
    enum { HEAP_LIMIT = 2 };
    int value = 0;
    size_t limit = 0;
    void *out;
    cudaMalloc(&out, sizeof value);
    const char *before = cudaGetErrorString(cudaDeviceSetLimit(HEAP_LIMIT, 1 << 16));
    const uintptr_t number = strtoul(what, NULL, 10);
    int error = launch(number == 6 ? &spoil : &take, 1, 1, out, (void *)number);
    const char *behind = cudaGetErrorString(cudaDeviceSetLimit(HEAP_LIMIT, 1 << 17));
    cudaDeviceGetLimit(&limit, HEAP_LIMIT);
    cudaMemcpy(&value, out, sizeof value, TO_HOST);
    printf("heap: %s, %s, %s, %zu, %d\n", before, cudaGetErrorString(error), behind, limit, value);
    cudaFree(out);
}

static void run_keep(void)
{
    int values[8] = {0};
    void *out;
    cudaMalloc(&out, sizeof values);
    launch(&keep, 1, 1, out, NULL);
    launch(&use, 1, 1, out, NULL);
    int error = launch(&use, 1, 1, out, NULL);
    cudaMemcpy(values, out, sizeof values, TO_HOST);
    printf("keep: %s, %d %d %d\n", cudaGetErrorString(error), values[0], values[1], values[2]);
    cudaFree(out);
}

static void count_up(void *counter)
{
    ++*(int *)counter;
}

/* A launch in one stream and what another one does with its results: with an event between them, also one that a graph
 * records, another launch of the graph or a function of the host, or without. */
static void run_streams(const char *what)
{
    int values[N] = {0}, calls = 0;
    const int is_recorded = strcmp(what, "recorded") == 0, is_again = strcmp(what, "again") == 0;
    const int is_graph = is_recorded || is_again;
    void *in, *out, *s, *t, *event, *graph, *instance;
    cudaMalloc(&in, sizeof values);
    cudaMalloc(&out, sizeof values);
    cudaMemcpy(in, values, sizeof values, TO_DEVICE);
    cudaStreamCreate(&s);
    cudaStreamCreate(&t);
    cudaEventCreate(&event);
    void *arguments[] = {&in, &out};
    if (is_graph)
        cudaStreamBeginCapture(s, 0);
    cudaLaunchKernel(&scale, (dim3){N / 32, 1, 1}, (dim3){32, 1, 1}, arguments, 0, s);
    cudaEventRecordWithFlags(event, s, (unsigned)is_graph);
    if (is_graph) {
        cudaStreamEndCapture(s, &graph);
        cudaGraphInstantiate(&instance, graph, 0);
        cudaGraphLaunch(instance, s);
    }
    if (strcmp(what, "ordered") == 0 || is_recorded)
        cudaStreamWaitEvent(t, event, 0);
    if (is_again)
        cudaGraphLaunch(instance, t);
    if (strcmp(what, "called") == 0)
        cudaLaunchHostFunc(s, count_up, &calls);
    if (strcmp(what, "freed") == 0)
        cudaFreeAsync(out, t);
    else
        cudaMemsetAsync(out, 0, sizeof values, t);
    if (strcmp(what, "legacy") == 0) /* the default stream waits for both */
        cudaMemsetAsync(out, 0, sizeof values, NULL);
    printf("%s: %s\n", what, cudaGetErrorString(cudaDeviceSynchronize()));
    cudaMemsetAsync(in, 0, sizeof values, t);
    cudaStreamDestroy(t);
    cudaMemcpy(values, in, sizeof values, TO_HOST);
}

/* ---- graphs ---- */

struct kernel_node {
    void *function;
    dim3 grid, block;
    unsigned shared;
    void **arguments, **extra;
};

/* Nodes one by one, in an order that only their edges tell: the copy is added first. The memory is too small for two
 * blocks, which an instance is given later. */
static void run_graph(void *unused, int has_edge)
{
    int values[N], wrong = 0, five = 5;
    void *in, *out, *graph, *instance, *copy, *scaled;
    size_t nodes = 0, edges = 0;
    cudaMalloc(&in, sizeof values);
    cudaMalloc(&out, sizeof values);
    for (int i = 0; i < N; i++)
        values[i] = i;
    cudaMemcpy(in, values, sizeof values, TO_DEVICE);
    cudaMemcpyToSymbol(&factor, &five, sizeof five, 0, TO_DEVICE);
    void *arguments[] = {&in, &out};
    struct kernel_node node = {&scale, {N / 32, 1, 1}, {32, 1, 1}, 0, arguments, NULL};
    cudaGraphCreate(&graph, 0);
    cudaGraphAddMemcpyNode1D(&copy, graph, NULL, 0, values, out, sizeof values, TO_HOST);
    cudaGraphAddKernelNode(&scaled, graph, NULL, 0, &node);
    if (has_edge)
        cudaGraphAddDependencies(graph, &scaled, &copy, NULL, 1);
    cudaGraphGetNodes(graph, NULL, &nodes);
    cudaGraphGetEdges(graph, NULL, NULL, NULL, &edges);
    printf("%zu nodes, %zu edges\n", nodes, edges);
    cudaGraphInstantiate(&instance, graph, 0);
    printf("graph: %s\n", cudaGetErrorString(cudaGraphLaunch(instance, NULL)));
    for (int i = 0; i < N; i++)
        wrong += values[i] != 5 * i;
    printf("%d wrong\n", wrong);
    void *swapped[] = {&out, &in};
    node.arguments = swapped;
    cudaGraphExecKernelNodeSetParams(instance, scaled, &node);
    cudaGraphLaunch(instance, NULL);
    cudaMemcpy(values, in, sizeof values, TO_HOST);
    printf("%d behind an update\n", values[1]);
    cudaGraphAddDependencies(graph, &copy, &scaled, NULL, 1);
    printf("a circle: %s\n", cudaGetErrorString(cudaGraphInstantiate(&unused, graph, 0)));
    cudaGraphAddKernelNode(&scaled, graph, NULL, 0, &node);
    printf("another: %s\n", cudaGetErrorString(cudaGraphExecUpdate(instance, graph, NULL)));
    cudaGraphExecDestroy(instance);
    cudaGraphDestroy(graph);
}

/* A graph within one, which an instance is given anew; and nodes that are none. */
static void run_inner(void)
{
    struct { /* cudaGraphNodeParams */
        int kind, reserved[3];
        union {
            long long reserved[29];
            void *graph;
        } u;
    } child = {.kind = 4};
    int to = 7, from = 0;
    void *inner, *outer, *node, *instance, *s, *within;
    size_t one = 1;
    cudaGraphCreate(&inner, 0);
    cudaGraphCreate(&outer, 0);
    cudaGraphAddMemcpyNode1D(&node, inner, NULL, 0, &to, &from, sizeof to, 0);
    printf("nothing: %s\n",
           cudaGetErrorString(cudaGraphAddNode(&node, outer, NULL, NULL, 0, &child)));
    child.kind = 13;
    printf("conditional: %s\n",
           cudaGetErrorString(cudaGraphAddNode(&node, outer, NULL, NULL, 0, &child)));
    child.kind = 4;
    child.u.graph = inner;
    cudaGraphAddNode(&node, outer, NULL, NULL, 0, &child);
    cudaGraphInstantiate(&instance, outer, 0);
    cudaGraphChildGraphNodeGetGraph(node, &s);
    cudaGraphGetNodes(s, &within, &one);
    cudaGraphNodeSetEnabled(instance, within, 0);
    cudaGraphLaunch(instance, NULL);
    printf("disabled within: %d\n", to);
    cudaGraphExecNodeSetParams(instance, node, &child);
    const char *error = cudaGetErrorString(cudaGraphLaunch(instance, NULL));
    printf("inner: %s, %d\n", error, to);
    cudaStreamCreate(&s);
    cudaStreamBeginCapture(s, 0);
    printf("others: %s\n",
           cudaGetErrorString(cudaStreamUpdateCaptureDependencies(s, &node, NULL, 1, 1)));
    cudaGraphExecDestroy(instance);
    cudaGraphDestroy(outer);
    cudaGraphDestroy(inner);
}

/* The host's own memory: what begins on a page that is registered cannot be. */
static void run_register(void)
{
    static char pages[4 << 12];
    const char *first = cudaGetErrorString(cudaHostRegister(pages + 8, 1 << 12, 0));
    const char *second = cudaGetErrorString(cudaHostRegister(pages + 16 + (1 << 12), 8, 0));
    cudaHostUnregister(pages + 8);
    printf("register: %s, %s, %s\n", first, second,
           cudaGetErrorString(cudaHostRegister(pages + 16 + (1 << 12), 8, 0)));
}

/* Two streams, joined by events, memory that is the graph's own, a call of the host. */
static void run_capture(void)
{
    int values[N], wrong = 0, calls = 0, five = 5;
    void *in, *out, *graph, *instance, *s, *t, *fork, *join;
    cudaStreamCreate(&s);
    cudaStreamCreate(&t);
    cudaEventCreate(&fork);
    cudaEventCreate(&join);
    cudaMalloc(&out, sizeof values);
    cudaMemcpyToSymbol(&factor, &five, sizeof five, 0, TO_DEVICE);
    cudaStreamBeginCapture(s, 0);
    cudaMallocAsync(&in, sizeof values, s);
    cudaMemsetAsync(in, 1, sizeof values, s);
    cudaEventRecord(fork, s);
    cudaStreamWaitEvent(t, fork, 0);
    void *arguments[] = {&in, &out};
    cudaLaunchKernel(&scale, (dim3){N / 32, 1, 1}, (dim3){32, 1, 1}, arguments, 0, t);
    cudaEventRecord(join, t);
    cudaStreamWaitEvent(s, join, 0);
    cudaFreeAsync(in, s);
    cudaLaunchHostFunc(s, count_up, &calls);
    printf("capture: %s\n", cudaGetErrorString(cudaStreamEndCapture(s, &graph)));
    cudaGraphInstantiate(&instance, graph, 0);
    printf("%d calls\n", calls);
    cudaGraphLaunch(instance, s);
    cudaGraphLaunch(instance, s);
    cudaMemcpy(values, out, sizeof values, TO_HOST);
    for (int i = 0; i < N; i++)
        wrong += values[i] != 5 * 0x01010101;
    printf("%d calls, %d wrong\n", calls, wrong);
    cudaGraphDestroy(graph);
    cudaStreamBeginCapture(s, 0);
    printf("wait: %s\n", cudaGetErrorString(cudaStreamSynchronize(s)));
    printf("end: %s\n", cudaGetErrorString(cudaStreamEndCapture(s, &graph)));
    cudaStreamBeginCapture(s, 0);
    cudaEventRecord(fork, s);
    cudaStreamWaitEvent(t, fork, 0);
    cudaLaunchHostFunc(t, count_up, &calls);
    printf("unjoined: %s\n", cudaGetErrorString(cudaStreamEndCapture(s, &graph)));
    cudaStreamBeginCapture(s, 0);
    cudaStreamDestroy(s);
    printf("destroyed: %s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    size_t pitch;
    const int channels[] = {32, 0, 0, 0, 0};
    printf("too large: %s, %s\n",
           cudaGetErrorString(cudaMallocPitch(&in, &pitch, 1 << 20, (SIZE_MAX >> 20) + 1)),
           cudaGetErrorString(cudaMallocArray(&in, channels, (SIZE_MAX >> 2) + 9, 1, 0)));
    cudaGraphExecDestroy(instance);
    cudaStreamDestroy(t);
    printf("gone: %s\n", cudaGetErrorString(cudaMemsetAsync(out, 0, 4, t)));
    cudaEventDestroy(fork);
    cudaEventDestroy(join);
    cudaFree(out);
}

/* The graph frees its memory before a kernel that uses it. */
static void run_late(void)
{
    void *in, *graph, *instance, *s;
    cudaStreamCreate(&s);
    cudaStreamBeginCapture(s, 2);
    cudaMallocAsync(&in, N * 4, s);
    cudaFreeAsync(in, s);
    void *arguments[] = {&in, &in};
    cudaLaunchKernel(&clash, (dim3){1, 1, 1}, (dim3){1, 1, 1}, arguments, 0, s);
    cudaStreamEndCapture(s, &graph);
    cudaGraphInstantiate(&instance, graph, 0);
    cudaGraphLaunch(instance, s);
    printf("late: %s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    cudaGraphDestroy(graph);
    cudaGraphExecDestroy(instance);
}

/* A kernel of a library that is loaded, of which nothing is registered. */
static void run_library(void *memory, const char *path)
{
    void *library, *kernel;
    cudaLibraryLoadFromFile(&library, path, NULL, NULL, 0, NULL, NULL, 0);
    cudaLibraryGetKernel(&kernel, library, "clash");
    printf("library: %s\n", cudaGetErrorString(launch(kernel, 1, 1, memory, NULL)));
    cudaLibraryUnload(library);
}

static void free_inside(void *memory)
{
    cudaFree(memory);
}

int main(int argc, char **argv)
{
    const char *what = argc == 3 ? argv[1] : "";
    void *memory = NULL;
    if (argc != 3)
        return 9;
    make_binary(what, argv[2]);
    register_all(what);
    if (strcmp(what, "scale") == 0 || strcmp(what, "linked") == 0)
        return run_scale(N / 32, 1);
    if (strcmp(what, "beyond") == 0)
        return run_scale(N / 32 + 1, 1);
    if (strcmp(what, "unwritten") == 0)
        return run_scale(N / 32, 0);
    if (strcmp(what, "children") == 0) { /* before any of them has used the device */
        const int is_child = fork() == 0;
        const int status = run_scale(N / 32, 1);
        return is_child || wait(NULL) > 0 ? status : 9;
    }
    cudaMalloc(&memory, 4);
    if (strcmp(what, "clash") == 0) {
        for (int i = 0; i < 3; i++)
            printf("clash: %s\n", cudaGetErrorString(launch(&clash, 1, 32, memory, NULL)));
    } else if (strcmp(what, "forever") == 0) {
        printf("forever: %s\n", cudaGetErrorString(launch(&forever, 2, 32, NULL, NULL)));
    } else if (strcmp(what, "half") == 0) {
        printf("half: %s\n", cudaGetErrorString(launch(&half, 1, 64, NULL, NULL)));
    } else if (strcmp(what, "talk") == 0) {
        printf("talk: %s\n", cudaGetErrorString(launch(&talk, 1, 2, NULL, NULL)));
    } else if (strcmp(what, "claim") == 0) {
        printf("claim: %s\n", cudaGetErrorString(launch(&talk, 2, 3, NULL, NULL)));
    } else if (strcmp(what, "odd") == 0) {
        printf("odd: %s\n", cudaGetErrorString(launch(&odd, 1, 1, memory, NULL)));
    } else if (strcmp(what, "few") == 0) {
        printf("few: %s\n", cudaGetErrorString(launch(&few, 1, 32, NULL, NULL)));
    } else if (strcmp(what, "leak") == 0) {
        printf("leak: %s\n", cudaGetErrorString(launch(&clash, 1, 1, memory, NULL)));
        return 0;
    } else if (strcmp(what, "missing") == 0 || strcmp(what, "code") == 0 ||
               strcmp(what, "garbage") == 0 || strcmp(what, "truncated") == 0) {
        printf("missing: %s\n", cudaGetErrorString(launch(&missing, 1, 32, NULL, NULL)));
    } else if (strcmp(what, "huge") == 0) {
        printf("huge: %s\n", cudaGetErrorString(launch(&scale, 1, 2048, memory, memory)));
    } else if (strcmp(what, "graph") == 0) {
        run_graph(memory, 1);
        run_inner();
        return 0;
    } else if (strcmp(what, "register") == 0) {
        run_register();
    } else if (strcmp(what, "capture") == 0) {
        run_capture();
    } else if (strcmp(what, "together") == 0 || strcmp(what, "apart") == 0) {
        run_together(strcmp(what, "together") == 0);
    } else if (strcmp(what, "choose") == 0) {
        run_choose();
    } else if (strncmp(what, "heap", 4) == 0) {
        run_heap(what + 4);
    } else if (strcmp(what, "edgeless") == 0) {
        run_graph(memory, 0);
    } else if (strcmp(what, "unordered") == 0 || strcmp(what, "ordered") == 0 ||
               strcmp(what, "freed") == 0 || strcmp(what, "legacy") == 0 ||
               strcmp(what, "recorded") == 0 || strcmp(what, "again") == 0 ||
               strcmp(what, "called") == 0) {
        run_streams(what);
    } else if (strcmp(what, "keep") == 0) {
        run_keep();
    } else if (strcmp(what, "late") == 0) {
        run_late();
    } else if (strcmp(what, "ipc") == 0) {
        char handle[64];
        printf("ipc: %s\n", cudaGetErrorString(cudaIpcGetMemHandle(handle, memory)));
    } else if (strcmp(what, "twice") == 0) {
        cudaFree(memory);
        printf("use: %s\n", cudaGetErrorString(launch(&clash, 1, 1, memory, NULL)));
    } else if (strcmp(what, "copy") == 0) {
        int values[2] = {0, 0};
        printf("copy: %s\n", cudaGetErrorString(cudaMemcpy(memory, values, 8, TO_DEVICE)));
    } else if (strcmp(what, "library") == 0) {
        run_library(memory, argv[2]);
    } else if (strcmp(what, "inside") == 0) {
        cudaLaunchHostFunc(NULL, free_inside, memory);
        memory = NULL;
    } else if (strcmp(what, "fork") == 0) {
        fflush(stdout);
        if (fork() == 0)
            _exit(cudaMalloc(&memory, 4) == 0);
        int status;
        wait(&status);
        printf("the child says %d\n", status);
    } else if (strcmp(what, "crash") == 0) {
        fflush(stdout);
        abort();
    } else if (strcmp(what, "status") == 0) {
        launch(&clash, 1, 1, memory, NULL);
        cudaFree(memory);
        return 7;
    }
    cudaFree(memory);
    return 0;
}
