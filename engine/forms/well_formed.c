/*
 * well_formed.c - Def. 5.1 as a check (lockstep-cfg section 9).
 */
#include "engine/forms/normalise.h"
#include "engine/language/walk.h"

#include <string.h>

/* ---- whether guards cover everything (WF.3) ---- */

static bool same_expr(const struct ast_expr *a, const struct ast_expr *b)
{
    if (!a || !b)
        return a == b;
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case EXPR_INT:
        return a->value == b->value;
    case EXPR_VAR:
        return a->var == b->var;
    case EXPR_INDEX:
        return a->var == b->var && same_expr(a->a, b->a);
    case EXPR_BUILTIN:
        return a->builtin == b->builtin;
    case EXPR_UNARY:
        return a->unary == b->unary && same_expr(a->a, b->a);
    case EXPR_BINARY:
        return a->binary == b->binary && same_expr(a->a, b->a) && same_expr(a->b, b->b);
    case EXPR_COND:
        return same_expr(a->a, b->a) && same_expr(a->b, b->b) && same_expr(a->c, b->c);
    case EXPR_ALL:
    case EXPR_ANY:
        return same_expr(a->a, b->a);
    }
    return false;
}

/* Comparisons: the one that holds exactly where it does not, and the one with operands exchanged. */
struct comparison {
    bool exists;
    enum ast_binary negated, mirrored;
};

static const struct comparison comparisons[BINARY_COUNT] = {
    [BINARY_LT] = {true, BINARY_GE, BINARY_GT}, [BINARY_GE] = {true, BINARY_LT, BINARY_LE},
    [BINARY_GT] = {true, BINARY_LE, BINARY_LT}, [BINARY_LE] = {true, BINARY_GT, BINARY_GE},
    [BINARY_EQ] = {true, BINARY_NE, BINARY_EQ}, [BINARY_NE] = {true, BINARY_EQ, BINARY_NE},
};

static bool is_comparison(const struct ast_expr *e)
{
    return e->kind == EXPR_BINARY && comparisons[e->binary].exists;
}

static bool is_not(const struct ast_expr *e)
{
    return e->kind == EXPR_UNARY && e->unary == UNARY_NOT;
}

/* g and !g, e < f and e >= f, e < f and f <= e, .. */
static bool complementary(const struct ast_expr *a, const struct ast_expr *b)
{
    if ((is_not(a) && same_expr(a->a, b)) || (is_not(b) && same_expr(b->a, a)))
        return true;
    if (is_not(a) && is_not(b))
        return complementary(a->a, b->a);
    if (!is_comparison(a) || !is_comparison(b))
        return false;
    enum ast_binary negated = comparisons[a->binary].negated;
    return (b->binary == negated && same_expr(a->a, b->a) && same_expr(a->b, b->b)) ||
           (b->binary == comparisons[negated].mirrored && same_expr(a->a, b->b) &&
            same_expr(a->b, b->a));
}

/* Guards that combine comparisons of few scalars with constants by && || !: between two constants that
 * occur the truth of all of them is the same, so the values next to the constants are all that count. */
enum { SCALARS_MAX = 2, CONSTANTS_MAX = 32, VALUES_MAX = 3 * CONSTANTS_MAX };

struct scalar {
    const struct ast_expr *expr; /* a variable or a builtin */
    uint32_t count;
    int32_t values[VALUES_MAX];
    int32_t value; /* that is tried now */
};

struct domain {
    uint32_t count;
    struct scalar scalars[SCALARS_MAX];
};

static bool is_scalar(const struct ast_expr *e)
{
    return e->kind == EXPR_VAR || e->kind == EXPR_BUILTIN;
}

static struct scalar *find_scalar(struct domain *domain, const struct ast_expr *e)
{
    for (uint32_t i = 0; i < domain->count; i++)
        if (same_expr(domain->scalars[i].expr, e))
            return &domain->scalars[i];
    if (domain->count == SCALARS_MAX)
        return NULL;
    struct scalar *scalar = &domain->scalars[domain->count++];
    *scalar = (struct scalar){.expr = e};
    return scalar;
}

/* What a builtin can be: [0, most]. */
static int32_t most_of(const struct ast_launch *launch, enum ast_builtin builtin, int32_t *least)
{
    *least = 0;
    switch (builtin) {
    case BUILTIN_TID:
        return (int32_t)launch->threads - 1;
    case BUILTIN_LANE:
        return (int32_t)(launch->threads < launch->warp ? launch->threads : launch->warp) - 1;
    case BUILTIN_WARP:
        return (int32_t)((launch->threads - 1) / launch->warp);
    case BUILTIN_BID:
        return (int32_t)launch->blocks - 1;
    case BUILTIN_THREADS:
        return *least = (int32_t)launch->threads;
    case BUILTIN_WARP_SIZE:
        return *least = (int32_t)launch->warp;
    case BUILTIN_BLOCKS:
        return *least = (int32_t)launch->blocks;
    case BUILTIN_COUNT:
        break;
    }
    return INT32_MAX;
}

/* The constant, its neighbours; for a builtin moved into its range. */
static bool add_values(const struct ast_launch *launch, struct scalar *scalar, int32_t constant)
{
    int32_t least = INT32_MIN, most = INT32_MAX;
    if (scalar->expr->kind == EXPR_BUILTIN)
        most = most_of(launch, scalar->expr->builtin, &least);
    if (scalar->count + 3 > VALUES_MAX)
        return false;
    for (int64_t value = (int64_t)constant - 1; value <= (int64_t)constant + 1; value++) {
        int64_t fits = value < least ? least : value > most ? most : value;
        scalar->values[scalar->count++] = (int32_t)fits;
    }
    return true;
}

/* Collects scalars and constants; false: the guard has another shape. */
static bool collect(const struct ast_launch *launch, struct domain *domain,
                    const struct ast_expr *e)
{
    if (e->kind == EXPR_INT)
        return true;
    if (is_not(e))
        return collect(launch, domain, e->a);
    const struct ast_expr *scalar = e, *constant = NULL;
    if (e->kind == EXPR_BINARY) {
        if (e->binary == BINARY_LOGICAL_AND || e->binary == BINARY_LOGICAL_OR)
            return collect(launch, domain, e->a) && collect(launch, domain, e->b);
        bool exchanged = e->a->kind == EXPR_INT;
        scalar = exchanged ? e->b : e->a;
        constant = exchanged ? e->a : e->b;
        if (!is_comparison(e) || constant->kind != EXPR_INT)
            return false;
    }
    if (!is_scalar(scalar))
        return false;
    struct scalar *found = find_scalar(domain, scalar);
    return found && add_values(launch, found, constant ? constant->value : 0);
}

static bool scalar_value(void *context, const struct ast_expr *leaf, int32_t *value)
{
    *value = find_scalar(context, leaf)->value;
    return true;
}

/* collect refuses guards of another shape. */
static int32_t value_of(struct domain *domain, const struct ast_expr *e)
{
    int32_t value = 0;
    (void)ast_value(e, scalar_value, domain, &value);
    return value;
}

static uint32_t count_holding(struct domain *domain, const struct ast_expr *const *guards,
                              uint32_t count)
{
    uint32_t holding = 0;
    for (uint32_t i = 0; i < count; i++)
        holding += value_of(domain, guards[i]) != 0;
    return holding;
}

/* Whether at least one guard holds whatever the values are, and at most `most`. */
static enum well_formed try_values(const struct ast_launch *launch,
                                   const struct ast_expr *const *guards, uint32_t count,
                                   uint32_t most)
{
    struct domain domain = {.count = 0};
    for (uint32_t i = 0; i < count; i++)
        if (!collect(launch, &domain, guards[i]))
            return WELL_FORMED_UNKNOWN;
    bool builtins = domain.count == 2 && domain.scalars[0].expr->kind == EXPR_BUILTIN &&
                    domain.scalars[1].expr->kind == EXPR_BUILTIN;
    struct scalar *first = &domain.scalars[0], *second = &domain.scalars[1];
    for (uint32_t i = 0; i < (domain.count > 0 ? first->count : 1); i++)
        for (uint32_t j = 0; j < (domain.count > 1 ? second->count : 1); j++) {
            first->value = first->values[i];
            second->value = second->values[j];
            uint32_t holding = count_holding(&domain, guards, count);
            if (holding == 0 || holding > most)
                return builtins ? WELL_FORMED_UNKNOWN : ILL_FORMED; /* they depend on each other */
        }
    return WELL_FORMED;
}

/* Whether in every private store one of the guards holds. */
static enum well_formed covers(const struct ast_launch *launch,
                               const struct ast_expr *const *guards, uint32_t count)
{
    enum { PAIRED_MAX = 256 }; /* guards among which pairs are looked for */
    for (uint32_t i = 0; i < count; i++) {
        if (guards[i]->kind == EXPR_INT && guards[i]->value != 0)
            return WELL_FORMED;
        for (uint32_t j = 0; j < i && i < PAIRED_MAX; j++)
            if (complementary(guards[i], guards[j]))
                return WELL_FORMED;
    }
    return try_values(launch, guards, count, count);
}

bool guards_decide(const struct ast_launch *launch, const struct ast_expr *const *guards,
                   uint32_t count)
{
    if (count == 2 && complementary(guards[0], guards[1]))
        return true;
    return try_values(launch, guards, count, 1) == WELL_FORMED;
}

/* ---- the definition ---- */

struct checking {
    struct arena *arena;
    const struct ast_kernel *kernel;
    enum well_formed verdict;
    const char *reason;
    struct location at;
};

/* Keeps the first of the worst. */
static void say(struct checking *c, enum well_formed verdict, struct location at,
                const char *reason)
{
    if (verdict <= c->verdict)
        return;
    c->verdict = verdict;
    c->reason = reason;
    c->at = at;
}

/* The guard of a block; NULL: true (B-15, and blocks without a leading assume). */
static const struct ast_expr *guard_of(const struct ast_block *block)
{
    return block && block->body && block->body->kind == STM_ASSUME ? block->body->value : NULL;
}

/* WF.0: the guard of the entry is true (B-14); for procedures likewise, since a call is no goto. */
static void check_entry(struct checking *c, const struct ast_block *entry)
{
    const struct ast_expr *guard = guard_of(entry);
    if (guard)
        say(c, covers(&c->kernel->launch, &guard, 1), entry->body->at,
            arena_printf(c->arena, "WF.0: the guard of '%s' is not true", entry->name));
}

/* WF.1: the leading assume reads private variables only. */
static void check_guard(struct checking *c, const struct ast_block *block)
{
    const struct ast_expr *guard = guard_of(block);
    if (guard && ast_reads_shared(guard))
        say(c, ILL_FORMED, block->body->at,
            arena_printf(c->arena,
                         "WF.1: the guard of '%s' at line %u is not on private variables only",
                         block->name, (unsigned)block->body->at.line));
}

/* WF.2: no other assume. */
static void check_body(struct checking *c, const struct ast_block *block)
{
    const struct ast_stm *stm = guard_of(block) ? block->body->next : block->body;
    for (; stm; stm = stm->next)
        if (stm->kind == STM_ASSUME)
            say(c, ILL_FORMED, stm->at,
                arena_printf(c->arena, "WF.2: a second assume at line %u", (unsigned)stm->at.line));
}

/* WF.3: in every private store the guard of some target holds. */
static void check_targets(struct checking *c, const struct ast_block *block)
{
    const struct ast_expr **guards =
        ARENA_ARRAY(c->arena, const struct ast_expr *, block->target_count);
    for (uint32_t i = 0; i < block->target_count; i++) {
        guards[i] = guard_of(block->targets[i]);
        if (!guards[i])
            return;
    }
    enum well_formed verdict = covers(&c->kernel->launch, guards, block->target_count);
    if (verdict == WELL_FORMED)
        return;
    say(c, verdict, block->at,
        arena_printf(
            c->arena,
            verdict == ILL_FORMED
                ? "WF.3: where '%s' ends, the guards of its targets may all be false"
                : "WF.3: not known whether the guards of the targets of '%s' cover everything",
            block->name));
}

static void check_function(struct checking *c, const struct ast_function *function)
{
    if (function->blocks)
        check_entry(c, function->blocks);
    for (const struct ast_block *block = function->blocks; block; block = block->next) {
        check_guard(c, block);
        check_body(c, block);
        if (!block->returns)
            check_targets(c, block);
    }
}

enum well_formed well_formed(struct arena *arena, const struct ast_kernel *kernel,
                             const char **reason, struct location *at)
{
    struct checking c = {.arena = arena, .kernel = kernel, .verdict = WELL_FORMED};
    check_function(&c, kernel->main);
    for (const struct ast_function *f = kernel->functions; f; f = f->next)
        check_function(&c, f);
    *reason = c.reason;
    *at = c.at;
    return c.verdict;
}
