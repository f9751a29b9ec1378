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
int cudaMalloc(void **pointer, size_t bytes);
int cudaFree(void *pointer);
int cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
int cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset, int kind);
int cudaDeviceSynchronize(void);
int cudaGraphCreate(void **graph, unsigned flags);
const char *cudaGetErrorString(int error);

enum { PTX = 1, CODE = 2, HEAD = 16, ENTRY = 64, ALL = 1 << 20, N = 96 };
enum { TO_DEVICE = 1, TO_HOST = 2 };

static unsigned char binary[ALL];
static char scale, clash, forever, half, talk, odd, few, missing,
    factor; /* their addresses are their names */

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

static void register_all(void)
{
    static struct {
        uint32_t magic, version;
        void *data, *unused;
    } wrapper = {0x466243b1, 1, binary, NULL};
    void **module = __cudaRegisterFatBinary(&wrapper);
    const struct {
        const char *host, *name;
    } kernels[] = {{&scale, "scale"}, {&clash, "clash"},    {&forever, "forever"},
                   {&half, "half"},   {&talk, "talk"},      {&odd, "odd"},
                   {&few, "few"},     {&missing, "missing"}};
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        char *name = (char *)(uintptr_t)kernels[i].name;
        __cudaRegisterFunction(module, kernels[i].host, name, name, -1, NULL, NULL, NULL, NULL,
                               NULL);
    }
    __cudaRegisterVar(module, &factor, NULL, "factor", 0, 4, 0, 0);
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

int main(int argc, char **argv)
{
    const char *what = argc == 3 ? argv[1] : "";
    void *memory = NULL;
    if (argc != 3)
        return 9;
    make_binary(what, argv[2]);
    register_all();
    if (strcmp(what, "scale") == 0)
        return run_scale(N / 32, 1);
    if (strcmp(what, "beyond") == 0)
        return run_scale(N / 32 + 1, 1);
    if (strcmp(what, "unwritten") == 0)
        return run_scale(N / 32, 0);
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
        printf("graph: %s\n", cudaGetErrorString(cudaGraphCreate(&memory, 0)));
        return 0;
    } else if (strcmp(what, "twice") == 0) {
        cudaFree(memory);
        printf("use: %s\n", cudaGetErrorString(launch(&clash, 1, 1, memory, NULL)));
    } else if (strcmp(what, "copy") == 0) {
        int values[2] = {0, 0};
        printf("copy: %s\n", cudaGetErrorString(cudaMemcpy(memory, values, 8, TO_DEVICE)));
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
