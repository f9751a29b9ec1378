// c = a + b, as the first chapter of every tutorial has it.
#include <cstdio>
#include <cstdlib>

__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef BUG_UNCHECKED_SIZE
    c[i] = a[i] + b[i];
#else
    if (i < n)
        c[i] = a[i] + b[i];
#endif
}

int main()
{
    const int n = 50000;
    size_t bytes = n * sizeof(float);
    float *a = (float *)malloc(bytes), *b = (float *)malloc(bytes), *c = (float *)malloc(bytes);
    for (int i = 0; i < n; i++) {
        a[i] = i;
        b[i] = 2 * i;
    }
    float *da, *db, *dc;
    cudaMalloc(&da, bytes);
    cudaMalloc(&db, bytes);
    cudaMalloc(&dc, bytes);
    cudaMemcpy(da, a, bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(db, b, bytes, cudaMemcpyHostToDevice);
    int threads = 256, blocks = (n + threads - 1) / threads;
    add<<<blocks, threads>>>(da, db, dc, n);
    cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess)
        error = cudaMemcpy(c, dc, bytes, cudaMemcpyDeviceToHost);
    if (error != cudaSuccess) {
        printf("failed: %s\n", cudaGetErrorString(error));
        return 1;
    }
    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += c[i] != 3.0f * i;
    printf("%d of %d sums are wrong\n", wrong, n);
    cudaFree(da);
    cudaFree(db);
    cudaFree(dc);
    return wrong != 0;
}
