/*
 * ptx_exec.h - executing one PTX instruction for some lanes: →Θ of the report (5.3.2) and all that its
 * machine does beyond the branch unit and the barriers. For the semantics only.
 *
 * A group is what executes together: a warp (crs, thread-pc) or one thread (block). Its registers, frames
 * and call stacks lie in the machine's block; all writes go through `put`, so tracked machines hash and
 * log them.
 */
#ifndef ENGINE_PTX_EXEC_H
#define ENGINE_PTX_EXEC_H

#include "engine/machine/semantics.h"
#include "engine/program/ptx_code.h"

#include <stddef.h>

#define PTX_SITE_SHARES (1u << 31)

enum { PTX_CLOCK_TICK = 1000 };

/* κ of one lane: where its frames are. */
struct ptx_lane {
    struct ptx_rows rows; /* first ones of the current frame */
    uint32_t byte;        /* first byte of its local memory, from the thread's */
    uint32_t depth;       /* frames below it: |κ| - 1 */
    uint32_t function;    /* of the current frame */
    uint32_t clocks;      /* how often the lane has read a clock: no part of its frame */
};

/* Of a lane, where its frame is: those before `clocks`. */
#define PTX_FRAME_BYTES offsetof(struct ptx_lane, clocks)

/* What a step needs beside the state: the semantics' scratch_bytes is at least its size, and it stands
 * at the start of machine->scratch. */
enum { PTX_REGION_CACHE = 256, PTX_TEXT = 256 };

struct ptx_scratch {
    uint64_t sources[PTX_CODE_SOURCES][LIMIT_WARP];
    uint64_t results[PTX_CODE_RESULTS][LIMIT_WARP];
    uint64_t address[LIMIT_WARP];  /* of an access, in its space */
    uint32_t byte[LIMIT_WARP];     /* its first byte, in machine->memory or ptx_code.constants */
    uint32_t location[LIMIT_WARP]; /* the same, in locations (program.units) */
    uint8_t order[LIMIT_WARP];     /* in which the lanes write */
    uint8_t next[LIMIT_WARP];      /* lane + 1 of the next lane with the same place, 0 = none */
    uint8_t slot[2 * LIMIT_WARP];  /* lane + 1 of the first lane with a place, 0 = free */
    uint32_t region[PTX_REGION_CACHE]; /* by pc: where the last access went, a guess */
    char text[PTX_TEXT];               /* machine->fault_text */
    const uint32_t
        *numbers; /* in the grid: of the machine's blocks; NULL: in a row (crs_slot_numbers) */
};

struct ptx_lanes {
    uint32_t first_thread;  /* in the grid: of lane 0 */
    uint32_t count;         /* lanes, 1 to 64 */
    uint32_t block;         /* of the grid */
    uint32_t uniform;       /* all lanes have the frame of lane 0: rows are contiguous */
    struct ptx_lane lane[]; /* `count`; then call sites: uint32_t [depth][count], PTX_SITE_SHARES in
                               those of a frame that has the caller's registers; then registers */
};

/* A copy that a lane has begun and not waited for. */
struct ptx_copying {
    uint32_t to, from; /* bytes in machine.memory */
    uint32_t bytes;    /* that are written: a multiple of 4 */
    uint32_t given;    /* of these, that are read; the others become 0 */
    uint32_t age;      /* groups that were committed since, of its kind */
    uint32_t pc;
    uint32_t flags; /* PTX_COPY_.. */
};

enum {
    PTX_COPY_BULK = 1, /* cp.async.bulk: groups of its own */
    PTX_COPY_MADE = 2, /* wait_group.read: it was made, but others may not rely on it */
    PTX_COPY_VALUE = 4 /* st.async, red.async: `from` and `given` are the value, low half first */
};

enum {
    PTX_COPYING_WORDS = 7,
    PTX_COPIES = 64, /* of a lane, at most */
    PTX_ASYNC_WORDS = 2 + PTX_COPIES * PTX_COPYING_WORDS
};

/* Behind the registers of a group, a lane each, if the code has cp.async: PTX_ASYNC_WORDS. */
struct ptx_async {
    uint32_t count, unused;
    struct ptx_copying copies[PTX_COPIES]; /* in the order in which they were begun */
};

/* What a block's mbarriers wait for, at ptx_code.underway_word of its shared memory: entries[code.underway]. */
struct ptx_underway_entry {
    struct ptx_copying
        copy;          /* age: bytes that an mbarrier hears of; bytes 0: no copy, `age` arrivals */
    uint32_t mbarrier; /* byte in machine.memory */
    uint32_t thread;   /* who began it */
};

struct ptx_underway {
    uint32_t count, unused;
    struct ptx_underway_entry entries[];
};

/* What is under way may have been done by now, or may still be: tells observers of its accesses. To be called where
 * the lanes come to a barrier of their block, or end. */
void ptx_async_touch(struct machine *machine, struct ptx_lanes *lanes, lane_mask set);

/* Words of the block that a group takes (even). */
uint32_t ptx_lanes_words(const struct program *program, uint32_t count);
/* Makes it: frames of the entry, initial registers. `threads` consecutive ones of the grid. */
void ptx_lanes_init(struct machine *machine, struct ptx_lanes *lanes, uint32_t first_thread,
                    uint32_t count);

/* What of it belongs to one lane (symmetry.h). */
struct lane_layout;
void ptx_lanes_layout(const struct machine *machine, const struct ptx_lanes *lanes,
                      struct lane_layout *layout);

static inline lane_mask ptx_all(const struct ptx_lanes *lanes)
{
    return lanes->count == 64 ? ~(lane_mask)0 : ((lane_mask)1 << lanes->count) - 1;
}

/* The lanes of `active` whose guard holds at pc; those whose top frame is of another function too. */
lane_mask ptx_guard(const struct machine *machine, const struct ptx_lanes *lanes, uint32_t pc,
                    lane_mask active);

/* Whether two threads, each a group of its own, are in frames pushed by the same calls. */
bool ptx_same_calls(const struct ptx_lanes *lanes, const struct ptx_lanes *other);

static inline bool ptx_has_frame(const struct ptx_lanes *lanes, uint32_t lane,
                                 const struct ptx_op *op)
{
    return lanes->lane[lane].function == op->function;
}

/* V[[v]] != ⊥ for the executing lanes; otherwise the execution is stuck. */
bool ptx_have_frames(struct machine *machine, const struct ptx_lanes *lanes, uint32_t pc,
                     lane_mask executing);

/* THR.exec_tt, THR.exec_ff: `executing` is what ptx_guard gave; counts them. To be called once in each
 * step, for all instructions. False: V[[v]] = ⊥, a lane's top frame does not have the registers that
 * the instruction names, since it is of another function (stuck). */
static inline bool ptx_enter(struct machine *machine, const struct ptx_lanes *lanes, uint32_t pc,
                             lane_mask executing)
{
    machine->hits[RULE_PTX_EXEC_TT] += executing != 0;
    machine->hits[RULE_PTX_EXEC_FF] += executing != ptx_all(lanes);
    return (lanes->uniform && ptx_has_frame(lanes, 0, &machine->program->ptx->ops[pc])) ||
           ptx_have_frames(machine, lanes, pc, executing);
}

/* Executes the instruction at pc for `executing` (not empty), in all but flow and barriers of blocks:
 * computes, accesses memory, votes, bar.warp.sync. `exited`: lanes that need not be there although a
 * .sync names them. Lanes of one instruction that write one address: choices picks who is last where
 * the values differ; atomics of several lanes on one address are done in an order that choices picks
 * (NULL: ascending). Returns the rule (PTX_DOP, PTX_LD, ..). A fault ends the execution:
 * machine.head->status says so, and machine->fault_text where ("read of 4 bytes at 0x7000 ..."). */
enum rule ptx_execute(struct machine *machine, struct ptx_lanes *lanes, uint32_t pc,
                      lane_mask executing, lane_mask exited, struct choices *choices);

/* Target of each executing lane of a bra, brx or call. False: fault (index outside of a table). Addresses
 * that are no instructions are found by the next step. */
bool ptx_targets(struct machine *machine, const struct ptx_lanes *lanes, uint32_t pc,
                 lane_mask executing, uint32_t targets[64]);

/* THR.call: these lanes get a frame of the function at `target` and remember pc; parameters are copied.
 * False: depth exceeded (call_depth), or no function starts there (stuck). In raw kernels, a target that
 * starts no function is a call within the same frame. */
bool ptx_call(struct machine *machine, struct ptx_lanes *lanes, uint32_t pc, lane_mask set,
              uint32_t target);

/* THR.ret: results are copied, the frame is dropped. *site (NULL: not wanted) of each lane: address of its
 * call. False: a lane has no frame to return to (nothing was changed then). */
bool ptx_return(struct machine *machine, struct ptx_lanes *lanes, lane_mask set, uint32_t site[64]);

/* Value of a source operand for one lane; for barriers, traces, schedulers' footprints. */
uint64_t ptx_source(const struct machine *machine, const struct ptx_lanes *lanes,
                    const struct ptx_place *place, uint32_t lane);
/* Writes a result register of some lanes with one value (votes, reductions). */
void ptx_set_result(struct machine *machine, struct ptx_lanes *lanes, const struct ptx_place *place,
                    lane_mask set, uint64_t value);

/* Where a lane's element of a register lies, of the frame on top: 4 or 8 bytes (place->bits). */
void *ptx_register_of(const struct program *program, struct ptx_lanes *lanes,
                      const struct ptx_place *place, uint32_t lane);

/* Variables that the instruction at pc may read and write (bits as in code_stm), from the state. */
void ptx_footprint(const struct machine *machine, const struct ptx_lanes *lanes, uint32_t pc,
                   lane_mask executing, uint64_t *reads, uint64_t *writes);

/* Lanes of a warp at an instruction of the warp, whatever groups their registers lie in. */
struct ptx_meeting {
    const struct ptx_op *op;
    uint32_t first, count;      /* number in the warp of lane 0; lanes */
    lane_mask executing;        /* X */
    lane_mask with[LIMIT_WARP]; /* by lane: who takes part with it */
    const uint64_t *a, *b,
        *c;          /* operands, by lane: of vote, match, redux a; of shfl all; NULL: none */
    uint64_t *d, *p; /* results, by lane */
};

/* What the lanes of X get: t->d, t->p. The rule. */
enum rule ptx_meet(struct ptx_meeting *t);

/* A lane of a warp, whatever group its registers lie in. */
struct ptx_seat {
    struct ptx_lanes *lanes;
    uint32_t lane;
};

/* Executes mma, wmma, ldmatrix, stmatrix, movmatrix for the 32 lanes of a warp. The rule. */
enum rule ptx_matrix(struct machine *machine, const struct ptx_op *op, uint32_t pc,
                     const struct ptx_seat seats[PTX_MATRIX_LANES]);

/* The operand that names lanes; of kind NONE if the instruction has none. */
const struct ptx_place *ptx_mask_of(const struct ptx_op *op);

/* Of a trap that is a failed assertion (op->outside): its text becomes machine->fault_text. */
void ptx_assert_text(struct machine *machine, const struct ptx_lanes *lanes, uint32_t pc,
                     lane_mask X);

/* ⊥: the execution ends with `stuck`; which premise is missing. */
void ptx_stuck(struct machine *machine, uint32_t thread, uint32_t pc, const char *why);
/* The execution needs more than is kept here, which says nothing of the kernel. */
void ptx_beyond(struct machine *machine, uint32_t thread, uint32_t pc, const char *why);

/* ---- memory that is not sequentially consistent ---- */

/* A machine whose memory_model is set (engine/caches) does not access memory when it executes an ld, st or atom: the
 * model gets a request with the places of all lanes, and makes operations of it, which end later. What an instruction
 * reads from its registers must be taken at once, or the registers kept as they are until then. */
enum ptx_access_kind { PTX_ACCESS_LD, PTX_ACCESS_ST, PTX_ACCESS_ATOM };

struct ptx_request {
    struct machine *machine;
    struct ptx_lanes *lanes;
    const struct ptx_op *op;
    uint32_t pc;
    enum ptx_access_kind kind;
    lane_mask executing; /* whose access is to be performed; constants have been read */
    lane_mask
        losers; /* of a store: of those with one place, all but one; the model writes nothing for them */
    const uint32_t
        *byte; /* by lane: the first byte of its access, in machine->memory; in scratch */
    struct choices *choices;
};

/* A memory that is not sequentially consistent. */
struct ptx_memory {
    void (*issue)(const struct ptx_request *request);
};

/* Where the instruction's accesses would go, if it were executed now: byte[lane], of the lanes that are no constants;
 * these are returned. 0: none, or a lane's address leads nowhere. */
lane_mask ptx_places_now(struct machine *machine, struct ptx_lanes *lanes, uint32_t pc,
                         lane_mask executing, const uint32_t **byte);

/* The value that an element of so many bytes has in its register; what an atomic makes of the old value. */
uint64_t ptx_loaded(const struct ptx_op *op, uint64_t value);
uint64_t ptx_atomic_value(const struct ptx_op *op, uint64_t old, uint64_t b, uint64_t c);

#endif
