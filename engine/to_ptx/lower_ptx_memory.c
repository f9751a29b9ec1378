/*
 * lower_ptx_memory.c - statements that are one instruction with its operands: atomics, votes, barriers.
 */
#include "engine/base/invariant.h"
#include "engine/to_ptx/lower_ptx_internal.h"

/* ---- atomics ---- */

static void form_of(enum ast_atomic op, enum ptx_form *form, enum ptx_word *word,
                    enum ptx_word *type)
{
    static const struct {
        uint16_t form;
        uint8_t word, type;
    } rows[ATOMIC_COUNT] = {
        [ATOMIC_ADD] = {PTX_FORM_ATOM_ADD, PTX_W_ADD, PTX_W_S32},
        [ATOMIC_MIN] = {PTX_FORM_ATOM_MINMAX, PTX_W_MIN, PTX_W_S32},
        [ATOMIC_MAX] = {PTX_FORM_ATOM_MINMAX, PTX_W_MAX, PTX_W_S32},
        [ATOMIC_AND] = {PTX_FORM_ATOM_LOGIC, PTX_W_AND, PTX_W_B32},
        [ATOMIC_OR] = {PTX_FORM_ATOM_LOGIC, PTX_W_OR, PTX_W_B32},
        [ATOMIC_EXCH] = {PTX_FORM_ATOM_EXCH, PTX_W_EXCH, PTX_W_B32},
        [ATOMIC_CAS] = {PTX_FORM_ATOM_CAS, PTX_W_CAS, PTX_W_B32},
    };
    *form = (enum ptx_form)rows[op].form;
    *word = (enum ptx_word)rows[op].word;
    *type = (enum ptx_word)rows[op].type;
}

/* What an operation leaves in a location that held `old`: for private memory, which nobody else sees. */
static struct value new_value(struct ptx_lowering *l, enum ast_atomic op, struct value old,
                              struct value a, struct value b)
{
    struct value d = lp_temporary(l);
    switch (op) {
    case ATOMIC_ADD:
        lp_three(l, PTX_FORM_ADD_INT, PTX_W_S32, d, old, a);
        return d;
    case ATOMIC_MIN:
        lp_three(l, PTX_FORM_MIN_INT, PTX_W_S32, d, old, a);
        return d;
    case ATOMIC_MAX:
        lp_three(l, PTX_FORM_MAX_INT, PTX_W_S32, d, old, a);
        return d;
    case ATOMIC_AND:
        lp_three(l, PTX_FORM_AND_BITS, PTX_W_B32, d, old, a);
        return d;
    case ATOMIC_OR:
        lp_three(l, PTX_FORM_OR_BITS, PTX_W_B32, d, old, a);
        return d;
    case ATOMIC_EXCH:
        return a;
    case ATOMIC_CAS: {
        struct predicate same = {lp_predicate(l), false};
        lp_emit(l, PTX_FORM_SETP_INT, PTX_W_S32)->words[PTX_SLOT_CMP] = PTX_W_EQ;
        lp_arg_predicate(l, same);
        lp_arg(l, old);
        lp_arg(l, a);
        lp_three(l, PTX_FORM_SELP_ANY, PTX_W_B32, d, b, old);
        lp_arg_predicate(l, same);
        return d;
    }
    case ATOMIC_COUNT:
        break;
    }
    invariant_fail("an atomic operation", __FILE__, __LINE__);
}

static void store_target(struct ptx_lowering *l, const struct ast_stm *stm, struct value value)
{
    if (!stm->target.var)
        return;
    struct place target = lp_place(l, &stm->target);
    lp_store(l, &target, value);
}

static void private_atomic(struct ptx_lowering *l, const struct ast_stm *stm,
                           const struct place *place, struct value a, struct value b)
{
    struct value old = lp_temporary(l);
    lp_load_into(l, place, old);
    lp_store(l, place, new_value(l, stm->atomic, old, a, b));
    store_target(l, stm, old);
}

/*  x = op(y[i], a, b)      atom.op d, [y + 4 i], a, b;  x := d;      without x: the result is thrown away */
void lp_atomic(struct ptx_lowering *l, const struct ast_stm *stm)
{
    enum ptx_form form;
    enum ptx_word word, type;
    const struct ast_expr *second = stm->arguments->next;
    struct place place = lp_place(l, &stm->place);
    struct value a = lp_eval(l, stm->arguments), b = second ? lp_eval(l, second) : lp_int(0);
    if (place.home->kind == HOME_REGISTER || place.home->space == PTX_W_LOCAL) {
        private_atomic(l, stm, &place, a, b);
        return;
    }
    form_of(stm->atomic, &form, &word, &type);
    struct value old = lp_temporary(l);
    struct ptx_instruction *i = lp_emit(l, form, type);
    i->words[PTX_SLOT_SPACE] = (uint8_t)place.home->space;
    i->words[PTX_SLOT_OP] = (uint8_t)word;
    if (stm->target.var)
        lp_arg(l, old);
    else
        lp_arg_sink(l);
    lp_arg_place(l, &place);
    lp_arg(l, a);
    if (second)
        lp_arg(l, b);
    store_target(l, stm, old);
}

/* ---- votes, barriers ---- */

/*  x = vote_all(e)         p := e;  vote.all.pred q, p;  x := q ? 1 : 0;      ballot: the bits themselves */
void lp_vote(struct ptx_lowering *l, const struct ast_stm *stm)
{
    static const uint8_t modes[VOTE_COUNT] = {[VOTE_ALL] = PTX_W_ALL,
                                              [VOTE_ANY] = PTX_W_ANY,
                                              [VOTE_UNI] = PTX_W_UNI,
                                              [VOTE_BALLOT] = PTX_W_BALLOT};
    bool ballot = stm->vote == VOTE_BALLOT;
    l->votes = true;
    struct predicate p = lp_condition(l, stm->value), q = {lp_predicate(l), false};
    struct value result = lp_temporary(l);
    lp_emit(l, ballot ? PTX_FORM_VOTE_BALLOT : PTX_FORM_VOTE_PRED, ballot ? PTX_W_B32 : PTX_W_PRED)
        ->words[PTX_SLOT_MODE] = modes[stm->vote];
    if (ballot)
        lp_arg(l, result);
    else
        lp_arg_predicate(l, q);
    lp_arg_predicate(l, p);
    if (!ballot) {
        lp_three(l, PTX_FORM_SELP_ANY, PTX_W_B32, result, lp_int(1), lp_int(0));
        lp_arg_predicate(l, q);
    }
    store_target(l, stm, result);
}

/* A number that the machine has no barrier for is found when it runs, as one that is computed. */
static struct value barrier_number(struct ptx_lowering *l, const struct ast_expr *e)
{
    enum { BARRIERS = 16 };
    struct value v = lp_eval(l, e);
    if (v.kind != VALUE_INT || (v.number >= 0 && v.number < BARRIERS))
        return v;
    struct value d = lp_temporary(l);
    lp_move(l, d, v);
    return d;
}

/*  CMP.bar         barrier(): bar.sync 0;   sync(b, n): bar.sync b, n;   arrive(b, n): bar.arrive b, n; */
void lp_barrier(struct ptx_lowering *l, const struct ast_stm *stm)
{
    if (stm->kind == STM_MEMBAR) {
        lp_emit(l, PTX_FORM_MEMBAR_ANY, PTX_W_NONE)->words[PTX_SLOT_SCOPE] = PTX_W_GL;
        return;
    }
    bool named = stm->kind != STM_BARRIER, arrive = stm->kind == STM_ARRIVE;
    struct value number = named ? barrier_number(l, stm->value) : lp_int(0);
    struct value count = named ? lp_eval(l, stm->second) : lp_int(0);
    lp_emit(l, arrive ? PTX_FORM_BAR_ARRIVE : PTX_FORM_BAR_SYNC, PTX_W_NONE)->words[PTX_SLOT_SYNC] =
        arrive ? PTX_W_ARRIVE : PTX_W_SYNC;
    lp_arg(l, number);
    if (named)
        lp_arg(l, count);
}
