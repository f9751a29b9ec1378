#include "fuzz/beside/beside_internal.h"

#include <string.h>

const struct beside_kind beside_table[BESIDE_COUNT] = {
    [BESIDE_HOST] = {"host", "a host program", "host programs", ".host", "check", "trace FILE.host",
                     host_case_judge, host_case_example, host_case_again, host_case_reduce},
    [BESIDE_LITMUS] = {"litmus", "a litmus test", "litmus tests", ".litmus", "litmus",
                       "litmus FILE.litmus", law_case_judge, law_case_example, law_case_again,
                       NULL}};

const struct beside_kind *beside_of(const char *signature)
{
    size_t length = strcspn(signature, "|");
    for (uint32_t b = 0; b < BESIDE_COUNT; b++)
        if (strlen(beside_table[b].name) == length &&
            memcmp(signature, beside_table[b].name, length) == 0)
            return &beside_table[b];
    return NULL;
}
