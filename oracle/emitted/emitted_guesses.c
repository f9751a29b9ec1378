/*
 * emitted_guesses.c - which invariants the program for Boogie guesses of a loop: those of this list, all of them and no
 * others, of a small kernel with one loop, drawn. A guess that is never made leaves open what could be proved, and one
 * that is not true does no harm, so nobody who runs the text sees either (of `prove`: oracle/verdicts/guesses.c).
 */
#include "engine/input/input.h"
#include "engine/sequential/sequential.h"
#include "oracle/drawn/drawn.h"
#include "oracle/emitted/emitted.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LISTED = 1024, STRIDES = 8, TESTS = 4, INDICES = 3, ARRAYS = 2 };

/* An expression of the kernel, and what it is of thread @k; of an index also as it was before the loop. `now` is NULL
 * where memory is read: nothing is guessed of that. */
struct said {
    const char *text, *now, *before;
};

struct array {
    const char *name;
    uint32_t length;
    bool written;
    struct said read[INDICES], changed[INDICES]; /* which elements; by stores and atomics */
    uint32_t reads, changes;
};

struct listing {
    struct drawn *d;
    uint32_t threads, stride_count, test_count;
    uint32_t strides[STRIDES];
    struct said tests[TESTS][2];
    const char *claim, *claimed; /* NULL: none; as the kernel has it */
    struct array arrays[ARRAYS];
    /* what @ and a letter stand for */
    uint32_t k, stride, slice;
    const char *block, *variable, *kind, *array, *compare;
    struct said index, left, right;
    uint32_t count;
    const char *listed[LISTED];
    bool made[LISTED];
};

/* ---- the list ---- */

static void expand(struct listing *l, struct text *text, const char *row)
{
    for (; *row; row++) {
        if (*row != '@') {
            text_put_bytes(text, row, 1);
            continue;
        }
        switch (*++row) {
        case 'k':
            text_format(text, "%" PRIu32, l->k);
            break;
        case 'b':
            text_put(text, l->block);
            break;
        case 'v':
            text_put(text, l->variable);
            break;
        case 'L': /* has accessed */
            text_format(text, "%s_%s", l->kind, l->array);
            break;
        case 'w':
            text_format(text, "WO_%s", l->array);
            break;
        case 's':
            text_format(text, "%" PRIu32 "bv32", l->stride);
            break;
        case 'm':
            text_format(text, "%" PRIu32 "bv32", l->stride - 1);
            break;
        case 'q':
            text_format(text, "%" PRIu32 "bv32", l->slice);
            break;
        case 't':
            text_format(text, "%" PRIu32 "bv32", l->threads);
            break;
        case 'n':
            expand(l, text, l->index.now);
            break;
        case 'f':
            expand(l, text, l->index.before);
            break;
        case 'o':
            text_put(text, l->compare);
            break;
        case 'x':
            expand(l, text, l->left.now);
            break;
        default:
            expand(l, text, l->right.now);
            break;
        }
    }
}

/* `row`: when ==> what. */
static void list(struct listing *l, const char *row)
{
    struct text text = text_begin(l->d->arena);
    expand(l, &text, row);
    for (uint32_t i = 0; i < l->count; i++)
        if (strcmp(l->listed[i], text.bytes) == 0)
            return;
    if (l->count < LISTED)
        l->listed[l->count++] = text.bytes;
}

#define LIST(l, rows)                                                                              \
    for (size_t list_i = 0; list_i < sizeof(rows) / sizeof *(rows); list_i++)                      \
    list(l, (rows)[list_i])

#define IN "at_while1#1$@k ==> "
#define HEAD "at_while1$@k ==> "
#define OUT "!at_while1#1$@k ==> "
#define FRESH "@L && !@L#1 ==> "

static bool is_power(uint32_t n)
{
    return (n & (n - 1)) == 0;
}

static void list_places(struct listing *l)
{
    static const char *const blocks[] = {"Start", "while1", "body1", "done1", "Exit", "End"};
    static const char *const each[] = {
        IN "(dead$@k || at_Start$@k || at_while1$@k || at_body1$@k || at_done1$@k || at_Exit$@k "
           "|| at_End$@k)",
        "true ==> !dies$@k", OUT "dead$@k == dead#1$@k"};
    static const char *const at[] = {IN "!at_@b$@k", "at_@b$@k ==> !dead$@k",
                                     OUT "at_@b$@k == at_@b#1$@k"};
    list(l, "true ==> (!dead$1 && !dead$2)");
    for (l->k = 1; l->k <= 2; l->k++)
        LIST(l, each);
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) {
        l->block = blocks[b];
        list(l, "same && !dead$1 && !dead$2 ==> at_@b$1 == at_@b$2");
        for (l->k = 1; l->k <= 2; l->k++) {
            LIST(l, at);
            if (b != 1)
                list(l, HEAD "!at_@b$@k");
        }
    }
}

static void list_variable(struct listing *l, const char *name)
{
    static const char *const each[] = {
        OUT "@v$@k == @v#1$@k",     IN "bvsle(@v#1$@k, @v$@k)",
        IN "bvsle(@v$@k, @v#1$@k)", IN "bvsle(0bv32, @v$@k)",
        IN "@v$@k != 0bv32",        IN "bvand(@v$@k, bvsub(@v$@k, 1bv32)) == 0bv32"};
    static const char *const both[] = {
        "at_while1$1 && at_while1$2 ==> @v$1 == @v$2",
        "same && at_while1$1 && at_while1$2 ==> @v$1 == @v$2",
        "at_while1#1$1 && at_while1#1$2 ==> @v$1 == @v$2",
        "same && at_while1$1 && at_while1$2 ==> bvsub(@v$1, @v#1$1) == bvsub(@v$2, @v#1$2)",
        "at_while1#1$1 && at_while1$2 ==> bvsle(bvsub(@v$1, @v#1$1), bvsub(@v$2, @v#1$2))",
        "at_while1$1 && at_while1#1$2 ==> bvsle(bvsub(@v$2, @v#1$2), bvsub(@v$1, @v#1$1))"};
    l->variable = name;
    for (l->k = 1; l->k <= 2; l->k++) {
        LIST(l, each);
        for (uint32_t i = 0; i < l->stride_count; i++) {
            l->stride = l->strides[i];
            list(l, is_power(l->stride) ? IN "bvand(bvsub(@v$@k, @v#1$@k), @m) == 0bv32"
                                        : IN "bvurem(bvsub(@v$@k, @v#1$@k), @s) == 0bv32");
        }
    }
    LIST(l, both);
}

static void list_test(struct listing *l, const struct said test[2])
{
    static const char *const compares[] = {"bvslt", "bvsle", "bvsgt", "bvsge"};
    l->left = test[0];
    l->right = test[1];
    for (l->k = 1; l->k <= 2; l->k++) {
        for (size_t i = 0; i < sizeof compares / sizeof *compares; i++) {
            l->compare = compares[i];
            list(l, IN "@o(@x, @y)");
            list(l, HEAD "@o(@x, @y)");
        }
        list(l, IN "(@x != @y)");
        list(l, HEAD "(@x != @y)");
    }
}

static void list_claim(struct listing *l)
{
    l->right.now = l->claim;
    for (l->k = 1; l->k <= 2; l->k++) {
        list(l, IN "@y");
        list(l, HEAD "@y");
    }
}

static void list_index(struct listing *l, struct said index)
{
    static const char *const each[] = {FRESH "@w == @n",      FRESH "@w == @f",
                                       FRESH "bvslt(@w, @n)", FRESH "bvslt(@n, @w)",
                                       FRESH "bvsle(@w, @n)", FRESH "bvsle(@f, @w)"};
    l->index = index;
    LIST(l, each);
    for (uint32_t i = 0; i < l->stride_count; i++) {
        l->stride = l->strides[i];
        list(l, FRESH "bvsle(bvadd(@w, @s), @n)");
        list(l, FRESH "bvurem(@w, @s) == bvurem(@f, @s)");
        list(l, is_power(l->stride) ? FRESH "bvand(bvsub(@w, @f), @m) == 0bv32"
                                    : FRESH "bvurem(bvsub(@w, @f), @s) == 0bv32");
    }
}

static void list_log(struct listing *l, const struct array *array)
{
    static const char *const kinds[] = {"READ", "WRITE", "ATOMIC"};
    static const char *const each[] = {"@L ==> @L#1", "@L ==> false", OUT "@L == @L#1",
                                       FRESH "@w == tid$1", FRESH "bvurem(@w, @t) == tid$1"};
    l->array = array->name;
    l->k = 1;
    for (uint32_t kind = 0; kind < 3; kind++) {
        l->kind = kinds[kind];
        LIST(l, each);
        l->slice = array->length / l->threads;
        if (l->slice > 1)
            list(l, FRESH "bvudiv(@w, @q) == tid$1");
        for (uint32_t i = 0; i < (kind == 0 ? array->reads : array->changes); i++)
            list_index(l, kind == 0 ? array->read[i] : array->changed[i]);
    }
}

/* ---- the kernel ---- */

static uint32_t below(struct listing *l, uint32_t n)
{
    return drawn_below(l->d, n);
}

static void stride(struct listing *l, uint32_t by)
{
    for (uint32_t i = 0; i < l->stride_count; i++)
        if (l->strides[i] == by)
            return;
    if (by > 1)
        l->strides[l->stride_count++] = by;
}

#define SAY(l, ...) arena_printf((l)->d->arena, __VA_ARGS__)

/* a and i are those that the loop changes; b and tid are not. */
static struct said value(struct listing *l)
{
    static const struct said values[] = {{"i", "i$@k", "i#1$@k"},
                                         {"a", "a$@k", "a#1$@k"},
                                         {"b", "b$@k", "b$@k"},
                                         {"tid", "tid$@k", "tid$@k"}};
    if (below(l, 8) == 0)
        return (struct said){below(l, 2) ? "r[i]" : "m", NULL, NULL};
    return values[below(l, 4)];
}

static struct said index_of(struct listing *l)
{
    const struct said one = value(l), two = value(l);
    const uint32_t form = below(l, 6), n = form == 3 ? l->threads : 2 + below(l, 3);
    const bool reads = !one.now || (form != 5 && !two.now);
    if (form < 2)
        return one;
    stride(l, n);
    if (form == 5)
        return (struct said){SAY(l, "%s - %" PRIu32, one.text, n),
                             reads ? NULL : SAY(l, "bvsub(%s, %" PRIu32 "bv32)", one.now, n),
                             reads ? NULL : SAY(l, "bvsub(%s, %" PRIu32 "bv32)", one.before, n)};
    const char *by = form == 3 ? "threads" : SAY(l, "%" PRIu32, n);
    return (struct said){
        SAY(l, "%s * %s + %s", one.text, by, two.text),
        reads ? NULL : SAY(l, "bvadd(bvmul(%s, %" PRIu32 "bv32), %s)", one.now, n, two.now),
        reads ? NULL : SAY(l, "bvadd(bvmul(%s, %" PRIu32 "bv32), %s)", one.before, n, two.before)};
}

static void access(struct listing *l, struct array *array)
{
    const struct said index = index_of(l);
    const uint32_t kind = below(l, index.now ? 3 : 2); /* what an atomic reads comes before it */
    text_format(&l->d->text,
                kind == 0   ? "a = %s[%s]; "
                : kind == 1 ? "%s[%s] = i; "
                            : "atomic_add(%s[%s], i); ",
                array->name, index.text);
    if (index.now && kind == 0)
        array->read[array->reads++] = index;
    if (index.now && kind > 0)
        array->changed[array->changes++] = index;
    array->written |= kind > 0;
}

static void test(struct listing *l, struct said left, struct said right)
{
    l->tests[l->test_count][0] = left;
    l->tests[l->test_count++][1] = right;
}

static struct said number(struct listing *l, uint32_t n)
{
    return (struct said){SAY(l, "%" PRIu32, n), SAY(l, "%" PRIu32 "bv32", n), NULL};
}

static void claim(struct listing *l)
{
    static const char *const compares[] = {"<", "<=", ">", ">="}, *const names[] = {
                                                                      "bvslt", "bvsle", "bvsgt",
                                                                      "bvsge"};
    const struct said left = value(l), right = below(l, 2) ? value(l) : number(l, below(l, 9));
    const uint32_t op = below(l, 6);
    const bool reads = !left.now || !right.now;
    l->claimed = SAY(l, "%s %s %s", left.text, op < 4 ? compares[op] : "&", right.text);
    text_format(&l->d->text, "invariant(%s); ", l->claimed);
    if (reads)
        return;
    if (op < 4) {
        l->claim = SAY(l, "%s(%s, %s)", names[op], left.now, right.now);
        test(l, left, right);
    } else {
        l->claim = SAY(l, "(bvand(%s, %s) != 0bv32)", left.now, right.now);
    }
}

static void draw(struct listing *l)
{
    const uint32_t blocks = 1 + below(l, 2), end = 1 + below(l, 9), by = 1 + below(l, 4);
    l->threads = 2 + below(l, 3);
    l->arrays[0] = (struct array){.name = "g", .length = 1 + below(l, 12)};
    l->arrays[1] = (struct array){.name = "s", .length = 1 + below(l, 12)};
    text_format(
        &l->d->text,
        "launch(threads = %" PRIu32 ", warp = 1, blocks = %" PRIu32 "); global int g[%" PRIu32
        "]; shared int s[%" PRIu32
        "]; global int r[4]; global int m; private int a, b; kernel k() { private int i; i = b; "
        "while (i < %" PRIu32 ") { a = a ^ i; ",
        l->threads, blocks, l->arrays[0].length, l->arrays[1].length, end);
    test(l, (struct said){"i", "i$@k", NULL}, number(l, end));
    if (below(l, 4))
        claim(l);
    const uint32_t more = 2 + below(l, 8);
    if (below(l, 2)) {
        text_format(&l->d->text, "a %s= %" PRIu32 "; ", below(l, 2) ? "-" : "+", more);
        stride(l, more);
    }
    for (uint32_t i = below(l, INDICES + 1); i > 0; i--)
        access(l, &l->arrays[below(l, ARRAYS)]);
    text_format(&l->d->text, below(l, 2) ? "i = i + %" PRIu32 "; } }" : "i += %" PRIu32 "; } }",
                by);
    stride(l, by);
}

/* ---- what is printed ---- */

static const char *compare(struct listing *l, const char *printed)
{
    static const char start[] = "    invariant g", implies[] = " ==> (", flag[] = "{:existential";
    uint32_t made = 0, flags = 0;
    for (const char *at = printed; (at = strstr(at, flag)); at++)
        flags++;
    for (const char *at = printed; (at = strstr(at, start)); made++) {
        char *own;
        (void)strtoul(at + sizeof start - 1, &own, 10);
        const char *end = strchr(own, '\n');
        if (!end || strncmp(own, implies, sizeof implies - 1) != 0)
            return "guesses: the text cannot be read";
        own += sizeof implies - 1;
        const size_t length = (size_t)(end - own) - 2; /* ); */
        uint32_t i = 0;
        while (i < l->count && !(strncmp(l->listed[i], own, length) == 0 && !l->listed[i][length]))
            i++;
        if (i == l->count)
            return SAY(l, "guesses: %.*s is guessed, and on no list", (int)length, own);
        l->made[i] = true;
        at = end;
    }
    for (uint32_t i = 0; i < l->count; i++)
        if (!l->made[i])
            return SAY(l, "guesses: %s is not guessed", l->listed[i]);
    return flags == made ? NULL : "guesses: some have no name, or no text";
}

/* The kernel's own invariant is told in its own words. */
static const char *compare_claim(struct listing *l, const char *printed)
{
    static const char start[] = "// of each thread, where it comes there: invariant ";
    const char *at = strstr(printed, start), *own = at ? at + sizeof start - 1 : NULL;
    const bool right = !at ? !l->claimed
                           : l->claimed && strlen(l->claimed) == strcspn(own, "\n") &&
                                 strncmp(own, l->claimed, strlen(l->claimed)) == 0 &&
                                 !strstr(own, start);
    return right ? NULL : "guesses: the kernel's own invariant is told as another one";
}

const char *emitted_guesses(struct arena *arena, uint64_t number, const char **text)
{
    struct drawn d = drawn_begin(arena, number, DRAWN_GUESSES);
    struct listing *l = ARENA_NEW(arena, struct listing);
    const char *reason;
    *l = (struct listing){.d = &d};
    draw(l);
    *text = d.text.bytes;
    const char *printed = sequential_print(
        arena, forms_new(arena, parse_printed(arena, d.text.bytes)), SEQUENTIAL_BOOGIE, &reason);
    if (!printed)
        return arena_printf(arena, "guesses: refused, %s", reason);
    list_places(l);
    list_variable(l, "i");
    list_variable(l, "a");
    list_variable(l, "cond");
    for (uint32_t i = 0; i < l->test_count; i++)
        list_test(l, l->tests[i]);
    if (l->claim)
        list_claim(l);
    for (uint32_t i = 0; i < ARRAYS; i++)
        if (l->arrays[i].written)
            list_log(l, &l->arrays[i]);
    const char *differs = compare(l, printed);
    return differs ? differs : compare_claim(l, printed);
}
