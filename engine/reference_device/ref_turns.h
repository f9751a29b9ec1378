/*
 * ref_turns.h - schedules of a device once more (docs/host.md, "What check says"; engine/device/device.h says what each
 * order is): which of the alternatives that there are is next, and what is chosen within a step.
 */
#ifndef ENGINE_REF_TURNS_H
#define ENGINE_REF_TURNS_H

#include <stdbool.h>
#include <stdint.h>

enum ref_order { REF_TURNS, REF_RANDOM, REF_LAZY, REF_LAST, REF_LATE };
enum ref_act { REF_HOST, REF_START, REF_COPY, REF_ISSUE, REF_WARP, REF_MICRO, REF_SILENT };

struct ref_alternative {
    enum ref_act act;
    uint32_t a, b;
};

struct ref_turns {
    enum ref_order order;
    uint32_t (*draw)(void *stream, uint32_t n); /* the schedule's next number below n */
    void *stream;
    const uint32_t *tape;
    uint32_t tape_count, next;   /* entries that are taken first */
    uint32_t astray;             /* 1 + the first one that could not be taken; 0: none */
    struct ref_alternative last; /* that stepped */
    uint32_t steps_left;         /* that its warp goes on, if it can */
    bool is_again;               /* the step that was taken is one of these */
};

/* It begins with its order, numbers and tape, and all else 0: `last` is the host. */

/* Whether the warp that stepped last is to step again before anybody looks who else can; `can`: it could. */
bool ref_turns_goes_on(const struct ref_turns *t, bool can);
/* One of those that there are, in their order; `held`: blocks of each SM. */
struct ref_alternative ref_turns_pick(struct ref_turns *t, const struct ref_alternative *offered,
                                      uint32_t count, const uint32_t *held);
/* It is taken; then what is chosen within its step, one of n; then the step is over. */
void ref_turns_take(struct ref_turns *t, struct ref_alternative x, bool is_again);
uint32_t ref_turns_choose(struct ref_turns *t, uint32_t n);
void ref_turns_over(struct ref_turns *t);

#endif
