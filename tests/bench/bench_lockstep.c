/*
 * bench_lockstep.c - lane steps of the literal lock-step machine on phi(P) and of the fast executor,
 * beside the kernel by hand and a minimal interpreter of vectors. A lane step is a statement (gotos
 * included) of P that a thread executes, for all of them alike.
 */
#include "engine/base/invariant.h"
#include "engine/forms/normalise.h"
#include "engine/forms/predicate.h"
#include "engine/input/input.h"
#include "engine/schedule/sched.h"
#include "engine/vector/vector.h"
#include "oracle/race/race.h"
#include "tests/bench/bench.h"
#include "tests/bench/vector_ceiling.h"
#include "tests/bench/vector_loop.h"

#include <stdio.h>
#include <string.h>

static uint64_t by_hand(void *context)
{
    int32_t a[VECTOR_CEILING_LANES];
    return vector_ceiling_run(*(const uint64_t *)context, a);
}

static uint64_t minimal_loop(void *context)
{
    int32_t a[VECTOR_CEILING_LANES];
    return vector_loop_run(*(const uint64_t *)context, a);
}

struct vectors {
    struct vector_run *run;
    uint64_t executions;
};

static uint64_t vector_work(void *context)
{
    const struct vectors *vectors = context;
    uint64_t steps = 0;
    for (uint64_t i = 0; i < vectors->executions; i++)
        steps += vector_execute(vectors->run, UINT64_MAX).lane_steps;
    return steps;
}

struct literal {
    struct machine *machine;
    struct race_detector *race;      /* NULL: none */
    uint64_t executions, lane_steps; /* of one execution */
};

static uint64_t literal_work(void *context)
{
    struct literal *literal = context;
    struct sched_spec spec = {.kind = SCHED_SEQUENTIAL};
    for (uint64_t i = 0; i < literal->executions; i++) {
        struct scheduler scheduler;
        machine_reset(literal->machine);
        if (literal->race)
            race_begin(literal->race);
        sched_start(&scheduler, &spec, literal->machine, &bench_arena);
        machine_run(literal->machine, &scheduler.choices, UINT64_MAX, NULL);
    }
    return literal->executions * literal->lane_steps;
}

/* phi(P) of the kernel. */
static const struct program *literal_program(const struct ast_kernel *kernel)
{
    const struct predicate_options plain = {.order_seed = 0};
    const char *reason;
    struct ast_kernel *p = normalise(&bench_arena, kernel, NORMALISE_ALL, &reason);
    (void)program_compile(&bench_arena, p, &reason); /* numbers its statements */
    return program_compile(&bench_arena, lockstep_form(&bench_arena, p, &plain, &reason), &reason);
}

static double literal_rate(const struct program *phi, uint64_t lane_steps, bool race)
{
    const struct machine_options options = {.track = false};
    struct literal literal = {.executions = 100, .lane_steps = lane_steps};
    literal.machine = machine_new(&bench_arena, &semantics_lockstep, phi, &options);
    literal.race = race ? race_new(&bench_arena, phi) : NULL;
    machine_observe(literal.machine, race ? &literal.race->observer : NULL);
    return measure(literal_work, &literal);
}

static void fast_line(const struct program *program, enum vector_isa isa, bool race, double loop,
                      double hand, double literal)
{
    const char *reason;
    struct vector_options options = {.isa = isa, .races = race};
    struct vectors vectors = {.run = vector_new(&bench_arena, program, &options, &reason),
                              .executions = 4000};
    double rate = measure(vector_work, &vectors);
    line(arena_printf(&bench_arena, "fast executor, %s%s", vector_isa_names[isa],
                      race ? ", race detection" : ""),
         rate, "lane steps/s", loop);
    printf("  %-52s %9.1f times the literal machine, %.2f of the kernel by hand\n", "",
           rate / literal, rate / hand);
}

/* The kernel by hand, the minimal loop and the fast executor do the same. */
static void check_loops(const struct program *program)
{
    int32_t hand[VECTOR_CEILING_LANES], loop[VECTOR_CEILING_LANES];
    const char *reason;
    struct vector_options options = {.isa = vector_best_isa()};
    struct vector_run *run = vector_new(&bench_arena, program, &options, &reason);
    uint64_t steps = vector_execute(run, UINT64_MAX).lane_steps;
    INVARIANT(vector_ceiling_run(1, hand) == steps && vector_loop_run(1, loop) == steps);
    INVARIANT(memcmp(hand, loop, sizeof hand) == 0);
    INVARIANT(memcmp(hand, vector_memory(run), sizeof hand) == 0);
}

void bench_lockstep(void)
{
    struct diag diag;
    const char *reason, *text = VECTOR_CEILING_KERNEL;
    uint64_t executions = 20000, once = 1;
    diag_init(&diag, "bench", text, strlen(text));
    struct ast_kernel *kernel = parse_kernel(&bench_arena, text, strlen(text), &diag);
    const struct program *phi = literal_program(kernel);
    const struct program *program = program_compile(&bench_arena, kernel, &reason);
    check_loops(program);
    double hand = measure(by_hand, &executions), loop = measure(minimal_loop, &executions);
    double literal[2];
    printf("lock-step: %d lanes, a branch, a shared array and a barrier in a loop\n",
           VECTOR_CEILING_LANES);
    line("the kernel by hand, vectorised", hand, "lane steps/s", 0);
    line("ceiling: minimal loop over a table of vector instructions", loop, "lane steps/s", 0);
    for (int race = 0; race < 2; race++) {
        literal[race] = literal_rate(phi, by_hand(&once), race);
        line(race ? "literal machine on phi(P), race detection" : "literal machine on phi(P)",
             literal[race], "lane steps/s", loop);
    }
    for (uint32_t isa = 0; isa <= vector_best_isa(); isa++)
        for (int race = 0; race < 2; race++)
            fast_line(program, (enum vector_isa)isa, race, loop, hand, literal[race]);
}
