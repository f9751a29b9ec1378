/*
 * explore.h - all final states of a machine, by its alternatives and the choices inside them: breadth first, by hashes.
 */
#ifndef TESTS_UNIT_CACHES_EXPLORE_H
#define TESTS_UNIT_CACHES_EXPLORE_H

#include "engine/machine/machine.h"

#include <stdlib.h>
#include <string.h>

struct exploring {
    struct choices choices; /* first member */
    uint32_t made[64], most[64], count, at;
};

static uint32_t explore_pick(struct choices *choices, const struct machine *machine)
{
    (void)choices;
    (void)machine;
    return 0;
}

static uint32_t explore_choose(struct choices *choices, uint32_t n)
{
    struct exploring *e = (struct exploring *)choices;
    if (e->at == e->count) {
        e->made[e->count] = 0;
        e->most[e->count++] = n;
    }
    return e->made[e->at++];
}

/* The next choices; false: there are none. */
static bool explore_next(struct exploring *e)
{
    while (e->count > 0 && e->made[e->count - 1] + 1 == e->most[e->count - 1])
        e->count--;
    if (e->count == 0)
        return false;
    e->made[e->count - 1]++;
    return true;
}

struct frontier {
    uint32_t *states;
    uint64_t *hashes;
    uint32_t first, count, room, words;
};

static void frontier_add(struct frontier *f, const struct machine *machine)
{
    if (f->count == f->room) {
        f->room = f->room ? 2 * f->room : 1024;
        f->states = realloc(f->states, (size_t)f->room * f->words * 4);
        f->hashes = realloc(f->hashes, (size_t)f->room * sizeof *f->hashes);
    }
    machine_save(machine, f->states + (size_t)f->count * f->words);
    f->hashes[f->count++] = machine->track.hash;
}

struct seen {
    uint64_t *table;
    uint32_t mask, count;
};

/* Whether the hash is new. */
static bool seen_add(struct seen *seen, uint64_t hash)
{
    uint64_t key = hash | 1;
    if (seen->count * 2 >= seen->mask) {
        struct seen more = {calloc(2 * (seen->mask + 1u), sizeof(uint64_t)), 2 * seen->mask + 1, 0};
        for (uint32_t i = 0; i <= seen->mask; i++)
            if (seen->table[i])
                seen_add(&more, seen->table[i]);
        free(seen->table);
        *seen = more;
    }
    for (uint32_t i = (uint32_t)(key >> 7) & seen->mask;; i = (i + 1) & seen->mask) {
        if (seen->table[i] == key)
            return false;
        if (!seen->table[i]) {
            seen->table[i] = key;
            seen->count++;
            return true;
        }
    }
}

/* Calls `ended` for each final state, and for each whose every step leads back to itself, `passed` (or NULL) for each
 * state; returns how many there are, 0: more than `limit`. The machine is tracked, without an undo log. */
static uint32_t explore_all(struct machine *machine, uint32_t limit,
                            void (*ended)(void *, const struct machine *),
                            void (*passed)(void *, const struct machine *), void *context)
{
    struct exploring e = {.choices = {explore_pick, explore_choose, NULL}};
    struct frontier f = {.words = machine->block_words};
    struct seen seen = {calloc(1024, sizeof(uint64_t)), 1023, 0};
    machine_reset(machine);
    seen_add(&seen, machine->track.hash);
    frontier_add(&f, machine);
    for (; f.first < f.count && seen.count <= limit; f.first++) {
        uint32_t *state = malloc((size_t)f.words * 4);
        uint64_t hash = f.hashes[f.first];
        memcpy(state, f.states + (size_t)f.first * f.words, (size_t)f.words * 4);
        machine_restore(machine, state, hash);
        if (passed)
            passed(context, machine);
        if (machine_status(machine) != STATUS_RUNNING)
            ended(context, machine);
        uint32_t live = machine_status(machine) == STATUS_RUNNING ? machine->head->live_count : 0;
        bool stays = live > 0;
        for (uint32_t i = 0; i < live; i++) {
            e.count = 0;
            do {
                machine_restore(machine, state, hash);
                e.at = 0;
                machine_step(machine, machine->head->live[i], &e.choices);
                stays &= machine->track.hash == hash;
                if (seen_add(&seen, machine->track.hash))
                    frontier_add(&f, machine);
            } while (explore_next(&e));
        }
        machine_restore(machine, state, hash);
        if (stays)
            ended(context, machine);
        free(state);
    }
    uint32_t count = f.first < f.count ? 0 : seen.count;
    free(f.states);
    free(f.hashes);
    free(seen.table);
    return count;
}

#endif
