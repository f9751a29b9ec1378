/* status_pairs.h - `simtfuzz rules --pairs`: which rule fired in which context. */
#ifndef FUZZ_STATUS_PAIRS_H
#define FUZZ_STATUS_PAIRS_H

#include "fuzz/cli/cli.h"

/* Of the campaigns of the database that is named, of checks of the kernels that are; returns the exit status. */
int status_list_pairs(struct cli *cli);

#endif
