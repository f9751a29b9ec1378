/*
 * lower_cfg_calls.c - who calls whom, and copies of bodies with variables of their own.
 */
#include "engine/base/bits.h"
#include "engine/forms/lower_cfg_internal.h"
#include "engine/language/walk.h"

/* ---- the call graph ---- */

static void note_calls(uint64_t *bits, const struct ast_stm *list)
{
    for (; list; list = list->next) {
        if (list->kind == STM_CALL)
            bits_add(bits, list->function->mark);
        note_calls(bits, list->body);
        note_calls(bits, list->other);
    }
}

static void add_bits(uint64_t *to, const uint64_t *from)
{
    for (uint32_t i = 0; i < LIMIT_FUNCTIONS / 64; i++)
        to[i] |= from[i];
}

/* The transitive closure, by Warshall's algorithm. */
struct call_graph *call_graph_new(struct arena *arena, const struct ast_kernel *core)
{
    uint32_t count = 0;
    for (struct ast_function *f = core->functions; f; f = f->next)
        f->mark = count++;
    struct call_graph *calls = arena_alloc(
        arena, 1, sizeof(struct call_graph) + count * sizeof(uint64_t[LIMIT_FUNCTIONS / 64]));
    calls->count = count;
    for (struct ast_function *f = core->functions; f; f = f->next)
        note_calls(calls->reach[f->mark], f->body);
    for (uint32_t through = 0; through < count; through++)
        for (uint32_t f = 0; f < count; f++)
            if (bits_has(calls->reach[f], through))
                add_bits(calls->reach[f], calls->reach[through]);
    note_calls(calls->from_main, core->main->body);
    for (uint32_t f = 0; f < count; f++)
        if (bits_has(calls->from_main, f))
            add_bits(calls->from_main, calls->reach[f]);
    return calls;
}

bool call_graph_is_called(const struct call_graph *calls, const struct ast_function *function)
{
    return bits_has(calls->from_main, function->mark);
}

bool call_graph_is_recursive(const struct call_graph *calls, const struct ast_function *function)
{
    return bits_has(calls->reach[function->mark], function->mark);
}

/* ---- variables ---- */

static void clear_marks(struct ast_var *list)
{
    for (; list; list = list->next)
        list->mark = 0;
}

uint32_t number_locals(struct ast_kernel *core)
{
    uint32_t count = 0;
    clear_marks(core->vars);
    clear_marks(core->main->locals);
    for (struct ast_function *f = core->functions; f; f = f->next)
        for (struct ast_var *var = f->locals; var; var = var->next)
            var->mark = ++count;
    return count;
}

static void replace_var(struct ast_var **var, struct ast_var *const *replacements)
{
    if (*var && (*var)->mark && replacements[(*var)->mark])
        *var = replacements[(*var)->mark];
}

/* What is replaced, and how many nodes there are; replacements NULL: they are only counted. */
struct replacing {
    struct ast_var *const *replacements;
    uint32_t count;
};

static void replace_in_expr(void *context, struct ast_expr *expr)
{
    struct replacing *r = context;
    r->count++;
    if (r->replacements && ast_names(expr))
        replace_var(&expr->var, r->replacements);
}

static void replace_place(void *context, struct ast_lvalue *place)
{
    const struct replacing *r = context;
    if (r->replacements)
        replace_var(&place->var, r->replacements);
}

static void count_stm(void *context, struct ast_stm *stm)
{
    struct replacing *r = context;
    (void)stm;
    r->count++;
}

uint32_t replace_locals(struct ast_stm *list, struct ast_var *const *replacements)
{
    struct replacing replacing = {.replacements = replacements};
    const struct ast_change change = {count_stm, replace_in_expr, replace_place, &replacing};
    ast_change_stms(&change, list);
    return replacing.count;
}

/* ---- size ---- */

static uint32_t count_function(const struct ast_function *function)
{
    uint32_t count = 1;
    for (const struct ast_var *var = function->locals; var; var = var->next)
        count++;
    for (const struct ast_block *block = function->blocks; block; block = block->next)
        count += 1 + block->target_count + replace_locals(block->body, NULL);
    return count;
}

uint32_t count_nodes(const struct ast_kernel *kernel)
{
    uint32_t count = count_function(kernel->main);
    for (const struct ast_var *var = kernel->vars; var; var = var->next)
        count++;
    for (const struct ast_expect *expect = kernel->expects; expect; expect = expect->next)
        count++;
    for (const struct ast_function *f = kernel->functions; f; f = f->next)
        count += count_function(f);
    return count;
}
