#include "oracle/check/check.h"

#include "oracle/check/expect.h"
#include "oracle/check/explore.h"
#include "oracle/coverage/features.h"
#include "oracle/crs/barriers.h"
#include "oracle/crs/safety.h"
#include "oracle/ends/liveness.h"
#include "oracle/lockstep/lockstep.h"
#include "oracle/lockstep/phi.h"
#include "oracle/lockstep/stutter.h"
#include "oracle/pairs/pairs_judge.h"
#include "oracle/results/directions.h"
#include "oracle/results/exhaust.h"
#include "oracle/results/metamorphic.h"
#include "oracle/results/order.h"
#include "oracle/results/result.h"

#include <string.h>

/* 16 schedules are one cycle of the portfolio. 2^16 steps are ten times what generated kernels take
 * at most, and a few milliseconds when a kernel spins. */
const struct check_options CHECK_DEFAULTS = {
    .schedules = 16,
    .budget_steps = 1 << 16,
    .subjects = SUBJECTS_DEFAULT,
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
    result->subjects = options->subjects;
    for (uint32_t s = 0; s < SUBJECT_COUNT; s++) {
        result->runs[s].subject = (enum subject_id)s;
        if (!((options->subjects >> s) & 1))
            result->runs[s].reason = "not asked";
    }
    for (uint32_t o = 0; o < ORACLE_COUNT; o++)
        result->answers[o] =
            (struct answer){.verdict = VERDICT_NOT_APPLICABLE, .reason = "not asked"};
}

/* The variants that the kernel's expectations name. */
static subject_set named_variants(const struct ast_kernel *kernel)
{
    subject_set named = 0;
    enum subject_id subject;
    for (const struct ast_expect *e = kernel->expects; e; e = e->next)
        if (e->subject && subject_parse(e->subject, strlen(e->subject), &subject) &&
            subject_table[subject].role == SUBJECT_VARIANT)
            named |= SUBJECT_BIT(subject);
    return named;
}

/* No subject runs the kernel: the reason of the first one that it is a kernel for. */
static void refuse(struct checking *c)
{
    bool suited = false;
    for (uint32_t s = 0; s < SUBJECT_COUNT && !suited; s++) {
        if (!((c->options->subjects >> s) & 1))
            continue;
        c->result->reason = c->result->runs[s].reason;
        suited = subject_suits((enum subject_id)s, c->kernel->form);
    }
    for (uint32_t o = 0; o < ORACLE_COUNT; o++)
        if (asked(c, (enum oracle_id)o))
            c->result->answers[o].reason = c->result->reason;
}

static void explore(struct checking *c)
{
    for (uint32_t s = 0; s < SUBJECT_COUNT; s++)
        if (explore_runs(c, (enum subject_id)s))
            explore_subject(c, (enum subject_id)s);
    if (c->options->exhaustive)
        exhaust_search(c);
    liveness_explore(c);
}

/* simulation and lemmas have been answered along the way, if they diverge. */
static void judge_simulation(struct checking *c, enum oracle_id oracle)
{
    struct answer *answer = &c->result->answers[oracle];
    const struct simulation *s = c->simulation;
    if (!asked(c, oracle) || answer->verdict == VERDICT_DIVERGE)
        return;
    if (!s || s->total_warp_steps == 0) {
        answer->reason = "no warp subject was run";
        return;
    }
    if (s->refused && oracle == ORACLE_SIMULATION) {
        answer->reason = s->refused;
        return;
    }
    answer->verdict = VERDICT_AGREE;
    answer->reason = arena_printf(
        c->arena, "%llu warp steps replayed by %llu thread steps in %u executions",
        (unsigned long long)s->total_warp_steps, (unsigned long long)s->total_thread_steps,
        c->result->runs[SUBJECT_SIMT].schedules + c->result->runs[SUBJECT_SIMT_THEN].schedules);
}

/* A program that is not control-flow consistent means another thing to each of its subjects. */
static void judge_consistency(struct checking *c)
{
    if (!c->safety || !safety_is_given(c) || c->incomparable)
        return;
    c->incomparable = c->safety->inconsistent ? c->safety->inconsistent : c->safety->not_static;
}

static void judge(struct checking *c)
{
    judge_consistency(c);
    judge_simulation(c, ORACLE_SIMULATION);
    judge_simulation(c, ORACLE_LEMMAS);
    exhaust_judge(c);
    if (asked(c, ORACLE_RACE))
        race_judge(c);
    if (asked(c, ORACLE_RESULT))
        result_judge(c);
    liveness_judge(c);
    if (asked(c, ORACLE_SAFETY))
        safety_judge(c);
    if (asked(c, ORACLE_BARRIERS))
        barriers_judge(c);
    directions_judge(c);
    if (asked(c, ORACLE_ORDER))
        order_judge(c);
    if (asked(c, ORACLE_LOCKSTEP))
        lockstep_judge(c);
    if (asked(c, ORACLE_STUTTER))
        stutter_judge(c);
    if (asked(c, ORACLE_PHI))
        phi_judge(c);
    if (asked(c, ORACLE_PAIRS))
        pairs_judge(c);
    if (asked(c, ORACLE_METAMORPHIC))
        metamorphic_judge(c);
}

static void count_hits(const struct checking *c)
{
    const struct machine *counted[SUBJECT_COUNT + 1] = {c->threads};
    for (uint32_t s = 0; s < SUBJECT_COUNT; s++) {
        bool again = false;
        for (uint32_t i = 0; i <= s; i++)
            again |= counted[i] == c->subjects[s].machine;
        counted[s + 1] = again ? NULL : c->subjects[s].machine;
    }
    for (uint32_t s = 0; s <= SUBJECT_COUNT; s++)
        for (uint32_t r = 0; counted[s] && r <= RULE_COUNT; r++)
            c->result->hits[r] += counted[s]->hits[r];
}

void check_kernel(struct arena *arena, const struct ast_kernel *kernel,
                  const struct check_options *options, struct check_result *result)
{
    struct check_options scaled = *options;
    struct checking c = {.arena = arena, .options = &scaled, .kernel = kernel, .result = result};
    if (scaled.subjects == SUBJECTS_DEFAULT)
        scaled.subjects |= named_variants(kernel);
    start_result(result, kernel, &scaled);
    c.forms = forms_new(arena, kernel);
    explore_prepare(&c);
    if (result->program) {
        uint64_t least = (uint64_t)BUDGET_STEPS_A_THREAD * result->program->total_threads;
        if (options->budget_steps == CHECK_DEFAULTS.budget_steps && scaled.budget_steps < least)
            scaled.budget_steps = least;
        c.finals = expect_prepare(&c);
        c.features = features_new(arena, options->features, result->program);
        explore(&c);
        judge(&c);
        count_hits(&c);
        features_judge(&c);
    } else {
        refuse(&c);
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
