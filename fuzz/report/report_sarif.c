/*
 * report_sarif.c - SARIF 2.1.0: a rule an oracle, a result a finding, its kernel as an embedded artifact, the
 * two executions as code flows.
 */
#include "fuzz/out/json.h"
#include "fuzz/report/report_internal.h"

#include <inttypes.h>
#include <string.h>

struct sarif {
    struct json json;
    struct arena *arena;
    const struct report *report;
};

static void put_message(struct sarif *s, const char *key, const char *text)
{
    json_key_object_begin(&s->json, key);
    json_key_string(&s->json, "text", text);
    json_object_end(&s->json);
}

static const char *uri(struct sarif *s, const struct report_finding *shown)
{
    const char *kernel = shown->kernel ? shown->kernel : "";
    bool ptx = strstr(kernel, ".entry") != NULL;
    return arena_printf(s->arena, "finding-%" PRIu64 "%s.%s", shown->finding->id,
                        shown->minimised ? "" : "-raw", ptx ? "ptx" : "simt");
}

/* ---- the oracles as rules ---- */

static void put_rule(struct sarif *s, const struct report_oracle *oracle)
{
    struct json *json = &s->json;
    const struct oracle_info *info = oracle->info;
    json_object_begin(json);
    json_key_string(json, "id", oracle->name);
    put_message(s, "shortDescription",
                arena_printf(s->arena, "The oracle %s: %s", oracle->name,
                             info ? info->theorem : "of another version of simtfuzz"));
    if (info) {
        put_message(s, "fullDescription", arena_printf(s->arena, "Applies to %s.", info->applies));
        put_message(s, "help", arena_printf(s->arena, "It %s.", info->cannot));
    }
    json_key_object_begin(json, "defaultConfiguration");
    json_key_string(json, "level", "error");
    json_object_end(json);
    json_object_end(json);
}

static uint32_t rule_index(const struct report *r, const char *oracle)
{
    uint32_t i = 0;
    while (i < r->oracle_count && strcmp(r->oracles[i].name, oracle) != 0)
        i++;
    return i;
}

static void put_tool(struct sarif *s)
{
    struct json *json = &s->json;
    const struct report *r = s->report;
    json_key_object_begin(json, "tool");
    json_key_object_begin(json, "driver");
    json_key_string(json, "name", "simtfuzz");
    json_key_string(json, "version", r->program_version);
    json_key_string(json, "semanticVersion", r->program_version);
    json_key_array_begin(json, "rules");
    for (uint32_t i = 0; i < r->oracle_count; i++)
        put_rule(s, &r->oracles[i]);
    json_array_end(json);
    json_object_end(json);
    json_object_end(json);
}

/* ---- kernels as artifacts ---- */

static void put_artifacts(struct sarif *s)
{
    struct json *json = &s->json;
    const struct report *r = s->report;
    json_key_array_begin(json, "artifacts");
    for (uint32_t i = 0; i < r->shown_count; i++) {
        const struct report_finding *shown = &r->shown[i];
        json_object_begin(json);
        json_key_object_begin(json, "location");
        json_key_string(json, "uri", uri(s, shown));
        json_object_end(json);
        json_key_object_begin(json, "contents");
        json_key_string(json, "text", shown->kernel ? shown->kernel : "");
        json_object_end(json);
        json_key_array_begin(json, "roles");
        json_string(json, "analysisTarget");
        json_array_end(json);
        json_object_end(json);
    }
    json_array_end(json);
}

/* ---- findings as results ---- */

static void put_location(struct sarif *s, const struct report_finding *shown, uint32_t artifact,
                         uint32_t line)
{
    struct json *json = &s->json;
    json_key_object_begin(json, "physicalLocation");
    json_key_object_begin(json, "artifactLocation");
    json_key_string(json, "uri", uri(s, shown));
    json_key_u64(json, "index", artifact);
    json_object_end(json);
    json_key_object_begin(json, "region");
    json_key_u64(json, "startLine", line > 0 ? line : 1);
    json_object_end(json);
    json_object_end(json);
}

/* The steps that have a line, up to the one at which the sides part. */
static void put_thread_flow(struct sarif *s, const struct report_finding *shown, uint32_t artifact,
                            const struct side *side)
{
    struct json *json = &s->json;
    uint32_t end = side->parts < side->step_count ? side->parts + 1 : side->step_count;
    json_object_begin(json);
    json_key_string(json, "id", side->subject);
    json_key_array_begin(json, "locations");
    for (uint32_t i = 0; i < end; i++) {
        const struct side_step *step = &side->steps[i];
        if (step->line == 0 && i + 1 < end)
            continue;
        json_object_begin(json);
        json_key_object_begin(json, "location");
        put_location(s, shown, artifact, step->line);
        put_message(s, "message",
                    arena_printf(s->arena, "step %" PRIu64 " of %s, %s, %s: %s; then %s",
                                 step->number, side->subject, step->actor, step->rule,
                                 step->executed, step->stack));
        json_object_end(json);
        json_key_u64(json, "executionOrder", i + 1);
        json_key_string(json, "importance", i == side->parts ? "essential" : "unimportant");
        json_object_end(json);
    }
    json_array_end(json);
    json_object_end(json);
}

static void put_code_flows(struct sarif *s, const struct report_finding *shown, uint32_t artifact)
{
    struct json *json = &s->json;
    const struct comparison *c = shown->comparison;
    if (!c || c->sides[0].step_count == 0)
        return;
    json_key_array_begin(json, "codeFlows");
    json_object_begin(json);
    put_message(s, "message", *c->parting ? c->parting : "The two executions.");
    json_key_array_begin(json, "threadFlows");
    for (int i = 0; i < 2 && c->sides[i].subject; i++)
        if (c->sides[i].step_count > 0)
            put_thread_flow(s, shown, artifact, &c->sides[i]);
    json_array_end(json);
    json_object_end(json);
    json_array_end(json);
}

static void put_suppression(struct sarif *s, const struct report_finding *shown)
{
    struct json *json = &s->json;
    const struct db_finding *f = shown->finding;
    if (shown->class != REPORT_KNOWN && shown->class != REPORT_SUPPRESSED &&
        shown->class != REPORT_INVALID)
        return;
    json_key_array_begin(json, "suppressions");
    json_object_begin(json);
    json_key_string(json, "kind", "external");
    json_key_string(json, "status", "accepted");
    json_key_string(json, "justification",
                    arena_printf(s->arena, "%s%s%s%s%s", report_class_names[shown->class],
                                 *f->reference ? " " : "", f->reference, *f->note ? ": " : "",
                                 f->note));
    json_object_end(json);
    json_array_end(json);
}

/* Of the newest campaign against what was there before. That it did not meet an open finding again does not mean
 * that it is gone. */
static const char *baseline_state(const struct report_finding *shown)
{
    if (shown->class == REPORT_NEW || shown->class == REPORT_REGRESSION)
        return "new";
    return shown->class == REPORT_FIXED ? "absent" : "unchanged";
}

static void put_properties(struct sarif *s, const struct report_finding *shown)
{
    struct json *json = &s->json;
    const struct db_finding *f = shown->finding;
    json_key_object_begin(json, "properties");
    json_key_u64(json, "finding", f->id);
    json_key_string(json, "signature", f->signature);
    json_key_string(json, "group", report_class_names[shown->class]);
    json_key_string(json, "class", f->class);
    json_key_string(json, "rule", f->rule);
    json_key_string(json, "observable", f->observable);
    json_key_string(json, "subject", f->subject);
    json_key_string(json, "launch", f->minimised.launch);
    json_key_string(json, "replay", report_replay_command(s->arena, s->report, f));
    json_object_end(json);
}

static void put_result(struct sarif *s, uint32_t index)
{
    struct json *json = &s->json;
    const struct report_finding *shown = &s->report->shown[index];
    const struct db_finding *f = shown->finding;
    const char *says = shown->comparison && *shown->comparison->summary ? shown->comparison->summary
                                                                        : f->signature;
    uint32_t rule = rule_index(s->report, f->oracle);
    json_object_begin(json);
    json_key_string(json, "ruleId", f->oracle);
    if (rule < s->report->oracle_count)
        json_key_u64(json, "ruleIndex", rule);
    json_key_string(json, "level", report_class_counts(shown->class) ? "error" : "note");
    put_message(s, "message",
                arena_printf(s->arena, "%s. Run it again: %s", says,
                             report_replay_command(s->arena, s->report, f)));
    json_key_array_begin(json, "locations");
    json_object_begin(json);
    put_location(s, shown, index, shown->line);
    json_object_end(json);
    json_array_end(json);
    put_code_flows(s, shown, index);
    json_key_object_begin(json, "partialFingerprints");
    json_key_string(json, "simtfuzzSignature/v1", f->signature);
    json_object_end(json);
    if (f->occurrences > 0)
        json_key_u64(json, "occurrenceCount", f->occurrences);
    put_suppression(s, shown);
    json_key_string(json, "baselineState", baseline_state(shown));
    put_properties(s, shown);
    json_object_end(json);
}

void report_write_sarif(struct arena *arena, const struct report *r, FILE *out)
{
    struct sarif s = {.arena = arena, .report = r};
    struct json *json = &s.json;
    size_t mark = arena_mark(arena);
    json_line_begin(json, out);
    json_key_string(json, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    json_key_string(json, "version", "2.1.0");
    json_key_array_begin(json, "runs");
    json_object_begin(json);
    put_tool(&s);
    json_key_object_begin(json, "automationDetails");
    json_key_string(json, "id", "simtfuzz/");
    json_object_end(json);
    put_artifacts(&s);
    json_key_array_begin(json, "results");
    for (uint32_t i = 0; i < r->shown_count; i++)
        put_result(&s, i);
    json_array_end(json);
    json_key_object_begin(json, "properties");
    json_key_u64(json, "findingsNotShown", r->finding_count - r->shown_count);
    json_object_end(json);
    json_object_end(json);
    json_array_end(json);
    json_line_end(json);
    arena_release(arena, mark);
}
