/*
 * word.h - what the kernel language's operators make of two words (docs/kernel-language.md): for interpreters of
 * emitted texts, and for who says what such a text means.
 */
#ifndef ORACLE_WORD_H
#define ORACLE_WORD_H

#include "engine/language/ast.h"

int32_t word_operate(enum ast_binary op, int32_t a, int32_t b);

#endif
