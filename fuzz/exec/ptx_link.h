/*
 * ptx_link.h - several modules in PTX become one, as nvlink makes one of nvcc's relocatable code (-rdc=true).
 *
 * Names that a module gives to others (.visible) stay; of what several have (.weak, .common) the first stays; what is a
 * module's own, and another one has a name of, too, gets another name. Files of .loc are numbered anew. Declarations
 * of functions come first, then variables, then functions.
 */
#ifndef FUZZ_EXEC_PTX_LINK_H
#define FUZZ_EXEC_PTX_LINK_H

#include "engine/base/arena.h"

#include <stdint.h>

/* What a name stands for that no module has is left as it is declared, and is refused where it is used. */
const char *ptx_link(struct arena *arena, const char *const *texts, uint32_t count);

#endif
