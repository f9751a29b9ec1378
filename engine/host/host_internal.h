/*
 * host_internal.h - what the files of host programs share: a line and its words.
 */
#ifndef ENGINE_HOST_INTERNAL_H
#define ENGINE_HOST_INTERNAL_H

#include "engine/host/host.h"

enum { HOST_WORDS = 4096 };

struct host_word {
    const char *text; /* in the arena */
    uint32_t column;
    bool quoted;
};

struct host_reader {
    struct arena *arena;
    struct diag *diag;
    struct host_program *program;
    const char *path; /* of the program; its folder holds the kernels */
    const char *text, *end, *at;
    uint32_t line;
    uint32_t context; /* that is used */
    uint32_t word_count, next;
    struct host_word *words; /* of the line */
};

/* The next line with words; false at the end, or at an error. Punctuation is a word of its own. */
bool host_read_line(struct host_reader *r);
/* Text up to a line `end`: what stands between. NULL: there is no such line. */
const char *host_read_block(struct host_reader *r, size_t *length);

bool host_at_end(const struct host_reader *r);
struct location host_here(const struct host_reader *r);
/* Takes a word if it is this one. */
bool host_take(struct host_reader *r, const char *text);
/* The next word, whatever it is; NULL: there is none. */
const char *host_next(struct host_reader *r);
/* A name; NULL: an error. */
const char *host_take_name(struct host_reader *r, const char *what);
bool host_number(struct host_reader *r, const char *what, uint64_t most, uint32_t *value);
bool host_signed(struct host_reader *r, int32_t *value);
bool host_values_read(struct host_reader *r, struct host_values *values);
bool host_fail(struct host_reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
