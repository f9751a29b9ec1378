// One warp waits for a flag that another sets. RACY: the flag is volatile, which PTX's memory model takes for relaxed: no
// data race. SAME: writer and waiter are lanes of one warp.
#include "device.h"
KERNEL flag(int *flag, int *value)
{
#ifdef SAME
    bool writer = threadIdx.x == 1;
#else
    bool writer = threadIdx.x >= 32;
#endif
    if (writer) {
        value[threadIdx.x] = 42;
        __threadfence();
#ifdef RACY
        *(volatile int *)flag = 1;
#else
        atomicExch(flag, 1);
#endif
    } else if (threadIdx.x == 0) {
#ifdef RACY
        while (*(volatile int *)flag == 0)
            ;
#else
        while (atomicAdd(flag, 0) == 0)
            ;
#endif
    }
}
