// A counter that is no atomic, behind a lock that is one; a thread of each block takes it.
#include <cstdio>

struct Lock {
    int taken;

    __device__ void acquire()
    {
        while (atomicCAS(&taken, 0, 1) != 0)
            ;
#ifndef BUG_MISSING_FENCE
        __threadfence();
#endif
    }

    __device__ void release()
    {
#ifndef BUG_MISSING_FENCE
        __threadfence();
#endif
        atomicExch(&taken, 0);
    }
};

__global__ void visit(Lock *lock, int *visits)
{
#ifdef BUG_EVERY_LANE
    bool comes = true;
#else
    bool comes = threadIdx.x == 0;
#endif
    if (comes) {
        lock->acquire();
        *visits += 1;
        lock->release();
    }
}

int main()
{
    const int blocks = 20;
    Lock *lock;
    int *visits, seen = 0;
    cudaMalloc(&lock, sizeof(Lock));
    cudaMalloc(&visits, sizeof(int));
    cudaMemset(lock, 0, sizeof(Lock));
    cudaMemset(visits, 0, sizeof(int));
    visit<<<blocks, 32>>>(lock, visits);
    cudaError_t error = cudaMemcpy(&seen, visits, sizeof(int), cudaMemcpyDeviceToHost);
    if (error != cudaSuccess) {
        printf("failed: %s\n", cudaGetErrorString(error));
        return 1;
    }
    printf("%d visits, expected %d\n", seen, blocks);
    cudaFree(lock);
    cudaFree(visits);
    return seen != blocks;
}
