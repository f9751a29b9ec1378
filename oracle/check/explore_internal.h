/* explore_internal.h - what the files of explore.h share. */
#ifndef ORACLE_EXPLORE_INTERNAL_H
#define ORACLE_EXPLORE_INTERNAL_H

#include "oracle/check/explore.h"

/* Whether a warp comes to a barrier without some of its lanes, or when others have completed. */
struct parting {
    struct observer observer;
    bool apart;
};

/* checking->parting ready, `behind` after it. */
const struct observer *explore_watch_parts(struct checking *checking,
                                           const struct observer *behind);

/* How many threads a barrier of warps waits for depends on who has completed. */
static inline bool explore_some_completed(const struct machine *machine, uint32_t block)
{
    return machine->groups[block].finished > 0;
}

static inline bool explore_is_simt(enum subject_id subject)
{
    const struct semantics *vtable = subject_table[subject].vtable;
    return vtable && vtable->stack == STACK_SIMT;
}

static inline bool explore_is_ptx(enum subject_id subject)
{
    const struct semantics *vtable = subject_table[subject].vtable;
    return vtable && vtable->form == FORM_PTX;
}

#endif
