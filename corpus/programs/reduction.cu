// The sum of an array: each block adds up its part in shared memory, the host adds up the blocks.
#include <cstdio>
#include <vector>

const int THREADS = 128;

__global__ void sum(const int *data, int *parts, int n)
{
    __shared__ int cache[THREADS];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    cache[t] = i < n ? data[i] : 0;
    __syncthreads();
    for (int stride = THREADS / 2; stride > 0; stride /= 2) {
#ifdef BUG_OFF_BY_ONE
        if (t <= stride)
#else
        if (t < stride)
#endif
            cache[t] += cache[t + stride];
        __syncthreads();
    }
    if (t == 0)
        parts[blockIdx.x] = cache[0];
}

int main()
{
    const int n = 10000, blocks = (n + THREADS - 1) / THREADS;
    std::vector<int> data(n), parts(blocks);
    long expected = 0, got = 0;
    for (int i = 0; i < n; i++)
        expected += data[i] = i % 100;
    int *d, *p;
    cudaMalloc(&d, n * sizeof(int));
    cudaMalloc(&p, blocks * sizeof(int));
    cudaMemcpy(d, data.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    sum<<<blocks, THREADS>>>(d, p, n);
    cudaMemcpy(parts.data(), p, blocks * sizeof(int), cudaMemcpyDeviceToHost);
    for (int part : parts)
        got += part;
    printf("the sum is %ld, expected %ld\n", got, expected);
    cudaFree(d);
    cudaFree(p);
    return got != expected;
}
