/*
 * naive_memory.h - for test_naive.c: memory as variables with cells, frames as lists, and expressions
 * evaluated on the tree.
 */
#ifndef TESTS_UNIT_NAIVE_MEMORY_H
#define TESTS_UNIT_NAIVE_MEMORY_H

#include "engine/program/program.h"

/* ---- memory: by variable, copy and element; frames are lists ---- */

struct frame {
    const struct ast_function *function;
    int32_t **values; /* a local, in order of declaration */
    struct frame *below;
};

struct naive {
    struct arena *arena;
    const struct program *program;
    int32_t *memory; /* global, shared, private: same layout as the engine's; frames are apart */
    struct frame **frames; /* a thread */
    uint32_t *choices;     /* a thread: made so far */
    const char *error;     /* status name once the execution has ended with an error */
};

static struct frame *frame_new(struct naive *n, const struct ast_function *f, struct frame *below)
{
    uint32_t count = 0, i = 0;
    for (const struct ast_var *v = f->locals; v; v = v->next)
        count++;
    struct frame *frame = ARENA_NEW(n->arena, struct frame);
    frame->function = f;
    frame->below = below;
    frame->values = ARENA_ARRAY(n->arena, int32_t *, count + 1);
    for (const struct ast_var *v = f->locals; v; v = v->next, i++) {
        frame->values[i] = ARENA_ARRAY(n->arena, int32_t, v->length);
        for (uint32_t k = 0; k < v->init_count; k++)
            frame->values[i][k] = v->init[k];
    }
    return frame;
}

static int32_t *naive_cell(struct naive *n, uint32_t thread, const struct ast_var *var,
                           uint32_t element)
{
    if (var->space == SPACE_LOCAL) {
        uint32_t i = 0;
        for (const struct ast_var *v = n->frames[thread]->function->locals; v != var; v = v->next)
            i++;
        return &n->frames[thread]->values[i][element];
    }
    const struct program *p = n->program;
    uint32_t number = 0;
    while (p->vars[number].ast != var)
        number++;
    uint32_t base = 0;
    if (var->space == SPACE_SHARED)
        base = p->shared_base + thread / p->launch.threads * p->words[SPACE_SHARED];
    if (var->space == SPACE_PRIVATE)
        base = p->private_base + thread * p->words[SPACE_PRIVATE];
    return &n->memory[base + p->vars[number].offset + element];
}

/* E[[e]]; an index outside its array sets n->error. */
static int32_t naive_eval(struct naive *n, uint32_t thread, const struct ast_expr *e)
{
    int32_t a;
    if (n->error)
        return 0;
    switch (e->kind) {
    case EXPR_INT:
        return e->value;
    case EXPR_VAR:
        return *naive_cell(n, thread, e->var, 0);
    case EXPR_INDEX:
        a = naive_eval(n, thread, e->a);
        if (n->error)
            return 0;
        if (a < 0 || (uint32_t)a >= e->var->length) {
            n->error = "out_of_bounds";
            return 0;
        }
        return *naive_cell(n, thread, e->var, (uint32_t)a);
    case EXPR_BUILTIN: {
        int32_t tid = (int32_t)(thread % n->program->launch.threads);
        int32_t width = (int32_t)n->program->launch.warp;
        const int32_t values[BUILTIN_COUNT] = {
            [BUILTIN_TID] = tid,
            [BUILTIN_THREADS] = (int32_t)n->program->launch.threads,
            [BUILTIN_LANE] = tid % width,
            [BUILTIN_WARP] = tid / width,
            [BUILTIN_WARP_SIZE] = width,
            [BUILTIN_BID] = (int32_t)(thread / n->program->launch.threads),
            [BUILTIN_BLOCKS] = (int32_t)n->program->launch.blocks,
        };
        return values[e->builtin];
    }
    case EXPR_UNARY:
        return ast_eval_unary(e->unary, naive_eval(n, thread, e->a));
    case EXPR_BINARY:
        a = naive_eval(n, thread, e->a);
        if (e->binary == BINARY_LOGICAL_AND)
            return a ? naive_eval(n, thread, e->b) != 0 : 0;
        if (e->binary == BINARY_LOGICAL_OR)
            return a ? 1 : naive_eval(n, thread, e->b) != 0;
        return ast_eval_binary(e->binary, a, naive_eval(n, thread, e->b));
    case EXPR_COND:
        return naive_eval(n, thread, naive_eval(n, thread, e->a) ? e->b : e->c);
    case EXPR_ALL:
    case EXPR_ANY:
        break;
    }
    return 0;
}

#endif
