/*
 * rules.h - the rules of all semantics, generated from rules.def.
 */
#ifndef ENGINE_RULES_H
#define ENGINE_RULES_H

#include <stdint.h>

enum rule {
#define RULE(id, semantics, name, source) RULE_##id,
#include "engine/machine/rules.def"
#undef RULE
    RULE_COUNT,
    RULE_NONE = RULE_COUNT
};

struct rule_info {
    const char *semantics;
    const char *name;
    const char *source;
};

/* Indexed by enum rule; RULE_NONE has the name "none". */
extern const struct rule_info rule_table[RULE_COUNT + 1];

/* How many rules of a semantics have fired, of how often each one did; none: nobody ran it. */
uint32_t rules_fired(const uint64_t hits[RULE_COUNT], const char *semantics);

#endif
