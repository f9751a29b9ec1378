/*
 * beside.h - what some cases of a campaign have beside their kernel: a host program (docs/host.md), litmus tests
 * (docs/memory.md, Tests that are drawn). It is made of the same seed and number; what is wrong with it is a finding of
 * the oracle of its name, whose case and text are its own. A row a kind.
 */
#ifndef FUZZ_BESIDE_H
#define FUZZ_BESIDE_H

#include "db/findings.h"
#include "fuzz/case/case.h"
#include "fuzz/case/example.h"

enum { BESIDE_TESTS = 12 }; /* litmus tests of a case that has some */

struct beside_again {
    bool shows;          /* the same signature */
    const char *why;     /* a sentence */
    const char *seen_as; /* another signature; "" */
};

struct beside_kind {
    const char *name;              /* of its oracle */
    const char *what, *many;       /* "a host program", "host programs" */
    const char *suffix;            /* of its files */
    const char *judging, *showing; /* the commands that judge a file, and show its steps */

    /* Makes it and judges it; adds to *steps. The signature of what is wrong, or NULL. */
    const char *(*judge)(struct arena *arena, const struct fuzz_case *c, uint64_t *steps);
    /* Makes it and judges it once more, and makes it small with so many tests; 0: it is not. */
    void (*example)(struct arena *arena, struct arena *scratch, const struct fuzz_case *c,
                    const char *signature, uint32_t most, struct example *example);
    /* A stored finding, judged again in one form or the other. */
    struct beside_again (*again)(struct arena *arena, const struct db_finding *finding,
                                 const char *text);
    /* Its text made small with so many tests: the small part of the example, where something smaller shows the
     * signature. No function: it was made small when it was found. */
    void (*reduce)(struct arena *arena, const struct db_finding *finding, const char *text,
                   uint32_t most, struct example *example);
};
extern const struct beside_kind beside_table[BESIDE_COUNT];

/* Whose signature it is, or oracle; NULL: a kernel's. */
const struct beside_kind *beside_of(const char *signature);

#endif
