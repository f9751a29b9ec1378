/*
 * host_follow_state.c - the reference's state and the device's, side by side.
 */
#include "oracle/device/host_follow_internal.h"

#include "engine/machine/live.h"
#include "engine/reference_ptx/ref_ptx.h"

#include <string.h>

#define DIFFERS(f, ...) follow_tell(f, arena_printf((f)->arena, __VA_ARGS__))
#define DIFFERS_OF(f, statement, ...)                                                              \
    follow_tell_of(f, statement, arena_printf((f)->arena, __VA_ARGS__))

static uint32_t line_of(const struct host_follow *f, uint32_t statement)
{
    return f->device->program->statements[statement].at.line;
}

/* ---- what may happen ---- */

static bool warp_may(const struct host_follow *f, uint32_t grid, uint32_t actor)
{
    const struct device_grid *g = &f->device->grids[grid];
    uint32_t warps = g->program->warps_per_block;
    return ref_context_steps(f->ref, g->context) && f->ref->stands[g->statement] == REF_RUNS &&
           ref_block_in(f->ref, grid, actor / warps) && is_live(g->machine, actor) &&
           ref_warp_may(f->ref, grid, actor / warps, actor % warps, follow_next(f, grid, actor));
}

static bool may(const struct host_follow *f, struct device_alternative x)
{
    const struct host_statement *s = &f->device->program->statements[x.a];
    switch (x.kind) {
    case ALTERNATIVE_HOST:
        return ref_host_may(f->ref);
    case ALTERNATIVE_START:
        return s->kind == HOST_LAUNCH && ref_begin_may(f->ref, x.a);
    case ALTERNATIVE_COPY:
        return s->kind == HOST_COPY && ref_begin_may(f->ref, x.a);
    case ALTERNATIVE_ISSUE:
        return ref_resident_may(f->ref, x.a, x.b);
    case ALTERNATIVE_WARP:
        return warp_may(f, x.a, x.b);
    case ALTERNATIVE_MICRO:
    case ALTERNATIVE_SILENT:
        if (f->cached)
            return follow_cached_may(f, x);
        return ref_memory_moves(f->ref) &&
               (x.kind == ALTERNATIVE_MICRO ? follow_operation(f, x.a) != HOST_NONE
                                            : ref_has_line(f->ref, x.a, x.b));
    }
    return false;
}

static bool is_offered(const struct device *device, enum device_alternative_kind kind, uint32_t a,
                       uint32_t b)
{
    for (uint32_t i = 0; i < device->alternative_count; i++) {
        const struct device_alternative *x = &device->alternatives[i];
        if (x->kind == kind && x->a == a && x->b == b)
            return true;
    }
    return false;
}

/* Of the statement that this one is about. */
static void tell_of(struct host_follow *f, const char *says, struct device_alternative x)
{
    bool of_grid = x.kind == ALTERNATIVE_ISSUE || x.kind == ALTERNATIVE_WARP;
    bool of_statement = x.kind == ALTERNATIVE_START || x.kind == ALTERNATIVE_COPY;
    uint32_t statement = of_grid        ? f->device->grids[x.a].statement
                         : of_statement ? x.a
                                        : f->device->head->host;
    DIFFERS_OF(f, statement, "%s: %s", says, device_alternative_text(f->arena, f->device, x));
}

static void expect_offer(struct host_follow *f, enum device_alternative_kind kind, uint32_t a,
                         uint32_t b)
{
    const struct device_alternative x = {kind, a, b};
    if (!f->lost && may(f, x) && !is_offered(f->device, kind, a, b))
        tell_of(f, "this may happen, and is not offered", x);
}

/* Operations and lines: that each is one of the reference's was asked, so numbers suffice. */
static void compare_memory_moves(struct host_follow *f)
{
    uint32_t offered[DEVICE_KINDS] = {0}, lines = 0;
    for (uint32_t i = 0; i < f->device->alternative_count; i++)
        offered[f->device->alternatives[i].kind]++;
    for (const struct ref_l1_line *l = f->ref->lines; l; l = l->next)
        lines++;
    if (!f->lost && ref_memory_moves(f->ref) &&
        (offered[ALTERNATIVE_MICRO] != f->ref->flight_count ||
         offered[ALTERNATIVE_SILENT] != lines))
        DIFFERS(f, "%u operations are under way and %u lines are there, %u and %u are offered",
                (unsigned)f->ref->flight_count, (unsigned)lines,
                (unsigned)offered[ALTERNATIVE_MICRO], (unsigned)offered[ALTERNATIVE_SILENT]);
}

void follow_compare_alternatives(struct host_follow *f)
{
    const struct device *device = f->device;
    if (ref_is_over(f->ref))
        follow_tell(f, "the program is over, and goes on");
    for (uint32_t i = 0; i < device->alternative_count && !f->lost; i++)
        if (!may(f, device->alternatives[i]))
            tell_of(f, "this cannot happen, and is offered", device->alternatives[i]);
    if (device->head->host < device->program->count)
        expect_offer(f, ALTERNATIVE_HOST, 0, 0);
    for (uint32_t i = 0; i < f->ref->host; i++) {
        expect_offer(f, ALTERNATIVE_START, i, 0);
        expect_offer(f, ALTERNATIVE_COPY, i, 0);
    }
    for (uint32_t g = 0; g < device->grid_count; g++) {
        if (f->ref->stands[device->grids[g].statement] != REF_RUNS)
            continue;
        for (uint32_t sm = 0; sm < device->options.sms; sm++)
            expect_offer(f, ALTERNATIVE_ISSUE, g, sm);
        for (uint32_t i = 0; i < device->grids[g].machine->actor_count; i++)
            expect_offer(f, ALTERNATIVE_WARP, g, i);
    }
    if (device->flights)
        compare_memory_moves(f);
    if (f->cached)
        follow_cached_offers(f, expect_offer);
}

/* ---- operations ---- */

static bool is_same(const struct host_follow *f, const struct device_flight *x,
                    const struct ref_flight *o)
{
    const struct device_grid *grid = &f->device->grids[x->grid];
    uint32_t warps = grid->program->warps_per_block;
    const struct ptx_statement *s = grid->program->ptx->ops[x->pc].statement;
    bool is_shared = x->word & FLIGHT_IS_SHARED;
    return x->grid == o->grid && x->actor == o->slot * warps + o->warp && x->block == o->block &&
           x->lane == o->lane && x->sm == o->sm && x->place == o->place &&
           &s->u.instruction == o->instruction && is_shared == o->is_shared &&
           (x->word & ~FLIGHT_IS_SHARED) == o->word && x->value == o->b && x->other == o->c &&
           (x->stale != 0) == o->stale && (x->awaited != 0) == o->awaited;
}

uint32_t follow_operation(const struct host_follow *f, uint32_t flight)
{
    const struct device_flight *x = &f->device->flights->flights[flight];
    for (uint32_t i = 0; i < f->ref->flight_count && x->used; i++)
        if (is_same(f, x, &f->ref->flights[i]))
            return i;
    return HOST_NONE;
}

static void compare_flights(struct host_follow *f)
{
    const struct device_flights *flights = f->device->flights;
    uint32_t count = 0;
    for (uint32_t i = 0; i < FLIGHTS; i++) {
        count += flights->flights[i].used;
        if (flights->flights[i].used && follow_operation(f, i) == HOST_NONE)
            DIFFERS(f, "another operation is under way: %s", flight_text(f->arena, f->device, i));
    }
    if (count != f->ref->flight_count)
        DIFFERS(f, "%u operations are under way, not %u", (unsigned)count,
                (unsigned)f->ref->flight_count);
}

static void compare_lines(struct host_follow *f)
{
    const struct device *device = f->device;
    uint32_t count = 0, expected = 0;
    for (const struct ref_l1_line *l = f->ref->lines; l; l = l->next, expected++) {
        const struct device_line *line = &device->flights->lines[l->sm * FLIGHT_WORDS + l->word];
        if (!line->valid || line->value != (uint32_t)l->value)
            DIFFERS(f, "the L1 of SM %u has another line of word %u", (unsigned)l->sm,
                    (unsigned)l->word);
    }
    for (uint32_t i = 0; i < device->options.sms * FLIGHT_WORDS; i++)
        count += device->flights->lines[i].valid;
    if (count != expected)
        DIFFERS(f, "L1s have %u lines, not %u", (unsigned)count, (unsigned)expected);
}

void follow_compare_register(struct host_follow *f, int32_t found)
{
    const struct ref_flight *o = &f->performed;
    struct device_grid *grid = &f->device->grids[o->grid];
    const struct ptx_code *code = grid->program->ptx;
    const struct ptx_op *op = NULL;
    for (uint32_t pc = 1; pc < code->count && !op; pc++)
        if (code->ops[pc].statement && &code->ops[pc].statement->u.instruction == o->instruction)
            op = &code->ops[pc];
    if (f->lost || !op || op->results[0].kind != PTX_PLACE_REGISTER ||
        !ref_block_in(f->ref, o->grid, o->slot))
        return;
    const struct crs_warp warp =
        crs_warp(grid->machine, o->slot * grid->program->warps_per_block + o->warp);
    uint64_t value = ref_loaded(o->instruction, (uint32_t)found, 4, op->results[0].bits);
    if (ptx_source(grid->machine, warp.lanes, &op->results[0], o->lane) != value)
        DIFFERS(f, "another value comes to a register than the %d that was read", (int)found);
}

/* ---- memory ---- */

static void compare_words(struct host_follow *f, const char *what, const int32_t *words,
                          const int32_t *expected, uint32_t count)
{
    for (uint32_t i = 0; i < count && !f->lost; i++)
        if (words[i] != expected[i])
            DIFFERS(f, "word %u of %s is %d, not %d", (unsigned)i, what, (int)words[i],
                    (int)expected[i]);
}

/* What a grid's machine holds is newer than what the device has. */
static void compare_regions(struct host_follow *f, const struct device_grid *grid)
{
    for (uint32_t i = 0; i < grid->region_count && !f->lost; i++) {
        const struct device_region *r = &grid->regions[i];
        compare_words(f, "a buffer, as a grid sees it,", grid->machine->memory + r->word,
                      f->ref->memory + r->base, r->words);
    }
}

static bool is_held(const struct device_grid *holder, uint32_t word)
{
    for (uint32_t i = 0; holder && i < holder->region_count; i++)
        if (word - holder->regions[i].base < holder->regions[i].words)
            return true;
    return false;
}

static void compare_memory(struct host_follow *f)
{
    const struct device *device = f->device;
    if (device->holder)
        compare_regions(f, device->holder);
    for (uint32_t i = 0; i < device->memory_words && !f->lost; i++)
        if (device->memory[i] != f->ref->memory[i] && !is_held(device->holder, i))
            DIFFERS(f, "word %u of the device is %d, not %d", (unsigned)i, (int)device->memory[i],
                    (int)f->ref->memory[i]);
    compare_words(f, "the host", device->host_memory, f->ref->host_memory,
                  device->program->host_words);
    if (device->flights)
        compare_words(f, "shared memory", device->flights->shared, f->ref->places,
                      device->options.sms * device->options.blocks * FLIGHT_SHARED);
}

/* ---- blocks ---- */

void follow_compare_block(struct host_follow *f, uint32_t grid, uint32_t slot)
{
    const struct device_grid *g = &f->device->grids[grid];
    const struct program *program = g->program;
    const struct machine *m = g->machine;
    const struct ast_launch *launch = &program->launch;
    const struct ref_launch *l = &f->ref->grids[grid].layout;
    const int32_t *shared = m->memory + program->shared_base + (size_t)slot * l->shared_words;
    if (!f->cached) /* there it is the place's until somebody of the grid steps */
        compare_words(f, "the shared memory of a block that begins", shared, l->shared,
                      l->shared_words);
    for (uint32_t w = 0; w < l->warps && !f->lost; w++) {
        const struct crs_warp warp = crs_warp(m, slot * l->warps + w);
        const struct crs_state *s = warp.state;
        uint32_t lanes = launch->threads - w * launch->warp;
        lane_mask all = lanes >= launch->warp ? launch->warp : lanes;
        all = all == 64 ? ~(lane_mask)0 : ((lane_mask)1 << all) - 1;
        if (s->pc != 1 || s->active != all || s->depth != 0 || s->completed || s->waiting ||
            (s->broken | s->returned | (s->exited & all)))
            DIFFERS(f, "warp %u of a block that begins is not at its entry", (unsigned)w);
        /* Over caches operations of who was there block it. */
        if (!f->cached && !is_live(m, slot * l->warps + w))
            DIFFERS(f, "warp %u of a block that begins cannot step", (unsigned)w);
        if (memcmp(warp.lanes,
                   (const char *)m->initial + ((const char *)warp.lanes - (const char *)m->block),
                   (size_t)4 * ptx_lanes_words(program, warp.lanes->count)) != 0)
            DIFFERS(f, "warp %u of a block that begins has old registers", (unsigned)w);
    }
}

static void compare_slots(struct host_follow *f, uint32_t grid)
{
    const struct device *device = f->device;
    uint32_t statement = device->grids[grid].statement;
    for (uint32_t slot = 0; slot < device->grids[grid].slots && !f->lost; slot++) {
        const struct ref_block *block = ref_block_in(f->ref, grid, slot);
        const struct device_slot_state *s = &device->slots[grid][slot];
        bool used = s->used && device->progress[statement] == PROGRESS_RUNNING;
        if (used != (block != NULL))
            DIFFERS_OF(f, statement, "a block of the launch of line %u is %sresident",
                       (unsigned)line_of(f, statement), used ? "still " : "no more ");
        else if (block && (s->sm != block->sm || s->place != block->place ||
                           &f->ref->grids[grid].blocks[device->numbers[grid][slot]] != block))
            DIFFERS_OF(f, statement, "block %u of the launch of line %u is in another place",
                       (unsigned)device->numbers[grid][slot], (unsigned)line_of(f, statement));
    }
}

static void compare_grid(struct host_follow *f, uint32_t grid)
{
    const struct device_grid_state *s = &f->device->grid_states[grid];
    uint32_t statement = f->device->grids[grid].statement;
    if (f->ref->stands[statement] == REF_RUNS &&
        (s->unissued != ref_count(f->ref, grid, REF_UNSCHEDULED) ||
         s->resident != ref_count(f->ref, grid, REF_ACTIVE) ||
         s->completed != ref_count(f->ref, grid, REF_COMPLETED)))
        DIFFERS_OF(f, statement,
                   "the launch of line %u has %u blocks resident, %u not issued and %u completed",
                   (unsigned)line_of(f, statement), (unsigned)s->resident, (unsigned)s->unissued,
                   (unsigned)s->completed);
    compare_slots(f, grid);
}

/* ---- the host ---- */

static void compare_statement(struct host_follow *f, uint32_t i)
{
    static const enum device_progress same[] = {[REF_NOT_YET] = PROGRESS_NONE,
                                                [REF_WAITS] = PROGRESS_QUEUED,
                                                [REF_RUNS] = PROGRESS_RUNNING,
                                                [REF_DRAINS] = PROGRESS_ENDING,
                                                [REF_OVER] = PROGRESS_DONE};
    static const char *const words[] = {"has not begun", "waits in its stream", "runs",
                                        "waits for its operations", "is over"};
    const struct host_statement *s = &f->device->program->statements[i];
    const struct ref_expectation *e = &f->ref->expectations[i];
    const struct device_expectation *x = &f->device->expectations[i];
    if (host_is_queued(s) && f->device->progress[i] != same[f->ref->stands[i]])
        DIFFERS_OF(f, i, "the %s of line %u %s, where by the rules it %s", host_kind_names[s->kind],
                   (unsigned)s->at.line, words[f->device->progress[i]], words[f->ref->stands[i]]);
    if (e->asked != x->asked ||
        (e->asked && (e->holds != x->holds || e->word != x->word || e->value != x->value)))
        DIFFERS_OF(f, i, "the expectation of line %u is judged otherwise", (unsigned)s->at.line);
}

void follow_compare_state(struct host_follow *f)
{
    const struct device *device = f->device;
    uint32_t current = device->head->context == 0 ? HOST_NONE : device->head->context - 1;
    if (device->head->end == END_FAULT)
        return;
    if (device->head->host != f->ref->host)
        follow_tell(f, "the host is at another statement");
    if (current != f->ref->current)
        follow_tell(f, "another context steps");
    for (uint32_t c = 0; c < HOST_CONTEXTS; c++)
        if ((device->head->alive >> c & 1) != f->ref->alive[c])
            follow_tell(f, "a context is there that is not, or is not");
    for (uint32_t i = 0; i < device->program->count && !f->lost; i++)
        compare_statement(f, i);
    for (uint32_t g = 0; g < device->grid_count && !f->lost; g++)
        compare_grid(f, g);
    if (device->flights && !f->lost) {
        compare_flights(f);
        compare_lines(f);
    }
    if (f->cached && !f->lost)
        follow_cached_compare(f);
    if (!f->lost)
        compare_memory(f);
}
