/*
 * checking.h - a check that a test takes step by step: of a kernel, with the test's own options and result, before
 * explore_prepare.
 */
#ifndef TESTS_UNIT_CHECKING_H
#define TESTS_UNIT_CHECKING_H

#include "tests/unit/shared/support.h"

#include "oracle/check/explore.h"

static inline struct checking checking_of(const char *text, const struct check_options *options,
                                          struct check_result *result)
{
    struct checking c = {
        .arena = &test_arena, .options = options, .kernel = support_parse(text), .result = result};
    c.forms = forms_new(&test_arena, c.kernel);
    return c;
}

#endif
