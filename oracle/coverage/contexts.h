/*
 * contexts.h - which rule fires in which context: the table of pairs.
 *
 * A wrong rule is often right in most contexts: a barrier that is wrong when others wait already, a loop that is wrong
 * the second time. So that a rule fired says little; that it fired in each context that it can fire in says more. What
 * no campaign reaches, no campaign can find wrong: docs/pairs.md reads that list.
 *
 * check_kernel fills check_options.contexts, a set of contexts a rule, from the first CONTEXTS_EXECUTIONS executions of
 * each subject. It only adds; it changes nothing of the result. Campaigns ask for it in one case of CONTEXTS_SHARE.
 */
#ifndef ORACLE_CONTEXTS_H
#define ORACLE_CONTEXTS_H

#include "engine/machine/rules.h"
#include "engine/subjects/subject.h"

#include <stdbool.h>
#include <stdint.h>

enum context {
#define CONTEXT(id, group, name, sentence) CONTEXT_##id,
#include "oracle/coverage/contexts.def"
#undef CONTEXT
    CONTEXT_COUNT
};

enum context_group {
    CONTEXT_GROUP_STACK,
    CONTEXT_GROUP_DEPTH,
    CONTEXT_GROUP_LANES,
    CONTEXT_GROUP_HISTORY,
    CONTEXT_GROUP_BARRIER,
    CONTEXT_GROUP_NEIGHBOUR
};

enum { CONTEXTS_EXECUTIONS = 4, CONTEXTS_SHARE = 8 };

struct context_info {
    const char *name, *sentence;
    enum context_group group;
};

extern const struct context_info context_table[CONTEXT_COUNT];

/* Bits 1u << enum context, a rule. */
struct contexts {
    uint32_t of[RULE_COUNT];
};

/* Why the rule cannot fire in the context, by its definition; NULL: it could. */
const char *context_impossible(enum rule rule, enum context context);

/* ---- the hooks of oracle.h ---- */

struct checking;
struct observer;

void contexts_prepare(struct checking *checking);
const struct observer *contexts_begin(struct checking *checking, enum subject_id subject,
                                      const struct observer *behind);

#endif
