/*
 * emit_goto.c - a kernel's basic blocks: those that it is written in, or those of `lower --to cfg`, where calls are
 * inlined. They are labels and gotos, and in languages that have none the cases of a switch on the block's number, in a
 * loop.
 *
 * A valid kernel goes on in exactly one target of a block: each begins with a guard (`assume`), and one may have none.
 */
#include "engine/emit/emit_internal.h"

#include "engine/forms/lower.h"
#include "engine/forms/lower_cfg.h"
#include "engine/language/walk.h"

static bool is_barrier(void *context, const struct ast_stm *stm)
{
    (void)context;
    return stm->kind == STM_BARRIER;
}

const struct ast_block *emit_block_with_barrier(const struct ast_kernel *kernel)
{
    const struct ast_question barrier = {.statement = is_barrier};
    const struct ast_block *block = kernel->form == FORM_BLOCKS ? kernel->main->blocks : NULL;
    while (block && !ast_ask_stms(&barrier, block->body))
        block = block->next;
    return block;
}

void emit_find_blocks(struct emitter *e)
{
    static const struct lower_cfg_options plain = {.anchored = false};
    const char *reason;
    if (e->kernel->form != FORM_STRUCTURED || !emit_has(e, EMIT_KNOB_GOTOS))
        return;
    struct ast_kernel *blocks =
        lower_cfg(e->arena, lower_core(e->arena, e->kernel), &plain, &reason);
    /* What recurses stays as it is. */
    if (blocks && !blocks->functions &&
        (e->dialect->has_pointers || !emit_block_with_barrier(blocks)))
        e->kernel = blocks;
}

static void put_label(struct emitter *e, const struct ast_block *block)
{
    text_format(e->out, "k%u_b_%s", (unsigned)e->number, block->name);
}

/* Its place among the blocks. They are counted for each target: the tree has no room for numbers that is not somebody
 * else's, and a kernel has few blocks. */
static uint32_t number_of(const struct emitter *e, const struct ast_block *block)
{
    uint32_t number = 0;
    for (const struct ast_block *b = e->kernel->main->blocks; b != block; b = b->next)
        number++;
    return number;
}

/* NULL: the thread ends. */
static void put_jump(struct emitter *e, const struct ast_block *target)
{
    if (!target) {
        emit_leave(e);
    } else if (e->dialect->has_pointers) {
        text_put(e->out, "goto ");
        put_label(e, target);
        text_put(e->out, ";");
    } else {
        text_format(e->out, "sf_block = %u; break;", (unsigned)number_of(e, target));
    }
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

static void put_targets(struct emitter *e, const struct ast_block *block)
{
    const uint32_t last = last_target(e, block);
    const bool braces = !e->dialect->has_pointers;
    for (uint32_t t = 0; t < block->target_count && !e->reason; t++) {
        if (t == last)
            continue;
        emit_line(e);
        text_put(e->out, "if (");
        emit_condition(e, guard_of(block->targets[t]));
        text_put(e->out, braces ? ") { " : ") ");
        put_jump(e, block->targets[t]);
        text_put(e->out, braces ? " }" : "");
    }
    emit_line(e);
    put_jump(e, block->targets[last]);
}

static void put_block(struct emitter *e, const struct ast_block *block)
{
    emit_line(e);
    put_label(e, block);
    text_put(e->out, ":;");
    e->indent++;
    emit_statements(e, block->body);
    put_targets(e, block);
    e->indent--;
}

static void put_case(struct emitter *e, const struct ast_block *block)
{
    emit_line(e);
    text_format(e->out, "case %u: {", (unsigned)number_of(e, block));
    e->indent++;
    emit_statements(e, block->body);
    put_targets(e, block);
    e->indent--;
    emit_line(e);
    text_put(e->out, "}");
}

/* The number is that of the block where the thread is; it leaves from within. */
static void put_switched(struct emitter *e, const struct ast_block *list)
{
    emit_line(e);
    text_put(e->out, e->dialect->is_wgsl ? "var sf_block: i32 = 0;" : "int sf_block = 0;");
    emit_line(e);
    text_put(e->out, "while (sf_block >= 0) {");
    e->indent++;
    emit_line(e);
    text_put(e->out, "switch (sf_block");
    if (emit_has(e, EMIT_KNOB_OPAQUE_SWITCHES)) {
        text_put(e->out, " ^ ");
        emit_zero(e, ZERO_OF_SWITCHES);
    }
    text_put(e->out, ") {");
    for (const struct ast_block *block = list; block; block = block->next)
        put_case(e, block);
    emit_line(e);
    text_put(e->out, "default: { ");
    emit_leave(e);
    text_put(e->out, " }");
    emit_line(e);
    text_put(e->out, "}");
    e->indent--;
    emit_line(e);
    text_put(e->out, "}");
}

void emit_block_list(struct emitter *e, const struct ast_block *list)
{
    if (!e->dialect->has_pointers)
        put_switched(e, list);
    for (; list && e->dialect->has_pointers; list = list->next)
        put_block(e, list);
}
