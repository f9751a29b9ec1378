#include "fuzz/hunt/evidence.h"

#include "engine/input/input.h"
#include "fuzz/case/signature.h"
#include "fuzz/out/json.h"

#include <stdlib.h>
#include <string.h>

enum { DIFFERENCES_MOST = 1000, LOG_MOST = 4000 };

/* ---- writing ---- */

/* "3:17 9:-1": words of the buffer and what they held at the end. Of very many the first ones. */
static const char *differences(struct arena *arena, const struct hunt_finding *f)
{
    struct text text = text_begin(arena);
    uint32_t count = 0;
    text_put(&text, "");
    for (uint32_t w = 0; f->trial.verdict == TRIAL_WRONG && w < f->expected->words; w++)
        if (f->trial.memory[w] != f->expected->final[w] && count++ < DIFFERENCES_MOST)
            text_format(&text, "%s%u:%d", count > 1 ? " " : "", (unsigned)w,
                        (int)f->trial.memory[w]);
    return text.bytes;
}

static void put_wrong(struct json *json, struct arena *arena, const struct hunt_finding *f)
{
    json_key_u64(json, "word", f->trial.word);
    json_key(json, "expected");
    json_int(json, f->trial.expected);
    json_key(json, "actual");
    json_int(json, f->trial.actual);
    json_key_string(json, "way", f->trial.way);
    json_key_string(json, "differences", differences(arena, f));
}

static void put_all(struct json *json, struct arena *arena, const struct hunt_finding *f)
{
    const char *name = f->subject->name;
    size_t family = signature_family_length(name);
    json_key_string(json, "kind", trial_verdict_names[f->trial.verdict]);
    json_key_string(json, "implementation", arena_strndup(arena, name, family));
    json_key_string(json, "options", name[family] ? name + family + 1 : "");
    json_key_string(json, "subject", name);
    json_key_string(json, "version", f->subject->version);
    json_key_string(json, "language", emit_language_names[f->subject->language]);
    json_key_string(json, "knobs", emit_print_knobs(arena, f->knobs));
    json_key_string(json, "vanishes", f->vanishes);
    if (*f->command)
        json_key_string(json, "command", f->command);
    if (f->known)
        json_key_string(json, "known", f->known);
    if (f->trial.verdict == TRIAL_WRONG)
        put_wrong(json, arena, f);
    else
        json_key_string(json, "cause", f->trial.cause);
    json_key_string(json, "second", f->second ? f->second : "");
    if (f->minimised.kernel) {
        json_key_bool(json, "exposed", !f->expected->as_it_is);
        json_key_u64(json, "valid_candidates", f->minimised.valid);
        json_key_u64(json, "runs", f->minimised.runs);
    }
    if (*f->trial.log)
        json_key_string(json, "log",
                        arena_strndup(arena, f->trial.log, strnlen(f->trial.log, LOG_MOST)));
}

const char *evidence_print(struct arena *arena, const struct hunt_finding *f)
{
    char *bytes = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&bytes, &length);
    if (!out)
        return "";
    struct json json;
    json_line_begin(&json, out);
    put_all(&json, arena, f);
    json_object_end(&json);
    fclose(out);
    const char *text = arena_strndup(arena, bytes, length);
    free(bytes);
    return text;
}

/* ---- reading ---- */

/* Behind the string that begins at its quote. */
static const char *skip_string(const char *at)
{
    for (at++; *at && *at != '"'; at++)
        at += *at == '\\' && at[1];
    return *at ? at + 1 : at;
}

/* The value under a key of the outermost object; NULL: there is none. What is in containers is not looked at. */
static const char *find(const char *json, const char *key)
{
    size_t length = strlen(key);
    for (int depth = 0; *json;) {
        if (*json != '"') {
            depth += (*json == '{' || *json == '[') - (*json == '}' || *json == ']');
            json++;
            continue;
        }
        const char *name = json + 1, *end = skip_string(json);
        json = end + strspn(end, " ");
        if (depth == 1 && *json == ':' && (size_t)(end - name) == length + 1 &&
            strncmp(name, key, length) == 0)
            return json + 1 + strspn(json + 1, " ");
    }
    return NULL;
}

/* One character of a string, behind a backslash or not. */
static const char *read_character(const char *at, char *to)
{
    static const char escapes[] = "nrtbf", meant[] = "\n\r\t\b\f";
    if (*at != '\\' || !at[1]) {
        *to = *at;
        return at + 1;
    }
    if (at[1] == 'u' && strspn(at + 2, "0123456789abcdefABCDEF") >= 4) {
        char digits[5] = {at[2], at[3], at[4], at[5], '\0'};
        unsigned long code = strtoul(digits, NULL, 16);
        *to = code < 0x80 ? (char)code : '?'; /* what we write: control characters */
        return at + 6;
    }
    const char *escape = strchr(escapes, at[1]);
    *to = escape ? meant[escape - escapes] : at[1];
    return at + 2;
}

const char *evidence_text(struct arena *arena, const char *evidence, const char *key)
{
    const char *at = find(evidence, key);
    if (!at)
        return "";
    if (*at != '"')
        return arena_strndup(arena, at, strspn(at, "-0123456789truefals"));
    const char *end = skip_string(at) - 1;
    char *text = ARENA_ARRAY(arena, char, (size_t)(end - at) + 1), *to = text;
    for (at++; at < end; to++)
        at = read_character(at, to);
    *to = '\0';
    return text;
}

static bool find_verdict(const char *name, enum trial_verdict *verdict)
{
    for (uint32_t v = 0; v < TRIAL_VERDICT_COUNT; v++)
        if (strcmp(trial_verdict_names[v], name) == 0) {
            *verdict = (enum trial_verdict)v;
            return true;
        }
    return false;
}

/* Memory as it must be, with the words that were different. */
static void read_memory(struct arena *arena, const char *text, struct hunt_finding *f)
{
    int32_t *words = ARENA_ARRAY(arena, int32_t, f->expected->words + 1);
    memcpy(words, f->expected->final, f->expected->words * sizeof *words);
    while (*text) {
        char *end;
        unsigned long word = strtoul(text, &end, 10);
        if (*end != ':' || word >= f->expected->words)
            break;
        words[word] = (int32_t)strtol(end + 1, &end, 10);
        text = end + (*end == ' ');
    }
    f->trial.memory = words;
}

static uint32_t number(struct arena *arena, const char *evidence, const char *key)
{
    return (uint32_t)strtoul(evidence_text(arena, evidence, key), NULL, 10);
}

static void read_trial(struct arena *arena, const char *e, struct hunt_finding *f)
{
    f->trial.cause = evidence_text(arena, e, "cause");
    f->trial.log = evidence_text(arena, e, "log");
    if (f->trial.verdict != TRIAL_WRONG)
        return;
    f->trial.way = evidence_text(arena, e, "way");
    f->trial.word = number(arena, e, "word");
    f->trial.expected = (int32_t)strtol(evidence_text(arena, e, "expected"), NULL, 10);
    f->trial.actual = (int32_t)strtol(evidence_text(arena, e, "actual"), NULL, 10);
    read_memory(arena, evidence_text(arena, e, "differences"), f);
}

static bool read_subject(struct arena *arena, const char *e, struct outside_subject *subject)
{
    subject->name = evidence_text(arena, e, "subject");
    subject->version = evidence_text(arena, e, "version");
    return *subject->name &&
           emit_find_language(evidence_text(arena, e, "language"), &subject->language);
}

bool evidence_read(struct arena *arena, const struct db_finding *stored,
                   const struct ast_kernel *kernel, bool small, struct outside_subject *subject,
                   struct outside_expected *expected, struct hunt_finding *f, const char **reason)
{
    const char *e = stored->evidence, *error_at;
    *f = (struct hunt_finding){.number = stored->first_case,
                               .subject = subject,
                               .expected = expected,
                               .kernel = kernel,
                               .raw = kernel,
                               .signature = stored->signature,
                               .observable = stored->observable,
                               .vanishes = evidence_text(arena, e, "vanishes"),
                               .command = evidence_text(arena, e, "command"),
                               .second = evidence_text(arena, e, "second")};
    *reason = "it is not one of an outside implementation";
    if (strcmp(stored->oracle, "outside") != 0)
        return false;
    *reason = "its evidence is damaged";
    if (!read_subject(arena, e, subject) ||
        !find_verdict(evidence_text(arena, e, "kind"), &f->trial.verdict) ||
        !emit_parse_knobs(evidence_text(arena, e, "knobs"), &f->knobs, &error_at))
        return false;
    bool as_it_is = small && strcmp(evidence_text(arena, e, "exposed"), "false") == 0;
    *reason = outside_validate(arena, kernel, !as_it_is, expected);
    if (*reason)
        return false;
    if (small)
        f->minimised = (struct minimised){.candidates = (uint32_t)stored->minimised.tests,
                                          .valid = number(arena, e, "valid_candidates"),
                                          .runs = number(arena, e, "runs"),
                                          .kernel = ast_kernel_copy(arena, kernel),
                                          .as_it_is = as_it_is};
    read_trial(arena, e, f);
    return true;
}
