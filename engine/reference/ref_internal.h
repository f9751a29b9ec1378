/*
 * ref_internal.h - what the reference's files share. For engine/reference only.
 */
#ifndef ENGINE_REF_INTERNAL_H
#define ENGINE_REF_INTERNAL_H

#include "engine/reference/reference.h"

#include <string.h>

/* ---- ref_room.c ---- */

void ref_room_clear(struct ref_room *room);
/* What the room holds, kept and put back where it was, so that whoever points into it still may. */
size_t ref_room_size(const struct ref_room *room);
void ref_room_save(const struct ref_room *room, void *to);
void ref_room_restore(struct ref_room *room, const void *from);
/* NULL: no room is left, r->unknown. */
struct ref_item *ref_item_new(struct ref *r, enum ref_item_kind kind);
void ref_item_drop(struct ref *r, struct ref_item *item);
struct ref_frame *ref_frame_new(struct ref *r, const struct ast_function *function, uint32_t loops);
void ref_frame_drop(struct ref *r, struct ref_frame *frame);

/* ---- ref_memory.c ---- */

bool ref_layout(struct ref *r, struct arena *arena, const char **why);
void ref_initialise(struct ref *r, const int32_t *inputs);
struct ref_cell ref_cell_of(struct ref *r, uint32_t thread, const struct ast_var *var,
                            uint32_t element);
int32_t ref_builtin(const struct ref *r, uint32_t thread, enum ast_builtin builtin);
int32_t *ref_local(const struct ref_frame *frame, const struct ast_var *var);

void ref_saw(struct ref *r, enum ref_access_kind kind, uint32_t thread, const struct ref_cell *cell,
             int32_t value);

/* The execution ends with an error; the first one counts. */
void ref_fail(struct ref *r, enum ref_end end, uint32_t thread);
static inline bool ref_failed(const struct ref *r)
{
    return r->end > REF_TERMINATED || r->unknown || r->misled;
}
enum rule ref_unknown(struct ref *r, const char *what);

/* ---- ref_expr.c ---- */

/* E[[e]] of a thread; 0 and r->end where an index is outside of its array. */
int32_t ref_value(struct ref *r, uint32_t thread, const struct ast_expr *e);
struct ref_cell ref_place(struct ref *r, uint32_t thread, const struct ast_lvalue *place);

/* ---- ref_statements.c ---- */

/* Number `made` of the thread's choices (docs/kernel-language.md): a value for havoc; one of n. */
int32_t ref_choice_value(struct ref *r, uint32_t thread);
uint32_t ref_choice_index(struct ref *r, uint32_t thread, uint32_t n);

/* The place that an assignment writes, and the value. Of `x op= e` x is read, too. */
struct ref_cell ref_assigned(struct ref *r, uint32_t thread, const struct ast_stm *s,
                             int32_t *value);
void ref_write(struct ref *r, uint32_t thread, const struct ref_cell *cell, int32_t value);

struct ref_operands {
    struct ref_cell cell;
    int32_t a, b;
};
bool ref_operands(struct ref *r, uint32_t thread, const struct ast_stm *s, struct ref_operands *x);
void ref_atomic(struct ref *r, uint32_t thread, const struct ast_stm *s,
                const struct ref_operands *x);

/* r->ways of what these threads, in any order, write or do. */
void ref_ways_to_write(struct ref *r, const uint32_t *threads, uint32_t count, uint32_t first,
                       const struct ref_cell *cells, const int32_t *values);
void ref_ways_of(struct ref *r, const struct ast_stm *s, const uint32_t *threads, uint32_t count,
                 uint32_t first, const struct ref_operands *operands);

/* Whether what was told is an order of these threads, each once. */
bool ref_is_order(const struct ref_told *told, const uint32_t *threads, uint32_t count);

/* ---- ref_source.c ---- */

/* A word that others see is about to be read: what it holds is told. */
void ref_walk_read(struct ref *r, const struct ref_cell *cell);

/* ---- ref_group.c ---- */

/* Threads that step together: lanes of a warp, `first` its lane 0; ascending. */
struct ref_group {
    uint32_t first, count;
    uint32_t threads[LIMIT_WARP];
};

/* For which of them e holds. False: for one it has no value. */
bool ref_group_holds(struct ref *r, const struct ref_group *group, const struct ast_expr *e,
                     bool *holds);
/* An assignment, havoc, atomic or vote of all of them. False: it is not done. */
bool ref_group_does(struct ref *r, const struct ref_group *group, const struct ast_stm *s,
                    const struct ref_told *told);

/* ---- ref_stack.c ---- */

/* S W: the list of statements above `rest`; a body of if, while: one statement. */
struct ref_item *ref_push_list(struct ref *r, const struct ast_stm *list, struct ref_item *rest);
struct ref_item *ref_push_body(struct ref *r, const struct ast_stm *body, struct ref_item *rest);
struct ref_item *ref_push(struct ref *r, enum ref_item_kind kind, const struct ast_stm *stm,
                          struct ref_item *rest);
struct ref_item *ref_pop(struct ref *r, struct ref_item *item);
bool ref_same_stack(const struct ref_item *a, const struct ref_item *b);

void ref_enter(struct ref *r, uint32_t thread, const struct ast_function *f,
               const struct ast_stm *call);
void ref_leave(struct ref *r, uint32_t thread); /* but the kernel's own frame stays */

/* ---- the semantics ---- */

void ref_threads_start(struct ref *r);
enum rule ref_threads_step(struct ref *r, uint32_t thread);
void ref_warps_start(struct ref *r);
enum rule ref_warps_step(struct ref *r, uint32_t warp, const struct ref_told *told);
bool ref_graphs_new(struct ref *r, struct arena *arena, const char **why);
uint32_t ref_loop_count(const struct ref *r, const struct ast_function *function);
/* Whether a barrier stands in this loop of the function. */
bool ref_loop_waits(const struct ref *r, const struct ast_function *function, uint32_t loop);
bool ref_may_choose(struct ref *r, uint32_t thread, const struct ast_expr *guard);
uint32_t ref_choose_marked(struct ref *r, uint32_t thread, const bool *marked, uint32_t count);
const struct ast_expr *ref_leading_assume(const struct ast_block *block);
int32_t ref_picked(struct ref *r, uint32_t thread, const struct ast_stm *s);
bool ref_arguments(struct ref *r, uint32_t thread, const struct ast_stm *s, int32_t *values);
bool ref_enter_with(struct ref *r, uint32_t thread, const struct ast_stm *s, const int32_t *values);
const struct ast_stm *ref_leave_with(struct ref *r, uint32_t thread);
const struct ast_block *ref_block_with(const struct ast_function *function,
                                       const struct ast_stm *stm);
void ref_blocks_start(struct ref *r);
enum rule ref_blocks_step(struct ref *r, uint32_t thread);
bool ref_blocks_together(const struct ref *r, uint32_t a, uint32_t b);
void ref_lockstep_start(struct ref *r);
void ref_splits_start(struct ref *r);
enum rule ref_splits_step(struct ref *r, uint32_t thread, const struct ref_told *told);
enum rule ref_lockstep_step(struct ref *r, uint32_t block, const struct ref_told *told);

#endif
