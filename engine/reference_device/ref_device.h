/*
 * ref_device.h - a device and its host program once more, to be read beside sections 5.6 to 5.8 of "The Model of
 * Computation of CUDA and its Formal Semantics" and docs/host.md, and for nothing else: lists of blocks, of operations
 * under way, of lines, and memory that is written word by word.
 *
 * It chooses nothing, and runs no instruction: which alternative is taken, and what a warp's step accesses, is told to
 * it (oracle/device/host_follow.h tells it what engine/device did). What may happen, and what it leads to, is its own.
 *
 *     ref_host_may, ref_begin_may, ref_resident_may, ref_warp_may, ref_memory_moves    what may happen
 *     ref_host, ref_begin, ref_resident, ref_get_under_way, ref_perform, ref_drop      it happens
 */
#ifndef ENGINE_REF_DEVICE_H
#define ENGINE_REF_DEVICE_H

#include "engine/base/arena.h"
#include "engine/host/host.h"
#include "engine/ptx/ptx.h"

enum {
    REF_FLIGHTS = 16,      /* operations under way on the device, */
    REF_FLIGHTS_ROOM = 64, /* of micro steps there may be more */
    REF_OF_A_WARP = 4,     /* of a warp: MO.cap */
    REF_PLACE_WORDS = 16,  /* of shared memory of a place */
    REF_BLOCKS = 256       /* of all grids of a program */
};

/* The settings of docs/host.md, "The device". */
struct ref_settings {
    uint32_t sms, blocks, threads, registers, shared, grids, lines, words;
    bool inflight, drain, flush, order_stream, device_wide, sticky, ends_drain, reset_flags, frozen,
        pick_any, crowded;
    bool cached; /* memory=caches: operations and lines are those of engine/reference_caches */
    bool loads_free, in_order,
        fenced_barriers; /* of the profiles: poloc=llh, poloc, barfence=before */
};

/* ref_settings.c: from words (`printed sms=1 drain=block`), and the setting in which two differ. False: a word that is
 * no setting. */
bool ref_settings_read(const char *words, struct ref_settings *settings);
const char *ref_settings_differ(const struct ref_settings *a, const struct ref_settings *b);

/* A launch as it was laid out. */
struct ref_launch {
    uint32_t statement, blocks, threads, warps; /* threads and warps of a block */
    uint32_t lanes;                             /* of a warp, those that there are */
    uint32_t registers, shared_bytes;           /* that a block takes */
    const int32_t *shared;                      /* as the module has it */
    uint32_t shared_words;
    uint32_t private_words; /* of local memory, of all its slots; cached */
};

/* How a statement stands that is put into a stream. */
enum ref_progress { REF_NOT_YET, REF_WAITS, REF_RUNS, REF_DRAINS, REF_OVER };

enum ref_where {
    REF_UNSCHEDULED,
    REF_ACTIVE,
    REF_COMPLETED,
    REF_LEAVING, /* aborted; its place is taken until the grid's operations have ended (ends=drain) */
    REF_VANISHED
};

struct ref_block {
    enum ref_where where;
    uint32_t sm, place, slot; /* slot: where its registers lie */
    uint32_t ended;           /* warps */
};

struct ref_grid {
    struct ref_launch layout;
    uint32_t context;
    struct ref_block *blocks;
    uint32_t private_base; /* where its local memory begins, in words of `memory` */
};

/* An operation under way: one lane's access of one word. */
struct ref_flight {
    uint32_t grid, block, slot, warp, lane, sm, place;
    const struct ptx_instruction *instruction;
    bool is_shared, is_local;
    uint32_t word; /* of the device's memory, or of the place's */
    uint32_t b, c; /* what is written; an atomic's operands */
    bool stale;    /* flags=reset: another block has the slot */
    bool awaited;  /* the warp came to a barrier with it */
};

struct ref_l1_line {
    uint32_t sm, word;
    int32_t value;
    struct ref_l1_line *next;
};

struct ref_expectation {
    bool asked, holds;
    uint32_t word;
    int32_t value;
};

struct ref_device {
    struct arena *arena;
    const struct host_program *program;
    struct ref_settings settings;
    uint32_t grid_count;
    struct ref_grid *grids;
    uint32_t words; /* of the device's memory */
    /* the state */
    uint32_t host; /* the statement that is next */
    enum ref_progress *stands;
    bool alive[HOST_CONTEXTS];
    uint32_t current; /* sticky: the context that steps; HOST_NONE: none has */
    int32_t *memory, *host_memory;
    /* behind the device's words: REF_PLACE_WORDS each, SM by SM; then what is private */
    int32_t *places;
    uint32_t all_words;
    struct ref_flight flights[REF_FLIGHTS_ROOM];
    uint32_t flight_count;
    struct ref_l1_line *lines, *free_lines;
    struct ref_expectation *expectations;
    bool waited_for;   /* cached: some line of global memory is */
    const char *wrong; /* what it was told cannot be */
};

/* NULL: more than it has room for. */
struct ref_device *ref_device_new(struct arena *arena, const struct host_program *program,
                                  const struct ref_settings *settings,
                                  const struct ref_launch *layouts, uint32_t count, uint32_t words);
/* At the start; `memory`: of the device, with the variables of modules. */
void ref_device_start(struct ref_device *r, const int32_t *memory);

/* HO.allocate: the first word of a buffer: the lowest place that no buffer has then. */
uint32_t ref_buffer_place(const struct host_program *program, uint32_t array);

/* ---- hosts, streams, contexts (ref_device.c) ---- */

bool ref_host_may(const struct ref_device *r);
void ref_host(struct ref_device *r);
/* A launch becomes a grid; a copy of a stream. */
bool ref_begin_may(const struct ref_device *r, uint32_t statement);
void ref_begin(struct ref_device *r, uint32_t statement);
bool ref_context_steps(const struct ref_device *r, uint32_t context);
bool ref_is_over(const struct ref_device *r);

/* ---- grids (ref_grid.c) ---- */

bool ref_resident_may(const struct ref_device *r, uint32_t grid, uint32_t sm);
void ref_resident(struct ref_device *r, uint32_t grid, uint32_t sm, uint32_t block, uint32_t slot);
/* The block whose registers lie in the slot; NULL: none. */
struct ref_block *ref_block_in(const struct ref_device *r, uint32_t grid, uint32_t slot);
uint32_t ref_count(const struct ref_device *r, uint32_t grid, enum ref_where where);
void ref_vanish(struct ref_device *r, uint32_t grid);
/* Blocks and grids that are over; records and waits whose turn has come. */
void ref_close(struct ref_device *r);

/* ---- memory (ref_flight.c) ---- */

/* What a warp's step accesses. */
struct ref_reach {
    bool is_shared;
    uint32_t word, lane, b, c;
};

bool ref_is_barrier(const struct ptx_instruction *i); /* of a block; also an arrival */
bool ref_is_arrival(const struct ptx_instruction *i);
/* Both instructions name some register. */
bool ref_share_register(const struct ptx_instruction *a, const struct ptx_instruction *b);
/* Whether a warp may issue this instruction (NULL: it has none left) beside its operations under way. */
bool ref_warp_may(const struct ref_device *r, uint32_t grid, uint32_t slot, uint32_t warp,
                  const struct ptx_instruction *next);
/* It accesses these, or nothing; false: MO.poloc, not yet. */
bool ref_get_under_way(struct ref_device *r, uint32_t grid, uint32_t slot, uint32_t warp,
                       const struct ptx_instruction *instruction, const struct ref_reach *reach,
                       uint32_t count);
bool ref_memory_moves(const struct ref_device *r);
/* *found: what a load or an atomic brings. */
void ref_perform(struct ref_device *r, uint32_t number, int32_t *found);
bool ref_has_line(struct ref_device *r, uint32_t sm, uint32_t word);
void ref_drop(struct ref_device *r, uint32_t sm, uint32_t word);
void ref_empty_lines(struct ref_device *r);
void ref_arrive(struct ref_device *r, const struct ref_grid *grid, const struct ref_block *block);
/* Operations under way: of a block, of a grid (block HOST_NONE), */
bool ref_under_way(const struct ref_device *r, uint32_t grid, uint32_t block);
bool ref_words_under_way(const struct ref_device *r, uint32_t base, uint32_t words);

#endif
