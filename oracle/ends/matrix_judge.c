#include "oracle/ends/matrix_judge.h"

#include "engine/base/pcg.h"
#include "oracle/check/evidence.h"
#include "oracle/ends/implications.h"
#include "oracle/ends/liveness.h"
#include "oracle/matrix/matrix_witness.h"

#include <string.h>

/* Bounds of a case: milliseconds. */
static const struct matrix_options bounds = {.max_states = 384,
                                             .max_bytes = (uint64_t)16 << 20,
                                             .steps_a_state = 8,
                                             .budget_steps = 1024,
                                             .sample_steps = 1024,
                                             .refute_steps = 512};

/* A matrix that is asked for in another way: one case in SHARE of those that are asked, by its seed. */
enum { OTHER_UNMERGED, OTHER_SAMPLED, OTHER_SHARE = 12 };

/* Whose rows those of single threads are. */
static enum subject_id threads_of(const struct checking *c)
{
    return matrix_thread_subject(c->kernel->form);
}

static bool ends(const struct matrix_row *row)
{
    return row->verdict == PROGRESS_ENDS;
}

static bool hangs(const struct matrix_row *row)
{
    return row->verdict >= PROGRESS_MAY_HANG;
}

/* About the program that the case's subject has run: in some forms of a kernel a row is about another one. */
static bool is_own(const struct checking *c, const struct matrix_row *row)
{
    return row->program == c->subjects[row->subject].program && explore_runs(c, row->subject);
}

/* ---- reporting ---- */

static const struct tape *witness_tape(struct arena *arena, const struct matrix_row *row)
{
    struct tape *tape = tape_new(arena, row->stem->count + row->loop->count);
    for (uint32_t i = 0; i < row->stem->count; i++)
        tape_add(tape, row->stem->entries[i]);
    for (uint32_t i = 0; i < row->loop->count; i++)
        tape_add(tape, row->loop->entries[i]);
    return tape;
}

static void report(struct checking *c, struct answer *answer, const struct matrix_row *row,
                   const char *class_name, const char *observable, const char *seen)
{
    struct divergence *d = ARENA_NEW(c->arena, struct divergence);
    const char *name = arena_printf(c->arena, "%s %s", matrix_unit_names[row->unit], row->model);
    struct evidence e;
    evidence_open(&e, c->arena);
    evidence_string(&e, "subject", subject_table[row->subject].name);
    evidence_string(&e, "row", name);
    evidence_string(&e, "verdict", matrix_verdict(row));
    if (row->why)
        evidence_string(&e, "why", row->why);
    if (row->sentence)
        evidence_string(&e, "sentence", row->sentence);
    if (row->loop) {
        evidence_string(&e, "stem", tape_print(c->arena, row->stem));
        evidence_string(&e, "loop", tape_print(c->arena, row->loop));
    }
    evidence_string(&e, "seen", seen);
    *d = (struct divergence){.oracle = ORACLE_LIVENESS,
                             .class_name = class_name,
                             .rule = RULE_NONE,
                             .observable = observable,
                             .subject = row->subject,
                             .evidence = evidence_close(&e)};
    if (strcmp(class_name, "matrix-witness") == 0) { /* as those of drawn kernels (searches.c) */
        d->part = "witnesses";
        d->like = "searches";
    }
    if (row->loop && is_own(c, row))
        d->tape = witness_tape(c->arena, row);
    d->summary = arena_printf(c->arena, "%s: %s, but %s", name, matrix_verdict(row), seen);
    answer_diverge(answer, d);
}

/* ---- what the case has seen ---- */

static uint32_t ended(const struct check_run *run)
{
    uint32_t count = 0;
    for (int s = 0; s < STATUS_COUNT; s++)
        if (s != STATUS_NONTERMINATING && s != STATUS_STEP_LIMIT)
            count += run->statuses[s];
    return count;
}

/* Rows that are about all executions of the subject in which some actors are let run. */
static void judge_run(struct checking *c, struct answer *answer, const struct matrix_row *row)
{
    const struct check_run *run = &c->result->runs[row->subject];
    const struct lasso_probe *probe = c->probes[row->subject];
    if (row->verdict == PROGRESS_HANGS && ended(run) > 0)
        report(c, answer, row, "matrix-seen", row->model, "an execution ends");
    if (ends(row) && (run->fair_lasso || (probe && probe->proven)))
        report(c, answer, row, "matrix-seen", row->model,
               "an execution runs for ever that starves nobody");
}

/* The search of the case, without merged steps, knows whether anything hangs at all, and whether fairly. */
static void judge_search(struct checking *c, struct answer *answer, const struct matrix_row *row)
{
    const struct search_result *search = c->result->runs[row->subject].search;
    if (!search || !search->complete || search->liveness == LIVENESS_UNKNOWN)
        return;
    bool all_end = search->liveness == LIVENESS_ALL_TERMINATE;
    bool unfair = strcmp(row->model, progress_table[PROGRESS_UNFAIR].name) == 0;
    bool fair = row->subject != threads_of(c) || /* its actors are the units */
                (row->unit == MATRIX_THREADS &&
                 strcmp(row->model, progress_table[PROGRESS_FAIR].name) == 0);
    if (all_end && hangs(row))
        report(c, answer, row, "matrix-seen", row->model, "all executions of the search end");
    else if (unfair && !all_end && ends(row))
        report(c, answer, row, "matrix-seen", row->model, "the search has an infinite execution");
    else if (fair && search->liveness == LIVENESS_UNFAIR_LASSO && hangs(row))
        report(c, answer, row, "matrix-seen", row->model,
               "every fair execution of the search ends");
    else if (!row->sampled && !search->cut && hangs(row) &&
             (search->outcome_count == 0) != (row->verdict == PROGRESS_HANGS))
        report(c, answer, row, "matrix-seen", row->model,
               search->outcome_count ? "an execution of the search ends"
                                     : "no execution of the search ends");
}

/* implications_ask has asked about single threads on the graph of the case's search. */
static void judge_progress(struct checking *c, struct answer *answer, const struct matrix_row *row)
{
    const struct progress *progress = c->progress[row->subject];
    for (int m = 0; progress && m < PROGRESS_MODEL_COUNT; m++) {
        enum progress_verdict other = progress->answers[m].verdict;
        if (strcmp(row->model, progress_table[m].name) != 0 || other == PROGRESS_UNKNOWN ||
            row->verdict == PROGRESS_UNKNOWN)
            continue;
        if (row->sampled ? other == PROGRESS_ENDS : other != row->verdict)
            report(c, answer, row, "matrix-seen", row->model,
                   arena_printf(c->arena, "on the graph of all single steps: %s",
                                progress_verdict_names[other]));
    }
}

/* Executions of the case under the policy of a row. */
static void judge_policy(struct checking *c, struct answer *answer, const struct matrix_row *row)
{
    for (uint32_t i = 0; i < c->execution_count && row->verdict == PROGRESS_HANGS; i++) {
        const struct execution *e = c->executions[i];
        if (e->subject != row->subject || e->spec.kind != SCHED_STACKLESS || e->searched ||
            e->status == STATUS_STEP_LIMIT || e->status == STATUS_NONTERMINATING ||
            strcmp(sched_name(c->arena, &e->spec), row->model) != 0)
            continue;
        report(c, answer, row, "matrix-seen", row->model, "its execution ends");
        return;
    }
}

/* Where every warp is one thread, groups are threads: from each state the end is reached by some of them, or not. */
static void judge_random(struct checking *c, struct answer *answer, const struct matrix *matrix,
                         const struct matrix_row *row)
{
    for (uint32_t i = 0; i < matrix->count && row->program->launch.warp == 1; i++) {
        const struct matrix_row *fair = &matrix->rows[i];
        if (fair->unit != MATRIX_THREADS || !fair->has_strong || row->verdict == PROGRESS_UNKNOWN ||
            strcmp(fair->model, progress_table[PROGRESS_FAIR].name) != 0 ||
            ends(row) == fair->strong)
            continue;
        report(c, answer, row, "matrix-seen", row->model,
               fair->strong ? "the end is reached from every state"
                            : "from some state the end is not reached");
    }
}

static void judge_seen(struct checking *c, struct answer *answer, const struct matrix *matrix,
                       const struct matrix_row *row)
{
    if (row->verdict == PROGRESS_UNKNOWN || !is_own(c, row))
        return;
    if (!matrix_is_policy(row)) {
        judge_run(c, answer, row);
        judge_search(c, answer, row);
    } else if (strcmp(row->model, "stackless:random") == 0) {
        judge_random(c, answer, matrix, row);
    } else {
        judge_policy(c, answer, row);
    }
    if (row->unit == MATRIX_THREADS)
        judge_progress(c, answer, row);
}

/* ---- a matrix ---- */

static void judge_witness(struct checking *c, struct answer *answer, const struct matrix_row *row)
{
    if (!hangs(row))
        return;
    struct witness_fault fault = {"tape", "there is none"};
    if (row->stem && row->loop)
        fault = matrix_witness(c->arena, row, c->options->seed);
    if (fault.observable)
        report(c, answer, row, "matrix-witness", fault.observable, fault.text);
}

static void judge_lemma6(struct checking *c, struct answer *answer,
                         const struct matrix_lemma6 *lemma)
{
    if (!lemma || !lemma->refutation.found)
        return;
    const char *wrong = lemma6_replay(c->arena, c->program, &lemma->refutation);
    if (wrong)
        implications_report(c, answer, threads_of(c), "lemma-6", "refutation",
                            arena_printf(c->arena, "%s; played again: %s", lemma->sentence, wrong));
}

/* One row that hangs and is about who is let run, drawn. */
static void judge_definition(struct checking *c, struct answer *answer, const struct matrix *matrix)
{
    uint32_t count = 0;
    const struct matrix_row *drawn = NULL;
    for (uint32_t i = 0; i < matrix->count; i++) {
        const struct matrix_row *row = &matrix->rows[i];
        if (!hangs(row) || !row->loop || matrix_is_policy(row))
            continue;
        count++;
        if (pcg_splitmix(c->options->seed + count) % count == 0)
            drawn = row;
    }
    struct witness_fault fault = {.observable = NULL};
    if (drawn)
        fault = matrix_definition(c->arena, drawn);
    if (fault.observable)
        report(c, answer, drawn, "matrix-witness", fault.observable, fault.text);
}

void matrix_judge_rows(struct checking *c, const struct matrix *matrix, struct answer *answer)
{
    if (matrix->broken)
        implications_report(c, answer, threads_of(c), "matrix", "implication", matrix->broken);
    judge_lemma6(c, answer, matrix->lemma6);
    for (uint32_t i = 0; i < matrix->count; i++) {
        judge_seen(c, answer, matrix, &matrix->rows[i]);
        judge_witness(c, answer, &matrix->rows[i]);
    }
    judge_definition(c, answer, matrix);
}

/* ---- asked in another way ---- */

static bool contradict(const struct matrix_row *a, const struct matrix_row *b)
{
    if (a->verdict == PROGRESS_UNKNOWN || b->verdict == PROGRESS_UNKNOWN)
        return false;
    if (a->sampled || b->sampled)
        return ends(a) != ends(b);
    return a->verdict != b->verdict || (a->has_strong && b->has_strong && a->strong != b->strong);
}

void matrix_judge_other(struct checking *c, const struct matrix *matrix, const struct matrix *other,
                        struct answer *answer)
{
    for (uint32_t i = 0; i < other->count; i++) {
        const struct matrix_row *again = &other->rows[i];
        const struct matrix_row *row = matrix_find(matrix, again->model, again->unit);
        if (row && contradict(row, again))
            report(c, answer, row, "matrix-other", row->model,
                   arena_printf(c->arena, "asked in another way: %s%s (%s)", matrix_verdict(again),
                                again->has_strong && again->strong ? ", ends if strongly fair" : "",
                                again->why));
        judge_witness(c, answer, again);
    }
}

static void judge_other(struct checking *c, const struct matrix *matrix, struct answer *answer)
{
    struct matrix_options options = bounds;
    uint64_t way = pcg_splitmix(c->options->seed) % OTHER_SHARE;
    if (way != OTHER_UNMERGED && way != OTHER_SAMPLED)
        return;
    options.seed = c->options->seed;
    options.again = matrix;
    if (way == OTHER_SAMPLED) {
        options.max_states = 1;
        options.sample_steps = 256;
    } else {
        options.no_merging = true;
    }
    const struct matrix other = matrix_of(c->forms, &options);
    matrix_judge_other(c, matrix, &other, answer);
}

/* ---- in other forms ---- */

void matrix_judge_form(struct checking *c, const struct matrix *matrix, const struct matrix *other,
                       struct answer *answer)
{
    for (uint32_t i = 0; i < other->count; i++) {
        const struct matrix_row *there = &other->rows[i];
        const struct matrix_row *row = matrix_find(matrix, there->model, there->unit);
        if (row && !matrix_is_policy(row) && contradict(row, there))
            report(c, answer, row, "matrix-form", row->model,
                   arena_printf(c->arena, "as %s: %s (%s)", subject_table[there->subject].name,
                                matrix_verdict_text(c->arena, there), there->why));
    }
}

static void judge_forms(struct checking *c, const struct matrix *matrix, struct answer *answer)
{
    enum subject_id own = threads_of(c);
    /* Barriers with jumps out of loops are other barriers in block form. */
    if (c->program && c->program->barrier_count > 0 && (c->scopes_differ || c->incomparable))
        return;
    for (uint32_t i = 0; i < MATRIX_FORMS && c->kernel->form != FORM_PTX; i++) {
        enum subject_id other = matrix_thread_subjects[i];
        if (other == own || !matrix_forms_agree(c->forms, own, other))
            continue;
        const struct matrix there = matrix_of_form(c->forms, other, &bounds);
        matrix_judge_form(c, matrix, &there, answer);
    }
}

/* Two cases in three: it costs. */
static bool is_asked(const struct checking *c)
{
    enum { ASKED_SHARE = 3 };
    return c->options->exhaustive && pcg_splitmix(c->options->seed + 1) % ASKED_SHARE != 0 &&
           c->options->oracles >> ORACLE_LIVENESS & 1 && explore_runs(c, threads_of(c));
}

void matrix_judge(struct checking *c, struct answer *answer)
{
    if (!is_asked(c))
        return;
    struct matrix_options options = bounds;
    options.seed = c->options->seed;
    const struct matrix matrix = matrix_of(c->forms, &options);
    matrix_judge_rows(c, &matrix, answer);
    judge_other(c, &matrix, answer);
    judge_forms(c, &matrix, answer);
}
