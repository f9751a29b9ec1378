/*
 * host.h - host programs: what the processor beside a device does, one statement a line (docs/host.md): buffers,
 * copies, launches, streams, events, contexts, and what must come out.
 *
 *     kernel twice = "twice.ptx"
 *     buffer a[64] = iota
 *     launch twice grid=2 block=32 a=a
 *     sync
 *     expect a[1] == 2
 *
 * The text is read (host_parse.c), its names are resolved and what is wrong before anything runs is said
 * (host_check.c), and it is printed again (host_print.c). What it does is engine/device.
 */
#ifndef ENGINE_HOST_H
#define ENGINE_HOST_H

#include "engine/base/bits.h"
#include "engine/kernel/kernel.h"

enum {
    HOST_STATEMENTS = 1024,
    HOST_KERNELS = 64,
    HOST_ARRAYS = 256, /* buffers and arrays of the host */
    HOST_STREAMS = 64, /* of all contexts, the default ones too */
    HOST_CONTEXTS = 8,
    HOST_EVENTS = 64,
    HOST_ARGUMENTS = 32,
    HOST_VALUES = 1 << 16, /* of one statement */
    HOST_OBSERVED = 8,
    HOST_ARRAY_WORDS = 1 << 24,
    HOST_MEMORY_WORDS = 1 << 26 /* of all arrays together */
};

#define HOST_NONE UINT32_MAX

enum host_kind {
    HOST_CONTEXT, /* makes a context, and the one that is used */
    HOST_USE,     /* the context that is used from here on */
    HOST_BUFFER,
    HOST_FREE,
    HOST_COPY,
    HOST_SET, /* the host writes words of a buffer, or of an array of its own */
    HOST_LAUNCH,
    HOST_RECORD,
    HOST_WAIT, /* a stream waits for an event */
    HOST_SYNC,
    HOST_ABORT,
    HOST_DESTROY,
    HOST_EXPECT,
    HOST_KIND_COUNT
};

extern const char *const host_kind_names[HOST_KIND_COUNT];

/* What words hold: listed values first, then as `fill` says. */
enum host_fill { HOST_ZERO, HOST_IOTA, HOST_RANDOM, HOST_SAME };
struct host_values {
    enum host_fill fill;
    int32_t value; /* HOST_SAME; HOST_RANDOM: the seed */
    uint32_t count;
    int32_t *list; /* NULL: none */
};

struct host_kernel {
    const char *name;
    const char *path;  /* NULL: the text stands in the program */
    const char *entry; /* of a file with several; or NULL */
    const char *text;  /* of the kernel */
    size_t length;
    struct ast_kernel *kernel;
    struct location at;
    uint32_t text_line; /* in the program: line of its first one */
};

/* Memory of a context, or of the host. */
struct host_array {
    const char *name;
    uint32_t words;
    struct host_values values;
    bool is_host;
    uint32_t context;
    uint32_t made, freed; /* statements; HOST_NONE: an array of the host; never */
    uint32_t freed_by;    /* HOST_FREE or HOST_DESTROY */
    uint32_t base;        /* first word in the memory of the device, or of the host */
    struct location at;
};

struct host_named { /* contexts, streams, events */
    const char *name;
    uint32_t context; /* of a stream, an event */
    struct location at;
};

struct host_argument {
    const char *name; /* of the kernel's parameter or variable; or its number */
    uint32_t array;   /* HOST_NONE: a number */
    const char *text; /* of the value */
};

struct host_statement {
    enum host_kind kind;
    struct location at;
    uint32_t context; /* that is used there; of context, use, destroy: the one that is named */
    uint32_t stream;  /* copy, launch, record, wait; sync: HOST_NONE, all of the context */
    bool has_stream;
    uint32_t event;     /* record, wait, sync; or HOST_NONE */
    uint32_t target;    /* abort: the launch; wait, sync of an event: the record; or HOST_NONE */
    uint32_t array, to; /* arrays that it is about */
    uint32_t from, into, count; /* copy, set, expect: words */
    bool ranged;                /* count was given */
    struct host_values values;  /* set, expect */
    bool any;                   /* expect .. in: one of them */
    bool now;                   /* free, destroy: although work may be under way */
    const char *name;           /* of a launch; or NULL */
    uint32_t kernel;
    uint32_t grid[3], block[3], shared;
    uint32_t argument_count;
    struct host_argument arguments[HOST_ARGUMENTS];
};

/* `claim printed sms=2: outcomes 0 1`: what holds on that device. */
struct host_claim {
    struct location at;
    const char *options;
    const char *outcomes; /* "0 1", words joined by commas; or NULL */
    int lost, stuck;      /* 0: not said, 1: some state is, -1: none */
};

struct host_observed {
    uint32_t array, word;
    struct location at;
};

struct host_program {
    const char *device; /* settings of the device, "" if none */
    struct location device_at;
    uint32_t kernel_count, array_count, context_count, stream_count, event_count;
    struct host_kernel kernels[HOST_KERNELS];
    struct host_array arrays[HOST_ARRAYS];
    struct host_named
        contexts[HOST_CONTEXTS]; /* 0: the one that is there at the beginning, "main" */
    struct host_named
        streams[HOST_STREAMS]; /* context c's default stream is number c, of no name */
    struct host_named events[HOST_EVENTS];
    uint32_t count;
    struct host_statement *statements;
    uint32_t observed_count;
    struct host_observed observed[HOST_OBSERVED];
    uint32_t claim_count, claim_capacity;
    struct host_claim *claims;
    uint32_t device_words, host_words;        /* of all arrays at a time */
    uint64_t (*before)[HOST_STATEMENTS / 64]; /* host_ends_before */
};

/* Whether a file's name is that of a host program. */
bool host_is_path(const char *path);

/* The program of a text, in the arena; files of kernels lie in the folder of `path`. NULL: errors in diag. */
struct host_program *host_parse(struct arena *arena, const char *path, const char *text,
                                size_t length, struct diag *diag);

/* What is wrong before it runs: lives of arrays, ranges of copies, streams that wait for each other. False: errors. */
bool host_check(struct arena *arena, struct host_program *program, struct diag *diag);

/* Whether statement `first` has ended, whatever the schedule, when `second` begins. */
static inline bool host_ends_before(const struct host_program *program, uint32_t first,
                                    uint32_t second)
{
    return bits_has(program->before[second], first);
}

/* The text again, zero-terminated, in the arena. */
char *host_print(struct arena *arena, const struct host_program *program);

/* One statement, without the line's end. */
char *host_print_statement(struct arena *arena, const struct host_program *program,
                           uint32_t statement);

/* Word i of an array at first; of the values of a statement. */
int32_t host_value(const struct host_values *values, uint32_t i);

/* Work that is put into a stream and done later: a launch, a copy in a stream, a record, a wait. */
static inline bool host_is_queued(const struct host_statement *s)
{
    return s->kind == HOST_LAUNCH || s->kind == HOST_RECORD || s->kind == HOST_WAIT ||
           (s->kind == HOST_COPY && s->has_stream);
}

#endif
