#include "oracle/pairs/pairs_judge.h"

#include "engine/base/pcg.h"
#include "oracle/pairs/pairs.h"

enum interest { UNINTERESTING, CLEAN, DEFECTIVE };

static enum interest interest_of(const struct execution *execution)
{
    if (execution->subject != SUBJECT_INTERLEAVE || execution->searched)
        return UNINTERESTING;
    if (execution->race || pairs_is_defect(execution->status))
        return DEFECTIVE;
    return execution->status == STATUS_TERMINATED ? CLEAN : UNINTERESTING;
}

/* One of the most interesting executions; NULL: there is none. */
static const struct execution *choose(const struct checking *c)
{
    uint32_t counts[DEFECTIVE + 1] = {0};
    for (uint32_t i = 0; i < c->execution_count; i++)
        counts[interest_of(c->executions[i])]++;
    enum interest wanted = counts[DEFECTIVE] ? DEFECTIVE : CLEAN;
    if (counts[wanted] == 0)
        return NULL;
    uint32_t number = (uint32_t)(pcg_splitmix(c->options->seed) % counts[wanted]);
    for (uint32_t i = 0;; i++)
        if (interest_of(c->executions[i]) == wanted && number-- == 0)
            return c->executions[i];
}

void pairs_judge(struct checking *c)
{
    struct answer *answer = &c->result->answers[ORACLE_PAIRS];
    const struct explored *p = &c->subjects[SUBJECT_INTERLEAVE];
    const struct explored *phi = &c->subjects[SUBJECT_LOCKSTEP];
    if (!explore_runs(c, SUBJECT_INTERLEAVE)) {
        answer->reason = c->result->runs[SUBJECT_INTERLEAVE].reason;
        return;
    }
    const struct execution *execution = choose(c);
    if (!execution) {
        answer->reason = "no execution ends well or with a defect";
        return;
    }
    *answer = pairs_guided(c->arena,
                           &(struct pairs_case){
                               .program = p->program,
                               .semantics = p->machine->semantics,
                               .lockstep = c->ill_formed ? NULL : phi->program,
                               .lockstep_semantics = phi->machine ? phi->machine->semantics : NULL,
                               .core = c->program,
                               .schedule = execution->spec,
                               .budget_steps = c->options->budget_steps,
                               .seed = c->options->seed,
                               .hits = c->result->hits,
                           },
                           ORACLE_PAIRS, SUBJECT_INTERLEAVE);
}
