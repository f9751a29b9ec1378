#include "oracle/check/expect.h"

#include "oracle/check/evidence.h"

#include <string.h>

/* ---- final values ---- */

struct final_claim {
    const struct ast_expect *expect;
    const char *bad;                  /* why the claim makes no sense, or NULL */
    uint32_t base;                    /* of the first copy */
    uint32_t copies, stride;          /* shared: one for each block */
    uint32_t length;                  /* elements of a copy */
    bool seen[SUBJECT_COUNT];         /* a terminated execution was looked at */
    const char *other[SUBJECT_COUNT]; /* what one ended with instead */
};

struct final_claims {
    struct arena *arena;
    const struct program *program;
    uint32_t count;
    struct final_claim *items;
};

/* The core kernel has variables of its own: the one of the same name. */
static const struct code_var *find_var(const struct program *program, const char *name)
{
    for (uint32_t i = 0; i < program->var_count; i++)
        if (strcmp(program->vars[i].ast->name, name) == 0)
            return &program->vars[i];
    return NULL;
}

static void place_claim(struct final_claim *claim, const struct program *p,
                        const struct code_var *var)
{
    const struct ast_expect *expect = claim->expect;
    const struct ast_var *ast = var->ast;
    claim->length = ast->length;
    claim->copies = 1;
    if (ast->space == SPACE_GLOBAL) {
        claim->base = var->offset;
    } else if (ast->space == SPACE_SHARED) {
        claim->base = p->shared_base + var->offset;
        claim->copies = p->launch.blocks;
        claim->stride = p->words[SPACE_SHARED];
    } else {
        claim->bad = "only global and shared variables have final values";
    }
    if (p->form == FORM_PTX && expect->value_count < claim->length)
        claim->length = expect->value_count; /* the first words */
    if (!claim->bad && expect->value_count != claim->length)
        claim->bad = "the claim has another number of values than the variable";
}

struct final_claims *expect_prepare(struct checking *c)
{
    uint32_t count = 0;
    for (const struct ast_expect *e = c->kernel->expects; e; e = e->next)
        count += e->claim == CLAIM_FINAL;
    if (count == 0)
        return NULL;
    struct final_claims *claims = ARENA_NEW(c->arena, struct final_claims);
    claims->arena = c->arena;
    claims->program = c->result->program;
    claims->items = ARENA_ARRAY(c->arena, struct final_claim, count);
    for (const struct ast_expect *e = c->kernel->expects; e; e = e->next) {
        if (e->claim != CLAIM_FINAL)
            continue;
        struct final_claim *claim = &claims->items[claims->count++];
        const struct code_var *var = find_var(c->result->program, e->var->name);
        claim->expect = e;
        if (var)
            place_claim(claim, c->result->program, var);
        else
            claim->bad = "the kernel has no such variable at file level";
    }
    return claims;
}

static void observe_claim(struct final_claims *claims, struct final_claim *claim,
                          enum subject_id subject, const int32_t *memory)
{
    const struct ast_expect *expect = claim->expect;
    claim->seen[subject] = true;
    if (claim->other[subject])
        return;
    for (uint32_t copy = 0; copy < claim->copies; copy++)
        for (uint32_t i = 0; i < claim->length; i++) {
            uint32_t address = claim->base + copy * claim->stride + i;
            if (memory[address] == expect->values[i])
                continue;
            claim->other[subject] = arena_printf(
                claims->arena, "an execution ends with %s == %d",
                program_location_name(claims->arena, claims->program, address), memory[address]);
            return;
        }
}

void expect_observe(struct final_claims *claims, enum subject_id subject, const int32_t *memory)
{
    if (!claims)
        return;
    for (uint32_t i = 0; i < claims->count; i++) {
        struct final_claim *claim = &claims->items[i];
        if (!claim->bad && subject_matches(claim->expect->subject, subject))
            observe_claim(claims, claim, subject, memory);
    }
}

/* ---- claims about one subject: NULL when met, or what was seen instead ---- */

const char *expect_judge_final(const struct checking *c, const struct ast_expect *expect,
                               enum subject_id subject)
{
    for (uint32_t i = 0; i < c->finals->count; i++) {
        const struct final_claim *claim = &c->finals->items[i];
        if (claim->expect != expect)
            continue;
        if (claim->bad)
            return claim->bad;
        return claim->seen[subject] ? claim->other[subject] : "no explored execution terminates";
    }
    return "the claim was not looked at";
}

static const char *judge_race_free(const struct checking *c, const struct check_run *run)
{
    if (run->race)
        return evidence_race_sentence(c->arena, run->program, &run->witness);
    return run->race_incomplete ? "the race detector ran out of room" : run->race_unknown;
}

static const char *judge_race_on(const struct checking *c, const struct check_run *run,
                                 const struct ast_expect *expect)
{
    if (!run->race)
        return "no explored execution has a race";
    if (!expect->var)
        return NULL;
    const struct code_var *var = find_var(run->program, expect->var->name);
    if (var && run->racy_vars[var - run->program->vars])
        return NULL;
    return arena_printf(c->arena, "no explored execution has a race on %s (but %s)",
                        expect->var->name,
                        evidence_race_sentence(c->arena, run->program, &run->witness));
}

/* "3 assert_fails, 1 step_limit": how the executions ended that did not end so. */
static const char *other_ends(const struct checking *c, const struct check_run *run,
                              enum status status)
{
    const char *text = "";
    for (uint32_t s = 0; s < STATUS_COUNT; s++)
        if (s != (uint32_t)status && run->statuses[s])
            text = arena_printf(c->arena, "%s%s%u %s", text, *text ? ", " : "", run->statuses[s],
                                status_names[s]);
    return *text ? text : "no execution";
}

/* Every explored execution that starves nobody ends, and without an error. One that spent its budget
 * while it starved an actor is no counterexample. */
static const char *judge_terminates(const struct checking *c, const struct check_run *run)
{
    uint32_t starved = run->statuses[STATUS_STEP_LIMIT] - run->fair_cut;
    uint32_t counted = run->statuses[STATUS_TERMINATED] + starved;
    if (run->fair_lasso)
        return "an execution that starves nobody never ends (proven lasso)";
    if (run->statuses[STATUS_TERMINATED] == 0 || counted != run->schedules)
        return arena_printf(c->arena, "executions ended so: %s",
                            other_ends(c, run, STATUS_TERMINATED));
    return NULL;
}

static const char *judge_status(const struct checking *c, const struct check_run *run,
                                enum status status)
{
    if (run->statuses[status])
        return NULL;
    return arena_printf(c->arena, "executions ended so: %s", other_ends(c, run, status));
}

static const char *judge_subject(const struct checking *c, const struct ast_expect *expect,
                                 enum subject_id subject)
{
    const struct check_run *run = &c->result->runs[subject];
    switch (expect->claim) {
    case CLAIM_RACE_FREE:
        return judge_race_free(c, run);
    case CLAIM_RACE:
        return judge_race_on(c, run, expect);
    case CLAIM_TERMINATES:
        return judge_terminates(c, run);
    case CLAIM_NONTERMINATING:
        return run->fair_lasso ? NULL : "no lasso that starves nobody was found";
    case CLAIM_BARRIER_DIVERGENCE:
        return judge_status(c, run, STATUS_BARRIER_DIVERGENCE);
    case CLAIM_ASSERT_FAILS:
        return judge_status(c, run, STATUS_ASSERT_FAILS);
    case CLAIM_OUT_OF_BOUNDS:
        return judge_status(c, run, STATUS_OUT_OF_BOUNDS);
    case CLAIM_CALL_DEPTH:
        return judge_status(c, run, STATUS_CALL_DEPTH);
    case CLAIM_INFEASIBLE:
        return judge_status(c, run, STATUS_INFEASIBLE);
    case CLAIM_BARRIER_ERROR:
        return judge_status(c, run, STATUS_BARRIER_ERROR);
    case CLAIM_DEADLOCK:
        return judge_status(c, run, STATUS_DEADLOCK);
    case CLAIM_STUCK:
        return judge_status(c, run, STATUS_STUCK);
    case CLAIM_FINAL:
        return expect_judge_final(c, expect, subject);
    case CLAIM_UNFAIR:
        return c->unfair[subject] ? NULL : "no unfairness was found";
    case CLAIM_COUNT:
        break;
    }
    return "unknown claim";
}

/* ---- over all subjects that a claim is about ---- */

/* `unfair` is a claim about warps against threads: without a subject, some order of the paths. */
static const char *judge_unfair(const struct checking *c, const struct ast_expect *expect)
{
    for (uint32_t s = 0; s < SUBJECT_COUNT; s++)
        if (c->unfair[s] && subject_matches(expect->subject, (enum subject_id)s))
            return NULL;
    return "no warp execution was proven to be infinite while every fair schedule of the threads "
           "ends";
}

static bool is_subject(const char *name)
{
    enum subject_id subject;
    return subject_parse(name, strlen(name), &subject);
}

bool expect_is_of_proof(const struct ast_expect *expect, bool *any)
{
    *any = expect->subject && strcmp(expect->subject, "prove:any") == 0;
    return *any || (expect->subject && strcmp(expect->subject, "prove") == 0);
}

bool expect_is_asked(const struct ast_expect *expect, subject_set subjects, const char **why)
{
    bool any;
    *why = "it is for `simtfuzz prove`";
    if (expect_is_of_proof(expect, &any))
        return false;
    *why = NULL;
    if (expect->subject && !is_subject(expect->subject))
        return true; /* and fails: see judge_claim */
    *why = "the claim compares warps with threads: it needs the subject threads, or block";
    if (expect->claim == CLAIM_UNFAIR &&
        !(subjects & (SUBJECT_BIT(SUBJECT_THREADS) | SUBJECT_BIT(SUBJECT_BLOCK))))
        return false;
    *why = "its subject was not run";
    for (uint32_t s = 0; s < SUBJECT_COUNT; s++)
        if ((subjects & SUBJECT_BIT(s)) && subject_matches(expect->subject, (enum subject_id)s))
            return true;
    return false;
}

static bool claims_divergence(const struct ast_kernel *kernel)
{
    for (const struct ast_expect *e = kernel->expects; e; e = e->next)
        if (e->claim == CLAIM_BARRIER_DIVERGENCE)
            return true;
    return false;
}

/* Whether a claim is about a subject. Barriers of PTX see no divergence: a kernel that is said to end with it
 * goes on there, as another kernel, so claims about all subjects are about the others. */
static bool is_about(const struct checking *c, const struct ast_expect *expect,
                     enum subject_id subject)
{
    const struct semantics *vtable = subject_table[subject].vtable;
    if (!subject_matches(expect->subject, subject))
        return false;
    return expect->subject || c->kernel->form == FORM_PTX || !vtable || vtable->form != FORM_PTX ||
           !claims_divergence(c->kernel);
}

static const char *judge_claim(const struct checking *c, const struct ast_expect *expect)
{
    bool any;
    if (expect->subject && !expect_is_of_proof(expect, &any) && !is_subject(expect->subject))
        return arena_printf(c->arena, "there is no subject '%s'", expect->subject);
    const char *why;
    uint32_t ran = 0;
    const char *refused = "barriers of PTX see no divergence";
    bool suited = false; /* the reason is of a subject that the kernel is meant for */
    if (!expect_is_asked(expect, c->options->subjects, &why))
        return why;
    for (uint32_t s = 0; s < SUBJECT_COUNT; s++) {
        if (!(c->options->subjects & SUBJECT_BIT(s)) || !is_about(c, expect, (enum subject_id)s))
            continue;
        if (c->result->runs[s].reason) {
            if (!suited)
                refused = c->result->runs[s].reason;
            suited = suited || subject_suits((enum subject_id)s, c->kernel->form);
            continue;
        }
        ran++;
        if (expect->claim == CLAIM_UNFAIR)
            continue;
        why = judge_subject(c, expect, (enum subject_id)s);
        if (why)
            return arena_printf(c->arena, "%s: %s", subject_table[s].name, why);
    }
    if (ran == 0)
        return arena_printf(c->arena, "the kernel was refused: %s", refused);
    return expect->claim == CLAIM_UNFAIR ? judge_unfair(c, expect) : NULL;
}

void expect_judge(struct checking *c)
{
    struct check_result *result = c->result;
    for (const struct ast_expect *e = c->kernel->expects; e; e = e->next)
        result->claim_count++;
    result->claims = ARENA_ARRAY(c->arena, struct check_claim, result->claim_count);
    struct check_claim *claim = result->claims;
    for (const struct ast_expect *e = c->kernel->expects; e; e = e->next, claim++) {
        const char *why = judge_claim(c, e);
        *claim = (struct check_claim){.expect = e, .met = !why, .why = why};
    }
}
