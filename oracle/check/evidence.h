/*
 * evidence.h - the JSON object of a divergence, built piece by piece in an arena, and the pieces that
 * several oracles show: masks, stacks, accesses.
 *
 * Masks are printed as the papers do, lane 0 leftmost; stacks topmost first; statements by the line
 * they stand on ("line 7"), a continuing loop as "while_cont line 7", tokens as "div 0110".
 */
#ifndef ORACLE_EVIDENCE_H
#define ORACLE_EVIDENCE_H

#include "engine/base/text.h"
#include "engine/warps/simt.h"
#include "engine/warps/threads.h"
#include "oracle/race/race.h"

struct evidence {
    struct text text;
    bool empty; /* of the object or array being written: no comma before the next item */
};

void evidence_open(struct evidence *evidence, struct arena *arena); /* writes { */
const char *evidence_close(struct evidence *evidence);              /* writes } */

/* "key": value pairs. Strings are escaped. */
void evidence_string(struct evidence *evidence, const char *key, const char *value);
void evidence_number(struct evidence *evidence, const char *key, int64_t value);
/* "key": { ... } until evidence_leave. */
void evidence_enter(struct evidence *evidence, const char *key);
void evidence_leave(struct evidence *evidence);

void evidence_mask(struct evidence *evidence, const char *key, lane_mask mask, uint32_t lanes);
/* Entries topmost last, as the machines keep them; masks NULL for a thread's stack. */
void evidence_stack(struct evidence *evidence, const char *key, const struct program *program,
                    const stack_entry *stack, const lane_mask *masks, uint32_t depth,
                    uint32_t lanes);
/* Active mask, disable mask and stack of a warp. */
void evidence_warp(struct evidence *evidence, const char *key, const struct program *program,
                   const struct warp_state *warp);
/* "first", "second" and "location" of a race. */
void evidence_race(struct evidence *evidence, const char *key, const struct program *program,
                   const struct race_witness *witness);

/* "line 7" or "generated statement 12", in the arena. */
const char *evidence_statement(struct arena *arena, const struct program *program, uint32_t stm);
/* Where a statement of PTX comes from, by .loc ("sum.cu:12"); NULL: unknown, or it is the line itself. */
const char *evidence_source(struct arena *arena, const struct program *program, uint32_t stm);
/* The same with the folders that the compiler wrote. */
const char *evidence_source_path(struct arena *arena, const struct program *program, uint32_t stm);

/* Line of a statement; 0 for CODE_NONE. */
uint32_t evidence_line(const struct program *program, uint32_t stm);
/* One sentence: "thread 0 writes x at line 3, thread 1 reads it at line 4". */
const char *evidence_race_sentence(struct arena *arena, const struct program *program,
                                   const struct race_witness *witness);
/* Of a PTX kernel whose plain read, one of the two statements that race, is the first guess of a compare-and-swap loop,
 * as CUDA's guide writes one: "; the read is .." with what can be done about it. Else "". */
const char *evidence_first_guess(struct arena *arena, const struct program *program, uint32_t stm,
                                 uint32_t other);

#endif
