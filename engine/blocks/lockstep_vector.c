/*
 * lockstep_vector.c - statements on vectors: lockstep-cfg Fig. 6 and Table 3a.
 */
#include "engine/blocks/lockstep_internal.h"
#include "engine/machine/symmetry.h"

/* ---- reading and writing ---- */

static bool component_place(struct lockstep_step *x, uint32_t i)
{
    if (eval_place(x->m, x->threads[i], x->s, x->number, &x->scratch->address[i]))
        return true;
    lockstep_fault(x, STATUS_OUT_OF_BOUNDS, x->threads[i]);
    return false;
}

static bool writes_shared(const struct code_stm *s)
{
    return s->place.space <= SPACE_SHARED;
}

/* Chains the components that act on the same address; how many start a chain of two or more. */
static uint32_t find_conflicts(struct lockstep_step *x, uint16_t *starts)
{
    struct lockstep_scratch *scratch = x->scratch;
    uint32_t conflicts = 0, slots = 2;
    while (slots < 2 * x->count)
        slots *= 2;
    memset(scratch->slot, 0, slots * sizeof *scratch->slot);
    for (uint32_t i = 0; i < x->count; i++) {
        uint32_t slot = (scratch->address[i] * 2654435769u >> 16) & (slots - 1);
        scratch->next[i] = 0;
        scratch->last[i] = (uint16_t)i;
        if (!scratch->acts[i])
            continue;
        while (scratch->slot[slot] &&
               scratch->address[scratch->slot[slot] - 1] != scratch->address[i])
            slot = (slot + 1) & (slots - 1);
        if (!scratch->slot[slot]) {
            scratch->slot[slot] = (uint16_t)(i + 1);
            continue;
        }
        uint32_t first = scratch->slot[slot] - 1u;
        if (scratch->last[first] == first)
            starts[conflicts++] = (uint16_t)first;
        scratch->next[scratch->last[first]] = (uint16_t)(i + 1);
        scratch->last[first] = (uint16_t)i;
    }
    return conflicts;
}

/* Which component of a chain writes last. Chosen only where the values differ; without choices the
 * highest. */
static uint32_t choose_winner(const struct lockstep_step *x, uint32_t first)
{
    const struct lockstep_scratch *scratch = x->scratch;
    uint32_t count = 1, winner = first;
    bool differ = false;
    for (uint32_t i = first; scratch->next[i]; count++) {
        i = scratch->next[i] - 1u;
        differ |= scratch->value[i] != scratch->value[first];
    }
    if (!differ || !x->choices)
        return scratch->last[first];
    for (uint32_t skip = x->choices->choose(x->choices, count); skip; skip--)
        winner = scratch->next[winner] - 1u;
    return winner;
}

STEP_INLINE void write_component(struct lockstep_step *x, uint32_t i)
{
    struct lockstep_scratch *scratch = x->scratch;
    uint32_t thread = x->threads[i];
    scratch->order[scratch->order_count++] = thread;
    put_memory(x->m, scratch->address[i], scratch->value[i]);
    if (is_observed(x->m) && writes_shared(x->s))
        observe_write(x->m, thread, scratch->address[i], scratch->value[i], x->number);
}

/* Ascending, but the winners of conflicting writes come last: so each location keeps its winner's
 * value, and every enabled writer has been seen to write (LOCK.writes). */
static void write_components(struct lockstep_step *x)
{
    struct lockstep_scratch *scratch = x->scratch;
    uint16_t winners[LIMIT_THREADS];
    uint32_t conflicts = writes_shared(x->s) ? find_conflicts(x, winners) : 0;
    for (uint32_t k = 0; k < conflicts; k++) {
        winners[k] = (uint16_t)choose_winner(x, winners[k]);
        scratch->acts[winners[k]] = 2;
    }
    for (uint32_t i = 0; i < x->count; i++)
        if (scratch->acts[i] == 1)
            write_component(x, i);
    for (uint32_t i = 0; conflicts > 0 && i < x->count; i++)
        if (scratch->acts[i] == 2)
            write_component(x, i);
    lockstep_advance(x);
}

/* `seen`: observers hear of the reads. */
STEP_INLINE bool read_each(struct lockstep_step *x, const bool seen)
{
    struct lockstep_scratch *scratch = x->scratch;
    for (uint32_t i = 0; i < x->count; i++) {
        uint32_t thread = x->threads[i];
        if (!scratch->acts[i])
            continue;
        if (!eval_place_seen(x->m, thread, x->s, x->number, &scratch->address[i], seen)) {
            lockstep_fault(x, STATUS_OUT_OF_BOUNDS, thread);
            return false;
        }
        if (!eval_seen(x->m, thread, x->s->value, x->number, &scratch->value[i], seen)) {
            lockstep_component_fault(x, i);
            return false;
        }
    }
    return true;
}

/* Places and right-hand sides of the enabled components, in the old store. */
static bool read_components(struct lockstep_step *x)
{
    return is_observed(x->m) ? read_each(x, true) : read_each(x, false);
}

/* ---- rules ---- */

/*  LOCK.vec_assign (Table 3a, private)       val_t = sigma(phi_t(e)) for all t with act_t
 *      <sigma, <v_t> := <act_t ? phi_t(e) : v_t>; b>  ->  <sigma[v_t |-> val_t], b>
 */
enum rule lock_vec_assign(struct lockstep_step *x)
{
    if (read_components(x))
        write_components(x);
    return RULE_LOCK_VEC_ASSIGN;
}

/*  LOCK.psi_T (Fig. 6)       some act_i; val = sigma(phi_i(e))
 *      <sigma, v := psi<act_t, phi_t(e)>; b>  ->  <sigma[v |-> val], b>
 *
 *  For an array: one such assignment for each element that some enabled thread's index names.
 */
enum rule lock_psi_t(struct lockstep_step *x)
{
    if (read_components(x))
        write_components(x);
    return RULE_LOCK_PSI_T;
}

/*  LOCK.psi_F (Fig. 6)       no act_i
 *      <sigma, v := psi<act_t, phi_t(e)>; b>  ->  <sigma, b>
 */
enum rule lock_psi_f(struct lockstep_step *x)
{
    lockstep_advance(x);
    return RULE_LOCK_PSI_F;
}

/*  LOCK.vec_havoc (HAVOC_S)       val_t thread t's next choice (ORA.choice), for all t with act_t
 *      <sigma, havoc <v_t>; b>  ->  <sigma[v_t |-> val_t], b>
 */
enum rule lock_vec_havoc(struct lockstep_step *x)
{
    for (uint32_t i = 0; i < x->count; i++)
        if (x->scratch->acts[i] && !component_place(x, i))
            return RULE_LOCK_VEC_HAVOC;
    for (uint32_t i = 0; i < x->count; i++)
        if (x->scratch->acts[i])
            x->scratch->value[i] = next_havoc(x->m, x->threads[i], x->choices);
    write_components(x);
    return RULE_LOCK_VEC_HAVOC;
}

/* As interleave.c: one of the values whose guard holds; none holds: the first (the early assume then
 * ends the run). Choosing accesses nothing. */
static int32_t pick_component(struct lockstep_step *x, uint32_t i)
{
    const struct code_pick *picks = &x->m->program->picks[x->s->first];
    uint32_t count = x->s->second, feasible = 0, at = 0;
    bool raw = x->m->options.raw_goto;
    for (uint32_t k = count; k-- > 0;) {
        if (raw || lockstep_feasible(x, i, picks[k].guard)) {
            at = k;
            feasible++;
        }
    }
    uint32_t skip = feasible >= 2 ? lockstep_choose(x, x->threads[i], feasible) : 0;
    while (skip > 0) {
        at++;
        if (raw || lockstep_feasible(x, i, picks[at].guard))
            skip--;
    }
    return picks[at].value;
}

/*  LOCK.pick (PRED.setnext, Table 3b)       val_t in { B_i | sigma(phi_t(e_i)) } for all t with act_t
 *      <sigma, <v_t> :in <{ B_1 | e_1, .., B_n | e_n }>; b>  ->  <sigma[v_t |-> val_t], b>
 */
enum rule lock_pick(struct lockstep_step *x)
{
    for (uint32_t i = 0; i < x->count; i++) {
        if (!x->scratch->acts[i])
            continue;
        if (!component_place(x, i))
            return RULE_LOCK_PICK;
        x->scratch->value[i] = pick_component(x, i);
    }
    write_components(x);
    return RULE_LOCK_PICK;
}

/* Which of the threads, which hit one location, may change places (symmetry_classes). */
static void find_classes(const struct lockstep_step *x, const uint16_t *members, uint32_t count,
                         uint16_t *classes)
{
    uint32_t threads[LIMIT_THREADS];
    bool hidden = true;
    for (uint32_t i = 0; i < count; i++) {
        const struct atomic_operands *operands = &x->scratch->operands[members[i]];
        int32_t old = x->m->memory[operands->address];
        threads[i] = x->threads[members[i]];
        hidden &= eval_atomic(x->s->atomic, old, operands->a, operands->b) == old;
    }
    symmetry_classes(x->m, threads, count, hidden, classes);
}

/* The order of the enabled threads: ascending, but those that meet at one location take their places
 * in any order. */
static void order_atomics(struct lockstep_step *x, uint16_t *order)
{
    struct lockstep_scratch *scratch = x->scratch;
    uint16_t starts[LIMIT_THREADS], rest[LIMIT_THREADS], classes[LIMIT_THREADS];
    uint32_t conflicts = x->choices ? find_conflicts(x, starts) : 0, n = 0;
    for (uint32_t i = 0; i < x->count; i++)
        order[i] = (uint16_t)i;
    for (uint32_t k = 0; k < conflicts; k++) {
        uint32_t members = 0;
        for (uint32_t i = starts[k] + 1u; i; i = scratch->next[i - 1])
            rest[members++] = (uint16_t)(i - 1);
        if (x->m->options.symmetry)
            find_classes(x, rest, members, classes);
        for (uint32_t i = starts[k] + 1u; i; i = scratch->next[i - 1]) {
            n = members > 1 ? symmetry_choose(x->m, x->choices, classes, members) : 0;
            order[i - 1] = rest[n];
            members--;
            memmove(rest + n, rest + n + 1, (members - n) * sizeof *rest);
            if (x->m->options.symmetry)
                memmove(classes + n, classes + n + 1, (members - n) * sizeof *classes);
        }
    }
}

/*  LOCK.atomic [EXT]       t_1 .. t_n: the threads with act_t, in any order
 *      <sigma, <x_t> := op(y, phi_t(e)); b>  ->  <sigma_n, b>
 *          sigma_i = sigma_(i-1)[y |-> op(sigma_(i-1)(y), sigma(phi_ti(e)))][x_ti |-> sigma_(i-1)(y)]
 */
enum rule lock_atomic(struct lockstep_step *x)
{
    struct lockstep_scratch *scratch = x->scratch;
    uint16_t order[LIMIT_THREADS];
    for (uint32_t i = 0; i < x->count; i++) {
        if (!scratch->acts[i])
            continue;
        if (!eval_atomic_operands(x->m, x->threads[i], x->s, x->number, &scratch->operands[i])) {
            lockstep_fault(x, STATUS_OUT_OF_BOUNDS, x->threads[i]);
            return RULE_LOCK_ATOMIC;
        }
        scratch->address[i] = scratch->operands[i].address;
    }
    order_atomics(x, order);
    for (uint32_t k = 0; k < x->count; k++) {
        uint32_t i = order[k];
        if (!scratch->acts[i])
            continue;
        apply_atomic(x->m, x->threads[i], x->s, x->number, &scratch->operands[i]);
        scratch->order[scratch->order_count++] = x->threads[i];
    }
    lockstep_advance(x);
    return RULE_LOCK_ATOMIC;
}
