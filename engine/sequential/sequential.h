/*
 * sequential.h - two threads as one sequential program, as text: what gpuverify-tutorial translates kernels to, for a
 * reader, or as a program of Boogie's language, whose verifier looks for the invariants itself (/contractInfer).
 *
 * It is printed from P as its blocks stand (lockstep-cfg App. C), by rules of its own: nothing is shared with
 * engine/prove's terms but the choice of P, so that the two check each other.
 */
#ifndef ENGINE_SEQUENTIAL_H
#define ENGINE_SEQUENTIAL_H

#include "engine/subjects/forms.h"

enum sequential_style { SEQUENTIAL_TUTORIAL, SEQUENTIAL_BOOGIE };

/* NULL: *reason, outside of what is done. */
const char *sequential_print(struct arena *arena, struct forms *forms, enum sequential_style style,
                             const char **reason);

#endif
