/* contexts_impossible.c - pairs that no execution shows, each with its reason (contexts_impossible.def). */
#include "oracle/coverage/contexts.h"

#include <stddef.h>
#include <string.h>

struct impossible {
    const char *semantics, *rules, *contexts, *why;
};

static const struct impossible rows[] = {
#define IMPOSSIBLE(semantics, rules, contexts, why) {semantics, rules, contexts, why},
#include "oracle/coverage/contexts_impossible.def"
#undef IMPOSSIBLE
};

/* Whether a list of words names it; a word that ends in `:` names a group; "*" names all. */
static bool names(const char *list, const char *name)
{
    while (*list) {
        size_t length = strcspn(list, " ");
        bool group = list[length - 1] == ':';
        if ((length == 1 && *list == '*') ||
            (strncmp(list, name, length) == 0 && (group || name[length] == '\0')))
            return true;
        list += length + strspn(list + length, " ");
    }
    return false;
}

const char *context_impossible(enum rule rule, enum context context)
{
    const struct rule_info *info = &rule_table[rule];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (names(rows[i].semantics, info->semantics) && names(rows[i].rules, info->name) &&
            names(rows[i].contexts, context_table[context].name))
            return rows[i].why;
    return NULL;
}
