/*
 * layout_call.c - calls: who is called, and what is copied from which place to which. A parameter of the function is
 * where the function itself has it.
 */
#include "oracle/layout/layout_internal.h"

#include <string.h>

static bool same_lists(const struct ptx_variable *a, const struct ptx_variable *b)
{
    for (; a && b; a = a->next, b = b->next) {
        const bool in_register = a->space == PTX_W_REG;
        if (in_register != (b->space == PTX_W_REG) || layout_bytes(a) != layout_bytes(b) ||
            a->align != b->align)
            return false;
    }
    return !a && !b;
}

/* NULL takes nothing, and returns nothing. */
static bool same_signature(const struct ptx_function *a, const struct ptx_function *b)
{
    return same_lists(a ? a->returns : NULL, b->returns) &&
           same_lists(a ? a->parameters : NULL, b->parameters);
}

/* A parameter where the function has it. */
static void is_formal(struct layout *l, uint32_t callee, const struct ptx_copy *copy,
                      const struct ptx_variable *formal)
{
    const struct ptx_operand o = {
        .kind = PTX_OPERAND_NAME, .target_kind = PTX_TARGET_VARIABLE, .target.variable = formal};
    if (formal->space == PTX_W_REG)
        layout_is_register(l, callee, &copy->callee, &o, 0);
    else if (copy->callee.kind != PTX_PLACE_NONE)
        layout_part(l, "parameter");
    else
        layout_in_frame(l, callee, formal, copy->callee_byte);
}

static void is_actual(struct layout *l, const struct ptx_copy *copy, const struct ptx_operand *o,
                      const struct ptx_variable *formal)
{
    if (!layout_is_memory(o) || o->target.variable->space != PTX_W_PARAM)
        layout_is(l, &copy->caller, o, ptx_type_of(formal->type), 0);
    else if (copy->caller.kind != PTX_PLACE_NONE)
        layout_part(l, "argument");
    else
        layout_in_frame(l, l->function, o->target.variable, copy->caller_byte);
}

static const struct ptx_variable *nth(const struct ptx_variable *list, uint32_t n)
{
    while (n-- > 0 && list)
        list = list->next;
    return list;
}

/* `first` and `count`: of ptx_code.copies. Nothing is copied to what is thrown away. */
static void are_copies(struct layout *l, uint32_t first, uint32_t count,
                       const struct ptx_operand *list, const struct ptx_variable *formals,
                       bool results)
{
    const struct ptx_operand *o = list ? list->items : NULL;
    uint32_t at = 0, number = 0;
    for (const struct ptx_variable *formal = formals; formal && o;
         formal = formal->next, o = o->next, number++) {
        const struct ptx_copy *copy = &l->code->copies[first + at];
        if (o->kind == PTX_OPERAND_SINK)
            continue;
        if (at++ >= count) {
            layout_part(l, "number of arguments");
            return;
        }
        if (copy->bytes != (formal->type == PTX_W_PRED ? 4 : layout_bytes(formal)))
            layout_part(l, "bytes of an argument");
        is_actual(l, copy, o, formal);
        for (uint32_t f = 1; f < l->code->function_count; f++) {
            const struct ptx_function *callee = l->code->functions[f].function;
            const bool called = l->op->target ? l->code->functions[f].entry == l->op->target
                                              : l->code->functions[f].signature == l->op->signature;
            const struct ptx_variable *own =
                called ? nth(results ? callee->returns : callee->parameters, number) : NULL;
            if (own)
                is_formal(l, f, copy, own);
        }
    }
    if (at != count)
        layout_part(l, "number of arguments");
}

/* ---- functions without a body ---- */

/* What is asked can be looked at where the caller has it. */
static void are_kept(struct layout *l, const struct ptx_call_operands *call, bool keeps)
{
    const struct ptx_variable *formal = keeps ? call->target->target.function->parameters : NULL;
    const struct ptx_operand *o = call->arguments ? call->arguments->items : NULL;
    uint32_t at = 0;
    for (; formal && o && at < l->op->copy_count; formal = formal->next, o = o->next, at++) {
        const struct ptx_copy *copy = &l->code->copies[l->op->copy + at];
        if (copy->bytes != layout_bytes(formal))
            layout_part(l, "bytes of an argument");
        is_actual(l, copy, o, formal);
    }
    if (formal || l->op->copy_count != at)
        layout_part(l, "number of arguments");
}

static void outside(struct layout *l, const struct ptx_call_operands *call)
{
    static const struct {
        const char *name;
        enum ptx_outside what;
        bool fails;
    } known[] = {
        {"vprintf", PTX_OUTSIDE_PRINT, false},      {"printf", PTX_OUTSIDE_NONE, false},
        {"malloc", PTX_OUTSIDE_NONE, false},        {"free", PTX_OUTSIDE_NONE, false},
        {PTX_HEAP_GIVES, PTX_OUTSIDE_GIVES, false}, {PTX_HEAP_TAKES, PTX_OUTSIDE_TAKES, false},
        {"__assertfail", PTX_OUTSIDE_ASSERT, true}, {"__assert_fail", PTX_OUTSIDE_ASSERT, true}};
    const char *name = call->target->target.function->name;
    const struct ptx_operand *result = call->returns ? call->returns->items : NULL;
    const bool in_register =
        result && result->kind == PTX_OPERAND_NAME && !layout_is_memory(result);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(known[i].name, name) != 0)
            continue;
        /* A result is 0; in memory it is so already. */
        const enum ptx_exec exec = known[i].fails ? PTX_EXEC_TRAP
                                   : in_register  ? PTX_EXEC_ROWS
                                                  : PTX_EXEC_NOP;
        if (l->op->exec != exec || l->op->outside != known[i].what || l->op->source_count != 0 ||
            l->op->result_count != (exec == PTX_EXEC_ROWS))
            layout_part(l, "function without a body");
        else if (exec == PTX_EXEC_ROWS)
            layout_is_register(l, l->function, &l->op->results[0], result, 0);
        are_kept(l, call, known[i].what != PTX_OUTSIDE_NONE);
        return;
    }
    layout_part(l, "function without a body");
}

/* ---- call ---- */

static const struct ptx_function *signature_of(const struct ptx_operand *o)
{
    if (!o)
        return NULL;
    const struct ptx_statement *stm = o->target.statement;
    return stm->kind == PTX_PROTOTYPE ? stm->u.prototype : stm->u.targets->target.function;
}

static void through_register(struct layout *l, const struct ptx_call_operands *call)
{
    static const struct ptx_type u32 = {PTX_CLASS_INT, 32, false};
    const struct ptx_function *wanted = signature_of(call->signature);
    layout_is(l, &l->op->sources[0], call->target, u32, 0);
    if (l->op->target != 0 || l->op->source_count != 1)
        layout_part(l, "target");
    for (uint32_t f = 1; f < l->code->function_count; f++)
        if ((l->code->functions[f].signature == l->op->signature) !=
            same_signature(wanted, l->code->functions[f].function))
            layout_part(l, "signature");
    are_copies(l, l->op->back, l->op->back_count, call->returns, wanted ? wanted->returns : NULL,
               true);
    are_copies(l, l->op->copy, l->op->copy_count, call->arguments,
               wanted ? wanted->parameters : NULL, false);
}

void layout_call(struct layout *l)
{
    struct ptx_call_operands call;
    if (!ptx_call_divide(l->op->statement->u.instruction.operands, &call))
        return;
    if (call.target->target_kind == PTX_TARGET_STATEMENT) {
        if (l->op->exec != PTX_EXEC_CALL ||
            l->op->target != layout_label(l, call.target->target.statement))
            layout_part(l, "target");
        return;
    }
    if (call.target->target_kind != PTX_TARGET_FUNCTION) {
        if (l->op->exec != PTX_EXEC_CALL)
            layout_part(l, "kind");
        through_register(l, &call);
        return;
    }
    const uint32_t callee = layout_callee(l, call.target->target.function);
    if (callee == LAYOUT_MODULE) {
        outside(l, &call);
        return;
    }
    const struct ptx_code_function *f = &l->code->functions[callee];
    if (l->op->exec != PTX_EXEC_CALL || l->op->target != f->entry || l->op->signature != 0)
        layout_part(l, "target");
    are_copies(l, l->op->back, l->op->back_count, call.returns, f->function->returns, true);
    are_copies(l, l->op->copy, l->op->copy_count, call.arguments, f->function->parameters, false);
}
