/*
 * lift.c - a kernel given as PTX as blocks and variables: what is refused, registers, memory, where control goes.
 */
#include "engine/duo/lift.h"

#include "engine/base/bits.h"

#include <inttypes.h>
#include <string.h>

enum { TABLE_MAX = 4096, SETTABLE_MAX = 1024 /* words of a buffer that a model can fill */ };

struct building {
    struct duo *duo;
    struct lift *lift;
    struct arena *arena;
    const struct ptx_code *code;
    uint32_t from, to; /* of the entry's instructions */
    uint8_t *starts;   /* an instruction: a block starts there, and is reached */
    const char *reason;
};

/* ---- what is refused ---- */

static bool refuse(struct building *b, uint32_t pc, const char *what)
{
    if (!b->reason)
        b->reason = arena_printf(b->arena, "%s at line %" PRIu32 " is not handled", what,
                                 b->code->ops[pc].line);
    return false;
}

/* bar.sync 0 of all threads. */
static bool is_whole_barrier(const struct building *b, const struct ptx_op *op)
{
    const struct ptx_place *number = &op->sources[0], *count = &op->sources[1];
    const uint32_t *rows = b->code->constant_rows;
    return number->kind == PTX_PLACE_CONST && rows[number->offset] == 0 &&
           (!op->has_count || (count->kind == PTX_PLACE_CONST &&
                               rows[count->offset] == b->lift->program->launch.threads));
}

static bool is_generic_near(const struct building *b, const struct ptx_op *op)
{
    return op->space == PTX_W_NONE && !b->code->is_far;
}

/* Atomics of other blocks race with one that reaches its own block only; those of several sizes with each other. */
static bool check_atomic(struct building *b, uint32_t pc)
{
    const struct ptx_op *op = &b->code->ops[pc];
    const uint8_t *words = op->statement->u.instruction.words;
    bool narrow = words[PTX_SLOT_SCOPE] == PTX_W_CTA || words[PTX_SLOT_SCOPE] == PTX_W_CLUSTER;
    if (op->count > 1)
        return refuse(b, pc, "the atomic of a vector, or of 128 bits");
    if (narrow && op->space != PTX_W_SHARED && b->lift->program->launch.blocks > 1)
        return refuse(b, pc, "an atomic of its block's scope");
    for (uint32_t other = b->from; other < pc; other++)
        if (b->code->ops[other].exec == PTX_EXEC_ATOM && b->code->ops[other].bytes != op->bytes)
            return refuse(b, pc, "an atomic of another size than others");
    return true;
}

/* Strong for all threads of the device, of one element (docs/races.md). */
static bool is_strong(const struct ptx_op *op)
{
    const uint8_t *words = op->statement ? op->statement->u.instruction.words : NULL;
    uint8_t sem = words ? words[PTX_SLOT_SEM] : PTX_W_NONE;
    uint8_t scope = words ? words[PTX_SLOT_SCOPE] : PTX_W_NONE;
    bool plain = sem == PTX_W_NONE || sem == PTX_W_WEAK;
    bool narrow = scope == PTX_W_CTA || scope == PTX_W_CLUSTER;
    return op->exec == PTX_EXEC_ATOM || (!plain && !narrow && op->count == 1);
}

uint32_t lift_log_kind(const struct lift *lift, const struct ptx_op *op)
{
    bool one_size = (lift->strong_sizes & (lift->strong_sizes - 1)) == 0;
    if (is_strong(op) && (one_size || op->exec == PTX_EXEC_ATOM))
        return op->exec == PTX_EXEC_LD ? LOG_STRONG_READ : LOG_ATOMIC;
    return op->exec == PTX_EXEC_ST ? LOG_WRITE : LOG_READ;
}

static void note_order(struct building *b, const struct ptx_op *op)
{
    const uint8_t *words = op->statement ? op->statement->u.instruction.words : NULL;
    bool access = op->exec == PTX_EXEC_LD || op->exec == PTX_EXEC_ST || op->exec == PTX_EXEC_ATOM;
    bool says = access && words && (words[PTX_SLOT_SCOPE] || words[PTX_SLOT_SEM]);
    b->lift->ordered |= says || op->exec == PTX_EXEC_MEMBAR || op->exec == PTX_EXEC_BAR_WARP;
    b->lift->strong_sizes |= access && is_strong(op) ? op->bytes : 0;
}

static bool is_handled(struct building *b, uint32_t pc)
{
    const struct ptx_op *op = &b->code->ops[pc];
    note_order(b, op);
    switch ((enum ptx_exec)op->exec) {
    case PTX_EXEC_NOP:
    case PTX_EXEC_ROWS:
    case PTX_EXEC_VOTE:
    case PTX_EXEC_ACTIVEMASK:
    case PTX_EXEC_SHFL:
    case PTX_EXEC_MATCH:
    case PTX_EXEC_REDUX:
    case PTX_EXEC_MEMBAR:
    case PTX_EXEC_BAR_WARP:
    case PTX_EXEC_CLOCK:
    case PTX_EXEC_EXIT:
    case PTX_EXEC_TRAP:
        return true;
    case PTX_EXEC_LD:
    case PTX_EXEC_ST:
        return !is_generic_near(b, op) || refuse(b, pc, "a generic address of 32 bits");
    case PTX_EXEC_ATOM:
        return is_generic_near(b, op) ? refuse(b, pc, "a generic address of 32 bits")
                                      : check_atomic(b, pc);
    case PTX_EXEC_BAR_SYNC:
        return is_whole_barrier(b, op) || refuse(b, pc, "a named barrier, or one of some threads,");
    case PTX_EXEC_BAR_ARRIVE:
    case PTX_EXEC_BAR_RED:
        return refuse(b, pc, "a named barrier, or one with a result,");
    case PTX_EXEC_BRA:
        return op->target || op->table_count || refuse(b, pc, "a branch to a register");
    case PTX_EXEC_CALL:
        return refuse(b, pc, "the call");
    case PTX_EXEC_COPY:
    case PTX_EXEC_COPY_COMMIT:
    case PTX_EXEC_COPY_WAIT:
    case PTX_EXEC_COPY_BULK:
    case PTX_EXEC_COPY_ARRIVE:
        return refuse(b, pc, "the asynchronous copy");
    case PTX_EXEC_MBARRIER:
        return refuse(b, pc, "the mbarrier");
    case PTX_EXEC_MMA:
    case PTX_EXEC_MATRIX_LD:
    case PTX_EXEC_MATRIX_ST:
        return refuse(b, pc, "the instruction of matrices");
    case PTX_EXEC_CLUSTER:
        return refuse(b, pc, "the barrier of a cluster");
    case PTX_EXEC_TEXTURE:
    case PTX_EXEC_SUST:
        return refuse(b, pc, "the texture or surface");
    case PTX_EXEC_RET:
    case PTX_EXEC_SSY:
    case PTX_EXEC_PREBRK:
    case PTX_EXEC_PRERET:
    case PTX_EXEC_SYNC:
    case PTX_EXEC_BREAK:
        break;
    }
    return refuse(b, pc, "an instruction of the branch unit");
}

/* ---- where control goes ---- */

typedef void edge_fn(struct building *b, void *context, uint32_t target);

/* Where control may go from the instruction: an address; b->to: the thread ends. */
static void each_successor(struct building *b, uint32_t pc, edge_fn *edge, void *context)
{
    const struct ptx_op *op = &b->code->ops[pc];
    bool ends = op->exec == PTX_EXEC_EXIT || op->exec == PTX_EXEC_TRAP;
    bool goes = op->exec == PTX_EXEC_BRA || ends, guarded = op->guard.kind != PTX_PLACE_NONE;
    if (!goes || guarded)
        edge(b, context, pc + 1);
    if (ends)
        edge(b, context, b->to);
    if (op->exec == PTX_EXEC_BRA && op->target)
        edge(b, context, op->target);
    for (uint32_t i = 0; op->exec == PTX_EXEC_BRA && i < op->table_count; i++)
        edge(b, context, b->code->table[op->table + i]);
}

struct worklist {
    uint32_t *items, count;
    uint8_t *seen;
};

static void visit(struct building *b, void *context, uint32_t target)
{
    struct worklist *list = context;
    if (target == b->to || list->seen[target])
        return;
    list->seen[target] = 1;
    list->items[list->count++] = target;
}

static void mark_start(struct building *b, void *context, uint32_t target)
{
    (void)context;
    b->starts[target] = target != b->to;
}

/* Instructions that control reaches; blocks start where it comes from elsewhere. */
static bool find_starts(struct building *b)
{
    struct worklist list = {.items = ARENA_ARRAY(b->arena, uint32_t, b->to + 1),
                            .seen = ARENA_ARRAY(b->arena, uint8_t, b->to + 1)};
    b->starts = ARENA_ARRAY(b->arena, uint8_t, b->to + 1);
    visit(b, &list, b->from);
    b->starts[b->from] = 1;
    while (list.count > 0) {
        uint32_t pc = list.items[--list.count];
        if (!is_handled(b, pc))
            return false;
        each_successor(b, pc, visit, &list);
        if (ptx_is_flow((enum ptx_exec)b->code->ops[pc].exec))
            each_successor(b, pc, mark_start, NULL);
    }
    return true;
}

struct targets {
    struct ast_block *block, **blocks; /* blocks: by the address of their start */
};

static void add_target(struct building *b, void *context, uint32_t target)
{
    struct targets *t = context;
    struct ast_block *to = target == b->to ? NULL : t->blocks[target];
    for (uint32_t i = 0; i < t->block->target_count; i++)
        if (t->block->targets[i] == to)
            return;
    t->block->targets[t->block->target_count++] = to;
}

static uint32_t end_of_block(const struct building *b, uint32_t pc)
{
    do
        pc++;
    while (pc < b->to && !b->starts[pc] && !ptx_is_flow((enum ptx_exec)b->code->ops[pc - 1].exec));
    return pc;
}

static void make_blocks(struct building *b, struct ast_function *main)
{
    struct targets t = {.blocks = ARENA_ARRAY(b->arena, struct ast_block *, b->to + 1)};
    struct ast_block **last = &main->blocks;
    uint32_t count = 0;
    for (uint32_t pc = b->from; pc < b->to; pc++) {
        if (!b->starts[pc])
            continue;
        struct ast_block *block = ARENA_NEW(b->arena, struct ast_block);
        block->at.line = b->code->ops[pc].line;
        block->name = arena_printf(b->arena, "line %" PRIu32, block->at.line);
        t.blocks[pc] = *last = block;
        last = &block->next;
        b->lift->first[count] = pc;
        b->lift->block_at[pc] = count;
        b->lift->end[count++] = end_of_block(b, pc);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t pc = b->lift->end[i] - 1;
        t.block = t.blocks[b->lift->first[i]];
        t.block->targets =
            ARENA_ARRAY(b->arena, struct ast_block *, b->code->ops[pc].table_count + 2);
        each_successor(b, pc, add_target, &t);
    }
}

/* ---- variables ---- */

static struct ast_var *add_variable(struct building *b, struct ast_var **list, const char *name,
                                    enum ast_space space, uint32_t length, bool is_array)
{
    struct ast_var *var = ast_var(b->arena, name, space, length, is_array);
    ast_var_append(list, var);
    return var;
}

/* Names of registers are those in the text. */
static void name_registers(struct building *b, const char **narrow, const char **wide)
{
    for (uint32_t pc = b->from; pc < b->to; pc++) {
        const struct ptx_op *op = &b->code->ops[pc];
        const struct ptx_operand *o = op->statement ? op->statement->u.instruction.operands : NULL;
        bool parts = o && (o->kind == PTX_OPERAND_VECTOR || o->kind == PTX_OPERAND_PAIR);
        o = parts ? o->items : o;
        for (uint32_t i = 0; i < op->result_count && o; i++, o = parts ? o->next : NULL) {
            const struct ptx_place *place = &op->results[i];
            if (place->kind == PTX_PLACE_REGISTER && o->kind == PTX_OPERAND_NAME)
                (place->bits == 64 ? wide : narrow)[place->offset] = o->name;
        }
    }
}

static void add_registers(struct building *b, struct ast_kernel *kernel,
                          const struct ptx_rows *rows)
{
    const char **narrow = ARENA_ARRAY(b->arena, const char *, rows->narrow + 1);
    const char **wide = ARENA_ARRAY(b->arena, const char *, rows->wide + 1);
    name_registers(b, narrow, wide);
    b->lift->narrow = ARENA_ARRAY(b->arena, struct ast_var *, rows->narrow + 1);
    b->lift->wide = ARENA_ARRAY(b->arena, struct ast_var *, rows->wide + 1);
    for (uint32_t i = 0; i < rows->narrow; i++)
        b->lift->narrow[i] = add_variable(b, &kernel->vars, narrow[i] ? narrow[i] : "a register",
                                          SPACE_PRIVATE, 1, false);
    for (uint32_t i = 0; i < rows->wide; i++)
        b->lift->wide[i] = add_variable(b, &kernel->vars, wide[i] ? wide[i] : "a register",
                                        SPACE_PRIVATE, 1, false);
}

static void add_places(struct building *b, const struct ptx_regions *regions, enum ptx_word space,
                       uint64_t base, enum ptx_window window)
{
    struct lift *lift = b->lift;
    for (uint32_t i = 0; i < regions->count; i++) {
        const struct ptx_region *region = &regions->items[i];
        if (lift->place_count == LIFT_PLACES) {
            b->reason = arena_printf(b->arena, "more than %d variables in memory", LIFT_PLACES);
            return;
        }
        lift->places[lift->place_count++] =
            (struct lift_place){.region = region,
                                .space = space,
                                .address = base + region->address,
                                .window = ptx_window_base(window, true)};
    }
}

/* The copies of the kernel's variables stand in the same order. */
static void set_variables(struct building *b, const struct ast_kernel *given)
{
    for (uint32_t i = 0; i < b->lift->place_count; i++) {
        struct lift_place *place = &b->lift->places[i];
        struct ast_var *copy = b->duo->kernel->vars;
        place->word =
            place->space == PTX_W_LOCAL ? (uint32_t)(place->address / 4) : place->region->word;
        place->var = place->space == PTX_W_LOCAL ? b->lift->local : b->lift->constants;
        for (const struct ast_var *v = given->vars; v; v = v->next, copy = copy->next)
            if (v == place->region->var) {
                place->var = copy;
                place->word = 0;
            }
    }
}

/* Buffers may hold anything. */
static bool is_buffer(const struct ast_kernel *given, const struct ast_var *var)
{
    const struct ptx_kernel *ptx = given->ptx;
    for (uint32_t i = 0; i < ptx->argument_count; i++)
        if (ptx->arguments[i].buffer == var)
            return var->space == SPACE_GLOBAL;
    return false;
}

static void add_memory(struct building *b, struct ast_kernel *kernel,
                       const struct ast_kernel *given)
{
    const struct ptx_code *code = b->code;
    const struct ptx_code_function *entry = &code->functions[0];
    uint32_t local = (code->frame_local_base + entry->frame_bytes + 3) / 4, constants = 0;
    for (const struct ast_var *v = given->vars; v; v = v->next)
        add_variable(b, &kernel->vars, v->name, v->space, v->length, true)->is_input =
            is_buffer(given, v);
    for (uint32_t i = 0; i < code->constant.count; i++)
        constants += (code->constant.items[i].bytes + 3) / 4;
    b->lift->local = add_variable(b, &kernel->vars, "local memory", SPACE_PRIVATE, local + 1, true);
    b->lift->constants =
        add_variable(b, &kernel->vars, "constant memory", SPACE_PRIVATE, constants + 1, true);
    add_places(b, &code->global, PTX_W_GLOBAL, 0, PTX_WINDOW_GLOBAL);
    add_places(b, &code->shared, PTX_W_SHARED, 0, PTX_WINDOW_SHARED);
    add_places(b, &code->local, PTX_W_LOCAL, 0, PTX_WINDOW_LOCAL);
    add_places(b, &entry->locals, PTX_W_LOCAL, code->frame_local_base, PTX_WINDOW_LOCAL);
    add_places(b, &code->constant, PTX_W_CONST, 0, PTX_WINDOW_CONST);
}

/* ---- registers that are live ---- */

static uint32_t bit_of(const struct building *b, const struct ptx_place *place)
{
    return place->bits == 64 ? b->code->functions[0].rows.narrow + place->offset : place->offset;
}

static void set_bit(const struct building *b, uint64_t *set, const struct ptx_place *place, bool on)
{
    if (place->kind == PTX_PLACE_REGISTER)
        (on ? bits_add : bits_remove)(set, bit_of(b, place));
}

/* From behind the instruction to before it. A guarded write leaves what was there. */
static void before_op(const struct building *b, const struct ptx_op *op, uint64_t *set)
{
    for (uint32_t i = 0; i < op->result_count && op->guard.kind == PTX_PLACE_NONE; i++)
        set_bit(b, set, &op->results[i], false);
    for (uint32_t i = 0; i < PTX_CODE_SOURCES; i++)
        set_bit(b, set, &op->sources[i], true);
    set_bit(b, set, &op->guard, true);
}

/* True: more than before is live at the block's start. */
static bool live_at_start(struct building *b, const struct ast_block *block, uint32_t number)
{
    struct lift *lift = b->lift;
    uint64_t *set = ARENA_ARRAY(b->arena, uint64_t, lift->live_words);
    bool more = false;
    for (uint32_t i = 0; i < block->target_count; i++)
        for (uint32_t w = 0; block->targets[i] && w < lift->live_words; w++)
            set[w] |= lift->live[block->targets[i]->mark][w];
    for (uint32_t pc = lift->end[number]; pc-- > lift->first[number];)
        before_op(b, &b->code->ops[pc], set);
    for (uint32_t w = 0; w < lift->live_words; w++) {
        more |= (set[w] & ~lift->live[number][w]) != 0;
        lift->live[number][w] |= set[w];
    }
    return more;
}

static void find_live(struct building *b, const struct ast_function *main)
{
    struct lift *lift = b->lift;
    const struct ptx_rows *rows = &b->code->functions[0].rows;
    uint32_t count = 0;
    for (struct ast_block *block = main->blocks; block; block = block->next)
        block->mark = count++;
    lift->live_words = (rows->narrow + rows->wide) / 64 + 1;
    lift->live = ARENA_ARRAY(b->arena, uint64_t *, count + 1);
    for (uint32_t i = 0; i < count; i++)
        lift->live[i] = ARENA_ARRAY(b->arena, uint64_t, lift->live_words);
    for (bool more = true; more;) {
        more = false;
        for (const struct ast_block *block = main->blocks; block; block = block->next)
            more |= live_at_start(b, block, block->mark);
    }
}

bool lift_is_live(const struct duo *duo, uint32_t block, const struct ast_var *var)
{
    const struct lift *lift = duo->lift;
    const struct ptx_rows *rows = &lift->code->functions[0].rows;
    uint32_t bit = 0;
    if (var->is_array)
        return true;
    while (bit < rows->narrow && lift->narrow[bit] != var)
        bit++;
    for (uint32_t i = 0; bit == rows->narrow + i && i < rows->wide && lift->wide[i] != var; i++)
        bit++;
    return bits_has(lift->live[block], bit);
}

/* ---- all of it ---- */

static const struct ptx_code *code_of(struct duo *duo, struct forms *forms, const char **reason)
{
    const struct form *form = forms_get(forms, PROGRAM_PTX);
    *reason = form->program ? NULL : form->reason;
    if (!form->program)
        return NULL;
    duo->lift->program = form->program;
    if (forms->given->ptx->raw || form->program->ptx->register_count > 0 ||
        form->program->ptx->explicit_flow)
        *reason = "instructions of the branch unit, raw kernels and 'reg:' are not handled";
    return *reason ? NULL : form->program->ptx;
}

static bool build(struct building *b, const struct ast_kernel *given)
{
    struct ast_kernel *kernel = ARENA_NEW(b->arena, struct ast_kernel);
    kernel->name = given->name;
    kernel->form = FORM_BLOCKS;
    kernel->launch = given->launch;
    kernel->main = ARENA_NEW(b->arena, struct ast_function);
    kernel->main->at.line = b->code->ops[b->from].line;
    b->duo->kernel = kernel;
    if (!find_starts(b))
        return false;
    make_blocks(b, kernel->main);
    add_memory(b, kernel, given);
    add_registers(b, kernel, &b->code->functions[0].rows);
    set_variables(b, given);
    find_live(b, kernel->main);
    return !b->reason;
}

bool lift_new(struct duo *duo, struct forms *forms, const char **reason)
{
    struct lift *lift = duo->lift = ARENA_NEW(duo->arena, struct lift);
    struct building b = {.duo = duo, .lift = lift, .arena = duo->arena};
    lift->code = b.code = code_of(duo, forms, reason);
    if (!lift->code)
        return false;
    b.from = b.code->functions[0].entry;
    b.to = b.code->functions[0].end;
    duo->units = lift->program->units;
    lift->first = ARENA_ARRAY(duo->arena, uint32_t, b.to + 1);
    lift->end = ARENA_ARRAY(duo->arena, uint32_t, b.to + 1);
    lift->block_at = ARENA_ARRAY(duo->arena, uint32_t, b.to + 1);
    lift->touched = ARENA_ARRAY(duo->arena, uint64_t, b.to + 1);
    memset(lift->block_at, 0xff, (b.to + 1) * sizeof *lift->block_at);
    bool built = build(&b, forms->given);
    *reason = b.reason;
    return built;
}

void lift_settle(struct duo *duo, const uint64_t *touched)
{
    duo->lift->allowed = touched;
}

bool lift_allows(const struct lift *lift, uint32_t pc, uint32_t place)
{
    const struct ptx_op *op = &lift->code->ops[pc];
    bool in_space = op->space == PTX_W_NONE || op->space == (uint8_t)lift->places[place].space;
    return lift->allowed ? lift->allowed[pc] >> place & 1 : in_space;
}

void lift_note_variables(struct duo *duo)
{
    const struct lift *lift = duo->lift;
    const struct ptx_code_function *entry = &lift->code->functions[0];
    for (uint32_t i = 0; i < entry->rows.wide; i++)
        duo->wide[lift->wide[i]->mark] = 1;
    for (uint32_t pc = entry->entry; pc < entry->end; pc++) {
        const struct ptx_op *op = &lift->code->ops[pc];
        bool writes = op->exec == PTX_EXEC_ST || op->exec == PTX_EXEC_ATOM;
        for (uint32_t i = 0; writes && i < lift->place_count; i++)
            if (lift_allows(lift, pc, i))
                duo->written[lift->places[i].var->mark] |= op->exec == PTX_EXEC_ATOM ? 2 : 1;
        duo->possible[GOAL_BOUNDS] |= writes || op->exec == PTX_EXEC_LD;
        duo->possible[GOAL_DIVERGENCE] |= op->exec == PTX_EXEC_BAR_SYNC && duo->threads > 1;
        duo->possible[GOAL_ASSERTS] |= op->exec == PTX_EXEC_TRAP;
    }
}

/* ---- the launch ---- */

/* A number below `size` for each dimension, and the number that they make. */
static term dimensions(struct duo *duo, const uint32_t size[3], const char *name, term parts[3])
{
    struct terms *t = &duo->terms;
    term number = term_word(t, 0);
    for (uint32_t i = 3; i-- > 0;) {
        const char *part = arena_printf(duo->arena, "%s.%c", name, "xyz"[i]);
        parts[i] = duo_below(duo, part, size[i]);
        number = term_binary(t, BINARY_MUL, number, term_word(t, (int32_t)size[i]));
        number = term_binary(t, BINARY_ADD, number, parts[i]);
    }
    return number;
}

/* Blocks that run are a window of the grid. */
static void find_blocks(struct duo *duo, const uint32_t grid[3])
{
    struct terms *t = &duo->terms;
    struct lift *lift = duo->lift;
    const struct ptx_kernel *ptx = lift->code->kernel;
    for (uint32_t k = 0; k < 2; k++) {
        term rest;
        duo->bid[k] = duo_below(duo, k ? "bid$2" : "bid$1", duo->blocks);
        rest = term_binary(t, BINARY_ADD, duo->bid[k], term_word(t, (int32_t)ptx->first_block));
        for (uint32_t i = 0; i < 3; i++) {
            term size = term_word(t, (int32_t)grid[i]);
            lift->bid[k][i] = i == 2 ? rest : term_urem(t, rest, size);
            rest = term_udiv(t, rest, size);
        }
    }
}

void lift_launch(struct duo *duo)
{
    struct terms *t = &duo->terms;
    struct lift *lift = duo->lift;
    uint32_t block[3], grid[3];
    term same_thread = TERM_TRUE;
    ptx_kernel_dimensions(duo->given, block, grid);
    for (uint32_t k = 0; k < 2; k++)
        duo->tid[k] = dimensions(duo, block, k ? "tid$2" : "tid$1", lift->tid[k]);
    for (uint32_t i = 0; i < 3; i++)
        same_thread = term_and(t, same_thread, term_eq(t, lift->tid[0][i], lift->tid[1][i]));
    if (grid[0] * grid[1] * grid[2] == duo->blocks && lift->code->kernel->first_block == 0 &&
        lift->code->kernel->window == 0) {
        for (uint32_t k = 0; k < 2; k++)
            duo->bid[k] = dimensions(duo, grid, k ? "bid$2" : "bid$1", lift->bid[k]);
        duo->same = TERM_TRUE;
        for (uint32_t i = 0; i < 3; i++)
            duo->same = term_and(t, duo->same, term_eq(t, lift->bid[0][i], lift->bid[1][i]));
    } else {
        find_blocks(duo, grid);
        duo->same = term_eq(t, duo->bid[0], duo->bid[1]);
    }
    if (duo->threads * duo->blocks > 1)
        duo_assume(duo, term_not(t, term_and(t, duo->same, same_thread)));
}

/* ---- initial values ---- */

static term table(struct duo *duo, const uint32_t *words, uint32_t count)
{
    struct terms *t = &duo->terms;
    term table = term_table(t, term_word(t, 0));
    for (uint32_t i = 0; i < count; i++)
        if (words[i] != 0)
            table = term_store(t, table, term_word(t, (int32_t)i), term_word(t, (int32_t)words[i]));
    return table;
}

/* A symbol that no model of inputs sets: a value that is made up. */
static term made_up(struct duo *duo, const char *name)
{
    term symbol = term_symbol(&duo->terms, SORT_ARRAY, name);
    for (uint32_t i = 0; i < duo->fresh.count; i++)
        if (GROWN(duo->fresh, term)[i] == symbol)
            return symbol;
    grown_add(duo->arena, &duo->fresh, &symbol, sizeof symbol);
    return symbol;
}

/* What the launch gives: of buffers, if their contents are not to be anything; of variables with initial values. */
static const uint32_t *given_words(struct duo *duo, const struct ast_var *var, uint32_t *count)
{
    const struct lift *lift = duo->lift;
    for (uint32_t i = 0; i < lift->place_count; i++) {
        const struct lift_place *place = &lift->places[i];
        if (place->var != var || place->space != PTX_W_GLOBAL ||
            (var->is_input && !duo->options->file_inputs) || var->length > TABLE_MAX)
            continue;
        *count = var->length;
        return (const uint32_t *)lift->code->initial + place->region->word;
    }
    return NULL;
}

static uint32_t constant_words(const struct lift *lift)
{
    return lift->constants->length - 1;
}

term lift_initial(struct duo *duo, const struct ast_var *var, uint32_t k)
{
    struct terms *t = &duo->terms;
    uint32_t count = 0;
    if (var == duo->lift->constants)
        return constant_words(duo->lift) <= TABLE_MAX
                   ? table(duo, duo->lift->code->constants, constant_words(duo->lift))
                   : made_up(duo, "constant memory");
    if (!is_memory(var) && var->is_array)
        return term_table(t, term_word(t, 0));
    if (!is_memory(var))
        return duo->wide[var->mark] ? term_long(t, 0) : term_word(t, 0);
    const uint32_t *words = given_words(duo, var, &count);
    if (words)
        return table(duo, words, count);
    const char *name = arena_printf(duo->arena, "%s at the start", var->name);
    if (var->space == SPACE_GLOBAL)
        return var->is_input && var->length <= SETTABLE_MAX ? term_symbol(t, SORT_ARRAY, name)
                                                            : made_up(duo, name);
    term first = made_up(duo, name);
    if (k == 0 || duo->same == TERM_TRUE)
        return first;
    return term_ite(t, duo->same, first,
                    made_up(duo, arena_printf(duo->arena, "%s of block 2", name)));
}
