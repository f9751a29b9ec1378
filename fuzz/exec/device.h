/*
 * device.h - the device of a program that runs under `simtfuzz exec`: its modules and memory, what it launches, and
 * what was found. fuzz/cudart has the program's end.
 */
#ifndef FUZZ_DEVICE_H
#define FUZZ_DEVICE_H

#include "fuzz/check/suppress.h"
#include "fuzz/cudart/device_protocol.h"
#include "oracle/launch/launch.h"

#include <signal.h>
#include <stdio.h>

struct device_module {
    uint32_t number;
    const struct ptx_module *ptx; /* NULL: see `why` */
    const char *why;
    bool is_text; /* it came as PTX, not in a fat binary */
    struct device_module *next;
};

struct device_buffer {
    struct device_allocation at;
    const char *name; /* "buffer3", a variable's own */
    uint32_t module;  /* of a variable; else 0 */
    bool is_constant; /* a __constant__ variable */
    bool is_inner; /* a variable that the program does not know: of a function, a text, a table */
    bool is_freed; /* what lay there, for messages */
    /* It holds addresses of functions, which each launch has anew: what is written there is not kept. */
    bool is_laid_out;
    void *own; /* its bytes, if they are not in the file: of the heap, of inner variables */
    struct order_word *accesses; /* a word; NULL: none yet (order.c) */
    uint8_t *written;            /* a word: bits of the bytes that were written; NULL: all were */
    uint64_t filled; /* so many bytes from its first one on were written, whatever `written` says */
    const struct device_stack
        *stack; /* where it was allocated; NULL: it is not known, or not asked */
    struct device_buffer *next;
};

struct device_texture { /* a texture or surface object */
    uint64_t handle;
    const char *text; /* behind `texture:HANDLE=`; NULL: it was destroyed */
    struct device_texture *next;
};

/* What `exec` was asked for, and what it counts. */
struct device_options {
    uint64_t budget;     /* steps of a launch; 0: no bound */
    uint32_t workers;    /* threads that blocks of a launch run on */
    const char *scratch; /* a folder of its own */
    const char *capture; /* a folder, or NULL */
    bool verbose, color;
    bool no_unwritten; /* reads of what nothing wrote are no findings */
    bool leaks;        /* what was never freed is one */
    bool records;      /* launches run elsewhere, on a GPU: they are kept, with what it left */
    const struct suppressions *suppressions; /* or NULL */
};

/* Of all programs. */
struct device_report {
    struct arena *arena; /* for what is told */
    struct device_told *told;
    uint32_t devices; /* processes that have used one */
    uint32_t modules, launches, findings, refused;
    uint32_t shown; /* different findings */
    uint32_t suppressed;
    uint32_t leaks; /* allocations that were never freed */
    uint64_t steps, blocks, leaked_bytes;
};

struct device_told { /* a finding that was told */
    enum launch_kind kind;
    enum status status;
    const char *kernel, *sources[2];
    struct device_told *next;
};

struct device_recorded { /* the launch that runs on a GPU */
    const char *path;    /* DIR/launch-N; NULL: none */
    const char *text;    /* the case, as it is without results */
    uint32_t memory_count;
    const struct device_buffer **memory; /* what it can write */
};

/* Of one process. */
struct device {
    struct arena arena; /* for as long as the process runs */
    const struct device_options *options;
    int sock, memory;
    FILE *out;           /* what people read */
    const char *program; /* path: for the host's stack */
    struct device_module *modules;
    struct device_buffer *buffers; /* the latest first */
    struct device_texture *textures;
    uint32_t inner_count;     /* variables that had an address of their own */
    struct order *order;      /* NULL: one thing is done after the other */
    struct launch_heap *heap; /* NULL: no kernel has needed it yet */
    uint64_t heap_limit;      /* bytes; 0: as is usual */
    struct device_report *report;
    struct device_recorded recorded;
    uint64_t told_ms;    /* when something was said of a launch that runs */
    const char *printed; /* by the launch that has just ended */
    uint32_t printed_bytes;
    const volatile sig_atomic_t *stop; /* not 0: the launch that runs is given up */
    /* A finding that is new; `kernel` as the module has it, `launch` for people, with its place on the host's stack. */
    void (*found)(void *context, const char *kernel, const char *launch,
                  const struct launch_finding *finding);
    void *context;
};

/* Hears one message of the process at the other end of device->sock, and does what it says. False: it has ended. */
bool device_serve(struct device *device);

/* ---- all devices (devices.c) ---- */

/* Gives each process that comes to the door a device like `first`, and serves them until the program `pid` has ended
 * and all others, too. The program's wait status. SIGCHLD is blocked. */
int devices_serve(const struct device *first, int door, pid_t pid);
/* A socket to listen at; -1: errno. */
int devices_listen(const char *path);

/* ---- memory (device_memory.c) ---- */

void device_add(struct device *device, const struct device_allocated *allocated);
struct device_buffer *device_add_buffer(struct device *device, const struct device_allocation *at,
                                        const char *name);
/* That has this byte, and was not freed. NULL: none. */
struct device_buffer *device_buffer_at(const struct device *device, uint64_t address);
/* Of this name, and of this module or of none, not freed. NULL: none. */
struct device_buffer *device_buffer_named(const struct device *device, const char *name,
                                          uint32_t module);
void device_drop(struct device *device, uint64_t address);
/* Gives back what is kept of the buffers that were never freed. */
void device_end(struct device *device);
/* Counts what was allocated and never freed. */
void device_count_leaks(const struct device *device);
/* Tells of it. */
void device_tell_leaks(struct device *device);
void device_mark(struct device *device, const struct device_range *range);
bool device_all_written(const struct device_buffer *buffer);
/* Its `written` says all. */
void device_spread_written(struct device_buffer *buffer);
void device_copy_marks(struct device *device, const struct device_range *range);
/* The variables of a new module, each at an address that it keeps, until the program says where it has one. */
void device_add_inner(struct device *device, const struct device_module *module);
/* A variable of a module, with its initial value. False: it is not known (*why). */
bool device_add_variable(struct device *device, const struct device_variable *variable,
                         const char *name, const char **why);

/* ---- launches (device_launch.c) ---- */

void device_ask_kernel(struct device *device, uint32_t module, const char *name,
                       struct device_kernel *kernel);

/* Kernels and variables of a module; symbols: NULL, they are counted only. A cudaError_t if there is no such module. */
uint32_t device_symbols(struct device *device, uint32_t module, struct device_symbol *symbols,
                        uint32_t *count);

/* The cudaError_t that the program gets. */
uint32_t device_run(struct device *device, const struct device_launch *launch, const char *name,
                    const uint8_t *arguments);

/* ---- words (device_tell.c) ---- */

/* "add(float const*, int)<<<196, 256>>> from main (vector.cu:31)" */
const char *device_launch_text(struct arena *arena, const struct device *device,
                               const struct device_launch *launch, const char *name);
/* False: it was told before, of an earlier launch. */
bool device_tell_finding(struct device *device, struct arena *arena, const char *launch,
                         const char *kernel, const struct launch_finding *finding);
/* The same, counted, and passed on to device->found; not, if it is suppressed. */
void device_found(struct device *device, struct arena *arena, const char *launch,
                  const char *kernel, const struct launch_finding *finding);
/* The lines of the source that it is about, as far as they can be read, each once. */
void device_tell_sources(FILE *out, const char *indent, struct arena *arena,
                         const struct launch_finding *finding);
/* "line 63 of its PTX: ..": what is wrong with it. */
const char *device_first_error(struct arena *arena, const struct diag *ptx);

/* "race", "unwritten", "leak", "oob", ... */
const char *device_finding_kind(const struct launch_finding *finding);
void device_tell_note(struct device *device, const char *word, const char *text);

/* Where the host was: "main (vector.cu:31), called by run", as far as it is known; NULL: not at all (host_stack.c).
 * *source: the first place, with its folders, or NULL. */
const char *host_stack(struct arena *arena, const struct device *device,
                       const struct device_stack *stack, const char *kernel, const char **source);

/* ---- capture.c ---- */

/* Keeps what a launch starts with: its buffers, as DIR/launch-N.BUFFER.bin. */
struct capture *capture_start(struct device *device, struct arena *arena, struct launch *launch,
                              const char **why);
/* Writes the launch as a case that `check` takes: DIR/launch-N.ptx. */
bool capture_end(const struct capture *capture, struct launch *launch, const char **why);
/* The same of a launch that runs elsewhere: all its blocks; its text is kept in device->recorded until the end. */
bool capture_recorded(const struct capture *capture, struct device *device, struct launch *launch,
                      uint32_t module, const char **why);

/* ---- recorded.c ---- */

/* A launch begins on a GPU: its case, as it is without results. */
void device_record_start(struct device *device, const char *path, const struct ast_kernel *kernel,
                         uint32_t module, const char *text);
/* It has ended: the case gets what the GPU left, unless it failed there. */
void device_record_end(struct device *device, uint32_t error, const char *error_text);

#endif
