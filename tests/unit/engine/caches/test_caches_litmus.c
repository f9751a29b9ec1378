/*
 * The litmus tests of corpus/litmus/caches.litmus as kernels in PTX, run by `crs` with caches: the machine has exactly
 * the outcomes of engine/litmus, in each profile; and the same without the reductions R1, R2 and R3.
 */
#include "tests/unit/shared/support.h"

#include "engine/caches/caches.h"
#include "engine/crs/crs.h"
#include "engine/litmus/litmus.h"
#include "engine/litmus/litmus_kernel.h"
#include "engine/program/ptx_code.h"
#include "tests/unit/engine/caches/explore.h"

#include <stdio.h>

enum { LIMIT = 400000 };

struct collecting {
    const struct litmus_test *test;
    struct litmus_result result;
    struct ptx_place places[LITMUS_OBSERVED];
    uint32_t actors[LITMUS_OBSERVED], lanes[LITMUS_OBSERVED], words[LITMUS_OBSERVED];
    uint32_t dead, broken;
    struct arena *arena;
};

static void ended(void *context, const struct machine *machine)
{
    struct collecting *x = context;
    int16_t values[LITMUS_OBSERVED] = {0};
    if (machine_status(machine) != STATUS_TERMINATED) {
        x->dead++;
        return;
    }
    for (uint32_t i = 0; i < x->test->observed; i++) {
        if (!x->test->observe[i].is_register) {
            values[i] = (int16_t)caches_current(machine, x->words[i]);
            continue;
        }
        const struct ptx_lanes *lanes = crs_warp(machine, x->actors[i]).lanes;
        values[i] = (int16_t)ptx_source(machine, lanes, &x->places[i], x->lanes[i]);
    }
    litmus_add_outcome(x->arena, x->test, &x->result, values);
}

static void passed(void *context, const struct machine *machine)
{
    struct collecting *x = context;
    const char *broken = caches_broken(&test_arena, machine);
    if (broken && x->broken++ == 0)
        print_error("%s: %s\n", x->test->name, broken);
}

static uint32_t region_word(const struct ptx_regions *regions, const char *name)
{
    for (uint32_t i = 0; i < regions->count; i++)
        if (strcmp(regions->items[i].name, name) == 0)
            return regions->items[i].word;
    return 0;
}

static struct program *program_of(const struct litmus_test *test)
{
    const char *reason = NULL, *text = litmus_kernel(&test_arena, test);
    struct diag diag;
    assert_non_null(text);
    diag_init(&diag, test->name, text, strlen(text));
    struct ast_kernel *kernel = parse_kernel(&test_arena, text, strlen(text), &diag);
    if (!kernel)
        diag_print(&diag, stderr);
    assert_non_null(kernel);
    struct program *program = ptx_compile(&test_arena, kernel, kernel->ptx->module, NULL, &reason);
    if (!program)
        fail_msg("%s\n%s", reason, text);
    return program;
}

/* The register's place is the result of the instruction that writes its first value. */
static struct ptx_place place_of(const struct program *program, uint32_t thread, uint32_t reg)
{
    char name[32];
    snprintf(name, sizeof name, "mov.u32 %%a%u_%u, ", (unsigned)thread, (unsigned)reg);
    for (uint32_t pc = 1; pc < program->ptx->count; pc++)
        if (strstr(ptx_op_text(&test_arena, program->ptx, pc), name))
            return program->ptx->ops[pc].results[0];
    fail_msg("no register %s", name);
    return (struct ptx_place){0};
}

static void find_observed(struct collecting *x, const struct program *program)
{
    struct litmus_shape shape = litmus_shape(x->test);
    for (uint32_t i = 0; i < x->test->observed; i++) {
        const struct litmus_observed *o = &x->test->observe[i];
        uint32_t block, warp, reg = o->number;
        litmus_place(x->test, o->is_register ? o->thread : 0, &block, &warp);
        if (o->is_register) {
            x->lanes[i] = litmus_lane_of(x->test, o->thread, &reg);
            x->places[i] = place_of(program, o->thread, reg);
            x->actors[i] = block * shape.warps + warp;
        } else if (o->number < LITMUS_GLOBALS) {
            x->words[i] = region_word(&program->ptx->global, "g") + o->number;
        } else if (o->number < LITMUS_GLOBALS + 4 * LITMUS_THREADS) {
            uint32_t k = o->number - LITMUS_GLOBALS;
            x->words[i] = program->shared_base + k / 4 * program->words[SPACE_SHARED] +
                          region_word(&program->ptx->shared, "s") + k % 4;
        } else {
            uint32_t k = o->number - LITMUS_GLOBALS - 4 * LITMUS_THREADS;
            litmus_place(x->test, o->thread, &block, &warp);
            uint32_t number = (block * shape.warps + warp) * shape.lanes;
            x->words[i] = program->frame_base + number * program->words[SPACE_LOCAL] +
                          program->ptx->frame_local_base / 4 + k % 2;
        }
    }
}

static struct memory_options options_of(const struct litmus_test *test, enum litmus_model model)
{
    static const uint8_t profiles[] = {[LITMUS_PRINTED] = MEMORY_PRINTED,
                                       [LITMUS_LLH] = MEMORY_LLH,
                                       [LITMUS_COHERENT] = MEMORY_COHERENT};
    static const uint8_t splits[] = {[0] = SPLIT_LINES, [1] = SPLIT_LANES, [2] = SPLIT_EITHER};
    struct memory_options o = {.profile = profiles[model],
                               .words = test->options.words_a_line,
                               .lines = 8,
                               .sms = (uint8_t)litmus_shape(test).blocks,
                               .slots = 8,
                               .split = splits[test->options.split],
                               .strong = test->options.strong,
                               .before = test->options.before,
                               .inval = test->options.inval,
                               .eager = true};
    return o;
}

static void add_warm(struct memory_options *o, const struct litmus_test *test,
                     const struct program *program)
{
    static uint32_t warm[2 * LITMUS_THREADS * LITMUS_GLOBALS];
    uint32_t from = region_word(&program->ptx->global, "g");
    o->warm = warm;
    for (uint32_t sm = 0; sm < LITMUS_THREADS; sm++)
        for (uint32_t w = 0; w < LITMUS_GLOBALS; w++)
            if (test->warm[sm] >> w & 1) {
                warm[2 * o->warm_count] = sm;
                warm[2 * o->warm_count++ + 1] = from + w;
            }
}

static uint32_t run(const struct litmus_test *test, struct collecting *x, struct arena *arena,
                    struct memory_options *o)
{
    struct program *program = program_of(test);
    *x = (struct collecting){.test = test, .arena = arena};
    add_warm(o, test, program);
    struct machine_options options = {.track = true, .memory = *o};
    struct machine *machine = machine_new(&test_arena, &semantics_crs_caches, program, &options);
    find_observed(x, program);
    return explore_all(machine, LIMIT, ended, passed, x);
}

static bool same(const struct litmus_result *a, const struct litmus_result *b)
{
    bool equal = a->count == b->count;
    for (uint32_t i = 0; i < a->count && equal; i++)
        equal = strcmp(a->outcomes[i], b->outcomes[i]) == 0;
    return equal;
}

static void tell(const char *what, const struct litmus_result *r)
{
    print_error("  %s:", what);
    for (uint32_t i = 0; i < r->count; i++)
        print_error(" %s", r->outcomes[i]);
    print_error("\n");
}

static const char *read_tests(void)
{
    static char text[1 << 17];
    FILE *file = fopen(SIMTFUZZ_SOURCE_DIR "/corpus/litmus/caches.litmus", "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    return text;
}

struct count {
    uint32_t tests, states, different, dead, cut, broken;
};

static void compare(const struct litmus_test *test, enum litmus_model model,
                    struct memory_options *o, struct count *count)
{
    struct litmus_result expected;
    struct collecting x;
    assert_true(litmus_run(&test_arena, test, model, LIMIT, &expected));
    uint32_t states = run(test, &x, &test_arena, o);
    count->tests++;
    count->states += states;
    count->cut += states == 0;
    count->dead += x.dead;
    count->broken += x.broken;
    if (states && same(&expected, &x.result) && x.dead == 0)
        return;
    count->different++;
    print_error("%s under %s: %u states, %u dead\n", test->name, litmus_model_names[model],
                (unsigned)states, (unsigned)x.dead);
    tell("expected", &expected);
    tell("machine", &x.result);
}

static void all_tests(enum litmus_model model, void (*change)(struct memory_options *),
                      uint32_t every, struct count *count)
{
    const char *text = read_tests();
    struct litmus_reader reader = {text, 1};
    struct diag diag;
    uint32_t number = 0;
    for (;;) {
        struct litmus_test *test = ARENA_NEW(&test_arena, struct litmus_test);
        size_t mark = arena_mark(&test_arena);
        diag_init(&diag, "caches.litmus", text, strlen(text));
        if (!litmus_next(&test_arena, &reader, test, &diag))
            break;
        if (number++ % every == 0) {
            struct memory_options o = options_of(test, model);
            if (change)
                change(&o);
            compare(test, model, &o, count);
        }
        (void)mark;
    }
}

static void test_profiles(void **state)
{
    (void)state;
    for (enum litmus_model m = LITMUS_PRINTED; m <= LITMUS_COHERENT; m++) {
        struct count count = {0};
        all_tests(m, NULL, 1, &count);
        print_message("%s: %u tests, %u states, %u different\n", litmus_model_names[m],
                      (unsigned)count.tests, (unsigned)count.states, (unsigned)count.different);
        assert_int_equal(count.tests, 129);
        assert_int_equal(count.different, 0);
        assert_int_equal(count.broken, 0);
    }
}

static void without_r1(struct memory_options *o)
{
    o->lazy = true;
}

static void without_r2(struct memory_options *o)
{
    o->full = true;
    o->l2_lines = 12;
}

static void without_r3(struct memory_options *o)
{
    o->flush = true;
}

static void without_any(struct memory_options *o)
{
    without_r1(o);
    without_r2(o);
    without_r3(o);
}

/* Who can issue waits for its turn: states multiply by what registers do meanwhile. */
static void not_eager(struct memory_options *o)
{
    o->eager = false;
}

/* R1, R2, R3 leave the outcomes as they are, one by one and all together. */
static void test_reductions(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        void (*change)(struct memory_options *);
        enum litmus_model model;
        uint32_t every;
    } runs[] = {{"R1: registers", without_r1, LITMUS_PRINTED, 1},
                {"R1: issue", not_eager, LITMUS_PRINTED, 6},
                {"R2", without_r2, LITMUS_PRINTED, 1},
                {"R3", without_r3, LITMUS_PRINTED, 1},
                {"all", without_any, LITMUS_PRINTED, 2},
                {"all", without_any, LITMUS_COHERENT, 3}};
    for (uint32_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        struct count count = {0};
        all_tests(runs[i].model, runs[i].change, runs[i].every, &count);
        print_message("without %s, %s: %u tests, %u states, %u different, %u cut off\n",
                      runs[i].name, litmus_model_names[runs[i].model], (unsigned)count.tests,
                      (unsigned)count.states, (unsigned)count.different, (unsigned)count.cut);
        assert_true(count.tests > 20);
        assert_int_equal(count.different, 0);
        assert_int_equal(count.broken, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_profiles, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_reductions, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
