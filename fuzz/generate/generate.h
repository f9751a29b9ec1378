/*
 * generate.h - the kernel of a case: its kind is drawn, and the generator of that kind makes it.
 */
#ifndef FUZZ_GENERATE_H
#define FUZZ_GENERATE_H

#include "fuzz/gen/gen.h"

struct ast_kernel *gen_kernel(struct arena *arena, struct source *source,
                              const struct gen_options *options);

/* gen_kernel that also counts draws: hits[W_COUNT], or NULL. *communication, unless NULL, is set to
 * what was drawn of GROUP(COMMUNICATION). */
struct ast_kernel *gen_kernel_counted(struct arena *arena, struct source *source,
                                      const struct gen_options *options, uint32_t *hits,
                                      uint32_t *communication);

/* How far an enumeration has come: who asks for ascending numbers does not start over each time. */
struct gen_walk {
    struct source source;
    uint64_t number; /* of the kernel that comes next */
    bool started, ended;
};

/* Case number `number` of a campaign: kernel (with its launch and input seed). Enumerating: NULL when there
 * are fewer. */
struct ast_kernel *gen_case(struct arena *arena, uint64_t seed, uint64_t number,
                            const struct gen_options *options);
/* The same; walk: of these options and this caller, zeroed at first. */
struct ast_kernel *gen_next_case(struct arena *arena, uint64_t seed, uint64_t number,
                                 const struct gen_options *options, struct gen_walk *walk);

#endif
