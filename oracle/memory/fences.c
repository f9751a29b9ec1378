/*
 * fences.c - what restores sequential consistency (memory-device, G.4, G.5; I).
 *
 *  fence     All loads of global memory are .cg, and a membar.gl stands behind each access: the outcomes are those of a
 *            sequentially consistent memory, whether the kernel races or not.
 *  volatile  So they are if all accesses are volatile, without fences.
 *
 * About threads, in profile printed, in which nothing else keeps order. An atomic of shared memory is none against
 * plain stores (G.8). Volatile accesses are in order with each other only: atomics and barriers are not. Outcomes are
 * compared:
 *
 *  block             those with caches are those without
 *  crs, thread-pc    those without caches are some of those with, and these end as some of block's without: an access
 *                    of a warp may be several operations, between which others step, as threads do. Where a warp itself
 *                    is no interleaving of its threads - barriers reached in parts -, only the first.
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

static void differ(struct checking *c, enum subject_id subject, const struct theorem *theorem,
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
                             .subject = subject};
    d->summary = arena_printf(c->arena, "%s, with %s: %s", subject_table[subject].name,
                              theorem->sentence, observable);
    d->evidence = evidence_close(&e);
    answer_diverge(&c->result->answers[ORACLE_FENCES], d);
}

struct sets { /* of all outcomes without caches */
    const struct outcome_base *base;
    const struct search_result *plain;
    const struct search_result
        *threads; /* of block, which ends with caches are among; NULL: nothing is known */
};

/* False: too many states. */
static bool ask(struct checking *c, const struct sets *sets, const struct theorem *theorem)
{
    const struct memory_options memory = {
        .profile = MEMORY_PRINTED, .words = 8, .eager = true, .access = theorem->access};
    const struct outcome_base *base = sets->base;
    const struct search_result *cached =
        outcome_search(c, base->cached, base->program, &memory, SEARCH_SLEEP);
    const struct search_outcome *more = NULL, *missing;
    if (!cached->complete)
        return false;
    c->result->answers[ORACLE_FENCES].checked++;
    missing = search_missing(base->program, sets->plain, cached);
    if (base->subject == SUBJECT_BLOCK)
        more = search_missing(base->program, cached, sets->plain);
    else if (sets->threads)
        more = outcome_end_missing(base->program, cached, sets->threads);
    if (more)
        differ(c, base->subject, theorem, more,
               "caches have an outcome that is not sequentially consistent");
    if (missing)
        differ(c, base->subject, theorem, missing, "caches lack a sequentially consistent outcome");
    return true;
}

/* What is known of a subject without caches; false: there are too many states. */
static bool know(struct checking *c, const struct outcome_base *base,
                 const struct search_result *threads, struct sets *sets)
{
    const struct memory_options none = {.profile = MEMORY_SC};
    *sets = (struct sets){.base = base};
    sets->plain = outcome_search(c, base->plain, base->program, &none, SEARCH_SLEEP);
    if (threads && threads->complete && sets->plain->complete &&
        !outcome_end_missing(base->program, sets->plain, threads))
        sets->threads = threads;
    return sets->plain->complete;
}

void fences_judge(struct checking *c)
{
    static const enum subject_id subjects[] = {SUBJECT_BLOCK, SUBJECT_CRS, SUBJECT_THREAD_PC};
    struct answer *answer = &c->result->answers[ORACLE_FENCES];
    const struct search_result *threads = NULL;
    const char *why = NULL;
    bool cut = false;
    answer->verdict = VERDICT_NOT_APPLICABLE;
    answer->reason = NULL;
    for (uint32_t s = 0; s < sizeof subjects / sizeof *subjects; s++) {
        struct sets sets;
        const struct outcome_base *base = outcome_base(c, &subjects[s], 1, &why);
        if (!answer->reason)
            answer->reason = why;
        if (!base)
            continue;
        bool complete = know(c, base, threads, &sets);
        if (base->subject == SUBJECT_BLOCK)
            threads = sets.plain;
        for (uint32_t i = 0; i < sizeof theorems / sizeof *theorems; i++) {
            const char *reason = no_hypothesis(base->program, &theorems[i]);
            if (reason && !answer->reason)
                answer->reason = reason;
            if (!reason)
                cut |= !complete || !ask(c, &sets, &theorems[i]);
        }
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
