/* Transformations: lists as text, places, kernels that stay kernels and keep what is expected of them. */
#include "engine/input/input.h"
#include "tests/unit/shared/many.h"
#include "tests/unit/shared/support.h"

#include "engine/rewrite/transform.h"
#include "fuzz/generate/generate.h"
#include "oracle/check/check.h"

#include <dirent.h>

/* ---- lists ---- */

static void test_lists(void **state)
{
    (void)state;
    struct transform_list list, again;
    const char *at;
    assert_true(transform_parse_list("wrap:12,rename,peel:4294967295", &list, &at));
    assert_int_equal(list.count, 3);
    assert_int_equal(list.steps[0].id, TRANSFORM_WRAP);
    assert_int_equal(list.steps[0].number, 12);
    assert_int_equal(list.steps[2].number, UINT32_MAX);
    const char *text = transform_print_list(&test_arena, &list);
    assert_string_equal(text, "wrap:12,rename:0,peel:4294967295");
    assert_true(transform_parse_list(text, &again, &at));
    assert_memory_equal(&list, &again, sizeof list);
    static const char *const bad[] = {"",          "wrap:",
                                      "wrap:x",    "wrap,",
                                      "nothing:1", "wrap:-1",
                                      "wrap:1 ",   "wrap:4294967296",
                                      ",wrap",     "wrapx",
                                      "wra",       "wrap::1",
                                      "wrap:1:2",  "wrap:18446744073709551617",
                                      ":1",        "wrap;rename"};
    for (uint32_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(transform_parse_list(bad[i], &list, &at));
    assert_true(transform_parse_list("wrap:4294967295,wrap,wrap,wrap,wrap,wrap,wrap,wrap,wrap,wrap,"
                                     "wrap,double:0",
                                     &list, &at));
    assert_int_equal(list.count, TRANSFORM_STEPS_MAX);
    assert_int_equal(list.steps[11].id, TRANSFORM_DOUBLE);
    assert_false(transform_parse_list("rename,peal:1,wrap", &list, &at));
    assert_string_equal(at, "peal:1,wrap");
    assert_false(transform_parse_list("wrap,wrap,wrap,wrap,wrap,wrap,wrap,wrap,wrap,wrap,wrap,wrap,"
                                      "wrap",
                                      &list, &at));
}

static void test_drawn_lists(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        size_t mark = arena_mark(&test_arena);
        struct transform_list list, again;
        const struct ast_kernel *kernel = gen_case(&test_arena, 7, seed, &GEN_DEFAULTS);
        const struct ast_kernel *other = transform_draw(&test_arena, kernel, seed, &list);
        const char *text = print_kernel(&test_arena, other);
        const char *steps = transform_print_list(&test_arena, &list);
        assert_null(list.broken);
        other = transform_draw(&test_arena, kernel, seed, &again);
        assert_string_equal(transform_print_list(&test_arena, &again), steps);
        assert_string_equal(print_kernel(&test_arena, other), text);
        assert_in_range(list.count, kernel->form == FORM_PTX ? 0 : 1, TRANSFORM_DRAWN_MAX);
        other = transform_apply(&test_arena, kernel, &list, &again);
        assert_string_equal(transform_print_list(&test_arena, &again), steps);
        assert_string_equal(print_kernel(&test_arena, other), text);
        arena_release(&test_arena, mark);
    }
}

/* ---- generated kernels ---- */

static struct ast_kernel *reparse(const char *text)
{
    struct diag *diag = ARENA_NEW(&test_arena, struct diag);
    diag_init(diag, "transformed", text, strlen(text));
    struct ast_kernel *kernel = parse_kernel(&test_arena, text, strlen(text), diag);
    if (!kernel)
        print_error("%s\n", text);
    assert_non_null(kernel);
    return kernel;
}

/* opaque: conditions, and what is one within an expression. */
static void test_opaque_places(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        uint32_t places;
    } cases[] = {
        {"x + y", 0},  {"~x", 0},        {"!x", 1},      {"!!x", 2},           {"x && y", 2},
        {"x || y", 2}, {"x ? y : 1", 1}, {"!x + -y", 1}, {"x || (y && 1)", 4}, {"(x + y) % 3", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text =
            arena_printf(&test_arena, "shared int x, y; kernel k() { x = %s; }", cases[i].value);
        if (transform_places(&test_arena, support_parse(text), TRANSFORM_OPAQUE) != cases[i].places)
            fail_msg("%s", cases[i].value);
    }
}

/* guard: a branch on one private scalar, q and !q, whose arms are one block each and meet. */
static void test_guard_places(void **state)
{
    (void)state;
    static const struct {
        const char *blocks;
        uint32_t places;
    } cases[] = {
        {"Start: goto A, B; A: assume(q); x = 1; goto J; B: assume(!q); x = 2; goto J; J: goto "
         "End;",
         1},
        {"Start: goto B, A; A: assume(q); x = 1; goto J; B: assume(!q); x = 2; goto J; J: goto "
         "End;",
         1},
        {"Start: goto A, B; A: assume(q); goto J; B: assume(!q); goto J; J: goto End;", 1},
        {"Start: goto A, B; A: assume(q); x += 1; havoc(p); goto J; B: assume(!q); p = "
         "atomic_add(x, 1);"
         "goto J; J: goto End;",
         1},
        {"Start: goto A, B; A: assume(p); x = 1; goto J; B: assume(!p); x = 2; goto J; J: goto "
         "End;",
         1},
        /* other guards */
        {"Start: goto A, B; A: assume(q); x = 1; goto J; B: assume(!p); x = 2; goto J; J: goto "
         "End;",
         0},
        {"Start: goto A, B; A: assume(q); x = 1; goto J; B: assume(q); x = 2; goto J; J: goto End;",
         0},
        {"Start: goto A, B; A: assume(!q); x = 1; goto J; B: assume(!q); x = 2; goto J; J: goto "
         "End;",
         0},
        {"Start: goto A, B; A: assume(q); x = 1; goto J; B: assume(~q); x = 2; goto J; J: goto "
         "End;",
         0},
        {"Start: goto A, B; A: assume(q); x = 1; goto J; B: assume(-q); x = 2; goto J; J: goto "
         "End;",
         0},
        {"Start: goto A, B; A: assume(q); x = 1; goto J; B: x = 2; goto J; J: goto End;", 0},
        {"Start: goto A, B; A: x = 1; goto J; B: assume(!q); x = 2; goto J; J: goto End;", 0},
        {"Start: goto A, B; A: x = 1; goto J; B: x = 2; goto J; J: goto End;", 0},
        {"Start: goto A, B; A: assume(tid); x = 1; goto J; B: assume(!tid); x = 2; goto J; J: goto "
         "End;",
         0},
        {"Start: goto A, B; A: assume(q == 0); x = 1; goto J; B: assume(!(q == 0)); x = 2; goto J; "
         "J: "
         "goto "
         "End;",
         0},
        {"Start: goto A, B; A: assume(r[0]); x = 1; goto J; B: assume(!r[0]); x = 2; goto J; J: "
         "goto "
         "End;",
         0},
        {"Start: goto A, B; A: assume(s); x = 1; goto J; B: assume(!s); x = 2; goto J; J: goto "
         "End;",
         0},
        {"Start: goto A; A: assume(q); x = 1; goto J; J: goto End;", 0},
        {"Start: goto A, A; A: assume(q); x = 1; goto J; J: goto End;", 0},
        {"Start: goto A, B, C; A: assume(q); goto J; B: assume(!q); goto J; C: assume(!q); goto J; "
         "J: "
         "goto "
         "End;",
         0},
        /* other arms */
        {"Start: goto A, B; A: assume(q); q = 0; goto J; B: assume(!q); x = 2; goto J; J: goto "
         "End;",
         0},
        {"Start: goto A, B; A: assume(q); x = 1; goto J; B: assume(!q); x = 2; havoc(q); goto "
         "J; J: "
         "goto "
         "End;",
         0},
        {"Start: goto A, B; A: assume(q); x = 1; goto J; B: assume(!q); q = atomic_add(x, 1); goto "
         "J; "
         "J: goto "
         "End;",
         0},
        {"Start: goto A, B; A: assume(q); barrier(); goto J; B: assume(!q); goto J; J: goto End;",
         0},
        {"Start: goto A, B; A: assume(q); assert(x); goto J; B: assume(!q); goto J; J: goto End;",
         0},
        {"Start: goto A, B; A: assume(q); x = 1 if (p); goto J; B: assume(!q); goto J; J: goto "
         "End;",
         0},
        {"Start: goto A, B; A: assume(q); goto C; B: assume(!q); goto J; C: goto J; J: goto End;",
         0},
        {"Start: goto A, B; A: assume(q); goto J; B: assume(!q); goto End; J: goto End;", 0},
        {"Start: goto A, B; A: assume(q); goto J, K; B: assume(!q); goto J; J: goto End; K: goto "
         "End;",
         0},
        {"Start: goto A, B; A: assume(q); goto End; B: assume(!q); goto End;", 1},
        {"Start: goto T; T: goto A, B; A: assume(q); goto J; B: assume(!q); goto J; J: goto A, C; "
         "C: "
         "goto "
         "End;",
         0},
        {"Start: goto T; T: assume(q); goto T, B; B: assume(!q); goto End;", 0},
        {"Start: goto T; T: assume(!q); goto B, T; B: assume(q); goto T;", 0},
        {"Start: goto A, B; A: assume(q); goto A; B: assume(!q); goto A;", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = arena_printf(&test_arena,
                                        "shared int x, s; private int q, r[2]; kernel k() blocks { "
                                        "private int p; %s }",
                                        cases[i].blocks);
        struct ast_kernel *kernel = support_parse(text);
        struct transform_list list = {.count = 1, .steps = {{TRANSFORM_GUARD, 0}}}, done;
        if (transform_places(&test_arena, kernel, TRANSFORM_GUARD) != cases[i].places)
            fail_msg("%s", cases[i].blocks);
        struct ast_kernel *other = transform_apply(&test_arena, kernel, &list, &done);
        assert_int_equal(done.count, cases[i].places);
        assert_true(ast_check(other, NULL));
        bool goes = cases[i].places == 0;
        for (const struct ast_block *b = other->main->blocks; b; b = b->next)
            goes |= cases[i].places > 0 && b->target_count == 1;
        assert_true(goes);
    }
}

/* inline: calls of functions that are not recursive and return at their end only. */
static void test_inline_places(void **state)
{
    (void)state;
    static const struct {
        const char *functions, *call;
        uint32_t places;
    } cases[] = {
        {"void f() { x = 1; }", "f();", 1},
        {"void f() { x = 1; return; }", "f(); f();", 2},
        {"int f(int a) { return a + x; }", "p = f(2);", 1},
        {"void f() { if (x) return; x = 1; }", "f();", 0},
        {"void f() { return; x = 1; }", "f();", 0},
        {"void f() { if (x) x = 2; else return; }", "f();", 0},
        {"void f() { while (x) return; }", "f();", 0},
        {"void f() { x = 1; { return; } }", "f();", 0},
        {"void f() { if (x) f(); }", "f();", 0},
        {"void f() { if (x) ; else f(); }", "f();", 0},
        {"void f() { while (x) f(); }", "f();", 0},
        {"void f() { switch (x) { case 1: x = 2; break; case 2: f(); } }", "f();", 0},
        {"void f() { switch (x) { default: { f(); } } }", "f();", 0},
        {"int f(int a) { for (a = f(1); a; a--) ; return 1; }", "p = f(2);", 0},
        {"int f(int a) { for (; a; a = f(a)) ; return 1; }", "p = f(2);", 0},
        {"void f() { private int a[2]; a[0] = 1; }", "f();", 0},
        {"void g() { x = 1; } void f() { g(); }", "f();", 2},
        {"void f() { g(); } void g() { if (x) f(); }", "f();", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text =
            arena_printf(&test_arena, "shared int x; private int p; %s kernel k() { %s }",
                         cases[i].functions, cases[i].call);
        if (transform_places(&test_arena, support_parse(text), TRANSFORM_INLINE) != cases[i].places)
            fail_msg("%s %s: %u", cases[i].functions, cases[i].call,
                     transform_places(&test_arena, support_parse(text), TRANSFORM_INLINE));
    }
}

/* PTX that tells where its instructions stand, or reads a clock, is left alone. */
static void test_ptx_places(void **state)
{
    (void)state;
    static const struct {
        const char *settings, *variable, *body;
        bool open;
    } cases[] = {
        {"", "", "mov.u32 %r1, %tid.x;", true},
        {"", "", "mov.u32 %r1, %lanemask_gt;", true},
        {"", "", "mov.u32 %r1, %total_smem_size;", true},
        {"", "", "mov.u32 %r1, %clock;", false},
        {"", "", "mov.u32 %r1, %clock_hi;", false},
        {"", "", "mov.u64 %d1, %clock64;", false},
        {"", "", "mov.u64 %d1, %globaltimer;", false},
        {"", "", "mov.u32 %r1, %globaltimer_lo;", false},
        {"", "", "mov.u32 %r1, %globaltimer_hi;", false},
        {"", "", "{ mov.u32 %r1, %clock; }", false},
        {"", "", "call f;", true},
        {"", "", "mov.u64 %d1, f;", false},
        {"", "", "mov.u64 %d1, f; P: .callprototype _ (); call %d1, P;", false},
        {"", "", "mov.u32 %r1, E;", false},
        {"", "", "mov.u32 %r1, 1; bra L; L: brx.idx %r1, T; T: .branchtargets L, E;", true},
        {"", "", "ssy L; sync; L:", false},
        {"raw", "", "mov.u32 %r1, 1;", false},
        {"", ".global .u64 v[2] = {1, 2};", "call f;", true},
        {"", ".global .u64 w; .global .u64 v = w;", "call f;", true},
        {"", ".global .u64 v = f;", "call f;", false},
        {"", ".const .u64 v[3] = {1, f};", "call f;", false},
        {"", ".global .u64 v[2][2] = {{1, 2}, {3, f}};", "call f;", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = arena_printf(
            &test_arena,
            "// simtfuzz: entry=k threads=4 %s\n.version 7.0\n.target sm_70\n.address_size 64\n"
            ".func f() { ret; }\n%s\n.visible .entry k() { .reg .b32 %%r<4>; .reg .b64 %%d<4>; "
            ".reg "
            ".pred "
            "%%p<4>;\n%s\n@%%p1 bra E; mov.u32 %%r2, 2; E: ret; }\n",
            cases[i].settings, cases[i].variable, cases[i].body);
        const struct ast_kernel *kernel = support_parse(text);
        for (uint32_t t = TRANSFORM_PTX_JUMP; t <= TRANSFORM_PTX_RENAME; t++)
            if ((transform_places(&test_arena, kernel, (enum transform_id)t) > 0) != cases[i].open)
                fail_msg("%s: %s", transform_table[t].name, cases[i].body);
    }
}

/* Each finds a place in some of 2,000 generated kernels, and does something there. */
static void test_each_fires(void **state)
{
    (void)state;
    bool fired[TRANSFORM_COUNT] = {false};
    uint32_t left = TRANSFORM_COUNT;
    struct gen_options gen = GEN_DEFAULTS;
    for (uint64_t number = 0; number < 2000 && left > 0; number++) {
        size_t mark = arena_mark(&test_arena);
        const struct ast_kernel *kernel = gen_case(&test_arena, 5, number, &gen);
        const char *text = print_kernel(&test_arena, kernel);
        for (uint32_t t = 0; t < TRANSFORM_COUNT; t++) {
            struct transform_list list = {.count = 1, .steps = {{(enum transform_id)t, 0}}}, done;
            if (fired[t] || transform_places(&test_arena, kernel, (enum transform_id)t) == 0)
                continue;
            const struct ast_kernel *other = transform_apply(&test_arena, kernel, &list, &done);
            if (done.count == 0)
                continue;
            assert_string_not_equal(print_kernel(&test_arena, other), text);
            fired[t] = true;
            left--;
        }
        arena_release(&test_arena, mark);
    }
    for (uint32_t t = 0; t < TRANSFORM_COUNT; t++)
        if (!fired[t])
            print_error("%s has no place\n", transform_table[t].name);
    assert_int_equal(left, 0);
}

/* What is made parses, prints the same again, and is made again; the kernel given is left alone. */
static void test_kernels_stay_kernels(void **state)
{
    (void)state;
    struct gen_options gen = GEN_DEFAULTS;
    uint32_t changed = 0;
    for (uint64_t number = 0; number < 300; number++) {
        size_t mark = arena_mark(&test_arena);
        const struct ast_kernel *kernel = gen_case(&test_arena, 6, number, &gen);
        const char *before = print_kernel(&test_arena, kernel);
        struct transform_list done, once;
        const char *text =
            print_kernel(&test_arena, transform_draw(&test_arena, kernel, number, &done));
        assert_string_equal(print_kernel(&test_arena, kernel), before);
        assert_string_equal(
            print_kernel(&test_arena, transform_apply(&test_arena, kernel, &done, &once)), text);
        assert_memory_equal(&done, &once, sizeof done);
        if (kernel->form != FORM_PTX)
            assert_string_equal(print_kernel(&test_arena, reparse(text)), text);
        changed += done.count > 0;
        arena_release(&test_arena, mark);
    }
    assert_in_range(changed, 200, 300);
}

/* ---- the corpus ---- */

static bool claims_clean(const struct ast_kernel *kernel)
{
    bool race_free = false;
    for (const struct ast_expect *e = kernel->expects; e; e = e->next) {
        if (e->subject || (e->claim != CLAIM_RACE_FREE && e->claim != CLAIM_TERMINATES &&
                           e->claim != CLAIM_FINAL))
            return false;
        race_free |= e->claim == CLAIM_RACE_FREE;
    }
    return race_free;
}

/* What is claimed of a clean kernel holds for it transformed; of any other, the oracle agrees. */
static void keep(const struct ast_kernel *kernel, const char *path, enum transform_id id,
                 uint32_t *clean)
{
    struct check_options options = CHECK_DEFAULTS;
    struct transform_list list = {.count = 1, .steps = {{id, 0}}}, done;
    struct check_result *result = ARENA_NEW(&test_arena, struct check_result);
    struct ast_kernel *other = transform_apply(&test_arena, kernel, &list, &done);
    options.schedules = 4;
    options.transforms = list;
    options.oracles = claims_clean(kernel) ? 0 : 1u << ORACLE_METAMORPHIC;
    if (done.count == 0)
        return;
    check_kernel(&test_arena, claims_clean(kernel) ? other : kernel, &options, result);
    bool kept = check_divergences(result, true) == 0;
    for (uint32_t i = 0; i < result->claim_count && claims_clean(kernel); i++)
        kept &= result->claims[i].met;
    if (!kept)
        print_error("%s, %s:\n%s", path, transform_table[id].name,
                    print_kernel(&test_arena, other));
    assert_true(kept);
    *clean += claims_clean(kernel);
}

static void keep_all(const char *folder, uint32_t *clean)
{
    char path[512];
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *entry; (entry = readdir(d));) {
        size_t mark = arena_mark(&test_arena), length;
        size_t name = strlen(entry->d_name);
        if (name < 5 || strcmp(entry->d_name + name - 5, ".simt") != 0)
            continue;
        uint64_t letters = 0;
        for (const char *c = entry->d_name; *c; c++)
            letters += (uint64_t)*c;
        if (!many_has(letters))
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        struct diag *diag = ARENA_NEW(&test_arena, struct diag);
        diag_init(diag, path, NULL, 0);
        const char *text = parse_read_file(&test_arena, path, &length, diag);
        const struct ast_kernel *kernel = reparse(text);
        for (uint32_t t = 0; t < TRANSFORM_COUNT; t++)
            keep(kernel, path, (enum transform_id)t, clean);
        arena_release(&test_arena, mark);
    }
    closedir(d);
}

static void test_corpus_keeps_its_claims(void **state)
{
    (void)state;
    uint32_t clean = 0;
    keep_all(SIMTFUZZ_SOURCE_DIR "/corpus/papers", &clean);
    keep_all(SIMTFUZZ_SOURCE_DIR "/corpus/rules", &clean);
    assert_in_range(clean, many(100), UINT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_drawn_lists),
        cmocka_unit_test(test_opaque_places),
        cmocka_unit_test(test_guard_places),
        cmocka_unit_test(test_inline_places),
        cmocka_unit_test(test_ptx_places),
        cmocka_unit_test(test_each_fires),
        cmocka_unit_test(test_kernels_stay_kernels),
        cmocka_unit_test(test_corpus_keeps_its_claims),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
