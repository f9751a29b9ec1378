/*
 * emit_goto.c - a kernel's basic blocks as labels and gotos, in languages that have such: those that it is written in, or those of
 * `lower --to cfg`, where calls are inlined.
 *
 * A valid kernel goes on in exactly one target of a block: each begins with a guard (`assume`), and one may have none.
 */
#include "engine/emit/emit_internal.h"

#include "engine/forms/lower.h"
#include "engine/forms/lower_cfg.h"

void emit_find_blocks(struct emitter *e)
{
    static const struct lower_cfg_options plain = {.anchored = false};
    const char *reason;
    if (e->kernel->form != FORM_STRUCTURED || !e->dialect->has_pointers ||
        !emit_has(e, EMIT_KNOB_GOTOS))
        return;
    struct ast_kernel *blocks =
        lower_cfg(e->arena, lower_core(e->arena, e->kernel), &plain, &reason);
    /* What recurses stays as it is. */
    if (blocks && !blocks->functions)
        e->kernel = blocks;
}

static void put_label(struct emitter *e, const struct ast_block *block)
{
    text_format(e->out, "k%u_b_%s", (unsigned)e->number, block->name);
}

/* NULL: the thread ends. */
static void put_jump(struct emitter *e, const struct ast_block *target)
{
    if (!target) {
        emit_leave(e);
        return;
    }
    text_put(e->out, "goto ");
    put_label(e, target);
    text_put(e->out, ";");
}

static const struct ast_expr *guard_of(const struct ast_block *block)
{
    const struct ast_stm *first = block ? block->body : NULL;
    return first && first->kind == STM_ASSUME ? first->value : NULL;
}

/* The target that is taken where no guard before it holds: the one without, or the last. */
static uint32_t last_target(struct emitter *e, const struct ast_block *block)
{
    uint32_t last = block->target_count - 1, open = 0;
    for (uint32_t t = 0; t < block->target_count && block->target_count > 1; t++)
        if (!guard_of(block->targets[t])) {
            last = t;
            open++;
        }
    if (open > 1)
        emit_refuse(e, "%s has no choice of threads between blocks, at line %u", e->dialect->name,
                    (unsigned)block->at.line);
    return last;
}

static void put_block(struct emitter *e, const struct ast_block *block)
{
    emit_line(e);
    put_label(e, block);
    text_put(e->out, ":;");
    e->indent++;
    emit_statements(e, block->body);
    const uint32_t last = last_target(e, block);
    for (uint32_t t = 0; t < block->target_count && !e->reason; t++) {
        if (t == last)
            continue;
        emit_line(e);
        text_put(e->out, "if (");
        emit_condition(e, guard_of(block->targets[t]));
        text_put(e->out, ") ");
        put_jump(e, block->targets[t]);
    }
    emit_line(e);
    put_jump(e, block->targets[last]);
    e->indent--;
}

void emit_block_list(struct emitter *e, const struct ast_block *list)
{
    for (; list; list = list->next)
        put_block(e, list);
}
