// A histogram whose bins lie in the shared memory of a cluster's blocks, a part in each; launched in clusters of two.
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

namespace cg = cooperative_groups;
enum { BINS = 128 };

__global__ void count(const int *keys, int n, int *bins)
{
    extern __shared__ int part[];
    cg::cluster_group cluster = cg::this_cluster();
    const int size = BINS / cluster.num_blocks(), rank = cluster.block_rank();
    for (int i = threadIdx.x; i < size; i += blockDim.x)
        part[i] = 0;
    cluster.sync();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const int bin = keys[i] % BINS;
        int *theirs = cluster.map_shared_rank(part, bin / size);
        atomicAdd(&theirs[bin % size], 1);
    }
#ifndef BUG_NO_SECOND_SYNC
    cluster.sync();
#endif
    for (int i = threadIdx.x; i < size; i += blockDim.x)
        atomicAdd(&bins[rank * size + i], part[i]);
}

int main()
{
    const int n = 5000;
    std::vector<int> keys(n), expected(BINS), found(BINS);
    for (int i = 0; i < n; i++)
        expected[(keys[i] = i * 7919 % 1000) % BINS]++;
    int *d_keys, *d_bins;
    cudaMalloc(&d_keys, n * sizeof(int));
    cudaMalloc(&d_bins, BINS * sizeof(int));
    cudaMemcpy(d_keys, keys.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(d_bins, 0, BINS * sizeof(int));

    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {2, 1, 1};
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(8);
    config.blockDim = dim3(64);
    config.dynamicSmemBytes = BINS / 2 * sizeof(int);
    config.attrs = &attribute;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, count, (const int *)d_keys, n, d_bins);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        printf("failed: %s\n", cudaGetErrorString(error));
        return 1;
    }
    cudaMemcpy(found.data(), d_bins, BINS * sizeof(int), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < BINS; i++)
        wrong += found[i] != expected[i];
    printf("%d bins are wrong\n", wrong);
    cudaFree(d_keys);
    cudaFree(d_bins);
    return wrong != 0;
}
