// A producer warp and a consumer warp, two named barriers: one says full, one says free. RACY: the producer
// does not wait until the slot is free. STUCK: the consumer counts on 96 threads, there are 64.
#include "device.h"
#define BAR(text) asm volatile(text ::: "memory")
#ifdef STUCK
#define FULL_SYNC "bar.sync 1, 96;"
#define FULL_ARRIVE "bar.arrive 1, 96;"
#else
#define FULL_SYNC "bar.sync 1, 64;"
#define FULL_ARRIVE "bar.arrive 1, 64;"
#endif
KERNEL exchange(const int *in, int *out, int rounds)
{
    __shared__ int slot[32];
    int lane = threadIdx.x & 31;
    if (threadIdx.x < 32) {
        for (int r = 0; r < rounds; r++) {
#ifndef RACY
            BAR("bar.sync 2, 64;");
#endif
            slot[lane] = in[r * 32 + lane];
            BAR(FULL_ARRIVE);
        }
    } else {
#ifndef RACY
        BAR("bar.arrive 2, 64;");
#endif
        for (int r = 0; r < rounds; r++) {
            BAR(FULL_SYNC);
            out[r * 32 + lane] = slot[31 - lane];
#ifndef RACY
            if (r + 1 < rounds)
                BAR("bar.arrive 2, 64;");
#endif
        }
    }
}
