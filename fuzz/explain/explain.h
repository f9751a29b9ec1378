/*
 * explain.h - rules, subjects, oracles, known divergences, errata and words, told to somebody who has not read the
 * papers (docs/explain.md).
 *
 * Nothing is told twice: a rule's drawing is the comment above its function, its kernel that of corpus/rules, errata
 * and words are those of docs/. Only the paragraphs about subjects and oracles stand here, in explain_words.def.
 */
#ifndef FUZZ_EXPLAIN_H
#define FUZZ_EXPLAIN_H

#include "oracle/check/check.h"

#include <stdio.h>

enum explain_kind {
    EXPLAIN_KERNEL, /* "simt-if.simt": of corpus/rules */
    EXPLAIN_ERRATUM,
    EXPLAIN_ERRATUM_HERE, /* what is done instead, where it stands apart */
    EXPLAIN_KNOWN,        /* known divergences */
    EXPLAIN_CLASS,        /* "result|store" */
    EXPLAIN_WORD
};

/* Lines, to a NULL. */
struct explain_text {
    enum explain_kind kind;
    const char *name;
    const char *const *lines;
};
extern const struct explain_text
    explain_texts[]; /* to a NULL name; explain_texts.c, which CMake makes */

/* The paragraph about a subject, and a kernel that shows it; of a variant those of what it varies. NULL: there is
 * none. */
const char *explain_subject(enum subject_id subject, const char **example);
/* Likewise of an oracle; `next` is what to do when it speaks. */
const char *explain_oracle(enum oracle_id oracle, const char **example, const char **next);
/* The kernel of corpus/rules that fires the rule: its name, its lines; NULL: there is none. */
const struct explain_text *explain_rule_kernel(struct arena *arena, enum rule rule);

/* Everything of that name. False: there is nothing. */
bool explain(struct arena *arena, const char *name, FILE *out);

/* Rules in whose names that stands, for who has asked for nothing that there is: "lockstep.psi_T, lockstep.psi_F". */
const char *explain_near(struct arena *arena, const char *name);

/* A signature, "oracle|class|rule|observable", part by part. False: there is no such oracle. */
bool explain_signature(struct arena *arena, const char *signature, FILE *out);

#endif
