/*
 * Registers that may be read before they are written: those that are live where a function starts, without
 * its parameters (and in a raw kernel those that have initial values). An instruction with a guard counts as
 * if its guard held: what it writes is written.
 */
#include "engine/ptx_compile_internal.h"

#include <string.h>

/* Larger functions are not looked at: words of the sets of all instructions together. Passes: one for each
 * loop around another, two more; after so many, what is found is true but perhaps not all. */
enum { SET_WORDS_MAX = 1 << 22, PASSES_MAX = 100 };

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
};

static uint32_t bit_of(const struct live *l, const struct ptx_place *place)
{
    return place->bits == 64 ? l->f->rows.narrow + place->offset : place->offset;
}

static void add(const struct live *l, uint64_t *set, const struct ptx_place *place)
{
    if (place->kind == PTX_PLACE_REGISTER) {
        uint32_t bit = bit_of(l, place);
        set[bit / 64] |= (uint64_t)1 << bit % 64;
    }
}

static void drop(const struct live *l, uint64_t *set, const struct ptx_place *place)
{
    if (place->kind == PTX_PLACE_REGISTER) {
        uint32_t bit = bit_of(l, place);
        set[bit / 64] &= ~((uint64_t)1 << bit % 64);
    }
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

/* Live behind the instruction. */
static void join_successors(const struct live *l, uint32_t pc)
{
    const struct ptx_op *op = &l->code->ops[pc];
    bool goes_on = op->guard.kind != PTX_PLACE_NONE ||
                   (op->exec != PTX_EXEC_BRA && op->exec != PTX_EXEC_RET &&
                    op->exec != PTX_EXEC_EXIT && op->exec != PTX_EXEC_TRAP);
    if (goes_on)
        join(l, pc + 1);
    if (op->exec == PTX_EXEC_BRA && op->target)
        join(l, op->target);
    else if (op->exec == PTX_EXEC_BRA && op->table_count == 0)
        for (uint32_t w = 0; w < l->words; w++)
            l->now[w] |= l->label_union[w];
    for (uint32_t i = 0; i < op->table_count; i++)
        join(l, l->code->table[op->table + i]);
    /* break, and sync behind a branch, go where these say. */
    if (op->exec >= PTX_EXEC_SSY && op->exec <= PTX_EXEC_PRERET)
        join(l, op->target);
}

static void transfer(const struct live *l, uint32_t pc)
{
    const struct ptx_op *op = &l->code->ops[pc];
    memset(l->now, 0, l->words * sizeof *l->now);
    join_successors(l, pc);
    for (uint32_t i = 0; i < op->result_count; i++)
        drop(l, l->now, &op->results[i]);
    for (uint32_t i = 0; i < op->back_count; i++)
        drop(l, l->now, &l->code->copies[op->back + i].caller);
    for (uint32_t i = 0; i < op->copy_count; i++)
        add(l, l->now, &l->code->copies[op->copy + i].caller);
    for (uint32_t i = 0; i < PTX_CODE_SOURCES; i++)
        add(l, l->now, &op->sources[i]);
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

static bool reads(const struct ptx_code *code, uint32_t pc, const struct ptx_place *place)
{
    const struct ptx_op *op = &code->ops[pc];
    const struct ptx_place *places[PTX_CODE_SOURCES + 1] = {&op->guard};
    for (uint32_t i = 0; i < PTX_CODE_SOURCES; i++)
        places[i + 1] = &op->sources[i];
    for (uint32_t i = 0; i <= PTX_CODE_SOURCES; i++)
        if (places[i]->kind == PTX_PLACE_REGISTER && places[i]->bits == place->bits &&
            places[i]->offset == place->offset)
            return true;
    for (uint32_t i = 0; i < op->copy_count; i++) {
        const struct ptx_place *caller = &code->copies[op->copy + i].caller;
        if (caller->kind == PTX_PLACE_REGISTER && caller->bits == place->bits &&
            caller->offset == place->offset)
            return true;
    }
    return false;
}

/* The first instruction in the text that reads it where it is live. */
static void report(const struct live *l, const struct ptx_register_name *reg)
{
    uint32_t bit = bit_of(l, &reg->place), line = 0;
    for (uint32_t pc = l->f->entry; pc < l->f->end && !line; pc++)
        if (set_of(l, pc)[bit / 64] >> bit % 64 & 1 && reads(l->code, pc, &reg->place))
            line = l->code->ops[pc].line;
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
        if (start[bit / 64] >> bit % 64 & 1 && !is_given(b, &reg->place)) {
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
