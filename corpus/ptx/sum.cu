// Sum of a block's values by a tree in shared memory. RACY: no barrier between the rounds. DIVERGENT: the
// barrier stands where only half of the threads come.
#include "device.h"
KERNEL sum(const int *in, int *out)
{
    __shared__ int part[64];
    unsigned t = threadIdx.x;
    part[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s) {
            part[t] += part[t + s];
#ifdef DIVERGENT
            __syncthreads();
#endif
        }
#ifndef DIVERGENT
        SYNC_UNLESS_RACY();
#endif
    }
    if (t == 0)
        out[blockIdx.x] = part[0];
}
