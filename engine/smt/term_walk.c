/*
 * term_walk.c - symbols replaced in a term; terms as text for a solver.
 *
 * Operands have smaller numbers than what they stand in, so a loop over numbers is a walk from the leaves
 * up: nothing recurses, however deep a formula is.
 */
#include "engine/smt/term.h"

#include <inttypes.h>
#include <string.h>

void term_mark_cone(const struct terms *terms, term t, uint8_t *seen)
{
    seen[t] = 1;
    for (; t > 0; t--) {
        const struct term_node *node = &terms->nodes[t];
        if (!seen[t])
            continue;
        seen[node->a] = seen[node->b] = seen[node->c] = 1;
    }
    seen[TERM_NONE] = 0;
}

/* ---- replacing ---- */

static term rebuilt(struct terms *terms, struct term_node node, const term *now)
{
    term a = now[node.a], b = now[node.b], c = now[node.c];
    switch ((enum term_op)node.op) {
    case TERM_CONSTANT:
    case TERM_SYMBOL:
        break;
    case TERM_NOT:
        return term_not(terms, a);
    case TERM_AND:
        return term_and(terms, a, b);
    case TERM_OR:
        return term_or(terms, a, b);
    case TERM_EQ:
        return term_eq(terms, a, b);
    case TERM_LESS:
        return term_less(terms, a, b);
    case TERM_BELOW:
        return term_below(terms, a, b);
    case TERM_BINARY:
        return term_binary(terms, (enum ast_binary)node.binary, a, b);
    case TERM_UREM:
        return term_urem(terms, a, b);
    case TERM_UDIV:
        return term_udiv(terms, a, b);
    case TERM_LSHR:
        return term_lshr(terms, a, b);
    case TERM_SIGNED:
        return term_signed(terms, a);
    case TERM_UNSIGNED:
        return term_unsigned(terms, a);
    case TERM_LOW:
        return term_low(terms, a);
    case TERM_ITE:
        return term_ite(terms, a, b, c);
    case TERM_TABLE:
        return term_table(terms, a);
    case TERM_SELECT:
        return term_select(terms, a, b);
    case TERM_STORE:
        return term_store(terms, a, b, c);
    }
    return TERM_NONE;
}

static bool moved(const struct term_node *node, const term *now)
{
    return (node->a && now[node->a] != node->a) || (node->b && now[node->b] != node->b) ||
           (node->c && now[node->c] != node->c);
}

void term_replace_all(struct terms *terms, const term *from, const term *to, uint32_t symbol_count,
                      const term *old, term *replaced, uint32_t count)
{
    term last = 0;
    for (uint32_t i = 0; i < count; i++)
        last = old[i] > last ? old[i] : last;
    if (!terms->seen) {
        terms->seen = ARENA_ARRAY(terms->arena, uint8_t, (size_t)terms->limit + 1);
        terms->now = ARENA_ARRAY(terms->arena, term, (size_t)terms->limit + 1);
    }
    memset(terms->seen, 0, (size_t)last + 1);
    memset(terms->now, 0, ((size_t)last + 1) * sizeof *terms->now);
    for (uint32_t i = 0; i < count; i++)
        terms->seen[old[i]] = 1;
    term_mark_cone(terms, last, terms->seen);
    for (uint32_t i = 0; i < symbol_count; i++)
        if (from[i] <= last)
            terms->now[from[i]] = to[i];
    for (term n = 1; n <= last; n++) {
        struct term_node node = terms->nodes[n];
        if (terms->seen[n] && !terms->now[n])
            terms->now[n] = moved(&node, terms->now) ? rebuilt(terms, node, terms->now) : n;
    }
    for (uint32_t i = 0; i < count; i++)
        replaced[i] = terms->now[old[i]];
}

/* ---- text ---- */

static const char *const sort_names[] = {[SORT_BOOL] = "Bool",
                                         [SORT_WORD] = "(_ BitVec 32)",
                                         [SORT_LONG] = "(_ BitVec 64)",
                                         [SORT_ARRAY] = "(Array (_ BitVec 32) (_ BitVec 32))"};

static const char *const binary_names[BINARY_COUNT] = {
    [BINARY_MUL] = "bvmul",  [BINARY_DIV] = "bvsdiv", [BINARY_REM] = "bvsrem",
    [BINARY_ADD] = "bvadd",  [BINARY_SUB] = "bvsub",  [BINARY_SHL] = "bvshl",
    [BINARY_SHR] = "bvashr", [BINARY_AND] = "bvand",  [BINARY_XOR] = "bvxor",
    [BINARY_OR] = "bvor",
};

static const char *const op_names[] = {[TERM_NOT] = "not",
                                       [TERM_AND] = "and",
                                       [TERM_OR] = "or",
                                       [TERM_EQ] = "=",
                                       [TERM_LESS] = "bvslt",
                                       [TERM_BELOW] = "bvult",
                                       [TERM_UREM] = "bvurem",
                                       [TERM_UDIV] = "bvudiv",
                                       [TERM_LSHR] = "bvlshr",
                                       [TERM_SIGNED] = "(_ sign_extend 32)",
                                       [TERM_UNSIGNED] = "(_ zero_extend 32)",
                                       [TERM_LOW] = "(_ extract 31 0)",
                                       [TERM_ITE] = "ite",
                                       [TERM_SELECT] = "select",
                                       [TERM_STORE] = "store"};

void term_print_name(struct text *out, const struct terms *terms, term t)
{
    const struct term_node *node = &terms->nodes[t];
    if (node->op == TERM_SYMBOL)
        text_format(out, "|%s|", node->name);
    else if (node->op == TERM_CONSTANT && node->sort == SORT_BOOL)
        text_put(out, node->value ? "true" : "false");
    else if (node->op == TERM_CONSTANT && node->sort == SORT_LONG)
        text_format(out, "#x%016" PRIx64, (uint64_t)node->value);
    else if (node->op == TERM_CONSTANT)
        text_format(out, "#x%08" PRIx32, (uint32_t)node->value);
    else
        text_format(out, "t%" PRIu32, t);
}

static void print_operands(struct text *out, const struct terms *terms,
                           const struct term_node *node)
{
    const term operands[] = {node->a, node->b, node->c};
    for (int i = 0; i < 3 && operands[i]; i++) {
        text_put(out, " ");
        term_print_name(out, terms, operands[i]);
    }
}

/* x / 0 is 0 in the language; SMT-LIB has it otherwise. The rest agrees. */
static void print_division(struct text *out, const struct terms *terms,
                           const struct term_node *node)
{
    const char *zero = node->sort == SORT_LONG ? "#x0000000000000000" : "#x00000000";
    text_put(out, "(ite (= ");
    term_print_name(out, terms, node->b);
    text_format(out, " %s) %s (bvsdiv", zero, zero);
    print_operands(out, terms, node);
    text_put(out, "))");
}

/* A symbol that equals what it stands for. z3 copies what define-fun defines to every place where it is
 * named: half a minute for formulas that it solves so in a quarter of a second. */
static void print_definition(struct text *out, const struct terms *terms, term t)
{
    const struct term_node *node = &terms->nodes[t];
    text_format(out, "(declare-fun t%" PRIu32 " () %s)\n(assert (= t%" PRIu32 " ", t,
                sort_names[node->sort], t);
    if (node->op == TERM_BINARY && node->binary == BINARY_DIV) {
        print_division(out, terms, node);
    } else if (node->op == TERM_TABLE) {
        text_format(out, "((as const %s) ", sort_names[SORT_ARRAY]);
        term_print_name(out, terms, node->a);
        text_put(out, ")");
    } else {
        text_format(out, "(%s",
                    node->op == TERM_BINARY ? binary_names[node->binary] : op_names[node->op]);
        print_operands(out, terms, node);
        text_put(out, ")");
    }
    text_put(out, "))\n");
}

static void assert_equal(struct text *out, const struct terms *terms,
                         const struct term_definition *definition)
{
    text_put(out, "(assert (= ");
    term_print_name(out, terms, definition->symbol);
    text_put(out, " ");
    term_print_name(out, terms, definition->meaning);
    text_put(out, "))\n");
}

/* A definition is wanted as soon as its symbol is; what it says may want others. */
static void mark_definitions(const struct terms *terms, const struct term_definition *definitions,
                             uint32_t count, uint8_t *seen, bool *used)
{
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < count; i++) {
            if (used[i] || !seen[definitions[i].symbol])
                continue;
            used[i] = more = true;
            term_mark_cone(terms, definitions[i].meaning, seen);
        }
    }
}

void term_print(struct text *out, const struct terms *terms, const term *roots, uint32_t root_count,
                const term *mentioned, uint32_t mentioned_count,
                const struct term_definition *definitions, uint32_t definition_count)
{
    uint8_t *seen = ARENA_ARRAY(terms->arena, uint8_t, terms->count);
    bool *used = ARENA_ARRAY(terms->arena, bool, definition_count + 1);
    for (uint32_t i = 0; i < root_count; i++)
        term_mark_cone(terms, roots[i], seen);
    for (uint32_t i = 0; i < mentioned_count; i++)
        term_mark_cone(terms, mentioned[i], seen);
    mark_definitions(terms, definitions, definition_count, seen, used);
    for (term t = 1; t < terms->count; t++) {
        const struct term_node *node = &terms->nodes[t];
        if (!seen[t] || node->op == TERM_CONSTANT)
            continue;
        if (node->op == TERM_SYMBOL)
            text_format(out, "(declare-fun |%s| () %s)\n", node->name, sort_names[node->sort]);
        else
            print_definition(out, terms, t);
    }
    for (uint32_t i = 0; i < definition_count; i++)
        if (used[i])
            assert_equal(out, terms, &definitions[i]);
    for (uint32_t i = 0; i < root_count; i++) {
        text_put(out, "(assert ");
        term_print_name(out, terms, roots[i]);
        text_put(out, ")\n");
    }
}
