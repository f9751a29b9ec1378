/*
 * view_caches.c - an execution over caches: what an operation writes when it does, what is under way after each step,
 * and what the L1s hold.
 *
 *     caches    {sms, words of a line, flights, lines, at}
 *     flights   [[actor, mask of its lanes, statement, what comes next (a text)], ..]: the operations under way
 *     lines     [[its first word, awaited, valid bytes, dirty bytes, [values]], ..]: what an L1 holds
 *     at        step, flights, lines of each L1, step, ...: from this step that is kept on (0: at the start) it is so
 */
#include "engine/caches/caches.h"
#include "fuzz/view/view_internal.h"

#include <inttypes.h>
#include <string.h>

/* ---- memory ---- */

void view_caches_start(struct view_recorder *r)
{
    const struct machine *m = r->machine;
    uint32_t words = m->program->private_base;
    if (!m->semantics->environment)
        return;
    struct view_caches *v = ARENA_NEW(r->arena, struct view_caches);
    v->memory = ARENA_ARRAY(r->arena, int32_t, words + 1);
    memcpy(v->memory, m->memory, words * sizeof *v->memory);
    view_pool_start(&v->flights, r->arena);
    view_pool_start(&v->lines, r->arena);
    v->last = ARENA_ARRAY(r->arena, uint32_t, 1 + caches_of(m)->sms);
    v->at = text_begin(r->arena);
    r->caches = v;
}

/* What was asked for is not done yet: the thread that asked is found by the address. */
void view_caches_asked(struct view_caches *v, struct view_access access)
{
    v->asked[v->asked_count++ % VIEW_ACCESSES] = access;
}

static uint32_t who_asked(const struct view_caches *v, uint32_t address, uint32_t otherwise)
{
    uint32_t kept = v->asked_count < VIEW_ACCESSES ? v->asked_count : VIEW_ACCESSES;
    for (uint32_t i = 1; i <= kept; i++) {
        const struct view_access *a = &v->asked[(v->asked_count - i) % VIEW_ACCESSES];
        if (a->address == address && a->kind != ACCESS_READ)
            return a->thread;
    }
    return otherwise;
}

static void see_word(struct view_recorder *r, uint32_t word, uint32_t thread)
{
    uint32_t units = r->machine->program->units, bits = 32 / units;
    uint32_t is = (uint32_t)r->machine->memory[word], was = (uint32_t)r->caches->memory[word];
    for (uint32_t k = 0; k < units; k++) {
        uint32_t mask = bits == 32 ? UINT32_MAX : ((1u << bits) - 1) << k * bits;
        uint32_t address = word * units + k;
        if ((is ^ was) & mask)
            view_see_access(r, ACCESS_WRITE, who_asked(r->caches, address, thread), address,
                            (int32_t)((is & mask) >> k * bits));
    }
    r->caches->memory[word] = (int32_t)is;
}

void view_caches_see(struct view_recorder *r, uint32_t thread)
{
    for (uint32_t i = 0; r->caches && i < r->machine->program->private_base; i++)
        if (r->caches->memory[i] != r->machine->memory[i])
            see_word(r, i, thread);
}

/* ---- operations, lines ---- */

static uint32_t flights(struct view_recorder *r)
{
    const struct machine *m = r->machine;
    const struct caches *c = caches_of(m);
    struct text out = text_begin(r->scratch);
    text_put(&out, "[");
    for (uint32_t actor = 0, count = 0; actor < m->actor_count; actor++)
        for (uint32_t i = 0; i < c->in_flight[actor]; i++, count++) {
            const struct memory_slot *slot = caches_slot(c, actor, i);
            const char *next = view_quoted(r->scratch, caches_next_of(m, actor, i));
            text_format(&out, "%s[%" PRIu32 ",\"%s\",%" PRIu32 ",%" PRIu32 "]", count ? "," : "",
                        actor, trace_mask(&r->text, slot->lanes, r->actors[actor].lanes), slot->pc,
                        view_pool_text(&r->texts, next));
        }
    text_put(&out, "]");
    return view_pool_text(&r->caches->flights, out.bytes);
}

static uint32_t lines(struct view_recorder *r, uint32_t sm)
{
    const struct caches *c = caches_of(r->machine);
    struct text out = text_begin(r->scratch);
    uint32_t count = 0;
    text_put(&out, "[");
    for (uint32_t i = 0; i < c->lines; i++) {
        const struct cache_line *cl = caches_line(c, caches_l1(c, sm), i);
        if (!cl->tag)
            continue;
        text_format(&out, "%s[%" PRIu32 ",%d,%" PRIu32 ",%" PRIu32 ",[", count++ ? "," : "",
                    cl->tag - 1, cl->pending != 0, cl->valid, cl->dirty);
        for (uint32_t k = 0; k < c->words; k++)
            text_format(&out, "%s%" PRId32, k ? "," : "", (int32_t)cl->vals[k]);
        text_put(&out, "]]");
    }
    text_put(&out, "]");
    return view_pool_text(&r->caches->lines, out.bytes);
}

void view_caches_keep(struct view_recorder *r)
{
    struct view_caches *v = r->caches;
    if (!v)
        return;
    uint32_t sms = caches_of(r->machine)->sms, now = flights(r);
    bool same = v->at.length > 0 && v->last[0] == now;
    v->last[0] = now;
    for (uint32_t sm = 0; sm < sms; sm++) {
        now = lines(r, sm);
        same &= v->last[1 + sm] == now;
        v->last[1 + sm] = now;
    }
    if (same)
        return;
    text_format(&v->at, "%s%" PRIu64, v->at.length ? "," : "", r->kept);
    for (uint32_t i = 0; i <= sms; i++)
        text_format(&v->at, ",%" PRIu32, v->last[i]);
}

size_t view_caches_bytes(const struct view_recorder *r)
{
    const struct view_caches *v = r->caches;
    return v ? v->flights.bytes + v->lines.bytes + v->at.length : 0;
}

void view_caches_print(const struct view_recorder *r, FILE *out)
{
    const struct view_caches *v = r->caches;
    if (!v) {
        fputs("\"caches\": null", out);
        return;
    }
    const struct caches *c = caches_of(r->machine);
    fprintf(out, "\"caches\": {\"sms\": %" PRIu32 ", \"words\": %" PRIu32 ", ", c->sms, c->words);
    view_pool_print(&v->flights, "flights", out);
    fputs(", ", out);
    view_pool_print(&v->lines, "lines", out);
    fprintf(out, ", \"at\": [%s]}", v->at.length ? v->at.bytes : "");
}
