/*
 * ref_axiom.c - all candidates of a litmus test: each read has a source, each pair of fences and of writes that must be
 * ordered is ordered in both ways; and what each candidate ends with.
 */
#include "engine/reference_axiom/ref_axiom.h"

#include <string.h>

struct search {
    enum ref_axioms axioms;
    struct ref_candidate c;
    struct ref_outcomes *outcomes;
    uint32_t judged;
    bool too_many;
};

/* ---- operations ---- */

static bool add_operation(struct ref_candidate *c, const struct litmus_instruction *in,
                          uint32_t thread, uint32_t kind)
{
    if (c->count == REF_OPERATIONS)
        return false;
    c->of[c->count++] = (struct ref_operation){.kind = kind,
                                               .order = in->order,
                                               .scope = in->scope,
                                               .text = in,
                                               .thread = (uint8_t)thread,
                                               .word = in->word[0],
                                               .source = REF_FIRST,
                                               .other = REF_FIRST};
    return true;
}

/* The read of an atomic operation acquires, the write releases. */
static bool add_atomic(struct ref_candidate *c, const struct litmus_instruction *in,
                       uint32_t thread)
{
    bool both = in->order == ORDER_ACQ_REL;
    if (!add_operation(c, in, thread, REF_READ) || !add_operation(c, in, thread, REF_WRITE))
        return false;
    struct ref_operation *read = &c->of[c->count - 2], *write = &c->of[c->count - 1];
    read->order = both || in->order == ORDER_ACQUIRE ? ORDER_ACQUIRE : ORDER_RELAXED;
    write->order = both || in->order == ORDER_RELEASE ? ORDER_RELEASE : ORDER_RELAXED;
    read->other = (uint8_t)(c->count - 1);
    write->other = (uint8_t)(c->count - 2);
    return true;
}

/* False: there is no room, or it is not spoken of. */
static bool add_instruction(struct ref_candidate *c, const struct litmus_instruction *in,
                            uint32_t thread)
{
    if (in->lanes > 1)
        return false;
    switch (in->op) {
    case LITMUS_LD:
        return add_operation(c, in, thread, REF_READ);
    case LITMUS_ST:
        return add_operation(c, in, thread, REF_WRITE);
    case LITMUS_ADD_ATOM:
    case LITMUS_SUB:
    case LITMUS_EXCH:
    case LITMUS_AND:
    case LITMUS_OR:
    case LITMUS_XOR:
    case LITMUS_MIN:
    case LITMUS_MAX:
    case LITMUS_CAS:
        return add_atomic(c, in, thread);
    case LITMUS_MEMBAR:
        return add_operation(c, in, thread, REF_FENCE);
    case LITMUS_BAR:
    case LITMUS_ARRIVE:
        return add_operation(c, in, thread, REF_BARRIER);
    case LITMUS_WAIT:
    case LITMUS_USE:
    case LITMUS_MOV:
    case LITMUS_ADD:
    case LITMUS_BZ:
    case LITMUS_BNZ:
    case LITMUS_BEQ:
    case LITMUS_BNE:
    case LITMUS_JUMP:
        return true;
    }
    return false;
}

static bool is_branch(const struct litmus_instruction *in)
{
    return in->op >= LITMUS_BZ;
}

/* Behind instruction i, as it is supposed that branches go. */
static uint32_t next_of(const struct ref_candidate *c, uint32_t thread, uint32_t i)
{
    const struct litmus_instruction *in = &c->test->threads[thread].code[i];
    bool jumps = is_branch(in) && (in->op == LITMUS_JUMP || c->taken[thread][i]);
    return jumps ? in->target : i + 1;
}

static bool make_operations(struct ref_candidate *c)
{
    c->count = 0;
    for (uint32_t t = 0; t < c->test->count; t++)
        for (uint32_t i = 0; i < c->test->threads[t].length; i = next_of(c, t, i))
            if (!add_instruction(c, &c->test->threads[t].code[i], t))
                return false;
    return true;
}

/* ---- turns of barriers ---- */

static bool same_barrier(const struct ref_candidate *c, uint32_t a, uint32_t b)
{
    const struct litmus_thread *x = &c->test->threads[c->of[a].thread],
                               *y = &c->test->threads[c->of[b].thread];
    return c->of[a].kind == REF_BARRIER && c->of[b].kind == REF_BARRIER && x->cta == y->cta &&
           x->gpu == y->gpu && c->of[a].text->barrier == c->of[b].text->barrier;
}

/* So many come to a turn: as the instruction says, or each thread of the block whose text names the barrier. */
static uint32_t wanted(const struct ref_candidate *c, uint32_t use)
{
    const struct litmus_thread *own = &c->test->threads[c->of[use].thread];
    uint32_t count = 0;
    for (uint32_t t = 0; t < c->test->count; t++) {
        const struct litmus_thread *other = &c->test->threads[t];
        bool names = false;
        for (uint32_t i = 0; i < other->length; i++)
            names |= litmus_is_barrier(&other->code[i]) &&
                     other->code[i].barrier == c->of[use].text->barrier;
        count += names && own->cta == other->cta && own->gpu == other->gpu;
    }
    return c->of[use].text->arrivals ? c->of[use].text->arrivals : count;
}

static uint32_t come(const struct ref_candidate *c, uint32_t use, uint32_t turn)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->count; i++)
        count += same_barrier(c, use, i) && c->of[i].turn == turn;
    return count;
}

/* Whoever waits goes on, a turn begins when the one before is whole, and none has more than are wanted. */
static bool turns_can_be(const struct ref_candidate *c)
{
    for (uint32_t a = 0; a < c->count; a++) {
        uint32_t turn = c->of[a].turn;
        if (c->of[a].kind != REF_BARRIER)
            continue;
        uint32_t count = come(c, a, turn), most = wanted(c, a);
        if (count > most || (count < most && c->of[a].text->op == LITMUS_BAR) ||
            (turn > 0 && come(c, a, turn - 1) != most))
            return false;
    }
    return true;
}

bool ref_axiom_before(const struct ref_candidate *c, uint32_t a, uint32_t b)
{
    bool mine = c->of[a].thread == c->of[b].thread;
    bool before = (mine && a < b) || (same_barrier(c, a, b) && c->of[b].turn == c->of[a].turn + 1);
    for (uint32_t z = 0; z < b && !mine; z++)
        before |= c->of[z].thread == c->of[b].thread && same_barrier(c, a, z) &&
                  c->of[z].turn == c->of[a].turn && c->of[z].text->op == LITMUS_BAR;
    return before;
}

/* Time goes on. */
static bool turns_go_on(const struct ref_candidate *c)
{
    ref_pairs before;
    for (uint32_t a = 0; a < c->count; a++)
        for (uint32_t b = 0; b < c->count; b++)
            before[a][b] = ref_axiom_before(c, a, b);
    return ref_axiom_acyclic(c->count, before);
}

/* ---- values ---- */

/* A thread's registers while it is read: what they hold, whether that is known, the reads that it comes from. */
struct registers {
    bool known[LITMUS_REGISTERS], from[LITMUS_REGISTERS][REF_OPERATIONS], held[REF_OPERATIONS];
    int16_t value[LITMUS_REGISTERS];
};

static bool operand(const struct registers *r, struct litmus_operand o, int16_t *value)
{
    *value = o.is_register ? r->value[o.value] : o.value;
    return !o.is_register || r->known[o.value];
}

static void depend(struct ref_candidate *c, uint32_t on, const struct registers *r,
                   struct litmus_operand o)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (r->held[i] || (o.is_register && r->from[o.value][i]))
            c->depends[i][on] = true;
}

/* What an atomic operation leaves; a cas, where it writes. */
int16_t ref_axiom_combine(enum litmus_op op, int old, int value, int other)
{
    bool less = old < value;
    int left = op == LITMUS_ADD_ATOM ? old + value
               : op == LITMUS_SUB    ? old - value
               : op == LITMUS_AND    ? (old & value)
               : op == LITMUS_OR     ? (old | value)
               : op == LITMUS_XOR    ? (old ^ value)
               : op == LITMUS_MIN    ? (less ? old : value)
               : op == LITMUS_MAX    ? (less ? value : old)
               : op == LITMUS_CAS    ? other
                                     : value;
    return (int16_t)left;
}

static const struct litmus_operand nothing = {false, 0};

static void read_step(struct ref_candidate *c, uint32_t at, struct registers *r)
{
    struct ref_operation *o = &c->of[at];
    depend(c, at, r, nothing);
    if (o->source == REF_FIRST) {
        o->known = true;
        o->value = c->test->init[o->word];
    } else {
        o->known = c->of[o->source].known;
        o->value = c->of[o->source].value;
    }
    if (o->text->no_result)
        return;
    uint32_t reg = o->text->reg[0];
    r->known[reg] = o->known;
    r->value[reg] = o->value;
    memset(r->from[reg], 0, sizeof r->from[reg]);
    r->from[reg][at] = true;
}

static void write_step(struct ref_candidate *c, uint32_t at, const struct registers *before)
{
    struct ref_operation *o = &c->of[at];
    int16_t value, other;
    bool known = operand(before, o->text->a[0], &value);
    depend(c, at, before, o->text->a[0]);
    o->value = value;
    o->known = known;
    if (o->other == REF_FIRST)
        return;
    const struct ref_operation *read = &c->of[o->other];
    bool second = operand(before, o->text->b, &other), exchange = o->text->op == LITMUS_EXCH;
    bool cas = o->text->op == LITMUS_CAS;
    depend(c, at, before, o->text->b);
    c->depends[o->other][at] = true;
    o->known = known && (exchange || read->known) && (!cas || second);
    if (o->known && cas && read->value != value)
        o->kind = REF_ABSENT;
    o->value = ref_axiom_combine(o->text->op, read->value, value, other);
}

/* What a branch asks about comes from this read. */
static bool comes_from(const struct litmus_instruction *in, const struct registers *r,
                       uint32_t read)
{
    return is_branch(in) && in->op != LITMUS_JUMP &&
           ((in->a[0].is_register && r->from[in->a[0].value][read]) ||
            (in->b.is_register && r->from[in->b.value][read]));
}

/* Whether the branch goes as it is supposed; what is not known yet contradicts nothing. */
static bool goes_so(const struct ref_candidate *c, uint32_t thread, uint32_t i,
                    const struct registers *r)
{
    const struct litmus_instruction *in = &c->test->threads[thread].code[i];
    int16_t left, right;
    if (!operand(r, in->a[0], &left) || !operand(r, in->b, &right) || in->op == LITMUS_JUMP)
        return true;
    bool if_equal = in->op == LITMUS_BZ || in->op == LITMUS_BEQ;
    return c->taken[thread][i] == ((left == right) == if_equal);
}

static void plain_step(const struct litmus_instruction *in, struct registers *r)
{
    struct registers was = *r;
    uint32_t reg = in->reg[0];
    int16_t one, two = 0;
    for (uint32_t i = 0; i < REF_OPERATIONS; i++)
        r->held[i] |= (in->op == LITMUS_USE && r->from[reg][i]) || comes_from(in, r, i);
    if (in->op != LITMUS_MOV && in->op != LITMUS_ADD)
        return;
    r->known[reg] = operand(&was, in->a[0], &one);
    if (in->op == LITMUS_ADD)
        r->known[reg] &= operand(&was, in->b, &two);
    r->value[reg] = (int16_t)(one + two);
    for (uint32_t i = 0; i < REF_OPERATIONS; i++)
        r->from[reg][i] = (in->a[0].is_register && was.from[in->a[0].value][i]) ||
                          (in->op == LITMUS_ADD && in->b.is_register && was.from[in->b.value][i]);
}

/* False: a branch does not go as it is supposed. */
static bool read_thread(struct ref_candidate *c, uint32_t thread, uint32_t *at)
{
    bool so = true;
    const struct litmus_thread *t = &c->test->threads[thread];
    struct registers r;
    memset(&r, 0, sizeof r);
    for (uint32_t i = 0; i < LITMUS_REGISTERS; i++) {
        r.known[i] = true;
        r.value[i] = t->first[i];
    }
    for (uint32_t i = 0; i < t->length; i = next_of(c, thread, i)) {
        struct registers before = r;
        so &= !is_branch(&t->code[i]) || goes_so(c, thread, i, &r);
        plain_step(&t->code[i], &r);
        for (; *at < c->count && c->of[*at].text == &t->code[i]; ++*at)
            if (c->of[*at].kind == REF_READ)
                read_step(c, *at, &r);
            else if (c->of[*at].kind == REF_WRITE)
                write_step(c, *at, &before);
    }
    memcpy(c->registers[thread], r.value, sizeof r.value);
    return so;
}

static uint32_t known_of(const struct ref_candidate *c)
{
    uint32_t known = 0;
    for (uint32_t i = 0; i < c->count; i++)
        known += c->of[i].known;
    return known;
}

/* Follows values from writes to reads until nothing changes. False: some come from themselves, or from a write that
 * is not made; or a branch goes otherwise. */
static bool find_values(struct ref_candidate *c)
{
    bool so = true;
    for (uint32_t before = REF_FIRST, known = 0; before != known; known = known_of(c)) {
        uint32_t at = 0;
        before = known;
        so = true;
        memset(c->depends, 0, sizeof c->depends);
        for (uint32_t t = 0; t < c->test->count; t++)
            so &= read_thread(c, t, &at);
    }
    for (uint32_t i = 0; i < c->count; i++) {
        struct ref_operation *o = &c->of[i];
        if (o->kind == REF_READ &&
            (!o->known || (o->source != REF_FIRST && c->of[o->source].kind == REF_ABSENT)))
            return false;
        if (o->kind == REF_READ && o->other != REF_FIRST && c->of[o->other].kind == REF_ABSENT)
            o->other = REF_FIRST;
    }
    return so;
}

/* ---- ends ---- */

bool ref_outcomes_add(struct ref_outcomes *outcomes, const int16_t *values)
{
    for (uint32_t i = 0; i < outcomes->count; i++)
        if (memcmp(outcomes->values[i], values, sizeof outcomes->values[i]) == 0)
            return true;
    if (outcomes->count == REF_OUTCOMES)
        return false;
    memcpy(outcomes->values[outcomes->count++], values, sizeof outcomes->values[0]);
    return true;
}

/* At the end a word holds what a write wrote that no other follows. */
static bool is_last(const struct ref_candidate *c, uint32_t w)
{
    for (uint32_t other = 0; other < c->count; other++)
        if (c->coherence[w][other])
            return false;
    return true;
}

static void observe(struct search *s, uint32_t index, int16_t *values)
{
    const struct ref_candidate *c = &s->c;
    const struct litmus_observed *o = &c->test->observe[index];
    bool written = false;
    if (index == c->test->observed) {
        s->too_many |= !ref_outcomes_add(s->outcomes, values);
        return;
    }
    for (uint32_t w = 0; w < c->count && !o->is_register; w++) {
        if (c->of[w].kind != REF_WRITE || c->of[w].word != o->number)
            continue;
        written = true;
        values[index] = c->of[w].value;
        if (is_last(c, w))
            observe(s, index + 1, values);
    }
    if (written)
        return;
    values[index] = o->is_register ? c->registers[o->thread][o->number] : c->test->init[o->number];
    observe(s, index + 1, values);
}

/* ---- candidates ---- */

static void judge(struct search *s)
{
    int16_t values[LITMUS_OBSERVED] = {0};
    ref_pairs kept;
    memcpy(kept, s->c.coherence, sizeof kept);
    s->too_many |= ++s->judged > REF_CANDIDATES;
    if (ref_axiom_acyclic(s->c.count, s->c.coherence) && ref_axiom_allows(&s->c, s->axioms))
        observe(s, 0, values);
    memcpy(s->c.coherence, kept, sizeof kept);
}

static void order_writes(struct search *s, uint32_t pair)
{
    uint32_t a = pair / REF_OPERATIONS, b = pair % REF_OPERATIONS;
    if (a >= s->c.count) {
        judge(s);
    } else if (b >= s->c.count || a >= b || !ref_axiom_ordered(&s->c, s->axioms, a, b)) {
        order_writes(s, pair + 1);
    } else if (!s->too_many) {
        s->c.coherence[a][b] = true;
        order_writes(s, pair + 1);
        s->c.coherence[a][b] = false;
        s->c.coherence[b][a] = true;
        order_writes(s, pair + 1);
        s->c.coherence[b][a] = false;
    }
}

static void with_fences(struct search *s)
{
    ref_pairs order;
    memcpy(order, s->c.fence_sc, sizeof order);
    if (!ref_axiom_acyclic(s->c.count, order))
        return;
    ref_axiom_causality(&s->c, s->axioms);
    order_writes(s, 0);
}

static void order_fences(struct search *s, uint32_t pair)
{
    uint32_t a = pair / REF_OPERATIONS, b = pair % REF_OPERATIONS;
    if (a >= s->c.count) {
        with_fences(s);
    } else if (b >= s->c.count || a >= b || !ref_axiom_is_ptx(s->axioms) ||
               !ref_axiom_fences(&s->c, a, b)) {
        order_fences(s, pair + 1);
    } else if (!s->too_many) {
        s->c.fence_sc[a][b] = true;
        order_fences(s, pair + 1);
        s->c.fence_sc[a][b] = false;
        s->c.fence_sc[b][a] = true;
        order_fences(s, pair + 1);
        s->c.fence_sc[b][a] = false;
    }
}

static void with_sources(struct search *s)
{
    struct ref_candidate kept = s->c;
    s->too_many |= ++s->judged > REF_CANDIDATES;
    if (find_values(&s->c))
        order_fences(s, 0);
    s->c = kept;
}

static void choose_sources(struct search *s, uint32_t read)
{
    struct ref_operation *of = s->c.of;
    while (read < s->c.count && of[read].kind != REF_READ)
        read++;
    if (read == s->c.count) {
        with_sources(s);
        return;
    }
    of[read].source = REF_FIRST;
    choose_sources(s, read + 1);
    for (uint32_t w = 0; w < s->c.count && !s->too_many; w++) {
        if (of[w].kind != REF_WRITE || of[w].word != of[read].word)
            continue;
        of[read].source = (uint8_t)w;
        choose_sources(s, read + 1);
    }
}

/* Each turn of each use of a barrier, behind that of the thread's use before. */
static void choose_turns(struct search *s, uint32_t at)
{
    uint32_t uses = 0, first = 0;
    while (at < s->c.count && s->c.of[at].kind != REF_BARRIER)
        at++;
    if (at == s->c.count) {
        if (turns_can_be(&s->c) && turns_go_on(&s->c))
            choose_sources(s, 0);
        return;
    }
    for (uint32_t i = 0; i < s->c.count; i++) {
        uses += same_barrier(&s->c, at, i);
        if (i < at && same_barrier(&s->c, at, i) && s->c.of[i].thread == s->c.of[at].thread)
            first = s->c.of[i].turn + 1u;
    }
    for (uint32_t turn = first; turn < uses && !s->too_many; turn++) {
        s->c.of[at].turn = (uint8_t)turn;
        choose_turns(s, at + 1);
    }
}

/* Each way of each branch that a way comes to. False: one goes back, or what lies on a way is not spoken of. */
static bool choose_ways(struct search *s, uint32_t thread, uint32_t i)
{
    if (thread == s->c.test->count) {
        if (!make_operations(&s->c))
            return false;
        choose_turns(s, 0);
        return true;
    }
    const struct litmus_thread *t = &s->c.test->threads[thread];
    if (i >= t->length)
        return choose_ways(s, thread + 1, 0);
    if (is_branch(&t->code[i]) && t->code[i].target <= i)
        return false;
    if (!is_branch(&t->code[i]) || t->code[i].op == LITMUS_JUMP)
        return choose_ways(s, thread, next_of(&s->c, thread, i));
    for (uint32_t taken = 0; taken < 2; taken++) {
        s->c.taken[thread][i] = taken;
        if (!choose_ways(s, thread, next_of(&s->c, thread, i)))
            return false;
    }
    return true;
}

bool ref_axiom_outcomes(struct arena *arena, const struct litmus_test *test, enum ref_axioms axioms,
                        struct ref_outcomes *outcomes)
{
    struct search *s = ARENA_NEW(arena, struct search);
    memset(s, 0, sizeof *s);
    s->c.test = test;
    s->axioms = axioms;
    s->outcomes = outcomes;
    outcomes->count = 0;
    outcomes->stuck = false;
    return choose_ways(s, 0, 0) && !s->too_many;
}
