/* Frames of PTX: what calls and returns copy between them, and that nothing is left of one that is gone. */
#include "oracle/steps/follow_ptx.h"

#include <string.h>

/* The call that made the frame at this depth; with PTX_SITE_SHARES it has the registers of the one below. */
static uint32_t *site_of(struct ptx_lanes *lanes, uint32_t depth, uint32_t lane)
{
    return (uint32_t *)(void *)&lanes->lane[lanes->count] + depth * lanes->count + lane;
}

/* One end of a copy: a register of the frame, or bytes of its memory. */
struct end {
    struct ptx_lane frame;
    const struct ptx_place *place;
    uint32_t byte;
};

static uint32_t byte_of(const struct follow_step *s, uint32_t lane, const struct end *end)
{
    const uint32_t thread = s->g->registers->first_thread + lane;
    return 4 * s->f->machine->threads[thread].base[SPACE_LOCAL] + end->frame.byte + end->byte;
}

/* A register as it is; bytes of memory as so many, in a register the low ones of it. */
static void copy(struct follow_step *s, uint32_t lane, const struct end *to, const struct end *from,
                 uint32_t bytes)
{
    struct ptx_lanes *lanes = s->g->registers;
    if (from->place->kind == PTX_PLACE_NONE && to->place->kind == PTX_PLACE_NONE) {
        for (uint32_t i = 0; i < bytes; i++)
            follow_ptx_put_bytes(s->x->memory, byte_of(s, lane, to) + i, 1,
                                 follow_ptx_bytes(s->x->memory, byte_of(s, lane, from) + i, 1));
        return;
    }
    lanes->lane[lane] = from->frame;
    const uint64_t value = from->place->kind == PTX_PLACE_NONE
                               ? follow_ptx_bytes(s->x->memory, byte_of(s, lane, from), bytes)
                               : ptx_source(s->f->machine, lanes, from->place, lane);
    lanes->lane[lane] = to->frame;
    if (to->place->kind == PTX_PLACE_NONE)
        follow_ptx_put_bytes(s->x->memory, byte_of(s, lane, to), bytes, value);
    else
        follow_ptx_set(s, lanes, to->place, lane, value);
}

static void copy_all(struct follow_step *s, uint32_t lane, const struct ptx_lane *caller,
                     const struct ptx_lane *callee, uint32_t first, uint32_t count, bool back)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct ptx_copy *c = &s->x->code->copies[first + i];
        const struct end outer = {*caller, &c->caller, c->caller_byte},
                         inner = {*callee, &c->callee, c->callee_byte};
        copy(s, lane, back ? &outer : &inner, back ? &inner : &outer, c->bytes);
    }
}

/* Registers and memory of the frame become 0. */
static void clear(struct follow_step *s, uint32_t lane, const struct ptx_lane *frame)
{
    const struct ptx_code_function *function = &s->x->code->functions[frame->function];
    const struct end all = {*frame, NULL, 0};
    s->g->registers->lane[lane] = *frame;
    for (uint32_t i = 0; i < function->rows.narrow + function->rows.wide; i++) {
        const bool wide = i >= function->rows.narrow;
        const struct ptx_place place = {PTX_PLACE_REGISTER, wide ? 64 : 32,
                                        wide ? i - function->rows.narrow : i};
        follow_ptx_set(s, s->g->registers, &place, lane, 0);
    }
    for (uint32_t i = 0; i < function->frame_bytes; i++)
        follow_ptx_put_bytes(s->x->memory, byte_of(s, lane, &all) + i, 1, 0);
}

void follow_ptx_push(struct follow_step *s, uint32_t lane, uint32_t target)
{
    const struct ptx_code *code = s->x->code;
    struct ptx_lanes *lanes = s->g->registers;
    const struct ptx_lane caller = lanes->lane[lane];
    struct ptx_lane callee = caller;
    const uint32_t site = (uint32_t)(s->op - code->ops);
    bool starts = false;
    callee.depth++;
    for (uint32_t f = 0; f < code->function_count && !starts; f++)
        if ((starts = code->functions[f].entry == target))
            callee.function = f;
    if (starts) {
        callee.rows.narrow += code->functions[caller.function].rows.narrow;
        callee.rows.wide += code->functions[caller.function].rows.wide;
        callee.byte += code->functions[caller.function].frame_bytes;
        copy_all(s, lane, &caller, &callee, s->op->copy, s->op->copy_count, false);
    }
    lanes->lane[lane] = callee;
    *site_of(lanes, callee.depth, lane) = starts ? site : site | PTX_SITE_SHARES;
}

void follow_ptx_pop(struct follow_step *s, uint32_t lane)
{
    const struct ptx_code *code = s->x->code;
    struct ptx_lanes *lanes = s->g->registers;
    const struct ptx_lane callee = lanes->lane[lane];
    struct ptx_lane caller = callee;
    if (callee.depth == 0)
        return;
    uint32_t *site = site_of(lanes, callee.depth, lane);
    caller.depth--;
    if (!(*site & PTX_SITE_SHARES)) {
        const struct ptx_op *call = &code->ops[*site];
        const struct ptx_code_function *function = &code->functions[call->function];
        caller.function = call->function;
        caller.rows.narrow -= function->rows.narrow;
        caller.rows.wide -= function->rows.wide;
        caller.byte -= function->frame_bytes;
        copy_all(s, lane, &caller, &callee, call->back, call->back_count, true);
        clear(s, lane, &callee);
    }
    *site = 0;
    lanes->lane[lane] = caller;
}

void follow_ptx_framed(struct follow_step *s)
{
    struct ptx_lanes *lanes = s->g->registers;
    lanes->uniform = true;
    for (uint32_t l = 1; l < lanes->count; l++)
        lanes->uniform =
            lanes->uniform && memcmp(&lanes->lane[l], &lanes->lane[0], PTX_FRAME_BYTES) == 0;
}
