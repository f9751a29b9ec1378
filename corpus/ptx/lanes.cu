// Sum by one warp with __syncwarp() between its steps. RACY: one of them is missing.
#include "device.h"
KERNEL lanes(const int *in, int *out)
{
    __shared__ int part[32];
    unsigned t = threadIdx.x;
    part[t] = in[t];
    __syncwarp();
    for (unsigned half = 16; half > 0; half /= 2) {
        int other = t < half ? part[t + half] : 0;
#ifndef RACY
        __syncwarp();
#endif
        part[t] += other;
        __syncwarp();
    }
    if (t == 0)
        *out = part[0];
}
