/*
 * contexts.c - the observer that sees in which contexts rules fire.
 *
 * What a context says is so before the step, so it is kept from one step to the next: of each actor its stack, of each
 * block who waits, who has ended, and what the last step was. Which rules a step fired is told by the machine's
 * counters, as some are no event of their own.
 */
#include "oracle/coverage/contexts.h"

#include "engine/base/invariant.h"
#include "engine/crs/crs.h"
#include "engine/warps/simt.h"
#include "oracle/check/explore.h"

#include <string.h>

const struct context_info context_table[CONTEXT_COUNT] = {
#define CONTEXT(id, group, name, sentence) {name, sentence, CONTEXT_GROUP_##group},
#include "oracle/coverage/contexts.def"
#undef CONTEXT
};

_Static_assert(CONTEXT_COUNT <= 32, "a set of contexts is a word");

enum {
    SEEN_STATEMENTS =
        1024, /* of a program, those of which it is known whether an actor was there */
    DEEP = 4
};

/* A block between two steps. */
struct block_seen {
    uint32_t actor; /* that stepped last; CODE_NONE: nobody has */
    uint32_t waiting, finished;
    uint8_t did; /* enum context, of the neighbour */
    bool passed; /* a barrier */
};

struct actor_seen {
    uint32_t stack; /* bits of the groups stack and depth */
    bool in_function;
    uint64_t statements[SEEN_STATEMENTS / 64];
};

struct contexts_watch {
    struct observer observer;
    struct contexts *seen;
    struct block_seen *blocks;
    struct actor_seen *actors;
    uint32_t block_count, actor_count;
    enum warp_stack stack;
    bool accessed, atomic, passed; /* in the step at hand */
    uint64_t hits[RULE_COUNT];     /* before it */
};

static uint32_t bit(enum context context)
{
    return 1u << context;
}

/* ---- before the step ---- */

static uint32_t stack_of_simt(const struct machine *machine, uint32_t warp)
{
    static const enum context tops[] = {[ENTRY_BRK] = CONTEXT_STACK_BREAK,
                                        [ENTRY_CALL] = CONTEXT_STACK_CALL,
                                        [ENTRY_DIV] = CONTEXT_STACK_DIV,
                                        [ENTRY_SYNC] = CONTEXT_STACK_SYNC};
    struct warp_state s = simt_state(machine, warp);
    uint32_t tokens = 0, top = bit(CONTEXT_STACK_NONE);
    for (uint32_t i = s.depth; i-- > 0;) {
        enum entry_kind kind = entry_kind(s.stack[i]);
        if (kind > ENTRY_CONT && tokens++ == 0)
            top = bit(tops[kind]);
    }
    return top | bit(tokens < DEEP ? CONTEXT_DEPTH_FLAT : CONTEXT_DEPTH_DEEP);
}

static uint32_t stack_of_crs(const struct machine *machine, uint32_t warp)
{
    static const enum context tops[] = {[CRS_BREAK] = CONTEXT_STACK_BREAK,
                                        [CRS_CALL] = CONTEXT_STACK_CALL,
                                        [CRS_DIVERGE] = CONTEXT_STACK_DIV,
                                        [CRS_SYNC] = CONTEXT_STACK_SYNC};
    const struct crs_warp w = crs_warp(machine, warp);
    uint32_t depth = w.state->depth;
    enum context top = depth > 0 ? tops[w.tokens[depth - 1].type] : CONTEXT_STACK_NONE;
    return bit(top) | bit(depth < DEEP ? CONTEXT_DEPTH_FLAT : CONTEXT_DEPTH_DEEP);
}

static uint32_t stack_of(const struct contexts_watch *w, const struct machine *machine,
                         uint32_t actor)
{
    if (w->stack == STACK_SIMT)
        return stack_of_simt(machine, actor);
    return w->stack == STACK_CRS ? stack_of_crs(machine, actor) : 0;
}

/* The kernel's own call, or nothing. */
static uint32_t stack_at_start(const struct contexts_watch *w)
{
    if (w->stack == STACK_NONE)
        return 0;
    enum context top = w->stack == STACK_SIMT ? CONTEXT_STACK_CALL : CONTEXT_STACK_NONE;
    return bit(top) | bit(CONTEXT_DEPTH_FLAT);
}

/* The lanes that were active, of the actors that have lanes. */
static uint32_t lanes_of(const struct contexts_watch *w, const struct machine *machine,
                         const struct step_event *event)
{
    if (w->stack == STACK_NONE)
        return 0;
    uint32_t threads = machine->program->launch.threads, warp = machine->program->launch.warp;
    uint32_t before = event->actor % machine->program->warps_per_block * warp;
    uint32_t lanes = threads - before < warp ? threads - before : warp;
    lane_mask all = lanes >= 64 ? ~(lane_mask)0 : ((lane_mask)1 << lanes) - 1;
    if (event->active == 0)
        return bit(CONTEXT_LANES_NONE);
    return bit(event->active == all ? CONTEXT_LANES_ALL : CONTEXT_LANES_SOME);
}

/* The function that the statement is of; 0: the kernel. */
static bool is_in_function(const struct program *program, uint32_t stm)
{
    return program->ptx ? program->ptx->ops[stm].function != 0 : program->stms[stm].function != 0;
}

static uint32_t history_of(struct contexts_watch *w, const struct machine *machine,
                           const struct step_event *event, const struct block_seen *block)
{
    struct actor_seen *actor = &w->actors[event->actor];
    uint32_t contexts = 0;
    if (event->stm != CODE_NONE && event->stm < machine->program->stm_count) {
        actor->in_function = is_in_function(machine->program, event->stm);
        if (event->stm < SEEN_STATEMENTS) {
            uint64_t *word = &actor->statements[event->stm / 64], mask = 1ull << event->stm % 64;
            contexts |= bit(*word & mask ? CONTEXT_AGAIN : CONTEXT_FIRST);
            *word |= mask;
        }
    }
    if (actor->in_function)
        contexts |= bit(CONTEXT_FUNCTION);
    if (block->passed)
        contexts |= bit(CONTEXT_BEHIND);
    if (block->finished > 0)
        contexts |= bit(CONTEXT_ENDED);
    return contexts;
}

static uint32_t barrier_of(const struct block_seen *block, uint32_t count)
{
    if (block->waiting == 0)
        return bit(CONTEXT_NOBODY_WAITS);
    bool others = block->waiting + block->finished + 1 >= count;
    return bit(others ? CONTEXT_OTHERS_WAIT : CONTEXT_SOME_WAIT);
}

static uint32_t neighbour_of(const struct block_seen *block, uint32_t actor)
{
    if (block->actor == CODE_NONE)
        return bit(CONTEXT_BEGIN);
    return bit(block->actor == actor ? CONTEXT_OWN : (enum context)block->did);
}

/* ---- the step ---- */

static enum context what_was_done(const struct contexts_watch *w, const struct block_seen *block,
                                  const struct machine_group *group)
{
    if (group->waiting != block->waiting || w->passed)
        return CONTEXT_WAITED;
    if (group->finished != block->finished)
        return CONTEXT_END;
    return w->atomic ? CONTEXT_ATOMIC : w->accessed ? CONTEXT_ACCESSED : CONTEXT_OTHER;
}

static void add_rules(struct contexts_watch *w, const struct machine *machine, uint32_t contexts)
{
    for (uint32_t r = 0; r < RULE_COUNT; r++)
        if (machine->hits[r] != w->hits[r])
            w->seen->of[r] |= contexts;
    memcpy(w->hits, machine->hits, sizeof w->hits);
}

static void see_step(void *context, const struct machine *machine, const struct step_event *event)
{
    struct contexts_watch *w = context;
    uint32_t each = machine->actor_count / machine->program->launch.blocks;
    uint32_t number = event->actor / each;
    struct block_seen *block = &w->blocks[number];
    const struct machine_group *group = &machine->groups[number];
    struct actor_seen *actor = &w->actors[event->actor];
    uint32_t contexts = actor->stack | lanes_of(w, machine, event);
    contexts |= history_of(w, machine, event, block);
    contexts |= barrier_of(block, group->count) | neighbour_of(block, event->actor);
    add_rules(w, machine, contexts);
    actor->stack = stack_of(w, machine, event->actor);
    block->did = (uint8_t)what_was_done(w, block, group);
    block->actor = event->actor;
    block->waiting = group->waiting;
    block->finished = group->finished;
    w->accessed = w->atomic = w->passed = false;
}

static void see_row(void *context, enum access_kind kind, const struct access_row *row)
{
    struct contexts_watch *w = context;
    (void)row;
    w->accessed = true;
    w->atomic |= kind == ACCESS_ATOMIC;
}

static void see_read(void *context, uint32_t thread, uint32_t address, uint32_t stm)
{
    (void)thread, (void)address, (void)stm;
    ((struct contexts_watch *)context)->accessed = true;
}

static void see_write(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm)
{
    (void)value;
    see_read(context, thread, address, stm);
}

static void see_atomic(void *context, uint32_t thread, uint32_t address, int32_t value,
                       uint32_t stm)
{
    see_write(context, thread, address, value, stm);
    ((struct contexts_watch *)context)->atomic = true;
}

static void see_barrier(void *context, const struct machine *machine,
                        const struct barrier_event *event)
{
    struct contexts_watch *w = context;
    (void)machine;
    w->passed = true;
    w->blocks[event->block].passed = true;
}

static void see_use(void *context, const struct machine *machine, const struct barrier_use *use)
{
    struct contexts_watch *w = context;
    (void)machine;
    w->passed = true;
    w->blocks[use->block].passed |= use->kind == BARRIER_RELEASES;
}

/* ---- executions ---- */

void contexts_prepare(struct checking *c)
{
    const struct program *program = c->result->program;
    if (!c->options->contexts || c->alone)
        return;
    struct contexts_watch *w = ARENA_NEW(c->arena, struct contexts_watch);
    w->observer = (struct observer){.context = w,
                                    .access_row = see_row,
                                    .read = see_read,
                                    .write = see_write,
                                    .atomic = see_atomic,
                                    .barrier = see_barrier,
                                    .use = see_use,
                                    .step = see_step};
    w->seen = c->options->contexts;
    w->actor_count = program->total_threads;
    w->block_count = program->launch.blocks;
    w->actors = ARENA_ARRAY(c->arena, struct actor_seen, w->actor_count);
    w->blocks = ARENA_ARRAY(c->arena, struct block_seen, w->block_count);
    c->contexts = w;
}

const struct observer *contexts_begin(struct checking *c, enum subject_id subject,
                                      const struct observer *behind)
{
    struct contexts_watch *w = c->contexts;
    const struct machine *machine = c->subjects[subject].machine;
    if (!w || c->result->runs[subject].schedules >= CONTEXTS_EXECUTIONS)
        return behind;
    INVARIANT(machine->actor_count <= w->actor_count);
    w->stack = machine->semantics->stack;
    w->accessed = w->atomic = w->passed = false;
    w->observer.next = behind;
    memset(w->actors, 0, w->actor_count * sizeof *w->actors);
    memset(w->blocks, 0, w->block_count * sizeof *w->blocks);
    for (uint32_t b = 0; b < w->block_count; b++)
        w->blocks[b].actor = CODE_NONE;
    for (uint32_t a = 0; a < machine->actor_count; a++)
        w->actors[a].stack = stack_at_start(w);
    memcpy(w->hits, machine->hits, sizeof w->hits);
    return &w->observer;
}
