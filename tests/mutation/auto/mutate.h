/*
 * mutate.h - writes a version of a source file that holds all of its mutants at once.
 *
 *     mutate.c  the program: which files, their text after the preprocessor, the output
 *     points.c  where a file can be mutated: a walk over its tree (libclang's C API); tree.c, replace.c
 *     table.c   points and mutants, by names that do not depend on line numbers
 *     edit.c    insertions into a text
 *
 * A *point* is a place in a function: an operator, a condition, a constant, a statement. In the output
 * it asks mutant_probe[point] (mutant.h) whether it is looked at; if so it offers the original's value
 * and that of each of its *mutants*, and the runtime says which is taken. What is in a header counts
 * once, in however many files it is included.
 */
#ifndef MUTATE_H
#define MUTATE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* ---- edit.c ---- */

/* What stands at one offset, in this order: what ends there, what lies between two parts, what starts. */
enum edit_rank { EDIT_CLOSE, EDIT_MIDDLE, EDIT_OPEN };

struct edit {
    uint32_t offset, length; /* bytes of the original that go away */
    enum edit_rank rank;
    uint32_t order; /* of the point, outer ones first */
    char *text;
};

struct edits {
    struct edit *items;
    uint32_t count, capacity;
    bool off; /* nothing is added: of a point that is not asked for */
};

void edit_add(struct edits *edits, uint32_t offset, uint32_t length, enum edit_rank rank,
              uint32_t order, const char *format, ...) __attribute__((format(printf, 6, 7)));
void edit_write(struct edits *edits, const char *text, size_t length, FILE *out);
void edit_clear(struct edits *edits);

/* ---- table.c ---- */

enum { POINT_MUTANTS_MAX = 6, NAME_MAX_BYTES = 200 };

/* What is told of a point; the texts are copied. */
struct point {
    const char *file, *part, *function; /* as in the repository; the part that the scope says */
    const char *operator_name;          /* "relation", "bits", .. */
    uint32_t line;
    const char *old;                    /* its text, blanks left out */
    const char *new[POINT_MUTANTS_MAX]; /* what each mutant makes of it */
    uint32_t count;
};

/* From now on only points that have one of these mutants are kept: names, a line each. False: it cannot be read. */
bool table_only(const char *path);
/* Number of the point; one that has come up in another file before has its number already. */
enum { POINT_NOT_KEPT = -1 };
int64_t table_point(const struct point *point);
/* A new file is read: equal texts in a function are counted from 1 again. */
void table_new_file(void);
void table_write(FILE *out);
/* Names of all mutants, a line each. */
void table_list(FILE *out);
uint32_t table_mutants(void);

/* ---- points.c ---- */

struct points_options {
    const char *root;                         /* of the repository, with a slash */
    const char *(*part_of)(const char *file); /* a path in the repository; NULL: out of scope */
    bool (*is_quiet)(const char *function);   /* makes texts, or fails an INVARIANT */
    bool (*is_switch)(const char *text);      /* of an expression, without blanks */
};

/* `text`: a file after the preprocessor. False: libclang does not understand it; said to standard error. */
bool points_find(const char *name, const char *text, size_t length,
                 const struct points_options *options, struct edits *edits);

#endif
