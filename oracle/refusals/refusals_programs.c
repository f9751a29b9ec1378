/*
 * Kernels of which a form has no program, or that a language cannot say, and why; and what is just allowed. Who refuses
 * too early is noticed by nobody else: what there is not is not compared.
 */
#include "engine/emit/emit.h"
#include "engine/input/input.h"
#include "engine/subjects/forms.h"
#include "oracle/refusals/refusals.h"

#include <string.h>

enum { SMALL = 1500 /* bytes of a text */ };

static const struct refusal rows[] = {
    /* ---- structured kernels ---- */
    FRAME("launch(threads=4, warp=2); shared int s, a[4]; private int p; <>"),
    {"int f(int n) { if (n > 0) { p = f(n - 1); exit; } return n; } kernel k() { p = f(2); }",
     "int f(int n) { if (n > 0) { p = f(n - 1); } return n; } kernel k() { p = f(2); exit; }",
     "nowhere: blocks: exit in a procedure at line 1"},
    {"kernel k() { p = vote_any(s); }", "kernel k() { p = s; }",
     "nowhere: blocks: unsupported statement 'vote' at line 1\nnowhere: ptx: votes are of warps, "
     "these are threads on their own"},
    {"kernel k() { sync(1, 4); }", "kernel k() { barrier(); }",
     "nowhere: core: unsupported statement 'sync' at line 1"},
    {"kernel k() { arrive(1, 4); }", "kernel k() { membar(); }",
     "nowhere: core: unsupported statement 'arrive' at line 1"},
    {"kernel k() { havoc(p); }", "kernel k() { assert(p); }",
     "nowhere: ptx: unsupported statement 'havoc' at line 1"},
    /* Names that forms make up, and some that look so. */
    {"private int entry1; kernel k() { p = vote_any(s); }",
     "private int arg1, result, leave1, switch1, entry1, operand1, old1, arg2_, result_, cond, "
     "result1, v_active, v_next, trips, t, c, pick, Start, while1; int f(int n, int arg) { private "
     "int cond_2, leave_, leave0__, leave1__, leave2__, switch0__, switch1__, switch2__, old1__; "
     "if (n > 2) { exit; } switch (n) { case 1: return 3; default: break; } while (n) { if (arg) "
     "{ return 2; } n--; } cond = n ? a[n & 3] : 2; return arg; } kernel pick1() { private int "
     "old_, cond_1; arg1 = f(result, leave1); result = atomic_add(a[p & 3], 1); do { if (s && "
     "arg1) { switch1 = f(1, p); continue; } switch (p) { case 0: break; case 1: continue; } p++; "
     "} while (p < 3); }",
     "nowhere: blocks: unsupported statement 'vote' at line 1\nnowhere: ptx: votes are of warps, "
     "these are threads on their own"},

    /* ---- blocks ---- */
    FRAME("launch(threads=4, warp=2); shared int s; private int p, q; <>"),
    {"kernel k() blocks { Start: goto A, B; A: assume(p < 1); goto End; B: assume(1); goto End; }",
     "kernel k() blocks { Start: goto A, B; A: assume(p < 1); goto End; B: assume(p >= 1); goto "
     "End; }",
     "nowhere: ptx: a goto that chooses among its targets, or has none at line 1"},
    {"kernel k() blocks { Start: goto A, B; A: assume(s); goto End; B: assume(!s); goto End; }",
     "kernel k() blocks { Start: goto A, B; A: assume(q); goto End; B: assume(!q); goto End; }",
     "nowhere: ptx: a goto that chooses among its targets, or has none at line 1"},
    {"kernel k() blocks { Start: goto A, B, C; A: assume(p < 0); goto End; B: assume(p == 0); goto "
     "End; C: assume(p > 1); goto End; }",
     "kernel k() blocks { Start: goto A, B, C; A: assume(p < 0); goto End; B: assume(p == 0); goto "
     "End; C: assume(p > 0); goto End; }",
     "nowhere: ptx: a goto that chooses among its targets, or has none at line 1"},
    {"kernel k() blocks { Start: goto A; A: assume(p); goto End; }",
     "kernel k() blocks { Start: goto A; A: assume(2); goto End; }",
     "nowhere: ptx: a goto that chooses among its targets, or has none at line 1"},
    {"kernel k() blocks { Start: assume(tid < 4); goto End; }",
     "kernel k() blocks { Start: assume(1); goto End; }",
     "nowhere: ptx: a guard where the first block starts at line 1"},
    {"kernel k() blocks { Start: p = 1; assume(p); goto End; }",
     "kernel k() blocks { Start: p = 1; assert(p); goto End; }",
     "nowhere: ptx: unsupported statement 'assume' at line 1"},
    {"kernel k() blocks { Start: havoc(p); goto End; }",
     "kernel k() blocks { Start: barrier(); goto End; }",
     "nowhere: ptx: unsupported statement 'havoc' at line 1"},
    {"kernel k() blocks { Start: sync(1, 4); goto End; }",
     "kernel k() blocks { Start: membar(); goto End; }",
     "nowhere: blocks: unsupported statement 'sync' at line 1"},
    {"kernel k() blocks { Start: goto End; A: goto End; }",
     "kernel k() blocks { Start: goto A; A: goto End; }",
     "nowhere: blocks: block 'A' is not reachable from 'Start'"},
    {"kernel k() blocks { Start: goto B; A: goto End; B: goto A, C; C: assume(!p); goto End; D: "
     "goto D; }",
     "kernel k() blocks { Start: goto B; A: assume(p); goto End; B: goto A, C; C: assume(!p); goto "
     "D; D: goto D; }",
     "nowhere: blocks: block 'D' is not reachable from 'Start'\nnowhere: ptx: a goto that chooses "
     "among its targets, or has none at line 1"},
    {"kernel k() blocks { Start: goto A, B; A: assume(p); goto B, C; B: assume(!p); goto A, D; C: "
     "assume(p); goto End; D: assume(!p); goto End; }",
     "kernel k() blocks { Start: goto A, B; A: assume(p); goto B, C; B: assume(!p); goto D, C; C: "
     "assume(p); goto End; D: assume(!p); goto End; }",
     "nowhere: blocks: irreducible: the edge from 'Start' to 'B' enters a loop past its head 'A'\n"
     "nowhere: crs: irreducible loop at line 1: entered from line 1"},
    {"void v_active() blocks { E: havoc(p); return; } kernel k() blocks { Start: v_active(); goto "
     "End; }",
     "private int v_active, v_next, v_cond, Start1, entry, call, after, back, Loop; void f(int "
     "active, out int v_active1) blocks { E: goto v_active2, B; v_active2: assume(active); goto R; "
     "B: assume(!active); v_active1 = active; goto R; R: return; } kernel End1() blocks { private "
     "int v_active3; Start: goto Loop2; Loop2: goto f1, g; f1: assume(p < 3); f(p, q); p = p + 1; "
     "goto Loop2; g: assume(p >= 3); goto End; }",
     "nowhere: ptx: unsupported statement 'havoc' at line 1"},
    {"void f(`*15 int a#, `int b) blocks { E: return; } kernel k() blocks { Start: f(`*15 1, `1); "
     "goto End; }",
     "void f(`*14 int a#, `int b) blocks { E: return; } kernel k() blocks { Start: f(`*14 1, `1); "
     "goto End; }",
     "nowhere: predicated: procedure 'f' has no room for v_active: 16 parameters"},
    {"void f() blocks { E: goto E; } kernel k() blocks { Start: f(); goto End; }",
     "void f() blocks { E: goto F; F: p = 1; return; } kernel k() blocks { Start: f(); goto End; }",
     "nowhere: predicated: procedure 'f' needs one return block, empty (PROC.norm)"},

    /* ---- PTX ---- */
    FRAME(".version 7.8\n.target sm_80\n.address_size 64\n<>"),
    {".entry k() { .reg .pred p; @p bra A; bra B; A: bra B; B: @p bra A; ret; }",
     ".entry k() { .reg .pred p; @p bra B; bra A; A: bra B; B: @p bra B; ret; }",
     "nowhere: crs: irreducible loop at line 4: entered from line 4"},
    {".entry k() { .reg .u64 a; mov.u64 a, A; A: ret; }", ".entry k() { A: ret; }",
     "nowhere: crs: the address of a label is used at line 4"},
    {".entry k() { .global .b32 a; .global .b64 b = a; .reg .b64 r; mov.b64 r, b; ret; }",
     ".global .b32 a; .entry k() { .global .b64 b = a; .reg .b64 r; mov.b64 r, b; ret; }",
     "nowhere: ptx: the address of 'a' is not known in line 4\nnowhere: crs: an initial value with "
     "the address of a variable of the function at line 4"},
    {".func f(); .entry k() { call f; ret; }", ".func f() { ret; } .entry k() { call f; ret; }",
     "nowhere: ptx: function 'f' has no body at line 4"},
    {".func f(); .entry k() { .reg .u64 r; mov.u64 r, f; ret; }",
     ".func f() { ret; } .entry k() { .reg .u64 r; mov.u64 r, f; ret; }",
     "nowhere: ptx: function 'f' has no body at line 4"},
    {".entry j() { ret; } .entry k() { call j; ret; }",
     ".func j() { ret; } .entry k() { call j; ret; }",
     "nowhere: ptx: 'j' cannot be called at line 4"},
    {".func f(.reg .b32 x) { ret; } .entry k(.param .b32 y) { call f, (y); ret; }",
     ".func f(.reg .b32 x) { ret; } .entry k(.param .b32 y) { .reg .b32 z; call f, (z); ret; }",
     "nowhere: ptx: unsupported argument 'y': a parameter of the entry at line 4"},
    {".func f(.reg .b32 x<2>) { ret; } .entry k() { .reg .b32 r; call f, (r); ret; }",
     ".func f(.reg .b32 x2) { ret; } .entry k() { .reg .b32 r; call f, (r); ret; }",
     "nowhere: ptx: unsupported parameter 'x' in registers in line 4"},
    {".func f(.param .b8 x[16777217]) { ret; } .entry k() { .param .b8 r[16777217]; call f, (r); "
     "ret; }",
     ".func f(.param .b8 x[200000]) { ret; } .entry k() { .param .b8 r[200000]; call f, (r); ret; "
     "}",
     "nowhere: ptx: unsupported size of parameter 'x' in line 4"},
    {".entry k() { .local .align 131072 .b32 r; st.local.b32 [r], 1; ret; }",
     ".entry k() { .local .align 65536 .b32 r; st.local.b32 [r], 1; ret; }",
     "nowhere: ptx: 'r' cannot be aligned to 131072 bytes at line 4"},
    {".entry k() { .local .b8 r[16777217]; st.local.b32 [r], 1; ret; }",
     ".entry k() { .local .b8 r[524000]; st.local.b32 [r], 1; ret; }",
     "nowhere: ptx: 'r' takes no number of bytes that local memory has at line 4"},
    {".entry k() { .local .b8 r[16777200]; st.local.b32 [r], 1; ret; }", NULL,
     "nowhere: ptx: needs 134217600 words of memory, limit 4194304"},
    {".entry k() { .local .b8 r[]; st.local.b32 [r], 1; ret; }", NULL,
     "nowhere: ptx: 'r' takes no number of bytes that local memory has at line 4"},
    {".entry k() { A: call A; ret; }", NULL,
     "nowhere: ptx: a label is called only in kernels with the setting 'raw' at line 4\n"
     "nowhere: crs: the address of a label is used at line 4"},
    {".entry k() { .reg .b32 r; alloca.u32 r, 8, 3; ret; }",
     ".entry k() { .reg .b32 r; alloca.u32 r, 8, 4; ret; }",
     "nowhere: ptx: the alignment of alloca is no power of two at line 4"},
    {".entry k() { .reg .f16 r; add.f16 r, r, 0f3F800000; ret; }",
     ".entry k() { .reg .f16 r; add.f16 r, r, r; ret; }",
     "nowhere: ptx: unsupported constant of half precision at line 4"},
    {".entry k() { .reg .b128 r; mov.b128 r, 1; ret; }",
     ".entry k() { .reg .b64 r; mov.b64 r, 1; ret; }",
     "nowhere: ptx: unsupported constant of 128 bits at line 4"},
    /* What copies wait for takes memory of each block, for which the variables leave no room. */
    FRAME(
        "// simtfuzz: blocks=64\n.version 7.8\n.target sm_80\n.address_size 64\n.shared .b64 m; <> "
        ".entry k() { .local .b32 l[4]; .reg .b64 r; cp.async.mbarrier.arrive.shared.b64 [m]; "
        "st.local.b32 [l], 1; ld.shared.b64 r, [s]; "
        "ret; }"),
    {".shared .b8 s[262000];", ".shared .b8 s[107000];",
     "nowhere: ptx: needs 6662144 words of memory, limit 4194304"},
};

/* ---- as much as there may be ---- */

static const struct refusal largest[] = {
    FRAME("launch(threads=4, warp=2); shared int s; private int p; <>"),
    {"kernel k() { s = `*199 (1+`1`*199 )`; }", "kernel k() { s = `*198 (1+`1`*198 )`; }",
     "nowhere: predicated: the result is no kernel: expression is nested more than 200 deep"},
    {"kernel k() { if (`*199 (1+`s`*199 )`) s = 1; }",
     "kernel k() { while (`*197 (1+`s`*197 )`) s = 1; }",
     "nowhere: blocks: expression is nested more than 200 deep at line 1"},
    {"kernel k() { s += `*198 (1+`1`*198 )`; }", "kernel k() { s += `*197 (1+`1`*197 )`; }",
     "nowhere: predicated: the result is no kernel: expression is nested more than 200 deep"},
    {"kernel k() { `*65 while (p) { barrier(); }` }",
     "kernel k() { `*64 while (p) { barrier(); }` }",
     "nowhere: blocks: more than 64 loops of 'k' hold a barrier"},
    {"kernel k() blocks { Start: goto `*64 B#, `C; `*64 B#: assume(p == #); goto End; `C: "
     "assume(p < 0 || p > 63); goto End; }",
     NULL, "nowhere: ptx: a goto with very many targets at line 1"},
    {"kernel k() { `*341 if (p) ;` }", "kernel k() { `*340 if (p) ;` }",
     "nowhere: blocks: more than 1024 blocks"},
    {"kernel k() { `*205 while (p) ;` }", "kernel k() { `*204 while (p) ;` }",
     "nowhere: predicated: the result is no kernel: more than 1024 blocks"},
    FRAME(".version 7.8\n.target sm_80\n.address_size 64\n<>"),
    /* One after the other they are not in each other. */
    {".entry k() { .reg .pred p; `*2000 @p bra E; ` E: ret; }",
     ".entry k() { .reg .pred p; `*1999 @p bra E; ` E: `*9 @p bra L#; L#: ` ret; }",
     "nowhere: crs: control flow nested deeper than 2000 in the function at line 4"},
    {"`*1024 .func f#() { ret; } `.entry k() { `*1024 call f#; ` ret; }",
     "`*1023 .func f#() { ret; } `.entry k() { `*1023 call f#; ` ret; }",
     "nowhere: ptx: the entry reaches 1025 functions, limit 1024"},
};

/* Names that a form gives are nobody else's: its text, read, is the same text. Of large ones it is not asked. */
static bool is_readable(struct arena *arena, const struct ast_kernel *kernel)
{
    struct diag *diag = ARENA_NEW(arena, struct diag);
    const char *text = print_kernel(arena, kernel);
    diag_init(diag, "form", text, strlen(text));
    const struct ast_kernel *again = parse_kernel(arena, text, strlen(text), diag);
    return again && strcmp(print_kernel(arena, again), text) == 0;
}

static const enum program_id programs[] = {PROGRAM_CORE,       PROGRAM_BLOCKS,   PROGRAM_ANCHORED,
                                           PROGRAM_PREDICATED, PROGRAM_LOCKSTEP, PROGRAM_PTX,
                                           PROGRAM_CRS};
static const char *const names[] = {
#define PROGRAM(id, name, ...) [PROGRAM_##id] = name,
#include "engine/subjects/programs.def"
#undef PROGRAM
};

/* Of each kind of form that a kernel of this kind may have; what several say is told once. */
static void make_programs(struct arena *arena, const struct ast_kernel *kernel, bool is_small,
                          struct diag *diag)
{
    struct forms *forms = forms_new(arena, kernel);
    const bool structured = kernel->form == FORM_STRUCTURED, ptx = kernel->form == FORM_PTX;
    const char *last = "";
    for (uint32_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        const enum program_id id = programs[i];
        if ((!structured && (id == PROGRAM_CORE || id == PROGRAM_ANCHORED)) ||
            (ptx && id != PROGRAM_CRS && id != PROGRAM_PTX))
            continue;
        const struct form *form = forms_get(forms, id);
        if (form->program && is_small && form->kernel->form != FORM_PTX &&
            !is_readable(arena, form->kernel))
            diag_error(diag, (struct location){0, 0}, "%s: its text is another kernel's",
                       names[id]);
        if (!form->program && strcmp(form->reason, last) != 0)
            diag_error(diag, (struct location){0, 0}, "%s: %s", names[id], form->reason);
        last = form->program ? last : form->reason;
    }
    const struct form *p = forms_get(forms, PROGRAM_BLOCKS);
    const char *why;
    if (!ptx && !p->kernel &&
        (forms_well_formed(forms, &why) != ILL_FORMED || strcmp(why, p->reason) != 0))
        diag_error(diag, (struct location){0, 0},
                   "what has no blocks is well-formed, or not since");
}

/* ---- names as long as there are ---- */

struct longer {
    struct arena *arena;
    uint32_t count, less;
};

/* No other is called so: its number stands behind it, in letters, as digits are what forms put there. */
static const char *long_name(struct longer *l, const char *name)
{
    const size_t length = strlen(name), all = LIMIT_NAME - (l->less + l->count) % 4;
    char *made = arena_alloc(l->arena, LIMIT_NAME + 1, 1);
    if (length + 5 > all || strcmp(name, "Start") == 0)
        return name;
    memset(made, 'q', all);
    memcpy(made, name, length);
    made[length] = '_';
    for (uint32_t i = 0, n = l->count++; i < 3; i++, n /= 26)
        made[all - 1 - i] = (char)('a' + n % 26);
    return made;
}

static void lengthen(struct longer *l, struct ast_function *f)
{
    f->name = long_name(l, f->name);
    for (struct ast_var *var = f->locals; var; var = var->next)
        var->name = long_name(l, var->name);
    for (struct ast_block *block = f->blocks; block; block = block->next)
        block->name = long_name(l, block->name);
}

const char *refusals_long_names(struct arena *arena, const struct ast_kernel *kernel, uint32_t less,
                                const char **text)
{
    struct longer l = {.arena = arena, .less = less};
    struct ast_kernel *copy = ast_kernel_copy(arena, kernel);
    if (!copy->main)
        return NULL;
    for (struct ast_var *var = copy->vars; var; var = var->next)
        var->name = long_name(&l, var->name);
    for (struct ast_function *f = copy->functions; f; f = f->next)
        lengthen(&l, f);
    lengthen(&l, copy->main);
    copy->name = copy->main->name;
    *text = print_kernel(arena, copy);
    struct forms *given = forms_new(arena, kernel), *made = forms_new(arena, copy);
    for (uint32_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        const enum program_id id = programs[i];
        const bool of_structured = id == PROGRAM_CORE || id == PROGRAM_ANCHORED;
        if (of_structured && kernel->form != FORM_STRUCTURED)
            continue;
        const struct ast_kernel *as_given = forms_get(given, id)->kernel,
                                *as_made = forms_get(made, id)->kernel;
        if (!as_given != !as_made)
            return arena_printf(arena, "refused: long names, %s: %s", names[id],
                                as_made ? "is there" : forms_get(made, id)->reason);
        if (as_made && !is_readable(arena, as_made))
            return arena_printf(arena, "refused: long names, %s: its text is another kernel's",
                                names[id]);
    }
    return NULL;
}

static bool read(struct arena *arena, const char *text, size_t length, struct diag *diag)
{
    const struct ast_kernel *kernel = parse_kernel(arena, text, length, diag);
    if (kernel)
        make_programs(arena, kernel, length <= SMALL, diag);
    return diag->count == 0;
}

const struct refusals refusals_programs = {.name = "programs",
                                           .rows = rows,
                                           .count = sizeof rows / sizeof *rows,
                                           .read = read},
                      refusals_largest_programs = {.name = "programs",
                                                   .rows = largest,
                                                   .count = sizeof largest / sizeof *largest,
                                                   .rare = 6,
                                                   .read = read};

/* ---- languages ---- */

#define IN_EACH(what)                                                                              \
    "nowhere: opencl " what "\nnowhere: cuda " what "\nnowhere: glsl " what "\nnowhere: "          \
    "wgsl " what

static const struct refusal emitted[] = {
    FRAME("launch(threads=4, warp=2); shared int s, a[4]; private int p; <>"),
    {"int f(int n) { if (n > 0) { p = f(n - 1); } return n; } kernel k() { p = f(2); }",
     "int f(int n) { return n; } int g(int n) { p = f(n); p = f(p); return p; } kernel k() { p = "
     "g(2); p = f(p); }",
     "nowhere: opencl has no recursion: function 'f' at line 1\nnowhere: glsl has no recursion: "
     "function 'f' at line 1\nnowhere: wgsl has no recursion: function 'f' at line 1\nnowhere: "
     "blocks has no recursion\nnowhere: ptx has no recursion here: all calls are written out"},
    {"void g(int n) { f(n); } void f(int n) { if (n > 0) { g(n - 1); } } kernel k() "
     "{ f(2); }",
     "void g(int n) { f(n); } void f(int n) { p = n; } kernel k() { g(2); }",
     "nowhere: opencl has no recursion: function 'g' at line 1\nnowhere: glsl has no recursion: "
     "function 'g' at line 1\nnowhere: wgsl has no recursion: function 'g' at line 1\nnowhere: "
     "blocks has no recursion\nnowhere: ptx has no recursion here: all calls are written out"},
    {"kernel k() { p = atomic_cas(s, 1, 2); }", "kernel k() { p = atomic_exch(s, 1); }",
     "nowhere: wgsl has no 'atomic_cas' that never fails, at line 1"},
    {"kernel k() { for (p = 0; p < 2; atomic_add(s, 1)) p = 3; }",
     "kernel k() { for (p = 0; p < 2; p++) atomic_add(s, 1); }",
     IN_EACH("has no 'atomic' in the head of a for, at line 1")},
    {"kernel k() { p = vote_any(s); }", "kernel k() { p = s; }",
     IN_EACH("has no 'vote', at line 1") "\nnowhere: unsupported statement 'vote' at line 1"
                                         "\nnowhere: unsupported statement 'vote' at line 1"},
    {"kernel k() { sync(1, 4); }", "kernel k() { barrier(); }",
     IN_EACH("has no 'sync', at line 1") "\nnowhere: blocks has no 'sync', at line 1"},
    {"kernel k() { arrive(1, 4); }", "kernel k() { membar(); }",
     IN_EACH("has no 'arrive', at line 1") "\nnowhere: blocks has no 'arrive', at line 1"},
    {"kernel k() { havoc(p); }", "kernel k() { p = 1; }",
     IN_EACH("has no 'havoc', at line 1") "\nnowhere: blocks has no 'havoc', at line 1\nnowhere: "
                                          "unsupported statement 'havoc' at line 1"},
    {"kernel k() { assume(p); }", "kernel k() { assert(p); }",
     IN_EACH("has no 'assume', at line 1") "\nnowhere: unsupported statement 'assume' at line 1"},
    {"kernel k() { p = a[4]; }", "kernel k() { p = a[3]; }", IN_EACH("has no element 4 of 'a'")},
    {"kernel k() { p = a[warp_size * 2]; }", "kernel k() { p = a[warp_size + 1] + a[threads]; }",
     IN_EACH("has no element 4 of 'a'")},
    {"kernel k() { a[-1] = p; }", "kernel k() { a[0] = p; }", IN_EACH("has no element -1 of 'a'")},
    {"kernel k() { p = a[2 + 2]; }", "kernel k() { a[2 + 1] = p; }",
     IN_EACH("has no element 4 of 'a'")},

    /* Blocks as they are given: neither of the two that write their own takes any. */
    FRAME("launch(threads=4, warp=2); private int p; <>"),
    {"kernel k() blocks { Start: goto A, B; A: assume(p); goto End; B: barrier(); goto End; }",
     "kernel k() { barrier(); }",
     "nowhere: glsl has no barrier in a block, at line 1\nnowhere: wgsl has no barrier in a block, "
     "at line 1\nnowhere: blocks are made of structured kernels only\nnowhere: ptx is made of "
     "structured kernels only"},
    {"kernel k() blocks { Start: goto A, B; A: assume(p); goto End; B: goto End; }",
     "kernel k() { if (p) ; }",
     "nowhere: blocks are made of structured kernels only\nnowhere: ptx is made of structured "
     "kernels only"},
    {"kernel k() blocks { Start: goto A, B; A: goto End; B: goto End; }", NULL,
     IN_EACH("has no choice of threads between blocks, at line 1") "\nnowhere: blocks are made of "
                                                                   "structured kernels "
                                                                   "only\nnowhere: ptx is made of "
                                                                   "structured kernels only"},
    {"void f() blocks { E: return; } kernel k() blocks { Start: f(); goto End; }", NULL,
     IN_EACH("has no procedures of the block form: 'f' at line 1") "\nnowhere: blocks are made of "
                                                                   "structured kernels "
                                                                   "only\nnowhere: ptx is made of "
                                                                   "structured kernels only"},
    {"kernel k() lockstep { Start: goto End; }", NULL,
     IN_EACH("is made of structured kernels and of blocks only") "\nnowhere: blocks are made of "
                                                                 "structured kernels "
                                                                 "only\nnowhere: ptx is made of "
                                                                 "structured kernels only"},
};

static const char *refused(struct arena *arena, const char *text, enum emit_language language,
                           uint32_t knobs)
{
    struct text out = text_begin(arena);
    struct emitted written;
    const char *reason;
    emit_kernel(&out, parse_printed(arena, text), language, knobs, 0, &written, &reason);
    return reason;
}

/* In each language; what can be said in one must be so as blocks, too. */
static bool read_emitted(struct arena *arena, const char *text, size_t length, struct diag *diag)
{
    if (!parse_kernel(arena, text, length, diag))
        return false;
    for (uint32_t l = 0; l < EMIT_LANGUAGE_COUNT; l++) {
        const enum emit_language language = (enum emit_language)l;
        const char *reason = refused(arena, text, language, 0);
        if (!reason)
            reason = refused(arena, text, language, EMIT_KNOB(GOTOS));
        if (reason)
            diag_error(diag, (struct location){0, 0}, "%s", reason);
    }
    return diag->count == 0;
}

const struct refusals refusals_emitted = {.name = "emitted",
                                          .rows = emitted,
                                          .count = sizeof emitted / sizeof *emitted,
                                          .read = read_emitted};
