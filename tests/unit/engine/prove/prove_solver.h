/*
 * prove_solver.h - for tests that ask a solver: one for all tests of a program, which do not run where it is not
 * installed.
 */
#ifndef TESTS_UNIT_PROVE_SOLVER_H
#define TESTS_UNIT_PROVE_SOLVER_H

#include "engine/prove/prove.h"
#include "tests/unit/shared/support.h"

#include <stdio.h>
#include <stdlib.h>

static struct solver *solver;

static int solver_start(void **state)
{
    static const struct solver_options options = {
        .command = SOLVER_COMMAND, .budget = SOLVER_BUDGET, .seconds = SOLVER_SECONDS};
    if (support_setup(state) != 0)
        return 1;
    solver = solver_new(&test_arena, &options);
    return 0;
}

static int solver_stop(void **state)
{
    solver_end(solver);
    return support_teardown(state);
}

/* A macro, as cmocka's is, which counts the elements. */
#define RUN_WITH_SOLVER(tests)                                                                     \
    (system("command -v z3 >/dev/null") != 0                                                       \
         ? (puts("z3 is not installed: nothing is tested"), 0)                                     \
         : cmocka_run_group_tests(tests, solver_start, solver_stop))

#endif
