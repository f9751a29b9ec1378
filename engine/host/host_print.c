/*
 * host_print.c - a host program as text, in a form that reads back as the same program.
 */
#include "engine/base/text.h"
#include "engine/host/host.h"

#include <string.h>

static void put_values(struct text *text, const struct host_values *values, bool braces)
{
    if (values->list && values->count == 1 && !braces) {
        text_format(text, "%d", (int)values->list[0]);
        return;
    }
    if (values->list) {
        for (uint32_t i = 0; i < values->count; i++)
            text_format(text, "%s%d", i ? ", " : "{", (int)values->list[i]);
        text_put(text, "}");
        return;
    }
    switch (values->fill) {
    case HOST_ZERO:
        text_put(text, "zero");
        break;
    case HOST_IOTA:
        text_put(text, "iota");
        break;
    case HOST_RANDOM:
        text_format(text, "random %d", (int)values->value);
        break;
    case HOST_SAME:
        text_format(text, "all %d", (int)values->value);
        break;
    }
}

static void put_array(struct text *text, const struct host_array *a)
{
    text_format(text, "%s %s[%u]", a->is_host ? "host" : "buffer", a->name, (unsigned)a->words);
    if (a->values.list || a->values.fill != HOST_ZERO) {
        text_put(text, " = ");
        put_values(text, &a->values, true);
    }
}

static void put_dimensions(struct text *text, const char *key, const uint32_t *d)
{
    text_format(text, " %s=%u", key, (unsigned)d[0]);
    if (d[1] != 1 || d[2] != 1)
        text_format(text, "x%u", (unsigned)d[1]);
    if (d[2] != 1)
        text_format(text, "x%u", (unsigned)d[2]);
}

static void put_stream(struct text *text, const struct host_program *p,
                       const struct host_statement *s)
{
    if (s->has_stream)
        text_format(text, " stream=%s", p->streams[s->stream].name);
}

static void put_launch(struct text *text, const struct host_program *p,
                       const struct host_statement *s)
{
    text_format(text, " %s%s%s", s->name ? s->name : "", s->name ? ": " : "",
                p->kernels[s->kernel].name);
    put_dimensions(text, "grid", s->grid);
    put_dimensions(text, "block", s->block);
    if (s->shared)
        text_format(text, " shared=%u", (unsigned)s->shared);
    put_stream(text, p, s);
    for (uint32_t i = 0; i < s->argument_count; i++)
        text_format(text, " %s=%s", s->arguments[i].name, s->arguments[i].text);
}

static void put_copy(struct text *text, const struct host_program *p,
                     const struct host_statement *s)
{
    text_format(text, " %s -> %s", p->arrays[s->array].name, p->arrays[s->to].name);
    if (s->from)
        text_format(text, " from=%u", (unsigned)s->from);
    if (s->into)
        text_format(text, " into=%u", (unsigned)s->into);
    if (s->ranged)
        text_format(text, " count=%u", (unsigned)s->count);
    put_stream(text, p, s);
}

static void put_place(struct text *text, const struct host_program *p,
                      const struct host_statement *s)
{
    text_format(text, " %s", p->arrays[s->array].name);
    if (s->ranged)
        text_format(text, "[%u]", (unsigned)s->from);
    text_put(text, s->kind == HOST_SET ? " = " : s->any ? " in " : " == ");
    put_values(text, &s->values, s->any || s->values.count > 1);
}

static void put_sync(struct text *text, const struct host_program *p,
                     const struct host_statement *s)
{
    if (s->event != HOST_NONE)
        text_format(text, " %s", p->events[s->event].name);
    else if (s->stream != HOST_NONE)
        text_format(text, " %s", p->streams[s->stream].name);
}

static void put_statement(struct text *text, const struct host_program *p,
                          const struct host_statement *s)
{
    if (s->kind == HOST_BUFFER) {
        put_array(text, &p->arrays[s->array]);
        return;
    }
    text_put(text, host_kind_names[s->kind]);
    switch (s->kind) {
    case HOST_CONTEXT:
    case HOST_USE:
    case HOST_DESTROY:
        text_format(text, " %s%s", p->contexts[s->context].name, s->now ? " now" : "");
        break;
    case HOST_FREE:
        text_format(text, " %s%s", p->arrays[s->array].name, s->now ? " now" : "");
        break;
    case HOST_COPY:
        put_copy(text, p, s);
        break;
    case HOST_SET:
    case HOST_EXPECT:
        put_place(text, p, s);
        break;
    case HOST_LAUNCH:
        put_launch(text, p, s);
        break;
    case HOST_RECORD:
    case HOST_WAIT:
        text_format(text, " %s", p->events[s->event].name);
        put_stream(text, p, s);
        break;
    case HOST_SYNC:
        put_sync(text, p, s);
        break;
    case HOST_ABORT:
        text_format(text, " %s", p->statements[s->target].name);
        break;
    case HOST_BUFFER:
    case HOST_KIND_COUNT:
        break;
    }
}

char *host_print_statement(struct arena *arena, const struct host_program *program,
                           uint32_t statement)
{
    struct text text = text_begin(arena);
    put_statement(&text, program, &program->statements[statement]);
    return text.bytes;
}

static void put_kernel(struct text *text, const struct host_kernel *k)
{
    text_format(text, "kernel %s", k->name);
    if (k->path) {
        text_format(text, " = \"%s\"%s%s\n", k->path, k->entry ? " entry=" : "",
                    k->entry ? k->entry : "");
        return;
    }
    text_put(text, "\n");
    text_put_bytes(text, k->text, k->length);
    text_put(text, k->length && k->text[k->length - 1] != '\n' ? "\nend\n" : "end\n");
}

/* Streams and events are declared where their context is there, before they are used. */
static void put_named(struct text *text, const struct host_program *p, uint32_t context)
{
    for (uint32_t i = HOST_CONTEXTS; i < p->stream_count; i++)
        if (p->streams[i].context == context)
            text_format(text, "stream %s\n", p->streams[i].name);
    for (uint32_t i = 0; i < p->event_count; i++)
        if (p->events[i].context == context)
            text_format(text, "event %s\n", p->events[i].name);
}

static void put_claims(struct text *text, const struct host_program *p)
{
    for (uint32_t i = 0; i < p->observed_count; i++)
        text_format(text, "%s %s[%u]%s", i ? "" : "observe", p->arrays[p->observed[i].array].name,
                    (unsigned)p->observed[i].word, i + 1 == p->observed_count ? "\n" : "");
    for (uint32_t i = 0; i < p->claim_count; i++) {
        const struct host_claim *c = &p->claims[i];
        const char *between = "";
        text_format(text, "claim %s:", c->options);
        if (c->outcomes) {
            text_format(text, " outcomes %s", c->outcomes);
            between = ";";
        }
        if (c->lost) {
            text_format(text, "%s %slost", between, c->lost < 0 ? "never " : "");
            between = ";";
        }
        if (c->stuck)
            text_format(text, "%s stuck", between);
        text_put(text, "\n");
    }
}

/* Arrays of the host come first, unless a buffer above had the name: then where they were, since it was freed. */
static bool is_heir(const struct host_program *p, const struct host_array *a)
{
    for (uint32_t i = 0; i < p->array_count; i++)
        if (!p->arrays[i].is_host && p->arrays[i].at.line < a->at.line &&
            strcmp(p->arrays[i].name, a->name) == 0)
            return true;
    return false;
}

/* Those of these lines: `after` .. `before` - 1. */
static void put_heirs(struct text *text, const struct host_program *p, uint32_t after,
                      uint32_t before)
{
    for (uint32_t i = 0; i < p->array_count; i++) {
        const struct host_array *a = &p->arrays[i];
        if (!a->is_host || a->at.line < after || a->at.line >= before || !is_heir(p, a))
            continue;
        put_array(text, a);
        text_put(text, "\n");
    }
}

char *host_print(struct arena *arena, const struct host_program *p)
{
    uint32_t line = 0;
    struct text text = text_begin(arena);
    if (*p->device)
        text_format(&text, "device %s\n", p->device);
    for (uint32_t i = 0; i < p->kernel_count; i++)
        put_kernel(&text, &p->kernels[i]);
    for (uint32_t i = 0; i < p->array_count; i++)
        if (p->arrays[i].is_host && !is_heir(p, &p->arrays[i])) {
            put_array(&text, &p->arrays[i]);
            text_put(&text, "\n");
        }
    put_named(&text, p, 0);
    for (uint32_t i = 0; i < p->count; i++) {
        put_heirs(&text, p, line, p->statements[i].at.line);
        line = p->statements[i].at.line;
        put_statement(&text, p, &p->statements[i]);
        text_put(&text, "\n");
        if (p->statements[i].kind == HOST_CONTEXT)
            put_named(&text, p, p->statements[i].context);
    }
    put_heirs(&text, p, line, UINT32_MAX);
    put_claims(&text, p);
    return text.bytes;
}
