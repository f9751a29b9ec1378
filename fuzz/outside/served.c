#include "fuzz/outside/served.h"

#include "fuzz/outside/worker.h"
#include "fuzz/serve/child.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VARIABLES_MAX = 16, WORDS_MAX = 48, PLATFORM_VARIABLES = 4 };

/* Platforms and devices that want something in their environment. */
struct platform {
    const char *name;  /* as users call it */
    const char *match; /* what the platform's own name holds */
    const char *variables[PLATFORM_VARIABLES];
    const char *file;  /* a pattern: it must be there, if it is named */
    const char *loads; /* a variable that names the file, so that nothing else is loaded */
    const char *
        icd; /* the same of OpenCL's loader, where that file is and nobody has said something else */
    const char *plain; /* an option or a variable: without optimisation */
};

static const struct platform opencl_platforms[] = {
    {.name = "pocl",
     .match = "portable",
     .variables = {"POCL_KERNEL_CACHE=0"},
     .icd = "/etc/OpenCL/vendors/pocl.icd"},
    {.name = "oclgrind",
     .match = "oclgrind",
     .file = "/usr/lib/oclgrind/liboclgrind-rt-icd.so",
     .loads = "OCL_ICD_VENDORS"},
    {.name = "rusticl",
     .match = "rusticl",
     .variables = {"RUSTICL_ENABLE=llvmpipe", "MESA_SHADER_CACHE_DISABLE=true"},
     .icd = "/etc/OpenCL/vendors/rusticl.icd"},
    {.name = NULL},
};

/* The layer of Mesa that chooses devices asks the display. */
static const struct platform vulkan_devices[] = {
    {.name = "lavapipe",
     .match = "llvmpipe",
     .variables = {"NODEVICE_SELECT=1", "MESA_SHADER_CACHE_DISABLE=true"},
     .file = "/usr/share/vulkan/icd.d/lvp_icd.*json",
     .loads = "VK_ICD_FILENAMES",
     .plain = "GALLIVM_PERF=nopt"},
    {.name = "swiftshader",
     .match = "swiftshader",
     .variables = {"NODEVICE_SELECT=1"},
     .file = "/usr/lib/chromium/vk_swiftshader_icd.json",
     .loads = "VK_ICD_FILENAMES"},
    {.name = NULL},
};

/* What has a compiler and a device of its own. Of a browser's address space there is no limit: it reserves more than
 * there is. */
static const struct platform browsers[] = {
    {.name = "chromium", .match = "chromium", .file = "/usr/bin/chromium"},
    {.name = NULL},
};

/* How a kind of library is served. */
struct family {
    const char *name; /* of the kind */
    const struct platform *platforms;
    const char *plain; /* of platforms that say nothing else; NULL: there is none */
    bool reserves;     /* more address space than there is memory */
};

static const struct family opencl_family = {"opencl", opencl_platforms, "-cl-opt-disable", false};
static const struct family vulkan_family = {"vulkan", vulkan_devices, "-disable-optimization",
                                            false};
static const struct family webgpu_family = {"webgpu", browsers, NULL, true};

/* How an implementation is started. */
struct opening {
    char **arguments, **environment;
    uint32_t variables;
    const char *options; /* of the compiler */
};

struct served_subject {
    struct worker *worker;
    const char *options;           /* of the compiler */
    struct outside_subject *plain; /* without optimisation; NULL: it is that, or there is none */
};

static const struct platform *find_platform(const struct family *family, const char *name)
{
    for (const struct platform *p = family->platforms; p->name; p++)
        if (strcmp(p->name, name) == 0)
            return p;
    return NULL;
}

static struct outside_subject *new_subject(struct arena *arena, struct worker *worker,
                                           const char *options, const char **reason)
{
    struct message answer;
    if (!worker_greet(arena, worker, &answer, reason))
        return NULL;
    struct outside_subject *subject = ARENA_NEW(arena, struct outside_subject);
    struct served_subject *own = ARENA_NEW(arena, struct served_subject);
    *own = (struct served_subject){worker, options, NULL};
    subject->own = own;
    subject->version = message_text(&answer, "version", 0);
    const char *bad;
    if (*message_text(&answer, "lacks", 0) &&
        !emit_parse_knobs(message_text(&answer, "lacks", 0), &subject->lacks, &bad)) {
        *reason = arena_printf(arena, "it lacks what is no knob: %s", bad);
        return NULL;
    }
    if (!emit_find_language(message_text(&answer, "language", 0), &subject->language)) {
        *reason = "it names no language that we emit";
        return NULL;
    }
    return subject;
}

/* The first file of a pattern; NULL: there is none. */
static const char *first_file(struct arena *arena, const char *pattern)
{
    glob_t found;
    const char *path = NULL;
    if (glob(pattern, 0, NULL, &found) == 0) {
        path = arena_printf(arena, "%s", found.gl_pathv[0]);
        globfree(&found);
    }
    return path;
}

/* What the platform wants in the environment; the number of variables. */
static uint32_t put_variables(struct arena *arena, const struct platform *platform,
                              char **environment)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < PLATFORM_VARIABLES && platform->variables[i]; i++)
        environment[count++] = arena_printf(arena, "%s", platform->variables[i]);
    const char *file = platform->loads ? first_file(arena, platform->file) : NULL;
    if (file)
        environment[count++] = arena_printf(arena, "%s=%s", platform->loads, file);
    if (platform->icd && !getenv("OCL_ICD_VENDORS") && access(platform->icd, R_OK) == 0)
        environment[count++] = arena_printf(arena, "OCL_ICD_VENDORS=%s", platform->icd);
    return count;
}

const char *served_environment(struct arena *arena, const char *name)
{
    static const struct family *const families[] = {&opencl_family, &vulkan_family, &webgpu_family};
    char *variables[VARIABLES_MAX];
    const char *line = "", *rest = strchr(name, ':');
    const struct platform *platform = NULL;
    for (size_t i = 0; rest && !platform && i < sizeof families / sizeof families[0]; i++)
        if (strlen(families[i]->name) == (size_t)(rest - name) &&
            strncmp(name, families[i]->name, (size_t)(rest - name)) == 0)
            platform =
                find_platform(families[i], arena_strndup(arena, rest + 1, strcspn(rest + 1, ":")));
    uint32_t count = platform ? put_variables(arena, platform, variables) : 0;
    for (uint32_t i = 0; i < count; i++)
        line = arena_printf(arena, "%s%s ", line, variables[i]);
    return line;
}

/* "-OPTION" goes to the compiler, "VARIABLE=VALUE" into the environment. */
static void add_word(struct arena *arena, struct opening *o, const char *word)
{
    if (*word == '-')
        o->options = arena_printf(arena, "%s%s%s", o->options, *o->options ? " " : "", word);
    else if (strchr(word, '=') && o->variables < VARIABLES_MAX)
        o->environment[o->variables++] = arena_printf(arena, "%s", word);
}

/* The same with another word, in a process of its own where the environment differs. */
static struct outside_subject *make_plain(struct arena *arena,
                                          const struct outside_subject *subject,
                                          const struct opening *opening, const char *word)
{
    struct outside_subject *made = ARENA_NEW(arena, struct outside_subject);
    struct served_subject *own = ARENA_NEW(arena, struct served_subject);
    struct opening other = *opening;
    other.environment = ARENA_ARRAY(arena, char *, VARIABLES_MAX + 1);
    memcpy(other.environment, opening->environment, opening->variables * sizeof(char *));
    add_word(arena, &other, word);
    *own = (struct served_subject){((const struct served_subject *)subject->own)->worker,
                                   other.options, NULL};
    if (*word != '-')
        own->worker = worker_new(arena, other.arguments, other.environment);
    *made = *subject;
    made->own = own;
    return made;
}

/* "NAME[:-OPTION|:VARIABLE=VALUE]..." */
static struct outside_subject *open_family(struct arena *arena, const struct family *family,
                                           const char *rest, const char **reason)
{
    size_t length = strcspn(rest, ":");
    const char *name = arena_strndup(arena, rest, length);
    const struct platform *platform = find_platform(family, name);
    struct opening o = {.arguments = ARENA_ARRAY(arena, char *, 4),
                        .environment = ARENA_ARRAY(arena, char *, VARIABLES_MAX + 1),
                        .options = ""};
    o.variables = platform ? put_variables(arena, platform, o.environment) : 0;
    for (const char *at = rest + length; *at == ':';) {
        size_t word = strcspn(++at, ":");
        add_word(arena, &o, arena_strndup(arena, at, word));
        at += word;
    }
    o.arguments[0] = arena_printf(arena, "%s", worker_own_program(arena));
    o.arguments[1] = arena_printf(arena, "serve");
    o.arguments[2] = arena_printf(arena, "%s:%s", family->name, platform ? platform->match : name);
    struct worker *worker = worker_new(arena, o.arguments, o.environment);
    if (family->reserves)
        worker_reserves(worker);
    struct outside_subject *subject = new_subject(arena, worker, o.options, reason);
    const char *plain = platform && platform->plain ? platform->plain : family->plain;
    if (subject && plain && !strstr(rest, plain))
        ((struct served_subject *)subject->own)->plain = make_plain(arena, subject, &o, plain);
    return subject;
}

static struct outside_subject *open_opencl(struct arena *arena, const char *rest,
                                           const char **reason)
{
    return open_family(arena, &opencl_family, rest, reason);
}

static struct outside_subject *open_vulkan(struct arena *arena, const char *rest,
                                           const char **reason)
{
    return open_family(arena, &vulkan_family, rest, reason);
}

static struct outside_subject *open_webgpu(struct arena *arena, const char *rest,
                                           const char **reason)
{
    return open_family(arena, &webgpu_family, rest, reason);
}

/* A word that names a file from here names it for the command, too. The first is looked for in PATH unless it has a
 * slash, and keeps its name where it has all of it: programs look at it. */
static char *word_of(struct arena *arena, char *word, bool first)
{
    return *word != '/' && (!first || strchr(word, '/')) ? child_path(arena, word) : word;
}

static struct outside_subject *open_exec(struct arena *arena, const char *rest, const char **reason)
{
    char **arguments = ARENA_ARRAY(arena, char *, WORDS_MAX + 1);
    static char *none[] = {NULL};
    uint32_t count = 0;
    for (const char *at = rest; *at && count < WORDS_MAX;) {
        size_t length = strcspn(at, " ");
        if (length) {
            arguments[count] = word_of(arena, arena_strndup(arena, at, length), count == 0);
            count++;
        }
        at += length;
        at += *at == ' ';
    }
    if (count == 0) {
        *reason = "exec: wants a command";
        return NULL;
    }
    return new_subject(arena, worker_new(arena, arguments, none), "", reason);
}

static void run(struct arena *arena, const struct outside_subject *subject,
                const struct outside_settings *settings, const struct outside_batch *batch,
                struct outside_result *results)
{
    const struct served_subject *own = subject->own;
    worker_run_batch(arena, own->worker, settings, batch, own->options, results);
}

static struct outside_subject *plain(struct arena *arena, const struct outside_subject *subject)
{
    struct outside_subject *made = ((const struct served_subject *)subject->own)->plain;
    if (made) {
        made->kind = subject->kind;
        made->name = arena_printf(arena, "%s without optimisation", subject->name);
    }
    return made;
}

static void find_family(struct arena *arena, const struct family *family,
                        void (*found)(void *context, const char *name, const char *version),
                        void *context)
{
    for (const struct platform *p = family->platforms; p->name; p++) {
        const char *reason;
        if (p->file && !first_file(arena, p->file))
            continue;
        const struct outside_subject *subject = open_family(arena, family, p->name, &reason);
        if (subject)
            found(context, arena_printf(arena, "%s:%s", family->name, p->name), subject->version);
        else if (p->file || (p->icd && access(p->icd, R_OK) == 0))
            fprintf(stderr, "simtfuzz: %s:%s is installed, but left out: %s\n", family->name,
                    p->name, reason);
    }
}

static void find_opencl(struct arena *arena,
                        void (*found)(void *context, const char *name, const char *version),
                        void *context)
{
    find_family(arena, &opencl_family, found, context);
}

static void find_vulkan(struct arena *arena,
                        void (*found)(void *context, const char *name, const char *version),
                        void *context)
{
    find_family(arena, &vulkan_family, found, context);
}

static void find_webgpu(struct arena *arena,
                        void (*found)(void *context, const char *name, const char *version),
                        void *context)
{
    find_family(arena, &webgpu_family, found, context);
}

const struct outside_kind outside_opencl = {
    .name = "opencl",
    .sentence = "an OpenCL platform, loaded in a process of its own",
    .open = open_opencl,
    .run = run,
    .plain = plain,
    .find = find_opencl,
};

const struct outside_kind outside_vulkan = {
    .name = "vulkan",
    .sentence = "a Vulkan device, loaded in a process of its own, with glslang in front",
    .open = open_vulkan,
    .run = run,
    .plain = plain,
    .find = find_vulkan,
};

const struct outside_kind outside_webgpu = {
    .name = "webgpu",
    .sentence = "WebGPU of a browser, in processes of its own",
    .open = open_webgpu,
    .run = run,
    .plain = plain,
    .find = find_webgpu,
};

const struct outside_kind outside_exec = {
    .name = "exec",
    .sentence = "any program that speaks docs/protocol.md",
    .open = open_exec,
    .run = run,
};
