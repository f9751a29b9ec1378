/*
 * two_thread.h - the subjects `two-thread`: all ordered pairs of threads of a block under the
 * tutorial's translation (engine/pairs/tutorial.h). An abstraction: what it finds need not be there
 * (CK12, CK13), so it is compared with nothing; the kernel's expectations may name it.
 */
#ifndef ORACLE_TWO_THREAD_H
#define ORACLE_TWO_THREAD_H

#include "oracle/check/explore.h"

/* Runs every pair, up to a bound that is the same for all kernels, and fills in the subject's run: one
 * execution is one run of a pair. False: the subject is none of these; they have no machine. With havocs each pair runs
 * several times, with other values. */
bool two_thread_explore(struct checking *checking, enum subject_id subject);

#endif
