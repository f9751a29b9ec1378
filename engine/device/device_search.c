/*
 * device_search.c - all executions of a small host program: breadth first, states compared in full.
 *
 * Steps that touch nothing but a warp's registers are taken at once with the step before them: once they can be taken
 * nobody takes that away, and nobody sees them. The outcomes stay the same, the states become fewer; DEVICE_EVERY_STEP
 * searches without, and test_device_reduced compares the two. A device that keeps to one context (switch=sticky) is
 * searched step by step.
 */
#include "engine/device/device_internal.h"

#include "engine/base/invariant.h"
#include "engine/program/ptx_code.h"

#include <stdlib.h>
#include <string.h>

enum { INNER = 64, LOCAL_STEPS = 4096 };

/* Choices inside a step, each value once: the values so far, and of how many each is one. */
struct inner {
    struct choices choices; /* first member */
    uint32_t values[INNER], most[INNER], count, next;
};

struct edge {
    uint32_t from, to;
};

struct search {
    struct device *device;
    struct device_outcomes *out;
    size_t words; /* of a state */
    uint32_t *states, *table, *scratch;
    uint64_t mask, limit, count;
    struct edge *edges;
    uint64_t edge_count, edge_room;
    uint8_t *ends; /* of a state: the program can end */
    bool eager;    /* local steps are taken at once */
    bool full;
};

/* ---- states ---- */

static uint64_t hash(const uint32_t *words, size_t count)
{
    uint64_t h = 1469598103934665603U;
    for (size_t i = 0; i < count; i++) {
        h = (h ^ words[i]) * 1099511628211U;
        h ^= h >> 29;
    }
    return h;
}

static uint32_t *state_at(const struct search *s, uint64_t number)
{
    return s->states + number * s->words;
}

/* The number of the state that the device is in; a new one if it was not seen. */
static uint32_t add_state(struct search *s)
{
    device_save(s->device, s->scratch);
    uint64_t at = hash(s->scratch, s->words) & s->mask;
    for (; s->table[at]; at = (at + 1) & s->mask)
        if (!memcmp(state_at(s, s->table[at] - 1), s->scratch, 4 * s->words))
            return s->table[at] - 1;
    if (s->count == s->limit) {
        s->full = true;
        return 0;
    }
    memcpy(state_at(s, s->count), s->scratch, 4 * s->words);
    s->table[at] = (uint32_t)++s->count;
    return (uint32_t)s->count - 1;
}

static void add_edge(struct search *s, uint32_t from, uint32_t to)
{
    if (s->edge_count == s->edge_room) {
        uint64_t room = s->edge_room ? 2 * s->edge_room : 4096;
        struct edge *edges = realloc(s->edges, room * sizeof *edges);
        if (!edges) {
            s->full = true;
            return;
        }
        s->edges = edges;
        s->edge_room = room;
    }
    s->edges[s->edge_count++] = (struct edge){from, to};
}

/* ---- steps ---- */

static uint32_t choose(struct choices *choices, uint32_t n)
{
    struct inner *inner = (struct inner *)choices;
    INVARIANT(inner->next < INNER);
    if (inner->next == inner->count) {
        inner->values[inner->count] = 0;
        inner->most[inner->count++] = n;
    }
    return inner->values[inner->next++];
}

/* The next combination; false: that was the last one. */
static bool advance(struct inner *inner)
{
    inner->next = 0;
    while (inner->count > 0 && ++inner->values[inner->count - 1] == inner->most[inner->count - 1])
        inner->count--;
    return inner->count > 0;
}

/* Whether the warp's next step touches nothing but its registers. */
static bool is_local(const struct device_grid *grid, uint32_t actor)
{
    const struct ptx_code *code = grid->program->ptx;
    uint32_t pc = grid->machine->semantics->next_stm(grid->machine, actor);
    if (pc == CODE_NONE)
        return code->barriers == 0;
    const struct ptx_op *op = &code->ops[pc];
    if (op->exec == PTX_EXEC_EXIT || op->exec == PTX_EXEC_RET)
        return code->barriers == 0;
    if (op->exec == PTX_EXEC_LD || op->exec == PTX_EXEC_ST)
        return op->space == PTX_W_CONST || op->space == PTX_W_LOCAL;
    return ptx_exec_is(op->exec, PTX_OWN);
}

static bool local_step(struct device *device, struct choices *choices)
{
    for (uint32_t i = 0; i < device->grid_count; i++) {
        struct device_grid *grid = &device->grids[i];
        const struct machine_head *head = grid->machine->head;
        for (uint32_t k = 0; device_runs(device, grid) && k < head->live_count; k++)
            if (head->live[k] < grid->machine->actor_count && is_local(grid, head->live[k]) &&
                device_warp_may(device, grid, head->live[k])) {
                device_step(device, (struct device_alternative){ALTERNATIVE_WARP, i, head->live[k]},
                            choices);
                return device->head->end == END_RUNNING;
            }
    }
    return false;
}

static void take_local_steps(const struct search *s, struct choices *choices)
{
    for (int i = 0; s->eager && i < LOCAL_STEPS; i++)
        if (!local_step(s->device, choices))
            break;
}

/* ---- the search ---- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void add_outcome(struct search *s)
{
    struct device_outcomes *out = s->out;
    const char *text = device_outcome(s->device->arena, s->device);
    const uint32_t most = sizeof out->texts / sizeof *out->texts;
    out->failed += s->device->head->failed != 0;
    for (uint32_t i = 0; i < out->count; i++)
        if (strcmp(out->texts[i], text) == 0)
            return;
    if (out->count < most)
        out->texts[out->count++] = text;
    else
        out->cut = true;
}

static void expand(struct search *s, uint32_t from)
{
    struct device *device = s->device;
    device_load(device, state_at(s, from));
    enum device_end end = device_ended(device);
    if (end == END_DONE) {
        s->ends[from] = 1;
        add_outcome(s);
    }
    s->out->stuck += end == END_STUCK;
    s->out->faults += end == END_FAULT;
    if (end != END_RUNNING && end != END_DONE)
        return;
    struct device_alternative *list = malloc((device_look(device) + 1) * sizeof *list);
    uint32_t count = device->alternative_count;
    if (!list) {
        s->full = true;
        return;
    }
    memcpy(list, device->alternatives, count * sizeof *list);
    for (uint32_t i = 0; i < count && !s->full; i++) {
        struct inner inner = {.choices = {.choose = choose}};
        do {
            device_load(device, state_at(s, from));
            device_step(device, list[i], &inner.choices);
            take_local_steps(s, &inner.choices);
            uint32_t to = add_state(s);
            s->out->transitions++;
            if (to != from)
                add_edge(s, from, to);
        } while (!s->full && advance(&inner));
    }
    free(list);
}

/* States from which no end can be reached. */
static uint64_t count_lost(struct search *s)
{
    for (bool more = true; more;) {
        more = false;
        for (uint64_t i = s->edge_count; i-- > 0;)
            if (s->ends[s->edges[i].to] && !s->ends[s->edges[i].from]) {
                s->ends[s->edges[i].from] = 1;
                more = true;
            }
    }
    uint64_t lost = 0;
    for (uint64_t i = 0; i < s->count; i++)
        lost += !s->ends[i];
    return lost;
}

void device_search(struct device *device, uint64_t limit, enum device_reduction reduction,
                   struct device_outcomes *outcomes)
{
    struct search s = {.device = device,
                       .out = outcomes,
                       .limit = limit,
                       .words = device_state_words(device),
                       .eager = reduction == DEVICE_EAGER && !device->options.sticky};
    struct inner none = {.choices = {.choose = choose}};
    uint64_t slots = 1;
    *outcomes = (struct device_outcomes){.cut = false};
    if (limit * s.words > ((uint64_t)1 << 28))
        s.limit = ((uint64_t)1 << 28) / s.words;
    while (slots < 2 * s.limit)
        slots *= 2;
    s.mask = slots - 1;
    s.states = malloc(4 * s.words * s.limit);
    s.table = calloc(slots, sizeof *s.table);
    s.scratch = malloc(4 * s.words);
    s.ends = calloc(s.limit + 1, 1);
    device_reset(device);
    s.full = !s.states || !s.table || !s.scratch || !s.ends;
    if (!s.full) {
        take_local_steps(&s, &none.choices);
        add_state(&s);
        for (uint32_t i = 0; i < s.count && !s.full; i++)
            expand(&s, i);
        outcomes->lost = count_lost(&s);
    }
    outcomes->cut |= s.full;
    outcomes->states = s.count;
    qsort(outcomes->texts, outcomes->count, sizeof *outcomes->texts, by_text);
    free(s.states);
    free(s.table);
    free(s.scratch);
    free(s.ends);
    free(s.edges);
}
