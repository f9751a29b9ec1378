#include "fuzz/campaign/stats_file.h"

#include "fuzz/base/clock.h"
#include "fuzz/base/version.h"
#include "fuzz/out/json.h"
#include "fuzz/out/output.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES_MAX = 4096 };

/* ---- JSON ---- */

static void json_campaign(struct json *json, const struct view *v)
{
    const struct campaign_options *o = v->options;
    json_key_u64(json, "version", 1);
    json_key_string(json, "simtfuzz", SIMTFUZZ_VERSION);
    json_key_string(json, "state", v->state);
    json_key_u64(json, "pid", (uint64_t)getpid());
    json_key_u64(json, "updated_ms", clock_unix_ms());
    json_key_string(json, "database", o->db_path);
    json_key_u64(json, "campaign", v->summary->campaign);
    json_key_hex(json, "seed", o->seed);
    json_key_u64(json, "shard_index", o->shard_index);
    json_key_u64(json, "shard_count", o->shard_count);
    json_key_u64(json, "jobs", o->jobs);
    json_key_double(json, "seconds", (double)v->elapsed_ms / 1000);
    json_key(json, "seconds_left");
    if (v->left_known)
        json_double(json, (double)v->left_ms / 1000);
    else
        json_null(json);
}

static void json_progress(struct json *json, const struct view *v)
{
    const struct campaign_summary *s = v->summary;
    json_key_u64(json, "cases", v->cases);
    json_key_u64(json, "cases_target", v->shard_cases);
    json_key_u64(json, "cases_skipped", s->skipped);
    json_key_double(json, "cases_per_second_now", v->rate_now);
    json_key_double(json, "cases_per_second", v->rate_all);
    json_key_u64(json, "thread_steps", s->thread_steps);
    json_key_u64(json, "warp_steps", s->warp_steps);
    json_key_double(json, "steps_per_second_now", v->steps_now);
    json_key_u64(json, "rules_fired", v->rules);
    json_key_u64(json, "rules", RULE_COUNT);
    json_key_u64(json, "database_writes", s->commits);
    json_key_u64(json, "database_microseconds", s->commit_us);
}

static void json_findings(struct json *json, const struct view *v)
{
    json_key_object_begin(json, "findings");
    json_key_u64(json, "new", v->new_findings);
    json_key_u64(json, "open", v->open_findings);
    json_key_u64(json, "regressed", v->regressed_findings);
    json_key_u64(json, "known", v->known_findings);
    json_key_u64(json, "flaky", v->summary->flaky);
    json_key_u64(json, "divergences", v->summary->occurrences);
    json_object_end(json);
    json_key(json, "last_finding");
    if (!v->last) {
        json_null(json);
        return;
    }
    json_object_begin(json);
    json_key_u64(json, "id", v->last->id);
    json_key_string(json, "signature", v->last->signature);
    json_key_double(json, "seconds_ago", (double)v->last_age_ms / 1000);
    json_object_end(json);
}

static void json_oracles(struct json *json, const struct view *v)
{
    json_key_object_begin(json, "oracles");
    for (uint32_t i = 0; i < ORACLE_COUNT; i++) {
        if (!(v->options->check.oracles >> i & 1))
            continue;
        json_key_object_begin(json, oracle_table[i].name);
        for (uint32_t k = 0; k < VERDICT_COUNT; k++)
            json_key_u64(json, verdict_names[k], v->summary->verdicts[i][k]);
        json_object_end(json);
    }
    json_object_end(json);
}

static void json_workers(struct json *json, const struct view *v)
{
    json_key_array_begin(json, "workers");
    for (uint32_t i = 0; i < v->worker_count; i++) {
        const struct view_worker *w = &v->workers[i];
        bool idle = w->phase == WATCH_IDLE;
        json_object_begin(json);
        json_key_string(json, "phase", idle ? "idle" : watch_phase_name(w->phase));
        json_key(json, "case");
        if (idle)
            json_null(json);
        else
            json_u64(json, w->number);
        json_key_double(json, "seconds", (double)w->still_ms / 1000);
        json_object_end(json);
    }
    json_array_end(json);
}

void stats_print_json(const struct view *view, FILE *out)
{
    struct json json;
    json_line_begin(&json, out);
    json_campaign(&json, view);
    json_progress(&json, view);
    json_findings(&json, view);
    json_oracles(&json, view);
    json_workers(&json, view);
    json_line_end(&json);
}

/* ---- Prometheus ---- */

static void head(FILE *out, const char *name, const char *type, const char *help)
{
    fprintf(out, "# HELP simtfuzz_%s %s\n# TYPE simtfuzz_%s %s\n", name, help, name, type);
}

static void number(FILE *out, const char *name, const char *type, const char *help, double value)
{
    head(out, name, type, help);
    fprintf(out, "simtfuzz_%s %.17g\n", name, value);
}

/* A label's value: the format escapes backslashes, quotes and line ends. */
static void label(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\n')
            fputs("\\n", out);
        else
            fprintf(out, "%s%c", *text == '\\' || *text == '"' ? "\\" : "", *text);
    }
}

static void print_info(const struct view *v, FILE *out)
{
    head(out, "campaign_info", "gauge", "The campaign; always 1.");
    fputs("simtfuzz_campaign_info{version=\"" SIMTFUZZ_VERSION "\",database=\"", out);
    label(out, v->options->db_path);
    fprintf(out,
            "\",campaign=\"%" PRIu64 "\",seed=\"0x%" PRIx64 "\",shard=\"%" PRIu64 "/%" PRIu64
            "\",state=\"",
            v->summary->campaign, v->options->seed, v->options->shard_index,
            v->options->shard_count);
    label(out, v->state);
    fputs("\"} 1\n", out);
}

static void print_finding_counts(const struct view *v, FILE *out)
{
    const struct {
        const char *kind;
        uint32_t count;
    } counts[] = {{"new", v->new_findings},
                  {"open", v->open_findings},
                  {"regressed", v->regressed_findings},
                  {"known", v->known_findings},
                  {"flaky", v->summary->flaky}};
    head(out, "findings", "gauge", "Findings that the campaign saw.");
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        fprintf(out, "simtfuzz_findings{kind=\"%s\"} %" PRIu32 "\n", counts[i].kind,
                counts[i].count);
}

static void print_verdicts(const struct view *v, FILE *out)
{
    head(out, "verdicts_total", "counter", "Verdicts of the oracles.");
    for (uint32_t i = 0; i < ORACLE_COUNT; i++)
        for (uint32_t k = 0; k < VERDICT_COUNT; k++)
            if (v->options->check.oracles >> i & 1)
                fprintf(out, "simtfuzz_verdicts_total{oracle=\"%s\",verdict=\"%s\"} %" PRIu64 "\n",
                        oracle_table[i].name, verdict_names[k], v->summary->verdicts[i][k]);
}

void stats_print_prometheus(const struct view *v, FILE *out)
{
    const struct campaign_summary *s = v->summary;
    print_info(v, out);
    number(out, "updated_timestamp_seconds", "gauge", "When this was written.",
           (double)clock_unix_ms() / 1000);
    number(out, "running", "gauge", "1 while the campaign runs.", strcmp(v->state, "running") == 0);
    number(out, "elapsed_seconds", "gauge", "Since the start.", (double)v->elapsed_ms / 1000);
    number(out, "cases_total", "counter", "Cases done.", (double)v->cases);
    number(out, "cases_skipped_total", "counter", "Cases left out: the engine crashed or hung.",
           (double)s->skipped);
    number(out, "thread_steps_total", "counter", "Steps of threads.", (double)s->thread_steps);
    number(out, "warp_steps_total", "counter", "Steps of warps.", (double)s->warp_steps);
    number(out, "rules_fired", "gauge", "Rules of the papers that fired.", v->rules);
    number(out, "rules", "gauge", "Rules that there are.", RULE_COUNT);
    number(out, "divergences_total", "counter", "Divergences, also repeated ones.",
           (double)s->occurrences);
    number(out, "database_writes_total", "counter", "Transactions.", (double)s->commits);
    number(out, "database_seconds_total", "counter", "Time that they took.",
           (double)s->commit_us / 1e6);
    number(out, "workers", "gauge", "Worker threads.", v->worker_count);
    print_finding_counts(v, out);
    print_verdicts(v, out);
}

/* ---- the file ---- */

bool stats_file_write(const char *path, const struct view *view, const char **why)
{
    size_t length = strlen(path), size = 0;
    char *text = NULL;
    FILE *out = open_memstream(&text, &size);
    *why = "no memory for it";
    if (out && length > 5 && strcmp(path + length - 5, ".prom") == 0)
        stats_print_prometheus(view, out);
    else if (out)
        stats_print_json(view, out);
    bool good = out && fclose(out) == 0 && output_write(path, text, size, why);
    free(text);
    return good;
}
