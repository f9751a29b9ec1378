/*
 * retrace_internal.h - a pair of threads that is being retraced, and what is asked of each deed of theirs.
 */
#ifndef ORACLE_PROVE_RETRACE_INTERNAL_H
#define ORACLE_PROVE_RETRACE_INTERNAL_H

#include "engine/duo/lift.h"
#include "engine/smt/term_value.h"
#include "oracle/prove/executed.h"
#include "oracle/prove/retrace.h"

enum { WRITTEN_MAX = 64 /* of an interval, whose values are compared at its end */ };

/* Where a thread has written in its interval. */
struct written {
    const struct ast_var *var;
    uint32_t location; /* in it: its element, of PTX a byte or word of one (duo.units) */
};

/* Thread k of the pair, as far as it has come. */
struct retraced {
    uint32_t thread; /* in the grid */
    bool exact; /* it has done all that it does: the execution went well, or ended with its death */
    uint32_t block;
    uint32_t interval;
    uint32_t choices;
    uint32_t atomics; /* of the execution's list: what comes next */
    uint32_t ops;     /* likewise */
    uint32_t written_count;
    struct written written[WRITTEN_MAX];
};

struct retracing {
    struct arena *arena;
    struct duo *duo;
    const struct executed *x;
    struct term_values values;
    const term *all; /* term number n */
    struct retraced f[2];
    uint8_t *met; /* an entry of the log: it was met */
    uint8_t
        *logged; /* a variable, a kind: thread 1 has, of the location watched, in its interval */
    bool meets;  /* thread 2 has accessed what conflicts with that: an obligation must say so */
    bool wrong[GOAL_COUNT];
    uint32_t race_kinds;   /* LOG_.. of thread 2, by bits, in obligations about .. */
    const char *race_name; /* .. this variable */
    bool well;             /* nothing can go wrong in this execution, of which all is known */
    bool left;             /* trips are */
    bool spent;            /* it is too long */
    bool stopped; /* the path ended, more is asked than the execution did, or one of these two */
    uint64_t evaluations;
    struct retrace_fault fault;
};

static inline bool pair_is_true(const struct retracing *w, term t)
{
    return w->values.words[t] != 0;
}

void pair_complain(struct retracing *w, const char *what, const char *why);

/* "thread 3 (beside thread 5)": thread k of the pair. */
const char *pair_who(struct retracing *w, uint32_t k);

/* What threads find at first. */
void pair_begin(struct retracing *w);

/* The deed is done: what it makes up is told, what it says is compared. */
void pair_deed(struct retracing *w, const struct deed *d);

/* At a loop's head: each guess is what its text says. */
void pair_guesses(struct retracing *w, const struct loop_cut *cut);

/* The threads have come to their end, as far as the execution has: they have done no less than it says. */
void pair_end(struct retracing *w, uint32_t k);

#endif
