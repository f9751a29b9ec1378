/*
 * sequential_drawn.c - kernels whose accesses are known, printed as two threads in sequence and run as that text says:
 * of two threads and one element of each array an assert fails exactly if they race there, or come to barriers apart.
 */
#include "engine/input/input.h"
#include "engine/sequential/sequential.h"
#include "oracle/texts/drawn.h"
#include "oracle/texts/s_run.h"
#include "oracle/texts/texts.h"

enum { SEQUENTIALS = 107, STATEMENTS = 6, PAIRS = 12, LENGTH = 4 };

enum kind { READ, WRITE, ATOMIC, BARRIER };

/* A statement, of threads whose `tid`, or `bid`, is so; an element by its number, or one of the thread's own. */
struct statement {
    enum kind kind;
    bool is_shared, by_block;
    uint32_t own; /* 0: element `number`; 1: tid + number; 2: bid + number */
    uint32_t number, guard;
};

enum { NO_GUARD = 9 };

struct thread {
    uint32_t tid, bid;
};

static struct statement draw_statement(struct pcg *rng)
{
    struct statement s = {.kind = (enum kind)pcg_below(rng, BARRIER + 1)};
    s.is_shared = pcg_below(rng, 3) == 0;
    s.own = pcg_below(rng, 3);
    s.number = pcg_below(rng, 2);
    s.by_block = pcg_below(rng, 2) == 0;
    s.guard = pcg_below(rng, s.kind == BARRIER ? 6 : 3) ? NO_GUARD : pcg_below(rng, 2);
    return s;
}

static const char *write_statement(struct arena *arena, const struct statement *s)
{
    static const char *const own[] = {"", "tid + ", "bid + "};
    const char *place =
        arena_printf(arena, "%s[%s%u]", s->is_shared ? "s" : "g", own[s->own], s->number);
    const char *text = s->kind == READ     ? arena_printf(arena, "a = %s;", place)
                       : s->kind == WRITE  ? arena_printf(arena, "%s = 1;", place)
                       : s->kind == ATOMIC ? arena_printf(arena, "atomic_add(%s, 1);", place)
                                           : "barrier();";
    if (s->guard == NO_GUARD)
        return text;
    return arena_printf(arena, "if (%s == %u) { %s }", s->by_block ? "bid" : "tid", s->guard, text);
}

static bool takes_part(const struct statement *s, struct thread t)
{
    return s->guard == NO_GUARD || (s->by_block ? t.bid : t.tid) == s->guard;
}

static bool touches(const struct statement *s, struct thread t, uint32_t element)
{
    return takes_part(s, t) && s->number + (s->own == 1   ? t.tid
                                            : s->own == 2 ? t.bid
                                                          : 0) ==
                                   element;
}

/* The two accesses race, of one element of each array. */
static bool conflict(const struct statement *s, struct thread a, const struct statement *other,
                     struct thread b, const uint32_t elements[2])
{
    uint32_t element = elements[s->is_shared];
    bool atomics = s->kind == ATOMIC && other->kind == ATOMIC;
    bool reads = s->kind == READ && other->kind == READ;
    return s->is_shared == other->is_shared && !atomics && !reads &&
           (!s->is_shared || a.bid == b.bid) && touches(s, a, element) &&
           touches(other, b, element);
}

/* A barrier that one alone of two threads of a block comes to; or an access of the first, and one of the second with it
 * or behind it, with no barrier of both between. */
static bool fails(const struct statement *s, uint32_t count, struct thread a, struct thread b,
                  const uint32_t elements[2])
{
    uint32_t from = 0;
    for (uint32_t j = 0; j < count; j++) {
        bool barrier = s[j].kind == BARRIER && a.bid == b.bid;
        if (barrier && takes_part(&s[j], a) != takes_part(&s[j], b))
            return true;
        if (barrier && takes_part(&s[j], a))
            from = j + 1;
        for (uint32_t i = from; i <= j && s[j].kind != BARRIER; i++)
            if (s[i].kind != BARRIER && conflict(&s[i], a, &s[j], b, elements))
                return true;
    }
    return false;
}

static enum s_end run(struct arena *arena, const char *text, struct thread a, struct thread b,
                      const uint32_t elements[2])
{
    struct s_run *r = ARENA_NEW(arena, struct s_run);
    r->count = 0;
    r->unknown = false;
    r->shared = "s";
    s_set(r, "tid$1", (int32_t)a.tid);
    s_set(r, "bid$1", (int32_t)a.bid);
    s_set(r, "tid$2", (int32_t)b.tid);
    s_set(r, "bid$2", (int32_t)b.bid);
    s_set(r, "same", a.bid == b.bid);
    s_set(r, "WO_g", (int32_t)elements[0]);
    s_set(r, "WO_s", (int32_t)elements[1]);
    return s_run(r, text);
}

static struct thread draw_thread(struct pcg *rng, uint32_t threads, uint32_t blocks)
{
    uint32_t tid = pcg_below(rng, threads), bid = pcg_below(rng, blocks);
    return (struct thread){tid, bid};
}

/* Two threads that are drawn, and an element of each array. */
static const char *ask(struct arena *arena, const char *printed, const struct statement *s,
                       uint32_t count, struct pcg *rng, uint32_t threads, uint32_t blocks)
{
    struct thread a = draw_thread(rng, threads, blocks), b = draw_thread(rng, threads, blocks);
    uint32_t elements[2] = {0};
    elements[0] = pcg_below(rng, LENGTH - 1);
    elements[1] = pcg_below(rng, LENGTH - 1);
    enum s_end is = a.tid == b.tid && a.bid == b.bid  ? S_IMPOSSIBLE
                    : fails(s, count, a, b, elements) ? S_FAILS
                                                      : S_PASSES,
               end = run(arena, printed, a, b, elements);
    if (end == is)
        return NULL;
    return arena_printf(arena,
                        "sequential: %s, of threads %u of block %u and %u of block %u, "
                        "elements %u and %u",
                        end == S_FAILS     ? "an assert fails that holds"
                        : end == S_PASSES  ? "an assert holds that fails"
                        : end == S_UNKNOWN ? "the text cannot be read"
                                           : "an assumption is wrong",
                        a.tid, a.bid, b.tid, b.bid, elements[0], elements[1]);
}

const char *texts_sequential(struct arena *arena, uint64_t number, const char **text)
{
    struct pcg rng = pcg_derive(number, PCG_KERNEL, SEQUENTIALS);
    struct statement s[STATEMENTS];
    uint32_t count = 1 + pcg_below(&rng, STATEMENTS), threads = 1 + pcg_below(&rng, 3);
    uint32_t blocks = threads == 1 || pcg_below(&rng, 2) ? 2 : 1;
    const char *kernel =
                   arena_printf(arena,
                                "launch(threads = %u, warp = 1, blocks = %u); global int g[%d]; "
                                "shared int s[%d]; private int a; kernel k() {",
                                threads, blocks, LENGTH, LENGTH),
               *reason;
    for (uint32_t i = 0; i < count; i++) {
        s[i] = draw_statement(&rng);
        kernel = arena_printf(arena, "%s %s", kernel, write_statement(arena, &s[i]));
    }
    *text = kernel = arena_printf(arena, "%s }", kernel);
    enum sequential_style style = pcg_below(&rng, 2) ? SEQUENTIAL_TUTORIAL : SEQUENTIAL_BOOGIE;
    const char *printed =
        sequential_print(arena, forms_new(arena, parse_printed(arena, kernel)), style, &reason);
    if (!printed)
        return arena_printf(arena, "sequential: refused, %s", reason);
    for (uint32_t i = 0; i < PAIRS; i++) {
        const char *differs = ask(arena, printed, s, count, &rng, threads, blocks);
        if (differs)
            return differs;
    }
    return NULL;
}
