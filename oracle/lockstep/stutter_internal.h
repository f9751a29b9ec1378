/*
 * stutter_internal.h - the parts of the oracle `stutter`: stutter.c runs both programs,
 * stutter_report.c says what differs.
 */
#ifndef ORACLE_STUTTER_INTERNAL_H
#define ORACLE_STUTTER_INTERNAL_H

#include "oracle/lockstep/stutter.h"

/* A step of both. */
struct stutter_move {
    uint32_t thread;
    uint32_t p_pc, pi_pc; /* before it */
    uint32_t function;    /* of P, that p_pc is in */
    enum image_role role; /* ROLE_NOTHING: End */
    enum rule rule;       /* that fired in P */
};

/* Each: the co-simulation is lost. */
void stutter_report_status(struct stutter *s, const struct stutter_move *m);
void stutter_report_control(struct stutter *s, const struct stutter_move *m,
                            const char *observable);
void stutter_report_word(struct stutter *s, const struct stutter_move *m,
                         const struct image_word *word);
void stutter_report_accesses(struct stutter *s, const struct stutter_move *m);
void stutter_report_race(struct stutter *s, const struct stutter_move *m);

#endif
