/* The termination matrix of a case, held to account: an honest one is not spoken of, and one that is tampered with is,
 * by the class that is meant for it. */
#include "tests/unit/shared/checking.h"

#include "engine/schedule/tape.h"
#include "oracle/ends/implications.h"
#include "oracle/ends/liveness.h"
#include "oracle/ends/matrix_judge.h"
#include "oracle/matrix/matrix_witness.h"
#include "oracle/results/exhaust.h"

static const char P3[] =
    "launch(threads = 3, warp = 3); shared int x; kernel k() { while (x != tid) ;"
    " x = x + 1; }";
/* Every warp is one thread; thread 1 has finished when it hangs. */
static const char LOCK[] = "launch(threads = 2, warp = 1); shared int b; kernel k() { private int "
                           "x; if (tid) { while (x == 0) x = atomic_exch(b, 0); } }";
/* A unit that waits at a barrier. */
static const char BARRIER[] =
    "launch(threads = 2, warp = 1); shared int a; kernel k() { if (tid == 0) while (a == 0) ; "
    "barrier(); a = 1; }";
static const char MAYBE[] = "launch(threads = 2, warp = 1); shared int a; kernel k() { if (tid == "
                            "0) a = 1; else if (a == 0) while (1) ; }";

/* Between units that wait there are some that have finished, or not begun. */
static const char GAP[] = "launch(threads = 3, warp = 1); shared int x; kernel k() { if (tid != 1) "
                          "while (x == 0) ; }";
static const char GAPS[] = "launch(threads = 4, warp = 2); shared int x; kernel k() { if (tid == 0 "
                           "|| tid == 3) while (x == 0) ; }";

struct fixture {
    struct checking c;
    struct check_result result;
    struct check_options options;
    struct answer answer;
    struct matrix matrix;
};

static void search(struct fixture *f, const char *text)
{
    static const struct matrix_options bounds = {.max_states = 1 << 12,
                                                 .max_bytes = 1 << 24,
                                                 .budget_steps = 1 << 12,
                                                 .sample_steps = 1 << 12,
                                                 .refute_steps = 1 << 12};
    memset(f, 0, sizeof *f);
    f->options = CHECK_DEFAULTS;
    f->options.subjects = SUBJECT_BIT(SUBJECT_THREADS) | SUBJECT_BIT(SUBJECT_SIMT);
    f->options.exhaustive = true;
    f->c = checking_of(text, &f->options, &f->result);
    explore_prepare(&f->c);
    f->options.search = SEARCH_DEFAULTS;
    f->options.search.method = SEARCH_STATES;
    exhaust_search(&f->c);
    f->matrix = matrix_of(f->c.forms, &bounds);
}

static struct matrix_row *row_of(struct fixture *f, enum matrix_unit unit, const char *model)
{
    const struct matrix_row *row = matrix_find(&f->matrix, model, unit);
    assert_non_null(row);
    return &f->matrix.rows[row - f->matrix.rows];
}

static const char *said(const struct fixture *f)
{
    return f->answer.verdict == VERDICT_DIVERGE
               ? divergence_signature(&test_arena, f->answer.divergence)
               : NULL;
}

static const char *asked(struct fixture *f)
{
    f->answer = (struct answer){.verdict = VERDICT_AGREE};
    matrix_judge_rows(&f->c, &f->matrix, &f->answer);
    return said(f);
}

static void test_honest(void **state)
{
    static const char *const texts[] = {P3, LOCK, BARRIER, MAYBE, GAP, GAPS};
    (void)state;
    for (uint32_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct fixture f;
        search(&f, texts[i]);
        assert_null(asked(&f));
        /* The oracle itself, and both other ways of asking. */
        for (f.options.seed = 0; f.options.seed < 40; f.options.seed++)
            matrix_judge(&f.c, &f.answer);
        assert_null(said(&f));
    }
}

static void test_implication(void **state)
{
    (void)state;
    struct fixture f;
    search(&f, P3);
    f.matrix.broken = "said so";
    assert_string_equal(asked(&f), "liveness|matrix|none|implication");
}

static void set_ends(struct matrix_row *row)
{
    row->verdict = PROGRESS_ENDS;
    row->stem = row->loop = NULL;
}

static void test_seen(void **state)
{
    (void)state;
    struct fixture f;
    search(&f, P3);
    set_ends(row_of(&f, MATRIX_THREADS, "unfair")); /* the search has a lasso */
    assert_string_equal(asked(&f), "liveness|matrix-seen|none|unfair");
    search(&f, P3);
    set_ends(row_of(&f, MATRIX_THREADS, "obe")); /* the graph of single steps */
    assert_string_equal(asked(&f), "liveness|matrix-seen|none|obe");
    search(&f, P3);
    row_of(&f, MATRIX_THREADS, "hsa")->verdict = PROGRESS_HANGS; /* some execution ends */
    assert_string_equal(asked(&f), "liveness|matrix-seen|none|hsa");
    search(&f, P3);
    set_ends(row_of(&f, MATRIX_WARPS, "simt")); /* a proven lasso */
    f.result.runs[SUBJECT_SIMT].fair_lasso = true;
    assert_string_equal(asked(&f), "liveness|matrix-seen|none|simt");
    search(&f, P3);
    f.matrix.rows[0] = *row_of(&f, MATRIX_THREADS, "unfair"); /* an honest hang ... */
    f.matrix.rows[0].model = "fair";                          /* ... of a model that ends */
    assert_string_equal(asked(&f), "liveness|matrix-seen|none|fair");
}

static void test_policy(void **state)
{
    (void)state;
    struct fixture f;
    search(&f, P3);
    struct matrix_row *row = row_of(&f, MATRIX_WARPS, "stackless:minpc");
    assert_int_equal(row->verdict, PROGRESS_HANGS);
    struct execution e = {
        .subject = SUBJECT_THREADS,
        .status = STATUS_TERMINATED,
        .spec = {.kind = SCHED_STACKLESS, .stackless = {.policy = STACKLESS_MINPC}}};
    struct execution *list[] = {&e};
    f.c.executions = list;
    f.c.execution_count = 1;
    assert_string_equal(asked(&f), "liveness|matrix-seen|none|stackless:minpc");
}

/* Every warp is one thread: groups are threads. */
static void test_random(void **state)
{
    (void)state;
    struct fixture f;
    search(&f, MAYBE);
    struct matrix_row *row = row_of(&f, MATRIX_WARPS, "stackless:random");
    assert_int_equal(row->verdict, PROGRESS_MAY_HANG);
    set_ends(row);
    assert_string_equal(asked(&f), "liveness|matrix-seen|none|stackless:random");
}

/* ---- witnesses ---- */

static const char *witness(const struct matrix_row *row)
{
    return matrix_witness(&test_arena, row, 1).observable;
}

static const struct tape *tape(const char *text)
{
    size_t column;
    const struct tape *parsed = tape_parse(&test_arena, text, &column);
    assert_non_null(parsed);
    return parsed;
}

static void test_witness(void **state)
{
    (void)state;
    struct fixture f;
    search(&f, P3);
    struct matrix_row row = *row_of(&f, MATRIX_THREADS, "obe");
    assert_int_equal(row.verdict, PROGRESS_MAY_HANG);
    assert_null(witness(&row));
    row.model = "fair"; /* thread 1 or 2 need not step there */
    assert_string_equal(witness(&row), "fairness");
    row = *row_of(&f, MATRIX_THREADS, "unfair");
    row.stem = tape("7");
    assert_string_equal(witness(&row), "tape");
    row = *row_of(&f, MATRIX_THREADS, "unfair");
    row.loop = tape("0");
    assert_string_equal(witness(&row), "state");
    row.loop = tape("");
    assert_string_equal(witness(&row), "state");
    row = *row_of(&f, MATRIX_WARPS, "stackless:minpc");
    assert_null(witness(&row));
    row.model = "stackless:rr";
    assert_string_equal(witness(&row), "policy");
    search(&f, MAYBE);
    row = *row_of(&f, MATRIX_WARPS, "stackless:random");
    assert_null(witness(&row));
    search(&f, P3);
    row = *row_of(&f, MATRIX_THREADS, "unfair"); /* from there random groups do end */
    row.model = "stackless:random";
    row.unit = MATRIX_WARPS;
    assert_string_equal(witness(&row), "policy");
}

/* Of each row about actors that are let run both definitions say the same. */
static void test_definition(void **state)
{
    static const char *const texts[] = {P3, LOCK, BARRIER, MAYBE, GAP, GAPS};
    uint32_t count = 0;
    (void)state;
    for (uint32_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct fixture f;
        search(&f, texts[i]);
        for (uint32_t r = 0; r < f.matrix.count; r++) {
            const struct matrix_row *row = &f.matrix.rows[r];
            if (!row->loop || strncmp(row->model, "stackless:", 10) == 0)
                continue;
            assert_null(matrix_definition(&test_arena, row).observable);
            count++;
        }
    }
    assert_true(count > 20);
}

static void test_sentence(void **state)
{
    static const char *const wrong[] = {
        NULL,
        "",
        "thread 0 spins on x at line 1; no statement outside of the loop writes it",
        "threads 1 spin on x at line 1; no statement outside of the loop writes it",
        "thread 1 spins on y at line 1; no statement outside of the loop writes it",
        "thread 1 spins on x at line 2; no statement outside of the loop writes it",
        "thread 1 spins on x at line 1; line 1 writes it, and nobody gets there",
        "thread 1 spins on x at line 1; thread 1 would write it at line 1, but it has not begun",
        "thread 1 spins on x at line 1; thread 3 would write it at line 1, but it has not begun",
        "thread 1 spins on x at line 1; thread 0 would write it at line 9, but it has not begun",
        "thread 1 spins on x at line 1; thread 0 would write it at line 1, but it waits at the "
        "barrier of line 1",
        "the loop reads nothing that anybody else could write",
        "thread 1 runs for ever: all that the loop reads it writes",
    };
    (void)state;
    struct fixture f;
    search(&f, P3);
    struct matrix_row row = *row_of(&f, MATRIX_THREADS, "obe");
    assert_non_null(row.sentence);
    row.stem = tape("1*2"); /* thread 1 alone, which spins */
    row.loop = tape("1*2");
    row.sentence =
        "thread 1 spins on x at line 1; thread 0 would write it at line 1, but it has not begun";
    assert_null(witness(&row));
    for (uint32_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        row.sentence = wrong[i];
        assert_string_equal(witness(&row), "sentence");
    }
}

/* Thread 1 would count for ever, and nobody waits for it: it is let run for so many steps only. A wrong version never
 * comes back. */
static void test_sentence_about_one_that_counts(void **state)
{
    (void)state;
    struct fixture f;
    search(&f,
           "launch(threads = 2, warp = 1); shared int x; kernel k() { private int i; if (tid) { "
           "while (i != -1) i = i + 1; x = 1; } else while (x == 0) ; }");
    uint32_t sentences = 0;
    for (uint32_t r = 0; r < f.matrix.count; r++)
        sentences += f.matrix.rows[r].sentence != NULL;
    assert_true(sentences > 0);
}

/* ---- other ways ---- */

static void test_other(void **state)
{
    (void)state;
    struct fixture f;
    search(&f, P3);
    struct matrix other = f.matrix;
    other.rows = ARENA_ARRAY(&test_arena, struct matrix_row, other.count);
    memcpy(other.rows, f.matrix.rows, other.count * sizeof *other.rows);
    f.answer = (struct answer){.verdict = VERDICT_AGREE};
    matrix_judge_other(&f.c, &f.matrix, &other, &f.answer);
    assert_null(said(&f));
    struct matrix_row *obe = &other.rows[row_of(&f, MATRIX_THREADS, "obe") - f.matrix.rows];
    set_ends(obe);
    matrix_judge_other(&f.c, &f.matrix, &other, &f.answer);
    assert_string_equal(said(&f), "liveness|matrix-other|none|obe");
    *obe = *row_of(&f, MATRIX_THREADS, "obe");
    obe->strong = !obe->strong;
    f.answer = (struct answer){.verdict = VERDICT_AGREE};
    matrix_judge_other(&f.c, &f.matrix, &other, &f.answer);
    assert_string_equal(said(&f), "liveness|matrix-other|none|obe");
    obe->sampled = true; /* a sample knows neither */
    obe->verdict = PROGRESS_MAY_HANG;
    f.answer = (struct answer){.verdict = VERDICT_AGREE};
    matrix_judge_other(&f.c, &f.matrix, &other, &f.answer);
    assert_null(said(&f));
}

static const char *said_of_form(struct fixture *f, const struct matrix *there)
{
    f->answer = (struct answer){.verdict = VERDICT_AGREE};
    matrix_judge_form(&f->c, &f->matrix, there, &f->answer);
    return said(f);
}

/* The same kernel in blocks and in PTX: honest rows are the same, one that says something else is spoken of. */
static void test_form(void **state)
{
    static const char *const texts[] = {P3, LOCK, MAYBE, GAP, GAPS};
    (void)state;
    for (uint32_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (uint32_t k = 1; k < MATRIX_FORMS; k++) {
            struct fixture f;
            search(&f, texts[i]);
            struct matrix there =
                matrix_of_form(f.c.forms, matrix_thread_subjects[k], &MATRIX_DEFAULTS);
            assert_true(there.count >= PROGRESS_MODEL_COUNT);
            assert_null(said_of_form(&f, &there));
            struct matrix_row *hsa =
                &there.rows[matrix_find(&there, "hsa", MATRIX_THREADS) - there.rows];
            hsa->strong = !hsa->strong;
            assert_string_equal(said_of_form(&f, &there), "liveness|matrix-form|none|hsa");
            hsa->strong = !hsa->strong;
            hsa->verdict = hsa->verdict == PROGRESS_ENDS ? PROGRESS_HANGS : PROGRESS_ENDS;
            assert_string_equal(said_of_form(&f, &there), "liveness|matrix-form|none|hsa");
            hsa->verdict = PROGRESS_UNKNOWN;
            assert_null(said_of_form(&f, &there));
        }
}

/* Forms that cut a statement into other steps, which somebody else may come between; barriers of PTX. */
static void test_forms_agree(void **state)
{
    static const struct {
        const char *body;
        bool blocks, ptx; /* agree with the structured form */
    } rows[] = {
        {"if (tid) while (x == 0) ; else x = 1;", true, true},
        {"y = atomic_add(x, a[tid]); while (y == 7) ;", true, true}, /* nobody writes a */
        {"x = x + 1;", false, false},
        {"a[a[0]] = 1;", false, false},
        {"while (x == 0 && a[0]) a[tid] = 1; x = 1;", false, false},
        {"a[tid] = 1; y = a[0] + a[1]; while (y == 1) ;", false, false},
        {"if (tid) while (x == 0) ; else x = 1; barrier();", true, false},
    };
    (void)state;
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *text = arena_printf(&test_arena,
                                        "launch(threads = 2, warp = 2); shared int x, a[8]; kernel "
                                        "k() { private int y; %s }",
                                        rows[i].body);
        struct forms *forms = forms_new(&test_arena, support_parse(text));
        if (matrix_forms_agree(forms, SUBJECT_THREADS, SUBJECT_INTERLEAVE) != rows[i].blocks ||
            matrix_forms_agree(forms, SUBJECT_BLOCK, SUBJECT_THREADS) != rows[i].ptx)
            fail_msg("%s", rows[i].body);
    }
}

/* Weakly fair ends implies strongly fair ends, in every row that says so, with barriers and without. */
static void test_law(void **state)
{
    static const char *const texts[] = {
        P3, "launch(threads = 2, warp = 1); shared int a; kernel k() { if (tid) a = 1; else while "
            "(a == 0) ; barrier(); a = 2; }"};
    (void)state;
    for (uint32_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct fixture f;
        search(&f, texts[i]);
        assert_null(f.matrix.broken);
        assert_null(matrix_broken(&test_arena, f.c.forms, &f.matrix));
        struct matrix_row *fair = row_of(&f, MATRIX_THREADS, "fair");
        assert_true(fair->verdict == PROGRESS_ENDS && fair->has_strong && fair->strong);
        fair->strong = false;
        assert_string_equal(matrix_broken(&test_arena, f.c.forms, &f.matrix),
                            "threads end under fair if weakly fair, but not if strongly");
        fair->has_strong = false;
        assert_null(matrix_broken(&test_arena, f.c.forms, &f.matrix));
    }
}

static void test_lemma6(void **state)
{
    (void)state;
    struct fixture f;
    search(&f, P3);
    const struct matrix_lemma6 *lemma = f.matrix.lemma6;
    assert_non_null(lemma);
    assert_true(lemma->refutation.found && lemma->refutation.set_count > 0);
    struct matrix_lemma6 wrong = *lemma;
    f.matrix.lemma6 = &wrong;
    wrong.refutation.set_count = 0; /* nobody changes x: thread 0 ends */
    wrong.refutation.thread = 0;
    assert_string_equal(asked(&f), "liveness|lemma-6|none|refutation");
    wrong = *lemma;
    wrong.refutation.loop = 0;
    assert_string_equal(asked(&f), "liveness|lemma-6|none|refutation");
    wrong = *lemma;
    wrong.refutation.stm = 1000;
    assert_string_equal(asked(&f), "liveness|lemma-6|none|refutation");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_honest, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_implication, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_seen, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_policy, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_random, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_witness, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_definition, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_sentence, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_sentence_about_one_that_counts, support_setup,
                                        support_teardown),
        cmocka_unit_test_setup_teardown(test_other, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_form, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_forms_agree, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_law, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_lemma6, support_setup, support_teardown),
    };
    return cmocka_run_group_tests_name("matrix_judge", tests, NULL, NULL);
}
