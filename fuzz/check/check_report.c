#include "fuzz/check/check_report_internal.h"

#include "fuzz/base/version.h"
#include "fuzz/out/json.h"
#include "fuzz/out/markup.h"

#include <inttypes.h>
#include <string.h>

static const char *copy(struct arena *arena, const char *text)
{
    return arena_strndup(arena, text, strlen(text));
}

struct check_report *check_report_new(struct arena *arena)
{
    struct check_report *report = ARENA_NEW(arena, struct check_report);
    report->arena = arena;
    report->end = &report->first;
    return report;
}

/* "sum.cu" of "sum.cu: add", as a kernel of several is called. */
static const char *file_of(struct arena *arena, const char *path, const char *kernel)
{
    const char *more = arena_printf(arena, ": %.*s", (int)strcspn(kernel, "("), kernel);
    const size_t length = strlen(path), behind = strlen(more);
    const bool is_one = length > behind && strcmp(path + length - behind, more) == 0;
    return arena_strndup(arena, path, is_one ? length - behind : length);
}

void check_report_kernel(struct check_report *report, const char *word, const char *path,
                         const char *kernel)
{
    struct kernel *k = ARENA_NEW(report->arena, struct kernel);
    *k = (struct kernel){.word = copy(report->arena, word),
                         .path = file_of(report->arena, path, kernel),
                         .name = copy(report->arena, kernel)};
    k->end = &k->first;
    *report->end = report->last = k;
    report->end = &k->next;
}

void check_report_problem(struct check_report *report, const struct check_problem *problem)
{
    struct problem *p = ARENA_NEW(report->arena, struct problem);
    p->said = *problem;
    p->said.rule = copy(report->arena, problem->rule);
    p->said.text = copy(report->arena, problem->text);
    p->said.path = problem->path ? copy(report->arena, problem->path) : report->last->path;
    *report->last->end = p;
    report->last->end = &p->next;
}

/* ---- SARIF 2.1.0 ---- */

/* The rules that are met, each once, in the order in which they are. */
void check_report_unjudged(struct check_report *report, uint32_t count)
{
    report->unjudged = count;
}

static bool is_first_of_rule(const struct check_report *report, const struct problem *wanted)
{
    for (const struct kernel *k = report->first; k; k = k->next)
        for (const struct problem *p = k->first; p; p = p->next) {
            if (p == wanted)
                return true;
            if (strcmp(p->said.rule, wanted->said.rule) == 0)
                return false;
        }
    return false;
}

static void put_text(struct json *json, const char *key, const char *text)
{
    json_key_object_begin(json, key);
    json_key_string(json, "text", text);
    json_object_end(json);
}

static void put_tool(const struct check_report *report, struct json *json)
{
    json_key_object_begin(json, "tool");
    json_key_object_begin(json, "driver");
    json_key_string(json, "name", "simtfuzz");
    json_key_string(json, "version", SIMTFUZZ_VERSION);
    json_key_string(json, "semanticVersion", SIMTFUZZ_VERSION);
    json_key_array_begin(json, "rules");
    for (const struct kernel *k = report->first; k; k = k->next)
        for (const struct problem *p = k->first; p; p = p->next)
            if (is_first_of_rule(report, p)) {
                json_object_begin(json);
                json_key_string(json, "id", p->said.rule);
                json_object_end(json);
            }
    json_array_end(json);
    json_object_end(json);
    json_object_end(json);
}

/* A path as a relative reference: what has a meaning of its own there is escaped. */
static const char *uri(struct arena *arena, const char *path)
{
    char *text = ARENA_ARRAY(arena, char, 3 * strlen(path) + 1), *out = text;
    for (; *path; path++) {
        bool plain = (*path >= 'a' && *path <= 'z') || (*path >= 'A' && *path <= 'Z') ||
                     (*path >= '0' && *path <= '9') || strchr("-._~/", *path);
        out += plain ? sprintf(out, "%c", *path) : sprintf(out, "%%%02X", (unsigned char)*path);
    }
    return text;
}

static void put_result(const struct check_report *report, const struct problem *p,
                       struct json *json)
{
    json_object_begin(json);
    json_key_string(json, "ruleId", p->said.rule);
    json_key_string(json, "level", p->said.fails ? "error" : "note");
    put_text(json, "message", p->said.text);
    json_key_array_begin(json, "locations");
    json_object_begin(json);
    json_key_object_begin(json, "physicalLocation");
    json_key_object_begin(json, "artifactLocation");
    json_key_string(json, "uri", uri(report->arena, p->said.path));
    json_object_end(json);
    json_key_object_begin(json, "region");
    json_key_u64(json, "startLine", p->said.line ? p->said.line : 1);
    json_object_end(json);
    json_object_end(json);
    json_object_end(json);
    json_array_end(json);
    json_object_end(json);
}

void check_report_sarif(const struct check_report *report, FILE *out)
{
    struct json json;
    json_line_begin(&json, out);
    json_key_string(&json, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    json_key_string(&json, "version", "2.1.0");
    json_key_array_begin(&json, "runs");
    json_object_begin(&json);
    put_tool(report, &json);
    json_key_array_begin(&json, "results");
    for (const struct kernel *k = report->first; k; k = k->next)
        for (const struct problem *p = k->first; p; p = p->next)
            put_result(report, p, &json);
    json_array_end(&json);
    json_key_string(&json, "columnKind", "utf16CodeUnits");
    json_object_end(&json);
    json_array_end(&json);
    json_line_end(&json);
}

/* ---- JUnit: one suite, a test case a kernel ---- */

static void put_attribute(FILE *out, const char *name, const char *value)
{
    fprintf(out, " %s=\"", name);
    markup_text(out, value);
    fputc('"', out);
}

/* A test case has one failure: the first problem's words in front, all of them within. */
static bool put_case(const struct kernel *k, FILE *out)
{
    const struct problem *failing = k->first;
    while (failing && !failing->said.fails)
        failing = failing->next;
    if (out) {
        fputs("    <testcase", out);
        put_attribute(out, "classname", k->path);
        put_attribute(out, "name", k->name);
        fputs(failing ? " time=\"0\">\n      <failure" : " time=\"0\"/>\n", out);
    }
    if (!out || !failing)
        return failing;
    put_attribute(out, "message", failing->said.text);
    put_attribute(out, "type", failing->said.rule);
    fputc('>', out);
    for (const struct problem *p = k->first; p; p = p->next) {
        markup_text(out, p->said.rule);
        fputs(": ", out);
        markup_text(out, p->said.text);
        fputc('\n', out);
    }
    fputs("</failure>\n    </testcase>\n", out);
    return true;
}

void check_report_junit(const struct check_report *report, FILE *out)
{
    uint32_t tests = 0, failures = 0;
    for (const struct kernel *k = report->first; k; k = k->next) {
        tests++;
        failures += put_case(k, NULL);
    }
    fprintf(
        out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"check\" "
        "package=\"simtfuzz\" id=\"0\" timestamp=\"1970-01-01T00:00:00\" hostname=\"localhost\" "
        "tests=\"%" PRIu32 "\" failures=\"%" PRIu32
        "\" errors=\"0\" skipped=\"0\" time=\"0\">\n    <properties/>\n",
        tests, failures);
    for (const struct kernel *k = report->first; k; k = k->next)
        (void)put_case(k, out);
    fputs("    <system-out/>\n    <system-err/>\n  </testsuite>\n</testsuites>\n", out);
}
