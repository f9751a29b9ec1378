/*
 * cudart.h - the CUDA runtime's functions as `simtfuzz exec` provides them: a shared object that takes the place of
 * libcudart.so.13, or of the static runtime (static_link.c), in a program; fuzz/cudriver takes that of libcuda.so.1. It
 * keeps what the host sees - allocations, streams, errors - and tells the rest to simtfuzz, which has the device
 * (device_protocol.h).
 *
 * The declarations are made from the published documentation of the CUDA runtime; nothing of the toolkit is needed.
 */
#ifndef FUZZ_CUDART_H
#define FUZZ_CUDART_H

#include "fuzz/cudart/device_link.h"

#include <stdbool.h>
#include <stddef.h>

#define EXPORT __attribute__((visibility("default")))

typedef int cudaError_t;
enum {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInitializationError = 3,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInvalidSymbol = 13,
    cudaErrorInvalidDevicePointer = 17,
    cudaErrorInvalidDeviceFunction = 98,
    cudaErrorInvalidDevice = 101,
    cudaErrorInvalidResourceHandle = 400,
    cudaErrorNotSupported = 801
};

typedef struct {
    unsigned x, y, z;
} dim3;

typedef void *cudaStream_t; /* a number; 0, 1, 2: the default ones */

/* ---- the device ---- */

/* Locks what follows; false: there is no device (the program does not run under simtfuzz exec, or has forked). */
bool device_enter(void);

/* Around a function of the host that a stream calls, which must not call CUDA. */
void host_function_begins(void);
void host_function_ends(void);

/* ---- errors ---- */

/* Keeps an error for cudaGetLastError; one of a kernel stays. */
cudaError_t give(cudaError_t error);
cudaError_t give_lasting(cudaError_t error); /* of a launch: every later call returns it */
cudaError_t lasting_error(void);

/* What is there to be linked with, and answers that it is not supported; the name is told, once. */
cudaError_t refuse_call(const char *name, bool *said);

/* ---- memory ---- */

/* What cudaMemAdvise and cudaMemPrefetchAsync have said of managed memory: numbers of devices, or ADVICE_NONE. */
enum { ADVICE_NONE = -2, ADVICE_HOST = -1 };
struct advice {
    bool read_mostly, is_given;
    int preferred, accessed_by, fetched;
};

struct allocation {
    uint64_t address, bytes, offset;
    enum device_memory kind;
    uint32_t number;
    void *mapped;      /* where the host reads and writes it; NULL: not at all */
    bool stays_mapped; /* its pages were there before, and stay: the host's own, or reserved ones */
    bool is_of_graph;  /* it comes and goes with nodes of a graph, always at this address */
    bool absent;       /* and is not there now */
    struct advice advice;
    struct allocation *next;
};

/* The allocation that an address lies in; NULL: it is the host's own memory. Between device_enter and _leave. */
struct allocation *allocation_of(const void *address);
/* *address is where it lies. NULL: no room. The message is the caller's. */
struct allocation *allocation_new(uint64_t bytes, enum device_memory kind);
void allocation_end(struct allocation *allocation);

/* Whether one has a part of the pages on which these bytes lie. */
bool pages_have_memory(uint64_t address, uint64_t bytes);

/* Bytes, in whole pages. */
uint64_t memory_in_use(void);

/* Memory of the host's own, which both see from now on, at the same address. NULL: no room. */
struct allocation *allocation_of_host(void *address, uint64_t bytes);

/* Addresses without memory, and memory at some of them. Zero, NULL: no room. */
uint64_t address_reserve(uint64_t bytes);
void address_give_back(uint64_t address, uint64_t bytes);
struct allocation *allocation_at_address(uint64_t address, uint64_t bytes);

/* Memory that a graph allocates: only the address until its node is done. NULL: no room. Not between device_enter and
 * _leave. */
struct allocation *allocation_of_graph(uint64_t bytes);
/* Bytes of such memory that are there, that are kept for it, and the most that there were. Between device_enter and
 * _leave. */
struct graph_memory {
    uint64_t used, most_used, reserved, most_reserved;
};
void graph_memory(struct graph_memory *memory);
/* The one that has this address, whether it is there or not. */
struct allocation *graph_allocation_of(const void *address);

/* Bytes between the host and a place in device memory. */
bool device_read(const struct allocation *from, uint64_t at, void *to, size_t bytes);
bool device_write(const struct allocation *to, uint64_t at, const void *from, size_t bytes);

/* cudaMemcpy, with its name for messages. */
cudaError_t copy_memory(const char *function, void *to, const void *from, size_t bytes);

/* ---- modules and launches; all but launch_kernel between device_enter and _leave ---- */

struct kernel {
    const void *host; /* the address that stands for it in the program */
    char *name;
    uint32_t module;
    bool known;
    struct device_kernel device; /* when it was asked for */
    uint32_t most_dynamic;       /* bytes of shared memory that launches may give; 0: as is usual */
    struct kernel *next;
    struct kernel *next_loaded; /* of the driver's */
};

/* A fat binary or a text in PTX becomes a module; its number. What is wrong with it is said when it is used. */
uint32_t module_new(const void *data, size_t bytes);
/* A module's variable gets its place and its initial value. NULL: no room. */
struct allocation *variable_new(uint32_t module, const char *name, size_t bytes, bool is_constant,
                                bool is_managed);
/* Tells what the program has registered since it was told last. So a process that only starts others has no device. */
void tell_registered(void);
/* Whether the program uses the runtime, which makes a context current by itself. */
bool modules_are_registered(void);
/* Fills kernel->device. */
void ask_kernel(struct kernel *kernel);
/* The kernel that the program means: by the address of a function, by cudaGetKernel, by a library. NULL: none. */
struct kernel *find_kernel(const void *handle);
void add_loaded_kernel(struct kernel *kernel); /* of a module that the driver has loaded */
/* The same, and it has been asked for. */
struct kernel *know_kernel(const void *handle);
/* Bytes of dynamic shared memory that its launches may give. */
enum { SHARED_USUAL = 48 << 10, SHARED_OPTIN = 163 << 10 };
uint32_t most_dynamic(const struct kernel *kernel);
/* Errors of the launch itself come at once; what goes wrong in the kernel comes with the next call. config: whose
 * attributes are looked at; or NULL. */
cudaError_t launch_kernel(struct kernel *kernel, dim3 grid, dim3 block, void **arguments,
                          size_t shared, cudaStream_t stream, bool cooperative, const void *config);

/* Parameters given as one buffer: what `extra` lists until its end. False: it lists something else. */
bool unpack_arguments(void **extra, struct kernel *kernel, void **parameters);

/* ---- memory, for both interfaces: `function` is the name in messages ---- */

cudaError_t allocate(void **pointer, size_t bytes, enum device_memory kind);
/* Memory for rows, each from a multiple of a pitch on, which is one of `unit`: how many bytes; more than there are if
 * the product is. */
enum { PITCH_UNIT = 512 };
size_t pitched_bytes(size_t *pitch, size_t unit, size_t width, size_t height);
/* Between device_enter and _leave: the device learns of it. */
void tell_allocation(const struct allocation *allocation);
cudaError_t release(const char *function, void *pointer);
/* The same of a call that waits for the device, which captures forbid. */
cudaError_t release_now(const char *function, void *pointer);

/* ---- streams ---- */

bool stream_is_captured(cudaStream_t stream);

/* ---- what the driver has under another name ---- */

struct event;

EXPORT cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream);
EXPORT cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream);
EXPORT cudaError_t cudaDeviceSynchronize(void);
EXPORT cudaError_t cudaStreamDestroy(cudaStream_t stream);
EXPORT cudaError_t cudaStreamSynchronize(cudaStream_t stream);
EXPORT cudaError_t cudaStreamQuery(cudaStream_t stream);
EXPORT cudaError_t cudaStreamWaitEvent(cudaStream_t stream, const struct event *event,
                                       unsigned flags);
EXPORT cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *flags);
EXPORT cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority);
EXPORT cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *number);
EXPORT cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device);
EXPORT cudaError_t cudaDriverGetVersion(int *version);
EXPORT cudaError_t cudaDeviceGetAttribute(int *value, int attribute, int device);
EXPORT cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest);
EXPORT cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
EXPORT cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority);
EXPORT cudaError_t cudaStreamAddCallback(cudaStream_t stream,
                                         void (*callback)(cudaStream_t, cudaError_t, void *),
                                         void *data, unsigned flags);
EXPORT cudaError_t cudaLaunchHostFunc(cudaStream_t stream, void (*function)(void *), void *data);
EXPORT cudaError_t cudaEventCreateWithFlags(struct event **event, unsigned flags);
EXPORT cudaError_t cudaEventDestroy(struct event *event);
EXPORT cudaError_t cudaEventRecord(struct event *event, cudaStream_t stream);
EXPORT cudaError_t cudaEventRecordWithFlags(struct event *event, cudaStream_t stream,
                                            unsigned flags);
EXPORT cudaError_t cudaEventSynchronize(const struct event *event);
EXPORT cudaError_t cudaEventQuery(const struct event *event);
EXPORT cudaError_t cudaEventElapsedTime(float *milliseconds, const struct event *start,
                                        const struct event *end);
EXPORT cudaError_t cudaFuncSetAttribute(const void *function, int attribute, int value);
EXPORT cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function,
                                                                 int threads, size_t shared);

#endif
