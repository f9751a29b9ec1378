/*
 * children.c - programs that are asked, as engine/smt starts and asks them: sed takes the place of a solver. Its script
 * has an answer for each question that a child hears in its life, drawn; an answer comes only where the question stands
 * behind a reset, in the order that SMT-LIB wants. What is made of the answers - a child that is started, ended or
 * kept, what is counted, when nothing is asked any more, what a second solver changes - is said here once more. cat
 * takes the place of a verifier.
 */
#include "engine/base/pcg.h"
#include "engine/base/text.h"
#include "engine/smt/solver.h"
#include "engine/smt/verifier.h"
#include "oracle/verdicts/verdicts.h"

#include <inttypes.h>
#include <string.h>

enum { LIFE = 12 /* questions that a child hears */, ASKED = 14, SOLVERS = 3, NAMES = 2 };

/* What a child says to a question; DIES: it ends. */
enum says { SAYS_SAT, SAYS_UNSAT, SAYS_UNKNOWN, SAYS_NONSENSE, SAYS_DIES, SAYS_COUNT };

struct script {
    const char *command;
    enum says says[LIFE];
    uint32_t values[LIFE][NAMES];
};

/* A solver as its header describes it. */
struct account {
    const struct script *script;
    uint32_t heard; /* by the child; 0: there is none */
    uint32_t failures;
    struct solver_counts counts;
};

/* ---- scripts ---- */

/* The hold space has an `a` for each question that was heard, and behind them the lines of this one. */
static const char reads_question[] =
    "/^(reset)$/{x;s/[rmlfcg]*$/r/;x};/^(set-option.:produce-models.true)$/{x;s/r$/rm/;x};"
    "/^(set-logic.ALL)$/{x;s/m$/ml/;x};/^(assert/{x;s/l$/lf/;x};/^(check-sat)$/{x;s/f$/fc/;x};"
    "/^(get-value.(.*))$/{x;s/c$/cg/;x};/^(echo/!d;x;s/rmlfcg*$/a/;h";

static enum says draw_says(struct pcg *rng, uint32_t heard)
{
    static const enum says usual[] = {SAYS_SAT, SAYS_UNSAT}; /* what is known, as solvers know it */
    const uint32_t kind = pcg_below(rng, 16);
    if (heard < 2 && kind > 2)
        return usual[heard];
    return kind < SAYS_COUNT ? (enum says)kind : pcg_below(rng, 2) ? SAYS_SAT : SAYS_UNSAT;
}

/* The first question of each child is what x is in x + 1 == 43. */
static void draw_values(struct pcg *rng, struct script *script, uint32_t heard)
{
    for (uint32_t i = 0; i < NAMES; i++)
        script->values[heard][i] = pcg_next(rng) >> pcg_below(rng, 32);
    if (heard == 0 && pcg_below(rng, 16) > 0)
        script->values[0][0] = 42;
}

static void put_answer(struct text *out, const struct script *script, uint32_t heard)
{
    const uint32_t *values = script->values[heard];
    switch (script->says[heard]) {
    case SAYS_SAT:
        if (heard == 0)
            text_format(out, "sat\\n((|canary|\\x20#x%08" PRIx32 "))", values[0]);
        else
            text_format(out, "sat\\n((p0\\x20#x%08" PRIx32 ")\\n(|p\\x201|\\x20#x%08" PRIx32 "))",
                        values[0], values[1]);
        break;
    case SAYS_UNSAT:
        text_put(out, "unsat");
        break;
    case SAYS_UNKNOWN:
        text_put(out, "unknown");
        break;
    case SAYS_NONSENSE:
        text_put(out, "perhaps");
        break;
    case SAYS_DIES:
    case SAYS_COUNT:
        break;
    }
}

static struct script draw_script(struct arena *arena, struct pcg *rng)
{
    struct script script = {0};
    struct text out = text_begin(arena);
    text_format(&out, "sed -un %s", reads_question);
    for (uint32_t heard = 0; heard < LIFE; heard++) {
        script.says[heard] = heard + 1 == LIFE ? SAYS_DIES : draw_says(rng, heard);
        draw_values(rng, &script, heard);
        text_put(&out, ";/^");
        for (uint32_t i = 0; i <= heard; i++)
            text_put(&out, "a");
        if (script.says[heard] == SAYS_DIES) {
            text_put(&out, "$/q");
        } else {
            text_put(&out, "$/s/.*/");
            put_answer(&out, &script, heard);
            text_put(&out, "\\nsimtfuzz-end/p");
        }
    }
    script.command = out.bytes;
    return script;
}

/* ---- what has to come of it ---- */

static enum solver_answer meaning(enum says says)
{
    static const enum solver_answer meanings[SAYS_COUNT] = {[SAYS_SAT] = SOLVER_SAT,
                                                            [SAYS_UNSAT] = SOLVER_UNSAT,
                                                            [SAYS_UNKNOWN] = SOLVER_UNKNOWN,
                                                            [SAYS_NONSENSE] = SOLVER_FAILED,
                                                            [SAYS_DIES] = SOLVER_FAILED};
    return meanings[says];
}

/* Who fails is ended. */
static enum solver_answer hears(struct account *a)
{
    enum solver_answer answer = meaning(a->script->says[a->heard++]);
    if (answer == SOLVER_FAILED)
        a->heard = 0;
    return answer;
}

/* A new child knows x of x + 1 == 43, and none of x + 1 == x, or does not know. */
static bool begins(struct account *a)
{
    a->counts.starts++;
    const enum solver_answer first = hears(a);
    bool right = first == SOLVER_SAT && a->script->values[0][0] == 42;
    if (first == SOLVER_UNKNOWN)
        return true;
    if (right) {
        const enum solver_answer second = hears(a);
        right = second == SOLVER_UNSAT || second == SOLVER_UNKNOWN;
    }
    if (!right)
        a->heard = 0;
    return right;
}

static bool is_spent(const struct account *a, uint32_t questions)
{
    return a->failures == 3 || a->counts.unknown >= 8 ||
           (questions > 0 && a->counts.queries >= questions);
}

static enum solver_answer told(struct account *a, uint32_t questions)
{
    if (is_spent(a, questions))
        return a->failures == 3 ? SOLVER_FAILED : SOLVER_UNKNOWN;
    a->counts.queries++;
    enum solver_answer answer = a->heard > 0 || begins(a) ? hears(a) : SOLVER_FAILED;
    if (answer == SOLVER_FAILED)
        a->failures++;
    else
        a->failures = 0;
    return answer;
}

/* Of what the first calls unsat the second is asked. */
static enum solver_answer concluded(struct account *first, struct account *second,
                                    uint32_t questions)
{
    struct solver_counts *counts = &first->counts;
    enum solver_answer answer = told(first, questions);
    if (answer == SOLVER_UNSAT && second) {
        const enum solver_answer other = told(second, questions);
        counts->confirmed += other == SOLVER_UNSAT;
        counts->unconfirmed += other == SOLVER_UNKNOWN;
        counts->disagreed += other == SOLVER_SAT;
        if (other == SOLVER_SAT || other == SOLVER_FAILED)
            answer = SOLVER_FAILED;
    }
    counts->sat += answer == SOLVER_SAT;
    counts->unsat += answer == SOLVER_UNSAT;
    counts->unknown += answer == SOLVER_UNKNOWN;
    counts->failed += answer == SOLVER_FAILED;
    return answer;
}

/* ---- compared ---- */

static const char *differs(struct arena *arena, const char *what, uint32_t question, uint32_t is,
                           uint32_t should)
{
    return is == should ? NULL
                        : arena_printf(arena,
                                       "after %" PRIu32 " questions to a solver that is sed: %s is "
                                       "%" PRIu32 ", and should be %" PRIu32,
                                       question, what, is, should);
}

static const char *compare_counts(struct arena *arena, uint32_t question,
                                  const struct solver_counts *is,
                                  const struct solver_counts *should)
{
    const struct {
        const char *what;
        uint32_t is, should;
    } all[] = {{"queries", is->queries, should->queries},
               {"sat", is->sat, should->sat},
               {"unsat", is->unsat, should->unsat},
               {"unknown", is->unknown, should->unknown},
               {"failed", is->failed, should->failed},
               {"starts", is->starts, should->starts},
               {"confirmed", is->confirmed, should->confirmed},
               {"unconfirmed", is->unconfirmed, should->unconfirmed},
               {"disagreed", is->disagreed, should->disagreed},
               {"no budget", is->no_budget, should->no_budget}};
    for (uint32_t i = 0; i < sizeof all / sizeof *all; i++) {
        const char *why = differs(arena, all[i].what, question, all[i].is, all[i].should);
        if (why)
            return why;
    }
    return NULL;
}

/* One solver's life. */
static const char *ask_all(struct arena *arena, struct pcg *rng,
                           const struct solver_options *options, struct account *first,
                           struct account *second)
{
    static const char *const names[NAMES] = {"p0", "|p 1|"};
    struct solver *solver = solver_new(arena, options);
    const char *why = NULL;
    for (uint32_t n = pcg_below(rng, ASKED); n > 0 && !why; n--) {
        uint32_t values[NAMES] = {0}, count = pcg_below(rng, 3) ? NAMES : 0;
        const enum solver_answer should = concluded(first, second, options->questions),
                                 is = solver_ask(solver, "(assert true)\n", names, values, count);
        const struct solver_counts counts = solver_counts(solver);
        const uint32_t asked = counts.queries, life = first->heard > 0 ? first->heard - 1 : 0;
        why = differs(arena, "the answer (0: sat, unsat, unknown, failed)", asked, is, should);
        for (uint32_t i = 0; i < count && !why && is == SOLVER_SAT; i++)
            why = differs(arena, names[i], asked, values[i], first->script->values[life][i]);
        why = why ? why : compare_counts(arena, asked, &counts, &first->counts);
        why = why ? why
                  : differs(arena, "whether it is asked no more", asked, solver_is_spent(solver),
                            is_spent(first, options->questions));
        if (!why && is != SOLVER_SAT && is != SOLVER_UNSAT && !*solver_reason(solver))
            why = "a solver that is sed gives no answer, and no reason";
    }
    solver_end(solver);
    return why;
}

/* A child outlives its solver if nothing had failed in a row. */
static void outlive(struct account *a, const struct solver_keeper *keeper)
{
    const uint32_t heard = keeper && a->failures == 0 ? a->heard : 0;
    *a = (struct account){.script = a->script, .heard = heard};
}

static const char *ask_solvers(struct arena *arena, struct pcg *rng)
{
    struct solver_keeper keeper = {0};
    const struct script one = draw_script(arena, rng), two = draw_script(arena, rng);
    struct account first = {.script = &one}, second = {.script = &two};
    const bool keeps = pcg_below(rng, 4) > 0, both = pcg_below(rng, 3) == 0;
    const struct solver_options options = {.command = one.command,
                                           .second = both ? two.command : NULL,
                                           .seconds = SOLVER_SECONDS,
                                           .keeper = keeps ? &keeper : NULL,
                                           .questions = pcg_below(rng, 2) * pcg_below(rng, ASKED)};
    const char *why = NULL;
    for (uint32_t n = 1 + pcg_below(rng, SOLVERS); n > 0 && !why; n--) {
        why = ask_all(arena, rng, &options, &first, both ? &second : NULL);
        outlive(&first, options.keeper);
        outlive(&second, options.keeper);
    }
    solver_keeper_end(&keeper);
    return why;
}

/* ---- programs that are none ---- */

static const char *ask_others(struct arena *arena, struct pcg *rng)
{
    static const struct {
        const char *command, *reason;
        uint32_t seconds;
    } all[] = {{"simtfuzz-no-such-solver -in", "is not installed", SOLVER_SECONDS},
               {"sed -n p", "hangs", 0},
               {"sed -n q", "died", SOLVER_SECONDS},
               {"yes", "prints without an end", SOLVER_SECONDS},
               {"cat", "gave no answer but '(reset)'", SOLVER_SECONDS}};
    const uint32_t which = pcg_below(rng, sizeof all / sizeof *all);
    const struct solver_options options = {.command = all[which].command,
                                           .seconds = all[which].seconds};
    struct solver *solver = solver_new(arena, &options);
    const enum solver_answer answer = solver_ask(solver, "(assert true)\n", NULL, NULL, 0);
    const char *reason = arena_printf(arena, "%s", solver_reason(solver));
    solver_end(solver);
    if (answer == SOLVER_FAILED && strstr(reason, all[which].reason))
        return NULL;
    return arena_printf(arena, "'%s' as a solver is told as %s, '%s'", all[which].command,
                        solver_answer_names[answer], reason);
}

/* ---- verifiers ---- */

static const char *ask_verifier(struct arena *arena, struct pcg *rng)
{
    enum { MOST = 1 << 20 }; /* that is read of what is printed */
    struct text out = text_begin(arena);
    for (uint32_t n = pcg_below(rng, 5000); n > 0; n--)
        text_format(&out, "%" PRIu32 "\n", pcg_below(rng, 100));
    const size_t half = out.length / 2;
    const struct {
        const char *command;
        uint32_t seconds;
        const char *text; /* NULL: none; otherwise the first so many bytes are these */
        size_t length;
    } all[] = {{"cat", SOLVER_SECONDS, out.bytes, out.length},
               {arena_printf(arena, " head  -c %zu", half), SOLVER_SECONDS, out.bytes, half},
               {"sed q5", SOLVER_SECONDS, out.bytes, strcspn(out.bytes, "\n") + (out.length > 0)},
               {"simtfuzz-no-such-verifier", SOLVER_SECONDS, NULL, 0},
               {"cat", 0, NULL, 0},
               {arena_printf(arena, "head -c %d /dev/zero", MOST), SOLVER_SECONDS, "", 0},
               {arena_printf(arena, "head -c %d /dev/zero", MOST + 1), SOLVER_SECONDS, NULL, 0}};
    const uint32_t which = pcg_below(rng, sizeof all / sizeof *all);
    const char *printed = verifier_ask(arena, all[which].command, out.bytes, all[which].seconds);
    const bool right = all[which].text
                           ? printed && strlen(printed) == all[which].length &&
                                 strncmp(printed, all[which].text, all[which].length) == 0
                           : !printed;
    return right ? NULL
                 : arena_printf(arena, "'%s' as a verifier: %s", all[which].command,
                                printed ? printed : "nothing is read");
}

struct verdicts_fault children_judge(struct arena *arena, uint64_t seed)
{
    struct pcg rng;
    pcg_seed(&rng, seed, 3);
    const uint32_t kind = pcg_below(&rng, 8);
    const char *why = kind == 0   ? ask_others(arena, &rng)
                      : kind == 1 ? ask_verifier(arena, &rng)
                                  : ask_solvers(arena, &rng);
    return (struct verdicts_fault){why ? "programs that are asked" : NULL, why};
}
