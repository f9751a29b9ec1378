/*
 * cli_reduce.c - `simtfuzz reduce`: a finding, or a kernel file that shows a signature, minimised.
 */
#include "engine/parse.h"
#include "fuzz/cli/cli.h"
#include "fuzz/cli/json.h"
#include "fuzz/example.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

static uint32_t jobs(const struct cli *cli)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (cli->options.jobs > 0)
        return cli->options.jobs;
    return processors > 0 ? (uint32_t)processors : 1;
}

static int write_result(const struct cli *cli, const struct example *example)
{
    struct json json;
    if (cli->options.output || !cli->options.json)
        return cli_write_output(cli, cli->options.output, example->small_kernel);
    json_start(&json, stdout);
    json_object_begin(&json);
    json_key_string(&json, "signature", example->small.signature);
    json_key_u64(&json, "statements", example->small_statements);
    json_key_u64(&json, "tests", example->tests);
    json_key_string(&json, "launch", example->small_launch);
    json_key_string(&json, "case", example->small_case);
    json_key_string(&json, "tape", example->small_tape);
    json_key_string(&json, "kernel", example->small_kernel);
    json_object_end(&json);
    json_end_line(&json);
    return CLI_OK;
}

/* Minimises and writes; false: *status, after a message. */
static bool minimise(struct cli *cli, const struct ast_kernel *kernel,
                     const struct check_options *check, const char *signature,
                     struct example *example, int *status)
{
    struct arena scratch;
    *status = CLI_FAULT;
    *example = (struct example){.minimised = false};
    if (arena_init(&scratch, (size_t)4 << 30) != 0) {
        cli_message(cli, "cannot reserve memory");
        return false;
    }
    bool reduced = example_minimise(&cli->arena, &scratch, kernel, check, signature,
                                    cli->options.max_tests, jobs(cli), example);
    arena_destroy(&scratch);
    if (!reduced) {
        cli_message(cli, "the kernel does not show '%s'", signature);
        *status = CLI_USAGE;
        return false;
    }
    cli_message(cli, "%" PRIu32 " statements became %" PRIu32 ", %" PRIu32 " candidates, %s",
                ast_kernel_size(kernel), example->small_statements, example->tests,
                example->small.signature);
    *status = write_result(cli, example);
    return *status == CLI_OK;
}

static int reduce_file(struct cli *cli, const char *path)
{
    int status;
    struct example example;
    struct check_options check = cli_check_options(cli);
    struct ast_kernel *kernel = cli_read_launched(cli, path);
    if (!kernel)
        return CLI_USAGE;
    minimise(cli, kernel, &check, cli->options.signature, &example, &status);
    return status;
}

static int store(struct cli *cli, struct db *db, const struct db_message *message, uint64_t id,
                 const struct example *example)
{
    const char *hash = case_text_hash(&cli->arena, example->small_kernel);
    struct db_minimised minimised = {.kernel = hash,
                                     .launch = example->small_launch,
                                     .tape = example->small_tape,
                                     .case_text = example->small_case,
                                     .tests = example->tests,
                                     .statements = example->small_statements};
    int error = db_begin(db);
    if (error == DB_OK)
        error = db_kernel_put(db, hash, example->small_kernel);
    if (error == DB_OK)
        error = db_finding_minimised_set(db, id, &minimised);
    if (error == DB_OK)
        error = db_commit(db);
    if (error == DB_OK)
        return CLI_OK;
    db_rollback(db);
    return cli_db_failed(cli, message, error);
}

/* The stored finding's raw kernel, case and the signature that it was found with. */
static int reduce_stored(struct cli *cli, struct db *db, const struct db_message *message,
                         const char *name)
{
    int status;
    const char *error;
    struct fuzz_case c;
    struct example example;
    struct db_finding *finding = cli_get_finding(cli, db, message, name, &status);
    if (!finding)
        return status;
    char *text = cli_get_kernel(cli, db, message, finding->raw_kernel, &status);
    if (!text)
        return status;
    struct diag *diag = ARENA_NEW(&cli->arena, struct diag);
    diag_init(diag, finding->raw_kernel, text, strlen(text));
    struct ast_kernel *kernel = parse_kernel(&cli->arena, text, strlen(text), diag);
    if (!kernel || !case_parse(&cli->arena, finding->raw_case, &c, &error)) {
        cli_message(cli, "the stored finding cannot be read");
        diag_print(diag, stderr);
        return CLI_FAULT;
    }
    if (minimise(cli, kernel, &c.check, finding->signature, &example, &status))
        status = store(cli, db, message, finding->id, &example);
    return status;
}

int command_reduce(struct cli *cli)
{
    const char *name = cli->arguments[0];
    if (cli->options.signature)
        return reduce_file(cli, name);
    size_t length = strlen(name);
    if (cli_is_ptx(name) || (length > 5 && strcmp(name + length - 5, ".simt") == 0))
        return cli_misuse(cli, "a kernel file needs --signature");
    struct db_message message;
    struct db *db = cli_open_db(cli, DB_READWRITE, &message);
    if (!db)
        return CLI_FAULT;
    int status = reduce_stored(cli, db, &message, name);
    db_close(db);
    return status;
}
