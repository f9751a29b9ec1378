#include "fuzz/laws/litmus_machine.h"

#include "engine/base/invariant.h"
#include "engine/caches/caches.h"
#include "engine/crs/crs.h"
#include "engine/input/input.h"
#include "engine/litmus/litmus_kernel.h"

#include <stdio.h>
#include <string.h>

/* ---- the kernel ---- */

/* A region without an access is not laid out. */
static uint32_t region_word(const struct ptx_regions *regions, const char *name)
{
    for (uint32_t i = 0; i < regions->count; i++)
        if (strcmp(regions->items[i].name, name) == 0)
            return regions->items[i].word;
    return 0;
}

static struct program *compile(struct arena *arena, const struct litmus_test *test)
{
    const char *reason = NULL, *text = litmus_kernel(arena, test);
    struct diag diag;
    if (!text)
        return NULL;
    diag_init(&diag, test->name, text, strlen(text));
    struct ast_kernel *kernel = parse_kernel(arena, text, strlen(text), &diag);
    INVARIANT(kernel);
    return ptx_compile(arena, kernel, kernel->ptx->module, NULL, &reason);
}

/* The register's place is the result of the instruction that writes its first value. */
static struct ptx_place place_of(struct arena *arena, const struct program *program,
                                 uint32_t thread, uint32_t reg)
{
    char name[32];
    snprintf(name, sizeof name, "mov.u32 %%a%u_%u, ", (unsigned)thread, (unsigned)reg);
    for (uint32_t pc = 1; pc < program->ptx->count; pc++)
        if (strstr(ptx_op_text(arena, program->ptx, pc), name))
            return program->ptx->ops[pc].results[0];
    invariant_fail("no such register", __FILE__, __LINE__);
}

static void find_observed(struct arena *arena, struct litmus_machine *x,
                          const struct program *program)
{
    struct litmus_shape shape = litmus_shape(x->test);
    for (uint32_t i = 0; i < x->test->observed; i++) {
        const struct litmus_observed *o = &x->test->observe[i];
        uint32_t block, warp, reg = o->number;
        litmus_place(x->test, o->is_register ? o->thread : 0, &block, &warp);
        if (o->is_register) {
            x->lanes[i] = litmus_lane_of(x->test, o->thread, &reg);
            x->places[i] = place_of(arena, program, o->thread, reg);
            x->actors[i] = block * shape.warps + warp;
        } else if (o->number < LITMUS_GLOBALS) {
            x->words[i] = region_word(&program->ptx->global, "g") + o->number;
        } else if (o->number < LITMUS_GLOBALS + 4 * LITMUS_THREADS) {
            uint32_t k = o->number - LITMUS_GLOBALS;
            x->words[i] = program->shared_base + k / 4 * program->words[SPACE_SHARED] +
                          region_word(&program->ptx->shared, "s") + k % 4;
        } else {
            uint32_t k = o->number - LITMUS_GLOBALS - 4 * LITMUS_THREADS;
            litmus_place(x->test, o->thread, &block, &warp);
            uint32_t number = (block * shape.warps + warp) * shape.lanes;
            x->words[i] = program->frame_base + number * program->words[SPACE_LOCAL] +
                          program->ptx->frame_local_base / 4 + k % 2;
        }
    }
}

/* ---- the machine ---- */

struct memory_options litmus_memory(const struct litmus_test *test, enum litmus_model model)
{
    static const uint8_t profiles[] = {[LITMUS_PRINTED] = MEMORY_PRINTED,
                                       [LITMUS_LLH] = MEMORY_LLH,
                                       [LITMUS_COHERENT] = MEMORY_COHERENT};
    static const uint8_t splits[] = {
        [SPLIT_MAX] = SPLIT_LINES, [SPLIT_NONE] = SPLIT_LANES, [SPLIT_ALL] = SPLIT_EITHER};
    return (struct memory_options){.profile = profiles[model],
                                   .words = test->options.words_a_line,
                                   .lines = 8,
                                   .sms = (uint8_t)litmus_shape(test).blocks,
                                   .slots = 8,
                                   .split = splits[test->options.split],
                                   .strong = test->options.strong,
                                   .before = test->options.before,
                                   .inval = test->options.inval,
                                   .eager = true};
}

static void add_warm(struct arena *arena, struct memory_options *o, const struct litmus_test *test,
                     const struct program *program)
{
    uint32_t *warm = ARENA_ARRAY(arena, uint32_t, 2 * LITMUS_THREADS * LITMUS_GLOBALS),
             from = region_word(&program->ptx->global, "g");
    o->warm = warm;
    for (uint32_t sm = 0; sm < LITMUS_THREADS; sm++)
        for (uint32_t w = 0; w < LITMUS_GLOBALS; w++)
            if (test->warm[sm] >> w & 1) {
                warm[2 * o->warm_count] = sm;
                warm[2 * o->warm_count++ + 1] = from + w;
            }
}

static bool looks_at_global(const struct litmus_test *test)
{
    bool looks = false;
    for (uint32_t i = 0; i < test->observed; i++)
        looks |= !test->observe[i].is_register && test->observe[i].number < LITMUS_GLOBALS;
    for (uint32_t sm = 0; sm < LITMUS_THREADS; sm++)
        looks |= test->warm[sm] != 0;
    return looks;
}

struct program *litmus_program(struct arena *arena, const struct litmus_test *test,
                               struct memory_options *memory)
{
    struct program *program = compile(arena, test);
    if (!program || (program->ptx->global.count == 0 && looks_at_global(test)))
        return NULL;
    add_warm(arena, memory, test, program);
    return program;
}

bool litmus_machine_make(struct arena *arena, const struct litmus_test *test,
                         const struct memory_options *memory, struct litmus_machine *x)
{
    struct machine_options options = {.track = true, .memory = *memory};
    struct program *program = litmus_program(arena, test, &options.memory);
    if (!program)
        return false;
    *x = (struct litmus_machine){
        .test = test, .machine = machine_new(arena, &semantics_crs_caches, program, &options)};
    find_observed(arena, x, program);
    return true;
}

bool litmus_machine_values(const struct litmus_machine *x, int16_t values[LITMUS_OBSERVED])
{
    memset(values, 0, LITMUS_OBSERVED * sizeof *values);
    if (machine_status(x->machine) != STATUS_TERMINATED)
        return false;
    for (uint32_t i = 0; i < x->test->observed; i++)
        values[i] = (int16_t)(x->test->observe[i].is_register
                                  ? ptx_source(x->machine, crs_warp(x->machine, x->actors[i]).lanes,
                                               &x->places[i], x->lanes[i])
                                  : caches_current(x->machine, x->words[i]));
    return true;
}

/* ---- all of its states, breadth first ---- */

enum { CHOICES = 64 };

struct state {
    uint64_t hash;
    uint32_t *words;
};

struct walk {
    struct choices choices; /* first member */
    uint32_t made[CHOICES], most[CHOICES], count, at;
    struct arena *arena;
    struct machine *machine;
    struct state *states;
    uint32_t *table, mask; /* of states, by their hashes, and 1 */
    uint32_t found, limit;
};

static uint32_t pick(struct choices *choices, const struct machine *machine)
{
    (void)choices;
    (void)machine;
    return 0;
}

/* As far as they are made; behind them the first one. */
static uint32_t choose(struct choices *choices, uint32_t n)
{
    struct walk *w = (struct walk *)choices;
    if (w->at == w->count) {
        INVARIANT(w->count < CHOICES);
        w->made[w->count] = 0;
        w->most[w->count++] = n;
    }
    return w->made[w->at++];
}

/* The next choices; false: there are none. */
static bool choose_next(struct walk *w)
{
    while (w->count > 0 && w->made[w->count - 1] + 1 == w->most[w->count - 1])
        w->count--;
    if (w->count == 0)
        return false;
    w->made[w->count - 1]++;
    return true;
}

/* The machine's state, if it is new. False: there are too many. */
static bool add_state(struct walk *w)
{
    uint64_t hash = w->machine->track.hash;
    uint32_t at = (uint32_t)(hash >> 7) & w->mask;
    for (; w->table[at]; at = (at + 1) & w->mask)
        if (w->states[w->table[at] - 1].hash == hash)
            return true;
    if (w->found == w->limit)
        return false;
    struct state *state = &w->states[w->found];
    state->hash = hash;
    state->words = ARENA_ARRAY(w->arena, uint32_t, w->machine->block_words);
    machine_save(w->machine, state->words);
    w->table[at] = ++w->found;
    return true;
}

/* All steps of a state. *stays: none leads away. */
static bool take_steps(struct walk *w, const struct state *from, bool *stays)
{
    machine_restore(w->machine, from->words, from->hash);
    uint32_t live = machine_status(w->machine) == STATUS_RUNNING ? w->machine->head->live_count : 0;
    *stays = true;
    for (uint32_t i = 0; i < live; i++) {
        w->count = 0;
        do {
            machine_restore(w->machine, from->words, from->hash);
            w->at = 0;
            machine_step(w->machine, w->machine->head->live[i], &w->choices);
            *stays &= w->machine->track.hash == from->hash;
            if (!add_state(w))
                return false;
        } while (choose_next(w));
    }
    machine_restore(w->machine, from->words, from->hash);
    return true;
}

static bool walk_states(struct walk *w, const struct litmus_machine *x,
                        struct litmus_result *result)
{
    machine_reset(w->machine);
    add_state(w);
    for (uint32_t s = 0; s < w->found; s++) {
        int16_t values[LITMUS_OBSERVED];
        bool stays;
        if (!take_steps(w, &w->states[s], &stays))
            return false;
        if (stays && litmus_machine_values(x, values))
            litmus_add_outcome(w->arena, x->test, result, values);
        else
            result->dead += stays;
    }
    result->states = w->found;
    return true;
}

bool litmus_machine_run(struct arena *arena, const struct litmus_test *test,
                        enum litmus_model model, uint32_t limit, struct litmus_result *result)
{
    struct memory_options memory = litmus_memory(test, model);
    struct litmus_machine x;
    uint32_t slots = 4;
    while (slots < 2 * limit)
        slots *= 2;
    *result = (struct litmus_result){.count = 0};
    if (!litmus_machine_make(arena, test, &memory, &x))
        return false;
    struct walk w = {.choices = {pick, choose, NULL},
                     .arena = arena,
                     .machine = x.machine,
                     .states = ARENA_ARRAY(arena, struct state, limit),
                     .table = ARENA_ARRAY(arena, uint32_t, slots),
                     .mask = slots - 1,
                     .limit = limit};
    return walk_states(&w, &x, result);
}
