/*
 * naive_barriers.h - named barriers straight from the paper (catalogue named-barriers, sections 1 and 2): a state
 * is E and, for each barrier, lists I and A and n; every rule is tried in every state. For the tests of
 * semantics_block; nothing of the engine is used.
 */
#ifndef TESTS_UNIT_NAIVE_BARRIERS_H
#define TESTS_UNIT_NAIVE_BARRIERS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { NAIVE_THREADS = 4, NAIVE_COMMANDS = 5, NAIVE_BARRIERS = 3, NAIVE_LIST = 24 };

enum naive_kind { NAIVE_READ, NAIVE_WRITE, NAIVE_ARRIVE, NAIVE_SYNC };

struct naive_command {
    enum naive_kind kind;
    uint8_t b, n; /* read, write: b is the location */
};

struct naive_program {
    uint32_t threads;
    uint32_t length[NAIVE_THREADS];
    struct naive_command command[NAIVE_THREADS][NAIVE_COMMANDS];
};

struct naive_list {
    uint8_t count, id[NAIVE_LIST];
};

struct naive_barrier {
    struct naive_list I, A;
    uint8_t n; /* 0: bottom */
};

struct naive_state {
    uint8_t at[NAIVE_THREADS]; /* commands done */
    uint8_t E[NAIVE_THREADS];
    struct naive_barrier B[NAIVE_BARRIERS];
};

enum { NAIVE_DONE = 1, NAIVE_DANGLING = 2, NAIVE_ERR = 4, NAIVE_DEADLOCK = 8 };

enum { NAIVE_STATES = 1 << 14 };

struct naive {
    const struct naive_program *program;
    bool eager;
    uint32_t outcomes;
    uint32_t count; /* visited states, a work list at the same time */
    struct naive_state *states;
    uint32_t *table; /* number + 1, by hash */
};

static inline uint32_t naive_size(const struct naive_barrier *b)
{
    return (uint32_t)b->I.count + b->A.count;
}

static inline bool naive_full(const struct naive_barrier *b)
{
    return b->n > 0 && naive_size(b) == b->n;
}

static inline void naive_add(struct naive *x, const struct naive_state *state)
{
    const unsigned char *bytes = (const unsigned char *)state;
    uint32_t at = 2166136261u;
    for (size_t i = 0; i < sizeof *state; i++)
        at = (at ^ bytes[i]) * 16777619u;
    for (at %= 2 * NAIVE_STATES; x->table[at]; at = (at + 1) % (2 * NAIVE_STATES))
        if (memcmp(&x->states[x->table[at] - 1], state, sizeof *state) == 0)
            return;
    if (x->count == NAIVE_STATES)
        abort();
    x->states[x->count++] = *state;
    x->table[at] = x->count;
}

/* One step of thread i; false: there is none. *err: to err. */
static inline bool naive_thread(const struct naive *x, struct naive_state *s, uint32_t i, bool *err)
{
    *err = false;
    if (s->at[i] == x->program->length[i])
        return false;
    struct naive_command c = x->program->command[i][s->at[i]];
    if (c.kind == NAIVE_READ || c.kind == NAIVE_WRITE) {
        s->at[i]++;
        return true;
    }
    struct naive_barrier *B = &s->B[c.b];
    if (c.kind == NAIVE_SYNC && !s->E[i])
        return false;
    if (B->n > 0 && B->n != c.n) { /* [sync, arrive] n != bot, n != m */
        *err = true;
    } else if (naive_full(B)) {
        *err = true;
    } else if (c.kind == NAIVE_ARRIVE) {
        B->n = c.n;
        B->A.id[B->A.count++] = (uint8_t)i;
        s->at[i]++;
    } else {
        B->n = c.n;
        B->I.id[B->I.count++] = (uint8_t)i;
        s->E[i] = false;
    }
    return true;
}

static inline bool naive_some_full(const struct naive_state *s)
{
    for (uint32_t b = 0; b < NAIVE_BARRIERS; b++)
        if (naive_full(&s->B[b]))
            return true;
    return false;
}

/* E[true / I], B[([], [], bot) / b], and the threads of I go past their sync. */
static inline void naive_recycle(struct naive_state *s, uint32_t b)
{
    for (uint32_t k = 0; k < s->B[b].I.count; k++) {
        s->E[s->B[b].I.id[k]] = true;
        s->at[s->B[b].I.id[k]]++;
    }
    memset(&s->B[b], 0, sizeof s->B[b]);
}

static inline bool naive_is_done(const struct naive *x, const struct naive_state *s)
{
    for (uint32_t i = 0; i < x->program->threads; i++)
        if (s->at[i] < x->program->length[i])
            return false;
    return true;
}

/* Some barrier is half-filled. */
static inline bool naive_dangling(const struct naive_state *s)
{
    for (uint32_t b = 0; b < NAIVE_BARRIERS; b++)
        if (naive_size(&s->B[b]) > 0 && !naive_full(&s->B[b]))
            return true;
    return false;
}

static inline void naive_visit(struct naive *x, uint32_t number)
{
    struct naive_state s = x->states[number];
    bool full = naive_some_full(&s), stepped = false;
    if (naive_is_done(x, &s)) {
        x->outcomes |= naive_dangling(&s) ? NAIVE_DONE | NAIVE_DANGLING : NAIVE_DONE;
        stepped = true;
    }
    for (uint32_t i = 0; i < x->program->threads; i++) {
        struct naive_state next = s;
        bool err;
        if (!naive_thread(x, &next, i, &err))
            continue;
        if (full && !(x->eager && err))
            continue;
        stepped = true;
        if (err)
            x->outcomes |= NAIVE_ERR;
        else
            naive_add(x, &next);
    }
    for (uint32_t b = 0; b < NAIVE_BARRIERS; b++) {
        struct naive_state next = s;
        if (!naive_full(&s.B[b]))
            continue;
        naive_recycle(&next, b);
        naive_add(x, &next);
        stepped = true;
    }
    if (!stepped)
        x->outcomes |= NAIVE_DEADLOCK;
}

/* All outcomes of all executions. */
static inline uint32_t naive_outcomes(const struct naive_program *program, bool eager)
{
    struct naive x = {.program = program,
                      .eager = eager,
                      .states = malloc(NAIVE_STATES * sizeof *x.states),
                      .table = calloc(2 * NAIVE_STATES, sizeof *x.table)};
    struct naive_state start;
    if (!x.states || !x.table)
        abort();
    memset(&start, 0, sizeof start);
    memset(start.E, true, sizeof start.E);
    naive_add(&x, &start);
    for (uint32_t i = 0; i < x.count; i++)
        naive_visit(&x, i);
    free(x.states);
    free(x.table);
    return x.outcomes;
}

#endif
