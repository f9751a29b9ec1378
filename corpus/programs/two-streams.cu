// A vector goes through two streams: one scales it, the other one adds to it when the first one is done.
#include <cstdio>
#include <vector>

__global__ void scale(float *v, float factor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        v[i] *= factor;
}

__global__ void add(float *v, float more, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        v[i] += more;
}

int main()
{
    const int n = 1000;
    std::vector<float> v(n);
    for (int i = 0; i < n; i++)
        v[i] = i;
    float *dv;
    cudaStream_t first, second;
    cudaEvent_t scaled;
    cudaMalloc(&dv, n * sizeof(float));
    cudaStreamCreate(&first);
    cudaStreamCreate(&second);
    cudaEventCreate(&scaled);
    cudaMemcpy(dv, v.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    scale<<<4, 256, 0, first>>>(dv, 2, n);
    cudaEventRecord(scaled, first);
#ifndef BUG_NO_WAIT
    cudaStreamWaitEvent(second, scaled);
#endif
    add<<<4, 256, 0, second>>>(dv, 1, n);
    cudaMemcpy(v.data(), dv, n * sizeof(float), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += v[i] != 2.0f * i + 1;
    printf("%d of %d elements are wrong\n", wrong, n);
    cudaEventDestroy(scaled);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    cudaFree(dv);
    return wrong != 0;
}
