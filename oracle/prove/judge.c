#include "oracle/prove/judge.h"

#include "engine/input/input.h"
#include "oracle/prove/guided.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

const char *const prove_verdict_names[SAYS_COUNT] = {"proved", "bounded", "unknown",
                                                     "alarm",  "refuted", "wrong"};
const char *const prove_goal_titles[GOAL_COUNT] = {"race-free", "no barrier divergence",
                                                   "within bounds", "asserts hold"};

struct judging {
    struct arena *arena;
    const struct ast_kernel *kernel;
    const struct proof_options *options;
    struct prove_outcome *outcome;
};

/* ---- models ---- */

/* What a model says in a sentence. */
static const char *model_text(struct arena *arena, const struct proof_model *m)
{
    const char *who = arena_printf(arena, "threads %" PRIu32 " and %" PRIu32 " of %" PRIu32,
                                   m->tid[0], m->tid[1], m->threads);
    if (m->bid[0] != m->bid[1])
        who = arena_printf(arena,
                           "thread %" PRIu32 " of block %" PRIu32 " and thread %" PRIu32
                           " of block %" PRIu32,
                           m->tid[0], m->bid[0], m->tid[1], m->bid[1]);
    if (m->goal == GOAL_RACE)
        return arena_printf(arena, "%s at %s[%" PRIu32 "], a %s at line %" PRIu32, who, m->var,
                            m->element, m->kind, m->at.line);
    if (m->goal == GOAL_DIVERGENCE)
        return arena_printf(arena, "%s at the barrier at line %" PRIu32, who, m->at.line);
    return arena_printf(arena, "thread %" PRIu32 " at line %" PRIu32, m->tid[0], m->at.line);
}

/* Each once: the two threads' guesses of one read have one name but for their number. */
static bool is_told(const struct proof_model *m, uint32_t i, int length)
{
    for (uint32_t n = 0; n < i; n++)
        if (strncmp(m->guesses[n].name, m->guesses[i].name, (size_t)length + 1) == 0)
            return true;
    return false;
}

static const char *guesses_text(struct arena *arena, const struct proof_model *m)
{
    const char *text = "";
    for (uint32_t i = 0; i < m->guess_count; i++) {
        const char *name = m->guesses[i].name, *number = strrchr(name, '#');
        int length = (int)(number ? number - name - 1 : (ptrdiff_t)strlen(name));
        if (!is_told(m, i, length))
            text = arena_printf(arena, "%s%s%.*s", text, *text ? "; " : "", length, name);
    }
    return text;
}

/* Of a model that rests on values made up; `guided`: what the pair engine makes of these. */
static void explain_guesses(const struct judging *j, struct goal_outcome *outcome,
                            const struct proof_model *model, enum guided_end guided)
{
    const char *who = model_text(j->arena, model), *made = guesses_text(j->arena, model);
    if (guided == GUIDED_CLEAN) {
        outcome->verdict = SAYS_WRONG;
        outcome->fault = FAULT_REPLAY;
        outcome->why = arena_printf(j->arena,
                                    "%s; told the values made up (%s), the two threads alone do "
                                    "not show it: please report this",
                                    who, made);
        return;
    }
    outcome->why = arena_printf(
        j->arena,
        "%s; no execution that was tried shows it%s. It rests on values made up: %s. "
        "What excludes these values there would prove it",
        who, guided == GUIDED_SHOWN ? ", and the two threads alone do, told these values" : "",
        made);
}

static void explain_alarm(const struct judging *j, struct goal_outcome *outcome,
                          const struct proof_model *model, const struct proof_replay *replay)
{
    struct arena *arena = j->arena;
    const char *who = model_text(arena, model);
    outcome->verdict = SAYS_ALARM;
    if (model->guess_count > 0)
        explain_guesses(j, outcome, model, guided_run(arena, replay->kernel, model));
    else if (model->private_inputs)
        outcome->why = arena_printf(arena,
                                    "%s; no execution that was tried shows it. It rests on the "
                                    "threads' own inputs, which no file can set",
                                    who);
    else if (replay->cut)
        outcome->why = arena_printf(arena,
                                    "%s; the executions that were tried end before, where another "
                                    "thread is out of bounds, an assertion or assume fails, or "
                                    "threads part at a barrier",
                                    who);
    else if (model->ordered)
        outcome->why = arena_printf(arena,
                                    "%s; no execution that was tried shows it: fences, scopes or "
                                    "warps may order them, of which proofs know nothing",
                                    who);
    else if (model->goal != GOAL_RACE || model->assumes)
        outcome->why = arena_printf(arena, "%s; no execution that was tried shows it", who);
    else {
        outcome->verdict = SAYS_WRONG;
        outcome->fault = FAULT_REPLAY;
        outcome->why = arena_printf(
            arena, "%s; no execution shows it, and no value is made up: please report this", who);
    }
}

/* Values that invariants do not exclude prove nothing, but an execution with their inputs may. */
static void explain_open(const struct judging *j, struct goal_outcome *outcome,
                         const struct proof_answer *answer)
{
    const char *who = model_text(j->arena, answer->model);
    if (answer->verdict == PROOF_BOUNDED) {
        outcome->verdict = SAYS_BOUNDED;
        outcome->why =
            arena_printf(j->arena,
                         "nothing is wrong within %" PRIu32
                         " trips of each loop; beyond, the invariants found do not exclude %s",
                         j->outcome->result.unroll, who);
        return;
    }
    outcome->verdict = SAYS_ALARM;
    outcome->why = arena_printf(
        j->arena, "the invariants found do not exclude %s; no execution that was tried shows it",
        who);
}

static void judge_model(const struct judging *j, int goal, const struct proof_answer *answer)
{
    struct goal_outcome *outcome = &j->outcome->goals[goal];
    struct proof_replay replay =
        proof_replay(j->arena, j->kernel, answer->model, j->options->file_inputs);
    if (replay.shown) {
        outcome->verdict = SAYS_REFUTED;
        outcome->why = replay.how;
        if (!j->outcome->shown)
            j->outcome->shown = replay.kernel;
    } else if (answer->verdict == PROOF_MODEL) {
        explain_alarm(j, outcome, answer->model, &replay);
    } else {
        explain_open(j, outcome, answer);
    }
}

/* ---- answers ---- */

static void judge_goal(const struct judging *j, int goal)
{
    const struct proof_result *result = &j->outcome->result;
    const struct proof_answer *answer = &result->answers[goal];
    struct goal_outcome *outcome = &j->outcome->goals[goal];
    *outcome = (struct goal_outcome){.verdict = SAYS_UNKNOWN, .why = answer->reason};
    if (result->refused) {
        outcome->why = result->refused;
    } else if (answer->model) {
        judge_model(j, goal, answer);
    } else if (answer->verdict == PROOF_PROVED) {
        *outcome = (struct goal_outcome){.verdict = SAYS_PROVED, .why = answer->method};
    } else if (answer->verdict == PROOF_BOUNDED) {
        outcome->verdict = SAYS_BOUNDED;
        outcome->why = arena_printf(
            j->arena, "nothing is wrong within %" PRIu32 " trips of each loop", result->unroll);
    }
    if (!outcome->why)
        outcome->why = "the solver gave no reason";
}

/* ---- proofs against executions ---- */

void prove_compare(struct arena *arena, struct prove_outcome *of, const struct check_run *runs,
                   uint64_t seed)
{
    for (int goal = 0; goal < GOAL_COUNT; goal++) {
        struct goal_outcome *outcome = &of->goals[goal];
        const char *how = NULL;
        if (outcome->verdict != SAYS_PROVED)
            continue;
        how = proof_shown(arena, runs, (enum proof_goal)goal);
        if (!how)
            continue;
        outcome->verdict = SAYS_WRONG;
        outcome->fault = FAULT_UNSOUND;
        outcome->why =
            arena_printf(arena,
                         "it was proved (%s), and an execution with input seed 0x%" PRIx64
                         " shows the opposite: %s; please report this",
                         outcome->why, seed, how);
    }
}

enum { INPUT_SEEDS = 4 };

static void compare_inputs(const struct judging *j, struct ast_kernel *kernel, uint32_t runs)
{
    uint64_t first = j->kernel->launch.seed;
    for (uint64_t seed = 0; seed < (j->options->file_inputs ? 1 : INPUT_SEEDS); seed++) {
        kernel->launch.seed = first + seed;
        prove_compare(j->arena, j->outcome, proof_executions(j->arena, kernel, runs), first + seed);
    }
}

/* A proof for any number of threads is one for each of a few: small ones, and the largest. */
static void compare_runs(const struct judging *j, uint32_t runs)
{
    const struct proof_options *o = j->options;
    const uint32_t counts[] = {o->threads_from, o->threads_from + 1, 5, 8, 33, o->threads_to};
    struct ast_kernel *kernel = ast_kernel_copy(j->arena, j->kernel);
    kernel->expects = NULL;
    if (o->threads_to == 0)
        compare_inputs(j, kernel, runs);
    for (size_t i = 0; o->threads_to > 0 && i < sizeof counts / sizeof counts[0]; i++) {
        if (counts[i] < o->threads_from || counts[i] > o->threads_to)
            continue;
        kernel->launch.threads = counts[i];
        compare_inputs(j, kernel, runs);
    }
}

void prove_judge(struct arena *arena, const struct ast_kernel *kernel,
                 const struct proof_options *options, struct solver *solver, uint32_t runs,
                 struct prove_outcome *outcome)
{
    struct judging j = {.arena = arena, .kernel = kernel, .options = options, .outcome = outcome};
    *outcome = (struct prove_outcome){0};
    prove_kernel(arena, forms_new(arena, kernel), options, solver, &outcome->result);
    for (int goal = 0; goal < GOAL_COUNT; goal++)
        judge_goal(&j, goal);
    if (runs > 0 && !outcome->result.refused)
        compare_runs(&j, runs);
}

enum outcome_verdict prove_headline(const struct prove_outcome *outcome)
{
    enum outcome_verdict worst = SAYS_PROVED;
    for (int goal = 0; goal < GOAL_COUNT; goal++) {
        enum outcome_verdict verdict = outcome->goals[goal].verdict;
        bool counts = goal == GOAL_RACE || goal == GOAL_DIVERGENCE || verdict == SAYS_WRONG;
        worst = counts && verdict > worst ? verdict : worst;
    }
    return worst;
}
