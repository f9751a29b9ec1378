/*
 * cli_replay.c - `simtfuzz replay`: a stored finding, run again. This is about simtfuzz: the same case
 * must give the same bytes.
 */
#include "fuzz/beside/beside.h"
#include "fuzz/hunt/again.h"
#include "fuzz/out/json.h"
#include "fuzz/triage/stored.h"

#include <inttypes.h>
#include <string.h>

static void report_replay(struct cli *cli, const struct db_finding *finding,
                          const struct stored *stored, const struct stored_outcome *outcome)
{
    if (cli->options.json) {
        struct json json;
        json_line_begin(&json, stdout);
        json_key_u64(&json, "finding", finding->id);
        json_key_string(&json, "form", stored->form);
        json_key_string(&json, "signature", stored->signature);
        json_key_bool(&json, "same", outcome->same);
        json_key_string(&json, "why", outcome->why);
        json_line_end(&json);
    } else {
        printf("%-9s  %s%s%s\n", stored->form, outcome->same ? "same: " : "NOT THE SAME: ",
               outcome->same ? stored->signature : outcome->why, "");
    }
}

static int replay_form(struct replayer *r, const struct db_finding *finding,
                       const struct stored *stored)
{
    struct stored_outcome outcome;
    if (!stored_run(r, stored, true, &outcome))
        return CLI_FAULT;
    report_replay(r->cli, finding, stored, &outcome);
    return outcome.same ? CLI_OK : CLI_FAULT;
}

/* A case at which the engine crashed or hung: in a process of its own. */
static int replay_fatal(struct replayer *r, const struct db_finding *finding,
                        const struct stored *stored)
{
    struct stored_trial trial;
    if (!stored_try(r, stored, 1, false, STORED_TIME_MS, &trial))
        return CLI_FAULT;
    bool minimising = strcmp(finding->observable, "minimising") == 0;
    struct stored_outcome outcome = {
        .shows = trial.shown > 0,
        .same = trial.shown > 0,
        .why = minimising ? "it was minimising that was fatal; the case itself ends as usual"
                          : "the case ends as usual"};
    report_replay(r->cli, finding, stored, &outcome);
    return outcome.same ? CLI_OK : CLI_FAULT;
}

/* On the implementation that is installed now, which may be another version. */
static int replay_outside(struct replayer *r, const struct db_finding *finding,
                          const struct stored *stored)
{
    const char *text;
    const struct ast_kernel *kernel = stored_kernel(r, stored->kernel, &text);
    if (!kernel)
        return CLI_FAULT;
    bool small = strcmp(stored->form, "minimised") == 0;
    const struct again again = again_run(&r->cli->arena, finding, kernel, small);
    struct stored_outcome outcome = {.same = again.says == AGAIN_SHOWS, .why = again.why};
    if (*again.version)
        outcome.why = arena_printf(&r->cli->arena, "%s (%s)", again.why, again.version);
    report_replay(r->cli, finding, stored, &outcome);
    return outcome.same ? CLI_OK : again.says == AGAIN_CANNOT_SAY ? CLI_USAGE : CLI_DIVERGENCE;
}

/* A host program, a litmus test: judged again as it is stored. */
static int replay_beside(struct replayer *r, const struct db_finding *finding,
                         const struct stored *stored)
{
    int status;
    const char *text = cli_get_kernel(r->cli, r->db, &r->message, stored->kernel, &status);
    if (!text)
        return status;
    const struct beside_again again =
        beside_of(finding->oracle)->again(&r->cli->arena, finding, text);
    const struct stored_outcome outcome = {
        .shows = again.shows, .same = again.shows, .why = again.why};
    report_replay(r->cli, finding, stored, &outcome);
    return again.shows ? CLI_OK : CLI_FAULT;
}

static bool is_fatal(const struct db_finding *finding)
{
    return strcmp(finding->oracle, "engine") == 0 &&
           (strcmp(finding->class, "crash") == 0 || strcmp(finding->class, "hang") == 0);
}

static int replay(struct replayer *r)
{
    int status;
    struct stored stored;
    struct db_finding *finding =
        cli_get_finding(r->cli, r->db, &r->message, r->cli->arguments[0], &status);
    if (!finding)
        return status;
    if (!stored_choose(r, finding, r->cli->options.raw || is_fatal(finding), &stored))
        return CLI_FAULT;
    if (again_is_outside(finding))
        return replay_outside(r, finding, &stored);
    if (beside_of(finding->oracle))
        return replay_beside(r, finding, &stored);
    return is_fatal(finding) ? replay_fatal(r, finding, &stored) : replay_form(r, finding, &stored);
}

int command_replay(struct cli *cli)
{
    struct replayer r;
    int status = CLI_FAULT;
    if (replayer_open(&r, cli, DB_READONLY))
        status = replay(&r);
    replayer_close(&r);
    return status;
}
