/*
 * Cooperative launches: the grid's barrier as cooperative_groups' grid.sync has it. A thread of each block adds to a
 * word, one block so much that bit 31 turns when all have come, and waits until it has. It waits for some turns only:
 * any schedule may run one block to its end.
 */
#include "engine/input/ptx_kernel.h"
#include "fuzz/rows/gen_rows_internal.h"

#include <inttypes.h>

enum { TURNS = 6 };

/* Anywhere in global memory, at a multiple of 8 bytes. */
void rows_draw_grid(struct rows_gen *r)
{
    const uint64_t upper = 0x4000 + gen_below(r->g, 0x1000), lower = gen_below(r->g, UINT32_MAX);
    r->cooperative = true;
    PUT(r, " memory:" PTX_GRID_BARRIER "=0x%" PRIx64 ":%d", (upper << 32 | lower) & ~(uint64_t)7,
        PTX_GRID_BARRIER_BYTES);
}

void rows_put_grid_registers(struct rows_gen *r)
{
    PUT(r, "\t.reg .b32 upper, lower, came, turn;\n\t.reg .b64 grid;\n");
}

/* All of a block come, or some; then its first thread goes for them. */
static void put_block(struct rows_gen *r)
{
    if (gen_chance(r->g, 80))
        PUT(r, "\tbarrier.sync 0;\n");
}

void rows_put_grid_barrier(struct rows_gen *r)
{
    static const char *const adds[] = {"fence.sc.gpu;\n\tatom.global.add.u32",
                                       "atom.release.gpu.global.add.u32",
                                       "membar.gl;\n\tatom.global.add.u32"},
                             *const reads[] = {"ld.volatile.global.u32",
                                               "ld.acquire.gpu.global.u32",
                                               "ld.relaxed.gpu.global.u32"};
    struct gen *g = r->g;
    const uint32_t label = r->ways++, add = gen_below(g, 3), read = gen_below(g, 3);
    put_block(r);
    PUT(r, "\tmov.u32 upper, %%envreg1;\n\tmov.u32 lower, %%envreg2;\n"
           "\tmov.b64 grid, {lower, upper};\n\tmov.u32 m, %%tid.x;\n\tsetp.ne.u32 q, m, 0;\n");
    PUT(r, "\t@q bra W%" PRIu32 ";\n", label);
    PUT(r, "\tmov.u32 m, %%ctaid.x;\n\tmov.u32 n, %%ctaid.y;\n\tor.b32 m, m, n;\n"
           "\tmov.u32 n, %%ctaid.z;\n\tor.b32 m, m, n;\n\tsetp.eq.u32 q, m, 0;\n");
    PUT(r, "\tselp.b32 n, 0x%" PRIx32 ", 1, q;\n\t%s came, [grid], n;\n\tmov.u32 turn, 0;\n",
        0x80000000u - (r->blocks - 1), adds[add]);
    PUT(r, "V%" PRIu32 ":\t%s n, [grid];\n\txor.b32 n, n, came;\n\tadd.u32 turn, turn, 1;\n", label,
        reads[read]);
    PUT(r,
        "\tsetp.lt.u32 q, turn, %d;\n\tsetp.ge.and.s32 q, n, 0, q;\n\t@q bra V%" PRIu32
        ";\n\tfence.acq_rel.gpu;\nW%" PRIu32 ":\n",
        TURNS, label, label);
    put_block(r);
}
