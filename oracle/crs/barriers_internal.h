/* barriers_internal.h - what barriers_log.c and barriers_encode.c share. */
#ifndef ORACLE_BARRIERS_INTERNAL_H
#define ORACLE_BARRIERS_INTERNAL_H

#include "oracle/crs/barriers.h"

/* Nodes of each thread of the block that are before what the thread does from now on: 2k + 1 is reg of a
 * thread's command k, 2k + 2 its done. */
uint32_t *nb_clock(const struct nb_room *room, uint32_t thread);
void nb_join(uint32_t *into, const uint32_t *from, uint32_t count);
void nb_clear(struct nb_room *room);

/* Whether two accesses of one location, b made now, conflict and a is not done before it. */
bool nb_conflict(const struct nb_room *room, const struct nb_event *a, const struct nb_event *b);
uint64_t nb_pair(const struct nb_event *a, const struct nb_event *b);

#endif
