/*
 * again.h - a stored finding of an outside implementation, run again on what is installed now.
 */
#ifndef FUZZ_HUNT_AGAIN_H
#define FUZZ_HUNT_AGAIN_H

#include "db/db.h"
#include "fuzz/hunt/hunt.h"

/* Whether it is one of them. */
bool again_is_outside(const struct db_finding *finding);

enum again_says {
    AGAIN_SHOWS,     /* the same */
    AGAIN_OTHER,     /* something else is wrong */
    AGAIN_GONE,      /* it is right */
    AGAIN_CANNOT_SAY /* it is not installed, or the kernel cannot be run there */
};

struct again {
    enum again_says says;
    const char *why;     /* a sentence */
    const char *version; /* of what was asked; "": nothing was */
};

/* small: the minimised form; the kernel is of the same form. */
struct again again_run(struct arena *arena, const struct db_finding *stored,
                       const struct ast_kernel *kernel, bool small);

#endif
