/*
 * drawn_terms.h - the rules of formulas (engine/smt) on drawn ones: what a builder gives has the value that its
 * operation gives of the operands' values, whatever it simplified; a word lies where it is known to lie; a replaced
 * symbol has the value of what stands for it; and the text for a solver says the same as the term (smt_text.h).
 */
#ifndef ORACLE_PROVE_DRAWN_TERMS_H
#define ORACLE_PROVE_DRAWN_TERMS_H

#include "oracle/prove/retrace.h"

struct retrace_fault drawn_terms(struct arena *arena, uint64_t seed);

/* The first operation, those that others are made of first, that some drawing of a fixed list shows at fault; none: no
 * part of what formulas are. Whatever is found of proofs where an operation is at fault is found of this. */
struct retrace_fault drawn_terms_cause(struct arena *arena);

#endif
