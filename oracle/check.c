#include "oracle/check.h"

#include "engine/lower.h"
#include "oracle/exhaust.h"
#include "oracle/expect.h"
#include "oracle/explore.h"
#include "oracle/liveness.h"
#include "oracle/result.h"

#include <string.h>

/* 16 schedules are one cycle of the portfolio. 2^16 steps are ten times what generated kernels take
 * at most, and a few milliseconds when a kernel spins. */
const struct check_options CHECK_DEFAULTS = {
    .schedules = 16,
    .budget_steps = 1 << 16,
    .subjects = (1u << SUBJECT_COUNT) - 1,
    .oracles = (1u << ORACLE_COUNT) - 1,
};

/* So that a large grid is not cut off in the middle of a short kernel. */
enum { BUDGET_STEPS_A_THREAD = 512 };

static bool asked(const struct checking *c, enum oracle_id oracle)
{
    return (c->options->oracles >> oracle) & 1;
}

static void start_result(struct check_result *result, const struct ast_kernel *kernel,
                         const struct check_options *options)
{
    memset(result, 0, sizeof *result);
    result->kernel = kernel;
    for (uint32_t s = 0; s < SUBJECT_COUNT; s++) {
        result->runs[s].subject = (enum subject_id)s;
        if (!((options->subjects >> s) & 1))
            result->runs[s].reason = "not asked";
    }
    for (uint32_t o = 0; o < ORACLE_COUNT; o++)
        result->answers[o] =
            (struct answer){.verdict = VERDICT_NOT_APPLICABLE, .reason = "not asked"};
}

static const struct program *compile(struct arena *arena, const struct ast_kernel *kernel,
                                     const char **reason)
{
    if (kernel->form != FORM_STRUCTURED) {
        *reason = "a block program, which the structured semantics do not execute";
        return NULL;
    }
    const struct program *program = program_compile(arena, lower_core(arena, kernel), reason);
    for (uint32_t s = 0; program && s < SUBJECT_COUNT; s++) {
        *reason = machine_refuses(arena, subject_table[s].vtable, program);
        if (*reason)
            return NULL;
    }
    return program;
}

static void refuse(struct checking *c, const char *reason)
{
    c->result->reason = reason;
    for (uint32_t s = 0; s < SUBJECT_COUNT; s++)
        if (!c->result->runs[s].reason)
            c->result->runs[s].reason = reason;
    for (uint32_t o = 0; o < ORACLE_COUNT; o++)
        if (asked(c, (enum oracle_id)o))
            c->result->answers[o].reason = reason;
}

static bool is_asked(const struct checking *c, enum subject_id subject)
{
    return (c->options->subjects >> subject) & 1;
}

static void explore(struct checking *c)
{
    static const enum subject_id orders[] = {SUBJECT_SIMT, SUBJECT_SIMT_THEN};
    bool lasso = false;
    size_t vars = c->program->var_count;
    uint8_t *threads_racy = c->detector->racy_vars;
    c->result->runs[SUBJECT_THREADS].racy_vars = threads_racy;
    if (is_asked(c, SUBJECT_THREADS))
        explore_threads(c);
    for (uint32_t i = 0; i < 2; i++) {
        if (!is_asked(c, orders[i]))
            continue;
        c->detector->racy_vars = ARENA_ARRAY(c->arena, uint8_t, vars);
        explore_simt(c, orders[i]);
        c->result->runs[orders[i]].racy_vars = c->detector->racy_vars;
        lasso |= c->result->runs[orders[i]].fair_lasso;
    }
    if (c->options->exhaustive)
        exhaust_search(c);
    if (lasso && is_asked(c, SUBJECT_THREADS)) {
        c->detector->racy_vars = threads_racy;
        explore_more_fair(c);
    }
}

/* simulation and lemmas have been answered along the way, if they diverge. */
static void judge_simulation(struct checking *c, enum oracle_id oracle)
{
    struct answer *answer = &c->result->answers[oracle];
    const struct simulation *s = c->simulation;
    if (!asked(c, oracle) || answer->verdict == VERDICT_DIVERGE)
        return;
    if (s->total_warp_steps == 0) {
        answer->reason = "no warp subject was asked for";
        return;
    }
    answer->verdict = VERDICT_AGREE;
    answer->reason = arena_printf(
        c->arena, "%llu warp steps replayed by %llu thread steps in %u executions",
        (unsigned long long)s->total_warp_steps, (unsigned long long)s->total_thread_steps,
        c->result->runs[SUBJECT_SIMT].schedules + c->result->runs[SUBJECT_SIMT_THEN].schedules);
}

static void judge(struct checking *c)
{
    judge_simulation(c, ORACLE_SIMULATION);
    judge_simulation(c, ORACLE_LEMMAS);
    exhaust_judge(c);
    if (asked(c, ORACLE_RACE))
        race_judge(c);
    if (asked(c, ORACLE_RESULT))
        result_judge(c);
    liveness_judge(c);
}

void check_kernel(struct arena *arena, const struct ast_kernel *kernel,
                  const struct check_options *options, struct check_result *result)
{
    struct check_options scaled = *options;
    struct checking c = {.arena = arena, .options = &scaled, .kernel = kernel, .result = result};
    const char *reason = NULL;
    start_result(result, kernel, options);
    result->program = c.program = compile(arena, kernel, &reason);
    if (c.program) {
        uint64_t least = (uint64_t)BUDGET_STEPS_A_THREAD * c.program->total_threads;
        if (options->budget_steps == CHECK_DEFAULTS.budget_steps && scaled.budget_steps < least)
            scaled.budget_steps = least;
        explore_prepare(&c);
        c.finals = expect_prepare(&c);
        explore(&c);
        judge(&c);
        for (uint32_t r = 0; r <= RULE_COUNT; r++)
            result->hits[r] = c.threads->hits[r] + c.warps->hits[r];
    } else {
        refuse(&c, reason);
    }
    expect_judge(&c);
}

uint32_t check_divergences(const struct check_result *result, bool with_known)
{
    uint32_t count = 0;
    for (uint32_t o = 0; o < ORACLE_COUNT; o++) {
        bool counted = false;
        for (const struct divergence *d = result->answers[o].divergence; d; d = d->next)
            counted |= with_known || !d->known;
        count += counted;
    }
    return count;
}

const struct divergence *check_find(struct arena *arena, const struct check_result *result,
                                    const char *signature, bool k1_only)
{
    const struct divergence *found = NULL;
    size_t mark = arena_mark(arena);
    for (uint32_t o = 0; o < ORACLE_COUNT && !found; o++)
        for (const struct divergence *d = result->answers[o].divergence; d && !found; d = d->next) {
            const char *text = k1_only ? divergence_key(arena, d) : divergence_signature(arena, d);
            if (strcmp(text, signature) == 0)
                found = d;
        }
    arena_release(arena, mark);
    return found;
}
