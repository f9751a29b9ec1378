/*
 * launch.h - one launch of a host program: all blocks of its grid, a number of them at a time, as a device has them
 * resident; watched for races and for reads of what nothing wrote.
 *
 * Warps execute by the rules of `crs` (a `bar.sync` that lanes of a warp miss is a barrier divergence); those that are
 * resident step in turns. Memory is what `memory:` of the kernel places (ptx_kernel.h), and stays from one group of
 * blocks to the next. The same launch has the same result on any machine.
 */
#ifndef ORACLE_LAUNCH_H
#define ORACLE_LAUNCH_H

#include "oracle/launch/launch_heap.h"
#include "oracle/launch/launch_print.h"
#include "oracle/launch/launch_race.h"

struct launch_options {
    uint64_t budget;   /* steps of warps; 0: no bound */
    uint32_t resident; /* threads that are resident at a time; 0: what is usual */
    bool (*go_on)(void *context, uint64_t steps,
                  uint64_t blocks); /* now and then; false: stop. May be NULL */
    /* Before a group of blocks begins, in its machine. May be NULL */
    void (*begins)(void *context, const struct machine *machine);
    void *context;
    struct launch_heap *heap; /* of the device, in the launch's memory; or NULL */
    uint32_t workers; /* threads that blocks run on, at most; what comes out is the same. 0: one */
};

enum { LAUNCH_WORKERS = 16 };

struct launch {
    struct arena *arena;
    struct ast_kernel *kernel;
    uint64_t blocks;               /* of the grid */
    const struct program *program; /* for a full group of blocks */
    struct machine *machine;       /* its memory is that of the launch before and behind the run */
    struct launch_race *race;
    struct launch_print *print; /* what its threads print; NULL: the kernel calls no printf */
    enum status
        status; /* of the launch: TERMINATED, an error, NONTERMINATING (proven), STEP_LIMIT */
    uint64_t steps, blocks_done;
    bool divided; /* several threads ran it, and nothing was wrong */
    const struct check_fault
        *fault;             /* what went wrong; NULL: nothing but what race->findings has */
    uint64_t fault_address; /* OUT_OF_BOUNDS */
    bool fault_misaligned;  /* it is not a multiple of the access's size */
    bool fault_trap;        /* ASSERT_FAILS by `trap`, not by __assertfail */
};

/* The kernel of `text` with these settings (ptx_kernel.h), for this grid. NULL: *reason. */
struct launch *launch_new(struct arena *arena, struct ast_kernel *kernel, const uint32_t grid[3],
                          const struct launch_options *options, const char **reason);

/* Global memory: where a region begins, in bytes of 4 to a word; its bytes that were written. */
static inline void *launch_bytes(const struct launch *launch, const struct ptx_region *region)
{
    return (char *)launch->machine->memory + (size_t)4 * region->word;
}

void launch_run(struct launch *launch, const struct launch_options *options);

/* Whether one execution without a race stands for all schedules, with these inputs (launch_decides.c). */
bool launch_decides(const struct launch *launch);

#endif
