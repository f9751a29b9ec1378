// kernel k0: 6 threads a block, 2 blocks, a buffer of 119 words:
// 0 3 -1 -2147483648 7 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 -3 -677615847 -3 1178660939 5 5 10 0 1 7 64 11 12 0 0 5 4 12 9 7 -2147483647 6 255 9 5 4 4 10 -244087384 -2 255 10 11 9 9 6 0 -1 6 -2 0 0
#ifdef SIMTFUZZ_BARE
typedef unsigned int uint;
typedef unsigned long ulong;
#define get_local_id(n) __nvvm_read_ptx_sreg_tid_x()
#define get_group_id(n) __nvvm_read_ptx_sreg_ctaid_x()
#define barrier(flags) __syncthreads()
#define atomic_add(p, v) __nvvm_atom_add_gen_i((int *)(p), v)
#endif
static int sf_div(int a, int b)
{
    return b == 0 ? 0 : b == -1 ? (int)(0u - (uint)a) : a / b;
}
static int sf_shr(int a, uint b)
{
    return a >> (b >= 32u ? 31u : b);
}

struct k0_private {
    int ended;
    uint v_own[2];
    ulong v_seen;
};

__constant const int k0_c_table[4] = {3, -1, (-2147483647 - 1), 7};
static __attribute__((noinline)) int k0_step(struct k0_private *p, __global int *v_total, __local int *v_data, __global int *v_ends, int l_a, int l_b);
static __attribute__((noinline)) int k0_step(struct k0_private *p, __global int *v_total, __local int *v_data, __global int *v_ends, int l_a, int l_b)
{
    int l_t;
    l_t = (int)(0);
    l_t = (int)(((((uint)(sf_div(l_a, l_b)) + (uint)((l_a % 3))) - (uint)(sf_shr(l_a, (uint)(l_b)))) + ((uint)(l_a) << 2u)));
    if ((l_t == 77)) {
        v_ends[(int)((((((uint)((int)(get_group_id(0))) * 6u) + (uint)((int)(get_local_id(0)))) * 6u) + 0u))] = (int)(p->v_own[0]);
        v_ends[(int)((((((uint)((int)(get_group_id(0))) * 6u) + (uint)((int)(get_local_id(0)))) * 6u) + 1u))] = (int)(p->v_own[1]);
        v_ends[(int)((((((uint)((int)(get_group_id(0))) * 6u) + (uint)((int)(get_local_id(0)))) * 6u) + 2u))] = (int)(p->v_seen);
        p->ended = 1; return 0;
    }
    p->v_seen = (ulong)(((uint)(p->v_seen) + 1u));
    return ((l_b != 0) ? l_t : (int)((0u - (uint)(l_t))));
    return 0;
}

static __attribute__((noinline)) void k0_body_of_kernel(struct k0_private *p, __global int *v_total, __local int *v_data, __global int *v_ends)
{
    uint l_trips;
    long l_i;
    int l_x;
    l_trips = (uint)(0);
    l_i = (long)(0);
    l_x = (int)(4);
    for (l_i = (long)(0); ((int)(l_i) < 3); l_i = (long)((int)(((uint)(l_i) + 1u)))) {
         {
            if (((int)(get_local_id(0) % 4u) == (int)(l_i))) {
                continue;
            }
            { int sf_value = k0_step(p, v_total, v_data, v_ends, v_data[(int)(get_local_id(0))], (int)(((uint)(l_i) - 1u))); if (p->ended) return; l_x = (int)(sf_value); }
            switch ((int)(((uint)(l_x) & 3u))) {
            case 0:
                l_x = (int)(((uint)(l_x) ^ (uint)(k0_c_table[(int)(((uint)(l_x) & 3u))])));
            case (-2147483647 - 1):
                break;
            default:
                v_data[(int)(get_local_id(0))] = (int)(((uint)((!(l_x != 0))) + ((~(uint)(p->v_seen)) * p->v_own[(int)(((uint)(l_i) & 1u))])));
            }
        }
        l_trips = ((l_trips * 31u) + ((1u + (uint)(l_i)) + (uint)(l_x)));
    }
    do {
        l_x = (int)(((uint)(l_x) - 1u));
        l_trips = ((l_trips * 31u) + ((1u + (uint)(l_i)) + (uint)(l_x)));
    } while ((((l_x > 0) && ((int)(get_group_id(0)) < 2)) || (l_x == (int)((((uint)(6) * (uint)(4)) + (uint)((int)(get_local_id(0) / 4u)))))));
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (((int)(get_local_id(0)) == 5)) {
        v_ends[(int)((((((uint)((int)(get_group_id(0))) * 6u) + (uint)((int)(get_local_id(0)))) * 6u) + 0u))] = (int)(p->v_own[0]);
        v_ends[(int)((((((uint)((int)(get_group_id(0))) * 6u) + (uint)((int)(get_local_id(0)))) * 6u) + 1u))] = (int)(p->v_own[1]);
        v_ends[(int)((((((uint)((int)(get_group_id(0))) * 6u) + (uint)((int)(get_local_id(0)))) * 6u) + 2u))] = (int)(p->v_seen);
        v_ends[(int)((((((uint)((int)(get_group_id(0))) * 6u) + (uint)((int)(get_local_id(0)))) * 6u) + 3u))] = (int)(l_trips);
        v_ends[(int)((((((uint)((int)(get_group_id(0))) * 6u) + (uint)((int)(get_local_id(0)))) * 6u) + 4u))] = (int)(l_i);
        v_ends[(int)((((((uint)((int)(get_group_id(0))) * 6u) + (uint)((int)(get_local_id(0)))) * 6u) + 5u))] = l_x;
        return;
    }
    while ((l_x != 0)) {
        l_x = 0;
        l_trips = ((l_trips * 31u) + ((1u + (uint)(l_i)) + (uint)(l_x)));
    }
    atomic_add(&v_total[0], (int)(p->v_own[0]));
    ;
    v_ends[(int)((((((uint)((int)(get_group_id(0))) * 6u) + (uint)((int)(get_local_id(0)))) * 6u) + 0u))] = (int)(p->v_own[0]);
    v_ends[(int)((((((uint)((int)(get_group_id(0))) * 6u) + (uint)((int)(get_local_id(0)))) * 6u) + 1u))] = (int)(p->v_own[1]);
    v_ends[(int)((((((uint)((int)(get_group_id(0))) * 6u) + (uint)((int)(get_local_id(0)))) * 6u) + 2u))] = (int)(p->v_seen);
    v_ends[(int)((((((uint)((int)(get_group_id(0))) * 6u) + (uint)((int)(get_local_id(0)))) * 6u) + 3u))] = (int)(l_trips);
    v_ends[(int)((((((uint)((int)(get_group_id(0))) * 6u) + (uint)((int)(get_local_id(0)))) * 6u) + 4u))] = (int)(l_i);
    v_ends[(int)((((((uint)((int)(get_group_id(0))) * 6u) + (uint)((int)(get_local_id(0)))) * 6u) + 5u))] = l_x;
}

__kernel __attribute__((reqd_work_group_size(6, 1, 1))) void k0(__global int *mem)
{
    __global int *v_total = mem + 0;
    __local int v_data[8];
    __global int *v_ends = mem + 5;
    struct k0_private self, *p = &self;
    p->ended = 0;
    const uint sf_grid = (uint)get_group_id(0) * 6u + (uint)get_local_id(0);
    p->v_own[0] = (uint)(mem[93u + sf_grid * 2u]);
    p->v_own[1] = (uint)(mem[94u + sf_grid * 2u]);
    p->v_seen = (ulong)(5);
    for (uint i = (uint)get_local_id(0); i < 8u; i += 6u) v_data[i] = mem[77u + (uint)get_group_id(0) * 8u + i];
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    k0_body_of_kernel(p, v_total, v_data, v_ends);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    for (uint i = (uint)get_local_id(0); i < 8u; i += 6u) mem[77u + (uint)get_group_id(0) * 8u + i] = v_data[i];
}
