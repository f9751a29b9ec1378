// Floating point: roundings, approximations, conversions, double precision, bit fields, wide products.
// simtfuzz: threads=1 warp=1 bind:math_param_0=buffer:128:iota bind:math_param_1=buffer:64:iota bind:math_param_2=buffer:64:iota bind:math_param_3=buffer:128:iota bind:math_param_4=buffer:64:iota
// expect: race_free, terminates
extern "C" __global__ void math(float *f, double *d, long long *l, unsigned *u, short *s)
{
    int i = threadIdx.x;
    f[0] = __sinf(f[1]) + __cosf(f[2]) + __expf(f[3]) + __logf(f[4]) + rsqrtf(f[5]);
    f[6] = sqrtf(f[7]) / f[8] + __fdividef(f[9], f[10]) + fminf(f[11], fmaxf(f[12], 0.25f));
    f[13] = floorf(f[14]) + rintf(f[15]) + ceilf(f[16]) + truncf(f[17]) + copysignf(f[18], f[19]);
    d[0] = sqrt(d[1]) / d[2] + fma(d[3], d[4], (double)f[20]) + __dadd_rz(d[5], d[6]);
    l[0] = __mul64hi(l[1], l[2]) + (long long)u[0] * u[1] + llrint(d[7]) + l[3] / l[4];
    u[2] = __umulhi(u[3], u[4]) + __brev(u[5]) + __clz(u[6]) + __byte_perm(u[7], u[8], 0x1032);
    u[9] = __funnelshift_l(u[10], u[11], u[12]) + __float_as_uint(f[21]) + __float2uint_rz(f[22]);
    s[0] = (short)(s[1] * s[2] + (signed char)u[13]);
    f[23 + i] = isnan(f[24]) || f[25] < 1.0f ? __saturatef(f[26]) : (float)s[3];
    u[14] = (u[15] >> 5 & 31) | (unsigned)__ldg(&u[16]);
}
