/*
 * brief.h - a proof in one line, where somebody asked for something else: `check --prove`.
 */
#ifndef FUZZ_PROVE_BRIEF_H
#define FUZZ_PROVE_BRIEF_H

#include "engine/base/arena.h"

#include <stdint.h>

struct ast_kernel;

/* "proved: no input and no schedule .."; "refuted: .."; "not proved: ..", with the reason. The usual solver, with
 * `budget_share` of the usual budget (2: a half); what takes longer is not proved. */
const char *prove_brief(struct arena *arena, const struct ast_kernel *kernel,
                        uint32_t budget_share);

#endif
