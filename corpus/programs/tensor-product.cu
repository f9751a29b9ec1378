// A product of matrices of halves on tensor cores, as CUDA's programming guide has it: fragments of 16 x 16, a warp a
// tile of the result, the tiles of A and B in shared memory.
#include <cstdio>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

const int N = 64, TILE = 16, WARPS = 4; // a block has a row of tiles of 16 x 64

__global__ void multiply(const half *A, const half *B, float *C)
{
    __shared__ __align__(32) half a[TILE][TILE], b[TILE][N];
    int row = blockIdx.x * TILE, column = threadIdx.x / 32 * TILE;
    wmma::fragment<wmma::matrix_a, TILE, TILE, TILE, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, TILE, TILE, TILE, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, TILE, TILE, TILE, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    for (int k = 0; k < N; k += TILE) {
        for (int i = threadIdx.x; i < TILE * TILE; i += blockDim.x)
            a[i / TILE][i % TILE] = A[(row + i / TILE) * N + k + i % TILE];
        for (int i = threadIdx.x; i < TILE * N; i += blockDim.x)
            b[i / N][i % N] = B[(k + i / N) * N + i % N];
#ifndef BUG_MISSING_BARRIER
        __syncthreads();
#endif
#ifdef BUG_HALF_A_WARP
        if (threadIdx.x % 32 < 16)
            continue;
#endif
        wmma::load_matrix_sync(fa, &a[0][0], TILE);
        wmma::load_matrix_sync(fb, &b[0][column], N);
        wmma::mma_sync(fc, fa, fb, fc);
        __syncthreads();
    }
#ifdef BUG_STRIDE
    wmma::store_matrix_sync(C + row * N + column, fc, N + 8, wmma::mem_row_major);
#else
    wmma::store_matrix_sync(C + row * N + column, fc, N, wmma::mem_row_major);
#endif
}

int main()
{
    half *A, *B;
    float *C;
    int wrong = 0;
    cudaMallocManaged(&A, N * N * sizeof *A);
    cudaMallocManaged(&B, N * N * sizeof *B);
    cudaMallocManaged(&C, N * N * sizeof *C);
    for (int i = 0; i < N * N; i++) {
        A[i] = __float2half(i * 7 % 13 - 6); // whole numbers, whose products are exact on every GPU
        B[i] = __float2half(i * 5 % 11 - 5);
    }
    multiply<<<N / TILE, 32 * WARPS>>>(A, B, C);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess)
        printf("failed: %s\n", cudaGetErrorString(error));
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int k = 0; k < N; k++)
                sum += __half2float(A[i * N + k]) * __half2float(B[k * N + j]);
            wrong += C[i * N + j] != sum;
        }
    printf("%d elements of %d x %d are wrong\n", wrong, N, N);
    cudaFree(A);
    cudaFree(B);
    cudaFree(C);
    return error != cudaSuccess || wrong > 0;
}
