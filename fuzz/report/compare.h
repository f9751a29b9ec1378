/*
 * compare.h - the two executions of a divergence side by side: a finding's case run again, and where the
 * two part.
 *
 * A side is an execution as a picture has it: rows are steps, columns are the threads of the grid.
 */
#ifndef FUZZ_REPORT_COMPARE_H
#define FUZZ_REPORT_COMPARE_H

#include "db/db.h"
#include "fuzz/report/side.h"

/* What was run on a side. */
struct compared {
    const struct program *program;
    enum subject_id subject;
    struct sched_spec schedule;
};

struct comparison {
    const struct ast_kernel *kernel;
    struct compared runs[2];
    struct side sides
        [2]; /* the finding's subject; what it is compared with: subject NULL = nothing that runs */
    const char *summary; /* the oracle's sentence */
    const char *parting; /* one sentence: where they part, and who says so; "": not known */
};

/* Runs the finding's case again - the kernel as given, minimised or raw - and both executions. NULL: *why
 * says what is in the way. The comparison lives in `arena`; `scratch` is used and released. */
const struct comparison *compare_finding(struct arena *arena, struct arena *scratch,
                                         const struct db_finding *finding, const char *kernel,
                                         bool minimised, const char **why);

#endif
