/*
 * fences.c - what restores sequential consistency (memory-device, G.4, G.5; I).
 *
 *  fence     All loads of global memory are .cg, and a membar.gl stands behind each access: the outcomes are those of a
 *            sequentially consistent memory, whether the kernel races or not.
 *  volatile  So they are if all accesses are volatile, without fences.
 *
 * About `block`, since a warp's access may be several operations, between which others step; and profile printed, in
 * which nothing else keeps order. An atomic of shared memory is none against plain stores (G.8). Volatile accesses are in
 * order with each other only: atomics and barriers are not.
 */
#include "oracle/memory/fences.h"

#include "engine/program/ptx_code.h"
#include "oracle/check/evidence.h"
#include "oracle/memory/outcome_sets.h"

static const struct theorem {
    const char *class_name, *sentence;
    uint8_t access;
} theorems[] = {{"fence", "a fence behind each access", ACCESS_FENCED},
                {"volatile", "all accesses volatile", ACCESS_VOLATILE}};

/* Why the theorem says nothing about the kernel; NULL: it does. */
static const char *no_hypothesis(const struct program *program, const struct theorem *theorem)
{
    bool is_volatile = theorem->access == ACCESS_VOLATILE;
    if (is_volatile && program->ptx->barriers)
        return "it has barriers, which do not wait for volatile accesses";
    for (uint32_t pc = 1; pc < program->ptx->count; pc++) {
        const struct ptx_op *op = &program->ptx->ops[pc];
        if (op->exec == PTX_EXEC_ATOM && is_volatile)
            return "it has atomics, which volatile accesses are not in order with";
        if (op->exec == PTX_EXEC_ATOM && op->space != PTX_W_GLOBAL)
            return "it has atomics that may be of shared memory";
    }
    return NULL;
}

static void differ(struct checking *c, const struct theorem *theorem,
                   const struct search_outcome *outcome, const char *observable)
{
    struct evidence e;
    struct divergence *d = ARENA_NEW(c->arena, struct divergence);
    evidence_open(&e, c->arena);
    evidence_string(&e, "status", status_names[outcome->status]);
    *d = (struct divergence){.oracle = ORACLE_FENCES,
                             .class_name = theorem->class_name,
                             .rule = RULE_NONE,
                             .observable = observable,
                             .subject = SUBJECT_BLOCK};
    d->summary = arena_printf(c->arena, "with %s, %s", theorem->sentence, observable);
    d->evidence = evidence_close(&e);
    answer_diverge(&c->result->answers[ORACLE_FENCES], d);
}

/* False: too many states. */
static bool ask(struct checking *c, const struct outcome_base *base, const struct theorem *theorem,
                const struct search_result *plain)
{
    const struct memory_options memory = {
        .profile = MEMORY_PRINTED, .words = 8, .eager = true, .access = theorem->access};
    const struct search_result *cached =
        outcome_search(c, base->cached, base->program, &memory, SEARCH_SLEEP);
    const struct search_outcome *more, *missing;
    if (!cached->complete)
        return false;
    c->result->answers[ORACLE_FENCES].checked++;
    more = outcome_missing(base->program, cached, plain);
    missing = outcome_missing(base->program, plain, cached);
    if (more)
        differ(c, theorem, more, "caches have an outcome that is not sequentially consistent");
    if (missing)
        differ(c, theorem, missing, "caches lack a sequentially consistent outcome");
    return true;
}

void fences_judge(struct checking *c)
{
    static const enum subject_id block = SUBJECT_BLOCK;
    struct answer *answer = &c->result->answers[ORACLE_FENCES];
    const struct memory_options none = {.profile = MEMORY_SC};
    const struct outcome_base *base = outcome_base(c, &block, 1, &answer->reason);
    bool cut = false;
    answer->verdict = VERDICT_NOT_APPLICABLE;
    if (!base)
        return;
    const struct search_result *plain =
        outcome_search(c, base->plain, base->program, &none, SEARCH_SLEEP);
    for (uint32_t i = 0; i < sizeof theorems / sizeof *theorems; i++) {
        const char *reason = no_hypothesis(base->program, &theorems[i]);
        if (reason && !answer->reason)
            answer->reason = reason;
        if (!reason)
            cut |= !plain->complete || !ask(c, base, &theorems[i], plain);
    }
    if (answer->checked > 0 && answer->verdict != VERDICT_DIVERGE)
        answer->verdict = VERDICT_AGREE;
    else if (cut && answer->verdict != VERDICT_DIVERGE)
        answer->verdict = VERDICT_INCONCLUSIVE;
    if (answer->checked > 0)
        answer->reason =
            "with fences, or volatile, caches have the sequentially consistent outcomes";
    else if (cut)
        answer->reason = "more than 20,000 states";
}
