/*
 * points.c - where a file can be mutated: a walk over the bodies of its functions.
 *
 * What cannot be switched while a program runs is no point: constant expressions that C asks for (case
 * labels, sizes of arrays, static initialisers, designators), pointer arithmetic, bit-fields' assignment
 * operators, vectors. Of the replacements of a relation those three are taken that subsume the others
 * (Kaminski, Ammann, Offutt, "Improving logic-based testing", 2013); a condition that is a relation or a
 * connector has no replacements of its own for the same reason.
 */
#include "tests/mutation/auto/mutate.h"

#include <clang-c/Index.h>

#include <ctype.h>
#include <string.h>

enum { TEXT_BYTES = 100, CHILDREN_MAX = 64, DEPTH_MAX = 256 };

struct extent {
    uint32_t start, end;
};

struct walker {
    const struct points_options *options;
    const char *text;
    struct edits *edits;
    char file[256], function[128];
    const char *part;               /* of the file, in the scope */
    struct extent stack[DEPTH_MAX]; /* of the expressions around the one that is walked */
    uint32_t depth;
    uint32_t order;
};

struct children {
    CXCursor items[CHILDREN_MAX];
    uint32_t count;
};

static void walk_statement(struct walker *w, CXCursor cursor, bool last_of_switch);
static void walk_expression(struct walker *w, CXCursor cursor, CXCursor parent);

/* ---- the tree ---- */

static enum CXChildVisitResult add_child(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct children *children = data;
    (void)parent;
    if (children->count < CHILDREN_MAX)
        children->items[children->count++] = cursor;
    return CXChildVisit_Continue;
}

static void children_of(CXCursor cursor, struct children *children)
{
    children->count = 0;
    clang_visitChildren(cursor, add_child, children);
}

static struct extent extent_of(CXCursor cursor)
{
    unsigned start, end;
    CXSourceRange range = clang_getCursorExtent(cursor);
    clang_getSpellingLocation(clang_getRangeStart(range), NULL, NULL, NULL, &start);
    clang_getSpellingLocation(clang_getRangeEnd(range), NULL, NULL, NULL, &end);
    return (struct extent){start, end};
}

static bool is_transparent(CXCursor cursor)
{
    enum CXCursorKind kind = clang_getCursorKind(cursor);
    return kind == CXCursor_UnexposedExpr || kind == CXCursor_ParenExpr;
}

/* Without parentheses and implicit conversions. */
static CXCursor bare(CXCursor cursor)
{
    struct children inner;
    while (is_transparent(cursor)) {
        children_of(cursor, &inner);
        if (inner.count != 1)
            break;
        cursor = inner.items[0];
    }
    return cursor;
}

struct search {
    const struct walker *w;
    bool texts; /* string literals, too */
    bool found;
};

static enum CXChildVisitResult look_for_quiet(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct search *search = data;
    (void)parent;
    enum CXCursorKind kind = clang_getCursorKind(cursor);
    if (kind == CXCursor_CallExpr) {
        CXString name = clang_getCursorSpelling(cursor);
        search->found |= search->w->options->is_quiet(clang_getCString(name));
        clang_disposeString(name);
    }
    search->found |= search->texts && kind == CXCursor_StringLiteral;
    return search->found ? CXChildVisit_Break : CXChildVisit_Recurse;
}

/* Whether the expression calls what makes texts, or INVARIANT's function; or holds a text. */
static bool is_quiet(const struct walker *w, CXCursor cursor, bool texts)
{
    struct search search = {w, texts, false};
    if (look_for_quiet(cursor, cursor, &search) != CXChildVisit_Break)
        clang_visitChildren(cursor, look_for_quiet, &search);
    return search.found;
}

/* The C name of an arithmetic type; NULL: of no such. */
static const char *type_name(CXType type)
{
    type = clang_getCanonicalType(type);
    if (type.kind == CXType_Enum)
        type = clang_getCanonicalType(clang_getEnumDeclIntegerType(clang_getTypeDeclaration(type)));
    static const struct {
        enum CXTypeKind kind;
        const char *name;
    } names[] = {
        {CXType_Bool, "_Bool"},
        {CXType_Char_S, "char"},
        {CXType_SChar, "signed char"},
        {CXType_UChar, "unsigned char"},
        {CXType_Short, "short"},
        {CXType_UShort, "unsigned short"},
        {CXType_Int, "int"},
        {CXType_UInt, "unsigned"},
        {CXType_Long, "long"},
        {CXType_ULong, "unsigned long"},
        {CXType_LongLong, "long long"},
        {CXType_ULongLong, "unsigned long long"},
        {CXType_Int128, "__int128"},
        {CXType_UInt128, "unsigned __int128"},
        {CXType_Float, "float"},
        {CXType_Double, "double"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].kind == type.kind)
            return names[i].name;
    return NULL;
}

static bool is_pointer(CXType type)
{
    type = clang_getCanonicalType(type);
    return type.kind == CXType_Pointer || type.kind == CXType_ConstantArray ||
           type.kind == CXType_IncompleteArray;
}

/* ---- the text ---- */

/* Past blanks and the preprocessor's line markers. */
static uint32_t skip_blanks(const struct walker *w, uint32_t at)
{
    for (;; at++) {
        if (w->text[at] == '#' && (at == 0 || w->text[at - 1] == '\n'))
            while (w->text[at] && w->text[at] != '\n')
                at++;
        if (!w->text[at] || !isspace((unsigned char)w->text[at]))
            return at;
    }
}

/* The text of an extent without blanks, cut short. */
static void short_text(const struct walker *w, struct extent extent, char text[TEXT_BYTES])
{
    uint32_t length = 0;
    for (uint32_t at = extent.start; (at = skip_blanks(w, at)) < extent.end; at++) {
        bool word = length > 0 && isalnum((unsigned char)text[length - 1]) &&
                    isalnum((unsigned char)w->text[at]) &&
                    isspace((unsigned char)w->text[at > 0 ? at - 1 : 0]);
        if (length + 2 + word >= TEXT_BYTES)
            break;
        if (word)
            text[length++] = '_';
        text[length++] = w->text[at];
    }
    text[length] = '\0';
}

/* Whether an expression only reads a switch (`switch` lines of the scope) that the ordinary subjects never set. */
static bool is_switch(const struct walker *w, CXCursor cursor)
{
    char text[TEXT_BYTES];
    short_text(w, extent_of(cursor), text);
    return w->options->is_switch(text) && !strstr(text, "&&") && !strstr(text, "||");
}

static uint32_t add_point(struct walker *w, CXCursor at, const char *operator_name, const char *old,
                          uint32_t count, const char *const *new)
{
    unsigned line;
    clang_getPresumedLocation(clang_getCursorLocation(at), NULL, &line, NULL);
    struct point point = {w->file, w->part, w->function, operator_name, line, old, {0}, count};
    for (uint32_t i = 0; i < count; i++)
        point.new[i] = new[i];
    return table_point(&point);
}

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

static const struct replacement *find_replacement(const struct replacement *table, size_t count,
                                                  const char *operator, size_t length)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(table[i].operator) == length && memcmp(table[i].operator, operator, length) == 0)
            return &table[i];
    return NULL;
}

/* The operator between two operands, its length in bytes; its offset in *at. */
static uint32_t operator_between(const struct walker *w, CXCursor left, uint32_t *at)
{
    *at = skip_blanks(w, extent_of(left).end);
    return (uint32_t)strspn(w->text + *at, "+-*/%<>=!&|^,");
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

static void spell_all(struct walker *w, const struct replacement *r, CXCursor left, CXCursor right,
                      bool pointers, struct spelled *s)
{
    bool literal = clang_getCursorKind(bare(right)) == CXCursor_IntegerLiteral;
    short_text(w, extent_of(left), s->operands[0]);
    short_text(w, extent_of(right), s->operands[1]);
    s->operands[0][40] = s->operands[1][40] = '\0';
    s->alternatives[0] = '\0';
    s->count = 0;
    for (uint32_t i = 0; i < POINT_MUTANTS_MAX && r->new[i].text; i++) {
        char code[TEXT_BYTES];
        if (literal && r->new[i].unless_literal)
            continue;
        if (pointers && r->new[i].text[0] == 'L')
            continue; /* which of two addresses is lower means nothing */
        spell(s->readable[s->count], r->new[i].text, s->operands[0], s->operands[1]);
        spell(code, r->new[i].text, "mutant_l", "mutant_r");
        strcat(s->alternatives, ", ");
        strcat(s->alternatives, code);
        s->names[s->count] = s->readable[s->count];
        s->count++;
    }
}

static void replace_operator(struct walker *w, CXCursor cursor, CXCursor left, CXCursor right,
                             const struct replacement *r, uint32_t at, uint32_t length)
{
    bool relation = strcmp(r->name, "relation") == 0;
    bool pointers = is_pointer(clang_getCursorType(left));
    const char *lt = type_name(clang_getCursorType(left));
    const char *rt = type_name(clang_getCursorType(right));
    const char *type = relation ? "int" : type_name(clang_getCursorType(cursor));
    if (relation && pointers && is_pointer(clang_getCursorType(right)))
        lt = rt = "__auto_type";
    if (!lt || !rt || !type)
        return;
    struct spelled s;
    char old[TEXT_BYTES];
    struct extent all = extent_of(cursor);
    spell_all(w, r, left, right, pointers, &s);
    if (s.count == 0)
        return;
    short_text(w, all, old);
    uint32_t point = add_point(w, cursor, r->name, old, s.count, s.names), order = w->order++;
    edit_add(w->edits, all.start, 0, EDIT_OPEN, order, "(__extension__({ %s mutant_l = (", lt);
    edit_add(w->edits, at, length, EDIT_MIDDLE, order, "); %s mutant_r = (", rt);
    edit_add(w->edits, all.end, 0, EDIT_CLOSE, order,
             "); MUTANT_ON(%u) ? MUTANT_OF(%u, %s, (mutant_l %s mutant_r)%s) "
             ": (mutant_l %s mutant_r); }))",
             point, point, type, r->operator, s.alternatives, r->operator);
}

static void replace_connector(struct walker *w, CXCursor cursor, CXCursor left, CXCursor right,
                              uint32_t at)
{
    char l[TEXT_BYTES], r[TEXT_BYTES], old[TEXT_BYTES], other[TEXT_BYTES];
    int and = w->text[at] == '&';
    struct extent all = extent_of(cursor);
    short_text(w, all, old);
    short_text(w, extent_of(left), l);
    short_text(w, extent_of(right), r);
    l[40] = r[40] = '\0';
    spell(other, and? "L||R" : "L&&R", l, r);
    const char *const new[] = {other, l, r, and? "0" : "1"};
    uint32_t point = add_point(w, cursor, "logic", old, 4, new), order = w->order++;
    edit_add(w->edits, all.start, 0, EDIT_OPEN, order, "(__extension__({ int mutant_l = !!(");
    edit_add(w->edits, at, 2, EDIT_MIDDLE, order,
             "); int mutant_r = (MUTANT_ON(%u) ? mutant_need(%u, %d, mutant_l) : %smutant_l) && (",
             point, point, and, and? "" : "!");
    edit_add(
        w->edits, all.end, 0, EDIT_CLOSE, order,
        "); MUTANT_ON(%u) ? mutant_logic(%u, %d, mutant_l, mutant_r) : (mutant_l %s mutant_r); }))",
        point, point, and, and? "&&" : "||");
}

static void replace_assignment(struct walker *w, CXCursor cursor, CXCursor left, CXCursor right)
{
    uint32_t at;
    uint32_t length = operator_between(w, left, &at);
    const struct replacement *r = find_replacement(
        assignments, sizeof assignments / sizeof *assignments, w->text + at, length);
    const char *lt = type_name(clang_getCursorType(left));
    const char *rt = type_name(clang_getCursorType(right));
    CXCursor target = bare(left);
    bool bit_field = clang_getCursorKind(target) == CXCursor_MemberRefExpr &&
                     clang_Cursor_isBitField(clang_getCursorReferenced(target));
    if (!r || !lt || !rt || bit_field ||
        clang_getCanonicalType(clang_getCursorType(left)).kind == CXType_Enum)
        return;
    struct spelled s;
    char old[TEXT_BYTES], operator[4] = {0};
    struct extent all = extent_of(cursor);
    memcpy(operator, r->operator, strlen(r->operator) - 1);
    spell_all(w, r, left, right, false, &s);
    for (uint32_t i = 0; i < s.count; i++) {
        char readable[TEXT_BYTES];
        snprintf(readable, sizeof readable, "%.40s=%.55s", s.operands[0], s.readable[i]);
        memcpy(s.readable[i], readable, sizeof readable);
    }
    short_text(w, all, old);
    uint32_t point = add_point(w, cursor, r->name, old, s.count, s.names), order = w->order++;
    edit_add(w->edits, all.start, 0, EDIT_OPEN, order, "(__extension__({ %s *mutant_a = &(", lt);
    edit_add(w->edits, at, length, EDIT_MIDDLE, order, "); %s mutant_r = (", rt);
    edit_add(w->edits, all.end, 0, EDIT_CLOSE, order,
             "); %s mutant_l = *mutant_a; *mutant_a = MUTANT_ON(%u) ? MUTANT_OF(%u, %s, "
             "(%s)(mutant_l %s mutant_r)%s) : (%s)(mutant_l %s mutant_r); }))",
             lt, point, point, lt, lt, operator, s.alternatives, lt, operator);
}

static void replace_unary(struct walker *w, CXCursor cursor, CXCursor operand)
{
    struct extent all = extent_of(cursor);
    char sign = w->text[all.start], old[TEXT_BYTES], new[TEXT_BYTES];
    const char *ot = is_pointer(clang_getCursorType(operand))
                         ? "__auto_type"
                         : type_name(clang_getCursorType(operand));
    const char *type = sign == '!' ? "int" : type_name(clang_getCursorType(cursor));
    if (!(sign == '!' || sign == '~' || sign == '-') || w->text[all.start + 1] == sign || !ot ||
        !type)
        return;
    short_text(w, all, old);
    short_text(w, extent_of(operand), new);
    const char *const names[] = {new};
    uint32_t point = add_point(w, cursor, "unary", old, 1, names), order = w->order++;
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

static void replace_constant(struct walker *w, CXCursor cursor, CXCursor parent)
{
    CXType type = clang_getCursorType(cursor);
    CXType becomes = clang_getCanonicalType(clang_getCursorType(parent));
    struct extent extent = extent_of(cursor), around = extent;
    const char *name = type_name(type);
    unsigned long long value;
    CXEvalResult result = clang_Cursor_Evaluate(cursor);
    bool known = result && clang_EvalResult_getKind(result) == CXEval_Int;
    value = known ? clang_EvalResult_getAsUnsigned(result) : 0;
    clang_EvalResult_dispose(result);
    bool is_null =
        is_pointer(becomes) && clang_getCursorKind(parent) != CXCursor_ArraySubscriptExpr;
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
        bool again = (i == 1 && value == 1) || (i == 2 && value == 0);
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
    short_text(w, around, inner);
    short_text(w, extent, old);
    size_t length = strlen(old);
    snprintf(old + length, sizeof old - length, "@%.50s", inner);
    uint32_t point = add_point(w, cursor, "constant", old, count, names), order = w->order++;
    edit_add(w->edits, extent.start, 0, EDIT_OPEN, order,
             "(MUTANT_ON(%u) ? MUTANT_OF(%u, %s, (%s)%lluULL%s) : ", point, point, name, name,
             value, code);
    edit_add(w->edits, extent.end, 0, EDIT_CLOSE, order, ")");
}

/* ---- expressions ---- */

static void walk_operands(struct walker *w, CXCursor cursor)
{
    struct children inner;
    children_of(cursor, &inner);
    if (w->depth == DEPTH_MAX)
        return;
    w->stack[w->depth++] = extent_of(cursor);
    for (uint32_t i = 0; i < inner.count; i++)
        walk_expression(w, inner.items[i], cursor);
    w->depth--;
}

static bool is_logic_or_relation(const struct walker *w, CXCursor cursor)
{
    struct children inner;
    uint32_t at;
    cursor = bare(cursor);
    if (clang_getCursorKind(cursor) != CXCursor_BinaryOperator)
        return false;
    children_of(cursor, &inner);
    if (inner.count != 2)
        return false;
    uint32_t length = operator_between(w, inner.items[0], &at);
    const char *o = w->text + at;
    return (length == 2 && (o[0] == o[1] && strchr("&|=", *o))) ||
           (length == 2 && o[1] == '=' && strchr("<>!", *o)) || (length == 1 && strchr("<>", *o));
}

/* What decides where the program goes; loop: forced true it would not end. */
static void walk_condition(struct walker *w, CXCursor cursor, CXCursor parent, bool loop)
{
    bool literal = clang_getCursorKind(bare(cursor)) == CXCursor_IntegerLiteral;
    if (literal || is_quiet(w, cursor, false))
        return;
    if (!is_logic_or_relation(w, cursor)) {
        bool negated = clang_getCursorKind(bare(cursor)) == CXCursor_UnaryOperator &&
                       w->text[extent_of(bare(cursor)).start] == '!';
        struct extent all = extent_of(cursor);
        char old[TEXT_BYTES], negation[TEXT_BYTES];
        short_text(w, all, old);
        snprintf(negation, sizeof negation, "!(%.95s)", old);
        bool set = is_switch(w, cursor);
        const char *const names[] = {set ? "1" : "0", "1", negation};
        /* The unary operator's mutant negates it. */
        uint32_t count = loop || set ? 1 : negated ? 2 : 3;
        uint32_t point = add_point(w, cursor, "condition", old, count, names), order = w->order++;
        edit_add(w->edits, all.start, 0, EDIT_OPEN, order, "(__extension__({ int mutant_c = !!(");
        edit_add(w->edits, all.end, 0, EDIT_CLOSE, order,
                 "); MUTANT_ON(%u) ? MUTANT_OF(%u, int, mutant_c%s) : mutant_c; }))", point, point,
                 set          ? ", 1"
                 : count == 1 ? ", 0"
                 : count == 2 ? ", 0, 1"
                              : ", 0, 1, !mutant_c");
    }
    walk_expression(w, cursor, parent);
}

static void walk_binary(struct walker *w, CXCursor cursor)
{
    struct children operands;
    uint32_t at;
    children_of(cursor, &operands);
    if (operands.count != 2)
        return;
    CXCursor left = operands.items[0], right = operands.items[1];
    uint32_t length = operator_between(w, left, &at);
    const struct replacement *r = find_replacement(
        replacements, sizeof replacements / sizeof *replacements, w->text + at, length);
    /* `a - -b`, `a & ~b`: the span of operator characters may hold the right side's sign. */
    if (!r && length > 1 && at + length > extent_of(right).start) {
        length = extent_of(right).start - at;
        r = find_replacement(replacements, sizeof replacements / sizeof *replacements, w->text + at,
                             length);
    }
    if (r)
        replace_operator(w, cursor, left, right, r, at, length);
    else if (length == 2 &&
             (memcmp(w->text + at, "&&", 2) == 0 || memcmp(w->text + at, "||", 2) == 0))
        replace_connector(w, cursor, left, right, at);
    walk_operands(w, cursor);
}

static void walk_expression(struct walker *w, CXCursor cursor, CXCursor parent)
{
    struct children inner;
    switch ((int)clang_getCursorKind(cursor)) {
    case CXCursor_BinaryOperator:
        if (!is_switch(w, cursor))
            walk_binary(w, cursor);
        return;
    case CXCursor_CompoundAssignOperator:
        children_of(cursor, &inner);
        if (inner.count == 2)
            replace_assignment(w, cursor, inner.items[0], inner.items[1]);
        walk_operands(w, cursor);
        return;
    case CXCursor_UnaryOperator:
        children_of(cursor, &inner);
        if (inner.count == 1)
            replace_unary(w, cursor, inner.items[0]);
        walk_operands(w, cursor);
        return;
    case CXCursor_ConditionalOperator:
        if (is_quiet(w, cursor, false))
            return;
        children_of(cursor, &inner);
        if (inner.count == 3) {
            walk_condition(w, inner.items[0], cursor, false);
            walk_expression(w, inner.items[1], cursor);
            walk_expression(w, inner.items[2], cursor);
        }
        return;
    case CXCursor_IntegerLiteral:
        replace_constant(w, cursor, parent);
        return;
    case CXCursor_CallExpr: {
        CXString name = clang_getCursorSpelling(cursor);
        bool quiet = w->options->is_quiet(clang_getCString(name));
        bool hint = strcmp(clang_getCString(name), "__builtin_expect") == 0;
        clang_disposeString(name);
        children_of(cursor, &inner);
        if (hint && inner.count == 3) /* the value, not what is expected */
            walk_expression(w, inner.items[1], cursor);
        else if (!quiet)
            walk_operands(w, cursor);
        return;
    }
    case CXCursor_UnaryExpr: /* sizeof, _Alignof, _Generic's relatives */
    case CXCursor_StmtExpr:
    case CXCursor_GenericSelectionExpr:
    case CXCursor_TypeRef:
        return;
    default:
        walk_operands(w, cursor);
        return;
    }
}

/* ---- statements ---- */

static void delete_statement(struct walker *w, CXCursor cursor)
{
    struct extent all = extent_of(cursor);
    uint32_t end = skip_blanks(w, all.end);
    char old[TEXT_BYTES];
    if (w->text[end] != ';')
        return;
    short_text(w, all, old);
    const char *const names[] = {";"};
    uint32_t point = add_point(w, cursor, "delete", old, 1, names), order = w->order++;
    edit_add(w->edits, all.start, 0, EDIT_OPEN, order, "{ if (!MUTANT_ON(%u) || mutant_keep(%u)) ",
             point, point);
    edit_add(w->edits, end, 1, EDIT_CLOSE, order, "; }");
}

static void walk_declarations(struct walker *w, CXCursor cursor)
{
    struct children inner;
    children_of(cursor, &inner);
    for (uint32_t i = 0; i < inner.count; i++) {
        CXCursor decl = inner.items[i];
        if (clang_getCursorKind(decl) != CXCursor_VarDecl ||
            clang_Cursor_hasVarDeclGlobalStorage(decl))
            continue;
        CXCursor init = clang_Cursor_getVarDeclInitializer(decl);
        if (clang_Cursor_isNull(init) || is_quiet(w, init, true))
            continue;
        w->stack[w->depth++] = extent_of(decl);
        walk_expression(w, init, decl);
        w->depth--;
    }
}

/* Of `for (init; condition; step)`: the semicolons, by the text. */
static void find_semicolons(const struct walker *w, CXCursor cursor, uint32_t at[2])
{
    struct extent all = extent_of(cursor);
    uint32_t depth = 0, found = 0;
    at[0] = at[1] = all.end;
    for (uint32_t i = all.start; i < all.end && found < 2; i++) {
        if (strchr("([{", w->text[i]))
            depth++;
        else if (strchr(")]}", w->text[i]))
            depth--;
        else if (w->text[i] == ';' && depth == 1)
            at[found++] = i;
    }
}

static void walk_for(struct walker *w, CXCursor cursor)
{
    struct children inner;
    uint32_t semicolons[2];
    children_of(cursor, &inner);
    find_semicolons(w, cursor, semicolons);
    for (uint32_t i = 0; i + 1 < inner.count; i++) {
        uint32_t start = extent_of(inner.items[i]).start;
        if (clang_getCursorKind(inner.items[i]) == CXCursor_DeclStmt)
            walk_declarations(w, inner.items[i]);
        else if (start > semicolons[0] && start < semicolons[1])
            walk_condition(w, inner.items[i], cursor, true);
        else
            walk_expression(w, inner.items[i], cursor);
    }
    if (inner.count > 0)
        walk_statement(w, inner.items[inner.count - 1], false);
}

static bool is_deletable(const struct walker *w, CXCursor cursor)
{
    struct children inner;
    uint32_t at;
    struct extent all = extent_of(cursor);
    switch ((int)clang_getCursorKind(cursor)) {
    case CXCursor_CallExpr:
    case CXCursor_CompoundAssignOperator:
        return true;
    case CXCursor_UnaryOperator:
        return memcmp(w->text + all.start, "++", 2) == 0 ||
               memcmp(w->text + all.start, "--", 2) == 0 ||
               memcmp(w->text + all.end - 2, "++", 2) == 0 ||
               memcmp(w->text + all.end - 2, "--", 2) == 0;
    case CXCursor_BinaryOperator:
        children_of(cursor, &inner);
        return inner.count == 2 && operator_between(w, inner.items[0], &at) >= 1 &&
               w->text[at] == '=' && w->text[at + 1] != '=';
    default:
        return false;
    }
}

/* The last break of a switch: nothing lies behind it that it would be needed for. */
static void walk_block(struct walker *w, CXCursor cursor, bool of_switch)
{
    struct children inner;
    children_of(cursor, &inner);
    for (uint32_t i = 0; i < inner.count; i++)
        walk_statement(w, inner.items[i], of_switch && i + 1 == inner.count);
}

static void walk_control(struct walker *w, CXCursor cursor, enum CXCursorKind kind, bool last)
{
    struct children inner;
    children_of(cursor, &inner);
    if (inner.count == 0)
        return;
    CXCursor first = inner.items[0], final = inner.items[inner.count - 1];
    switch ((int)kind) {
    case CXCursor_IfStmt:
        if (is_quiet(w, first, false))
            return;
        walk_condition(w, first, cursor, false);
        for (uint32_t i = 1; i < inner.count; i++)
            walk_statement(w, inner.items[i], false);
        return;
    case CXCursor_WhileStmt:
        walk_condition(w, first, cursor, true);
        walk_statement(w, final, false);
        return;
    case CXCursor_DoStmt:
        walk_statement(w, first, false);
        walk_condition(w, final, cursor, true);
        return;
    case CXCursor_SwitchStmt:
        walk_expression(w, first, cursor);
        if (clang_getCursorKind(final) == CXCursor_CompoundStmt)
            walk_block(w, final, true);
        return;
    default: /* case, default, label */
        walk_statement(w, final, last);
        return;
    }
}

static void walk_statement(struct walker *w, CXCursor cursor, bool last_of_switch)
{
    enum CXCursorKind kind = clang_getCursorKind(cursor);
    struct children inner;
    switch ((int)kind) {
    case CXCursor_CompoundStmt:
        walk_block(w, cursor, false);
        return;
    case CXCursor_DeclStmt:
        walk_declarations(w, cursor);
        return;
    case CXCursor_ForStmt:
        walk_for(w, cursor);
        return;
    case CXCursor_IfStmt:
    case CXCursor_WhileStmt:
    case CXCursor_DoStmt:
    case CXCursor_SwitchStmt:
    case CXCursor_CaseStmt:
    case CXCursor_DefaultStmt:
    case CXCursor_LabelStmt:
        walk_control(w, cursor, kind, last_of_switch);
        return;
    case CXCursor_BreakStmt:
    case CXCursor_ContinueStmt:
        if (!last_of_switch)
            delete_statement(w, cursor);
        return;
    case CXCursor_ReturnStmt:
        children_of(cursor, &inner);
        if (inner.count == 0)
            delete_statement(w, cursor);
        else
            walk_expression(w, inner.items[0], cursor);
        return;
    case CXCursor_NullStmt:
    case CXCursor_GotoStmt:
        return;
    default:
        /* Only a text, or an INVARIANT. */
        if (is_quiet(w, cursor, kind != CXCursor_CallExpr))
            return;
        if (is_deletable(w, cursor))
            delete_statement(w, cursor);
        walk_expression(w, cursor, cursor);
        return;
    }
}

/* ---- functions ---- */

/* The path in the repository; false: it is of somewhere else, or out of scope. */
static bool place_of(struct walker *w, CXCursor cursor)
{
    CXString presumed;
    clang_getPresumedLocation(clang_getCursorLocation(cursor), &presumed, NULL, NULL);
    const char *path = clang_getCString(presumed);
    size_t length = strlen(w->options->root);
    bool ours = strncmp(path, w->options->root, length) == 0;
    snprintf(w->file, sizeof w->file, "%s", ours ? path + length : path);
    clang_disposeString(presumed);
    w->part = ours ? w->options->part_of(w->file) : NULL;
    return w->part != NULL;
}

static enum CXChildVisitResult visit_top(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct walker *w = data;
    struct children inner;
    (void)parent;
    if (clang_getCursorKind(cursor) != CXCursor_FunctionDecl || !clang_isCursorDefinition(cursor) ||
        !place_of(w, cursor))
        return CXChildVisit_Continue;
    CXString name = clang_getCursorSpelling(cursor);
    snprintf(w->function, sizeof w->function, "%s", clang_getCString(name));
    clang_disposeString(name);
    children_of(cursor, &inner);
    if (!w->options->is_quiet(w->function) && inner.count > 0)
        walk_statement(w, inner.items[inner.count - 1], false);
    return CXChildVisit_Continue;
}

/* Not an error, or one in the system's headers: they may hold what only their own compiler knows. */
static bool is_harmless(CXDiagnostic diagnostic, const char *name, const char *root)
{
    CXString presumed, message;
    clang_getPresumedLocation(clang_getDiagnosticLocation(diagnostic), &presumed, NULL, NULL);
    bool harmless = clang_getDiagnosticSeverity(diagnostic) < CXDiagnostic_Error ||
                    strncmp(clang_getCString(presumed), root, strlen(root)) != 0;
    if (!harmless) {
        message = clang_formatDiagnostic(diagnostic, 1);
        fprintf(stderr, "mutate: %s: %s\n", name, clang_getCString(message));
        clang_disposeString(message);
    }
    clang_disposeString(presumed);
    clang_disposeDiagnostic(diagnostic);
    return harmless;
}

bool points_find(const char *name, const char *text, size_t length,
                 const struct points_options *options, struct edits *edits)
{
    const char *const arguments[] = {"-x", "cpp-output", "-std=c11", "-w"};
    struct CXUnsavedFile file = {"mutate.i", text, length};
    CXIndex index = clang_createIndex(0, 0);
    CXTranslationUnit unit = clang_parseTranslationUnit(index, "mutate.i", arguments, 4, &file, 1,
                                                        CXTranslationUnit_None);
    bool good = unit != NULL;
    for (unsigned i = 0; good && i < clang_getNumDiagnostics(unit); i++)
        good = is_harmless(clang_getDiagnostic(unit, i), name, options->root);
    if (good) {
        struct walker w = {.options = options, .text = text, .edits = edits};
        table_new_file();
        clang_visitChildren(clang_getTranslationUnitCursor(unit), visit_top, &w);
    }
    if (unit)
        clang_disposeTranslationUnit(unit);
    clang_disposeIndex(index);
    return good;
}
