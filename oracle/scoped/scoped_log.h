/*
 * scoped_log.h - the definition of scoped.h, literally: all events of a short execution, and the relations between
 * them, closed. Shares with the detector what an instruction says (manner.h), and nothing else.
 */
#ifndef ORACLE_SCOPED_LOG_H
#define ORACLE_SCOPED_LOG_H

#include "oracle/scoped/scoped.h"

enum { SCOPED_LOG_MAX = 192, SCOPED_LOG_WORDS = SCOPED_LOG_MAX / 64 };

struct scoped_event {
    bool is_access, is_barrier; /* neither: a fence */
    uint32_t thread, stm, start, span, instruction;
    enum access_kind kind;
    int32_t value;
    int32_t source; /* of a read: the event whose value it takes, all of it; -1: none */
    struct manner manner;
    uint32_t block;  /* of a barrier ... */
    uint32_t number; /* ... named; UINT32_MAX: of all */
    uint32_t generation;
};

struct scoped_log {
    struct observer observer;
    const struct program *program;
    bool same_value, lockstep;
    uint32_t instruction,
        latest;  /* numbers of instructions; the step of the latest one that accessed */
    bool fenced; /* a fence came later */
    const uint64_t *steps;
    uint32_t count;
    bool overflow; /* more events: nothing can be said */
    struct scoped_event events[SCOPED_LOG_MAX];
    uint64_t order[SCOPED_LOG_MAX][SCOPED_LOG_WORDS]; /* what comes behind an event */
    uint64_t observed[SCOPED_LOG_MAX][SCOPED_LOG_WORDS];
    uint8_t *racy; /* a location */
};

struct scoped_log *scoped_log_new(struct arena *arena, const struct program *program,
                                  bool same_value, bool lockstep);
void scoped_log_begin(struct scoped_log *log, const uint64_t *steps);

/* NULL: the detector says the same of the execution just ended, or nothing can be said (*asked is false); else what
 * differs. */
const char *scoped_log_differs(struct scoped_log *log, const struct scoped *scoped, bool *asked);

#endif
