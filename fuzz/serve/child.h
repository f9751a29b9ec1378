/*
 * child.h - a program of somebody else, run to its end within limits: a process group of its own, limits of CPU time
 * and address space, its own folder for temporary files, no input, and output that goes to a file. Whatever it leaves
 * behind in its group is ended with it.
 */
#ifndef FUZZ_SERVE_CHILD_H
#define FUZZ_SERVE_CHILD_H

#include "engine/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct child_limits {
    const char *folder;   /* where it runs and keeps its temporary files */
    uint32_t cpu_seconds; /* of each of its processes */
    uint64_t memory;      /* bytes of address space; 0: no limit */
};

enum child_end {
    CHILD_EXITED,   /* with `status` */
    CHILD_SIGNALED, /* by `status` */
    CHILD_HANG,     /* its CPU time is used up, or it sleeps */
    CHILD_NO_START
};

struct child_result {
    enum child_end end;
    int status;
    const char *output; /* standard output and error together, the first CHILD_OUTPUT_MAX bytes */
};

enum { CHILD_OUTPUT_MAX = 64 << 10 };

/* arguments[0] is looked for in PATH; NULL ends them. */
struct child_result child_run(struct arena *arena, const struct child_limits *limits,
                              char *const *arguments);

/* CPU time of all children so far, in microseconds; those of workers (fuzz/outside/worker.h) included, but of these the
 * process alone that was started. */
uint64_t child_cpu_us(void);
void child_add_cpu_us(uint64_t us);

/* The path of a program in PATH; NULL: there is none. */
const char *child_find(struct arena *arena, const char *program);

/* The first `most` bytes of a file, with a zero behind them; NULL: it cannot be read. */
char *child_read(struct arena *arena, const char *path, size_t most, size_t *length);
bool child_write(const char *path, const char *text);

/* A child runs in a folder of its own: what the path names from here, by its whole path; the path, if that is
 * nothing. */
char *child_path(struct arena *arena, const char *path);

#endif
