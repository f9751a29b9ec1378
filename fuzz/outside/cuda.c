/*
 * cuda.c - `cuda[:jit=0..4][:device=N][:via=COMPILER]`: our own PTX, or what a compiler (compiler.h) makes of CUDA,
 * goes to the driver, which lives in a worker (fuzz/serve/serve_cuda.c).
 */
#include "fuzz/outside/compiler.h"
#include "fuzz/outside/served.h"
#include "fuzz/outside/worker.h"

#include <stdlib.h>
#include <string.h>

struct cuda_subject {
    struct worker *worker;
    const char *options;             /* "jit=4" */
    struct outside_subject *through; /* what makes PTX of CUDA; NULL: the text is PTX */
};

/* What stands behind ":name=" or, at first, "name="; up to the next colon. NULL: nothing. */
static const char *option_of(struct arena *arena, const char *rest, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = rest; at; at = strchr(at, ':')) {
        at += *at == ':';
        if (strncmp(at, name, length) == 0)
            return arena_strndup(arena, at + length, strcspn(at + length, ":"));
    }
    return NULL;
}

static bool is_level(const char *text)
{
    return text[0] >= '0' && text[0] <= '4' && !text[1];
}

static struct worker *new_worker(struct arena *arena, const char *device)
{
    char **environment = ARENA_ARRAY(arena, char *, 2);
    char **arguments = ARENA_ARRAY(arena, char *, 4);
    environment[0] = arena_printf(arena, "CUDA_CACHE_DISABLE=1");
    arguments[0] = arena_printf(arena, "%s", worker_own_program(arena));
    arguments[1] = arena_printf(arena, "serve");
    arguments[2] = arena_printf(arena, "cuda:%s", device);
    return worker_new(arena, arguments, environment);
}

/* "jit=3:device=1" without what follows via=, which is a compiler's. */
static struct outside_subject *open_driver(struct arena *arena, const char *rest,
                                           struct cuda_subject *own, const char **reason)
{
    const char *level = option_of(arena, rest, "jit=");
    const char *device = option_of(arena, rest, "device=");
    struct message answer;
    if (level && !is_level(level)) {
        *reason = "jit= is a level from 0 to 4";
        return NULL;
    }
    own->worker = new_worker(arena, device ? device : "");
    own->options = arena_printf(arena, "jit=%s", level ? level : "4");
    if (!worker_greet(arena, own->worker, &answer, reason))
        return NULL;
    struct outside_subject *subject = ARENA_NEW(arena, struct outside_subject);
    subject->own = own;
    subject->version = message_text(&answer, "version", 0);
    subject->language = EMIT_PTX;
    return subject;
}

static struct outside_subject *open_cuda(struct arena *arena, const char *rest, const char **reason)
{
    struct cuda_subject *own = ARENA_NEW(arena, struct cuda_subject);
    const char *via = strstr(rest, "via=");
    if (via) {
        own->through = outside_compiler.open(arena, via + strlen("via="), reason);
        if (!own->through)
            return NULL;
        rest = arena_strndup(arena, rest, (size_t)(via - rest));
    }
    struct outside_subject *subject = open_driver(arena, rest, own, reason);
    if (subject && own->through) {
        subject->language = own->through->language;
        subject->version = arena_printf(arena, "%s; %s", subject->version, own->through->version);
    }
    return subject;
}

static void run(struct arena *arena, const struct outside_subject *subject,
                const struct outside_settings *settings, const struct outside_batch *batch,
                struct outside_result *results)
{
    const struct cuda_subject *own = subject->own;
    struct outside_settings unlimited = *settings;
    struct outside_batch ptx = *batch;
    size_t length;
    /* The driver reserves address space for the memory of all devices and of the host. */
    unlimited.memory = 0;
    if (own->through) {
        ptx.language = EMIT_PTX;
        ptx.text = compiler_make_ptx(arena, own->through, settings, batch, results, &length);
    }
    if (ptx.text)
        worker_run_batch(arena, own->worker, &unlimited, &ptx, own->options, results);
}

static struct outside_subject *plain(struct arena *arena, const struct outside_subject *subject)
{
    const struct cuda_subject *own = subject->own;
    if (strcmp(own->options, "jit=0") == 0)
        return NULL;
    struct outside_subject *made = ARENA_NEW(arena, struct outside_subject);
    struct cuda_subject *other = ARENA_NEW(arena, struct cuda_subject);
    *made = *subject;
    *other = *own;
    other->options = "jit=0";
    made->own = other;
    made->name = arena_printf(arena, "%s without optimisation", subject->name);
    return made;
}

static void find(struct arena *arena,
                 void (*found)(void *context, const char *name, const char *version), void *context)
{
    const char *reason;
    const struct outside_subject *subject = open_cuda(arena, "jit=4", &reason);
    if (subject)
        found(context, "cuda:jit=4", subject->version);
}

const struct outside_kind outside_cuda = {
    .name = "cuda",
    .sentence = "a GPU behind NVIDIA's driver, loaded in a process of its own",
    .open = open_cuda,
    .run = run,
    .plain = plain,
    .find = find,
};
