/*
 * device_flight.c - operations under way: issued, performed; lines that come and go.
 *
 * In the rules: o is an operation, m its SM, eta what all SMs agree on, l1 the lines of an SM.
 */
#include "engine/device/device_flight.h"

#include "engine/base/invariant.h"
#include "engine/device/device_internal.h"
#include "engine/lanes/ptx_exec.h"

#include <stdlib.h>
#include <string.h>

struct flight_row {
    enum access_kind kind;
    uint32_t word, lane; /* of the machine's memory */
    uint32_t value;
};

/* ---- where things are ---- */

static struct device_line *line_at(const struct device *device, uint32_t sm, uint32_t word)
{
    return &device->flights->lines[sm * FLIGHT_WORDS + word];
}

static int32_t *shared_at(const struct device *device, uint32_t sm, uint32_t place)
{
    return device->flights->shared + (size_t)(sm * device->options.blocks + place) * FLIGHT_SHARED;
}

static const struct device_slot_state *slot_of(const struct device *device,
                                               const struct device_grid *grid, uint32_t actor)
{
    return &device->slots[device_grid_number(device, grid)][actor / grid->program->warps_per_block];
}

static const struct ptx_op *op_of(const struct device *device, const struct device_flight *f)
{
    return &device->grids[f->grid].program->ptx->ops[f->pc];
}

/* ---- which are under way ---- */

static int by_words(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct device_flight));
}

/* A bag: in one order, so that equal states have equal bytes. */
static void sort(struct device *device)
{
    qsort(device->flights->flights, FLIGHTS, sizeof(struct device_flight), by_words);
}

bool flight_slot_pending(const struct device *device, const struct device_grid *grid, uint32_t slot)
{
    if (device->caches)
        return caches_slot_pending(grid->machine, slot, false);
    if (!device->flights)
        return false;
    for (uint32_t i = 0; i < FLIGHTS; i++) {
        const struct device_flight *f = &device->flights->flights[i];
        if (f->used && &device->grids[f->grid] == grid &&
            f->actor / grid->program->warps_per_block == slot)
            return true;
    }
    return false;
}

bool flight_pending(const struct device *device, const struct device_grid *grid)
{
    for (uint32_t slot = 0; slot < grid->slots; slot++)
        if (flight_slot_pending(device, grid, slot))
            return true;
    return false;
}

bool flight_words_pending(const struct device *device, uint32_t base, uint32_t words)
{
    if (device->caches)
        return cached_words_pending(device, base, words);
    for (uint32_t i = 0; device->flights && i < FLIGHTS; i++) {
        const struct device_flight *f = &device->flights->flights[i];
        if (f->used && !(f->word & FLIGHT_IS_SHARED) && f->word - base < words)
            return true;
    }
    return false;
}

bool flight_context_pending(const struct device *device, uint32_t context)
{
    for (uint32_t i = 0; device->caches && i < device->grid_count; i++)
        if (device->grids[i].context == context && cached_count(device, &device->grids[i]) > 0)
            return true;
    for (uint32_t i = 0; device->flights && i < FLIGHTS; i++) {
        const struct device_flight *f = &device->flights->flights[i];
        if (f->used && device->grids[f->grid].context == context)
            return true;
    }
    return false;
}

uint32_t flight_count(const struct device *device)
{
    uint32_t count = device->caches ? cached_count(device, NULL) : 0;
    for (uint32_t i = 0; device->flights && i < FLIGHTS; i++)
        count += device->flights->flights[i].used;
    return count;
}

static uint32_t block_of(const struct device *device, const struct device_grid *grid,
                         uint32_t actor)
{
    return device
        ->numbers[device_grid_number(device, grid)][actor / grid->program->warps_per_block];
}

/* Of the warp, and of its block: not those of a block that had its slot before. */
static bool is_own(const struct device *device, const struct device_grid *grid, uint32_t actor,
                   const struct device_flight *f)
{
    return f->used && &device->grids[f->grid] == grid && f->actor == actor &&
           f->block == block_of(device, grid, actor);
}

static uint32_t warp_count(const struct device *device, const struct device_grid *grid,
                           uint32_t actor)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < FLIGHTS; i++)
        count += is_own(device, grid, actor, &device->flights->flights[i]);
    return count;
}

/* Behind a barrier a warp waits for the operations with which it came; so none follow them (ERR.77, ERR.97). */
static bool waits_behind(const struct device *device, const struct device_grid *grid,
                         uint32_t actor)
{
    for (uint32_t i = 0; i < FLIGHTS; i++) {
        const struct device_flight *f = &device->flights->flights[i];
        if (f->awaited && is_own(device, grid, actor, f))
            return true;
    }
    return false;
}

static void come_to_barrier(struct device *device, const struct device_grid *grid, uint32_t actor)
{
    for (uint32_t i = 0; i < FLIGHTS; i++) {
        struct device_flight *f = &device->flights->flights[i];
        f->awaited |= is_own(device, grid, actor, f);
    }
    sort(device);
}

/* ---- registers ---- */

static bool same_place(const struct ptx_place *a, const struct ptx_place *b)
{
    return a->kind == PTX_PLACE_REGISTER && b->kind == PTX_PLACE_REGISTER && a->bits == b->bits &&
           a->offset == b->offset;
}

static bool names(const struct ptx_op *op, const struct ptx_place *place)
{
    bool named = same_place(&op->guard, place);
    for (uint32_t i = 0; i < PTX_CODE_RESULTS; i++)
        named |= same_place(&op->results[i], place);
    for (uint32_t i = 0; i < PTX_CODE_SOURCES; i++)
        named |= same_place(&op->sources[i], place);
    for (uint32_t written = 0; written < 2; written++) {
        const struct ptx_place *other;
        uint32_t at = 0;
        while ((other = ptx_matrix_next(op, written, &at)) != NULL)
            named |= same_place(other, place);
    }
    return named;
}

/* MO.block: every register of an instruction is blocked until its operation has ended. */
static bool blocks(const struct ptx_op *pending, const struct ptx_op *next)
{
    bool blocked = names(next, &pending->guard);
    for (uint32_t i = 0; i < PTX_CODE_RESULTS; i++)
        blocked |= names(next, &pending->results[i]);
    for (uint32_t i = 0; i < PTX_CODE_SOURCES; i++)
        blocked |= names(next, &pending->sources[i]);
    return blocked;
}

static bool is_blocked(const struct device *device, uint32_t grid, uint32_t actor,
                       const struct ptx_op *next)
{
    for (uint32_t i = 0; i < FLIGHTS; i++) {
        const struct device_flight *f = &device->flights->flights[i];
        if (f->used && !f->stale && f->grid == grid && f->actor == actor &&
            blocks(op_of(device, f), next))
            return true;
    }
    return false;
}

static bool is_access(const struct ptx_op *op)
{
    bool accesses = op->exec == PTX_EXEC_LD || op->exec == PTX_EXEC_ST || op->exec == PTX_EXEC_ATOM;
    return accesses && op->space != PTX_W_CONST && op->space != PTX_W_LOCAL;
}

static const struct ptx_op *next_op(const struct device_grid *grid, uint32_t actor)
{
    uint32_t pc = grid->machine->semantics->next_stm(grid->machine, actor);
    return pc == CODE_NONE ? NULL : &grid->program->ptx->ops[pc];
}

/* Lanes that are threads: the most operations that an instruction has. */
static uint32_t lanes_of(const struct device_grid *grid)
{
    const struct ast_launch *launch = &grid->program->launch;
    return launch->threads < launch->warp ? launch->threads : launch->warp;
}

bool flight_may(const struct device *device, const struct device_grid *grid, uint32_t actor)
{
    const struct ptx_op *op = next_op(grid, actor);
    uint32_t number = device_grid_number(device, grid);
    if (waits_behind(device, grid, actor))
        return false;
    if (!op)
        return true;
    uint32_t count = warp_count(device, grid, actor);
    bool is_barrier = op->exec >= PTX_EXEC_BAR_SYNC && op->exec <= PTX_EXEC_BAR_RED;
    if (op->exec == PTX_EXEC_MEMBAR || (is_barrier && device->options.before))
        return count == 0;
    if (is_access(op) &&
        (count + lanes_of(grid) > FLIGHT_CAP || flight_count(device) + lanes_of(grid) > FLIGHTS))
        return false;
    return !is_blocked(device, number, actor, op);
}

/* ---- issue ---- */

static void see(void *context, enum access_kind kind, const struct access_row *row)
{
    struct device_flights *flights = context;
    for (uint32_t i = 0; i < row->count && flights->row_count < FLIGHTS; i++) {
        uint32_t lane = row->order[i];
        flights->rows[flights->row_count++] = (struct flight_row){
            kind, row->location[lane], lane, kind == ACCESS_READ ? 0 : (uint32_t)row->value[lane]};
    }
}

static uint32_t device_word(const struct device_grid *grid, uint32_t actor, uint32_t word)
{
    const struct program *program = grid->program;
    uint32_t slot = actor / program->warps_per_block;
    if (word >= program->shared_base)
        return FLIGHT_IS_SHARED |
               (word - program->shared_base - slot * program->words[SPACE_SHARED]);
    for (uint32_t i = 0; i < grid->region_count; i++)
        if (word - grid->regions[i].word < grid->regions[i].words)
            return grid->regions[i].base + word - grid->regions[i].word;
    invariant_fail("a word of a region", __FILE__, __LINE__);
}

/* MO.poloc: the instruction overlaps a word of an operation of the same warp that is under way. */
static bool overlaps(const struct device *device, const struct device_grid *grid, uint32_t actor)
{
    const struct device_flights *flights = device->flights;
    for (uint32_t r = 0; r < flights->row_count; r++)
        for (uint32_t i = 0; i < FLIGHTS; i++) {
            const struct device_flight *f = &flights->flights[i];
            bool loads = flights->rows[r].kind == ACCESS_READ && f->used &&
                         op_of(device, f)->exec == PTX_EXEC_LD;
            if (is_own(device, grid, actor, f) &&
                f->word == device_word(grid, actor, flights->rows[r].word) &&
                !(device->options.loads_free && loads))
                return true;
        }
    return false;
}

static struct device_flight *free_flight(struct device *device)
{
    for (uint32_t i = 0; i < FLIGHTS; i++)
        if (!device->flights->flights[i].used)
            return &device->flights->flights[i];
    invariant_fail("room for an operation", __FILE__, __LINE__);
}

/* Shared memory of the place into the machine, or as it was at first: the place has it. */
static void move_shared(struct device *device, struct device_grid *grid, uint32_t actor, bool in)
{
    const struct program *program = grid->program;
    uint32_t slot = actor / program->warps_per_block, words = program->words[SPACE_SHARED];
    const struct device_slot_state *at = slot_of(device, grid, actor);
    size_t first = program->shared_base + (size_t)slot * words;
    const int32_t *initial = program->ptx->initial + first;
    memcpy(grid->machine->memory + first, in ? shared_at(device, at->sm, at->place) : initial,
           (size_t)4 * words);
}

/*  MEM.issue       the warp's next instruction accesses a of its lanes, none of its registers is blocked
 *      <g, O>  ==>  <g', O + o_1 .. o_n>            one operation a lane; registers blocked, operands taken
 */
static void add_operations(struct device *device, struct device_grid *grid, uint32_t actor,
                           uint32_t pc, const uint64_t *other)
{
    struct device_flights *flights = device->flights;
    const struct device_slot_state *at = slot_of(device, grid, actor);
    for (uint32_t r = 0; r < flights->row_count; r++) {
        const struct flight_row *row = &flights->rows[r];
        bool is_atomic = row->kind == ACCESS_ATOMIC;
        *free_flight(device) =
            (struct device_flight){.used = 1,
                                   .grid = device_grid_number(device, grid),
                                   .actor = actor,
                                   .pc = pc,
                                   .lane = row->lane,
                                   .block = block_of(device, grid, actor),
                                   .sm = at->sm,
                                   .place = at->place,
                                   .word = device_word(grid, actor, row->word),
                                   .value = is_atomic ? (uint32_t)other[2 * row->lane] : row->value,
                                   .other = is_atomic ? (uint32_t)other[2 * row->lane + 1] : 0};
    }
    sort(device);
    device_fired(device, DEVICE_MEM_ISSUE);
}

/* b and c of an atomic, by lane. */
static void take_operands(const struct device_grid *grid, uint32_t actor, const struct ptx_op *op,
                          uint64_t *other)
{
    struct crs_warp warp = crs_warp(grid->machine, actor);
    for (uint32_t lane = 0; op && op->exec == PTX_EXEC_ATOM && lane < warp.lanes->count; lane++)
        for (uint32_t i = 0; i < 2; i++)
            other[2 * lane + i] =
                op->sources[1 + i].kind == PTX_PLACE_NONE
                    ? 0
                    : ptx_source(grid->machine, warp.lanes, &op->sources[1 + i], lane);
}

void mem_issue(struct device *device, struct device_grid *grid, uint32_t actor,
               struct choices *choices)
{
    struct device_flights *flights = device->flights;
    struct machine *m = grid->machine;
    const struct ptx_op *op = next_op(grid, actor);
    uint32_t pc = op ? (uint32_t)(op - grid->program->ptx->ops) : 0;
    uint64_t other[2 * FLIGHTS] = {0};
    take_operands(grid, actor, op, other);
    move_shared(device, grid, actor, true);
    machine_save(m, flights->saved);
    flights->row_count = 0;
    machine_step(m, actor, choices);
    if (flights->row_count > 0 && device->options.poloc && overlaps(device, grid, actor)) {
        machine_restore(m, flights->saved, 0); /* not yet */
    } else if (flights->row_count > 0) {
        memcpy(m->memory, flights->saved + ((const uint32_t *)m->memory - m->block),
               (size_t)4 * grid->program->private_base);
        struct crs_warp warp = crs_warp(m, actor);
        for (uint32_t r = 0; r < flights->row_count && op->results[0].kind == PTX_PLACE_REGISTER;
             r++)
            ptx_set_result(m, (struct ptx_lanes *)(uintptr_t)warp.lanes, &op->results[0],
                           (lane_mask)1 << flights->rows[r].lane, 0);
        add_operations(device, grid, actor, pc, other);
    } else if (op && (op->exec == PTX_EXEC_BAR_SYNC || op->exec == PTX_EXEC_BAR_RED)) {
        come_to_barrier(device, grid, actor);
    }
    if (machine_status(m) == STATUS_RUNNING || machine_status(m) == STATUS_TERMINATED)
        move_shared(device, grid, actor, false);
}

void flight_arrive(struct device *device, const struct device_grid *grid, uint32_t slot)
{
    const struct program *program = grid->program;
    uint32_t number = device_grid_number(device, grid);
    const struct device_slot_state *at = &device->slots[number][slot];
    if (!device->flights)
        return;
    int32_t *words = shared_at(device, at->sm, at->place);
    for (uint32_t i = 0; device->options.reset_flags && i < FLIGHTS; i++) {
        struct device_flight *f = &device->flights->flights[i];
        f->stale |= f->used && f->grid == number && f->actor / program->warps_per_block == slot;
    }
    sort(device);
    memset(words, 0, sizeof(int32_t) * FLIGHT_SHARED);
    memcpy(words, program->ptx->initial + program->shared_base,
           (size_t)4 * program->words[SPACE_SHARED]);
}

/* ---- perform ---- */

static bool passes_l1(const struct ptx_op *op)
{
    enum ptx_word cache = (enum ptx_word)op->statement->u.instruction.words[PTX_SLOT_CACHE];
    enum ptx_word sem = (enum ptx_word)op->statement->u.instruction.words[PTX_SLOT_SEM];
    bool strong = sem != PTX_W_NONE && sem != PTX_W_WEAK;
    return strong || cache == PTX_W_CG || cache == PTX_W_CV;
}

static uint32_t read_word(struct device *device, const struct device_flight *f, int32_t *word,
                          const struct ptx_op *op)
{
    if (f->word & FLIGHT_IS_SHARED)
        return (uint32_t)*word;
    struct device_line *line = line_at(device, f->sm, f->word);
    if (passes_l1(op) || op->exec == PTX_EXEC_ATOM) {
        *line = (struct device_line){0, 0};
        return (uint32_t)*word;
    }
    if (!line->valid)
        *line = (struct device_line){1, (uint32_t)*word};
    return line->value;
}

static void write_word(struct device *device, const struct device_flight *f, int32_t *word,
                       uint32_t value)
{
    *word = (int32_t)value;
    if (!(f->word & FLIGHT_IS_SHARED))
        *line_at(device, f->sm, f->word) = (struct device_line){0, 0};
}

/* The register of whoever is in the slot now: nobody, or, flags=reset, another block. */
static void write_register(struct device *device, const struct device_flight *f,
                           const struct ptx_op *op, uint32_t value)
{
    struct device_grid *grid = &device->grids[f->grid];
    if (!slot_of(device, grid, f->actor)->used || op->results[0].kind != PTX_PLACE_REGISTER)
        return;
    uint64_t wide = op->is_signed ? (uint64_t)(int64_t)(int32_t)value : value;
    struct crs_warp warp = crs_warp(grid->machine, f->actor);
    ptx_set_result(grid->machine, (struct ptx_lanes *)(uintptr_t)warp.lanes, &op->results[0],
                   (lane_mask)1 << f->lane, wide);
}

/*  MEM.perform     o under way
 *      <eta, l1, O + o>  ==>  <eta', l1', O>        ld: r <- l1(m)(a), else eta(a), which l1(m) keeps;
 *                                                   .cg: l1(m)(a) goes
 *                                                   st: eta(a) <- v, l1(m)(a) goes;  atom: both
 */
void mem_perform(struct device *device, uint32_t number)
{
    struct device_flight f = device->flights->flights[number];
    const struct ptx_op *op = op_of(device, &f);
    int32_t *word = f.word & FLIGHT_IS_SHARED
                        ? shared_at(device, f.sm, f.place) + (f.word & ~FLIGHT_IS_SHARED)
                        : device->memory + f.word;
    device->flights->flights[number] = (struct device_flight){.used = 0};
    if (op->exec == PTX_EXEC_ST) {
        write_word(device, &f, word, f.value);
    } else {
        uint32_t old = read_word(device, &f, word, op);
        if (op->exec == PTX_EXEC_ATOM)
            write_word(device, &f, word, (uint32_t)op->atomic(old, f.value, f.other));
        write_register(device, &f, op, old);
    }
    sort(device);
    device_fired(device, DEVICE_MEM_PERFORM);
}

bool flight_line_valid(const struct device *device, uint32_t sm, uint32_t word)
{
    return line_at(device, sm, word)->valid;
}

/*  MEM.silent      l1(m)(a) is there
 *      <l1>  ==>  <l1[m, a |-> none]>
 */
void mem_silent(struct device *device, uint32_t sm, uint32_t word)
{
    *line_at(device, sm, word) = (struct device_line){0, 0};
    device_fired(device, DEVICE_MEM_SILENT);
}

void flight_flush(struct device *device)
{
    if (device->caches)
        cached_flush(device);
    if (device->flights)
        memset(device->flights->lines, 0,
               sizeof(struct device_line) * device->options.sms * FLIGHT_WORDS);
}

/* ---- making ---- */

const char *flight_refuses(struct arena *arena, const struct device *device,
                           const struct device_grid *grid)
{
    const struct ptx_code *code = grid->program->ptx;
    if (device->memory_words > FLIGHT_WORDS)
        return arena_printf(arena, "memory=inflight takes %d words of global memory, not %u",
                            FLIGHT_WORDS, (unsigned)device->memory_words);
    if (grid->program->words[SPACE_SHARED] > FLIGHT_SHARED)
        return arena_printf(arena, "memory=inflight takes %d words of shared memory",
                            FLIGHT_SHARED);
    if (lanes_of(grid) > FLIGHT_CAP)
        return arena_printf(arena, "memory=inflight takes warps of %d lanes, not %u", FLIGHT_CAP,
                            (unsigned)lanes_of(grid));
    for (uint32_t pc = 1; pc < code->count; pc++) {
        const struct ptx_op *op = &code->ops[pc];
        if (is_access(op) && (op->bytes != 4 || op->count != 1))
            return "memory=inflight takes accesses of 32 bits only";
        if (op->exec == PTX_EXEC_CALL)
            return "memory=inflight takes no calls";
    }
    return NULL;
}

void flight_make(struct device *device)
{
    struct device_flights *flights = device->flights;
    size_t most = 0;
    flights->rows = ARENA_ARRAY(device->arena, struct flight_row, FLIGHTS);
    flights->observer = (struct observer){.context = flights, .access_row = see};
    for (uint32_t i = 0; i < device->grid_count; i++) {
        machine_observe(device->grids[i].machine, &flights->observer);
        if (device->grids[i].machine->block_words > most)
            most = device->grids[i].machine->block_words;
    }
    flights->saved = ARENA_ARRAY(device->arena, uint32_t, most + 1);
}

const char *flight_text(struct arena *arena, const struct device *device, uint32_t number)
{
    const struct device_flight *f = &device->flights->flights[number];
    return arena_printf(arena, "%s of word %u%s by lane %u of warp %u of grid %u",
                        ptx_mnemonics[op_of(device, f)->opcode],
                        (unsigned)(f->word & ~FLIGHT_IS_SHARED),
                        f->word & FLIGHT_IS_SHARED ? " of shared memory" : "", (unsigned)f->lane,
                        (unsigned)f->actor, (unsigned)f->grid);
}
