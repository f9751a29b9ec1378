/*
 * lower_cfg.c - statements to blocks.
 *
 * Blocks are begun in the order of the source and filled one after another: statements go to the end
 * of the current one. cfg_sort then moves what is no part of a loop (paths of a break, unless they are
 * anchored) out of the middle of it.
 */
#include "engine/forms/lower_cfg.h"

#include "engine/base/invariant.h"
#include "engine/forms/cfg.h"
#include "engine/forms/lower_cfg_internal.h"
#include "engine/input/input.h"

#include <string.h>

/* A loop around the statement at hand, also when it lies in a caller. */
struct cfg_scope_loop {
    struct cfg_scope_loop *parent;
    const struct frame *frame;
    struct ast_block *head;
    struct ast_block *after; /* where break goes; made when it is needed, as the next */
    struct ast_block *never; /* z of S2C.anchor */
};

/* A function that is inlined at one place, or the one whose blocks are built: the host. */
struct frame {
    const struct frame *host; /* NULL: itself */
    struct ast_block *back;   /* where return goes; made when it is needed; the kernel's: End */
    struct location at;
};

struct building {
    struct arena *arena;
    const struct lower_cfg_options *options;
    struct ast_kernel *kernel;
    const struct call_graph *calls;
    struct fresh_names *block_names;
    uint32_t local_count; /* of number_locals */
    uint32_t blocks, nodes;
    bool deep;          /* an expression may be deeper than the language allows */
    uint32_t origin;    /* of the statement whose guard is built */
    const char *reason; /* why not; nothing more is built then */

    /* of the function whose blocks are built */
    struct ast_function *host;
    struct fresh_names *names;
    struct ast_var *condition;     /* c of S2C.guard; made when it is needed */
    struct ast_var **replacements; /* of the locals of functions that are inlined */
    struct ast_block *first, *last;
    struct ast_block *current; /* NULL: control does not get here */
    struct ast_stm **end;      /* of the current block's statements */

    struct frame *frame;
    struct cfg_scope_loop *loop; /* the innermost */
};

static void refuse(struct building *b, const char *reason)
{
    if (!b->reason)
        b->reason = reason;
}

/* ---- blocks ---- */

static struct ast_block *new_named(struct building *b, const char *name, struct location at)
{
    struct ast_block *block = ARENA_NEW(b->arena, struct ast_block);
    block->name = fresh_name(b->block_names, name);
    block->at = at;
    if (++b->blocks > LIMIT_LABELS)
        refuse(b, arena_printf(b->arena, "more than %d blocks", LIMIT_LABELS));
    return block;
}

/* Named after the line of the source: a number keeps `while` from being the word of the language. */
static struct ast_block *new_block(struct building *b, const char *stem, struct location at)
{
    return new_named(b, arena_printf(b->arena, "%s%u", stem, (unsigned)at.line), at);
}

/* What follows stands in this block. */
static void begin(struct building *b, struct ast_block *block)
{
    if (b->last)
        b->last->next = block;
    else
        b->first = block;
    b->last = b->current = block;
    b->end = &block->body;
}

static void add(struct building *b, struct ast_stm *stm)
{
    stm->next = NULL;
    *b->end = stm;
    b->end = &stm->next;
}

static void set_targets(struct building *b, struct ast_block *block, struct ast_block *target,
                        struct ast_block *other)
{
    block->targets = ARENA_ARRAY(b->arena, struct ast_block *, 2);
    block->target_count = other ? 2 : 1;
    block->targets[0] = target;
    block->targets[1] = other;
}

/* The current block ends. */
static void go(struct building *b, struct ast_block *target)
{
    set_targets(b, b->current, target, NULL);
    b->current = NULL;
}

/*  RULE S2C.anchor: a path that leaves a loop by break, return or exit ends with
 *
 *      goto target, z        z: assume false; goto head of the innermost loop around it
 *
 *  so that it is part of the natural loop. `leaves` is that loop; NULL: no loop is left. */
static void leave(struct building *b, struct ast_block *target, struct cfg_scope_loop *leaves,
                  struct location at)
{
    if (!leaves || !b->options->anchored) {
        go(b, target);
        return;
    }
    if (!leaves->never)
        leaves->never = new_block(b, "never", at);
    set_targets(b, b->current, target, leaves->never);
    b->current = NULL;
}

/* ---- conditions ---- */

static struct ast_var *condition(struct building *b)
{
    if (!b->condition) {
        b->condition = ast_var(b->arena, fresh_name(b->names, "cond"), SPACE_LOCAL, 1, false);
        ast_var_append(&b->host->locals, b->condition);
    }
    return b->condition;
}

static void add_assume(struct building *b, struct ast_expr *value, struct location at)
{
    struct ast_stm *stm = ast_stm(b->arena, STM_ASSUME, at);
    stm->value = value;
    add(b, stm);
}

/* A block with the guard c, or !c. */
static void begin_guarded(struct building *b, struct ast_block *block, bool positive)
{
    struct ast_expr *guard = ast_var_ref(b->arena, condition(b));
    begin(b, block);
    add_assume(b, positive ? guard : ast_unary(b->arena, UNARY_NOT, guard), block->at);
}

static bool is_truth_value(const struct ast_expr *expr)
{
    if (expr->kind == EXPR_UNARY)
        return expr->unary == UNARY_NOT;
    if (expr->kind == EXPR_INT)
        return expr->value == 0 || expr->value == 1;
    if (expr->kind != EXPR_BINARY)
        return false;
    uint8_t level = ast_binary_levels[expr->binary];
    return level == ast_binary_levels[BINARY_LT] || level == ast_binary_levels[BINARY_EQ] ||
           expr->binary == BINARY_LOGICAL_AND || expr->binary == BINARY_LOGICAL_OR;
}

static uint32_t height(const struct ast_expr *expr)
{
    if (!expr)
        return 0;
    uint32_t a = height(expr->a), b = height(expr->b), c = height(expr->c);
    if (expr->kind == EXPR_BINARY) /* a link of a chain */
        a = a > LIMIT_CHAIN - 1 ? a - (LIMIT_CHAIN - 1) : 0;
    uint32_t most = a > b ? a : b;
    return LIMIT_CHAIN + (most > c ? most : c);
}

/* (e) != 0 */
static struct ast_expr *truth(struct building *b, struct ast_expr *expr)
{
    if (is_truth_value(expr))
        return expr;
    b->deep |= height(expr) > (LIMIT_DEPTH - 1) * LIMIT_CHAIN;
    struct ast_expr *result = ast_binary(b->arena, BINARY_NE, expr, ast_int(b->arena, 0));
    result->at = expr->at;
    return result;
}

static bool is_logic(const struct building *b, const struct ast_expr *expr)
{
    return b->options->logic_blocks &&
           (expr->kind == EXPR_COND ||
            (expr->kind == EXPR_BINARY &&
             (expr->binary == BINARY_LOGICAL_AND || expr->binary == BINARY_LOGICAL_OR)));
}

/*  RULE S2C.guard: c := (e != 0); goto T, F  with guards c and !c. Ends the current block.
 *
 *  With logic blocks an operand that may stay unevaluated has a block of its own, begun here; all of
 *  them are left with c set to the value of the whole. */
static void branch(struct building *b, struct ast_expr *e, struct ast_block *then,
                   struct ast_block *other, struct location at)
{
    if (!is_logic(b, e)) {
        struct ast_stm *stm = ast_assign(b->arena, condition(b), NULL, truth(b, e), at);
        stm->origin = b->origin;
        add(b, stm);
        set_targets(b, b->current, then, other);
        b->current = NULL;
        return;
    }
    struct ast_block *left = new_block(b, "operand", at);
    if (e->kind == EXPR_COND) {
        struct ast_block *right = new_block(b, "operand", at);
        bool first = b->options->then_first;
        branch(b, e->a, left, right, at);
        begin_guarded(b, first ? left : right, first);
        branch(b, first ? e->b : e->c, then, other, at);
        begin_guarded(b, first ? right : left, !first);
        branch(b, first ? e->c : e->b, then, other, at);
        return;
    }
    bool both = e->binary == BINARY_LOGICAL_AND;
    branch(b, e->a, both ? left : then, both ? other : left, at);
    begin_guarded(b, left, both);
    branch(b, e->b, then, other, at);
}

/* ---- two ways that meet again ---- */

typedef void build_branch(struct building *b, void *context, bool then);

/* if (e) .. else ..: the branches in the order asked for, and the block behind both. */
static void fork(struct building *b, struct ast_expr *e, struct location at, build_branch *build,
                 void *context)
{
    struct ast_block *then = new_block(b, "then", at), *other = new_block(b, "else", at);
    struct ast_block *ends[2];
    bool then_first = b->options->then_first;
    branch(b, e, then, other, at);
    for (int i = 0; i < 2; i++) {
        bool positive = (i == 0) == then_first;
        begin_guarded(b, positive ? then : other, positive);
        build(b, context, positive);
        ends[i] = b->current;
    }
    b->current = NULL;
    if (!ends[0] && !ends[1])
        return;
    struct ast_block *join = new_block(b, "join", at);
    for (int i = 0; i < 2; i++)
        if (ends[i])
            set_targets(b, ends[i], join, NULL);
    begin(b, join);
}

/* ---- statements ---- */

static void build_list(struct building *b, struct ast_stm *list, bool tail);

struct if_context {
    struct ast_stm *stm;
    bool tail;
};

static struct ast_stm *branch_list(struct ast_stm *branch)
{
    return branch && branch->kind == STM_BLOCK ? branch->body : branch;
}

static void build_if_branch(struct building *b, void *context, bool then)
{
    struct if_context *c = context;
    build_list(b, branch_list(then ? c->stm->body : c->stm->other), c->tail);
}

static void build_if(struct building *b, struct ast_stm *stm, bool tail)
{
    struct if_context context = {stm, tail};
    b->origin = stm->origin;
    fork(b, stm->value, stm->at, build_if_branch, &context);
}

/* while (e) S  as  head: c := e; goto body, done;  body: assume c; S; goto head;  done: assume !c; */
static void build_while(struct building *b, struct ast_stm *stm)
{
    struct cfg_scope_loop loop = {
        .parent = b->loop, .frame = b->frame, .head = new_block(b, "while", stm->at)};
    struct ast_block *body = new_block(b, "body", stm->at), *done = new_block(b, "done", stm->at);
    go(b, loop.head);
    begin(b, loop.head);
    b->origin = stm->origin;
    branch(b, stm->value, body, done, stm->at);
    begin_guarded(b, body, true);
    b->loop = &loop;
    build_list(b, branch_list(stm->body), false);
    b->loop = loop.parent;
    if (b->current)
        go(b, loop.head);
    if (loop.never) {
        begin(b, loop.never);
        add_assume(b, ast_int(b->arena, 0), loop.never->at);
        go(b, loop.head);
    }
    begin_guarded(b, done, false);
    if (loop.after) {
        go(b, loop.after);
        begin(b, loop.after);
    }
}

static void build_break(struct building *b, const struct ast_stm *stm)
{
    if (!b->loop->after)
        b->loop->after = new_block(b, "after", stm->at);
    leave(b, b->loop->after, b->loop, stm->at);
}

/* The innermost loop of the frame at hand. */
static struct cfg_scope_loop *loop_of_frame(const struct building *b)
{
    return b->loop && b->loop->frame == b->frame ? b->loop : NULL;
}

static bool is_kernel(const struct building *b)
{
    return b->host == b->kernel->main;
}

static void build_return(struct building *b, const struct ast_stm *stm)
{
    bool ends = !b->frame->host && is_kernel(b);
    if (!ends && !b->frame->back)
        b->frame->back = new_block(b, b->frame->host ? "back" : "return", b->frame->at);
    leave(b, b->frame->back, loop_of_frame(b), stm->at);
}

static void build_exit(struct building *b, const struct ast_stm *stm)
{
    if (is_kernel(b))
        leave(b, NULL, b->loop, stm->at);
    else
        refuse(b, arena_printf(b->arena, "exit in a procedure at line %u", stm->at.line));
}

/* A leading assume is a block's guard (WF.1), read when the block is chosen; a statement is none. */
static void build_assume(struct building *b, struct ast_stm *stm)
{
    if (!b->current->body)
        add_assume(b, ast_int(b->arena, 1), stm->at);
    add(b, stm);
}

/* ---- && || ?: as blocks, on a right-hand side ---- */

struct assign_context {
    const struct ast_stm *stm;
    struct ast_expr *value;
    bool as_truth; /* (value) != 0 is assigned */
};

static void build_value(struct building *b, struct assign_context *c);

static void build_operand(struct building *b, void *context, bool then)
{
    struct assign_context operand = *(struct assign_context *)context;
    struct ast_expr *e = operand.value;
    bool known = e->kind == EXPR_BINARY && then == (e->binary == BINARY_LOGICAL_OR);
    operand.as_truth |= e->kind == EXPR_BINARY;
    if (known)
        operand.value = ast_int(b->arena, then);
    else
        operand.value = e->kind == EXPR_BINARY || then ? e->b : e->c;
    build_value(b, &operand);
}

/* target = value; where value may be built from blocks. */
static void build_value(struct building *b, struct assign_context *c)
{
    if (is_logic(b, c->value)) {
        b->origin = 0;
        fork(b, c->value->a, c->stm->at, build_operand, c);
        return;
    }
    struct ast_expr *index =
        c->stm->target.index ? ast_expr_copy(b->arena, c->stm->target.index) : NULL;
    add(b, ast_assign(b->arena, c->stm->target.var, index,
                      c->as_truth ? truth(b, c->value) : c->value, c->stm->at));
}

static void build_assign(struct building *b, struct ast_stm *stm)
{
    struct assign_context context = {.stm = stm, .value = stm->value};
    if (is_logic(b, stm->value))
        build_value(b, &context);
    else
        add(b, stm);
}

/* ---- calls ---- */

static bool is_procedure(const struct building *b, const struct ast_function *function)
{
    return b->options->keep_calls || call_graph_is_recursive(b->calls, function);
}

/* The variables of the host that stand for a function's locals. A thread is in one activation of an
 * inlined function at a time. */
static void make_locals(struct building *b, const struct ast_function *function)
{
    for (const struct ast_var *local = function->locals; local; local = local->next) {
        if (b->replacements[local->mark])
            continue;
        struct ast_var *var = ARENA_NEW(b->arena, struct ast_var);
        *var = *local;
        var->name = fresh_name(b->names, local->name);
        var->mark = 0;
        var->next = NULL;
        ast_var_append(&b->host->locals, var);
        b->replacements[local->mark] = var;
    }
}

/* Whether the body starts by giving a scalar a value that does not come from the frame. */
static bool starts_assigned(const struct ast_function *function, const struct ast_var *local)
{
    for (const struct ast_stm *stm = function->body; stm && stm->kind == STM_ASSIGN;
         stm = stm->next) {
        bool plain = stm->value->kind == EXPR_INT ||
                     (stm->value->kind == EXPR_VAR && stm->value->var->space == SPACE_PRIVATE);
        if (!plain || stm->target.index)
            return false;
        if (stm->target.var == local)
            return true;
    }
    return false;
}

/* A frame is fresh at each call. */
static void add_fresh_frame(struct building *b, const struct ast_function *function)
{
    for (const struct ast_var *local = function->locals; local && !b->reason; local = local->next) {
        struct ast_var *var = b->replacements[local->mark];
        if (starts_assigned(function, local))
            continue;
        for (uint32_t i = 0; i < var->length; i++) {
            struct ast_expr *index = var->is_array ? ast_int(b->arena, (int32_t)i) : NULL;
            int32_t value = i < var->init_count ? var->init[i] : 0;
            add(b, ast_assign(b->arena, var, index, ast_int(b->arena, value),
                              (struct location){0, 0}));
        }
        b->nodes += 3 * var->length;
    }
}

static const char *too_large(struct building *b)
{
    return arena_printf(b->arena, "more than %d statements, expressions and declarations",
                        LIMIT_NODES);
}

static void build_inlined(struct building *b, const struct ast_stm *call)
{
    const struct ast_function *function = call->function;
    struct frame frame = {.host = b->frame->host ? b->frame->host : b->frame, .at = call->at};
    struct frame *caller = b->frame;
    make_locals(b, function);
    add_fresh_frame(b, function);
    struct ast_stm *body = ast_stm_list_copy(b->arena, function->body);
    b->nodes += replace_locals(body, b->replacements);
    if (b->nodes > LIMIT_NODES) {
        refuse(b, too_large(b));
        return;
    }
    b->frame = &frame;
    build_list(b, body, true);
    b->frame = caller;
    if (frame.back) {
        if (b->current)
            go(b, frame.back);
        begin(b, frame.back);
    }
}

static void build_call(struct building *b, struct ast_stm *stm)
{
    if (is_procedure(b, stm->function))
        add(b, stm);
    else
        build_inlined(b, stm);
}

/* ---- lists ---- */

static void build_stm(struct building *b, struct ast_stm *stm, bool tail)
{
    switch (stm->kind) {
    case STM_IF:
        build_if(b, stm, tail);
        return;
    case STM_WHILE:
        build_while(b, stm);
        return;
    case STM_BREAK:
        build_break(b, stm);
        return;
    case STM_RETURN:
        build_return(b, stm);
        return;
    case STM_EXIT:
        build_exit(b, stm);
        return;
    case STM_CALL:
        build_call(b, stm);
        return;
    case STM_ASSIGN:
        build_assign(b, stm);
        return;
    case STM_ASSUME:
        build_assume(b, stm);
        return;
    case STM_SKIP:
    case STM_BARRIER:
    case STM_SYNC:
    case STM_ARRIVE:
    case STM_ATOMIC:
    case STM_ASSERT:
    case STM_HAVOC:
    case STM_MEMBAR:
        add(b, stm);
        return;
    case STM_BLOCK:
        build_list(b, stm->body, tail);
        return;
    case STM_VOTE:
    case STM_DO:
    case STM_FOR:
    case STM_SWITCH:
    case STM_CONTINUE:
    case STM_PICK:
    case STM_LOCKSYNC:
    case STM_KIND_COUNT:
        refuse(b, arena_printf(b->arena, "unsupported statement '%s' at line %u",
                               ast_stm_names[stm->kind], stm->at.line));
        return;
    }
    invariant_fail("a statement of the language", __FILE__, __LINE__);
}

/* The statements of a list, up to where control leaves it. `tail`: behind it the function ends. */
static void build_list(struct building *b, struct ast_stm *list, bool tail)
{
    for (struct ast_stm *stm = list, *next; stm && b->current && !b->reason; stm = next) {
        next = stm->next;
        bool last = tail && !next;
        if (stm->kind == STM_RETURN && last)
            return;
        build_stm(b, stm, last);
    }
}

/* ---- functions ---- */

/* Locals with the name of something at file level, which inlined statements may mean. */
static void rename_locals(struct building *b, struct ast_function *host)
{
    b->names = fresh_names_new(b->arena);
    fresh_names_add_vars(b->names, b->kernel->vars);
    for (const struct ast_function *f = b->kernel->functions; f; f = f->next)
        fresh_names_add(b->names, f->name);
    for (struct ast_var *var = host->locals; var; var = var->next)
        var->name = fresh_name(b->names, var->name);
}

/* S2C.order: the list in a valid sort order that departs from the order of the source only for what
 * is outside of the loop in whose middle it stands. */
static void put_in_order(struct building *b)
{
    const char *reason = "";
    struct location at;
    size_t mark = arena_mark(b->arena);
    b->host->blocks = b->first;
    struct cfg *cfg = cfg_build(b->arena, b->host, &reason, &at);
    INVARIANT(cfg != NULL);
    cfg_sort(b->arena, cfg, 0);
    for (uint32_t place = 0; place < cfg->count; place++)
        cfg->blocks[cfg->order[place]]->next =
            place + 1 < cfg->count ? cfg->blocks[cfg->order[place + 1]] : NULL;
    arena_release(b->arena, mark);
}

static void build_function(struct building *b, struct ast_function *host)
{
    struct frame frame = {.at = host->at};
    b->host = host;
    b->condition = NULL;
    b->replacements = ARENA_ARRAY(b->arena, struct ast_var *, b->local_count + 1);
    b->first = b->last = NULL;
    b->frame = &frame;
    b->loop = NULL;
    rename_locals(b, host);
    begin(b, is_kernel(b) ? new_named(b, "Start", host->at) : new_block(b, "entry", host->at));
    build_list(b, host->body, true);
    host->body = NULL;
    if (b->reason)
        return;
    if (b->current && !is_kernel(b) && !frame.back)
        frame.back = new_block(b, "return", host->at);
    if (b->current)
        go(b, frame.back);
    if (frame.back) {
        begin(b, frame.back);
        frame.back->returns = true;
    }
    put_in_order(b);
}

/* The functions that stay: procedures that are called. */
static struct ast_function *keep_procedures(struct building *b, struct ast_function *list)
{
    struct ast_function *first = NULL, **last = &first;
    for (struct ast_function *f = list, *next; f; f = next) {
        next = f->next;
        if (!call_graph_is_called(b->calls, f) || !is_procedure(b, f))
            continue;
        f->next = NULL;
        *last = f;
        last = &f->next;
    }
    return first;
}

static uint64_t count_words(const struct ast_var *list, bool private, uint32_t *count)
{
    uint64_t words = 0;
    for (; list; list = list->next, ++*count)
        if ((list->space == SPACE_PRIVATE || list->space == SPACE_LOCAL) == private)
            words += list->length;
    return words;
}

/* Whether the kernel could have more than the language allows of what lowering adds; on the side of
 * yes: ast_check then decides. */
static bool is_near_limits(const struct building *b)
{
    const struct ast_launch *launch = &b->kernel->launch;
    uint32_t count = 0;
    uint64_t thread = count_words(b->kernel->vars, true, &count);
    uint64_t words = count_words(b->kernel->vars, false, &count) * launch->blocks;
    uint64_t frame = count_words(b->kernel->main->locals, true, &count);
    bool near = b->deep;
    for (const struct ast_function *f = b->kernel->functions; f; f = f->next) {
        uint64_t own = count_words(f->locals, true, &count);
        frame = own > frame ? own : frame;
        near |= strcmp(f->name, "pick") == 0;
    }
    thread += (LIMIT_CALL_DEPTH + 1) * frame;
    words += thread * launch->threads * launch->blocks;
    return near || count > LIMIT_VARIABLES || words > LIMIT_MEMORY_WORDS;
}

/* The first thing that the language does not allow. */
static const char *language_error(struct building *b)
{
    struct diag diag;
    diag_init(&diag, "", NULL, 0);
    if (count_nodes(b->kernel) > LIMIT_NODES)
        return too_large(b);
    if (!is_near_limits(b) || ast_check(b->kernel, &diag))
        return NULL;
    return arena_printf(b->arena, "%s at line %u", diag.entries[0].text,
                        (unsigned)diag.entries[0].at.line);
}

static void link_to_core(struct ast_stm *list)
{
    for (; list; list = list->next) {
        list->origin = 1 + list->mark;
        link_to_core(list->body);
        link_to_core(list->other);
    }
}

struct ast_kernel *lower_cfg(struct arena *arena, const struct ast_kernel *core,
                             const struct lower_cfg_options *options, const char **reason)
{
    INVARIANT(core->form == FORM_STRUCTURED);
    struct ast_kernel *kernel = ast_kernel_copy(arena, core);
    struct building b = {.arena = arena,
                         .options = options,
                         .kernel = kernel,
                         .calls = call_graph_new(arena, kernel),
                         .block_names = fresh_names_new(arena)};
    fresh_names_add(b.block_names, "End");
    if (options->link) {
        link_to_core(kernel->main->body);
        for (struct ast_function *f = kernel->functions; f; f = f->next)
            link_to_core(f->body);
    }
    kernel->form = FORM_BLOCKS;
    b.local_count = number_locals(kernel);
    build_function(&b, kernel->main);
    kernel->functions = keep_procedures(&b, kernel->functions);
    for (struct ast_function *f = kernel->functions; f && !b.reason; f = f->next)
        build_function(&b, f);
    if (!b.reason)
        b.reason = language_error(&b);
    *reason = b.reason;
    return b.reason ? NULL : kernel;
}
