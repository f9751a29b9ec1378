/*
 * term.c - the table of terms, and the builders.
 */
#include "engine/smt/term.h"

#include "engine/language/eval_ops.h"
#include "engine/smt/term_range.h"

#include <string.h>

enum { TERMS_FIRST = 1024 };

/* ---- the table ---- */

static uint32_t mix(uint32_t hash, uint32_t word)
{
    hash = (hash ^ word) * 0x9E3779B1u;
    return hash ^ hash >> 15;
}

static uint32_t hash_of(const struct term_node *node)
{
    uint32_t hash = mix(node->op, (uint32_t)node->sort << 8 | node->binary);
    hash = mix(mix(mix(hash, node->a), node->b), node->c);
    hash = mix(mix(hash, (uint32_t)node->value), (uint32_t)((uint64_t)node->value >> 32));
    for (const char *c = node->name; c && *c; c++)
        hash = mix(hash, (unsigned char)*c);
    return hash;
}

static bool same(const struct term_node *x, const struct term_node *y)
{
    if (x->op != y->op || x->sort != y->sort || x->binary != y->binary || x->a != y->a ||
        x->b != y->b || x->c != y->c || x->value != y->value)
        return false;
    return !x->name || strcmp(x->name, y->name) == 0;
}

static void place(struct terms *terms, term t)
{
    uint32_t at = terms->nodes[t].hash & (terms->bucket_count - 1);
    while (terms->buckets[at])
        at = (at + 1) & (terms->bucket_count - 1);
    terms->buckets[at] = t;
}

static void grow(struct terms *terms)
{
    struct term_node *nodes = ARENA_ARRAY(terms->arena, struct term_node, terms->capacity * 2);
    memcpy(nodes, terms->nodes, terms->count * sizeof *nodes);
    terms->nodes = nodes;
    terms->capacity *= 2;
    terms->bucket_count = terms->capacity * 2;
    terms->buckets = ARENA_ARRAY(terms->arena, uint32_t, terms->bucket_count);
    for (term t = 1; t < terms->count; t++)
        place(terms, t);
}

static term add(struct terms *terms, struct term_node node)
{
    node.hash = hash_of(&node);
    uint32_t at = node.hash & (terms->bucket_count - 1);
    for (; terms->buckets[at]; at = (at + 1) & (terms->bucket_count - 1))
        if (terms->nodes[terms->buckets[at]].hash == node.hash &&
            same(&terms->nodes[terms->buckets[at]], &node))
            return terms->buckets[at];
    if (terms->count == terms->limit) {
        terms->full = true;
        return node.sort == SORT_BOOL ? (term)TERM_FALSE : terms->count - 1;
    }
    if (terms->count == terms->capacity)
        grow(terms);
    term_set_range(terms, &node);
    terms->nodes[terms->count] = node;
    place(terms, terms->count);
    return terms->count++;
}

void terms_init(struct terms *terms, struct arena *arena, uint32_t limit)
{
    *terms = (struct terms){.arena = arena, .count = 1, .capacity = TERMS_FIRST, .limit = limit};
    terms->nodes = ARENA_ARRAY(arena, struct term_node, terms->capacity);
    terms->bucket_count = terms->capacity * 2;
    terms->buckets = ARENA_ARRAY(arena, uint32_t, terms->bucket_count);
    add(terms, (struct term_node){.op = TERM_CONSTANT, .sort = SORT_BOOL, .value = 0});
    add(terms, (struct term_node){.op = TERM_CONSTANT, .sort = SORT_BOOL, .value = 1});
}

static enum term_sort sort_of(const struct terms *terms, term t)
{
    return (enum term_sort)terms->nodes[t].sort;
}

static bool is(const struct terms *terms, term t, enum term_op op)
{
    return terms->nodes[t].op == op;
}

bool term_is_constant(const struct terms *terms, term t, int32_t *value)
{
    *value = (int32_t)terms->nodes[t].value;
    return is(terms, t, TERM_CONSTANT) && sort_of(terms, t) != SORT_LONG;
}

bool term_is_number(const struct terms *terms, term t, int64_t *value)
{
    *value = terms->nodes[t].value;
    return is(terms, t, TERM_CONSTANT) && sort_of(terms, t) != SORT_BOOL;
}

/* ---- leaves ---- */

term term_symbol(struct terms *terms, enum term_sort sort, const char *name)
{
    return add(terms, (struct term_node){.op = TERM_SYMBOL, .sort = (uint8_t)sort, .name = name});
}

term term_limited(struct terms *terms, const char *name, int32_t limit)
{
    return add(terms, (struct term_node){
                          .op = TERM_SYMBOL, .sort = SORT_WORD, .name = name, .value = limit});
}

static term number(struct terms *terms, enum term_sort sort, int64_t value)
{
    value = sort == SORT_WORD ? (int32_t)value : value;
    return add(terms,
               (struct term_node){.op = TERM_CONSTANT, .sort = (uint8_t)sort, .value = value});
}

term term_word(struct terms *terms, int32_t value)
{
    return number(terms, SORT_WORD, value);
}

term term_long(struct terms *terms, int64_t value)
{
    return number(terms, SORT_LONG, value);
}

term term_number(struct terms *terms, term like, int64_t value)
{
    return number(terms, sort_of(terms, like), value);
}

term term_bool(bool value)
{
    return value ? TERM_TRUE : TERM_FALSE;
}

/* ---- Booleans ---- */

static term node2(struct terms *terms, enum term_op op, enum term_sort sort, term a, term b)
{
    return add(terms, (struct term_node){.op = (uint8_t)op, .sort = (uint8_t)sort, .a = a, .b = b});
}

/* The operand with the smaller number comes first, where the order does not matter. */
static term commuting(struct terms *terms, enum term_op op, enum term_sort sort, term a, term b)
{
    return a < b ? node2(terms, op, sort, a, b) : node2(terms, op, sort, b, a);
}

term term_not(struct terms *terms, term a)
{
    if (a <= TERM_TRUE)
        return term_bool(a == TERM_FALSE);
    if (is(terms, a, TERM_NOT))
        return terms->nodes[a].a;
    return add(terms, (struct term_node){.op = TERM_NOT, .sort = SORT_BOOL, .a = a});
}

static bool opposite(const struct terms *terms, term a, term b)
{
    return (is(terms, a, TERM_NOT) && terms->nodes[a].a == b) ||
           (is(terms, b, TERM_NOT) && terms->nodes[b].a == a);
}

/* Whether b stands among the operands of a, or theirs: as far as `depth`. */
static bool has_operand(const struct terms *terms, enum term_op op, term a, term b, uint32_t depth)
{
    const struct term_node *node = &terms->nodes[a];
    if (a == b)
        return true;
    return depth > 0 && node->op == op &&
           (has_operand(terms, op, node->a, b, depth - 1) ||
            has_operand(terms, op, node->b, b, depth - 1));
}

enum { ABSORB_DEPTH = 5, CONTRADICT_DEPTH = 3 };

/* Whether an operand of a is the opposite of one of b. */
static bool contradict(const struct terms *terms, enum term_op op, term a, term b, uint32_t depth)
{
    const struct term_node *node = &terms->nodes[a], *other = &terms->nodes[b];
    if (opposite(terms, a, b))
        return true;
    if (depth == 0)
        return false;
    if (node->op == op)
        return contradict(terms, op, node->a, b, depth - 1) ||
               contradict(terms, op, node->b, b, depth - 1);
    return other->op == op && (contradict(terms, op, a, other->a, depth - 1) ||
                               contradict(terms, op, a, other->b, depth - 1));
}

enum { GIVEN_DEPTH = 6, SUBSUME_DEPTH = 3 };

static bool excludes(const struct terms *terms, term given, term a, uint32_t depth);

/* Whether a holds where `given` does, as far as their operands show. */
static bool implies(const struct terms *terms, term given, term a, uint32_t depth)
{
    const struct term_node *node = &terms->nodes[a];
    const struct term_node *of = &terms->nodes[given];
    if (has_operand(terms, TERM_AND, given, a, GIVEN_DEPTH))
        return true;
    if (depth == 0)
        return false;
    if (of->op == TERM_OR)
        return implies(terms, of->a, a, depth - 1) && implies(terms, of->b, a, depth - 1);
    if (node->op == TERM_NOT)
        return excludes(terms, given, node->a, depth - 1);
    if (node->op == TERM_AND)
        return implies(terms, given, node->a, depth - 1) &&
               implies(terms, given, node->b, depth - 1);
    return node->op == TERM_OR &&
           (implies(terms, given, node->a, depth - 1) || implies(terms, given, node->b, depth - 1));
}

/* Whether a does not hold where `given` does. */
static bool excludes(const struct terms *terms, term given, term a, uint32_t depth)
{
    const struct term_node *node = &terms->nodes[a];
    const struct term_node *of = &terms->nodes[given];
    if (contradict(terms, TERM_AND, given, a, CONTRADICT_DEPTH))
        return true;
    if (depth == 0)
        return false;
    if (of->op == TERM_OR)
        return excludes(terms, of->a, a, depth - 1) && excludes(terms, of->b, a, depth - 1);
    if (node->op == TERM_NOT)
        return implies(terms, given, node->a, depth - 1);
    if (node->op == TERM_OR)
        return excludes(terms, given, node->a, depth - 1) &&
               excludes(terms, given, node->b, depth - 1);
    return node->op == TERM_AND && (excludes(terms, given, node->a, depth - 1) ||
                                    excludes(terms, given, node->b, depth - 1));
}

/* (x op' y) and (x op' z): x, with what is left of each. */
static bool common(const struct terms *terms, enum term_op dual, term a, term b, term *x, term *y,
                   term *z)
{
    const struct term_node *m = &terms->nodes[a], *n = &terms->nodes[b];
    if (m->op != dual || n->op != dual)
        return false;
    *x = m->a == n->a || m->a == n->b ? m->a : m->b;
    *y = *x == m->a ? m->b : m->a;
    *z = *x == n->a ? n->b : n->a;
    return *x == n->a || *x == n->b;
}

/* For `and`: a and not (a and c) is a and not c; a and (not a or c) is a and c. For `or` likewise. TERM_NONE:
 * nothing of this. */
static term absorbed(struct terms *terms, enum term_op op, term a, term b)
{
    enum term_op dual = op == TERM_AND ? TERM_OR : TERM_AND;
    const struct term_node *node = &terms->nodes[b];
    if (node->op == TERM_NOT && terms->nodes[node->a].op == op) {
        term left = terms->nodes[node->a].a, right = terms->nodes[node->a].b;
        if (left == a || right == a)
            return term_not(terms, left == a ? right : left);
    }
    if (node->op == dual && opposite(terms, a, node->a))
        return node->b;
    if (node->op == dual && opposite(terms, a, node->b))
        return node->a;
    return TERM_NONE;
}

static term connect(struct terms *terms, enum term_op op, term unit, term a, term b);

enum { MERGE_DEPTH = 3 };

/* For `or`: (x and y) or (x and not y) is x, also where others stand between them, as where paths that have parted
 * several times meet one after the other. For `and` likewise. */
static term merged(struct terms *terms, enum term_op op, term a, term b, uint32_t depth)
{
    enum term_op dual = op == TERM_AND ? TERM_OR : TERM_AND;
    term unit = op == TERM_AND ? TERM_TRUE : TERM_FALSE, x, y, z;
    const struct term_node node = terms->nodes[a];
    if (common(terms, dual, a, b, &x, &y, &z) && opposite(terms, y, z))
        return x;
    if (node.op != op || depth == 0)
        return TERM_NONE;
    term left = merged(terms, op, node.a, b, depth - 1);
    if (left)
        return connect(terms, op, unit, left, node.b);
    term right = merged(terms, op, node.b, b, depth - 1);
    return right ? connect(terms, op, unit, node.a, right) : (term)TERM_NONE;
}

/* `unit` is neutral, its opposite absorbs. */
static term connect(struct terms *terms, enum term_op op, term unit, term a, term b)
{
    term zero = unit == TERM_TRUE ? TERM_FALSE : TERM_TRUE;
    if (a == unit || b == zero)
        return b;
    if (b == unit || a == zero)
        return a;
    if (contradict(terms, op, a, b, CONTRADICT_DEPTH))
        return zero;
    if (has_operand(terms, op, a, b, ABSORB_DEPTH))
        return a;
    if (has_operand(terms, op, b, a, ABSORB_DEPTH))
        return b;
    if (implies(terms, a, b, SUBSUME_DEPTH)) /* and so (a and b) is a, (a or b) is b */
        return op == TERM_AND ? a : b;
    if (implies(terms, b, a, SUBSUME_DEPTH))
        return op == TERM_AND ? b : a;
    term less = absorbed(terms, op, a, b);
    if (less)
        return connect(terms, op, unit, a, less);
    less = absorbed(terms, op, b, a);
    if (less)
        return connect(terms, op, unit, less, b);
    less = merged(terms, op, a, b, MERGE_DEPTH);
    if (!less)
        less = merged(terms, op, b, a, MERGE_DEPTH);
    return less ? less : commuting(terms, op, SORT_BOOL, a, b);
}

term term_and(struct terms *terms, term a, term b)
{
    return connect(terms, TERM_AND, TERM_TRUE, a, b);
}

term term_or(struct terms *terms, term a, term b)
{
    return connect(terms, TERM_OR, TERM_FALSE, a, b);
}

term term_implies(struct terms *terms, term a, term b)
{
    return term_or(terms, term_not(terms, a), b);
}

/* ite(c, k, l) == m of three constants is c, or its opposite, or known. */
static bool eq_of_choice(struct terms *terms, term a, term b, term *result)
{
    int32_t k, l, m;
    const struct term_node *node = &terms->nodes[a];
    if (node->op != TERM_ITE || !term_is_constant(terms, b, &m) ||
        !term_is_constant(terms, node->b, &k) || !term_is_constant(terms, node->c, &l))
        return false;
    term condition = node->a;
    *result = k == m   ? (l == m ? TERM_TRUE : condition)
              : l == m ? term_not(terms, condition)
                       : TERM_FALSE;
    return true;
}

term term_eq(struct terms *terms, term a, term b)
{
    term result;
    if (a == b)
        return TERM_TRUE;
    if (sort_of(terms, a) == SORT_BOOL) {
        if (a <= TERM_TRUE || b <= TERM_TRUE)
            return a == TERM_TRUE    ? b
                   : b == TERM_TRUE  ? a
                   : a == TERM_FALSE ? term_not(terms, b)
                                     : term_not(terms, a);
        return opposite(terms, a, b) ? TERM_FALSE : commuting(terms, TERM_EQ, SORT_BOOL, a, b);
    }
    if (term_is_never_equal(terms, a, b))
        return TERM_FALSE;
    if (sort_of(terms, a) == SORT_WORD &&
        (eq_of_choice(terms, a, b, &result) || eq_of_choice(terms, b, a, &result)))
        return result;
    return commuting(terms, TERM_EQ, SORT_BOOL, a, b);
}

term term_less(struct terms *terms, term a, term b)
{
    const struct term_node *x = &terms->nodes[a], *y = &terms->nodes[b];
    if (a == b || x->least >= y->most)
        return TERM_FALSE;
    if (x->most < y->least)
        return TERM_TRUE;
    return node2(terms, TERM_LESS, SORT_BOOL, a, b);
}

term term_limit_of(struct terms *terms, term limited)
{
    term limit = term_word(terms, (int32_t)terms->nodes[limited].value);
    return node2(terms, TERM_BELOW, SORT_BOOL, limited, limit);
}

term term_below(struct terms *terms, term a, term b)
{
    const struct term_node *x = &terms->nodes[a], *y = &terms->nodes[b];
    /* Of the same sign they compare as they do with it; what is below 0 is above all others. */
    bool alike = (x->least >= 0 && y->least >= 0) || (x->most < 0 && y->most < 0);
    if (a == b || (alike && x->least >= y->most) || (x->most < 0 && y->least >= 0))
        return TERM_FALSE;
    if ((alike && x->most < y->least) || (x->least >= 0 && y->most < 0))
        return TERM_TRUE;
    return node2(terms, TERM_BELOW, SORT_BOOL, a, b);
}

term term_ite(struct terms *terms, term condition, term a, term b)
{
    if (a == b || condition == TERM_TRUE)
        return a;
    if (condition == TERM_FALSE)
        return b;
    if (is(terms, condition, TERM_NOT))
        return term_ite(terms, terms->nodes[condition].a, b, a);
    if (sort_of(terms, a) == SORT_BOOL)
        return term_or(terms, term_and(terms, condition, a),
                       term_and(terms, term_not(terms, condition), b));
    if (is(terms, a, TERM_ITE) && terms->nodes[a].a == condition)
        return term_ite(terms, condition, terms->nodes[a].b, b);
    if (is(terms, b, TERM_ITE) && terms->nodes[b].a == condition)
        return term_ite(terms, condition, a, terms->nodes[b].c);
    return add(terms,
               (struct term_node){
                   .op = TERM_ITE, .sort = terms->nodes[a].sort, .a = condition, .b = a, .c = b});
}

term term_under(const struct terms *terms, term given, term value)
{
    while (is(terms, value, TERM_ITE)) {
        const struct term_node *node = &terms->nodes[value];
        if (implies(terms, given, node->a, GIVEN_DEPTH))
            value = node->b;
        else if (excludes(terms, given, node->a, GIVEN_DEPTH))
            value = node->c;
        else
            break;
    }
    return value;
}

/* ---- words ---- */

static term word2(struct terms *terms, enum term_op op, term a, term b)
{
    return node2(terms, op, sort_of(terms, a), a, b);
}

static uint64_t unsigned_of(const struct terms *terms, term t)
{
    int64_t value = terms->nodes[t].value;
    return sort_of(terms, t) == SORT_WORD ? (uint32_t)value : (uint64_t)value;
}

term term_urem(struct terms *terms, term a, term b)
{
    int64_t x, y;
    bool constant = term_is_number(terms, b, &y);
    if (constant && y == 0)
        return a;
    if (constant && term_is_number(terms, a, &x))
        return term_number(terms, a, (int64_t)(unsigned_of(terms, a) % unsigned_of(terms, b)));
    if (constant && y > 0 && terms->nodes[a].least >= 0 && terms->nodes[a].most < y)
        return a;
    return constant && y == 1 ? term_number(terms, a, 0) : word2(terms, TERM_UREM, a, b);
}

term term_udiv(struct terms *terms, term a, term b)
{
    int64_t x, y;
    bool constant = term_is_number(terms, b, &y);
    if (constant && y == 1)
        return a;
    if (constant && y != 0 && term_is_number(terms, a, &x))
        return term_number(terms, a, (int64_t)(unsigned_of(terms, a) / unsigned_of(terms, b)));
    return word2(terms, TERM_UDIV, a, b);
}

/* a is x 2^k, or a sum of such, and no bit is lost above: what is left of it, shifted; TERM_NONE. */
static term shifted_exactly(struct terms *terms, term a, uint32_t k)
{
    const struct term_node node = terms->nodes[a];
    int64_t factor;
    if (node.least < 0 || node.zeros < k)
        return TERM_NONE;
    if (node.op == TERM_CONSTANT)
        return term_number(terms, a, node.value >> k);
    if (node.op != TERM_BINARY || terms->nodes[node.a].least < 0 || terms->nodes[node.b].least < 0)
        return TERM_NONE;
    if (node.binary == BINARY_MUL && term_is_number(terms, node.b, &factor) &&
        (factor & (((int64_t)1 << k) - 1)) == 0 && !term_may_wrap(terms, &node))
        return term_binary(terms, BINARY_MUL, node.a, term_number(terms, a, factor >> k));
    if (node.binary != BINARY_ADD || term_may_wrap(terms, &node))
        return TERM_NONE;
    term left = shifted_exactly(terms, node.a, k), right = shifted_exactly(terms, node.b, k);
    return left && right ? term_binary(terms, BINARY_ADD, left, right) : (term)TERM_NONE;
}

term term_lshr(struct terms *terms, term a, term b)
{
    int64_t x, y;
    uint32_t width = sort_of(terms, a) == SORT_LONG ? 64 : 32;
    if (!term_is_number(terms, b, &y))
        return word2(terms, TERM_LSHR, a, b);
    if (y == 0)
        return a;
    if (y < 0 || y >= width)
        return term_number(terms, a, 0);
    if (term_is_number(terms, a, &x))
        return term_number(terms, a, (int64_t)(unsigned_of(terms, a) >> y));
    term exact = shifted_exactly(terms, a, (uint32_t)y);
    return exact ? exact : word2(terms, TERM_LSHR, a, b);
}

/* ---- sizes of words ---- */

/* x op y of words is that of what they are in 64 bits, where it does not wrap; TERM_NONE: it may. */
static term widened(struct terms *terms, term word, bool with_sign)
{
    const struct term_node node = terms->nodes[word];
    bool sums = node.op == TERM_BINARY && (node.binary == BINARY_ADD || node.binary == BINARY_SUB ||
                                           node.binary == BINARY_MUL);
    if (!sums || term_may_wrap(terms, &node))
        return TERM_NONE;
    if (!with_sign &&
        (node.least < 0 || terms->nodes[node.a].least < 0 || terms->nodes[node.b].least < 0))
        return TERM_NONE;
    term (*widen)(struct terms *, term) = with_sign ? term_signed : term_unsigned;
    return term_binary(terms, (enum ast_binary)node.binary, widen(terms, node.a),
                       widen(terms, node.b));
}

term term_unsigned(struct terms *terms, term word)
{
    if (is(terms, word, TERM_CONSTANT))
        return term_long(terms, (uint32_t)terms->nodes[word].value);
    term wide = widened(terms, word, false);
    return wide ? wide
                : add(terms, (struct term_node){.op = TERM_UNSIGNED, .sort = SORT_LONG, .a = word});
}

term term_signed(struct terms *terms, term word)
{
    if (is(terms, word, TERM_CONSTANT))
        return term_long(terms, terms->nodes[word].value);
    term wide = widened(terms, word, true);
    if (wide)
        return wide;
    if (terms->nodes[word].least >= 0)
        return term_unsigned(terms, word);
    return add(terms, (struct term_node){.op = TERM_SIGNED, .sort = SORT_LONG, .a = word});
}

static bool keeps_low(enum ast_binary op)
{
    return op == BINARY_ADD || op == BINARY_SUB || op == BINARY_MUL || op == BINARY_AND ||
           op == BINARY_OR || op == BINARY_XOR;
}

/* The lower half of a >> k, a multiple of 2^k: bits that a product or sum loses above do not reach it. */
static term low_of_shifted(struct terms *terms, term a, uint32_t k)
{
    const struct term_node node = terms->nodes[a];
    int64_t factor;
    if (node.zeros < k || k > 32)
        return TERM_NONE;
    if (node.op == TERM_CONSTANT)
        return term_word(terms, (int32_t)(node.value >> k));
    if (node.op == TERM_BINARY && node.binary == BINARY_MUL &&
        term_is_number(terms, node.b, &factor) && (factor & (((int64_t)1 << k) - 1)) == 0)
        return term_binary(terms, BINARY_MUL, term_low(terms, node.a),
                           term_word(terms, (int32_t)(factor >> k)));
    if (node.op != TERM_BINARY || node.binary != BINARY_ADD)
        return TERM_NONE;
    term left = low_of_shifted(terms, node.a, k), right = low_of_shifted(terms, node.b, k);
    return left && right ? term_binary(terms, BINARY_ADD, left, right) : (term)TERM_NONE;
}

term term_low(struct terms *terms, term of_64)
{
    const struct term_node node = terms->nodes[of_64];
    int64_t k;
    if (node.op == TERM_CONSTANT)
        return term_word(terms, (int32_t)node.value);
    if (node.op == TERM_SIGNED || node.op == TERM_UNSIGNED)
        return node.a;
    if (node.op == TERM_BINARY && keeps_low((enum ast_binary)node.binary))
        return term_binary(terms, (enum ast_binary)node.binary, term_low(terms, node.a),
                           term_low(terms, node.b));
    if (node.op == TERM_LSHR && term_is_number(terms, node.b, &k) && k > 0) {
        term low = low_of_shifted(terms, node.a, (uint32_t)k);
        if (low)
            return low;
    }
    return add(terms, (struct term_node){.op = TERM_LOW, .sort = SORT_WORD, .a = of_64});
}

term term_high(struct terms *terms, term of_64)
{
    return term_low(terms, term_lshr(terms, of_64, term_long(terms, 32)));
}

term term_joined(struct terms *terms, term low, term high)
{
    term above = term_binary(terms, BINARY_MUL, term_unsigned(terms, high),
                             term_long(terms, (int64_t)1 << 32));
    return term_binary(terms, BINARY_ADD, above, term_unsigned(terms, low));
}

term term_as_word(struct terms *terms, term condition)
{
    return term_ite(terms, condition, term_word(terms, 1), term_word(terms, 0));
}

term term_holds(struct terms *terms, term word)
{
    return term_not(terms, term_eq(terms, word, term_number(terms, word, 0)));
}

static bool commutes(enum ast_binary op)
{
    return op == BINARY_ADD || op == BINARY_MUL || op == BINARY_AND || op == BINARY_OR ||
           op == BINARY_XOR;
}

/* x op y for a constant y, where that is x or a constant whatever x is. */
static bool neutral(struct terms *terms, enum ast_binary op, term a, int64_t y, term *result)
{
    bool keeps_at_0 = op == BINARY_ADD || op == BINARY_SUB || op == BINARY_OR || op == BINARY_XOR ||
                      op == BINARY_SHL || op == BINARY_SHR || op == BINARY_REM;
    bool keeps_at_1 = op == BINARY_MUL || op == BINARY_DIV;
    bool zero_at_0 = op == BINARY_MUL || op == BINARY_AND || op == BINARY_DIV;
    if ((y == 0 && keeps_at_0) || (y == 1 && keeps_at_1) || (y == -1 && op == BINARY_AND)) {
        *result = a;
        return true;
    }
    *result = term_number(terms, a, 0);
    return (y == 0 && zero_at_0) || (y == 1 && op == BINARY_REM);
}

int64_t term_eval_64(enum ast_binary op, int64_t a, int64_t b)
{
    const uint64_t x = (uint64_t)a, y = (uint64_t)b;
    switch ((int)op) {
    case BINARY_MUL:
        return (int64_t)(x * y);
    case BINARY_DIV:
        return b == 0 ? 0 : b == -1 ? (int64_t)(0 - x) : a / b;
    case BINARY_REM:
        return b == 0 ? a : b == -1 ? 0 : a % b;
    case BINARY_ADD:
        return (int64_t)(x + y);
    case BINARY_SUB:
        return (int64_t)(x - y);
    case BINARY_SHL:
        return y >= 64 ? 0 : (int64_t)(x << y);
    case BINARY_SHR:
        return a < 0 ? ~(~a >> (y >= 64 ? 63 : y)) : a >> (y >= 64 ? 63 : y);
    case BINARY_AND:
        return a & b;
    case BINARY_XOR:
        return a ^ b;
    default:
        return a | b;
    }
}

static term evaluated(struct terms *terms, enum ast_binary op, term a, term b)
{
    int64_t x = terms->nodes[a].value, y = terms->nodes[b].value;
    if (sort_of(terms, a) == SORT_WORD)
        return term_word(terms, eval_binary(op, (int32_t)x, (int32_t)y));
    return term_long(terms, term_eval_64(op, x, y));
}

/* (x + k) + l is x + (k + l): induction variables are compared so. */
static term add_constant(struct terms *terms, term a, term b)
{
    const struct term_node *node = &terms->nodes[a];
    if (node->op == TERM_BINARY && node->binary == BINARY_ADD) {
        term left = node->a, right = node->b;
        if (is(terms, right, TERM_CONSTANT))
            return term_binary(terms, BINARY_ADD, left, evaluated(terms, BINARY_ADD, right, b));
        if (is(terms, left, TERM_CONSTANT))
            return term_binary(terms, BINARY_ADD, right, evaluated(terms, BINARY_ADD, left, b));
    }
    return TERM_NONE;
}

/* (x + k) + y of 64 bits is (x + y) + k: where a variable begins stands last in an address. */
static term hoisted(struct terms *terms, term a, term b)
{
    const struct term_node *node = &terms->nodes[a];
    if (sort_of(terms, a) != SORT_LONG || node->op != TERM_BINARY || node->binary != BINARY_ADD)
        return TERM_NONE;
    term left = node->a, right = node->b;
    if (!is(terms, right, TERM_CONSTANT))
        return TERM_NONE;
    return term_binary(terms, BINARY_ADD, term_binary(terms, BINARY_ADD, left, b), right);
}

/* The lowest bits, some of them, and no others. */
static bool is_mask(int64_t y)
{
    return y > 0 && ((uint64_t)y & ((uint64_t)y + 1)) == 0;
}

/* The second operand is a number. */
static term with_number(struct terms *terms, enum ast_binary op, term a, term b)
{
    int64_t y = terms->nodes[b].value;
    uint32_t width = sort_of(terms, a) == SORT_LONG ? 64 : 32;
    const struct term_node *node = &terms->nodes[a];
    term result;
    if (is(terms, a, TERM_CONSTANT))
        return evaluated(terms, op, a, b);
    if (neutral(terms, op, a, y, &result))
        return result;
    if (op == BINARY_SUB)
        return term_binary(terms, BINARY_ADD, a,
                           evaluated(terms, BINARY_SUB, term_number(terms, a, 0), b));
    if (op == BINARY_ADD)
        return add_constant(terms, a, b);
    if (op == BINARY_SHL && width == 64 && y > 0 && y < 63)
        return term_binary(terms, BINARY_MUL, a, term_long(terms, (int64_t)1 << y));
    if (op == BINARY_AND && is_mask(y) && (node->zeros >= width || y >> node->zeros == 0))
        return term_number(terms, a, 0);
    if (op == BINARY_AND && is_mask(y) && node->least >= 0 && node->most <= y)
        return a;
    return TERM_NONE;
}

static term arithmetic(struct terms *terms, enum ast_binary op, term a, term b)
{
    term result = TERM_NONE;
    if (commutes(op) && is(terms, a, TERM_CONSTANT) && !is(terms, b, TERM_CONSTANT))
        return arithmetic(terms, op, b, a);
    if (is(terms, b, TERM_CONSTANT))
        result = with_number(terms, op, a, b);
    else if (op == BINARY_SUB && a == b)
        result = term_number(terms, a, 0);
    else if (op == BINARY_ADD)
        result = hoisted(terms, a, b);
    if (!result && op == BINARY_ADD && !is(terms, b, TERM_CONSTANT))
        result = hoisted(terms, b, a);
    if (result)
        return result;
    if (commutes(op) && a > b && !is(terms, b, TERM_CONSTANT)) {
        term other = a;
        a = b;
        b = other;
    }
    return add(terms, (struct term_node){.op = TERM_BINARY,
                                         .sort = terms->nodes[a].sort,
                                         .binary = (uint8_t)op,
                                         .a = a,
                                         .b = b});
}

term term_binary(struct terms *terms, enum ast_binary op, term a, term b)
{
    switch (op) {
    case BINARY_LT:
        return term_as_word(terms, term_less(terms, a, b));
    case BINARY_GE:
        return term_as_word(terms, term_not(terms, term_less(terms, a, b)));
    case BINARY_GT:
        return term_as_word(terms, term_less(terms, b, a));
    case BINARY_LE:
        return term_as_word(terms, term_not(terms, term_less(terms, b, a)));
    case BINARY_EQ:
        return term_as_word(terms, term_eq(terms, a, b));
    case BINARY_NE:
        return term_as_word(terms, term_not(terms, term_eq(terms, a, b)));
    case BINARY_LOGICAL_AND:
        return term_as_word(terms, term_and(terms, term_holds(terms, a), term_holds(terms, b)));
    case BINARY_LOGICAL_OR:
        return term_as_word(terms, term_or(terms, term_holds(terms, a), term_holds(terms, b)));
    case BINARY_MUL:
    case BINARY_DIV:
    case BINARY_REM:
    case BINARY_ADD:
    case BINARY_SUB:
    case BINARY_SHL:
    case BINARY_SHR:
    case BINARY_AND:
    case BINARY_XOR:
    case BINARY_OR:
        break;
    }
    return arithmetic(terms, op, a, b);
}

term term_unary(struct terms *terms, enum ast_unary op, term a)
{
    if (op == UNARY_NOT)
        return term_as_word(terms, term_not(terms, term_holds(terms, a)));
    if (op == UNARY_NEG)
        return term_binary(terms, BINARY_SUB, term_number(terms, a, 0), a);
    return term_binary(terms, BINARY_XOR, a, term_number(terms, a, -1));
}

/* ---- arrays ---- */

term term_table(struct terms *terms, term element)
{
    return add(terms, (struct term_node){.op = TERM_TABLE, .sort = SORT_ARRAY, .a = element});
}

term term_store(struct terms *terms, term array, term index, term value)
{
    return add(terms,
               (struct term_node){
                   .op = TERM_STORE, .sort = SORT_ARRAY, .a = array, .b = index, .c = value});
}

term term_select(struct terms *terms, term array, term index)
{
    int32_t x, y;
    for (;;) {
        const struct term_node *node = &terms->nodes[array];
        if (node->op == TERM_TABLE)
            return node->a;
        if (node->op != TERM_STORE)
            break;
        if (node->b == index)
            return node->c;
        if (!term_is_constant(terms, node->b, &x) || !term_is_constant(terms, index, &y))
            break;
        array = node->a;
    }
    return node2(terms, TERM_SELECT, SORT_WORD, array, index);
}
