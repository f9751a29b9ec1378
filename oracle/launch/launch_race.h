/*
 * launch_race.h - the observer of a launch: data races, and reads of memory that nothing wrote.
 *
 * Two accesses of one location by different threads race when one of them writes, neither comes before the other
 * (launch_sync.h), and they are not both strong with scopes that hold each other's thread: PTX's definition. Strong are
 * atomics, volatile accesses, and those with .relaxed, .acquire or .release.
 *
 * A location keeps its last write, and of reads, strong writes and strong reads three each (enum launch_kept). A read
 * that comes after the one that is kept takes its place: who does not come after the earlier one does not come after it
 * either. So no race is told that is none, the first race at a location is found as long as barriers alone order its
 * accesses, and where fences order some of its readers with a writer, but not another one, it may be missed.
 */
#ifndef ORACLE_LAUNCH_RACE_H
#define ORACLE_LAUNCH_RACE_H

#include "engine/machine/machine.h"
#include "engine/program/ptx_code.h"
#include "oracle/launch/launch_sync.h"

enum launch_kind {
    LAUNCH_RACE,
    LAUNCH_UNWRITTEN, /* a read of memory that nothing wrote */
    LAUNCH_FAULT,     /* the launch ended in an error */
    LAUNCH_LEAK,      /* memory that the program never frees (fuzz/exec) */
    LAUNCH_MISUSE,    /* a call of the host that is wrong (fuzz/exec) */
    LAUNCH_DIFFERS,   /* a device left other values (fuzz/grid) */
    LAUNCH_KINDS
};

struct launch_finding {
    enum launch_kind kind;
    enum status status;     /* LAUNCH_FAULT */
    const char *text;       /* a sentence */
    const char *sources[2]; /* "path/sum.cu:12", of who was second, who was first; NULL: none */
    uint32_t stms[2];
    uint64_t count; /* how often, at other locations or by other threads */
    struct launch_finding *next;
};

struct launch_slot {
    uint32_t thread; /* in the grid, + 1; 0: none */
    uint32_t time;
    uint32_t stm;
};

/* What is kept of a location: who wrote it last; of those who read it, of those whose strong accesses wrote it or only
 * read it, the last one, the last one of another thread, the last one of another block. So whoever of all of them a
 * barrier does not put before an access is there, or somebody else whom it does not. In shared memory, who is of
 * another block was there before the blocks of now, and counts for nothing. */
enum launch_kept {
    LAUNCH_WRITE,
    LAUNCH_READ,
    LAUNCH_READ_THREAD,
    LAUNCH_READ_BLOCK,
    LAUNCH_STRONG, /* that write */
    LAUNCH_STRONG_THREAD,
    LAUNCH_STRONG_BLOCK,
    LAUNCH_STRONG_READ, /* that only read */
    LAUNCH_STRONG_READ_THREAD,
    LAUNCH_STRONG_READ_BLOCK,
    LAUNCH_KEPT
};

/* Most of global memory is accessed by warps, lane by lane a location further. Of so many locations in a row one slot
 * says who wrote, and one who read them last, each a thread further, as long as that says it all. */
enum { LAUNCH_ROW = 16 };
#define LAUNCH_OPEN UINT32_MAX /* as a thread: each location has slots of its own */

/* Of LAUNCH_CHUNK locations. */
enum launch_chunk {
    LAUNCH_TOUCHED = 1,  /* one of them was accessed */
    LAUNCH_STRONGLY = 2, /* by a strong access */
    LAUNCH_WRITTEN = 4   /* all their bytes were written, whatever `written` says of them */
};

/* Locations; and as many as lie between two arrays of them, for caches to hold several at one place. */
enum { LAUNCH_CHUNK = 1024, LAUNCH_CHUNK_ROOM = LAUNCH_CHUNK + 16 };

/* One of each location: what lies one behind the other is looked at together (launch_quick.c). */
struct launch_slots {
    uint32_t thread[LAUNCH_CHUNK_ROOM], time[LAUNCH_CHUNK_ROOM], stm[LAUNCH_CHUNK_ROOM];
};

/* Of a chunk, all that is kept: few pages are touched where little is accessed. */
struct launch_chunk_slots {
    struct launch_slots kept[LAUNCH_KEPT];
};

enum { LAUNCH_LOCATION_BYTES = sizeof(struct launch_chunk_slots) / LAUNCH_CHUNK + 1 };

struct launch_manner { /* how an instruction accesses */
    bool strong, acquires, releases;
    bool reads, writes;
    bool warp_barrier, fence;
    bool copies; /* reads and writes plainly; only an mbarrier hears of it as said here */
    enum sync_scope scope;
};

struct launch_heap_watch;

struct launch_race {
    struct observer observer;
    struct arena *arena; /* of findings */
    const struct program *program;
    const struct launch_manner *manners; /* a statement each */
    struct launch_sync sync;
    struct launch_chunk_slots *global;
    /* Of global memory, LAUNCH_ROW locations each; NULL: all have slots of their own. */
    struct launch_slot *rows[LAUNCH_READ + 1];
    struct launch_chunk_slots *shared; /* from its first location on */
    uint8_t *chunks;                   /* bits of enum launch_chunk */
    uint8_t *written; /* a word of it: bits of the bytes that were written; NULL: nobody asks */
    uint32_t global_locations;
    uint32_t first_block;
    uint32_t first_thread; /* of the grid */
    bool has_clusters;     /* blocks access each other's shared memory */
    /* of the cluster's first block: generations of its barrier that have ended */
    uint32_t *clusters;
    bool has_strong; /* some access is strong */
    bool syncs;      /* something but barriers may order */
    struct launch_finding *findings, **last;
    uint32_t finding_count;
    const struct launch_heap_watch *heap; /* who knows what lies in the heap; NULL: there is none */
};

/* The row of a location; NULL: the location has slots of its own. */
static inline struct launch_slot *launch_row_of(const struct launch_race *race,
                                                enum launch_kept what, uint32_t location)
{
    if (what > LAUNCH_READ || !race->rows[what] || location >= race->global_locations)
        return NULL;
    struct launch_slot *row = &race->rows[what][location / LAUNCH_ROW];
    return row->thread == LAUNCH_OPEN ? NULL : row;
}

/* Each location of the row, the first one at this place in its chunk, has slots of its own from now on. */
static inline void launch_open(struct launch_slots *kept, struct launch_slot *row, uint32_t at)
{
    for (uint32_t i = 0; row->thread != 0 && i < LAUNCH_ROW; i++) {
        kept->thread[at + i] = row->thread + i;
        kept->time[at + i] = row->time;
        kept->stm[at + i] = row->stm;
    }
    row->thread = LAUNCH_OPEN;
}

/* *at: the location's place in them. */
static inline struct launch_slots *launch_slots_of(const struct launch_race *race,
                                                   enum launch_kept what, uint32_t location,
                                                   uint32_t *at)
{
    const bool shared = location >= race->global_locations;
    const uint32_t place = location - (shared ? race->global_locations : 0);
    *at = place % LAUNCH_CHUNK;
    return &(shared ? race->shared : race->global)[place / LAUNCH_CHUNK].kept[what];
}

static inline struct launch_slot launch_slot_at(const struct launch_race *race,
                                                enum launch_kept what, uint32_t location)
{
    uint32_t at;
    const struct launch_slots *slots = launch_slots_of(race, what, location, &at);
    const struct launch_slot *row = launch_row_of(race, what, location);
    if (row)
        return (struct launch_slot){row->thread ? row->thread + location % LAUNCH_ROW : 0,
                                    row->time, row->stm};
    return (struct launch_slot){slots->thread[at], slots->time[at], slots->stm[at]};
}

static inline void launch_put(struct launch_race *race, enum launch_kept what, uint32_t location,
                              struct launch_slot slot)
{
    uint32_t at;
    struct launch_slots *slots = launch_slots_of(race, what, location, &at);
    struct launch_slot *row = launch_row_of(race, what, location);
    if (row)
        launch_open(slots, row, at - at % LAUNCH_ROW);
    slots->thread[at] = slot.thread;
    slots->time[at] = slot.time;
    slots->stm[at] = slot.stm;
}

/* For a program and another one that differs in the number of its blocks only, which is not larger. */
struct launch_race *launch_race_new(struct arena *arena, const struct program *program);

/* The next blocks, of this program. */
void launch_race_restart(struct launch_race *race, const struct program *program,
                         uint32_t first_block);

/* The finding of these statements, counted, without words; NULL: it is there already, or there are enough. */
struct launch_finding *launch_race_note(struct launch_race *race, enum launch_kind kind,
                                        uint32_t stm, uint32_t other);

/* What was written before is what the other one knows of that, a fresh one of the same program. */
void launch_race_written_as(struct launch_race *race, const struct launch_race *other);

/* Of so many words of global memory from this one on all bytes were written before. */
void launch_race_written(struct launch_race *race, uint32_t word, uint32_t words);

/* So many words of global memory from a location on are as if nobody had accessed them, and nothing had written. */
void launch_race_forget(struct launch_race *race, uint32_t location, uint32_t words);

/* "thread 3 of block 7 (3,0,0) .."; a thread of the grid. */
const char *launch_thread_name(struct arena *arena, const struct program *program, uint64_t thread);

/* Where a statement comes from: "path/sum.cu:12", or "line 40 of the PTX". */
const char *launch_source(struct arena *arena, const struct program *program, uint32_t stm);

#endif
