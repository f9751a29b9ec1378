/*
 * distill_claims.h - claims for a kernel: what holds of it in every subject, or failing that in single ones.
 */
#ifndef FUZZ_DISTILL_CLAIMS_H
#define FUZZ_DISTILL_CLAIMS_H

#include "engine/language/ast.h"

/* Replaces the kernel's claims by those that a check confirms. may_hang: an execution without end is known, whatever
 * the check's schedules show, so nothing is said of termination. False: there is no claim. */
bool distill_claims(struct arena *arena, struct ast_kernel *kernel, bool may_hang);

#endif
