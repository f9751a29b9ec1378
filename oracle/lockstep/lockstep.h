/*
 * lockstep.h - the oracle `lockstep`: lockstep-cfg Thm. 5.2 for one input. P is clean - it terminates,
 * without a race or an error - iff phi(P) is, and then both end with the same shared store.
 *
 *     replay.h    every step of phi(P) beside the steps of P that it stands for (ORA.replay, ORA.B20,
 *                 ORA.semi, the claim about sync)
 *     verdicts    of a complete execution of phi(P) and one of P in another schedule (ORA.52, B22, B24)
 */
#ifndef ORACLE_LOCKSTEP_H
#define ORACLE_LOCKSTEP_H

#include "oracle/check/explore.h"

void lockstep_judge(struct checking *checking);

#endif
