// Counts of byte values, first in shared memory, then added to the global table.
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
