/*
 * cli_memory.c - how much memory a command may have, and what it says when that is not enough.
 *
 * Arenas reserve far more addresses than they use, so that no case is too large for them. Where addresses are limited -
 * by --memory, or by the system (ulimit -v) - each arena of a command gets its share of what there is.
 */
#include "fuzz/cli/options.h"
#include "fuzz/out/door.h"
#include "fuzz/out/terminal.h"
#include "fuzz/supervise/crash.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static const uint64_t MB = (uint64_t)1 << 20, GB = (uint64_t)1 << 30;

/* Set before any thread is started. */
static uint64_t wanted, given;
static bool asked; /* for, by --memory */

/* What the arenas of a command reserve, all together; 0: not known. */
static uint64_t wanted_by(const struct cli *cli)
{
    if (cli->id == COMMAND_CHECK || cli->id == COMMAND_PROGRESS)
        return 4 * GB + 64 * MB;
    if (cli->id != COMMAND_RUN)
        return 0;
    /* each worker, the command; minimising; the writer */
    return 4 * GB * (cli_jobs(cli) + 1) + 8 * GB + 2 * GB;
}

/* Of the addresses that the process may have the program itself takes some, and the stacks of threads. */
static uint64_t given_by_system(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return 0;
    return (uint64_t)limit.rlim_cur / 4 * 3;
}

/* The last words of a command; no other thread goes on. */
static _Noreturn void tell_full(const struct arena *arena, size_t bytes)
{
    terminal_close();
    fprintf(stderr,
            "simtfuzz: not enough memory: %" PRIu64 " MB are reserved for this part of the work, ",
            arena->size / MB);
    fprintf(stderr, "%" PRIu64 " MB of them are in use, and %" PRIu64 " KB more are wanted",
            arena->used / MB, bytes / 1024 + 1);
    if (given > 0 && given < wanted) {
        double share = ((double)arena->used + (double)bytes) / ((double)arena->size + 1);
        uint64_t more = (uint64_t)((double)given * (share < 1.5 ? 1.5 : share) * 1.25) / MB + 1;
        fprintf(stderr, "; all parts together may have %" PRIu64 " MB (%s): try %" PRIu64 "M",
                given / MB, asked ? "--memory" : "three quarters of ulimit -v", more);
    }
    crash_say_case(stderr);
    fputs("\n", stderr);
    fflush(stdout);
    door_close();
    _exit(CLI_FAULT);
}

void cli_plan_memory(const struct cli *cli)
{
    asked = cli->options.memory > 0;
    wanted = wanted_by(cli);
    given = asked ? cli->options.memory : given_by_system();
    if (wanted > 0 && given > 0)
        arena_share(wanted, given);
    arena_on_full(tell_full);
}
