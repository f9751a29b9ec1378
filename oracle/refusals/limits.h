/*
 * limits.h - what is drawn to be just as large as a reader or a form allows, which must be taken, or just larger, which
 * must be refused for that reason: how large it is is counted while it is drawn, or of what came of it.
 */
#ifndef ORACLE_LIMITS_H
#define ORACLE_LIMITS_H

#include "oracle/drawn/drawn.h"

/* One of all of them, which the number draws. NULL: all is as it should be; else "taken: ..", and *text is it. */
const char *limits_ask(struct arena *arena, uint64_t number, const char **text);

/* ---- what may be drawn ---- */

/* Each returns NULL, or what is otherwise than it should be; d->text is the text. */

/* Expressions, and statements, nested deeply. */
const char *limits_nested_expression(struct drawn *d);
const char *limits_nested_statement(struct drawn *d);

/* ---- between the files ---- */

/* The text is taken, and printed and read again it is the same; or it is refused for one reason, there. */
const char *limits_is_taken(struct drawn *d, struct ast_kernel **kernel);
const char *limits_is_refused(struct drawn *d, const char *says, size_t at);

#endif
