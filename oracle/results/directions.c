#include "oracle/results/directions.h"

#include "oracle/check/evidence.h"
#include "oracle/check/expect.h"

/* The end of executions that a claim is about; STATUS_COUNT: none. */
static enum status end_of(enum ast_claim claim)
{
    switch ((int)claim) {
    case CLAIM_ASSERT_FAILS:
        return STATUS_ASSERT_FAILS;
    case CLAIM_OUT_OF_BOUNDS:
        return STATUS_OUT_OF_BOUNDS;
    case CLAIM_CALL_DEPTH:
        return STATUS_CALL_DEPTH;
    case CLAIM_BARRIER_ERROR:
        return STATUS_BARRIER_ERROR;
    case CLAIM_DEADLOCK:
        return STATUS_DEADLOCK;
    case CLAIM_STUCK:
        return STATUS_STUCK;
    default:
        return STATUS_COUNT;
    }
}

/* What a kernel in block form says of the final store under every subject: a generated one knows the
 * path of each thread from a table, and so what its blocks must have written. A generated kernel in PTX has been
 * executed by the generator (fuzz/known/gen_known.h): it says, perhaps of one subject, how it ends and whether it
 * races. */
static bool is_about(const struct checking *c, const struct ast_expect *expect)
{
    if (c->kernel->form == FORM_PTX)
        return expect->claim == CLAIM_FINAL || expect->claim == CLAIM_RACE_FREE ||
               expect->claim == CLAIM_RACE || end_of(expect->claim) != STATUS_COUNT;
    return c->kernel->form == FORM_BLOCKS && expect->claim == CLAIM_FINAL && !expect->subject;
}

/* Every execution spent its budget: that proves nothing. */
static bool is_cut_off(const struct check_run *run)
{
    return run->statuses[STATUS_TERMINATED] == 0 &&
           run->statuses[STATUS_STEP_LIMIT] == run->schedules;
}

/* NULL: the claim is met, or nothing can be said. */
static const char *contradiction(const struct checking *c, const struct ast_expect *expect,
                                 enum subject_id subject)
{
    const struct check_run *run = &c->result->runs[subject];
    enum status end = end_of(expect->claim);
    if (expect->claim == CLAIM_FINAL)
        return expect_judge_final(c, expect, subject);
    if (expect->claim == CLAIM_RACE_FREE)
        return run->race ? "there is a race" : NULL;
    if (expect->claim == CLAIM_RACE)
        return run->race || run->race_incomplete || run->race_unknown ? NULL : "there is no race";
    /* As in an expectation, one execution that ends so is enough: schedules may differ. */
    if (run->statuses[end] > 0)
        return NULL;
    for (uint32_t s = 0; s < STATUS_COUNT; s++)
        if (s != (uint32_t)end && s != STATUS_STEP_LIMIT && run->statuses[s] > 0)
            return arena_printf(c->arena, "%s instead of %s", status_names[s], status_names[end]);
    return NULL;
}

static void diverge(struct checking *c, struct answer *answer, const struct ast_expect *expect,
                    enum subject_id subject, const char *why)
{
    struct divergence *d = ARENA_NEW(c->arena, struct divergence);
    struct evidence e;
    evidence_open(&e, c->arena);
    evidence_string(&e, "subject", subject_table[subject].name);
    evidence_string(&e, "claim", ast_claim_names[expect->claim]);
    if (expect->var)
        evidence_string(&e, "variable", expect->var->name);
    evidence_string(&e, "seen", why);
    *d = (struct divergence){.oracle = ORACLE_DIRECTIONS,
                             .class_name = expect->claim == CLAIM_FINAL ? "trace" : "end",
                             .rule = RULE_NONE,
                             .observable = subject_table[subject].name,
                             .subject = subject,
                             .evidence = evidence_close(&e)};
    d->summary = arena_printf(c->arena, "%s: the kernel says %s%s%s, but %s",
                              subject_table[subject].name, ast_claim_names[expect->claim],
                              expect->var ? " " : "", expect->var ? expect->var->name : "", why);
    answer_diverge(answer, d);
}

void directions_judge(struct checking *c)
{
    struct answer *answer = &c->result->answers[ORACLE_DIRECTIONS];
    uint32_t claims = 0;
    bool cut_off = false, ends = false;
    if (!(c->options->oracles >> ORACLE_DIRECTIONS & 1))
        return;
    for (const struct ast_expect *e = c->kernel->expects; e; e = e->next) {
        if (!is_about(c, e))
            continue;
        claims++;
        ends |= end_of(e->claim) != STATUS_COUNT;
        for (uint32_t s = 0; s < SUBJECT_COUNT; s++) {
            if (c->result->runs[s].reason || !subject_matches(e->subject, (enum subject_id)s))
                continue;
            if (is_cut_off(&c->result->runs[s])) {
                cut_off = true;
                continue;
            }
            answer->checked += c->result->runs[s].schedules;
            const char *why = contradiction(c, e, (enum subject_id)s);
            if (why)
                diverge(c, answer, e, (enum subject_id)s, why);
        }
    }
    if (answer->verdict == VERDICT_DIVERGE)
        return;
    if (cut_off) {
        answer->verdict = VERDICT_INCONCLUSIVE;
        answer->reason = "a subject's executions spent their budget";
        return;
    }
    if (answer->checked > 0) {
        answer->verdict = VERDICT_AGREE;
        answer->reason = ends
                             ? "of each subject that a claimed end is about, some execution ends so"
                             : "no execution that ended contradicts what the kernel says";
        return;
    }
    answer->reason = claims ? "no subject ran the kernel"
                            : "the kernel is structured, or says nothing of its final store";
}
