/*
 * show.h - whether the program of a bundle shows its finding: it is built and run once, in a folder of its own that is
 * gone afterwards.
 */
#ifndef FUZZ_HUNT_SHOW_H
#define FUZZ_HUNT_SHOW_H

#include "fuzz/hunt/hunt.h"

enum show_end {
    SHOW_YES,
    SHOW_NO,
    SHOW_NOT_RUN,   /* it cannot be built here, or there is none */
    SHOW_NOT_JUDGED /* a compiler's command only makes the PTX that is wrong */
};

extern const char *const show_end_names[];

struct show {
    enum show_end end;
    const char *sentence; /* for people: what was seen */
};

/* `kernel`: the text as it stands in the bundle. */
struct show show_finding(struct arena *arena, const struct hunt_finding *finding,
                         const struct emitted *emitted, const char *kernel);

#endif
