/*
 * registers.h - something kept for each register of a kernel's text, by the operand that names it.
 */
#ifndef FUZZ_REGISTERS_H
#define FUZZ_REGISTERS_H

#include "engine/ptx/ptx_reach.h"

#include <string.h>

struct registers {
    struct ptx_map numbers; /* its arena is all that is given */
    char *items;
    uint32_t count, capacity;
};

/* Zeroed at first; it moves when another register is named. NULL: the operand is no register. */
static inline void *registers_at(struct registers *r, const struct ptx_operand *o, size_t bytes)
{
    bool is_new;
    if (o->kind == PTX_OPERAND_PAIR)
        o = o->items;
    if (!o->name || o->target_kind != PTX_TARGET_VARIABLE || o->target.variable->space != PTX_W_REG)
        return NULL;
    uint32_t *number = ptx_map_add(&r->numbers, o->target.variable,
                                   (uint64_t)o->index << 8 | (uint8_t)o->element, &is_new);
    if (is_new) {
        if (r->count == r->capacity) {
            r->capacity = r->capacity ? 2 * r->capacity : 256;
            char *items = ARENA_ARRAY(r->numbers.arena, char, r->capacity *bytes);
            if (r->count)
                memcpy(items, r->items, r->count * bytes);
            r->items = items;
        }
        *number = r->count++;
    }
    return r->items + *number * bytes;
}

#endif
