#include "oracle/lemma6/lemma6.h"

#include "engine/language/eval_ops.h"
#include "engine/machine/observer.h"
#include "oracle/lemma6/lemma6_internal.h"

#include <inttypes.h>
#include <string.h>

/* ---- lanes on their way ---- */

/* States of lanes, `words` values each. */
struct lanes {
    lane_mask present;
    struct l6_value *values;
    uint64_t *steps; /* of the thread semantics, so far */
};

struct analysis {
    struct arena *arena;
    const struct program *program;
    struct l6_memory memory;
    uint64_t max_steps;
    uint32_t lanes, first_thread;
    uint32_t words;     /* of a lane */
    struct lanes now;   /* present: lanes that may be active */
    struct lanes *loop; /* those that have left the innermost loop ... */
    struct lanes *call; /* ... and the innermost call */
    uint32_t calls;
    uint64_t steps;                  /* of the warp */
    uint64_t *ended;                 /* a lane: steps of its thread when it ended, at most */
    const char *failed, *failed_end; /* why: a sentence, or the parts of one around `number` */
    uint64_t number;
};

/* Not a text in the arena yet: scratch memory is given back meanwhile. */
static void fail(struct analysis *a, const char *why, uint64_t number, const char *end)
{
    if (a->failed)
        return;
    a->failed = why;
    a->number = number;
    a->failed_end = end;
}

static void warp_step(struct analysis *a)
{
    if (++a->steps > a->max_steps)
        fail(a, "more than ", a->max_steps, " steps");
}

static uint32_t lowest_lane(lane_mask mask)
{
    return (uint32_t)__builtin_ctzll(mask);
}

#define EACH_LANE(lane, mask)                                                                      \
    for (lane_mask rest = (mask); rest && ((lane) = lowest_lane(rest), true); rest &= rest - 1)

static void thread_steps(struct analysis *a, lane_mask mask, uint64_t steps)
{
    uint32_t lane;
    EACH_LANE(lane, mask)
    a->now.steps[lane] += steps;
}

static struct l6_value *values_of(const struct analysis *a, const struct lanes *lanes,
                                  uint32_t lane)
{
    return lanes->values + (size_t)lane * a->words;
}

/* Words that hold something: of what lies outside of frames, and of frames up to that of now. */
static uint32_t extent(const struct analysis *a)
{
    return a->memory.frame + a->memory.frame_words;
}

/* Room for the states of some lanes; nobody is there yet. NULL values: there is none. */
static struct lanes lanes_new(struct analysis *a)
{
    size_t bytes = (size_t)a->lanes * (a->words * sizeof(struct l6_value) + sizeof(uint64_t));
    if (a->arena->size - a->arena->used < 4 * bytes + 65536) {
        fail(a, "too much private memory", 0, NULL);
        return (struct lanes){.present = 0};
    }
    return (struct lanes){.values =
                              ARENA_ARRAY(a->arena, struct l6_value, (size_t)a->lanes * a->words),
                          .steps = ARENA_ARRAY(a->arena, uint64_t, a->lanes)};
}

/* The lane as it is now may be there, too. */
static void join_lane(const struct analysis *a, const struct lanes *from, struct lanes *into,
                      uint32_t lane)
{
    const struct l6_value *source = values_of(a, from, lane);
    struct l6_value *target = values_of(a, into, lane);
    if (!(into->present >> lane & 1)) {
        memcpy(target, source, extent(a) * sizeof *target);
        into->steps[lane] = from->steps[lane];
        into->present |= (lane_mask)1 << lane;
        return;
    }
    for (uint32_t i = 0; i < extent(a); i++)
        target[i] = l6_join(target[i], source[i]);
    if (into->steps[lane] < from->steps[lane])
        into->steps[lane] = from->steps[lane];
}

static void join(struct analysis *a, const struct lanes *from, struct lanes *into, lane_mask mask)
{
    uint32_t lane;
    if (a->failed)
        return;
    EACH_LANE(lane, mask)
    join_lane(a, from, into, lane);
}

/* Lanes leave for `into`: they are active no longer. */
static void leave(struct analysis *a, struct lanes *into, lane_mask mask)
{
    join(a, &a->now, into, mask);
    a->now.present &= ~mask;
}

/* Lanes that have left come back: everybody that is there. */
static void come_back(struct analysis *a, struct lanes *from)
{
    a->now.present = 0;
    join(a, from, &a->now, from->present);
}

/* ---- guards ---- */

struct truth {
    lane_mask holds, fails; /* lanes may be in both */
};

static struct truth guard(struct analysis *a, uint32_t expr)
{
    struct truth truth = {0, 0};
    uint32_t lane;
    EACH_LANE(lane, a->now.present)
    {
        struct l6_value v =
            l6_eval(&a->memory, a->first_thread + lane, values_of(a, &a->now, lane), expr);
        if (!v.known || v.value != 0)
            truth.holds |= (lane_mask)1 << lane;
        if (!v.known || v.value == 0)
            truth.fails |= (lane_mask)1 << lane;
    }
    return truth;
}

/* ---- statements ---- */

/* Whether a jump was the last to be executed: then nothing of the list is left. */
static bool run_list(struct analysis *a, uint32_t list);

static void run_path(struct analysis *a, uint32_t list, lane_mask lanes)
{
    a->now.present = lanes;
    (void)run_list(a, list);
    warp_step(a); /* its token */
}

/*  if: S2 div_A S1 sync_Theta */
static void run_if(struct analysis *a, const struct code_stm *s)
{
    size_t mark = arena_mark(a->arena);
    struct truth truth = guard(a, s->value);
    lane_mask both = truth.holds & truth.fails;
    struct lanes before = {.present = 0}, after = {.present = 0};
    thread_steps(a, a->now.present, 1);
    if (both) {
        before = lanes_new(a);
        after = lanes_new(a);
        join(a, &a->now, &before, both);
    }
    run_path(a, s->second, truth.fails);
    if (a->failed)
        return;
    lane_mask left = a->now.present & ~both;
    leave(a, &after, a->now.present & both);
    a->now.present = 0;
    join(a, &before, &a->now, both);
    run_path(a, s->first, truth.holds);
    if (a->failed)
        return;
    a->now.present |= left;
    join(a, &after, &a->now, after.present);
    arena_release(a->arena, mark);
}

/* The state at the head of a loop, to be compared with later ones. */
struct head {
    struct lanes lanes;
    uint64_t trips, next;
};

static bool same_head(const struct analysis *a, const struct head *head)
{
    uint32_t lane;
    if (a->now.present == 0 || head->lanes.present != a->now.present)
        return false;
    EACH_LANE(lane, a->now.present)
    if (memcmp(values_of(a, &head->lanes, lane), values_of(a, &a->now, lane),
               extent(a) * sizeof(struct l6_value)) != 0)
        return false;
    return true;
}

/* Brent's: a state that comes back does so for ever. */
static void look_back(struct analysis *a, struct head *head, const struct code_stm *s)
{
    if (same_head(a, head))
        fail(a, "the loop of line ", s->line, " may go on for ever");
    if (head->trips++ < head->next)
        return;
    head->lanes.present = 0;
    join(a, &a->now, &head->lanes, a->now.present);
    head->next *= 2;
}

/*  while: S while^o (e) S brk_Theta. Whoever is told that the guard does not hold waits for the brk. */
static void run_while(struct analysis *a, const struct code_stm *s)
{
    size_t mark = arena_mark(a->arena);
    struct lanes exits = lanes_new(a), *outer = a->loop;
    struct head head = {.lanes = lanes_new(a), .next = 1};
    if (a->failed)
        return;
    struct truth truth = guard(a, s->value);
    thread_steps(a, a->now.present, 1);
    join(a, &a->now, &exits, truth.fails);
    a->now.present = truth.holds;
    a->loop = &exits;
    for (;;) {
        look_back(a, &head, s);
        bool jumped = run_list(a, s->first); /* nobody there: S and while^o go in one step */
        if (a->failed)
            return;
        if (a->now.present == 0) {
            if (!jumped)
                warp_step(a);
            break;
        }
        warp_step(a);
        thread_steps(a, a->now.present, 1);
        truth = guard(a, s->value);
        /* Out of the loop: one step more, for the context. */
        thread_steps(a, truth.fails, 1);
        join(a, &a->now, &exits, truth.fails);
        thread_steps(a, truth.fails & truth.holds, (uint64_t)-1);
        a->now.present = truth.holds;
    }
    warp_step(a); /* brk */
    a->loop = outer;
    come_back(a, &exits);
    arena_release(a->arena, mark);
}

/* A body and its call token; who returns, or comes to the end, waits for it. */
static void run_body(struct analysis *a, uint32_t list)
{
    struct lanes *outer_loop = a->loop, *outer_call = a->call;
    struct lanes exits = lanes_new(a);
    a->loop = NULL;
    a->call = &exits;
    (void)run_list(a, list);
    thread_steps(a, a->now.present, 1);
    if (a->failed)
        return;
    leave(a, &exits, a->now.present);
    warp_step(a);
    come_back(a, &exits);
    a->loop = outer_loop;
    a->call = outer_call;
}

static void run_call(struct analysis *a, const struct code_stm *s)
{
    const struct code_function *callee = &a->program->functions[s->first];
    uint32_t frame = a->memory.frame, frame_words = a->memory.frame_words, lane;
    size_t mark = arena_mark(a->arena);
    if (a->calls == LIMIT_CALL_DEPTH) {
        fail(a, "the call of line ", s->line, " recurs");
        return;
    }
    thread_steps(a, a->now.present, 1);
    a->memory.frame += frame_words;
    a->memory.frame_words = callee->frame_words;
    EACH_LANE(lane, a->now.present)
    for (uint32_t i = 0; i < callee->frame_words; i++)
        values_of(a, &a->now, lane)[a->memory.frame + i] =
            l6_known(a->program->frame_init[callee->init_first + i]);
    a->calls++;
    run_body(a, callee->body);
    a->calls--;
    a->memory.frame = frame;
    a->memory.frame_words = frame_words;
    if (!a->failed)
        arena_release(a->arena, mark);
}

static void end_lanes(struct analysis *a)
{
    uint32_t lane;
    EACH_LANE(lane, a->now.present)
    if (a->ended[lane] < a->now.steps[lane])
        a->ended[lane] = a->now.steps[lane];
    a->now.present = 0;
}

/* Private memory that is written; saddr(eta) holds anything anyhow. */
static void run_write(struct analysis *a, const struct code_stm *s)
{
    uint32_t lane;
    thread_steps(a, a->now.present, s->kind == CODE_ASSIGN ? 2 : 1);
    EACH_LANE(lane, a->now.present)
    {
        struct l6_value *values = values_of(a, &a->now, lane), v = {0, false};
        if (s->kind == CODE_ASSIGN)
            v = l6_eval(&a->memory, a->first_thread + lane, values, s->value);
        if (s->kind != CODE_VOTE)
            l6_write(&a->memory, a->first_thread + lane, values, &s->place, v);
        if ((s->kind == CODE_ATOMIC || s->kind == CODE_VOTE) && s->target.length > 0)
            l6_write(&a->memory, a->first_thread + lane, values, &s->target,
                     (struct l6_value){0, false});
    }
}

/* Returns whether it is a jump. */
static bool run_statement(struct analysis *a, const struct code_stm *s)
{
    switch (s->kind) {
    case CODE_SKIP:
    case CODE_ASSERT: /* who fails ends the execution */
    case CODE_ASSUME:
    case CODE_BARRIER:
        thread_steps(a, a->now.present, 1);
        return false;
    case CODE_ASSIGN:
    case CODE_HAVOC:
    case CODE_ATOMIC:
    case CODE_VOTE:
        run_write(a, s);
        return false;
    case CODE_IF:
        run_if(a, s);
        return false;
    case CODE_WHILE:
        run_while(a, s);
        return false;
    case CODE_CALL:
        run_call(a, s);
        return false;
    case CODE_BREAK:
        thread_steps(a, a->now.present, 1);
        leave(a, a->loop, a->now.present);
        return true;
    case CODE_RETURN:
        thread_steps(a, a->now.present, 1);
        leave(a, a->call, a->now.present);
        return true;
    case CODE_EXIT:
        thread_steps(a, a->now.present, 1);
        end_lanes(a);
        return true;
    case CODE_GOTO:
    case CODE_END_CALL:
    case CODE_PICK:
    case CODE_LOCKSYNC:
    case CODE_PTX:
        break;
    }
    fail(a, "not a structured program", 0, NULL);
    return false;
}

static bool run_list(struct analysis *a, uint32_t list)
{
    for (uint32_t number = list; !a->failed; number++) {
        const struct code_stm *s = &a->program->stms[number];
        warp_step(a); /* inact, when nobody is active: it takes all that is left */
        if (a->now.present == 0)
            return true;
        if (run_statement(a, s))
            return true;
        if (s->last)
            return false;
    }
    return false;
}

/* ---- warps ---- */

static void start_lanes(struct analysis *a)
{
    const struct code_function *kernel = &a->program->functions[0];
    a->memory.frame = a->memory.base[SPACE_LOCAL];
    a->memory.frame_words = kernel->frame_words;
    a->now = lanes_new(a);
    a->ended = ARENA_ARRAY(a->arena, uint64_t, a->lanes);
    a->calls = 1;
    a->steps = 0;
    for (uint32_t lane = 0; lane < a->lanes && !a->failed; lane++) {
        l6_start(&a->memory, a->first_thread + lane, values_of(a, &a->now, lane));
        a->now.present |= (lane_mask)1 << lane;
    }
}

static void run_warp(struct analysis *a, uint32_t warp)
{
    const struct ast_launch *launch = &a->program->launch;
    uint32_t block = warp / a->program->warps_per_block;
    uint32_t first = warp % a->program->warps_per_block * launch->warp;
    a->lanes = launch->threads - first < launch->warp ? launch->threads - first : launch->warp;
    a->first_thread = block * launch->threads + first;
    start_lanes(a);
    if (a->failed)
        return;
    run_body(a, a->program->functions[0].body);
    end_lanes(a);
}

static void add_bounds(const struct analysis *a, struct lemma6 *result)
{
    result->all_warp_steps += a->steps;
    if (result->warp_steps < a->steps)
        result->warp_steps = a->steps;
    for (uint32_t lane = 0; lane < a->lanes; lane++) {
        result->all_thread_steps += a->ended[lane];
        if (result->thread_steps < a->ended[lane])
            result->thread_steps = a->ended[lane];
    }
}

static struct lemma6 analyse(struct arena *arena, const struct program *program, uint64_t max_steps,
                             bool constants)
{
    size_t mark = arena_mark(arena);
    struct analysis a = {.arena = arena, .program = program, .max_steps = max_steps};
    struct lemma6 result = {.constants = constants, .has_threads = !program->has_votes};
    a.memory = l6_memory_new(arena, program, constants);
    a.words = a.memory.words;
    for (uint32_t warp = 0; warp < program->warp_count && !a.failed; warp++) {
        size_t warp_mark = arena_mark(arena);
        run_warp(&a, warp);
        if (a.failed)
            break;
        add_bounds(&a, &result);
        arena_release(arena, warp_mark);
    }
    result.holds = !a.failed;
    arena_release(arena, mark);
    if (a.failed)
        result.why_not =
            a.failed_end ? arena_printf(arena, "%s%" PRIu64 "%s", a.failed, a.number, a.failed_end)
                         : a.failed;
    return result;
}

struct lemma6 lemma6_holds(struct arena *arena, const struct program *program, uint64_t max_steps)
{
    struct lemma6 result = analyse(arena, program, max_steps, false);
    if (result.holds || !l6_has_constants(program))
        return result;
    struct lemma6 with_constants = analyse(arena, program, max_steps, true);
    return with_constants.holds ? with_constants : result;
}
