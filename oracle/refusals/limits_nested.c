/*
 * limits_nested.c - expressions and statements nested as deep as the language has it (docs/kernel-language.md), or a
 * share of a level deeper. They are drawn from the outside in, and how deep each part stands is counted here: an
 * operand, an index, a governed statement is a level deeper than what it is of; a link of a chain - a + b + .., else
 * if .. - a sixteenth of one. Each kind of part is on the way down sometimes: who does not count it takes too much.
 */
#include "engine/language/walk.h"
#include "oracle/refusals/limits.h"

#include <string.h>

enum {
    LEVEL = 16, /* shares */
    MOST = 200 * LEVEL,
    MARKED = 424242 /* the number in the innermost part */
};

/* What stands around the place that is drawn next: `left` before it; `right` behind it, the last one first. */
struct nested {
    struct drawn *d;
    struct text left;
    const char **right;
    uint32_t count, depth,
        brackets;           /* brackets that are open there, of those that the reader counts */
    uint32_t levels, links; /* that are still to be drawn */
    bool constant, reduces; /* no names; all(..) may stand here, once */
    bool bare;              /* a statement that is governed, without braces */
};

/* What ends at `depth`: so many levels, and so many links of chains in one or two of their sixteens. */
static struct nested nested_begin(struct drawn *d, uint32_t depth)
{
    struct nested n = {.d = d,
                       .right = ARENA_ARRAY(d->arena, const char *, 4 * MOST / LEVEL + LEVEL * 20)};
    n.left = text_begin(d->arena);
    n.depth = LEVEL;
    n.links = (depth - LEVEL) % LEVEL + LEVEL * drawn_below(d, 12);
    n.levels = (depth - LEVEL - n.links) / LEVEL;
    return n;
}

static void around(struct nested *n, const char *left, const char *right)
{
    text_put(&n->left, left);
    n->right[n->count++] = right;
}

static const char *nested_end(struct nested *n)
{
    while (n->count > 0)
        text_put(&n->left, n->right[--n->count]);
    return n->left.bytes;
}

/* ---- expressions ---- */

static const char *leaf(struct nested *n)
{
    static const char *const leaves[] = {"1", "(-3)", "0x7", "tid", "p", "s", "lane"};
    return leaves[drawn_below(n->d, n->constant ? 3 : 7)];
}

static void bracket(struct nested *n)
{
    around(n, "(", ")");
    n->brackets++;
}

/* The reader opens two brackets for each level: whether there is room for a few more. */
static bool has_room(const struct nested *n)
{
    return n->brackets + 6 <= 2 * n->depth / LEVEL;
}

/* The place becomes an operand of something, a level deeper. */
static void draw_operator(struct nested *n)
{
    static const char *const unaries[] = {"-(", "!(", "~("}, *const binaries[] = {" * ",  " - ",
                                                                                  " << ", " < ",
                                                                                  " == ", " & "};
    struct arena *arena = n->d->arena;
    const uint32_t kind = drawn_below(n->d, n->constant ? 5 : 7);
    const char *one = leaf(n), *two = leaf(n);
    if (kind == 0 && has_room(n)) {
        around(n, unaries[drawn_below(n->d, 3)], ")");
        n->brackets++;
    } else if (kind <= 1) {
        around(n, arena_printf(arena, "%s%s(", one, binaries[drawn_below(n->d, 6)]), ")");
    } else if (kind == 2) {
        around(n, "(", arena_printf(arena, ") ? %s : %s", one, two));
    } else if (kind == 3) {
        around(n, arena_printf(arena, "%s ? ", one), arena_printf(arena, " : %s", two));
    } else if (kind == 4) {
        around(n, arena_printf(arena, "%s ? %s : ", one, two), "");
    } else if (n->reduces) {
        around(n, drawn_below(n->d, 2) ? "all(" : "any(", ")");
        n->reduces = false;
    } else {
        around(n, "v[", "]");
    }
    n->depth += LEVEL;
    n->brackets++;
    n->levels--;
}

/* It becomes the first of so many more terms. */
static void draw_sum(struct nested *n, uint32_t links)
{
    bracket(n);
    n->depth += links;
    n->links -= links;
    for (; links > 0; links--)
        around(n, "",
               arena_printf(n->d->arena, "%s%s", drawn_below(n->d, 2) ? " + " : " - ", leaf(n)));
    bracket(n);
}

/* Its innermost part stands at the depth, and no other deeper. */
static const char *draw_expression(struct nested *n)
{
    while (n->levels > 0) {
        if (n->links > 0 && n->levels == 1)
            draw_sum(n, n->links);
        else if (n->links > 0 && has_room(n) && drawn_once_in(n->d, 9))
            draw_sum(n, 1 + drawn_below(n->d, n->links));
        draw_operator(n);
    }
    text_format(&n->left, "%d", MARKED);
    return nested_end(n);
}

/* A statement in which an expression stands, wherever one may. */
static const char *const in_bodies[] = {"s = <>;",
                                        "v[<>] = 1;",
                                        "s += <>;",
                                        "v[<>]++;",
                                        "if (<>) ;",
                                        "if (1) ; else if (<>) ;",
                                        "while (<>) ;",
                                        "do ; while (<>);",
                                        "for (; <>;) ;",
                                        "for (p = <>;;) ;",
                                        "for (;; p = <>) ;",
                                        "switch (<>) { case 1: ; }",
                                        "switch (p) { case 1: s = <>; }",
                                        "assert(<>);",
                                        "assume(<>);",
                                        "requires <>;",
                                        "invariant <>;",
                                        "p = atomic_add(s, <>);",
                                        "atomic_max(a[<>], 1);",
                                        "p = atomic_cas(s, <>, 2);",
                                        "p = atomic_cas(s, 2, <>);",
                                        "v[<>] = atomic_exch(s, 1);",
                                        "sync(<>, 1);",
                                        "arrive(1, <>);",
                                        "p = vote_any(<>);",
                                        "f(<>, 1);",
                                        "p = g(1, <>);",
                                        "v[<>] = g(1, 2);",
                                        "havoc(v[<>]);",
                                        "{ { ; s = <>; } }"};
static const char *const in_blocks[] = {"s = <>;",           "v[<>] = 1;",
                                        "s = 1 if (<>);",    "assume(<>);",
                                        "assert(<>);",       "pick(p, 1 : 1, 2 : <>);",
                                        "atomic_add(s, <>);"};
static const char *const constants[] = {
    "kernel k() { switch (1) { case <>: ; } }", "kernel k() { private int c = <>; }",
    "private int c[2] = {1, <>}; kernel k() { }", "kernel k() { } expect final s == <>;"};

/* What stands before it, by form: nothing, blocks, lock-step, and a structured kernel twice as often. */
#define STRUCTURED "void f(int x, int y) { } int g(int x, int y) { return x; }\nkernel k() { "
static const char *const heads[] = {
    "", "kernel k() blocks { Start: ", "kernel k() lockstep { Start: ", STRUCTURED, STRUCTURED};

/* The text up to where the expression stands, which is put there, and the rest; returns where it begins. */
static size_t put_around(struct text *text, const char *frame, const char *what)
{
    const char *hole = strstr(frame, "<>");
    text_put_bytes(text, frame, (size_t)(hole - frame));
    const size_t at = text->length;
    text_put(text, what);
    text_put(text, hole + 2);
    return at;
}

/* ---- deeper than it was read ---- */

static void deepen_expression(void *context, struct ast_expr *expr)
{
    if (expr->kind != EXPR_INT || expr->value != MARKED)
        return;
    expr->kind = EXPR_UNARY;
    expr->unary = UNARY_NOT;
    expr->a = ast_int(context, 1);
}

/* Who changes trees can make them deeper: the check of a tree counts for itself. */
static const char *deepen(struct drawn *d, struct ast_kernel *kernel)
{
    const struct ast_change change = {NULL, deepen_expression, NULL, d->arena};
    struct diag *diag = ARENA_NEW(d->arena, struct diag);
    ast_change_kernel(&change, kernel);
    diag_init(diag, "tree", NULL, 0);
    if (ast_check(kernel, diag))
        return "taken: a tree that is a level too deep";
    return NULL;
}

/* How deep: just deep enough, a few shares less, or too deep by a share, or a level. */
static uint32_t draw_depth(struct drawn *d, bool is_wrong)
{
    if (is_wrong)
        return drawn_below(d, 2) ? MOST + 1 : MOST + LEVEL;
    return drawn_below(d, 4) ? MOST : MOST - drawn_below(d, 3 * LEVEL);
}

const char *limits_nested_expression(struct drawn *d)
{
    const bool is_wrong = drawn_below(d, 2);
    const uint32_t form = drawn_below(d, 5), depth = draw_depth(d, is_wrong);
    struct nested n = nested_begin(d, depth);
    const char *frame;
    n.constant = form == 0;
    n.reduces = form == 2;
    if (form == 0)
        frame = constants[drawn_below(d, sizeof constants / sizeof *constants)];
    else if (form <= 2)
        frame = in_blocks[drawn_below(d, sizeof in_blocks / sizeof *in_blocks)];
    else
        frame = in_bodies[drawn_below(d, sizeof in_bodies / sizeof *in_bodies)];
    const char *expression = draw_expression(&n);
    text_put(&d->text, "shared int s, a[4];\nprivate int p, v[4];\n");
    text_put(&d->text, heads[form]);
    const size_t at = put_around(&d->text, frame, expression) + strspn(expression, "(");
    text_put(&d->text, form == 0 ? "" : form <= 2 ? " goto End; }" : " }");
    if (is_wrong)
        return limits_is_refused(d, "expression is nested more than 200 deep", at);
    struct ast_kernel *kernel;
    const char *why = limits_is_taken(d, &kernel);
    return why || form == 0 || depth != MOST ? why : deepen(d, kernel);
}

/* ---- statements ---- */

/* The place is that of a statement which something governs; what is deepest stands first there. */
static void govern(struct nested *n, const char *left, const char *right)
{
    static const char *const befores[] = {"", "{ ", "{ ; "}, *const behinds[] = {" }", " s = 1; }"};
    const uint32_t before = drawn_below(n->d, n->levels == 1 ? 2 : 3);
    n->bare = before == 0;
    around(n, arena_printf(n->d->arena, "%s%s", left, befores[before]),
           arena_printf(n->d->arena, "%s%s", n->bare ? "" : behinds[drawn_below(n->d, 2)], right));
}

/* Before what is deepest stands nothing that is as deep. */
static void draw_if(struct nested *n)
{
    switch (drawn_below(n->d, n->levels == 1 ? 2 : 3)) {
    case 0:
        govern(n, "if (p) ", "");
        return;
    case 1:
        govern(n, "if (p) ", " else ;");
        return;
    default:
        around(n, "if (p) ; else { ", " }");
    }
}

static void draw_compound(struct nested *n, bool is_if)
{
    /* Braces around what is governed are no level. */
    const uint32_t kind = is_if ? 0 : drawn_below(n->d, n->bare ? 7 : 8);
    n->bare = false;
    n->depth += LEVEL;
    if (kind < 2)
        draw_if(n);
    else if (kind == 2)
        govern(n, "while (p) ", "");
    else if (kind == 3)
        govern(n, "do ", " while (p);");
    else if (kind == 4)
        govern(n, drawn_below(n->d, 2) ? "for (p = 0; p < 2; p++) " : "for (;;) ", "");
    else if (kind == 5)
        around(n, "switch (p) { case 1: ", " }");
    else if (kind == 6 && n->levels > 1)
        around(n, "switch (p) { case 1: ; default: ", " }");
    else if (kind == 7)
        around(n, "{ ", " }");
    else
        around(n, "switch (p) { default: ", " }");
    n->levels--;
}

const char *limits_nested_statement(struct drawn *d)
{
    const bool is_wrong = drawn_below(d, 2);
    /* What stands before it is less deep by a share at least. */
    struct nested n = nested_begin(d, is_wrong ? MOST + 1 : draw_depth(d, false));
    while (n.levels > 0) {
        uint32_t links = n.links > 0 && drawn_once_in(d, 9) ? 1 + drawn_below(d, n.links) : 0;
        links = n.levels == 1 ? n.links : links;
        n.links -= links;
        for (uint32_t i = 0; i < links; i++)
            around(&n, "if (p) ; else ", "");
        draw_compound(&n, links > 0);
    }
    text_put(&d->text, "shared int s;\nprivate int p;\nkernel k() { ");
    const size_t at = d->text.length + n.left.length;
    text_put(&n.left, "s = 1;");
    text_put(&d->text, nested_end(&n));
    text_put(&d->text, " }");
    struct ast_kernel *kernel;
    return is_wrong ? limits_is_refused(d, "statements are nested more than 200 deep", at)
                    : limits_is_taken(d, &kernel);
}
