#include "fuzz/exec/order.h"

#include "engine/base/invariant.h"
#include "fuzz/out/demangle.h"

#include <stdlib.h>
#include <string.h>

struct order_lane {
    uint64_t id;
    uint32_t
        *clock; /* by number of lane: so many of its operations came before what comes next here */
    uint32_t room;
};

/* Where a program asks for an operation. */
struct order_site {
    const char *name; /* of the kernel, or of the function */
    bool is_launch;
    struct device_launch launch; /* of a copy only the stack */
    struct order_site *next;
};

struct order_operation {
    uint32_t lane, time;
    struct order_site *site;
};

/* What an operation does to a word. */
struct order_manner {
    bool reads, writes;
    bool strong; /* atomics and their like only */
};

/* Of a word: numbers of operations, 2 n + 1 where the access was strong; 0: none. */
struct order_word {
    uint32_t write, reads[2];
};

enum { PARTNERS = 8 };

struct order_partner { /* whom the operation that is looked at meets */
    uint32_t operation;
    bool wrote, writes;
    const struct device_buffer *buffer;
    uint64_t byte, count; /* the first one; words */
    uint32_t stm;         /* of a launch */
};

struct order {
    struct order_lane *lanes;
    uint32_t lane_count, lane_room;
    struct order_operation *operations; /* from 1 */
    uint32_t operation_count, operation_room;
    struct order_site *sites;
    struct order_partner partners[PARTNERS];
    uint32_t partner_count;
};

/* ---- lanes ---- */

/* *room is enough for so many, the new ones zeros. */
static void *grown(void *at, uint32_t *room, uint32_t wanted, size_t each)
{
    uint32_t more = *room ? *room : 16;
    if (wanted <= *room)
        return at;
    while (more < wanted)
        more *= 2;
    char *new = realloc(at, more * each);
    INVARIANT(new);
    memset(new + *room *each, 0, (more - *room) * each);
    *room = more;
    return new;
}

static uint32_t lane_number(struct order *order, uint64_t id)
{
    for (uint32_t i = order->lane_count; i-- > 0;)
        if (order->lanes[i].id == id)
            return i;
    order->lanes =
        grown(order->lanes, &order->lane_room, order->lane_count + 1, sizeof *order->lanes);
    order->lanes[order->lane_count].id = id;
    return order->lane_count++;
}

static uint32_t *clock_of(struct order *order, uint32_t number)
{
    struct order_lane *lane = &order->lanes[number];
    lane->clock = grown(lane->clock, &lane->room, order->lane_count, sizeof *lane->clock);
    return lane->clock;
}

static void join(struct order *order, uint32_t to, uint32_t from)
{
    uint32_t *a = clock_of(order, to);
    const uint32_t *b = clock_of(order, from);
    for (uint32_t i = 0; i < order->lane_count; i++)
        a[i] = a[i] < b[i] ? b[i] : a[i];
}

void order_tell(struct device *device, const struct device_order *told)
{
    if (!device->order)
        device->order = ARENA_NEW(&device->arena, struct order);
    struct order *order = device->order;
    const uint32_t to = lane_number(order, told->to);
    const uint32_t from = told->kind == DEVICE_ORDER_JOIN_ALL ? to : lane_number(order, told->from);
    if (told->kind == DEVICE_ORDER_RECORD)
        memset(clock_of(order, to), 0, order->lane_count * sizeof(uint32_t));
    for (uint32_t i = 0; told->kind == DEVICE_ORDER_JOIN_ALL && i < order->lane_count; i++)
        join(order, to, i);
    join(order, to, from);
}

void order_end(struct device *device)
{
    struct order *order = device->order;
    for (uint32_t i = 0; order && i < order->lane_count; i++)
        free(order->lanes[i].clock);
    for (struct device_buffer *b = device->buffers; b; b = b->next)
        free(b->accesses);
    if (order) {
        free(order->lanes);
        free(order->operations);
    }
}

/* ---- operations ---- */

static bool is_same_stack(const struct device_stack *a, const struct device_stack *b)
{
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->frames[i].offset != b->frames[i].offset ||
            strcmp(a->frames[i].name, b->frames[i].name) != 0)
            return false;
    return true;
}

static struct order_site *site_of(struct device *device, const char *name, bool is_launch,
                                  const struct device_launch *launch)
{
    struct order *order = device->order;
    struct order_site *site = order->sites;
    while (site && !(site->is_launch == is_launch && strcmp(site->name, name) == 0 &&
                     is_same_stack(&site->launch.stack, &launch->stack)))
        site = site->next;
    if (!site) {
        site = ARENA_NEW(&device->arena, struct order_site);
        *site = (struct order_site){arena_strndup(&device->arena, name, strlen(name)), is_launch,
                                    *launch, order->sites};
        order->sites = site;
    }
    return site;
}

static void begin(struct device *device, uint64_t lane, struct order_site *site)
{
    struct order *order = device->order;
    const uint32_t number = lane_number(order, lane);
    order->operations = grown(order->operations, &order->operation_room, order->operation_count + 2,
                              sizeof *order->operations);
    order->operations[++order->operation_count] =
        (struct order_operation){number, ++clock_of(order, number)[number], site};
    order->partner_count = 0;
}

/* ---- words ---- */

/* What a lane did comes before what it does now. */
static bool is_unordered(struct order *order, uint32_t tag, bool strong)
{
    const uint32_t now = order->operations[order->operation_count].lane;
    const struct order_operation *other = &order->operations[tag / 2];
    if (tag == 0 || (strong && tag % 2 == 1) || other->lane == now)
        return false;
    return other->time > clock_of(order, now)[other->lane];
}

static void note(struct order *order, uint32_t tag, const struct order_partner *met)
{
    struct order_partner *p = order->partners;
    while (p < order->partners + order->partner_count &&
           (p->operation != tag / 2 || p->wrote != met->wrote || p->writes != met->writes))
        p++;
    if (p == order->partners + PARTNERS)
        return;
    if (p == order->partners + order->partner_count) {
        *p = *met;
        p->operation = tag / 2;
        order->partner_count++;
    }
    p->count++;
}

/* The operation of now accesses a word of the buffer. */
static void visit(struct order *order, struct device_buffer *buffer, uint64_t word,
                  const struct order_manner *m, uint32_t stm)
{
    const uint32_t now = order->operation_count, tag = 2 * now + m->strong;
    struct order_word *w = &buffer->accesses[word];
    struct order_partner met = {
        .wrote = true, .writes = m->writes, .buffer = buffer, .byte = 4 * word, .stm = stm};
    if (is_unordered(order, w->write, m->strong))
        note(order, w->write, &met);
    met.wrote = false;
    for (uint32_t i = 0; i < 2 && m->writes; i++)
        if (is_unordered(order, w->reads[i], m->strong))
            note(order, w->reads[i], &met);
    if (m->writes)
        w->write = tag;
    if (!m->reads)
        return;
    if (order->operations[w->reads[0] / 2].lane != order->operations[now].lane)
        w->reads[1] = w->reads[0];
    w->reads[0] = tag;
}

static bool has_accesses(struct device_buffer *buffer)
{
    if (!buffer->accesses)
        buffer->accesses = calloc(buffer->at.bytes / 4 + 1, sizeof *buffer->accesses);
    return buffer->accesses != NULL;
}

/* ---- words for people ---- */

static const char *site_text(struct arena *arena, const struct device *device,
                             const struct order_site *site, const char **source)
{
    const char *kernel = site->is_launch ? demangle_text(arena, site->name) : "";
    const char *stack = host_stack(arena, device, &site->launch.stack, kernel, source);
    if (site->is_launch)
        return device_launch_text(arena, device, &site->launch, site->name);
    return arena_printf(arena, "%s%s%s", site->name, stack ? ", called by " : "",
                        stack ? stack : "");
}

static const char *verb(const struct order_site *site, bool writes)
{
    const char *function = site->is_launch ? "" : site->name;
    return strstr(function, "MallocAsync") ? "allocated"
           : strstr(function, "FreeAsync") ? "freed"
           : writes                        ? "written"
                                           : "read";
}

static void tell_partners(struct device *device, struct arena *arena, const struct launch *launch)
{
    struct order *order = device->order;
    const struct order_operation *now = &order->operations[order->operation_count];
    for (uint32_t i = 0; i < order->partner_count; i++) {
        const struct order_partner *p = &order->partners[i];
        const struct order_operation *other = &order->operations[p->operation];
        struct launch_finding finding = {.kind = LAUNCH_RACE, .count = p->count};
        const char *text = site_text(arena, device, now->site, &finding.sources[0]);
        const char *others = site_text(arena, device, other->site, &finding.sources[1]);
        const char *at = launch ? launch_source(arena, launch->program, p->stm) : NULL;
        const char *slash = at ? strrchr(at, '/') : NULL;
        finding.text =
            arena_printf(arena,
                         "byte %llu of %s is %s by it%s%s, and was %s by %s: no stream, event or "
                         "synchronisation orders the two",
                         (unsigned long long)p->byte, p->buffer->name, verb(now->site, p->writes),
                         at ? " at " : "",
                         slash ? slash + 1
                         : at  ? at
                               : "",
                         verb(other->site, p->wrote), others);
        device_found(device, arena, text, now->site->name, &finding);
    }
}

/* ---- copies and sets ---- */

static void touch(struct device *device, uint64_t address, uint64_t bytes, bool writes)
{
    const struct order_manner manner = {.reads = !writes, .writes = writes};
    struct device_buffer *b = address ? device_buffer_at(device, address) : NULL;
    if (!b || bytes > b->at.bytes - (address - b->at.address) || !has_accesses(b))
        return;
    const uint64_t at = address - b->at.address, end = (at + bytes) / 4;
    for (uint64_t word = (at + 3) / 4; word < end; word++)
        visit(device->order, b, word, &manner, 0);
}

void order_touched(struct device *device, const struct device_touched *touched)
{
    if (!device->order)
        return;
    struct device_launch *launch = calloc(1, sizeof *launch);
    if (!launch)
        return;
    launch->stack = touched->stack;
    begin(device, touched->lane, site_of(device, touched->name, false, launch));
    touch(device, touched->from, touched->bytes, false);
    touch(device, touched->to, touched->bytes, true);
    tell_partners(device, &device->arena, NULL);
    free(launch);
}

/* ---- launches ---- */

void order_launch_begin(struct device *device, const struct device_launch *launch, const char *name)
{
    if (device->order)
        begin(device, launch->lane, site_of(device, name, true, launch));
}

/* What the launch did to a location; *stm: a statement that did it, of a write if there is one. */
static struct order_manner manner_at(const struct launch_race *race, uint32_t location,
                                     uint32_t *stm)
{
    const struct launch_slot read = launch_slot_at(race, LAUNCH_READ, location);
    const struct launch_slot write = launch_slot_at(race, LAUNCH_WRITE, location);
    struct order_manner m = {.reads = read.thread != 0, .writes = write.thread != 0};
    *stm = write.thread ? write.stm : read.stm;
    const bool plain = m.reads || m.writes;
    for (enum launch_kept i = LAUNCH_STRONG; i < LAUNCH_KEPT; i++) {
        const struct launch_slot strong = launch_slot_at(race, i, location);
        if (strong.thread == 0)
            continue;
        m.strong = !plain;
        m.reads |= race->manners[strong.stm].reads;
        m.writes |= race->manners[strong.stm].writes;
        *stm = *stm ? *stm : strong.stm;
    }
    return m;
}

void order_launch_region(struct device *device, const struct launch *launch,
                         const struct ptx_region *region, struct device_buffer *buffer)
{
    const struct launch_race *race = launch->race;
    const uint32_t units = launch->program->units;
    if (!device->order || !has_accesses(buffer))
        return;
    for (uint32_t word = 0; word < region->bytes / 4; word++) {
        const uint32_t first = (region->word + word) * units;
        struct order_manner all = {.strong = true};
        bool whole = true;
        uint32_t stm = 0, one;
        if (!(race->chunks[first / LAUNCH_CHUNK] & LAUNCH_TOUCHED)) {
            word += (LAUNCH_CHUNK - first % LAUNCH_CHUNK - 1) / units;
            continue;
        }
        for (uint32_t l = first; l < first + units; l++) {
            const struct order_manner m = manner_at(race, l, &one);
            whole &= m.reads || m.writes;
            all.reads |= m.reads;
            all.writes |= m.writes;
            all.strong &= m.strong;
            stm = stm ? stm : one;
        }
        if (whole)
            visit(device->order, buffer, word, &all, stm);
    }
}

void order_launch_end(struct device *device, struct arena *arena, const struct launch *launch)
{
    if (device->order)
        tell_partners(device, arena, launch);
}
