/*
 * ptx_draw.c - litmus tests of PTX: a pattern of the field, each access with an order and a scope, fences, barriers,
 * branches and what registers do between, threads in blocks of one GPU or two.
 *
 * A test is drawn as what it means (`meant`), from which ptx_text.c makes its text.
 */
#include "fuzz/laws/ptx_draw.h"

#include <string.h>

/* OLD: only what ASPLOS'15 knows. NEAT: most is as it should be. WIDE: all that the text can say, evenly. */
enum manner { OLD, NEAT, ANY, WIDE };

/* Threads with `|` between; W, R and A write, read and do an atomic operation; a point is a place for a fence. */
static const char *const patterns[] = {
    "Wx.Wy|Ry.Rx",     "Wx.Wy|Ry.Rx",      "Wx.Wy|AyAy|Ry.Rx",  "Wx.Wy|AyAyAy|Ry.Rx",
    "Wx.Wy|Ay|Ry.Rx",  "Wx.Wy|AyAy|Ry.Rx", "Wx.Wy|Ay|Ay|Ry.Rx", "Wx.Ry|Wy.Rx",
    "Rx.Wy|Ry.Wx",     "Wx|Rx.Wy|Ry.Rx",   "Wx.Wy|Ry.Wz|Rz.Rx", "Wx.Wy|Wy.Wx",
    "Wx.Wy|Wy.Rx",     "Wx.Wy|Ry.Wx",      "Wx|Wy|Rx.Ry|Ry.Rx", "WxWx|RxRx",
    "Wx|Wx|RxRx",      "Ax|Ax|WxRx",       "AxRx|WxAx",         "Wx.WyWy|Ry.Rx",
    "Wx.Wy|RyRy.Rx",   "Wx.AyAy|AyAy.Rx",  "Wx.Wy|Ry.Wy|Ry.Rx", "Wx.Ay|Ay.Rx",
    "WxWx.Wy|Ry.RxWx", "Wx.|.Rx",          "Wx.Wy|RyRz.Rx",     "Wx.WzWy|Ry.Rx",
};
/* Of those that are run in steps, too: two or three threads, with barriers that are used again. */
static const char *const wide[] = {
    "Wx.Wy|Ry.Rx", "Wx.Ry|Wy.Rx",  "Rx.Wy|Ry.Wx", "Wx.Wy|Wy.Wx",    "Ax.Ry|Ay.Rx",  "Wx.Ay|Ay.Rx",
    ".Wx.|.Rx.",   "Wx..|..Rx",    "Wx.Wx|Rx.Rx", "Wx.|Rx.Wy.|.Ry", ".Wx|.Wy|.Ry",  "Ax|Ax.|.Rx",
    "Wx|Wx|Rx.Rx", "Wx.|.Ax.|.Rx", "AxRx|WxAx",   "Wx.Ax.|Rx.Wx",   "Wx.Wy|RyRzRx", "WxWzWy|Ry.Rx",
    "..Wx|Rx..",   "...|..Wx|Rx.", "..|..|.Wx.",  "Wx..Ry|Wy..Rx",  "..Wx|..Rx",    "...Wx|..Rx",
};

static enum litmus_scope draw_scope(struct pcg *rng)
{
    static const enum litmus_scope scopes[] = {SCOPE_CTA, SCOPE_CTA, SCOPE_GL,
                                               SCOPE_GL,  SCOPE_GL,  SCOPE_SYS};
    return scopes[pcg_below(rng, 6)];
}

static void make_strong(struct litmus_instruction *in, enum litmus_order order,
                        enum litmus_scope scope)
{
    in->order = order;
    in->scope = scope;
    if (in->op <= LITMUS_ST)
        in->cache = CACHE_VOL; /* to the caches of 2011 */
}

/* Of a pair, release or acquire; relaxed; weak; volatile. */
static void draw_order(struct pcg *rng, struct litmus_instruction *in)
{
    uint32_t drawn = pcg_below(rng, 8);
    if (drawn < 4)
        make_strong(in, in->op == LITMUS_LD ? ORDER_ACQUIRE : ORDER_RELEASE, draw_scope(rng));
    else if (drawn < 6)
        make_strong(in, ORDER_RELAXED, draw_scope(rng));
    else if (drawn == 7)
        make_strong(in, ORDER_RELAXED, SCOPE_SYS);
}

/* A plain access: which way through the caches. */
static void draw_cache(struct pcg *rng, struct litmus_instruction *in)
{
    static const enum litmus_cache loads[] = {CACHE_CA, CACHE_CA, CACHE_CG,
                                              CACHE_CS, CACHE_CV, CACHE_LU},
                                   stores[] = {CACHE_WB, CACHE_WB, CACHE_WB,
                                               CACHE_CG, CACHE_CS, CACHE_WT};
    in->cache = (in->op == LITMUS_LD ? loads : stores)[pcg_below(rng, 6)];
}

static enum litmus_op draw_atomic_op(struct pcg *rng, enum manner manner)
{
    static const enum litmus_op some[] = {LITMUS_ADD_ATOM, LITMUS_ADD_ATOM, LITMUS_EXCH,
                                          LITMUS_CAS},
                                all[] = {LITMUS_ADD_ATOM, LITMUS_SUB, LITMUS_EXCH,
                                         LITMUS_AND,      LITMUS_OR,  LITMUS_XOR,
                                         LITMUS_MIN,      LITMUS_MAX, LITMUS_CAS};
    return manner == WIDE ? all[pcg_below(rng, 9)] : some[pcg_below(rng, 4)];
}

static void draw_atomic(struct pcg *rng, struct litmus_instruction *in, enum manner manner)
{
    static const enum litmus_order orders[] = {ORDER_ACQUIRE, ORDER_RELEASE, ORDER_ACQ_REL,
                                               ORDER_RELAXED};
    in->op = draw_atomic_op(rng, manner);
    in->order = orders[pcg_below(rng, 4)];
    in->scope = draw_scope(rng);
    in->no_result =
        manner == WIDE && in->op != LITMUS_EXCH && in->op != LITMUS_CAS && pcg_below(rng, 4) == 0;
}

/* As whoever writes such a program means it: x is what is passed on, by operations of the GPU that order. */
static void draw_neat(struct pcg *rng, struct litmus_instruction *in, char kind)
{
    static const enum litmus_order orders[] = {ORDER_RELAXED, ORDER_RELAXED, ORDER_ACQ_REL};
    if (kind == 'A') {
        in->op = LITMUS_ADD_ATOM;
        in->order = orders[pcg_below(rng, 3)];
        in->scope = SCOPE_GL;
    } else if (in->word[0] != 0) {
        make_strong(in, in->op == LITMUS_LD ? ORDER_ACQUIRE : ORDER_RELEASE, SCOPE_GL);
    }
}

struct drawer {
    struct pcg *rng;
    struct drawn_test *test;
    enum manner manner;
    bool barred; /* most that stands between is a barrier */
    int16_t value;
};

static struct litmus_thread *last_thread(const struct drawer *d)
{
    return &d->test->meant.threads[d->test->meant.count - 1];
}

static struct litmus_instruction *add(const struct drawer *d, enum litmus_op op)
{
    struct litmus_thread *t = last_thread(d);
    struct litmus_instruction *in = &t->code[t->length++];
    *in = (struct litmus_instruction){.op = op, .lanes = 1};
    return in;
}

/* A register that the thread has written, or a number. */
static struct litmus_operand draw_value(const struct drawer *d, bool used)
{
    uint32_t registers = last_thread(d)->registers;
    if (used && registers > 0)
        return (struct litmus_operand){true, (int16_t)(registers - 1)};
    if (d->manner == WIDE)
        return (struct litmus_operand){false, (int16_t)((int)pcg_below(d->rng, 6) - 2)};
    return (struct litmus_operand){false, d->value};
}

/* Another one, or one that is there already. */
static uint8_t draw_result(const struct drawer *d)
{
    struct litmus_thread *t = last_thread(d);
    bool again = d->manner == WIDE && t->registers > 0 && pcg_below(d->rng, 6) == 0;
    return again ? (uint8_t)pcg_below(d->rng, t->registers) : t->registers++;
}

static void draw_access(struct drawer *d, char kind, char word)
{
    struct pcg *rng = d->rng;
    struct litmus_instruction *in = add(d, kind == 'R' ? LITMUS_LD : LITMUS_ST);
    bool old = d->manner == OLD, is_wide = d->manner == WIDE, used = false;
    uint32_t other = pcg_below(rng, is_wide ? 4 : 8); /* an atomic operation instead */
    in->cache = kind == 'R' ? CACHE_CA : CACHE_WB;
    in->word[0] = (uint8_t)(word - 'x');
    d->value++;
    if (d->manner == NEAT && pcg_below(rng, 6) > 0) {
        draw_neat(rng, in, kind);
    } else {
        used = pcg_below(rng, is_wide ? 3 : 6) == 0;
        if (kind == 'A' || other == 0)
            draw_atomic(rng, in, d->manner);
        else if (is_wide && pcg_below(rng, 3) == 0)
            draw_cache(rng, in);
        else if (!old)
            draw_order(rng, in);
        else if (kind == 'R')
            in->cache = CACHE_CG;
        if (old && in->op > LITMUS_ST) {
            in->order = ORDER_RELAXED;
            in->scope = SCOPE_GL;
        }
    }
    if (in->op != LITMUS_LD)
        in->a[0] = draw_value(d, used);
    if (in->op == LITMUS_CAS) {
        in->b = in->a[0];
        in->a[0] = (struct litmus_operand){false, (int16_t)(is_wide ? pcg_below(rng, 3) : 0)};
        if (is_wide && pcg_below(rng, 3) == 0)
            in->a[0] = draw_value(d, true);
    }
    if (in->op != LITMUS_ST && !in->no_result)
        in->reg[0] = draw_result(d);
}

static void draw_barrier(struct drawer *d)
{
    uint32_t numbers = d->manner == WIDE ? 1 + pcg_below(d->rng, 3) : 2; /* the first ones mostly */
    bool arrives = d->manner == WIDE && pcg_below(d->rng, 3) == 0;
    struct litmus_instruction *in = add(d, arrives ? LITMUS_ARRIVE : LITMUS_BAR);
    in->barrier = (uint8_t)(d->barred ? pcg_below(d->rng, numbers) : 0);
}

/* What registers hold, and where it goes on. */
static void draw_registers(struct drawer *d)
{
    struct litmus_thread *t = last_thread(d);
    uint32_t drawn = pcg_below(d->rng, 3);
    struct litmus_operand one = draw_value(d, true), two = draw_value(d, pcg_below(d->rng, 2));
    struct litmus_instruction *in = add(d, drawn == 0   ? LITMUS_MOV
                                           : drawn == 1 ? LITMUS_ADD
                                                        : LITMUS_BEQ);
    in->a[0] = one;
    if (drawn > 0)
        in->b = two;
    if (drawn < 2) {
        in->reg[0] = draw_result(d);
        return;
    }
    in->op = pcg_below(d->rng, 2) ? LITMUS_BEQ : LITMUS_BNE;
    in->no_result = true;
    in->target = (uint8_t)(t->length + 1 + pcg_below(d->rng, 2)); /* the end may be nearer */
    if (d->test->law == LAW_SEQUENCE && pcg_below(d->rng, 3) == 0)
        in->target = (uint8_t)pcg_below(d->rng, t->length - 1u);
}

static void draw_between(struct drawer *d)
{
    bool is_wide = d->manner == WIDE;
    uint32_t drawn = pcg_below(d->rng, 8);
    if (d->manner != OLD && pcg_below(d->rng, 4) < (d->barred ? 3u : 1u)) {
        draw_barrier(d);
    } else if (is_wide && drawn >= 5) {
        draw_registers(d);
    } else {
        struct litmus_instruction *in = add(d, LITMUS_MEMBAR);
        in->order = d->manner != OLD && drawn % 2 ? ORDER_ACQ_REL : ORDER_SC;
        in->scope = draw_scope(d->rng);
    }
}

static void draw_threads(struct drawer *d, const char *at)
{
    for (d->test->meant.count = 1; *at; at++) {
        if (*at == '|')
            d->test->meant.count++;
        else if (*at != '.')
            draw_access(d, at[0], at[1]), at++;
        else if (d->barred || pcg_below(d->rng, d->manner == NEAT ? 6 : 2) == 0)
            draw_between(d);
    }
}

static void draw_places(struct drawer *d)
{
    struct litmus_test *meant = &d->test->meant;
    bool far = d->test->law != LAW_CACHED && pcg_below(d->rng, 8) == 0;
    uint8_t last = 0;
    for (uint32_t t = 0; t < meant->count; t++) {
        meant->threads[t].cta =
            d->barred && pcg_below(d->rng, 4) ? 0 : (uint8_t)pcg_below(d->rng, t + 1);
        last = meant->threads[t].cta > last ? meant->threads[t].cta : last;
    }
    for (uint32_t t = 0; t < meant->count && far && last; t++)
        meant->threads[t].gpu = meant->threads[t].cta == last;
}

/* Comparisons of all that is observed, with `and`, `or` and `not` between. */
static void draw_condition(struct pcg *rng, struct litmus_test *meant)
{
    static const enum litmus_quantifier asks[] = {ASKS_EXISTS, ASKS_NEVER, ASKS_FORALL};
    struct litmus_condition *c = &meant->condition;
    *c = (struct litmus_condition){.asks = asks[pcg_below(rng, 3)]};
    for (uint8_t i = 0; i < meant->observed; i++) {
        struct litmus_term *term = &c->terms[c->count++];
        *term = (struct litmus_term){.kind = pcg_below(rng, 3) ? TERM_EQUAL : TERM_DIFFERENT,
                                     .left = i,
                                     .is_value = i == 0 || pcg_below(rng, 3) > 0,
                                     .value = (int16_t)pcg_below(rng, 3)};
        term->right = term->is_value ? 0 : (uint8_t)pcg_below(rng, i);
        if (pcg_below(rng, 4) == 0)
            c->terms[c->count++].kind = TERM_NOT;
        if (i > 0)
            c->terms[c->count++].kind = pcg_below(rng, 2) ? TERM_AND : TERM_OR;
        if (pcg_below(rng, 8) == 0)
            c->terms[c->count++].kind = TERM_NOT;
    }
}

void litmus_draw_ptx(struct pcg *rng, struct drawn_test *test)
{
    static const enum manner manners[] = {OLD, OLD, NEAT, NEAT, NEAT, ANY, ANY, ANY, WIDE, WIDE};
    struct drawer d = {.rng = rng, .test = test};
    d.manner = test->law == LAW_AXIOMS ? manners[pcg_below(rng, 10)] : WIDE;
    d.barred = d.manner == WIDE ? pcg_below(rng, 3) > 0 : d.manner != OLD && pcg_below(rng, 5) == 0;
    draw_threads(&d, d.manner == WIDE
                         ? wide[pcg_below(rng, sizeof wide / sizeof *wide)]
                         : patterns[pcg_below(rng, sizeof patterns / sizeof *patterns)]);
    draw_places(&d);
    for (uint32_t b = 0; b < LITMUS_BARRIERS && d.manner == WIDE; b++)
        test->counts[b] = (uint8_t)(pcg_below(rng, 3) ? 0 : pcg_below(rng, 4) ? COUNT_ALL : 2);
    for (uint32_t w = 0; w < 3 && d.manner == WIDE; w++)
        test->meant.init[w] = (int16_t)(pcg_below(rng, 4) ? 0 : pcg_below(rng, 3));
    litmus_settle_ptx(test);
    if (d.manner == WIDE)
        draw_condition(rng, &test->meant);
}

/* ---- a test without something ---- */

static void number_register(uint8_t names[LITMUS_REGISTERS], struct litmus_thread *t, uint8_t *reg)
{
    if (names[*reg] == LITMUS_REGISTERS)
        names[*reg] = t->registers++;
    *reg = names[*reg];
}

/* A register that nobody has written is a number. */
static void number_operand(const uint8_t names[LITMUS_REGISTERS], struct litmus_operand *o)
{
    if (!o->is_register)
        return;
    o->is_register = names[o->value] < LITMUS_REGISTERS;
    o->value = (int16_t)(o->is_register ? names[o->value] : 0);
}

/* Registers have numbers in the order in which they are written. */
static void settle_registers(struct litmus_thread *t)
{
    uint8_t names[LITMUS_REGISTERS];
    memset(names, LITMUS_REGISTERS, sizeof names);
    t->registers = 0;
    for (uint32_t i = 0; i < t->length; i++) {
        struct litmus_instruction *in = &t->code[i];
        number_operand(names, &in->a[0]);
        number_operand(names, &in->b);
        in->target = in->target > t->length ? t->length : in->target;
        if (ptx_has_result(in))
            number_register(names, t, &in->reg[0]);
    }
    for (uint32_t r = 0; r < t->registers; r++) {
        t->names[r][0] = 'r';
        t->names[r][1] = (char)('0' + r);
    }
}

/* Of the threads of the block those that name the barrier. */
static uint8_t who_names(const struct litmus_test *meant, uint32_t thread, uint32_t barrier)
{
    uint8_t mask = 0;
    for (uint32_t t = 0; t < meant->count; t++)
        for (uint32_t i = 0; i < meant->threads[t].length; i++)
            if (meant->threads[t].sm == meant->threads[thread].sm &&
                litmus_is_barrier(&meant->threads[t].code[i]) &&
                meant->threads[t].code[i].barrier == barrier)
                mask |= (uint8_t)(1u << t);
    return mask;
}

static void settle_barriers(struct drawn_test *test)
{
    struct litmus_test *meant = &test->meant;
    for (uint32_t t = 0; t < meant->count; t++)
        for (uint32_t i = 0; i < meant->threads[t].length; i++) {
            struct litmus_instruction *in = &meant->threads[t].code[i];
            if (!litmus_is_barrier(in))
                continue;
            in->threads = who_names(meant, t, in->barrier);
            in->arrivals = test->counts[in->barrier] == COUNT_ALL
                               ? (uint8_t)__builtin_popcount(in->threads)
                               : test->counts[in->barrier];
        }
}

static void observe(struct litmus_test *meant)
{
    uint32_t words = 0;
    meant->observed = 0;
    for (uint32_t t = 0; t < meant->count; t++)
        for (uint32_t i = 0; i < meant->threads[t].length; i++)
            if (meant->threads[t].code[i].op <= LITMUS_CAS)
                words |= 1u << meant->threads[t].code[i].word[0];
    for (uint8_t t = 0; t < meant->count; t++)
        for (uint8_t r = 0; r < meant->threads[t].registers; r++)
            if (meant->observed < LITMUS_OBSERVED)
                meant->observe[meant->observed++] = (struct litmus_observed){true, t, r};
    for (uint8_t w = 0; w < 3; w++)
        if (words >> w & 1 && meant->observed < LITMUS_OBSERVED)
            meant->observe[meant->observed++] = (struct litmus_observed){false, 0, w};
}

void litmus_settle_ptx(struct drawn_test *test)
{
    struct litmus_test *meant = &test->meant;
    meant->is_ptx = true;
    meant->options.words_a_line = 1;
    for (uint32_t t = 0; t < meant->count; t++) {
        meant->threads[t].sm = (uint8_t)t;
        for (uint32_t other = t; other-- > 0;)
            if (meant->threads[other].cta == meant->threads[t].cta &&
                meant->threads[other].gpu == meant->threads[t].gpu)
                meant->threads[t].sm = meant->threads[other].sm;
        settle_registers(&meant->threads[t]);
    }
    settle_barriers(test);
    observe(meant);
    meant->condition = (struct litmus_condition){.asks = ASKS_EXISTS};
    for (uint8_t i = 0; i < meant->observed; i++) {
        meant->condition.terms[meant->condition.count++] =
            (struct litmus_term){.kind = TERM_EQUAL, .left = i, .is_value = true};
        if (i > 0)
            meant->condition.terms[meant->condition.count++].kind = TERM_AND;
    }
}

void litmus_drop_ptx(struct drawn_test *test, uint32_t thread, uint32_t at)
{
    struct litmus_thread *t = &test->meant.threads[thread];
    t->length--;
    for (uint32_t i = at; i < t->length; i++)
        t->code[i] = t->code[i + 1];
    for (uint32_t i = 0; i < t->length; i++)
        if (t->code[i].op >= LITMUS_BZ && t->code[i].target > at)
            t->code[i].target--;
    litmus_settle_ptx(test);
}
