/*
 * relation.c - operations on relations.
 */
#include "engine/axiom/relation.h"

void relation_union(uint32_t n, struct relation *into, const struct relation *with)
{
    for (uint32_t i = 0; i < n; i++)
        into->row[i] |= with->row[i];
}

void relation_meet(uint32_t n, struct relation *into, const struct relation *with)
{
    for (uint32_t i = 0; i < n; i++)
        into->row[i] &= with->row[i];
}

struct relation relation_then(uint32_t n, const struct relation *first,
                              const struct relation *second)
{
    struct relation made = {{0}};
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t left = first->row[i]; left; left &= left - 1)
            made.row[i] |= second->row[__builtin_ctz(left)];
    return made;
}

void relation_identity(uint32_t n, struct relation *into)
{
    for (uint32_t i = 0; i < n; i++)
        relate(into, i, i);
}

void relation_close(uint32_t n, struct relation *r)
{
    for (uint32_t via = 0; via < n; via++)
        for (uint32_t i = 0; i < n; i++)
            if (related(r, i, via))
                r->row[i] |= r->row[via];
}

bool relation_cyclic(uint32_t n, const struct relation *r)
{
    struct relation closed = *r;
    relation_close(n, &closed);
    for (uint32_t i = 0; i < n; i++)
        if (related(&closed, i, i))
            return true;
    return false;
}
