/* Where a transformation that keeps a kernel's meaning may act (engine/rewrite/transforms.def, "applies"): in how many
 * places, which the text makes known. One too few is a kernel that is never transformed so; one too many may keep the
 * meaning of most kernels all the same. The text names the transformation behind `of`. */
#include "engine/input/input.h"
#include "engine/rewrite/transform.h"
#include "oracle/refusals/refusals.h"

#include <string.h>

#define PLACES(count) "nowhere: " #count " places"
#define AT(count, text)                                                                            \
    {                                                                                              \
        text, NULL, PLACES(count)                                                                  \
    }

static const struct refusal rows[] = {
    FRAME("launch(threads=4, warp=2); shared int s; global int t[4]; private int p, q, v[2]; <>"),
    /* Assignments of one private scalar, or nothing, in both branches. */
    AT(1, "kernel k() { /* of flatten. */ if (s) p = 1; else p = q; }"),
    AT(1, "kernel k() { /* of flatten. */ if (s) p = 1; }"),
    AT(0, "kernel k() { /* of flatten. */ if (s) p = 1; else q = 2; }"),
    AT(0, "kernel k() { /* of flatten. */ if (s) s = 1; }"),
    AT(0, "kernel k() { /* of flatten. */ if (s) v[0] = 1; }"),
    AT(0, "kernel k() { /* of flatten. */ if (s) { p = 1; p = 2; } }"),
    AT(0, "kernel k() { /* of flatten. */ if (s) skip; else barrier(); }"),
    /* Jumps of the loop's own. */
    AT(1, "kernel k() { /* of peel. */ while (p) p = p - 1; }"),
    AT(0, "kernel k() { /* of peel. */ while (p) { if (q) break; p = 1; } }"),
    AT(0, "kernel k() { /* of peel. */ while (p) { if (q) continue; p = 1; } }"),
    AT(1, "kernel k() { /* of peel. */ while (p) { while (q) break; p = 1; } }"),
    AT(1, "kernel k() { /* of peel. */ while (p) { switch (q) { case 1: break; } p = 1; } }"),
    AT(0, "kernel k() { /* of peel. */ while (p) { switch (q) { case 1: continue; } p = 1; } }"),
    AT(1, "kernel k() { /* of peel. */ while (p) { if (q) return; p = 1; } }"),
    AT(1, "kernel k() { /* of unroll. */ while (p) p = p - 1; }"),
    AT(0, "kernel k() { /* of unroll. */ do p = p - 1; while (p); }"),
    AT(0, "kernel k() { /* of unroll. */ while (p) { if (q) break; p = 1; } }"),
    AT(1, "kernel k() { /* of split. */ while (p) p = p - 1; }"),
    AT(0, "kernel k() { /* of split. */ while (p) { q = 1; continue; } }"),
    AT(2,
       "kernel k() { /* of flag. */ while (p) { while (q) q = 0; break; } do p = 1; while (q); }"),
    AT(3, "kernel k() { /* of negate. */ if (p) { if (q) p = 1; else ; } if (s) ; }"),
    /* Functions that return at their end, and do not recurse. */
    AT(1, "void f(int a) { p = a; } kernel k() { /* of inline. */ f(1); }"),
    AT(2, "int f(int a) { p = a; return p; } kernel k() { /* of inline. */ q = f(1); f(2); }"),
    AT(0, "int f(int a) { if (a) return 1; return p; } kernel k() { /* of inline. */ q = f(1); }"),
    AT(0, "void f(int a) { if (a) f(a - 1); } kernel k() { /* of inline. */ f(1); }"),
    /* Two in a row, neither of which writes what the other one reads or writes. */
    AT(1, "kernel k() { /* of commute. */ p = 1; q = 2; }"),
    AT(0, "kernel k() { /* of commute. */ p = 1; q = p; }"),
    AT(0, "kernel k() { /* of commute. */ q = p; p = 1; }"),
    AT(0, "kernel k() { /* of commute. */ p = 1; p = 2; }"),
    AT(0, "kernel k() { /* of commute. */ v[0] = 1; v[1] = 2; }"),
    AT(0, "kernel k() { /* of commute. */ t[p] = 1; p = 2; }"),
    AT(1, "kernel k() { /* of commute. */ t[p] = 1; q = 2; }"),
    AT(0, "kernel k() { /* of commute. */ p = 1; barrier(); q = 2; }"),
    AT(0, "kernel k() { /* of reorder. */ p = 1; }"),

    FRAME("launch(threads=4, warp=2); shared int s; private int p, q; kernel k() blocks { <>"),
    AT(1, "/* of join. */ Start: p = 1; goto A; A: q = 2; goto End; }"),
    AT(0, "/* of join. */ Start: goto A, B; A: assume(p); goto C; B: assume(!p); goto C; C: goto "
          "End; }"),
    AT(0, "/* of join. */ Start: goto A; A: assume(p || !p); goto End; }"),
    AT(1, "/* of join. */ Start: goto A; A: assume(1); goto End; }"),
    AT(0, "/* of preheader. */ Start: goto A; A: goto End; }"),
    AT(1, "/* of preheader. */ Start: goto H; H: q = p; goto B, C; B: assume(q); goto H; C: "
          "assume(!q); "
          "goto End; }"),
    AT(0,
       "/* of preheader. */ Start: goto H; H: assume(p || !p); goto B, C; B: assume(q); goto H; C: "
       "assume(!q); goto End; }"),
    AT(1, "/* of targets. */ Start: goto B, C; B: assume(q); goto End; C: assume(!q); goto End; }"),
    AT(0, "/* of targets. */ Start: goto B, C; B: assume(q); goto End; C: goto End; }"),
    AT(0, "/* of targets. */ Start: goto B, C; B: assume(q < 2); goto End; C: assume(q > 0); goto "
          "End; }"),
    AT(1, "/* of guard. */ Start: goto B, C; B: assume(q); p = 1; goto D; C: assume(!q); p = 2; "
          "goto D; "
          "D: goto End; }"),
    AT(0, "/* of guard. */ Start: goto B, C; B: assume(q); q = 1; goto D; C: assume(!q); p = 2; "
          "goto D; "
          "D: goto End; }"),
    AT(0, "/* of guard. */ Start: goto B, C; B: assume(q); barrier(); goto D; C: assume(!q); p = "
          "2; goto "
          "D; D: goto End; }"),
    AT(0, "/* of guard. */ Start: goto B, C; B: assume(q); p = 1; goto End; C: assume(!q); p = 2; "
          "goto D; "
          "D: goto End; }"),
    AT(1, "/* of graph-peel. */ Start: goto H; H: goto B, C; B: assume(q); q = 0; goto H; C: "
          "assume(!q); "
          "goto End; }"),
    AT(0, "/* of graph-unroll. */ Start: goto A; A: goto End; }"),

    /* Addresses of instructions, and clocks, are left alone, wherever they stand. */
    FRAME(
        "// simtfuzz: entry=k threads=2\n.version 8.4\n.target sm_90\n.address_size 64\n.global "
        ".u64 "
        "g;\n.func f()\n{\n\tret;\n}\n.entry k()\n{\n\t.reg .b64 d<3>;\n\t.reg .b32 r<3>;\n\t.reg "
        ".pred p;\n\tsetp.eq.u32 p, r1, 0;\n// of ptx-rename.\n<>\n\texit;\n}\n"),
    AT(1, "\tmov.u32 r1, %tid.x;"),
    AT(1, "L:\n\t@p bra L;\n\tcall f;"),
    AT(0, "L:\n\tmov.u64 d1, L;"),
    AT(0, "L:\n\t{ {\n\tmov.u64 d1, L;\n\t} }"),
    AT(0, "\tmov.u64 d1, f;"),
    AT(0, "\tmov.u32 r1, %clock;"),
    AT(0, "\tmov.u32 r1, %clock_hi;"),
    AT(0, "\tmov.u64 d1, %clock64;"),
    AT(0, "\tmov.u64 d1, %globaltimer;"),
    AT(0, "\tmov.u32 r1, %globaltimer_hi;"),
    AT(1, "\tmov.u32 r1, %smid;"),
    FRAME("// simtfuzz: entry=k threads=2\n.version 8.4\n.target sm_90\n.address_size 64\n.func "
          "f()\n{\n\tret;\n}\n.global .u64 g[2] = {<>};\n.entry k()\n{\n// of "
          "ptx-rename.\n\texit;\n}\n"),
    AT(1, "1, 2"),
    AT(0, "1, f"),
};

static bool read(struct arena *arena, const char *text, size_t length, struct diag *diag)
{
    const struct ast_kernel *kernel = parse_kernel(arena, text, length, diag);
    const char *name = strstr(text, " of ");
    if (!kernel)
        return false;
    for (uint32_t id = 0; id < TRANSFORM_COUNT; id++) {
        const size_t size = strlen(transform_table[id].name);
        if (strncmp(name + 4, transform_table[id].name, size) == 0 && name[4 + size] == '.')
            diag_error(diag, (struct location){0, 0}, "%u places",
                       (unsigned)transform_places(arena, kernel, (enum transform_id)id));
    }
    return false;
}

const struct refusals refusals_places = {
    .name = "places", .rows = rows, .count = sizeof rows / sizeof *rows, .read = read};
