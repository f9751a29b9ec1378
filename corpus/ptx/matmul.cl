// Tiled matrix multiplication, 16 x 16 threads a block.
// simtfuzz: threads=16x16 blocks=2x1 warp=32 bind:matmul_param_0=buffer:4096:iota bind:matmul_param_1=buffer:4096:iota bind:matmul_param_2=buffer:4096 bind:matmul_param_3=32
// expect: race_free, terminates
#define T 16
__kernel void matmul(__global const float *a, __global const float *b, __global float *c, int n)
{
    __local float as[T][T], bs[T][T];
    int x = get_local_id(0), y = get_local_id(1), col = get_global_id(0), row = get_global_id(1);
    float sum = 0.0f;
    for (int k = 0; k < n; k += T) {
        as[y][x] = a[row * n + k + x];
        bs[y][x] = b[(k + y) * n + col];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = 0; i < T; i++)
            sum = fma(as[y][i], bs[i][x], sum);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + col] = sum;
}
