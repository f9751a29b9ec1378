/*
 * mock.h - a toy semantics for tests of schedulers and searches: each actor runs a list of operations
 * on shared words, one a step. Independent of the kernel language and of every other semantics.
 */
#ifndef TESTS_UNIT_MOCK_H
#define TESTS_UNIT_MOCK_H

#include "engine/machine/semantics.h"

enum mock_kind {
    MOCK_NOP,     /* private */
    MOCK_READ,    /* register = word a */
    MOCK_WRITE,   /* word a = register + b */
    MOCK_SET,     /* word a = b */
    MOCK_UNTIL,   /* stays here until word a == b */
    MOCK_FOREVER, /* stays here */
    MOCK_ASSERT,  /* word a != b, else the execution ends */
    MOCK_CHOOSE   /* word a = one of b possibilities */
};

struct mock_op {
    enum mock_kind kind;
    uint32_t a;
    int32_t b;
};

enum { MOCK_ACTORS = 8, MOCK_OPS = 24 };

struct mock_program {
    struct program program; /* first member */
    struct code_function function;
    struct code_stm loop; /* there is a loop: what programs with MOCK_UNTIL show */
    struct mock_op ops[MOCK_ACTORS][MOCK_OPS];
    uint32_t counts[MOCK_ACTORS];
};

struct mock_actor {
    uint32_t pc;
    uint32_t value;
};

static inline const struct mock_program *mock_of(const struct program *program)
{
    return (const struct mock_program *)program;
}

static inline struct mock_program *mock_new(struct arena *arena, uint32_t actors, uint32_t words)
{
    struct mock_program *mock = ARENA_NEW(arena, struct mock_program);
    struct program *p = &mock->program;
    p->launch = (struct ast_launch){.threads = actors, .warp = actors, .blocks = 1};
    p->functions = &mock->function;
    p->function_count = 1;
    p->frame_init = ARENA_ARRAY(arena, int32_t, 1);
    p->total_threads = actors;
    p->shared_base = p->private_base = p->frame_base = p->memory_words = words;
    p->units = 1;
    return mock;
}

static inline void mock_add(struct mock_program *mock, uint32_t actor, enum mock_kind kind,
                            uint32_t a, int32_t b)
{
    assert_true(mock->counts[actor] < MOCK_OPS);
    mock->ops[actor][mock->counts[actor]++] = (struct mock_op){kind, a, b};
    if (kind == MOCK_UNTIL || kind == MOCK_FOREVER) {
        mock->loop.kind = CODE_WHILE;
        mock->program.stms = &mock->loop;
        mock->program.stm_count = 1;
    }
}

static inline uint32_t mock_extra_words(const struct program *program)
{
    return program->total_threads * 2;
}

static inline uint32_t mock_actor_count(const struct program *program)
{
    return program->total_threads;
}

static inline void mock_init(struct machine *machine)
{
    for (uint32_t i = 0; i < machine->actor_count; i++)
        if (mock_of(machine->program)->counts[i] == 0)
            machine_retire(machine, i);
}

static inline bool mock_is_read(enum mock_kind kind)
{
    return kind == MOCK_READ || kind == MOCK_UNTIL || kind == MOCK_ASSERT;
}

static inline bool mock_is_write(enum mock_kind kind)
{
    return kind == MOCK_WRITE || kind == MOCK_SET || kind == MOCK_CHOOSE;
}

static inline int32_t mock_written(const struct mock_actor *self, const struct mock_op *op,
                                   struct choices *choices)
{
    if (op->kind == MOCK_CHOOSE)
        return (int32_t)choices->choose(choices, (uint32_t)op->b);
    return op->kind == MOCK_SET ? op->b : (int32_t)self->value + op->b;
}

static inline enum rule mock_step(struct machine *machine, uint32_t actor, struct choices *choices)
{
    struct mock_actor *self = (struct mock_actor *)machine->extra + actor;
    const struct mock_program *mock = mock_of(machine->program);
    const struct mock_op *op = &mock->ops[actor][self->pc];
    uint32_t pc = self->pc + 1;
    if (mock_is_write(op->kind)) {
        int32_t value = mock_written(self, op, choices);
        put_memory(machine, op->a, value);
        if (is_observed(machine))
            observe_write(machine, actor, op->a, value, 0);
    } else if (mock_is_read(op->kind)) {
        int32_t value = machine->memory[op->a];
        if (is_observed(machine))
            observe_read(machine, actor, op->a, 0);
        if (op->kind == MOCK_READ)
            put(machine, &self->value, (uint32_t)value);
        bool fails = op->kind == MOCK_ASSERT && value == op->b;
        if (fails)
            machine_fault(machine, STATUS_ASSERT_FAILS, actor, 0);
        if (fails || (op->kind == MOCK_UNTIL && value != op->b))
            pc = self->pc;
    } else if (op->kind == MOCK_FOREVER) {
        pc = self->pc;
    }
    put(machine, &self->pc, pc);
    machine->steps++;
    if (pc == mock->counts[actor])
        machine_retire(machine, actor);
    return RULE_THR_SKIP;
}

static inline const struct mock_op *mock_next(const struct machine *machine, uint32_t actor)
{
    const struct mock_actor *self = (const struct mock_actor *)machine->extra + actor;
    const struct mock_program *mock = mock_of(machine->program);
    return self->pc < mock->counts[actor] ? &mock->ops[actor][self->pc] : NULL;
}

static inline void mock_footprint(const struct machine *machine, uint32_t actor, uint64_t *reads,
                                  uint64_t *writes)
{
    const struct mock_op *op = mock_next(machine, actor);
    *reads = op && mock_is_read(op->kind) ? 1u << op->a : 0;
    *writes = op && mock_is_write(op->kind) ? 1u << op->a : 0;
}

/* Statement numbers for SURW: 0 = private, 1 = touches a word. */
static inline uint32_t mock_next_stm(const struct machine *machine, uint32_t actor)
{
    const struct mock_op *op = mock_next(machine, actor);
    return op ? mock_is_read(op->kind) || mock_is_write(op->kind) : CODE_NONE;
}

static const struct semantics mock_semantics = {
    .name = "mock",
    .extra_words = mock_extra_words,
    .actor_count = mock_actor_count,
    .init = mock_init,
    .step = {mock_step, mock_step, mock_step, mock_step},
    .footprint = mock_footprint,
    .next_stm = mock_next_stm,
};

#endif
