#include "oracle/verdict.h"

#include <string.h>

const struct oracle_info oracle_table[ORACLE_COUNT] = {
#define ORACLE(id, name, theorem, applies, cannot) [ORACLE_##id] = {name, theorem, applies, cannot},
#include "oracle/oracles.def"
#undef ORACLE
};

const char *const verdict_names[VERDICT_COUNT] = {
    [VERDICT_AGREE] = "agree",
    [VERDICT_DIVERGE] = "diverge",
    [VERDICT_NOT_APPLICABLE] = "not_applicable",
    [VERDICT_INCONCLUSIVE] = "inconclusive",
};

/* One item of the list: an oracle's name, for the lemmas also "lemmas:strict". */
static bool parse_oracle(const char *text, size_t length, enum oracle_id *oracle, bool *strict)
{
    static const char STRICT[] = "lemmas:strict";
    if (length == sizeof STRICT - 1 && strncmp(text, STRICT, length) == 0) {
        *oracle = ORACLE_LEMMAS;
        *strict = true;
        return true;
    }
    for (uint32_t i = 0; i < ORACLE_COUNT; i++) {
        const char *name = oracle_table[i].name;
        if (strlen(name) == length && strncmp(name, text, length) == 0) {
            *oracle = (enum oracle_id)i;
            return true;
        }
    }
    return false;
}

bool oracle_parse_list(const char *text, uint32_t *set, bool *strict, const char **error_at)
{
    uint32_t found = 0;
    bool as_printed = false;
    for (;;) {
        size_t length = strcspn(text, ",");
        enum oracle_id oracle = ORACLE_SIMULATION;
        if (!parse_oracle(text, length, &oracle, &as_printed)) {
            *error_at = text;
            return false;
        }
        found |= 1u << oracle;
        if (text[length] == '\0')
            break;
        text += length + 1;
    }
    *set = found;
    *strict = as_printed;
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
