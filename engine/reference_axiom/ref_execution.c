/*
 * ref_execution.c - whether operations are an execution of their test: each thread's are those of one way through it,
 * in its order, with the values that its sources have; and which reads each of them depends on.
 */
#include "engine/reference_axiom/ref_axiom.h"

#include <string.h>

enum { TURNS = 4096 }; /* instructions of a thread: its branches may go back */

struct way {
    struct ref_candidate *c;
    uint32_t thread, at; /* the next operation of the thread */
    int16_t registers[LITMUS_REGISTERS];
    bool from[LITMUS_REGISTERS][REF_OPERATIONS], held[REF_OPERATIONS];
};

static int16_t value_of(const struct way *w, struct litmus_operand o)
{
    return o.is_register ? w->registers[o.value] : o.value;
}

static bool is_from(const struct way *w, struct litmus_operand o, uint32_t read)
{
    return o.is_register && w->from[o.value][read];
}

/* The next operation of the thread, if it is such a one. */
static struct ref_operation *next(struct way *w, const struct litmus_instruction *in, uint32_t kind)
{
    struct ref_operation *o = &w->c->of[w->at];
    if (w->at == w->c->count || o->thread != w->thread || o->text != in || o->kind != kind)
        return NULL;
    for (uint32_t i = 0; i < w->c->count; i++)
        w->c->depends[i][w->at] = w->held[i];
    w->at++;
    return o;
}

static bool is_said(const struct ref_operation *o, enum litmus_order order)
{
    bool memory = o->kind == REF_READ || o->kind == REF_WRITE;
    return o->order == order && o->scope == o->text->scope &&
           (!memory || o->word == o->text->word[0]);
}

static bool reads_its_source(const struct ref_candidate *c, const struct ref_operation *read)
{
    if (read->source == REF_FIRST)
        return read->value == c->test->init[read->word];
    const struct ref_operation *write = &c->of[read->source];
    return read->source < c->count && write->kind == REF_WRITE && write->word == read->word &&
           write->value == read->value;
}

static void depend(const struct way *w, uint32_t operation, struct litmus_operand o)
{
    for (uint32_t i = 0; i < w->c->count; i++)
        w->c->depends[i][operation] |= is_from(w, o, i);
}

/* What a read brings comes from this read alone. */
static void put_read(struct way *w, const struct litmus_instruction *in, uint32_t read)
{
    if (in->no_result)
        return;
    w->registers[in->reg[0]] = w->c->of[read].value;
    for (uint32_t i = 0; i < w->c->count; i++)
        w->from[in->reg[0]][i] = i == read;
}

static bool load(struct way *w, const struct litmus_instruction *in)
{
    const struct ref_operation *o = next(w, in, REF_READ);
    if (!o || !is_said(o, in->order) || !reads_its_source(w->c, o) || o->other != REF_FIRST)
        return false;
    put_read(w, in, w->at - 1);
    return true;
}

static bool store(struct way *w, const struct litmus_instruction *in)
{
    const struct ref_operation *o = next(w, in, REF_WRITE);
    if (!o || !is_said(o, in->order) || o->value != value_of(w, in->a[0]) || o->other != REF_FIRST)
        return false;
    depend(w, w->at - 1, in->a[0]);
    return true;
}

/* A read that acquires, and a write that releases, of what the read brought; of a cas that fails the read alone. */
static bool atomic(struct way *w, const struct litmus_instruction *in)
{
    bool both = in->order == ORDER_ACQ_REL;
    const struct ref_operation *r = next(w, in, REF_READ), *o;
    uint32_t read = w->at - 1;
    if (!r || !is_said(r, both || in->order == ORDER_ACQUIRE ? ORDER_ACQUIRE : ORDER_RELAXED) ||
        !reads_its_source(w->c, r))
        return false;
    int16_t value = value_of(w, in->a[0]), other = value_of(w, in->b);
    if (in->op == LITMUS_CAS && r->value != value) {
        put_read(w, in, read);
        return r->other == REF_FIRST;
    }
    o = next(w, in, REF_WRITE);
    if (!o || !is_said(o, both || in->order == ORDER_RELEASE ? ORDER_RELEASE : ORDER_RELAXED) ||
        o->other != read || r->other != read + 1 ||
        o->value != ref_axiom_combine(in->op, r->value, value, other))
        return false;
    depend(w, read + 1, in->a[0]);
    depend(w, read + 1, in->b);
    w->c->depends[read][read + 1] = true;
    put_read(w, in, read);
    return true;
}

/* What stands behind a branch, or a use, comes from what it asks about. */
static void hold(struct way *w, struct litmus_operand o)
{
    for (uint32_t i = 0; i < w->c->count; i++)
        w->held[i] |= is_from(w, o, i);
}

static void compute(struct way *w, const struct litmus_instruction *in)
{
    bool sum = in->op == LITMUS_ADD, from[REF_OPERATIONS];
    for (uint32_t i = 0; i < w->c->count; i++)
        from[i] = is_from(w, in->a[0], i) || (sum && is_from(w, in->b, i));
    int value = value_of(w, in->a[0]) + (sum ? value_of(w, in->b) : 0);
    w->registers[in->reg[0]] = (int16_t)value;
    memcpy(w->from[in->reg[0]], from, w->c->count * sizeof *from);
}

static bool jumps(const struct way *w, const struct litmus_instruction *in)
{
    bool equal = value_of(w, in->a[0]) == value_of(w, in->b);
    bool if_equal = in->op == LITMUS_BZ || in->op == LITMUS_BEQ;
    return in->op == LITMUS_JUMP || equal == if_equal;
}

/* False: the operations have another one here. */
static bool step(struct way *w, const struct litmus_instruction *in)
{
    const struct ref_operation *o;
    switch (in->op) {
    case LITMUS_LD:
        return load(w, in);
    case LITMUS_ST:
        return store(w, in);
    case LITMUS_ADD_ATOM:
    case LITMUS_SUB:
    case LITMUS_EXCH:
    case LITMUS_AND:
    case LITMUS_OR:
    case LITMUS_XOR:
    case LITMUS_MIN:
    case LITMUS_MAX:
    case LITMUS_CAS:
        return atomic(w, in);
    case LITMUS_MEMBAR:
        o = next(w, in, REF_FENCE);
        return o && is_said(o, in->order);
    case LITMUS_BAR:
    case LITMUS_ARRIVE:
        return next(w, in, REF_BARRIER) != NULL;
    case LITMUS_USE:
        hold(w, (struct litmus_operand){true, in->reg[0]});
        return true;
    case LITMUS_MOV:
    case LITMUS_ADD:
        compute(w, in);
        return true;
    case LITMUS_BZ:
    case LITMUS_BNZ:
    case LITMUS_BEQ:
    case LITMUS_BNE:
        hold(w, in->a[0]);
        hold(w, in->b);
        return true;
    case LITMUS_JUMP:
    case LITMUS_WAIT:
        return true;
    }
    return false;
}

static bool is_way(struct way *w)
{
    const struct litmus_thread *t = &w->c->test->threads[w->thread];
    memcpy(w->registers, t->first, sizeof w->registers);
    for (uint32_t pc = 0, left = TURNS; pc < t->length; left--) {
        const struct litmus_instruction *in = &t->code[pc];
        bool back = in->op >= LITMUS_BZ && jumps(w, in);
        if (left == 0 || !step(w, in))
            return false;
        pc = back ? in->target : pc + 1;
    }
    return memcmp(w->registers, w->c->registers[w->thread], sizeof w->registers) == 0;
}

bool ref_axiom_is_execution(struct ref_candidate *c)
{
    uint32_t at = 0;
    memset(c->depends, 0, sizeof c->depends);
    for (uint32_t t = 0; t < c->test->count; t++) {
        struct way w = {.c = c, .thread = t, .at = at};
        if (!is_way(&w))
            return false;
        at = w.at;
    }
    return at == c->count;
}
