/* What must hold of litmus tests that are drawn. */
#include "fuzz/laws/laws.h"

#include "engine/axiom/axiom.h"
#include "engine/base/invariant.h"
#include "engine/litmus/litmus_kernel.h"
#include "engine/litmus/litmus_path.h"
#include "engine/reference_axiom/ref_axiom.h"
#include "fuzz/laws/litmus_explain.h"
#include "fuzz/laws/litmus_machine.h"
#include "fuzz/laws/litmus_words.h"
#include "fuzz/laws/own_draw.h"
#include "fuzz/laws/ptx_draw.h"

#include <string.h>

enum {
    STATES_MAX = 1 << 18,
    CANDIDATES_MAX = 1 << 24,
    MACHINE_STATES_MAX = 1 << 13,
    EXPLAINED_MAX = 512, /* candidates: what none of them ends with is kept, too */
    PATHS_MAX = 4
};

const struct law_info law_table[LITMUS_LAWS] = {
#define LAW(id, name, sentence, ...) [LAW_##id] = {name, sentence},
#include "fuzz/laws/litmus_laws.def"
#undef LAW
};

/* ---- laws ---- */

static bool has(const struct litmus_result *result, const int16_t *values)
{
    for (uint32_t i = 0; i < result->count; i++)
        if (memcmp(result->values[i], values, sizeof result->values[i]) == 0)
            return true;
    return false;
}

static bool within(const struct litmus_result *a, const struct litmus_result *b)
{
    for (uint32_t i = 0; i < a->count; i++)
        if (!has(b, a->values[i]))
            return false;
    return true;
}

static bool equal(const struct litmus_result *a, const struct litmus_result *b)
{
    return within(a, b) && within(b, a);
}

/* Whoever gives up has come to its bound; with no memory for it there is no state at all. */
static enum law_holding gave_up(const struct litmus_result *result, uint32_t limit)
{
    return result->dead == 0 && result->states > 0 && result->states < limit ? LAW_BROKEN : LAW_CUT;
}

static uint32_t limit_of(enum litmus_model m)
{
    return m <= LITMUS_COHERENT ? STATES_MAX : CANDIDATES_MAX;
}

/* What a model may have nothing to say about, as instructions say it. */
struct features {
    bool lanes, barriers, branches, gpus, orders, others;
    uint32_t instructions, longest;
};

static struct features features_of(const struct litmus_test *test)
{
    struct features f = {.lanes = false};
    for (uint32_t t = 0; t < test->count; t++) {
        uint32_t length = test->threads[t].length;
        f.instructions += length;
        f.longest = length > f.longest ? length : f.longest;
        f.gpus |= test->threads[t].gpu != test->threads[0].gpu;
        for (uint32_t i = 0; i < length; i++) {
            const struct litmus_instruction *in = &test->threads[t].code[i];
            f.lanes |= in->lanes > 1;
            f.barriers |= litmus_is_barrier(in);
            f.branches |= in->op >= LITMUS_BZ;
            if (in->op > LITMUS_CAS)
                continue;
            f.orders |= in->order > ORDER_RELAXED;
            f.others |= in->word[0] >= LITMUS_GLOBALS;
            f.others |= in->cache != CACHE_CG && !(in->op != LITMUS_LD && in->cache == CACHE_WB);
        }
    }
    return f;
}

/* Whoever is silent names a reason, and the test is as it says. */
static enum law_holding is_silent(const struct litmus_test *test, enum litmus_model m,
                                  const char *why)
{
    enum {
        FEW = 2,
        EVENTS = 32,
        EACH = 3 /* what an instruction may become, a membar on either side */
    };
    const struct features f = features_of(test);
    const bool first = m == LITMUS_ASPLOS15;
    const struct {
        const char *why;
        bool holds;
    } reasons[] = {
        {"instructions of two lanes", f.lanes},
        {"barriers", first && f.barriers},
        {"accesses other than ld.cg, st and atom of global words", first && f.others},
        {"acquire and release", first && f.orders},
        {"the threads have more than 32 events together",
         f.branches || EACH * f.instructions > EVENTS},
        {"a thread has too many ways through", f.instructions > FEW},
        {"a thread has too many events", f.branches || f.instructions > FEW},
        {"a word has more than 16 values", f.branches || f.instructions > FEW},
        {"words have more than 64 values together", f.branches || f.instructions > FEW},
        {"several GPUs", f.gpus},
        {"a thread with its membars has too many instructions", EACH * f.longest > LITMUS_CODE},
    };
    for (uint32_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (strcmp(reasons[i].why, why) == 0)
            return reasons[i].holds ? LAW_SILENT : LAW_BROKEN;
    return LAW_BROKEN;
}

static bool run(struct arena *arena, const struct litmus_test *test, enum litmus_model m,
                struct litmus_result *result)
{
    if (m <= LITMUS_COHERENT)
        return litmus_run(arena, test, m, limit_of(m), result) && result->dead == 0;
    return axiom_run(arena, test, axiom_model_of(m), limit_of(m), result, NULL);
}

static enum law_holding includes(struct arena *arena, const struct litmus_test *test,
                                 const struct litmus_result *sc)
{
    struct litmus_result of[LITMUS_MODELS];
    bool holds = true;
    for (uint32_t m = LITMUS_PRINTED; m < LITMUS_MODELS; m++) {
        if (!run(arena, test, (enum litmus_model)m, &of[m]))
            return gave_up(&of[m], limit_of((enum litmus_model)m));
        holds &= of[m].silent ? is_silent(test, (enum litmus_model)m, of[m].silent) == LAW_SILENT
                              : within(sc, &of[m]);
    }
    return holds && within(&of[LITMUS_LLH], &of[LITMUS_PRINTED]) ? LAW_HOLDS : LAW_BROKEN;
}

static enum law_holding is_equal(struct arena *arena, const struct litmus_test *test,
                                 enum litmus_model m, const struct litmus_result *expected,
                                 bool exactly)
{
    struct litmus_result result;
    if (!run(arena, test, m, &result))
        return gave_up(&result, limit_of(m));
    if (result.silent)
        return is_silent(test, m, result.silent);
    return within(expected, &result) && (!exactly || within(&result, expected)) ? LAW_HOLDS
                                                                                : LAW_BROKEN;
}

/* Of these models. */
static enum law_holding are_equal(struct arena *arena, const struct litmus_test *test,
                                  enum litmus_model from, const struct litmus_result *expected)
{
    enum law_holding holding = LAW_HOLDS;
    for (uint32_t m = from; m <= LITMUS_COHERENT && holding == LAW_HOLDS; m++)
        holding = is_equal(arena, test, (enum litmus_model)m, expected, true);
    return holding;
}

/* Whoever waits for ever has no execution in the axioms, and no end in the steps. What is told against an outcome that
 * is none is as told. */
static enum law_holding second_account(struct arena *arena, const struct litmus_test *test,
                                       const struct litmus_result *sc)
{
    struct litmus_result result;
    if (!axiom_run(arena, test, AXIOM_SC, CANDIDATES_MAX, &result, NULL))
        return gave_up(&result, CANDIDATES_MAX);
    bool holds = within(&result, sc) && (result.cut || within(sc, &result)) &&
                 (result.silent || result.states > EXPLAINED_MAX ||
                  litmus_explains(arena, test, AXIOM_SC, REF_SC, CANDIDATES_MAX, &result));
    return result.silent ? is_silent(test, LITMUS_PTX75, result.silent)
           : holds       ? LAW_HOLDS
                         : LAW_BROKEN;
}

/* The same results as by the definition of sequential consistency, and as many. */
static bool as_defined(const struct litmus_result *sc, const struct ref_outcomes *second)
{
    for (uint32_t i = 0; i < second->count; i++)
        if (!has(sc, second->values[i]))
            return false;
    return sc->count == second->count && (sc->dead > 0) == second->stuck;
}

/* All results of sequential consistency, twice. */
static enum law_holding in_sequence(struct arena *arena, const struct litmus_test *test,
                                    struct litmus_result *sc)
{
    struct ref_outcomes *second = ARENA_NEW(arena, struct ref_outcomes);
    if (!ref_steps_outcomes(arena, test, second)) {
        *sc = (struct litmus_result){.count = 0};
        return LAW_CUT;
    }
    if (!litmus_run(arena, test, LITMUS_SC, STATES_MAX, sc))
        return gave_up(sc, STATES_MAX);
    return as_defined(sc, second) ? LAW_HOLDS : LAW_BROKEN;
}

/* The outcomes of one model, by the two accounts. */
static enum law_holding same_axioms(struct arena *arena, const struct litmus_test *test,
                                    enum litmus_model m, enum ref_axioms axioms)
{
    struct ref_outcomes *second = ARENA_NEW(arena, struct ref_outcomes);
    struct litmus_result result;
    if (!run(arena, test, m, &result))
        return gave_up(&result, limit_of(m));
    if (!ref_axiom_outcomes(arena, test, axioms, second))
        return LAW_CUT;
    if (result.silent)
        return is_silent(test, m, result.silent);
    for (uint32_t i = 0; i < second->count; i++)
        if (!has(&result, second->values[i]))
            return LAW_BROKEN;
    return result.count == second->count &&
                   litmus_explains(arena, test, axiom_model_of(m), axioms, CANDIDATES_MAX, &result)
               ? LAW_HOLDS
               : LAW_BROKEN;
}

static enum law_holding second_axioms(struct arena *arena, const struct litmus_test *test)
{
    static const enum ref_axioms axioms[] = {[LITMUS_ASPLOS15 - LITMUS_ASPLOS15] = REF_ASPLOS15,
                                             [LITMUS_PTX60 - LITMUS_ASPLOS15] = REF_PTX60,
                                             [LITMUS_PTX75 - LITMUS_ASPLOS15] = REF_PTX75};
    enum law_holding holding = LAW_SILENT;
    for (uint32_t m = LITMUS_ASPLOS15; m < LITMUS_MODELS; m++) {
        holding = same_axioms(arena, test, (enum litmus_model)m, axioms[m - LITMUS_ASPLOS15]);
        if (holding == LAW_BROKEN || holding == LAW_CUT)
            break;
    }
    return holding;
}

/* A thread comes to a barrier once more before it knows that somebody else was there: a warp would be counted twice in
 * one turn, where PTX says nothing. Or more or fewer threads come than are counted, of whom some wait for ever or may
 * have exited, which counts at barriers of `crs`. */
static bool counts_are_unclear(const struct litmus_test *test)
{
    for (uint32_t t = 0; t < test->count; t++)
        for (uint32_t i = 0; i < test->threads[t].length; i++) {
            const struct litmus_instruction *code = test->threads[t].code;
            if (litmus_is_barrier(&code[i]) && code[i].arrivals &&
                code[i].arrivals != __builtin_popcount(code[i].threads))
                return true;
            for (uint32_t k = i + 1; k < test->threads[t].length && code[i].op == LITMUS_ARRIVE;
                 k++)
                if (litmus_is_barrier(&code[k]) && code[k].barrier == code[i].barrier)
                    return true;
        }
    return false;
}

/* Behind each access a membar, and no load from a line of an L1. False: it is too long. */
static bool fence_thread(const struct litmus_thread *from, struct litmus_thread *to)
{
    static const struct litmus_instruction membar = {
        .op = LITMUS_MEMBAR, .order = ORDER_SC, .scope = SCOPE_GL, .lanes = 1};
    uint8_t place[LITMUS_CODE + 1];
    to->length = 0;
    for (uint32_t i = 0; i < from->length; i++) {
        place[i] = to->length;
        if (to->length + 2 > LITMUS_CODE)
            return false;
        struct litmus_instruction *in = &to->code[to->length++];
        *in = from->code[i];
        if (in->op == LITMUS_LD && in->cache != CACHE_VOL)
            in->cache = CACHE_CG;
        if (in->op <= LITMUS_CAS)
            to->code[to->length++] = membar;
    }
    place[from->length] = to->length;
    for (uint32_t i = 0; i < to->length; i++)
        if (to->code[i].op >= LITMUS_BZ)
            to->code[i].target = place[to->code[i].target];
    return true;
}

/* What warps would not do: the caches are sequentially consistent with fences (law `fence`), whoever waits for whom. */
static enum law_holding fenced_caches(struct arena *arena, const struct litmus_test *test)
{
    struct litmus_test *fenced = ARENA_NEW(arena, struct litmus_test);
    struct litmus_result sc, of;
    enum law_holding holding = in_sequence(arena, test, &sc);
    *fenced = *test;
    for (uint32_t t = 0; t < test->count; t++)
        if (!fence_thread(&test->threads[t], &fenced->threads[t]))
            return LAW_SILENT;
    for (uint32_t m = LITMUS_PRINTED; m <= LITMUS_COHERENT && holding == LAW_HOLDS; m++) {
        if (!litmus_run(arena, fenced, (enum litmus_model)m, STATES_MAX, &of))
            return gave_up(&of, STATES_MAX);
        if (!of.silent && (!equal(&of, &sc) || (of.dead == 0) != (sc.dead == 0)))
            holding = LAW_BROKEN;
    }
    return holding;
}

/* A register is blocked as often as a lane under way is to write it, or reads it and is no load (cuda-crs 4: it is
 * released when the operation ends). */
static uint32_t uses_under_way(const struct litmus_thread *t, const struct litmus_actor *actor,
                               uint32_t reg)
{
    uint32_t uses = 0;
    for (uint32_t i = 0; i < LITMUS_SLOTS; i++)
        for (uint32_t lane = 0; lane < LITMUS_LANES && actor->slots[i].used; lane++) {
            const struct litmus_instruction *in = &t->code[actor->slots[i].pc];
            if (!(actor->slots[i].lanes >> lane & 1))
                continue;
            uses += in->op != LITMUS_ST && !in->no_result && in->reg[lane] == reg;
            uses += in->op != LITMUS_LD && in->a[lane].is_register && in->a[lane].value == (int)reg;
            uses += in->op == LITMUS_CAS && in->b.is_register && in->b.value == (int)reg;
        }
    return uses;
}

static bool are_blocked_so(const struct litmus_paths *paths, const struct litmus_state *state)
{
    for (uint32_t t = 0; t < paths->test->count; t++)
        for (uint32_t reg = 0; reg < LITMUS_REGISTERS; reg++)
            if (state->actors[t].blocked[reg] !=
                uses_under_way(&paths->test->threads[t], &state->actors[t], reg))
                return false;
    return true;
}

/* A path ends in its outcome: what is observed of registers is in them. */
static bool ends_so(const struct litmus_test *test, const struct litmus_path *path)
{
    const struct litmus_state *last = &path->moments[path->count - 1].state;
    for (uint32_t i = 0; i < test->observed; i++) {
        const struct litmus_observed *o = &test->observe[i];
        if (o->is_register && last->actors[o->thread].regs[o->number] != path->values[i])
            return false;
    }
    return true;
}

static bool paths_are_so(const struct litmus_paths *paths)
{
    for (uint32_t i = 0; i < paths->count; i++) {
        if (!ends_so(paths->test, &paths->of[i]))
            return false;
        for (uint32_t k = 0; k < paths->of[i].count; k++)
            if (!are_blocked_so(paths, &paths->of[i].moments[k].state))
                return false;
    }
    return true;
}

/* PTX adds a negated number where a test subtracts: of a register, or of two values, no kernel does so. */
static bool has_kernel(const struct litmus_test *test)
{
    for (uint32_t t = 0; t < test->count; t++)
        for (uint32_t i = 0; i < test->threads[t].length; i++) {
            const struct litmus_instruction *in = &test->threads[t].code[i];
            if (in->op == LITMUS_SUB && (in->lanes > 1 || in->a[0].is_register))
                return false;
        }
    return true;
}

/* The outcomes of caches, and whether something is stuck, by the two accounts. */
static enum law_holding second_caches(struct arena *arena, const struct litmus_test *test)
{
    if (!has_kernel(test))
        return litmus_kernel(arena, test) ? LAW_BROKEN : LAW_SILENT;
    if (counts_are_unclear(test))
        return fenced_caches(arena, test);
    for (uint32_t m = LITMUS_PRINTED; m <= LITMUS_COHERENT; m++) {
        struct litmus_result of, second;
        struct litmus_paths paths = {.most = PATHS_MAX};
        size_t mark = arena_mark(arena);
        /* The one that takes fewer tests first: what it leaves out costs the other most. */
        if (!litmus_machine_run(arena, test, (enum litmus_model)m, MACHINE_STATES_MAX, &second))
            return LAW_CUT;
        if (!litmus_run_paths(arena, test, (enum litmus_model)m, STATES_MAX, &of, &paths))
            return gave_up(&of, STATES_MAX);
        if (!paths_are_so(&paths))
            return LAW_BROKEN;
        bool same = equal(&of, &second) && (of.dead == 0) == (second.dead == 0);
        arena_release(arena, mark);
        if (!same)
            return LAW_BROKEN;
    }
    return LAW_HOLDS;
}

static enum law_holding ask_law(struct arena *arena, const struct litmus_test *test,
                                enum litmus_law law)
{
    struct litmus_result sc, llh;
    enum law_holding holding;
    if (law == LAW_AXIOMS)
        return second_axioms(arena, test);
    if (law == LAW_MACHINE || law == LAW_CACHED)
        return second_caches(arena, test);
    if (law == LAW_ANY_TEXT)
        return LAW_HOLDS;
    holding = in_sequence(arena, test, &sc);
    if (holding == LAW_CUT || holding == LAW_BROKEN)
        return holding;
    switch (law) {
    case LAW_INCLUSION:
        return includes(arena, test, &sc);
    case LAW_SECOND:
    case LAW_SEQUENCE:
        return second_account(arena, test, &sc);
    case LAW_FENCE:
    case LAW_VOLATILE:
        return is_equal(arena, test, LITMUS_PRINTED, &sc, true);
    case LAW_OWN:
    case LAW_OWN_ORDER:
        return are_equal(arena, test, law == LAW_OWN ? LITMUS_PRINTED : LITMUS_LLH, &sc);
    case LAW_LLH:
    case LAW_LLH_EXACT:
        if (!run(arena, test, LITMUS_LLH, &llh))
            return gave_up(&llh, STATES_MAX);
        return is_equal(arena, test, LITMUS_ASPLOS15, &llh, law == LAW_LLH_EXACT);
    case LAW_TEXT_CACHES:
    case LAW_ANY_TEXT:
    case LAW_TEXT: /* of what is drawn: there is nothing to ask of a text alone */
        return LAW_HOLDS;
    case LAW_AXIOMS:
    case LAW_MACHINE:
    case LAW_CACHED:
    case LITMUS_LAWS:
        break;
    }
    invariant_fail("a law", __FILE__, __LINE__);
}

static bool read(struct arena *arena, const char *text, struct litmus_test *test)
{
    struct litmus_reader reader = {text, 0};
    struct diag diag;
    diag_init(&diag, "drawn", text, strlen(text));
    return litmus_next(arena, &reader, test, &diag);
}

bool law_ask_text(struct arena *arena, const char *text, const char *law, enum law_holding *holding)
{
    struct litmus_test *test = ARENA_NEW(arena, struct litmus_test);
    uint32_t which = 0;
    while (which < LITMUS_LAWS && strcmp(law_table[which].name, law) != 0)
        which++;
    if (which == LITMUS_LAWS || !read(arena, text, test))
        return false;
    *holding = ask_law(arena, test, (enum litmus_law)which);
    return true;
}

/* Of each outcome, and of the first ones: none, one, .. and all. */
static bool condition_holds(struct arena *arena, const struct litmus_test *test,
                            const struct litmus_condition *meant)
{
    struct litmus_result all;
    uint32_t count = 0;
    if (!run(arena, test, LITMUS_SC, &all))
        return true;
    for (uint32_t i = 0; i <= all.count; i++) {
        struct litmus_result first = {.values = all.values, .count = i};
        struct litmus_result one = {.values = all.values + i, .count = 1};
        bool holds = meant->asks == ASKS_FORALL   ? count == i
                     : meant->asks == ASKS_EXISTS ? count > 0
                                                  : count == 0;
        if (litmus_holds(test, &first) != holds)
            return false;
        bool is_true = i < all.count && litmus_ptx_true(meant, all.values[i]);
        count += is_true;
        if (i < all.count && litmus_holds(test, &one) != (is_true == (meant->asks != ASKS_NEVER)))
            return false;
    }
    return true;
}

/* Of a model that has outcomes of its own, where it has few states. */
static bool states_itself(struct arena *arena, const struct litmus_test *test)
{
    enum { FEW = 512 };
    struct litmus_result sc, model;
    return !litmus_run(arena, test, LITMUS_SC, FEW, &sc) || sc.dead || sc.silent ||
           !litmus_run(arena, test, LITMUS_PRINTED, FEW, &model) || model.dead || model.silent ||
           litmus_sets_state_themselves(arena, test, &sc, &model);
}

static enum law_holding is_read_so(struct arena *arena, const char *text,
                                   const struct drawn_test *drawn)
{
    struct litmus_test *test = ARENA_NEW(arena, struct litmus_test);
    bool holds = read(arena, text, test);
    if (holds && drawn->law == LAW_TEXT_CACHES)
        holds = litmus_draw_is(drawn, test);
    else if (holds)
        holds = !litmus_ptx_differs(test, &drawn->meant) &&
                condition_holds(arena, test, &drawn->meant.condition);
    holds = holds && litmus_shows_itself(arena, test) && states_itself(arena, test);
    return holds ? LAW_HOLDS : LAW_BROKEN;
}

enum law_holding law_ask(struct arena *arena, const struct drawn_test *test)
{
    const char *text = litmus_draw_text(arena, test);
    enum law_holding holding = LAW_SILENT;
    if (text && (test->law == LAW_TEXT || test->law == LAW_TEXT_CACHES))
        return is_read_so(arena, text, test);
    if (text && test->law == LAW_ANY_TEXT)
        return litmus_own_is(arena, test, text) ? LAW_HOLDS : LAW_BROKEN;
    bool known = !text || law_ask_text(arena, text, law_table[test->law].name, &holding);
    INVARIANT(known);
    return holding;
}

/* ---- making it small ---- */

static bool drop_one(struct arena *arena, struct drawn_test *test)
{
    for (uint32_t t = 0; t < DRAWN_THREADS; t++)
        for (uint32_t i = 0; i < litmus_draw_length(test, t); i++) {
            struct drawn_test smaller = *test;
            litmus_draw_drop(&smaller, t, i);
            if (law_ask(arena, &smaller) != LAW_BROKEN)
                continue;
            *test = smaller;
            return true;
        }
    return false;
}

void law_make_small(struct arena *arena, struct drawn_test *test)
{
    while (drop_one(arena, test))
        ;
}
