/* Generated kernels: valid, bounded, race-free where they claim to be, the same everywhere. */
#include "engine/input/input.h"
#include "fuzz/generate/generate.h"
#include "tests/unit/shared/many.h"
#include "tests/unit/shared/support.h"

#include "engine/language/print.h"
#include "fuzz/gen/generator.h"

#include <stdio.h>
#include <stdlib.h>

enum { STEPS_MAX = 200000 };

static struct gen_options options_of(const char *features)
{
    struct gen_options options = GEN_DEFAULTS;
    const char *error_at;
    assert_true(gen_parse_features(features, &options.features, &error_at));
    return options;
}

static uint64_t hash(uint64_t seed, const char *text) /* FNV-1a */
{
    for (; *text; text++)
        seed = (seed ^ (unsigned char)*text) * 1099511628211u;
    return seed;
}

/* ---- valid ---- */

/* Well-formed, within the launch's limits, and its text parses and prints to itself. */
static void check_kernel(const struct ast_kernel *kernel)
{
    struct diag diag;
    diag_init(&diag, "generated", NULL, 0);
    bool valid = ast_check(kernel, &diag);
    char *text = print_kernel(&test_arena, kernel);
    if (!valid) {
        diag_print(&diag, stderr);
        fail_msg("not well-formed:\n%s", text);
    }
    diag_init(&diag, "generated", text, strlen(text));
    struct ast_kernel *parsed = parse_kernel(&test_arena, text, strlen(text), &diag);
    if (!parsed) {
        diag_print(&diag, stderr);
        fail_msg("does not parse:\n%s", text);
    }
    assert_string_equal(print_kernel(&test_arena, parsed), text);
    const struct ast_launch *launch = &kernel->launch;
    assert_in_range(launch->threads * launch->blocks, 1, 128);
    assert_in_range(launch->warp, 1, 64);
}

static void check_kernels(const struct gen_options *options, uint64_t seed, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        size_t mark = arena_mark(&test_arena);
        check_kernel(gen_case(&test_arena, seed, i, options));
        arena_release(&test_arena, mark);
    }
}

static void kernels_are_valid(void **state)
{
    (void)state;
    check_kernels(&GEN_DEFAULTS, 1, 2000);
}

static void kernels_with_other_features_are_valid(void **state)
{
    (void)state;
    struct gen_options options = options_of("all");
    check_kernels(&options, 2, 1000);
    options.fixed = true;
    check_kernels(&options, 3, 300);
    options = options_of("none");
    check_kernels(&options, 4, 300);
}

static void small_kernels_are_small(void **state)
{
    (void)state;
    struct gen_options options = options_of("all");
    options.small = true;
    check_kernels(&options, 5, 1000);
    for (uint64_t i = 0; i < 1000; i++) {
        size_t mark = arena_mark(&test_arena);
        const struct ast_kernel *kernel = gen_case(&test_arena, 5, i, &options);
        assert_in_range(kernel->launch.threads, kernel->form == FORM_PTX ? 1 : 2,
                        GEN_SMALL_THREADS);
        assert_int_equal(kernel->launch.blocks, 1);
        assert_in_range(ast_kernel_size(kernel), 1, 20); /* a loop's start and step count */
        arena_release(&test_arena, mark);
    }
}

/* ---- every row of the table ---- */

static void every_row_of_the_table_occurs(void **state)
{
    (void)state;
    static uint32_t hits[W_COUNT];
    struct gen_options options = options_of("all");
    for (uint64_t i = 0; i < 5000; i++) {
        size_t mark = arena_mark(&test_arena);
        struct source source;
        source_random(&source, 6, i);
        options.spin = i % 4 == 0;
        gen_kernel_counted(&test_arena, &source, &options, hits, NULL);
        arena_release(&test_arena, mark);
    }
    for (uint32_t i = 0; i < W_COUNT; i++)
        if (gen_rows[i].weight > 0 && hits[i] == 0)
            fail_msg("%s: never drawn", gen_rows[i].name);
}

/* A feature that is off has none of its rows drawn. */
static void a_feature_can_be_dropped(void **state)
{
    (void)state;
    for (uint32_t feature = 0; feature < FEATURE_COUNT; feature++) {
        uint32_t hits[W_COUNT] = {0};
        struct gen_options options = options_of("all");
        options.features &= ~(1u << feature);
        for (uint64_t i = 0; i < 60; i++) {
            size_t mark = arena_mark(&test_arena);
            struct source source;
            source_random(&source, 7, i);
            struct ast_kernel *kernel =
                gen_kernel_counted(&test_arena, &source, &options, hits, NULL);
            check_kernel(kernel);
            arena_release(&test_arena, mark);
        }
        for (uint32_t i = 0; i < W_COUNT; i++)
            if (gen_rows[i].feature == feature)
                assert_int_equal(hits[i], 0);
    }
}

/* ---- shapes ---- */

struct shapes {
    uint32_t kinds[STM_KIND_COUNT], assigns[ASSIGN_AND + 1], binaries[BINARY_LOGICAL_OR + 1];
    uint32_t builtins[BUILTIN_COUNT], conditionals;
    uint32_t break_nested, continue_nested, return_in_loop, exit_in_loop, jump_in_switch_in_loop;
    uint32_t fallthrough, empty_case, default_case, empty_body, copied_else, self_call;
    uint32_t nested_loops, call_in_loop, lane_bound, partial_warp, unread_operand;
};

struct around {
    uint32_t loops;
    bool in_switch, in_if;
    const struct ast_function *function;
};

static void count_expr(struct shapes *shapes, const struct ast_expr *expr)
{
    if (!expr)
        return;
    if (expr->kind == EXPR_BINARY) {
        shapes->binaries[expr->binary]++;
        shapes->unread_operand +=
            (expr->binary == BINARY_LOGICAL_AND || expr->binary == BINARY_LOGICAL_OR) &&
            (expr->b->kind == EXPR_INDEX || (expr->b->a && expr->b->a->kind == EXPR_INDEX));
    }
    if (expr->kind == EXPR_BUILTIN)
        shapes->builtins[expr->builtin]++;
    shapes->conditionals += expr->kind == EXPR_COND;
    count_expr(shapes, expr->a);
    count_expr(shapes, expr->b);
    count_expr(shapes, expr->c);
}

static void count_stms(struct shapes *shapes, const struct ast_stm *list, struct around around);

static void count_switch(struct shapes *shapes, const struct ast_stm *stm, struct around around)
{
    around.in_switch = true;
    around.in_if = false;
    for (const struct ast_case *c = stm->cases; c; c = c->next) {
        const struct ast_stm *last = c->body;
        while (last && last->next)
            last = last->next;
        shapes->empty_case += !last;
        shapes->default_case += c->is_default;
        shapes->fallthrough += c->next && last && last->kind == STM_ASSIGN;
        count_stms(shapes, c->body, around);
    }
}

static void count_jump(struct shapes *shapes, const struct ast_stm *stm, struct around around)
{
    bool nested = around.loops >= 2 && around.in_if;
    shapes->break_nested += nested && stm->kind == STM_BREAK && !around.in_switch;
    shapes->continue_nested += nested && stm->kind == STM_CONTINUE;
    shapes->return_in_loop += around.loops > 0 && stm->kind == STM_RETURN;
    shapes->exit_in_loop += around.loops > 0 && stm->kind == STM_EXIT;
    shapes->jump_in_switch_in_loop +=
        around.loops > 0 && around.in_switch && stm->kind == STM_CONTINUE;
}

static void count_stm(struct shapes *shapes, const struct ast_stm *stm, struct around around)
{
    shapes->kinds[stm->kind]++;
    count_expr(shapes, stm->value);
    count_expr(shapes, stm->target.index);
    switch (stm->kind) {
    case STM_ASSIGN:
        shapes->assigns[stm->op]++;
        break;
    case STM_IF:
        around.in_if = true;
        if (stm->other && stm->body->kind == stm->other->kind && stm->body->value &&
            stm->other->value)
            shapes->copied_else += strcmp(print_expr(&test_arena, stm->body->value),
                                          print_expr(&test_arena, stm->other->value)) == 0;
        break;
    case STM_WHILE:
    case STM_DO:
    case STM_FOR:
        shapes->nested_loops += around.loops > 0;
        shapes->lane_bound +=
            stm->value && stm->value->kind == EXPR_BINARY && stm->value->b->kind == EXPR_BUILTIN;
        around.loops++;
        around.in_switch = around.in_if = false;
        break;
    case STM_SWITCH:
        count_switch(shapes, stm, around);
        return;
    case STM_BREAK:
    case STM_CONTINUE:
    case STM_RETURN:
    case STM_EXIT:
        count_jump(shapes, stm, around);
        break;
    case STM_CALL:
        shapes->call_in_loop += around.loops > 0;
        shapes->self_call += stm->function == around.function;
        break;
    case STM_BLOCK:
        shapes->empty_body += !stm->body;
        break;
    case STM_SKIP:
    case STM_BARRIER:
    case STM_SYNC:
    case STM_ARRIVE:
    case STM_ATOMIC:
    case STM_VOTE:
    case STM_ASSERT:
    case STM_ASSUME:
    case STM_HAVOC:
    case STM_MEMBAR:
    case STM_PICK:
    case STM_LOCKSYNC:
    case STM_KIND_COUNT:
        break;
    }
    count_stms(shapes, stm->body, around);
    count_stms(shapes, stm->other, around);
}

static void count_stms(struct shapes *shapes, const struct ast_stm *list, struct around around)
{
    for (; list; list = list->next)
        count_stm(shapes, list, around);
}

static void count_shapes(struct shapes *shapes, const struct ast_kernel *kernel)
{
    count_stms(shapes, kernel->main->body, (struct around){.function = kernel->main});
    for (const struct ast_function *f = kernel->functions; f; f = f->next)
        count_stms(shapes, f->body, (struct around){.function = f});
    shapes->partial_warp += kernel->launch.threads % kernel->launch.warp != 0;
}

static void shapes_that_break_reconvergence_occur(void **state)
{
    (void)state;
    static struct shapes shapes;
    enum { KERNELS = 2000 };
    struct gen_options options = options_of("-graphs,-directions,-crs,-known,-named");
    for (uint64_t i = 0; i < KERNELS; i++) {
        size_t mark = arena_mark(&test_arena);
        count_shapes(&shapes, gen_case(&test_arena, 8, i, &options));
        arena_release(&test_arena, mark);
    }
    const struct {
        const char *name;
        uint32_t count, least;
    } table[] = {
        {"break in nested loops, under an if", shapes.break_nested, 100},
        {"continue in nested loops, under an if", shapes.continue_nested, 100},
        {"return in a loop", shapes.return_in_loop, 100},
        {"exit in a loop", shapes.exit_in_loop, 10},
        {"continue in a switch in a loop", shapes.jump_in_switch_in_loop, 100},
        {"fallthrough", shapes.fallthrough, 100},
        {"empty case", shapes.empty_case, 100},
        {"default", shapes.default_case, 100},
        {"empty body", shapes.empty_body, 100},
        {"else that copies the then-branch", shapes.copied_else, 100},
        {"recursion", shapes.self_call, 100},
        {"loop in a loop", shapes.nested_loops, 100},
        {"call in a loop", shapes.call_in_loop, 100},
        {"trips that depend on the lane", shapes.lane_bound, 100},
        {"partial warp", shapes.partial_warp, KERNELS * 30 / 100},
        {"array read that may stay unevaluated", shapes.unread_operand, 100},
        {"?:", shapes.conditionals, 100},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].count < table[i].least)
            fail_msg("%s: %u in %u kernels", table[i].name, table[i].count, KERNELS);
    for (uint32_t i = 0; i <= BINARY_LOGICAL_OR; i++)
        assert_true(shapes.binaries[i] > 100);
    for (uint32_t i = 0; i < BUILTIN_COUNT; i++)
        assert_true(shapes.builtins[i] > 10);
    for (uint32_t i = ASSIGN_SET; i <= ASSIGN_AND; i++)
        assert_true(shapes.assigns[i] > 100);
    for (uint32_t i = 0; i < STM_KIND_COUNT; i++) {
        bool off = i == STM_SYNC || i == STM_ARRIVE || i == STM_MEMBAR || i == STM_PICK ||
                   i == STM_LOCKSYNC;
        assert_true(off ? shapes.kinds[i] == 0 : shapes.kinds[i] > 10);
    }
}

/* ---- bounded, and race-free where they say so ---- */

/* Who wrote and read each word: thread + 1, UINT32_MAX = several. */
struct accesses {
    struct observer observer;
    uint32_t *writer, *reader;
    bool race;
};

static void on_read(void *context, uint32_t thread, uint32_t address, uint32_t stm)
{
    (void)stm;
    struct accesses *accesses = context;
    uint32_t *reader = &accesses->reader[address], writer = accesses->writer[address];
    accesses->race |= writer != 0 && writer != thread + 1;
    *reader = *reader == 0 || *reader == thread + 1 ? thread + 1 : UINT32_MAX;
}

static void on_write(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm)
{
    (void)stm;
    (void)value;
    struct accesses *accesses = context;
    uint32_t reader = accesses->reader[address], *writer = &accesses->writer[address];
    accesses->race |= reader != 0 && reader != thread + 1;
    accesses->race |= *writer != 0 && *writer != thread + 1;
    *writer = thread + 1;
}

struct run {
    enum status status;
    bool race;
    uint64_t steps;
};

/* A thread by itself has no votes: then nothing is run. */
static struct run run_kernel(const struct ast_kernel *kernel, const struct semantics *semantics,
                             uint64_t index)
{
    const char *reason;
    struct program *program =
        program_compile(&test_arena, lower_core(&test_arena, kernel), &reason);
    assert_non_null(program);
    if (machine_refuses(&test_arena, semantics, program))
        return (struct run){.status = STATUS_TERMINATED};
    struct accesses accesses = {.observer = {.read = on_read, .write = on_write}};
    accesses.observer.context = &accesses;
    accesses.writer = ARENA_ARRAY(&test_arena, uint32_t, program->private_base + 1);
    accesses.reader = ARENA_ARRAY(&test_arena, uint32_t, program->private_base + 1);
    struct machine_options options = {.observers = &accesses.observer};
    struct machine *machine = machine_new(&test_arena, semantics, program, &options);
    struct sched_spec spec = {.kind = SCHED_UNIFORM, .seed = 1, .index = index};
    struct scheduler scheduler;
    sched_start(&scheduler, &spec, machine, &test_arena);
    struct run run;
    run.status = machine_run(machine, &scheduler.choices, STEPS_MAX, NULL);
    run.race = accesses.race;
    run.steps = machine->steps;
    return run;
}

/* An assertion may fail, and a barrier may not have all threads. */
static bool ends_well(enum status status)
{
    return status == STATUS_TERMINATED || status == STATUS_ASSERT_FAILS ||
           status == STATUS_BARRIER_DIVERGENCE;
}

static void kernels_terminate_in_bounds(void **state)
{
    (void)state;
    uint32_t asserts = 0, racy = 0, claimed = 0;
    for (uint64_t i = 0; i < 2000; i++) {
        size_t mark = arena_mark(&test_arena);
        struct source source;
        uint32_t communication, hits[W_COUNT] = {0};
        struct gen_options options = options_of("-graphs,-directions,-assumes,-crs,-known,-named");
        source_random(&source, 9, i);
        const struct ast_kernel *kernel =
            gen_kernel_counted(&test_arena, &source, &options, hits, &communication);
        struct run threads = run_kernel(kernel, &semantics_threads, i);
        struct run warps = run_kernel(kernel, &semantics_simt, i);
        bool good = ends_well(threads.status) && ends_well(warps.status);
        if (!good)
            fail_msg("case %u: %s, %s", (unsigned)i, status_names[threads.status],
                     status_names[warps.status]);
        bool all_come = hits[W_POSITION_UNIFORM] > 0;
        if (all_come && (threads.status == STATUS_BARRIER_DIVERGENCE ||
                         warps.status == STATUS_BARRIER_DIVERGENCE))
            fail_msg("case %u: not all threads come to a barrier", (unsigned)i);
        asserts += threads.status == STATUS_ASSERT_FAILS;
        bool claims =
            communication == W_COMMUNICATION_NONE || communication == W_COMMUNICATION_OWNED;
        if (claims && (threads.race || warps.race))
            fail_msg("case %u: race", (unsigned)i);
        racy += threads.race;
        claimed += claims;
        arena_release(&test_arena, mark);
    }
    assert_in_range(asserts, 1, 100); /* an assertion may fail, seldom */
    assert_in_range(racy, 100, 500);  /* of 2000 */
    assert_in_range(claimed, 900, 1600);
}

/* Out of bounds and endless only when asked for, and then indeed. */
static void spinning_and_overrunning_are_possible(void **state)
{
    (void)state;
    struct gen_options options = options_of("spin,oob,-graphs,-directions,-crs,-known,-named");
    uint32_t count[STATUS_COUNT] = {0};
    for (uint64_t i = 0; i < many(1000); i++) {
        size_t mark = arena_mark(&test_arena);
        const struct ast_kernel *kernel = gen_case(&test_arena, 10, i, &options);
        count[run_kernel(kernel, &semantics_simt, i).status]++;
        arena_release(&test_arena, mark);
    }
    assert_true(count[STATUS_STEP_LIMIT] > many(10));
    assert_true(count[STATUS_OUT_OF_BOUNDS] > 0);
    assert_true(count[STATUS_TERMINATED] > many(50));
}

/* ---- the sources ---- */

/* Changes with GEN_VERSION only, on any machine, with any compiler. */
static void cases_are_the_same_everywhere(void **state)
{
    (void)state;
    static const struct {
        const char *features;
        bool small, spin;
        uint64_t golden;
    } table[] = {
        {"", false, false, 0x5c135e0a52dd53ff},
        {"all", false, false, 0x1ca5e333f5c6b6fb},
        {"", true, false, 0x2d532553f5f33fa3},
        {"", false, true, 0x7cff05f0f511bd14},
        {"none,instructions", false, false, 0xcb640dda155cff92},
        {"none,instructions,blocks", false, false, 0x4f14ab2a342672ed},
    };
    assert_int_equal(GEN_VERSION, 25);
    bool same = true;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct gen_options options = options_of(table[i].features);
        options.small = table[i].small;
        options.spin = table[i].spin;
        uint64_t h = 14695981039346656037u;
        for (uint64_t number = 0; number < 200; number++) {
            size_t mark = arena_mark(&test_arena);
            h = hash(h, print_kernel(&test_arena, gen_case(&test_arena, 1, number, &options)));
            arena_release(&test_arena, mark);
        }
        if (h != table[i].golden)
            print_error("row %zu: 0x%016llx\n", i, (unsigned long long)h);
        same &= h == table[i].golden;
    }
    assert_true(same);
}

static void every_buffer_is_a_kernel(void **state)
{
    (void)state;
    struct gen_options options = options_of("all");
    static uint8_t bytes[600];
    struct pcg rng = pcg_derive(1, PCG_MUTATE, 0);
    for (uint32_t i = 0; i < 1000; i++) {
        size_t mark = arena_mark(&test_arena), length = i == 0 ? 0 : pcg_below(&rng, sizeof bytes);
        for (size_t k = 0; k < length; k++)
            bytes[k] = i == 1 ? 255 : (uint8_t)pcg_next(&rng);
        struct source source;
        source_bytes(&source, bytes, length);
        struct ast_kernel *kernel =
            gen_kernel(&test_arena, &source, i % 2 ? &options : &GEN_DEFAULTS);
        check_kernel(kernel);
        if (length == 0)
            assert_in_range(ast_kernel_size(kernel), 1, 10);
        arena_release(&test_arena, mark);
    }
}

static int compare_hashes(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

/* All small kernels of one and two statements: valid, terminating, none twice. */
static void small_kernels_can_be_enumerated(void **state)
{
    (void)state;
    enum { MANY = 20000 };
    static uint64_t hashes[MANY];
    struct gen_options options =
        options_of("-graphs,-directions,-barriers,-atomics,-choices,-assumes,-crs,-known,-named");
    options.small = true;
    static struct source source;
    source_enumerate(&source);
    size_t count = 0;
    for (;;) {
        size_t mark = arena_mark(&test_arena);
        const struct ast_kernel *kernel = gen_kernel(&test_arena, &source, &options);
        if (source.value[0] == 2) /* of three statements */
            break;
        assert_false(source.overflow);
        assert_true(count < MANY);
        check_kernel(kernel);
        hashes[count++] = hash(14695981039346656037u, print_kernel(&test_arena, kernel));
        assert_int_equal(run_kernel(kernel, &semantics_threads, 0).status, STATUS_TERMINATED);
        arena_release(&test_arena, mark);
        assert_true(source_advance(&source));
    }
    assert_true(count > 1000);
    qsort(hashes, count, sizeof hashes[0], compare_hashes);
    for (size_t i = 1; i < count; i++)
        assert_true(hashes[i - 1] != hashes[i]);
}

/* ---- options ---- */

static void features_are_parsed(void **state)
{
    (void)state;
    uint32_t defaults = GEN_DEFAULTS.features, all = (1u << FEATURE_COUNT) - 1;
    const struct {
        const char *text;
        bool valid;
        uint32_t features; /* or the offset of the error */
    } table[] = {
        {"", true, defaults},
        {"loops", true, defaults},
        {"spin", true, defaults | 1u << FEATURE_SPIN},
        {"-switch,spin", true, (defaults & ~(1u << FEATURE_SWITCH)) | 1u << FEATURE_SPIN},
        {"all", true, all},
        {"none", true, 0},
        {"none,loops", true, 1u << FEATURE_LOOPS},
        {"all,-spin", true, all & ~(1u << FEATURE_SPIN)},
        {"-all,calls", true, 1u << FEATURE_CALLS},
        {"loop", false, 0},
        {"loops,nonsense", false, 6},
        {"loops,,calls", false, 6},
        {"-", false, 0},
        {"-none", false, 0},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        uint32_t features;
        const char *error_at = NULL;
        assert_int_equal(gen_parse_features(table[i].text, &features, &error_at), table[i].valid);
        if (table[i].valid)
            assert_int_equal(features, table[i].features);
        else
            assert_ptr_equal(error_at, table[i].text + table[i].features);
    }
    assert_true(defaults >> FEATURE_LOOPS & 1);
    assert_false(defaults >> FEATURE_SPIN & 1);
}

/* docs/generator.md has a row for each feature, with its default. */
static void features_are_documented(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool on;
    } features[] = {
#define FEATURE(id, name, group_default, sentence) {name, group_default},
#include "fuzz/gen/features.def"
#undef FEATURE
    };
    static char text[1 << 16];
    FILE *file = fopen(SIMTFUZZ_SOURCE_DIR "/docs/generator.md", "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    for (size_t i = 0; i < sizeof features / sizeof features[0]; i++) {
        char row[100];
        snprintf(row, sizeof row, "\n| `%s` | %s |", features[i].name,
                 features[i].on ? "on" : "off");
        if (!strstr(text, row))
            fail_msg("docs/generator.md lacks%s", row);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_are_valid),
        cmocka_unit_test(kernels_with_other_features_are_valid),
        cmocka_unit_test(small_kernels_are_small),
        cmocka_unit_test(every_row_of_the_table_occurs),
        cmocka_unit_test(a_feature_can_be_dropped),
        cmocka_unit_test(shapes_that_break_reconvergence_occur),
        cmocka_unit_test(kernels_terminate_in_bounds),
        cmocka_unit_test(spinning_and_overrunning_are_possible),
        cmocka_unit_test(cases_are_the_same_everywhere),
        cmocka_unit_test(every_buffer_is_a_kernel),
        cmocka_unit_test(small_kernels_can_be_enumerated),
        cmocka_unit_test(features_are_parsed),
        cmocka_unit_test(features_are_documented),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
