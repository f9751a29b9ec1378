/*
 * launch_internal.h - what the files of this room share.
 */
#ifndef ORACLE_LAUNCH_INTERNAL_H
#define ORACLE_LAUNCH_INTERNAL_H

#include "oracle/launch/launch.h"

/* A machine of `crs` for this program. NULL: *reason. */
struct machine *launch_machine(struct arena *arena, const struct program *program,
                               const char **reason);

/* Blocks from number `first` on run until all have ended; `machine` holds memory as they find it. */
enum status launch_run_group(struct launch *launch, struct machine *machine, uint64_t first,
                             const struct launch_options *options);

/* All full groups of blocks but the first, which has been run, on options->workers threads. True: they are done,
 * nothing is wrong with them, and the launch is as if they had run one after the other. False: nothing is known of any,
 * and the launch is as it was before the first group. */
bool launch_run_parallel(struct launch *launch, const struct launch_options *options);

/* From the i-th lane of a row on, which is the first that may meet somebody; the row's count: none. Those before it are
 * done. For plain accesses and atomics of a word, where barriers alone order threads. */
uint32_t launch_go_quickly(const struct launch_race *race, enum access_kind kind,
                           const struct access_row *row, uint32_t i);

#endif
