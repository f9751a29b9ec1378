/*
 * searches_bounds.h - whoever says that a bound cut a search off must have come to that bound. Said otherwise nothing
 * tells: who gives up is compared with nobody.
 */
#ifndef ORACLE_SEARCHES_BOUNDS_H
#define ORACLE_SEARCHES_BOUNDS_H

#include "engine/search/search.h"

/* What is wrong with how the search gave up, and which method it took; NULL: nothing. `free_bytes`: of the arena, when
 * it began. */
const char *searches_gave_up(const struct search_result *found, const struct search_options *how,
                             const struct machine *machine, size_t free_bytes);

#endif
