/*
 * cli_reduce.c - `simtfuzz reduce`: a finding, or a kernel file that shows a signature, minimised.
 *
 * Ctrl-C and SIGTERM end it with the best so far and CLI_INTERRUPTED; a second one ends at once.
 */
#include "engine/input/input.h"
#include "fuzz/base/clock.h"
#include "fuzz/base/interrupt.h"
#include "fuzz/base/key_table.h"
#include "fuzz/case/finding.h"
#include "fuzz/case/signature.h"
#include "fuzz/cli/cli.h"
#include "fuzz/out/json.h"
#include "fuzz/out/live_line.h"
#include "fuzz/reduce/keep_models.h"

#include <inttypes.h>
#include <string.h>

/* ---- signals, time, progress ---- */

struct watcher {
    struct live_line line;
    uint64_t time_ms; /* 0: no limit */
    uint32_t size;    /* of the kernel to reduce */
};

static bool go_on(void *context, const struct reduce_progress *progress)
{
    struct watcher *watch = context;
    if (live_line_begin(&watch->line)) {
        fprintf(stderr, "%" PRIu32 " statements became %" PRIu32 "  %" PRIu32 " candidates  %s",
                watch->size, progress->size, progress->tests, progress->pass ? progress->pass : "");
        live_line_end();
    }
    return !interrupted &&
           (watch->time_ms == 0 || clock_monotonic_ms() - watch->line.started_ms < watch->time_ms);
}

/* ---- the result ---- */

/* "minimal": no edit that the reducer knows leaves the signature. */
static const char *ending_name(enum reduce_ending ending)
{
    switch (ending) {
    case REDUCE_MINIMAL:
        return "minimal";
    case REDUCE_TESTS:
        return "tests spent";
    case REDUCE_STOPPED:
        return interrupted ? "interrupted" : "time spent";
    }
    return "";
}

static int write_result(const struct cli *cli, const struct example *example)
{
    struct json json;
    int status = CLI_OK;
    if (cli->options.output || !cli->options.json)
        status = cli_write_output(cli, cli->options.output, example->small_kernel);
    if (status != CLI_OK || !cli->options.json)
        return status;
    json_start(&json, stdout);
    json_object_begin(&json);
    json_key_string(&json, "signature", example->small.signature);
    json_key_bool(&json, "relaxed", example->relaxed);
    json_key_string(&json, "ending", ending_name(example->ending));
    json_key_u64(&json, "statements_before", example->statements);
    json_key_u64(&json, "statements", example->small_statements);
    json_key_u64(&json, "characters", strlen(example->small_kernel));
    json_key_u64(&json, "tests", example->tests);
    json_key_u64(&json, "runs", example->runs);
    json_key_string(&json, "launch", example->small_launch);
    json_key_string(&json, "case", example->small_case);
    json_key_string(&json, "tape", example->small_tape);
    json_key_string(&json, "kernel", example->small_kernel);
    json_object_end(&json);
    json_end_line(&json);
    return CLI_OK;
}

static void report(const struct cli *cli, const struct example *example, const char *signature)
{
    cli_message(cli, "%" PRIu32 " statements became %" PRIu32 ", %" PRIu32 " candidates, %s%s%s",
                example->statements, example->small_statements, example->tests,
                example->small.signature,
                example->ending == REDUCE_MINIMAL ? "" : "; ended early: ",
                example->ending == REDUCE_MINIMAL ? "" : ending_name(example->ending));
    if (*example->small_transforms)
        cli_message(cli, "transformed by %s", example->small_transforms);
    if (strcmp(example->small.signature, signature) != 0)
        cli_message(cli, "'%s' shrank nothing: only its first two parts were kept", signature);
}

/* False: the kernel does not show the signature, or *status, after a message. */
static bool minimise(struct cli *cli, const struct ast_kernel *kernel, uint64_t started_ms,
                     const struct reduce_options *given, struct example *example, int *status)
{
    struct arena scratch;
    struct watcher watch = {.line = live_line_new(started_ms),
                            .time_ms = cli->options.time_ms,
                            .size = ast_kernel_size(kernel)};
    struct reduce_options options = *given;
    options.jobs = cli_jobs(cli);
    options.go_on = go_on;
    options.go_on_context = &watch;
    *status = CLI_USAGE;
    *example = (struct example){.statements = watch.size};
    if (arena_init(&scratch, (size_t)4 << 30) != 0) {
        cli_message(cli, "cannot reserve memory");
        *status = CLI_FAULT;
        return false;
    }
    bool reduced = example_minimise(&cli->arena, &scratch, kernel, &options, example);
    arena_destroy(&scratch);
    live_line_close(&watch.line);
    if (!reduced)
        cli_message(cli, "the kernel does not show '%s'", options.signature);
    return reduced;
}

/* Minimises and writes; false: *status, after a message. */
static bool minimise_one(struct cli *cli, const struct ast_kernel *kernel,
                         const struct check_options *check, const char *signature,
                         struct example *example, int *status)
{
    struct reduce_options options = {
        .check = *check, .signature = signature, .max_tests = cli->options.max_tests};
    interrupt_catch();
    if (!minimise(cli, kernel, clock_monotonic_ms(), &options, example, status))
        return false;
    report(cli, example, signature);
    *status = write_result(cli, example);
    return *status == CLI_OK;
}

/* What a reduction ends with when all went well. */
static int end_status(const struct example *example)
{
    return example->ending == REDUCE_STOPPED && interrupted ? CLI_INTERRUPTED : CLI_OK;
}

static int reduce_file(struct cli *cli, const char *path)
{
    int status;
    struct example example;
    struct check_options check = cli_check_options(cli);
    struct ast_kernel *kernel = cli_read_launched(cli, path);
    if (!kernel)
        return CLI_USAGE;
    bool written = minimise_one(cli, kernel, &check, cli->options.signature, &example, &status);
    return written ? end_status(&example) : status;
}

/* ---- how a kernel ends ---- */

static int write_kept(struct cli *cli, const struct reduce_result *r, const char *kept)
{
    struct json json;
    int status = CLI_OK;
    const char *text = print_kernel(&cli->arena, r->kernel);
    if (cli->options.output || !cli->options.json)
        status = cli_write_output(cli, cli->options.output, text);
    if (status != CLI_OK || !cli->options.json)
        return status;
    json_start(&json, stdout);
    json_object_begin(&json);
    json_key_string(&json, "keeps", kept);
    json_key_string(&json, "ending", ending_name(r->ending));
    json_key_u64(&json, "statements_before", r->size_before);
    json_key_u64(&json, "statements", r->size_after);
    json_key_u64(&json, "tests", r->tests);
    json_key_string(&json, "kernel", text);
    json_object_end(&json);
    json_end_line(&json);
    return CLI_OK;
}

static int reduce_models(struct cli *cli, const char *path)
{
    struct keep_models keep;
    struct reduce_result result;
    const char *error;
    struct ast_kernel *kernel = cli_read_launched(cli, path);
    if (!kernel)
        return CLI_USAGE;
    kernel->progress = NULL; /* it is about this kernel */
    if (!keep_models_of(&cli->arena, kernel, cli->options.keep_progress, &keep, &error)) {
        cli_message(cli, "%s: %s", path, error);
        return CLI_USAGE;
    }
    struct watcher watch = {.line = live_line_new(clock_monotonic_ms()),
                            .time_ms = cli->options.time_ms,
                            .size = ast_kernel_size(kernel)};
    const struct reduce_options options = {.check = cli_check_options(cli),
                                           .signature = "",
                                           .keeps = keep_models_keeps,
                                           .context = &keep,
                                           .max_tests = cli->options.max_tests,
                                           .jobs = cli_jobs(cli),
                                           .go_on = go_on,
                                           .go_on_context = &watch};
    interrupt_catch();
    reduce_kernel(&cli->arena, kernel, &options, &result);
    live_line_close(&watch.line);
    const char *kept = keep_models_print(&cli->arena, &keep);
    cli_message(cli, "%" PRIu32 " statements became %" PRIu32 ", %" PRIu32 " candidates, %s%s%s",
                result.size_before, result.size_after, result.tests, kept,
                result.ending == REDUCE_MINIMAL ? "" : "; ended early: ",
                result.ending == REDUCE_MINIMAL ? "" : ending_name(result.ending));
    int status = write_kept(cli, &result, kept);
    return status == CLI_OK && result.ending == REDUCE_STOPPED && interrupted ? CLI_INTERRUPTED
                                                                              : status;
}

/* ---- findings of a database ---- */

/* A smaller form with another signature is a finding of its own; the finding stays as it is. */
static int put_slipped(struct cli *cli, struct db *db, const struct db_finding *finding,
                       const struct example *example)
{
    struct db_finding slipped;
    struct db_upserted stored;
    int error = finding_put_slipped(db, &cli->arena, example, finding->first_campaign,
                                    finding->first_case, &slipped, &stored);
    if (error == DB_OK)
        error = db_finding_minimisation_set(db, finding->id, DB_MINIMISATION_SLIPPED);
    if (error == DB_OK)
        cli_message(cli, "that is another signature, and so a finding of its own: %" PRIu64,
                    stored.id);
    return error;
}

static int put_minimised(struct cli *cli, struct db *db, const struct db_finding *finding,
                         const struct example *example)
{
    struct db_finding smaller = {.cause = example->small.cause,
                                 .signature_version = SIGNATURE_VERSION,
                                 .evidence = example->small.evidence};
    int error = finding_put_minimised(db, &cli->arena, example, &smaller);
    return error == DB_OK ? db_finding_minimised_set(db, finding->id, &smaller) : error;
}

static int store(struct cli *cli, struct db *db, const struct db_message *message,
                 const struct db_finding *finding, const struct example *example)
{
    int error = db_begin(db);
    if (error == DB_OK)
        error = example->slipped ? put_slipped(cli, db, finding, example)
                                 : put_minimised(cli, db, finding, example);
    if (error == DB_OK)
        error = db_commit(db);
    if (error == DB_OK)
        return CLI_OK;
    db_rollback(db);
    return cli_db_failed(cli, message, error);
}

/* The stored finding with its raw kernel and case. NULL: *status, after a message. */
static struct ast_kernel *read_stored(struct cli *cli, struct db *db,
                                      const struct db_message *message, const char *name,
                                      struct db_finding **finding, struct fuzz_case *c, int *status)
{
    const char *error;
    *finding = cli_get_finding(cli, db, message, name, status);
    char *text = *finding ? cli_get_kernel(cli, db, message, (*finding)->raw_kernel, status) : NULL;
    if (!text)
        return NULL;
    struct diag *diag = ARENA_NEW(&cli->arena, struct diag);
    diag_init(diag, (*finding)->raw_kernel, text, strlen(text));
    struct ast_kernel *kernel = parse_kernel(&cli->arena, text, strlen(text), diag);
    if (kernel && case_parse(&cli->arena, (*finding)->raw_case, c, &error))
        return kernel;
    cli_message(cli, "the stored finding cannot be read");
    diag_print(diag, stderr);
    *status = CLI_FAULT;
    return NULL;
}

static int reduce_stored(struct cli *cli, struct db *db, const struct db_message *message,
                         const char *name)
{
    int status;
    struct fuzz_case c;
    struct example example;
    struct db_finding *finding;
    struct ast_kernel *kernel = read_stored(cli, db, message, name, &finding, &c, &status);
    if (!kernel)
        return status;
    if (minimise_one(cli, kernel, &c.check, finding->signature, &example, &status))
        status = store(cli, db, message, finding, &example);
    return status == CLI_OK ? end_status(&example) : status;
}

/* ---- reduce --all: what campaigns had no time for ---- */

struct pending {
    struct arena *arena;
    uint64_t *ids;
    uint32_t count, room;
};

static bool add_pending(void *context, const struct db_finding *finding)
{
    struct pending *list = context;
    if (finding->minimisation != DB_MINIMISATION_PENDING)
        return true;
    list->ids = key_table_grow(list->arena, list->ids, list->count, &list->room, sizeof(uint64_t));
    list->ids[list->count++] = finding->id;
    return true;
}

/* As a campaign does it, so that the same comes out. What is cut off by time stays pending. */
static int reduce_pending(struct cli *cli, struct db *db, const struct db_message *message,
                          uint64_t id, uint64_t started_ms)
{
    int status;
    struct fuzz_case c;
    struct example example;
    struct db_finding *finding;
    const char *name = arena_printf(&cli->arena, "%" PRIu64, id);
    struct ast_kernel *kernel = read_stored(cli, db, message, name, &finding, &c, &status);
    if (!kernel)
        return status;
    struct reduce_options options = {.check = c.check,
                                     .signature = finding->signature,
                                     .max_tests = EXAMPLE_REDUCE_TESTS,
                                     .max_steps = EXAMPLE_REDUCE_STEPS};
    bool reduced = minimise(cli, kernel, started_ms, &options, &example, &status);
    if (example.ending == REDUCE_STOPPED)
        return interrupted ? CLI_INTERRUPTED : CLI_OK;
    if (example.hopeless) {
        int error = db_finding_minimisation_set(db, id, DB_MINIMISATION_NONE);
        return error == DB_OK ? CLI_OK : cli_db_failed(cli, message, error);
    }
    if (!reduced)
        return status;
    cli_message(cli, "finding %" PRIu64 ":", id);
    report(cli, &example, finding->signature);
    return store(cli, db, message, finding, &example);
}

static bool time_is_over(const struct cli *cli, uint64_t started_ms)
{
    return cli->options.time_ms > 0 && clock_monotonic_ms() - started_ms >= cli->options.time_ms;
}

static int reduce_all(struct cli *cli, struct db *db, const struct db_message *message)
{
    struct pending list = {.arena = &cli->arena};
    uint64_t started_ms = clock_monotonic_ms();
    int error = db_findings(db, DB_ANY_STATUS, add_pending, &list);
    if (error != DB_OK)
        return cli_db_failed(cli, message, error);
    interrupt_catch();
    int status = CLI_OK;
    uint32_t done = 0;
    for (; done < list.count && !interrupted && !time_is_over(cli, started_ms); done++) {
        size_t mark = arena_mark(&cli->arena);
        int one = reduce_pending(cli, db, message, list.ids[done], started_ms);
        arena_release(&cli->arena, mark);
        status = one > status ? one : status;
        if (one == CLI_FAULT)
            break;
    }
    cli_message(cli, "%" PRIu32 " findings were not minimised, %" PRIu32 " of them looked at",
                list.count, done);
    return interrupted ? CLI_INTERRUPTED : status;
}

int command_reduce(struct cli *cli)
{
    bool all = cli->options.all_pending;
    const char *name = cli->arguments[0];
    if (all != (cli->argument_count == 0))
        return cli_misuse(cli, all ? "--all stands for the finding" : "which finding?");
    if (cli->options.keep_progress && (all || cli->options.signature))
        return cli_misuse(cli, "--keep-progress is for a kernel file, instead of --signature");
    if (cli->options.keep_progress)
        return reduce_models(cli, name);
    if (cli->options.signature && !all)
        return reduce_file(cli, name);
    size_t length = all ? 0 : strlen(name);
    if (!all && (cli_is_ptx(name) || (length > 5 && strcmp(name + length - 5, ".simt") == 0)))
        return cli_misuse(cli, "a kernel file needs --signature or --keep-progress");
    struct db_message message;
    struct db *db = cli_open_db(cli, DB_READWRITE, &message);
    if (!db)
        return CLI_FAULT;
    int status = all ? reduce_all(cli, db, &message) : reduce_stored(cli, db, &message, name);
    db_close(db);
    return status;
}
