/*
 * caches_internal.h - what the files of the room share: a line of a cache, an operation at work, an actor's
 * instruction.
 */
#ifndef ENGINE_CACHES_INTERNAL_H
#define ENGINE_CACHES_INTERNAL_H

#include "engine/caches/caches.h"
#include "engine/machine/semantics.h"

enum { CACHES_NONE = INT32_MAX, CACHES_BANKS = 32, CACHES_GROUPS = LIMIT_WARP * PTX_CODE_RESULTS };

enum memory_code {
    CODE_END,
    CODE_YIELD,
    CODE_READ_MEM,
    CODE_WRITE_MEM,
    CODE_ATOM_OP,
    CODE_RELEASE,
    CODE_TO_REGS,
    CODE_LOCK,
    CODE_UNLOCK,
    CODE_READ_L1,
    CODE_WRITE_L1,
    CODE_RESERVE_L1,
    CODE_UPDATE_L1,
    CODE_EVICT_L1,
    CODE_DISCARD_L1,
    CODE_FIRST_L1,
    CODE_NORMAL_L1,
    CODE_READ_L2,
    CODE_WRITE_L2,
    CODE_RESERVE_L2,
    CODE_UPDATE_L2,
    CODE_FIRST_L2,
    CODE_NORMAL_L2,
    CODE_UNLESS_L1,
    CODE_UNLESS_L2,
    CODE_ELSE
};

struct memory_program_info {
    uint8_t code[32];
    bool whole;
};
extern const struct memory_program_info memory_programs[MEMORY_PROGRAMS];

/* A cache: its lines, in `sets`; within a set those that are used come first, by tag. */
struct cache {
    struct machine *m;
    const struct caches *c;
    uint32_t *lines;
    uint32_t count, sets;
    bool is_l2;
};

/* An operation that steps. */
struct operation {
    struct machine *m;
    const struct caches *c;
    uint32_t actor, place; /* place: among the actor's */
    uint32_t sm;
    struct memory_slot *slot;
    struct ptx_lanes *lanes;
    const struct ptx_op *op;
    uint32_t need; /* bytes of the line */
    struct choices *choices;
};

/* What an actor executes next: one or, of thread-pc, several instructions. */
struct next_instruction {
    uint32_t pc;
    lane_mask active;
};

/* ---- caches_lines.c ---- */

struct cache caches_cache(const struct operation *x, uint32_t level);
struct cache caches_of_sm(struct machine *machine, const struct caches *c, uint32_t sm);
struct cache caches_second(struct machine *machine, const struct caches *c);
uint32_t caches_find(const struct cache *cache, uint32_t line);
bool caches_evictable(const struct cache_line *line);
/* Dirty bytes to memory, in place, or to the L2 if it has the line. */
void caches_clean(const struct cache *cache, uint32_t i);
bool caches_has_room(const struct cache *cache, uint32_t line);
void caches_drop(const struct cache *cache, uint32_t i);
/* What of a line may happen silently: it is written back if it is dirty, else it goes. */
bool caches_is_silent(const struct cache *cache, uint32_t i);
void caches_silent(const struct cache *cache, uint32_t i, struct choices *choices);

/* Its global lines go: whether they can, and that they do. */
bool caches_can_flush(const struct cache *cache);
void mem_flush(const struct cache *cache);
/* At the start: the line is there, valid and clean. */
void caches_warm(const struct cache *cache, uint32_t line);

/* Each of cuda-crs 4.1, 4.2.2; false: retry. */
bool mem_reserve(const struct operation *x, uint32_t level);
bool mem_read(const struct operation *x, uint32_t level);
/* What it reads is there, whatever else of the line is awaited. */
bool mem_is_there(const struct operation *x, uint32_t level);
bool mem_write(const struct operation *x, uint32_t level);
void mem_update(const struct operation *x, uint32_t level);
bool mem_evict(const struct operation *x);
bool mem_discard(const struct operation *x);
void mem_classify(const struct operation *x, uint32_t level, bool first);
bool mem_is_cached(const struct operation *x, uint32_t level);

/* ---- caches_operation.c ---- */

struct operation caches_operation(struct machine *machine, uint32_t actor, uint32_t place,
                                  struct choices *choices);
/* Bytes of a line that a lane's access has there, from its first byte on (which may lie in front of the line). */
uint32_t caches_bytes(const struct caches *c, const struct ptx_op *op, int32_t offset);
/* What a store or an atomic writes into the line: its bytes, as words. */
uint32_t caches_written(const struct operation *x, uint32_t words[CACHES_WORDS]);
bool caches_may_step(const struct operation *x);
/* Where its program goes on: past the conditions, which are of this state. */
uint32_t caches_ahead(const struct operation *x);
/* One micro step, and what follows it at once (R1). True: the operation has ended. */
bool caches_micro_step(struct operation *x);

/* ---- caches_issue.c ---- */

extern const struct ptx_memory caches_memory;
/* The lanes that have operations under way, other than those with one of these bits in `pins`. */
lane_mask caches_flying(const struct caches *c, uint32_t actor, uint32_t those);
bool caches_is_ready(struct machine *machine, uint32_t actor);
/* A membar that empties the L1. */
bool caches_empties(const struct caches *c, const struct ptx_op *op);
/* The instructions that the actor is at; at most 64. */
uint32_t caches_next(const struct machine *machine, uint32_t actor, struct next_instruction *next);

/* ---- caches_machine.c ---- */

/* What is no step is done to the machine without caches. */
void caches_between(struct machine *machine, void (*act)(struct machine *, uint32_t),
                    uint32_t slot);

/* ---- caches_touches.c ---- */

/* R4. */
void caches_touches(const struct machine *machine, uint32_t number, struct touches *t);

/* ---- caches_layout.c ---- */

struct caches caches_shape(const struct semantics *base, const struct program *program,
                           const struct machine_options *options);
uint32_t caches_state_words(const struct caches *c, const struct program *program);
void caches_place(struct caches *c, const struct program *program, uint32_t *words);
struct ptx_lanes *caches_lanes(const struct machine *machine, uint32_t actor);
uint32_t caches_sm(const struct machine *machine, const struct caches *c, uint32_t actor);
enum ast_space caches_space(const struct program *program, uint32_t word);
/* The first word of the line that a word of memory lies in. */
uint32_t caches_line_of(const struct machine *machine, const struct caches *c, uint32_t word);
/* Of a line of an L1: of global memory, or else of local memory. */
static inline bool caches_is_global(const struct machine *machine, const struct cache_line *line)
{
    return (int32_t)(line->tag - 1) < (int32_t)machine->program->private_base;
}

static inline void caches_put_words(struct machine *machine, uint32_t *to, const uint32_t *from,
                                    uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        put(machine, to + i, from ? from[i] : 0);
}

#endif
