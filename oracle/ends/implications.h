/*
 * implications.h - what searches of all states say about termination under one execution model, against what
 * they say under another (docs/progress.md): classes of the oracle `liveness`.
 *
 *     lasso-missed    a warp runs for ever, and no execution of single threads does
 *     model-order     threads end under a progress model, and not under one that lets more of them run
 *     policy-unfair   threads end under FAIR, and not as warps without a stack under a fair policy
 *     sampled-hang    a sampled schedule hangs under a progress model (fair_lasso.h), and the graph of all states
 *                     says that threads end under it
 *     lemma-6         the hypothesis of Lemma 6 is proven (lemma6.h), and an execution of warps or threads does
 *                     not keep to the bound, or has a lasso
 *     own-loops       loops depend on nothing that others write (own_loops.h), and else-first, then-first and single
 *                     threads do not all run for ever, or all end
 *
 * Each must hold by definition: who speaks has found a fault of simtfuzz.
 */
#ifndef ORACLE_IMPLICATIONS_H
#define ORACLE_IMPLICATIONS_H

#include "engine/progress/progress.h"
#include "oracle/check/explore.h"

/* Graphs with more states are not judged, in campaigns. */
enum { IMPLICATIONS_STATES = 2000 };

/* For a search of the subject: who is asked about, in search_options.progress; NULL: its actors are no
 * threads, or too many. */
struct progress *implications_ask(struct checking *checking, enum subject_id subject);

/* A divergence of one of these classes. */
void implications_report(struct checking *checking, struct answer *answer, enum subject_id subject,
                         const char *class_name, const char *observable, const char *summary);

/* lemma6_judge.c: lemma-6, also where nothing was searched. */
void lemma6_judge(struct checking *checking, struct answer *answer);

/* When all subjects are searched; divergences go to the answer. */
void implications_judge(struct checking *checking, struct answer *answer);

#endif
