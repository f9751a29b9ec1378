/*
 * smt_text.h - definitions in SMT-LIB 2, as term_print writes them, by the standard's own rules (theories
 * FixedSizeBitVectors and ArraysEx, logic QF_BV): `(assert (= t12 (bvadd t3 #x00000001)))` with the values of t3 and
 * t12 given.
 */
#ifndef ORACLE_PROVE_SMT_TEXT_H
#define ORACLE_PROVE_SMT_TEXT_H

#include "engine/smt/term_value.h"

/* The first definition of the text that is false, up to its line's end, or the first line that names what is not
 * declared before, as it is and once; NULL: all hold. */
const char *smt_text_false(struct arena *arena, const char *text, const struct terms *terms,
                           const struct term_values *values);

#endif
