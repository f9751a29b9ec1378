#include "engine/machine/rules.h"

#include <string.h>

const struct rule_info rule_table[RULE_COUNT + 1] = {
#define RULE(id, semantics, name, source) [RULE_##id] = {semantics, name, source},
#include "engine/machine/rules.def"
#undef RULE
    [RULE_NONE] = {"", "none", ""},
};

uint32_t rules_fired(const uint64_t hits[RULE_COUNT], const char *semantics)
{
    uint32_t fired = 0;
    for (uint32_t i = 0; i < RULE_COUNT; i++)
        fired += hits[i] > 0 && strcmp(rule_table[i].semantics, semantics) == 0;
    return fired;
}
