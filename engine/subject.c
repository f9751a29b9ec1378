#include "engine/subject.h"

#include <string.h>

const struct subject_info subject_table[SUBJECT_COUNT] = {
    [SUBJECT_THREADS] = {"threads", "threads", "every interleaving of single threads (Table 4)",
                         &semantics_threads, false},
    [SUBJECT_SIMT] = {"simt", "simt", "warps, the else-path of a branch first (Table 2 as printed)",
                      &semantics_simt, false},
    [SUBJECT_SIMT_THEN] = {"simt:then-first", "simt", "warps, the then-path of a branch first",
                           &semantics_simt, true},
};

bool subject_parse(const char *text, size_t length, enum subject_id *subject)
{
    static const char DEFAULT_OPTION[] = ":else-first";
    size_t option = sizeof DEFAULT_OPTION - 1;
    if (length == 4 + option && strncmp(text, "simt", 4) == 0 &&
        strncmp(text + 4, DEFAULT_OPTION, option) == 0)
        length = 4;
    for (uint32_t i = 0; i < SUBJECT_COUNT; i++) {
        const char *name = subject_table[i].name;
        if (strlen(name) == length && strncmp(name, text, length) == 0) {
            *subject = (enum subject_id)i;
            return true;
        }
    }
    return false;
}

bool subject_parse_list(const char *text, uint32_t *set, const char **error_at)
{
    uint32_t found = 0;
    for (;;) {
        size_t length = strcspn(text, ",");
        enum subject_id subject;
        if (!subject_parse(text, length, &subject)) {
            *error_at = text;
            return false;
        }
        found |= 1u << subject;
        if (text[length] == '\0')
            break;
        text += length + 1;
    }
    *set = found;
    return true;
}

bool subject_matches(const char *claim_subject, enum subject_id subject)
{
    enum subject_id named;
    if (!claim_subject)
        return true;
    return subject_parse(claim_subject, strlen(claim_subject), &named) && named == subject;
}
