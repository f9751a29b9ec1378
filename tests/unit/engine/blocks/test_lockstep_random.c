/* phi(P), run literally, against the fast executor, which runs P itself (vector.h): two readings of
 * LOCK.* that share neither transformation nor rules. Random kernels in block form; status, fault, final
 * shared stores; and other sort orders where the kernel is clean (ORA.perm). */
#include "engine/input/input.h"
#include "tests/unit/shared/blocks.h"

#include "engine/forms/normalise.h"
#include "engine/vector/vector.h"
#include "fuzz/gen/gen.h"

enum { KERNELS = 4000, BUDGET_LANES = 200000, BUDGET_STEPS = 400000 };

struct tally {
    uint32_t compared, terminated, failed, races, orders;
};

static struct program *number(const struct ast_kernel *kernel, unsigned passes)
{
    const char *reason = NULL;
    struct ast_kernel *P = normalise(&test_arena, kernel, passes, &reason);
    assert_non_null(P);
    return program_compile(&test_arena, P, &reason);
}

/* One block of threads after the other, as the fast executor. */
static enum status run_in_turn(struct machine *machine)
{
    for (uint32_t n = 0; n < BUDGET_STEPS && machine_status(machine) == STATUS_RUNNING; n++)
        machine_step(machine, machine->head->live[0], NULL);
    return machine_status(machine);
}

static struct machine *phi_machine(const struct program *P, uint64_t order_seed)
{
    const struct predicate_options options = {.order_seed = order_seed};
    const struct machine_options machine_options = {0};
    const char *reason = NULL;
    struct ast_kernel *phi = lockstep_form(&test_arena, P->core, &options, &reason);
    if (!phi)
        fail_msg("%s", reason);
    return blocks_machine(blocks_compile(phi), &machine_options);
}

static void compare(const struct program *P, uint64_t order_seed, struct tally *tally)
{
    const struct vector_options options = {
        .isa = vector_best_isa(), .races = true, .order_seed = order_seed};
    const char *reason = NULL;
    struct vector_run *run = vector_new(&test_arena, P, &options, &reason);
    if (!run)
        return;
    struct vector_result fast = vector_execute(run, BUDGET_LANES);
    if (fast.status == STATUS_STEP_LIMIT)
        return;
    struct machine *machine = phi_machine(P, order_seed);
    enum status status = run_in_turn(machine);
    const char *text = print_kernel(&test_arena, P->core);
    if (status != fast.status)
        fail_msg("%s and, fast, %s:\n%s", status_names[status], status_names[fast.status], text);
    const struct program *phi = machine->program;
    assert_int_equal(phi->private_base, P->private_base);
    tally->compared++;
    tally->races += fast.race;
    if (status != STATUS_TERMINATED) {
        const struct code_stm *stm = &phi->stms[machine->head->fault_stm];
        if (stm->origin && stm->origin - 1 != fast.fault_stm)
            fail_msg("fault at %u and, fast, %u:\n%s", stm->origin - 1, fast.fault_stm, text);
        tally->failed++;
        return;
    }
    tally->terminated++;
    if (memcmp(machine->memory, vector_memory(run), P->private_base * sizeof(int32_t)) != 0)
        fail_msg("stores differ:\n%s", text);
    if (!fast.race) {
        struct machine *other = phi_machine(P, order_seed + 1);
        if (run_in_turn(other) != STATUS_TERMINATED ||
            memcmp(machine->memory, other->memory, P->private_base * sizeof(int32_t)) != 0)
            fail_msg("another order, another result:\n%s", text);
        tally->orders++;
    }
}

static void random_kernels(void **state)
{
    (void)state;
    struct gen_options options = GEN_DEFAULTS;
    const char *error_at;
    struct tally tally = {0};
    assert_true(gen_parse_features("all,-crs,-known", &options.features, &error_at));
    for (uint32_t i = 0; i < KERNELS; i++) {
        size_t mark = arena_mark(&test_arena);
        const struct ast_kernel *kernel = gen_case(&test_arena, 77, i, &options);
        if (kernel->form == FORM_BLOCKS) {
            const struct program *P = number(kernel, NORMALISE_ALL);
            if (P)
                compare(P, i % 3, &tally);
        }
        arena_release(&test_arena, mark);
    }
    print_message("%u compared: %u terminated, %u failed, %u raced; %u in another order\n",
                  tally.compared, tally.terminated, tally.failed, tally.races, tally.orders);
    assert_true(tally.compared > KERNELS / 4 && tally.terminated > KERNELS / 10);
    assert_true(tally.failed > 5 && tally.races > 5 && tally.orders > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(random_kernels, support_setup, support_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
