/*
 * host_follow_caches.c - memory=caches: operations and lines of all grids, followed by engine/reference_caches.
 *
 * The reference has one memory: the words of the device, of each place's shared memory, and of each grid's local
 * memory; so a line has one address, whichever grid has it under which number. Lines of one word are followed.
 *
 * On trust: the addresses of lanes, what local memory holds when a block comes or has been aborted, whether a warp with
 * operations under way can issue (that it may is asked, MO.block, MO.poloc, fences and barriers).
 */
#include "oracle/device/host_follow_internal.h"

#include "engine/reference_caches/ref_caches.h"
#include "engine/reference_ptx/ref_ptx.h"

#include <string.h>

enum { PRIVATE_MOST = 1 << 12, OVER_GROUP = 1 << 30 };

/* Whose an operation is; as many as m.operations, in their order. */
struct follow_owner {
    uint32_t grid, actor, block, place;
};

struct follow_cached {
    struct ref_caches m;
    struct follow_owner owners[REF_FLIGHTS_ROOM];
    uint32_t group, order; /* ALTERNATIVE_MICRO: the actor, and which of its operations */
    bool is_operation;
    bool *waits; /* of a group: until its operations have ended */
    uint32_t *first_group;
};

#define DIFFERS(f, ...) follow_tell(f, arena_printf((f)->arena, __VA_ARGS__))

static const struct caches *caches(const struct device_grid *grid)
{
    return caches_of(grid->machine);
}

uint32_t follow_private_words(const struct device_grid *grid)
{
    const struct program *program = grid->program;
    return program->memory_words - program->private_base;
}

/* ---- addresses ---- */

/* The byte of a word of a grid's machine; `place`: of the block whose shared memory it is. */
static int64_t address_of(const struct host_follow *f, uint32_t grid, uint32_t word, uint32_t place)
{
    const struct device_grid *g = &f->device->grids[grid];
    const struct program *program = g->program;
    if (word >= program->private_base)
        return 4 * (int64_t)(f->ref->grids[grid].private_base + word - program->private_base);
    if (word >= program->shared_base)
        return 4 * (int64_t)(f->ref->words + place * REF_PLACE_WORDS +
                             (word - program->shared_base) % program->words[SPACE_SHARED]);
    return 4 * (int64_t)follow_word(g, word);
}

static bool is_global(const struct host_follow *f, int64_t address)
{
    return address < 4 * (int64_t)f->ref->words;
}

/* A line of an L1 as the device has it: in the machine of who holds the memory, or put down. */
struct view {
    int64_t address;
    uint32_t valid, dirty, pins, pending, first, value;
};

static bool view_put_down(const struct host_follow *f, const struct device_cached_line *line,
                          struct view *v)
{
    *v = (struct view){.valid = line->valid,
                       .dirty = line->dirty,
                       .pins = line->pins,
                       .pending = line->pending,
                       .first = line->first,
                       .value = line->vals[0]};
    v->address = line->owner ? address_of(f, line->owner - 1, line->base, 0)
                             : 4 * (int64_t)(line->base + line->offset);
    return line->used;
}

/* False: it is not used. */
static bool view_line(const struct host_follow *f, uint32_t sm, uint32_t i, struct view *v)
{
    const struct device *device = f->device;
    const struct device_cached_line *lines = device->caches->lines + sm * device->options.lines;
    if (!device->holder)
        return view_put_down(f, &lines[i], v);
    const struct caches *c = caches(device->holder);
    const struct cache_line *cl = caches_line(c, caches_l1(c, sm), i);
    if (cl->tag & CACHES_FOREIGN)
        return view_put_down(f, &lines[cl->tag & ~CACHES_FOREIGN], v);
    *v = (struct view){.valid = cl->valid,
                       .dirty = cl->dirty,
                       .pins = cl->pins,
                       .pending = cl->pending,
                       .first = cl->first,
                       .value = cl->vals[0]};
    if (cl->tag)
        v->address = address_of(f, (uint32_t)(device->holder - device->grids), cl->tag - 1, 0);
    return cl->tag != 0;
}

static bool find_view(const struct host_follow *f, uint32_t sm, int64_t address, struct view *v)
{
    for (uint32_t i = 0; i < f->device->options.lines; i++)
        if (view_line(f, sm, i, v) && v->address == address)
            return true;
    return false;
}

/* ---- the start ---- */

bool follow_cached_new(struct host_follow *f)
{
    const struct device *device = f->device;
    struct follow_cached *x = ARENA_NEW(f->arena, struct follow_cached);
    uint32_t groups = 0;
    bool fits = true;
    x->first_group = ARENA_ARRAY(f->arena, uint32_t, device->grid_count + 1);
    for (uint32_t g = 0; g < device->grid_count; g++) {
        const struct device_grid *grid = &device->grids[g];
        x->first_group[g] = groups;
        groups += grid->machine->actor_count;
        fits = fits && caches(grid)->words == 1 && follow_private_words(grid) <= PRIVATE_MOST &&
               grid->program->words[SPACE_SHARED] <= REF_PLACE_WORDS;
    }
    if (!fits || device->grid_count == 0)
        return false;
    x->waits = ARENA_ARRAY(f->arena, bool, groups + 1);
    const struct device_options *o = &device->options;
    x->m = (struct ref_caches){.profile = o->before       ? REF_COHERENT
                                          : o->loads_free ? REF_LLH
                                                          : REF_PRINTED,
                               .victims = REF_ANY,
                               .line_bytes = 4,
                               .ways = o->lines,
                               .sets = 1,
                               .sms = o->sms,
                               .memory_bytes = 4 * (int64_t)f->ref->all_words,
                               .private_bytes = 4 * (int64_t)f->ref->grids[0].private_base,
                               .memory = (uint8_t *)f->ref->memory,
                               .operation_capacity = REF_FLIGHTS_ROOM};
    x->m.l1 = ARENA_ARRAY(f->arena, struct ref_l1, o->sms);
    for (uint32_t sm = 0; sm < o->sms; sm++)
        x->m.l1[sm].lines = ARENA_ARRAY(f->arena, struct ref_line, o->lines);
    x->m.operations = ARENA_ARRAY(f->arena, struct ref_operation, REF_FLIGHTS_ROOM);
    x->m.locked = arena_alloc(f->arena, o->sms * o->blocks, sizeof *x->m.locked);
    f->cached = x;
    return true;
}

void follow_cached_start(struct host_follow *f)
{
    struct follow_cached *x = f->cached;
    const struct device *device = f->device;
    for (uint32_t sm = 0; sm < x->m.sms; sm++)
        x->m.l1[sm].count = 0;
    x->m.operation_count = 0;
    memset(x->m.locked, 0, device->options.sms * device->options.blocks * sizeof *x->m.locked);
    for (uint32_t g = 0; g < device->grid_count; g++)
        for (uint32_t a = 0; a < device->grids[g].machine->actor_count; a++)
            x->waits[x->first_group[g] + a] = false;
}

/* ---- operations ---- */

static uint32_t group_of(const struct host_follow *f, uint32_t grid, uint32_t actor)
{
    return f->cached->first_group[grid] + actor;
}

/* The n-th of the actor's, in the order in which they were issued. */
static uint32_t operation_at(const struct host_follow *f, uint32_t grid, uint32_t actor, uint32_t n)
{
    const struct follow_cached *x = f->cached;
    uint32_t o = 0;
    for (; o < x->m.operation_count; o++)
        if (x->owners[o].grid == grid && x->owners[o].actor == actor && n-- == 0)
            break;
    return o;
}

/* What the reference of the device knows of them: whose they are, and where. */
static void tell_device(struct host_follow *f)
{
    struct follow_cached *x = f->cached;
    f->ref->flight_count = x->m.operation_count;
    for (uint32_t o = 0; o < x->m.operation_count; o++) {
        const struct follow_owner *own = &x->owners[o];
        const struct ref_operation *op = &x->m.operations[o];
        f->ref->flights[o] = (struct ref_flight){.grid = own->grid,
                                                 .block = own->block,
                                                 .is_shared = !is_global(f, op->line),
                                                 .is_local = op->line >= x->m.private_bytes,
                                                 .word = (uint32_t)(op->line / 4),
                                                 .instruction = op->instruction};
    }
    f->ref->waited_for = false;
    for (uint32_t sm = 0; sm < x->m.sms; sm++)
        for (uint32_t i = 0; i < x->m.l1[sm].count; i++) {
            const struct ref_line *cl = &x->m.l1[sm].lines[i];
            f->ref->waited_for |=
                is_global(f, cl->address) && (cl->pending || ref_pins(&x->m, sm, cl));
        }
}

static bool any_of_group(const struct host_follow *f, uint32_t group)
{
    for (uint32_t o = 0; o < f->cached->m.operation_count; o++)
        if (f->cached->m.operations[o].group == group)
            return true;
    return false;
}

static void remove_operation(struct follow_cached *x, uint32_t o)
{
    uint32_t behind = --x->m.operation_count - o;
    memmove(&x->m.operations[o], &x->m.operations[o + 1], behind * sizeof *x->m.operations);
    memmove(&x->owners[o], &x->owners[o + 1], behind * sizeof *x->owners);
}

static enum ast_space space_of(const struct host_follow *f, int64_t address)
{
    if (is_global(f, address))
        return SPACE_GLOBAL;
    return address < f->cached->m.private_bytes ? SPACE_SHARED : SPACE_LOCAL;
}

static struct ref_operation operation_of(const struct host_follow *f, uint32_t grid, uint32_t actor,
                                         uint32_t place, uint32_t sm, struct memory_slot *slot)
{
    const struct device_grid *g = &f->device->grids[grid];
    const struct caches *c = caches(g);
    const struct ptx_op *op = &g->program->ptx->ops[slot->pc];
    const struct ptx_lanes *lanes = crs_warp(g->machine, actor).lanes;
    struct ref_operation x = {.instruction = &op->statement->u.instruction,
                              .group = group_of(f, grid, actor),
                              .block = place,
                              .sm = sm,
                              .place = slot->pc,
                              .line = address_of(f, grid, slot->line, place),
                              .bytes = op->bytes,
                              .count = op->count};
    for (uint32_t l = 0; l < c->lanes; l++) {
        x.lanes[l] = slot->lanes >> l & 1;
        x.writes[l] = slot->writers >> l & 1;
        x.byte[l] = x.line + caches_offsets(c, slot)[l];
        for (uint32_t k = 0; x.writes[l] && k < REF_VALUES; k++)
            if (op->sources[1 + k].kind != PTX_PLACE_NONE)
                x.values[l][k] = ptx_source(g->machine, lanes, &op->sources[1 + k], l);
    }
    return x;
}

/* mem_issue: the operation is one of the instruction, in its memory program, at the block's place. */
static void issue(struct host_follow *f, uint32_t actor, uint32_t n, uint32_t before)
{
    struct follow_cached *x = f->cached;
    const struct device_grid *grid = &f->device->grids[f->step.a];
    uint32_t slot_number = actor / grid->program->warps_per_block;
    const struct ref_block *block = ref_block_in(f->ref, f->step.a, slot_number);
    struct memory_slot *slot = caches_slot(caches(grid), actor, n);
    uint32_t place = block->sm * f->ref->settings.blocks + block->place;
    const struct ref_operation op = operation_of(f, f->step.a, actor, place, block->sm, slot);
    enum ast_space space = space_of(f, op.line);
    uint32_t count = x->m.operation_count;
    x->m.operation_count = before;
    bool in_order = ref_in_order(&x->m, &op);
    x->m.operation_count = count;
    if (op.instruction != f->instruction)
        DIFFERS(f, "an operation is under way of another instruction");
    else if (strcmp(memory_program_names[slot->program],
                    ref_program_name(&x->m, op.instruction, space)) != 0)
        DIFFERS(f, "an operation runs the memory program %s", memory_program_names[slot->program]);
    else if ((slot->ordered != 0) != ref_is_ordered(op.instruction))
        DIFFERS(f, "an operation is volatile, or is not");
    else if (slot->pins / MEMORY_SM != block->sm)
        DIFFERS(f, "an operation is on another SM");
    else if (!in_order)
        DIFFERS(f, "an access comes before one of its words that is under way");
    else if (count == REF_FLIGHTS_ROOM)
        f->lost = true;
    if (f->lost)
        return;
    x->owners[count] = (struct follow_owner){
        f->step.a, actor, (uint32_t)(block - f->ref->grids[f->step.a].blocks), place};
    ref_issue(&x->m, &op, space);
    x->waits[op.group] |= ref_acquires(op.instruction);
}

/* Why the instruction could not be issued, or NULL: it waits for what is under way of its warp. */
static const char *why_not(const struct host_follow *f, uint32_t group)
{
    const struct ptx_instruction *next = f->instruction;
    const struct ref_caches *m = &f->cached->m;
    bool fence = next->form == PTX_FORM_MEMBAR_ANY || next->form == PTX_FORM_FENCE_ANY;
    for (uint32_t o = 0; o < m->operation_count; o++) {
        const struct ref_operation *x = &m->operations[o];
        bool kept = x->group == OVER_GROUP + group && !f->ref->settings.reset_flags, ours = false;
        for (uint32_t l = 0; l < LIMIT_WARP; l++)
            ours |= (x->group == group || kept) && x->lanes[l] && f->active >> l & 1;
        if (ours && ref_share_register(x->instruction, next)) /* ERR.85: also of the block before */
            return "a blocked register";
        if (!ours || kept)
            continue;
        if (f->cached->waits[group])
            return "a fence";
        if (fence || ref_releases(next) ||
            (ref_is_barrier(next) && f->ref->settings.fenced_barriers))
            return "operations under way";
    }
    return NULL;
}

void follow_cached_warp(struct host_follow *f)
{
    struct follow_cached *x = f->cached;
    const struct device_grid *grid = &f->device->grids[f->step.a];
    uint32_t actor = f->step.b, group = group_of(f, f->step.a, actor), own = 0;
    uint32_t before = x->m.operation_count;
    const char *why = f->instruction ? why_not(f, group) : NULL;
    if (why) {
        DIFFERS(f, "a warp does not wait for %s", why);
        return;
    }
    for (uint32_t o = 0; o < before; o++)
        own += x->owners[o].grid == f->step.a && x->owners[o].actor == actor;
    for (uint32_t n = own; n < caches(grid)->in_flight[actor] && !f->lost; n++)
        issue(f, actor, n, before);
    if (f->instruction && ref_is_barrier(f->instruction) && !ref_is_arrival(f->instruction) &&
        any_of_group(f, group))
        x->waits[group] = true; /* as printed: behind the barrier (ERR.77) */
    tell_device(f);
}

/* ---- blocks and grids come ---- */

static void trust_private(const struct host_follow *f, uint32_t grid)
{
    const struct device_grid *g = &f->device->grids[grid];
    memcpy(f->ref->memory + f->ref->grids[grid].private_base,
           g->machine->memory + g->program->private_base, (size_t)4 * follow_private_words(g));
}

/* Lines of local memory go with the block that was there, and what it holds is on trust. */
void follow_cached_arrive(struct host_follow *f, uint32_t grid, uint32_t slot)
{
    struct follow_cached *x = f->cached;
    const struct device_grid *g = &f->device->grids[grid];
    const struct program *program = g->program;
    uint32_t words = program->words[SPACE_LOCAL] * program->launch.threads;
    int64_t from = address_of(f, grid, program->frame_base + slot * words, 0);
    for (uint32_t sm = 0; sm < x->m.sms; sm++)
        for (uint32_t i = x->m.l1[sm].count; i-- > 0;) {
            int64_t at = x->m.l1[sm].lines[i].address;
            if (words && at >= from && at < from + 4 * (int64_t)words)
                x->m.l1[sm].lines[i] = x->m.l1[sm].lines[--x->m.l1[sm].count];
        }
    trust_private(f, grid);
    for (uint32_t w = 0; w < program->warps_per_block; w++) {
        uint32_t actor = slot * program->warps_per_block + w, group = group_of(f, grid, actor);
        x->waits[group] = false;
        for (uint32_t o = 0; o < x->m.operation_count; o++)
            if (x->m.operations[o].group == group)
                x->m.operations[o].group = OVER_GROUP + group; /* GR.key: not the new block's */
    }
}

/* Of blocks that the host has aborted, whose operations go on: nobody sees any more what they load of local memory. */
void follow_cached_leave(struct host_follow *f)
{
    for (uint32_t g = 0; g < f->device->grid_count; g++) {
        enum ref_progress stands = f->ref->stands[f->device->grids[g].statement];
        if (stands == REF_DRAINS || stands == REF_OVER)
            trust_private(f, g);
    }
}

void follow_cached_flush(struct host_follow *f)
{
    struct follow_cached *x = f->cached;
    for (uint32_t sm = 0; sm < x->m.sms; sm++)
        for (uint32_t i = x->m.l1[sm].count; i-- > 0;)
            if (is_global(f, x->m.l1[sm].lines[i].address))
                x->m.l1[sm].lines[i] = x->m.l1[sm].lines[--x->m.l1[sm].count];
}

/* ---- micro steps, silent rules ---- */

void follow_cached_begin(struct host_follow *f)
{
    struct follow_cached *x = f->cached;
    const struct device_alternative s = f->step;
    if (s.kind == ALTERNATIVE_WARP) {
        f->instruction = follow_next(f, s.a, s.b);
        f->active = crs_warp(f->device->grids[s.a].machine, s.b).state->active;
    }
    if (s.kind == ALTERNATIVE_MICRO || s.kind == ALTERNATIVE_SILENT)
        x->is_operation =
            caches_is_operation(f->device->grids[s.a].machine, s.b, &x->group, &x->order);
}

/* ERR.59: the line that gave way is the one that the device has no more. */
static void tell_victim(const struct host_follow *f, const struct ref_operation *op)
{
    struct ref_caches *m = &f->cached->m;
    struct view v;
    m->has_victim = false;
    for (uint32_t i = 0; i < m->l1[op->sm].count; i++) {
        int64_t line = m->l1[op->sm].lines[i].address;
        if (line == op->line || find_view(f, op->sm, line, &v))
            continue;
        m->has_victim = true;
        m->victim = line;
    }
}

/* What a load or an atomic brought, where the block is still there. */
static void compare_registers(struct host_follow *f, const struct ref_operation *op,
                              const struct follow_owner *own)
{
    const struct device_grid *grid = &f->device->grids[own->grid];
    const struct ptx_op *code = &grid->program->ptx->ops[op->place];
    uint32_t slot = own->actor / grid->program->warps_per_block;
    if (op->group >= OVER_GROUP || !f->device->slots[own->grid][slot].used ||
        ref_block_in(f->ref, own->grid, slot) != &f->ref->grids[own->grid].blocks[own->block])
        return;
    for (uint32_t l = 0; l < LIMIT_WARP && !f->lost; l++) {
        bool is_there;
        const struct ptx_place *to = &code->results[0];
        if (!op->lanes[l] || to->kind != PTX_PLACE_REGISTER || op->count != 1)
            continue;
        uint64_t value = ref_taken(&f->cached->m, op, l, 0, &is_there);
        if (code->exec == PTX_EXEC_LD)
            value = ref_loaded(op->instruction, value, op->bytes, code->width);
        if (to->bits == 32)
            value = (uint32_t)value;
        if (is_there &&
            ptx_source(grid->machine, crs_warp(grid->machine, own->actor).lanes, to, l) != value)
            DIFFERS(f, "another value comes to a register than the %llu that was read",
                    (unsigned long long)value);
    }
}

static void move_operation(struct host_follow *f)
{
    struct follow_cached *x = f->cached;
    uint32_t o = operation_at(f, f->step.a, x->group, x->order);
    if (o == x->m.operation_count) {
        DIFFERS(f, "an operation steps that is not under way");
        return;
    }
    const struct follow_owner own = x->owners[o];
    tell_victim(f, &x->m.operations[o]);
    ref_micro_step(&x->m, o);
    if (x->m.wrong)
        DIFFERS(f, "a micro step: %s", x->m.wrong);
    else if (x->m.wrote_registers)
        compare_registers(f, &x->m.operations[o], &own);
    uint32_t group = x->m.operations[o].group;
    if (x->m.ended)
        remove_operation(x, o);
    if (group < OVER_GROUP && !any_of_group(f, group))
        x->waits[group] = false;
}

/* The one line that the device has no more, or clean. */
static void move_line(struct host_follow *f)
{
    struct follow_cached *x = f->cached;
    const struct device_grid *grid = &f->device->grids[f->step.a];
    uint32_t sm = f->step.b - grid->machine->actor_count * (1 + caches(grid)->slots);
    for (uint32_t i = 0; sm < x->m.sms && i < x->m.l1[sm].count; i++) {
        const struct ref_line *cl = &x->m.l1[sm].lines[i];
        struct view v;
        bool there = find_view(f, sm, cl->address, &v);
        if (there && (v.dirty || !ref_is_dirty(&x->m, cl)))
            continue;
        if (!(ref_is_dirty(&x->m, cl) ? ref_write_back(&x->m, sm, cl->address)
                                      : ref_evict(&x->m, sm, cl->address)))
            DIFFERS(f, "an L1 does what no silent rule says");
        return;
    }
    DIFFERS(f, "an L1 steps, and nothing has changed");
}

void follow_cached_move(struct host_follow *f)
{
    if (f->cached->is_operation)
        move_operation(f);
    else
        move_line(f);
    tell_device(f);
    ref_close(f->ref);
}

/* ---- what may happen ---- */

/* A grid moves what its machine can name: its own local memory, and buffers that it reaches. */
static bool reaches(const struct host_follow *f, uint32_t grid, int64_t address)
{
    const struct device_grid *g = &f->device->grids[grid];
    int64_t from = 4 * (int64_t)f->ref->grids[grid].private_base;
    for (uint32_t i = 0; i < g->region_count; i++)
        if (is_global(f, address) && address >= 4 * (int64_t)g->regions[i].base &&
            address < 4 * (int64_t)(g->regions[i].base + g->regions[i].words))
            return true;
    return address >= from && address < from + 4 * (int64_t)follow_private_words(g);
}

static bool is_silent(const struct host_follow *f, uint32_t grid, uint32_t sm)
{
    const struct ref_caches *m = &f->cached->m;
    for (uint32_t i = 0; i < m->l1[sm].count; i++) {
        const struct ref_line *cl = &m->l1[sm].lines[i];
        if (reaches(f, grid, cl->address) &&
            (ref_is_dirty(m, cl) || (!ref_pins(m, sm, cl) && !cl->pending)))
            return true;
    }
    return false;
}

bool follow_cached_may(const struct host_follow *f, struct device_alternative x)
{
    const struct device_grid *grid = &f->device->grids[x.a];
    uint32_t actor, n, first = grid->machine->actor_count * (1 + caches(grid)->slots);
    if (!ref_memory_moves(f->ref))
        return false;
    if (!caches_is_operation(grid->machine, x.b, &actor, &n))
        return x.b >= first && is_silent(f, x.a, x.b - first);
    uint32_t o = operation_at(f, x.a, actor, n);
    return o < f->cached->m.operation_count && ref_may_step(&f->cached->m, o);
}

void follow_cached_offers(struct host_follow *f,
                          void (*expect)(struct host_follow *, enum device_alternative_kind,
                                         uint32_t, uint32_t))
{
    for (uint32_t g = 0; g < f->device->grid_count; g++) {
        const struct device_grid *grid = &f->device->grids[g];
        const struct caches *c = caches(grid);
        uint32_t actors = grid->machine->actor_count;
        if (machine_status(grid->machine) != STATUS_RUNNING)
            continue;
        for (uint32_t a = 0; a < actors; a++)
            for (uint32_t n = 0; n < c->in_flight[a]; n++)
                expect(f, ALTERNATIVE_MICRO, g, actors + a * c->slots + n);
        for (uint32_t sm = 0; sm < c->sms; sm++)
            expect(f, ALTERNATIVE_SILENT, g, actors * (1 + c->slots) + sm);
    }
}

/* ---- the state ---- */

static void compare_line(struct host_follow *f, uint32_t sm, const struct ref_line *cl)
{
    struct view v;
    uint32_t valid = 0, dirty = 0, value = 0;
    for (uint32_t b = 0; b < 4; b++) {
        valid |= (uint32_t)cl->bytes[b].valid << b;
        dirty |= (uint32_t)cl->bytes[b].dirty << b;
        value |= cl->bytes[b].valid ? (uint32_t)cl->bytes[b].value << 8 * b : 0;
    }
    if (!find_view(f, sm, cl->address, &v)) {
        DIFFERS(f, "the L1 of SM %u lacks a line", (unsigned)sm);
        return;
    }
    for (uint32_t b = 0; b < 4; b++)
        v.value &= valid >> b & 1 ? UINT32_MAX : ~(0xffu << 8 * b);
    const char *what = v.valid != valid                            ? "other bytes"
                       : v.dirty != dirty                          ? "other dirty bytes"
                       : v.value != value                          ? "another value"
                       : (v.pending != 0) != cl->pending           ? "is waited for, or is not"
                       : v.pins != ref_pins(&f->cached->m, sm, cl) ? "other pins"
                       : (v.first != 0) != cl->evict_first         ? "another class"
                                                                   : NULL;
    if (what)
        DIFFERS(f, "a line of the L1 of SM %u: %s", (unsigned)sm, what);
}

/* Banks of a resident block's shared memory: those of its machine's, or, while another grid holds the memory, of its
 * place, whose first bank is that of its first word. */
static void compare_locks(struct host_follow *f, uint32_t grid, uint32_t slot)
{
    const struct device *device = f->device;
    const struct device_grid *g = &device->grids[grid];
    const struct ref_block *block = ref_block_in(f->ref, grid, slot);
    const uint32_t words = g->program->words[SPACE_SHARED];
    const bool is_put_down = device->caches->shared_words > 0 && device->holder != g;
    for (uint32_t w = 0; block && w < words; w++) {
        const uint32_t place = block->sm * device->options.blocks + block->place;
        const uint32_t own = g->program->shared_base + slot * words + w;
        const uint64_t bank = (f->ref->words + place * REF_PLACE_WORDS + w) % REF_BANKS;
        const bool locked = is_put_down ? device->caches->locks[place] >> w % REF_BANKS & 1
                                        : caches(g)->locks[slot] >> own % REF_BANKS & 1;
        if (locked != f->cached->m.locked[place][bank])
            DIFFERS(f, "word %u of the shared memory of a block is %slocked", (unsigned)w,
                    locked ? "" : "not ");
    }
}

void follow_cached_compare(struct host_follow *f)
{
    const struct device *device = f->device;
    const struct follow_cached *x = f->cached;
    for (uint32_t sm = 0; sm < x->m.sms && !f->lost; sm++) {
        uint32_t count = 0;
        struct view v;
        for (uint32_t i = 0; i < device->options.lines; i++)
            count += view_line(f, sm, i, &v);
        for (uint32_t i = 0; i < x->m.l1[sm].count && !f->lost; i++)
            compare_line(f, sm, &x->m.l1[sm].lines[i]);
        if (!f->lost && count != x->m.l1[sm].count)
            DIFFERS(f, "the L1 of SM %u has %u lines, not %u", (unsigned)sm, (unsigned)count,
                    (unsigned)x->m.l1[sm].count);
    }
    for (uint32_t g = 0; g < device->grid_count; g++)
        for (uint32_t slot = 0; slot < device->grids[g].slots && !f->lost; slot++)
            compare_locks(f, g, slot);
    uint32_t under_way = 0;
    for (uint32_t g = 0; g < device->grid_count; g++)
        for (uint32_t a = 0; a < device->grids[g].machine->actor_count; a++)
            under_way += caches(&device->grids[g])->in_flight[a];
    if (!f->lost && under_way != x->m.operation_count)
        DIFFERS(f, "%u operations are under way, not %u", (unsigned)under_way,
                (unsigned)x->m.operation_count);
}
