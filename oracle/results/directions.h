/*
 * directions.h - the oracle `directions`: kernels in block form whose paths are known beforehand.
 */
#ifndef ORACLE_DIRECTIONS_H
#define ORACLE_DIRECTIONS_H

#include "oracle/check/explore.h"

/* Answers the oracle, if it was asked; the final stores have been looked at. */
void directions_judge(struct checking *checking);

#endif
