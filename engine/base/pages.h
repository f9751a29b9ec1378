/*
 * pages.h - copies of large memory that is mostly as it was: pages that nobody has touched stay so.
 */
#ifndef ENGINE_PAGES_H
#define ENGINE_PAGES_H

#include <stddef.h>
#include <string.h>

/* As memcpy, but writes only pages that differ: reading one that was never touched costs nothing to speak of, writing
 * it costs a page. */
static inline void pages_copy(void *to, const void *from, size_t bytes)
{
    enum { PAGE = 4096, SMALL = 16 * PAGE };
    char *t = to;
    const char *f = from;
    for (; bytes > SMALL; t += PAGE, f += PAGE, bytes -= PAGE)
        if (memcmp(t, f, PAGE) != 0)
            memcpy(t, f, PAGE);
    memcpy(t, f, bytes);
}

#endif
