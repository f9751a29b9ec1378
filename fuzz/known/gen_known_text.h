/*
 * gen_known_text.h - programs with a known result as PTX: gen_known_text.c statements and functions,
 * gen_known_sync.c threads together and flaws, gen_known_kernel.c variables and claims.
 */
#ifndef FUZZ_GEN_KNOWN_TEXT_H
#define FUZZ_GEN_KNOWN_TEXT_H

#include "engine/base/text.h"
#include "fuzz/known/gen_known.h"

#include <inttypes.h>

struct known_writing {
    struct text text;
    struct known_program *p;
    uint32_t labels;
    const struct known_function *function; /* NULL: the entry */
    uint32_t loop_label;                   /* of the innermost loop */
};

/* Whether something that is there from the start is read whose text has the name. */
bool known_reads(const struct known_program *program, const char *name);

#define PUT(w, ...) text_format(&(w)->text, __VA_ARGS__)

/* A piece of the node's text: %d, %a, %b, %c the operands; %g the guard; %w, %n the numbers `which` and `at`; %% a
 * percent sign. */
void known_put(struct known_writing *w, const struct known_node *n, const char *text);

/* An instruction by itself, with the guard. */
void known_put_line(struct known_writing *w, const struct known_node *n, const char *text);

/* Nodes of threads together: KNOWN_EXCHANGE, _PAIR, _SUBSET, _TWICE, _BARRIER, _REDUCE, _WARP, _FLAW. */
void known_put_together(struct known_writing *w, const struct known_node *n);

/* All functions and the entry. */
void known_put_functions(struct known_writing *w);

#endif
