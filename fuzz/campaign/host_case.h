/*
 * host_case.h - the host program that some cases of a campaign have beside their kernel (docs/host.md). It is made of the
 * same seed and number; what is wrong with it is a finding of the oracle `host`, whose case and text are its own.
 */
#ifndef FUZZ_HOST_CASE_H
#define FUZZ_HOST_CASE_H

#include "fuzz/campaign/chunk.h"
#include "fuzz/case/example.h"

/* Makes it, judges it, and adds what it shows to the chunk. */
void host_case_run(struct arena *arena, const struct fuzz_case *c, struct chunk *chunk);

/* Whether the finding is one of these .. */
bool host_case_is(const struct chunk_finding *finding);
/* .. which is then run again, and made small with so many tests; 0: it is not. */
void host_case_example(struct arena *arena, struct arena *scratch, const struct fuzz_case *c,
                       const char *signature, uint32_t most, struct example *example);

#endif
