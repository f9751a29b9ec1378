/*
 * horn.c - the two threads' program as constrained Horn clauses over mathematical integers: each loop's invariant is
 * a relation that the solver looks for itself (z3: Spacer), so no guesses are needed.
 *
 *     before the loop:   what holds there                      =>  I(state)
 *     a trip:            I(state) and what one trip does       =>  I(state after it)
 *     what must not be:  I(state) and something goes wrong     =>  false
 *
 * The relations' arguments are the symbols of the loop's head and those that its state before mentions. Where a
 * path goes through a loop its invariant's symbol is a conjunct of it; in a clause the relation stands there.
 *
 * Integers do not wrap and words do. So every operation that could overflow is one more thing that must not be: then
 * words and integers have the same values on every execution, and what is proved of the one holds for the other.
 * What integers cannot say - bits of unknown words - is any word: the clauses allow more than the kernel, so only
 * "safe" is believed.
 */
#include "engine/prove/inference.h"

#include <inttypes.h>
#include <string.h>

struct horn {
    struct duo *duo;
    const struct terms *terms;
    struct text *out;
    uint8_t *live;      /* a term: below something that is asked */
    uint8_t *invariant; /* a term: it is the symbol of a loop's invariant */
    uint8_t *seen;      /* a term: in the clause at hand */
    uint8_t *bounded;   /* a term: its overflow is asked about */
    term **arguments;   /* a cut: of its relation */
    uint32_t *argument_count;
};

static const char *const sorts[] = {
    [SORT_BOOL] = "Bool", [SORT_WORD] = "Int", [SORT_ARRAY] = "(Array Int Int)"};

/* ---- terms ---- */

static bool constant_of(const struct horn *h, term t, int32_t *value)
{
    return term_is_constant(h->terms, t, value);
}

static void put_name(const struct horn *h, term t)
{
    const struct term_node *node = term_of(h->terms, t);
    if (node->op == TERM_CONSTANT && node->sort == SORT_WORD)
        text_format(h->out, node->value < 0 ? "(- %" PRIu32 ")" : "%" PRIu32,
                    node->value < 0 ? 0 - (uint32_t)node->value : (uint32_t)node->value);
    else if (h->invariant[t])
        text_put(h->out, "true");
    else
        term_print_name(h->out, h->terms, t);
}

static void put_op(const struct horn *h, const char *op, const struct term_node *node)
{
    const term operands[] = {node->a, node->b, node->c};
    text_format(h->out, "(%s", op);
    for (int i = 0; i < 3 && operands[i]; i++) {
        text_put(h->out, " ");
        put_name(h, operands[i]);
    }
    text_put(h->out, ")");
}

/* 2^k for a constant shift; 0: not one of these. */
static int64_t power_of_shift(const struct horn *h, term shift)
{
    int32_t k;
    return constant_of(h, shift, &k) && k >= 0 && k < 31 ? INT64_C(1) << k : 0;
}

/* x & (2^k - 1) is x mod 2^k. */
static int64_t power_of_mask(const struct horn *h, term mask)
{
    int32_t m;
    bool ok = constant_of(h, mask, &m) && m > 0 && m < INT32_MAX && (m & (m + 1)) == 0;
    return ok ? (int64_t)m + 1 : 0;
}

/* What words do and integers can say. */
static bool is_exact(const struct horn *h, term t)
{
    const struct term_node *node = term_of(h->terms, t);
    int32_t value;
    if (node->op != TERM_BINARY)
        return true;
    switch ((enum ast_binary)node->binary) {
    case BINARY_MUL:
    case BINARY_ADD:
    case BINARY_SUB:
    case BINARY_DIV:
        return h->bounded[t];
    case BINARY_REM:
        return true;
    case BINARY_SHL:
        return h->bounded[t] && power_of_shift(h, node->b) > 0;
    case BINARY_SHR:
        return power_of_shift(h, node->b) > 0;
    case BINARY_AND:
        return power_of_mask(h, node->b) > 0;
    case BINARY_XOR:
        return constant_of(h, node->b, &value) && value == -1;
    case BINARY_LT:
    case BINARY_LE:
    case BINARY_GT:
    case BINARY_GE:
    case BINARY_EQ:
    case BINARY_NE:
    case BINARY_OR:
    case BINARY_LOGICAL_AND:
    case BINARY_LOGICAL_OR:
        break;
    }
    return false;
}

static void put_scaled(const struct horn *h, const char *op, term a, int64_t by)
{
    text_format(h->out, "(%s ", op);
    put_name(h, a);
    text_format(h->out, " %" PRId64 ")", by);
}

static void put_binary(const struct horn *h, const struct term_node *node)
{
    static const char *const names[BINARY_COUNT] = {[BINARY_MUL] = "*",
                                                    [BINARY_ADD] = "+",
                                                    [BINARY_SUB] = "-",
                                                    [BINARY_DIV] = "quotient",
                                                    [BINARY_REM] = "rest"};
    switch ((enum ast_binary)node->binary) {
    case BINARY_SHL:
        put_scaled(h, "*", node->a, power_of_shift(h, node->b));
        return;
    case BINARY_SHR:
        put_scaled(h, "div", node->a, power_of_shift(h, node->b));
        return;
    case BINARY_AND:
        put_scaled(h, "mod", node->a, power_of_mask(h, node->b));
        return;
    case BINARY_XOR:
        text_put(h->out, "(- (- 1) ");
        put_name(h, node->a);
        text_put(h->out, ")");
        return;
    case BINARY_MUL:
    case BINARY_ADD:
    case BINARY_SUB:
    case BINARY_DIV:
    case BINARY_REM:
        put_op(h, names[node->binary], node);
        return;
    case BINARY_LT:
    case BINARY_LE:
    case BINARY_GT:
    case BINARY_GE:
    case BINARY_EQ:
    case BINARY_NE:
    case BINARY_OR:
    case BINARY_LOGICAL_AND:
    case BINARY_LOGICAL_OR:
        break;
    }
}

/* Unsigned comparison, rest, and quotient are asked of bounds only, which are not negative. */
static void put_node(const struct horn *h, const struct term_node *node)
{
    static const char *const ops[] = {
        [TERM_NOT] = "not", [TERM_AND] = "and",       [TERM_OR] = "or",      [TERM_EQ] = "=",
        [TERM_LESS] = "<",  [TERM_BELOW] = "below",   [TERM_UREM] = "mod",   [TERM_UDIV] = "div",
        [TERM_ITE] = "ite", [TERM_SELECT] = "select", [TERM_STORE] = "store"};
    if (node->op == TERM_BINARY) {
        put_binary(h, node);
    } else if (node->op == TERM_TABLE) {
        text_put(h->out, "((as const (Array Int Int)) ");
        put_name(h, node->a);
        text_put(h->out, ")");
    } else {
        put_op(h, ops[node->op], node);
    }
}

/* ---- clauses ---- */

static struct loop_cut *cut_at(const struct horn *h, uint32_t i)
{
    return GROWN(h->duo->cuts, struct loop_cut *)[i];
}

static bool is_leaf(const struct horn *h, term t)
{
    const struct term_node *node = term_of(h->terms, t);
    return node->op == TERM_CONSTANT || node->op == TERM_SYMBOL;
}

/* Whether it is a variable of a clause: a symbol, or what integers cannot say. */
static bool is_variable(const struct horn *h, term t)
{
    const struct term_node *node = term_of(h->terms, t);
    return (node->op == TERM_SYMBOL && !h->invariant[t]) || !is_exact(h, t);
}

/* The arguments of a loop's relation: what its state mentions, and what is known of the launch. */
static void find_arguments(const struct horn *h, uint32_t i)
{
    const struct duo *duo = h->duo;
    memset(h->seen, 0, h->terms->count);
    for (uint32_t slot = 0; slot < duo->slot_count; slot++)
        term_mark_cone(h->terms, cut_at(h, i)->head[slot], h->seen);
    for (uint32_t n = 0; n < duo->assumptions.count; n++)
        term_mark_cone(h->terms, GROWN(duo->assumptions, term)[n], h->seen);
    uint32_t count = 0;
    for (term t = 1; t < h->terms->count; t++)
        count += h->seen[t] && h->live[t] && is_variable(h, t);
    h->arguments[i] = ARENA_ARRAY(duo->arena, term, count + 1);
    for (term t = 1; t < h->terms->count; t++)
        if (h->seen[t] && h->live[t] && is_variable(h, t))
            h->arguments[i][h->argument_count[i]++] = t;
}

/* What is I's argument t in a state: of the head's symbols the state's value, of others themselves. */
static term argument_in(const struct loop_cut *cut, term t, const term *state)
{
    for (uint32_t i = 0; i < cut->symbol_count; i++)
        if (cut->symbols[i] == t)
            return state[cut->symbol_slots[i]];
    return t;
}

static void put_relation(const struct horn *h, uint32_t i, const term *state)
{
    uint32_t count = h->argument_count[i];
    text_format(h->out, count ? "(I%" PRIu32 : "I%" PRIu32, i);
    for (uint32_t n = 0; n < count; n++) {
        term t = h->arguments[i][n];
        text_put(h->out, " ");
        put_name(h, state ? argument_in(cut_at(h, i), t, state) : t);
    }
    text_put(h->out, count ? ")" : "");
}

/* forall variables. let .. (body => head); the conclusion's state is NULL: it is false. */
struct clause {
    term condition;
    uint32_t cut;      /* of the conclusion */
    const term *state; /* the relation is concluded of it */
    term outside;      /* a word that must be outside of 32 bits, or TERM_NONE */
};

static void mark_clause(const struct horn *h, const struct clause *c, uint8_t *seen)
{
    term_mark_cone(h->terms, c->condition, seen);
    if (c->outside)
        term_mark_cone(h->terms, c->outside, seen);
    for (uint32_t i = 0; i < h->duo->assumptions.count; i++)
        term_mark_cone(h->terms, GROWN(h->duo->assumptions, term)[i], seen);
    for (uint32_t i = 0; i < h->duo->cuts.count; i++) {
        const struct loop_cut *cut = cut_at(h, i);
        bool concludes = c->state && i == c->cut;
        if (!seen[cut->invariant] && !concludes)
            continue;
        for (uint32_t n = 0; n < h->argument_count[i]; n++) {
            if (seen[cut->invariant])
                seen[h->arguments[i][n]] = 1;
            if (concludes)
                term_mark_cone(h->terms, argument_in(cut, h->arguments[i][n], c->state), seen);
        }
    }
}

/* An invariant's arguments may be younger than terms that mention other invariants: all until nothing is new. */
static void mark_all(const struct horn *h, const struct clause *c, uint8_t *seen)
{
    for (uint32_t before = 0, now = 1; before != now;) {
        before = now;
        mark_clause(h, c, seen);
        now = 0;
        for (term t = 1; t < h->terms->count; t++)
            now += seen[t];
    }
}

static void put_variables(const struct horn *h, const uint8_t *seen)
{
    text_put(h->out, "(assert (forall (");
    for (term t = 1; t < h->terms->count; t++)
        if (seen[t] && is_variable(h, t)) {
            text_put(h->out, "(");
            put_name(h, t);
            text_format(h->out, " %s)", sorts[term_of(h->terms, t)->sort]);
        }
    text_put(h->out, "(unused Int))\n");
}

static uint32_t put_lets(const struct horn *h, const uint8_t *seen)
{
    uint32_t count = 0;
    for (term t = 1; t < h->terms->count; t++) {
        if (!seen[t] || is_leaf(h, t) || is_variable(h, t))
            continue;
        text_format(h->out, "(let ((t%" PRIu32 " ", t);
        put_node(h, term_of(h->terms, t));
        text_put(h->out, "))\n");
        count++;
    }
    return count;
}

/* Words that are variables have 32 bits. */
static void put_premises(const struct horn *h, const struct clause *c, const uint8_t *seen)
{
    text_put(h->out, "(=> (and ");
    put_name(h, c->condition);
    for (uint32_t i = 0; i < h->duo->assumptions.count; i++) {
        text_put(h->out, " ");
        put_name(h, GROWN(h->duo->assumptions, term)[i]);
    }
    for (term t = 1; t < h->terms->count; t++)
        if (seen[t] && is_variable(h, t) && term_of(h->terms, t)->sort == SORT_WORD) {
            text_put(h->out, " (word ");
            put_name(h, t);
            text_put(h->out, ")");
        }
    for (uint32_t i = 0; i < h->duo->cuts.count; i++)
        if (seen[cut_at(h, i)->invariant]) {
            text_put(h->out, " ");
            put_relation(h, i, NULL);
        }
    if (c->outside) {
        text_put(h->out, " (not (word ");
        put_name(h, c->outside);
        text_put(h->out, "))");
    }
    text_put(h->out, ") ");
}

static void put_clause(const struct horn *h, const struct clause *c)
{
    if (c->condition == TERM_FALSE)
        return;
    memset(h->seen, 0, h->terms->count);
    mark_all(h, c, h->seen);
    put_variables(h, h->seen);
    uint32_t lets = put_lets(h, h->seen);
    put_premises(h, c, h->seen);
    if (c->state)
        put_relation(h, c->cut, c->state);
    else
        text_put(h->out, "false");
    for (uint32_t i = 0; i < lets; i++)
        text_put(h->out, ")");
    text_put(h->out, ")))\n");
}

/* ---- all of them ---- */

static const char prelude[] =
    "(set-option :fp.engine spacer)\n"
    "(set-logic HORN)\n"
    "(define-fun word ((x Int)) Bool (and (<= (- 2147483648) x) (<= x 2147483647)))\n"
    "(define-fun below ((x Int) (y Int)) Bool (and (<= 0 x) (< x y)))\n"
    "(define-fun quotient ((x Int) (y Int)) Int (ite (= y 0) 0 (ite (>= x 0) (div x y) (- (div (- "
    "x) "
    "y)))))\n"
    "(define-fun rest ((x Int) (y Int)) Int (ite (= y 0) x (ite (>= x 0) (mod x y) (- (mod (- x) "
    "y)))))\n";

static void declare_relations(const struct horn *h)
{
    for (uint32_t i = 0; i < h->duo->cuts.count; i++) {
        text_format(h->out, "; what holds at the head of the loop at line %" PRIu32 "\n",
                    cut_at(h, i)->at.line);
        text_format(h->out, "(declare-fun I%" PRIu32 " (", i);
        for (uint32_t n = 0; n < h->argument_count[i]; n++)
            text_format(h->out, "%s%s", n ? " " : "",
                        sorts[term_of(h->terms, h->arguments[i][n])->sort]);
        text_put(h->out, ") Bool)\n");
    }
}

static bool enliven(struct horn *h, term t)
{
    if (h->live[t])
        return false;
    term_mark_cone(h->terms, t, h->live);
    return true;
}

/* What a symbol that is live stands for before the loop and after a trip is, too. */
static bool spread_live(struct horn *h, const struct loop_cut *cut)
{
    uint32_t path = slot_path(h->duo);
    bool more = enliven(h, cut->latch[path]);
    more = enliven(h, cut->entry[path]) || more;
    for (uint32_t n = 0; n < cut->symbol_count; n++)
        if (h->live[cut->symbols[n]]) {
            more = enliven(h, cut->latch[cut->symbol_slots[n]]) || more;
            more = enliven(h, cut->entry[cut->symbol_slots[n]]) || more;
        }
    return more;
}

/* What is below anything that is asked: other symbols are no arguments, other words may overflow. */
static void find_live(struct horn *h, const struct obligation *of, uint32_t count)
{
    struct duo *duo = h->duo;
    for (uint32_t i = 0; i < count; i++)
        term_mark_cone(h->terms, of[i].wrong, h->live);
    for (uint32_t i = 0; i < duo->assumptions.count; i++)
        term_mark_cone(h->terms, GROWN(duo->assumptions, term)[i], h->live);
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < duo->cuts.count; i++)
            more |= spread_live(h, cut_at(h, i));
        for (uint32_t i = 0; i < duo->overflows.count; i++) {
            const struct overflow *o = &GROWN(duo->overflows, struct overflow)[i];
            more |= h->live[o->value] && enliven(h, o->evaluated);
        }
    }
}

static void put_overflows(const struct horn *h)
{
    text_put(h->out, "; words that overflow\n");
    for (uint32_t i = 0; i < h->duo->overflows.count; i++) {
        const struct overflow *o = &GROWN(h->duo->overflows, struct overflow)[i];
        if (h->live[o->value])
            put_clause(h, &(struct clause){.condition = o->evaluated, .outside = o->value});
    }
}

/* Both loops and what must not be; words that overflow, unless it is asked only what is reached. */
static void print_all(struct text *out, struct duo *duo, const struct obligation *of,
                      uint32_t count, bool overflows)
{
    struct horn h = {.duo = duo, .terms = &duo->terms, .out = out};
    uint32_t path = slot_path(duo);
    h.live = ARENA_ARRAY(duo->arena, uint8_t, duo->terms.count);
    h.seen = ARENA_ARRAY(duo->arena, uint8_t, duo->terms.count);
    h.bounded = ARENA_ARRAY(duo->arena, uint8_t, duo->terms.count);
    h.invariant = ARENA_ARRAY(duo->arena, uint8_t, duo->terms.count);
    h.arguments = ARENA_ARRAY(duo->arena, term *, duo->cuts.count + 1);
    h.argument_count = ARENA_ARRAY(duo->arena, uint32_t, duo->cuts.count + 1);
    for (uint32_t i = 0; i < duo->cuts.count; i++)
        h.invariant[cut_at(&h, i)->invariant] = 1;
    for (uint32_t i = 0; i < duo->overflows.count; i++)
        h.bounded[GROWN(duo->overflows, struct overflow)[i].value] = 1;
    find_live(&h, of, count);
    for (uint32_t i = 0; i < duo->cuts.count; i++)
        find_arguments(&h, i);
    text_put(out, prelude);
    declare_relations(&h);
    for (uint32_t i = 0; i < duo->cuts.count; i++) {
        const struct loop_cut *cut = cut_at(&h, i);
        text_put(out, "; before it, and after a trip\n");
        put_clause(&h,
                   &(struct clause){.condition = cut->entry[path], .cut = i, .state = cut->entry});
        put_clause(&h,
                   &(struct clause){.condition = cut->latch[path], .cut = i, .state = cut->latch});
    }
    text_put(out, "; what must not be\n");
    for (uint32_t i = 0; i < count; i++)
        put_clause(&h, &(struct clause){.condition = of[i].wrong});
    if (overflows)
        put_overflows(&h);
}

void horn_print(struct text *out, struct duo *duo, const struct obligation *of, uint32_t count)
{
    print_all(out, duo, of, count, true);
}

void horn_print_reached(struct text *out, struct duo *duo, term reached)
{
    print_all(out, duo, &(struct obligation){.wrong = reached}, 1, false);
}
