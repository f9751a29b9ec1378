// Pointers to constant memory: nothing in the parameters says so, ld.const does.
// simtfuzz: threads=32 warp=32 bind:constants_param_0=buffer:128 bind:constants_param_1=buffer:64:iota bind:constants_param_2=buffer:64:iota
// expect: race_free, terminates, final constants_param_0 == {1, 6, 11, 16, 5, 10, 15, 20, 9, 14, 19, 24, 13, 18, 23, 28}
__kernel void constants(__global int *out, __constant int *words, __constant int4 *fours)
{
    int i = get_global_id(0);
    out[i] = words[i & 15] + fours[i & 3].y;
}
