/*
 * inference.h - what is asked about the two threads (engine/duo/duo.h): invariants of the loops that were cut, no
 * proof of nothing, Horn clauses.
 */
#ifndef ENGINE_PROVE_INFERENCE_H
#define ENGINE_PROVE_INFERENCE_H

#include "engine/duo/duo.h"
#include "engine/prove/prove.h"

/* ---- candidates.c ---- */

void candidates_find(struct duo *duo, struct loop_cut *cut);

/* When those that are kept are violated. */
void candidates_place(struct duo *duo, struct loop_cut *cut);

/* ---- rehearse.c ---- */

/* Candidates that some drawn run of the two threads shows to be false are kept no more. */
void rehearse(struct duo *duo);

/* ---- points.c ---- */

/* A proof by cuts is no proof of nothing: what some trips reach, the cuts reach, too. False: they do not, with
 * the place in *reason. *unreachable: places that neither reaches. */
bool points_agree(struct duo *cut, struct duo *unrolled, struct solver *solver,
                  uint32_t *unreachable, const char **reason);

/* The same of Horn clauses, whose invariants the solver finds itself: with them nobody is kept from a place that some
 * trips reach. */
bool points_reached(struct duo *cut, struct duo *unrolled, struct solver *solver,
                    const char **reason);

/* ---- horn.c ---- */

/* The cut loops, and that none of the obligations can be, as Horn clauses: `sat` is "safe". */
void horn_print(struct text *out, struct duo *duo, const struct obligation *of, uint32_t count);

/* The cut loops, and that nobody is where `reached` holds: `sat` is "never reached". */
void horn_print_reached(struct text *out, struct duo *duo, term reached);

/* ---- houdini.c ---- */

/* What of the candidates holds at every trip. False: *reason (no answer, or nothing but a contradiction). */
bool houdini(struct duo *duo, struct solver *solver, uint32_t *rounds, const char **reason);

/* The invariants' definitions, as they are now; room for cuts.count. */
uint32_t houdini_definitions(struct duo *duo, struct term_definition *definitions);

/* Is `question` possible? Under the assumptions and the definitions. */
enum solver_answer duo_ask(struct duo *duo, struct solver *solver, term question,
                           const term *wanted, uint32_t *values, uint32_t count);

#endif
