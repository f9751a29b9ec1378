/*
 * ptx_rename.h - LOAD.T7 of the report: names of a PTX function that stay unique when its nested blocks are
 * dissolved and its declarations moved to its start, and copies of statements with these names.
 *
 * Parameters and what the outermost block declares keep their names, and so does what a nested block
 * declares unless the name is taken; ranges of nested blocks (%r<4>) are always renamed. A declaration
 * that would hide a name of the module which the function uses elsewhere is renamed too.
 */
#ifndef ENGINE_PTX_RENAME_H
#define ENGINE_PTX_RENAME_H

#include "engine/ptx/ptx_reach.h"

struct ptx_renaming {
    struct arena *arena;
    const char *tag;      /* in every new name, in no other name of the module */
    uint32_t counter;     /* of new names */
    struct ptx_map names; /* declaration -> texts[..]; those that keep their name are not in it */
    const char **texts;
    uint32_t clash; /* line of a variable whose initial value has the address of one of the
                           * function's own variables: its name is not looked after; 0: none */
};

/* A part of names that no name in the module has. */
const char *ptx_unused_tag(struct arena *arena, const struct ptx_module *module);

/* New names for a function of a checked module. */
struct ptx_renaming ptx_renaming_new(struct arena *arena, const struct ptx_function *function,
                                     const char *tag);

/* A new name that starts with (the start of) `base`. */
const char *ptx_new_name(struct ptx_renaming *renaming, const char *base);

/* Copies under the new names, not resolved; `next` is NULL. NULL of NULL. */
struct ptx_operand *ptx_copy_operands(const struct ptx_renaming *renaming,
                                      const struct ptx_operand *list);
/* Of any kind but a block. */
struct ptx_statement *ptx_copy_statement(const struct ptx_renaming *renaming,
                                         const struct ptx_statement *statement);
/* The statements as they are, nested blocks too. */
struct ptx_statement *ptx_copy_body(const struct ptx_renaming *renaming,
                                    const struct ptx_statement *body);

#endif
