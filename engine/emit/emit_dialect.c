/*
 * emit_dialect.c - one row a language.
 *
 * SIMTFUZZ_BARE is for compilers that have no headers of the language: clang as a compiler of PTX alone. The texts are
 * then the same but for these definitions.
 */
#include "engine/emit/emit_internal.h"

/* Division is total (docs/kernel-language.md): x / 0 is 0, x % 0 is x, INT_MIN / -1 is INT_MIN. Shift counts from 32 on
 * shift everything out. */
static const struct emit_helper c_helpers[EMIT_HELPERS] = {
    {"sf_div", "int sf_div(int a, int b)\n"
               "{\n"
               "    return b == 0 ? 0 : b == -1 ? (int)(0u - (uint)a) : a / b;\n"
               "}\n"},
    {"sf_rem", "int sf_rem(int a, int b)\n"
               "{\n"
               "    return b == 0 ? a : b == -1 ? 0 : a % b;\n"
               "}\n"},
    {"sf_shl", "uint sf_shl(uint a, uint b)\n"
               "{\n"
               "    return b >= 32u ? 0u : a << b;\n"
               "}\n"},
    {"sf_shr", "int sf_shr(int a, uint b)\n"
               "{\n"
               "    return a >> (b >= 32u ? 31u : b);\n"
               "}\n"},
    {"sf_fadd", "uint sf_fadd(uint a, uint b)\n"
                "{\n"
                "    float low = (float)(a & 65535u) + (float)(b & 65535u);\n"
                "    float high = (float)(a >> 16u) + (float)(b >> 16u);\n"
                "    return ((uint)(high) << 16u) + (uint)(low);\n"
                "}\n"},
    {"sf_fsub", "uint sf_fsub(uint a, uint b)\n"
                "{\n"
                "    float low = 65536.0f + (float)(a & 65535u) - (float)(b & 65535u);\n"
                "    float high = 65536.0f + (float)(a >> 16u) - (float)(b >> 16u);\n"
                "    return ((uint)(high) << 16u) + (uint)(low) - 65536u;\n"
                "}\n"},
    {"sf_fmul", "uint sf_fmul(uint a, uint b)\n"
                "{\n"
                "    float low = (float)(b & 65535u);\n"
                "    float high = (float)(b >> 16u);\n"
                "    uint p0 = (uint)((float)(a & 255u) * low);\n"
                "    uint p1 = (uint)((float)(a & 255u) * high) << 16u;\n"
                "    uint p2 = (uint)((float)((a >> 8u) & 255u) * low) << 8u;\n"
                "    uint p3 = (uint)((float)((a >> 8u) & 255u) * high) << 24u;\n"
                "    uint p4 = (uint)((float)((a >> 16u) & 255u) * low) << 16u;\n"
                "    uint p5 = (uint)((float)((a >> 24u) & 255u) * low) << 24u;\n"
                "    return p0 + p1 + p2 + p3 + p4 + p5;\n"
                "}\n"},
    {"sf_fless", "int sf_fless(int a, int b)\n"
                 "{\n"
                 "    float ah = (float)(a >> 16);\n"
                 "    float bh = (float)(b >> 16);\n"
                 "    return ah < bh || (ah == bh && (float)(a & 65535) < (float)(b & 65535));\n"
                 "}\n"},
    {"sf_nadd",
     "uint sf_nadd(uint a, uint b)\n"
     "{\n"
     "    ushort low = (ushort)((ushort)a + (ushort)b);\n"
     "    ushort high = (ushort)((a >> 16u) + (b >> 16u) + (low < (ushort)a ? 1u : 0u));\n"
     "    return (uint)high << 16u | low;\n"
     "}\n"},
    {"sf_nxor", "uint sf_nxor(uint a, uint b)\n"
                "{\n"
                "    uchar v0 = (uchar)((uchar)a ^ (uchar)b);\n"
                "    uchar v1 = (uchar)((uchar)(a >> 8u) ^ (uchar)(b >> 8u));\n"
                "    ushort v2 = (ushort)((ushort)(a >> 16u) ^ (ushort)(b >> 16u));\n"
                "    return (uint)v2 << 16u | (uint)v1 << 8u | v0;\n"
                "}\n"},
    {"sf_nmul", "uint sf_nmul(uint a, uint b)\n"
                "{\n"
                "    ushort al = (ushort)a, bl = (ushort)b;\n"
                "    ushort high = (ushort)((a >> 16u) * bl + al * (b >> 16u));\n"
                "    return ((uint)high << 16u) + (uint)al * bl;\n"
                "}\n"},
    {"sf_nless", "int sf_nless(int a, int b)\n"
                 "{\n"
                 "    short ah = (short)(a >> 16), bh = (short)(b >> 16);\n"
                 "    return ah < bh || (ah == bh && (ushort)a < (ushort)b);\n"
                 "}\n"},
};

/* The remainder of a negative number is open there. */
static const struct emit_helper glsl_helpers[EMIT_HELPERS] = {
    {"sf_div", "int sf_div(int a, int b)\n"
               "{\n"
               "    return b == 0 ? 0 : b == -1 ? int(0u - uint(a)) : a / b;\n"
               "}\n"},
    {"sf_rem", "int sf_rem(int a, int b)\n"
               "{\n"
               "    return b == 0 ? a : b == -1 ? 0 : a - b * (a / b);\n"
               "}\n"},
    {"sf_shl", "uint sf_shl(uint a, uint b)\n"
               "{\n"
               "    return b >= 32u ? 0u : a << b;\n"
               "}\n"},
    {"sf_shr", "int sf_shr(int a, uint b)\n"
               "{\n"
               "    return a >> (b >= 32u ? 31u : b);\n"
               "}\n"},
    {"sf_fadd", "uint sf_fadd(uint a, uint b)\n"
                "{\n"
                "    float low = float(a & 65535u) + float(b & 65535u);\n"
                "    float high = float(a >> 16u) + float(b >> 16u);\n"
                "    return (uint(high) << 16u) + uint(low);\n"
                "}\n"},
    {"sf_fsub", "uint sf_fsub(uint a, uint b)\n"
                "{\n"
                "    float low = 65536.0f + float(a & 65535u) - float(b & 65535u);\n"
                "    float high = 65536.0f + float(a >> 16u) - float(b >> 16u);\n"
                "    return (uint(high) << 16u) + uint(low) - 65536u;\n"
                "}\n"},
    {"sf_fmul", "uint sf_fmul(uint a, uint b)\n"
                "{\n"
                "    float low = float(b & 65535u);\n"
                "    float high = float(b >> 16u);\n"
                "    uint p0 = uint(float(a & 255u) * low);\n"
                "    uint p1 = uint(float(a & 255u) * high) << 16u;\n"
                "    uint p2 = uint(float((a >> 8u) & 255u) * low) << 8u;\n"
                "    uint p3 = uint(float((a >> 8u) & 255u) * high) << 24u;\n"
                "    uint p4 = uint(float((a >> 16u) & 255u) * low) << 16u;\n"
                "    uint p5 = uint(float((a >> 24u) & 255u) * low) << 24u;\n"
                "    return p0 + p1 + p2 + p3 + p4 + p5;\n"
                "}\n"},
    {"sf_fless", "bool sf_fless(int a, int b)\n"
                 "{\n"
                 "    float ah = float(a >> 16u);\n"
                 "    float bh = float(b >> 16u);\n"
                 "    return ah < bh || (ah == bh && float(a & 65535) < float(b & 65535));\n"
                 "}\n"},
};

static const struct emit_helper wgsl_helpers[EMIT_HELPERS] = {
    {"sf_div", "fn sf_div(a: i32, b: i32) -> i32\n"
               "{\n"
               "    if (b == 0) {\n"
               "        return 0;\n"
               "    }\n"
               "    return select(a / b, i32(0u - u32(a)), b == -1);\n"
               "}\n"},
    {"sf_rem", "fn sf_rem(a: i32, b: i32) -> i32\n"
               "{\n"
               "    if (b == 0) {\n"
               "        return a;\n"
               "    }\n"
               "    return select(a % b, 0, b == -1);\n"
               "}\n"},
    {"sf_shl", "fn sf_shl(a: u32, b: u32) -> u32\n"
               "{\n"
               "    return select(a << (b & 31u), 0u, b >= 32u);\n"
               "}\n"},
    {"sf_shr", "fn sf_shr(a: i32, b: u32) -> i32\n"
               "{\n"
               "    return a >> min(b, 31u);\n"
               "}\n"},
    {"sf_put", "fn sf_put(place: ptr<private, i32>, value: i32) -> bool\n"
               "{\n"
               "    *place = value;\n"
               "    return true;\n"
               "}\n"},
    {"sf_take", "fn sf_take(chosen: bool, place: ptr<private, i32>) -> i32\n"
                "{\n"
                "    return *place;\n"
                "}\n"},
    {"sf_fadd", "fn sf_fadd(a: u32, b: u32) -> u32\n"
                "{\n"
                "    let low = f32(a & 65535u) + f32(b & 65535u);\n"
                "    let high = f32(a >> 16u) + f32(b >> 16u);\n"
                "    return (u32(high) << 16u) + u32(low);\n"
                "}\n"},
    {"sf_fsub", "fn sf_fsub(a: u32, b: u32) -> u32\n"
                "{\n"
                "    let low = 65536.0f + f32(a & 65535u) - f32(b & 65535u);\n"
                "    let high = 65536.0f + f32(a >> 16u) - f32(b >> 16u);\n"
                "    return (u32(high) << 16u) + u32(low) - 65536u;\n"
                "}\n"},
    {"sf_fmul", "fn sf_fmul(a: u32, b: u32) -> u32\n"
                "{\n"
                "    let low = f32(b & 65535u);\n"
                "    let high = f32(b >> 16u);\n"
                "    let p0 = u32(f32(a & 255u) * low);\n"
                "    let p1 = u32(f32(a & 255u) * high) << 16u;\n"
                "    let p2 = u32(f32((a >> 8u) & 255u) * low) << 8u;\n"
                "    let p3 = u32(f32((a >> 8u) & 255u) * high) << 24u;\n"
                "    let p4 = u32(f32((a >> 16u) & 255u) * low) << 16u;\n"
                "    let p5 = u32(f32((a >> 24u) & 255u) * low) << 24u;\n"
                "    return p0 + p1 + p2 + p3 + p4 + p5;\n"
                "}\n"},
    {"sf_fless", "fn sf_fless(a: i32, b: i32) -> bool\n"
                 "{\n"
                 "    let ah = f32(a >> 16u);\n"
                 "    let bh = f32(b >> 16u);\n"
                 "    return ah < bh || (ah == bh && f32(a & 65535) < f32(b & 65535));\n"
                 "}\n"},
};

static const char *const wgsl_votes[] = {
    "(@ && subgroupAny(@))",
    "(@ || subgroupAll(@))",
    "(((subgroupBallot(@)[sf_lane / 32u] >> (sf_lane % 32u)) & 1u) != 0u)",
    "(subgroupShuffle(select(0, 1, @), sf_lane) != 0)",
    "(subgroupMax(select(0, 1, @)) != 0 && @)",
    "(subgroupAnd(select(0u, 1u, @)) != 0u || @)",
    NULL,
};

static const char *const glsl_votes[] = {
    "(@ && subgroupAny(@))",
    "(@ || subgroupAll(@))",
    "subgroupInverseBallot(subgroupBallot(@))",
    "(subgroupShuffle(@ ? 1 : 0, gl_SubgroupInvocationID) != 0)",
    "(subgroupMax(@ ? 1 : 0) != 0 && @)",
    "subgroupBallotBitExtract(subgroupBallot(@), gl_SubgroupInvocationID)",
    "(subgroupAnd(@ ? 1u : 0u) != 0u || @)",
    NULL,
};

/* CUDA names the lanes that take part: here the lane itself, so that all others may be elsewhere. */
static const char *const cuda_votes[] = {
    "(__any_sync(1u << sf_lane(), @) != 0)",
    "(__all_sync(1u << sf_lane(), @) != 0)",
    "(__ballot_sync(1u << sf_lane(), @) != 0u)",
    "(__shfl_sync(1u << sf_lane(), (@) ? 1 : 0, sf_lane()) != 0)",
    NULL,
};

static const char opencl_prelude[] =
    "#ifdef SIMTFUZZ_BARE\n"
    "typedef unsigned int uint;\n"
    "typedef unsigned long ulong;\n"
    "#define get_local_id(n) __nvvm_read_ptx_sreg_tid_x()\n"
    "#define get_group_id(n) __nvvm_read_ptx_sreg_ctaid_x()\n"
    "#define get_local_size(n) __nvvm_read_ptx_sreg_ntid_x()\n"
    "#define get_num_groups(n) __nvvm_read_ptx_sreg_nctaid_x()\n"
    "typedef unsigned char uchar;\n"
    "typedef unsigned short ushort;\n"
    "#define barrier(flags) __syncthreads()\n"
    "#define mem_fence(flags) __nvvm_membar_gl()\n"
    "#define atomic_add(p, v) __nvvm_atom_add_gen_i((int *)(p), v)\n"
    "#define atomic_min(p, v) __nvvm_atom_min_gen_i((int *)(p), v)\n"
    "#define atomic_max(p, v) __nvvm_atom_max_gen_i((int *)(p), v)\n"
    "#define atomic_and(p, v) __nvvm_atom_and_gen_i((int *)(p), v)\n"
    "#define atomic_or(p, v) __nvvm_atom_or_gen_i((int *)(p), v)\n"
    "#define atomic_xchg(p, v) __nvvm_atom_xchg_gen_i((int *)(p), v)\n"
    "#define atomic_cmpxchg(p, c, v) __nvvm_atom_cas_gen_i((int *)(p), c, v)\n"
    "#endif\n";

static const char cuda_prelude[] =
    "#ifdef SIMTFUZZ_BARE\n"
    "#define __global__ __attribute__((global))\n"
    "#define __device__ __attribute__((device))\n"
    "#define __shared__ __attribute__((shared))\n"
    "#define __constant__ __attribute__((constant))\n"
    "#define __noinline__ __attribute__((noinline))\n"
    "#define __forceinline__ __attribute__((always_inline))\n"
    "#define __launch_bounds__(n) __attribute__((launch_bounds(n)))\n"
    "#define SF_THREAD __nvvm_read_ptx_sreg_tid_x()\n"
    "#define SF_BLOCK __nvvm_read_ptx_sreg_ctaid_x()\n"
    "#define SF_THREADS __nvvm_read_ptx_sreg_ntid_x()\n"
    "#define SF_BLOCKS __nvvm_read_ptx_sreg_nctaid_x()\n"
    "#define __threadfence() __nvvm_membar_gl()\n"
    "#define atomicAdd(p, v) __nvvm_atom_add_gen_i(p, v)\n"
    "#define atomicMin(p, v) __nvvm_atom_min_gen_i(p, v)\n"
    "#define atomicMax(p, v) __nvvm_atom_max_gen_i(p, v)\n"
    "#define atomicAnd(p, v) __nvvm_atom_and_gen_i(p, v)\n"
    "#define atomicOr(p, v) __nvvm_atom_or_gen_i(p, v)\n"
    "#define atomicExch(p, v) __nvvm_atom_xchg_gen_i(p, v)\n"
    "#define atomicCAS(p, c, v) __nvvm_atom_cas_gen_i(p, c, v)\n"
    "#define __any_sync __nvvm_vote_any_sync\n"
    "#define __all_sync __nvvm_vote_all_sync\n"
    "#define __ballot_sync __nvvm_vote_ballot_sync\n"
    "#define __shfl_sync(m, v, l) __nvvm_shfl_sync_idx_i32(m, v, l, 31)\n"
    "#else\n"
    "#define SF_THREAD threadIdx.x\n"
    "#define SF_BLOCK blockIdx.x\n"
    "#define SF_THREADS blockDim.x\n"
    "#define SF_BLOCKS gridDim.x\n"
    "#endif\n"
    "typedef unsigned char uchar;\n"
    "typedef unsigned short ushort;\n"
    "typedef unsigned int uint;\n"
    "static __device__ uint sf_lane() { uint lane; asm(\"mov.u32 %0, %%laneid;\" : \"=r\"(lane)); "
    "return lane; }\n";

const struct emit_dialect emit_dialects[EMIT_LANGUAGE_COUNT] =
    {
        [EMIT_OPENCL] =
            {
                .name = "opencl",
                .prelude = opencl_prelude,
                .casts = {"(int)", "(uint)", "(long)", "(ulong)", "(int)"},
                .types = {"int", "uint", "long", "ulong", "int"},
                .function_head = "static ",
                .noinline_head = "static __attribute__((noinline)) ",
                .inline_head = "static __attribute__((always_inline)) ",
                .kernel_head = "__kernel void ",
                .fixed_size = "__kernel __attribute__((reqd_work_group_size(%u, 1, 1))) void ",
                .global = "__global ",
                .shared = "__local ",
                .shared_variable = "__local ",
                .table = "__constant const ",
                .thread = "get_local_id(0)",
                .thread_uint = "(uint)get_local_id(0)",
                .block = "get_group_id(0)",
                .block_uint = "(uint)get_group_id(0)",
                .threads = "get_local_size(0)",
                .blocks = "get_num_groups(0)",
                .barrier = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)",
                .fence = "mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)",
                .atomics = {"atomic_add", "atomic_min", "atomic_max", "atomic_and", "atomic_or",
                            "atomic_xchg", "atomic_cmpxchg"},
                .helpers = c_helpers,
                .has_long = true,
                .has_signed_remainder = true,
                .has_pointers = true,
            },
        [EMIT_CUDA] =
            {
                .name = "cuda",
                .prelude = cuda_prelude,
                .casts = {"(int)", "(uint)", "(long long)", "(unsigned long long)", "(int)"},
                .types = {"int", "uint", "long long", "unsigned long long", "int"},
                .function_head = "static __device__ ",
                .noinline_head = "static __device__ __noinline__ ",
                .inline_head = "static __device__ __forceinline__ ",
                .kernel_head = "extern \"C\" __global__ void ",
                .fixed_size = "extern \"C\" __global__ void __launch_bounds__(%u) ",
                .global = "",
                .shared = "",
                .shared_variable = "__shared__ ",
                .table = "__constant__ const ",
                .thread = "SF_THREAD",
                .thread_uint = "(uint)SF_THREAD",
                .block = "SF_BLOCK",
                .block_uint = "(uint)SF_BLOCK",
                .threads = "SF_THREADS",
                .blocks = "SF_BLOCKS",
                .barrier = "__syncthreads()",
                .fence = "__threadfence()",
                .atomics = {"atomicAdd", "atomicMin", "atomicMax", "atomicAnd", "atomicOr",
                            "atomicExch", "atomicCAS"},
                .votes = cuda_votes,
                .shuffle = "__shfl_sync(1u << sf_lane(), @, sf_lane())",
                .helpers = c_helpers,
                .has_recursion = true,
                .has_long = true,
                .has_signed_remainder = true,
                .has_pointers = true,
            },
        [EMIT_GLSL] =
            {
                .name = "glsl",
                .prelude = "#version 450\n"
                           "#extension GL_KHR_memory_scope_semantics : require\n"
                           "#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require\n"
                           "#extension GL_KHR_shader_subgroup_basic : require\n"
                           "#extension GL_KHR_shader_subgroup_vote : require\n"
                           "#extension GL_KHR_shader_subgroup_ballot : require\n"
                           "#extension GL_KHR_shader_subgroup_arithmetic : require\n"
                           "#extension GL_KHR_shader_subgroup_shuffle : require\n"
                           "#ifndef SF_KERNEL\n"
                           "#define SF_KERNEL 0\n"
                           "#endif\n",
                .casts = {"int", "uint", "int64_t", "uint64_t", "int"},
                .types = {"int", "uint", "int64_t", "uint64_t", "int"},
                .function_head = "",
                .noinline_head = "",
                .inline_head = "",
                .kernel_head = "layout(local_size_x_id = 0) in;",
                .fixed_size = "layout(local_size_x = %u) in;",
                .global = "",
                .shared = "",
                .shared_variable = "shared ",
                .table = "const ",
                .thread = "gl_LocalInvocationID.x",
                .thread_uint = "gl_LocalInvocationID.x",
                .block = "gl_WorkGroupID.x",
                .block_uint = "gl_WorkGroupID.x",
                .threads = "gl_WorkGroupSize.x",
                .blocks = "gl_NumWorkGroups.x",
                .barrier = "controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, "
                           "gl_StorageSemanticsBuffer | gl_StorageSemanticsShared, "
                           "gl_SemanticsAcquireRelease)",
                .fence = "memoryBarrier()",
                .atomics = {"atomicAdd", "atomicMin", "atomicMax", "atomicAnd", "atomicOr",
                            "atomicExchange", "atomicCompSwap"},
                .votes = glsl_votes,
                .shuffle = "subgroupShuffle(@, gl_SubgroupInvocationID)",
                .helpers = glsl_helpers,
            },
        [EMIT_WGSL] =
            {
                .name = "wgsl",
                .prelude = "enable subgroups;\n"
                           "diagnostic(off, subgroup_uniformity);\n",
                .casts = {"i32", "u32", NULL, NULL, "i32"},
                .types = {"i32", "u32", NULL, NULL, "i32"},
                .function_head = "",
                .noinline_head = "",
                .inline_head = "",
                .fixed_size = "@compute @workgroup_size(%u)\n",
                .thread = "sf_tid",
                .thread_uint = "sf_tid",
                .block = "sf_bid",
                .block_uint = "sf_bid",
                .threads = "threads",
                .blocks = "sf_blocks",
                .barrier = "storageBarrier(); workgroupBarrier()",
                .fence = "",
                .atomics = {"atomicAdd", "atomicMin", "atomicMax", "atomicAnd",
                            "atomicOr", "atomicExchange", NULL},
                .votes = wgsl_votes,
                .shuffle = "subgroupShuffle(@, sf_lane)",
                .helpers = wgsl_helpers,
                .has_signed_remainder = true,
                .is_wgsl = true,
            },
        [EMIT_BLOCKS] = {.name = "blocks", .prelude = ""},
        [EMIT_PTX] = {.name = "ptx",
                      .prelude = ".version 7.0\n.target sm_70\n.address_size 64\n",
                      .function_head = ""},
};

const char *const emit_language_names[EMIT_LANGUAGE_COUNT] = {
#define DIALECT(id, name, sentence) [EMIT_##id] = name,
#include "engine/emit/dialects.def"
#undef DIALECT
};
