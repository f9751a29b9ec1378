/*
 * drawn_assumed.c - what the parameters of an entry are taken for to which nothing is bound: a buffer in global,
 * shared or constant memory, a texture. Addresses go from register to register in a drawn entry; whose address a
 * register may hold is the closure of what is put into it (docs/ptx.md).
 */
#include "engine/input/input.h"
#include "engine/input/ptx_kernel.h"
#include "oracle/drawn/drawn.h"
#include "oracle/texts/texts.h"

#include <inttypes.h>

enum { PARAMETERS = 5, REGISTERS = 6, SCALARS = 4, STEPS = 16, SPACES = 4 };

enum space { GLOBAL, SHARED, CONST, TEXTURE };

struct assumed {
    struct drawn *d;
    uint32_t parameters;
    uint32_t told[PARAMETERS]; /* by .ptr: 1 + the space; 0: nothing */
    bool holds[REGISTERS][PARAMETERS];
    bool from[REGISTERS][REGISTERS]; /* what the second holds may get into the first */
    bool accessed[REGISTERS][SPACES];
};

static const char *const names[REGISTERS] = {"%w0", "%w1", "%w2", "%x", "%v.x", "%v.y"};

#define PUT(a, ...) text_format(&(a)->d->text, __VA_ARGS__)

static uint32_t below(struct assumed *a, uint32_t n)
{
    return drawn_below(a->d, n);
}

/* No element of a vector. */
static uint32_t some(struct assumed *a)
{
    return below(a, SCALARS);
}

/* Sums hold what their parts do, products nothing; what is converted to a generic address is followed no further. */
static void compute(struct assumed *a)
{
    static const char *const sums[] = {"add.s64", "sub.s64", "and.b64", "or.b64"};
    static const char *const spaces[] = {"global", "shared", "const"};
    const uint32_t kind = below(a, 12), space = below(a, 3);
    const uint32_t to = kind < 5 ? below(a, REGISTERS) : some(a);
    const uint32_t x = kind < 5 ? below(a, REGISTERS) : some(a), y = some(a), z = some(a);
    if (kind < 5) {
        PUT(a, "\tmov.u64 %s, %s;\n", names[to], names[x]);
        a->from[to][x] = true;
    } else if (kind < 7) {
        PUT(a, "\t%s %s, %s, %s;\n", sums[y % 4], names[to], names[x], names[y]);
        a->from[to][x] = a->from[to][y] = true;
    } else if (kind == 7) {
        PUT(a, "\tselp.b64 %s, %s, %s, %%p;\n", names[to], names[x], names[y]);
        a->from[to][x] = a->from[to][y] = true;
    } else if (kind == 8) {
        PUT(a, "\tmad.lo.s64 %s, %s, %s, %s;\n", names[to], names[x], names[y], names[z]);
        a->from[to][z] = true;
    } else if (kind == 9) {
        PUT(a, "\tmul.lo.s64 %s, %s, %s;\n", names[to], names[x], names[y]);
    } else {
        PUT(a, "\tcvta.%s%s.u64 %s, %s;\n", kind == 10 ? "to." : "", spaces[space], names[to],
            names[x]);
        a->accessed[x][space] = true;
        a->from[to][x] |= kind == 10;
    }
}

static void reach(struct assumed *a)
{
    static const struct {
        const char *before, *behind; /* the register */
        enum space space;
    } accesses[] = {{"ld.shared.u32 %t, [", "];", SHARED},
                    {"st.shared.u32 [", "+4], %t;", SHARED},
                    {"atom.shared.add.u32 %t, [", "], 1;", SHARED},
                    {"red.shared.add.u32 [", "], 1;", SHARED},
                    {"ld.const.u32 %t, [", "];", CONST},
                    {"ld.const.u32 %t, [", "+8];", CONST},
                    {"ld.global.u32 %t, [", "];", GLOBAL},
                    {"st.u32 [", "], %t;", GLOBAL},
                    {"red.global.add.u32 [", "], 1;", GLOBAL},
                    {"tex.2d.v4.f32.s32 {%f, %f, %f, %f}, [", ", {%t, %t}];", TEXTURE}};
    const uint32_t i = below(a, 10), x = some(a);
    PUT(a, "\t%s%s%s\n", accesses[i].before, names[x], accesses[i].behind);
    a->accessed[x][accesses[i].space] = true;
}

static void draw(struct assumed *a)
{
    static const char *const told[] = {"", " .ptr .global", " .ptr .shared", " .ptr .const"};
    a->parameters = 1 + below(a, PARAMETERS);
    PUT(a, ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(");
    for (uint32_t p = 0; p < a->parameters; p++) {
        a->told[p] = below(a, 6) == 0 ? 1 + below(a, 3) : 0;
        PUT(a, "%s.param .u64%s p%u", p ? ", " : "", told[a->told[p]], p);
    }
    PUT(a, ")\n{\n\t.reg .u64 %%w<3>, %%x;\n\t.reg .v2 .u64 %%v;\n\t.reg .u32 %%t;\n\t.reg .f32 "
           "%%f;\n\t.reg .pred %%p;\n");
    for (uint32_t i = 2 + below(a, STEPS); i > 0; i--) {
        const uint32_t kind = below(a, 3), to = some(a), p = below(a, a->parameters);
        if (kind == 0) {
            PUT(a, "\tld.param.u64 %s, [p%u];\n", names[to], p);
            a->holds[to][p] = true;
        } else if (kind == 1) {
            compute(a);
        } else {
            reach(a);
        }
    }
    PUT(a, "\tret;\n}\n");
}

/* What gets from register to register, any number of times. */
static void close(struct assumed *a)
{
    for (uint32_t round = 0; round < REGISTERS; round++)
        for (uint32_t to = 0; to < REGISTERS; to++)
            for (uint32_t x = 0; x < REGISTERS; x++)
                for (uint32_t p = 0; p < PARAMETERS && a->from[to][x]; p++)
                    a->holds[to][p] |= a->holds[x][p];
}

static const char *compare(struct assumed *a, const struct ptx_kernel *ptx)
{
    for (uint32_t p = 0; p < a->parameters; p++) {
        bool at[SPACES] = {false};
        for (uint32_t x = 0; x < REGISTERS; x++)
            for (uint32_t s = 0; s < SPACES && a->holds[x][p]; s++)
                at[s] |= a->accessed[x][s];
        const uint32_t told = a->told[p];
        const bool shared = told ? told == 1 + SHARED : at[SHARED],
                   constant = told ? told == 1 + CONST : at[CONST] && !at[SHARED] && !at[GLOBAL];
        const enum ptx_bind_kind meant = shared && !at[TEXTURE] ? PTX_BIND_SHARED
                                         : constant             ? PTX_BIND_CONST
                                                                : PTX_BIND_BUFFER;
        const struct ptx_bind *is = &ptx->arguments[p].bind;
        if (is->kind != meant || (is->texture != NULL) != at[TEXTURE] ||
            (is->texture && is->texture->dimensions != 2))
            return arena_printf(a->d->arena, "assumed: parameter %u is taken for something else",
                                (unsigned)p);
    }
    return NULL;
}

const char *texts_of_assumed(struct arena *arena, uint64_t number, const char **text)
{
    struct drawn d = drawn_begin(arena, number, DRAWN_ASSUMED);
    struct assumed *a = ARENA_NEW(arena, struct assumed);
    const char *why;
    a->d = &d;
    draw(a);
    close(a);
    *text = d.text.bytes;
    const struct ast_kernel *kernel = drawn_read(arena, d.text.bytes, &why);
    return kernel ? compare(a, kernel->ptx) : arena_printf(arena, "assumed: refused, %s", why);
}
