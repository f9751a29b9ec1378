/* Which cases a campaign has, and each as a text; a shard is a residue class of chunks. */
#include "tests/unit/shared/campaign_fixture.h"

#include "engine/subjects/forms.h"
#include "fuzz/beside/beside.h"
#include "fuzz/case/case.h"

static void test_shards_are_residues(void **state)
{
    struct place *place = *state;
    struct campaign_options options = small_campaign(place);
    struct campaign_summary whole, part;
    uint64_t cases = 0, thread_steps = 0, occurrences = 0;
    options.cases = 5 * CAMPAIGN_CHUNK + 7; /* two chunks each, the last one of them short */
    run(place, &options, &whole, 0);
    options.shard_count = 3;
    for (options.shard_index = 0; options.shard_index < 3; options.shard_index++) {
        run(place, &options, &part, 0);
        cases += part.cases;
        thread_steps += part.thread_steps;
        occurrences += part.occurrences;
    }
    assert_int_equal(cases, whole.cases);
    assert_int_equal(thread_steps, whole.thread_steps);
    assert_int_equal(occurrences, whole.occurrences);
}

static void test_case_text(void **state)
{
    struct place *place = *state;
    struct campaign_options options = small_campaign(place);
    struct fuzz_case made, read;
    const char *error;
    case_of_campaign(&made, 0xfedcba9876543210u, 99, &options.gen, &options.check);
    char *text = case_print(&place->arena, &made);
    assert_true(case_parse(&place->arena, text, &read, &error));
    assert_string_equal(case_print(&place->arena, &read), text);
    assert_true(read.seed == made.seed && read.number == 99);
    assert_true(read.check.seed == made.check.seed);
    assert_int_equal(read.check.modes, ORACLE_MODE_LEMMAS_STRICT);
    static const char *const bad[] = {
        "",          "nonsense",     "seed=", "seed=-1", "oracles=none", "gen=99999999999",
        "subjects=", "seed=1 case=x"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(case_parse(&place->arena, bad[i], &read, &error));
}

/* In each round so many cases are tiny and searched, and so many about waiting, by their number alone; their text says
 * so and gives it back. */
static void test_tiny_cases(void **state)
{
    enum { NUMBERS = 50 * CASE_ROUND };
    struct place *place = *state;
    struct check_options check = CHECK_DEFAULTS;
    struct gen_options gen = GEN_DEFAULTS, fixed = {.features = gen.features, .fixed = true};
    struct fuzz_case c, again, read;
    const char *error;
    uint32_t tiny = 0, spin = 0;
    for (uint64_t number = 0; number < NUMBERS; number++) {
        size_t mark = arena_mark(&place->arena);
        case_of_campaign(&c, 7, number, &gen, &check);
        case_of_campaign(&again, 7, number, &gen, &check);
        const char *text = case_print(&place->arena, &c);
        assert_string_equal(text, case_print(&place->arena, &again));
        assert_int_equal(c.gen.small || c.gen.spin, c.check.exhaustive);
        assert_int_equal(strstr(text, " small ") != NULL, c.gen.small);
        assert_int_equal(strstr(text, " spin ") != NULL, c.gen.spin);
        assert_int_equal(strstr(text, " exhaustive=6000 ") != NULL, c.check.exhaustive);
        assert_true(case_parse(&place->arena, text, &read, &error));
        assert_int_equal(read.gen.small, c.gen.small);
        assert_int_equal(read.gen.spin, c.gen.spin);
        assert_int_equal(read.check.budget_steps, c.check.budget_steps);
        assert_int_equal(read.check.exhaustive, c.check.exhaustive);
        assert_memory_equal(&read.check.search, &c.check.search, sizeof c.check.search);
        tiny += c.gen.small;
        spin += c.gen.spin;
        case_of_campaign(&c, 7, number, &fixed, &check);
        assert_false(c.gen.small || c.gen.spin || c.check.exhaustive);
        arena_release(&place->arena, mark);
    }
    assert_int_equal(tiny, 50 * CASE_TINY);
    assert_int_equal(spin, 50 * CASE_SPIN);
}

/* Neighbouring cases of one campaign, and equal numbers of neighbouring seeds, share no seed. */
static void test_case_seeds_differ(void **state)
{
    struct place *place = *state;
    struct campaign_options options = small_campaign(place);
    struct fuzz_case a, b;
    for (uint64_t i = 0; i < 100; i++) {
        case_of_campaign(&a, i, i + 1, &options.gen, &options.check);
        case_of_campaign(&b, i + 1, i, &options.gen, &options.check);
        assert_true(a.check.seed != b.check.seed);
    }
}

/* A campaign of one feature, or of everything: each case has a kernel; PTX can be laid out. */
static void test_every_feature_alone(void **state)
{
    struct place *place = *state;
    for (uint32_t f = 0; f <= FEATURE_COUNT; f++) {
        struct gen_options gen = GEN_DEFAULTS;
        gen.features = f == FEATURE_COUNT ? (1u << FEATURE_COUNT) - 1 : 1u << f;
        for (uint64_t number = 0; number < 250; number++) {
            size_t mark = arena_mark(&place->arena);
            struct fuzz_case c;
            case_of_campaign(&c, 11, number, &gen, &CHECK_DEFAULTS);
            const struct ast_kernel *kernel = case_kernel(&place->arena, &c, NULL);
            assert_non_null(kernel);
            const struct form *crs =
                forms_get(forms_new(&place->arena, kernel), subject_table[SUBJECT_CRS].program);
            if (gen.features == 1u << FEATURE_KNOWN)
                assert_int_equal(kernel->form, FORM_PTX);
            if (kernel->form == FORM_PTX && !crs->program)
                fail_msg("case %u: %s", (unsigned)number, crs->reason);
            arena_release(&place->arena, mark);
        }
    }
}

/* What cases of each kind are asked: of 64, whatever the seed and the round. */
static void test_rounds(void **state)
{
    static const struct {
        const char *words;
        uint32_t places;
        const char *also; /* other words for it */
    } kinds[] = {{" features=0x", CASE_ROUND, NULL},
                 {" oracles=reference", CASE_INSTRUCTIONS + 2, " schedules=1 "},
                 {" spin ", CASE_SPIN, NULL},
                 {" small ", CASE_TINY, NULL},
                 {" oracles=prove", 2, NULL},
                 {" policies ", 4, NULL},
                 {" brief ", 2 + 4 + 5 + 2, NULL},
                 {" few ", 23, NULL}};
    struct place *place = *state;
    for (uint64_t seed = 0; seed < 3; seed++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            for (uint64_t round = 0; round < 3; round++) {
                uint32_t count = 0;
                for (uint64_t i = 0; i < CASE_ROUND; i++) {
                    struct fuzz_case c;
                    case_of_campaign(&c, seed, round * CASE_ROUND + i, &GEN_DEFAULTS,
                                     &CHECK_DEFAULTS);
                    const char *text = case_print(&place->arena, &c);
                    count += strstr(text, kinds[k].words) ||
                             (kinds[k].also && strstr(text, kinds[k].also));
                }
                assert_int_equal(count, kinds[k].places);
            }
}

/* Where nothing is asked in particular, so many cases of each round have a host program beside their kernel, and so
 * many litmus tests. */
static void test_beside(void **state)
{
    struct place *place = *state;
    struct gen_options gen = GEN_DEFAULTS;
    struct check_options check = CHECK_DEFAULTS;
    static const uint32_t shares[BESIDE_COUNT] = {CASE_HOST, CASE_LAWS};
    static const char *const texts[BESIDE_COUNT] = {"launch ", "P0@cta"};
    for (uint32_t b = 0; b < BESIDE_COUNT; b++) {
        struct fuzz_case c, with = {.beside = 0};
        uint32_t count = 0;
        uint64_t steps = 0;
        for (uint64_t number = 0; number < 10 * CASE_ROUND; number++) {
            case_of_campaign(&c, 31, number, &gen, &check);
            if (!(c.beside >> b & 1))
                continue;
            with = c;
            if (count++ < 10)
                assert_null(beside_table[b].judge(&place->arena, &c, &steps));
        }
        assert_int_equal(count, 10 * shares[b]);
        /* It shows nothing, so that whoever says that it did has been wrong. */
        struct example example;
        const char *said = arena_printf(&place->arena, "%s|said|", beside_table[b].name);
        assert_ptr_equal(beside_of(said), &beside_table[b]);
        beside_table[b].example(&place->arena, &place->arena, &with, said, 10, &example);
        assert_false(example.replayed);
        assert_non_null(strstr(example.case_text, " seed=0x1f case="));
        assert_non_null(strstr(example.kernel, texts[b]));
    }
    assert_null(beside_of("hostile|"));
    check.oracles = 1u << ORACLE_RESULT;
    for (uint64_t number = 0; number < 100; number++) {
        struct fuzz_case c;
        case_of_campaign(&c, 31, number, &gen, &check);
        assert_int_equal(c.beside, 0);
    }
}

/* A race is told at the statement that completes it, which is not its cause. */
static void test_host_cause(void **state)
{
    struct place *place = *state;
    static const char program[] =
        "host h[2] = {1, 2}\nhost g[2] = zero\nstream s\nstream t\n"
        "buffer b[2] = iota\ncopy h -> b stream=s\ncopy b -> g stream=t\n";
    struct example example;
    const struct db_finding finding = {.signature = "host|race|copy|",
                                       .rule = "copy",
                                       .raw_case =
                                           "host seed=0x1 case=7 schedules=2 races=0 device="};
    beside_of(finding.signature)->reduce(&place->arena, &finding, program, 40, &example);
    assert_true(example.minimised);
    assert_string_equal(example.small.signature, finding.signature);
    assert_string_equal(example.small.cause, "host|race||");
}

/* A test with loads that are not volatile, stored as if it had broken the law of those that are, does break that. */
static void test_litmus_again(void **state)
{
    struct place *place = *state;
    static const char test[] = "test drawn\nthread 0: st.cg x 1; ld.cg r1 y\n"
                               "thread 1: st.cg y 1; ld.cg r1 x\nobserve 0:r1 1:r1\n";
    struct db_finding finding = {.oracle = "litmus", .class = "volatile"};
    const struct beside_kind *litmus = beside_of(finding.oracle);
    assert_true(litmus->again(&place->arena, &finding, test).shows);
    finding.class = "inclusion";
    assert_false(litmus->again(&place->arena, &finding, test).shows);
    finding.class = "no law";
    assert_string_equal(litmus->again(&place->arena, &finding, test).why,
                        "the stored test is damaged");
    assert_string_equal(litmus->suffix, ".litmus");
}

int main(void)
{
#define CAMPAIGN_TEST(name) cmocka_unit_test_setup_teardown(name, place_set_up, place_tear_down)
    const struct CMUnitTest tests[] = {
        CAMPAIGN_TEST(test_shards_are_residues),
        CAMPAIGN_TEST(test_case_text),
        CAMPAIGN_TEST(test_tiny_cases),
        CAMPAIGN_TEST(test_rounds),
        CAMPAIGN_TEST(test_case_seeds_differ),
        CAMPAIGN_TEST(test_every_feature_alone),
        CAMPAIGN_TEST(test_beside),
        CAMPAIGN_TEST(test_host_cause),
        CAMPAIGN_TEST(test_litmus_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
