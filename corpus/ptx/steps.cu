// Collatz: a loop that each lane leaves after another number of trips, by one of two exits. RACY: all lanes
// count in one place.
#include "device.h"
KERNEL steps(const unsigned *in, unsigned *out, unsigned most)
{
    unsigned t = threadIdx.x, x = in[t] % 32 + 1, n = 0;
    while (x != 1) {
        if (n == most)
            break;
        x = x & 1 ? 3 * x + 1 : x / 2;
        n++;
    }
#ifdef RACY
    out[0] += n;
#else
    out[t] = n;
#endif
}
