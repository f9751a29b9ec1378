/*
 * ref_order.h - what is said of a host program before it runs, once more (engine/host/host_check.c).
 */
#ifndef ENGINE_REF_ORDER_H
#define ENGINE_REF_ORDER_H

#include "engine/base/arena.h"
#include "engine/host/host.h"

/* What is not as docs/host.md has it, of a program that was taken, and of which statement; NULL: nothing. */
const char *ref_order_differs(struct arena *arena, const struct host_program *p, uint32_t *at);

#endif
