/*
 * ast_check.c - what makes a tree a kernel, beyond its grammar. The parser's own trees pass through
 * here too, so that each of these rules is stated once.
 */
#include "engine/language/ast_check_internal.h"
#include "engine/language/parse.h"

#include <string.h>

/* ---- names and variables ---- */

enum { NAME_SLOTS = 2048 };
_Static_assert(NAME_SLOTS >= 2 * LIMIT_LABELS && NAME_SLOTS >= 2 * LIMIT_VARIABLES,
               "a set of names is never more than half full");

struct name_set {
    uint32_t mask;
    const char *slots[NAME_SLOTS];
};

/* For at most `count` names. */
static void name_set_start(struct name_set *set, uint32_t count)
{
    uint32_t slots = 4;
    while (slots < 2 * count)
        slots *= 2;
    set->mask = slots - 1;
    memset(set->slots, 0, slots * sizeof *set->slots);
}

/* False: it is in there already. */
static bool name_set_add(struct name_set *set, const char *name)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (const char *c = name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    uint32_t slot = (hash ^ hash >> 16) & set->mask;
    for (; set->slots[slot]; slot = (slot + 1) & set->mask)
        if (strcmp(set->slots[slot], name) == 0)
            return false;
    set->slots[slot] = name;
    return true;
}

/* Whether two of the variables (blocks) have one name: there are `count`. */
static bool vars_repeat(const struct ast_var *list, uint32_t count)
{
    struct name_set set;
    name_set_start(&set, count);
    while (list && name_set_add(&set, list->name))
        list = list->next;
    return list != NULL;
}

static bool blocks_repeat(const struct ast_block *list)
{
    struct name_set set;
    uint32_t count = 0;
    for (const struct ast_block *block = list; block; block = block->next)
        count++;
    name_set_start(&set, count);
    while (list && name_set_add(&set, list->name))
        list = list->next;
    return list != NULL;
}

/* `repeat`: two variables of the list have one name. */
static void check_var(struct check *check, const struct ast_var *var, bool local, bool repeat)
{
    if ((var->space == SPACE_LOCAL) != local)
        check_fail(check, var->at, "'%s' is declared in the wrong scope for its space", var->name);
    if (var->length < 1 || var->length > LIMIT_ARRAY || (!var->is_array && var->length != 1))
        check_limit(check, var->at, "array '%s' must have 1 to %d elements", var->name,
                    LIMIT_ARRAY);
    else if (var->init_count > var->length)
        check_fail(check, var->at, "too many initial values for '%s'", var->name);
    if (var->is_input && (local || var->init_count > 0))
        check_fail(check, var->at,
                   local ? "'%s': input variables are declared outside functions"
                         : "input variable '%s' has an initial value",
                   var->name);
    if (strlen(var->name) > LIMIT_NAME)
        check_limit(check, var->at, "name is longer than %d characters", LIMIT_NAME);
    for (const struct ast_var *other = repeat ? var->next : NULL; other; other = other->next)
        if (strcmp(var->name, other->name) == 0)
            check_fail(check, other->at, "'%s' is already declared in this scope", other->name);
}

static void check_vars(struct check *check, const struct ast_var *list, bool local)
{
    uint32_t count = 0;
    for (const struct ast_var *var = list; var; var = var->next)
        if (++count == LIMIT_VARIABLES + 1) {
            check_limit(check, var->at, "more than %d variables in one scope", LIMIT_VARIABLES);
            return;
        }
    bool repeat = vars_repeat(list, count);
    for (const struct ast_var *var = list; var; var = var->next)
        check_var(check, var, local, repeat);
}

static void check_function_names(struct check *check)
{
    const struct ast_kernel *kernel = check->kernel;
    uint32_t count = 0;
    for (const struct ast_function *f = kernel->functions; f; f = f->next) {
        if (++count == LIMIT_FUNCTIONS + 1) {
            check_limit(check, f->at, "more than %d functions", LIMIT_FUNCTIONS);
            return;
        }
        for (const struct ast_function *g = f->next; g; g = g->next)
            if (strcmp(f->name, g->name) == 0)
                check_fail(check, g->at, "function '%s' is already defined", g->name);
        for (const struct ast_var *var = kernel->vars; var; var = var->next)
            if (strcmp(f->name, var->name) == 0)
                check_fail(check, f->at, "'%s' is already declared as a variable", f->name);
    }
}

/* ---- functions, blocks, the launch ---- */

static const char *kind_of(const struct ast_function *function)
{
    return function->blocks ? "procedure" : "function";
}

static void check_parameters(struct check *check, const struct ast_function *function)
{
    uint32_t parameters = 0;
    for (const struct ast_var *var = function->locals; var && var->is_parameter; var = var->next)
        parameters++;
    if (parameters != function->parameter_count || parameters > LIMIT_PARAMETERS)
        check_limit(check, function->at, "%s '%s' has more than %d parameters", kind_of(function),
                    function->name, LIMIT_PARAMETERS);
    for (const struct ast_var *var = function->locals; var; var = var->next)
        if (var->is_out && (!var->is_parameter || !function->blocks))
            check_fail(check, var->at, "'%s': only a procedure in block form has out-parameters",
                       var->name);
}

static bool has_block(const struct ast_function *function, const struct ast_block *block)
{
    const struct ast_block *b = function->blocks;
    while (b && b != block)
        b = b->next;
    return b != NULL;
}

/* Where the control flow goes from here; PROC.syn: procedures return, only the kernel ends. */
static void check_transfer(struct check *check, const struct ast_block *block)
{
    bool is_kernel = check->function == check->kernel->main;
    if (block->returns && is_kernel)
        check_fail(check, block->at, "a kernel in block form ends with 'goto End', not 'return'");
    if (!block->returns && block->target_count == 0)
        check_fail(check, block->at, "block '%s' has neither a target nor a return", block->name);
    for (uint32_t i = 0; i < block->target_count; i++)
        if (!block->targets[i] && !is_kernel)
            check_fail(check, block->at, "a procedure ends with 'return', not 'goto End'");
        else if (block->targets[i] && !has_block(check->function, block->targets[i]))
            check_fail(check, block->at, "block '%s' goes to a block of another function",
                       block->name);
}

/* `repeat`: two blocks of the function have one name. */
static void check_block(struct check *check, const struct ast_block *block, bool repeat)
{
    for (const struct ast_stm *stm = block->body; stm; stm = stm->next)
        check_block_stm(check, stm);
    check_transfer(check, block);
    for (const struct ast_block *other = repeat ? block->next : NULL; other; other = other->next)
        if (strcmp(block->name, other->name) == 0)
            check_fail(check, other->at, "block '%s' is already defined", other->name);
    if (strcmp(block->name, "End") == 0)
        check_fail(check, block->at, "'End' names the end of a thread, not a block");
    if (strlen(block->name) > LIMIT_NAME)
        check_limit(check, block->at, "name is longer than %d characters", LIMIT_NAME);
}

/* CFG.start: a kernel starts at Start, which stands first; a procedure at its first block. */
static void check_start(struct check *check, const struct ast_block *blocks)
{
    const struct ast_block *start = blocks;
    while (start && strcmp(start->name, "Start") != 0)
        start = start->next;
    if (!start)
        check_fail(check, blocks->at, "the first block must be named 'Start'");
    else if (start != blocks)
        check_fail(check, start->at, "'Start' must be the first block");
}

static void check_blocks(struct check *check, const struct ast_function *function)
{
    if (function == check->kernel->main)
        check_start(check, function->blocks);
    if (function->returns_int)
        check_fail(check, function->at,
                   "procedure '%s' gives values back through out-parameters, not as 'int'",
                   function->name);
    if (function->body)
        check_fail(check, function->at, "procedure '%s' has statements outside of its blocks",
                   function->name);
    bool repeat = blocks_repeat(function->blocks);
    for (const struct ast_block *block = function->blocks; block; block = block->next)
        check_block(check, block, repeat);
}

/* All functions of a kernel have the kernel's form. */
static void check_form(struct check *check, const struct ast_function *function)
{
    bool structured = check->kernel->form == FORM_STRUCTURED;
    if (structured == !function->blocks)
        return;
    if (function == check->kernel->main)
        check_fail(check, function->at,
                   structured ? "a structured kernel has no blocks" : "the kernel has no blocks");
    else
        check_fail(check, function->at,
                   structured ? "procedure '%s' is made of blocks, its kernel is not"
                              : "function '%s' is not made of blocks, its kernel is",
                   function->name);
}

/* `pick(` starts a statement of the block forms, wherever the procedure is defined. */
static void check_name(struct check *check, const struct ast_function *function)
{
    if (strlen(function->name) > LIMIT_NAME)
        check_limit(check, function->at, "name is longer than %d characters", LIMIT_NAME);
    if (function != check->kernel->main && check->kernel->form != FORM_STRUCTURED &&
        strcmp(function->name, "pick") == 0)
        check_fail(check, function->at, "no procedure is named 'pick': it is a statement");
}

static void check_function(struct check *check, const struct ast_function *function)
{
    check_name(check, function);
    check_form(check, function);
    check_parameters(check, function);
    check_vars(check, function->locals, true);
    check->function = function;
    if (function->blocks)
        check_blocks(check, function);
    else
        check_body(check, function->body);
    check->function = NULL;
}

/* Whether there are few enough blocks to look names up one by one. */
static bool check_block_count(struct check *check, const struct ast_function *list, uint32_t *count)
{
    for (; list; list = list->next)
        for (const struct ast_block *block = list->blocks; block; block = block->next)
            if (++*count == LIMIT_LABELS + 1) {
                check_limit(check, block->at, "more than %d blocks", LIMIT_LABELS);
                return false;
            }
    return true;
}

static void check_functions(struct check *check)
{
    uint32_t blocks = 0;
    if (!check_block_count(check, check->kernel->functions, &blocks) ||
        !check_block_count(check, check->kernel->main, &blocks))
        return;
    for (const struct ast_function *f = check->kernel->functions; f; f = f->next)
        check_function(check, f);
    if (check->kernel->main)
        check_function(check, check->kernel->main);
    else
        check_fail(check, (struct location){0, 0}, "the kernel has no body");
}

static uint64_t words_of(const struct ast_var *list, enum ast_space space)
{
    uint64_t words = 0;
    for (; list; list = list->next)
        if (list->space == space)
            words += list->length;
    return words;
}

/* All copies of all variables, with LIMIT_CALL_DEPTH frames of the largest function. */
static void check_memory(struct check *check)
{
    const struct ast_kernel *kernel = check->kernel;
    uint64_t frame = 0;
    for (const struct ast_function *f = kernel->functions; f; f = f->next) {
        uint64_t words = words_of(f->locals, SPACE_LOCAL);
        frame = words > frame ? words : frame;
    }
    uint64_t thread = words_of(kernel->vars, SPACE_PRIVATE) + LIMIT_CALL_DEPTH * frame;
    if (kernel->main)
        thread += words_of(kernel->main->locals, SPACE_LOCAL);
    uint64_t words = words_of(kernel->vars, SPACE_GLOBAL) +
                     words_of(kernel->vars, SPACE_SHARED) * kernel->launch.blocks +
                     thread * kernel->launch.blocks * kernel->launch.threads;
    const uint32_t limit = kernel->placed ? LIMIT_PLACED_WORDS : LIMIT_MEMORY_WORDS;
    if (words > limit)
        check_limit(check, kernel->launch.at,
                    "variables and frames of all threads take %llu words, more than %u",
                    (unsigned long long)words, limit);
}

static void check_launch(struct check *check)
{
    const struct ast_launch *launch = &check->kernel->launch;
    uint32_t before = check->errors;
    if (launch->threads < 1 || launch->threads > LIMIT_THREADS)
        check_limit(check, launch->at, "'threads' must be 1 to %d", LIMIT_THREADS);
    if (cache_sizes_wrong(&launch->caches))
        check_fail(check, launch->at, "%s", cache_sizes_wrong(&launch->caches));
    if (launch->blocks < 1 || launch->blocks > LIMIT_BLOCKS)
        check_limit(check, launch->at, "'blocks' must be 1 to %d", LIMIT_BLOCKS);
    if (launch->warp < 1 || launch->warp > LIMIT_WARP)
        check_limit(check, launch->at, "'warp' must be 1 to %d", LIMIT_WARP);
    if (check->errors != before)
        return;
    if (launch->threads * launch->blocks > LIMIT_TOTAL_THREADS)
        check_limit(check, launch->at, "%u threads in %u blocks are more than %d", launch->threads,
                    launch->blocks, LIMIT_TOTAL_THREADS);
    else
        check_memory(check);
}

static void check_expects(struct check *check)
{
    for (const struct ast_expect *e = check->kernel->expects; e; e = e->next) {
        if (e->claim == CLAIM_FINAL && !e->var)
            check_fail(check, e->at, "'final' needs a variable");
        if (!e->var)
            continue;
        if (!check_in_vars(check->kernel->vars, e->var) || e->var->space == SPACE_PRIVATE)
            check_fail(check, e->at, "'%s' is not a shared or global variable", e->var->name);
        /* Of a buffer the first words will do. */
        bool is_prefix = check->kernel->form == FORM_PTX && e->value_count < e->var->length;
        if (e->claim == CLAIM_FINAL && e->value_count != e->var->length && !is_prefix)
            check_fail(check, e->at, "'%s' has %u element%s, not %u", e->var->name, e->var->length,
                       e->var->length == 1 ? "" : "s", e->value_count);
    }
}

static void check_all(struct check *check)
{
    check_launch(check);
    /* Of PTX ptx_check has checked the module, and ptx_kernel.c the variables. */
    if (check->kernel->form != FORM_PTX) {
        check_vars(check, check->kernel->vars, false);
        check_function_names(check);
        check_functions(check);
    }
    check_expects(check);
}

bool ast_check(const struct ast_kernel *kernel, struct diag *diag)
{
    struct check check = {.kernel = kernel, .diag = diag};
    check_all(&check);
    return check.errors == 0;
}

bool language_is_too_large(const struct ast_kernel *kernel)
{
    struct check check = {.kernel = kernel};
    check_all(&check);
    return check.errors > 0 && check.errors == check.limits;
}
