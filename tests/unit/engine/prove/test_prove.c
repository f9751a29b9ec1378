/* Invariants: neither the order in which guesses are tried nor runs that drop false ones change anything; what
 * contradicts itself is found. */
#include "engine/prove/inference.h"
#include "tests/unit/engine/prove/prove_solver.h"
#include "tests/unit/shared/corpus_kernel.h"

#include <inttypes.h>
#include <stdlib.h>

static struct forms *forms_of(const char *name)
{
    return forms_new(&test_arena, corpus_kernel(name));
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* What is kept at every loop's head, sorted. */
static const char *kept(const char *name, uint64_t order, bool rehearsed)
{
    struct proof_options options = PROOF_DEFAULTS;
    struct proof_result result;
    struct text text = text_begin(&test_arena);
    options.unroll = 0;
    options.order = order;
    options.rehearsed = rehearsed;
    options.counted = false;
    prove_kernel(&test_arena, forms_of(name), &options, solver, &result);
    assert_null(result.refused);
    assert_true(result.loop_count > 0);
    for (uint32_t i = 0; i < result.loop_count; i++) {
        qsort(result.loops[i].kept, result.loops[i].kept_count, sizeof *result.loops[i].kept,
              by_text);
        text_format(&text, "loop %" PRIu32 "\n", i);
        for (uint32_t n = 0; n < result.loops[i].kept_count; n++)
            text_format(&text, "%s\n", result.loops[i].kept[n]);
    }
    return text.bytes;
}

static void order(void **state)
{
    static const char *const names[] = {"corpus/papers/lockstep-fig1a.simt",
                                        "corpus/papers/lockstep-ck4.simt"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *first = kept(names[i], 0, true);
        assert_string_equal(kept(names[i], 1, true), first);
        assert_string_equal(kept(names[i], 2, false), first);
    }
}

/* ---- no proof of nothing ---- */

static struct duo *run(const char *name, const struct proof_options *options, uint32_t unroll)
{
    const char *reason = NULL;
    struct duo *duo = duo_new(&test_arena, forms_of(name), options, unroll, &reason);
    assert_non_null(duo);
    duo_run(duo);
    assert_null(duo->reason);
    return duo;
}

static void contradictions(void **state)
{
    (void)state;
    struct proof_options options = PROOF_DEFAULTS;
    const char *name = "corpus/papers/lockstep-fig1a.simt", *reason = NULL;
    options.counted = false;
    struct duo *cut = run(name, &options, 0), *unrolled = run(name, &options, 3);
    uint32_t rounds = 0, unreachable = 0;
    assert_true(houdini(cut, solver, &rounds, &reason));
    assert_true(points_agree(cut, unrolled, solver, &unreachable, &reason));
    assert_int_equal(unreachable, 0);
    /* planted: an invariant that only the first trip has */
    struct loop_cut *loop = GROWN(cut->cuts, struct loop_cut *)[0];
    term never = term_and(&cut->terms, term_not(&cut->terms, loop->candidates[0].holds),
                          loop->candidates[0].holds);
    loop->candidates[0] = (struct candidate){.holds = never, .kept = true, .text = "planted"};
    assert_false(points_agree(cut, unrolled, solver, &unreachable, &reason));
    assert_non_null(strstr(reason, "no proof would mean anything"));
}

/* Safe clauses that nobody gets through: an entry that is never. */
static void contradictory_clauses(void **state)
{
    (void)state;
    struct proof_options options = PROOF_DEFAULTS;
    const char *name = "corpus/papers/lockstep-fig1a.simt", *reason = NULL;
    options.counted = false;
    struct duo *cut = run(name, &options, 0), *unrolled = run(name, &options, 3);
    assert_true(points_reached(cut, unrolled, solver, &reason));
    /* planted: nobody comes to the loop */
    struct loop_cut *loop = GROWN(cut->cuts, struct loop_cut *)[0];
    loop->entry[slot_path(cut)] = TERM_FALSE;
    assert_false(points_reached(cut, unrolled, solver, &reason));
    assert_non_null(strstr(reason, "no proof would mean anything"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(order), cmocka_unit_test(contradictions),
                                       cmocka_unit_test(contradictory_clauses)};
    return RUN_WITH_SOLVER(tests);
}
