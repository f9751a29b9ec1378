/*
 * evidence.h - what a finding of an outside implementation is, as the JSON that the database keeps, and back: all that
 * it takes to run it again, or to write its bundle where the implementation is not there.
 */
#ifndef FUZZ_HUNT_EVIDENCE_H
#define FUZZ_HUNT_EVIDENCE_H

#include "db/db.h"
#include "fuzz/hunt/hunt.h"

const char *evidence_print(struct arena *arena, const struct hunt_finding *finding);

/* The string or number under a key, as text; "": there is none. */
const char *evidence_text(struct arena *arena, const char *evidence, const char *key);

/* A stored finding with its kernel - small: the minimised one - as it was when it was found. False: *reason. `expected`
 * and `subject` are filled, too; the subject can be named, but not run. */
bool evidence_read(struct arena *arena, const struct db_finding *stored,
                   const struct ast_kernel *kernel, bool small, struct outside_subject *subject,
                   struct outside_expected *expected, struct hunt_finding *finding,
                   const char **reason);

#endif
