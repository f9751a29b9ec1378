/*
 * host_again.h - a stored finding of a host program: run again, made small.
 */
#ifndef FUZZ_HOST_AGAIN_H
#define FUZZ_HOST_AGAIN_H

#include "db/db.h"
#include "fuzz/programs/host_alarm.h"

/* Whether it is one of them. */
bool host_is_finding(const struct db_finding *finding);

struct host_again {
    bool shows;          /* the same signature */
    const char *why;     /* a sentence */
    const char *seen_as; /* another signature; "" */
};

/* `program` is the stored text, of one form or the other. */
struct host_again host_again(struct arena *arena, const struct db_finding *finding,
                             const char *program);

/* The program made small, with the same class and rule. .text NULL: nothing is left that shows it. */
struct host_reduced host_again_reduce(struct arena *arena, const struct db_finding *finding,
                                      const char *program, uint32_t most);

/* Stores the smaller form. */
DB_MUST_CHECK int host_again_store(struct arena *arena, struct db *db,
                                   const struct db_finding *finding,
                                   const struct host_reduced *reduced);

#endif
