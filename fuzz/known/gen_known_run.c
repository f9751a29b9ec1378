/* What a program with a known result does: all threads at once, with a mask of those that take part. */
#include "fuzz/known/gen_known_run.h"

#include <string.h>

struct loop {
    known_mask broken, continued;
};

static uint64_t bits_of(enum known_class class)
{
    static const uint64_t bits[] = {
        [KNOWN_H] = 0xffff, [KNOWN_R] = 0xffffffff, [KNOWN_W] = UINT64_MAX, [KNOWN_P] = 1};
    return bits[class];
}

uint64_t known_get(const struct known_frame *f, const struct known_operand *o, uint32_t t)
{
    return (o->is_constant ? o->value : f->registers[o->class][o->number][t]) & bits_of(o->class);
}

void known_set(struct known_frame *f, const struct known_operand *o, uint32_t t, uint64_t value)
{
    f->registers[o->class][o->number][t] = value & bits_of(o->class);
}

/* ---- computing ---- */

#define S8(x) ((int64_t)(int8_t)(uint8_t)(x))
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
#include "fuzz/known/gen_known_ops.def"
    case KNOWN_OP_COUNT:
        break;
    }
    return 0;
}

static uint64_t special(const struct known_program *p, uint32_t which, uint32_t t)
{
    uint32_t block = t / p->threads, tid = t % p->threads, lane = tid % p->warp;
    uint64_t bit = (uint64_t)1 << lane;
    switch ((enum known_special)which) {
    case KNOWN_TID:
        return tid % p->width;
    case KNOWN_LANE:
        return lane;
    case KNOWN_BLOCK:
        return block % p->grid_width;
    case KNOWN_BLOCK_SIZE:
        return p->width;
    case KNOWN_WARP_NUMBER:
        return tid / p->warp;
    case KNOWN_BLOCKS:
        return p->grid_width;
    case KNOWN_TID_Y:
        return tid / p->width;
    case KNOWN_BLOCK_Y:
        return block / p->grid_width;
    case KNOWN_BLOCK_SIZE_Y:
        return p->threads / p->width;
    case KNOWN_BLOCKS_Y:
        return p->blocks / p->grid_width;
    case KNOWN_NONE:
        return 0;
    case KNOWN_WARPS:
        return p->warps;
    case KNOWN_LANES_LESS:
        return bit - 1;
    case KNOWN_LANES_LEAST:
        return ~(bit - 1);
    case KNOWN_LANES_EQUAL:
        return bit;
    case KNOWN_LANES_MOST:
        return bit | (bit - 1);
    case KNOWN_LANES_MORE:
        return ~(bit | (bit - 1));
    case KNOWN_SPECIALS:
        break;
    }
    return 0;
}

/* ---- memory ---- */

uint8_t *known_area(struct known_execution *r, struct known_frame *f, enum known_space space,
                    uint32_t t)
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

uint64_t known_peek(const uint8_t *at, uint32_t bytes)
{
    uint64_t value = 0;
    for (uint32_t i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

void known_poke(uint8_t *at, uint32_t bytes, uint64_t value)
{
    for (uint32_t i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

static void access(struct known_execution *r, struct known_frame *f, const struct known_node *n,
                   known_mask mask)
{
    KNOWN_EACH(t, mask)
    {
        uint8_t *at = known_area(r, f, n->space, t) + n->at;
        for (uint32_t i = 0; i < n->vector; i++, at += n->bytes) {
            struct known_operand o = n->kind == KNOWN_LOAD ? n->d : n->s[0];
            o.number = (o.number + i) % known_counts[o.class];
            if (n->kind == KNOWN_STORE) {
                known_poke(at, n->bytes, known_get(f, &o, t));
                continue;
            }
            uint64_t value = known_peek(at, n->bytes), sign = (uint64_t)1 << (8 * n->bytes - 1);
            known_set(f, &o, t, n->is_signed ? (value ^ sign) - sign : value);
        }
    }
}

/* What is not given becomes 0. */
static void copy(struct known_execution *r, const struct known_node *n, uint32_t t, uint32_t given)
{
    if (n->count == KNOWN_COPY_OUT) {
        memcpy(r->p->global[t], r->shared[t], KNOWN_AREA);
        return;
    }
    if (n->count == KNOWN_COPY_BULK)
        given = n->bytes;
    for (uint32_t i = 0; i < n->bytes; i++)
        r->shared[t][n->at + i] = i < given ? r->p->global[t][n->which + i] : 0;
}

/* ---- statements ---- */

static void run_list(struct known_execution *r, struct known_frame *f, struct loop *l,
                     const struct known_node *n, known_mask mask);

/* Those of the mask that come here. */
static known_mask remaining(const struct known_execution *r, const struct known_frame *f,
                            const struct loop *l, known_mask mask)
{
    mask &= ~r->exited & ~f->returned;
    return l ? mask & ~l->broken & ~l->continued : mask;
}

static known_mask holding(const struct known_frame *f, const struct known_operand *o,
                          known_mask mask)
{
    known_mask holds = 0;
    KNOWN_EACH(t, mask)
    holds |= (known_mask)(known_get(f, o, t) & 1) << t;
    return holds;
}

static known_mask guarded(const struct known_frame *f, uint32_t guard, known_mask mask)
{
    struct known_operand o = {.class = KNOWN_P, .number = (guard - 1) / 2};
    if (guard == 0)
        return mask;
    known_mask holds = holding(f, &o, mask);
    return (guard - 1) % 2 ? mask & ~holds : holds;
}

static void run_loop(struct known_execution *r, struct known_frame *f, const struct known_node *n,
                     known_mask mask)
{
    struct loop l = {0};
    uint32_t trips[KNOWN_THREADS];
    KNOWN_EACH(t, mask)
    trips[t] = (uint32_t)known_get(f, &n->s[0], t);
    known_mask in = mask;
    for (uint32_t trip = 0; in; trip++) {
        if (trip > 0 || !n->tests_last) {
            known_mask again = 0;
            KNOWN_EACH(t, in)
            again |= (known_mask)(trip < trips[t]) << t;
            in = again;
        }
        l.continued = 0;
        run_list(r, f, &l, n->body, in);
        in = in & ~r->exited & ~f->returned & ~l.broken;
    }
}

static void run_switch(struct known_execution *r, struct known_frame *f, struct loop *l,
                       const struct known_node *n, known_mask mask)
{
    known_mask falling = 0, those[KNOWN_CASES] = {0};
    KNOWN_EACH(t, mask)
    those[known_get(f, &n->s[0], t) % n->count] |= (known_mask)1 << t;
    for (uint32_t i = 0; i < n->count; i++) {
        falling = remaining(r, f, l, falling | those[i]);
        run_list(r, f, l, n->cases[i], falling);
        if (!n->falls[i])
            falling = 0;
    }
}

/* Of itself: where `depth` is not 0, with one less. */
static void call(struct known_execution *r, struct known_frame *f, const struct known_node *n,
                 const struct known_function *function, known_mask mask)
{
    if (!mask)
        return;
    struct arena *arena = r->p->g->arena;
    size_t mark = arena_mark(arena);
    struct known_frame *callee = ARENA_NEW(arena, struct known_frame);
    KNOWN_EACH(t, mask)
    {
        callee->depth[t] = n->function ? (uint32_t)known_get(f, &n->s[0], t) : f->depth[t] - 1;
        callee->registers[KNOWN_R][0][t] = known_get(f, &n->s[1], t);
    }
    run_list(r, callee, NULL, function->body, mask);
    KNOWN_EACH(t, mask & ~r->exited)
    known_set(f, &n->d, t, callee->registers[KNOWN_R][0][t] + callee->trail[t]);
    arena_release(arena, mark);
}

static void run_call(struct known_execution *r, struct known_frame *f, const struct known_node *n,
                     known_mask mask)
{
    known_mask others = 0, deep = 0;
    if (!n->function) {
        KNOWN_EACH(t, mask)
        deep |= (known_mask)(f->depth[t] > 0) << t;
        call(r, f, n, n->other_function, deep);
        return;
    }
    if (n->other_function)
        others = holding(f, &n->s[2], mask);
    call(r, f, n, n->function, mask & ~others);
    call(r, f, n, n->other_function, others);
}

/* Its low half, with the high one. */
static uint32_t in_short(uint64_t value)
{
    return (uint32_t)(value ^ value >> 32);
}

static void note(struct known_frame *f, const struct known_operand *d, known_mask mask)
{
    KNOWN_EACH(t, mask)
    f->trail[t] = f->trail[t] * KNOWN_FACTOR + in_short(known_get(f, d, t));
}

static void run_node(struct known_execution *r, struct known_frame *f, struct loop *l,
                     const struct known_node *n, known_mask mask)
{
    known_mask holds;
    switch (n->kind) {
    case KNOWN_COMPUTE:
        KNOWN_EACH(t, mask)
        known_set(f, &n->d, t,
                  compute(n->op, known_get(f, &n->s[0], t), known_get(f, &n->s[1], t),
                          known_get(f, &n->s[2], t)));
        break;
    case KNOWN_SPECIAL:
        KNOWN_EACH(t, mask)
        known_set(f, &n->d, t, special(r->p, n->which, t));
        break;
    case KNOWN_GIVEN:
        KNOWN_EACH(t, mask)
        known_set(f, &n->d, t,
                  (uint64_t)known_givens[n->which]
                      .values[known_get(f, &n->s[0], t) % known_givens[n->which].count]);
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
    case KNOWN_NEIGHBOUR:
    case KNOWN_PAIR:
    case KNOWN_SUBSET:
    case KNOWN_REDUCE:
    case KNOWN_ATOMIC:
    case KNOWN_OWN:
    case KNOWN_WARP:
        known_run_together(r, f, n, mask);
        break;
    case KNOWN_FLAW:
        r->p->flaw = (enum known_flaw)n->which;
        r->p->one_word = r->p->flaw == KNOWN_RACE && n->at == 2;
        if (r->p->flaw == KNOWN_LEAVE) {
            KNOWN_EACH(t, mask)
            r->exited |= (known_mask)(t % r->p->threads >= r->p->threads - r->p->warp) << t;
        }
        if (r->p->flaw == KNOWN_SEVERAL || r->p->flaw == KNOWN_LEAVE)
            known_run_together(r, f, n, mask & ~r->exited);
        break;
    case KNOWN_COPY:
        KNOWN_EACH(t, mask)
        copy(r, n, t, (uint32_t)known_get(f, &n->s[0], t));
        break;
    case KNOWN_TWICE:
    case KNOWN_BARRIER:
    case KNOWN_FENCE:
        break;
    }
}

static void run_list(struct known_execution *r, struct known_frame *f, struct loop *l,
                     const struct known_node *n, known_mask mask)
{
    for (; n; n = n->next) {
        known_mask here = remaining(r, f, l, mask), those = guarded(f, n->guard, here);
        if (those)
            run_node(r, f, l, n, those);
        if (n->noted)
            note(f, &n->d, here);
    }
}

/* ---- the result ---- */

static uint32_t folded(const struct known_program *p, const struct known_execution *r,
                       const struct known_frame *f, uint32_t t)
{
    uint32_t hash = f->trail[t];
#define FOLD(bit, x)                                                                               \
    if (p->shown >> (bit)&1)                                                                       \
    hash = hash * KNOWN_FACTOR + (uint32_t)(x)
    for (uint32_t i = 0; i < known_counts[KNOWN_R]; i++)
        FOLD(KNOWN_SHOWN_R + i, f->registers[KNOWN_R][i][t]);
    for (uint32_t i = 0; i < known_counts[KNOWN_W]; i++)
        FOLD(KNOWN_SHOWN_W + i, in_short(f->registers[KNOWN_W][i][t]));
    for (uint32_t i = 0; i < known_counts[KNOWN_H]; i++)
        FOLD(KNOWN_SHOWN_H + i, f->registers[KNOWN_H][i][t]);
    for (uint32_t i = 0; i < known_counts[KNOWN_P]; i++)
        FOLD(KNOWN_SHOWN_P + i, f->registers[KNOWN_P][i][t]);
    for (uint32_t i = 0; i < KNOWN_AREA / 4; i++)
        FOLD(KNOWN_SHOWN_SHARED + i, known_peek(r->shared[t] + 4 * i, 4));
    for (uint32_t i = 0; i < KNOWN_AREA / 4; i++)
        FOLD(KNOWN_SHOWN_LOCAL, known_peek(f->local[t] + 4 * i, 4));
    for (uint32_t i = 0; i < KNOWN_AREA / 4; i++)
        FOLD(KNOWN_SHOWN_LOCAL_TOO, known_peek(f->local_too[t] + 4 * i, 4));
#undef FOLD
    return hash;
}

void known_run(struct known_program *p)
{
    struct arena *arena = p->g->arena;
    size_t mark = arena_mark(arena);
    struct known_execution *r = ARENA_NEW(arena, struct known_execution);
    struct known_frame *f = ARENA_NEW(arena, struct known_frame);
    uint32_t threads = p->threads * p->blocks;
    known_mask all = threads < 64 ? ((known_mask)1 << threads) - 1 : ~(known_mask)0;
    r->p = p;
    p->flaw = KNOWN_FLAWS;
    memcpy(p->global, p->initial, sizeof p->global);
    for (uint32_t i = 0; i < KNOWN_ACCUMULATORS; i++)
        p->accumulators[i] = known_atomics[i].start;
    run_list(r, f, NULL, p->main, all);
    KNOWN_EACH(t, all & ~r->exited)
    p->results[t] = folded(p, r, f, t);
    arena_release(arena, mark);
}
