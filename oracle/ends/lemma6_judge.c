/*
 * lemma6_judge.c - Lemma 6 in campaigns: where its hypothesis is proven, executions keep to the bound.
 */
#include "oracle/check/evidence.h"
#include "oracle/ends/implications.h"
#include "oracle/ends/liveness.h"
#include "oracle/lemma6/lemma6.h"

#include <inttypes.h>

/* Most steps of a warp that a proof may take, in campaigns. */
enum { PROOF_STEPS = 4096 };

static void contradict(struct checking *c, struct answer *answer, enum subject_id subject,
                       const char *observable, const char *seen, const struct lemma6 *lemma)
{
    implications_report(c, answer, subject, "lemma-6", observable,
                        arena_printf(c->arena,
                                     "%s; by Lemma 6 all its warps end within %" PRIu64
                                     " steps together, its threads within %" PRIu64,
                                     seen, lemma->all_warp_steps, lemma->all_thread_steps));
}

static void judge_subject(struct checking *c, struct answer *answer, enum subject_id subject,
                          const struct lemma6 *lemma)
{
    uint64_t bound = subject == SUBJECT_THREADS ? lemma->all_thread_steps : lemma->all_warp_steps;
    const struct check_run *run = &c->result->runs[subject];
    const struct lasso_probe *probe = c->probes[subject];
    const char *name = subject_table[subject].name;
    for (uint32_t i = 0; i < c->execution_count; i++) {
        const struct execution *e = c->executions[i];
        if (e->subject == subject && !e->searched && e->steps > bound) {
            contradict(c, answer, subject, "steps",
                       arena_printf(c->arena, "%s takes %" PRIu64 " steps", name, e->steps), lemma);
            return;
        }
    }
    if ((probe && probe->proven) || (run->search && run->search->liveness != LIVENESS_UNKNOWN &&
                                     run->search->liveness != LIVENESS_ALL_TERMINATE))
        contradict(c, answer, subject, "lasso", arena_printf(c->arena, "%s runs for ever", name),
                   lemma);
}

void lemma6_judge(struct checking *c, struct answer *answer)
{
    static const enum subject_id subjects[] = {SUBJECT_SIMT, SUBJECT_SIMT_THEN, SUBJECT_THREADS};
    if (!(c->options->oracles >> ORACLE_LIVENESS & 1) || !c->program)
        return;
    const struct lemma6 lemma = lemma6_holds(c->arena, c->program, PROOF_STEPS);
    for (uint32_t i = 0; i < sizeof subjects / sizeof *subjects && lemma.holds; i++)
        if (explore_runs(c, subjects[i]) && (subjects[i] != SUBJECT_THREADS || lemma.has_threads))
            judge_subject(c, answer, subjects[i], &lemma);
}
