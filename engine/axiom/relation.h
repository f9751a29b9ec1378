/*
 * relation.h - relations among the events of a small execution: a row of bits an event.
 */
#ifndef ENGINE_RELATION_H
#define ENGINE_RELATION_H

#include <stdbool.h>
#include <stdint.h>

enum { RELATION_EVENTS = 32 };

struct relation {
    uint32_t row[RELATION_EVENTS];
};

static inline void relate(struct relation *r, uint32_t from, uint32_t to)
{
    r->row[from] |= (uint32_t)1 << to;
}

static inline bool related(const struct relation *r, uint32_t from, uint32_t to)
{
    return r->row[from] >> to & 1;
}

/* All over the first `n` events. */
void relation_union(uint32_t n, struct relation *into, const struct relation *with);
void relation_meet(uint32_t n, struct relation *into, const struct relation *with);
struct relation relation_then(uint32_t n, const struct relation *first,
                              const struct relation *second);
void relation_identity(uint32_t n, struct relation *into);
void relation_close(uint32_t n, struct relation *r); /* transitively */
bool relation_cyclic(uint32_t n, const struct relation *r);

#endif
