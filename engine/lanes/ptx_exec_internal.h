/*
 * ptx_exec_internal.h - what ptx_exec.c, ptx_memory.c, ptx_warp_ops.c and ptx_frames.c share: one step of a
 * group of lanes, its registers, its operands.
 */
#ifndef ENGINE_PTX_EXEC_INTERNAL_H
#define ENGINE_PTX_EXEC_INTERNAL_H

#include "engine/lanes/ptx_exec.h"

/* The registers of a group: rows of `count` elements, by lane. */
struct ptx_file {
    uint64_t *wide;
    uint32_t *narrow;
    uint32_t count;
};

struct ptx_step {
    struct machine *m;
    const struct ptx_code *code;
    const struct ptx_op *op;
    struct ptx_lanes *lanes;
    struct ptx_file file;
    uint32_t pc;
    lane_mask executing;  /* X */
    bool one_frame;       /* the frames of X have the same rows: an operand's row is contiguous */
    struct ptx_rows rows; /* where, if so */
    struct choices *choices;
    struct ptx_scratch *scratch;
};

STEP_INLINE uint32_t lowest_lane(lane_mask mask)
{
    return (uint32_t)__builtin_ctzll(mask);
}

/* Words of a group before its registers, even. */
static inline uint32_t ptx_head_words(const struct ptx_code *code, uint32_t count)
{
    size_t words = (sizeof(struct ptx_lanes) + count * sizeof(struct ptx_lane)) / 4;
    return ((uint32_t)words + code->depth * count + 1) & ~1u;
}

/* Address of the call at which the frame `depth` of a lane was pushed. */
static inline const uint32_t *ptx_site(const struct ptx_lanes *lanes, uint32_t depth, uint32_t lane)
{
    return (const uint32_t *)(lanes->lane + lanes->count) + depth * lanes->count + lane;
}

static inline uint32_t *ptx_site_of(struct ptx_lanes *lanes, uint32_t depth, uint32_t lane)
{
    return (uint32_t *)(lanes->lane + lanes->count) + depth * lanes->count + lane;
}

static inline struct ptx_file ptx_file(const struct ptx_code *code, struct ptx_lanes *lanes)
{
    uint32_t *words = (uint32_t *)lanes + ptx_head_words(code, lanes->count);
    uint64_t *wide = (uint64_t *)(void *)words;
    return (struct ptx_file){wide, (uint32_t *)(wide + code->rows.wide * lanes->count),
                             lanes->count};
}

static inline void *ptx_register(const struct ptx_file *file, const struct ptx_rows *rows,
                                 const struct ptx_place *place)
{
    return place->bits == 64 ? (void *)(file->wide + (rows->wide + place->offset) * file->count)
                             : file->narrow + (rows->narrow + place->offset) * file->count;
}

/* The same of lanes that are only looked at. */
static inline const void *ptx_look(const struct ptx_code *code, const struct ptx_lanes *lanes,
                                   const struct ptx_rows *rows, const struct ptx_place *place)
{
    const uint32_t *words = (const uint32_t *)lanes + ptx_head_words(code, lanes->count);
    uint32_t row = place->bits == 64 ? 2 * (rows->wide + place->offset)
                                     : 2 * code->rows.wide + rows->narrow + place->offset;
    return words + row * lanes->count;
}

/* A row of memory need only be aligned to words. */
static inline uint64_t ptx_element(const void *row, uint32_t bits, uint32_t lane)
{
    uint64_t wide;
    if (bits != 64)
        return ((const uint32_t *)row)[lane];
    memcpy(&wide, (const char *)row + sizeof wide * lane, sizeof wide);
    return wide;
}

STEP_INLINE void ptx_put_element(struct machine *machine, void *row, uint32_t bits, uint32_t lane,
                                 uint64_t value)
{
    if (bits == 64)
        put_mask(machine, (lane_mask *)row + lane, value);
    else
        put(machine, (uint32_t *)row + lane, (uint32_t)value);
}

/* 1, 2, 4 or 8 bytes of memory, aligned to as many. */
STEP_INLINE uint64_t ptx_fetch(const uint32_t *words, uint32_t byte, const uint32_t bytes)
{
    uint32_t word = words[byte / 4];
    switch (bytes) {
    case 1:
        return word >> 8 * (byte & 3) & 0xff;
    case 2:
        return word >> 8 * (byte & 3) & 0xffff;
    case 8:
        return word | (uint64_t)words[byte / 4 + 1] << 32;
    }
    return word;
}

STEP_INLINE void ptx_store(struct machine *machine, uint32_t byte, const uint32_t bytes,
                           uint64_t value)
{
    uint32_t *word = (uint32_t *)&machine->memory[byte / 4];
    if (bytes < 4) {
        uint32_t shift = 8 * (byte & 3), mask = (bytes == 1 ? 0xffu : 0xffffu) << shift;
        put(machine, word, (*word & ~mask) | ((uint32_t)value << shift & mask));
        return;
    }
    put(machine, word, (uint32_t)value);
    if (bytes == 8)
        put(machine, word + 1, (uint32_t)(value >> 32));
}

/* The low bits of an operand. */
STEP_INLINE uint64_t ptx_low_bits(uint64_t value, uint32_t bytes)
{
    return bytes == 8 ? value : value & (((uint64_t)1 << 8 * bytes) - 1);
}

/* In its block, counted through. */
static inline uint32_t ptx_tid(const struct program *program, const struct ptx_lanes *lanes,
                               uint32_t lane)
{
    return lanes->first_thread + lane - lanes->block * program->launch.threads;
}

/* A row of a source: elements of place->bits by lane, at least of the executing lanes. */
const void *ptx_row(struct ptx_step *x, const struct ptx_place *place, uint32_t scratch);
/* The same, widened to 64 bits. */
const uint64_t *ptx_wide_row(struct ptx_step *x, const struct ptx_place *place, uint32_t scratch);

/* The executing lanes get their elements of the row, of place->bits; nothing for PTX_PLACE_NONE. */
void ptx_commit(struct ptx_step *x, const struct ptx_place *place, const void *row);

/* An ld, st, atom of the executing lanes. */
struct ptx_access {
    struct ptx_step *x;
    enum ptx_access_kind kind;
    uint32_t bytes;      /* of a whole vector */
    lane_mask constants; /* lanes whose place lies in ptx_code.constants */
    lane_mask observed;  /* lanes whose place lies in global or shared memory */
    bool run;            /* all lanes execute, their places follow each other */
    bool distinct;       /* no two lanes have one place, for sure */
    bool same;           /* all lanes execute, and have one place */
};

/* The slot of the machine that holds the block of this rank in the lanes' cluster; UINT32_MAX: there is none, or it has
 * ended. */
uint32_t ptx_block_ranked(const struct machine *machine, const struct ptx_lanes *lanes,
                          uint32_t rank);
/* The slot of the machine whose shared memory this byte is of. */
uint32_t ptx_block_at(const struct machine *machine, uint32_t byte);
/* Finds the places of the executing lanes: scratch->byte. False: one has none, the execution has ended. */
bool ptx_places(struct ptx_access *access);
/* The same, but *lane is the one that has none, and nothing ends. */
bool ptx_find_places(struct ptx_access *access, uint32_t *lane);

/* The bytes that a lane sees from a generic address on; *bytes: as many as lie in one variable. NULL: none. */
const void *ptx_generic_bytes(const struct machine *machine, const struct ptx_lanes *lanes,
                              uint32_t lane, uint64_t address, uint32_t *bytes);

/* The memory that is not sequentially consistent gets the request of an ld, st, atom (ptx_memory.c). */
enum rule ptx_ask(struct ptx_step *x, enum ptx_access_kind kind);

/* ptx_mbarrier.c */
enum rule ptx_mbarrier_step(struct ptx_step *x);
/* Observers hear that the lane says to the object's phase what it has done so far, at pc. */
void ptx_mbarrier_tell(struct machine *machine, const struct ptx_lanes *lanes, uint32_t lane,
                       uint32_t byte, uint32_t pc);
/* The same, now, that something is under way. False: there is no object (stuck). */
bool ptx_mbarrier_hears(struct ptx_step *x, uint32_t lane, uint32_t byte);
/* One arrival more is pending. False: stuck. */
bool ptx_mbarrier_expects(struct ptx_step *x, uint32_t lane, uint32_t byte);

/* ptx_underway.c: what mbarriers of the lanes' block wait for. */
/* False: there is no room (stuck). */
bool ptx_underway_add(struct ptx_step *x, uint32_t lane, const struct ptx_underway_entry *entry);
/* Arrivals and bytes that are under way for the object at `byte`. */
void ptx_underway_sum(const struct machine *machine, uint32_t byte, uint32_t *arrivals,
                      uint32_t *bytes);
/* All of it is made, by the lane that waits for it; returns where the last of it was begun. */
uint32_t ptx_underway_make(struct ptx_step *x, uint32_t lane, uint32_t byte);
/* As ptx_async_touch and ptx_async_hits. */
void ptx_underway_touch(struct machine *machine, struct ptx_lanes *lanes, lane_mask set);
bool ptx_underway_hits(const struct ptx_access *access, uint32_t lane);

/* ptx_matrix.c: mma, ldmatrix and the others by the lanes of a group. */
enum rule ptx_matrix_step(struct ptx_step *x);

/* ptx_texture.c */
enum rule ptx_texture_step(struct ptx_step *x);
/* The place of one lane's access of a->bytes at this address of its op's space: scratch->byte. False: it has none, the
 * execution has ended. */
bool ptx_place_at(struct ptx_access *access, uint32_t lane, uint64_t address);

/* ptx_async.c */
/* An access of one lane's: `bytes` (up to 8) from `byte` on, which are `value` then. */
void ptx_tell_lane(struct machine *machine, const struct ptx_lanes *lanes, uint32_t lane,
                   enum access_kind kind, uint32_t pc, uint32_t byte, uint32_t bytes,
                   uint64_t value);
void ptx_copy_touch(struct machine *machine, const struct ptx_lanes *lanes, uint32_t lane,
                    const struct ptx_copying *copy);
/* Moves the bytes of a copy, and tells. */
void ptx_copy_make(struct ptx_step *x, uint32_t lane, const struct ptx_copying *copy);
void ptx_copy_put(struct machine *machine, struct ptx_copying *place,
                  const struct ptx_copying *copy);
/* Whether an access to these bytes meets what a copy that is under way reads or writes. */
bool ptx_copy_meets(const struct ptx_copying *copy, uint32_t byte, uint32_t bytes, bool writes);
enum rule ptx_async_step(struct ptx_step *x);
/* Whether a lane accesses what its own copy, which it has not waited for, reads or writes: it is stuck then. The places
 * are those of `access`. */
bool ptx_async_hits(const struct ptx_access *access);

enum rule ptx_ld(struct ptx_step *x);
enum rule ptx_st(struct ptx_step *x);
enum rule ptx_atom(struct ptx_step *x);

/* vote, activemask, shfl, match, redux, bar.warp.sync by the executing lanes of a group. */
enum rule ptx_together(struct ptx_step *x, lane_mask exited);

#endif
