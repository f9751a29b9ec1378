// Bitonic sort of 64 values in shared memory. RACY: no barrier between the rounds.
#include "device.h"
KERNEL sort(int *data)
{
    __shared__ int a[64];
    unsigned t = threadIdx.x;
    a[t] = data[t];
    __syncthreads();
    for (unsigned k = 2; k <= 64; k *= 2)
        for (unsigned j = k / 2; j > 0; j /= 2) {
            unsigned other = t ^ j;
            if (other > t) {
                int x = a[t], y = a[other];
                if ((x > y) == ((t & k) == 0)) {
                    a[t] = y;
                    a[other] = x;
                }
            }
            SYNC_UNLESS_RACY();
        }
    data[t] = a[t];
}
