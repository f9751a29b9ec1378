/*
 * houdini.c - which candidates hold in every trip (Flanagan, Leino: Houdini): all that no drawn run has
 * shown to be false (rehearse.c) are assumed at the heads; those that a solver finds violated, before the loop or after
 * a trip, are dropped, until none is.
 *
 * One nest of loops after the other, in the order of the program: a nest's trips depend on what is known of
 * the nests before it, and on nothing behind it. An assumption is part of the path that goes through
 * its loop (a symbol, defined by what is kept), never of everything: candidates that contradict each other
 * cannot make other paths vanish. What is kept does not depend on the order of the candidates, unless a
 * budget is spent.
 */
#include "engine/prove/inference.h"

#include <inttypes.h>
#include <string.h>

#include "engine/base/pcg.h"

/* ---- asking ---- */

static struct loop_cut *cut_number(const struct duo *duo, uint32_t i)
{
    return GROWN(duo->cuts, struct loop_cut *)[i];
}

uint32_t houdini_definitions(struct duo *duo, struct term_definition *definitions)
{
    struct terms *t = &duo->terms;
    for (uint32_t i = 0; i < duo->cuts.count; i++) {
        const struct loop_cut *cut = cut_number(duo, i);
        term all = TERM_TRUE;
        for (uint32_t n = 0; n < cut->candidate_count; n++)
            if (cut->candidates[n].kept)
                all = term_and(t, all, cut->candidates[n].holds);
        definitions[i] = (struct term_definition){.symbol = cut->invariant, .meaning = all};
    }
    return duo->cuts.count;
}

static const char *name_of(struct duo *duo, term wanted)
{
    struct text text = text_begin(duo->arena);
    term_print_name(&text, &duo->terms, wanted);
    return text.bytes;
}

enum solver_answer duo_ask(struct duo *duo, struct solver *solver, term question,
                           const term *wanted, uint32_t *values, uint32_t count)
{
    uint32_t roots = duo->assumptions.count + 1;
    struct term_definition *definitions =
        ARENA_ARRAY(duo->arena, struct term_definition, duo->cuts.count + 1);
    term *root = ARENA_ARRAY(duo->arena, term, roots);
    const char **names = ARENA_ARRAY(duo->arena, const char *, count + 1);
    uint32_t defined = houdini_definitions(duo, definitions);
    if (duo->options->answers)
        return duo->options->answers->say(duo->options->answers, duo, question, wanted, values,
                                          count);
    if (question == TERM_FALSE)
        return SOLVER_UNSAT;
    if (duo->assumptions.count)
        memcpy(root, duo->assumptions.items, duo->assumptions.count * sizeof *root);
    root[roots - 1] = question;
    for (uint32_t i = 0; i < count; i++)
        names[i] = name_of(duo, wanted[i]);
    size_t mark = arena_mark(duo->arena);
    struct text text = text_begin(duo->arena);
    if (!solver_is_spent(solver))
        term_print(&text, &duo->terms, root, roots, wanted, count, definitions, defined);
    enum solver_answer answer = solver_ask(solver, text.bytes, names, values, count);
    arena_release(duo->arena, mark);
    return answer;
}

/* ---- one nest ---- */

struct nest {
    struct duo *duo;
    struct solver *solver;
    uint32_t number;
    struct candidate **kept; /* of all its loops, that are kept and can be violated */
    uint32_t kept_count;
    uint32_t *rounds;
};

static void collect(struct nest *nest)
{
    nest->kept_count = 0;
    for (uint32_t i = 0; i < nest->duo->cuts.count; i++) {
        struct loop_cut *cut = cut_number(nest->duo, i);
        for (uint32_t n = 0; cut->nest == nest->number && n < cut->candidate_count; n++) {
            struct candidate *c = &cut->candidates[n];
            if (c->kept && c->violated != TERM_FALSE)
                nest->kept[nest->kept_count++] = c;
        }
    }
}

/* Whether some of them are violated; those that the model says are dropped, and those of which it does not say. */
static enum solver_answer ask_some(struct nest *nest, struct candidate *const *some, uint32_t count)
{
    struct duo *duo = nest->duo;
    term question = TERM_FALSE;
    term *wanted = ARENA_ARRAY(duo->arena, term, count + 1);
    uint32_t *values = ARENA_ARRAY(duo->arena, uint32_t, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        wanted[i] = some[i]->violated;
        question = term_or(&duo->terms, question, wanted[i]);
    }
    ++*nest->rounds;
    enum solver_answer answer = duo_ask(duo, nest->solver, question, wanted, values, count);
    for (uint32_t i = 0; answer == SOLVER_SAT && i < count; i++)
        some[i]->kept = !values[i];
    return answer;
}

static bool dropped_any(struct candidate *const *some, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!some[i]->kept)
            return true;
    return false;
}

/* Where a budget is spent on all together, halves are tried: what is not known of one alone is dropped. */
static bool settle(struct nest *nest, struct candidate *const *some, uint32_t count,
                   const char **reason)
{
    if (count == 0)
        return true;
    enum solver_answer answer = ask_some(nest, some, count);
    if (answer == SOLVER_UNSAT)
        return true;
    if (answer == SOLVER_FAILED) {
        *reason = solver_reason(nest->solver);
        return false;
    }
    if (answer == SOLVER_SAT && !dropped_any(some, count)) {
        *reason = "the solver's values do not violate what it says is violated";
        return false;
    }
    if (answer == SOLVER_SAT)
        return true;
    if (count == 1) {
        some[0]->kept = false;
        return true;
    }
    return settle(nest, some, count / 2, reason) &&
           settle(nest, some + count / 2, count - count / 2, reason);
}

/* A round after which nothing is dropped has shown everything that is kept, under what is kept. */
static bool run_nest(struct nest *nest, const char **reason)
{
    for (;;) {
        collect(nest);
        uint32_t before = nest->kept_count;
        if (!settle(nest, nest->kept, nest->kept_count, reason))
            return false;
        if (nest->duo->terms.full) {
            *reason = "the formula is too large";
            return false;
        }
        collect(nest);
        if (nest->kept_count == before)
            return true;
    }
}

/* ---- no proof of nothing ---- */

/* The kept candidates hold in the state before the loop; so if that can be, the head can be. */
static bool is_reached(struct duo *duo, struct solver *solver, const struct loop_cut *cut,
                       const char **reason)
{
    struct terms *t = &duo->terms;
    uint32_t head = duo->cfg->loops[cut->loop].head;
    term at =
        term_and(t, cut->head[slot_path(duo)],
                 term_or(t, cut->head[slot_at(duo, head, 0)], cut->head[slot_at(duo, head, 1)]));
    if (duo_ask(duo, solver, at, NULL, NULL, 0) != SOLVER_UNSAT)
        return true;
    term before = term_and(t, cut->entry[slot_path(duo)], term_or(t, cut->in[0], cut->in[1]));
    enum solver_answer comes = duo_ask(duo, solver, before, NULL, NULL, 0);
    if (comes == SOLVER_UNSAT)
        return true;
    *reason =
        arena_printf(duo->arena,
                     comes == SOLVER_SAT ? "what is assumed of the loop at line %" PRIu32
                                           " contradicts itself: no proof would mean anything"
                                         : "whether somebody comes to the loop at line %" PRIu32
                                           " took the solver too long: no proof may mean anything",
                     cut->at.line);
    return false;
}

static void shuffle(struct loop_cut *cut, uint64_t seed)
{
    struct pcg rng = pcg_derive(seed, PCG_INPUT, cut->loop);
    for (uint32_t i = cut->candidate_count; i > 1; i--) {
        uint32_t other = pcg_below(&rng, i);
        struct candidate candidate = cut->candidates[i - 1];
        cut->candidates[i - 1] = cut->candidates[other];
        cut->candidates[other] = candidate;
    }
}

bool houdini(struct duo *duo, struct solver *solver, uint32_t *rounds, const char **reason)
{
    uint32_t total = 0;
    for (uint32_t i = 0; i < duo->cuts.count; i++) {
        struct loop_cut *cut = cut_number(duo, i);
        candidates_find(duo, cut);
        if (duo->options->order)
            shuffle(cut, duo->options->order);
        total += cut->candidate_count;
    }
    if (duo->options->rehearsed)
        rehearse(duo);
    for (uint32_t i = 0; i < duo->cuts.count; i++)
        candidates_place(duo, cut_number(duo, i));
    struct nest nest = {.duo = duo, .solver = solver, .rounds = rounds};
    nest.kept = ARENA_ARRAY(duo->arena, struct candidate *, total + 1);
    for (nest.number = 1; nest.number <= duo->nest; nest.number++)
        if (!run_nest(&nest, reason))
            return false;
    for (uint32_t i = 0; i < duo->cuts.count; i++)
        if (!is_reached(duo, solver, cut_number(duo, i), reason))
            return false;
    return true;
}
