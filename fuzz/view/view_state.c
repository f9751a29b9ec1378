/*
 * view_state.c - how an actor stands after a step: the letters of its threads, and its stack. A stack is a number: that
 * of its topmost entry and what lies below it, so that what stays is said once.
 */
#include "engine/blocks/lockstep.h"
#include "engine/convergence/convergence.h"
#include "engine/crs/crs.h"
#include "fuzz/trace/trace_blocks.h"
#include "fuzz/trace/trace_crs.h"
#include "fuzz/view/view_internal.h"
#include "fuzz/view/view_letters.h"

#include <inttypes.h>
#include <string.h>

static bool is_convergence(const struct view_recorder *r)
{
    return r->machine->semantics->stack_of != NULL;
}

/* ---- stacks ---- */

/* What makes one entry of a stack another than another one. */
struct entry_key {
    uint32_t kind, number, bits;
    uint32_t text; /* number + 1 in the pool of texts; 0: what kind and number say */
    lane_mask mask;
};

#define NONE UINT32_MAX

static const char *entry_text(struct view_recorder *r, const char *kind,
                              const struct entry_key *key, const char *says)
{
    struct arena *a = r->scratch;
    const char *mask =
        key->bits ? arena_printf(a, "\"%s\"", trace_mask(&r->text, key->mask, key->bits)) : "null";
    const char *stm = key->number == NONE ? "null" : arena_printf(a, "%" PRIu32, key->number);
    return arena_printf(a, "[\"%s\",%s,%s,%s]", kind, mask, stm, view_quoted(a, says));
}

/* The stack with this entry on top; 0 is the empty one. */
static uint32_t push(struct view_recorder *r, uint32_t below, const char *kind,
                     struct entry_key key, const char *says)
{
    bool fresh;
    uint32_t entry = view_pool_find(&r->entries, &key, sizeof key, &fresh);
    if (fresh)
        view_pool_say(&r->entries, entry_text(r, kind, &key, says));
    uint32_t pair[2] = {entry, below};
    uint32_t node = view_pool_find(&r->nodes, pair, sizeof pair, &fresh);
    if (fresh)
        view_pool_say(&r->nodes, arena_printf(r->scratch, "%" PRIu32 ",%" PRIu32, entry, below));
    return node;
}

/* An entry that is no more than its text. */
static uint32_t push_text(struct view_recorder *r, uint32_t below, const char *kind, uint32_t stm,
                          const char *says)
{
    struct entry_key key = {.kind = 100 + (uint32_t)kind[0],
                            .number = stm,
                            .text = view_pool_text(&r->texts, view_quoted(r->scratch, says)) + 1};
    return push(r, below, kind, key, says);
}

static const char *slice(struct view_recorder *r, uint32_t stm)
{
    struct text pieces = {.arena = r->scratch};
    trace_add_slice(&r->text, &pieces, stm);
    return pieces.bytes ? pieces.bytes : "";
}

static const char *says_of(struct view_recorder *r, stack_entry entry)
{
    uint32_t number = entry_number(entry);
    switch (entry_kind(entry)) {
    case ENTRY_STM:
        return slice(r, number);
    case ENTRY_CONT:
        return r->text.heads[number];
    case ENTRY_CALL:
        return r->machine->program->functions[entry_callee(entry)].name;
    case ENTRY_BRK:
    case ENTRY_DIV:
    case ENTRY_SYNC:
        break;
    }
    return "";
}

static uint32_t structured_stack(struct view_recorder *r, uint32_t actor)
{
    bool warps = r->text.view == TRACE_WARPS;
    struct trace_entries entries = trace_entries(r->machine, warps, actor);
    uint32_t node = 0;
    for (uint32_t i = 0; i < entries.depth; i++) {
        enum entry_kind kind = entry_kind(entries.stack[i]);
        bool statement = kind == ENTRY_STM || kind == ENTRY_CONT;
        bool masked = entries.masks && !statement;
        struct entry_key key = {.kind = kind,
                                .number = statement ? entry_number(entries.stack[i]) : NONE,
                                .bits = masked ? entries.lanes : 0,
                                .text = kind == ENTRY_CALL ? entries.stack[i] : 0,
                                .mask = masked ? entries.masks[i] : 0};
        node = push(r, node, trace_entry_names[kind], key, says_of(r, entries.stack[i]));
    }
    if (!warps && !is_convergence(r) && entries.depth > 0 &&
        threads_state(r->machine, actor)->pending)
        node = push_text(r, node, "pending", NONE, trace_top(&r->text, actor));
    return node;
}

static uint32_t crs_stack(struct view_recorder *r, uint32_t actor)
{
    static const char *const names[] = {
        [CRS_SYNC] = "sync", [CRS_DIVERGE] = "div", [CRS_CALL] = "call", [CRS_BREAK] = "brk"};
    struct crs_warp warp = crs_warp(r->machine, actor);
    uint32_t node = 0;
    for (uint32_t i = 0; i < warp.state->depth; i++) {
        const struct crs_token *token = &warp.tokens[i];
        struct entry_key key = {.kind = 50 + token->type,
                                .number = token->pc,
                                .bits = warp.lanes->count,
                                .mask = token->mask};
        node = push(r, node, names[token->type], key,
                    token->pc < r->machine->program->stm_count ? r->text.heads[token->pc] : "");
    }
    const char *pcs = trace_crs_pcs(&r->text, actor);
    if (pcs)
        node = push_text(r, node, "pcs", NONE, pcs);
    if (warp.state->completed)
        return node;
    uint32_t pc = r->machine->semantics->next_stm(r->machine, actor);
    if (warp.state->waiting)
        node = push_text(r, node, "waits", NONE, trace_stack(&r->text, actor));
    return pc == CODE_NONE ? node : push_text(r, node, "pc", pc, r->text.heads[pc]);
}

static uint32_t cta_stack(struct view_recorder *r, uint32_t actor)
{
    struct cta_thread at = cta_thread(r->machine, actor);
    if (at.pc == 0)
        return 0;
    uint32_t node = push_text(r, 0, "pc", at.pc, r->text.heads[at.pc]);
    return at.barrier < 0 ? node
                          : push_text(r, node, "waits", NONE,
                                      arena_printf(r->scratch, "barrier %" PRId32, at.barrier));
}

/* A thread of basic blocks: where it is, and its frames. */
static uint32_t block_stack(struct view_recorder *r, uint32_t actor)
{
    const struct machine *m = r->machine;
    const char *top = trace_blocks_top(&r->text, actor);
    const char *state = trace_blocks_state(&r->text, actor);
    if (strcmp(state, "eps") == 0)
        return 0;
    uint32_t stm = m->semantics->next_stm(m, actor);
    uint32_t node = push_text(r, 0, "left", NONE, state);
    return push_text(r, node, "pc", stm, top);
}

static uint32_t stack_of(struct view_recorder *r, uint32_t actor)
{
    switch (r->text.view) {
    case TRACE_THREADS:
    case TRACE_WARPS:
        break;
    case TRACE_BLOCKS:
    case TRACE_VECTORS:
        return block_stack(r, actor);
    case TRACE_CRS:
        return crs_stack(r, actor);
    case TRACE_CTA:
        return cta_stack(r, actor);
    }
    return structured_stack(r, actor);
}

bool view_see_actor(struct view_recorder *r, uint32_t actor)
{
    struct view_actor *a = &r->actors[actor];
    char *letters = ARENA_ARRAY(r->scratch, char, a->lanes + 3);
    view_letters(&r->text, actor, letters + 1);
    letters[0] = letters[a->lanes + 1] = '"';
    uint32_t number = view_pool_text(&r->texts, letters) + 1;
    uint32_t leader = is_convergence(r) ? convergence_split(r->machine, actor).leader : actor;
    uint32_t node = stack_of(r, leader);
    bool changed = a->letters != number || a->node != node || a->leader != leader;
    a->letters = number;
    a->node = node;
    a->leader = leader;
    return changed;
}
