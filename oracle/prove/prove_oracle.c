#include "oracle/prove/prove_oracle.h"

#include "engine/base/diag.h"
#include "engine/base/pcg.h"
#include "engine/input/input.h"
#include "engine/prove/inference.h"
#include "engine/sequential/sequential.h"
#include "engine/smt/verifier.h"
#include "oracle/check/evidence.h"
#include "oracle/prove/drawn_terms.h"
#include "oracle/prove/judge.h"
#include "oracle/prove/kept.h"
#include "oracle/prove/retrace.h"
#include "oracle/verdicts/horn_text.h"
#include "oracle/verdicts/small.h"
#include "oracle/verdicts/verdicts.h"

#include <inttypes.h>
#include <string.h>

enum {
    BUDGET_SHARE = 16,  /* of the usual budget */
    QUESTIONS = 64,     /* to one solver: a case takes a second at most, nearly always */
    RUNS = 2,           /* of each subject, beside those of the check, under other inputs */
    STATEMENTS = 48,    /* of a larger kernel it does not ask */
    INSTRUCTIONS = 160, /* the same, of PTX */
    SECONDS = 30,
    BOOGIE_SECONDS = 8, /* well below those after which a case counts as one that hangs */
    /* One case in so many asks, as the seed draws: */
    SHARE_SECOND = 4, /* a second solver, each time the first says `unsat` */
    SHARE_ANY = 4,    /* whether any number of threads is proved */
    SHARE_HORN = 4,
    SHARE_BOOGIE = 16,  /* it takes 1.5 seconds to start */
    SHARE_GUESSES = 24, /* what Houdini keeps; a loop takes a tenth of a second */
    SHARE_GIVEN = 4,    /* of these: of the case's kernel, not of a drawn one */
    SHARE_WHOLE = 8,    /* of these: asked as much as it takes, not FEW questions at most */
    FEW = 3,
    SHARE_PAIRS = 2,     /* `encoding`, where only `pairs` is asked for */
    SHARE_DRAWN = 2,     /* the same, of a drawn kernel */
    TINY = 2,            /* kernels of a few accesses, in a case */
    VERDICTS = 1,        /* kernels, in a case: half a millisecond each */
    LISTED = 128,        /* the same, to name what is wrong */
    SHARE_CLAUSES = 2,   /* Horn clauses of a drawn kernel, read */
    SHARE_REHEARSED = 4, /* guesses of a drawn loop, which runs show to be false */
    SHARE_CHILDREN = 64, /* programs that are asked: some milliseconds */
    MOST_THREADS = 64
};
#define SECOND_SOLVER "cvc5 --lang smt2 --incremental --rlimit-per=20000"

struct asking {
    struct checking *c;
    enum oracle_id oracle;
    struct answer *answer;
    struct prove_outcome outcome;
    uint64_t draw;
};

static struct asking asking(struct checking *c, enum oracle_id oracle)
{
    return (struct asking){.c = c,
                           .oracle = oracle,
                           .answer = &c->result->answers[oracle],
                           .draw = c->options->seed ^ (uint64_t)oracle};
}

/* ---- what is said ---- */

static struct divergence *diverge(struct asking *x, const char *class, const char *observable,
                                  int goal, const char *other, const char *summary)
{
    struct evidence e;
    struct divergence *d = ARENA_NEW(x->c->arena, struct divergence);
    evidence_open(&e, x->c->arena);
    if (goal < GOAL_COUNT) {
        const struct goal_outcome *outcome = &x->outcome.goals[goal];
        evidence_string(&e, "goal", proof_goal_names[goal]);
        evidence_string(&e, "verdict", prove_verdict_names[outcome->verdict]);
        evidence_string(&e, "why", outcome->why);
    }
    if (other)
        evidence_string(&e, "other", other);
    *d = (struct divergence){.oracle = x->oracle,
                             .class_name = class,
                             .rule = RULE_NONE,
                             .observable = observable,
                             .subject = SUBJECT_INTERLEAVE,
                             .summary = summary};
    d->evidence = evidence_close(&e);
    answer_diverge(x->answer, d);
    return d;
}

/* What the encoding says, of executions or of what is drawn: whoever asks, the same part is wrong. Where an operation
 * of formulas is at fault this is the part, whatever was seen of it. */
static struct divergence *diverge_encoding(struct asking *x, const struct retrace_fault *fault,
                                           const char *other, bool drawn)
{
    const struct retrace_fault terms = drawn_terms_cause(x->c->arena);
    if (terms.what) {
        fault = &terms;
        drawn = true;
    }
    struct divergence *d = diverge(x, "encoding", fault->what, GOAL_COUNT, other, fault->why);
    d->part = fault->what;
    d->drawn = drawn;
    return d;
}

static struct solver *new_solver(struct asking *x, const char *second, uint32_t questions)
{
    const struct solver_options options = {.command = SOLVER_COMMAND,
                                           .budget = SOLVER_BUDGET / BUDGET_SHARE,
                                           .seconds = SECONDS,
                                           .questions = questions,
                                           .second = second,
                                           .keeper = x->c->options->solvers};
    return solver_new(x->c->arena, &options);
}

/* Each question has a draw of its own. */
static bool drawn(struct asking *x, uint32_t share)
{
    x->draw = pcg_splitmix(x->draw);
    return x->draw % share == 0;
}

/* ---- proofs and models against executions; a second solver ---- */

static void judge_faults(struct asking *x)
{
    for (int goal = 0; goal < GOAL_COUNT; goal++) {
        const struct goal_outcome *outcome = &x->outcome.goals[goal];
        const struct retrace_fault seen = {proof_goal_names[goal], outcome->why};
        x->answer->checked += outcome->verdict == SAYS_PROVED || outcome->verdict == SAYS_REFUTED;
        if (outcome->fault != FAULT_NOT && drawn_terms_cause(x->c->arena).what)
            diverge_encoding(x, &seen, NULL, true);
        else if (outcome->fault == FAULT_UNSOUND)
            diverge(x, "unsound", proof_goal_names[goal], goal, NULL, outcome->why);
        else if (outcome->fault == FAULT_REPLAY)
            diverge(x, "replay", proof_goal_names[goal], goal, NULL, outcome->why);
    }
}

static void judge_kernel(struct asking *x)
{
    struct checking *c = x->c;
    const char *second = drawn(x, SHARE_SECOND) ? SECOND_SOLVER : NULL;
    struct solver *solver = new_solver(x, second, QUESTIONS);
    prove_judge(c->arena, c->result->kernel, &PROOF_DEFAULTS, solver, RUNS, &x->outcome);
    prove_compare(c->arena, &x->outcome, c->result->runs, c->result->kernel->launch.seed);
    solver_end(solver);
    if (solver_counts(solver).disagreed > 0)
        diverge(x, "solver", "unsat", GOAL_RACE, second,
                arena_printf(c->arena, "%s", solver_reason(solver)));
    judge_faults(x);
}

/* ---- what the encoding says of executions ---- */

/* A proof by unrolling alone is one that nobody goes on. */
static bool has_ended(const struct proof_answer *answer)
{
    return answer->verdict == PROOF_PROVED && answer->method &&
           strncmp(answer->method, "unrolled", 8) == 0;
}

/* Whether it is a program of sums, of which one execution shows what all do (fuzz/case/plan.c): one of `crs`, and no
 * other subject, is asked for. */
static bool is_of_sums(const struct checking *c)
{
    return c->options->schedules == 1 && c->options->subjects == SUBJECT_BIT(SUBJECT_CRS);
}

/* Without a solver: how many pairs of threads were retraced. */
static uint32_t judge_encoding(struct asking *x)
{
    struct checking *c = x->c;
    uint32_t pairs = 0;
    struct retrace_claims claims = {.cut = x->outcome.result.cut, .alike = is_of_sums(c)};
    for (int goal = 0; goal < GOAL_COUNT; goal++)
        claims.ends = claims.ends || has_ended(&x->outcome.result.answers[goal]);
    struct retrace_fault fault =
        retrace_executions(c->arena, forms_new(c->arena, c->result->kernel), claims,
                           pcg_splitmix(c->options->seed), &pairs);
    if (fault.what)
        diverge_encoding(x, &fault, fault.why, false);
    return pairs;
}

/* P with all its loops cut; NULL: it has none, or is not handled. */
static struct duo *walked(struct asking *x, const struct ast_kernel *kernel)
{
    struct proof_options *options = ARENA_NEW(x->c->arena, struct proof_options);
    const char *reason = NULL;
    *options = PROOF_DEFAULTS;
    options->counted = false;
    options->order = drawn(x, 2) ? x->draw : 0;
    struct duo *duo = duo_new(x->c->arena, forms_new(x->c->arena, kernel), options, 0, &reason);
    if (!duo)
        return NULL;
    duo->plain = true;
    duo_run(duo);
    return duo->reason || duo->cuts.count == 0 ? NULL : duo;
}

/* What is guessed of the loops, of which nothing is shown. */
static void guess(struct duo *duo)
{
    for (uint32_t i = 0; i < duo->cuts.count; i++) {
        struct loop_cut *cut = GROWN(duo->cuts, struct loop_cut *)[i];
        candidates_find(duo, cut);
        for (uint32_t n = 0; n < cut->candidate_count; n++)
            cut->candidates[n].kept = false;
    }
}

/* Of a small kernel that the case's seed draws: others hold much that is refused, and little that is rare. */
static void judge_drawn(struct asking *x)
{
    struct checking *c = x->c;
    uint32_t pairs = 0;
    uint64_t seed = pcg_splitmix(c->options->seed ^ ORACLE_PROVE);
    bool of_loops = seed % 6 == 1;
    const struct ast_kernel *kernel = seed % 3 == 0 ? small_blocks(c->arena, seed)
                                      : of_loops    ? small_loops(c->arena, seed)
                                                    : small_ptx(c->arena, seed);
    struct duo *guessed = of_loops ? walked(x, kernel) : NULL;
    if (guessed)
        guess(guessed);
    struct retrace_fault fault =
        retrace_executions(c->arena, forms_new(c->arena, kernel),
                           (struct retrace_claims){.cut = guessed}, seed, &pairs);
    if (fault.what)
        diverge_encoding(x, &fault, print_kernel(c->arena, kernel), true)->about = kernel;
}

/* What threads can do to each other, in a few statements. */
static void judge_pairs(struct asking *x)
{
    struct arena *arena = x->c->arena;
    for (uint32_t i = 0; i < TINY; i++) {
        const size_t mark = arena_mark(arena);
        const uint64_t seed = pcg_splitmix(x->c->options->seed ^ (TINY + i));
        const struct ast_kernel *kernel = small_pairs(arena, seed);
        uint32_t pairs = 0;
        struct retrace_fault fault = retrace_executions(
            arena, forms_new(arena, kernel), (struct retrace_claims){.alike = true}, seed, &pairs);
        if (fault.what) {
            diverge_encoding(x, &fault, print_kernel(arena, kernel), true)->about = kernel;
            return;
        }
        arena_release(arena, mark);
    }
}

/* Formulas by themselves, drawn by the case's seed. */
static void judge_terms(struct asking *x)
{
    struct retrace_fault fault =
        drawn_terms(x->c->arena, pcg_splitmix(x->c->options->seed ^ ORACLE_PAIRS));
    if (fault.what)
        diverge_encoding(x, &fault, NULL, true);
}

/* What is not of executions: what answers make of a proof, how they are read, which guesses are made; of small kernels,
 * by answers, that are drawn. */
static struct verdicts_fault judge_verdict(struct arena *arena, uint64_t seed,
                                           const struct ast_kernel **kernel)
{
    *kernel = seed % 4 == 0   ? small_blocks(arena, seed)
              : seed % 4 == 1 ? small_ptx(arena, seed)
                              : small_loops(arena, seed);
    struct verdicts_fault fault = verdicts_judge(arena, *kernel, seed);
    if (!fault.stage)
        fault = guesses_judge(arena, *kernel, seed >> 8);
    if (!fault.stage)
        fault = answers_judge(arena, seed);
    return fault.stage ? fault : laws_judge(arena, seed);
}

/* A fault shows at this stage or that, as the draw has it: the first of a list that is always the same names it. */
static const char *stage_of_list(struct arena *arena, const char *seen)
{
    const struct ast_kernel *kernel;
    for (uint64_t i = 0; i < LISTED; i++) {
        const size_t mark = arena_mark(arena);
        const struct verdicts_fault fault = judge_verdict(arena, pcg_splitmix(i), &kernel);
        if (fault.stage)
            return fault.stage;
        arena_release(arena, mark);
    }
    return seen;
}

static void judge_verdicts(struct asking *x)
{
    struct arena *arena = x->c->arena;
    for (uint32_t i = 0; i < VERDICTS; i++) {
        size_t mark = arena_mark(arena);
        uint64_t seed = pcg_splitmix(x->c->options->seed + i);
        const struct ast_kernel *kernel;
        const struct verdicts_fault fault = judge_verdict(arena, seed, &kernel);
        if (fault.stage) {
            const char *stage = stage_of_list(arena, fault.stage);
            const struct retrace_fault found = {arena_printf(arena, "verdict: %s", stage),
                                                fault.why};
            diverge_encoding(x, &found, print_kernel(arena, kernel), true);
            return;
        }
        arena_release(arena, mark);
    }
}

static void judge_clauses(struct asking *x)
{
    struct arena *arena = x->c->arena;
    size_t mark = arena_mark(arena);
    const struct ast_kernel *kernel = small_loops(arena, x->draw);
    struct duo *duo = walked(x, kernel);
    const char *why = duo ? horn_text_judge(arena, duo, x->draw) : NULL;
    if (why)
        diverge_encoding(x, &(struct retrace_fault){"horn", why}, print_kernel(arena, kernel),
                         true);
    else
        arena_release(arena, mark);
}

static void judge_rehearsal(struct asking *x)
{
    const size_t mark = arena_mark(x->c->arena);
    const char *text;
    const struct verdicts_fault fault = rehearsed_judge(x->c->arena, x->draw, &text);
    if (fault.stage)
        diverge_encoding(x,
                         &(struct retrace_fault){
                             arena_printf(x->c->arena, "verdict: %s", fault.stage), fault.why},
                         text, true);
    else
        arena_release(x->c->arena, mark);
}

static void judge_children(struct asking *x)
{
    size_t mark = arena_mark(x->c->arena);
    const struct verdicts_fault fault = children_judge(x->c->arena, x->draw);
    if (fault.stage)
        diverge_encoding(x, &(struct retrace_fault){fault.stage, fault.why}, NULL, true);
    else
        arena_release(x->c->arena, mark);
}

/* What solvers are told, and how. Its draws are its own: those of others are as before. */
static void judge_texts(struct asking *x)
{
    const uint64_t before = x->draw;
    x->draw ^= SHARE_CHILDREN;
    if (drawn(x, SHARE_CLAUSES))
        judge_clauses(x);
    if (drawn(x, SHARE_CHILDREN))
        judge_children(x);
    if (drawn(x, SHARE_REHEARSED))
        judge_rehearsal(x);
    x->draw = before;
}

/* ---- what is guessed of loops ---- */

/* What Houdini keeps of all loops, where the proof needs it or not; mostly it is given few answers. With all of them
 * its invariants never contradict each other. */
static struct retrace_fault guesses_fault(struct asking *x, struct duo *duo)
{
    struct checking *c = x->c;
    const char *reason = NULL;
    uint32_t rounds = 0,
             questions = drawn(x, SHARE_WHOLE) ? QUESTIONS : 1 + (uint32_t)(x->draw / 64 % FEW);
    struct solver *solver = new_solver(x, NULL, questions);
    bool settled = houdini(duo, solver, &rounds, &reason);
    struct solver_counts counts = solver_counts(solver);
    struct retrace_fault fault = {NULL, NULL};
    solver_end(solver);
    if (counts.failed > 0 || duo->terms.full)
        return fault;
    if (!settled && counts.unknown == 0)
        return (struct retrace_fault){"invariant", reason};
    x->answer->checked++;
    solver = new_solver(x, NULL, QUESTIONS);
    fault = kept_judge(c->arena, duo, solver, counts.unknown == 0, x->draw);
    solver_end(solver);
    return fault;
}

/* Of the case's kernel, or of a small one of loops that its seed draws. */
static void judge_guesses(struct asking *x)
{
    struct checking *c = x->c;
    bool given = drawn(x, SHARE_GIVEN);
    uint32_t pairs = 0;
    const struct ast_kernel *kernel = given ? c->result->kernel : small_loops(c->arena, x->draw);
    struct duo *duo = walked(x, kernel);
    if (!duo)
        return;
    struct retrace_fault fault = guesses_fault(x, duo);
    if (!fault.what)
        fault = retrace_executions(c->arena, forms_new(c->arena, kernel),
                                   (struct retrace_claims){.cut = duo}, x->draw, &pairs);
    if (fault.what)
        diverge_encoding(x, &fault, print_kernel(c->arena, kernel), !given)->about =
            given ? NULL : kernel;
}

/* ---- any number of threads ---- */

/* The kernel for 2 to MOST_THREADS threads; NULL: its launch is not among these, or says something of their number. */
static const struct ast_kernel *of_any(struct asking *x, struct proof_options *options)
{
    const struct ast_kernel *given = x->c->result->kernel;
    struct diag *diag = ARENA_NEW(x->c->arena, struct diag);
    if (given->ptx || given->launch.threads < 2 || given->launch.threads > MOST_THREADS ||
        given->launch.blocks * MOST_THREADS > LIMIT_TOTAL_THREADS)
        return NULL;
    struct ast_kernel *kernel = ast_kernel_copy(x->c->arena, given);
    kernel->expects = NULL;
    kernel->launch.threads = options->threads_from = 2;
    options->threads_to = MOST_THREADS;
    diag_init(diag, "any", NULL, 0);
    return ast_check(kernel, diag) ? kernel : NULL;
}

/* What is proved for any number of threads: a model for the launch's is none in which a loop was cut. */
static void judge_any(struct asking *x)
{
    struct proof_options options = PROOF_DEFAULTS;
    struct proof_result result;
    const struct ast_kernel *kernel = of_any(x, &options);
    if (!kernel)
        return;
    struct solver *solver = new_solver(x, NULL, QUESTIONS);
    prove_kernel(x->c->arena, forms_new(x->c->arena, kernel), &options, solver, &result);
    solver_end(solver);
    for (int goal = 0; goal < GOAL_COUNT; goal++) {
        const struct proof_answer *one = &x->outcome.result.answers[goal];
        if (result.refused || result.answers[goal].verdict != PROOF_PROVED)
            continue;
        x->answer->checked++;
        if (one->verdict == PROOF_MODEL && one->model->by_unrolling)
            diverge(x, "mono", proof_goal_names[goal], goal, result.answers[goal].method,
                    "it was proved for any number of threads, and the launch's has a model");
    }
}

/* ---- other texts ---- */

/* A goal that an execution shows to be missed; GOAL_COUNT: none. */
static int shown(const struct asking *x, int end)
{
    for (int goal = 0; goal < end; goal++)
        if (x->outcome.goals[goal].verdict == SAYS_REFUTED ||
            x->outcome.goals[goal].fault == FAULT_UNSOUND)
            return goal;
    return GOAL_COUNT;
}

/* Horn clauses are of all goals; only "safe" says something. */
static void judge_horn(struct asking *x)
{
    const char *reason = NULL;
    int goal = shown(x, GOAL_COUNT);
    const char *text = prove_horn_text(x->c->arena, forms_new(x->c->arena, x->c->result->kernel),
                                       &PROOF_DEFAULTS, &reason);
    if (!text || goal == GOAL_COUNT)
        return;
    struct solver *solver = new_solver(x, NULL, QUESTIONS);
    x->answer->checked++;
    if (solver_ask(solver, text, NULL, NULL, 0) == SOLVER_SAT)
        diverge(x, "form", "horn", goal, "Horn clauses: safe",
                "as Horn clauses the kernel is safe, and an execution shows that it is not");
    solver_end(solver);
}

/* Boogie's program is about races and barriers. */
static void judge_boogie(struct asking *x)
{
    const char *reason = NULL;
    int goal = shown(x, GOAL_BOUNDS);
    const char *text =
        goal == GOAL_COUNT
            ? NULL
            : sequential_print(x->c->arena, forms_new(x->c->arena, x->c->result->kernel),
                               SEQUENTIAL_BOOGIE, &reason);
    const char *said =
        text ? verifier_ask(x->c->arena, VERIFIER_BOOGIE, text, BOOGIE_SECONDS) : NULL;
    if (said && strstr(said, " 1 verified, 0 errors"))
        diverge(x, "form", "boogie", goal, "Boogie: 1 verified, 0 errors",
                "Boogie verifies the kernel, and an execution shows a fault");
}

/* ---- the answer ---- */

/* Why it is so says the first goal of which it is. */
static void answer_quietly(struct asking *x)
{
    const struct goal_outcome *goal = x->outcome.goals;
    enum outcome_verdict headline = prove_headline(&x->outcome);
    bool decided = headline == SAYS_PROVED || headline == SAYS_REFUTED;
    if (x->answer->verdict == VERDICT_DIVERGE)
        return;
    while (goal->verdict != headline)
        goal++;
    x->answer->verdict = decided ? VERDICT_AGREE : VERDICT_INCONCLUSIVE;
    x->answer->reason =
        decided ? arena_printf(x->c->arena, "%s: %s", prove_verdict_names[headline], goal->why)
                : goal->why;
}

static void answer_large(struct asking *x, int most)
{
    uint32_t pairs = judge_encoding(x);
    x->answer->checked = pairs;
    x->answer->reason =
        arena_printf(x->c->arena,
                     "a kernel of more than %d statements takes a solver too long beside a "
                     "campaign; %" PRIu32 " pairs of threads were retraced through executions",
                     most, pairs);
    if (pairs > 0 && x->answer->verdict != VERDICT_DIVERGE)
        x->answer->verdict = VERDICT_AGREE;
}

void prove_oracle_judge(struct checking *c)
{
    struct asking x = asking(c, ORACLE_PROVE);
    *x.answer = (struct answer){.verdict = VERDICT_NOT_APPLICABLE};
    int most = c->result->kernel->form == FORM_PTX ? INSTRUCTIONS : STATEMENTS;
    if (ast_kernel_size(c->result->kernel) > (uint32_t)most) {
        answer_large(&x, most);
        return;
    }
    judge_kernel(&x);
    if (x.outcome.result.refused) {
        x.answer->reason = x.outcome.result.refused;
        return;
    }
    x.answer->checked += judge_encoding(&x);
    judge_drawn(&x);
    judge_pairs(&x);
    judge_terms(&x);
    judge_verdicts(&x);
    judge_texts(&x);
    if (drawn(&x, SHARE_GUESSES))
        judge_guesses(&x);
    if (drawn(&x, SHARE_ANY))
        judge_any(&x);
    if (drawn(&x, SHARE_HORN))
        judge_horn(&x);
    if (drawn(&x, SHARE_BOOGIE))
        judge_boogie(&x);
    answer_quietly(&x);
}

void prove_encoding_judge(struct checking *c)
{
    struct asking x = asking(c, ORACLE_PAIRS);
    if (oracle_asked(c, ORACLE_PROVE))
        return;
    if (drawn(&x, SHARE_PAIRS))
        judge_encoding(&x);
    if (is_of_sums(c)) /* enough others have something drawn beside them */
        return;
    if (drawn(&x, SHARE_DRAWN))
        judge_drawn(&x);
    judge_pairs(&x);
    judge_terms(&x);
    judge_verdicts(&x);
    judge_texts(&x);
}
