/*
 * kernel.h - what every kernel has, in whatever form it was given: limits, launch, claims, rows of its
 * termination matrix. The form's own part hangs below: a tree of the kernel language (ast.h), or a module of PTX
 * (ptx_kernel.h).
 */
#ifndef ENGINE_KERNEL_H
#define ENGINE_KERNEL_H

#include "engine/base/arena.h"
#include "engine/base/diag.h"
#include "engine/kernel/cache_sizes.h"
#include "engine/kernel/matrix_rows.h"

#include <stdbool.h>
#include <stdint.h>

struct ast_var;
struct ast_function;
struct ptx_kernel;

/* Limits of the language; each is an error with its place when a text exceeds it. */
enum {
    LIMIT_SOURCE_BYTES = 1 << 20,
    LIMIT_DEPTH = 200, /* nesting of statements, of expressions */
    LIMIT_CHAIN = 16,  /* links of a chain (a + b + .., else if ..) that count as one level of it */
    LIMIT_THREADS = 1024, /* in a block */
    LIMIT_BLOCKS = 64,
    LIMIT_TOTAL_THREADS = 4096, /* in the grid */
    LIMIT_WARP = 64,
    LIMIT_ARRAY = 1 << 16,        /* elements */
    LIMIT_MEMORY_WORDS = 1 << 22, /* of all copies of all variables together */
    LIMIT_PLACED_WORDS = 1 << 28, /* the same, where `memory:` places some of them (ptx_kernel.h) */
    LIMIT_FUNCTIONS = 256,
    LIMIT_PARAMETERS = 16,
    LIMIT_NAME = 64,
    LIMIT_SUBJECT = 200,             /* of an expect, with its options */
    LIMIT_CALL_DEPTH = 32,           /* frames of one thread, the kernel's own included */
    LIMIT_VARIABLES = 1024,          /* in one scope */
    LIMIT_LABELS = 1024,             /* basic blocks of a kernel */
    LIMIT_PROGRESS_STATES = 1 << 24, /* of an `expect progress within` */
    LIMIT_CASES = 1024,              /* of one switch */
    LIMIT_NODES = 1 << 16, /* statements, expressions, declarations, claims of a text together */
};

enum ast_claim {
    CLAIM_RACE_FREE,
    CLAIM_RACE,
    CLAIM_TERMINATES,
    CLAIM_NONTERMINATING,
    CLAIM_BARRIER_DIVERGENCE,
    CLAIM_ASSERT_FAILS,
    CLAIM_OUT_OF_BOUNDS,
    CLAIM_DEADLOCK,
    CLAIM_UNFAIR,
    CLAIM_STUCK,
    CLAIM_FINAL,
    CLAIM_CALL_DEPTH, /* not in the catalogue's list, a status all the same */
    CLAIM_INFEASIBLE, /* likewise */
    CLAIM_BARRIER_ERROR,
    CLAIM_COUNT
};

struct ast_expect {
    enum ast_claim claim;
    const char *subject;  /* `expect subject: ...`, with its options; NULL = every one */
    struct ast_var *var;  /* CLAIM_FINAL; CLAIM_RACE: the location's variable or NULL */
    uint32_t value_count; /* CLAIM_FINAL */
    int32_t *values;
    uint32_t group; /* claims of one expect statement share it, for printing */
    struct location at;
    struct ast_expect *next;
};

/* `expect progress: hangs warps simt, ends *;`: a verdict of rows of the termination matrix. */
struct ast_progress {
    enum matrix_ending ending;
    enum matrix_unit unit; /* MATRIX_UNITS: all */
    const char *model;     /* NULL: all of the unit */
    uint32_t group;        /* as of ast_expect */
    struct location at;
    struct ast_progress *next;
};

struct ast_launch {
    uint32_t threads; /* of a block */
    uint32_t warp;    /* lanes of a full warp */
    uint32_t blocks;
    uint64_t seed;
    struct cache_sizes caches;
    struct location at; /* of the launch clause, for messages */
};

/* All functions of a kernel have the kernel's form. */
enum ast_form {
    FORM_STRUCTURED,
    FORM_BLOCKS,   /* lockstep-cfg section 1: every thread runs the blocks */
    FORM_LOCKSTEP, /* lockstep-cfg section 8: one program for all threads of a block. A private
                     variable v is the vector v_1 .. v_TS; a statement on it is done for all threads at
                     once, all reads before all writes */
    FORM_PTX       /* a PTX module (ptx_kernel.h): no functions here, no main */
};

struct ast_kernel {
    const char *name;
    enum ast_form form;
    struct ast_launch launch;
    struct ast_var *vars;           /* file level, in order */
    struct ast_function *functions; /* in order; the kernel itself is not among them */
    struct ast_function *main;      /* the kernel's own locals and body or blocks */
    struct ast_expect *expects;
    struct ast_progress *progress; /* of the kernel as it is written: no copy has it */
    uint32_t
        progress_states;    /* `expect progress within N`: the searches' bound; 0: the usual one */
    struct ptx_kernel *ptx; /* FORM_PTX; otherwise NULL */
    bool placed;            /* FORM_PTX: `memory:` gives it memory of LIMIT_PLACED_WORDS */
};

static const struct ast_launch AST_DEFAULT_LAUNCH = {.threads = 4, .warp = 4, .blocks = 1};

#endif
