/*
 * operation.h - what is asked of a stream: a copy, a set, a launch, a call of the host, an event. It is done at once,
 * or, while the stream is captured, becomes a node of a graph (graph.h) that does it later.
 */
#ifndef FUZZ_OPERATION_H
#define FUZZ_OPERATION_H

#include "fuzz/cudart/cudart.h"

struct extent {
    size_t width, height, depth;
};

struct channels { /* cudaChannelFormatDesc */
    int x, y, z, w;
    int kind; /* 0: signed, 1: unsigned, 2: float */
};

struct array { /* cudaArray */
    char *data;
    struct channels channels;
    struct extent extent;
    unsigned flags; /* 1: the last extent is layers */
    size_t element, pitch;
};

enum { LAYERED = 1, CUBE = 4 };

struct position {
    size_t x, y, z;
};

struct pitched { /* cudaPitchedPtr */
    char *pointer;
    size_t pitch, width, height;
};

enum {
    HOST_TO_HOST,
    HOST_TO_DEVICE,
    DEVICE_TO_HOST,
    DEVICE_TO_DEVICE,
    ANY_DIRECTION
}; /* cudaMemcpyKind */

struct copy_3d { /* cudaMemcpy3DParms */
    struct array *from_array;
    struct position from_position;
    struct pitched from;
    struct array *to_array;
    struct position to_position;
    struct pitched to;
    struct extent extent;
    int kind;
};

struct set_2d { /* cudaMemsetParams; the width is counted in elements, the pitch in bytes */
    char *to;
    size_t pitch;
    unsigned value, element;
    size_t width, height;
};

struct host_call { /* cudaHostNodeParams */
    void (*function)(void *);
    void *data;
};

struct kernel_call {
    struct kernel *kernel;
    struct device_launch *launch;
    void **arguments;
};

enum node_kind { /* cudaGraphNodeType */
                 NODE_KERNEL = 0,
                 NODE_COPY = 1,
                 NODE_SET = 2,
                 NODE_HOST = 3,
                 NODE_GRAPH = 4,
                 NODE_EMPTY = 5,
                 NODE_WAIT = 6,
                 NODE_RECORD = 7,
                 NODE_ALLOCATE = 10,
                 NODE_FREE = 11
};

struct operation {
    enum node_kind kind;
    const char *function; /* for messages */
    union {
        struct kernel_call kernel;
        struct copy_3d copy;
        struct set_2d set;
        struct host_call host;
        struct graph *graph;
        struct event *event;
        struct allocation *memory;
    } u;
};

cudaError_t operation_do(const struct operation *operation);

/* The same, in the order of a stream. */
cudaError_t operation_do_on(cudaStream_t stream, const struct operation *operation);

/* The same of a call that waits for it, which captures forbid. */
cudaError_t operation_do_now(const struct operation *operation);

/* Does it, or adds it to the graph that the stream is captured into. */
cudaError_t operation_issue(cudaStream_t stream, const struct operation *operation);

/* What the operation points to becomes its own, so that it can be done later; and is given back. */
bool operation_keep(struct operation *operation);
void operation_end(struct operation *operation);

/* A copy of memory in one piece, and of rows. */
struct operation copy_operation(const char *function, void *to, const void *from, size_t bytes,
                                int kind);
struct operation rows_operation(const char *function, void *to, size_t to_pitch, const void *from,
                                size_t from_pitch, size_t width, size_t height, int kind);
/* Bytes become a value. */
struct operation set_operation(const char *function, void *to, size_t pitch, unsigned value,
                               size_t width, size_t height);

cudaError_t copy_of_kind(const char *function, void *to, const void *from, size_t bytes, int kind);
cudaError_t copy_3d(const char *function, const struct copy_3d *copy);
cudaError_t set_2d(const char *function, const struct set_2d *set);

/* Checks a launch; *launch is what is told of it, with the host's place. */
cudaError_t prepare_launch(struct device_launch *launch, const struct kernel *kernel, dim3 grid,
                           dim3 block, size_t shared, bool cooperative, const void *config);
cudaError_t run_launch(const struct kernel_call *call);

/* Copies to and from a variable of a module. */
cudaError_t to_symbol(struct operation *o, const char *function, const void *symbol,
                      const void *from, size_t bytes, size_t offset, int kind);
cudaError_t from_symbol(struct operation *o, const char *function, void *to, const void *symbol,
                        size_t bytes, size_t offset, int kind);

/* An error, if there is a capture in which nothing may wait for the device; that capture has failed then. */
cudaError_t capture_forbids(void);

void event_happens(struct event *event);

/* ---- arrays ---- */

enum { cudaErrorInvalidChannelDescriptor = 20 };

size_t channel_count(const struct channels *c);
/* Whether arrays may have such elements. */
bool is_format(const struct channels *c);
/* Answers so, and says what is not. */
cudaError_t not_supported(const char *what);

EXPORT cudaError_t cudaMalloc3DArray(struct array **array, const struct channels *channels,
                                     struct extent extent, unsigned flags);
EXPORT cudaError_t cudaFreeArray(struct array *array);

/* What comes next on the stream comes behind what the host knows of, and what the default stream's rules say. */
void stream_begins(cudaStream_t stream);

#endif
