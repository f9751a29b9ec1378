#include "oracle/drawn/words.h"

const char *const words_of_unary[] = {
    [UNARY_NEG] = "negative", [UNARY_NOT] = "not", [UNARY_COMPLEMENT] = "complement"};

const char *const words_of_binary[BINARY_COUNT] = {
    [BINARY_MUL] = "times",    [BINARY_DIV] = "divided",      [BINARY_REM] = "rest",
    [BINARY_ADD] = "plus",     [BINARY_SUB] = "minus",        [BINARY_SHL] = "left",
    [BINARY_SHR] = "right",    [BINARY_LT] = "less",          [BINARY_LE] = "at-most",
    [BINARY_GT] = "greater",   [BINARY_GE] = "at-least",      [BINARY_EQ] = "equal",
    [BINARY_NE] = "different", [BINARY_AND] = "bits-and",     [BINARY_XOR] = "bits-xor",
    [BINARY_OR] = "bits-or",   [BINARY_LOGICAL_AND] = "both", [BINARY_LOGICAL_OR] = "either",
};

const char *const words_of_assignment[ASSIGN_COUNT] = {
    [ASSIGN_SET] = "set",          [ASSIGN_ADD] = "set-plus",     [ASSIGN_SUB] = "set-minus",
    [ASSIGN_MUL] = "set-times",    [ASSIGN_XOR] = "set-bits-xor", [ASSIGN_OR] = "set-bits-or",
    [ASSIGN_AND] = "set-bits-and",
};

const char *const words_of_atomic[ATOMIC_COUNT] = {
    [ATOMIC_ADD] = "adds",        [ATOMIC_MIN] = "lowers", [ATOMIC_MAX] = "raises",
    [ATOMIC_AND] = "ands",        [ATOMIC_OR] = "ors",     [ATOMIC_EXCH] = "replaces",
    [ATOMIC_CAS] = "replaces-if",
};

const char *const words_of_vote[VOTE_COUNT] = {[VOTE_ALL] = "all-vote",
                                               [VOTE_ANY] = "any-votes",
                                               [VOTE_UNI] = "alike",
                                               [VOTE_BALLOT] = "mask"};

const char *const words_of_builtin[BUILTIN_COUNT] = {
    [BUILTIN_TID] = "my-thread",      [BUILTIN_THREADS] = "thread-count",
    [BUILTIN_LANE] = "my-lane",       [BUILTIN_WARP] = "my-warp",
    [BUILTIN_WARP_SIZE] = "lanes",    [BUILTIN_BID] = "my-block",
    [BUILTIN_BLOCKS] = "block-count",
};

const char *const words_of_space[SPACE_COUNT] = {[SPACE_GLOBAL] = "of-grid",
                                                 [SPACE_SHARED] = "of-block",
                                                 [SPACE_PRIVATE] = "of-thread",
                                                 [SPACE_LOCAL] = "of-frame"};

const char *const words_of_claim[CLAIM_COUNT] = {
    [CLAIM_RACE_FREE] = "no-race",
    [CLAIM_RACE] = "races",
    [CLAIM_TERMINATES] = "ends",
    [CLAIM_NONTERMINATING] = "runs-for-ever",
    [CLAIM_BARRIER_DIVERGENCE] = "apart",
    [CLAIM_ASSERT_FAILS] = "fails",
    [CLAIM_OUT_OF_BOUNDS] = "outside",
    [CLAIM_DEADLOCK] = "waits",
    [CLAIM_UNFAIR] = "starves",
    [CLAIM_STUCK] = "no-rule",
    [CLAIM_FINAL] = "holds",
    [CLAIM_CALL_DEPTH] = "deep",
    [CLAIM_INFEASIBLE] = "assumed-away",
    [CLAIM_BARRIER_ERROR] = "barrier-misused",
};

static void put(struct text *out, const char *word)
{
    text_put(out, word);
    text_put(out, " ");
}

static void put_number(struct text *out, int64_t value)
{
    text_format(out, "%lld ", (long long)value);
}

/* Variables of a function may hide those of the file: which one it is. */
static void put_name(struct text *out, const struct ast_var *var)
{
    put(out, words_of_space[var->space]);
    put(out, var->name);
}

/* ---- expressions ---- */

static void put_expr(struct text *out, const struct ast_expr *e)
{
    switch (e->kind) {
    case EXPR_INT:
        put_number(out, e->value);
        break;
    case EXPR_VAR:
        put_name(out, e->var);
        break;
    case EXPR_INDEX:
        put(out, "element");
        put_name(out, e->var);
        break;
    case EXPR_BUILTIN:
        put(out, words_of_builtin[e->builtin]);
        break;
    case EXPR_UNARY:
        put(out, words_of_unary[e->unary]);
        break;
    case EXPR_BINARY:
        put(out, words_of_binary[e->binary]);
        break;
    case EXPR_COND:
        put(out, "choose");
        break;
    case EXPR_ALL:
        put(out, "for-all");
        break;
    case EXPR_ANY:
        put(out, "for-any");
        break;
    }
    const struct ast_expr *const parts[] = {e->a, e->b, e->c};
    for (uint32_t i = 0; i < 3; i++)
        if (parts[i])
            put_expr(out, parts[i]);
}

static void put_exprs(struct text *out, const struct ast_expr *list)
{
    put(out, "{");
    for (; list; list = list->next)
        put_expr(out, list);
    put(out, "}");
}

/* Or "-": there is none. */
static void put_maybe(struct text *out, const struct ast_expr *e)
{
    if (e)
        put_expr(out, e);
    else
        put(out, "-");
}

static void put_place(struct text *out, const struct ast_lvalue *place)
{
    if (place->index)
        put(out, "element");
    if (place->var)
        put_name(out, place->var);
    else
        put(out, "-");
    if (place->index)
        put_expr(out, place->index);
}

/* ---- statements ---- */

static void put_stms(struct text *out, const struct ast_stm *list);
static void put_stm(struct text *out, const struct ast_stm *s);

/* Braces that hold all of a part are the part's own. */
static void put_part(struct text *out, const struct ast_stm *part)
{
    while (part && part->kind == STM_BLOCK && !part->next)
        part = part->body;
    put_stms(out, part);
}

static void put_cases(struct text *out, const struct ast_case *c)
{
    put(out, "{");
    for (; c; c = c->next) {
        if (c->is_default)
            put(out, "otherwise");
        else
            put_number(out, c->value);
        put_stms(out, c->body);
    }
    put(out, "}");
}

static void put_for(struct text *out, const struct ast_stm *s)
{
    put(out, "for");
    put_stms(out, s->init);
    put_maybe(out, s->value);
    put_stms(out, s->step);
    put_part(out, s->body);
}

static void put_operation(struct text *out, const char *word, const struct ast_stm *s)
{
    put(out, word);
    put_maybe(out, s->value);
    put_maybe(out, s->second);
}

static void put_kind(struct text *out, const struct ast_stm *s)
{
    switch (s->kind) {
    case STM_SKIP:
        put(out, "skip");
        break;
    case STM_ASSIGN:
        put(out, words_of_assignment[s->op]);
        put_place(out, &s->target);
        put_expr(out, s->value);
        break;
    case STM_CALL:
        put(out, "call");
        put_place(out, &s->target);
        put(out, s->function->name);
        put_exprs(out, s->arguments);
        put_exprs(out, s->outs);
        break;
    case STM_BLOCK:
        put_stms(out, s->body);
        break;
    case STM_IF:
        put(out, "if");
        put_expr(out, s->value);
        put_part(out, s->body);
        put_part(out, s->other);
        break;
    case STM_WHILE:
        put(out, "while");
        put_expr(out, s->value);
        put_part(out, s->body);
        break;
    case STM_DO:
        put(out, "do");
        put_part(out, s->body);
        put_expr(out, s->value);
        break;
    case STM_FOR:
        put_for(out, s);
        break;
    case STM_SWITCH:
        put(out, "switch");
        put_expr(out, s->value);
        put_cases(out, s->cases);
        break;
    case STM_BREAK:
        put(out, "leave");
        break;
    case STM_CONTINUE:
        put(out, "again");
        break;
    case STM_RETURN:
        put_operation(out, "return", s);
        break;
    case STM_EXIT:
        put(out, "exit");
        break;
    case STM_BARRIER:
        put(out, "barrier");
        break;
    case STM_SYNC:
        put_operation(out, "meet", s);
        break;
    case STM_ARRIVE:
        put_operation(out, "arrive", s);
        break;
    case STM_ATOMIC:
        put(out, words_of_atomic[s->atomic]);
        put_place(out, &s->target);
        put_place(out, &s->place);
        put_exprs(out, s->arguments);
        break;
    case STM_VOTE:
        put(out, words_of_vote[s->vote]);
        put_place(out, &s->target);
        put_expr(out, s->value);
        break;
    case STM_ASSERT:
        put_operation(out, s->annotation ? "invariant" : "assert", s);
        break;
    case STM_ASSUME:
        put_operation(out, s->annotation ? "requires" : "assume", s);
        break;
    case STM_HAVOC:
        put(out, "anything");
        put_place(out, &s->place);
        break;
    case STM_MEMBAR:
        put(out, "fence");
        break;
    case STM_PICK:
        put(out, "pick");
        put_place(out, &s->target);
        put_exprs(out, s->arguments);
        break;
    case STM_LOCKSYNC:
        put_operation(out, "all-meet", s);
        break;
    case STM_KIND_COUNT:
        break;
    }
}

static void put_stm(struct text *out, const struct ast_stm *s)
{
    if (s->guard) {
        put(out, "guarded");
        put_expr(out, s->guard);
    }
    put_kind(out, s);
}

static void put_stms(struct text *out, const struct ast_stm *list)
{
    put(out, "{");
    for (; list; list = list->next)
        put_stm(out, list);
    put(out, "}");
}

/* ---- kernels ---- */

static void put_var(struct text *out, const struct ast_var *var)
{
    put(out, var->is_out ? "out" : var->is_parameter ? "in" : words_of_space[var->space]);
    put(out, var->is_input ? "drawn" : "given");
    put(out, var->name);
    put_number(out, var->is_array ? var->length : 0);
    put(out, "{");
    for (uint32_t i = 0; i < var->init_count; i++)
        put_number(out, var->init[i]);
    put(out, "}");
}

static void put_block(struct text *out, const struct ast_block *block)
{
    put(out, "block");
    put(out, block->name);
    put_stms(out, block->body);
    put(out, block->returns ? "return" : "to");
    put(out, "{");
    for (uint32_t i = 0; i < block->target_count; i++)
        put(out, block->targets[i] ? block->targets[i]->name : "End");
    put(out, "}");
}

static void put_function(struct text *out, const struct ast_function *f)
{
    put(out, f->returns_int ? "function" : "procedure");
    put(out, f->name);
    for (const struct ast_var *var = f->locals; var; var = var->next)
        put_var(out, var);
    put_stms(out, f->body);
    for (const struct ast_block *block = f->blocks; block; block = block->next)
        put_block(out, block);
}

static void put_claims(struct text *out, const struct ast_kernel *kernel)
{
    const struct ast_expect *before = NULL;
    for (const struct ast_expect *e = kernel->expects; e; before = e, e = e->next) {
        put(out, before && before->group == e->group ? "and" : "claim");
        put(out, e->subject ? e->subject : "-");
        put(out, words_of_claim[e->claim]);
        put(out, e->var ? e->var->name : "-");
        put(out, "{");
        for (uint32_t i = 0; i < e->value_count; i++)
            put_number(out, e->values[i]);
        put(out, "}");
    }
    for (const struct ast_progress *p = kernel->progress; p; p = p->next)
        text_format(out, "row %d %d %s ", (int)p->ending, (int)p->unit, p->model ? p->model : "-");
    text_format(out, "within %u ", (unsigned)kernel->progress_states);
}

const char *words_of_kernel(struct arena *arena, const struct ast_kernel *kernel)
{
    static const char *const forms[] = {[FORM_STRUCTURED] = "structured",
                                        [FORM_BLOCKS] = "of-blocks",
                                        [FORM_LOCKSTEP] = "in-lock-step",
                                        [FORM_PTX] = "in-ptx"};
    const struct ast_launch *launch = &kernel->launch;
    const struct cache_sizes *caches = &launch->caches;
    struct text out = text_begin(arena);
    text_format(&out, "%s launch %u %u %u %llu caches %u %u %u %u %u ", forms[kernel->form],
                (unsigned)launch->threads, (unsigned)launch->warp, (unsigned)launch->blocks,
                (unsigned long long)launch->seed, (unsigned)caches->lines, (unsigned)caches->words,
                (unsigned)caches->sets, (unsigned)caches->sms, (unsigned)caches->policy);
    if (kernel->form == FORM_PTX) {
        words_put_ptx(&out, kernel);
    } else {
        for (const struct ast_var *var = kernel->vars; var; var = var->next)
            put_var(&out, var);
        for (const struct ast_function *f = kernel->functions; f; f = f->next)
            put_function(&out, f);
        put_function(&out, kernel->main);
    }
    put_claims(&out, kernel);
    return out.bytes;
}
