/*
 * guesses.c - which guesses are made at the head of a loop (engine/prove/candidates.c): those of this list, all of them
 * and no others. What a guess says is its text's matter (oracle/prove/retrace_guesses.c); that it is kept is Houdini's
 * (oracle/prove/kept.h). A guess that is never made leaves open what could be proved, which no execution shows.
 */
#include "engine/duo/lift.h"
#include "engine/prove/inference.h"
#include "oracle/verdicts/verdicts.h"

#include <inttypes.h>

enum { STRIDES = 12, LISTED = 1400 };

struct listing {
    struct arena *arena;
    struct duo *duo;
    struct terms *t;
    const struct loop_cut *cut;
    term head[2], alive, both;
    uint32_t stride_count;
    int64_t strides[STRIDES];
    uint32_t count;
    term listed[LISTED];
    const char *lost; /* of the list, and not made */
};

/* ---- the list ---- */

static bool is_made(const struct listing *l, term guess)
{
    for (uint32_t i = 0; i < l->cut->candidate_count; i++)
        if (l->cut->candidates[i].holds == guess)
            return true;
    return false;
}

/* What is plainly so need not be guessed; nor anything twice. */
static void list(struct listing *l, term where, term holds, const char *what)
{
    term guess = term_implies(l->t, where, holds);
    for (uint32_t i = 0; i < l->count; i++)
        if (l->listed[i] == guess)
            return;
    if (guess == TERM_TRUE || l->count == LISTED)
        return;
    l->listed[l->count++] = guess;
    if (!l->lost && !is_made(l, guess))
        l->lost = what;
}

static term at_most(struct listing *l, term a, term b)
{
    return term_not(l->t, term_less(l->t, b, a));
}

/* ---- what is made up in the body says nothing of its head ---- */

static const uint8_t *cone(struct listing *l, term of)
{
    uint8_t *seen = ARENA_ARRAY(l->arena, uint8_t, l->t->count);
    term_mark_cone(l->t, of, seen);
    return seen;
}

static bool is_of_head(struct listing *l, term of)
{
    const uint8_t *seen = cone(l, of);
    for (term n = l->cut->invariant + 1; n < l->t->count; n++)
        if (seen[n] && term_of(l->t, n)->op == TERM_SYMBOL)
            return false;
    return true;
}

static bool stays_the_same(struct listing *l, term of)
{
    const uint8_t *seen = cone(l, of);
    for (uint32_t i = 0; i < l->cut->symbol_count; i++)
        if (seen[l->cut->symbols[i]])
            return false;
    return is_of_head(l, of);
}

/* ---- strides: what the body adds, what is multiplied with, and both ---- */

static void note_stride(struct listing *l, int64_t by)
{
    by = by < 0 ? -by : by;
    for (uint32_t i = 0; i < l->stride_count; i++)
        if (l->strides[i] == by)
            return;
    if (by > 1 && by <= INT32_MAX && l->stride_count < STRIDES)
        l->strides[l->stride_count++] = by;
}

static void find_strides(struct listing *l)
{
    int64_t value;
    for (term n = l->cut->invariant + 1; n < l->t->count; n++) {
        const struct term_node *node = term_of(l->t, n);
        bool adds = node->op == TERM_BINARY && node->binary == BINARY_ADD;
        if (adds && term_is_number(l->t, node->b, &value))
            note_stride(l, value);
        if (adds && term_is_number(l->t, node->a, &value))
            note_stride(l, value);
    }
    const uint32_t added = l->stride_count;
    for (term n = 1; n < l->t->count; n++) {
        const struct term_node *node = term_of(l->t, n);
        if (node->op != TERM_BINARY || node->binary != BINARY_MUL ||
            !term_is_number(l->t, node->b, &value) || value < 2 || value > 65536)
            continue;
        note_stride(l, value);
        for (uint32_t i = 0; i < added; i++)
            if (l->strides[i] <= 16384)
                note_stride(l, l->strides[i] * value);
    }
}

static bool is_power(int64_t value)
{
    return (value & (value - 1)) == 0;
}

/* Where guesses are to be cheap, remainders by powers of two only. */
static bool is_guessed(const struct listing *l, int64_t stride)
{
    return !l->duo->plain || is_power(stride);
}

static term is_multiple(struct listing *l, term of, int64_t stride)
{
    term rest = is_power(stride)
                    ? term_binary(l->t, BINARY_AND, of, term_number(l->t, of, stride - 1))
                    : term_urem(l->t, of, term_number(l->t, of, stride));
    return term_eq(l->t, rest, term_number(l->t, of, 0));
}

/* ---- where the threads are ---- */

static void list_places(struct listing *l)
{
    const struct duo *duo = l->duo;
    const struct loop_cut *cut = l->cut;
    term pair = term_and(l->t, l->alive, duo->same);
    list(l, pair, term_eq(l->t, l->head[0], l->head[1]), "both in the loop, or none");
    list(l, TERM_TRUE, l->alive, "both alive");
    for (uint32_t b = 0; b <= duo->block_count; b++) {
        term one = cut->head[slot_at(duo, b, 0)], two = cut->head[slot_at(duo, b, 1)];
        if (one == TERM_FALSE && two == TERM_FALSE)
            continue;
        list(l, pair, term_eq(l->t, one, two), "both at a block, or none");
        list(l, cut->in[0], term_not(l->t, one), "thread 1 not at a block");
        list(l, cut->in[1], term_not(l->t, two), "thread 2 not at a block");
    }
}

/* ---- private variables that the loop changes ---- */

static void list_pair(struct listing *l, const struct ast_var *var)
{
    const struct loop_cut *cut = l->cut;
    uint32_t slot = slot_var(l->duo, var, 0);
    term equal = term_eq(l->t, cut->head[slot], cut->head[slot + 1]),
         block = term_and(l->t, l->both, l->duo->same),
         inside = term_and(l->t, term_and(l->t, cut->in[0], cut->in[1]), l->alive);
    list(l, l->both, equal, "a variable is equal at the head");
    list(l, inside, equal, "a variable is equal in the loop");
    list(l, block, equal, "a variable is equal in one block");
    if (var->is_array)
        return;
    term one = term_binary(l->t, BINARY_SUB, cut->head[slot], cut->entry[slot]),
         two = term_binary(l->t, BINARY_SUB, cut->head[slot + 1], cut->entry[slot + 1]);
    list(l, block, term_eq(l->t, one, two), "a variable has grown alike");
    list(l, term_and(l->t, cut->in[0], l->head[1]), at_most(l, one, two), "1 has grown no more");
    list(l, term_and(l->t, l->head[0], cut->in[1]), at_most(l, two, one), "2 has grown no more");
}

static void list_single(struct listing *l, const struct ast_var *var, uint32_t k)
{
    uint32_t slot = slot_var(l->duo, var, k);
    term now = l->cut->head[slot], before = l->cut->entry[slot], in = l->cut->in[k],
         zero = term_number(l->t, now, 0), one = term_number(l->t, now, 1);
    term halves = term_binary(l->t, BINARY_AND, now, term_binary(l->t, BINARY_SUB, now, one));
    list(l, in, at_most(l, before, now), "a variable has not fallen");
    list(l, in, at_most(l, now, before), "a variable has not risen");
    list(l, in, at_most(l, zero, now), "a variable is not negative");
    list(l, in, term_not(l->t, term_eq(l->t, now, zero)), "a variable is not 0");
    list(l, in, term_eq(l->t, halves, zero), "a variable is 0 or a power of two");
    for (uint32_t i = 0; i < l->stride_count; i++)
        if (is_guessed(l, l->strides[i]))
            list(l, in, is_multiple(l, term_binary(l->t, BINARY_SUB, now, before), l->strides[i]),
                 "a variable has changed by a multiple");
}

static void list_variables(struct listing *l)
{
    for (uint32_t i = 0; i < l->duo->var_count; i++) {
        const struct ast_var *var = l->duo->vars[i];
        uint32_t slot = slot_var(l->duo, var, 0);
        bool changes = l->cut->head[slot] != l->cut->entry[slot] ||
                       l->cut->head[slot + 1] != l->cut->entry[slot + 1];
        bool dead =
            l->duo->lift && !lift_is_live(l->duo, l->duo->cfg->loops[l->cut->loop].head, var);
        if (is_memory(var) || !changes || dead)
            continue;
        list_pair(l, var);
        for (uint32_t k = 0; k < 2 && !var->is_array; k++)
            list_single(l, var, k);
    }
}

/* ---- comparisons of the body, and what the kernel itself says ---- */

static void list_tests(struct listing *l)
{
    for (uint32_t i = l->cut->test_first; i < l->cut->test_end; i++) {
        const struct test_seen test = GROWN(l->duo->tests, struct test_seen)[i];
        term less = test.is_unsigned ? term_below(l->t, test.a, test.b)
                                     : term_less(l->t, test.a, test.b),
             more = test.is_unsigned ? term_below(l->t, test.b, test.a)
                                     : term_less(l->t, test.b, test.a);
        if (less == TERM_TRUE || less == TERM_FALSE || !is_of_head(l, less) ||
            stays_the_same(l, less))
            continue;
        const term forms[] = {less, more, term_not(l->t, less), term_not(l->t, more),
                              term_not(l->t, term_eq(l->t, test.a, test.b))};
        for (size_t n = 0; n < sizeof forms / sizeof forms[0]; n++) {
            list(l, l->cut->in[test.k], forms[n], "a comparison of the body");
            list(l, l->head[test.k], forms[n], "a comparison of the body, at the head");
        }
    }
}

static void list_claims(struct listing *l)
{
    for (uint32_t i = l->cut->claim_first; i < l->cut->claim_end; i++) {
        const struct claim_seen claim = GROWN(l->duo->claims, struct claim_seen)[i];
        if (!is_of_head(l, claim.holds))
            continue;
        list(l, l->cut->in[claim.k], claim.holds, "an invariant of the kernel");
        list(l, l->head[claim.k], claim.holds, "an invariant of the kernel, at the head");
        if (is_of_head(l, claim.there))
            list(l, claim.there, claim.holds, "an invariant of the kernel, where it stands");
    }
}

/* ---- what thread 1 has accessed ---- */

struct log {
    term now, before, watched;
};

/* Of what it has accessed in the loop, and at all. */
static void list_logged(struct listing *l, const struct log *log, term holds, const char *what)
{
    term in_loop = term_and(l->t, log->now, term_not(l->t, log->before));
    list(l, term_and(l->t, l->cut->in[0], in_loop), holds, what);
    list(l, term_and(l->t, l->cut->in[0], log->now), holds, what);
}

static void list_step(struct listing *l, const struct log *log, term index, term step)
{
    list_logged(l, log, at_most(l, term_binary(l->t, BINARY_ADD, log->watched, step), index),
                "steps before the next element");
}

static void list_index(struct listing *l, const struct log *log, term index)
{
    term *to = ARENA_ARRAY(l->arena, term, l->cut->symbol_count + 1), first, at = log->watched;
    int32_t threads;
    for (uint32_t i = 0; i < l->cut->symbol_count; i++)
        to[i] = l->cut->entry[l->cut->symbol_slots[i]];
    term_replace_all(l->t, l->cut->symbols, to, l->cut->symbol_count, &index, &first, 1);
    list_logged(l, log, term_eq(l->t, at, index), "the next element");
    list_logged(l, log, term_eq(l->t, at, first), "the first element");
    list_logged(l, log, term_less(l->t, at, index), "before the next element");
    list_logged(l, log, term_less(l->t, index, at), "behind the next element");
    list_logged(l, log, at_most(l, at, index), "not behind the next element");
    list_logged(l, log, at_most(l, index, at), "not before the next element");
    list_logged(l, log, at_most(l, first, at), "not before the first element");
    list_logged(l, log, at_most(l, at, first), "not behind the first element");
    for (uint32_t i = 0; i < l->stride_count; i++)
        list_step(l, log, index, term_word(l->t, (int32_t)l->strides[i]));
    if (!term_is_constant(l->t, l->duo->thread_count, &threads))
        list_step(l, log, index, l->duo->thread_count);
    for (uint32_t i = 0; i < l->stride_count; i++) {
        term stride = term_word(l->t, (int32_t)l->strides[i]);
        if (!is_guessed(l, l->strides[i]))
            continue;
        list_logged(l, log, is_multiple(l, term_binary(l->t, BINARY_SUB, at, first), l->strides[i]),
                    "a multiple from the first element");
        list_logged(l, log,
                    term_eq(l->t, term_urem(l->t, at, stride), term_urem(l->t, first, stride)),
                    "the first element's rest");
    }
}

/* Each part of a conjunction, six deep, that the loop leaves alone. */
static void list_condition(struct listing *l, const struct log *log, term condition, uint32_t deep)
{
    const struct term_node node = *term_of(l->t, condition);
    if (node.op == TERM_AND && deep > 0) {
        list_condition(l, log, node.a, deep - 1);
        list_condition(l, log, node.b, deep - 1);
    } else if (stays_the_same(l, condition)) {
        list_logged(l, log, condition, "the condition around an access");
    }
}

static void list_own(struct listing *l, const struct log *log, const struct ast_var *var)
{
    const struct duo *duo = l->duo;
    const int64_t slice = (int64_t)var->length * duo->units / duo->threads;
    term at = log->watched, tid = duo->tid[0];
    list_logged(l, log, term_eq(l->t, at, tid), "element tid");
    list_logged(l, log, term_eq(l->t, term_urem(l->t, at, duo->thread_count), tid),
                "element tid of some row");
    for (uint32_t i = 0; i <= l->stride_count; i++) {
        int64_t size = i < l->stride_count ? l->strides[i] : slice;
        bool small = i == l->stride_count || size < (int64_t)duo->threads * 4;
        if (size > 1 && small && is_guessed(l, size))
            list_logged(l, log,
                        term_eq(l->t, term_udiv(l->t, at, term_word(l->t, (int32_t)size)), tid),
                        "the thread's slice");
    }
}

static void list_log(struct listing *l, const struct ast_var *var, uint32_t kind)
{
    const uint32_t slot = slot_log(l->duo, var, kind);
    const struct log log = {l->cut->head[slot], l->cut->entry[slot], l->duo->watched[var->mark]};
    if (log.now == log.before)
        return;
    list_logged(l, &log, TERM_FALSE, "nothing accessed");
    for (uint32_t i = l->cut->access_first; i < l->cut->access_end; i++) {
        const struct access_seen access = GROWN(l->duo->accesses, struct access_seen)[i];
        if (access.var != var || access.kind != kind)
            continue;
        if (is_of_head(l, access.index))
            list_index(l, &log, access.index);
        list_condition(l, &log, access.enabled, 6);
    }
    list_own(l, &log, var);
}

/* ---- a kernel ---- */

static void list_all(struct listing *l)
{
    list_claims(l);
    list_places(l);
    list_variables(l);
    list_tests(l);
    for (uint32_t i = 0; i < l->duo->var_count; i++)
        for (uint32_t kind = 0; kind < LOG_KINDS; kind++)
            if (is_memory(l->duo->vars[i]) && l->duo->written[i])
                list_log(l, l->duo->vars[i], kind);
}

static struct verdicts_fault judge_cut(struct arena *arena, struct duo *duo, struct loop_cut *cut)
{
    struct listing *l = ARENA_NEW(arena, struct listing);
    struct terms *t = &duo->terms;
    uint32_t head = duo->cfg->loops[cut->loop].head;
    *l = (struct listing){.arena = arena, .duo = duo, .t = t, .cut = cut};
    find_strides(l); /* before guesses have terms of their own */
    candidates_find(duo, cut);
    for (uint32_t k = 0; k < 2; k++)
        l->head[k] = cut->head[slot_at(duo, head, k)];
    l->both = term_and(t, l->head[0], l->head[1]);
    l->alive = term_not(t, term_or(t, cut->head[slot_dead(duo, 0)], cut->head[slot_dead(duo, 1)]));
    list_all(l);
    if (l->count == LISTED || t->full)
        return (struct verdicts_fault){NULL, NULL};
    if (l->lost)
        return (struct verdicts_fault){
            "guesses that are made",
            arena_printf(arena, "of the loop at line %" PRIu32 " it is not guessed: %s",
                         cut->at.line, l->lost)};
    if (l->count != cut->candidate_count)
        return (struct verdicts_fault){"guesses that are made",
                                       arena_printf(arena,
                                                    "of the loop at line %" PRIu32 " %" PRIu32
                                                    " guesses are made, %" PRIu32 " are listed",
                                                    cut->at.line, cut->candidate_count, l->count)};
    return (struct verdicts_fault){NULL, NULL};
}

struct verdicts_fault guesses_judge(struct arena *arena, const struct ast_kernel *kernel,
                                    uint64_t seed)
{
    struct verdicts_fault fault = {NULL, NULL};
    struct proof_options options = PROOF_DEFAULTS;
    const char *reason;
    options.counted = seed & 1;
    struct duo *duo = duo_new(arena, forms_new(arena, kernel), &options, 0, &reason);
    if (!duo)
        return fault;
    duo->plain = seed & 2;
    duo_run(duo);
    for (uint32_t i = 0; i < duo->cuts.count && !duo->reason && !fault.stage; i++)
        fault = judge_cut(arena, duo, GROWN(duo->cuts, struct loop_cut *)[i]);
    return fault;
}
