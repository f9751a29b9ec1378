#include "fuzz/check/compile.h"

#include "fuzz/check/opencl_library.h"
#include "fuzz/serve/child.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COMPILING_SECONDS = 120, MESSAGE_MAX = 4000, SOURCE_MAX = 1 << 20 };

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

/* Conversions and functions of work-groups take a compiler longer than all else of a small kernel: they are for sources
 * that may name one. */
static bool may_name_more(struct arena *arena, const char *path)
{
    static const char *const words[] = {"convert", "work_group", "include"};
    size_t length = 0;
    const char *text = child_read(arena, path, SOURCE_MAX, &length);
    for (size_t i = 0; text && i < sizeof words / sizeof *words; i++)
        if (strstr(text, words[i]))
            return true;
    return !text || length == SOURCE_MAX;
}

static const char *compile_with(struct arena *arena, const char *path, const char *command,
                                const char *folder, bool with, const char **why)
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
        (void)child_write(arena_printf(arena, "%s/library.h", folder),
                          arena_printf(arena, "%s%s%s", opencl_items,
                                       with ? opencl_mathematics : "", with ? opencl_names : ""));
        if (with && may_name_more(arena, path)) {
            const char *include = arena_printf(arena, "%s/include", folder); /* ptx_is_library */
            (void)mkdir(include, 0700);
            library = arena_printf(arena, "%s -include %s/more.h", library, include);
            (void)child_write(arena_printf(arena, "%s/more.h", include),
                              arena_printf(arena, "%s%s", opencl_conversions, opencl_groups));
        }
    }
    char *line = arena_printf(arena, "%s%s %s -o %s", command, library,
                              quoted(arena, child_path(arena, path)), quoted(arena, output));
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

/* A kernel that has functions of its own under names of the library's is compiled without these. */
const char *compile_to_ptx(struct arena *arena, const char *path, const char *command,
                           const char *folder, const char **why)
{
    const char *output = compile_with(arena, path, command, folder, true, why), *other = NULL;
    if (output || !ends_in(path, ".cl") || command)
        return output;
    return compile_with(arena, path, command, folder, false, &other);
}
