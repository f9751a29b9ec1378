/*
 * read_back.h - what a campaign writes down, read again: an execution's tape is printed, parsed and played, and must
 * take the same steps to the same memory; the kernel's text likewise. Asked of a share of a campaign's cases.
 */
#ifndef FUZZ_READ_BACK_H
#define FUZZ_READ_BACK_H

#include "engine/kernel/kernel.h"
#include "engine/subjects/subject.h"

/* A subject that runs the kernel, of those the seed puts first. */
struct read_back_subject {
    enum subject_id subject;
    const struct subject_info *info;
    const struct program *program;
};

/* False: none runs it. */
bool read_back_choose(struct arena *arena, const struct ast_kernel *kernel, uint64_t seed,
                      struct read_back_subject *chosen);

/* NULL: everything reads back; or what does not: "kernel text", "tape text", "tape". Which subject's execution it is,
 * and its schedule, are drawn by `seed`. */
const char *read_back(struct arena *arena, const struct ast_kernel *kernel, uint64_t seed);

#endif
