/*
 * axiom_explain.c - why a model does not allow an execution: the axiom that it breaks, and the shortest circle that
 * shows it. The axioms themselves are those of axiom_models.c.
 */
#include "engine/axiom/axiom_internal.h"

enum { LABELS = 6 };

/* Relations under their names; who comes first is preferred. */
struct labelled {
    const char *name;
    const struct relation *of;
};

/* Ways through labelled relations: `marked` ones count, of which a way has one at least, if `needs` is set. */
struct ways {
    uint32_t events, labels;
    struct labelled label[LABELS];
    uint32_t marked; /* a bit a label */
    bool needs;
};

static bool edge_of(const struct ways *w, uint32_t from, uint32_t to, bool seen, bool *marks,
                    const char **name)
{
    for (uint32_t i = 0; i < w->labels; i++) {
        *marks = seen || (w->marked >> i & 1);
        *name = w->label[i].name;
        if (related(w->label[i].of, from, to))
            return true;
    }
    return false;
}

/* The shortest way, in edges; 0: there is none. */
static uint32_t way(const struct ways *w, uint32_t from, uint32_t to, struct axiom_edge *edges)
{
    struct axiom_edge came[2][AXIOM_EVENTS];
    bool came_seen[2][AXIOM_EVENTS], known[2][AXIOM_EVENTS] = {{false}};
    uint8_t queue[2 * AXIOM_EVENTS + 1][2] = {{(uint8_t)from, 0}};
    for (uint32_t at = 0, end = 1; at < end; at++) {
        uint32_t a = queue[at][0];
        bool seen = queue[at][1], marks;
        for (uint32_t b = 0; b < w->events; b++) {
            const char *name;
            if (!edge_of(w, a, b, seen, &marks, &name) || known[marks][b])
                continue;
            known[marks][b] = true;
            came[marks][b] = (struct axiom_edge){name, (uint8_t)a, (uint8_t)b};
            came_seen[marks][b] = seen;
            queue[end][0] = (uint8_t)b;
            queue[end++][1] = marks;
        }
    }
    bool seen = w->needs || !known[0][to];
    if (!known[seen][to])
        return 0;
    uint32_t length = 0;
    for (uint32_t b = to; length == 0 || b != from || seen;) {
        edges[length++] = came[seen][b];
        bool before = came_seen[seen][b];
        b = came[seen][b].from;
        seen = before;
        if (length == AXIOM_EVENTS)
            return 0;
    }
    for (uint32_t i = 0; i < length / 2; i++) {
        struct axiom_edge swap = edges[i];
        edges[i] = edges[length - 1 - i];
        edges[length - 1 - i] = swap;
    }
    return length;
}

static bool keep(struct axiom_refusal *r, const char *axiom, const char *says, uint32_t length,
                 const struct axiom_edge *edges)
{
    if (length == 0 || (r->axiom && r->length <= length))
        return false;
    r->axiom = axiom;
    r->says = says;
    r->length = length;
    for (uint32_t i = 0; i < length; i++)
        r->circle[i] = edges[i];
    return true;
}

static void circle(const struct ways *w, struct axiom_refusal *r, const char *axiom,
                   const char *says)
{
    struct axiom_edge edges[AXIOM_EVENTS];
    for (uint32_t a = 0; a < w->events; a++)
        keep(r, axiom, says, way(w, a, a, edges), edges);
}

/* ---- PTX ---- */

/* base: program order, with something that synchronises on the way. Since 7.5 program order alone, too. */
static uint32_t base_way(const struct axiom_execution *x, enum axiom_model model, uint32_t from,
                         uint32_t to, struct axiom_edge *edges)
{
    const struct ways w = {
        .events = x->count,
        .labels = 4,
        .label = {{"sync", &x->sync}, {"bar", &x->barriers}, {"sc", &x->sc}, {"po", &x->po}},
        .marked = 7,
        .needs = true};
    uint32_t length = way(&w, from, to, edges);
    if (length > 0 || model == AXIOM_PTX60 || !related(&x->po, from, to))
        return length;
    edges[0] = (struct axiom_edge){"po", (uint8_t)from, (uint8_t)to};
    return 1;
}

/* cause: base, perhaps behind a value that was read. */
static uint32_t cause_way(const struct axiom_execution *x, enum axiom_model model, uint32_t from,
                          uint32_t to, struct axiom_edge *edges)
{
    uint32_t length = base_way(x, model, from, to, edges);
    for (uint32_t b = 0; b < x->count && length == 0; b++) {
        if (!related(&x->observed, from, b))
            continue;
        struct axiom_edge rest[AXIOM_EVENTS];
        uint32_t more = base_way(x, model, b, to, rest);
        if (more == 0 && related(&x->po, b, to) && related(&x->loc, b, to)) {
            rest[0] = (struct axiom_edge){"po", (uint8_t)b, (uint8_t)to};
            more = 1;
        }
        if (more == 0 || more + 1 >= AXIOM_EVENTS)
            continue;
        edges[0] = (struct axiom_edge){"obs", (uint8_t)from, (uint8_t)b};
        for (uint32_t i = 0; i < more; i++)
            edges[1 + i] = rest[i];
        length = 1 + more;
    }
    return length;
}

/* One edge of the relation, and causality back. */
static void against_cause(const struct axiom_execution *x, enum axiom_model model,
                          const struct labelled *l, struct axiom_refusal *r, const char *axiom,
                          const char *says)
{
    for (uint32_t a = 0; a < x->count; a++)
        for (uint32_t b = 0; b < x->count; b++) {
            struct axiom_edge edges[AXIOM_EVENTS];
            bool fences = l->of == &x->sc;
            if (!related(l->of, a, b) || !related(fences ? &x->base : &x->cause, b, a))
                continue;
            uint32_t length =
                fences ? base_way(x, model, b, a, edges + 1) : cause_way(x, model, b, a, edges + 1);
            edges[0] = (struct axiom_edge){l->name, (uint8_t)a, (uint8_t)b};
            keep(r, axiom, says, length ? length + 1 : 0, edges);
        }
}

static void atomicity(const struct axiom_execution *x, const struct relation *counts,
                      struct axiom_refusal *r)
{
    for (uint32_t a = 0; a < x->count; a++)
        for (uint32_t b = 0; b < x->count; b++)
            for (uint32_t c = 0; c < x->count; c++) {
                if (!related(&x->rmw, a, c) || !related(&x->fr, a, b) || !related(&x->co, b, c) ||
                    !related(counts, a, b) || !related(counts, b, c))
                    continue;
                const struct axiom_edge edges[] = {{"fr", (uint8_t)a, (uint8_t)b},
                                                   {"co", (uint8_t)b, (uint8_t)c},
                                                   {"rmw", (uint8_t)c, (uint8_t)a}};
                keep(r, "Atomicity", "nothing comes between the halves of an atomic operation", 3,
                     edges);
            }
}

static void per_location(const struct axiom_execution *x, enum axiom_model model,
                         struct axiom_refusal *r)
{
    struct relation all = axiom_per_location(x, model), of[4];
    const struct relation *const parts[4] = {&x->rf, &x->co, &x->fr, &x->po};
    struct ways w = {.events = x->count,
                     .labels = 4,
                     .label = {{"rf", &of[0]}, {"co", &of[1]}, {"fr", &of[2]}, {"po", &of[3]}}};
    for (uint32_t i = 0; i < 4; i++) {
        of[i] = *parts[i];
        relation_meet(x->count, &of[i], &all);
    }
    circle(&w, r, "SC per location", "the accesses to one word have an order");
}

static void explain_ptx(const struct axiom_execution *x, enum axiom_model model,
                        struct axiom_refusal *r)
{
    static const char causality[] =
        "what was caused is not undone: a read sees what causality brings";
    const struct labelled sc = {"sc", &x->sc}, rf = {"rf", &x->rf}, fr = {"fr", &x->fr},
                          co = {"co", &x->forced};
    atomicity(x, &x->strong, r);
    per_location(x, model, r);
    against_cause(x, model, &sc, r, "Fence-SC", "the order of sc fences agrees with causality");
    against_cause(x, model, &co, r, "Coherence", "writes are ordered as causality orders them");
    against_cause(x, model, &rf, r, "Causality", causality);
    against_cause(x, model, &fr, r, "Causality", causality);
}

/* ---- ASPLOS'15, SC ---- */

static void explain_asplos(const struct axiom_execution *x, struct axiom_refusal *r)
{
    static const char *const says[] = {
        [SCOPE_CTA] = "what fences order within a block has no circle",
        [SCOPE_GL] = "what fences order within a GPU has no circle",
        [SCOPE_SYS] = "what fences order has no circle",
    };
    atomicity(x, &x->loc, r);
    per_location(x, AXIOM_ASPLOS15, r);
    for (uint32_t scope = SCOPE_CTA; scope <= SCOPE_SYS; scope++) {
        struct relation inside = axiom_within(x, (enum litmus_scope)scope);
        struct relation of[5] = {x->rf, x->co, x->fr, x->dep,
                                 axiom_fenced(x, (enum litmus_scope)scope)};
        struct ways w = {.events = x->count,
                         .labels = 5,
                         .label = {{"rf", &of[0]},
                                   {"co", &of[1]},
                                   {"fr", &of[2]},
                                   {"dep", &of[3]},
                                   {"fence", &of[4]}}};
        for (uint32_t a = 0; a < x->count; a++)
            of[0].row[a] &= ~x->po.row[a];
        for (uint32_t i = 0; i < 5; i++)
            relation_meet(x->count, &of[i], &inside);
        circle(&w, r, "Scoped order", says[scope]);
    }
}

static void explain_sc(const struct axiom_execution *x, struct axiom_refusal *r)
{
    const struct ways w = {
        .events = x->count,
        .labels = 4,
        .label = {{"rf", &x->rf}, {"co", &x->co}, {"fr", &x->fr}, {"po", &x->order}}};
    atomicity(x, &x->loc, r);
    circle(&w, r, "Sequential consistency", "all instructions have one order");
}

bool axiom_explain(const struct axiom_execution *x, enum axiom_model model, struct axiom_refusal *r)
{
    const struct ways thin = {
        .events = x->count, .labels = 2, .label = {{"rf", &x->rf}, {"dep", &x->dep}}};
    circle(&thin, r, "No thin air", "no value comes from itself");
    if (r->axiom)
        return true;
    if (model == AXIOM_SC)
        explain_sc(x, r);
    else if (model == AXIOM_ASPLOS15)
        explain_asplos(x, r);
    else
        explain_ptx(x, model, r);
    return r->axiom != NULL;
}
