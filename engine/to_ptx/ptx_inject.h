/*
 * ptx_inject.h - LOAD.T5, T6, T7 of the report (catalogue cuda-crs section 3.2): the step that it leaves
 * abstract. A module without branch-unit instructions gets them: ssy/sync around divergent regions,
 * preBrk/break around loops, preRet before calls; `ret` of an entry becomes exit.
 *
 * Tree to tree, so that what runs can be printed and read again. Functions that already hold a
 * branch-unit instruction are left as they are.
 */
#ifndef ENGINE_PTX_INJECT_H
#define ENGINE_PTX_INJECT_H

#include "engine/ptx/ptx.h"

/* A new module, its names resolved (functions are copies, the rest is shared); the module itself if it has
 * no function to inject. NULL: *reason says why and where ("irreducible loop at line 12: entered from
 * line 10"). */
const struct ptx_module *ptx_inject(struct arena *arena, const struct ptx_module *module,
                                    const char **reason);

/* Whether some function of the module holds branch-unit instructions: it is in part what somebody wrote. */
bool ptx_has_branch_unit(const struct ptx_module *module);

#endif
