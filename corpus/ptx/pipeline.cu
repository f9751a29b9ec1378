// A producer warp and a consumer warp with named barriers: bar.sync and bar.arrive with counts.
// simtfuzz: threads=64 warp=32 bind:pipeline_param_0=buffer:384:iota bind:pipeline_param_1=buffer:384 bind:pipeline_param_2=3
// expect: race_free, terminates
extern "C" __global__ void pipeline(const int *in, int *out, int rounds)
{
    __shared__ int slot[32];
    int lane = threadIdx.x % 32;
    for (int r = 0; r < rounds; r++) {
        if (threadIdx.x < 32) {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            slot[lane] = in[r * 32 + lane];
            asm volatile("bar.arrive 2, 64;" ::: "memory");
        } else {
            asm volatile("bar.arrive 1, 64;" ::: "memory");
            asm volatile("bar.sync 2, 64;" ::: "memory");
            out[r * 32 + lane] = slot[31 - lane] * 2;
        }
    }
}
