/*
 * predicate.h - pi(P) and phi(P): predication and the lock-step program, lockstep-cfg Tables 1-6.
 *
 * Both take a kernel P in block form, normalised (normalise.h), compiled (program_compile: statements
 * and blocks of P carry their numbers as marks, which the result repeats as `origin`), whose graphs are
 * reducible. The result is a kernel of the language that parses and runs: pi(P) in block form, phi(P)
 * in lock-step form. v_active holds 1 + the number of a code_block of P, 0 = End (a procedure's End).
 *
 * A statement of P has its number as the origin of exactly one statement: of a havoc, the assignment of
 * v_havoc; of a call, the call. Gotos have none: a block's is done by `v_active = act ? v_next : v_active`
 * in the block of its origin. B and B_call both have the origin of a call's block.
 */
#ifndef ENGINE_PREDICATE_H
#define ENGINE_PREDICATE_H

#include "engine/language/ast.h"

struct predicate_options {
    uint64_t order_seed; /* cfg_sort */
    bool no_early;       /* without PRED.early: as Tables 2, 3, 4, 6 are printed (B-10) */
    bool entry_in_start; /* v_active := Start at the head of pi(Start) as printed (B-12) */
    bool one_loop;       /* Tables 2, 3b: a last block leaves its outermost loop only (B-11) */
};

struct ast_kernel *predicate(struct arena *arena, const struct ast_kernel *kernel,
                             const struct predicate_options *options, const char **reason);

struct ast_kernel *lockstep_form(struct arena *arena, const struct ast_kernel *kernel,
                                 const struct predicate_options *options, const char **reason);

#endif
