#include "engine/base/invariant.h"

#include <stdio.h>
#include <stdlib.h>

static _Thread_local const char *current_case = "no case";
static _Thread_local const char *failed_condition, *failed_file;

void invariant_set_case(const char *description)
{
    current_case = description;
}

const char *invariant_failed(const char **file)
{
    *file = failed_file;
    return failed_condition;
}

void invariant_fail(const char *condition, const char *file, int line)
{
    failed_condition = condition;
    failed_file = file;
    fprintf(stderr, "simtfuzz: invariant failed: %s (%s:%d) in %s\n", condition, file, line,
            current_case);
    abort();
}
