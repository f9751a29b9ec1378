// A dense switch with a side effect in each case: nvcc makes a jump table (brx.idx) of it.
#include "device.h"
KERNEL dispatch(const int *in, volatile int *out)
{
    int t = threadIdx.x;
    switch (in[t]) {
    case 0: out[t] = 7; out[t + 32] = 1; break;
    case 1: out[t] = t * 3; break;
    case 2: out[t] = out[t] + 11;
    case 3: out[t] = out[t] ^ 5; break;
    case 4: out[t] = t << 4; out[t] = out[t] - 1; break;
    case 5: out[t] = -t; return;
    case 6: out[t] = t & 3; break;
    case 7: out[t] = out[t] + 1; out[t + 32] = 2; break;
    case 8: out[t] = 88; break;
    case 9: out[t] = 99 - t; break;
    case 10: out[t] = t * t; break;
    case 11: out[t] = ~t; break;
    default: out[t + 32] = 9;
    }
    out[t + 64] = out[t] + 1;
}
