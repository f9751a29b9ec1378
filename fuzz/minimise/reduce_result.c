#include "fuzz/minimise/reduce_result.h"

#include "fuzz/base/interrupt.h"
#include "fuzz/out/json.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/* "minimal": no edit that the reducer knows leaves what is kept. */
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

void reduce_report(const struct cli *cli, const struct reduce_outcome *o)
{
    bool early = o->ending != REDUCE_MINIMAL;
    cli_message(cli, "%" PRIu32 " statements became %" PRIu32 ", %" PRIu32 " candidates, %s%s%s%s",
                o->size_before, o->size, o->tests, o->kept, early ? "; ended early: " : "",
                early ? ending_name(o->ending) : "",
                o->confirmed ? "" : ", with no time left to ask about the result once more");
    if (o->example && *o->example->small_transforms)
        cli_message(cli, "transformed by %s", o->example->small_transforms);
}

static void write_json(const struct reduce_outcome *o)
{
    struct json json;
    json_line_begin(&json, stdout);
    json_key_string(&json, o->key, o->kept);
    if (o->example)
        json_key_bool(&json, "relaxed", o->example->relaxed);
    json_key_string(&json, "ending", ending_name(o->ending));
    json_key_bool(&json, "confirmed", o->confirmed);
    json_key_u64(&json, "statements_before", o->size_before);
    json_key_u64(&json, "statements", o->size);
    json_key_u64(&json, "characters", strlen(o->kernel));
    json_key_u64(&json, "tests", o->tests);
    if (o->confirmed)
        json_key_u64(&json, "runs", o->runs);
    if (o->example) {
        json_key_string(&json, "launch", o->example->small_launch);
        json_key_string(&json, "case", o->example->small_case);
        json_key_string(&json, "tape", o->example->small_tape);
    }
    json_key_string(&json, "kernel", o->kernel);
    json_line_end(&json);
}

int reduce_write(const struct cli *cli, const struct reduce_outcome *outcome)
{
    int status = CLI_OK;
    if (cli->options.output || !cli->options.json)
        status = cli_write_output(cli, cli->options.output, outcome->kernel);
    if (status == CLI_OK && cli->options.json)
        write_json(outcome);
    return status;
}

int reduce_end_status(enum reduce_ending ending)
{
    return ending == REDUCE_STOPPED && interrupted ? CLI_INTERRUPTED : CLI_OK;
}

void reduce_abandon(const struct cli *cli, struct reduce_bound *bound, const char *key,
                    const char *kept)
{
    const struct reduce_outcome outcome = {.key = key,
                                           .kept = kept,
                                           .ending = REDUCE_STOPPED,
                                           .size_before = bound->size_before,
                                           .size = bound->size,
                                           .tests = bound->tests,
                                           .kernel = bound->best};
    live_line_close(&bound->line);
    reduce_report(cli, &outcome);
    int status = reduce_write(cli, &outcome);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        cli_message(cli, "standard output: %s", strerror(errno));
        status = CLI_FAULT;
    }
    fflush(stderr);
    _exit(status == CLI_OK ? reduce_end_status(outcome.ending) : status);
}
