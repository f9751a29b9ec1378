/*
 * campaign_report.c - the end of a campaign, for a person at a glance and for a program.
 */
#include "fuzz/base/key_table.h"
#include "fuzz/beside/beside.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/out/json.h"
#include "fuzz/out/table.h"
#include "oracle/matrix/matrix.h"

#include <inttypes.h>
#include <string.h>

enum { FINDINGS_SHOWN = 40, REASONS_SHOWN = 3 };

static double rate(uint64_t count, double seconds)
{
    return seconds > 0 ? (double)count / seconds : 0;
}

static void print_totals(struct arena *arena, const struct campaign_summary *s, FILE *out)
{
    const struct {
        const char *what;
        uint64_t count;
    } totals[] = {
        {"cases", s->cases}, {"thread steps", s->thread_steps}, {"warp steps", s->warp_steps}};
    struct table table;
    table_start(&table, arena, NULL, "lrr");
    for (size_t i = 0; i < sizeof totals / sizeof totals[0]; i++) {
        struct table_row *row = table_add(&table);
        row->cells[0] = totals[i].what;
        row->cells[1] = table_grouped(arena, totals[i].count);
        row->cells[2] = arena_printf(
            arena, "%s/s", table_grouped(arena, (uint64_t)rate(totals[i].count, s->seconds)));
    }
    table_print(&table, out);
    if (s->refused > 0)
        fprintf(out, "%s cases refused: a statement without meaning in the structured semantics\n",
                table_grouped(arena, s->refused));
    if (s->skipped > 0)
        fprintf(out,
                "%s cases left out: the engine crashes or hangs there (findings of `engine`)\n",
                table_grouped(arena, s->skipped));
}

/* By all cases, or by those that some are drawn for. */
static bool was_asked(const struct campaign_options *options, const struct campaign_summary *s,
                      uint32_t oracle)
{
    uint64_t sum = 0;
    for (uint32_t v = 0; v < VERDICT_COUNT; v++)
        sum += s->verdicts[oracle][v];
    return options->check.oracles >> oracle & 1 || sum > 0;
}

static void print_verdicts(struct arena *arena, const struct campaign_options *options,
                           const struct campaign_summary *s, FILE *out)
{
    static const char *const titles[] = {"oracle", "agree", "diverge", "not applicable",
                                         "inconclusive"};
    struct table table;
    table_start(&table, arena, titles, "lrrrr");
    for (uint32_t i = 0; i < ORACLE_COUNT; i++) {
        if (!was_asked(options, s, i))
            continue;
        struct table_row *row = table_add(&table);
        row->cells[0] = oracle_table[i].name;
        for (uint32_t v = 0; v < VERDICT_COUNT; v++)
            row->cells[1 + v] = table_grouped(arena, s->verdicts[i][v]);
    }
    fputc('\n', out);
    table_print(&table, out);
}

/* Of each oracle, the reasons that kept it from concluding most often. */
static void print_reasons(struct arena *arena, const struct campaign_summary *s, FILE *out)
{
    bool *shown = ARENA_ARRAY(arena, bool, s->reason_count + 1);
    struct table table;
    table_start(&table, arena, NULL, "lrl");
    for (uint32_t oracle = 0; oracle < ORACLE_COUNT; oracle++)
        for (int n = 0; n < REASONS_SHOWN; n++) {
            const struct campaign_reason *most = NULL;
            for (uint32_t i = 0; i < s->reason_count; i++)
                if (s->reasons[i].oracle == oracle && !shown[i] &&
                    s->reasons[i].verdict != VERDICT_AGREE &&
                    (!most || s->reasons[i].count > most->count))
                    most = &s->reasons[i];
            if (!most)
                break;
            shown[most - s->reasons] = true;
            struct table_row *row = table_add(&table);
            row->cells[0] = arena_printf(arena, "%s %s", oracle_table[oracle].name,
                                         most->verdict == VERDICT_INCONCLUSIVE ? "inconclusive"
                                                                               : "not applicable");
            row->cells[1] = table_grouped(arena, most->count);
            row->cells[2] = most->text;
        }
    if (!table.first)
        return;
    fputs("\nwithout a verdict, most often because:\n", out);
    table_print(&table, out);
}

/* Cases whose termination depends on the model; see add_differences. */
static void print_differences(struct arena *arena, const struct campaign_summary *s, FILE *out)
{
    struct table table;
    table_start(&table, arena, NULL, "lrl");
    for (uint32_t class = 0; class < MATRIX_CLASS_COUNT; class ++)
        for (uint32_t i = 0; i < s->reason_count; i++) {
            const struct matrix_class_info *info = &matrix_class_table[class];
            if (s->reasons[i].oracle != ORACLE_LIVENESS || s->reasons[i].verdict != VERDICT_AGREE ||
                strcmp(s->reasons[i].text, info->name) != 0)
                continue;
            struct table_row *row = table_add(&table);
            row->cells[0] = info->name;
            row->cells[1] = table_grouped(arena, s->reasons[i].count);
            row->cells[2] = info->sentence;
        }
    if (!table.first)
        return;
    fputs("\nwhether it ends depends on the model (small cases only; no fault):\n", out);
    table_print(&table, out);
}

/* Cases with an execution that is compared with no other for this reason; see add_lone. */
static uint64_t count_lone(const struct campaign_summary *s, enum oracle_id oracle,
                           const char *name)
{
    for (uint32_t i = 0; i < s->reason_count; i++)
        if (s->reasons[i].oracle == oracle && s->reasons[i].verdict == VERDICT_AGREE &&
            strcmp(s->reasons[i].text, name) == 0)
            return s->reasons[i].count;
    return 0;
}

static void print_lone(struct arena *arena, const struct campaign_summary *s, FILE *out)
{
    static const char *const titles[] = {"compared with no other", "cases", "unseen", "because"};
    struct table table;
    table_start(&table, arena, titles, "lrrl");
    for (int i = 1; i < LONE_COUNT; i++) {
        uint64_t count = count_lone(s, ORACLE_RESULT, lone_table[i].name);
        if (count == 0)
            continue;
        struct table_row *row = table_add(&table);
        row->cells[0] = lone_table[i].name;
        row->cells[1] = table_grouped(arena, count);
        row->cells[2] = table_grouped(arena, count_lone(s, ORACLE_REFERENCE, lone_table[i].name));
        row->cells[3] = lone_table[i].sentence;
    }
    if (!table.first)
        return;
    fputs("\ncases with executions that no other is compared with (unseen: not all of them were\n"
          "followed by the reference either; docs/oracles.md):\n",
          out);
    table_print(&table, out);
}

const char *const campaign_kind_names[CAMPAIGN_KINDS] = {
    [CAMPAIGN_NEW] = "new",     [CAMPAIGN_OPEN] = "open",   [CAMPAIGN_REGRESSED] = "regressed",
    [CAMPAIGN_FLAKY] = "flaky", [CAMPAIGN_KNOWN] = "known",
};

enum campaign_kind campaign_finding_kind(const struct campaign_finding *finding)
{
    if (finding->suppressed)
        return CAMPAIGN_KNOWN;
    switch (finding->status) {
    case DB_STATUS_OPEN:
        break;
    case DB_STATUS_FIXED:
        return CAMPAIGN_REGRESSED;
    case DB_STATUS_KNOWN:
    case DB_STATUS_INVALID:
        return CAMPAIGN_KNOWN;
    }
    if (finding->flaky)
        return CAMPAIGN_FLAKY;
    return finding->created ? CAMPAIGN_NEW : CAMPAIGN_OPEN;
}

static const char *finding_state(struct arena *arena, const struct campaign_finding *finding)
{
    if (finding->suppressed)
        return "suppressed";
    if (finding->status == DB_STATUS_FIXED)
        return "CAME BACK";
    if (finding->status == DB_STATUS_OPEN)
        return finding->created ? "NEW" : "open";
    return arena_printf(arena, "%s%s%s", db_status_name(finding->status),
                        *finding->reference ? " " : "", finding->reference);
}

/* How many bugs the open findings are taken for: they have so many causes. */
static uint32_t count_bugs(struct arena *arena, const struct campaign_summary *s)
{
    struct key_table causes = {.count = 0};
    for (uint32_t i = 0; i < s->finding_count; i++)
        if (campaign_finding_kind(&s->findings[i]) != CAMPAIGN_KNOWN)
            key_table_number(&causes, arena,
                             *s->findings[i].cause ? s->findings[i].cause
                                                   : s->findings[i].signature);
    return causes.count;
}

static void print_findings(struct arena *arena, const struct campaign_options *options,
                           const struct campaign_summary *s, FILE *out)
{
    static const char *const titles[] = {"status", "times", "first case", "signature", "replay"};
    struct table table;
    if (s->finding_count == 0) {
        fputs("\nno findings\n", out);
        return;
    }
    table_start(&table, arena, titles, "lrrll");
    for (uint32_t i = 0; i < s->finding_count && i < FINDINGS_SHOWN; i++) {
        const struct campaign_finding *finding = &s->findings[i];
        struct table_row *row = table_add(&table);
        row->cells[0] = finding_state(arena, finding);
        row->cells[1] = table_grouped(arena, finding->occurrences);
        row->cells[2] = arena_printf(arena, "%" PRIu64, finding->first_case);
        row->cells[3] = finding->signature;
        row->cells[4] = arena_printf(arena, "simtfuzz replay %" PRIu64 " --db %s", finding->id,
                                     options->db_path);
    }
    uint32_t pending = 0;
    for (uint32_t i = 0; i < s->finding_count; i++)
        pending += s->findings[i].pending;
    fprintf(out, "\nfindings: %" PRIu32 " open, %" PRIu32 " known\n", s->open_findings,
            s->known_findings);
    uint32_t bugs = count_bugs(arena, s);
    if (bugs < s->open_findings)
        fprintf(out, "by their causes, %" PRIu32 " bug%s (docs/signatures.md)\n", bugs,
                bugs == 1 ? "" : "s");
    table_print(&table, out);
    if (s->finding_count > FINDINGS_SHOWN)
        fprintf(out, "... and %" PRIu32 " more: simtfuzz triage list --db %s\n",
                s->finding_count - FINDINGS_SHOWN, options->db_path);
    if (pending > 0 && !options->no_minimise)
        fprintf(out, "%" PRIu32 " of them are not minimised yet: simtfuzz reduce --all --db %s\n",
                pending, options->db_path);
}

static void print_coverage(const struct campaign_summary *s, FILE *out)
{
    uint32_t fired = 0;
    for (uint32_t i = 0; i < RULE_COUNT; i++)
        fired += s->hits[i] > 0;
    fprintf(out, "\nrules fired: %" PRIu32 " of %d", fired, RULE_COUNT);
    const char *separator = "; never: ";
    for (uint32_t i = 0; i < RULE_COUNT; i++) {
        const char *semantics = rule_table[i].semantics;
        bool none = rules_fired(s->hits, semantics) == 0;
        bool first = i == 0 || strcmp(rule_table[i - 1].semantics, semantics) != 0;
        if (s->hits[i] > 0 || (none && !first))
            continue;
        if (none)
            fprintf(out, "%s%s (all)", separator, semantics);
        else
            fprintf(out, "%s%s.%s", separator, semantics, rule_table[i].name);
        separator = ", ";
    }
    fputc('\n', out);
}

/* ---- at most a screen of 24 lines and 80 columns ---- */

enum {
    BRIEF_FINDINGS = 4,
    BRIEF_SIGNATURE = 42,
    BRIEF_RULES = 2,
    BRIEF_ORACLES = 14,
    BRIEF_WIDTH = 79
};

/* Names with numbers behind a title, as many lines as they need. */
struct brief_list {
    FILE *out;
    const char *title;
    size_t column; /* 0: nothing is listed yet */
};

static void brief_item(struct arena *arena, struct brief_list *list, const char *name,
                       uint64_t count)
{
    const char *item = arena_printf(arena, "%s %s", name, table_grouped(arena, count));
    const size_t length = strlen(item) + 2;
    if (list->column == 0)
        list->column = (size_t)fprintf(list->out, "%s: %s", list->title, item);
    else if (list->column + length <= BRIEF_WIDTH - 1)
        list->column += (size_t)fprintf(list->out, ", %s", item);
    else
        list->column = (size_t)fprintf(list->out, ",\n  %s", item) - 2;
}

static void brief_end(const struct brief_list *list)
{
    if (list->column > 0)
        fputc('\n', list->out);
}

static uint64_t concluded(const struct campaign_summary *s, uint32_t oracle)
{
    return s->verdicts[oracle][VERDICT_AGREE] + s->verdicts[oracle][VERDICT_DIVERGE];
}

static bool any_caches(subject_set subjects)
{
    for (uint32_t s = 0; s < SUBJECT_COUNT; s++)
        if (subjects >> s & 1 && subject_table[s].vtable && subject_table[s].vtable->plain)
            return true;
    return false;
}

/* Whether the oracle has the name of a subject that nobody asked for: it is about that one. */
static bool lacks_subject(const struct campaign_options *options, uint32_t oracle)
{
    const char *name = oracle_table[oracle].name;
    enum subject_id subject;
    if (oracle == ORACLE_MEMORY)
        return !any_caches(options->check.subjects);
    return subject_parse(name, strlen(name), &subject) &&
           !(options->check.subjects & SUBJECT_BIT(subject));
}

static bool has_row(const struct campaign_options *options, const struct campaign_summary *s,
                    uint32_t oracle)
{
    return was_asked(options, s, oracle) && concluded(s, oracle) > 0;
}

/* Where not all oracles have room: all that few cases have a verdict of, and all of these agree. */
static uint32_t rare_ones(const struct campaign_options *options, const struct campaign_summary *s)
{
    uint32_t rows = 0, rare = 0;
    for (uint32_t i = 0; i < ORACLE_COUNT; i++) {
        if (!has_row(options, s, i))
            continue;
        rows++;
        if (s->verdicts[i][VERDICT_DIVERGE] == 0 && concluded(s, i) < 3 * s->cases / 8)
            rare |= 1u << i;
    }
    return rows > BRIEF_ORACLES ? rare : 0;
}

/* A row for each oracle that has a verdict, but these. */
static void brief_verdicts(struct arena *arena, const struct campaign_options *options,
                           const struct campaign_summary *s, uint32_t rare, FILE *out)
{
    static const char *const titles[] = {"oracle", "agree", "diverge", "no verdict"};
    struct table table;
    table_start(&table, arena, titles, "lrrr");
    for (uint32_t i = 0; i < ORACLE_COUNT; i++) {
        if (!has_row(options, s, i) || rare >> i & 1)
            continue;
        uint64_t none =
            s->verdicts[i][VERDICT_NOT_APPLICABLE] + s->verdicts[i][VERDICT_INCONCLUSIVE];
        struct table_row *row = table_add(&table);
        row->cells[0] = oracle_table[i].name;
        row->cells[1] = table_grouped(arena, s->verdicts[i][VERDICT_AGREE]);
        row->cells[2] = table_grouped(arena, s->verdicts[i][VERDICT_DIVERGE]);
        row->cells[3] = table_grouped(arena, none);
    }
    if (table.first)
        table_print(&table, out);
}

/* These, what stood beside kernels, and which oracles have no verdict. */
static void brief_others(struct arena *arena, const struct campaign_options *options,
                         const struct campaign_summary *s, uint32_t rare, FILE *out)
{
    struct brief_list few = {out, "few verdicts, all agree", 0},
                      beside = {out, "beside kernels", 0};
    const char *silent = "";
    for (uint32_t i = 0; i < ORACLE_COUNT; i++)
        if (rare >> i & 1)
            brief_item(arena, &few, oracle_table[i].name, concluded(s, i));
        else if (was_asked(options, s, i) && concluded(s, i) == 0 && !lacks_subject(options, i))
            silent =
                arena_printf(arena, "%s%s%s", silent, *silent ? ", " : "", oracle_table[i].name);
    brief_end(&few);
    for (uint32_t b = 0; b < BESIDE_COUNT; b++) {
        uint64_t count = s->beside[b][VERDICT_AGREE] + s->beside[b][VERDICT_DIVERGE];
        if (count > 0)
            brief_item(arena, &beside, beside_table[b].many, count);
    }
    brief_end(&beside);
    if (*silent)
        fprintf(out, "never a verdict (why: --verbose): %s\n", silent);
}

static void brief_lone(struct arena *arena, const struct campaign_summary *s, FILE *out)
{
    uint64_t lone = count_lone(s, ORACLE_RESULT, CAMPAIGN_LONE_ANY);
    uint64_t unseen = count_lone(s, ORACLE_REFERENCE, CAMPAIGN_LONE_ANY);
    if (lone > 0)
        fprintf(out, "cases with executions compared with no other: %s, %s not followed either\n",
                table_grouped(arena, lone), table_grouped(arena, unseen));
}

static void brief_findings(struct arena *arena, const struct campaign_summary *s, FILE *out)
{
    static const char *const titles[] = {"status", "times", "signature", "replay"};
    struct table table;
    if (s->finding_count == 0)
        return; /* the last line says it */
    uint32_t bugs = count_bugs(arena, s);
    fprintf(out, "\nfindings: %" PRIu32 " open, %" PRIu32 " known", s->open_findings,
            s->known_findings);
    if (bugs < s->open_findings)
        fprintf(out, "; by their causes %" PRIu32 " bug%s", bugs, bugs == 1 ? "" : "s");
    fputc('\n', out);
    table_start(&table, arena, titles, "lrll");
    for (uint32_t i = 0; i < s->finding_count && i < BRIEF_FINDINGS; i++) {
        const struct campaign_finding *finding = &s->findings[i];
        struct table_row *row = table_add(&table);
        bool fits = strlen(finding->signature) <= BRIEF_SIGNATURE;
        row->cells[0] = finding_state(arena, finding);
        row->cells[1] = table_grouped(arena, finding->occurrences);
        row->cells[2] =
            fits ? finding->signature
                 : arena_printf(arena, "%.*s..", BRIEF_SIGNATURE - 2, finding->signature);
        row->cells[3] = arena_printf(arena, "simtfuzz replay %" PRIu64, finding->id);
    }
    table_print(&table, out);
    if (s->finding_count > BRIEF_FINDINGS)
        fprintf(out, "... and %" PRIu32 " more: simtfuzz triage list\n",
                s->finding_count - BRIEF_FINDINGS);
}

/* Of the semantics that fired any: those of subjects that nobody asked for are left out. */
static void brief_coverage(const struct campaign_summary *s, FILE *out)
{
    uint32_t fired = 0, all = 0, never[BRIEF_RULES + 1], missing = 0;
    for (uint32_t i = 0; i < RULE_COUNT; i++) {
        if (rules_fired(s->hits, rule_table[i].semantics) == 0)
            continue;
        all++;
        fired += s->hits[i] > 0;
        if (s->hits[i] == 0 && missing <= BRIEF_RULES)
            never[missing++] = i;
    }
    fprintf(out, "rules fired: %" PRIu32 " of %" PRIu32, fired, all);
    for (uint32_t i = 0; i < missing && missing <= BRIEF_RULES; i++)
        fprintf(out, "%s%s.%s", i == 0 ? "; never: " : ", ", rule_table[never[i]].semantics,
                rule_table[never[i]].name);
    fputc('\n', out);
}

static void print_brief(struct arena *arena, const struct campaign_options *options,
                        const struct campaign_summary *s, FILE *out)
{
    fprintf(out, "%s cases (%s/s), %s thread steps, %s warp steps\n",
            table_grouped(arena, s->cases),
            table_grouped(arena, (uint64_t)rate(s->cases, s->seconds)),
            table_grouped(arena, s->thread_steps), table_grouped(arena, s->warp_steps));
    if (s->skipped > 0)
        fprintf(out, "%s cases left out: the engine crashes or hangs there\n",
                table_grouped(arena, s->skipped));
    const uint32_t rare = rare_ones(options, s);
    brief_verdicts(arena, options, s, rare, out);
    brief_others(arena, options, s, rare, out);
    brief_lone(arena, s, out);
    brief_findings(arena, s, out);
    brief_coverage(s, out);
}

void campaign_print(struct arena *arena, const struct campaign_options *options,
                    const struct campaign_summary *s, FILE *out)
{
    fprintf(out, "campaign %" PRIu64 " %s: seed 0x%" PRIx64 ", %" PRIu32 " workers, %.1f s\n",
            s->campaign, s->ending, options->seed, options->jobs, s->seconds);
    if (options->verbose) {
        print_totals(arena, s, out);
        print_verdicts(arena, options, s, out);
        print_reasons(arena, s, out);
        print_lone(arena, s, out);
        print_differences(arena, s, out);
        print_findings(arena, options, s, out);
        print_coverage(s, out);
    } else {
        print_brief(arena, options, s, out);
        fputs(s->finding_count == 0 ? "no findings; " : "", out);
    }
    fprintf(out, "database: %s\n", options->db_path);
}

static void json_findings(struct json *json, const struct campaign_summary *s)
{
    json_key_array_begin(json, "findings");
    for (uint32_t i = 0; i < s->finding_count; i++) {
        const struct campaign_finding *finding = &s->findings[i];
        json_object_begin(json);
        json_key_u64(json, "id", finding->id);
        json_key_string(json, "signature", finding->signature);
        json_key_string(json, "cause", finding->cause);
        json_key_string(json, "status", db_status_name(finding->status));
        json_key_string(json, "reference", finding->reference);
        json_key_bool(json, "new", finding->created);
        json_key_bool(json, "suppressed", finding->suppressed);
        json_key_bool(json, "minimisation_pending", finding->pending);
        json_key_u64(json, "occurrences", finding->occurrences);
        json_key_u64(json, "first_case", finding->first_case);
        json_object_end(json);
    }
    json_array_end(json);
}

static void json_lone(struct json *json, const struct campaign_summary *s)
{
    json_key_array_begin(json, "compared_with_no_other");
    for (int i = 1; i < LONE_COUNT; i++) {
        json_object_begin(json);
        json_key_string(json, "because", lone_table[i].name);
        json_key_u64(json, "cases", count_lone(s, ORACLE_RESULT, lone_table[i].name));
        json_key_u64(json, "unseen", count_lone(s, ORACLE_REFERENCE, lone_table[i].name));
        json_object_end(json);
    }
    json_array_end(json);
}

static void json_oracles(struct json *json, const struct campaign_options *options,
                         const struct campaign_summary *s)
{
    json_key_array_begin(json, "oracles");
    for (uint32_t i = 0; i < ORACLE_COUNT; i++) {
        if (!was_asked(options, s, i))
            continue;
        json_object_begin(json);
        json_key_string(json, "oracle", oracle_table[i].name);
        for (uint32_t v = 0; v < VERDICT_COUNT; v++)
            json_key_u64(json, verdict_names[v], s->verdicts[i][v]);
        json_object_end(json);
    }
    json_array_end(json);
}

void campaign_print_json(const struct campaign_options *options, const struct campaign_summary *s,
                         FILE *out)
{
    struct json json;
    json_line_begin(&json, out);
    json_key_u64(&json, "version", 1);
    json_key_u64(&json, "campaign", s->campaign);
    json_key_string(&json, "state", s->ending);
    json_key_hex(&json, "seed", options->seed);
    json_key_u64(&json, "jobs", options->jobs);
    json_key_u64(&json, "cases", s->cases);
    json_key_u64(&json, "refused", s->refused);
    json_key_u64(&json, "skipped", s->skipped);
    json_key_double(&json, "seconds", s->seconds);
    json_key_double(&json, "cases_per_second", rate(s->cases, s->seconds));
    json_key_u64(&json, "thread_steps", s->thread_steps);
    json_key_u64(&json, "warp_steps", s->warp_steps);
    json_oracles(&json, options, s);
    json_lone(&json, s);
    json_findings(&json, s);
    json_key_u64(&json, "flaky", s->flaky);
    json_key_object_begin(&json, "rules");
    for (uint32_t i = 0; i < RULE_COUNT; i++) {
        char name[80];
        snprintf(name, sizeof name, "%s.%s", rule_table[i].semantics, rule_table[i].name);
        json_key_u64(&json, name, s->hits[i]);
    }
    json_object_end(&json);
    json_key_string(&json, "database", options->db_path);
    json_line_end(&json);
}
