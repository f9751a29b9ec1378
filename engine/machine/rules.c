#include "engine/machine/rules.h"

const struct rule_info rule_table[RULE_COUNT + 1] = {
#define RULE(id, semantics, name, source) [RULE_##id] = {semantics, name, source},
#include "engine/machine/rules.def"
#undef RULE
    [RULE_NONE] = {"", "none", ""},
};
