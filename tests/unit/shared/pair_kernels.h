/*
 * pair_kernels.h - random kernels in the tutorial's language (TT.lang), for the tests of pairs: branches,
 * loops and barriers in all places, indices that meet now and then.
 */
#ifndef TESTS_UNIT_PAIR_KERNELS_H
#define TESTS_UNIT_PAIR_KERNELS_H

#include "engine/base/pcg.h"
#include "tests/unit/shared/support.h"

struct writer {
    struct pcg rng;
    char text[4096];
    size_t length;
    uint32_t loops;
    bool barriers;
};

static inline void writer_put(struct writer *w, const char *text)
{
    size_t n = strlen(text);
    assert_true(w->length + n < sizeof w->text);
    memcpy(w->text + w->length, text, n + 1);
    w->length += n;
}

static inline const char *writer_any(struct writer *w, const char *const *list, uint32_t count)
{
    return list[pcg_below(&w->rng, count)];
}

#define WRITER_ANY(w, ...)                                                                         \
    writer_any(w, (const char *const[]){__VA_ARGS__},                                              \
               sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

/* Within the arrays, whatever a havoc puts into x or y. */
static inline const char *random_index(struct writer *w)
{
    return WRITER_ANY(w, "tid", "tid", "tid", "(tid + 1) % 4", "3 - tid", "0", "x & 3", "y & 3",
                      "2");
}

static inline void random_value(struct writer *w)
{
    if (pcg_below(&w->rng, 2)) {
        writer_put(w, WRITER_ANY(w, "tid", "x", "y + 1", "x > y", "1", "tid * 2"));
        return;
    }
    writer_put(w, WRITER_ANY(w, "A[", "B[", "x + A[", "y && B[", "tid < 2 ? y : A["));
    writer_put(w, random_index(w));
    writer_put(w, "]");
}

static inline void random_statement(struct writer *w, uint32_t depth);

static inline void random_list(struct writer *w, uint32_t depth)
{
    uint32_t count = 1 + pcg_below(&w->rng, 3);
    for (uint32_t i = 0; i < count; i++)
        random_statement(w, depth);
}

static inline void random_branch(struct writer *w, uint32_t depth)
{
    writer_put(w, "if (");
    writer_put(
        w, WRITER_ANY(w, "tid < 2", "tid == 0", "x > 0", "A[tid] > 1", "1", "y < x", "tid & 1"));
    writer_put(w, ") { ");
    random_list(w, depth - 1);
    writer_put(w, "} else { ");
    if (pcg_below(&w->rng, 2))
        random_list(w, depth - 1);
    writer_put(w, "} ");
}

static inline void random_loop(struct writer *w, uint32_t depth)
{
    const char *i = arena_printf(&test_arena, "i%u", w->loops++ % 4);
    writer_put(w, arena_printf(&test_arena, "for (%s = 0; %s < %s; %s++) { ", i, i,
                               WRITER_ANY(w, "2", "tid", "3 - tid", "1 + (x & 1)", "B[tid]"), i));
    random_list(w, depth - 1);
    writer_put(w, "} ");
}

static inline void random_statement(struct writer *w, uint32_t depth)
{
    uint32_t roll = pcg_below(&w->rng, 20);
    if (depth > 0 && roll < 3) {
        random_branch(w, depth);
    } else if (depth > 0 && roll < 5) {
        random_loop(w, depth);
    } else if (roll < 9) {
        writer_put(w, w->barriers ? "barrier(); "
                                  : WRITER_ANY(w, "x = tid;", "y = x + 1;", "B[tid] = tid;"));
    } else {
        writer_put(w, WRITER_ANY(w, "x = ", "y = ", "x = ", "A[tid] = ", "A[", "B["));
        if (w->text[w->length - 1] == '[') {
            writer_put(w, random_index(w));
            writer_put(w, "] = ");
        }
        random_value(w);
        writer_put(w, "; ");
    }
}

static inline const char *pair_kernel(uint64_t number, const char *launch, bool barriers)
{
    struct writer *w = ARENA_NEW(&test_arena, struct writer);
    pcg_seed(&w->rng, pcg_splitmix(number), 77);
    w->barriers = barriers;
    writer_put(w, launch);
    writer_put(
        w, "shared int A[4] = {1, 2, 0, 1}, B[4]; private int x, y; kernel k() { private int i0, "
           "i1, i2, i3; ");
    random_list(w, 2);
    random_list(w, 2);
    writer_put(w, "}");
    return w->text;
}

#endif
