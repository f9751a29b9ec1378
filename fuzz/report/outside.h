/*
 * outside.h - what the database knows of implementations that are not ours (docs/outside.md), one by one.
 */
#ifndef FUZZ_REPORT_OUTSIDE_H
#define FUZZ_REPORT_OUTSIDE_H

#include "db/db.h"
#include "engine/base/arena.h"

/* An implementation with its options, in a version. */
struct report_run {
    const char *subject, *version;
    uint64_t kernels, wrong, crashes, hangs, refusals, run_errors, unknown, known, unconfirmed;
    uint64_t cpu_us, our_us;
};

/* A fault of the register (fuzz/outside/known.def). */
struct report_known_fault {
    const char *id;
    uint64_t seen, chances; /* chances: kernels that ran without its avoidance */
};

struct report_outside_finding {
    uint64_t id, occurrences;
    enum db_state state;
    const char *class, *observable;
};

enum { REPORT_RUNS_MOST = 64, REPORT_KNOWN_MOST = 16 };

struct report_implementation {
    const char *name; /* "opencl:pocl" */
    uint32_t run_count, known_count, finding_count, finding_capacity;
    struct report_run runs[REPORT_RUNS_MOST];
    struct report_known_fault known[REPORT_KNOWN_MOST];
    struct report_outside_finding *findings; /* by state */
    struct report_implementation *next;      /* by name */
};

/* Negative: enum db_error. */
DB_MUST_CHECK int report_read_outside(struct arena *arena, struct db *db,
                                      struct report_implementation **first);

/* Kernels a CPU second; 0: not known. */
double report_run_rate(const struct report_run *run);
/* Per cent of the CPU time that is ours. */
double report_run_share(const struct report_run *run);

#endif
