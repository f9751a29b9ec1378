/*
 * host_tiny.h - host programs of a few steps, all of whose executions can be searched: racy kernels, copies, events,
 * aborts, in the kernel language, or in PTX with all cache operators.
 */
#ifndef ORACLE_HOST_TINY_H
#define ORACLE_HOST_TINY_H

#include "engine/base/arena.h"
#include "engine/base/pcg.h"

/* One or two launches, and what stands between and behind them; what it observes are its outcomes. */
const char *host_tiny(struct arena *arena, struct pcg *rng);
/* A device for it: "printed sms=2 blocks=1 drain=none". */
const char *host_tiny_settings(struct arena *arena, struct pcg *rng);

/* What does not fit together in the searches of a program's executions on a device: with steps that touch nothing but
 * registers taken at once, and without; executions at random; operations in two phases and over caches. Before that, of
 * other things than the program: what its settings are taken for, and some programs of host_mistakes_differ. NULL:
 * nothing, or there are too many states. */
const char *host_tiny_differs(struct arena *arena, const char *program, const char *settings,
                              uint64_t seed, uint64_t *steps);

/* So many programs of one mistake or none, drawn from a table of them: what is said of one against what is to be said.
 * NULL: nothing differs. */
const char *host_mistakes_differ(struct arena *arena, struct pcg *rng, uint32_t count);

/* host_launches.c. A program of drawn launches, whose results are known; and a launch that can be, or cannot. */
const char *host_launches_differ(struct arena *arena, struct pcg *rng);

/* host_devices.c. Settings that are drawn over all that there are, up to their bounds, are what they say; with one
 * mistake they are refused. */
const char *host_settings_drawn_differ(struct arena *arena, struct pcg *rng);

#endif
