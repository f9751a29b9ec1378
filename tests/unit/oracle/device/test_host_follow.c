/* Executions of a device are followed by a second account: it agrees with the device on the scenarios of
 * corpus/host/dv, and speaks when the device is another one than it was told, setting by setting. */
#include "tests/unit/shared/support.h"

#include "oracle/device/host_follow.h"

#include <stdlib.h>

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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_agrees),
                                       cmocka_unit_test(test_speaks)};
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
