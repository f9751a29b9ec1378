/* The grid that is drawn anew again and again, and the status screen at every size. */
#include "tests/unit/shared/support.h"

#include "fuzz/campaign/ui.h"

#include <stdio.h>

static void numbers_are_short(void **state)
{
    (void)state;
    static const struct {
        uint64_t number;
        const char *text;
    } table[] = {{0, "0"},
                 {9999, "9999"},
                 {10000, "10.0 k"},
                 {12345, "12.3 k"},
                 {99999, "100 k"},
                 {999499, "999 k"},
                 {999500, "1.00 M"},
                 {1234567, "1.23 M"},
                 {123456789, "123 M"},
                 {UINT64_MAX, "18.4 E"}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        assert_string_equal(ui_number(&test_arena, table[i].number), table[i].text);
    for (uint64_t number = 1; number < UINT64_MAX / 3; number = number * 3 + 1)
        assert_true(strlen(ui_number(&test_arena, number)) <= 6);
    assert_string_equal(ui_duration(&test_arena, 7999), "7 s");
    assert_string_equal(ui_duration(&test_arena, 63000), "1 min 03 s");
    assert_string_equal(ui_duration(&test_arena, 2 * 3600000 + 7 * 60000), "2 h 07 min");
    assert_string_equal(ui_duration(&test_arena, (uint64_t)50 * 3600000), "2 d 2 h");
}

/* What a terminal of the size that is all blanks has to be sent. */
static const char *sent(const struct screen *screen)
{
    return arena_strndup(&test_arena, screen->bytes, screen->length);
}

static void only_what_changed_is_sent(void **state)
{
    (void)state;
    struct screen *screen = screen_new(&test_arena, true, true);
    screen_begin(screen, 3, 10, false);
    screen_put(screen, 0, 0, STYLE_PLAIN, "one");
    screen_put(screen, 2, 2, STYLE_BOLD, "two");
    screen_end(screen);
    assert_string_equal(sent(screen), "\033[0m\033[2J\033[1;1Hone\033[3;3H\033[0;1mtwo\033[0m");
    for (int i = 0; i < 2; i++) {
        screen_begin(screen, 3, 10, false);
        screen_put(screen, 0, 0, STYLE_PLAIN, i == 0 ? "one" : "ore");
        screen_put(screen, 2, 2, STYLE_BOLD, "two");
        screen_end(screen);
        assert_string_equal(sent(screen), i == 0 ? "" : "\033[1;2Hr");
    }
    screen_begin(screen, 3, 10, false); /* what is gone is overwritten */
    screen_end(screen);
    assert_string_equal(sent(screen), "\033[1;1H   \033[3;3H   ");
    screen_begin(screen, 4, 10, false); /* another size: all of it */
    screen_put(screen, 0, 0, STYLE_PLAIN, "one");
    screen_end(screen);
    assert_string_equal(sent(screen), "\033[0m\033[2J\033[1;1Hone");
    assert_string_equal(screen_text(&test_arena, screen), "one\n\n\n\n");
}

static void nothing_leaves_the_grid(void **state)
{
    (void)state;
    struct screen *screen = screen_new(&test_arena, true, false);
    screen_begin(screen, 2, 5, false);
    screen_put(screen, 0, 2, STYLE_PLAIN, "abcdef"); /* the last column stays empty */
    screen_put(screen, 1, 7, STYLE_PLAIN, "x");
    screen_put(screen, 2, 0, STYLE_PLAIN, "y");
    screen_put(screen, 1, 0, STYLE_GOOD, "\033[\n\xc3");
    screen_end(screen);
    assert_string_equal(screen_text(&test_arena, screen), "  ab\n?[??\n");
    assert_null(strstr(sent(screen), "32m")); /* no colours */
    screen_begin(screen, UINT32_MAX, UINT32_MAX, false);
    screen_end(screen);
    assert_int_equal(screen->rows, SCREEN_ROWS_MAX);
}

static void curves_go_from_least_to_most(void **state)
{
    (void)state;
    struct screen *screen = screen_new(&test_arena, true, true),
                  *plain = screen_new(&test_arena, false, true);
    static const uint32_t values[] = {0, 1, 2, 3, 4, 5, 6, 7};
    assert_string_equal(screen_spark(&test_arena, screen, values, 8, 20, false), "▁▂▃▄▅▆▇█");
    assert_string_equal(screen_spark(&test_arena, screen, values, 8, 4, false), "▂▄▆█");
    assert_string_equal(screen_spark(&test_arena, plain, values, 8, 20, false), "_.-:=+*#");
    assert_string_equal(screen_spark(&test_arena, plain, values + 7, 1, 20, true), "_");
    assert_string_equal(screen_spark(&test_arena, plain, values + 6, 2, 20, false), "*#");
    assert_string_equal(screen_spark(&test_arena, plain, values + 6, 2, 20, true), "_#");
    assert_string_equal(screen_spark(&test_arena, plain, values, 0, 20, false), "");
    assert_string_equal(screen_spark(&test_arena, plain, values, 8, 0, false), "");
}

/* Whatever the window, nothing is written twice to one place, and the first and the last line are there. */
static void the_screen_fits_every_window(void **state)
{
    (void)state;
    static struct campaign_options options = {
        .seed = 7, .jobs = 64, .db_path = "a.db", .time_ms = 1000};
    static struct campaign_summary summary = {.campaign = 3, .thread_steps = UINT64_MAX / 2};
    static struct campaign_finding last = {.id = 12, .signature = "oracle|class|rule|observable"};
    static struct view view = {.options = &options,
                               .summary = &summary,
                               .state = "running",
                               .left_known = true,
                               .cases = 123456789,
                               .growth_count = 3,
                               .growth = {1, 2, 3},
                               .last = &last,
                               .worker_count = 64,
                               .message = ""};
    options.check = CHECK_DEFAULTS;
    options.check.oracles = ORACLES_DEFAULT;
    for (uint32_t i = 0; i < 64; i++)
        view.workers[i] =
            (struct view_worker){.number = i, .phase = WATCH_CHECKING, .still_ms = i * 999};
    struct screen *screen = screen_new(&test_arena, true, true);
    for (uint32_t rows = 1; rows <= 60; rows++)
        for (uint32_t columns = 1; columns <= 200; columns += rows % 7 + 1) {
            size_t mark = arena_mark(&test_arena);
            view.worker_count = rows % 3 == 0 ? 2 : 64;
            screen_begin(screen, rows, columns, false);
            ui_draw(&test_arena, screen, &view, rows % 5 == 0);
            screen_end(screen);
            const char *text = screen_text(&test_arena, screen);
            if (columns > 10)
                assert_memory_equal(text, " simtfuzz", 9);
            if (columns > 20 && rows > 1)
                assert_non_null(strstr(text, "q ends   ? help\n"));
            if (columns > 60 && rows > 4 && rows % 5 != 0)
                assert_non_null(strstr(text, "\ncases      123 M"));
            if (columns > 90 && rows > 30 && rows % 5 != 0) {
                assert_non_null(strstr(text, "metamorphic"));
                assert_non_null(
                    strstr(text, view.worker_count == 2 ? "  1  checking" : " 63  checking"));
            }
            arena_release(&test_arena, mark);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_short),
        cmocka_unit_test(only_what_changed_is_sent),
        cmocka_unit_test(nothing_leaves_the_grid),
        cmocka_unit_test(curves_go_from_least_to_most),
        cmocka_unit_test(the_screen_fits_every_window),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
