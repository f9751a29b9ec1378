/*
 * tidy.h - an emitted text as people read it: the same tokens but for parentheses and lines that mean nothing, and
 * without what is there for other compilers only.
 */
#ifndef FUZZ_HUNT_TIDY_H
#define FUZZ_HUNT_TIDY_H

#include "engine/base/arena.h"

/* What is defined for compilers without headers of the language (SIMTFUZZ_BARE, engine/emit/emit_dialect.c). */
enum tidy_bare { TIDY_BOTH, TIDY_BARE, TIDY_NOT_BARE };

const char *tidy_text(struct arena *arena, const char *text, enum tidy_bare bare);

#endif
