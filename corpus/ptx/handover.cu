// One thread hands a value to another one by a flag. RELAXED: relaxed accesses of the flag, and no fence. NO_ACQUIRE: a
// fence of the writer only. PLAIN: the flag is an ordinary variable, between fences. NARROW: release and acquire of scope block; NARROW_FENCE:
// fences of scope block. FENCES: relaxed accesses with fences. CHAIN: a third thread passes the flag on by an atomic.
#include <cuda/atomic>
#ifdef NARROW
#define SCOPE cuda::thread_scope_block
#else
#define SCOPE cuda::thread_scope_device
#endif
#if defined(RELAXED) || defined(FENCES) || defined(NARROW_FENCE) || defined(NO_ACQUIRE)
#define SET cuda::memory_order_relaxed
#define GET cuda::memory_order_relaxed
#else
#define SET cuda::memory_order_release
#define GET cuda::memory_order_acquire
#endif
#if defined(FENCES) || defined(NO_ACQUIRE)
#define FENCE() __threadfence()
#elif defined(NARROW_FENCE)
#define FENCE() __threadfence_block()
#else
#define FENCE()
#endif
#ifdef NO_ACQUIRE
#define FENCE_BEHIND()
#else
#define FENCE_BEHIND() FENCE()
#endif

extern "C" __global__ void handover(int *value, int *flag, int *out)
{
#ifdef PLAIN
    if (blockIdx.x == 0) {
        *value = 42;
        __threadfence();
        *flag = 1;
    } else if (*flag == 1) {
        __threadfence();
        *out = *value;
    }
#else
    cuda::atomic_ref<int, SCOPE> f(*flag);
    if (blockIdx.x == 0) {
        *value = 42;
        FENCE();
        f.store(1, SET);
#ifdef CHAIN
    } else if (blockIdx.x == 1) {
        f.fetch_add(1, cuda::memory_order_relaxed);
    } else if (f.load(GET) == 2) {
#else
    } else if (f.load(GET) == 1) {
#endif
        FENCE_BEHIND();
        *out = *value;
    }
#endif
}
