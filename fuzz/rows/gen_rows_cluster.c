/* Programs of several blocks that make clusters: their shapes, shared memory of other blocks, the cluster's barrier. */
#include "fuzz/rows/gen_rows_internal.h"

#include <inttypes.h>

enum { BLOCKS = 8, LANES = 12 };

static uint32_t size_of(const uint32_t n[3])
{
    return n[0] * n[1] * n[2];
}

uint32_t rows_cluster_size(const struct rows_gen *r)
{
    return size_of(r->cluster);
}

/* Up to three dimensions, seldom square; one block is a cluster, too. What the entry says is its own, or the settings
 * say it. */
void rows_draw_cluster(struct rows_gen *r)
{
    struct gen *g = r->g;
    struct ast_launch *launch = &g->kernel->launch;
    uint32_t grid[3];
    for (uint32_t i = 0; i < 3; i++)
        r->cluster[i] = grid[i] = 1;
    for (uint32_t factors = gen_below(g, 4); factors > 0; factors--) {
        uint32_t axis = gen_below(g, 3), factor = 2 + gen_below(g, 2);
        if (size_of(r->cluster) * factor <= BLOCKS)
            r->cluster[axis] *= factor;
    }
    for (uint32_t i = 0; i < 3; i++)
        grid[i] = r->cluster[i];
    for (uint32_t more = gen_below(g, 3); more > 0; more--) {
        uint32_t axis = gen_below(g, 3);
        if (size_of(grid) / grid[axis] * (grid[axis] + r->cluster[axis]) <= BLOCKS)
            grid[axis] += r->cluster[axis];
    }
    r->blocks = size_of(grid);
    for (uint32_t i = 0; i < 3; i++)
        r->grid[i] = grid[i];
    if (launch->warp > ROWS_THREADS)
        launch->warp = ROWS_THREADS;
    launch->threads = 1 + gen_below(g, LANES);
    if (launch->warp > launch->threads && gen_chance(g, 60))
        launch->warp = 1 + launch->threads / 2;
    r->entry_says = gen_chance(g, 40);
    PUT(r, " blocks=%" PRIu32 "x%" PRIu32 "x%" PRIu32, grid[0], grid[1], grid[2]);
    if (gen_chance(g, 15)) { /* only some of them run */
        const uint32_t first = gen_below(g, r->blocks);
        PUT(r, "/%" PRIu32 "+%" PRIu32, first, 1 + gen_below(g, r->blocks - first));
    }
    if (!r->entry_says && (size_of(r->cluster) > 1 || gen_chance(g, 50)))
        PUT(r, " cluster=%" PRIu32 "x%" PRIu32 "x%" PRIu32, r->cluster[0], r->cluster[1],
            r->cluster[2]);
}

void rows_put_cluster_attributes(struct rows_gen *r)
{
    if (!r->entry_says)
        return;
    PUT(r, " .reqnctapercluster %" PRIu32 ", %" PRIu32 ", %" PRIu32, r->cluster[0], r->cluster[1],
        r->cluster[2]);
    if (gen_chance(r->g, 50))
        PUT(r, " .explicitcluster");
}

/* The block's number is in register `i`; the rank of a neighbour, the same for all lanes or not, in `rank`. */
void rows_put_neighbour(struct rows_gen *r)
{
    struct gen *g = r->g;
    bool beyond = gen_chance(g, 3);
    PUT(r,
        "\t.reg .b32 rank, last;\n\t.reg .b64 ca, cg;\n"
        "\tmov.u32 rank, %%cluster_ctarank;\n\tmov.u32 m, %%laneid;\n"
        "\tmad.lo.u32 rank, m, %d, rank;\n",
        gen_chance(g, 30));
    PUT(r, "\tadd.u32 rank, rank, %" PRIu32 ";\n", gen_below(g, BLOCKS));
    PUT(r, "\trem.u32 rank, rank, %" PRIu32 ";\n", size_of(r->cluster) + beyond);
    PUT(r, "\tmapa.shared::cluster.u64 ca, sa, rank;\n\tmapa.u64 cg, gs, rank;\n"
           "\tmov.u32 last, %%cluster_ctarank;\n");
    PUT(r, "\tand.b32 last, last, %d;\n", gen_chance(g, 30));
}

/* ---- the barrier ---- */

static void put_arrive(struct rows_gen *r)
{
    rows_put_form(r, PTX_FORM_BARRIER_CLUSTER_ARRIVE);
}

static void put_wait(struct rows_gen *r)
{
    rows_put_form(r, PTX_FORM_BARRIER_CLUSTER_WAIT);
}

/* Some come by one way, some by another: each arrives, or has exited. */
static void put_ways(struct rows_gen *r, bool exits)
{
    uint32_t label = r->ways++;
    rows_put_guard(r, "bra ");
    PUT(r, "W%" PRIu32 ";\n", label);
    put_arrive(r);
    PUT(r, "\tbra V%" PRIu32 ";\nW%" PRIu32 ":\n", label, label);
    if (exits)
        PUT(r, "\texit;\n");
    else
        put_arrive(r);
    PUT(r, "V%" PRIu32 ":\n", label);
    put_wait(r);
}

void rows_put_cluster_barrier(struct rows_gen *r)
{
    struct gen *g = r->g;
    uint32_t way = gen_below(g, 36);
    if (way < 3) {
        put_ways(r, way == 0);
        return;
    }
    if (way == 3) { /* a warp, or some lanes, exit before */
        if (gen_chance(g, 50))
            PUT(r, "\t@f exit;\n");
        else
            rows_put_guard(r, "exit;\n");
    }
    if (way != 4) /* else nobody has arrived */
        put_arrive(r);
    if (way == 5) /* again */
        put_arrive(r);
    for (uint32_t between = gen_below(g, 3); between > 0; between--)
        rows_put_instruction(r, ROWS_ANY);
    if (way != 6)
        put_wait(r);
}

void rows_put_cluster_end(struct rows_gen *r)
{
    if (gen_chance(r->g, 15))
        return;
    put_arrive(r);
    put_wait(r);
}
