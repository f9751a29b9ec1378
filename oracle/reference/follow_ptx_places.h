/*
 * follow_ptx_places.h - where the addresses of PTX lead, in the copy of memory, and what observers hear of accesses.
 */
#ifndef ORACLE_FOLLOW_PTX_PLACES_H
#define ORACLE_FOLLOW_PTX_PLACES_H

#include "oracle/reference/follow_ptx.h"

enum follow_space { FOLLOW_GLOBAL, FOLLOW_SHARED, FOLLOW_LOCAL, FOLLOW_CONSTANTS };

struct follow_place {
    enum follow_space space;
    bool exists;
    uint32_t byte; /* of memory, or of the constants */
};

/* The place of a lane's access of so many bytes, `ahead` behind its address; which must be a multiple of `align`. */
struct follow_place follow_ptx_place(const struct follow_step *s, uint32_t lane, uint64_t ahead,
                                     uint32_t bytes, uint32_t align, bool writes);
/* The places of all lanes. False: one has none, and the execution ends; a fault in local memory is believed. */
bool follow_ptx_places(struct follow_step *s, bool writes, struct follow_place places[LIMIT_WARP]);

uint64_t follow_ptx_bytes(const int32_t *words, uint32_t byte, uint32_t bytes);
void follow_ptx_put_bytes(int32_t *words, uint32_t byte, uint32_t bytes, uint64_t value);

bool follow_ptx_is_seen(const struct follow_place *p);
/* One access of a lane: as many locations as it spans, one after another. */
void follow_ptx_check_heard(struct follow_step *s, uint32_t *at, enum ref_access_kind kind,
                            uint32_t lane, uint32_t byte, uint32_t bytes, uint64_t value);
void follow_ptx_check_all_heard(struct follow_step *s, uint32_t at);

#endif
