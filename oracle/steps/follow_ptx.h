/*
 * follow_ptx.h - following the machines of PTX: `crs`, `thread-pc`, `block`, `its`.
 *
 * The branch unit, the pcs, the private stacks and the barriers are the reference's own, from the start on. Of
 * registers and memory it has a copy that it changes as the instruction says, and that must then equal the machine's.
 * Which registers and addresses an instruction names is taken from the program as it was laid out (engine/program):
 * what is compared is what is made of them.
 *
 * On trust, and counted: bounds of local memory.
 */
#ifndef ORACLE_FOLLOW_PTX_H
#define ORACLE_FOLLOW_PTX_H

#include "engine/crs/crs.h"
#include "engine/program/ptx_code.h"
#include "engine/reference_ptx/ref_bars.h"
#include "engine/reference_ptx/ref_branch.h"
#include "engine/reference_ptx/ref_ptx.h"
#include "oracle/steps/follower.h"

/* semantics_block: what preBrk and preRet pushed. */
struct follow_entry {
    bool is_call;
    uint32_t pc, depth;
};

enum { FOLLOW_DEPTH = 64, FOLLOW_ENTRIES = 256, FOLLOW_WORDS = 1 << 16 /* of memory */ };

/* What a thread has to do with its cluster's barrier: nothing; it has arrived and gone on; it waits; it has arrived
 * in a generation that has ended, and not waited. */
enum follow_at_cluster { FOLLOW_AWAY, FOLLOW_ARRIVED, FOLLOW_WAITS, FOLLOW_PASSED };

/* A warp; of semantics_block a thread. */
struct follow_group {
    struct ref_unit *unit;      /* of a warp */
    uint32_t pcs[LIMIT_WARP];   /* thread-pc, by lane; block: pcs[0] */
    uint32_t depth[LIMIT_WARP]; /* frames below a lane's top one */
    bool waits[REF_BARRIERS];   /* for these barriers */
    enum follow_at_cluster at_cluster[LIMIT_WARP];
    bool meets; /* its: it waits for lanes of its warp */
    bool ended;
    uint32_t bar_pc;              /* of the barrier instruction at which it waits */
    uint32_t sites[FOLLOW_DEPTH]; /* block: of the calls */
    struct follow_entry *entries; /* block: the last is the top */
    uint32_t entry_count;
    struct ptx_lanes *registers; /* the copy */
};

struct follow_ptx {
    const struct ptx_code *code;
    bool has_pcs, is_threads;
    uint32_t otherwise, options; /* crs_switches, block_options */
    bool late;                   /* of these BLOCK_LATE; behind the last step so many .. */
    uint32_t ends_offered;       /* .. ends of barriers were possible, and none */
    uint32_t stepped;            /* whose step was followed last */
    uint32_t groups_a_block, register_words;
    struct follow_group *groups;
    struct ref_bars *bars; /* of each block */
    int32_t *memory;
    /* Those that are under way (follow_ptx_copies.c); NULL: the code begins none. */
    struct follow_copies *copies;
    enum status end;
    uint32_t end_thread;
    /* The entry, or a function that it reaches, is said to wait for its grid. */
    bool may_ask_for_grid;
    struct ref_unit before; /* of the warp, before its step */
};

/* What a step works on. */
struct follow_step {
    struct follower *f;
    struct follow_ptx *x;
    struct follow_group *g;
    uint32_t group, pc;
    const struct ptx_op *op;
    struct ptx_lanes *after; /* the machine's registers */
    bool executes[LIMIT_WARP];
    bool is_part; /* of a step at several instructions: others access memory, too */
};

bool follow_ptx_new(struct arena *arena, struct follower *f, const char **why);
void follow_ptx_begin(struct follower *f);
void follow_ptx_step(struct follower *f, const struct step_event *event);
void follow_ptx_end(struct follower *f, enum status status);

/* The execution is to end so, by this lane. */
void follow_ptx_fault(struct follow_step *s, enum status status, uint32_t lane);
void follow_ptx_lost(struct follower *f, const char *what);

/* Whether the guard of the instruction holds for a lane; the value of an operand. */
bool follow_ptx_guard(const struct follow_step *s, uint32_t lane);
uint64_t follow_ptx_source(const struct follow_step *s, uint32_t number, uint32_t lane);
/* Where a lane goes: the address that is named, a register's, one of a table. False: there are not so many. */
bool follow_ptx_target(struct follow_step *s, uint32_t lane, uint32_t *target);
/* THR.call: one more frame of a lane, or a fault. THR.ret: one less of each that returns. */
void follow_ptx_enter(struct follow_step *s, uint32_t lane, uint32_t target);
void follow_ptx_leave(struct follow_step *s);
/* follow_ptx_frames.c: what the frames hold; behind a step's all, whether lanes have the same. */
void follow_ptx_push(struct follow_step *s, uint32_t lane, uint32_t target);
void follow_ptx_pop(struct follow_step *s, uint32_t lane);
void follow_ptx_framed(struct follow_step *s);

/* follow_ptx_data.c: what is neither flow nor barrier; the rule. Then registers and memory are compared. */
enum rule follow_ptx_execute(struct follow_step *s);
void follow_ptx_compare_data(struct follow_step *s);
void follow_ptx_compare_all_heard(struct follow_step *s);
void follow_ptx_set(const struct follow_step *s, struct ptx_lanes *registers,
                    const struct ptx_place *place, uint32_t lane, uint64_t value);

static inline bool follow_ptx_waits(const struct follow_group *g)
{
    for (uint32_t b = 0; b < REF_BARRIERS; b++)
        if (g->waits[b])
            return true;
    for (uint32_t l = 0; l < g->registers->count; l++)
        if (g->at_cluster[l] == FOLLOW_WAITS)
            return true;
    return g->meets;
}

/* follow_ptx_cluster.c: the block of this rank in the cluster; false: there is none any more. */
bool follow_ptx_neighbour(const struct follow_step *s, uint32_t wanted, uint32_t *block);
enum rule follow_ptx_cluster(struct follow_step *s);
void follow_ptx_cluster_ends(struct follow_step *s);

/* follow_ptx_special.c: what a special register holds - false: nobody else says -; the rank of the lane's block. */
bool follow_ptx_special(const struct follow_step *s, const struct ptx_operand *operand,
                        uint32_t lane, uint64_t *value);
uint32_t follow_ptx_rank(const struct follow_step *s, uint32_t lane);

/* follow_ptx_warp.c: where the active lanes are - false: at several instructions -, and the warp's step there. */
bool follow_ptx_common_pc(const struct follow_step *s, uint32_t *pc);
enum rule follow_ptx_warp(struct follow_step *s);
/* What both kinds of step do: the action of the branch unit, whose lanes are still to be said; the next instruction;
 * what is no flow. */
struct ref_action follow_ptx_action(const struct follow_step *s);
void follow_ptx_pass(struct follow_step *s);
enum rule follow_ptx_other(struct follow_step *s);
/* follow_ptx_apart.c: a step at several instructions; s->pc becomes the lowest, s->op what is executed first. */
enum rule follow_ptx_apart(struct follow_step *s);
void follow_ptx_compare_warp(struct follow_step *s);
void follow_ptx_part_mask(struct follower *f, const char *observable, lane_mask engine,
                          const bool *reference, uint32_t lanes);

/* follow_ptx_its.c: threads that wait for lanes of their warp. */
enum rule follow_ptx_meets(struct follow_step *s);
/* Whether threads of this thread's warp are all there; they go on. */
bool follow_ptx_are_met(struct follower *f, uint32_t thread);
void follow_ptx_meet(struct follower *f, const struct step_event *event, uint32_t block);
/* activemask: who has executed it together, before the step of one of them is told. */
void follow_ptx_activemask(struct follower *f, const struct step_event *event);

/* follow_ptx_data.c: operands of a lane, as number l of its warp's rows; the mask of a .sync form. */
void follow_ptx_fill_lane(const struct follow_step *s, uint32_t l, struct ref_lane_row *row);
uint64_t follow_ptx_mask(const struct follow_step *s, uint32_t l);
struct follow_step follow_ptx_step_of(struct follower *f, uint32_t group, uint32_t pc);

/* follow_ptx_matrix.c: mma, ldmatrix and the others; a lane of a warp, whatever group it is of. */
struct follow_seat {
    struct follow_step *s;
    uint32_t lane;
};
enum rule follow_ptx_matrix(struct follow_step *s);
enum rule follow_ptx_matrix_of(const struct follow_seat seats[PTX_MATRIX_LANES]);

/* follow_ptx_copies.c: cp.async and what waits for it. */
void follow_ptx_copies_new(struct arena *arena, struct follow_ptx *x, uint32_t threads);
void follow_ptx_copies_begin(struct follow_ptx *x, uint32_t threads);
enum rule follow_ptx_copy(struct follow_step *s);
/* Whether the phase of the mbarrier there lacks nothing but what is under way for it: that is made then, and the phase
 * completes. `heard`: how much of what was heard has been compared. */
bool follow_ptx_settles(struct follow_step *s, uint32_t lane, uint32_t byte, uint32_t *heard);

/* follow_ptx_texture.c */
enum rule follow_ptx_texture(struct follow_step *s);

/* follow_told.c: what observers are told of barriers. */
void follow_ptx_hear_use(void *context, const struct machine *machine,
                         const struct barrier_use *use);
void follow_ptx_compare_registered(const struct follow_step *s);
void follow_ptx_compare_released(struct follower *f, uint32_t block, uint32_t number);

/* follow_ptx_thread.c: a step of semantics_block or semantics_its. */
enum rule follow_ptx_thread(struct follow_step *s);
void follow_ptx_compare_thread(struct follow_step *s);
struct ref_bar_action follow_ptx_bar_action(const struct follow_step *s);

/* follow_ptx_places.c: where the addresses of PTX lead, in the copy of memory, and what observers hear of accesses. */
enum follow_space { FOLLOW_GLOBAL, FOLLOW_SHARED, FOLLOW_LOCAL, FOLLOW_CONSTANTS };

struct follow_place {
    enum follow_space space;
    bool exists;
    uint32_t byte; /* of memory, or of the constants */
};

/* The place of a lane's access of so many bytes, `ahead` behind its address; which must be a multiple of `align`. */
struct follow_place follow_ptx_place(const struct follow_step *s, uint32_t lane, uint64_t ahead,
                                     uint32_t bytes, uint32_t align, bool writes);
/* The places of all lanes. False: one has none, and the execution ends; a fault in local memory is believed. */
bool follow_ptx_places(struct follow_step *s, bool writes, struct follow_place places[LIMIT_WARP]);

/* Bits of the register, as it is declared, that a load's element e goes to; what is thrown away shows nowhere. */
uint32_t follow_ptx_width(const struct ptx_op *load, uint32_t e);
uint64_t follow_ptx_bytes(const int32_t *words, uint32_t byte, uint32_t bytes);
void follow_ptx_put_bytes(int32_t *words, uint32_t byte, uint32_t bytes, uint64_t value);

/* follow_ptx_copies.c: whether a lane meets a copy that its own thread has under way, and so is stuck: it reads what
 * the copy writes, or writes what it reads or writes. */
bool follow_ptx_meets_copy(struct follow_step *s, const struct follow_place *places, bool writes);
/* The same of one lane's bytes. */
bool follow_ptx_meets_copy_at(struct follow_step *s, uint32_t lane, uint32_t byte, uint32_t bytes,
                              bool writes);

bool follow_ptx_is_seen(const struct follow_place *p);
/* One access of a lane: as many locations as it spans, one after another. */
void follow_ptx_check_heard(struct follow_step *s, uint32_t *at, enum ref_access_kind kind,
                            uint32_t lane, uint32_t byte, uint32_t bytes, uint64_t value);
void follow_ptx_check_all_heard(struct follow_step *s, uint32_t at);

#endif
