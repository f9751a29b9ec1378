// Three-point stencil on a tile with its halo. RACY: the tile is read before all have written it.
#include "device.h"
KERNEL stencil(const int *in, int *out, int n)
{
    __shared__ int tile[34];
    int t = threadIdx.x, i = blockIdx.x * 32 + t;
    tile[t + 1] = i < n ? in[i] : 0;
    if (t == 0)
        tile[0] = i > 0 ? in[i - 1] : 0;
    if (t == 31)
        tile[33] = i + 1 < n ? in[i + 1] : 0;
    SYNC_UNLESS_RACY();
    if (i < n)
        out[i] = (tile[t] + 2 * tile[t + 1] + tile[t + 2]) / 4;
}
