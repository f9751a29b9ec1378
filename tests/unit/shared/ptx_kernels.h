/*
 * ptx_kernels.h - kernels of eight lanes around a few instructions, for tests.
 */
#ifndef TESTS_UNIT_PTX_KERNELS_H
#define TESTS_UNIT_PTX_KERNELS_H

#include "tests/unit/shared/ptx_machine.h"

#define MODULE ".version 7.0\n.target sm_70\n.address_size 64\n"
#define REGISTERS                                                                                  \
    ".reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<24>; .reg .b64 %d<24>;\n"                     \
    ".reg .f32 %f<8>; .reg .f64 %e<8>;\n"

/* Eight lanes; %r0 is the lane, %d0 the buffer `out` of 64 words, %d1 the lane's word in it. What is in %r1
 * at the end goes there. */
#define ENTRY                                                                                      \
    ".visible .entry k(.param .u64 out, .param .u32 n)\n{\n" REGISTERS                             \
    "ld.param.u64 %d0, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4;\n"                    \
    "add.u64 %d1, %d0, %d1;\n"
#define SETTINGS                                                                                   \
    "// simtfuzz: entry=k threads=8 warp=8 bind:out=buffer:256:zero bind:n=0x87654321\n"
#define LAST "st.global.u32 [%d1], %r1;\nexit;\n}\n"
#define KERNEL(declarations, body) SETTINGS MODULE declarations ENTRY body LAST

enum { LANES = 8 };

#define ALL(v)                                                                                     \
    {                                                                                              \
        v, v, v, v, v, v, v, v                                                                     \
    }
#define BYTES                                                                                      \
    ".global .align 8 .b8 g[16] = {1, 130, 3, 4, 255, 254, 253, 252, 9, 10, 11, 12, 13, 14, 15, "  \
    "16};\n"
#define WORDS ".global .align 16 .u32 w[8] = {10, 11, 12, 13, 14, 15, 16, 17};\n"

#endif
