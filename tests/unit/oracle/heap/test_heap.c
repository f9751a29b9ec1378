/* The heap of kernels: drawn kernels do with it what the list says, and the list hears when they do not. */
#include "oracle/heap/heap.h"

#include "oracle/heap/heap_internal.h"
#include "tests/unit/shared/support.h"

#include <string.h>

enum { KERNELS = 400 };

static void drawn_kernels(void **state)
{
    (void)state;
    for (uint64_t number = 0; number < KERNELS; number++) {
        const size_t mark = arena_mark(&test_arena);
        const char *text, *differs = heap_of_kernel(&test_arena, number, &text);
        if (differs)
            fail_msg("%s\n%s", differs, text);
        arena_release(&test_arena, mark);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(drawn_kernels)};
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
