/* Local steps taken at once with the one before them (search_local.c): every verdict of every model, weakly and
 * strongly fair, of threads, warps and blocks, is what it is without, and so are the ends; witnesses are executions.
 * On enumerated tiny programs, random ones about waiting, ordinary ones, and the corpus; as structured kernels,
 * blocks and PTX, of threads and of warps. SIMTFUZZ_LOCAL_CASES: so many times as many. */
#include "tests/unit/shared/many.h"
#include "tests/unit/shared/support.h"
#include "tests/unit/shared/tape_player.h"

#include "engine/machine/live.h"
#include "engine/progress/progress.h"
#include "engine/search/search.h"
#include "engine/subjects/forms.h"
#include "fuzz/generate/generate.h"

#include <stdio.h>
#include <stdlib.h>

static struct {
    uint64_t compared, unknown, more_known, merged, states, merged_states;
    uint64_t endings[4], strong, stem, merged_stem;
} seen;

/* ---- a search ---- */

enum unit_kind { EACH, WARPS, BLOCKS, UNIT_KINDS };

struct asked {
    struct machine *machine;
    struct progress units[UNIT_KINDS];
    const struct search_result *result;
};

static const uint32_t *units_of(const struct machine *machine, enum unit_kind kind, uint32_t *count)
{
    uint32_t *units = ARENA_ARRAY(&test_arena, uint32_t, machine->actor_count);
    const struct program *program = machine->program;
    uint32_t each = machine->actor_count / program->launch.blocks;
    uint32_t warp = each == program->launch.threads ? program->launch.warp : 1;
    for (uint32_t i = 0; i < machine->actor_count; i++) {
        units[i] = i;
        if (kind == WARPS)
            units[i] = i / each * ((each + warp - 1) / warp) + i % each / warp;
        if (kind == BLOCKS)
            units[i] = i / each;
        *count = units[i] + 1;
    }
    return units;
}

static struct asked *search(const struct program *program, const struct subject_info *info,
                            bool merge, uint64_t states)
{
    struct asked *a = ARENA_NEW(&test_arena, struct asked);
    struct search_options options = SEARCH_DEFAULTS;
    a->machine = search_machine_with(&test_arena, info->vtable, program, &info->options);
    for (int k = 0; k < UNIT_KINDS; k++) {
        a->units[k].unit_of = units_of(a->machine, (enum unit_kind)k, &a->units[k].unit_count);
        a->units[k].next = k + 1 < UNIT_KINDS ? &a->units[k + 1] : NULL;
    }
    options.method = SEARCH_STATES;
    options.max_states = states;
    options.max_steps = 64 * states;
    options.max_depth = UINT32_MAX;
    options.no_races = options.no_lasso = true;
    options.merge_local = merge;
    progress_ask(&options, a->units);
    a->result = search_run(&test_arena, a->machine, &options);
    return a;
}

/* ---- comparing ---- */

static bool has_end(const struct search_result *result, const struct search_outcome *outcome,
                    uint32_t words)
{
    for (uint32_t i = 0; i < result->outcome_count; i++) {
        const struct search_outcome *o = &result->outcomes[i];
        if (o->status == outcome->status &&
            (!o->store || memcmp(o->store, outcome->store, 4 * (size_t)words) == 0))
            return true;
    }
    return false;
}

static void compare_ends(const struct asked *a, const struct asked *b)
{
    assert_int_equal(a->result->outcome_count, b->result->outcome_count);
    for (uint32_t i = 0; i < a->result->outcome_count; i++)
        assert_true(has_end(b->result, &a->result->outcomes[i], a->machine->program->private_base));
}

static unit_set enabled(const struct machine *machine, const uint32_t *unit_of)
{
    unit_set units = 0;
    for (uint32_t i = 0; i < machine->head->live_count; i++)
        units |= (unit_set)1 << unit_of[machine->head->live[i]];
    return units;
}

/* Units of which some actor can step and has not finished. */
static unit_set at_work(const struct machine *machine, const uint32_t *unit_of)
{
    unit_set units = 0;
    for (uint32_t i = 0; i < machine->head->live_count; i++)
        if (!is_finished(machine, machine->head->live[i]))
            units |= (unit_set)1 << unit_of[machine->head->live[i]];
    return units;
}

/* Plays the tape; *stepped: who steps; *blocked: who cannot in some state. */
static void play(struct machine *machine, const uint32_t *unit_of, const struct tape *tape,
                 unit_set *stepped, unit_set *blocked)
{
    struct player player = {.choices = {NULL, play_inner, NULL}, .tape = tape};
    while (player.at < tape->count) {
        uint32_t actor = tape->entries[player.at++];
        assert_true(enabled(machine, unit_of) >> unit_of[actor] & 1);
        machine_step(machine, actor, &player.choices);
        assert_int_equal(machine_status(machine), STATUS_RUNNING);
        machine->track.log_count = 0;
        *stepped |= (unit_set)1 << unit_of[actor];
        *blocked |= ~enabled(machine, unit_of);
    }
}

static unit_set fair_units(enum progress_model model, unit_set begun, unit_set unfinished)
{
    unit_set lowest = unfinished & -unfinished, below = begun;
    for (uint32_t shift = 1; shift < 64; shift *= 2)
        below |= below >> shift;
    switch (model) {
    case PROGRESS_UNFAIR:
    case PROGRESS_MODEL_COUNT:
        return 0;
    case PROGRESS_HSA:
        return lowest;
    case PROGRESS_OBE:
        return begun & unfinished;
    case PROGRESS_HSA_OBE:
        return (begun & unfinished) | lowest;
    case PROGRESS_LOBE:
        return below & unfinished;
    case PROGRESS_FAIR:
        break;
    }
    return unfinished;
}

/* A unit that has not finished cannot step for ever only where there are barriers: answer->unfinished has them. */
static void check_witness(const struct asked *a, const struct progress *progress,
                          enum progress_model model)
{
    const struct progress_answer *answer = &progress->answers[model];
    struct machine *machine = a->machine;
    uint32_t *words = ARENA_ARRAY(&test_arena, uint32_t, machine->block_words);
    unit_set begun = 0, stepped = 0, blocked = 0;
    machine_reset(machine);
    play(machine, progress->unit_of, answer->stem, &begun, &blocked);
    machine_save(machine, words);
    assert_true(answer->loop->count > 0);
    blocked = 0;
    play(machine, progress->unit_of, answer->loop, &stepped, &blocked);
    assert_true(machine_equals(machine, words));
    assert_true(stepped == answer->stepped);
    assert_true((at_work(machine, progress->unit_of) & ~answer->unfinished) == 0);
    unit_set F = fair_units(model, begun, answer->unfinished);
    assert_true(F == fair_units(model, begun | stepped, answer->unfinished));
    assert_true(F == answer->fair);
    assert_true((F & ~(stepped | blocked)) == 0);
}

static void compare_units(const struct asked *a, const struct asked *b, int kind)
{
    for (int m = 0; m < PROGRESS_MODEL_COUNT; m++) {
        const struct progress_answer *x = &a->units[kind].answers[m];
        const struct progress_answer *y = &b->units[kind].answers[m];
        assert_int_not_equal(x->verdict, PROGRESS_UNKNOWN);
        assert_int_equal(x->verdict, y->verdict);
        assert_int_equal(x->strong, y->strong);
        seen.endings[x->verdict]++;
        seen.strong += x->verdict != PROGRESS_ENDS && x->strong;
        if (!y->stem)
            continue;
        check_witness(b, &b->units[kind], (enum progress_model)m);
        check_witness(a, &a->units[kind], (enum progress_model)m);
        seen.stem += x->stem->count;
        seen.merged_stem += y->stem->count;
    }
}

static void compare_subject(struct forms *forms, enum subject_id subject, uint64_t states)
{
    const struct subject_info *info = &subject_table[subject];
    const struct program *program = forms_get(forms, info->program)->program;
    if (!program || machine_refuses(&test_arena, info->vtable, program))
        return;
    const struct asked *a = search(program, info, false, states);
    const struct asked *b = search(program, info, true, states);
    if (a->machine->actor_count > PROGRESS_UNITS_MAX)
        return;
    seen.unknown += !a->result->complete;
    seen.more_known += !a->result->complete && b->result->complete;
    if (!a->result->complete)
        return;
    assert_true(b->result->complete);
    seen.compared++;
    seen.merged += b->result->states < a->result->states;
    seen.states += a->result->states;
    seen.merged_states += b->result->states;
    assert_true(b->result->states <= a->result->states);
    compare_ends(a, b);
    for (int k = 0; k < UNIT_KINDS; k++)
        compare_units(a, b, k);
}

static void compare_kernel(const struct ast_kernel *kernel, uint64_t states)
{
    static const enum subject_id subjects[] = {SUBJECT_THREADS, SUBJECT_INTERLEAVE,
                                               SUBJECT_BLOCK,   SUBJECT_SIMT,
                                               SUBJECT_CRS,     SUBJECT_LOCKSTEP};
    struct forms *forms = forms_new(&test_arena, kernel);
    for (uint32_t i = 0; i < sizeof subjects / sizeof *subjects; i++)
        compare_subject(forms, subjects[i], states);
}

static uint64_t times(void)
{
    const char *given = getenv("SIMTFUZZ_LOCAL_CASES");
    return given ? strtoull(given, NULL, 0) : 1;
}

static void report(const char *what)
{
    print_message(
        "%s: %llu compared (%llu unknown, %llu of them known), %llu smaller: %llu states, "
        "%llu; ends %llu, may hang %llu, hangs %llu, strongly %llu; stems %llu, %llu\n",
        what, (unsigned long long)seen.compared, (unsigned long long)seen.unknown,
        (unsigned long long)seen.more_known, (unsigned long long)seen.merged,
        (unsigned long long)seen.states, (unsigned long long)seen.merged_states,
        (unsigned long long)seen.endings[PROGRESS_ENDS],
        (unsigned long long)seen.endings[PROGRESS_MAY_HANG],
        (unsigned long long)seen.endings[PROGRESS_HANGS], (unsigned long long)seen.strong,
        (unsigned long long)seen.stem, (unsigned long long)seen.merged_stem);
    assert_true(seen.merged > 0);
    memset(&seen, 0, sizeof seen);
}

static void generated(const struct gen_options *options, uint64_t seed, uint64_t first,
                      uint64_t step, uint64_t count, uint64_t states)
{
    struct gen_walk walk = {.started = false};
    for (uint64_t i = 0; i < first + count * step; i++) {
        size_t mark = arena_mark(&test_arena);
        const struct ast_kernel *kernel = options->enumerate
                                              ? gen_next_case(&test_arena, seed, i, options, &walk)
                                              : gen_case(&test_arena, seed, i, options);
        if (!kernel)
            break;
        if (i >= first && (i - first) % step == 0)
            compare_kernel(kernel, states);
        arena_release(&test_arena, mark);
    }
}

static void tiny_programs(void **state)
{
    (void)state;
    struct gen_options options = GEN_DEFAULTS;
    options.spin = options.small = options.enumerate = true;
    generated(&options, 0, 0, 1, many(400) * times(), 3000);
    generated(&options, 0, 2000, 97, many(400) * times(), 3000);
    report("enumerated");
}

static void programs_about_waiting(void **state)
{
    (void)state;
    struct gen_options options = GEN_DEFAULTS;
    options.spin = true;
    generated(&options, 11, 0, 1, many(150) * times(), 5000);
    report("about waiting");
}

static void ordinary_programs(void **state)
{
    (void)state;
    struct gen_options options = GEN_DEFAULTS;
    options.small = true;
    generated(&options, 12, 0, 1, many(300) * times(), 2000);
    report("ordinary");
}

static void corpus_kernels(void **state)
{
    (void)state;
    static char text[1 << 18];
    char path[512];
    FILE *list = popen("ls " SIMTFUZZ_SOURCE_DIR "/corpus/*/*.simt", "r");
    assert_non_null(list);
    while (fgets(path, sizeof path, list)) {
        size_t mark = arena_mark(&test_arena);
        struct diag diag;
        path[strcspn(path, "\n")] = 0;
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        size_t length = fread(text, 1, sizeof text, file);
        fclose(file);
        diag_init(&diag, path, text, length);
        const struct ast_kernel *kernel = parse_kernel(&test_arena, text, length, &diag);
        if (kernel && ast_check(kernel, &diag))
            compare_kernel(kernel, 600 * times());
        arena_release(&test_arena, mark);
    }
    pclose(list);
    report("corpus");
}

/* A loop of local steps alone stays a loop; one of more steps than are taken at once, too. */
static void local_loops(void **state)
{
    static const char *const bodies[] = {
        "while (1) ;",
        "private int i; while (1) i = i + 1 - i % 2 * 2;",
        "private int i; while (i < 100) i = i + 1; x = i;",
        "private int i; x = 1; while (1) i = (i + 1) % 61;",
        "private int i, y; y = x; while (y == x) { for (i = 0; i < 50; i++) ; y = x; } x = 2;",
        "private int i; if (tid == 0) while (1) i = (i + 1) % 7; else x = 1;",
    };
    (void)state;
    for (uint32_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        const char *text = arena_printf(
            &test_arena, "launch(threads = 2, warp = 1); shared int x; kernel k() { %s }",
            bodies[i]);
        compare_kernel(support_parse(text), many(200000));
    }
    report("local loops");
}

/* How many: 64 at most with one step. */
static void so_many_at_once(void **state)
{
    (void)state;
    for (uint32_t n = 0; n < 150; n++) {
        const char *body = "";
        for (uint32_t i = 0; i < n; i++)
            body = arena_printf(&test_arena, "%s i = i + 1;", body);
        const struct program *program = support_program(
            arena_printf(&test_arena,
                         "launch(threads = 1, warp = 1); shared int x; kernel k() { private int i;"
                         " x = 1; %s x = 2; }",
                         body));
        const struct asked *plain = search(program, &subject_table[SUBJECT_THREADS], false, 4000);
        const struct asked *merged = search(program, &subject_table[SUBJECT_THREADS], true, 4000);
        assert_true(plain->result->complete && merged->result->complete);
        assert_int_equal(plain->result->transitions, 5 + 2 * n);
        assert_int_equal(merged->result->transitions, 3 + (1 + 2 * n) / 65);
        assert_int_equal(merged->result->states, merged->result->transitions + 1);
        assert_int_equal(merged->result->steps, merged->result->transitions);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiny_programs),     cmocka_unit_test(programs_about_waiting),
        cmocka_unit_test(ordinary_programs), cmocka_unit_test(corpus_kernels),
        cmocka_unit_test(local_loops),       cmocka_unit_test(so_many_at_once),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
