/*
 * key_table.h - texts and their numbers: 0, 1, 2, ... in the order in which they first came.
 */
#ifndef FUZZ_KEY_TABLE_H
#define FUZZ_KEY_TABLE_H

#include "engine/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* All zero: empty. */
struct key_table {
    uint32_t count, room; /* texts, and places for them */
    const char **texts;   /* by number */
    uint32_t *slots;      /* open addressing: number + 1; 0 = free. Twice as many as `room` */
};

/* The number of a text; one that is new is copied to the arena, where the table grows, too. */
uint32_t key_table_number(struct key_table *table, struct arena *arena, const char *text);

/* Room for one more than `count` items of an array that grows in an arena: its new place, zeroed behind the
 * old items. *room: how many there is room for. */
void *key_table_grow(struct arena *arena, void *items, uint32_t count, uint32_t *room, size_t size);

#endif
