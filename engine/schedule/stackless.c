#include "engine/schedule/stackless_internal.h"

#include "engine/base/invariant.h"
#include "engine/machine/live.h"

#include <string.h>

enum { UNIT_WARP, UNIT_BLOCK };

/* Of a thread of the unit at hand. Who must wait for others has none (DWS). */
enum { ROLE_NONE, ROLE_LIVE, ROLE_GROUP, ROLE_CHOSEN };

const struct stackless_info stackless_table[STACKLESS_POLICY_COUNT] = {
#define POLICY(id, name, unit, sentence)                                                           \
    [STACKLESS_##id] = {name, UNIT_##unit == UNIT_BLOCK, sentence},
#include "engine/kernel/stackless.def"
#undef POLICY
};

const enum stackless_policy stackless_fair[STACKLESS_FAIR] = {
    STACKLESS_OLDEST, STACKLESS_RR, STACKLESS_ITS, STACKLESS_DWS, STACKLESS_DWF_TIME};

bool stackless_is_fair(enum stackless_policy policy)
{
    for (uint32_t i = 0; i < STACKLESS_FAIR; i++)
        if (stackless_fair[i] == policy)
            return true;
    return policy == STACKLESS_RANDOM;
}

/* ---- names ---- */

bool stackless_parse(const char *text, struct stackless_spec *spec)
{
    size_t length = strcspn(text, ":");
    bool literal = strcmp(text + length, ":literal") == 0;
    bool then_first = strcmp(text + length, ":then-first") == 0;
    if (text[length] && !literal && !then_first)
        return false;
    for (int p = 0; p < STACKLESS_POLICY_COUNT; p++) {
        const char *name = stackless_table[p].name;
        if (strlen(name) != length || memcmp(name, text, length) != 0)
            continue;
        *spec = (struct stackless_spec){(enum stackless_policy)p, literal, then_first};
        return !then_first || stackless_subdivides(spec->policy);
    }
    return false;
}

const char *stackless_name(struct arena *arena, const struct stackless_spec *spec)
{
    const char *name = stackless_table[spec->policy].name;
    if (spec->then_first)
        return arena_printf(arena, "%s:then-first", name);
    return spec->literal ? arena_printf(arena, "%s:literal", name) : name;
}

/* ---- groups ---- */

/* Behind the last statement: a thread at End, or about to leave its last context. */
static uint32_t place_of(const struct stackless *stackless, const struct machine *machine,
                         uint32_t thread)
{
    uint32_t stm = machine->semantics->control(machine, thread);
    return stm == CODE_NONE ? UINT32_MAX : stackless->order[stm];
}

static bool same_split(const struct stackless *s, uint32_t thread, uint32_t other)
{
    return !s->splits || s->splits[thread].region == s->splits[other].region;
}

static bool same_group(const struct stackless *s, const struct machine *machine, uint32_t thread,
                       uint32_t other)
{
    return same_split(s, thread, other) &&
           machine->semantics->same_pc(machine, thread, other, s->spec.literal);
}

/* The groups of the unit's live threads by program counter, in the order of their lowest threads. */
static uint32_t find_groups(struct stackless *s, const struct machine *machine, uint32_t count)
{
    uint32_t groups = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t g = 0;
        while (g < groups && !same_group(s, machine, s->leader[g], s->live[i]))
            g++;
        if (g == groups) {
            s->leader[groups] = s->live[i];
            s->members[groups++] = 0;
        }
        s->members[g]++;
    }
    return groups;
}

static uint32_t by_size(struct stackless *s, const struct machine *machine, uint32_t count,
                        bool largest)
{
    uint32_t groups = find_groups(s, machine, count), best = 0;
    for (uint32_t g = 1; g < groups; g++)
        if (largest ? s->members[g] > s->members[best] : s->members[g] < s->members[best])
            best = g;
    return s->leader[best];
}

static uint32_t at_random(struct stackless *s, const struct machine *machine, uint32_t count)
{
    uint32_t groups = find_groups(s, machine, count);
    return s->leader[pcg_below(s->rng, groups)];
}

static uint32_t lowest_place(const struct stackless *s, const struct machine *machine,
                             uint32_t count)
{
    uint32_t best = s->live[0], lowest = place_of(s, machine, best);
    for (uint32_t i = 1; i < count; i++) {
        uint32_t place = place_of(s, machine, s->live[i]);
        if (place < lowest) {
            lowest = place;
            best = s->live[i];
        }
    }
    return best;
}

/* Of the group at one place the thread that has passed fewest speaks for all. */
static uint32_t fewest_passed(const struct stackless *s, uint32_t count)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < count; i++)
        if (s->passed[s->live[i]] < s->passed[s->live[best]])
            best = i;
    return s->live[best];
}

static uint32_t longest_waiting(const struct stackless *s, const struct unit *unit)
{
    const uint32_t *queue = s->queue + unit->first;
    while (s->role[*queue - unit->first] == ROLE_NONE)
        queue++;
    return *queue;
}

/* Cyclic order: the unit's next live thread behind the one chosen last. */
static uint32_t next_in_turn(struct stackless *s, const struct machine *machine,
                             const struct unit *unit)
{
    uint32_t *last = &s->last[*s->turn];
    uint32_t i = live_from(machine, *last > unit->first ? *last : unit->first);
    if (i == machine->head->live_count || machine->head->live[i] >= unit->first + unit->count)
        i = live_from(machine, unit->first);
    *last = machine->head->live[i] + 1;
    return *last - 1;
}

/* A thread of the group that the policy chooses. */
static uint32_t choose_leader(struct stackless *s, const struct machine *machine,
                              const struct unit *unit, uint32_t count)
{
    switch (s->spec.policy) {
    case STACKLESS_MINPC:
    case STACKLESS_DWF_PC:
        return lowest_place(s, machine, count);
    case STACKLESS_OLDEST:
    case STACKLESS_DWF_TIME:
    case STACKLESS_DWS:
    case STACKLESS_DWS_LOOPS:
    case STACKLESS_DWS_IFS:
    case STACKLESS_DWS_NONE:
        return longest_waiting(s, unit);
    case STACKLESS_RR:
    case STACKLESS_ITS:
        return next_in_turn(s, machine, unit);
    case STACKLESS_MAJORITY:
    case STACKLESS_DWF_MAJORITY:
        return by_size(s, machine, count, true);
    case STACKLESS_MINORITY:
    case STACKLESS_DWF_MINORITY:
        return by_size(s, machine, count, false);
    case STACKLESS_RANDOM:
        return at_random(s, machine, count);
    case STACKLESS_DWF_PDOM:
        return fewest_passed(s, count);
    case STACKLESS_POLICY_COUNT:
        break;
    }
    invariant_fail("a policy is one of the table", __FILE__, __LINE__);
}

/* ---- Θ ---- */

/* Who goes first among those of one lane: as the policy has it, else the lowest. */
static uint32_t precedence(const struct stackless *s, const struct unit *unit, uint32_t i)
{
    return s->queue ? s->queue[unit->first + i] : unit->first + i;
}

/* Of the group's threads in a block, one a lane are chosen. */
static void choose_lanes(struct stackless *s, const struct unit *unit)
{
    memset(s->taken, 0, s->lanes * sizeof *s->taken);
    for (uint32_t i = 0; i < unit->count; i++) {
        uint32_t place = precedence(s, unit, i) - unit->first;
        if (s->role[place] == ROLE_GROUP && !s->taken[place % s->lanes]) {
            s->role[place] = ROLE_CHOSEN;
            s->taken[place % s->lanes] = true;
        }
    }
}

/* The leader's group, or one of it a lane: Θ, ascending. */
static void take_group(struct stackless *s, const struct machine *machine, const struct unit *unit,
                       uint32_t count, uint32_t leader)
{
    bool regroups = stackless_table[s->spec.policy].over_block;
    for (uint32_t i = 0; i < count; i++)
        if (s->live[i] == leader || same_group(s, machine, leader, s->live[i]))
            s->role[s->live[i] - unit->first] = regroups ? ROLE_GROUP : ROLE_CHOSEN;
    if (regroups)
        choose_lanes(s, unit);
    for (uint32_t i = 0; i < count; i++)
        if (s->role[s->live[i] - unit->first] == ROLE_CHOSEN)
            s->chosen[++s->chosen[0]] = s->live[i];
}

/* The chosen go to the back of the queue, in their order. */
static void requeue(struct stackless *s, const struct unit *unit)
{
    uint32_t *queue = s->queue + unit->first;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < unit->count; i++)
        if (s->role[queue[i] - unit->first] != ROLE_CHOSEN)
            queue[kept++] = queue[i];
    for (uint32_t k = 1; k <= s->chosen[0]; k++)
        queue[kept++] = s->chosen[k];
}

static void reverse(uint32_t *list, uint32_t count)
{
    for (uint32_t i = 0; i < count / 2; i++) {
        uint32_t other = list[i];
        list[i] = list[count - 1 - i];
        list[count - 1 - i] = other;
    }
}

/* Those about to execute what stands where paths meet have passed it, once. Only differences count: those
 * who cannot step start again with the fewest, as a barrier is passed by all. */
static void count_passed(struct stackless *s, const struct machine *machine,
                         const struct unit *unit, uint32_t count)
{
    uint32_t fewest = UINT32_MAX;
    for (uint32_t k = 1; k <= s->chosen[0]; k++) {
        uint32_t thread = s->chosen[k], stm = machine->semantics->next_stm(machine, thread);
        s->passed[thread] += stm != CODE_NONE && s->joins[stm] && s->seen[thread] != stm + 1;
        s->seen[thread] = stm + 1;
    }
    for (uint32_t i = 0; i < count; i++)
        fewest = s->passed[s->live[i]] < fewest ? s->passed[s->live[i]] : fewest;
    for (uint32_t t = unit->first; t < unit->first + unit->count; t++)
        s->passed[t] = s->role[t - unit->first] ? s->passed[t] - fewest : 0;
}

static struct unit unit_at(const struct stackless *s, uint32_t number)
{
    uint32_t in_block = number % s->block_units * s->unit_threads;
    uint32_t first = number / s->block_units * s->block_threads + in_block;
    uint32_t left = s->block_threads - in_block;
    return (struct unit){first, left < s->unit_threads ? left : s->unit_threads};
}

/* The next unit in turn of which somebody can step; where its live threads stand among all. */
static uint32_t next_unit(struct stackless *s, const struct machine *machine, struct unit *unit)
{
    for (;;) {
        *s->turn = *s->turn + 1 < s->unit_count ? *s->turn + 1 : 0;
        *unit = unit_at(s, *s->turn);
        uint32_t i = live_from(machine, unit->first);
        if (i < machine->head->live_count && machine->head->live[i] < unit->first + unit->count)
            return i;
    }
}

static uint32_t list_live(struct stackless *s, const struct machine *machine,
                          const struct unit *unit, uint32_t first)
{
    const uint32_t *live = machine->head->live;
    uint32_t count = 0;
    for (uint32_t i = first; i < machine->head->live_count && live[i] < unit->first + unit->count;
         i++)
        s->live[count++] = live[i];
    return count;
}

/* DWS: of the unit's live threads those that need not wait; all, if that were none. */
static uint32_t keep_runnable(struct stackless *s, const struct machine *machine,
                              const struct unit *unit, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (stackless_may_run(s, machine, s->live[i]))
            s->live[kept++] = s->live[i];
    if (kept > 0)
        return kept;
    stackless_give_up(s, unit);
    return count;
}

/*  Θ = schedule(ς) */
static void schedule(struct stackless *s, const struct machine *machine)
{
    struct unit unit;
    if (s->splits) {
        unit = unit_at(s, *s->turn);
        stackless_settle(s, machine, &unit);
    }
    uint32_t first = next_unit(s, machine, &unit);
    uint32_t count = list_live(s, machine, &unit, first);
    if (s->splits)
        count = keep_runnable(s, machine, &unit, count);
    memset(s->role, ROLE_NONE, unit.count);
    for (uint32_t i = 0; i < count; i++)
        s->role[s->live[i] - unit.first] = ROLE_LIVE;
    take_group(s, machine, &unit, count, choose_leader(s, machine, &unit, count));
    if (s->queue)
        requeue(s, &unit);
    if (s->passed)
        count_passed(s, machine, &unit, count);
    if (s->splits)
        stackless_note_step(s, machine);
    reverse(s->chosen + 1, s->chosen[0]);
}

/* ITS: the thread whose turn it is goes on while its instruction has begun - an assignment has read and
 * not written - or what is next is none: a context, the head of a block. */
static bool holds(const struct stackless *s, const struct machine *machine)
{
    uint32_t thread = s->held[0] - 1;
    if (s->held[0] == 0 || !is_live(machine, thread))
        return false;
    uint32_t stm = machine->semantics->next_stm(machine, thread);
    return stm == CODE_NONE ||
           (stm + 1 == s->held[1] && machine->program->stms[stm].kind == CODE_ASSIGN);
}

static uint32_t pick_thread(struct stackless *s, const struct machine *machine)
{
    if (!holds(s, machine)) {
        struct unit unit;
        (void)next_unit(s, machine, &unit);
        s->held[0] = next_in_turn(s, machine, &unit) + 1;
    }
    s->held[1] = machine->semantics->next_stm(machine, s->held[0] - 1) + 1;
    return s->held[0] - 1;
}

uint32_t stackless_pick(struct stackless *s, const struct machine *machine)
{
    if (s->spec.policy == STACKLESS_ITS)
        return pick_thread(s, machine);
    for (;;) {
        if (s->chosen[0] == 0)
            schedule(s, machine);
        uint32_t *thread = &s->chosen[s->chosen[0]--], chosen = *thread;
        *thread = 0;
        if (is_live(machine, chosen)) /* a step of another of Θ may have ended it */
            return chosen;
    }
}

/* ---- start ---- */

const char *stackless_refuses(const struct semantics *semantics)
{
    if (semantics->environment)
        return "what is under way beside its threads steps by itself";
    return semantics->same_pc ? NULL : "its actors are no threads";
}

static uint32_t *words_of(struct stackless *s, uint32_t count)
{
    uint32_t *words = s->words + s->word_count;
    s->word_count += count;
    INVARIANT(s->word_count <= s->word_room);
    return words;
}

static void make_queue(struct stackless *s, uint32_t threads)
{
    s->queue = words_of(s, threads);
    for (uint32_t t = 0; t < threads; t++)
        s->queue[t] = t;
}

static void make_splits(struct stackless *s, uint32_t threads, unsigned marks)
{
    enum { SPLIT = sizeof *s->splits / 4, REGION = sizeof *s->regions / 4 };
    make_queue(s, threads);
    s->marks = marks;
    s->stepped = words_of(s, 2);
    s->splits = (struct stackless_split *)words_of(s, SPLIT * threads);
    s->regions = (struct stackless_region *)words_of(s, REGION * threads);
}

static void make_words(struct stackless *s, struct arena *arena, uint32_t threads)
{
    /* turn, chosen, stepped; last; queue, splits, regions */
    s->word_room = 4 + s->unit_threads + s->unit_count + 7 * threads;
    s->words = ARENA_ARRAY(arena, uint32_t, s->word_room);
    s->turn = words_of(s, 1);
    s->chosen = words_of(s, 1 + s->unit_threads);
    *s->turn = s->unit_count - 1;
    switch (s->spec.policy) {
    case STACKLESS_ITS:
        s->held = words_of(s, 2);
        s->last = words_of(s, s->unit_count);
        break;
    case STACKLESS_RR:
        s->last = words_of(s, s->unit_count);
        break;
    case STACKLESS_OLDEST:
    case STACKLESS_DWF_TIME:
        make_queue(s, threads);
        break;
    case STACKLESS_DWS:
        make_splits(s, threads, STACKLESS_MARKS_IFS | STACKLESS_MARKS_LOOPS);
        break;
    case STACKLESS_DWS_LOOPS:
        make_splits(s, threads, STACKLESS_MARKS_LOOPS);
        break;
    case STACKLESS_DWS_IFS:
        make_splits(s, threads, STACKLESS_MARKS_IFS);
        break;
    case STACKLESS_DWS_NONE:
        make_splits(s, threads, 0);
        break;
    case STACKLESS_DWF_PDOM:
        s->passed = words_of(s, threads);
        s->seen = words_of(s, threads);
        break;
    case STACKLESS_MINPC:
    case STACKLESS_MAJORITY:
    case STACKLESS_MINORITY:
    case STACKLESS_RANDOM:
    case STACKLESS_DWF_MAJORITY:
    case STACKLESS_DWF_MINORITY:
    case STACKLESS_DWF_PC:
    case STACKLESS_POLICY_COUNT:
        break;
    }
}

struct stackless *stackless_new(struct arena *arena, const struct machine *machine,
                                const struct stackless_spec *spec, struct pcg *rng)
{
    const struct program *program = machine->program;
    const struct ast_launch *launch = &program->launch;
    struct stackless *s = ARENA_NEW(arena, struct stackless);
    INVARIANT(!stackless_refuses(machine->semantics));
    bool over_block = stackless_table[spec->policy].over_block;
    *s = (struct stackless){
        .spec = *spec,
        .rng = rng,
        .block_threads = launch->threads,
        .block_units = over_block ? 1 : program->warps_per_block,
        .unit_threads =
            over_block || launch->warp > launch->threads ? launch->threads : launch->warp,
        .lanes = launch->warp,
        .members = ARENA_ARRAY(arena, uint32_t, launch->threads),
        .leader = ARENA_ARRAY(arena, uint32_t, launch->threads),
        .live = ARENA_ARRAY(arena, uint32_t, launch->threads),
        .taken = ARENA_ARRAY(arena, bool, launch->warp),
        .role = ARENA_ARRAY(arena, uint8_t, launch->threads),
    };
    s->unit_count = s->block_units * launch->blocks;
    make_words(s, arena, program->total_threads);
    stackless_find_places(s, arena, program);
    return s;
}
