// kernel k0: 6 threads a block, 2 blocks, a buffer of 47 words:
// 0 3 -1 -2147483648 7 -3 -677615847 -3 1178660939 5 5 10 0 1 7 64 11 12 0 0 5 4 12 9 7 -2147483647 6 255 9 5 4 4 10 -244087384 -2 255 10 11 9 9 6 0 -1 6 -2 0 0
#ifdef SIMTFUZZ_BARE
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define SF_THREAD __nvvm_read_ptx_sreg_tid_x()
#define SF_BLOCK __nvvm_read_ptx_sreg_ctaid_x()
#define SF_THREADS __nvvm_read_ptx_sreg_ntid_x()
#define SF_BLOCKS __nvvm_read_ptx_sreg_nctaid_x()
#define atomicAdd(p, v) __nvvm_atom_add_gen_i(p, v)
#else
#define SF_THREAD threadIdx.x
#define SF_BLOCK blockIdx.x
#define SF_THREADS blockDim.x
#define SF_BLOCKS gridDim.x
#endif
typedef unsigned int uint;
static __device__ int sf_div(int a, int b)
{
    return b == 0 ? 0 : b == -1 ? (int)(0u - (uint)a) : a / b;
}
static __device__ int sf_shr(int a, uint b)
{
    return a >> (b >= 32u ? 31u : b);
}

struct k0_private {
    int ended;
    uint v_own[2];
    uint v_seen;
};

static __device__ int k0_step(struct k0_private *p, int sf_zero, int sf_nought, int l_a, int l_b);
static __device__ int k0_step(struct k0_private *p, int sf_zero, int sf_nought, int l_a, int l_b)
{
    uint l_t;
    l_t = (uint)(0);
    l_t = ((((uint)(sf_div(l_a, l_b)) + (uint)((l_a % 3))) - (uint)(sf_shr(l_a, (uint)(l_b)))) + ((uint)(l_a) << 2u));
    if (((((int)(l_t) == 77) ? 1 : 0) != sf_zero)) {
        p->ended = 1; return 0;
    }
    p->v_seen = (p->v_seen + 1u);
    return ((l_b != 0) ? (int)(l_t) : (int)((0u - l_t)));
    return 0;
}

extern "C" __global__ void k0(int *mem)
{
    int *v_total = mem + 0;
    int *v_table = mem + 1;
    int *v_data = mem + 5u + (uint)SF_BLOCK * 8u;
    const int sf_zero = mem[45];
    const int sf_nought = mem[46];
    struct k0_private self, *p = &self;
    p->ended = 0;
    const uint sf_grid = (uint)SF_BLOCK * 6u + (uint)SF_THREAD;
    p->v_own[0] = (uint)(mem[21u + sf_grid * 2u]);
    p->v_own[1] = (uint)(mem[22u + sf_grid * 2u]);
    p->v_seen = (uint)(5);
    {
        uint l_i;
        uint l_x;
        l_i = (uint)(0);
        l_x = (uint)(4);
        for (l_i = 0u; ((((int)(l_i) < 3) ? 1 : 0) != sf_zero); l_i = (l_i + 1u)) {
            if (((((int)(SF_THREAD % 4u) == (int)(l_i)) ? 1 : 0) != sf_zero)) {
                continue;
            }
            { int sf_value = k0_step(p, sf_zero, sf_nought, v_data[(int)(SF_THREAD)], (int)((l_i - 1u))); if (p->ended) goto k0_end; l_x = (uint)(sf_value); }
            switch ((int)((l_x & 3u)) ^ sf_nought) {
            case 0:
                l_x = (l_x ^ (uint)(v_table[(int)((l_x & 3u))]));
            case (-2147483647 - 1):
                break;
            default:
                v_data[(int)(SF_THREAD)] = (int)(((uint)((!(l_x != 0u))) + ((~p->v_seen) * p->v_own[(int)((l_i & 1u))])));
            }
        }
        do {
            l_x = (l_x - 1u);
        } while (((((((int)(l_x) > 0) && ((int)(SF_BLOCK) < (int)(SF_BLOCKS))) || ((int)(l_x) == (int)((((uint)((int)(SF_THREADS)) * (uint)(4)) + (uint)((int)(SF_THREAD / 4u)))))) ? 1 : 0) != sf_zero));
        __syncthreads();
        if (((((int)(SF_THREAD) == 5) ? 1 : 0) != sf_zero)) {
            goto k0_end;
        }
        while ((((l_x != 0u) ? 1 : 0) != sf_zero)) {
            l_x = 0u;
        }
        atomicAdd(&v_total[0], (int)(p->v_own[0]));
        ;
    }
    k0_end:;
}
