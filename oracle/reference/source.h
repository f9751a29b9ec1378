/*
 * source.h - the histories of a case's threads, held against the kernel's text (engine/reference/ref_source.h).
 *
 * Whatever runs it, and whatever the kernel was lowered to for that: what each thread did to memory that others see,
 * and the barriers that it passed, is one history of the text, given what it read; so are how it ended, and its private
 * variables then. This is asked of racy kernels, too, and where executions are compared with no other.
 */
#ifndef ORACLE_REFERENCE_SOURCE_H
#define ORACLE_REFERENCE_SOURCE_H

#include "engine/reference/ref_source.h"
#include "engine/subjects/subject.h"
#include "oracle/check/explore.h"

struct source;

/* `core`: the kernel's core form, for what the launch draws. NULL: the kernel is not structured, or has what a thread
 * alone does not know: *why. */
struct source *source_new(struct arena *arena, struct ref_room *room,
                          const struct ast_kernel *kernel, const struct program *core,
                          const char **why);

/* Whether threads of the subject do what the text says: not where rules are others on purpose, nor over caches, nor
 * where the schedule draws what threads choose. */
bool source_applies(enum subject_id subject);

/* An execution of the machine is about to start. NULL: its memory lies elsewhere. */
struct observer *source_begin(struct source *x, const struct machine *machine);

/* How a thread differs, in the execution that has ended so; differs NULL: none does. */
struct source_answer {
    const char
        *differs; /* what does: "write", "atomic", "barrier", "read", "end", "private memory" */
    uint32_t thread;
    uint32_t line; /* of the text */
    uint32_t event;
    const struct ref_event *next; /* NULL: there is none */
    uint64_t events;              /* that were looked at */
};
struct source_answer source_end(struct source *x, const struct machine *machine,
                                enum status status);

/* Behind source_end, which found nothing: one thing that a thread did is told as something else, or how it ended. NULL:
 * then the text does not do it, or nothing can be told otherwise; else what the second account lets pass. */
const char *source_allows(struct source *x, const struct machine *machine, enum status status,
                          uint64_t drawn);

#endif
