/*
 * candidates.c - what may hold at the head of a loop, in every trip: guesses, from GPUVerify's templates
 * (OOPSLA 2012) and from what the body does. Houdini keeps those that do.
 *
 * A candidate speaks of the head's symbols, and of what was known before the loop. That it is wrong costs
 * time only; none is ever assumed before it is shown.
 */
#include "engine/duo/lift.h"

#include "engine/language/print.h"
#include "engine/prove/inference.h"

#include <inttypes.h>

enum { STRIDES_MAX = 12, CANDIDATES_MAX = 1500 };

struct finding {
    struct duo *duo;
    struct loop_cut *cut;
    struct terms *t;
    struct grown list;
    int32_t strides[STRIDES_MAX];
    uint32_t stride_count;
    term head[2], alive, both; /* at the head; neither is dead; both at the head */
};

/* ---- adding ---- */

static void add(struct finding *f, term holds, const char *text)
{
    struct candidate candidate = {.holds = holds, .kept = true, .text = text};
    if (holds == TERM_TRUE || f->list.count >= CANDIDATES_MAX)
        return;
    for (uint32_t i = 0; i < f->list.count; i++)
        if (GROWN(f->list, struct candidate)[i].holds == holds)
            return;
    grown_add(f->duo->arena, &f->list, &candidate, sizeof candidate);
}

static void add_if(struct finding *f, term condition, term holds, const char *text)
{
    add(f, term_implies(f->t, condition, holds), text);
}

#define SAY(f, ...) arena_printf((f)->duo->arena, __VA_ARGS__)

/* ---- terms that mean something before the body has run ---- */

/* Made up in the body, or of a loop in it: it is no state of the head. */
static bool is_later(const struct finding *f, const uint8_t *seen, term last)
{
    for (term n = f->cut->invariant + 1; n <= last; n++)
        if (seen[n] && term_of(f->t, n)->op == TERM_SYMBOL)
            return true;
    return false;
}

static bool of_head(const struct finding *f, term t)
{
    size_t mark = arena_mark(f->duo->arena);
    uint8_t *seen = ARENA_ARRAY(f->duo->arena, uint8_t, t + 1);
    term_mark_cone(f->t, t, seen);
    bool later = is_later(f, seen, t);
    arena_release(f->duo->arena, mark);
    return !later;
}

static bool is_changing(const struct finding *f, term t)
{
    size_t mark = arena_mark(f->duo->arena);
    uint8_t *seen = ARENA_ARRAY(f->duo->arena, uint8_t, t + 1);
    bool changing = false;
    term_mark_cone(f->t, t, seen);
    for (uint32_t i = 0; i < f->cut->symbol_count && !changing; i++)
        changing = f->cut->symbols[i] <= t && seen[f->cut->symbols[i]];
    changing = changing || is_later(f, seen, t);
    arena_release(f->duo->arena, mark);
    return changing;
}

static term at_entry(const struct finding *f, term t)
{
    const struct loop_cut *cut = f->cut;
    term *to = ARENA_ARRAY(f->duo->arena, term, cut->symbol_count + 1), result;
    for (uint32_t i = 0; i < cut->symbol_count; i++)
        to[i] = cut->entry[cut->symbol_slots[i]];
    term_replace_all(f->t, cut->symbols, to, cut->symbol_count, &t, &result, 1);
    return result;
}

/* ---- strides ---- */

static void add_stride(struct finding *f, int64_t given)
{
    int32_t stride = (int32_t)(given < 0 ? -given : given);
    if (given < -INT32_MAX || given > INT32_MAX)
        return;
    for (uint32_t i = 0; i < f->stride_count; i++)
        if (f->strides[i] == stride)
            return;
    if (stride > 1 && f->stride_count < STRIDES_MAX)
        f->strides[f->stride_count++] = stride;
}

/* The constants that the body adds to, and multiplies with. */
static void find_strides(struct finding *f)
{
    const struct loop_cut *cut = f->cut;
    int64_t value;
    uint32_t direct;
    for (term n = cut->invariant + 1; n < f->t->count; n++) {
        const struct term_node *node = term_of(f->t, n);
        if (node->op != TERM_BINARY)
            continue;
        if (node->binary == BINARY_ADD && term_is_number(f->t, node->b, &value))
            add_stride(f, value);
        if (node->binary == BINARY_ADD && term_is_number(f->t, node->a, &value))
            add_stride(f, value);
    }
    direct = f->stride_count;
    for (term n = 1; n < f->t->count; n++) {
        const struct term_node *node = term_of(f->t, n);
        if (node->op != TERM_BINARY || node->binary != BINARY_MUL ||
            !term_is_number(f->t, node->b, &value) || value <= 1 || value > 1 << 16)
            continue;
        add_stride(f, value);
        for (uint32_t i = 0; i < direct; i++)
            if (f->strides[i] <= 1 << 14)
                add_stride(f, f->strides[i] * value);
    }
}

/* t is a multiple of the stride, as far as words go. */
static term multiple(struct finding *f, term t, int32_t stride)
{
    bool power = (stride & (stride - 1)) == 0;
    term zero = term_number(f->t, t, 0);
    term rest = power ? term_binary(f->t, BINARY_AND, t, term_number(f->t, t, stride - 1))
                      : term_urem(f->t, t, term_number(f->t, t, stride));
    return term_eq(f->t, rest, zero);
}

/* Whether remainders by it are left out where only plain guesses are made. */
static bool is_left_out(struct finding *f, int32_t stride)
{
    bool out = f->duo->plain && (stride & (stride - 1)) != 0;
    f->duo->left_out |= out;
    return out;
}

static term at_most(struct finding *f, term a, term b)
{
    return term_not(f->t, term_less(f->t, b, a));
}

/* ---- where the threads are ---- */

static void find_places(struct finding *f)
{
    const struct duo *duo = f->duo;
    const struct loop_cut *cut = f->cut;
    term same_alive = term_and(f->t, f->alive, duo->same);
    add_if(f, same_alive, term_eq(f->t, f->head[0], f->head[1]),
           "both threads are in the loop, or none");
    add_if(f, TERM_TRUE, f->alive, "both threads are alive");
    for (uint32_t b = 0; b <= duo->block_count; b++) {
        term one = cut->head[slot_at(duo, b, 0)], two = cut->head[slot_at(duo, b, 1)];
        if (one == TERM_FALSE && two == TERM_FALSE)
            continue;
        const char *name = b < duo->block_count ? duo->cfg->blocks[b]->name : "End";
        add_if(f, same_alive, term_eq(f->t, one, two),
               SAY(f, "both threads are at %s, or none", name));
        add_if(f, f->cut->in[0], term_not(f->t, one), SAY(f, "thread 1 is not at %s", name));
        add_if(f, f->cut->in[1], term_not(f->t, two), SAY(f, "thread 2 is not at %s", name));
    }
}

/* ---- private variables ---- */

/* Of a variable that both threads step: who has left the loop has not stepped since. */
static void find_growth(struct finding *f, const struct ast_var *var)
{
    const struct loop_cut *cut = f->cut;
    uint32_t slot = slot_var(f->duo, var, 0);
    term one = term_binary(f->t, BINARY_SUB, cut->head[slot], cut->entry[slot]);
    term two = term_binary(f->t, BINARY_SUB, cut->head[slot + 1], cut->entry[slot + 1]);
    add_if(f, term_and(f->t, f->both, f->duo->same), term_eq(f->t, one, two),
           SAY(f, "%s$1 and %s$2 have grown alike", var->name, var->name));
    add_if(f, term_and(f->t, cut->in[0], f->head[1]), at_most(f, one, two),
           SAY(f, "%s$1 has not grown more than %s$2 where thread 2 is at the head", var->name,
               var->name));
    add_if(f, term_and(f->t, f->head[0], cut->in[1]), at_most(f, two, one),
           SAY(f, "%s$2 has not grown more than %s$1 where thread 1 is at the head", var->name,
               var->name));
}

static void find_uniform(struct finding *f, const struct ast_var *var)
{
    const struct loop_cut *cut = f->cut;
    const struct duo *duo = f->duo;
    uint32_t slot = slot_var(duo, var, 0);
    term one = cut->head[slot], two = cut->head[slot + 1];
    term equal = term_eq(f->t, one, two);
    term same_both = term_and(f->t, f->both, duo->same);
    term in = term_and(f->t, term_and(f->t, cut->in[0], cut->in[1]), f->alive);
    add_if(f, f->both, equal,
           SAY(f, "%s$1 == %s$2 where both are at the head", var->name, var->name));
    add_if(f, in, equal, SAY(f, "%s$1 == %s$2", var->name, var->name));
    if (duo->same != TERM_TRUE)
        add_if(f, same_both, equal, SAY(f, "%s$1 == %s$2 in one block", var->name, var->name));
    if (var->is_array)
        return;
    find_growth(f, var);
}

static void find_bounds(struct finding *f, const struct ast_var *var, uint32_t k)
{
    const struct loop_cut *cut = f->cut;
    uint32_t slot = slot_var(f->duo, var, k);
    term now = cut->head[slot], before = cut->entry[slot], in = cut->in[k];
    term zero = term_number(f->t, now, 0);
    term less = term_binary(f->t, BINARY_SUB, now, term_number(f->t, now, 1));
    const char *name = SAY(f, "%s$%" PRIu32, var->name, k + 1);
    add_if(f, in, at_most(f, before, now), SAY(f, "%s has not fallen", name));
    add_if(f, in, at_most(f, now, before), SAY(f, "%s has not risen", name));
    add_if(f, in, at_most(f, zero, now), SAY(f, "%s >= 0", name));
    add_if(f, in, term_not(f->t, term_eq(f->t, now, zero)), SAY(f, "%s != 0", name));
    add_if(f, in, term_eq(f->t, term_binary(f->t, BINARY_AND, now, less), zero),
           SAY(f, "%s is 0 or a power of two", name));
    for (uint32_t i = 0; i < f->stride_count; i++)
        if (!is_left_out(f, f->strides[i]))
            add_if(f, in, multiple(f, term_binary(f->t, BINARY_SUB, now, before), f->strides[i]),
                   SAY(f, "%s has changed by a multiple of %" PRId32, name, f->strides[i]));
}

static void find_variables(struct finding *f)
{
    const struct loop_cut *cut = f->cut;
    for (uint32_t i = 0; i < f->duo->var_count; i++) {
        const struct ast_var *var = f->duo->vars[i];
        uint32_t slot = slot_var(f->duo, var, 0);
        if (cut->head[slot] == cut->entry[slot] && cut->head[slot + 1] == cut->entry[slot + 1])
            continue;
        if (f->duo->lift && !lift_is_live(f->duo, f->duo->cfg->loops[cut->loop].head, var))
            continue;
        if (!is_memory(var))
            find_uniform(f, var);
        if (!is_memory(var) && !var->is_array)
            for (uint32_t k = 0; k < 2; k++)
                find_bounds(f, var, k);
    }
}

/* Comparisons of the body, also what they become at its end: i < n gives i <= n, too. */
static void find_tests(struct finding *f)
{
    const struct loop_cut *cut = f->cut;
    for (uint32_t i = cut->test_first; i < cut->test_end; i++) {
        struct test_seen test = GROWN(f->duo->tests, struct test_seen)[i];
        term (*compare)(struct terms *, term, term) = test.is_unsigned ? term_below : term_less;
        term less = compare(f->t, test.a, test.b), more = compare(f->t, test.b, test.a);
        if (less <= TERM_TRUE || !of_head(f, less) || !is_changing(f, less))
            continue;
        const char *of = SAY(f, "a comparison of thread %" PRIu32, test.k + 1);
        const term forms[] = {less, more, term_not(f->t, less), term_not(f->t, more),
                              term_not(f->t, term_eq(f->t, test.a, test.b))};
        for (uint32_t n = 0; n < sizeof forms / sizeof forms[0]; n++) {
            add_if(f, cut->in[test.k], forms[n], SAY(f, "%s, form %" PRIu32, of, n));
            add_if(f, f->head[test.k], forms[n], SAY(f, "%s at the head, form %" PRIu32, of, n));
        }
    }
}

/* The kernel's own invariants: at every trip, and where the trip comes to them. */
static void find_claims(struct finding *f)
{
    const struct loop_cut *cut = f->cut;
    for (uint32_t i = cut->claim_first; i < cut->claim_end; i++) {
        struct claim_seen claim = GROWN(f->duo->claims, struct claim_seen)[i];
        const char *text =
            SAY(f, "thread %" PRIu32 ": invariant %s (line %" PRIu32 ")", claim.k + 1,
                print_expr(f->duo->arena, claim.stm->value), claim.stm->at.line);
        if (!of_head(f, claim.holds))
            continue;
        add_if(f, cut->in[claim.k], claim.holds, text);
        add_if(f, f->head[claim.k], claim.holds, SAY(f, "%s, at the head", text));
        if (of_head(f, claim.there))
            add_if(f, claim.there, claim.holds, SAY(f, "%s, where the trip comes there", text));
    }
}

/* ---- the log ---- */

struct logged {
    const struct ast_var *var;
    const char *kind;
    term now, before; /* the log at the head, before the loop */
    term watched;
};

static void add_logged(struct finding *f, const struct logged *l, term holds, const char *text)
{
    term fresh = term_and(f->t, l->now, term_not(f->t, l->before));
    const char *of = SAY(f, "what thread 1 %s of %s", l->kind, l->var->name);
    add_if(f, term_and(f->t, f->cut->in[0], fresh), holds, SAY(f, "%s in the loop: %s", of, text));
    if (l->before != TERM_FALSE)
        add_if(f, term_and(f->t, f->cut->in[0], l->now), holds, SAY(f, "%s: %s", of, text));
}

/* Whole steps lie between what was accessed and what comes next. */
static void log_of_step(struct finding *f, const struct logged *l, term index, term step,
                        const char *text)
{
    add_logged(f, l, at_most(f, term_binary(f->t, BINARY_ADD, l->watched, step), index), text);
}

static void log_of_steps(struct finding *f, const struct logged *l, term index)
{
    int32_t value;
    for (uint32_t i = 0; i < f->stride_count; i++)
        log_of_step(f, l, index, term_word(f->t, f->strides[i]),
                    SAY(f, "stands %" PRId32 " or more before the next element", f->strides[i]));
    if (!term_is_constant(f->t, f->duo->thread_count, &value))
        log_of_step(f, l, index, f->duo->thread_count,
                    "stands a row or more before the next element");
}

/* The watched element and one index of the body, now and before the loop. */
static void log_of_index(struct finding *f, const struct logged *l, term index)
{
    term wo = l->watched, first = at_entry(f, index);
    add_logged(f, l, term_eq(f->t, wo, index), "is the next element");
    add_logged(f, l, term_eq(f->t, wo, first), "is the first element");
    add_logged(f, l, term_less(f->t, wo, index), "stands before the next element");
    add_logged(f, l, term_less(f->t, index, wo), "stands behind the next element");
    add_logged(f, l, at_most(f, wo, index), "stands not behind the next element");
    add_logged(f, l, at_most(f, index, wo), "stands not before the next element");
    add_logged(f, l, at_most(f, first, wo), "stands not before the first element");
    add_logged(f, l, at_most(f, wo, first), "stands not behind the first element");
    log_of_steps(f, l, index);
    for (uint32_t i = 0; i < f->stride_count; i++)
        if (!is_left_out(f, f->strides[i]))
            add_logged(
                f, l, multiple(f, term_binary(f->t, BINARY_SUB, wo, first), f->strides[i]),
                SAY(f, "is a multiple of %" PRId32 " from the first element", f->strides[i]));
    for (uint32_t i = 0; i < f->stride_count; i++) {
        term stride = term_word(f->t, f->strides[i]);
        if (is_left_out(f, f->strides[i]))
            continue;
        add_logged(f, l, term_eq(f->t, term_urem(f->t, wo, stride), term_urem(f->t, first, stride)),
                   SAY(f, "has the first element's rest by %" PRId32, f->strides[i]));
    }
}

/* The parts of a condition that the loop does not change. */
static void log_of_condition(struct finding *f, const struct logged *l, term condition,
                             uint32_t depth)
{
    const struct term_node node = *term_of(f->t, condition);
    if (node.op == TERM_AND && depth > 0) {
        log_of_condition(f, l, node.a, depth - 1);
        log_of_condition(f, l, node.b, depth - 1);
    } else if (!is_changing(f, condition)) {
        add_logged(f, l, condition, "under the condition around the access");
    }
}

enum { CONDITION_DEPTH = 6 };

static void log_of_accesses(struct finding *f, const struct logged *l, uint32_t kind)
{
    for (uint32_t i = f->cut->access_first; i < f->cut->access_end; i++) {
        struct access_seen access = GROWN(f->duo->accesses, struct access_seen)[i];
        if (access.var != l->var || access.kind != kind)
            continue;
        if (of_head(f, access.index))
            log_of_index(f, l, access.index);
        log_of_condition(f, l, access.enabled, CONDITION_DEPTH);
    }
}

/* Which part of an array is a thread's own: by its number, by strides, in slices. */
static void log_of_thread(struct finding *f, const struct logged *l)
{
    struct duo *duo = f->duo;
    term wo = l->watched, tid = duo->tid[0];
    int32_t threads = (int32_t)duo->threads;
    uint32_t slice = l->var->length * duo->units / duo->threads;
    add_logged(f, l, term_eq(f->t, wo, tid), "is element tid");
    add_logged(f, l, term_eq(f->t, term_urem(f->t, wo, duo->thread_count), tid),
               "is element tid of some row");
    if (slice > 1 && !is_left_out(f, (int32_t)slice))
        add_logged(f, l, term_eq(f->t, term_udiv(f->t, wo, term_word(f->t, (int32_t)slice)), tid),
                   "is in the thread's slice");
    for (uint32_t i = 0; i < f->stride_count; i++)
        if (f->strides[i] < threads * 4 && f->strides[i] != (int32_t)slice &&
            !is_left_out(f, f->strides[i]))
            add_logged(f, l,
                       term_eq(f->t, term_udiv(f->t, wo, term_word(f->t, f->strides[i])), tid),
                       SAY(f, "is in the thread's slice of %" PRId32, f->strides[i]));
}

static void find_log(struct finding *f, const struct ast_var *var, uint32_t kind)
{
    static const char *const kinds[LOG_KINDS] = {"has read", "has written",
                                                 "has changed atomically", "has strongly read"};
    struct duo *duo = f->duo;
    uint32_t slot = slot_log(duo, var, kind);
    struct logged l = {.var = var,
                       .kind = kinds[kind],
                       .now = f->cut->head[slot],
                       .before = f->cut->entry[slot],
                       .watched = duo->watched[var->mark]};
    if (l.now == l.before)
        return;
    add_logged(f, &l, TERM_FALSE, "nothing");
    log_of_accesses(f, &l, kind);
    log_of_thread(f, &l);
}

/* ---- all of them ---- */

static void find(struct finding *f)
{
    find_strides(f);
    find_claims(f);
    find_places(f);
    find_variables(f);
    find_tests(f);
    for (uint32_t i = 0; i < f->duo->var_count; i++)
        if (is_memory(f->duo->vars[i]) && f->duo->written[i])
            for (uint32_t kind = 0; kind < LOG_KINDS; kind++)
                find_log(f, f->duo->vars[i], kind);
}

/* What those that are kept say of a state; of the others: true. */
static term *instantiate(struct duo *duo, const struct loop_cut *cut, const term *state)
{
    uint32_t n = cut->candidate_count;
    term *to = ARENA_ARRAY(duo->arena, term, cut->symbol_count + 1);
    term *old = ARENA_ARRAY(duo->arena, term, n + 1);
    term *now = ARENA_ARRAY(duo->arena, term, n + 1);
    for (uint32_t i = 0; i < cut->symbol_count; i++)
        to[i] = state[cut->symbol_slots[i]];
    for (uint32_t i = 0; i < n; i++)
        old[i] = cut->candidates[i].kept ? cut->candidates[i].holds : (term)TERM_TRUE;
    term_replace_all(&duo->terms, cut->symbols, to, cut->symbol_count, old, now, n);
    return now;
}

void candidates_place(struct duo *duo, struct loop_cut *cut)
{
    struct terms *t = &duo->terms;
    const term *before = instantiate(duo, cut, cut->entry);
    const term *after = instantiate(duo, cut, cut->latch);
    for (uint32_t i = 0; i < cut->candidate_count; i++) {
        term at_entry = term_and(t, cut->entry[slot_path(duo)], term_not(t, before[i]));
        term at_latch = term_and(t, cut->latch[slot_path(duo)], term_not(t, after[i]));
        cut->candidates[i].violated = term_or(t, at_entry, at_latch);
    }
}

void candidates_find(struct duo *duo, struct loop_cut *cut)
{
    struct terms *t = &duo->terms;
    struct finding f = {.duo = duo, .cut = cut, .t = t};
    uint32_t head = duo->cfg->loops[cut->loop].head;
    f.head[0] = cut->head[slot_at(duo, head, 0)];
    f.head[1] = cut->head[slot_at(duo, head, 1)];
    f.both = term_and(t, f.head[0], f.head[1]);
    f.alive = term_not(t, term_or(t, cut->head[slot_dead(duo, 0)], cut->head[slot_dead(duo, 1)]));
    find(&f);
    cut->candidate_count = f.list.count;
    cut->candidates = f.list.items;
}
