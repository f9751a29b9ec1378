// A counter behind a lock. The winner of the lock leaves the loop and waits for the losers to do so, which
// they never do in lock-step: it ends only where each thread makes progress of its own (cuda-crs 6.5).
// INSIDE: the critical section stands inside of the loop, where the winner goes on at once. RACY: no lock.
#include "device.h"
KERNEL spinlock(int *lock, volatile int *counter)
{
#if defined RACY
    *counter = *counter + 1;
#elif defined INSIDE
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            *counter = *counter + 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
#else
    while (atomicCAS(lock, 0, 1) != 0)
        ;
    *counter = *counter + 1;
    __threadfence();
    atomicExch(lock, 0);
#endif
}
