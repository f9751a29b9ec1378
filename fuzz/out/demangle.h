/*
 * demangle.h - names of C++ as people wrote them: what nvcc and clang write into PTX.
 *
 * The demangler is that of the C++ runtime, which is looked for when it is first needed; without it names stay as they
 * are.
 */
#ifndef FUZZ_DEMANGLE_H
#define FUZZ_DEMANGLE_H

#include "engine/base/arena.h"

/* The text with every mangled name in it - _Z.. - as it was written: "_ZZ3sumPiE1s" becomes "sum(int*)::s". */
const char *demangle_text(struct arena *arena, const char *text);

/* The same of what is said about one kernel, of this mangled name: what belongs to it goes without its name, so
 * "_ZZ3sumPiE1s" becomes "s", and "_Z3sumPi_param_0" "param_0". */
const char *demangle_within(struct arena *arena, const char *text, const char *kernel);

#endif
