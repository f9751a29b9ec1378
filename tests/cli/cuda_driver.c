/*
 * cuda_driver.c - a program of the CUDA driver API, which finds the driver as libraries of others do: by its file's
 * name, and each function by cuGetProcAddress.
 *
 *     cuda_driver WHAT FILE.ptx
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t pointer;

static int (*find)(const char *, void **, int, uint64_t, int *);
static const char *why(int error);

/* f(name, types..)(arguments..) */
#define CALL(name, types, ...)                                                                     \
    (__extension__({                                                                               \
        int(*called) types;                                                                        \
        void *found = address_of(name);                                                            \
        memcpy(&called, &found, sizeof found);                                                     \
        called(__VA_ARGS__);                                                                       \
    }))

static void *address_of(const char *name)
{
    void *found = NULL;
    if (find(name, &found, 13000, 0, NULL) != 0) {
        printf("%s is not there\n", name);
        exit(9);
    }
    return found;
}

static const char *why(int error)
{
    const char *text = NULL;
    CALL("cuGetErrorName", (int, const char **), error, &text);
    return text ? text : "?";
}

static void start(void)
{
    void *context;
    int device;
    CALL("cuInit", (unsigned), 0);
    CALL("cuDeviceGet", (int *, int), &device, 0);
    CALL("cuCtxCreate", (void **, void *, unsigned, int), &context, NULL, 0, device);
}

static void *kernel_of(void *module, const char *name)
{
    void *kernel = NULL;
    int error = CALL("cuModuleGetFunction", (void **, void *, const char *), &kernel, module, name);
    if (error)
        printf("%s: %s\n", name, why(error));
    return kernel;
}

static int launch(void *kernel, unsigned blocks, void **parameters, void **extra)
{
    int error = CALL("cuLaunchKernel",
                     (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                      void *, void **, void **),
                     kernel, blocks, 1, 1, 32, 1, 1, 0, NULL, parameters, extra);
    return error ? error : CALL("cuCtxSynchronize", (void), );
}

/* So many blocks of 32 threads scale 96 elements by 5. */
static void run_scale(void *module, unsigned blocks, int packed)
{
    enum { N = 96 };
    int values[N], five = 5, wrong = 0;
    pointer in, out, factor;
    size_t bytes = 0;
    CALL("cuMemAlloc", (pointer *, size_t), &in, sizeof values);
    CALL("cuMemAlloc", (pointer *, size_t), &out, sizeof values);
    for (int i = 0; i < N; i++)
        values[i] = i;
    CALL("cuMemcpyHtoD", (pointer, const void *, size_t), in, values, sizeof values);
    CALL("cuModuleGetGlobal", (pointer *, size_t *, void *, const char *), &factor, &bytes, module,
         "factor");
    CALL("cuMemcpyDtoH", (void *, pointer, size_t), values, factor, bytes);
    printf("factor: %zu bytes, %d at first\n", bytes, values[0]);
    CALL("cuMemsetD32", (pointer, unsigned, size_t), factor, (unsigned)five, 1);
    struct {
        pointer in, out;
    } both = {in, out};
    size_t size = sizeof both;
    void *separate[] = {&in, &out}, *together[] = {(void *)1, &both, (void *)2, &size, NULL};
    int error = launch(kernel_of(module, "scale"), blocks, packed ? NULL : separate,
                       packed ? together : NULL);
    printf("scale: %s\n", why(error));
    error = CALL("cuMemcpyDtoH", (void *, pointer, size_t), values, out, sizeof values);
    for (int i = 0; i < N; i++)
        wrong += values[i] != 5 * i;
    printf("%d wrong\n", error ? -1 : wrong);
    CALL("cuMemFree", (pointer), in);
    CALL("cuMemFree", (pointer), out);
}

/* The ways to launch, through the handles that a kernel may have; factor is 3. */
static void run_launches(const char *path)
{
    struct {
        unsigned grid[3], block[3], shared;
        void *stream, *attributes;
        unsigned count;
    } config = {.grid = {3, 1, 1}, .block = {32, 1, 1}};
    void *library, *kernel, *function, *module, *listed[16];
    unsigned count = 0;
    pointer in, out;
    CALL("cuMemAllocManaged", (pointer *, size_t, unsigned), &in, 384, 1);
    CALL("cuMemAllocPitch", (pointer *, size_t *, size_t, size_t, unsigned), &out, &(size_t){0},
         384, 1, 4);
    for (int i = 0; i < 96; i++)
        ((int *)(uintptr_t)in)[i] = i;
    void *arguments[] = {&in, &out};
    CALL("cuLibraryLoadFromFile",
         (void **, const char *, void *, void *, unsigned, void *, void *, unsigned), &library,
         path, NULL, NULL, 0, NULL, NULL, 0);
    CALL("cuLibraryGetKernel", (void **, void *, const char *), &kernel, library, "scale");
    CALL("cuKernelGetFunction", (void **, void *), &function, kernel);
    CALL("cuLibraryGetModule", (void **, void *), &module, library);
    CALL("cuModuleGetFunctionCount", (unsigned *, void *), &count, module);
    CALL("cuModuleEnumerateFunctions", (void **, unsigned, void *), listed, count, module);
    launch(kernel, 3, arguments, NULL);
    launch(function, 3, arguments, NULL);
    launch(kernel_of(module, "scale"), 3, arguments, NULL);
    CALL("cuLaunchKernelEx", (const void *, void *, void **, void **), &config, kernel, arguments,
         NULL);
    CALL("cuLaunchCooperativeKernel",
         (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,
          void **),
         kernel, 3, 1, 1, 32, 1, 1, 0, NULL, arguments);
    printf("%u kernels\n", count);
    CALL("cuLibraryUnload", (void *), library);
    CALL("cuMemFree", (pointer), in);
    CALL("cuMemFree", (pointer), out);
}

/* A copy of so many bytes between an array, from byte 8 on, and the host. */
static const char *copy_array(void *array, char *host, int to_array, size_t bytes)
{
    return why(
        to_array
            ? CALL("cuMemcpyHtoA", (void *, size_t, const void *, size_t), array, 8, host, bytes)
            : CALL("cuMemcpyAtoH", (void *, void *, size_t, size_t), host, array, 8, bytes));
}

/* Arrays and texture objects, as far as the host sees them; what is advised and set is there when it is asked for. */
static void run_arrays(void)
{
    struct {
        size_t width, height;
        int format;
        unsigned channels;
    } described = {100, 0, 1, 4}, again = {0, 0, 0, 0}; /* of bytes */
    struct {
        int type;
        void *array;
        int rest[34];
    } resource = {.type = 0}, of_texture;
    struct {
        int addressing[3], filter, rest[22];
    } texture = {.addressing = {1, 1, 1}}, same;
    const uint64_t place =
        1; /* the type of a location, a device, and behind it the device's number */
    void *array, *pool, *stream;
    uint64_t handle = 0, kept = ~(uint64_t)0;
    char bytes[400] = "abcdefgh", back[400] = "";
    pointer memory;
    int priority[16], advice = 0, fetched = 0, back_again = 0;
    printf("array: %s\n", why(CALL("cuArrayCreate", (void **, const void *), &array, &described)));
    CALL("cuArrayGetDescriptor", (void *, void *), &again, array);
    const char *in = copy_array(array, bytes, 1, 40), *out = copy_array(array, back, 0, 40);
    const char *beyond = copy_array(array, bytes, 1, 400);
    printf("%zu %d %u, %s, %s, %s, %s\n", again.width, again.format, again.channels, in, out, back,
           beyond);
    resource.array = array;
    printf("texture: %s",
           why(CALL("cuTexObjectCreate", (uint64_t *, const void *, const void *, const void *),
                    &handle, &resource, &texture, NULL)));
    CALL("cuTexObjectGetResourceDesc", (void *, uint64_t), &of_texture, handle);
    CALL("cuTexObjectGetTextureDesc", (void *, uint64_t), &same, handle);
    printf(", %d\n", of_texture.array == array && same.addressing[2] == 1);
    CALL("cuTexObjectDestroy", (uint64_t), handle);
    printf("destroyed: %s\n",
           why(CALL("cuTexObjectGetResourceDesc", (void *, uint64_t), &of_texture, handle)));
    CALL("cuArrayDestroy", (void *), array);
    CALL("cuMemAllocManaged", (pointer *, size_t, unsigned), &memory, 4096, 1);
    CALL("cuMemAdvise", (pointer, size_t, int, uint64_t), memory, 4096, 1, place);
    CALL("cuMemPrefetchAsync", (pointer, size_t, uint64_t, unsigned, void *), memory, 4096, place,
         0, NULL);
    CALL("cuMemRangeGetAttribute", (void *, size_t, int, pointer, size_t), &advice, 4, 1, memory,
         4096);
    CALL("cuMemRangeGetAttribute", (void *, size_t, int, pointer, size_t), &fetched, 4, 4, memory,
         4096);
    CALL("cuMemPrefetchAsync", (pointer, size_t, int, void *), memory, 4096, -1,
         NULL); /* as before CUDA 13 */
    CALL("cuMemRangeGetAttribute", (void *, size_t, int, pointer, size_t), &back_again, 4, 4,
         memory, 4096);
    CALL("cuMemFree", (pointer), memory);
    CALL("cuDeviceGetDefaultMemPool", (void **, int), &pool, 0);
    CALL("cuMemPoolSetAttribute", (void *, int, const void *), pool, 4, &kept);
    kept = 0;
    CALL("cuMemPoolGetAttribute", (void *, int, void *), pool, 4, &kept);
    CALL("cuStreamCreateWithPriority", (void **, unsigned, int), &stream, 0, -3);
    CALL("cuStreamGetAttribute", (void *, int, void *), stream, 8, priority);
    CALL("cuStreamDestroy", (void *), stream);
    printf("%d advised, fetched to %d and %d, kept %d, priority %d\n", advice, fetched, back_again,
           kept == ~(uint64_t)0, priority[0]);
}

static int wrong_of(pointer out, int expected)
{
    int values[96], wrong = 0;
    CALL("cuMemcpyDtoH", (void *, pointer, size_t), values, out, sizeof values);
    for (int i = 0; i < 96; i++)
        wrong += values[i] != expected;
    return wrong;
}

/* A set and a launch become nodes; factor is 3 at first. */
static void run_graph(void *module)
{
    struct {
        pointer to;
        size_t pitch;
        unsigned value, element;
        size_t width, height;
    } set = {.value = 7, .element = 4, .width = 96, .height = 1};
    struct {
        void *kernel;
        unsigned grid[3], block[3], shared;
        void **arguments, **extra, *other, *context;
    } kernel = {kernel_of(module, "scale"), {3, 1, 1}, {32, 1, 1}, 0, NULL, NULL, NULL, NULL};
    void *graph, *instance, *first, *second;
    pointer out;
    CALL("cuMemAlloc", (pointer *, size_t), &set.to, 384);
    CALL("cuMemAlloc", (pointer *, size_t), &out, 384);
    void *arguments[] = {&set.to, &out};
    kernel.arguments = arguments;
    CALL("cuGraphCreate", (void **, unsigned), &graph, 0);
    CALL("cuGraphAddMemsetNode", (void **, void *, void **, size_t, void *, void *), &first, graph,
         NULL, 0, &set, NULL);
    CALL("cuGraphAddKernelNode", (void **, void *, void **, size_t, void *), &second, graph, &first,
         1, &kernel);
    CALL("cuGraphInstantiate", (void **, void *, uint64_t), &instance, graph, 0);
    printf("graph: %s\n", why(CALL("cuGraphLaunch", (void *, void *), instance, NULL)));
    printf("%d wrong\n", wrong_of(out, 21));
    CALL("cuGraphExecDestroy", (void *), instance);
    CALL("cuGraphDestroy", (void *), graph);
    CALL("cuMemFree", (pointer), set.to);
    CALL("cuMemFree", (pointer), out);
}

/* Two pieces of memory at one range of addresses; what is read and written lies across both. */
static void run_mapped(void *module)
{
    enum { PIECE = 2 << 20 };
    void *pieces[2];
    pointer range = 0, middle;
    CALL("cuMemAddressReserve", (pointer *, size_t, size_t, pointer, uint64_t), &range, 4 * PIECE,
         0, 0, 0);
    for (int i = 0; i < 2; i++) {
        CALL("cuMemCreate", (void **, size_t, const void *, uint64_t), &pieces[i], PIECE, NULL, 0);
        CALL("cuMemMap", (pointer, size_t, size_t, void *, uint64_t), range + (pointer)i * PIECE,
             PIECE, 0, pieces[i], 0);
    }
    middle = range + PIECE - 192;
    CALL("cuMemsetD32", (pointer, unsigned, size_t), middle, 7, 96);
    void *arguments[] = {&middle, &middle};
    printf("mapped: %s\n", why(launch(kernel_of(module, "scale"), 3, arguments, NULL)));
    printf("%d wrong\n", wrong_of(middle, 21));
    CALL("cuMemUnmap", (pointer, size_t), range, 2 * PIECE);
    printf("unmapped: %s\n",
           why(CALL("cuMemsetD8", (pointer, unsigned char, size_t), middle, 0, 1)));
    for (int i = 0; i < 2; i++)
        CALL("cuMemRelease", (void *), pieces[i]);
    CALL("cuMemAddressFree", (pointer, size_t), range, 4 * PIECE);
}

/* Two texts, each with a variable `own` of its own; the entry calls a function of the other one and reads its variable.
 */
static void run_linked(void)
{
    static const char first[] =
        ".version 8.0\n.target sm_80\n.address_size 64\n.file 1 \"first.cu\"\n"
        ".extern .func (.param .b32 r) more(.param .b32 x);\n"
        ".extern .global .align 4 .u32 base;\n"
        ".global .align 4 .u32 own = 1000;\n"
        ".visible .entry both(.param .u64 out) {\n"
        ".reg .b32 %r<5>; .reg .b64 %rd<2>;\n"
        "ld.param.u64 %rd1, [out];\n"
        "mov.u32 %r1, 7;\n"
        "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r1;\n"
        "call.uni (b), more, (a); ld.param.b32 %r2, [b]; }\n"
        "ld.global.u32 %r3, [base]; add.s32 %r2, %r2, %r3;\n"
        "ld.global.u32 %r4, [own]; add.s32 %r2, %r2, %r4;\n"
        ".loc 1 9 1\n"
        "st.global.u32 [%rd1+4], %r2;\n"
        "st.global.u32 [%rd1], %r2; ret; }\n";
    static const char second[] =
        ".version 8.0\n.target sm_80\n.address_size 64\n.file 1 \"second.cu\"\n"
        ".global .align 4 .u32 own = 10;\n"
        ".visible .global .align 8 .u64 table[1] = {more};\n"
        ".visible .global .align 4 .u32 base = 100;\n"
        ".visible .func (.param .b32 r) more(.param .b32 x) {\n"
        ".reg .b32 %r<3>;\n"
        "ld.param.b32 %r1, [x]; ld.global.u32 %r2, [own];\n"
        "add.s32 %r1, %r1, %r2; st.param.b32 [r], %r1; ret; }\n";
    void *linking, *image, *module;
    const char *texts[] = {first, second};
    int value = 0;
    pointer out;
    CALL("cuLinkCreate", (unsigned, const int *, void **, void **), 0, NULL, NULL, &linking);
    for (int i = 0; i < 2; i++)
        CALL("cuLinkAddData",
             (void *, int, const void *, size_t, const char *, unsigned, const int *, void **),
             linking, 1, texts[i], strlen(texts[i]) + 1, NULL, 0, NULL, NULL);
    CALL("cuLinkComplete", (void *, void **, size_t *), linking, &image, NULL);
    printf("link: %s\n", why(CALL("cuModuleLoadData", (void **, const void *), &module, image)));
    CALL("cuMemAlloc", (pointer *, size_t), &out, 8);
    void *arguments[] = {&out};
    const char *error = why(launch(kernel_of(module, "both"), 1, arguments, NULL));
    CALL("cuMemcpyDtoH", (void *, pointer, size_t), &value, out, sizeof value);
    printf("both: %s, %d\n", error, value);
}

/* A large variable that has a value, until the host writes zeros. */
static void run_emptied(void)
{
    static const char text[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                               ".visible .global .align 4 .u32 table[65536] = {7, 7};\n"
                               ".visible .entry add() {\n"
                               ".reg .b32 %r<3>; .reg .pred %p<2>;\n"
                               "mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 0;\n"
                               "@%p1 ret;\n"
                               "ld.global.u32 %r2, [table]; add.s32 %r2, %r2, 5;\n"
                               "st.global.u32 [table], %r2; ret; }\n";
    void *module;
    size_t bytes = 0;
    int values[3] = {0};
    pointer table;
    CALL("cuModuleLoadData", (void **, const void *), &module, text);
    CALL("cuModuleGetGlobal", (pointer *, size_t *, void *, const char *), &table, &bytes, module,
         "table");
    for (int i = 0; i < 3; i++) {
        if (i == 1)
            CALL("cuMemsetD8", (pointer, unsigned char, size_t), table, 0, bytes);
        launch(kernel_of(module, "add"), 1, NULL, NULL);
        CALL("cuMemcpyDtoH", (void *, pointer, size_t), &values[i], table, sizeof values[i]);
    }
    printf("emptied: %d %d %d\n", values[0], values[1], values[2]);
}

int main(int argc, char **argv)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *module = NULL;
    void *finder = driver ? dlsym(driver, "cuGetProcAddress_v2") : NULL;
    const char *what = argc == 3 ? argv[1] : "";
    static const char code[64] = "\177ELF\2\1\1";
    pointer memory;
    if (!finder) {
        printf("there is no driver\n");
        return 9;
    }
    memcpy(&find, &finder, sizeof finder);
    if (strcmp(what, "early") == 0) {
        printf("early: %s\n", why(CALL("cuMemAlloc", (pointer *, size_t), &memory, 4)));
        CALL("cuInit", (unsigned), 0);
        printf("early: %s\n", why(CALL("cuMemAlloc", (pointer *, size_t), &memory, 4)));
        return 0;
    }
    start();
    if (strcmp(what, "garbage") == 0) {
        enum { LOG = 5, LOG_BYTES = 6 };
        char log[200] = "";
        const int options[] = {LOG, LOG_BYTES};
        void *values[] = {log, (void *)sizeof log};
        int error =
            CALL("cuModuleLoadDataEx", (void **, const void *, unsigned, const int *, void **),
                 &module, ".version 8.0\n.target sm_80\nthis is no PTX", 2, options, values);
        printf("garbage: %s: %s\n", why(error), log);
    }
    if (strcmp(what, "code") == 0)
        printf("code: %s\n", why(CALL("cuModuleLoadData", (void **, const void *), &module, code)));
    if (strcmp(what, "nowhere") == 0)
        printf("nowhere: %s\n",
               why(CALL("cuModuleLoad", (void **, const char *), &module, "not-there.ptx")));
    if (CALL("cuModuleLoad", (void **, const char *), &module, argv[2]) != 0)
        return 9;
    if (strcmp(what, "scale") == 0 || strcmp(what, "packed") == 0)
        run_scale(module, 3, strcmp(what, "packed") == 0);
    if (strcmp(what, "beyond") == 0)
        run_scale(module, 4, 0);
    if (strcmp(what, "graph") == 0)
        run_graph(module);
    if (strcmp(what, "mapped") == 0)
        run_mapped(module);
    if (strcmp(what, "arrays") == 0)
        run_arrays();
    if (strcmp(what, "launches") == 0)
        run_launches(argv[2]);
    if (strcmp(what, "link") == 0)
        run_linked();
    if (strcmp(what, "emptied") == 0)
        run_emptied();
    if (strcmp(what, "missing") == 0)
        kernel_of(module, "missing");
    if (strcmp(what, "twice") == 0) {
        CALL("cuMemAlloc", (pointer *, size_t), &memory, 4);
        CALL("cuMemFree", (pointer), memory);
        printf("twice: %s\n", why(CALL("cuMemFree", (pointer), memory)));
    }
    return CALL("cuModuleUnload", (void *), module) != 0;
}
