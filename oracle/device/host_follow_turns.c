/*
 * host_follow_turns.c - a schedule takes the alternative that engine/reference_device/ref_turns.h says.
 */
#include "oracle/device/host_follow_internal.h"

#include "engine/machine/live.h"

#include <string.h>

static struct ref_alternative alternative_of(struct device_alternative x)
{
    static const enum ref_act acts[] = {
        [ALTERNATIVE_HOST] = REF_HOST,    [ALTERNATIVE_START] = REF_START,
        [ALTERNATIVE_COPY] = REF_COPY,    [ALTERNATIVE_ISSUE] = REF_ISSUE,
        [ALTERNATIVE_WARP] = REF_WARP,    [ALTERNATIVE_MICRO] = REF_MICRO,
        [ALTERNATIVE_SILENT] = REF_SILENT};
    return (struct ref_alternative){acts[x.kind], x.a, x.b};
}

static uint32_t draw(void *stream, uint32_t n)
{
    return pcg_below(stream, n);
}

void host_follow_schedule(struct host_follow *f, const struct device_schedule *s)
{
    static const enum ref_order orders[] = {[ORDER_TURNS] = REF_TURNS,
                                            [ORDER_RANDOM] = REF_RANDOM,
                                            [ORDER_LAZY] = REF_LAZY,
                                            [ORDER_LAST] = REF_LAST,
                                            [ORDER_LATE] = REF_LATE};
    f->has_turns = true;
    f->numbers = pcg_derive(s->seed, PCG_SCHEDULE, 0);
    f->turns = (struct ref_turns){.order = orders[s->order],
                                  .draw = draw,
                                  .stream = &f->numbers,
                                  .tape = s->tape,
                                  .tape_count = s->tape_count};
}

/* Blocks of each SM, of all grids. */
static void count_held(const struct ref_device *r, uint32_t held[64])
{
    memset(held, 0, 64 * sizeof *held);
    for (uint32_t g = 0; g < r->grid_count; g++)
        for (uint32_t b = 0; b < r->grids[g].layout.blocks; b++) {
            const struct ref_block *block = &r->grids[g].blocks[b];
            held[block->sm] += block->where == REF_ACTIVE || block->where == REF_LEAVING;
        }
}

static bool can_go_on(const struct host_follow *f)
{
    const struct device *device = f->device;
    const struct ref_alternative last = f->turns.last;
    if (last.act != REF_WARP || device->flights || device->head->end != END_RUNNING)
        return false;
    const struct device_grid *grid = &device->grids[last.a];
    return f->ref->stands[grid->statement] == REF_RUNS && is_live(grid->machine, last.b);
}

void follow_turn(struct host_follow *f, struct device_alternative x)
{
    const struct device *device = f->device;
    const struct ref_alternative taken = alternative_of(x);
    struct ref_alternative expected = f->turns.last;
    uint32_t held[64];
    bool goes_on = ref_turns_goes_on(&f->turns, can_go_on(f));
    if (!goes_on) {
        size_t mark = arena_mark(f->arena);
        struct ref_alternative *offered =
            arena_room(f->arena, (device->alternative_count + 1) * sizeof *offered);
        for (uint32_t i = 0; i < device->alternative_count; i++)
            offered[i] = alternative_of(device->alternatives[i]);
        count_held(f->ref, held);
        expected = ref_turns_pick(&f->turns, offered, device->alternative_count, held);
        arena_release(f->arena, mark);
    }
    if (taken.act != expected.act || taken.a != expected.a || taken.b != expected.b)
        follow_tell(f, arena_printf(f->arena, "not this is next in the schedule: %s",
                                    device_alternative_text(f->arena, f->device, x)));
    ref_turns_take(&f->turns, expected, goes_on);
}

uint32_t host_follow_astray(const struct host_follow *f)
{
    return f->turns.astray;
}
