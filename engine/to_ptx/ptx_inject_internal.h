/*
 * ptx_inject_internal.h - a function that is being injected: what ptx_inject.c and ptx_inject_code.c share.
 */
#ifndef ENGINE_PTX_INJECT_INTERNAL_H
#define ENGINE_PTX_INJECT_INTERNAL_H

#include "engine/to_ptx/ptx_rename.h"
#include "engine/to_ptx/ptx_structure.h"

struct aside;

struct injecting {
    struct arena *arena;
    const struct ptx_flow *flow;
    const struct ptx_symbols *symbols; /* of the module */
    struct ptx_renaming *renaming;
    bool is_entry;
    struct ptx_statement **last;         /* where the next statement goes */
    const struct ptx_statement **loc_at; /* a block: the .loc in force at its start */
    const struct ptx_statement *loc;     /* the last one written */
    const char *exit_name, *leave_name;  /* registers; NULL: not needed yet */
    const struct ptx_statement
        *loop_label;         /* of the header that is written next: it stands already */
    const char **side_label; /* a block: of the side of the table being written that leads to it */
    struct aside *asides;    /* still to be written; the last one first */
    struct location at;      /* of what is being written */
};

/* Writes a statement. */
static inline void ptx_inject_put(struct injecting *j, struct ptx_statement *stm)
{
    *j->last = stm;
    j->last = &stm->next;
}

/* Writes a new one. */
struct ptx_statement *ptx_inject_new(struct injecting *j, enum ptx_statement_kind kind,
                                     const char *name);

/* Writes the code of all shapes, once. */
void ptx_inject_code(struct injecting *j, const struct ptx_shapes *shapes);

#endif
