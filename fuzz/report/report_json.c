/*
 * report_json.c - everything that the page shows, as one JSON document (docs/reports.md lists the keys).
 */
#include "fuzz/case/json_finding.h"
#include "fuzz/report/report_internal.h"

#include <inttypes.h>

static void put_cases(struct json *json, const struct db_counts *counts)
{
    json_key_u64(json, "cases", counts->cases);
    json_key_u64(json, "thread_steps", counts->thread_steps);
    json_key_u64(json, "warp_steps", counts->warp_steps);
}

static void put_counts(struct json *json, const struct report *r)
{
    json_key(json, "newest_campaign");
    if (r->newest)
        json_u64(json, r->newest->campaign.id);
    else
        json_null(json);
    json_key_object_begin(json, "counts");
    for (uint32_t i = 0; i < REPORT_CLASS_COUNT; i++)
        json_key_u64(json, report_class_names[i], r->classes[i]);
    json_key_u64(json, "open_not_met_again", r->unseen_open);
    json_key_u64(json, "all", r->finding_count);
    json_key_u64(json, "not_shown", r->finding_count - r->shown_count);
    json_object_end(json);
}

static void put_step(struct json *json, const struct side *side, const struct side_step *step)
{
    char ran[SIDE_LANES_MAX + 1] = "";
    for (uint32_t t = 0; t < side_lanes(side); t++)
        ran[t] = step->ran >> t & 1 ? '1' : '0';
    json_object_begin(json);
    json_key_u64(json, "step", step->number);
    json_key_string(json, "actor", step->actor);
    json_key_string(json, "ran", ran);
    json_key_string(json, "lanes", step->lanes);
    json_key_string(json, "rule", step->rule);
    json_key_u64(json, "line", step->line);
    json_key_string(json, "executed", step->executed);
    json_key_string(json, "writes", step->writes);
    json_key_string(json, "stack", step->stack);
    json_object_end(json);
}

static void put_side(struct json *json, const struct side *side)
{
    json_object_begin(json);
    json_key_string(json, "subject", side->subject);
    json_key_string(json, "schedule", side->schedule);
    json_key_u64(json, "threads", side->threads);
    json_key_string(json, "ended", side->ended);
    json_key_u64(json, "steps_taken", side->total);
    json_key(json, "parts_at_step");
    if (side->parts < side->step_count)
        json_u64(json, side->steps[side->parts].number);
    else
        json_null(json);
    json_key_array_begin(json, "steps");
    for (uint32_t i = 0; i < side->step_count; i++)
        put_step(json, side, &side->steps[i]);
    json_array_end(json);
    json_object_end(json);
}

static void put_executions(struct json *json, const struct report_finding *shown)
{
    const struct comparison *c = shown->comparison;
    json_key(json, "executions");
    if (!c) {
        json_null(json);
        json_key_string(json, "no_executions", shown->no_comparison);
        return;
    }
    json_object_begin(json);
    json_key_string(json, "summary", c->summary);
    json_key_string(json, "parting", c->parting);
    json_key_array_begin(json, "sides");
    for (int s = 0; s < 2 && c->sides[s].subject; s++)
        put_side(json, &c->sides[s]);
    json_array_end(json);
    json_object_end(json);
}

static void put_finding(struct json *json, struct arena *arena, const struct report *r,
                        const struct report_finding *shown)
{
    const struct db_finding *f = shown->finding;
    json_object_begin(json);
    json_key_u64(json, "id", f->id);
    json_key_string(json, "signature", f->signature);
    json_key_string(json, "group", report_class_names[shown->class]);
    json_key_string(json, "status", db_status_name(f->status));
    json_key_bool(json, "suppressed", f->suppressed);
    json_key_bool(json, "seen_by_newest_campaign", shown->seen);
    json_finding_parts(json, f);
    json_key_string(json, "cause", f->cause);
    json_key_string(json, "minimisation", db_minimisation_name(f->minimisation));
    json_finding_sightings(json, f);
    json_key_u64(json, "statements", f->raw_statements);
    json_key_u64(json, "minimised_statements", f->minimised.statements);
    json_key_bool(json, "minimised", shown->minimised);
    json_key_string(json, "kernel", shown->kernel);
    json_key_u64(json, "line", shown->line);
    json_key_string(json, "launch", f->minimised.launch);
    json_key_string(json, "case", shown->minimised ? f->minimised.case_text : f->raw_case);
    json_key_string(json, "tape", shown->minimised ? f->minimised.tape : "");
    json_key(json, "evidence");
    json_raw(json, f->evidence);
    json_key_string(json, "replay", report_replay_command(arena, r, f));
    put_executions(json, shown);
    json_object_end(json);
}

static void put_findings(struct json *json, struct arena *arena, const struct report *r)
{
    json_key_array_begin(json, "findings");
    for (uint32_t i = 0; i < r->shown_count; i++)
        put_finding(json, arena, r, &r->shown[i]);
    json_array_end(json);
}

static void put_oracles(struct json *json, const struct report *r)
{
    json_key_array_begin(json, "oracles");
    for (uint32_t i = 0; i < r->oracle_count; i++) {
        const struct report_oracle *oracle = &r->oracles[i];
        json_object_begin(json);
        json_key_string(json, "oracle", oracle->name);
        json_key_string(json, "theorem", oracle->info ? oracle->info->theorem : "");
        for (uint32_t v = 0; v < VERDICT_COUNT; v++)
            json_key_u64(json, verdict_names[v], oracle->verdicts[v]);
        json_key_array_begin(json, "reasons");
        for (uint32_t k = 0; k < REPORT_REASONS && oracle->reasons[k].count > 0; k++) {
            json_object_begin(json);
            json_key_string(json, "verdict", oracle->reasons[k].verdict);
            json_key_string(json, "reason", oracle->reasons[k].text);
            json_key_u64(json, "count", oracle->reasons[k].count);
            json_object_end(json);
        }
        json_array_end(json);
        json_key_u64(json, "other_reasons", oracle->other_reasons);
        json_object_end(json);
    }
    json_array_end(json);
}

static void put_run(struct json *json, const struct report_run *run)
{
    json_object_begin(json);
    json_key_string(json, "subject", run->subject);
    json_key_string(json, "version", run->version);
    json_key_u64(json, "kernels", run->kernels);
    json_key_u64(json, "wrong_value", run->wrong);
    json_key_u64(json, "crash", run->crashes);
    json_key_u64(json, "hang", run->hangs);
    json_key_u64(json, "compile_error", run->refusals);
    json_key_u64(json, "run_error", run->run_errors);
    json_key_u64(json, "unknown", run->unknown);
    json_key_u64(json, "known", run->known);
    json_key_u64(json, "unconfirmed", run->unconfirmed);
    json_key_u64(json, "cpu_us", run->cpu_us);
    json_key_u64(json, "our_cpu_us", run->our_us);
    json_object_end(json);
}

static void put_implementation(struct json *json, const struct report_implementation *i)
{
    json_object_begin(json);
    json_key_string(json, "implementation", i->name);
    json_key_array_begin(json, "runs");
    for (uint32_t k = 0; k < i->run_count; k++)
        put_run(json, &i->runs[k]);
    json_array_end(json);
    json_key_array_begin(json, "findings");
    for (uint32_t k = 0; k < i->finding_count; k++)
        json_u64(json, i->findings[k].id);
    json_array_end(json);
    json_key_array_begin(json, "known");
    for (uint32_t k = 0; k < i->known_count; k++) {
        json_object_begin(json);
        json_key_string(json, "id", i->known[k].id);
        json_key_u64(json, "seen", i->known[k].seen);
        json_key_u64(json, "chances", i->known[k].chances);
        json_object_end(json);
    }
    json_array_end(json);
    json_object_end(json);
}

/* Only where there are any: most databases know none. */
static void put_outside(struct json *json, const struct report *r)
{
    if (!r->outside)
        return;
    json_key_array_begin(json, "outside");
    for (const struct report_implementation *i = r->outside; i; i = i->next)
        put_implementation(json, i);
    json_array_end(json);
}

static void put_differences(struct json *json, const struct report *r)
{
    json_key_object_begin(json, "termination_depends_on_model");
    for (uint32_t i = 0; i < MATRIX_CLASS_COUNT; i++)
        json_key_u64(json, matrix_class_table[i].name, r->differences[i]);
    json_object_end(json);
}

static void put_rules(struct json *json, const struct report *r)
{
    json_key_array_begin(json, "rules");
    for (uint32_t i = 0; i < RULE_COUNT; i++) {
        json_object_begin(json);
        json_key_string(json, "semantics", rule_table[i].semantics);
        json_key_string(json, "rule", rule_table[i].name);
        json_key_u64(json, "hits", r->hits[i]);
        json_key_string(json, "source", rule_table[i].source);
        json_object_end(json);
    }
    json_array_end(json);
}

static void put_campaigns(struct json *json, const struct report *r)
{
    json_key_array_begin(json, "campaigns");
    for (uint32_t i = 0; i < r->campaign_count; i++) {
        const struct db_campaign *c = &r->campaigns[i].campaign;
        json_object_begin(json);
        json_key_u64(json, "campaign", c->id);
        json_key_string(json, "state", db_campaign_state_name(c->state));
        json_key_bool(json, "newest", r->campaigns[i].newest);
        json_key_hex(json, "seed", c->seed);
        json_key_string(json, "options", c->options);
        json_key_string(json, "version", c->version);
        json_key_u64(json, "shards", c->shards);
        json_key_u64(json, "shard_count", c->shard_count);
        json_key_u64(json, "jobs", c->jobs);
        json_key_u64(json, "started_ms", c->started_ms);
        json_key_u64(json, "seen_ms", c->seen_ms);
        json_key_double(json, "seconds", r->campaigns[i].seconds);
        put_cases(json, &c->counts);
        json_object_end(json);
    }
    json_array_end(json);
}

static void put_growth(struct json *json, const struct report *r)
{
    json_key_array_begin(json, "growth");
    for (uint32_t i = 0; i < r->growth_count; i++) {
        json_object_begin(json);
        put_cases(json, &r->growth[i].counts);
        json_key_u64(json, "findings", r->growth[i].findings);
        json_object_end(json);
    }
    json_array_end(json);
}

void report_write_json(struct arena *arena, const struct report *r, FILE *out)
{
    struct json json;
    size_t mark = arena_mark(arena);
    json_line_begin(&json, out);
    json_key_u64(&json, "version", REPORT_VERSION);
    json_key_string(&json, "simtfuzz", r->program_version);
    json_key_string(&json, "database", r->options.db_name);
    json_key_string(&json, "headline", report_headline(arena, r));
    put_counts(&json, r);
    put_findings(&json, arena, r);
    put_oracles(&json, r);
    put_outside(&json, r);
    put_differences(&json, r);
    put_rules(&json, r);
    put_campaigns(&json, r);
    put_growth(&json, r);
    json_line_end(&json);
    arena_release(arena, mark);
}
