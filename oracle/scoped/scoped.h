/*
 * scoped.h - data races by PTX's memory model, in one sequentially consistent execution (PTX ISA, "Memory Consistency
 * Model"; .version 6.0 and later, without proxies).
 *
 * Two accesses of one location by different threads race when one of them writes, neither comes before the other, and
 * they are not morally strong: both strong (manner.h), each one's scope reaching the other's thread, of the very same
 * bytes.
 *
 *     a -> b    of one thread, a first; or a barrier of their block, or of their warp, lies between
 *     a -> b    a is before or at the head of a release pattern, b behind or at the tail of an acquire pattern that
 *               observes it, and head and tail are morally strong
 *     a -> b    a is before a fence.sc, b behind a later one, and the two are morally strong
 *
 * and the transitive closure. A read observes the write whose value it takes if the two are morally strong, and through
 * atomics those before it. A release pattern is a release, or a fence, or a release of the same location, with a strong
 * write behind it; an acquire pattern is a strong read with an acquire, or a fence, or an acquire of the same location
 * behind it. At last, a write comes before what comes behind a read that observes it.
 *
 * Each thread is alone. But where a kernel without bar.warp.sync is asked about in lock-step, one lies between any two
 * instructions of a warp.
 */
#ifndef ORACLE_SCOPED_H
#define ORACLE_SCOPED_H

#include "oracle/race/race.h"
#include "oracle/scoped/clock.h"
#include "oracle/scoped/manner.h"

struct scoped_entry { /* an access that may still have a partner */
    uint32_t stm, step;
    uint32_t mark;        /* of a plain write its value; of a strong one its node, + 1 */
    uint16_t thread;      /* clocks_make takes no more than 4,096 */
    uint8_t span, offset; /* of the location that it is listed at, from its first one */
    uint8_t kind, reach;
    bool strong;
};

enum { SCOPED_LIST = 8, SCOPED_REST = 2 * (SCOPED_LIST - 1) + 1 };

struct scoped_cell {    /* a location */
    uint32_t execution; /* of all that follows; another one: empty */
    uint32_t
        rest; /* SCOPED_REST entries before the latest, the oldest first; + 1, 0: none were needed so far */
    uint32_t place;  /* of strong accesses, + 1 */
    uint32_t forgot; /* accesses that there was no room for: the latest step, + 1 */
    uint16_t forgot_block, forgot_warp; /* all of these; UINT16_MAX: of several */
    bool forgot_plain, forgot_writes;
    bool racy;
    bool strong;             /* there may be strong entries */
    uint8_t listed, writers; /* entries; those of them that write */
    struct scoped_entry latest;
};

struct scoped_node { /* a strong write */
    uint32_t references;
    uint32_t seen;  /* observers */
    uint32_t after; /* of the atomic that has read it, + 1 */
    int32_t value;
};

struct scoped_seen { /* a thread has observed a write */
    uint32_t thread, step, next;
};

struct scoped_note { /* what a release pattern says */
    uint32_t thread; /* of its head; UINT32_MAX: of several */
    uint32_t block;
    uint8_t reach;
    uint32_t clock, next;
};

struct scoped_place {
    uint32_t start, span;
    uint32_t writer, stm, step; /* of the latest write: thread + 1 */
    bool strong;
    uint8_t reach;
    uint32_t node;
    uint32_t notes;   /* what it says */
    uint32_t own;     /* what releases of this place said, by thread */
    uint32_t pending; /* what strong reads of it have seen, by thread: for acquires of it */
};

/* A thread has read what another one wrote, and not all that it takes to be behind it was there. */
struct scoped_link {
    uint32_t flag, writer, write, write_step, read;
    bool is_set, strong_write, strong_read;
    bool releases, acquires; /* fences are there */
    uint8_t write_reach, read_reach, release_reach, acquire_reach;
    uint32_t release, acquire; /* statements of the fences */
};
enum { SCOPED_LINKS = 4 };

struct scoped_thread {
    uint32_t fences[REACH_COUNT]; /* clocks: what it knew at its fences of this scope */
    uint32_t fence;               /* the latest: its statement + 1 */
    uint8_t fence_reach;
    uint32_t pending[REACH_COUNT]; /* clocks: what it has observed so far away, without a fence */
    struct scoped_link links[SCOPED_LINKS];
    uint8_t link;
    bool exited;
};

struct scoped {
    struct observer observer;
    const struct program *program;
    const struct manner *manners; /* a statement */
    bool same_value, lockstep;
    bool has_narrow; /* strong accesses whose scope is not all threads */
    bool has_fences;
    const uint64_t *steps;
    uint32_t seen;    /* the step of the latest access, + 1 */
    uint32_t threads; /* of a block */
    struct clocks clocks;
    uint32_t *cluster_of; /* a block: the first one of its cluster */
    /* clocks: what fence.sc of this scope or a wider one have said; of a block, a cluster, all: by the first block */
    uint32_t *sc[REACH_COUNT];
    uint32_t *told;        /* [block][16] clocks of named barriers */
    uint32_t *generations; /* of these, + 1 */
    struct scoped_thread *thread;
    struct scoped_cell *cells;
    struct scoped_entry *rests; /* [rest_capacity][SCOPED_REST] */
    struct scoped_node *nodes;
    struct scoped_seen *sight;
    struct scoped_note *notes;
    struct scoped_place *places;
    uint32_t rest_count, rest_capacity;
    uint32_t node_count, node_free, sight_count, sight_free, note_count, note_free, place_count;
    uint32_t execution;
    bool blind;      /* there was no room for what orders: no more races are told */
    bool incomplete; /* a race may have been missed */
    uint32_t racy_locations;
    bool found;
    struct race_witness witness;
    uint8_t *racy_stms, *racy_vars; /* in any execution so far, as race_detector has them */
};

/* NULL: too many threads to be told apart (*reason). */
struct scoped *scoped_new(struct arena *arena, const struct program *program, bool same_value,
                          bool lockstep, const char **reason);

/* A new execution, of this machine's (its step counter). */
void scoped_begin(struct scoped *scoped, const uint64_t *steps);

/* "scope too narrow: 'st.release.cta' at line 12 ..": the cause of a race; "" without one. */
const char *scoped_cause_sentence(struct arena *arena, const struct program *program,
                                  const struct race_witness *witness);

#endif
