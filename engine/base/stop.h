/*
 * stop.h - what a flag that ends long work says: 0 goes on.
 */
#ifndef ENGINE_STOP_H
#define ENGINE_STOP_H

#include <signal.h>
#include <stddef.h>

enum { STOP_INTERRUPTED = 1, STOP_TIME = 2 };

/* Why the work is to end, in a word; NULL: it goes on, and so it does where there is no flag. */
static inline const char *stop_reason(const volatile sig_atomic_t *flag)
{
    sig_atomic_t value = flag ? *flag : 0;
    return value == 0 ? NULL : value == STOP_TIME ? "time" : "interrupted";
}

#endif
