/*
 * ref_policy.h - the policies of warps without a stack, once more (simt-correctness 5.2, SL.step; docs/progress.md).
 *
 * A policy says who of the threads that can step does so together, and for each of them in turn whose step is next. It
 * sees threads as somebody else has them (struct ref_view): the reference's own, or those of PTX as oracle/follow
 * follows them. Its own memory are times, lists of regions and numbers, one each.
 */
#ifndef ENGINE_REF_POLICY_H
#define ENGINE_REF_POLICY_H

#include "engine/reference/reference.h"

enum ref_policy_kind {
#define POLICY(id, name, unit, sentence) REF_POLICY_##id,
#include "engine/kernel/stackless.def"
#undef POLICY
};

#define REF_NOWHERE UINT32_MAX

/* Where a thread is. Places are numbers in the order of the text. */
struct ref_spot {
    bool live, ended; /* neither: it waits */
    uint32_t at;      /* the first statement that is left; NOWHERE: none */
    uint32_t next;    /* the same, but NOWHERE where a context, or entering a block, comes first */
    uint32_t height;  /* of its stack; calls, where it has none */
    bool begun;       /* an assignment has read, and not written */
};

struct ref_view {
    const void *of;
    struct ref_spot (*spot)(const void *of, uint32_t thread);
    bool (*same_place)(const void *of, uint32_t thread, uint32_t other, bool literal);
    /* Structured: what lies on the thread's stack above its `height` lowest items is the context of a loop. */
    bool (*loop_above)(const void *of, uint32_t thread, uint32_t height);
    bool structured;
    /* Of a place, numbers below `places`. A branch: where its paths meet, NOWHERE: nowhere; whether it is a loop's
     * exit. Of any: whether paths meet there; an instruction of PTX behind which what is not taken goes on. */
    uint32_t places;
    const uint32_t *meets;
    const bool *is_exit, *is_join;
    bool falls_through;
};

struct ref_policy;

struct ref_policy *ref_policy_new(struct arena *arena, const struct ref_view *view,
                                  const struct ast_launch *launch);
void ref_policy_start(struct ref_policy *p, enum ref_policy_kind kind, bool literal,
                      bool then_first);

/* The thread that steps next. Where chance decides `told` is who does. NOWHERE: no room is left for what it must
 * remember. */
uint32_t ref_policy_next(struct ref_policy *p, uint32_t told);

/* ---- ref_policy_view.c ---- */

/* The threads of a reference of REF_THREADS or REF_INTERLEAVE. NULL: too large. */
const struct ref_view *ref_view_new(struct arena *arena, const struct ref *r);

#endif
