/*
 * ref_caches.h - the caches of cuda-crs, chapter 4, as lists of lines of single bytes, and memory programs as text,
 * run a word at a time. The L2 and the memory behind it are one value (R2).
 *
 * Bytes are numbered through all of memory: shared and local memory lie behind global memory. A line may begin in front
 * of the first byte, or end behind the last one: what is not there is 0.
 */
#ifndef ENGINE_REF_CACHES_H
#define ENGINE_REF_CACHES_H

#include "engine/language/ast.h"
#include "engine/machine/rules.h"
#include "engine/ptx/ptx.h"
#include "engine/reference/reference.h"

enum { REF_LINE_BYTES = 32, REF_BANKS = 32, REF_VALUES = 8 };

struct ref_byte {
    bool valid, dirty;
    uint8_t value;
};

/* cl: a line that is in use. Who pins it is kept with the operations. */
struct ref_line {
    int64_t address; /* of its first byte */
    struct ref_byte bytes[REF_LINE_BYTES];
    bool pending, evict_first;
};

/* Lines in use, in no order; no more than `ways` of a set. */
struct ref_l1 {
    uint32_t count;
    struct ref_line *lines;
};

/* sigma: an operation under way. */
struct ref_operation {
    const struct ptx_instruction *instruction;
    const char *rest; /* what is left of its memory program */
    uint32_t group, block, sm;
    uint32_t place; /* of the instruction, in the program */
    int64_t line;
    uint32_t bytes, count; /* of an element; elements a lane */
    bool ordered;          /* volatile, or what counts as such */
    bool pins;             /* its line */
    bool lanes[LIMIT_WARP], writes[LIMIT_WARP];
    int64_t byte[LIMIT_WARP];                /* the first one of a lane's access */
    uint64_t values[LIMIT_WARP][REF_VALUES]; /* as they were when it was issued */
    uint8_t v[REF_LINE_BYTES];
};

enum ref_profile { REF_PRINTED, REF_LLH, REF_COHERENT };
enum ref_victims { REF_ANY, REF_FIRST, REF_LOWEST };

struct ref_caches {
    enum ref_profile profile;
    enum ref_victims victims;
    uint32_t line_bytes, ways, sets, sms;
    int64_t memory_bytes, private_bytes; /* private_bytes: where local memory begins */
    uint8_t *memory;
    struct ref_l1 *l1;
    struct ref_operation *operations; /* in the order in which they were issued */
    uint32_t operation_count, operation_capacity;
    bool (*locked)[REF_BANKS]; /* of a block */
    /* Of the step at hand. */
    bool has_victim; /* told: this line gave way, if one did */
    int64_t victim;
    bool wrote_registers, ended;
    const char *wrong; /* what cannot be */
};

/* ---- ref_programs.c: from an instruction to its operations (memory-device A.1, A.3) ---- */

/* The name of the memory program of an access in this space. */
const char *ref_program_name(const struct ref_caches *m, const struct ptx_instruction *instruction,
                             enum ast_space space);
/* MO.vol: volatile, relaxed, acquire, release. */
bool ref_is_ordered(const struct ptx_instruction *instruction);
bool ref_acquires(const struct ptx_instruction *instruction);
bool ref_releases(const struct ptx_instruction *instruction);
/* mem_issue: it is under way, at the beginning of its program. Its line and lanes are filled in. */
void ref_issue(struct ref_caches *m, const struct ref_operation *operation, enum ast_space space);
/* MO.poloc: nothing of the operation's group that is under way keeps it back. */
bool ref_in_order(const struct ref_caches *m, const struct ref_operation *operation);
/* The same of lanes (a bit each) that would load, or not, so many bytes from these on. */
bool ref_keeps_order(const struct ref_caches *m, uint32_t group, bool loads, uint32_t bytes,
                     uint64_t lanes, const uint32_t *byte);
/* Of lanes that store to one byte one writes it, and none writes another one. */
bool ref_one_writes(const struct ref_caches *m, const struct ref_operation *operation);
/* An operation of the group is under way for one of the lanes, a bit each. */
bool ref_any_under_way(const struct ref_caches *m, uint32_t group, uint64_t lanes);
/* Number `place` among those of a group; and it goes. */
uint32_t ref_operation_at(const struct ref_caches *m, uint32_t group, uint32_t place);
void ref_remove_operation(struct ref_caches *m, uint32_t operation);
/* Whether the operation has a byte of its own in its line. */
bool ref_has_byte(const struct ref_operation *operation, uint32_t byte);

/* ---- ref_caches.c ---- */

/* A micro step, up to the next yield and what touches the operation alone (R1). Where it has `ended`, the caller takes
 * the operation away. */
void ref_micro_step(struct ref_caches *m, uint32_t operation);
/* A micro step of it would not only be tried in vain, and (MEM.prio) no earlier ordered one of its lanes is under
 * way. */
bool ref_may_step(const struct ref_caches *m, uint32_t operation);
/* What it does next, in words. */
const char *ref_says_next(const struct ref_caches *m, uint32_t operation);
/* What lies in a lane's element after a load: its bytes of v. */
uint64_t ref_taken(const struct ref_caches *m, const struct ref_operation *x, uint32_t lane,
                   uint32_t element, bool *is_there);

struct ref_line *ref_line_at(const struct ref_caches *m, uint32_t sm, int64_t line);
bool ref_is_dirty(const struct ref_caches *m, const struct ref_line *cl);
uint32_t ref_pins(const struct ref_caches *m, uint32_t sm, const struct ref_line *cl);

/* Whether a silent rule applies to the L1. */
bool ref_is_silent(const struct ref_caches *m, uint32_t sm);

/* The silent rules. False: it does not apply. */
bool ref_evict(struct ref_caches *m, uint32_t sm, int64_t line);
bool ref_write_back(struct ref_caches *m, uint32_t sm, int64_t line);
bool ref_flush(struct ref_caches *m, uint32_t sm);

/* What observers were told of an access when its operations were issued, in locations of which a word has so many: each
 * element of each lane once, element by element; last of those that store to a place the lane whose value stays. */
struct ref_telling {
    enum ref_access_kind kind;
    const struct ref_access *heard;
    uint32_t count, units, first_thread;
};
/* `first`: the operations from here on are the access's. */
bool ref_are_told(const struct ref_caches *m, uint32_t first, const struct ref_telling *telling);

#endif
