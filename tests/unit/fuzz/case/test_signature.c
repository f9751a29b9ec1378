/* Causes of findings: what brings the signatures of one bug together. */
#include "fuzz/case/signature.h"

#include "tests/unit/shared/support.h"

#include <string.h>

static struct divergence *diverge(struct check_result *result, enum oracle_id oracle,
                                  const char *class_name, enum rule rule, const char *observable)
{
    struct divergence *d = ARENA_NEW(&test_arena, struct divergence);
    *d = (struct divergence){
        .oracle = oracle, .class_name = class_name, .rule = rule, .observable = observable};
    d->summary = "";
    answer_diverge(&result->answers[oracle], d);
    return d;
}

static struct check_result *new_result(void)
{
    struct check_result *result = ARENA_NEW(&test_arena, struct check_result);
    result->kernel = support_parse("kernel k() { switch (tid) { default: barrier(); } }");
    return result;
}

static void closest_oracle_says_the_cause(void **state)
{
    (void)state;
    struct check_result *result = new_result();
    struct divergence *end =
        diverge(result, ORACLE_RESULT, "store", RULE_THR_IF_TT, "shared memory");
    assert_string_equal(signature_cause(&test_arena, result, end, true),
                        "result|store|switch|memory");
    assert_string_equal(signature_cause(&test_arena, result, end, false), "result|store||memory");
    struct divergence *phi = diverge(result, ORACLE_PHI, "event", RULE_NONE, "lanes");
    assert_string_equal(signature_cause(&test_arena, result, end, true), "phi|event|none|lanes");
    diverge(result, ORACLE_PHI, "zeta", RULE_SIMT_BREAK, "lanes");
    assert_string_equal(signature_cause(&test_arena, result, phi, true),
                        "phi|zeta|simt.break|lanes");
    diverge(result, ORACLE_SIMULATION, "stack", RULE_SIMT_BREAK, "stack of an active lane");
    const char *wanted = "simulation|stack|simt.break|stack of an active lane";
    assert_string_equal(signature_cause(&test_arena, result, end, true), wanted);
    assert_string_equal(signature_cause(&test_arena, result, phi, false), wanted);
}

/* Of a step what is seen first does not count, but where no rule is wrong: somebody steps who must wait. */
static void a_step_is_its_rule(void **state)
{
    (void)state;
    struct check_result *result = new_result();
    struct divergence *early =
        diverge(result, ORACLE_REFERENCE, "step", RULE_NONE, "blocked register");
    assert_string_equal(signature_cause(&test_arena, result, early, true),
                        "reference|step|none|blocked register");
    struct divergence *step = diverge(result, ORACLE_REFERENCE, "step", RULE_SIMT_BREAK, "stack");
    assert_string_equal(signature_cause(&test_arena, result, step, true),
                        "reference|step|simt.break|");
    result = new_result();
    struct divergence *barrier =
        diverge(result, ORACLE_REFERENCE, "step", RULE_INTK_BARRIER_F, "rule");
    assert_string_equal(signature_cause(&test_arena, result, barrier, true),
                        "reference|step|barrier_F|");
}

/* The part is named, whoever asks and whatever is seen of it. What is drawn beside the kernel has nothing to do with
 * what the kernel shows. */
static void parts_are_causes(void **state)
{
    (void)state;
    struct check_result *result = new_result();
    struct divergence *log = diverge(result, ORACLE_RACE, "race-log", RULE_NONE, "witness");
    log->part = "intervals";
    assert_string_equal(signature_cause(&test_arena, result, log, true),
                        "part|race-log||intervals");
    struct divergence *text = diverge(result, ORACLE_METAMORPHIC, "text", RULE_NONE, "printed");
    text->part = "printed";
    text->drawn = true;
    const char *of_text = "part|text||printed";
    assert_string_equal(signature_cause(&test_arena, result, text, true), of_text);
    assert_ptr_equal(signature_closest(result, 0), log);
    struct divergence *step = diverge(result, ORACLE_REFERENCE, "step", RULE_SIMT_BREAK, "stack");
    assert_string_equal(signature_cause(&test_arena, result, text, true), of_text);
    assert_string_equal(signature_cause(&test_arena, result, log, true),
                        signature_cause(&test_arena, result, step, true));
}

static void known_divergences_are_causes_of_themselves(void **state)
{
    (void)state;
    struct check_result *result = new_result();
    struct divergence *end = diverge(result, ORACLE_RESULT, "store", RULE_NONE, "global memory");
    struct divergence *known =
        diverge(result, ORACLE_LEMMAS, "lemma-5", RULE_SIMT_BREAK, "configuration");
    known->known = "A-4";
    assert_string_equal(signature_cause(&test_arena, result, end, true),
                        "result|store|switch|memory");
    diverge(result, ORACLE_SIMULATION, "stack", RULE_SIMT_BREAK, "stack of an active lane");
    assert_string_equal(signature_cause(&test_arena, result, known, true),
                        "lemmas|lemma-5|simt.break|configuration");
}

static void shapes(void **state)
{
    (void)state;
    static const struct {
        const char *text, *shape;
    } table[] = {
        {"global int x; kernel k() { x = 1; }", "straight"},
        {"global int x; kernel k() { if (tid) { x = 1; } }", "if"},
        {"global int x; kernel k() { x = tid && 1; }", "logic"},
        {"global int x; kernel k() { do { atomic_add(x, 1); } while (0); }", "loop"},
        {"kernel k() { if (tid) { while (0) { switch (1) { default: ; } } } }", "switch"},
        {"void f() { } kernel k() { switch (1) { default: f(); } }", "call"},
        {"kernel k() { barrier(); }", "barrier"},
        {"kernel k() blocks { Start: goto A, B; A: goto End; B: goto End; }", "goto"},
        {"// simtfuzz: entry=k threads=1\n.entry k() { .reg .u32 r; shl.b32 r, r, 1; ret; }",
         "shl"},
        {"// simtfuzz: entry=k threads=1\n.entry k() { .reg .u32 r; mov.u32 r, 1; ret; }",
         "straight"},
        {"// simtfuzz: entry=k threads=1\n.entry k() { .reg .u32 r; bar.sync 0; "
         "shl.b32 r, r, 1; ret; }",
         "bar"},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        assert_string_equal(signature_shape(&test_arena, support_parse(table[i].text)),
                            table[i].shape);
}

/* A text that is refused, or taken, and should not be: what is told is one cause, whichever text it was. */
static void what_is_told_is_a_cause(void **state)
{
    static const struct {
        const char *differs, *cause;
    } table[] = {
        {"printed: 'a 1' where 'a 2' is meant", "part|text||printed"},
        {"read: 'a line 3: x' where 'b' is meant", "part|text||read"},
        {"read: refused, line 55: '%_0' is declared already, in line 33",
         "part|refused||is declared already"},
        {"refused: 33: 'a' is declared already, in line 19", "part|refused||is declared already"},
        {"emitted ptx: line 31: '%sfs' is not declared", "part|refused||is not declared"},
        {"refused: programs, though nothing is wrong: 0:0: 'crs: injection: '$b9' is not declared "
         "at line 6'",
         "part|refused||is not declared"},
        {"refused: host programs, though nothing is wrong: 8:7: 'no launch above is named 'l''",
         "part|refused||no launch above is named"},
        {"refused: emitted, line 0:0: 'opencl has no 'assume', at line 2' is not told, but 0:0: "
         "'x'",
         "part|told||opencl has no"},
        {"taken: ptx, ''M' is not declared' was to be told", "part|told||is not declared"},
        {"taken: a text without one of its tokens", "part|text||taken"},
        {"laid out, kind of cp: 1", "part|layout||kind of cp"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct check_result *result = new_result();
        struct divergence *d = diverge(result, ORACLE_METAMORPHIC, "text", RULE_NONE, "");
        divergence_of_part(&test_arena, d, table[i].differs);
        assert_string_equal(signature_cause(&test_arena, result, d, true), table[i].cause);
    }
}

/* What a drawn kernel shows is what an ordinary one would; histories are told apart by the program that has them. */
static void drawn_kernels_are_kernels(void **state)
{
    (void)state;
    struct check_result *result = new_result();
    struct divergence *step = diverge(result, ORACLE_REFERENCE, "wild", RULE_SIMT_BREAK, "stack");
    step->like = "step";
    assert_string_equal(signature_cause(&test_arena, result, step, true),
                        "reference|step|simt.break|");
    diverge(result, ORACLE_REFERENCE, "layout", RULE_NONE, "kind of cp")->part = "kind of cp";
    assert_string_equal(signature_cause(&test_arena, result, step, true),
                        "part|layout||kind of cp");
    result = new_result();
    struct divergence *write = diverge(result, ORACLE_REFERENCE, "wild", RULE_NONE, "write");
    write->like = "source";
    write->subject = SUBJECT_CRS;
    assert_string_equal(signature_cause(&test_arena, result, write, true), "reference|source|ptx|");
}

static void parts(void **state)
{
    (void)state;
    assert_string_equal(signature_part(&test_arena, "a|b|c|d", 0), "a");
    assert_string_equal(signature_part(&test_arena, "a|b|c|d", 3), "d");
    assert_string_equal(signature_part(&test_arena, "a|b|c|d", 4), "");
    assert_string_equal(signature_part(&test_arena, "a|b||d", 2), "");
    assert_string_equal(signature_part(&test_arena, "", 1), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closest_oracle_says_the_cause),
        cmocka_unit_test(a_step_is_its_rule),
        cmocka_unit_test(parts_are_causes),
        cmocka_unit_test(known_divergences_are_causes_of_themselves),
        cmocka_unit_test(shapes),
        cmocka_unit_test(what_is_told_is_a_cause),
        cmocka_unit_test(drawn_kernels_are_kernels),
        cmocka_unit_test(parts),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
