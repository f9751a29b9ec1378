/*
 * follow_ptx_texture.c - textures and surfaces (engine/reference_ptx/ref_texture.c): where texels lie in the copy of
 * memory, which accesses are heard, and what registers become.
 */
#include "oracle/steps/follow_ptx.h"

static const struct ptx_code_texture *texture_of(const struct follow_step *s, uint32_t lane)
{
    const struct ptx_code *code = s->x->code;
    const bool is_known = s->op->sources[0].kind == PTX_PLACE_NONE;
    const uint64_t handle = (is_known ? 0 : follow_ptx_source(s, 0, lane)) + s->op->offset;
    for (uint32_t i = 0; i < code->texture_count; i++)
        if (code->textures[i].handle == handle)
            return &code->textures[i];
    return NULL;
}

/* The byte of memory; false: there is no such memory, and the execution ends. */
static bool place_of(struct follow_step *s, uint32_t lane, uint64_t address, uint32_t bytes,
                     uint32_t *byte)
{
    const struct ptx_op access = {.space = PTX_W_GLOBAL, .offset = address};
    struct follow_step y = *s;
    y.op = &access;
    const struct follow_place p = follow_ptx_place(&y, lane, 0, bytes, bytes, false);
    *byte = p.byte;
    if (!p.exists)
        follow_ptx_fault(s, STATUS_OUT_OF_BOUNDS, lane);
    return p.exists;
}

static void compare_results(struct follow_step *s, const struct ref_texture_step *x, uint32_t lane)
{
    for (uint32_t r = 0; r < s->op->result_count && s->f->state == FOLLOW_ALONG; r++) {
        const struct ptx_place *place = &s->op->results[r];
        if (place->kind != PTX_PLACE_REGISTER)
            continue;
        uint64_t got = ptx_source(s->f->machine, s->after, place, lane), about;
        if (!ref_texture_may(x, r, got, &about))
            follow_part_numbers(s->f, "texel", (int64_t)got, (int64_t)about);
        follow_ptx_set(s, s->g->registers, place, lane, got);
    }
}

/* False: the execution ends. */
static bool texture_lane(struct follow_step *s, uint32_t lane, uint32_t *at)
{
    const struct ptx_code_texture *t = texture_of(s, lane);
    const bool writes = s->op->exec == PTX_EXEC_SUST;
    if (!t) {
        follow_ptx_fault(s, STATUS_OUT_OF_BOUNDS, lane);
        return false;
    }
    struct ref_texture_step x = {.instruction = &s->op->statement->u.instruction,
                                 .texture = t->what,
                                 .values = s->op->count};
    for (uint32_t a = 0; a < 3; a++)
        x.coordinate[a] = follow_ptx_source(s, PTX_TEXEL_X + a, lane);
    for (uint32_t r = 0; r < 4; r++)
        x.wanted[r] = s->op->results[r].kind != PTX_PLACE_NONE;
    ref_texture_find(&x);
    if (x.undefined || x.outside) {
        follow_ptx_fault(s, x.outside ? STATUS_OUT_OF_BOUNDS : STATUS_STUCK, lane);
        return false;
    }
    for (uint32_t i = 0; i < x.count; i++) {
        struct ref_texel_read *read = &x.reads[i];
        uint32_t byte;
        if (!place_of(s, lane, t->address + read->at, read->bytes, &byte))
            return false;
        read->value = writes ? follow_ptx_source(s, PTX_TEXEL_VALUE + i, lane)
                             : follow_ptx_bytes(s->x->memory, byte, read->bytes);
        if (writes)
            follow_ptx_put_bytes(s->x->memory, byte, read->bytes, read->value);
        follow_ptx_check_heard(s, at, writes ? REF_WRITE : REF_READ, lane, byte, read->bytes,
                               read->value);
    }
    compare_results(s, &x, lane);
    return true;
}

static enum rule rule_of(const struct follow_step *s)
{
    switch ((int)ptx_forms[s->op->statement->u.instruction.form].opcode) {
    case PTX_OP_TEX:
        return RULE_TEXTURE_FETCH;
    case PTX_OP_TLD4:
        return RULE_TEXTURE_GATHER;
    case PTX_OP_SULD:
        return RULE_TEXTURE_SULD;
    case PTX_OP_SUST:
        return RULE_TEXTURE_SUST;
    default:
        return RULE_TEXTURE_QUERY;
    }
}

/* The lanes come one after the other. */
enum rule follow_ptx_texture(struct follow_step *s)
{
    uint32_t at = s->f->heard_at;
    for (uint32_t l = 0; l < s->g->registers->count && s->f->state == FOLLOW_ALONG; l++)
        if (s->executes[l] && !texture_lane(s, l, &at))
            break;
    follow_ptx_check_all_heard(s, at);
    return rule_of(s);
}
