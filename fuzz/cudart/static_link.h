/*
 * static_link.h - programs that are linked with the static runtime, nvcc's default: their functions of the runtime
 * become jumps to others.
 */
#ifndef FUZZ_STATIC_LINK_H
#define FUZZ_STATIC_LINK_H

/* Where a function of the runtime goes instead; NULL: it stays as it is. */
typedef void *static_link_find(const char *name);

/* The function of this name in the library that this file is a part of; NULL: it has none. */
void *static_link_own(const char *name);

/* Of the program and of the libraries that are loaded with it, as their tables of symbols name them: a table that was
 * stripped names none. Nothing happens on processors but x86-64. */
void static_link_runtime(static_link_find *find);

#endif
