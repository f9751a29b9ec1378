#include "oracle/record.h"

#include <string.h>

static uint32_t record_pick(struct choices *choices, const struct machine *machine)
{
    struct recorder *recorder = (struct recorder *)choices;
    uint32_t index = recorder->inner->pick(recorder->inner, machine);
    if (recorder->tape)
        tape_add(recorder->tape, machine->head->live[index]);
    return index;
}

static uint32_t record_choose(struct choices *choices, uint32_t n)
{
    struct recorder *recorder = (struct recorder *)choices;
    uint32_t value = recorder->inner->choose(recorder->inner, n);
    recorder->inner_choices++;
    if (recorder->tape)
        tape_add(recorder->tape, TAPE_INNER | value);
    return value;
}

void recorder_start(struct recorder *recorder, struct choices *inner, struct tape *tape)
{
    *recorder = (struct recorder){{record_pick, record_choose}, inner, tape, 0};
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
