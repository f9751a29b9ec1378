/*
 * expose.c - what a kernel does not store nobody can see wrong: at each end of a thread its private variables are
 * stored, and each trip of a loop leaves a trace in a sum.
 */
#include "engine/emit/emit.h"
#include "engine/input/input.h"
#include "engine/language/fresh.h"
#include "engine/language/walk.h"

enum {
    WORDS_MAX = 24, /* of one thread */
    SUM_FACTOR = 31
};

struct exposing {
    struct arena *arena;
    struct ast_kernel *kernel;
    struct ast_var *array, *sum;
    uint32_t words; /* of a thread, in the array */
};

static struct ast_expr *binary(struct exposing *x, enum ast_binary op, struct ast_expr *a,
                               struct ast_expr *b)
{
    return ast_binary(x->arena, op, a, b);
}

static struct ast_expr *integer(struct exposing *x, uint32_t value)
{
    return ast_int(x->arena, (int32_t)value);
}

/* (bid * threads + tid) * words + word */
static struct ast_expr *index_of(struct exposing *x, uint32_t word)
{
    struct ast_expr *thread = binary(x, BINARY_ADD,
                                     binary(x, BINARY_MUL, ast_builtin_ref(x->arena, BUILTIN_BID),
                                            integer(x, x->kernel->launch.threads)),
                                     ast_builtin_ref(x->arena, BUILTIN_TID));
    return binary(x, BINARY_ADD, binary(x, BINARY_MUL, thread, integer(x, x->words)),
                  integer(x, word));
}

/* Stores of all elements of the scalars and arrays of a list, as far as there is room. */
static void store_variables(struct exposing *x, struct ast_var *list, uint32_t *word,
                            struct ast_stm **stores, struct location at)
{
    for (struct ast_var *var = list; var; var = var->next) {
        if (var->space == SPACE_GLOBAL || var->space == SPACE_SHARED)
            continue;
        for (uint32_t i = 0; i < var->length && *word < x->words; i++, ++*word) {
            struct ast_expr *value = var->is_array ? ast_index(x->arena, var, integer(x, i))
                                                   : ast_var_ref(x->arena, var);
            ast_stm_append(stores, ast_assign(x->arena, x->array, index_of(x, *word), value, at));
        }
    }
}

/* What stands before an end; the variables of the kernel's body can be seen in it only. */
static struct ast_stm *stores_at(struct exposing *x, bool is_body, struct location at)
{
    struct ast_stm *stores = NULL;
    uint32_t word = 0;
    store_variables(x, x->kernel->vars, &word, &stores, at);
    if (is_body)
        store_variables(x, x->kernel->main->locals, &word, &stores, at);
    return stores;
}

/* `exit;` becomes { stores; exit; } */
static void expose_end(struct exposing *x, struct ast_stm *stm, bool is_body)
{
    struct ast_stm *list = stores_at(x, is_body, stm->at);
    struct ast_stm *end = ast_stm(x->arena, stm->kind, stm->at);
    ast_stm_append(&list, end);
    stm->kind = STM_BLOCK;
    stm->body = list;
}

/* sum = sum * 31 + value of a variable, at the end of the loop's body. */
static void expose_trip(struct exposing *x, struct ast_stm *loop)
{
    struct ast_expr *value = integer(x, 1);
    const struct ast_var *seen = NULL;
    for (struct ast_var *var = x->kernel->main->locals; var; var = var->next)
        if (!var->is_array && var != x->sum) {
            value = binary(x, BINARY_ADD, value, ast_var_ref(x->arena, var));
            seen = var;
        }
    if (!seen || !loop->body)
        return;
    struct ast_expr *sum =
        binary(x, BINARY_MUL, ast_var_ref(x->arena, x->sum), integer(x, SUM_FACTOR));
    struct ast_stm *add =
        ast_assign(x->arena, x->sum, NULL, binary(x, BINARY_ADD, sum, value), loop->at);
    struct ast_stm *block = ast_stm(x->arena, STM_BLOCK, loop->at);
    block->body = loop->body;
    ast_stm_append(&block->body, add);
    loop->body = block;
}

static void expose_list(struct exposing *x, struct ast_stm *list, bool is_body);

static void expose_stm(struct exposing *x, struct ast_stm *stm, bool is_body)
{
    expose_list(x, stm->body, is_body);
    expose_list(x, stm->other, is_body);
    for (struct ast_case *c = stm->cases; c; c = c->next)
        expose_list(x, c->body, is_body);
    if (stm->kind == STM_EXIT || (stm->kind == STM_RETURN && is_body))
        expose_end(x, stm, is_body);
    else if (is_body && ast_is(stm, STM_LOOP))
        expose_trip(x, stm);
}

static void expose_list(struct exposing *x, struct ast_stm *list, bool is_body)
{
    for (; list; list = list->next)
        expose_stm(x, list, is_body);
}

static uint32_t private_words(const struct ast_var *list)
{
    uint32_t words = 0;
    for (; list; list = list->next)
        if (list->space == SPACE_PRIVATE || list->space == SPACE_LOCAL)
            words += list->length;
    return words;
}

struct ast_kernel *emit_expose(struct arena *arena, const struct ast_kernel *kernel)
{
    struct exposing x = {.arena = arena, .kernel = ast_kernel_copy(arena, kernel)};
    struct fresh_names *names = fresh_names_of(arena, kernel);
    x.kernel->expects = NULL;
    x.kernel->progress = NULL;
    x.sum = ast_var(arena, fresh_name(names, "trips"), SPACE_LOCAL, 1, false);
    x.sum->next = x.kernel->main->locals;
    x.kernel->main->locals = x.sum;
    uint32_t words = private_words(x.kernel->vars) + private_words(x.kernel->main->locals);
    uint32_t threads = kernel->launch.threads * kernel->launch.blocks;
    x.words = words < WORDS_MAX ? words : WORDS_MAX;
    if (threads * x.words > LIMIT_ARRAY)
        return x.kernel;
    x.array = ast_var(arena, fresh_name(names, "ends"), SPACE_GLOBAL, threads * x.words, true);
    expose_list(&x, x.kernel->main->body, true);
    for (struct ast_function *f = x.kernel->functions; f; f = f->next)
        expose_list(&x, f->body, false);
    ast_stm_append(&x.kernel->main->body, stores_at(&x, true, x.kernel->main->at));
    ast_var_append(&x.kernel->vars, x.array);
    return x.kernel;
}
