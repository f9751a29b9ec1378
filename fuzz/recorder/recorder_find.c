/*
 * Where functions are: those behind this library, and those of this library for programs that ask by name - dlsym,
 * cuGetProcAddress, cudaGetDriverEntryPoint - and not the loader.
 */
#include "fuzz/cudart/static_link.h"
#include "fuzz/recorder/recorder.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A runtime that the program has loaded by its file's name, or that takes the place of the static one, whose functions
 * all become those of the shared one. */
static void *shared_runtime;

static bool is_of_driver(const char *name)
{
    return name[0] == 'c' && name[1] == 'u' && name[2] >= 'A' && name[2] <= 'Z';
}

static bool is_of_runtime(const char *name)
{
    return strncmp(name, "cuda", 4) == 0 || strncmp(name, "__cuda", 6) == 0;
}

void *find_next(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found && !is_of_driver(name))
        return shared_runtime ? dlsym(shared_runtime, name) : NULL;
    void *driver = found ? NULL : dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    return driver ? dlsym(driver, name) : found;
}

void *next_of(const char *name)
{
    void *found = find_next(name);
    if (found)
        return found;
    fprintf(stderr, "simtfuzz record: there is no %s behind the recorder\n", name);
    _exit(3);
}

/* For static_link_runtime: there is no shared one, so all stays. */
static void *find_other(const char *name)
{
    if (!find_next("cudaMalloc") && !shared_runtime)
        shared_runtime = dlopen("libcudart.so.13", RTLD_NOW | RTLD_GLOBAL);
    if (!find_next("cudaMalloc"))
        return NULL;
    void *own = static_link_own(name);
    return own ? own : find_next(name);
}

static __attribute__((constructor)) void start(void)
{
    device_claim(DEVICE_RECORD_NAME);
    static_link_runtime(find_other);
}

/* ---- functions that are asked for by name ---- */

void *instead_of(void *found, const char *symbol, int version, uint64_t flags)
{
    enum { VERSION_2 = 3020, TWO_FINDERS = 12000 };
    static const char *const endings[] = {"_v2_ptsz", "_ptsz", "_v2", ""};
    const bool is_old = version > 0 && version < VERSION_2;
    char name[256];
    void *own = NULL;
    if (!found || !symbol || is_old)
        return found;
    if (strcmp(symbol, "cuGetProcAddress") == 0 && version > 0 && version < TWO_FINDERS)
        return static_link_own(symbol);
    for (size_t i = flags & PER_THREAD_STREAM ? 0 : 2; i < 4 && !own; i++) {
        snprintf(name, sizeof name, "%s%s", symbol, endings[i]);
        own = static_link_own(name);
    }
    return own ? own : found;
}

EXPORT cudaError_t cuGetProcAddress(const char *symbol, void **function, int version,
                                    uint64_t flags);
EXPORT cudaError_t cuGetProcAddress_v2(const char *symbol, void **function, int version,
                                       uint64_t flags, int *status);

cudaError_t cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags)
{
    const cudaError_t error = NEXT(cuGetProcAddress)(symbol, function, version, flags);
    if (!error)
        *function = instead_of(*function, symbol, version, flags);
    return error;
}

cudaError_t cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags,
                                int *status)
{
    const cudaError_t error = NEXT(cuGetProcAddress_v2)(symbol, function, version, flags, status);
    if (!error)
        *function = instead_of(*function, symbol, version, flags);
    return error;
}

#ifdef __x86_64__

typedef void *find_symbol(void *handle, const char *name);

/* dlsym of the C library. */
__attribute__((visibility("hidden"))) find_symbol *recorder_dlsym;

static const char *file_of(const void *address, const void **base)
{
    Dl_info info = {.dli_fname = ""};
    dladdr(address, &info);
    *base = info.dli_fbase;
    const char *slash = strrchr(info.dli_fname, '/');
    return slash ? slash + 1 : info.dli_fname;
}

/* What dlsym gives this caller instead of what the C library finds; NULL: that one. The runtime itself, and who asks
 * for what is its own, get the real ones. */
__attribute__((visibility("hidden"))) void *recorder_symbol(void *handle, const char *name,
                                                            const void *caller);
void *recorder_symbol(void *handle, const char *name, const void *caller)
{
    const void *here, *asks, *has;
    if (!recorder_dlsym) {
        void *real = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
        memcpy(&recorder_dlsym, &real, sizeof real);
    }
    if (!name || handle == RTLD_NEXT || !(is_of_driver(name) || is_of_runtime(name)))
        return NULL;
    file_of((const void *)(uintptr_t)recorder_symbol, &here);
    const char *file = file_of(caller, &asks);
    if (asks == here || strncmp(file, "libcudart.so", 12) == 0)
        return NULL;
    void *found = recorder_dlsym(handle, name);
    file_of(found, &has);
    if (!found || has == asks)
        return NULL;
    if (is_of_runtime(name) && handle != RTLD_DEFAULT)
        shared_runtime = handle;
    return static_link_own(name);
}

/* dlsym itself, as CMakeLists.txt names it. The C library's looks who calls it, and is left to as if the caller had. */
__asm__(".text\n"
        ".globl recorder_dlsym_door\n"
        ".type recorder_dlsym_door, @function\n"
        "recorder_dlsym_door:\n"
        "    push %rdi\n"
        "    push %rsi\n"
        "    mov 16(%rsp), %rdx\n"
        "    sub $8, %rsp\n"
        "    call recorder_symbol\n"
        "    add $8, %rsp\n"
        "    pop %rsi\n"
        "    pop %rdi\n"
        "    test %rax, %rax\n"
        "    jz 1f\n"
        "    ret\n"
        "1:  jmp *recorder_dlsym(%rip)\n"
        ".size recorder_dlsym_door, . - recorder_dlsym_door\n");

#endif
