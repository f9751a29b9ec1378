/*
 * ref_meet.c - threads of a warp with pcs of their own (PTX ISA 9.7.9.6, 9.7.13, since sm_70): a .sync instruction
 * waits for the lanes of its mask. "The same": the same instruction with the same modifiers and the same mask; of
 * matrices (9.7.14), which are .aligned, the one that stands there, by all lanes.
 */
#include "engine/reference_ptx/ref_ptx.h"

#include <string.h>

static bool names(const struct ref_standing *x, uint32_t lane, uint32_t other)
{
    uint64_t mask = x->lane[lane].mask;
    return (other < 32 || x->width > 32) && (mask >> other % 32 & 1) == 1;
}

static bool is_aligned(const struct ptx_instruction *instruction)
{
    enum ptx_opcode opcode = ptx_forms[instruction->form].opcode;
    return opcode == PTX_OP_MMA || opcode == PTX_OP_WMMA || opcode == PTX_OP_LDMATRIX ||
           opcode == PTX_OP_STMATRIX || opcode == PTX_OP_MOVMATRIX;
}

static bool same(const struct ref_stands *a, const struct ref_stands *b)
{
    if (is_aligned(a->instruction) || is_aligned(b->instruction))
        return a->instruction == b->instruction;
    return ptx_forms[a->instruction->form].opcode == ptx_forms[b->instruction->form].opcode &&
           memcmp(a->instruction->words, b->instruction->words, sizeof a->instruction->words) ==
               0 &&
           (a->mask & 0xffffffff) == (b->mask & 0xffffffff);
}

bool ref_names_itself(const struct ref_standing *x, uint32_t lane)
{
    return names(x, lane, lane);
}

bool ref_is_met(const struct ref_standing *x, uint32_t lane)
{
    if (!x->lane[lane].waits)
        return false;
    for (uint32_t other = 0; other < x->count; other++) {
        const struct ref_stands *it = &x->lane[other];
        if (names(x, lane, other) && !it->ended && !(it->waits && same(&x->lane[lane], it)))
            return false;
    }
    return true;
}

bool ref_meets_with(const struct ref_standing *x, uint32_t lane, uint32_t other)
{
    return names(x, lane, other) && !x->lane[other].ended;
}
