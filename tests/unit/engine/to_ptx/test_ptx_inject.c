/* Injected code against the code that it was made from: by the lanes' own control flow, the rules of the
 * branch unit, and where lanes meet. */
#include "engine/input/input.h"
#include "engine/static/ptx_static.h"
#include "engine/to_ptx/ptx_inject.h"
#include "tests/unit/engine/to_ptx/ptx_graphs.h"
#include "tests/unit/shared/many.h"
#include "tests/unit/shared/ptx_mini.h"
#include "tests/unit/shared/ptx_text.h"

#include <glob.h>
#include <stdlib.h>

static const struct ptx_module *random_module(make_shape *make, uint32_t functions, bool leaves)
{
    say_module(make, functions, leaves, false);
    return parse_bytes(graph_text, graph_length);
}

static const struct ptx_module *inject(const struct ptx_module *module)
{
    const char *reason = NULL;
    if (!module) {
        diag_print(&diag, stderr);
        fail_msg("does not parse: %s", graph_text);
    }
    const struct ptx_module *injected = ptx_inject(&arena, module, &reason);
    if (!injected)
        fail_msg("%s in %s", reason, graph_text);
    return injected;
}

/* ---- the same program ---- */

static struct mini_program before, after;
static struct mini_lane alone[MINI_LANES], together[MINI_LANES];
static struct mini_warp warp;

static void start_lanes(struct mini_lane *lanes, uint64_t seed, uint32_t budget)
{
    for (uint32_t l = 0; l < MINI_LANES; l++) {
        memset(&lanes[l], 0, sizeof lanes[l]);
        lanes[l].lane = l;
        lanes[l].seed = seed;
        lanes[l].budget = budget;
    }
}

static void show(const struct ptx_module *injected)
{
    fprintf(stderr, "%s\n%s", graph_text, ptx_print(&arena, injected));
}

static void compare(const struct ptx_module *injected, uint64_t seed, uint32_t lanes)
{
    start_lanes(alone, seed, 60);
    start_lanes(together, seed, 60);
    for (uint32_t l = 0; l < lanes; l++)
        assert_true(mini_thread(&before, &alone[l]));
    mini_warp_init(&warp, &after, together, lanes, seed);
    for (uint32_t steps = 0; !warp.completed && !warp.wrong[0]; steps++) {
        mini_step(&warp);
        if (steps > 200000)
            mini_wrong(&warp, "no end");
    }
    if (warp.own_wrong[0])
        mini_wrong(&warp, warp.own_wrong);
    if (!warp.wrong[0] && warp.depth > 0)
        mini_wrong(&warp, "tokens are left");
    for (uint32_t l = 0; l < lanes && !warp.wrong[0]; l++)
        if (alone[l].length != together[l].length ||
            memcmp(alone[l].trace, together[l].trace, sizeof alone[l].trace) != 0)
            mini_wrong(&warp, "another trace");
    if (warp.wrong[0]) {
        show(injected);
        fail_msg("%s", warp.wrong);
    }
}

static void check_statically(const struct ptx_module *injected)
{
    static const struct ptx_static_options options;
    for (const struct ptx_item *item = injected->items; item; item = item->next) {
        if (item->kind != PTX_ITEM_FUNCTION || !item->u.function->is_entry)
            continue;
        struct ptx_static s = ptx_static_check(&arena, injected, item->u.function, &options);
        if (s.verdict == PTX_STATIC_CONSISTENT && !s.four.clause && !s.rule.clause)
            continue;
        show(injected);
        fail_msg("%s, line %u; %s, line %u; %s, line %u", ptx_static_text(s.why.clause), s.why.line,
                 ptx_static_text(s.four.clause), s.four.line, ptx_static_text(s.rule.clause),
                 s.rule.line);
    }
}

static uint64_t instructions_before, instructions_after;

static void check_modules(make_shape *make, uint32_t modules, uint32_t most_functions)
{
    for (uint32_t n = 0; n < modules; n++) {
        size_t mark = arena_mark(&arena);
        const struct ptx_module *module = random_module(make, below(most_functions + 1), true);
        const struct ptx_module *injected = inject(module);
        mini_assemble(&before, module);
        mini_assemble(&after, injected);
        check_statically(injected);
        instructions_before += before.count;
        instructions_after += after.count;
        for (uint32_t run = 0; run < 6; run++)
            compare(injected, mini_mix(n * 64 + run), 1 + below(MINI_LANES));
        if (n % 16 == 0)
            round_trip(injected);
        arena_release(&arena, mark);
    }
}

static void structured_programs(void **state)
{
    (void)state;
    pcg_seed(&rng, 1, 1);
    check_modules(structured, 2500, 0);
    check_modules(plain, 500, 0);
}

static void reducible_graphs(void **state)
{
    (void)state;
    pcg_seed(&rng, 2, 1);
    check_modules(reducible, 4000, 0);
}

static void functions(void **state)
{
    (void)state;
    pcg_seed(&rng, 3, 1);
    check_modules(structured, 1000, 3);
    check_modules(reducible, 1000, 3);
    print_message("%.2f instructions for one\n",
                  (double)instructions_after / (double)instructions_before);
}

/* ---- where lanes meet ---- */

/* The block with marker k has two successors or more: where its paths meet, by the original graph. */
static uint32_t meets_at[MINI_BLOCKS];

static uint32_t marker_of(const struct ptx_flow *f, uint32_t block)
{
    for (uint32_t i = f->blocks[block].first; i < f->blocks[block].end; i++)
        if (ptx_statement_opcode(f->statements[i]) == PTX_OP_MOV)
            return (uint32_t)f->statements[i]->u.instruction.operands->next->value;
    return OPEN;
}

/* Whether a path from the block to where its paths meet gets to where no path ends, or goes round a loop
 * that holds that place past its header: then some lanes are there an iteration earlier. */
static bool is_late(const struct ptx_graph *g, uint32_t block, uint32_t meet, bool *seen)
{
    if (!g->reaches_end[block])
        return true;
    if (seen[block] || block == meet)
        return false;
    seen[block] = true;
    for (uint32_t e = g->next_first[block]; e < g->next_first[block + 1]; e++) {
        uint32_t to = g->next[e], loop = ptx_graph_headed(g, to);
        bool is_back = g->place[to] <= g->place[block];
        if ((is_back && to != meet && ptx_graph_in_loop(g, loop, meet)) ||
            is_late(g, to, meet, seen))
            return true;
    }
    return false;
}

static void find_meetings(const struct ptx_module *module)
{
    const struct ptx_item *item = module->items;
    while (item->kind != PTX_ITEM_FUNCTION)
        item = item->next;
    const char *reason;
    const struct ptx_flow *f = ptx_flow_build(&arena, item->u.function, &reason);
    const struct ptx_graph *g = &f->graph;
    memset(meets_at, 0xff, sizeof meets_at);
    for (uint32_t b = 0; b < g->count; b++) {
        uint32_t k = marker_of(f, b),
                 meet = g->place[b] == PTX_GRAPH_NONE ? PTX_GRAPH_NONE : g->post_dominator[b];
        while (meet != PTX_GRAPH_NONE && marker_of(f, meet) == OPEN)
            meet = g->post_dominator[meet];
        bool *seen = ARENA_ARRAY(&arena, bool, g->count);
        if (k != OPEN && meet != PTX_GRAPH_NONE && !is_late(g, b, meet, seen) &&
            g->next_first[b + 1] - g->next_first[b] > 1)
            meets_at[k] = marker_of(f, meet);
    }
}

struct meeting {
    uint32_t block, mask;
};

static uint32_t meetings_seen;

/* Lanes that were together at a branch execute the block where its paths meet together, all that have not
 * exited. */
static void check_meetings(const struct ptx_module *injected, uint64_t seed, uint32_t lanes)
{
    static struct meeting expected[1 << 14];
    uint32_t count = 0;
    start_lanes(together, seed, 60);
    mini_warp_init(&warp, &after, together, lanes, seed);
    while (!warp.completed && !warp.wrong[0]) {
        const struct mini_op *op = &after.ops[warp.pc];
        bool is_marker = op->code == PTX_OP_MOV && strcmp(op->i->operands->name, "%m") == 0;
        uint32_t k = is_marker ? (uint32_t)op->i->operands->next->value : OPEN;
        for (uint32_t i = count; is_marker && i-- > 0;) {
            struct meeting *m = &expected[i];
            if (m->block != k || !(m->mask & warp.active))
                continue;
            if (m->mask & ~warp.exited & ~warp.active)
                mini_wrong(&warp, "lanes do not meet");
            meetings_seen++;
            *m = expected[--count];
        }
        uint32_t meet = is_marker ? meets_at[k] : OPEN;
        bool is_new = meet != OPEN;
        for (uint32_t i = 0; i < count && is_new; i++)
            is_new = expected[i].block != meet || expected[i].mask != warp.active;
        if (is_new)
            expected[count++] = (struct meeting){meet, warp.active};
        assert_true(count < sizeof expected / sizeof expected[0]);
        mini_step(&warp);
    }
    if (warp.wrong[0]) {
        show(injected);
        fail_msg("%s", warp.wrong);
    }
}

static void check_reconvergence(make_shape *make, uint32_t modules)
{
    for (uint32_t n = 0; n < modules; n++) {
        size_t mark = arena_mark(&arena);
        const struct ptx_module *module = random_module(make, 0, true);
        const struct ptx_module *injected = inject(module);
        mini_assemble(&after, injected);
        find_meetings(module);
        for (uint32_t run = 0; run < 6; run++)
            check_meetings(injected, mini_mix(n * 64 + run), 1 + below(MINI_LANES));
        arena_release(&arena, mark);
    }
}

static void reconvergence(void **state)
{
    (void)state;
    pcg_seed(&rng, 4, 1);
    check_reconvergence(plain, 500);
    check_reconvergence(structured, 2000);
    check_reconvergence(reducible, 2000);
    assert_true(meetings_seen > 100000);
}

/* ---- graphs by their definitions ---- */

/* Nodes that are reached from `from` without passing `without`. */
static uint32_t reach(const struct shape *g, uint32_t from, uint32_t without)
{
    uint32_t set = from == without ? 0 : 1u << from;
    for (uint32_t old = 0; old != set;) {
        old = set;
        for (uint32_t n = 0; n < g->count; n++)
            for (uint32_t i = 0; set >> n & 1 && i < g->degree[n]; i++)
                if (g->next[n][i] != without)
                    set |= 1u << g->next[n][i];
    }
    return set;
}

static uint32_t ends_of(const struct shape *g)
{
    uint32_t set = 0;
    for (uint32_t n = 0; n < g->count; n++)
        set |= (g->degree[n] == 0 ? 1u : 0u) << n;
    return set;
}

static bool naive_dominates(const struct shape *g, uint32_t d, uint32_t n)
{
    return d == n || !(reach(g, 0, d) >> n & 1);
}

static bool naive_post_dominates(const struct shape *g, uint32_t d, uint32_t n)
{
    return d == n || !(reach(g, n, d) & ends_of(g));
}

/* Its strict dominator that all others dominate. */
static uint32_t naive_immediate(const struct shape *g, uint32_t n, uint32_t among,
                                bool (*dominates)(const struct shape *, uint32_t, uint32_t))
{
    for (uint32_t d = 0; d < g->count; d++) {
        bool good = d != n && among >> d & 1 && dominates(g, d, n);
        for (uint32_t e = 0; e < g->count && good; e++)
            good = e == n || !(among >> e & 1) || !dominates(g, e, n) || dominates(g, e, d);
        if (good)
            return d;
    }
    return PTX_GRAPH_NONE;
}

/* T1 and T2 until nothing changes: one node is left. */
static bool naive_reducible(const struct shape *g)
{
    uint32_t left = reach(g, 0, OPEN), to[32] = {0};
    for (uint32_t n = 0; n < g->count; n++)
        for (uint32_t i = 0; left >> n & 1 && i < g->degree[n]; i++)
            to[n] |= 1u << g->next[n][i];
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t n = 0; n < g->count; n++) {
            to[n] &= ~(1u << n);
            uint32_t sources = 0, source = 0;
            for (uint32_t m = 0; m < g->count; m++)
                if (left >> m & 1 && to[m] >> n & 1) {
                    sources++;
                    source = m;
                }
            if (!(left >> n & 1) || n == 0 || sources != 1)
                continue;
            to[source] = (to[source] & ~(1u << n)) | to[n];
            left &= ~(1u << n);
            changed = true;
        }
    }
    return left == 1;
}

/* The header and what reaches a back edge to it without passing it. 0: no header. */
static uint32_t naive_loop(const struct shape *g, uint32_t header)
{
    uint32_t all = reach(g, 0, OPEN), set = 0;
    for (uint32_t latch = 0; latch < g->count; latch++)
        for (uint32_t i = 0; all >> latch & 1 && i < g->degree[latch]; i++)
            if (g->next[latch][i] == header && naive_dominates(g, header, latch))
                for (uint32_t n = 0; n < g->count; n++)
                    if (n == header || (all >> n & 1 && reach(g, n, header) >> latch & 1))
                        set |= 1u << n;
    return set;
}

static struct ptx_graph *as_graph(const struct shape *s)
{
    struct ptx_graph *g = ARENA_NEW(&arena, struct ptx_graph);
    g->count = s->count;
    g->next_first = ARENA_ARRAY(&arena, uint32_t, s->count + 1);
    g->next = ARENA_ARRAY(&arena, uint32_t, NODES * DEGREE);
    for (uint32_t n = 0; n < s->count; n++) {
        g->next_first[n] = g->edges;
        for (uint32_t i = 0; i < s->degree[n]; i++)
            g->next[g->edges++] = s->next[n][i];
    }
    g->next_first[s->count] = g->edges;
    ptx_graph_analyse(&arena, g);
    return g;
}

static void check_loops(const struct shape *s, const struct ptx_graph *g)
{
    uint32_t loops = 0, all = reach(s, 0, OPEN);
    for (uint32_t h = 0; h < s->count; h++) {
        uint32_t set = all >> h & 1 ? naive_loop(s, h) : 0;
        uint32_t loop = g->place[h] == PTX_GRAPH_NONE ? PTX_GRAPH_NONE : ptx_graph_headed(g, h);
        assert_int_equal(set != 0, loop != PTX_GRAPH_NONE);
        loops += set != 0;
        for (uint32_t n = 0; n < s->count && set; n++)
            assert_int_equal(set >> n & 1, ptx_graph_in_loop(g, loop, n));
    }
    assert_int_equal(loops, g->loop_count);
    for (uint32_t l = 0; l < g->loop_count; l++)
        assert_true(g->loops[l].parent == PTX_GRAPH_NONE || g->loops[l].parent > l);
}

static void check_graph(const struct shape *s)
{
    const struct ptx_graph *g = as_graph(s);
    uint32_t all = reach(s, 0, OPEN), ending = 0;
    for (uint32_t n = 0; n < s->count; n++)
        ending |= (all >> n & 1 && reach(s, n, OPEN) & ends_of(s) ? 1u : 0u) << n;
    assert_int_equal(g->reducible, naive_reducible(s));
    for (uint32_t n = 0; n < s->count; n++) {
        bool reached = all >> n & 1, ends = ending >> n & 1;
        assert_int_equal(g->place[n] != PTX_GRAPH_NONE, reached);
        assert_int_equal(g->reaches_end[n], ends);
        assert_int_equal(g->dominator[n],
                         reached ? naive_immediate(s, n, all, naive_dominates) : PTX_GRAPH_NONE);
        assert_int_equal(g->post_dominator[n],
                         ends ? naive_immediate(s, n, ending, naive_post_dominates)
                              : PTX_GRAPH_NONE);
        for (uint32_t m = 0; m < s->count && reached; m++)
            if (all >> m & 1)
                assert_int_equal(ptx_graph_dominates(g, m, n), naive_dominates(s, m, n));
    }
    if (g->reducible)
        check_loops(s, g);
}

static void graphs(void **state)
{
    (void)state;
    pcg_seed(&rng, 5, 1);
    uint32_t reducible_ones = 0;
    for (uint32_t n = 0; n < 3000; n++) {
        size_t mark = arena_mark(&arena);
        struct shape s = {.count = 1 + below(12)};
        if (chance(30))
            random_reducible(&s, 1 + below(12));
        else
            for (uint32_t edges = below(3 * s.count); edges > 0; edges--)
                connect(&s, below(s.count), below(s.count));
        check_graph(&s);
        reducible_ones += naive_reducible(&s);
        arena_release(&arena, mark);
    }
    assert_true(reducible_ones > 1000 && reducible_ones < 2950);
}

/* ---- files ---- */

/* The graph of a function of which most blocks fall through: block i, at label Li, goes on to the next one; some also
 * go back. */
static void blocks_that_fall_through(void **state)
{
    (void)state;
    enum { BLOCKS = 40 };
    static const char start[] = ".version 8.0\n.target sm_80\n.address_size 32\n"
                                ".entry k ()\n{\n.reg .pred %p;\n.reg .b32 %r;\n";
    for (uint32_t every = 2; every <= BLOCKS; every++) {
        const char *text = start, *reason = NULL;
        for (uint32_t i = 0; i < BLOCKS; i++) {
            text =
                arena_printf(&arena, "%sL%u: mov.u32 %%r, %u;\n", text, (unsigned)i, (unsigned)i);
            if (i % every == every - 1)
                text = arena_printf(&arena, "%s@%%p bra L%u;\n", text, (unsigned)(i + 1 - every));
        }
        text = arena_printf(&arena, "%sexit;\n}\n", text);
        const struct ptx_module *module = parse_bytes(text, strlen(text));
        assert_non_null(module);
        const struct ptx_item *item = module->items;
        while (item->kind != PTX_ITEM_FUNCTION)
            item = item->next;
        const struct ptx_flow *f = ptx_flow_build(&arena, item->u.function, &reason);
        assert_non_null(f);
        const struct ptx_graph *g = &f->graph;
        uint32_t last = BLOCKS % every == 0; /* `exit` is a block of its own behind a branch */
        assert_int_equal(g->count, BLOCKS + last);
        for (uint32_t i = 0; i < g->count; i++) {
            const uint32_t *next = &g->next[g->next_first[i]];
            bool back = i < BLOCKS && i % every == every - 1, goes_on = i + 1 < g->count;
            assert_int_equal(g->next_first[i + 1] - g->next_first[i], goes_on + back);
            if (goes_on)
                assert_int_equal(next[0], i + 1);
            if (back)
                assert_int_equal(next[goes_on], i + 1 - every);
        }
    }
}

static void corpus(void **state)
{
    (void)state;
    glob_t files;
    assert_int_equal(glob(SIMTFUZZ_SOURCE_DIR "/corpus/ptx/*.ptx", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        size_t length, mark = arena_mark(&arena);
        char *bytes =
            parse_read_bytes(&arena, files.gl_pathv[i], PTX_LIMIT_SOURCE_BYTES, &length, &diag);
        assert_non_null(bytes);
        const struct ptx_module *module = parse_bytes(bytes, length);
        graph_length = 0;
        say("%s", files.gl_pathv[i]);
        const struct ptx_module *injected = inject(module);
        const char *once = round_trip(injected);
        check_statically(injected);
        assert_string_equal(once, ptx_print(&arena, inject(injected))); /* is left as it is */
        arena_release(&arena, mark);
    }
    globfree(&files);
}

/* Lines of a file left out, doubled, and moved: what is still a module is refused, or consistent. */
static bool change_lines(const char *bytes, size_t length, char *changed)
{
    const char *lines[4096];
    uint32_t count = 0;
    for (const char *at = bytes; at < bytes + length && count < 4096; at = strchr(at, '\n') + 1) {
        lines[count++] = at;
        if (!strchr(at, '\n'))
            break;
    }
    for (uint32_t n = 1 + below(4); n > 0 && count > 20 && count < 4096; n--) {
        uint32_t from = 12 + below(count - 12), to = 12 + below(count - 12);
        const char *line = lines[from];
        if (chance(60)) { /* take it out */
            memmove(&lines[from], &lines[from + 1], (count - from - 1) * sizeof lines[0]);
            count--;
        }
        if (chance(70)) { /* put it elsewhere */
            to = to > count ? count : to;
            memmove(&lines[to + 1], &lines[to], (count - to) * sizeof lines[0]);
            lines[to] = line;
            count++;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        size_t n = strcspn(lines[i], "\n");
        memcpy(changed, lines[i], n);
        changed += n;
        *changed++ = '\n';
    }
    *changed = 0;
    return count > 20;
}

static void changed_files(void **state)
{
    (void)state;
    static char changed[1 << 18];
    uint32_t modules = 0, refused = 0;
    glob_t files;
    pcg_seed(&rng, 6, 1);
    assert_int_equal(glob(SIMTFUZZ_SOURCE_DIR "/corpus/ptx/*.ptx", 0, NULL, &files), 0);
    for (uint32_t n = 0; n < many(3000); n++) {
        size_t length, mark = arena_mark(&arena);
        char *bytes = parse_read_bytes(&arena, files.gl_pathv[below((uint32_t)files.gl_pathc)],
                                       PTX_LIMIT_SOURCE_BYTES, &length, &diag);
        if (length < sizeof changed / 4 && change_lines(bytes, length, changed)) {
            const char *reason = NULL;
            const struct ptx_module *module = parse_bytes(changed, strlen(changed));
            const struct ptx_module *injected = module ? ptx_inject(&arena, module, &reason) : NULL;
            modules += module != NULL;
            refused += module && !injected;
            graph_length = 0;
            if (module && !injected && strncmp(reason, "injection:", 10) == 0)
                fail_msg("%s in %s", reason, changed);
            if (injected)
                check_statically(injected);
        }
        arena_release(&arena, mark);
    }
    globfree(&files);
    print_message("%u modules, %u refused\n", (unsigned)modules, (unsigned)refused);
    assert_true(modules > many(300) && refused < modules / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graphs),           cmocka_unit_test(blocks_that_fall_through),
        cmocka_unit_test(corpus),           cmocka_unit_test(structured_programs),
        cmocka_unit_test(reducible_graphs), cmocka_unit_test(functions),
        cmocka_unit_test(reconvergence),    cmocka_unit_test(changed_files),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
