/* Searches up to permutations of threads that are alike (engine/machine/symmetry.h): on random kernels in which
 * threads are alike every row of the termination matrix is as the search of all states has it. */
#include "tests/unit/shared/many.h"
#include "tests/unit/shared/support.h"

#include "engine/base/pcg.h"
#include "engine/machine/symmetry.h"
#include "oracle/matrix/matrix.h"

#include <stdlib.h>

/* ---- kernels ---- */

struct writer {
    struct pcg rng;
    char *text;
    uint32_t used, room;
    uint32_t ids; /* 1 in so many conditions asks who the thread is; 0: none */
};

static void write_text(struct writer *w, const char *text)
{
    size_t length = strlen(text);
    assert_true(w->used + length < w->room);
    memcpy(w->text + w->used, text, length + 1);
    w->used += (uint32_t)length;
}

static const char *one_of(struct writer *w, const char *const *texts, uint32_t count)
{
    return texts[pcg_below(&w->rng, count)];
}

#define ONE_OF(w, ...)                                                                             \
    one_of(w, (const char *const[]){__VA_ARGS__},                                                  \
           sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static void write_condition(struct writer *w)
{
    if (w->ids && pcg_below(&w->rng, w->ids) == 0)
        write_text(w, ONE_OF(w, "tid == 0", "tid < 2", "lane != 1"));
    else
        write_text(w, ONE_OF(w, "p", "!p", "q", "p == q", "a", "!a", "a == 2", "s != p"));
}

static void write_statement(struct writer *w, uint32_t depth)
{
    switch (pcg_below(&w->rng, depth > 0 ? 8 : 5)) {
    case 0:
        write_text(w, ONE_OF(w, "p = atomic_exch(s, 1);", "q = atomic_exch(s, 0);",
                             "p = atomic_cas(s, 0, 1);", "p = atomic_add(a, 1);",
                             "atomic_add(s, 1);", "p = atomic_exch(a, q);"));
        break;
    case 1:
        write_text(w, ONE_OF(w, "p = a;", "q = s;", "q = a & 1;", "p = s & 1;"));
        break;
    case 2:
        write_text(w, ONE_OF(w, "a = 1;", "s = 0;", "a = q;", "s = p & 1;", "a = 0;"));
        break;
    case 3:
        write_text(w, ONE_OF(w, "p = 0;", "p = 1;", "q = 1 - q;", "q = p;"));
        break;
    case 4:
        write_text(w, ONE_OF(w, "p = a;", "atomic_exch(s, 0);", "a = 1;"));
        break;
    case 5:
    case 6:
        write_text(w, "if (");
        write_condition(w);
        write_text(w, ") {");
        write_statement(w, depth - 1);
        write_text(w, pcg_below(&w->rng, 2) ? "} else {" : "} if (a) {");
        write_statement(w, depth - 1);
        write_text(w, "}");
        break;
    default:
        write_text(w, "while (");
        write_condition(w);
        write_text(w, ") {");
        write_statement(w, depth - 1);
        write_text(w, "}");
        break;
    }
}

static struct ast_kernel *make_kernel(struct writer *w, uint64_t number)
{
    static const char *const launches[] = {
        "launch(threads = 3, warp = 3);", "launch(threads = 2, warp = 2);",
        "launch(threads = 4, warp = 2);", "launch(threads = 3, warp = 2);",
        "launch(threads = 2, warp = 2, blocks = 2);"};
    pcg_seed(&w->rng, pcg_splitmix(number), 71);
    w->used = 0;
    w->ids = pcg_below(&w->rng, 3) == 0 ? 3 : 0;
    write_text(w, launches[pcg_below(&w->rng, sizeof launches / sizeof *launches)]);
    write_text(w, "global int a; shared int s; kernel k() { private int p = 1; private int q;");
    /* Half of those that ask who they are wait for somebody. */
    bool waits = w->ids && pcg_below(&w->rng, 2) == 0;
    if (waits)
        write_text(w,
                   ONE_OF(w, "if (tid == 0) a = 1;", "if (tid == 1) a = 1;", "if (tid != 0) a = 1;",
                          "if (tid < 2) a = 1; else s = a;", "if (tid == 2) a = 1;",
                          "q = atomic_exch(s, 1); if (!q) { q = 0; a = 1; } else q = 0;"));
    for (uint32_t i = waits ? pcg_below(&w->rng, 2) : 2 + pcg_below(&w->rng, 3); i > 0; i--)
        write_statement(w, 2);
    write_text(w, waits ? "while (!a) q = 1 - q; }" : "}");
    return support_parse(w->text);
}

/* ---- comparing ---- */

struct figures {
    uint32_t kernels, rows, alike, hangs, strong;
};

static struct matrix matrix_by(struct ast_kernel *kernel, enum matrix_symmetry symmetry)
{
    struct matrix_options options = {.max_states = 1 << 16,
                                     .max_bytes = (uint64_t)64 << 20,
                                     .budget_steps = 1 << 10,
                                     .refute_steps = 1,
                                     .symmetry = symmetry};
    return matrix_of(forms_new(&test_arena, kernel), &options);
}

static void compare(const char *text, const struct matrix *plain, const struct matrix *alike,
                    struct figures *figures)
{
    assert_int_equal(plain->count, alike->count);
    figures->kernels++;
    for (uint32_t i = 0; i < plain->count; i++) {
        const struct matrix_row *a = &plain->rows[i], *b = &alike->rows[i];
        figures->rows++;
        if (a->verdict == PROGRESS_UNKNOWN || b->verdict == PROGRESS_UNKNOWN)
            continue;
        figures->alike += strstr(b->why, "alike") != NULL && strstr(b->why, "may change") != NULL;
        figures->hangs += b->verdict >= PROGRESS_MAY_HANG;
        figures->strong += a->has_strong && b->has_strong;
        if (a->verdict != b->verdict || (a->has_strong && b->has_strong && a->strong != b->strong))
            fail_msg("%s %s: %s, up to symmetry %s (strong %d %d): %s", matrix_unit_names[a->unit],
                     a->model, matrix_verdict(a), matrix_verdict(b), a->strong, b->strong, text);
    }
    assert_true(!plain->broken == !alike->broken);
}

/* SYMMETRY_KERNELS: how many, for a longer run. */
static void rows_are_as_without(void **state)
{
    (void)state;
    const char *wanted = getenv("SYMMETRY_KERNELS");
    uint64_t kernels = wanted ? strtoull(wanted, NULL, 10) : many(300);
    struct figures figures = {0};
    static char text[4096];
    struct writer w = {.text = text, .room = sizeof text};
    for (uint64_t i = 0; i < kernels; i++) {
        size_t mark = arena_mark(&test_arena);
        struct ast_kernel *kernel = make_kernel(&w, i);
        const struct matrix plain = matrix_by(kernel, MATRIX_SYMMETRY_NONE);
        const struct matrix alike = matrix_by(kernel, MATRIX_SYMMETRY_ALL);
        compare(text, &plain, &alike, &figures);
        arena_release(&test_arena, mark);
    }
    print_message("%u kernels, %u rows, %u of them up to symmetry, %u hangs, %u strong\n",
                  figures.kernels, figures.rows, figures.alike, figures.hangs, figures.strong);
    assert_true(figures.alike > 2 * kernels && figures.hangs > kernels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_are_as_without, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
