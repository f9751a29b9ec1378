/*
 * view_pool.h - things that are written once and then called by their number: pieces of JSON in the order in which they
 * were first met. An execution says the same few things again and again, so that a step becomes three small numbers.
 */
#ifndef FUZZ_VIEW_POOL_H
#define FUZZ_VIEW_POOL_H

#include "engine/base/arena.h"

#include <stdint.h>
#include <stdio.h>

struct view_pool_item {
    uint64_t hash;
    const void *key;
    uint32_t length;
    const char *text; /* JSON */
};

struct view_pool {
    struct arena *arena;
    uint32_t count, capacity; /* of items */
    struct view_pool_item *items;
    uint32_t slot_count; /* a power of two */
    uint32_t *slots;     /* number + 1 of an item; 0: free */
    size_t bytes;        /* of all texts, as they are printed */
};

void view_pool_start(struct view_pool *pool, struct arena *arena);

/* The number of what has this key; *fresh: it is met for the first time, and view_pool_say is to follow. */
uint32_t view_pool_find(struct view_pool *pool, const void *key, size_t length, bool *fresh);
/* The text of the last item; copied. */
void view_pool_say(struct view_pool *pool, const char *text);

/* The number of a text that is its own key. */
uint32_t view_pool_text(struct view_pool *pool, const char *text);

/* "key": [ .. ], the items in their order. */
void view_pool_print(const struct view_pool *pool, const char *key, FILE *out);

#endif
