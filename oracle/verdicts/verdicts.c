#include "oracle/verdicts/verdicts.h"

#include "engine/base/pcg.h"
#include "engine/duo/duo.h"
#include "engine/prove/inference.h"
#include "oracle/verdicts/models.h"

#include <stddef.h>
#include <string.h>

enum { WALKS = 3, GIVEN_UP_SHARE = 4 /* walks are given up in one case of so many */ };

/* ---- a solver that answers as it is drawn ---- */

struct drawn_solver {
    struct proof_answers answers;
    uint64_t seed;
    uint32_t sat, unsat, unknown, failed; /* how often each */
    const struct duo *walks[WALKS];       /* that it was asked about, loops cut */
    uint32_t walk_count;
    bool fails[WALKS]; /* some question about it was not answered at all */
};

/* The same question of the same walk always has the same answer. */
static uint64_t draw_of(const struct drawn_solver *s, const struct duo *duo, term question)
{
    uint64_t walk = duo->unroll > 0 ? 1 : duo->plain ? 2 : 3;
    return pcg_splitmix(pcg_splitmix(s->seed ^ walk) ^ question);
}

static enum solver_answer said(const struct drawn_solver *s, const struct duo *duo, term question)
{
    uint64_t drawn = draw_of(s, duo, question) % (s->sat + s->unsat + s->unknown + s->failed);
    if (question == TERM_FALSE)
        return SOLVER_UNSAT;
    return drawn < s->sat                           ? SOLVER_SAT
           : drawn < s->sat + s->unsat              ? SOLVER_UNSAT
           : drawn < s->sat + s->unsat + s->unknown ? SOLVER_UNKNOWN
                                                    : SOLVER_FAILED;
}

static void note_walk(struct drawn_solver *s, const struct duo *duo, bool fails)
{
    uint32_t i = 0;
    while (i < s->walk_count && s->walks[i] != duo)
        i++;
    if (duo->unroll > 0 || i == WALKS)
        return;
    if (i == s->walk_count)
        s->walks[s->walk_count++] = duo;
    s->fails[i] |= fails;
}

/* The first of so many truths that is true: whatever makes it possible that one of them is. */
static uint32_t first_true(const struct drawn_solver *s, const struct duo *duo, term question,
                           uint32_t truths)
{
    return (uint32_t)(pcg_splitmix(draw_of(s, duo, question)) % truths);
}

/* Truths that are asked for come first. */
static enum solver_answer say(struct proof_answers *own, const struct duo *duo, term question,
                              const term *wanted, uint32_t *values, uint32_t count)
{
    struct drawn_solver *s =
        (struct drawn_solver *)(void *)((char *)own - offsetof(struct drawn_solver, answers));
    enum solver_answer answer = said(s, duo, question);
    uint32_t truths = 0;
    note_walk(s, duo, answer == SOLVER_FAILED);
    while (truths < count && term_of(&duo->terms, wanted[truths])->sort == SORT_BOOL)
        truths++;
    for (uint32_t i = 0; answer == SOLVER_SAT && i < count; i++)
        values[i] = models_value(s->seed, duo, wanted[i]);
    if (answer != SOLVER_SAT || truths == 0)
        return answer;
    const uint32_t first = first_true(s, duo, question, truths);
    for (uint32_t i = 0; i <= first; i++)
        values[i] = i == first;
    return answer;
}

/* ---- what has to be said ---- */

struct expected {
    enum proof_verdict verdict;
    bool model;
    const char *stage;
    const char *rests; /* on which goal it rests; NULL: on none that is open */
};

struct judging {
    struct drawn_solver *solver;
    const struct proof_result *result;
    struct expected goals[GOAL_COUNT];
    bool possible[GOAL_COUNT];
    uint32_t walks; /* that there have to be, loops cut */
};

/* Whether some obligation of the goal can be: asked of all at once; where that is not known, of each alone. */
static enum solver_answer of_goal(const struct judging *j, struct duo *duo, int goal)
{
    const struct obligation *all = GROWN(duo->obligations, struct obligation);
    uint32_t count = 0, unknown = 0;
    term any = TERM_FALSE;
    for (uint32_t i = 0; i < duo->obligations.count; i++)
        if ((int)all[i].goal == goal) {
            any = term_or(&duo->terms, any, all[i].wrong);
            count++;
        }
    enum solver_answer answer = said(j->solver, duo, any);
    if (answer != SOLVER_UNKNOWN || count == 1)
        return answer;
    for (uint32_t i = 0; i < duo->obligations.count; i++) {
        answer = (int)all[i].goal == goal ? said(j->solver, duo, all[i].wrong) : SOLVER_UNSAT;
        if (answer == SOLVER_SAT || answer == SOLVER_FAILED)
            return answer;
        unknown += answer == SOLVER_UNKNOWN;
    }
    return unknown > 0 ? SOLVER_UNKNOWN : SOLVER_UNSAT;
}

static void expect(struct judging *j, int goal, enum proof_verdict verdict, const char *stage)
{
    j->goals[goal] = (struct expected){verdict, verdict == PROOF_MODEL, stage, NULL};
}

/* What the kernel has nothing of cannot go wrong. */
static void expect_possible(struct judging *j, const struct duo *duo)
{
    for (int goal = 0; goal < GOAL_COUNT; goal++) {
        j->possible[goal] = duo->possible[goal];
        if (!duo->possible[goal])
            expect(j, goal, PROOF_PROVED, "what is possible");
    }
}

static bool is_decided(const struct judging *j, int goal)
{
    return j->goals[goal].verdict == PROOF_PROVED || j->goals[goal].verdict == PROOF_MODEL;
}

static bool goes_further(const struct judging *j)
{
    bool open = false;
    for (int goal = 0; goal < GOAL_COUNT; goal++)
        open |= !is_decided(j, goal);
    return open && j->goals[GOAL_RACE].verdict != PROOF_MODEL &&
           j->goals[GOAL_DIVERGENCE].verdict != PROOF_MODEL;
}

/* Nothing can be wrong within so many trips: proved if it is known that nobody goes on. */
static void expect_unrolled(struct judging *j, struct duo *duo)
{
    term left = TERM_FALSE;
    for (uint32_t i = 0; i < duo->left.count; i++)
        left = term_or(&duo->terms, left, GROWN(duo->left, term)[i]);
    expect_possible(j, duo);
    for (int goal = 0; goal < GOAL_COUNT && !duo->reason; goal++) {
        if (is_decided(j, goal))
            continue;
        enum solver_answer answer = of_goal(j, duo, goal);
        bool ends = said(j->solver, duo, left) == SOLVER_UNSAT;
        expect(j, goal,
               answer == SOLVER_SAT     ? PROOF_MODEL
               : answer != SOLVER_UNSAT ? PROOF_UNKNOWN
               : ends                   ? PROOF_PROVED
                                        : PROOF_BOUNDED,
               "loops unrolled");
    }
}

/* ---- loops cut ---- */

static const struct loop_cut *cut_number(const struct duo *duo, uint32_t i)
{
    return GROWN(duo->cuts, struct loop_cut *)[i];
}

/* Somebody may be at the head; or it is known that nobody comes to it. */
static bool is_entered(const struct judging *j, struct duo *duo, const struct loop_cut *cut)
{
    struct terms *t = &duo->terms;
    uint32_t head = duo->cfg->loops[cut->loop].head;
    term either = term_or(t, cut->head[slot_at(duo, head, 0)], cut->head[slot_at(duo, head, 1)]),
         there = term_and(t, cut->head[slot_path(duo)], either),
         before = term_and(t, cut->entry[slot_path(duo)], term_or(t, cut->in[0], cut->in[1]));
    return said(j->solver, duo, there) != SOLVER_UNSAT ||
           said(j->solver, duo, before) == SOLVER_UNSAT;
}

static term reached_at(struct duo *duo, uint32_t key)
{
    term any = TERM_FALSE;
    for (uint32_t i = 0; i < duo->points.count; i++)
        if (GROWN(duo->points, struct point)[i].key == key)
            any = term_or(&duo->terms, any, GROWN(duo->points, struct point)[i].reached);
    return any;
}

/* What a few trips are known to reach is not known to be out of reach. */
static bool is_about_something(const struct judging *j, struct duo *duo)
{
    struct duo *few = j->result->unrolled;
    for (uint32_t i = 0; few && !few->reason && i < few->points.count; i++) {
        uint32_t key = GROWN(few->points, struct point)[i].key;
        if (said(j->solver, duo, reached_at(duo, key)) == SOLVER_UNSAT &&
            said(j->solver, few, reached_at(few, key)) == SOLVER_SAT)
            return false;
    }
    return true;
}

static bool is_of_use(const struct judging *j, struct duo *duo)
{
    for (uint32_t i = 0; i < duo->cuts.count; i++)
        if (!is_entered(j, duo, cut_number(duo, i)))
            return false;
    return is_about_something(j, duo);
}

/* Under invariants: what cannot be is proved; what can be is no finding, since nobody may get there. */
static void expect_cut(struct judging *j, struct duo *duo)
{
    for (int goal = 0; goal < GOAL_COUNT; goal++) {
        if (is_decided(j, goal))
            continue;
        enum solver_answer answer = of_goal(j, duo, goal);
        if (answer == SOLVER_UNSAT)
            expect(j, goal, PROOF_PROVED, "loops cut");
        else if (answer == SOLVER_SAT)
            j->goals[goal].model = true;
        if (answer == SOLVER_SAT)
            j->goals[goal].stage = "loops cut";
    }
}

/* Whether the set is known to hold, before the loop and after a trip: asked of all at once; where that is not known, of
 * halves. */
static bool is_known(const struct judging *j, struct duo *duo, const term *violated, uint32_t count)
{
    term some = TERM_FALSE;
    for (uint32_t i = 0; i < count; i++)
        some = term_or(&duo->terms, some, violated[i]);
    enum solver_answer answer = said(j->solver, duo, some);
    if (answer != SOLVER_UNKNOWN)
        return answer == SOLVER_UNSAT;
    return count > 1 && is_known(j, duo, violated, count / 2) &&
           is_known(j, duo, violated + count / 2, count - count / 2);
}

/* What is kept of each nest of loops is known to hold. */
static bool keeps_what_is_known(struct arena *arena, const struct judging *j, struct duo *duo)
{
    for (uint32_t nest = 1; nest <= duo->nest; nest++) {
        struct grown kept = {NULL, 0, 0};
        for (uint32_t i = 0; i < duo->cuts.count; i++) {
            const struct loop_cut *cut = cut_number(duo, i);
            for (uint32_t n = 0; cut->nest == nest && n < cut->candidate_count; n++)
                if (cut->candidates[n].kept && cut->candidates[n].violated != TERM_FALSE)
                    grown_add(arena, &kept, &cut->candidates[n].violated, sizeof(term));
        }
        if (kept.count > 0 && !is_known(j, duo, GROWN(kept, term), kept.count))
            return false;
    }
    return true;
}

/* With guesses that cost little; with all, where some were left out and something is open. False: not known. */
static bool expect_invariants(struct judging *j)
{
    const struct drawn_solver *s = j->solver;
    bool more = goes_further(j);
    j->walks = more;
    for (uint32_t i = 0; i < s->walk_count && more; i++) {
        struct duo *duo = (struct duo *)(uintptr_t)s->walks[i];
        if (s->fails[i] || duo->reason)
            return false;
        expect_possible(j, duo);
        if (!is_of_use(j, duo))
            return true;
        expect_cut(j, duo);
        more = duo->left_out && goes_further(j);
        j->walks += more;
    }
    return true;
}

/* ---- up to the first race or divergence ---- */

/* All that a proof of one goal rests on: that the other does not happen, within as many trips. */
static void expect_dependence(struct judging *j)
{
    struct expected before[GOAL_COUNT];
    memcpy(before, j->goals, sizeof before);
    for (int goal = 0; goal < GOAL_COUNT; goal++) {
        bool bounded = before[goal].verdict == PROOF_BOUNDED,
             claims = before[goal].verdict == PROOF_PROVED || (bounded && !before[goal].model);
        for (int other = GOAL_RACE; other <= GOAL_DIVERGENCE; other++) {
            bool excluded = before[other].verdict == PROOF_PROVED ||
                            (bounded && before[other].verdict == PROOF_BOUNDED);
            if (claims && other != goal && j->possible[goal] && !excluded &&
                !j->goals[goal].rests) {
                expect(j, goal, PROOF_UNKNOWN, "what a proof rests on");
                j->goals[goal].rests = other == GOAL_RACE ? "race" : "barrier divergence";
            }
        }
    }
}

/* ---- compared ---- */

static void draw_options(struct pcg *rng, struct proof_options *options)
{
    *options = PROOF_DEFAULTS;
    options->unroll = pcg_below(rng, 3);
    options->invariants = pcg_below(rng, 4) > 0;
    options->counted = pcg_below(rng, 2);
    options->rehearsed = options->integers = false;
}

/* A model says what the values are, of the obligations that it was asked about: all of a goal, or one. */
static const char *wrong_model(struct arena *arena, const struct judging *j, int goal)
{
    struct duo *duo = j->result->unrolled;
    const struct obligation *all = GROWN(duo->obligations, struct obligation);
    struct obligation *of = ARENA_ARRAY(arena, struct obligation, duo->obligations.count + 1);
    uint32_t count = 0;
    term any = TERM_FALSE;
    for (uint32_t i = 0; i < duo->obligations.count; i++)
        if ((int)all[i].goal == goal) {
            of[count++] = all[i];
            any = term_or(&duo->terms, any, all[i].wrong);
        }
    if (said(j->solver, duo, any) != SOLVER_SAT) {
        while (count > 0 && said(j->solver, duo, of->wrong) != SOLVER_SAT) {
            of++;
            count--;
        }
        if (count == 0)
            return "it is of nothing that was asked";
        count = 1;
        any = of->wrong;
    }
    return models_wrong(arena, j->solver->seed, duo, of, count,
                        first_true(j->solver, duo, any, count), j->result->answers[goal].model);
}

/* ---- how it is said ---- */

/* By which method it is proved, or bounded. */
static const char *method_of(struct arena *arena, const struct judging *j, int goal)
{
    static const char *const impossible[GOAL_COUNT] = {
        [GOAL_RACE] = "no two threads share memory that is written",
        [GOAL_DIVERGENCE] = "no barrier that threads share",
        [GOAL_BOUNDS] = "no array",
        [GOAL_ASSERTS] = "no assertion"};
    const struct duo *unrolled = j->result->unrolled;
    if (!j->possible[goal])
        return impossible[goal];
    if (j->goals[goal].verdict == PROOF_PROVED && strcmp(j->goals[goal].stage, "loops cut") == 0)
        return "invariants";
    return unrolled->cfg->loop_count == 0 ? "no loop"
           : unrolled->left.count == 0
               ? "all trips"
               : arena_printf(arena, "unrolled %u", (unsigned)unrolled->unroll);
}

static const char *wrong_words(struct arena *arena, const struct judging *j, int goal)
{
    const struct expected *e = &j->goals[goal];
    const struct proof_answer *a = &j->result->answers[goal];
    const char *rests =
        arena_printf(arena, "nothing is wrong before the first %s, and nothing is known behind one",
                     e->rests ? e->rests : "");
    if (e->verdict == PROOF_PROVED || e->verdict == PROOF_BOUNDED)
        return a->method && strcmp(a->method, method_of(arena, j, goal)) == 0 ? NULL : "method";
    if (e->verdict == PROOF_UNKNOWN && !a->reason && !a->model)
        return "reason, which is missing,";
    return e->rests && strcmp(a->reason, rests) != 0 ? "reason" : NULL;
}

/* The loops that were cut, in their order, with what is kept of each. */
static bool tells_loops(const struct judging *j)
{
    const struct proof_result *r = j->result;
    for (uint32_t i = 0; r->cut && i < r->cut->cuts.count; i++) {
        const struct loop_cut *cut = cut_number(r->cut, i);
        uint32_t kept = 0;
        for (uint32_t n = 0; n < cut->candidate_count; n++)
            if (cut->candidates[n].kept) {
                if (kept == r->loops[i].kept_count ||
                    strcmp(r->loops[i].kept[kept++], cut->candidates[n].text) != 0)
                    return false;
            }
        if (kept != r->loops[i].kept_count || cut->at.line != r->loops[i].at.line ||
            cut->candidate_count != r->loops[i].candidate_count)
            return false;
    }
    return !r->cut || r->loop_count == r->cut->cuts.count;
}

static struct verdicts_fault compare(struct arena *arena, const struct judging *j)
{
    if (j->walks != j->solver->walk_count)
        return (struct verdicts_fault){"loops cut",
                                       "by a solver's drawn answers loops have to be cut where "
                                       "'prove' does not, or the other way round"};
    if (j->result->cut && !keeps_what_is_known(arena, j, j->result->cut))
        return (struct verdicts_fault){
            "what Houdini keeps", "by a solver's drawn answers what is kept is not known to hold"};
    for (int goal = 0; goal < GOAL_COUNT; goal++) {
        const struct expected *e = &j->goals[goal];
        const struct proof_answer *a = &j->result->answers[goal];
        if (a->verdict == e->verdict && (a->model != NULL) == e->model)
            continue;
        return (struct verdicts_fault){
            e->stage ? e->stage : "nothing asked",
            arena_printf(arena,
                         "%s: by a solver's drawn answers it is '%s'%s, and 'prove' says '%s'%s",
                         proof_goal_names[goal], proof_verdict_names[e->verdict],
                         e->model ? " with values" : "", proof_verdict_names[a->verdict],
                         a->model ? " with values" : "")};
    }
    for (int goal = 0; goal < GOAL_COUNT; goal++) {
        const struct proof_answer *a = &j->result->answers[goal];
        const char *why =
            a->verdict == PROOF_MODEL && a->model ? wrong_model(arena, j, goal) : NULL;
        if (why)
            return (struct verdicts_fault){
                "models",
                arena_printf(arena, "%s: by a solver's drawn answers the model is wrong: %s",
                             proof_goal_names[goal], why)};
    }
    for (int goal = 0; goal < GOAL_COUNT; goal++) {
        const char *why = wrong_words(arena, j, goal);
        if (why)
            return (struct verdicts_fault){
                "how it is said",
                arena_printf(arena, "%s: the %s is not that of '%s'", proof_goal_names[goal], why,
                             proof_verdict_names[j->goals[goal].verdict])};
    }
    if (!tells_loops(j))
        return (struct verdicts_fault){"how it is said", "other loops, or other invariants of one"};
    return (struct verdicts_fault){NULL, NULL};
}

/* The small kernels are made of what is handled, but for these atomics. */
static bool may_be_refused(const struct ast_kernel *kernel, const char *why)
{
    static const char atomics[] = "the atomic of a vector, or of 128 bits";
    return kernel->form == FORM_PTX && strncmp(why, atomics, sizeof atomics - 1) == 0;
}

/* A walk that has room for as many terms as it makes comes to its end; with room for one fewer it says that it does
 * not: what it has made is of no use then. */
static const char *gives_up(struct arena *arena, const struct ast_kernel *kernel,
                            const struct proof_options *options)
{
    uint32_t terms = 0;
    for (uint32_t less = 0; less < 3; less++) {
        const char *reason;
        struct duo *duo = duo_new(arena, forms_new(arena, kernel), options, 0, &reason);
        if (!duo || (less > 0 && duo->terms.count + less > terms))
            return NULL;
        if (less > 0)
            duo->terms.limit = terms + 1 - less;
        duo_run(duo);
        if ((duo->reason != NULL) != (less == 2))
            return less == 2 ? "a walk that was given up says that it is whole"
                             : "a walk is given up that has room for all of it";
        terms = duo->run_end;
    }
    return NULL;
}

struct verdicts_fault verdicts_judge(struct arena *arena, const struct ast_kernel *kernel,
                                     uint64_t seed)
{
    struct pcg rng;
    struct proof_options options;
    struct proof_result result;
    struct drawn_solver solver = {.answers = {say}, .seed = seed};
    const struct verdicts_fault none = {NULL, NULL};
    pcg_seed(&rng, seed, 1);
    draw_options(&rng, &options);
    options.answers = &solver.answers;
    solver.sat = pcg_below(&rng, 12);
    solver.unsat = 1 + pcg_below(&rng, 12);
    solver.unknown = pcg_below(&rng, 4);
    solver.failed = pcg_below(&rng, 8) == 0;
    const struct solver_options unused = {.command = SOLVER_COMMAND};
    prove_kernel(arena, forms_new(arena, kernel), &options, solver_new(arena, &unused), &result);
    if (result.refused)
        return may_be_refused(kernel, result.refused)
                   ? none
                   : (struct verdicts_fault){"what is handled", result.refused};
    if (result.cut)
        note_walk(&solver, result.cut, false);
    const char *why = seed % GIVEN_UP_SHARE == 0 ? gives_up(arena, kernel, &options) : NULL;
    if (why)
        return (struct verdicts_fault){"the end of a walk", why};
    struct judging j = {.solver = &solver, .result = &result};
    for (int goal = 0; goal < GOAL_COUNT; goal++)
        j.goals[goal] = (struct expected){.verdict = PROOF_UNKNOWN};
    bool unrolls = options.unroll > 0 || !options.invariants;
    if (unrolls && result.unrolled)
        expect_unrolled(&j, result.unrolled);
    if (options.invariants && !expect_invariants(&j))
        return none;
    expect_dependence(&j);
    return compare(arena, &j);
}
