#include "oracle/check/verdict.h"

#include "engine/base/text.h"

#include <ctype.h>
#include <string.h>

const struct oracle_info oracle_table[ORACLE_COUNT] = {
#define ORACLE(id, name, distance, theorem, applies, cannot)                                       \
    [ORACLE_##id] = {name, distance, theorem, applies, cannot},
#include "oracle/check/oracles.def"
#undef ORACLE
};

const char *const verdict_names[VERDICT_COUNT] = {
    [VERDICT_AGREE] = "agree",
    [VERDICT_DIVERGE] = "diverge",
    [VERDICT_NOT_APPLICABLE] = "not_applicable",
    [VERDICT_INCONCLUSIVE] = "inconclusive",
};

static const struct {
    enum oracle_id oracle;
    const char *suffix;
    enum oracle_mode mode;
} oracle_modes[] = {
    {ORACLE_LEMMAS, ":strict", ORACLE_MODE_LEMMAS_STRICT},
    {ORACLE_SAFETY, ":printed", ORACLE_MODE_SAFETY_PRINTED},
};

enum { MODES = sizeof oracle_modes / sizeof *oracle_modes };

const char *oracle_mode_suffix(enum oracle_id oracle, uint32_t modes)
{
    for (uint32_t i = 0; i < MODES; i++)
        if (oracle_modes[i].oracle == oracle && modes & (uint32_t)oracle_modes[i].mode)
            return oracle_modes[i].suffix;
    return "";
}

static bool is_text(const char *word, const char *text, size_t length)
{
    return strlen(word) == length && strncmp(word, text, length) == 0;
}

/* One item of the list: an oracle's name, for some with a mode: "lemmas:strict"; or "all". */
static bool parse_oracle(const char *text, size_t length, uint32_t *set, uint32_t *modes)
{
    size_t name = length;
    if (is_text("all", text, length)) {
        *set |= ORACLES_DEFAULT;
        return true;
    }
    for (uint32_t i = 0; i < MODES; i++) {
        size_t suffix = strlen(oracle_modes[i].suffix);
        if (length < suffix || !is_text(oracle_modes[i].suffix, text + length - suffix, suffix) ||
            !is_text(oracle_table[oracle_modes[i].oracle].name, text, length - suffix))
            continue;
        name = length - suffix;
        *modes |= (uint32_t)oracle_modes[i].mode;
    }
    for (uint32_t i = 0; i < ORACLE_COUNT; i++)
        if (is_text(oracle_table[i].name, text, name)) {
            *set |= 1u << i;
            return true;
        }
    return false;
}

bool oracle_parse_list(const char *text, uint32_t *set, uint32_t *modes, const char **error_at)
{
    uint32_t found = 0, found_modes = 0;
    for (;;) {
        size_t length = strcspn(text, ",");
        if (!parse_oracle(text, length, &found, &found_modes)) {
            *error_at = text;
            return false;
        }
        if (text[length] == '\0')
            break;
        text += length + 1;
    }
    *set = found;
    *modes = found_modes;
    return true;
}

static bool same_signature(const struct divergence *a, const struct divergence *b)
{
    return a->oracle == b->oracle && a->rule == b->rule &&
           strcmp(a->class_name, b->class_name) == 0 && strcmp(a->observable, b->observable) == 0;
}

bool answer_wants(const struct answer *answer, const struct divergence *divergence)
{
    uint32_t count = 0;
    for (const struct divergence *d = answer->divergence; d; d = d->next, count++)
        if (same_signature(d, divergence))
            return false;
    return count < ANSWER_DIVERGENCES_MAX;
}

void answer_diverge(struct answer *answer, struct divergence *divergence)
{
    struct divergence **place = &answer->divergence, **insert = NULL;
    uint32_t count = 0;
    for (; *place; place = &(*place)->next, count++) {
        if (same_signature(*place, divergence))
            return;
        if (!insert && (*place)->known && !divergence->known)
            insert = place;
    }
    answer->verdict = VERDICT_DIVERGE;
    if (count == ANSWER_DIVERGENCES_MAX)
        return;
    if (!insert)
        insert = place;
    divergence->next = *insert;
    *insert = divergence;
    answer->reason = answer->divergence->summary;
}

/* Of "line 3: 'x' is not declared", what is told; also if all of that is quoted. NULL: nobody tells anything. */
static const char *told(const char *differs, const char **end)
{
    const char *at = NULL;
    if (strncmp(differs, "read", 4) != 0 || strstr(differs, "refused"))
        for (const char *p = differs; *p && !at; p++)
            if (isdigit((unsigned char)p[0]) && p[1] == ':' && p[2] == ' ')
                at = p + 3;
    if (!at)
        return NULL;
    *end = at + strlen(at);
    if (*at == '\'' && strstr(differs, "nothing is wrong")) {
        at++;
        (*end)--;
    }
    for (const char *next; (next = strstr(at, ": "));)
        at = next + 2;
    return at;
}

/* Without what is quoted, which is the text's, and without numbers and lines. */
static const char *without_names(struct arena *arena, const char *at, const char *end)
{
    struct text text = text_begin(arena);
    for (; at < end; at++) {
        if (strncmp(at, " line ", 6) == 0) { /* "at line 3", ", in line 3" */
            while (text.length > 0 && text.bytes[--text.length] != ' ') {
            }
            break;
        }
        if (*at == '\'') {
            const char *close = memchr(at + 1, '\'', (size_t)(end - at - 1));
            at = close ? close : end - 1;
        } else if (!isdigit((unsigned char)*at) && (*at != ' ' || text.length > 0)) {
            text_put_bytes(&text, at, 1);
        }
    }
    while (text.length > 0 &&
           (text.bytes[text.length - 1] == ' ' || text.bytes[text.length - 1] == ','))
        text.length--;
    return arena_strndup(arena, text.bytes, text.length);
}

void divergence_of_part(struct arena *arena, struct divergence *divergence, const char *differs)
{
    const char *missing = strstr(differs, "' was to be told"), *end, *at;
    if (!missing)
        missing = strstr(differs, "' is not told");
    end = missing;
    at = missing ? strchr(differs, '\'') + 1 : told(differs, &end);
    divergence->observable = divergence->part =
        arena_strndup(arena, differs, strcspn(differs, ":"));
    if (strncmp(differs, "laid out, ", 10) == 0) { /* as a case's own program that is */
        divergence->part += 10;
        divergence->like = "layout";
        return;
    }
    if (!at)
        return;
    divergence->part = without_names(arena, at, end);
    divergence->like = missing ? "told" : "refused";
}

const char *divergence_key(struct arena *arena, const struct divergence *divergence)
{
    return arena_printf(arena, "%s|%s", oracle_table[divergence->oracle].name,
                        divergence->class_name);
}

const char *divergence_signature(struct arena *arena, const struct divergence *divergence)
{
    const struct rule_info *rule = &rule_table[divergence->rule];
    return arena_printf(arena, "%s|%s|%s%s%s|%s", oracle_table[divergence->oracle].name,
                        divergence->class_name, rule->semantics, *rule->semantics ? "." : "",
                        rule->name, divergence->observable);
}
