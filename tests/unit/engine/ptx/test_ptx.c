/* PTX as the compilers and people write it: what is read, how it is printed, what is refused. */
#include "engine/input/input.h"
#include "tests/unit/shared/ptx_text.h"

#include <glob.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define REGISTERS                                                                                  \
    ".reg .pred %p<4>; .reg .b16 %rs<4>; .reg .b32 %r<8>; .reg .u32 u; .reg .b64 %rd<8>; "         \
    ".reg .f32 %f<8>; .reg .f64 %fd<4>; .reg .v4 .f32 v; "
#define HEAD                                                                                       \
    ".global .align 8 .u32 g[4]; .shared .b32 s; .func f() { ret; } .func h(.param .b32 x); "
#define ENTRY HEAD ".entry k(.param .u64 a) { " REGISTERS

/* The only statement behind the declarations, printed again. */
static void prints_as(const char *statement, const char *printed)
{
    size_t mark = arena_mark(&arena);
    const char *text = arena_printf(&arena, "%s\n%s\nL: }", ENTRY, statement);
    const char *all = round_trip(parse(text));
    const char *end = strstr(all, "\nL:\n");
    assert_non_null(end);
    const char *begin = end;
    while (begin[-1] != '\n')
        begin--;
    begin += strspn(begin, "\t");
    assert_int_equal(end - begin, strlen(printed));
    assert_memory_equal(begin, printed, strlen(printed));
    arena_release(&arena, mark);
}

static void canonical_text(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"add.s32 %r1, %r2, 10/2+3;", "add.s32 %r1, %r2, 8;"},
        {"add .s32 %r1 , %r2 ,-0x10;", "add.s32 %r1, %r2, -16;"},
        {"and.b32 %r1, %r2, 0xFFFFFFFFU;", "and.b32 %r1, %r2, 4294967295;"},
        {"and.b64 %rd1, %rd2, 0xFFFFFFFFFFFFFFFF;", "and.b64 %rd1, %rd2, -1;"},
        {"mov.u32 %r1, 0777;", "mov.u32 %r1, 511;"},
        {"mov.u32 %r1, 0b101;", "mov.u32 %r1, 5;"},
        {"mov.u32 %r1, (1 << 4 | 3) & ~1;", "mov.u32 %r1, 18;"},
        {"mov.u32 %r1, 2 > 1 ? 7 % 4 : -1;", "mov.u32 %r1, 3;"},
        {"mov.u64 %rd1, -8 / 3;", "mov.u64 %rd1, -2;"},
        {"mov.u64 %rd1, (.u64)-8 >> 60;", "mov.u64 %rd1, 15;"},
        {"mov.u64 %rd1, -8 >> 1;", "mov.u64 %rd1, -4;"},
        {"mov.f32 %f1, 0f3f800000;", "mov.f32 %f1, 0f3F800000;"},
        {"mov.f64 %fd1, -1.5;", "mov.f64 %fd1, 0dBFF8000000000000;"},
        {"mov.f64 %fd1, 1e3;", "mov.f64 %fd1, 0d408F400000000000;"},
        {"mov.f32 %f1, v.w;", "mov.f32 %f1, v.w;"},
        {"mov.f32 %f1, v.a;", "mov.f32 %f1, v.w;"},
        {"mov.u64 %rd1, g+4*2-1;", "mov.u64 %rd1, g+7;"},
        {"mov.u64 %rd1, f;", "mov.u64 %rd1, f;"},
        {"mov.u32 %r1, %tid.x;", "mov.u32 %r1, %tid.x;"},
        {"mov.u32 %r1, WARP_SZ;", "mov.u32 %r1, WARP_SZ;"},
        {"mov.b64 %rd1, {%r1,%r2};", "mov.b64 %rd1, {%r1, %r2};"},
        {"mov.b64 {%r1,_}, %rd1;", "mov.b64 {%r1, _}, %rd1;"},
        {"mov.pred %p1, 1;", "mov.pred %p1, 1;"},
        {"ld.global.v4.f32 {%f1,%f2,_,%f4},[%rd1+-16];",
         "ld.global.v4.f32 {%f1, %f2, _, %f4}, [%rd1-16];"},
        {"ld.param.u64 %rd1, [a];", "ld.param.u64 %rd1, [a];"},
        {"ld.global.u8 %rs1, [g+3];", "ld.global.u8 %rs1, [g+3];"},
        {"ld.global.s8 %rd1, [%rd2];", "ld.global.s8 %rd1, [%rd2];"},
        {"ld.global.ca.nc.L2::128B.f32 %f1, [%rd1];", "ld.global.ca.nc.L2::128B.f32 %f1, [%rd1];"},
        {"ld.shared::cta.b32 %r1, [s];", "ld.shared::cta.b32 %r1, [s];"},
        {"ld.u32 %r1, [16];", "ld.u32 %r1, [16];"},
        {"st.volatile.shared.u32 [s], 5;", "st.volatile.shared.u32 [s], 5;"},
        {"atom.add.release.gpu.s32 %r1, [%rd1], 1;", "atom.release.gpu.add.s32 %r1, [%rd1], 1;"},
        {"atom.acq_rel.sys.global.cas.b32 %r1, [%rd1], 1, %r2;",
         "atom.acq_rel.sys.global.cas.b32 %r1, [%rd1], 1, %r2;"},
        {"red.shared.max.u32 [s], %r1;", "red.shared.max.u32 [s], %r1;"},
        {"setp.lt.and.s32 %p1|%p2, %r1, 7, !%p3;", "setp.lt.and.s32 %p1|%p2, %r1, 7, !%p3;"},
        {"setp.u32.eq %p1, %r1, 1;", "setp.eq.u32 %p1, %r1, 1;"},
        {"vote.ballot.sync.b32 %r1, %p1, -1;", "vote.sync.ballot.b32 %r1, %p1, -1;"},
        {"setp.neu.ftz.f32 %p1, %f1, 0f00000000;", "setp.neu.ftz.f32 %p1, %f1, 0f00000000;"},
        {"@!%p1 bra.uni L;", "@!%p1 bra.uni L;"},
        {"bra %rd1;", "bra %rd1;"},
        {"cvt.rn.f32.s32 %f1, %r1;", "cvt.rn.f32.s32 %f1, %r1;"},
        {"cvt.u64.u16 %rd1, %rs1;", "cvt.u64.u16 %rd1, %rs1;"},
        {"cvt.s16.s8 %rs1, %rs2;", "cvt.s16.s8 %rs1, %rs2;"},
        {"cvt.rzi.ftz.s32.f32 %r1, %f1;", "cvt.rzi.ftz.s32.f32 %r1, %f1;"},
        {"cvt.f32.f16 %f1, %rs1;", "cvt.f32.f16 %f1, %rs1;"},
        {"mad.wide.s32 %rd1, %r1, 4, %rd2;", "mad.wide.s32 %rd1, %r1, 4, %rd2;"},
        {"bar.sync 0;", "bar.sync 0;"},
        {"bar.sync %r1, 64;", "bar.sync %r1, 64;"},
        {"bar.arrive 1, 64;", "bar.arrive 1, 64;"},
        {"bar.red.popc.u32 %r1, 0, !%p1;", "bar.red.popc.u32 %r1, 0, !%p1;"},
        {"bar.red.or.pred %p2, 0, 64, %p1;", "bar.red.or.pred %p2, 0, 64, %p1;"},
        {"bar.warp.sync -1;", "bar.warp.sync -1;"},
        {"barrier.cta.sync.aligned 3;", "barrier.cta.sync.aligned 3;"},
        {"vote.sync.ballot.b32 %r1, %p1, -1;", "vote.sync.ballot.b32 %r1, %p1, -1;"},
        {"vote.sync.uni.pred %p1, !%p2, -1;", "vote.sync.uni.pred %p1, !%p2, -1;"},
        {"shfl.sync.down.b32 %r1|%p1, %r2, 1, 31, -1;",
         "shfl.sync.down.b32 %r1|%p1, %r2, 1, 31, -1;"},
        {"fence.acq_rel.gpu;", "fence.acq_rel.gpu;"},
        {"membar.cta;", "membar.cta;"},
        {"lop3.b32 %r1, %r2, %r3, %r4, 0x96;", "lop3.b32 %r1, %r2, %r3, %r4, 150;"},
        {"prmt.b32.f4e %r1, %r2, %r3, %r4;", "prmt.b32.f4e %r1, %r2, %r3, %r4;"},
        {"call f;", "call f;"},
        {"call.uni f, ();", "call.uni f, ();"},
        {"call %rd1;", "call %rd1;"},
        {"call h, (%r1);", "call h, (%r1);"},
        {"@%p1 exit;", "@%p1 exit;"},
        {"ssy L;", "ssy L;"},
        {"@%p1 preRet L;", "@%p1 preRet L;"},
        {"preBrk L;", "preBrk L;"},
        {"sync;", "sync;"},
        {"@%p1 brk;", "@%p1 break;"},
        {".loc 1 2 3, function_name $s + 4, inlined_at 4 5 6",
         ".loc 1 2 3, function_name $s+4, inlined_at 4 5 6"},
        {".pragma \"nounroll\";", ".pragma \"nounroll\";"},
        {".reg .b32 x, y;", ".reg .b32 y;"},
    };
    for (size_t i = 0; i < COUNT(pairs); i++)
        prints_as(pairs[i][0], pairs[i][1]);
}

/* The statement is refused with this message, in its line and column, and nothing else is. */
static void refused(const char *statement, uint32_t column, const char *message)
{
    size_t mark = arena_mark(&arena);
    const char *text = arena_printf(&arena, "%s\n%s\nL: }", ENTRY, statement);
    assert_null(parse_bytes(text, strlen(text)));
    if (diag.count != 1 || diag.entries[0].at.line != 2 || diag.entries[0].at.column != column ||
        strcmp(diag.entries[0].text, message) != 0) {
        diag_print(&diag, stderr);
        fail_msg("'%s' should be refused in column %u: %s", statement, column, message);
    }
    arena_release(&arena, mark);
}

static void refusals(void **state)
{
    (void)state;
    refused("tex.1d.v4.f32.s32 {%f1}, [%rd1];", 1, "instruction 'tex' is not supported");
    refused("ld.globl.u32 %r1, [%rd1];", 3, "'.globl' is not supported here in 'ld'");
    refused("add.lo.u32 %r1, %r2, %r3;", 4, "'.lo' is not supported here in 'add'");
    refused("mul.s32 %r1, %r2, %r3;", 4, "'.s32' is not supported here in 'mul'");
    refused("setp.lt %p1, %r1, %r2;", 1,
            "'setp' needs one more modifier: .u16|u32|u64|s16|s32|s64");
    refused("add.s32 %r1, %r2;", 1, "'add' takes 3 operands here, not 2");
    refused("bar.sync 0, 64, 1;", 1, "'bar' takes 1 to 2 operands here, not 3");
    refused("add.s32 %r9, %r2, 1;", 9, "'%r9' is not declared");
    refused("add.s32 %r01, %r2, 1;", 9, "'%r01' is not declared");
    refused("add.s32 %f1, %r2, 1;", 9, "'%f1' is declared .f32, .u32/.s32 is wanted here");
    refused("add.s64 %rd1, %r2, 1;", 15, "'%r2' is declared .b32, .u64/.s64 is wanted here");
    refused("add.f32 %f1, %f2, 1;", 19, "this constant is no .f32");
    refused("add.s32 %r1, %r2, 0f3F800000;", 19, "this constant is no .u32/.s32");
    refused("add.s32 1, %r2, %r1;", 9, "a register is wanted here");
    refused("add.s32 %r1|%p1, %r2, %r1;", 9, "one register is wanted here");
    refused("add.s32 %r1, !%p1, %r1;", 14, "'%p1' is declared .pred, .u32/.s32 is wanted here");
    refused("selp.b32 %r1, 1, 0, !%p1;", 21, "no '!' is allowed here");
    refused("add.f32 %f1, v, %f2;", 14, "'v' is a vector: one element of it is wanted here");
    refused("mov.u32 %tid.x, %r1;", 9, "'%tid' cannot be written");
    refused("mov.u32 %r1, %tid;", 14, "'%tid' is a vector: write .x, .y or .z");
    refused("ld.global.v2.f32 %f1, [%rd1];", 18, "2 operands in braces are wanted here");
    refused("ld.global.f32 %f1, %rd1;", 20, "an address in brackets is wanted here");
    refused("ld.shared.u32 %r1, [g];", 20, "'g' is in .global, the instruction accesses .shared");
    refused("ld.global.u32 %r1, [%f1];", 20, "'%f1' is declared .f32, an address is wanted here");
    refused("ld.global.u64 %r1, [%rd1];", 15, "'%r1' is declared .b32, .u64/.s64 is wanted here");
    refused("st.const.u32 [%rd1+], %r1;", 20, "expected a constant, found ']'");
    refused("bra M;", 5, "'M' is not declared");
    refused("bra g;", 5, "a label is wanted here");
    refused("brx.idx %r1, L;", 14, "a list of branch targets is wanted here");
    refused("ts: .branchtargets L, g;", 23, "a label is wanted here");
    refused("call g;", 6, "a function or register is wanted here");
    refused("call f, (%r1);", 9, "the function has 0 parameters, not 1");
    refused("call (%r1), f;", 6, "the function has 0 results, not 1");
    refused("call h, (%rd1);", 10, "'%rd1' has 8 bytes, the function's parameter 4");
    refused("call %rd1, (%r1);", 6,
            "an indirect call with parameters needs a prototype or a list of functions");
    refused(".reg .b32 u;", 11, "'u' is declared already, in line 1");
    refused(".reg .b32 %r5;", 11, "'%r5' is also one of the registers declared in line 1");
    refused(".reg .b32 %r<3>;", 11, "'%r' is declared already, in line 1");
    refused(".reg .b32 %rd1<5>; .reg .b64 x<11>, x1<3>;", 37,
            "'x1' is also one of the registers declared in line 2");
    refused(".reg .b32 z[4];", 11, "registers have neither elements nor initial values");
    refused(".local .pred z;", 14, "predicates are registers");
    refused(".shared .u32 z = 4;", 14, "a variable in .shared has no initial value");
    refused(".local .align 3 .b8 z[4];", 15, "an alignment is a power of two");
    refused(".local .b8 z[1/0];", 15, "division by zero");
    refused("mov.u32 %r1, 99999999999999999999;", 14, "this number does not fit in 64 bits");
    refused("mov.u32 %r1, 0x;", 14, "malformed number");
    refused("mov.f32 %f1, 0f3F80;", 14, "0f takes 8 hexadecimal digits");
    refused("mov.f32 %f1, 1.0+1;", 14, "only integers can be computed with here");
    refused("mov.b64 %rd1, {%r1, %r2, %r3};", 15, ".b64 is not moved as 3 parts");
    refused("mov.u32 %r1, #;", 14, "unexpected character '#'");
    refused("bar.arrive 1;", 1, "'bar' takes 2 operands here, not 1");
    refused("atom.local.add.u32 %r1, [%rd1], 1;", 5, "'.local' is not supported here in 'atom'");
    refused("ld.shared.L1::no_allocate.ftz.u32 %r1, [s];", 26,
            "'.ftz' is not supported here in 'ld'");
}

/* Whole modules that are refused; each with one message. */
static void refused_modules(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t line, column;
        const char *message;
    } cases[] = {
        {".version x", 1, 10, "expected a version such as 7.8, found 'x'"},
        {".address_size 48", 1, 15, "addresses have 32 or 64 bits"},
        {".global .u32 a;\n.global .u32 a;", 2, 14, "'a' is declared already, in line 1"},
        {".global .u64 a = b;", 1, 18, "'b' is not declared"},
        {".global .u32 a[2] = {1, 2, 3};", 1, 14, "more initial values than elements"},
        {".global .u32 a[2][];", 1, 14, "only the first dimension can be left out"},
        {".func f() { ret; }\n.func f() { ret; }", 2, 7, "'f' is declared already, in line 1"},
        {".func f(.param .b32 x);\n.func f() { ret; }", 1, 7,
         "'f' is declared with other parameters in line 2"},
        {".func f() {\nL: exit;\nL: ret; }", 3, 1, "'L' is declared already, in line 2"},
        {".entry k() { exit;", 1, 19, "expected '}', found the end of the text"},
        {".entry k(.param .b32 x, .param .b32 x) { exit; }", 1, 37,
         "'x' is declared already, in line 1"},
        {".entry k() { { M: exit; } bra M; }", 1, 31, "'M' is not declared"},
        {".entry k() { add.s32 r, r, 1; }\n.reg .s32 r;", 1, 22, "'r' is not declared"},
        {"/* x", 1, 1, "this comment is not closed"},
        {".file 1 \"x", 1, 9, "this string is not closed"},
        {".alias f, g;", 1, 1, "'g' is no function"},
        {".global .texref t;", 1, 9, "'.texref' is not supported in a declaration"},
        {"\x01", 1, 1, "unexpected byte 0x01"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_null(parse_bytes(cases[i].text, strlen(cases[i].text)));
        const struct diag_entry *entry = &diag.entries[0];
        diag_print(&diag, stderr);
        assert_string_equal(entry->text, cases[i].message);
        assert_int_equal(entry->at.line, cases[i].line);
        assert_int_equal(entry->at.column, cases[i].column);
    }
}

/* Several errors in one go, each in its place. */
static void several_errors(void **state)
{
    (void)state;
    static const char text[] = ".entry k() {\n"
                               "  wmma.load %r1;\n"
                               "  { add.q32 {%r1}, 2; }\n"
                               "  ret\n"
                               "}\n"
                               ".global u32 x;\n"
                               ".func g() { .reg .b33 y; }\n";
    static const struct location places[] = {{2, 3}, {3, 8}, {5, 1}, {6, 9}, {7, 18}};
    assert_null(parse_bytes(text, strlen(text)));
    diag_print(&diag, stderr);
    assert_int_equal(diag.count, COUNT(places));
    for (size_t i = 0; i < COUNT(places); i++) {
        assert_int_equal(diag.entries[i].at.line, places[i].line);
        assert_int_equal(diag.entries[i].at.column, places[i].column);
    }
}

static struct ptx_function *find_function(const struct ptx_module *module, const char *name)
{
    for (const struct ptx_item *item = module->items; item; item = item->next)
        if (item->kind == PTX_ITEM_FUNCTION && strcmp(item->u.function->name, name) == 0)
            return item->u.function;
    fail_msg("no function %s", name);
    return NULL;
}

/* The report's listing 5.4: inner declarations hide outer ones from where they stand, inner labels in
 * their whole block. */
static void names_in_blocks(void **state)
{
    (void)state;
    const struct ptx_module *module = parse(".entry k() {\n"
                                            "  .reg .s32 r; .reg .pred p;\n"
                                            "  BLOCK:\n"
                                            "  {\n"
                                            "    add.s32 r, r, r;\n"
                                            "    bra.uni SKIP;\n"
                                            "    .reg .u64 r;\n"
                                            "  SKIP:\n"
                                            "    add.u64 r, r, r;\n"
                                            "    @!p bra BLOCK;\n"
                                            "    @p bra CONTINUE;\n"
                                            "  BLOCK:\n"
                                            "  }\n"
                                            "  CONTINUE:\n"
                                            "}\n");
    const struct ptx_statement *stm = find_function(module, "k")->body;
    while (stm->kind != PTX_BLOCK)
        stm = stm->next;
    const struct ptx_operand *operands[16];
    uint32_t count = 0;
    for (stm = stm->u.block; stm; stm = stm->next)
        if (stm->kind == PTX_INSTRUCTION)
            operands[count++] = stm->u.instruction.operands;
    assert_int_equal(count, 5);
    assert_int_equal(operands[0]->target.variable->at.line, 2);
    assert_int_equal(operands[1]->target.statement->at.line, 8);
    assert_int_equal(operands[2]->target.variable->at.line, 7);
    assert_int_equal(operands[3]->target.statement->at.line, 12);
    assert_int_equal(operands[4]->target.statement->at.line, 14);
}

/* %p1 of an inner block hides one of the outer %p<9>, as nvcc's inlined barriers have it. */
static void ranges(void **state)
{
    (void)state;
    const struct ptx_module *module = parse(".reg .b32 %r1<4>; .reg .b32 %r<10>; .entry k() {\n"
                                            "  .reg .pred %p<9>; mov.b32 %r12, %r1;\n"
                                            "  { .reg .pred %p1; not.pred %p1, %p2; }\n"
                                            "  not.pred %p1, %p8;\n"
                                            "}\n");
    const struct ptx_statement *stm = find_function(module, "k")->body->next;
    const struct ptx_operand *o = stm->u.instruction.operands;
    assert_string_equal(o->target.variable->name, "%r1");
    assert_int_equal(o->index, 2);
    assert_string_equal(o->next->target.variable->name, "%r");
    assert_int_equal(o->next->index, 1);
    o = stm->next->u.block->next->u.instruction.operands;
    assert_false(o->target.variable->is_range);
    assert_true(o->next->target.variable->is_range);
    assert_int_equal(o->next->index, 2);
    o = stm->next->next->u.instruction.operands;
    assert_true(o->target.variable->is_range);
    assert_int_equal(o->index, 1);
}

/* A call sees the definition, though only a declaration stands before it. */
static void definitions(void **state)
{
    (void)state;
    const struct ptx_module *module =
        parse(".func f(.param .b32 x);\n.entry k() { .param .b32 a; call f, (a); exit; }\n"
              ".func f(.param .b32 x) { ret; }\n");
    const struct ptx_operand *o = find_function(module, "k")->body->next->u.instruction.operands;
    assert_int_equal(o->target_kind, PTX_TARGET_FUNCTION);
    assert_true(o->target.function->has_body);
}

/* Words are found by binary search, and every pattern of the table can be read. */
static void tables(void **state)
{
    (void)state;
    for (int i = 1; i < PTX_WORD_COUNT; i++) {
        assert_true(i == 1 || strcmp(ptx_words[i - 1], ptx_words[i]) < 0);
        assert_int_equal(ptx_word_find(ptx_words[i], strlen(ptx_words[i])), i);
    }
    for (int i = 0; i < PTX_FORM_COUNT; i++) {
        const char *modifiers = ptx_forms[i].modifiers, *operands = ptx_forms[i].operands;
        const uint8_t words[PTX_SLOT_COUNT] = {0};
        uint32_t slots = 0;
        struct ptx_group group;
        struct ptx_item_pattern item;
        while (ptx_group_next(&modifiers, &group)) {
            assert_false(slots & 1u << group.slot); /* one group a slot */
            slots |= 1u << group.slot;
            for (size_t at = 0; at < group.length;) {
                const char *bar = memchr(group.words + at, '|', group.length - at);
                size_t size = bar ? (size_t)(bar - group.words) - at : group.length - at;
                assert_int_not_equal(ptx_word_find(group.words + at, size), PTX_W_NONE);
                at += size + 1;
            }
        }
        while (ptx_item_next(&operands, words, &item))
            assert_true(item.kind != 0);
    }
}

static void corpus(void **state)
{
    (void)state;
    glob_t files;
    assert_int_equal(glob(SIMTFUZZ_SOURCE_DIR "/corpus/ptx/*.ptx", 0, NULL, &files), 0);
    assert_true(files.gl_pathc >= 10);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        size_t length;
        char *text = parse_read_file(&arena, files.gl_pathv[i], &length, &diag);
        assert_non_null(text);
        const struct ptx_module *module = parse_bytes(text, length);
        if (!module)
            diag_print(&diag, stderr);
        assert_non_null(module);
        round_trip(module);
    }
    globfree(&files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(canonical_text, setup, teardown),
        cmocka_unit_test_setup_teardown(refusals, setup, teardown),
        cmocka_unit_test_setup_teardown(refused_modules, setup, teardown),
        cmocka_unit_test_setup_teardown(several_errors, setup, teardown),
        cmocka_unit_test_setup_teardown(names_in_blocks, setup, teardown),
        cmocka_unit_test_setup_teardown(ranges, setup, teardown),
        cmocka_unit_test_setup_teardown(definitions, setup, teardown),
        cmocka_unit_test_setup_teardown(tables, setup, teardown),
        cmocka_unit_test_setup_teardown(corpus, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
