/*
 * pairs_tiny.c - the two accounts of a pair of threads (pairs_account.h) of tiny kernels that are drawn for them. Most
 * kernels of campaigns have something that the tutorial's translation does not know, or one defect that hides all
 * others; here each statement of its language is as frequent as the others, and most kernels have a few.
 */
#include "engine/base/pcg.h"
#include "engine/base/text.h"
#include "engine/input/input.h"
#include "engine/subjects/subject.h"
#include "oracle/check/evidence.h"
#include "oracle/pairs/pairs_account.h"
#include "oracle/pairs/pairs_judge.h"

#include <string.h>

enum { PAIRS_SEED = 23, /* tells this draw from others */ KERNELS = 2, STORES = 3, BUDGET = 1500 };

struct tiny_pair {
    struct pcg rng;
    struct text out;
    uint32_t loops; /* around */
    uint32_t focus; /* the place of every other access */
    bool
        writes; /* and nothing is read but private variables: which order finds a race is known then */
};

static uint32_t below(struct tiny_pair *t, uint32_t n)
{
    return pcg_below(&t->rng, n);
}

static const char *one_of(struct tiny_pair *t, const char *const *among, uint32_t count)
{
    return among[below(t, count)];
}

#define ONE_OF(t, among) one_of(t, among, sizeof(among) / sizeof *(among))

/* Of @ a place is made, of $ a private one, of % an expression, of # a small number. */
static void put_template(struct tiny_pair *t, const char *template, uint32_t depth)
{
    static const char *const places[] = {"x",        "y",          "z[0]", "z[1]",
                                         "z[a & 1]", "z[tid & 1]", "z[a]"};
    static const char *const privates[] = {"a", "b", "a", "b", "c", "p[a & 1]", "p[1]"};
    static const char *const simple[] = {"a", "b", "c", "#", "@", "tid", "p[0]", "tid == #"};
    static const char *const expressions[] = {
        "a",        "#",           "@",           "tid",     "% + %",   "% == #",      "!%",
        "(% && %)", "(% || %)",    "(% ? % : %)", "-(%)",    "(a < %)", "@ + a",       "(@ && @)",
        "(@ || a)", "(a ? @ : b)", "(a && z[a])", "% - (#)", "~%",      "(% ? @ : @)", "bid"};
    for (; *template; template ++) {
        if (*template == '@')
            text_put(&t->out, below(t, 2) ? places[t->focus] : ONE_OF(t, places));
        else if (*template == '$')
            text_put(&t->out, ONE_OF(t, privates));
        else if (*template == '#')
            text_format(&t->out, "%u", (unsigned)below(t, 3));
        else if (*template == '%')
            put_template(t, depth > 1 ? ONE_OF(t, simple) : ONE_OF(t, expressions), depth + 1);
        else
            text_format(&t->out, "%c", *template);
    }
}

static void put_statements(struct tiny_pair *t, uint32_t count, uint32_t depth);

static void put_block(struct tiny_pair *t, const char *head, uint32_t depth)
{
    put_template(t, head, 0);
    put_statements(t, depth < 3 ? below(t, 3) : 0, depth + 1);
    text_put(&t->out, "} ");
}

static void put_statement(struct tiny_pair *t, uint32_t depth)
{
    static const char *const plain[] = {
        "@ = #; ",     "@ = %; ",     "$ = @; ",         "$ = %; ",     "havoc($); ",
        "havoc(@); ",  "assert(%); ", "assert(a < 2); ", "barrier(); ", "barrier(); ",
        "a = a + 1; ", "$ = tid; ",   "@ = @ + 1; ",     "; "};
    static const char *const heads[] = {"if (%) { ", "if (tid == #) { ", "if (tid == #) { ",
                                        "if (a == b) { ", "if (!@) { "};
    static const char *const loops[] = {"c = 0; while (c < #) { c = c + 1; ",
                                        "while (a < tid) { a = a + 1; ", "while (@ == 0) { @ = 1; ",
                                        "b = 0; while (b < 1 + tid) { b = b + 1; "};
    static const char *const writes[] = {"@ = #; ", "@ = a; ", "@ = tid; ", "$ = #; ",
                                         "barrier(); "};
    uint32_t kind = below(t, depth < 3 ? 13 : 8);
    if (t->writes) {
        if (kind % 2)
            put_template(t, ONE_OF(t, writes), 0);
        else {
            put_block(t, "if (tid == #) { ", depth);
            if (below(t, 2))
                put_block(t, "else { ", depth);
        }
    } else if (kind < 8) {
        put_template(t, ONE_OF(t, plain), 0);
    } else if (kind < 11 || t->loops > 1) {
        put_block(t, ONE_OF(t, heads), depth);
        if (below(t, 2))
            put_block(t, "else { ", depth);
    } else {
        t->loops++;
        put_block(t, ONE_OF(t, loops), depth);
        t->loops--;
    }
}

static void put_statements(struct tiny_pair *t, uint32_t count, uint32_t depth)
{
    for (; count > 0; count--)
        put_statement(t, depth);
}

const char *pairs_tiny_text(struct arena *arena, uint64_t number)
{
    struct tiny_pair t = {.rng = pcg_derive(number, PCG_SCHEDULE, 82), .out = text_begin(arena)};
    text_format(&t.out,
                "launch(threads = %u, warp = 1, blocks = %u); %s int x, y, z[2]; private int a, b, "
                "p[2]; kernel k() { private int c; ",
                (unsigned)(2 + below(&t, 2)), (unsigned)(1 + below(&t, 2)),
                below(&t, 2) ? "global" : "shared");
    t.focus = below(&t, 5);
    t.writes = below(&t, 4) == 0;
    if (below(&t, 2))
        text_put(&t.out, "a = tid; ");
    put_statements(&t, 1 + below(&t, 4), 0);
    text_put(&t.out, "}");
    return t.out.bytes;
}

/* Another memory behind each barrier; or, for an odd number, it stays. */
static const int32_t *const *draw_stores(struct arena *arena, struct pcg *rng,
                                         const struct program *core)
{
    const int32_t **stores = arena_alloc(arena, STORES, sizeof *stores);
    for (uint32_t i = 0; i < STORES; i++) {
        int32_t *store = ARENA_ARRAY(arena, int32_t, core->private_base + 1);
        for (uint32_t w = 0; w < core->private_base; w++)
            store[w] = (int32_t)pcg_below(rng, 3);
        stores[i] = store;
    }
    return stores;
}

const char *pairs_tiny_differ(struct arena *arena, const char *text, uint64_t number)
{
    struct pcg rng = pcg_derive(number, PCG_SCHEDULE, 83);
    struct forms *forms = forms_new(arena, parse_printed(arena, text));
    const struct program *core = forms_get(forms, PROGRAM_CORE)->program;
    struct tutorial_result results[PAIRS_RUNS];
    const char *reason;
    if (!core)
        return "the kernel has no form of core statements";
    if (!tutorial_applies(arena, core, &reason))
        return "the translation is refused";
    struct pairs_account account = {
        .core = core, .budget_steps = BUDGET, .without_loops = !strstr(text, "while")};
    const uint32_t threads = core->launch.threads, s = pcg_below(&rng, threads),
                   t = (s + 1 + pcg_below(&rng, threads - 1)) % threads,
                   first = threads * pcg_below(&rng, core->launch.blocks);
    account.s = first + s;
    account.t = first + t;
    if (pcg_below(&rng, 2)) {
        account.stores = draw_stores(arena, &rng, core);
        account.store_count = STORES;
    }
    return pairs_account(arena, &account, results);
}

void pairs_tiny_judge(struct checking *c)
{
    struct answer *answer = &c->result->answers[ORACLE_PAIRS];
    uint64_t draw = pcg_splitmix(c->options->seed + PAIRS_SEED);
    size_t mark = arena_mark(c->arena);
    for (uint32_t i = 0; i < KERNELS && c->options->seed != 0; i++) {
        const char *text = pairs_tiny_text(c->arena, draw + i);
        const char *differs = pairs_tiny_differ(c->arena, text, draw + i);
        if (!differs) {
            arena_release(c->arena, mark);
            continue;
        }
        struct divergence *d = ARENA_NEW(c->arena, struct divergence);
        struct evidence e;
        evidence_open(&e, c->arena);
        evidence_string(&e, "kernel", text);
        evidence_string(&e, "differs", differs);
        *d = (struct divergence){.oracle = ORACLE_PAIRS,
                                 .class_name = "account",
                                 .rule = RULE_NONE,
                                 .observable = "end",
                                 .part = "tiny",
                                 .subject = SUBJECT_THREADS,
                                 .evidence = evidence_close(&e),
                                 .drawn = true};
        d->summary = arena_printf(c->arena, "two threads alone of `%s`: %s", text, differs);
        answer_diverge(answer, d);
        return;
    }
}
