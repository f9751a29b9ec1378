/* Kernels given as PTX: the settings and claims of their head comments, what is assumed; what is
 * printed is read again as the same. What is refused: tests/cases/engine/input. */
#include "engine/crs/crs.h"
#include "engine/input/input.h"
#include "engine/input/ptx_kernel.h"
#include "tests/unit/shared/ptx_text.h"

#include <stdlib.h>
#include <unistd.h>

#define HEAD ".version 7.8\n.target sm_80\n.address_size 64\n"
#define ENTRY(name) ".visible .entry " name "(.param .u64 a, .param .s32 n, .param .f32 x)\n"

static const char plain[] = HEAD ENTRY("k") "{ ret; }\n";

static struct ast_kernel *try_kernel(const char *text)
{
    diag_init(&diag, "text", text, strlen(text));
    struct ast_kernel *kernel = parse_kernel(&arena, text, strlen(text), &diag);
    assert_int_equal(kernel == NULL, diag.count > 0);
    return kernel;
}

static struct ast_kernel *kernel_of(const char *settings, const char *text)
{
    const char *whole = arena_printf(&arena, "%s%s", settings, text);
    struct ast_kernel *kernel = try_kernel(whole);
    if (!kernel) {
        diag_print(&diag, stderr);
        fail_msg("does not parse: %s", whole);
    }
    assert_int_equal(kernel->form, FORM_PTX);
    const char *printed = print_kernel(&arena, kernel);
    const struct ast_kernel *again = try_kernel(printed);
    if (!again)
        fail_msg("printed, it does not parse: %s", printed);
    assert_string_equal(printed, print_kernel(&arena, again));
    return kernel;
}

static const struct ast_var *find_var(const struct ast_kernel *kernel, const char *name)
{
    const struct ast_var *var = kernel->vars;
    while (var && strcmp(var->name, name) != 0)
        var = var->next;
    return var;
}

/* ---- what is PTX ---- */

static void is_told_from_the_kernel_language(void **state)
{
    (void)state;
    static const char *const yes[] = {".version 7.0", "// x\n /* .. */\n.func",
                                      "\xef\xbb\xbf.file"};
    static const char *const no[] = {"",  "kernel k() {}",     "// .version", "/* .version", "x.y",
                                     "/", "launch(threads=1);"};
    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++)
        assert_true(ptx_is_ptx(yes[i], strlen(yes[i])));
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++)
        assert_false(ptx_is_ptx(no[i], strlen(no[i])));
}

/* ---- settings ---- */

static void settings_are_taken(void **state)
{
    (void)state;
    const struct ast_kernel *k =
        kernel_of("// simtfuzz: entry=k blocks=2x2 threads=4x2x2 warp=8 seed=0x10 shared=64\n"
                  "// simtfuzz: bind:n=-3 bind:x=f:1.5 bind:a=buffer:100:random\n"
                  "// simtfuzz: reg:p=0110 reg:r=7,-5,0x10 stack=call,111,10+sync,01,3 raw\n",
                  plain);
    const struct ptx_kernel *ptx = k->ptx;
    uint32_t block[3], grid[3];
    ptx_kernel_dimensions(k, block, grid);
    assert_int_equal(k->launch.threads, 16);
    assert_int_equal(k->launch.blocks, 4);
    assert_int_equal(k->launch.warp, 8);
    assert_int_equal(k->launch.seed, 16);
    assert_true(block[0] == 4 && block[1] == 2 && block[2] == 2);
    assert_true(grid[0] == 2 && grid[1] == 2 && grid[2] == 1);
    assert_string_equal(k->name, "k");
    assert_true(ptx->raw);
    assert_null(ptx->notes);
    assert_int_equal(ptx->argument_count, 3);
    assert_int_equal(ptx->arguments[0].bind.kind, PTX_BIND_BUFFER);
    assert_int_equal(ptx->arguments[0].bind.bytes, 100);
    assert_int_equal(ptx->arguments[0].bind.fill, PTX_FILL_RANDOM);
    assert_int_equal(ptx->arguments[0].buffer->length, 25);
    assert_int_equal(ptx->arguments[1].bind.value, 0xfffffffdu);
    assert_int_equal(ptx->arguments[2].bind.value, 0x3fc00000u);
    assert_int_equal(ptx->token_count, 2);
    assert_int_equal(ptx->tokens[0].type, CRS_CALL);
    assert_int_equal(ptx->tokens[0].mask, 7);
    assert_int_equal(ptx->tokens[0].pc, 10);
    assert_int_equal(ptx->tokens[1].mask, 2);
    assert_string_equal(ptx->registers->next->name, "r");
}

static void what_is_not_given_is_assumed_and_said(void **state)
{
    (void)state;
    const struct ast_kernel *k =
        kernel_of("", HEAD ".extern .shared .align 8 .b8 buf[];\n" ENTRY(
                          "k") "{ .reg .b32 %r<2>; mov.u32 %r1, buf; ret; }\n");
    assert_int_equal(k->launch.threads, 32);
    assert_int_equal(k->launch.warp, 32);
    assert_int_equal(k->launch.blocks, 1);
    assert_int_equal(k->ptx->arguments[0].bind.kind, PTX_BIND_BUFFER);
    assert_int_equal(k->ptx->arguments[1].bind.value, 16);
    assert_int_equal(k->ptx->arguments[2].bind.value, 0x3f800000u);
    assert_int_equal(find_var(k, "buf")->length, 1024);
    static const char *const parts[] = {"parameter 0 ('a') is a buffer of 4096 bytes",
                                        "parameter 1 ('n') is 16", "parameter 2 ('x') is 1.0",
                                        "'buf' in shared memory has 4096 bytes"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        assert_non_null(strstr(k->ptx->notes, parts[i]));
}

/* OpenCL's local pointers are numbers like all others until something is accessed through them. */
static void addresses_in_shared_memory_are_found(void **state)
{
    (void)state;
    const struct ast_kernel *k = kernel_of(
        "", HEAD ".entry k(.param .u64 a, .param .u64 b)\n"
                 "{ .reg .b64 %rd<4>; .reg .b32 %r<2>;\n"
                 "ld.param.u64 %rd0, [a]; ld.param.u64 %rd1, [b]; add.s64 %rd2, %rd1, 4;\n"
                 "ld.global.u32 %r0, [%rd0]; st.shared.u32 [%rd2], %r0; ret; }\n");
    assert_int_equal(k->ptx->arguments[0].bind.kind, PTX_BIND_BUFFER);
    assert_int_equal(k->ptx->arguments[1].bind.kind, PTX_BIND_SHARED);
    assert_int_equal(k->ptx->arguments[1].buffer->space, SPACE_SHARED);
    k = kernel_of("// simtfuzz: bind:a=buffer:4 bind:0=shared:40\n", plain);
    assert_null(k->ptx->binds->next);
    assert_int_equal(find_var(k, "a")->length, 10);
    assert_int_equal(find_var(k, "a")->space, SPACE_SHARED);
}

static void attributes_say_how_many_threads(void **state)
{
    (void)state;
    const struct ast_kernel *k = kernel_of("", HEAD ".entry k() .reqntid 8, 4\n{ ret; }\n");
    assert_int_equal(k->launch.threads, 32);
    assert_int_equal(k->ptx->block[1], 4);
    k = kernel_of("", HEAD ".entry k() .maxntid 8, 1, 1\n{ ret; }\n");
    assert_int_equal(k->launch.threads, 8);
    k = kernel_of("// simtfuzz: threads=5\n", HEAD ".entry k() .maxntid 8\n{ ret; }\n");
    assert_int_equal(k->launch.threads, 5);
}

static void variables_are_those_that_the_entry_reaches(void **state)
{
    (void)state;
    const struct ast_kernel *k = kernel_of(
        "// simtfuzz: bind:a=buffer:8 bind:n=1 bind:x=1\n",
        HEAD ".global .u32 unused[3];\n.global .u8 bytes[5];\n.const .u32 c = 1;\n"
             ".global .u32 inner = 7;\n.global .u64 table[2] = {bytes, inner};\n"
             ".shared .u64 once;\n"
             ".func f() { .reg .b64 %rd1; .shared .u32 s; mov.u64 %rd1, once; mov.u64 %rd1, s;"
             " ret; }\n" ENTRY(
                 "k") "{ .reg .b64 %rd1; .shared .u32 s[2]; mov.u64 %rd1, table; mov.u64 %rd1, s;"
                      " call f; ret; }\n");
    static const struct {
        const char *name;
        enum ast_space space;
        uint32_t length;
    } wanted[] = {{"bytes", SPACE_GLOBAL, 2}, {"inner", SPACE_GLOBAL, 1},
                  {"table", SPACE_GLOBAL, 4}, {"a", SPACE_GLOBAL, 2},
                  {"once", SPACE_SHARED, 2},  {"s", SPACE_SHARED, 2},
                  {"s_1", SPACE_SHARED, 1}};
    const struct ast_var *var = k->vars;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++, var = var->next) {
        assert_non_null(var);
        assert_string_equal(var->name, wanted[i].name);
        assert_int_equal(var->space, wanted[i].space);
        assert_int_equal(var->length, wanted[i].length);
    }
    assert_null(var);
}

static void settings_are_overridden(void **state)
{
    (void)state;
    struct ast_kernel *k =
        kernel_of("// simtfuzz: entry=k threads=4 bind:n=1\n"
                  "// expect: final g == 3\n",
                  HEAD ".global .u32 g;\n" ENTRY("k") "{ .reg .b64 %rd1; mov.u64 %rd1, g; ret; }\n"
                                                      ".entry other() { ret; }\n");
    diag_init(&diag, "settings", NULL, 0);
    assert_true(ptx_kernel_set(&arena, k, "threads=2x2 bind:n=5 bind:0=buffer:16:iota", &diag));
    assert_int_equal(k->launch.threads, 4);
    assert_int_equal(k->ptx->block[1], 2);
    assert_int_equal(k->ptx->arguments[1].bind.value, 5);
    assert_int_equal(k->ptx->arguments[0].bind.bytes, 16);
    assert_ptr_equal(k->expects->var, find_var(k, "g"));
    assert_false(ptx_kernel_set(&arena, k, "bind:nothing=5", &diag));
    diag.count = 0;
    assert_false(ptx_kernel_set(&arena, k, "entry=other", &diag)); /* `g` is not reached */
    k->expects = NULL;
    k->ptx->binds = NULL;
    diag.count = 0;
    assert_true(ptx_kernel_set(&arena, k, "entry=other", &diag));
    assert_string_equal(k->name, "other");
    assert_null(k->vars);
}

static void a_changed_launch_counts(void **state)
{
    (void)state;
    struct ast_kernel *k = kernel_of("// simtfuzz: threads=4x2\n", plain);
    uint32_t block[3], grid[3];
    k->launch.threads = 6;
    ptx_kernel_dimensions(k, block, grid);
    assert_true(block[0] == 6 && block[1] == 1 && block[2] == 1);
    assert_non_null(strstr(print_kernel(&arena, k), "threads=6 "));
}

static void copies_have_their_own_variables(void **state)
{
    (void)state;
    const struct ast_kernel *k = kernel_of("// expect: final a == {1, 2}\n", plain);
    const struct ast_kernel *copy = ast_kernel_copy(&arena, k);
    assert_string_equal(print_kernel(&arena, k), print_kernel(&arena, copy));
    assert_ptr_not_equal(copy->vars, k->vars);
    assert_ptr_equal(copy->ptx->arguments[0].buffer, copy->vars);
    assert_ptr_equal(copy->expects->var, copy->vars);
    assert_int_equal(ast_kernel_size(k), 1);
}

static void files_fill_buffers(void **state)
{
    (void)state;
    char path[] = "simtfuzz-test-XXXXXX"; /* below the folder of the text */
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "abcdef", 6), 6);
    close(fd);
    const struct ast_kernel *k =
        kernel_of(arena_printf(&arena, "// simtfuzz: bind:a=buffer:4:file:%s\n", path), plain);
    assert_int_equal(k->ptx->arguments[0].bind.data_bytes, 4);
    assert_memory_equal(k->ptx->arguments[0].bind.data, "abcd", 4);
    unlink(path);
}

/* ---- claims ---- */

static void claims_stand_in_comments(void **state)
{
    (void)state;
    const struct ast_kernel *k = kernel_of("// expect: race_free, terminates\n"
                                           "//expect crs:patent: stuck\n"
                                           "// expect block: race a, final a == {1, -2}\n",
                                           plain);
    const struct ast_expect *e = k->expects;
    assert_int_equal(e->claim, CLAIM_RACE_FREE);
    assert_null(e->subject);
    assert_int_equal(e->next->claim, CLAIM_TERMINATES);
    assert_int_equal(e->next->group, e->group);
    e = e->next->next;
    assert_int_equal(e->claim, CLAIM_STUCK);
    assert_string_equal(e->subject, "crs:patent");
    e = e->next;
    assert_int_equal(e->claim, CLAIM_RACE);
    assert_ptr_equal(e->var, k->vars);
    assert_int_equal(e->next->claim, CLAIM_FINAL);
    assert_int_equal(e->next->value_count, 2);
    assert_int_equal(e->next->values[1], -2);
    assert_null(e->next->next);
}

/* ---- limits ---- */

static void many_settings_are_too_many(void **state)
{
    (void)state;
    static const char *const words[] = {"// simtfuzz: warp=4\n", "// expect: stuck\n"};
    for (int i = 0; i < 2; i++) {
        const char *text = "";
        for (int k = 0; k < 64; k++)
            text = arena_printf(&arena, "%s%s", text, words[i]);
        for (int k = 0; k < 6; k++)
            text = arena_printf(&arena, "%s%s", text, text);
        assert_non_null(try_kernel(arena_printf(&arena, "%s%s", text, plain)));
        assert_null(try_kernel(arena_printf(&arena, "%s%s%s", text, words[i], plain)));
        assert_int_equal(diag.count, 1);
        assert_non_null(strstr(diag.entries[0].text, "more than 4096"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_told_from_the_kernel_language),
        cmocka_unit_test(settings_are_taken),
        cmocka_unit_test(what_is_not_given_is_assumed_and_said),
        cmocka_unit_test(addresses_in_shared_memory_are_found),
        cmocka_unit_test(attributes_say_how_many_threads),
        cmocka_unit_test(variables_are_those_that_the_entry_reaches),
        cmocka_unit_test(settings_are_overridden),
        cmocka_unit_test(a_changed_launch_counts),
        cmocka_unit_test(copies_have_their_own_variables),
        cmocka_unit_test(files_fill_buffers),
        cmocka_unit_test(claims_stand_in_comments),
        cmocka_unit_test(many_settings_are_too_many),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
