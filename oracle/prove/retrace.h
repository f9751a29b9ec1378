/*
 * retrace.h - the two threads of a proof, retraced through an execution: the terms of P are evaluated with the values
 * that the execution had, and must say what it did. No solver is asked.
 *
 * Inputs, what memory held behind barriers, what a thread's choices gave and what atomics found are told. Then each
 * thread of the pair must access what it accessed, interval by interval, see of its own writes what they left, and end
 * with the private variables that it ended with; a race of the literal log, an index outside, a failed assertion,
 * threads that part at a barrier must make an obligation true, and what goes well none. What is kept at a loop's head
 * as its invariant must hold there at each trip. So whatever the encoding loses or adds shows on some execution.
 */
#ifndef ORACLE_PROVE_RETRACE_H
#define ORACLE_PROVE_RETRACE_H

#include "engine/prove/prove.h"

struct retrace_fault {
    const char *what; /* "access", "race", "value", ..: NULL: nothing is at fault */
    const char *why;
};

/* What was found of the kernel: its walk with loops cut, with their invariants (NULL: it is made here without); whether
 * no thread goes on behind the trips that are unrolled. `alike`: one execution shows what all do, and its loops are
 * looked at cut only. */
struct retrace_claims {
    struct duo *cut;
    bool ends, alike;
};

/* Executions of the kernel and pairs of their threads that the seed draws. *pairs: how many pairs were retraced; 0: the
 * kernel is not handled. */
struct retrace_fault retrace_executions(struct arena *arena, struct forms *forms,
                                        struct retrace_claims claims, uint64_t seed,
                                        uint32_t *pairs);

#endif
