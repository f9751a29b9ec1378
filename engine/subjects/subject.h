/*
 * subject.h - a semantics with its options, as written on the command line: name[:option[=value]]...
 */
#ifndef ENGINE_SUBJECT_H
#define ENGINE_SUBJECT_H

#include "engine/machine/machine.h"

enum subject_id {
#define SUBJECT(id, ...) SUBJECT_##id,
#include "engine/subjects/subject.def"
#undef SUBJECT
    SUBJECT_COUNT
};

/* What a subject runs. */
enum program_id {
#define PROGRAM(id, name, ...) PROGRAM_##id,
#include "engine/subjects/programs.def"
#undef PROGRAM
    PROGRAM_COUNT
};

enum subject_role { SUBJECT_ORDINARY, SUBJECT_VARIANT, SUBJECT_GIVEN };

struct subject_info {
    const char *name;      /* canonical: "threads", "simt", "simt:then-first" */
    const char *semantics; /* whose rules it fires: "threads", "simt"; "none" */
    const char *sentence;
    const struct semantics *vtable; /* NULL: the subject has no machine (two-thread) */
    enum program_id program;
    enum subject_role role;
    uint32_t share;                 /* of a case's executions it gets one in so many */
    struct machine_options options; /* of its machine */
};

extern const struct subject_info subject_table[SUBJECT_COUNT];

extern const char *const program_id_names[PROGRAM_COUNT];

/* A set of subjects: SUBJECT_BIT(id) for each. There are more than 64. */
__extension__ typedef unsigned __int128 subject_set;
#define SUBJECT_BIT(id) ((subject_set)1 << (id))
#define SUBJECTS_ALL (SUBJECT_BIT(SUBJECT_COUNT) - 1)

/* All the ordinary ones; they come first in the table. */
enum {
    SUBJECTS_DEFAULT = 0
#define SUBJECT(id, name, semantics, program, role, ...)                                           \
    | (SUBJECT_##role == SUBJECT_ORDINARY ? 1 << SUBJECT_##id : 0)
#include "engine/subjects/subject.def"
#undef SUBJECT
};

/* "simt:else-first" is "simt". False when there is no such subject. */
bool subject_parse(const char *text, size_t length, enum subject_id *subject);

/* A comma-separated list to a set; the item `all` stands for the ordinary ones,
 * and `-name` takes one out again. On failure *error_at is the offending item. */
bool subject_parse_list(const char *text, subject_set *set, const char **error_at);

/* Whether there is any point in asking the subject about a kernel given in this form: that a block
 * program has no core form, and that PTX is not taken apart again, goes without saying. */
bool subject_suits(enum subject_id subject, enum ast_form form);

/* Whether an expectation written for `claim_subject` (NULL = every ordinary one) is about `subject`:
 * a bare semantics name is its default options only ("simt" = else-first). */
bool subject_matches(const char *claim_subject, enum subject_id subject);

#endif
