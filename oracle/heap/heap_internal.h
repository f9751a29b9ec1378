/*
 * heap_internal.h - a drawn kernel of the heap as a list of steps.
 */
#ifndef ORACLE_HEAP_INTERNAL_H
#define ORACLE_HEAP_INTERNAL_H

#include "engine/base/pcg.h"
#include "oracle/launch/launch.h"

#define DRAWN_HEAP 0x600000000000ULL
#define DRAWN_OUT 0x610000000000ULL

enum {
    HEAP_STEPS = 14,
    HEAP_THREADS = 4,
    HEAP_SLOTS = HEAP_STEPS * HEAP_THREADS,
    HEAP_BEHIND =
        64, /* bytes that malloc does not give: who reads behind the last block reads there */
};

enum heap_kind { HEAP_MALLOC, HEAP_FREE, HEAP_STORE, HEAP_LOAD };

/* A step: of one thread, or, malloc, of all at once. What it gets stands in `out`, a place of 8 bytes for each step
 * and thread. */
struct heap_step {
    enum heap_kind kind;
    bool all;
    uint32_t thread, bytes; /* that are wanted, or accessed: 1, 2, 4, 8 */
    uint32_t slot;          /* of free and accesses: where the address stands */
    int32_t offset;         /* from there */
    uint32_t value;         /* that is stored, in each byte */
};

struct heap_script {
    uint32_t threads, count, limit; /* bytes that malloc may give, in all */
    struct heap_step steps[HEAP_STEPS];
};

struct heap_script heap_draw(struct pcg *rng);
const char *heap_text(struct arena *arena, const struct heap_script *script);

/* What is not as the list says, NULL: nothing; `out` is what the launch left there. */
const char *heap_compare(struct arena *arena, const struct heap_script *script,
                         const struct launch *launch, const struct launch_heap *heap,
                         const uint64_t *out);

#endif
