/*
 * cli_distill.c - `simtfuzz distill`: makes a distilled corpus, or looks whether it still shows what its
 * list says. The list, features.txt, names each file, and below it, indented, the features that it is there for.
 */
#include "engine/input/input.h"
#include "fuzz/base/clock.h"
#include "fuzz/base/interrupt.h"
#include "fuzz/case/case.h"
#include "fuzz/cli/cli.h"
#include "fuzz/corpus/distill.h"
#include "fuzz/out/live_line.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char LIST[] = "features.txt";

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* ---- making it ---- */

/* The kernel's file, named after its text. */
static const char *file_name(struct arena *arena, const struct distilled *kernel)
{
    return arena_printf(arena, "%.12s.%s", case_text_hash(arena, kernel->text),
                        kernel->is_ptx ? "ptx" : "simt");
}

static const char *file_text(struct arena *arena, uint64_t seed, const struct distilled *kernel)
{
    const char *more = kernel->features.count == 1
                           ? ""
                           : arena_printf(arena, ", %" PRIu32 " more", kernel->features.count - 1);
    return arena_printf(arena, "// %s%s. Case %" PRIu64 " of seed 0x%" PRIx64 ".\n%s",
                        coverage_name(arena, kernel->features.counters[0]), more, kernel->number,
                        seed, kernel->text);
}

static int write_list(struct cli *cli, const char *folder, const struct distillation *d)
{
    struct arena *arena = &cli->arena;
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    for (uint32_t i = 0; out && i < d->count; i++) {
        fprintf(out, "%s\n", file_name(arena, &d->kernels[i]));
        for (uint32_t k = 0; k < d->kernels[i].features.count; k++)
            fprintf(out, "\t%s\n", coverage_name(arena, d->kernels[i].features.counters[k]));
    }
    if (!out || fclose(out) != 0) {
        cli_message(cli, "no memory for the list");
        return CLI_FAULT;
    }
    int status = cli_write_output(cli, arena_printf(arena, "%s/%s", folder, LIST), text);
    free(text);
    return status;
}

/* A third of the time is for the cases, half of what is left then for making kernels smaller: each is finished
 * afterwards, which takes some, too. */
static void hear_part(void *context, enum distill_part part)
{
    (void)context;
    interrupt_part(part == DISTILL_LOOKING ? 3 : 2);
}

static void hear_done(void *context, enum distill_part part, uint64_t done, uint64_t all)
{
    static const char *const words[] = {
        [DISTILL_LOOKING] = "cases checked", [DISTILL_REDUCING] = "kernels made smaller"};
    if (!live_line_begin(context))
        return;
    fprintf(stderr, "%" PRIu64 " of %" PRIu64 " %s", done, all, words[part]);
    live_line_end();
}

static void tell_end(const struct cli *cli, const struct distillation *d, uint64_t cases)
{
    if (interrupted || interrupt_time_over())
        cli_message(cli,
                    "%s: %" PRIu64 " of %" PRIu64
                    " cases were checked, and not all kernels are as small as they can be",
                    interrupted ? "interrupted" : "the time is over", d->looked, cases);
    if (d->divergent > 0)
        cli_message(cli, "%" PRIu64 " cases diverge and were left out", d->divergent);
}

static int make(struct cli *cli, const char *folder)
{
    const struct cli_options *o = &cli->options;
    struct arena *arena = &cli->arena;
    struct distill_options options = {.seed = o->seed,
                                      .cases = o->cases ? o->cases : 1000,
                                      .jobs = cli_jobs(cli),
                                      .gen = GEN_DEFAULTS,
                                      .max_tests = o->max_tests,
                                      .stop = &interrupt_stop,
                                      .part = hear_part,
                                      .tell = hear_done};
    struct live_line line = live_line_new(clock_monotonic_ms());
    struct distillation d;
    options.context = &line;
    options.gen.features = o->features;
    options.gen.weights = o->weights;
    if (mkdir(folder, 0777) != 0) {
        cli_message(cli, "%s: %s", folder, strerror(errno));
        return CLI_USAGE;
    }
    interrupt_catch();
    interrupt_after(o->time_ms);
    distill(arena, &options, &d);
    live_line_close(&line);
    int status = write_list(cli, folder, &d);
    uint64_t size = 0, before = 0;
    for (uint32_t i = 0; i < d.count && status == CLI_OK; i++) {
        const struct distilled *kernel = &d.kernels[i];
        status =
            cli_write_output(cli, arena_printf(arena, "%s/%s", folder, file_name(arena, kernel)),
                             file_text(arena, options.seed, kernel));
        size += kernel->size;
        before += kernel->size_before;
    }
    if (status == CLI_OK)
        printf("%s: %" PRIu32 " kernels of %" PRIu64 " nodes, formerly %" PRIu64 ", show %" PRIu32
               " of the %" PRIu32 " features of %" PRIu64 " cases\n",
               folder, d.count, size, before, d.covered, d.shown, d.looked);
    tell_end(cli, &d, options.cases);
    return status == CLI_OK && interrupted ? CLI_INTERRUPTED : status;
}

/* ---- looking whether it still shows what it did ---- */

struct shown {
    bool counters[COVERAGE_COUNT];
    const char **names; /* of those that are shown, sorted */
    uint32_t count;
};

static bool check_files(struct cli *cli, const struct cli_files *files, struct shown *shown)
{
    struct arena *arena = &cli->arena;
    struct coverage *map = ARENA_NEW(arena, struct coverage);
    bool good = true;
    for (uint32_t i = 0; i < files->count; i++) {
        size_t mark = arena_mark(arena);
        struct distill_features features = {.count = 0};
        struct ast_kernel *kernel = cli_read_kernel(arena, files->paths[i]);
        if (!kernel || !distill_check(arena, kernel, map, &features)) {
            printf("%s: does not do what it says\n", files->paths[i]);
            good = false;
        }
        for (uint32_t k = 0; k < features.count; k++)
            shown->counters[features.counters[k]] = true;
        arena_release(arena, mark);
    }
    shown->names = ARENA_ARRAY(arena, const char *, COVERAGE_COUNT);
    for (uint32_t k = 0; k < COVERAGE_COUNT; k++)
        if (shown->counters[k])
            shown->names[shown->count++] = coverage_name(arena, k);
    qsort(shown->names, shown->count, sizeof *shown->names, compare_names);
    return good;
}

static int verify(struct cli *cli, const char *folder)
{
    struct arena *arena = &cli->arena;
    struct shown *shown = ARENA_NEW(arena, struct shown);
    struct diag *diag = ARENA_NEW(arena, struct diag);
    struct cli_files files;
    char *folders[] = {arena_printf(arena, "%s", folder)};
    const char *path = arena_printf(arena, "%s/%s", folder, LIST);
    uint32_t listed = 0, lost = 0;
    size_t length;
    diag_init(diag, path, NULL, 0);
    char *text = parse_read_file(arena, path, &length, diag);
    if (!text) {
        diag_print(diag, stderr);
        return CLI_USAGE;
    }
    if (!cli_find_files(cli, folders, 1, &files))
        return CLI_USAGE;
    bool good = check_files(cli, &files, shown);
    char *rest = text;
    const char *file = "";
    for (char *line; (line = strtok_r(rest, "\n", &rest));) {
        if (*line != '\t') {
            file = line;
            continue;
        }
        const char *name = line + 1;
        listed++;
        if (bsearch(&name, shown->names, shown->count, sizeof *shown->names, compare_names))
            continue;
        printf("lost: %s, shown by %s when it was made\n", name, file);
        lost++;
    }
    if (listed == 0) {
        cli_message(cli, "%s: lists no feature", path);
        return CLI_USAGE;
    }
    printf("%" PRIu32 " kernels, %" PRIu32 " features listed, %" PRIu32 " lost\n", files.count,
           listed, lost);
    return good && lost == 0 ? CLI_OK : CLI_DIVERGENCE;
}

int command_distill(struct cli *cli)
{
    const char *folder = cli->arguments[0];
    return cli->options.verify ? verify(cli, folder) : make(cli, folder);
}
