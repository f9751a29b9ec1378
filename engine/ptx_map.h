/*
 * ptx_map.h - from a node of a PTX tree to something known about it, by the node's address. Only looked
 * up, never walked through, so that no result depends on addresses.
 */
#ifndef ENGINE_PTX_MAP_H
#define ENGINE_PTX_MAP_H

#include "engine/arena.h"

#include <stdint.h>

struct ptx_map {
    uint32_t capacity; /* a power of two, more than twice the number of nodes */
    struct ptx_map_slot {
        const void *node;
        uint32_t number;
        const char *text;
    } * slots;
};

/* Room for this many nodes. */
static inline struct ptx_map ptx_map_new(struct arena *arena, uint32_t nodes)
{
    struct ptx_map map = {.capacity = 16};
    while (map.capacity / 2 <= nodes)
        map.capacity *= 2;
    map.slots = ARENA_ARRAY(arena, struct ptx_map_slot, map.capacity);
    return map;
}

/* The node's slot; an unused one (node NULL) if it is not there. */
static inline struct ptx_map_slot *ptx_map_find(const struct ptx_map *map, const void *node)
{
    uint64_t hash = (uint64_t)(uintptr_t)node * 0x9e3779b97f4a7c15u >> 32;
    uint32_t at = (uint32_t)hash & (map->capacity - 1);
    while (map->slots[at].node && map->slots[at].node != node)
        at = (at + 1) & (map->capacity - 1);
    return &map->slots[at];
}

static inline struct ptx_map_slot *ptx_map_add(struct ptx_map *map, const void *node)
{
    struct ptx_map_slot *slot = ptx_map_find(map, node);
    slot->node = node;
    return slot;
}

#endif
