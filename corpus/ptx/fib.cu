// Recursion, of another depth in each lane. RACY: the result is added up without atomics.
#include "device.h"
static __device__ __noinline__ int fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
KERNEL recursion(int *out)
{
#ifdef RACY
    out[0] += fib(threadIdx.x & 7);
#else
    out[threadIdx.x] = fib(threadIdx.x & 7);
#endif
}
