/*
 * Registers that may be read before they are written: those that are live where a function starts, without
 * its parameters (and in a raw kernel those that have initial values). An instruction with a guard counts as
 * if its guard held: what it writes is written.
 */
#include "engine/base/bits.h"
#include "engine/program/ptx_compile_internal.h"

#include <string.h>

/* Larger functions are not looked at: words of the sets of all instructions together. Passes: one for each
 * loop around another, two more; after so many, what is found is true but perhaps not all. */
enum { SET_WORDS_MAX = 1 << 22, PASSES_MAX = 100, TOKEN_DISTANCE = 1000 };

struct live {
    struct ptx_builder *b;
    const struct ptx_code *code;
    const struct ptx_code_function *f;
    uint32_t words; /* of a set: narrow rows, then wide ones */
    uint64_t *sets; /* live before each instruction of the function */
    uint64_t
        *label_union; /* live before any instruction that has a label: where indirect branches go */
    uint64_t *now;
    const uint8_t *is_label;
    const uint32_t *tokens; /* where break and ret go */
    uint32_t *next;         /* room for the successors of an instruction */
};

static uint32_t bit_of(const struct live *l, const struct ptx_place *place)
{
    return place->bits == 64 ? l->f->rows.narrow + place->offset : place->offset;
}

static void add(const struct live *l, uint64_t *set, const struct ptx_place *place)
{
    if (place->kind == PTX_PLACE_REGISTER)
        bits_add(set, bit_of(l, place));
}

static void drop(const struct live *l, uint64_t *set, const struct ptx_place *place)
{
    if (place->kind == PTX_PLACE_REGISTER)
        bits_remove(set, bit_of(l, place));
}

static uint64_t *set_of(const struct live *l, uint32_t pc)
{
    return l->sets + (size_t)(pc - l->f->entry) * l->words;
}

static void join(const struct live *l, uint32_t pc)
{
    if (pc < l->f->entry || pc >= l->f->end)
        return;
    const uint64_t *set = set_of(l, pc);
    for (uint32_t w = 0; w < l->words; w++)
        l->now[w] |= set[w];
}

/* Where the tokens of this kind lead that a lane at `pc` may have: that of the region that the text has
 * around it; 0: not known. */
static uint32_t find_token(const struct live *l, uint32_t pc, enum ptx_exec push)
{
    uint32_t first = pc - l->f->entry > TOKEN_DISTANCE ? pc - TOKEN_DISTANCE : l->f->entry;
    for (uint32_t at = pc; at-- > first;)
        if (l->code->ops[at].exec == push && l->code->ops[at].target > pc)
            return l->code->ops[at].target;
    return 0;
}

/* Of each break, and each ret of a raw kernel. */
static const uint32_t *find_tokens(const struct live *l)
{
    uint32_t *tokens = ARENA_ARRAY(l->b->arena, uint32_t, l->f->end - l->f->entry);
    for (uint32_t pc = l->f->entry; pc < l->f->end; pc++)
        if (l->code->ops[pc].exec == PTX_EXEC_BREAK)
            tokens[pc - l->f->entry] = find_token(l, pc, PTX_EXEC_PREBRK);
        else if (l->code->ops[pc].exec == PTX_EXEC_RET && l->b->ptx->raw)
            tokens[pc - l->f->entry] = find_token(l, pc, PTX_EXEC_PRERET);
    return tokens;
}

/* Where a lane goes from there, in `next`; any: also to any label. A lane comes from sync to the next one (CHK.branch).
 */
static uint32_t successors(const struct live *l, uint32_t pc, bool *any)
{
    const struct ptx_op *op = &l->code->ops[pc];
    uint32_t count = 0;
    bool leaves = op->exec == PTX_EXEC_BRA || op->exec == PTX_EXEC_RET ||
                  op->exec == PTX_EXEC_EXIT || op->exec == PTX_EXEC_TRAP ||
                  op->exec == PTX_EXEC_BREAK;
    if (op->guard.kind != PTX_PLACE_NONE || !leaves)
        l->next[count++] = pc + 1;
    *any = op->exec == PTX_EXEC_BRA && !op->target && op->table_count == 0;
    if (op->exec == PTX_EXEC_BRA || op->exec == PTX_EXEC_CALL)
        l->next[count++] = op->target; /* of a call: a label of a raw kernel */
    for (uint32_t i = 0; i < op->table_count; i++)
        l->next[count++] = l->code->table[op->table + i];
    if (op->exec == PTX_EXEC_BREAK || (op->exec == PTX_EXEC_RET && l->b->ptx->raw)) {
        uint32_t token = l->tokens[pc - l->f->entry];
        l->next[count++] = token;
        *any |= !token;
    }
    return count;
}

/* Live behind the instruction. */
static void join_successors(const struct live *l, uint32_t pc)
{
    bool any;
    for (uint32_t i = successors(l, pc, &any); i-- > 0;)
        join(l, l->next[i]);
    for (uint32_t w = 0; any && w < l->words; w++)
        l->now[w] |= l->label_union[w];
}

static void drop_written(const struct live *l, uint32_t pc)
{
    const struct ptx_op *op = &l->code->ops[pc];
    const struct ptx_place *place;
    uint32_t at = 0;
    for (uint32_t i = 0; i < op->result_count; i++)
        drop(l, l->now, &op->results[i]);
    for (uint32_t i = 0; i < op->back_count; i++)
        drop(l, l->now, &l->code->copies[op->back + i].caller);
    while ((place = ptx_matrix_next(op, true, &at)) != NULL)
        drop(l, l->now, place);
}

static void transfer(const struct live *l, uint32_t pc)
{
    const struct ptx_op *op = &l->code->ops[pc];
    const struct ptx_place *place;
    uint32_t at = 0;
    memset(l->now, 0, l->words * sizeof *l->now);
    join_successors(l, pc);
    drop_written(l, pc);
    for (uint32_t i = 0; i < op->copy_count; i++)
        add(l, l->now, &l->code->copies[op->copy + i].caller);
    for (uint32_t i = 0; i < PTX_CODE_SOURCES; i++)
        add(l, l->now, &op->sources[i]);
    for (at = 0; (place = ptx_matrix_next(op, false, &at)) != NULL;)
        add(l, l->now, place);
    for (uint32_t i = 0; i < ptx_part_count(op); i++)
        add(l, l->now, &op->parts[i].sources[0]);
    add(l, l->now, &op->guard);
}

/* One pass backwards; false: nothing has changed. */
static bool pass(const struct live *l)
{
    bool changed = false;
    for (uint32_t pc = l->f->end; pc-- > l->f->entry;) {
        uint64_t *set = set_of(l, pc);
        transfer(l, pc);
        if (memcmp(set, l->now, l->words * sizeof *set) == 0)
            continue;
        memcpy(set, l->now, l->words * sizeof *set);
        for (uint32_t w = 0; w < l->words && l->is_label[pc]; w++)
            l->label_union[w] |= set[w];
        changed = true;
    }
    return changed;
}

static bool is_given(const struct ptx_builder *b, const struct ptx_place *place)
{
    for (uint32_t i = 0; b->function == 0 && i < b->code->register_count; i++) {
        const struct ptx_place *given = &b->code->registers[i].place;
        if (given->bits == place->bits && given->offset == place->offset)
            return true;
    }
    return false;
}

static bool is_same(const struct ptx_place *named, const struct ptx_place *place)
{
    return named->kind == PTX_PLACE_REGISTER && named->bits == place->bits &&
           named->offset == place->offset;
}

static bool reads(const struct ptx_code *code, uint32_t pc, const struct ptx_place *place)
{
    const struct ptx_op *op = &code->ops[pc];
    const struct ptx_place *places[PTX_CODE_SOURCES + 1] = {&op->guard};
    for (uint32_t i = 0; i < PTX_CODE_SOURCES; i++)
        places[i + 1] = &op->sources[i];
    const struct ptx_place *named;
    uint32_t at = 0;
    for (uint32_t i = 0; i <= PTX_CODE_SOURCES; i++)
        if (is_same(places[i], place))
            return true;
    while ((named = ptx_matrix_next(op, false, &at)) != NULL)
        if (is_same(named, place))
            return true;
    for (uint32_t i = 0; i < ptx_part_count(op); i++) {
        if (is_same(&op->parts[i].sources[0], place))
            return true;
    }
    for (uint32_t i = 0; i < op->copy_count; i++) {
        if (is_same(&code->copies[op->copy + i].caller, place))
            return true;
    }
    return false;
}

static bool writes(const struct live *l, uint32_t pc, const struct ptx_place *place)
{
    add(l, l->now, place);
    drop_written(l, pc);
    return !bits_has(l->now, bit_of(l, place));
}

static void come_to(const struct live *l, uint8_t *comes, uint32_t pc, bool *more)
{
    if (pc < l->f->entry || pc >= l->f->end || comes[pc - l->f->entry])
        return;
    comes[pc - l->f->entry] = 1;
    *more = true;
}

/* The first instruction in the text that reads it, and that a lane comes to which has not written it. */
static uint32_t read_unwritten(const struct live *l, const struct ptx_place *place)
{
    uint8_t *comes = ARENA_ARRAY(l->b->arena, uint8_t, l->f->end - l->f->entry);
    bool more = true, any;
    comes[0] = 1;
    while (more) {
        more = false;
        for (uint32_t pc = l->f->entry; pc < l->f->end; pc++) {
            if (!comes[pc - l->f->entry] || writes(l, pc, place))
                continue;
            for (uint32_t i = successors(l, pc, &any); i-- > 0;)
                come_to(l, comes, l->next[i], &more);
            for (uint32_t label = l->f->entry; any && label < l->f->end; label++)
                if (l->is_label[label] || l->b->ptx->raw) /* there any address */
                    come_to(l, comes, label, &more);
        }
    }
    uint32_t pc = l->f->entry;
    while (pc + 1 < l->f->end && !(comes[pc - l->f->entry] && reads(l->code, pc, place)))
        pc++;
    return pc;
}

static void report(const struct live *l, const struct ptx_register_name *reg)
{
    const uint32_t line = l->code->ops[read_unwritten(l, &reg->place)].line;
    const char *name = strchr(reg->name, ' ')
                           ? reg->name /* the carry */
                           : arena_printf(l->b->arena, "register %.80s", reg->name);
    if (reg->element)
        name = arena_printf(l->b->arena, "%s.%c", name, reg->element);
    l->b->code->uninitialised =
        arena_printf(l->b->arena, "%s may be read before it is written, line %u", name, line);
}

static void mark_labels(const struct ptx_builder *b, uint8_t *is_label,
                        const struct ptx_statement *stm)
{
    for (; stm; stm = stm->next) {
        const uint32_t *address = stm->kind == PTX_LABEL ? ptx_map_find(&b->labels, stm, 0) : NULL;
        if (address && *address < b->code->count)
            is_label[*address] = 1;
        if (stm->kind == PTX_BLOCK)
            mark_labels(b, is_label, stm->u.block);
    }
}

static uint32_t count_formals(const struct ptx_function *f)
{
    uint32_t count = 0;
    for (const struct ptx_variable *var = f->returns; var; var = var->next)
        count += var->space == PTX_W_REG;
    for (const struct ptx_variable *var = f->parameters; var; var = var->next)
        count += var->space == PTX_W_REG;
    return count;
}

static void look_at(struct ptx_builder *b, uint32_t number, const uint8_t *is_label)
{
    const struct ptx_code_function *f = &b->code->functions[number];
    struct live l = {.b = b, .code = b->code, .f = f, .is_label = is_label};
    l.words = (f->rows.narrow + f->rows.wide + 63) / 64;
    uint64_t all = (uint64_t)(f->end - f->entry) * l.words;
    if (all == 0 || all > SET_WORDS_MAX)
        return;
    l.sets = ARENA_ARRAY(b->arena, uint64_t, all);
    l.label_union = ARENA_ARRAY(b->arena, uint64_t, l.words);
    l.now = ARENA_ARRAY(b->arena, uint64_t, l.words);
    uint32_t most = 0;
    for (uint32_t pc = f->entry; pc < f->end; pc++)
        most = b->code->ops[pc].table_count > most ? b->code->ops[pc].table_count : most;
    l.next = ARENA_ARRAY(b->arena, uint32_t, most + 4);
    l.tokens = find_tokens(&l);
    for (uint32_t n = 0; n < PASSES_MAX && pass(&l);)
        n++;
    const uint64_t *start = set_of(&l, f->entry);
    uint32_t formals = number ? count_formals(f->function) : 0;
    for (const struct ptx_register_name *reg = b->layouts[number].registers; reg; reg = reg->next) {
        uint32_t bit = bit_of(&l, &reg->place);
        if (formals > 0) {
            formals--; /* they come first */
            continue;
        }
        if (bits_has(start, bit) && !is_given(b, &reg->place)) {
            report(&l, reg);
            return;
        }
    }
}

void ptx_build_live(struct ptx_builder *b)
{
    uint8_t *is_label = ARENA_ARRAY(b->arena, uint8_t, b->code->count);
    for (uint32_t f = 0; f < b->code->function_count; f++)
        mark_labels(b, is_label, b->code->functions[f].function->body);
    for (uint32_t f = 0; f < b->code->function_count && !b->code->uninitialised; f++) {
        b->function = f;
        look_at(b, f, is_label);
    }
}
