/*
 * reduce_stored.c - `simtfuzz reduce ID` and `reduce --all`: findings of a database, minimised and
 * stored.
 */
#include "fuzz/base/clock.h"
#include "fuzz/base/interrupt.h"
#include "fuzz/base/key_table.h"
#include "fuzz/beside/beside.h"
#include "fuzz/case/finding.h"
#include "fuzz/case/signature.h"
#include "fuzz/minimise/minimise.h"
#include "fuzz/triage/stored.h"

#include <inttypes.h>
#include <string.h>

/* ---- what comes of it ---- */

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

/* ---- what is beside a kernel ---- */

static int reduce_beside(struct replayer *r, const struct db_finding *finding,
                         const struct beside_kind *kind)
{
    enum { TESTS = 4000 };
    struct cli *cli = r->cli;
    int status;
    if (!kind->reduce) {
        cli_message(cli, "finding %" PRIu64 " is %s: it was made small when it was found",
                    finding->id, kind->what);
        return CLI_OK;
    }
    const char *text = cli_get_kernel(cli, r->db, &r->message, finding->raw_kernel, &status);
    if (!text)
        return status;
    struct example example;
    kind->reduce(&cli->arena, finding, text, TESTS, &example);
    if (example.minimised) {
        cli_message(cli, "finding %" PRIu64 ": %u of %u lines are left, %u tests", finding->id,
                    (unsigned)example.small_statements, (unsigned)example.statements,
                    (unsigned)example.tests);
        return store(cli, r->db, &r->message, finding, &example);
    }
    cli_message(cli, "finding %" PRIu64 ": nothing smaller shows it", finding->id);
    int error = db_finding_minimisation_set(r->db, finding->id, DB_MINIMISATION_NONE);
    return error == DB_OK ? CLI_OK : cli_db_failed(cli, &r->message, error);
}

/* ---- one finding ---- */

/* What is stored: the minimised form where there is one, unless --raw. With all oracles that the
 * case was asked about: what else the result shows says what its cause is. NULL: *status, after a
 * message. */
static struct ast_kernel *read_stored(struct replayer *r, const struct db_finding *finding,
                                      bool raw, struct fuzz_case *c, int *status)
{
    struct stored stored;
    const char *text, *error;
    struct fuzz_case first;
    *status = CLI_FAULT;
    if (!stored_choose(r, finding, raw, &stored) || !stored_case(r, &stored, c))
        return NULL;
    struct ast_kernel *kernel = stored_kernel(r, stored.kernel, &text);
    if (kernel && case_parse(&r->cli->arena, finding->raw_case, &first, &error))
        c->check.oracles |= first.check.oracles;
    return kernel;
}

/* What is stored already is not stored again. */
static bool is_stored(const struct cli *cli, const struct db_finding *finding,
                      const struct example *example)
{
    struct arena *arena = (struct arena *)(uintptr_t)&cli->arena;
    return !example->slipped &&
           strcmp(case_text_hash(arena, example->small_kernel), finding->minimised.kernel) == 0;
}

static int reduce_one(struct replayer *r, const char *name)
{
    struct cli *cli = r->cli;
    int status;
    struct fuzz_case c;
    struct example example;
    struct db_finding *finding = cli_get_finding(cli, r->db, &r->message, name, &status);
    if (finding && strcmp(finding->oracle, "outside") == 0) {
        cli_message(cli,
                    "finding %" PRIu64 " is one of an outside implementation: `simtfuzz outside` "
                    "makes those small",
                    finding->id);
        return CLI_USAGE;
    }
    const struct beside_kind *kind = finding ? beside_of(finding->oracle) : NULL;
    if (kind)
        return reduce_beside(r, finding, kind);
    struct ast_kernel *kernel =
        finding ? read_stored(r, finding, cli->options.raw, &c, &status) : NULL;
    if (!kernel)
        return status;
    bool kernel_is_minimised = !cli->options.raw && *finding->minimised.kernel;
    const struct reduce_minimising asked = {.cli = cli,
                                            .kernel = kernel,
                                            .signature = finding->signature,
                                            .options = {.check = c.check,
                                                        .max_tests = cli->options.max_tests,
                                                        .strict = kernel_is_minimised},
                                            .started_ms = clock_monotonic_ms(),
                                            .db = r->db};
    interrupt_catch();
    if (!reduce_minimise(&asked, &example, &status))
        return status;
    status = reduce_example(cli, &example, finding->signature);
    if (status == CLI_OK && !is_stored(cli, finding, &example))
        status = store(cli, r->db, &r->message, finding, &example);
    return status == CLI_OK ? reduce_end_status(example.ending) : status;
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
static int reduce_pending(struct replayer *r, uint64_t id, uint64_t started_ms)
{
    struct cli *cli = r->cli;
    int status;
    struct fuzz_case c;
    struct example example;
    const char *name = arena_printf(&cli->arena, "%" PRIu64, id);
    struct db_finding *finding = cli_get_finding(cli, r->db, &r->message, name, &status);
    const struct beside_kind *kind = finding ? beside_of(finding->oracle) : NULL;
    if (kind)
        return reduce_beside(r, finding, kind);
    struct ast_kernel *kernel = finding ? read_stored(r, finding, true, &c, &status) : NULL;
    if (!kernel)
        return status;
    const struct reduce_minimising asked = {.cli = cli,
                                            .kernel = kernel,
                                            .signature = finding->signature,
                                            .options = {.check = c.check,
                                                        .max_tests = EXAMPLE_REDUCE_TESTS,
                                                        .max_steps = EXAMPLE_REDUCE_STEPS},
                                            .started_ms = started_ms,
                                            .db = r->db,
                                            .silent = true};
    bool reduced = reduce_minimise(&asked, &example, &status);
    if (example.ending == REDUCE_STOPPED)
        return reduce_end_status(example.ending);
    if (example.hopeless) {
        int error = db_finding_minimisation_set(r->db, id, DB_MINIMISATION_NONE);
        return error == DB_OK ? CLI_OK : cli_db_failed(cli, &r->message, error);
    }
    if (!reduced)
        return status;
    cli_message(cli, "finding %" PRIu64 ":", id);
    reduce_tell_example(cli, &example, finding->signature);
    return store(cli, r->db, &r->message, finding, &example);
}

static bool time_is_over(const struct cli *cli, uint64_t started_ms)
{
    return cli->options.time_ms > 0 && clock_monotonic_ms() - started_ms >= cli->options.time_ms;
}

static int reduce_all(struct replayer *r)
{
    struct cli *cli = r->cli;
    struct pending list = {.arena = &cli->arena};
    uint64_t started_ms = clock_monotonic_ms();
    int error = db_findings(r->db, DB_ANY_STATUS, add_pending, &list);
    if (error != DB_OK)
        return cli_db_failed(cli, &r->message, error);
    interrupt_catch();
    int status = CLI_OK;
    uint32_t done = 0;
    for (; done < list.count && !interrupted && !time_is_over(cli, started_ms); done++) {
        size_t mark = arena_mark(&cli->arena);
        int one = reduce_pending(r, list.ids[done], started_ms);
        arena_release(&cli->arena, mark);
        status = one > status ? one : status;
        if (one == CLI_FAULT)
            break;
    }
    cli_message(cli, "%" PRIu32 " findings were not minimised, %" PRIu32 " of them looked at",
                list.count, done);
    return interrupted ? CLI_INTERRUPTED : status;
}

int reduce_stored(struct cli *cli, const char *name)
{
    struct replayer r;
    int status = CLI_FAULT;
    if (replayer_open(&r, cli, DB_READWRITE))
        status = name ? reduce_one(&r, name) : reduce_all(&r);
    replayer_close(&r);
    return status;
}
