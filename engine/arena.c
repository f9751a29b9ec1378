#include "engine/arena.h"

#include "engine/invariant.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

int arena_init(struct arena *arena, size_t size)
{
    void *base = mmap(NULL, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return -1;
    *arena = (struct arena){.base = base, .size = size};
    return 0;
}

void arena_destroy(struct arena *arena)
{
    if (arena->base) {
        arena_release(arena, 0);
        ASAN_UNPOISON_MEMORY_REGION(arena->base, arena->most);
        munmap(arena->base, arena->size);
    }
    *arena = (struct arena){0};
}

void *arena_room(struct arena *arena, size_t bytes)
{
    size_t left = arena->size - arena->used;
    INVARIANT(bytes <= left && ((bytes + 15) & ~(size_t)15) <= left);
    void *result = arena->base + arena->used;
    arena->used += (bytes + 15) & ~(size_t)15;
    ASAN_POISON_MEMORY_REGION(result, arena->base + arena->used - (char *)result);
    ASAN_UNPOISON_MEMORY_REGION(result, bytes);
    return result;
}

void *arena_alloc(struct arena *arena, size_t count, size_t size)
{
    INVARIANT(size == 0 || count <= (arena->size - arena->used) / size);
    return memset(arena_room(arena, count * size), 0, count * size);
}

char *arena_strndup(struct arena *arena, const char *text, size_t length)
{
    char *copy = arena_alloc(arena, length + 1, 1);
    memcpy(copy, text, length);
    return copy;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    INVARIANT(length >= 0);
    char *text = arena_alloc(arena, (size_t)length + 1, 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}
