/*
 * search_symmetry.h - a graph of states up to permutations of threads, where actors are threads (symmetry.h).
 *
 * Of each set of states { gs | g permutes threads of orbits } one is kept: the one in which the threads of each orbit
 * stand in the order of their words, those that can step first. The state has who has begun, too (machine.begun), so
 * that models of progress need nothing beside it. A step of thread a leads from such a state to one in which
 * only a's words differ (programs with barriers are left out), so the one that is kept is had by moving a to its
 * place b in its orbit, the threads between by one. An edge is (a, b, target): it stands for the steps
 * gs -> gs' of ga. Of threads that are alike in s only the first is followed: the others' steps are images of its.
 *
 * What that says about executions: engine/progress/progress_quotient.c.
 */
#ifndef ENGINE_SEARCH_SYMMETRY_H
#define ENGINE_SEARCH_SYMMETRY_H

#include "engine/search/search_states.h"

/* The machine, in its initial state, can be searched so. */
bool search_has_quotient(const struct machine *machine);

/* The first of those of its orbit that are alike with it. */
bool search_is_first(const struct search *search, uint32_t actor);

/* After a step of the actor: changes places, so that the state is the one that is kept. The place it has now. */
uint32_t search_canonical(const struct search *search, uint32_t actor);

#endif
