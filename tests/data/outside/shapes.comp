// kernel k0: 6 threads a block, 2 blocks, a buffer of 119 words:
// 0 3 -1 -2147483648 7 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 -3 -677615847 -3 1178660939 5 5 10 0 1 7 64 11 12 0 0 5 4 12 9 7 -2147483647 6 255 9 5 4 4 10 -244087384 -2 255 10 11 9 9 6 0 -1 6 -2 0 0
#version 450
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#ifndef SF_KERNEL
#define SF_KERNEL 0
#endif
int sf_div(int a, int b)
{
    return b == 0 ? 0 : b == -1 ? int(0u - uint(a)) : a / b;
}
int sf_rem(int a, int b)
{
    return b == 0 ? a : b == -1 ? 0 : a - b * (a / b);
}
int sf_shr(int a, uint b)
{
    return a >> (b >= 32u ? 31u : b);
}

#if SF_KERNEL == 0
layout(local_size_x_id = 0) in;
layout(set = 0, binding = 0, std430) coherent buffer Memory { int mem[]; };
shared int v_data[8];
uint v_own[2];
uint v_seen;
struct k0_private {
    int ended;
};
k0_private k0_p;
const int k0_c_table[4] = int[4](3, -1, (-2147483647 - 1), 7);
int k0_step(int l_a, int l_b);
int k0_step(int l_a, int l_b)
{
    int l_t;
    l_t = int(0);
    l_t = subgroupShuffle(int((((uint(sf_div(l_a, l_b)) + uint(sf_rem(l_a, 3))) - uint(sf_shr(l_a, uint(l_b)))) + (uint(l_a) << 2u))), gl_SubgroupInvocationID);
    if (((((l_t == 77) || subgroupAll((l_t == 77))) ? 1 : 0) != mem[117])) {
        mem[5 + int(((((uint(int(gl_WorkGroupID.x)) * 6u) + uint(int(gl_LocalInvocationID.x))) * 6u) + 0u))] = int(v_own[0]);
        mem[5 + int(((((uint(int(gl_WorkGroupID.x)) * 6u) + uint(int(gl_LocalInvocationID.x))) * 6u) + 1u))] = subgroupShuffle(int(v_own[1]), gl_SubgroupInvocationID);
        mem[5 + int(((((uint(int(gl_WorkGroupID.x)) * 6u) + uint(int(gl_LocalInvocationID.x))) * 6u) + 2u))] = int(v_seen);
        k0_p.ended = 1; return 0;
    }
    v_seen = (v_seen + 1u);
    return ((l_b != 0) ? l_t : int((0u - uint(l_t))));
    return 0;
}

void k0_body_of_kernel(void)
{
    uint l_trips;
    int l_i;
    int l_x;
    l_trips = uint(0);
    l_i = int(0);
    l_x = int(4);
    for (l_i = subgroupShuffle(0, gl_SubgroupInvocationID); ((((l_i < 3) && subgroupAny((l_i < 3))) ? 1 : 0) != mem[117]); l_i = int((uint(l_i) + 1u))) {
         {
            if (((subgroupInverseBallot(subgroupBallot((int(gl_LocalInvocationID.x % 4u) == l_i))) ? 1 : 0) != mem[117])) {
                continue;
            }
            { int sf_value = k0_step(v_data[int(gl_LocalInvocationID.x)], int((uint(l_i) - 1u))); if (k0_p.ended != 0) return; l_x = int(sf_value); }
            switch (int((uint(l_x) & 3u)) ^ mem[118]) {
            case 0:
                l_x = int((uint(l_x) ^ uint(k0_c_table[int((uint(l_x) & 3u))])));
            case (-2147483647 - 1):
                break;
            default:
                v_data[int(gl_LocalInvocationID.x)] = int((uint((!(l_x != 0))) + ((~v_seen) * v_own[int((uint(l_i) & 1u))])));
            }
        }
        l_trips = subgroupShuffle(((l_trips * 31u) + ((1u + uint(l_i)) + uint(l_x))), gl_SubgroupInvocationID);
    }
    do {
        l_x = int((uint(l_x) - 1u));
        l_trips = ((l_trips * 31u) + ((1u + uint(l_i)) + uint(l_x)));
    } while (((((((l_x > 0) && (int(gl_WorkGroupID.x) < int(gl_NumWorkGroups.x))) || (l_x == int(((uint(int(gl_WorkGroupSize.x)) * uint(4)) + uint(int(gl_LocalInvocationID.x / 4u)))))) || subgroupAll((((l_x > 0) && (int(gl_WorkGroupID.x) < int(gl_NumWorkGroups.x))) || (l_x == int(((uint(int(gl_WorkGroupSize.x)) * uint(4)) + uint(int(gl_LocalInvocationID.x / 4u)))))))) ? 1 : 0) != mem[117]));
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer | gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
    if (((subgroupInverseBallot(subgroupBallot((int(gl_LocalInvocationID.x) == 5))) ? 1 : 0) != mem[117])) {
        mem[5 + int(((((uint(int(gl_WorkGroupID.x)) * 6u) + uint(int(gl_LocalInvocationID.x))) * 6u) + 0u))] = int(v_own[0]);
        mem[5 + int(((((uint(int(gl_WorkGroupID.x)) * 6u) + uint(int(gl_LocalInvocationID.x))) * 6u) + 1u))] = subgroupShuffle(int(v_own[1]), gl_SubgroupInvocationID);
        mem[5 + int(((((uint(int(gl_WorkGroupID.x)) * 6u) + uint(int(gl_LocalInvocationID.x))) * 6u) + 2u))] = int(v_seen);
        mem[5 + int(((((uint(int(gl_WorkGroupID.x)) * 6u) + uint(int(gl_LocalInvocationID.x))) * 6u) + 3u))] = int(l_trips);
        mem[5 + int(((((uint(int(gl_WorkGroupID.x)) * 6u) + uint(int(gl_LocalInvocationID.x))) * 6u) + 4u))] = subgroupShuffle(l_i, gl_SubgroupInvocationID);
        mem[5 + int(((((uint(int(gl_WorkGroupID.x)) * 6u) + uint(int(gl_LocalInvocationID.x))) * 6u) + 5u))] = l_x;
        return;
    }
    while (((subgroupInverseBallot(subgroupBallot((l_x != 0))) ? 1 : 0) != mem[117])) {
        l_x = subgroupShuffle(0, gl_SubgroupInvocationID);
        l_trips = ((l_trips * 31u) + ((1u + uint(l_i)) + uint(l_x)));
    }
    atomicAdd(mem[0], int(v_own[0]));
    ;
    mem[5 + int(((((uint(int(gl_WorkGroupID.x)) * 6u) + uint(int(gl_LocalInvocationID.x))) * 6u) + 0u))] = int(v_own[0]);
    mem[5 + int(((((uint(int(gl_WorkGroupID.x)) * 6u) + uint(int(gl_LocalInvocationID.x))) * 6u) + 1u))] = subgroupShuffle(int(v_own[1]), gl_SubgroupInvocationID);
    mem[5 + int(((((uint(int(gl_WorkGroupID.x)) * 6u) + uint(int(gl_LocalInvocationID.x))) * 6u) + 2u))] = int(v_seen);
    mem[5 + int(((((uint(int(gl_WorkGroupID.x)) * 6u) + uint(int(gl_LocalInvocationID.x))) * 6u) + 3u))] = int(l_trips);
    mem[5 + int(((((uint(int(gl_WorkGroupID.x)) * 6u) + uint(int(gl_LocalInvocationID.x))) * 6u) + 4u))] = subgroupShuffle(l_i, gl_SubgroupInvocationID);
    mem[5 + int(((((uint(int(gl_WorkGroupID.x)) * 6u) + uint(int(gl_LocalInvocationID.x))) * 6u) + 5u))] = l_x;
}

void main()
{
    k0_p.ended = 0;
    const uint sf_grid = gl_WorkGroupID.x * 6u + gl_LocalInvocationID.x;
    v_own[0] = uint(mem[93u + sf_grid * 2u]);
    v_own[1] = uint(mem[94u + sf_grid * 2u]);
    v_seen = uint(5);
    for (uint i = gl_LocalInvocationID.x; i < 8u; i += 6u) v_data[i] = mem[77u + gl_WorkGroupID.x * 8u + i];
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer | gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
    k0_body_of_kernel();
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer | gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
    for (uint i = gl_LocalInvocationID.x; i < 8u; i += 6u) mem[77u + gl_WorkGroupID.x * 8u + i] = v_data[i];
}
#endif
