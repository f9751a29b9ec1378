/*
 * Calls: call [(returns),] target [, (arguments)] [, prototype or list of targets]; PTX ISA 9.7.12.
 */
#include "engine/ptx/ptx_check_internal.h"

uint64_t ptx_variable_bytes(const struct ptx_variable *var)
{
    uint64_t bytes = ptx_type_of(var->type).bits / 8u;
    bytes *= var->vector == PTX_W_V2 ? 2 : var->vector == PTX_W_V4 ? 4 : 1;
    for (uint32_t i = 0; i < var->dimension_count; i++)
        bytes *= var->dimensions[i];
    return bytes;
}

bool ptx_call_divide(struct ptx_operand *o, struct ptx_call_operands *call)
{
    *call = (struct ptx_call_operands){NULL, NULL, NULL, NULL};
    if (o && o->kind == PTX_OPERAND_LIST) {
        call->returns = o;
        o = o->next;
    }
    if (!o || o->kind != PTX_OPERAND_NAME)
        return false;
    call->target = o;
    o = o->next;
    if (o && o->kind == PTX_OPERAND_LIST) {
        call->arguments = o;
        o = o->next;
    }
    if (o && o->kind == PTX_OPERAND_NAME) {
        call->signature = o;
        o = o->next;
    }
    return !o;
}

/* A register or a .param variable; an argument may also be a constant. */
static void check_actual(struct ptx_checker *c, struct ptx_operand *o, bool is_result,
                         const struct ptx_variable *formal)
{
    bool is_constant = o->kind == PTX_OPERAND_INTEGER || o->kind == PTX_OPERAND_FLOAT32 ||
                       o->kind == PTX_OPERAND_FLOAT64;
    if (is_constant && !is_result)
        return;
    if (o->kind == PTX_OPERAND_SINK && is_result)
        return;
    if (o->kind != PTX_OPERAND_NAME || o->negated || o->element || o->value) {
        diag_error(c->diag, o->at, "a parameter or register is wanted here");
        return;
    }
    if (!ptx_resolve(c, o))
        return;
    const struct ptx_variable *var =
        o->target_kind == PTX_TARGET_VARIABLE ? o->target.variable : NULL;
    if (!var || (var->space != PTX_W_PARAM && var->space != PTX_W_REG)) {
        diag_error(c->diag, o->at, "a parameter or register is wanted here");
        return;
    }
    uint64_t given = ptx_variable_bytes(var), wanted = formal ? ptx_variable_bytes(formal) : 0;
    if (formal && wanted != 0 && given != wanted)
        diag_error(c->diag, o->at, "'%.100s' has %llu bytes, the function's parameter %llu",
                   o->name, (unsigned long long)given, (unsigned long long)wanted);
}

static void check_list(struct ptx_checker *c, struct ptx_operand *list, bool is_result,
                       const struct ptx_function *f, const struct ptx_variable *formal,
                       struct location at)
{
    uint32_t given = 0, wanted = 0;
    for (struct ptx_operand *o = list ? list->items : NULL; o; o = o->next, given++) {
        check_actual(c, o, is_result, f ? formal : NULL);
        wanted += f && formal;
        formal = formal ? formal->next : NULL;
    }
    for (; formal; formal = formal->next)
        wanted++;
    if (f && given != wanted)
        diag_error(c->diag, list ? list->at : at, "the function has %u %s, not %u", wanted,
                   is_result ? "results" : "parameters", given);
}

/* The prototype, or the first function of a list of targets; NULL: none, or reported. */
static const struct ptx_function *find_signature(struct ptx_checker *c, struct ptx_operand *o)
{
    if (!ptx_resolve(c, o))
        return NULL;
    if (o->target_kind == PTX_TARGET_STATEMENT && o->target.statement->kind == PTX_PROTOTYPE)
        return o->target.statement->u.prototype;
    if (o->target_kind == PTX_TARGET_STATEMENT && o->target.statement->kind == PTX_CALL_TARGETS) {
        const struct ptx_operand *first = o->target.statement->u.targets;
        return first->target_kind == PTX_TARGET_FUNCTION ? first->target.function : NULL;
    }
    diag_error(c->diag, o->at, "a prototype or a list of functions is wanted here");
    return NULL;
}

static bool is_code_address(const struct ptx_operand *o)
{
    if (o->target_kind != PTX_TARGET_VARIABLE || o->target.variable->space != PTX_W_REG)
        return false;
    struct ptx_type type = ptx_type_of(o->target.variable->type);
    return type.bits >= 32 && type.bits <= 64 && type.kind != PTX_CLASS_FLOAT;
}

/* Of kernels that are run as they stand (ptx_kernel.h): code behind a label is called, too. */
static bool is_label_call(const struct ptx_call_operands *call)
{
    const struct ptx_operand *target = call->target;
    return target->target_kind == PTX_TARGET_STATEMENT &&
           target->target.statement->kind == PTX_LABEL && !call->returns && !call->arguments &&
           !call->signature;
}

/* An indirect call without parameters needs no prototype here: the report's `call E`. */
void ptx_check_call(struct ptx_checker *c, struct ptx_operand *operands, struct location at)
{
    struct ptx_call_operands call;
    const struct ptx_function *f = NULL;
    if (!ptx_call_divide(operands, &call)) {
        diag_error(c->diag, at, "'call' takes [(results),] function [, (arguments)] [, prototype]");
        return;
    }
    if (call.target->element || call.target->negated || call.target->value) {
        diag_error(c->diag, call.target->at, "a function or register is wanted here");
        return;
    }
    bool known = ptx_resolve(c, call.target);
    if (known && call.target->target_kind == PTX_TARGET_FUNCTION)
        f = call.target->target.function;
    else if (known && is_label_call(&call))
        return;
    else if (known && !is_code_address(call.target))
        diag_error(c->diag, call.target->at, "a function or register is wanted here");
    else if (known && !call.signature && (call.returns || call.arguments))
        diag_error(c->diag, call.target->at,
                   "an indirect call with parameters needs a prototype or a list of functions");
    if (call.signature) {
        const struct ptx_function *signature = find_signature(c, call.signature);
        f = f ? f : signature;
    }
    check_list(c, call.returns, true, f, f ? f->returns : NULL, at);
    check_list(c, call.arguments, false, f, f ? f->parameters : NULL, at);
}
