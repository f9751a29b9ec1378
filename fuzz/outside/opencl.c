#include "fuzz/outside/opencl.h"

#include "fuzz/outside/worker.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VARIABLES_MAX = 16, WORDS_MAX = 48 };

/* Platforms that want something in their environment. */
static const struct platform {
    const char *name;  /* as users call it */
    const char *match; /* what the platform's name holds */
    const char *variables[3];
    const char *library; /* must be there, if it is named */
} platforms[] = {
    {"pocl", "portable", {"POCL_KERNEL_CACHE=0"}, NULL},
    {"oclgrind",
     "oclgrind",
     {"OCL_ICD_VENDORS=/usr/lib/oclgrind/liboclgrind-rt-icd.so"},
     "/usr/lib/oclgrind/liboclgrind-rt-icd.so"},
    {"rusticl", "rusticl", {"RUSTICL_ENABLE=llvmpipe", "MESA_SHADER_CACHE_DISABLE=true"}, NULL},
};

enum { PLATFORMS = sizeof platforms / sizeof platforms[0] };

struct served_subject {
    struct worker *worker;
    const char *rest;    /* as it was opened */
    const char *options; /* of the compiler */
};

static const struct platform *find_platform(const char *name)
{
    for (uint32_t i = 0; i < PLATFORMS; i++)
        if (strcmp(platforms[i].name, name) == 0)
            return &platforms[i];
    return NULL;
}

static struct outside_subject *new_subject(struct arena *arena, struct worker *worker,
                                           const char *rest, const char *options,
                                           const char **reason)
{
    struct message answer;
    if (!worker_greet(arena, worker, &answer, reason))
        return NULL;
    struct outside_subject *subject = ARENA_NEW(arena, struct outside_subject);
    struct served_subject *own = ARENA_NEW(arena, struct served_subject);
    *own = (struct served_subject){worker, rest, options};
    subject->own = own;
    subject->version = message_text(&answer, "version", 0);
    if (!emit_find_language(message_text(&answer, "language", 0), &subject->language)) {
        *reason = "it names no language that we emit";
        return NULL;
    }
    return subject;
}

static struct outside_subject *open_opencl(struct arena *arena, const char *rest,
                                           const char **reason)
{
    char **environment = ARENA_ARRAY(arena, char *, VARIABLES_MAX + 1);
    uint32_t variables = 0;
    size_t length = strcspn(rest, ":");
    const char *name = arena_strndup(arena, rest, length), *options = "";
    const struct platform *platform = find_platform(name);
    for (uint32_t i = 0; platform && i < 3 && platform->variables[i]; i++)
        environment[variables++] = arena_printf(arena, "%s", platform->variables[i]);
    for (const char *at = rest + length; *at == ':' && variables < VARIABLES_MAX;) {
        size_t word = strcspn(++at, ":");
        if (*at == '-')
            options = arena_printf(arena, "%s%s%.*s", options, *options ? " " : "", (int)word, at);
        else if (memchr(at, '=', word))
            environment[variables++] = arena_strndup(arena, at, word);
        at += word;
    }
    char **arguments = ARENA_ARRAY(arena, char *, 4);
    arguments[0] = arena_printf(arena, "%s", worker_own_program(arena));
    arguments[1] = arena_printf(arena, "serve");
    arguments[2] = arena_printf(arena, "opencl:%s", platform ? platform->match : name);
    return new_subject(arena, worker_new(arena, arguments, environment), rest, options, reason);
}

static struct outside_subject *open_exec(struct arena *arena, const char *rest, const char **reason)
{
    char **arguments = ARENA_ARRAY(arena, char *, WORDS_MAX + 1);
    static char *none[] = {NULL};
    uint32_t count = 0;
    for (const char *at = rest; *at && count < WORDS_MAX;) {
        size_t length = strcspn(at, " ");
        if (length)
            arguments[count++] = arena_strndup(arena, at, length);
        at += length;
        at += *at == ' ';
    }
    if (count == 0) {
        *reason = "exec: wants a command";
        return NULL;
    }
    return new_subject(arena, worker_new(arena, arguments, none), rest, "", reason);
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
    const struct served_subject *own = subject->own;
    if (strstr(own->options, "-cl-opt-disable"))
        return NULL;
    struct outside_subject *made = ARENA_NEW(arena, struct outside_subject);
    struct served_subject *other = ARENA_NEW(arena, struct served_subject);
    *made = *subject;
    *other = *own;
    other->options = arena_printf(arena, "%s -cl-opt-disable", own->options);
    made->own = other;
    return made;
}

static void find(struct arena *arena,
                 void (*found)(void *context, const char *name, const char *version), void *context)
{
    for (uint32_t i = 0; i < PLATFORMS; i++) {
        const char *reason;
        if (platforms[i].library && access(platforms[i].library, R_OK) != 0)
            continue;
        const struct outside_subject *subject = open_opencl(arena, platforms[i].name, &reason);
        if (subject)
            found(context, arena_printf(arena, "opencl:%s", platforms[i].name), subject->version);
    }
}

const struct outside_kind outside_opencl = {
    .name = "opencl",
    .sentence = "an OpenCL platform, loaded in a process of its own",
    .open = open_opencl,
    .run = run,
    .plain = plain,
    .find = find,
};

const struct outside_kind outside_exec = {
    .name = "exec",
    .sentence = "any program that speaks docs/protocol.md",
    .open = open_exec,
    .run = run,
};
