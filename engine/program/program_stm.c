/*
 * program_stm.c - statements that hold no others, as all forms have them.
 */
#include "engine/base/bits.h"
#include "engine/program/program_internal.h"

void build_count_stm(struct builder *b, const struct ast_stm *stm)
{
    b->stm_bound++;
    build_count_root(b, stm->value);
    build_count_root(b, stm->second);
    build_count_root(b, stm->guard);
    build_count_root(b, stm->target.index);
    build_count_root(b, stm->place.index);
    for (const struct ast_expr *expr = stm->arguments; expr; expr = expr->next)
        build_count_root(b, expr);
}

void build_refuse(struct builder *b, const struct ast_stm *stm)
{
    if (b->reason)
        return;
    const char *name = ast_stm_names[stm->kind];
    b->reason = stm->at.line ? arena_printf(b->arena, "unsupported statement '%s' at line %u", name,
                                            (unsigned)stm->at.line)
                             : arena_printf(b->arena, "unsupported statement '%s'", name);
}

bool build_refuses_target(struct builder *b, const struct ast_stm *stm)
{
    const struct ast_var *var = stm->target.var;
    if (!var || (!var->is_array && (var->space == SPACE_PRIVATE || var->space == SPACE_LOCAL)))
        return false;
    if (!b->reason)
        b->reason = arena_printf(b->arena, "unsupported target '%s' of '%s' at line %u: %s",
                                 var->name, ast_stm_names[stm->kind], (unsigned)stm->at.line,
                                 "only a private scalar takes the value");
    return true;
}

struct code_stm *build_stm(struct builder *b, struct ast_stm *stm, uint32_t number)
{
    struct code_stm *code = &b->program->stms[number];
    stm->mark = number;
    code->line = stm->at.line;
    code->function = b->function;
    code->value = code->first = code->second = CODE_NONE;
    code->block = code->guard = code->argument = code->barrier = CODE_NONE;
    code->place.index = code->place.var = CODE_NONE;
    code->target.index = code->target.var = CODE_NONE;
    code->origin = stm->origin;
    code->source = stm;
    if (stm->guard)
        code->guard = build_root(b, stm->guard, &code->reads);
    if (stm->value)
        code->value = build_root(b, stm->value, &code->reads);
    return code;
}

struct code_place build_place(struct builder *b, const struct ast_lvalue *lvalue, uint64_t *reads)
{
    const struct ast_var *var = lvalue->var;
    return (struct code_place){
        .space = var->space,
        .offset = build_variable_offset(b->program, var),
        .length = var->length,
        .index = lvalue->index ? build_root(b, lvalue->index, reads) : CODE_NONE,
        .var = var->space == SPACE_LOCAL ? CODE_NONE : var->mark,
    };
}

static void build_atomic(struct builder *b, const struct ast_stm *stm, struct code_stm *code)
{
    code->kind = CODE_ATOMIC;
    code->atomic = stm->atomic;
    code->place = build_place(b, &stm->place, &code->reads);
    code->reads |= build_footprint_bit(stm->place.var);
    code->writes = build_footprint_bit(stm->place.var);
    code->value = build_root(b, stm->arguments, &code->reads);
    if (stm->arguments->next)
        code->argument = build_root(b, stm->arguments->next, &code->reads);
    if (stm->target.var)
        code->target = build_place(b, &stm->target, &code->reads);
    b->program->has_atomics = true;
}

void build_simple(struct builder *b, const struct ast_stm *stm, struct code_stm *code)
{
    switch (stm->kind) {
    case STM_SKIP:
    case STM_MEMBAR: /* memory is sequentially consistent here */
        code->kind = CODE_SKIP;
        return;
    case STM_ASSIGN:
        code->kind = CODE_ASSIGN;
        code->place = build_place(b, &stm->target, &code->reads);
        code->writes = build_footprint_bit(stm->target.var);
        return;
    case STM_ASSERT:
        code->kind = CODE_ASSERT;
        return;
    case STM_ASSUME:
        code->kind = CODE_ASSUME;
        return;
    case STM_HAVOC:
        code->kind = CODE_HAVOC;
        code->place = build_place(b, &stm->place, &code->reads);
        code->writes = build_footprint_bit(stm->place.var);
        b->program->has_choices = true;
        return;
    case STM_ATOMIC:
        build_atomic(b, stm, code);
        return;
    case STM_VOTE:
        code->kind = CODE_VOTE;
        code->vote = stm->vote;
        code->target = build_place(b, &stm->target, &code->reads);
        b->program->has_votes = true;
        return;
    case STM_BARRIER:
        code->kind = CODE_BARRIER;
        code->barrier = b->program->barrier_count++;
        return;
    case STM_CALL:
    case STM_BLOCK:
    case STM_IF:
    case STM_WHILE:
    case STM_DO:
    case STM_FOR:
    case STM_SWITCH:
    case STM_BREAK:
    case STM_CONTINUE:
    case STM_RETURN:
    case STM_EXIT:
    case STM_SYNC:
    case STM_ARRIVE:
    case STM_PICK:
    case STM_LOCKSYNC:
    case STM_KIND_COUNT:
        break;
    }
    invariant_fail("a statement that counting refused", __FILE__, __LINE__);
}

void build_call(struct builder *b, uint32_t callee)
{
    bits_add(b->calls + b->function * b->call_words, callee);
}
