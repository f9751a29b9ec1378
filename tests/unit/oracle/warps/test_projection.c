/* Table 5 and its one-pass comparison; golden examples. */
#include "tests/unit/shared/support.h"

#include "oracle/warps/projection.h"

static const char PROGRAM_1[] = "launch(threads = 4, warp = 4);\n"                       /* 1 */
                                "global int a[4] = {0, 1, 1, 1}, b[4] = {0, 1, 1, 3};\n" /* 2 */
                                "private int i, j;\n"                                    /* 3 */
                                "void func() {\n"                                        /* 4 */
                                "  i = a[tid];\n"                                        /* 5 */
                                "  j = b[tid];\n"                                        /* 6 */
                                "  while (i > 0) {\n"                                    /* 7 */
                                "    if (j > 2 * i)\n"                                   /* 8 */
                                "      b[tid] = b[tid] + i;\n"                           /* 9 */
                                "    else\n"                                             /* 10 */
                                "      break;\n"                                         /* 11 */
                                "    i = i - 1;\n"                                       /* 12 */
                                "  }\n"                                                  /* 13 */
                                "  return;\n"                                            /* 14 */
                                "}\n"                                                    /* 15 */
                                "kernel main() {\n"                                      /* 16 */
                                "  func();\n"                                            /* 17 */
                                "  return;\n"                                            /* 18 */
                                "}\n";

/* One lane's projection as text: "line 14; <call> line 18; <call>", topmost first. */
static const char *project(const struct machine *machine, uint32_t lane)
{
    struct warp_state warp = simt_state(machine, 0);
    stack_entry stack[64];
    uint32_t depth = projection_lane(&warp, lane, stack);
    const char *text = "";
    while (depth-- > 0) {
        const struct code_stm *s = &machine->program->stms[entry_number(stack[depth])];
        switch (entry_kind(stack[depth])) {
        case ENTRY_STM:
            for (;; s++) { /* the slice: the statement and all that follow in its list */
                text = arena_printf(&test_arena, "%s%u;", text, s->line);
                if (s->last)
                    break;
            }
            text = arena_printf(&test_arena, "%s ", text);
            break;
        case ENTRY_CONT:
            text = arena_printf(&test_arena, "%swhile_cont %u; ", text, s->line);
            break;
        case ENTRY_BRK:
            text = arena_printf(&test_arena, "%s<brk> ", text);
            break;
        case ENTRY_CALL:
            text = arena_printf(&test_arena, "%s<call> ", text);
            break;
        case ENTRY_DIV:
        case ENTRY_SYNC:
            text = arena_printf(&test_arena, "%s<?> ", text);
            break;
        }
    }
    return text;
}

static uint32_t pick_first(struct choices *choices, const struct machine *machine)
{
    (void)choices;
    (void)machine;
    return 0;
}

static uint32_t choose_first(struct choices *choices, uint32_t n)
{
    (void)choices;
    (void)n;
    return 0;
}

static struct choices first_choice = {pick_first, choose_first, NULL};

static void test_initial_and_final(void **state)
{
    (void)state;
    struct program *program = support_program(PROGRAM_1);
    struct machine *warp = support_machine(program, SUBJECT_SIMT);
    for (uint32_t lane = 0; lane < 4; lane++)
        assert_string_equal(project(warp, lane), "17;18; <call> ");
    while (machine_status(warp) == STATUS_RUNNING)
        machine_step(warp, 0, &first_choice);
    assert_int_equal(machine_status(warp), STATUS_TERMINATED);
    assert_int_equal(warp->steps, 17);
    for (uint32_t lane = 0; lane < 4; lane++)
        assert_string_equal(project(warp, lane), "");
}

static void test_golden(void **state)
{
    (void)state;
    static const char AT_RETURN[] = "14; <call> 18; <call> ";
    struct program *program = support_program(PROGRAM_1);
    struct machine *warp = support_machine(program, SUBJECT_SIMT);
    for (uint32_t k = 0; k <= 4; k++)
        machine_step(warp, 0, &first_choice);
    static const char BREAKING[] = "11; 12; while_cont 7; <brk> 14; <call> 18; <call> ";
    assert_string_equal(project(warp, 0), AT_RETURN);
    assert_string_equal(project(warp, 1), BREAKING);
    assert_string_equal(project(warp, 2), BREAKING);
    assert_string_equal(project(warp, 3), "9; 12; while_cont 7; <brk> 14; <call> 18; <call> ");
    machine_step(warp, 0, &first_choice); /* k = 5: break */
    for (uint32_t lane = 0; lane < 3; lane++)
        assert_string_equal(project(warp, lane), AT_RETURN);
    for (uint32_t k = 6; k <= 10; k++)
        machine_step(warp, 0, &first_choice);
    for (uint32_t lane = 0; lane < 4; lane++)
        assert_string_equal(project(warp, lane), AT_RETURN);
}

/* Table 5, entry by entry, on stacks made by hand. */
static void test_equations(void **state)
{
    (void)state;
    stack_entry call = entry_call(0, 0), stm = entry_make(ENTRY_STM, 1);
    stack_entry entries[] = {call,
                             stm,
                             entry_make(ENTRY_BRK, 0),
                             entry_make(ENTRY_SYNC, 0),
                             entry_make(ENTRY_STM, 2),
                             entry_make(ENTRY_DIV, 0),
                             entry_make(ENTRY_STM, 3)};
    lane_mask masks[] = {15, 0, 7, 3, 0, 1, 0};
    struct warp_state warp = {.theta = 2,
                              .delta_b = 4,
                              .delta_r = 8,
                              .depth = 7,
                              .stack = entries,
                              .masks = masks,
                              .lanes = 4};
    stack_entry out[7];
    /* lane 1, active: stm 3, then div: inactive until sync activates it (no context for it). */
    assert_int_equal(projection_lane(&warp, 1, out), 4);
    assert_int_equal(out[3], entries[6]);
    assert_int_equal(out[2], entries[2]);
    assert_int_equal(out[1], stm);
    assert_int_equal(out[0], call);
    /* lane 0: activated by div; lane 2: disabled by a break, activated by brk, not by sync. */
    assert_int_equal(projection_lane(&warp, 0, out), 4);
    assert_int_equal(out[3], entries[4]);
    assert_int_equal(projection_lane(&warp, 2, out), 2);
    assert_int_equal(out[1], stm);
    /* lane 3: returned, activated by the bottom call. Exited [EXT]: by nothing. */
    assert_int_equal(projection_lane(&warp, 3, out), 0);
    warp.delta_e = 8;
    warp.delta_r = 0;
    assert_int_equal(projection_lane(&warp, 3, out), 0);
}

/* The one-pass comparison finds exactly the lanes whose literal projection differs, also when the
 * configurations are nonsense. */
static void test_compare_is_literal(void **state)
{
    (void)state;
    struct program *program = support_program(PROGRAM_1);
    struct machine *threads = support_machine(program, SUBJECT_THREADS);
    struct pcg rng;
    pcg_seed(&rng, 7, 11);
    uint32_t equal = 0, unequal = 0;
    for (uint32_t round = 0; round < 20000; round++) {
        stack_entry entries[6];
        lane_mask masks[6] = {0};
        struct warp_state warp = {.lanes = 4, .stack = entries, .masks = masks};
        warp.depth = pcg_below(&rng, 7);
        warp.theta = pcg_below(&rng, 16);
        warp.delta_b = pcg_below(&rng, 16) & pcg_below(&rng, 16);
        warp.delta_r = pcg_below(&rng, 16) & pcg_below(&rng, 16) & ~warp.delta_b;
        for (uint32_t i = 0; i < warp.depth; i++) {
            entries[i] = entry_make((enum entry_kind)pcg_below(&rng, 6), pcg_below(&rng, 2));
            masks[i] = pcg_below(&rng, 16);
        }
        /* Threads get the projection of some lane, sometimes with one entry changed. */
        for (uint32_t lane = 0; lane < 4; lane++) {
            struct thread_state *T = (struct thread_state *)(uintptr_t)threads_state(threads, lane);
            T->depth = projection_lane(&warp, pcg_below(&rng, 3) ? lane : 0, T->stack);
            T->pending = pcg_below(&rng, 20) == 0;
            if (T->depth && pcg_below(&rng, 8) == 0)
                T->stack[pcg_below(&rng, T->depth)] ^= 1;
        }
        lane_mask differ = projection_compare(&warp, threads);
        for (uint32_t lane = 0; lane < 4; lane++) {
            const struct thread_state *T = threads_state(threads, lane);
            stack_entry out[6];
            uint32_t depth = projection_lane(&warp, lane, out);
            bool same =
                depth == T->depth && !T->pending && memcmp(out, T->stack, depth * sizeof *out) == 0;
            assert_int_equal(!same, (differ >> lane) & 1);
            equal += same;
            unequal += !same;
        }
    }
    assert_true(equal > 10000 && unequal > 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_initial_and_final, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_golden, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_equations, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_compare_is_literal, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
