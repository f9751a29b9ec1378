/*
 * expect.h - the claims of a kernel's `expect` statements, judged by what was explored.
 * docs/oracles.md, "Expectations", says what each claim means.
 */
#ifndef ORACLE_EXPECT_H
#define ORACLE_EXPECT_H

#include "oracle/check/explore.h"

struct final_claims;

/* The `final` claims of the kernel, made ready to look at final stores; NULL when there are none. */
struct final_claims *expect_prepare(struct checking *checking);

/* An execution of `subject` has terminated with this store (program.private_base words). */
void expect_observe(struct final_claims *claims, enum subject_id subject, const int32_t *memory);

/* Whether it is about a proof, of the file's launch or (*any) of any number of threads: `expect prove: race_free`. */
bool expect_is_of_proof(const struct ast_expect *expect, bool *any);

/* Whether a run of these subjects answers the claim; *why not. A claim about a
 * subject that does not exist is answered: it fails. */
bool expect_is_asked(const struct ast_expect *expect, subject_set subjects, const char **why);

/* A `final` claim under a subject that ran: NULL when it is met, or what was seen instead. */
const char *expect_judge_final(const struct checking *checking, const struct ast_expect *expect,
                               enum subject_id subject);

/* Judges all claims into the result, when everything else is known. */
void expect_judge(struct checking *checking);

#endif
