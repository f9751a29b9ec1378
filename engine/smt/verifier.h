/*
 * verifier.h - a program that reads a text from its standard input, prints what it finds, and ends: Boogie.
 */
#ifndef ENGINE_VERIFIER_H
#define ENGINE_VERIFIER_H

#include "engine/base/arena.h"

#include <stdint.h>

/* Boogie's own name for its standard input is stdin.bpl; /contractInfer: it looks for the invariants itself. */
#define VERIFIER_BOOGIE "boogie /nologo /contractInfer /noinfer stdin.bpl"

/* What the command (words separated by blanks) prints of `text`, in the arena; NULL: it is not installed, does not end
 * within `seconds`, or cannot be started. What it prints counts, whatever its exit status. */
const char *verifier_ask(struct arena *arena, const char *command, const char *text,
                         uint32_t seconds);

#endif
