/*
 * drawn_launches.c - what settings and attributes of an entry make of its launch: dimensions of a block and of the
 * grid, which blocks of the grid run, and what is left of them where a launch is made smaller (docs/ptx.md).
 */
#include "engine/input/input.h"
#include "engine/input/ptx_kernel.h"
#include "oracle/drawn/drawn.h"
#include "oracle/texts/texts.h"

#include <inttypes.h>
#include <string.h>

enum { USUAL = 32 /* threads of a block where nothing says how many */ };

struct launch {
    struct drawn *d;
    uint32_t block[3], grid[3];
    uint64_t blocks;       /* of the grid */
    uint32_t first, count; /* those that run */
    bool whole;            /* of so many that others run all */
};

static uint32_t below(struct launch *l, uint32_t n)
{
    return drawn_below(l->d, n);
}

static uint32_t smaller(uint64_t a, uint64_t b)
{
    return (uint32_t)(a < b ? a : b);
}

/* Up to three, of which those behind the last that is said are 1; returns how many are said. */
static uint32_t draw_dimensions(struct launch *l, uint32_t dimensions[3], uint64_t most)
{
    static const uint32_t sizes[] = {1, 2, 3, 7, 8, 16, 32, 33, 63, 64, 65, 128, 1000, 1024, 65535};
    const uint32_t said = 1 + below(l, 3);
    for (uint32_t i = 0; i < 3; i++) {
        dimensions[i] = 1;
        if (i < said)
            dimensions[i] = smaller(sizes[below(l, 15)], most);
        most /= dimensions[i];
    }
    return said;
}

static void put(struct launch *l, const uint32_t dimensions[3], uint32_t said, const char *between)
{
    for (uint32_t i = 0; i < said; i++)
        text_format(&l->d->text, "%s%" PRIu32, i ? between : "", dimensions[i]);
}

static void draw_block(struct launch *l, const char **attribute, struct text *attributes)
{
    const uint32_t kind = below(l, 4);
    struct text settings = l->d->text;
    const uint32_t said = draw_dimensions(l, l->block, LIMIT_THREADS);
    *attribute = "";
    if (kind == 0) {
        text_put(&l->d->text, " threads=");
        put(l, l->block, said, "x");
    } else if (kind < 3) {
        l->d->text = *attributes;
        put(l, l->block, said, ", ");
        *attributes = l->d->text;
        l->d->text = settings;
        *attribute = kind == 1 ? ".reqntid " : ".maxntid ";
    }
    if (kind >= 2) {
        const uint64_t most = kind == 2 ? (uint64_t)l->block[0] * l->block[1] * l->block[2] : USUAL;
        l->block[0] = smaller(most, USUAL);
        l->block[1] = l->block[2] = 1;
    }
}

/* A grid of more than 64 blocks, or 4,096 threads, runs as many as that; or those that are named. */
static void draw_grid(struct launch *l)
{
    const uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    uint32_t said = draw_dimensions(l, l->grid, INT32_MAX);
    if (below(l, 4) == 0) { /* as many threads as a case has, or those of a block more */
        said = 1;
        l->grid[0] = LIMIT_TOTAL_THREADS / (uint32_t)threads + below(l, 2);
        l->grid[1] = l->grid[2] = 1;
    }
    text_put(&l->d->text, " blocks=");
    put(l, l->grid, said, "x");
    l->blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    l->count = smaller(l->blocks, LIMIT_BLOCKS);
    l->count = smaller(l->count, LIMIT_TOTAL_THREADS / threads);
    l->whole = l->count < l->blocks;
    if (below(l, 3) > 0)
        return;
    l->first = below(l, smaller(l->blocks, 1000));
    l->count = 1 + below(l, smaller(l->count, l->blocks - l->first));
    l->whole = false;
    text_format(&l->d->text, "/%" PRIu32 "+%" PRIu32, l->first, l->count);
}

static bool are(const uint32_t is[3], uint32_t x, uint32_t y, uint32_t z)
{
    return is[0] == x && is[1] == y && is[2] == z;
}

/* With fewer threads, or blocks, it has one dimension. */
static const char *compare_smaller(struct launch *l, struct ast_kernel *kernel)
{
    const uint32_t threads = kernel->launch.threads, blocks = kernel->launch.blocks;
    uint32_t block[3], grid[3];
    kernel->launch.threads = 1 + below(l, threads);
    kernel->launch.blocks = 1 + below(l, blocks);
    ptx_kernel_dimensions(kernel, block, grid);
    if (kernel->launch.threads == threads ? memcmp(block, l->block, sizeof block) != 0
                                          : !are(block, kernel->launch.threads, 1, 1))
        return "launches: a block that was made smaller has other dimensions";
    if (kernel->launch.blocks == blocks ? memcmp(grid, l->grid, sizeof grid) != 0
                                        : !are(grid, kernel->launch.blocks, 1, 1))
        return "launches: a grid that was made smaller has other dimensions";
    return NULL;
}

/* ---- grids that wait for all their blocks ---- */

/* A body, a function's or the entry's, that reads where the blocks of a grid wait, however deep, or something else. */
static bool put_body(struct drawn *d)
{
    static const char *const reads[] = {"%envreg1", "%envreg2", "%envreg0", "%envreg3", "%laneid"};
    const uint32_t depth = drawn_below(d, 4), which = drawn_below(d, 10),
                   before = drawn_below(d, 3);
    text_put(&d->text, "{\n\t.reg .b32 r;\n");
    for (uint32_t i = 0; i < before; i++)
        text_put(&d->text, i ? "\t{ add.u32 r, r, 1; }\n" : "\tmov.b32 r, %laneid;\n");
    for (uint32_t i = 0; i < depth; i++)
        text_put(&d->text, "\t{\n");
    if (which < 5)
        text_format(&d->text, "\tmov.b32 r, %s;\n", reads[which]);
    for (uint32_t i = 0; i < depth; i++)
        text_put(&d->text, drawn_below(d, 2) ? "\t}\n" : "\tadd.u32 r, r, 1; }\n");
    return which < 2;
}

/* f is called by the entry, through g or not; h by nobody. */
static const char *waits(struct drawn *d)
{
    const char *why;
    const bool through = drawn_below(d, 2), called = drawn_below(d, 3) > 0;
    d->text.length = 0;
    text_put(&d->text, ".version 7.5\n.target sm_70\n.address_size 64\n.func f()\n");
    bool should = put_body(d) && called;
    text_put(&d->text, "\tret;\n}\n.func g()\n{\n\tcall f;\n\tret;\n}\n.func h()\n");
    put_body(d);
    text_put(&d->text, "\tret;\n}\n.entry k()\n");
    should |= put_body(d);
    text_format(&d->text, "%s\tret;\n}\n",
                !called   ? ""
                : through ? "\t{ call g; }\n"
                          : "\tcall f;\n");
    const struct ast_kernel *kernel = drawn_read(d->arena, d->text.bytes, &why);
    if (!kernel)
        return arena_printf(d->arena, "launches: refused, %s", why);
    return ptx_waits_for_grid(d->arena, kernel->ptx->module, kernel->ptx->entry) == should
               ? NULL
               : "launches: whether the entry waits for all blocks";
}

const char *texts_of_launch(struct arena *arena, uint64_t number, const char **text)
{
    struct drawn d = drawn_begin(arena, number, DRAWN_LAUNCHES);
    struct launch l = {.d = &d};
    struct text attributes = text_begin(arena);
    const char *attribute, *why;
    uint32_t block[3], grid[3];
    text_put(&d.text, "// simtfuzz:");
    draw_block(&l, &attribute, &attributes);
    draw_grid(&l);
    text_format(&d.text,
                "\n.version 7.5\n.target sm_70\n.address_size 64\n.entry k() %s%s\n{\n\tret;\n}\n",
                attribute, *attribute ? attributes.bytes : "");
    *text = d.text.bytes;
    struct ast_kernel *kernel = drawn_read(arena, d.text.bytes, &why);
    if (!kernel)
        return arena_printf(arena, "launches: refused, %s", why);
    const struct ptx_kernel *ptx = kernel->ptx;
    const bool is_window = l.count < l.blocks || l.first > 0 || ptx->window > 0;
    ptx_kernel_dimensions(kernel, block, grid);
    if (memcmp(block, l.block, sizeof block) != 0 || memcmp(grid, l.grid, sizeof grid) != 0)
        return "launches: other dimensions";
    if (kernel->launch.threads != l.block[0] * l.block[1] * l.block[2])
        return "launches: another number of threads";
    if (kernel->launch.blocks != l.count || ptx->first_block != l.first || ptx->whole != l.whole ||
        (is_window && ptx->window != l.count))
        return arena_printf(arena, "launches: %" PRIu32 " blocks from %" PRIu32 " on run",
                            kernel->launch.blocks, ptx->first_block);
    const char *differs = compare_smaller(&l, kernel);
    if (!differs)
        differs = waits(&d);
    *text = d.text.bytes;
    return differs;
}
