/*
 * mutate.h - structural mutators: small random changes of a kernel that leave it a kernel.
 *
 * What comes out parses (print, parse, ast_check), and its loops stay bounded where they were: what
 * looks like a loop's counter is left alone, except seldom. The meaning changes; claims (expect) of
 * the old kernel are dropped.
 *
 * Which mutator, where and with what are draws from a choice source: the same kernel, donor and
 * choices give the same result.
 */
#ifndef FUZZ_MUTATE_H
#define FUZZ_MUTATE_H

#include "engine/language/ast.h"
#include "fuzz/gen/source.h"

/* The forms a mutator is for, by bits. */
enum {
    MUTATES_STRUCTURED = 1u << FORM_STRUCTURED,
    MUTATES_BLOCKS = 1u << FORM_BLOCKS | 1u << FORM_LOCKSTEP,
    MUTATES_PTX = 1u << FORM_PTX,
    MUTATES_TREES = MUTATES_STRUCTURED | MUTATES_BLOCKS
};

enum mutator_id {
#define MUTATOR(id, name, forms, weight, sentence) MUTATOR_##id,
#include "fuzz/mutate/mutators.def"
    MUTATOR_COUNT
};

struct mutator_row {
    const char *name;
    uint32_t forms;
    uint16_t weight;
    const char *sentence;
};

extern const struct mutator_row mutator_table[MUTATOR_COUNT];

/* Beyond this many statements (instructions) a kernel does not grow. */
enum { MUTATE_SIZE_MAX = 300 };

/*
 * Changes `kernel` in place, by one mutator: callers pass a copy of their own. Foreign parts come
 * from `donor`; NULL: from the kernel itself. It is not changed. The new parts, and
 * scratch, are in the arena. False: nothing that was tried could be done, the kernel is as it was.
 */
bool mutate_kernel(struct arena *arena, struct ast_kernel *kernel, struct source *choices,
                   const struct ast_kernel *donor);

/* The same with a given mutator, tried once. */
bool mutate_kernel_by(struct arena *arena, struct ast_kernel *kernel, enum mutator_id mutator,
                      struct source *choices, const struct ast_kernel *donor);

#endif
