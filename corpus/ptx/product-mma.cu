// A product of 16 x 16 and 16 x 8 halves as the programming guide of tensor cores has it: a tile in shared memory,
// ldmatrix, mma.sync. RACY: no barrier behind the tile; DIVERGENT: half of the warp multiplies.
#include <cuda_fp16.h>
extern "C" __global__ void mma(const int *in, int *out)
{
    __shared__ __align__(16) half a[16][16], b[8][16];
    int t = threadIdx.x, lane = t % 32;
    for (int i = t; i < 256; i += blockDim.x)
        a[i / 16][i % 16] = __int2half_rn(in[i] % 7 - 3);
    for (int i = t; i < 128; i += blockDim.x)
        b[i / 16][i % 16] = __int2half_rn(in[i] % 5 - 2);
#ifndef RACY
    __syncthreads();
#endif
    unsigned ra[4], rb[2], pa = __cvta_generic_to_shared(&a[lane % 16][lane / 16 * 8]),
                           pb = __cvta_generic_to_shared(&b[lane % 8][lane / 8 % 2 * 8]);
    float c[4] = {1, 1, 1, 1};
#ifdef DIVERGENT
    if (lane < 16)
        return;
#endif
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3])
                 : "r"(pa));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(rb[0]), "=r"(rb[1]) : "r"(pb));
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
    int row = lane / 4, column = lane % 4 * 2;
    if (t < 32) {
        out[row * 8 + column] = (int)c[0];
        out[row * 8 + column + 1] = (int)c[1];
        out[(row + 8) * 8 + column] = (int)c[2];
        out[(row + 8) * 8 + column + 1] = (int)c[3];
    }
}
