/*
 * normalise.h - what lockstep-cfg asks of a kernel in block form, as a check and as visible passes.
 */
#ifndef ENGINE_NORMALISE_H
#define ENGINE_NORMALISE_H

#include "engine/forms/cfg.h"

enum normalise_pass {
    NORMALISE_ENTRY =
        1, /* Start must not be a goto target: a fresh entry block (CFG.start, B-12) */
    NORMALISE_FINAL =
        2, /* one block `Exit: assume true; barrier; goto End` before End (CFG.final) */
    NORMALISE_ASSUMES = 4, /* every block of the kernel without a leading assume gets `assume(1)` */
    NORMALISE_CALLS =
        8, /* a call alone in its block, not last in a loop, none in Start (PROC.norm) */
    NORMALISE_RETURN = 16, /* a procedure has one return block, empty and last; its entry first and
                              no goto target */
    NORMALISE_ALL = 31
};

/* The kernel after the passes, in a fixed order; shares no node with `kernel`. A block that a pass
 * makes has a fresh name and the location of what it came from. NULL with *reason when the result
 * would exceed a limit of the language, or the graph of a function is refused (cfg.h). */
struct ast_kernel *normalise(struct arena *arena, const struct ast_kernel *kernel, unsigned passes,
                             const char **reason);

/*
 * Well-formedness (Def. 5.1): WF.1 a block starts with an assume on private variables only (call and
 * return blocks: guard true, B-15; no leading assume: true), WF.2 no other assume in the block, WF.3
 * the guards of a goto's targets cover everything, WF.0 Start's guard is true (B-14).
 *
 * WF.3 is decided for the shapes that people and generators write: a target without a guard or with a
 * non-zero constant; two guards g and !g (also e == c / e != c, < / >=, .. on the same operands);
 * otherwise, when the guards read no more than two scalars compared with constants, by trying the
 * values around those constants; else it is unknown, and the guarded goto checks it at run time.
 */
enum well_formed { WELL_FORMED, WELL_FORMED_UNKNOWN, ILL_FORMED };

/* *reason for ILL_FORMED and UNKNOWN: "WF.2: a second assume at line 7"; *at its place. */
enum well_formed well_formed(struct arena *arena, const struct ast_kernel *kernel,
                             const char **reason, struct location *at);

/* Whether exactly one of the guards holds in every private store, so that a goto to them has no choice;
 * false: not so, or not known (the shapes are those of WF.3). */
bool guards_decide(const struct ast_launch *launch, const struct ast_expr *const *guards,
                   uint32_t count);

#endif
