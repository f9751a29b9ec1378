/*
 * threads.h - the interleaved-thread semantics: simt-correctness, Table 4 and the interleaving rule.
 *
 *     T ::= eps | s T | c T        c in { brk, call }
 *
 * A thread's stack holds entries, topmost last. A statement entry stands for a whole slice: the
 * statement and what follows it in its list (program.h). While an assignment is between its read and
 * its write, the evaluated form `x := v` (erratum A-2) is the `pending` part of the thread, and the
 * assignment's statement is still the topmost entry.
 *
 * Barriers [EXT: the paper has none; docs/catalogue.md, "Between the papers"] are those of lockstep-cfg,
 * section 4. What tells one execution of a barrier from another (there: the barrier variables) is the
 * whole stack and a word beside each entry of it, beta: for a continuing loop that holds a barrier, or
 * a call that may reach one, its trips since the last release; for such a call, the statement called
 * from + 1; 0 elsewhere. A tail call leaves no trace on the stack, so the site is needed.
 */
#ifndef ENGINE_THREADS_H
#define ENGINE_THREADS_H

#include "engine/machine/machine.h"
#include "engine/warps/stack.h"

struct thread_state {
    uint32_t depth;   /* entries on the stack; 0 = final */
    uint32_t calls;   /* call contexts among them */
    uint32_t pending; /* 1: the topmost assignment has read; its address and value follow */
    uint32_t address;
    uint32_t value;
    uint32_t stack[]; /* stack_entry, program.stack_depth of them; in a program with barriers then
                         beta, one for each */
};

const struct thread_state *threads_state(const struct machine *machine, uint32_t thread);

#endif
