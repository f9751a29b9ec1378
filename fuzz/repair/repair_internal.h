/*
 * repair_internal.h - what becomes of a kernel that was changed.
 */
#ifndef FUZZ_REPAIR_INTERNAL_H
#define FUZZ_REPAIR_INTERNAL_H

#include "fuzz/repair/repair.h"

enum verdict_of { REPAIRED, RACES, DIVERGES, FAILS, CLAIMS, RESULTS, ENDLESS, REFUSED, VERDICTS };

bool repair_races(const struct check_result *result);
bool repair_keeps_claims(const struct check_result *result);
void repair_put_others(const uint32_t *counts, FILE *out);

/* A kernel in PTX form: barriers and fences, before each access and branch. */
void repair_ptx(struct arena *arena, const struct ast_kernel *kernel, struct repair_sums *sums,
                const volatile sig_atomic_t *stop, FILE *out);

#endif
