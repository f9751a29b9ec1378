/* Generated kernels in block form: reducible, reachable, well-formed, with the shapes promised. */
#include "engine/input/input.h"
#include "tests/unit/shared/support.h"

#include "engine/forms/normalise.h"
#include "fuzz/generate/generate.h"
#include "fuzz/graphs/gen_blocks.h"

#include <stdio.h>

enum { KERNELS = 1500, BLOCKS_MAX = 1024 };

static struct gen_options options_of(const char *features)
{
    struct gen_options options = GEN_DEFAULTS;
    const char *error_at;
    assert_true(gen_parse_features(features, &options.features, &error_at));
    return options;
}

/* The next kernel in block form; NULL: this number has another form. */
static struct ast_kernel *draw(const char *features, uint64_t number)
{
    struct gen_options options = options_of(features);
    struct ast_kernel *kernel = gen_case(&test_arena, 21, number, &options);
    return kernel->form == FORM_BLOCKS ? kernel : NULL;
}

typedef void visitor(const struct ast_kernel *kernel, const struct ast_function *function);

/* Every function of KERNELS cases. */
static void each_function(const char *features, visitor *visit)
{
    uint32_t graphs = 0;
    for (uint64_t i = 0; i < KERNELS; i++) {
        size_t mark = arena_mark(&test_arena);
        const struct ast_kernel *kernel = draw(features, i);
        graphs += kernel != NULL;
        if (kernel)
            visit(kernel, kernel->main);
        for (const struct ast_function *f = kernel ? kernel->functions : NULL; f; f = f->next)
            visit(kernel, f);
        arena_release(&test_arena, mark);
    }
    assert_in_range(graphs, KERNELS / 6, KERNELS / 2);
}

/* ---- text ---- */

static void prints_and_parses(const struct ast_kernel *kernel, const struct ast_function *function)
{
    if (function != kernel->main)
        return;
    struct diag diag;
    diag_init(&diag, "generated", NULL, 0);
    char *text = print_kernel(&test_arena, kernel);
    bool valid = ast_check(kernel, &diag);
    if (valid) {
        diag_init(&diag, "generated", text, strlen(text));
        struct ast_kernel *parsed = parse_kernel(&test_arena, text, strlen(text), &diag);
        if (parsed)
            assert_string_equal(print_kernel(&test_arena, parsed), text);
        valid = parsed != NULL;
    }
    if (!valid) {
        diag_print(&diag, stderr);
        fail_msg("%s", text);
    }
}

static void block_kernels_are_valid(void **state)
{
    (void)state;
    each_function("all", prints_and_parses);
    each_function("graphs", prints_and_parses);
}

/* ---- reducible ---- */

static bool edge[BLOCKS_MAX][BLOCKS_MAX];
static bool gone[BLOCKS_MAX];

static uint32_t build_edges(const struct ast_function *function)
{
    uint32_t count = 0;
    for (struct ast_block *b = function->blocks; b; b = b->next)
        b->mark = count++;
    assert_true(count <= BLOCKS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        memset(edge[i], 0, count);
        gone[i] = false;
    }
    for (const struct ast_block *b = function->blocks; b; b = b->next)
        for (uint32_t i = 0; i < b->target_count; i++)
            if (b->targets[i])
                edge[b->mark][b->targets[i]->mark] = true;
    return count;
}

/* T2: a node with one predecessor is merged into it. T1 goes along: a loop at a node is dropped. */
static bool merge_one(uint32_t count)
{
    for (uint32_t n = 1; n < count; n++) {
        uint32_t sources = 0, source = 0;
        for (uint32_t m = 0; m < count && !gone[n]; m++)
            if (m != n && !gone[m] && edge[m][n]) {
                sources++;
                source = m;
            }
        if (sources != 1)
            continue;
        for (uint32_t m = 0; m < count; m++)
            edge[source][m] |= m != n && edge[n][m];
        edge[source][n] = false;
        gone[n] = true;
        return true;
    }
    return false;
}

/* Hecht and Ullman: reducible (and reachable) exactly if T1 and T2 leave one node. */
static void collapses_to_its_entry(const struct ast_kernel *kernel,
                                   const struct ast_function *function)
{
    uint32_t count = build_edges(function), left = count;
    while (merge_one(count))
        left--;
    if (left != 1)
        fail_msg("%u of %u nodes are left:\n%s", left, count, print_kernel(&test_arena, kernel));
}

static void graphs_are_reducible(void **state)
{
    (void)state;
    each_function("graphs", collapses_to_its_entry);
    each_function("all", collapses_to_its_entry);
}

/* ---- well-formed, Def. 5.1 ---- */

static bool is_private(const struct ast_var *var)
{
    return var->space == SPACE_PRIVATE || var->space == SPACE_LOCAL;
}

static bool reads_private_only(const struct ast_expr *e)
{
    if (!e)
        return true;
    if (e->kind == EXPR_VAR || e->kind == EXPR_INDEX)
        return is_private(e->var) && reads_private_only(e->a);
    return reads_private_only(e->a) && reads_private_only(e->b) && reads_private_only(e->c);
}

/* A guard with its one variable at a value. */
static int32_t eval(const struct ast_expr *e, int32_t value)
{
    switch (e->kind) {
    case EXPR_INT:
        return e->value;
    case EXPR_VAR:
        return value;
    case EXPR_UNARY:
        return ast_eval_unary(e->unary, eval(e->a, value));
    case EXPR_BINARY:
        return ast_eval_binary(e->binary, eval(e->a, value), eval(e->b, value));
    case EXPR_INDEX:
    case EXPR_BUILTIN:
    case EXPR_COND:
    case EXPR_ALL:
    case EXPR_ANY:
        break;
    }
    fail_msg("not a guard that the generator makes");
    return 0;
}

static const struct ast_expr *guard_of(const struct ast_block *block)
{
    bool guarded = block && block->body && block->body->kind == STM_ASSUME;
    return guarded ? block->body->value : NULL;
}

static const struct ast_var *variable_of(const struct ast_expr *e)
{
    if (!e || e->kind == EXPR_VAR)
        return e ? e->var : NULL;
    const struct ast_var *a = variable_of(e->a), *b = variable_of(e->b);
    assert_true(!a || !b || a == b);
    return a ? a : b;
}

/* e and !(e), or so: where one holds the other does not. */
static bool is_negation(const struct ast_expr *a, const struct ast_expr *b)
{
    if (!a || a->kind != EXPR_UNARY || a->unary != UNARY_NOT || !b)
        return false;
    struct ast_stm stms[] = {{.kind = STM_ASSERT, .value = a->a},
                             {.kind = STM_ASSERT, .value = (struct ast_expr *)(uintptr_t)b}};
    const char *texts[2];
    for (uint32_t i = 0; i < 2; i++) {
        struct ast_function function = {.name = "k", .body = &stms[i]};
        struct ast_kernel kernel = {.name = "k", .main = &function};
        texts[i] = print_kernel(&test_arena, &kernel);
    }
    return strcmp(texts[0], texts[1]) == 0;
}

/* WF.3: one of the guards holds, whatever the variable. */
static bool covered(const struct ast_block *block)
{
    if (block->target_count == 2) {
        const struct ast_expr *a = guard_of(block->targets[0]), *b = guard_of(block->targets[1]);
        if (is_negation(a, b) || is_negation(b, a))
            return true;
    }
    const struct ast_var *var = NULL;
    for (uint32_t i = 0; i < block->target_count; i++) {
        const struct ast_var *other = variable_of(guard_of(block->targets[i]));
        if (var && other && var != other)
            return false;
        var = other ? other : var;
    }
    for (int32_t value = -2; value < 8; value++) {
        bool some = block->returns;
        for (uint32_t i = 0; i < block->target_count; i++) {
            const struct ast_expr *guard = guard_of(block->targets[i]);
            some |= !guard || eval(guard, value) != 0;
        }
        if (!some)
            return false;
    }
    return true;
}

static void is_well_formed(const struct ast_kernel *kernel, const struct ast_function *function)
{
    const struct ast_expr *start = guard_of(function->blocks);
    bool good = !start || (start->kind == EXPR_INT && start->value != 0);
    for (const struct ast_block *b = function->blocks; b; b = b->next) {
        good &= reads_private_only(guard_of(b)) && covered(b);
        for (const struct ast_stm *s = b->body ? b->body->next : NULL; s; s = s->next)
            good &= s->kind != STM_ASSUME;
    }
    const char *reason;
    struct location at;
    good &= well_formed(&test_arena, kernel, &reason, &at) == WELL_FORMED;
    if (!good)
        fail_msg("%s", print_kernel(&test_arena, kernel));
}

static void kernels_are_well_formed(void **state)
{
    (void)state;
    each_function("graphs", is_well_formed);
    each_function("all,-illformed", is_well_formed);
}

/* How many kernels the front end refuses, for which clause. */
static uint32_t flaws[3];

static void count_flaws(const struct ast_kernel *kernel, const struct ast_function *function)
{
    const char *reason;
    struct location at;
    if (function == kernel->main && well_formed(&test_arena, kernel, &reason, &at) != WELL_FORMED) {
        assert_memory_equal(reason, "WF.", 3);
        assert_in_range(reason[3], '1', '3');
        flaws[reason[3] - '1']++;
    }
}

static void ill_formed_kernels_are_possible(void **state)
{
    (void)state;
    each_function("graphs,illformed", count_flaws);
    for (uint32_t i = 0; i < 3; i++)
        if (flaws[i] < 20)
            fail_msg("WF.%u: %u", i + 1, flaws[i]);
}

/* ---- shapes ---- */

static struct {
    uint32_t graphs, branches, wide, loops, two_back_edges, shared_last, several_exits;
    uint32_t free_gotos, guarded_heads, self_calls, outs, barriers_in_loops, kinds[STM_KIND_COUNT];
} shapes;

/* What the front end finds of loops; their sort order has no block that is last of two of them
 * unless all back edges of the outer one start in the inner one (CK6). */
static void count_barriers(const struct cfg *cfg)
{
    for (uint32_t b = 0; b < cfg->count; b++)
        for (const struct ast_stm *s = cfg->blocks[b]->body; s; s = s->next)
            shapes.barriers_in_loops += s->kind == STM_BARRIER && cfg->innermost[b] != CFG_NO_LOOP;
}

static void count_loops(const struct ast_function *function)
{
    const char *reason;
    struct location at;
    struct cfg *cfg = cfg_build(&test_arena, function, &reason, &at);
    assert_non_null(cfg);
    cfg_sort(&test_arena, cfg, 0);
    assert_true(cfg_order_valid(cfg));
    count_barriers(cfg);
    for (uint32_t l = 0; l < cfg->loop_count; l++) {
        uint32_t head = cfg->loops[l].head, back = 0, inner = 0, exits = 0;
        for (uint32_t b = 0; b < cfg->count; b++)
            for (uint32_t i = cfg->target_first[b]; i < cfg->target_first[b + 1]; i++) {
                uint32_t to = cfg->targets[i];
                if (!cfg_in_loop(cfg, l, b))
                    continue;
                back += to == head;
                inner += to == head && cfg->innermost[b] != l;
                exits += to == CFG_EXIT || !cfg_in_loop(cfg, l, to);
            }
        const struct ast_expr *guard = guard_of(cfg->blocks[head]);
        shapes.loops++;
        shapes.two_back_edges += back > 1;
        shapes.shared_last += back == inner;
        shapes.several_exits += exits > 1;
        shapes.guarded_heads += guard && guard->kind != EXPR_INT;
    }
}

static void count_shapes(const struct ast_kernel *kernel, const struct ast_function *function)
{
    count_loops(function);
    shapes.graphs += function == kernel->main;
    for (const struct ast_block *b = function->blocks; b; b = b->next) {
        shapes.branches += b->target_count == 2;
        shapes.wide += b->target_count > 2;
        bool is_free = b->target_count > 1;
        for (uint32_t i = 0; i < b->target_count; i++) {
            const struct ast_expr *guard = guard_of(b->targets[i]);
            is_free &= !guard || guard->kind == EXPR_INT;
        }
        shapes.free_gotos += is_free;
        for (const struct ast_stm *s = b->body; s; s = s->next) {
            shapes.kinds[s->kind]++;
            shapes.self_calls += s->kind == STM_CALL && s->function == function;
            shapes.outs += s->outs != NULL;
        }
    }
}

static void shapes_occur(void **state)
{
    (void)state;
    each_function("graphs,barriers,atomics,choices", count_shapes);
    const struct {
        const char *name;
        uint32_t count, least;
    } table[] = {
        {"branch", shapes.branches, 1000},
        {"goto with more than two targets", shapes.wide, 100},
        {"loop", shapes.loops, 300},
        {"several back edges to one head", shapes.two_back_edges, 30},
        {"two loops with one last block", shapes.shared_last, 20},
        {"several exits of a loop", shapes.several_exits, 50},
        {"unguarded targets only", shapes.free_gotos, 50},
        {"head with a guard", shapes.guarded_heads, 50},
        {"barrier", shapes.kinds[STM_BARRIER], 50},
        {"atomic", shapes.kinds[STM_ATOMIC], 30},
        {"havoc", shapes.kinds[STM_HAVOC], 50},
        {"assert", shapes.kinds[STM_ASSERT], 50},
        {"call", shapes.kinds[STM_CALL], 100},
        {"call of the procedure itself", shapes.self_calls, 20},
        {"out-parameter", shapes.outs, 50},
        {"barrier in a loop", shapes.barriers_in_loops, 20},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].count < table[i].least)
            fail_msg("%s: %u in %u graphs", table[i].name, table[i].count, shapes.graphs);
}

/* ---- bounded ---- */

enum { STEPS_MAX = 200000 };

static enum status run(const struct ast_kernel *kernel, uint64_t index)
{
    const char *reason;
    struct program *program =
        program_compile(&test_arena, ast_kernel_copy(&test_arena, kernel), &reason);
    assert_non_null(program);
    struct machine_options options = {0};
    struct machine *machine = machine_new(&test_arena, &semantics_interleave, program, &options);
    struct sched_spec spec = {.kind = SCHED_UNIFORM, .seed = 1, .index = index};
    struct scheduler scheduler;
    sched_start(&scheduler, &spec, machine, &test_arena);
    return machine_run(machine, &scheduler.choices, STEPS_MAX, NULL);
}

/* Every thread ends within bounds; a barrier may not have all threads, an assertion may fail. */
static void block_kernels_terminate_in_bounds(void **state)
{
    (void)state;
    uint32_t count[STATUS_COUNT] = {0};
    for (uint64_t i = 0; i < 3000; i++) {
        size_t mark = arena_mark(&test_arena);
        struct gen_options options =
            options_of("graphs,directions,barriers,atomics,choices,-votes");
        uint32_t hits[W_COUNT] = {0};
        struct source source;
        source_random(&source, 22, i);
        const struct ast_kernel *kernel =
            gen_kernel_counted(&test_arena, &source, &options, hits, NULL);
        if (kernel->form != FORM_BLOCKS)
            kernel = NULL;
        enum status status = kernel ? run(kernel, i) : STATUS_TERMINATED;
        if (status != STATUS_TERMINATED && status != STATUS_ASSERT_FAILS &&
            status != STATUS_BARRIER_DIVERGENCE)
            fail_msg("case %u: %s\n%s", (unsigned)i, status_names[status],
                     print_kernel(&test_arena, kernel));
        if (status == STATUS_BARRIER_DIVERGENCE && hits[W_POSITION_UNIFORM] > 0)
            fail_msg("case %u: not all threads come\n%s", (unsigned)i,
                     print_kernel(&test_arena, kernel));
        count[status] += kernel != NULL;
        arena_release(&test_arena, mark);
    }
    print_message("%u terminated, %u assertions failed, %u barriers diverged\n",
                  count[STATUS_TERMINATED], count[STATUS_ASSERT_FAILS],
                  count[STATUS_BARRIER_DIVERGENCE]);
    assert_true(count[STATUS_TERMINATED] > 500);
    assert_in_range(count[STATUS_BARRIER_DIVERGENCE], 50, 300);
    assert_in_range(count[STATUS_ASSERT_FAILS], 1, 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(block_kernels_are_valid),
        cmocka_unit_test(graphs_are_reducible),
        cmocka_unit_test(kernels_are_well_formed),
        cmocka_unit_test(ill_formed_kernels_are_possible),
        cmocka_unit_test(shapes_occur),
        cmocka_unit_test(block_kernels_terminate_in_bounds),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
