/*
 * Calls (LOAD.T3): parameters lie in the callee's frame, results first, and are copied; so are results when
 * it returns.
 */
#include "engine/base/bits.h"
#include "engine/base/invariant.h"
#include "engine/program/ptx_compile_internal.h"

#include <string.h>

/* ---- functions without bodies ---- */

/* What the CUDA device runtime does and the machine can do without: what is printed is no part of the state, no memory
 * is to be had, a failed assertion ends the execution. */
static const struct outside_row {
    const char *name;
    enum ptx_exec exec;
    enum ptx_outside outside;
} outside[] = {
    {"vprintf", PTX_EXEC_NOP, PTX_OUTSIDE_PRINT},
    {"printf", PTX_EXEC_NOP, PTX_OUTSIDE_NONE},
    {"malloc", PTX_EXEC_NOP, PTX_OUTSIDE_NONE},
    {"free", PTX_EXEC_NOP, PTX_OUTSIDE_NONE},
    {PTX_HEAP_GIVES, PTX_EXEC_NOP, PTX_OUTSIDE_GIVES},
    {PTX_HEAP_TAKES, PTX_EXEC_NOP, PTX_OUTSIDE_TAKES},
    {"__assertfail", PTX_EXEC_TRAP, PTX_OUTSIDE_ASSERT},
    {"__assert_fail", PTX_EXEC_TRAP, PTX_OUTSIDE_ASSERT},
};

static void zero_row(uint32_t lanes, void *const results[PTX_ROW_RESULTS],
                     const void *const sources[PTX_ROW_SOURCES], uint32_t bytes)
{
    (void)sources;
    memset(results[0], 0, (size_t)lanes * bytes);
}

/* A result in memory is 0 already: nothing else writes the variable. */
static void zero_result(struct ptx_builder *b, const struct ptx_operand *returns, struct ptx_op *op)
{
    const struct ptx_operand *o = returns ? returns->items : NULL;
    if (!o || o->kind != PTX_OPERAND_NAME || o->target.variable->space != PTX_W_REG)
        return;
    op->exec = PTX_EXEC_ROWS;
    op->results[0] = ptx_build_register(b, o);
    op->result_count = 1;
    op->row = (struct ptx_row_op){.fn = zero_row,
                                  .immediate = op->results[0].bits / 8u,
                                  .result_count = 1,
                                  .result_bits = {op->results[0].bits}};
}

/* ---- parameters ---- */

/* The caller's side of a copy; false: nothing is copied. */
static bool place_actual(struct ptx_builder *b, const struct ptx_operand *o,
                         const struct ptx_variable *formal, struct ptx_copy *copy)
{
    bool is_name = o->kind == PTX_OPERAND_NAME;
    const struct ptx_variable *var =
        is_name && o->target_kind == PTX_TARGET_VARIABLE ? o->target.variable : NULL;
    if (o->kind == PTX_OPERAND_SINK)
        return false;
    if (var && var->space == PTX_W_PARAM) {
        const uint32_t *home = ptx_build_find_home(b, var);
        if (home && b->home_list[*home].home == PTX_HOME_CONST)
            ptx_build_fail(b, "unsupported argument '%.80s': a parameter of the entry", var->name);
        else
            copy->caller_byte = ptx_build_frame_byte(b, var);
        return true;
    }
    copy->caller = ptx_build_place(b, o, ptx_type_of(formal->type), 0);
    return true;
}

static void check_sizes(struct ptx_builder *b, const struct ptx_copy *copy,
                        const struct ptx_operand *o)
{
    uint32_t most = copy->caller.kind == PTX_PLACE_NONE ? copy->bytes : copy->caller.bits / 8u;
    uint32_t callee = copy->callee.kind == PTX_PLACE_NONE ? copy->bytes : copy->callee.bits / 8u;
    uint64_t given = o->kind == PTX_OPERAND_NAME && copy->caller.kind == PTX_PLACE_NONE
                         ? ptx_variable_bytes(o->target.variable)
                         : copy->bytes;
    if (copy->bytes > most || copy->bytes > callee || given < copy->bytes)
        ptx_build_fail(b, "unsupported argument: %u bytes", copy->bytes);
}

static void add_copies(struct ptx_builder *b, struct ptx_formals *formals,
                       const struct ptx_variable *formal, const struct ptx_operand *list)
{
    const struct ptx_operand *o = list ? list->items : NULL;
    for (; formal && o && !ptx_build_failed(b); formal = formal->next, o = o->next) {
        struct ptx_copy copy = {.bytes = (uint32_t)ptx_variable_bytes(formal)};
        ptx_build_formal(b, formals, formal, &copy.callee, &copy.callee_byte);
        if (formal->type == PTX_W_PRED)
            copy.bytes = 4;
        if (ptx_build_failed(b) || !place_actual(b, o, formal, &copy))
            continue;
        check_sizes(b, &copy, o);
        b->code->copies[b->copy_count++] = copy;
    }
    if ((formal || o) && !ptx_build_failed(b))
        ptx_build_fail(b, "the call has another number of parameters than the function");
}

/* The arguments, where the caller has them: nothing is copied. */
static void keep_arguments(struct ptx_builder *b, const struct ptx_call_operands *call,
                           struct ptx_op *op)
{
    const struct ptx_variable *formal = call->target->target.function->parameters;
    const struct ptx_operand *o = call->arguments ? call->arguments->items : NULL;
    op->copy = b->copy_count;
    for (; formal && o && !ptx_build_failed(b); formal = formal->next, o = o->next) {
        struct ptx_copy copy = {.bytes = (uint32_t)ptx_variable_bytes(formal)};
        (void)place_actual(b, o, formal, &copy);
        b->code->copies[b->copy_count++] = copy;
    }
    op->copy_count = b->copy_count - op->copy;
}

static void build_outside(struct ptx_builder *b, const struct ptx_call_operands *call,
                          struct ptx_op *op)
{
    const char *name = call->target->target.function->name;
    for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++)
        if (strcmp(outside[i].name, name) == 0) {
            op->exec = (uint8_t)outside[i].exec;
            op->outside = (uint8_t)outside[i].outside;
            if (op->exec == PTX_EXEC_NOP)
                zero_result(b, call->returns, op);
            if (op->outside != PTX_OUTSIDE_NONE)
                keep_arguments(b, call, op);
            return;
        }
    ptx_build_fail(b, "function '%.80s' has no body", name);
}

static void build_copies(struct ptx_builder *b, const struct ptx_call_operands *call,
                         const struct ptx_function *f, struct ptx_op *op)
{
    struct ptx_formals formals = {.bytes = 0};
    op->back = b->copy_count;
    add_copies(b, &formals, f->returns, call->returns);
    op->back_count = b->copy_count - op->back;
    op->copy = b->copy_count;
    add_copies(b, &formals, f->parameters, call->arguments);
    op->copy_count = b->copy_count - op->copy;
}

/* ---- targets ---- */

static void note_call(struct ptx_builder *b, uint32_t callee)
{
    bits_add(b->calls + (size_t)b->function * b->call_words, callee);
}

static const struct ptx_function *signature_of(const struct ptx_operand *o)
{
    if (!o || o->target_kind != PTX_TARGET_STATEMENT)
        return NULL;
    const struct ptx_statement *stm = o->target.statement;
    if (stm->kind == PTX_PROTOTYPE)
        return stm->u.prototype;
    return stm->u.targets->target.function;
}

/* Any function with the signature may be called, but no entry. */
static void build_indirect(struct ptx_builder *b, const struct ptx_call_operands *call,
                           struct ptx_op *op)
{
    static const struct ptx_function plain = {.name = "_"};
    const struct ptx_function *f = signature_of(call->signature);
    op->sources[op->source_count++] =
        ptx_build_place(b, call->target, (struct ptx_type){PTX_CLASS_INT, 32, false}, 0);
    op->signature = ptx_build_signature(b, f);
    for (uint32_t callee = 1; callee < b->code->function_count; callee++)
        if (b->code->functions[callee].signature == op->signature)
            note_call(b, callee);
    build_copies(b, call, f ? f : &plain, op);
}

void ptx_build_call(struct ptx_builder *b, const struct ptx_instruction *instruction,
                    struct ptx_op *op)
{
    struct ptx_call_operands call;
    INVARIANT(ptx_call_divide(instruction->operands, &call));
    op->exec = PTX_EXEC_CALL;
    if (call.target->target_kind == PTX_TARGET_STATEMENT) {
        op->target = ptx_build_label(b, call.target->target.statement);
        if (!b->ptx->raw)
            ptx_build_fail(b, "a label is called only in kernels with the setting 'raw'");
        return;
    }
    if (call.target->target_kind != PTX_TARGET_FUNCTION) {
        build_indirect(b, &call, op);
        return;
    }
    const struct ptx_function *f = ptx_definition(&b->reach.symbols, call.target->target.function);
    if (!f) {
        build_outside(b, &call, op);
        return;
    }
    const uint32_t *number = ptx_map_find(&b->function_numbers, f, 0);
    if (!number || f->is_entry) {
        ptx_build_fail(b, "'%.80s' cannot be called", f->name);
        return;
    }
    op->target = b->code->functions[*number].entry;
    note_call(b, *number);
    build_copies(b, &call, f, op);
}
