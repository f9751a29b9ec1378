// Shuffles, votes and masks of a warp; atomics in several orders; fences; a spin lock.
// simtfuzz: threads=64 warp=32 bind:warp_param_0=buffer:512:iota bind:warp_param_1=buffer:8 bind:warp_param_2=64
// expect crs: race, terminates
#include <cuda/atomic>
__device__ int lock;
extern "C" __global__ void warp(int *data, float *sums, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = data[i];
    for (int d = 16; d > 0; d /= 2)
        x += __shfl_down_sync(0xffffffffu, x, d);
    if (__any_sync(__activemask(), x > n))
        data[i] = __ballot_sync(0xffffffffu, x & 1) + __popc(x) + __reduce_add_sync(0xffffffffu, x);
    if (__all_sync(0xffffffffu, x < n))
        data[i + 1] = __syncthreads_or(x) + __syncthreads_count(x);
    cuda::atomic_ref<int, cuda::thread_scope_device> counter(data[n]);
    counter.fetch_add(1, cuda::memory_order_release);
    data[n + 1] = counter.load(cuda::memory_order_acquire);
    atomicAdd(&sums[0], 1.5f);
    atomicMax(&data[n + 2], x);
    __threadfence();
    if (threadIdx.x == 0) {
        while (atomicCAS(&lock, 0, 1) != 0)
            ;
        __threadfence();
        data[n + 3]++;
        __threadfence();
        atomicExch(&lock, 0);
    }
    __syncwarp();
}
