/*
 * oracle.h - the door of the oracles. An oracle is a row of oracles.def, a file, and an entry of
 * doors/doors.c that names what `check_kernel` calls, and when:
 *
 *     prepare     programs and machines are there
 *     explore     a subject is to be explored: true if the oracle has done it in its own way
 *     watch       an execution of a subject is about to start: the observers to put into its machine's chain
 *     ended       that execution has ended
 *     explored    every subject has been: more executions may be asked for
 *     restrict_groups: why this kernel's executions cannot be compared with each other, if so
 *     judge       everything is there: the oracle answers, in result->answers[id]
 *     finish      every oracle has answered
 *     besides     behind the check: the kernel that it runs besides the given one, where a finding's cause may be
 *
 * Each may be absent. What an oracle keeps from one call to the next is its own: checking->own[id]. It is made
 * when it is first needed, in the arena of the check, so an oracle that has nothing to watch costs nothing.
 */
#ifndef ORACLE_ORACLE_H
#define ORACLE_ORACLE_H

#include "oracle/check/explore.h"

struct oracle {
    /* The row that it answers. A door that is no row (the searches, the coverage map) has ORACLE_COUNT. */
    enum oracle_id id;
    bool unasked; /* `judge` is called, too, where nobody asked for the oracle */
    void (*prepare)(struct checking *checking);
    bool (*explore)(struct checking *checking, enum subject_id subject);
    /* Returns the head of the chain: its observer with `behind` after it, or `behind`. */
    const struct observer *(*watch)(struct checking *checking, enum subject_id subject,
                                    const struct observer *behind);
    void (*ended)(struct checking *checking, const struct execution *execution);
    void (*explored)(struct checking *checking);
    void (*restrict_groups)(struct checking *checking);
    void (*judge)(struct checking *checking);
    void (*finish)(struct checking *checking);
    /* In the arena; NULL: there is none. */
    struct ast_kernel *(*besides)(struct arena *arena, const struct ast_kernel *kernel,
                                  const struct check_options *options);
};

/* In the order in which they are called (doors/doors.c). */
extern const struct oracle oracle_doors[];
extern const uint32_t oracle_door_count;

/* Whether the check asks for it. */
static inline bool oracle_asked(const struct checking *checking, enum oracle_id id)
{
    return id < ORACLE_COUNT && checking->options->oracles >> id & 1;
}

#endif
