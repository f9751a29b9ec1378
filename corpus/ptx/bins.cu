// Histogram with atomics in shared and global memory. RACY: plain increments. DIVERGENT: threads beyond the
// data leave before the barrier.
#include "device.h"
KERNEL bins(const int *in, int *out, int n)
{
    __shared__ int count[8];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t < 8)
        count[t] = 0;
    __syncthreads();
#ifdef DIVERGENT
    if (i >= n)
        return;
#endif
    if (i < n) {
#ifdef RACY
        count[in[i] & 7]++;
#else
        atomicAdd(&count[in[i] & 7], 1);
#endif
    }
    __syncthreads();
    if (t < 8)
        atomicAdd(&out[t], count[t]);
}
