/*
 * naive_blocks.h - barriers of thread blocks of warps straight from the report (catalogue cuda-crs, section 9): a
 * barrier is (tc, ac, red, list of lane actions), a warp a list of instructions and a list of barriers that it
 * waits for. For the tests of crs; nothing of the engine is used.
 */
#ifndef TESTS_UNIT_NAIVE_BLOCKS_H
#define TESTS_UNIT_NAIVE_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { NB_WARPS = 3, NB_LANES = 2, NB_CODE = 3, NB_IDS = 2, NB_ACTIONS = 24, NB_STATES = 1 << 14 };

enum nb_type { NB_SYNC, NB_ARRIVE, NB_AND, NB_OR, NB_POPC, NB_EXIT };

struct nb_instruction {
    enum nb_type type;
    bool has_count;
    uint8_t guard, truth; /* sets of lanes */
    uint8_t id[NB_LANES], count[NB_LANES];
};

struct nb_program {
    uint32_t warps;
    uint32_t length[NB_WARPS]; /* an exit of all follows */
    struct nb_instruction code[NB_WARPS][NB_CODE];
};

struct nb_options {
    bool late, all_warps, lanes, exit_arrives;
};

struct nb_action {
    uint8_t warp, lane, truth;
};

struct nb_barrier {
    uint8_t used, tc, ac, red; /* red: type + 1 of bar.red */
    uint8_t count;
    struct nb_action actions[NB_ACTIONS];
};

struct nb_warp {
    uint8_t at, completed, alive, waiting; /* sets of lanes, of ids */
    uint8_t result[NB_LANES];              /* of bar.red, added up */
};

struct nb_state {
    struct nb_warp warp[NB_WARPS];
    struct nb_barrier chi[NB_IDS];
};

/* How executions end: bits of outcomes, and the results of those that complete. */
enum { NB_COMPLETED = 1, NB_STUCK = 2, NB_DEADLOCK = 4 };

struct nb_search {
    const struct nb_program *program;
    struct nb_options options;
    uint32_t outcomes;
    uint64_t results; /* sum of hashes of the distinct results of completed executions */
    uint32_t count;
    struct nb_state *states;
    uint32_t *table;
    uint64_t seen[256];
    uint32_t seen_count;
};

static inline void nb_add(struct nb_search *x, const struct nb_state *state)
{
    const unsigned char *bytes = (const unsigned char *)state;
    uint32_t at = 2166136261u;
    for (size_t i = 0; i < sizeof *state; i++)
        at = (at ^ bytes[i]) * 16777619u;
    for (at %= 2 * NB_STATES; x->table[at]; at = (at + 1) % (2 * NB_STATES))
        if (memcmp(&x->states[x->table[at] - 1], state, sizeof *state) == 0)
            return;
    if (x->count == NB_STATES)
        abort();
    x->states[x->count++] = *state;
    x->table[at] = x->count;
}

/* A hash of the lanes' results: 6 of up to 18 each. */
static inline uint64_t nb_result_hash(const uint32_t results[NB_WARPS * NB_LANES])
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < NB_WARPS * NB_LANES; i++)
        hash = hash * 1000003u + results[i] + 1;
    return hash;
}

static inline void nb_note(struct nb_search *x, const struct nb_state *s)
{
    uint32_t results[NB_WARPS * NB_LANES];
    for (uint32_t i = 0; i < NB_WARPS * NB_LANES; i++)
        results[i] = s->warp[i / NB_LANES].result[i % NB_LANES];
    uint64_t hash = nb_result_hash(results);
    x->outcomes |= NB_COMPLETED;
    for (uint32_t i = 0; i < x->seen_count; i++)
        if (x->seen[i] == hash)
            return;
    if (x->seen_count == 256)
        abort();
    x->seen[x->seen_count++] = hash;
    x->results += hash;
}

static inline uint32_t nb_completed(const struct nb_search *x, const struct nb_state *s)
{
    uint32_t n = 0;
    for (uint32_t w = 0; w < x->program->warps; w++)
        n += s->warp[w].completed;
    return n;
}

static inline bool nb_ends(const struct nb_search *x, const struct nb_state *s,
                           const struct nb_barrier *b)
{
    uint32_t arrived = b->ac;
    if (x->options.exit_arrives)
        arrived += nb_completed(x, s) * NB_LANES;
    return b->used && arrived >= b->tc;
}

static inline void nb_end_bar(struct nb_state *s, uint32_t id)
{
    struct nb_barrier *b = &s->chi[id];
    uint32_t all = true, some = false, number = 0;
    for (uint32_t i = 0; i < b->count; i++) {
        all = all && b->actions[i].truth;
        some = some || b->actions[i].truth;
        number += b->actions[i].truth;
    }
    uint32_t value = b->red == NB_AND + 1 ? all : b->red == NB_OR + 1 ? some : number;
    for (uint32_t i = 0; i < b->count && b->red; i++) {
        struct nb_warp *w = &s->warp[b->actions[i].warp];
        w->result[b->actions[i].lane] = (uint8_t)(w->result[b->actions[i].lane] + value);
    }
    for (uint32_t w = 0; w < NB_WARPS; w++)
        s->warp[w].waiting = (uint8_t)(s->warp[w].waiting & ~(1u << id));
    memset(b, 0, sizeof *b);
}

/* A lane's action meets the barrier: false, a contradiction. */
static inline bool nb_prepare(const struct nb_search *x, const struct nb_state *before,
                              struct nb_state *s, const struct nb_instruction *i, uint32_t lane)
{
    struct nb_barrier *b = &s->chi[i->id[lane]];
    uint32_t active = x->program->warps - nb_completed(x, before);
    uint8_t red = (uint8_t)(i->type == NB_SYNC || i->type == NB_ARRIVE ? 0 : i->type + 1);
    if (x->options.all_warps || x->options.exit_arrives)
        active = x->program->warps;
    if (b->used)
        return b->red == red && (!i->has_count || b->tc == i->count[lane]);
    b->used = true;
    b->red = red;
    b->tc = (uint8_t)(i->has_count ? i->count[lane] : active * NB_LANES);
    return true;
}

static inline bool nb_barrier_step(const struct nb_search *x, struct nb_state *s, uint32_t w,
                                   const struct nb_instruction *i, uint32_t X)
{
    const struct nb_state before = *s;
    uint32_t ids = 0;
    for (uint32_t lane = 0; lane < NB_LANES; lane++) {
        struct nb_barrier *b = &s->chi[i->id[lane]];
        if (!(X >> lane & 1))
            continue;
        if (!nb_prepare(x, &before, s, i, lane))
            return false;
        if (i->type != NB_ARRIVE)
            b->actions[b->count++] =
                (struct nb_action){(uint8_t)w, (uint8_t)lane, (uint8_t)(i->truth >> lane & 1)};
        if (x->options.lanes || !(ids >> i->id[lane] & 1))
            b->ac = (uint8_t)(b->ac + (x->options.lanes ? 1 : NB_LANES));
        ids |= 1u << i->id[lane];
    }
    if (i->type != NB_ARRIVE)
        s->warp[w].waiting = (uint8_t)ids;
    return true;
}

/* false: stuck */
static inline bool nb_warp_step(const struct nb_search *x, struct nb_state *s, uint32_t w)
{
    struct nb_warp *warp = &s->warp[w];
    if (warp->at == x->program->length[w]) {
        warp->completed = true;
        warp->alive = 0;
        return true;
    }
    const struct nb_instruction *i = &x->program->code[w][warp->at++];
    uint32_t X = i->guard & warp->alive;
    if (i->type == NB_EXIT) {
        warp->alive = (uint8_t)(warp->alive & ~X);
        warp->completed = warp->alive == 0;
        return true;
    }
    return X == 0 || nb_barrier_step(x, s, w, i, X);
}

/* At once: ends all that can end; any order comes to the same. */
static inline void nb_settle(const struct nb_search *x, struct nb_state *s)
{
    for (uint32_t id = 0; id < NB_IDS && !x->options.late; id++)
        if (nb_completed(x, s) < x->program->warps && nb_ends(x, s, &s->chi[id]))
            nb_end_bar(s, id);
}

static inline void nb_visit(struct nb_search *x, uint32_t number)
{
    const struct nb_state s = x->states[number];
    bool stepped = false;
    if (nb_completed(x, &s) == x->program->warps) {
        nb_note(x, &s);
        return;
    }
    for (uint32_t w = 0; w < x->program->warps; w++) {
        struct nb_state next = s;
        if (s.warp[w].completed || s.warp[w].waiting)
            continue;
        stepped = true;
        if (!nb_warp_step(x, &next, w)) {
            x->outcomes |= NB_STUCK;
            continue;
        }
        nb_settle(x, &next);
        nb_add(x, &next);
    }
    for (uint32_t id = 0; id < NB_IDS; id++) {
        struct nb_state next = s;
        if (!nb_ends(x, &s, &s.chi[id]))
            continue;
        nb_end_bar(&next, id);
        nb_add(x, &next);
        stepped = true;
    }
    if (!stepped)
        x->outcomes |= NB_DEADLOCK;
}

static inline void nb_run(struct nb_search *x)
{
    struct nb_state start;
    memset(&start, 0, sizeof start);
    for (uint32_t w = 0; w < NB_WARPS; w++)
        start.warp[w].alive = (1 << NB_LANES) - 1;
    x->states = malloc(NB_STATES * sizeof *x->states);
    x->table = calloc(2 * NB_STATES, sizeof *x->table);
    if (!x->states || !x->table)
        abort();
    nb_add(x, &start);
    for (uint32_t i = 0; i < x->count; i++)
        nb_visit(x, i);
    free(x->states);
    free(x->table);
}

#endif
