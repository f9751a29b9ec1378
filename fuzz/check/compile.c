#include "fuzz/check/compile.h"

#include "fuzz/serve/child.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COMPILING_SECONDS = 120, MESSAGE_MAX = 4000 };

/* The first one whose program is found. clang writes CUDA without a toolkit's headers: kernels that need none. */
static const struct {
    const char *suffix, *program, *command;
} compilers[] = {
    {".cu", "nvcc", "nvcc -ptx -arch=sm_80 -lineinfo"},
    {".cu", "/usr/local/cuda/bin/nvcc", "/usr/local/cuda/bin/nvcc -ptx -arch=sm_80 -lineinfo"},
    {".cu", "clang-19",
     "clang-19 -x cuda --cuda-device-only --cuda-gpu-arch=sm_70 -nocudainc -nocudalib "
     "-Wno-unknown-cuda-version -O1 -gline-directives-only -S"},
    {".cu", "clang-14",
     "clang-14 -x cuda --cuda-device-only --cuda-gpu-arch=sm_70 -nocudainc -nocudalib "
     "-Wno-unknown-cuda-version -O1 -gline-directives-only -S"},
    {".cl", "clang-19",
     "clang-19 -target nvptx64-nvidia-cuda -x cl -cl-std=CL2.0 -Xclang -finclude-default-header "
     "-O1 -gline-directives-only -S"},
    {".cl", "clang-14",
     "clang-14 -target nvptx64-nvidia-cuda -x cl -cl-std=CL2.0 -Xclang -finclude-default-header "
     "-O1 -gline-directives-only -S"},
};

enum { COMPILERS = sizeof compilers / sizeof compilers[0] };

/* What OpenCL's library has and a kernel's text is translated without: work-items, barriers, atomics of 32 bits. */
static const char opencl_library[] =
    "#define SF_DIMENSION(x, y, z) ((n) == 0 ? x() : (n) == 1 ? y() : z())\n"
    "#define SF_ITEM(name, what) \\\n"
    "    static inline size_t name(uint n) \\\n"
    "    { \\\n"
    "        return SF_DIMENSION(__nvvm_read_ptx_sreg_##what##_x, __nvvm_read_ptx_sreg_##what##_y, "
    "\\\n"
    "                            __nvvm_read_ptx_sreg_##what##_z); \\\n"
    "    }\n"
    "SF_ITEM(sf_local_id, tid)\n"
    "SF_ITEM(sf_group_id, ctaid)\n"
    "SF_ITEM(sf_local_size, ntid)\n"
    "SF_ITEM(sf_num_groups, nctaid)\n"
    "#define get_local_id(n) sf_local_id(n)\n"
    "#define get_group_id(n) sf_group_id(n)\n"
    "#define get_local_size(n) sf_local_size(n)\n"
    "#define get_num_groups(n) sf_num_groups(n)\n"
    "#define get_global_id(n) (sf_group_id(n) * sf_local_size(n) + sf_local_id(n))\n"
    "#define get_global_size(n) (sf_num_groups(n) * sf_local_size(n))\n"
    "#define get_global_offset(n) ((size_t)0)\n"
    "#define get_work_dim() 3\n"
    "#define barrier(flags) __syncthreads()\n"
    "#define work_group_barrier(...) __syncthreads()\n"
    "#define mem_fence(flags) __nvvm_membar_gl()\n"
    "#define atomic_add(p, v) __nvvm_atom_add_gen_i((int *)(p), v)\n"
    "#define atomic_sub(p, v) __nvvm_atom_add_gen_i((int *)(p), -(v))\n"
    "#define atomic_inc(p) __nvvm_atom_add_gen_i((int *)(p), 1)\n"
    "#define atomic_dec(p) __nvvm_atom_add_gen_i((int *)(p), -1)\n"
    "#define atomic_min(p, v) __nvvm_atom_min_gen_i((int *)(p), v)\n"
    "#define atomic_max(p, v) __nvvm_atom_max_gen_i((int *)(p), v)\n"
    "#define atomic_and(p, v) __nvvm_atom_and_gen_i((int *)(p), v)\n"
    "#define atomic_or(p, v) __nvvm_atom_or_gen_i((int *)(p), v)\n"
    "#define atomic_xor(p, v) __nvvm_atom_xor_gen_i((int *)(p), v)\n"
    "#define atomic_xchg(p, v) __nvvm_atom_xchg_gen_i((int *)(p), v)\n"
    "#define atomic_cmpxchg(p, c, v) __nvvm_atom_cas_gen_i((int *)(p), c, v)\n";

static bool ends_in(const char *path, const char *suffix)
{
    size_t length = strlen(path), size = strlen(suffix);
    return length > size && strcmp(path + length - size, suffix) == 0;
}

bool compile_is_source(const char *path)
{
    return ends_in(path, ".cu") || ends_in(path, ".cl");
}

static const char *usual_command(struct arena *arena, const char *path)
{
    for (uint32_t i = 0; i < COMPILERS; i++)
        if (ends_in(path, compilers[i].suffix) && child_find(arena, compilers[i].program))
            return compilers[i].command;
    return NULL;
}

/* As the shell takes it for one word. */
static const char *quoted(struct arena *arena, const char *word)
{
    const char *text = "";
    for (; *word; word++)
        text = *word == '\'' ? arena_printf(arena, "%s'\\''", text)
                             : arena_printf(arena, "%s%c", text, *word);
    return arena_printf(arena, "'%s'", text);
}

/* The compiler runs in a folder of its own. */
static const char *absolute(struct arena *arena, const char *path)
{
    char *real = realpath(path, NULL);
    const char *copy = real ? arena_strndup(arena, real, strlen(real)) : path;
    free(real);
    return copy;
}

const char *compile_to_ptx(struct arena *arena, const char *path, const char *command,
                           const char *folder, const char **why)
{
    const char *output = arena_printf(arena, "%s/kernel.ptx", folder);
    const bool usual = !command;
    command = command ? command : usual_command(arena, path);
    if (!command) {
        *why = ends_in(path, ".cl")
                   ? "no compiler for OpenCL C: install clang, or name one by --compiler"
                   : "no compiler for CUDA: install nvcc or clang, or name one by --compiler";
        return NULL;
    }
    char shell[] = "sh", run[] = "-c";
    const char *library = "";
    if (ends_in(path, ".cl") && usual) {
        library = arena_printf(arena, " -include %s/library.h", folder);
        (void)child_write(library + strlen(" -include "), opencl_library);
    }
    char *line = arena_printf(arena, "%s%s %s -o %s", command, library,
                              quoted(arena, absolute(arena, path)), quoted(arena, output));
    char *const arguments[] = {shell, run, line, NULL};
    const struct child_limits limits = {.folder = folder, .cpu_seconds = COMPILING_SECONDS};
    struct child_result result = child_run(arena, &limits, arguments);
    if (result.end == CHILD_EXITED && result.status == 0 && access(output, R_OK) == 0)
        return output;
    *why = result.end == CHILD_HANG ? "the compiler takes more than two minutes"
           : result.output && *result.output
               ? arena_printf(arena, "%s:\n%.*s", command, MESSAGE_MAX, result.output)
               : arena_printf(arena, "%s: it failed and said nothing", command);
    return NULL;
}
