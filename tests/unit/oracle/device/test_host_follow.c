/* Executions of a device are followed by a second account: it agrees with the device on the scenarios of
 * corpus/host/dv, and speaks when the device is another one than it was told, setting by setting. */
#include "tests/unit/shared/support.h"

#include "oracle/device/host_follow.h"

#include <stdlib.h>
#include <string.h>

enum { SCENARIOS = 19, SEEDS = 24 };

static const struct host_program *scenario(int number)
{
    const char *path =
        arena_printf(&test_arena, SIMTFUZZ_SOURCE_DIR "/corpus/host/dv/DV.%02d.host", number);
    struct diag *diag = ARENA_NEW(&test_arena, struct diag);
    size_t length;
    diag_init(diag, path, NULL, 0);
    const char *text = parse_read_file(&test_arena, path, &length, diag);
    assert_non_null(text);
    const struct host_program *program = host_parse(&test_arena, path, text, length, diag);
    assert_non_null(program);
    return program;
}

static struct device_options options_of(const char *settings)
{
    struct device_options options = DEVICE_SC;
    const char *why;
    assert_true(device_set(&test_arena, &options, settings, &why));
    return options;
}

/* What is of a statement is told there, wherever the host is. */
static void assert_told_at(const char *text, uint32_t line)
{
    const char *of = text ? strstr(text, " of line ") : NULL;
    if (of)
        assert_int_equal(line, strtoul(of + strlen(" of line "), NULL, 10));
}

/* What the reference of a device with settings `told` says first, of a device with settings `is`. */
static const char *followed(const struct host_program *program, const char *told, const char *is)
{
    const struct device_options options = options_of(told);
    struct diag *diag = ARENA_NEW(&test_arena, struct diag);
    const char *text = NULL;
    uint32_t line;
    diag_init(diag, told, NULL, 0);
    struct device *device = device_new(&test_arena, program, &options, diag);
    assert_non_null(device);
    struct host_follow *follow = host_follow_watch(&test_arena, device);
    assert_non_null(follow);
    device->options = options_of(is);
    for (uint64_t seed = 0; seed < SEEDS && !text; seed++) {
        struct device_schedule schedule = {
            .order = seed % 4 ? ORDER_RANDOM : ORDER_LATE, .seed = seed, .budget = 1 << 10};
        device_reset(device);
        host_follow_start(follow);
        text = host_follow_end(follow, device_execute(device, &schedule), &line);
        assert_told_at(text, line);
    }
    host_follow_leave(follow);
    return text;
}

static void test_agrees(void **state)
{
    (void)state;
    for (int number = 1; number <= SCENARIOS; number++) {
        const struct host_program *program = scenario(number);
        for (uint32_t i = 0; i < program->claim_count; i++) {
            const char *settings = program->claims[i].options;
            const char *text = followed(program, settings, settings);
            if (text)
                fail_msg("DV.%02d on `%s`: %s", number, settings, text);
        }
    }
}

static void assert_agrees_on(const char *text, const char *settings)
{
    struct diag *diag = ARENA_NEW(&test_arena, struct diag);
    diag_init(diag, "text", text, strlen(text));
    const struct host_program *program = host_parse(&test_arena, "text", text, strlen(text), diag);
    assert_non_null(program);
    const char *differs = followed(program, settings, settings);
    if (differs)
        fail_msg("on `%s`: %s", settings, differs);
}

/* Blocks that are aborted leave late atomics, at their places: those who come find them there, and nowhere else, and no
 * atomic comes between the halves of another one. */
static void test_aborted_places(void **state)
{
    static const char *const settings[] = {"llh memory=caches lines=1",
                                           "llh memory=caches drain=block order=stream lines=2",
                                           "llh memory=caches drain=block occupancy=device lines=2",
                                           "sc memory=caches ends=keep sms=1 blocks=1"};
    (void)state;
    for (uint32_t i = 0; i < sizeof settings / sizeof *settings; i++)
        assert_agrees_on("kernel k\n"
                         "launch(threads = 1);\n"
                         "global int x[2];\n"
                         "shared int s[2];\n"
                         "private int v;\n"
                         "kernel k() { v = atomic_add(s[1], 1); x[0] = v; }\n"
                         "end\n"
                         "buffer a[2]\n"
                         "buffer b[2]\n"
                         "launch l: k grid=2 block=1 x=a\n"
                         "abort l\n"
                         "launch k grid=1 block=1 x=b\n"
                         "sync\n",
                         settings[i]);
}

/* Without launches nothing is under way, however many words there are. */
static void test_no_launches(void **state)
{
    (void)state;
    assert_agrees_on("buffer a[1000]\nhost h[1000] = all 1\ncopy h -> a\nsync\n", "printed");
}

static void test_speaks(void **state)
{
    static const struct {
        int scenario;
        const char *told, *is;
    } wrong[] = {
        {1, "printed order=stream", "printed"},
        {2, "printed", "printed drain=block"},
        {4, "printed flush=start", "printed"},
        {5, "printed", "printed flush=start"},
        {7, "printed grids=1", "printed"},
        {9, "printed sms=1 blocks=1", "printed sms=1 blocks=1 flags=reset"},
        {10, "printed sms=1 blocks=1 drain=block", "printed sms=1 blocks=1"},
        {11, "printed", "printed ends=drain"},
        {12, "printed ends=drain", "printed"},
        {14, "switch=sticky", "switch=free"},
        {15, "printed", "printed frozen=no"},
        {18, "sms=1 shared=63", "sms=1 shared=64"},
        {19, "printed occupancy=device sms=1 blocks=1", "printed sms=1 blocks=1"},
    };
    (void)state;
    for (uint32_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (!followed(scenario(wrong[i].scenario), wrong[i].told, wrong[i].is))
            fail_msg("DV.%02d, told `%s`, is `%s`: nothing is said", wrong[i].scenario,
                     wrong[i].told, wrong[i].is);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agrees), cmocka_unit_test(test_aborted_places),
        cmocka_unit_test(test_no_launches), cmocka_unit_test(test_speaks)};
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
