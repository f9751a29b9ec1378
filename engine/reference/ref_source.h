/*
 * ref_source.h - one thread alone, from the text as it was written: for, do, switch, continue, calls with arguments,
 * all of them, one small function a kind of statement. What the thread reads of memory that others see it is told, in
 * the order of some execution of what the kernel was lowered to; what it then writes must be what that execution wrote.
 *
 * A thread is a function of what it reads: whoever runs it - a thread, a lane of a warp, a thread of basic blocks,
 * PTX -, whatever the others do, racy or not, its history of accesses and barriers is one of the text's.
 */
#ifndef ENGINE_REF_SOURCE_H
#define ENGINE_REF_SOURCE_H

#include "engine/reference/reference.h"

enum ref_event_kind { REF_EVENT_READ, REF_EVENT_WRITE, REF_EVENT_ATOMIC, REF_EVENT_BARRIER };

struct ref_event {
    enum ref_event_kind kind;
    bool used;
    uint32_t thread, address;
    int32_t value; /* what is there afterwards */
    int32_t found; /* what was there before */
    uint64_t step; /* of the execution; what one step does belongs to one statement */
};

struct ref_history {
    struct ref_event *events; /* of all threads, in the order of the execution */
    uint32_t count;
};

/* How the text's history of a thread is another; NULL: it is the same, as far as it is known. `end`: how the thread
 * ended, REF_RUNNING where that is not known: what is missing behind the last event is no difference then. */
struct ref_source_end {
    const char *differs; /* "write", "atomic", "barrier", "read", "end" */
    bool ended;          /* the text has been run to its end */
    uint32_t event;      /* the next one of the thread, history.count: none */
    uint32_t line;       /* of the statement in the text */
};

/* Memory at the start, for all threads. `r`: of REF_THREADS, for the kernel as it was written. */
void ref_source_start(struct ref *r, const int32_t *inputs);

/* One thread, behind ref_source_start. `steps`: so many statements at most, and not
 * more than *left, of which they are taken. */
struct ref_source_end ref_source_run(struct ref *r, uint32_t thread, struct ref_history *history,
                                     enum ref_end end, uint64_t steps, uint64_t *left);

/* NULL, or what kernel has that a thread alone does not know: votes. */
const char *ref_source_refuses(const struct ast_kernel *kernel);

#endif
