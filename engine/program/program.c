#include "engine/base/bits.h"
#include "engine/program/program_internal.h"
#include "engine/program/ptx_code.h"

#include <string.h>

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

uint32_t build_variable_offset(const struct program *program, const struct ast_var *var)
{
    return var->space == SPACE_LOCAL ? var->mark : program->vars[var->mark].offset;
}

uint64_t build_footprint_bit(const struct ast_var *var)
{
    if (var->space != SPACE_GLOBAL && var->space != SPACE_SHARED)
        return 0;
    return (uint64_t)1 << (var->mark < 63 ? var->mark : 63);
}

static void emit_functions(struct builder *b)
{
    struct program *program = b->program;
    program->stms = ARENA_ARRAY(b->arena, struct code_stm, b->stm_bound);
    program->ops = ARENA_ARRAY(b->arena, struct code_expr_op, b->op_bound);
    b->call_words = (program->function_count + 63) / 64;
    b->calls = ARENA_ARRAY(b->arena, uint64_t, (size_t)program->function_count * b->call_words);
    if (program->form == FORM_STRUCTURED) {
        build_lists(b);
        build_counts(b);
    } else {
        build_blocks(b);
    }
}

/* ---- how deep stacks get ---- */

static bool calls_function(const struct builder *b, uint32_t caller, uint32_t callee)
{
    return bits_has(b->calls + caller * b->call_words, callee);
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

void build_launch(struct program *program)
{
    const struct ast_launch *launch = &program->launch;
    INVARIANT(launch->threads >= 1 && launch->threads <= LIMIT_THREADS);
    INVARIANT(launch->blocks >= 1 && launch->blocks <= LIMIT_BLOCKS);
    program->units = 1;
    INVARIANT(launch->warp >= 1 && launch->warp <= LIMIT_WARP);
    program->total_threads = launch->threads * launch->blocks;
    INVARIANT(program->total_threads <= LIMIT_TOTAL_THREADS);
    program->warps_per_block = (launch->threads + launch->warp - 1) / launch->warp;
    program->warp_count = program->warps_per_block * launch->blocks;
}

/* Runs the passes in order; false with a reason when one refuses. */
static bool compile(struct builder *b)
{
    uint64_t words[SPACE_COUNT] = {0};
    if (b->program->form == FORM_STRUCTURED)
        build_count_lists(b);
    else
        build_count_blocks(b);
    if (b->reason)
        return false;
    layout_variables(b, words);
    if (b->reason)
        return false;
    layout_functions(b);
    if (b->reason)
        return false;
    emit_functions(b);
    if (b->reason)
        return false;
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
    static const struct program_options natural = {.appendix_loops = false};
    return program_compile_with(arena, core, &natural, reason);
}

struct program *program_compile_with(struct arena *arena, const struct ast_kernel *core,
                                     const struct program_options *options, const char **reason)
{
    if (core->form == FORM_PTX)
        return ptx_compile(arena, core, core->ptx->module, NULL, reason);
    struct program *program = ARENA_NEW(arena, struct program);
    program->core = core;
    program->form = core->form;
    program->appendix_loops = options->appendix_loops;
    program->launch = core->launch;
    build_launch(program);
    struct builder b = {.arena = arena, .program = program};
    if (!compile(&b)) {
        *reason = b.reason;
        return NULL;
    }
    return program;
}

static bool ptx_atomics_commute(const struct ptx_code *code)
{
    const struct ptx_op *first = NULL;
    for (uint32_t pc = 1; pc < code->count; pc++) {
        const struct ptx_op *op = &code->ops[pc];
        if (op->exec != PTX_EXEC_ATOM)
            continue;
        bool gives = op->result_count > 0 && op->results[0].kind != PTX_PLACE_NONE;
        first = first ? first : op;
        if (gives || op->mode == PTX_W_EXCH || op->mode == PTX_W_CAS || op->mode == PTX_W_INC ||
            op->mode == PTX_W_DEC || op->is_float || op->mode != first->mode ||
            op->bytes != first->bytes || op->is_signed != first->is_signed)
            return false;
    }
    return true;
}

bool program_pick_reads_memory(const struct program *program, const struct code_stm *pick)
{
    for (uint32_t i = 0; i < pick->second; i++) {
        uint32_t guard = program->picks[pick->first + i].guard;
        const struct code_expr_op *op = guard == CODE_NONE ? NULL : &program->ops[guard];
        for (; op && op->op != OP_END; op++)
            if (op->op == OP_INDEX || op->op == OP_GLOBAL || op->op == OP_SHARED)
                return true;
    }
    return false;
}

bool program_chooses_by_memory(const struct program *program)
{
    uint64_t written = 0, unseen = 0;
    for (uint32_t s = 0; program->form != FORM_PTX && s < program->stm_count; s++) {
        const struct code_stm *stm = &program->stms[s];
        written |= stm->writes;
        if (stm->kind == CODE_PICK ||
            (stm->kind == CODE_GOTO && program->blocks[stm->block].target_count > 1))
            unseen |= stm->reads;
    }
    return (written & unseen) != 0;
}

bool program_atomics_commute(const struct program *program)
{
    if (program->form == FORM_PTX)
        return ptx_atomics_commute(program->ptx);
    for (uint32_t i = 0; i < program->stm_count; i++) {
        const struct code_stm *a = &program->stms[i];
        bool is_shared = a->place.space == SPACE_SHARED || a->place.space == SPACE_GLOBAL;
        if (a->kind != CODE_ATOMIC || !is_shared) /* nobody else sees a private one */
            continue;
        if (a->target.length > 0 || a->atomic == ATOMIC_EXCH || a->atomic == ATOMIC_CAS)
            return false;
        for (uint32_t j = 0; j < i; j++) {
            const struct code_stm *b = &program->stms[j];
            if (b->kind == CODE_ATOMIC && b->place.var == a->place.var && b->atomic != a->atomic)
                return false;
        }
    }
    return true;
}
