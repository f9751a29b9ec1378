// Jumps out of loops: to what follows one, two or three of them, to the next round of an outer one, out of the
// kernel; loops with several latches and exits.
#include "device.h"
KERNEL jumps(const int *in, int *out, int n)
{
    int t = threadIdx.x, x = in[t], steps = 0, r = 0;
again:
    while (steps < 40) {
        steps++;
        for (int i = 0; i < n; i++) {
            x = (x * 5 + i) & 4095;
            if ((x & 7) == 3)
                continue;
            if ((x & 1023) == 4)
                goto out;
            if ((x & 31) == 9)
                break;
            if ((x & 63) == 17) {
                r += 2;
                goto again;
            }
            while (x > 1000) {
                x -= 333;
                if ((x & 127) == 50)
                    goto next;
                if (x % 100 == 77) {
                    out[t] = -x;
                    return;
                }
            }
        }
        r++;
    next:
        if (r > 12)
            break;
        x ^= steps;
    }
    out[t] = r * 1000 + x % 1000;
    return;
out:
    out[t] = -(r * 1000 + steps);
}
