/* Texts of configurations: limits, presets, keys, and that no bytes do any harm. What is read, what is refused and
 * where: tests/cases/fuzz/cli. */
#include "engine/base/pcg.h"
#include "engine/base/spelling.h"
#include "fuzz/cli/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct cli cli;

static int set_up(void **state)
{
    (void)state;
    return arena_init(&cli.arena, (size_t)1 << 30);
}

static int tear_down(void **state)
{
    (void)state;
    arena_destroy(&cli.arena);
    return 0;
}

static struct ini *read_text(const char *text)
{
    return ini_read(&cli.arena, text, strlen(text));
}

/* "section.key=value@line" of all entries. */
static const char *entries_of(const struct ini *ini)
{
    char *text = arena_strndup(&cli.arena, "", 0);
    for (const struct ini_entry *e = ini->entries; e; e = e->next)
        text = e->key ? arena_printf(&cli.arena, "%s%s.%s=%s@%u ", text, e->section, e->key,
                                     e->value, (unsigned)e->line)
                      : arena_printf(&cli.arena, "%s[%s]@%u ", text, e->section, (unsigned)e->line);
    return text;
}

static void errors_are_in_the_order_of_their_lines(void **state)
{
    (void)state;
    struct ini *nul = ini_read(&cli.arena, "[a]\nb=\0c\n", 9);
    assert_int_equal(nul->error_count, 1);
    struct ini *ini = read_text("x\n[a]\ny\nb = 1\nz\n");
    assert_int_equal(ini->error_count, 3);
    ini_refuse(ini, 2, "in between");
    uint32_t lines[] = {1, 2, 3, 5};
    const struct ini_error *error = ini->errors;
    for (size_t i = 0; i < 4; i++, error = error->next)
        assert_int_equal(error->line, lines[i]);
    assert_string_equal(entries_of(ini), "[a]@2 a.b=1@4 ");
}

static void limits_are_said(void **state)
{
    (void)state;
    size_t size = (size_t)INI_ENTRIES_MAX * 8 + INI_LINE_MAX + 100;
    char *text = ARENA_ARRAY(&cli.arena, char, size);
    memcpy(text, "[a]\nb = ", 8);
    memset(text + 8, 'x', size - 8);
    struct ini *ini = ini_read(&cli.arena, text, 8 + INI_VALUE_MAX);
    assert_int_equal(ini->error_count, 0);
    assert_int_equal(strlen(ini->entries->next->value), INI_VALUE_MAX);
    ini = ini_read(&cli.arena, text, 9 + INI_VALUE_MAX);
    assert_int_equal(ini->error_count, 1);
    assert_non_null(strstr(ini->errors->text, "value of 'b' is longer than 4000"));
    ini = ini_read(&cli.arena, text, 5 + INI_LINE_MAX);
    assert_int_equal(ini->error_count, 1);
    assert_non_null(strstr(ini->errors->text, "line is longer than 4096"));
    size_t length = 4;
    for (int i = 0; i < INI_ENTRIES_MAX; i++, length += 4)
        memcpy(text + length, "b=c\n", 4);
    ini = ini_read(&cli.arena, text, length);
    assert_int_equal(ini->error_count, 1);
    assert_non_null(strstr(ini->errors->text, "more than 4096"));
    /* Errors without end are counted, the first ones are kept. */
    for (size_t i = 0; i < 2000; i++)
        memcpy(text + i * 2, "x\n", 2);
    ini = ini_read(&cli.arena, text, 4000);
    uint32_t kept = 0;
    for (const struct ini_error *error = ini->errors; error; error = error->next)
        kept++;
    assert_int_equal(kept, INI_ERRORS_MAX);
    assert_int_equal(ini->error_count, 2000);
}

static void near_names_are_suggested(void **state)
{
    (void)state;
    static const char *const names[] = {"time", "cases", "schedules", "steps", "minimise"};
    assert_int_equal(spelling_distance("time", "time"), 0);
    assert_int_equal(spelling_distance("time", "tiem"), 1);
    assert_int_equal(spelling_distance("", "abc"), 3);
    assert_int_equal(spelling_distance("schedule", "schedules"), 1);
    assert_int_equal(spelling_distance("kitten", "sitting"), 3);
    assert_string_equal(spelling_nearest("tmie", names, 5), "time");
    assert_string_equal(spelling_nearest("case", names, 5), "cases");
    assert_string_equal(spelling_nearest("minimize", names, 5), "minimise");
    assert_null(spelling_nearest("colour", names, 5));
    assert_null(spelling_nearest("x", names, 5));
}

static void presets_are_configurations(void **state)
{
    (void)state;
    uint32_t count = 0;
    for (const struct config_preset *preset = config_presets; preset->name; preset++, count++) {
        options_default(&cli.options);
        struct ini *ini = config_read(&cli, preset->text, strlen(preset->text));
        if (ini->error_count > 0)
            fail_msg("%s:%u: %s", preset->name, (unsigned)ini->errors->line, ini->errors->text);
        assert_null(config_conflict(&cli.options));
        /* "# name: sentence" */
        assert_int_equal(strncmp(preset->text, "# ", 2), 0);
        assert_int_equal(strncmp(preset->text + 2, preset->name, strlen(preset->name)), 0);
        assert_true(cli.options.time_ms > 0);
    }
    assert_int_equal(count, 4);
}

/* What decides what a campaign does can be said in a file. */
static void every_option_of_run_has_a_key(void **state)
{
    (void)state;
    static const char *const others[] = {"config", "with", "check",   "weights", "ui",    "resume",
                                         "json",   "help", "verbose", "host",    "device"};
    for (size_t i = 0; i < option_count; i++) {
        uint32_t keys = 0;
        if (!option_is_on(&option_table[i], COMMAND_RUN))
            continue;
        for (uint32_t k = 0; k < config_key_count; k++)
            keys += strcmp(config_keys[k].option, option_table[i].name) == 0;
        for (size_t k = 0; k < sizeof others / sizeof others[0]; k++)
            keys += strcmp(others[k], option_table[i].name) == 0;
        if (keys != 1)
            fail_msg("--%s of run has %u keys", option_table[i].name, (unsigned)keys);
    }
    for (uint32_t k = 0; k < config_key_count; k++) {
        const struct cli_option *option = config_option(&config_keys[k]);
        assert_true(option->kind == OPTION_FLAG || !config_keys[k].negated);
        assert_int_equal(option->kind == OPTION_OWN, config_keys[k].print != NULL);
    }
}

/* The canonical form reads to what it was printed from. */
static void settings_print_to_themselves(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "[campaign]\nseed=7\nshard=3/16\njobs=2\ndb=a b.db\n[budget]\ntime=90\ncases=0x10\n"
        "schedules=3\nsteps=99\nminimise=no\nminimise-tests=5\nstop-on-finding=yes\n",
        "[campaign]\npreset=soak\n[generate]\nfeatures=all,-spin\nmutate=100\n",
        "[generate]\nenumerate=true\nfeatures=none\n[check]\nsubjects=threads,simt:then-first\n"
        "oracles=lemmas:strict,result\nsame-value=yes\natomics-sync=yes\nunscoped=yes\n",
        "[weights]\nloops=200\nstm.if=1%\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        options_default(&cli.options);
        assert_int_equal(config_read(&cli, texts[i], strlen(texts[i]))->error_count, 0);
        const char *printed = config_print(&cli.arena, &cli.options);
        options_default(&cli.options);
        assert_int_equal(config_read(&cli, printed, strlen(printed))->error_count, 0);
        assert_string_equal(config_print(&cli.arena, &cli.options), printed);
    }
}

static void a_file_beats_its_preset(void **state)
{
    (void)state;
    const char *text = "[generate]\nmutate = 3\n[campaign]\npreset = soak\n[budget]\ntime = 1m\n";
    options_default(&cli.options);
    assert_int_equal(config_read(&cli, text, strlen(text))->error_count, 0);
    assert_int_equal(cli.options.mutate, 3);
    assert_int_equal(cli.options.minimise_tests, 20000);
    assert_int_equal(cli.options.time_ms, 60000);
}

/* Bytes that look like configurations, and others. */
static void no_bytes_do_harm(void **state)
{
    (void)state;
    static const char *const bits[] = {
        "[",        "]",           "=",      "\n",           "\r\n",
        " ",        "#",           "\xff",   "budget",       "time",
        "5m",       "[weights]\n", "loops=", "200%",         "[campaign]\n",
        "preset",   "=soak",       "db=x\n", "\xef\xbb\xbf", "features",
        "none,",    "shard=1/2\n", "0",      "\t",           ";",
        "\xc3\xa9", "steps",       "on-end", "\x7f",         "subjects=threads\n"};
    struct pcg rng = pcg_derive(5, PCG_MUTATE, 0);
    for (int round = 0; round < 20000; round++) {
        size_t mark = arena_mark(&cli.arena);
        char text[256];
        size_t length = 0;
        for (uint32_t i = pcg_below(&rng, 24); i > 0; i--) {
            const char *bit = bits[pcg_below(&rng, sizeof bits / sizeof bits[0])];
            memcpy(text + length, bit, strlen(bit));
            length += strlen(bit);
            assert_true(length < sizeof text - 24);
        }
        options_default(&cli.options);
        struct ini *ini = config_read(&cli, text, length);
        for (const struct ini_error *error = ini->errors; error; error = error->next)
            assert_true(error->line > 0 && *error->text);
        arena_release(&cli.arena, mark);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_in_the_order_of_their_lines),
        cmocka_unit_test(limits_are_said),
        cmocka_unit_test(near_names_are_suggested),
        cmocka_unit_test(presets_are_configurations),
        cmocka_unit_test(every_option_of_run_has_a_key),
        cmocka_unit_test(a_file_beats_its_preset),
        cmocka_unit_test(settings_print_to_themselves),
        cmocka_unit_test(no_bytes_do_harm),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
