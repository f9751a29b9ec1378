/*
 * semantics.h - for the semantics only: writing state, reporting events, evaluating
 * expressions.
 *
 * A step does more than change the state if the machine has observers, or tracks its state. A file of rules
 * (RULE_SOURCES of engine/CMakeLists.txt) is compiled once for each of the four variants, with STEP_VARIANT its
 * MACHINE_* bits: there a step that is unobserved and untracked pays for neither. Elsewhere the machine is asked.
 */
#ifndef ENGINE_SEMANTICS_H
#define ENGINE_SEMANTICS_H

#include "engine/base/inline.h"
#include "engine/base/invariant.h"
#include "engine/base/pcg.h"
#include "engine/language/eval_ops.h"
#include "engine/machine/choice.h"
#include "engine/machine/machine.h"

#include <string.h>

#define STEP_INLINE INLINED

#ifdef STEP_VARIANT
#define STEP_HAS(bit, asked) ((void)(asked), (STEP_VARIANT & (bit)) != 0)
#else
#define STEP_HAS(bit, asked) (asked)
#endif

STEP_INLINE bool is_observed(const struct machine *machine)
{
    return STEP_HAS(MACHINE_OBSERVED, machine->options.observers != NULL);
}

STEP_INLINE bool is_tracked(const struct machine *machine)
{
    return STEP_HAS(MACHINE_TRACKED, machine->options.track);
}

/* ---- writing state ---- */

STEP_INLINE uint64_t track_mix(uint32_t word, uint32_t value)
{
    return pcg_splitmix(((uint64_t)word << 32) | value);
}

/* Logs and hashes a change of the block's word `word` from `old` to `value`. */
void track_change(struct machine *machine, uint32_t word, uint32_t old, uint32_t value);

STEP_INLINE void put(struct machine *machine, uint32_t *place, uint32_t value)
{
    if (is_tracked(machine) && *place != value)
        track_change(machine, (uint32_t)(place - machine->block), *place, value);
    *place = value;
}

STEP_INLINE void put_mask(struct machine *machine, lane_mask *place, lane_mask value)
{
    if (is_tracked(machine) && *place != value) {
        uint32_t word = (uint32_t)(((const char *)place - (const char *)machine->block) / 4);
        uint32_t before[2], after[2];
        memcpy(before, place, sizeof before);
        memcpy(after, &value, sizeof after);
        for (uint32_t i = 0; i < 2; i++)
            if (before[i] != after[i])
                track_change(machine, word + i, before[i], after[i]);
    }
    *place = value;
}

STEP_INLINE void put_memory(struct machine *machine, uint32_t address, int32_t value)
{
    put(machine, (uint32_t *)&machine->memory[address], (uint32_t)value);
}

/* The execution ends with an error of this thread. */
STEP_INLINE void machine_fault(struct machine *machine, enum status status, uint32_t thread,
                               uint32_t stm)
{
    put(machine, &machine->head->status, (uint32_t)status);
    put(machine, &machine->head->fault_thread, thread);
    put(machine, &machine->head->fault_stm, stm);
}

/* The thread block that an actor belongs to. */
STEP_INLINE struct machine_group *machine_group_of(const struct machine *machine, uint32_t actor)
{
    return &machine->groups[actor / (machine->actor_count / machine->program->launch.blocks)];
}

/* Takes an actor that can no longer step out of the live ones. */
void machine_unlive(struct machine *machine, uint32_t actor);

/* Puts one back that machine_unlive took out. */
void machine_relive(struct machine *machine, uint32_t actor);

/* machine_unlive for one that has become final. Where actors can wait, barrier_settle must follow. */
void machine_retire(struct machine *machine, uint32_t actor);

/* ---- frames ---- */

/* The frame of `callee` above that of `caller`, initialised. */
STEP_INLINE void frame_push(struct machine *machine, uint32_t thread, uint32_t caller,
                            uint32_t callee)
{
    const struct program *program = machine->program;
    struct thread_context *context = &machine->threads[thread];
    const struct code_function *function = &program->functions[callee];
    uint32_t base = context->base[SPACE_LOCAL] + program->functions[caller].frame_words;
    put(machine, &context->base[SPACE_LOCAL], base);
    const int32_t *init = program->frame_init + function->init_first;
    for (uint32_t i = 0; i < function->frame_words; i++)
        put_memory(machine, base + i, init[i]);
}

/* Drops the frame of `callee`; a tracked machine clears it, so that equal states have equal bytes. */
STEP_INLINE void frame_pop(struct machine *machine, uint32_t thread, uint32_t caller,
                           uint32_t callee)
{
    const struct program *program = machine->program;
    struct thread_context *context = &machine->threads[thread];
    uint32_t base = context->base[SPACE_LOCAL];
    if (is_tracked(machine))
        for (uint32_t i = 0; i < program->functions[callee].frame_words; i++)
            put_memory(machine, base + i, 0);
    put(machine, &context->base[SPACE_LOCAL], base - program->functions[caller].frame_words);
}

/* ---- events ---- */

void observe_read(struct machine *machine, uint32_t thread, uint32_t address, uint32_t stm);
void observe_write(struct machine *machine, uint32_t thread, uint32_t address, int32_t value,
                   uint32_t stm);
void observe_atomic(struct machine *machine, uint32_t thread, uint32_t address, int32_t value,
                    uint32_t stm);
void observe_barrier(struct machine *machine, const struct barrier_event *event);
void observe_use(struct machine *machine, const struct barrier_use *use);
void observe_environment(struct machine *machine, const struct step_event *event);
void observe_step_now(struct machine *machine, const struct step_event *event);

/* Most chains - race detectors - hear of accesses only. */
STEP_INLINE void observe_step(struct machine *machine, const struct step_event *event)
{
    if (machine->sees_steps)
        observe_step_now(machine, event);
}

/* ---- expressions ---- */

/* False: an index lies outside its array, which is kept for who asks. */
STEP_INLINE bool is_inside(struct machine *machine, enum ast_space space, uint32_t offset,
                           uint32_t length, uint32_t index)
{
    if (index < length)
        return true;
    machine->outside = (struct machine_outside){space, offset, length, (int32_t)index};
    return false;
}

/*
 * E[[e]] nu mu for one thread: *result. False: an index lies outside its array. The one evaluator of
 * all semantics; operands that C does not evaluate are not read. `seen`: observers hear of the reads.
 */
STEP_INLINE bool eval_seen(struct machine *machine, uint32_t thread, uint32_t expr, uint32_t stm,
                           int32_t *result, const bool seen)
{
    const struct code_expr_op *op = &machine->program->ops[expr];
    const struct thread_context *context = &machine->threads[thread];
    const int32_t *memory = machine->memory;
    int32_t stack[PROGRAM_EXPR_DEPTH];
    int32_t *top = stack; /* next free */
    do {
        switch (op->op) {
        case OP_INT:
            *top++ = op->a;
            break;
        case OP_BUILTIN:
            *top++ = context->builtin[op->a];
            break;
        case OP_GLOBAL:
        case OP_SHARED: {
            uint32_t address = context->base[op->space] + (uint32_t)op->a;
            if (seen)
                observe_read(machine, thread, address, stm);
            *top++ = memory[address];
            break;
        }
        case OP_PRIVATE:
        case OP_LOCAL:
            *top++ = memory[context->base[op->space] + (uint32_t)op->a];
            break;
        case OP_INDEX: {
            uint32_t index = (uint32_t)top[-1];
            if (!is_inside(machine, (enum ast_space)op->space, (uint32_t)op->a, op->b, index))
                return false;
            uint32_t address = context->base[op->space] + (uint32_t)op->a + index;
            if (seen && op->space <= SPACE_SHARED)
                observe_read(machine, thread, address, stm);
            top[-1] = memory[address];
            break;
        }
        case OP_UNARY:
            top[-1] = eval_unary((enum ast_unary)op->a, top[-1]);
            break;
        case OP_BOOL:
            top[-1] = top[-1] != 0;
            break;
        case OP_JUMP:
            op = &machine->program->ops[op->a] - 1;
            break;
        case OP_JUMP_ZERO:
            if (*--top == 0)
                op = &machine->program->ops[op->a] - 1;
            break;
        case OP_AND_JUMP:
            if (top[-1] == 0)
                op = &machine->program->ops[op->a] - 1;
            else
                top--;
            break;
        case OP_OR_JUMP:
            if (top[-1] != 0) {
                top[-1] = 1;
                op = &machine->program->ops[op->a] - 1;
            } else {
                top--;
            }
            break;
        case OP_REDUCE:
            if (!machine->semantics->reduce(machine, thread, op, stm, top))
                return false;
            top++;
            break;
/* One case an operator, so that its arithmetic is known when the switch has jumped. */
#define BINARY_CASES(operator)                                                                     \
    case OP_BINARY + BINARY_##operator:                                                            \
        top--;                                                                                     \
        top[-1] = eval_binary(BINARY_##operator, top[-1], top[0]);                                 \
        break;                                                                                     \
    case OP_BINARY_INT + BINARY_##operator:                                                        \
        top[-1] = eval_binary(BINARY_##operator, top[-1], op->a);                                  \
        break;
            BINARY_CASES(MUL)
            BINARY_CASES(DIV)
            BINARY_CASES(REM)
            BINARY_CASES(ADD)
            BINARY_CASES(SUB)
            BINARY_CASES(SHL)
            BINARY_CASES(SHR)
            BINARY_CASES(LT)
            BINARY_CASES(LE)
            BINARY_CASES(GT)
            BINARY_CASES(GE)
            BINARY_CASES(EQ)
            BINARY_CASES(NE)
            BINARY_CASES(AND)
            BINARY_CASES(XOR)
            BINARY_CASES(OR)
#undef BINARY_CASES
        default:
            invariant_fail("an expression's code is valid", __FILE__, __LINE__);
        }
        op++;
    } while (op->op != OP_END);
    *result = top[-1];
    return true;
}

STEP_INLINE bool eval(struct machine *machine, uint32_t thread, uint32_t expr, uint32_t stm,
                      int32_t *result)
{
    return eval_seen(machine, thread, expr, stm, result, is_observed(machine));
}

/* The address that an assignment writes (SIMT.ext.idx: its index is evaluated with the reads).
 * False: the index lies outside the array. */
STEP_INLINE bool eval_place_seen(struct machine *machine, uint32_t thread,
                                 const struct code_stm *stm, uint32_t number, uint32_t *address,
                                 const bool seen)
{
    const struct code_place *place = &stm->place;
    uint32_t index = 0;
    if (place->index != CODE_NONE) {
        int32_t value;
        if (!eval_seen(machine, thread, place->index, number, &value, seen))
            return false;
        index = (uint32_t)value;
        if (!is_inside(machine, place->space, place->offset, place->length, index))
            return false;
    }
    *address = machine->threads[thread].base[place->space] + place->offset + index;
    return true;
}

STEP_INLINE bool eval_place(struct machine *machine, uint32_t thread, const struct code_stm *stm,
                            uint32_t number, uint32_t *address)
{
    return eval_place_seen(machine, thread, stm, number, address, is_observed(machine));
}

/* ---- choices of a thread ---- */

/* What havoc gives the thread next (ORA.choice): from its own stream; in literal mode the scheduler's,
 * one of 0 .. havoc_values - 1. */
STEP_INLINE int32_t next_havoc(struct machine *machine, uint32_t thread, struct choices *choices)
{
    struct thread_context *context = &machine->threads[thread];
    if (machine->options.literal) {
        uint32_t n = machine->options.havoc_values ? machine->options.havoc_values : 2;
        return n > 1 && choices ? (int32_t)choices->choose(choices, n) : 0;
    }
    int32_t value = choice_value(machine->program->launch.seed, thread, context->choices);
    put(machine, &context->choices, context->choices + 1);
    return value;
}

/* ---- atomics ---- */

struct atomic_operands {
    uint32_t address;
    int32_t a, b;
};

/* The location and the operands of an atomic. False: an index lies outside its array. */
STEP_INLINE bool eval_atomic_operands(struct machine *machine, uint32_t thread,
                                      const struct code_stm *stm, uint32_t number,
                                      struct atomic_operands *operands)
{
    operands->b = 0;
    return eval_place(machine, thread, stm, number, &operands->address) &&
           eval(machine, thread, stm->value, number, &operands->a) &&
           (stm->argument == CODE_NONE ||
            eval(machine, thread, stm->argument, number, &operands->b));
}

/* The indivisible read and write; the target, if there is one, gets the old value. */
STEP_INLINE void apply_atomic(struct machine *machine, uint32_t thread, const struct code_stm *stm,
                              uint32_t number, const struct atomic_operands *operands)
{
    int32_t old = machine->memory[operands->address];
    int32_t value = eval_atomic(stm->atomic, old, operands->a, operands->b);
    put_memory(machine, operands->address, value);
    if (is_observed(machine) && stm->place.space <= SPACE_SHARED)
        observe_atomic(machine, thread, operands->address, value, number);
    if (stm->target.length > 0)
        put_memory(machine, machine->threads[thread].base[stm->target.space] + stm->target.offset,
                   old);
}

/* Which variant of its step functions the machine takes: MACHINE_* bits. */
static inline unsigned step_variant(const struct machine *machine)
{
    return (machine->options.observers ? MACHINE_OBSERVED : 0u) |
           (machine->options.track ? MACHINE_TRACKED : 0u);
}

/* Names of the variants of a step function: one in the file of rules, all four in the semantics' table. */
#define STEP_JOIN(name, variant) name##_##variant
#define STEP_EXPAND(name, variant) STEP_JOIN(name, variant)
#ifdef STEP_VARIANT
#define STEP_NAME(name) STEP_EXPAND(name, STEP_VARIANT)
#else
#define STEP_NAME(name)                                                                            \
    name##_0 /* compiled once: for sanitizers, or as a mutant (tests/mutation/auto) */
#endif
#define STEP_DECLARE(name)                                                                         \
    enum rule name##_0(struct machine *machine, uint32_t actor, struct choices *choices);          \
    enum rule name##_1(struct machine *machine, uint32_t actor, struct choices *choices);          \
    enum rule name##_2(struct machine *machine, uint32_t actor, struct choices *choices);          \
    enum rule name##_3(struct machine *machine, uint32_t actor, struct choices *choices)
#ifdef STEPS_ONCE
#define STEP_TABLE(name)                                                                           \
    {                                                                                              \
        name##_0, name##_0, name##_0, name##_0                                                     \
    }
#else
#define STEP_TABLE(name)                                                                           \
    {                                                                                              \
        name##_0, name##_1, name##_2, name##_3                                                     \
    }
#endif

#endif
