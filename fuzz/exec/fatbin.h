/*
 * fatbin.h - the PTX in a fat binary, as nvcc puts it into programs: containers with entries, each PTX or machine code
 * for an architecture, as it is or compressed by LZ4 or zstd (whose libraries are loaded when they are first needed).
 */
#ifndef FUZZ_FATBIN_H
#define FUZZ_FATBIN_H

#include "engine/base/arena.h"

#include <stdint.h>

struct fatbin_ptx {
    const char *text; /* ends with a 0 */
    size_t length;
    uint32_t architecture; /* 80 of sm_80 */
};

/* Whether this is a text, which can only be PTX: what a program gives to cuModuleLoadData. */
bool fatbin_is_text(const uint8_t *data, size_t bytes);

/* Bytes of the first container. */
size_t fatbin_bytes(const uint8_t *data, size_t bytes);

/* The texts in a container that the program has put together itself (DEVICE_LINKED), at most `room`: how many. */
uint32_t fatbin_linked(const uint8_t *data, size_t bytes, const char **texts, uint32_t room);

/* The PTX for the newest architecture, of the first container. False: *why, a sentence that says what helps. */
bool fatbin_find(struct arena *arena, const uint8_t *data, size_t bytes, struct fatbin_ptx *ptx,
                 const char **why);

#endif
