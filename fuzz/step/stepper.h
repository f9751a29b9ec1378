/*
 * stepper.h - an execution that one goes through, forward and back, in a terminal (docs/step.md).
 *
 * It is run once, and its choices are kept; any step of it is reached by running again from the nearest state that was
 * kept on the way. So going back costs what going forward costs, and nothing that is shown is remembered rather than
 * computed.
 */
#ifndef FUZZ_STEP_STEPPER_H
#define FUZZ_STEP_STEPPER_H

#include "fuzz/trace/trace_private.h"
#include "fuzz/trace/trace_text.h"
#include "fuzz/view/view_loop.h"

enum { STEP_ACCESSES = 256 }; /* of one step that are told; what goes beyond is counted */

/* What of every step is kept: enough to look for one. */
enum { STEP_RACES = 1, STEP_PARTS = 2 };
struct step_record {
    uint32_t actor, stm;
    uint16_t rule;
    uint8_t
        flags; /* STEP_RACES: a location races from here on; STEP_PARTS: a warp's threads part */
};

struct step_access {
    enum access_kind kind;
    uint32_t thread, address;
    int32_t value;
};

struct step_mark; /* a state on the way */

struct stepper {
    struct arena *arena, *scratch; /* scratch: what is about the step where it is */
    const struct subject_info *subject;
    const struct program *program;
    const char *name;
    const char **source; /* lines of the kernel's text */
    uint32_t source_count;
    struct machine *machine;
    struct sched_spec schedule; /* the choices that were made */
    uint64_t count;             /* steps */
    enum status status;         /* how it ends */
    const char *fault;          /* more about that, or NULL */
    const char *race_says;      /* of the first race, or NULL */
    struct view_loop loop;
    struct step_record *records; /* of step k at k - 1 */
    struct step_mark *marks;
    uint64_t interval; /* steps between two marks */

    uint64_t at; /* after so many steps */
    struct trace_text text;
    /* Of step `at`, unless it is 0. */
    struct trace_private own;
    const char *executed;
    uint32_t actor;        /* who took it, or whose operation did */
    const int32_t *before; /* memory before it, of a machine over caches; else NULL */
    const char *ran;       /* a 1 for each thread from `ran_first` on that took part */
    uint32_t ran_first;
    struct step_access accesses[STEP_ACCESSES];
    uint32_t access_count, more_accesses;
};

struct stepper_options {
    const struct subject_info *subject;
    const struct program *program;
    struct sched_spec schedule;
    const char *name, *source;
    uint64_t max_steps;
};

/* Runs it; the stepper stands at its start. */
struct stepper *stepper_new(struct arena *arena, struct arena *scratch,
                            const struct stepper_options *options);

/* Goes to the state after `step` steps, at most the last one. */
void stepper_go(struct stepper *stepper, uint64_t step);

/* Called for each step of a range, in order, the machine in its state after it. */
struct step_watcher {
    void *context;
    void (*see)(void *context, struct stepper *stepper, uint64_t step,
                const struct step_event *event);
};

/* Runs steps from + 1 .. to, and tells them; where the stepper is and what it holds is unknown afterwards, until
 * stepper_go. `own` follows what only threads see, and accesses those of the step that is told. */
void stepper_run(struct stepper *stepper, uint64_t from, uint64_t to,
                 const struct step_watcher *watcher);

/* Tells the last steps up to where it is, and stays there. */
void stepper_look_back(struct stepper *stepper, uint64_t steps, const struct step_watcher *watcher);

/* Whether an operation or a cache took step `at`, and no actor. */
bool stepper_is_environment(const struct stepper *stepper);

/* The line of a statement in the kernel's text, 0: none. */
uint32_t stepper_line(const struct stepper *stepper, uint32_t stm);

#endif
