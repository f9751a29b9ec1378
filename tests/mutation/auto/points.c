/*
 * points.c - where a file can be mutated: a walk over the bodies of its functions.
 *
 * What cannot be switched while a program runs is no point: constant expressions that C asks for (case
 * labels, sizes of arrays, static initialisers, designators), pointer arithmetic, bit-fields' assignment
 * operators, vectors. A condition that is a relation or a
 * connector has no replacements of its own: theirs subsume them.
 */
#include "tests/mutation/auto/points_internal.h"

#include <stdlib.h>
#include <string.h>

static void walk_statement(struct walker *w, CXCursor cursor, bool last_of_switch);
static void walk_expression(struct walker *w, CXCursor cursor, CXCursor parent);

/* ---- expressions ---- */

static void walk_operands(struct walker *w, CXCursor cursor)
{
    struct children inner;
    tree_children(cursor, &inner);
    if (w->depth == DEPTH_MAX)
        return;
    w->stack[w->depth++] = tree_extent(cursor);
    for (uint32_t i = 0; i < inner.count; i++)
        walk_expression(w, inner.items[i], cursor);
    w->depth--;
}

static bool is_logic_or_relation(const struct walker *w, CXCursor cursor)
{
    struct children inner;
    uint32_t at;
    cursor = tree_bare(cursor);
    if (clang_getCursorKind(cursor) != CXCursor_BinaryOperator)
        return false;
    tree_children(cursor, &inner);
    if (inner.count != 2)
        return false;
    uint32_t length = tree_operator_behind(w, inner.items[0], &at);
    const char *o = w->text + at;
    return (length == 2 && (o[0] == o[1] && strchr("&|=", *o))) ||
           (length == 2 && o[1] == '=' && strchr("<>!", *o)) || (length == 1 && strchr("<>", *o));
}

/* What decides where the program goes; loop: forced true it would not end. */
static void walk_condition(struct walker *w, CXCursor cursor, CXCursor parent, bool loop)
{
    bool literal = clang_getCursorKind(tree_bare(cursor)) == CXCursor_IntegerLiteral;
    if (literal || tree_is_quiet(w, cursor, false))
        return;
    if (!is_logic_or_relation(w, cursor)) {
        bool negated = clang_getCursorKind(tree_bare(cursor)) == CXCursor_UnaryOperator &&
                       w->text[tree_extent(tree_bare(cursor)).start] == '!';
        struct extent all = tree_extent(cursor);
        char old[TEXT_BYTES], negation[TEXT_BYTES];
        tree_short_text(w, all, old);
        snprintf(negation, sizeof negation, "!(%.95s)", old);
        bool set = tree_is_switch(w, cursor);
        const char *const names[] = {set ? "1" : "0", "1", negation};
        /* The unary operator's mutant negates it. */
        uint32_t count = loop || set ? 1 : negated ? 2 : 3;
        uint32_t point = tree_add_point(w, cursor, "condition", old, count, names),
                 order = w->order++;
        edit_add(w->edits, all.start, 0, EDIT_OPEN, order, "(__extension__({ int mutant_c = !!(");
        edit_add(w->edits, all.end, 0, EDIT_CLOSE, order,
                 "); MUTANT_ON(%u) ? MUTANT_OF(%u, int, mutant_c%s) : mutant_c; }))", point, point,
                 set          ? ", 1"
                 : count == 1 ? ", 0"
                 : count == 2 ? ", 0, 1"
                              : ", 0, 1, !mutant_c");
    }
    w->in_loop = loop && is_logic_or_relation(w, cursor);
    walk_expression(w, cursor, parent);
}

static void walk_binary(struct walker *w, CXCursor cursor)
{
    struct children operands;
    uint32_t at;
    tree_children(cursor, &operands);
    if (operands.count != 2)
        return;
    CXCursor left = operands.items[0], right = operands.items[1];
    uint32_t length = tree_operator_behind(w, left, &at);
    const struct replacement *r = replace_find(w->text + at, length);
    /* `a - -b`, `a & ~b`: the right side's sign may follow. */
    if (!r && length > 1 && at + length > tree_extent(right).start) {
        length = tree_extent(right).start - at;
        r = replace_find(w->text + at, length);
    }
    if (r)
        replace_operator(w, cursor, left, right, r, at, length);
    else if (length == 2 &&
             (memcmp(w->text + at, "&&", 2) == 0 || memcmp(w->text + at, "||", 2) == 0))
        replace_connector(w, cursor, left, right, at);
    w->in_loop = false;
    walk_operands(w, cursor);
}

static void walk_expression(struct walker *w, CXCursor cursor, CXCursor parent)
{
    struct children inner;
    switch ((int)clang_getCursorKind(cursor)) {
    case CXCursor_BinaryOperator:
        if (!tree_is_switch(w, cursor))
            walk_binary(w, cursor);
        return;
    case CXCursor_CompoundAssignOperator:
        tree_children(cursor, &inner);
        if (inner.count == 2)
            replace_assignment(w, cursor, inner.items[0], inner.items[1]);
        walk_operands(w, cursor);
        return;
    case CXCursor_UnaryOperator:
        tree_children(cursor, &inner);
        if (inner.count == 1)
            replace_unary(w, cursor, inner.items[0]);
        walk_operands(w, cursor);
        return;
    case CXCursor_ConditionalOperator:
        if (tree_is_quiet(w, cursor, false))
            return;
        tree_children(cursor, &inner);
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
        tree_children(cursor, &inner);
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
    struct extent all = tree_extent(cursor);
    uint32_t end = tree_skip_blanks(w, all.end);
    char old[TEXT_BYTES];
    if (w->text[end] != ';')
        return;
    tree_short_text(w, all, old);
    const char *const names[] = {";"};
    uint32_t point = tree_add_point(w, cursor, "delete", old, 1, names), order = w->order++;
    edit_add(w->edits, all.start, 0, EDIT_OPEN, order, "{ if (!MUTANT_ON(%u) || mutant_keep(%u)) ",
             point, point);
    edit_add(w->edits, end, 1, EDIT_CLOSE, order, "; }");
}

static void walk_declarations(struct walker *w, CXCursor cursor)
{
    struct children inner;
    tree_children(cursor, &inner);
    for (uint32_t i = 0; i < inner.count; i++) {
        CXCursor decl = inner.items[i];
        if (clang_getCursorKind(decl) != CXCursor_VarDecl ||
            clang_Cursor_hasVarDeclGlobalStorage(decl))
            continue;
        CXCursor init = clang_Cursor_getVarDeclInitializer(decl);
        if (clang_Cursor_isNull(init) || tree_is_quiet(w, init, true))
            continue;
        w->stack[w->depth++] = tree_extent(decl);
        walk_expression(w, init, decl);
        w->depth--;
    }
}

/* Of `for (init; condition; step)`: the semicolons, by the text. */
static void find_semicolons(const struct walker *w, CXCursor cursor, uint32_t at[2])
{
    struct extent all = tree_extent(cursor);
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
    tree_children(cursor, &inner);
    find_semicolons(w, cursor, semicolons);
    for (uint32_t i = 0; i + 1 < inner.count; i++) {
        uint32_t start = tree_extent(inner.items[i]).start;
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
    struct extent all = tree_extent(cursor);
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
        tree_children(cursor, &inner);
        return inner.count == 2 && tree_operator_behind(w, inner.items[0], &at) >= 1 &&
               w->text[at] == '=' && w->text[at + 1] != '=';
    default:
        return false;
    }
}

/* The last break of a switch: nothing lies behind it that it would be needed for. */
static void walk_block(struct walker *w, CXCursor cursor, bool of_switch)
{
    struct children inner;
    tree_children(cursor, &inner);
    for (uint32_t i = 0; i < inner.count; i++)
        walk_statement(w, inner.items[i], of_switch && i + 1 == inner.count);
}

static void walk_control(struct walker *w, CXCursor cursor, enum CXCursorKind kind, bool last)
{
    struct children inner;
    tree_children(cursor, &inner);
    if (inner.count == 0)
        return;
    CXCursor first = inner.items[0], final = inner.items[inner.count - 1];
    switch ((int)kind) {
    case CXCursor_IfStmt:
        if (tree_is_quiet(w, first, false))
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
        tree_children(cursor, &inner);
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
        if (tree_is_quiet(w, cursor, kind != CXCursor_CallExpr))
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
    tree_children(cursor, &inner);
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

/* The compiler's atomics are functions of plain types, which libclang does not know for others: it reads a text of the
 * same length without the word. */
static char *without_atomic(const char *text, size_t length)
{
    static const char word[] = "_Atomic ";
    char *plain = malloc(length + 1);
    if (!plain)
        exit(3);
    memcpy(plain, text, length + 1);
    for (char *at = plain; (at = strstr(at, word)); at++)
        memset(at, ' ', sizeof word - 1);
    return plain;
}

bool points_find(const char *name, const char *text, size_t length,
                 const struct points_options *options, struct edits *edits)
{
    const char *const arguments[] = {"-x", "cpp-output", "-std=c11", "-w"};
    char *plain = without_atomic(text, length);
    struct CXUnsavedFile file = {"mutate.i", plain, length};
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
    free(plain);
    return good;
}
