/*
 * horn_text.h - Horn clauses, as engine/prove/horn.c prints them, by SMT-LIB's own rules (theories Ints and ArraysEx):
 * read clause by clause, with values drawn for all that is quantified. In each clause every `let` must be what its term
 * is as a word, the premises those of the walk - the condition, what is assumed, that words are words, the relations of
 * the loops that it goes through -, and the conclusion the relation of the state that the walk has there. A word that
 * does not fit 32 bits must be asked about in a clause of its own, and what words do and integers can say is no
 * variable.
 */
#ifndef ORACLE_VERDICTS_HORN_TEXT_H
#define ORACLE_VERDICTS_HORN_TEXT_H

#include "engine/duo/duo.h"

/* Of a walk with all loops cut and all its obligations: what is wrong of its clauses; NULL: nothing. */
const char *horn_text_judge(struct arena *arena, struct duo *duo, uint64_t seed);

#endif
