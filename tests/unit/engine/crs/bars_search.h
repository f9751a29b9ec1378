/*
 * bars_search.h - all outcomes of small straight-line programs of barriers, of threads (named-barriers 2) and of warps
 * (cuda-crs 5.5). What an action makes of the barriers says engine/reference (ref_bars.h); here is who may step when,
 * and a search through all states. The reference follows an execution and chooses nothing, so without the search nobody
 * would miss an alternative that the engine has not. For the tests of `block` and `crs`; nothing of the engine is used.
 */
#ifndef TESTS_UNIT_BARS_SEARCH_H
#define TESTS_UNIT_BARS_SEARCH_H

#include "engine/reference_ptx/ref_bars.h"
#include "tests/unit/shared/support.h"

#include <stdlib.h>

enum { BARS_IDS = 3, BARS_THREADS = 6, BARS_STATES = 1 << 14 };

/* ---- barriers in a state: what ref_bars.h has, without pointers ---- */

struct bars_bar {
    uint32_t count, arrived;
    enum ptx_word red;
    bool waits[BARS_THREADS], truths[BARS_THREADS];
};

static inline void bars_load(struct ref_bars *bars, const struct bars_bar *from)
{
    for (uint32_t b = 0; b < BARS_IDS; b++) {
        struct ref_bar *bar = &bars->bar[b];
        bar->count = from[b].count;
        bar->arrived = from[b].arrived;
        bar->red = from[b].red;
        memcpy(bar->waits, from[b].waits, bars->threads);
        memcpy(bar->truths, from[b].truths, bars->threads);
    }
}

static inline void bars_store(const struct ref_bars *bars, struct bars_bar *to)
{
    for (uint32_t b = 0; b < BARS_IDS; b++) {
        const struct ref_bar *bar = &bars->bar[b];
        to[b].count = bar->count;
        to[b].arrived = bar->arrived;
        to[b].red = bar->red;
        memcpy(to[b].waits, bar->waits, bars->threads);
        memcpy(to[b].truths, bar->truths, bars->threads);
    }
}

static inline bool bars_full(const struct bars_bar *bar)
{
    return bar->count > 0 && bar->arrived >= bar->count;
}

/* ---- states: a list and a table of what is in it; bytes are compared ---- */

struct bars_states {
    size_t bytes; /* of one */
    uint32_t count;
    unsigned char *list;
    uint32_t *table; /* number + 1, by hash */
};

static inline void bars_add(struct bars_states *x, const void *state)
{
    const unsigned char *bytes = state;
    uint32_t at = 2166136261u;
    for (size_t i = 0; i < x->bytes; i++)
        at = (at ^ bytes[i]) * 16777619u;
    for (at %= 2 * BARS_STATES; x->table[at]; at = (at + 1) % (2 * BARS_STATES))
        if (memcmp(x->list + (x->table[at] - 1) * x->bytes, state, x->bytes) == 0)
            return;
    assert_true(x->count < BARS_STATES);
    memcpy(x->list + x->count * x->bytes, state, x->bytes);
    x->table[at] = ++x->count;
}

static inline struct bars_states bars_states_new(size_t bytes, const void *start)
{
    struct bars_states x = {.bytes = bytes,
                            .list = calloc(BARS_STATES, bytes),
                            .table = calloc(2 * BARS_STATES, sizeof *x.table)};
    assert_true(x.list && x.table);
    bars_add(&x, start);
    return x;
}

static inline void bars_states_free(struct bars_states *x)
{
    free(x->list);
    free(x->table);
}

/* ---- threads ---- */

enum { THREADS_MAX = 4, THREADS_COMMANDS = 5 };

enum threads_kind { THREADS_READ, THREADS_WRITE, THREADS_ARRIVE, THREADS_SYNC };

struct threads_command {
    enum threads_kind kind;
    uint8_t b, n; /* read, write: b is the location */
};

struct threads_program {
    uint32_t threads;
    uint32_t length[THREADS_MAX];
    struct threads_command command[THREADS_MAX][THREADS_COMMANDS];
};

struct threads_state {
    uint8_t at[THREADS_MAX]; /* commands done */
    struct bars_bar bar[BARS_IDS];
};

enum { THREADS_DONE = 1, THREADS_DANGLING = 2, THREADS_ERR = 4, THREADS_DEADLOCK = 8 };

/* One step of thread i; false: there is none. *err: to err. */
static inline bool threads_step(struct ref_bars *bars, const struct threads_program *program,
                                struct threads_state *s, uint32_t i, bool *err)
{
    const char *why = NULL;
    bool stuck, waits = false;
    *err = false;
    for (uint32_t b = 0; b < BARS_IDS; b++)
        waits |= s->bar[b].waits[i]; /* E(i) is false */
    if (waits || s->at[i] == program->length[i])
        return false;
    struct threads_command c = program->command[i][s->at[i]];
    if (c.kind == THREADS_ARRIVE || c.kind == THREADS_SYNC) {
        struct ref_bar_action action = {.kind =
                                            c.kind == THREADS_SYNC ? REF_BAR_SYNC : REF_BAR_ARRIVE,
                                        .red = PTX_W_NONE,
                                        .has_count = true,
                                        .first = i,
                                        .number = {c.b},
                                        .count = {c.n}};
        bars_load(bars, s->bar);
        (void)ref_thread_bar(bars, &action, &why, &stuck);
        bars_store(bars, s->bar);
    }
    *err = why != NULL;
    s->at[i] = (uint8_t)(s->at[i] +
                         (c.kind != THREADS_SYNC)); /* who syncs stays there until it is recycled */
    return true;
}

/* The threads of I go past their sync. */
static inline void threads_recycle(struct ref_bars *bars, struct threads_state *s, uint32_t b)
{
    for (uint32_t t = 0; t < bars->threads; t++)
        s->at[t] = (uint8_t)(s->at[t] + s->bar[b].waits[t]);
    bars_load(bars, s->bar);
    ref_bar_end(bars, b);
    bars_store(bars, s->bar);
}

/* Done; and whether some barrier is half-filled then. */
static inline uint32_t threads_end(const struct threads_program *program,
                                   const struct threads_state *s)
{
    uint32_t end = THREADS_DONE;
    for (uint32_t i = 0; i < program->threads; i++)
        if (s->at[i] < program->length[i])
            return 0;
    for (uint32_t b = 0; b < BARS_IDS; b++)
        if (s->bar[b].arrived > 0 && !bars_full(&s->bar[b]))
            end = THREADS_DONE | THREADS_DANGLING;
    return end;
}

/* While a barrier is full only recycling is left; eager: and errors. */
static inline uint32_t threads_visit(struct bars_states *x, struct ref_bars *bars,
                                     const struct threads_program *program, bool eager,
                                     const struct threads_state *s)
{
    uint32_t outcomes = threads_end(program, s);
    bool full = false, stepped = outcomes != 0, err;
    for (uint32_t b = 0; b < BARS_IDS; b++)
        full |= bars_full(&s->bar[b]);
    for (uint32_t i = 0; i < program->threads; i++) {
        struct threads_state next = *s;
        if (!threads_step(bars, program, &next, i, &err) || (full && !(eager && err)))
            continue;
        stepped = true;
        if (err)
            outcomes |= THREADS_ERR;
        else
            bars_add(x, &next);
    }
    for (uint32_t b = 0; b < BARS_IDS; b++) {
        struct threads_state next = *s;
        if (!bars_full(&s->bar[b]))
            continue;
        threads_recycle(bars, &next, b);
        bars_add(x, &next);
        stepped = true;
    }
    return stepped ? outcomes : THREADS_DEADLOCK;
}

/* All outcomes of all executions. */
static inline uint32_t threads_outcomes(const struct threads_program *program, bool eager)
{
    const struct ast_launch launch = {.threads = program->threads, .warp = 1, .blocks = 1};
    struct threads_state state;
    struct ref_bars bars;
    uint32_t outcomes = 0;
    ref_bars_new(&test_arena, &bars, &launch);
    memset(&state, 0, sizeof state);
    bars_store(&bars, state.bar);
    struct bars_states x = bars_states_new(sizeof state, &state);
    for (uint32_t n = 0; n < x.count; n++) {
        memcpy(&state, x.list + n * x.bytes, sizeof state);
        outcomes |= threads_visit(&x, &bars, program, eager, &state);
    }
    bars_states_free(&x);
    return outcomes;
}

/* ---- warps ---- */

enum { WARPS_MAX = 3, WARPS_LANES = 2, WARPS_CODE = 3, WARPS_IDS = 2, WARPS_RESULTS = 256 };

enum warps_type { WARPS_SYNC, WARPS_ARRIVE, WARPS_AND, WARPS_OR, WARPS_POPC, WARPS_EXIT };

struct warps_instruction {
    enum warps_type type;
    bool has_count;
    uint8_t guard, truth; /* sets of lanes */
    uint8_t id[WARPS_LANES], count[WARPS_LANES];
};

struct warps_program {
    uint32_t warps;
    uint32_t length[WARPS_MAX]; /* an exit of all follows */
    struct warps_instruction code[WARPS_MAX][WARPS_CODE];
};

struct warps_options {
    bool late, all_warps, lanes, exit_arrives;
};

struct warps_state {
    struct {
        uint8_t at, alive, waiting; /* sets of lanes, of ids; nobody is alive: completed */
    } warp[WARPS_MAX];
    uint8_t result[WARPS_MAX * WARPS_LANES]; /* of bar.red, added up */
    struct bars_bar bar[BARS_IDS];
};

/* How executions end: bits of outcomes, and the results of those that complete. */
enum { WARPS_COMPLETED = 1, WARPS_STUCK = 2, WARPS_DEADLOCK = 4 };

struct warps_search {
    const struct warps_program *program;
    struct warps_options options;
    uint32_t outcomes;
    uint64_t results; /* sum of hashes of the distinct results of completed executions */
    uint64_t seen[WARPS_RESULTS];
    uint32_t seen_count;
    struct ref_bars bars;
    struct bars_states states;
};

/* A hash of the lanes' results. */
static inline uint64_t warps_hash(const uint32_t results[WARPS_MAX * WARPS_LANES])
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < WARPS_MAX * WARPS_LANES; i++)
        hash = hash * 1000003u + results[i] + 1;
    return hash;
}

static inline void warps_note(struct warps_search *x, const struct warps_state *s)
{
    uint32_t results[WARPS_MAX * WARPS_LANES];
    for (uint32_t i = 0; i < WARPS_MAX * WARPS_LANES; i++)
        results[i] = s->result[i];
    uint64_t hash = warps_hash(results);
    x->outcomes |= WARPS_COMPLETED;
    for (uint32_t i = 0; i < x->seen_count; i++)
        if (x->seen[i] == hash)
            return;
    assert_true(x->seen_count < WARPS_RESULTS);
    x->seen[x->seen_count++] = hash;
    x->results += hash;
}

static inline bool warps_are_done(const struct warps_search *x, const struct warps_state *s)
{
    for (uint32_t w = 0; w < x->program->warps; w++)
        if (s->warp[w].alive)
            return false;
    return true;
}

static inline void warps_end_bar(struct warps_search *x, struct warps_state *s, uint32_t id)
{
    bars_load(&x->bars, s->bar);
    uint32_t value = s->bar[id].red == PTX_W_NONE ? 0 : ref_bar_reduced(&x->bars, id);
    for (uint32_t t = 0; t < x->bars.threads; t++)
        if (s->bar[id].waits[t])
            s->result[t] = (uint8_t)(s->result[t] + value);
    for (uint32_t w = 0; w < WARPS_MAX; w++)
        s->warp[w].waiting = (uint8_t)(s->warp[w].waiting & ~(1u << id));
    ref_bar_end(&x->bars, id);
    bars_store(&x->bars, s->bar);
}

/* The lanes X of a warp at a barrier instruction: false, there is no rule. */
static inline bool warps_barrier(struct warps_search *x, struct warps_state *s, uint32_t w,
                                 const struct warps_instruction *i, uint32_t X)
{
    static const enum ptx_word reds[] = {
        [WARPS_AND] = PTX_W_AND, [WARPS_OR] = PTX_W_OR, [WARPS_POPC] = PTX_W_POPC};
    bool completed[WARPS_MAX], waits[REF_BARRIERS] = {false}, reduces = i->type >= WARPS_AND;
    struct ref_bar_action action = {.kind = i->type == WARPS_ARRIVE ? REF_BAR_ARRIVE
                                            : reduces               ? REF_BAR_RED
                                                                    : REF_BAR_SYNC,
                                    .red = reduces ? reds[i->type] : PTX_W_NONE,
                                    .has_count = i->has_count,
                                    .first = w * WARPS_LANES};
    uint32_t bad_lane;
    for (uint32_t lane = 0; lane < WARPS_LANES; lane++) {
        action.does[lane] = X >> lane & 1;
        action.number[lane] = i->id[lane];
        action.count[lane] = i->count[lane];
        action.truth[lane] = i->truth >> lane & 1;
    }
    for (uint32_t other = 0; other < x->program->warps; other++)
        completed[other] = !s->warp[other].alive;
    bars_load(&x->bars, s->bar);
    if (ref_warp_bars(&x->bars, &action, completed, waits, &bad_lane))
        return false;
    bars_store(&x->bars, s->bar);
    for (uint32_t id = 0; id < WARPS_IDS; id++)
        s->warp[w].waiting = (uint8_t)(s->warp[w].waiting | waits[id] << id);
    return true;
}

static inline void warps_exit(struct warps_search *x, struct warps_state *s, uint32_t w, uint32_t X)
{
    s->warp[w].alive = (uint8_t)(s->warp[w].alive & ~X);
    if (s->warp[w].alive)
        return;
    bars_load(&x->bars, s->bar);
    ref_warp_exits(&x->bars);
    bars_store(&x->bars, s->bar);
}

/* false: stuck */
static inline bool warps_step(struct warps_search *x, struct warps_state *s, uint32_t w)
{
    uint32_t alive = s->warp[w].alive;
    if (s->warp[w].at == x->program->length[w]) {
        warps_exit(x, s, w, alive);
        return true;
    }
    const struct warps_instruction *i = &x->program->code[w][s->warp[w].at++];
    if (i->type == WARPS_EXIT)
        warps_exit(x, s, w, i->guard & alive);
    else if (i->guard & alive)
        return warps_barrier(x, s, w, i, i->guard & alive);
    return true;
}

/* At once: ends all that can end; any order comes to the same. */
static inline void warps_settle(struct warps_search *x, struct warps_state *s)
{
    for (uint32_t id = 0; id < WARPS_IDS && !x->options.late && !warps_are_done(x, s); id++)
        if (bars_full(&s->bar[id]))
            warps_end_bar(x, s, id);
}

static inline void warps_visit(struct warps_search *x, const struct warps_state *s)
{
    bool stepped = false;
    if (warps_are_done(x, s)) {
        warps_note(x, s);
        return;
    }
    for (uint32_t w = 0; w < x->program->warps; w++) {
        struct warps_state next = *s;
        if (!s->warp[w].alive || s->warp[w].waiting)
            continue;
        stepped = true;
        if (!warps_step(x, &next, w)) {
            x->outcomes |= WARPS_STUCK;
            continue;
        }
        warps_settle(x, &next);
        bars_add(&x->states, &next);
    }
    for (uint32_t id = 0; id < WARPS_IDS; id++) {
        struct warps_state next = *s;
        if (!bars_full(&s->bar[id]))
            continue;
        warps_end_bar(x, &next, id);
        bars_add(&x->states, &next);
        stepped = true;
    }
    if (!stepped)
        x->outcomes |= WARPS_DEADLOCK;
}

/* All of it, for x->program and x->options. */
static inline void warps_run(struct warps_search *x)
{
    const struct ast_launch launch = {
        .threads = x->program->warps * WARPS_LANES, .warp = WARPS_LANES, .blocks = 1};
    struct warps_state state;
    ref_bars_new(&test_arena, &x->bars, &launch);
    x->bars.all_warps = x->options.all_warps;
    x->bars.lanes = x->options.lanes;
    x->bars.exit_arrives = x->options.exit_arrives;
    memset(&state, 0, sizeof state);
    for (uint32_t w = 0; w < x->program->warps; w++)
        state.warp[w].alive = (1 << WARPS_LANES) - 1;
    bars_store(&x->bars, state.bar);
    x->states = bars_states_new(sizeof state, &state);
    for (uint32_t n = 0; n < x->states.count; n++) {
        memcpy(&state, x->states.list + n * x->states.bytes, sizeof state);
        warps_visit(x, &state);
    }
    bars_states_free(&x->states);
}

#endif
