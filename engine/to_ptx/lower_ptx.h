/*
 * lower_ptx.h - structured kernels compiled to PTX with explicit branch-unit instructions: the scheme that
 * keeps the warps' token stacks consistent (catalogue cuda-crs, section 14: CMP.*).
 *
 *     S1; S2                    C(S1) C(S2)                                                    CMP.seq
 *     if (c) S1 else S2         p := c; ssy E; @p bra T; C(S2) bra J; T: C(S1) J: sync; E:     CMP.if
 *     if (c) S                  p := c; ssy E; @!p bra J; C(S) J: sync; E:                     CMP.if1
 *     while (c) S               preBrk E; H: p := c; @!p break; C(S) bra H; E:                 CMP.while
 *     while (1) S               preBrk E; H: C(S) bra H; E:
 *     if (c) break;             p := c; @p break;      the same with return, exit    CMP.break, .ret, .exit
 *     if (c) ; else break;      p := c; @!p break;     so `do` is a loop tested at its end       CMP.do
 *     f();                      preRet R; call f; R:                                           CMP.call
 *     if (c) f();               p := c; @p preRet R; @p call f; R:                         CMP.callg A
 *                               or as CMP.if1                                              CMP.callg B
 *     if (c) f(); else g();     r := c ? f : g; preRet R; call r; R:                          CMP.calli
 *     switch (e) {..}           r := address of the case; ssy E; bra r; C1: C(S1) .. J: sync; E:
 *                                                                                          CMP.switch1
 *                               r := ..; preBrk E; bra r; C1: C(S1) .. D: break; E:        CMP.switch2
 *     a && b, a || b, ?:        branches as CMP.if1, CMP.if where an operand that may not be evaluated reads
 *                               memory, otherwise on values                                   CMP.and
 *     barrier, vote             as they are                                                    CMP.bar
 *
 * What is compiled is the core form with its switches kept (lower_core_with), but for those with a barrier or
 * vote inside: lanes that fall through to it from different cases would come there in parts. `continue` is a break out
 * of a loop of one trip that sets a flag (CMP.cont). Of calls that are the only statement of a branch, every
 * second is A, the others B; of other calls every third is indirect.
 *
 * Values. Locals are registers %r<n>, each function's first ones; arrays, and file-level private variables
 * of kernels with functions, lie in .local memory. An index outside of its array makes the address an
 * invalid one, so the access ends the execution with out_of_bounds. Division is total as the language has
 * it; the machine's shifts are so anyway. assert is a guarded trap.
 *
 * Memory. Global and shared variables are declared in the order of the kernel, in words, so that they lie
 * where every other form has them. Their initial values (drawn ones too) are initialisers, and init:
 * settings for shared ones. With several blocks an `input` variable in shared memory has other values in each
 * block, which PTX cannot say: the printed kernel then has those of block 0. lower_ptx_initial has them
 * all.
 *
 * Kernels in block form become plain PTX, branches and labels, with parameters in registers; a goto's targets
 * must be told apart by their guards (guards_decide), since PTX has no choices. ptx_inject does the rest.
 *
 * Lines: a .loc before each statement. Spans: a compound statement number n lies between the labels $S<n>
 * and $E<n> (CHK.neutral, CHK.reconv: ptx_code.spans).
 */
#ifndef ENGINE_LOWER_PTX_H
#define ENGINE_LOWER_PTX_H

#include "engine/input/ptx_kernel.h"
#include "engine/language/ast.h"

struct lowered_ptx {
    const struct ptx_module *module; /* as ptx_check would leave it: every name resolved */
    const char *settings;       /* as in the head comments of a kernel in PTX form (ptx_kernel.h) */
    struct ast_expect *expects; /* those that may hold for PTX; variables as in `kernel` */
};

/* Of a well-formed structured kernel, or one in block form. False: *reason says why ("unsupported statement 'havoc' at
 * line 3"). */
bool lower_ptx_module(struct arena *arena, const struct ast_kernel *kernel,
                      struct lowered_ptx *lowered, const char **reason);

/* The same as a kernel of FORM_PTX. NULL: *reason. */
struct ast_kernel *lower_ptx(struct arena *arena, const struct ast_kernel *kernel,
                             const char **reason);

/* The words of global memory and of each block's shared memory at the start, as every other form of the
 * kernel has them (program.private_base words). */
int32_t *lower_ptx_initial(struct arena *arena, const struct ast_kernel *kernel);

#endif
