/*
 * units.h - the unit tests (tests/unit) in the hunter: each is its own main() under another name. Which, says the
 * build.
 */
#ifndef UNITS_H
#define UNITS_H

#include <stdbool.h>

struct unit {
    const char *name;
    bool golden;      /* says only that something is not as it was */
    int (*run)(void); /* 0: all of its tests pass */
};

extern const struct unit units[];
extern const int unit_count;

#endif
