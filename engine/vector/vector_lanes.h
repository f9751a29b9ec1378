/*
 * vector_lanes.h - the instructions of the fast lock-step executor. Included once by a file for each
 * instruction set, which defines VECTOR_CODE, the name of its struct vector_isa_code.
 */
#include "engine/base/inline.h"
#include "engine/language/eval_ops.h"
#include "engine/vector/vector_internal.h"

#include <string.h>

#define LANES(i) for (uint32_t i = 0; i < n; i++)
#define LANES_INLINE INLINED

/* Two vectors are the same or do not overlap: operand and result of one lane may be one word. */
#if defined(__clang__)
#define VECTORISE /* clang checks for overlap at run time */
#else
#define VECTORISE _Pragma("GCC ivdep")
#endif

LANES_INLINE int32_t *at(const struct vector_run *x, vector_ref ref)
{
    return ref & VECTOR_IN_FRAME ? x->frame + (ref & ~VECTOR_IN_FRAME) : x->pool + ref;
}

LANES_INLINE bool any(const int32_t *mask, uint32_t n)
{
    int32_t found = 0;
    VECTORISE
    LANES (i)
        found |= mask[i];
    return found != 0;
}

LANES_INLINE uint32_t count(const int32_t *mask, uint32_t n)
{
    int32_t found = 0;
    VECTORISE
    LANES (i)
        found -= mask[i];
    return (uint32_t)found;
}

static enum status fault(struct vector_run *x, enum status status, uint32_t lane)
{
    x->result.fault_thread = x->block * x->program->launch.threads + lane;
    x->result.fault_stm = x->stm;
    return status;
}

/* Whether an enabled lane's index lies outside; the first such lane. */
LANES_INLINE bool outside(const int32_t *index, uint32_t length, const int32_t *mask, uint32_t n,
                          uint32_t *lane)
{
    uint32_t found = 0;
    VECTORISE
    LANES (i)
        found |= (uint32_t)mask[i] & ((uint32_t)index[i] >= length ? UINT32_MAX : 0);
    if (!found)
        return false;
    *lane = 0;
    while (!mask[*lane] || (uint32_t)index[*lane] < length)
        ++*lane;
    return true;
}

LANES_INLINE void binary_lanes(enum ast_binary op, int32_t *d, const int32_t *a, const int32_t *b,
                               uint32_t n)
{
/* One case an operator, so that the loop knows it. */
#define BINARY_CASE(operator)                                                                      \
    case operator:                                                                                 \
        VECTORISE                                                                                  \
        LANES (i)                                                                                  \
            d[i] = eval_binary(operator, a[i], b[i]);                                              \
        break;
    switch (op) {
        BINARY_CASE(BINARY_MUL)
        BINARY_CASE(BINARY_DIV)
        BINARY_CASE(BINARY_REM)
        BINARY_CASE(BINARY_ADD)
        BINARY_CASE(BINARY_SUB)
        BINARY_CASE(BINARY_SHL)
        BINARY_CASE(BINARY_SHR)
        BINARY_CASE(BINARY_LT)
        BINARY_CASE(BINARY_LE)
        BINARY_CASE(BINARY_GT)
        BINARY_CASE(BINARY_GE)
        BINARY_CASE(BINARY_EQ)
        BINARY_CASE(BINARY_NE)
        BINARY_CASE(BINARY_AND)
        BINARY_CASE(BINARY_XOR)
        BINARY_CASE(BINARY_OR)
    case BINARY_LOGICAL_AND:
        VECTORISE
        LANES (i)
            d[i] = (a[i] != 0) & (b[i] != 0);
        break;
    case BINARY_LOGICAL_OR:
        VECTORISE
        LANES (i)
            d[i] = (a[i] | b[i]) != 0;
        break;
    }
#undef BINARY_CASE
}

LANES_INLINE void unary_lanes(enum ast_unary op, int32_t *d, const int32_t *a, uint32_t n)
{
    switch (op) {
    case UNARY_NEG:
        VECTORISE
        LANES (i)
            d[i] = eval_unary(UNARY_NEG, a[i]);
        break;
    case UNARY_NOT:
        VECTORISE
        LANES (i)
            d[i] = a[i] == 0;
        break;
    case UNARY_COMPLEMENT:
        VECTORISE
        LANES (i)
            d[i] = ~a[i];
        break;
    }
}

/* d = a in the lanes of the mask. */
LANES_INLINE void blend_lanes(int32_t *d, const int32_t *a, const int32_t *mask, uint32_t n)
{
    VECTORISE
    LANES (k)
        d[k] = (a[k] & mask[k]) | (d[k] & ~mask[k]);
}

/* ---- memory ---- */

/* Whether all lanes are enabled and access consecutive elements, as a[tid] does. */
LANES_INLINE bool consecutive(const int32_t *index, const int32_t *mask, uint32_t n)
{
    int32_t wrong = 0, first = index[0];
    VECTORISE
    LANES (k)
        wrong |= ((int32_t)((uint32_t)first + k) ^ index[k]) | ~mask[k];
    return wrong == 0;
}

static void log_lanes(struct vector_run *x, const int32_t *mask, uint32_t base,
                      const int32_t *index, enum access_kind kind)
{
    for (uint32_t i = 0; i < x->lanes; i++)
        if (mask[i])
            vector_access(x, i, base + (index ? (uint32_t)index[i] : 0), kind);
}

LANES_INLINE void load(struct vector_run *x, const struct vector_inst *i, const int32_t *mask,
                       uint32_t n)
{
    uint32_t address = x->base[i->space] + (uint32_t)i->imm;
    int32_t value = x->memory[address], *d = at(x, i->dst);
    VECTORISE
    LANES (k)
        d[k] = value;
    if (x->options.races)
        log_lanes(x, mask, address, NULL, ACCESS_READ);
}

LANES_INLINE enum status gather(struct vector_run *x, const struct vector_inst *i,
                                const int32_t *mask, uint32_t n)
{
    uint32_t base = x->base[i->space] + (uint32_t)i->imm, lane;
    const int32_t *index = at(x, i->a), *memory = x->memory + base;
    int32_t *d = at(x, i->dst);
    if (outside(index, i->b, mask, n, &lane))
        return fault(x, STATUS_OUT_OF_BOUNDS, lane);
    if (consecutive(index, mask, n)) {
        memcpy(d, memory + index[0], n * sizeof *d);
    } else {
        VECTORISE
        LANES (k)
            d[k] = memory[index[k] & mask[k]];
    }
    if (x->options.races)
        log_lanes(x, mask, base, index, ACCESS_READ);
    return STATUS_RUNNING;
}

LANES_INLINE enum status private_gather(struct vector_run *x, const struct vector_inst *i,
                                        const int32_t *mask, uint32_t n)
{
    const int32_t *index = at(x, i->a), *array = at(x, i->c);
    int32_t *d = at(x, i->dst);
    uint32_t lane;
    if (outside(index, i->b, mask, n, &lane))
        return fault(x, STATUS_OUT_OF_BOUNDS, lane);
    LANES (k)
        d[k] = array[(uint32_t)(index[k] & mask[k]) * n + k];
    return STATUS_RUNNING;
}

LANES_INLINE enum status private_scatter(struct vector_run *x, const struct vector_inst *i,
                                         const int32_t *mask, uint32_t n)
{
    const int32_t *index = at(x, i->a), *value = at(x, i->dst);
    int32_t *array = at(x, i->c);
    uint32_t lane;
    if (outside(index, i->b, mask, n, &lane))
        return fault(x, STATUS_OUT_OF_BOUNDS, lane);
    for (uint32_t k = 0; k < x->lanes; k++)
        if (mask[k])
            array[(uint32_t)index[k] * n + k] = value[k];
    return STATUS_RUNNING;
}

/* psi: the highest enabled lane wins; all enabled lanes are writers. */
LANES_INLINE void store(struct vector_run *x, const struct vector_inst *i, const int32_t *mask)
{
    uint32_t address = x->base[i->space] + (uint32_t)i->imm, lane = x->lanes;
    while (lane > 0 && !mask[lane - 1])
        lane--;
    if (lane == 0)
        return;
    x->memory[address] = at(x, i->a)[lane - 1];
    if (x->options.races)
        log_lanes(x, mask, address, NULL, ACCESS_WRITE);
}

LANES_INLINE enum status scatter(struct vector_run *x, const struct vector_inst *i,
                                 const int32_t *mask, uint32_t n)
{
    uint32_t base = x->base[i->space] + (uint32_t)i->imm, lane;
    const int32_t *index = at(x, i->a), *value = at(x, i->c);
    int32_t *memory = x->memory + base;
    if (outside(index, i->b, mask, n, &lane))
        return fault(x, STATUS_OUT_OF_BOUNDS, lane);
    if (consecutive(index, mask, n)) {
        memcpy(memory + index[0], value, n * sizeof *value);
    } else {
        for (uint32_t k = 0; k < x->lanes; k++)
            if (mask[k])
                memory[index[k]] = value[k];
    }
    if (x->options.races)
        log_lanes(x, mask, base, index, ACCESS_WRITE);
    return STATUS_RUNNING;
}

static enum status atomic_lanes(struct vector_run *x, const struct vector_atomic *a,
                                const int32_t *mask, uint32_t n)
{
    const int32_t *index = a->index == VECTOR_NONE ? NULL : at(x, a->index);
    const int32_t *value = at(x, a->value), *second = at(x, a->second);
    bool mine = a->space == SPACE_PRIVATE || a->space == SPACE_LOCAL;
    uint32_t base = mine ? 0 : x->base[a->space] + a->offset, lane;
    if (index && outside(index, a->length, mask, n, &lane))
        return fault(x, STATUS_OUT_OF_BOUNDS, lane);
    int32_t *places = mine ? at(x, a->place) : x->memory + base;
    for (uint32_t k = 0; k < x->lanes; k++) {
        if (!mask[k])
            continue;
        uint32_t element = index ? (uint32_t)index[k] : 0;
        int32_t *place = mine ? &places[element * n + k] : &places[element];
        int32_t old = *place;
        *place = eval_atomic(a->atomic, old, value[k], second[k]);
        if (a->dst != VECTOR_NONE)
            at(x, a->dst)[k] = old;
        if (x->options.races && !mine)
            vector_access(x, k, base + element, ACCESS_ATOMIC);
    }
    return STATUS_RUNNING;
}

/* ---- choices ---- */

static uint32_t draw(struct vector_run *x, uint32_t lane, uint32_t n)
{
    uint32_t thread = x->block * x->program->launch.threads + lane;
    return choice_index(x->program->launch.seed, thread, x->choices[lane]++, n);
}

static void havoc(struct vector_run *x, int32_t *d, const int32_t *mask)
{
    uint32_t first = x->block * x->program->launch.threads;
    for (uint32_t k = 0; k < x->lanes; k++)
        if (mask[k])
            d[k] = choice_value(x->program->launch.seed, first + k, x->choices[k]++);
}

/* One of those of `n` possibilities whose guard holds; the first when there is none. */
static uint32_t feasible(struct vector_run *x, const vector_ref *guards, uint32_t n, uint32_t lane,
                         bool *none)
{
    uint32_t held = 0, chosen = 0;
    for (uint32_t t = 0; t < n; t++)
        held += guards[t] == VECTOR_NONE || at(x, guards[t])[lane] != 0;
    *none = held == 0;
    if (held == 0)
        return 0;
    uint32_t skip = held > 1 ? draw(x, lane, held) : 0;
    for (;; chosen++)
        if ((guards[chosen] == VECTOR_NONE || at(x, guards[chosen])[lane] != 0) && skip-- == 0)
            return chosen;
}

static void pick(struct vector_run *x, const struct vector_pick *p, int32_t *d, const int32_t *mask)
{
    bool none;
    for (uint32_t k = 0; k < x->lanes; k++)
        if (mask[k])
            d[k] = x->program->picks[p->first + feasible(x, p->guards, p->count, k, &none)].value;
}

/* ---- control ---- */

LANES_INLINE void move_lanes(struct vector_frame *frame, const int32_t *mask, uint32_t target,
                             uint32_t n)
{
    uint32_t *active = frame->active;
    VECTORISE
    LANES (k)
        active[k] = mask[k] ? target : active[k];
    if (target != BLOCK_END)
        frame->counts[target] += count(mask, n);
}

LANES_INLINE uint32_t target_of(const struct vector_run *x, const struct vector_frame *frame,
                                const struct code_block *block, uint32_t t)
{
    uint32_t target = x->program->targets[block->target_first + t];
    return target == BLOCK_END ? BLOCK_END : target - frame->function->block_first;
}

/* Two targets whose guards are true in exactly one of two lanes each: the common goto. True: done. */
LANES_INLINE bool two_ways(struct vector_run *x, struct vector_frame *frame,
                           const struct code_block *block, const vector_ref *guards,
                           const int32_t *mask, uint32_t n)
{
    if (block->target_count != 2 || guards[0] == VECTOR_NONE || guards[1] == VECTOR_NONE)
        return false;
    const int32_t *a = at(x, guards[0]), *b = at(x, guards[1]);
    uint32_t first = target_of(x, frame, block, 0), second = target_of(x, frame, block, 1);
    int32_t unclear = 0;
    uint32_t to_first = 0, enabled = 0, *active = frame->active;
    VECTORISE
    LANES (k)
        unclear |= mask[k] & -((a[k] != 0) == (b[k] != 0));
    if (unclear)
        return false;
    VECTORISE
    LANES (k) {
        uint32_t target = a[k] ? first : second;
        active[k] = mask[k] ? target : active[k];
        to_first += (uint32_t)(mask[k] & (a[k] != 0));
        enabled -= (uint32_t)mask[k];
    }
    if (first != BLOCK_END)
        frame->counts[first] += to_first;
    if (second != BLOCK_END)
        frame->counts[second] += enabled - to_first;
    return true;
}

LANES_INLINE enum status go(struct vector_run *x, struct vector_frame *frame, uint32_t number,
                            const int32_t *mask, uint32_t n)
{
    const struct code_block *block = &x->program->blocks[number];
    const vector_ref *guards = x->blocks[number].guards;
    frame->counts[number - frame->function->block_first] = 0;
    if (block->target_count <= 1 && !guards) {
        move_lanes(frame, mask, block->target_count ? target_of(x, frame, block, 0) : BLOCK_END, n);
        return STATUS_RUNNING;
    }
    if (two_ways(x, frame, block, guards, mask, n))
        return STATUS_RUNNING;
    for (uint32_t k = 0; k < x->lanes; k++) {
        bool none;
        if (!mask[k])
            continue;
        uint32_t target =
            target_of(x, frame, block, feasible(x, guards, block->target_count, k, &none));
        if (none)
            return fault(x, STATUS_INFEASIBLE, k);
        frame->active[k] = target;
        if (target != BLOCK_END)
            frame->counts[target]++;
    }
    return STATUS_RUNNING;
}

LANES_INLINE enum status require(struct vector_run *x, const int32_t *value, const int32_t *mask,
                                 enum status status, uint32_t n)
{
    int32_t failed = 0;
    VECTORISE
    LANES (k)
        failed |= mask[k] & -(value[k] == 0);
    if (!failed)
        return STATUS_RUNNING;
    uint32_t lane = 0;
    while (!mask[lane] || value[lane] != 0)
        lane++;
    return fault(x, status, lane);
}

/* LOCK.barrier: all or nobody. */
LANES_INLINE enum status barrier(struct vector_run *x, const int32_t *mask, uint32_t n)
{
    uint32_t enabled = count(mask, n);
    if (enabled == 0)
        return STATUS_RUNNING;
    if (enabled != x->lanes)
        return fault(x, STATUS_BARRIER_DIVERGENCE, 0);
    vector_next_interval(x);
    return STATUS_RUNNING;
}

/* The block's mask: the lanes that are in it. */
LANES_INLINE void block_lanes(struct vector_run *x, const struct vector_frame *frame,
                              uint32_t local, uint32_t n)
{
    int32_t *mask = x->pool + x->registers;
    const uint32_t *active = frame->active;
    VECTORISE
    LANES (k)
        mask[k] = -(int32_t)(active[k] == local);
}

LANES_INLINE enum status run_lanes(struct vector_run *x, struct vector_frame *frame,
                                   uint32_t number, const uint32_t n)
{
    uint32_t local = number - frame->function->block_first, lanes = frame->counts[local];
    block_lanes(x, frame, local, n);
    for (const struct vector_inst *i = x->blocks[number].code;; i++) {
        const int32_t *mask = at(x, i->mask);
        enum status status = STATUS_RUNNING;
        switch ((enum vector_op)i->op) {
        case V_STATEMENT:
            x->stm = (uint32_t)i->imm;
            x->result.steps++;
            x->result.lane_steps += lanes;
            break;
        case V_SELECT: {
            const int32_t *a = at(x, i->a), *b = at(x, i->b), *c = at(x, i->c);
            int32_t *d = at(x, i->dst);
            VECTORISE
            LANES (k)
                d[k] = a[k] ? b[k] : c[k];
            break;
        }
        case V_WHERE:
        case V_WHERE_NOT: {
            const int32_t *a = at(x, i->a);
            int32_t *d = at(x, i->dst), flip = i->op == V_WHERE ? 0 : -1;
            VECTORISE
            LANES (k)
                d[k] = mask[k] & (-(a[k] != 0) ^ flip);
            break;
        }
        case V_LOAD:
            load(x, i, mask, n);
            break;
        case V_GATHER:
            status = gather(x, i, mask, n);
            break;
        case V_PRIVATE_GATHER:
            status = private_gather(x, i, mask, n);
            break;
        case V_MOVE:
            blend_lanes(at(x, i->dst), at(x, i->a), mask, n);
            break;
        case V_PRIVATE_SCATTER:
            status = private_scatter(x, i, mask, n);
            break;
        case V_STORE:
            store(x, i, mask);
            break;
        case V_SCATTER:
            status = scatter(x, i, mask, n);
            break;
        case V_ATOMIC:
            status = atomic_lanes(x, &x->atomics[i->imm], mask, n);
            break;
        case V_HAVOC:
            havoc(x, at(x, i->dst), mask);
            break;
        case V_PICK:
            pick(x, &x->picks[i->imm], at(x, i->dst), mask);
            break;
        case V_ASSUME:
            status = require(x, at(x, i->a), mask, STATUS_INFEASIBLE, n);
            break;
        case V_ASSERT:
            status = require(x, at(x, i->a), mask, STATUS_ASSERT_FAILS, n);
            break;
        case V_BARRIER:
            status = barrier(x, mask, n);
            break;
        case V_CALL: /* the callee uses the registers too */
            if (any(mask, n))
                status = vector_call_run(x, frame, x->calls[i->imm], mask);
            block_lanes(x, frame, local, n);
            break;
        case V_GOTO:
            return go(x, frame, number, mask, n);
        case V_BINARY:
        case V_UNARY:
        default:
            if (i->op < V_UNARY)
                binary_lanes((enum ast_binary)(i->op - V_BINARY), at(x, i->dst), at(x, i->a),
                             at(x, i->b), n);
            else
                unary_lanes((enum ast_unary)(i->op - V_UNARY), at(x, i->dst), at(x, i->a), n);
            if (i->moves)
                blend_lanes(at(x, i->c), at(x, i->dst), mask, n);
            break;
        }
        if (status != STATUS_RUNNING)
            return status;
    }
}

/* The usual widths are constants, so that loops over lanes become straight code. */
static enum status run_block(struct vector_run *x, struct vector_frame *frame, uint32_t number)
{
    switch (x->padded) {
    case 16:
        return run_lanes(x, frame, number, 16);
    case 32:
        return run_lanes(x, frame, number, 32);
    case 64:
        return run_lanes(x, frame, number, 64);
    default:
        return run_lanes(x, frame, number, x->padded);
    }
}

const struct vector_isa_code VECTOR_CODE = {.run_block = run_block};
