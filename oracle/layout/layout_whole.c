/*
 * layout_whole.c - what follows from all instructions: which barriers there are, how deep calls go and how much stacks
 * of registers, frames and tokens take, what an instruction may access, which registers are read before they are
 * written.
 */
#include "oracle/layout/layout_internal.h"

#include <string.h>

static void is(struct layout *l, bool holds, const char *what)
{
    if (!holds)
        layout_part(l, what);
}

/* ---- what there is ---- */

static bool is_between(uint32_t exec, enum ptx_exec first, enum ptx_exec last)
{
    return exec >= (uint32_t)first && exec <= (uint32_t)last;
}

static bool is_of_clusters(const struct ptx_op *op)
{
    const struct ptx_instruction *i = op->statement ? &op->statement->u.instruction : NULL;
    return op->exec == PTX_EXEC_CLUSTER ||
           (i && (op->opcode == PTX_OP_MAPA || op->opcode == PTX_OP_GETCTARANK ||
                  (op->opcode == PTX_OP_CP && i->words[PTX_SLOT_PART] == PTX_W_MULTICAST)));
}

static void barriers(struct layout *l)
{
    const struct ptx_code *code = l->code;
    uint32_t set = 0, count = 0;
    bool named = false, cluster = false;
    for (uint32_t pc = 1; pc < code->count; pc++) {
        const struct ptx_op *op = &code->ops[pc];
        if (op->exec == PTX_EXEC_CLUSTER) {
            set |= 1;
            named = cluster = true;
        }
        if (!is_between(op->exec, PTX_EXEC_BAR_SYNC, PTX_EXEC_BAR_RED))
            continue;
        const struct ptx_operand *o = op->statement->u.instruction.operands;
        o = op->exec == PTX_EXEC_BAR_RED ? o->next : o;
        const bool is_number = o->kind == PTX_OPERAND_INTEGER && o->value < 16;
        set |= is_number ? 1u << o->value : 0xffff;
        named |= !is_number || o->value != 0 || op->has_count || op->exec != PTX_EXEC_BAR_SYNC;
        count++;
    }
    is(l, code->barriers == set && code->barrier_count == (uint32_t)__builtin_popcount(set),
       "numbers of barriers");
    is(l, code->has_named_barriers == named && code->has_cluster_barrier == cluster,
       "named barriers");
    is(l, l->program->barrier_count == count, "number of barriers");
}

static void kinds(struct layout *l)
{
    const struct ptx_code *code = l->code;
    const uint32_t *cluster = code->kernel->cluster;
    bool flow = false, atomics = false, votes = false, async = false, mbarriers = false,
         matrices = false;
    bool clusters = cluster[0] * cluster[1] * cluster[2] > 1;
    for (uint32_t pc = 1; pc < code->count; pc++) {
        const struct ptx_op *op = &code->ops[pc];
        flow |= is_between(op->exec, PTX_EXEC_SSY, PTX_EXEC_BREAK);
        atomics |= op->exec == PTX_EXEC_ATOM;
        votes |= op->exec == PTX_EXEC_VOTE || op->exec == PTX_EXEC_ACTIVEMASK ||
                 op->exec == PTX_EXEC_SHFL || op->exec == PTX_EXEC_MATCH ||
                 op->exec == PTX_EXEC_REDUX;
        async |=
            is_between(op->exec, PTX_EXEC_COPY, PTX_EXEC_COPY_ARRIVE) ||
            (op->statement && ptx_forms[op->statement->u.instruction.form].opcode == PTX_OP_CP);
        mbarriers |= op->exec == PTX_EXEC_MBARRIER;
        matrices |= op->matrix != NULL;
        clusters |= is_of_clusters(op);
    }
    is(l, code->explicit_flow == flow, "branch unit");
    is(l, l->program->has_atomics == atomics && l->program->has_votes == votes,
       "atomics and votes");
    is(l,
       code->has_async == async && code->has_mbarrier == mbarriers &&
           code->has_matrices == matrices,
       "copies");
    is(l, code->has_clusters == clusters, "clusters");
}

/* ---- how deep ---- */

struct deep {
    uint64_t calls, narrow, wide, bytes, tokens;
};

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static bool may_call(const struct layout *l, const struct ptx_op *op, uint32_t callee)
{
    const struct ptx_code_function *f = &l->code->functions[callee];
    return op->exec == PTX_EXEC_CALL && callee > 0 && op->statement &&
           (op->target ? op->target == f->entry : op->signature == f->signature);
}

/* The most over all chains of so many activations that start with each function, added up. */
static void chains(const struct layout *l, const struct deep *shorter, struct deep *longer)
{
    for (uint32_t f = 0; f < l->code->function_count; f++) {
        const struct ptx_code_function *function = &l->code->functions[f];
        struct deep below = {0};
        uint64_t tokens = 0;
        for (uint32_t pc = function->entry; pc < function->end; pc++) {
            const struct ptx_op *op = &l->code->ops[pc];
            tokens += op->exec == PTX_EXEC_SSY || op->exec == PTX_EXEC_PREBRK ||
                      op->exec == PTX_EXEC_PRERET;
            for (uint32_t g = 1; op->exec == PTX_EXEC_CALL && g < l->code->function_count; g++)
                if (may_call(l, op, g))
                    below = (struct deep){
                        most(below.calls, shorter[g].calls), most(below.narrow, shorter[g].narrow),
                        most(below.wide, shorter[g].wide), most(below.bytes, shorter[g].bytes),
                        most(below.tokens, shorter[g].tokens)};
        }
        longer[f] = (struct deep){1 + below.calls, function->rows.narrow + below.narrow,
                                  function->rows.wide + below.wide,
                                  function->frame_bytes + below.bytes, tokens + below.tokens};
    }
}

static void depth(struct layout *l)
{
    const struct ptx_code *code = l->code;
    const uint32_t count = code->function_count;
    struct deep *now = ARENA_ARRAY(l->arena, struct deep, count),
                *next = ARENA_ARRAY(l->arena, struct deep, count);
    bool calls = false, changes = true;
    for (uint32_t pc = 1; pc < code->count; pc++)
        calls |= code->ops[pc].exec == PTX_EXEC_CALL;
    for (uint32_t i = 0; i < LIMIT_CALL_DEPTH && changes; i++) {
        chains(l, now, next);
        changes = memcmp(now, next, count * sizeof *now) != 0;
        memcpy(now, next, count * sizeof *now);
    }
    const bool raw = code->kernel->raw;
    const uint64_t tokens = now[0].tokens + l->program->launch.warp + code->kernel->token_count + 1;
    const uint64_t capacity = tokens < 1024 ? tokens : 1024;
    const uint64_t local = (code->frame_local_base + now[0].bytes) / 4;
    is(l, code->depth == (raw && calls ? LIMIT_CALL_DEPTH : now[0].calls), "depth of calls");
    is(l, code->rows.narrow == now[0].narrow && code->rows.wide == now[0].wide,
       "registers of all frames");
    is(l, code->frame_bytes == now[0].bytes, "memory of all frames");
    is(l, code->token_capacity == (raw ? most(capacity, 64) : capacity), "tokens");
    is(l, l->program->stack_depth == code->token_capacity, "tokens");
    is(l, l->program->recursive == (code->depth == LIMIT_CALL_DEPTH), "recursion");
    is(l,
       l->program->words[SPACE_LOCAL] == local &&
           l->program->memory_words == l->program->private_base + local * l->program->total_threads,
       "local memory");
}

/* ---- what is accessed ---- */

static uint64_t bit_of(const struct program *program, const struct ast_var *var)
{
    for (uint32_t i = 0; i < program->var_count; i++)
        if (program->vars[i].ast == var)
            return (uint64_t)1 << (i < 63 ? i : 63);
    return 0;
}

static uint64_t touched(const struct layout *l, const struct ptx_regions *regions, bool at,
                        uint64_t address)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < regions->count; i++) {
        const struct ptx_region *r = &regions->items[i];
        if (r->var && (!at || (address >= r->address && address < r->address + r->bytes)))
            bits |= bit_of(l->program, r->var);
    }
    return bits;
}

/* At a known address its variable, else all of the space, or of both. */
static uint64_t accessed(const struct layout *l, const struct ptx_op *op)
{
    const bool known = op->sources[0].kind == PTX_PLACE_NONE && !op->matrix;
    const bool global = op->space == PTX_W_GLOBAL, shared = op->space == PTX_W_SHARED,
               any = op->space == PTX_W_NONE;
    uint64_t bits = 0;
    if (ptx_exec_is(op->exec, PTX_FAR))
        return touched(l, &l->code->global, false, 0) | touched(l, &l->code->shared, false, 0);
    if (op->exec == PTX_EXEC_TEXTURE || op->exec == PTX_EXEC_SUST)
        return touched(l, &l->code->global, false, 0);
    if (!ptx_exec_is(op->exec, PTX_LOADS | PTX_STORES) && op->exec != PTX_EXEC_ATOM)
        return 0;
    bits |= global || any ? touched(l, &l->code->global, known && !any, op->offset) : 0;
    bits |= shared || any ? touched(l, &l->code->shared, known && !any, op->offset) : 0;
    return bits;
}

static void finest(uint32_t bytes, uint32_t *least)
{
    *least = bytes > 0 && bytes < *least ? bytes : *least;
}

/* An access that does not say that it is of memory of its own: it may be told. */
static bool may_be_seen(const struct ptx_op *op)
{
    const bool plain =
        op->exec == PTX_EXEC_LD || op->exec == PTX_EXEC_ST || op->exec == PTX_EXEC_ATOM;
    const enum ptx_word space =
        plain ? (enum ptx_word)op->statement->u.instruction.words[PTX_SLOT_SPACE] : PTX_W_NONE;
    return (plain && space != PTX_W_LOCAL && space != PTX_W_CONST && space != PTX_W_PARAM) ||
           op->opcode == PTX_OP_SULD || op->opcode == PTX_OP_SUST;
}

/* Locations are as small as the least that is accessed, a word at most. */
static uint32_t least_access(const struct layout *l)
{
    uint32_t least = 4;
    bool fetches = false;
    for (uint32_t pc = 1; pc < l->code->count; pc++) {
        fetches |= l->code->ops[pc].exec == PTX_EXEC_TEXTURE;
        if (may_be_seen(&l->code->ops[pc]))
            finest(l->code->ops[pc].bytes, &least);
    }
    for (uint32_t i = 0; fetches && i < l->code->texture_count; i++)
        finest(ptx_type_of(l->code->textures[i].what->type).bits / 8u, &least);
    return least;
}

static void statements(struct layout *l)
{
    const struct program *program = l->program;
    is(l, program->stm_count == l->code->count, "statements");
    if (l->code->module == l->code->kernel->module)
        is(l, program->units == 4 / least_access(l), "bytes of a location");
    for (uint32_t pc = 1; pc < l->code->count && !l->differs; pc++) {
        const struct ptx_op *op = l->op = &l->code->ops[pc];
        const struct code_stm *stm = &program->stms[pc];
        const uint64_t bits = accessed(l, op);
        is(l, stm->kind == CODE_PTX && stm->line == op->line && stm->function == op->function,
           "statement");
        is(l, stm->reads == (ptx_exec_is(op->exec, PTX_STORES) ? 0 : bits), "what may be read");
        is(l, stm->writes == (ptx_exec_is(op->exec, PTX_LOADS) ? 0 : bits), "what may be written");
    }
    l->op = NULL;
}

/* ---- registers that are read before they are written ---- */

static bool names(const struct ptx_place *place, const struct ptx_place *reg)
{
    return place->kind == PTX_PLACE_REGISTER && place->bits == reg->bits &&
           place->offset == reg->offset;
}

static bool reads(const struct layout *l, const struct ptx_op *op, const struct ptx_place *reg)
{
    const struct ptx_place *place;
    bool does = names(&op->guard, reg);
    uint32_t at = 0;
    for (uint32_t i = 0; i < PTX_CODE_SOURCES; i++)
        does |= names(&op->sources[i], reg);
    for (uint32_t i = 0; i < op->copy_count; i++)
        does |= names(&l->code->copies[op->copy + i].caller, reg);
    while ((place = ptx_matrix_next(op, false, &at)) != NULL)
        does |= names(place, reg);
    for (uint32_t i = 0; op->parts && i < (op->exec == PTX_EXEC_COPY ? 2 : 3); i++)
        does |= names(&op->parts[i].sources[0], reg);
    return does;
}

static bool writes(const struct layout *l, const struct ptx_op *op, const struct ptx_place *reg)
{
    const struct ptx_place *place;
    bool does = false;
    uint32_t at = 0;
    for (uint32_t i = 0; i < op->result_count; i++)
        does |= names(&op->results[i], reg);
    for (uint32_t i = 0; i < op->back_count; i++)
        does |= names(&l->code->copies[op->back + i].caller, reg);
    while ((place = ptx_matrix_next(op, true, &at)) != NULL)
        does |= names(place, reg);
    return does;
}

/* The first instruction in the text that reads it and that a path from the function's start comes to without a write: a
 * guard counts as if it held. 0: there is none. */
static uint32_t comes_to_read(const struct layout *l, const struct ptx_code_function *f,
                              const struct ptx_place *reg, uint8_t *seen, uint32_t *todo)
{
    uint32_t count = 1, first = 0;
    memset(seen, 0, f->end - f->entry);
    todo[0] = f->entry;
    seen[0] = 1;
    while (count > 0) {
        const uint32_t pc = todo[--count];
        const struct ptx_op *op = &l->code->ops[pc];
        const bool guarded = op->guard.kind != PTX_PLACE_NONE;
        if (reads(l, op, reg) && (first == 0 || pc < first))
            first = pc;
        if (writes(l, op, reg))
            continue;
        const bool leaves = op->exec == PTX_EXEC_BRA || op->exec == PTX_EXEC_RET ||
                            op->exec == PTX_EXEC_EXIT || op->exec == PTX_EXEC_TRAP;
        for (uint32_t i = 0; i < op->table_count + 2; i++) {
            const uint32_t to = i == 0   ? (guarded || !leaves ? pc + 1 : 0)
                                : i == 1 ? (op->exec == PTX_EXEC_BRA ? op->target : 0)
                                         : l->code->table[op->table + i - 2];
            if (to < f->entry || to >= f->end || seen[to - f->entry])
                continue;
            seen[to - f->entry] = 1;
            todo[count++] = to;
        }
    }
    return first;
}

/* What is told of it, then. */
static const char *told_of(const struct layout *l, const struct layout_row *row, uint32_t pc)
{
    const struct ptx_variable *var = row->what;
    const char *of = var->is_range ? arena_printf(l->arena, "%u", (unsigned)row->index) : "";
    const char *element = row->element ? arena_printf(l->arena, ".%c", row->element) : "";
    return arena_printf(l->arena, "register %.80s%s may be read before it is written, line %u",
                        arena_printf(l->arena, "%s%s", var->name, of), element,
                        (unsigned)l->code->ops[pc].line);
}

static bool is_parameter(const struct ptx_function *f, const struct layout_row *row)
{
    for (const struct ptx_variable *var = f->returns; var; var = var->next)
        if (var == row->what)
            return true;
    for (const struct ptx_variable *var = f->parameters; var; var = var->next)
        if (var == row->what)
            return true;
    return false;
}

/* Not of branches to registers, and of those that tokens lead. */
static bool has_paths(const struct ptx_code *code)
{
    bool has = !code->explicit_flow && !code->kernel->raw && code->register_count == 0;
    for (uint32_t pc = 1; pc < code->count && has; pc++)
        has =
            code->ops[pc].exec != PTX_EXEC_BRA || code->ops[pc].target || code->ops[pc].table_count;
    return has;
}

static void uninitialised(struct layout *l)
{
    const struct ptx_code *code = l->code;
    uint8_t *seen = ARENA_ARRAY(l->arena, uint8_t, code->count);
    uint32_t *todo = ARENA_ARRAY(l->arena, uint32_t, code->count + 1);
    bool any = false, told = false;
    for (uint32_t f = 0; f < code->function_count && !any; f++) {
        const struct ptx_code_function *function = &code->functions[f];
        const uint32_t narrow = function->rows.narrow, all = narrow + function->rows.wide;
        for (uint32_t i = 0; i < all && function->end > function->entry; i++) {
            const bool wide = i >= narrow;
            const struct layout_row *row = wide ? &l->wide[f][i - narrow] : &l->narrow[f][i];
            const struct ptx_place reg = {PTX_PLACE_REGISTER, wide ? 64 : 32,
                                          wide ? i - narrow : i};
            const bool asked = row->what && row->half == 0 && !layout_is_taken(row) &&
                               !is_parameter(function->function, row);
            const uint32_t pc = asked ? comes_to_read(l, function, &reg, seen, todo) : 0;
            any |= pc > 0;
            told |= pc > 0 && code->uninitialised &&
                    (layout_is_carry(row) ? strncmp(code->uninitialised, "the carry", 9) == 0
                                          : strcmp(code->uninitialised, told_of(l, row, pc)) == 0);
        }
    }
    is(l, any ? told : !code->uninitialised, "register that is read before it is written");
}

void layout_whole(struct layout *l)
{
    barriers(l);
    kinds(l);
    depth(l);
    statements(l);
    if (l->code->module == l->code->kernel->module && has_paths(l->code))
        uninitialised(l);
}
