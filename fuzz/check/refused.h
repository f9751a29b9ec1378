/*
 * refused.h - what of a compiled kernel is not supported, told at the line of the source that it was compiled from.
 */
#ifndef FUZZ_CHECK_REFUSED_H
#define FUZZ_CHECK_REFUSED_H

#include "engine/base/arena.h"
#include "engine/base/diag.h"

/* The same errors of PTX (ptx->source), as errors of the source at `path`: by .loc, with what the instruction is. One
 * that has no .loc says its line of the PTX. */
const struct diag *refused_at_source(struct arena *arena, const struct diag *ptx, const char *path,
                                     const char *source, size_t length);

#endif
