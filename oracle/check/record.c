#include "oracle/check/record.h"

#include <string.h>

static void add(struct recorder *recorder, uint32_t entry)
{
    struct tape *tape = recorder->tape;
    if (tape->count == tape->capacity) {
        uint32_t capacity = 2 * tape->capacity + 64;
        uint32_t *entries = arena_room(recorder->arena, capacity * sizeof *entries);
        if (tape->count)
            memcpy(entries, tape->entries, tape->count * sizeof *entries);
        tape->entries = entries;
        tape->capacity = capacity;
    }
    tape_add(tape, entry);
}

static uint32_t record_pick(struct choices *choices, const struct machine *machine)
{
    struct recorder *recorder = (struct recorder *)choices;
    uint32_t index = recorder->inner->pick(recorder->inner, machine);
    add(recorder, machine->head->live[index]);
    return index;
}

static uint32_t record_choose(struct choices *choices, uint32_t n)
{
    struct recorder *recorder = (struct recorder *)choices;
    uint32_t value = recorder->inner->choose(recorder->inner, n);
    recorder->inner_choices++;
    add(recorder, TAPE_INNER | value);
    return value;
}

void recorder_start(struct recorder *recorder, struct choices *inner, struct tape *tape,
                    struct arena *arena)
{
    *recorder = (struct recorder){{record_pick, record_choose, NULL}, inner, tape, arena, 0};
}

struct tape *record_copy(struct arena *arena, const struct tape *tape)
{
    struct tape *copy = tape_new(arena, tape->count);
    if (tape->count)
        memcpy(copy->entries, tape->entries, tape->count * sizeof *tape->entries);
    copy->count = tape->count;
    copy->truncated = tape->truncated;
    return copy;
}
