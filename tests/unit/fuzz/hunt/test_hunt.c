/* What a finding of an outside implementation becomes: written-out first values, texts for people, evidence and
 * back. */
#include "engine/input/input.h"
#include "fuzz/hunt/evidence.h"
#include "fuzz/hunt/freeze.h"
#include "fuzz/hunt/tidy.h"
#include "tests/unit/shared/support.h"

static struct arena arena;

static const struct gen_options *portable(void)
{
    static struct gen_options gen;
    const char *error_at;
    gen = GEN_DEFAULTS;
    assert_true(gen_parse_features("portable", &gen.features, &error_at));
    return &gen;
}

/* Values that are written out are those that were drawn: memory ends as before, also where variables were added. */
static void frozen_kernels_end_alike(void **state)
{
    (void)state;
    uint32_t drawn = 0, left = 0;
    for (uint64_t number = 0; number < 60; number++) {
        struct outside_expected before, after;
        arena.used = 0;
        const struct ast_kernel *kernel = gen_case(&arena, 3, number, portable());
        if (outside_validate(&arena, kernel, false, &before))
            continue;
        struct ast_kernel *frozen = freeze_inputs(&arena, kernel);
        for (const struct ast_var *var = frozen->vars; var; var = var->next)
            left += var->is_input;
        assert_null(outside_validate(&arena, frozen, false, &after));
        uint32_t globals = 0;
        for (const struct ast_var *var = kernel->vars; var; var = var->next) {
            drawn += var->is_input;
            globals += var->space == SPACE_GLOBAL ? var->length : 0;
        }
        assert_memory_equal(before.final, after.final, globals * sizeof *before.final);
    }
    assert_true(drawn > 60);
    assert_true(left < drawn / 2); /* shared ones that differ between blocks */
}

static void texts_lose_what_means_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *text, *tidy;
        enum tidy_bare bare;
    } rows[] = {
        {"x = (int)(0);\n", "x = 0;\n", TIDY_BOTH},
        {"x = (int)(y);\n", "x = (int)y;\n", TIDY_BOTH},
        {"x = (uint)((int)(f(0)));\n", "x = (uint)(int)f(0);\n", TIDY_BOTH},
        {"x = (int)((a + b));\n", "x = (int)(a + b);\n", TIDY_BOTH},
        {"x = (a) + (b + c) * d;\n", "x = (a) + (b + c) * d;\n", TIDY_BOTH},
        {"int f(int a) __attribute__((noinline));\n", "int f(int a) __attribute__((noinline));\n",
         TIDY_BOTH},
        {"int f(int a);\nint f(int a)\n{\n    return a;\n    return 0;\n}\n",
         "int f(int a)\n{\n    return a;\n}\n", TIDY_BOTH},
        {"int f(int a);\nint g(int a)\n", "int f(int a);\nint g(int a)\n", TIDY_BOTH},
        {"    int x;\n    x = 1;\n", "    int x = 1;\n", TIDY_BOTH},
        {"    int x;\n    y = 1;\n", "    int x;\n    y = 1;\n", TIDY_BOTH},
        {"    int x;\n    x = 1;\n    goto end;\n    end:;\n",
         "    int x;\n    x = 1;\n    goto end;\n    end:;\n", TIDY_BOTH},
        {"    y = 1;\n    end:;\n", "    y = 1;\n", TIDY_BOTH},
        {"int *p = mem + 0;\nint *q = mem + 01;\n", "int *p = mem;\nint *q = mem + 01;\n",
         TIDY_BOTH},
        {"#ifdef SIMTFUZZ_BARE\n#define a(n) ((b))\n#else\nelse\n#endif\nrest\n",
         "#define a(n) ((b))\nrest\n", TIDY_BARE},
        {"#ifdef SIMTFUZZ_BARE\nbare\n#else\nelse\n#endif\nrest\n", "else\nrest\n", TIDY_NOT_BARE},
        {"#ifdef SIMTFUZZ_BARE\nbare\n#endif\nrest\n", "rest\n", TIDY_NOT_BARE},
        {"#ifdef SIMTFUZZ_BARE\nbare\n#endif\nrest\n", "#ifdef SIMTFUZZ_BARE\nbare\n#endif\nrest\n",
         TIDY_BOTH},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_string_equal(tidy_text(&arena, rows[i].text, rows[i].bare), rows[i].tidy);
}

/* A wrong value, with all that could be in the way of reading it again. */
static struct hunt_finding make_finding(struct outside_expected *expected,
                                        const struct outside_subject *subject)
{
    const struct ast_kernel *kernel = gen_case(&arena, 3, 1, portable());
    assert_null(outside_validate(&arena, kernel, true, expected));
    int32_t *memory = ARENA_ARRAY(&arena, int32_t, expected->words);
    memcpy(memory, expected->final, expected->words * sizeof *memory);
    memory[2] ^= -1;
    memory[4] += 7;
    return (struct hunt_finding){.subject = subject,
                                 .expected = expected,
                                 .kernel = kernel,
                                 .raw = kernel,
                                 .knobs = EMIT_KNOB(OUTLINED) | EMIT_KNOB(NOINLINE),
                                 .vanishes = "unoptimised,+struct",
                                 .command = "cc \"a b\" {",
                                 .second = "agrees: x",
                                 .trial = {.verdict = TRIAL_WRONG,
                                           .cause = "",
                                           .log = "line 1\n\"quoted\" \\ \t\x01: [1, {2",
                                           .way = "crs",
                                           .word = 2,
                                           .expected = expected->final[2],
                                           .actual = memory[2],
                                           .memory = memory}};
}

static void evidence_reads_back(void **state)
{
    (void)state;
    const struct outside_subject subject = {
        .name = "opencl:x:-O:A=\"1\"", .version = "version \"1.0\": {\\}", .language = EMIT_CUDA};
    struct outside_expected expected, read_expected;
    struct outside_subject named;
    struct hunt_finding f, read;
    const char *reason;
    arena.used = 0;
    f = make_finding(&expected, &subject);
    const struct db_finding stored = {.oracle = "outside",
                                      .signature = "s",
                                      .observable = "o",
                                      .minimised = {.kernel = ""},
                                      .evidence = evidence_print(&arena, &f)};
    assert_true(
        evidence_read(&arena, &stored, f.kernel, false, &named, &read_expected, &read, &reason));
    assert_string_equal(named.name, subject.name);
    assert_string_equal(named.version, subject.version);
    assert_int_equal(named.language, EMIT_CUDA);
    assert_int_equal(read.knobs, f.knobs);
    assert_string_equal(read.vanishes, f.vanishes);
    assert_string_equal(read.command, f.command);
    assert_string_equal(read.trial.log, f.trial.log);
    assert_string_equal(read.trial.way, "crs");
    assert_int_equal(read.trial.actual, f.trial.actual);
    assert_int_equal(read_expected.words, expected.words);
    assert_memory_equal(read.trial.memory, f.trial.memory, expected.words * sizeof(int32_t));
    assert_string_equal(evidence_text(&arena, stored.evidence, "options"), "-O:A=\"1\"");
    assert_string_equal(evidence_text(&arena, stored.evidence, "absent"), "");
}

static void bad_evidence_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "{}",
        "{\"subject\": \"x\"",
        "{\"subject\": \"x\", \"language\": \"no\"}",
        "{\"subject\": \"x\", \"language\": \"cuda\", \"kind\": \"no\"}",
        "{\"subject\": \"x\", \"language\": \"cuda\", \"kind\": \"crash\", \"knobs\": \"no\"}",
        ("{\"a\": {\"subject\": \"x\", \"language\": \"cuda\", \"kind\": \"crash\", \"knobs\": "
         "\"none\"}}"),
        "\"",
        "{\"subject\": \"\\"};
    struct outside_expected expected;
    struct outside_subject named;
    struct hunt_finding read;
    const char *reason;
    const struct ast_kernel *kernel = gen_case(&arena, 3, 1, portable());
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const struct db_finding stored = {.oracle = "outside",
                                          .signature = "",
                                          .observable = "",
                                          .minimised = {.kernel = ""},
                                          .evidence = texts[i]};
        assert_false(
            evidence_read(&arena, &stored, kernel, false, &named, &expected, &read, &reason));
        assert_string_equal(reason, "its evidence is damaged");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frozen_kernels_end_alike),
        cmocka_unit_test(texts_lose_what_means_nothing),
        cmocka_unit_test(evidence_reads_back),
        cmocka_unit_test(bad_evidence_is_refused),
    };
    if (arena_init(&arena, (size_t)1 << 32) != 0)
        return 3;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
