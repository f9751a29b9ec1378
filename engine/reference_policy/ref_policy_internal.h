/* ref_policy_internal.h - a policy's memory. For engine/reference_policy only. */
#ifndef ENGINE_REF_POLICY_INTERNAL_H
#define ENGINE_REF_POLICY_INTERNAL_H

#include "engine/reference_policy/ref_policy.h"

/* Threads that took an unmarked branch together, and whose paths have not met yet. */
struct ref_region {
    bool there;
    uint32_t outer; /* the region around it; NOWHERE */
    uint32_t below; /* paths meet where stacks are no higher, or .. */
    uint32_t place; /* .. one higher, and here; NOWHERE */
};

struct ref_policy {
    const struct ref_view *view;
    const struct ast_launch *launch;
    enum ref_policy_kind kind;
    bool literal, then_first, over_block;
    uint32_t threads, unit_count, unit;     /* the unit that stepped last */
    uint32_t *group, group_count, group_at; /* Θ, and how many of it have been named */
    uint64_t now, *since;                   /* of a thread: when it was last among Θ */
    uint32_t *last;                         /* of a unit, RR, ITS: who was last; NOWHERE: nobody */
    uint32_t held;                          /* ITS: whose turn it is; NOWHERE: nobody's */
    uint32_t *passed, *seen; /* DPdPri, of a thread: joins; where it was when it last stepped */
    /* DWS: of a thread its region, and how many paths of that region's branch come before its own. */
    uint32_t *region, *turn;
    struct ref_region *regions;
    bool splits, no_room;
    bool *stepped;           /* those of Θ */
    uint32_t branch, height; /* of its step */
    struct ref_spot *spots;  /* of all threads, as they are now */
};

/* Threads of a unit: first .. end. */
struct ref_span {
    uint32_t first, end;
};

/* ---- ref_policy_dws.c ---- */

void ref_policy_split(struct ref_policy *p, struct ref_span unit);
bool ref_policy_may_run(const struct ref_policy *p, uint32_t thread);
void ref_policy_merge_all(struct ref_policy *p, struct ref_span unit);

#endif
