/*
 * caches_touches.c - R4: which steps are independent (memory-device, A.4).
 *
 * Two steps depend on each other if they share a word of memory or shared memory, a line of an L1, the locks of a
 * block's banks, or the warp or thread that issues. Beyond the report's machine two things are shared here: an L1's
 * silent rules are one alternative, which any change to a line of that L1 may add to; and where an L1 has no two lines
 * left, its lines depend on each other. Two reads do not depend on each other. A step that may be the last depends on
 * all others: behind it no silent rule applies.
 */
#include "engine/caches/caches_internal.h"

#include <string.h>

enum {
    OF_WORDS,
    OF_LINES, /* of L1s; above LINES_END: what an L1 can do silently */
    OF_ACTORS /* above ACTORS_END: locks */
};
enum { LINES_END = 56, ACTORS_END = 56 };

static uint64_t bit(uint32_t number)
{
    return (uint64_t)1 << number;
}

static void touch_all(struct touches *t)
{
    memset(t, 0xff, sizeof *t);
}

static uint64_t words_of(const struct caches *c, uint32_t line)
{
    uint64_t bits = 0;
    for (uint32_t k = 0; k < c->words; k++)
        bits |= bit((line + k) % 64);
    return bits;
}

static uint64_t line_of(const struct caches *c, uint32_t sm, uint32_t line)
{
    return bit((line / c->words * c->sms + sm) % LINES_END);
}

static uint64_t silent_of(uint32_t sm)
{
    return bit(LINES_END + sm % (64 - LINES_END));
}

static uint64_t actor_of(uint32_t actor)
{
    return bit(actor % ACTORS_END);
}

/* ---- operations ---- */

static bool has_two_left(const struct cache *cache, uint32_t line)
{
    uint32_t ways = cache->count / cache->sets, left = 0;
    uint32_t first = line / cache->c->words % cache->sets * ways;
    for (uint32_t i = first; i < first + ways; i++)
        left += !caches_line(cache->c, cache->lines, i)->tag;
    return left >= 2;
}

/* An expression on the operation's line of its L1. */
static void touch_line(const struct operation *x, enum memory_code code, struct touches *t)
{
    struct cache cache = caches_cache(x, MEMORY_L1);
    uint32_t i = caches_find(&cache, x->slot->line);
    const struct cache_line *cl = i == CACHES_NONE ? NULL : caches_line(x->c, cache.lines, i);
    bool enters = code == CODE_RESERVE_L1 || code == CODE_WRITE_L1;
    bool only_looks =
        code == CODE_READ_L1 && cl && !(x->need & ~cl->valid) && !(x->slot->pins & MEMORY_L1);
    t->reads[OF_LINES] |= line_of(x->c, x->sm, x->slot->line);
    if (only_looks || (!cl && !enters))
        return;
    t->writes[OF_LINES] |= line_of(x->c, x->sm, x->slot->line) | silent_of(x->sm);
    if (!cl && !has_two_left(&cache, x->slot->line))
        t->writes[OF_LINES] = UINT64_MAX;
}

static void touch_expression(const struct operation *x, enum memory_code code, struct touches *t)
{
    switch ((unsigned)code) {
    case CODE_READ_MEM:
    case CODE_READ_L2:
        t->reads[OF_WORDS] |= words_of(x->c, x->slot->line);
        break;
    case CODE_WRITE_MEM:
    case CODE_WRITE_L2:
        t->writes[OF_WORDS] |= words_of(x->c, x->slot->line);
        break;
    case CODE_LOCK:
    case CODE_UNLOCK:
        t->writes[OF_ACTORS] |= ~(bit(ACTORS_END) - 1);
        break;
    case CODE_READ_L1:
    case CODE_WRITE_L1:
    case CODE_RESERVE_L1:
    case CODE_UPDATE_L1:
    case CODE_EVICT_L1:
    case CODE_DISCARD_L1:
    case CODE_FIRST_L1:
    case CODE_NORMAL_L1:
        touch_line(x, code, t);
        break;
    }
}

/* Up to the next yield; what is private follows it. */
static void touch_operation(const struct operation *x, struct touches *t)
{
    const uint8_t *code = memory_programs[x->slot->program].code;
    t->writes[OF_ACTORS] |= actor_of(x->actor);
    if (code[x->slot->ip] == CODE_UNLESS_L1)
        t->reads[OF_LINES] |= line_of(x->c, x->sm, x->slot->line);
    for (uint32_t ip = caches_ahead(x); code[ip] != CODE_YIELD && code[ip] != CODE_END;) {
        bool leaves = code[ip] == CODE_ELSE;
        if (!leaves)
            touch_expression(x, (enum memory_code)code[ip], t);
        ip += leaves ? 2u + code[ip + 1] : 1u;
    }
}

/* ---- caches, actors ---- */

static void touch_silent(const struct machine *machine, const struct caches *c, uint32_t sm,
                         struct touches *t)
{
    struct cache cache = caches_of_sm((struct machine *)(uintptr_t)machine, c, sm);
    t->writes[OF_LINES] |= silent_of(sm);
    for (uint32_t i = 0; i < cache.count; i++) {
        const struct cache_line *cl = caches_line(c, cache.lines, i);
        if (!cl->tag || !caches_is_silent(&cache, i))
            continue;
        t->writes[OF_LINES] |= line_of(c, sm, cl->tag - 1);
        if (cl->dirty)
            t->writes[OF_WORDS] |= words_of(c, cl->tag - 1);
    }
}

/* Instructions that are about their own warp, or thread, and its operations. */
static bool is_alone(const struct ptx_code *code, const struct ptx_op *op)
{
    return op->exec <= PTX_EXEC_MEMBAR || op->exec == PTX_EXEC_BRA ||
           (op->exec == PTX_EXEC_EXIT && !code->barriers);
}

static void touch_actor(const struct machine *machine, uint32_t actor, struct touches *t)
{
    struct next_instruction next[64];
    uint32_t count = caches_next(machine, actor, next);
    t->writes[OF_ACTORS] |= actor_of(actor);
    for (uint32_t i = 0; i < count; i++)
        if (!is_alone(machine->program->ptx, &machine->program->ptx->ops[next[i].pc]))
            touch_all(t);
    if (count == 0)
        touch_all(t);
}

/* One operation is left, or one warp and no operation. */
static bool is_last(const struct machine *machine, const struct caches *c)
{
    uint32_t left = machine->head->unfinished;
    for (uint32_t actor = 0; actor < machine->actor_count && left < 2; actor++)
        left += c->in_flight[actor];
    return left < 2;
}

void caches_touches(const struct machine *machine, uint32_t number, struct touches *t)
{
    const struct caches *c = caches_of(machine);
    uint32_t actor, place, sm = number - machine->actor_count * (1 + c->slots);
    memset(t, 0, sizeof *t);
    if (c->l2 || c->options.inval || c->options.flush || is_last(machine, c)) {
        touch_all(t);
    } else if (number < machine->actor_count) {
        touch_actor(machine, number, t);
    } else if (caches_is_operation(machine, number, &actor, &place)) {
        const struct operation x =
            caches_operation((struct machine *)(uintptr_t)machine, actor, place, NULL);
        touch_operation(&x, t);
    } else {
        touch_silent(machine, c, sm, t);
    }
}
