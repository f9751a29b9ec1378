// Counts of byte values, first in shared memory, then added to the global table.
// simtfuzz: threads=64 blocks=2 warp=32 bind:histogram_param_0=buffer:300:random bind:histogram_param_1=buffer:1024 bind:histogram_param_2=300
// expect: race_free, terminates
__kernel void histogram(__global const uchar *in, __global uint *table, uint n)
{
    __local uint mine[256];
    uint t = get_local_id(0);
    for (uint i = t; i < 256; i += get_local_size(0))
        mine[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_global_id(0); i < n; i += get_global_size(0))
        atomic_inc(&mine[in[i]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = t; i < 256; i += get_local_size(0))
        if (mine[i])
            atomic_add(&table[i], mine[i]);
}
