/*
 * ref_memory.c - memory: global variables once, shared ones in each thread block, private ones in each thread, each in
 * order of declaration; locals in frames.
 */
#include "engine/reference/ref_internal.h"

const char *const ref_end_names[REF_ENDS] = {
    [REF_RUNNING] = "running",
    [REF_TERMINATED] = "terminated",
    [REF_ASSERT_FAILS] = "assert_fails",
    [REF_BARRIER_DIVERGENCE] = "barrier_divergence",
    [REF_OUT_OF_BOUNDS] = "out_of_bounds",
    [REF_CALL_DEPTH] = "call_depth",
    [REF_INFEASIBLE] = "infeasible",
    [REF_STUCK] = "stuck",
};

enum { ACCESSES_A_THREAD = 1 << 13 };

static uint32_t words_in(const struct ast_kernel *kernel, enum ast_space space)
{
    uint32_t words = 0;
    for (const struct ast_var *v = kernel->vars; v; v = v->next)
        if (v->space == space)
            words += v->length;
    return words;
}

bool ref_layout(struct ref *r, struct arena *arena, const char **why)
{
    const struct ast_launch *launch = &r->kernel->launch;
    uint64_t shared = (uint64_t)words_in(r->kernel, SPACE_SHARED) * launch->blocks;
    uint64_t private = (uint64_t)words_in(r->kernel, SPACE_PRIVATE) * r->thread_count;
    uint64_t global = words_in(r->kernel, SPACE_GLOBAL);
    if (global + shared + private > 1 << 16) {
        *why = "more memory than the reference has room for";
        return false;
    }
    r->shared_base = (uint32_t)global;
    r->private_base = (uint32_t)(global + shared);
    r->words = (uint32_t)(global + shared + private);
    r->memory = ARENA_ARRAY(arena, int32_t, r->words + 1);
    r->accesses = arena_room(arena, ACCESSES_A_THREAD * sizeof *r->accesses);
    return true;
}

/* Where the first element of the copy that the thread sees lies. */
static uint32_t place_of(const struct ref *r, uint32_t thread, const struct ast_var *var)
{
    uint32_t offset = 0;
    for (const struct ast_var *v = r->kernel->vars; v != var; v = v->next)
        if (v->space == var->space)
            offset += v->length;
    if (var->space == SPACE_GLOBAL)
        return offset;
    if (var->space == SPACE_SHARED)
        return r->shared_base +
               thread / r->kernel->launch.threads * words_in(r->kernel, SPACE_SHARED) + offset;
    return r->private_base + thread * words_in(r->kernel, SPACE_PRIVATE) + offset;
}

static void initialise(struct ref *r, uint32_t thread, const struct ast_var *var,
                       const int32_t *inputs)
{
    uint32_t first = place_of(r, thread, var);
    for (uint32_t i = 0; i < var->length; i++)
        r->memory[first + i] = var->is_input         ? inputs[first + i]
                               : i < var->init_count ? var->init[i]
                                                     : 0;
}

void ref_initialise(struct ref *r, const int32_t *inputs)
{
    for (const struct ast_var *v = r->kernel->vars; v; v = v->next)
        for (uint32_t t = 0; t < r->thread_count; t++)
            initialise(r, t, v, inputs);
}

int32_t *ref_local(const struct ref_frame *frame, const struct ast_var *var)
{
    int32_t *values = frame->values;
    for (const struct ast_var *v = frame->function->locals; v != var; v = v->next)
        values += v->length;
    return values;
}

struct ref_cell ref_cell_of(struct ref *r, uint32_t thread, const struct ast_var *var,
                            uint32_t element)
{
    if (var->space == SPACE_LOCAL)
        return (struct ref_cell){ref_local(r->threads[thread].frames, var) + element, REF_PRIVATE};
    uint32_t address = place_of(r, thread, var) + element;
    return (struct ref_cell){&r->memory[address],
                             var->space == SPACE_PRIVATE ? REF_PRIVATE : address};
}

int32_t ref_builtin(const struct ref *r, uint32_t thread, enum ast_builtin builtin)
{
    const struct ast_launch *launch = &r->kernel->launch;
    int32_t tid = (int32_t)(thread % launch->threads), width = (int32_t)launch->warp;
    switch (builtin) {
    case BUILTIN_TID:
        return tid;
    case BUILTIN_THREADS:
        return (int32_t)launch->threads;
    case BUILTIN_LANE:
        return tid % width;
    case BUILTIN_WARP:
        return tid / width;
    case BUILTIN_WARP_SIZE:
        return width;
    case BUILTIN_BID:
        return (int32_t)(thread / launch->threads);
    case BUILTIN_BLOCKS:
        return (int32_t)launch->blocks;
    case BUILTIN_COUNT:
        break;
    }
    return 0;
}

void ref_saw(struct ref *r, enum ref_access_kind kind, uint32_t thread, const struct ref_cell *cell,
             int32_t value)
{
    if (cell->address == REF_PRIVATE)
        return;
    if (r->walk) {
        if (kind == REF_READ)
            ref_walk_read(r, cell);
        return;
    }
    if (r->access_count == ACCESSES_A_THREAD)
        r->unknown = "a step with more accesses than the reference has room for";
    else
        r->accesses[r->access_count++] = (struct ref_access){kind, thread, cell->address, value};
}

void ref_fail(struct ref *r, enum ref_end end, uint32_t thread)
{
    if (ref_failed(r))
        return;
    r->end = end;
    r->end_thread = thread;
}

enum rule ref_unknown(struct ref *r, const char *what)
{
    r->unknown = what;
    return RULE_NONE;
}
