/*
 * test_gen_rows.c - programs of PTX instructions: the same choices give the same text, every row of the table comes up
 * with every word that it may have - control flow in other programs in PTX -, every special register too, machines run
 * them all, and the reference follows.
 */
#include "engine/arith/ptx_rows.h"
#include "engine/input/ptx_kernel.h"
#include "fuzz/case/case.h"
#include "fuzz/generate/generate.h"
#include "oracle/check/check.h"
#include "tests/unit/shared/support.h"

enum { PROGRAMS = 4000, OTHERS = 400, FOLLOWED = 400 };

static const struct gen_options options = {.features = 1u << FEATURE_INSTRUCTIONS};

static const struct gen_options with_barriers = {.features = 1u << FEATURE_INSTRUCTIONS |
                                                             1u << FEATURE_BARRIERS};

static const struct gen_options of_clusters = {.features = 1u << FEATURE_INSTRUCTIONS |
                                                           1u << FEATURE_BLOCKS};

static const struct gen_options of_sums = {.features = 1u << FEATURE_INSTRUCTIONS |
                                                       1u << FEATURE_ARITHMETIC};

static struct ast_kernel *program_of(uint64_t number)
{
    const struct gen_options *which = number % 4 == 0   ? &with_barriers
                                      : number % 8 == 1 ? &of_clusters
                                      : number % 8 == 5 ? &of_sums
                                                        : &options;
    return gen_case(&test_arena, 5, number, which);
}

static void texts_are_stable(void **state)
{
    (void)state;
    for (uint64_t number = 0; number < 100; number++) {
        size_t mark = arena_mark(&test_arena);
        const char *text = print_kernel(&test_arena, program_of(number));
        assert_string_equal(text, print_kernel(&test_arena, program_of(number)));
        assert_string_equal(print_kernel(&test_arena, support_parse(text)), text);
        arena_release(&test_arena, mark);
    }
}

/* ---- all rows, all words ---- */

static bool seen[PTX_FORM_COUNT][PTX_WORD_COUNT], forms[PTX_FORM_COUNT],
    specials[PTX_SPECIAL_COUNT];

/* Two parts of a result are two registers. */
static void look_at_results(const struct ptx_instruction *i)
{
    const struct ptx_operand *o = i->operands;
    if (!o || (o->kind != PTX_OPERAND_PAIR && o->kind != PTX_OPERAND_VECTOR))
        return;
    for (const struct ptx_operand *a = o->items; a; a = a->next)
        for (const struct ptx_operand *b = a->next; b && a->name; b = b->next)
            assert_true(!b->name || strcmp(a->name, b->name) != 0);
}

static void look_at(const struct ptx_statement *s)
{
    for (; s; s = s->next) {
        if (s->kind != PTX_INSTRUCTION)
            continue;
        forms[s->u.instruction.form] = true;
        for (uint32_t w = 0; w < PTX_SLOT_COUNT; w++)
            seen[s->u.instruction.form][s->u.instruction.words[w]] = true;
        for (const struct ptx_operand *o = s->u.instruction.operands; o; o = o->next)
            if (o->target_kind == PTX_TARGET_SPECIAL)
                specials[o->target.special] = true;
        look_at_results(&s->u.instruction);
    }
}

/* Words of a pattern that no function or space stands behind. */
static bool has_nothing_behind(enum ptx_form form, enum ptx_word word)
{
    bool stores = ptx_forms[form].opcode == PTX_OP_ST;
    return stores && (word == PTX_W_CONST || word == PTX_W_PARAM_ENTRY);
}

static void look_at_program(const struct ast_kernel *kernel)
{
    for (const struct ptx_item *i = kernel->ptx ? kernel->ptx->module->items : NULL; i; i = i->next)
        if (i->kind == PTX_ITEM_FUNCTION)
            look_at(i->u.function->body);
}

static void every_row_comes_up(void **state)
{
    (void)state;
    static const struct gen_options known = {.features =
                                                 1u << FEATURE_KNOWN | 1u << FEATURE_SWITCH},
                                    raw = {.features = 1u << FEATURE_CRS | 1u << FEATURE_LOOSE};
    for (uint64_t number = 0; number < PROGRAMS + OTHERS; number++) {
        size_t mark = arena_mark(&test_arena);
        look_at_program(number < PROGRAMS
                            ? program_of(number)
                            : gen_case(&test_arena, 5, number, number % 2 ? &known : &raw));
        arena_release(&test_arena, mark);
    }
    for (int special = 0; special < PTX_SPECIAL_COUNT; special++)
        if (!specials[special])
            fail_msg("no %s", ptx_specials[special].name);
    for (int form = 0; form < PTX_FORM_COUNT; form++) {
        const char *modifiers = ptx_forms[form].modifiers;
        const char *mnemonic = ptx_mnemonics[ptx_forms[form].opcode];
        struct ptx_group group;
        if (!forms[form])
            fail_msg("no %s %s", mnemonic, modifiers);
        while (ptx_group_next(&modifiers, &group))
            for (const char *at = group.words; at < group.words + group.length;) {
                size_t length = strcspn(at, "| ");
                enum ptx_word word = ptx_word_find(at, length);
                if (!seen[form][word] && !has_nothing_behind((enum ptx_form)form, word))
                    fail_msg("no .%s of %s", ptx_words[word], mnemonic);
                at += length + 1;
            }
    }
}

/* ---- machines run them, and the reference follows ---- */

static void the_reference_follows(void **state)
{
    (void)state;
    static struct check_result result;
    struct check_options check = CHECK_DEFAULTS;
    struct gen_options gen = GEN_DEFAULTS;
    uint32_t programs = 0;
    for (uint64_t number = 0; programs < FOLLOWED; number++) {
        struct fuzz_case c;
        size_t mark = arena_mark(&test_arena);
        case_of_campaign(&c, 77, number, &gen, &check);
        if (gen_instructions_only(&c.gen)) {
            check_kernel(&test_arena, case_kernel(&test_arena, &c, NULL), &c.check, &result);
            const struct answer *answer = &result.answers[ORACLE_REFERENCE];
            if (answer->verdict != VERDICT_AGREE)
                fail_msg("case %llu: %s", (unsigned long long)number, answer->reason);
            programs++;
        }
        arena_release(&test_arena, mark);
        assert_true(number < 2 * CASE_ROUND / CASE_INSTRUCTIONS * FOLLOWED);
    }
}

/* The case's text says what it is, and is read back. */
static void a_case_is_its_text(void **state)
{
    (void)state;
    struct check_options check = CHECK_DEFAULTS;
    struct gen_options gen = GEN_DEFAULTS;
    struct fuzz_case c, again;
    const char *error;
    uint64_t first = 0;
    do {
        case_of_campaign(&c, 78, first++, &gen, &check);
    } while (c.gen.features != options.features);
    const char *text = case_print(&test_arena, &c);
    assert_non_null(strstr(text, "features=0x20000000 "));
    assert_non_null(strstr(text, "oracles=reference"));
    assert_true(case_parse(&test_arena, text, &again, &error));
    assert_string_equal(case_print(&test_arena, &again), text);
    assert_string_equal(print_kernel(&test_arena, case_kernel(&test_arena, &again, NULL)),
                        print_kernel(&test_arena, case_kernel(&test_arena, &c, NULL)));
    check.subjects = SUBJECT_BIT(SUBJECT_SIMT);
    for (uint64_t number = 0; number < 200; number++) {
        case_of_campaign(&c, 78, number, &gen, &check);
        assert_false(gen_instructions_only(&c.gen));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_stable),
        cmocka_unit_test(every_row_comes_up),
        cmocka_unit_test(the_reference_follows),
        cmocka_unit_test(a_case_is_its_text),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
