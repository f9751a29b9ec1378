/*
 * Golden digests of what oracles say of random small kernels - functions with arguments and results, frames, arrays,
 * loops of every kind that end or wait, breaks, exits, barriers, atomics, votes, claims, of several warps and blocks -,
 * which the corpus, whose kernels were kept for something that they show, does not have. A line of
 * tests/golden/checks.txt is the number of the first of some kernels, and
 *
 *     checks   what is explored, and what all oracles say: with other seeds, budgets and options
 *     lemma-6  its proof within other bounds, and what refutes it
 *     loops    whether they are the threads' own
 *     matrix   all rows, with their sentences and tapes, and what holds them to account
 *
 *     SIMTFUZZ_BLESS=1 build/tests/test_checks
 *
 * writes the file anew.
 */
#include "tests/unit/shared/digests.h"

#include "fuzz/case/digest.h"
#include "oracle/check/check.h"
#include "oracle/lemma6/own_loops.h"
#include "oracle/matrix/matrix.h"
#include "oracle/matrix/matrix_witness.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINES = 30, TOGETHER = 8, COLUMNS = 4 };

static const char FILE_NAME[] = SIMTFUZZ_SOURCE_DIR "/tests/golden/checks.txt";

/* ---- random kernels ---- */

struct text {
    struct pcg rng;
    char bytes[1 << 13];
    size_t length;
    bool in_function;
};

static uint32_t below(struct text *t, uint32_t bound)
{
    return pcg_below(&t->rng, bound);
}

static void put(struct text *t, const char *piece)
{
    size_t length = strlen(piece);
    assert_true(t->length + length < sizeof t->bytes);
    memcpy(t->bytes + t->length, piece, length + 1);
    t->length += length;
}

static void put_one(struct text *t, const char *const *of, uint32_t count)
{
    put(t, of[below(t, count)]);
}

#define PUT_ONE(t, ...)                                                                            \
    put_one(t, (const char *const[]){__VA_ARGS__},                                                 \
            sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static void put_expr(struct text *t, uint32_t depth)
{
    if (depth == 0 || below(t, 3) == 0) {
        PUT_ONE(t, "0", "1", "2", "3", "tid", "tid", "i", "j", "i", "x", "g", "a[tid & 3]",
                "b[i & 1]", "p", "c", "bid", "lane", "-1");
        return;
    }
    if (below(t, 8) == 0) {
        put(t, "(");
        put_expr(t, depth - 1);
        put(t, " ? ");
        put_expr(t, depth - 1);
        put(t, " : ");
        put_expr(t, depth - 1);
        put(t, ")");
        return;
    }
    PUT_ONE(t, "(", "(", "(", "!(", "-(", "~(");
    put_expr(t, depth - 1);
    PUT_ONE(t, " + ", " - ", " & ", " | ", " ^ ", " * ", " < ", " <= ", " == ", " != ", " > ",
            " >= ", " && ", " || ");
    put_expr(t, depth - 1);
    put(t, ")");
}

static void put_place(struct text *t)
{
    PUT_ONE(t, "x", "g", "a[tid & 3]", "a[i & 3]", "h[tid & 1]", "i", "j", "i", "j", "b[i & 1]",
            "b[j & 1]", "p");
}

static void put_list(struct text *t, uint32_t depth, bool loop);

static void put_loop(struct text *t, uint32_t depth)
{
    static const char *const heads[] = {"for (i = 0; i < ", "for (j = 0; j < ", "while (", "do {"};
    uint32_t kind = below(t, 5);
    put(t, kind < 3 ? heads[kind / 2] : heads[kind - 1]);
    if (kind < 3) {
        PUT_ONE(t, "2", "3", "tid", "tid + 1", "c", "p & 3", "x & 3");
        put(t, kind < 2 ? "; i++" : "; j++");
    } else if (kind == 3) {
        PUT_ONE(t, "x == 0", "i < 2", "j != 1", "g != tid", "x < tid", "c == 0", "b[0] < 2",
                "i < 1 + tid");
    }
    put(t, kind == 4 ? " " : ") { ");
    put_list(t, depth - 1, true);
    PUT_ONE(t, "i = i + 1; ", "j = j + 1; ", "i = i + 1; ", "x = 1; ", "");
    if (kind == 4)
        PUT_ONE(t, "} while (i < 2); ", "} while (0); ", "} while (x == 0); ",
                "} while (j < tid); ");
    else
        put(t, "} ");
}

static void put_statement(struct text *t, uint32_t depth, bool loop)
{
    uint32_t kind = below(t, depth > 0 ? 15 : 9);
    switch (kind) {
    case 0:
        if (loop) {
            PUT_ONE(t, "if (", "if (tid == 0 || ");
            put_expr(t, 1);
            PUT_ONE(t, ") break; ", ") continue; ", ") break; ");
        }
        break;
    case 1:
        put(t, "if (");
        put_expr(t, 1);
        put(t, t->in_function ? ") return i; " : below(t, 2) ? ") return; " : ") exit; ");
        break;
    case 2:
        PUT_ONE(t, "j = atomic_add(x, ", "i = atomic_add(g, ", "j = atomic_exch(a[0], ");
        put_expr(t, 1);
        put(t, "); ");
        break;
    case 3:
        PUT_ONE(t, "assert(i < 100); ", "assert(x != 77); ", "havoc(j); ", "havoc(b[tid & 1]); ",
                "j = vote_any(i == 0); ", "membar(); ", "assert(j != 3); ");
        break;
    case 9:
    case 10:
        put(t, "if (");
        put_expr(t, 2);
        put(t, ") { ");
        put_list(t, depth - 1, loop);
        put(t, "} ");
        if (below(t, 2)) {
            put(t, "else { ");
            put_list(t, depth - 1, loop);
            put(t, "} ");
        }
        break;
    case 11:
    case 12:
        put_loop(t, depth);
        break;
    case 13:
        if (t->in_function) {
            PUT_ONE(t, "v(i); ", "v(j); ");
        } else {
            PUT_ONE(t, "j = f(", "i = f(", "v(", "j = r(");
            put_expr(t, 1);
            put(t, "); ");
        }
        break;
    case 14:
        put(t, "switch (");
        put_expr(t, 1);
        put(t, ") { case 0: { ");
        put_list(t, depth - 1, false);
        put(t, "break; } case 1: { ");
        put_list(t, depth - 1, false);
        put(t, "} default: { ");
        put_list(t, depth - 1, false);
        put(t, "} } ");
        break;
    default:
        put_place(t);
        put(t, " = ");
        put_expr(t, 2);
        put(t, "; ");
        break;
    }
}

static void put_list(struct text *t, uint32_t depth, bool loop)
{
    for (uint32_t n = 1 + below(t, 2); n > 0; n--)
        put_statement(t, depth, loop);
}

static void put_kernel(struct text *t, uint32_t number)
{
    char launch[120];
    *t = (struct text){.length = 0};
    pcg_seed(&t->rng, 4711, number);
    uint32_t threads = 1 + below(t, 4), warp = 1 + below(t, 4), blocks = 1 + below(t, 4) / 3;
    snprintf(launch, sizeof launch,
             "launch(threads = %" PRIu32 ", warp = %" PRIu32 ", blocks = %" PRIu32
             ", seed = %" PRIu32 "); ",
             threads, warp, blocks, number);
    put(t, launch);
    put(t, "shared int x, a[4]; global int g, h[2]; shared input int c; private int p; ");
    t->in_function = true;
    put(t, "void v(int i) { private int j; j = i; if (i > 1) { p = p + 1; } else { a[tid & 3] = j; "
           "} } ");
    put(t, "int r(int i) { private int j; if (i <= 0 || i > 3) { return 1; } j = r(i - 1); return "
           "j + i; } ");
    put(t, "int f(int i) { private int j, b[2]; ");
    put_list(t, 2, false);
    put(t, "return i + j; } ");
    t->in_function = false;
    put(t, "kernel k() { private int i, j, b[2]; ");
    for (uint32_t n = 2 + below(t, 2); n > 0; n--) {
        put_list(t, 3, false);
        if (below(t, 4) == 0)
            PUT_ONE(t, "barrier(); ", "if (tid < 2) barrier(); ");
    }
    put(t, "}");
}

/* ---- what is said of one ---- */

static void checks(uint64_t *digest, const struct ast_kernel *kernel, uint32_t number)
{
    size_t mark = arena_mark(&test_arena);
    struct check_options options = CHECK_DEFAULTS;
    struct check_result *result = ARENA_NEW(&test_arena, struct check_result);
    options.seed = number % 25;
    options.budget_steps = number % 3 ? 3000 : 60;
    options.schedules = 4 + number % 29;
    options.exhaustive = number % 2;
    options.modes = number % 5 ? 0 : ORACLE_MODE_LEMMAS_STRICT | ORACLE_MODE_SAFETY_PRINTED;
    options.search.max_steps = options.search.max_states = 4000;
    if (number % 6 == 5) /* some oracles only */
        options.oracles = (uint32_t)pcg_splitmix(number) & CHECK_DEFAULTS.oracles;
    if (number % 8 == 3) /* variants, too */
        options.subjects = SUBJECTS_ALL;
    check_kernel(&test_arena, kernel, &options, result);
    struct digest_parts parts = digest_parts(&test_arena, kernel, result);
    digest_word(digest, parts.answers);
    digest_word(digest, parts.runs);
    digest_word(digest, parts.steps);
    arena_release(&test_arena, mark);
}

static void lemma(uint64_t *digest, struct forms *forms)
{
    const struct program *program = forms_get(forms, PROGRAM_CORE)->program;
    static const uint64_t bounds[] = {3, 20, 50, 2000};
    digest_word(digest, program != NULL);
    for (size_t i = 0; program && i < sizeof bounds / sizeof *bounds; i++) {
        size_t mark = arena_mark(&test_arena);
        struct lemma6 proof = lemma6_holds(&test_arena, program, bounds[i]);
        digest_word(digest, (uint64_t)proof.holds << 2 | (uint64_t)proof.constants << 1 |
                                proof.has_threads);
        if (proof.holds) {
            digest_word(digest, proof.warp_steps);
            digest_word(digest, proof.all_warp_steps);
            digest_word(digest, proof.thread_steps);
            digest_word(digest, proof.all_thread_steps);
        }
        digest_text(digest, proof.why_not);
        arena_release(&test_arena, mark);
    }
    if (!program)
        return;
    size_t mark = arena_mark(&test_arena);
    struct lemma6_refutation refuted = lemma6_refute(&test_arena, program, 3, 1500);
    digest_word(digest, refuted.found);
    digest_word(digest, refuted.sequences);
    digest_word(digest, refuted.steps);
    if (refuted.found) {
        digest_word(digest, (uint64_t)refuted.thread << 32 | refuted.stm);
        digest_word(digest, refuted.stem << 20 ^ refuted.loop);
        digest_text(digest, refuted.location);
        for (uint32_t i = 0; i < refuted.set_count; i++) {
            digest_word(digest, refuted.sets[i].step);
            digest_word(digest,
                        (uint64_t)refuted.sets[i].address << 32 | (uint32_t)refuted.sets[i].value);
        }
        assert_null(lemma6_replay(&test_arena, program, &refuted));
    }
    arena_release(&test_arena, mark);
}

static void rows(uint64_t *digest, struct forms *forms, uint32_t number)
{
    const struct matrix_options within = {.max_states = 150,
                                          .max_bytes = (uint64_t)1 << 24,
                                          .steps_a_state = 16,
                                          .budget_steps = 400,
                                          .sample_steps = 400,
                                          .refute_steps = 400,
                                          .seed = number,
                                          .no_merging = number % 4 == 0};
    const struct matrix matrix = matrix_of(forms, &within);
    digest_text(digest, matrix.refused);
    assert_null(matrix.broken);
    digest_word(digest, matrix_classes(&matrix));
    for (uint32_t i = 0; i < matrix.count; i++) {
        const struct matrix_row *row = &matrix.rows[i];
        digest_text(digest, row->model);
        digest_word(digest, row->unit);
        digest_text(digest, matrix_verdict(row));
        digest_word(digest,
                    (uint64_t)row->has_strong << 2 | (uint64_t)row->strong << 1 | row->sampled);
        digest_text(digest, row->sentence);
        if (!row->loop)
            continue;
        digest_text(digest, tape_print(&test_arena, row->stem));
        digest_text(digest, tape_print(&test_arena, row->loop));
        assert_null(matrix_witness(&test_arena, row, number).observable);
    }
}

/* False: there are no more lines. */
static bool make_line(uint64_t digests[COLUMNS], uint32_t first)
{
    static struct text text;
    memset(digests, 0, COLUMNS * sizeof *digests);
    for (uint32_t number = first; number < first + TOGETHER; number++) {
        size_t mark = arena_mark(&test_arena);
        put_kernel(&text, number);
        const struct ast_kernel *kernel = support_parse(text.bytes);
        struct forms *forms = forms_new(&test_arena, kernel);
        checks(&digests[0], kernel, number);
        lemma(&digests[1], forms);
        digest_word(&digests[2], (uint64_t)own_loops(kernel) << 1 | own_loops_errors(kernel));
        if (number % 2)
            rows(&digests[3], forms, number);
        arena_release(&test_arena, mark);
    }
    return first + TOGETHER < LINES * TOGETHER;
}

static void test_checks(void **state)
{
    static const char *const names[COLUMNS] = {"checks", "lemma-6", "loops", "matrix"};
    bool bless = getenv("SIMTFUZZ_BLESS") != NULL, more = true;
    uint32_t differ = 0;
    (void)state;
    FILE *file = fopen(FILE_NAME, bless ? "w" : "r");
    assert_non_null(file);
    for (uint32_t first = 0; more && !(differ > 0 && getenv("SIMTFUZZ_FIRST")); first += TOGETHER) {
        uint64_t digests[COLUMNS];
        uint32_t number, was[COLUMNS];
        more = make_line(digests, first);
        if (bless)
            fprintf(file, "%" PRIu32, first);
        else
            assert_int_equal(fscanf(file, "%" SCNu32, &number), 1);
        for (uint32_t i = 0; i < COLUMNS; i++) {
            uint32_t is = (uint32_t)(digests[i] >> 32 ^ digests[i]);
            if (bless) {
                fprintf(file, " %08" PRIx32, is);
                continue;
            }
            assert_int_equal(fscanf(file, "%" SCNx32, &was[i]), 1);
            if (was[i] != is) {
                print_error("kernels from %" PRIu32 ": %s is not what it was\n", first, names[i]);
                differ++;
            }
        }
        if (bless)
            fputc('\n', file);
        else
            assert_int_equal(number, first);
    }
    assert_int_equal(fclose(file), 0);
    assert_int_equal(differ, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_checks, support_setup, support_teardown),
    };
    return cmocka_run_group_tests_name("checks", tests, NULL, NULL);
}
