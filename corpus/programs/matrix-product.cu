// C = A B by tiles in shared memory.
#include <cstdio>
#include <vector>

const int TILE = 8;

__global__ void multiply(const float *A, const float *B, float *C, int n)
{
    __shared__ float a[TILE][TILE], b[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int t = 0; t < n / TILE; t++) {
        a[threadIdx.y][threadIdx.x] = A[row * n + t * TILE + threadIdx.x];
        b[threadIdx.y][threadIdx.x] = B[(t * TILE + threadIdx.y) * n + column];
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += a[threadIdx.y][k] * b[k][threadIdx.x];
#ifndef BUG_MISSING_BARRIER
        __syncthreads();
#endif
    }
    C[row * n + column] = sum;
}

int main()
{
    const int n = 32;
    std::vector<float> A(n * n), B(n * n), C(n * n);
    for (int i = 0; i < n * n; i++) {
        A[i] = i % 7;
        B[i] = i % 5;
    }
    float *dA, *dB, *dC;
    cudaMalloc(&dA, n * n * sizeof(float));
    cudaMalloc(&dB, n * n * sizeof(float));
    cudaMalloc(&dC, n * n * sizeof(float));
    cudaMemcpy(dA, A.data(), n * n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dB, B.data(), n * n * sizeof(float), cudaMemcpyHostToDevice);
    multiply<<<dim3(n / TILE, n / TILE), dim3(TILE, TILE)>>>(dA, dB, dC, n);
    cudaMemcpy(C.data(), dC, n * n * sizeof(float), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int k = 0; k < n; k++)
                sum += A[i * n + k] * B[k * n + j];
            wrong += C[i * n + j] != sum;
        }
    printf("%d elements of %d x %d are wrong\n", wrong, n, n);
    cudaFree(dA);
    cudaFree(dB);
    cudaFree(dC);
    return wrong != 0;
}
