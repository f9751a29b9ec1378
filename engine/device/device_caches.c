#include "engine/device/device_caches.h"

#include "engine/base/invariant.h"
#include "engine/device/device_internal.h"

#include <stdlib.h>
#include <string.h>

static const struct caches *caches(const struct device_grid *grid)
{
    return caches_of(grid->machine);
}

static struct device_cached_line *lines_of(const struct device *device, uint32_t sm)
{
    return device->caches->lines + (size_t)sm * device->options.lines;
}

/* ---- making ---- */

/* A line holds the largest element that is accessed: of all grids, since they share L1s. */
static uint32_t words_of_a_line(const struct device *device)
{
    uint32_t words = device->options.words;
    for (uint32_t i = 0; i < device->grid_count && words < 2; i++)
        if (caches_needs_two(device->grids[i].program->ptx))
            words = 2;
    return words;
}

bool cached_options(struct device *device, struct memory_options *options, struct diag *diag)
{
    const struct device_options *o = &device->options;
    *options = (struct memory_options){.profile = o->before       ? MEMORY_COHERENT
                                                  : o->loads_free ? MEMORY_LLH
                                                                  : MEMORY_PRINTED,
                                       .words = (uint8_t)words_of_a_line(device),
                                       .lines = (uint8_t)o->lines,
                                       .sms = (uint8_t)o->sms,
                                       .sets = 1,
                                       .slots = 2 * FLIGHT_CAP, /* also of the block before */
                                       .placed = true};
    for (uint32_t i = 0; i < device->grid_count; i++) {
        const struct device_grid *grid = &device->grids[i];
        struct location at = device->program->statements[grid->statement].at;
        const char *why = machine_refuses(device->arena, &semantics_crs_caches, grid->program);
        if (o->words & (o->words - 1))
            why = "memory=caches takes lines of 1, 2, 4 or 8 words";
        if (why) {
            diag_error(diag, at, "%s", why);
            return false;
        }
    }
    return true;
}

uint32_t cached_shared_words(const struct device *device)
{
    uint32_t most = 0;
    const struct device_options *o = &device->options;
    bool alone = o->whole && o->drain && o->ends_drain;
    for (uint32_t i = 0; i < device->grid_count && !alone; i++) {
        uint32_t own = device->grids[i].program->words[SPACE_SHARED];
        most = own > most ? own : most;
    }
    return most;
}

/* A set of banks, `by` banks up. */
static uint32_t turned(uint32_t set, uint32_t by)
{
    by %= 32;
    return by ? set << by | set >> (32 - by) : set;
}

/* Banks that are locked: of a place the first is that of its first word, of a machine that of its word 0. */
static void move_locks(struct device *device, struct device_grid *grid, uint32_t s, uint32_t place,
                       bool back)
{
    const struct program *program = grid->program;
    uint32_t first = program->shared_base + s * program->words[SPACE_SHARED];
    uint32_t *common = &device->caches->locks[place];
    if (back)
        *common = turned(caches(grid)->locks[s], 32 - first % 32);
    caches_set_locks(grid->machine, s, back ? 0 : turned(*common, first));
}

/* Shared memory of the grid's blocks, from the places that they have or back. */
static void move_shared(struct device *device, struct device_grid *grid, bool back)
{
    const struct program *program = grid->program;
    uint32_t number = device_grid_number(device, grid), words = program->words[SPACE_SHARED];
    for (uint32_t s = 0; device->caches->shared_words && s < grid->slots; s++) {
        const struct device_slot_state *slot = &device->slots[number][s];
        uint32_t place = slot->sm * device->options.blocks + slot->place;
        int32_t *common = device->caches->shared + (size_t)place * device->caches->shared_words;
        int32_t *own = grid->machine->memory + program->shared_base + (size_t)s * words;
        bool late = device->caches->late == s + 1 || caches_slot_pending(grid->machine, s, false);
        if (!slot->used && !late)
            continue;
        memcpy(back ? common : own, back ? own : common, (size_t)4 * words);
        move_locks(device, grid, s, place, back);
    }
}

void cached_shared_in(struct device *device, struct device_grid *grid)
{
    move_shared(device, grid, false);
}

/* ---- the names of lines ---- */

/* The first region that has words of the line; HOST_NONE: none has. */
static uint32_t region_of(const struct device_grid *grid, uint32_t line)
{
    uint32_t best = HOST_NONE, words = caches(grid)->words;
    for (uint32_t i = 0; i < grid->region_count; i++) {
        const struct device_region *r = &grid->regions[i];
        bool has = (int32_t)line < (int32_t)(r->word + r->words) &&
                   (int32_t)(line + words) > (int32_t)r->word;
        if (has && (best == HOST_NONE || r->word < grid->regions[best].word))
            best = i;
    }
    return best;
}

/* The line's first word in the grid's memory; false: it has no such memory. */
static bool word_in(const struct device *device, const struct device_grid *grid,
                    const struct device_cached_line *line, uint32_t *word)
{
    if (line->owner) {
        *word = line->base;
        return line->owner == device_grid_number(device, grid) + 1;
    }
    for (uint32_t i = 0; i < grid->region_count; i++) {
        *word = grid->regions[i].word + line->offset;
        if (grid->regions[i].base == line->base && region_of(grid, *word) == i)
            return true;
    }
    return false;
}

static void name_line(const struct device *device, const struct device_grid *grid, uint32_t word,
                      struct device_cached_line *line)
{
    uint32_t region = region_of(grid, word);
    *line = (struct device_cached_line){
        .used = 1, .owner = device_grid_number(device, grid) + 1, .base = word};
    if ((int32_t)word >= (int32_t)grid->program->private_base || region == HOST_NONE)
        return;
    line->owner = 0;
    line->base = grid->regions[region].base;
    line->offset = word - grid->regions[region].word;
}

/* ---- in and out ---- */

static int by_tag(const void *a, const void *b)
{
    uint32_t x = ((const struct cache_line *)a)->tag, y = ((const struct cache_line *)b)->tag;
    return (x > y) - (x < y);
}

static int by_words(const void *a, const void *b)
{
    const struct device_cached_line *x = a, *y = b;
    return x->used != y->used ? (int)y->used - (int)x->used : memcmp(x, y, sizeof *x);
}

void cached_in(struct device *device, struct device_grid *grid)
{
    enum { MOST = 64, WORDS = sizeof(struct cache_line) / 4 + CACHES_WORDS };
    const struct caches *c = caches(grid);
    for (uint32_t sm = 0; sm < device->options.sms; sm++) {
        uint32_t room[MOST * WORDS] = {0}, count = 0;
        for (; count < device->options.lines && lines_of(device, sm)[count].used; count++) {
            const struct device_cached_line *from = &lines_of(device, sm)[count];
            struct cache_line *to = caches_line(c, room, count);
            uint32_t word;
            bool own = word_in(device, grid, from, &word);
            *to = (struct cache_line){.tag = own ? word + 1 : CACHES_FOREIGN + count,
                                      .valid = from->valid,
                                      .dirty = from->dirty,
                                      .pins = from->pins,
                                      .pending = from->pending,
                                      .first = from->first};
            memcpy(to->vals, from->vals, 4 * c->words);
        }
        qsort(room, count, 4 * c->line_words, by_tag);
        caches_set_lines(grid->machine, sm, room, count);
    }
    move_shared(device, grid, false);
    caches_renew(grid->machine);
}

void cached_out(struct device *device, struct device_grid *grid)
{
    enum { MOST = 64 };
    const struct caches *c = caches(grid);
    for (uint32_t sm = 0; sm < device->options.sms; sm++) {
        struct device_cached_line *lines = lines_of(device, sm), before[MOST];
        uint32_t count = 0;
        memcpy(before, lines, device->options.lines * sizeof *lines);
        memset(lines, 0, device->options.lines * sizeof *lines);
        for (uint32_t i = 0; i < device->options.lines; i++) {
            const struct cache_line *from = caches_line(c, caches_l1(c, sm), i);
            struct device_cached_line *to = &lines[count];
            if (!from->tag)
                continue;
            count++;
            if (from->tag & CACHES_FOREIGN) {
                *to = before[from->tag & ~CACHES_FOREIGN];
                continue;
            }
            name_line(device, grid, from->tag - 1, to);
            to->valid = from->valid;
            to->dirty = from->dirty;
            to->pins = from->pins;
            to->pending = from->pending;
            to->first = from->first;
            memcpy(to->vals, from->vals, 4 * c->words);
        }
        qsort(lines, device->options.lines, sizeof *lines, by_words);
        caches_set_lines(grid->machine, sm, NULL, 0);
    }
    move_shared(device, grid, true);
    device->caches->late = 0;
}

/* ---- what moves ---- */

uint32_t cached_count(const struct device *device, const struct device_grid *grid)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < device->grid_count; i++)
        for (uint32_t a = 0; a < device->grids[i].machine->actor_count; a++)
            if (!grid || grid == &device->grids[i])
                count += caches(&device->grids[i])->in_flight[a];
    return count;
}

bool cached_moves(const struct device_grid *grid)
{
    return machine_status(grid->machine) == STATUS_RUNNING;
}

void cached_look(struct device *device, struct device_grid *grid)
{
    if (cached_moves(grid))
        device_hold(device, grid);
}

uint32_t cached_slot(const struct device *device, const struct device_grid *grid, uint32_t sm,
                     uint32_t place)
{
    const struct device_slot_state *slots = device->slots[device_grid_number(device, grid)];
    uint32_t best = HOST_NONE, best_rank = 0;
    for (uint32_t s = 0; s < grid->slots; s++) {
        bool pending = caches_slot_pending(grid->machine, s, false);
        bool same = slots[s].sm == sm && slots[s].place == place;
        uint32_t rank = slots[s].used ? 0 : pending ? (same ? 3 : 1) : 2;
        if (rank > best_rank) {
            best = s;
            best_rank = rank;
        }
    }
    INVARIANT(best != HOST_NONE);
    return best;
}

bool cached_words_pending(const struct device *device, uint32_t base, uint32_t words)
{
    for (uint32_t i = 0; i < device->grid_count; i++) {
        const struct device_grid *grid = &device->grids[i];
        const struct caches *c = caches(grid);
        for (uint32_t a = 0; a < grid->machine->actor_count; a++)
            for (uint32_t k = 0; k < c->in_flight[a]; k++) {
                struct device_cached_line line;
                name_line(device, grid, caches_slot(c, a, k)->line, &line);
                uint32_t first = line.base + line.offset;
                if (!line.owner && (int32_t)first < (int32_t)(base + words) &&
                    (int32_t)(first + c->words) > (int32_t)base)
                    return true;
            }
    }
    return false;
}

bool cached_pinned(struct device *device)
{
    device_settle_memory(device);
    for (uint32_t i = 0; i < device->options.sms * device->options.lines; i++) {
        const struct device_cached_line *line = &device->caches->lines[i];
        if (line->used && !line->owner && (line->pins || line->pending))
            return true;
    }
    return false;
}

void cached_flush(struct device *device)
{
    device_settle_memory(device);
    for (uint32_t sm = 0; sm < device->options.sms; sm++) {
        struct device_cached_line *lines = lines_of(device, sm);
        for (uint32_t i = 0; i < device->options.lines; i++)
            if (lines[i].used && !lines[i].owner)
                lines[i] = (struct device_cached_line){.used = 0};
        qsort(lines, device->options.lines, sizeof *lines, by_words);
    }
}
