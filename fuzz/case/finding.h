/*
 * finding.h - an example (example.h) as the database has it.
 */
#ifndef FUZZ_FINDING_H
#define FUZZ_FINDING_H

#include "db/db.h"
#include "fuzz/case/example.h"

/* What a run showed: signature to reference. */
void finding_describe(const struct shown *shown, struct db_finding *finding);

/* Stores the minimised kernel; fills finding->minimised. */
DB_MUST_CHECK int finding_put_minimised(struct db *db, struct arena *arena,
                                        const struct example *example, struct db_finding *finding);

/* An example whose smaller form has another signature leaves a second one: that form, as a finding of its
 * own that needs no minimising. Fills `finding`; its raw key is its signature. */
DB_MUST_CHECK int finding_put_slipped(struct db *db, struct arena *arena,
                                      const struct example *example, uint64_t campaign,
                                      uint64_t case_number, struct db_finding *finding,
                                      struct db_upserted *stored);

/* A copy of a row with all its strings, in the arena. */
struct db_finding *finding_copy(struct arena *arena, const struct db_finding *finding);

#endif
