/*
 * duo_step.c - a block of P for the threads that are in it: statements, barriers, the goto.
 */
#include "engine/duo/lift.h"

#include <inttypes.h>

/* A statement of thread k: who is in the block, who takes part, who still does. */
struct acting {
    struct duo *duo;
    term *state;
    uint32_t block, k;
    const struct ast_stm *stm;
    term in;     /* the thread is in the block, and alive after what was evaluated so far */
    term active; /* and the statement's guard holds */
};

static term *at_block(const struct acting *x)
{
    return &x->state[slot_at(x->duo, x->block, x->k)];
}

static struct acting begin(struct duo *duo, term *state, uint32_t block, uint32_t k,
                           const struct ast_stm *stm)
{
    struct acting x = {.duo = duo, .state = state, .block = block, .k = k, .stm = stm};
    struct terms *t = &duo->terms;
    x.in = x.active = *at_block(&x);
    if (stm->guard) {
        term guard = term_holds(t, duo_eval(duo, state, k, stm->guard, &x.in));
        x.active = term_and(t, x.in, guard);
    }
    return x;
}

/* Who was in the block and is not in `alive` has died. */
static void leave_alive(struct acting *x, term alive)
{
    struct terms *t = &x->duo->terms;
    term *in = at_block(x), *dead = &x->state[slot_dead(x->duo, x->k)];
    if (alive == *in)
        return;
    *dead = term_or(t, *dead, term_and(t, *in, term_not(t, alive)));
    *in = term_and(t, *in, alive);
}

/* `acted`: what is left of x->active after the statement was evaluated. */
static void finish(struct acting *x, term acted)
{
    struct terms *t = &x->duo->terms;
    if (acted == x->active)
        leave_alive(x, x->in);
    else
        leave_alive(x, term_and(t, x->in, term_or(t, term_not(t, x->active), acted)));
}

/* ---- statements ---- */

static void set(struct acting *x, const struct ast_var *var, term index, term value, term enabled)
{
    struct terms *t = &x->duo->terms;
    term *held = &x->state[slot_var(x->duo, var, x->k)];
    term now = var->is_array ? term_store(t, *held, index, value) : value;
    *held = term_ite(t, enabled, now, *held);
}

static void access(struct acting *x, const struct ast_lvalue *place, uint8_t kind, term index,
                   term enabled)
{
    const struct access_seen seen = {
        .var = place->var, .index = index, .enabled = enabled, .count = 1, .kind = kind};
    if (is_memory(place->var))
        duo_access(x->duo, x->state, x->k, &seen, place->at);
}

static void write(struct acting *x, const struct ast_lvalue *place, term index, term value,
                  term enabled)
{
    access(x, place, LOG_WRITE, index, enabled);
    set(x, place->var, index, value, enabled);
}

static void assign(struct acting *x)
{
    const struct ast_stm *s = x->stm;
    term enabled = x->active;
    term index = duo_index(x->duo, x->state, x->k, &s->target, &enabled);
    struct ast_expr *e = s->op == ASSIGN_SET ? s->value : ast_assigned_value(x->duo->arena, s);
    term value = duo_eval(x->duo, x->state, x->k, e, &enabled);
    write(x, &s->target, index, value, enabled);
    finish(x, enabled);
}

static void havoc(struct acting *x)
{
    const struct ast_stm *s = x->stm;
    term enabled = x->active;
    term index = duo_index(x->duo, x->state, x->k, &s->place, &enabled);
    const char *what = arena_printf(x->duo->arena, "havoc at line %" PRIu32, s->at.line);
    term value = duo_fresh(x->duo, SORT_WORD, what);
    duo_note(x->duo, (struct deed){DEED_HAVOC, (uint8_t)x->k, .when = enabled, .made = {value}});
    write(x, &s->place, index, value, enabled);
    finish(x, enabled);
}

/* Any thread may have come before: nothing is known of the old value, nor of the new one. */
static void atomic(struct acting *x)
{
    struct duo *duo = x->duo;
    const struct ast_stm *s = x->stm;
    term enabled = x->active, target = TERM_NONE;
    const char *what = arena_printf(duo->arena, "the atomic at line %" PRIu32, s->at.line);
    if (s->target.var)
        target = duo_index(duo, x->state, x->k, &s->target, &enabled);
    term index = duo_index(duo, x->state, x->k, &s->place, &enabled);
    for (const struct ast_expr *e = s->arguments; e; e = e->next)
        duo_eval(duo, x->state, x->k, e, &enabled);
    access(x, &s->place, LOG_ATOMIC, index, enabled);
    term left = duo_fresh(duo, SORT_WORD, what);
    term result = s->target.var ? duo_fresh(duo, SORT_WORD, what) : TERM_NONE;
    duo_note(duo,
             (struct deed){DEED_ATOMIC, (uint8_t)x->k, .when = enabled, .made = {left, result}});
    set(x, s->place.var, index, left, enabled);
    if (s->target.var)
        write(x, &s->target, target, result, enabled);
    finish(x, enabled);
}

static void is_given(struct acting *x, term enabled, term holds)
{
    struct duo *duo = x->duo;
    term there = term_and(&duo->terms, enabled, x->state[slot_path(duo)]);
    struct required required = {x->stm, there, term_and(&duo->terms, there, holds)};
    if (x->k == 0)
        grown_add(duo->arena, &duo->required, &required, sizeof required);
}

static void condition(struct acting *x)
{
    struct duo *duo = x->duo;
    struct terms *t = &duo->terms;
    bool is_assert = x->stm->kind == STM_ASSERT;
    term enabled = x->active;
    term holds = term_holds(t, duo_eval(duo, x->state, x->k, x->stm->value, &enabled));
    if (is_assert && x->stm->annotation) {
        struct claim_seen claim = {x->stm, x->k, enabled, holds};
        grown_add(duo->arena, &duo->claims, &claim, sizeof claim);
    }
    if (x->stm->annotation && (!is_assert || duo->options->assume_invariants))
        is_given(x, enabled, holds);
    else if (is_assert)
        duo_oblige(duo, x->state, x->k,
                   &(struct obligation){.goal = GOAL_ASSERTS,
                                        .wrong = term_and(t, enabled, term_not(t, holds)),
                                        .at = x->stm->at});
    finish(x, term_and(t, enabled, holds));
}

/* ---- barriers ---- */

/* What a thread sees of memory behind a barrier: anything. Threads of one block see the same. */
static void forget_memory(struct duo *duo, term *state, const term *meets, struct location at)
{
    struct terms *t = &duo->terms;
    term *memory = ARENA_ARRAY(duo->arena, term, 2 * (size_t)duo->var_count + 1);
    term *before = ARENA_ARRAY(duo->arena, term, 2 * (size_t)duo->var_count + 1);
    const struct passed passed = {term_and(t, state[slot_path(duo)], meets[0]),
                                  term_and(t, state[slot_path(duo)], meets[1]), memory, before};
    duo_note(duo, (struct deed){DEED_BARRIER, .count = duo->passed.count});
    grown_add(duo->arena, &duo->passed, &passed, sizeof passed);
    for (uint32_t i = 0; i < duo->var_count; i++) {
        struct ast_var *var = duo->vars[i];
        if (!is_memory(var) || !duo->written[i])
            continue;
        const char *what =
            arena_printf(duo->arena, "%s after the barrier at line %" PRIu32, var->name, at.line);
        term first = duo_fresh(duo, var_sort(duo, var), what), second = first, other = first;
        if (duo->same != TERM_TRUE) {
            other = duo_fresh(duo, var_sort(duo, var), what);
            second = term_ite(t, duo->same, first, other);
        }
        term *held = &state[slot_var(duo, var, 0)];
        before[i] = held[0];
        before[duo->var_count + i] = held[1];
        held[0] = term_ite(t, meets[0], first, held[0]);
        held[1] = term_ite(t, meets[1], second, held[1]);
        memory[i] = first;
        memory[duo->var_count + i] = other;
    }
}

static void empty_log(struct duo *duo, term *state, term when)
{
    struct terms *t = &duo->terms;
    for (uint32_t i = 0; i < duo->var_count; i++)
        for (uint32_t kind = 0; kind < LOG_KINDS; kind++) {
            term *logged = &state[slot_log(duo, duo->vars[i], kind)];
            *logged = term_and(t, *logged, term_not(t, when));
        }
}

/* One of a block at a barrier, the other one alive elsewhere: divergence. What goes on behind a barrier is
 * both, or, for threads of different blocks, whoever is there. */
void duo_meet(struct duo *duo, term *state, uint32_t key, const term *meets, struct location at)
{
    struct terms *t = &duo->terms;
    term *path = &state[slot_path(duo)], together = term_eq(t, meets[0], meets[1]);
    term alive = term_not(t, term_or(t, state[slot_dead(duo, 0)], state[slot_dead(duo, 1)]));
    term wrong =
        term_and(t, term_and(t, duo->same, term_not(t, together)), term_and(t, alive, *path));
    struct obligation o = {.goal = GOAL_DIVERGENCE, .wrong = wrong, .at = at};
    if (duo->threads > 1)
        duo_obligation(duo, &o);
    *path = term_and(t, *path, term_or(t, together, term_not(t, duo->same)));
    term reached = term_and(t, *path, term_or(t, meets[0], meets[1]));
    duo_point(duo,
              &(struct point){.key = key, .reached = reached, .at = at, .what = "the barrier"});
    forget_memory(duo, state, meets, at);
    empty_log(duo, state, term_and(t, meets[0], duo->same));
}

static void barrier(struct duo *duo, term *state, uint32_t block, uint32_t ordinal,
                    const struct ast_stm *stm)
{
    term meets[2];
    for (uint32_t k = 0; k < 2; k++) {
        struct acting x = begin(duo, state, block, k, stm);
        leave_alive(&x, x.in);
        meets[k] = x.active;
    }
    if (meets[0] != TERM_FALSE || meets[1] != TERM_FALSE)
        duo_meet(duo, state, point_key(block, ordinal), meets, stm->at);
}

static void skip(struct acting *x)
{
    (void)x;
}

/* Of what is not refused (duo_new.c); barriers are of both threads. */
static void statement(struct acting *x)
{
    static void (*const does[STM_KIND_COUNT])(struct acting *) = {
        [STM_ASSIGN] = assign,    [STM_HAVOC] = havoc,      [STM_ATOMIC] = atomic,
        [STM_ASSERT] = condition, [STM_ASSUME] = condition, [STM_SKIP] = skip,
        [STM_MEMBAR] = skip};
    if (does[x->stm->kind])
        does[x->stm->kind](x);
    else
        x->duo->reason = "a statement that is not handled";
}

/* ---- gotos ---- */

static const struct ast_expr *guard_of(const struct ast_block *block)
{
    const struct ast_stm *first = block ? block->body : NULL;
    return first && first->kind == STM_ASSUME ? first->value : NULL;
}

/* Whether thread k may go to the target; who falls out of its guard falls out of `in`. */
static term feasible(struct acting *x, const struct ast_block *target)
{
    const struct ast_expr *guard = guard_of(target);
    term in = x->in;
    if (!guard)
        return in;
    term holds = term_holds(&x->duo->terms, duo_eval(x->duo, x->state, x->k, guard, &in));
    return term_and(&x->duo->terms, in, holds);
}

/* Of several targets whose guards may hold together any one is taken: `left` is who has not gone
 * elsewhere. The last one is for all that are left: chosen is NULL. */
static term take(struct acting *x, term feasible_here, term *left, term *chosen)
{
    struct terms *t = &x->duo->terms;
    term goes = term_and(t, *left, feasible_here);
    if (chosen && goes != TERM_FALSE) {
        const char *what = arena_printf(x->duo->arena, "the choice at line %" PRIu32,
                                        x->duo->cfg->blocks[x->block]->at.line);
        *chosen = duo_fresh(x->duo, SORT_BOOL, what);
        goes = term_and(t, goes, *chosen);
    }
    *left = term_and(t, *left, term_not(t, goes));
    return goes;
}

/* Whether at most one of the targets can be taken, plainly. */
static bool exclusive(struct terms *t, const term *feasible_here, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < i; j++)
            if (term_and(t, feasible_here[i], feasible_here[j]) != TERM_FALSE)
                return false;
    return true;
}

static void go(struct duo *duo, term *state, uint32_t block, uint32_t k)
{
    const struct ast_block *from = duo->cfg->blocks[block];
    struct acting x = {.duo = duo, .state = state, .block = block, .k = k};
    struct terms *t = &duo->terms;
    uint32_t count = from->target_count;
    term *may = ARENA_ARRAY(duo->arena, term, count + 1);
    term *chosen = ARENA_ARRAY(duo->arena, term, count + 1);
    term left = *at_block(&x);
    x.in = left;
    for (uint32_t i = 0; i < count; i++)
        may[i] = feasible(&x, from->targets[i]);
    bool alone = exclusive(t, may, count);
    struct deed deed = {DEED_CHOICE, (uint8_t)k, .when = left, .count = count};
    deed.may = may;
    deed.chosen = chosen;
    if (!alone)
        duo_note(duo, deed);
    *at_block(&x) = TERM_FALSE;
    for (uint32_t i = 0; i < count; i++) {
        const struct ast_block *target = from->targets[i];
        term goes = take(&x, may[i], &left, alone || i + 1 == count ? NULL : &chosen[i]);
        term *there = &state[slot_at(duo, target ? target->mark : duo->block_count, k)];
        *there = term_or(t, *there, goes);
    }
    term *dead = &state[slot_dead(duo, k)];
    *dead = term_or(t, *dead, left);
}

void duo_block(struct duo *duo, term *state, uint32_t block)
{
    const struct ast_block *b = duo->cfg->blocks[block];
    const struct ast_stm *s = b->body;
    if (state[slot_at(duo, block, 0)] == TERM_FALSE && state[slot_at(duo, block, 1)] == TERM_FALSE)
        return;
    if (duo->lift) {
        lift_block(duo, state, block);
        return;
    }
    if (guard_of(b)) /* who came here was let in by it: `feasible` */
        s = s->next;
    for (uint32_t ordinal = 1; s && !duo->terms.full; s = s->next, ordinal++) {
        if (s->kind == STM_BARRIER) {
            barrier(duo, state, block, ordinal, s);
            continue;
        }
        for (uint32_t k = 0; k < 2; k++) {
            struct acting x = begin(duo, state, block, k, s);
            leave_alive(&x, x.in);
            statement(&x);
        }
    }
    for (uint32_t k = 0; k < 2; k++)
        go(duo, state, block, k);
}
