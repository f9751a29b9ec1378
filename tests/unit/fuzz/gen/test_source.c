/* The three sources of choices: ranges, proportions, determinism, exhaustion. */
#include "fuzz/gen/source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { DRAWS = 100000 };

/* Pearson's statistic against equal cells; its mean is bound - 1, its variance 2 (bound - 1). */
static void below_is_uniform(void **state)
{
    (void)state;
    static const uint32_t bounds[] = {2, 3, 7, 10, 100, 255};
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        uint32_t bound = bounds[i], count[256] = {0};
        struct source source;
        source_random(&source, 7, i);
        for (uint32_t draw = 0; draw < DRAWS; draw++) {
            uint32_t value = source_below(&source, bound);
            assert_true(value < bound);
            count[value]++;
        }
        double expected = (double)DRAWS / bound, statistic = 0;
        for (uint32_t value = 0; value < bound; value++)
            statistic += (count[value] - expected) * (count[value] - expected) / expected;
        double freedom = bound - 1;
        double deviation = statistic - freedom;
        assert_true(deviation * deviation < 25 * 2 * freedom); /* five standard deviations */
    }
}

static void random_is_a_function_of_seed_and_index(void **state)
{
    (void)state;
    struct source a, b, c, d;
    source_random(&a, 1, 5);
    source_random(&b, 1, 5);
    source_random(&c, 1, 6);
    source_random(&d, 2, 5);
    uint32_t same_c = 0, same_d = 0;
    for (int i = 0; i < 100; i++) {
        uint32_t value = source_below(&a, 1000);
        assert_int_equal(value, source_below(&b, 1000));
        same_c += value == source_below(&c, 1000);
        same_d += value == source_below(&d, 1000);
    }
    assert_true(same_c < 10 && same_d < 10);
}

static void a_bound_of_one_draws_nothing(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {5};
    struct source source;
    source_random(&source, 1, 1);
    uint64_t before = source.rng.state;
    assert_int_equal(source_below(&source, 1), 0);
    assert_true(source.rng.state == before);
    source_bytes(&source, bytes, sizeof bytes);
    assert_int_equal(source_below(&source, 1), 0);
    assert_int_equal(source_below(&source, 10), 5);
    source_enumerate(&source);
    assert_int_equal(source_below(&source, 1), 0);
    assert_false(source_advance(&source));
}

static void weights_are_proportions(void **state)
{
    (void)state;
    static const uint16_t weights[] = {10, 0, 30, 60};
    uint32_t count[4] = {0};
    struct source source;
    source_random(&source, 3, 3);
    for (int i = 0; i < DRAWS; i++)
        count[source_weighted(&source, weights, 4)]++;
    assert_int_equal(count[1], 0);
    assert_in_range(count[0], DRAWS / 10 - 600, DRAWS / 10 + 600);
    assert_in_range(count[2], DRAWS * 3 / 10 - 900, DRAWS * 3 / 10 + 900);
}

static void chance_is_a_percentage(void **state)
{
    (void)state;
    struct source source;
    source_random(&source, 4, 4);
    uint32_t count = 0;
    for (int i = 0; i < DRAWS; i++) {
        count += source_chance(&source, 30);
        assert_false(source_chance(&source, 0));
        assert_true(source_chance(&source, 100));
    }
    assert_in_range(count, DRAWS * 3 / 10 - 900, DRAWS * 3 / 10 + 900);
}

static void bytes_give_choices_and_then_zeros(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {7, 0x34, 0x12, 0x78, 0x56, 0x34, 0x12, 255};
    static const uint16_t weights[] = {0, 3, 4};
    struct source source;
    source_bytes(&source, bytes, sizeof bytes);
    assert_int_equal(source_below(&source, 10), 7);
    assert_int_equal(source_below(&source, 65536), 0x1234);
    assert_int_equal(source_below(&source, UINT32_MAX), 0x12345678);
    assert_int_equal(source_below(&source, 100), 55);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(source_below(&source, 1000), 0);
        assert_false(source_chance(&source, 99));
        assert_int_equal(source_weighted(&source, weights, 3), 1); /* the first possible one */
    }
    source_bytes(&source, NULL, 0);
    assert_int_equal(source_below(&source, 1u << 31), 0);
}

/* A first choice of three; after choice n, n choices of two: 1 + 2 + 4 sequences. */
static void the_enumerator_sees_each_sequence_once(void **state)
{
    (void)state;
    static const uint32_t expected[] = {0, 10, 11, 200, 201, 210, 211};
    struct source source;
    source_enumerate(&source);
    size_t count = 0;
    do {
        uint32_t first = source_below(&source, 3), code = first;
        for (uint32_t i = 0; i < first; i++)
            code = 10 * code + source_below(&source, 2);
        assert_true(count < sizeof expected / sizeof expected[0]);
        assert_int_equal(code, expected[count]);
        count++;
    } while (source_advance(&source));
    assert_int_equal(count, sizeof expected / sizeof expected[0]);
    assert_false(source.overflow);
}

static void the_enumerator_ignores_proportions(void **state)
{
    (void)state;
    static const uint16_t weights[] = {0, 50, 0, 1, 1000};
    struct source source;
    source_enumerate(&source);
    uint32_t seen[5] = {0}, both[2] = {0}, count = 0;
    do {
        seen[source_weighted(&source, weights, 5)]++;
        both[source_chance(&source, 1)]++;
        count++;
    } while (source_advance(&source));
    assert_int_equal(count, 6);
    assert_true(seen[0] == 0 && seen[2] == 0 && seen[1] == 2 && seen[3] == 2 && seen[4] == 2);
    assert_true(both[0] == 3 && both[1] == 3);
}

static void the_enumerator_says_when_a_sequence_was_too_long(void **state)
{
    (void)state;
    struct source source;
    source_enumerate(&source);
    for (int i = 0; i < SOURCE_ENUMERATE_MAX; i++)
        assert_int_equal(source_below(&source, 2), 0);
    assert_false(source.overflow);
    assert_int_equal(source_below(&source, 2), 0);
    assert_true(source.overflow);
    assert_true(source_advance(&source));
    assert_false(source.overflow);
    for (int i = 0; i < SOURCE_ENUMERATE_MAX - 1; i++)
        assert_int_equal(source_below(&source, 2), 0);
    assert_int_equal(source_below(&source, 2), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(below_is_uniform),
        cmocka_unit_test(random_is_a_function_of_seed_and_index),
        cmocka_unit_test(a_bound_of_one_draws_nothing),
        cmocka_unit_test(weights_are_proportions),
        cmocka_unit_test(chance_is_a_percentage),
        cmocka_unit_test(bytes_give_choices_and_then_zeros),
        cmocka_unit_test(the_enumerator_sees_each_sequence_once),
        cmocka_unit_test(the_enumerator_ignores_proportions),
        cmocka_unit_test(the_enumerator_says_when_a_sequence_was_too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
