/*
 * tape.h - the choices of one execution.
 *
 * A tape holds actor numbers (not indices among the live), so that it still means something on a
 * smaller kernel: replay reports at which choice it drifted and goes on with the lowest live actor.
 * Inner choices (the winner of a conflicting write) stand between them.
 *
 * As text: choices separated by spaces, `3` = actor 3, `3*7` = seven times, `!1` = inner choice 1.
 */
#ifndef ENGINE_TAPE_H
#define ENGINE_TAPE_H

#include "engine/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum { TAPE_INNER = 0x40000000 }; /* flag of an inner choice */

struct tape {
    uint32_t *entries;
    uint32_t count, capacity; /* a full tape drops further choices and sets `truncated` */
    bool truncated;
};

struct tape_reader {
    const struct tape *tape;
    uint32_t next;
};

struct tape *tape_new(struct arena *arena, uint32_t capacity);

static inline void tape_add(struct tape *tape, uint32_t entry)
{
    if (tape->count < tape->capacity)
        tape->entries[tape->count++] = entry;
    else
        tape->truncated = true;
}

/* Number of times that consecutive actors differ. */
uint32_t tape_context_switches(const struct tape *tape);

char *tape_print(struct arena *arena, const struct tape *tape);
/* NULL: not a tape; *error_column (from 1) says where. */
struct tape *tape_parse(struct arena *arena, const char *text, size_t *error_column);

#endif
