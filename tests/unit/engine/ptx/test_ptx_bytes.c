/* Any bytes as the text of a PTX module: none crash the parser, keep it busy, or take more memory than
 * ptx.h says; and what is a module prints to a text of the same module. As a kernel, with its settings, it is
 * laid out, or what is wrong is said. */
#include "engine/base/pcg.h"
#include "engine/input/input.h"
#include "engine/program/ptx_code.h"
#include "tests/unit/shared/many.h"
#include "tests/unit/shared/ptx_text.h"

#include <glob.h>
#include <stdlib.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static uint32_t laid_out; /* since the test started */

static void lay_out(const struct ast_kernel *kernel)
{
    const char *reason = NULL;
    const struct program *program = ptx_compile(&arena, kernel, kernel->ptx->module, NULL, &reason);
    assert_int_equal(program == NULL, reason != NULL);
    laid_out += program != NULL;
    for (uint32_t pc = 1; program && pc < program->ptx->count; pc++) {
        const struct ptx_op *op = &program->ptx->ops[pc];
        assert_true(op->target <= program->ptx->count && *ptx_op_text(&arena, program->ptx, pc));
    }
}

static void survive_as_kernel(const char *text, size_t length)
{
    diag_init(&diag, "text", text, length);
    const struct ast_kernel *kernel = ptx_kernel_parse(&arena, text, length, &diag);
    assert_int_equal(kernel == NULL, diag.count > 0);
    if (!kernel)
        return;
    lay_out(kernel);
    const char *printed = print_kernel(&arena, kernel);
    diag_init(&diag, "printed", printed, strlen(printed));
    const struct ast_kernel *again = ptx_kernel_parse(&arena, printed, strlen(printed), &diag);
    if (!again)
        fail_msg("printed, it does not parse: %s", printed);
    assert_string_equal(printed, print_kernel(&arena, again));
}

static bool survive(const char *text, size_t length)
{
    size_t mark = arena_mark(&arena);
    const struct ptx_module *module = parse_bytes(text, length);
    if (module) {
        round_trip(module);
        survive_as_kernel(text, length);
    }
    arena_release(&arena, mark);
    return module != NULL;
}

static const char rich[] =
    ".version 7.8\n.target sm_80, debug\n.address_size 64\n"
    ".extern .shared .align 16 .b8 dyn[];\n.global .align 8 .u64 pg[2] = {generic(g), 0xFF(g+4)};\n"
    ".extern .func (.param .b32 r) printf (.param .b64 a, .param .b64 b);\n"
    ".func (.param .b32 ret) f(.param .b32 x, .param .align 8 .b8 s[16]) .noreturn\n"
    "{ .reg .b32 %r<4>; ld.param.u32 %r1, [x]; st.param.b32 [ret+0], %r1; ret; }\n"
    ".visible .entry k(.param .u64 .ptr .global .align 4 p, .param .f32 y) .maxntid 128, 1, 1\n"
    ".minnctapersm 2 .pragma \"nounroll\";\n{ .reg .pred %p<3>, q; .reg .b32 %r<9>; .reg .b64 "
    "%rd<4>;\n"
    ".reg .v2 .f32 %v; .reg .f32 %f<9>; .local .align 4 .b8 d[8]; /* c */ .loc 1 2 3\n"
    ".loc 1 2 3, function_name $s+4, inlined_at 1 5 6 // c\n"
    "mov.u32 %r1, %tid.x; setp.lt.and.s32 %p1|q, %r1, 10/2+3, !%p2; @!%p1 bra $L;\n"
    "ld.global.v4.f32 {%f1, %f2, _, %f4}, [%rd1+-16]; fma.rn.f32 %f1, %f2, 0f3F800000, 1.5e3;\n"
    "atom.add.release.gpu.s32 %r1, [%rd1], 1; mov.b64 {%r1, %r2}, %rd1; bar.red.or.pred q, 0, "
    "%p1;\n"
    "ts: .branchtargets $L, $M; brx.idx.uni %r1, ts;\n"
    "{ .param .b32 a0; .param .align 8 .b8 a1[16]; .param .b32 r0; .reg .b32 %r1;\n"
    "pr: .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 8 .b8 _[16]);\n"
    "call.uni (r0), f, (a0, a1); call (r0), %rd1, (a0, a1), pr; }\n"
    "ssy $M; preBrk $M; preRet $M; @q break; sync; $L: exit; $M: }\n"
    ".file 1 \"x.cu\", 5, 6\n.section .debug_str { $s: .b8 1,2\n{ } }\n";

static void every_prefix(void **state)
{
    (void)state;
    parse(".global .u32 g;");
    assert_false(survive(rich, strlen(rich))); /* g is not declared */
    char text[sizeof rich + 64];
    snprintf(text, sizeof text, ".global .align 4 .b32 g[4] = {1, -2};%s", rich);
    assert_true(survive(text, strlen(text)));
    for (size_t length = 0; length <= strlen(text); length++) {
        char *exact = malloc(length + 1); /* its end is guarded under a sanitizer */
        memcpy(exact, text, length);
        survive(exact, length);
        free(exact);
    }
}

static void random_bytes(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < many(2000); i++) {
        struct pcg rng = pcg_derive(21, PCG_MUTATE, i);
        char text[400];
        size_t length = pcg_below(&rng, sizeof text);
        for (size_t k = 0; k < length; k++)
            text[k] = (char)(i % 2 ? pcg_below(&rng, 256) : 32 + pcg_below(&rng, 95));
        survive(text, length);
    }
}

/* A few bytes changed, taken out or doubled. `room`: twice the length. */
static size_t change(struct pcg *rng, char *text, size_t length, size_t room)
{
    for (uint32_t n = 1 + pcg_below(rng, 3); n > 0 && length > 1; n--) {
        size_t at = pcg_below(rng, (uint32_t)length), other = pcg_below(rng, (uint32_t)length);
        size_t span = 1 + pcg_below(rng, 12);
        span = at + span > length ? length - at : span;
        switch (pcg_below(rng, 3)) {
        case 0:
            text[at] = text[other];
            break;
        case 1:
            memmove(text + at, text + at + span, length - at - span);
            length -= span;
            break;
        default:
            if (length + span > room)
                break;
            memmove(text + at + span, text + at, length - at);
            length += span;
        }
    }
    return length;
}

static void changed_bytes(void **state)
{
    (void)state;
    uint32_t read = 0;
    for (uint32_t i = 0; i < many(6000); i++) {
        struct pcg rng = pcg_derive(22, PCG_MUTATE, i);
        char text[2 * sizeof rich + 64];
        snprintf(text, sizeof text, ".global .align 4 .b32 g[4] = {1, -2};%s", rich);
        read += survive(text, change(&rng, text, strlen(text), sizeof text));
    }
    printf("%u of %u changed texts are read\n", read, many(6000));
    assert_true(read > many(150));
}

/* Settings and claims. */
static void changed_heads(void **state)
{
    (void)state;
    static const char head[] =
        "// simtfuzz: entry=k threads=8x2 blocks=2x1 warp=4 seed=0x1 shared=16 raw "
        "bind:p=buffer:64:iota\n"
        "// simtfuzz: bind:y=f:1.5 bind:0=shared:8 reg:q=0110 reg:%r1=1,-2,0x3 init:g=1,2\n"
        "// simtfuzz: stack=call,1111,3+sync,01,2+div,1,1+brk,1,1\n"
        "// expect: race_free, terminates\n// expect crs:patent: final g == {1, 2, 3, 4}, race g\n";
    uint32_t before = laid_out;
    for (uint32_t i = 0; i < many(4000); i++) {
        struct pcg rng = pcg_derive(25, PCG_MUTATE, i);
        char changed[2 * sizeof head], text[sizeof changed + sizeof rich + 64];
        memcpy(changed, head, sizeof head);
        size_t length = change(&rng, changed, sizeof head - 1, sizeof changed - 1);
        changed[length] = '\0';
        snprintf(text, sizeof text, "%s\n.global .align 4 .b32 g[4] = {1, -2};%s", changed, rich);
        memcpy(strstr(text, "mov.b64 {%r1, %r2}, %rd1;"), "mov.u64 %rd1, pg;        ", 25);
        survive(text, strlen(text));
    }
    printf("%u of %u texts with changed heads are laid out\n", laid_out - before, many(4000));
    assert_true(laid_out - before > many(300));
}

/* The compilers' texts, each with a few bytes changed. */
static void changed_files(void **state)
{
    (void)state;
    glob_t files;
    uint32_t read = 0;
    assert_int_equal(glob(SIMTFUZZ_SOURCE_DIR "/corpus/ptx/*.ptx", 0, NULL, &files), 0);
    for (size_t f = 0; f < files.gl_pathc; f++) {
        size_t length;
        char *text = parse_read_file(&arena, files.gl_pathv[f], &length, &diag);
        assert_non_null(text);
        assert_true(survive(text, length));
        for (uint32_t i = 0; i < 100; i++) {
            struct pcg rng = pcg_derive(23 + f, PCG_MUTATE, i);
            size_t room = 2 * length;
            char *changed = malloc(room);
            memcpy(changed, text, length);
            read += survive(changed, change(&rng, changed, length, room));
            free(changed);
        }
    }
    assert_true(files.gl_pathc >= 10);
    assert_true(read > 100);
    globfree(&files);
}

static void token_soup(void **state)
{
    (void)state;
    static const char *const tokens[] = {
        ".reg",   ".param", ".shared", ".global", ".b32",  ".pred", ".v4",    ".align", "4",
        ".entry", ".func",  "k",       "(",       ")",     "{",     "}",      "[",      "]",
        ";",      ",",      ":",       "@",       "!",     "|",     "+",      "-",      "=",
        "<",      ">",      "%r1",     "%r<9>",   "_",     "add",   ".s32",   "ld",     "st",
        "bra",    "L",      "L:",      "call",    ".uni",  "mov",   ".u32",   "setp",   ".lt",
        "0f0",    "1.5",    "0x",      "7",       ".loc",  ".file", "\"a\"",  ".ptr",   "%tid.x",
        "ret;",   ".weak",  "mov.u32", "p: ",     "exit;", "ret",   "trap; ", "/*",     "*/ "};
    for (uint32_t i = 0; i < many(6000); i++) {
        struct pcg rng = pcg_derive(24, PCG_MUTATE, i);
        char text[2000] = ".entry k() { .reg .b32 %r<9>; .reg .pred p; ";
        size_t length = i % 2 ? strlen(text) : 0;
        for (uint32_t n = pcg_below(&rng, 100); n > 0; n--)
            length += (size_t)snprintf(text + length, sizeof text - length, "%s ",
                                       tokens[pcg_below(&rng, COUNT(tokens))]);
        survive(text, length);
    }
}

/* One thing again and again, up to and beyond the limits. */
static void much_of_one(void **state)
{
    (void)state;
    static const char *const pieces[] = {"{",
                                         "(",
                                         "[",
                                         "-",
                                         ".entry k(){{",
                                         "a:",
                                         "1,",
                                         ".b8 ",
                                         "\"",
                                         "@p ",
                                         "/*",
                                         "ret;",
                                         ".global .u32 a,b;",
                                         "1?",
                                         "{1,",
                                         ".x",
                                         ".global .b8 x[",
                                         ".reg .b32 %r<16777216>;",
                                         "%r1|"};
    static const char *const heads[] = {"", ".entry k(){ ", ".entry k(){ add.s32 ",
                                        ".global .u32 a[] = ", ".entry k(){ call "};
    for (size_t h = 0; h < COUNT(heads); h++)
        for (size_t i = 0; i < COUNT(pieces); i++) {
            size_t size = strlen(pieces[i]), head = strlen(heads[h]), times = 20000;
            char *text = malloc(head + size * times);
            memcpy(text, heads[h], head);
            for (size_t k = 0; k < times; k++)
                memcpy(text + head + k * size, pieces[i], size);
            survive(text, head + size * times);
            free(text);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_prefix, setup, teardown),
        cmocka_unit_test_setup_teardown(random_bytes, setup, teardown),
        cmocka_unit_test_setup_teardown(changed_bytes, setup, teardown),
        cmocka_unit_test_setup_teardown(changed_heads, setup, teardown),
        cmocka_unit_test_setup_teardown(changed_files, setup, teardown),
        cmocka_unit_test_setup_teardown(token_soup, setup, teardown),
        cmocka_unit_test_setup_teardown(much_of_one, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
