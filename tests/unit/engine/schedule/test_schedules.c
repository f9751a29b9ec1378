/* Which schedules the executions of each subject follow, by their numbers in the portfolio (sched_portfolio), and which
 * of them are cut or proven to run for ever: how many there are for an option, where there is a choice, and when no
 * more are worth their time. SIMTFUZZ_BLESS=1 prints the table anew. */
#include "tests/unit/shared/checking.h"

#include "engine/base/text.h"
#include "engine/schedule/tape.h"

#include <inttypes.h>
#include <stdlib.h>

enum { BUDGET = 600 };

/* Two warps, and races; one warp whose lanes write to one place; none of it; one thread; several blocks. */
#define WARPS "launch(threads = 4, warp = 2); shared int x; kernel k() { x = tid; x = x + 1; }"
#define CONFLICT "launch(threads = 3, warp = 4); shared int x; kernel k() { x = tid; }"
#define APART "launch(threads = 3, warp = 4); shared int x[3]; kernel k() { x[tid] = tid; }"
#define ALONE "launch(threads = 1, warp = 2); shared int x; kernel k() { x = x + 1; }"
#define CHOICE                                                                                     \
    "launch(threads = 1); shared int x; kernel k() blocks { Start: ; goto A, B; A: ; x = 1; goto " \
    "End; B: ; x = 2; goto End; }"
#define BLOCKS "launch(threads = 2, warp = 2, blocks = 2); global int x; kernel k() { x = bid; }"
/* Ends under a fair schedule; of nobody; of a warp without a stack only. */
#define WAITS                                                                                      \
    "launch(threads = 2, warp = 1); shared int x; kernel k() { if (tid) x = 1; else while (x == "  \
    "0) ; }"
#define SPINS "launch(threads = 2, warp = 2); shared int x; kernel k() { while (x == 0) ; }"
#define DEADLOCKS                                                                                  \
    "launch(threads = 2, warp = 2); shared int x; kernel k() { if (tid) x = 1; else while (x == "  \
    "0) ; }"
#define LONG                                                                                       \
    "launch(threads = 2, warp = 1); shared int x; kernel k() { while (x >= 0) x = (x + 1) & "      \
    "65535; }"

static const struct {
    const char *text;
    uint32_t schedules;
    uint64_t seed;
    enum subject_id tape; /* whose other executions follow a tape */
    const char *numbers;
} table[] = {
    {WARPS, 1, 1, SUBJECT_COUNT,
     "threads 0; simt 0 2; simt:then-first 0 2; interleave 11; predicated 11; lockstep 11; crs 11; "
     "thread-pc 11; block 11"},
    {WARPS, 8, 1, SUBJECT_COUNT,
     "threads 0-7; simt 0 2; simt:then-first 0 2; interleave 0 2; predicated 11; lockstep 11; crs "
     "11; thread-pc 11; block 11"},
    {WARPS, 16, 1, SUBJECT_COUNT,
     "threads 0-15; simt 0 2; simt:then-first 0 2; interleave 0 2 11-12; predicated 11; lockstep 0 "
     "2; crs 11; thread-pc 11; block 11"},
    {WARPS, 24, 1, SUBJECT_COUNT,
     "threads 0-23; simt 0 2-3; simt:then-first 0 2-3; interleave 0 2 11-14; predicated 11; "
     "lockstep 0 2 11; crs 11; thread-pc 11; block 11"},
    {WARPS, 32, 1, SUBJECT_COUNT,
     "threads 0-31; simt 0 2-3 1; simt:then-first 0 2-3 1; interleave 0 2 11-15 3; predicated 0 2; "
     "lockstep 0 2 11-12; crs 0 2; thread-pc 0 2; block 0 2"},
    {WARPS, 40, 1, SUBJECT_COUNT,
     "threads 0-39; simt 0 2-3 1 4; simt:then-first 0 2-3 1 4; interleave 0 2 11-15 3-5; "
     "predicated 0 2; lockstep 0 2 11-13; crs 0 2; thread-pc 0 2; block 0 2"},
    {WARPS, 64, 1, SUBJECT_COUNT,
     "threads 0-63; simt 0 2-3 1 4-7; simt:then-first 0 2-3 1 4-7; interleave 0 2 11-15 3-10 24; "
     "predicated 0 2 11-12; lockstep 0 2 11-15 3; crs 0 2 11-12; thread-pc 0 2 11-12; block 0 2 "
     "11-12"},
    {CONFLICT, 1, 1, SUBJECT_COUNT,
     "threads 0; simt 0-3; simt:then-first 0-3; interleave 11; predicated 11; lockstep 11; crs 11; "
     "thread-pc 11; block 11"},
    {CONFLICT, 8, 1, SUBJECT_COUNT,
     "threads 0-7; simt 0-3; simt:then-first 0-3; interleave 0 2; predicated 11; lockstep 11; crs "
     "11; thread-pc 11; block 11"},
    {CONFLICT, 16, 1, SUBJECT_COUNT,
     "threads 0-15; simt 0-3; simt:then-first 0-3; interleave 0 2 11-12; predicated 11; lockstep 0 "
     "2; crs 11; thread-pc 11; block 11"},
    {CONFLICT, 24, 1, SUBJECT_COUNT,
     "threads 0-23; simt 0-3; simt:then-first 0-3; interleave 0 2 11-14; predicated 11; lockstep 0 "
     "2 11; crs 11; thread-pc 11; block 11"},
    {CONFLICT, 32, 1, SUBJECT_COUNT,
     "threads 0-31; simt 0-3; simt:then-first 0-3; interleave 0 2 11-15 3; predicated 0 2; "
     "lockstep 0 2 11-12; crs 0 2; thread-pc 0 2; block 0 2"},
    {CONFLICT, 40, 1, SUBJECT_COUNT,
     "threads 0-39; simt 0-4; simt:then-first 0-4; interleave 0 2 11-15 3-5; predicated 0 2; "
     "lockstep 0 2 11-13; crs 0 2; thread-pc 0 2; block 0 2"},
    {CONFLICT, 64, 1, SUBJECT_COUNT,
     "threads 0-63; simt 0-7; simt:then-first 0-7; interleave 0 2 11-15 3-10 24; predicated 0 2 "
     "11-12; lockstep 0 2 11-15 3; crs 0 2 11-12; thread-pc 0 2 11-12; block 0 2 11-12"},
    {APART, 1, 1, SUBJECT_COUNT,
     "threads 0; simt 0; simt:then-first 0; interleave 11; predicated 11; lockstep 11; crs 11; "
     "thread-pc 11; block 11"},
    {APART, 8, 1, SUBJECT_COUNT,
     "threads 0-7; simt 0; simt:then-first 0; interleave 0 2; predicated 11; lockstep 11; crs 11; "
     "thread-pc 11; block 11"},
    {APART, 16, 1, SUBJECT_COUNT,
     "threads 0-15; simt 0; simt:then-first 0; interleave 0 2 11-12; predicated 11; lockstep 0; "
     "crs 11; thread-pc 11; block 11"},
    {APART, 24, 1, SUBJECT_COUNT,
     "threads 0-23; simt 0; simt:then-first 0; interleave 0 2 11-14; predicated 11; lockstep 0; "
     "crs 11; thread-pc 11; block 11"},
    {APART, 32, 1, SUBJECT_COUNT,
     "threads 0-31; simt 0; simt:then-first 0; interleave 0 2 11-15 3; predicated 0 2; lockstep 0; "
     "crs 0; thread-pc 0; block 0 2"},
    {APART, 40, 1, SUBJECT_COUNT,
     "threads 0-39; simt 0; simt:then-first 0; interleave 0 2 11-15 3-5; predicated 0 2; lockstep "
     "0; crs 0; thread-pc 0; block 0 2"},
    {APART, 64, 1, SUBJECT_COUNT,
     "threads 0-63; simt 0; simt:then-first 0; interleave 0 2 11-15 3-10 24; predicated 0 2 11-12; "
     "lockstep 0; crs 0; thread-pc 0; block 0 2 11-12"},
    {ALONE, 1, 2, SUBJECT_COUNT,
     "threads 0; simt 0; simt:then-first 0; interleave 13; predicated 13; lockstep 13; crs 13; "
     "thread-pc 13; block 13"},
    {ALONE, 16, 2, SUBJECT_COUNT,
     "threads 0-15; simt 0; simt:then-first 0; interleave 0; predicated 13; lockstep 0; crs 13; "
     "thread-pc 13; block 13"},
    {ALONE, 40, 2, SUBJECT_COUNT,
     "threads 0-39; simt 0; simt:then-first 0; interleave 0; predicated 0; lockstep 0; crs 0; "
     "thread-pc 0; block 0"},
    {CHOICE, 1, 2, SUBJECT_COUNT, "interleave 13; predicated 13; lockstep 13"},
    {CHOICE, 16, 2, SUBJECT_COUNT, "interleave 0; predicated 13; lockstep 0"},
    {CHOICE, 40, 2, SUBJECT_COUNT, "interleave 0; predicated 0; lockstep 0"},
    {BLOCKS, 1, 2, SUBJECT_COUNT,
     "threads 0; simt 0 2; simt:then-first 0 2; interleave 13; predicated 13; lockstep 13; crs 13; "
     "thread-pc 13; block 13"},
    {BLOCKS, 16, 2, SUBJECT_COUNT,
     "threads 0-15; simt 0 2; simt:then-first 0 2; interleave 0 2 13-14; predicated 13; lockstep 0 "
     "2; crs 13; thread-pc 13; block 13"},
    {BLOCKS, 40, 2, SUBJECT_COUNT,
     "threads 0-39; simt 0 2-3 1 4; simt:then-first 0 2-3 1 4; interleave 0 2 13-15 3-7; "
     "predicated 0 2; lockstep 0 2 13-15; crs 0 2; thread-pc 0 2; block 0 2"},
    {WAITS, 2, 3, SUBJECT_COUNT,
     "threads 0cut 1; simt 0cut 2; simt:then-first 0cut 2; interleave 14; predicated 14; lockstep "
     "14loop; crs 14; thread-pc 14; block 14"},
    {WAITS, 16, 3, SUBJECT_COUNT,
     "threads 0cut 1-4 5cut 6-7 8cut 9-14 15cut; simt 0cut 2; simt:then-first 0cut 2; interleave "
     "0cut 2 14 15cut; predicated 14; lockstep 0loop; crs 14; thread-pc 14; block 14"},
    {WAITS, 48, 3, SUBJECT_COUNT,
     "threads 0cut 1-4 5cut 6-7 8cut 9-14 15cut 23-25 29 34-36 41 45-47; simt 0cut 2-3 1 4 5cut; "
     "simt:then-first 0cut 2-3 1 4 5cut; interleave 0cut 2 14 15cut 3-4 5cut 6-7 8cut 10; "
     "predicated 0cut 2 14; lockstep 0loop; crs 0cut 2 14; thread-pc 0cut 2 14; block 0cut 2 14"},
    {SPINS, 2, 3, SUBJECT_COUNT,
     "threads 0cut 1cut; simt 0loop; simt:then-first 0loop; interleave 14loop; predicated 14loop; "
     "lockstep 14loop; crs 14loop; thread-pc 14loop; block 14loop"},
    {SPINS, 16, 3, SUBJECT_COUNT,
     "threads 0cut 1cut 2cut; simt 0loop; simt:then-first 0loop; interleave 0cut 2loop; predicated "
     "14loop; lockstep 0loop; crs 14loop; thread-pc 14loop; block 14loop"},
    {SPINS, 48, 3, SUBJECT_COUNT,
     "threads 0cut 1cut 2cut; simt 0loop; simt:then-first 0loop; interleave 0cut 2loop; predicated "
     "0cut 2loop; lockstep 0loop; crs 0loop; thread-pc 0loop; block 0cut 2loop"},
    {DEADLOCKS, 2, 3, SUBJECT_COUNT,
     "threads 0cut 1; simt 0loop; simt:then-first 0; interleave 14; predicated 14; lockstep "
     "14loop; crs 14; thread-pc 14; block 14"},
    {DEADLOCKS, 16, 3, SUBJECT_COUNT,
     "threads 0cut 1-4 5cut 6-7 8cut 9-14 15cut; simt 0loop; simt:then-first 0; interleave 0cut 2 "
     "14 15cut; predicated 14; lockstep 0loop; crs 14; thread-pc 14; block 14"},
    {DEADLOCKS, 48, 3, SUBJECT_COUNT,
     "threads 0cut 1-4 5cut 6-7 8cut 9-14 15cut 23-25 29 34-36 41 45-47; simt 0loop; "
     "simt:then-first 0; interleave 0cut 2 14 15cut 3-4 5cut 6-7 8cut 10; predicated 0cut 2 14; "
     "lockstep 0loop; crs 0; thread-pc 0; block 0cut 2 14"},
    {LONG, 2, 3, SUBJECT_COUNT,
     "threads 0cut 1cut; simt 0cut 2cut; simt:then-first 0cut 2cut; interleave 14cut; predicated "
     "14cut; lockstep 14cut; crs 14cut; thread-pc 14cut; block 14cut"},
    {LONG, 16, 3, SUBJECT_COUNT,
     "threads 0cut 1cut 2cut; simt 0cut 2cut; simt:then-first 0cut 2cut; interleave 0cut 2cut; "
     "predicated 14cut; lockstep 0cut; crs 14cut; thread-pc 14cut; block 14cut"},
    {LONG, 48, 3, SUBJECT_COUNT,
     "threads 0cut 1cut 2cut; simt 0cut 2cut; simt:then-first 0cut 2cut; interleave 0cut 2cut; "
     "predicated 0cut 2cut; lockstep 0cut; crs 0cut 2cut; thread-pc 0cut 2cut; block 0cut 2cut"},
    {WARPS, 16, 4, SUBJECT_COUNT,
     "threads 0-15; simt 0 2; simt:then-first 0 2; interleave 0 2 12-13; predicated 12; lockstep 0 "
     "2; crs 12; thread-pc 12; block 12"},
    {WARPS, 16, 5, SUBJECT_COUNT,
     "threads 0-15; simt 0 2; simt:then-first 0 2; interleave 0 2 15 3; predicated 15; lockstep 0 "
     "2; crs 15; thread-pc 15; block 15"},
    {WARPS, 16, 6, SUBJECT_COUNT,
     "threads 0-15; simt 0 2; simt:then-first 0 2; interleave 0 2 10-11; predicated 10; lockstep 0 "
     "2; crs 10; thread-pc 10; block 10"},
    {WARPS, 16, 7, SUBJECT_COUNT,
     "threads 0-15; simt 0 2; simt:then-first 0 2; interleave 0 2-4; predicated 3; lockstep 0 2; "
     "crs 3; thread-pc 3; block 3"},
    {WARPS, 16, 8, SUBJECT_COUNT,
     "threads 0-15; simt 0 2; simt:then-first 0 2; interleave 0 2-4; predicated 3; lockstep 0 2; "
     "crs 3; thread-pc 3; block 3"},
    {WARPS, 16, 9, SUBJECT_COUNT,
     "threads 0-15; simt 0 2; simt:then-first 0 2; interleave 0 2 9-10; predicated 9; lockstep 0 "
     "2; crs 9; thread-pc 9; block 9"},
    {WARPS, 16, 10, SUBJECT_COUNT,
     "threads 0-15; simt 0 2; simt:then-first 0 2; interleave 0 2 13-14; predicated 13; lockstep 0 "
     "2; crs 13; thread-pc 13; block 13"},
    {WARPS, 16, 11, SUBJECT_COUNT,
     "threads 0-15; simt 0 2; simt:then-first 0 2; interleave 0 2 10-11; predicated 10; lockstep 0 "
     "2; crs 10; thread-pc 10; block 10"},
    {WARPS, 1, 1, SUBJECT_THREADS,
     "threads 0 tape; simt 0 2; simt:then-first 0 2; interleave 11; predicated 11; lockstep 11; "
     "crs 11; thread-pc 11; block 11"},
    {WARPS, 24, 1, SUBJECT_THREADS,
     "threads 0 tape; simt 0 2-3; simt:then-first 0 2-3; interleave 0 2 11-14; predicated 11; "
     "lockstep 0 2 11; crs 11; thread-pc 11; block 11"},
    {WARPS, 1, 1, SUBJECT_SIMT,
     "threads 0; simt 0 tape; simt:then-first 0 2; interleave 11; predicated 11; lockstep 11; crs "
     "11; thread-pc 11; block 11"},
    {WARPS, 24, 1, SUBJECT_SIMT,
     "threads 0-23; simt 0 tape; simt:then-first 0 2-3; interleave 0 2 11-14; predicated 11; "
     "lockstep 0 2 11; crs 11; thread-pc 11; block 11"},
    {WARPS, 1, 1, SUBJECT_SIMT_THEN,
     "threads 0; simt 0 2; simt:then-first 0 tape; interleave 11; predicated 11; lockstep 11; crs "
     "11; thread-pc 11; block 11"},
    {WARPS, 24, 1, SUBJECT_SIMT_THEN,
     "threads 0-23; simt 0 2-3; simt:then-first 0 tape; interleave 0 2 11-14; predicated 11; "
     "lockstep 0 2 11; crs 11; thread-pc 11; block 11"},
    {WARPS, 1, 1, SUBJECT_INTERLEAVE,
     "threads 0; simt 0 2; simt:then-first 0 2; interleave 11 tape; predicated 11; lockstep 11; "
     "crs 11; thread-pc 11; block 11"},
    {WARPS, 24, 1, SUBJECT_INTERLEAVE,
     "threads 0-23; simt 0 2-3; simt:then-first 0 2-3; interleave 0 tape; predicated 11; lockstep "
     "0 2 11; crs 11; thread-pc 11; block 11"},
    {WARPS, 1, 1, SUBJECT_CRS,
     "threads 0; simt 0 2; simt:then-first 0 2; interleave 11; predicated 11; lockstep 11; crs 11 "
     "tape; thread-pc 11; block 11"},
    {WARPS, 24, 1, SUBJECT_CRS,
     "threads 0-23; simt 0 2-3; simt:then-first 0 2-3; interleave 0 2 11-14; predicated 11; "
     "lockstep 0 2 11; crs 11 tape; thread-pc 11; block 11"},
    {WARPS, 1, 1, SUBJECT_LOCKSTEP,
     "threads 0; simt 0 2; simt:then-first 0 2; interleave 11; predicated 11; lockstep 11 tape; "
     "crs 11; thread-pc 11; block 11"},
    {WARPS, 24, 1, SUBJECT_LOCKSTEP,
     "threads 0-23; simt 0 2-3; simt:then-first 0 2-3; interleave 0 2 11-14; predicated 11; "
     "lockstep 0 tape; crs 11; thread-pc 11; block 11"},
};

static const char *end_of(const struct execution *e)
{
    return e->status == STATUS_STEP_LIMIT       ? "cut"
           : e->status == STATUS_NONTERMINATING ? "loop"
                                                : "";
}

static bool is_plain(const struct execution *e)
{
    return *end_of(e) == 0 && e->spec.kind != SCHED_TAPE;
}

/* "cut" and "loop" behind a number: how it ends; "3-5": three numbers. */
static void put_executions(struct text *text, const struct checking *c, uint32_t first)
{
    for (uint32_t i = first, last; i < c->execution_count; i = last + 1) {
        struct execution **e = c->executions;
        for (last = i; last + 1 < c->execution_count && is_plain(e[last]) &&
                       is_plain(e[last + 1]) && e[last + 1]->spec.index == e[last]->spec.index + 1;)
            last++;
        if (e[i]->spec.kind == SCHED_TAPE)
            text_put(text, " tape");
        else
            text_format(text, " %" PRIu64, e[i]->spec.index);
        if (last > i)
            text_format(text, "-%" PRIu64, e[last]->spec.index);
        text_put(text, end_of(e[i]));
    }
}

static const char *numbers_of(const char *kernel, uint32_t schedules, uint64_t seed,
                              enum subject_id tape)
{
    struct check_options options = CHECK_DEFAULTS;
    struct check_result *result = ARENA_NEW(&test_arena, struct check_result);
    struct text text = text_begin(&test_arena);
    options.schedules = schedules;
    options.seed = seed;
    options.budget_steps = BUDGET;
    options.tape = tape == SUBJECT_COUNT ? NULL : tape_new(&test_arena, 1);
    options.tape_subject = tape;
    struct checking c = checking_of(kernel, &options, result);
    explore_prepare(&c);
    for (uint32_t s = 0; s < SUBJECT_COUNT; s++) {
        uint32_t before = c.execution_count;
        if (!explore_runs(&c, (enum subject_id)s))
            continue;
        explore_subject(&c, (enum subject_id)s);
        text_format(&text, "%s%s", text.length > 0 ? "; " : "", subject_table[s].name);
        put_executions(&text, &c, before);
        for (uint32_t i = before; i < c.execution_count; i++)
            assert_int_equal(c.executions[i]->fair,
                             explore_fair(&c.executions[i]->spec, c.subjects[s].machine));
    }
    return text.bytes;
}

static void test_numbers(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < sizeof table / sizeof *table; i++) {
        size_t mark = arena_mark(&test_arena);
        const char *seen =
            numbers_of(table[i].text, table[i].schedules, table[i].seed, table[i].tape);
        if (getenv("SIMTFUZZ_BLESS"))
            printf("%" PRIu32 ", %" PRIu64 ": %s\n", table[i].schedules, table[i].seed, seen);
        else
            assert_string_equal(seen, table[i].numbers);
        arena_release(&test_arena, mark);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_numbers, support_setup, support_teardown),
    };
    return cmocka_run_group_tests_name("schedules", tests, NULL, NULL);
}
