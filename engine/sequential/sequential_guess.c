/*
 * sequential_guess.c - what may hold at a loop's head, in Boogie's words: existential constants, of which
 * /contractInfer keeps those that do. GPUVerify's templates (OOPSLA 2012), over the loop's text.
 */
#include "engine/sequential/sequential_internal.h"

#include "engine/language/print.h"

#include <inttypes.h>

#define SAY(s, ...) arena_printf((s)->arena, __VA_ARGS__)

enum { STRIDES_MAX = 8 };

struct guessing {
    struct sequential *s;
    uint32_t loop, line; /* line: what names of before the loop carry */
    uint8_t *changed;    /* a variable: the loop assigns it */
    const char *head;
    int32_t strides[STRIDES_MAX];
    uint32_t stride_count;
};

/* ---- what the loop does ---- */

typedef void visit_expr(struct guessing *g, const struct ast_expr *e, const void *context);

static void visit(struct guessing *g, const struct ast_expr *e, visit_expr *each,
                  const void *context)
{
    if (!e)
        return;
    each(g, e, context);
    visit(g, e->a, each, context);
    visit(g, e->b, each, context);
    visit(g, e->c, each, context);
}

/* Every expression of the loop, with all below it. */
static void visit_loop(struct guessing *g, visit_expr *each, const void *context)
{
    const struct cfg *cfg = g->s->cfg;
    for (uint32_t b = 0; b < cfg->count; b++) {
        if (!cfg_in_loop(cfg, g->loop, b))
            continue;
        for (const struct ast_stm *stm = cfg->blocks[b]->body; stm; stm = stm->next) {
            visit(g, stm->value, each, context);
            visit(g, stm->guard, each, context);
            visit(g, stm->target.index, each, context);
            visit(g, stm->place.index, each, context);
            for (const struct ast_expr *e = stm->arguments; e; e = e->next)
                visit(g, e, each, context);
        }
    }
}

static bool reads_memory(const struct ast_expr *e)
{
    if (!e)
        return false;
    bool here = e->kind == EXPR_INDEX || (e->kind == EXPR_VAR && sequential_is_memory(e->var));
    return here || reads_memory(e->a) || reads_memory(e->b) || reads_memory(e->c);
}

static void add_stride(struct guessing *g, int32_t stride)
{
    stride = stride < 0 && stride != INT32_MIN ? -stride : stride;
    for (uint32_t i = 0; i < g->stride_count; i++)
        if (g->strides[i] == stride)
            return;
    if (stride > 1 && g->stride_count < STRIDES_MAX)
        g->strides[g->stride_count++] = stride;
}

static void note_stride(struct guessing *g, const struct ast_expr *e, const void *context)
{
    (void)context;
    if (e->kind != EXPR_BINARY)
        return;
    if (e->binary != BINARY_ADD && e->binary != BINARY_SUB && e->binary != BINARY_MUL)
        return;
    if (e->b->kind == EXPR_INT)
        add_stride(g, e->b->value);
    if (e->b->kind == EXPR_BUILTIN && e->b->builtin == BUILTIN_THREADS)
        add_stride(g, (int32_t)g->s->kernel->launch.threads);
}

static void find_changes(struct guessing *g)
{
    const struct cfg *cfg = g->s->cfg;
    g->changed = ARENA_ARRAY(g->s->arena, uint8_t, g->s->var_count + 1);
    for (uint32_t b = 0; b < cfg->count; b++)
        for (const struct ast_stm *stm = cfg->blocks[b]->body; stm && cfg_in_loop(cfg, g->loop, b);
             stm = stm->next) {
            if (stm->target.var)
                g->changed[stm->target.var->mark] = 1;
            if (stm->place.var)
                g->changed[stm->place.var->mark] = 1;
            if (stm->op != ASSIGN_SET && stm->value && stm->value->kind == EXPR_INT)
                add_stride(g, stm->value->value);
        }
}

static struct guessing guessing_of(struct sequential *s, uint32_t loop)
{
    struct guessing g = {.s = s, .loop = loop, .line = loop + 1};
    g.head = s->cfg->blocks[s->cfg->loops[loop].head]->name;
    find_changes(&g);
    visit_loop(&g, note_stride, NULL);
    return g;
}

/* ---- what it remembers ---- */

static void remember(struct guessing *g, const char *name, const char *sort)
{
    text_format(&g->s->declare, "  var %s#%" PRIu32 ": %s;\n", name, g->line, sort);
    sequential_line(g->s, "%s#%" PRIu32 " := %s;", name, g->line, name);
}

/* Names of a thread: the number stands last. */
static void remember_of(struct guessing *g, const char *name, uint32_t k, const char *sort)
{
    text_format(&g->s->declare, "  var %s#%" PRIu32 "$%" PRIu32 ": %s;\n", name, g->line, k, sort);
    sequential_line(g->s, "%s#%" PRIu32 "$%" PRIu32 " := %s$%" PRIu32 ";", name, g->line, k, name,
                    k);
}

static bool is_scalar_of_loop(const struct guessing *g, uint32_t i)
{
    const struct ast_var *var = g->s->vars[i];
    return g->changed[i] && !var->is_array && !sequential_is_memory(var);
}

static const char *place_name(const struct sequential *s, uint32_t b)
{
    return b < s->cfg->count ? s->cfg->blocks[b]->name : "End";
}

void sequential_remember(struct sequential *s, uint32_t loop)
{
    struct guessing g = guessing_of(s, loop);
    for (uint32_t k = 1; k <= 2; k++) {
        for (uint32_t b = 0; b <= s->cfg->count; b++)
            remember_of(&g, SAY(s, "at_%s", place_name(s, b)), k, "bool");
        remember_of(&g, "dead", k, "bool");
        for (uint32_t i = 0; i < s->var_count; i++)
            if (is_scalar_of_loop(&g, i))
                remember_of(&g, s->vars[i]->name, k, "bv32");
    }
    for (uint32_t i = 0; i < s->var_count; i++)
        for (int kind = 0; s->written[i] && kind < SEEN_KINDS; kind++)
            remember(&g, SAY(s, "%s_%s", sequential_access_names[kind], s->vars[i]->name), "bool");
}

/* ---- guesses ---- */

static void guess(struct guessing *g, const char *condition, const char *holds)
{
    struct sequential *s = g->s;
    uint32_t number = ++s->guesses;
    text_format(&s->constants, "const {:existential true} g%" PRIu32 ": bool;\n", number);
    sequential_line(s, "  invariant g%" PRIu32 " ==> (%s ==> %s);", number, condition, holds);
}

static const char *in_loop(const struct guessing *g, uint32_t k)
{
    return SAY(g->s, "at_%s#%" PRIu32 "$%" PRIu32, g->head, g->line, k);
}

static const char *at_head(const struct guessing *g, uint32_t k)
{
    return SAY(g->s, "at_%s$%" PRIu32, g->head, k);
}

static const char *negated(const struct guessing *g, const char *condition)
{
    return SAY(g->s, "!%s", condition);
}

/* Who was in the loop is at some block, or dead. */
static const char *somewhere(const struct guessing *g, uint32_t k)
{
    struct sequential *s = g->s;
    const char *text = SAY(s, "(dead$%" PRIu32, k);
    for (uint32_t b = 0; b <= s->cfg->count; b++)
        text = SAY(s, "%s || at_%s$%" PRIu32, text, place_name(s, b), k);
    return SAY(s, "%s)", text);
}

static void guess_places(struct guessing *g)
{
    struct sequential *s = g->s;
    const char *alive = "same && !dead$1 && !dead$2";
    guess(g, "true", "(!dead$1 && !dead$2)");
    for (uint32_t b = 0; b <= s->cfg->count; b++) {
        const char *name = SAY(s, "at_%s", place_name(s, b));
        guess(g, alive, SAY(s, "%s$1 == %s$2", name, name));
        for (uint32_t k = 1; k <= 2; k++) {
            const char *at = SAY(s, "%s$%" PRIu32, name, k);
            guess(g, in_loop(g, k), negated(g, at));
            guess(g, at, SAY(s, "!dead$%" PRIu32, k));
            if (b != s->cfg->loops[g->loop].head)
                guess(g, at_head(g, k), negated(g, at));
            guess(g, negated(g, in_loop(g, k)),
                  SAY(s, "%s == %s#%" PRIu32 "$%" PRIu32, at, name, g->line, k));
        }
    }
    for (uint32_t k = 1; k <= 2; k++) {
        guess(g, in_loop(g, k), somewhere(g, k));
        guess(g, "true", SAY(s, "!dies$%" PRIu32, k));
        guess(g, negated(g, in_loop(g, k)),
              SAY(s, "dead$%" PRIu32 " == dead#%" PRIu32 "$%" PRIu32, k, g->line, k));
    }
}

static const char *multiple(const struct guessing *g, const char *value, int32_t stride)
{
    struct sequential *s = g->s;
    bool power = (stride & (stride - 1)) == 0;
    const char *rest =
        power ? sequential_apply(s, BINARY_AND, value, sequential_constant(s, stride - 1))
              : sequential_rest(s, value, sequential_constant(s, stride));
    return SAY(s, "%s == %s", rest, sequential_constant(s, 0));
}

static void guess_bounds(struct guessing *g, const char *now, const char *before, uint32_t k)
{
    struct sequential *s = g->s;
    const char *in = in_loop(g, k), *zero = sequential_constant(s, 0);
    const char *less = sequential_apply(s, BINARY_SUB, now, sequential_constant(s, 1));
    guess(g, negated(g, in), SAY(s, "%s == %s", now, before));
    guess(g, in, sequential_compare(s, BINARY_LE, before, now));
    guess(g, in, sequential_compare(s, BINARY_LE, now, before));
    guess(g, in, sequential_compare(s, BINARY_LE, zero, now));
    guess(g, in, SAY(s, "%s != %s", now, zero));
    guess(g, in, SAY(s, "%s == %s", sequential_apply(s, BINARY_AND, now, less), zero));
    for (uint32_t i = 0; i < g->stride_count; i++)
        guess(g, in, multiple(g, sequential_apply(s, BINARY_SUB, now, before), g->strides[i]));
}

static void guess_variable(struct guessing *g, const char *name)
{
    struct sequential *s = g->s;
    const char *both = SAY(s, "%s && %s", at_head(g, 1), at_head(g, 2)), *grown[3];
    for (uint32_t k = 1; k <= 2; k++) {
        const char *now = SAY(s, "%s$%" PRIu32, name, k);
        const char *before = SAY(s, "%s#%" PRIu32 "$%" PRIu32, name, g->line, k);
        guess_bounds(g, now, before, k);
        grown[k] = sequential_apply(s, BINARY_SUB, now, before);
    }
    guess(g, both, SAY(s, "%s$1 == %s$2", name, name));
    guess(g, SAY(s, "same && %s", both), SAY(s, "%s$1 == %s$2", name, name));
    guess(g, SAY(s, "%s && %s", in_loop(g, 1), in_loop(g, 2)), SAY(s, "%s$1 == %s$2", name, name));
    guess(g, SAY(s, "same && %s", both), SAY(s, "%s == %s", grown[1], grown[2]));
    guess(g, SAY(s, "%s && %s", in_loop(g, 1), at_head(g, 2)),
          sequential_compare(s, BINARY_LE, grown[1], grown[2]));
    guess(g, SAY(s, "%s && %s", at_head(g, 1), in_loop(g, 2)),
          sequential_compare(s, BINARY_LE, grown[2], grown[1]));
}

/* Comparisons of the loop, of values that no memory is read for. */
static void guess_test(struct guessing *g, const struct ast_expr *e, const void *context)
{
    static const enum ast_binary ops[] = {BINARY_LT, BINARY_LE, BINARY_GT, BINARY_GE, BINARY_NE};
    (void)context;
    if (e->kind != EXPR_BINARY || e->binary < BINARY_LT || e->binary > BINARY_NE || reads_memory(e))
        return;
    for (uint32_t k = 1; k <= 2; k++)
        for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
            struct evaluating x = {.s = g->s, .k = k, .enabled = "true", .quiet = true};
            const char *a = sequential_word(&x, e->a), *b = sequential_word(&x, e->b);
            const char *holds = sequential_compare(g->s, ops[i], a, b);
            guess(g, in_loop(g, k), holds);
            guess(g, at_head(g, k), holds);
        }
}

/* ---- the kernel's own ---- */

void sequential_claim(struct sequential *s, uint32_t loop)
{
    for (uint32_t b = 0; b < s->cfg->count; b++) {
        if (!cfg_in_loop(s->cfg, loop, b))
            continue;
        for (const struct ast_stm *stm = s->cfg->blocks[b]->body; stm; stm = stm->next)
            if (stm->kind == STM_ASSERT && stm->annotation)
                sequential_line(s, "// of each thread, where it comes there: invariant %s",
                                print_expr(s->arena, stm->value));
    }
}

static void guess_claim(struct guessing *g, const struct ast_expr *value)
{
    for (uint32_t k = 1; k <= 2; k++) {
        struct evaluating x = {.s = g->s, .k = k, .enabled = "true", .quiet = true};
        const char *holds = sequential_condition(&x, value);
        guess(g, in_loop(g, k), holds);
        guess(g, at_head(g, k), holds);
    }
}

static void guess_claims(struct guessing *g)
{
    const struct cfg *cfg = g->s->cfg;
    for (uint32_t b = 0; b < cfg->count; b++)
        for (const struct ast_stm *stm = cfg->blocks[b]->body; stm && cfg_in_loop(cfg, g->loop, b);
             stm = stm->next)
            if (stm->kind == STM_ASSERT && stm->annotation && !reads_memory(stm->value))
                guess_claim(g, stm->value);
}

/* ---- the log ---- */

struct logged {
    const struct ast_var *var;
    const char *flag, *fresh; /* set in the loop */
};

/* The watched element against an index of the loop, now and as it was before it. */
static void guess_index(struct guessing *g, const struct logged *l, const struct ast_expr *index)
{
    struct sequential *s = g->s;
    struct evaluating now = {.s = s, .k = 1, .enabled = "true", .quiet = true};
    struct evaluating before = now;
    before.before = g->line;
    before.changed = g->changed;
    const char *wo = SAY(s, "WO_%s", l->var->name);
    const char *next = sequential_word(&now, index), *first = sequential_word(&before, index);
    guess(g, l->fresh, SAY(s, "%s == %s", wo, next));
    guess(g, l->fresh, SAY(s, "%s == %s", wo, first));
    guess(g, l->fresh, sequential_compare(s, BINARY_LT, wo, next));
    guess(g, l->fresh, sequential_compare(s, BINARY_LT, next, wo));
    guess(g, l->fresh, sequential_compare(s, BINARY_LE, wo, next));
    guess(g, l->fresh, sequential_compare(s, BINARY_LE, first, wo));
    for (uint32_t i = 0; i < g->stride_count; i++) {
        const char *stride = sequential_constant(s, g->strides[i]);
        guess(g, l->fresh,
              sequential_compare(s, BINARY_LE, sequential_apply(s, BINARY_ADD, wo, stride), next));
        guess(g, l->fresh, multiple(g, sequential_apply(s, BINARY_SUB, wo, first), g->strides[i]));
        guess(
            g, l->fresh,
            SAY(s, "%s == %s", sequential_rest(s, wo, stride), sequential_rest(s, first, stride)));
    }
}

static void guess_place(struct guessing *g, const struct logged *l, const struct ast_lvalue *place)
{
    if (place->var == l->var && place->index && !reads_memory(place->index))
        guess_index(g, l, place->index);
}

static void guess_read(struct guessing *g, const struct ast_expr *e, const void *context)
{
    const struct logged *l = context;
    if (e->kind == EXPR_INDEX && e->var == l->var && !reads_memory(e->a))
        guess_index(g, l, e->a);
}

static void guess_log(struct guessing *g, const struct ast_var *var, int kind)
{
    struct sequential *s = g->s;
    const char *flag = SAY(s, "%s_%s", sequential_access_names[kind], var->name);
    const char *before = SAY(s, "%s#%" PRIu32, flag, g->line), *wo = SAY(s, "WO_%s", var->name);
    uint32_t slice = var->length / s->kernel->launch.threads;
    const char *threads = sequential_constant(s, (int32_t)s->kernel->launch.threads);
    struct logged l = {.var = var, .flag = flag, .fresh = SAY(s, "%s && !%s", flag, before)};
    guess(g, flag, before);
    guess(g, flag, "false");
    guess(g, negated(g, in_loop(g, 1)), SAY(s, "%s == %s", flag, before));
    guess(g, l.fresh, SAY(s, "%s == tid$1", wo));
    guess(g, l.fresh, SAY(s, "%s == tid$1", sequential_rest(s, wo, threads)));
    if (slice > 1)
        guess(g, l.fresh,
              SAY(s, "%s == tid$1",
                  sequential_quotient(s, wo, sequential_constant(s, (int32_t)slice))));
    if (kind == SEEN_READ)
        visit_loop(g, guess_read, &l);
    for (uint32_t b = 0; kind != SEEN_READ && b < s->cfg->count; b++)
        for (const struct ast_stm *stm = s->cfg->blocks[b]->body;
             stm && cfg_in_loop(s->cfg, g->loop, b); stm = stm->next) {
            guess_place(g, &l, &stm->target);
            guess_place(g, &l, &stm->place);
        }
}

void sequential_guess(struct sequential *s, uint32_t loop)
{
    struct guessing g = guessing_of(s, loop);
    guess_claims(&g);
    guess_places(&g);
    for (uint32_t i = 0; i < s->var_count; i++)
        if (is_scalar_of_loop(&g, i))
            guess_variable(&g, s->vars[i]->name);
    visit_loop(&g, guess_test, NULL);
    for (uint32_t i = 0; i < s->var_count; i++)
        for (int kind = 0; s->written[i] && kind < SEEN_KINDS; kind++)
            guess_log(&g, s->vars[i], kind);
}
