/*
 * convergence_oracle.h - the oracle `convergence`: warps with convergence barriers (engine/convergence) against warps
 * with a stack of tokens (engine/warps). docs/oracles.md has the theorem, docs/extending.md how it was added.
 */
#ifndef ORACLE_CONVERGENCE_ORACLE_H
#define ORACLE_CONVERGENCE_ORACLE_H

#include "oracle/check/oracle.h"

/* Answers the oracle, if it was asked and the subject was run. */
void convergence_judge(struct checking *checking);

#endif
