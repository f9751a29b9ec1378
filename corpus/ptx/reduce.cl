// Sum of a block's elements in shared memory, a tree with a barrier a level.
// simtfuzz: threads=64 warp=32 bind:reduce_param_0=buffer:256 bind:reduce_param_1=buffer:4 bind:reduce_param_2=shared:256
// expect: race_free, terminates
__kernel void reduce(__global const float *in, __global float *out, __local float *tile)
{
    uint t = get_local_id(0);
    tile[t] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = get_local_size(0) / 2; step > 0; step /= 2) {
        if (t < step)
            tile[t] += tile[t + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (t == 0)
        out[get_group_id(0)] = tile[0];
}
