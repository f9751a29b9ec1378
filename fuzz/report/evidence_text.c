/*
 * evidence_text.c - reading an oracle's evidence: flat enough for a scan, so there is no JSON tree.
 */
#include "fuzz/report/report_internal.h"

#include <stdlib.h>
#include <string.h>

/* Behind the string that starts at `at`, which is a quotation mark; or at the end of the text. */
static const char *skip_string(const char *at)
{
    for (at++; *at && *at != '"'; at++)
        if (*at == '\\' && at[1])
            at++;
    return *at ? at + 1 : at;
}

/* The value of the outermost object's key: where it starts; NULL: there is none. */
static const char *find_value(const char *text, const char *key)
{
    uint32_t depth = 0;
    size_t length = strlen(key);
    for (const char *at = text; *at;) {
        if (*at == '"') {
            const char *end = skip_string(at);
            bool is_key =
                depth == 1 && (size_t)(end - at) == length + 2 && memcmp(at + 1, key, length) == 0;
            at = end + strspn(end, " \n\r\t");
            if (is_key && *at == ':')
                return at + 1 + strspn(at + 1, " \n\r\t");
            continue;
        }
        depth += *at == '{' || *at == '[';
        depth -= depth > 0 && (*at == '}' || *at == ']');
        at++;
    }
    return NULL;
}

const char *report_evidence_value(struct arena *arena, const char *evidence, const char *key)
{
    const char *at = find_value(evidence, key);
    if (!at)
        return NULL;
    if (*at == '"') {
        const char *end = skip_string(at);
        return end - at < 2 ? "" : arena_strndup(arena, at + 1, (size_t)(end - at) - 2);
    }
    size_t digits = strspn(at, "-0123456789");
    return digits ? arena_strndup(arena, at, digits) : NULL;
}

uint32_t report_evidence_line(const char *evidence)
{
    const char *at = find_value(evidence, "line");
    if (!at) {
        const char *inside = find_value(evidence, "first_difference");
        at = inside && *inside == '{' ? find_value(inside, "line") : NULL;
    }
    if (!at)
        at = find_value(evidence, "loop_line");
    unsigned long line = at ? strtoul(at, NULL, 10) : 0;
    return line < UINT32_MAX ? (uint32_t)line : 0;
}

const char *report_shell_word(struct arena *arena, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./,:=+@%";
    if (*word && strspn(word, plain) == strlen(word))
        return word;
    size_t quotes = 0;
    for (const char *at = word; *at; at++)
        quotes += *at == '\'';
    char *out = ARENA_ARRAY(arena, char, strlen(word) + 3 * quotes + 3), *to = out;
    *to++ = '\'';
    for (const char *at = word; *at; at++) {
        if (*at == '\'') {
            memcpy(to, "'\\''", 4);
            to += 4;
        } else {
            *to++ = *at;
        }
    }
    *to = '\'';
    return out;
}
