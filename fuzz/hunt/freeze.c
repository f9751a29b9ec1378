#include "fuzz/hunt/freeze.h"

#include "engine/input/input.h"
#include "engine/language/fresh.h"
#include "engine/language/initial.h"

#include <string.h>

struct freezing {
    struct arena *arena;
    struct ast_kernel *kernel;
    struct fresh_names *names;
    struct ast_stm *first; /* what each thread does at first */
};

/* Whether all copies of a variable have the values of the first one. */
static bool are_equal(const int32_t *values, uint32_t length, uint32_t copies)
{
    for (uint32_t i = length; i < length * copies; i++)
        if (values[i] != values[i % length])
            return false;
    return true;
}

static void set_initial(struct ast_var *var, int32_t *values)
{
    var->is_input = false;
    var->init = values;
    var->init_count = var->length;
}

/* bid * threads + tid */
static struct ast_expr *thread_number(struct freezing *z)
{
    struct arena *arena = z->arena;
    struct ast_expr *before = ast_binary(arena, BINARY_MUL, ast_builtin_ref(arena, BUILTIN_BID),
                                         ast_int(arena, (int32_t)z->kernel->launch.threads));
    struct ast_expr *tid = ast_builtin_ref(arena, BUILTIN_TID);
    return z->kernel->launch.blocks > 1 ? ast_binary(arena, BINARY_ADD, before, tid) : tid;
}

/* var[element] = table[thread] */
static void take(struct freezing *z, struct ast_var *var, uint32_t element, const int32_t *values,
                 uint32_t threads)
{
    struct ast_var *table =
        ast_var(z->arena, fresh_name(z->names, "drawn"), SPACE_GLOBAL, threads, true);
    int32_t *own = ARENA_ARRAY(z->arena, int32_t, threads);
    for (uint32_t t = 0; t < threads; t++)
        own[t] = values[t * var->length + element];
    set_initial(table, own);
    ast_var_append(&z->kernel->vars, table);
    struct ast_expr *index = var->is_array ? ast_int(z->arena, (int32_t)element) : NULL;
    struct ast_expr *value = ast_index(z->arena, table, thread_number(z));
    ast_stm_append(&z->first, ast_assign(z->arena, var, index, value, z->kernel->main->at));
}

static void freeze(struct freezing *z, struct ast_var *var, uint32_t number)
{
    const struct ast_launch *launch = &z->kernel->launch;
    uint32_t copies = var->space == SPACE_GLOBAL   ? 1
                      : var->space == SPACE_SHARED ? launch->blocks
                                                   : launch->blocks * launch->threads;
    int32_t *values = ARENA_ARRAY(z->arena, int32_t, (size_t)copies * var->length);
    memset(values, 0, (size_t)copies * var->length * sizeof *values);
    language_init_variable(var, number, launch->seed, values, var->length, copies);
    if (are_equal(values, var->length, copies)) {
        set_initial(var, values);
        return;
    }
    if (var->space != SPACE_PRIVATE || copies > LIMIT_ARRAY)
        return;
    var->is_input = false;
    var->init_count = 0;
    for (uint32_t i = 0; i < var->length; i++)
        take(z, var, i, values, copies);
}

struct ast_kernel *freeze_inputs(struct arena *arena, const struct ast_kernel *kernel)
{
    struct freezing z = {.arena = arena,
                         .kernel = ast_kernel_copy(arena, kernel),
                         .names = fresh_names_of(arena, kernel)};
    uint32_t number = 0;
    uint32_t drawn = 0;
    for (const struct ast_var *var = kernel->vars; var; var = var->next)
        drawn++;
    for (struct ast_var *var = z.kernel->vars; number < drawn; var = var->next, number++)
        if (var->is_input)
            freeze(&z, var, number);
    ast_stm_append(&z.first, z.kernel->main->body);
    z.kernel->main->body = z.first;
    return z.kernel;
}
