#define _XOPEN_SOURCE 700 /* nftw */
#include "fuzz/hunt/bundle.h"

#include "engine/input/input.h"
#include "engine/language/print.h"
#include "fuzz/base/version.h"
#include "fuzz/serve/child.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char *extension(const struct outside_subject *subject)
{
    return subject->language == EMIT_CUDA ? "cu" : "cl";
}

static void put_words(struct text *text, const char *name, const int32_t *words, uint32_t count)
{
    text_format(text, "%s:", name);
    for (uint32_t i = 0; i < count; i++)
        text_format(text, " %d", (int)words[i]);
    text_put(text, "\n");
}

/* The buffer at first comes from the emitter, which is asked again. */
static const char *memory_text(struct arena *arena, const struct hunt_finding *f)
{
    struct text text = text_begin(arena), ignored = text_begin(arena);
    struct emitted emitted;
    const char *reason;
    if (!emit_kernel(&ignored, ast_kernel_copy(arena, f->expected->kernel), f->subject->language,
                     f->knobs, 0, &emitted, &reason))
        return reason;
    text_format(&text, "kernel: %s\nthreads: %u\nblocks: %u\n", emitted.entry,
                (unsigned)emitted.threads, (unsigned)emitted.blocks);
    put_words(&text, "initial", emitted.initial, emitted.words);
    put_words(&text, "expected", f->expected->final, f->expected->words);
    if (f->trial.verdict == TRIAL_WRONG)
        put_words(&text, "actual", f->trial.memory, f->expected->words);
    return text.bytes;
}

static void put_what(struct text *text, const struct hunt_finding *f)
{
    if (f->trial.verdict == TRIAL_WRONG)
        text_format(text,
                    "Word %u of the buffer is %d; every execution of the kernel leaves %d there "
                    "(seen under %s).\n",
                    (unsigned)f->trial.word, (int)f->trial.actual, (int)f->trial.expected,
                    f->trial.way);
    else
        text_format(text, "The implementation ended with %s: %s.\n",
                    trial_verdict_names[f->trial.verdict],
                    *f->trial.cause ? f->trial.cause : "no message");
}

static const char *report(struct arena *arena, uint64_t seed, const struct hunt_finding *f)
{
    struct text text = text_begin(arena);
    text_format(&text, "# %s: %s\n\nVersion: %s\n\n", f->subject->name,
                trial_verdict_names[f->trial.verdict], f->subject->version);
    put_what(&text, f);
    text_format(
        &text,
        "\nThe kernel has no data race, no undefined behaviour and one result. Launch, initial and "
        "expected memory stand in memory.txt, the text in kernel.%s.\n\n",
        extension(f->subject));
    text_format(&text, "- it vanishes with: %s\n- other implementations: %s\n- signature: `%s`\n",
                attribution_print(arena, &f->attribution, f->knobs),
                *f->second ? f->second : "none was asked", f->signature);
    text_format(&text,
                "- command: `simtfuzz outside --subject '%s' --seed 0x%llx --from %llu --cases 1 "
                "--knobs %s` (simtfuzz %s)\n",
                f->subject->name, (unsigned long long)seed, (unsigned long long)f->number,
                emit_print_knobs(arena, f->knobs), SIMTFUZZ_VERSION);
    if (f->minimised.kernel)
        text_format(&text,
                    "- kernel.simt is that case made small: %u candidates, %u of them valid, %u "
                    "runs of the implementation; to see it again: `simtfuzz outside --subject '%s' "
                    "--knobs %s "
                    "--kernel kernel.simt`\n",
                    (unsigned)f->minimised.candidates, (unsigned)f->minimised.valid,
                    (unsigned)f->minimised.runs, f->subject->name,
                    emit_print_knobs(arena, f->knobs));
    return text.bytes;
}

/* A program that runs kernel.cl on each platform: what a maintainer needs beside the kernel. */
static const char host_head[] = "/* cc host.c -lOpenCL && ./a.out : runs kernel.cl on every OpenCL "
                                "device, prints words that are wrong. */\n"
                                "#define CL_TARGET_OPENCL_VERSION 120\n"
                                "#include <CL/cl.h>\n"
                                "#include <stdio.h>\n"
                                "#include <string.h>\n"
                                "\n";

static const char host_main[] =
    "\n"
    "static void run(cl_device_id device, const char *text)\n"
    "{\n"
    "    int words[sizeof initial / sizeof *initial];\n"
    "    size_t local = THREADS, global = THREADS * BLOCKS;\n"
    "    char name[256] = \"\";\n"
    "    clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name - 1, name, NULL);\n"
    "    memcpy(words, initial, sizeof initial);\n"
    "    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);\n"
    "    cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);\n"
    "    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, NULL);\n"
    "    printf(\"%s: build %d\\n\", name, clBuildProgram(program, 1, &device, OPTIONS, NULL, "
    "NULL));\n"
    "    cl_kernel kernel = clCreateKernel(program, \"k0\", NULL);\n"
    "    cl_mem buffer = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof words, words, "
    "NULL);\n"
    "    clSetKernelArg(kernel, 0, sizeof buffer, &buffer);\n"
    "    printf(\"run %d\\n\", clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, "
    "NULL, NULL));\n"
    "    clEnqueueReadBuffer(queue, buffer, 1, 0, sizeof words, words, 0, NULL, NULL);\n"
    "    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)\n"
    "        if (words[i] != expected[i])\n"
    "            printf(\"word %zu is %d, not %d\\n\", i, words[i], expected[i]);\n"
    "}\n"
    "\n"
    "int main(void)\n"
    "{\n"
    "    static char text[1 << 20];\n"
    "    cl_platform_id platforms[16];\n"
    "    cl_device_id device;\n"
    "    cl_uint count = 0;\n"
    "    FILE *file = fopen(\"kernel.cl\", \"r\");\n"
    "    if (!file || !fread(text, 1, sizeof text - 1, file))\n"
    "        return 1;\n"
    "    clGetPlatformIDs(16, platforms, &count);\n"
    "    for (cl_uint i = 0; i < count; i++)\n"
    "        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, NULL) == 0)\n"
    "            run(device, text);\n"
    "}\n";

static void put_array(struct text *text, const char *name, const int32_t *words, uint32_t count)
{
    text_format(text, "static const int %s[] = {", name);
    for (uint32_t i = 0; i < count; i++)
        if (words[i] == INT32_MIN)
            text_put(text, i ? ", -2147483647 - 1" : "-2147483647 - 1");
        else
            text_format(text, "%s%d", i ? ", " : "", (int)words[i]);
    text_put(text, "};\n");
}

/* For OpenCL C only: "" of other languages. */
static const char *host_text(struct arena *arena, const struct hunt_finding *f)
{
    struct text text = text_begin(arena), ignored = text_begin(arena);
    struct emitted emitted;
    const char *reason;
    if (f->subject->language != EMIT_OPENCL ||
        !emit_kernel(&ignored, ast_kernel_copy(arena, f->expected->kernel), EMIT_OPENCL, f->knobs,
                     0, &emitted, &reason))
        return "";
    const char *disable = strstr(f->subject->name, "-cl-opt-disable") ? "-cl-opt-disable" : "";
    text_put(&text, host_head);
    text_format(&text, "enum { THREADS = %u, BLOCKS = %u };\n#define OPTIONS \"%s\"\n",
                (unsigned)emitted.threads, (unsigned)emitted.blocks, disable);
    put_array(&text, "initial", emitted.initial, emitted.words);
    put_array(&text, "expected", f->expected->final, f->expected->words);
    text_put(&text, host_main);
    return text.bytes;
}

static bool make_folder(const char *path)
{
    return mkdir(path, 0777) == 0 || errno == EEXIST;
}

static bool write_in(struct arena *arena, const char *folder, const char *name, const char *text)
{
    return child_write(arena_printf(arena, "%s/%s", folder, name), text);
}

const char *bundle_write(struct arena *arena, const char *parent, uint64_t seed,
                         const struct hunt_finding *f)
{
    char *name = arena_printf(arena, "%s-%s-%llu", trial_verdict_names[f->trial.verdict],
                              f->subject->name, (unsigned long long)f->number);
    for (char *c = name; *c; c++)
        if (strchr(" /{}'", *c))
            *c = '_';
    const char *folder = arena_printf(arena, "%s/%s", parent, name);
    const char *kernel = print_kernel(arena, f->kernel);
    bool written =
        make_folder(parent) && make_folder(folder) &&
        write_in(arena, folder, "README.md", report(arena, seed, f)) &&
        write_in(arena, folder, "kernel.simt", kernel) &&
        write_in(arena, folder, arena_printf(arena, "kernel.%s", extension(f->subject)), f->text) &&
        write_in(arena, folder, "memory.txt", memory_text(arena, f)) &&
        write_in(arena, folder, "log.txt", f->trial.log);
    const char *host = host_text(arena, f);
    if (written && *host)
        written = write_in(arena, folder, "host.c", host);
    return written ? folder : NULL;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status;
    (void)kind;
    (void)walk;
    (void)remove(path);
    return 0;
}

void bundle_remove_folder(const char *folder)
{
    enum { OPEN_MOST = 16 };
    (void)nftw(folder, remove_one, OPEN_MOST, FTW_DEPTH | FTW_PHYS);
}
