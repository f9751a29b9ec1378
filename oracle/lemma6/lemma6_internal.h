/*
 * lemma6_internal.h - the values of which lemma6.c knows what they are, or not (lemma6_values.c).
 */
#ifndef ORACLE_LEMMA6_INTERNAL_H
#define ORACLE_LEMMA6_INTERNAL_H

#include "oracle/lemma6/lemma6.h"

/* Not known: value is 0, so that equal values have equal bytes. */
struct l6_value {
    int32_t value;
    uint32_t known; /* 0 or 1 */
};

static inline struct l6_value l6_known(int32_t value)
{
    return (struct l6_value){value, 1};
}

static inline struct l6_value l6_join(struct l6_value a, struct l6_value b)
{
    struct l6_value none = {0, 0};
    return a.known && b.known && a.value == b.value ? a : none;
}

/* Where a lane keeps the memory that it alone has names for: words of its state. */
struct l6_memory {
    const struct program *program;
    const int32_t *initial;      /* program.memory_words */
    bool own[SPACE_COUNT];       /* the space is not in saddr(eta) */
    uint32_t base[SPACE_COUNT];  /* of a space of its own: its first word */
    uint32_t words;              /* of a lane */
    uint32_t frame, frame_words; /* of the function that runs */
    const uint8_t *written;      /* a variable: somebody writes it; NULL: nothing is constant */
};

struct l6_memory l6_memory_new(struct arena *arena, const struct program *program, bool constants);

/* Whether some global or shared variable is written by nobody. */
bool l6_has_constants(const struct program *program);

/* The initial values of a lane. */
void l6_start(const struct l6_memory *memory, uint32_t thread, struct l6_value *values);

struct l6_value l6_eval(const struct l6_memory *memory, uint32_t thread,
                        const struct l6_value *values, uint32_t expr);

/* A place becomes v; of an array with an index that is not known each element may. */
void l6_write(const struct l6_memory *memory, uint32_t thread, struct l6_value *values,
              const struct code_place *place, struct l6_value v);

#endif
