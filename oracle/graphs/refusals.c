/*
 * refusals.c - forms that a kernel has not: what a form is without must stand in the kernel's text. Who refuses more
 * leaves out comparisons, and nothing else would show it.
 */
#include "engine/language/print.h"
#include "engine/language/walk.h"
#include "oracle/graphs/graphs.h"

#include <string.h>

/* What stands in a kernel, of what some forms are without. */
struct contents {
    bool has[STM_KIND_COUNT]; /* but for the guards of blocks */
    bool guard, function_exits, chooses;
};

static bool note_statement(void *context, const struct ast_stm *stm)
{
    struct contents *x = context;
    x->has[stm->kind] = true;
    x->guard |= stm->guard != NULL;
    return false;
}

static bool is_exit(void *context, const struct ast_stm *stm)
{
    (void)context;
    return stm->kind == STM_EXIT;
}

/* ---- gotos ---- */

static bool is_memory(void *context, const struct ast_expr *expr)
{
    (void)context;
    return ast_names(expr) &&
           (expr->var->space == SPACE_GLOBAL || expr->var->space == SPACE_SHARED);
}

/* NULL: none, or one that always holds. */
static const struct ast_expr *guard_of(const struct ast_block *block)
{
    const struct ast_expr *guard =
        block && block->body && block->body->kind == STM_ASSUME ? block->body->value : NULL;
    return guard && guard->kind == EXPR_INT && guard->value != 0 ? NULL : guard;
}

static bool is_not(struct arena *arena, const struct ast_expr *a, const struct ast_expr *b)
{
    return a->kind == EXPR_UNARY && a->unary == UNARY_NOT &&
           strcmp(print_expr(arena, a->a), print_expr(arena, b)) == 0;
}

/* Of private variables exactly one guard holds, as they are written: e and !e; or there is one target and no guard. */
static bool is_decided(struct arena *arena, const struct ast_block *block)
{
    const struct ast_question memory = {.expression = is_memory};
    if (block->target_count == 1)
        return !guard_of(block->targets[0]);
    if (block->target_count != 2)
        return false;
    const struct ast_expr *a = guard_of(block->targets[0]), *b = guard_of(block->targets[1]);
    return a && b && !ast_ask_expr(&memory, a) && (is_not(arena, a, b) || is_not(arena, b, a));
}

/* ---- what stands in a kernel ---- */

static void note_blocks(struct arena *arena, struct contents *x, const struct ast_function *f)
{
    const struct ast_question statements = {.statement = note_statement, .context = x};
    x->chooses |= guard_of(f->blocks) != NULL;
    for (const struct ast_block *b = f->blocks; b; b = b->next) {
        const bool guarded = b->body && b->body->kind == STM_ASSUME;
        ast_ask_stms(&statements, guarded ? b->body->next : b->body);
        x->chooses |= !b->returns && !is_decided(arena, b);
    }
}

static struct contents contents_of(struct arena *arena, const struct ast_kernel *kernel)
{
    struct contents x = {.guard = false};
    const struct ast_question statements = {.statement = note_statement, .context = &x},
                              exits = {.statement = is_exit};
    for (const struct ast_function *f = kernel->main; f;
         f = f == kernel->main ? kernel->functions : f->next) {
        ast_ask_stms(&statements, f->body);
        note_blocks(arena, &x, f);
        x.function_exits |= f != kernel->main && ast_ask_function(&exits, f);
    }
    return x;
}

/* ---- forms ---- */

/* Whether the form is without some of it. */
static bool is_without(const struct contents *x, enum program_id program)
{
    const bool named = x->has[STM_SYNC] || x->has[STM_ARRIVE];
    switch ((int)program) {
    case PROGRAM_CORE:
        return named || x->has[STM_PICK];
    case PROGRAM_PTX:
    case PROGRAM_CRS:
        return x->has[STM_HAVOC] || x->has[STM_PICK] || x->has[STM_ASSUME] || x->guard ||
               x->chooses || (program == PROGRAM_PTX && x->has[STM_VOTE]);
    default:
        return named || x->has[STM_PICK] || x->has[STM_VOTE] || x->function_exits;
    }
}

/* Its size is the reason. */
static bool is_too_large(const char *reason)
{
    return strstr(reason, "limit") || strstr(reason, "more than") || strstr(reason, "many") ||
           strstr(reason, "large");
}

/* Lines differ from kernel to kernel. */
static size_t without_line(const char *reason)
{
    const char *line = strstr(reason, " at line");
    return line ? (size_t)(line - reason) : strlen(reason);
}

const char *graphs_refused(struct arena *arena, const struct forms *forms)
{
    const struct ast_kernel *kernel = forms->given;
    const bool structured = kernel->form == FORM_STRUCTURED;
    if (!structured && (kernel->form != FORM_BLOCKS || !forms->items[PROGRAM_BLOCKS].program))
        return NULL;
    const struct contents x = contents_of(arena, kernel);
    for (uint32_t i = 0; i < PROGRAM_COUNT; i++) {
        const struct form *form = &forms->items[i];
        const bool asked = structured || i == PROGRAM_PTX || i == PROGRAM_CRS;
        const char *reason = form->reason ? form->reason : "no reason";
        if (asked && form->made && !form->program && !is_without(&x, (enum program_id)i) &&
            !is_too_large(reason))
            return arena_printf(arena, "refused: %.*s", (int)without_line(reason), reason);
    }
    return NULL;
}
