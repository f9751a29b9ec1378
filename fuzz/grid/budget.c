/*
 * How long the executions of a kernel of FORM_PTX may take: a budget that was too small is made larger.
 */
#include "fuzz/base/interrupt.h"
#include "fuzz/grid/grid.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum {
    GROWTH = 16,
    UNFAIR_SHARE =
        8 /* an execution that starves others and takes so many times what others take need not end */
};
/* Steps after which an execution is given up: some three seconds. */
#define EXECUTION_MOST ((uint64_t)1 << 25)

bool budget_is_short(const struct check_result *result, const struct check_options *options)
{
    const uint64_t budget = result->program ? check_budget(options, result->program) : 0;
    for (uint32_t s = 0; s < SUBJECT_COUNT; s++) {
        const struct check_run *run = &result->runs[s];
        if (run->reason || run->statuses[STATUS_STEP_LIMIT] == 0 || run->fair_lasso)
            continue;
        if (run->fair_cut > 0 || budget / UNFAIR_SHARE < run->longest)
            return true;
    }
    return false;
}

static void show(const struct check_result *result, bool is_shown)
{
    if (is_shown)
        fprintf(stderr, "\r%" PRIu64 " M steps, and some executions have not ended: going on ",
                (result->thread_steps + result->warp_steps) >> 20);
}

void budget_grow(struct cli *cli, const struct ast_kernel *kernel,
                 const struct check_options *options, struct check_result *result)
{
    const bool is_shown = isatty(STDERR_FILENO) != 0;
    const size_t mark = arena_mark(&cli->arena);
    struct check_options more = *options;
    interrupt_catch();
    interrupt_after(cli->options.time_ms);
    while (budget_is_short(result, &more) && more.budget_steps < EXECUTION_MOST &&
           interrupt_stop == 0) {
        show(result, is_shown);
        const uint64_t grown = GROWTH * check_budget(&more, result->program);
        more.budget_steps = grown < EXECUTION_MOST ? grown : EXECUTION_MOST;
        memset(result, 0, sizeof *result);
        arena_release(&cli->arena, mark);
        check_kernel(&cli->arena, kernel, &more, result);
    }
    if (is_shown)
        fputs("\r\033[K", stderr);
}
