#include "fuzz/beside/beside_internal.h"

#include "fuzz/programs/host_alarm.h"
#include "fuzz/programs/host_gen.h"

#include <string.h>

enum { SCHEDULES = 2, TESTS_MOST = 400 };

/* *program: its text. */
static struct host_case make(struct arena *arena, const struct fuzz_case *c, const char **program)
{
    struct host_made made = host_gen(arena, c->seed, c->number);
    *program = made.text;
    return (struct host_case){c->seed, c->number, SCHEDULES, made.races, ""};
}

const char *host_case_judge(struct arena *arena, const struct fuzz_case *c, uint64_t *steps)
{
    const char *program;
    uint64_t taken;
    const struct host_case host = make(arena, c, &program);
    const struct host_alarm alarm = host_case_alarm(arena, &host, program, &taken);
    *steps += taken;
    return alarm.class ? alarm.signature : NULL;
}

static void show(struct arena *arena, const struct host_case *host, const struct host_alarm *alarm,
                 struct shown *shown)
{
    const char *class = arena_strndup(arena, alarm->class, strlen(alarm->class));
    const char *signature = arena_strndup(arena, alarm->signature, strlen(alarm->signature));
    *shown = (struct shown){.found = true,
                            .signature = signature,
                            .k1 = arena_printf(arena, "host|%s", class),
                            .oracle = "host",
                            .class_name = class,
                            .rule = arena_strndup(arena, alarm->word, strlen(alarm->word)),
                            .observable = "",
                            .subject = "device",
                            .cause = signature,
                            .evidence = host_alarm_evidence(arena, alarm, host),
                            .summary = "",
                            .tape = "",
                            .other_tape = "",
                            .line = alarm->line};
}

/* The smaller program shows the same, or it is none. */
static void make_small(struct arena *arena, struct arena *scratch, const struct host_case *host,
                       const char *program, uint32_t most, struct example *example)
{
    struct host_judge_options options = HOST_JUDGE_DEFAULTS;
    uint64_t steps;
    options.schedules = host->schedules;
    options.budget = 1 << 18;
    const struct host_reduced reduced =
        host_reduce(scratch, "generated.host", program, strlen(program), &options,
                    example->raw.rule, most < TESTS_MOST ? most : TESTS_MOST);
    example->tests = reduced.tests;
    if (!reduced.text)
        return;
    const struct host_alarm alarm = host_case_alarm(scratch, host, reduced.text, &steps);
    if (!alarm.class || strcmp(alarm.signature, example->raw.signature) != 0)
        return;
    example->minimised = true;
    example->small_kernel = arena_strndup(arena, reduced.text, strlen(reduced.text));
    example->small_case = example->case_text;
    example->small_tape = example->small_launch = example->small_transforms = "";
    example->small_statements = reduced.left;
    show(arena, host, &alarm, &example->small);
}

void host_case_example(struct arena *arena, struct arena *scratch, const struct fuzz_case *c,
                       const char *signature, uint32_t most, struct example *example)
{
    const char *program;
    const struct host_case host = make(scratch, c, &program);
    const struct host_alarm alarm = host_case_alarm(scratch, &host, program, &example->steps);
    *example = (struct example){.kernel = arena_strndup(arena, program, strlen(program)),
                                .case_text = host_case_print(arena, &host),
                                .statements = host_lines(program),
                                .steps = example->steps,
                                .runs = 1};
    example->replayed = alarm.class && strcmp(alarm.signature, signature) == 0;
    if (!example->replayed) {
        example->why = "another run of the program shows something else";
        return;
    }
    show(arena, &host, &alarm, &example->raw);
    example->hopeless = !host_can_be_small(alarm.class, &host);
    if (most > 0 && !example->hopeless)
        make_small(arena, scratch, &host, program, most, example);
}
