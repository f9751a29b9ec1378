/*
 * made_up.h - launches of a kernel that does not say how it is launched: settings, by what its text says.
 */
#ifndef FUZZ_MADE_UP_H
#define FUZZ_MADE_UP_H

#include "fuzz/grid/branches.h"
#include "fuzz/grid/indices.h"
#include "fuzz/grid/wanted.h"

/* What the text says of a launch. */
struct shape {
    uint32_t threads; /* of a block, or of a side of a square one; 0: nothing says it */
    bool square;      /* threads are counted in two dimensions */
    bool one_block;   /* blocks would all do the same */
};

/* An entry for which launches are made up. */
struct made_up {
    struct arena *arena;
    const struct ptx_module *module;
    const struct ptx_function *entry;
    struct indices indices;
    struct shape shape;
};

struct made_up_launch {
    const char *settings;
    const char *fills[REACHED]; /* of the buffers of its first parameters: "iota" */
    bool is_marked;             /* one of them holds what the kernel compares its words with */
};

enum { MADE_UP_STRUCT_BUFFER = 1 << 16 /* bytes of what a pointer in a struct leads to */ };

struct made_up made_up_for(struct arena *arena, const struct ptx_module *module,
                           const struct ptx_function *entry);

/* How many threads of a row, in all blocks, launch number `i` of these has. */
uint32_t made_up_width(const struct made_up *m, uint32_t i);

/* Number `i` of the launches that are tried first. False: there are no more. */
bool made_up_first(const struct made_up *m, uint32_t i, struct made_up_launch *launch);

/* Launch number `i`, drawn: each number on its own, but those that are wanted (or NULL). `is_vacuous`: no launch before
 * came to a store, so that buffers may hold anything. */
void made_up_drawn(const struct made_up *m, const struct branches *branches,
                   const struct wanted *wanted, bool is_vacuous, uint32_t i,
                   struct made_up_launch *launch);

/* " bind:2=61" for each parameter that is a number, and for structs; buffers are what ptx_kernel makes of them. */
const char *made_up_numbers(const struct made_up *m, uint32_t value);

#endif
