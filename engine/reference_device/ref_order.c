/*
 * ref_order.c - what ends before what, which statement takes memory away that is still used, and where buffers lie: by
 * the table of statements in docs/host.md, each rule by itself.
 */
#include "engine/reference_device/ref_order.h"

#include <string.h>

/* [a][b]: a has ended when b begins. */
struct order {
    const struct host_program *p;
    uint32_t count;
    bool (*before)[HOST_STATEMENTS];
};

/* Done later, when its turn comes in a stream. */
static bool is_later(const struct host_statement *s)
{
    switch (s->kind) {
    case HOST_LAUNCH:
    case HOST_RECORD:
    case HOST_WAIT:
        return true;
    case HOST_COPY:
        return s->has_stream;
    case HOST_CONTEXT:
    case HOST_USE:
    case HOST_BUFFER:
    case HOST_FREE:
    case HOST_SET:
    case HOST_SYNC:
    case HOST_ABORT:
    case HOST_DESTROY:
    case HOST_EXPECT:
    case HOST_KIND_COUNT:
        break;
    }
    return false;
}

/* The record that a statement waits for: the last one above it; where there is none, the first one below. */
static uint32_t record_of(const struct host_program *p, uint32_t at)
{
    uint32_t above = HOST_NONE, below = HOST_NONE;
    for (uint32_t i = 0; i < p->count; i++) {
        if (p->statements[i].kind != HOST_RECORD ||
            p->statements[i].event != p->statements[at].event)
            continue;
        if (i < at)
            above = i;
        else if (below == HOST_NONE)
            below = i;
    }
    return above != HOST_NONE ? above : below;
}

static bool waits(const struct host_program *p, uint32_t at, uint32_t other)
{
    const struct host_statement *s = &p->statements[at], *o = &p->statements[other];
    bool same_stream = is_later(o) && o->stream == s->stream, above = other < at;
    bool of_event = s->event != HOST_NONE && (s->kind == HOST_WAIT || s->kind == HOST_SYNC);
    if (above && !is_later(o))
        return true; /* the host does one after another, and puts it into the stream behind that */
    if (of_event && other == record_of(p, at))
        return true;
    if (is_later(s) || s->kind == HOST_COPY)
        return above && same_stream;
    if (s->kind != HOST_SYNC || s->event != HOST_NONE || !above || !is_later(o))
        return false;
    return s->stream == HOST_NONE ? o->context == s->context : same_stream;
}

static void find_order(struct order *r)
{
    bool more = true;
    for (uint32_t a = 0; a < r->count; a++)
        for (uint32_t b = 0; b < r->count; b++)
            r->before[a][b] = a != b && waits(r->p, b, a);
    while (more) {
        more = false;
        for (uint32_t a = 0; a < r->count; a++)
            for (uint32_t b = 0; b < r->count; b++)
                for (uint32_t c = 0; c < r->count && r->before[a][b]; c++)
                    if (r->before[b][c] && !r->before[a][c])
                        more = r->before[a][c] = true;
    }
}

/* ---- memory that goes ---- */

static bool touches(const struct host_statement *s, uint32_t array)
{
    bool touched = s->kind == HOST_COPY && (s->array == array || s->to == array);
    for (uint32_t i = 0; s->kind == HOST_LAUNCH && i < s->argument_count; i++)
        touched |= s->arguments[i].array == array;
    return touched;
}

/* A statement above that is not over, and has to do with what goes. */
static bool in_flight(const struct order *r, uint32_t at)
{
    const struct host_statement *s = &r->p->statements[at];
    for (uint32_t i = 0; i < at; i++) {
        const struct host_statement *o = &r->p->statements[i];
        bool concerned =
            s->kind == HOST_FREE ? touches(o, s->array) : is_later(o) && o->context == s->context;
        if (concerned && is_later(o) && !r->before[i][at])
            return true;
    }
    return false;
}

/* The program would be refused if nobody had said `now`. */
static bool is_refused(struct arena *arena, const struct host_program *p, uint32_t at)
{
    struct host_program *copy = ARENA_NEW(arena, struct host_program);
    struct diag *diag = ARENA_NEW(arena, struct diag);
    *copy = *p;
    copy->statements = arena_alloc(arena, p->count, sizeof *copy->statements);
    memcpy(copy->statements, p->statements, p->count * sizeof *copy->statements);
    copy->statements[at].now = false;
    diag_init(diag, "program", NULL, 0);
    return !host_check(arena, copy, diag);
}

/* ---- where buffers lie ---- */

static bool is_gone(const struct host_program *p, const struct host_array *a, uint32_t array,
                    uint32_t at)
{
    for (uint32_t i = a->made; i < at; i++)
        if ((p->statements[i].kind == HOST_FREE && p->statements[i].array == array) ||
            (p->statements[i].kind == HOST_DESTROY && p->statements[i].context == a->context))
            return true;
    return false;
}

static bool fits(const struct host_program *p, uint32_t array, uint32_t base)
{
    const struct host_array *own = &p->arrays[array];
    for (uint32_t i = 0; i < p->array_count; i++) {
        const struct host_array *a = &p->arrays[i];
        bool there = !a->is_host && a->made < own->made && !is_gone(p, a, i, own->made);
        if (there && base < a->base + a->words && a->base < base + own->words)
            return false;
    }
    return true;
}

/* The lowest place that nobody has: none lower, where memory begins or behind another array. */
static bool lies_lowest(const struct host_program *p, uint32_t array)
{
    const uint32_t base = p->arrays[array].base;
    bool lower = base > 0 && fits(p, array, 0);
    for (uint32_t i = 0; i < p->array_count; i++) {
        const uint32_t end = p->arrays[i].base + p->arrays[i].words;
        lower |= !p->arrays[i].is_host && end < base && fits(p, array, end);
    }
    return fits(p, array, base) && !lower;
}

/* ---- all of it ---- */

const char *ref_order_differs(struct arena *arena, const struct host_program *p, uint32_t *at)
{
    struct order r = {.p = p, .count = p->count};
    r.before = arena_alloc(arena, p->count + 1, sizeof *r.before);
    find_order(&r);
    for (uint32_t b = 0; b < p->count; b++)
        for (uint32_t a = 0; a < p->count; a++) {
            *at = b;
            if (a != b && host_ends_before(p, a, b) != r.before[a][b])
                return arena_printf(arena, "the statement of line %u %s before it",
                                    (unsigned)p->statements[a].at.line,
                                    r.before[a][b] ? "ends" : "need not end");
        }
    for (uint32_t i = 0; i < p->count; i++) {
        const struct host_statement *s = &p->statements[i];
        bool takes = s->kind == HOST_FREE || s->kind == HOST_DESTROY;
        *at = i;
        if (takes && is_refused(arena, p, i) != in_flight(&r, i))
            return in_flight(&r, i) ? "work is in flight, which is not told"
                                    : "no work is in flight, though it is told";
    }
    for (uint32_t k = 0; k < p->array_count; k++)
        if (!p->arrays[k].is_host && !lies_lowest(p, k)) {
            *at = p->arrays[k].made;
            return arena_printf(arena, "'%s' does not lie at the lowest place that is free",
                                p->arrays[k].name);
        }
    return NULL;
}
