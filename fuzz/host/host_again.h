/*
 * host_again.h - a stored finding that is of no kernel, but of a host program or a litmus test: judged again, made
 * small.
 */
#ifndef FUZZ_HOST_AGAIN_H
#define FUZZ_HOST_AGAIN_H

#include "db/db.h"
#include "fuzz/programs/host_alarm.h"

bool host_is_program(const struct db_finding *finding);
bool host_is_litmus(const struct db_finding *finding);

/* NULL: it is of a kernel. */
struct host_words {
    const char *what, *suffix; /* "a host program", ".host" */
    const char *shows;         /* the command that shows its steps, of a file */
};
const struct host_words *host_words_of(const struct db_finding *finding);

struct host_again {
    bool shows;          /* the same signature */
    const char *why;     /* a sentence */
    const char *seen_as; /* another signature; "" */
};

/* `text` is the stored one, of one form or the other. */
struct host_again host_again(struct arena *arena, const struct db_finding *finding,
                             const char *text);

/* The program made small, with the same class and rule. .text NULL: nothing is left that shows it. */
struct host_reduced host_again_reduce(struct arena *arena, const struct db_finding *finding,
                                      const char *program, uint32_t most);

/* Stores the smaller form. */
DB_MUST_CHECK int host_again_store(struct arena *arena, struct db *db,
                                   const struct db_finding *finding,
                                   const struct host_reduced *reduced);

#endif
