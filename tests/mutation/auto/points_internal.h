/*
 * points_internal.h - what the files of the walk share: points.c walks, tree.c tells what libclang knows,
 * replace.c writes the edits of operators and constants.
 */
#ifndef POINTS_INTERNAL_H
#define POINTS_INTERNAL_H

#include "tests/mutation/auto/mutate.h"

#include <clang-c/Index.h>

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
    bool in_loop; /* the relation that comes next is the condition of a loop */
};

struct children {
    CXCursor items[CHILDREN_MAX];
    uint32_t count;
};

/* ---- tree.c ---- */

void tree_children(CXCursor cursor, struct children *children);
struct extent tree_extent(CXCursor cursor);
/* Without parentheses and implicit conversions. */
CXCursor tree_bare(CXCursor cursor);
/* Whether the expression calls what makes texts, or INVARIANT's function; or holds a text. */
bool tree_is_quiet(const struct walker *w, CXCursor cursor, bool texts);
/* The C name of an arithmetic type; NULL: of no such. */
const char *tree_type_name(CXType type);
bool tree_is_pointer(CXType type);
/* Past blanks and the preprocessor's line markers. */
uint32_t tree_skip_blanks(const struct walker *w, uint32_t at);
/* The text of an extent without blanks, cut short. */
void tree_short_text(const struct walker *w, struct extent extent, char text[TEXT_BYTES]);
/* Whether an expression only reads a switch (`switch` lines of the scope) that the ordinary subjects
 * never set. */
bool tree_is_switch(const struct walker *w, CXCursor cursor);
/* The operator behind a left operand: its length in bytes, with what signs follow; its offset in *at. */
uint32_t tree_operator_behind(const struct walker *w, CXCursor left, uint32_t *at);
/* The number of a new point. */
uint32_t tree_add_point(struct walker *w, CXCursor at, const char *operator_name, const char *old,
                        uint32_t count, const char *const *new);

/* ---- replace.c ---- */

struct replacement;
/* Of `length` characters at the operator; NULL: none. */
const struct replacement *replace_find(const char *operator, size_t length);
void replace_operator(struct walker *w, CXCursor cursor, CXCursor left, CXCursor right,
                      const struct replacement *r, uint32_t at, uint32_t length);
void replace_connector(struct walker *w, CXCursor cursor, CXCursor left, CXCursor right,
                       uint32_t at);
void replace_assignment(struct walker *w, CXCursor cursor, CXCursor left, CXCursor right);
void replace_unary(struct walker *w, CXCursor cursor, CXCursor operand);
void replace_constant(struct walker *w, CXCursor cursor, CXCursor parent);

#endif
