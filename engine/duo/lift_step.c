/*
 * lift_step.c - a block of instructions for the threads that are in it: guards, operands, barriers, where they go.
 */
#include "engine/duo/lift.h"

#include <inttypes.h>

/* ---- what is noted ---- */

/* Thread k executes it. */
static term executes(struct lifting *x)
{
    return term_and(&x->duo->terms, x->active, x->state[slot_path(x->duo)]);
}

term lift_make(struct lifting *x, enum term_sort sort, const char *what, uint32_t as)
{
    term made = duo_fresh(x->duo, sort, what);
    duo_note(x->duo, (struct deed){DEED_MADE, (uint8_t)x->k, .when = executes(x), .count = x->pc,
                                   .as = (uint8_t)as, .made = {made}});
    return made;
}

/* ---- operands ---- */

/* A bit mask of lanes below the thread's, or what else is a function of its lane. */
static term lane_mask_of(struct lifting *x, enum ptx_special special, term lane)
{
    struct terms *t = &x->duo->terms;
    term bit = term_binary(t, BINARY_SHL, term_word(t, 1), lane);
    term below = term_binary(t, BINARY_SUB, bit, term_word(t, 1));
    term up_to = term_binary(t, BINARY_OR, below, bit);
    switch ((int)special) {
    case PTX_SPECIAL_LANEMASK_EQ:
        return bit;
    case PTX_SPECIAL_LANEMASK_LE:
        return up_to;
    case PTX_SPECIAL_LANEMASK_LT:
        return below;
    case PTX_SPECIAL_LANEMASK_GE:
        return term_unary(t, UNARY_COMPLEMENT, below);
    default:
        return term_unary(t, UNARY_COMPLEMENT, up_to);
    }
}

static term special(struct lifting *x, enum ptx_special which, char element)
{
    struct terms *t = &x->duo->terms;
    term warp = term_word(t, (int32_t)x->lift->program->launch.warp);
    term lane = term_urem(t, x->duo->tid[x->k], warp);
    uint32_t part = element == 'y' ? 1 : element == 'z' ? 2 : 0;
    switch ((int)which) {
    case PTX_SPECIAL_TID:
        return x->lift->tid[x->k][part];
    case PTX_SPECIAL_CTAID:
        return x->lift->bid[x->k][part];
    case PTX_SPECIAL_LANEID:
        return lane;
    case PTX_SPECIAL_WARPID:
        return term_udiv(t, x->duo->tid[x->k], warp);
    case PTX_SPECIAL_LANEMASK_EQ:
    case PTX_SPECIAL_LANEMASK_LE:
    case PTX_SPECIAL_LANEMASK_LT:
    case PTX_SPECIAL_LANEMASK_GE:
    case PTX_SPECIAL_LANEMASK_GT:
        return lane_mask_of(x, which, lane);
    default:
        return lift_make(x, SORT_WORD,
                         arena_printf(x->duo->arena, "%s at line %" PRIu32,
                                      ptx_specials[which].name, x->op->line),
                         LIFT_SPECIAL);
    }
}

static const struct ast_var *register_of(const struct lift *lift, const struct ptx_place *place)
{
    return (place->bits == 64 ? lift->wide : lift->narrow)[place->offset];
}

static term constant(struct lifting *x, const struct ptx_place *place)
{
    const uint32_t *rows = x->lift->code->constant_rows + place->offset;
    if (place->bits == 64)
        return term_long(&x->duo->terms, (int64_t)((uint64_t)rows[1] << 32 | rows[0]));
    return term_word(&x->duo->terms, (int32_t)rows[0]);
}

term lift_value(struct lifting *x, const struct ptx_place *place)
{
    struct terms *t = &x->duo->terms;
    const struct ptx_code *code = x->lift->code;
    term value;
    switch ((enum ptx_place_kind)place->kind) {
    case PTX_PLACE_REGISTER:
        return term_under(t, x->active,
                          x->state[slot_var(x->duo, register_of(x->lift, place), x->k)]);
    case PTX_PLACE_CONST:
        return constant(x, place);
    case PTX_PLACE_SPECIAL:
        value = special(x, code->specials[place->offset].special,
                        code->specials[place->offset].element);
        return place->bits == 64 ? term_unsigned(t, value) : value;
    case PTX_PLACE_FRAME:
        value = term_word(t, (int32_t)(code->frame_local_base + place->offset));
        return place->bits == 64 ? term_unsigned(t, value) : value;
    case PTX_PLACE_NONE:
        break;
    }
    return place->bits == 64 ? term_long(t, 0) : term_word(t, 0);
}

void lift_set(struct lifting *x, const struct ptx_place *place, term value)
{
    if (place->kind != PTX_PLACE_REGISTER)
        return;
    term *held = &x->state[slot_var(x->duo, register_of(x->lift, place), x->k)];
    *held = term_ite(&x->duo->terms, x->active, value, *held);
}

term lift_anything(struct lifting *x, const struct ptx_place *place)
{
    const char *what = arena_printf(x->duo->arena, "what '%s' at line %" PRIu32 " gives",
                                    ptx_mnemonics[x->op->opcode], x->op->line);
    bool is_result = place >= x->op->results && place < x->op->results + PTX_CODE_RESULTS;
    return lift_make(x, place->bits == 64 ? SORT_LONG : SORT_WORD, what,
                     is_result ? (uint32_t)(place - x->op->results) : LIFT_LEFT);
}

/* ---- one instruction ---- */

static struct lifting begin(struct duo *duo, term *state, uint32_t block, uint32_t k, uint32_t pc)
{
    struct lifting x = {.duo = duo, .lift = duo->lift, .state = state, .k = k, .pc = pc};
    struct terms *t = &duo->terms;
    x.op = &duo->lift->code->ops[pc];
    x.at.line = x.op->line;
    x.active = state[slot_at(duo, block, k)];
    if (x.op->guard.kind != PTX_PLACE_NONE) {
        term holds = term_holds(t, lift_value(&x, &x.op->guard));
        x.active = term_and(t, x.active, x.op->guard_not ? term_not(t, holds) : holds);
    }
    return x;
}

/* Who executed it and is not in `left` has died. */
static void leave(struct lifting *x, uint32_t block, term left)
{
    struct terms *t = &x->duo->terms;
    term dies = term_and(t, x->active, term_not(t, left));
    term *in = &x->state[slot_at(x->duo, block, x->k)], *dead = &x->state[slot_dead(x->duo, x->k)];
    *dead = term_or(t, *dead, dies);
    *in = term_and(t, *in, term_not(t, dies));
}

static void note_done(struct lifting *x)
{
    term *results = ARENA_ARRAY(x->duo->arena, term, PTX_CODE_RESULTS);
    for (uint32_t i = 0; i < x->op->result_count; i++)
        if (x->op->results[i].kind == PTX_PLACE_REGISTER)
            results[i] = x->state[slot_var(x->duo, register_of(x->lift, &x->op->results[i]), x->k)];
    duo_note(x->duo, (struct deed){DEED_DONE, (uint8_t)x->k, .when = executes(x), .count = x->pc,
                                   .may = results});
}

static void execute(struct lifting *x, uint32_t block)
{
    term left;
    switch ((int)x->op->exec) {
    case PTX_EXEC_LD:
    case PTX_EXEC_ST:
    case PTX_EXEC_ATOM:
        left = lift_access(x);
        leave(x, block, left);
        x->active = left;
        return;
    case PTX_EXEC_ROWS:
        lift_compute(x);
        return;
    case PTX_EXEC_VOTE:
    case PTX_EXEC_ACTIVEMASK:
    case PTX_EXEC_SHFL:
    case PTX_EXEC_MATCH:
    case PTX_EXEC_REDUX:
    case PTX_EXEC_CLOCK:
        for (uint32_t i = 0; i < x->op->result_count; i++)
            lift_set(x, &x->op->results[i], lift_anything(x, &x->op->results[i]));
        return;
    case PTX_EXEC_NOP:
    case PTX_EXEC_MEMBAR:
    case PTX_EXEC_BAR_WARP:
        return;
    default: /* is_handled has refused it */
        x->duo->reason = "an instruction that is not handled";
    }
}

static void meet(struct duo *duo, term *state, uint32_t block, uint32_t pc)
{
    term meets[2];
    struct lifting x;
    for (uint32_t k = 0; k < 2; k++) {
        x = begin(duo, state, block, k, pc);
        meets[k] = x.active;
    }
    if (meets[0] != TERM_FALSE || meets[1] != TERM_FALSE)
        duo_meet(duo, state, point_key(block, 1 + pc - duo->lift->first[block]), meets, x.at);
}

/* ---- where threads go ---- */

static void arrive(struct lifting *x, uint32_t target, term who)
{
    struct terms *t = &x->duo->terms;
    const struct lift *lift = x->lift;
    bool ends = target == lift->code->functions[0].end;
    uint32_t block = ends ? x->duo->block_count : lift->block_at[target];
    if (who == TERM_FALSE)
        return;
    term *there = &x->state[slot_at(x->duo, block, x->k)];
    *there = term_or(t, *there, who);
}

/* An index that is not in the table ends the execution. */
static void go_by_table(struct lifting *x)
{
    struct terms *t = &x->duo->terms;
    term index = lift_value(x, &x->op->sources[0]), outside = x->active;
    for (uint32_t i = 0; i < x->op->table_count; i++) {
        term here = term_eq(t, index, term_word(t, (int32_t)i));
        arrive(x, x->lift->code->table[x->op->table + i], term_and(t, x->active, here));
        outside = term_and(t, outside, term_not(t, here));
    }
    term *dead = &x->state[slot_dead(x->duo, x->k)];
    *dead = term_or(t, *dead, outside);
}

static void trap(struct lifting *x)
{
    struct terms *t = &x->duo->terms;
    term *dead = &x->state[slot_dead(x->duo, x->k)];
    duo_oblige(x->duo, x->state, x->k,
               &(struct obligation){.goal = GOAL_ASSERTS, .wrong = x->active, .at = x->at});
    *dead = term_or(t, *dead, x->active);
}

static void go(struct duo *duo, term *state, uint32_t block, uint32_t k)
{
    struct terms *t = &duo->terms;
    uint32_t pc = duo->lift->end[block] - 1;
    struct lifting x = begin(duo, state, block, k, pc);
    term *at = &state[slot_at(duo, block, k)], in = *at;
    *at = TERM_FALSE;
    if (!ptx_is_flow((enum ptx_exec)x.op->exec)) {
        arrive(&x, pc + 1, in);
        return;
    }
    arrive(&x, pc + 1, term_and(t, in, term_not(t, x.active)));
    if (x.op->exec == PTX_EXEC_EXIT)
        arrive(&x, duo->lift->code->functions[0].end, x.active);
    else if (x.op->exec == PTX_EXEC_TRAP)
        trap(&x);
    else if (x.op->target)
        arrive(&x, x.op->target, x.active);
    else
        go_by_table(&x);
}

void lift_block(struct duo *duo, term *state, uint32_t block)
{
    const struct lift *lift = duo->lift;
    for (uint32_t pc = lift->first[block]; pc < lift->end[block] && !duo->terms.full; pc++) {
        const struct ptx_op *op = &lift->code->ops[pc];
        if (ptx_is_flow((enum ptx_exec)op->exec))
            break;
        if (op->exec == PTX_EXEC_BAR_SYNC) {
            meet(duo, state, block, pc);
            continue;
        }
        for (uint32_t k = 0; k < 2; k++) {
            struct lifting x = begin(duo, state, block, k, pc);
            if (x.active == TERM_FALSE)
                continue;
            execute(&x, block);
            note_done(&x);
        }
    }
    for (uint32_t k = 0; k < 2; k++)
        go(duo, state, block, k);
}

/* ---- what a block changes ---- */

static void mark_access(struct duo *duo, uint32_t pc, uint8_t *changed)
{
    const struct lift *lift = duo->lift;
    const struct ptx_op *op = &lift->code->ops[pc];
    for (uint32_t i = 0; i < lift->place_count; i++) {
        const struct ast_var *var = lift->places[i].var;
        if (!lift_allows(lift, pc, i))
            continue;
        if (is_memory(var))
            changed[slot_log(duo, var, lift_log_kind(lift, op))] = 1;
        for (uint32_t k = 0; k < 2 && op->exec != PTX_EXEC_LD; k++)
            changed[slot_var(duo, var, k)] = 1;
    }
}

void lift_mark_changes(struct duo *duo, uint32_t block, uint8_t *changed)
{
    const struct lift *lift = duo->lift;
    for (uint32_t pc = lift->first[block]; pc < lift->end[block]; pc++) {
        const struct ptx_op *op = &lift->code->ops[pc];
        if (op->exec == PTX_EXEC_BAR_SYNC)
            duo_mark_barrier(duo, changed);
        if (op->exec == PTX_EXEC_LD || op->exec == PTX_EXEC_ST || op->exec == PTX_EXEC_ATOM)
            mark_access(duo, pc, changed);
        for (uint32_t i = 0; i < op->result_count; i++)
            for (uint32_t k = 0; k < 2 && op->results[i].kind == PTX_PLACE_REGISTER; k++)
                changed[slot_var(duo, register_of(lift, &op->results[i]), k)] = 1;
    }
}
