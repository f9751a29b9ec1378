#include "engine/program.h"

#include "engine/invariant.h"

#include <string.h>

/* Everything that compilation passes around. */
struct builder {
    struct arena *arena;
    struct program *program;
    const char *reason;
    uint32_t function; /* whose body is laid out */
    /* Upper bounds, from the counting pass: exact for statements. */
    uint64_t stm_bound, op_bound;
    /* Which functions a function calls: `call_words` words of bits a function. */
    uint64_t *calls;
    uint32_t call_words;
};

/* ---- counting: how much room the arrays need, and whether every statement is supported ---- */

static void count_expr(struct builder *b, const struct ast_expr *expr)
{
    if (!expr)
        return;
    b->op_bound += 2; /* &&, || and ?: take two ops, all others one */
    count_expr(b, expr->a);
    count_expr(b, expr->b);
    count_expr(b, expr->c);
}

/* An expression of a statement: its ops and OP_END. */
static void count_root(struct builder *b, const struct ast_expr *expr)
{
    if (!expr)
        return;
    b->op_bound++;
    count_expr(b, expr);
}

static void refuse_statement(struct builder *b, const struct ast_stm *stm)
{
    if (b->reason)
        return;
    const char *name = ast_stm_names[stm->kind];
    b->reason = stm->at.line ? arena_printf(b->arena, "unsupported statement '%s' at line %u", name,
                                            (unsigned)stm->at.line)
                             : arena_printf(b->arena, "unsupported statement '%s'", name);
}

static bool is_core_form(const struct ast_stm *stm)
{
    switch (stm->kind) {
    case STM_SKIP:
    case STM_BLOCK:
    case STM_IF:
    case STM_WHILE:
    case STM_BREAK:
    case STM_EXIT:
    case STM_MEMBAR:
    case STM_ASSERT:
        return true;
    case STM_ASSIGN:
        return stm->op == ASSIGN_SET;
    case STM_CALL:
        return !stm->target.var && !stm->arguments;
    case STM_RETURN:
        return !stm->value;
    case STM_DO:
    case STM_FOR:
    case STM_SWITCH:
    case STM_CONTINUE:
    case STM_BARRIER:
    case STM_SYNC:
    case STM_ARRIVE:
    case STM_ATOMIC:
    case STM_VOTE:
    case STM_ASSUME:
    case STM_HAVOC:
    case STM_PICK:
    case STM_LOCKSYNC:
    case STM_KIND_COUNT:
        break;
    }
    return false;
}

/* The statements that a list has once its blocks are opened. */
static uint32_t flat_length(const struct ast_stm *list)
{
    uint32_t length = 0;
    for (const struct ast_stm *stm = list; stm; stm = stm->next)
        length += stm->kind == STM_BLOCK ? flat_length(stm->body) : 1;
    return length;
}

/* The list that a branch or a loop body stands for: one statement, or what its block holds. */
static const struct ast_stm *branch_list(const struct ast_stm *body)
{
    return body && body->kind == STM_BLOCK && !body->next ? body->body : body;
}

static void count_list(struct builder *b, const struct ast_stm *list);

static void count_branch(struct builder *b, const struct ast_stm *body)
{
    const struct ast_stm *list = branch_list(body);
    if (flat_length(list) == 0)
        b->stm_bound++;
    count_list(b, list);
}

static void count_list(struct builder *b, const struct ast_stm *list)
{
    for (const struct ast_stm *stm = list; stm; stm = stm->next) {
        if (!is_core_form(stm)) {
            refuse_statement(b, stm);
            continue;
        }
        if (stm->kind == STM_BLOCK) {
            count_list(b, stm->body);
            continue;
        }
        b->stm_bound++;
        count_root(b, stm->value);
        if (stm->kind == STM_ASSIGN)
            count_root(b, stm->target.index);
        if (stm->kind == STM_IF || stm->kind == STM_WHILE)
            count_branch(b, stm->body);
        if (stm->kind == STM_IF)
            count_branch(b, stm->other);
    }
}

/* ---- variables ---- */

/* Numbers the file-level variables and places each behind the ones of its space. */
static void layout_variables(struct builder *b, uint64_t words[SPACE_COUNT])
{
    struct program *program = b->program;
    for (const struct ast_var *var = program->core->vars; var; var = var->next)
        program->var_count++;
    if (program->var_count > UINT16_MAX) {
        b->reason = arena_printf(b->arena, "%u variables, limit %u", (unsigned)program->var_count,
                                 (unsigned)UINT16_MAX);
        return;
    }
    program->vars = ARENA_ARRAY(b->arena, struct code_var, program->var_count);
    uint32_t number = 0;
    for (struct ast_var *var = program->core->vars; var; var = var->next) {
        INVARIANT(var->space != SPACE_LOCAL);
        program->vars[number] =
            (struct code_var){.ast = var, .offset = (uint32_t)words[var->space]};
        var->mark = number++;
        words[var->space] += var->length;
    }
}

/* Offsets of a function's parameters and locals (kept in their marks); words of its frame. */
static uint64_t layout_frame(const struct ast_function *function)
{
    uint64_t words = 0;
    for (struct ast_var *var = function->locals; var; var = var->next) {
        var->mark = (uint32_t)words;
        words += var->length;
        if (words > LIMIT_MEMORY_WORDS)
            break;
    }
    return words;
}

static void fill_frame_init(const struct program *program, const struct ast_function *function,
                            uint32_t number)
{
    int32_t *frame = program->frame_init + program->functions[number].init_first;
    for (const struct ast_var *var = function->locals; var; var = var->next)
        if (var->init_count > 0)
            memcpy(frame + var->mark, var->init, var->init_count * sizeof *frame);
}

/* The kernel is function 0, the others follow in order of declaration. */
static void layout_functions(struct builder *b)
{
    struct program *program = b->program;
    const struct ast_kernel *core = program->core;
    uint64_t init_words = 0;
    uint32_t count = 0;
    for (struct ast_function *f = core->main; f; f = f == core->main ? core->functions : f->next) {
        f->mark = count++;
        init_words += layout_frame(f);
    }
    if (init_words > LIMIT_MEMORY_WORDS) {
        b->reason = arena_printf(b->arena, "the functions' variables need %llu words, limit %u",
                                 (unsigned long long)init_words, (unsigned)LIMIT_MEMORY_WORDS);
        return;
    }
    program->function_count = count;
    program->functions = ARENA_ARRAY(b->arena, struct code_function, count);
    program->frame_init = ARENA_ARRAY(b->arena, int32_t, init_words);
    uint32_t first = 0;
    for (struct ast_function *f = core->main; f; f = f == core->main ? core->functions : f->next) {
        struct code_function *function = &program->functions[f->mark];
        function->name = f->name;
        function->init_first = first;
        function->frame_words = (uint32_t)layout_frame(f);
        first += function->frame_words;
        fill_frame_init(program, f, f->mark);
    }
}

static uint32_t variable_offset(const struct program *program, const struct ast_var *var)
{
    return var->space == SPACE_LOCAL ? var->mark : program->vars[var->mark].offset;
}

static uint64_t footprint_bit(const struct ast_var *var)
{
    if (var->space != SPACE_GLOBAL && var->space != SPACE_SHARED)
        return 0;
    return (uint64_t)1 << (var->mark < 63 ? var->mark : 63);
}

/* ---- expressions ---- */

static uint32_t emit_op(struct builder *b, enum code_op op, int32_t a)
{
    struct program *program = b->program;
    INVARIANT(program->op_count < b->op_bound);
    program->ops[program->op_count] = (struct code_expr_op){.op = (uint8_t)op, .a = a};
    return program->op_count++;
}

static void patch_jump(struct builder *b, uint32_t op)
{
    b->program->ops[op].a = (int32_t)b->program->op_count;
}

static void emit_variable(struct builder *b, enum code_op op, const struct ast_var *var)
{
    uint32_t at = emit_op(b, op, (int32_t)variable_offset(b->program, var));
    struct code_expr_op *code = &b->program->ops[at];
    code->space = (uint8_t)var->space;
    code->var = var->space == SPACE_LOCAL ? 0 : (uint16_t)var->mark;
    code->b = var->length;
}

static uint32_t max_u32(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static uint32_t emit_expr(struct builder *b, const struct ast_expr *expr, uint64_t *reads);

/* a && b, a || b: b is not read when a decides. */
static uint32_t emit_logical(struct builder *b, const struct ast_expr *expr, uint64_t *reads)
{
    enum code_op op = expr->binary == BINARY_LOGICAL_AND ? OP_AND_JUMP : OP_OR_JUMP;
    uint32_t left = emit_expr(b, expr->a, reads);
    uint32_t jump = emit_op(b, op, 0);
    uint32_t right = emit_expr(b, expr->b, reads);
    emit_op(b, OP_BOOL, 0);
    patch_jump(b, jump);
    return max_u32(left, right);
}

static uint32_t emit_cond(struct builder *b, const struct ast_expr *expr, uint64_t *reads)
{
    uint32_t depth = emit_expr(b, expr->a, reads);
    uint32_t to_else = emit_op(b, OP_JUMP_ZERO, 0);
    depth = max_u32(depth, emit_expr(b, expr->b, reads));
    uint32_t to_end = emit_op(b, OP_JUMP, 0);
    patch_jump(b, to_else);
    depth = max_u32(depth, emit_expr(b, expr->c, reads));
    patch_jump(b, to_end);
    return depth;
}

static uint32_t emit_binary(struct builder *b, const struct ast_expr *expr, uint64_t *reads)
{
    if (expr->binary == BINARY_LOGICAL_AND || expr->binary == BINARY_LOGICAL_OR)
        return emit_logical(b, expr, reads);
    uint32_t left = emit_expr(b, expr->a, reads);
    if (expr->b->kind == EXPR_INT) {
        emit_op(b, (enum code_op)(OP_BINARY_INT + (int)expr->binary), expr->b->value);
        return left;
    }
    uint32_t right = emit_expr(b, expr->b, reads);
    emit_op(b, (enum code_op)(OP_BINARY + (int)expr->binary), 0);
    return max_u32(left, right + 1);
}

/* Code that leaves the value on top of the stack; returns the most values that it holds there. */
static uint32_t emit_expr(struct builder *b, const struct ast_expr *expr, uint64_t *reads)
{
    uint32_t depth = 1;
    switch (expr->kind) {
    case EXPR_INT:
        emit_op(b, OP_INT, expr->value);
        break;
    case EXPR_VAR:
        *reads |= footprint_bit(expr->var);
        emit_variable(b, (enum code_op)(OP_GLOBAL + (int)expr->var->space), expr->var);
        break;
    case EXPR_INDEX:
        depth = emit_expr(b, expr->a, reads);
        *reads |= footprint_bit(expr->var);
        emit_variable(b, OP_INDEX, expr->var);
        break;
    case EXPR_BUILTIN:
        emit_op(b, OP_BUILTIN, (int32_t)expr->builtin);
        break;
    case EXPR_UNARY:
        depth = emit_expr(b, expr->a, reads);
        emit_op(b, OP_UNARY, (int32_t)expr->unary);
        break;
    case EXPR_BINARY:
        return emit_binary(b, expr, reads);
    case EXPR_COND:
        return emit_cond(b, expr, reads);
    case EXPR_ALL:
    case EXPR_ANY:
        invariant_fail("a reduction in the lock-step form only", __FILE__, __LINE__);
    }
    return depth;
}

/* A whole expression; returns where its code starts. */
static uint32_t emit_root(struct builder *b, const struct ast_expr *expr, uint64_t *reads)
{
    uint32_t start = b->program->op_count;
    uint32_t depth = emit_expr(b, expr, reads);
    emit_op(b, OP_END, 0);
    b->program->expr_depth = max_u32(b->program->expr_depth, depth);
    return start;
}

/* ---- statements ---- */

/* A list as laid out: where it starts, and the most stack entries that its execution holds within
 * one activation, the entry of the list itself included. */
struct list_code {
    uint32_t first;
    uint32_t depth;
};

static struct list_code emit_list(struct builder *b, const struct ast_stm *list,
                                  struct location at);

/* The statement's place in the arrays is reserved; its lists are laid out behind. Returns the most
 * stack entries above the rest of its own list. */
static uint32_t emit_stm(struct builder *b, const struct ast_stm *stm, uint32_t at)
{
    /* Lists below may not move the array, so the pointer stays good. */
    struct code_stm *code = &b->program->stms[at];
    struct list_code first, second;
    code->line = stm->at.line;
    code->function = b->function;
    code->value = code->first = code->second = CODE_NONE;
    code->block = code->guard = code->argument = CODE_NONE;
    code->place.index = code->place.var = CODE_NONE;
    code->source = stm;
    if (stm->value)
        code->value = emit_root(b, stm->value, &code->reads);
    switch (stm->kind) {
    case STM_SKIP:
    case STM_MEMBAR: /* memory is sequentially consistent here */
        code->kind = CODE_SKIP;
        return 0;
    case STM_ASSIGN: {
        const struct ast_var *var = stm->target.var;
        code->kind = CODE_ASSIGN;
        code->writes = footprint_bit(var);
        code->place.space = var->space;
        code->place.offset = variable_offset(b->program, var);
        code->place.length = var->length;
        if (var->space != SPACE_LOCAL)
            code->place.var = var->mark;
        if (stm->target.index)
            code->place.index = emit_root(b, stm->target.index, &code->reads);
        return 0;
    }
    case STM_IF: /* a warp holds sync, the second list and div under the list that runs */
        code->kind = CODE_IF;
        first = emit_list(b, branch_list(stm->body), stm->at);
        second = emit_list(b, branch_list(stm->other), stm->at);
        code->first = first.first;
        code->second = second.first;
        return 3 + max_u32(first.depth, second.depth);
    case STM_WHILE: /* brk and the continuing loop under the body */
        code->kind = CODE_WHILE;
        first = emit_list(b, branch_list(stm->body), stm->at);
        code->first = first.first;
        return 2 + first.depth;
    case STM_BREAK:
        code->kind = CODE_BREAK;
        return 0;
    case STM_CALL:
        code->kind = CODE_CALL;
        code->first = stm->function->mark;
        b->calls[b->function * b->call_words + code->first / 64] |= (uint64_t)1 << code->first % 64;
        return 0; /* the callee's entries are those of another activation */
    case STM_RETURN:
        code->kind = CODE_RETURN;
        return 0;
    case STM_EXIT:
        code->kind = CODE_EXIT;
        return 0;
    case STM_ASSERT:
        code->kind = CODE_ASSERT;
        return 0;
    case STM_BLOCK:
    case STM_DO:
    case STM_FOR:
    case STM_SWITCH:
    case STM_CONTINUE:
    case STM_BARRIER:
    case STM_SYNC:
    case STM_ARRIVE:
    case STM_ATOMIC:
    case STM_VOTE:
    case STM_ASSUME:
    case STM_HAVOC:
    case STM_PICK:
    case STM_LOCKSYNC:
    case STM_KIND_COUNT:
        break;
    }
    invariant_fail("a statement that counting refused", __FILE__, __LINE__);
}

/* Fills the reserved run from *cursor on; returns the most entries above the rest of the list. */
static uint32_t emit_run(struct builder *b, const struct ast_stm *list, uint32_t *cursor)
{
    uint32_t depth = 0;
    for (const struct ast_stm *stm = list; stm; stm = stm->next)
        depth = max_u32(depth, stm->kind == STM_BLOCK ? emit_run(b, stm->body, cursor)
                                                      : emit_stm(b, stm, (*cursor)++));
    return depth;
}

static struct list_code emit_list(struct builder *b, const struct ast_stm *list, struct location at)
{
    struct program *program = b->program;
    uint32_t length = flat_length(list);
    if (length == 0) {
        list = ast_stm(b->arena, STM_SKIP, at);
        length = 1;
    }
    uint32_t first = program->stm_count;
    program->stm_count += length;
    INVARIANT(program->stm_count <= b->stm_bound);
    program->stms[first + length - 1].last = true;
    uint32_t cursor = first;
    uint32_t above = emit_run(b, list, &cursor);
    return (struct list_code){.first = first, .depth = 1 + above};
}

static void emit_functions(struct builder *b)
{
    struct program *program = b->program;
    const struct ast_kernel *core = program->core;
    program->stms = ARENA_ARRAY(b->arena, struct code_stm, b->stm_bound);
    program->ops = ARENA_ARRAY(b->arena, struct code_expr_op, b->op_bound);
    b->call_words = (program->function_count + 63) / 64;
    b->calls = ARENA_ARRAY(b->arena, uint64_t, (size_t)program->function_count * b->call_words);
    for (struct ast_function *f = core->main; f; f = f == core->main ? core->functions : f->next) {
        b->function = f->mark;
        struct list_code body = emit_list(b, f->body, f->at);
        program->functions[f->mark].body = body.first;
        program->functions[f->mark].stack_depth = 1 + body.depth;
    }
}

/* ---- how deep stacks get ---- */

static bool calls_function(const struct builder *b, uint32_t caller, uint32_t callee)
{
    return b->calls[caller * b->call_words + callee / 64] >> callee % 64 & 1;
}

/* Whether a function that the kernel reaches can reach itself. colour: 0 new, 1 on the path, 2 done;
 * the recursion is as deep as there are functions (LIMIT_FUNCTIONS). */
static bool finds_cycle(const struct builder *b, uint8_t *colour, uint32_t function)
{
    colour[function] = 1;
    for (uint32_t callee = 0; callee < b->program->function_count; callee++) {
        if (!calls_function(b, function, callee) || colour[callee] == 2)
            continue;
        if (colour[callee] == 1 || finds_cycle(b, colour, callee))
            return true;
    }
    colour[function] = 2;
    return false;
}

struct activation_words {
    uint64_t stack, frame;
};

static struct activation_words activation_max(struct activation_words a, struct activation_words b)
{
    return (struct activation_words){.stack = a.stack > b.stack ? a.stack : b.stack,
                                     .frame = a.frame > b.frame ? a.frame : b.frame};
}

/* What the kernel's activation and all that are below it need together: the most over all chains of
 * at most LIMIT_CALL_DEPTH calls. need[f] after round k covers the chains of at most k + 1
 * activations that start with f; no round changes anything once no chain is longer. */
static struct activation_words chain_needs(const struct builder *b)
{
    const struct program *program = b->program;
    uint32_t count = program->function_count;
    struct activation_words *need = ARENA_ARRAY(b->arena, struct activation_words, count);
    struct activation_words *longer = ARENA_ARRAY(b->arena, struct activation_words, count);
    for (uint32_t round = 0; round < LIMIT_CALL_DEPTH; round++) {
        bool changed = false;
        for (uint32_t f = 0; f < count; f++) {
            struct activation_words callees = {0, 0};
            for (uint32_t callee = 0; callee < count; callee++)
                if (calls_function(b, f, callee))
                    callees = activation_max(callees, need[callee]);
            longer[f].stack = program->functions[f].stack_depth + callees.stack;
            longer[f].frame = program->functions[f].frame_words + callees.frame;
            changed |= longer[f].stack != need[f].stack || longer[f].frame != need[f].frame;
        }
        memcpy(need, longer, count * sizeof *need);
        if (!changed)
            break;
    }
    return need[0];
}

/* ---- memory ---- */

static void layout_memory(struct builder *b, uint64_t words[SPACE_COUNT])
{
    struct program *program = b->program;
    const struct ast_launch *launch = &program->launch;
    struct activation_words need = chain_needs(b);
    words[SPACE_LOCAL] = need.frame;
    uint64_t shared_base = words[SPACE_GLOBAL];
    uint64_t private_base = shared_base + words[SPACE_SHARED] * launch->blocks;
    uint64_t frame_base = private_base + words[SPACE_PRIVATE] * program->total_threads;
    uint64_t total = frame_base + words[SPACE_LOCAL] * program->total_threads;
    if (total > LIMIT_MEMORY_WORDS) {
        b->reason = arena_printf(b->arena, "needs %llu words of memory, limit %u",
                                 (unsigned long long)total, (unsigned)LIMIT_MEMORY_WORDS);
        return;
    }
    for (int space = 0; space < SPACE_COUNT; space++)
        program->words[space] = (uint32_t)words[space];
    program->shared_base = (uint32_t)shared_base;
    program->private_base = (uint32_t)private_base;
    program->frame_base = (uint32_t)frame_base;
    program->memory_words = (uint32_t)total;
    program->stack_depth = (uint32_t)need.stack;
    uint8_t *colour = ARENA_ARRAY(b->arena, uint8_t, program->function_count);
    program->recursive = finds_cycle(b, colour, 0);
}

static void set_launch(struct program *program)
{
    const struct ast_launch *launch = &program->launch;
    INVARIANT(launch->threads >= 1 && launch->threads <= LIMIT_THREADS);
    INVARIANT(launch->blocks >= 1 && launch->blocks <= LIMIT_BLOCKS);
    INVARIANT(launch->warp >= 1 && launch->warp <= LIMIT_WARP);
    program->total_threads = launch->threads * launch->blocks;
    INVARIANT(program->total_threads <= LIMIT_TOTAL_THREADS);
    program->warps_per_block = (launch->threads + launch->warp - 1) / launch->warp;
    program->warp_count = program->warps_per_block * launch->blocks;
}

/* Runs the passes in order; false with a reason when one refuses. */
static bool compile(struct builder *b)
{
    const struct ast_kernel *core = b->program->core;
    uint64_t words[SPACE_COUNT] = {0};
    for (struct ast_function *f = core->functions; f; f = f->next)
        count_branch(b, f->body);
    count_branch(b, core->main->body);
    if (b->reason)
        return false;
    layout_variables(b, words);
    if (b->reason)
        return false;
    layout_functions(b);
    if (b->reason)
        return false;
    emit_functions(b);
    if (b->program->expr_depth > PROGRAM_EXPR_DEPTH) {
        b->reason = arena_printf(b->arena, "an expression holds %u values, limit %u",
                                 (unsigned)b->program->expr_depth, (unsigned)PROGRAM_EXPR_DEPTH);
        return false;
    }
    layout_memory(b, words);
    return !b->reason;
}

struct program *program_compile(struct arena *arena, const struct ast_kernel *core,
                                const char **reason)
{
    if (core->form != FORM_STRUCTURED) {
        *reason = "unsupported form: blocks";
        return NULL;
    }
    struct program *program = ARENA_NEW(arena, struct program);
    program->core = core;
    program->launch = core->launch;
    set_launch(program);
    struct builder b = {.arena = arena, .program = program};
    if (!compile(&b)) {
        *reason = b.reason;
        return NULL;
    }
    return program;
}
