/*
 * duo_run.c - P from its start to its end: blocks in the sort order, loops cut at their heads or unrolled.
 *
 * A loop is a stretch of the order that begins with its head. When its last block has been run, the threads
 * that were in it are at its head again, or have gone to blocks that come later, or are dead.
 *
 * Cut: the state at the head, in any trip, is one in which a thread that was in the loop when it began
 * is at the head, at one of the exits, or dead, and what the loop changes is anything that the invariant
 * allows; what a thread that was not in the loop holds is as before. One trip is run from there. The loop
 * is left from the same state.
 */
#include "engine/duo/lift.h"

#include "engine/base/invariant.h"

#include <inttypes.h>
#include <string.h>

static void run_range(struct duo *duo, term *state, uint32_t from, uint32_t to, uint32_t within);

static term *copy_state(struct duo *duo, const term *state)
{
    term *copy = ARENA_ARRAY(duo->arena, term, duo->slot_count);
    memcpy(copy, state, duo->slot_count * sizeof *copy);
    return copy;
}

/* ---- what a loop changes ---- */

static void mark_memory(struct duo *duo, const struct ast_expr *e, uint8_t *changed)
{
    if (!e)
        return;
    if ((e->kind == EXPR_VAR || e->kind == EXPR_INDEX) && is_memory(e->var))
        changed[slot_log(duo, e->var, LOG_READ)] = 1;
    mark_memory(duo, e->a, changed);
    mark_memory(duo, e->b, changed);
    mark_memory(duo, e->c, changed);
}

static void mark_place(struct duo *duo, const struct ast_lvalue *place, uint32_t kind,
                       uint8_t *changed)
{
    if (!place->var)
        return;
    changed[slot_var(duo, place->var, 0)] = changed[slot_var(duo, place->var, 1)] = 1;
    if (is_memory(place->var))
        changed[slot_log(duo, place->var, kind)] = 1;
    mark_memory(duo, place->index, changed);
}

/* A barrier changes all memory that somebody writes, and empties all of the log. */
void duo_mark_barrier(struct duo *duo, uint8_t *changed)
{
    for (uint32_t i = 0; i < duo->var_count; i++) {
        struct ast_var *var = duo->vars[i];
        if (!is_memory(var) || !duo->written[i])
            continue;
        changed[slot_var(duo, var, 0)] = changed[slot_var(duo, var, 1)] = 1;
        for (uint32_t kind = 0; kind < LOG_KINDS; kind++)
            changed[slot_log(duo, var, kind)] = 1;
    }
}

static void mark_statement(struct duo *duo, const struct ast_stm *s, uint8_t *changed)
{
    mark_memory(duo, s->value, changed);
    mark_memory(duo, s->guard, changed);
    for (const struct ast_expr *e = s->arguments; e; e = e->next)
        mark_memory(duo, e, changed);
    mark_place(duo, &s->target, LOG_WRITE, changed);
    mark_place(duo, &s->place, s->kind == STM_ATOMIC ? LOG_ATOMIC : LOG_WRITE, changed);
    if (s->kind == STM_ASSIGN && s->op != ASSIGN_SET && is_memory(s->target.var))
        changed[slot_log(duo, s->target.var, LOG_READ)] = 1;
    if (s->kind == STM_BARRIER)
        duo_mark_barrier(duo, changed);
}

static void mark_changes(struct duo *duo, uint32_t loop, uint8_t *changed)
{
    for (uint32_t b = 0; b < duo->cfg->count; b++) {
        if (!cfg_in_loop(duo->cfg, loop, b))
            continue;
        if (duo->lift)
            lift_mark_changes(duo, b, changed);
        for (const struct ast_stm *s = duo->cfg->blocks[b]->body; s; s = s->next)
            mark_statement(duo, s, changed);
    }
}

/* ---- the state at the head ---- */

static term head_symbol(struct duo *duo, struct loop_cut *cut, uint32_t slot, enum term_sort sort,
                        const char *what)
{
    const char *name = arena_printf(duo->arena, "loop %" PRIu32 " %s", cut->loop, what);
    term symbol = term_symbol(&duo->terms, sort, name);
    cut->symbols[cut->symbol_count] = symbol;
    cut->symbol_slots[cut->symbol_count++] = slot;
    return symbol;
}

/* Thread k is at the head, at one of the exits, dead: the first of them whose symbol holds. */
static void place_thread(struct duo *duo, struct loop_cut *cut, uint32_t k, const uint8_t *exits)
{
    struct terms *t = &duo->terms;
    uint32_t head = duo->cfg->loops[cut->loop].head;
    term left = cut->in[k];
    term symbol = head_symbol(duo, cut, slot_at(duo, head, k), SORT_BOOL,
                              arena_printf(duo->arena, "at the head$%" PRIu32, k + 1));
    cut->head[slot_at(duo, head, k)] = term_and(t, left, symbol);
    left = term_and(t, left, term_not(t, symbol));
    for (uint32_t b = 0; b <= duo->block_count; b++) {
        if (!exits[b])
            continue;
        uint32_t slot = slot_at(duo, b, k);
        symbol = head_symbol(duo, cut, slot, SORT_BOOL,
                             arena_printf(duo->arena, "out at %" PRIu32 "$%" PRIu32, b, k + 1));
        cut->head[slot] = term_or(t, cut->head[slot], term_and(t, left, symbol));
        left = term_and(t, left, term_not(t, symbol));
    }
    uint32_t dead = slot_dead(duo, k);
    cut->head[dead] = term_or(t, cut->head[dead], left);
}

static void change_variables(struct duo *duo, struct loop_cut *cut, const uint8_t *changed)
{
    struct terms *t = &duo->terms;
    for (uint32_t i = 0; i < duo->var_count; i++)
        for (uint32_t k = 0; k < 2; k++) {
            const struct ast_var *var = duo->vars[i];
            uint32_t slot = slot_var(duo, var, k);
            if (!changed[slot])
                continue;
            term symbol = head_symbol(
                duo, cut, slot, var_sort(duo, var),
                arena_printf(duo->arena, "%s.%" PRIu32 "$%" PRIu32, var->name, i, k + 1));
            cut->head[slot] = term_ite(t, cut->in[k], symbol, cut->entry[slot]);
        }
}

/* The log is of thread 1. */
static void change_log(struct duo *duo, struct loop_cut *cut, const uint8_t *changed)
{
    static const char *const kinds[LOG_KINDS] = {"read", "written", "atomic", "strongly read"};
    for (uint32_t i = 0; i < duo->var_count; i++)
        for (uint32_t kind = 0; kind < LOG_KINDS; kind++) {
            const struct ast_var *var = duo->vars[i];
            uint32_t slot = slot_log(duo, var, kind);
            if (!changed[slot] || !duo->written[i])
                continue;
            term symbol = head_symbol(
                duo, cut, slot, SORT_BOOL,
                arena_printf(duo->arena, "%s.%" PRIu32 " %s", var->name, i, kinds[kind]));
            cut->head[slot] = term_ite(&duo->terms, cut->in[0], symbol, cut->entry[slot]);
        }
}

/* Where threads go that leave the loop. */
static void find_exits(const struct duo *duo, uint32_t loop, uint8_t *exits)
{
    for (uint32_t b = 0; b < duo->cfg->count; b++) {
        const struct ast_block *block = duo->cfg->blocks[b];
        if (!cfg_in_loop(duo->cfg, loop, b))
            continue;
        for (uint32_t i = 0; i < block->target_count; i++) {
            uint32_t target = block->targets[i] ? block->targets[i]->mark : duo->block_count;
            exits[target] |= target == duo->block_count || !cfg_in_loop(duo->cfg, loop, target);
        }
    }
}

static void make_head(struct duo *duo, struct loop_cut *cut)
{
    uint8_t *changed = ARENA_ARRAY(duo->arena, uint8_t, duo->slot_count);
    uint8_t *exits = ARENA_ARRAY(duo->arena, uint8_t, duo->block_count + 1);
    uint32_t room = duo->slot_count + 2;
    cut->symbols = ARENA_ARRAY(duo->arena, term, room);
    cut->symbol_slots = ARENA_ARRAY(duo->arena, uint32_t, room);
    cut->head = copy_state(duo, cut->entry);
    mark_changes(duo, cut->loop, changed);
    find_exits(duo, cut->loop, exits);
    for (uint32_t k = 0; k < 2; k++)
        place_thread(duo, cut, k, exits);
    change_variables(duo, cut, changed);
    change_log(duo, cut, changed);
    cut->invariant = term_symbol(&duo->terms, SORT_BOOL,
                                 arena_printf(duo->arena, "invariant of loop %" PRIu32, cut->loop));
    term *path = &cut->head[slot_path(duo)];
    *path = term_and(&duo->terms, *path, cut->invariant);
}

/* ---- loops ---- */

enum { COUNTED_TRIPS = 17, COUNTED_TERMS = 1 << 14 };

/* The loop is left: whoever is still at its head stays there for ever, and so is dead for the rest. */
static void leave_loop(struct duo *duo, term *state, uint32_t head)
{
    for (uint32_t k = 0; k < 2; k++) {
        term *dead = &state[slot_dead(duo, k)], *at = &state[slot_at(duo, head, k)];
        *dead = term_or(&duo->terms, *dead, *at);
        *at = TERM_FALSE;
    }
}

void duo_point(struct duo *duo, const struct point *point)
{
    if (point->reached != TERM_FALSE)
        grown_add(duo->arena, &duo->points, point, sizeof *point);
}

static term somebody_at(struct duo *duo, const term *state, uint32_t head)
{
    return term_or(&duo->terms, state[slot_at(duo, head, 0)], state[slot_at(duo, head, 1)]);
}

/* Somebody is at the head of a loop, at its first trip or a later one. */
static void note_head(struct duo *duo, const term *state, uint32_t head)
{
    duo_point(duo, &(struct point){.key = point_key(head, 0),
                                   .reached = term_and(&duo->terms, state[slot_path(duo)],
                                                       somebody_at(duo, state, head)),
                                   .at = duo->cfg->blocks[head]->at,
                                   .what = "the loop's head"});
}

/* What a trip changes is said to change: all else is after it the term that it was at the head. */
static void check_changes(struct duo *duo, const struct loop_cut *cut)
{
    uint8_t *said = ARENA_ARRAY(duo->arena, uint8_t, duo->slot_count);
    for (uint32_t i = 0; i < cut->symbol_count; i++)
        said[cut->symbol_slots[i]] = 1;
    for (uint32_t i = slot_path(duo) + 1; i < duo->slot_count && !duo->terms.full; i++)
        INVARIANT(said[i] || cut->latch[i] == cut->head[i]);
}

static void cut_loop(struct duo *duo, term *state, uint32_t loop, uint32_t from, uint32_t to)
{
    struct terms *t = &duo->terms;
    struct loop_cut *cut = ARENA_NEW(duo->arena, struct loop_cut);
    uint32_t head = duo->cfg->loops[loop].head;
    cut->loop = loop;
    cut->nest = duo->nest;
    cut->begin = duo->terms.count;
    cut->deed_first = duo->deeds.count;
    cut->at = duo->cfg->blocks[head]->at;
    cut->entry = copy_state(duo, state);
    for (uint32_t k = 0; k < 2; k++)
        cut->in[k] = state[slot_at(duo, head, k)];
    make_head(duo, cut);
    cut->latch = copy_state(duo, cut->head);
    term *path = &cut->latch[slot_path(duo)];
    *path = term_and(t, *path, somebody_at(duo, cut->latch, head));
    note_head(duo, cut->latch, head);
    cut->access_first = duo->accesses.count;
    cut->test_first = duo->tests.count;
    cut->claim_first = duo->claims.count;
    run_range(duo, cut->latch, from, to, loop);
    check_changes(duo, cut);
    cut->end = duo->terms.count;
    cut->deed_end = duo->deeds.count;
    cut->access_end = duo->accesses.count;
    cut->test_end = duo->tests.count;
    cut->claim_end = duo->claims.count;
    grown_add(duo->arena, &duo->cuts, &cut, sizeof cut);
    memcpy(state, cut->head, duo->slot_count * sizeof *state);
    leave_loop(duo, state, head);
}

/* Trips until nobody is at the head, as constants say; no more than so many. */
static bool run_trips(struct duo *duo, term *state, uint32_t loop, uint32_t from, uint32_t to,
                      uint32_t trips)
{
    uint32_t head = duo->cfg->loops[loop].head;
    term most = duo->terms.count + COUNTED_TERMS;
    for (uint32_t trip = 0; trip < trips && duo->terms.count < most; trip++) {
        if (somebody_at(duo, state, head) == TERM_FALSE || duo->terms.full || duo->uncounted)
            break;
        note_head(duo, state, head);
        run_range(duo, state, from, to, loop);
    }
    return somebody_at(duo, state, head) == TERM_FALSE;
}

/* What trips have added, but for terms and symbols: their names are used once. */
static void forget_since(struct duo *duo, const struct duo *before)
{
    const struct duo now = *duo;
    *duo = *before;
    duo->terms = now.terms;
    duo->fresh = now.fresh;
    duo->assumptions = now.assumptions;
    duo->reason = now.reason;
}

/* A loop that ends within a few trips whatever values are needs no invariant. Once one did not, it is not tried
 * again; nor is one around a loop that has to be cut. */
static bool count_loop(struct duo *duo, term *state, uint32_t loop, uint32_t from, uint32_t to)
{
    const struct duo before = *duo;
    term *trial = copy_state(duo, state);
    if (!duo->options->counted || duo->loop_open[loop])
        return false;
    duo->counting++;
    bool ends = run_trips(duo, trial, loop, from, to, COUNTED_TRIPS) && !duo->uncounted;
    duo->counting--;
    if (!ends) {
        forget_since(duo, &before);
        duo->loop_open[loop] = true;
        return false;
    }
    memcpy(state, trial, duo->slot_count * sizeof *state);
    return true;
}

static void unroll_loop(struct duo *duo, term *state, uint32_t loop, uint32_t from, uint32_t to)
{
    uint32_t head = duo->cfg->loops[loop].head;
    run_trips(duo, state, loop, from, to, duo->unroll);
    term left = term_and(&duo->terms, state[slot_path(duo)], somebody_at(duo, state, head));
    if (left != TERM_FALSE)
        grown_add(duo->arena, &duo->left, &left, sizeof left);
    leave_loop(duo, state, head);
}

static void run_loop(struct duo *duo, term *state, uint32_t loop, uint32_t from, uint32_t to)
{
    uint32_t head = duo->cfg->loops[loop].head;
    bool outermost = duo->cfg->loops[loop].parent == CFG_NO_LOOP;
    duo->nest += outermost;
    if (somebody_at(duo, state, head) == TERM_FALSE || count_loop(duo, state, loop, from, to))
        return;
    if (duo->unroll > 0)
        unroll_loop(duo, state, loop, from, to);
    else if (duo->counting > 0)
        duo->uncounted = true;
    else
        cut_loop(duo, state, loop, from, to);
}

/* The blocks of places from .. to - 1; `within`: the loop whose trip this is, its head comes first. */
static void run_range(struct duo *duo, term *state, uint32_t from, uint32_t to, uint32_t within)
{
    for (uint32_t place = from; place < to && !duo->terms.full;) {
        uint32_t block = duo->cfg->order[place], loop = duo->loop_at[block];
        if (loop == CFG_NO_LOOP || loop == within) {
            duo_block(duo, state, block);
            place++;
            continue;
        }
        run_loop(duo, state, loop, place, place + duo->loop_size[loop]);
        place += duo->loop_size[loop];
    }
}

/* Each thread of its own: that one of them ends says nothing about the other. */
static void note_end(struct duo *duo, const term *state)
{
    for (uint32_t k = 0; k < 2; k++)
        duo_point(duo,
                  &(struct point){.key = point_key(duo->block_count, k),
                                  .reached = term_and(&duo->terms, state[slot_path(duo)],
                                                      state[slot_at(duo, duo->block_count, k)]),
                                  .at = duo->kernel->main->at,
                                  .what = "the end of the kernel"});
}

void duo_run(struct duo *duo)
{
    term *state = duo_start(duo);
    run_range(duo, state, 0, duo->cfg->count, CFG_NO_LOOP);
    note_end(duo, state);
    duo->end = state;
    duo->run_end = duo->terms.count;
    if (duo->terms.full)
        duo->reason = "the formula is too large";
}
