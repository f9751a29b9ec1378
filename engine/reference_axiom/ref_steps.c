/*
 * ref_steps.c - sequential consistency by its definition: in each moment some thread executes its next instruction
 * whole, and the next one finds what it left. All moments are made, and all ends.
 *
 * A barrier keeps a list of those who have come. Who stands in it already cannot come once more; when there are as many
 * as whoever comes asks for, all of them who wait go on, and the list is empty (PTX ISA, bar; docs/memory.md).
 */
#include "engine/reference_axiom/ref_axiom.h"

#include <string.h>

enum { HEADS = 256 };

struct ref_moment {
    uint8_t at[LITMUS_THREADS]; /* the next instruction */
    uint8_t waits[LITMUS_THREADS];
    uint8_t come[LITMUS_THREADS]
                [LITMUS_BARRIERS]; /* of the block of the thread: how many, and who */
    uint8_t list[LITMUS_THREADS][LITMUS_BARRIERS][LITMUS_THREADS];
    int16_t words[LITMUS_WORDS], registers[LITMUS_THREADS][LITMUS_REGISTERS];
};

struct steps {
    const struct litmus_test *test;
    struct ref_moment *moments;
    uint16_t head[HEADS], next[REF_MOMENTS]; /* those of one sum, numbers and 1 */
    uint32_t count, made;                    /* made: other ones, from the moment at hand */
    struct ref_outcomes *outcomes;
    bool too_many;
};

/* ---- moments ---- */

static uint32_t sum(const struct ref_moment *m)
{
    uint32_t s = 0;
    for (uint32_t t = 0; t < LITMUS_THREADS; t++) {
        s = 31U * s + m->at[t];
        for (uint32_t r = 0; r < LITMUS_REGISTERS; r++)
            s = 31U * s + (uint32_t)m->registers[t][r];
    }
    for (uint32_t w = 0; w < LITMUS_GLOBALS; w++)
        s = 31U * s + (uint32_t)m->words[w];
    return s % HEADS;
}

static void add_moment(struct steps *s, const struct ref_moment *m)
{
    uint16_t *head = &s->head[sum(m)];
    for (uint32_t i = *head; i != 0; i = s->next[i - 1])
        if (memcmp(&s->moments[i - 1], m, sizeof *m) == 0)
            return;
    if (s->count == REF_MOMENTS) {
        s->too_many = true;
        return;
    }
    s->moments[s->count] = *m;
    s->next[s->count++] = *head;
    *head = (uint16_t)s->count;
}

/* ---- barriers ---- */

static bool same_block(const struct litmus_test *test, uint32_t a, uint32_t b)
{
    return test->threads[a].cta == test->threads[b].cta &&
           test->threads[a].gpu == test->threads[b].gpu;
}

/* A block is known by its first thread. */
static uint32_t block_of(const struct litmus_test *test, uint32_t thread)
{
    uint32_t block = 0;
    while (!same_block(test, block, thread))
        block++;
    return block;
}

/* As many as the instruction says, or each thread of the block whose text names the barrier. */
static uint32_t asks_for(const struct litmus_test *test, uint32_t thread,
                         const struct litmus_instruction *in)
{
    uint32_t count = 0;
    for (uint32_t t = 0; t < test->count; t++) {
        bool names = false;
        for (uint32_t i = 0; i < test->threads[t].length; i++)
            names |= litmus_is_barrier(&test->threads[t].code[i]) &&
                     test->threads[t].code[i].barrier == in->barrier;
        count += names && same_block(test, t, thread);
    }
    return in->arrivals ? in->arrivals : count;
}

/* False: it has come already, and its turn is not over. */
static bool come(const struct litmus_test *test, struct ref_moment *m, uint32_t thread,
                 const struct litmus_instruction *in)
{
    uint32_t block = block_of(test, thread);
    uint8_t *count = &m->come[block][in->barrier], *list = m->list[block][in->barrier];
    for (uint32_t i = 0; i < *count; i++)
        if (list[i] == thread)
            return false;
    list[(*count)++] = (uint8_t)thread;
    if (in->op == LITMUS_ARRIVE)
        m->at[thread]++;
    else
        m->waits[thread] = 1;
    if (*count < asks_for(test, thread, in))
        return true;
    for (uint32_t i = 0; i < *count; i++) {
        uint32_t t = list[i];
        if (!m->waits[t] || test->threads[t].code[m->at[t]].barrier != in->barrier)
            continue;
        m->waits[t] = 0;
        m->at[t]++;
    }
    memset(list, 0, LITMUS_THREADS);
    *count = 0;
    return true;
}

/* ---- instructions ---- */

static int16_t value_of(const struct ref_moment *m, uint32_t thread, struct litmus_operand o)
{
    return o.is_register ? m->registers[thread][o.value] : o.value;
}

static void access(struct ref_moment *m, uint32_t thread, const struct litmus_instruction *in,
                   uint32_t lane)
{
    int16_t *word = &m->words[in->word[lane]], old = *word;
    int16_t value = value_of(m, thread, in->a[lane]), other = value_of(m, thread, in->b);
    if (in->op == LITMUS_ST)
        *word = value;
    else if (in->op != LITMUS_LD && (in->op != LITMUS_CAS || old == value))
        *word = ref_axiom_combine(in->op, old, value, other);
    if (in->op != LITMUS_ST && !in->no_result)
        m->registers[thread][in->reg[lane]] = old;
}

static void only_registers(struct ref_moment *m, uint32_t thread,
                           const struct litmus_instruction *in)
{
    int16_t left = value_of(m, thread, in->a[0]), right = value_of(m, thread, in->b);
    bool if_equal = in->op == LITMUS_BZ || in->op == LITMUS_BEQ;
    bool jumps = in->op >= LITMUS_BZ && (in->op == LITMUS_JUMP || (left == right) == if_equal);
    if (in->op == LITMUS_MOV)
        m->registers[thread][in->reg[0]] = left;
    if (in->op == LITMUS_ADD)
        m->registers[thread][in->reg[0]] = (int16_t)(left + right);
    m->at[thread] = jumps ? in->target : (uint8_t)(m->at[thread] + 1);
}

/* What the thread's next instruction makes of a moment; lanes in one order or the other. */
static void step(struct steps *s, const struct ref_moment *from, uint32_t thread, bool backwards)
{
    const struct litmus_instruction *in = &s->test->threads[thread].code[from->at[thread]];
    struct ref_moment m = *from;
    if (litmus_is_barrier(in)) {
        if (!come(s->test, &m, thread, in))
            return;
    } else if (in->op <= LITMUS_CAS) {
        for (uint32_t i = 0; i < in->lanes; i++)
            access(&m, thread, in, backwards ? in->lanes - 1U - i : i);
        m.at[thread]++;
    } else {
        only_registers(&m, thread, in);
    }
    s->made += memcmp(&m, from, sizeof m) != 0;
    add_moment(s, &m);
}

static void end(struct steps *s, const struct ref_moment *m)
{
    int16_t values[LITMUS_OBSERVED] = {0};
    for (uint32_t i = 0; i < s->test->observed; i++) {
        const struct litmus_observed *o = &s->test->observe[i];
        values[i] = o->is_register ? m->registers[o->thread][o->number] : m->words[o->number];
    }
    s->too_many |= !ref_outcomes_add(s->outcomes, values);
}

static void go_on(struct steps *s, uint32_t number)
{
    const struct ref_moment from = s->moments[number];
    bool ended = true;
    s->made = 0;
    for (uint32_t t = 0; t < s->test->count; t++) {
        if (from.at[t] >= s->test->threads[t].length)
            continue;
        ended = false;
        if (from.waits[t])
            continue;
        step(s, &from, t, false);
        if (s->test->threads[t].code[from.at[t]].lanes > 1)
            step(s, &from, t, true);
    }
    if (ended)
        end(s, &from);
    else
        s->outcomes->stuck |= s->made == 0;
}

bool ref_steps_outcomes(struct arena *arena, const struct litmus_test *test,
                        struct ref_outcomes *outcomes)
{
    struct steps *s = ARENA_NEW(arena, struct steps);
    struct ref_moment first;
    memset(s, 0, sizeof *s);
    memset(&first, 0, sizeof first);
    s->test = test;
    s->moments = arena_room(arena, REF_MOMENTS * sizeof *s->moments);
    s->outcomes = outcomes;
    outcomes->count = 0;
    outcomes->stuck = false;
    memcpy(first.words, test->init, sizeof first.words);
    for (uint32_t t = 0; t < test->count; t++)
        memcpy(first.registers[t], test->threads[t].first, sizeof first.registers[t]);
    add_moment(s, &first);
    for (uint32_t i = 0; i < s->count && !s->too_many; i++)
        go_on(s, i);
    return !s->too_many;
}
