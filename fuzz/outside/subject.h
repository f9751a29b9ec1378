/*
 * subject.h - an implementation that is not ours, as a subject: it takes texts with kernels and gives back what memory
 * held at the end.
 *
 *     compiler:clang-14:-O2      OpenCL C to PTX; the PTX runs in our own crs, thread-pc and block
 *     compiler:CMD {in} {out}    any command that does so
 *
 * Many kernels stand in one text, so that starting the implementation is paid once. Whoever adds a kind of
 * implementation writes a `struct outside_kind` (outside_kinds, subject.c).
 */
#ifndef FUZZ_OUTSIDE_SUBJECT_H
#define FUZZ_OUTSIDE_SUBJECT_H

#include "engine/emit/emit.h"

/* How a kernel ended there. All but FINAL and UNSUPPORTED may be findings. */
enum outside_end {
    OUTSIDE_FINAL,         /* `final` is what memory held */
    OUTSIDE_CRASH,         /* the implementation died, or said that it is broken */
    OUTSIDE_HANG,          /* it used up its CPU time */
    OUTSIDE_COMPILE_ERROR, /* it refused the text */
    OUTSIDE_RUN_ERROR,     /* it could not run it, or the run ended otherwise than by termination */
    OUTSIDE_UNSUPPORTED,   /* we cannot say: what it gave is nothing that we take */
    OUTSIDE_END_COUNT
};

extern const char *const outside_end_names[OUTSIDE_END_COUNT];

struct outside_result {
    enum outside_end end;
    /* OUTSIDE_FINAL: memory as each of `final_count` ways to run it left it; emitted.result_words words each. */
    const int32_t *finals[4];
    const char *ways[4]; /* "block", "crs", .. or "" */
    uint32_t final_count;
    const char *steps;            /* OUTSIDE_FINAL: what it says of its steps; NULL: nothing */
    const struct emitted *kernel; /* whose steps they are */
    const char *cause; /* otherwise: an assertion's text, a function's name, a sentence */
    const char *log;   /* what it printed, shortened */
};

/* A text and the kernels in it. */
struct outside_batch {
    enum emit_language language;
    const char *text;
    uint32_t count;
    const struct emitted *kernels;
};

struct outside_subject {
    const char *name; /* as given, complete: "compiler:clang-14:-O2" */
    const char *version;
    enum emit_language language;
    uint32_t lacks; /* knobs that it has not what it takes for */
    const struct outside_kind *kind;
    void *own; /* of the kind */
};

struct outside_settings {
    const char *folder;   /* private, for files that come and go */
    uint32_t cpu_seconds; /* of one batch, at most */
    uint64_t memory;      /* bytes of address space, at most */
};

struct outside_kind {
    const char *name; /* before the colon */
    const char *sentence;
    /* Of "kind:rest". NULL: *reason says why it cannot be used here ("clang-99 is not installed"). */
    struct outside_subject *(*open)(struct arena *arena, const char *rest, const char **reason);
    /* Each kernel of a batch gets a result, in the arena. */
    void (*run)(struct arena *arena, const struct outside_subject *subject,
                const struct outside_settings *settings, const struct outside_batch *batch,
                struct outside_result *results);
    /* The same implementation without optimisation; NULL: it is that, or there is none. */
    struct outside_subject *(*plain)(struct arena *arena, const struct outside_subject *subject);
    /* Of a compiler: the command that makes kernel.ptx of kernel.cl or kernel.cu, for a shell; or NULL. */
    const char *(*command)(struct arena *arena, const struct outside_subject *subject);
    /* Adds the names of those that are found here: calls `found` for each. */
    void (*find)(struct arena *arena,
                 void (*found)(void *context, const char *name, const char *version),
                 void *context);
};

extern const struct outside_kind *const outside_kinds[];
extern const uint32_t outside_kind_count;

/* NULL: *reason. */
struct outside_subject *outside_open(struct arena *arena, const char *name, const char **reason);

#endif
