/*
 * transform.h - transformations of kernels that keep their meaning, and lists of them.
 *
 * A step is a transformation with a number. The number says where and how, digit by digit: the first digit
 * (its remainder modulo the number of places) is the place, the rest are what else there is to choose. So
 * every number is good for every kernel that has a place, also for one that has become smaller, and a
 * small number stands for the simplest choices. A step without a place does nothing. As text a list is
 * "wrap:12,rename:0".
 *
 * What is kept. A kernel is *clean* when one of its executions terminates without a race; then all do, with
 * the same store (oracle/results/result.h). For every transformation T, thread by thread: whatever the others leave
 * in memory at the barriers, a thread of T(K) reads and writes in each barrier interval the locations that
 * it does in K (some of them more than once, and locations that nobody writes), gives them the same
 * values, makes the same choices (havoc, goto), meets the same barriers in the same order, and two threads
 * are at one barrier (CFG.bv: statement, trips, calls) in T(K) exactly where they are in K. So K is clean
 * exactly if T(K) is, with the same final store: under every subject, since all agree about a clean
 * kernel. What need not be kept: the values after a race, the number of steps, which error comes first,
 * which lanes meet at a vote behind lane-dependent control flow, and how deep calls nest.
 *
 * Two families. Barriers of a structured kernel are told apart by the loops of its text, those of its blocks
 * by the loops of the graph, and these differ where paths leave a loop by a jump (S2C.anchor). A
 * transformation keeps the first; the second only if it says KEEPS_GRAPH, or if K has no such jump.
 */
#ifndef ENGINE_TRANSFORM_H
#define ENGINE_TRANSFORM_H

#include "engine/language/ast.h"

enum transform_id {
#define TRANSFORM(id, ...) TRANSFORM_##id,
#include "engine/rewrite/transforms.def"
#undef TRANSFORM
    TRANSFORM_COUNT
};

enum transform_form { ON_STRUCTURED = 1, ON_BLOCKS = 2, ON_PTX = 4, KEEPS_GRAPH = 8 };

struct transform_info {
    const char *name, *applies, *sentence;
    uint32_t forms; /* bits of enum transform_form */
};

extern const struct transform_info transform_table[TRANSFORM_COUNT];

struct transform_step {
    enum transform_id id;
    uint32_t number;
};

enum { TRANSFORM_STEPS_MAX = 12, TRANSFORM_DRAWN_MAX = 6 };

struct transform_list {
    uint32_t count;
    struct transform_step steps[TRANSFORM_STEPS_MAX];
    const char *
        broken; /* NULL; or why what the last step made is no kernel, though no limit is in the way: our mistake */
};

/* "wrap:12,rename" (no number: 0). False: *error_at is the offending item. */
bool transform_parse_list(const char *text, struct transform_list *list, const char **error_at);
char *transform_print_list(struct arena *arena, const struct transform_list *list);

/* 1 to TRANSFORM_DRAWN_MAX steps that do something to the kernel, one after the other, and the kernel after
 * them: a function of seed and kernel. The list is empty where nothing that was tried has a place. A step that is
 * broken is the last one, and is not done. */
struct ast_kernel *transform_draw(struct arena *arena, const struct ast_kernel *kernel,
                                  uint64_t seed, struct transform_list *list);

/* Number of places where the transformation can act. */
uint32_t transform_places(struct arena *arena, const struct ast_kernel *kernel,
                          enum transform_id id);

/* The kernel after all steps, in turn; it shares nothing with the one given. `done` (or NULL) receives the steps that
 * did something: a step has no place, or its result is beyond the limits of the language, otherwise. */
struct ast_kernel *transform_apply(struct arena *arena, const struct ast_kernel *kernel,
                                   const struct transform_list *list, struct transform_list *done);

#endif
