/*
 * safety_walks.c - CHK.stack by its definition: runs of the branch-unit instructions alone, by the reference
 * (engine/reference_ptx), with guards and targets that are drawn - whatever the data, as the check of all paths says.
 *
 *     consistent  =>  a run meets no instruction that stack-cons 1 to 6 forbids there (4', 6'), and no warp is stuck
 *     consistent  =>  on top of a run's stack lies what may lie there (`tops`)
 *
 * (A program that starts with tokens may start with any, which then need not be those of its lanes: it may be stuck.)
 * Guards of different instructions have nothing to do with each other, but for a preRet and the call behind it. A run
 * ends where control goes through a register.
 */
#include "oracle/crs/safety_walks.h"
#include "engine/base/pcg.h"
#include "engine/reference_ptx/ref_branch.h"
#include "engine/static/ptx_static.h"

#include <string.h>

enum { WALKS = 8, STEPS = 80, WALKS_STREAM = 37 };

/* ---- stack-cons ---- */

static const struct ref_token *top_of(const struct ref_unit *u)
{
    return u->count > 0 ? &u->tokens[u->count - 1] : NULL;
}

static bool has_token(const struct ref_unit *u, enum ref_token_type type)
{
    for (uint32_t i = 0; i < u->count; i++)
        if (u->tokens[i].type == type)
            return true;
    return false;
}

/* 5: the sync token on top is this sync's; 3, 4': it lies below diverge tokens. */
static bool may_sync(const struct ref_unit *u)
{
    uint32_t i = u->count;
    while (i > 0 && u->tokens[i - 1].type == REF_TOKEN_DIVERGE)
        i--;
    return i > 0 && u->tokens[i - 1].type == REF_TOKEN_SYNC && u->tokens[i - 1].pc == u->pc + 1;
}

static const char *broken_clause(const struct ref_unit *u, enum ref_action_kind kind)
{
    const struct ref_token *top = top_of(u);
    switch (kind) {
    case REF_DO_BREAK:
        return has_token(u, REF_TOKEN_BREAK) ? NULL : "a break without a break token";
    case REF_DO_RET:
        return has_token(u, REF_TOKEN_CALL) ? NULL : "a ret without a call token";
    case REF_DO_SYNC:
        return may_sync(u) ? NULL : "a sync without its sync token";
    case REF_DO_CALL:
        return top && top->type == REF_TOKEN_CALL && top->pc == u->pc + 1
                   ? NULL
                   : "a call without its call token on top";
    case REF_DO_SSY:
    case REF_DO_PRE_BRK:
    case REF_DO_PRE_RET:
    case REF_DO_EXIT:
    case REF_DO_BRA:
        break;
    }
    return NULL;
}

/* ---- a run ---- */

struct walking {
    const struct ptx_code *code;
    struct pcg rng;
    struct ref_unit unit;
    bool guard[LIMIT_WARP]; /* of the instruction before, of all lanes */
    uint32_t before;        /* its address */
};

static void start(struct walking *w, const struct ast_launch *launch)
{
    const struct ptx_kernel *kernel = w->code->kernel;
    struct ref_unit *u = &w->unit;
    memset(u, 0, sizeof *u);
    u->lanes = launch->warp;
    u->pc = 1;
    u->capacity = w->code->token_capacity < REF_TOKENS ? w->code->token_capacity : REF_TOKENS;
    for (uint32_t l = 0; l < LIMIT_WARP; l++) {
        u->active.has[l] = l < launch->warp && l < launch->threads;
        u->disabled[l] = u->active.has[l] ? '0' : 'e';
    }
    for (uint32_t i = kernel->token_count; i > 0; i--) {
        const struct ptx_token_init *given = &kernel->tokens[i - 1];
        struct ref_token *t = &u->tokens[u->count++];
        *t = (struct ref_token){.type = (enum ref_token_type)given->type, .pc = given->pc};
        for (uint32_t l = 0; l < launch->warp; l++)
            t->mask.has[l] = u->active.has[l] && given->mask >> l & 1;
    }
    w->before = 0;
}

static bool are_paired(const struct walking *w, uint32_t pc)
{
    const struct ptx_op *a = &w->code->ops[pc - 1], *b = &w->code->ops[pc];
    return pc > 1 && w->before == pc - 1 && a->exec == PTX_EXEC_PRERET &&
           b->exec == PTX_EXEC_CALL && a->guard.kind == b->guard.kind &&
           a->guard.offset == b->guard.offset && a->guard_not == b->guard_not;
}

/* For all lanes, for none, or for some. */
static void draw_guard(struct walking *w, const struct ptx_op *op)
{
    const uint32_t how = pcg_below(&w->rng, 4);
    for (uint32_t l = 0; l < w->unit.lanes; l++)
        w->guard[l] =
            op->guard.kind == PTX_PLACE_NONE || how == 0 || (how > 1 && pcg_below(&w->rng, 2));
}

static bool action_of(const struct ptx_op *op, enum ref_action_kind *kind)
{
    static const struct {
        enum ptx_exec exec;
        enum ref_action_kind kind;
    } table[] = {{PTX_EXEC_SSY, REF_DO_SSY},        {PTX_EXEC_PREBRK, REF_DO_PRE_BRK},
                 {PTX_EXEC_PRERET, REF_DO_PRE_RET}, {PTX_EXEC_SYNC, REF_DO_SYNC},
                 {PTX_EXEC_BREAK, REF_DO_BREAK},    {PTX_EXEC_RET, REF_DO_RET},
                 {PTX_EXEC_EXIT, REF_DO_EXIT},      {PTX_EXEC_BRA, REF_DO_BRA},
                 {PTX_EXEC_CALL, REF_DO_CALL}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].exec == (enum ptx_exec)op->exec) {
            *kind = table[i].kind;
            return true;
        }
    return false;
}

/* Where each lane goes, and who goes first. False: through a register. */
static bool draw_targets(struct walking *w, const struct ptx_op *op, struct ref_action *a)
{
    uint32_t first = UINT32_MAX;
    if (op->target == 0 && op->table_count == 0)
        return false;
    for (uint32_t l = 0; l < w->unit.lanes; l++) {
        a->target[l] = op->target ? op->target
                                  : w->code->table[op->table + pcg_below(&w->rng, op->table_count)];
        if (a->executing.has[l] && (first == UINT32_MAX || pcg_below(&w->rng, 3) == 0))
            first = l;
    }
    a->chosen = a->target[first];
    return true;
}

enum walk_step { WALK_ON, WALK_ENDS, WALK_WRONG };

static enum walk_step step(struct walking *w, const char **why)
{
    struct ref_unit *u = &w->unit;
    const uint32_t pc = u->pc;
    const struct ptx_op *op = &w->code->ops[pc];
    struct ref_action a = {.address = op->target};
    bool any = false;
    if (!are_paired(w, pc))
        draw_guard(w, op);
    w->before = pc;
    for (uint32_t l = 0; l < u->lanes; l++)
        any |= a.executing.has[l] = u->active.has[l] && w->guard[l];
    if (any && op->exec == PTX_EXEC_TRAP)
        return WALK_ENDS;
    if (!any || !action_of(op, &a.kind)) {
        u->pc++;
        return WALK_ON;
    }
    *why = broken_clause(u, a.kind);
    if (*why)
        return WALK_WRONG;
    if ((a.kind == REF_DO_BRA || a.kind == REF_DO_CALL) && !draw_targets(w, op, &a))
        return WALK_ENDS;
    (void)ref_branch(u, &a, 0);
    if (u->bottom && w->code->kernel->token_count == 0) {
        *why = "stuck, as lanes wait and there is no token";
        return WALK_WRONG;
    }
    return u->bottom || u->completed || u->overflow ? WALK_ENDS : WALK_ON;
}

/* ---- all runs ---- */

static bool may_be_there(const struct walking *w, const uint8_t *tops)
{
    const struct ref_token *top = top_of(&w->unit);
    return tops[w->unit.pc] >> (top ? (uint32_t)top->type : (uint32_t)PTX_STATIC_EMPTY) & 1;
}

uint32_t safety_walk(struct arena *arena, const struct program *program, const uint8_t *tops,
                     uint64_t seed, const char **why)
{
    struct walking *w = ARENA_NEW(arena, struct walking);
    w->code = program->ptx;
    w->rng = pcg_derive(seed, PCG_CHOICE, WALKS_STREAM);
    for (uint32_t i = 0; i < WALKS; i++) {
        enum walk_step next = WALK_ON;
        start(w, &program->launch);
        for (uint32_t steps = 0; steps < STEPS && next == WALK_ON; steps++) {
            const uint32_t pc = w->unit.pc;
            if (pc == 0 || pc >= w->code->count) {
                *why = "an address that is no instruction";
                return w->code->ops[w->before].line;
            }
            *why = "a token on top that no path leads to";
            if (!may_be_there(w, tops))
                return w->code->ops[pc].line;
            next = step(w, why);
            if (next == WALK_WRONG)
                return w->code->ops[pc].line;
        }
    }
    *why = NULL;
    return 0;
}
