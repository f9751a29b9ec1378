/*
 * loaded.h - functions of a driver's library that is loaded at run time.
 */
#ifndef FUZZ_LOADED_H
#define FUZZ_LOADED_H

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

/* Sets a pointer to a function; false: the library has none of the name. POSIX guarantees that a pointer from dlsym may
 * be one to a function; C does not say how to write it. */
static inline bool loaded_find(void *library, const char *name, void *pointer)
{
    void *symbol = dlsym(library, name);
    memcpy(pointer, &symbol, sizeof symbol);
    return symbol != NULL;
}

#endif
