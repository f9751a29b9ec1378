#include "engine/kernel/matrix_rows.h"

const char *const matrix_unit_names[MATRIX_UNITS] = {
    [MATRIX_THREADS] = "threads", [MATRIX_WARPS] = "warps", [MATRIX_BLOCKS] = "blocks"};

const char *const matrix_ending_names[ENDING_COUNT] = {[ENDING_ENDS] = "ends",
                                                       [ENDING_ENDS_STRONGLY] = "ends-strongly",
                                                       [ENDING_HANGS] = "hangs",
                                                       [ENDING_MAY_HANG] = "may-hang",
                                                       [ENDING_UNKNOWN] = "unknown"};

const char *const matrix_model_names[] = {
    /* Warps with a stack. */
    "simt",
    "simt:then-first",
    "crs",
    "lockstep",
    "tbc",
    "tbc:then-first",
/* Warps without one. */
#define POLICY(id, name, unit, sentence) "stackless:" name,
#include "engine/kernel/stackless.def"
#undef POLICY
    "stackless:dws-loops:then-first",
/* Progress models. */
#define MODEL(id, name, sentence) name,
#include "engine/kernel/progress.def"
#undef MODEL
};

const uint32_t matrix_model_count = sizeof matrix_model_names / sizeof *matrix_model_names;
