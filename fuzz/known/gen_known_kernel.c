/* Variables and claims of programs with a known result. See gen_known_text.h. */
#include "engine/base/invariant.h"
#include "engine/input/ptx_kernel.h"
#include "fuzz/known/gen_known_text.h"

#include <string.h>

static uint32_t word_at(const uint8_t *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static void put_final(struct known_writing *w, const char *subject)
{
    const struct known_program *p = w->p;
    uint32_t threads = p->threads * p->blocks;
    PUT(w, "// expect %srace_free, final res == {", subject);
    for (uint32_t t = 0; t < threads; t++)
        PUT(w, "%s%" PRId32, t ? ", " : "", (int32_t)p->results[t]);
    text_put(&w->text, "}, final out == {");
    for (uint32_t t = 0; t < threads; t++)
        for (uint32_t i = 0; i < KNOWN_AREA / 4; i++)
            PUT(w, "%s%" PRId32, t + i ? ", " : "", (int32_t)word_at(p->global[t] + 4 * i));
    text_put(&w->text, "}");
    for (uint32_t i = 0; p->accumulates && i < KNOWN_ACCUMULATORS; i++)
        PUT(w, "%s%" PRId32, i ? ", " : ", final acc == {", (int32_t)p->accumulators[i]);
    text_put(&w->text, p->accumulates ? "}\n" : "\n");
}

/* Of a program with a flaw: how it ends under each subject. A warp is in step, so its lanes do not race, unless
 * barriers of warps say that order is not left to that. */
static void put_flawed_end(struct known_writing *w)
{
    const struct known_program *p = w->p;
    static const char *const ends[KNOWN_FLAWS][2] = {
        [KNOWN_TRAP] = {"assert_fails", "assert_fails"},
        [KNOWN_BOUNDS] = {"out_of_bounds", "out_of_bounds"},
        [KNOWN_ALIGN] = {"out_of_bounds", "out_of_bounds"},
        [KNOWN_RACE] = {"race", "race"},
        [KNOWN_STARVE] = {"deadlock", "deadlock"},
        [KNOWN_COUNTS] = {"stuck", "barrier_error"},
        [KNOWN_MIXED] = {"stuck", "stuck"},
        [KNOWN_ABSENT] = {"stuck", NULL},
        [KNOWN_SEVERAL] = {NULL, "deadlock"},
        [KNOWN_LEAVE] = {NULL, NULL},
        [KNOWN_SIGNATURE] = {"stuck", "stuck"},
        [KNOWN_UNDERWAY] = {"race", "race"},
        [KNOWN_APART] = {"race", NULL},
    };
    const char *warps = ends[p->flaw][0], *threads = ends[p->flaw][1];
    if (p->flaw == KNOWN_RACE && p->warps == 1 && !p->warp_barriers && !p->one_word)
        warps = "race_free";
    if (warps && p->one_word &&
        p->warps == 1) { /* threads with pcs of their own need not come together */
        PUT(w, "// expect crs: %s\n", warps);
    } else if (warps) {
        PUT(w, "// expect crs: %s\n// expect thread-pc: %s\n", warps, warps);
    } else {
        put_final(w, "crs: ");
        put_final(w, "thread-pc: ");
    }
    if (threads && !p->warp_ops && !p->meets_neighbours)
        PUT(w, "// expect block: %s\n", threads);
}

static void put_expectations(struct known_writing *w)
{
    const struct known_program *p = w->p;
    if (p->flaw != KNOWN_FLAWS) {
        put_flawed_end(w);
        return;
    }
    if (p->eager && !p->warp_ops && !p->meets_neighbours)
        text_put(&w->text, "// expect block:eager: race_free\n");
    put_final(w, "");
}

/* What gen_known_given.def reads, by name: what has the address of another one stands behind it. */
static const struct {
    const char *name, *text;
} variables[] = {
    {"vprintf", ".extern .func (.param .b32 q) vprintf (.param .b64 a, .param .b64 b);"},
    {"malloc", ".extern .func (.reg .b64 q) malloc (.reg .b64 n);"},
    {"given", ".global .align 4 .b32 given[4] = {3, -1, 70000, 9};"},
    {"halves", ".const .align 2 .u16 halves[2][3] = {{1, 65535}, {3, 4}};"},
    {"pairs", ".const .align 4 .v2 .s16 pairs[2] = {{-1, 2}, {3}};"},
    {"fours", ".global .align 4 .v4 .u8 fours[2] = {{1, 2, 3, 4}};"},
    {"pointers", ".global .align 8 .u64 pointers[4] = "
                 "{given, generic(given)+8, generic(halves)+2, generic(given)+4};"},
    {"masks", ".global .align 8 .b8 masks[8] = {0xFF(given), 0xFF00(given), 0xFF0000(given), "
              "0xFF000000(given), 0xFF00000000(given), 0xFF0000000000(given), "
              "0xFF000000000000(given), 0xFF00000000000000(given)};"},
    {"floats", ".const .align 4 .f32 floats[4] = {1.5, 0f3F800000, -2.0, 0d4000000000000000};"},
    {"doubles", ".global .align 8 .f64 doubles[2] = {0f3F800000, 2.5};"},
    {"scalar", ".const .s8 scalar = -100;"},
};
enum { VARIABLES = sizeof variables / sizeof variables[0] };

static void put_givens(struct known_writing *w)
{
    bool used[VARIABLES] = {false};
    for (uint32_t v = VARIABLES; v-- > 0;) {
        used[v] = known_reads(w->p, variables[v].name);
        for (uint32_t by = v + 1; by < VARIABLES; by++)
            used[v] |= used[by] && strstr(variables[by].text, variables[v].name);
    }
    for (uint32_t v = 0; v < VARIABLES; v++)
        if (used[v])
            PUT(w, "%s\n", variables[v].text);
}

static void put_variables(struct known_writing *w)
{
    struct known_program *p = w->p;
    uint32_t threads = p->threads * p->blocks;
    PUT(w, ".global .align 4 .b32 res[%" PRIu32 "];\n.global .align 16 .b8 out[%" PRIu32 "] = {",
        threads, threads * KNOWN_AREA);
    for (uint32_t i = 0; i < threads * KNOWN_AREA; i++)
        PUT(w, "%s%d", i ? "," : "", p->initial[i / KNOWN_AREA][i % KNOWN_AREA]);
    text_put(&w->text, "};\n");
    if (p->copies)
        PUT(w, ".shared .align 8 .b64 heard[%" PRIu32 "];\n", p->threads);
    put_givens(w);
    PUT(w, ".shared .align 16 .b8 mine[%" PRIu32 "];\n.shared .align 4 .b32 pass[%" PRIu32 "];\n",
        p->threads * KNOWN_AREA, p->threads);
    PUT(w, ".global .align 4 .b32 acc[%d] = {", KNOWN_ACCUMULATORS);
    for (uint32_t i = 0; i < KNOWN_ACCUMULATORS; i++)
        PUT(w, "%s%" PRId32, i ? ", " : "", (int32_t)known_atomics[i].start);
    text_put(&w->text, "};\n");
}

struct ast_kernel *known_kernel(struct known_program *p)
{
    struct arena *arena = p->g->arena;
    struct known_writing w = {.text.arena = arena, .p = p};
    PUT(&w,
        "// simtfuzz: threads=%" PRIu32 "x%" PRIu32 " blocks=%" PRIu32 "x%" PRIu32 " warp=%" PRIu32
        "%s\n",
        p->width, p->threads / p->width, p->grid_width, p->blocks / p->grid_width, p->warp,
        p->has_arguments ? " bind:number=40000 bind:single=f:1.5 bind:buffer=buffer:16:iota "
                           "bind:box=words:5,0x18002"
                         : "");
    if (p->cluster[0])
        PUT(&w, "// simtfuzz: cluster=%" PRIu32 "x%" PRIu32 "\n", p->cluster[0], p->cluster[1]);
    put_expectations(&w);
    text_put(&w.text, ".version 8.0\n.target sm_90\n.address_size 64\n");
    put_variables(&w);
    known_put_functions(&w);
    struct diag *diag = ARENA_NEW(arena, struct diag);
    diag_init(diag, "generated", w.text.bytes, w.text.length);
    struct ast_kernel *kernel = ptx_kernel_parse(arena, w.text.bytes, w.text.length, diag);
    if (!kernel)
        diag_print(diag, stderr);
    INVARIANT(kernel);
    return kernel;
}
