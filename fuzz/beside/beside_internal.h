/*
 * beside_internal.h - the functions of each kind, as in beside.h.
 */
#ifndef FUZZ_BESIDE_INTERNAL_H
#define FUZZ_BESIDE_INTERNAL_H

#include "fuzz/beside/beside.h"

const char *host_case_judge(struct arena *arena, const struct fuzz_case *c, uint64_t *steps);
void host_case_example(struct arena *arena, struct arena *scratch, const struct fuzz_case *c,
                       const char *signature, uint32_t most, struct example *example);
struct beside_again host_case_again(struct arena *arena, const struct db_finding *finding,
                                    const char *text);
void host_case_reduce(struct arena *arena, const struct db_finding *finding, const char *text,
                      uint32_t most, struct example *example);

const char *law_case_judge(struct arena *arena, const struct fuzz_case *c, uint64_t *steps);
void law_case_example(struct arena *arena, struct arena *scratch, const struct fuzz_case *c,
                      const char *signature, uint32_t most, struct example *example);
struct beside_again law_case_again(struct arena *arena, const struct db_finding *finding,
                                   const char *text);

#endif
