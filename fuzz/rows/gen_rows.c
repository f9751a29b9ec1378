/* The program around the instructions. */
#include "engine/base/invariant.h"
#include "engine/input/ptx_kernel.h"
#include "fuzz/rows/gen_rows_internal.h"

#include <inttypes.h>

enum { DEPTH = 3, INSTRUCTIONS = 16, DENSE = 96, BARRIERS = 3 };

uint32_t rows_all_lanes(const struct rows_gen *r)
{
    const struct ast_launch *launch = &r->g->kernel->launch;
    return (launch->threads + launch->warp - 1) / launch->warp * launch->warp;
}

/* ---- the table ---- */

static void put_table(struct rows_gen *r)
{
    const uint32_t pools = r->texture_count > 0 ? ROWS_ALL_POOLS : ROWS_POOLS;
    PUT(r, ".const .align 32 .b64 in[%" PRIu32 "] = {", pools * ROWS_POOL);
    for (uint32_t i = 0; i < pools * ROWS_POOL; i++)
        PUT(r, "%s0x%" PRIx64,
            i == 0  ? ""
            : i % 8 ? ", "
                    : ",\n\t",
            rows_value(r, (enum rows_pool)(i / ROWS_POOL)));
    PUT(r, "};\n");
}

/* ---- what stands before the instructions ---- */

static void put_declarations(struct rows_gen *r)
{
    PUT(r,
        "\t.reg .pred p<4>, q, f;\n\t.reg .b16 h<8>;\n\t.reg .b32 r<8>, t, i, m, n, even, half;\n"
        "\t.reg .b128 x<3>;\n\t.reg .b64 w<8>, a, e, base, ga, sa, la, gs, gl, pa, pg, mo, mc, go, "
        "gc;\n"
        "\t.local .align 32 .b8 loc[%d];\n",
        ROWS_AREA);
    if (!r->called)
        PUT(r, "\t.param .align 32 .b8 parcel[%d];\n", ROWS_AREA);
    if (r->cooperative)
        rows_put_grid_registers(r);
    if (r->bound > 0 && !r->called)
        PUT(r, "\t.local .align 32 .b8 bl[%" PRIu32 "];\n", r->bound);
}

/* Each lane has an mbarrier, and each warp. */
static void put_objects(struct rows_gen *r)
{
    uint32_t few = 1 + gen_below(r->g, 4), many = 4 + gen_below(r->g, 8);
    uint32_t own = r->arrivals = gen_chance(r->g, 40) ? many : few,
             of_warp = r->g->kernel->launch.warp;
    PUT(r, "\tmov.u32 i, %%tid.x;\n\tmov.u64 mo, each;\n\tmad.wide.u32 mo, i, 8, mo;\n"
           "\tmov.u32 i, %%warpid;\n\tmov.u64 mc, both;\n\tmad.wide.u32 mc, i, 8, mc;\n"
           "\tcvta.shared.u64 go, mo;\n\tcvta.shared.u64 gc, mc;\n");
    PUT(r,
        "\tmbarrier.init.shared.b64 [mo], %" PRIu32 ";\n\tsetp.eq.u32 q, t, 0;\n"
        "\t@q mbarrier.init.shared.b64 [mc], %" PRIu32 ";\n\tmov.u64 w0, 0;\n\tmov.u64 w1, 0;\n",
        own, gen_chance(r->g, 80) ? of_warp : 1);
}

/* Where the lane's areas are; masks of its groups in the warp: the lanes with even numbers or the others, of each
 * half. */
static void put_places(struct rows_gen *r)
{
    PUT(r,
        "\tmov.u32 t, %%tid.x;\n\tmov.u64 sa, shr;\n\tmad.wide.u32 sa, t, %d, sa;\n"
        "\tcvta.shared.u64 gs, sa;\n",
        ROWS_AREA);
    if (r->blocks > 1)
        PUT(r,
            "\tmov.u32 i, %%ctaid.z;\n\tmov.u32 m, %%ctaid.y;\n\tmad.lo.u32 i, i, %" PRIu32
            ", m;\n\tmov.u32 m, %%ctaid.x;\n\tmad.lo.u32 i, i, %" PRIu32
            ", m;\n\tmad.lo.u32 t, i, %" PRIu32 ", t;\n",
            r->grid[1], r->grid[0], r->g->kernel->launch.threads);
    PUT(r,
        "\tmov.u64 ga, out;\n\tmad.wide.u32 ga, t, %d, ga;\n"
        "\tmov.u64 la, loc;\n\tcvta.local.u64 gl, la;\n\tmov.u64 base, in;\n"
        "\tmov.b64 pa, parcel;\n\tcvta.%s.u64 pg, pa;\n",
        ROWS_AREA, r->called ? "param" : "local");
    PUT(r, "\tmov.u32 t, %%laneid;\n\tand.b32 i, t, 1;\n\tshl.b32 even, 0x55555555, i;\n"
           "\tand.b32 i, t, 16;\n\tshl.b32 half, 0x0000ffff, i;\n");
}

/* Predicates that differ from lane to lane, and registers that do. Arguments of a call are evaluated in no fixed
 * order, so they do not draw. */
static void put_values(struct rows_gen *r)
{
    struct gen *g = r->g;
    static const char *const tests[] = {"lt", "eq", "ne", "ge"};
    for (uint32_t p = 0; p < 4; p++) {
        uint32_t bound = gen_below(g, 5), test = gen_below(g, 4), mask = 1 + gen_below(g, 31);
        PUT(r, "\tand.b32 i, t, %" PRIu32 ";\n\tsetp.%s.u32 p%" PRIu32 ", i, %" PRIu32 ";\n", mask,
            tests[test], p, bound);
    }
    const uint32_t number = gen_below(g, 2 * g->kernel->launch.threads);
    if (gen_chance(g, 30)) /* one thread of the block, or all but one */
        PUT(r, "\tmov.u32 i, %%tid.x;\n\tsetp.%s.u32 p3, i, %" PRIu32 ";\n", tests[1 + number % 2],
            number / 2);
    uint32_t bound = gen_below(g, 3), test = gen_below(g, 4);
    PUT(r, "\tmov.u32 i, %%warpid;\n\tsetp.%s.u32 f, i, %" PRIu32 ";\n", tests[test], bound);
    for (uint32_t k = 0; k < 4; k++) {
        uint32_t more = gen_below(g, 3), factor = gen_below(g, UINT32_MAX);
        PUT(r, "\tmad.lo.u32 r%" PRIu32 ", t, %" PRIu32 ", %" PRIu32 ";\n", k, factor, more);
    }
}

/* ---- the instructions ---- */

struct regions {
    uint32_t labels; /* made so far */
    uint32_t open[DEPTH], depth;
};

static void close_region(struct rows_gen *r, struct regions *at)
{
    PUT(r, "L%" PRIu32 ":\n", at->open[--at->depth]);
    r->apart = at->depth > 0;
}

/* Some lanes go on behind a label further down. */
static void open_region(struct rows_gen *r, struct regions *at)
{
    rows_put_guard(r, "bra ");
    at->open[at->depth++] = at->labels;
    PUT(r, "L%" PRIu32 ";\n", at->labels++);
    r->apart = true;
}

/* Some exit before the others wait. */
static void put_exit(struct rows_gen *r)
{
    if (gen_chance(r->g, 40))
        PUT(r, "\t@f exit;\n");
    else
        rows_put_guard(r, "exit;\n");
}

/* Some warps arrive, the others wait for them. */
static void put_meeting(struct rows_gen *r)
{
    uint32_t number = gen_below(r->g, 3), all = rows_all_lanes(r);
    PUT(r, "\t@f bar.arrive %" PRIu32 ", %" PRIu32 ";\n\t@!f bar.sync %" PRIu32 ", %" PRIu32 ";\n",
        number, all, number, all);
}

static void put_barriers(struct rows_gen *r)
{
    struct gen *g = r->g;
    struct regions at = {.labels = 0};
    for (uint32_t count = 1 + gen_below(g, 2 * BARRIERS); count > 0; count--) {
        if (gen_chance(g, 15))
            put_exit(r);
        if (gen_chance(g, 15))
            open_region(r, &at);
        if (at.depth == 0 && gen_chance(g, 20))
            put_meeting(r);
        else
            rows_put_instruction(r, ROWS_OF_BARRIERS);
        if (gen_chance(g, 30))
            rows_put_instruction(r, ROWS_ANY);
        if (at.depth > 0)
            close_region(r, &at);
    }
}

/* One operation of the whole warp, in both arms of a branch: where threads have pcs of their own its lanes meet. Two
 * that are not the same do not. */
static void put_both_arms(struct rows_gen *r, struct regions *at)
{
    uint32_t other = at->labels++, end = at->labels++;
    rows_put_guard(r, "bra ");
    PUT(r, "L%" PRIu32 ";\n", other);
    size_t first = r->text.length;
    rows_put_instruction(r, ROWS_OF_WARPS);
    const char *again = arena_strndup(r->g->arena, r->text.bytes + first, r->text.length - first);
    PUT(r, "\tbra L%" PRIu32 ";\nL%" PRIu32 ":\n", end, other);
    if (gen_chance(r->g, 30))
        rows_put_instruction(r, ROWS_OF_WARPS);
    else
        text_put(&r->text, again);
    PUT(r, "L%" PRIu32 ":\n", end);
}

/* What the program is about, now and then; but for the function that it calls. */
static enum rows_sorts draw_sorts(struct rows_gen *r)
{
    struct gen *g = r->g;
    bool of_warps = r->warps != ROWS_NO_WARPS && gen_chance(g, 25);
    bool of_objects = r->objects && gen_chance(g, 40);
    bool of_textures = r->texture_count > 0 && gen_chance(g, 55);
    bool of_addresses = gen_chance(g, r->called ? 40 : r->cluster[0] ? 25 : 3);
    return of_objects && !r->called    ? ROWS_OF_OBJECTS
           : of_textures && !r->called ? ROWS_OF_TEXTURES
           : of_addresses              ? ROWS_OF_ADDRESSES
           : of_warps                  ? ROWS_OF_WARPS
                                       : ROWS_ANY;
}

/* Once, one after the other: nothing that ends somebody, and few branches. */
static void put_dense(struct rows_gen *r)
{
    struct gen *g = r->g;
    struct regions at = {.labels = 0};
    for (uint32_t count = DENSE + gen_below(g, DENSE); count > 0; count--) {
        if (at.depth > 0 && gen_chance(g, 20))
            close_region(r, &at);
        else if (at.depth == 0 && gen_chance(g, 4))
            open_region(r, &at);
        bool of_textures = r->texture_count > 0 && gen_chance(g, 70);
        bool of_matrices = r->matrices && at.depth == 0 && gen_chance(g, 50);
        rows_put_instruction(r, of_matrices   ? ROWS_OF_MATRICES
                                : of_textures ? ROWS_OF_TEXTURES
                                              : ROWS_OF_SUMS);
    }
    if (at.depth > 0)
        close_region(r, &at);
}

static void put_instructions(struct rows_gen *r)
{
    struct gen *g = r->g;
    struct regions at = {.labels = 0};
    uint32_t most = r->called || r->cluster[0] ? INSTRUCTIONS / 2 : INSTRUCTIONS;
    uint32_t count = most + gen_below(g, most);
    for (; count > 0; count--) {
        if (at.depth > 0 && gen_chance(g, 30))
            close_region(r, &at);
        else if (at.depth < DEPTH && gen_chance(g, 12))
            open_region(r, &at);
        if (at.depth == 0 && r->matrices && gen_chance(g, 60))
            rows_put_instruction(r, ROWS_OF_MATRICES);
        if (at.depth == 0 && r->cluster[0] && !r->called && gen_chance(g, 20))
            rows_put_cluster_barrier(r);
        if (r->copies && !r->called && gen_chance(g, 40))
            rows_put_copy(r);
        if (at.depth == 0 && r->cooperative && gen_chance(g, 20))
            rows_put_grid_barrier(r);
        if (at.depth == 0 && r->warps == ROWS_SYNC_ONLY && gen_chance(g, 5))
            put_both_arms(r, &at);
        if (at.depth == 0 && !r->matrices && gen_chance(g, 2))
            rows_put_guard(r, "exit;\n");
        rows_put_instruction(r, draw_sorts(r));
    }
    while (at.depth > 0)
        close_region(r, &at);
}

/* Each turn every lane reads at another place of the table. */
static void put_turns(struct rows_gen *r)
{
    struct gen *g = r->g;
    uint32_t odd = 1 + 2 * gen_below(g, ROWS_STARTS / 2);
    uint32_t turns = r->dense ? 1 : 1 + gen_below(g, 4);
    PUT(r, "\tmov.u32 i, 0;\nTURN:\tmul.lo.u32 m, i, %" PRIu32 ";\n",
        1 + 2 * gen_below(g, ROWS_STARTS / 2));
    PUT(r,
        "\tmad.lo.u32 m, t, %" PRIu32 ", m;\n\tand.b32 m, m, %d;\n\tmad.wide.u32 a, m, 8, base;\n",
        odd, ROWS_STARTS - 1);
    if (r->g->options->features >> FEATURE_BARRIERS & 1)
        put_barriers(r);
    else if (r->dense)
        put_dense(r);
    else
        put_instructions(r);
    if (r->cluster[0])
        PUT(r, "\tadd.u32 m, last, %" PRIu32 ";\n", turns);
    else
        PUT(r, "\tmov.u32 m, %" PRIu32 ";\n", turns);
    PUT(r, "\tadd.u32 i, i, 1;\n\tsetp.lt.u32 q, i, m;\n\t@q bra%s TURN;\n",
        gen_chance(g, 30) ? ".uni" : "");
}

/* Accesses at the first and the last bytes of variables, and beyond them: most of them are the last ones. */
static void put_bounds(struct rows_gen *r)
{
    for (uint32_t count = r->bound == 0 ? 0 : 1 + gen_below(r->g, 4); count > 0; count--) {
        bool some = gen_chance(r->g, 20);
        if (some)
            rows_put_guard(r, arena_printf(r->g->arena, "bra B%" PRIu32 ";\n", count));
        rows_put_instruction(r, ROWS_AT_BOUNDS);
        if (some)
            PUT(r, "B%" PRIu32 ":\n", count);
    }
}

/* What is left in some registers. */
static void put_results(struct rows_gen *r)
{
    struct gen *g = r->g;
    uint32_t wide = gen_below(g, 6), eighth = gen_below(g, ROWS_AREA / 8);
    PUT(r, "\tst.global.b64 [ga+%" PRIu32 "], w%" PRIu32 ";\n", 8 * eighth, wide);
    uint32_t word = gen_below(g, 8), quarter = gen_below(g, ROWS_AREA / 4);
    PUT(r, "\tst.global.b32 [ga+%" PRIu32 "], r%" PRIu32 ";\n", 4 * quarter, word);
    PUT(r, "\tselp.b32 r0, 1, 0, p%" PRIu32 ";\n\tst.global.b8 [ga], r0;\n", gen_below(g, 4));
}

/* ---- special registers ---- */

/* Some, each with its bits; of clusters, if there are some. */
static void put_specials(struct rows_gen *r)
{
    static const char *const types[] = {"pred p", "u32 r", "u64 w"};
    struct gen *g = r->g;
    for (uint32_t count = 1 + gen_below(g, r->cluster[0] ? 6 : 3); count > 0; count--) {
        uint32_t first = r->cluster[0] && gen_chance(g, 60) ? PTX_SPECIAL_CLUSTERID : 0;
        uint32_t which = first + gen_below(g, PTX_SPECIAL_IS_EXPLICIT_CLUSTER + 1 - first);
        const struct ptx_special_row *s = &ptx_specials[which];
        uint32_t element = gen_below(g, 4), number = gen_below(g, 4);
        PUT(r, "\tmov.%s%" PRIu32 ", %s", types[s->bits / 32], number, s->name);
        if (s->has_elements)
            PUT(r, ".%c", "xyzw"[element]);
        PUT(r, ";\n");
    }
}

/* ---- a function ---- */

/* Of its own: registers, places, a parameter in memory; and where its caller's local array lies. Where the entry waits
 * for its grid half of them do, too. */
static void put_function(struct rows_gen *r)
{
    const bool cooperative = r->cooperative;
    r->called = true;
    r->cooperative = cooperative && gen_chance(r->g, 50);
    PUT(r, ".func fn(.param .align 32 .b8 parcel[%d], .param .b64 above)\n{\n", ROWS_AREA);
    put_declarations(r);
    PUT(r, "\t.reg .b64 lu, gu;\n\tld.param.b64 gu, [above];\n\tcvta.to.local.u64 lu, gu;\n");
    put_places(r);
    put_values(r);
    PUT(r, "\tmov.u64 a, base;\n");
    put_instructions(r);
    PUT(r, "\tst.local.b32 [la], r1;\n\tret%s;\n}\n", gen_chance(r->g, 30) ? ".uni" : "");
    r->called = false;
    r->cooperative = cooperative;
}

static void put_call(struct rows_gen *r)
{
    struct gen *g = r->g;
    uint32_t at = 8 * gen_below(g, ROWS_AREA / 8);
    PUT(r, "\tst.param.b64 [parcel+%" PRIu32 "], ga;\n", at);
    if (gen_chance(g, 25))
        rows_put_guard(r, "call fn, (parcel, gl);\n");
    else
        PUT(r, "\tcall%s fn, (parcel, gl);\n", gen_chance(g, 40) ? ".uni" : "");
}

/* ---- the kernel ---- */

/* What kind of program it is, and its launch. */
static void draw_kind(struct rows_gen *r)
{
    struct gen *g = r->g;
    struct ast_launch *launch = &g->kernel->launch;
    const bool barriers = g->options->features >> FEATURE_BARRIERS & 1;
    const bool clusters = g->options->features >> FEATURE_BLOCKS & 1;
    uint32_t warps = gen_below(g, 8);
    r->warps = warps < 4 ? ROWS_NO_WARPS : warps < 7 ? ROWS_SYNC_ONLY : ROWS_ALL_WARPS;
    r->dense = g->options->features >> FEATURE_ARITHMETIC & 1;
    r->objects = !barriers && !r->dense && gen_chance(g, clusters ? 35 : 20);
    r->bound = gen_chance(g, 25) ? 16 + gen_below(g, ROWS_BOUND - 16) : 0;
    launch->blocks = 1;
    r->matrices = !barriers && !clusters && gen_chance(g, r->dense ? 35 : 10);
    const uint32_t copies = r->objects ? 50 : r->matrices ? 30 : 8;
    r->copies = !barriers && !r->dense && gen_chance(g, copies);
    if (r->matrices || r->dense)
        launch->warp = launch->threads = ROWS_THREADS;
    /* Wide warps have two, the second one short at times; else there are fewer threads, and more programs. */
    if (launch->threads > ROWS_THREADS && launch->warp <= ROWS_THREADS)
        launch->threads = ROWS_THREADS;
    PUT(r, "// simtfuzz:");
    if (clusters)
        rows_draw_cluster(r);
    if (clusters && gen_chance(g, 35))
        rows_draw_grid(r);
    PUT(r, " threads=%" PRIu32 " warp=%" PRIu32, launch->threads, launch->warp);
    if (!barriers && gen_chance(g, r->dense ? 25 : 12))
        rows_draw_textures(r);
    PUT(r, "\n.version 8.6\n.target sm_90\n.address_size 64\n");
}

static void put_variables(struct rows_gen *r)
{
    const uint32_t threads = r->g->kernel->launch.threads, blocks = r->blocks ? r->blocks : 1;
    PUT(r, ".global .align 32 .b8 out[%" PRIu32 "];\n.shared .align 32 .b8 shr[%" PRIu32 "];\n",
        ROWS_AREA * threads * blocks, ROWS_AREA * threads);
    if (r->bound > 0)
        PUT(r,
            ".global .align 32 .b8 bg[%" PRIu32 "];\n.shared .align 32 .b8 bs[%" PRIu32 "];\n"
            ".const .align 32 .b8 bc[%" PRIu32 "] = {1, 2, 3};\n",
            r->bound, r->bound, r->bound);
    if (r->copies)
        rows_put_copy_variables(r);
    if (r->objects)
        PUT(r,
            ".shared .align 8 .b64 each[%" PRIu32 "];\n.shared .align 8 .b64 both[%" PRIu32 "];\n",
            threads, threads);
}

static void put_entry(struct rows_gen *r, bool calls)
{
    PUT(r, ".visible .entry k(.param .align 32 .b8 box[%d]", ROWS_AREA);
    rows_put_texture_parameters(r);
    PUT(r, ")");
    rows_put_cluster_attributes(r);
    PUT(r, "\n{\n");
    put_declarations(r);
    rows_put_handles(r);
    put_places(r);
    put_values(r);
    if (r->cluster[0])
        rows_put_neighbour(r);
    put_specials(r);
    if (r->objects)
        put_objects(r);
    if (r->copies)
        rows_put_copy_places(r);
    if (calls)
        put_call(r);
    put_turns(r);
    if (calls && gen_chance(r->g, 40)) /* again: what the frame held is gone */
        put_call(r);
    put_bounds(r);
    put_results(r);
    if (r->cluster[0])
        rows_put_cluster_end(r);
    PUT(r, "\tret;\n}\n");
}

void gen_rows_main(struct gen *g)
{
    struct rows_gen *r = ARENA_NEW(g->arena, struct rows_gen);
    r->g = g;
    r->text = (struct text){.arena = g->arena};
    draw_kind(r);
    put_table(r);
    put_variables(r);
    const bool barriers = g->options->features >> FEATURE_BARRIERS & 1;
    bool calls = !barriers && gen_chance(g, r->cooperative ? 50 : 20);
    if (calls)
        put_function(r);
    put_entry(r, calls);
    struct diag *diag = ARENA_NEW(g->arena, struct diag);
    diag_init(diag, "generated", r->text.bytes, r->text.length);
    struct ast_kernel *kernel = ptx_kernel_parse(g->arena, r->text.bytes, r->text.length, diag);
    INVARIANT(kernel);
    g->kernel = kernel;
}
