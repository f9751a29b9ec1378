#include "oracle/directions.h"

#include "oracle/evidence.h"
#include "oracle/expect.h"

/* What a kernel in block form, or in PTX, says of the final store under every subject: a generated one knows the
 * path of each thread from a table, and so what its blocks must have written, or has been executed by the
 * generator (fuzz/gen/gen_known.h). */
static bool is_about(const struct checking *c, const struct ast_expect *expect)
{
    return (c->kernel->form == FORM_BLOCKS || c->kernel->form == FORM_PTX) &&
           expect->claim == CLAIM_FINAL && !expect->subject;
}

/* Every execution spent its budget: that proves nothing. */
static bool is_cut_off(const struct check_run *run)
{
    return run->statuses[STATUS_TERMINATED] == 0 &&
           run->statuses[STATUS_STEP_LIMIT] == run->schedules;
}

static void diverge(struct checking *c, struct answer *answer, const struct ast_expect *expect,
                    enum subject_id subject, const char *why)
{
    struct divergence *d = ARENA_NEW(c->arena, struct divergence);
    struct evidence e;
    evidence_open(&e, c->arena);
    evidence_string(&e, "subject", subject_table[subject].name);
    evidence_string(&e, "variable", expect->var->name);
    evidence_string(&e, "seen", why);
    *d = (struct divergence){.oracle = ORACLE_DIRECTIONS,
                             .class_name = "trace",
                             .rule = RULE_NONE,
                             .observable = subject_table[subject].name,
                             .subject = subject,
                             .evidence = evidence_close(&e)};
    d->summary = arena_printf(c->arena, "%s: the directions lead to another %s: %s",
                              subject_table[subject].name, expect->var->name, why);
    answer_diverge(answer, d);
}

void directions_judge(struct checking *c)
{
    struct answer *answer = &c->result->answers[ORACLE_DIRECTIONS];
    uint32_t claims = 0;
    bool cut_off = false;
    if (!(c->options->oracles >> ORACLE_DIRECTIONS & 1))
        return;
    for (const struct ast_expect *e = c->kernel->expects; e; e = e->next) {
        if (!is_about(c, e))
            continue;
        claims++;
        for (uint32_t s = 0; s < SUBJECT_COUNT; s++) {
            if (c->result->runs[s].reason || !subject_matches(e->subject, (enum subject_id)s))
                continue;
            if (is_cut_off(&c->result->runs[s])) {
                cut_off = true;
                continue;
            }
            answer->checked += c->result->runs[s].schedules;
            const char *why = expect_judge_final(c, e, (enum subject_id)s);
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
        answer->reason = "every execution ends with what the directions say";
        return;
    }
    answer->reason = claims ? "no subject ran the kernel"
                            : "the kernel is structured, or says nothing of its final store";
}
