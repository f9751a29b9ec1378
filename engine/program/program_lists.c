/*
 * program_lists.c - the structured form: statement lists, the lists inside behind their own.
 */
#include "engine/program/program_internal.h"

/* ---- counting ---- */

static bool is_core_form(struct builder *b, const struct ast_stm *stm)
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
    case STM_ASSUME:
    case STM_BARRIER:
    case STM_HAVOC:
        return true;
    case STM_ATOMIC:
    case STM_VOTE:
        return !build_refuses_target(b, stm);
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
    case STM_SYNC:
    case STM_ARRIVE:
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
static struct ast_stm *branch_list(struct ast_stm *body)
{
    return body && body->kind == STM_BLOCK && !body->next ? body->body : body;
}

static void count_list(struct builder *b, const struct ast_stm *list);

static void count_branch(struct builder *b, struct ast_stm *body)
{
    const struct ast_stm *list = branch_list(body);
    if (flat_length(list) == 0)
        b->stm_bound++;
    count_list(b, list);
}

static void count_list(struct builder *b, const struct ast_stm *list)
{
    for (const struct ast_stm *stm = list; stm; stm = stm->next) {
        if (!is_core_form(b, stm)) {
            build_refuse(b, stm);
            continue;
        }
        if (stm->kind == STM_BLOCK) {
            count_list(b, stm->body);
            continue;
        }
        build_count_stm(b, stm);
        if (stm->kind == STM_IF || stm->kind == STM_WHILE)
            count_branch(b, stm->body);
        if (stm->kind == STM_IF)
            count_branch(b, stm->other);
    }
}

void build_count_lists(struct builder *b)
{
    const struct ast_kernel *core = b->program->core;
    for (struct ast_function *f = core->functions; f; f = f->next)
        count_branch(b, f->body);
    count_branch(b, core->main->body);
}

/* ---- laying out ---- */

/* A list as laid out: where it starts, and the most stack entries that its execution holds within
 * one activation, the entry of the list itself included. */
struct list_code {
    uint32_t first;
    uint32_t depth;
};

static struct list_code emit_list(struct builder *b, struct ast_stm *list, struct location at);

/* The statement's place in the arrays is reserved; its lists are laid out behind. Returns the most
 * stack entries above the rest of its own list. */
static uint32_t emit_stm(struct builder *b, struct ast_stm *stm, uint32_t at)
{
    /* Lists below may not move the array, so the pointer stays good. */
    struct code_stm *code = build_stm(b, stm, at);
    struct list_code first, second;
    switch (stm->kind) {
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
        build_call(b, code->first);
        return 0; /* the callee's entries are those of another activation */
    case STM_RETURN:
        code->kind = CODE_RETURN;
        return 0;
    case STM_EXIT:
        code->kind = CODE_EXIT;
        return 0;
    case STM_SKIP:
    case STM_MEMBAR:
    case STM_ASSIGN:
    case STM_ASSERT:
    case STM_ASSUME:
    case STM_HAVOC:
    case STM_ATOMIC:
    case STM_VOTE:
    case STM_BARRIER:
    case STM_BLOCK:
    case STM_DO:
    case STM_FOR:
    case STM_SWITCH:
    case STM_CONTINUE:
    case STM_SYNC:
    case STM_ARRIVE:
    case STM_PICK:
    case STM_LOCKSYNC:
    case STM_KIND_COUNT:
        break;
    }
    build_simple(b, stm, code);
    return 0;
}

/* Fills the reserved run from *cursor on; returns the most entries above the rest of the list. */
static uint32_t emit_run(struct builder *b, struct ast_stm *list, uint32_t *cursor)
{
    uint32_t depth = 0;
    for (struct ast_stm *stm = list; stm; stm = stm->next)
        depth = max_u32(depth, stm->kind == STM_BLOCK ? emit_run(b, stm->body, cursor)
                                                      : emit_stm(b, stm, (*cursor)++));
    return depth;
}

static struct list_code emit_list(struct builder *b, struct ast_stm *list, struct location at)
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

void build_lists(struct builder *b)
{
    struct program *program = b->program;
    const struct ast_kernel *core = program->core;
    for (struct ast_function *f = core->main; f; f = f == core->main ? core->functions : f->next) {
        b->function = f->mark;
        struct list_code body = emit_list(b, f->body, f->at);
        program->functions[f->mark].body = body.first;
        program->functions[f->mark].stack_depth = 1 + body.depth;
    }
}

/* ---- what tells barriers apart ---- */

/* reaches[f]: function f has a barrier, or calls one that reaches one. */
static bool *find_reaching(struct builder *b)
{
    const struct program *program = b->program;
    uint32_t count = program->function_count;
    bool *reaches = ARENA_ARRAY(b->arena, bool, count);
    for (uint32_t i = 0; i < program->stm_count; i++)
        if (program->stms[i].kind == CODE_BARRIER)
            reaches[program->stms[i].function] = true;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < program->stm_count; i++) {
            const struct code_stm *stm = &program->stms[i];
            if (stm->kind != CODE_CALL || reaches[stm->function] || !reaches[stm->first])
                continue;
            changed = reaches[stm->function] = true;
        }
    }
    return reaches;
}

/* Marks the loops of a list; whether a barrier may be reached within it. */
static bool mark_list(struct program *program, const bool *reaches, uint32_t first)
{
    bool any = false;
    for (uint32_t i = first;; i++) {
        struct code_stm *stm = &program->stms[i];
        if (stm->kind == CODE_CALL)
            stm->counts = reaches[stm->first];
        else if (stm->kind == CODE_WHILE)
            stm->counts = mark_list(program, reaches, stm->first);
        any |= stm->counts || stm->kind == CODE_BARRIER;
        if (stm->kind == CODE_IF) {
            any |= mark_list(program, reaches, stm->first);
            any |= mark_list(program, reaches, stm->second);
        }
        if (stm->last)
            return any;
    }
}

void build_counts(struct builder *b)
{
    struct program *program = b->program;
    if (program->barrier_count == 0)
        return;
    const bool *reaches = find_reaching(b);
    for (uint32_t f = 0; f < program->function_count; f++)
        mark_list(program, reaches, program->functions[f].body);
}
