/*
 * ref_room.c - room for the lists of one execution: what is dropped is used again, and there is no more than this.
 */
#include "engine/reference/ref_internal.h"

enum { ROOM_BYTES = 4 << 20, ROOM_FUNCTIONS = LIMIT_FUNCTIONS + 1 };

struct ref_room {
    char *bytes;
    size_t used;
    struct ref_item *items; /* dropped */
    struct {
        const struct ast_function *function;
        struct ref_frame *frames; /* dropped */
    } dropped[ROOM_FUNCTIONS];
    uint32_t function_count;
};

struct ref_room *ref_room_new(struct arena *arena)
{
    struct ref_room *room = ARENA_NEW(arena, struct ref_room);
    room->bytes = arena_room(arena, ROOM_BYTES);
    return room;
}

void ref_room_clear(struct ref_room *room)
{
    room->used = 0;
    room->items = NULL;
    room->function_count = 0;
}

size_t ref_room_size(const struct ref_room *room)
{
    return sizeof *room + room->used;
}

void ref_room_save(const struct ref_room *room, void *to)
{
    memcpy(to, room, sizeof *room);
    memcpy((char *)to + sizeof *room, room->bytes, room->used);
}

void ref_room_restore(struct ref_room *room, const void *from)
{
    memcpy(room, from, sizeof *room);
    memcpy(room->bytes, (const char *)from + sizeof *room, room->used);
}

static void *take(struct ref *r, size_t bytes)
{
    bytes = (bytes + 15) / 16 * 16;
    if (r->room->used + bytes > ROOM_BYTES) {
        r->unknown = "stacks larger than the reference has room for";
        return NULL;
    }
    void *at = r->room->bytes + r->room->used;
    r->room->used += bytes;
    return at;
}

struct ref_item *ref_item_new(struct ref *r, enum ref_item_kind kind)
{
    struct ref_item *item = r->room->items;
    if (item)
        r->room->items = item->rest;
    else
        item = take(r, sizeof *item);
    if (item)
        *item = (struct ref_item){.kind = kind};
    return item;
}

void ref_item_drop(struct ref *r, struct ref_item *item)
{
    item->rest = r->room->items;
    r->room->items = item;
}

static struct ref_frame **dropped_of(struct ref_room *room, const struct ast_function *function)
{
    uint32_t i = 0;
    while (i < room->function_count && room->dropped[i].function != function)
        i++;
    if (i == room->function_count) {
        room->dropped[i].function = function;
        room->dropped[i].frames = NULL;
        room->function_count++;
    }
    return &room->dropped[i].frames;
}

static uint32_t words_of(const struct ast_function *function)
{
    uint32_t words = 0;
    for (const struct ast_var *v = function->locals; v; v = v->next)
        words += v->length;
    return words;
}

struct ref_frame *ref_frame_new(struct ref *r, const struct ast_function *function, uint32_t loops)
{
    uint32_t words = words_of(function), at = 0;
    struct ref_frame **dropped = dropped_of(r->room, function), *frame = *dropped;
    if (frame) {
        *dropped = frame->below;
    } else {
        frame = take(r, sizeof *frame + words * sizeof(int32_t) + loops * sizeof(uint32_t));
        if (!frame)
            return NULL;
        frame->function = function;
        frame->words = words;
        frame->values = (int32_t *)(frame + 1);
        frame->trips = (uint32_t *)(frame->values + words);
    }
    memset(frame->values, 0, words * sizeof(int32_t));
    memset(frame->trips, 0, loops * sizeof(uint32_t));
    for (const struct ast_var *v = function->locals; v; v = v->next) {
        for (uint32_t i = 0; i < v->init_count; i++)
            frame->values[at + i] = v->init[i];
        at += v->length;
    }
    return frame;
}

void ref_frame_drop(struct ref *r, struct ref_frame *frame)
{
    struct ref_frame **dropped = dropped_of(r->room, frame->function);
    frame->below = *dropped;
    *dropped = frame;
}
