/*
 * program_blocks.c - the block and the lock-step form: a list a block, its goto or return last.
 */
#include "engine/base/bits.h"
#include "engine/forms/cfg.h"
#include "engine/program/program_internal.h"

enum { COUNTERS_MAX = 64 }; /* bits of code_block.loops */

/* ---- counting ---- */

static bool has_code(struct builder *b, const struct ast_stm *stm)
{
    bool lockstep = b->program->form == FORM_LOCKSTEP;
    switch (stm->kind) {
    case STM_SKIP:
    case STM_MEMBAR:
    case STM_ASSIGN:
    case STM_ASSERT:
    case STM_ASSUME:
    case STM_HAVOC:
        return true;
    case STM_ATOMIC:
    case STM_VOTE:
    case STM_PICK:
        return !build_refuses_target(b, stm);
    case STM_BARRIER:
        return !lockstep;
    case STM_LOCKSYNC:
        return lockstep;
    case STM_CALL:
        return !stm->target.var;
    case STM_BLOCK:
    case STM_IF:
    case STM_WHILE:
    case STM_DO:
    case STM_FOR:
    case STM_SWITCH:
    case STM_BREAK:
    case STM_CONTINUE:
    case STM_RETURN:
    case STM_EXIT:
    case STM_SYNC:
    case STM_ARRIVE:
    case STM_KIND_COUNT:
        break;
    }
    return false;
}

/* x op= e is x = x op e, one step like every assignment (CFG.assign). */
static struct ast_stm set_form(struct arena *arena, const struct ast_stm *stm)
{
    struct ast_stm set = *stm;
    if (stm->kind == STM_ASSIGN) {
        set.value = ast_assigned_value(arena, stm);
        set.op = ASSIGN_SET;
    }
    return set;
}

static void count_block(struct builder *b, const struct ast_block *block)
{
    struct program *program = b->program;
    program->block_count++;
    b->target_bound += block->target_count;
    b->stm_bound++; /* its goto or return */
    for (const struct ast_stm *stm = block->body; stm; stm = stm->next) {
        if (!has_code(b, stm)) {
            build_refuse(b, stm);
            continue;
        }
        struct ast_stm set = set_form(b->arena, stm);
        build_count_stm(b, &set);
        for (const struct ast_expr *e = stm->arguments; e; e = e->next)
            b->argument_bound++;
        for (const struct ast_expr *e = stm->outs; e; e = e->next)
            b->argument_bound++;
    }
}

void build_count_blocks(struct builder *b)
{
    const struct ast_kernel *core = b->program->core;
    for (struct ast_function *f = core->main; f; f = f == core->main ? core->functions : f->next)
        for (const struct ast_block *block = f->blocks; block; block = block->next)
            count_block(b, block);
}

/* ---- parameters ---- */

static void set_parameters(struct builder *b, const struct ast_function *f, bool out,
                           uint32_t *first, uint32_t *count)
{
    struct program *program = b->program;
    *first = b->parameter_count;
    for (const struct ast_var *var = f->locals; var; var = var->next)
        if (var->is_parameter && var->is_out == out)
            program->parameters[b->parameter_count++] = build_variable_offset(program, var);
    *count = b->parameter_count - *first;
}

static void layout_parameters(struct builder *b)
{
    struct program *program = b->program;
    const struct ast_kernel *core = program->core;
    uint32_t count = 0;
    for (struct ast_function *f = core->functions; f; f = f->next)
        for (const struct ast_var *var = f->locals; var; var = var->next)
            count += var->is_parameter;
    program->parameters = ARENA_ARRAY(b->arena, uint32_t, count);
    for (struct ast_function *f = core->main; f; f = f == core->main ? core->functions : f->next) {
        struct code_function *function = &program->functions[f->mark];
        function->body = CODE_NONE;
        set_parameters(b, f, false, &function->in_first, &function->in_count);
        set_parameters(b, f, true, &function->out_first, &function->out_count);
    }
}

/* ---- statements ---- */

/* Its ins, then its outs, from program.arguments[code.second] on. */
static void emit_call(struct builder *b, const struct ast_stm *stm, struct code_stm *code)
{
    struct program *program = b->program;
    const struct code_function *callee = &program->functions[stm->function->mark];
    code->kind = CODE_CALL;
    code->first = stm->function->mark;
    code->second = b->argument_count;
    build_call(b, code->first);
    uint32_t in = 0, out = 0;
    for (const struct ast_expr *e = stm->arguments; e; e = e->next)
        program->arguments[b->argument_count++] =
            (struct code_argument){.value = build_root(b, e, &code->reads),
                                   .offset = program->parameters[callee->in_first + in++]};
    for (const struct ast_expr *e = stm->outs; e; e = e->next) {
        struct ast_lvalue target = {.var = e->var};
        program->arguments[b->argument_count++] =
            (struct code_argument){.value = CODE_NONE,
                                   .target = build_place(b, &target, &code->reads),
                                   .offset = program->parameters[callee->out_first + out++]};
    }
    INVARIANT(in == callee->in_count && out == callee->out_count);
}

static void emit_pick(struct builder *b, const struct ast_stm *stm, struct code_stm *code)
{
    struct program *program = b->program;
    code->kind = CODE_PICK;
    code->first = b->pick_count;
    for (const struct ast_expr *e = stm->arguments; e; e = e->next->next) {
        INVARIANT(e->kind == EXPR_INT && e->next);
        program->picks[b->pick_count++] =
            (struct code_pick){.value = e->value, .guard = build_root(b, e->next, &code->reads)};
    }
    code->second = b->pick_count - code->first;
    code->target = code->place = build_place(b, &stm->target, &code->reads);
    program->has_choices = true;
}

static void emit_stm(struct builder *b, struct ast_stm *stm, uint32_t block)
{
    struct ast_stm set = set_form(b->arena, stm);
    uint32_t number = b->program->stm_count++;
    struct code_stm *code = build_stm(b, &set, number);
    stm->mark = number;
    code->source = stm;
    code->block = block;
    if (stm->kind == STM_CALL)
        emit_call(b, stm, code);
    else if (stm->kind == STM_PICK)
        emit_pick(b, stm, code);
    else if (stm->kind == STM_LOCKSYNC)
        code->kind = CODE_LOCKSYNC;
    else
        build_simple(b, stm, code);
}

static void emit_end(struct builder *b, const struct ast_block *block)
{
    struct program *program = b->program;
    struct ast_stm end = {.kind = STM_SKIP, .at = block->at};
    struct code_stm *code = build_stm(b, &end, program->stm_count++);
    code->kind = block->returns ? CODE_END_CALL : CODE_GOTO;
    code->block = block->mark;
    code->last = true;
    code->source = NULL;
    program->has_choices |= block->target_count > 1;
}

static void emit_block(struct builder *b, struct ast_block *block)
{
    struct program *program = b->program;
    struct code_block *code = &program->blocks[block->mark];
    code->name = block->name;
    code->function = b->function;
    code->line = block->at.line;
    code->origin = block->origin;
    code->added = block->added;
    code->first = program->stm_count;
    code->target_first = b->target_count;
    code->target_count = block->returns ? 0 : block->target_count;
    for (uint32_t i = 0; i < code->target_count; i++)
        program->targets[b->target_count++] =
            block->targets[i] ? block->targets[i]->mark : BLOCK_END;
    for (struct ast_stm *stm = block->body; stm; stm = stm->next)
        emit_stm(b, stm, block->mark);
    emit_end(b, block);
    const struct code_stm *leading = &program->stms[code->first];
    code->guard =
        leading->kind == CODE_ASSUME && leading->guard == CODE_NONE ? leading->value : CODE_NONE;
}

/* The guarded goto evaluates the guards of its targets. */
static void add_guards_to_gotos(struct program *program)
{
    for (uint32_t b = 0; b < program->block_count; b++) {
        const struct code_block *block = &program->blocks[b];
        uint32_t last = block->first;
        while (!program->stms[last].last)
            last++;
        for (uint32_t i = 0; i < block->target_count; i++) {
            uint32_t target = program->targets[block->target_first + i];
            if (target != BLOCK_END && program->blocks[target].guard != CODE_NONE)
                program->stms[last].reads |= program->stms[program->blocks[target].first].reads;
        }
    }
}

/* ---- loops that count (CFG.bv.loop) ---- */

/* reaches[f]: f has a barrier, or calls a procedure that reaches one. */
static bool *find_reaching(struct builder *b)
{
    const struct program *program = b->program;
    bool *reaches = ARENA_ARRAY(b->arena, bool, program->function_count);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < program->stm_count; i++) {
            const struct code_stm *stm = &program->stms[i];
            bool reaching =
                stm->kind == CODE_BARRIER || (stm->kind == CODE_CALL && reaches[stm->first]);
            if (reaching && !reaches[stm->function])
                changed = reaches[stm->function] = true;
        }
    }
    return reaches;
}

static bool block_reaches(const struct program *program, const bool *reaches, uint32_t block)
{
    for (uint32_t i = program->blocks[block].first;; i++) {
        const struct code_stm *stm = &program->stms[i];
        if (stm->kind == CODE_BARRIER || (stm->kind == CODE_CALL && reaches[stm->first]))
            return true;
        if (stm->last)
            return false;
    }
}

/* Gives the loop a counter if a barrier may be reached within it. */
static void count_loop(struct builder *b, const bool *reaches, const struct cfg *cfg, uint32_t head,
                       const uint64_t *members)
{
    struct program *program = b->program;
    struct code_function *function = &program->functions[b->function];
    bool counts = false;
    for (uint32_t i = 0; i < cfg->count && !counts; i++)
        counts = bits_has(members, i) && block_reaches(program, reaches, function->entry + i);
    if (!counts)
        return;
    if (function->counters == COUNTERS_MAX) {
        b->reason = arena_printf(b->arena, "more than %d loops of '%s' hold a barrier",
                                 COUNTERS_MAX, function->name);
        return;
    }
    uint64_t bit = (uint64_t)1 << function->counters++;
    program->blocks[function->entry + head].heads |= bit;
    for (uint32_t i = 0; i < cfg->count; i++)
        if (bits_has(members, i))
            program->blocks[function->entry + i].loops |= bit;
}

static void count_loops(struct builder *b, const bool *reaches, const struct cfg *cfg)
{
    for (uint32_t l = 0; l < cfg->loop_count && !b->reason; l++) {
        const struct cfg_loop *loop = &cfg->loops[l];
        uint64_t *members = loop->members;
        if (b->program->appendix_loops) {
            members = ARENA_ARRAY(b->arena, uint64_t, (cfg->count + 63) / 64);
            cfg_appendix_loop(cfg, loop->head, members);
        }
        count_loop(b, reaches, cfg, loop->head, members);
    }
}

/* ---- functions ---- */

/* The graphs of all functions, and the blocks' numbers in the program. The lock-step form has no
 * barrier variables and needs none. */
static struct cfg **number_blocks(struct builder *b)
{
    struct program *program = b->program;
    const struct ast_kernel *core = program->core;
    struct cfg **graphs = ARENA_ARRAY(b->arena, struct cfg *, program->function_count);
    uint32_t number = 0;
    for (struct ast_function *f = core->main; f; f = f == core->main ? core->functions : f->next) {
        struct location at;
        if (program->form == FORM_BLOCKS) {
            graphs[f->mark] = cfg_build(b->arena, f, &b->reason, &at);
            if (!graphs[f->mark])
                return NULL;
        }
        program->functions[f->mark].entry = number;
        for (struct ast_block *block = f->blocks; block; block = block->next)
            block->mark = number++;
    }
    return graphs;
}

/* A frame of a thread's stack: call, function, counters (struct block_frame). */
static void set_stack_depths(struct program *program)
{
    for (uint32_t f = 0; f < program->function_count; f++)
        program->functions[f].stack_depth = 2 + program->functions[f].counters;
}

void build_blocks(struct builder *b)
{
    struct program *program = b->program;
    const struct ast_kernel *core = program->core;
    program->blocks = ARENA_ARRAY(b->arena, struct code_block, program->block_count);
    program->targets = ARENA_ARRAY(b->arena, uint32_t, b->target_bound);
    program->picks = ARENA_ARRAY(b->arena, struct code_pick, b->argument_bound);
    program->arguments = ARENA_ARRAY(b->arena, struct code_argument, b->argument_bound);
    layout_parameters(b);
    struct cfg **graphs = number_blocks(b);
    if (!graphs)
        return;
    for (struct ast_function *f = core->main; f; f = f == core->main ? core->functions : f->next) {
        b->function = f->mark;
        for (struct ast_block *block = f->blocks; block; block = block->next)
            emit_block(b, block);
    }
    add_guards_to_gotos(program);
    const bool *reaches = find_reaching(b);
    for (uint32_t f = 0; f < program->function_count && program->form == FORM_BLOCKS; f++) {
        b->function = f;
        count_loops(b, reaches, graphs[f]);
    }
    set_stack_depths(program);
}
