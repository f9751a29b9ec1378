/*
 * crs_reference.h - programs of the branch unit in the catalogue's notation, run by engine/reference: what the machine
 * is compared with. Shares nothing with engine/crs/crs_branch.c but the names of the switches.
 */
#ifndef TESTS_UNIT_CRS_REFERENCE_H
#define TESTS_UNIT_CRS_REFERENCE_H

#include "tests/unit/shared/crs_notation.h"

#include "engine/crs/crs.h"
#include "engine/reference_ptx/ref_branch.h"

enum ref_status { REF_ACTIVE, REF_COMPLETED, REF_BOTTOM };

struct ref_state {
    uint32_t lanes;
    uint32_t pc;
    bool active[N_LANES];
    char disabled[N_LANES];               /* '0' 'b' 'r' 'e' */
    struct notation_token list[N_TOKENS]; /* top first */
    uint32_t length;
    enum ref_status status;
};

/* What the executing lanes do. */
struct ref_lane_action {
    uint32_t lane, target;
};

struct ref_actions {
    enum notation_kind kind;
    uint32_t count;
    struct ref_lane_action items[N_LANES];
    uint32_t address;
};

/* Which of the distinct targets, of which there are n, in ascending order. */
typedef uint32_t ref_choose(void *context, uint32_t n);

static inline bool ref_mut(uint32_t switches, enum crs_switch id)
{
    return switches >> id & 1;
}

static inline bool ref_among(const struct ref_actions *a, uint32_t lane)
{
    for (uint32_t i = 0; i < a->count; i++)
        if (a->items[i].lane == lane)
            return true;
    return false;
}

static inline bool ref_uni(const struct ref_state *s, const struct ref_actions *a)
{
    for (uint32_t lane = 0; lane < s->lanes; lane++)
        if (s->active[lane] && !ref_among(a, lane))
            return false;
    return true;
}

static inline bool ref_one_target(const struct ref_actions *a)
{
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t j = 0; j < a->count; j++)
            if (a->items[i].target != a->items[j].target)
                return false;
    return true;
}

static inline void ref_taken(const struct ref_actions *a, uint32_t pc, bool taken[N_LANES])
{
    memset(taken, 0, N_LANES * sizeof *taken);
    for (uint32_t i = 0; i < a->count; i++)
        if (a->items[i].target == pc)
            taken[a->items[i].lane] = true;
}

static inline void ref_not_taken(const struct ref_state *s, const bool taken[N_LANES],
                                 uint32_t switches, bool rest[N_LANES])
{
    memset(rest, 0, N_LANES * sizeof *rest);
    for (uint32_t lane = 0; lane < s->lanes; lane++)
        rest[lane] =
            (s->active[lane] || ref_mut(switches, CRS_SWITCH_NOT_TAKEN_ALL)) && !taken[lane];
}

/* ---- the branch unit: engine/reference's ---- */

static inline void ref_to_unit(const struct ref_state *s, struct ref_unit *u)
{
    *u =
        (struct ref_unit){.lanes = s->lanes, .pc = s->pc, .count = s->length, .capacity = N_TOKENS};
    memcpy(u->active.has, s->active, sizeof s->active);
    memcpy(u->disabled, s->disabled, sizeof s->disabled);
    for (uint32_t i = 0; i < s->length; i++) {
        const struct notation_token *t = &s->list[s->length - 1 - i];
        u->tokens[i].type = t->type == 's'   ? REF_TOKEN_SYNC
                            : t->type == 'd' ? REF_TOKEN_DIVERGE
                            : t->type == 'c' ? REF_TOKEN_CALL
                                             : REF_TOKEN_BREAK;
        u->tokens[i].pc = t->pc;
        memcpy(u->tokens[i].mask.has, t->mask, sizeof t->mask);
    }
}

static inline void ref_from_unit(const struct ref_unit *u, struct ref_state *s)
{
    static const char types[] = {'s', 'd', 'c', 'b'};
    s->pc = u->pc;
    s->length = u->count;
    memcpy(s->active, u->active.has, sizeof s->active);
    memcpy(s->disabled, u->disabled, sizeof s->disabled);
    memset(s->list, 0, sizeof s->list);
    for (uint32_t i = 0; i < u->count; i++) {
        struct notation_token *t = &s->list[u->count - 1 - i];
        t->type = types[u->tokens[i].type];
        t->pc = u->tokens[i].pc;
        memcpy(t->mask, u->tokens[i].mask.has, sizeof t->mask);
    }
    s->status = u->bottom ? REF_BOTTOM : u->completed ? REF_COMPLETED : REF_ACTIVE;
    if (u->overflow)
        abort();
}

static inline uint32_t ref_some_target(const struct ref_actions *a, ref_choose *choose,
                                       void *context)
{
    uint32_t distinct[N_LANES], n = 0;
    for (uint32_t pc = 0, left = a->count; left > 0; pc++) { /* all addresses, upwards */
        uint32_t here = 0;
        for (uint32_t i = 0; i < a->count; i++)
            here += a->items[i].target == pc;
        if (here > 0)
            distinct[n++] = pc;
        left -= here;
    }
    return distinct[choose(context, n)];
}

/* →CRS */
static inline void ref_flow(struct ref_state *s, const struct ref_actions *a, uint32_t switches,
                            ref_choose *choose, void *context)
{
    static const enum ref_action_kind kinds[] = {
        [N_SSY] = REF_DO_SSY,   [N_PREBRK] = REF_DO_PRE_BRK, [N_PRERET] = REF_DO_PRE_RET,
        [N_SYNC] = REF_DO_SYNC, [N_BREAK] = REF_DO_BREAK,    [N_RET] = REF_DO_RET,
        [N_EXIT] = REF_DO_EXIT, [N_BRA] = REF_DO_BRA,        [N_CALL] = REF_DO_CALL};
    bool flows = a->kind != N_NOP && a->kind != N_CAS && a->kind != N_SETEQ && a->kind != N_ST;
    if (a->count == 0 || !flows) {
        s->pc++;
        return;
    }
    struct ref_unit u;
    struct ref_action x = {.kind = kinds[a->kind], .address = a->address};
    for (uint32_t i = 0; i < a->count; i++) {
        x.executing.has[a->items[i].lane] = true;
        x.target[a->items[i].lane] = a->items[i].target;
    }
    if ((a->kind == N_BRA || a->kind == N_CALL) && !ref_one_target(a))
        x.chosen = ref_some_target(a, choose, context);
    ref_to_unit(s, &u);
    (void)ref_branch(&u, &x, switches);
    ref_from_unit(&u, s);
}

/* ---- a warp that runs a program ---- */

struct ref_warp {
    const struct notation *program;
    struct ref_state s;
    uint32_t switches;
    uint32_t regs[N_REGS][N_LANES];
    uint32_t memory;
    uint32_t kappa[N_LANES]; /* |κ| */
    /* of the last step */
    uint32_t pc;
    bool before[N_LANES];
    struct ref_actions actions;
    /* since the start: markers by lane, and all by the warp with their masks */
    char markers[N_LANES][64];
    char order[1024];
};

static inline void ref_warp_init(struct ref_warp *w, const struct notation *n, uint32_t switches)
{
    memset(w, 0, sizeof *w);
    w->program = n;
    w->switches = switches;
    w->memory = n->memory;
    memcpy(w->regs, n->regs, sizeof w->regs);
    w->s.lanes = n->lanes;
    w->s.pc = n->entry;
    for (uint32_t lane = 0; lane < n->lanes; lane++) {
        w->s.active[lane] = true;
        w->s.disabled[lane] = '0';
        w->kappa[lane] = 1;
    }
    memcpy(w->s.list, n->tokens, n->token_count * sizeof n->tokens[0]);
    w->s.length = n->token_count;
}

static inline void ref_append(char *text, size_t size, const char *more)
{
    size_t length = strlen(text);
    snprintf(text + length, size - length, "%s%s", length ? " " : "", more);
}

static inline void ref_mark(struct ref_warp *w)
{
    char text[128];
    snprintf(text, sizeof text, "%u:", (unsigned)w->pc);
    size_t at = strlen(text);
    for (uint32_t lane = 0; lane < w->s.lanes; lane++)
        text[at + lane] = ref_among(&w->actions, lane) ? '1' : '0';
    text[at + w->s.lanes] = 0;
    ref_append(w->order, sizeof w->order, text);
    for (uint32_t i = 0; i < w->actions.count; i++) {
        char *markers = w->markers[w->actions.items[i].lane], number[16];
        snprintf(number, sizeof number, "%s%u", markers[0] ? "," : "", (unsigned)w->pc);
        strncat(markers, number, sizeof w->markers[0] - strlen(markers) - 1);
    }
}

/* One step, in which the lanes execute the instruction at pc; sets status. */
static inline void ref_warp_step_at(struct ref_warp *w, uint32_t pc, ref_choose *choose,
                                    void *context)
{
    const struct notation *n = w->program;
    w->pc = pc;
    memcpy(w->before, w->s.active, sizeof w->before);
    if (w->pc == 0 || w->pc > n->op_count) {
        w->s.status = REF_BOTTOM;
        return;
    }
    const struct notation_op *op = &n->ops[w->pc];
    w->actions = (struct ref_actions){.kind = op->kind, .address = op->a};
    for (uint32_t lane = 0; lane < n->lanes; lane++) {
        bool guard = op->guard < 0 || (w->regs[op->guard][lane] != 0) != op->guard_not;
        if (w->s.active[lane] && guard)
            w->actions.items[w->actions.count++] =
                (struct ref_lane_action){lane, op->reg < 0 ? op->a : w->regs[op->reg][lane]};
    }
    ref_flow(&w->s, &w->actions, w->switches, choose, context);
    for (uint32_t i = 0; i < w->actions.count; i++) {
        uint32_t lane = w->actions.items[i].lane, to = w->actions.items[i].target;
        bool enters = to == w->s.pc || ref_mut(w->switches, CRS_SWITCH_KAPPA); /* as printed: all */
        if (op->kind == N_CALL && enters && (to == 0 || to > n->op_count))
            w->s.status = REF_BOTTOM; /* LocalEnv(t) = ⊥ */
        uint32_t old = w->memory;
        if (op->kind == N_CAS) {
            w->memory = old == op->a ? op->b : old;
            w->regs[op->reg][lane] = old;
        } else if (op->kind == N_SETEQ) {
            w->regs[op->reg][lane] = w->regs[op->a][lane] == op->b;
        } else if (op->kind == N_ST) {
            w->memory = op->a;
        } else if (op->kind == N_RET && w->kappa[lane] > 1) {
            w->kappa[lane]--;
        } else if (op->kind == N_CALL && enters) {
            w->kappa[lane]++;
        }
    }
    if (op->kind == N_CALL && ref_mut(w->switches, CRS_SWITCH_CALL_GUARD_ALL) &&
        w->actions.count > 0 && ref_one_target(&w->actions))
        for (uint32_t lane = 0; lane < n->lanes; lane++)
            w->kappa[lane] += w->before[lane] && !ref_among(&w->actions, lane);
    if (op->kind == N_NOP && w->actions.count > 0)
        ref_mark(w);
}

static inline void ref_warp_step(struct ref_warp *w, ref_choose *choose, void *context)
{
    ref_warp_step_at(w, w->s.pc, choose, context);
}

/* ---- a warp whose lanes have pcs of their own, 6.3 ---- */

struct ref_pcs {
    struct ref_warp w;
    uint32_t pcs[N_LANES]; /* 0 = epsilon */
};

static inline void ref_pcs_init(struct ref_pcs *r, const struct notation *n, uint32_t switches)
{
    memset(r, 0, sizeof *r);
    ref_warp_init(&r->w, n, switches);
    for (uint32_t lane = 0; lane < n->lanes; lane++)
        r->pcs[lane] = n->entry;
}

/* Where all active lanes are; the warp's pc if there is none. False: they are not at one place. */
static inline bool ref_pcs_at(const struct ref_pcs *r, uint32_t *pc)
{
    bool found = false;
    *pc = r->w.s.pc;
    for (uint32_t lane = 0; lane < r->w.s.lanes; lane++) {
        if (!r->w.s.active[lane])
            continue;
        if (found && r->pcs[lane] != *pc)
            return false;
        *pc = r->pcs[lane];
        found = true;
    }
    return true;
}

/* topmostToken(list, type).pc; 0 = bottom */
static inline uint32_t ref_topmost(const struct ref_state *s, char type)
{
    for (uint32_t i = 0; i < s->length; i++)
        if (s->list[i].type == type)
            return s->list[i].pc;
    return 0;
}

/* False: the active lanes are apart, and nothing was done. */
static inline bool ref_pcs_step(struct ref_pcs *r, ref_choose *choose, void *context)
{
    uint32_t at, warp_pc = r->w.s.pc, next[N_LANES];
    struct ref_state before = r->w.s;
    if (!ref_pcs_at(r, &at))
        return false;
    memcpy(next, r->pcs, sizeof next);
    ref_warp_step_at(&r->w, at, choose, context);
    if (at == 0 || at > r->w.program->op_count)
        return true;
    const struct ref_actions *a = &r->w.actions;
    for (uint32_t lane = 0; lane < before.lanes; lane++)
        if (before.active[lane])
            next[lane] = at + 1;
    for (uint32_t i = 0; i < a->count; i++) {
        uint32_t lane = a->items[i].lane;
        if (a->kind == N_BREAK || a->kind == N_RET) {
            next[lane] = ref_topmost(&before, a->kind == N_BREAK ? 'b' : 'c');
            if (next[lane] == 0)
                r->w.s.status = REF_BOTTOM;
        } else if (a->kind == N_EXIT) {
            next[lane] = 0;
        } else if (a->kind == N_BRA || a->kind == N_CALL) {
            next[lane] = a->items[i].target;
        }
    }
    bool branches = a->kind == N_BRA || a->kind == N_CALL;
    if (branches && !ref_one_target(a))
        for (uint32_t lane = 0; lane < before.lanes; lane++)
            if (before.active[lane] && !r->w.s.active[lane])
                next[lane] = warp_pc;
    memcpy(r->pcs, next, sizeof next);
    return true;
}

/* "0:8 1:- completed" */
static inline void ref_summary(const struct ref_warp *w, char *text, size_t size)
{
    text[0] = 0;
    for (uint32_t lane = 0; lane < w->s.lanes; lane++) {
        char one[96];
        snprintf(one, sizeof one, "%u:%s", (unsigned)lane,
                 w->markers[lane][0] ? w->markers[lane] : "-");
        ref_append(text, size, one);
    }
    ref_append(text, size,
               w->s.status == REF_COMPLETED ? "completed"
               : w->s.status == REF_BOTTOM  ? "stuck"
                                            : "running");
}

/* "7 01 00 (sync,11,8)": the row of a golden trace. */
static inline void ref_row(const struct ref_warp *w, char *text, size_t size)
{
    uint32_t lanes = w->s.lanes;
    size_t at = (size_t)snprintf(text, size, "%u ", (unsigned)w->pc);
    for (uint32_t lane = 0; lane < lanes; lane++)
        text[at++] = w->s.active[lane] ? '1' : '0';
    text[at++] = ' ';
    memcpy(text + at, w->s.disabled, lanes);
    text[at + lanes] = 0;
    if (w->s.length == 0)
        ref_append(text, size, "-");
    for (uint32_t i = 0; i < w->s.length; i++) {
        const struct notation_token *t = &w->s.list[i];
        char mask[N_LANES + 1] = {0}, one[128];
        for (uint32_t lane = 0; lane < lanes; lane++)
            mask[lane] = t->mask[lane] ? '1' : '0';
        snprintf(one, sizeof one, "(%s,%s,%u)",
                 t->type == 's'   ? "sync"
                 : t->type == 'd' ? "diverge"
                 : t->type == 'c' ? "call"
                                  : "break",
                 mask, (unsigned)t->pc);
        ref_append(text, size, one);
    }
}

#endif
