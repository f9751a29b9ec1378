/*
 * output.h - the one way in which a command writes a file that a person named.
 *
 * Before any work begins, outputs_look says what stands in the way: hours of work do not end at a folder that is not
 * there. No output is the same file as an input, as a database or what belongs to it, or as another output: files are
 * compared by device and inode, those that are not there yet by their folder and name. output_write then puts the
 * whole text beside the file and renames it, so that the former one stays until the new one is complete.
 */
#ifndef FUZZ_OUTPUT_H
#define FUZZ_OUTPUT_H

#include "engine/base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct output_file {
    const char *path;
    const char *what; /* for messages: "--html", "the database" */
};

enum output_fault {
    OUTPUT_GOOD,
    OUTPUT_CLASH,  /* it is a file that must stay: an input, another output, any database */
    OUTPUT_REFUSED /* it cannot be written */
};

/* Whether all of `written` can be written, and none is one of `kept` or another of `written`. "-" is standard output
 * and always good. *why: a sentence in the arena. */
enum output_fault outputs_look(struct arena *arena, const struct output_file *written,
                               uint32_t written_count, const struct output_file *kept,
                               uint32_t kept_count, const char **why);

/* The whole text; false: *why, and a former file is as it was. Devices, pipes, and files that can be written in a
 * folder that cannot are written in place. */
bool output_write(const char *path, const char *text, size_t length, const char **why);

#endif
