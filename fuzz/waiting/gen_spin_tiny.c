/*
 * Tiny programs: `length` accesses of one or two places, each with a branch backwards (a loop until a value was
 * seen) or forwards (over some of the rest), or with none: what Sorensen et al. (OOPSLA 2021) synthesise, less
 * branches into loops. All threads run one program, or the first runs another than the rest. With an
 * enumerating source: all of them, each once, shorter ones first.
 */
#include "fuzz/waiting/gen_spin.h"

#include "engine/base/invariant.h"

enum { VARIABLES = 5 };

struct tiny {
    struct gen *g;
    struct text text; /* of the threads' programs */
    uint32_t places;  /* used so far: 1 a, 2 b; the first use is of a */
    bool uses_x;
    uint32_t depth, max_depth; /* y0, y1, ..: one a nesting of retries */
};

/* `variable = place;` or `variable = atomic_exch(place, value);` */
static void put_access(struct tiny *t, const char *variable)
{
    bool second = t->places > 0 && gen_below(t->g, 2);
    const char *place = second ? "b" : "a";
    uint32_t kind = gen_below(t->g, 3);
    t->places |= second ? 2 : 1;
    if (kind == 0)
        text_format(&t->text, "%s = %s;", variable, place);
    else
        text_format(&t->text, "%s = atomic_exch(%s, %u);", variable, place, kind - 1);
}

static void put_store(struct tiny *t)
{
    bool second = t->places > 0 && gen_below(t->g, 2);
    t->places |= second ? 2 : 1;
    text_format(&t->text, "atomic_exch(%s, %u);", second ? "b" : "a", gen_below(t->g, 2));
}

static void put_list(struct tiny *t, uint32_t length);

/* do { list; access } while (x == value); */
static void put_loop(struct tiny *t, uint32_t inside)
{
    t->uses_x = true;
    text_put(&t->text, "do {");
    put_list(t, inside);
    put_access(t, "x");
    text_format(&t->text, "} while (x == %u);", gen_below(t->g, 2));
}

/* access; if (x == value) { list } */
static void put_skip(struct tiny *t, uint32_t inside)
{
    t->uses_x = true;
    put_access(t, "x");
    text_format(&t->text, "if (x == %u) {", gen_below(t->g, 2));
    put_list(t, inside);
    text_put(&t->text, "}");
}

/* do { access; if (y == value) { list } } while (y != value), y a variable that the list leaves alone. */
static void put_retry(struct tiny *t, uint32_t inside)
{
    static const char *const names[VARIABLES] = {"y0", "y1", "y2", "y3", "y4"};
    INVARIANT(t->depth < VARIABLES);
    const char *variable = names[t->depth++];
    if (t->max_depth < t->depth)
        t->max_depth = t->depth;
    text_put(&t->text, "do {");
    put_access(t, variable);
    uint32_t value = gen_below(t->g, 2);
    text_format(&t->text, "if (%s == %u) {", variable, value);
    put_list(t, inside);
    text_format(&t->text, "} } while (%s != %u);", variable, value);
    t->depth--;
}

/* A store; a loop around up to left - 1 others; a skip or a retry around at least one. */
static uint32_t put_statement(struct tiny *t, uint32_t left)
{
    uint32_t inside = 0;
    switch (gen_below(t->g, left > 1 ? 4 : 2)) {
    case 0:
        put_store(t);
        break;
    case 1:
        inside = gen_below(t->g, left);
        put_loop(t, inside);
        break;
    case 2:
        inside = 1 + gen_below(t->g, left - 1);
        put_skip(t, inside);
        break;
    default:
        inside = 1 + gen_below(t->g, left - 1);
        put_retry(t, inside);
        break;
    }
    return 1 + inside;
}

static void put_list(struct tiny *t, uint32_t length)
{
    while (length > 0)
        length -= put_statement(t, length);
}

void spin_write_tiny(struct spin_writing *w, uint32_t length)
{
    struct tiny t = {.g = w->g, .text = text_begin(w->g->arena)};
    /* Of two programs: how long the first one is; 0: there is one. Equal halves first. */
    uint32_t first = (length / 2 + gen_below(w->g, length)) % length;
    if (first > 0) {
        text_format(&t.text, "if (%s == 0) {", w->who);
        put_list(&t, first);
        text_put(&t.text, "} else {");
    }
    put_list(&t, length - first);
    if (first > 0)
        text_put(&t.text, "}");
    text_format(&w->text, "%s int a%s; kernel k() {", w->space, t.places & 2 ? ", b" : "");
    if (t.uses_x)
        text_put(&w->text, "private int x;");
    for (uint32_t i = 0; i < t.max_depth; i++)
        text_format(&w->text, "private int y%u;", i);
    text_format(&w->text, "%s}", t.text.bytes);
}
