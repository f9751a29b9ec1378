/*
 * host_check.c - what can be said of a host program before it runs: what ends before what, streams that wait for each
 * other, ranges, work that is under way when its memory goes; where the arrays lie.
 */
#include "engine/base/bits.h"
#include "engine/host/host_internal.h"

#include <string.h>

struct checker {
    struct arena *arena;
    struct host_program *program;
    struct diag *diag;
    uint8_t *state; /* of a statement: 0 = not seen, 1 = on the path, 2 = done */
    uint32_t *path, depth;
    bool cycle;
};

enum { UNSEEN, ON_PATH, DONE };

/* ---- what ends before what ---- */

static bool in_stream(const struct host_statement *s, uint32_t stream)
{
    return host_is_queued(s) && s->stream == stream;
}

/* The record that a wait or sync is about: the last one above; else the first one below. */
static uint32_t find_record(const struct host_program *p, uint32_t at)
{
    const struct host_statement *s = &p->statements[at];
    for (uint32_t i = at; i-- > 0;)
        if (p->statements[i].kind == HOST_RECORD && p->statements[i].event == s->event)
            return i;
    for (uint32_t i = at + 1; i < p->count; i++)
        if (p->statements[i].kind == HOST_RECORD && p->statements[i].event == s->event)
            return i;
    return HOST_NONE;
}

static void resolve_events(struct checker *c)
{
    for (uint32_t i = 0; i < c->program->count; i++) {
        struct host_statement *s = &c->program->statements[i];
        bool asks = s->event != HOST_NONE && (s->kind == HOST_WAIT || s->kind == HOST_SYNC);
        if (!asks)
            continue;
        s->target = find_record(c->program, i);
        if (s->target == HOST_NONE)
            diag_error(c->diag, s->at, "deadlock: nobody records event '%s'",
                       c->program->events[s->event].name);
    }
}

/* Whether statement `at` begins only when `other` has ended: directly. */
static bool waits_for(const struct host_program *p, uint32_t at, uint32_t other)
{
    const struct host_statement *s = &p->statements[at], *o = &p->statements[other];
    bool above = other < at;
    if (above && !host_is_queued(o))
        return true; /* the host goes on when it has ended */
    if (s->kind == HOST_WAIT && other == s->target)
        return true;
    if (host_is_queued(s))
        return above && in_stream(o, s->stream);
    if (s->kind == HOST_COPY)
        return above && in_stream(o, s->stream);
    if (s->kind != HOST_SYNC)
        return false;
    if (s->event != HOST_NONE)
        return other == s->target;
    return above && host_is_queued(o) && o->context == s->context &&
           (s->stream == HOST_NONE || o->stream == s->stream);
}

static const char *what(const struct checker *c, uint32_t at)
{
    const struct host_statement *s = &c->program->statements[at];
    const char *name = host_is_queued(s) ? c->program->streams[s->stream].name : NULL;
    return arena_printf(c->arena, "`%s` in line %u%s%s", host_kind_names[s->kind],
                        (unsigned)s->at.line, name ? " in stream " : "", name ? name : "");
}

static void tell_cycle(struct checker *c, uint32_t from)
{
    const char *text = what(c, from);
    uint32_t first = c->depth - 1;
    while (c->path[first] != from)
        first--;
    for (uint32_t i = first + 1; i < c->depth; i++)
        text =
            arena_printf(c->arena, "%s, %s %s", text,
                         i == first + 1 ? "which waits for" : "and that for", what(c, c->path[i]));
    diag_error(c->diag, c->program->statements[from].at,
               "deadlock: %s, and that for the first again", text);
    c->cycle = true;
}

static void unite(uint64_t *set, const uint64_t *other)
{
    for (uint32_t i = 0; i < HOST_STATEMENTS / 64; i++)
        set[i] |= other[i];
}

static void visit(struct checker *c, uint32_t at)
{
    struct host_program *p = c->program;
    c->state[at] = ON_PATH;
    c->path[c->depth++] = at;
    for (uint32_t other = p->count; other-- > 0 && !c->cycle;) {
        if (!waits_for(p, at, other))
            continue;
        if (c->state[other] == ON_PATH)
            tell_cycle(c, other);
        else if (c->state[other] == UNSEEN)
            visit(c, other);
        bits_add(p->before[at], other);
        unite(p->before[at], p->before[other]);
    }
    c->depth--;
    c->state[at] = DONE;
}

static void find_order(struct checker *c)
{
    struct host_program *p = c->program;
    p->before = arena_alloc(c->arena, p->count + 1, sizeof *p->before);
    c->state = ARENA_ARRAY(c->arena, uint8_t, p->count + 1);
    c->path = ARENA_ARRAY(c->arena, uint32_t, p->count + 1);
    for (uint32_t i = 0; i < p->count && !c->cycle; i++)
        if (c->state[i] == UNSEEN)
            visit(c, i);
}

/* ---- ranges ---- */

static void check_range(struct checker *c, const struct host_statement *s, uint32_t array,
                        uint32_t from, uint32_t count)
{
    const struct host_array *a = &c->program->arrays[array];
    if (from <= a->words && count <= a->words - from)
        return;
    diag_error(c->diag, s->at, "out of bounds: %s of words %u to %llu of '%s', which has %u",
               s->kind == HOST_COPY  ? "a copy"
               : s->kind == HOST_SET ? "a write"
                                     : "a read",
               (unsigned)from, (unsigned long long)from + count - 1, a->name, (unsigned)a->words);
}

static void check_ranges(struct checker *c, const struct host_statement *s)
{
    if (s->kind != HOST_COPY && s->kind != HOST_SET && s->kind != HOST_EXPECT)
        return;
    if (s->kind != HOST_COPY && s->from >= c->program->arrays[s->array].words) {
        diag_error(c->diag, s->at, "out of bounds: word %u of '%s', which has %u",
                   (unsigned)s->from, c->program->arrays[s->array].name,
                   (unsigned)c->program->arrays[s->array].words);
        return;
    }
    if (s->count == 0) {
        diag_error(c->diag, s->at, "a copy of no words");
        return;
    }
    check_range(c, s, s->array, s->from, s->count);
    if (s->kind == HOST_COPY)
        check_range(c, s, s->to, s->into, s->count);
}

/* ---- lives ---- */

static bool uses(const struct host_statement *s, uint32_t array)
{
    if (s->kind == HOST_COPY)
        return s->array == array || s->to == array;
    for (uint32_t i = 0; s->kind == HOST_LAUNCH && i < s->argument_count; i++)
        if (s->arguments[i].array == array)
            return true;
    return false;
}

static void check_free(struct checker *c, uint32_t at)
{
    const struct host_program *p = c->program;
    const struct host_statement *s = &p->statements[at];
    for (uint32_t i = 0; i < at && !s->now; i++) {
        const struct host_statement *o = &p->statements[i];
        bool concerned = s->kind == HOST_FREE ? uses(o, s->array)
                                              : host_is_queued(o) && o->context == s->context;
        if (!concerned || !host_is_queued(o) || host_ends_before(p, i, at))
            continue;
        diag_error(c->diag, s->at,
                   "%s '%s' in flight: nothing waits for the %s of line %u before it (`now` says "
                   "that this is meant)",
                   s->kind == HOST_FREE ? "free of" : "destroy of",
                   s->kind == HOST_FREE ? p->arrays[s->array].name : p->contexts[s->context].name,
                   host_kind_names[o->kind], (unsigned)o->at.line);
        return;
    }
}

static void check_context(struct checker *c, uint32_t at)
{
    const struct host_program *p = c->program;
    for (uint32_t i = 0; i < at; i++)
        if (p->statements[i].kind == HOST_DESTROY &&
            p->statements[i].context == p->statements[at].context) {
            diag_error(c->diag, p->statements[at].at, "context '%s' was destroyed in line %u",
                       p->contexts[p->statements[at].context].name,
                       (unsigned)p->statements[i].at.line);
            return;
        }
}

/* ---- where arrays lie ---- */

/* The lowest place where `words` fit between the arrays of `alive`: pages of what is freed are used again. */
static uint32_t find_place(const struct host_program *p, const bool *alive, uint32_t words)
{
    uint32_t base = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t i = 0; i < p->array_count; i++) {
            const struct host_array *a = &p->arrays[i];
            if (!alive[i] || a->base >= base + words || a->base + a->words <= base)
                continue;
            base = a->base + a->words;
            moved = true;
        }
    }
    return base;
}

static void place_buffer(struct checker *c, bool *alive, uint32_t array)
{
    struct host_program *p = c->program;
    struct host_array *a = &p->arrays[array];
    a->base = find_place(p, alive, a->words);
    alive[array] = true;
    if (a->base + a->words > p->device_words)
        p->device_words = a->base + a->words;
    if (p->device_words > HOST_MEMORY_WORDS)
        diag_error(c->diag, a->at, "the buffers take more than %u words", HOST_MEMORY_WORDS);
}

static void place_arrays(struct checker *c)
{
    struct host_program *p = c->program;
    bool *alive = ARENA_ARRAY(c->arena, bool, p->array_count + 1);
    for (uint32_t i = 0; i < p->count && c->diag->count == 0; i++) {
        const struct host_statement *s = &p->statements[i];
        if (s->kind == HOST_BUFFER)
            place_buffer(c, alive, s->array);
        for (uint32_t k = 0; k < p->array_count; k++)
            if (p->arrays[k].freed == i)
                alive[k] = false;
    }
    for (uint32_t k = 0; k < p->array_count && c->diag->count == 0; k++)
        if (p->arrays[k].is_host) {
            p->arrays[k].base = p->host_words;
            p->host_words += p->arrays[k].words;
            if (p->host_words > HOST_MEMORY_WORDS)
                diag_error(c->diag, p->arrays[k].at, "the arrays take more than %u words",
                           HOST_MEMORY_WORDS);
        }
}

static void check_claims(struct checker *c)
{
    const struct host_program *p = c->program;
    for (uint32_t i = 0; i < p->observed_count; i++) {
        const struct host_array *a = &p->arrays[p->observed[i].array];
        if (a->freed != HOST_NONE)
            diag_error(c->diag, p->observed[i].at, "'%s' is freed in line %u", a->name,
                       (unsigned)p->statements[a->freed].at.line);
    }
    for (uint32_t i = 0; i < p->claim_count; i++)
        if (p->claims[i].outcomes && p->observed_count == 0)
            diag_error(c->diag, p->claims[i].at, "outcomes of what? `observe NAME[INDEX] ..`");
    for (uint32_t i = 0; i < p->count && p->claim_count > 0; i++)
        if (p->statements[i].kind == HOST_EXPECT)
            diag_error(
                c->diag, p->statements[i].at,
                "a program with claims is searched, and no `expect` is asked: `observe` the word, "
                "and claim its outcomes");
}

bool host_check(struct arena *arena, struct host_program *program, struct diag *diag)
{
    struct checker c = {.arena = arena, .program = program, .diag = diag};
    for (uint32_t i = 0; i < program->count; i++) {
        check_ranges(&c, &program->statements[i]);
        check_context(&c, i);
    }
    resolve_events(&c);
    if (diag->count == 0)
        find_order(&c);
    for (uint32_t i = 0; i < program->count && diag->count == 0; i++)
        if (program->statements[i].kind == HOST_FREE || program->statements[i].kind == HOST_DESTROY)
            check_free(&c, i);
    check_claims(&c);
    if (diag->count == 0)
        place_arrays(&c);
    return diag->count == 0;
}
