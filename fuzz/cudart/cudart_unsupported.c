/*
 * What programs may ask for and do not get: each function answers cudaErrorNotSupported, which is also
 * CUDA_ERROR_NOT_SUPPORTED, and its name is told, once.
 */
#include "fuzz/cudart/cudart.h"

cudaError_t refuse_call(const char *name, bool *said)
{
    if (device_enter()) {
        if (!*said)
            device_say(DEVICE_NOTE, "%s is not supported: it answers cudaErrorNotSupported", name);
        *said = true;
        device_leave();
    }
    return give(cudaErrorNotSupported);
}

#define UNSUPPORTED(name)                                                                          \
    EXPORT cudaError_t name(void);                                                                 \
    cudaError_t name(void)                                                                         \
    {                                                                                              \
        static bool said;                                                                          \
        return refuse_call(#name, &said);                                                          \
    }
#include "fuzz/cudart/unsupported.def"
#undef UNSUPPORTED
