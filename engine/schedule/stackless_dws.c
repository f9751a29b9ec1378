/*
 * stackless_dws.c - SL.dws, dynamic warp subdivision (Meng et al., ISCA 2010; simt-correctness, 5.2).
 *
 * At a marked branch a warp splits: both parts are scheduled on their own, and are one again when their
 * remaining stacks are equal. At other branches the paths reconverge as under a stack: one path runs, then
 * the other, and nobody goes on before all have come to where they meet.
 *
 * A region is an unmarked branch whose paths have not met yet: who took it together. Regions nest; a thread is
 * in the innermost one of its, and its split are those of its region that are at its program counter and
 * need not wait. In a structured kernel paths meet where a thread's stack is as low as below the branch. Who
 * breaks out of a loop, or returns, is lower than that, and the others wait: when a region ends and its
 * threads are at different heights, a new one keeps the lower ones until the others are as low (brk
 * and call of Table 2). In blocks and PTX they meet at the immediate post-dominator, or out of the
 * function.
 *
 * A barrier within a region [EXT]: who waits there holds up no other path. When nobody of a warp may go on
 * any more, all its regions are given up.
 */
#include "engine/base/invariant.h"
#include "engine/machine/live.h"
#include "engine/schedule/stackless_internal.h"
#include "engine/warps/threads.h"

static uint32_t level_of(const struct machine *machine, uint32_t thread)
{
    return machine->semantics->level(machine, thread);
}

static struct stackless_region *region_of(const struct stackless *s, uint32_t thread)
{
    uint32_t number = s->splits[thread].region;
    return number ? &s->regions[number - 1] : NULL;
}

/* Final: neither live nor waiting. */
static bool has_ended(const struct machine *machine, uint32_t thread)
{
    return !is_live(machine, thread) && machine->semantics->next_stm(machine, thread) == CODE_NONE;
}

/* Whether the thread is where its region's paths meet. */
static bool has_arrived(const struct stackless *s, const struct machine *machine, uint32_t thread)
{
    const struct stackless_region *region = region_of(s, thread);
    if (!region)
        return false;
    uint32_t level = level_of(machine, thread);
    return level < region->level ||
           (level == region->level && region->place &&
            machine->semantics->control(machine, thread) + 1 == region->place);
}

bool stackless_may_run(const struct stackless *s, const struct machine *machine, uint32_t thread)
{
    return s->splits[thread].turn == 0 && !has_arrived(s, machine, thread);
}

/* ---- regions come ---- */

/* A free region of the unit, + 1; 0: there is none, and the threads stay split. Regions within each other are of
 * fewer and fewer threads, so that happens, if at all, behind barriers within branches. */
static uint32_t region_new(struct stackless *s, const struct unit *unit,
                           const struct stackless_region *region)
{
    for (uint32_t i = unit->first; i < unit->first + unit->count; i++) {
        if (s->regions[i].level == 0) {
            s->regions[i] = *region;
            return i + 1;
        }
    }
    return 0;
}

/* Which path of an unmarked branch runs first: the one of the lowest rank. As in Table 2 that is the else-part; in
 * blocks it is the one that stands first, in PTX the branch that is taken (bra_guard of cuda-crs). */
static uint32_t rank_of(const struct stackless *s, const struct machine *machine, uint32_t thread,
                        uint32_t branch)
{
    const struct code_stm *stm = &machine->program->stms[branch];
    uint32_t at = machine->semantics->control(machine, thread), rank = at;
    if (stm->kind == CODE_WHILE)
        return 0; /* who leaves has arrived */
    if (stm->kind == CODE_IF)
        rank = at == stm->first;
    else if (stm->kind == CODE_PTX && at == branch + 1)
        rank = UINT32_MAX;
    return s->spec.then_first ? UINT32_MAX - rank : rank;
}

/* The number of smaller ranks among the threads. */
static void take_turns(struct stackless *s, const struct machine *machine, const uint32_t *threads,
                       uint32_t count, uint32_t branch)
{
    uint32_t last = 0;
    for (uint32_t turn = 0, left = count; left > 0; turn++) {
        uint32_t lowest = UINT32_MAX;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t rank = rank_of(s, machine, threads[i], branch);
            if ((turn == 0 || rank > last) && rank < lowest)
                lowest = rank;
        }
        for (uint32_t i = 0; i < count; i++) {
            if (rank_of(s, machine, threads[i], branch) == lowest) {
                s->splits[threads[i]].turn = turn;
                left--;
            }
        }
        last = lowest;
    }
}

/* Θ has taken different paths of an unmarked branch. */
static void enter_region(struct stackless *s, const struct machine *machine,
                         const struct unit *unit, const uint32_t *threads, uint32_t count)
{
    uint32_t branch = s->stepped[0] - 1, lowest = UINT32_MAX, highest = 0;
    struct stackless_region region = {.parent = s->splits[threads[0]].region,
                                      .level = s->stepped[1]};
    if (machine->program->form == FORM_STRUCTURED) {
        for (uint32_t i = 0; i < count; i++) {
            uint32_t level = level_of(machine, threads[i]);
            lowest = level < lowest ? level : lowest;
            highest = level > highest ? level : highest;
        }
        region.level = lowest == highest ? lowest : lowest + 1; /* both parts; or some have left */
    } else {
        region.place = s->meets[branch];
    }
    uint32_t number = region_new(s, unit, &region);
    if (number == 0)
        return;
    for (uint32_t i = 0; i < count; i++)
        s->splits[threads[i]].region = number;
    take_turns(s, machine, threads, count, branch);
}

/* ---- regions go ---- */

/* Structured: those of a region that has ended are at different heights, as some have left a loop or a function.
 * They wait for the others, each at its height; who is where the paths of the region around it meet waits
 * there. */
static void wait_for_higher(struct stackless *s, const struct machine *machine,
                            const struct unit *unit, uint32_t *threads, uint32_t count)
{
    uint32_t parent = count ? s->splits[threads[0]].region : 0;
    for (;;) {
        uint32_t lowest = UINT32_MAX, higher = 0, kept = 0;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t level = level_of(machine, threads[i]);
            lowest = level < lowest ? level : lowest;
        }
        for (uint32_t i = 0; i < count; i++)
            if (level_of(machine, threads[i]) > lowest)
                higher = threads[i] + 1;
        if (higher == 0)
            return;
        stack_entry left = threads_state(machine, higher - 1)->stack[lowest];
        struct stackless_region region = {.parent = parent, .level = lowest + 1};
        if (entry_kind(left) != ENTRY_BRK || !(s->marks & STACKLESS_MARKS_LOOPS)) {
            uint32_t number = region_new(s, unit, &region);
            for (uint32_t i = 0; number && i < count; i++)
                s->splits[threads[i]].region = number;
            parent = number ? number : parent;
        }
        for (uint32_t i = 0; i < count; i++)
            if (level_of(machine, threads[i]) > lowest)
                threads[kept++] = threads[i];
        count = kept;
    }
}

static void leave_region(struct stackless *s, const struct machine *machine,
                         const struct unit *unit, uint32_t number)
{
    uint32_t *threads = s->live, count = 0; /* not in use between picks */
    uint32_t parent = s->regions[number - 1].parent;
    for (uint32_t t = unit->first; t < unit->first + unit->count; t++) {
        if (s->splits[t].region != number)
            continue;
        s->splits[t].region = parent;
        if (!has_ended(machine, t) && !has_arrived(s, machine, t))
            threads[count++] = t;
    }
    s->regions[number - 1] = (struct stackless_region){0};
    if (machine->program->form == FORM_STRUCTURED)
        wait_for_higher(s, machine, unit, threads, count);
}

static bool has_inner(const struct stackless *s, const struct unit *unit, uint32_t number)
{
    for (uint32_t i = unit->first; i < unit->first + unit->count; i++)
        if (s->regions[i].level && s->regions[i].parent == number)
            return true;
    return false;
}

/* A region without one within: the next path's turn, or its end. False: it is not yet time for either. */
static bool settle_region(struct stackless *s, const struct machine *machine,
                          const struct unit *unit, uint32_t number)
{
    uint32_t next = UINT32_MAX;
    bool waits = false;
    if (has_inner(s, unit, number))
        return false;
    for (uint32_t t = unit->first; t < unit->first + unit->count; t++) {
        uint32_t turn = s->splits[t].turn;
        if (s->splits[t].region != number || has_ended(machine, t))
            continue;
        if (turn > 0)
            next = turn < next ? turn : next;
        else if (!is_live(machine, t))
            waits = true;
        else if (!has_arrived(s, machine, t))
            return false;
    }
    if (next == UINT32_MAX && waits)
        return false;
    for (uint32_t t = unit->first; t < unit->first + unit->count; t++)
        if (s->splits[t].region == number && s->splits[t].turn == next)
            s->splits[t].turn = 0;
    if (next == UINT32_MAX)
        leave_region(s, machine, unit, number);
    return true;
}

/* ---- for schedule() ---- */

void stackless_note_step(struct stackless *s, const struct machine *machine)
{
    uint32_t leader = s->chosen[1];
    for (uint32_t k = 1; k <= s->chosen[0]; k++)
        s->splits[s->chosen[k]].steps = 1;
    s->stepped[0] = machine->semantics->next_stm(machine, leader) + 1;
    s->stepped[1] = level_of(machine, leader);
}

static bool is_marked(const struct stackless *s, uint32_t branch)
{
    unsigned kind = s->leaves_loop[branch] ? STACKLESS_MARKS_LOOPS : STACKLESS_MARKS_IFS;
    return s->marks & kind;
}

void stackless_settle(struct stackless *s, const struct machine *machine, const struct unit *unit)
{
    uint32_t *threads = s->live, count = 0;
    bool parted = false, changed = true;
    for (uint32_t t = unit->first; t < unit->first + unit->count; t++) {
        if (s->splits[t].steps && !has_ended(machine, t)) {
            threads[count++] = t;
            parted |= !machine->semantics->same_pc(machine, threads[0], t, false);
        }
        s->splits[t].steps = 0;
    }
    if (parted && s->stepped[0] && !is_marked(s, s->stepped[0] - 1))
        enter_region(s, machine, unit, threads, count);
    s->stepped[0] = s->stepped[1] = 0;
    while (changed) {
        changed = false;
        for (uint32_t i = unit->first; i < unit->first + unit->count; i++)
            changed |= s->regions[i].level && settle_region(s, machine, unit, i + 1);
    }
}

void stackless_give_up(struct stackless *s, const struct unit *unit)
{
    for (uint32_t i = unit->first; i < unit->first + unit->count; i++) {
        s->regions[i] = (struct stackless_region){0};
        s->splits[i].region = s->splits[i].turn = 0;
    }
}
