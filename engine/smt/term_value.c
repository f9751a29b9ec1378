#include "engine/smt/term_value.h"

#include "engine/base/pcg.h"
#include "engine/language/eval_ops.h"

void term_values_init(struct term_values *values, struct arena *arena, uint32_t count)
{
    values->arena = arena;
    values->words = ARENA_ARRAY(arena, int64_t, count);
    values->arrays = ARENA_ARRAY(arena, const struct term_array *, count);
    values->words[TERM_TRUE] = 1;
}

/* ---- drawn ---- */

int32_t term_drawn_word(uint64_t seed)
{
    uint64_t bits = pcg_splitmix(seed);
    if (bits % 8 == 0)
        return (int32_t)(bits >> 32);
    return (int32_t)(bits >> 32) & (bits % 4 ? 7 : 31);
}

void term_value_draw(const struct terms *terms, struct term_values *values, term symbol,
                     uint64_t seed)
{
    const struct term_node *node = term_of(terms, symbol);
    int32_t word = term_drawn_word(seed);
    if (node->sort == SORT_ARRAY) {
        struct term_array *array = ARENA_NEW(values->arena, struct term_array);
        array->seed = seed | 1;
        values->arrays[symbol] = array;
    } else if (node->sort == SORT_BOOL) {
        values->words[symbol] = word & 1;
    } else if (node->value > 0) {
        values->words[symbol] = (int64_t)((uint32_t)pcg_splitmix(seed) % (uint64_t)node->value);
    } else {
        values->words[symbol] = word;
    }
}

/* ---- arrays ---- */

int32_t term_array_element(const struct term_array *array, int32_t index)
{
    for (; array->below; array = array->below)
        if (array->index == index)
            return array->value;
    if ((uint32_t)index < array->element_count)
        return array->elements[index];
    return array->seed ? term_drawn_word(pcg_splitmix(array->seed) ^ (uint32_t)index)
                       : array->value;
}

static const struct term_array *bottom(const struct term_array *array)
{
    while (array->below)
        array = array->below;
    return array;
}

/* What is stored in `a` stands in `b`. */
static bool holds_stored(const struct term_array *a, const struct term_array *b)
{
    for (const struct term_array *s = a; s->below; s = s->below)
        if (term_array_element(a, s->index) != term_array_element(b, s->index))
            return false;
    return true;
}

static bool equal_arrays(const struct term_array *a, const struct term_array *b)
{
    const struct term_array *x = bottom(a), *y = bottom(b);
    return a == b || (x->seed == y->seed && (x->seed || x->value == y->value) &&
                      x->elements == y->elements && holds_stored(a, b) && holds_stored(b, a));
}

static const struct term_array *array_of(const struct term_node *node,
                                         const struct term_values *values)
{
    struct term_array *made;
    if (node->op == TERM_ITE)
        return values->arrays[values->words[node->a] ? node->b : node->c];
    made = ARENA_NEW(values->arena, struct term_array);
    made->value = (int32_t)values->words[node->op == TERM_TABLE ? node->a : node->c];
    if (node->op == TERM_STORE) {
        made->below = values->arrays[node->a];
        made->index = (int32_t)values->words[node->b];
    }
    return made;
}

/* ---- words ---- */

static uint64_t without_sign(const struct terms *terms, const struct term_values *values, term t)
{
    int64_t value = values->words[t];
    return term_of(terms, t)->sort == SORT_LONG ? (uint64_t)value : (uint32_t)value;
}

static int64_t of_sort(const struct term_node *node, uint64_t bits)
{
    return node->sort == SORT_LONG ? (int64_t)bits : (int32_t)(uint32_t)bits;
}

/* Unsigned operations: x / 0 is all ones, x % 0 is x. */
static int64_t unsigned_value(const struct terms *terms, const struct term_values *values,
                              const struct term_node *node)
{
    uint64_t a = without_sign(terms, values, node->a), b = without_sign(terms, values, node->b);
    uint64_t width = node->sort == SORT_LONG ? 64 : 32;
    if (node->op == TERM_UREM)
        return of_sort(node, b ? a % b : a);
    if (node->op == TERM_UDIV)
        return of_sort(node, b ? a / b : UINT64_MAX);
    return of_sort(node, b < width ? a >> b : 0);
}

static bool is_equal(const struct terms *terms, const struct term_values *values,
                     const struct term_node *node)
{
    if (term_of(terms, node->a)->sort == SORT_ARRAY)
        return equal_arrays(values->arrays[node->a], values->arrays[node->b]);
    return values->words[node->a] == values->words[node->b];
}

static int64_t word_of(const struct terms *terms, const struct term_values *values,
                       const struct term_node *node)
{
    int64_t a = values->words[node->a], b = values->words[node->b];
    switch ((enum term_op)node->op) {
    case TERM_NOT:
        return !a;
    case TERM_AND:
        return a & b;
    case TERM_OR:
        return a | b;
    case TERM_EQ:
        return is_equal(terms, values, node);
    case TERM_LESS:
        return a < b;
    case TERM_BELOW:
        return without_sign(terms, values, node->a) < without_sign(terms, values, node->b);
    case TERM_BINARY:
        return node->sort == SORT_LONG
                   ? term_eval_64((enum ast_binary)node->binary, a, b)
                   : eval_binary((enum ast_binary)node->binary, (int32_t)a, (int32_t)b);
    case TERM_UREM:
    case TERM_UDIV:
    case TERM_LSHR:
        return unsigned_value(terms, values, node);
    case TERM_SIGNED:
        return a;
    case TERM_UNSIGNED:
        return (uint32_t)a;
    case TERM_LOW:
        return (int32_t)(uint32_t)a;
    case TERM_ITE:
        return values->words[a ? node->b : node->c];
    case TERM_SELECT:
        return term_array_element(values->arrays[node->a], (int32_t)b);
    case TERM_CONSTANT:
        return node->value;
    case TERM_SYMBOL:
    case TERM_TABLE:
    case TERM_STORE:
        break;
    }
    return 0;
}

void term_values_find(const struct terms *terms, struct term_values *values, const term *list,
                      uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct term_node *node = term_of(terms, list[i]);
        if (node->op == TERM_SYMBOL)
            continue;
        if (node->sort == SORT_ARRAY)
            values->arrays[list[i]] = array_of(node, values);
        else
            values->words[list[i]] = word_of(terms, values, node);
    }
}
