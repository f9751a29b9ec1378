// Threads fill a tile by asynchronous copies that a barrier in shared memory waits for, and read each other's elements.
// EARLY: they arrive, and do not wait.
#include <cuda/barrier>
using barrier = cuda::barrier<cuda::thread_scope_block>;

extern "C" __global__ void stages(const int *in, int *out)
{
    __shared__ barrier bar;
    __shared__ alignas(16) int tile[64];
    if (threadIdx.x == 0)
        init(&bar, blockDim.x);
    __syncthreads();
    cuda::memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], cuda::aligned_size_t<4>(4), bar);
    barrier::arrival_token token = bar.arrive();
#ifdef EARLY
    (void)token;
#else
    bar.wait(std::move(token));
#endif
    out[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}
