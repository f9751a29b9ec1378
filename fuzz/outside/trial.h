/*
 * trial.h - one valid kernel under one outside implementation: what is wrong with the answer, if anything.
 */
#ifndef FUZZ_OUTSIDE_TRIAL_H
#define FUZZ_OUTSIDE_TRIAL_H

#include "fuzz/outside/subject.h"
#include "fuzz/outside/valid.h"

enum trial_verdict {
    TRIAL_AGREES,
    TRIAL_WRONG,       /* another memory */
    TRIAL_WRONG_STEPS, /* the right memory, but steps that cannot be (steps.h) */
    TRIAL_CRASH,
    TRIAL_HANG,
    TRIAL_COMPILE_ERROR,
    TRIAL_RUN_ERROR,
    TRIAL_UNKNOWN, /* not emitted, or nothing that we take came back */
    TRIAL_VERDICT_COUNT
};

extern const char *const trial_verdict_names[TRIAL_VERDICT_COUNT];

struct trial {
    enum trial_verdict verdict;
    const char *cause; /* of the same fault the same */
    const char *log;
    /* TRIAL_WRONG: the first word that differs, in which way of running it */
    const char *way;
    uint32_t word;
    int32_t expected, actual;
    const int32_t *memory; /* all of it; emitted.result_words words */
};

/* What an answer says. */
struct trial trial_judge(struct arena *arena, const struct outside_expected *expected,
                         const struct outside_result *result);

/* Emits the kernel alone and runs it. `text`, unless NULL, is set to what was run. */
struct trial trial_run(struct arena *arena, const struct outside_subject *subject,
                       const struct outside_settings *settings,
                       const struct outside_expected *expected, uint32_t knobs, const char **text);

/* The same fault: equal verdicts, and causes of those that have them. */
bool trial_is_same(const struct trial *a, const struct trial *b);

static inline bool trial_is_finding(const struct trial *trial)
{
    return trial->verdict != TRIAL_AGREES && trial->verdict != TRIAL_UNKNOWN;
}

/* Whether its cause tells it from others of its verdict: a crash without a message is told by its attribution alone. */
bool trial_has_cause(const struct trial *trial);

/* What a finding is attributed to. */
struct attribution {
    uint32_t knobs;      /* each of which, changed alone, makes it vanish */
    bool has_plain;      /* the implementation can be asked not to optimise */
    bool vanishes_plain; /* it is right then */
};

struct attribution trial_attribute(struct arena *arena, const struct outside_subject *subject,
                                   const struct outside_settings *settings,
                                   const struct outside_expected *expected, uint32_t knobs,
                                   const struct trial *found);

/* "unoptimised,+outlined,-mixed": under what it vanishes; "nothing". */
char *attribution_print(struct arena *arena, const struct attribution *attribution, uint32_t knobs);

#endif
