/*
 * tree.c - what libclang says of an expression, and its text.
 */
#include "tests/mutation/auto/points_internal.h"

#include <ctype.h>
#include <string.h>

static enum CXChildVisitResult add_child(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct children *children = data;
    (void)parent;
    if (children->count < CHILDREN_MAX)
        children->items[children->count++] = cursor;
    return CXChildVisit_Continue;
}

void tree_children(CXCursor cursor, struct children *children)
{
    children->count = 0;
    clang_visitChildren(cursor, add_child, children);
}

struct extent tree_extent(CXCursor cursor)
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
CXCursor tree_bare(CXCursor cursor)
{
    struct children inner;
    while (is_transparent(cursor)) {
        tree_children(cursor, &inner);
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
bool tree_is_quiet(const struct walker *w, CXCursor cursor, bool texts)
{
    struct search search = {w, texts, false};
    if (look_for_quiet(cursor, cursor, &search) != CXChildVisit_Break)
        clang_visitChildren(cursor, look_for_quiet, &search);
    return search.found;
}

/* The C name of an arithmetic type; NULL: of no such. */
const char *tree_type_name(CXType type)
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

bool tree_is_pointer(CXType type)
{
    type = clang_getCanonicalType(type);
    return type.kind == CXType_Pointer || type.kind == CXType_ConstantArray ||
           type.kind == CXType_IncompleteArray;
}

/* ---- the text ---- */

/* Past blanks and the preprocessor's line markers. */
uint32_t tree_skip_blanks(const struct walker *w, uint32_t at)
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
void tree_short_text(const struct walker *w, struct extent extent, char text[TEXT_BYTES])
{
    uint32_t length = 0;
    for (uint32_t at = extent.start; (at = tree_skip_blanks(w, at)) < extent.end; at++) {
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
bool tree_is_switch(const struct walker *w, CXCursor cursor)
{
    char text[TEXT_BYTES];
    tree_short_text(w, tree_extent(cursor), text);
    return w->options->is_switch(text) && !strstr(text, "&&") && !strstr(text, "||");
}

uint32_t tree_add_point(struct walker *w, CXCursor at, const char *operator_name, const char *old,
                        uint32_t count, const char *const *new)
{
    unsigned line;
    clang_getPresumedLocation(clang_getCursorLocation(at), NULL, &line, NULL);
    struct point point = {w->file, w->part, w->function, operator_name, line, old, {0}, count};
    for (uint32_t i = 0; i < count; i++)
        point.new[i] = new[i];
    int64_t number = table_point(&point);
    w->edits->off = number == POINT_NOT_KEPT;
    return (uint32_t)number;
}

/* The operator between two operands, its length in bytes; its offset in *at. */
uint32_t tree_operator_behind(const struct walker *w, CXCursor left, uint32_t *at)
{
    *at = tree_skip_blanks(w, tree_extent(left).end);
    return (uint32_t)strspn(w->text + *at, "+-*/%<>=!&|^,");
}
