#include "oracle/prove/kept.h"

#include "engine/base/pcg.h"
#include "engine/duo/duo.h"
#include "engine/smt/solver.h"

#include <inttypes.h>

enum {
    AGAIN = 24, /* guesses that were dropped are tried once more */
    ROUNDS = 32
};

struct guess {
    const struct loop_cut *cut;
    const struct candidate *candidate;
    bool in;    /* of the set at hand */
    term fails; /* before the loop, or after a trip */
};

struct settling {
    struct arena *arena;
    struct duo *duo;
    struct solver *solver;
    struct guess *guesses; /* that are kept, then those that are tried again */
    uint32_t count;
};

static const struct loop_cut *cut_number(const struct duo *duo, uint32_t i)
{
    return GROWN(duo->cuts, struct loop_cut *)[i];
}

/* ---- the set ---- */

static void add(struct settling *s, const struct loop_cut *cut, const struct candidate *candidate)
{
    s->guesses[s->count++] = (struct guess){.cut = cut, .candidate = candidate, .in = true};
}

static uint32_t total_of(const struct duo *duo)
{
    uint32_t total = 0;
    for (uint32_t i = 0; i < duo->cuts.count; i++)
        total += cut_number(duo, i)->candidate_count;
    return total;
}

static void add_kept(struct settling *s)
{
    for (uint32_t i = 0; i < s->duo->cuts.count; i++) {
        const struct loop_cut *cut = cut_number(s->duo, i);
        for (uint32_t n = 0; n < cut->candidate_count; n++)
            if (cut->candidates[n].kept)
                add(s, cut, &cut->candidates[n]);
    }
}

/* Each that was dropped has the same chance: of `dropped` ones that are left `wanted` are taken. */
static void add_dropped(struct settling *s, uint32_t dropped, uint64_t seed)
{
    struct pcg rng;
    uint32_t wanted = AGAIN;
    pcg_seed(&rng, seed, 1);
    for (uint32_t i = 0; i < s->duo->cuts.count; i++) {
        const struct loop_cut *cut = cut_number(s->duo, i);
        for (uint32_t n = 0; n < cut->candidate_count && wanted > 0; n++) {
            if (cut->candidates[n].kept)
                continue;
            bool taken = pcg_below(&rng, dropped--) < wanted;
            wanted -= taken;
            if (taken)
                add(s, cut, &cut->candidates[n]);
        }
    }
}

/* ---- when one of it fails ---- */

/* The guess, said of a state. */
static term said_of(struct settling *s, const struct guess *g, const term *state)
{
    const struct loop_cut *cut = g->cut;
    term *to = ARENA_ARRAY(s->arena, term, cut->symbol_count + 1), said;
    for (uint32_t i = 0; i < cut->symbol_count; i++)
        to[i] = state[cut->symbol_slots[i]];
    term_replace_all(&s->duo->terms, cut->symbols, to, cut->symbol_count, &g->candidate->holds,
                     &said, 1);
    return said;
}

static term fails_in(struct settling *s, const struct guess *g, const term *state)
{
    struct terms *t = &s->duo->terms;
    return term_and(t, state[slot_path(s->duo)], term_not(t, said_of(s, g, state)));
}

static void find_failures(struct settling *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        struct guess *g = &s->guesses[i];
        g->fails =
            term_or(&s->duo->terms, fails_in(s, g, g->cut->entry), fails_in(s, g, g->cut->latch));
    }
}

/* ---- asked ---- */

static void define(struct settling *s, struct term_definition *definitions)
{
    struct terms *t = &s->duo->terms;
    for (uint32_t i = 0; i < s->duo->cuts.count; i++) {
        const struct loop_cut *cut = cut_number(s->duo, i);
        term all = TERM_TRUE;
        for (uint32_t n = 0; n < s->count; n++)
            if (s->guesses[n].in && s->guesses[n].cut == cut)
                all = term_and(t, all, s->guesses[n].candidate->holds);
        definitions[i] = (struct term_definition){cut->invariant, all};
    }
}

/* Whether some of the set fail where all of it is assumed: values[n] says so of guess n. */
static enum solver_answer ask(struct settling *s, uint32_t *values)
{
    struct duo *duo = s->duo;
    struct terms *t = &duo->terms;
    uint32_t roots = duo->assumptions.count + 1;
    term *root = ARENA_ARRAY(s->arena, term, roots), some = TERM_FALSE;
    term *wanted = ARENA_ARRAY(s->arena, term, s->count + 1);
    const char **names = ARENA_ARRAY(s->arena, const char *, s->count + 1);
    struct term_definition *definitions =
        ARENA_ARRAY(s->arena, struct term_definition, duo->cuts.count + 1);
    for (uint32_t i = 0; i < s->count; i++) {
        struct text name = text_begin(s->arena);
        wanted[i] = s->guesses[i].in ? s->guesses[i].fails : (term)TERM_FALSE;
        some = term_or(t, some, wanted[i]);
        term_print_name(&name, t, wanted[i]);
        names[i] = name.bytes;
    }
    define(s, definitions);
    for (uint32_t i = 0; i + 1 < roots; i++)
        root[i] = GROWN(duo->assumptions, term)[i];
    root[roots - 1] = some;
    if (some == TERM_FALSE)
        return SOLVER_UNSAT;
    if (t->full)
        return SOLVER_UNKNOWN;
    struct text text = text_begin(s->arena);
    term_print(&text, t, root, roots, wanted, s->count, definitions, duo->cuts.count);
    return solver_ask(s->solver, text.bytes, names, values, s->count);
}

/* ---- judged ---- */

static struct retrace_fault fault_of(struct settling *s, const struct guess *g, const char *what)
{
    return (struct retrace_fault){"invariant",
                                  arena_printf(s->arena, "of the loop at line %" PRIu32 " '%s' %s",
                                               g->cut->at.line, g->candidate->text, what)};
}

/* Those that fail are dropped, until none does; the first of those that have to stay is enough. */
static bool settle(struct settling *s, uint32_t kept)
{
    uint32_t *values = ARENA_ARRAY(s->arena, uint32_t, s->count + 1);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        bool dropped = false;
        enum solver_answer answer = ask(s, values);
        for (uint32_t i = 0; answer == SOLVER_SAT && i < s->count; i++) {
            struct guess *g = &s->guesses[i];
            bool fails = g->in && values[i] == 1;
            g->in = g->in && !fails;
            dropped = dropped || fails;
            if (fails && i < kept)
                return true;
        }
        if (answer != SOLVER_SAT || !dropped)
            return answer == SOLVER_UNSAT;
    }
    return false;
}

/* What is kept has to stay, and what was dropped goes again: a larger set of this kind would hold both. */
struct retrace_fault kept_judge(struct arena *arena, struct duo *cut, struct solver *solver,
                                bool whole, uint64_t seed)
{
    struct settling s = {.arena = arena, .duo = cut, .solver = solver};
    uint32_t total = total_of(cut);
    s.guesses = ARENA_ARRAY(arena, struct guess, total + 1);
    add_kept(&s);
    uint32_t kept = s.count;
    if (whole)
        add_dropped(&s, total - kept, seed);
    find_failures(&s);
    if (!settle(&s, kept))
        return (struct retrace_fault){NULL, NULL};
    for (uint32_t i = 0; i < s.count; i++) {
        if (i < kept && !s.guesses[i].in)
            return fault_of(&s, &s.guesses[i],
                            "was kept, and does not hold where all that is kept does");
        if (i >= kept && s.guesses[i].in)
            return fault_of(&s, &s.guesses[i],
                            "was dropped, and holds where all that is kept does");
    }
    return (struct retrace_fault){NULL, NULL};
}
