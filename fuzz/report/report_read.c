#include "fuzz/report/report.h"

#include "engine/machine/rules.h"
#include "fuzz/base/version.h"
#include "fuzz/case/finding.h"
#include "fuzz/out/table.h"
#include "fuzz/report/compare.h"
#include "fuzz/report/report_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *const report_class_names[REPORT_CLASS_COUNT] = {
    [REPORT_REGRESSION] = "regression", [REPORT_NEW] = "new",     [REPORT_OPEN] = "open",
    [REPORT_SUPPRESSED] = "suppressed", [REPORT_KNOWN] = "known", [REPORT_INVALID] = "invalid",
    [REPORT_FIXED] = "fixed",
};

/* Of every finding, what decides whether it is shown: there may be 10^5 of them. */
struct row {
    uint64_t id, occurrences;
    enum db_status status;
    enum report_class class;
    bool suppressed, seen, seen_before;
    bool times_known, came_back; /* seen after its status was set */
};

struct reader {
    struct arena *arena, *scratch;
    struct db *db;
    struct report *report;
    struct report_campaign *campaigns;
    uint32_t campaign_capacity;
    struct row *rows; /* by id */
    uint64_t row_capacity;
    int error;
};

/* Room for one more: lists grow by doubling, what is left behind stays in the arena. */
#define GROW(arena, type, items, count, capacity)                                                  \
    do {                                                                                           \
        if ((count) == (capacity)) {                                                               \
            (capacity) = (capacity) ? 2 * (capacity) : 64;                                         \
            type *more = ARENA_ARRAY(arena, type, capacity);                                       \
            if (count)                                                                             \
                memcpy(more, items, (count) * sizeof *more);                                       \
            (items) = more;                                                                        \
        }                                                                                          \
    } while (0)

static const char *copy(struct arena *arena, const char *text)
{
    return arena_strndup(arena, text, strlen(text));
}

/* ---- campaigns ---- */

static bool see_campaign(void *context, const struct db_campaign *c)
{
    struct reader *r = context;
    struct report *report = r->report;
    GROW(r->arena, struct report_campaign, r->campaigns, report->campaign_count,
         r->campaign_capacity);
    struct report_campaign *to = &r->campaigns[report->campaign_count++];
    *to = (struct report_campaign){.campaign = *c};
    to->campaign.options = copy(r->arena, c->options);
    to->campaign.version = copy(r->arena, c->version);
    to->campaign.config = copy(r->arena, c->config);
    to->campaign.host = copy(r->arena, c->host);
    return true;
}

static struct report_campaign *find_campaign(struct reader *r, uint64_t id)
{
    uint32_t low = 0, high = r->report->campaign_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (r->campaigns[middle].campaign.id < id)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < r->report->campaign_count && r->campaigns[low].campaign.id == id;
    return found ? &r->campaigns[low] : NULL;
}

static bool see_session(void *context, const struct db_session *session)
{
    struct report_campaign *c = find_campaign(context, session->campaign);
    if (c && session->seen_ms > session->started_ms)
        c->seconds += (double)(session->seen_ms - session->started_ms) / 1000;
    if (c && session->number == 0)
        c->campaign.started_ms = session->started_ms;
    return true;
}

static void add_counts(struct db_counts *sum, const struct db_counts *more)
{
    sum->cases += more->cases;
    sum->kernels += more->kernels;
    sum->thread_steps += more->thread_steps;
    sum->warp_steps += more->warp_steps;
}

static void find_newest(struct reader *r)
{
    struct report *report = r->report;
    struct report_campaign *last = NULL;
    for (uint32_t i = 0; i < report->campaign_count; i++) {
        struct report_campaign *c = &r->campaigns[i];
        add_counts(&report->total, &c->campaign.counts);
        if (!last || c->campaign.started_ms >= last->campaign.started_ms)
            last = c;
    }
    if (last)
        last->newest = true;
    report->newest = last;
}

static bool see_rule_hit(void *context, const char *rule, uint64_t hits)
{
    struct report_campaign *c = context;
    (void)rule;
    c->rules += hits > 0;
    return true;
}

static int read_rules_by_campaign(struct reader *r)
{
    int error = DB_OK;
    for (uint32_t i = 0; i < r->report->campaign_count && error == DB_OK; i++)
        error = db_rule_hits(r->db, r->campaigns[i].campaign.id, see_rule_hit, &r->campaigns[i]);
    return error;
}

static int read_campaigns(struct reader *r)
{
    int error = db_campaigns(r->db, see_campaign, r);
    if (error == DB_OK)
        error = db_sessions(r->db, see_session, r);
    if (error == DB_OK)
        error = read_rules_by_campaign(r);
    if (error == DB_OK)
        find_newest(r);
    r->report->campaigns = r->campaigns;
    return error;
}

/* ---- findings ---- */

/* How a finding counts at the end of each campaign from its first on. Who set a status and when is known since statuses
 * have times; an older one counts as set from the start. */
static void see_trend(struct reader *r, const struct db_finding *f)
{
    struct report_campaign *first = find_campaign(r, f->first_campaign);
    if (first) {
        first->found++;
        if (first->first_found_ms == 0 || f->first_seen_ms < first->first_found_ms)
            first->first_found_ms = f->first_seen_ms;
    }
    for (uint32_t i = 0; i < r->report->campaign_count; i++) {
        struct report_campaign *c = &r->campaigns[i];
        bool settled = f->status != DB_STATUS_OPEN && f->status_ms <= c->campaign.seen_ms;
        if (c->campaign.id < f->first_campaign)
            continue;
        c->open += !settled && !f->suppressed;
        c->fixed += settled && f->status == DB_STATUS_FIXED;
    }
}

static bool see_finding(void *context, const struct db_finding *f)
{
    struct reader *r = context;
    see_trend(r, f);
    GROW(r->scratch, struct row, r->rows, r->report->finding_count, r->row_capacity);
    r->rows[r->report->finding_count++] =
        (struct row){.id = f->id,
                     .occurrences = f->occurrences,
                     .status = f->status,
                     .suppressed = f->suppressed,
                     .came_back = f->status_ms > 0 && f->last_seen_ms > f->status_ms,
                     .times_known = f->status_ms > 0 && f->last_seen_ms > 0};
    return true;
}

static int compare_ids(const void *key, const void *item)
{
    uint64_t id = *(const uint64_t *)key;
    const struct row *row = item;
    return id < row->id ? -1 : id > row->id;
}

static bool see_sighting(void *context, const struct db_sighting *sighting)
{
    struct reader *r = context;
    struct row *row =
        bsearch(&sighting->finding, r->rows, r->report->finding_count, sizeof *row, compare_ids);
    const struct report_campaign *c = find_campaign(r, sighting->campaign);
    if (row && c && c->newest)
        row->seen = true;
    else if (row)
        row->seen_before = true;
    return true;
}

static enum report_class classify(const struct row *row)
{
    switch (row->status) {
    case DB_STATUS_FIXED:
        if (row->times_known ? !row->came_back : !row->seen)
            return REPORT_FIXED;
        return row->suppressed ? REPORT_SUPPRESSED : REPORT_REGRESSION;
    case DB_STATUS_KNOWN:
        return REPORT_KNOWN;
    case DB_STATUS_INVALID:
        return REPORT_INVALID;
    case DB_STATUS_OPEN:
        break;
    }
    if (row->suppressed)
        return REPORT_SUPPRESSED;
    return row->seen && !row->seen_before ? REPORT_NEW : REPORT_OPEN;
}

/* By class, then those that the newest campaign saw, then the frequent ones. */
static int compare_rows(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    if (a->class != b->class)
        return a->class < b->class ? -1 : 1;
    if (a->seen != b->seen)
        return a->seen ? -1 : 1;
    if (a->occurrences != b->occurrences)
        return a->occurrences > b->occurrences ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

struct fetched {
    struct arena *arena;
    struct db_finding *finding;
    const char *text;
};

static bool fetch_finding(void *context, const struct db_finding *finding)
{
    struct fetched *fetched = context;
    fetched->finding = finding_copy(fetched->arena, finding);
    return false;
}

static void fetch_text(void *context, const char *text, size_t length)
{
    struct fetched *fetched = context;
    fetched->text = arena_strndup(fetched->arena, text, length);
}

static int read_shown(struct reader *r, const struct row *row, struct report_finding *shown)
{
    struct fetched fetched = {.arena = r->arena};
    int error = db_finding_get(r->db, row->id, fetch_finding, &fetched);
    if (error != DB_OK)
        return error;
    const struct db_finding *f = fetched.finding;
    *shown = (struct report_finding){.finding = f,
                                     .class = row->class,
                                     .seen = row->seen,
                                     .minimised = *f->minimised.kernel != '\0'};
    const char *hash = shown->minimised ? f->minimised.kernel : f->raw_kernel;
    if (*hash)
        error = db_kernel_get(r->db, hash, fetch_text, &fetched);
    shown->kernel = fetched.text;
    shown->line = report_evidence_line(f->evidence);
    return error;
}

/* Runs the most important findings again; in their order, so it is the same ones every time. */
static void compare_shown(struct reader *r, struct report_finding *shown, uint64_t count)
{
    uint32_t left = r->report->options.traces;
    for (uint64_t i = 0; i < count; i++) {
        struct report_finding *one = &shown[i];
        bool settled = !report_class_counts(one->class) && one->class != REPORT_KNOWN;
        one->no_comparison = !one->kernel ? "the database holds no kernel"
                             : settled    ? "nothing is open about it"
                             : left == 0
                                 ? "only the most important findings are run again: --traces N"
                                 : NULL;
        if (one->no_comparison)
            continue;
        left--;
        one->comparison = compare_finding(r->arena, r->scratch, one->finding, one->kernel,
                                          one->minimised, &one->no_comparison);
    }
}

static int read_findings(struct reader *r)
{
    struct report *report = r->report;
    int error = db_findings(r->db, DB_ANY_STATUS, see_finding, r);
    if (error == DB_OK)
        error = db_sightings(r->db, see_sighting, r);
    if (error != DB_OK)
        return error;
    for (uint64_t i = 0; i < report->finding_count; i++) {
        struct row *row = &r->rows[i];
        row->class = classify(row);
        report->classes[row->class]++;
        report->unseen_open += row->class == REPORT_OPEN && !row->seen;
    }
    if (report->finding_count > 0)
        qsort(r->rows, report->finding_count, sizeof *r->rows, compare_rows);
    uint64_t count = report->finding_count < report->options.findings ? report->finding_count
                                                                      : report->options.findings;
    struct report_finding *shown = ARENA_ARRAY(r->arena, struct report_finding, count + 1);
    for (uint64_t i = 0; i < count && error == DB_OK; i++)
        error = read_shown(r, &r->rows[i], &shown[i]);
    if (error == DB_OK)
        compare_shown(r, shown, count);
    report->shown = shown;
    report->shown_count = (uint32_t)count;
    return error;
}

/* ---- oracles, rules, growth ---- */

struct oracle_reader {
    struct arena *arena;
    struct report *report;
    struct report_oracle *oracles;
    uint32_t count, capacity;
};

static bool parse_verdict(const char *name, enum verdict *verdict)
{
    for (uint32_t v = 0; v < VERDICT_COUNT; v++)
        if (strcmp(verdict_names[v], name) == 0) {
            *verdict = (enum verdict)v;
            return true;
        }
    return false;
}

/* The program's oracles come first, in their order; others, of another version, as they are met. */
static struct report_oracle *oracle_named(struct oracle_reader *r, const char *name)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (strcmp(r->oracles[i].name, name) == 0)
            return &r->oracles[i];
    GROW(r->arena, struct report_oracle, r->oracles, r->count, r->capacity);
    r->oracles[r->count] = (struct report_oracle){.name = copy(r->arena, name)};
    return &r->oracles[r->count++];
}

bool report_has_differences(const struct report *report)
{
    for (uint32_t i = 0; i < MATRIX_CLASS_COUNT; i++)
        if (report->differences[i] > 0)
            return true;
    return false;
}

static bool see_verdict(void *context, const struct db_verdict *v, const char *reason)
{
    (void)reason;
    enum verdict verdict;
    if (parse_verdict(v->verdict, &verdict))
        oracle_named(context, v->oracle)->verdicts[verdict] += v->count;
    return true;
}

static bool see_reason(void *context, const struct db_verdict *v, const char *text)
{
    struct oracle_reader *r = context;
    struct report_oracle *oracle = oracle_named(r, v->oracle);
    uint32_t at = REPORT_REASONS;
    if (strcmp(v->verdict, verdict_names[VERDICT_AGREE]) == 0) {
        for (uint32_t i = 0; i < MATRIX_CLASS_COUNT; i++)
            if (strcmp(text, matrix_class_table[i].name) == 0)
                r->report->differences[i] += v->count;
        return true;
    }
    while (at > 0 && oracle->reasons[at - 1].count < v->count)
        at--;
    if (at == REPORT_REASONS) {
        oracle->other_reasons += v->count;
        return true;
    }
    oracle->other_reasons += oracle->reasons[REPORT_REASONS - 1].count;
    memmove(&oracle->reasons[at + 1], &oracle->reasons[at],
            (REPORT_REASONS - 1 - at) * sizeof oracle->reasons[0]);
    oracle->reasons[at] = (struct report_reason){
        .count = v->count, .verdict = copy(r->arena, v->verdict), .text = copy(r->arena, text)};
    return true;
}

static int read_oracles(struct reader *r)
{
    struct oracle_reader o = {.arena = r->arena, .report = r->report};
    for (uint32_t i = 0; i < ORACLE_COUNT; i++)
        oracle_named(&o, oracle_table[i].name)->info = &oracle_table[i];
    int error = db_verdicts(r->db, 0, see_verdict, &o);
    if (error == DB_OK)
        error = db_reasons(r->db, 0, see_reason, &o);
    r->report->oracles = o.oracles;
    r->report->oracle_count = o.count;
    return error;
}

static bool see_hits(void *context, const char *rule, uint64_t hits)
{
    struct report *report = context;
    for (uint32_t i = 0; i < RULE_COUNT; i++) {
        size_t length = strlen(rule_table[i].semantics);
        if (strncmp(rule, rule_table[i].semantics, length) == 0 && rule[length] == '.' &&
            strcmp(rule + length + 1, rule_table[i].name) == 0)
            report->hits[i] += hits;
    }
    return true;
}

struct growth_reader {
    struct arena *arena;
    struct db_statistics *points;
    uint32_t count, capacity;
};

static bool see_point(void *context, const struct db_statistics *point)
{
    struct growth_reader *g = context;
    GROW(g->arena, struct db_statistics, g->points, g->count, g->capacity);
    g->points[g->count++] = *point;
    return true;
}

static int read_growth(struct reader *r)
{
    struct growth_reader g = {.arena = r->arena};
    int error = DB_OK;
    if (r->report->newest)
        error = db_statistics(r->db, r->report->newest->campaign.id, see_point, &g);
    r->report->growth = g.points;
    r->report->growth_count = g.count;
    return error;
}

/* ---- all of it ---- */

static void count_rules(struct report *report)
{
    for (uint32_t i = 0; i < RULE_COUNT; i++) {
        report->rules_fired += report->hits[i] > 0;
        report->rules_asked += rules_fired(report->hits, rule_table[i].semantics) > 0;
    }
}

int report_read(struct arena *arena, struct arena *scratch, struct db *db,
                const struct report_options *options, struct report *report)
{
    struct reader r = {.arena = arena, .scratch = scratch, .db = db, .report = report};
    size_t mark = arena_mark(scratch);
    *report = (struct report){.options = *options, .program_version = SIMTFUZZ_VERSION};
    int error = read_campaigns(&r);
    if (error == DB_OK)
        error = read_findings(&r);
    if (error == DB_OK)
        error = read_oracles(&r);
    if (error == DB_OK)
        error = report_read_outside(arena, db, &report->outside);
    if (error == DB_OK)
        error = db_rule_hits(db, 0, see_hits, report);
    count_rules(report);
    if (error == DB_OK)
        error = read_growth(&r);
    arena_release(scratch, mark);
    return error;
}

const char *report_replay_command(struct arena *arena, const struct report *report,
                                  const struct db_finding *finding)
{
    return arena_printf(arena, "simtfuzz replay %" PRIu64 " --db %s", finding->id,
                        report_shell_word(arena, report->options.db_name));
}

const char *report_view_command(struct arena *arena, const struct report *report,
                                const struct db_finding *finding)
{
    return arena_printf(arena, "simtfuzz view %" PRIu64 " --db %s", finding->id,
                        report_shell_word(arena, report->options.db_name));
}

double report_rate(const struct report_campaign *c)
{
    return c->seconds > 0 ? (double)c->campaign.counts.cases / c->seconds : 0;
}

static const char *counted(struct arena *arena, uint64_t count, const char *what)
{
    return arena_printf(arena, "%s %s%s", table_grouped(arena, count), what, count == 1 ? "" : "s");
}

/* "; 9 known differences (MUT.12, A-4)"; "": there are none. */
static const char *known(struct arena *arena, const struct report *report)
{
    const char *names = "";
    uint64_t count = 0;
    for (uint32_t i = 0; i < report->shown_count; i++) {
        const struct report_finding *one = &report->shown[i];
        const char *name = one->finding->reference;
        if (one->class != REPORT_KNOWN)
            continue;
        count++;
        if (*name && !strstr(names, name))
            names = arena_printf(arena, "%s%s%s", names, *names ? ", " : "", name);
    }
    if (count == 0)
        return "";
    return arena_printf(arena, "; %s%s%s%s", counted(arena, count, "known difference"),
                        *names ? " (" : "", names, *names ? ")" : "");
}

const char *report_headline(struct arena *arena, const struct report *report)
{
    const uint64_t *classes = report->classes;
    if (report->campaign_count == 0)
        return "No campaign yet";
    if (classes[REPORT_REGRESSION] == 0 && classes[REPORT_NEW] == 0)
        return classes[REPORT_OPEN] == 0
                   ? arena_printf(arena, "Nothing new, nothing open%s", known(arena, report))
                   : arena_printf(arena, "Nothing new; %s still open",
                                  counted(arena, classes[REPORT_OPEN], "finding"));
    if (classes[REPORT_REGRESSION] == 0)
        return counted(arena, classes[REPORT_NEW], "new finding");
    if (classes[REPORT_NEW] == 0)
        return counted(arena, classes[REPORT_REGRESSION], "regression");
    return arena_printf(arena, "%s, %s", counted(arena, classes[REPORT_REGRESSION], "regression"),
                        counted(arena, classes[REPORT_NEW], "new finding"));
}
