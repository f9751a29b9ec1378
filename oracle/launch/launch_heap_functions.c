/*
 * launch_heap_functions.c - malloc and free of kernels, as functions in PTX.
 *
 * What is given has a granule of 16 bytes in front: its class, the next one that is free, and whether it is somebody's.
 * A class is a size: so many granules up to 64, above eight sizes to each power of two. Each class has a list of what
 * is free, and granules that were never given come one behind the other. At the start of the heap stand the number of
 * the first of these, in the place of class 0, the lists, each a granule's number and how often the list was changed,
 * and at the end of the table the limit. All of it is accessed by atomics and volatile, so that no thread races there.
 */
#include "oracle/launch/launch_heap.h"

#include <string.h>

enum { LIMIT_AT = HEAP_TABLE - 8 };

/* HEAP_TABLE and LIMIT_AT stand in it as numbers. */
static const char functions[] =
    ".extern .func " PTX_HEAP_GIVES "(.param .b64 address, .param .b64 bytes);\n"
    ".extern .func " PTX_HEAP_TAKES "(.param .b64 address);\n"
    ".visible .func (.param .b64 address) malloc(.param .b64 bytes)\n"
    "{\n"
    "\t.reg .pred %%p<2>;\n"
    "\t.reg .b32 %%r<8>;\n"
    "\t.reg .b64 %%rd<10>;\n"
    "\tmov.b64 %%rd0, %llu;\n"
    "\tld.param.b64 %%rd1, [bytes];\n"
    "\tmov.b64 %%rd2, 0;\n"
    "\tld.global.u64 %%rd9, [%%rd0+2040];\n"
    "\tadd.s64 %%rd3, %%rd1, -1;\n"
    "\tsetp.ge.u64 %%p1, %%rd3, %%rd9;\n" /* also of 0 bytes */
    "\t@%%p1 bra done;\n"
    "\tshr.u64 %%rd3, %%rd3, 4;\n"
    "\tcvt.u32.u64 %%r1, %%rd3;\n"
    "\tadd.s32 %%r1, %%r1, 1;\n"
    "\tmov.b32 %%r2, %%r1;\n"
    "\tsetp.le.u32 %%p1, %%r1, 64;\n"
    "\t@%%p1 bra known;\n"
    "\tclz.b32 %%r3, %%r1;\n"
    "\tsub.s32 %%r3, 28, %%r3;\n"
    "\tmov.b32 %%r4, 1;\n"
    "\tshl.b32 %%r4, %%r4, %%r3;\n"
    "\tadd.s32 %%r1, %%r1, %%r4;\n"
    "\tadd.s32 %%r1, %%r1, -1;\n"
    "\tshr.u32 %%r1, %%r1, %%r3;\n"
    "\tshl.b32 %%r1, %%r1, %%r3;\n"
    "\tclz.b32 %%r3, %%r1;\n"
    "\tsub.s32 %%r3, 28, %%r3;\n"
    "\tshr.u32 %%r2, %%r1, %%r3;\n"
    "\tmad.lo.s32 %%r2, %%r3, 8, %%r2;\n"
    "\tadd.s32 %%r2, %%r2, 33;\n" /* the first is 3 * 8 + 8 */
    "known:\n"
    "\tmul.wide.u32 %%rd4, %%r2, 8;\n"
    "\tadd.s64 %%rd4, %%rd4, %%rd0;\n"
    "again:\n"
    "\tld.volatile.global.u64 %%rd5, [%%rd4];\n"
    "\tcvt.u32.u64 %%r3, %%rd5;\n"
    "\tsetp.eq.s32 %%p1, %%r3, 0;\n"
    "\t@%%p1 bra fresh;\n"
    "\tmul.wide.u32 %%rd6, %%r3, 16;\n"
    "\tadd.s64 %%rd6, %%rd6, %%rd0;\n"
    "\tld.volatile.global.u32 %%r4, [%%rd6+4];\n"
    "\tshr.u64 %%rd7, %%rd5, 32;\n"
    "\tadd.s64 %%rd7, %%rd7, 1;\n"
    "\tshl.b64 %%rd7, %%rd7, 32;\n"
    "\tcvt.u64.u32 %%rd8, %%r4;\n"
    "\tor.b64 %%rd7, %%rd7, %%rd8;\n"
    "\tatom.global.cas.b64 %%rd8, [%%rd4], %%rd5, %%rd7;\n"
    "\tsetp.ne.s64 %%p1, %%rd8, %%rd5;\n"
    "\t@%%p1 bra again;\n"
    "\tbra given;\n"
    "fresh:\n"
    "\tld.volatile.global.u32 %%r3, [%%rd0];\n"
    "\tadd.s32 %%r4, %%r3, %%r1;\n"
    "\tadd.s32 %%r4, %%r4, 1;\n"
    "\tadd.s64 %%rd5, %%rd9, 2048;\n"
    "\tshr.u64 %%rd5, %%rd5, 4;\n"
    "\tcvt.u32.u64 %%r5, %%rd5;\n"
    "\tsetp.gt.u32 %%p1, %%r4, %%r5;\n"
    "\t@%%p1 bra done;\n"
    "\tatom.global.cas.b32 %%r5, [%%rd0], %%r3, %%r4;\n"
    "\tsetp.ne.s32 %%p1, %%r5, %%r3;\n"
    "\t@%%p1 bra fresh;\n"
    "\tmul.wide.u32 %%rd6, %%r3, 16;\n"
    "\tadd.s64 %%rd6, %%rd6, %%rd0;\n"
    "given:\n"
    "\tst.volatile.global.u32 [%%rd6], %%r2;\n"
    "\tst.volatile.global.u32 [%%rd6+8], 1;\n"
    "\tadd.s64 %%rd2, %%rd6, 16;\n"
    "\t{\n"
    "\t.param .b64 a;\n"
    "\t.param .b64 b;\n"
    "\tst.param.b64 [a], %%rd2;\n"
    "\tst.param.b64 [b], %%rd1;\n"
    "\tcall.uni " PTX_HEAP_GIVES ", (a, b);\n"
    "\t}\n"
    "done:\n"
    "\tst.param.b64 [address], %%rd2;\n"
    "\tret;\n"
    "}\n"
    ".visible .func free(.param .b64 address)\n"
    "{\n"
    "\t.reg .pred %%p<2>;\n"
    "\t.reg .b32 %%r<5>;\n"
    "\t.reg .b64 %%rd<10>;\n"
    "\tmov.b64 %%rd0, %llu;\n"
    "\tld.param.b64 %%rd1, [address];\n"
    "\tsetp.eq.s64 %%p1, %%rd1, 0;\n"
    "\t@%%p1 bra done;\n"
    "\t{\n"
    "\t.param .b64 a;\n"
    "\tst.param.b64 [a], %%rd1;\n"
    "\tcall.uni " PTX_HEAP_TAKES ", (a);\n"
    "\t}\n"
    /* What malloc has not given, or what is free already, stays as it is. */
    "\tld.global.u64 %%rd9, [%%rd0+2040];\n"
    "\tsub.s64 %%rd2, %%rd1, %%rd0;\n"
    "\tadd.s64 %%rd2, %%rd2, -16;\n"
    "\tsub.s64 %%rd3, %%rd2, 2048;\n"
    "\tsetp.ge.u64 %%p1, %%rd3, %%rd9;\n"
    "\t@%%p1 bra done;\n"
    "\tand.b64 %%rd3, %%rd2, 15;\n"
    "\tsetp.ne.s64 %%p1, %%rd3, 0;\n"
    "\t@%%p1 bra done;\n"
    "\tadd.s64 %%rd4, %%rd2, %%rd0;\n"
    "\tatom.global.cas.b32 %%r1, [%%rd4+8], 1, 0;\n"
    "\tsetp.ne.s32 %%p1, %%r1, 1;\n"
    "\t@%%p1 bra done;\n"
    "\tld.volatile.global.u32 %%r2, [%%rd4];\n"
    "\tmul.wide.u32 %%rd5, %%r2, 8;\n"
    "\tadd.s64 %%rd5, %%rd5, %%rd0;\n"
    "\tshr.u64 %%rd6, %%rd2, 4;\n"
    "again:\n"
    "\tld.volatile.global.u64 %%rd7, [%%rd5];\n"
    "\tcvt.u32.u64 %%r3, %%rd7;\n"
    "\tst.volatile.global.u32 [%%rd4+4], %%r3;\n"
    "\tshr.u64 %%rd8, %%rd7, 32;\n"
    "\tadd.s64 %%rd8, %%rd8, 1;\n"
    "\tshl.b64 %%rd8, %%rd8, 32;\n"
    "\tor.b64 %%rd8, %%rd8, %%rd6;\n"
    "\tatom.global.cas.b64 %%rd3, [%%rd5], %%rd7, %%rd8;\n"
    "\tsetp.ne.s64 %%p1, %%rd3, %%rd7;\n"
    "\t@%%p1 bra again;\n"
    "done:\n"
    "\tret;\n"
    "}\n";

const char *launch_heap_functions(struct arena *arena, uint64_t address)
{
    const unsigned long long start = address;
    return arena_printf(arena, functions, start, start);
}

void launch_heap_begin(void *memory, uint64_t limit)
{
    const uint32_t first = HEAP_TABLE / HEAP_GRANULE;
    memcpy(memory, &first, sizeof first);
    memcpy((char *)memory + LIMIT_AT, &limit, sizeof limit);
}
