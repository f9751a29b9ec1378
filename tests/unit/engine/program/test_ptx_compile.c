/* PTX modules laid out: addresses, registers, memory, calls. What is refused, which register may be read first:
 * tests/cases/engine/program. */
#include "engine/program/ptx_code.h"
#include "tests/unit/shared/ptx_text.h"

#include <glob.h>
#include <stdlib.h>

#define HEAD ".version 7.8\n.target sm_80\n.address_size 64\n"

static const struct program *program;
static const struct ptx_code *code;
static const char *reason;

static const struct ast_kernel *kernel_of(const char *text)
{
    diag_init(&diag, "text", text, strlen(text));
    const struct ast_kernel *kernel = parse_kernel(&arena, text, strlen(text), &diag);
    if (!kernel) {
        diag_print(&diag, stderr);
        fail_msg("does not parse: %s", text);
    }
    return kernel;
}

static bool try_compile(const char *text)
{
    const struct ast_kernel *kernel = kernel_of(text);
    reason = NULL;
    program = ptx_compile(&arena, kernel, kernel->ptx->module, NULL, &reason);
    assert_int_equal(program == NULL, reason != NULL);
    code = program ? program->ptx : NULL;
    return program != NULL;
}

static void compile(const char *text)
{
    if (!try_compile(text))
        fail_msg("%s: %s", reason, text);
}

/* An entry with these settings and this body, its registers declared. */
static void compile_body(const char *settings, const char *variables, const char *body)
{
    compile(
        arena_printf(&arena,
                     "%s\n" HEAD "%s\n.entry k(.param .u64 a, .param .u32 n)\n{\n"
                     ".reg .pred %%p<4>; .reg .b16 %%h<4>; .reg .b32 %%r<8>; .reg .b64 %%d<8>;\n"
                     ".reg .f32 %%f<4>; .reg .f64 %%g<4>;\n%s\n}\n",
                     settings, variables, body));
}

static const struct ptx_op *op(uint32_t pc)
{
    assert_in_range(pc, 1, code->count - 1);
    return &code->ops[pc];
}

static uint64_t constant(const struct ptx_place *place)
{
    uint64_t value;
    assert_int_equal(place->kind, PTX_PLACE_CONST);
    if (place->bits == 32)
        return code->constant_rows[place->offset];
    memcpy(&value, &code->constant_rows[place->offset], sizeof value);
    return value;
}

static void assert_row(const struct ptx_place *place, uint32_t bits, uint32_t row)
{
    assert_int_equal(place->kind, PTX_PLACE_REGISTER);
    assert_int_equal(place->bits, bits);
    assert_int_equal(place->offset, row);
}

static const struct ptx_region *region(const struct ptx_regions *regions, const char *name)
{
    for (uint32_t i = 0; i < regions->count; i++)
        if (strcmp(regions->items[i].name, name) == 0)
            return &regions->items[i];
    fail_msg("no region of '%s'", name);
    return NULL;
}

/* ---- addresses ---- */

/* LOAD.L1, ISA.label: labels have no address of their own; those of inner blocks hide outer ones (T7). */
static void instructions_have_addresses_from_1(void **state)
{
    (void)state;
    compile_body("// simtfuzz: reg:p0=10 reg:%r1=1,2 warp=2 threads=2", "",
                 "@%p0 bra A;\n"        /* 1 */
                 "{ .reg .b32 %r1;\n"   /* another one */
                 "A: bra A;\n"          /* 2 */
                 "bra OUT; }\n"         /* 3 */
                 "A: mov.u32 %r1, 7;\n" /* 4 */
                 "OUT: @!%p0 bra A;\n"  /* 5 */
                 "END: ret;");          /* 6 */
    assert_int_equal(code->count, 7);
    assert_int_equal(op(1)->target, 4);
    assert_int_equal(op(2)->target, 2);
    assert_int_equal(op(3)->target, 5);
    assert_int_equal(op(5)->target, 4);
    assert_true(op(5)->guard_not && !op(1)->guard_not);
    assert_row(&op(1)->guard, 32, 0);
    assert_int_equal(op(6)->exec, PTX_EXEC_EXIT); /* LOAD.T5 */
    assert_string_equal(ptx_op_text(&arena, code, 5), "@!%p0 bra A;");
    assert_int_equal(program->stm_count, 7);
    for (uint32_t pc = 1; pc < code->count; pc++)
        assert_int_equal(program->stms[pc].line, code->ops[pc].line);
    /* lane 0, lane 1 */
    assert_int_equal(code->register_count, 2);
    const struct ptx_code_register *reg = &code->registers[0];
    assert_row(&reg->place, 32, 0);
    assert_int_equal(ptx_code_register_value(reg, 2, 0), 1);
    assert_int_equal(ptx_code_register_value(reg, 2, 1), 0);
    assert_int_equal(ptx_code_register_value(reg, 2, 2), 1);
}

static void values_of_registers_are_by_lane_or_thread(void **state)
{
    (void)state;
    compile_body("// simtfuzz: reg:p0=1 reg:r1=5,6,7,8 warp=2 threads=4", "",
                 "mov.pred %p1, %p0; mov.u32 %r2, %r1; ret;");
    for (uint32_t tid = 0; tid < 4; tid++) {
        assert_int_equal(ptx_code_register_value(&code->registers[0], 2, tid), 1);
        assert_int_equal(ptx_code_register_value(&code->registers[1], 2, tid), 5 + tid);
    }
    assert_false(try_compile("// simtfuzz: reg:q=1\n" HEAD ".entry k() { .reg .b32 r<2>; ret; }"));
    assert_non_null(strstr(reason, "no register 'q'"));
    assert_false(try_compile("// simtfuzz: reg:r2=1\n" HEAD ".entry k() { .reg .b32 r<2>; ret; }"));
    assert_false(try_compile("// simtfuzz: reg:p=2\n" HEAD ".entry k() { .reg .pred p; ret; }"));
    assert_non_null(strstr(reason, "'2' is no value of 'p'"));
}

/* LOAD.T5; a raw kernel is left as it is. */
static void functions_end(void **state)
{
    (void)state;
    compile_body("", "", "bra L; mov.u32 %r1, 1; L:");
    assert_int_equal(code->count, 4);
    assert_int_equal(op(1)->target, 3);
    assert_int_equal(op(3)->exec, PTX_EXEC_EXIT);
    assert_null(op(3)->statement);
    assert_int_equal(op(3)->line, 0);
    assert_string_equal(ptx_op_text(&arena, code, 3), "exit;");
    compile_body("// simtfuzz: raw", "", "bra L; @%p1 ret; L:");
    assert_int_equal(code->count, 3);
    assert_int_equal(op(1)->target, 3); /* nothing is there */
    assert_int_equal(op(2)->exec, PTX_EXEC_RET);
}

/* The report's program 5.7 and its indirect ones: labels and addresses in registers. */
static void raw_kernels_hold_program_addresses(void **state)
{
    (void)state;
    compile_body("// simtfuzz: raw reg:r1=3 stack=call,1,4", "",
                 "mov.u32 %r1, L; ssy L; L: bra %r1; call L; call %r1; preRet L; preBrk L;"
                 "sync; break; @%p1 ret; nop; exit;");
    static const uint8_t execs[] = {PTX_EXEC_ROWS,   PTX_EXEC_SSY,  PTX_EXEC_BRA,
                                    PTX_EXEC_CALL,   PTX_EXEC_CALL, PTX_EXEC_PRERET,
                                    PTX_EXEC_PREBRK, PTX_EXEC_SYNC, PTX_EXEC_BREAK,
                                    PTX_EXEC_RET,    PTX_EXEC_NOP,  PTX_EXEC_EXIT};
    for (uint32_t i = 0; i < sizeof execs; i++)
        assert_int_equal(op(i + 1)->exec, execs[i]);
    assert_int_equal(constant(&op(1)->sources[0]), 3);
    assert_int_equal(op(2)->target, 3);
    assert_int_equal(op(3)->target, 0);
    assert_row(&op(3)->sources[0], 32, 0);
    assert_int_equal(op(4)->target, 3);
    assert_true(code->explicit_flow);
    assert_int_equal(code->depth, LIMIT_CALL_DEPTH);
    assert_true(code->token_capacity >= 64);
    assert_false(try_compile(HEAD ".entry k() { L: call L; ret; }"));
    assert_non_null(strstr(reason, "only in kernels with the setting 'raw' at line 4"));
}

static void tables_of_targets(void **state)
{
    (void)state;
    compile_body("", "",
                 "T: .branchtargets A, B, A; brx.idx %r1, T; A: nop; B: brx.idx %r2, T; C: ret;");
    assert_int_equal(op(1)->exec, PTX_EXEC_BRA);
    assert_int_equal(op(1)->table_count, 3);
    assert_int_equal(op(3)->table_count, 3);
    static const uint32_t targets[] = {2, 3, 2};
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(code->table[op(1)->table + i], targets[i]);
        assert_int_equal(code->table[op(3)->table + i], targets[i]);
    }
    assert_int_equal(op(1)->target, 0);
    assert_row(&op(1)->sources[0], 32, 0);
}

/* ---- operands ---- */

static void operands_have_places(void **state)
{
    (void)state;
    compile_body("// simtfuzz: threads=4x2 blocks=3 warp=4", "",
                 "mov.u32 %r1, %tid.y;\n"
                 "mov.u32 %r2, %ntid.y;\n"
                 "cvt.u64.u32 %d1, %nctaid.x;\n"
                 "mov.u32 %r3, WARP_SZ;\n"
                 "mov.u32 %r4, %nwarpid;\n"
                 "add.s64 %d2, %d1, -1;\n"
                 "mul.wide.s32 %d3, %r1, -2;\n"
                 "mov.b64 %d4, {%r1, %r2};\n"
                 "mov.b64 {%r1, _}, %d4;\n"
                 "fma.rn.f32 %f1, %f2, 2.0, 0f3F800000;\n"
                 "add.f64 %g1, %g2, 0f3F800000;\n"
                 "setp.lt.and.s32 %p1|%p2, %r1, 5, !%p3;\n"
                 "add.cc.u32 %r1, %r2, %r3;\n"
                 "addc.u32 %r1, %r2, %r3;\n"
                 "lop3.b32 %r1, %r2, %r3, %r4, 150;\n"
                 "mov.u32 %r5, %lanemask_lt;\n"
                 "mov.u32 %r6, %tid.y;\n"
                 "mov.b16 %h1, -1;\n"
                 "ret;");
    assert_int_equal(op(1)->sources[0].kind, PTX_PLACE_SPECIAL);
    assert_int_equal(code->specials[op(1)->sources[0].offset].special, PTX_SPECIAL_TID);
    assert_int_equal(code->specials[op(1)->sources[0].offset].element, 'y');
    assert_int_equal(op(17)->sources[0].offset, op(1)->sources[0].offset);
    assert_int_equal(constant(&op(2)->sources[0]), 2);
    assert_int_equal(constant(&op(3)->sources[0]), 3);
    assert_int_equal(op(3)->sources[0].bits, 32);
    assert_int_equal(constant(&op(4)->sources[0]), 4);
    assert_int_equal(constant(&op(5)->sources[0]), 2);
    assert_int_equal(constant(&op(6)->sources[1]), UINT64_MAX);
    assert_int_equal(op(6)->sources[1].bits, 64);
    assert_int_equal(constant(&op(7)->sources[1]), 0xfffffffeu);
    assert_int_equal(op(8)->source_count, 2);
    assert_int_equal(op(8)->results[0].bits, 64);
    assert_int_equal(op(9)->result_count, 2);
    assert_int_equal(op(9)->results[1].kind, PTX_PLACE_NONE);
    assert_int_equal(constant(&op(10)->sources[1]), 0x40000000u);
    assert_int_equal(constant(&op(10)->sources[2]), 0x3f800000u);
    assert_int_equal(constant(&op(11)->sources[1]), 0x3ff0000000000000u);
    assert_int_equal(op(12)->result_count, 2);
    assert_int_equal(op(12)->source_count, 3);
    assert_int_equal(op(13)->result_count, 2); /* the carry is the last one */
    assert_int_equal(op(14)->source_count, 3);
    assert_int_equal(op(13)->results[1].offset, op(14)->sources[2].offset);
    assert_int_equal(op(15)->source_count, 3);
    assert_int_equal(op(15)->row.immediate, 150);
    assert_int_equal(constant(&op(18)->sources[0]), 0xffff);
    for (uint32_t pc = 1; pc < code->count; pc++)
        for (uint32_t i = 0; op(pc)->exec == PTX_EXEC_ROWS && i < op(pc)->source_count; i++)
            assert_int_equal(op(pc)->sources[i].bits, op(pc)->row.source_bits[i]);
    assert_int_equal(code->stride, 4);
    for (uint32_t i = 0; i < 4; i++) /* all of the row */
        assert_int_equal(code->constant_rows[op(2)->sources[0].offset + i], 2);
}

static void accesses_are_described(void **state)
{
    (void)state;
    compile_body("// simtfuzz: bind:a=buffer:64",
                 ".global .u32 g[4];\n.shared .u64 s[2];\n.const .u32 c;",
                 ".local .align 8 .b8 l[12];\n"
                 "ld.global.s8 %h1, [%d1+-4];\n"
                 "ld.global.v2.u32 {%r1, _}, [g+8];\n"
                 "st.shared.u64 [s+8], 5;\n"
                 "ld.u16 %r1, [%d1];\n"
                 "ld.param.u64 %d1, [a];\n"
                 "ld.local.b32 %r1, [l+4];\n"
                 "ld.const.u32 %r1, [c];\n"
                 "ld.volatile.shared.u32 %r1, [64];\n"
                 "atom.global.cas.b32 %r1, [%d1], %r2, 1;\n"
                 "red.shared.add.u64 [s], %d1;\n"
                 "atom.add.f32 _, [%d1], %f1;\n"
                 "ld.u32 %r1, [s];\n"
                 "ldu.u32 %r1, [%d1];\n"
                 "ld.global.nc.f32 %f1, [%d1];\n"
                 "ret;");
    const struct ptx_region *g = region(&code->global, "g"), *s = region(&code->shared, "s");
    static const struct {
        uint32_t space, bytes, count, width;
        bool is_signed;
    } wanted[] = {
        {PTX_W_GLOBAL, 1, 1, 16, true},  {PTX_W_GLOBAL, 4, 2, 32, false},
        {PTX_W_SHARED, 8, 1, 0, false},  {PTX_W_NONE, 2, 1, 32, false},
        {PTX_W_CONST, 8, 1, 64, false},  {PTX_W_LOCAL, 4, 1, 32, false},
        {PTX_W_CONST, 4, 1, 32, false},  {PTX_W_SHARED, 4, 1, 32, false},
        {PTX_W_GLOBAL, 4, 1, 0, false},  {PTX_W_SHARED, 8, 1, 0, false},
        {PTX_W_NONE, 4, 1, 0, false},    {PTX_W_SHARED, 4, 1, 32, false},
        {PTX_W_GLOBAL, 4, 1, 32, false}, {PTX_W_GLOBAL, 4, 1, 32, false},
    };
    for (uint32_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        assert_int_equal(op(i + 1)->space, wanted[i].space);
        assert_int_equal(op(i + 1)->bytes, wanted[i].bytes);
        assert_int_equal(op(i + 1)->count, wanted[i].count);
        assert_int_equal(op(i + 1)->width, wanted[i].width);
        assert_int_equal(op(i + 1)->is_signed, wanted[i].is_signed);
    }
    assert_int_equal((int64_t)op(1)->offset, -4);
    assert_int_equal(op(1)->sources[0].bits, 64);
    assert_int_equal(op(2)->offset, g->address + 8);
    assert_int_equal(op(2)->sources[0].kind, PTX_PLACE_NONE);
    assert_int_equal(op(2)->results[1].kind, PTX_PLACE_NONE);
    assert_int_equal(op(3)->offset, s->address + 8);
    assert_int_equal(constant(&op(3)->sources[1]), 5);
    assert_int_equal(op(3)->sources[1].bits, 64);
    assert_int_equal(op(6)->sources[0].kind, PTX_PLACE_FRAME);
    assert_int_equal(op(6)->offset, 4);
    assert_int_equal(code->functions[0].locals.count, 1);
    assert_int_equal(code->functions[0].locals.items[0].bytes, 12);
    assert_int_equal(code->functions[0].frame_bytes, 16);
    assert_true(op(8)->is_volatile && !op(7)->is_volatile);
    assert_int_equal(op(8)->offset, 64);
    assert_int_equal(op(9)->source_count, 3);
    assert_int_equal(op(9)->mode, PTX_W_CAS);
    assert_int_equal(op(9)->atomic(7, 7, 9), 9);
    assert_int_equal(op(10)->result_count, 0);
    assert_int_equal(op(11)->results[0].kind, PTX_PLACE_NONE);
    assert_int_equal(program->units, 4);
    assert_true(program->has_atomics);
    /* g is variable 0, the buffer 1, s 2 */
    assert_int_equal(program->stms[2].reads, 1);
    assert_int_equal(program->stms[3].writes, 4);
    assert_int_equal(program->stms[3].reads, 0);
    assert_int_equal(program->stms[4].reads, 7);
    assert_int_equal(program->stms[9].writes, 3);
    assert_int_equal(program->stms[6].reads, 0);
}

static void barriers_and_warps(void **state)
{
    (void)state;
    compile_body(
        "", "",
        "bar.sync 0; bar.sync 1, 64; bar.arrive %r1, 32; bar.red.popc.u32 %r1, 2, !%p1;\n"
        "barrier.red.and.aligned.pred %p2, 3, 64, %p1; bar.warp.sync -1;\n"
        "vote.sync.all.pred %p1, !%p2, -1; vote.ballot.b32 %r1, %p1;\n"
        "shfl.sync.down.b32 %r1|%p1, %r2, 1, 31, -1; match.any.sync.b64 %r1, %d1, -1;\n"
        "redux.sync.min.s32 %r1, %r2, -1; activemask.b32 %r1; membar.gl; fence.sc.cta; ret;");
    assert_int_equal(program->barrier_count, 5);
    assert_int_equal(code->barriers, 0xffff);
    assert_true(code->has_named_barriers);
    assert_true(program->has_votes);
    assert_int_equal(op(1)->exec, PTX_EXEC_BAR_SYNC);
    assert_false(op(1)->has_count);
    assert_true(op(2)->has_count);
    assert_int_equal(constant(&op(2)->sources[1]), 64);
    assert_int_equal(op(3)->exec, PTX_EXEC_BAR_ARRIVE);
    assert_int_equal(op(4)->exec, PTX_EXEC_BAR_RED);
    assert_int_equal(op(4)->mode, PTX_W_POPC);
    assert_int_equal(op(4)->negated, 4);
    assert_int_equal(op(4)->sources[1].kind, PTX_PLACE_NONE);
    assert_false(op(4)->has_count);
    assert_true(op(5)->has_count);
    assert_int_equal(op(5)->sources[2].kind, PTX_PLACE_REGISTER);
    assert_int_equal(op(6)->exec, PTX_EXEC_BAR_WARP);
    assert_int_equal(op(7)->negated, 1);
    assert_int_equal(op(7)->source_count, 2);
    assert_int_equal(op(8)->source_count, 1);
    assert_int_equal(op(9)->result_count, 2);
    assert_int_equal(op(9)->source_count, 4);
    assert_int_equal(op(10)->bytes, 8);
    assert_true(op(11)->is_signed);
    assert_int_equal(op(12)->exec, PTX_EXEC_ACTIVEMASK);
    assert_int_equal(op(13)->exec, PTX_EXEC_MEMBAR);
}

/* Named is every use but that of barrier 0 by all. */
static void named_barriers_are_noted(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        bool named;
        uint32_t barriers;
    } cases[] = {
        {"bar.sync 0;", false, 1},       {"bar.sync 1;", true, 2},
        {"bar.sync 15;", true, 1 << 15}, {"bar.sync 0, 32;", true, 1},
        {"bar.arrive 0, 32;", true, 1},  {"bar.red.popc.u32 %r1, 0, %p1;", true, 1},
        {"bar.sync %r1;", true, 0xffff},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        compile_body("", "", arena_printf(&arena, "%s ret;", cases[i].body));
        if (code->has_named_barriers != cases[i].named || code->barriers != cases[i].barriers)
            fail_msg("%s: %x", cases[i].body, (unsigned)code->barriers);
    }
}

/* ---- memory ---- */

static void memory_is_dense_and_addresses_have_gaps(void **state)
{
    (void)state;
    compile_body("// simtfuzz: blocks=3 bind:a=buffer:10 shared=20",
                 ".global .u8 b[5];\n.global .align 512 .u32 g;\n.shared .u16 s[3];\n"
                 ".extern .shared .align 8 .b8 e[];\n.extern .shared .b32 e2[];\n.local .u32 m;\n",
                 "mov.u64 %d1, b; mov.u64 %d1, g; mov.u64 %d1, s; mov.u64 %d1, e; mov.u64 %d2, e2;"
                 "mov.u64 %d3, m; cvta.shared.u64 %d1, s; mov.u64 %d1, g+4; ret;");
    static const struct {
        const char *name;
        uint32_t bytes, word;
    } wanted[] = {{"b", 5, 0}, {"g", 4, 2}, {"a", 10, 3}};
    uint64_t end = PTX_FAR_GLOBAL_BASE;
    for (uint32_t i = 0; i < 3; i++) {
        const struct ptx_region *r = region(&code->global, wanted[i].name);
        assert_ptr_equal(r, &code->global.items[i]);
        assert_int_equal(r->bytes, wanted[i].bytes);
        assert_int_equal(r->word, wanted[i].word);
        assert_true(r->address >= end && r->address % 4 == 0);
        end = r->address + r->bytes + PTX_FAR_GAP;
        assert_string_equal(r->var->name, r->name);
    }
    assert_int_equal(region(&code->global, "g")->address % 512, 0);
    assert_int_equal(program->words[SPACE_GLOBAL], 6);
    assert_int_equal(program->words[SPACE_SHARED], 2 + 5);
    assert_int_equal(program->shared_base, 6);
    assert_int_equal(program->private_base, 6 + 3 * 7);
    assert_int_equal(program->words[SPACE_LOCAL], 4); /* m, rounded up to where frames start */
    assert_int_equal(code->frame_local_base, 16);
    assert_int_equal(program->memory_words, 27 + 4 * program->total_threads);
    /* both names of dynamic shared memory */
    assert_int_equal(constant(&op(4)->sources[0]), constant(&op(5)->sources[0]));
    assert_int_equal(constant(&op(3)->sources[0]), region(&code->shared, "s")->address);
    assert_int_equal(constant(&op(6)->sources[0]), 0);
    assert_int_equal(constant(&op(8)->sources[0]), region(&code->global, "g")->address + 4);
    uint64_t generic = 0;
    const void *const sources[PTX_ROW_SOURCES] = {&code->constant_rows[op(7)->sources[0].offset]};
    void *const results[PTX_ROW_RESULTS] = {&generic};
    op(7)->row.fn(1, results, sources, op(7)->row.immediate);
    assert_int_equal(generic, PTX_FAR_GAP + region(&code->shared, "s")->address);
    const struct program_location at = program_locate(program, 6 + 7 + 1);
    assert_string_equal(at.var->name, "s");
    assert_int_equal(at.block, 1);
    assert_string_equal(program_location_name(&arena, program, 6 + 7 + 1), "s[1] of block 1");
}

/* Behind 24 bits of a shared address stands the rank of its block, also where each block is a cluster. */
static void shared_addresses_leave_room_for_ranks(void **state)
{
    static const char *const uses[] = {"mapa.shared::cluster.u64 %d1, %d0, 0;",
                                       "getctarank.shared::cluster.u64 %r1, %d0;",
                                       "barrier.cluster.arrive;", "barrier.cluster.wait;"};
    (void)state;
    for (uint32_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        compile_body("", ".shared .u32 s, t;\n",
                     arena_printf(&arena, "mov.u64 %%d0, s; mov.u64 %%d0, t; %s ret;", uses[i]));
        assert_true(region(&code->shared, "t")->address >> PTX_CLUSTER_SHIFT == 0);
    }
}

/* More variables than there is room for at first. */
static void many_variables(void **state)
{
    (void)state;
    const char *variables = "", *uses = "";
    for (uint32_t i = 0; i < 150; i++) {
        variables = arena_printf(&arena, "%s.%s .u32 v%u;\n", variables,
                                 i % 3 ? "global" : "shared", (unsigned)i);
        uses = arena_printf(&arena, "%s mov.u64 %%d1, v%u;", uses, (unsigned)i);
    }
    compile_body("", variables, arena_printf(&arena, "%s ret;", uses));
    for (uint32_t i = 0; i < 150; i++) {
        const struct ptx_region *r =
            region(i % 3 ? &code->global : &code->shared, arena_printf(&arena, "v%u", (unsigned)i));
        assert_int_equal(constant(&op(i + 1)->sources[0]), r->address);
    }
}

static void locations_are_as_small_as_accesses(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        uint32_t units;
    } cases[] = {{"ld.global.u32 %r1, [%d1]; ret;", 1},
                 {"ld.global.u16 %h1, [%d1]; ret;", 2},
                 {"ld.global.u16 %h1, [%d1]; st.shared.u8 [%d1], %h1; ret;", 4},
                 {"ld.local.u8 %h1, [%d1]; ret;", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        compile_body("// simtfuzz: bind:a=buffer:16", "", cases[i].body);
        assert_int_equal(program->units, cases[i].units);
    }
    compile_body("// simtfuzz: bind:a=buffer:16", "", cases[2].body);
    assert_string_equal(program_location_name(&arena, program, 7), "a[1] byte 3");
}

static uint64_t bytes_at(const struct ptx_region *r, uint32_t offset, uint32_t bytes)
{
    uint64_t value = 0;
    for (uint32_t k = 0; k < bytes; k++) {
        uint32_t byte = r->word * 4 + offset + k;
        value |= (uint64_t)((uint32_t)code->initial[byte / 4] >> byte % 4 * 8 & 0xff) << k * 8;
    }
    return value;
}

/* LOAD.L5 */
static void memory_is_initialised(void **state)
{
    (void)state;
    compile_body("// simtfuzz: bind:a=buffer:12:iota bind:n=9 blocks=2 init:s=5,-6",
                 ".global .u8 b[5] = {1, 2, 255};\n.global .u16 m[2][3] = {{1, 2}, {4}};\n"
                 ".global .f32 f[2] = {1.5, 0f40000000};\n.global .f64 g = 0f3F800000;\n"
                 ".func fn() { ret; }\n.shared .u32 s[3];\n"
                 ".global .u64 p[3] = {b+1, generic(m), fn};\n.global .u8 q = 0xFF00(b);\n"
                 ".global .v2 .u32 v[2] = {{1, 2}, {3, 4}};\n.const .u32 c[] = {7, 8};\n",
                 "mov.u64 %d1, p; mov.u64 %d1, f; mov.u64 %d1, g; mov.u64 %d1, q; mov.u64 %d1, v;"
                 "mov.u64 %d1, c; mov.u64 %d1, s; ret;");
    const struct ptx_region *b = region(&code->global, "b"), *m = region(&code->global, "m");
    assert_int_equal(bytes_at(b, 0, 5), 0xff0201);
    static const uint16_t wanted[] = {1, 2, 0, 4, 0, 0};
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(bytes_at(m, 2 * i, 2), wanted[i]);
    assert_int_equal(bytes_at(region(&code->global, "f"), 0, 8), 0x400000003fc00000u);
    assert_int_equal(bytes_at(region(&code->global, "g"), 0, 8), 0x3ff0000000000000u);
    assert_int_equal(bytes_at(region(&code->global, "p"), 0, 8), b->address + 1);
    assert_int_equal(bytes_at(region(&code->global, "p"), 8, 8), m->address);
    assert_int_equal(bytes_at(region(&code->global, "p"), 16, 8), code->functions[1].entry);
    assert_int_equal(bytes_at(region(&code->global, "q"), 0, 1), b->address >> 8 & 0xff);
    assert_int_equal(bytes_at(region(&code->global, "v"), 8, 8), 0x400000003u);
    assert_int_equal(bytes_at(region(&code->global, "a"), 4, 8), 0x200000001u);
    const struct ptx_region *c = region(&code->constant, "c");
    assert_int_equal(c->bytes, 8);
    assert_int_equal(code->constants[c->word + 1], 8);
    assert_int_equal(code->constants[region(&code->constant, "n")->word], 9);
    const uint32_t *a = &code->constants[region(&code->constant, "a")->word];
    assert_int_equal(a[0] | (uint64_t)a[1] << 32, region(&code->global, "a")->address);
    for (uint32_t block = 0; block < 2; block++) {
        const int32_t *s = code->initial + program->shared_base + block * 3;
        assert_true(s[0] == 5 && s[1] == -6 && s[2] == 0);
    }
    int32_t *memory = ARENA_ARRAY(&arena, int32_t, program->memory_words);
    program_init_memory(program, memory);
    assert_memory_equal(memory, code->initial, program->private_base * sizeof *memory);
}

static void structs_are_given_as_words(void **state)
{
    (void)state;
    compile("// simtfuzz: bind:s=words:1,-2,0x30 bind:0=7\n" HEAD
            ".entry k(.param .u16 h, .param .align 8 .b8 s[18]) { ret; }\n");
    const struct ptx_region *s = region(&code->constant, "s");
    static const uint32_t wanted[] = {1, 0xfffffffeu, 0x30, 0, 0};
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(code->constants[s->word + i], wanted[i]);
    assert_int_equal(code->constants[region(&code->constant, "h")->word], 7);
}

static void random_buffers_depend_on_the_seed(void **state)
{
    (void)state;
    int32_t words[3][64];
    static const char *const seeds[] = {"1", "1", "2"};
    for (int i = 0; i < 3; i++) {
        compile_body(
            arena_printf(&arena, "// simtfuzz: bind:a=buffer:256:random seed=%s", seeds[i]), "",
            "ret;");
        memcpy(words[i], code->initial, sizeof words[i]);
    }
    assert_memory_equal(words[0], words[1], sizeof words[0]);
    assert_memory_not_equal(words[0], words[2], sizeof words[0]);
    const struct ptx_code_options options = {.initial = words[2]};
    const struct program *other =
        ptx_compile(&arena, program->core, code->module, &options, &reason);
    assert_memory_equal(other->ptx->initial, words[2], sizeof words[2]);
}

/* ---- calls ---- */

/* LOAD.T3: results first, then parameters, at the start of the callee's frame. */
static void parameters_are_copied(void **state)
{
    (void)state;
    compile(HEAD ".func (.param .b64 r) f(.param .b32 x, .param .align 8 .b8 y[12])\n"
                 "{ .reg .b32 %r; .local .u32 l; ld.param.u32 %r, [x]; st.param.b64 [r], 1;\n"
                 "  st.local.u32 [l], %r; ret; }\n"
                 ".func (.reg .b32 r) h(.reg .b64 x) { .reg .b32 %q; mov.b32 r, %q; ret; }\n"
                 ".entry k()\n{ .reg .b32 %r; .reg .b64 %d;\n"
                 "{ .param .b64 out; .param .b32 p0; .param .align 8 .b8 p1[12];\n"
                 "  st.param.b32 [p0], 4; st.param.b32 [p1+8], %r;\n"
                 "  call.uni (out), f, (p0, p1); ld.param.b64 %d, [out]; }\n"
                 "call (%r), h, (%d); call (_), h, (5); ret; }\n");
    const struct ptx_op *call = op(3);
    assert_int_equal(code->function_count, 3);
    assert_string_equal(code->functions[1].function->name, "f");
    assert_int_equal(call->exec, PTX_EXEC_CALL);
    assert_int_equal(call->target, code->functions[1].entry);
    assert_int_equal(call->back_count, 1);
    assert_int_equal(call->copy_count, 2);
    const struct ptx_copy *copies = code->copies + call->copy, *back = code->copies + call->back;
    assert_true(back->callee_byte == 0 && back->bytes == 8);
    assert_true(copies[0].callee_byte == 8 && copies[0].bytes == 4);
    assert_true(copies[1].callee_byte == 16 && copies[1].bytes == 12);
    assert_int_equal(copies[0].caller_byte, op(1)->sources[0].offset);
    assert_int_equal(copies[1].caller_byte, op(2)->sources[0].offset);
    assert_int_equal(back->caller_byte, op(4)->sources[0].offset);
    const struct ptx_code_function *f = &code->functions[1];
    assert_int_equal(f->frame_bytes, 32);
    assert_int_equal(f->locals.count, 4);
    assert_string_equal(f->locals.items[0].name, "r");
    assert_string_equal(f->locals.items[3].name, "l");
    assert_int_equal(f->locals.items[3].address, 28);
    copies = code->copies + op(5)->copy;
    back = code->copies + op(5)->back;
    assert_row(&copies[0].callee, 64, 0);
    assert_row(&copies[0].caller, 64, 0);
    assert_row(&back->callee, 32, 0);
    assert_int_equal(op(6)->back_count, 0);
    assert_int_equal(constant(&code->copies[op(6)->copy].caller), 5);
    assert_int_equal(code->depth, 2);
    assert_int_equal(code->frame_bytes, code->functions[0].frame_bytes + 32);
    assert_int_equal(code->rows.narrow,
                     code->functions[0].rows.narrow + code->functions[2].rows.narrow);
    assert_null(code->uninitialised ? NULL : ""); /* %r is read first, and so is %q */
}

static void calls_through_pointers(void **state)
{
    (void)state;
    compile(HEAD
            ".func (.param .b32 r) f(.param .b32 x) { ret; }\n"
            ".func (.param .b32 r) g(.param .b32 x) { ret; }\n"
            ".func h(.param .b32 x) { ret; }\n"
            ".entry k()\n{ .reg .b64 %d; .param .b32 p; .param .b32 q;\n"
            "T: .calltargets f, g; P: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
            "mov.u64 %d, h; mov.u64 %d, g; call (q), %d, (p), P; call (q), %d, (p), T; ret; }\n");
    assert_int_equal(constant(&op(1)->sources[0]), code->functions[3].entry);
    assert_int_equal(constant(&op(2)->sources[0]), code->functions[2].entry);
    assert_int_equal(op(3)->target, 0);
    assert_int_equal(op(3)->signature, code->functions[1].signature);
    assert_int_equal(op(4)->signature, code->functions[2].signature);
    assert_int_not_equal(op(3)->signature, code->functions[3].signature);
    assert_int_equal(op(3)->copy_count, 1);
    assert_int_equal(op(3)->back_count, 1);
    assert_int_equal(code->depth, 2);
}

/* What a pointer may call: parameters of other sizes, alignments or kinds are another signature. */
static void signatures_tell_parameters_apart(void **state)
{
    (void)state;
    static const char *const parameters[] = {
        "",
        ".param .b32 x",
        ".param .b64 x",
        ".param .b8 x",
        ".param .align 4 .b8 x[4]",
        ".param .align 8 .b8 x[4]",
        ".param .align 4 .b8 x[260]",
        ".param .b32 x, .param .b32 y",
        ".reg .b32 x",
        ".reg .b64 x",
    };
    enum { COUNT = sizeof parameters / sizeof parameters[0] };
    const char *text = HEAD, *uses = "";
    for (uint32_t i = 0; i < 2 * COUNT; i++) { /* two functions of each */
        text = arena_printf(&arena, "%s.func f%u(%s) { ret; }\n", text, (unsigned)i,
                            parameters[i % COUNT]);
        uses = arena_printf(&arena, "%s mov.u64 %%d, f%u;", uses, (unsigned)i);
    }
    compile(arena_printf(&arena, "%s.entry k() { .reg .b64 %%d;%s ret; }", text, uses));
    assert_int_equal(code->function_count, 1 + 2 * COUNT);
    for (uint32_t i = 1; i <= 2 * COUNT; i++)
        for (uint32_t j = 1; j <= 2 * COUNT; j++) {
            const char *a = code->functions[i].function->name + 1,
                       *b = code->functions[j].function->name + 1;
            bool same = code->functions[i].signature == code->functions[j].signature;
            const char *p = parameters[atoi(a) % COUNT], *q = parameters[atoi(b) % COUNT];
            if (same != (p == q))
                fail_msg("(%s), (%s)", p, q);
        }
}

static void recursion_is_bounded(void **state)
{
    (void)state;
    compile(HEAD ".func f(.param .b32 x);\n"
                 ".func f(.param .b32 x) { .reg .b32 %r<3>; .param .b32 p; mov.u32 %r1, 1;"
                 " st.param.b32 [p], %r1; call f, (p); ret; }\n"
                 ".entry k() { .param .b32 p; st.param.b32 [p], 1; call f, (p); ret; }\n");
    assert_int_equal(code->depth, LIMIT_CALL_DEPTH);
    assert_int_equal(code->rows.narrow, LIMIT_CALL_DEPTH - 1);
    assert_int_equal(code->frame_bytes, 16 * LIMIT_CALL_DEPTH);
    assert_true(program->recursive);
    assert_null(code->uninitialised);
}

/* Frames of calls among more functions than a word has bits: the entry calls f1 .. f69, of which the last calls
 * f70. */
static void many_functions(void **state)
{
    (void)state;
    const char *text = HEAD, *calls = "";
    for (uint32_t f = 1; f < 70; f++) {
        text = arena_printf(&arena, "%s.func f%u();\n", text, (unsigned)f);
        calls = arena_printf(&arena, "%s call f%u;", calls, (unsigned)f);
    }
    text = arena_printf(&arena,
                        "%s.func f70() { .reg .b32 %%r<3>; mov.u32 %%r0, 1; mov.u32 %%r1, 2;"
                        " mov.u32 %%r2, 3; ret; }\n",
                        text);
    for (uint32_t f = 1; f < 70; f++)
        text = arena_printf(&arena, "%s.func f%u() { .reg .b32 %%r; mov.u32 %%r, 1;%s ret; }\n",
                            text, (unsigned)f, f == 69 ? " call f70;" : "");
    compile(arena_printf(&arena, "%s.entry k() {%s ret; }", text, calls));
    assert_int_equal(code->function_count, 71);
    assert_int_equal(code->depth, 3);
    assert_int_equal(code->rows.narrow, 1 + 3);
}

static void functions_from_outside(void **state)
{
    (void)state;
    compile(HEAD
            ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
            ".extern .func __assertfail(.param .b64 a);\n"
            ".entry k() { .reg .b32 %r; .param .b64 p; .param .b32 q;\n"
            "call (q), vprintf, (p, p); call __assertfail, (p); ld.param.b32 %r, [q]; ret; }\n");
    assert_int_equal(op(1)->exec, PTX_EXEC_NOP);
    assert_int_equal(op(2)->exec, PTX_EXEC_TRAP);
    assert_false(try_compile(HEAD ".extern .func f();\n.entry k() { call f; ret; }"));
    assert_non_null(strstr(reason, "function 'f' has no body at line 5"));
    compile(HEAD ".func g() { ret; }\n.func f();\n.alias f, g;\n.entry k() { call f; ret; }\n");
    assert_int_equal(op(1)->target, code->functions[1].entry);
}

/* ---- real files ---- */

/* Every entry of every file, whatever its head says. */
static void all_entries_of_the_corpus(void **state)
{
    (void)state;
    static const char *const folders[] = {"ptx", "rules", "papers/*", "regress"};
    uint32_t entries = 0;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        glob_t files;
        const char *pattern =
            arena_printf(&arena, SIMTFUZZ_SOURCE_DIR "/corpus/%s/*.ptx", folders[i]);
        if (glob(pattern, 0, NULL, &files) != 0)
            continue;
        for (size_t f = 0; f < files.gl_pathc; f++) {
            size_t length, mark = arena_mark(&arena);
            const char *text = parse_read_file(&arena, files.gl_pathv[f], &length, &diag);
            assert_non_null(text);
            const struct ptx_module *module = parse_bytes(text, length);
            assert_non_null(module);
            for (const struct ptx_item *item = module->items; item; item = item->next) {
                if (item->kind != PTX_ITEM_FUNCTION || !item->u.function->is_entry)
                    continue;
                diag_init(&diag, files.gl_pathv[f], NULL, 0);
                const struct ast_kernel *kernel = ptx_kernel_new(
                    &arena, module, arena_printf(&arena, "entry=%s raw", item->u.function->name),
                    &diag);
                if (!kernel)
                    diag_print(&diag, stderr);
                assert_non_null(kernel);
                if (!ptx_compile(&arena, kernel, module, NULL, &reason))
                    fail_msg("%s: %s", files.gl_pathv[f], reason);
                entries++;
            }
            arena_release(&arena, mark);
        }
        globfree(&files);
    }
    printf("%u entries are laid out\n", entries);
    assert_true(entries >= 200);
}

/* ---- limits ---- */

static void too_many_instructions(void **state)
{
    (void)state;
    enum { COUNT = (1 << 17) + 8, LINE = 4 };
    char *body = ARENA_ARRAY(&arena, char, COUNT *LINE + 1);
    for (uint32_t i = 0; i < COUNT; i++)
        memcpy(body + i * LINE, "nop;", LINE);
    assert_false(try_compile(arena_printf(&arena, HEAD ".entry k() {\n%s ret; }\n", body)));
    assert_non_null(strstr(reason, "more than 131072 instructions"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions_have_addresses_from_1),
        cmocka_unit_test(values_of_registers_are_by_lane_or_thread),
        cmocka_unit_test(functions_end),
        cmocka_unit_test(raw_kernels_hold_program_addresses),
        cmocka_unit_test(tables_of_targets),
        cmocka_unit_test(operands_have_places),
        cmocka_unit_test(accesses_are_described),
        cmocka_unit_test(barriers_and_warps),
        cmocka_unit_test(memory_is_dense_and_addresses_have_gaps),
        cmocka_unit_test(shared_addresses_leave_room_for_ranks),
        cmocka_unit_test(locations_are_as_small_as_accesses),
        cmocka_unit_test(memory_is_initialised),
        cmocka_unit_test(structs_are_given_as_words),
        cmocka_unit_test(random_buffers_depend_on_the_seed),
        cmocka_unit_test(parameters_are_copied),
        cmocka_unit_test(calls_through_pointers),
        cmocka_unit_test(signatures_tell_parameters_apart),
        cmocka_unit_test(many_variables),
        cmocka_unit_test(recursion_is_bounded),
        cmocka_unit_test(functions_from_outside),
        cmocka_unit_test(named_barriers_are_noted),
        cmocka_unit_test(many_functions),
        cmocka_unit_test(all_entries_of_the_corpus),
        cmocka_unit_test(too_many_instructions),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
