#include "engine/smt/term_range.h"

struct range {
    int64_t least, most;
};

static struct range all_of(uint8_t sort)
{
    if (sort == SORT_LONG)
        return (struct range){INT64_MIN, INT64_MAX};
    return sort == SORT_WORD ? (struct range){INT32_MIN, INT32_MAX} : (struct range){0, 1};
}

static uint32_t width_of(uint8_t sort)
{
    return sort == SORT_LONG ? 64 : 32;
}

static struct range range_of(const struct terms *terms, term t)
{
    return (struct range){terms->nodes[t].least, terms->nodes[t].most};
}

/* ---- sums and products: of their bounds, where these are words ---- */

static bool add_up(struct range a, struct range b, struct range *sum)
{
    return !__builtin_add_overflow(a.least, b.least, &sum->least) &&
           !__builtin_add_overflow(a.most, b.most, &sum->most);
}

static bool take_away(struct range a, struct range b, struct range *rest)
{
    return !__builtin_sub_overflow(a.least, b.most, &rest->least) &&
           !__builtin_sub_overflow(a.most, b.least, &rest->most);
}

static bool multiply(struct range a, struct range b, struct range *product)
{
    const int64_t x[] = {a.least, a.most}, y[] = {b.least, b.most};
    for (int i = 0; i < 4; i++) {
        int64_t corner;
        if (__builtin_mul_overflow(x[i / 2], y[i % 2], &corner))
            return false;
        product->least = i == 0 || corner < product->least ? corner : product->least;
        product->most = i == 0 || corner > product->most ? corner : product->most;
    }
    return true;
}

/* False: it may wrap, or is nothing of these. */
static bool exact(const struct terms *terms, const struct term_node *node, struct range *found)
{
    struct range a = range_of(terms, node->a), b = range_of(terms, node->b);
    struct range all = all_of(node->sort);
    bool known = false;
    if (node->binary == BINARY_ADD)
        known = add_up(a, b, found);
    else if (node->binary == BINARY_SUB)
        known = take_away(a, b, found);
    else if (node->binary == BINARY_MUL)
        known = multiply(a, b, found);
    return known && found->least >= all.least && found->most <= all.most;
}

bool term_may_wrap(const struct terms *terms, const struct term_node *node)
{
    struct range found;
    return !exact(terms, node, &found);
}

/* ---- the others ---- */

/* The least 2^k - 1 that is not below x. */
static int64_t all_bits(int64_t x)
{
    int64_t bits = 0;
    while (bits < x)
        bits = bits * 2 + 1;
    return bits;
}

static struct range bitwise(const struct term_node *node, struct range a, struct range b)
{
    bool is_and = node->binary == BINARY_AND;
    int64_t most = a.most > b.most ? a.most : b.most, least = a.most > b.most ? b.most : a.most;
    if (a.least >= 0 && b.least >= 0)
        return (struct range){0, is_and ? least : all_bits(most)};
    if (is_and && (a.least >= 0 || b.least >= 0))
        return (struct range){0, a.least >= 0 ? a.most : b.most};
    return all_of(node->sort);
}

/* By a number, of something that is not negative. */
static struct range divided(const struct terms *terms, const struct term_node *node, bool rest)
{
    struct range a = range_of(terms, node->a);
    int64_t by;
    if (!term_is_number(terms, node->b, &by) || by <= 0)
        return all_of(node->sort);
    if (rest)
        return (struct range){a.least >= 0 || node->op == TERM_UREM ? 0 : 1 - by, by - 1};
    return a.least >= 0 ? (struct range){a.least / by, a.most / by} : all_of(node->sort);
}

static struct range shifted(const struct terms *terms, const struct term_node *node)
{
    struct range a = range_of(terms, node->a);
    uint32_t width = width_of(node->sort);
    int64_t by;
    if (!term_is_number(terms, node->b, &by) || by <= 0 || by >= width)
        return all_of(node->sort);
    if (a.least >= 0)
        return (struct range){a.least >> by, a.most >> by};
    if (node->op != TERM_LSHR)
        return (struct range){INT64_MIN >> (64 - width + (uint32_t)by),
                              INT64_MAX >> (64 - width + (uint32_t)by)};
    return (struct range){0, (int64_t)(UINT64_MAX >> (64 - width + (uint32_t)by))};
}

static struct range of_binary(const struct terms *terms, const struct term_node *node)
{
    struct range found;
    switch ((int)node->binary) {
    case BINARY_ADD:
    case BINARY_SUB:
    case BINARY_MUL:
        return exact(terms, node, &found) ? found : all_of(node->sort);
    case BINARY_DIV:
        return divided(terms, node, false);
    case BINARY_REM:
        return divided(terms, node, true);
    case BINARY_SHR:
        return shifted(terms, node);
    case BINARY_AND:
    case BINARY_OR:
    case BINARY_XOR:
        return bitwise(node, range_of(terms, node->a), range_of(terms, node->b));
    default:
        return all_of(node->sort);
    }
}

static struct range of_node(const struct terms *terms, const struct term_node *node)
{
    struct range a = range_of(terms, node->a), b = range_of(terms, node->b), c;
    switch ((enum term_op)node->op) {
    case TERM_CONSTANT:
        return (struct range){node->value, node->value};
    case TERM_SYMBOL:
        return node->value > 0 ? (struct range){0, node->value - 1} : all_of(node->sort);
    case TERM_BINARY:
        return of_binary(terms, node);
    case TERM_UREM:
        return divided(terms, node, true);
    case TERM_UDIV:
        return divided(terms, node, false);
    case TERM_LSHR:
        return shifted(terms, node);
    case TERM_SIGNED:
        return a;
    case TERM_UNSIGNED:
        return a.least >= 0 ? a : (struct range){0, UINT32_MAX};
    case TERM_LOW:
        return a.least >= INT32_MIN && a.most <= INT32_MAX ? a : all_of(SORT_WORD);
    case TERM_ITE:
        c = range_of(terms, node->c);
        return (struct range){b.least < c.least ? b.least : c.least,
                              b.most > c.most ? b.most : c.most};
    case TERM_NOT:
    case TERM_AND:
    case TERM_OR:
    case TERM_EQ:
    case TERM_LESS:
    case TERM_BELOW:
    case TERM_TABLE:
    case TERM_SELECT:
    case TERM_STORE:
        break;
    }
    return all_of(node->sort);
}

/* ---- bits ---- */

static uint32_t zeros_of_number(int64_t value, uint32_t width)
{
    return value == 0 ? width : (uint32_t)__builtin_ctzll((uint64_t)value);
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t zeros_of_binary(const struct terms *terms, const struct term_node *node)
{
    uint32_t a = terms->nodes[node->a].zeros, b = terms->nodes[node->b].zeros;
    int64_t by;
    switch ((int)node->binary) {
    case BINARY_ADD:
    case BINARY_SUB:
    case BINARY_OR:
    case BINARY_XOR:
        return smaller(a, b);
    case BINARY_AND:
        return a > b ? a : b;
    case BINARY_MUL:
        return a + b;
    case BINARY_SHL:
        return term_is_number(terms, node->b, &by) && by >= 0 && by < 64 ? a + (uint32_t)by : a;
    default:
        return 0;
    }
}

static uint32_t zeros(const struct terms *terms, const struct term_node *node)
{
    switch ((int)node->op) {
    case TERM_CONSTANT:
        return zeros_of_number(node->value, width_of(node->sort));
    case TERM_BINARY:
        return zeros_of_binary(terms, node);
    case TERM_SIGNED:
    case TERM_UNSIGNED:
    case TERM_LOW:
        return terms->nodes[node->a].zeros;
    case TERM_ITE:
        return smaller(terms->nodes[node->b].zeros, terms->nodes[node->c].zeros);
    default:
        return 0;
    }
}

void term_set_range(const struct terms *terms, struct term_node *node)
{
    struct range found = of_node(terms, node);
    node->least = found.least;
    node->most = found.most;
    node->zeros = 0;
    if (node->sort == SORT_WORD || node->sort == SORT_LONG)
        node->zeros = (uint8_t)smaller(zeros(terms, node), width_of(node->sort));
}

bool term_is_within(const struct terms *terms, term t, int64_t value)
{
    const struct term_node *node = &terms->nodes[t];
    uint64_t low = node->zeros < 64 ? ((uint64_t)1 << node->zeros) - 1 : UINT64_MAX;
    return node->sort == SORT_ARRAY ||
           (value >= node->least && value <= node->most && ((uint64_t)value & low) == 0);
}

bool term_is_never_equal(const struct terms *terms, term a, term b)
{
    const struct term_node *x = &terms->nodes[a], *y = &terms->nodes[b];
    if (x->sort != SORT_WORD && x->sort != SORT_LONG)
        return false;
    if (x->most < y->least || y->most < x->least)
        return true;
    return (x->op == TERM_CONSTANT && x->zeros < y->zeros) ||
           (y->op == TERM_CONSTANT && y->zeros < x->zeros);
}
