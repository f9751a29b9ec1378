/*
 * axiom_models.c - what each model asks of an execution.
 *
 * PTX: the memory consistency model of the PTX ISA, sections "Causality order" and "Axioms", of versions 6.0 and 7.5
 * (without proxies); the two differ in causality order. ASPLOS'15: Alglave et al., "GPU concurrency: weak behaviours
 * and programming assumptions", the model of section 5, with atomic read-modify-writes.
 */
#include "engine/axiom/axiom_internal.h"

static bool is_memory(const struct axiom_event *e)
{
    return e->kind == EVENT_READ || e->kind == EVENT_WRITE;
}

static bool is_strong(const struct axiom_event *e)
{
    return e->kind == EVENT_FENCE || (is_memory(e) && e->order != ORDER_WEAK);
}

static bool reaches(const struct litmus_test *test, enum litmus_scope scope, uint32_t from,
                    uint32_t to)
{
    const struct litmus_thread *a = &test->threads[from], *b = &test->threads[to];
    if (scope == SCOPE_SYS)
        return true;
    return a->gpu == b->gpu && (scope == SCOPE_GL || a->cta == b->cta);
}

/*  a and b are morally strong: in program order, or both strong and each one's scope takes in the other's thread;
 *  and if both touch memory, the same word.
 */
static bool morally_strong(const struct axiom_execution *x, uint32_t a, uint32_t b)
{
    const struct axiom_event *e = &x->events[a], *f = &x->events[b];
    if (a == b || (is_memory(e) && is_memory(f) && e->word != f->word))
        return false;
    if (e->thread == f->thread)
        return true;
    return is_strong(e) && is_strong(f) && reaches(x->test, e->scope, e->thread, f->thread) &&
           reaches(x->test, f->scope, f->thread, e->thread);
}

void axiom_fixed(struct axiom_execution *x)
{
    for (uint32_t a = 0; a < x->count; a++)
        for (uint32_t b = 0; b < x->count; b++) {
            const struct axiom_event *e = &x->events[a], *f = &x->events[b];
            if (e->thread == f->thread && a < b)
                relate(&x->po, a, b);
            if (is_memory(e) && is_memory(f) && e->word == f->word)
                relate(&x->loc, a, b);
            if (f->needs >> a & 1)
                relate(&x->dep, a, b);
            if (e->kind == EVENT_READ && e->partner == b)
                relate(&x->rmw, a, b);
            if (morally_strong(x, a, b))
                relate(&x->strong, a, b);
        }
}

static struct relation both(const struct axiom_execution *x, const struct relation *a,
                            const struct relation *b)
{
    struct relation made = *a;
    relation_meet(x->count, &made, b);
    return made;
}

static struct relation either(const struct axiom_execution *x, const struct relation *a,
                              const struct relation *b)
{
    struct relation made = *a;
    relation_union(x->count, &made, b);
    return made;
}

bool axiom_thin_air(const struct axiom_execution *x)
{
    struct relation r = either(x, &x->rf, &x->dep);
    return relation_cyclic(x->count, &r);
}

static bool releases(const struct axiom_event *e)
{
    return e->order == ORDER_RELEASE || e->order == ORDER_ACQ_REL || e->order == ORDER_SC;
}

static bool acquires(const struct axiom_event *e)
{
    return e->order == ORDER_ACQUIRE || e->order == ORDER_ACQ_REL || e->order == ORDER_SC;
}

/* A release, or a fence, with the strong write behind it that others observe. */
static struct relation release_patterns(const struct axiom_execution *x)
{
    struct relation made = {{0}};
    for (uint32_t a = 0; a < x->count; a++)
        for (uint32_t w = 0; w < x->count; w++) {
            const struct axiom_event *e = &x->events[a], *f = &x->events[w];
            bool behind = related(&x->po, a, w);
            if (f->kind != EVENT_WRITE || !is_strong(f) || !releases(e))
                continue;
            if (e->kind == EVENT_FENCE
                    ? behind
                    : e->kind == EVENT_WRITE && (a == w || (behind && e->word == f->word)))
                relate(&made, a, w);
        }
    return made;
}

static struct relation acquire_patterns(const struct axiom_execution *x)
{
    struct relation made = {{0}};
    for (uint32_t r = 0; r < x->count; r++)
        for (uint32_t a = 0; a < x->count; a++) {
            const struct axiom_event *e = &x->events[r], *f = &x->events[a];
            bool before = related(&x->po, r, a);
            if (e->kind != EVENT_READ || !is_strong(e) || !acquires(f))
                continue;
            if (f->kind == EVENT_FENCE
                    ? before
                    : f->kind == EVENT_READ && (a == r || (before && e->word == f->word)))
                relate(&made, r, a);
        }
    return made;
}

/*  observed = strong rf, or observed ; rmw ; observed
 *  sync     = strong and (release pattern ; observed ; acquire pattern)
 */
static void synchronise(struct axiom_execution *x)
{
    struct relation rf = both(x, &x->strong, &x->rf);
    struct relation chain = relation_then(x->count, &rf, &x->rmw);
    struct relation heads = release_patterns(x), tails = acquire_patterns(x);
    relation_close(x->count, &chain);
    relation_identity(x->count, &chain);
    x->observed = relation_then(x->count, &chain, &rf);
    struct relation half = relation_then(x->count, &heads, &x->observed);
    x->sync = relation_then(x->count, &half, &tails);
    relation_meet(x->count, &x->sync, &x->strong);
}

/*  base = (po? ; (sync | sc | barriers) ; po?)+        and since 7.5 also po */
static void base_causality(struct axiom_execution *x, bool with_po)
{
    struct relation step = either(x, &x->sync, &x->sc), maybe_po = x->po;
    relation_identity(x->count, &maybe_po);
    relation_union(x->count, &step, &x->barriers);
    step = relation_then(x->count, &maybe_po, &step);
    step = relation_then(x->count, &step, &maybe_po);
    relation_close(x->count, &step);
    x->base = step;
    if (with_po)
        relation_union(x->count, &x->base, &x->po);
}

/*  6.0:   cause = base | observed ; (base | po on one word)
 *  7.5:   cause = observed? ; (base on one word)
 */
static void causality(struct axiom_execution *x, enum axiom_model model)
{
    struct relation last = both(x, &x->base, &x->loc);
    struct relation po_loc = both(x, &x->po, &x->loc);
    if (model == AXIOM_PTX60)
        last = either(x, &x->base, &po_loc);
    struct relation far = relation_then(x->count, &x->observed, &last);
    x->cause = model == AXIOM_PTX60 ? x->base : last;
    relation_union(x->count, &x->cause, &far);
}

/* Axiom Fence-SC: the order of sc fences does not contradict causality. */
static bool fences_agree(const struct axiom_execution *x)
{
    for (uint32_t a = 0; a < x->count; a++)
        for (uint32_t left = x->sc.row[a]; left; left &= left - 1)
            if (related(&x->base, (uint32_t)__builtin_ctz(left), a))
                return false;
    return true;
}

bool axiom_causes(struct axiom_execution *x, enum axiom_model model)
{
    for (uint32_t i = 0; i < AXIOM_EVENTS; i++)
        x->forced.row[i] = 0;
    if (model == AXIOM_SC || model == AXIOM_ASPLOS15)
        return true;
    synchronise(x);
    base_causality(x, model == AXIOM_PTX75);
    causality(x, model);
    for (uint32_t a = 0; a < x->count; a++)
        for (uint32_t b = 0; b < x->count; b++)
            if (x->events[a].kind == EVENT_WRITE && x->events[b].kind == EVENT_WRITE &&
                related(&x->cause, a, b) && related(&x->loc, a, b))
                relate(&x->forced, a, b);
    return fences_agree(x) && !relation_cyclic(x->count, &x->forced);
}

/* Nothing comes between the halves of an atomic operation: no write that is ordered with both. */
static bool atomic(const struct axiom_execution *x, const struct relation *counts)
{
    struct relation fr = both(x, &x->fr, counts), co = both(x, &x->co, counts);
    struct relation between = relation_then(x->count, &fr, &co);
    for (uint32_t i = 0; i < x->count; i++)
        if (between.row[i] & x->rmw.row[i])
            return false;
    return true;
}

static bool contradicts_causality(const struct axiom_execution *x)
{
    struct relation com = either(x, &x->rf, &x->fr);
    for (uint32_t a = 0; a < x->count; a++)
        for (uint32_t left = com.row[a]; left; left &= left - 1)
            if (related(&x->cause, (uint32_t)__builtin_ctz(left), a))
                return true;
    return false;
}

static struct relation communication(const struct axiom_execution *x)
{
    struct relation com = either(x, &x->rf, &x->co);
    relation_union(x->count, &com, &x->fr);
    return com;
}

/*  PTX:        strong com | po on one word
 *  ASPLOS'15:  com | po on one word, but for two loads
 */
struct relation axiom_per_location(const struct axiom_execution *x, enum axiom_model model)
{
    struct relation com = communication(x), po_loc = both(x, &x->po, &x->loc);
    bool loads_free = model == AXIOM_ASPLOS15;
    if (!loads_free)
        relation_meet(x->count, &com, &x->strong);
    for (uint32_t a = 0; a < x->count; a++)
        for (uint32_t b = 0; b < x->count && loads_free; b++)
            if (x->events[a].kind == EVENT_READ && x->events[b].kind == EVENT_READ)
                po_loc.row[a] &= ~((uint32_t)1 << b);
    relation_union(x->count, &com, &po_loc);
    return com;
}

static bool ptx_allows(const struct axiom_execution *x)
{
    struct relation com = axiom_per_location(x, AXIOM_PTX75);
    return atomic(x, &x->strong) && !relation_cyclic(x->count, &com) && !contradicts_causality(x);
}

static bool sc_allows(const struct axiom_execution *x)
{
    struct relation all = communication(x);
    relation_union(x->count, &all, &x->order);
    return atomic(x, &x->loc) && !relation_cyclic(x->count, &all);
}

/* Pairs of one thread's accesses with a membar of this scope, or a wider one, between. */
struct relation axiom_fenced(const struct axiom_execution *x, enum litmus_scope scope)
{
    struct relation made = {{0}};
    for (uint32_t f = 0; f < x->count; f++) {
        if (x->events[f].kind != EVENT_FENCE || x->events[f].scope < scope)
            continue;
        for (uint32_t a = 0; a < f; a++)
            if (related(&x->po, a, f))
                made.row[a] |= x->po.row[f];
    }
    return made;
}

struct relation axiom_within(const struct axiom_execution *x, enum litmus_scope scope)
{
    struct relation made = {{0}};
    for (uint32_t a = 0; a < x->count; a++)
        for (uint32_t b = 0; b < x->count; b++)
            if (reaches(x->test, scope, x->events[a].thread, x->events[b].thread))
                relate(&made, a, b);
    return made;
}

static bool scope_cyclic(const struct axiom_execution *x, enum litmus_scope scope)
{
    struct relation r = axiom_fenced(x, scope), inside = axiom_within(x, scope);
    relation_union(x->count, &r, &x->dep);
    relation_union(x->count, &r, &x->co);
    relation_union(x->count, &r, &x->fr);
    for (uint32_t w = 0; w < x->count; w++)
        r.row[w] |= x->rf.row[w] & ~x->po.row[w];
    relation_meet(x->count, &r, &inside);
    return relation_cyclic(x->count, &r);
}

static bool asplos_allows(const struct axiom_execution *x)
{
    struct relation llh = axiom_per_location(x, AXIOM_ASPLOS15);
    return atomic(x, &x->loc) && !relation_cyclic(x->count, &llh) && !scope_cyclic(x, SCOPE_CTA) &&
           !scope_cyclic(x, SCOPE_GL) && !scope_cyclic(x, SCOPE_SYS);
}

bool axiom_allowed(const struct axiom_execution *x, enum axiom_model model)
{
    if (model == AXIOM_SC)
        return sc_allows(x);
    return model == AXIOM_ASPLOS15 ? asplos_allows(x) : ptx_allows(x);
}

enum axiom_model axiom_model_of(enum litmus_model m)
{
    if (m == LITMUS_SC)
        return AXIOM_SC;
    return (enum axiom_model)(AXIOM_ASPLOS15 + (m - LITMUS_ASPLOS15));
}
