/*
 * minimise.h - a finding made small, with the implementation in the loop: a candidate must be valid, then show the same
 * fault, and the fault must vanish under the same avoidances, lest it slides into another one.
 *
 * Values that are drawn are written out at first (freeze.h). Then in two parts: first the kernel, which is exposed
 * whenever it is run; then the exposed kernel as it is, so that of what was added only the stores stay that the fault
 * needs.
 */
#ifndef FUZZ_HUNT_MINIMISE_H
#define FUZZ_HUNT_MINIMISE_H

#include "fuzz/outside/trial.h"

struct minimised {
    struct ast_kernel *kernel;
    bool as_it_is; /* it stores itself what is wrong: it shows the fault without being exposed */
    uint32_t candidates, valid, runs; /* tried; of these valid; runs of the implementation */
};

struct minimise_options {
    const struct outside_subject *subject;
    const struct outside_settings *settings;
    uint32_t knobs;
    const struct trial *trial;
    const struct attribution *attribution;
    bool as_it_is;     /* the kernel is not exposed (engine/emit/emit.h) */
    uint32_t most;     /* candidates */
    uint64_t until_ms; /* on the monotonic clock: no candidate is begun later; 0: no limit */
};

void minimise_finding(struct arena *arena, const struct ast_kernel *kernel,
                      const struct minimise_options *options, struct minimised *result);

#endif
