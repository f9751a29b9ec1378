/*
 * crs_otherwise.h - what the rules of crs_branch.c are not: the switches of crs_switches.def, a function each, in a
 * table that says of which rules and when. Part of crs_branch.c, whose rules they stand around.
 */
#ifndef ENGINE_CRS_OTHERWISE_H
#define ENGINE_CRS_OTHERWISE_H

static bool is_on(const struct crs_unit *u, enum crs_switch id)
{
    return u->switches >> id & 1;
}

/* ---- before the rule ---- */

static void sync_skip(struct crs_unit *u, const struct firing *f)
{
    (void)f;
    while (u->s->depth > 0 && u->tokens[u->s->depth - 1].type == CRS_DIVERGE)
        drop(u);
}

static void break_direct(struct crs_unit *u, const struct firing *f)
{
    (void)f;
    while (u->s->depth > 0 && u->tokens[u->s->depth - 1].type != CRS_BREAK)
        drop(u);
}

static void uniform_push(struct crs_unit *u, const struct firing *f)
{
    (void)f;
    push(u, CRS_DIVERGE, 0, u->s->pc + 1);
}

static void call_push(struct crs_unit *u, const struct firing *f)
{
    (void)f;
    push(u, CRS_CALL, u->s->active, u->s->pc + 1);
}

static void call_guard_token(struct crs_unit *u, const struct firing *f)
{
    push(u, CRS_DIVERGE, crs_not_taken(u->s->active, f->X), u->s->pc + 1);
}

/* ---- instead of it ---- */

static struct popped popped_otherwise(const struct crs_unit *u)
{
    const struct crs_token *t = &u->tokens[u->s->depth - 1];
    bool frees = t->type == CRS_CALL || t->type == CRS_BREAK, any = is_on(u, CRS_SWITCH_ENABLE_ANY);
    lane_mask enabled = is_on(u, CRS_SWITCH_ENABLE_ALL) ? ~(lane_mask)0 : t->mask;
    struct waiting d = {u->s->broken, u->s->returned};
    if (t->type == CRS_BREAK || (frees && any))
        d.broken &= ~enabled;
    if (t->type == CRS_CALL || (frees && any))
        d.returned &= ~enabled;
    bool plain = is_on(u, frees ? CRS_SWITCH_NO_MINUS_CALL : CRS_SWITCH_NO_MINUS_SYNC);
    return (struct popped){plain ? t->mask : minus(t->mask, d, u->s->exited), d, t->pc};
}

/* unwind, as ENABLE_ALL, ENABLE_ANY, NO_MINUS_CALL, NO_MINUS_SYNC, UNWIND_ONCE, UNWIND_KEEPS, UNWIND_RETURN have it. */
static void unwind_otherwise(struct crs_unit *u)
{
    struct crs_state *s = u->s;
    while (s->depth > 0) {
        struct popped next = popped_otherwise(u);
        drop(u);
        bool wakes = next.alpha != 0 || is_on(u, CRS_SWITCH_UNWIND_ONCE);
        if (wakes || is_on(u, CRS_SWITCH_UNWIND_KEEPS)) {
            put_mask(u->machine, &s->broken, next.delta.broken);
            put_mask(u->machine, &s->returned, next.delta.returned);
        }
        if (!wakes)
            continue;
        set_alpha(u, next.alpha);
        set_pc(u, next.pc);
        return;
    }
    if (s->exited == u->W || (is_on(u, CRS_SWITCH_UNWIND_RETURN) && s->broken == 0))
        put(u->machine, &s->completed, 1);
    else
        u->bottom = UNWIND_BOTTOM;
}

/* A rule that ends with unwind: the disable mask changes unless the switch of a uniform one keeps it. */
static void unwinding(struct crs_unit *u, const struct firing *f)
{
    if (f->rule == RULE_CRS_BRK_UNI && !is_on(u, CRS_SWITCH_UNIFORM_BREAK))
        set_delta(u, f->X, DELTA_BREAK);
    if (f->rule == RULE_CRS_RET_UNI && !is_on(u, CRS_SWITCH_UNIFORM_RETURN))
        set_delta(u, f->X, DELTA_RETURN);
    if (f->rule == RULE_CRS_EXIT_UNI && !is_on(u, CRS_SWITCH_UNIFORM_EXIT))
        set_delta(u, f->X, DELTA_EXIT);
    if (f->rule != RULE_CRS_SYNC)
        set_alpha(u, u->s->active & ~f->X);
    unwind_otherwise(u);
}

static void not_taken_first(struct crs_unit *u, const struct firing *f)
{
    lane_mask all = is_on(u, CRS_SWITCH_NOT_TAKEN_ALL) ? u->W : u->s->active;
    push(u, CRS_DIVERGE, f->X, f->pc);
    set_alpha(u, crs_not_taken(all, f->X));
    set_pc(u, u->s->pc + 1);
}

static void call_target_no_token(struct crs_unit *u, const struct firing *f)
{
    set_alpha(u, crs_taken(f->X, f->targets, f->pc));
    set_pc(u, f->pc);
}

/* ---- behind it: `f->was` is ς as it was ---- */

static struct crs_token *top_token(const struct crs_unit *u)
{
    return &u->tokens[u->s->depth - 1];
}

static void push_executing(struct crs_unit *u, const struct firing *f)
{
    put_mask(u->machine, &top_token(u)->mask, f->X);
}

/* The token has the address of the sync itself; and the flagged instruction that popped its own token is not executed
 * again. */
static void sync_flag(struct crs_unit *u, const struct firing *f)
{
    if (f->rule == RULE_CRS_SSY)
        put(u->machine, &top_token(u)->pc, f->pc - 1);
    else if (u->s->pc == f->was.pc && !u->bottom && !u->s->completed)
        set_pc(u, f->was.pc + 1);
}

static void not_taken_all(struct crs_unit *u, const struct firing *f)
{
    lane_mask taken = f->rule == RULE_CRS_BRA_GUARD ? f->X : crs_taken(f->X, f->targets, f->pc);
    put_mask(u->machine, &top_token(u)->mask, crs_not_taken(u->W, taken));
}

static void guard_pc(struct crs_unit *u, const struct firing *f)
{
    put(u->machine, &top_token(u)->pc, f->was.pc);
}

static void target_next(struct crs_unit *u, const struct firing *f)
{
    put(u->machine, &top_token(u)->pc, f->was.pc + 1);
}

static void call_guard_all(struct crs_unit *u, const struct firing *f)
{
    set_alpha(u, f->was.active);
}

/* ---- the table ---- */

#define OF(rule) ((uint64_t)1 << (RULE_CRS_##rule - RULE_CRS_SSY))

enum when { BEFORE, INSTEAD, BEHIND };

static const struct otherwise {
    uint32_t switches; /* one of them is on */
    uint64_t rules;
    enum when when;
    void (*run)(struct crs_unit *u, const struct firing *f);
} otherwise[] = {
#define ROW(id, rules, when, run)                                                                  \
    {                                                                                              \
        1u << CRS_SWITCH_##id, rules, when, run                                                    \
    }
    ROW(SYNC_SKIP, OF(SYNC), BEFORE, sync_skip),
    ROW(BREAK_DIRECT, OF(BRK_UNI), BEFORE, break_direct),
    ROW(UNIFORM_PUSH, OF(BRA_UNI), BEFORE, uniform_push),
    ROW(CALL_PUSH, OF(CALL_UNI) | OF(CALL_GUARD) | OF(CALL_TARGET), BEFORE, call_push),
    ROW(CALL_GUARD_TOKEN, OF(CALL_GUARD), BEFORE, call_guard_token),
    {~0u, OF(SYNC) | OF(BRK_UNI) | OF(RET_UNI) | OF(EXIT_UNI), INSTEAD, unwinding},
    ROW(NOT_TAKEN_FIRST, OF(BRA_GUARD), INSTEAD, not_taken_first),
    ROW(CALL_TARGET_NO_TOKEN, OF(CALL_TARGET), INSTEAD, call_target_no_token),
    ROW(PUSH_EXECUTING, OF(SSY) | OF(PRE_BRK) | OF(PRE_RET), BEHIND, push_executing),
    ROW(SYNC_FLAG, OF(SSY) | OF(SYNC), BEHIND, sync_flag),
    ROW(NOT_TAKEN_ALL, OF(BRA_GUARD) | OF(BRA_TARGET) | OF(CALL_TARGET), BEHIND, not_taken_all),
    ROW(GUARD_PC, OF(BRA_GUARD), BEHIND, guard_pc),
    ROW(TARGET_NEXT, OF(BRA_TARGET), BEHIND, target_next),
    ROW(CALL_GUARD_ALL, OF(CALL_GUARD), BEHIND, call_guard_all),
#undef ROW
};

#undef OF

static bool run_otherwise(struct crs_unit *u, const struct firing *f, enum when when)
{
    bool found = false;
    for (size_t i = 0; i < sizeof otherwise / sizeof *otherwise; i++) {
        const struct otherwise *row = &otherwise[i];
        if (row->when != when || !(row->switches & u->switches) ||
            !(row->rules >> (f->rule - RULE_CRS_SSY) & 1))
            continue;
        row->run(u, f);
        found = true;
    }
    return found;
}

/* The rule as its switches have it. A token that found no room ends the execution. */
static void fire_otherwise(struct crs_unit *u, struct firing *f)
{
    f->was = *u->s;
    run_otherwise(u, f, BEFORE);
    bool instead = run_otherwise(u, f, INSTEAD);
    if (!instead)
        fire(u, f);
    if (!u->overflow && (!instead || f->rule == RULE_CRS_SYNC))
        run_otherwise(u, f, BEHIND);
}

#endif
