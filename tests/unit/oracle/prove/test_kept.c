/* What Houdini keeps is what it should; a guess more, or one less, is told. Without z3 nothing is asked. */
#include "oracle/prove/kept.h"

#include "engine/prove/inference.h"
#include "oracle/verdicts/small.h"
#include "tests/unit/shared/support.h"

static const char *const counts = "launch(threads=2); global int A[4]; private int i; kernel k() { "
                                  "for (i = 0; i < 9; i += 1) { A[tid] = i; } }";

static struct solver *ask_all(void)
{
    const struct solver_options options = {
        .command = SOLVER_COMMAND, .budget = SOLVER_BUDGET, .seconds = 30};
    return solver_new(&test_arena, &options);
}

/* NULL: no solver. */
static struct duo *settled(void)
{
    const char *reason = NULL;
    uint32_t rounds = 0;
    struct proof_options *options = ARENA_NEW(&test_arena, struct proof_options);
    struct solver *solver = ask_all();
    *options = PROOF_DEFAULTS;
    options->counted = false;
    struct duo *duo =
        duo_new(&test_arena, forms_new(&test_arena, support_parse(counts)), options, 0, &reason);
    assert_non_null(duo);
    duo->plain = true;
    duo_run(duo);
    bool done = houdini(duo, solver, &rounds, &reason);
    struct solver_counts asked = solver_counts(solver);
    solver_end(solver);
    assert_true(done || asked.failed > 0);
    return asked.failed > 0 ? NULL : duo;
}

static const char *said(struct duo *duo, bool whole, uint64_t seed)
{
    struct solver *solver = ask_all();
    struct retrace_fault fault = kept_judge(&test_arena, duo, solver, whole, seed);
    solver_end(solver);
    return fault.what ? fault.why : "nothing";
}

/* The first guess that is kept, or is not. */
static struct candidate *first(struct duo *duo, bool kept)
{
    struct loop_cut *cut = GROWN(duo->cuts, struct loop_cut *)[0];
    for (uint32_t i = 0; i < cut->candidate_count; i++)
        if (cut->candidates[i].kept == kept && (kept || cut->candidates[i].holds != TERM_FALSE))
            return &cut->candidates[i];
    fail();
    return NULL;
}

static void test_kept(void **state)
{
    struct duo *duo = settled();
    bool told = false;
    (void)state;
    if (!duo)
        skip();
    assert_string_equal(said(duo, true, 1), "nothing");
    struct candidate *wrong = first(duo, false);
    wrong->kept = true;
    assert_non_null(strstr(said(duo, false, 1), "was kept"));
    wrong->kept = false;
    first(duo, true)->kept = false;
    for (uint64_t seed = 0; seed < 20 && !told; seed++)
        told = strstr(said(duo, true, seed), "was dropped") != NULL;
    assert_true(told);
}

static void test_small_loops(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++)
        assert_non_null(small_loops(&test_arena, seed));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kept),
                                       cmocka_unit_test(test_small_loops)};
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
