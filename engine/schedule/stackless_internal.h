/* stackless_internal.h - what the files of stackless.h share. */
#ifndef ENGINE_STACKLESS_INTERNAL_H
#define ENGINE_STACKLESS_INTERNAL_H

#include "engine/schedule/stackless.h"

/* Threads of a warp or block: [first, first + count). */
struct unit {
    uint32_t first, count;
};

/* Fills in what the policy asks of the program: order, joins, meets, leaves_loop. */
void stackless_find_places(struct stackless *stackless, struct arena *arena,
                           const struct program *program);

/* ---- dynamic warp subdivision (stackless_dws.c) ---- */

/* Θ has been chosen: what there is to be known of its step. */
void stackless_note_step(struct stackless *stackless, const struct machine *machine);

/* Θ, of this unit, has stepped: regions come and go. */
void stackless_settle(struct stackless *stackless, const struct machine *machine,
                      const struct unit *unit);

/* Whether the live thread need not wait for others. */
bool stackless_may_run(const struct stackless *stackless, const struct machine *machine,
                       uint32_t thread);

/* All splits of the unit go on, whatever they wait for. */
void stackless_give_up(struct stackless *stackless, const struct unit *unit);

#endif
