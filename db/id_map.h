/*
 * id_map.h - row ids of one database and what they are in another.
 */
#ifndef DB_ID_MAP_H
#define DB_ID_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct id_pair {
    uint64_t from, to; /* from 0: a free place */
    bool mark;         /* the caller's */
};

/* All zero: empty. */
struct id_map {
    struct id_pair *pairs;
    size_t count, room; /* room: 0, or a power of two */
};

void id_map_free(struct id_map *map);
/* Adds a pair; `from` must be new, not 0. NULL: out of memory. */
struct id_pair *id_map_add(struct id_map *map, uint64_t from, uint64_t to);
/* NULL: there is none. Valid until the next id_map_add. */
struct id_pair *id_map_find(const struct id_map *map, uint64_t from);

#endif
