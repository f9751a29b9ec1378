/*
 * replace.c - what stands in the place of an operator or a constant.
 *
 * Of the replacements of a relation those three are taken that subsume the others (Kaminski, Ammann,
 * Offutt, "Improving logic-based testing", 2013).
 */
#include "tests/mutation/auto/points_internal.h"

#include <ctype.h>
#include <string.h>

/* ---- operators ---- */

/* A replacement: an expression over L and R; `unless_literal`: not where R is a literal, whose own mutants
 * come to the same. */
struct replacement {
    const char *operator;
    const char *name;
    struct {
        const char *text;
        bool unless_literal;
    } new[POINT_MUTANTS_MAX];
};

static const struct replacement replacements[] = {
    {"<", "relation", {{"L<=R", 0}, {"L!=R", 0}, {"0", 0}}},
    {"<=", "relation", {{"L<R", 0}, {"L==R", 0}, {"1", 0}}},
    {">", "relation", {{"L>=R", 0}, {"L!=R", 0}, {"0", 0}}},
    {">=", "relation", {{"L>R", 0}, {"L==R", 0}, {"1", 0}}},
    {"==", "relation", {{"L<=R", 0}, {"L>=R", 0}, {"0", 0}}},
    {"!=", "relation", {{"L<R", 0}, {"L>R", 0}, {"1", 0}}},
    {"+", "arithmetic", {{"L-R", 0}, {"L", 1}}},
    {"-", "arithmetic", {{"L+R", 0}, {"L", 1}}},
    {"*", "arithmetic", {{"L+R", 0}, {"L", 1}}},
    {"/", "arithmetic", {{"L*R", 0}, {"L", 0}}},
    {"%", "arithmetic", {{"L/R", 0}, {"L", 0}}},
    {"<<", "bits", {{"L>>R", 0}, {"L", 0}}},
    {">>", "bits", {{"L<<R", 0}, {"L", 0}}},
    {"&", "bits", {{"L|R", 0}, {"L", 0}, {"R", 0}}},
    {"|", "bits", {{"L&R", 0}, {"L", 0}, {"R", 0}}},
    {"^", "bits", {{"L|R", 0}, {"L&R", 0}}},
};

static const struct replacement assignments[] = {
    {"+=", "assign", {{"L-R", 0}, {"R", 0}}}, {"-=", "assign", {{"L+R", 0}, {"R", 0}}},
    {"*=", "assign", {{"L+R", 0}, {"R", 0}}}, {"/=", "assign", {{"L*R", 0}, {"R", 0}}},
    {"%=", "assign", {{"L/R", 0}, {"R", 0}}}, {"&=", "assign", {{"R", 0}, {"L|R", 0}}},
    {"|=", "assign", {{"R", 0}, {"L&R", 0}}}, {"^=", "assign", {{"R", 0}, {"L|R", 0}}},
    {"<<=", "assign", {{"L>>R", 0}}},         {">>=", "assign", {{"L<<R", 0}}},
};

static const struct replacement *find_in(const struct replacement *table, size_t count,
                                         const char *operator, size_t length)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(table[i].operator) == length && memcmp(table[i].operator, operator, length) == 0)
            return &table[i];
    return NULL;
}

const struct replacement *replace_find(const char *operator, size_t length)
{
    return find_in(replacements, sizeof replacements / sizeof *replacements, operator, length);
}

/* With the operands' texts (as a person reads it), or with variables (as the compiler does). */
static void spell(char text[TEXT_BYTES], const char *pattern, const char *l, const char *r)
{
    size_t length = 0;
    text[0] = '\0';
    for (const char *c = pattern; *c && length < TEXT_BYTES - 1; c++) {
        char one[2] = {*c, '\0'};
        const char *piece = *c == 'L' ? l : *c == 'R' ? r : one;
        length += (size_t)snprintf(text + length, TEXT_BYTES - length, "%s", piece);
    }
}

struct spelled {
    char operands[2][TEXT_BYTES], readable[POINT_MUTANTS_MAX][TEXT_BYTES];
    const char *names[POINT_MUTANTS_MAX];
    char alternatives[400]; /* ", a, b": behind the original's value */
    uint32_t count;
};

/* The value of a constant expression. */
static bool evaluate(CXCursor cursor, unsigned long long *value)
{
    CXEvalResult result = clang_Cursor_Evaluate(cursor);
    bool known = result && clang_EvalResult_getKind(result) == CXEval_Int;
    *value = known ? clang_EvalResult_getAsUnsigned(result) : 0;
    clang_EvalResult_dispose(result);
    return known;
}

static bool is_unsigned(CXCursor cursor)
{
    const char *name = tree_type_name(clang_getCursorType(cursor));
    return name && (strncmp(name, "unsigned", 8) == 0 || strcmp(name, "_Bool") == 0);
}

/* Whether a replacement of a relation can be no other: of an unsigned value and 0 (`> 0`, `!= 0`), and in the
 * condition of a loop that counts (`i < n`, `i != n`). */
static bool is_same(const struct replacement *r, const char *new, CXCursor left, CXCursor right,
                    bool loop)
{
    static const char *const same[][2] = {
        {">", "L!=R"}, {"==", "L<=R"}, {"!=", "L>R"}, {"<=", "L==R"}};
    unsigned long long value;
    if (loop && (strcmp(r->operator, "<") == 0 || strcmp(r->operator, ">") == 0) &&
        strcmp(new, "L!=R") == 0)
        return true;
    if (!is_unsigned(left) || !evaluate(right, &value) || value != 0)
        return false;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        if (strcmp(r->operator, same[i][0]) == 0 && strcmp(new, same[i][1]) == 0)
            return true;
    return false;
}

static void spell_all(struct walker *w, const struct replacement *r, CXCursor left, CXCursor right,
                      bool pointers, struct spelled *s)
{
    bool literal = clang_getCursorKind(tree_bare(right)) == CXCursor_IntegerLiteral;
    tree_short_text(w, tree_extent(left), s->operands[0]);
    tree_short_text(w, tree_extent(right), s->operands[1]);
    s->operands[0][40] = s->operands[1][40] = '\0';
    s->alternatives[0] = '\0';
    s->count = 0;
    for (uint32_t i = 0; i < POINT_MUTANTS_MAX && r->new[i].text; i++) {
        char code[TEXT_BYTES];
        if (literal && r->new[i].unless_literal)
            continue;
        if (pointers && r->new[i].text[0] == 'L')
            continue; /* which of two addresses is lower means nothing */
        if (is_same(r, r->new[i].text, left, right, w->in_loop))
            continue;
        spell(s->readable[s->count], r->new[i].text, s->operands[0], s->operands[1]);
        spell(code, r->new[i].text, "mutant_l", "mutant_r");
        strcat(s->alternatives, ", ");
        strcat(s->alternatives, code);
        s->names[s->count] = s->readable[s->count];
        s->count++;
    }
}

void replace_operator(struct walker *w, CXCursor cursor, CXCursor left, CXCursor right,
                      const struct replacement *r, uint32_t at, uint32_t length)
{
    bool relation = strcmp(r->name, "relation") == 0;
    bool pointers = tree_is_pointer(clang_getCursorType(left));
    const char *lt = tree_type_name(clang_getCursorType(left));
    const char *rt = tree_type_name(clang_getCursorType(right));
    const char *type = relation ? "int" : tree_type_name(clang_getCursorType(cursor));
    if (relation && pointers && tree_is_pointer(clang_getCursorType(right)))
        lt = rt = "__auto_type";
    if (!lt || !rt || !type)
        return;
    struct spelled s;
    char old[TEXT_BYTES];
    struct extent all = tree_extent(cursor);
    spell_all(w, r, left, right, pointers, &s);
    if (s.count == 0)
        return;
    tree_short_text(w, all, old);
    uint32_t point = tree_add_point(w, cursor, r->name, old, s.count, s.names), order = w->order++;
    edit_add(w->edits, all.start, 0, EDIT_OPEN, order, "(__extension__({ %s mutant_l = (", lt);
    edit_add(w->edits, at, length, EDIT_MIDDLE, order, "); %s mutant_r = (", rt);
    edit_add(w->edits, all.end, 0, EDIT_CLOSE, order,
             "); MUTANT_ON(%u) ? MUTANT_OF(%u, %s, (mutant_l %s mutant_r)%s) "
             ": (mutant_l %s mutant_r); }))",
             point, point, type, r->operator, s.alternatives, r->operator);
}

void replace_connector(struct walker *w, CXCursor cursor, CXCursor left, CXCursor right,
                       uint32_t at)
{
    char l[TEXT_BYTES], r[TEXT_BYTES], old[TEXT_BYTES], other[TEXT_BYTES];
    int and = w->text[at] == '&';
    struct extent all = tree_extent(cursor);
    tree_short_text(w, all, old);
    tree_short_text(w, tree_extent(left), l);
    tree_short_text(w, tree_extent(right), r);
    l[40] = r[40] = '\0';
    spell(other, and? "L||R" : "L&&R", l, r);
    const char *const new[] = {other, l, r, and? "0" : "1"};
    uint32_t point = tree_add_point(w, cursor, "logic", old, 4, new), order = w->order++;
    edit_add(w->edits, all.start, 0, EDIT_OPEN, order, "(__extension__({ int mutant_l = !!(");
    edit_add(w->edits, at, 2, EDIT_MIDDLE, order,
             "); int mutant_r = (MUTANT_ON(%u) ? mutant_need(%u, %d, mutant_l) : %smutant_l) && (",
             point, point, and, and? "" : "!");
    edit_add(
        w->edits, all.end, 0, EDIT_CLOSE, order,
        "); MUTANT_ON(%u) ? mutant_logic(%u, %d, mutant_l, mutant_r) : (mutant_l %s mutant_r); }))",
        point, point, and, and? "&&" : "||");
}

void replace_assignment(struct walker *w, CXCursor cursor, CXCursor left, CXCursor right)
{
    uint32_t at;
    uint32_t length = tree_operator_behind(w, left, &at);
    const struct replacement *r =
        find_in(assignments, sizeof assignments / sizeof *assignments, w->text + at, length);
    const char *lt = tree_type_name(clang_getCursorType(left));
    const char *rt = tree_type_name(clang_getCursorType(right));
    CXCursor target = tree_bare(left);
    bool bit_field = clang_getCursorKind(target) == CXCursor_MemberRefExpr &&
                     clang_Cursor_isBitField(clang_getCursorReferenced(target));
    if (!r || !lt || !rt || bit_field ||
        clang_getCanonicalType(clang_getCursorType(left)).kind == CXType_Enum)
        return;
    struct spelled s;
    char old[TEXT_BYTES], operator[4] = {0};
    struct extent all = tree_extent(cursor);
    memcpy(operator, r->operator, strlen(r->operator) - 1);
    spell_all(w, r, left, right, false, &s);
    for (uint32_t i = 0; i < s.count; i++) {
        char readable[TEXT_BYTES];
        snprintf(readable, sizeof readable, "%.40s=%.55s", s.operands[0], s.readable[i]);
        memcpy(s.readable[i], readable, sizeof readable);
    }
    tree_short_text(w, all, old);
    uint32_t point = tree_add_point(w, cursor, r->name, old, s.count, s.names), order = w->order++;
    edit_add(w->edits, all.start, 0, EDIT_OPEN, order, "(__extension__({ %s *mutant_a = &(", lt);
    edit_add(w->edits, at, length, EDIT_MIDDLE, order, "); %s mutant_r = (", rt);
    edit_add(w->edits, all.end, 0, EDIT_CLOSE, order,
             "); %s mutant_l = *mutant_a; *mutant_a = MUTANT_ON(%u) ? MUTANT_OF(%u, %s, "
             "(%s)(mutant_l %s mutant_r)%s) : (%s)(mutant_l %s mutant_r); }))",
             lt, point, point, lt, lt, operator, s.alternatives, lt, operator);
}

void replace_unary(struct walker *w, CXCursor cursor, CXCursor operand)
{
    struct extent all = tree_extent(cursor);
    char sign = w->text[all.start], old[TEXT_BYTES], new[TEXT_BYTES];
    const char *ot = tree_is_pointer(clang_getCursorType(operand))
                         ? "__auto_type"
                         : tree_type_name(clang_getCursorType(operand));
    const char *type = sign == '!' ? "int" : tree_type_name(clang_getCursorType(cursor));
    if (!(sign == '!' || sign == '~' || sign == '-') || w->text[all.start + 1] == sign || !ot ||
        !type)
        return;
    tree_short_text(w, all, old);
    tree_short_text(w, tree_extent(operand), new);
    const char *const names[] = {new};
    uint32_t point = tree_add_point(w, cursor, "unary", old, 1, names), order = w->order++;
    edit_add(w->edits, all.start, 1, EDIT_OPEN, order, "(__extension__({ %s mutant_l = (", ot);
    edit_add(w->edits, all.end, 0, EDIT_CLOSE, order,
             "); MUTANT_ON(%u) ? MUTANT_OF(%u, %s, %cmutant_l, %smutant_l) : %cmutant_l; }))",
             point, point, type, sign, sign == '!' ? "!!" : "", sign);
}

/* ---- constants ---- */

/* An index in a type or a designator: [3] behind no array. */
static bool is_index_of_type(const struct walker *w, struct extent extent, CXCursor parent)
{
    uint32_t at = extent.start;
    while (at > 0 && isspace((unsigned char)w->text[at - 1]))
        at--;
    return at > 0 && w->text[at - 1] == '[' &&
           clang_getCursorKind(parent) != CXCursor_ArraySubscriptExpr;
}

void replace_constant(struct walker *w, CXCursor cursor, CXCursor parent)
{
    CXType type = clang_getCursorType(cursor);
    CXType becomes = clang_getCanonicalType(clang_getCursorType(parent));
    struct extent extent = tree_extent(cursor), around = extent;
    const char *name = tree_type_name(type);
    unsigned long long value;
    bool known = evaluate(cursor, &value);
    bool is_null =
        tree_is_pointer(becomes) && clang_getCursorKind(parent) != CXCursor_ArraySubscriptExpr;
    if (!known || !name || is_null || is_index_of_type(w, extent, parent))
        return;
    for (uint32_t d = w->depth; d > 0 && around.end - around.start == extent.end - extent.start;
         d--)
        around = w->stack[d - 1];
    char old[TEXT_BYTES], inner[TEXT_BYTES], new[3][TEXT_BYTES], code[3 * TEXT_BYTES] = "";
    const char *names[3];
    uint32_t count = 0;
    bool is_bool = becomes.kind == CXType_Bool;
    unsigned long long values[3] = {value + 1, value - 1, 0};
    for (uint32_t i = 0; i < 3; i++) {
        /* The greatest value and 1 is 0 again. */
        bool again =
            (i == 1 && value == 1) || (i == 2 && value == 0) || (i == 0 && value == UINT32_MAX);
        if (again || (is_bool && i != (value ? 2 : 0)))
            continue;
        snprintf(new[count], TEXT_BYTES, "%lld", (long long)values[i]);
        names[count] = new[count];
        snprintf(code + strlen(code), sizeof code - strlen(code), ", (%s)%sLL", name, new[count]);
        count++;
    }
    if (is_bool && value == 1) { /* 2 is true, too */
        count = 1;
        names[0] = "0";
        snprintf(code, sizeof code, ", (%s)0", name);
    }
    tree_short_text(w, around, inner);
    tree_short_text(w, extent, old);
    size_t length = strlen(old);
    snprintf(old + length, sizeof old - length, "@%.50s", inner);
    uint32_t point = tree_add_point(w, cursor, "constant", old, count, names), order = w->order++;
    edit_add(w->edits, extent.start, 0, EDIT_OPEN, order,
             "(MUTANT_ON(%u) ? MUTANT_OF(%u, %s, (%s)%lluULL%s) : ", point, point, name, name,
             value, code);
    edit_add(w->edits, extent.end, 0, EDIT_CLOSE, order, ")");
}
