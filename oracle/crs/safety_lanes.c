#include "oracle/crs/safety_lanes.h"

struct safety_lanes *safety_lanes_new(struct arena *arena, uint32_t count, uint32_t capacity)
{
    struct safety_lanes *lanes = ARENA_NEW(arena, struct safety_lanes);
    lanes->count = count;
    lanes->capacity = capacity;
    lanes->pcs = ARENA_ARRAY(arena, uint32_t, 64);
    lanes->heights = ARENA_ARRAY(arena, uint32_t, 64);
    lanes->calls = ARENA_ARRAY(arena, uint32_t, 64);
    lanes->frames = ARENA_ARRAY(arena, uint32_t, 64);
    lanes->entries = ARENA_ARRAY(arena, uint32_t, (size_t)count * capacity + 1);
    return lanes;
}

static uint32_t entry_of(enum crs_token_type type, uint32_t address)
{
    return address * 2 + (type == CRS_CALL);
}

static bool is_call(uint32_t entry)
{
    return entry & 1;
}

static void push(struct safety_lanes *lanes, uint32_t lane, enum crs_token_type type,
                 uint32_t address)
{
    if (lanes->heights[lane] == lanes->capacity) {
        lanes->overflow = true;
        return;
    }
    lanes->entries[lane * lanes->capacity + lanes->heights[lane]++] = entry_of(type, address);
    lanes->calls[lane] += type == CRS_CALL;
}

/* Down to the topmost entry of the type, and it. */
static void drop(struct safety_lanes *lanes, uint32_t lane, enum crs_token_type type)
{
    const uint32_t *entries = &lanes->entries[lane * lanes->capacity];
    bool found = false;
    while (!found && lanes->heights[lane] > 0) {
        uint32_t entry = entries[--lanes->heights[lane]];
        found = is_call(entry) == (type == CRS_CALL);
        lanes->calls[lane] -= is_call(entry);
        lanes->left_function |= is_call(entry) && type == CRS_BREAK;
    }
}

void safety_lanes_start(struct safety_lanes *lanes, const struct crs_state *s,
                        const struct crs_token *tokens)
{
    lanes->overflow = lanes->left_function = false;
    for (uint32_t lane = 0; lane < lanes->count; lane++) {
        lanes->pcs[lane] = (s->active >> lane) & 1 ? s->pc : 0;
        lanes->heights[lane] = lanes->calls[lane] = 0;
        for (uint32_t i = 0; i < s->depth; i++)
            if ((tokens[i].type == CRS_BREAK || tokens[i].type == CRS_CALL) &&
                (tokens[i].mask >> lane) & 1)
                push(lanes, lane, (enum crs_token_type)tokens[i].type, tokens[i].pc);
        lanes->frames[lane] = lanes->calls[lane];
    }
}

/* CHK.topmost: address of the topmost token of a type; 0: there is none. */
static uint32_t topmost(const struct crs_token *tokens, uint32_t depth, enum crs_token_type type)
{
    for (uint32_t i = depth; i-- > 0;)
        if (tokens[i].type == type)
            return tokens[i].pc;
    return 0;
}

/*  CHK.branch      action                                       the lane's next pc
 *
 *      none, comm, mem, ssy, preRet, preBrk, sync               pc+1
 *      break                                                    topmost(τ, break).pc
 *      return                                                   topmost(τ, call).pc
 *      exit                                                     ε
 *      bra wl t, call wl t                                      t
 */
static uint32_t branch(const struct safety_step *step, const struct crs_token *tokens,
                       uint32_t depth)
{
    if (step->exec == PTX_EXEC_BREAK)
        return topmost(tokens, depth, CRS_BREAK);
    if (step->exec == PTX_EXEC_RET)
        return topmost(tokens, depth, CRS_CALL);
    if (step->exec == PTX_EXEC_EXIT)
        return 0;
    return step->pc + 1;
}

static void act_privately(struct safety_lanes *lanes, uint32_t lane, const struct safety_step *step)
{
    if (step->exec == PTX_EXEC_PREBRK)
        push(lanes, lane, CRS_BREAK, step->address);
    else if (step->exec == PTX_EXEC_PRERET)
        push(lanes, lane, CRS_CALL, step->address);
    else if (step->exec == PTX_EXEC_BREAK)
        drop(lanes, lane, CRS_BREAK);
    else if (step->exec == PTX_EXEC_RET)
        drop(lanes, lane, CRS_CALL);
    if (step->exec == PTX_EXEC_CALL)
        lanes->frames[lane]++;
    else if (lanes->frames[lane] > lanes->calls[lane])
        lanes->frames[lane] = lanes->calls[lane];
}

/*  CHK.step    active, guard true:  CHK.branch      active, guard false:  pc+1      inactive:  pc */
void safety_lanes_step(struct safety_lanes *lanes, const struct safety_step *step,
                       const struct crs_token *tokens, uint32_t depth)
{
    bool to_targets = step->exec == PTX_EXEC_BRA || step->exec == PTX_EXEC_CALL;
    uint32_t next = branch(step, tokens, depth);
    if (!ptx_is_flow(step->exec) && __builtin_popcountll(step->active) == (int)lanes->count) {
        for (uint32_t lane = 0; lane < lanes->count; lane++)
            lanes->pcs[lane] = next; /* pc+1, guard or not */
        return;
    }
    for (lane_mask rest = step->active; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctzll(rest);
        bool executes = (step->executing >> lane) & 1;
        lanes->pcs[lane] = !executes ? step->pc + 1 : to_targets ? step->targets[lane] : next;
        if (executes && ptx_is_flow(step->exec))
            act_privately(lanes, lane, step);
    }
}

void safety_lanes_reset(struct safety_lanes *lanes, const struct safety_step *step,
                        lane_mask active_after)
{
    lane_mask X = step->executing;
    bool several = false;
    if ((step->exec != PTX_EXEC_BRA && step->exec != PTX_EXEC_CALL) || X == 0)
        return;
    for (lane_mask rest = X; rest; rest &= rest - 1)
        several |= step->targets[__builtin_ctzll(rest)] != step->targets[__builtin_ctzll(X)];
    if (!several)
        return;
    for (lane_mask rest = step->active & ~active_after; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctzll(rest);
        lanes->pcs[lane] = step->pc;
        lanes->frames[lane] -= step->exec == PTX_EXEC_CALL && ((X >> lane) & 1);
    }
}

bool safety_lanes_paired(const struct safety_lanes *lanes, lane_mask set)
{
    for (; set; set &= set - 1) {
        uint32_t lane = (uint32_t)__builtin_ctzll(set);
        if (lanes->frames[lane] + 1 != lanes->calls[lane])
            return false;
    }
    return true;
}

/* The tokens for break and call that have the lane are the entries of its private stack. */
static bool lane_private(const struct safety_lanes *lanes, const struct crs_token *tokens,
                         uint32_t depth, uint32_t lane)
{
    const uint32_t *entries = &lanes->entries[lane * lanes->capacity];
    uint32_t height = 0;
    for (uint32_t i = 0; i < depth; i++) {
        const struct crs_token *t = &tokens[i];
        if ((t->type != CRS_BREAK && t->type != CRS_CALL) || !((t->mask >> lane) & 1))
            continue;
        if (height == lanes->heights[lane] ||
            entries[height] != entry_of((enum crs_token_type)t->type, t->pc))
            return false;
        height++;
    }
    return height == lanes->heights[lane];
}

bool safety_lanes_private(const struct safety_lanes *lanes, const struct crs_token *tokens,
                          uint32_t depth, lane_mask set)
{
    for (; set; set &= set - 1)
        if (!lane_private(lanes, tokens, depth, (uint32_t)__builtin_ctzll(set)))
            return false;
    return true;
}
