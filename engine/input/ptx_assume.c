/*
 * Which parameters of an entry are addresses in shared or constant memory: compilers of OpenCL pass `local` and
 * `constant` pointers so, and do not all say it (.ptr .shared, .ptr .const); which are handles of textures, which
 * nothing says. A parameter is one if its value, or what is computed from it by adding, reaches the address of an
 * access to .shared, or of accesses to .const alone. The order of instructions is not looked at.
 */
#include "engine/input/ptx_kernel_internal.h"
#include "engine/ptx/ptx_reach.h"

enum { PARAMETERS_MAX = PTX_POINTERS_MOST, ROUNDS_MAX = 64 };

struct flow {
    struct ptx_map numbers; /* registers to indices of masks */
    uint64_t *masks;        /* the parameters that a register's value comes from */
    uint32_t count, capacity;
    const struct ptx_function *entry;
    struct ptx_pointers found;
    uint64_t
        elsewhere; /* parameters that reach a global or generic access: registers are used again */
    bool changed;
};

static uint64_t *mask_of(struct flow *f, const struct ptx_operand *o)
{
    bool is_new;
    if (!o || !o->name || o->target_kind != PTX_TARGET_VARIABLE ||
        o->target.variable->space != PTX_W_REG)
        return NULL;
    uint32_t *number = ptx_map_add(&f->numbers, o->target.variable,
                                   (uint64_t)o->index << 8 | (uint8_t)o->element, &is_new);
    if (is_new) {
        if (f->count == f->capacity) {
            uint32_t capacity = f->capacity ? 2 * f->capacity : 256;
            uint64_t *masks = ARENA_ARRAY(f->numbers.arena, uint64_t, capacity);
            for (uint32_t i = 0; i < f->count; i++)
                masks[i] = f->masks[i];
            f->masks = masks;
            f->capacity = capacity;
        }
        *number = f->count++;
    }
    return &f->masks[*number];
}

static void flow_into(struct flow *f, const struct ptx_operand *to, uint64_t mask)
{
    uint64_t *place = mask ? mask_of(f, to) : NULL;
    if (place && (*place | mask) != *place) {
        *place |= mask;
        f->changed = true;
    }
}

static uint64_t mask_from(struct flow *f, const struct ptx_operand *from)
{
    const uint64_t *mask = mask_of(f, from);
    return mask ? *mask : 0;
}

/* ld of a parameter, or of anything else. */
static uint64_t loaded(const struct flow *f, const struct ptx_operand *address)
{
    uint32_t number = 0;
    const struct ptx_variable *p = f->entry->parameters;
    for (; p && number < PARAMETERS_MAX; p = p->next, number++)
        if (address->target_kind == PTX_TARGET_VARIABLE && address->target.variable == p)
            return (uint64_t)1 << number;
    return 0;
}

static void note_access(struct flow *f, const struct ptx_instruction *i,
                        const struct ptx_operand *address)
{
    enum ptx_word space = (enum ptx_word)i->words[PTX_SLOT_SPACE];
    if (space == PTX_W_SHARED || space == PTX_W_SHARED_CTA)
        f->found.shared |= mask_from(f, address);
    else if (space == PTX_W_CONST)
        f->found.constant |= mask_from(f, address);
    else if (space == PTX_W_GLOBAL || space == PTX_W_NONE)
        f->elsewhere |= mask_from(f, address);
}

/* Enough for the launches that are made up, of elements that any instruction reads. */
static void make_texture(struct ptx_texture *t, const struct ptx_instruction *i)
{
    static const uint32_t sizes[][3] = {{4096, 1, 1}, {256, 64, 1}, {64, 16, 16}};
    const enum ptx_word type = (enum ptx_word)i->words[PTX_SLOT_TYPE];
    const bool is_surface = type != PTX_W_F32 && type != PTX_W_S32 && type != PTX_W_U32;
    const bool whole = i->words[PTX_SLOT_TYPE2] == PTX_W_S32;
    const bool was_fetched = t->dimensions > 0 && !t->is_memory;
    t->layered = ptx_is_layered(i->words);
    t->dimensions = ptx_dimensions(i->words) + t->layered;
    for (uint32_t d = 0; d < 3; d++)
        t->size[d] = sizes[t->dimensions - 1][d];
    t->type = is_surface ? PTX_W_U32 : type;
    t->channels = 4;
    t->pitch = t->size[0] * ptx_texel_bytes(t);
    t->is_memory = whole && t->dimensions == 1 && !was_fetched;
}

static void note_texture(struct flow *f, const struct ptx_instruction *i,
                         const struct ptx_operand *handle)
{
    const uint64_t mask = mask_from(f, handle);
    f->found.textures |= mask;
    for (uint32_t k = 0; k < PARAMETERS_MAX; k++)
        if (mask >> k & 1)
            make_texture(&f->found.texture[k], i);
}

static void follow(struct flow *f, const struct ptx_instruction *i)
{
    const struct ptx_operand *first = i->operands;
    switch ((int)ptx_forms[i->form].opcode) {
    case PTX_OP_LD:
        note_access(f, i, first->next);
        flow_into(f, first, loaded(f, first->next));
        return;
    case PTX_OP_ATOM:
        note_access(f, i, first->next);
        return;
    case PTX_OP_ST:
    case PTX_OP_RED:
        note_access(f, i, first);
        return;
    case PTX_OP_TEX:
    case PTX_OP_TLD4:
    case PTX_OP_SULD:
        note_texture(f, i, first->next);
        return;
    case PTX_OP_SUST:
        note_texture(f, i, first);
        return;
    case PTX_OP_MAD: /* the index is multiplied, the address is added */
        flow_into(f, first, mask_from(f, first->next->next->next));
        return;
    case PTX_OP_CVTA: /* says the space, as an access does; a generic address is followed no further */
        note_access(f, i, first->next);
        if (i->form == PTX_FORM_CVTA_TO)
            flow_into(f, first, mask_from(f, first->next));
        return;
    case PTX_OP_ADD:
    case PTX_OP_SUB:
    case PTX_OP_OR:
    case PTX_OP_AND:
    case PTX_OP_SELP:
    case PTX_OP_MOV:
    case PTX_OP_CVT:
        for (const struct ptx_operand *o = first->next; o; o = o->next)
            flow_into(f, first, mask_from(f, o));
        return;
    default:
        return;
    }
}

static void follow_all(struct flow *f, const struct ptx_statement *stm)
{
    for (; stm; stm = stm->next)
        if (stm->kind == PTX_BLOCK)
            follow_all(f, stm->u.block);
        else if (stm->kind == PTX_INSTRUCTION)
            follow(f, &stm->u.instruction);
}

/* .ptr says it. */
static void declare(struct ptx_pointers *found, const struct ptx_variable *p, uint64_t bit)
{
    found->shared &= ~bit;
    found->constant &= ~bit;
    if (p->pointer_space == PTX_W_SHARED)
        found->shared |= bit;
    if (p->pointer_space == PTX_W_CONST)
        found->constant |= bit;
}

struct ptx_pointers ptx_assume_pointers(struct arena *arena, const struct ptx_function *entry)
{
    struct flow f = {.numbers.arena = arena, .entry = entry, .changed = true};
    uint32_t number = 0;
    for (uint32_t round = 0; f.changed && round < ROUNDS_MAX; round++) {
        f.changed = false;
        follow_all(&f, entry->body);
    }
    f.found.constant &= ~(f.found.shared | f.elsewhere);
    for (const struct ptx_variable *p = entry->parameters; p && number < PARAMETERS_MAX;
         p = p->next, number++)
        if (p->is_pointer && p->pointer_space != PTX_W_NONE)
            declare(&f.found, p, (uint64_t)1 << number);
    return f.found;
}
