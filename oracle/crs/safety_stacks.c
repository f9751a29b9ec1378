/*
 * safety_stacks.c - the graph of all token stacks (engine/static/ptx_stacks.h): tokens are put on each other, popped,
 * and waited for in an order that is drawn. What follows must not depend on the order: it is what the definition
 * (engine/reference_ptx/ref_paths.h) gives of all of it at once.
 */
#include "engine/base/pcg.h"
#include "engine/reference_ptx/ref_paths.h"
#include "engine/static/ptx_stacks.h"
#include "oracle/crs/safety_paths.h"

enum { TOKENS = 8, DEEDS = 14, ADDRESSES = 5, STATES = 1 << 10 };

struct stacking {
    struct pcg rng;
    struct ptx_stacks stacks;
    struct ptx_token_node *node[TOKENS]; /* as they are numbered there */
    struct ref_path_program program;
    struct ref_paths paths;
};

/* One token more on top of another one, or of the same kind as one that is there. */
static void push(struct stacking *s)
{
    uint32_t below = pcg_below(&s->rng, s->paths.token_count), type = pcg_below(&s->rng, 5),
             pc = 1 + pcg_below(&s->rng, 3), landing = 1 + pcg_below(&s->rng, 2);
    type = type == 4 ? REF_PATH_TYPE_DIVERGE : type;
    bool full = s->paths.token_count == TOKENS;
    if (full)
        return;
    uint32_t token = ref_paths_push(&s->paths, below, (enum ref_path_type)type, pc, landing);
    s->node[token] = ptx_stacks_push(&s->stacks, s->node[below], type, pc, landing);
}

static void pop(struct stacking *s)
{
    uint32_t token = pcg_below(&s->rng, s->paths.token_count),
             why = pcg_below(&s->rng, REF_POP_COUNT);
    s->paths.popped[why][token] = true;
    ptx_stacks_pop(&s->stacks, s->node[token], (enum ptx_pop)why);
}

static void take_all(struct stacking *s)
{
    while (ptx_stacks_next(&s->stacks))
        ;
}

static const char *compare(const struct stacking *s)
{
    uint32_t count = 0;
    for (const struct ptx_stack_state *state = s->stacks.first; state; state = state->next, count++)
        for (uint32_t t = 0; t < s->paths.token_count; t++)
            if (s->node[t] == state->top && !s->paths.at[state->pc][t])
                return "states of stacks";
    if (count != ref_paths_states(&s->paths) || s->stacks.nodes.count != s->paths.token_count)
        return "states of stacks";
    for (uint32_t t = 0; t < s->paths.token_count; t++) {
        enum ref_path_type type = s->paths.token[t].type;
        for (uint32_t why = 0; why < REF_POP_COUNT; why++)
            if (s->node[t]->popped[why] != s->paths.popped[why][t])
                return "tokens that are popped";
        if ((type == REF_PATH_TYPE_SYNC && s->node[t]->waits != s->paths.marked[t]) ||
            (type == REF_PATH_TYPE_DIVERGE && s->node[t]->marked != s->paths.marked[t]))
            return "tokens that are waited for";
    }
    return NULL;
}

struct paths_fault safety_stacks(struct arena *arena, uint64_t seed)
{
    struct stacking *s = ARENA_NEW(arena, struct stacking);
    pcg_seed(&s->rng, seed, 2);
    s->program = (struct ref_path_program){.is_entry = true, .count = ADDRESSES};
    ref_paths_begin(&s->paths, &s->program);
    ptx_stacks_init(&s->stacks, arena, ADDRESSES, STATES);
    s->node[0] = ptx_stacks_bottom(&s->stacks, PTX_STACK_BOTTOM);
    for (uint32_t i = 0; i < DEEDS; i++) {
        if (pcg_below(&s->rng, 3))
            push(s);
        else
            pop(s);
        if (pcg_below(&s->rng, 3) == 0)
            take_all(s);
    }
    take_all(s);
    ref_paths_close(&s->paths);
    return (struct paths_fault){
        .part = compare(s),
        .why = "tokens that are put on each other and popped in some order: what follows is not "
               "what the definition gives"};
}
