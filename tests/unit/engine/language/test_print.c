/* Printing: canonical texts, and text -> tree -> text is a fixpoint with equal trees. */
#include "engine/base/pcg.h"
#include "engine/input/input.h"
#include "engine/language/print.h"
#include "tests/unit/engine/language/tree_equal.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct arena arena;
static struct diag diag;

static int setup(void **state)
{
    (void)state;
    return arena_init(&arena, 256 << 20);
}

static int teardown(void **state)
{
    (void)state;
    arena_destroy(&arena);
    return 0;
}

static struct ast_kernel *parse(const char *text)
{
    diag_init(&diag, "text", text, strlen(text));
    struct ast_kernel *kernel = parse_kernel(&arena, text, strlen(text), &diag);
    if (!kernel) {
        diag_print(&diag, stderr);
        fail_msg("does not parse: %s", text);
    }
    return kernel;
}

/* The tree prints to a text that parses to an equal tree and prints the same. */
static const char *round_trip(const struct ast_kernel *kernel)
{
    const char *text = print_kernel(&arena, kernel);
    const struct ast_kernel *again = parse(text);
    if (!kernel_equal(kernel, again))
        fail_msg("another tree after: %s", text);
    assert_string_equal(print_kernel(&arena, again), text);
    return text;
}

/* ---- expressions: minimal parentheses ---- */

static void expressions(void **state)
{
    (void)state;
    static const struct {
        const char *source, *text;
    } table[] = {
        {"a+b*c", "a + b * c"},
        {"(a+b)*c", "(a + b) * c"},
        {"a-(b-c)", "a - (b - c)"},
        {"(a-b)-c", "a - b - c"},
        {"a+(b+c)", "a + (b + c)"},
        {"a<<b+c", "a << b + c"},
        {"(a<<b)+c", "(a << b) + c"},
        {"a&b==c", "a & b == c"},
        {"(a&b)==c", "(a & b) == c"},
        {"a|b^c&d", "a | b ^ c & d"},
        {"((a|b)^c)&d", "((a | b) ^ c) & d"},
        {"a||b&&c", "a || b && c"},
        {"(a||b)&&c", "(a || b) && c"},
        {"a<b==c>d", "a < b == c > d"},
        {"a<(b==c)", "a < (b == c)"},
        {"a?b:c?d:a", "a ? b : c ? d : a"},
        {"(a?b:c)?d:a", "(a ? b : c) ? d : a"},
        {"a?b?c:d:a", "a ? b ? c : d : a"},
        {"(a?b:c)+1", "(a ? b : c) + 1"},
        {"-a", "-a"},
        {"- -a", "- -a"},
        {"- - -a", "- - -a"},
        {"-~-a", "-~-a"},
        {"-(a+b)", "-(a + b)"},
        {"!(!a)", "!!a"},
        {"~(a)", "~a"},
        {"-5", "-5"},
        {"-(5)", "-(5)"},
        {"- -5", "-(-5)"},
        {"-(-(5))", "- -(5)"},
        {"~-5", "~-5"},
        {"a- -5", "a - -5"},
        {"a- -b", "a - -b"},
        {"a-(-b)", "a - -b"},
        {"-5*a", "-5 * a"},
        {"(-a)*b", "-a * b"},
        {"-(a*b)", "-(a * b)"},
        {"2147483647", "2147483647"},
        {"2147483648", "-2147483648"},
        {"-2147483648", "-2147483648"},
        {"0xffffffff", "-1"},
        {"4294967295", "-1"},
        {"0x7F", "127"},
        {"v[v[a+1]]", "v[v[a + 1]]"},
        {"(((a)))", "a"},
        {"tid+threads*lane/warp%warp_size-bid+blocks",
         "tid + threads * lane / warp % warp_size - bid + blocks"},
        {"a!=b<=c>=d>>1", "a != b <= c >= d >> 1"},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        const char *source = arena_printf(
            &arena, "shared int a, b, c, d, v[4];\nkernel k() { a = %s; }", table[i].source);
        const struct ast_kernel *kernel = parse(source);
        assert_string_equal(print_expr(&arena, kernel->main->body->value), table[i].text);
        round_trip(kernel);
    }
}

/* ---- statements: one line as traces show it ---- */

static const char declarations[] = "shared int x, y, a[8];\n"
                                   "private int p, q[2];\n"
                                   "void f() { }\n"
                                   "int g(int i, int j) { return i + j; }\n";

static void heads(void **state)
{
    (void)state;
    static const struct {
        const char *source, *text;
    } table[] = {
        {";", ";"},
        {"skip;", ";"},
        {"x=1;", "x = 1;"},
        {"x++;", "x += 1;"},
        {"a[x]--;", "a[x] -= 1;"},
        {"x+=2;", "x += 2;"},
        {"x-=2;", "x -= 2;"},
        {"x*=2;", "x *= 2;"},
        {"x^=2;", "x ^= 2;"},
        {"x|=2;", "x |= 2;"},
        {"x&=2;", "x &= 2;"},
        {"f();", "f();"},
        {"g(1,2);", "g(1, 2);"},
        {"p=g(x,a[1]);", "p = g(x, a[1]);"},
        {"q[1]=g(1,(2));", "q[1] = g(1, 2);"},
        {"{x=1;}", "{ ... }"},
        {"if(tid==0)x=1;", "if (tid == 0) ..."},
        {"while(x>0){}", "while (x > 0) ..."},
        {"do x--; while(x);", "do ... while (x);"},
        {"for(p=0;p<8;p++)a[p]=0;", "for (p = 0; p < 8; p += 1) ..."},
        {"for(;;)break;", "for (;;) ..."},
        {"for(;x;)break;", "for (; x;) ..."},
        {"for(f();;g(1,2))break;", "for (f();; g(1, 2)) ..."},
        {"switch(x){}", "switch (x) ..."},
        {"return;", "return;"},
        {"exit;", "exit;"},
        {"barrier();", "barrier();"},
        {"sync(1,threads);", "sync(1, threads);"},
        {"arrive(x+1,32);", "arrive(x + 1, 32);"},
        {"atomic_add(x,1);", "atomic_add(x, 1);"},
        {"p=atomic_min(a[0],1);", "p = atomic_min(a[0], 1);"},
        {"atomic_max(x,1);", "atomic_max(x, 1);"},
        {"atomic_and(x,1);", "atomic_and(x, 1);"},
        {"atomic_or(x,1);", "atomic_or(x, 1);"},
        {"atomic_exch(x,1);", "atomic_exch(x, 1);"},
        {"y=atomic_cas(x,0,1);", "y = atomic_cas(x, 0, 1);"},
        {"p=vote_all(x);", "p = vote_all(x);"},
        {"p=vote_any(x);", "p = vote_any(x);"},
        {"p=vote_uni(x);", "p = vote_uni(x);"},
        {"q[0]=vote_ballot(x>1);", "q[0] = vote_ballot(x > 1);"},
        {"assert(x);", "assert(x);"},
        {"assume(!x);", "assume(!x);"},
        {"havoc(a[x]);", "havoc(a[x]);"},
        {"membar();", "membar();"},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        const char *source =
            arena_printf(&arena, "%skernel k() { %s }", declarations, table[i].source);
        const struct ast_kernel *kernel = parse(source);
        assert_string_equal(print_stm_head(&arena, kernel->main->body), table[i].text);
        round_trip(kernel);
    }
}

/* ---- whole kernels ---- */

static void structured_kernel(void **state)
{
    (void)state;
    static const char source[] =
        "launch(warp=2,threads=8,seed=0xfeed);\n"
        "shared int x=-3,a[4]={1,2*3,-1}; global input int in[2]; private int p;\n"
        "int g(int i,int j){private int v[2]={1};v[0]=i;return v[0]+j;}\n"
        "void f(){}\n"
        "kernel k(){private int n;\n"
        "if(x)x=1;else if(p){x=2;x=3;}else{}\n"
        "if(x){if(p)x=1;}else x=2;\n"
        "while(x){{x=1;}}\n"
        "while(x){{x=1;}{x=2;{}}}\n"
        "do if(p)break;else continue;while(1);\n"
        "for(n=0;n<2;n++);\n"
        "switch(n){case 1:case -1:x=1;break;case 2:{x=2;}default:x=3;}\n"
        "switch(n){default:}\n"
        "n=g(1,2);f();exit;}\n"
        "expect race x,terminates;expect simt:then-first:nonterminating;\n"
        "expect threads : final x==-3,final a=={1,2,3,4},final in=={7,-8},call_depth;\n";
    static const char text[] = "launch(threads=8, warp=2, blocks=1, seed=0xfeed);\n"
                               "\n"
                               "shared int x = -3;\n"
                               "shared int a[4] = {1, 6, -1};\n"
                               "global input int in[2];\n"
                               "private int p;\n"
                               "\n"
                               "int g(int i, int j)\n"
                               "{\n"
                               "    private int v[2] = {1};\n"
                               "    v[0] = i;\n"
                               "    return v[0] + j;\n"
                               "}\n"
                               "\n"
                               "void f()\n"
                               "{\n"
                               "}\n"
                               "\n"
                               "kernel k()\n"
                               "{\n"
                               "    private int n;\n"
                               "    if (x) {\n"
                               "        x = 1;\n"
                               "    } else if (p) {\n"
                               "        x = 2;\n"
                               "        x = 3;\n"
                               "    } else {\n"
                               "    }\n"
                               "    if (x) {\n"
                               "        if (p) {\n"
                               "            x = 1;\n"
                               "        }\n"
                               "    } else {\n"
                               "        x = 2;\n"
                               "    }\n"
                               "    while (x) {\n"
                               "        x = 1;\n"
                               "    }\n"
                               "    while (x) {\n"
                               "        {\n"
                               "            x = 1;\n"
                               "        }\n"
                               "        {\n"
                               "            x = 2;\n"
                               "            {\n"
                               "            }\n"
                               "        }\n"
                               "    }\n"
                               "    do {\n"
                               "        if (p) {\n"
                               "            break;\n"
                               "        } else {\n"
                               "            continue;\n"
                               "        }\n"
                               "    } while (1);\n"
                               "    for (n = 0; n < 2; n += 1) {\n"
                               "        ;\n"
                               "    }\n"
                               "    switch (n) {\n"
                               "    case 1:\n"
                               "    case -1:\n"
                               "        x = 1;\n"
                               "        break;\n"
                               "    case 2:\n"
                               "        {\n"
                               "            x = 2;\n"
                               "        }\n"
                               "    default:\n"
                               "        x = 3;\n"
                               "    }\n"
                               "    switch (n) {\n"
                               "    default:\n"
                               "    }\n"
                               "    n = g(1, 2);\n"
                               "    f();\n"
                               "    exit;\n"
                               "}\n"
                               "\n"
                               "expect race x, terminates;\n"
                               "expect simt:then-first: nonterminating;\n"
                               "expect threads: final x == -3, final a == {1, 2, 3, 4}, "
                               "final in == {7, -8}, call_depth;\n";
    assert_string_equal(round_trip(parse(source)), text);
}

static void block_kernel(void **state)
{
    (void)state;
    static const char source[] =
        "shared int x;kernel k()blocks{Start:x=1;skip;barrier();goto A,B,End;A:goto End;"
        "B:x++;goto Start;}expect race_free;";
    static const char text[] = "launch(threads=4, warp=4, blocks=1);\n"
                               "\n"
                               "shared int x;\n"
                               "\n"
                               "kernel k() blocks\n"
                               "{\n"
                               "    Start:\n"
                               "        x = 1;\n"
                               "        ;\n"
                               "        barrier();\n"
                               "        goto A, B, End;\n"
                               "    A:\n"
                               "        goto End;\n"
                               "    B:\n"
                               "        x += 1;\n"
                               "        goto Start;\n"
                               "}\n"
                               "\n"
                               "expect race_free;\n";
    assert_string_equal(round_trip(parse(source)), text);
}

/* ---- every kernel of the corpus ---- */

static uint32_t round_trip_folder(const char *folder)
{
    uint32_t kernels = 0;
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        size_t mark = arena_mark(&arena), length = 0;
        const char *path = arena_printf(&arena, "%s/%s", folder, entry->d_name);
        const char *dot = strrchr(entry->d_name, '.');
        if (entry->d_name[0] != '.' && !dot)
            kernels += round_trip_folder(path);
        if (dot && strcmp(dot, ".simt") == 0) {
            const char *text = parse_read_file(&arena, path, &length, &diag);
            assert_non_null(text);
            round_trip(parse(text));
            kernels++;
        }
        arena_release(&arena, mark);
    }
    if (entries)
        closedir(entries);
    return kernels;
}

static void corpus(void **state)
{
    (void)state;
    assert_true(round_trip_folder(SIMTFUZZ_SOURCE_DIR "/corpus") > 0);
}

/* ---- trees that no text gave: random, within the limits ---- */

struct maker {
    struct pcg rng;
    struct ast_var *scalars[2], *array;
};

static struct ast_expr *make_expr(struct maker *m, uint32_t depth)
{
    static const int32_t values[] = {0, 1, -1, 7, INT32_MIN, INT32_MAX};
    switch (depth == 0 ? pcg_below(&m->rng, 3) : pcg_below(&m->rng, 9)) {
    case 0:
        return ast_int(&arena, values[pcg_below(&m->rng, COUNT(values))]);
    case 1:
        return ast_var_ref(&arena, m->scalars[pcg_below(&m->rng, 2)]);
    case 2:
        return ast_builtin_ref(&arena, (enum ast_builtin)pcg_below(&m->rng, BUILTIN_COUNT));
    case 3:
        return ast_index(&arena, m->array, make_expr(m, depth - 1));
    case 4:
    case 5:
        return ast_unary(&arena, (enum ast_unary)pcg_below(&m->rng, 3), make_expr(m, depth - 1));
    case 6:
        return ast_cond(&arena, make_expr(m, depth - 1), make_expr(m, depth - 1),
                        make_expr(m, depth - 1));
    default:
        return ast_binary(&arena, (enum ast_binary)pcg_below(&m->rng, BINARY_COUNT),
                          make_expr(m, depth - 1), make_expr(m, depth - 1));
    }
}

static struct ast_stm *make_stms(struct maker *m, uint32_t depth);

static struct ast_stm *make_part(struct maker *m, uint32_t depth)
{
    struct ast_stm *list = make_stms(m, depth);
    if (list && !list->next && pcg_below(&m->rng, 2))
        return list;
    struct ast_stm *block = ast_stm(&arena, STM_BLOCK, (struct location){0, 0});
    block->body = list;
    return block;
}

static struct ast_stm *make_stm(struct maker *m, uint32_t depth)
{
    static const enum ast_stm_kind kinds[] = {STM_SKIP,  STM_ASSIGN, STM_BLOCK, STM_IF,
                                              STM_WHILE, STM_DO,     STM_SWITCH};
    enum ast_stm_kind kind = kinds[depth == 0 ? pcg_below(&m->rng, 2) : pcg_below(&m->rng, 7)];
    struct ast_stm *stm = ast_stm(&arena, kind, (struct location){0, 0});
    if (kind == STM_ASSIGN) {
        stm->op = (enum ast_assign_op)pcg_below(&m->rng, ASSIGN_COUNT);
        stm->target.var = m->scalars[0];
    }
    if (kind == STM_BLOCK)
        stm->body = make_stms(m, depth - 1);
    else if (kind != STM_SKIP)
        stm->value = make_expr(m, 3);
    if (kind == STM_IF || kind == STM_WHILE || kind == STM_DO)
        stm->body = make_part(m, depth - 1);
    if (kind == STM_IF && pcg_below(&m->rng, 2))
        stm->other = make_part(m, depth - 1);
    if (kind == STM_SWITCH) {
        stm->cases = ARENA_NEW(&arena, struct ast_case);
        stm->cases->is_default = pcg_below(&m->rng, 2);
        stm->cases->body = make_stms(m, depth - 1);
    }
    return stm;
}

static struct ast_stm *make_stms(struct maker *m, uint32_t depth)
{
    struct ast_stm *list = NULL;
    for (uint32_t n = pcg_below(&m->rng, 3); n > 0; n--)
        ast_stm_append(&list, make_stm(m, depth));
    return list;
}

static struct ast_kernel *make_kernel(struct maker *m)
{
    struct ast_kernel *kernel = ARENA_NEW(&arena, struct ast_kernel);
    m->scalars[0] = ast_var(&arena, "x", SPACE_SHARED, 1, false);
    m->scalars[1] = ast_var(&arena, "y", SPACE_GLOBAL, 1, false);
    m->array = ast_var(&arena, "v", SPACE_PRIVATE, 4, true);
    kernel->name = "k";
    kernel->launch = AST_DEFAULT_LAUNCH;
    ast_var_append(&kernel->vars, m->scalars[0]);
    ast_var_append(&kernel->vars, m->scalars[1]);
    ast_var_append(&kernel->vars, m->array);
    kernel->main = ARENA_NEW(&arena, struct ast_function);
    kernel->main->name = "k";
    return kernel;
}

static void random_trees(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 3000; i++) {
        size_t mark = arena_mark(&arena);
        struct maker m = {.rng = pcg_derive(7, PCG_KERNEL, i)};
        struct ast_kernel *kernel = make_kernel(&m);
        kernel->main->body = make_stms(&m, 4);
        struct ast_stm *last =
            ast_assign(&arena, m.scalars[0], NULL, make_expr(&m, 5), (struct location){0, 0});
        ast_stm_append(&kernel->main->body, last);
        assert_true(ast_check(kernel, NULL));
        round_trip(kernel);
        arena_release(&arena, mark);
    }
}

/* The deepest trees that are legal print to texts that are legal. */
static void deepest_trees(void **state)
{
    (void)state;
    for (uint32_t kind = 0; kind < 8; kind++) {
        struct maker m = {.rng = pcg_derive(7, PCG_KERNEL, kind)};
        struct ast_kernel *kernel = make_kernel(&m);
        struct ast_expr *expr = ast_var_ref(&arena, m.scalars[0]);
        struct ast_stm *body = ast_stm(&arena, STM_SKIP, (struct location){0, 0});
        for (uint32_t i = 1; i < LIMIT_DEPTH; i++) {
            struct ast_expr *leaf = ast_int(&arena, 3), *other = ast_int(&arena, 5);
            struct ast_expr *const shapes[] = {
                ast_unary(&arena, UNARY_NEG, expr),
                ast_binary(&arena, BINARY_SUB, leaf, expr),
                ast_binary(&arena, BINARY_SUB, expr, leaf),
                ast_cond(&arena, expr, leaf, other),
                ast_cond(&arena, leaf, expr, other),
                ast_cond(&arena, leaf, other, expr),
                ast_index(&arena, m.array, expr),
                i % 2 ? ast_cond(&arena, expr, leaf, other) : ast_unary(&arena, UNARY_NEG, expr),
            };
            expr = shapes[kind];
            struct ast_stm *outer = ast_stm(&arena,
                                            kind < 3   ? STM_IF
                                            : kind < 6 ? STM_DO
                                                       : STM_BLOCK,
                                            body->at);
            outer->value = kind < 6 ? ast_int(&arena, 1) : NULL;
            outer->body = body;
            if (kind == 1) {
                outer->body = ast_stm(&arena, STM_SKIP, body->at);
                outer->other = body;
            }
            body = outer;
        }
        kernel->main->body = body;
        struct ast_stm *last =
            ast_assign(&arena, m.scalars[0], NULL, expr, (struct location){0, 0});
        ast_stm_append(&kernel->main->body, last);
        assert_true(ast_check(kernel, NULL));
        round_trip(kernel);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(expressions, setup, teardown),
        cmocka_unit_test_setup_teardown(heads, setup, teardown),
        cmocka_unit_test_setup_teardown(structured_kernel, setup, teardown),
        cmocka_unit_test_setup_teardown(block_kernel, setup, teardown),
        cmocka_unit_test_setup_teardown(corpus, setup, teardown),
        cmocka_unit_test_setup_teardown(random_trees, setup, teardown),
        cmocka_unit_test_setup_teardown(deepest_trees, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
