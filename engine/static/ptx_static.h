/*
 * ptx_static.h - CHK.cfc before anything runs: whether a program with branch-unit instructions keeps its
 * token stacks consistent on every path (catalogue cuda-crs, 11.2: CHK.stack, CHK.addr, CHK.static).
 *
 * All that a warp's control may do is followed on the shapes of the token stack: types and addresses,
 * without masks (ptx_stacks.h: all of them, however high the stacks grow). A guard holds for all active
 * lanes, for none, or for some; a branch with several targets takes any of them; where unwinding meets a
 * token whose lanes may all have left, it may stop there or not; so it may at any token that is there at
 * the start. Calls of functions are passed as a whole, and each function is looked at once, above the call
 * token of an unknown caller; calls of labels are followed. So
 *
 *   - consistent: every run is control-flow consistent, whatever the data;
 *   - inconsistent: a path violates a clause. It is a real one unless the program's data rules it out;
 *   - unknown: a target that is not known, or a function that is too large.
 *
 * stack-cons 4 is taken in its weaker form 4', 6 as 6', and all clauses where some lane's guard holds
 * (ERR.30, 31, 60). A register that is branched to or called goes to the labels whose addresses it is given, by
 * mov, selp or at the start; one that is called may be given functions, and by ld, where only functions
 * are expected. If it is given anything else, where control goes is unknown. Guards: a guarded preRet directly before
 * its call, with its guard, is followed as one.
 */
#ifndef ENGINE_PTX_STATIC_H
#define ENGINE_PTX_STATIC_H

#include "engine/input/ptx_kernel.h"

enum ptx_static_verdict { PTX_STATIC_CONSISTENT, PTX_STATIC_INCONSISTENT, PTX_STATIC_UNKNOWN };

enum ptx_static_clause {
    PTX_STATIC_NONE,
    PTX_STATIC_SC1,  /* break: some break token */
    PTX_STATIC_SC2,  /* ret: some call token */
    PTX_STATIC_SC3,  /* sync: the top is a sync or diverge token */
    PTX_STATIC_SC4,  /* sync, diverge on top: below diverge tokens is a sync token with pc+1 (4') */
    PTX_STATIC_SC5,  /* sync, sync on top: its address is pc+1 */
    PTX_STATIC_SC6,  /* call: the top is a call token with pc+1 (6') */
    PTX_STATIC_ADDR, /* CHK.addr; and control does not run off the end of a function */
    PTX_STATIC_A, /* CHK.static (a): preRet directly before its call, same guard, address behind it */
    PTX_STATIC_B,      /* (b): ssy, preBrk, sync have no guard */
    PTX_STATIC_C,      /* (c): a token is not on the stack any more where its address is executed */
    PTX_STATIC_TARGET, /* unknown: where a branch or call goes */
    PTX_STATIC_CALLER, /* unknown: a break with no break token of its own function */
    PTX_STATIC_SIZE    /* unknown: a function that is too large */
};

struct ptx_static_fault {
    enum ptx_static_clause clause; /* NONE: nothing was found */
    uint32_t line;
};

struct ptx_static {
    enum ptx_static_verdict verdict;
    struct ptx_static_fault why;  /* not consistent: the first found */
    struct ptx_static_fault four; /* stack-cons 4 as printed; only if the verdict is consistent */
    struct ptx_static_fault
        rule;              /* CHK.static: the first of (a), (b), (c) that is broken. Not needed for
                                   * consistency, but for lanes' own stacks (CHK.oracle, MUT.24) */
    uint32_t states;       /* looked at */
    uint32_t instructions; /* of all functions, with their ends */
};

/* A token that is on the stack at the start; top first. */
struct ptx_static_token {
    uint32_t type; /* enum crs_token_type */
    uint32_t pc;   /* address in the entry, from 1 (LOAD.L1) */
};

/* What a register of the entry may hold at the start: an address, perhaps. */
struct ptx_static_register {
    const char *name;
    uint32_t value;
};

struct ptx_static_options {
    uint32_t token_count;
    const struct ptx_static_token *tokens;
    uint32_t register_count;
    const struct ptx_static_register *registers;
    uint32_t most_states; /* of one function; 0: 2^20 */
    /* Not NULL, and the verdict is consistent: what may be on top of the stack (PTX_STATIC_TOP of its type) before
     * each instruction, all functions behind one another as ptx_reach gives them, from tops[1] on; tops[0 ..
     * top_count). */
    uint8_t *tops;
    uint32_t top_count;
    bool ends; /* functions are laid out with an end (ptx_falls_through) */
};

/* Of a token's type (enum crs_token_type), or PTX_STATIC_EMPTY. */
#define PTX_STATIC_TOP(type) (1u << (type))
enum { PTX_STATIC_EMPTY = 7 };

/* Of the entry and all functions that it may call; of a checked module. */
struct ptx_static ptx_static_check(struct arena *arena, const struct ptx_module *module,
                                   const struct ptx_function *entry,
                                   const struct ptx_static_options *options);

/* The kernel's initial tokens and registers, in the arena. */
void ptx_static_start(struct arena *arena, const struct ptx_kernel *kernel,
                      struct ptx_static_options *options);

/* The same of a kernel of FORM_PTX, with its own initial tokens and registers. */
struct ptx_static ptx_static_kernel(struct arena *arena, const struct ast_kernel *kernel);

/* "6': the top token of a call is a call token with the address behind it" */
const char *ptx_static_text(enum ptx_static_clause clause);

#endif
