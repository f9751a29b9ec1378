// A shared array read backwards: for sm_100, nvcc adds a positive offset to a 32-bit address that has wrapped below 0.
// simtfuzz: threads=32 warp=32 bind:backwards_param_0=buffer:128
// expect: race_free, terminates, final backwards_param_0 == {150, 146, 142, 138, 134, 130, 126, 122, 118, 114, 110, 106, 102, 98, 94, 90, 86, 82, 78, 74, 70, 66, 62, 58, 54, 50, 46, 42, 38, 34, 30, 26}
extern "C" __global__ void backwards(int *out)
{
    __shared__ int s[160];
    int t = threadIdx.x;
    for (int i = t; i < 160; i += 32)
        s[i] = i;
    __syncthreads();
    out[t] = s[150 - 4 * t];
}
