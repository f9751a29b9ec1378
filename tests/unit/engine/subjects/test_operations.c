/*
 * Every operator of the language on values at the edges, and every atomic on every kind of variable, in every form of a
 * kernel and under every subject, against the values that the language defines.
 */
#include "tests/unit/shared/support.h"

#include "engine/subjects/forms.h"

enum { EDGES = 8, THREADS = EDGES * EDGES, BUDGET = 4000000 };

static const int32_t edges[EDGES] = {INT32_MIN, INT32_MIN + 1, -2, -1, 0, 1, 31, INT32_MAX};

typedef void check_store(const struct machine *machine, const char *subject);

/* Runs the kernel, whose threads do not hear of each other, under each subject, one schedule; `check` looks at the
 * store. */
static void under_all(const char *text, check_store *check)
{
    struct forms *forms = forms_new(&test_arena, support_parse(text));
    for (uint32_t s = 0; s < SUBJECT_COUNT; s++) {
        const struct subject_info *subject = &subject_table[s];
        const struct form *form = forms_get(forms, subject->program);
        const struct sched_spec spec = {.kind = SCHED_ROUND_ROBIN, .quantum = 3};
        struct scheduler scheduler;
        if (!subject->vtable || subject->options.crs_switches)
            continue; /* other meanings */
        if (!form->program)
            fail_msg("%s: %s", subject->name, form->reason);
        struct machine *machine =
            machine_new(&test_arena, subject->vtable, form->program, &subject->options);
        sched_start(&scheduler, &spec, machine, &test_arena);
        enum status status = machine_run(machine, &scheduler.choices, BUDGET, NULL);
        if (subject->role != SUBJECT_ORDINARY && status == STATUS_INFEASIBLE)
            continue; /* a path that nobody takes was chosen (B-10) */
        if (status != STATUS_TERMINATED)
            fail_msg("%s: %s, %s\n%s", subject->name, status_names[status], machine->fault_text,
                     text);
        check(machine, subject->name);
    }
}

static int32_t word(const struct machine *machine, const char *variable, uint32_t i)
{
    return machine->memory[support_address(machine->program, variable) + i];
}

static const char *literal(int32_t value)
{
    if (value == INT32_MIN)
        return "(-2147483647 - 1)";
    return arena_printf(&test_arena, "(%d)", value);
}

static const char *list(bool outer)
{
    const char *text = "";
    for (uint32_t i = 0; i < THREADS; i++) {
        int32_t value = edges[outer ? i / EDGES : i % EDGES];
        const char *number =
            value == INT32_MIN ? "-2147483648" : arena_printf(&test_arena, "%d", value);
        text = arena_printf(&test_arena, "%s%s%s", text, i ? ", " : "", number);
    }
    return text;
}

/* ---- operators ---- */

static enum ast_binary binary;
static bool assigns; /* there is an op= */

static void check_binary(const struct machine *machine, const char *subject)
{
    static const char *const by_both[] = {"both", "locals", "assigned", "chosen"};
    for (uint32_t i = 0; i < THREADS; i++) {
        int32_t a = edges[i / EDGES], b = edges[i % EDGES];
        int32_t wanted = ast_eval_binary(binary, a, b);
        for (uint32_t k = 0; k < 4; k++) {
            bool truth = k == 3; /* of a condition */
            if (k == 2 && !assigns)
                continue;
            int32_t found = word(machine, by_both[k], i);
            if (found != (truth ? (wanted ? 7 : 9) : wanted))
                fail_msg("%s: %d %s %d, %s: %d", subject, a, ast_binary_names[binary], b,
                         by_both[k], found);
        }
    }
    for (uint32_t k = 0; k < EDGES; k++)
        for (uint32_t i = 0; i < EDGES; i++) {
            int32_t right = word(machine, "right", k * EDGES + i);
            int32_t left = word(machine, "left", k * EDGES + i);
            if (right != ast_eval_binary(binary, edges[i], edges[k]) ||
                left != ast_eval_binary(binary, edges[k], edges[i]))
                fail_msg("%s: %s of %d and the constant %d: %d, %d", subject,
                         ast_binary_names[binary], edges[i], edges[k], right, left);
            if (word(machine, "constants", k * EDGES + i) !=
                ast_eval_binary(binary, edges[k], edges[i]))
                fail_msg("%s: %d %s %d of constants", subject, edges[k], ast_binary_names[binary],
                         edges[i]);
        }
}

static const char *binary_kernel(const char *op)
{
    const char *text = arena_printf(
        &test_arena,
        "launch(threads = %d, warp = 16);\n"
        "global int a[%d] = {%s}, b[%d] = {%s};\n"
        "global int both[%d], locals[%d], assigned[%d], chosen[%d], left[%d], right[%d], "
        "constants[%d];\n"
        "kernel k() { private int x, y, z;\n"
        "both[tid] = a[tid] %s b[tid]; x = a[tid]; y = b[tid]; z = x %s y; locals[tid] = z;\n"
        "if (x %s y) chosen[tid] = 7; else chosen[tid] = 9;\n",
        THREADS, THREADS, list(true), THREADS, list(false), THREADS, THREADS, THREADS, THREADS,
        THREADS, THREADS, THREADS, op, op, op);
    if (assigns)
        text = arena_printf(&test_arena, "%s z = x; z %s= y; assigned[tid] = z;\n", text, op);
    /* thread i < EDGES has edge i in y */
    text = arena_printf(&test_arena, "%s if (tid < %d) {\n", text, EDGES);
    for (uint32_t k = 0; k < EDGES; k++)
        text = arena_printf(
            &test_arena, "%s right[%u + tid] = y %s %s; z = %s %s y; left[%u + tid] = z;\n", text,
            k * EDGES, op, literal(edges[k]), literal(edges[k]), op, k * EDGES);
    text = arena_printf(&test_arena, "%s }\n if (tid == 0) {\n", text);
    for (uint32_t k = 0; k < THREADS; k++)
        text = arena_printf(&test_arena, "%s constants[%u] = %s %s %s;\n", text, k,
                            literal(edges[k / EDGES]), op, literal(edges[k % EDGES]));
    return arena_printf(&test_arena, "%s } }", text);
}

static void operators(void **state)
{
    (void)state;
    for (uint32_t op = 0; op < BINARY_COUNT; op++) {
        size_t mark = arena_mark(&test_arena);
        assigns = false;
        for (uint32_t a = 0; a < ASSIGN_COUNT; a++)
            assigns |= a != ASSIGN_SET && (uint32_t)ast_assign_operations[a] == op;
        binary = (enum ast_binary)op;
        under_all(binary_kernel(ast_binary_names[op]), check_binary);
        arena_release(&test_arena, mark);
    }
}

static void check_unary(const struct machine *machine, const char *subject)
{
    static const char *const names[] = {"n", "l", "c"};
    for (uint32_t op = 0; op < 3; op++)
        for (uint32_t i = 0; i < EDGES; i++) {
            int32_t wanted = ast_eval_unary((enum ast_unary)op, edges[i]);
            if (word(machine, names[op], i) != wanted)
                fail_msg("%s: %s of %d is %d", subject, names[op], edges[i],
                         word(machine, names[op], i));
            assert_int_equal(word(machine, "chosen", op * EDGES + i), wanted != 0 ? 3 : 4);
        }
    for (uint32_t i = 0; i < EDGES; i++) {
        assert_int_equal(word(machine, "selected", i), (int32_t)(edges[i] ? i : 100 + i));
        assert_int_equal(word(machine, "nested", i), edges[i] < 0 ? (edges[i] & 1) + 5 : -edges[i]);
    }
}

static void other_operators(void **state)
{
    (void)state;
    under_all(
        arena_printf(&test_arena,
                     "launch(threads = %d, warp = 4); global int b[%d] = {%s}; global int n[%d], "
                     "l[%d], c[%d], chosen[%d], selected[%d], nested[%d];\n"
                     "kernel k() { private int x; x = b[tid]; n[tid] = -x; l[tid] = !x; c[tid] = "
                     "~x; if (-x) chosen[tid] = 3; else chosen[tid] = 4;\n"
                     "if (!x) chosen[%d + tid] = 3; else chosen[%d + tid] = 4;\n"
                     "if (~x) chosen[%d + tid] = 3; else chosen[%d + tid] = 4;\n"
                     "selected[tid] = x ? tid : 100 + tid;\n"
                     "nested[tid] = x < 0 ? (x & 1 ? 6 : 5) : -x; }",
                     EDGES, THREADS, list(false), EDGES, EDGES, EDGES, 3 * EDGES, EDGES, EDGES,
                     EDGES, EDGES, 2 * EDGES, 2 * EDGES),
        check_unary);
}

/* ---- atomics ---- */

static enum ast_atomic atomic;

static int32_t updated(enum ast_atomic op, int32_t old, int32_t b, int32_t c)
{
    switch (op) {
    case ATOMIC_ADD:
        return (int32_t)((uint32_t)old + (uint32_t)b);
    case ATOMIC_MIN:
        return old < b ? old : b;
    case ATOMIC_MAX:
        return old > b ? old : b;
    case ATOMIC_AND:
        return old & b;
    case ATOMIC_OR:
        return old | b;
    case ATOMIC_EXCH:
        return b;
    case ATOMIC_CAS:
        return old == b ? c : old;
    case ATOMIC_COUNT:
        break;
    }
    return 0;
}

/* Places that are each thread's own, so that order does not matter. */
static const char *const places[] = {"g[tid]", "s[tid]", "p", "l", "q[tid % 3]", "m[tid % 2]"};

enum { PLACES = sizeof places / sizeof *places };

static void check_atomic(const struct machine *machine, const char *subject)
{
    for (uint32_t i = 0; i < THREADS; i++)
        for (uint32_t k = 0; k < PLACES; k++) {
            int32_t old = edges[i / EDGES], b = edges[i % EDGES];
            int32_t once = updated(atomic, old, b, 77), twice = updated(atomic, once, b, 77);
            if (word(machine, "given", k * THREADS + i) != old ||
                word(machine, "left", k * THREADS + i) != twice ||
                word(machine, "element", i) != once)
                fail_msg("%s: %s on %s, %d and %d: gives %d, leaves %d", subject,
                         ast_atomic_names[atomic], places[k], old, b,
                         word(machine, "given", k * THREADS + i),
                         word(machine, "left", k * THREADS + i));
        }
}

static void atomics(void **state)
{
    (void)state;
    for (uint32_t op = 0; op < ATOMIC_COUNT; op++) {
        size_t mark = arena_mark(&test_arena);
        const char *name = ast_atomic_names[op], *third = op == ATOMIC_CAS ? ", 77" : "";
        const char *text =
            arena_printf(&test_arena,
                         "launch(threads = %d, warp = 16); global int a[%d] = {%s}, b[%d] = {%s};\n"
                         "global int given[%d], left[%d], g[%d], element[%d]; shared int s[%d]; "
                         "private int p, q[3];\n"
                         "kernel k() { private int l, m[2], x, y; y = b[tid];\n",
                         THREADS, THREADS, list(true), THREADS, list(false), PLACES * THREADS,
                         PLACES * THREADS, THREADS, THREADS, THREADS);
        for (uint32_t k = 0; k < PLACES; k++)
            text = arena_printf(
                &test_arena,
                "%s%s = a[tid]; x = %s(%s, y%s); given[%u + tid] = x; %s(%s, b[tid]%s); "
                "left[%u + tid] = %s;\n",
                text, places[k], name, places[k], third, k * THREADS, name, places[k], third,
                k * THREADS, places[k]);
        /* the old value goes to an element, which is the place's own index */
        text = arena_printf(
            &test_arena, "%selement[tid] = a[tid]; m[0] = tid; %s(element[m[0]], y%s); m[0] = 1; }",
            text, name, third);
        atomic = (enum ast_atomic)op;
        under_all(text, check_atomic);
        arena_release(&test_arena, mark);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(operators, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(other_operators, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(atomics, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
