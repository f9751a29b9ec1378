/*
 * race_hb_log.h - the definition of race_hb.h, literally: all events of a short execution as the nodes of a graph, and
 * for each of them the set of those that come before it. The detector keeps clocks and forgets; this forgets nothing.
 * They share what an access is, and no more.
 *
 *     node      what one group accesses in one step; one group that registers at a barrier, or is released from it; the
 *               end of a barrier that a whole block took part in
 *     before    a group's nodes in their order; those that register at a generation before those that it releases; all
 *               of a block before the end of its barrier, and that before all that the block does later
 */
#ifndef ORACLE_RACE_HB_LOG_H
#define ORACLE_RACE_HB_LOG_H

#include "oracle/race/race_hb.h"

enum { HB_LOG_ACCESSES = 2048, HB_LOG_NODES = 2048, HB_LOG_WORDS = HB_LOG_NODES / 64 };

struct hb_log_access {
    uint32_t node, thread, stm, address;
    enum access_kind kind;
    int32_t value;    /* of a write */
    uint32_t earlier; /* the access before it to its address, + 1 */
};

struct hb_log_generation {       /* of a barrier */
    uint64_t told[HB_LOG_WORDS]; /* nodes that registered, and what comes before these */
    uint32_t number;
    bool ended; /* the next one to register begins another */
};

struct race_hb_log {
    struct observer observer;
    const struct race_hb *detector; /* whose groups these are */
    const uint64_t *steps;
    uint32_t count, nodes;
    bool overflow; /* there was more: nothing can be said */
    struct hb_log_access *accesses;
    uint64_t (*past)[HB_LOG_WORDS];        /* a node: those before it */
    uint32_t *last;                        /* a group: its latest node, + 1 ... */
    uint64_t *step_of_last;                /* ... and, where that accesses, the step + 1 */
    struct hb_log_generation *generations; /* [block][RACE_HB_BARRIERS] */
    uint32_t *latest;                      /* a location: its latest access, + 1 */
    uint8_t *racy;                         /* a location */
};

struct race_hb_log *race_hb_log_new(struct arena *arena, const struct race_hb *detector);
/* An execution of the machine whose steps these are. */
void race_hb_log_begin(struct race_hb_log *log, const uint64_t *steps);

/* NULL: the detector says the same of the execution just ended, or nothing can be said (*asked is false); else what
 * differs. */
const char *race_hb_log_differs(struct race_hb_log *log, bool *asked);

#endif
