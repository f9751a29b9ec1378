/*
 * symmetry_internal.h - between symmetry.c and symmetry_orbits.c.
 */
#ifndef ENGINE_SYMMETRY_INTERNAL_H
#define ENGINE_SYMMETRY_INTERNAL_H

#include "engine/machine/symmetry.h"

/* False: the program tells all threads apart, whatever its state. */
bool symmetry_has_orbits(const struct program *program);

/* Fills in symmetry->orbit; the machine is in its initial state. False: each thread is alone. */
bool symmetry_find_orbits(struct symmetry *symmetry, const struct machine *machine);

#endif
