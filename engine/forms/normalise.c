/*
 * normalise.c - the passes.
 */
#include "engine/forms/normalise.h"

#include "engine/base/invariant.h"
#include "engine/input/input.h"
#include "engine/language/fresh.h"

#include <string.h>

struct normalising {
    struct arena *arena;
    struct ast_kernel *kernel;
    struct fresh_names *names;
    uint32_t blocks;    /* of the kernel */
    const char *reason; /* why not */
};

/* ---- shapes ---- */

static bool is_true(const struct ast_stm *assume)
{
    return assume->value->kind == EXPR_INT && assume->value->value != 0;
}

static bool is_call_block(const struct ast_block *block)
{
    return block->body && block->body->kind == STM_CALL && !block->body->next;
}

static bool is_return_block(const struct ast_block *block)
{
    return block->returns && !block->body;
}

static bool is_target(const struct ast_function *function, const struct ast_block *block)
{
    for (const struct ast_block *b = function->blocks; b; b = b->next)
        for (uint32_t i = 0; i < b->target_count; i++)
            if (b->targets[i] == block)
                return true;
    return false;
}

/* ---- building ---- */

static struct ast_block *new_block(struct normalising *n, const char *base, struct location at)
{
    struct ast_block *block = ARENA_NEW(n->arena, struct ast_block);
    block->name = fresh_name(n->names, base);
    block->at = at;
    if (++n->blocks == LIMIT_LABELS + 1)
        n->reason = arena_printf(n->arena, "more than %d blocks", LIMIT_LABELS);
    return block;
}

static struct ast_stm *new_assume(struct normalising *n, struct location at)
{
    struct ast_stm *assume = ast_stm(n->arena, STM_ASSUME, at);
    assume->value = ast_int(n->arena, 1);
    return assume;
}

static void set_target(struct normalising *n, struct ast_block *block, struct ast_block *target)
{
    block->returns = false;
    block->target_count = 1;
    block->targets = ARENA_ARRAY(n->arena, struct ast_block *, 1);
    block->targets[0] = target;
}

static void append(struct ast_function *function, struct ast_block *block)
{
    struct ast_block **last = &function->blocks;
    while (*last)
        last = &(*last)->next;
    *last = block;
    block->next = NULL;
}

/* ---- NORMALISE_ENTRY ---- */

/* An empty block before the entry. The kernel's is named Start: the former Start gets a fresh name. */
static void add_entry(struct normalising *n, struct ast_function *function)
{
    struct ast_block *former = function->blocks;
    bool is_kernel = function == n->kernel->main;
    struct ast_block *entry = new_block(n, is_kernel ? former->name : "entry", former->at);
    if (is_kernel) {
        const char *name = former->name;
        former->name = entry->name;
        entry->name = name;
    }
    set_target(n, entry, former);
    entry->next = former;
    function->blocks = entry;
}

static void normalise_entry(struct normalising *n, struct ast_function *function)
{
    if (is_target(function, function->blocks))
        add_entry(n, function);
}

/* ---- NORMALISE_CALLS ---- */

/* Moves the statements from `*from` on, and where the block goes, to a new block behind it. */
static struct ast_block *split(struct normalising *n, struct ast_block *block,
                               struct ast_stm **from)
{
    struct ast_block *rest = new_block(n, block->name, *from ? (*from)->at : block->at);
    rest->body = *from;
    rest->returns = block->returns;
    rest->target_count = block->target_count;
    rest->targets = block->targets;
    rest->next = block->next;
    block->next = rest;
    *from = NULL;
    set_target(n, block, rest);
    return rest;
}

/* A call alone in its block. */
static void split_calls(struct normalising *n, struct ast_function *function)
{
    for (struct ast_block *block = function->blocks; block && !n->reason; block = block->next) {
        struct ast_stm **place = &block->body;
        while (*place && (*place)->kind != STM_CALL)
            place = &(*place)->next;
        if (!*place)
            continue;
        if (place != &block->body)
            split(n, block, place); /* the call is found again in the next block */
        else if ((*place)->next)
            split(n, block, &(*place)->next);
    }
}

/* Whether a block could stand last in one of its loops: nothing in the loop must come after it. */
static bool may_be_last(const struct cfg *cfg, uint32_t block)
{
    uint32_t loop = cfg->innermost[block];
    if (loop == CFG_NO_LOOP)
        return false;
    for (uint32_t e = cfg->target_first[block]; e < cfg->target_first[block + 1]; e++) {
        uint32_t target = cfg->targets[e];
        if (target != CFG_EXIT && cfg_in_loop(cfg, loop, target) &&
            !cfg_dominates(cfg, target, block))
            return false;
    }
    return true;
}

/* B_last: goto ..; behind calls that could be last in a loop. */
static void add_last_blocks(struct normalising *n, struct ast_function *function)
{
    struct location at;
    const struct cfg *cfg = cfg_build(n->arena, function, &n->reason, &at);
    INVARIANT(cfg != NULL);
    for (uint32_t b = 0; b < cfg->count; b++) {
        struct ast_block *block = cfg->blocks[b];
        if (is_call_block(block) && may_be_last(cfg, b))
            split(n, block, &block->body->next);
    }
}

static void normalise_calls(struct normalising *n, struct ast_function *function)
{
    split_calls(n, function);
    if (n->reason)
        return;
    add_last_blocks(n, function);
    if (function == n->kernel->main && is_call_block(function->blocks))
        add_entry(n, function);
}

/* ---- NORMALISE_RETURN ---- */

/* The return block, if it is the only one and empty; unlinked from the list. */
static struct ast_block *take_return_block(struct ast_function *function)
{
    struct ast_block **only = NULL;
    for (struct ast_block **b = &function->blocks; *b; b = &(*b)->next)
        if ((*b)->returns) {
            if (only || !is_return_block(*b))
                return NULL;
            only = b;
        }
    if (!only)
        return NULL;
    struct ast_block *block = *only;
    *only = block->next;
    return block;
}

static void add_return_block(struct normalising *n, struct ast_function *function)
{
    struct ast_block *block = NULL;
    for (struct ast_block *b = function->blocks; b; b = b->next)
        if (b->returns) {
            if (!block)
                block = new_block(n, "Return", b->at);
            set_target(n, b, block);
        }
    if (!block)
        return; /* it never returns */
    block->returns = true;
    append(function, block);
}

static void normalise_return(struct normalising *n, struct ast_function *procedure)
{
    struct ast_block *block = take_return_block(procedure);
    if (block)
        append(procedure, block);
    else
        add_return_block(n, procedure);
    if (is_target(procedure, procedure->blocks))
        add_entry(n, procedure);
}

/* ---- NORMALISE_FINAL ---- */

static bool goes_to_end(const struct ast_block *block)
{
    for (uint32_t i = 0; i < block->target_count; i++)
        if (!block->targets[i])
            return true;
    return false;
}

/* [assume(1);] barrier(); goto End; */
static bool is_final(const struct ast_block *block)
{
    const struct ast_stm *stm = block->body;
    if (stm && stm->kind == STM_ASSUME && is_true(stm))
        stm = stm->next;
    return block->target_count == 1 && stm && stm->kind == STM_BARRIER && !stm->guard && !stm->next;
}

static void normalise_final(struct normalising *n)
{
    struct ast_function *main = n->kernel->main;
    struct ast_block *first = NULL;
    uint32_t count = 0;
    for (struct ast_block *b = main->blocks; b; b = b->next)
        if (goes_to_end(b) && count++ == 0)
            first = b;
    if (count == 0 || (count == 1 && is_final(first)))
        return;
    struct ast_block *exit = new_block(n, "Exit", first->at);
    exit->added = true;
    exit->body = new_assume(n, first->at);
    exit->body->next = ast_stm(n->arena, STM_BARRIER, first->at);
    for (struct ast_block *b = main->blocks; b; b = b->next)
        for (uint32_t i = 0; i < b->target_count; i++)
            if (!b->targets[i])
                b->targets[i] = exit;
    set_target(n, exit, NULL);
    append(main, exit);
}

/* ---- NORMALISE_ASSUMES ---- */

static void normalise_assumes(struct normalising *n, struct ast_function *function)
{
    for (struct ast_block *block = function->blocks; block; block = block->next) {
        if (is_call_block(block) || is_return_block(block) ||
            (block->body && block->body->kind == STM_ASSUME))
            continue;
        struct ast_stm *assume = new_assume(n, block->at);
        assume->next = block->body;
        block->body = assume;
    }
}

/* ---- all ---- */

static void normalise_function(struct normalising *n, struct ast_function *function,
                               unsigned passes)
{
    bool is_kernel = function == n->kernel->main;
    if (is_kernel && passes & NORMALISE_ENTRY)
        normalise_entry(n, function);
    if (passes & NORMALISE_CALLS)
        normalise_calls(n, function);
    if (!is_kernel && passes & NORMALISE_RETURN)
        normalise_return(n, function);
    if (is_kernel && passes & NORMALISE_FINAL)
        normalise_final(n);
    if (passes & NORMALISE_ASSUMES)
        normalise_assumes(n, function);
}

/* The passes keep graphs reducible and all blocks reachable, so one look before them is enough. */
static void enter_function(struct normalising *n, const struct ast_function *function)
{
    struct location at;
    size_t mark = arena_mark(n->arena);
    const struct cfg *cfg = cfg_build(n->arena, function, &n->reason, &at);
    if (!cfg)
        return;
    n->blocks += cfg->count;
    arena_release(n->arena, mark);
    fresh_names_add_blocks(n->names, function);
}

struct ast_kernel *normalise(struct arena *arena, const struct ast_kernel *kernel, unsigned passes,
                             const char **reason)
{
    INVARIANT(kernel->form == FORM_BLOCKS);
    struct normalising n = {
        .arena = arena, .kernel = ast_kernel_copy(arena, kernel), .names = fresh_names_new(arena)};
    struct ast_function *main = n.kernel->main;
    enter_function(&n, main);
    for (struct ast_function *f = n.kernel->functions; f && !n.reason; f = f->next)
        enter_function(&n, f);
    if (!n.reason)
        normalise_function(&n, main, passes);
    for (struct ast_function *f = n.kernel->functions; f && !n.reason; f = f->next)
        normalise_function(&n, f, passes);
    *reason = n.reason;
    return n.reason ? NULL : n.kernel;
}
