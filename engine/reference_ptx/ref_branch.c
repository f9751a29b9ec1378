/*
 * ref_branch.c - cuda-crs 5.4.1, as slowly as it reads. A lane set is a table, the token stack a list whose last token
 * is the top. `otherwise`: what a rule is not.
 */
#include "engine/reference_ptx/ref_branch.h"

#include <stddef.h>
#include <string.h>

static bool is(uint32_t otherwise, enum ref_otherwise id)
{
    return otherwise >> id & 1;
}

/* ---- sets ---- */

static bool is_empty(const struct ref_lanes *set)
{
    for (uint32_t l = 0; l < LIMIT_WARP; l++)
        if (set->has[l])
            return false;
    return true;
}

bool ref_has_active(const struct ref_unit *u)
{
    return !is_empty(&u->active);
}

/* uni: every active lane executes */
static bool uni(const struct ref_unit *u, const struct ref_action *a)
{
    for (uint32_t l = 0; l < u->lanes; l++)
        if (u->active.has[l] && !a->executing.has[l])
            return false;
    return true;
}

static bool one_target(const struct ref_action *a, uint32_t *target)
{
    bool found = false;
    for (uint32_t l = 0; l < LIMIT_WARP; l++) {
        if (!a->executing.has[l])
            continue;
        if (found && a->target[l] != *target)
            return false;
        *target = a->target[l];
        found = true;
    }
    return found;
}

uint32_t ref_targets(const struct ref_action *a)
{
    uint32_t count = 0;
    for (uint32_t l = 0; l < LIMIT_WARP; l++) {
        bool is_new = a->executing.has[l];
        for (uint32_t k = 0; k < l; k++)
            is_new = is_new && !(a->executing.has[k] && a->target[k] == a->target[l]);
        count += is_new;
    }
    return count;
}

/* taken: the executing lanes whose target is pc */
static struct ref_lanes taken(const struct ref_action *a, uint32_t pc)
{
    struct ref_lanes set = {{false}};
    for (uint32_t l = 0; l < LIMIT_WARP; l++)
        set.has[l] = a->executing.has[l] && a->target[l] == pc;
    return set;
}

/* notTaken: active lanes that are not taken, those whose guard is false too */
static struct ref_lanes not_taken(const struct ref_unit *u, const struct ref_lanes *t,
                                  uint32_t otherwise)
{
    struct ref_lanes set = {{false}};
    for (uint32_t l = 0; l < u->lanes; l++)
        set.has[l] = (u->active.has[l] || is(otherwise, REF_OTHERWISE_NOT_TAKEN_ALL)) && !t->has[l];
    return set;
}

void ref_unit_copy(struct ref_unit *to, const struct ref_unit *from)
{
    memcpy(to, from, offsetof(struct ref_unit, tokens) + from->count * sizeof from->tokens[0]);
}

/* ---- the token stack ---- */

static void push(struct ref_unit *u, enum ref_token_type type, const struct ref_lanes *mask,
                 uint32_t pc)
{
    if (u->count == u->capacity)
        u->overflow = true;
    else
        u->tokens[u->count++] = (struct ref_token){type, *mask, pc};
}

/* enable: lanes of the token's mask that wait for it wait no longer */
static void enable(const struct ref_token *t, char disabled[LIMIT_WARP], uint32_t lanes,
                   uint32_t otherwise)
{
    char why = t->type == REF_TOKEN_CALL ? 'r' : 'b';
    for (uint32_t l = 0; l < lanes; l++) {
        bool in = t->mask.has[l] || is(otherwise, REF_OTHERWISE_ENABLE_ALL);
        bool waits =
            disabled[l] == why || (is(otherwise, REF_OTHERWISE_ENABLE_ANY) && disabled[l] != 'e');
        if (in && waits)
            disabled[l] = '0';
    }
}

/* unwind: tokens are popped until one of them wakes a lane; of those that wake nobody delta is not changed. An empty
 * stack: the warp has completed if all lanes have exited. */
static void unwind(struct ref_unit *u, uint32_t otherwise)
{
    while (u->count > 0) {
        const struct ref_token t = u->tokens[--u->count];
        bool opens = t.type == REF_TOKEN_CALL || t.type == REF_TOKEN_BREAK;
        bool plain =
            is(otherwise, opens ? REF_OTHERWISE_NO_MINUS_CALL : REF_OTHERWISE_NO_MINUS_SYNC);
        char disabled[LIMIT_WARP];
        struct ref_lanes active = {{false}};
        memcpy(disabled, u->disabled, sizeof disabled);
        if (opens)
            enable(&t, disabled, u->lanes, otherwise);
        for (uint32_t l = 0; l < u->lanes; l++)
            active.has[l] = t.mask.has[l] && (disabled[l] == '0' || plain);
        bool wakes = !is_empty(&active) || is(otherwise, REF_OTHERWISE_UNWIND_ONCE);
        if (wakes || is(otherwise, REF_OTHERWISE_UNWIND_KEEPS))
            memcpy(u->disabled, disabled, sizeof disabled);
        if (wakes) {
            u->active = active;
            u->pc = t.pc;
            return;
        }
    }
    u->completed = true;
    for (uint32_t l = 0; l < u->lanes; l++)
        if (is(otherwise, REF_OTHERWISE_UNWIND_RETURN) ? u->disabled[l] == 'b'
                                                       : u->disabled[l] != 'e')
            u->completed = false;
    u->bottom = !u->completed;
}

/* ---- rules ---- */

static enum rule open_token(struct ref_unit *u, const struct ref_action *a, uint32_t otherwise)
{
    bool executing = is(otherwise, REF_OTHERWISE_PUSH_EXECUTING);
    bool flag = a->kind == REF_DO_SSY && is(otherwise, REF_OTHERWISE_SYNC_FLAG);
    enum ref_token_type type = a->kind == REF_DO_SSY       ? REF_TOKEN_SYNC
                               : a->kind == REF_DO_PRE_BRK ? REF_TOKEN_BREAK
                                                           : REF_TOKEN_CALL;
    push(u, type, executing ? &a->executing : &u->active, flag ? a->address - 1 : a->address);
    u->pc++;
    return a->kind == REF_DO_SSY       ? RULE_CRS_SSY
           : a->kind == REF_DO_PRE_BRK ? RULE_CRS_PRE_BRK
                                       : RULE_CRS_PRE_RET;
}

static enum rule sync(struct ref_unit *u, uint32_t otherwise)
{
    uint32_t pc = u->pc;
    if (is(otherwise, REF_OTHERWISE_SYNC_SKIP))
        while (u->count > 0 && u->tokens[u->count - 1].type == REF_TOKEN_DIVERGE)
            u->count--;
    unwind(u, otherwise);
    if (is(otherwise, REF_OTHERWISE_SYNC_FLAG) && u->pc == pc && !u->bottom && !u->completed)
        u->pc++;
    return RULE_CRS_SYNC;
}

static enum rule rule_of_leaving(enum ref_action_kind kind, bool uniform)
{
    if (kind == REF_DO_BREAK)
        return uniform ? RULE_CRS_BRK_UNI : RULE_CRS_BRK_DIV;
    if (kind == REF_DO_RET)
        return uniform ? RULE_CRS_RET_UNI : RULE_CRS_RET_DIV;
    return uniform ? RULE_CRS_EXIT_UNI : RULE_CRS_EXIT_DIV;
}

/* break, return, exit: the executing lanes are disabled; if they were all, the token stack says who goes on */
static enum rule leave(struct ref_unit *u, const struct ref_action *a, uint32_t otherwise)
{
    bool uniform = uni(u, a);
    char why = a->kind == REF_DO_BREAK ? 'b' : a->kind == REF_DO_RET ? 'r' : 'e';
    enum ref_otherwise keeps = a->kind == REF_DO_BREAK ? REF_OTHERWISE_UNIFORM_BREAK
                               : a->kind == REF_DO_RET ? REF_OTHERWISE_UNIFORM_RETURN
                                                       : REF_OTHERWISE_UNIFORM_EXIT;
    for (uint32_t l = 0; l < u->lanes; l++) {
        if (!a->executing.has[l])
            continue;
        u->active.has[l] = false;
        if (!(uniform && is(otherwise, keeps)))
            u->disabled[l] = why;
    }
    if (!uniform) {
        u->pc++;
        return rule_of_leaving(a->kind, false);
    }
    if (a->kind == REF_DO_BREAK && is(otherwise, REF_OTHERWISE_BREAK_DIRECT))
        while (u->count > 0 && u->tokens[u->count - 1].type != REF_TOKEN_BREAK)
            u->count--;
    unwind(u, otherwise);
    return rule_of_leaving(a->kind, true);
}

static enum rule bra(struct ref_unit *u, const struct ref_action *a, uint32_t otherwise)
{
    const struct ref_lanes nobody = {{false}};
    uint32_t pc = u->pc, to = 0;
    bool one = one_target(a, &to), uniform = uni(u, a);
    if (!one)
        to = a->chosen;
    struct ref_lanes t = taken(a, to), rest = not_taken(u, &t, otherwise);
    if (is_empty(&t))
        return RULE_NONE;
    u->pc = to;
    if (one && uniform) {
        if (is(otherwise, REF_OTHERWISE_UNIFORM_PUSH))
            push(u, REF_TOKEN_DIVERGE, &nobody, pc + 1);
        return RULE_CRS_BRA_UNI;
    }
    if (one && is(otherwise, REF_OTHERWISE_NOT_TAKEN_FIRST)) {
        push(u, REF_TOKEN_DIVERGE, &t, to);
        u->active = rest;
        u->pc = pc + 1;
        return RULE_CRS_BRA_GUARD;
    }
    if (one)
        push(u, REF_TOKEN_DIVERGE, &rest, is(otherwise, REF_OTHERWISE_GUARD_PC) ? pc : pc + 1);
    else
        push(u, REF_TOKEN_DIVERGE, &rest, is(otherwise, REF_OTHERWISE_TARGET_NEXT) ? pc + 1 : pc);
    u->active = t;
    return one ? RULE_CRS_BRA_GUARD : RULE_CRS_BRA_TARGET;
}

static enum rule call(struct ref_unit *u, const struct ref_action *a, uint32_t otherwise)
{
    uint32_t pc = u->pc, to = 0;
    bool one = one_target(a, &to), uniform = uni(u, a);
    if (!one)
        to = a->chosen;
    struct ref_lanes t = taken(a, to), rest = not_taken(u, &t, one ? 0 : otherwise);
    if (is_empty(&t))
        return RULE_NONE;
    if (is(otherwise, REF_OTHERWISE_CALL_PUSH))
        push(u, REF_TOKEN_CALL, &u->active, pc + 1);
    u->pc = to;
    if (one && uniform)
        return RULE_CRS_CALL_UNI;
    if (one && is(otherwise, REF_OTHERWISE_CALL_GUARD_TOKEN))
        push(u, REF_TOKEN_DIVERGE, &rest, pc + 1);
    if (!one && !is(otherwise, REF_OTHERWISE_CALL_TARGET_NO_TOKEN))
        push(u, REF_TOKEN_DIVERGE, &rest, pc);
    if (!one || !is(otherwise, REF_OTHERWISE_CALL_GUARD_ALL))
        u->active = t;
    return one ? RULE_CRS_CALL_GUARD : RULE_CRS_CALL_TARGET;
}

enum rule ref_branch(struct ref_unit *u, const struct ref_action *a, uint32_t otherwise)
{
    switch (a->kind) {
    case REF_DO_SSY:
    case REF_DO_PRE_BRK:
    case REF_DO_PRE_RET:
        return open_token(u, a, otherwise);
    case REF_DO_SYNC:
        return sync(u, otherwise);
    case REF_DO_BREAK:
    case REF_DO_RET:
    case REF_DO_EXIT:
        return leave(u, a, otherwise);
    case REF_DO_BRA:
        return bra(u, a, otherwise);
    case REF_DO_CALL:
        return call(u, a, otherwise);
    }
    return RULE_NONE;
}

/* ---- threads with a pc of their own: 6.3 ---- */

/* topmostToken(tau, type).pc. False: there is none. */
static bool topmost(const struct ref_unit *u, enum ref_token_type type, uint32_t *pc)
{
    for (uint32_t i = u->count; i > 0; i--)
        if (u->tokens[i - 1].type == type) {
            *pc = u->tokens[i - 1].pc;
            return true;
        }
    return false;
}

/* branch_Theta: where an executing lane goes. False: nowhere. */
static bool next_of(const struct ref_unit *before, const struct ref_action *a, uint32_t at,
                    uint32_t lane, uint32_t *pc)
{
    switch (a->kind) {
    case REF_DO_BREAK:
        return topmost(before, REF_TOKEN_BREAK, pc);
    case REF_DO_RET:
        return topmost(before, REF_TOKEN_CALL, pc);
    case REF_DO_EXIT:
        *pc = 0;
        return true;
    case REF_DO_BRA:
    case REF_DO_CALL:
        *pc = a->target[lane];
        return true;
    case REF_DO_SSY:
    case REF_DO_PRE_BRK:
    case REF_DO_PRE_RET:
    case REF_DO_SYNC:
        break;
    }
    *pc = at + 1;
    return true;
}

/* exec_tt, exec_ff1, exec_ff2; then reset: lanes that a branch to several targets left behind are at the warp's pc. */
bool ref_thread_pcs(const struct ref_unit *before, const struct ref_unit *after,
                    const struct ref_action *a, uint32_t otherwise, uint32_t pcs[LIMIT_WARP])
{
    uint32_t target = 0;
    bool branches = a && (a->kind == REF_DO_BRA || a->kind == REF_DO_CALL);
    for (uint32_t l = 0; l < before->lanes; l++) {
        if (!before->active.has[l])
            continue;
        if (!a || !a->executing.has[l])
            pcs[l]++;
        else if (!next_of(before, a, pcs[l], l, &pcs[l]))
            return false;
    }
    if (branches && !one_target(a, &target) && !is(otherwise, REF_OTHERWISE_NO_RESET))
        for (uint32_t l = 0; l < before->lanes; l++)
            if (before->active.has[l] && !after->active.has[l])
                pcs[l] = before->pc;
    return true;
}
