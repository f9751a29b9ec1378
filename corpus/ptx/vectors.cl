// Vector loads and stores, integer conversions of all widths, division, a function that is called.
// simtfuzz: threads=32 warp=32 bind:vectors_param_0=buffer:512:iota bind:vectors_param_1=buffer:128:iota bind:vectors_param_2=buffer:512 bind:vectors_param_3=buffer:256:iota bind:vectors_param_4=buffer:16:iota
// expect: race_free, terminates
__attribute__((noinline)) long mix(long a, int b) { return a / (b | 1) + a % (b | 3); }
__kernel void vectors(__global const float4 *a, __global const uchar4 *b, __global float4 *c,
                      __global long *d, __global const short *table)
{
    int i = get_global_id(0);
    float4 x = a[i];
    uchar4 y = b[i];
    c[i] = (float4)(x.x + y.x, x.y / (1 + y.y), fabs(x.z) - y.z, x.w * (float)d[i]);
    d[i] = mix(d[i], table[i & 7]) + (long)x.x + (char)y.x + popcount(i) + clz(i) + rotate(i, 5);
}
