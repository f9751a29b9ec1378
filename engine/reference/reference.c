/*
 * reference.c - an execution: its start, its steps, and the barriers of thread blocks.
 */
#include "engine/reference/ref_internal.h"

bool ref_find(const char *semantics, enum ref_kind *kind)
{
    static const char *const names[] = {[REF_THREADS] = "threads",
                                        [REF_SIMT] = "simt",
                                        [REF_INTERLEAVE] = "interleave",
                                        [REF_LOCKSTEP] = "lockstep",
                                        [REF_SPLITS] = "convergence"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], semantics) == 0) {
            *kind = (enum ref_kind)i;
            return true;
        }
    return false;
}

static bool runs_blocks(enum ref_kind kind)
{
    return kind == REF_INTERLEAVE || kind == REF_LOCKSTEP;
}

struct ref *ref_new(struct arena *arena, struct ref_room *room, const struct ast_kernel *kernel,
                    enum ref_kind kind, const struct ref_options *options, const char **why)
{
    const struct ast_launch *launch = &kernel->launch;
    struct ref *r = ARENA_NEW(arena, struct ref);
    *r = (struct ref){.kind = kind, .options = *options, .kernel = kernel, .room = room};
    r->thread_count = launch->threads * launch->blocks;
    r->warps_a_block = (launch->threads + launch->warp - 1) / launch->warp;
    r->actors_a_block = kind == REF_SIMT       ? r->warps_a_block
                        : kind == REF_LOCKSTEP ? 1
                                               : launch->threads;
    r->actor_count = r->actors_a_block * launch->blocks;
    r->threads = ARENA_ARRAY(arena, struct ref_thread, r->thread_count);
    r->actors = ARENA_ARRAY(arena, struct ref_actor, r->actor_count);
    if (!ref_layout(r, arena, why) || (kind == REF_INTERLEAVE && !ref_graphs_new(r, arena, why)))
        return NULL;
    return r;
}

void ref_start(struct ref *r, const int32_t *inputs)
{
    ref_room_clear(r->room);
    memset(r->threads, 0, r->thread_count * sizeof *r->threads);
    memset(r->actors, 0, r->actor_count * sizeof *r->actors);
    r->end = REF_RUNNING;
    r->unknown = r->misled = NULL;
    r->access_count = 0;
    ref_initialise(r, inputs);
    switch (r->kind) {
    case REF_THREADS:
        ref_threads_start(r);
        break;
    case REF_SIMT:
        ref_warps_start(r);
        break;
    case REF_INTERLEAVE:
        ref_blocks_start(r);
        break;
    case REF_LOCKSTEP:
        ref_lockstep_start(r);
        break;
    case REF_SPLITS:
        ref_splits_start(r);
        break;
    }
}

static bool is_final(const struct ref *r, const struct ref_actor *x)
{
    return runs_blocks(r->kind) ? x->ended : !x->stack;
}

bool ref_is_live(const struct ref *r, uint32_t actor)
{
    const struct ref_actor *x = &r->actors[actor];
    if (is_final(r, x) || x->waits)
        return false;
    return r->kind != REF_SPLITS || (!x->arrived && ref_splits_leader(r, actor) == actor);
}

uint32_t ref_live_count(const struct ref *r)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->actor_count; i++)
        count += ref_is_live(r, i);
    return count;
}

/* The execution has ended when every actor is final. */
static void find_end(struct ref *r)
{
    for (uint32_t i = 0; i < r->actor_count; i++)
        if (!is_final(r, &r->actors[i]))
            return;
    r->end = REF_TERMINATED;
}

enum rule ref_step(struct ref *r, uint32_t actor, const struct ref_told *told)
{
    enum rule rule = RULE_NONE;
    r->access_count = 0;
    r->nobody = false;
    r->ways = 1;
    r->told = told;
    r->choices_taken = 0;
    switch (r->kind) {
    case REF_THREADS:
        rule = ref_threads_step(r, actor);
        break;
    case REF_SIMT:
        rule = ref_warps_step(r, actor, told);
        break;
    case REF_INTERLEAVE:
        rule = ref_blocks_step(r, actor);
        break;
    case REF_LOCKSTEP:
        rule = ref_lockstep_step(r, actor, told);
        break;
    case REF_SPLITS:
        rule = ref_splits_step(r, actor, told);
        break;
    }
    if (r->end == REF_RUNNING && is_final(r, &r->actors[actor]))
        find_end(r);
    return rule;
}

/* ---- barriers ---- */

static bool same_barrier(const struct ref *r, uint32_t a, uint32_t b)
{
    return r->kind == REF_INTERLEAVE ? ref_blocks_together(r, a, b)
                                     : ref_same_stack(r->actors[a].stack, r->actors[b].stack);
}

static enum rule rule_s(const struct ref *r)
{
    return r->kind == REF_THREADS  ? RULE_THR_BARRIER_S
           : r->kind == REF_SIMT   ? RULE_SIMT_BARRIER_S
           : r->kind == REF_SPLITS ? RULE_CONV_BARRIER_S
                                   : RULE_INTK_BARRIER_S;
}

static enum rule rule_f(const struct ref *r)
{
    return r->kind == REF_THREADS  ? RULE_THR_BARRIER_F
           : r->kind == REF_SIMT   ? RULE_SIMT_BARRIER_F
           : r->kind == REF_SPLITS ? RULE_CONV_BARRIER_F
                                   : RULE_INTK_BARRIER_F;
}

/* Nobody of the block can go on alone, and somebody waits. barrier_S: all wait, at one barrier; otherwise barrier_F. */
enum rule ref_barrier_rule(const struct ref *r, uint32_t block)
{
    uint32_t first = block * r->actors_a_block, waiting = 0;
    bool together = true;
    if (r->end != REF_RUNNING)
        return RULE_NONE;
    for (uint32_t i = first; i < first + r->actors_a_block; i++) {
        if (ref_is_live(r, i))
            return RULE_NONE;
        waiting += r->actors[i].waits;
        together = together && r->actors[i].waits && same_barrier(r, first, i);
    }
    if (waiting == 0)
        return RULE_NONE;
    return together ? rule_s(r) : rule_f(r);
}

static void pass(struct ref *r, uint32_t actor)
{
    struct ref_actor *x = &r->actors[actor];
    x->waits = false;
    if (r->kind == REF_INTERLEAVE)
        x->next = x->next->next;
    else
        x->stack = ref_pop(r, x->stack);
}

void ref_barrier(struct ref *r, uint32_t block)
{
    uint32_t first = block * r->actors_a_block;
    bool some_ended = false, passes = ref_barrier_rule(r, block) == rule_s(r);
    for (uint32_t i = first; i < first + r->actors_a_block; i++) {
        some_ended = some_ended || !r->actors[i].waits;
        if (passes)
            pass(r, i);
    }
    if (!passes)
        ref_fail(r, r->options.barrier_f1 && some_ended ? REF_STUCK : REF_BARRIER_DIVERGENCE,
                 block * r->kernel->launch.threads);
}
