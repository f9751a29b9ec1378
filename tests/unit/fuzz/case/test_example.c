/*
 * What becomes of findings that cannot be cut themselves: check_kernel is wrapped (linker option --wrap), and engines
 * with a wrong instruction are made of what it says.
 */
#include "engine/input/input.h"
#include "fuzz/case/example.h"
#include "tests/unit/shared/arena_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char WITH_A_RESULT[] = "// simtfuzz: threads=2 blocks=1 warp=2\n"
                                    "// expect final res == {4, 4}\n"
                                    ".version 7.0\n.target sm_80\n.address_size 64\n"
                                    ".global .align 4 .b32 res[2];\n"
                                    ".visible .entry k()\n{\n"
                                    "\t.reg .b32 r<4>;\n\t.reg .b64 a;\n"
                                    "\tmov.u32 r0, %tid.x;\n\tmov.u64 a, res;\n"
                                    "\tmad.wide.u32 a, r0, 4, a;\n\tpopc.b32 r1, 31;\n"
                                    "\tsub.u32 r1, r1, 1;\n\tst.global.u32 [a], r1;\n\texit;\n}\n";

static const char OF_STATEMENTS[] = "launch(threads = 2, warp = 2);\n"
                                    "shared int s[2]; private int a, b;\n"
                                    "kernel k() { a = 1; b = a; s[tid] = b; }\n";

static enum { POPC_UNSEEN, POPC_SEEN, WRAPPED_SEEN } engine;

void __real_check_kernel(struct arena *to, const struct ast_kernel *kernel,
                         const struct check_options *options, struct check_result *result);
void __wrap_check_kernel(struct arena *to, const struct ast_kernel *kernel,
                         const struct check_options *options, struct check_result *result);

static void add(struct arena *to, struct check_result *result, enum oracle_id oracle,
                const char *class_name, enum rule rule)
{
    struct divergence *d = ARENA_NEW(to, struct divergence);
    *d = (struct divergence){.oracle = oracle,
                             .class_name = class_name,
                             .rule = rule,
                             .observable = "registers",
                             .evidence = "{}",
                             .summary = "made up"};
    answer_diverge(&result->answers[oracle], d);
}

static bool has(struct arena *to, const struct ast_kernel *kernel, const char *word)
{
    return strstr(print_kernel(to, kernel), word) != NULL;
}

static bool asks(const struct check_options *options, enum oracle_id oracle)
{
    return ((options->oracles | options->always) >> oracle & 1) != 0;
}

void __wrap_check_kernel(struct arena *to, const struct ast_kernel *kernel,
                         const struct check_options *options, struct check_result *result)
{
    __real_check_kernel(to, kernel, options, result);
    const char *word = engine == WRAPPED_SEEN ? "if" : "popc";
    bool is_wrong = has(to, kernel, word);
    struct transform_list done;
    if (options->transforms.count > 0 && asks(options, ORACLE_METAMORPHIC) &&
        has(to, transform_apply(to, kernel, &options->transforms, &done), word))
        add(to, result, ORACLE_METAMORPHIC, "store", RULE_NONE);
    if (is_wrong && kernel->expects && asks(options, ORACLE_DIRECTIONS))
        add(to, result, ORACLE_DIRECTIONS, "trace", RULE_NONE);
    if (is_wrong && engine != POPC_UNSEEN && asks(options, ORACLE_REFERENCE))
        add(to, result, ORACLE_REFERENCE, "step", RULE_SIMT_BREAK);
}

static struct example minimised(const char *text, const char *signature,
                                const struct check_options *check)
{
    static struct arena scratch;
    assert_int_equal(arena_init(&scratch, (size_t)4 << 30), 0);
    const struct reduce_options options = {
        .check = *check, .max_tests = 400, .max_steps = EXAMPLE_REDUCE_STEPS};
    const struct ast_kernel *kernel = parse_printed(&scratch, text);
    struct example example = {.statements = ast_kernel_size(kernel)};
    assert_true(example_minimise(&arena, &scratch, kernel, signature, &options, &example));
    arena_destroy(&scratch);
    return example;
}

/* Where the reference takes another step, that step is minimised, and is the cause of both. */
static void a_known_result_gives_way_to_a_step(void **state)
{
    (void)state;
    engine = POPC_SEEN;
    struct example example =
        minimised(WITH_A_RESULT, "directions|trace|none|registers", &CHECK_DEFAULTS);
    assert_true(example.slipped);
    assert_string_equal(example.small.signature, "reference|step|simt.break|registers");
    assert_string_equal(example.small.cause, "reference|step|simt.break|");
    assert_string_equal(example.raw.cause, example.small.cause);
    assert_true(example.small_statements <= 2);
}

/* Otherwise the expectation holds for this kernel alone. */
static void a_known_result_stays_whole(void **state)
{
    (void)state;
    engine = POPC_UNSEEN;
    struct example example =
        minimised(WITH_A_RESULT, "directions|trace|none|registers", &CHECK_DEFAULTS);
    assert_false(example.slipped);
    assert_string_equal(example.small.signature, "directions|trace|none|registers");
    assert_int_equal(example.small_statements, example.statements);
}

/* What goes wrong in the transformed kernel alone has that for its cause. */
static void a_transformed_kernel_has_a_cause(void **state)
{
    (void)state;
    const char *error;
    struct check_options check = CHECK_DEFAULTS;
    engine = WRAPPED_SEEN;
    assert_true(transform_parse_list("wrap", &check.transforms, &error));
    struct example example = minimised(OF_STATEMENTS, "metamorphic|store|none|registers", &check);
    assert_string_equal(example.small.signature, "metamorphic|store|none|registers");
    assert_string_equal(example.small.cause, "reference|step|simt.break|");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_known_result_gives_way_to_a_step),
        cmocka_unit_test(a_known_result_stays_whole),
        cmocka_unit_test(a_transformed_kernel_has_a_cause),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
