/*
 * vector_code.c - statements and expressions of block programs as vector instructions.
 *
 * While code is made, a reference names a class and an index in it; when all is known, the classes get
 * their places in the pool.
 */
#include "engine/vector/vector_internal.h"

#include <string.h>

enum ref_class {
    REF_CONSTANT,
    REF_TID,
    REF_LANE,
    REF_WARP,
    REF_BID,
    REF_PRIVATE,
    REF_LOCAL,
    REF_REGISTER
};

static vector_ref ref(enum ref_class class, uint32_t index)
{
    return (uint32_t) class << 28 | index;
}

enum { REGISTER_BLOCK_MASK, REGISTER_STATEMENT_MASK, REGISTER_FIRST };

struct translation {
    struct arena *arena;
    struct vector_run *run;
    const struct program *program;
    const char *reason;
    struct vector_inst *code; /* of the block */
    uint32_t count, capacity;
    int32_t *constants;
    uint32_t constant_count, constant_capacity;
    uint32_t registers, registers_most;
    uint32_t atomic_count, pick_count;
};

static vector_ref constant(struct translation *t, int32_t value)
{
    for (uint32_t i = 0; i < t->constant_count; i++)
        if (t->constants[i] == value)
            return ref(REF_CONSTANT, i);
    if (t->constant_count == t->constant_capacity) {
        uint32_t capacity = t->constant_capacity ? 2 * t->constant_capacity : 32;
        int32_t *grown = ARENA_ARRAY(t->arena, int32_t, capacity);
        if (t->constant_count)
            memcpy(grown, t->constants, t->constant_count * sizeof *grown);
        t->constants = grown;
        t->constant_capacity = capacity;
    }
    t->constants[t->constant_count] = value;
    return ref(REF_CONSTANT, t->constant_count++);
}

static vector_ref new_register(struct translation *t)
{
    uint32_t number = t->registers++;
    if (t->registers > t->registers_most)
        t->registers_most = t->registers;
    return ref(REF_REGISTER, number);
}

static struct vector_inst *emit(struct translation *t, unsigned op, vector_ref mask)
{
    if (t->count == t->capacity) {
        uint32_t capacity = t->capacity ? 2 * t->capacity : 32;
        struct vector_inst *grown = ARENA_ARRAY(t->arena, struct vector_inst, capacity);
        if (t->count)
            memcpy(grown, t->code, t->count * sizeof *grown);
        t->code = grown;
        t->capacity = capacity;
    }
    struct vector_inst *inst = &t->code[t->count++];
    vector_ref zero = ref(REF_REGISTER, REGISTER_BLOCK_MASK);
    *inst = (struct vector_inst){
        .op = (uint8_t)op, .dst = zero, .a = zero, .b = zero, .c = zero, .mask = mask};
    return inst;
}

static bool is_private(enum ast_space space)
{
    return space == SPACE_PRIVATE || space == SPACE_LOCAL;
}

static vector_ref private_ref(enum ast_space space, uint32_t offset)
{
    return ref(space == SPACE_LOCAL ? REF_LOCAL : REF_PRIVATE, offset);
}

static uint32_t offset_of(const struct translation *t, const struct ast_var *var)
{
    return var->space == SPACE_LOCAL ? var->mark : t->program->vars[var->mark].offset;
}

/* Whether evaluating it can be seen: it reads shared memory, or can leave an array. */
static bool has_effect(const struct ast_expr *e)
{
    if (!e)
        return false;
    if (e->kind == EXPR_INDEX || (e->kind == EXPR_VAR && !is_private(e->var->space)))
        return true;
    return has_effect(e->a) || has_effect(e->b) || has_effect(e->c);
}

static vector_ref translate(struct translation *t, const struct ast_expr *e, vector_ref mask);

/* dst = op(a, b, c), in a fresh register. */
static vector_ref emit_result(struct translation *t, unsigned op, vector_ref mask, vector_ref a,
                              vector_ref b, vector_ref c)
{
    vector_ref dst = new_register(t);
    struct vector_inst *inst = emit(t, op, mask);
    inst->dst = dst;
    inst->a = a;
    inst->b = b;
    inst->c = c;
    return dst;
}

/* An operand that C evaluates only where `condition` is (not) zero: disabled lanes read nothing (B-9). */
static vector_ref translate_where(struct translation *t, const struct ast_expr *e,
                                  vector_ref condition, bool holds, vector_ref mask)
{
    if (has_effect(e))
        mask = emit_result(t, holds ? V_WHERE : V_WHERE_NOT, mask, condition, condition, condition);
    return translate(t, e, mask);
}

static vector_ref translate_binary(struct translation *t, const struct ast_expr *e, vector_ref mask)
{
    vector_ref a = translate(t, e->a, mask), b;
    if (e->binary == BINARY_LOGICAL_AND || e->binary == BINARY_LOGICAL_OR)
        b = translate_where(t, e->b, a, e->binary == BINARY_LOGICAL_AND, mask);
    else
        b = translate(t, e->b, mask);
    return emit_result(t, V_BINARY + (unsigned)e->binary, mask, a, b, b);
}

static vector_ref translate_builtin(struct translation *t, enum ast_builtin builtin)
{
    switch (builtin) {
    case BUILTIN_TID:
        return ref(REF_TID, 0);
    case BUILTIN_LANE:
        return ref(REF_LANE, 0);
    case BUILTIN_WARP:
        return ref(REF_WARP, 0);
    case BUILTIN_BID:
        return ref(REF_BID, 0);
    case BUILTIN_THREADS:
    case BUILTIN_WARP_SIZE:
    case BUILTIN_BLOCKS:
        return constant(t, program_builtin(t->program, 0, builtin));
    case BUILTIN_COUNT:
        break;
    }
    invariant_fail("a builtin", __FILE__, __LINE__);
}

/* The element of an array whose index is known, or the scalar. */
static vector_ref translate_read(struct translation *t, const struct ast_var *var, vector_ref index,
                                 vector_ref mask)
{
    uint32_t offset = offset_of(t, var);
    bool mine = is_private(var->space);
    if (index == VECTOR_NONE && mine)
        return private_ref(var->space, offset);
    vector_ref dst = new_register(t);
    unsigned op = index == VECTOR_NONE ? V_LOAD : mine ? V_PRIVATE_GATHER : V_GATHER;
    struct vector_inst *inst = emit(t, op, mask);
    inst->space = (uint8_t)var->space;
    inst->dst = dst;
    if (index != VECTOR_NONE) {
        inst->a = index;
        inst->b = var->length;
    }
    if (mine)
        inst->c = private_ref(var->space, offset);
    else
        inst->imm = (int32_t)offset;
    return dst;
}

/* Where the value of an expression lies once its instructions have run for the lanes of `mask`. */
static vector_ref translate(struct translation *t, const struct ast_expr *e, vector_ref mask)
{
    vector_ref a, b, c;
    switch (e->kind) {
    case EXPR_INT:
        return constant(t, e->value);
    case EXPR_VAR:
        return translate_read(t, e->var, VECTOR_NONE, mask);
    case EXPR_INDEX:
        a = translate(t, e->a, mask);
        return translate_read(t, e->var, a, mask);
    case EXPR_BUILTIN:
        return translate_builtin(t, e->builtin);
    case EXPR_UNARY:
        a = translate(t, e->a, mask);
        return emit_result(t, V_UNARY + (unsigned)e->unary, mask, a, a, a);
    case EXPR_BINARY:
        return translate_binary(t, e, mask);
    case EXPR_COND:
        a = translate(t, e->a, mask);
        b = translate_where(t, e->b, a, true, mask);
        c = translate_where(t, e->c, a, false, mask);
        return emit_result(t, V_SELECT, mask, a, b, c);
    case EXPR_ALL:
    case EXPR_ANY:
        break;
    }
    invariant_fail("an expression of the block form", __FILE__, __LINE__);
}

/* ---- statements ---- */

/* Whether `value` is what the last instruction computes, into a register that nobody else reads: then
 * that one moves it (vector_inst.moves). */
static bool computes(const struct translation *t, vector_ref value)
{
    const struct vector_inst *last = &t->code[t->count - 1];
    return last->op >= V_BINARY && last->op < V_SELECT && last->dst == value;
}

/* place = value, in the lanes of `mask`. */
static void write_place(struct translation *t, const struct code_place *place, vector_ref index,
                        vector_ref value, vector_ref mask)
{
    bool mine = is_private(place->space), element = index != VECTOR_NONE;
    if (mine && !element && computes(t, value)) {
        struct vector_inst *last = &t->code[t->count - 1];
        last->moves = true;
        last->c = private_ref(place->space, place->offset);
        last->mask = mask;
        return;
    }
    struct vector_inst *inst = emit(
        t, mine ? (element ? V_PRIVATE_SCATTER : V_MOVE) : (element ? V_SCATTER : V_STORE), mask);
    inst->space = (uint8_t)place->space;
    inst->imm = mine ? 0 : (int32_t)place->offset;
    inst->a = element ? index : value;
    if (element)
        inst->b = place->length;
    if (mine && element) {
        inst->dst = value;
        inst->c = private_ref(place->space, place->offset);
    } else if (mine) {
        inst->dst = private_ref(place->space, place->offset);
    } else if (element) {
        inst->c = value;
    }
}

static vector_ref translate_place(struct translation *t, const struct ast_lvalue *place,
                                  vector_ref mask)
{
    return place->index ? translate(t, place->index, mask) : VECTOR_NONE;
}

/* The right-hand side of `x op= e` is that of x = x op e. */
static vector_ref translate_value(struct translation *t, const struct ast_stm *stm,
                                  vector_ref index, vector_ref mask)
{
    if (stm->op == ASSIGN_SET)
        return translate(t, stm->value, mask);
    vector_ref old = translate_read(t, stm->target.var, index, mask);
    vector_ref value = translate(t, stm->value, mask);
    return emit_result(t, V_BINARY + (unsigned)ast_assign_operations[stm->op], mask, old, value,
                       value);
}

static void translate_atomic(struct translation *t, const struct code_stm *stm, vector_ref mask)
{
    const struct ast_stm *source = stm->source;
    struct vector_atomic *a = &t->run->atomics[t->atomic_count];
    a->atomic = stm->atomic;
    a->space = stm->place.space;
    a->offset = stm->place.offset;
    a->length = stm->place.length;
    a->place = is_private(a->space) ? private_ref(a->space, a->offset) : VECTOR_NONE;
    a->index = translate_place(t, &source->place, mask);
    a->value = translate(t, source->arguments, mask);
    a->second = source->arguments->next ? translate(t, source->arguments->next, mask) : a->value;
    a->dst = source->target.var
                 ? private_ref(source->target.var->space, offset_of(t, source->target.var))
                 : VECTOR_NONE;
    emit(t, V_ATOMIC, mask)->imm = (int32_t)t->atomic_count++;
}

/* Choosing accesses nothing, and a guard whose index is outside is chosen (interleave.c): loads are not like
 * that. */
static void translate_pick(struct translation *t, const struct code_stm *stm, vector_ref mask)
{
    if (program_pick_reads_memory(t->program, stm) && !t->reason)
        t->reason = arena_printf(t->arena, "a pick whose guard reads memory at line %u", stm->line);
    struct vector_pick *p = &t->run->picks[t->pick_count];
    p->first = stm->first;
    p->count = stm->second;
    p->guards = ARENA_ARRAY(t->arena, vector_ref, p->count);
    uint32_t k = 0;
    for (const struct ast_expr *e = stm->source->arguments; e; e = e->next->next)
        p->guards[k++] = translate(t, e->next, mask);
    INVARIANT(k == p->count);
    vector_ref values = new_register(t);
    struct vector_inst *inst = emit(t, V_PICK, mask);
    inst->imm = (int32_t)t->pick_count++;
    inst->dst = values;
    write_place(t, &stm->place, VECTOR_NONE, values, mask);
}

static void translate_call(struct translation *t, uint32_t number, vector_ref mask)
{
    const struct code_stm *stm = &t->program->stms[number];
    const struct code_function *callee = &t->program->functions[stm->first];
    const struct code_argument *arguments = &t->program->arguments[stm->second];
    struct vector_call *call = ARENA_NEW(t->arena, struct vector_call);
    call->callee = stm->first;
    call->in_count = callee->in_count;
    call->out_count = callee->out_count;
    call->ins = ARENA_ARRAY(t->arena, vector_ref, call->in_count);
    call->in_offsets = ARENA_ARRAY(t->arena, uint32_t, call->in_count);
    call->outs = ARENA_ARRAY(t->arena, vector_ref, call->out_count);
    call->out_offsets = ARENA_ARRAY(t->arena, uint32_t, call->out_count);
    const struct ast_expr *e = stm->source->arguments;
    for (uint32_t i = 0; i < call->in_count; i++, e = e->next) {
        call->ins[i] = translate(t, e, mask);
        call->in_offsets[i] = arguments[i].offset;
    }
    for (uint32_t i = 0; i < call->out_count; i++) {
        const struct code_argument *out = &arguments[call->in_count + i];
        call->outs[i] = private_ref(out->target.space, out->target.offset);
        call->out_offsets[i] = out->offset;
    }
    t->run->calls[number] = call;
    emit(t, V_CALL, mask)->imm = (int32_t)number;
}

static void translate_stm(struct translation *t, uint32_t number)
{
    const struct code_stm *stm = &t->program->stms[number];
    const struct ast_stm *source = stm->source;
    vector_ref mask = ref(REF_REGISTER, REGISTER_BLOCK_MASK), index, value;
    t->registers = REGISTER_FIRST;
    emit(t, V_STATEMENT, mask)->imm = (int32_t)number;
    if (source && source->guard) {
        vector_ref guard = translate(t, source->guard, mask);
        struct vector_inst *where = emit(t, V_WHERE, mask);
        mask = where->dst = ref(REF_REGISTER, REGISTER_STATEMENT_MASK);
        where->a = guard;
    }
    switch (stm->kind) {
    case CODE_SKIP:
        return;
    case CODE_ASSIGN:
        index = translate_place(t, &source->target, mask);
        value = translate_value(t, source, index, mask);
        write_place(t, &stm->place, index, value, mask);
        return;
    case CODE_ASSERT:
    case CODE_ASSUME:
        value = translate(t, source->value, mask);
        emit(t, stm->kind == CODE_ASSERT ? V_ASSERT : V_ASSUME, mask)->a = value;
        return;
    case CODE_HAVOC:
        index = translate_place(t, &source->place, mask);
        value = new_register(t);
        emit(t, V_HAVOC, mask)->dst = value;
        write_place(t, &stm->place, index, value, mask);
        return;
    case CODE_ATOMIC:
        translate_atomic(t, stm, mask);
        return;
    case CODE_BARRIER:
        emit(t, V_BARRIER, mask);
        return;
    case CODE_PICK:
        translate_pick(t, stm, mask);
        return;
    case CODE_CALL:
        translate_call(t, number, mask);
        return;
    case CODE_GOTO:
    case CODE_END_CALL:
        return;
    case CODE_VOTE:
    case CODE_IF:
    case CODE_WHILE:
    case CODE_BREAK:
    case CODE_RETURN:
    case CODE_EXIT:
    case CODE_LOCKSYNC:
    case CODE_PTX:
        break;
    }
    if (!t->reason)
        t->reason = arena_printf(t->arena, "unsupported statement at line %u", stm->line);
}

/* The guards of a block's targets; NULL when there is nothing to decide. */
static vector_ref *translate_guards(struct translation *t, const struct code_block *block)
{
    bool decides = block->target_count > 1;
    vector_ref *guards = ARENA_ARRAY(t->arena, vector_ref, block->target_count);
    vector_ref mask = ref(REF_REGISTER, REGISTER_BLOCK_MASK);
    t->registers = REGISTER_FIRST;
    for (uint32_t i = 0; i < block->target_count; i++) {
        uint32_t target = t->program->targets[block->target_first + i];
        const struct code_block *to = target == BLOCK_END ? NULL : &t->program->blocks[target];
        guards[i] = VECTOR_NONE;
        if (!to || to->guard == CODE_NONE)
            continue;
        const struct ast_expr *guard = t->program->stms[to->first].source->value;
        if (guard->kind == EXPR_INT && guard->value != 0)
            continue;
        if (has_effect(guard)) {
            if (!t->reason)
                t->reason =
                    arena_printf(t->arena, "the guard of block '%s' reads shared memory", to->name);
            continue;
        }
        decides = true;
        guards[i] = translate(t, guard, mask);
    }
    return decides ? guards : NULL;
}

static void translate_block(struct translation *t, uint32_t number)
{
    const struct code_block *block = &t->program->blocks[number];
    struct vector_block *to = &t->run->blocks[number];
    t->code = NULL;
    t->count = t->capacity = 0;
    for (uint32_t stm = block->first;; stm++) {
        translate_stm(t, stm);
        if (t->program->stms[stm].last)
            break;
    }
    to->guards = translate_guards(t, block);
    emit(t, V_GOTO, ref(REF_REGISTER, REGISTER_BLOCK_MASK))->imm = (int32_t)number;
    to->code = t->code;
}

/* ---- places in the pool ---- */

static vector_ref placed(const struct vector_run *run, uint32_t constants, vector_ref r)
{
    uint32_t index = r & 0x0fffffffu, words = run->padded;
    if (r == VECTOR_NONE)
        return r;
    switch ((enum ref_class)(r >> 28)) {
    case REF_CONSTANT:
        return index * words;
    case REF_TID:
        return constants * words;
    case REF_LANE:
        return (constants + 1) * words;
    case REF_WARP:
        return (constants + 2) * words;
    case REF_BID:
        return (constants + 3) * words;
    case REF_PRIVATE:
        return run->privates + index * words;
    case REF_LOCAL:
        return VECTOR_IN_FRAME | index * words;
    case REF_REGISTER:
        return run->registers + index * words;
    }
    invariant_fail("a class of vectors", __FILE__, __LINE__);
}

static void place_all(struct translation *t)
{
    struct vector_run *run = t->run;
    uint32_t c = t->constant_count;
    for (uint32_t b = 0; b < t->program->block_count; b++) {
        /* The code was made by this translation; run_block sees it as constant. */
        struct vector_block *block = &run->blocks[b];
        struct vector_inst *inst = NULL;
        memcpy(&inst, &block->code, sizeof inst);
        for (;; inst++) {
            inst->dst = placed(run, c, inst->dst);
            inst->a = placed(run, c, inst->a);
            if (inst->op != V_GATHER && inst->op != V_SCATTER && inst->op != V_PRIVATE_GATHER &&
                inst->op != V_PRIVATE_SCATTER)
                inst->b = placed(run, c, inst->b);
            inst->c = placed(run, c, inst->c);
            inst->mask = placed(run, c, inst->mask);
            if (inst->op == V_GOTO)
                break;
        }
        for (uint32_t i = 0; block->guards && i < t->program->blocks[b].target_count; i++)
            block->guards[i] = placed(run, c, block->guards[i]);
    }
    for (uint32_t i = 0; i < t->atomic_count; i++) {
        struct vector_atomic *a = &run->atomics[i];
        a->index = placed(run, c, a->index);
        a->place = placed(run, c, a->place);
        a->value = placed(run, c, a->value);
        a->second = placed(run, c, a->second);
        a->dst = placed(run, c, a->dst);
    }
    for (uint32_t i = 0; i < t->pick_count; i++)
        for (uint32_t k = 0; k < run->picks[i].count; k++)
            run->picks[i].guards[k] = placed(run, c, run->picks[i].guards[k]);
    for (uint32_t i = 0; i < t->program->stm_count; i++) {
        struct vector_call *call = run->calls[i];
        for (uint32_t k = 0; call && k < call->in_count; k++)
            call->ins[k] = placed(run, c, call->ins[k]);
        for (uint32_t k = 0; call && k < call->out_count; k++)
            call->outs[k] = placed(run, c, call->outs[k]);
    }
}

/* Lays the pool out; constants and builtins are filled in. */
static bool make_pool(struct translation *t)
{
    struct vector_run *run = t->run;
    const struct program *program = t->program;
    uint64_t words = run->padded;
    uint64_t fixed = t->constant_count + 4u, frames = program->words[SPACE_LOCAL];
    uint64_t total = words * (fixed + program->words[SPACE_PRIVATE] + frames + t->registers_most);
    if (total > 4u * LIMIT_MEMORY_WORDS) {
        t->reason =
            arena_printf(t->arena, "needs %llu words of vectors", (unsigned long long)total);
        return false;
    }
    run->tid = (vector_ref)(t->constant_count * words);
    run->bid = (vector_ref)((t->constant_count + 3) * words);
    run->privates = (vector_ref)(fixed * words);
    run->frames = (vector_ref)((fixed + program->words[SPACE_PRIVATE]) * words);
    run->registers = (vector_ref)(run->frames + frames * words);
    run->pool_words = (uint32_t)total;
    run->pool = ARENA_ARRAY(t->arena, int32_t, total);
    for (uint32_t i = 0; i < t->constant_count; i++)
        for (uint32_t k = 0; k < run->padded; k++)
            run->pool[i * run->padded + k] = t->constants[i];
    for (uint32_t k = 0; k < run->lanes; k++) {
        run->pool[run->tid + k] = program_builtin(program, k, BUILTIN_TID);
        run->pool[run->tid + run->padded + k] = program_builtin(program, k, BUILTIN_LANE);
        run->pool[run->tid + 2 * run->padded + k] = program_builtin(program, k, BUILTIN_WARP);
    }
    return true;
}

bool vector_translate(struct arena *arena, struct vector_run *run, const char **reason)
{
    const struct program *program = run->program;
    struct translation t = {
        .arena = arena, .run = run, .program = program, .registers_most = REGISTER_FIRST};
    uint32_t atomics = 0, picks = 0;
    for (uint32_t i = 0; i < program->stm_count; i++) {
        atomics += program->stms[i].kind == CODE_ATOMIC;
        picks += program->stms[i].kind == CODE_PICK;
    }
    run->blocks = ARENA_ARRAY(arena, struct vector_block, program->block_count);
    run->atomics = ARENA_ARRAY(arena, struct vector_atomic, atomics);
    run->picks = ARENA_ARRAY(arena, struct vector_pick, picks);
    run->calls = ARENA_ARRAY(arena, struct vector_call *, program->stm_count);
    for (uint32_t b = 0; b < program->block_count && !t.reason; b++)
        translate_block(&t, b);
    if (t.reason || !make_pool(&t)) {
        *reason = t.reason;
        return false;
    }
    place_all(&t);
    return true;
}
