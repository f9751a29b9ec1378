/* What a program with a known result does: all threads at once, with a mask of those that take part. */
#include "fuzz/gen/gen_known.h"

#include <string.h>

struct frame {
    uint64_t registers[KNOWN_CLASSES][KNOWN_REGISTERS][KNOWN_THREADS];
    uint8_t local[KNOWN_THREADS][KNOWN_AREA], local_too[KNOWN_THREADS][KNOWN_AREA];
    uint32_t depth[KNOWN_THREADS]; /* the parameter that recursion counts down */
    known_mask returned;
};

struct loop {
    known_mask broken, continued;
};

struct run {
    struct known_program *p;
    known_mask exited;
    uint8_t shared[KNOWN_THREADS][KNOWN_AREA];
};

#define EACH(t, mask)                                                                              \
    for (known_mask rest_ = (mask); rest_; rest_ &= rest_ - 1)                                     \
        for (uint32_t t = (uint32_t)__builtin_ctzll(rest_), once_ = 1; once_; once_ = 0)

static uint64_t bits_of(enum known_class class)
{
    static const uint64_t bits[] = {
        [KNOWN_H] = 0xffff, [KNOWN_R] = 0xffffffff, [KNOWN_W] = UINT64_MAX, [KNOWN_P] = 1};
    return bits[class];
}

static uint64_t get(const struct frame *f, const struct known_operand *o, uint32_t t)
{
    return (o->is_constant ? o->value : f->registers[o->class][o->number][t]) & bits_of(o->class);
}

static void set(struct frame *f, const struct known_operand *o, uint32_t t, uint64_t value)
{
    f->registers[o->class][o->number][t] = value & bits_of(o->class);
}

/* ---- computing ---- */

#define S16(x) ((int64_t)(int16_t)(uint16_t)(x))
#define S32(x) ((int64_t)(int32_t)(uint32_t)(x))
#define CLAMP(x, least, most)                                                                      \
    (uint64_t)((x) < (least) ? (int64_t)(least) : (x) > (most) ? (int64_t)(most) : (x))

static uint64_t known_reverse(uint64_t a)
{
    uint64_t reversed = 0;
    for (uint32_t i = 0; i < 32; i++)
        reversed |= (a >> i & 1) << (31 - i);
    return reversed;
}

/* bfe of 32 bits: `length` bits from `place` on; what lies beyond is 0, or the field's highest bit. */
static uint64_t known_field(uint64_t a, uint64_t place, uint64_t length, bool is_signed)
{
    place &= 0xff;
    length &= 0xff;
    uint64_t top = place + length < 32 ? place + length - (length > 0) : 31, field = 0;
    uint64_t sign = is_signed && length > 0 ? a >> top & 1 : 0;
    for (uint64_t i = 0; i < 32; i++)
        field |= (i < length && place + i < 32 ? a >> (place + i) & 1 : sign) << i;
    return field;
}

static uint64_t compute(enum known_op op, uint64_t a, uint64_t b, uint64_t c)
{
    switch (op) {
#define KNOWN_OP(id, result, operands, text, value)                                                \
    case KNOWN_OP_##id:                                                                            \
        return (uint64_t)(value);
#include "fuzz/gen/gen_known_ops.def"
    case KNOWN_OP_COUNT:
        break;
    }
    return 0;
}

static uint64_t special(const struct known_program *p, uint32_t which, uint32_t t)
{
    uint32_t tid = t % p->threads, lane = tid % p->warp;
    uint64_t bit = (uint64_t)1 << lane;
    switch ((enum known_special)which) {
    case KNOWN_TID:
        return tid;
    case KNOWN_LANE:
        return lane;
    case KNOWN_BLOCK:
        return t / p->threads;
    case KNOWN_BLOCK_SIZE:
        return p->threads;
    case KNOWN_WARP_NUMBER:
        return tid / p->warp;
    case KNOWN_BLOCKS:
        return p->blocks;
    case KNOWN_LANES_LESS:
        return bit - 1;
    case KNOWN_LANES_LEAST:
        return ~(bit - 1);
    case KNOWN_SPECIALS:
        break;
    }
    return 0;
}

/* ---- memory ---- */

static uint8_t *area(struct run *r, struct frame *f, enum known_space space, uint32_t t)
{
    switch (space) {
    case KNOWN_SHARED:
        return r->shared[t];
    case KNOWN_LOCAL:
        return f->local[t];
    case KNOWN_LOCAL_TOO:
        return f->local_too[t];
    case KNOWN_GLOBAL:
    case KNOWN_SPACES:
        break;
    }
    return r->p->global[t];
}

static uint64_t peek(const uint8_t *at, uint32_t bytes)
{
    uint64_t value = 0;
    for (uint32_t i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

static void poke(uint8_t *at, uint32_t bytes, uint64_t value)
{
    for (uint32_t i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

static void access(struct run *r, struct frame *f, const struct known_node *n, known_mask mask)
{
    EACH(t, mask)
    {
        uint8_t *at = area(r, f, n->space, t) + n->at;
        for (uint32_t i = 0; i < n->vector; i++, at += n->bytes) {
            struct known_operand o = n->kind == KNOWN_LOAD ? n->d : n->s[0];
            o.number = (o.number + i) % known_counts[o.class];
            if (n->kind == KNOWN_STORE) {
                poke(at, n->bytes, get(f, &o, t));
                continue;
            }
            uint64_t value = peek(at, n->bytes), sign = (uint64_t)1 << (8 * n->bytes - 1);
            set(f, &o, t, n->is_signed ? (value ^ sign) - sign : value);
        }
    }
}

/* ---- threads together ---- */

static uint32_t block_start(const struct known_program *p, uint32_t t)
{
    return t - t % p->threads;
}

/* Everybody writes, then everybody reads: the values before. */
static void exchange(struct run *r, struct frame *f, const struct known_node *n, known_mask mask)
{
    const struct known_program *p = r->p;
    uint64_t given[KNOWN_THREADS];
    uint32_t producers = n->kind == KNOWN_EXCHANGE ? p->threads
                         : n->kind == KNOWN_FLAW   ? p->warp
                                                   : n->at * p->warp;
    EACH(t, mask)
    given[t] = get(f, &n->s[0], t);
    EACH(t, mask)
    {
        uint32_t tid = t % p->threads, from;
        if (n->kind == KNOWN_EXCHANGE)
            from = (tid + n->at) % p->threads;
        else if (n->kind == KNOWN_PAIR)
            from = tid % producers;
        else if (n->kind == KNOWN_SUBSET)
            from = (tid + 1) % producers;
        else /* KNOWN_SEVERAL */
            from = (tid + producers) % p->threads;
        if (n->kind == KNOWN_EXCHANGE || (tid < producers) == (n->kind != KNOWN_PAIR))
            set(f, &n->d, t, given[block_start(p, t) + from]);
    }
}

static void reduce(struct run *r, struct frame *f, const struct known_node *n, known_mask mask)
{
    const struct known_program *p = r->p;
    uint64_t count[KNOWN_THREADS] = {0}; /* a block */
    EACH(t, mask)
    count[t / p->threads] += get(f, &n->s[0], t);
    EACH(t, mask)
    {
        uint64_t holds = count[t / p->threads];
        if (n->which == KNOWN_AND)
            holds = holds == p->threads;
        if (n->which == KNOWN_OR)
            holds = holds > 0;
        set(f, &n->d, t, holds);
    }
}

static void accumulate(struct run *r, struct frame *f, const struct known_node *n, known_mask mask)
{
    uint32_t *place = &r->p->accumulators[n->which];
    EACH(t, mask)
    {
        uint32_t value = (uint32_t)get(f, &n->s[0], t);
        switch (n->which) {
        case 0:
            *place += value;
            break;
        case 1:
            *place ^= value;
            break;
        case 2:
            *place |= value;
            break;
        case 3:
            *place &= value;
            break;
        case 4:
            *place = *place > value ? *place : value;
            break;
        case 5:
            *place = *place < value ? *place : value;
            break;
        case 6:
            *place = S32(*place) > S32(value) ? *place : value;
            break;
        default:
            *place = S32(*place) < S32(value) ? *place : value;
            break;
        }
    }
}

static uint32_t own_new(uint32_t which, uint32_t old, uint32_t a, uint32_t b)
{
    switch (which) {
    case 0:
        return a; /* exch */
    case 1:
        return old == a ? b : old; /* cas */
    case 2:
        return old >= a ? 0 : old + 1; /* inc */
    case 3:
        return old == 0 || old > a ? a : old - 1; /* dec */
    default:
        return old + a;
    }
}

static void own(struct run *r, struct frame *f, const struct known_node *n, known_mask mask)
{
    EACH(t, mask)
    {
        uint8_t *at = area(r, f, n->space, t) + n->at;
        uint32_t old = (uint32_t)peek(at, 4);
        uint32_t a = (uint32_t)get(f, &n->s[0], t), b = (uint32_t)get(f, &n->s[1], t);
        poke(at, 4, own_new(n->which, old, a, b));
        set(f, &n->d, t, old);
    }
}

/* The lane of a warp whose value shfl gives to `lane`, or its own where that does not take part. */
static uint32_t source_lane(uint32_t which, uint32_t lane, uint32_t distance)
{
    uint32_t j = lane;
    switch (which) {
    case KNOWN_SHFL_UP:
        j = lane - distance;
        return lane >= distance ? j : lane;
    case KNOWN_SHFL_DOWN:
        j = lane + distance;
        break;
    case KNOWN_SHFL_BFLY:
        j = lane ^ distance;
        break;
    default:
        j = distance;
        break;
    }
    return j < 32 ? j : lane;
}

/* The lanes with the same value as `lane`. */
static uint64_t equal_lanes(const uint64_t *value, uint32_t mask, uint32_t lane)
{
    uint64_t equal = 0;
    EACH(other, mask)
    equal |= (uint64_t)(value[other] == value[lane]) << other;
    return equal;
}

/* One warp, whose thread with lane 0 is `first`; mask: its lanes that take part. */
static void warp(struct frame *f, const struct known_node *n, uint32_t first, uint32_t mask)
{
    uint64_t value[32] = {0}, sum = 0, most = 0, sign = 0x80000000u;
    uint32_t holds = 0, parity = 0;
    EACH(lane, mask)
    {
        value[lane] = get(f, &n->s[0], first + lane);
        holds |= (uint32_t)(value[lane] & 1) << lane;
        sum += value[lane];
        parity ^= (uint32_t)value[lane];
        if ((value[lane] ^ sign) > most)
            most = value[lane] ^ sign;
    }
    EACH(lane, mask)
    {
        uint64_t result = 0;
        uint32_t from = lane;
        switch ((enum known_warp_op)n->which) {
        case KNOWN_ACTIVE:
            result = mask;
            break;
        case KNOWN_VOTE_ALL:
            result = holds == mask;
            break;
        case KNOWN_VOTE_ANY:
            result = holds != 0;
            break;
        case KNOWN_VOTE_UNI:
            result = holds == mask || holds == 0;
            break;
        case KNOWN_BALLOT:
            result = holds;
            break;
        case KNOWN_SHFL_UP:
        case KNOWN_SHFL_DOWN:
        case KNOWN_SHFL_BFLY:
        case KNOWN_SHFL_IDX:
            from = source_lane(n->which, lane, n->at);
            result = value[mask >> from & 1 ? from : lane];
            break;
        case KNOWN_MATCH_ANY:
            result = equal_lanes(value, mask, lane);
            break;
        case KNOWN_REDUX_ADD:
            result = sum;
            break;
        case KNOWN_REDUX_MAX:
            result = most ^ sign;
            break;
        case KNOWN_REDUX_XOR:
            result = parity;
            break;
        case KNOWN_BAR_WARP:
        case KNOWN_WARP_OPS:
            return;
        }
        set(f, &n->d, first + lane, result);
    }
}

static void warps(struct run *r, struct frame *f, const struct known_node *n, known_mask mask)
{
    const struct known_program *p = r->p;
    for (uint32_t t = 0; t < p->threads * p->blocks; t += p->threads)
        for (uint32_t w = 0; w < p->warps; w++) {
            uint32_t left = p->threads - w * p->warp, lanes = left < p->warp ? left : p->warp;
            uint64_t those = lanes < 64 ? ((uint64_t)1 << lanes) - 1 : UINT64_MAX;
            warp(f, n, t + w * p->warp, (uint32_t)(mask >> (t + w * p->warp) & those));
        }
}

/* ---- statements ---- */

static void run_list(struct run *r, struct frame *f, struct loop *l, const struct known_node *n,
                     known_mask mask);

/* Those of the mask that come here. */
static known_mask remaining(const struct run *r, const struct frame *f, const struct loop *l,
                            known_mask mask)
{
    mask &= ~r->exited & ~f->returned;
    return l ? mask & ~l->broken & ~l->continued : mask;
}

static known_mask holding(const struct frame *f, const struct known_operand *o, known_mask mask)
{
    known_mask holds = 0;
    EACH(t, mask)
    holds |= (known_mask)(get(f, o, t) & 1) << t;
    return holds;
}

static known_mask guarded(const struct frame *f, uint32_t guard, known_mask mask)
{
    struct known_operand o = {.class = KNOWN_P, .number = (guard - 1) / 2};
    if (guard == 0)
        return mask;
    known_mask holds = holding(f, &o, mask);
    return (guard - 1) % 2 ? mask & ~holds : holds;
}

static void run_loop(struct run *r, struct frame *f, const struct known_node *n, known_mask mask)
{
    struct loop l = {0};
    uint32_t trips[KNOWN_THREADS];
    EACH(t, mask)
    trips[t] = (uint32_t)get(f, &n->s[0], t);
    known_mask in = mask;
    for (uint32_t trip = 0; in; trip++) {
        if (trip > 0 || !n->tests_last) {
            known_mask again = 0;
            EACH(t, in)
            again |= (known_mask)(trip < trips[t]) << t;
            in = again;
        }
        l.continued = 0;
        run_list(r, f, &l, n->body, in);
        in = in & ~r->exited & ~f->returned & ~l.broken;
    }
}

static void run_switch(struct run *r, struct frame *f, struct loop *l, const struct known_node *n,
                       known_mask mask)
{
    known_mask falling = 0, those[KNOWN_CASES] = {0};
    EACH(t, mask)
    those[get(f, &n->s[0], t) % n->count] |= (known_mask)1 << t;
    for (uint32_t i = 0; i < n->count; i++) {
        falling = remaining(r, f, l, falling | those[i]);
        run_list(r, f, l, n->cases[i], falling);
        if (!n->falls[i])
            falling = 0;
    }
}

/* Of itself: where `depth` is not 0, with one less. */
static void call(struct run *r, struct frame *f, const struct known_node *n,
                 const struct known_function *function, known_mask mask)
{
    if (!mask)
        return;
    struct arena *arena = r->p->g->arena;
    size_t mark = arena_mark(arena);
    struct frame *callee = ARENA_NEW(arena, struct frame);
    EACH(t, mask)
    {
        callee->depth[t] = n->function ? (uint32_t)get(f, &n->s[0], t) : f->depth[t] - 1;
        callee->registers[KNOWN_R][0][t] = get(f, &n->s[1], t);
    }
    run_list(r, callee, NULL, function->body, mask);
    EACH(t, mask & ~r->exited)
    set(f, &n->d, t, callee->registers[KNOWN_R][0][t]);
    arena_release(arena, mark);
}

static void run_call(struct run *r, struct frame *f, const struct known_node *n, known_mask mask)
{
    known_mask others = 0, deep = 0;
    if (!n->function) {
        EACH(t, mask)
        deep |= (known_mask)(f->depth[t] > 0) << t;
        call(r, f, n, n->other_function, deep);
        return;
    }
    if (n->other_function)
        others = holding(f, &n->s[2], mask);
    call(r, f, n, n->function, mask & ~others);
    call(r, f, n, n->other_function, others);
}

static void run_node(struct run *r, struct frame *f, struct loop *l, const struct known_node *n,
                     known_mask mask)
{
    known_mask holds;
    switch (n->kind) {
    case KNOWN_COMPUTE:
        EACH(t, mask)
        set(f, &n->d, t,
            compute(n->op, get(f, &n->s[0], t), get(f, &n->s[1], t), get(f, &n->s[2], t)));
        break;
    case KNOWN_SPECIAL:
        EACH(t, mask)
        set(f, &n->d, t, special(r->p, n->which, t));
        break;
    case KNOWN_LOAD:
    case KNOWN_STORE:
        access(r, f, n, mask);
        break;
    case KNOWN_IF:
        holds = holding(f, &n->s[0], mask);
        run_list(r, f, l, n->body, holds);
        run_list(r, f, l, n->other, mask & ~holds);
        break;
    case KNOWN_LOOP:
        run_loop(r, f, n, mask);
        break;
    case KNOWN_SWITCH:
        run_switch(r, f, l, n, mask);
        break;
    case KNOWN_BREAK:
        l->broken |= mask;
        break;
    case KNOWN_CONTINUE:
        l->continued |= mask;
        break;
    case KNOWN_RETURN:
        f->returned |= mask;
        break;
    case KNOWN_EXIT:
        r->exited |= mask;
        break;
    case KNOWN_CALL:
        run_call(r, f, n, mask);
        break;
    case KNOWN_EXCHANGE:
    case KNOWN_PAIR:
    case KNOWN_SUBSET:
        exchange(r, f, n, mask);
        break;
    case KNOWN_REDUCE:
        reduce(r, f, n, mask);
        break;
    case KNOWN_ATOMIC:
        accumulate(r, f, n, mask);
        break;
    case KNOWN_OWN:
        own(r, f, n, mask);
        break;
    case KNOWN_WARP:
        warps(r, f, n, mask);
        break;
    case KNOWN_FLAW:
        r->p->flaw = (enum known_flaw)n->which;
        if (r->p->flaw == KNOWN_SEVERAL)
            exchange(r, f, n, mask);
        break;
    case KNOWN_TWICE:
    case KNOWN_BARRIER:
    case KNOWN_FENCE:
        break;
    }
}

static void run_list(struct run *r, struct frame *f, struct loop *l, const struct known_node *n,
                     known_mask mask)
{
    for (; n; n = n->next) {
        known_mask those = guarded(f, n->guard, remaining(r, f, l, mask));
        if (those)
            run_node(r, f, l, n, those);
    }
}

/* ---- the result ---- */

static uint32_t folded(const struct known_program *p, const struct run *r, const struct frame *f,
                       uint32_t t)
{
    uint32_t hash = 0;
#define FOLD(bit, x)                                                                               \
    if (p->shown >> (bit)&1)                                                                       \
    hash = hash * KNOWN_FACTOR + (uint32_t)(x)
    for (uint32_t i = 0; i < known_counts[KNOWN_R]; i++)
        FOLD(KNOWN_SHOWN_R + i, f->registers[KNOWN_R][i][t]);
    for (uint32_t i = 0; i < known_counts[KNOWN_W]; i++)
        FOLD(KNOWN_SHOWN_W + i, f->registers[KNOWN_W][i][t] ^ f->registers[KNOWN_W][i][t] >> 32);
    for (uint32_t i = 0; i < known_counts[KNOWN_H]; i++)
        FOLD(KNOWN_SHOWN_H + i, f->registers[KNOWN_H][i][t]);
    for (uint32_t i = 0; i < known_counts[KNOWN_P]; i++)
        FOLD(KNOWN_SHOWN_P + i, f->registers[KNOWN_P][i][t]);
    for (uint32_t i = 0; i < KNOWN_AREA / 4; i++)
        FOLD(KNOWN_SHOWN_SHARED + i, peek(r->shared[t] + 4 * i, 4));
    for (uint32_t i = 0; i < KNOWN_AREA / 4; i++)
        FOLD(KNOWN_SHOWN_LOCAL, peek(f->local[t] + 4 * i, 4));
    for (uint32_t i = 0; i < KNOWN_AREA / 4; i++)
        FOLD(KNOWN_SHOWN_LOCAL_TOO, peek(f->local_too[t] + 4 * i, 4));
#undef FOLD
    return hash;
}

void known_run(struct known_program *p)
{
    struct arena *arena = p->g->arena;
    size_t mark = arena_mark(arena);
    struct run *r = ARENA_NEW(arena, struct run);
    struct frame *f = ARENA_NEW(arena, struct frame);
    uint32_t threads = p->threads * p->blocks;
    known_mask all = threads < 64 ? ((known_mask)1 << threads) - 1 : ~(known_mask)0;
    r->p = p;
    p->flaw = KNOWN_FLAWS;
    memcpy(p->global, p->initial, sizeof p->global);
    for (uint32_t i = 0; i < KNOWN_ACCUMULATORS; i++)
        p->accumulators[i] = known_atomics[i].start;
    run_list(r, f, NULL, p->main, all);
    EACH(t, all & ~r->exited)
    p->results[t] = folded(p, r, f, t);
    arena_release(arena, mark);
}
