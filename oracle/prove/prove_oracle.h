/*
 * prove_oracle.h - the oracle `prove`: proofs of the kernel's freedom from races and barrier divergence, held against
 * whatever can contradict them (docs/oracles.md):
 *
 *     encoding  the formulas, told what an execution did, do not say what it did (retrace.h): no solver is asked
 *     unsound   an execution shows what was proved not to be
 *     replay    no execution shows a race whose model has no made-up value
 *     mono      proved for any number of threads, and not so for the launch's
 *     solver    a second solver says that a formula can hold of which the first says that it cannot
 *     form      another text of the kernel - Horn clauses, Boogie's program - is verified, and an execution shows a
 *               fault
 *
 * Asked by name only: a solver is a process, and takes its time. Which second engines are asked is drawn by the seed.
 */
#ifndef ORACLE_PROVE_ORACLE_H
#define ORACLE_PROVE_ORACLE_H

#include "oracle/check/oracle.h"

void prove_oracle_judge(struct checking *checking);

/* `encoding` alone, as a class of the oracle `pairs`, in a share of the cases that the seed draws: it needs no solver,
 * and the encoding is one more account of two threads for all. */
void prove_encoding_judge(struct checking *checking);

#endif
