/*
 * ptx_graphs.h - random control flow as PTX text: reducible graphs, and structured programs with jumps
 * out of their constructs.
 */
#ifndef TESTS_UNIT_PTX_GRAPHS_H
#define TESTS_UNIT_PTX_GRAPHS_H

#include "engine/base/pcg.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct pcg rng;

static uint32_t below(uint32_t bound)
{
    return pcg_below(&rng, bound);
}

static bool chance(uint32_t percent)
{
    return below(100) < percent;
}

/* ---- text ---- */

static char graph_text[1 << 20];
static size_t graph_length;

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(graph_text + graph_length, sizeof graph_text - graph_length, format, args);
    va_end(args);
    assert_true(n >= 0 && graph_length + (size_t)n < sizeof graph_text);
    graph_length += (size_t)n;
}

/* ---- random graphs ---- */

enum { NODES = 48, DEGREE = 4 };

struct shape {
    uint32_t count;
    uint32_t next[NODES][DEGREE], degree[NODES];
};

static void connect(struct shape *g, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < g->degree[from]; i++)
        if (g->next[from][i] == to)
            return;
    if (g->degree[from] < DEGREE)
        g->next[from][g->degree[from]++] = to;
}

/* T2 backwards: n becomes n -> m, which share what n led to. T1 backwards: a loop at n. So every graph is
 * reducible, and every reducible one comes out. */
static void random_reducible(struct shape *g, uint32_t most)
{
    *g = (struct shape){.count = 1};
    while (g->count < most) {
        uint32_t n = below(g->count);
        if (chance(25)) {
            connect(g, n, n);
            continue;
        }
        uint32_t m = g->count++, old[DEGREE], degree = g->degree[n];
        memcpy(old, g->next[n], sizeof old);
        g->degree[n] = 0;
        connect(g, n, m);
        for (uint32_t i = 0; i < degree; i++) {
            uint32_t who = below(3), to = old[i];
            if (who != 1 || g->degree[m] == DEGREE)
                connect(g, n, to == n && chance(50) ? n : to);
            if (who != 0 || g->degree[n] == DEGREE)
                connect(g, m, to);
        }
    }
}

/* ---- structured programs, with jumps out of constructs ---- */

struct building {
    struct shape *g;
    uint32_t out[16], outs; /* where a jump may lead: ends and heads of the constructs around */
    uint32_t most;
    bool jumps;
};

static uint32_t new_node(struct building *b)
{
    return b->g->count++;
}

#define OPEN UINT32_MAX

/* Statements from node `at` on; the node where they end, OPEN: control does not get there. */
static uint32_t statements(struct building *b, uint32_t at, uint32_t depth);

static uint32_t an_if(struct building *b, uint32_t at, uint32_t depth)
{
    bool both = chance(50);
    uint32_t then = new_node(b), other = both ? new_node(b) : OPEN, end = new_node(b);
    connect(b->g, at, then);
    connect(b->g, at, both ? other : end);
    b->out[b->outs++] = end;
    uint32_t x = statements(b, then, depth + 1);
    uint32_t y = both ? statements(b, other, depth + 1) : OPEN;
    b->outs--;
    if (x != OPEN)
        connect(b->g, x, end);
    if (y != OPEN)
        connect(b->g, y, end);
    return end;
}

static uint32_t a_loop(struct building *b, uint32_t at, uint32_t depth)
{
    bool tested_first = chance(60);
    uint32_t head = new_node(b), body = tested_first ? new_node(b) : head, end = new_node(b);
    connect(b->g, at, head);
    if (tested_first) {
        connect(b->g, head, body);
        connect(b->g, head, end);
    }
    b->out[b->outs++] = end;
    b->out[b->outs++] = head;
    uint32_t x = statements(b, body, depth + 1);
    b->outs -= 2;
    if (x != OPEN) {
        connect(b->g, x, head);
        if (!tested_first)
            connect(b->g, x, end);
    }
    return end;
}

static uint32_t a_switch(struct building *b, uint32_t at, uint32_t depth)
{
    uint32_t cases = 2 + below(2), end = new_node(b), from = OPEN;
    if (chance(40))
        connect(b->g, at, end);
    b->out[b->outs++] = end;
    for (uint32_t i = 0; i < cases; i++) {
        uint32_t node = new_node(b);
        connect(b->g, at, node);
        if (from != OPEN)
            connect(b->g, from, chance(50) ? node : end);
        from = statements(b, node, depth + 1);
    }
    b->outs--;
    if (from != OPEN)
        connect(b->g, from, end);
    return end;
}

/* if (x) goto one of the places around; or without the condition. */
static uint32_t a_jump(struct building *b, uint32_t at)
{
    if (b->outs > 0 && chance(85))
        connect(b->g, at, b->out[below(b->outs)]);
    if (chance(20))
        return OPEN;
    uint32_t rest = new_node(b);
    connect(b->g, at, rest);
    return rest;
}

static uint32_t statements(struct building *b, uint32_t at, uint32_t depth)
{
    uint32_t count = below(4);
    for (uint32_t i = 0; i < count && at != OPEN && b->g->count + 8 < b->most && depth < 7; i++) {
        uint32_t kind = below(10);
        if (kind < 4)
            at = an_if(b, at, depth);
        else if (kind < 6)
            at = a_loop(b, at, depth);
        else if (kind < 7)
            at = a_switch(b, at, depth);
        else if (b->jumps)
            at = a_jump(b, at);
    }
    return at;
}

static void random_structured(struct shape *g, uint32_t most, bool jumps)
{
    struct building b = {.g = g, .most = most, .jumps = jumps};
    *g = (struct shape){.count = 1};
    uint32_t at = 0;
    while (g->count < 6 && at != OPEN)
        at = statements(&b, at, 0);
}

/* ---- graphs as PTX ---- */

struct writing {
    uint32_t first;     /* number of the function's first block */
    uint32_t functions; /* that may be called */
    bool leaves;        /* guarded ret and exit, and exit when the budget is used up */
    uint32_t tables;
    bool data; /* guards are computed: see say_data */
};

/* Each block mixes the thread's word of `state`, and decides by its bits; `fuel` blocks are run. */
static void say_data(const struct writing *w, uint32_t k)
{
    if (!w->data) {
        say("mov.u32 %%m, %u;\n", k);
        return;
    }
    say("ld.global.u32 %%h, [%%a];\nxor.b32 %%h, %%h, %u;\nmul.lo.u32 %%h, %%h, -1640531527;\n"
        "shr.u32 %%m, %%h, 15;\nxor.b32 %%h, %%h, %%m;\nst.global.u32 [%%a], %%h;\n",
        k + 1);
    say("ld.global.u32 %%m, [%%a+256];\nsetp.eq.u32 %%s0, %%m, %u;\nadd.u32 %%m, %%m, 1;\n"
        "st.global.u32 [%%a+256], %%m;\n",
        24);
    const char letters[] = "pc";
    for (uint32_t i = 0; i < 2; i++)
        say("and.b32 %%m, %%h, %u;\nsetp.ne.u32 %%%c%u, %%m, 0;\n", 1u << (5 + i), letters[i], k);
    say("and.b32 %%m, %%h, 1792;\nsetp.eq.u32 %%q%u, %%m, 0;\n", k);
    if (w->functions > 0)
        say("mov.u64 %%f%u, f%u;\n@%%p%u mov.u64 %%f%u, f%u;\n", k, below(w->functions), k, k,
            below(w->functions));
}

static void say_calls(const struct writing *w, uint32_t k)
{
    if (w->functions == 0 || chance(70))
        return;
    if (chance(40))
        say("@%s%%c%u ", chance(50) ? "!" : "", k);
    if (chance(60))
        say("call.uni f%u;\n", below(w->functions));
    else
        say("call %%f%u;\n", k);
}

static void say_leaves(const struct writing *w, uint32_t k)
{
    if (!w->leaves)
        return;
    say("@%%s0 exit;\n");
    if (chance(15))
        say("@%s%%q%u %s;\n", chance(10) ? "!" : "", k, chance(70) ? "ret" : "exit");
}

/* All edges by a table; the one to the next block perhaps by a guard. */
static void say_table(struct writing *w, const struct shape *g, uint32_t node, bool next_follows,
                      uint32_t next)
{
    uint32_t k = w->first + node;
    bool guarded = next_follows && chance(50);
    uint32_t entries = 0;
    say("T%u: .branchtargets", ++w->tables);
    for (uint32_t i = 0; i < g->degree[node]; i++)
        if (!guarded || g->next[node][i] != next || chance(20) || g->degree[node] == 1)
            say("%s B%u", entries++ ? "," : "", w->first + g->next[node][i]);
    if (entries == 0)
        say(" B%u", w->first + next);
    say(";\n");
    if (w->data)
        say("shr.u32 %%i%u, %%h, 20;\nrem.u32 %%i%u, %%i%u, %u;\n", k, k, k, entries ? entries : 1);
    if (guarded)
        say("@%%p%u ", k);
    say("brx.idx %%i%u, T%u;\n", k, w->tables);
}

static void say_block(struct writing *w, const struct shape *g, uint32_t node, uint32_t next)
{
    uint32_t k = w->first + node, degree = g->degree[node];
    const uint32_t *to = g->next[node];
    say("B%u:\n", k);
    say_data(w, k);
    say_leaves(w, k);
    say_calls(w, k);
    bool follows = false;
    for (uint32_t i = 0; i < degree; i++)
        follows |= to[i] == next;
    if (degree == 0) {
        if (next != OPEN || chance(70))
            say(chance(80) ? "ret;\n" : "exit;\n");
    } else if (degree == 1) {
        if (to[0] != next || chance(20))
            say("bra%s B%u;\n", chance(30) ? ".uni" : "", w->first + to[0]);
    } else if (degree > 2 || chance(10)) {
        say_table(w, g, node, follows, next);
    } else {
        uint32_t other = to[1] == next ? to[1] : to[0], taken = other == to[1] ? to[0] : to[1];
        say("@%s%%p%u bra B%u;\n", chance(50) ? "!" : "", k, w->first + taken);
        if (other != next)
            say("bra B%u;\n", w->first + other);
    }
}

/* The blocks in some order, the first one first. */
static void say_function(struct writing *w, const struct shape *g)
{
    uint32_t order[NODES];
    bool mixed = chance(50);
    for (uint32_t i = 0; i < g->count; i++) {
        uint32_t at = mixed && i > 1 ? 1 + below(i) : i;
        memmove(&order[at + 1], &order[at], (i - at) * sizeof order[0]);
        order[at] = i;
    }
    say("{\n.reg .pred %%p<512>;\n.reg .pred %%q<512>;\n.reg .pred %%c<512>;\n.reg .pred %%s<1>;\n"
        ".reg .b32 %%i<512>;\n.reg .b32 %%m;\n.reg .b64 %%f<512>;\n");
    if (w->data)
        say(".reg .b32 %%h;\n.reg .b64 %%a, %%b;\nmov.u32 %%m, %%tid.x;\n"
            "mul.wide.u32 %%a, %%m, 4;\nmov.u64 %%b, state;\nadd.u64 %%a, %%a, %%b;\n");
    for (uint32_t i = 0; i < g->count; i++)
        say_block(w, g, order[i], i + 1 < g->count ? order[i + 1] : OPEN);
    say("}\n");
}

static const char head[] = ".version 8.0\n.target sm_80\n.address_size 64\n";

typedef void make_shape(struct shape *g, uint32_t most);

static void structured(struct shape *g, uint32_t most)
{
    random_structured(g, most, true);
}

static void plain(struct shape *g, uint32_t most)
{
    random_structured(g, most, false);
}

static void reducible(struct shape *g, uint32_t most)
{
    random_reducible(g, 1 + below(most));
}

/* A module of random functions f0, f1, .. and an entry. */
static void say_module(make_shape *make, uint32_t functions, bool leaves, bool data)
{
    struct writing w = {.functions = functions, .leaves = leaves, .data = data};
    struct shape g;
    graph_length = 0;
    if (data)
        say("// simtfuzz: threads=%u warp=8\n", 1 + below(16));
    say("%s", head);
    if (data)
        say(".global .u32 state[128];\n");
    for (uint32_t f = 0; f < functions; f++)
        say(".func f%u ()\n;\n", f);
    for (uint32_t f = 0; f <= functions; f++) {
        make(&g, functions ? 20 : 40);
        say(f < functions ? ".func f%u ()\n" : ".entry k%u ()\n", f);
        say_function(&w, &g);
        w.first += g.count;
    }
}

#endif
