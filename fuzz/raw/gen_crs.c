#include "fuzz/raw/gen_crs.h"

#include "engine/base/invariant.h"
#include "engine/base/text.h"
#include "engine/crs/crs_branch.h"
#include "engine/input/ptx_kernel.h"

#include <inttypes.h>
#include <string.h>

enum {
    SLOTS_MAX = 48,  /* instructions, markers and loops counting as one */
    TOKENS_MAX = 64, /* of the warp that makes the program */
    PREDICATES = 3,  /* p0 .. p2; the fuel's is the next one */
    TABLES = 2,      /* registers with an address for each lane */
    STEPS_MAX = 400, /* of the execution that makes the program */
    PRELUDE = 3,     /* instructions before the first slot */
    ADDRESSES = 3,   /* more of them: of what atomic operations are on */
    GIVEN_MAX = 4,   /* tokens that each warp starts with */
    NO_GUARD = 0
};

/* One instruction, or a few in a row that nothing jumps between. Numbered from 1, as addresses are. */
struct slot {
    bool set;
    uint32_t op;     /* W_CRS_OP_* */
    uint32_t guard;  /* NO_GUARD, or 1 + 2 * predicate + negated */
    uint32_t target; /* slot; of an indirect one the table */
    uint32_t table;  /* of an address that goes into a table's register */
};

/* What each operation is: instructions that it takes, its flow action, and its text; %L stands for the
 * target's label, %r for the register that holds each lane's, %t for the one that the label goes into, %p for the
 * predicate, %N for the slot's number. */
struct op {
    uint8_t size;
    uint8_t exec; /* enum ptx_exec */
    bool table;   /* the target is a table's */
    const char *text;
};

static const struct op ops[] = {
#define OP(id, ...) [W_CRS_OP_##id - W_CRS_OP_FIRST] = {__VA_ARGS__}
    OP(MARK, 2, PTX_EXEC_NOP, false, "mad.lo.u32 h, h, 31, %N;\n\tst.global.u32 [a], h;\n"),
    OP(SSY, 1, PTX_EXEC_SSY, false, "ssy %L;\n"),
    OP(PREBRK, 1, PTX_EXEC_PREBRK, false, "preBrk %L;\n"),
    OP(PRERET, 1, PTX_EXEC_PRERET, false, "preRet %L;\n"),
    OP(SYNC, 1, PTX_EXEC_SYNC, false, "sync;\n"),
    OP(BREAK, 1, PTX_EXEC_BREAK, false, "break;\n"),
    OP(RET, 1, PTX_EXEC_RET, false, "ret;\n"),
    OP(EXIT, 1, PTX_EXEC_EXIT, false, "exit;\n"),
    OP(BRA, 1, PTX_EXEC_BRA, false, "bra %L;\n"),
    OP(BRA_BACK, 1, PTX_EXEC_BRA, false, "bra %L;\n"),
    OP(LOOP, 3, PTX_EXEC_BRA, false, "sub.s32 n, n, 1;\n\tsetp.gt.s32 f, n, 0;\n\t@f bra %L;\n"),
    OP(BRA_TABLE, 1, PTX_EXEC_BRA, true, "bra %r;\n"),
    OP(CALL, 1, PTX_EXEC_CALL, false, "call %L;\n"),
    OP(CALL_TABLE, 1, PTX_EXEC_CALL, true, "call %r;\n"),
    OP(FLIP, 1, PTX_EXEC_NOP, false, "not.pred %p, %p;\n"),
    OP(TAKE, 1, PTX_EXEC_NOP, false, "mov.u32 %t, %L;\n"),
    OP(FUEL, 2, PTX_EXEC_NOP, false, "sub.s32 n, n, 1;\n\tsetp.gt.s32 f, n, 0;\n"),
    OP(RED, 1, PTX_EXEC_NOP, false, "red.global.add.u32 [c], h;\n"),
    OP(ATOM, 1, PTX_EXEC_NOP, false, "atom.global.add.u32 h, [d], h;\n"),
    OP(TICKET, 1, PTX_EXEC_NOP, false, "atom.global.inc.u32 h, [c+4], %N;\n"),
#undef OP
};

static const struct op *op_of(const struct slot *slot)
{
    return &ops[slot->op - W_CRS_OP_FIRST];
}

struct crs_gen {
    struct gen *g;
    uint32_t count; /* slots; the last one is an exit */
    uint32_t lanes;
    bool loose;
    bool printed; /* calls keep to stack-cons 6 as printed, not to 6' */
    struct slot slots[SLOTS_MAX + 2];
    lane_mask initial[PREDICATES];
    uint32_t fuel[LIMIT_WARP];
    bool table_made[TABLES];
    uint32_t tables[TABLES][LIMIT_WARP]; /* slots, at the start */
    const char *sigil;                   /* of the names of predicates and tables: "" or "%" */
    uint32_t given_count; /* tokens that each warp starts with, the bottom first; pc: a slot */
    struct crs_token given[GIVEN_MAX];

    /* The warp that makes the program. */
    struct crs_state state;
    struct crs_token tokens[TOKENS_MAX];
    lane_mask predicates[PREDICATES + 1];
    uint32_t left[LIMIT_WARP];         /* fuel */
    uint32_t held[TABLES][LIMIT_WARP]; /* slots, now */
};

static bool is_atomic(const struct slot *slot)
{
    return slot->op == W_CRS_OP_RED || slot->op == W_CRS_OP_ATOM || slot->op == W_CRS_OP_TICKET;
}

static bool has_atomics(const struct crs_gen *c)
{
    for (uint32_t i = 1; i <= c->count; i++)
        if (is_atomic(&c->slots[i]))
            return true;
    return false;
}

static lane_mask all_lanes(const struct crs_gen *c)
{
    return ~(lane_mask)0 >> (64 - c->lanes);
}

/* ---- what consistency allows ---- */

/* sc.3 to sc.5, with 4': the first token that is no diverge token is a sync token to the next address. */
static bool may_sync(const struct crs_gen *c)
{
    for (uint32_t i = c->state.depth; i-- > 0;)
        if (c->tokens[i].type != CRS_DIVERGE)
            return c->tokens[i].type == CRS_SYNC && c->tokens[i].pc == c->state.pc + 1;
    return false;
}

static bool has_token(const struct crs_gen *c, enum crs_token_type type)
{
    return crs_topmost(&c->state, c->tokens, type) != NULL;
}

/* sc.6': the top token is a call token to the next address; as printed: some token is. */
static bool may_call(const struct crs_gen *c)
{
    for (uint32_t i = c->state.depth; i-- > 0;) {
        const struct crs_token *t = &c->tokens[i];
        if (t->type == CRS_CALL && t->pc == c->state.pc + 1)
            return true;
        if (!c->printed)
            return false;
    }
    return false;
}

static uint32_t banned_ops(const struct crs_gen *c)
{
    uint32_t banned = 0;
    if (c->state.pc + 2 > c->count || c->state.depth + 2 >= TOKENS_MAX)
        banned |= GEN_BAN(CRS_OP, SSY) | GEN_BAN(CRS_OP, PREBRK) | GEN_BAN(CRS_OP, PRERET);
    if (c->slots[c->state.pc + 1].set && !c->loose)
        banned |= GEN_BAN(CRS_OP, PRERET);
    if (c->loose)
        return banned;
    if (!may_sync(c))
        banned |= GEN_BAN(CRS_OP, SYNC);
    if (!has_token(c, CRS_BREAK))
        banned |= GEN_BAN(CRS_OP, BREAK);
    if (!has_token(c, CRS_CALL))
        banned |= GEN_BAN(CRS_OP, RET);
    if (!may_call(c))
        banned |= GEN_BAN(CRS_OP, CALL) | GEN_BAN(CRS_OP, CALL_TABLE);
    return banned;
}

/* ---- drawing a slot ---- */

/* Lanes seldom leave all together: what comes behind would be dead. */
static uint32_t draw_guard(struct crs_gen *c, uint32_t op)
{
    bool leaves = op == W_CRS_OP_EXIT && !c->g->options->small && gen_chance(c->g, 90);
    switch (gen_pick(c->g, GROUP_CRS_GUARD, leaves ? GEN_BAN(CRS_GUARD, NONE) : 0)) {
    case W_CRS_GUARD_FUEL:
        return 1 + 2 * PREDICATES + gen_below(c->g, 2);
    case W_CRS_GUARD_PREDICATE:
        return 1 + gen_below(c->g, c->g->options->small ? 2 : 2 * PREDICATES);
    default:
        return NO_GUARD;
    }
}

/* A slot in [first, count], near ones more often. */
static uint32_t draw_forward(struct crs_gen *c, uint32_t first)
{
    uint32_t span = c->count - first + 1;
    if (!c->g->options->small && span > 6 && gen_chance(c->g, 70))
        span = 6;
    return first + gen_below(c->g, span);
}

static uint32_t draw_table(struct crs_gen *c)
{
    uint32_t t = gen_below(c->g, c->g->options->small ? 1 : TABLES);
    if (c->table_made[t])
        return t;
    c->table_made[t] = true;
    uint32_t first = c->state.pc < c->count ? c->state.pc + 1 : c->count;
    uint32_t choices[3];
    for (uint32_t i = 0; i < 3; i++)
        choices[i] = i == 2 && c->g->options->small ? choices[0] : draw_forward(c, first);
    for (uint32_t lane = 0; lane < c->lanes; lane++)
        c->tables[t][lane] = c->held[t][lane] =
            choices[gen_below(c->g, c->g->options->small ? 2 : 3)];
    return t;
}

static void reserve(struct crs_gen *c, uint32_t number, uint32_t op, uint32_t guard,
                    uint32_t target)
{
    if (!c->slots[number].set)
        c->slots[number] = (struct slot){.set = true, .op = op, .guard = guard, .target = target};
}

/* The call that a preRet is for comes later: what is pushed in between hides its token (ERR.30). */
static void late_call(struct crs_gen *c, struct slot *slot)
{
    uint32_t pc = c->state.pc;
    if (pc + 3 > c->count)
        return;
    uint32_t at = draw_forward(c, pc + 2);
    uint32_t guard = draw_guard(c, W_CRS_OP_CALL);
    if (at == c->count)
        return;
    slot->target = at + 1;
    reserve(c, at, W_CRS_OP_CALL, guard, draw_forward(c, 1));
}

/* Two loops; what is called in the inner one breaks out of it, and behind that the outer one is left. */
static void nested_breaks(struct crs_gen *c, struct slot *slot)
{
    uint32_t pc = c->state.pc;
    slot->target = draw_forward(c, pc + 6);
    uint32_t inner = pc + 4 + gen_below(c->g, slot->target - pc - 4);
    uint32_t called = pc + 4 + gen_below(c->g, slot->target - pc - 4);
    reserve(c, pc + 1, W_CRS_OP_PREBRK, NO_GUARD, inner);
    reserve(c, pc + 2, W_CRS_OP_PRERET, NO_GUARD, pc + 4);
    reserve(c, pc + 3, W_CRS_OP_CALL, NO_GUARD, called);
    reserve(c, inner, W_CRS_OP_BREAK, draw_guard(c, W_CRS_OP_BREAK), 0);
    reserve(c, called, W_CRS_OP_BREAK, draw_guard(c, W_CRS_OP_BREAK), 0);
}

/* Some lanes take another target, and all go. */
static void take_again(struct crs_gen *c, uint32_t table)
{
    uint32_t pc = c->state.pc, guard = draw_guard(c, W_CRS_OP_TAKE);
    if (c->slots[pc + 1].set || c->slots[pc + 2].set)
        return;
    reserve(c, pc + 1, W_CRS_OP_TAKE, guard, draw_forward(c, pc + 3));
    c->slots[pc + 1].table = table;
    reserve(c, pc + 2, W_CRS_OP_BRA_TABLE, NO_GUARD, table);
}

static void draw_target(struct crs_gen *c, struct slot *slot)
{
    uint32_t pc = c->state.pc;
    switch (slot->op) {
    case W_CRS_OP_SSY:
        slot->target = draw_forward(c, pc + 2);
        if (gen_chance(c->g, 85))
            reserve(c, slot->target - 1, W_CRS_OP_SYNC,
                    c->loose && gen_chance(c->g, 50) ? draw_guard(c, W_CRS_OP_SYNC) : NO_GUARD, 0);
        break;
    case W_CRS_OP_PREBRK: /* behind an inner loop, sometimes a break of the one around */
        if (!c->g->options->small && pc + 6 <= c->count && c->state.depth + 5 < TOKENS_MAX &&
            gen_chance(c->g, 25)) {
            nested_breaks(c, slot);
            break;
        }
        slot->target = draw_forward(c, pc + 2);
        if (!c->g->options->small && has_token(c, CRS_BREAK) && slot->target < c->count &&
            gen_chance(c->g, 30))
            reserve(c, slot->target, W_CRS_OP_BREAK, draw_guard(c, W_CRS_OP_BREAK), 0);
        break;
    case W_CRS_OP_PRERET: { /* a call with the same guard right behind it: CHK.static (a) */
        const uint32_t guard =
            c->loose && gen_chance(c->g, 30) ? draw_guard(c, W_CRS_OP_CALL) : slot->guard;
        slot->target = c->loose && gen_chance(c->g, 30) ? draw_forward(c, pc + 1) : pc + 2;
        if (c->printed)
            late_call(c, slot);
        else if (c->loose && gen_chance(c->g, 30))
            break;
        else if (gen_chance(c->g, 25))
            reserve(c, pc + 1, W_CRS_OP_CALL_TABLE, guard, draw_table(c));
        else
            reserve(c, pc + 1, W_CRS_OP_CALL, guard, draw_forward(c, 1));
        break;
    }
    case W_CRS_OP_BRA:
    case W_CRS_OP_CALL:
        slot->target = draw_forward(c, pc < c->count ? pc + 1 : pc);
        break;
    case W_CRS_OP_BRA_BACK:
    case W_CRS_OP_LOOP:
        slot->target = 1 + gen_below(c->g, pc);
        break;
    case W_CRS_OP_BRA_TABLE:
    case W_CRS_OP_CALL_TABLE:
        slot->target = draw_table(c);
        break;
    case W_CRS_OP_TAKE:
        slot->table = draw_table(c);
        slot->target = draw_forward(c, pc < c->count ? pc + 1 : pc);
        if (slot->guard == NO_GUARD && pc + 3 < c->count && gen_chance(c->g, 40))
            take_again(c, slot->table);
        break;
    case W_CRS_OP_FLIP:
        slot->target = gen_below(c->g, c->g->options->small ? 1 : PREDICATES);
        break;
    default:
        break;
    }
}

/* CHK.static (b): these are not guarded. A marker's guard would only hide it. */
static bool takes_guard(const struct crs_gen *c, uint32_t op)
{
    bool pushes = op == W_CRS_OP_SSY || op == W_CRS_OP_PREBRK || op == W_CRS_OP_SYNC;
    return op != W_CRS_OP_MARK && op != W_CRS_OP_LOOP && op != W_CRS_OP_FUEL &&
           (c->loose || !pushes);
}

static void draw_slot(struct crs_gen *c)
{
    struct slot *slot = &c->slots[c->state.pc];
    slot->set = true;
    slot->op = gen_pick(c->g, GROUP_CRS_OP, banned_ops(c));
    slot->guard = takes_guard(c, slot->op) ? draw_guard(c, slot->op) : NO_GUARD;
    draw_target(c, slot);
}

/* ---- the execution that makes the program ---- */

struct source_choices {
    struct choices choices;
    struct gen *g;
};

static uint32_t choose(struct choices *choices, uint32_t n)
{
    return gen_below(((struct source_choices *)choices)->g, n);
}

static lane_mask executing(const struct crs_gen *c, uint32_t guard)
{
    if (guard == NO_GUARD)
        return c->state.active;
    lane_mask holds = c->predicates[(guard - 1) / 2];
    return c->state.active & ((guard - 1) % 2 ? ~holds : holds);
}

/* Burns a unit of each lane's fuel; the predicate: there is some left. */
static void burn(struct crs_gen *c, lane_mask X)
{
    lane_mask *some = &c->predicates[PREDICATES];
    for (lane_mask rest = X; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctzll(rest);
        c->left[lane] -= c->left[lane] > 0;
        lane_mask bit = (lane_mask)1 << lane;
        *some = c->left[lane] ? *some | bit : *some & ~bit;
    }
}

/* False: there is no next state. */
static bool step(struct crs_gen *c)
{
    if (!c->slots[c->state.pc].set)
        draw_slot(c);
    const struct slot slot = c->slots[c->state.pc];
    struct source_choices choices = {.choices.choose = choose, .g = c->g};
    struct crs_unit unit = {.machine = &crs_no_machine,
                            .s = &c->state,
                            .tokens = c->tokens,
                            .capacity = TOKENS_MAX,
                            .W = all_lanes(c)};
    if (slot.op == W_CRS_OP_LOOP || slot.op == W_CRS_OP_FUEL)
        burn(c, c->state.active);
    lane_mask X = executing(c, slot.op == W_CRS_OP_LOOP ? 1 + 2 * PREDICATES : slot.guard);
    enum ptx_exec kind = (enum ptx_exec)op_of(&slot)->exec;
    if (slot.op == W_CRS_OP_FLIP)
        c->predicates[slot.target] ^= X;
    for (lane_mask rest = slot.op == W_CRS_OP_TAKE ? X : 0; rest; rest &= rest - 1)
        c->held[slot.table][__builtin_ctzll(rest)] = slot.target;
    if (kind == PTX_EXEC_NOP || X == 0) {
        c->state.pc++;
        return true;
    }
    bool table = op_of(&slot)->table;
    uint32_t targets[LIMIT_WARP];
    for (uint32_t lane = 0; lane < c->lanes; lane++)
        targets[lane] = table ? c->held[slot.target][lane] : slot.target;
    struct crs_actions actions = {.kind = kind, .X = X, .address = slot.target, .targets = targets};
    crs_flow(&unit, &actions, &choices.choices);
    return !unit.bottom && !unit.overflow && !c->state.completed;
}

/* The exit moves up behind the last slot that has been drawn. */
static void drop_tail(struct crs_gen *c)
{
    uint32_t last = c->count - 1;
    while (last > 1 && !c->slots[last].set)
        last--;
    for (uint32_t i = 1; i <= last; i++) {
        struct slot *slot = &c->slots[i];
        if (slot->set && !op_of(slot)->table && slot->target > last)
            slot->target = last + 1;
    }
    for (uint32_t t = 0; t < TABLES; t++)
        for (uint32_t lane = 0; lane < c->lanes; lane++)
            if (c->tables[t][lane] > last)
                c->tables[t][lane] = last + 1;
    for (uint32_t i = 0; i < c->given_count; i++)
        if (c->given[i].pc > last)
            c->given[i].pc = last + 1;
    c->slots[last + 1] = c->slots[c->count];
    c->count = last + 1;
}

static lane_mask draw_mask(struct crs_gen *c)
{
    lane_mask mask = 0;
    switch (gen_pick(c->g, GROUP_CRS_MASK, 0)) {
    case W_CRS_MASK_ONE:
        return (lane_mask)1 << gen_below(c->g, c->lanes);
    case W_CRS_MASK_ALL:
        return all_lanes(c);
    case W_CRS_MASK_NONE:
        return 0;
    default:
        for (uint32_t lane = 0; lane < c->lanes; lane++)
            mask |= (lane_mask)gen_below(c->g, 2) << lane;
        return mask;
    }
}

/* Tokens that lie there before anything has run: of all lanes, or, where nothing has to be consistent, of any. A sync
 * stands in front of where a sync token goes on, as behind an ssy. */
static void draw_given(struct crs_gen *c)
{
    static const enum crs_token_type types[] = {CRS_SYNC, CRS_BREAK, CRS_CALL, CRS_DIVERGE};
    if (c->g->options->small || c->count < 6 || !gen_chance(c->g, 12))
        return;
    c->given_count = 1 + gen_below(c->g, GIVEN_MAX);
    for (uint32_t i = 0; i < c->given_count; i++) {
        struct crs_token *token = &c->given[i];
        token->type = types[gen_below(c->g, 4)];
        token->pc = 3 + gen_below(c->g, c->count - 3);
        token->mask = c->loose && gen_chance(c->g, 50) ? draw_mask(c) : all_lanes(c);
        if (token->type == CRS_SYNC && gen_chance(c->g, 85))
            reserve(c, token->pc - 1, W_CRS_OP_SYNC, NO_GUARD, 0);
    }
}

static void make_program(struct crs_gen *c)
{
    c->state = (struct crs_state){.pc = 1, .depth = c->given_count, .active = all_lanes(c)};
    memcpy(c->tokens, c->given, sizeof c->given);
    memcpy(c->predicates, c->initial, sizeof c->initial);
    c->predicates[PREDICATES] = all_lanes(c);
    memcpy(c->left, c->fuel, sizeof c->left);
    c->slots[c->count] = (struct slot){.set = true, .op = W_CRS_OP_EXIT};
    for (uint32_t steps = 0; steps < STEPS_MAX && step(c); steps++)
        ;
    drop_tail(c);
    for (uint32_t i = 1; i < c->count; i++)
        if (!c->slots[i].set)
            c->slots[i] = (struct slot){.set = true, .op = W_CRS_OP_MARK};
}

/* ---- text ---- */

static void put_guard(struct text *text, const char *sigil, uint32_t guard)
{
    if (guard == NO_GUARD)
        return;
    uint32_t p = (guard - 1) / 2;
    text_put(text, (guard - 1) % 2 ? "@!" : "@");
    if (p == PREDICATES)
        text_put(text, "f ");
    else
        text_format(text, "%sp%" PRIu32 " ", sigil, p);
}

static void put_slot(struct text *text, const char *sigil, const struct slot *slot, uint32_t number)
{
    text_format(text, "L%" PRIu32 ":\t", number);
    put_guard(text, sigil, slot->guard);
    for (const char *at = op_of(slot)->text; *at;) {
        size_t length = strcspn(at, "%");
        text_format(text, "%.*s", (int)length, at);
        at += length;
        if (*at == '\0')
            break;
        if (at[1] == 'N')
            text_format(text, "%" PRIu32, number);
        else if (at[1] == 't')
            text_format(text, "%sr%" PRIu32, sigil, slot->table);
        else
            text_format(text, "%s%c%" PRIu32, at[1] == 'L' ? "" : sigil, at[1], slot->target);
        at += 2;
    }
}

/* stack=type,mask,address+.., the top first. */
static void put_given(const struct crs_gen *c, struct text *text, const uint32_t *address)
{
    static const char *const names[] = {
        [CRS_SYNC] = "sync", [CRS_BREAK] = "brk", [CRS_CALL] = "call", [CRS_DIVERGE] = "div"};
    for (uint32_t i = c->given_count; i-- > 0;) {
        const struct crs_token *token = &c->given[i];
        text_format(text, "%s%s,", i + 1 == c->given_count ? " stack=" : "+", names[token->type]);
        for (uint32_t lane = 0; lane < c->lanes; lane++)
            text_put(text, token->mask >> lane & 1 ? "1" : "0");
        text_format(text, ",%" PRIu32, address[token->pc]);
    }
}

static const char *settings(struct crs_gen *c, struct arena *arena)
{
    struct text text = {.arena = arena};
    const struct ast_launch *launch = &c->g->kernel->launch;
    uint32_t address[SLOTS_MAX + 2];
    address[1] = PRELUDE + 1 + (has_atomics(c) ? ADDRESSES : 0);
    for (uint32_t i = 1; i < c->count; i++)
        address[i + 1] = address[i] + op_of(&c->slots[i])->size;
    const char *sigil = c->fuel[0] % 2 ? c->sigil : ""; /* may be left out in settings */
    text_format(&text, "raw threads=%" PRIu32 " warp=%" PRIu32, launch->threads, launch->warp);
    for (uint32_t p = 0; p < PREDICATES; p++) {
        text_format(&text, " reg:%sp%" PRIu32 "=", sigil, p);
        for (uint32_t lane = 0; lane < c->lanes; lane++)
            text_put(&text, c->initial[p] >> lane & 1 ? "1" : "0");
    }
    text_format(&text, " reg:f=%.*s", (int)c->lanes,
                "1111111111111111111111111111111111111111111111111111111111111111");
    text_put(&text, " reg:n=");
    for (uint32_t lane = 0; lane < c->lanes; lane++)
        text_format(&text, "%s%" PRIu32, lane ? "," : "", c->fuel[lane]);
    for (uint32_t t = 0; t < TABLES; t++) {
        text_format(&text, " reg:%sr%" PRIu32 "=", sigil, t);
        for (uint32_t lane = 0; lane < c->lanes; lane++)
            text_format(&text, "%s%" PRIu32, lane ? "," : "",
                        address[c->table_made[t] ? c->tables[t][lane] : c->count]);
    }
    put_given(c, &text, address);
    return text.bytes;
}

static struct ast_kernel *build_kernel(struct crs_gen *c)
{
    struct arena *arena = c->g->arena;
    struct text text = {.arena = arena};
    text_format(&text, "// simtfuzz: %s\n", settings(c, arena));
    text_format(&text,
                ".version 2.1\n.target sm_20\n.address_size 64\n.global .align 4 .u32 out[%" PRIu32
                "];\n",
                c->g->kernel->launch.threads);
    bool atomics = has_atomics(c);
    if (atomics)
        text_format(&text,
                    ".global .align 4 .u32 all[2];\n.global .align 4 .u32 own[%" PRIu32 "];\n",
                    c->g->kernel->launch.threads);
    text_format(&text, ".entry k()\n{\n\t.reg .pred f, %sp<%d>;\n\t.reg .u32 t, h, n, %sr<%d>;\n",
                c->sigil, PREDICATES, c->sigil, TABLES);
    text_format(&text, "\t.reg .u64 a, b%s;\n", atomics ? ", c, d" : "");
    text_put(&text, "\tmov.u32 t, %tid.x;\n\tmov.u64 b, out;\n\tmad.wide.u32 a, t, 4, b;\n");
    if (atomics)
        text_put(&text, "\tmov.u64 c, all;\n\tmov.u64 d, own;\n\tmad.wide.u32 d, t, 4, d;\n");
    for (uint32_t i = 1; i <= c->count; i++)
        put_slot(&text, c->sigil, &c->slots[i], i);
    text_put(&text, "}\n");
    struct diag *diag = ARENA_NEW(arena, struct diag);
    diag_init(diag, "generated", text.bytes, text.length);
    struct ast_kernel *kernel = ptx_kernel_parse(arena, text.bytes, text.length, diag);
    INVARIANT(kernel);
    return kernel;
}

/* ---- the kernel ---- */

static void draw_sizes(struct crs_gen *c)
{
    static const uint32_t counts[] = {
        [W_CRS_SIZE_SMALL - W_CRS_SIZE_FIRST] = 4,
        [W_CRS_SIZE_MIDDLE - W_CRS_SIZE_FIRST] = 10,
        [W_CRS_SIZE_LARGE - W_CRS_SIZE_FIRST] = 20,
    };
    struct gen *g = c->g;
    struct ast_launch *launch = &g->kernel->launch;
    uint32_t size = counts[gen_pick(g, GROUP_CRS_SIZE, 0) - W_CRS_SIZE_FIRST];
    c->count = g->options->small ? 2 + gen_below(g, 4) : size + gen_below(g, size + 1);
    c->lanes = launch->warp;
    launch->blocks = 1;
    if (launch->threads < launch->warp)
        launch->warp = c->lanes = launch->threads;
}

void gen_crs_main(struct gen *g)
{
    struct crs_gen *c = ARENA_NEW(g->arena, struct crs_gen);
    c->g = g;
    draw_sizes(c);
    uint32_t kind = gen_pick(g, GROUP_CRS_KIND, 0);
    c->sigil = !g->options->small && gen_chance(g, 50) ? "%" : "";
    c->loose = kind == W_CRS_KIND_LOOSE;
    c->printed = kind == W_CRS_KIND_PRINTED;
    for (uint32_t p = 0; p < PREDICATES; p++)
        c->initial[p] = p && g->options->small ? 0 : draw_mask(c);
    for (uint32_t lane = 0; lane < c->lanes; lane++)
        c->fuel[lane] = g->options->small ? 1 : gen_below(g, 4);
    draw_given(c);
    make_program(c);
    g->kernel = build_kernel(c);
}
