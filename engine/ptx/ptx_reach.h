/*
 * ptx_reach.h - what an entry of a PTX module needs: the functions that it may run and the variables in
 * memory that it may access.
 */
#ifndef ENGINE_PTX_REACH_H
#define ENGINE_PTX_REACH_H

#include "engine/ptx/ptx.h"

/* From addresses of nodes (and a number beside them) to numbers. Only looked up, never walked, so no
 * address decides anything. */
struct ptx_map {
    struct arena *arena;
    struct ptx_map_entry *entries; /* open addressing; capacity is a power of two */
    uint32_t capacity, count;
};

/* Adds, or returns the one that is there: a place for a value; *is_new: which. Valid until the next one
 * is added. */
uint32_t *ptx_map_add(struct ptx_map *map, const void *key, uint64_t sub, bool *is_new);

/* NULL: not there. */
const uint32_t *ptx_map_find(const struct ptx_map *map, const void *key, uint64_t sub);

/* The module's names, for initialisers and aliases, which the checker does not resolve: the definition of
 * each, or else its alias, or else a declaration. */
struct ptx_symbols {
    const struct ptx_item **items; /* open addressing; capacity is a power of two */
    uint32_t capacity;
};

void ptx_symbols_init(struct ptx_symbols *symbols, struct arena *arena,
                      const struct ptx_module *module);
const struct ptx_item *ptx_symbol(const struct ptx_symbols *symbols, const char *name);

/* The function of this name, or the one that it is an alias of; NULL: the name is a variable's, or nobody's. */
const struct ptx_function *ptx_symbol_function(const struct ptx_symbols *symbols, const char *name);

/* The function that runs when `f` is called: its definition, that of its alias. NULL: the module has none. */
const struct ptx_function *ptx_definition(const struct ptx_symbols *symbols,
                                          const struct ptx_function *f);

struct ptx_reach {
    uint32_t function_count;
    const struct ptx_function *
        *functions; /* with bodies; the entry first, the others as in the text */
    uint32_t variable_count;
    /* .global, .shared, .const, and .local of the module; those of the module first, as in the text,
     * then those of bodies. */
    const struct ptx_variable **variables;
    struct ptx_symbols symbols;
};

/* Everything that the entry reaches, which has a body; of a module that has been checked. */
void ptx_reach(struct arena *arena, const struct ptx_module *module,
               const struct ptx_function *entry, struct ptx_reach *reach);

/* Whether it reaches a body that was refused (ptx_parse_some); what is wrong with the first one is in `diag`. */
bool ptx_reach_refused(const struct ptx_reach *reach, struct diag *diag);

/* The module without the functions that the entry does not reach: what an entry of many costs does not grow with the
 * others. It shares all it has with the module, which has been checked. */
const struct ptx_module *ptx_part(struct arena *arena, const struct ptx_module *module,
                                  const struct ptx_function *entry);

/* The entry of this name that has a body; NULL: there is none. */
const struct ptx_function *ptx_find_entry(const struct ptx_module *module, const char *name);

/* Bytes of a variable, also of one whose length its initialiser gives; 0: not known. */
uint64_t ptx_memory_bytes(const struct ptx_variable *var);

/* The name that .file gives a number; NULL: none. Whether it is a header of a compiler's. */
const char *ptx_file_name(const struct ptx_module *module, uint32_t number);
bool ptx_is_library(const struct ptx_module *module, uint32_t file);

#endif
