/*
 * signature.h - when two findings are the same bug (docs/signatures.md).
 *
 * The signature, K2 = oracle|class|rule|observable, names what an oracle saw; it is what the reducer
 * keeps, and a finding is everything with one signature. One bug mostly has several: every oracle that
 * hears of it has its own, and what only sees stores at the end has as many as there are ways for a
 * wrong value to get there. The cause brings these together: of everything that the minimised kernel
 * shows, what the oracle says that looks closest.
 */
#ifndef FUZZ_SIGNATURE_H
#define FUZZ_SIGNATURE_H

#include "oracle/check/check.h"

/* Of signatures and causes as they are made here; stored with each finding. Version 1 had no causes; 2 looked for
 * those of expectations and transformed kernels in the kernel as it is; 3 knew no parts; 4 had
 * causes of their own for drawn kernels. */
enum { SIGNATURE_VERSION = 5 };

/* "compiler:clang-14:-O2" is of the family "compiler:clang-14": faults of one are filed together. */
size_t signature_family_length(const char *subject);

/*
 * The cause of a divergence, from everything that was seen of the kernel: the key of the divergence with
 * the closest oracle. Kinds of memory are not told apart. Oracles that compare ends do not see where an
 * execution went wrong: in the place of the rule stands what the kernel is made of, if it is minimised.
 * Where a part of simtfuzz is wrong, and no execution, the part is the cause. Known divergences are no cause, but of
 * themselves; nor is what was drawn beside the kernel.
 */
const char *signature_cause(struct arena *arena, const struct check_result *result,
                            const struct divergence *divergence, bool minimised);

/* Of all that was seen of the kernel, what looks closest to a cause; not what is known, nor what an oracle of the
 * bits `but` says. NULL: there is nothing. */
const struct divergence *signature_closest(const struct check_result *result, uint32_t but);

/* What a minimised kernel is about: "switch", "loop", "call", "shl"; "straight": nothing in particular. */
const char *signature_shape(struct arena *arena, const struct ast_kernel *kernel);

/* Part `index` of "oracle|class|rule|observable"; "" when there are fewer. */
const char *signature_part(struct arena *arena, const char *signature, int index);

#endif
