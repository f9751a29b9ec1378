/*
 * axiom_trace.c - all ways through each thread, for all values that its reads may find.
 *
 * Which values a word can have is a fixed point: what the threads write if they read values found so far. No value
 * comes out of thin air in any of the models, so that a value that needs more writes to some word than there can be
 * is none: each value carries how many writes to each word it needs at least.
 */
#include "engine/axiom/axiom_internal.h"

#include <string.h>

enum { VALUES = 16, TRACES_MAX = 1 << 15, STEPS_MAX = 4 * LITMUS_CODE };

struct domain {
    uint32_t count;
    int16_t value[VALUES];
    uint8_t cost[VALUES][LITMUS_WORDS];
};

struct collect {
    const struct litmus_test *test;
    struct domain words[LITMUS_WORDS];
    uint8_t writes[LITMUS_THREADS][LITMUS_WORDS]; /* at most, on any way seen */
    bool changed, cut;
    const char *trouble;
    enum { LEARN, COUNT, KEEP } purpose;
    struct axiom_trace *traces;
    uint32_t count;
};

struct walk {
    struct collect *c;
    uint32_t thread, pc, steps;
    uint32_t held; /* what everything below depends on */
    uint32_t needs[LITMUS_REGISTERS];
    uint8_t rounds[LITMUS_CODE];
    uint8_t choice[AXIOM_EVENTS]; /* of a read: the value's place in its domain */
    struct axiom_trace trace;
};

static void through(struct walk *walk);

static int16_t value_of(const struct walk *walk, struct litmus_operand o)
{
    return o.is_register ? walk->trace.regs[o.value] : o.value;
}

static uint32_t needs_of(const struct walk *walk, struct litmus_operand o)
{
    return o.is_register ? walk->needs[o.value] : 0;
}

static struct axiom_event *add_event(struct walk *walk, const struct litmus_instruction *in,
                                     enum axiom_kind kind)
{
    struct axiom_trace *t = &walk->trace;
    if (t->count == AXIOM_EVENTS) {
        walk->c->trouble = "a thread has too many events";
        return NULL;
    }
    struct axiom_event *e = &t->events[t->count++];
    *e = (struct axiom_event){.kind = kind,
                              .order = in->order,
                              .scope = in->scope,
                              .thread = (uint8_t)walk->thread,
                              .pc = (uint8_t)walk->pc,
                              .word = in->word[0],
                              .partner = AXIOM_NONE,
                              .waits = in->op == LITMUS_BAR,
                              .needs = walk->held};
    return e;
}

static void cost_of(const struct walk *walk, const struct axiom_event *write, uint8_t *cost)
{
    memset(cost, 0, LITMUS_WORDS);
    for (uint32_t left = write->needs; left; left &= left - 1) {
        uint32_t read = (uint32_t)__builtin_ctz(left), word = walk->trace.events[read].word;
        const uint8_t *own = walk->c->words[word].cost[walk->choice[read]];
        for (uint32_t w = 0; w < LITMUS_WORDS; w++)
            cost[w] = own[w] > cost[w] ? own[w] : cost[w];
    }
    cost[write->word]++;
}

static bool affordable(const struct collect *c, const uint8_t *cost)
{
    for (uint32_t w = 0; w < LITMUS_WORDS; w++) {
        uint32_t most = 0;
        for (uint32_t t = 0; t < c->test->count; t++)
            most += c->writes[t][w];
        if (cost[w] > most)
            return false;
    }
    return true;
}

/* The word can have this value, at this cost. */
static void learn(struct collect *c, uint32_t word, int16_t value, const uint8_t *cost)
{
    struct domain *d = &c->words[word];
    uint32_t at = 0;
    while (at < d->count && d->value[at] != value)
        at++;
    if (at == VALUES) {
        c->trouble = "a word has more than 16 values";
        return;
    }
    if (at == d->count) {
        d->value[d->count++] = value;
        memcpy(d->cost[at], cost, LITMUS_WORDS);
        c->changed = true;
    }
    for (uint32_t w = 0; w < LITMUS_WORDS; w++)
        if (cost[w] < d->cost[at][w]) {
            d->cost[at][w] = cost[w];
            c->changed = true;
        }
}

static void learn_trace(struct walk *walk)
{
    struct collect *c = walk->c;
    uint8_t count[LITMUS_WORDS] = {0}, cost[LITMUS_WORDS];
    for (uint32_t i = 0; i < walk->trace.count; i++) {
        const struct axiom_event *e = &walk->trace.events[i];
        if (e->kind != EVENT_WRITE)
            continue;
        uint8_t *most = &c->writes[walk->thread][e->word];
        if (++count[e->word] > *most) {
            *most = count[e->word];
            c->changed = true;
        }
        cost_of(walk, e, cost);
        if (affordable(c, cost))
            learn(c, e->word, e->value, cost);
    }
}

/* The pair of a word and a value as a bit; words and values are few. */
static uint64_t pair(const struct collect *c, uint32_t word, int16_t value)
{
    uint32_t bit = 0, at = 0;
    for (uint32_t w = 0; w < word; w++)
        bit += c->words[w].count > 1 ? c->words[w].count : 0;
    while (at < c->words[word].count && c->words[word].value[at] != value)
        at++;
    if (c->words[word].count < 2 || at == c->words[word].count)
        return 0; /* only its first value, or never read */
    return (uint64_t)1 << ((bit + at) & 63);
}

static void keep_trace(struct walk *walk)
{
    struct collect *c = walk->c;
    struct axiom_trace *t = &walk->trace;
    t->reads = t->writes = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        const struct axiom_event *e = &t->events[i];
        if (e->kind == EVENT_READ)
            t->reads |= pair(c, e->word, e->value);
        if (e->kind == EVENT_WRITE)
            t->writes |= pair(c, e->word, e->value);
    }
    c->traces[c->count++] = *t;
}

static void at_end(struct walk *walk)
{
    struct collect *c = walk->c;
    if (c->purpose == LEARN)
        learn_trace(walk);
    else if (c->purpose == KEEP)
        keep_trace(walk);
    else if (++c->count > TRACES_MAX)
        c->trouble = "a thread has too many ways through";
}

static bool add_write(struct walk *walk, const struct litmus_instruction *in, int16_t value,
                      uint32_t needs)
{
    struct axiom_event *e = add_event(walk, in, EVENT_WRITE);
    if (!e)
        return false;
    e->value = value;
    e->needs |= needs;
    return true;
}

/* The second half of an atomic operation, whose first is the last event. */
static bool add_second(struct walk *walk, const struct litmus_instruction *in, int16_t old)
{
    struct axiom_trace *t = &walk->trace;
    uint32_t read = t->count - 1;
    int16_t value = litmus_atom(in->op, old, value_of(walk, in->a[0]), value_of(walk, in->b));
    if (in->op == LITMUS_CAS && old != value_of(walk, in->a[0]))
        return true;
    uint32_t needs = needs_of(walk, in->a[0]) | needs_of(walk, in->b) | (uint32_t)1 << read;
    if (!add_write(walk, in, value, needs))
        return false;
    bool releases = in->order == ORDER_RELEASE || in->order == ORDER_ACQ_REL;
    bool acquires = in->order == ORDER_ACQUIRE || in->order == ORDER_ACQ_REL;
    t->events[read].order = acquires ? ORDER_ACQUIRE : ORDER_RELAXED;
    t->events[read + 1].order = releases ? ORDER_RELEASE : ORDER_RELAXED;
    t->events[read].partner = (uint8_t)(read + 1);
    t->events[read + 1].partner = (uint8_t)read;
    return true;
}

static void read_value(const struct walk *before, const struct litmus_instruction *in,
                       uint32_t place)
{
    struct walk walk = *before;
    int16_t value = walk.c->words[in->word[0]].value[place];
    struct axiom_event *e = add_event(&walk, in, EVENT_READ);
    if (!e)
        return;
    uint32_t read = walk.trace.count - 1;
    e->value = value;
    walk.choice[read] = (uint8_t)place;
    if (in->op != LITMUS_LD) {
        if (in->order == ORDER_RELEASE)
            e->order = ORDER_RELAXED; /* also where nothing is written */
        else if (in->order == ORDER_ACQ_REL)
            e->order = ORDER_ACQUIRE;
        if (!add_second(&walk, in, value))
            return;
    }
    if (litmus_writes(in)) {
        walk.trace.regs[in->reg[0]] = value;
        walk.needs[in->reg[0]] = (uint32_t)1 << read;
    }
    walk.pc++;
    through(&walk);
}

static bool take_branch(struct walk *walk, const struct litmus_instruction *in)
{
    walk->held |= needs_of(walk, in->a[0]) | needs_of(walk, in->b);
    if (!litmus_branches(in, value_of(walk, in->a[0]), value_of(walk, in->b))) {
        walk->pc++;
        return true;
    }
    if (in->target <= walk->pc && ++walk->rounds[walk->pc] > AXIOM_ROUNDS) {
        walk->c->cut = true;
        return false;
    }
    walk->pc = in->target;
    return true;
}

static void registers_only(struct walk *walk, const struct litmus_instruction *in)
{
    uint32_t needs = needs_of(walk, in->a[0]);
    int16_t value = value_of(walk, in->a[0]);
    if (in->op == LITMUS_ADD) {
        needs |= needs_of(walk, in->b);
        value = (int16_t)(value + value_of(walk, in->b));
    }
    if (in->op == LITMUS_USE)
        walk->held |= walk->needs[in->reg[0]];
    if (in->op == LITMUS_MOV || in->op == LITMUS_ADD) {
        walk->trace.regs[in->reg[0]] = value;
        walk->needs[in->reg[0]] = needs;
    }
    walk->pc++;
}

/* One instruction that reads no memory; false: this way ends here. */
static bool plain_step(struct walk *walk, const struct litmus_instruction *in)
{
    if (in->op >= LITMUS_BZ)
        return take_branch(walk, in);
    if (in->op == LITMUS_ST &&
        !add_write(walk, in, value_of(walk, in->a[0]), needs_of(walk, in->a[0])))
        return false;
    if (in->op == LITMUS_MEMBAR && !add_event(walk, in, EVENT_FENCE))
        return false;
    if (litmus_is_barrier(in) && !add_event(walk, in, EVENT_BARRIER))
        return false;
    registers_only(walk, in);
    return true;
}

static void through(struct walk *walk)
{
    const struct litmus_thread *t = &walk->c->test->threads[walk->thread];
    while (!walk->c->trouble && walk->pc < t->length) {
        const struct litmus_instruction *in = &t->code[walk->pc];
        if (in->op <= LITMUS_CAS && in->op != LITMUS_ST) {
            for (uint32_t i = 0; i < walk->c->words[in->word[0]].count; i++)
                read_value(walk, in, i);
            return;
        }
        if (!plain_step(walk, in))
            return;
    }
    if (!walk->c->trouble)
        at_end(walk);
}

static void walk_thread(struct collect *c, uint32_t thread)
{
    struct walk walk;
    c->count = 0;
    memset(&walk, 0, sizeof walk);
    walk.c = c;
    walk.thread = thread;
    memcpy(walk.trace.regs, c->test->threads[thread].first, sizeof walk.trace.regs);
    through(&walk);
}

static uint64_t first_pairs(const struct collect *c)
{
    uint64_t pairs = 0;
    for (uint32_t w = 0; w < LITMUS_WORDS; w++)
        pairs |= pair(c, w, c->test->init[w]);
    return pairs;
}

static void find_values(struct collect *c)
{
    static const uint8_t free_of_charge[LITMUS_WORDS];
    for (uint32_t w = 0; w < LITMUS_WORDS; w++)
        learn(c, w, c->test->init[w], free_of_charge);
    for (c->changed = true; c->changed && !c->trouble;) {
        c->changed = false;
        for (uint32_t t = 0; t < c->test->count; t++)
            walk_thread(c, t);
    }
    uint32_t pairs = 0;
    for (uint32_t w = 0; w < LITMUS_WORDS; w++)
        pairs += c->words[w].count > 1 ? c->words[w].count : 0;
    if (pairs > 64)
        c->trouble = "words have more than 64 values together";
}

struct axiom_traces axiom_all_traces(struct arena *arena, const struct litmus_test *test)
{
    struct axiom_traces traces = {{NULL}, {0}, 0, false, NULL};
    struct collect *c = ARENA_NEW(arena, struct collect);
    memset(c, 0, sizeof *c);
    c->test = test;
    find_values(c);
    c->cut = false;
    for (uint32_t t = 0; t < test->count && !c->trouble; t++) {
        c->purpose = COUNT;
        walk_thread(c, t);
        c->purpose = KEEP;
        c->traces = traces.of[t] = arena_alloc(arena, c->count + 1, sizeof *c->traces);
        walk_thread(c, t);
        traces.count[t] = c->count;
    }
    traces.first = first_pairs(c);
    traces.cut = c->cut;
    traces.trouble = c->trouble;
    return traces;
}
