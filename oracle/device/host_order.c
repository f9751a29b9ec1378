#include "oracle/device/host_order.h"

#include <string.h>

enum { SLOTS = 4, TOLD = 16, NOBODY = 0 };

struct cell {
    uint16_t writer, readers[SLOTS], atomics[SLOTS]; /* statement + 1 */
};

struct grid_observer {
    struct observer observer;
    struct host_order *order;
    const struct device_grid *grid;
};

struct race {
    uint16_t first, second; /* statements */
    uint32_t word;
    uint64_t count;
};

struct host_order {
    struct arena *arena;
    struct device *device;
    struct cell *cells;
    struct grid_observer *observers;
    struct device_watcher watcher;
    struct race races[TOLD];
    uint32_t race_count;
};

static void note(struct host_order *order, uint32_t first, uint32_t second, uint32_t word)
{
    for (uint32_t i = 0; i < order->race_count; i++)
        if (order->races[i].first == first && order->races[i].second == second) {
            order->races[i].count++;
            return;
        }
    if (order->race_count < TOLD)
        order->races[order->race_count++] =
            (struct race){(uint16_t)first, (uint16_t)second, word, 1};
}

/* `who` is a statement + 1, or NOBODY. */
static void meet(struct host_order *order, uint32_t who, uint32_t statement, uint32_t word)
{
    const struct host_program *p = order->device->program;
    if (who == NOBODY || who - 1 == statement || host_ends_before(p, who - 1, statement) ||
        host_ends_before(p, statement, who - 1))
        return;
    note(order, who - 1 < statement ? who - 1 : statement,
         who - 1 < statement ? statement : who - 1, word);
}

static void meet_all(struct host_order *order, const uint16_t *who, uint32_t statement,
                     uint32_t word)
{
    for (uint32_t i = 0; i < SLOTS; i++)
        meet(order, who[i], statement, word);
}

/* Takes those out that end before the statement, and puts it in. */
static void keep(const struct host_order *order, uint16_t *slots, uint32_t statement)
{
    const struct host_program *p = order->device->program;
    uint32_t free_slot = SLOTS - 1;
    for (uint32_t i = SLOTS; i-- > 0;) {
        if (slots[i] == statement + 1)
            return;
        if (slots[i] == NOBODY || host_ends_before(p, slots[i] - 1u, statement))
            free_slot = i;
    }
    slots[free_slot] = (uint16_t)(statement + 1);
}

static void access_word(struct host_order *order, uint32_t statement, uint32_t word,
                        enum access_kind kind)
{
    struct cell *cell = &order->cells[word];
    meet(order, cell->writer, statement, word);
    if (kind != ACCESS_READ)
        meet_all(order, cell->readers, statement, word);
    if (kind != ACCESS_ATOMIC)
        meet_all(order, cell->atomics, statement, word);
    if (kind == ACCESS_READ)
        keep(order, cell->readers, statement);
    else if (kind == ACCESS_ATOMIC)
        keep(order, cell->atomics, statement);
    else
        cell->writer = (uint16_t)(statement + 1);
}

/* A word of the machine's memory: of the device's; HOST_NONE: it is shared, or local. */
static uint32_t device_word(const struct device_grid *grid, uint32_t word)
{
    for (uint32_t i = 0; i < grid->region_count; i++)
        if (word - grid->regions[i].word < grid->regions[i].words)
            return grid->regions[i].base + word - grid->regions[i].word;
    return HOST_NONE;
}

static void see_row(void *context, enum access_kind kind, const struct access_row *row)
{
    struct grid_observer *o = context;
    const struct program *program = o->grid->program;
    for (uint32_t i = 0; i < row->count; i++) {
        uint32_t first = row->location[row->order[i]];
        for (uint32_t k = 0; k < row->span; k++) {
            uint32_t word = (first + k) / program->units;
            if (word >= program->shared_base)
                continue;
            word = device_word(o->grid, word);
            if (word != HOST_NONE)
                access_word(o->order, o->grid->statement, word, kind);
        }
    }
}

static void see_words(void *context, uint32_t statement, uint32_t base, uint32_t words, bool writes)
{
    for (uint32_t i = 0; i < words; i++)
        access_word(context, statement, base + i, writes ? ACCESS_WRITE : ACCESS_READ);
}

struct host_order *host_order_watch(struct arena *arena, struct device *device)
{
    struct host_order *order = ARENA_NEW(arena, struct host_order);
    order->arena = arena;
    order->device = device;
    order->cells = ARENA_ARRAY(arena, struct cell,
                               (size_t)device->memory_words + device->program->host_words + 1);
    order->observers = ARENA_ARRAY(arena, struct grid_observer, device->grid_count + 1);
    order->watcher = (struct device_watcher){.context = order, .access = see_words};
    device->watcher = &order->watcher;
    for (uint32_t i = 0; i < device->grid_count; i++) {
        struct grid_observer *o = &order->observers[i];
        struct machine *machine = device->grids[i].machine;
        /* With memory=inflight the device itself hears what gets under way: it still does. */
        *o = (struct grid_observer){
            .observer = {.context = o, .access_row = see_row, .next = machine->options.observers},
            .order = order,
            .grid = &device->grids[i]};
        machine_observe(machine, &o->observer);
    }
    return order;
}

void host_order_leave(struct host_order *order)
{
    for (uint32_t i = 0; i < order->device->grid_count; i++)
        machine_observe(order->device->grids[i].machine, order->observers[i].observer.next);
    order->device->watcher = NULL;
}

/* "a[3]"; a buffer that is there when the later of two statements begins. */
static const char *word_name(const struct host_order *order, uint32_t word, uint32_t statement)
{
    const struct host_program *p = order->device->program;
    for (uint32_t i = 0; i < p->array_count; i++) {
        const struct host_array *a = &p->arrays[i];
        uint32_t base = a->base + (a->is_host ? order->device->memory_words : 0);
        bool alive =
            a->is_host || (a->made <= statement && (a->freed == HOST_NONE || a->freed > statement));
        if (alive && word - base < a->words)
            return arena_printf(order->arena, "%s[%u]", a->name, (unsigned)(word - base));
    }
    return "a variable of the kernel";
}

static const char *doing(const struct host_order *order, uint32_t statement)
{
    const struct host_statement *s = &order->device->program->statements[statement];
    return s->kind == HOST_LAUNCH ? arena_printf(order->arena, "the launch of `%s`",
                                                 order->device->program->kernels[s->kernel].name)
                                  : arena_printf(order->arena, "the %s", host_kind_names[s->kind]);
}

void host_order_tell(struct host_order *order, struct host_verdict *verdict)
{
    const struct host_statement *s = order->device->program->statements;
    for (uint32_t i = 0; i < order->race_count; i++) {
        const struct race *r = &order->races[i];
        const char *more = r->count > 1
                               ? arena_printf(order->arena, ", and %llu more words or times",
                                              (unsigned long long)r->count - 1)
                               : "";
        host_add(order->arena, verdict, FINDING_RACE, s[r->second].at.line,
                 arena_printf(order->arena,
                              "%s is accessed by %s of line %u and by %s of line %u, and nothing "
                              "orders the two%s",
                              word_name(order, r->word, r->second), doing(order, r->first),
                              (unsigned)s[r->first].at.line, doing(order, r->second),
                              (unsigned)s[r->second].at.line, more));
    }
}
