/*
 * Random straight-line programs of warps with barriers - ids, counts and predicates of each lane its own, guarded,
 * lanes that exit - under crs and thread-pc: the set of outcomes over all schedules, with the results of reductions, is
 * that of engine/reference, through all states (bars_search.h), with each option, ends of generations at once and at
 * any time.
 */
#include "tests/unit/engine/crs/bars_search.h"
#include "tests/unit/engine/crs/ptx_programs.h"
#include "tests/unit/shared/many.h"

#include "engine/base/pcg.h"

/* ---- programs ---- */

static struct warps_instruction random_instruction(struct pcg *rng)
{
    static const enum warps_type types[] = {WARPS_SYNC,   WARPS_SYNC, WARPS_SYNC, WARPS_ARRIVE,
                                            WARPS_ARRIVE, WARPS_AND,  WARPS_OR,   WARPS_POPC,
                                            WARPS_POPC,   WARPS_EXIT};
    static const uint8_t counts[] = {2, 4, 4, 4, 6};
    struct warps_instruction i = {.type = types[pcg_below(rng, 10)]};
    i.has_count = i.type == WARPS_ARRIVE || pcg_below(rng, 2);
    i.guard = (uint8_t)(pcg_below(rng, 3) ? 3 : pcg_below(rng, 4));
    i.truth = (uint8_t)pcg_below(rng, 4);
    uint8_t id = (uint8_t)(pcg_below(rng, 4) == 0), count = counts[pcg_below(rng, 5)];
    for (uint32_t lane = 0; lane < WARPS_LANES; lane++) {
        i.id[lane] = pcg_below(rng, 8) ? id : (uint8_t)pcg_below(rng, WARPS_IDS);
        i.count[lane] = pcg_below(rng, 8) ? count : counts[pcg_below(rng, 5)];
    }
    return i;
}

/* Many with one kind of command only: others contradict themselves soon. */
static struct warps_program random_program(struct pcg *rng)
{
    struct warps_program program = {.warps = 2 + pcg_below(rng, 2)};
    bool plain = pcg_below(rng, 2);
    struct warps_instruction same = random_instruction(rng);
    for (uint32_t w = 0; w < program.warps; w++) {
        program.length[w] = pcg_below(rng, WARPS_CODE + 1);
        for (uint32_t k = 0; k < program.length[w]; k++) {
            struct warps_instruction *i = &program.code[w][k];
            *i = random_instruction(rng);
            if (plain && i->type != WARPS_EXIT && same.type != WARPS_EXIT) {
                i->type = same.type;
                i->has_count = same.has_count;
                memcpy(i->count, same.count, sizeof i->count);
            }
        }
    }
    return program;
}

/* The value of one field of an instruction for each thread, as a setting of a register. */
static const char *setting(const struct warps_program *program, const char *name, uint32_t k,
                           int field)
{
    bool is_predicate = field >= 2;
    const char *text = arena_printf(&test_arena, " reg:%%%s%u=", name, (unsigned)k);
    for (uint32_t t = 0; t < program->warps * WARPS_LANES; t++) {
        const struct warps_instruction *i = &program->code[t / WARPS_LANES][k];
        uint32_t lane = t % WARPS_LANES;
        uint32_t value = field == 0   ? i->id[lane]
                         : field == 1 ? i->count[lane]
                         : field == 2 ? i->guard >> lane & 1u
                                      : i->truth >> lane & 1u;
        text = arena_printf(&test_arena, "%s%s%u", text, t && !is_predicate ? "," : "", value);
    }
    return text;
}

static const char *instruction_text(const struct warps_instruction *i, uint32_t k)
{
    const char *count = i->has_count ? arena_printf(&test_arena, ", %%c%u", (unsigned)k) : "";
    unsigned n = (unsigned)k;
    switch (i->type) {
    case WARPS_SYNC:
        return arena_printf(&test_arena, "  @%%g%u bar.sync %%i%u%s;\n", n, n, count);
    case WARPS_ARRIVE:
        return arena_printf(&test_arena, "  @%%g%u bar.arrive %%i%u%s;\n", n, n, count);
    case WARPS_AND:
    case WARPS_OR:
        return arena_printf(&test_arena,
                            "  @%%g%u bar.red.%s.pred %%q, %%i%u%s, %%p%u;\n"
                            "  selp.u32 %%r, 1, 0, %%q;\n  @%%g%u add.u32 %%s, %%s, %%r;\n",
                            n, i->type == WARPS_AND ? "and" : "or", n, count, n, n);
    case WARPS_POPC:
        return arena_printf(&test_arena,
                            "  @%%g%u bar.red.popc.u32 %%r, %%i%u%s, %%p%u;\n"
                            "  @%%g%u add.u32 %%s, %%s, %%r;\n",
                            n, n, count, n, n);
    case WARPS_EXIT:
        return arena_printf(&test_arena, "  @%%g%u st.shared.u32 [%%a], %%s;\n  @%%g%u exit;\n", n,
                            n);
    }
    return NULL;
}

/* The first instructions take each warp to its own; the sum of each lane's results goes to out. */
static const struct program *ptx_of(const struct warps_program *program)
{
    const char *settings =
        arena_printf(&test_arena, "entry=k raw warp=%u threads=%u", (unsigned)WARPS_LANES,
                     (unsigned)(program->warps * WARPS_LANES));
    const char *body = "", *targets = "";
    uint32_t address = 6;
    for (uint32_t w = 0; w < program->warps; w++) {
        for (uint32_t lane = 0; lane < WARPS_LANES; lane++)
            targets = arena_printf(&test_arena, "%s%s%u", targets, *targets ? "," : "",
                                   (unsigned)address);
        for (uint32_t k = 0; k < program->length[w]; k++) {
            const struct warps_instruction *i = &program->code[w][k];
            body = arena_printf(&test_arena, "%s%s", body, instruction_text(i, k));
            address += i->type == WARPS_AND || i->type == WARPS_OR      ? 3u
                       : i->type == WARPS_POPC || i->type == WARPS_EXIT ? 2u
                                                                        : 1u;
        }
        body = arena_printf(&test_arena, "%s  st.shared.u32 [%%a], %%s;\n  exit;\n", body);
        address += 2;
    }
    settings = arena_printf(&test_arena, "%s reg:%%t=%s", settings, targets);
    for (uint32_t k = 0; k < WARPS_CODE; k++)
        settings = arena_printf(&test_arena, "%s%s%s%s%s", settings, setting(program, "i", k, 0),
                                setting(program, "c", k, 1), setting(program, "g", k, 2),
                                setting(program, "p", k, 3));
    return ptx_program_of(arena_printf(
        &test_arena,
        "// simtfuzz: %s\n.version 8.0\n.target sm_80\n.address_size 32\n.shared .b32 out[%u];\n"
        ".visible .entry k() {\n  .reg .pred %%g<3>, %%p<3>, %%q;\n"
        "  .reg .b32 %%i<3>, %%c<3>, %%r, %%s, %%t, %%a;\n"
        "  mov.u32 %%a, %%tid.x;\n  shl.b32 %%a, %%a, 2;\n  mov.u32 %%r, out;\n"
        "  add.u32 %%a, %%a, %%r;\n  bra %%t;\n%s}\n",
        settings, (unsigned)(WARPS_MAX * WARPS_LANES), body));
}

/* ---- comparison ---- */

static const struct bars_option {
    const char *name;
    struct warps_options report;
    uint32_t bits;
} rows[] = {
    {"at once", {.late = false}, 0},
    {"late", {.late = true}, BLOCK_LATE},
    {"all warps", {.all_warps = true}, BLOCK_ALL_WARPS},
    {"lanes", {.lanes = true}, BLOCK_LANES},
    {"exit arrives", {.exit_arrives = true}, BLOCK_EXIT_ARRIVES},
    {"exit arrives, late", {.exit_arrives = true, .late = true}, BLOCK_EXIT_ARRIVES | BLOCK_LATE},
};

static void engine_outcomes(const struct semantics *semantics, const struct program *program,
                            uint32_t options, uint32_t *outcomes, uint64_t *results)
{
    const struct machine_options with = {.block_options = options};
    struct machine *machine = search_machine_with(&test_arena, semantics, program, &with);
    struct search_options search = SEARCH_DEFAULTS;
    search.method = SEARCH_STATES;
    search.max_outcomes = 256;
    const struct search_result *result = search_run(&test_arena, machine, &search);
    assert_true(result->complete);
    *outcomes = 0;
    *results = 0;
    for (uint32_t i = 0; i < result->outcome_count; i++) {
        const struct search_outcome *outcome = &result->outcomes[i];
        *outcomes |= outcome->status == STATUS_TERMINATED ? WARPS_COMPLETED
                     : outcome->status == STATUS_DEADLOCK ? WARPS_DEADLOCK
                     : outcome->status == STATUS_STUCK    ? WARPS_STUCK
                                                          : 8u;
        if (outcome->status == STATUS_TERMINATED)
            *results +=
                warps_hash((const uint32_t *)outcome->store + support_address(program, "out"));
    }
}

static void random_programs_agree_with_the_report(void **state)
{
    (void)state;
    enum { PROGRAMS = 1500 };
    uint32_t seen[8] = {0}, several = 0;
    struct pcg rng;
    pcg_seed(&rng, 2, 1);
    for (uint32_t n = 0; n < many(PROGRAMS); n++) {
        size_t mark = arena_mark(&test_arena);
        struct warps_program random = random_program(&rng);
        const struct program *program = ptx_of(&random);
        for (uint32_t o = 0; o < sizeof rows / sizeof *rows; o++) {
            size_t inner = arena_mark(&test_arena);
            struct warps_search report = {.program = &random, .options = rows[o].report};
            uint32_t outcomes;
            uint64_t results;
            warps_run(&report);
            engine_outcomes(n % 4 ? &semantics_crs : &semantics_thread_pc, program, rows[o].bits,
                            &outcomes, &results);
            if (outcomes != report.outcomes || results != report.results)
                fail_msg("program %u, %s: engine %x %llx, report %x %llx\n%s", (unsigned)n,
                         rows[o].name, (unsigned)outcomes, (unsigned long long)results,
                         (unsigned)report.outcomes, (unsigned long long)report.results,
                         ptx_print(&test_arena, program->ptx->module));
            seen[outcomes]++;
            several += report.seen_count > 1;
            arena_release(&test_arena, inner);
        }
        arena_release(&test_arena, mark);
    }
    for (uint32_t i = 1; i < 8; i++)
        if (seen[i] == 0)
            fail_msg("no program with outcomes %x", (unsigned)i);
    assert_true(several > 0);
}

/* ---- the variants of a step, and what observers hear ---- */

struct heard {
    uint32_t waiting[WARPS_MAX][WARPS_IDS]; /* lanes that wait */
    uint32_t generation[WARPS_IDS];
    bool tracked;
};

static void on_use(void *context, const struct machine *machine, const struct barrier_use *use)
{
    struct heard *heard = context;
    uint32_t *waiting = &heard->waiting[use->first_thread / WARPS_LANES][use->barrier];
    uint32_t lanes = (uint32_t)__builtin_popcountll(use->mask);
    (void)machine;
    assert_true(lanes > 0 && use->count > 0);
    if (heard->tracked)
        assert_int_equal(use->generation, 0);
    else
        assert_true(use->generation == heard->generation[use->barrier] ||
                    use->generation == heard->generation[use->barrier] + 1);
    heard->generation[use->barrier] = use->generation;
    if (use->kind == BARRIER_SYNCS)
        *waiting += lanes;
    if (use->kind == BARRIER_RELEASES) {
        assert_int_equal(*waiting, lanes);
        *waiting = 0;
    }
}

/* Its final state in words, under one schedule. */
static enum status run_variant(const struct program *program, uint32_t variant, uint64_t seed,
                               int32_t *store)
{
    struct heard heard = {.tracked = variant & MACHINE_TRACKED};
    const struct observer observer = {.context = &heard, .use = on_use};
    const struct machine_options options = {
        .block_options = BLOCK_LATE,
        .track = variant & MACHINE_TRACKED,
        .observers = variant & MACHINE_OBSERVED ? &observer : NULL,
    };
    struct machine *machine = machine_new(&test_arena, &semantics_crs, program, &options);
    const struct sched_spec spec = {.kind = SCHED_UNIFORM, .seed = seed};
    struct scheduler scheduler;
    sched_start(&scheduler, &spec, machine, &test_arena);
    machine_run(machine, &scheduler.choices, 1000, NULL);
    for (uint32_t w = 0; (variant & MACHINE_OBSERVED) && w < program->warp_count; w++)
        for (uint32_t id = 0; id < WARPS_IDS; id++) {
            bool waits = crs_warp(machine, w).state->waiting >> id & 1;
            if (machine_status(machine) != STATUS_STUCK)
                assert_int_equal(waits, heard.waiting[w][id] > 0);
        }
    memcpy(store, machine->memory, 4 * program->private_base);
    return machine_status(machine);
}

static void variants_of_a_step_do_the_same(void **state)
{
    (void)state;
    enum { PROGRAMS = 1500 };
    struct pcg rng;
    pcg_seed(&rng, 3, 1);
    for (uint32_t n = 0; n < many(PROGRAMS); n++) {
        size_t mark = arena_mark(&test_arena);
        struct warps_program random = random_program(&rng);
        const struct program *program = ptx_of(&random);
        int32_t *first = ARENA_ARRAY(&test_arena, int32_t, program->private_base + 1);
        int32_t *other = ARENA_ARRAY(&test_arena, int32_t, program->private_base + 1);
        enum status status = run_variant(program, 0, n, first);
        for (uint32_t variant = 1; variant < 4; variant++) {
            assert_int_equal(run_variant(program, variant, n, other), status);
            assert_memory_equal(other, first, 4 * program->private_base);
        }
        arena_release(&test_arena, mark);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs_agree_with_the_report),
        cmocka_unit_test(variants_of_a_step_do_the_same),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
