// How often each byte occurs: atomics on counters of the block, then on those of the grid.
#include <cstdio>
#include <vector>

const int BINS = 64;

__global__ void count(const unsigned char *text, int length, unsigned *bins)
{
    __shared__ unsigned mine[BINS];
    if (threadIdx.x < BINS)
        mine[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < length; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[text[i] % BINS], 1);
    __syncthreads();
    if (threadIdx.x < BINS)
        atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

int main()
{
    const int length = 20000;
    std::vector<unsigned char> text(length);
    std::vector<unsigned> bins(BINS), expected(BINS);
    for (int i = 0; i < length; i++) {
        text[i] = (unsigned char)(i * i >> 3);
        expected[text[i] % BINS]++;
    }
    unsigned char *dtext;
    unsigned *dbins;
    cudaMalloc(&dtext, length);
    cudaMalloc(&dbins, BINS * sizeof(unsigned));
    cudaMemcpy(dtext, text.data(), length, cudaMemcpyHostToDevice);
#ifndef BUG_UNINITIALISED
    cudaMemset(dbins, 0, BINS * sizeof(unsigned));
#endif
    count<<<8, 128>>>(dtext, length, dbins);
    cudaMemcpy(bins.data(), dbins, BINS * sizeof(unsigned), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < BINS; i++)
        wrong += bins[i] != expected[i];
    printf("%d bins are wrong\n", wrong);
    cudaFree(dtext);
    cudaFree(dbins);
    return wrong != 0;
}
