#include "engine/crs/crs.h"
#include "engine/reference_caches/ref_caches.h"
#include "engine/reference_ptx/ref_ptx.h"
#include "oracle/follow/follow_caches.h"

/* MO.poloc: the operation has a byte in a word that the lanes access. */
static bool meets(const struct ref_caches *m, const struct ref_operation *y, int64_t size,
                  lane_mask X, const uint32_t *byte)
{
    for (uint32_t word = 0; word < m->line_bytes / 4; word++) {
        const int64_t from = y->line + 4 * word;
        bool has = false, wants = false;
        for (uint32_t b = 0; b < 4; b++)
            has |= ref_has_byte(y, 4 * word + b);
        for (uint32_t l = 0; l < LIMIT_WARP; l++)
            wants |= X >> l & 1 && byte[l] < from + 4 && byte[l] + size > from;
        if (has && wants)
            return true;
    }
    return false;
}

bool follow_caches_can_access(const struct follower *f, const struct ref_caches *m, uint32_t group,
                              uint32_t pc, lane_mask X, uint32_t slots)
{
    const struct machine *machine = f->machine;
    const struct ptx_op *op = &f->program->ptx->ops[pc];
    const struct ptx_lanes *lanes = machine->semantics->actors == ACTORS_WARPS
                                        ? crs_warp(machine, group).lanes
                                        : cta_thread(machine, group).lanes;
    const uint32_t *byte;
    uint32_t own = 0;
    X = ptx_places_now((struct machine *)(uintptr_t)machine, (struct ptx_lanes *)(uintptr_t)lanes,
                       pc, X, &byte);
    for (uint32_t o = 0; o < m->operation_count; o++) {
        const struct ref_operation *y = &m->operations[o];
        const enum ptx_opcode opcode = ptx_forms[y->instruction->form].opcode;
        bool loads = op->exec == PTX_EXEC_LD && (opcode == PTX_OP_LD || opcode == PTX_OP_LDU);
        if (y->group != group)
            continue;
        own++;
        if (m->profile != REF_PRINTED && !(loads && m->profile == REF_LLH) &&
            meets(m, y, (int64_t)op->bytes * op->count, X, byte))
            return false;
    }
    return own + (uint32_t)__builtin_popcountll(X) * op->count <= slots;
}
