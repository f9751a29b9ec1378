/*
 * ptx_grid.c - whether an entry waits for all blocks of its grid: cooperative_groups' grid.sync finds what they wait at
 * by the registers %envreg1 and %envreg2, which hold an address where a launch is cooperative.
 */
#include "engine/input/ptx_kernel.h"
#include "engine/ptx/ptx_reach.h"

#include <string.h>

static bool reads_address(const struct ptx_statement *list)
{
    bool reads = false;
    for (; list && !reads; list = list->next) {
        if (list->kind == PTX_BLOCK)
            reads = reads_address(list->u.block);
        if (list->kind != PTX_INSTRUCTION)
            continue;
        for (const struct ptx_operand *o = list->u.instruction.operands; o; o = o->next)
            reads |=
                o->name && (strcmp(o->name, "%envreg1") == 0 || strcmp(o->name, "%envreg2") == 0);
    }
    return reads;
}

bool ptx_waits_for_grid(struct arena *arena, const struct ptx_module *module,
                        const struct ptx_function *entry)
{
    const size_t mark = arena_mark(arena);
    struct ptx_reach reach = {.function_count = 0};
    bool waits = false;
    ptx_reach(arena, module, entry, &reach);
    for (uint32_t i = 0; i < reach.function_count && !waits; i++)
        waits = reads_address(reach.functions[i]->body);
    arena_release(arena, mark);
    return waits;
}

uint64_t ptx_grid_address(const struct ptx_kernel *ptx)
{
    const struct ptx_bind *barrier = ptx_kernel_placed(ptx, PTX_GRID_BARRIER);
    return barrier ? barrier->address : 0;
}
