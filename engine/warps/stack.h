/*
 * stack.h - what lies on the stacks of the structured semantics: slices of statement lists, loops
 * that continue, contexts (threads) and tokens (warps).
 */
#ifndef ENGINE_STACK_H
#define ENGINE_STACK_H

#include <stdint.h>

typedef uint32_t stack_entry; /* kind in the upper 4 bits, number below */

enum entry_kind {
    ENTRY_STM,  /* number: statement; stands for it and all that follow in its list */
    ENTRY_CONT, /* number: statement, a while: the continuing loop (underlined while), alone */
    ENTRY_BRK,  /* context or token */
    ENTRY_CALL, /* context or token; number: entry_caller, entry_callee */
    ENTRY_DIV,  /* tokens only */
    ENTRY_SYNC
};

static inline stack_entry entry_make(enum entry_kind kind, uint32_t number)
{
    return ((uint32_t)kind << 28) | number;
}

static inline enum entry_kind entry_kind(stack_entry entry)
{
    return (enum entry_kind)(entry >> 28);
}

static inline uint32_t entry_number(stack_entry entry)
{
    return entry & 0x0fffffffu;
}

/* Of an ENTRY_CALL: the function whose frame comes back when it is popped, and the one whose frame
 * is dropped. The bottom call has the kernel as both. */
static inline stack_entry entry_call(uint32_t caller, uint32_t callee)
{
    return entry_make(ENTRY_CALL, caller | (callee << 12));
}

static inline uint32_t entry_caller(stack_entry entry)
{
    return entry & 0xfffu;
}

static inline uint32_t entry_callee(stack_entry entry)
{
    return (entry >> 12) & 0xfffu;
}

#endif
