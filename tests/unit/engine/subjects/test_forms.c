/* forms.h: which programs a kernel has, why it lacks the others, and what they have in common. */
#include "tests/unit/shared/support.h"

#include "engine/subjects/forms.h"

static struct forms *forms_of(const char *text)
{
    return forms_new(&test_arena, support_parse(text));
}

static const char STRUCTURED[] =
    "launch(threads = 3, blocks = 2); global int g[3]; shared int a[3]; private int p;"
    "kernel k() { private int i; for (i = 0; i < tid && g[tid] == 0; i++) {"
    "   if (i == 1) break; a[tid] += i; } barrier(); p = a[0]; }";

static const char BLOCKS[] = "shared int x[4]; kernel k() blocks {"
                             " Start: x[tid] = 1; goto A, B;"
                             " A: assume(tid == 0); x[0] = 2; goto End;"
                             " B: assume(!(tid == 0)); goto End; }";

/* Every form of a structured kernel; shared stores are laid out alike. */
static void test_structured(void **state)
{
    (void)state;
    struct forms *forms = forms_of(STRUCTURED);
    for (uint32_t i = 0; i < PROGRAM_COUNT; i++) {
        const struct form *form = forms_get(forms, (enum program_id)i);
        if (!form->program)
            print_error("%s: %s\n", program_id_names[i], form->reason);
        assert_non_null(form->program);
        assert_null(form->reason);
        assert_int_equal(form->program->private_base,
                         forms_get(forms, PROGRAM_CORE)->program->private_base);
        assert_int_equal(form->program->shared_base,
                         forms_get(forms, PROGRAM_CORE)->program->shared_base);
    }
    assert_ptr_equal(forms_get(forms, PROGRAM_BLOCKS), forms_get(forms, PROGRAM_BLOCKS));
}

static void test_blocks(void **state)
{
    (void)state;
    struct forms *forms = forms_of(BLOCKS);
    const char *reason;
    assert_null(forms_get(forms, PROGRAM_CORE)->program);
    assert_non_null(strstr(forms_get(forms, PROGRAM_CORE)->reason, "block program"));
    assert_non_null(forms_get(forms, PROGRAM_BLOCKS)->program);
    assert_non_null(forms_get(forms, PROGRAM_PREDICATED)->program);
    assert_non_null(forms_get(forms, PROGRAM_LOCKSTEP)->program);
    assert_null(forms_get(forms, PROGRAM_ANCHORED)->program);
    assert_non_null(forms_get(forms, PROGRAM_ANCHORED)->reason);
    assert_null(forms_get(forms, PROGRAM_LOCKSTEP_ANCHORED)->program);
    assert_int_equal(forms_well_formed(forms, &reason), WELL_FORMED);
}

/* Statements of pi(P) and phi(P) stand for statements of P, whichever form is made first. */
static void test_origins(void **state)
{
    (void)state;
    static const enum program_id made[] = {PROGRAM_LOCKSTEP, PROGRAM_PREDICATED,
                                           PROGRAM_LOCKSTEP_ORDER};
    struct forms *forms = forms_of(BLOCKS);
    for (uint32_t i = 0; i < 3; i++) {
        const struct program *q = forms_get(forms, made[i])->program;
        const struct program *p = forms_get(forms, PROGRAM_BLOCKS)->program;
        uint32_t assignments = 0;
        for (uint32_t s = 0; s < q->stm_count; s++) {
            uint32_t origin = q->stms[s].origin;
            assert_true(origin <= p->stm_count);
            if (origin == 0 || p->stms[origin - 1].kind != CODE_ASSIGN)
                continue;
            assert_int_equal(q->stms[s].kind, CODE_ASSIGN);
            assert_int_equal(q->stms[s].line, p->stms[origin - 1].line);
            assignments++;
        }
        assert_int_equal(assignments, 2);
    }
}

static void test_ill_formed(void **state)
{
    (void)state;
    const char *reason = NULL;
    struct forms *forms = forms_of("shared int v; kernel k() blocks {"
                                   " Start: v = 4; assume(tid == 0); goto End; }");
    assert_int_equal(forms_well_formed(forms, &reason), ILL_FORMED);
    assert_non_null(strstr(reason, "WF."));
    assert_non_null(forms_get(forms, PROGRAM_BLOCKS)->program);
}

static void test_irreducible(void **state)
{
    (void)state;
    struct forms *forms =
        forms_of("kernel k() blocks { Start: goto A, B; A: assume(tid == 0); goto B;"
                 " B: assume(tid != 0); goto A, C; C: assume(tid > 1); goto End; }");
    assert_null(forms_get(forms, PROGRAM_LOCKSTEP)->program);
    assert_non_null(strstr(forms_get(forms, PROGRAM_LOCKSTEP)->reason, "irreducible"));
}

static void test_lockstep_form(void **state)
{
    (void)state;
    struct forms *forms = forms_of("shared int x; kernel k() lockstep {"
                                   " Start: x = tid if (tid == 0); goto End; }");
    for (uint32_t i = 0; i < PROGRAM_COUNT; i++) {
        const struct form *form = forms_get(forms, (enum program_id)i);
        assert_true((form->program != NULL) == (i == PROGRAM_LOCKSTEP));
        assert_true((form->reason != NULL) == (i != PROGRAM_LOCKSTEP));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_structured, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_blocks, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_origins, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_ill_formed, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_irreducible, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_lockstep_form, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
