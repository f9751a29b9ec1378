#include "oracle/prove/smt_text.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_BYTES = 96, ARGUMENTS = 3 };

/* A Boolean has width 1, an array 0. */
struct smt_value {
    uint64_t bits;
    uint32_t width;
    const struct term_array *array;
};

struct smt_reader {
    struct arena *arena;
    const char *at;
    const struct terms *terms;
    const struct term_values *values;
    uint8_t *declared; /* by term, so far */
    bool
        unknown; /* something is named that is not declared, or declared as another sort, or twice */
};

/* ---- what operations give (SMT-LIB 2.6) ---- */

static int64_t signed_of(struct smt_value v)
{
    return v.width == 64 ? (int64_t)v.bits : (int32_t)(uint32_t)v.bits;
}

static uint64_t all_ones(uint32_t width)
{
    return width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
}

/* Of magnitudes: bvsdiv x 0 is 1 or all ones by the sign of x. */
static uint64_t divided(struct smt_value a, struct smt_value b, bool rest)
{
    bool minus_a = signed_of(a) < 0, minus_b = signed_of(b) < 0;
    uint64_t x = minus_a ? 0 - (uint64_t)signed_of(a) : a.bits,
             y = minus_b ? 0 - (uint64_t)signed_of(b) : b.bits;
    uint64_t quotient = y ? x / y : UINT64_MAX, remainder = y ? x % y : x;
    if (rest)
        return minus_a ? 0 - remainder : remainder;
    return minus_a != minus_b ? 0 - quotient : quotient;
}

static uint64_t shifted_down(struct smt_value a, uint64_t by, bool with_sign)
{
    uint64_t sign = with_sign && signed_of(a) < 0 ? all_ones(a.width) : 0;
    if (by >= a.width)
        return sign;
    return a.bits >> by | (by ? sign << (a.width - by) : 0);
}

/* An operation of two words that gives a word; false: none of these. */
static bool of_words(const char *op, struct smt_value a, struct smt_value b, uint64_t *bits)
{
    const struct {
        const char *name;
        uint64_t bits;
    } all[] = {{"bvadd", a.bits + b.bits},
               {"bvsub", a.bits - b.bits},
               {"bvmul", a.bits * b.bits},
               {"bvand", a.bits & b.bits},
               {"bvor", a.bits | b.bits},
               {"bvxor", a.bits ^ b.bits},
               {"bvudiv", b.bits ? a.bits / b.bits : UINT64_MAX},
               {"bvurem", b.bits ? a.bits % b.bits : a.bits},
               {"bvsdiv", divided(a, b, false)},
               {"bvsrem", divided(a, b, true)},
               {"bvshl", b.bits >= a.width ? 0 : a.bits << b.bits},
               {"bvlshr", shifted_down(a, b.bits, false)},
               {"bvashr", shifted_down(a, b.bits, true)}};
    for (uint32_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(op, all[i].name) == 0) {
            *bits = all[i].bits & all_ones(a.width);
            return true;
        }
    return false;
}

static bool equal(struct smt_value a, struct smt_value b)
{
    if (a.width)
        return a.bits == b.bits;
    for (int32_t i = -2; i < 14; i++)
        if (term_array_element(a.array, i) != term_array_element(b.array, i))
            return false;
    return true;
}

static struct smt_value boolean(bool value)
{
    return (struct smt_value){.bits = value, .width = 1};
}

static struct smt_value word(int32_t value)
{
    return (struct smt_value){.bits = (uint32_t)value, .width = 32};
}

static struct smt_value of_arrays(struct smt_reader *r, const char *op, const struct smt_value *a)
{
    if (strcmp(op, "select") == 0)
        return word(term_array_element(a[0].array, (int32_t)(uint32_t)a[1].bits));
    struct term_array *made = ARENA_NEW(r->arena, struct term_array);
    bool is_store = strcmp(op, "store") == 0;
    made->below = is_store ? a[0].array : NULL;
    made->index = is_store ? (int32_t)(uint32_t)a[1].bits : 0;
    made->value = (int32_t)(uint32_t)a[is_store ? 2 : 0].bits;
    return (struct smt_value){.array = made};
}

static struct smt_value applied(struct smt_reader *r, const char *op, const struct smt_value *a)
{
    uint64_t bits = 0;
    if (strcmp(op, "not") == 0)
        return boolean(!a[0].bits);
    if (strcmp(op, "and") == 0 || strcmp(op, "or") == 0)
        return boolean(op[0] == 'a' ? a[0].bits && a[1].bits : a[0].bits || a[1].bits);
    if (strcmp(op, "=") == 0)
        return boolean(equal(a[0], a[1]));
    if (strcmp(op, "bvslt") == 0)
        return boolean(signed_of(a[0]) < signed_of(a[1]));
    if (strcmp(op, "bvult") == 0)
        return boolean(a[0].bits < a[1].bits);
    if (strcmp(op, "ite") == 0)
        return a[a[0].bits ? 1 : 2];
    if (strcmp(op, "_ sign_extend 32") == 0)
        return (struct smt_value){.bits = (uint64_t)signed_of(a[0]), .width = 64};
    if (strcmp(op, "_ zero_extend 32") == 0)
        return (struct smt_value){.bits = a[0].bits, .width = 64};
    if (strcmp(op, "_ extract 31 0") == 0)
        return word((int32_t)(uint32_t)a[0].bits);
    if (of_words(op, a[0], a[1], &bits))
        return (struct smt_value){.bits = bits, .width = a[0].width};
    return of_arrays(r, op, a);
}

/* ---- reading ---- */

static void skip_space(struct smt_reader *r)
{
    while (*r->at == ' ')
        r->at++;
}

static struct smt_value given(struct smt_reader *r, term t)
{
    r->unknown |= !r->declared[t];
    const struct term_node *node = term_of(r->terms, t);
    if (node->sort == SORT_ARRAY)
        return (struct smt_value){.array = r->values->arrays[t]};
    int64_t value = r->values->words[t];
    uint32_t width = node->sort == SORT_BOOL ? 1 : node->sort == SORT_LONG ? 64 : 32;
    return (struct smt_value){.bits = (uint64_t)value & all_ones(width), .width = width};
}

/* |name|; TERM_NONE: there is none of this name. */
static term symbol(struct smt_reader *r)
{
    const char *name = r->at + 1;
    size_t length = strcspn(name, "|");
    r->at = name + length + 1;
    for (term t = 1; t < r->terms->count; t++) {
        const struct term_node *node = term_of(r->terms, t);
        if (node->op == TERM_SYMBOL && strlen(node->name) == length &&
            strncmp(node->name, name, length) == 0)
            return t;
    }
    return TERM_NONE;
}

static struct smt_value atom(struct smt_reader *r)
{
    char *end;
    const char *from = r->at;
    if (*from == '|')
        return given(r, symbol(r));
    if (strncmp(from, "#x", 2) == 0) {
        uint64_t bits = strtoull(from + 2, &end, 16);
        r->at = end;
        return (struct smt_value){.bits = bits, .width = (uint32_t)(end - from - 2) * 4};
    }
    if (*from == 't' && from[1] != 'r') {
        term t = (term)strtoul(from + 1, &end, 10);
        r->at = end;
        return given(r, t);
    }
    r->at += strcspn(from, " )");
    return boolean(*from == 't');
}

/* "bvadd"; "_ extract 31 0" of "(_ extract 31 0)", with what is around it gone. */
static void read_operation(struct smt_reader *r, char *name)
{
    bool nested = *r->at == '(';
    size_t length = nested ? strcspn(r->at, ")") - 1 : strcspn(r->at, " ");
    const char *from = r->at + nested;
    if (nested && strncmp(from, "as ", 3) == 0) /* ((as const (Array ..)) element) */
        length = (size_t)(strstr(from, "))) ") + 2 - from);
    size_t kept = length < NAME_MAX_BYTES ? length : NAME_MAX_BYTES - 1;
    memcpy(name, from, kept);
    name[kept] = 0;
    r->at = from + length + nested;
}

static struct smt_value expression(struct smt_reader *r)
{
    char op[NAME_MAX_BYTES];
    struct smt_value arguments[ARGUMENTS] = {{0}};
    uint32_t count = 0;
    skip_space(r);
    if (*r->at != '(')
        return atom(r);
    r->at++;
    read_operation(r, op);
    for (skip_space(r); *r->at && *r->at != ')'; skip_space(r)) {
        struct smt_value value = expression(r);
        if (count < ARGUMENTS)
            arguments[count++] = value;
    }
    r->at += *r->at == ')';
    return applied(r, op, arguments);
}

/* NAME () SORT) */
static void declare(struct smt_reader *r)
{
    static const char *const sorts[] = {[SORT_BOOL] = " () Bool)\n",
                                        [SORT_WORD] = " () (_ BitVec 32))\n",
                                        [SORT_LONG] = " () (_ BitVec 64))\n",
                                        [SORT_ARRAY] =
                                            " () (Array (_ BitVec 32) (_ BitVec 32)))\n"};
    char *end;
    term t = TERM_NONE;
    if (*r->at == '|') {
        t = symbol(r);
    } else if (*r->at == 't') {
        t = (term)strtoul(r->at + 1, &end, 10);
        r->at = end;
    }
    const char *sort = sorts[term_of(r->terms, t)->sort];
    r->unknown |= t == TERM_NONE || r->declared[t] || strncmp(r->at, sort, strlen(sort)) != 0;
    r->declared[t] = 1;
}

const char *smt_text_false(struct arena *arena, const char *text, const struct terms *terms,
                           const struct term_values *values)
{
    static const char define[] = "(assert (= ", begin[] = "(declare-fun ";
    struct smt_reader r = {.arena = arena, .terms = terms, .values = values};
    r.declared = ARENA_ARRAY(arena, uint8_t, terms->count);
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        const bool defines = strncmp(line, define, sizeof define - 1) == 0,
                   declares = strncmp(line, begin, sizeof begin - 1) == 0;
        r.at = line + (declares ? sizeof begin - 1 : strlen("(assert "));
        if (declares)
            declare(&r);
        else if (!defines)
            (void)expression(&r);
        if ((defines && !expression(&r).bits) || r.unknown)
            return arena_printf(arena, "%.*s", (int)strcspn(line, "\n"), line);
    }
    return NULL;
}
