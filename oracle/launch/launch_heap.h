/*
 * launch_heap.h - the heap of a device, from which threads take memory by malloc and new, and what of it they may
 * access.
 *
 * malloc and free are functions in PTX (launch_heap_functions.c) over a region of global memory, and call
 * PTX_HEAP_GIVES and PTX_HEAP_TAKES, which have no body: so it is known here which bytes are whose. An access of others
 * is a finding; the launch goes on, as it does on a GPU. What is given holds nothing that was written, and nobody has
 * accessed it.
 */
#ifndef ORACLE_LAUNCH_HEAP_H
#define ORACLE_LAUNCH_HEAP_H

#include "oracle/launch/launch_race.h"

enum {
    HEAP_GRANULE = 16, /* what malloc gives begins at a multiple of it */
    HEAP_TABLE = 2048, /* bytes before the first granule that is given */
};

struct heap_site { /* a call of malloc or free, of launches whose blocks have so many threads */
    const char *source; /* "path/list.cu:12"; NULL: unknown */
    uint32_t threads;
    struct heap_site *next;
};

struct heap_caller {
    const struct heap_site *site;
    uint64_t thread; /* in the grid */
};

struct heap_block {
    uint32_t bytes;
    bool is_live;
    struct heap_caller giver, taker; /* who got it, who gave it back */
};

/* For as long as the heap is there: from one launch to the next. */
struct launch_heap {
    uint64_t address;
    uint32_t bytes;
    struct arena *arena; /* of sites */
    struct heap_site *sites;
    /* A granule each: how many of its bytes are somebody's, or were (HEAP_FREED); what begins there, or 0 bytes. */
    uint8_t *fill;
    struct heap_block *blocks;
};

enum { HEAP_FREED = 0x80 };

struct launch_heap_watch {
    struct observer observer;
    struct launch_heap *heap;
    struct launch_race *race;
    const struct heap_site **sites; /* by statement; NULL: not known yet */
    uint32_t first, end;            /* locations of the region */
};

/* malloc and free over a heap at this address; what its memory, zeros, holds at first: so many bytes may be given. */
const char *launch_heap_functions(struct arena *arena, uint64_t address);
void launch_heap_begin(void *memory, uint64_t limit);

/* "thread 3 of block 0 at list.cu:12" */
const char *heap_caller_name(struct arena *arena, const struct heap_caller *caller);

/* "byte 8 of the 24 bytes that malloc gave .." */
const char *heap_byte_name(struct arena *arena, const struct launch_heap *heap, uint64_t byte);

/* The observer of a launch; NULL: the heap is no part of its memory. */
struct launch_heap_watch *launch_heap_watch(struct arena *arena, const struct program *program,
                                            struct launch_heap *heap, struct launch_race *race);

#endif
