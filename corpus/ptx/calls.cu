// Recursion, calls through a table, structures by value, printf, device tables with addresses.
// simtfuzz: threads=32 warp=32 bind:calls_param_1=buffer:128 bind:calls_param_2=1
// expect: race_free, terminates
#include <cstdio>
struct pair { int a; double b; };
__constant__ float weights[4] = {1, 2, 3, 4};
__device__ int numbers[4] = {1, 2, 3};
__device__ int *ends[2] = {numbers, numbers + 3};
__device__ __noinline__ int depth(int n) { return n <= 1 ? 1 : depth(n - 1) + depth(n - 2); }
__device__ __noinline__ int plus(int x, pair s) { return x + s.a + (int)s.b; }
__device__ __noinline__ int minus(int x, pair s) { return x - s.a; }
typedef int (*function)(int, pair);
__device__ function table[2] = {plus, minus};
extern "C" __global__ void __launch_bounds__(128, 2) calls(pair s, int *out, unsigned char kind)
{
    int i = threadIdx.x + threadIdx.y * blockDim.x;
    out[i] = table[kind & 1](i, s) + depth(i & 7) + *ends[kind >> 7];
    if (kind == 77)
        printf("%d %f\n", out[i], weights[i & 3] * s.b);
    if (kind == 99)
        __trap();
}
