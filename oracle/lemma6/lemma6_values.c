/*
 * lemma6_values.c - what lanes of a warp know: their own memory, and expressions over it.
 */
#include "engine/base/invariant.h"
#include "engine/language/eval_ops.h"
#include "oracle/lemma6/lemma6_internal.h"

#include <string.h>

static const struct l6_value unknown = {0, 0};

/* ---- memory ---- */

static void mark_written(const struct program *program, uint8_t *written)
{
    for (uint32_t i = 0; i < program->stm_count; i++) {
        const struct code_stm *s = &program->stms[i];
        bool writes = s->kind == CODE_ASSIGN || s->kind == CODE_HAVOC || s->kind == CODE_ATOMIC;
        if (writes && s->place.space <= SPACE_SHARED)
            written[s->place.var] = 1;
    }
}

bool l6_has_constants(const struct program *program)
{
    for (uint32_t v = 0; v < program->var_count; v++) {
        bool written = program->vars[v].ast->space > SPACE_SHARED;
        for (uint32_t i = 0; i < program->stm_count && !written; i++) {
            const struct code_stm *s = &program->stms[i];
            written = (s->kind == CODE_ASSIGN || s->kind == CODE_HAVOC || s->kind == CODE_ATOMIC) &&
                      s->place.space <= SPACE_SHARED && s->place.var == v;
        }
        if (!written)
            return true;
    }
    return false;
}

struct l6_memory l6_memory_new(struct arena *arena, const struct program *program, bool constants)
{
    struct l6_memory memory = {.program = program};
    int32_t *initial = ARENA_ARRAY(arena, int32_t, program->memory_words + 1);
    uint8_t *written = ARENA_ARRAY(arena, uint8_t, program->var_count + 1);
    program_init_memory(program, initial);
    mark_written(program, written);
    memory.initial = initial;
    memory.written = constants ? written : NULL;
    memory.own[SPACE_GLOBAL] = program->total_threads == 1;
    memory.own[SPACE_SHARED] = program->launch.threads == 1;
    memory.own[SPACE_PRIVATE] = memory.own[SPACE_LOCAL] = true;
    for (uint32_t space = 0; space < SPACE_COUNT; space++) {
        memory.base[space] = memory.words;
        memory.words += memory.own[space] ? program->words[space] : 0;
    }
    return memory;
}

/* Where the thread's copy of a space starts in the initial memory. */
static uint32_t initial_base(const struct program *program, enum ast_space space, uint32_t thread)
{
    uint32_t block = thread / program->launch.threads;
    switch (space) {
    case SPACE_GLOBAL:
        return 0;
    case SPACE_SHARED:
        return program->shared_base + block * program->words[SPACE_SHARED];
    case SPACE_PRIVATE:
        return program->private_base + thread * program->words[SPACE_PRIVATE];
    case SPACE_LOCAL:
        return program->frame_base + thread * program->words[SPACE_LOCAL];
    case SPACE_COUNT:
        break;
    }
    invariant_fail("a space is one of the four", __FILE__, __LINE__);
}

void l6_start(const struct l6_memory *memory, uint32_t thread, struct l6_value *values)
{
    const struct program *program = memory->program;
    for (uint32_t space = 0; space < SPACE_COUNT; space++) {
        uint32_t base = initial_base(program, (enum ast_space)space, thread);
        for (uint32_t i = 0; i < program->words[space] && memory->own[space]; i++)
            values[memory->base[space] + i] = l6_known(memory->initial[base + i]);
    }
}

/* The word of a space of one's own. */
static uint32_t word_of(const struct l6_memory *memory, enum ast_space space, uint32_t offset)
{
    return (space == SPACE_LOCAL ? memory->frame : memory->base[space]) + offset;
}

static struct l6_value read(const struct l6_memory *memory, uint32_t thread,
                            const struct l6_value *values, const struct code_expr_op *op,
                            enum ast_space space, uint32_t element)
{
    uint32_t offset = (uint32_t)op->a + element;
    if (memory->own[space])
        return values[word_of(memory, space, offset)];
    if (!memory->written || memory->written[op->var])
        return unknown;
    return l6_known(memory->initial[initial_base(memory->program, space, thread) + offset]);
}

void l6_write(const struct l6_memory *memory, uint32_t thread, struct l6_value *values,
              const struct code_place *place, struct l6_value v)
{
    struct l6_value index = l6_known(0);
    if (!memory->own[place->space])
        return;
    if (place->index != CODE_NONE)
        index = l6_eval(memory, thread, values, place->index);
    struct l6_value *first = &values[word_of(memory, place->space, place->offset)];
    if (!index.known)
        memset(first, 0, place->length * sizeof *first);
    else if ((uint32_t)index.value < place->length)
        first[index.value] = v;
}

/* ---- expressions ---- */

struct evaluation {
    const struct l6_memory *memory;
    const struct l6_value *values;
    uint32_t thread;
};

static struct l6_value run_ops(const struct evaluation *e, uint32_t from, uint32_t to);

static struct l6_value binary(enum ast_binary op, struct l6_value a, struct l6_value b)
{
    bool zero = (a.known && a.value == 0) || (b.known && b.value == 0);
    if (a.known && b.known)
        return l6_known(eval_binary(op, a.value, b.value));
    return zero && (op == BINARY_MUL || op == BINARY_AND) ? l6_known(0) : unknown;
}

/* a && b, a || b, where a is not known: b alone may decide. */
static struct l6_value logical(const struct evaluation *e, uint32_t at)
{
    const struct code_expr_op *op = &e->memory->program->ops[at];
    struct l6_value b = run_ops(e, at + 1, (uint32_t)op->a);
    bool decides = op->op == OP_AND_JUMP ? b.value == 0 : b.value != 0;
    return b.known && decides ? b : unknown;
}

/* a ? b : c, where a is not known: JUMP_ZERO c; b; JUMP end; c. */
static struct l6_value either(const struct evaluation *e, uint32_t at, uint32_t *end)
{
    const struct code_expr_op *ops = e->memory->program->ops;
    uint32_t second = (uint32_t)ops[at].a;
    *end = (uint32_t)ops[second - 1].a;
    return l6_join(run_ops(e, at + 1, second - 1), run_ops(e, second, *end));
}

/* An expression's ops [from, to), or up to its OP_END. */
static struct l6_value run_ops(const struct evaluation *e, uint32_t from, uint32_t to)
{
    const struct code_expr_op *ops = e->memory->program->ops;
    struct l6_value stack[PROGRAM_EXPR_DEPTH], *top = stack; /* next free */
    uint32_t at = from;
    while (at != to && ops[at].op != OP_END) {
        const struct code_expr_op *op = &ops[at++];
        switch (op->op) {
        case OP_INT:
            *top++ = l6_known(op->a);
            break;
        case OP_BUILTIN:
            *top++ =
                l6_known(program_builtin(e->memory->program, e->thread, (enum ast_builtin)op->a));
            break;
        case OP_GLOBAL:
        case OP_SHARED:
        case OP_PRIVATE:
        case OP_LOCAL:
            *top++ =
                read(e->memory, e->thread, e->values, op, (enum ast_space)(op->op - OP_GLOBAL), 0);
            break;
        case OP_INDEX: /* outside: the execution ends */
            top[-1] = top[-1].known && (uint32_t)top[-1].value < op->b
                          ? read(e->memory, e->thread, e->values, op, (enum ast_space)op->space,
                                 (uint32_t)top[-1].value)
                          : unknown;
            break;
        case OP_UNARY:
            if (top[-1].known)
                top[-1] = l6_known(eval_unary((enum ast_unary)op->a, top[-1].value));
            break;
        case OP_BOOL:
            top[-1].value = top[-1].value != 0;
            break;
        case OP_JUMP:
            at = (uint32_t)op->a;
            break;
        case OP_JUMP_ZERO:
            top--;
            if (!top->known)
                *top++ = either(e, at - 1, &at);
            else if (top->value == 0)
                at = (uint32_t)op->a;
            break;
        case OP_AND_JUMP:
        case OP_OR_JUMP:
            if (!top[-1].known) {
                top[-1] = logical(e, at - 1);
                at = (uint32_t)op->a;
            } else if ((top[-1].value != 0) == (op->op == OP_OR_JUMP)) {
                top[-1].value = top[-1].value != 0;
                at = (uint32_t)op->a;
            } else {
                top--;
            }
            break;
        default:
            INVARIANT(op->op >= OP_BINARY && op->op < OP_BINARY_INT + BINARY_COUNT);
            if (op->op >= OP_BINARY_INT) {
                top[-1] =
                    binary((enum ast_binary)(op->op - OP_BINARY_INT), top[-1], l6_known(op->a));
            } else {
                top--;
                top[-1] = binary((enum ast_binary)(op->op - OP_BINARY), top[-1], top[0]);
            }
            break;
        }
    }
    return top[-1];
}

struct l6_value l6_eval(const struct l6_memory *memory, uint32_t thread,
                        const struct l6_value *values, uint32_t expr)
{
    const struct evaluation e = {memory, values, thread};
    return run_ops(&e, expr, UINT32_MAX);
}
