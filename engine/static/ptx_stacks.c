#include "engine/static/ptx_stacks.h"

/* A token is popped with this below it; MARK: lanes may wait for what is below it. */
enum { MARK = PTX_POP_COUNT };

struct ptx_pop_task {
    struct ptx_token_node *node, *below;
    uint32_t why;
    struct ptx_pop_task *next;
};

void ptx_stacks_init(struct ptx_stacks *s, struct arena *arena, uint32_t count, uint32_t most)
{
    *s = (struct ptx_stacks){.arena = arena, .count = count, .most = most, .room = 64};
    s->nodes.arena = s->links.arena = s->states.arena = arena;
    s->items = ARENA_ARRAY(arena, struct ptx_token_node *, s->room);
    s->last = &s->first;
}

/* ---- nodes ---- */

static struct ptx_token_node *new_node(struct ptx_stacks *s, uint32_t type, uint32_t pc)
{
    struct ptx_token_node *node = ARENA_NEW(s->arena, struct ptx_token_node);
    node->type = type;
    node->pc = pc;
    node->number = s->nodes.count - 1;
    if (node->number == s->room) {
        struct ptx_token_node **more = ARENA_ARRAY(s->arena, struct ptx_token_node *, 2 * s->room);
        for (uint32_t i = 0; i < s->room; i++)
            more[i] = s->items[i];
        s->items = more;
        s->room *= 2;
    }
    s->items[node->number] = node;
    return node;
}

static struct ptx_token_node *node_of(struct ptx_stacks *s, uint32_t type, uint32_t pc,
                                      uint32_t landing)
{
    static const char key;
    bool is_new;
    uint64_t sub = (uint64_t)type << 56 | (uint64_t)(landing & 0xfffffff) << 28 | (pc & 0xfffffff);
    uint32_t *number = ptx_map_add(&s->nodes, &key, sub, &is_new);
    if (!is_new)
        return s->items[*number];
    *number = s->nodes.count - 1;
    return new_node(s, type, pc);
}

struct ptx_token_node *ptx_stacks_bottom(struct ptx_stacks *s, uint32_t type)
{
    return node_of(s, type, 0, 0);
}

/* ---- popping ---- */

static void add_task(struct ptx_stacks *s, struct ptx_token_node *node,
                     struct ptx_token_node *below, uint32_t why)
{
    struct ptx_pop_task *task = ARENA_NEW(s->arena, struct ptx_pop_task);
    *task = (struct ptx_pop_task){node, below, why, s->tasks};
    s->tasks = task;
}

void ptx_stacks_pop(struct ptx_stacks *s, struct ptx_token_node *node, enum ptx_pop why)
{
    if (node->popped[why])
        return;
    node->popped[why] = true;
    for (const struct ptx_token_edge *e = node->edges; e; e = e->next)
        add_task(s, node, e->below, why);
}

/* Lanes have executed the sync that belongs to the first sync token from here on. */
static void mark_waiting(struct ptx_stacks *s, struct ptx_token_node *node)
{
    if (node->type == CRS_SYNC && !node->waits) {
        node->waits = true;
        for (uint32_t why = PTX_POP_BREAK; why < PTX_POP_COUNT; why++)
            for (const struct ptx_token_edge *e = node->edges; e && node->popped[why]; e = e->next)
                add_task(s, node, e->below, why);
    } else if (node->type == CRS_DIVERGE && !node->marked) {
        node->marked = true;
        for (const struct ptx_token_edge *e = node->edges; e; e = e->next)
            add_task(s, node, e->below, MARK);
    }
}

/* Whether lanes of the token go on when all active ones have left: for sure, perhaps, or not. */
enum waiting { WAIT_NOT, WAIT_PERHAPS, WAIT_SURELY };

static enum waiting waiting_for(const struct ptx_token_node *node, enum ptx_pop why)
{
    if (node->given)
        return WAIT_PERHAPS;
    if (node->type == CRS_DIVERGE || why == PTX_POP_SYNC ||
        (node->type == CRS_BREAK && why == PTX_POP_BREAK) ||
        (node->type == CRS_CALL && why == PTX_POP_RET))
        return WAIT_SURELY;
    if (node->type == CRS_SYNC)
        return node->waits ? WAIT_PERHAPS : WAIT_NOT;
    return WAIT_PERHAPS;
}

static void do_task(struct ptx_stacks *s, const struct ptx_pop_task *task)
{
    if (task->why == MARK) {
        mark_waiting(s, task->below);
        return;
    }
    enum waiting waiting = waiting_for(task->node, (enum ptx_pop)task->why);
    if (task->why == PTX_POP_SYNC && task->node->type == CRS_DIVERGE)
        mark_waiting(s, task->below);
    if (waiting != WAIT_NOT)
        ptx_stacks_go(s, task->node->pc, task->below);
    if (waiting != WAIT_SURELY)
        ptx_stacks_pop(s, task->below, (enum ptx_pop)task->why);
}

struct ptx_token_node *ptx_stacks_push(struct ptx_stacks *s, struct ptx_token_node *below,
                                       uint32_t type, uint32_t pc, uint32_t landing)
{
    struct ptx_token_node *node = node_of(s, type, pc, landing);
    bool is_new;
    ptx_map_add(&s->links, node, below->number, &is_new);
    if (!is_new)
        return node;
    struct ptx_token_edge *edge = ARENA_NEW(s->arena, struct ptx_token_edge);
    *edge = (struct ptx_token_edge){below, node->edges};
    node->edges = edge;
    for (uint32_t why = 0; why < PTX_POP_COUNT; why++)
        if (node->popped[why])
            add_task(s, node, below, why);
    if (node->marked)
        add_task(s, node, below, MARK);
    return node;
}

/* ---- states ---- */

void ptx_stacks_go(struct ptx_stacks *s, uint32_t pc, struct ptx_token_node *top)
{
    bool is_new;
    if (pc == 0 || pc > s->count) {
        s->out_of_code = true;
        return;
    }
    if (s->states.count >= s->most) {
        s->too_many = true;
        return;
    }
    ptx_map_add(&s->states, top, pc, &is_new);
    if (!is_new)
        return;
    struct ptx_stack_state *state = ARENA_NEW(s->arena, struct ptx_stack_state);
    *state = (struct ptx_stack_state){pc, top, NULL};
    *s->last = state;
    s->last = &state->next;
}

const struct ptx_stack_state *ptx_stacks_next(struct ptx_stacks *s)
{
    while (s->tasks) {
        const struct ptx_pop_task *task = s->tasks;
        s->tasks = task->next;
        do_task(s, task);
    }
    struct ptx_stack_state *next = s->done ? s->done->next : s->first;
    if (next)
        s->done = next;
    return next;
}

/* ---- walks ---- */

/* The nodes that a walk has still to look at. */
struct walk {
    const struct ptx_token_node **waiting;
    uint32_t count;
};

static void come_to(struct ptx_stacks *s, struct walk *walk, const struct ptx_token_node *node)
{
    if (s->stamp[node->number] == s->walk)
        return;
    s->stamp[node->number] = s->walk;
    walk->waiting[walk->count++] = node;
}

static struct walk start_walk(struct ptx_stacks *s, const struct ptx_token_node *top)
{
    if (!s->stamp) {
        s->stamp = ARENA_ARRAY(s->arena, uint32_t, s->nodes.count + 1);
        s->queue = ARENA_ARRAY(s->arena, const struct ptx_token_node *, s->nodes.count + 1);
    }
    s->walk++;
    struct walk walk = {s->queue, 0};
    come_to(s, &walk, top);
    return walk;
}

static void go_below(struct ptx_stacks *s, struct walk *walk, const struct ptx_token_node *node)
{
    for (const struct ptx_token_edge *e = node->edges; e; e = e->next)
        come_to(s, walk, e->below);
}

bool ptx_stacks_sync_below(struct ptx_stacks *s, const struct ptx_token_node *top, uint32_t pc,
                           bool *strict)
{
    struct walk walk = start_walk(s, top);
    bool good = true;
    *strict = true;
    while (walk.count > 0 && good) {
        const struct ptx_token_node *node = walk.waiting[--walk.count];
        if (node->type == CRS_DIVERGE) {
            for (const struct ptx_token_edge *e = node->edges; e; e = e->next)
                *strict &= e->below->type != CRS_DIVERGE; /* another one like it, too */
            go_below(s, &walk, node);
        } else {
            good = node->type == CRS_SYNC && node->pc == pc;
        }
    }
    return good;
}

bool ptx_stacks_lacks(struct ptx_stacks *s, const struct ptx_token_node *top, uint32_t type,
                      uint32_t bottom)
{
    struct walk walk = start_walk(s, top);
    bool lacks = false;
    while (walk.count > 0 && !lacks) {
        const struct ptx_token_node *node = walk.waiting[--walk.count];
        lacks = node->type == bottom;
        if (node->type != type)
            go_below(s, &walk, node);
    }
    return lacks;
}

bool ptx_stacks_holds(struct ptx_stacks *s, const struct ptx_token_node *top, uint32_t pc)
{
    struct walk walk = start_walk(s, top);
    bool holds = false;
    while (walk.count > 0 && !holds) {
        const struct ptx_token_node *node = walk.waiting[--walk.count];
        holds = (node->type == CRS_SYNC || node->type == CRS_BREAK) && node->pc == pc;
        if (node->type != CRS_CALL)
            go_below(s, &walk, node);
    }
    return holds;
}
