#include "fuzz/host/cli_host.h"

#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/input/input.h"
#include "fuzz/check/check_report.h"
#include "fuzz/out/door.h"
#include "fuzz/out/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct host_program *cli_host_read(struct cli *cli, const char *path,
                                   struct device_options *options, struct diag *diag)
{
    size_t length = 0;
    const char *why;
    diag_init(diag, path, NULL, 0);
    const char *text = parse_read_file(&cli->arena, path, &length, diag);
    struct host_program *program = NULL;
    if (text) {
        diag_init(diag, path, text, length);
        program = host_parse(&cli->arena, path, text, length, diag);
    }
    *options = DEVICE_SC;
    if (program && !device_set(&cli->arena, options, program->device, &why))
        diag_error(diag, program->device_at, "%s", why);
    if (cli->options.device && !device_set(&cli->arena, options, cli->options.device, &why)) {
        cli_message(cli, "--device: %s", why);
        return NULL;
    }
    if (diag->count == 0)
        return program;
    diag_print(diag, stderr);
    return NULL;
}

/* ---- check ---- */

static const char *scope_text(struct arena *arena, const struct host_verdict *v)
{
    const char *text = arena_printf(arena, "%" PRIu32 " launch%s, %" PRIu64 " blocks", v->launches,
                                    v->launches == 1 ? "" : "es", v->blocks);
    if (v->claims > 0)
        return arena_printf(arena, "%" PRIu32 " claim%s%s, %" PRIu64 " states searched", v->claims,
                            v->claims == 1 ? "" : "s",
                            v->count > 0     ? ""
                            : v->claims == 1 ? " holds"
                                             : " hold",
                            v->states);
    text = arena_printf(arena, "%s; %" PRIu32 " executions on %" PRIu32 " devices", text,
                        v->executions, v->devices);
    return v->not_compared
               ? arena_printf(arena, "%s, results not compared: %s", text, v->not_compared)
               : arena_printf(arena, "%s, one result", text);
}

static void print_head(const struct cli *cli, const char *word, const char *color, const char *path)
{
    if (cli->options.color)
        door_control(stdout, color);
    printf("%-9s", word);
    if (cli->options.color)
        door_control(stdout, "\033[0m");
    printf(" %s", path);
}

static void print_text(struct cli *cli, const char *path, const struct host_verdict *v)
{
    static const char *const words[FINDING_KINDS] = {
        [FINDING_RACE] = "RACE",          [FINDING_GRID] = "KERNEL",
        [FINDING_EXPECTATION] = "FAILED", [FINDING_FAULT] = "FAULT",
        [FINDING_STUCK] = "DEADLOCK",     [FINDING_HANG] = "HANG",
        [FINDING_RESULT] = "RESULT",      [FINDING_CLAIM] = "FAILED",
        [FINDING_UNKNOWN] = "unknown",    [FINDING_REFERENCE] = "REFERENCE",
        [FINDING_FORWARD] = "note"};
    const struct host_finding *first = v->findings;
    while (first && (first->kind == FINDING_FORWARD))
        first = first->next;
    if (first)
        print_head(cli, words[first->kind], "\033[31m", path);
    else
        print_head(cli, "clean", "\033[32m", path);
    printf("  (%s)\n", scope_text(&cli->arena, v));
    for (const struct host_finding *f = v->findings; f; f = f->next)
        printf("    line %" PRIu32 ": %s%s%s\n", f->line,
               f->kind == FINDING_FORWARD ? "note: " : "", "", f->text);
}

/* Nothing is wrong as far as was looked: a bound was reached. */
static bool is_unknown(const struct host_verdict *v)
{
    bool unknown = false;
    for (const struct host_finding *f = v->findings; f; f = f->next)
        unknown |= f->kind == FINDING_UNKNOWN;
    return unknown && v->count == 0;
}

static const char *verdict_word(const struct host_verdict *v)
{
    return v->count > 0 ? "wrong" : is_unknown(v) ? "unknown" : "clean";
}

static void print_json(const char *path, const struct host_verdict *v)
{
    struct json json;
    json_line_begin(&json, stdout);
    json_key_u64(&json, "version", 1);
    json_key_string(&json, "file", path);
    json_key_string(&json, "verdict", verdict_word(v));
    json_key_u64(&json, "launches", v->launches);
    json_key_u64(&json, "blocks", v->blocks);
    json_key_u64(&json, "executions", v->executions);
    json_key_u64(&json, "devices", v->devices);
    json_key_u64(&json, "claims", v->claims);
    json_key_u64(&json, "states", v->states);
    json_key_string(&json, "not_compared", v->not_compared);
    json_key_array_begin(&json, "findings");
    for (const struct host_finding *f = v->findings; f; f = f->next) {
        json_object_begin(&json);
        json_key_string(&json, "kind", host_finding_names[f->kind]);
        json_key_u64(&json, "line", f->line);
        json_key_string(&json, "text", f->text);
        json_object_end(&json);
    }
    json_array_end(&json);
    json_line_end(&json);
}

static void report(struct check_report *report, const char *path, const struct host_verdict *v)
{
    check_report_kernel(report, verdict_word(v), path, "host program");
    for (const struct host_finding *f = v->findings; f; f = f->next) {
        struct check_problem problem = {.rule = host_finding_names[f->kind],
                                        .text = f->text,
                                        .line = f->line,
                                        .fails = f->kind != FINDING_FORWARD &&
                                                 f->kind != FINDING_UNKNOWN};
        check_report_problem(report, &problem);
    }
}

static int judge(struct cli *cli, const char *path, struct cli_check_sums *sums)
{
    struct diag *diag = ARENA_NEW(&cli->arena, struct diag);
    struct host_judge_options options = HOST_JUDGE_DEFAULTS;
    struct host_verdict *verdict = ARENA_NEW(&cli->arena, struct host_verdict);
    const struct host_program *program = cli_host_read(cli, path, &options.device, diag);
    options.seed = cli->options.seed;
    if (cli->options.schedules_given)
        options.schedules = cli->options.schedules;
    if (cli->options.budget_steps)
        options.budget = cli->options.budget_steps;
    bool good = program && host_judge(&cli->arena, program, &options, verdict, diag);
    if (!good) {
        if (program)
            diag_print(diag, stderr);
        sums->bad++;
        return CLI_USAGE;
    }
    if (cli->options.json)
        print_json(path, verdict);
    else
        print_text(cli, path, verdict);
    if (sums->report)
        report(sums->report, path, verdict);
    sums->kernels++;
    sums->agreed += verdict->count == 0 && !is_unknown(verdict);
    sums->refused += is_unknown(verdict);
    sums->unwanted += verdict->count > 0;
    return verdict->count == 0 ? CLI_OK : CLI_DIVERGENCE;
}

int cli_host_check(struct cli *cli, const char *path, struct cli_check_sums *sums)
{
    size_t mark = arena_mark(&cli->arena);
    int status = judge(cli, path, sums);
    arena_release(&cli->arena, mark);
    return status;
}

/* ---- trace ---- */

enum { TAPE_ENTRIES = 1 << 20 };

struct tracing {
    struct cli *cli;
    struct device *device;
    uint64_t steps, lines;
    struct device_alternative last; /* a warp's steps in a row are one line */
    uint64_t first;                 /* of them */
    const char *text;
    size_t mark;
};

static void print_row(struct tracing *t)
{
    uint64_t count = t->steps - t->first + 1;
    if (t->text && ++t->lines <= t->cli->options.max_steps) {
        printf("%6" PRIu64 "  %s", t->first, t->text);
        printf(count > 1 ? ", %" PRIu64 " steps\n" : "\n", count);
    }
    if (t->text)
        arena_release(&t->cli->arena, t->mark);
    t->text = NULL;
}

static void print_step(void *context, struct device_alternative step, enum device_rule rule)
{
    struct tracing *t = context;
    (void)rule;
    if (t->text && step.kind == ALTERNATIVE_WARP && step.kind == t->last.kind &&
        step.a == t->last.a && step.b == t->last.b) {
        t->steps++;
        return;
    }
    print_row(t);
    t->mark = arena_mark(&t->cli->arena);
    t->text = device_alternative_text(&t->cli->arena, t->device, step);
    t->first = ++t->steps;
    t->last = step;
}

static void print_rules(const struct device *device)
{
    printf("rules:");
    for (uint32_t i = 0; i < DEVICE_RULE_COUNT; i++)
        if (device->hits[i] > 0)
            printf(" %s %" PRIu64, device_rules[i].name, device->hits[i]);
    printf("\n");
}

static const char *const ends[END_COUNT] = {
    [END_RUNNING] = "running", [END_DONE] = "done",         [END_FAULT] = "fault",
    [END_STUCK] = "deadlock",  [END_NONE_LEFT] = "unknown", [END_HANG] = "hang"};

/* ---- tapes: the entries of a schedule, as numbers ---- */

/* False: reported. */
static bool read_tape(struct cli *cli, struct device_schedule *schedule, struct diag *diag)
{
    const char *path = cli->options.tape;
    size_t length;
    diag_init(diag, path, NULL, 0);
    const char *text = parse_read_file(&cli->arena, path, &length, diag);
    if (!text) {
        diag_print(diag, stderr);
        return false;
    }
    uint32_t *tape = ARENA_ARRAY(&cli->arena, uint32_t, length / 2 + 1), count = 0;
    const char *at = text + strspn(text, " \t\r\n");
    while (*at) {
        char *end;
        unsigned long long value = strtoull(at, &end, 10);
        if (end == at || value > UINT32_MAX || (*end && !strchr(" \t\r\n", *end))) {
            cli_message(cli, "%s: entry %u of the tape is no number: '%.*s'", path,
                        (unsigned)count + 1, (int)strcspn(at, " \t\r\n"), at);
            return false;
        }
        tape[count++] = (uint32_t)value;
        at = end + strspn(end, " \t\r\n");
    }
    schedule->tape = tape;
    schedule->tape_count = count;
    return true;
}

static int write_tape(struct cli *cli, const struct device_schedule *schedule)
{
    struct text text = text_begin(&cli->arena);
    text_put(&text, "");
    for (uint32_t i = 0; i < schedule->recorded; i++)
        text_format(&text, "%u%s", (unsigned)schedule->record[i],
                    i % 12 == 11 || i + 1 == schedule->recorded ? "\n" : " ");
    if (schedule->recorded == schedule->record_room) {
        cli_message(cli, "the execution is too long for a tape: %u entries",
                    (unsigned)schedule->record_room);
        return CLI_USAGE;
    }
    return cli_write_output(cli, cli->options.output, text.bytes);
}

/* What --seed, --tape and -o ask for. False: reported. */
static bool make_schedule(struct cli *cli, struct device_schedule *schedule, struct diag *diag)
{
    const struct cli_options *o = &cli->options;
    *schedule = (struct device_schedule){.order = o->seed_given ? ORDER_RANDOM : ORDER_TURNS,
                                         .seed = o->seed,
                                         .budget = HOST_JUDGE_DEFAULTS.budget};
    if (o->output) {
        schedule->record = ARENA_ARRAY(&cli->arena, uint32_t, TAPE_ENTRIES);
        schedule->record_room = TAPE_ENTRIES;
    }
    return !o->tape || read_tape(cli, schedule, diag);
}

int cli_host_trace(struct cli *cli, const char *path)
{
    struct diag *diag = ARENA_NEW(&cli->arena, struct diag);
    struct device_options options;
    const struct host_program *program = cli_host_read(cli, path, &options, diag);
    struct device *device = program ? device_new(&cli->arena, program, &options, diag) : NULL;
    if (!device) {
        if (program)
            diag_print(diag, stderr);
        return CLI_USAGE;
    }
    struct tracing tracing = {.cli = cli, .device = device};
    const struct device_watcher watcher = {.context = &tracing, .step = print_step};
    struct device_schedule schedule;
    if (!make_schedule(cli, &schedule, diag))
        return CLI_USAGE;
    device->watcher = &watcher;
    enum device_end end = device_execute(device, &schedule);
    uint32_t line;
    print_row(&tracing);
    if (tracing.lines > cli->options.max_steps)
        printf("   ...  %" PRIu64 " more lines\n", tracing.lines - cli->options.max_steps);
    printf("%s after %" PRIu64 " steps%s%s\n", ends[end], tracing.steps,
           end == END_DONE ? "" : ": ",
           end == END_DONE    ? ""
           : end == END_FAULT ? device_fault(&cli->arena, device, &line)
                              : device_waits(&cli->arena, device));
    if (program->observed_count)
        printf("outcome: %s\n", device_outcome(&cli->arena, device));
    print_rules(device);
    if (schedule.astray) {
        cli_message(cli, "the tape is not of this program and device: entry %u cannot be taken",
                    (unsigned)schedule.astray);
        return CLI_USAGE;
    }
    int status = cli->options.output ? write_tape(cli, &schedule) : CLI_OK;
    if (status != CLI_OK)
        return status;
    return end == END_DONE ? CLI_OK : CLI_DIVERGENCE;
}
