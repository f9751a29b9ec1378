/*
 * implications.h - what searches of all states say about termination under one execution model, against what
 * they say under another (docs/progress.md): classes of the oracle `liveness`.
 *
 *     lasso-missed    a warp runs for ever, and no execution of single threads does
 *     model-order     threads end under a progress model, and not under one that lets more of them run
 *     policy-unfair   threads end under FAIR, and not as warps without a stack under a fair policy
 *
 * Each must hold by definition: who speaks has found a fault of simtfuzz.
 */
#ifndef ORACLE_IMPLICATIONS_H
#define ORACLE_IMPLICATIONS_H

#include "engine/progress.h"
#include "oracle/explore.h"

/* Graphs with more states are not judged, in campaigns. */
enum { IMPLICATIONS_STATES = 2000 };

/* For a search of the subject: who is asked about, in search_options.progress; NULL: its actors are no
 * threads, or too many. */
struct progress *implications_ask(struct checking *checking, enum subject_id subject);

/* When all subjects are searched; divergences go to the answer. */
void implications_judge(struct checking *checking, struct answer *answer);

#endif
