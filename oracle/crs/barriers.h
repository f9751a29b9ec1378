/*
 * barriers.h - the oracle `barriers`: named barriers in executions of `block` (catalogue named-barriers, section 4).
 *
 * A thread's commands are its accesses of global and shared memory and its uses of barriers, in its order. One
 * execution's log of them is a graph (NB.hb): reg(c) and done(c) of each command, the same node but for a sync;
 *
 *     done(c_k) -> reg(c_k+1)      of one thread
 *     reg(p) -> done(s)            p, s in one generation of a barrier, s a sync
 *
 * NB.recycle_ok: for consecutive generations of a barrier, all of the first register before all of the second. An
 * execution that ends, without half-filled barriers, and so, is that of a well-synchronised program: the
 * same generation of the same barrier for each command in all executions. NB.race: two accesses of different
 * threads, at least one a write, not both atomics, neither done before the other's reg.
 *
 * The theorem speaks of programs without data. Here a kernel computes, and what it does may depend on a race;
 * executions are compared as far as they give the same commands.
 */
#ifndef ORACLE_BARRIERS_H
#define ORACLE_BARRIERS_H

#include "oracle/check/explore.h"

enum nb_kind { NB_READ, NB_WRITE, NB_ATOMIC, NB_ARRIVE, NB_SYNC, NB_RELEASE };

struct nb_event { /* in the order of the execution */
    uint32_t thread;
    uint32_t index; /* of the command in its thread; of a release: of its sync */
    uint32_t at;    /* location; of a barrier: block * 16 + its number */
    uint32_t generation, count;
    uint32_t stm;
    enum nb_kind kind;
    uint32_t before; /* scratch: event + 1 at the same location, or barrier */
};

struct nb_log {
    struct observer observer;
    const struct program *program;
    struct nb_event *events;
    uint32_t count, capacity;
    bool overflow;
    uint32_t *commands; /* a thread */
};

/* What one execution's log says. */
struct nb_analysis {
    bool complete;                    /* false: too many events, pairs, or threads */
    uint64_t commands, accesses, map; /* which commands; with locations; with generations */
    uint32_t uses, generations;
    bool dangling;              /* a barrier is half-filled at the end */
    bool whole_blocks;          /* all barriers are `sync b N`, N all threads */
    bool syncs;                 /* each generation has a sync */
    bool recycled;              /* NB.recycle_ok */
    uint32_t first, second;     /* otherwise: commands (events) of two generations out of order */
    uint32_t pair_count;        /* races */
    uint64_t *pairs;            /* ascending: two commands, (thread << 14 | index) each */
    struct race_access race[2]; /* the first */
    uint32_t location;
};

enum { NB_EVENTS = 1 << 14, NB_PAIRS = 1 << 12, NB_THREADS = 1 << 10 };

/* Room for analyses of one program. */
struct nb_room {
    const struct program *program;
    uint32_t block;    /* threads of a block */
    uint32_t *clocks;  /* [thread][block]: nodes of each thread of its block that are before */
    uint32_t *told;    /* [barrier][block], and one more row */
    uint32_t *heads;   /* a location: event + 1 */
    uint32_t barriers; /* 16 a block */
    uint32_t *last;    /* a barrier: event + 1 of its latest registration */
    uint32_t *next;    /* a thread, or a barrier: scratch of the encoding */
    uint32_t *lists;   /* events of each thread, one thread after the other */
    uint32_t *starts;  /* a thread: of its list */
    bool *waits, *registered; /* a thread */
};

/* The log of one program; NULL: more threads than the oracle looks at. */
struct nb_log *nb_log_new(struct arena *arena, const struct program *program);
void nb_log_begin(struct nb_log *log);
struct nb_room *nb_room_new(struct arena *arena, const struct program *program);

/* analysis->pairs: room for NB_PAIRS. */
void nb_analyse(struct nb_room *room, struct nb_log *log, struct nb_analysis *analysis);

/* NB.ws: the warp-synchronous encoding of the log's commands: after each of its commands, a thread waits for
 * its warp. Executed once. */
enum nb_encoding {
    NB_ENCODED,            /* its races are among those of the analysis */
    NB_ENCODING_STUCK,     /* it deadlocks, as it may */
    NB_ENCODING_RACES,     /* it has a race that the log has not */
    NB_ENCODING_GENERATION /* a command is in another generation */
};
enum nb_encoding nb_encode(struct nb_room *room, struct nb_log *log,
                           const struct nb_analysis *analysis);

/* ---- the oracle ---- */

struct barriers {
    struct nb_log *log;
    struct nb_room *room;
    struct nb_analysis first, again; /* of the first execution that ended; of a later one */
    const struct execution *reference;
    const char *unknown;         /* why executions cannot be compared any further, or NULL */
    bool large;                  /* that is why */
    const char *ill;             /* why the kernel is not well-synchronised, or NULL */
    const struct execution *bad; /* the first that ended in deadlock or a barrier error */
    uint32_t compared;
};

/* Whether its executions are looked at: barriers of `block`. */
bool barriers_watches(const struct checking *checking, enum subject_id subject);

/* NULL: nothing that it looks at was run. */
static inline struct barriers *barriers_of(const struct checking *checking)
{
    return checking->own[ORACLE_BARRIERS];
}

/* The hooks of oracle.h. */
const struct observer *barriers_watch(struct checking *checking, enum subject_id subject,
                                      const struct observer *behind);
void barriers_end(struct checking *checking, const struct execution *execution);
void barriers_judge(struct checking *checking);

#endif
