/* The device's search takes steps that touch nothing but registers at once (device_search.c). Here each step is a
 * state, and the answers must be the same: of the scenarios of corpus/host/dv on every device that they name, and of
 * small programs that are made: racy kernels, copies, events, aborts, on devices of all profiles. And both over the
 * caches of cuda-crs 4: the scenarios have the outcomes that they state, the programs all that operations of two phases
 * have. */
#include "tests/unit/shared/many.h"
#include "tests/unit/shared/support.h"

#include "engine/base/pcg.h"
#include "engine/device/device.h"
#include "oracle/device/host_tiny.h"

enum { SCENARIOS = 20, MADE = 300, MADE_CACHES = 100, STATES = 1 << 13, SCENARIO_STATES = 1 << 17 };

struct sums {
    uint32_t compared, cut, refused, lost, stuck, several;
    uint64_t eager, every;
};

/* "0 1, lost, stuck": what a search answers, without how many states it took. */
static const char *answer(const struct device_outcomes *o)
{
    const char *text = "";
    for (uint32_t i = 0; i < o->count; i++)
        text = arena_printf(&test_arena, "%s%s ", text, o->texts[i]);
    return arena_printf(&test_arena, "%s%s%s%s%s", text, o->lost ? ", lost" : "",
                        o->stuck ? ", stuck" : "", o->faults ? ", faults" : "",
                        o->failed ? ", failed" : "");
}

static const struct host_program *parse(const char *name, const char *text)
{
    struct diag *diag = ARENA_NEW(&test_arena, struct diag);
    diag_init(diag, name, text, strlen(text));
    const struct host_program *program = host_parse(&test_arena, name, text, strlen(text), diag);
    if (!program) {
        diag_print(diag, stderr);
        print_error("%s\n", text);
    }
    assert_non_null(program);
    return program;
}

static void compare(const struct host_program *program, const char *name, const char *settings,
                    uint64_t limit, struct sums *sums)
{
    struct device_options options = DEVICE_SC;
    struct device_outcomes *eager = ARENA_NEW(&test_arena, struct device_outcomes),
                           *every = ARENA_NEW(&test_arena, struct device_outcomes);
    struct diag *diag = ARENA_NEW(&test_arena, struct diag);
    const char *why;
    diag_init(diag, name, NULL, 0);
    assert_true(device_set(&test_arena, &options, settings, &why));
    struct device *device = device_new(&test_arena, program, &options, diag);
    if (!device) {
        sums->refused++;
        return;
    }
    device_search(device, limit, DEVICE_EVERY_STEP, every);
    if (every->cut) {
        sums->cut++;
        return;
    }
    device_search(device, limit, DEVICE_EAGER, eager);
    assert_false(eager->cut);
    if (strcmp(answer(eager), answer(every)) != 0)
        fail_msg("%s on `%s`: {%s} with steps taken at once, {%s} without\n%s", name, settings,
                 answer(eager), answer(every), host_print(&test_arena, program));
    sums->compared++;
    sums->eager += eager->states;
    sums->every += every->states;
    sums->several += every->count > 1;
    sums->lost += every->lost > 0;
    sums->stuck += every->stuck > 0;
}

/* Each operation of caches that have room may run to its end at once: so it does in memory=inflight. */
static void include(const struct host_program *program, const char *name, const char *settings,
                    struct sums *sums)
{
    static const char *const memories[2] = {" memory=inflight", " memory=caches"};
    struct device_outcomes *sets[2];
    for (int i = 0; i < 2; i++) {
        struct device_options options = DEVICE_SC;
        struct diag *diag = ARENA_NEW(&test_arena, struct diag);
        const char *why;
        diag_init(diag, name, NULL, 0);
        sets[i] = ARENA_NEW(&test_arena, struct device_outcomes);
        assert_true(device_set(&test_arena, &options, settings, &why));
        assert_true(device_set(&test_arena, &options, memories[i], &why));
        struct device *device = device_new(&test_arena, program, &options, diag);
        sums->refused += device == NULL;
        if (!device)
            return;
        device_search(device, STATES, DEVICE_EAGER, sets[i]);
        sums->cut += sets[i]->cut;
        if (sets[i]->cut)
            return;
    }
    for (uint32_t i = 0, k = 0; i < sets[0]->count; i++) {
        while (k < sets[1]->count && strcmp(sets[0]->texts[i], sets[1]->texts[k]) != 0)
            k++; /* both are in order */
        if (k == sets[1]->count)
            fail_msg("%s on `%s`: {%s} in two phases, {%s} in micro steps\n%s", name, settings,
                     answer(sets[0]), answer(sets[1]), host_print(&test_arena, program));
    }
    sums->compared++;
    sums->several += sets[1]->count > 1;
    sums->eager += sets[0]->states;
    sums->every += sets[1]->states;
}

static void tell(const struct sums *s)
{
    print_message(
        "%u compared, 0 different: %llu states instead of %llu; %u with several outcomes, "
        "%u with lost states, %u stuck; %u cut off, %u refused\n",
        (unsigned)s->compared, (unsigned long long)s->eager, (unsigned long long)s->every,
        (unsigned)s->several, (unsigned)s->lost, (unsigned)s->stuck, (unsigned)s->cut,
        (unsigned)s->refused);
}

static void compare_scenarios(const char *more, bool (*asked)(uint64_t number), struct sums *sums)
{
    for (uint32_t number = 1; number <= SCENARIOS; number++) {
        if (asked && !asked(number))
            continue;
        size_t mark = arena_mark(&test_arena), length;
        const char *path = arena_printf(
            &test_arena, SIMTFUZZ_SOURCE_DIR "/corpus/host/dv/DV.%02u.host", (unsigned)number);
        struct diag *diag = ARENA_NEW(&test_arena, struct diag);
        diag_init(diag, path, NULL, 0);
        const char *text = parse_read_file(&test_arena, path, &length, diag);
        assert_non_null(text);
        const struct host_program *program = parse(path, text);
        for (uint32_t i = 0; i < program->claim_count; i++)
            compare(program, path,
                    arena_printf(&test_arena, "%s%s", program->claims[i].options, more),
                    SCENARIO_STATES, sums);
        arena_release(&test_arena, mark);
    }
    tell(sums);
    assert_int_equal(sums->refused, 0);
    assert_true(sums->every > sums->eager);
}

static void test_scenarios(void **state)
{
    struct sums sums = {0}, caches = {0};
    (void)state;
    compare_scenarios("", NULL, &sums);
    assert_int_equal(sums.cut, 0);
    compare_scenarios(" memory=caches lines=2", many_has, &caches);
    assert_true(caches.compared >= many(56));
}

/* ---- programs that are made ---- */

static void test_made(void **state)
{
    struct sums sums = {0};
    (void)state;
    for (uint64_t number = 0; number < many(MADE); number++) {
        size_t mark = arena_mark(&test_arena);
        struct pcg rng = pcg_derive(23, PCG_KERNEL, number);
        const char *name = arena_printf(&test_arena, "made %u", (unsigned)number);
        const struct host_program *program = parse(name, host_tiny(&test_arena, &rng));
        compare(program, name, host_tiny_settings(&test_arena, &rng), STATES, &sums);
        arena_release(&test_arena, mark);
    }
    tell(&sums);
    assert_true(sums.refused <= many(MADE) / 20); /* an SM of few threads or registers */
    assert_true(sums.compared >= many(170) && sums.several > many(50) &&
                (sums.lost > 0 || many(MADE) < MADE));
}

static void test_caches(void **state)
{
    struct sums sums = {0};
    (void)state;
    for (uint64_t number = 0; number < many(MADE_CACHES); number++) {
        size_t mark = arena_mark(&test_arena);
        struct pcg rng = pcg_derive(23, PCG_KERNEL, number);
        const char *name = arena_printf(&test_arena, "made %u", (unsigned)number);
        const struct host_program *program = parse(name, host_tiny(&test_arena, &rng));
        include(program, name, host_tiny_settings(&test_arena, &rng), &sums);
        arena_release(&test_arena, mark);
    }
    tell(&sums);
    assert_true(sums.compared >= many(60));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_scenarios),
                                       cmocka_unit_test(test_made), cmocka_unit_test(test_caches)};
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
