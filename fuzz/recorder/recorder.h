/*
 * recorder.h - what `simtfuzz record` loads into a CUDA program that runs on a GPU: the functions of the runtime
 * (recorder_runtime.c) and of the driver (recorder_driver.c) that allocate, load modules and launch go through here to
 * those that would have been called. Before and behind each launch all of device memory is copied into the file that
 * simtfuzz reads.
 *
 * Launches come one after the other so: whatever the program had under way is waited for first.
 */
#ifndef FUZZ_RECORDER_H
#define FUZZ_RECORDER_H

#include "fuzz/cudart/cudart.h"

/* ---- who would have been called ---- */

/* The next function of this name behind this library, or in a library that the program has loaded. NULL: none. */
void *find_next(const char *name);
void *next_of(const char *name); /* there is one, or the program ends */
#define NEXT(name) ((__typeof__(&name))next_of(#name))

/* The function here that takes the place of one that was found by this name, if there is one; else that one. */
enum { PER_THREAD_STREAM = 2 };
void *instead_of(void *found, const char *symbol, int version, uint64_t flags);

/* False: nothing is recorded here. What is registered is told when the process first comes here: one that only starts
 * others has no device, and each that it forks has its own. */
bool recorder_enter(void);

/* ---- between recorder_enter, or device_guard, and device_leave ---- */

/* The kernel that a handle stands for from now on. */
void handle_add(const void *handle, struct kernel *kernel);
struct kernel *kernel_of_handle(const void *handle);

/* A module is a number from 1; 0: none. Several handles may stand for one. */
uint32_t module_number(void);
/* What nvcc registers, which is to be told; and what is gone again. */
void module_register(const void *handle, const void *wrapper);
void module_forget(const void *handle);
void module_add(const void *handle, uint32_t number);
uint32_t module_of(const void *handle);

struct variable {
    const void *of; /* what `place` asks about: the program's variable, a module */
    char *name;
    uint32_t module;
    size_t bytes;
    bool is_constant, known;
    struct buffer *buffer;
    uint64_t (*place)(const struct variable *variable); /* its address; 0: not yet, or none */
    struct variable *next;
};
void variable_add(const struct variable *variable); /* a copy, with a copy of its name */

struct kernel *kernel_new(const void *host, const char *name, uint32_t module);

/* ---- between recorder_enter and device_leave ---- */

void variables_drop(uint32_t module);

/* ---- not between them ---- */

void memory_allocated(uint64_t address, uint64_t bytes, enum device_memory kind);
/* All that begins within these bytes; 0: what begins at the address. */
void memory_freed(uint64_t address, uint64_t bytes);

/* What waits, copies and explains, of the interface that the program calls. */
struct interface {
    cudaError_t (*wait)(void);
    cudaError_t (*copy_out)(void *to, uint64_t from, size_t bytes);
    const char *(*explain)(cudaError_t error);
    bool (*is_captured)(cudaStream_t stream);
};

/* Locked, and memory copied, if the launch is one to record; else neither. `handle`: the kernel; `extra`: parameters in
 * one buffer. */
bool record_start(const struct interface *interface, const void *handle,
                  struct device_launch *launch, void **arguments, void **extra);
void record_end(const struct interface *interface, cudaError_t error);
void record_graph(void); /* a graph is launched, which is not recorded */

/* `call` launches; what stands around it records. */
#define RECORDED(interface, handle, launch, arguments, extra, call)                                \
    const bool recorded = record_start(interface, handle, launch, arguments, extra);               \
    const cudaError_t error = call;                                                                \
    if (recorded)                                                                                  \
        record_end(interface, error);                                                              \
    return error

/* ---- functions that both interfaces have ---- */

/* `address`: where memory begins, once it is there. */
#define ALLOCATES(name, types, arguments, address, bytes, kind)                                    \
    EXPORT cudaError_t name types;                                                                 \
    cudaError_t name types                                                                         \
    {                                                                                              \
        const cudaError_t error = NEXT(name) arguments;                                            \
        if (!error)                                                                                \
            memory_allocated((uint64_t)(uintptr_t)(address), bytes, kind);                         \
        return error;                                                                              \
    }

#define FREES(name, types, arguments, address, bytes)                                              \
    EXPORT cudaError_t name types;                                                                 \
    cudaError_t name types                                                                         \
    {                                                                                              \
        memory_freed((uint64_t)(uintptr_t)(address), bytes);                                       \
        return NEXT(name) arguments;                                                               \
    }

#define LAUNCHES_GRAPH(name)                                                                       \
    EXPORT cudaError_t name(void *instance, cudaStream_t stream);                                  \
    cudaError_t name(void *instance, cudaStream_t stream)                                          \
    {                                                                                              \
        record_graph();                                                                            \
        return NEXT(name)(instance, stream);                                                       \
    }

#endif
