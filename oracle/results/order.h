/*
 * order.h - the oracle `order`: what is arbitrary about a program must not show. ORA.perm: another
 * valid sort order; ORA.inv: another schedule; another lowering of && || ?:.
 *
 * A deterministic kernel (ORA.choice) with one input is clean - it terminates, without a race or an
 * error - under one of them iff under the other, and then both end with the same global and shared
 * memory. Anchored and unanchored graphs are different kernels and not compared.
 */
#ifndef ORACLE_ORDER_H
#define ORACLE_ORDER_H

#include "oracle/check/explore.h"

/* Runs the alternatives of the subjects that were explored, once each. With a seed (of schedules) other
 * than 0, as campaigns have, it is one alternative that the seed draws, of
 * those that apply. */
void order_judge(struct checking *checking);

#endif
