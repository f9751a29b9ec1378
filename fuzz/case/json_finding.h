/*
 * json_finding.h - the keys of a finding that several documents have, in the order in which they have them.
 */
#ifndef FUZZ_JSON_FINDING_H
#define FUZZ_JSON_FINDING_H

#include "db/db.h"
#include "fuzz/out/json.h"

/* What people say of it and what it is about: reference to subject. */
void json_finding_parts(struct json *json, const struct db_finding *f);
/* How often and when it was seen: occurrences to last_seen_ms. */
void json_finding_sightings(struct json *json, const struct db_finding *f);

#endif
