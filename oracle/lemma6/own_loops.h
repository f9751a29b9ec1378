/*
 * own_loops.h - kernels in which a thread's loops are its own business: how often each goes round, and whether it is
 * come to at all, depends on nothing that another thread writes.
 *
 * Then an execution without errors is infinite iff it lets a thread step for ever whose own loops never end, and
 * every thread's do or don't whatever the schedule: then-first and else-first agree, and a warp ends iff its
 * threads do. That no loop *reads* shared memory is not enough: what was read before it may decide
 *
 *     if (tid == 0) a = 1; else x = a;   while (x) ;
 */
#ifndef ORACLE_OWN_LOOPS_H
#define ORACLE_OWN_LOOPS_H

#include "engine/language/ast.h"

/* Conservative: true only if it is so. False of other forms than the structured one, of barriers, votes, and
 * kernels of many variables. */
bool own_loops(const struct ast_kernel *kernel);

/* Whether an execution may end in an error, which ends all threads: there are asserts, assumes, arrays or calls. */
bool own_loops_errors(const struct ast_kernel *kernel);

#endif
