/*
 * caches.h - the caches of "The Model of Computation of CUDA and its Formal Semantics", chapter 4, as the memory of
 * `crs`, `thread-pc` and `block`.
 *
 * An ld, st or atom makes memory operations, which run a memory program each (programs.def) in micro steps; between
 * them anything else may happen, and a cache may drop a clean line or write a dirty one back. So such a machine has
 * alternatives beside its warps: an operation in flight, and the caches of an SM. Numbers of what can be live:
 *
 *     0 .. actor_count - 1     warps, or threads
 *     from there on            operations in flight: `slots` a warp, in the order in which they were issued
 *     behind them              the L1 of each SM; with `full` the L2
 *
 * An operation that could only try again, without any effect, is not live. What is decided beyond the report, above all
 * what goes with divergence, calls and barriers, stands in docs/memory.md.
 */
#ifndef ENGINE_CACHES_H
#define ENGINE_CACHES_H

#include "engine/lanes/ptx_exec.h"
#include "engine/machine/machine.h"

extern const struct semantics semantics_crs_caches;
extern const struct semantics semantics_thread_pc_caches;
extern const struct semantics semantics_block_caches;

enum { CACHES_WORDS = 8 /* most of a line */ };

/* cl. Masks have a bit a byte, the lowest address first. */
struct cache_line {
    uint32_t tag;     /* its first word in memory, + 1; 0: unused */
    uint32_t valid;   /* vmask */
    uint32_t dirty;   /* dmask */
    uint32_t pins;    /* operations that wait for the line */
    uint32_t pending; /* reserved, and not filled yet */
    uint32_t first;   /* eviction class: evict-first */
    uint32_t vals[];
};

enum memory_program {
#define MEMORY_PROGRAM(id, ...) MEMORY_##id,
#include "engine/caches/programs.def"
#undef MEMORY_PROGRAM
    MEMORY_PROGRAMS
};

extern const char *const memory_program_names[MEMORY_PROGRAMS];

/* sigma, of an operation in flight. */
struct memory_slot {
    lane_mask lanes;   /* that it is for */
    lane_mask writers; /* of a store: whose values are written */
    uint32_t pc;       /* the instruction; 0: the slot is free */
    uint32_t line;     /* of memory: its first word */
    uint32_t program;  /* enum memory_program */
    uint32_t ip;       /* where it goes on */
    uint32_t pins;     /* MEMORY_L1, MEMORY_L2: it pins its line there */
    uint32_t ordered;  /* volatile, or stronger: behind earlier ones of its lanes */
    uint32_t value
        []; /* sigma.v: `words`; then by lane its first byte, from the line's start, an int8_t each; then `operands` */
};

enum {
    MEMORY_L1 = 1,
    MEMORY_L2 = 2,
    MEMORY_OVER = 4,  /* another block than its own has its place, */
    MEMORY_STALE = 8, /* and the flags of its registers were reset */
    MEMORY_SM = 16    /* the first bit of its SM, where blocks are `placed` */
};

/* Sizes, and where things lie; in the machine's scratch. */
struct caches {
    const struct semantics *base; /* the machine without caches */
    struct memory_options options;
    uint32_t words, lines, sets, ways, l2_lines, sms, slots, lanes;
    uint32_t line_words, slot_words;
    uint32_t
        operands; /* a lane: what it stores, taken at issue; 0: not `placed`, blocked registers keep it */
    bool
        inside; /* a step of the machine without caches is being taken, whose live actors head->live has */
    uint32_t
        *live; /* [0]: how many actors could step with a sequentially consistent memory; then who */
    uint32_t *ready;     /* by actor: can it issue its next instruction? */
    uint32_t *in_flight; /* by actor */
    lane_mask *fence;    /* by actor: lanes that wait until their operations have ended */
    uint32_t *locks;     /* by block: locked banks */
    uint32_t *sm;        /* by block: its SM; NULL: not `placed` */
    uint32_t *slot;      /* by actor, `slots` each */
    uint32_t *l1;        /* by SM, `lines` each */
    uint32_t *l2;        /* l2_lines; NULL: not `full` */
};

/* Whether a line has two words at least: elements of 64 bits are accessed, other than constants and parameters, which
 * no cache holds. */
bool caches_needs_two(const struct ptx_code *code);

/* Of a machine whose memory_model is set. */
const struct caches *caches_of(const struct machine *machine);

static inline struct memory_slot *caches_slot(const struct caches *c, uint32_t actor, uint32_t i)
{
    return (struct memory_slot *)(void *)(c->slot + ((size_t)actor * c->slots + i) * c->slot_words);
}

static inline struct cache_line *caches_line(const struct caches *c, uint32_t *cache, uint32_t i)
{
    return (struct cache_line *)(void *)(cache + (size_t)i * c->line_words);
}

static inline uint32_t *caches_l1(const struct caches *c, uint32_t sm)
{
    return c->l1 + (size_t)sm * c->lines * c->line_words;
}

/* Operand k of a lane: two words. */
static inline uint32_t *caches_operand(const struct caches *c, struct memory_slot *slot,
                                       uint32_t lane, uint32_t k)
{
    uint32_t first = c->slot_words - 2 * c->operands * c->lanes;
    return (uint32_t *)(void *)slot + first + 2 * (lane * c->operands + k);
}

static inline int8_t *caches_offsets(const struct caches *c, struct memory_slot *slot)
{
    return (int8_t *)(slot->value + c->words);
}

/* The word that all SMs agree on (MEM.inv.10): a dirty or valid one of the L2, or else memory's. */
uint32_t caches_current(const struct machine *machine, uint32_t word);

/* Which of MEM.inv.* does not hold in the state, or NULL. */
const char *caches_broken(const struct machine *machine);

/* MEM.inv.10. What all SMs agree on of each word of memory; of local memory, what its SM has. And, after a step of the
 * environment: what changed among the first words that it may not have changed, or NULL. */
void caches_agreed(const struct machine *machine, uint32_t *values);
const char *caches_moved(const struct machine *machine, const struct step_event *event,
                         uint32_t words, const uint32_t *before, const uint32_t *after);

/* Whether a live number is an operation; its actor and its place among that one's. */
bool caches_is_operation(const struct machine *machine, uint32_t number, uint32_t *actor,
                         uint32_t *place);

/* ---- blocks that come and go, L1s that others use (`placed`; caches_slots.c) ---- */

/* crs_slot_start and crs_slot_empty. A block that starts finds no lines of its slot's local memory. Its registers are
 * blocked by operations of the block before, unless their flags are reset. */
void caches_slot_start(struct machine *machine, uint32_t slot, uint32_t sm, bool resets_flags);
void caches_slot_empty(struct machine *machine, uint32_t slot);
/* Whether operations of the slot's threads are under way; of local memory only, or all. */
bool caches_slot_pending(const struct machine *machine, uint32_t slot, bool only_local);
/* These banks of the slot's shared memory are locked. */
void caches_set_locks(struct machine *machine, uint32_t slot, uint32_t banks);
/* An L1 gets these lines, `count` of `line_words` words each, in the order of their tags. */
void caches_set_lines(struct machine *machine, uint32_t sm, const uint32_t *lines, uint32_t count);
/* Who can step, behind caches_set_lines or a change of memory. */
void caches_renew(struct machine *machine);

/* A line that is not of this machine's memory: somebody else's, who alone drops it silently or writes it back. */
#define CACHES_FOREIGN 0x80000000u

/* ---- to be shown (caches_show.c) ---- */

/* What keeps an actor that has not ended: nothing, what would with a sequentially consistent memory, too (a barrier),
 * or operations that are under way. In any state, also while a step is told. */
enum caches_hold { CACHES_GOES, CACHES_HELD, CACHES_WAITS };
enum caches_hold caches_hold(const struct machine *machine, uint32_t actor);
/* Whether an operation of the instruction is under way. */
bool caches_under_way(const struct machine *machine, uint32_t actor, uint32_t pc);
/* What the operation does next: "L2 is read next". */
const char *caches_next_of(const struct machine *machine, uint32_t actor, uint32_t place);

#endif
