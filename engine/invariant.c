#include "engine/invariant.h"

#include <stdio.h>
#include <stdlib.h>

static _Thread_local const char *current_case = "no case";

void invariant_set_case(const char *description)
{
    current_case = description;
}

void invariant_fail(const char *condition, const char *file, int line)
{
    fprintf(stderr, "simtfuzz: invariant failed: %s (%s:%d) in %s\n", condition, file, line,
            current_case);
    abort();
}
