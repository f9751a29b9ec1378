/*
 * follow_state.c - the engine's state beside the reference's: numbers, slices and bits against trees, lists and tables.
 */
#include "oracle/steps/follower.h"

#include "engine/blocks/interleave.h"
#include "engine/blocks/lockstep.h"
#include "engine/convergence/convergence.h"
#include "engine/warps/simt.h"
#include "engine/warps/threads.h"

#include <stdio.h>
#include <string.h>

void follow_part(struct follower *f, const char *observable, const char *engine,
                 const char *reference)
{
    f->state = FOLLOW_PARTED;
    f->observable = observable;
    snprintf(f->engine_has, sizeof f->engine_has, "%s", engine);
    snprintf(f->reference_has, sizeof f->reference_has, "%s", reference);
}

void follow_part_numbers(struct follower *f, const char *observable, int64_t engine,
                         int64_t reference)
{
    char a[24], b[24];
    snprintf(a, sizeof a, "%lld", (long long)engine);
    snprintf(b, sizeof b, "%lld", (long long)reference);
    follow_part(f, observable, a, b);
}

void follow_part_early(struct follower *f, const char *observable)
{
    follow_part(f, observable, rule_table[f->rule].name, "none");
    f->too_early = true;
}

void follow_compare_ways(struct follower *f)
{
    if (!f->hears_choices || f->offered >= f->ways)
        return;
    f->lost = true;
    follow_part_numbers(f, "ways to choose from", (int64_t)f->offered, (int64_t)f->ways);
}

/* ---- memory ---- */

void follow_compare_memory(struct follower *f, const int32_t *memory)
{
    const struct ref *r = f->reference;
    if (memcmp(memory, r->memory, r->words * sizeof *memory) == 0)
        return;
    uint32_t i = 0;
    while (memory[i] == r->memory[i])
        i++;
    follow_part_numbers(f,
                        i < r->shared_base    ? "global memory"
                        : i < r->private_base ? "shared memory"
                                              : "private memory",
                        memory[i], r->memory[i]);
}

/* The frame on top: parameters and variables in order of declaration; and how many choices the thread has made. */
static void compare_frame(struct follower *f, uint32_t thread)
{
    const struct ref_frame *frame = f->reference->threads[thread].frames;
    const struct thread_context *context = &f->machine->threads[thread];
    const int32_t *words = &f->machine->memory[context->base[SPACE_LOCAL]];
    if (context->choices != f->reference->threads[thread].choices) {
        follow_part_numbers(f, "choices", context->choices, f->reference->threads[thread].choices);
        return;
    }
    if (memcmp(words, frame->values, frame->words * sizeof *words) == 0)
        return;
    for (uint32_t i = 0; i < frame->words; i++)
        if (words[i] != frame->values[i]) {
            follow_part_numbers(f, "local memory", words[i], frame->values[i]);
            return;
        }
}

/* ---- stacks of threads and warps ---- */

/* Whether the engine's statement is the tree's. */
static bool is_statement(const struct program *program, uint32_t number, const struct ast_stm *stm)
{
    const struct code_stm *code = &program->stms[number];
    return stm == &ref_skip ? code->kind == CODE_SKIP : code->source == stm;
}

/* One of the engine's entries, a slice of statements, a loop, a context or token. What is left of the list. */
static const struct ref_item *compare_entry(struct follower *f, stack_entry entry,
                                            const struct ref_item *item)
{
    static const enum ref_item_kind kinds[] = {
        [ENTRY_STM] = REF_STM,   [ENTRY_CONT] = REF_CONT, [ENTRY_BRK] = REF_BRK,
        [ENTRY_CALL] = REF_CALL, [ENTRY_DIV] = REF_DIV,   [ENTRY_SYNC] = REF_SYNC};
    uint32_t number = entry_number(entry);
    if (!item || item->kind != kinds[entry_kind(entry)]) {
        follow_part_numbers(f, "stack", entry_kind(entry), item ? (int64_t)item->kind : -1);
        return NULL;
    }
    if (entry_kind(entry) == ENTRY_CONT && !is_statement(f->program, number, item->stm))
        follow_part(f, "stack", "another loop", "while");
    if (entry_kind(entry) != ENTRY_STM)
        return item->rest;
    for (;; number++, item = item->rest) {
        if (!item || item->kind != REF_STM || !is_statement(f->program, number, item->stm)) {
            follow_part_numbers(f, "stack", f->program->stms[number].line,
                                item && item->stm ? (int64_t)item->stm->at.line : -1);
            return NULL;
        }
        if (f->program->stms[number].last)
            return item->rest;
    }
}

/* The number of calls decides when a stack is too deep. */
static void compare_calls(struct follower *f, uint32_t calls, const struct ref_item *stack)
{
    if (f->state == FOLLOW_ALONG && calls != ref_calls_on(stack))
        follow_part_numbers(f, "calls", calls, ref_calls_on(stack));
}

static void compare_thread(struct follower *f, uint32_t thread)
{
    const struct thread_state *T = threads_state(f->machine, thread);
    const struct ref_item *item = f->reference->actors[thread].stack;
    bool evaluated = item && item->kind == REF_EVALUATED;
    struct ref_item statement;
    if (evaluated != (T->pending != 0)) {
        follow_part_numbers(f, "evaluated assignment", T->pending, evaluated);
        return;
    }
    if (evaluated) {
        if ((int32_t)T->value != item->value)
            follow_part_numbers(f, "evaluated value", (int32_t)T->value, item->value);
        statement = *item;
        statement.kind = REF_STM;
        item = &statement;
    }
    for (uint32_t i = T->depth; i-- > 0 && f->state == FOLLOW_ALONG;)
        item = compare_entry(f, T->stack[i], item);
    if (item && f->state == FOLLOW_ALONG)
        follow_part_numbers(f, "depth of the stack", T->depth, -1);
    compare_calls(f, T->calls, f->reference->actors[thread].stack);
}

/* ---- warps ---- */

static bool same_lanes(lane_mask mask, const struct ref_lanes *lanes, uint32_t count)
{
    for (uint32_t l = 0; l < count; l++)
        if ((mask >> l & 1) != lanes->has[l])
            return false;
    return count == LIMIT_WARP || mask >> count == 0;
}

static void part_lanes(struct follower *f, const char *observable, lane_mask mask,
                       const struct ref_lanes *lanes, uint32_t count)
{
    char engine[LIMIT_WARP + 1] = {0}, reference[LIMIT_WARP + 1] = {0};
    for (uint32_t l = 0; l < count; l++) {
        engine[l] = mask >> l & 1 ? '1' : '0';
        reference[l] = lanes->has[l] ? '1' : '0';
    }
    follow_part(f, observable, engine, reference);
}

static void compare_masks(struct follower *f, const struct warp_state *state,
                          const struct ref_actor *w)
{
    if (!same_lanes(state->theta, &w->theta, w->lanes))
        part_lanes(f, "active mask", state->theta, &w->theta, w->lanes);
    for (uint32_t l = 0; l < w->lanes && f->state == FOLLOW_ALONG; l++) {
        const char engine[] = {simt_disable_state(state, l), 0}, reference[] = {w->delta[l], 0};
        if (engine[0] != reference[0])
            follow_part(f, "disable mask", engine, reference);
    }
}

static void compare_warp(struct follower *f, uint32_t warp)
{
    struct warp_state state = simt_state(f->machine, warp);
    const struct ref_actor *w = &f->reference->actors[warp];
    const struct ref_item *item = w->stack;
    compare_masks(f, &state, w);
    for (uint32_t i = state.depth; i-- > 0 && f->state == FOLLOW_ALONG;) {
        bool is_token = entry_kind(state.stack[i]) >= ENTRY_BRK;
        const struct ref_item *top = item;
        item = compare_entry(f, state.stack[i], item);
        if (f->state == FOLLOW_ALONG && is_token &&
            !same_lanes(state.masks[i], &top->mask, w->lanes))
            part_lanes(f, "mask of a token", state.masks[i], &top->mask, w->lanes);
    }
    if (item && f->state == FOLLOW_ALONG)
        follow_part_numbers(f, "depth of the stack", state.depth, -1);
    compare_calls(f, state.calls, w->stack);
    for (uint32_t l = 0; l < w->lanes && f->state == FOLLOW_ALONG; l++)
        compare_frame(f, w->first_thread + l);
}

/* ---- splits of a warp ---- */

/* Whether the split that the lane leads has this stack; whether it waits. */
static void compare_split(struct follower *f, const struct convergence_split *split, uint32_t count)
{
    const struct ref_actor *x = &f->reference->actors[split->leader];
    const struct ref_item *item = x->stack;
    const struct ref_lanes theta = ref_splits_lanes(f->reference, split->leader);
    if (!same_lanes(split->theta, &theta, count))
        part_lanes(f, "active mask", split->theta, &theta, count);
    else if (split->waits != x->arrived)
        follow_part_numbers(f, "waiting", split->waits, x->arrived);
    for (uint32_t i = split->depth; i-- > 0 && f->state == FOLLOW_ALONG;) {
        const struct ref_item *top = item;
        item = compare_entry(f, split->stack[i], item);
        if (f->state == FOLLOW_ALONG && entry_kind(split->stack[i]) >= ENTRY_BRK &&
            !same_lanes(split->masks[i], &top->mask, count))
            part_lanes(f, "mask of a token", split->masks[i], &top->mask, count);
    }
    if (item && f->state == FOLLOW_ALONG)
        follow_part_numbers(f, "depth of the stack", split->depth, -1);
    compare_calls(f, split->calls, x->stack);
}

/* All splits of the lane's warp, each at its leader. */
static void compare_splits(struct follower *f, uint32_t thread)
{
    const struct ref_actor *w = &f->reference->actors[thread];
    for (uint32_t l = 0; l < w->lanes && f->state == FOLLOW_ALONG; l++) {
        uint32_t t = w->first_thread + l;
        const struct convergence_split split = convergence_split(f->machine, t);
        bool ended = !f->reference->actors[t].stack;
        if (ended || split.depth == 0) {
            if (!ended || split.depth > 0)
                follow_part_numbers(f, "depth of the stack", split.depth, ended ? 0 : -1);
            continue;
        }
        uint32_t leader = ref_splits_leader(f->reference, t);
        if (split.leader != leader)
            follow_part_numbers(f, "leader", split.leader, leader);
        else if (leader == t)
            compare_split(f, &split, w->lanes);
        if (f->state == FOLLOW_ALONG)
            compare_frame(f, t);
    }
}

/* ---- blocks ---- */

static bool same_name(const char *a, const char *b)
{
    return a == b || strcmp(a, b) == 0;
}

static void compare_place(struct follower *f, uint32_t pc, const struct ref_actor *x)
{
    const struct program *program = f->program;
    if (pc & PC_BLOCK) {
        const char *block = pc == PC_END ? "End" : program->blocks[pc & ~PC_BLOCK].name;
        const char *other = x->block ? x->block->name : "End";
        if (x->inside || !same_name(block, other))
            follow_part(f, "block", block, other);
        return;
    }
    const struct code_stm *code = &program->stms[pc];
    bool leaves = code->kind == CODE_GOTO || code->kind == CODE_END_CALL;
    if (!x->inside || !same_name(program->blocks[code->block].name, x->block->name))
        follow_part(f, "block", program->blocks[code->block].name,
                    x->block ? x->block->name : "End");
    else if (leaves ? x->next != NULL : !x->next || !is_statement(program, pc, x->next))
        follow_part_numbers(f, "statement", code->line, x->next ? (int64_t)x->next->at.line : -1);
}

static void compare_block_thread(struct follower *f, uint32_t thread)
{
    const struct block_thread *T = interleave_state(f->machine, thread);
    const struct ref_actor *x = &f->reference->actors[thread];
    compare_place(f, T->pc, x);
    if (f->state == FOLLOW_ALONG && T->frames != f->reference->threads[thread].depth)
        follow_part_numbers(f, "frames", T->frames, f->reference->threads[thread].depth);
    if (f->state == FOLLOW_ALONG && (T->waiting != 0) != x->waits)
        follow_part_numbers(f, "waiting", T->waiting, x->waits);
    if (f->state == FOLLOW_ALONG)
        compare_frame(f, thread);
}

static void compare_vector(struct follower *f, uint32_t block)
{
    const struct lockstep_state L = lockstep_state(f->machine, block);
    const struct ref *r = f->reference;
    uint32_t count = r->kernel->launch.threads, first = block * count;
    compare_place(f, L.pc, &r->actors[block]);
    if (f->state == FOLLOW_ALONG && L.frames != r->threads[first].depth)
        follow_part_numbers(f, "frames", L.frames, r->threads[first].depth);
    for (uint32_t i = 0; i < count && f->state == FOLLOW_ALONG; i++)
        compare_frame(f, first + i);
}

void follow_compare_actor(struct follower *f, uint32_t actor)
{
    switch (f->reference->kind) {
    case REF_THREADS:
        compare_thread(f, actor);
        if (f->state == FOLLOW_ALONG)
            compare_frame(f, actor);
        break;
    case REF_SIMT:
        compare_warp(f, actor);
        break;
    case REF_INTERLEAVE:
        compare_block_thread(f, actor);
        break;
    case REF_LOCKSTEP:
        compare_vector(f, actor);
        break;
    case REF_SPLITS:
        compare_splits(f, actor);
        break;
    }
}

/* ---- what is told of a step, before the reference has taken it ---- */

/* The statement that is to come; NULL: none, a token, a context, nobody active, a block to enter, End, a goto. */
static const struct ast_stm *next_of(const struct ref *r, const struct ref_actor *x)
{
    if (r->kind == REF_INTERLEAVE || r->kind == REF_LOCKSTEP)
        return x->inside ? x->next : NULL;
    bool active = r->kind == REF_THREADS || r->kind == REF_SPLITS;
    for (uint32_t l = 0; l < x->lanes; l++)
        active = active || x->theta.has[l];
    bool is_statement_on_top =
        x->stack->kind == REF_STM || x->stack->kind == REF_CONT || x->stack->kind == REF_EVALUATED;
    return active && is_statement_on_top ? x->stack->stm : NULL;
}

static bool is_jump(const struct program *program, uint32_t number)
{
    enum code_kind kind = program->stms[number].kind;
    return kind == CODE_GOTO || kind == CODE_END_CALL;
}

static void compare_active(struct follower *f, lane_mask active, const struct ref_lanes *lanes,
                           uint32_t count)
{
    if (!same_lanes(active, lanes, count))
        part_lanes(f, "active mask told", active, lanes, count);
}

/* Of a vector the first 64 components. */
static void compare_enabled(struct follower *f, const struct step_event *event)
{
    const uint32_t each = f->program->launch.threads, count = each < LIMIT_WARP ? each : LIMIT_WARP;
    struct ref_lanes lanes = {{false}};
    for (uint32_t i = 0; i < count; i++)
        lanes.has[i] = ref_lockstep_enabled(f->reference, event->actor, event->actor * each + i);
    compare_active(f, event->active, &lanes, count);
}

void follow_compare_event(struct follower *f, const struct step_event *event)
{
    const struct ref_actor *x = &f->reference->actors[event->actor];
    const struct ast_stm *next = event->rule == RULE_CONV_JOIN ? NULL : next_of(f->reference, x);
    bool none =
        event->stm == CODE_NONE || (x->inside && !x->next && is_jump(f->program, event->stm));
    if (next ? event->stm == CODE_NONE || !is_statement(f->program, event->stm, next) : !none)
        follow_part_numbers(f, "statement told",
                            event->stm == CODE_NONE ? 0 : f->program->stms[event->stm].line,
                            next ? (int64_t)next->at.line : -1);
    else if (f->reference->kind == REF_LOCKSTEP)
        compare_enabled(f, event);
    else if (f->reference->kind == REF_SIMT)
        compare_active(f, event->active, &x->theta, x->lanes);
    else if (f->reference->kind == REF_SPLITS) {
        const struct ref_lanes theta = ref_splits_lanes(f->reference, event->actor);
        compare_active(f, event->active, &theta, x->lanes);
    }
}
