/*
 * scoped_internal.h - parts of the detector: accesses (scoped.c), what strong accesses and fences order
 * (scoped_flag.c), why something is not ordered (scoped_why.c).
 */
#ifndef ORACLE_SCOPED_INTERNAL_H
#define ORACLE_SCOPED_INTERNAL_H

#include "oracle/scoped/scoped.h"

enum { SCOPED_NODES = 1 << 15, SCOPED_SIGHT = 1 << 16, SCOPED_NOTES = 1 << 14 };
enum { SCOPED_PLACES = 1 << 14, SCOPED_BARRIERS = 17 /* with that of a cluster */ };

static inline uint32_t scoped_block(const struct scoped *s, uint32_t thread)
{
    return s->clocks.block_of[thread];
}

/* The least scope that takes in threads of both blocks. */
static inline enum manner_reach scoped_apart(const struct scoped *s, uint32_t a, uint32_t b)
{
    return a == b ? REACH_BLOCK : s->cluster_of[a] == s->cluster_of[b] ? REACH_CLUSTER : REACH_ALL;
}

/* Whether the scopes of two strong operations reach the other one's thread. */
static inline bool scoped_reach(const struct scoped *s, uint32_t a, uint8_t a_reach, uint32_t b,
                                uint8_t b_reach)
{
    const enum manner_reach apart = scoped_apart(s, scoped_block(s, a), scoped_block(s, b));
    return a_reach >= apart && b_reach >= apart;
}

struct scoped_strong { /* a strong access */
    uint32_t thread, start, span, stm, step;
    const struct manner *manner;
};

/* Before the access is looked at, and behind it; returns the node of its write + 1. */
bool scoped_observe(struct scoped *s, const struct scoped_strong *x);
uint32_t scoped_publish(struct scoped *s, const struct scoped_strong *x, bool linked);

/* A plain write of a place. */
void scoped_overwrite(struct scoped *s, struct scoped_place *place, uint32_t thread, uint32_t stm,
                      uint32_t step);
void scoped_fence(struct scoped *s, uint32_t thread, uint32_t stm);
void scoped_warp_barrier(struct scoped *s, uint32_t first, lane_mask lanes, bool whole);
void scoped_use(void *context, const struct machine *machine, const struct barrier_use *use);

/* Whether what the thread does in this step comes behind a read that observes the write. */
bool scoped_observed(const struct scoped *s, uint32_t node, uint32_t thread, uint32_t step);
void scoped_drop_node(struct scoped *s, uint32_t node);

/* ---- why ---- */

void scoped_link(struct scoped *s, uint32_t reader, const struct scoped_link *link);
void scoped_link_fence(struct scoped *s, uint32_t thread, uint32_t stm);
/* A plain read of what another thread has written, or a plain write that is read: perhaps a flag. */
void scoped_perhaps_flag(struct scoped *s, uint32_t address, const struct scoped_entry *a,
                         const struct scoped_entry *b);
void scoped_explain(const struct scoped *s, const struct scoped_entry *a,
                    const struct scoped_entry *b, struct race_witness *witness);

#endif
