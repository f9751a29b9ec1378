/* Draws the statements of a program with a known result. See gen_known.h. */
#include "fuzz/known/gen_known.h"

#include <string.h>

enum {
    STATEMENTS = 14, /* aimed at: so many to three times as many */
    DEPTH = 3,
    STEPS = 4000, /* of all threads, at most */
    OPEN = 3      /* trips of a loop, at most */
};

struct drawing {
    struct known_program *p;
    struct gen *g;
    int32_t left;
    uint32_t cost, budget;           /* thread steps of the function */
    struct known_function *function; /* being drawn; NULL: the entry */
    bool called_itself, ends;        /* a thread may have ended */
};

struct place {
    uint32_t depth, loops, times;
    bool uniform;  /* all threads come here, equally often */
    bool calm;     /* nothing leaves the innermost loop, where all threads may wait */
    bool stays_on; /* some loop around is such a one: no thread ends here */
};

struct list {
    struct known_node *head, **end;
};

/* Whether nodes of the kind leave something in the register d. */
static bool computes(enum known_kind kind)
{
    return kind <= KNOWN_LOAD || kind == KNOWN_EXCHANGE || kind == KNOWN_NEIGHBOUR ||
           kind == KNOWN_REDUCE || kind == KNOWN_OWN || kind == KNOWN_WARP;
}

static struct known_node *add(struct drawing *d, struct list *list, const struct place *place,
                              enum known_kind kind)
{
    struct known_node *n = ARENA_NEW(d->g->arena, struct known_node);
    n->kind = kind;
    n->noted = d->p->keeps_trail && computes(kind) && gen_chance(d->g, 60);
    *list->end = n;
    list->end = &n->next;
    d->left--;
    d->cost += n->noted ? 3 * place->times : place->times;
    return n;
}

static void start(struct list *list)
{
    *list = (struct list){.end = &list->head};
}

/* ---- operands ---- */

static struct known_operand register_of(struct drawing *d, enum known_class class)
{
    return (struct known_operand){.class = class, .number = gen_below(d->g, known_counts[class])};
}

static uint64_t draw_constant(struct drawing *d)
{
    static const int32_t edges[] = {-1, INT32_MIN, INT32_MAX, -2, 255, 128, 65535, 32768, 31, 32};
    switch (gen_below(d->g, 4)) {
    case 0:
        return gen_below(d->g, 4);
    case 1:
        return (uint64_t)((int64_t)gen_below(d->g, 64) - 32);
    case 2:
        return (uint64_t)edges[gen_below(d->g, 10)];
    default:
        return (uint64_t)1 << gen_below(d->g, 32);
    }
}

/* letter: h, r, w, p; d: a number of bits. */
static struct known_operand draw_operand(struct drawing *d, char letter)
{
    enum known_class class = letter == 'h'   ? KNOWN_H
                             : letter == 'w' ? KNOWN_W
                             : letter == 'p' ? KNOWN_P
                                             : KNOWN_R;
    struct known_operand o = register_of(d, class);
    static const uint8_t amounts[] = {16, 31, 32, 33, 63, 64, 65, 255};
    if (letter == 'd' && gen_chance(d->g, 75)) {
        o.is_constant = true;
        o.value = gen_chance(d->g, 60) ? gen_below(d->g, 33) : amounts[gen_below(d->g, 8)];
    } else if (class != KNOWN_P && gen_chance(d->g, 20)) {
        o.is_constant = true;
        o.value = draw_constant(d);
    }
    return o;
}

static uint32_t draw_guard(struct drawing *d, uint32_t percent)
{
    return gen_chance(d->g, percent) ? 1 + gen_below(d->g, 2 * known_counts[KNOWN_P]) : 0;
}

/* ---- statements ---- */

static void draw_op(struct drawing *d, struct known_node *n, enum known_op op)
{
    const struct known_op_info *info = &known_ops[op];
    n->op = op;
    for (uint32_t i = 0; info->operands[i]; i++)
        n->s[i] = draw_operand(d, info->operands[i]);
    n->d = draw_operand(d, info->result);
    n->d.is_constant = false;
}

/* One instruction; or the same several times, with other operands: what is wrong for few of them is seen then. */
static void compute(struct drawing *d, struct list *list, const struct place *place)
{
    enum known_op op = (enum known_op)gen_below(d->g, KNOWN_OP_COUNT);
    uint32_t times = gen_chance(d->g, 15) ? 3 + gen_below(d->g, 4) : 1;
    for (uint32_t i = 0; i < times; i++) {
        struct known_node *n = add(d, list, place, KNOWN_COMPUTE);
        n->guard = draw_guard(d, 20);
        draw_op(d, n, op);
    }
}

/* A condition by which threads part. */
static struct known_operand condition(struct drawing *d, struct list *list,
                                      const struct place *place)
{
    static const enum known_op ops[] = {KNOWN_OP_SETP_LT_S, KNOWN_OP_SETP_LT_U,
                                        KNOWN_OP_SETP_EQ,   KNOWN_OP_SETP_GE_S,
                                        KNOWN_OP_SETP_HI,   KNOWN_OP_SETP_LT_WIDE};
    if (gen_chance(d->g, 45))
        return register_of(d, KNOWN_P);
    if (gen_chance(d->g, 50)) {
        struct known_node *s = add(d, list, place, KNOWN_SPECIAL);
        s->which = gen_below(d->g, 2) ? KNOWN_LANE : KNOWN_TID;
        s->d = register_of(d, KNOWN_R);
    }
    struct known_node *n = add(d, list, place, KNOWN_COMPUTE);
    draw_op(d, n, ops[gen_below(d->g, 6)]);
    return n->d;
}

static void special(struct drawing *d, struct list *list, const struct place *place)
{
    struct known_node *n = add(d, list, place, KNOWN_SPECIAL);
    n->guard = draw_guard(d, 10);
    n->which = gen_below(d->g, d->p->warp <= 32 ? KNOWN_SPECIALS : KNOWN_LANES_LESS);
    n->d = register_of(d, KNOWN_R);
}

static void given(struct drawing *d, struct list *list, const struct place *place)
{
    struct known_node *n = add(d, list, place, KNOWN_GIVEN);
    const bool own = d->p->has_arguments && !d->function && gen_chance(d->g, 60);
    n->guard = draw_guard(d, 15);
    n->which = own ? KNOWN_GIVEN_NUMBER + gen_below(d->g, KNOWN_GIVEN_COUNT - KNOWN_GIVEN_NUMBER)
                   : gen_below(d->g, KNOWN_GIVEN_NUMBER);
    d->p->givens |= (uint64_t)1 << n->which;
    n->s[0] = register_of(d, KNOWN_R);
    n->d = register_of(d, KNOWN_R);
    d->cost += 4 * place->times;
}

static void memory(struct drawing *d, struct list *list, const struct place *place,
                   enum known_kind kind)
{
    struct known_node *n = add(d, list, place, kind);
    n->guard = draw_guard(d, 15);
    n->space = (enum known_space)gen_below(d->g, KNOWN_SPACES);
    n->bytes = 1u << gen_below(d->g, 4);
    uint32_t most = n->bytes == 8 ? 2 : 4;
    n->vector = gen_chance(d->g, 70) ? 1 : gen_chance(d->g, 50) ? 2 : most;
    n->at = n->bytes * n->vector * gen_below(d->g, KNOWN_AREA / (n->bytes * n->vector));
    n->is_signed = gen_chance(d->g, 60);
    n->generic = gen_chance(d->g, 20);
    n->back = gen_chance(d->g, 50);
    n->through = gen_chance(d->g, 35) ? 1 + gen_below(d->g, KNOWN_THROUGHS - 1) : 0;
    if (n->through == KNOWN_VOLATILE && gen_chance(d->g, 60))
        n->through = 0; /* race detection takes it for a flag */
    if (n->through == KNOWN_STREAMING && n->space >= KNOWN_LOCAL)
        n->through = 0; /* ld.cs of local memory is ld.lu: what is loaded is not used again */
    enum known_class class = n->bytes == 8 ? KNOWN_W : KNOWN_R;
    if (n->bytes == 2 && n->vector <= 2 && gen_chance(d->g, 50))
        class = KNOWN_H;
    else if (n->bytes < 8 && n->vector <= 2 && gen_chance(d->g, 30))
        class = KNOWN_W;
    *(kind == KNOWN_LOAD ? &n->d : &n->s[0]) = register_of(d, class);
}

static void statements(struct drawing *d, struct list *list, const struct place *place,
                       uint32_t count);

static struct place inside(const struct place *place)
{
    struct place in = *place;
    in.depth++;
    in.uniform = false;
    return in;
}

static void branch(struct drawing *d, struct list *list, const struct place *place)
{
    struct known_operand holds = condition(d, list, place);
    struct known_node *n = add(d, list, place, KNOWN_IF);
    struct place in = inside(place);
    struct list body, other;
    start(&body);
    start(&other);
    n->s[0] = holds;
    statements(d, &body, &in, 1 + gen_below(d->g, 4));
    if (gen_chance(d->g, 50))
        statements(d, &other, &in, 1 + gen_below(d->g, 3));
    n->body = body.head;
    n->other = other.head;
}

static void loop(struct drawing *d, struct list *list, const struct place *place)
{
    struct place in = inside(place);
    struct known_operand trips = {.class = KNOWN_R, .is_constant = true};
    if (gen_chance(d->g, 60)) {
        struct known_node *mask = add(d, list, place, KNOWN_COMPUTE);
        mask->op = KNOWN_OP_AND;
        mask->d = trips = register_of(d, KNOWN_R);
        mask->s[0] = register_of(d, KNOWN_R);
        mask->s[1] = (struct known_operand){.class = KNOWN_R, .is_constant = true, .value = OPEN};
    } else {
        trips.value = gen_below(d->g, OPEN + 1);
        in.uniform = place->uniform && gen_chance(d->g, 60);
    }
    in.calm = in.uniform;
    in.stays_on |= in.calm;
    struct known_node *n = add(d, list, place, KNOWN_LOOP);
    struct list body;
    start(&body);
    n->which = place->loops;
    n->s[0] = trips;
    n->tests_last = gen_chance(d->g, 35);
    in.loops++;
    in.times *= OPEN;
    d->cost += 3 * in.times;
    statements(d, &body, &in, 1 + gen_below(d->g, 5));
    n->body = body.head;
}

static void choose_case(struct drawing *d, struct list *list, const struct place *place)
{
    struct known_node *n = add(d, list, place, KNOWN_SWITCH);
    struct place in = inside(place);
    n->s[0] = register_of(d, KNOWN_R);
    n->count = 2 + gen_below(d->g, KNOWN_CASES - 1);
    n->says_uniform = gen_chance(d->g, 15);
    for (uint32_t i = 0; i < n->count; i++) {
        struct list body;
        start(&body);
        if (gen_chance(d->g, 85))
            statements(d, &body, &in, 1 + gen_below(d->g, 2));
        n->cases[i] = body.head;
        n->falls[i] = gen_chance(d->g, 30);
    }
}

static void jump(struct drawing *d, struct list *list, const struct place *place,
                 enum known_kind kind)
{
    struct known_node *n = add(d, list, place, kind);
    n->guard = draw_guard(d, 100);
    d->ends |= kind == KNOWN_EXIT;
}

/* ---- calls ---- */

static void body_of(struct drawing *outer, struct known_function *function);

static struct known_function *some_function(struct drawing *d, uint32_t room)
{
    struct known_program *p = d->p;
    uint32_t i = gen_below(d->g, p->function_count + (p->function_count < KNOWN_FUNCTIONS));
    if (i < p->function_count)
        return p->functions[i]->cost <= room ? p->functions[i] : NULL;
    struct known_function *function = ARENA_NEW(d->g->arena, struct known_function);
    body_of(d, function);
    function->number = p->function_count;
    p->functions[p->function_count++] = function;
    return function->cost <= room ? function : NULL;
}

/* The functions are made with the entry's first calls; they call themselves only. */
static void call(struct drawing *d, struct list *list, const struct place *place)
{
    struct known_function *one, *other = NULL;
    if (d->function) {
        struct known_node *n = add(d, list, place, KNOWN_CALL);
        n->other_function = d->function;
        n->d = register_of(d, KNOWN_R);
        n->s[1] = draw_operand(d, 'r');
        d->called_itself = true;
        return;
    }
    uint32_t room = (d->budget - d->cost) / place->times / 2;
    one = some_function(d, room);
    if (gen_chance(d->g, 40))
        other = some_function(d, room);
    if (!one)
        return;
    struct known_node *n = add(d, list, place, KNOWN_CALL);
    n->guard = draw_guard(d, 40);
    n->function = one;
    n->other_function = other == one ? NULL : other;
    n->d = register_of(d, KNOWN_R);
    n->s[0] = (struct known_operand){
        .class = KNOWN_R, .is_constant = true, .value = gen_below(d->g, KNOWN_RECURSION + 1)};
    n->s[1] = draw_operand(d, 'r');
    n->s[2] = register_of(d, KNOWN_P);
    n->generic = gen_chance(d->g, 40);
    n->back = gen_chance(d->g, 50);
    d->cost += place->times * (one->cost + (n->other_function ? other->cost : 0));
    d->p->accumulates |= one->accumulates || (n->other_function && other->accumulates);
    d->p->warp_barriers |= one->warp_barriers || (n->other_function && other->warp_barriers);
}

/* ---- threads together ---- */

static void together(struct drawing *d, struct list *list, const struct place *place)
{
    const struct known_program *p = d->p;
    uint32_t banned = 0;
    if (!p->full || p->warps < 2)
        banned |= GEN_BAN(KNOWN_SYNC, PAIR);
    if (p->cluster[0] == 0)
        banned |= GEN_BAN(KNOWN_SYNC, NEIGHBOUR);
    if (!p->full)
        banned |= GEN_BAN(KNOWN_SYNC, SUBSET) | GEN_BAN(KNOWN_SYNC, TWICE);
    struct known_node *n;
    switch (gen_pick(d->g, GROUP_KNOWN_SYNC, banned)) {
    case W_KNOWN_SYNC_EXCHANGE:
        n = add(d, list, place, KNOWN_EXCHANGE);
        n->at = 1 + gen_below(d->g, 5);
        break;
    case W_KNOWN_SYNC_NEIGHBOUR:
        n = add(d, list, place, KNOWN_NEIGHBOUR);
        n->at = gen_below(d->g, 4);
        n->which = gen_below(d->g, 4);
        d->p->meets_neighbours = true;
        break;
    case W_KNOWN_SYNC_PAIR:
        n = add(d, list, place, KNOWN_PAIR);
        n->which = 1 + gen_below(d->g, 2);
        n->at = 1 + gen_below(d->g, p->warps - 1);
        break;
    case W_KNOWN_SYNC_SUBSET:
        n = add(d, list, place, KNOWN_SUBSET);
        n->which = 1 + gen_below(d->g, 3);
        n->at = 1 + gen_below(d->g, p->warps);
        break;
    case W_KNOWN_SYNC_TWICE:
        n = add(d, list, place, KNOWN_TWICE);
        n->which = 1 + gen_below(d->g, 2);
        n->at = gen_below(d->g, 2);
        return;
    case W_KNOWN_SYNC_REDUCE:
        n = add(d, list, place, KNOWN_REDUCE);
        n->which = gen_below(d->g, KNOWN_REDUCTIONS);
        n->at = gen_below(d->g, 2);
        n->s[0] = register_of(d, KNOWN_P);
        n->d = register_of(d, n->which == KNOWN_POPC ? KNOWN_R : KNOWN_P);
        return;
    default:
        n = add(d, list, place, KNOWN_BARRIER);
        n->which = gen_below(d->g, 2);
        return;
    }
    d->cost += 8 * place->times;
    n->s[0] = register_of(d, KNOWN_R);
    n->d = register_of(d, KNOWN_R);
}

static void warp_op(struct drawing *d, struct list *list, const struct place *place)
{
    struct known_node *n = add(d, list, place, KNOWN_WARP);
    n->which = gen_below(d->g, KNOWN_WARP_OPS);
    if (n->which == KNOWN_BAR_WARP)
        *(d->function ? &d->function->warp_barriers : &d->p->warp_barriers) = true;
    bool of_predicates = n->which >= KNOWN_VOTE_ALL && n->which <= KNOWN_BALLOT_NOT;
    bool to_predicate = of_predicates && n->which < KNOWN_BALLOT;
    n->s[0] = register_of(d, of_predicates ? KNOWN_P : KNOWN_R);
    n->d = register_of(d, to_predicate ? KNOWN_P : KNOWN_R);
    n->at = gen_below(d->g, d->p->warp < 32 ? d->p->warp : 32);
    if (n->which < KNOWN_SHFL_IDX)
        n->guard = draw_guard(d, 25);
}

static void atomic(struct drawing *d, struct list *list, const struct place *place)
{
    bool is_own = d->p->own_atomics && gen_chance(d->g, 50);
    struct known_node *n = add(d, list, place, is_own ? KNOWN_OWN : KNOWN_ATOMIC);
    n->guard = draw_guard(d, 25);
    n->s[0] = draw_operand(d, 'r');
    if (is_own) {
        n->which = gen_below(d->g, 5);
        n->space = gen_below(d->g, 2) ? KNOWN_SHARED : KNOWN_GLOBAL;
        n->at = 4 * gen_below(d->g, KNOWN_AREA / 4);
        n->s[1] = draw_operand(d, 'r');
        n->d = register_of(d, KNOWN_R);
        return;
    }
    n->which = gen_below(d->g, KNOWN_ACCUMULATORS);
    *(d->function ? &d->function->accumulates : &d->p->accumulates) = true;
}

/* cp.async, of so many bytes as a register says, or all; one group, or one that is not the last. */
static void copy(struct drawing *d, struct list *list, const struct place *place)
{
    struct known_node *n = add(d, list, place, KNOWN_COPY);
    n->guard = draw_guard(d, 15);
    n->bytes = 4u << gen_below(d->g, 3);
    n->at = n->bytes * gen_below(d->g, KNOWN_AREA / n->bytes);
    n->which = n->bytes * gen_below(d->g, KNOWN_AREA / n->bytes);
    n->count = gen_below(d->g, KNOWN_COPIES);
    n->s[0] = register_of(d, KNOWN_R);
    if (gen_chance(d->g, 70)) {
        n->s[0].is_constant = true;
        n->s[0].value = gen_below(d->g, n->bytes + 1);
    }
    if (n->count >= KNOWN_COPY_BULK) {
        n->bytes = KNOWN_AREA;
        n->at = n->which = 0;
    }
    d->cost += 4 * place->times;
}

/* The last statement. Those that are about barriers need all threads. */
static void flaw(struct drawing *d, struct list *list, const struct place *place)
{
    const struct known_program *p = d->p;
    uint32_t banned = 0, threads = GEN_BAN(KNOWN_FLAW, RACE) | GEN_BAN(KNOWN_FLAW, STARVE) |
                                   GEN_BAN(KNOWN_FLAW, COUNTS) | GEN_BAN(KNOWN_FLAW, MIXED) |
                                   GEN_BAN(KNOWN_FLAW, UNDERWAY) | GEN_BAN(KNOWN_FLAW, APART);
    if (d->ends || d->function || !place->uniform)
        banned |= threads | GEN_BAN(KNOWN_FLAW, ABSENT);
    if (!p->full)
        banned |= threads;
    if (p->threads < 2)
        banned |= GEN_BAN(KNOWN_FLAW, RACE);
    if (p->cluster[0] * p->cluster[1] < 2)
        banned |= GEN_BAN(KNOWN_FLAW, APART);
    if (p->warps != 2 || p->warp < 2 || p->warp_ops || !place->uniform || d->ends || !p->full)
        banned |= GEN_BAN(KNOWN_FLAW, SEVERAL);
    if (p->warps < 2 || !p->full || d->ends || d->function || !place->uniform)
        banned |= GEN_BAN(KNOWN_FLAW, LEAVE);
    if (p->warps < 2)
        banned |= GEN_BAN(KNOWN_FLAW, COUNTS) | GEN_BAN(KNOWN_FLAW, MIXED) |
                  GEN_BAN(KNOWN_FLAW, UNDERWAY);
    if (!p->warp_ops || p->warp < 2 || p->threads < 2)
        banned |= GEN_BAN(KNOWN_FLAW, ABSENT);
    uint32_t which = gen_pick(d->g, GROUP_KNOWN_FLAW, banned) - W_KNOWN_FLAW_FIRST;
    struct known_node *n = add(d, list, place, KNOWN_FLAW);
    n->which = which;
    n->at = gen_below(d->g, which == KNOWN_RACE ? 3 : 2);
    n->d = (struct known_operand){.class = KNOWN_R, .number = 5};
    n->s[0] = (struct known_operand){.class = KNOWN_R, .number = 3};
    d->p->odd = which == KNOWN_SIGNATURE;
    d->p->meets_neighbours |= which == KNOWN_APART;
    if (which <= KNOWN_ALIGN || which == KNOWN_SIGNATURE)
        n->guard = draw_guard(d, 60);
}

/* ---- lists ---- */

static uint32_t bans(const struct drawing *d, const struct place *place)
{
    uint32_t banned = 0;
    bool nests = place->depth < DEPTH && d->left > 1 && d->cost < d->budget;
    bool loops = nests && place->loops < KNOWN_LOOPS && d->cost + 12 * place->times < d->budget &&
                 place->times <= OPEN * OPEN;
    if (!nests)
        banned |= GEN_BAN(KNOWN, IF) | GEN_BAN(KNOWN, SWITCH);
    if (!loops)
        banned |= GEN_BAN(KNOWN, LOOP);
    if (place->loops == 0 || place->calm)
        banned |= GEN_BAN(KNOWN, BREAK) | GEN_BAN(KNOWN, CONTINUE);
    if (!place->uniform || d->function || d->ends)
        banned |= GEN_BAN(KNOWN, TOGETHER);
    if (!d->function)
        banned |= GEN_BAN(KNOWN, RETURN);
    if (d->function && (!d->function->recursive || d->called_itself || place->times > 1))
        banned |= GEN_BAN(KNOWN, CALL);
    if (!d->function && d->cost + 20 * place->times > d->budget)
        banned |= GEN_BAN(KNOWN, CALL);
    if (d->function || place->stays_on || place->depth == 0)
        banned |= GEN_BAN(KNOWN, EXIT);
    if (!d->p->warp_ops)
        banned |= GEN_BAN(KNOWN, WARP);
    if (!d->p->copies)
        banned |= GEN_BAN(KNOWN, COPY);
    return banned;
}

static void statement(struct drawing *d, struct list *list, const struct place *place)
{
    struct known_node *n;
    switch (gen_pick(d->g, GROUP_KNOWN, bans(d, place))) {
    case W_KNOWN_SPECIAL:
        special(d, list, place);
        break;
    case W_KNOWN_GIVEN:
        given(d, list, place);
        break;
    case W_KNOWN_LOAD:
        memory(d, list, place, KNOWN_LOAD);
        break;
    case W_KNOWN_STORE:
        memory(d, list, place, KNOWN_STORE);
        break;
    case W_KNOWN_IF:
        branch(d, list, place);
        break;
    case W_KNOWN_LOOP:
        loop(d, list, place);
        break;
    case W_KNOWN_SWITCH:
        choose_case(d, list, place);
        break;
    case W_KNOWN_BREAK:
        jump(d, list, place, KNOWN_BREAK);
        break;
    case W_KNOWN_CONTINUE:
        jump(d, list, place, KNOWN_CONTINUE);
        break;
    case W_KNOWN_RETURN:
        jump(d, list, place, KNOWN_RETURN);
        break;
    case W_KNOWN_EXIT:
        jump(d, list, place, KNOWN_EXIT);
        break;
    case W_KNOWN_CALL:
        call(d, list, place);
        break;
    case W_KNOWN_TOGETHER:
        together(d, list, place);
        break;
    case W_KNOWN_WARP:
        warp_op(d, list, place);
        break;
    case W_KNOWN_ATOMIC:
        atomic(d, list, place);
        break;
    case W_KNOWN_FENCE:
        n = add(d, list, place, KNOWN_FENCE);
        n->which = gen_below(d->g, 6);
        break;
    case W_KNOWN_COPY:
        copy(d, list, place);
        break;
    default:
        compute(d, list, place);
        break;
    }
}

static void statements(struct drawing *d, struct list *list, const struct place *place,
                       uint32_t count)
{
    do {
        statement(d, list, place);
        count--;
    } while (count > 0 && d->left > 0 && d->cost < d->budget);
}

/* ---- functions ---- */

static void body_of(struct drawing *outer, struct known_function *function)
{
    struct drawing d = {.p = outer->p,
                        .g = outer->g,
                        .left = 2 + (int32_t)gen_below(outer->g, 6),
                        .budget = outer->budget / 6,
                        .function = function};
    struct place place = {.depth = 1, .times = 1};
    struct list list;
    start(&list);
    function->recursive = gen_chance(outer->g, 50);
    do {
        statement(&d, &list, &place);
    } while (d.left > 0);
    function->body = list.head;
    function->cost = (d.cost + 16) * (d.called_itself ? KNOWN_RECURSION + 1 : 1);
}

/* Memory that is read as it is: narrow values of both signs. */
static void initial_memory(struct drawing *d, struct list *list)
{
    struct place place = {.times = 1};
    for (uint32_t t = 0; t < d->p->threads * d->p->blocks; t++)
        for (uint32_t i = 0; i < KNOWN_AREA; i++)
            d->p->initial[t][i] = (uint8_t)(t * 37 + i * 89 + 11 * (i & t));
    for (uint32_t space = KNOWN_SHARED; space < KNOWN_SPACES; space++) {
        if (gen_chance(d->g, 40))
            continue;
        struct known_node *n = add(d, list, &place, KNOWN_STORE);
        n->space = (enum known_space)space;
        n->bytes = n->vector = 4;
        n->s[0] = (struct known_operand){.class = KNOWN_R, .number = gen_below(d->g, 4)};
    }
}

/* Registers differ from lane to lane before anything else happens. */
static void initial_values(struct drawing *d, struct list *list)
{
    static const enum known_special which[] = {KNOWN_TID, KNOWN_LANE, KNOWN_WARP_NUMBER};
    struct place place = {.times = 1};
    for (uint32_t i = 0; i < 3; i++) {
        struct known_node *n = add(d, list, &place, KNOWN_SPECIAL);
        n->which = which[i];
        n->d = (struct known_operand){.class = KNOWN_R, .number = i};
    }
    struct known_node *n = add(d, list, &place, KNOWN_COMPUTE);
    n->op = KNOWN_OP_MAD_LO;
    n->d = (struct known_operand){.class = KNOWN_R, .number = 3};
    n->s[0] = (struct known_operand){.class = KNOWN_R, .number = 0};
    n->s[1] = (struct known_operand){
        .class = KNOWN_R, .is_constant = true, .value = 1 + 2 * gen_below(d->g, 1u << 31)};
    n->s[2] =
        (struct known_operand){.class = KNOWN_R, .is_constant = true, .value = draw_constant(d)};
    for (uint32_t i = 0; i < known_counts[KNOWN_P]; i++) {
        static const enum known_op ops[] = {KNOWN_OP_SETP_LT_S, KNOWN_OP_SETP_EQ,
                                            KNOWN_OP_SETP_GE_S};
        n = add(d, list, &place, KNOWN_COMPUTE);
        draw_op(d, n, ops[gen_below(d->g, 3)]);
        n->d.number = i;
        n->s[0] = (struct known_operand){.class = KNOWN_R, .number = i == 3 ? 3 : i & 1};
        if (n->s[1].is_constant)
            n->s[1].value = gen_below(d->g, d->p->threads);
    }
}

/* ---- the program ---- */

/* Whole clusters, in one dimension or two. */
static void draw_cluster(struct known_program *p)
{
    const uint32_t grid[2] = {p->grid_width, p->blocks / p->grid_width};
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t size = gen_chance(p->g, 50) ? grid[i] : 2;
        p->cluster[i] = size > 8 || grid[i] % size ? 1 : size;
    }
}

static void draw_launch(struct known_program *p)
{
    struct gen *g = p->g;
    struct ast_launch *launch = &g->kernel->launch;
    while (launch->threads * launch->blocks > KNOWN_THREADS) {
        if (launch->blocks > 1)
            launch->blocks--;
        else
            launch->threads = KNOWN_THREADS;
    }
    p->flawed = gen_chance(g, 16);
    if (p->flawed && gen_chance(g, 60) && 2 * launch->warp * launch->blocks <= KNOWN_THREADS)
        launch->threads = 2 * launch->warp; /* most flaws are of two warps */
    p->threads = launch->threads;
    p->blocks = launch->blocks;
    p->warp = launch->warp;
    p->warps = (p->threads + p->warp - 1) / p->warp;
    p->width = p->threads;
    p->grid_width = p->blocks;
    if (gen_chance(g, 25)) {
        p->width = p->threads % 4 == 0 && gen_chance(g, 50) ? 4 : p->threads % 2 ? p->threads : 2;
        p->grid_width = p->blocks % 2 ? p->blocks : p->blocks / 2;
    }
    if (p->blocks > 1 && gen_chance(g, 40))
        draw_cluster(p);
    p->by_memory = gen_chance(g, 30);
    p->has_arguments = gen_chance(g, 30);
    p->full = p->threads % p->warp == 0;
    p->warp_ops = p->warp <= 32 && gen_chance(g, 35);
    p->keeps_trail = gen_chance(g, 60);
    p->own_atomics = gen_chance(g, 25);
    p->copies = gen_chance(g, 15);
    p->eager = gen_chance(g, 15);
}

void gen_known_main(struct gen *g)
{
    struct known_program *p = ARENA_NEW(g->arena, struct known_program);
    struct place place = {.times = 1, .uniform = true};
    struct list list;
    p->g = g;
    draw_launch(p);
    struct drawing d = {.p = p, .g = g, .budget = STEPS / (p->threads * p->blocks)};
    d.left = STATEMENTS + (int32_t)gen_below(g, 2 * STATEMENTS);
    if (d.budget < 100)
        d.budget = 100;
    start(&list);
    initial_values(&d, &list);
    initial_memory(&d, &list);
    do {
        statement(&d, &list, &place);
    } while (d.left > 0 && d.cost < d.budget);
    if (p->flawed)
        flaw(&d, &list, &place);
    p->main = list.head;
    p->shown = gen_below(g, 1u << KNOWN_SHOWN_COUNT);
    known_run(p);
    g->kernel = known_kernel(p);
}
