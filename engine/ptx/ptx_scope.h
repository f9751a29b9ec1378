/*
 * ptx_scope.h - which declaration a name of a PTX module means.
 *
 * Inner declarations hide outer ones; labels are known in their whole block, all else from its
 * declaration on (PTX ISA 5.4; the report's 5.1.3, step 7). A range %r<n> declares %r0 .. %r(n-1)
 * without taking memory for them.
 */
#ifndef ENGINE_PTX_SCOPE_H
#define ENGINE_PTX_SCOPE_H

#include "engine/ptx/ptx.h"

struct ptx_entry;

struct ptx_binding {
    enum ptx_target_kind kind;
    union {
        const struct ptx_variable *variable;
        const struct ptx_function *function;
        const struct ptx_statement *statement;
    } target;
    struct location at;
    uint32_t depth; /* of its scope; 0: the module */
    bool is_range;
    struct ptx_entry *entry;
    struct ptx_binding *hidden;  /* the one of the same name that this one hides */
    struct ptx_binding *earlier; /* declared before in the same scope */
};

/* A name, and what it means now. */
struct ptx_entry {
    const char *name;
    size_t length;
    struct ptx_binding *single, *range;
    const struct ptx_function *definition; /* of this name, wherever it stands */
};

struct ptx_scopes {
    struct arena *arena;
    struct ptx_entry *entries; /* open addressing; capacity is a power of two */
    uint32_t capacity, count;
    uint32_t depth;
    struct ptx_binding *declared[PTX_LIMIT_DEPTH + 3]; /* in each open scope, the last one first */
};

void ptx_scopes_init(struct ptx_scopes *scopes, struct arena *arena);
void ptx_scope_open(struct ptx_scopes *scopes);

/* Reports the ranges that overlap other registers of the same scope, and forgets the scope. */
void ptx_scope_close(struct ptx_scopes *scopes, struct diag *diag);

struct ptx_entry *ptx_scope_entry(struct ptx_scopes *scopes, const char *name);

/* Declares in the innermost scope. What the name means there already: returned, nothing is done. */
struct ptx_binding *ptx_scope_declare(struct ptx_scopes *scopes, const char *name,
                                      const struct ptx_binding *binding);

/* What a name means; NULL: nothing. *index: which register of a range. */
const struct ptx_binding *ptx_scope_find(struct ptx_scopes *scopes, const char *name,
                                         uint32_t *index);

#endif
