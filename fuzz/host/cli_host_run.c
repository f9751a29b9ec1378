/*
 * cli_host_run.c - `run --host`, `gen --host`, `reduce FILE.host`.
 */
#include "engine/input/input.h"
#include "fuzz/base/clock.h"
#include "fuzz/base/interrupt.h"
#include "fuzz/host/cli_host.h"
#include "fuzz/host/host_gen.h"
#include "fuzz/host/host_reduce.h"
#include "fuzz/out/json.h"

#include <inttypes.h>
#include <string.h>

enum { CASES = 200, REDUCE_TESTS = 4000 };

struct tally {
    uint64_t cases, clean, races, alarms, executions, steps;
};

/* What is wrong with the verdict of a program that was made; NULL: it is the one that is known. */
static const char *alarm_of(struct arena *arena, const struct host_made *made, bool read,
                            const struct host_verdict *v)
{
    bool races = false;
    if (!read)
        return "the program cannot be read";
    for (const struct host_finding *f = v->findings; f; f = f->next) {
        races |= f->kind == FINDING_RACE;
        if (!made->races && f->kind != FINDING_FORWARD)
            return arena_printf(arena, "line %" PRIu32 ": %s: %s", f->line,
                                host_finding_names[f->kind], f->text);
    }
    if (made->races && !races)
        return arena_printf(arena, "no race is told, although %s", made->why);
    return v->ended ? NULL : "the program does not end";
}

static void run_case(struct cli *cli, uint64_t number, const struct host_judge_options *options,
                     struct tally *tally)
{
    struct arena *arena = &cli->arena;
    size_t mark = arena_mark(arena);
    struct host_verdict *verdict = ARENA_NEW(arena, struct host_verdict);
    struct host_made made = host_gen(arena, cli->options.seed, number);
    bool read =
        host_judge_text(arena, "generated.host", made.text, strlen(made.text), options, verdict);
    const char *alarm = alarm_of(arena, &made, read, verdict);
    tally->cases++;
    tally->races += made.races;
    tally->clean += !made.races;
    tally->executions += verdict->executions;
    tally->steps += verdict->steps;
    if (alarm) {
        tally->alarms++;
        printf("ALARM     case %" PRIu64 ": %s\n"
               "          simtfuzz gen --host --seed 0x%" PRIx64 " --first %" PRIu64
               " --count 1 prints it\n",
               number, alarm, cli->options.seed, number);
    }
    arena_release(arena, mark);
}

static void print_tally(const struct cli *cli, const struct tally *t)
{
    struct json json;
    if (!cli->options.json) {
        printf("host programs: %" PRIu64 " cases, %" PRIu64 " in order and %" PRIu64
               " with a race that is known; %" PRIu64 " executions, %" PRIu64 " steps; %" PRIu64
               " alarm%s\n",
               t->cases, t->clean, t->races, t->executions, t->steps, t->alarms,
               t->alarms == 1 ? "" : "s");
        return;
    }
    json_start(&json, stdout);
    json_object_begin(&json);
    json_key_u64(&json, "version", 1);
    json_key_hex(&json, "seed", cli->options.seed);
    json_key_u64(&json, "cases", t->cases);
    json_key_u64(&json, "races", t->races);
    json_key_u64(&json, "executions", t->executions);
    json_key_u64(&json, "steps", t->steps);
    json_key_u64(&json, "alarms", t->alarms);
    json_object_end(&json);
    json_end_line(&json);
}

int cli_host_run(struct cli *cli)
{
    struct host_judge_options options = HOST_JUDGE_DEFAULTS;
    struct tally tally = {.cases = 0};
    const struct cli_options *o = &cli->options;
    uint64_t end = o->time_ms ? clock_monotonic_ms() + o->time_ms : UINT64_MAX;
    uint64_t cases = o->cases ? o->cases : o->time_ms ? UINT64_MAX : CASES;
    options.schedules = o->schedules_given ? o->schedules : 2;
    interrupt_catch();
    for (uint64_t i = 0; i < cases && !interrupted && clock_monotonic_ms() < end; i++)
        run_case(cli, o->first_case + i, &options, &tally);
    print_tally(cli, &tally);
    if (interrupted)
        return CLI_INTERRUPTED;
    return tally.alarms > 0 ? CLI_DIVERGENCE : CLI_OK;
}

int cli_host_gen(struct cli *cli)
{
    for (uint64_t i = 0; i < cli->options.count; i++) {
        size_t mark = arena_mark(&cli->arena);
        uint64_t number = cli->options.first_case + i;
        struct host_made made = host_gen(&cli->arena, cli->options.seed, number);
        printf("# simtfuzz gen --host --seed 0x%" PRIx64 " --first %" PRIu64 " --count 1%s%s\n%s",
               cli->options.seed, number, made.races ? ": a race is known: " : "",
               made.races ? made.why : "", made.text);
        arena_release(&cli->arena, mark);
    }
    return CLI_OK;
}

int cli_host_reduce(struct cli *cli, const char *path)
{
    struct diag *diag = ARENA_NEW(&cli->arena, struct diag);
    struct host_judge_options options = HOST_JUDGE_DEFAULTS;
    size_t length = 0;
    diag_init(diag, path, NULL, 0);
    const char *text = parse_read_file(&cli->arena, path, &length, diag);
    if (!text) {
        diag_print(diag, stderr);
        return CLI_USAGE;
    }
    options.schedules = 2;
    options.budget = 1 << 18;
    struct host_reduced reduced =
        host_reduce(&cli->arena, path, text, length, &options, REDUCE_TESTS);
    if (!reduced.text) {
        cli_message(cli, "%s: nothing is wrong with it that could be kept, or it cannot be read",
                    path);
        return CLI_USAGE;
    }
    cli_message(cli, "%s: kept: %s; %u of %u lines are left, %u tests", path,
                host_finding_names[reduced.kind], (unsigned)reduced.left, (unsigned)reduced.lines,
                (unsigned)reduced.tests);
    return cli_write_output(cli, cli->options.output, reduced.text);
}
