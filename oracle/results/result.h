/*
 * result.h - the oracles `race` and `result`: what complete executions say about each other.
 *
 * Both rest on one fact. Let E be an execution that terminates and has no race. Then in E, between two
 * releases of a block's barrier (lockstep-cfg Def. 3.1), each location is written by one thread only and
 * read by no other, or only read, or only subject to atomics; and what threads of two blocks access is
 * only read, or only subject to atomics, for the whole of E. In any other execution E', by induction over
 * its steps, each thread does what it does in E: the value that it reads next was written by itself, by
 * nobody, or before a release that comes in E' as in E, after the same steps. So every execution - of the
 * threads, or of warps, which are executions of the threads by Theorem 1 - is race-free, takes the same
 * number of steps, terminates, and ends with the same memory. Atomics must commute for that, and give
 * nobody the old value (program_atomics_commute): otherwise their order can be seen, and executions are
 * not compared.
 */
#ifndef ORACLE_RESULT_H
#define ORACLE_RESULT_H

#include "oracle/check/explore.h"

/* One execution terminates without a race while another has one: class "race-verdict". */
void race_judge(struct checking *checking);

/* Classes "store", "steps", "status", "termination": an execution that the one above excludes. */
void result_judge(struct checking *checking);

/* The first step of `execution` that its thread does not take in the reference execution: threads are
 * compared step by step, whatever their order; where the two run different programs, write by write
 * to global and shared memory. */
struct first_difference {
    enum rule rule; /* RULE_NONE: their steps are the same */
    uint32_t thread, stm;
    uint64_t instance; /* number of the step among those of its thread, from 0 */
};
struct first_difference result_first_difference(struct checking *checking,
                                                const struct execution *reference,
                                                const struct execution *execution);

/* The same for a machine of another program, run as `subject` is: write by write. `addresses` says where in the
 * reference's memory each of its words of global and shared memory lies; NULL: at the same address. */
struct first_difference result_first_write(struct checking *checking,
                                           const struct execution *reference,
                                           enum subject_id subject, struct machine *machine,
                                           const struct sched_spec *spec, uint64_t budget,
                                           const uint32_t *addresses);

/* What an end says: a spent budget, an infeasible choice and the bound on calls say nothing. */
enum clean { CLEAN, DIRTY, CLEAN_UNKNOWN };
enum clean result_clean_of(enum status status, bool race);

/* The first execution of the group that terminated without a race, and that may be held against others; NULL:
 * none did. */
const struct execution *result_find_clean(const struct checking *checking, enum group_id group);

/* "global memory", "shared memory", "private memory" */
const char *result_space(const struct program *program, uint32_t address);

#endif
