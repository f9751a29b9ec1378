/*
 * verdicts.h - what a solver's answers make of a proof (engine/prove/prove.c), by its definition (docs/prove.md, "What
 * the words mean").
 *
 * A small kernel is proved by a solver that answers as it is drawn: yes with some values, no, that it does not know, or
 * nothing. What was asked is known as terms; so for each goal it can be said what the verdict has to be, and at which
 * stage of the proof it is decided. No program is started, and answers that a real solver gives once in a thousand
 * kernels come as often as others.
 */
#ifndef ORACLE_VERDICTS_H
#define ORACLE_VERDICTS_H

#include "engine/base/arena.h"

#include <stdint.h>

struct ast_kernel;

/* stage: where it is decided, NULL if all verdicts are as they have to be. */
struct verdicts_fault {
    const char *stage, *why;
};

struct verdicts_fault verdicts_judge(struct arena *arena, const struct ast_kernel *kernel,
                                     uint64_t seed);

/* The guesses at the heads of a kernel's loops, against a list of them. */
struct verdicts_fault guesses_judge(struct arena *arena, const struct ast_kernel *kernel,
                                    uint64_t seed);

/* Of guesses of a drawn loop, *text, it is known whether runs show them to be false. */
struct verdicts_fault rehearsed_judge(struct arena *arena, uint64_t seed, const char **text);

/* Answers as z3 and cvc5 print them, drawn and read back; what is none is not taken for one. */
struct verdicts_fault answers_judge(struct arena *arena, uint64_t seed);

/* Terms that are plainly equal are one, and ranges are as narrow as operands say. */
struct verdicts_fault laws_judge(struct arena *arena, uint64_t seed);

/* How solvers and verifiers are started, asked, ended and kept: with programs that every system has in their places. */
struct verdicts_fault children_judge(struct arena *arena, uint64_t seed);

#endif
