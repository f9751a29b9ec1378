/*
 * lower_cfg.h - core kernels (lower.h) to block form (lockstep-cfg; docs/catalogue.md).
 *
 * - if, while (e): c = (e) != 0 with a fresh private c, where shared variables are read, then goto T, F
 *   with guards c and !c (S2C.guard)
 * - blocks stand in a valid sort order that follows the source, the else-branch first (or the
 *   then-branch), so that lock-step runs them in the order of the warp semantics (S2C.order)
 * - anchored: a path that ends in break, return or exit inside a loop ends with `goto target, z` and
 *   z: assume(0); goto head-of-innermost-loop, so that it belongs to the loop as the syntax has it
 *   (S2C.anchor). An anchored graph is another kernel than the unanchored one.
 * - calls are inlined where no recursion is involved; a recursive function becomes a procedure. exit in
 *   a procedure, and atomics or votes without a block form, are refused.
 */
#ifndef ENGINE_LOWER_CFG_H
#define ENGINE_LOWER_CFG_H

#include "engine/language/ast.h"

struct lower_cfg_options {
    bool anchored;
    bool then_first;   /* then-branches before else-branches in the list */
    bool logic_blocks; /* && || ?: in guards and right-hand sides become blocks of their own */
    bool keep_calls;   /* procedures also where inlining would do */
    /* The core is compiled: each statement, and the c := e of a guard, says by `origin` which code_stm
     * of it it comes from (1 + its number; 0: lowering has added it). */
    bool link;
};

/* In `arena`, sharing no node with `core`; statements keep their locations, origin = 0 (or see link). NULL with
 * *reason when a statement has no block form ("exit in a procedure at line 3") or a limit of the
 * language is exceeded. */
struct ast_kernel *lower_cfg(struct arena *arena, const struct ast_kernel *core,
                             const struct lower_cfg_options *options, const char **reason);

#endif
