/* features_internal.h - how the counters of a domain are laid out: for features.c and their names. */
#ifndef ORACLE_FEATURES_INTERNAL_H
#define ORACLE_FEATURES_INTERNAL_H

#include "oracle/coverage/features.h"

/* The first and the last counter of each domain. */
enum {
#define FEATURES(id, name, count, sentence)                                                        \
    FEATURES_FIRST_##id, FEATURES_LAST_##id = FEATURES_FIRST_##id + (int)(count)-1,
#include "oracle/coverage/features.def"
#undef FEATURES
};

/* How the mask of the topmost token stands to the active mask. */
enum { FEATURES_TOKEN_SAME, FEATURES_TOKEN_WIDER, FEATURES_TOKEN_APART, FEATURES_TOKEN_OTHER };

/* How two threads stand to each other. */
enum { FEATURES_SAME_WARP, FEATURES_SAME_BLOCK, FEATURES_OTHER_BLOCK };

#endif
