#include "fuzz/corpus/distill_claims.h"

#include "oracle/check/check.h"

#include <string.h>

enum { FINAL_VALUES_MAX = 32 }; /* of all claimed variables together: files stay small */

struct claims {
    struct arena *arena;
    struct ast_kernel *kernel;
    struct ast_expect *last;
    bool may_hang;
};

static void append(struct claims *claims, struct ast_expect *expect)
{
    expect->next = NULL;
    if (claims->last)
        claims->last->next = expect;
    else
        claims->kernel->expects = expect;
    claims->last = expect;
}

static struct ast_expect *add(struct claims *claims, enum ast_claim claim, const char *subject)
{
    struct ast_expect *expect = ARENA_NEW(claims->arena, struct ast_expect);
    *expect = (struct ast_expect){.claim = claim, .subject = subject};
    append(claims, expect);
    return expect;
}

/* Whether a check can confirm the claim. */
static bool is_open(const struct claims *claims, uint32_t claim)
{
    return claim != CLAIM_FINAL && !(claim == CLAIM_TERMINATES && claims->may_hang);
}

static void add_all(struct claims *claims, const char *subject)
{
    for (uint32_t claim = 0; claim < CLAIM_COUNT; claim++)
        if (is_open(claims, claim) && claim != CLAIM_UNFAIR)
            add(claims, (enum ast_claim)claim, subject);
}

/* What `directions` takes for how every execution ends, where a check's claim is about some. */
static bool is_end(enum ast_claim claim)
{
    return claim != CLAIM_RACE_FREE && claim != CLAIM_RACE && claim != CLAIM_TERMINATES &&
           claim != CLAIM_NONTERMINATING && claim != CLAIM_UNFAIR && claim != CLAIM_FINAL;
}

/* Checks with all claims and keeps those that are met, until all are - what one is about can depend on
 * another (expect.c, is_about) - and no oracle takes one for more than it says. */
static void keep_met(struct claims *claims, struct check_result *result)
{
    for (bool all = false; !all;) {
        check_kernel(claims->arena, claims->kernel, &CHECK_DEFAULTS, result);
        bool diverges = check_divergences(result, false) > 0;
        struct ast_expect *expect = claims->kernel->expects, *next;
        claims->kernel->expects = claims->last = NULL;
        all = true;
        for (uint32_t i = 0; i < result->claim_count; i++, expect = next) {
            next = expect->next;
            if (result->claims[i].met && !(diverges && is_end(expect->claim)))
                append(claims, expect);
            else
                all = false;
        }
    }
}

static bool has(const struct claims *claims, enum ast_claim claim, const struct ast_var *var)
{
    for (const struct ast_expect *e = claims->kernel->expects; e; e = e->next)
        if (e->claim == claim && !e->subject && e->var == var)
            return true;
    return false;
}

static const struct code_var *placed(const struct program *program, const struct ast_var *var)
{
    for (uint32_t i = 0; i < program->var_count; i++)
        if (strcmp(program->vars[i].ast->name, var->name) == 0)
            return &program->vars[i];
    return NULL;
}

/* The first final store that was seen, variable by variable. */
static void add_finals(struct claims *claims, const struct check_result *result)
{
    uint32_t s = 0, values = 0;
    while (s < SUBJECT_COUNT && result->runs[s].final_count == 0)
        s++;
    if (s == SUBJECT_COUNT)
        return;
    const struct program *program = result->runs[s].program;
    for (struct ast_var *var = claims->kernel->vars; var; var = var->next) {
        const struct code_var *at = placed(program, var);
        bool global = var->space == SPACE_GLOBAL;
        if (!at || (!global && var->space != SPACE_SHARED) ||
            values + var->length > FINAL_VALUES_MAX || has(claims, CLAIM_FINAL, var))
            continue;
        const int32_t *store = result->runs[s].finals[0] + at->offset;
        struct ast_expect *expect = add(claims, CLAIM_FINAL, NULL);
        expect->var = var;
        expect->value_count = var->length;
        expect->values = ARENA_ARRAY(claims->arena, int32_t, var->length);
        memcpy(expect->values, store + (global ? 0 : program->shared_base),
               var->length * sizeof *store);
        values += var->length;
    }
}

bool distill_claims(struct arena *arena, struct ast_kernel *kernel, bool may_hang)
{
    struct claims claims = {.arena = arena, .kernel = kernel, .may_hang = may_hang};
    struct check_result *result = ARENA_NEW(arena, struct check_result);
    struct ast_expect *own = kernel->expects, *next;
    kernel->expects = NULL;
    for (; own; own = next) {
        next = own->next;
        append(&claims, own);
    }
    for (uint32_t claim = 0; claim < CLAIM_COUNT; claim++)
        if (is_open(&claims, claim) && !has(&claims, (enum ast_claim)claim, NULL))
            add(&claims, (enum ast_claim)claim, NULL);
    keep_met(&claims, result);
    /* Only where stores are compared: what the order of atomics decides holds for the schedules of this check. */
    if (result->answers[ORACLE_RESULT].verdict == VERDICT_AGREE &&
        has(&claims, CLAIM_RACE_FREE, NULL) && has(&claims, CLAIM_TERMINATES, NULL)) {
        add_finals(&claims, result);
        keep_met(&claims, result);
    }
    for (uint32_t s = 0; s < SUBJECT_COUNT && !kernel->expects; s++) {
        if (!(SUBJECTS_DEFAULT & SUBJECT_BIT(s)))
            continue;
        add_all(&claims, subject_table[s].name);
        keep_met(&claims, result);
    }
    return kernel->expects != NULL;
}
