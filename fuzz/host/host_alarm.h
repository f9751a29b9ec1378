/*
 * host_alarm.h - what is wrong with the verdict of a host program that was made, and what names it in a database.
 *
 * The oracle is `host`. The class is the kind of check's first finding, or `missed` (a race that is known was not told),
 * `unreadable`, `endless`; the rule is the statement of the finding's line. A case is a text:
 *
 *     host seed=0x1 case=7 schedules=2 races=0 device=order=any sms=1
 */
#ifndef FUZZ_HOST_ALARM_H
#define FUZZ_HOST_ALARM_H

#include "fuzz/host/host_reduce.h"

struct host_alarm {
    const char *class; /* NULL: the verdict is the one that is known */
    const char *word;  /* "launch"; "" */
    const char *signature;
    uint32_t line;
    const char *text;
};

/* Of a program that has a race, or none. `read`: it could be judged. */
struct host_alarm host_alarm_of(struct arena *arena, const char *program, bool races, bool read,
                                const struct host_verdict *verdict);

struct host_case {
    uint64_t seed, number;
    uint32_t schedules;
    bool races;
    const char *device; /* settings behind those of the program; "" */
};

const char *host_case_print(struct arena *arena, const struct host_case *c);
/* False: it is none. */
bool host_case_parse(struct arena *arena, const char *text, struct host_case *c);

#endif
