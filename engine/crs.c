#include "engine/crs.h"

#include "engine/invariant.h"

/* The machines come with the branch unit; until then no program of FORM_PTX is made. */

static uint32_t no_words(const struct program *program)
{
    (void)program;
    return 0;
}

static uint32_t warps(const struct program *program)
{
    return program->warp_count;
}

static void no_init(struct machine *machine)
{
    (void)machine;
}

static enum rule no_step(struct machine *machine, uint32_t actor, struct choices *choices)
{
    (void)machine, (void)actor, (void)choices;
    invariant_fail("a PTX program runs", __FILE__, __LINE__);
}

#define NO_MACHINE(text)                                                                           \
    {                                                                                              \
        .name = text, .form = FORM_PTX, .kinds = 1u << CODE_PTX, .extra_words = no_words,          \
        .actor_count = warps, .init = no_init, .step = {                                           \
            no_step,                                                                               \
            no_step,                                                                               \
            no_step,                                                                               \
            no_step                                                                                \
        }                                                                                          \
    }

const struct semantics semantics_crs = NO_MACHINE("crs");
const struct semantics semantics_thread_pc = NO_MACHINE("thread-pc");
const struct semantics semantics_block = NO_MACHINE("block");
