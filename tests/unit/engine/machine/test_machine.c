/*
 * The transition-system interface, over random kernels: tracked and plain machines agree, the
 * incremental hash is the hash of the block, undoing restores every byte, and a tape replays an
 * execution byte for byte.
 */
#include "engine/forms/lower.h"
#include "engine/machine/semantics.h"
#include "engine/schedule/sched.h"
#include "fuzz/generate/generate.h"
#include "tests/unit/shared/arena_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { KERNELS = 150, BUDGET = 2000, UNDO_ENTRIES = 1 << 20 };

static const struct {
    const struct semantics *semantics;
    bool then_first;
} subjects[] = {{&semantics_threads, false}, {&semantics_simt, false}, {&semantics_simt, true}};

static struct program *program_of_case(uint64_t number)
{
    const char *reason = NULL;
    struct gen_options options = GEN_DEFAULTS;
    options.features &=
        ~(1u << FEATURE_CRS | 1u << FEATURE_KNOWN | 1u << FEATURE_NAMED); /* what trees run */
    options.features &= ~(1u << FEATURE_GRAPHS | 1u << FEATURE_DIRECTIONS | 1u << FEATURE_VOTES);
    struct ast_kernel *kernel = gen_case(&arena, 0x7e57, number, &options);
    struct program *program = program_compile(&arena, lower_core(&arena, kernel), &reason);
    assert_non_null(program);
    return program;
}

static struct scheduler *uniform(const struct machine *machine, uint64_t number)
{
    struct scheduler *scheduler = ARENA_NEW(&arena, struct scheduler);
    struct sched_spec spec = {.kind = SCHED_UNIFORM, .seed = number};
    sched_start(scheduler, &spec, machine, &arena);
    return scheduler;
}

static uint64_t full_hash(const struct machine *machine)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < machine->block_words; i++) {
        uint32_t value;
        memcpy(&value, (const char *)machine->block + (size_t)4 * i, 4);
        hash ^= track_mix(i, value);
    }
    return hash;
}

/* Steps one machine and undoes it again: first every single step, then all of them. */
static void undo_one(const struct semantics *semantics, bool then_first, uint64_t number)
{
    const struct program *program = program_of_case(number);
    struct machine_options plain_options = {.then_first = then_first};
    struct machine_options options = {
        .then_first = then_first, .track = true, .undo_entries = UNDO_ENTRIES};
    struct machine *plain = machine_new(&arena, semantics, program, &plain_options);
    struct machine *m = machine_new(&arena, semantics, program, &options);
    struct scheduler *a = uniform(plain, number), *b = uniform(m, number), *c = uniform(m, number);
    uint32_t *before = ARENA_ARRAY(&arena, uint32_t, m->block_words);
    for (uint32_t i = 0; i < 300 && machine_status(m) == STATUS_RUNNING; i++) {
        uint32_t actor = plain->head->live[a->choices.pick(&a->choices, plain)];
        assert_int_equal(m->head->live[b->choices.pick(&b->choices, m)], actor);
        uint32_t mark = m->track.log_count;
        machine_save(m, before);
        *c = *b; /* the same inner choices twice */
        enum rule once = machine_step(m, actor, &c->choices);
        machine_undo(m, mark);
        assert_true(machine_equals(m, before));
        assert_int_equal(machine_step(m, actor, &b->choices), once);
        assert_int_equal(machine_step(plain, actor, &a->choices), once);
        if (i % 16 == 0)
            assert_true(m->track.hash == full_hash(m));
    }
    assert_memory_equal(m->memory, plain->memory, 4 * (size_t)program->frame_base);
    machine_undo(m, 0);
    assert_true(machine_equals(m, m->initial));
    assert_true(m->track.hash == m->initial_hash);
}

static void undo_restores_every_byte(void **state)
{
    (void)state;
    for (uint64_t number = 0; number < KERNELS; number++)
        for (size_t s = 0; s < sizeof subjects / sizeof subjects[0]; s++) {
            arena.used = 0;
            undo_one(subjects[s].semantics, subjects[s].then_first, number);
        }
}

static void replay_one(const struct semantics *semantics, bool then_first, uint64_t number)
{
    struct machine_options options = {.then_first = then_first};
    struct machine *m = machine_new(&arena, semantics, program_of_case(number), &options);
    struct tape *tape = tape_new(&arena, 4 * BUDGET), *again = tape_new(&arena, 4 * BUDGET);
    enum status status = machine_run(m, &uniform(m, number)->choices, BUDGET, tape);
    uint32_t *end = ARENA_ARRAY(&arena, uint32_t, m->block_words);
    uint64_t hits[RULE_COUNT + 1];
    machine_save(m, end);
    memcpy(hits, m->hits, sizeof hits);

    machine_reset(m);
    memset(m->hits, 0, sizeof m->hits);
    size_t column = 0;
    struct tape *parsed = tape_parse(&arena, tape_print(&arena, tape), &column);
    assert_non_null(parsed);
    struct scheduler scheduler;
    struct sched_spec spec = {.kind = SCHED_TAPE, .tape = parsed};
    sched_start(&scheduler, &spec, m, &arena);
    assert_int_equal(machine_run(m, &scheduler.choices, BUDGET, again), status);
    assert_int_equal(scheduler.drifts, 0);
    assert_true(machine_equals(m, end));
    assert_memory_equal(m->hits, hits, sizeof hits);
    assert_int_equal(again->count, tape->count);
    assert_memory_equal(again->entries, tape->entries, tape->count * sizeof *tape->entries);
}

static void tapes_replay_byte_for_byte(void **state)
{
    (void)state;
    for (uint64_t number = 0; number < KERNELS; number++)
        for (size_t s = 0; s < sizeof subjects / sizeof subjects[0]; s++) {
            arena.used = 0;
            replay_one(subjects[s].semantics, subjects[s].then_first, number);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(undo_restores_every_byte),
        cmocka_unit_test(tapes_replay_byte_for_byte),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
