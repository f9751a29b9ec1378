#include "fuzz/base/key_table.h"

#include <string.h>

enum { ROOM_FIRST = 64 };

/* FNV-1a */
static uint64_t hash_text(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash ^ hash >> 32;
}

/* The slot that holds the text, or the free one where it belongs. */
static uint32_t *find_slot(const struct key_table *table, const char *text)
{
    uint32_t mask = table->room * 2 - 1;
    uint32_t at = (uint32_t)hash_text(text) & mask;
    while (table->slots[at] != 0 && strcmp(table->texts[table->slots[at] - 1], text) != 0)
        at = (at + 1) & mask;
    return &table->slots[at];
}

static void grow(struct key_table *table, struct arena *arena)
{
    uint32_t room = table->room ? table->room * 2 : ROOM_FIRST;
    const char **texts = ARENA_ARRAY(arena, const char *, room);
    if (table->count > 0)
        memcpy(texts, table->texts, table->count * sizeof *texts);
    table->texts = texts;
    table->slots = ARENA_ARRAY(arena, uint32_t, room * 2);
    table->room = room;
    for (uint32_t i = 0; i < table->count; i++)
        *find_slot(table, texts[i]) = i + 1;
}

uint32_t key_table_number(struct key_table *table, struct arena *arena, const char *text)
{
    if (table->count == table->room)
        grow(table, arena);
    uint32_t *slot = find_slot(table, text);
    if (*slot == 0) {
        table->texts[table->count++] = arena_strndup(arena, text, strlen(text));
        *slot = table->count;
    }
    return *slot - 1;
}

void *key_table_grow(struct arena *arena, void *items, uint32_t count, uint32_t *room, size_t size)
{
    if (count < *room)
        return items;
    uint32_t wider = *room ? *room * 2 : ROOM_FIRST;
    void *fresh = arena_alloc(arena, wider, size);
    if (count > 0)
        memcpy(fresh, items, count * size);
    *room = wider;
    return fresh;
}
