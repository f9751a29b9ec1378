/*
 * emit_blocks.c - a kernel's basic blocks as JSON, for programs that interpret it: docs/protocol.md says the form.
 *
 * The blocks are those of `lower --to cfg`: calls are inlined, and a block with two targets is followed by two that
 * begin with a guard. All memory is one buffer: global variables, each block's shared ones, each thread's private ones.
 */
#include "engine/emit/emit_internal.h"

#include "engine/forms/lower.h"
#include "engine/forms/lower_cfg.h"
#include "engine/language/initial.h"

#include <string.h>

/* A thread's own words are private, whichever function declares them. */
enum place_kind { PLACE_GLOBAL, PLACE_SHARED, PLACE_PRIVATE, PLACE_COUNT };

struct printer {
    struct text *out;
    struct arena *arena;
    const struct ast_kernel *kernel;
    uint32_t words[PLACE_COUNT]; /* of one copy */
    const char *reason;
};

static enum place_kind kind_of(const struct ast_var *var)
{
    return var->space == SPACE_GLOBAL   ? PLACE_GLOBAL
           : var->space == SPACE_SHARED ? PLACE_SHARED
                                        : PLACE_PRIVATE;
}

static uint32_t copies_of(const struct ast_launch *launch, enum place_kind kind)
{
    const uint32_t copies[PLACE_COUNT] = {1, launch->blocks, launch->blocks * launch->threads};
    return copies[kind];
}

/* The first word of the first copy. */
static uint32_t base_of(const struct printer *p, uint32_t kind)
{
    uint32_t base = 0;
    for (uint32_t k = 0; k < kind; k++)
        base += p->words[k] * copies_of(&p->kernel->launch, (enum place_kind)k);
    return base;
}

/* Offsets go into the marks. */
static void place_list(struct printer *p, struct ast_var *list)
{
    for (struct ast_var *var = list; var; var = var->next) {
        var->mark = p->words[kind_of(var)];
        p->words[kind_of(var)] += var->length;
    }
}

static const int32_t *initial_words(const struct printer *p)
{
    const struct ast_launch *launch = &p->kernel->launch;
    int32_t *words = ARENA_ARRAY(p->arena, int32_t, base_of(p, PLACE_COUNT) + 1u);
    const struct ast_var *lists[] = {p->kernel->vars, p->kernel->main->locals};
    uint32_t number = 0;
    for (uint32_t l = 0; l < 2; l++)
        for (const struct ast_var *var = lists[l]; var; var = var->next) {
            enum place_kind kind = kind_of(var);
            language_init_variable(var, number++, launch->seed,
                                   words + base_of(p, kind) + var->mark, p->words[kind],
                                   copies_of(launch, kind));
        }
    return words;
}

/* ---- expressions ---- */

static void put_expr(struct printer *p, const struct ast_expr *x);

/* ["at", space, offset, index] */
static void put_place(struct printer *p, const struct ast_var *var, const struct ast_expr *index)
{
    text_format(p->out, "[\"at\",%u,%u,", (unsigned)kind_of(var), (unsigned)var->mark);
    if (index)
        put_expr(p, index);
    else
        text_put(p->out, "0");
    text_put(p->out, "]");
}

static void put_operation(struct printer *p, const char *name, const struct ast_expr *a,
                          const struct ast_expr *b, const struct ast_expr *c)
{
    const struct ast_expr *const operands[] = {a, b, c};
    text_format(p->out, "[\"%s\"", name);
    for (uint32_t i = 0; i < 3 && operands[i]; i++) {
        text_put(p->out, ",");
        put_expr(p, operands[i]);
    }
    text_put(p->out, "]");
}

static void put_expr(struct printer *p, const struct ast_expr *x)
{
    static const char *const unary[] = {
        [UNARY_NEG] = "neg", [UNARY_NOT] = "!", [UNARY_COMPLEMENT] = "~"};
    switch (x->kind) {
    case EXPR_INT:
        text_format(p->out, "%d", (int)x->value);
        return;
    case EXPR_VAR:
    case EXPR_INDEX:
        put_place(p, x->var, x->kind == EXPR_INDEX ? x->a : NULL);
        return;
    case EXPR_BUILTIN:
        text_format(p->out, "[\"%s\"]", ast_builtin_names[x->builtin]);
        return;
    case EXPR_UNARY:
        put_operation(p, unary[x->unary], x->a, NULL, NULL);
        return;
    case EXPR_BINARY:
        put_operation(p, ast_binary_names[x->binary], x->a, x->b, NULL);
        return;
    case EXPR_COND:
        put_operation(p, "?", x->a, x->b, x->c);
        return;
    case EXPR_ALL:
    case EXPR_ANY:
        p->reason = "blocks has no 'all' and 'any' of the lock-step form";
        return;
    }
}

/* ---- statements ---- */

static void put_atomic(struct printer *p, const struct ast_stm *stm)
{
    text_format(p->out, "[\"%s\",", ast_atomic_names[stm->atomic]);
    put_place(p, stm->place.var, stm->place.index);
    text_put(p->out, ",");
    if (stm->target.var)
        put_place(p, stm->target.var, stm->target.index);
    else
        text_put(p->out, "null");
    for (const struct ast_expr *a = stm->arguments; a; a = a->next) {
        text_put(p->out, ",");
        put_expr(p, a);
    }
    text_put(p->out, "]");
}

/* Statements with a guard are of lock-step's forms. */
static void put_statement(struct printer *p, const struct ast_stm *stm)
{
    if (stm->guard) {
        p->reason = "blocks has no guards of the lock-step form";
    } else if (stm->kind == STM_ASSIGN) {
        text_put(p->out, "[\"=\",");
        put_place(p, stm->target.var, stm->target.index);
        text_put(p->out, ",");
        put_expr(p, ast_assigned_value(p->arena, stm));
        text_put(p->out, "]");
    } else if (stm->kind == STM_ASSUME) {
        put_operation(p, "if", stm->value, NULL, NULL);
    } else if (stm->kind == STM_BARRIER) {
        text_put(p->out, "[\"barrier\"]");
    } else if (stm->kind == STM_MEMBAR) {
        text_put(p->out, "[\"fence\"]");
    } else if (stm->kind == STM_ATOMIC) {
        put_atomic(p, stm);
    } else {
        p->reason = arena_printf(p->arena, "blocks has no '%s', at line %u",
                                 ast_stm_names[stm->kind], (unsigned)stm->at.line);
    }
}

/* Of a valid kernel asserts hold. */
static bool says_something(const struct ast_stm *stm)
{
    return stm->kind != STM_SKIP && stm->kind != STM_ASSERT;
}

static void put_block(struct printer *p, const struct ast_block *block)
{
    bool some = false;
    text_put(p->out, "{\"do\":[");
    for (const struct ast_stm *stm = block->body; stm; stm = stm->next) {
        if (!says_something(stm))
            continue;
        text_put(p->out, some ? "," : "");
        put_statement(p, stm);
        some = true;
    }
    text_put(p->out, "],\"goto\":[");
    for (uint32_t t = 0; t < block->target_count; t++)
        text_format(p->out, "%s%d", t ? "," : "",
                    block->targets[t] ? (int)block->targets[t]->mark : -1);
    text_put(p->out, "]}");
}

static void put_kernel(struct printer *p, uint32_t number)
{
    const struct ast_launch *launch = &p->kernel->launch;
    uint32_t count = 0;
    text_format(p->out,
                "{\"name\":\"k%u\",\"threads\":%u,\"blocks\":%u,\"warp_size\":%u,\"words\":[%u,%u,%"
                "u],\"code\":[",
                (unsigned)number, (unsigned)launch->threads, (unsigned)launch->blocks,
                (unsigned)launch->warp, (unsigned)p->words[PLACE_GLOBAL],
                (unsigned)p->words[PLACE_SHARED], (unsigned)p->words[PLACE_PRIVATE]);
    for (struct ast_block *block = p->kernel->main->blocks; block; block = block->next)
        block->mark = count++;
    for (const struct ast_block *block = p->kernel->main->blocks; block; block = block->next) {
        put_block(p, block);
        text_put(p->out, block->next ? "," : "]}\n");
    }
}

bool emit_blocks_kernel(struct text *text, struct ast_kernel *kernel, uint32_t number,
                        struct emitted *emitted, const char **reason)
{
    static const struct lower_cfg_options plain = {.anchored = false};
    struct arena *arena = text->arena;
    *reason = "blocks are made of structured kernels only";
    if (kernel->form != FORM_STRUCTURED)
        return false;
    struct ast_kernel *cfg = lower_cfg(arena, lower_core(arena, kernel), &plain, reason);
    if (!cfg)
        return false;
    struct text own = text_begin(arena);
    struct printer p = {.out = &own, .arena = arena, .kernel = cfg};
    if (cfg->functions) {
        *reason = "blocks has no recursion";
        return false;
    }
    place_list(&p, cfg->vars);
    place_list(&p, cfg->main->locals);
    put_kernel(&p, number);
    *reason = p.reason;
    if (p.reason)
        return false;
    *emitted = (struct emitted){.entry = arena_printf(arena, "k%u", (unsigned)number),
                                .threads = cfg->launch.threads,
                                .blocks = cfg->launch.blocks,
                                .words = base_of(&p, PLACE_COUNT),
                                .result_words = base_of(&p, PLACE_PRIVATE),
                                .initial = initial_words(&p)};
    text_put_bytes(text, own.bytes, own.length);
    return true;
}
