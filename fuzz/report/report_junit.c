/*
 * report_junit.c - JUnit XML, as CI systems read it: a suite an oracle; in it a test case "asked", and one a
 * finding. What is open fails; what is known, suppressed or invalid is skipped; what stays away passes.
 *
 * There is no official schema. This is what Ant's schema and that of Jenkins' xunit plugin both accept.
 */
#include "fuzz/report/report_internal.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

struct suite {
    const char *oracle;
    const struct report_oracle *verdicts; /* NULL: a finding's oracle that no campaign asked */
    uint32_t tests, failures, skipped;
};

static bool fails(const struct report_finding *shown)
{
    return report_class_counts(shown->class);
}

static bool skipped(const struct report_finding *shown)
{
    return !fails(shown) && shown->class != REPORT_FIXED;
}

static uint64_t asked(const struct suite *suite)
{
    uint64_t sum = 0;
    for (uint32_t v = 0; suite->verdicts && v < VERDICT_COUNT; v++)
        sum += suite->verdicts->verdicts[v];
    return sum;
}

static void count(const struct report *r, struct suite *suite)
{
    suite->tests = 1;
    suite->skipped = asked(suite) == 0;
    for (uint32_t i = 0; i < r->shown_count; i++) {
        const struct report_finding *shown = &r->shown[i];
        if (strcmp(shown->finding->oracle, suite->oracle) != 0)
            continue;
        suite->tests++;
        suite->failures += fails(shown);
        suite->skipped += skipped(shown);
    }
}

static void put_attribute(FILE *out, const char *name, const char *value)
{
    fprintf(out, " %s=\"", name);
    markup_text(out, value);
    fputc('"', out);
}

/* Ant's schema wants no time zone. */
static const char *timestamp(struct arena *arena, uint64_t unix_ms)
{
    time_t seconds = (time_t)(unix_ms / 1000);
    struct tm utc;
    char text[32];
    if (!gmtime_r(&seconds, &utc) || strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc) == 0)
        return "1970-01-01T00:00:00";
    return arena_strndup(arena, text, strlen(text));
}

static void put_property(FILE *out, const char *name, const char *value)
{
    fputs("      <property", out);
    put_attribute(out, "name", name);
    put_attribute(out, "value", value);
    fputs("/>\n", out);
}

static void put_properties(struct arena *arena, const struct report *r, const struct suite *suite,
                           FILE *out)
{
    fputs("    <properties>\n", out);
    for (uint32_t v = 0; suite->verdicts && v < VERDICT_COUNT; v++)
        put_property(out, verdict_names[v],
                     arena_printf(arena, "%" PRIu64, suite->verdicts->verdicts[v]));
    put_property(out, "database", r->options.db_name);
    put_property(out, "findings_not_shown",
                 arena_printf(arena, "%" PRIu64, r->finding_count - r->shown_count));
    fputs("    </properties>\n", out);
}

static void open_case(FILE *out, const char *oracle, const char *name)
{
    fputs("    <testcase", out);
    put_attribute(out, "classname", oracle);
    put_attribute(out, "name", name);
    fputs(" time=\"0\"", out);
}

static void put_failure(struct arena *arena, const struct report *r,
                        const struct report_finding *shown, FILE *out)
{
    const struct db_finding *f = shown->finding;
    const char *group = report_class_names[shown->class];
    const char *says = shown->comparison && *shown->comparison->summary ? shown->comparison->summary
                                                                        : f->signature;
    fputs(">\n      <failure", out);
    put_attribute(out, "message", arena_printf(arena, "%s: %s", group, says));
    put_attribute(out, "type", group);
    fputc('>', out);
    markup_text(out, arena_printf(arena,
                                  "finding %" PRIu64 ", seen %" PRIu64
                                  " times\nrun it again: %s\nsubject: %s\nlaunch: %s\nevidence: "
                                  "%s\n\n%s kernel:\n%s",
                                  f->id, f->occurrences, report_replay_command(arena, r, f),
                                  f->subject, f->minimised.launch, f->evidence,
                                  shown->minimised ? "minimised" : "raw",
                                  shown->kernel ? shown->kernel : "not stored"));
    fputs("</failure>\n    </testcase>\n", out);
}

static void put_finding(struct arena *arena, const struct report *r,
                        const struct report_finding *shown, FILE *out)
{
    const struct db_finding *f = shown->finding;
    open_case(out, f->oracle, f->signature);
    if (fails(shown)) {
        put_failure(arena, r, shown, out);
    } else if (skipped(shown)) {
        fputs(">\n      <skipped", out);
        put_attribute(out, "message",
                      arena_printf(arena, "%s%s%s%s%s", report_class_names[shown->class],
                                   *f->reference ? " " : "", f->reference, *f->note ? ": " : "",
                                   f->note));
        fputs("/>\n    </testcase>\n", out);
    } else {
        fputs("/>\n", out);
    }
}

static void put_suite(struct arena *arena, const struct report *r, struct suite *suite, uint32_t id,
                      FILE *out)
{
    count(r, suite);
    fputs("  <testsuite", out);
    put_attribute(out, "name", suite->oracle);
    fprintf(out,
            " package=\"simtfuzz\" id=\"%" PRIu32 "\" timestamp=\"%s\" hostname=\"localhost\" "
            "tests=\"%" PRIu32 "\" failures=\"%" PRIu32 "\" errors=\"0\" skipped=\"%" PRIu32
            "\" time=\"0\">\n",
            id, timestamp(arena, r->newest ? r->newest->campaign.seen_ms : 0), suite->tests,
            suite->failures, suite->skipped);
    put_properties(arena, r, suite, out);
    open_case(out, suite->oracle, "asked");
    fputs(asked(suite) ? "/>\n" : "><skipped message=\"no campaign asked it\"/></testcase>\n", out);
    for (uint32_t i = 0; i < r->shown_count; i++)
        if (strcmp(r->shown[i].finding->oracle, suite->oracle) == 0)
            put_finding(arena, r, &r->shown[i], out);
    fputs("    <system-out/>\n    <system-err/>\n  </testsuite>\n", out);
}

static bool listed(const struct report *r, uint32_t finding)
{
    const char *oracle = r->shown[finding].finding->oracle;
    for (uint32_t i = 0; i < r->oracle_count; i++)
        if (strcmp(r->oracles[i].name, oracle) == 0)
            return true;
    for (uint32_t i = 0; i < finding; i++)
        if (strcmp(r->shown[i].finding->oracle, oracle) == 0)
            return true;
    return false;
}

void report_write_junit(struct arena *arena, const struct report *r, FILE *out)
{
    size_t mark = arena_mark(arena);
    uint32_t id = 0;
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n", out);
    for (uint32_t i = 0; i < r->oracle_count; i++) {
        struct suite suite = {.oracle = r->oracles[i].name, .verdicts = &r->oracles[i]};
        put_suite(arena, r, &suite, id++, out);
    }
    for (uint32_t i = 0; i < r->shown_count; i++) {
        struct suite suite = {.oracle = r->shown[i].finding->oracle};
        if (!listed(r, i))
            put_suite(arena, r, &suite, id++, out);
    }
    fputs("</testsuites>\n", out);
    arena_release(arena, mark);
}
