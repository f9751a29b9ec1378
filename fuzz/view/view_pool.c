#include "fuzz/view/view_pool.h"

#include <string.h>

enum { SLOTS_AT_FIRST = 1 << 10 };

void view_pool_start(struct view_pool *pool, struct arena *arena)
{
    *pool = (struct view_pool){.arena = arena, .slot_count = SLOTS_AT_FIRST};
    pool->slots = ARENA_ARRAY(arena, uint32_t, pool->slot_count);
}

/* FNV-1a, eight bytes at a time would gain nothing here. */
static uint64_t hash_of(const void *key, size_t length)
{
    const unsigned char *bytes = key;
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash ^ hash >> 29;
}

static void place(struct view_pool *pool, uint32_t number)
{
    uint32_t slot = (uint32_t)pool->items[number].hash & (pool->slot_count - 1);
    while (pool->slots[slot])
        slot = (slot + 1) & (pool->slot_count - 1);
    pool->slots[slot] = number + 1;
}

/* At most half of the slots are in use; what was there before stays in the arena. */
static void grow(struct view_pool *pool)
{
    if (pool->count == pool->capacity) {
        uint32_t capacity = pool->capacity ? 2 * pool->capacity : 256;
        struct view_pool_item *items = ARENA_ARRAY(pool->arena, struct view_pool_item, capacity);
        if (pool->count)
            memcpy(items, pool->items, pool->count * sizeof *items);
        pool->items = items;
        pool->capacity = capacity;
    }
    if (pool->count < pool->slot_count / 2)
        return;
    pool->slot_count *= 2;
    pool->slots = ARENA_ARRAY(pool->arena, uint32_t, pool->slot_count);
    for (uint32_t i = 0; i < pool->count; i++)
        place(pool, i);
}

uint32_t view_pool_find(struct view_pool *pool, const void *key, size_t length, bool *fresh)
{
    uint64_t hash = hash_of(key, length);
    uint32_t slot = (uint32_t)hash & (pool->slot_count - 1);
    *fresh = false;
    for (; pool->slots[slot]; slot = (slot + 1) & (pool->slot_count - 1)) {
        const struct view_pool_item *item = &pool->items[pool->slots[slot] - 1];
        if (item->hash == hash && item->length == length && memcmp(item->key, key, length) == 0)
            return pool->slots[slot] - 1;
    }
    grow(pool);
    *fresh = true;
    pool->items[pool->count] =
        (struct view_pool_item){.hash = hash,
                                .key = arena_strndup(pool->arena, key, length),
                                .length = (uint32_t)length,
                                .text = "null"};
    place(pool, pool->count);
    return pool->count++;
}

void view_pool_say(struct view_pool *pool, const char *text)
{
    size_t length = strlen(text);
    pool->items[pool->count - 1].text = arena_strndup(pool->arena, text, length);
    pool->bytes += length + 1;
}

uint32_t view_pool_text(struct view_pool *pool, const char *text)
{
    bool fresh;
    uint32_t number = view_pool_find(pool, text, strlen(text), &fresh);
    if (fresh) {
        pool->items[number].text = pool->items[number].key;
        pool->bytes += strlen(text) + 1;
    }
    return number;
}

void view_pool_print(const struct view_pool *pool, const char *key, FILE *out)
{
    fprintf(out, "\"%s\": [", key);
    for (uint32_t i = 0; i < pool->count; i++)
        fprintf(out, "%s%s", i ? "," : "", pool->items[i].text);
    fputs("]", out);
}
