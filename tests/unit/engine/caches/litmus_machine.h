/*
 * litmus_machine.h - litmus tests as kernels, run by `crs` with caches: all their outcomes, with what a test wants to
 * look at on the way.
 */
#ifndef TESTS_UNIT_CACHES_LITMUS_MACHINE_H
#define TESTS_UNIT_CACHES_LITMUS_MACHINE_H

#include "tests/unit/shared/support.h"

#include "engine/caches/caches.h"
#include "fuzz/laws/litmus_machine.h"
#include "tests/unit/engine/caches/explore.h"

enum { LIMIT = 400000 };

struct collecting {
    const struct litmus_test *test;
    struct litmus_result result;
    struct litmus_machine of;
    uint32_t dead, broken;
    struct arena *arena;
};

static void ended(void *context, const struct machine *machine)
{
    struct collecting *x = context;
    int16_t values[LITMUS_OBSERVED];
    (void)machine;
    if (litmus_machine_values(&x->of, values))
        litmus_add_outcome(x->arena, x->test, &x->result, values);
    else
        x->dead++;
}

static void passed(void *context, const struct machine *machine)
{
    struct collecting *x = context;
    const char *broken = caches_broken(machine);
    if (broken && x->broken++ == 0)
        print_error("%s: %s\n", x->test->name, broken);
}

/* Memory for `limit` states is asked for: a sanitizer pays for each byte of it. */
static inline uint32_t run_within(uint32_t limit, const struct litmus_test *test,
                                  struct collecting *x, struct arena *arena,
                                  const struct memory_options *o)
{
    *x = (struct collecting){.test = test, .arena = arena};
    assert_true(litmus_machine_make(&test_arena, test, o, &x->of));
    return explore_all(x->of.machine, limit, ended, passed, x);
}

static inline uint32_t run(const struct litmus_test *test, struct collecting *x,
                           struct arena *arena, const struct memory_options *o)
{
    return run_within(LIMIT, test, x, arena, o);
}

#endif
