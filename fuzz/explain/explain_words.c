#include "fuzz/explain/explain.h"

#include <string.h>

static const struct {
    const char *name, *kernel, *text;
} subjects[] = {
#define WORDS_SUBJECT(name, kernel, text) {name, kernel, text},
#define WORDS_ORACLE(id, kernel, text, next)
#include "fuzz/explain/explain_words.def"
#undef WORDS_SUBJECT
#undef WORDS_ORACLE
};

static const struct {
    const char *kernel, *text, *next;
} oracles[ORACLE_COUNT] = {
#define WORDS_SUBJECT(name, kernel, text)
#define WORDS_ORACLE(id, kernel, text, next) [ORACLE_##id] = {kernel, text, next},
#include "fuzz/explain/explain_words.def"
#undef WORDS_SUBJECT
#undef WORDS_ORACLE
};

const char *explain_subject(enum subject_id subject, const char **example)
{
    const char *name = subject_table[subject].name;
    size_t length = strcspn(name, ":");
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++)
        if (strlen(subjects[i].name) == length && strncmp(subjects[i].name, name, length) == 0) {
            *example = subjects[i].kernel;
            return subjects[i].text;
        }
    return NULL;
}

const char *explain_oracle(enum oracle_id oracle, const char **example, const char **next)
{
    *example = oracles[oracle].kernel;
    *next = oracles[oracle].next;
    return oracles[oracle].text;
}
