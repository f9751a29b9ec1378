/* PTX as the compilers and people write it: names, tables, the corpus. Canonical text, what is refused:
 * tests/cases/engine/ptx. */
#include "engine/input/input.h"
#include "tests/unit/shared/ptx_text.h"

#include <glob.h>

static struct ptx_function *find_function(const struct ptx_module *module, const char *name)
{
    for (const struct ptx_item *item = module->items; item; item = item->next)
        if (item->kind == PTX_ITEM_FUNCTION && strcmp(item->u.function->name, name) == 0)
            return item->u.function;
    fail_msg("no function %s", name);
    return NULL;
}

/* The report's listing 5.4: inner declarations hide outer ones from where they stand, inner labels in
 * their whole block. */
static void names_in_blocks(void **state)
{
    (void)state;
    const struct ptx_module *module = parse(".entry k() {\n"
                                            "  .reg .s32 r; .reg .pred p;\n"
                                            "  BLOCK:\n"
                                            "  {\n"
                                            "    add.s32 r, r, r;\n"
                                            "    bra.uni SKIP;\n"
                                            "    .reg .u64 r;\n"
                                            "  SKIP:\n"
                                            "    add.u64 r, r, r;\n"
                                            "    @!p bra BLOCK;\n"
                                            "    @p bra CONTINUE;\n"
                                            "  BLOCK:\n"
                                            "  }\n"
                                            "  CONTINUE:\n"
                                            "}\n");
    const struct ptx_statement *stm = find_function(module, "k")->body;
    while (stm->kind != PTX_BLOCK)
        stm = stm->next;
    const struct ptx_operand *operands[16];
    uint32_t count = 0;
    for (stm = stm->u.block; stm; stm = stm->next)
        if (stm->kind == PTX_INSTRUCTION)
            operands[count++] = stm->u.instruction.operands;
    assert_int_equal(count, 5);
    assert_int_equal(operands[0]->target.variable->at.line, 2);
    assert_int_equal(operands[1]->target.statement->at.line, 8);
    assert_int_equal(operands[2]->target.variable->at.line, 7);
    assert_int_equal(operands[3]->target.statement->at.line, 12);
    assert_int_equal(operands[4]->target.statement->at.line, 14);
}

/* %p1 of an inner block hides one of the outer %p<9>, as nvcc's inlined barriers have it. */
static void ranges(void **state)
{
    (void)state;
    const struct ptx_module *module = parse(".reg .b32 %r1<4>; .reg .b32 %r<10>; .entry k() {\n"
                                            "  .reg .pred %p<9>; mov.b32 %r12, %r1;\n"
                                            "  { .reg .pred %p1; not.pred %p1, %p2; }\n"
                                            "  not.pred %p1, %p8;\n"
                                            "}\n");
    const struct ptx_statement *stm = find_function(module, "k")->body->next;
    const struct ptx_operand *o = stm->u.instruction.operands;
    assert_string_equal(o->target.variable->name, "%r1");
    assert_int_equal(o->index, 2);
    assert_string_equal(o->next->target.variable->name, "%r");
    assert_int_equal(o->next->index, 1);
    o = stm->next->u.block->next->u.instruction.operands;
    assert_false(o->target.variable->is_range);
    assert_true(o->next->target.variable->is_range);
    assert_int_equal(o->next->index, 2);
    o = stm->next->next->u.instruction.operands;
    assert_true(o->target.variable->is_range);
    assert_int_equal(o->index, 1);
}

/* A call sees the definition, though only a declaration stands before it. */
static void definitions(void **state)
{
    (void)state;
    const struct ptx_module *module =
        parse(".func f(.param .b32 x);\n.entry k() { .param .b32 a; call f, (a); exit; }\n"
              ".func f(.param .b32 x) { ret; }\n");
    const struct ptx_operand *o = find_function(module, "k")->body->next->u.instruction.operands;
    assert_int_equal(o->target_kind, PTX_TARGET_FUNCTION);
    assert_true(o->target.function->has_body);
}

/* Words are found by binary search, and every pattern of the table can be read. */
static void tables(void **state)
{
    (void)state;
    for (int i = 1; i < PTX_WORD_COUNT; i++) {
        assert_true(i == 1 || strcmp(ptx_words[i - 1], ptx_words[i]) < 0);
        assert_int_equal(ptx_word_find(ptx_words[i], strlen(ptx_words[i])), i);
    }
    for (int i = 0; i < PTX_FORM_COUNT; i++) {
        const char *modifiers = ptx_forms[i].modifiers, *operands = ptx_forms[i].operands;
        const uint8_t words[PTX_SLOT_COUNT] = {0};
        uint32_t slots = 0;
        struct ptx_group group;
        struct ptx_item_pattern item;
        while (ptx_group_next(&modifiers, &group)) {
            assert_false(slots & 1u << group.slot); /* one group a slot */
            slots |= 1u << group.slot;
            for (size_t at = 0; at < group.length;) {
                const char *bar = memchr(group.words + at, '|', group.length - at);
                size_t size = bar ? (size_t)(bar - group.words) - at : group.length - at;
                assert_int_not_equal(ptx_word_find(group.words + at, size), PTX_W_NONE);
                at += size + 1;
            }
        }
        while (ptx_item_next(&operands, words, &item))
            assert_true(item.kind != 0);
    }
}

static void corpus(void **state)
{
    (void)state;
    glob_t files;
    assert_int_equal(glob(SIMTFUZZ_SOURCE_DIR "/corpus/ptx/*.ptx", 0, NULL, &files), 0);
    assert_true(files.gl_pathc >= 10);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        size_t length;
        char *text = parse_read_file(&arena, files.gl_pathv[i], &length, &diag);
        assert_non_null(text);
        const struct ptx_module *module = parse_bytes(text, length);
        if (!module)
            diag_print(&diag, stderr);
        assert_non_null(module);
        round_trip(module);
    }
    globfree(&files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names_in_blocks, setup, teardown),
        cmocka_unit_test_setup_teardown(ranges, setup, teardown),
        cmocka_unit_test_setup_teardown(definitions, setup, teardown),
        cmocka_unit_test_setup_teardown(tables, setup, teardown),
        cmocka_unit_test_setup_teardown(corpus, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
