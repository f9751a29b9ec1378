/*
 * subject.h - a semantics with its options, as written on the command line: name[:option[=value]]...
 */
#ifndef ENGINE_SUBJECT_H
#define ENGINE_SUBJECT_H

#include "engine/machine.h"

enum subject_id { SUBJECT_THREADS, SUBJECT_SIMT, SUBJECT_SIMT_THEN, SUBJECT_COUNT };

struct subject_info {
    const char *name;      /* canonical: "threads", "simt", "simt:then-first" */
    const char *semantics; /* "threads", "simt" */
    const char *sentence;
    const struct semantics *vtable;
    bool then_first;
};

extern const struct subject_info subject_table[SUBJECT_COUNT];

/* "simt:else-first" is "simt". False when there is no such subject. */
bool subject_parse(const char *text, size_t length, enum subject_id *subject);

/* A comma-separated list to a set of bits (1u << id). On failure *error_at is the offending item. */
bool subject_parse_list(const char *text, uint32_t *set, const char **error_at);

/* Whether an expectation written for `claim_subject` (NULL = all) is about `subject`: a bare
 * semantics name is its default options only ("simt" = else-first). */
bool subject_matches(const char *claim_subject, enum subject_id subject);

#endif
