#include "oracle/check/verdict.h"

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
