// Bitonic sort of one block's keys in shared memory.
// simtfuzz: threads=64 warp=32 bind:bitonic_param_0=buffer:256:random bind:bitonic_param_1=shared:256
// expect: race_free, terminates
__kernel void bitonic(__global int *keys, __local int *tile)
{
    uint t = get_local_id(0), n = get_local_size(0);
    tile[t] = keys[get_global_id(0)];
    for (uint k = 2; k <= n; k *= 2)
        for (uint j = k / 2; j > 0; j /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            uint other = t ^ j;
            if (other > t) {
                int a = tile[t], b = tile[other];
                if ((a > b) == ((t & k) == 0)) {
                    tile[t] = b;
                    tile[other] = a;
                }
            }
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    keys[get_global_id(0)] = tile[t];
}
