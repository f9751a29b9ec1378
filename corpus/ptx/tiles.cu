// Matrix product with tiles of 8x8 in shared memory. RACY: the next tile is loaded while others still read.
#include "device.h"
KERNEL tiles(const int *a, const int *b, int *c, int n)
{
    __shared__ int as[8][8], bs[8][8];
    int x = threadIdx.x, y = threadIdx.y;
    int column = blockIdx.x * 8 + x, row = blockIdx.y * 8 + y, sum = 0;
    for (int k = 0; k < n; k += 8) {
        as[y][x] = a[row * n + k + x];
        bs[y][x] = b[(k + y) * n + column];
        __syncthreads();
        for (int i = 0; i < 8; i++)
            sum += as[y][i] * bs[i][x];
        SYNC_UNLESS_RACY();
    }
    c[row * n + column] = sum;
}
