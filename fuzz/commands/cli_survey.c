/*
 * cli_survey.c - `simtfuzz survey`: generated kernels about waiting under every execution model.
 */
#include "fuzz/base/clock.h"
#include "fuzz/base/interrupt.h"
#include "fuzz/cli/cli.h"
#include "fuzz/corpus/survey.h"
#include "fuzz/out/json.h"
#include "fuzz/out/live_line.h"
#include "fuzz/out/table.h"

#include <inttypes.h>
#include <string.h>

/* Small searches: most of these kernels have some hundred states. */
enum { SURVEY_STATES = 1 << 11, SURVEY_BUDGET = 1 << 12, SURVEY_CASES = 1000 };

static bool was_asked(const struct survey_model *model)
{
    for (uint32_t e = 0; e < ENDING_COUNT; e++)
        if (model->endings[e] > 0)
            return true;
    return false;
}

static const char *unit_name(uint32_t index)
{
    return matrix_unit_names[index / matrix_model_count];
}

static const char *model_name(uint32_t index)
{
    return matrix_model_names[index % matrix_model_count];
}

/* ---- JSON ---- */

static void print_json(const struct survey_options *options, const struct survey_result *r)
{
    struct json json;
    uint32_t count = MATRIX_UNITS * matrix_model_count;
    json_line_begin(&json, stdout);
    json_key_u64(&json, "version", 1);
    json_key_hex(&json, "seed", options->seed);
    json_key_bool(&json, "enumerate", options->gen.enumerate);
    json_key_u64(&json, "cases", r->cases);
    json_key_u64(&json, "kernels", r->kernels);
    json_key_u64(&json, "states", r->states);
    json_key_u64(&json, "most_states", r->most_states);
    json_key_object_begin(&json, "classes");
    for (int i = 0; i < MATRIX_CLASS_COUNT; i++)
        json_key_u64(&json, matrix_class_table[i].name, r->classes[i]);
    json_object_end(&json);
    json_key_u64(&json, "broken", r->broken);
    json_key_array_begin(&json, "models");
    for (uint32_t m = 0; m < count; m++) {
        if (!was_asked(&r->models[m]))
            continue;
        json_object_begin(&json);
        json_key_string(&json, "units", unit_name(m));
        json_key_string(&json, "model", model_name(m));
        for (uint32_t e = 0; e < ENDING_COUNT; e++)
            json_key_u64(&json, matrix_ending_names[e], r->models[m].endings[e]);
        json_key_object_begin(&json, "ends_where_hangs");
        for (uint32_t other = 0; other < count; other++)
            if (r->apart[m][other] > 0) {
                char key[64];
                snprintf(key, sizeof key, "%s %s", unit_name(other), model_name(other));
                json_key_u64(&json, key, r->apart[m][other]);
            }
        json_object_end(&json);
        json_object_end(&json);
    }
    json_array_end(&json);
    json_line_end(&json);
}

/* ---- text ---- */

static void print_endings(struct arena *arena, const struct survey_result *r)
{
    static const char *const titles[] = {"units",    "model", "ends",   "ends if strongly fair",
                                         "may hang", "hangs", "unknown"};
    static const enum matrix_ending order[] = {ENDING_ENDS, ENDING_ENDS_STRONGLY, ENDING_MAY_HANG,
                                               ENDING_HANGS, ENDING_UNKNOWN};
    struct table table;
    table_start(&table, arena, titles, "llrrrrr");
    for (uint32_t m = 0; m < MATRIX_UNITS * matrix_model_count; m++) {
        if (!was_asked(&r->models[m]))
            continue;
        struct table_row *row = table_add(&table);
        row->cells[0] = unit_name(m);
        row->cells[1] = model_name(m);
        for (uint32_t e = 0; e < ENDING_COUNT; e++)
            row->cells[2 + e] = arena_printf(arena, "%" PRIu64, r->models[m].endings[order[e]]);
    }
    table_print(&table, stdout);
}

static uint32_t index_of(enum matrix_unit unit, const char *name)
{
    uint32_t i = 0;
    while (strcmp(matrix_model_names[i], name) != 0)
        i++;
    return survey_index(unit, i);
}

/* Of the models that a table has room for. */
static void print_apart(struct arena *arena, const struct survey_result *r)
{
    static const struct {
        enum matrix_unit unit;
        const char *name;
    } models[] = {{MATRIX_THREADS, "unfair"},
                  {MATRIX_THREADS, "hsa"},
                  {MATRIX_THREADS, "obe"},
                  {MATRIX_THREADS, "hsa-obe"},
                  {MATRIX_THREADS, "lobe"},
                  {MATRIX_THREADS, "fair"},
                  {MATRIX_WARPS, "simt"},
                  {MATRIX_WARPS, "simt:then-first"},
                  {MATRIX_WARPS, "crs"},
                  {MATRIX_WARPS, "stackless:oldest"},
                  {MATRIX_WARPS, "stackless:minpc"}};
    enum { COUNT = sizeof models / sizeof *models };
    const char *titles[COUNT + 1] = {"ends under, may hang under"};
    struct table table;
    for (uint32_t i = 0; i < COUNT; i++)
        titles[i + 1] = models[i].name;
    table_start(&table, arena, titles, "lrrrrrrrrrrr");
    for (uint32_t a = 0; a < COUNT; a++) {
        struct table_row *row = table_add(&table);
        row->cells[0] = models[a].name;
        for (uint32_t b = 0; b < COUNT; b++) {
            uint64_t kernels = r->apart[index_of(models[a].unit, models[a].name)]
                                       [index_of(models[b].unit, models[b].name)];
            row->cells[b + 1] = kernels ? arena_printf(arena, "%" PRIu64, kernels) : "-";
        }
    }
    table_print(&table, stdout);
}

static void print_text(struct cli *cli, const struct survey_result *r, uint64_t milliseconds)
{
    printf("%" PRIu64 " cases, %" PRIu64 " kernels; states of single threads: %" PRIu64
           ", of one kernel at most %" PRIu64 "\n\n",
           r->cases, r->kernels, r->states, r->most_states);
    print_endings(&cli->arena, r);
    printf("\n");
    print_apart(&cli->arena, r);
    printf("\n");
    for (int i = 0; i < MATRIX_CLASS_COUNT; i++)
        printf("%s: %" PRIu64 " (%s)\n", matrix_class_table[i].name, r->classes[i],
               matrix_class_table[i].sentence);
    printf("implications broken: %" PRIu64 "\n", r->broken);
    cli_message(cli, "%.1f s", (double)milliseconds / 1000);
}

static void tell(void *context, uint64_t kernels)
{
    if (!live_line_begin(context))
        return;
    fprintf(stderr, "%" PRIu64 " kernels", kernels);
    live_line_end();
}

int command_survey(struct cli *cli)
{
    const struct cli_options *o = &cli->options;
    uint64_t started = clock_monotonic_ms();
    struct survey_options options = {.gen = GEN_DEFAULTS,
                                     .matrix = {.max_states = SURVEY_STATES,
                                                .max_bytes = (uint64_t)64 << 20,
                                                .budget_steps = SURVEY_BUDGET,
                                                .stop = &interrupt_stop},
                                     .seed = o->seed,
                                     .cases =
                                         o->cases > 0 || o->enumerate ? o->cases : SURVEY_CASES,
                                     .jobs = cli_jobs(cli)};
    struct survey_result *result = ARENA_NEW(&cli->arena, struct survey_result);
    options.gen.weights = o->weights;
    options.gen.spin = true;
    options.gen.small = options.gen.enumerate = o->enumerate;
    struct live_line line = live_line_new(started);
    options.tell = tell;
    options.tell_context = &line;
    interrupt_catch();
    interrupt_after(o->time_ms);
    bool run = survey_run(&options, result);
    live_line_close(&line);
    if (!run) {
        cli_message(cli, "cannot start %" PRIu32 " workers", options.jobs);
        return CLI_FAULT;
    }
    if (o->json)
        print_json(&options, result);
    else
        print_text(cli, result, clock_monotonic_ms() - started);
    if (interrupt_time_over())
        cli_message(cli, "the time is over: this is what the cases until then show");
    if (result->broken > 0)
        cli_message(cli, "case %" PRIu64 ": %s", result->broken_case, result->broken_text);
    return interrupted ? CLI_INTERRUPTED : result->broken > 0 ? CLI_DIVERGENCE : CLI_OK;
}
