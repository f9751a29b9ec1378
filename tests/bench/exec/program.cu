// Launches one of the kernels of kernels.h: product, reduction, histogram, scan, escape; SIZE as in speed.sh.
#include <cstdlib>
#include <cstring>

#define KERNEL __global__
#define GLOBAL
#define SHARED __shared__
#define BARRIER __syncthreads()
#define LOCAL_X ((int)threadIdx.x)
#define LOCAL_Y ((int)threadIdx.y)
#define GROUP_X ((int)blockIdx.x)
#define GROUP_Y ((int)blockIdx.y)
#define GROUPS_X ((int)gridDim.x)
#define ATOMIC_ADD(p, v) atomicAdd(p, v)
#define ATOMIC_ADD_SHARED(p, v) atomicAdd(p, v)
#include "kernels.h"

int main(int argc, char **argv)
{
    const char *what = argv[1];
    int n = atoi(argv[2]), cells = n * (n < 4096 ? n : 1);
    int *a, *b, *c;
    cudaMalloc(&a, 4 * cells);
    cudaMalloc(&b, 4 * cells);
    cudaMalloc(&c, 4 * cells);
    cudaMemset(a, 0, 4 * cells);
    cudaMemset(b, 0, 4 * cells);
    cudaMemset(c, 0, 4 * cells);
    dim3 square(n / TILE, n / TILE), tile(TILE, TILE);
    if (strcmp(what, "product") == 0)
        product<<<square, tile>>>((float *)a, (float *)b, (float *)c, n);
    else if (strcmp(what, "reduction") == 0)
        reduction<<<16, GROUP>>>(a, b, n);
    else if (strcmp(what, "histogram") == 0)
        histogram<<<16, GROUP>>>(a, b, n);
    else if (strcmp(what, "scan") == 0)
        scan<<<16, GROUP>>>(a, b, n);
    else
        escape<<<square, tile>>>(a, n);
    return cudaDeviceSynchronize() != cudaSuccess;
}
