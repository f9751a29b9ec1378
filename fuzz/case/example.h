/*
 * example.h - a finding made fit for the database: run again from its case, then minimised.
 */
#ifndef FUZZ_EXAMPLE_H
#define FUZZ_EXAMPLE_H

#include "fuzz/case/case.h"
#include "fuzz/keep/keep_signature.h"
#include "fuzz/supervise/watch.h"

enum {
    EXAMPLE_RUNS = 3,
    EXAMPLE_REDUCE_TESTS = 1000,
    EXAMPLE_REDUCE_STEPS = 1 << 24, /* some three seconds */
};

/* What one run of a case shows of one signature; strings in the caller's arena. */
struct shown {
    bool found;
    const char *signature, *k1;
    const char *oracle, *class_name, *rule, *observable, *subject;
    const char *cause; /* signature.h */
    const char *known; /* NULL = not a known one */
    const char *evidence, *summary;
    const char *tape;       /* of the subject's execution, "" = none */
    const char *other_tape; /* of the one it is compared with */
    uint32_t line;
    uint64_t steps;    /* that the run took */
    const char *about; /* the kernel drawn beside the case's, if it is about that; or NULL */
};

struct example {
    bool replayed;      /* EXAMPLE_RUNS runs from the case agree byte for byte */
    const char *why;    /* when they did not */
    const char *kernel; /* text */
    const char *case_text;
    uint32_t statements;
    struct shown raw;

    bool minimised;
    bool hopeless; /* minimising was tried and left nothing that shows the signature */
    bool slipped;  /* the smaller form has another signature: K2 shrank nothing, only K1 was kept */
    uint64_t steps; /* of threads and warps, in all runs */
    const char *small_kernel, *small_case, *small_tape, *small_launch;
    const char *small_transforms; /* "": none */
    uint32_t small_statements, tests, runs;
    bool relaxed;   /* only K1 of the signature was kept */
    bool cut_short; /* the campaign ended; with more time it might be smaller */
    enum reduce_ending ending;
    struct shown small;
};

/* The kernel of a case: generated, printed and parsed again, so that its statements have lines and
 * a run from the stored text is the same run. *text receives the text; of a case that is not generated, it
 * is given. */
struct ast_kernel *example_kernel(struct arena *arena, const struct fuzz_case *c,
                                  const char **text);

/* Checks the kernel as the case says and looks for the signature (or, k1_only, its K1 key). */
void example_run(struct arena *arena, struct arena *scratch, const struct ast_kernel *kernel,
                 const struct check_options *check, const char *signature, bool k1_only,
                 struct shown *shown);

/* Runs a case again - `text` is its kernel's, NULL: it is generated - for the divergence with this signature, and
 * minimises it as the options say, but with the case's check; NULL for go_on: without an end before its time. max_tests
 * 0: one run instead of EXAMPLE_RUNS, and nothing is minimised. The example lives in `arena`; `scratch` is used and
 * released. */
void example_make(struct arena *arena, struct arena *scratch, const struct fuzz_case *c,
                  const char *text, const char *signature, const struct reduce_options *options,
                  struct example *example);

/* A case at which the engine dies or died once (watch.h): no subject is run; nor is the generator, where
 * that is what is fatal. */
void example_of_incident(struct arena *arena, struct arena *scratch, const struct fuzz_case *c,
                         const char *text, const struct incident *incident,
                         struct example *example);

/* Minimises a kernel that shows the signature; fills the small part of `example`. False: it does not
 * show it. */
bool example_minimise(struct arena *arena, struct arena *scratch, const struct ast_kernel *kernel,
                      const char *signature, const struct reduce_options *options,
                      struct example *example);

#endif
