/*
 * Layout of a PTX module (load of the report, 5.1.3): blocks flattened, an address an instruction, names
 * replaced by what they stand for. The names' scopes are ptx_check's (LOAD.T1, T7), constants are folded by
 * the parser (T2); types and spaces are in the tree.
 */
#include "engine/base/invariant.h"
#include "engine/program/program_internal.h"
#include "engine/program/ptx_compile_internal.h"
#include "engine/ptx/ptx_reach.h"
#include "engine/to_ptx/ptx_flow.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void ptx_build_fail(struct ptx_builder *b, const char *format, ...)
{
    char text[400];
    if (b->reason)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const bool is_op = b->pc > 0 && b->code->ops[b->pc - 1].line == b->line;
    b->reason = !b->line ? arena_printf(b->arena, "%s", text)
                : is_op  ? arena_printf(b->arena, "%s at %s", text,
                                        ptx_op_line(b->arena, b->code, b->pc - 1))
                         : arena_printf(b->arena, "%s at line %u", text, b->line);
}

/* ---- addresses ---- */

struct counts {
    uint64_t instructions, targets, actuals;
};

static void count_actuals(struct counts *counts, const struct ptx_instruction *i)
{
    if (ptx_forms[i->form].opcode != PTX_OP_CALL)
        return;
    for (const struct ptx_operand *o = i->operands; o; o = o->next)
        for (const struct ptx_operand *item = o->items; item; item = item->next)
            counts->actuals++;
}

/* Labels denote the next instruction's address (ISA.label); `pc` is the first one's. */
static void count_statements(struct ptx_builder *b, const struct ptx_statement *stm, uint32_t pc,
                             struct counts *counts)
{
    bool is_new;
    for (; stm; stm = stm->next) {
        uint32_t at = pc + (uint32_t)counts->instructions;
        if (stm->kind == PTX_INSTRUCTION) {
            counts->instructions++;
            count_actuals(counts, &stm->u.instruction);
        } else if (stm->kind == PTX_BLOCK) {
            count_statements(b, stm->u.block, pc, counts);
        } else if (stm->kind == PTX_LABEL) {
            *ptx_map_add(&b->labels, stm, 0, &is_new) = at;
        } else if (stm->kind == PTX_BRANCH_TARGETS) {
            for (const struct ptx_operand *o = stm->u.targets; o; o = o->next)
                counts->targets++;
        }
    }
}

/* A raw kernel has exactly its instructions. */
static bool has_end(const struct ptx_builder *b, const struct ptx_function *f)
{
    return !b->ptx->raw && ptx_falls_through(f);
}

static void place_code(struct ptx_builder *b)
{
    struct ptx_code *code = b->code;
    struct counts all = {.instructions = 1};
    code->function_count = b->reach.function_count;
    if (code->function_count > PTX_LIMIT_FUNCTIONS) {
        ptx_build_fail(b, "the entry reaches %u functions, limit %u", code->function_count,
                       (unsigned)PTX_LIMIT_FUNCTIONS);
        return;
    }
    code->functions = ARENA_ARRAY(b->arena, struct ptx_code_function, code->function_count);
    b->layouts = ARENA_ARRAY(b->arena, struct ptx_layout, code->function_count);
    for (uint32_t f = 0; f < code->function_count; f++) {
        const struct ptx_function *function = b->reach.functions[f];
        struct counts counts = {.instructions = 0};
        bool is_new;
        count_statements(b, function->body, (uint32_t)all.instructions, &counts);
        code->functions[f].function = function;
        code->functions[f].entry = (uint32_t)all.instructions;
        all.instructions += counts.instructions + has_end(b, function);
        all.targets += counts.targets;
        all.actuals += counts.actuals;
        code->functions[f].end = (uint32_t)all.instructions;
        *ptx_map_add(&b->function_numbers, function, 0, &is_new) = f;
        if (all.instructions > PTX_LIMIT_CODE) {
            ptx_build_fail(b, "more than %d instructions", PTX_LIMIT_CODE);
            return;
        }
    }
    code->count = (uint32_t)all.instructions;
    code->ops = ARENA_ARRAY(b->arena, struct ptx_op, code->count);
    code->table = ARENA_ARRAY(b->arena, uint32_t, all.targets);
    code->copies = ARENA_ARRAY(b->arena, struct ptx_copy, all.actuals);
    code->specials = arena_alloc(b->arena, PTX_SPECIAL_COUNT * 5, sizeof *code->specials);
    b->call_words = (code->function_count + 63) / 64;
    b->calls = ARENA_ARRAY(b->arena, uint64_t, (size_t)code->function_count * b->call_words);
}

/* ---- functions ---- */

/* Formals first: where they lie depends on nothing else. */
static void start_functions(struct ptx_builder *b)
{
    for (uint32_t f = 0; f < b->code->function_count && !ptx_build_failed(b); f++) {
        struct ptx_code_function *function = &b->code->functions[f];
        b->layout = &b->layouts[f];
        b->layout->f = function;
        b->layout->last_register = &b->layout->registers;
        b->function = f;
        function->signature = ptx_build_signature(b, f ? function->function : NULL);
        if (f > 0)
            ptx_build_formals(b, function->function);
    }
}

/* A line of a source; and, of places in a compiler's headers, the line that leads to each, the latest ones. */
enum { SITES = 64 };

struct source {
    uint32_t file, line;
    uint32_t site_count;
    struct {
        uint32_t file, line, column, own_file, own_line;
    } sites[SITES];
};

/* The line that leads to the place where a header calls; false: none is known. */
static bool find_site(const struct ptx_loc *loc, struct source *at)
{
    for (uint32_t i = at->site_count; i > 0 && at->site_count - i < SITES; i--)
        if (at->sites[(i - 1) % SITES].file == loc->at_file &&
            at->sites[(i - 1) % SITES].line == loc->at_line &&
            at->sites[(i - 1) % SITES].column == loc->at_column) {
            at->file = at->sites[(i - 1) % SITES].own_file;
            at->line = at->sites[(i - 1) % SITES].own_line;
            return true;
        }
    return false;
}

/* What a compiler's own header does is told of the line that calls it: atomicAdd, not its inside. Calls within the
 * header say where they stand there: what led to that place counts, or else the line that came before. */
static void locate(const struct ptx_builder *b, const struct ptx_loc *loc, struct source *at)
{
    const struct ptx_module *module = b->code->module;
    const uint32_t next = at->site_count % SITES;
    const bool is_library = loc->at_file && ptx_is_library(module, loc->file);
    if (!is_library) {
        at->file = loc->file;
        at->line = loc->line;
        return;
    }
    if (!ptx_is_library(module, loc->at_file) || (!find_site(loc, at) && at->line == 0)) {
        at->file = loc->at_file;
        at->line = loc->at_line;
    }
    at->sites[next].file = loc->file;
    at->sites[next].line = loc->line;
    at->sites[next].column = loc->column;
    at->sites[next].own_file = at->file;
    at->sites[next].own_line = at->line;
    at->site_count++;
}

static void build_statements(struct ptx_builder *b, const struct ptx_statement *stm,
                             struct source *at)
{
    for (; stm && !ptx_build_failed(b); stm = stm->next) {
        if (stm->kind == PTX_LOC)
            locate(b, &stm->u.loc, at);
        else if (stm->kind == PTX_BLOCK)
            build_statements(b, stm->u.block, at);
        if (stm->kind != PTX_INSTRUCTION)
            continue;
        struct ptx_op *op = &b->code->ops[b->pc++];
        op->file = at->file;
        op->source_line = at->line;
        ptx_build_op(b, stm, op);
    }
}

static void build_functions(struct ptx_builder *b)
{
    b->pc = 1;
    for (uint32_t f = 0; f < b->code->function_count && !ptx_build_failed(b); f++) {
        struct ptx_code_function *function = &b->code->functions[f];
        struct source at = {0};
        b->function = f;
        b->layout = &b->layouts[f];
        build_statements(b, function->function->body, &at);
        if (b->pc < function->end && !ptx_build_failed(b))
            ptx_build_op(b, NULL, &b->code->ops[b->pc++]);
        b->line = 0;
        INVARIANT(ptx_build_failed(b) || b->pc == function->end);
    }
}

/* Each frame begins where the strictest variable of any of them may lie, and at 16 bytes at least. */
static void align_frames(struct ptx_builder *b)
{
    const uint32_t rest = b->frame_align - 1;
    for (uint32_t f = 0; f < b->code->function_count; f++)
        b->code->functions[f].frame_bytes =
            (uint32_t)((b->layouts[f].frame_bytes + rest) & ~(uint64_t)rest);
    b->code->frame_local_base = (b->code->frame_local_base + rest) & ~rest;
}

/* ---- the program ---- */

static void number_variables(struct program *program)
{
    const struct ast_kernel *kernel = program->core;
    uint32_t words[SPACE_COUNT] = {0}, number = 0;
    for (const struct ast_var *var = kernel->vars; var; var = var->next) {
        program->vars[number++] = (struct code_var){.ast = var, .offset = words[var->space]};
        words[var->space] += var->length;
    }
}

static uint64_t footprint_bit(const struct program *program, const struct ast_var *var)
{
    uint32_t number = 0;
    while (program->vars[number].ast != var)
        number++;
    return (uint64_t)1 << (number < 63 ? number : 63);
}

static uint64_t footprint_of(const struct program *program, const struct ptx_regions *regions,
                             const struct ptx_op *op)
{
    uint64_t bits = 0;
    bool is_known = op->sources[0].kind == PTX_PLACE_NONE;
    for (uint32_t i = 0; i < regions->count; i++) {
        const struct ptx_region *region = &regions->items[i];
        if (region->var && (!is_known || op->offset - region->address < region->bytes))
            bits |= footprint_bit(program, region->var);
    }
    return bits;
}

/* Which variables an access may touch; generic ones all. */
static uint64_t op_footprint(const struct program *program, const uint64_t all[2],
                             const struct ptx_op *op)
{
    bool is_known = op->sources[0].kind == PTX_PLACE_NONE;
    if (ptx_exec_is(op->exec, PTX_FAR))
        return all[0] | all[1];
    if (op->exec == PTX_EXEC_TEXTURE || op->exec == PTX_EXEC_SUST)
        return all[0];
    if (op->exec == PTX_EXEC_MATRIX_LD || op->exec == PTX_EXEC_MATRIX_ST)
        is_known = false; /* the address of one row */
    else if (op->exec != PTX_EXEC_LD && op->exec != PTX_EXEC_ST && op->exec != PTX_EXEC_ATOM)
        return 0;
    switch ((int)op->space) {
    case PTX_W_NONE:
        return all[0] | all[1];
    case PTX_W_GLOBAL:
        return is_known ? footprint_of(program, &program->ptx->global, op) : all[0];
    case PTX_W_SHARED:
        return is_known ? footprint_of(program, &program->ptx->shared, op) : all[1];
    default:
        return 0;
    }
}

static bool is_observed(const struct ptx_op *op)
{
    bool accesses = op->exec == PTX_EXEC_LD || op->exec == PTX_EXEC_ST || op->exec == PTX_EXEC_ATOM;
    return accesses && op->space != PTX_W_LOCAL && op->space != PTX_W_CONST;
}

static void finer_units(struct program *program, uint32_t bytes)
{
    if (bytes > 0 && bytes < 4 && 4u / bytes > program->units)
        program->units = 4u / bytes;
}

static void find_units(struct program *program, const struct ptx_statement *stm)
{
    for (; stm; stm = stm->next) {
        if (stm->kind == PTX_BLOCK)
            find_units(program, stm->u.block);
        if (stm->kind != PTX_INSTRUCTION)
            continue;
        const struct ptx_instruction *i = &stm->u.instruction;
        enum ptx_opcode opcode = ptx_forms[i->form].opcode;
        uint8_t space = i->words[PTX_SLOT_SPACE];
        bool accesses = opcode == PTX_OP_LD || opcode == PTX_OP_LDU || opcode == PTX_OP_ST ||
                        opcode == PTX_OP_ATOM || opcode == PTX_OP_RED || opcode == PTX_OP_SULD ||
                        opcode == PTX_OP_SUST;
        bool own = space == PTX_W_LOCAL || space == PTX_W_CONST || space == PTX_W_PARAM;
        if (accesses && !own)
            finer_units(program, ptx_type_of((enum ptx_word)i->words[PTX_SLOT_TYPE]).bits / 8u);
    }
}

/* The variable, or its copy, in the list, which is taken then. */
static const struct ptx_variable *take(const struct ptx_reach *reach,
                                       const struct ptx_variable *var, bool *taken)
{
    for (uint32_t i = 0; i < reach->variable_count; i++) {
        const struct ptx_variable *other = reach->variables[i];
        if (other != var && other->original != var)
            continue;
        taken[i] = true;
        return other;
    }
    return var;
}

/* All programs of a kernel have the same memory. An injected module lacks what nothing reaches, so the
 * variables that count, and the accesses, are those of the module that was given. */
static void find_reach(struct ptx_builder *b)
{
    struct ptx_reach *reach = &b->reach;
    ptx_reach(b->arena, b->ptx->module, b->ptx->entry, &b->given);
    *reach = b->given;
    if (b->module == b->ptx->module)
        return;
    ptx_reach(b->arena, b->module, b->entry, reach);
    uint32_t most = b->given.variable_count + reach->variable_count, count = 0;
    const struct ptx_variable **all = ARENA_ARRAY(b->arena, const struct ptx_variable *, most);
    bool *taken = ARENA_ARRAY(b->arena, bool, reach->variable_count);
    for (uint32_t i = 0; i < b->given.variable_count; i++)
        all[count++] = take(reach, b->given.variables[i], taken);
    for (uint32_t i = 0; i < reach->variable_count; i++)
        if (!taken[i])
            all[count++] = reach->variables[i];
    reach->variables = all;
    reach->variable_count = count;
}

static void number_locations(struct ptx_builder *b)
{
    for (uint32_t f = 0; f < b->given.function_count; f++)
        find_units(b->program, b->given.functions[f]->body);
    bool fetches = false;
    for (uint32_t pc = 1; pc < b->code->count; pc++)
        fetches |= b->code->ops[pc].exec == PTX_EXEC_TEXTURE;
    for (uint32_t i = 0; fetches && i < b->code->texture_count; i++)
        finer_units(b->program, ptx_type_of(b->code->textures[i].what->type).bits / 8u);
}

static void number_statements(struct ptx_builder *b)
{
    struct program *program = b->program;
    const struct ptx_op any = {.sources = {{.kind = PTX_PLACE_REGISTER}}};
    const uint64_t all[2] = {footprint_of(program, &b->code->global, &any),
                             footprint_of(program, &b->code->shared, &any)};
    program->stm_count = b->code->count;
    program->stms = ARENA_ARRAY(b->arena, struct code_stm, program->stm_count);
    for (uint32_t pc = 0; pc < b->code->count; pc++) {
        const struct ptx_op *op = &b->code->ops[pc];
        uint64_t bits = op_footprint(program, all, op);
        program->stms[pc] =
            (struct code_stm){.kind = CODE_PTX,
                              .last = true,
                              .line = op->line,
                              .value = CODE_NONE,
                              .function = op->function,
                              .block = CODE_NONE,
                              .guard = CODE_NONE,
                              .argument = CODE_NONE,
                              .reads = ptx_exec_is(op->exec, PTX_STORES) ? 0 : bits,
                              .writes = ptx_exec_is(op->exec, PTX_LOADS) ? 0 : bits};
        if (is_observed(op))
            finer_units(program, op->bytes);
    }
}

static void number_functions(struct ptx_builder *b)
{
    struct program *program = b->program;
    program->function_count = b->code->function_count;
    program->functions = ARENA_ARRAY(b->arena, struct code_function, program->function_count);
    program->frame_init = ARENA_ARRAY(b->arena, int32_t, 1);
    for (uint32_t f = 0; f < program->function_count; f++)
        program->functions[f] = (struct code_function){
            .name = b->code->functions[f].function->name, .body = CODE_NONE, .entry = CODE_NONE};
}

static bool compile(struct ptx_builder *b, const struct ptx_code_options *options)
{
    find_reach(b);
    place_code(b);
    if (!ptx_build_failed(b))
        ptx_build_memory(b);
    if (!ptx_build_failed(b))
        ptx_build_textures(b);
    if (!ptx_build_failed(b))
        start_functions(b);
    if (!ptx_build_failed(b))
        build_functions(b);
    if (!ptx_build_failed(b))
        align_frames(b);
    b->function = 0;
    if (!ptx_build_failed(b))
        ptx_build_registers(b);
    if (!ptx_build_failed(b))
        ptx_build_depth(b);
    if (!ptx_build_failed(b))
        ptx_build_initial(b, options);
    if (ptx_build_failed(b))
        return false;
    ptx_build_constant_rows(b);
    number_locations(b);
    number_statements(b);
    number_functions(b);
    if (options && options->before)
        b->code->uninitialised = options->before->uninitialised;
    else
        ptx_build_live(b);
    return true;
}

struct program *ptx_compile(struct arena *arena, const struct ast_kernel *kernel,
                            const struct ptx_module *module, const struct ptx_code_options *options,
                            const char **reason)
{
    struct program *program = ARENA_NEW(arena, struct program);
    struct ptx_code *code = ARENA_NEW(arena, struct ptx_code);
    struct ptx_builder b = {.arena = arena,
                            .kernel = kernel,
                            .ptx = kernel->ptx,
                            .module = module,
                            .entry = ptx_find_entry(module, kernel->ptx->entry->name),
                            .code = code,
                            .program = program,
                            .frame_align = 16};
    struct ptx_map *const maps[] = {&b.function_numbers, &b.labels,   &b.homes,     &b.registers,
                                    &b.constants,        &b.specials, &b.signatures};
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++)
        maps[i]->arena = arena;
    program->core = kernel;
    program->form = FORM_PTX;
    program->ptx = code;
    program->launch = kernel->launch;
    build_launch(program);
    ptx_kernel_dimensions(kernel, b.block, b.grid);
    code->kernel = kernel->ptx;
    code->module = module;
    code->stride = (kernel->launch.warp + 1) & ~1u;
    for (const struct ast_var *var = kernel->vars; var; var = var->next)
        program->var_count++;
    program->vars = ARENA_ARRAY(arena, struct code_var, program->var_count);
    number_variables(program);
    if (!b.entry)
        ptx_build_fail(&b, "the module has no entry '%.80s'", kernel->ptx->entry->name);
    if (!b.entry || !compile(&b, options)) {
        *reason = b.reason;
        return NULL;
    }
    ptx_find_spans(arena, code);
    return program;
}

const char *ptx_op_path(struct arena *arena, const struct ptx_code *code, uint32_t pc)
{
    const struct ptx_op *op = &code->ops[pc];
    if (op->source_line == 0)
        return NULL;
    const char *file = ptx_file_name(code->module, op->file);
    return file ? arena_printf(arena, "%s:%u", file, op->source_line) : NULL;
}

const char *ptx_op_source(struct arena *arena, const struct ptx_code *code, uint32_t pc)
{
    const char *path = ptx_op_path(arena, code, pc);
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

const char *ptx_op_line(struct arena *arena, const struct ptx_code *code, uint32_t pc)
{
    const char *source = ptx_op_source(arena, code, pc);
    const uint32_t line = code->ops[pc].line;
    return source ? arena_printf(arena, "line %u (%s)", line, source)
                  : arena_printf(arena, "line %u", line);
}

const char *ptx_op_text(struct arena *arena, const struct ptx_code *code, uint32_t pc)
{
    if (pc == 0 || pc >= code->count)
        return "no instruction";
    const struct ptx_op *op = &code->ops[pc];
    if (op->statement)
        return ptx_print_instruction(arena, &op->statement->u.instruction);
    return op->exec == PTX_EXEC_EXIT ? "exit;" : "ret;";
}
