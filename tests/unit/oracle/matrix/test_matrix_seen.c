/* A row of a termination matrix against what the case has seen: every combination of a verdict, of who is asked about
 * and of what a search, the graph of single steps, an execution or another matrix says, held to the definition. */
#include "tests/unit/shared/checking.h"

#include "engine/schedule/tape.h"
#include "oracle/check/record.h"
#include "oracle/ends/implications.h"
#include "oracle/ends/liveness.h"
#include "oracle/ends/matrix_judge.h"

static const char TEXT[] = "launch(threads = 4, warp = 2, blocks = 2); shared int x; kernel k() {"
                           " while (x == 0) x = x + 1; }";
static const char ALONE[] = "launch(threads = 2, warp = 1); shared int x; kernel k() {"
                            " while (x == 0) x = x + 1; }";

struct fixture {
    struct checking c;
    struct check_result result;
    struct check_options options;
    struct matrix_row rows[2];
    struct matrix matrix;
};

static void prepare(struct fixture *f, const char *text)
{
    memset(f, 0, sizeof *f);
    f->options = CHECK_DEFAULTS;
    f->options.subjects =
        SUBJECT_BIT(SUBJECT_THREADS) | SUBJECT_BIT(SUBJECT_SIMT) | SUBJECT_BIT(SUBJECT_INTERLEAVE);
    f->c = checking_of(text, &f->options, &f->result);
    explore_prepare(&f->c);
    f->matrix = (struct matrix){.rows = f->rows, .count = 1};
}

static struct matrix_row row_about(const struct fixture *f, enum subject_id subject,
                                   enum matrix_unit unit, const char *model,
                                   enum progress_verdict verdict)
{
    return (struct matrix_row){.model = model,
                               .subject = subject,
                               .program = f->c.subjects[subject].program,
                               .unit = unit,
                               .verdict = verdict,
                               .why = "said so"};
}

/* The sentences of a class, "; " between them; "" for none. */
static const char *sentences(const struct answer *answer, const char *class_name)
{
    const char *all = "";
    for (const struct divergence *d = answer->divergence; d; d = d->next)
        if (strcmp(d->class_name, class_name) == 0)
            all = arena_printf(&test_arena, "%s%s%s", all, *all ? "; " : "", d->summary);
    return all;
}

static const char *seen(struct fixture *f)
{
    struct answer answer = {.verdict = VERDICT_AGREE};
    matrix_judge_rows(&f->c, &f->matrix, &answer);
    return sentences(&answer, "matrix-seen");
}

static const char *sentence(const struct matrix_row *row, const char *what)
{
    return what ? arena_printf(&test_arena, "%s %s: %s, but %s", matrix_unit_names[row->unit],
                               row->model, matrix_verdict(row), what)
                : "";
}

static bool hangs(const struct matrix_row *row)
{
    return row->verdict == PROGRESS_MAY_HANG || row->verdict == PROGRESS_HANGS;
}

/* ---- the case's search ---- */

static const char *by_search(const struct matrix_row *row, const struct search_result *s)
{
    bool of_threads = row->subject == SUBJECT_THREADS;
    bool is_fair = !of_threads || (row->unit == MATRIX_THREADS && strcmp(row->model, "fair") == 0);
    if (!s->complete || s->liveness == LIVENESS_UNKNOWN || row->verdict == PROGRESS_UNKNOWN)
        return NULL;
    if (s->liveness == LIVENESS_ALL_TERMINATE && hangs(row))
        return "all executions of the search end";
    if (s->liveness != LIVENESS_ALL_TERMINATE && !hangs(row) && strcmp(row->model, "unfair") == 0)
        return "the search has an infinite execution";
    if (s->liveness == LIVENESS_UNFAIR_LASSO && hangs(row) && is_fair)
        return "every fair execution of the search ends";
    if (row->sampled || s->cut || !hangs(row))
        return NULL;
    if (row->verdict == PROGRESS_HANGS && s->outcome_count > 0)
        return "an execution of the search ends";
    if (row->verdict == PROGRESS_MAY_HANG && s->outcome_count == 0)
        return "no execution of the search ends";
    return NULL;
}

static const enum search_liveness livenesses[] = {LIVENESS_UNKNOWN, LIVENESS_ALL_TERMINATE,
                                                  LIVENESS_UNFAIR_LASSO, LIVENESS_FAIR_LASSO};

static void test_search(void **state)
{
    static const struct {
        enum subject_id subject;
        const char *model;
        enum matrix_unit unit;
    } who[] = {
        {SUBJECT_THREADS, "unfair", MATRIX_THREADS}, {SUBJECT_THREADS, "fair", MATRIX_THREADS},
        {SUBJECT_THREADS, "fair", MATRIX_BLOCKS},    {SUBJECT_THREADS, "obe", MATRIX_THREADS},
        {SUBJECT_THREADS, "unfair", MATRIX_WARPS},   {SUBJECT_SIMT, "simt", MATRIX_WARPS}};
    (void)state;
    struct fixture f;
    prepare(&f, TEXT);
    for (uint32_t bits = 0; bits < 4 * 4 * 16 * 6; bits++) {
        size_t mark = arena_mark(&test_arena);
        struct search_result s = {.complete = bits >> 4 & 1,
                                  .cut = bits >> 5 & 1 ? "a bound" : NULL,
                                  .liveness = livenesses[bits & 3],
                                  .outcome_count = bits >> 6 & 1};
        uint32_t w = bits >> 8;
        struct matrix_row *row = &f.rows[0];
        *row = row_about(&f, who[w].subject, who[w].unit, who[w].model,
                         (enum progress_verdict)(bits >> 2 & 3));
        row->sampled = bits >> 7 & 1;
        f.result.runs[row->subject].search = &s;
        assert_string_equal(seen(&f), sentence(row, by_search(row, &s)));
        /* Nothing is said where there was no search, or of another program. */
        const struct program other = *row->program;
        row->program = &other;
        assert_string_equal(seen(&f), "");
        row->program = f.c.subjects[row->subject].program;
        f.result.runs[row->subject].search = NULL;
        assert_string_equal(seen(&f), "");
        arena_release(&test_arena, mark);
    }
}

/* ---- executions ---- */

static void test_executions(void **state)
{
    static const enum status statuses[] = {
        STATUS_TERMINATED, STATUS_ASSERT_FAILS,   STATUS_OUT_OF_BOUNDS, STATUS_DEADLOCK,
        STATUS_STEP_LIMIT, STATUS_NONTERMINATING, STATUS_BARRIER_ERROR, STATUS_COUNT};
    (void)state;
    struct fixture f;
    prepare(&f, TEXT);
    for (uint32_t v = 0; v <= PROGRESS_HANGS; v++)
        for (uint32_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
            bool ended = statuses[i] != STATUS_STEP_LIMIT && statuses[i] != STATUS_NONTERMINATING &&
                         statuses[i] != STATUS_COUNT;
            struct check_run *run = &f.result.runs[SUBJECT_SIMT];
            f.rows[0] = row_about(&f, SUBJECT_SIMT, MATRIX_WARPS, "simt", (enum progress_verdict)v);
            memset(run->statuses, 0, sizeof run->statuses);
            if (statuses[i] != STATUS_COUNT)
                run->statuses[statuses[i]] = 1;
            assert_string_equal(
                seen(&f),
                sentence(&f.rows[0], ended && v == PROGRESS_HANGS ? "an execution ends" : NULL));
        }
    memset(f.result.runs[SUBJECT_SIMT].statuses, 0, sizeof f.result.runs[0].statuses);
    for (uint32_t v = 0; v <= PROGRESS_HANGS; v++)
        for (uint32_t how = 0; how < 4; how++) {
            struct lasso_probe probe = {.proven = how == 2};
            f.rows[0] = row_about(&f, SUBJECT_SIMT, MATRIX_WARPS, "simt", (enum progress_verdict)v);
            f.result.runs[SUBJECT_SIMT].fair_lasso = how == 1;
            f.c.probes[SUBJECT_SIMT] = how >= 2 ? &probe : NULL;
            bool speaks = v == PROGRESS_ENDS && (how == 1 || how == 2);
            assert_string_equal(
                seen(&f),
                sentence(&f.rows[0],
                         speaks ? "an execution runs for ever that starves nobody" : NULL));
        }
}

/* An execution under the policy of the row, and each thing in which it may be another one. */
static void test_policy(void **state)
{
    (void)state;
    struct fixture f;
    prepare(&f, TEXT);
    const struct execution good = {
        .subject = SUBJECT_THREADS,
        .status = STATUS_TERMINATED,
        .spec = {.kind = SCHED_STACKLESS, .stackless = {.policy = STACKLESS_MINPC}}};
    struct execution others[7], two = good, *list[2] = {&others[0], &two};
    for (uint32_t i = 0; i < 7; i++)
        others[i] = good;
    others[1].subject = SUBJECT_SIMT;
    others[2].status = STATUS_STEP_LIMIT;
    others[3].status = STATUS_NONTERMINATING;
    others[4].searched = true;
    others[5].spec.kind = SCHED_ROUND_ROBIN;
    others[6].spec.stackless.policy = STACKLESS_OLDEST;
    f.c.executions = list;
    for (uint32_t v = 0; v <= PROGRESS_HANGS; v++)
        for (uint32_t i = 0; i < 7; i++) {
            f.rows[0] = row_about(&f, SUBJECT_THREADS, MATRIX_WARPS, "stackless:minpc",
                                  (enum progress_verdict)v);
            list[0] = &others[i];
            f.c.execution_count = 1;
            const char *ends = sentence(&f.rows[0], "its execution ends");
            bool speaks = v == PROGRESS_HANGS;
            assert_string_equal(seen(&f), speaks && i == 0 ? ends : "");
            f.c.execution_count = 2; /* behind the one that is another there is one that it is */
            assert_string_equal(seen(&f), speaks ? ends : "");
            f.c.execution_count = 0;
            assert_string_equal(seen(&f), "");
        }
}

/* ---- groups chosen at random, where every warp is one thread ---- */

static void test_random(void **state)
{
    static const char *const texts[] = {TEXT, ALONE};
    (void)state;
    for (uint32_t t = 0; t < 2; t++) {
        struct fixture f;
        prepare(&f, texts[t]);
        f.matrix.count = 2;
        for (uint32_t bits = 0; bits < 4 * 32; bits++) {
            size_t mark = arena_mark(&test_arena);
            struct matrix_row *row = &f.rows[bits >> 6 & 1], *fair = &f.rows[!(bits >> 6 & 1)];
            *row = row_about(&f, SUBJECT_THREADS, MATRIX_WARPS, "stackless:random",
                             (enum progress_verdict)(bits & 3));
            *fair = row_about(&f, SUBJECT_THREADS, bits >> 2 & 1 ? MATRIX_WARPS : MATRIX_THREADS,
                              bits >> 3 & 1 ? "obe" : "fair", PROGRESS_MAY_HANG);
            fair->has_strong = bits >> 4 & 1;
            fair->strong = bits >> 5 & 1;
            bool comparable =
                t == 1 && !(bits >> 2 & 3) && fair->has_strong && row->verdict != PROGRESS_UNKNOWN;
            bool differs = (row->verdict == PROGRESS_ENDS) != fair->strong;
            const char *what = !comparable || !differs ? NULL
                               : fair->strong          ? "the end is reached from every state"
                                                       : "from some state the end is not reached";
            assert_string_equal(seen(&f), sentence(row, what));
            arena_release(&test_arena, mark);
        }
    }
}

/* ---- the graph of single steps ---- */

static void test_progress(void **state)
{
    (void)state;
    struct fixture f;
    prepare(&f, TEXT);
    struct progress progress = {.unit_count = 8};
    f.c.progress[SUBJECT_THREADS] = &progress;
    for (uint32_t m = 0; m < PROGRESS_MODEL_COUNT; m++)
        for (uint32_t bits = 0; bits < 64; bits++) {
            size_t mark = arena_mark(&test_arena);
            enum progress_verdict other = (enum progress_verdict)(bits >> 2 & 3);
            memset(progress.answers, 0, sizeof progress.answers);
            progress.answers[m].verdict = other;
            struct matrix_row *row = &f.rows[0];
            *row = row_about(&f, SUBJECT_THREADS, bits >> 4 & 1 ? MATRIX_BLOCKS : MATRIX_THREADS,
                             progress_table[m].name, (enum progress_verdict)(bits & 3));
            row->sampled = bits >> 5 & 1;
            bool known = other != PROGRESS_UNKNOWN && row->verdict != PROGRESS_UNKNOWN;
            bool differs = row->sampled ? other == PROGRESS_ENDS : other != row->verdict;
            const char *what = arena_printf(&test_arena, "on the graph of all single steps: %s",
                                            progress_verdict_names[other]);
            assert_string_equal(
                seen(&f),
                sentence(row, known && differs && row->unit == MATRIX_THREADS ? what : NULL));
            arena_release(&test_arena, mark);
        }
}

/* ---- a matrix that was asked for in another way ---- */

static bool contradict(const struct matrix_row *a, const struct matrix_row *b)
{
    if (a->verdict == PROGRESS_UNKNOWN || b->verdict == PROGRESS_UNKNOWN)
        return false;
    if (a->sampled || b->sampled) /* a hang, that is all */
        return (a->verdict == PROGRESS_ENDS) != (b->verdict == PROGRESS_ENDS);
    return a->verdict != b->verdict || (a->has_strong && b->has_strong && a->strong != b->strong);
}

static void test_other(void **state)
{
    (void)state;
    struct fixture f;
    prepare(&f, TEXT);
    for (uint32_t bits = 0; bits < 32 * 32; bits++) {
        size_t mark = arena_mark(&test_arena);
        struct matrix_row pair[2];
        for (uint32_t i = 0; i < 2; i++) {
            uint32_t b = bits >> (5 * i);
            pair[i] = row_about(&f, SUBJECT_THREADS, MATRIX_THREADS, "obe",
                                (enum progress_verdict)(b & 3));
            pair[i].sampled = b >> 2 & 1;
            pair[i].has_strong = b >> 3 & 1;
            pair[i].strong = b >> 4 & 1;
        }
        const struct matrix other = {.rows = &pair[1], .count = 1};
        struct answer answer = {.verdict = VERDICT_AGREE};
        f.rows[0] = pair[0];
        matrix_judge_other(&f.c, &f.matrix, &other, &answer);
        const char *what = arena_printf(
            &test_arena, "asked in another way: %s%s (said so)", matrix_verdict(&pair[1]),
            pair[1].has_strong && pair[1].strong ? ", ends if strongly fair" : "");
        assert_string_equal(sentences(&answer, "matrix-other"),
                            sentence(&pair[0], contradict(&pair[0], &pair[1]) ? what : NULL));
        assert_string_equal(sentences(&answer, "matrix-witness"),
                            hangs(&pair[1]) ? sentence(&pair[1], "there is none") : "");
        arena_release(&test_arena, mark);
    }
}

/* ---- what is shown ---- */

static const struct tape *tape_of(const char *text)
{
    size_t column;
    const struct tape *tape = tape_parse(&test_arena, text, &column);
    assert_non_null(tape);
    return tape;
}

/* The whole evidence, and stem and loop one after the other; of another program no tape, which would not fit. */
static void test_report(void **state)
{
    (void)state;
    struct fixture f;
    prepare(&f, TEXT);
    f.result.runs[SUBJECT_SIMT].statuses[STATUS_TERMINATED] = 1;
    for (uint32_t bits = 0; bits < 8; bits++) {
        struct answer answer = {.verdict = VERDICT_AGREE};
        const struct program other = *f.c.subjects[SUBJECT_SIMT].program;
        struct matrix_row *row = &f.rows[0];
        *row = row_about(&f, SUBJECT_SIMT, MATRIX_WARPS, "simt", PROGRESS_HANGS);
        row->stem = bits & 1 ? tape_of("0 1 2") : NULL;
        row->loop = bits & 1 ? tape_of("3 0 1 1") : NULL;
        row->sentence = bits & 2 ? "thread 0 spins" : NULL;
        row->why = bits & 4 ? NULL : "said so";
        matrix_judge_rows(&f.c, &f.matrix, &answer);
        const struct divergence *d = answer.divergence;
        assert_non_null(d);
        const char *evidence =
            arena_printf(&test_arena,
                         "{\"subject\": \"simt\", \"row\": \"warps simt\", \"verdict\": \"hangs "
                         "always\"%s%s%s, \"seen\": "
                         "\"an execution ends\"}",
                         bits & 4 ? "" : ", \"why\": \"said so\"",
                         bits & 2 ? ", \"sentence\": \"thread 0 spins\"" : "",
                         bits & 1 ? ", \"stem\": \"0 1 2\", \"loop\": \"3 0 1*2\"" : "");
        assert_string_equal(d->evidence, evidence);
        assert_string_equal(divergence_signature(&test_arena, d), "liveness|matrix-seen|none|simt");
        assert_int_equal(d->subject, SUBJECT_SIMT);
        if (bits & 1)
            assert_string_equal(tape_print(&test_arena, d->tape), "0 1 2 3 0 1*2");
        else
            assert_null(d->tape);
        row->program = &other; /* only the witness is asked, and it is none */
        answer = (struct answer){.verdict = VERDICT_AGREE};
        matrix_judge_rows(&f.c, &f.matrix, &answer);
        assert_non_null(answer.divergence);
        assert_string_equal(answer.divergence->class_name, "matrix-witness");
        assert_null(answer.divergence->tape);
    }
}

/* ---- which cases ask, and in which way: by the seed ---- */

static void test_asked(void **state)
{
    (void)state;
    struct fixture f;
    uint32_t asked = 0;
    prepare(&f, "launch(threads = 2, warp = 2); kernel k() { }");
    f.options.exhaustive = true;
    for (f.options.seed = 0; f.options.seed < 60; f.options.seed++) {
        struct answer answer = {.verdict = VERDICT_AGREE};
        size_t mark = arena_mark(&test_arena);
        matrix_judge(&f.c, &answer);
        asked += arena_mark(&test_arena) != mark;
        assert_null(answer.divergence);
    }
    assert_in_range(asked, 30, 50); /* two in three */
    for (uint32_t without = 0; without < 3; without++) {
        f.options.exhaustive = without != 0;
        f.options.oracles = without == 1 ? 0 : CHECK_DEFAULTS.oracles;
        if (without == 2) /* nobody runs single threads */
            f.c.subjects[SUBJECT_THREADS].program = NULL;
        for (f.options.seed = 0; f.options.seed < 10; f.options.seed++) {
            struct answer answer = {.verdict = VERDICT_AGREE};
            size_t mark = arena_mark(&test_arena);
            matrix_judge(&f.c, &answer);
            assert_int_equal(arena_mark(&test_arena), mark);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_search, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_executions, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_policy, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_random, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_progress, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_other, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_report, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_asked, support_setup, support_teardown),
    };
    return cmocka_run_group_tests_name("matrix_seen", tests, NULL, NULL);
}
