/*
 * axiom_barriers.c - which uses of a barrier belong together.
 *
 * A barrier that is used again and again has turns. Each turn takes as many arrivals as the instruction says, of
 * different threads, and a thread's uses come in order. An arrival synchronises with all that wait in its turn.
 */
#include "engine/axiom/axiom_internal.h"

struct sharing {
    struct axiom_execution *x;
    axiom_then *then;
    void *context;
    uint8_t uses[AXIOM_EVENTS];
    uint32_t count;
};

static const struct litmus_instruction *code_of(const struct axiom_execution *x, uint32_t event)
{
    const struct axiom_event *e = &x->events[event];
    return &x->test->threads[e->thread].code[e->pc];
}

static bool same_barrier(const struct axiom_execution *x, uint32_t a, uint32_t b)
{
    const struct litmus_thread *threads = x->test->threads;
    uint32_t one = x->events[a].thread, other = x->events[b].thread;
    return threads[one].sm == threads[other].sm && code_of(x, a)->barrier == code_of(x, b)->barrier;
}

static uint32_t wanted(const struct axiom_execution *x, uint32_t event)
{
    const struct litmus_instruction *in = code_of(x, event);
    return in->arrivals ? in->arrivals : (uint32_t)__builtin_popcount(in->threads);
}

static uint32_t arrivals(const struct sharing *s, uint32_t event, uint32_t turn, uint32_t before)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < before; i++)
        count += same_barrier(s->x, s->uses[i], event) && s->x->turn[s->uses[i]] == turn;
    return count;
}

/* A turn that is not complete makes somebody wait for ever; a turn of arrivals alone does not. */
static bool nobody_waits(const struct sharing *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t use = s->uses[i], turn = s->x->turn[use];
        bool whole = arrivals(s, use, turn, s->count) == wanted(s->x, use);
        bool early = turn > 0 && arrivals(s, use, turn - 1U, s->count) != wanted(s->x, use);
        if ((s->x->events[use].waits && !whole) || early)
            return false;
    }
    return true;
}

static void relate_turns(struct axiom_execution *x, uint32_t a, uint32_t b)
{
    bool together = x->turn[a] == x->turn[b];
    if (x->turn[b] == x->turn[a] + 1)
        relate(&x->order, a, b);
    if (!together || !x->events[b].waits)
        return;
    relate(&x->barriers, a, b);
    x->order.row[a] |= x->po.row[b]; /* whoever waited goes on after this arrival */
}

static void shared(struct sharing *s)
{
    struct axiom_execution *x = s->x;
    if (!nobody_waits(s))
        return;
    for (uint32_t i = 0; i < AXIOM_EVENTS; i++)
        x->barriers.row[i] = 0;
    x->order = x->po;
    for (uint32_t i = 0; i < s->count; i++)
        for (uint32_t j = 0; j < s->count; j++)
            if (i != j && same_barrier(x, s->uses[i], s->uses[j]))
                relate_turns(x, s->uses[i], s->uses[j]);
    if (!relation_cyclic(x->count, &x->order))
        s->then(x, s->context);
}

static void share(struct sharing *s, uint32_t index)
{
    if (index == s->count) {
        shared(s);
        return;
    }
    struct axiom_execution *x = s->x;
    uint32_t use = s->uses[index], from = 0;
    for (uint32_t i = 0; i < index; i++)
        if (same_barrier(x, s->uses[i], use) &&
            x->events[s->uses[i]].thread == x->events[use].thread)
            from = x->turn[s->uses[i]] + 1U;
    for (uint32_t turn = from; turn < s->count; turn++)
        if (arrivals(s, use, turn, index) < wanted(x, use)) {
            x->turn[use] = (uint8_t)turn;
            share(s, index + 1);
        }
}

void axiom_barriers(struct axiom_execution *x, axiom_then *then, void *context)
{
    struct sharing s = {.x = x, .then = then, .context = context};
    for (uint32_t i = 0; i < x->count; i++)
        if (x->events[i].kind == EVENT_BARRIER)
            s.uses[s.count++] = (uint8_t)i;
    share(&s, 0);
}
