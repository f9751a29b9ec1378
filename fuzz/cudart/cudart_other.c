/*
 * Errors, functions that have nothing to do, and those that are not there.
 */
#include "fuzz/cudart/cudart.h"

#include <stdlib.h>
#include <string.h>

/* ---- errors ---- */

static __thread cudaError_t last;
static cudaError_t lasting;

cudaError_t give(cudaError_t error)
{
    if (error != cudaSuccess)
        last = error;
    return error;
}

cudaError_t give_lasting(cudaError_t error)
{
    lasting = error;
    return cudaSuccess; /* the launch itself went well */
}

cudaError_t lasting_error(void)
{
    return lasting;
}

static const struct {
    cudaError_t error;
    const char *name, *text;
} errors[] = {
    {0, "cudaSuccess", "no error"},
    {1, "cudaErrorInvalidValue", "invalid argument"},
    {2, "cudaErrorMemoryAllocation", "out of memory"},
    {3, "cudaErrorInitializationError", "initialization error"},
    {9, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {13, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {17, "cudaErrorInvalidDevicePointer", "invalid device pointer"},
    {20, "cudaErrorInvalidChannelDescriptor", "invalid channel descriptor"},
    {21, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
    {26, "cudaErrorInvalidFilterSetting", "linear filtering not supported for non-float type"},
    {98, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {101, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {200, "cudaErrorInvalidKernelImage", "device kernel image is invalid"},
    {209, "cudaErrorNoKernelImageForDevice",
     "no kernel image is available for execution on the device"},
    {218, "cudaErrorInvalidPtx", "a PTX JIT compilation failed"},
    {400, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {401, "cudaErrorIllegalState", "the operation cannot be performed in the present state"},
    {600, "cudaErrorNotReady", "device not ready"},
    {700, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {701, "cudaErrorLaunchOutOfResources", "too many resources requested for launch"},
    {702, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"},
    {710, "cudaErrorAssert", "device-side assert triggered"},
    {712, "cudaErrorHostMemoryAlreadyRegistered",
     "part or all of the requested memory range is already mapped"},
    {713, "cudaErrorHostMemoryNotRegistered",
     "pointer does not correspond to a registered memory region"},
    {716, "cudaErrorMisalignedAddress", "misaligned address"},
    {719, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {720, "cudaErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"},
    {801, "cudaErrorNotSupported", "operation not supported"},
    {900, "cudaErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing"},
    {901, "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {902, "cudaErrorStreamCaptureMerge",
     "operation would result in a merge of separate capture sequences"},
    {903, "cudaErrorStreamCaptureUnmatched",
     "capture was not ended in the same stream as it began"},
    {904, "cudaErrorStreamCaptureUnjoined", "capturing stream has unjoined work"},
    {905, "cudaErrorStreamCaptureIsolation",
     "dependency created on uncaptured work in another stream"},
    {907, "cudaErrorCapturedEvent",
     "operation not permitted on an event last recorded in a capturing stream"},
    {908, "cudaErrorStreamCaptureWrongThread",
     "attempt to terminate a thread-local capture sequence from another thread"},
    {910, "cudaErrorGraphExecUpdateFailure",
     "the graph update was not performed because it included changes which violated constraints "
     "specific to instantiated graph update"},
};

EXPORT cudaError_t cudaGetLastError(void);
EXPORT cudaError_t cudaPeekAtLastError(void);
EXPORT const char *cudaGetErrorName(cudaError_t error);
EXPORT const char *cudaGetErrorString(cudaError_t error);

cudaError_t cudaPeekAtLastError(void)
{
    return lasting ? lasting : last;
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t error = cudaPeekAtLastError();
    last = cudaSuccess;
    return error;
}

const char *cudaGetErrorName(cudaError_t error)
{
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].error == error)
            return errors[i].name;
    return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].error == error)
            return errors[i].text;
    return "unrecognized error code";
}

/* ---- functions that have nothing to do ---- */

#define DONE(name, ...)                                                                            \
    EXPORT cudaError_t name(__VA_ARGS__);                                                          \
    cudaError_t name(__VA_ARGS__)                                                                  \
    {                                                                                              \
        return give(lasting_error());                                                              \
    }

DONE(cudaDeviceReset, void)
DONE(cudaInitDevice, void)
DONE(cudaDeviceSetCacheConfig, void)
DONE(cudaSetDeviceFlags, void)
DONE(cudaFuncSetCacheConfig, void)
DONE(cudaProfilerStart, void)
DONE(cudaProfilerStop, void)
DONE(cudaStreamAttachMemAsync, void)
DONE(cudaCtxResetPersistingL2Cache, void)
DONE(cudaStreamSetAttribute, void)
DONE(cudaStreamCopyAttributes, void)
DONE(cudaFuncSetSharedMemConfig, void)
DONE(cudaDeviceSetSharedMemConfig, void)
DONE(cudaDeviceSetMemPool, void)
DONE(cudaMemSetMemPool, void)
DONE(cudaMemPoolSetAccess, void)
DONE(cudaMemPoolTrimTo, void)
DONE(cudaMemPoolDestroy, void)
DONE(cudaDeviceGraphMemTrim, void)
DONE(cudaDeviceFlushGPUDirectRDMAWrites, void)
DONE(cudaKernelSetAttributeForDevice, void)
DONE(cudaSetValidDevices, void)

/* ---- what programs may ask for and do not get ---- */

/* Each function answers cudaErrorNotSupported, which is also CUDA_ERROR_NOT_SUPPORTED, and its name is told, once. */
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
