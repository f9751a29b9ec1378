#include "oracle/launch/launch_heap.h"
#include "oracle/launch/launch_internal.h"

#include "engine/base/inline.h"
#include "engine/crs/crs.h"
#include "engine/crs/crs_cluster.h"
#include "oracle/check/evidence.h"

#include <string.h>

enum { FINDINGS_MAX = 64, ALL_BYTES = 0xf };

/* ---- words ---- */

const char *launch_thread_name(struct arena *arena, const struct program *program, uint64_t thread)
{
    const struct ptx_kernel *kernel = program->ptx->kernel;
    uint32_t tid = (uint32_t)(thread % program->launch.threads);
    uint32_t block = (uint32_t)(thread / program->launch.threads);
    const uint32_t *n = kernel->block, *g = kernel->grid;
    const char *text = n[1] * n[2] == 1 ? arena_printf(arena, "thread %u", tid)
                       : n[2] == 1 ? arena_printf(arena, "thread (%u,%u)", tid % n[0], tid / n[0])
                                   : arena_printf(arena, "thread (%u,%u,%u)", tid % n[0],
                                                  tid / n[0] % n[1], tid / n[0] / n[1]);
    if (g[1] * g[2] == 1)
        return arena_printf(arena, "%s of block %u", text, block);
    if (g[2] == 1)
        return arena_printf(arena, "%s of block (%u,%u)", text, block % g[0], block / g[0]);
    return arena_printf(arena, "%s of block (%u,%u,%u)", text, block % g[0], block / g[0] % g[1],
                        block / g[0] / g[1]);
}

const char *launch_source(struct arena *arena, const struct program *program, uint32_t stm)
{
    const struct ptx_code *code = program->ptx;
    if (stm == 0 || stm >= code->count)
        return NULL;
    const char *source = ptx_op_path(arena, code, stm);
    uint32_t line = code->ops[stm].line;
    return source || line == 0 ? source : arena_printf(arena, "line %u of the PTX", line);
}

static const char *file_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

/* "buffer2[17]": the element that the access is of, counted in its own size. */
static const char *location_name(struct launch_race *race, uint32_t location, uint32_t bytes)
{
    struct arena *arena = race->arena;
    const struct program *program = race->program;
    const struct launch_heap_watch *heap = race->heap;
    if (heap && location - heap->first < heap->end - heap->first)
        return heap_byte_name(arena, heap->heap,
                              (uint64_t)(location - heap->first) * 4 / program->units);
    struct program_location at = program_locate(program, location);
    uint64_t byte = (uint64_t)at.element * 4 + at.byte;
    const char *name = at.var ? at.var->name : "memory";
    if (at.var && !at.var->is_array && byte == 0)
        return name;
    if (bytes == 0 || byte % bytes != 0)
        return arena_printf(arena, "byte %llu of %s", (unsigned long long)byte, name);
    return arena_printf(arena, "%s[%llu]", name, (unsigned long long)(byte / bytes));
}

static const char *verb(const struct launch_race *race, uint32_t stm)
{
    const enum ptx_exec exec = (enum ptx_exec)race->program->ptx->ops[stm].exec;
    if (ptx_exec_is(exec, PTX_LOADS))
        return race->manners[stm].strong ? "read (strong)" : "read";
    if (ptx_exec_is(exec, PTX_STORES))
        return race->manners[stm].strong ? "written (strong)" : "written";
    return "changed by an atomic";
}

/* ---- findings ---- */

struct launch_finding *launch_race_note(struct launch_race *race, enum launch_kind kind,
                                        uint32_t stm, uint32_t other)
{
    for (struct launch_finding *f = race->findings; f; f = f->next)
        if (f->kind == kind && f->stms[0] == stm && f->stms[1] == other) {
            f->count++;
            return NULL;
        }
    if (race->finding_count++ >= FINDINGS_MAX)
        return NULL;
    struct launch_finding *finding = ARENA_NEW(race->arena, struct launch_finding);
    finding->kind = kind;
    finding->stms[0] = stm;
    finding->stms[1] = other;
    finding->count = 1;
    finding->sources[0] = launch_source(race->arena, race->program, stm);
    if (kind == LAUNCH_RACE)
        finding->sources[1] = launch_source(race->arena, race->program, other);
    *race->last = finding;
    race->last = &finding->next;
    return finding;
}

struct seen {
    uint64_t thread;   /* in the grid */
    uint32_t resident; /* thread */
    uint32_t location, stm, time;
    /* Of its block and its warp: the first thread in the grid, before which time it knows of everything. */
    uint64_t block_first, warp_first;
    uint32_t block_floor, warp_floor;
    bool shared; /* the location is in shared memory */
};

/* What would have ordered the two. */
static const char *missing(const struct launch_race *race, const struct seen *seen,
                           const struct launch_slot *slot)
{
    const struct program *program = race->program;
    uint32_t threads = program->launch.threads, warp = program->launch.warp;
    uint64_t a = seen->thread, b = slot->thread - 1u;
    const struct launch_manner *m = &race->manners[seen->stm], *n = &race->manners[slot->stm];
    if (m->strong && n->strong)
        return m->scope == SYNC_BLOCK || n->scope == SYNC_BLOCK
                   ? "the scope of one of them ends at its block"
                   : "the scope of one of them ends at its cluster";
    if (a / threads != b / threads)
        return race->syncs ? "no pair of fences orders the two blocks"
                           : "nothing orders the two blocks";
    if (a % threads / warp == b % threads / warp)
        return "they are of one warp, and no __syncwarp() lies between";
    return "no barrier lies between";
}

static void note_race(struct launch_race *race, const struct seen *seen,
                      const struct launch_slot *slot)
{
    struct arena *arena = race->arena;
    struct launch_finding *finding = launch_race_note(race, LAUNCH_RACE, seen->stm, slot->stm);
    if (!finding)
        return;
    const struct program *program = race->program;
    finding->text = arena_printf(
        arena, "%s is %s by %s at %s, and was %s by %s at %s: %s%s",
        location_name(race, seen->location, program->ptx->ops[seen->stm].bytes),
        verb(race, seen->stm), launch_thread_name(arena, program, seen->thread),
        file_name(finding->sources[0]), verb(race, slot->stm),
        launch_thread_name(arena, program, slot->thread - 1u), file_name(finding->sources[1]),
        missing(race, seen, slot), evidence_first_guess(arena, program, seen->stm, slot->stm));
}

static void note_unwritten(struct launch_race *race, const struct seen *seen)
{
    struct arena *arena = race->arena;
    struct launch_finding *finding = launch_race_note(race, LAUNCH_UNWRITTEN, seen->stm, 0);
    if (finding)
        finding->text = arena_printf(
            arena, "%s is read by %s at %s, and nothing has written it",
            location_name(race, seen->location, race->program->ptx->ops[seen->stm].bytes),
            launch_thread_name(arena, race->program, seen->thread), file_name(finding->sources[0]));
}

/* ---- locations ---- */

INLINED bool in_block(const struct launch_race *race, const struct launch_slot *slot,
                      const struct seen *seen)
{
    return slot->thread - 1u - seen->block_first < race->program->launch.threads;
}

INLINED bool is_unordered(const struct launch_race *race, const struct launch_slot *slot,
                          const struct seen *seen)
{
    if (slot->thread == 0 || slot->thread - 1u == seen->thread)
        return false;
    if (in_block(race, slot, seen)) {
        if (slot->time < seen->block_floor)
            return false;
        if (slot->time < seen->warp_floor &&
            slot->thread - 1u - seen->warp_first < race->program->launch.warp)
            return false;
    } else if (seen->shared && !(race->has_clusters && slot->thread - 1u >= race->first_thread)) {
        return false; /* of a block that was there before */
    }
    return !race->syncs || !sync_before(&race->sync, slot->thread - 1u, slot->time, seen->resident);
}

INLINED void keep(struct launch_race *race, enum launch_kept what, const struct seen *seen)
{
    launch_put(race, what, seen->location,
               (struct launch_slot){(uint32_t)seen->thread + 1, seen->time, seen->stm});
}

/* `what` is LAUNCH_READ, LAUNCH_STRONG or LAUNCH_STRONG_READ; those of another thread, of another block stand behind
 * it. */
INLINED void put_slot(struct launch_race *race, enum launch_kept what, const struct seen *seen)
{
    const struct launch_slot last = launch_slot_at(race, what, seen->location);
    const bool stays = what == LAUNCH_READ ? is_unordered(race, &last, seen)
                                           : last.thread != 0 && last.thread - 1u != seen->thread;
    if (stays) {
        launch_put(race, what + 1, seen->location, last);
        if (!in_block(race, &last, seen))
            launch_put(race, what + 2, seen->location, last);
    }
    keep(race, what, seen);
}

/* Two strong accesses, of different threads: whether each scope holds the other thread. */
static bool scopes_meet(const struct launch_race *race, const struct launch_slot *slot,
                        const struct seen *seen)
{
    const struct program *program = race->program;
    const enum sync_scope a = race->manners[slot->stm].scope, b = race->manners[seen->stm].scope;
    const enum sync_scope both = a < b ? a : b;
    if (in_block(race, slot, seen) || both == SYNC_DEVICE)
        return true;
    const uint32_t one = (slot->thread - 1u) / program->launch.threads;
    const uint32_t other = (uint32_t)(seen->thread / program->launch.threads);
    const struct ptx_kernel *kernel = program->ptx->kernel;
    return both == SYNC_CLUSTER &&
           ptx_cluster_block(kernel, one, 0) == ptx_cluster_block(kernel, other, 0);
}

/* A conflict with one of the strong accesses. */
static struct launch_slot meet_strong(const struct launch_race *race, const struct seen *seen)
{
    const struct launch_manner *m = &race->manners[seen->stm];
    const enum launch_kept end = m->writes ? LAUNCH_KEPT : LAUNCH_STRONG_READ;
    for (enum launch_kept i = LAUNCH_STRONG; i < end; i++) {
        const struct launch_slot slot = launch_slot_at(race, i, seen->location);
        if (slot.thread == 0)
            continue;
        if (!(m->strong && scopes_meet(race, &slot, seen)) && is_unordered(race, &slot, seen))
            return slot;
    }
    return (struct launch_slot){0};
}

/* Who read it, as far as that is no matter of the order of barriers. */
static struct launch_slot meet_reads(const struct launch_race *race, const struct seen *seen)
{
    for (enum launch_kept i = LAUNCH_READ; i <= LAUNCH_READ_BLOCK; i++) {
        const struct launch_slot slot = launch_slot_at(race, i, seen->location);
        if (is_unordered(race, &slot, seen))
            return slot;
    }
    return (struct launch_slot){0};
}

INLINED void visit(struct launch_race *race, const struct seen *seen, const struct launch_manner *m)
{
    struct launch_slot partner = launch_slot_at(race, LAUNCH_WRITE, seen->location);
    if (!is_unordered(race, &partner, seen))
        partner.thread = 0;
    if (m->writes && !partner.thread && launch_slot_at(race, LAUNCH_READ, seen->location).thread)
        partner = meet_reads(race, seen);
    if (!partner.thread && race->has_strong)
        partner = meet_strong(race, seen);
    if (partner.thread)
        note_race(race, seen, &partner);
    if (m->strong)
        put_slot(race, m->writes ? LAUNCH_STRONG : LAUNCH_STRONG_READ, seen);
    else if (m->writes)
        keep(race, LAUNCH_WRITE, seen);
    else
        put_slot(race, LAUNCH_READ, seen);
}

/* Bits of the bytes of a word that `span` locations from `location` on take, in it. */
INLINED void write_bytes(struct launch_race *race, uint32_t location, uint32_t span)
{
    uint32_t units = race->program->units, each = 4 / units;
    for (uint32_t l = location; l < location + span; l++)
        race->written[l / units] |= (uint8_t)(((1u << each) - 1) << l % units * each);
}

INLINED bool has_bytes(const struct launch_race *race, uint32_t location, uint32_t span)
{
    uint32_t units = race->program->units, each = 4 / units;
    if (race->chunks[location / LAUNCH_CHUNK] & race->chunks[(location + span - 1) / LAUNCH_CHUNK] &
        LAUNCH_WRITTEN)
        return true;
    for (uint32_t l = location; l < location + span; l++) {
        uint32_t wanted = ((1u << each) - 1) << l % units * each;
        if ((race->written[l / units] & wanted) != wanted)
            return false;
    }
    return true;
}

static void visit_strong(struct launch_race *race, struct seen *seen, const struct launch_manner *m)
{
    struct sync_access access = {.location = seen->location,
                                 .scope = m->scope,
                                 .reads = m->reads,
                                 .writes = m->writes,
                                 .acquires = m->acquires,
                                 .releases = m->releases};
    if (!race->syncs)
        return;
    sync_strong(&race->sync, seen->resident, &access);
    seen->time = race->sync.block[seen->resident / race->program->launch.threads].clock;
}

static struct seen seen_by(const struct launch_race *race, const struct access_row *row)
{
    const struct ast_launch *launch = &race->program->launch;
    const uint32_t resident = row->first_thread / launch->threads;
    const uint32_t within = row->first_thread % launch->threads, warp = within / launch->warp;
    const struct sync_block *block = &race->sync.block[resident];
    const uint64_t first = (uint64_t)(race->first_block + resident) * launch->threads;
    return (struct seen){.stm = row->stm,
                         .time = block->clock,
                         .block_first = first,
                         .warp_first = first + warp * launch->warp,
                         .block_floor = block->floor,
                         .warp_floor = race->sync.warp_floor[resident * race->sync.warps + warp]};
}

/* ---- the observer ---- */

static void visit_lane(struct launch_race *race, const struct access_row *row, struct seen *seen,
                       enum access_kind kind, const struct launch_manner *m)
{
    seen->shared = seen->location >= race->global_locations;
    race->chunks[seen->location / LAUNCH_CHUNK] |=
        m->strong ? LAUNCH_TOUCHED | LAUNCH_STRONGLY : LAUNCH_TOUCHED;
    if (race->written && kind != ACCESS_WRITE && !has_bytes(race, seen->location, row->span))
        note_unwritten(race, seen);
    if (race->written)
        write_bytes(race, seen->location, kind != ACCESS_READ ? row->span : 0);
    if (m->strong)
        visit_strong(race, seen, m);
    else if (race->syncs && m->writes)
        sync_plain_write(&race->sync, seen->location);
    for (uint32_t k = 0; k < row->span; k++, seen->location++)
        visit(race, seen, m);
}

static void on_row(void *context, enum access_kind kind, const struct access_row *row)
{
    struct launch_race *race = context;
    const struct launch_manner plain = {.reads = kind == ACCESS_READ,
                                        .writes = kind != ACCESS_READ};
    const struct launch_manner *m = &race->manners[row->stm];
    const bool quickly = row->span == 1 && race->program->units == 1 && !race->syncs &&
                         m->strong == (kind == ACCESS_ATOMIC);
    uint32_t i = quickly ? launch_go_quickly(race, kind, row, 0) : 0;
    if (i == row->count)
        return;
    struct seen seen = seen_by(race, row);
    if (m->copies && kind != ACCESS_ATOMIC)
        m = &plain;
    while (i < row->count) {
        seen.resident = row->first_thread + row->order[i];
        seen.thread = (uint64_t)race->first_block * race->program->launch.threads + seen.resident;
        seen.location = row->location[row->order[i]];
        visit_lane(race, row, &seen, kind, m);
        i = quickly ? launch_go_quickly(race, kind, row, i + 1) : i + 1;
    }
}

static void on_barrier(void *context, const struct machine *machine,
                       const struct barrier_event *event)
{
    struct launch_race *race = context;
    (void)machine;
    if (event->all)
        sync_barrier(&race->sync, event->block);
}

/* The barrier of a cluster: of its generation once, of all threads of its blocks. What a thread does between arriving
 * and waiting counts as done before. */
static void end_cluster(struct launch_race *race, const struct barrier_use *use)
{
    const struct ptx_kernel *kernel = race->program->ptx->kernel;
    const uint32_t own = race->first_block + use->block;
    uint32_t slots[PTX_CLUSTER_MOST], count = 0;
    if (race->clusters[use->block] == use->generation + 1)
        return;
    race->clusters[use->block] = use->generation + 1;
    for (uint32_t rank = 0; rank < ptx_cluster_size(kernel); rank++)
        slots[count++] = ptx_cluster_block(kernel, own, rank) - race->first_block;
    sync_cluster(&race->sync, slots, count);
}

/* A named barrier that some threads of the block use: as if it were all of them. No false alarm comes of it. */
static void on_use(void *context, const struct machine *machine, const struct barrier_use *use)
{
    struct launch_race *race = context;
    (void)machine;
    if (use->kind == BARRIER_RELEASES && use->barrier != CRS_CLUSTER_BARRIER)
        sync_barrier(&race->sync, use->block);
    else if (use->kind == BARRIER_RELEASES)
        end_cluster(race, use);
}

static void on_step(void *context, const struct machine *machine, const struct step_event *event)
{
    struct launch_race *race = context;
    if (event->stm == CODE_NONE || !event->truth)
        return;
    const struct launch_manner *m = &race->manners[event->stm];
    if (!m->fence && !m->warp_barrier)
        return;
    const struct program *program = machine->program;
    uint32_t block = event->actor / program->warps_per_block;
    uint32_t first = block * program->launch.threads +
                     event->actor % program->warps_per_block * program->launch.warp;
    if (m->warp_barrier) {
        struct crs_warp warp = crs_warp(machine, event->actor);
        lane_mask alive = ptx_all(warp.lanes) & ~warp.state->exited;
        sync_warp(&race->sync, first, event->truth, (alive & ~event->truth) == 0);
        return;
    }
    for (lane_mask rest = event->truth; rest; rest &= rest - 1)
        sync_fence(&race->sync, first + (uint32_t)__builtin_ctzll(rest), m->scope);
}

/* ---- how instructions access ---- */

static bool says(const struct ptx_op *op, enum ptx_word word)
{
    const struct ptx_instruction *i = op->statement ? &op->statement->u.instruction : NULL;
    for (uint32_t slot = 0; i && slot < PTX_SLOT_COUNT; slot++)
        if (i->words[slot] == word)
            return true;
    return false;
}

/* mbarriers, and copies that they hear of: as oracle/scoped/manner.c has them. */
static struct launch_manner mbarrier_of(const struct ptx_op *op)
{
    bool waits = op->mode == PTX_W_TEST_WAIT || op->mode == PTX_W_TRY_WAIT;
    bool counts = op->mode == PTX_W_EXPECT_TX || op->mode == PTX_W_COMPLETE_TX;
    bool orders = !says(op, PTX_W_RELAXED) && !counts;
    bool copies = op->exec != PTX_EXEC_MBARRIER;
    if (!copies && (op->mode == PTX_W_INIT || op->mode == PTX_W_INVAL))
        return (struct launch_manner){.writes = true};
    return (struct launch_manner){.strong = true,
                                  .reads = true,
                                  .writes = copies || !waits,
                                  .acquires = !copies && waits && orders,
                                  .releases = copies || (!waits && orders),
                                  .copies = copies,
                                  .scope = says(op, PTX_W_CTA)                      ? SYNC_BLOCK
                                           : copies && op->atomic && !op->has_count ? SYNC_DEVICE
                                                                                    : SYNC_CLUSTER};
}

static struct launch_manner manner_of(const struct ptx_op *op)
{
    if (ptx_exec_is(op->exec, PTX_FAR))
        return mbarrier_of(op);
    bool is_atomic = op->exec == PTX_EXEC_ATOM;
    bool ordered = says(op, PTX_W_ACQ_REL) || says(op, PTX_W_SC);
    bool fence = op->exec == PTX_EXEC_MEMBAR;
    struct launch_manner m = {.strong =
                                  is_atomic || says(op, PTX_W_VOLATILE) || says(op, PTX_W_RELAXED),
                              .acquires = ordered || says(op, PTX_W_ACQUIRE),
                              .releases = ordered || says(op, PTX_W_RELEASE),
                              .reads = ptx_exec_is(op->exec, PTX_LOADS) || is_atomic,
                              .writes = ptx_exec_is(op->exec, PTX_STORES) || is_atomic,
                              .warp_barrier = op->exec == PTX_EXEC_BAR_WARP,
                              .fence = fence,
                              .scope = says(op, PTX_W_CTA)       ? SYNC_BLOCK
                                       : says(op, PTX_W_CLUSTER) ? SYNC_CLUSTER
                                                                 : SYNC_DEVICE};
    m.strong |= (m.reads || m.writes) && (m.acquires || m.releases);
    return m;
}

static void find_manners(struct launch_race *race, struct arena *arena)
{
    const struct ptx_code *code = race->program->ptx;
    struct launch_manner *manners = ARENA_ARRAY(arena, struct launch_manner, code->count + 1);
    for (uint32_t pc = 1; pc < code->count; pc++) {
        manners[pc] = manner_of(&code->ops[pc]);
        race->has_strong |= manners[pc].strong;
        race->syncs |= manners[pc].fence || manners[pc].warp_barrier || manners[pc].acquires ||
                       (manners[pc].releases && !manners[pc].copies);
    }
    race->syncs |= code->has_clusters;
    race->manners = manners;
}

/* By the numbers of their first blocks. */
static void number_clusters(struct launch_race *race)
{
    for (uint32_t block = 0; block < race->program->launch.blocks; block++)
        race->sync.block[block].cluster =
            ptx_cluster_block(race->program->ptx->kernel, race->first_block + block, 0);
}

static struct launch_chunk_slots *slots_for(struct arena *arena, size_t locations)
{
    return ARENA_ARRAY(arena, struct launch_chunk_slots, locations / LAUNCH_CHUNK + 1);
}

struct launch_race *launch_race_new(struct arena *arena, const struct program *program)
{
    struct launch_race *race = ARENA_NEW(arena, struct launch_race);
    size_t locations = (size_t)program->private_base * program->units;
    race->arena = arena;
    race->program = program;
    race->last = &race->findings;
    race->global_locations = program->shared_base * program->units;
    find_manners(race, arena);
    race->observer = (struct observer){.context = race,
                                       .access_row = on_row,
                                       .barrier = on_barrier,
                                       .use = program->ptx->has_named_barriers ? on_use : NULL,
                                       .step = race->syncs ? on_step : NULL};
    race->global = slots_for(arena, race->global_locations);
    for (uint32_t i = 0; program->units == 1 && i <= LAUNCH_READ; i++)
        race->rows[i] =
            ARENA_ARRAY(arena, struct launch_slot, race->global_locations / LAUNCH_ROW + 1);
    race->shared = slots_for(arena, locations - race->global_locations);
    race->chunks = ARENA_ARRAY(arena, uint8_t, locations / LAUNCH_CHUNK + 1);
    race->written = ARENA_ARRAY(arena, uint8_t, program->private_base + 1);
    sync_start(&race->sync, arena, program->launch.blocks, program->launch.threads,
               program->launch.warp);
    race->sync.only_barriers = !race->syncs;
    race->has_clusters = program->ptx->has_clusters;
    race->clusters = ARENA_ARRAY(arena, uint32_t, program->launch.blocks);
    number_clusters(race);
    return race;
}

void launch_race_restart(struct launch_race *race, const struct program *program,
                         uint32_t first_block)
{
    race->program = program;
    race->first_block = first_block;
    race->first_thread = first_block * program->launch.threads;
    memset(race->clusters, 0, program->launch.blocks * sizeof *race->clusters);
    if (race->written)
        memset(race->written + program->shared_base, 0,
               program->private_base - program->shared_base);
    sync_restart(&race->sync, first_block, program->launch.blocks);
    number_clusters(race);
}

void launch_race_written(struct launch_race *race, uint32_t word, uint32_t words)
{
    const uint32_t each = LAUNCH_CHUNK / race->program->units; /* words of a chunk */
    for (uint32_t end = word + words, next; word < end; word = next) {
        next = word - word % each + each;
        if (word % each == 0 && next <= end)
            race->chunks[word / each] |= LAUNCH_WRITTEN;
        else
            memset(race->written + word, ALL_BYTES, (next < end ? next : end) - word);
    }
}

void launch_race_written_as(struct launch_race *race, const struct launch_race *other)
{
    const uint32_t each = LAUNCH_CHUNK / race->program->units, words = race->program->shared_base;
    if (!other->written)
        race->written = NULL;
    for (uint32_t word = 0, next; other->written && word < words; word = next) {
        next = word + each < words ? word + each : words;
        race->chunks[word / each] = other->chunks[word / each] & LAUNCH_WRITTEN;
        if (!race->chunks[word / each])
            memcpy(race->written + word, other->written + word, next - word);
    }
}

/* Chunks in which this says of each word what was written: `written` says it. */
static void spread_written(struct launch_race *race, uint32_t word, uint32_t words)
{
    const uint32_t each = LAUNCH_CHUNK / race->program->units;
    for (uint32_t c = word / each; c <= (word + words - 1) / each; c++)
        if (race->chunks[c] & LAUNCH_WRITTEN) {
            memset(race->written + c * each, ALL_BYTES, each);
            race->chunks[c] &= (uint8_t)~LAUNCH_WRITTEN;
        }
}

void launch_race_forget(struct launch_race *race, uint32_t location, uint32_t words)
{
    const uint32_t units = race->program->units;
    for (uint32_t l = location; l < location + words * units; l++)
        for (enum launch_kept i = 0; i < LAUNCH_KEPT; i++)
            launch_put(race, i, l, (struct launch_slot){0});
    if (race->written) {
        spread_written(race, location / units, words);
        memset(race->written + location / units, 0, words);
    }
}
