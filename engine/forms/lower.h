/*
 * lower.h - structured kernels to the core language of simt-correctness, section 3.1:
 *
 *     s ::= ; | x = e; | if (e) S else S | while (e) S | break; | f(); | return;
 *
 * (and exit, assert, and statements that later semantics give a meaning to, which pass unchanged).
 * `do`, `for`, `switch`, `continue`, op= and calls with arguments or values become core statements:
 *
 * - every if has an else, every list is non-empty (SIMT.syn.list: the empty list is `;`);
 * - do S while (e);          while (1) { S if (e) ; else break; }
 * - for (i; e; u) S          i; while (e) { S u }
 * - continue in a loop body  the body becomes a one-trip loop `while (1) { S break; }` and continue
 *                            leaves it; a break out of several core loops sets a flag that each
 *                            loop on the way tests when it ends
 * - switch                   the index of the first case is computed, then a one-trip loop runs the
 *                            case bodies from there (`if (k <= j) S_j`), so that they fall through
 * - r = f(e1, .., en);       arg1 = e1; ..; argn = en; f(); r = result; with private variables arg_i
 *                            and result; f starts with p_i = arg_i; and `return e;` in it becomes
 *                            result = e; return;
 * - x = op(y[i], e);         atomics take their index and operands from private memory, and give the
 *                            old value to a private scalar: operand1 = i; operand2 = e; old =
 *                            op(y[operand1], operand2); x = old; as far as i and e read shared or
 *                            global memory, and x is no private scalar. So an atomic is one
 *                            indivisible step in every semantics. Votes give their value likewise;
 *                            the index of havoc is taken likewise
 *
 * The new variables have names that the kernel does not use. Statements keep the location of what
 * they came from. File-level variables keep their numbers: new ones come last. The index of an array
 * element that takes a call's result is evaluated after the call; an int function that falls off its
 * end gives 0.
 *
 * Lowering nests deeper (a loop with continue takes up to three levels), so the printed form of a
 * kernel close to the limits of the language can be too deep or too long to parse again.
 */
#ifndef ENGINE_LOWER_H
#define ENGINE_LOWER_H

#include "engine/language/ast.h"

/* The core form of a well-formed structured kernel, in `arena`; shares no node with `kernel`.
 * Blocks are not lowered: the kernel must be structured (blocks == NULL). */
struct ast_kernel *lower_core(struct arena *arena, const struct ast_kernel *kernel);

/* keep_switch: the same, but a switch stays one, with lowered bodies; `break` in it leaves it. Not one in
 * which lanes may meet, at a barrier or in a vote: those that fall through would come there one case after
 * the other. No core form, so program_compile refuses it: for lower_ptx.h. */
struct ast_kernel *lower_core_with(struct arena *arena, const struct ast_kernel *kernel,
                                   bool keep_switch);

#endif
