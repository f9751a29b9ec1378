/*
 * axiom_search.c - all candidate executions: ways through the threads, rf, turns of barriers, sc, co.
 *
 * PTX orders writes to a word in part only: two writes are ordered if they are morally strong or causality orders them,
 * and not if they race. More pairs in co would only forbid more, so that the least co is tried, once for each way
 * round that morally strong pairs leave open; at the end the word holds any write that no other follows.
 */
#include "engine/axiom/axiom_internal.h"

#include <string.h>

struct search {
    struct arena *arena;
    const struct litmus_test *test;
    enum axiom_model model;
    struct axiom_traces traces;
    const struct axiom_trace *chosen[LITMUS_THREADS];
    struct litmus_result *result;
    struct axiom_witness *witness;
    struct axiom_execution x;
    uint32_t limit;
    bool full, is_refused; /* is_refused: the candidate that is being observed */
};

static void choose_sc(struct search *s, uint32_t a, uint32_t b);
static void choose_co(struct search *s, const struct relation *co);

static bool is_write_of(const struct axiom_event *e, uint32_t word)
{
    return e->kind == EVENT_WRITE && e->word == word;
}

static void note(struct search *s, const int16_t *values)
{
    struct axiom_witness *w = s->witness;
    litmus_add_outcome(s->arena, s->test, s->is_refused ? w->refused : s->result, values);
    if (!w || !w->wanted || s->is_refused || w->found ||
        memcmp(w->wanted, values, LITMUS_OBSERVED * sizeof *values) != 0)
        return;
    w->found = true;
    w->execution = s->x;
}

/* All values that the words may hold at the end. */
static void observe(struct search *s, uint32_t index, int16_t *values)
{
    const struct axiom_execution *x = &s->x;
    const struct litmus_observed *o = &s->test->observe[index];
    bool written = false;
    if (index == s->test->observed) {
        note(s, values);
        return;
    }
    if (o->is_register) {
        values[index] = x->regs[o->thread][o->number];
        observe(s, index + 1, values);
        return;
    }
    for (uint32_t w = 0; w < x->count; w++) {
        if (!is_write_of(&x->events[w], o->number))
            continue;
        written = true;
        if (x->co.row[w])
            continue;
        values[index] = x->events[w].value;
        observe(s, index + 1, values);
    }
    if (!written) {
        values[index] = s->test->init[o->number];
        observe(s, index + 1, values);
    }
}

/* A read is before all writes that follow the one it read; the first value is before all. */
static void from_reads(struct axiom_execution *x)
{
    for (uint32_t r = 0; r < x->count; r++) {
        x->fr.row[r] = 0;
        if (x->events[r].kind != EVENT_READ)
            continue;
        if (x->from[r] != AXIOM_NONE)
            x->fr.row[r] = x->co.row[x->from[r]];
        for (uint32_t w = 0; w < x->count && x->from[r] == AXIOM_NONE; w++)
            if (is_write_of(&x->events[w], x->events[r].word))
                relate(&x->fr, r, w);
    }
}

/* Whether the candidate, with its co, can end with the values that are asked about. */
static bool ends_as_wanted(const struct search *s)
{
    const struct axiom_execution *x = &s->x;
    for (uint32_t i = 0; i < s->test->observed; i++) {
        const struct litmus_observed *o = &s->test->observe[i];
        int16_t wanted = s->witness->wanted[i];
        bool written = false, holds = false;
        for (uint32_t w = 0; w < x->count && !o->is_register; w++) {
            written |= is_write_of(&x->events[w], o->number);
            holds |= is_write_of(&x->events[w], o->number) && !x->co.row[w] &&
                     x->events[w].value == wanted;
        }
        if (o->is_register)
            holds = x->regs[o->thread][o->number] == wanted;
        else if (!written)
            holds = s->test->init[o->number] == wanted;
        if (!holds)
            return false;
    }
    return true;
}

/* The model does not allow the candidate: kept, if it would be what somebody asks about. */
static void refused(struct search *s, const struct relation *co)
{
    static const struct relation none;
    struct axiom_refusal *kept = s->witness ? s->witness->refusal : NULL, now;
    int16_t values[LITMUS_OBSERVED] = {0};
    if (!s->witness)
        return;
    s->x.co = co ? *co : none;
    from_reads(&s->x);
    s->is_refused = s->witness->refused != NULL;
    if (s->is_refused)
        observe(s, 0, values);
    s->is_refused = false;
    if (!kept || !ends_as_wanted(s))
        return;
    kept->candidates++;
    now = (struct axiom_refusal){.candidates = kept->candidates};
    if (!axiom_explain(&s->x, s->model, &now) || (kept->axiom && kept->length <= now.length))
        return;
    *kept = now;
    kept->execution = s->x;
}

static void whole(struct search *s, const struct relation *co)
{
    int16_t values[LITMUS_OBSERVED] = {0};
    s->x.co = *co;
    from_reads(&s->x);
    if (++s->result->states > s->limit)
        s->full = true;
    else if (axiom_allowed(&s->x, s->model))
        observe(s, 0, values);
    else
        refused(s, co);
}

static bool must_be_ordered(const struct search *s, uint32_t a, uint32_t b)
{
    const struct axiom_execution *x = &s->x;
    bool writes = x->events[a].kind == EVENT_WRITE && is_write_of(&x->events[b], x->events[a].word);
    bool total = s->model == AXIOM_SC || s->model == AXIOM_ASPLOS15;
    return writes && (total || related(&x->strong, a, b));
}

static void try_order(struct search *s, const struct relation *co, uint32_t a, uint32_t b)
{
    struct relation more = *co;
    relate(&more, a, b);
    relation_close(s->x.count, &more);
    choose_co(s, &more);
}

/* `co` is closed and has no cycle. */
static void choose_co(struct search *s, const struct relation *co)
{
    for (uint32_t a = 0; a < s->x.count && !s->full; a++)
        for (uint32_t b = a + 1; b < s->x.count; b++) {
            if (!must_be_ordered(s, a, b) || related(co, a, b) || related(co, b, a))
                continue;
            try_order(s, co, a, b);
            if (s->x.events[a].thread != s->x.events[b].thread)
                try_order(s, co, b, a);
            return;
        }
    if (!s->full)
        whole(s, co);
}

static void causes(struct search *s)
{
    if (!axiom_causes(&s->x, s->model)) {
        refused(s, &s->x.forced);
        s->full |= ++s->result->states > s->limit;
        return;
    }
    struct relation co = s->x.forced;
    relation_close(s->x.count, &co);
    choose_co(s, &co);
}

static bool ordered_fences(const struct axiom_execution *x, uint32_t a, uint32_t b)
{
    const struct axiom_event *e = &x->events[a], *f = &x->events[b];
    return e->kind == EVENT_FENCE && f->kind == EVENT_FENCE && e->order == ORDER_SC &&
           f->order == ORDER_SC && related(&x->strong, a, b);
}

static void try_fence(struct search *s, uint32_t from, uint32_t to, uint32_t a, uint32_t b)
{
    struct relation before = s->x.sc;
    relate(&s->x.sc, from, to);
    if (!relation_cyclic(s->x.count, &s->x.sc))
        choose_sc(s, a, b);
    s->x.sc = before;
}

/* Each pair of sc fences that are morally strong, from (a, b) on, one way or the other. */
static void choose_sc(struct search *s, uint32_t a, uint32_t b)
{
    bool ptx = s->model == AXIOM_PTX60 || s->model == AXIOM_PTX75;
    for (; ptx && a < s->x.count && !s->full; a++, b = a + 1)
        for (; b < s->x.count; b++) {
            if (!ordered_fences(&s->x, a, b))
                continue;
            try_fence(s, a, b, a, b + 1);
            if (s->x.events[a].thread != s->x.events[b].thread)
                try_fence(s, b, a, a, b + 1);
            return;
        }
    if (!s->full)
        causes(s);
}

static void with_turns(struct axiom_execution *x, void *context)
{
    (void)x;
    choose_sc(context, 0, 1);
}

static void choose_rf(struct search *s, uint32_t read)
{
    struct axiom_execution *x = &s->x;
    while (read < x->count && x->events[read].kind != EVENT_READ)
        read++;
    if (s->full)
        return;
    if (read == x->count && axiom_thin_air(x)) {
        refused(s, NULL);
        return;
    }
    if (read == x->count) {
        axiom_barriers(x, with_turns, s);
        return;
    }
    const struct axiom_event *e = &x->events[read];
    x->from[read] = AXIOM_NONE;
    if (s->test->init[e->word] == e->value)
        choose_rf(s, read + 1);
    for (uint32_t w = 0; w < x->count; w++) {
        if (!is_write_of(&x->events[w], e->word) || x->events[w].value != e->value)
            continue;
        x->from[read] = (uint8_t)w;
        relate(&x->rf, w, read);
        choose_rf(s, read + 1);
        x->rf.row[w] &= ~((uint32_t)1 << read);
    }
    x->from[read] = AXIOM_NONE;
}

static void append(struct axiom_execution *x, const struct axiom_trace *t, uint32_t thread)
{
    uint32_t base = x->count;
    for (uint32_t i = 0; i < t->count; i++) {
        struct axiom_event *e = &x->events[x->count++];
        *e = t->events[i];
        e->needs <<= base;
        if (e->partner != AXIOM_NONE)
            e->partner = (uint8_t)(e->partner + base);
    }
    memcpy(x->regs[thread], t->regs, sizeof t->regs);
}

static void assemble(struct search *s)
{
    struct axiom_execution *x = &s->x;
    memset(x, 0, sizeof *x);
    x->test = s->test;
    for (uint32_t t = 0; t < s->test->count; t++) {
        if (x->count + s->chosen[t]->count > AXIOM_EVENTS) {
            s->result->silent = "the threads have more than 32 events together";
            return;
        }
        append(x, s->chosen[t], t);
    }
    axiom_fixed(x);
    choose_rf(s, 0);
}

/* `have`: values that the threads below write, or that stand there; `need`: values that they read. */
static void choose_traces(struct search *s, uint32_t thread, uint64_t have, uint64_t need)
{
    if (thread == s->test->count) {
        if (!(need & ~have))
            assemble(s);
        return;
    }
    for (uint32_t i = 0; i < s->traces.count[thread] && !s->full && !s->result->silent; i++) {
        const struct axiom_trace *t = &s->traces.of[thread][i];
        s->chosen[thread] = t;
        choose_traces(s, thread + 1, have | t->writes, need | t->reads);
    }
}

/* Why a model has nothing to say about a test. */
static const char *silent(const struct litmus_test *test, enum axiom_model model)
{
    for (uint32_t t = 0; t < test->count; t++)
        for (uint32_t i = 0; i < test->threads[t].length; i++) {
            const struct litmus_instruction *in = &test->threads[t].code[i];
            bool access = in->op <= LITMUS_CAS;
            bool load = in->op == LITMUS_LD && in->cache != CACHE_CG;
            bool store = in->op == LITMUS_ST && in->cache != CACHE_WB && in->cache != CACHE_CG;
            if (in->lanes > 1)
                return "instructions of two lanes";
            if (model != AXIOM_ASPLOS15)
                continue;
            if (litmus_is_barrier(in))
                return "barriers";
            if (load || store || (access && in->word[0] >= LITMUS_GLOBALS))
                return "accesses other than ld.cg, st and atom of global words";
            if (access && in->order > ORDER_RELAXED)
                return "acquire and release";
        }
    return NULL;
}

bool axiom_run(struct arena *arena, const struct litmus_test *test, enum axiom_model model,
               uint32_t limit, struct litmus_result *result, struct axiom_witness *witness)
{
    struct search *s = ARENA_NEW(arena, struct search);
    memset(result, 0, sizeof *result);
    result->silent = silent(test, model);
    if (result->silent)
        return true;
    memset(s, 0, sizeof *s);
    s->arena = arena;
    s->test = test;
    s->model = model;
    s->result = result;
    s->witness = witness;
    s->limit = limit;
    s->traces = axiom_all_traces(arena, test);
    result->silent = s->traces.trouble;
    result->cut = s->traces.cut;
    if (!s->traces.trouble)
        choose_traces(s, 0, s->traces.first, 0);
    return !s->full;
}
