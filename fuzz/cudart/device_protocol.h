/*
 * device_protocol.h - what the runtime in a CUDA program (fuzz/cudart) and `simtfuzz exec` tell each other.
 *
 * DEVICE_VARIABLE_NAME in the environment is the path of a socket. Each process that connects to it has a device of its
 * own, and is sent the file that holds device memory. A message is a header and its payload. Both ends are on one
 * machine: numbers are as they lie in memory. The program asks; DEVICE_SYMBOLS, DEVICE_VARIABLE, DEVICE_KERNEL,
 * DEVICE_HEAP, DEVICE_LAUNCH and DEVICE_RESULT are answered, the others are only told.
 */
#ifndef FUZZ_DEVICE_PROTOCOL_H
#define FUZZ_DEVICE_PROTOCOL_H

#include <stdint.h>

#define DEVICE_VARIABLE_NAME "SIMTFUZZ_DEVICE"
#define DEVICE_RECORD_NAME "SIMTFUZZ_RECORD" /* the same, of `record` (fuzz/recorder) */

/* Addresses of device memory: each allocation in a slot of its own, so that no index of 32 bits leads from one into
 * another. Linux puts programs, heaps and libraries above all of them. */
#define DEVICE_FIRST ((uint64_t)1 << 44)
#define DEVICE_SLOT ((uint64_t)1 << 34)
#define DEVICE_SLOTS 4000u
/* All of it together; what one launch can be given (LIMIT_PLACED_WORDS). */
#define DEVICE_MEMORY_BYTES ((uint64_t)1 << 29)

enum device_message {
    DEVICE_HELLO, /* the path of the program */
    DEVICE_MODULE, /* uint32_t number, then a fat binary's container, or a text in PTX, or the container of what was
                      * linked, and behind it those that it was linked of */
    DEVICE_SYMBOLS,  /* uint32_t module: answered by device_symbols, then so many device_symbol */
    DEVICE_KERNEL,   /* uint32_t module, then a name: answered by device_kernel */
    DEVICE_VARIABLE, /* device_variable, then its name: answered by an error */
    DEVICE_ALLOCATE, /* device_allocated */
    DEVICE_FREE,     /* uint64_t address */
    DEVICE_WRITTEN,  /* device_range: the host wrote it */
    DEVICE_COPIED,   /* device_range */
    DEVICE_ORDER,    /* device_order */
    DEVICE_TOUCHED,  /* device_touched, as many frames as there are */
    DEVICE_TEXTURE,  /* uint64_t handle, then what it is of: a setting of PTX kernels, or nothing */
    DEVICE_HEAP,     /* uint64_t bytes, the most that kernels' malloc gives: answered by an error */
    DEVICE_LAUNCH,   /* device_launch: answered by device_launched, then what the kernel printed */
    DEVICE_RESULT, /* device_result, then the error's text: the last launch has ended on a GPU; answered by a number */
    DEVICE_NOTE,  /* a sentence: what the program does that does not work here, or is wrong */
    DEVICE_WRONG, /* device_stack, then the same: a finding */
    DEVICE_MESSAGES
};

/* A flag of entries in a fat binary that are PTX of one module together, by cuLinkAddData. */
#define DEVICE_LINKED ((uint64_t)1 << 62)

struct device_header {
    uint32_t kind; /* enum device_message */
    uint32_t bytes;
};

enum device_memory {
    DEVICE_MEMORY_DEVICE,  /* cudaMalloc */
    DEVICE_MEMORY_MANAGED, /* cudaMallocManaged: the host reads and writes it as it likes */
    DEVICE_MEMORY_HOST,    /* cudaMallocHost */
    DEVICE_MEMORY_VARIABLE /* a __device__ or __constant__ variable */
};

struct device_allocation {
    uint64_t address, bytes, offset; /* offset: in the file */
    uint32_t kind;                   /* enum device_memory */
    uint32_t number;                 /* from 1 */
};

enum { DEVICE_FRAMES = 24, DEVICE_PATH = 1024 };

struct device_frame { /* of the host's stack: a return address */
    uint64_t offset;  /* in the program; 0: elsewhere */
    char name[120];   /* as far as the loader knows */
};

struct device_stack { /* the innermost first */
    uint32_t count;
    struct device_frame frames[DEVICE_FRAMES];
};

struct device_allocated {
    struct device_allocation at;
    struct device_stack stack;
};

struct device_variable {
    struct device_allocation at;
    uint32_t module;
    uint32_t is_constant;
};

struct device_symbols {
    uint32_t error; /* 0, or a cudaError_t: the module cannot be used */
    uint32_t count;
    char why[256]; /* it cannot */
};

enum { DEVICE_NAME = 4096 + 1 };

struct device_symbol {
    uint32_t is_kernel, is_constant;
    uint64_t bytes; /* of a variable */
    char name[DEVICE_NAME];
};

struct device_range {
    uint64_t to, from, bytes;
};

enum device_order_kind { /* cudart/order.h says what they mean */
                         DEVICE_ORDER_JOIN,
                         DEVICE_ORDER_JOIN_ALL,
                         DEVICE_ORDER_RECORD
};

struct device_order {
    uint32_t kind;
    uint64_t to, from; /* lanes */
};

struct device_touched {
    uint64_t lane;
    uint64_t to, from, bytes; /* 0: not device memory */
    char name[40];            /* of the function */
    struct device_stack stack;
};

enum { DEVICE_PARAMETERS = 256 };

struct device_kernel {
    uint32_t error;        /* 0: the kernel is there; else a cudaError_t */
    uint32_t shared_bytes; /* of its own variables */
    uint32_t most_threads; /* of a block: .maxntid, .reqntid */
    uint32_t parameter_count;
    uint32_t sizes[DEVICE_PARAMETERS];   /* bytes of each parameter */
    uint32_t offsets[DEVICE_PARAMETERS]; /* where each lies in a buffer of all of them */
};

struct device_launch {
    uint32_t module;
    uint32_t grid[3], block[3];
    uint32_t cooperative;
    uint32_t cluster[3]; /* blocks; 0: as the kernel says */
    uint64_t shared_bytes;
    uint64_t stream, lane;
    uint32_t name_bytes,
        argument_bytes; /* behind this, in this order: name, parameters one behind the other */
    struct device_stack stack;
};

struct device_result {
    uint32_t error; /* a cudaError_t; 0: device memory is what the launch left */
};

struct device_launched {
    uint32_t error; /* a cudaError_t */
    uint32_t printed_bytes;
};

#endif
