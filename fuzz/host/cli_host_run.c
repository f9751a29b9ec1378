/*
 * cli_host_run.c - `run --host`, `gen --host`, `reduce FILE.host`.
 */
#include "engine/input/input.h"
#include "fuzz/base/clock.h"
#include "fuzz/base/interrupt.h"
#include "fuzz/host/cli_host.h"
#include "fuzz/host/host_store.h"
#include "fuzz/out/json.h"
#include "fuzz/programs/host_gen.h"

#include <inttypes.h>
#include <string.h>

enum { CASES = 200, REDUCE_TESTS = 4000 };

struct tally {
    uint64_t cases, clean, races, found, executions, steps;
};

static void run_case(struct cli *cli, uint64_t seed, uint64_t number,
                     const struct host_judge_options *given, struct tally *tally,
                     struct host_store *store)
{
    struct arena *arena = &cli->arena;
    struct host_judge_options judged = *given, *options = &judged;
    size_t mark = arena_mark(arena);
    struct host_verdict *verdict = ARENA_NEW(arena, struct host_verdict);
    struct host_made made = host_gen(arena, seed, number);
    host_follow_drawn(options, seed, number);
    bool read =
        host_judge_text(arena, "generated.host", made.text, strlen(made.text), options, verdict);
    struct host_divergence d = host_divergence_of(arena, made.text, made.races, read, verdict);
    const struct host_case c = {.seed = seed,
                                .number = number,
                                .schedules = options->schedules,
                                .races = made.races,
                                .device = options->settings ? options->settings : ""};
    tally->cases++;
    tally->races += made.races;
    tally->clean += !made.races;
    tally->executions += verdict->executions;
    tally->steps += verdict->steps;
    if (d.class) {
        tally->found++;
        printf("FINDING   case %" PRIu64 ": line %" PRIu32 ": %s: %s\n"
               "          simtfuzz gen --host --seed 0x%" PRIx64 " --first %" PRIu64
               " --count 1 prints it\n",
               number, d.line, d.class, d.text, seed, number);
    }
    if (store)
        host_store_case(store, &c, made.text, &d, verdict->steps);
    arena_release(arena, mark);
}

static void print_tally(const struct cli *cli, const struct tally *t)
{
    struct json json;
    if (!cli->options.json) {
        printf("host programs: %" PRIu64 " cases, %" PRIu64 " in order and %" PRIu64
               " with a race that is known; %" PRIu64 " executions, %" PRIu64 " steps; %" PRIu64
               " finding%s\n",
               t->cases, t->clean, t->races, t->executions, t->steps, t->found,
               t->found == 1 ? "" : "s");
        return;
    }
    json_line_begin(&json, stdout);
    json_key_u64(&json, "version", 1);
    json_key_hex(&json, "seed", cli->options.seed);
    json_key_u64(&json, "cases", t->cases);
    json_key_u64(&json, "races", t->races);
    json_key_u64(&json, "executions", t->executions);
    json_key_u64(&json, "steps", t->steps);
    json_key_u64(&json, "findings", t->found);
    json_line_end(&json);
}

/* The database, if findings are kept. False: *status. */
static bool open_store(struct cli *cli, const struct host_judge_options *options, uint64_t cases,
                       struct host_store **store, uint64_t *seed, uint64_t *done, int *status)
{
    const struct cli_options *o = &cli->options;
    struct db_message *message = ARENA_NEW(&cli->arena, struct db_message);
    const struct host_campaign campaign = {.path = o->db,
                                           .seed = o->seed,
                                           .cases = cases == UINT64_MAX ? 0 : cases,
                                           .first = o->first_case,
                                           .seed_given = o->seed_given,
                                           .resume = o->resume,
                                           .schedules = options->schedules,
                                           .device = options->settings ? options->settings : ""};
    int error;
    *store = NULL;
    *seed = o->seed;
    *done = 0;
    if (!o->db_given && !o->resume)
        return true;
    *store = host_store_open(&cli->arena, &campaign, message, seed, done, &error);
    if (!*store)
        *status = cli_db_failed(cli, message, error);
    return *store != NULL;
}

int cli_host_run(struct cli *cli)
{
    struct host_judge_options options = HOST_JUDGE_DEFAULTS;
    struct tally tally = {.cases = 0};
    const struct cli_options *o = &cli->options;
    uint64_t end = o->time_ms ? clock_monotonic_ms() + o->time_ms : UINT64_MAX;
    uint64_t cases = o->cases ? o->cases : o->time_ms ? UINT64_MAX : CASES, seed, i;
    struct host_store *store;
    int status;
    options.schedules = o->schedules_given ? o->schedules : 2;
    options.settings = o->device;
    struct device_options device = DEVICE_SC;
    const char *why;
    if (o->device && !device_set(&cli->arena, &device, o->device, &why))
        return cli_misuse(cli, "--device: %s", why);
    if (!open_store(cli, &options, cases, &store, &seed, &i, &status))
        return status;
    interrupt_catch();
    for (; i < cases && !interrupted && clock_monotonic_ms() < end; i++)
        run_case(cli, seed, o->first_case + i, &options, &tally, store);
    if (store && host_store_close(store, i == cases) != DB_OK) {
        cli_message(cli, "%s: what was found could not be stored", o->db);
        return CLI_FAULT;
    }
    print_tally(cli, &tally);
    if (interrupted)
        return CLI_INTERRUPTED;
    return tally.found > 0 ? CLI_DIVERGENCE : CLI_OK;
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

/* What a reduction of a file makes no use of. */
static const char *reduce_misuse(const struct cli_options *o)
{
    if (o->signature || o->keep || o->keep_progress || o->test)
        return "of a host program the kind of check's first finding is kept, nothing else";
    if (o->subjects != SUBJECTS_DEFAULT || o->exhaustive)
        return "--subjects and --exhaustive are for kernels";
    return NULL;
}

int cli_host_reduce(struct cli *cli, const char *path)
{
    const struct cli_options *o = &cli->options;
    struct diag *diag = ARENA_NEW(&cli->arena, struct diag);
    struct host_judge_options options = HOST_JUDGE_DEFAULTS;
    struct host_verdict *verdict = ARENA_NEW(&cli->arena, struct host_verdict);
    const char *wrong = reduce_misuse(o);
    if (wrong)
        return cli_misuse(cli, "%s", wrong);
    const struct host_program *program = cli_host_read(cli, path, &options.device, diag);
    if (!program)
        return CLI_USAGE;
    options.settings = o->device;
    options.seed = o->seed;
    options.budget = o->budget_steps ? o->budget_steps : 1 << 18;
    options.schedules = o->schedules_given ? o->schedules : 2;
    bool judged = host_judge(&cli->arena, program, &options, verdict, diag);
    if (judged && verdict->count == 0 && !o->schedules_given)
        options.schedules = HOST_JUDGE_DEFAULTS.schedules; /* as check has them */
    if (!judged) {
        diag_print(diag, stderr);
        return CLI_USAGE;
    }
    const struct host_reduced reduced =
        host_reduce(&cli->arena, path, diag->source, diag->source_length, &options, NULL, false,
                    o->max_tests ? o->max_tests : REDUCE_TESTS);
    if (!reduced.text) {
        cli_message(cli, "%s: nothing is wrong with it that could be kept", path);
        return CLI_USAGE;
    }
    cli_message(cli, "%s: kept: %s; %u of %u lines are left, %u tests", path,
                host_finding_names[reduced.kind], (unsigned)reduced.left, (unsigned)reduced.lines,
                (unsigned)reduced.tests);
    return cli_write_output(cli, cli->options.output, reduced.text);
}
