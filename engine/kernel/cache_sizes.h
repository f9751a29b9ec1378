/*
 * cache_sizes.h - sizes of caches as a launch states them: "lines=2,words=4,sets=2,sms=1,policy=lowest"
 * (docs/memory.md). They say nothing to a subject without caches.
 */
#ifndef ENGINE_CACHE_SIZES_H
#define ENGINE_CACHE_SIZES_H

#include "engine/base/arena.h"

#include <stdint.h>

/* 0: not stated. */
struct cache_sizes {
    uint32_t lines;  /* of an L1 */
    uint32_t words;  /* of a line */
    uint32_t sets;   /* that an L1's lines are divided into */
    uint32_t sms;    /* block b runs on SM b mod sms */
    uint32_t policy; /* 1 + enum memory_policy */
};

/* Which line gives way to a new one. */
enum memory_policy {
    POLICY_ANY, /* as the schedule chooses */
    POLICY_FIRST, /* one of class evict-first where there is one; among equals as the schedule chooses */
    POLICY_LOWEST, /* the one of the lowest address */
    POLICY_COUNT
};

enum { CACHE_SETTINGS = 5 };
extern const char *const cache_setting_names[CACHE_SETTINGS];

/* One of cache_setting_names, which is not stated yet. NULL, or what is wrong, as a sentence about 'words'. */
const char *cache_sizes_put(struct cache_sizes *sizes, uint32_t setting, const char *value,
                            size_t length);

/* The whole text, on top of what is there; likewise. */
const char *cache_sizes_read(struct arena *arena, struct cache_sizes *sizes, const char *text);

/* What does not go together, or NULL. */
const char *cache_sizes_wrong(const struct cache_sizes *sizes);

/* What `over` states. */
void cache_sizes_override(struct cache_sizes *sizes, const struct cache_sizes *over);

/* "lines=2,words=4" with this between two; empty: nothing is stated. */
const char *cache_sizes_print(struct arena *arena, const struct cache_sizes *sizes,
                              const char *between);

#endif
