/*
 * run_gpu MANIFEST RESULTS: kernels on a GPU, for rows_gpu.py. A line of the manifest is
 *
 *     CUBIN ENTRY BLOCKS THREADS SHARED FILE BYTES
 *
 * the entry gets the address of what the file holds and that of a buffer of so many zeros, whose bytes behind the
 * launch are put behind RESULTS; 0xee, if it failed. Built by hand: cc -I. -o run_gpu tests/outside/run_gpu.c -ldl
 */
#include "fuzz/serve/cuda_api.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FAILED = 0xee, NO_MODULE = 999 };

#define DECLARE(name, symbol, parameters) static cu_result(*name) parameters;
CUDA_FUNCTIONS(DECLARE)

static char *read_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) {
        fprintf(stderr, "run_gpu: %s cannot be read\n", path);
        exit(2);
    }
    *length = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*length + 1);
    if (!bytes || fread(bytes, 1, *length, file) != *length)
        exit(2);
    bytes[*length] = '\0';
    fclose(file);
    return bytes;
}

static cu_result run(cu_module module, const char *entry, unsigned blocks, unsigned threads,
                     unsigned shared, const char *in, size_t in_bytes, char *out, size_t out_bytes)
{
    cu_function function;
    cu_address from = 0, to = 0;
    void *arguments[] = {&from, &to};
    cu_result r = module_function(&function, module, entry);
    r = r ? r : allocate(&from, in_bytes);
    r = r ? r : allocate(&to, out_bytes);
    r = r ? r : to_device(from, in, in_bytes);
    r = r ? r : to_device(to, out, out_bytes);
    r = r ? r : launch(function, blocks, 1, 1, threads, 1, 1, shared, NULL, arguments, NULL);
    r = r ? r : synchronize();
    r = r ? r : to_host(out, to, out_bytes);
    release(from);
    release(to);
    return r;
}

int main(int count, char **arguments)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    FILE *manifest = count == 3 ? fopen(arguments[1], "r") : NULL;
    FILE *results = manifest ? fopen(arguments[2], "wb") : NULL;
    char line[2048], cubin[512], last[512] = "", entry[512], path[512];
    unsigned blocks, threads, shared, failed = 0, all = 0;
    size_t in_bytes, out_bytes, length;
    cu_device device;
    cu_context context;
    cu_module module = NULL;
    if (!library || !results)
        return 2;
#define FIND(name, symbol, parameters) *(void **)&name = dlsym(library, #symbol);
    CUDA_FUNCTIONS(FIND)
    if (init(0) || device_get(&device, 0) || context_create(&context, 0, device))
        return 2;
    for (; fgets(line, sizeof line, manifest); all++) {
        if (sscanf(line, "%511s %511s %u %u %u %511s %zu", cubin, entry, &blocks, &threads, &shared,
                   path, &out_bytes) != 7)
            return 2;
        cu_result r = CU_SUCCESS;
        if (strcmp(cubin, last) != 0) {
            char *image = read_file(cubin, &length);
            if (module)
                module_unload(module);
            r = module_load(&module, image, 0, NULL, NULL);
            module = r ? NULL : module;
            strcpy(last, cubin);
            free(image);
        }
        char *in = read_file(path, &in_bytes), *out = calloc(1, out_bytes);
        r = r || !module
                ? NO_MODULE
                : run(module, entry, blocks, threads, shared, in, in_bytes, out, out_bytes);
        if (r) { /* a context is of no use behind an error */
            printf("%s %s: error %d\n", cubin, entry, r);
            failed++;
            memset(out, FAILED, out_bytes);
            context_destroy(context);
            module = NULL;
            last[0] = '\0';
            if (context_create(&context, 0, device))
                return 2;
        }
        fwrite(out, 1, out_bytes, results);
        free(in);
        free(out);
    }
    printf("%u launches, %u failed\n", all, failed);
    return fclose(results) != 0 || failed > 0;
}
