/*
 * progress_strong.c - does every strongly fair execution end?
 *
 * An infinite execution is strongly fair if every step of a unit of F that can be taken again and again is taken
 * again and again. In a finite graph it ends up going round in a trap: a set of states of one component, strongly
 * connected, with a cycle, that no step of a unit of F leaves (F is constant there). Other steps may leave it: nobody
 * has to take them. So every strongly fair execution ends iff no component holds a trap.
 *
 * A strongly fair execution is weakly fair: a unit of F steps in the trap, or can step in none of its states. So what
 * ends if weakly fair ends if strongly fair, also where units wait at barriers.
 *
 * Where in each state of a component some unit of F can step, it holds a trap iff from some state no steps of
 * units of F lead out of it: go on with such steps, and what they end up in is a trap. Where all of F waits that need
 * not be one: the others may have to go on, and out. Then what cannot be in a trap is taken out - states from which a
 * step of F leaves their component of what is left, and those without a cycle - until nothing is: what stays are traps.
 */
#include "engine/progress/progress_internal.h"

#include <string.h>

/* A mark of nodes that are not in what is left: known, and of no component. */
enum { ELSEWHERE = -1 };

static bool some_wait(const struct product *p)
{
    for (uint32_t i = 0; i < p->classes.count; i++) {
        const struct state_units *units = pool_at(&p->classes, i);
        if (units->unfinished & ~units->enabled)
            return true;
    }
    return false;
}

bool strong_start(struct strong *s, const struct product *p, model_set asked)
{
    struct arena *arena = p->graph->search->arena;
    *s = (struct strong){.p = p, .pass = asked, .some_wait = some_wait(p)};
    s->leaves = ARENA_ARRAY(arena, uint8_t, p->node_count);
    if (!s->some_wait)
        return true;
    if (!product_has_room(p, (uint64_t)p->node_count * COMPONENT_BYTES))
        return false;
    components_start(&s->inner, arena, p->node_count);
    memset(s->inner.marks, ELSEWHERE, p->node_count * sizeof *s->inner.marks);
    return true;
}

/* ---- steps of F that lead out ---- */

static model_set leaves_by(const struct strong *s, uint32_t edge,
                           const unit_set F[PROGRESS_MODEL_COUNT])
{
    const struct product *p = s->p;
    bool inside = components_same(&p->c, p->targets[edge], s->root);
    model_set models = inside ? s->leaves[p->targets[edge]] : MODELS_ALL, found = 0;
    for (; models; models &= models - 1) {
        uint32_t m = (uint32_t)__builtin_ctz(models);
        found |= (model_set)(F[m] >> p->units[edge] & 1) << m;
    }
    return found;
}

/* Backwards from the steps that lead out, until nothing is added. */
static void find_leaving(struct strong *s, uint32_t from, const unit_set F[PROGRESS_MODEL_COUNT])
{
    const struct product *p = s->p;
    bool more;
    do {
        more = false;
        for (uint32_t i = p->c.stack_count; i-- > from;) {
            uint32_t node = p->c.stack[i];
            model_set before = s->leaves[node], after = before;
            for (uint32_t e = p->first_edge[node];
                 e < p->first_edge[node + 1] && after != MODELS_ALL; e++)
                after |= leaves_by(s, e, F);
            s->leaves[node] = (uint8_t)after;
            more |= after != before;
        }
    } while (more && p->c.stack_count - from > 1);
}

/* ---- traps, where units wait ---- */

static bool is_out(const struct strong *s, uint32_t node)
{
    return s->leaves[node] >> s->model & 1;
}

static void take_out(struct strong *s, uint32_t node)
{
    s->leaves[node] |= (uint8_t)(1u << s->model);
    s->left = true;
}

static uint32_t first_of(const void *context, uint32_t node)
{
    return ((const struct strong *)context)->p->first_edge[node];
}

static uint32_t end_of(const void *context, uint32_t node)
{
    return first_of(context, node + 1);
}

static uint32_t target_of(const void *context, uint32_t edge)
{
    return ((const struct strong *)context)->p->targets[edge];
}

static void look(void *context, uint32_t root, uint32_t from)
{
    struct strong *s = context;
    const struct product *p = s->p;
    bool cyclic = false;
    for (uint32_t i = from; i < s->inner.stack_count; i++) {
        uint32_t node = s->inner.stack[i];
        bool leaves = false;
        for (uint32_t e = p->first_edge[node]; e < p->first_edge[node + 1]; e++) {
            bool stays = components_same(&s->inner, p->targets[e], root);
            cyclic |= stays;
            leaves |= !stays && (s->F >> p->units[e] & 1);
        }
        if (leaves)
            take_out(s, node);
    }
    if (!cyclic && !is_out(s, root))
        take_out(s, root);
}

/* Of the component's nodes, which lie on its stack from there on. */
static void mark_all(struct strong *s, uint32_t from, bool inside)
{
    for (uint32_t i = from; i < s->p->c.stack_count; i++) {
        uint32_t node = s->p->c.stack[i];
        s->inner.marks[node] = inside && !is_out(s, node) ? 0 : UINT32_MAX;
    }
}

static bool has_trap(struct strong *s, uint32_t from)
{
    const struct product *p = s->p;
    uint32_t staying = 0;
    do {
        s->left = false;
        s->inner.counter = 0;
        mark_all(s, from, true);
        for (uint32_t i = from; i < p->c.stack_count; i++)
            if (s->inner.marks[p->c.stack[i]] == 0)
                components_visit(&s->inner, p->c.stack[i], s, first_of, end_of, target_of, look);
    } while (s->left);
    mark_all(s, from, false);
    for (uint32_t i = from; i < p->c.stack_count; i++)
        staying += !is_out(s, p->c.stack[i]);
    return staying > 0;
}

/* ---- a component ---- */

/* Whether from some node F does not lead out; in *waits whether nobody of F can step in one of them. */
static bool some_stay(const struct strong *s, uint32_t from, bool *waits)
{
    bool stay = false;
    *waits = false;
    for (uint32_t i = from; i < s->p->c.stack_count; i++) {
        uint32_t node = s->p->c.stack[i];
        if (is_out(s, node))
            continue;
        stay = true;
        *waits |= s->some_wait && (product_units(s->p, node)->enabled & s->F) == 0;
    }
    return stay;
}

void strong_judge(struct strong *s, uint32_t root, uint32_t from,
                  const unit_set F[PROGRESS_MODEL_COUNT])
{
    s->root = root;
    for (uint32_t i = from; i < s->p->c.stack_count; i++) /* nothing is asked of the others */
        s->leaves[s->p->c.stack[i]] = (uint8_t)(MODELS_ALL & ~s->pass);
    find_leaving(s, from, F);
    for (s->model = 0; s->model < PROGRESS_MODEL_COUNT; s->model++) {
        bool waits;
        s->F = F[s->model];
        if ((s->pass >> s->model & 1) && some_stay(s, from, &waits) &&
            (!waits || has_trap(s, from)))
            s->pass &= ~(1u << s->model);
    }
}
