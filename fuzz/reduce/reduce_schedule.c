/*
 * reduce_schedule.c - the schedule of a finding with the fewest context switches.
 *
 * A tape is a list of segments: one actor running for some steps. Replay tolerates drift (tape.h), so
 * segments may be dropped and moved at will: what is left decides. After the tape's end the lowest
 * live actor runs, so an empty tape is the sequential execution.
 */
#include "fuzz/reduce/reduce_schedule.h"

#include <string.h>

static bool shows(struct schedule_search *search, const struct tape *tape)
{
    search->tests++;
    search->scratch->used = 0;
    search->check.tape = tape;
    struct interest_question question = {
        .arena = search->scratch, .kernel = search->kernel, .check = &search->check};
    bool shown = search->interest->shown(search->interest, &question);
    search->steps += question.steps;
    return shown;
}

static bool may_test(struct schedule_search *search)
{
    bool spent = search->tests >= search->max_tests ||
                 (search->max_steps > 0 && search->steps >= search->max_steps);
    return !spent && search->go_on(search->context);
}

/* Start of the segment after the one that starts at `from`: an actor's picks with the inner choices
 * among them. */
static uint32_t segment_end(const struct tape *tape, uint32_t from)
{
    uint32_t actor = tape->entries[from], at = from + 1;
    while (at < tape->count && (tape->entries[at] == actor || (tape->entries[at] & TAPE_INNER)))
        at++;
    return at;
}

static void tape_remove(struct tape *to, const struct tape *from, uint32_t start, uint32_t end)
{
    memcpy(to->entries, from->entries, start * sizeof *to->entries);
    memcpy(to->entries + start, from->entries + end, (from->count - end) * sizeof *to->entries);
    to->count = from->count - (end - start);
}

/* The segment [start, end) is moved behind the one before it that has the same actor. False: there is none, or what
 * was moved here before made the two one. */
static bool tape_join(struct tape *to, const struct tape *from, uint32_t start, uint32_t end)
{
    uint32_t before_end = 0;
    for (uint32_t at = 0; at < start; at = segment_end(from, at))
        if (from->entries[at] == from->entries[start])
            before_end = segment_end(from, at);
    if (before_end == 0 || before_end > start)
        return false;
    uint32_t length = end - start;
    memcpy(to->entries, from->entries, before_end * sizeof *to->entries);
    memcpy(to->entries + before_end, from->entries + start, length * sizeof *to->entries);
    memcpy(to->entries + before_end + length, from->entries + before_end,
           (start - before_end) * sizeof *to->entries);
    memcpy(to->entries + end, from->entries + end, (from->count - end) * sizeof *to->entries);
    to->count = from->count;
    return true;
}

/* One round over the segments, last first; true when something was gained. */
static bool improve(struct schedule_search *search, struct tape **best, struct tape **spare,
                    bool join)
{
    bool gained = false;
    uint32_t start = 0;
    while (start < (*best)->count && may_test(search)) {
        uint32_t end = segment_end(*best, start);
        bool made = true;
        if (join)
            made = tape_join(*spare, *best, start, end);
        else
            tape_remove(*spare, *best, start, end);
        if (made && tape_context_switches(*spare) < tape_context_switches(*best) + !join &&
            shows(search, *spare)) {
            struct tape *swap = *best;
            *best = *spare;
            *spare = swap;
            gained = true;
        } else {
            start = end;
        }
    }
    return gained;
}

static struct tape *tape_copy(struct arena *arena, const struct tape *tape)
{
    struct tape *copy = tape_new(arena, tape->count + 1);
    memcpy(copy->entries, tape->entries, tape->count * sizeof *copy->entries);
    copy->count = tape->count;
    return copy;
}

const struct tape *reduce_schedule(struct arena *arena, struct schedule_search *search,
                                   const struct tape *tape)
{
    if (!may_test(search))
        return tape;
    if (shows(search, tape_new(arena, 1)))
        return NULL;
    if (!may_test(search) || !shows(search, tape))
        return tape;
    struct tape *best = tape_copy(arena, tape), *spare = tape_copy(arena, tape);
    bool gained = true;
    while (gained && may_test(search)) {
        gained = improve(search, &best, &spare, false);
        gained |= improve(search, &best, &spare, true);
    }
    return best;
}
