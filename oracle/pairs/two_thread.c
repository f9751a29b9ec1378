#include "oracle/pairs/two_thread.h"

#include "engine/pairs/tutorial.h"

enum {
    PAIRS_MAX = 64,
    HAVOCS = 4 /* runs of a pair */
};

static enum tutorial_shared shared_of(enum subject_id subject)
{
    return subject == SUBJECT_TWO_THREAD_KEEP  ? TUTORIAL_KEEP
           : subject == SUBJECT_TWO_THREAD_ADV ? TUTORIAL_ADV
                                               : TUTORIAL_BAR;
}

static enum status status_of(enum tutorial_verdict verdict)
{
    static const enum status statuses[TUTORIAL_VERDICT_COUNT] = {
        [TUTORIAL_CLEAN] = STATUS_TERMINATED,
        [TUTORIAL_RACE] = STATUS_TERMINATED,
        [TUTORIAL_DIVERGENCE] = STATUS_BARRIER_DIVERGENCE,
        [TUTORIAL_ASSERT] = STATUS_ASSERT_FAILS,
        [TUTORIAL_BOUNDS] = STATUS_OUT_OF_BOUNDS,
        [TUTORIAL_BUDGET] = STATUS_STEP_LIMIT,
    };
    return statuses[verdict];
}

static enum access_kind kind_of(bool write)
{
    return write ? ACCESS_WRITE : ACCESS_READ;
}

static void keep_race(struct explored *explored, struct check_run *run, uint32_t s, uint32_t t,
                      const struct tutorial_result *result)
{
    const struct program *program = explored->program;
    const struct ast_var *var = program_locate(program, result->address).var;
    for (uint32_t i = 0; i < program->var_count; i++)
        if (program->vars[i].ast == var)
            explored->racy_vars[i] = 1;
    if (run->race)
        return;
    run->race = true;
    run->witness = (struct race_witness){
        .address = result->address,
        .first = {s, result->first_stm, kind_of(result->first_write)},
        .second = {t, result->second_stm, kind_of(result->second_write)},
    };
}

static void run_pair(struct checking *c, enum subject_id subject, uint32_t s, uint32_t t)
{
    struct check_run *run = &c->result->runs[subject];
    struct explored *explored = &c->subjects[subject];
    struct tutorial_options options = {.shared = shared_of(subject),
                                       .log = TUTORIAL_FULL,
                                       .order = TUTORIAL_SEQUENTIAL,
                                       .budget_steps = c->options->budget_steps};
    uint32_t runs = options.shared == TUTORIAL_KEEP ? 1 : HAVOCS;
    for (uint32_t i = 0; i < runs; i++) {
        options.seed = pcg_splitmix(c->options->seed + i);
        struct tutorial_result result =
            tutorial_run(c->arena, explored->program, s, t, &options, c->result->hits);
        enum status status = status_of(result.verdict);
        run->schedules++;
        run->fair++;
        run->fair_cut += status == STATUS_STEP_LIMIT;
        run->statuses[status]++;
        run->steps += result.steps;
        if (result.verdict == TUTORIAL_RACE)
            keep_race(explored, run, s, t, &result);
    }
}

bool two_thread_explore(struct checking *c, enum subject_id subject)
{
    if (subject_table[subject].vtable)
        return false;
    const struct program *program = c->subjects[subject].program;
    uint32_t threads = program->launch.threads, pairs = 0;
    for (uint32_t b = 0; b < program->launch.blocks; b++)
        for (uint32_t s = 0; s < threads; s++)
            for (uint32_t t = 0; t < threads && pairs < PAIRS_MAX; t++)
                if (s != t) {
                    run_pair(c, subject, b * threads + s, b * threads + t);
                    pairs++;
                }
    return true;
}
