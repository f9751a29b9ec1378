/*
 * reduce_signature.c - a kernel that shows a signature, minimised, told and written.
 */
#include "engine/input/input.h"
#include "fuzz/base/clock.h"
#include "fuzz/base/interrupt.h"
#include "fuzz/minimise/minimise.h"

#include <string.h>
#include <unistd.h>

/* Of the result: with everything, once for its evidence, three times as it is printed, once for its
 * cause. */
enum { CONFIRMING_RUNS = 6 };

void reduce_tell_example(const struct cli *cli, const struct example *example,
                         const char *signature)
{
    const struct reduce_outcome outcome = {.kept = example->small.signature,
                                           .ending = example->ending,
                                           .confirmed = true,
                                           .size_before = example->statements,
                                           .size = example->small_statements,
                                           .tests = example->tests,
                                           .example = example};
    reduce_report(cli, &outcome);
    if (strcmp(example->small.signature, signature) != 0)
        cli_message(cli, "'%s' shrank nothing: only its first two parts were kept", signature);
}

int reduce_example(const struct cli *cli, const struct example *example, const char *signature)
{
    const struct reduce_outcome outcome = {.key = "signature",
                                           .kept = example->small.signature,
                                           .ending = example->ending,
                                           .confirmed = true,
                                           .size_before = example->statements,
                                           .size = example->small_statements,
                                           .tests = example->tests,
                                           .runs = example->runs,
                                           .kernel = example->small_kernel,
                                           .example = example};
    reduce_tell_example(cli, example, signature);
    return reduce_write(cli, &outcome);
}

struct minimising {
    const struct reduce_minimising *asked;
    struct reduce_options options;
    struct arena scratch;
    struct example *example;
    bool reduced;
};

static void minimise(void *context)
{
    struct minimising *m = context;
    m->reduced = example_minimise(&m->asked->cli->arena, &m->scratch, m->asked->kernel,
                                  m->asked->signature, &m->options, m->example);
}

static _Noreturn void abandon_example(const struct reduce_minimising *asked,
                                      struct reduce_bound *bound)
{
    db_close(asked->db);
    if (!asked->silent)
        reduce_abandon(asked->cli, bound, "signature", asked->signature);
    live_line_close(&bound->line);
    cli_message(asked->cli,
                "the time was over in the middle of a finding, which is left as it was");
    _exit(reduce_end_status(REDUCE_STOPPED));
}

bool reduce_minimise(const struct reduce_minimising *asked, struct example *example, int *status)
{
    struct cli *cli = asked->cli;
    struct reduce_bound bound;
    struct minimising m = {.asked = asked, .options = asked->options, .example = example};
    *status = CLI_FAULT;
    *example = (struct example){.statements = ast_kernel_size(asked->kernel)};
    bool good = reduce_bound_open(&bound, asked->started_ms, cli->options.time_ms, CONFIRMING_RUNS,
                                  asked->kernel);
    if (!good || arena_init(&m.scratch, (size_t)4 << 30) != 0) {
        cli_message(cli, "cannot reserve memory");
        reduce_bound_close(&bound);
        return false;
    }
    m.options.hurried = cli->options.time_ms > 0 && !asked->silent;
    m.options.jobs = cli_jobs(cli);
    m.options.go_on = reduce_bound_go_on;
    m.options.go_on_context = &bound;
    if (!reduce_bound_run(&bound, minimise, &m))
        abandon_example(asked, &bound);
    arena_destroy(&m.scratch);
    reduce_bound_close(&bound);
    *status = CLI_USAGE;
    if (!m.reduced)
        cli_message(cli, "the kernel does not show '%s'", asked->signature);
    return m.reduced;
}

int reduce_signature(struct cli *cli, const char *path)
{
    int status;
    struct example example;
    struct ast_kernel *kernel = cli_read_launched(cli, path);
    if (!kernel)
        return CLI_USAGE;
    kernel->progress = NULL; /* it is about this kernel */
    const struct reduce_minimising asked = {
        .cli = cli,
        .kernel = kernel,
        .signature = cli->options.signature,
        .options = {.check = cli_check_options(cli), .max_tests = cli->options.max_tests},
        .started_ms = clock_monotonic_ms()};
    interrupt_catch();
    if (!reduce_minimise(&asked, &example, &status))
        return status;
    status = reduce_example(cli, &example, asked.signature);
    return status == CLI_OK ? reduce_end_status(example.ending) : status;
}
