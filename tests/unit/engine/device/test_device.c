/* The device (engine/device): the scenarios of corpus/host/dv have exactly the outcomes that they state, on each device
 * that they name; devices with one wrong rule are told apart by the scenario that is for it; every rule fires; host
 * programs print and read back. */
#include "tests/unit/shared/support.h"

#include "engine/base/pcg.h"
#include "engine/device/device.h"
#include "oracle/device/host_judge.h"

#include <stdio.h>

enum { SCENARIOS = 20, STATES = 1 << 16 };

static const struct host_program *read(const char *path)
{
    struct diag *diag = ARENA_NEW(&test_arena, struct diag);
    size_t length;
    diag_init(diag, path, NULL, 0);
    const char *text = parse_read_file(&test_arena, path, &length, diag);
    assert_non_null(text);
    const struct host_program *program = host_parse(&test_arena, path, text, length, diag);
    if (!program)
        diag_print(diag, stderr);
    assert_non_null(program);
    return program;
}

static const struct host_program *scenario(int number)
{
    return read(
        arena_printf(&test_arena, SIMTFUZZ_SOURCE_DIR "/corpus/host/dv/DV.%02d.host", number));
}

static struct device *device_of(const struct host_program *program, const char *settings)
{
    struct device_options options = DEVICE_SC;
    struct diag *diag = ARENA_NEW(&test_arena, struct diag);
    const char *why;
    diag_init(diag, settings, NULL, 0);
    assert_true(device_set(&test_arena, &options, settings, &why));
    struct device *device = device_new(&test_arena, program, &options, diag);
    if (!device)
        diag_print(diag, stderr);
    assert_non_null(device);
    return device;
}

/* "0 1, lost, stuck" */
static const char *answer(const struct host_program *program, const char *settings,
                          uint64_t hits[DEVICE_RULE_COUNT])
{
    struct device *device = device_of(program, settings);
    struct device_outcomes *o = ARENA_NEW(&test_arena, struct device_outcomes);
    const char *text = "";
    device_search(device, STATES, DEVICE_EAGER, o);
    assert_false(o->cut);
    for (uint32_t i = 0; i < o->count; i++)
        text = arena_printf(&test_arena, "%s%s%s", text, i ? " " : "", o->texts[i]);
    for (uint32_t i = 0; hits && i < DEVICE_RULE_COUNT; i++)
        hits[i] += device->hits[i];
    return arena_printf(&test_arena, "%s%s%s", text, o->lost ? ", lost" : "",
                        o->stuck ? ", stuck" : "");
}

static void test_scenarios(void **state)
{
    (void)state;
    for (int number = 1; number <= SCENARIOS; number++) {
        struct host_verdict verdict;
        struct diag *diag = ARENA_NEW(&test_arena, struct diag);
        struct host_judge_options options = HOST_JUDGE_DEFAULTS;
        size_t mark = arena_mark(&test_arena);
        const struct host_program *program = scenario(number);
        options.device = DEVICE_SC;
        diag_init(diag, "", NULL, 0);
        assert_true(program->claim_count >= 3);
        assert_true(host_judge(&test_arena, program, &options, &verdict, diag));
        for (const struct host_finding *f = verdict.findings; f; f = f->next)
            print_error("DV.%d, line %u: %s\n", number, (unsigned)f->line, f->text);
        assert_null(verdict.findings);
        assert_int_equal(verdict.claims, program->claim_count);
        arena_release(&test_arena, mark);
    }
}

/* A claim that is wrong is found to be. */
static void test_wrong_claims(void **state)
{
    static const char *const claims[] = {"printed: outcomes 0", "printed: outcomes 0 1 2",
                                         "printed: outcomes 0 2", "printed: outcomes 0 1; lost",
                                         "printed: outcomes 0 1; stuck"};
    (void)state;
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        const char *text = arena_printf(
            &test_arena,
            "kernel w\nlaunch(threads = 1);\nglobal int x[1];\nkernel w() {\n x[0] = 1;\n}\nend\n"
            "host h[1]\nbuffer x[1]\nlaunch w x=x\nsync\ncopy x -> h\nobserve h[0]\nclaim %s\n",
            claims[i]);
        struct diag *diag = ARENA_NEW(&test_arena, struct diag);
        struct host_judge_options options = HOST_JUDGE_DEFAULTS;
        struct host_verdict verdict;
        options.device = DEVICE_SC;
        diag_init(diag, "w", text, strlen(text));
        const struct host_program *program = host_parse(&test_arena, "w", text, strlen(text), diag);
        assert_non_null(program);
        assert_true(host_judge(&test_arena, program, &options, &verdict, diag));
        assert_int_equal(verdict.count, 1);
        assert_int_equal(verdict.findings->kind, FINDING_CLAIM);
    }
}

/* Planted faults: the right device, and the same with one wrong rule. */
static const struct {
    const char *name;
    int scenario;
    const char *right, *wrong;
    const char *answers[2];
} faults[] = {
    {"completion without drain", 2, "coherent", "drain=none", {"1", "0 1"}},
    {"completion without drain", 3, "coherent", "drain=none", {"1", "0 1"}},
    {"completion without drain", 10, "coherent sms=1 blocks=1", "drain=none", {"1", "1 9"}},
    {"no flush", 4, "coherent", "flush=silent", {"1", "0 1"}},
    {"no flush", 5, "coherent", "flush=silent", {"2", "0 2"}},
    {"occupancy of one context",
     19,
     "coherent sms=1 blocks=1",
     "occupancy=context",
     {"1", "0 1 9"}},
    {"flags reset at issue", 9, "printed sms=1 blocks=1", "flags=reset", {"7", "5 7"}},
    {"abort without drain", 11, "coherent", "ends=keep", {"2", "1 2"}},
    {"pages used again too early", 12, "coherent", "ends=keep", {"0", "0 1"}},
    {"memory frozen without contexts",
     15,
     "coherent",
     "ends=keep frozen=yes",
     {"", ", lost, stuck"}},
    {"residency not kept", 6, "sc sms=1 blocks=1 pick=any", "residency=crowded", {"1, lost", "1"}},
    {"launches in order by accident", 1, "printed drain=block", "order=stream", {"0 1", "1"}},
    {"sticky contexts", 14, "sc", "switch=sticky", {"1", "1, lost"}},
};

static void test_faults(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        size_t mark = arena_mark(&test_arena);
        const struct host_program *program = scenario(faults[i].scenario);
        const char *wrong = arena_printf(&test_arena, "%s %s", faults[i].right, faults[i].wrong);
        print_message("%s: DV.%d\n", faults[i].name, faults[i].scenario);
        assert_string_equal(answer(program, faults[i].right, NULL), faults[i].answers[0]);
        assert_string_equal(answer(program, wrong, NULL), faults[i].answers[1]);
        arena_release(&test_arena, mark);
    }
}

static void test_every_rule_fires(void **state)
{
    uint64_t hits[DEVICE_RULE_COUNT] = {0};
    (void)state;
    for (int number = 1; number <= SCENARIOS; number++)
        answer(scenario(number), "coherent sms=2 blocks=2", hits);
    answer(scenario(4), "printed", hits);
    struct device *device =
        device_of(read(SIMTFUZZ_SOURCE_DIR "/corpus/host/double-buffer.host"), "");
    struct device_schedule schedule = {.order = ORDER_TURNS, .budget = 1 << 20};
    assert_int_equal(device_execute(device, &schedule), END_DONE);
    for (uint32_t i = 0; i < DEVICE_RULE_COUNT; i++) {
        hits[i] += device->hits[i];
        if (hits[i] == 0)
            print_error("rule %s never fires\n", device_rules[i].name);
        assert_true(hits[i] > 0);
    }
}

static void test_print(void **state)
{
    (void)state;
    for (int number = 0; number <= SCENARIOS; number++) {
        const struct host_program *program =
            number == 0 ? read(SIMTFUZZ_SOURCE_DIR "/corpus/host/double-buffer.host")
                        : scenario(number);
        struct diag *diag = ARENA_NEW(&test_arena, struct diag);
        const char *text = host_print(&test_arena, program);
        diag_init(diag, "printed", text, strlen(text));
        const struct host_program *again =
            host_parse(&test_arena, "printed", text, strlen(text), diag);
        if (!again)
            diag_print(diag, stderr);
        assert_non_null(again);
        assert_string_equal(host_print(&test_arena, again), text);
        assert_int_equal(again->count, program->count);
        assert_int_equal(again->claim_count, program->claim_count);
    }
}

/* A tape of an execution leads through the same states to the same end. */
static void test_tape(void **state)
{
    uint32_t tape[4096];
    struct device *device =
        device_of(read(SIMTFUZZ_SOURCE_DIR "/corpus/host/double-buffer.host"), "");
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct device_schedule schedule = {.order = ORDER_RANDOM,
                                           .seed = seed,
                                           .budget = 4096,
                                           .record = tape,
                                           .record_room = 4096};
        device_reset(device);
        assert_int_equal(device_execute(device, &schedule), END_DONE);
        uint64_t steps = device->steps;
        struct device_schedule again = {
            .order = ORDER_TURNS, .budget = steps, .tape = tape, .tape_count = schedule.recorded};
        device_reset(device);
        assert_int_equal(device_execute(device, &again), END_DONE);
        assert_int_equal(device->steps, steps);
    }
}

/* Whatever stands in a text, it is read or refused with a line; what is read is judged. */
static void test_bytes(void **state)
{
    struct pcg rng = pcg_derive(11, PCG_MUTATE, 0);
    uint32_t refused = 0, judged = 0;
    (void)state;
    for (uint32_t i = 0; i < 3000; i++) {
        size_t mark = arena_mark(&test_arena), length;
        struct diag *diag = ARENA_NEW(&test_arena, struct diag);
        uint32_t number = pcg_below(&rng, SCENARIOS + 1);
        const char *path = number ? arena_printf(&test_arena, "%s/corpus/host/dv/DV.%02u.host",
                                                 SIMTFUZZ_SOURCE_DIR, number)
                                  : SIMTFUZZ_SOURCE_DIR "/corpus/host/double-buffer.host";
        diag_init(diag, path, NULL, 0);
        char *text = parse_read_file(&test_arena, path, &length, diag);
        assert_non_null(text);
        for (uint32_t k = 1 + pcg_below(&rng, 2); k > 0; k--) {
            uint32_t at = pcg_below(&rng, (uint32_t)length),
                     from = pcg_below(&rng, (uint32_t)length);
            uint32_t count = pcg_below(&rng, 30);
            if (at + count > length || from + count > length)
                count = 1;
            if (pcg_below(&rng, 2))
                memmove(text + at, text + from, count);
            else
                text[at] = (char)pcg_below(&rng, 256);
        }
        diag_init(diag, path, text, length);
        const struct host_program *program = host_parse(&test_arena, path, text, length, diag);
        struct device_options options = DEVICE_SC;
        const char *why;
        if (!program || !device_set(&test_arena, &options, program->device, &why)) {
            assert_true(!program ? diag->count > 0 : *why != 0);
            refused++;
        } else {
            struct device *device = device_new(&test_arena, program, &options, diag);
            struct device_schedule schedule = {.order = ORDER_TURNS, .budget = 20000};
            assert_true(device != NULL || diag->count > 0);
            if (device)
                device_execute(device, &schedule);
            judged += device != NULL;
        }
        arena_release(&test_arena, mark);
    }
    print_message("%u texts refused, %u run\n", (unsigned)refused, (unsigned)judged);
    assert_true(refused > 1000 && judged > 100);
}

/* Parameters of 64 bits are in no cache and make no line two words long: a store behind the word that was loaded leaves
 * its line alone, which a later grid finds (ERR.84). */
static void test_parameters(void **state)
{
    static const char text[] =
        "kernel k\n.address_size 64\n.entry k(.param .u64 p, .param .u64 q)\n{\n"
        ".reg .u64 %x, %y;\n.reg .u32 %v;\nld.param.u64 %x, [p];\nld.param.u64 %y, [q];\n"
        "ld.global.ca.u32 %v, [%x];\nst.global.cg.u32 [%x+4], %v;\nadd.u32 %v, %v, 1;\n"
        "st.global.u32 [%y], %v;\n}\nend\n"
        "buffer a[1]\nbuffer b[1]\nbuffer c[2]\nlaunch k grid=1 block=1 0=c 1=b\nsync\n"
        "set c[0] = 8\nlaunch k grid=1 block=1 0=c 1=a\nsync\nobserve a[0]\n";
    (void)state;
    struct diag *diag = ARENA_NEW(&test_arena, struct diag);
    diag_init(diag, "k", text, strlen(text));
    const struct host_program *program = host_parse(&test_arena, "k", text, strlen(text), diag);
    assert_non_null(program);
    assert_string_equal(answer(program, "llh sms=1 blocks=1", NULL), "1 9");
    assert_string_equal(answer(program, "llh sms=1 blocks=1 memory=caches", NULL), "1 9");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scenarios), cmocka_unit_test(test_wrong_claims),
        cmocka_unit_test(test_faults),    cmocka_unit_test(test_every_rule_fires),
        cmocka_unit_test(test_print),     cmocka_unit_test(test_tape),
        cmocka_unit_test(test_bytes),     cmocka_unit_test(test_parameters),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
