#include "fuzz/view/view_letters.h"

#include "engine/blocks/interleave.h"
#include "engine/blocks/lockstep.h"
#include "engine/caches/caches.h"
#include "engine/convergence/convergence.h"
#include "engine/crs/crs.h"
#include "engine/machine/live.h"
#include "fuzz/trace/trace_blocks.h"
#include "fuzz/trace/trace_crs.h"

/* Of one that is neither disabled nor has ended. */
static char running_letter(const struct machine *m, uint32_t actor)
{
    static const char letters[] = {[CACHES_GOES] = 'a', [CACHES_HELD] = 'w', [CACHES_WAITS] = 'm'};
    if (machine_status(m) != STATUS_RUNNING)
        return 'a';
    if (m->semantics->environment)
        return letters[caches_hold(m, actor)];
    return is_live(m, actor) ? 'a' : 'w';
}

static char letter_of(const struct machine *m, uint32_t actor, char disabled, bool active)
{
    return disabled != '0' ? disabled : !active ? '.' : running_letter(m, actor);
}

static void warp_letters(struct trace_text *text, uint32_t actor, char *letters)
{
    struct warp_state warp = simt_state(text->machine, actor);
    for (uint32_t i = 0; i < warp.lanes; i++)
        letters[i] = warp.depth == 0 ? 'f'
                                     : letter_of(text->machine, actor, simt_disable_state(&warp, i),
                                                 warp.theta >> i & 1);
}

static void crs_letters(struct trace_text *text, uint32_t actor, char *letters)
{
    struct crs_warp warp = crs_warp(text->machine, actor);
    const char *disabled = trace_crs_disabled(text, actor);
    for (uint32_t i = 0; i < warp.lanes->count; i++)
        letters[i] = warp.state->completed ? 'f'
                                           : letter_of(text->machine, actor, disabled[i],
                                                       warp.state->active >> i & 1);
}

static void vector_letters(struct trace_text *text, uint32_t actor, char *letters)
{
    const uint32_t *threads;
    uint32_t count = lockstep_threads(text->machine, actor, &threads);
    const uint8_t *enabled = lockstep_enabled(text->machine);
    bool ended = lockstep_state(text->machine, actor).ended != 0;
    for (uint32_t i = 0; i < count; i++)
        letters[i] = ended ? 'f' : enabled[i] ? 'a' : '.';
}

static char split_letter(const struct machine *m, uint32_t thread)
{
    struct convergence_split split = convergence_split(m, thread);
    if (split.depth == 0)
        return 'f';
    if (split.waits)
        return 'c';
    return machine_status(m) == STATUS_RUNNING && !is_live(m, split.leader) ? 'w' : 'a';
}

static char thread_letter(struct trace_text *text, uint32_t actor)
{
    const struct machine *m = text->machine;
    bool ended;
    if (m->semantics->stack_of)
        return split_letter(m, actor);
    if (text->view == TRACE_BLOCKS)
        ended = interleave_state(m, actor)->ended != 0;
    else if (text->view == TRACE_CTA)
        ended = cta_thread(m, actor).pc == 0;
    else
        ended = threads_state(m, actor)->depth == 0;
    return ended ? 'f' : running_letter(m, actor);
}

void view_letters(struct trace_text *text, uint32_t actor, char *letters)
{
    switch (text->view) {
    case TRACE_WARPS:
        warp_letters(text, actor, letters);
        return;
    case TRACE_CRS:
        crs_letters(text, actor, letters);
        return;
    case TRACE_VECTORS:
        vector_letters(text, actor, letters);
        return;
    case TRACE_THREADS:
    case TRACE_BLOCKS:
    case TRACE_CTA:
        letters[0] = thread_letter(text, actor);
    }
}

uint32_t view_threads(const struct trace_text *text, uint32_t actor, uint32_t *first)
{
    const uint32_t *threads;
    uint32_t count = 1;
    *first = actor;
    if (text->view == TRACE_WARPS) {
        struct warp_state warp = simt_state(text->machine, actor);
        *first = warp.first_thread;
        return warp.lanes;
    }
    if (text->view == TRACE_CRS) {
        const struct ptx_lanes *lanes = crs_warp(text->machine, actor).lanes;
        *first = lanes->first_thread;
        return lanes->count;
    }
    if (text->view == TRACE_VECTORS) {
        count = lockstep_threads(text->machine, actor, &threads);
        *first = threads[0];
    }
    return count;
}

/* Lanes that an operation is for; of a cache's step none. */
static const char *operation_lanes(struct trace_text *text, const struct step_event *event,
                                   uint32_t *first)
{
    uint32_t actor, place;
    *first = 0;
    if (!caches_is_operation(text->machine, event->actor, &actor, &place))
        return "";
    return trace_mask(text, event->active, view_threads(text, actor, first));
}

const char *view_ran(struct trace_text *text, const struct step_event *event, uint32_t *first)
{
    if (event->actor >= text->machine->actor_count)
        return operation_lanes(text, event, first);
    uint32_t lanes = view_threads(text, event->actor, first);
    if (text->machine->semantics->stack_of) {
        *first = convergence_split(text->machine, event->actor).first_thread;
        return trace_mask(text, event->active, 64 - (uint32_t)__builtin_clzll(event->active | 1));
    }
    if (text->view == TRACE_WARPS || text->view == TRACE_CRS)
        return trace_mask(text, event->active, lanes);
    if (text->view == TRACE_VECTORS)
        return trace_blocks_enabled(text, event->actor);
    return "1";
}
