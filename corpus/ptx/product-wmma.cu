// A product of 32 x 32 bytes by tiles of 16 x 16, a warp each, with the fragments of mma.h. RACY: the tiles of two
// warps are the same one.
#include <mma.h>
using namespace nvcuda::wmma;
extern "C" __global__ void wmma(const signed char *a, const signed char *b, int *c)
{
    const int n = 32;
#ifdef RACY
    int row = 0, column = threadIdx.x / 64 * 16;
#else
    int row = threadIdx.x / 32 % 2 * 16, column = threadIdx.x / 64 * 16;
#endif
    fragment<matrix_a, 16, 16, 16, signed char, row_major> fa;
    fragment<matrix_b, 16, 16, 16, signed char, row_major> fb;
    fragment<accumulator, 16, 16, 16, int> fc;
    fill_fragment(fc, 0);
    for (int k = 0; k < n; k += 16) {
        load_matrix_sync(fa, a + row * n + k, n);
        load_matrix_sync(fb, b + k * n + column, n);
        mma_sync(fc, fa, fb, fc);
    }
    store_matrix_sync(c + row * n + column, fc, n, mem_row_major);
}
