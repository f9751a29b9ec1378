// A switch with fall-through, break, and a return in the middle. RACY: two cases write one place.
#include "device.h"
KERNEL cases(const int *in, int *out)
{
    int t = threadIdx.x, r = 0;
    switch (in[t] & 7) {
    case 0:
        r = 10;
        break;
    case 1:
        r = 20;
    case 2:
        r += 3;
        break;
    case 3:
        out[t] = -1;
        return;
    case 4:
        r = in[t ^ 1];
    case 5:
        r ^= 0x55;
    case 6:
        r = r * 3 + t;
        break;
    default:
        r = t;
#ifdef RACY
        out[64] = t;
#endif
    }
    out[t] = r;
}
