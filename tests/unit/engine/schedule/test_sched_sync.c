/*
 * Schedulers of kernels with barriers: actors leave the list of live ones and come back. What a
 * scheduler remembers of an actor must be what holds of it now, at every pick.
 */
#include "engine/schedule/sched.h"

#include "tests/unit/shared/support.h"

static const char *const ROTATE =
    "launch(threads = 5, warp = 1, blocks = 2); shared int A[5]; global int sum, turns;"
    " kernel rotate() { private int i, t; A[tid] = tid;"
    " for (i = 0; i < 4; i++) { barrier(); t = A[(tid + 1) % 5]; if (t == 2) turns += 1; barrier();"
    " A[tid] = t; } barrier(); if (tid == 0) sum += A[0] * 10000 + A[4]; }";

/* The scheduler under test, asked through this one. */
struct watching {
    struct choices choices; /* first member */
    struct scheduler scheduler;
    struct machine *machine;
    uint32_t current, left; /* round robin, as a naive model has it */
    uint32_t picks;
};

static bool is_live(const struct machine *machine, uint32_t actor)
{
    bool live = false;
    for (uint32_t i = 0; i < machine->head->live_count; i++)
        live |= machine->head->live[i] == actor;
    return live;
}

static uint32_t next_in_turn(struct watching *w)
{
    uint32_t actors = w->machine->actor_count;
    if (w->picks > 0 && w->left > 0 && is_live(w->machine, w->current)) {
        w->left--;
        return w->current;
    }
    uint32_t actor = w->picks > 0 ? w->current : actors - 1;
    do
        actor = (actor + 1) % actors;
    while (!is_live(w->machine, actor));
    w->left = w->scheduler.spec.quantum - 1;
    return w->current = actor;
}

static void check_priorities(const struct watching *w, uint32_t picked)
{
    const struct machine_head *head = w->machine->head;
    for (uint32_t i = 0; i < head->live_count; i++)
        assert_true(w->scheduler.priority[picked] >= w->scheduler.priority[head->live[i]]);
}

static void check_pick(struct watching *w, uint32_t picked)
{
    const struct scheduler *s = &w->scheduler;
    const struct machine_head *head = w->machine->head;
    if (s->spec.kind == SCHED_ROUND_ROBIN)
        assert_int_equal(picked, next_in_turn(w));
    if (s->spec.kind == SCHED_STARVE && head->live_count > 1)
        assert_int_not_equal(picked, s->spec.victim);
    if (s->spec.kind == SCHED_PCT || s->spec.kind == SCHED_POS)
        check_priorities(w, picked);
    for (uint32_t i = 0; i < head->live_count; i++) {
        uint32_t actor = head->live[i];
        uint64_t reads, writes;
        w->machine->semantics->footprint(w->machine, actor, &reads, &writes);
        uint32_t stm = w->machine->semantics->next_stm(w->machine, actor);
        if (s->spec.kind == SCHED_POS)
            assert_true(s->reads[actor] == reads && s->writes[actor] == writes);
        if (s->spec.kind == SCHED_SURW)
            assert_int_equal(s->flags[actor], stm != CODE_NONE && s->spec.selected[stm]);
    }
}

static uint32_t watch_pick(struct choices *choices, const struct machine *machine)
{
    struct watching *w = (struct watching *)choices;
    uint32_t index = w->scheduler.choices.pick(&w->scheduler.choices, machine);
    assert_true(index < machine->head->live_count);
    check_pick(w, machine->head->live[index]);
    w->picks++;
    return index;
}

static uint32_t watch_choose(struct choices *choices, uint32_t n)
{
    struct watching *w = (struct watching *)choices;
    return w->scheduler.choices.choose(&w->scheduler.choices, n);
}

static void run_watched(const struct program *program, const struct semantics *semantics,
                        const struct sched_spec *spec)
{
    const struct machine_options options = {0};
    struct tape *tape = tape_new(&test_arena, 4096);
    struct watching w = {.choices = {watch_pick, watch_choose, NULL}};
    w.machine = machine_new(&test_arena, semantics, program, &options);
    sched_start(&w.scheduler, spec, w.machine, &test_arena);
    assert_int_equal(machine_run(w.machine, &w.choices, 100000, tape), STATUS_TERMINATED);
    uint64_t hash = machine_store_hash(w.machine), steps = w.machine->steps;
    const struct sched_spec again = {.kind = SCHED_TAPE, .tape = tape};
    struct scheduler replay;
    machine_reset(w.machine);
    sched_start(&replay, &again, w.machine, &test_arena);
    assert_int_equal(machine_run(w.machine, &replay.choices, 100000, NULL), STATUS_TERMINATED);
    assert_int_equal(replay.drifts + replay.beyond, 0);
    assert_true(machine_store_hash(w.machine) == hash && w.machine->steps == steps);
    int32_t sum = w.machine->memory[support_address(program, "sum")];
    assert_true(sum == 40003 || sum == 2 * 40003); /* the two blocks race on it */
}

static void schedulers_cope_with_barriers(void **state)
{
    static const char *const names[] = {
        "sequential", "reverse",  "rr",       "uniform",  "pct:1",    "pct:3",     "pct:5",
        "pos",        "starve:0", "starve:3", "starve:9", "unfair:0", "unfair:40", "surw"};
    const struct program *program = support_program(ROTATE);
    uint8_t *selected = ARENA_ARRAY(&test_arena, uint8_t, program->stm_count);
    uint32_t *counts = ARENA_ARRAY(&test_arena, uint32_t, program->total_threads);
    (void)state;
    for (uint32_t i = 0; i < program->stm_count; i++)
        selected[i] = program->stms[i].writes != 0;
    for (uint32_t i = 0; i < program->total_threads; i++)
        counts[i] = 5 + i % 3;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (uint64_t seed = 0; seed < 20; seed++) {
            struct sched_spec spec = {
                .seed = seed, .selected = selected, .selected_counts = counts};
            size_t mark = arena_mark(&test_arena);
            assert_true(sched_parse(names[i], &spec));
            spec.seed = seed;
            spec.quantum = 1 + (uint32_t)seed % 4;
            spec.length_estimate = 400;
            run_watched(program, &semantics_threads, &spec);
            run_watched(program, &semantics_simt, &spec);
            arena_release(&test_arena, mark);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schedulers_cope_with_barriers),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
