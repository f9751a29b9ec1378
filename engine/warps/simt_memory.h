/*
 * simt_memory.h - rules of a warp whose lanes write memory in an order among themselves: assign, havoc,
 * atomic; and vote. Inlined into the step functions of simt.c.
 */
#ifndef ENGINE_SIMT_MEMORY_H
#define ENGINE_SIMT_MEMORY_H

#include "engine/machine/symmetry.h"
#include "engine/warps/simt_internal.h"

/* The lanes of `group` (chained through scratch->next from `first`): which of them writes last. The
 * choice is made only where the values differ. */
static inline uint32_t choose_winner(struct warp_step *x, const struct assign_scratch *scratch,
                                     uint32_t first)
{
    uint32_t count = 1, last = first;
    bool differ = false;
    for (uint32_t next = scratch->next[first]; next; next = scratch->next[next - 1]) {
        last = next - 1;
        differ |= scratch->value[last] != scratch->value[first];
        count++;
    }
    if (!differ || !x->choices)
        return last;
    uint32_t winner = first;
    for (uint32_t skip = x->choices->choose(x->choices, count); skip; skip--)
        winner = (uint32_t)scratch->next[winner] - 1;
    return winner;
}

/* Chains the lanes of Theta that write the same address; returns the lanes that start a chain of
 * two or more. */
static inline lane_mask find_conflicts(struct assign_scratch *scratch, lane_mask theta)
{
    lane_mask conflicts = 0;
    uint8_t last[LIMIT_WARP];
    memset(scratch->slot, 0, sizeof scratch->slot);
    for (lane_mask rest = theta; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest), address = scratch->address[lane];
        uint32_t slot = (address * 2654435769u) >> 25;
        while (scratch->slot[slot] && scratch->address[scratch->slot[slot] - 1] != address)
            slot = (slot + 1) % CONFLICT_SLOTS;
        scratch->next[lane] = 0;
        if (scratch->slot[slot]) {
            uint32_t first = (uint32_t)scratch->slot[slot] - 1;
            uint32_t before = (conflicts >> first) & 1 ? last[first] : first;
            scratch->next[before] = (uint8_t)(lane + 1);
            conflicts |= (lane_mask)1 << first;
            last[first] = (uint8_t)lane;
        } else {
            scratch->slot[slot] = (uint8_t)(lane + 1);
        }
    }
    return conflicts;
}

/* The permutation theta_1 .. theta_n of assign^w: ascending, but the winners of conflicting writes
 * come last, so that each address keeps its winner's value. */
STEP_INLINE void order_writes(struct warp_step *x, struct assign_scratch *scratch)
{
    lane_mask theta = x->w->theta, winners = 0;
    if (x->s->place.space <= SPACE_SHARED && (theta & (theta - 1)) != 0) {
        for (lane_mask rest = find_conflicts(scratch, theta); rest; rest &= rest - 1)
            winners |= (lane_mask)1 << choose_winner(x, scratch, lowest_lane(rest));
    }
    uint32_t n = 0;
    for (lane_mask rest = theta & ~winners; rest; rest &= rest - 1)
        scratch->order[n++] = (uint8_t)lowest_lane(rest);
    for (lane_mask rest = winners; rest; rest &= rest - 1)
        scratch->order[n++] = (uint8_t)lowest_lane(rest);
    scratch->order_count = n;
}

/* The writes of the active lanes in scratch->order. */
STEP_INLINE void write_lanes(struct warp_step *x, const struct assign_scratch *scratch)
{
    for (uint32_t i = 0; i < scratch->order_count; i++) {
        uint32_t lane = scratch->order[i];
        put_memory(x->m, scratch->address[lane], scratch->value[lane]);
        if (is_observed(x->m) && x->s->place.space <= SPACE_SHARED)
            observe_write(x->m, x->w->first_thread + lane, scratch->address[lane],
                          scratch->value[lane], x->number);
    }
}

/*  assign^w      v_i = E[[e]] eta(theta_i) mu,  theta_1 .. theta_n an arbitrary order of Theta+
 *      x = e; W, Theta+, mu  ==>  W, Theta+, mu[eta(theta_1)(x) |-> v_1] .. [eta(theta_n)(x) |-> v_n]
 *
 *  All reads, then all writes; the addresses are frozen with the reads (SIMT.ext.idx).
 */
STEP_INLINE void simt_assign(struct warp_step *x)
{
    struct assign_scratch *scratch = x->m->scratch;
    uint32_t first = x->w->first_thread;
    for (lane_mask rest = x->w->theta; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        if (!eval_place(x->m, first + lane, x->s, x->number, &scratch->address[lane]) ||
            !eval(x->m, first + lane, x->s->value, x->number, &scratch->value[lane])) {
            lane_fault(x, STATUS_OUT_OF_BOUNDS, lane);
            return;
        }
    }
    order_writes(x, scratch);
    write_lanes(x, scratch);
    advance(x);
}

/*  havoc^w [EXT]     v_i the next choice of theta_i (ORA.choice), theta_1 .. theta_n an arbitrary order
 *      havoc(x); W, Theta+, mu  ==>  W, Theta+, mu[eta(theta_1)(x) |-> v_1] .. [eta(theta_n)(x) |-> v_n]
 */
STEP_INLINE void simt_havoc(struct warp_step *x)
{
    struct assign_scratch *scratch = x->m->scratch;
    uint32_t first = x->w->first_thread;
    for (lane_mask rest = x->w->theta; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        if (!eval_place(x->m, first + lane, x->s, x->number, &scratch->address[lane])) {
            lane_fault(x, STATUS_OUT_OF_BOUNDS, lane);
            return;
        }
    }
    for (lane_mask rest = x->w->theta; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        scratch->value[lane] = next_havoc(x->m, first + lane, x->choices);
    }
    order_writes(x, scratch);
    write_lanes(x, scratch);
    advance(x);
}

/* Whether nobody can tell in which order the lanes did their atomics on one location: the operation
 * commutes with itself, and nobody asks for the old value. */
static inline bool order_is_hidden(const struct code_stm *stm)
{
    return stm->target.length == 0 && stm->atomic != ATOMIC_EXCH && stm->atomic != ATOMIC_CAS;
}

/* Which of the lanes, which hit one location, may change places (symmetry_classes). */
static inline void find_classes(const struct warp_step *x, const struct assign_scratch *scratch,
                                const uint8_t *lanes, uint32_t count, uint16_t *classes)
{
    uint32_t threads[LIMIT_WARP];
    bool hidden = true;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t lane = lanes[i];
        int32_t old = x->m->memory[scratch->address[lane]];
        threads[i] = x->w->first_thread + lane;
        hidden &=
            eval_atomic(x->s->atomic, old, scratch->value[lane], scratch->second[lane]) == old;
    }
    symmetry_classes(x->m, threads, count, hidden, classes);
}

/* The lanes that are chained from `first` go in an order that is chosen, one lane after another, at
 * the places in the order that they have between them. */
static inline void shuffle_chain(struct warp_step *x, struct assign_scratch *scratch,
                                 uint32_t first)
{
    uint8_t lanes[LIMIT_WARP], places[LIMIT_WARP];
    uint32_t count = 0;
    for (uint32_t lane = first + 1; lane; lane = scratch->next[lane - 1])
        lanes[count++] = (uint8_t)(lane - 1);
    for (uint32_t i = 0, at = 0; at < count; i++)
        if (scratch->order[i] == lanes[at])
            places[at++] = (uint8_t)i;
    uint16_t classes[LIMIT_WARP] = {0};
    if (x->m->options.symmetry)
        find_classes(x, scratch, lanes, count, classes);
    for (uint32_t i = 0; i < count; i++)
        scratch->order[places[i]] =
            (uint8_t)symmetry_take_lane(x->m, x->choices, lanes, classes, count - i);
}

/* theta_1 .. theta_n of atomic^w: ascending, but lanes that hit one location in a chosen order. */
STEP_INLINE void order_atomics(struct warp_step *x, struct assign_scratch *scratch)
{
    lane_mask theta = x->w->theta;
    scratch->order_count = 0;
    for (lane_mask rest = theta; rest; rest &= rest - 1)
        scratch->order[scratch->order_count++] = (uint8_t)lowest_lane(rest);
    if (x->s->place.space > SPACE_SHARED || order_is_hidden(x->s))
        return;
    for (lane_mask rest = find_conflicts(scratch, theta); rest; rest &= rest - 1)
        shuffle_chain(x, scratch, lowest_lane(rest));
}

/*  atomic^w [EXT]    v_i = E[[e]] eta(theta_i) mu,  theta_1 .. theta_n an arbitrary order of Theta+,
 *                    mu_0 = mu,  old_i = mu_(i-1)(eta(theta_i)(y)),
 *                    mu_i = mu_(i-1)[eta(theta_i)(y) |-> op(old_i, v_i)]
 *      x = op(y, e); W, Theta+, mu  ==>  W, Theta+, mu_n[eta(theta_i)(x) |-> old_i]
 *
 *  Locations and operands come first, from private memory alone (lower.h), so that each lane's part is
 *  one indivisible step of its thread.
 */
STEP_INLINE void simt_atomic(struct warp_step *x)
{
    struct assign_scratch *scratch = x->m->scratch;
    uint32_t first = x->w->first_thread;
    struct atomic_operands operands;
    for (lane_mask rest = x->w->theta; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest);
        if (!eval_atomic_operands(x->m, first + lane, x->s, x->number, &operands)) {
            lane_fault(x, STATUS_OUT_OF_BOUNDS, lane);
            return;
        }
        scratch->address[lane] = operands.address;
        scratch->value[lane] = operands.a;
        scratch->second[lane] = operands.b;
    }
    order_atomics(x, scratch);
    for (uint32_t i = 0; i < scratch->order_count; i++) {
        uint32_t lane = scratch->order[i];
        operands = (struct atomic_operands){scratch->address[lane], scratch->value[lane],
                                            scratch->second[lane]};
        apply_atomic(x->m, first + lane, x->s, x->number, &operands);
    }
    advance(x);
}

static inline int32_t vote_result(enum ast_vote vote, lane_mask theta, lane_mask A)
{
    switch (vote) {
    case VOTE_ALL:
        return A == theta;
    case VOTE_ANY:
        return A != 0;
    case VOTE_UNI:
        return A == theta || A == 0;
    case VOTE_BALLOT:
        return (int32_t)(uint32_t)A;
    case VOTE_COUNT:
        break;
    }
    return 0;
}

/*  vote^w [EXT]      A = act(Theta+, e),  v = A = Theta+ (all), A != {} (any), either of all, none
 *                    (uni), the bits of A's lanes 0 .. 31 (ballot)
 *      x = vote(e); W, Theta+  ==>  W, Theta+      with eta(theta)(x) = v for all theta in Theta+
 */
STEP_INLINE void simt_vote(struct warp_step *x, lane_mask A)
{
    int32_t v = vote_result(x->s->vote, x->w->theta, A);
    const struct code_place *target = &x->s->target;
    for (lane_mask rest = x->w->theta; rest; rest &= rest - 1) {
        const struct thread_context *context =
            &x->m->threads[x->w->first_thread + lowest_lane(rest)];
        put_memory(x->m, context->base[target->space] + target->offset, v);
    }
    advance(x);
}

#endif
