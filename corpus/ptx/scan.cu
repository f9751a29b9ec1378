// Inclusive prefix sums (Hillis and Steele), two buffers. RACY: one buffer, read and written in one interval.
#include "device.h"
KERNEL scan(const int *in, int *out)
{
    __shared__ int a[2][64];
    unsigned t = threadIdx.x, from = 0;
    a[0][t] = in[t];
    __syncthreads();
    for (unsigned d = 1; d < blockDim.x; d *= 2) {
#ifdef RACY
        unsigned to = from;
#else
        unsigned to = 1 - from;
#endif
        a[to][t] = a[from][t] + (t >= d ? a[from][t - d] : 0);
        __syncthreads();
        from = to;
    }
    out[t] = a[from][t];
}
