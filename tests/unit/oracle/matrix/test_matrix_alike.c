/* Kernels that are said to end without a search: all executions are alike (matrix_alike.c). Wrong versions say so of a
 * kernel that has a choice, a conflict, a loop that comes back or an end that is none, or do not say so of one that has
 * none of these. */
#include "engine/input/input.h"
#include "tests/unit/shared/support.h"

#include "engine/input/ptx_kernel.h"
#include "engine/search/search.h"
#include "engine/subjects/forms.h"
#include "oracle/matrix/matrix_internal.h"

#define SIMT(launch, body)                                                                         \
    "launch(" launch                                                                               \
    "); shared int a[4]; shared int x; global int g; kernel k() { private int i; " body " }"
#define PTX(launch, body)                                                                          \
    "// simtfuzz: " launch "\n.version 7.0\n.target sm_70\n.address_size 64\n"                     \
    ".visible .entry k()\n{\n.reg .b32 r<4>;\n.reg .pred p;\n" body "\n}\n"

static const struct {
    const char *text;
    enum subject_id subject;
    bool alike;
} kernels[] = {
    {SIMT("threads = 4", "for (i = 0; i < 3; i++) a[tid] += i;"), SUBJECT_THREADS, true},
    {SIMT("threads = 4", "for (i = 0; i < 3; i++) a[tid] += i;"), SUBJECT_SIMT, true},
    /* a write and a read of one interval, and of two */
    {SIMT("threads = 2", "a[tid] = 1; while (a[1 - tid] == 0) ;"), SUBJECT_THREADS, false},
    {SIMT("threads = 2", "a[tid] = 1; barrier(); while (a[1 - tid] == 0) ;"), SUBJECT_THREADS,
     true},
    /* what atomics of one location give back depends on their order; of several it does not */
    {SIMT("threads = 2", "i = atomic_add(x, 1); while (i > 5) ;"), SUBJECT_THREADS, false},
    {SIMT("threads = 2", "i = atomic_add(a[tid], 1); while (i > 5) ;"), SUBJECT_THREADS, true},
    /* no conflict, but no end; and an end that is an error */
    {SIMT("threads = 2", "while (1) ;"), SUBJECT_THREADS, false},
    {SIMT("threads = 2", "while (i >= 0) i++;"), SUBJECT_THREADS, false},
    {SIMT("threads = 2", "while (i < 2) i++; assert(tid);"), SUBJECT_THREADS, false},
    /* what havoc gives is no choice of a schedule; which lane writes last is one */
    {SIMT("threads = 1, warp = 1", "havoc(i); while (i == 0) i = 1;"), SUBJECT_THREADS, true},
    {SIMT("threads = 2", "x = tid; for (i = 0; i < 2; i++) ;"), SUBJECT_SIMT, false},
    /* a branch of all lanes to one place is a choice with one way */
    {PTX("threads=2 warp=2",
         "mov.u32 r1, 0;\nL: add.u32 r1, r1, 1;\nsetp.lt.u32 p, r1, 3;\n@p bra L;\n"
         "T: .branchtargets A, B;\nmov.u32 r2, 1;\nbrx.idx r2, T;\nA: exit;\nB: exit;"),
     SUBJECT_CRS, true},
    {PTX("threads=2 warp=2",
         "mov.u32 r1, 0;\nL: add.u32 r1, r1, 1;\nsetp.lt.u32 p, r1, 3;\n@p bra L;\n"
         "T: .branchtargets A, B;\nmov.u32 r2, %tid.x;\nbrx.idx r2, T;\nA: exit;\nB: exit;"),
     SUBJECT_CRS, false},
    /* threads that are left out of a barrier */
    {PTX("threads=2 warp=1",
         "mov.u32 r1, 0;\nL: add.u32 r1, r1, 1;\nsetp.lt.u32 p, r1, 3;\n@p bra L;\n"
         "bar.sync 0;\nexit;"),
     SUBJECT_BLOCK, true},
    {PTX("threads=2 warp=1",
         "mov.u32 r1, 0;\nL: add.u32 r1, r1, 1;\nsetp.lt.u32 p, r1, 3;\n@p bra L;\n"
         "bar.sync 1;\nexit;"),
     SUBJECT_BLOCK, false},
};

static const struct program *program_of(const char *text, enum subject_id subject)
{
    struct diag diag;
    diag_init(&diag, "kernel", text, strlen(text));
    struct ast_kernel *kernel = text[0] == '/'
                                    ? ptx_kernel_parse(&test_arena, text, strlen(text), &diag)
                                    : parse_kernel(&test_arena, text, strlen(text), &diag);
    if (!kernel)
        diag_print(&diag, stderr);
    assert_non_null(kernel);
    const struct form *form =
        forms_get(forms_new(&test_arena, kernel), subject_table[subject].program);
    assert_non_null(form->program);
    return form->program;
}

static void all_executions_are_alike(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        const struct subject_info *info = &subject_table[kernels[i].subject];
        const struct program *program = program_of(kernels[i].text, kernels[i].subject);
        struct machine *machine =
            search_machine_with(&test_arena, info->vtable, program, &info->options);
        size_t mark = arena_mark(&test_arena);
        if (matrix_all_alike(&test_arena, machine) != kernels[i].alike)
            fail_msg("row %u: it is %d", i, !kernels[i].alike);
        assert_int_equal(arena_mark(&test_arena), mark);
        assert_null(machine->options.observers); /* the detector's is gone with the detector */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_executions_are_alike, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
