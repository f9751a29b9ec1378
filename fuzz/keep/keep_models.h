/*
 * keep_models.h - what a reduction may be asked to keep instead of a signature: how a kernel ends
 * under some execution models, as its termination matrix (oracle/matrix/matrix.h) says. "It hangs
 * as a warp, and ends if all threads are let run" is the class of a hang; a smaller kernel that
 * merely hangs would be another one.
 */
#ifndef FUZZ_KEEP_MODELS_H
#define FUZZ_KEEP_MODELS_H

#include "fuzz/reduce/interest.h"
#include "oracle/matrix/matrix.h"

enum { KEEP_ROWS = 64 };

struct keep_row {
    enum matrix_unit unit;
    const char *model;
    enum matrix_ending ending;
};

struct keep_models {
    uint32_t count;
    struct keep_row rows[KEEP_ROWS];
    /* All rows were asked for: those that a smaller launch does not have - warps, blocks - need not
     * be there. */
    bool all;
};

/* The rows of the kernel's matrix that the list names - "all", or models, "simt,fair", a unit
 * before them where it is not the usual one, "blocks/fair" - with their verdicts. Of `all`, unknown
 * ones are left out. False: *error says why; none of them hangs, too. */
bool keep_models_of(struct arena *arena, const struct ast_kernel *kernel, const char *list,
                    struct keep_models *keep, const char **error);

/* That a kernel ends alike; refers to `keep`. */
struct interest keep_models_interest(struct keep_models *keep);

/* "hangs warps simt, ends threads fair" */
const char *keep_models_print(struct arena *arena, const struct keep_models *keep);

#endif
