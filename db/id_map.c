#include "db/id_map.h"

#include <stdlib.h>

enum { ROOM_FIRST = 64 };

void id_map_free(struct id_map *map)
{
    free(map->pairs);
    *map = (struct id_map){0};
}

/* Where `from` is, or belongs. */
static struct id_pair *place(const struct id_map *map, uint64_t from)
{
    size_t mask = map->room - 1;
    size_t at = (size_t)(from * 0x9e3779b97f4a7c15u >> 20) & mask;
    while (map->pairs[at].from != 0 && map->pairs[at].from != from)
        at = (at + 1) & mask;
    return &map->pairs[at];
}

static bool grow(struct id_map *map)
{
    struct id_map wider = {.room = map->room ? map->room * 2 : ROOM_FIRST, .count = map->count};
    wider.pairs = calloc(wider.room, sizeof *wider.pairs);
    if (!wider.pairs)
        return false;
    for (size_t i = 0; i < map->room; i++)
        if (map->pairs[i].from != 0)
            *place(&wider, map->pairs[i].from) = map->pairs[i];
    free(map->pairs);
    *map = wider;
    return true;
}

struct id_pair *id_map_add(struct id_map *map, uint64_t from, uint64_t to)
{
    if (map->count * 2 >= map->room && !grow(map))
        return NULL;
    struct id_pair *pair = place(map, from);
    *pair = (struct id_pair){.from = from, .to = to};
    map->count++;
    return pair;
}

struct id_pair *id_map_find(const struct id_map *map, uint64_t from)
{
    if (map->room == 0)
        return NULL;
    struct id_pair *pair = place(map, from);
    return pair->from == 0 ? NULL : pair;
}
