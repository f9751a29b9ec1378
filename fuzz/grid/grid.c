#include "fuzz/grid/grid.h"

#include "engine/input/ptx_kernel.h"
#include "fuzz/base/clock.h"
#include "fuzz/base/interrupt.h"
#include "fuzz/check/check_report.h"
#include "fuzz/check/headline.h"
#include "fuzz/exec/device.h"
#include "fuzz/grid/recorded.h"
#include "fuzz/out/demangle.h"
#include "fuzz/out/door.h"
#include "fuzz/out/json.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum { PROGRESS_MS = 1000, DECIDING_MOST = 1 << 27 /* steps of warps */ };

struct grid {
    struct cli *cli;
    struct arena *arena; /* of the launch: its own, or the command's */
    struct arena own;
    const char *path;
    struct launch *launch;
    const struct fail_on *fail_on;
    uint64_t told_ms; /* when progress was shown last */
    uint32_t counted, suppressed;
    bool shows_progress, must_decide;
    const char *device; /* what it left, beside this execution; NULL: the launch was not recorded */
};

/* ---- while it runs ---- */

static bool go_on(void *context, uint64_t steps, uint64_t blocks)
{
    struct grid *g = context;
    const uint64_t now = clock_monotonic_ms();
    if (g->shows_progress && now - g->told_ms > PROGRESS_MS) {
        fprintf(stderr, "\r%" PRIu64 " of %" PRIu64 " blocks, %" PRIu64 " M steps of warps ",
                blocks, g->launch->blocks, steps / 1000000);
        g->told_ms = now;
    }
    return !interrupted && !interrupt_time_over();
}

void grid_mark_written(struct launch *launch)
{
    launch_race_written(launch->race, 0, launch->program->shared_base);
}

/* ---- what is found ---- */

/* Findings that --suppress names are taken away. */
static void suppress(struct grid *g)
{
    for (struct launch_finding **at = &g->launch->race->findings; *at;)
        if (suppress_matches(g->fail_on->suppressions, device_finding_kind(*at), (*at)->sources,
                             2)) {
            g->suppressed++;
            *at = (*at)->next;
        } else {
            at = &(*at)->next;
        }
}

/* What --fail-on says of it. */
static bool counts(const struct grid *g, const struct launch_finding *finding)
{
    enum outcome outcome =
        finding->kind == LAUNCH_RACE ? OUTCOME_RACE : outcome_of(finding->status);
    if (finding->kind == LAUNCH_UNWRITTEN || finding->kind == LAUNCH_DIFFERS)
        return g->fail_on->outcomes != 0;
    return outcome < OUTCOME_COUNT && (g->fail_on->outcomes >> outcome & 1);
}

static const char *word_of(const struct launch_finding *finding)
{
    if (finding->kind == LAUNCH_RACE)
        return "RACY";
    if (finding->kind == LAUNCH_UNWRITTEN)
        return "UNWRITTEN";
    if (finding->kind == LAUNCH_DIFFERS)
        return "DIFFERS";
    return finding->status == STATUS_NONTERMINATING ? "HANG" : "FAULT";
}

static void report_finding(const struct grid *g, struct check_report *report,
                           const struct launch_finding *finding, bool counted)
{
    struct arena *arena = &g->cli->arena;
    const char *kernel = g->launch->kernel->name;
    struct check_problem problem = {.rule = device_finding_kind(finding),
                                    .text = demangle_within(arena, finding->text, kernel),
                                    .fails = counted};
    const char *file = source_file(arena, finding->sources[0], &problem.line);
    check_report_kernel(report, word_of(finding), file ? file : g->path,
                        demangle_text(arena, kernel));
    check_report_problem(report, &problem);
}

static void tell_word(const struct grid *g, const char *word, bool is_bad, const char *text)
{
    const bool colored = g->cli->options.color;
    if (colored)
        door_control(stdout, is_bad ? "\033[31m" : "\033[32m");
    printf("%-9s", word);
    if (colored)
        door_control(stdout, "\033[0m");
    printf(" %s%s%s\n", g->path, *text ? ": " : "", text);
}

static void tell_finding(const struct grid *g, const struct launch_finding *finding)
{
    tell_word(g, word_of(finding), true,
              demangle_within(&g->cli->arena, finding->text, g->launch->kernel->ptx->entry->name));
    device_tell_sources(stdout, "    ", &g->cli->arena, finding);
    if (finding->count > 1)
        printf("    and %" PRIu64 " more of these\n", finding->count - 1);
}

static void tell(const struct grid *g)
{
    const struct launch *launch = g->launch;
    const bool clean = launch->status == STATUS_TERMINATED && !launch->race->findings;
    for (const struct launch_finding *f = launch->race->findings; f; f = f->next)
        tell_finding(g, f);
    if (launch->status == STATUS_STEP_LIMIT)
        tell_word(g, "unknown", true,
                  "it was stopped before its end (--budget, --time): nothing is "
                  "known of the rest");
    else if (!launch->race->findings && g->suppressed > 0)
        tell_word(g, "suppressed", false, "nothing else is wrong in this execution");
    else if (clean)
        tell_word(g, "clean", false,
                  launch_decides(launch)
                      ? "no race under any schedule: barriers alone order its threads"
                      : "no race in this execution");
    if (g->device)
        printf("    device: %s\n", g->device);
    if (launch->kernel->expects)
        printf("    note: what the file expects is of its own launch, and not asked of this one\n");
    if (launch->kernel->ptx->notes)
        printf("    note: %s\n", demangle_within(&g->cli->arena, launch->kernel->ptx->notes,
                                                 launch->kernel->ptx->entry->name));
    printf("    one execution under crs: %" PRIu64 " of %" PRIu64 " blocks, %u at a time, %" PRIu64
           " steps of warps\n",
           launch->blocks_done, launch->blocks, launch->program->launch.blocks, launch->steps);
    if (g->suppressed > 0)
        printf("    note: %s suppresses %" PRIu32 "\n", g->cli->options.suppress, g->suppressed);
}

static void tell_json(const struct grid *g)
{
    const struct launch *launch = g->launch;
    struct json json;
    json_line_begin(&json, stdout);
    cli_json_kernel(&json, g->path, launch->kernel);
    json_key_u64(&json, "grid", launch->blocks);
    json_key_u64(&json, "blocks_done", launch->blocks_done);
    json_key_u64(&json, "steps", launch->steps);
    json_key_string(&json, "status", status_names[launch->status]);
    json_key_bool(&json, "decides", launch_decides(launch));
    if (g->device)
        json_key_string(&json, "device", g->device);
    json_key_array_begin(&json, "findings");
    for (const struct launch_finding *f = launch->race->findings; f; f = f->next) {
        json_object_begin(&json);
        json_key_string(&json, "kind", device_finding_kind(f));
        json_key_string(&json, "text", f->text);
        json_key_u64(&json, "times", f->count);
        json_object_end(&json);
    }
    json_array_end(&json);
    json_line_end(&json);
}

/* ---- the check ---- */

static int refuse(struct grid *g, const char *why, struct cli_check_sums *sums)
{
    tell_word(g, "refused", true, why);
    sums->refused++;
    return CLI_USAGE;
}

/* Runs it, with what nobody suppresses of its findings left. False: it cannot be run, *why. */
static bool run(struct grid *g, struct ast_kernel *kernel, const char **why)
{
    const uint64_t asked = g->cli->options.budget_steps;
    const struct launch_options options = {.budget = asked                ? asked
                                                     : kernel->ptx->whole ? 0
                                                                          : DECIDING_MOST,
                                           .go_on = go_on,
                                           .context = g};
    uint32_t block[3], grid[3];
    ptx_kernel_dimensions(kernel, block, grid);
    g->launch = launch_new(g->arena, kernel, grid, &options, why);
    if (!g->launch || (g->must_decide && !launch_decides(g->launch)))
        return false;
    interrupt_catch();
    interrupt_after(g->cli->options.time_ms);
    grid_mark_written(g->launch);
    launch_run(g->launch, &options);
    g->device = recorded_compare(g->launch);
    if (g->shows_progress && clock_monotonic_ms() - g->told_ms < PROGRESS_MS)
        fputs("\r\033[K", stderr);
    suppress(g);
    return true;
}

/* Tells of it, and counts it. */
static int finish(struct grid *g, struct cli_check_sums *sums)
{
    const bool cut = g->launch->status == STATUS_STEP_LIMIT;
    for (const struct launch_finding *f = g->launch->race->findings; f; f = f->next) {
        bool counted = counts(g, f);
        g->counted += counted;
        if (sums->report)
            report_finding(g, sums->report, f, counted);
    }
    if (sums->report && !g->launch->race->findings)
        check_report_kernel(sums->report, cut ? "unknown" : "clean", g->path,
                            demangle_text(g->arena, g->launch->kernel->name));
    if (g->cli->options.json)
        tell_json(g);
    else
        tell(g);
    sums->kernels++;
    sums->unwanted += g->counted > 0;
    sums->agreed += g->counted == 0 && !cut;
    sums->refused += g->counted == 0 && cut;
    return g->counted > 0 ? CLI_DIVERGENCE : CLI_OK;
}

static struct grid grid_of(struct cli *cli, const char *path)
{
    return (struct grid){.cli = cli,
                         .arena = &cli->arena,
                         .path = path,
                         .fail_on = &cli->options.fail_outcomes,
                         .told_ms = clock_monotonic_ms(),
                         .shows_progress = isatty(STDERR_FILENO) != 0};
}

int grid_check(struct cli *cli, const char *path, struct ast_kernel *kernel,
               struct cli_check_sums *sums)
{
    struct grid g = grid_of(cli, path);
    const char *why = "claims are asked of up to 64 blocks and 4096 threads";
    if ((!kernel->expects || cli->options.settings) && run(&g, kernel, &why))
        return finish(&g, sums);
    sums->kernels++;
    return refuse(&g, why, sums);
}

struct grid *grid_try(struct cli *cli, const char *path, struct ast_kernel *kernel)
{
    const struct ast_launch launch = kernel->launch;
    const struct ptx_kernel ptx = *kernel->ptx;
    struct grid *g = ARENA_NEW(&cli->arena, struct grid);
    const char *why;
    *g = grid_of(cli, path);
    if (arena_init(&g->own, cli->arena.size) != 0)
        return NULL;
    g->arena = &g->own;
    g->must_decide = true;
    const bool ran = run(g, kernel, &why);
    kernel->launch = launch;
    *kernel->ptx = ptx;
    if (!ran)
        grid_drop(g);
    return ran ? g : NULL;
}

static bool is_well(const struct grid *g, enum status status)
{
    return g && g->launch->status == status && !g->launch->race->findings && g->suppressed == 0;
}

bool grid_decides(const struct grid *g, uint64_t budget)
{
    return is_well(g, STATUS_TERMINATED) &&
           g->launch->steps * g->launch->program->launch.warp > budget;
}

bool grid_is_cut(const struct grid *g)
{
    return is_well(g, STATUS_STEP_LIMIT);
}

bool grid_only_unwritten(const struct launch *launch)
{
    bool only = launch->status == STATUS_TERMINATED && launch->race->findings;
    for (const struct launch_finding *f = launch->race->findings; f; f = f->next)
        only &= f->kind == LAUNCH_UNWRITTEN;
    return only;
}

bool grid_reads_unwritten(const struct grid *g)
{
    return g && grid_only_unwritten(g->launch);
}

void grid_drop(struct grid *g)
{
    if (g)
        arena_destroy(&g->own);
}

int grid_tell(struct grid *g, struct cli_check_sums *sums)
{
    const int status = finish(g, sums);
    grid_drop(g);
    return status;
}
