/*
 * branches.h - what launches that were made up do: which ways of a kernel's branches they took, and how far into each
 * buffer they came.
 */
#ifndef FUZZ_BRANCHES_H
#define FUZZ_BRANCHES_H

#include "fuzz/cli/cli.h"

struct ptx_function;
struct ptx_module;

struct branches {
    uint8_t *ways;    /* by line of the PTX: it is a branch with a guard, it jumped, it went on */
    uint32_t *source; /* by line of the PTX: that of the source; 0: it is not known */
    uint32_t lines;
    uint32_t all, taken; /* two ways a branch */
    uint32_t constant_count;
    int64_t constants[16]; /* integers that something is compared with, each once */
};

/* The branches of an entry and of what it calls, none of them taken yet. */
void branches_find(struct arena *arena, const struct ptx_module *module,
                   const struct ptx_function *entry, uint32_t lines, struct branches *branches);

enum { REACHED = 16 };

/* What one execution under `crs`, of so many steps of warps at most, shows of a launch. */
struct short_run {
    bool can_run; /* the launch can be made */
    bool is_new;  /* it took a way of a branch that none had taken */
    bool is_cut;  /* it did not end */
    bool stores;  /* it came to a store */
    /* It ended, with a store, nothing is wrong, and it stands for all schedules (launch_decides). */
    bool is_well;
    bool is_wrong;      /* something is found */
    bool is_unwritten;  /* namely reads of memory that nothing wrote, and nothing else */
    uint64_t steps;     /* of warps */
    bool leaves_end;    /* it left a variable behind its end */
    uint64_t size_left; /* of that variable, in bytes */
    /* How many of its buffer each of the first parameters needs; 0: none. */
    uint64_t bytes[REACHED];
};

/* `branches` may be NULL. */
struct short_run branches_run(struct cli *cli, struct ast_kernel *kernel, uint64_t steps,
                              struct branches *branches);

/* Whether the branch at this line of the PTX has not jumped yet, or has not gone on. */
bool branches_want(const struct branches *branches, uint32_t line, bool jumps);

/* "5 of 6 ways of branches taken (sum.cu:9 never jumps)" */
const char *branches_text(struct arena *arena, const struct branches *branches);

#endif
