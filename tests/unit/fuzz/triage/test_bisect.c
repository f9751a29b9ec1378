/* Bisection over builds that show something, do not, or cannot say. */
#include "fuzz/triage/bisect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { BUILDS_MAX = 16 };

struct row {
    const char *builds; /* a letter each: x shows it, . does not, ? cannot say */
    uint32_t tests[BUILDS_MAX];
};

static enum bisect_state meant(char letter)
{
    return letter == 'x' ? BISECT_SHOWS : letter == '.' ? BISECT_GONE : BISECT_CANNOT_SAY;
}

static enum bisect_state test_build(void *context, uint32_t build)
{
    struct row *row = context;
    row->tests[build]++;
    return meant(row->builds[build]);
}

static struct bisect_result ask(const char *builds, bool all)
{
    struct row row = {.builds = builds};
    enum bisect_state states[BUILDS_MAX];
    struct bisect_result result;
    uint32_t count = (uint32_t)strlen(builds), tested = 0, silent = 0;
    bisect(count, all, test_build, &row, states, &result);
    for (uint32_t i = 0; i < count; i++) {
        assert_true(row.tests[i] <= 1);
        assert_int_equal(states[i], row.tests[i] ? meant(builds[i]) : BISECT_UNTESTED);
        tested += row.tests[i];
        silent += row.tests[i] && builds[i] == '?';
    }
    assert_int_equal(result.tested, tested);
    assert_int_equal(result.silent, silent);
    return result;
}

static void test_answers(void **state)
{
    (void)state;
    static const struct {
        const char *builds;
        enum bisect_answer answer;
        uint32_t before, after;
    } rows[] = {
        {".x", BISECT_STARTS, 0, 1},       {"x.", BISECT_CEASES, 0, 1},
        {"....xxxx", BISECT_STARTS, 3, 4}, {".xxxxxxx", BISECT_STARTS, 0, 1},
        {".......x", BISECT_STARTS, 6, 7}, {"xxx.....", BISECT_CEASES, 2, 3},
        {"x", BISECT_ALWAYS, 0, 0},        {".", BISECT_NEVER, 0, 0},
        {"", BISECT_NO_BUILD, 0, 0},       {"??", BISECT_NO_BUILD, 0, 0},
        {"?..x?", BISECT_STARTS, 2, 3},    {"??x?", BISECT_ALWAYS, 0, 0},
        {"..???xx", BISECT_STARTS, 1, 5},  {".?????x", BISECT_STARTS, 0, 6},
        {".?x?xx?", BISECT_STARTS, 0, 2},  {"x????.", BISECT_CEASES, 0, 5},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int all = 0; all < 2; all++) {
            struct bisect_result result = ask(rows[i].builds, all);
            assert_string_equal(bisect_answer_name(result.answer),
                                bisect_answer_name(rows[i].answer));
            assert_int_equal(result.before, rows[i].before);
            assert_int_equal(result.after, rows[i].after);
            if (all)
                assert_int_equal(result.tested, strlen(rows[i].builds));
        }
}

/* All rows of up to six builds: what is answered is true of the row, and `all` counts the changes. */
static void test_every_row(void **state)
{
    (void)state;
    static const char letters[] = "x.?";
    for (uint32_t length = 1; length <= 6; length++) {
        uint32_t rows = 1;
        for (uint32_t i = 0; i < length; i++)
            rows *= 3;
        for (uint32_t number = 0; number < rows; number++) {
            char builds[BUILDS_MAX] = "";
            uint32_t changes = 0, left = number;
            char last = '?';
            for (uint32_t i = 0; i < length; i++, left /= 3) {
                builds[i] = letters[left % 3];
                changes += last != '?' && builds[i] != '?' && builds[i] != last;
                last = builds[i] == '?' ? last : builds[i];
            }
            for (int all = 0; all < 2; all++) {
                struct bisect_result result = ask(builds, all);
                if (all)
                    assert_int_equal(result.changes, changes);
                if (result.answer != BISECT_STARTS && result.answer != BISECT_CEASES)
                    continue;
                bool starts = result.answer == BISECT_STARTS;
                assert_int_equal(builds[result.after], starts ? 'x' : '.');
                assert_int_equal(builds[result.before], starts ? '.' : 'x');
                for (uint32_t i = result.before + 1; i < result.after; i++)
                    assert_int_equal(builds[i], '?');
            }
        }
    }
}

/* A binary search. */
static void test_few_builds_are_asked(void **state)
{
    (void)state;
    assert_true(ask(".......xxxxxxxxx", false).tested <= 6);
    assert_int_equal(ask("x.x.x.x.x.x.x.x.", true).changes, 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_every_row),
        cmocka_unit_test(test_few_builds_are_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
