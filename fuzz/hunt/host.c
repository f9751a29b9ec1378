#include "fuzz/hunt/host.h"

#include "fuzz/case/signature.h"
#include "fuzz/outside/served.h"

#include <string.h>

static const char opencl_text[] =
    "#define CL_TARGET_OPENCL_VERSION 120\n"
    "#include <CL/cl.h>\n"
    "#include <stdio.h>\n"
    "#include <string.h>\n"
    "\n"
    "int main(int argc, char **argv)\n"
    "{\n"
    "    static char text[1 << 20], name[256], log[1 << 16];\n"
    "    const char *source = text;\n"
    "    cl_platform_id platforms[16];\n"
    "    cl_device_id device;\n"
    "    cl_uint count = 0;\n"
    "    cl_int built, ran;\n"
    "    size_t local = THREADS, global = THREADS * BLOCKS, wrong = 0;\n"
    "    int words[sizeof initial / sizeof *initial];\n"
    "    FILE *file = fopen(\"kernel.cl\", \"r\");\n"
    "    if (!file || !fread(text, 1, sizeof text - 1, file))\n"
    "        return 2;\n"
    "    clGetPlatformIDs(16, platforms, &count);\n"
    "    for (cl_uint p = 0; p < count; p++) {\n"
    "        clGetPlatformInfo(platforms[p], CL_PLATFORM_NAME, sizeof name, name, NULL);\n"
    "        if ((argc > 1 && !strstr(name, argv[1])) || clGetDeviceIDs(platforms[p], "
    "CL_DEVICE_TYPE_ALL, 1, &device, NULL))\n"
    "            continue;\n"
    "        memcpy(words, initial, sizeof initial);\n"
    "        cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);\n"
    "        cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);\n"
    "        cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, NULL);\n"
    "        built = clBuildProgram(program, 1, &device, OPTIONS, NULL, NULL);\n"
    "        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);\n"
    "        cl_kernel kernel = clCreateKernel(program, \"k0\", NULL);\n"
    "        cl_mem memory = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof words, words, "
    "NULL);\n"
    "        clSetKernelArg(kernel, 0, sizeof memory, &memory);\n"
    "        ran = clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, "
    "NULL);\n"
    "        ran |= clEnqueueReadBuffer(queue, memory, 1, 0, sizeof words, words, 0, NULL, NULL);\n"
    "        printf(\"%s: build %d, run %d\\n%s\", name, built, ran, built ? log : \"\");\n"
    "        for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)\n"
    "            if (words[i] != expected[i] && ++wrong)\n"
    "                printf(\"word %zu is %d, not %d\\n\", i, words[i], expected[i]);\n"
    "        wrong += built || ran;\n"
    "    }\n"
    "    return wrong > 0;\n"
    "}\n";

/* The request stands in a file; of the answer the memory at its end is read. */
static const char exec_text[] =
    "#include <stdio.h>\n"
    "#include <string.h>\n"
    "\n"
    "int main(void)\n"
    "{\n"
    "    static char answer[1 << 20], field[64];\n"
    "    int words[sizeof initial / sizeof *initial], wrong = 0;\n"
    "    FILE *program = popen(COMMAND \" <request\", \"r\");\n"
    "    size_t length = program ? fread(answer, 1, sizeof answer, program) : 0;\n"
    "    sprintf(field, \"memory %zu\\n\", sizeof words);\n"
    "    size_t size = strlen(field) + sizeof words + 1; /* `memory LENGTH`, the bytes, a newline "
    "*/\n"
    "    pclose(program);\n"
    "    for (size_t at = 0; at + size <= length; at++)\n"
    "        if (memcmp(answer + at, field, strlen(field)) == 0) {\n"
    "            memcpy(words, answer + at + strlen(field), sizeof words);\n"
    "            for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)\n"
    "                if (words[i] != expected[i] && ++wrong)\n"
    "                    printf(\"word %zu is %d, not %d\\n\", i, words[i], expected[i]);\n"
    "            return wrong > 0;\n"
    "        }\n"
    "    printf(\"no memory came back:\\n%s\\n\", answer);\n"
    "    return 1;\n"
    "}\n";

static bool is_kind(const struct hunt_finding *f, const char *kind)
{
    return strncmp(f->subject->name, kind, strlen(kind)) == 0;
}

/* Programs look at memory, which is right where steps are wrong. */
const char *host_name(const struct hunt_finding *f)
{
    if (f->trial.verdict == TRIAL_WRONG_STEPS)
        return NULL;
    if (is_kind(f, "opencl:") || is_kind(f, "vulkan") || is_kind(f, "exec:"))
        return "host.c";
    if (is_kind(f, "webgpu"))
        return "host.html";
    return is_kind(f, "compiler:") && *f->command ? "run.sh" : NULL;
}

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

/* A text as a literal of C. */
static void put_literal(struct text *text, const char *literal)
{
    text_put(text, "\"");
    for (; *literal; literal++)
        text_format(text, *literal == '"' || *literal == '\\' ? "\\%c" : "%c", *literal);
    text_put(text, "\"");
}

/* Of "opencl:NAME:-option:VARIABLE=VALUE" the options, or the variables, with blanks between them. */
static const char *words_of(struct arena *arena, const char *name, bool options)
{
    const char *found = "";
    for (const char *at = name + signature_family_length(name); *at == ':';) {
        size_t length = strcspn(++at, ":");
        if (length > 0 && (*at == '-') == options)
            found = arena_printf(arena, "%s%s%.*s", found, *found ? " " : "", (int)length, at);
        at += length;
    }
    return found;
}

const char *host_text(struct arena *arena, const struct hunt_finding *f,
                      const struct emitted *emitted)
{
    struct text text = text_begin(arena);
    if (is_kind(f, "compiler:"))
        return arena_printf(arena, "#!/bin/sh\n# %s makes PTX of the kernel: kernel.ptx.\n%s\n",
                            f->subject->version, f->command);
    bool exec = is_kind(f, "exec:"), vulkan = is_kind(f, "vulkan");
    const char *options = words_of(arena, f->subject->name, true);
    text_format(&text,
                "/* %s\n * Prints the words of the buffer that are wrong; then its exit "
                "status is 1. */\n",
                host_command(arena, f));
    text_format(&text, "enum { THREADS = %u, BLOCKS = %u%s };\n", (unsigned)emitted->threads,
                (unsigned)emitted->blocks,
                !vulkan                                    ? ""
                : strstr(options, "-disable-optimization") ? ", FLAGS = 1"
                                                           : ", FLAGS = 0");
    if (!vulkan) {
        text_put(&text, exec ? "#define COMMAND " : "#define OPTIONS ");
        put_literal(&text, exec ? f->subject->name + strlen("exec:") : options);
        text_put(&text, "\n");
    }
    put_array(&text, "initial", emitted->initial, emitted->words);
    put_array(&text, "expected", f->expected->final, f->expected->words);
    for (const char *const *part = host_vulkan_texts; vulkan && *part; part++)
        text_put(&text, *part);
    if (!vulkan)
        text_put(&text, exec ? exec_text : opencl_text);
    return text.bytes;
}

const char host_page_options[] =
    " --headless=new --no-sandbox --enable-unsafe-webgpu "
    "--use-webgpu-adapter=swiftshader --timeout=5000 --dump-dom host.html";

/* Of a browser the program, as its subject names it. */
static const char *browser_of(const struct hunt_finding *f)
{
    const char *rest = strchr(f->subject->name, ':');
    return rest && rest[1] ? rest + 1 : "chromium";
}

const char *host_build_command(const struct hunt_finding *f)
{
    const char *name = host_name(f);
    if (!name || strcmp(name, "host.c") != 0)
        return NULL;
    return is_kind(f, "opencl:")  ? "cc host.c -lOpenCL"
           : is_kind(f, "vulkan") ? "cc host.c -lvulkan"
                                  : "cc host.c";
}

static const char *spirv_command(const struct hunt_finding *f)
{
    if (!is_kind(f, "vulkan"))
        return "";
    return strstr(f->subject->name, ":-spirv-opt")
               ? "glslangValidator -V --spirv-val --target-env vulkan1.1 kernel.comp -o kernel.spv "
                 "&& spirv-opt -O kernel.spv -o kernel.spv && "
               : "glslangValidator -V --spirv-val --target-env vulkan1.1 kernel.comp -o kernel.spv "
                 "&& ";
}

const char *host_run_command(struct arena *arena, const struct hunt_finding *f)
{
    const char *own = words_of(arena, f->subject->name, false);
    if (is_kind(f, "compiler:"))
        return "sh run.sh";
    if (is_kind(f, "exec:"))
        return "./a.out";
    if (is_kind(f, "webgpu"))
        return arena_printf(arena, "%s%s", browser_of(f), host_page_options);
    return arena_printf(arena, "%s%s%s%s./a.out", spirv_command(f),
                        served_environment(arena, f->subject->name), own, *own ? " " : "");
}

const char *host_command(struct arena *arena, const struct hunt_finding *f)
{
    const char *build = host_build_command(f);
    return arena_printf(arena, "%s%s%s", build ? build : "", build ? " && " : "",
                        host_run_command(arena, f));
}
