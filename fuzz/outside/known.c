#include "fuzz/outside/known.h"

#include <string.h>

static const struct known {
    const char *id, *implementation, *version;
    uint32_t knob; /* its bit */
    bool on;
    const char *cause; /* a part of it; NULL: a fault without one */
    const char *sentence;
} register_of_known[] = {
#define KNOWN(id, implementation, version, knob, on, cause, sentence)                              \
    {id, implementation, version, EMIT_KNOB(knob), on, cause, sentence},
#include "fuzz/outside/known.def"
#undef KNOWN
};

enum { KNOWN_COUNT = sizeof register_of_known / sizeof register_of_known[0], WITHOUT_SHARE = 8 };
_Static_assert((int)KNOWN_COUNT <= (int)KNOWN_MOST, "summaries have room for all");

uint32_t known_count(void)
{
    return KNOWN_COUNT;
}

const char *known_id(uint32_t number)
{
    return register_of_known[number].id;
}

const char *known_sentence(uint32_t number)
{
    return register_of_known[number].sentence;
}

uint32_t known_number(const char *id)
{
    for (uint32_t i = 0; i < KNOWN_COUNT; i++)
        if (strcmp(register_of_known[i].id, id) == 0)
            return i;
    return KNOWN_MOST;
}

static bool is_of(const struct known *known, const struct outside_subject *subject)
{
    return strncmp(subject->name, known->implementation, strlen(known->implementation)) == 0 &&
           strstr(subject->version, known->version);
}

bool known_may_show(uint32_t number, const struct outside_subject *subject, uint32_t knobs)
{
    const struct known *known = &register_of_known[number];
    return is_of(known, subject) && ((knobs & known->knob) != 0) != known->on;
}

bool known_has_cause(const struct outside_subject *subject, const struct trial *trial)
{
    for (uint32_t i = 0; i < KNOWN_COUNT; i++) {
        const struct known *known = &register_of_known[i];
        if (known->cause && is_of(known, subject) && strstr(trial->cause, known->cause))
            return true;
    }
    return false;
}

const char *known_find(const struct outside_subject *subject, uint32_t knobs,
                       const struct trial *trial, const struct attribution *attribution)
{
    for (uint32_t i = 0; i < KNOWN_COUNT; i++) {
        const struct known *known = &register_of_known[i];
        bool is_it = known->cause ? strstr(trial->cause, known->cause) != NULL
                                  : trial->verdict == TRIAL_WRONG ||
                                        (trial->verdict == TRIAL_CRASH && !trial_has_cause(trial));
        if (is_it && known_may_show(i, subject, knobs) && attribution->knobs & known->knob)
            return known->id;
    }
    return NULL;
}

uint32_t known_avoid(const struct outside_subject *subject, uint32_t knobs, uint64_t number)
{
    for (uint32_t i = 0; i < KNOWN_COUNT && number % WITHOUT_SHARE != 0; i++)
        if (is_of(&register_of_known[i], subject))
            knobs = register_of_known[i].on ? knobs | register_of_known[i].knob
                                            : knobs & ~register_of_known[i].knob;
    return knobs;
}
