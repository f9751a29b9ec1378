/*
 * bench_lockstep.c - lane steps of the lock-step machine on phi(P), beside the kernel by hand. A lane step is a
 * statement (gotos included) of P that a thread executes, for all of them alike.
 */
#include "engine/base/invariant.h"
#include "engine/forms/normalise.h"
#include "engine/forms/predicate.h"
#include "engine/input/input.h"
#include "engine/schedule/sched.h"
#include "oracle/race/race.h"
#include "tests/bench/bench.h"
#include "tests/bench/vector_ceiling.h"

#include <stdio.h>
#include <string.h>

static uint64_t by_hand(void *context)
{
    int32_t a[VECTOR_CEILING_LANES];
    return vector_ceiling_run(*(const uint64_t *)context, a);
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

/* The kernel by hand and the machine do the same. */
static void check_ceiling(const struct program *phi)
{
    const struct machine_options options = {.track = false};
    struct literal literal = {.executions = 1};
    int32_t hand[VECTOR_CEILING_LANES];
    literal.machine = machine_new(&bench_arena, &semantics_lockstep, phi, &options);
    literal_work(&literal);
    vector_ceiling_run(1, hand);
    INVARIANT(memcmp(hand, literal.machine->memory, sizeof hand) == 0);
}

void bench_lockstep(void)
{
    struct diag diag;
    const char *text = VECTOR_CEILING_KERNEL;
    uint64_t executions = 20000, once = 1;
    diag_init(&diag, "bench", text, strlen(text));
    struct ast_kernel *kernel = parse_kernel(&bench_arena, text, strlen(text), &diag);
    const struct program *phi = literal_program(kernel);
    check_ceiling(phi);
    const double hand = measure(by_hand, &executions);
    printf("lock-step: %d lanes, a branch, a shared array and a barrier in a loop\n",
           VECTOR_CEILING_LANES);
    line("ceiling: the kernel by hand, vectorised", hand, "lane steps/s", 0);
    for (int race = 0; race < 2; race++)
        line(race ? "the machine on phi(P), race detection" : "the machine on phi(P)",
             literal_rate(phi, by_hand(&once), race), "lane steps/s", hand);
}
