/*
 * The functions on barriers of report 5.5.1 (engine/crs/crs_barrier.c), row by row of catalogue cuda-crs 9.2.
 */
#include "engine/base/pcg.h"
#include "engine/crs/crs_barrier.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { WARPS = 3, WARP_SIZE = 2, NONE = PTX_W_NONE };

struct block {
    struct machine machine;
    struct crs_barrier at[CRS_BARRIERS];
    lane_mask waiting[CRS_BARRIERS * WARPS];
    uint32_t ended[CRS_BARRIERS];
    struct crs_barriers chi;
};

static struct crs_barriers *block_init(struct block *block, uint32_t options)
{
    memset(block, 0, sizeof *block);
    block->chi = (struct crs_barriers){.m = &block->machine,
                                       .ids = 0xffff,
                                       .warps = WARPS,
                                       .warp_size = WARP_SIZE,
                                       .block_options = options,
                                       .at = block->at,
                                       .waiting = block->waiting,
                                       .ended = block->ended};
    return &block->chi;
}

/* A warp action of two lanes; barid -1: the lane does not take part. */
struct row {
    enum ptx_exec type;
    uint32_t red, warp;
    int barid[2];
    uint32_t tc[2];
    bool truth[2];
};

static struct crs_barrier_action action_of(const struct row *row)
{
    struct crs_barrier_action action = {.type = row->type, .red = row->red, .warp = row->warp};
    for (uint32_t lane = 0; lane < 2; lane++) {
        if (row->barid[lane] < 0)
            continue;
        action.lanes |= 1u << lane;
        action.truths |= (lane_mask)row->truth[lane] << lane;
        action.barid[lane] = (uint32_t)row->barid[lane];
        action.tc[lane] = row->tc[lane];
    }
    return action;
}

static const char *apply(struct crs_barriers *chi, const struct row *row)
{
    struct crs_barrier_action action = action_of(row);
    struct crs_barrier_infos infos;
    return crs_upd_bar(chi, WARPS * WARP_SIZE, 0, &action, &infos);
}

static void bar_info_has_one_entry_a_barrier(void **state)
{
    (void)state;
    static const struct {
        struct row row;
        const char *why; /* a part */
        uint32_t count;
        uint32_t tc;
        lane_mask lanes;
    } rows[] = {
        {{PTX_EXEC_BAR_SYNC, NONE, 0, {3, 3}, {0, 0}, {0}}, NULL, 1, 0, 3},
        {{PTX_EXEC_BAR_SYNC, NONE, 0, {3, 4}, {0, 0}, {0}}, NULL, 2, 0, 1},
        {{PTX_EXEC_BAR_SYNC, NONE, 0, {-1, 4}, {4, 6}, {0}}, NULL, 1, 6, 2},
        {{PTX_EXEC_BAR_SYNC, NONE, 0, {3, 3}, {4, 4}, {0}}, NULL, 1, 4, 3},
        {{PTX_EXEC_BAR_SYNC, NONE, 0, {3, 3}, {4, 6}, {0}}, "barInfo", 0, 0, 0},
        {{PTX_EXEC_BAR_SYNC, NONE, 0, {3, 2}, {4, 6}, {0}}, NULL, 2, 4, 1},
    };
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct block block;
        struct crs_barrier_infos infos;
        struct crs_barrier_action action = action_of(&rows[i].row);
        const char *why = crs_bar_info(block_init(&block, 0), &action, &infos);
        if (rows[i].why) {
            assert_non_null(why);
            assert_non_null(strstr(why, rows[i].why));
            continue;
        }
        assert_null(why);
        assert_int_equal(infos.count, rows[i].count);
        assert_int_equal(infos.items[0].tc, rows[i].tc);
        assert_int_equal(infos.items[0].lanes, rows[i].lanes);
    }
}

/* Two steps; in the one order and in the other the verdict is the same (ERR.41). */
static void steps_agree_or_contradict(void **state)
{
    (void)state;
    static const struct {
        struct row first, second;
        const char *says; /* NULL: no contradiction */
    } rows[] = {
        {{PTX_EXEC_BAR_SYNC, NONE, 0, {0, 0}, {4, 4}, {0}},
         {PTX_EXEC_BAR_ARRIVE, NONE, 1, {0, 0}, {4, 4}, {0}},
         NULL},
        {{PTX_EXEC_BAR_SYNC, NONE, 0, {0, 0}, {0, 0}, {0}},
         {PTX_EXEC_BAR_SYNC, NONE, 1, {0, 0}, {6, 6}, {0}},
         NULL},
        {{PTX_EXEC_BAR_SYNC, NONE, 0, {0, 0}, {4, 4}, {0}},
         {PTX_EXEC_BAR_SYNC, NONE, 1, {0, 0}, {6, 6}, {0}},
         "another thread count (prepBar)"},
        {{PTX_EXEC_BAR_SYNC, NONE, 0, {0, 0}, {4, 4}, {0}},
         {PTX_EXEC_BAR_SYNC, NONE, 1, {1, 1}, {6, 6}, {0}},
         NULL},
        {{PTX_EXEC_BAR_RED, PTX_W_AND, 0, {0, 0}, {4, 4}, {0}},
         {PTX_EXEC_BAR_SYNC, NONE, 1, {0, 0}, {4, 4}, {0}},
         "bar.red and bar.sync or bar.arrive on one barrier (prepBar)"},
        {{PTX_EXEC_BAR_RED, PTX_W_AND, 0, {0, 0}, {4, 4}, {0}},
         {PTX_EXEC_BAR_ARRIVE, NONE, 1, {0, 0}, {4, 4}, {0}},
         "bar.red and bar.sync or bar.arrive on one barrier (prepBar)"},
        {{PTX_EXEC_BAR_RED, PTX_W_AND, 0, {0, 0}, {4, 4}, {0}},
         {PTX_EXEC_BAR_RED, PTX_W_OR, 1, {0, 0}, {4, 4}, {0}},
         "another reduction (prepBar)"},
        {{PTX_EXEC_BAR_RED, PTX_W_OR, 0, {0, 0}, {0, 0}, {0}},
         {PTX_EXEC_BAR_RED, PTX_W_OR, 1, {0, 0}, {6, 6}, {0}},
         NULL},
    };
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (uint32_t order = 0; order < 2; order++) {
            struct block block;
            struct crs_barriers *chi = block_init(&block, 0);
            assert_null(apply(chi, order ? &rows[i].second : &rows[i].first));
            const char *why = apply(chi, order ? &rows[i].first : &rows[i].second);
            assert_int_equal(why != NULL, rows[i].says != NULL);
            if (why)
                assert_non_null(strstr(why, rows[i].says));
        }
    }
}

static void arrivals_count_warps_and_distinct_barriers(void **state)
{
    (void)state;
    struct block block;
    struct crs_barriers *chi = block_init(&block, 0);
    assert_null(apply(chi, &(struct row){PTX_EXEC_BAR_SYNC, NONE, 0, {0, 1}, {0}, {0}}));
    assert_int_equal(block.at[0].ac, WARP_SIZE);
    assert_int_equal(block.at[1].ac, WARP_SIZE);
    assert_int_equal(block.at[0].tc, WARPS * WARP_SIZE);
    assert_true(block.at[0].defaults);
    assert_null(apply(chi, &(struct row){PTX_EXEC_BAR_SYNC, NONE, 1, {0, 0}, {0}, {0}}));
    assert_null(apply(chi, &(struct row){PTX_EXEC_BAR_ARRIVE, NONE, 2, {-1, 0}, {6, 6}, {0}}));
    assert_int_equal(block.at[0].ac, 3 * WARP_SIZE);
    assert_int_equal(block.at[1].ac, WARP_SIZE);
    assert_true(crs_barrier_full(&block.at[0]));
    assert_false(crs_barrier_full(&block.at[1]));
    assert_int_equal(*crs_barrier_waiting(chi, 0, 0), 1);
    assert_int_equal(*crs_barrier_waiting(chi, 0, 1), 3);
    assert_int_equal(*crs_barrier_waiting(chi, 0, 2), 0); /* bar.arrive does not wait */
    crs_barrier_clear(chi, 0);
    assert_int_equal(block.at[0].tc, 0);
    assert_int_equal(*crs_barrier_waiting(chi, 0, 1), 0);
    assert_int_equal(block.at[1].ac, WARP_SIZE);
}

static void options_change_the_counts(void **state)
{
    (void)state;
    struct block block;
    struct crs_barriers *chi = block_init(&block, BLOCK_LANES);
    assert_null(apply(chi, &(struct row){PTX_EXEC_BAR_SYNC, NONE, 0, {0, -1}, {0}, {0}}));
    assert_int_equal(block.at[0].ac, 1);
    chi = block_init(&block, BLOCK_EXIT_ARRIVES);
    assert_null(apply(chi, &(struct row){PTX_EXEC_BAR_SYNC, NONE, 0, {0, -1}, {0}, {0}}));
    crs_exit_arrives(chi);
    assert_int_equal(block.at[0].ac, 2 * WARP_SIZE);
    assert_int_equal(block.at[1].ac, 0); /* not in use */
}

static void reductions_are_over_those_who_took_part(void **state)
{
    (void)state;
    static const struct {
        uint32_t red;
        struct row first, second;
        uint32_t value;
    } rows[] = {
        {PTX_W_POPC,
         {PTX_EXEC_BAR_RED, PTX_W_POPC, 0, {0, -1}, {0}, {true, true}},
         {PTX_EXEC_BAR_RED, PTX_W_POPC, 1, {0, 0}, {0}, {false, true}},
         2}, /* BAR.6 */
        {PTX_W_AND,
         {PTX_EXEC_BAR_RED, PTX_W_AND, 0, {0, -1}, {0}, {true, false}},
         {PTX_EXEC_BAR_RED, PTX_W_AND, 1, {0, 0}, {0}, {true, true}},
         1},
        {PTX_W_AND,
         {PTX_EXEC_BAR_RED, PTX_W_AND, 0, {0, 0}, {0}, {true, false}},
         {PTX_EXEC_BAR_RED, PTX_W_AND, 1, {0, 0}, {0}, {true, true}},
         0},
        {PTX_W_OR,
         {PTX_EXEC_BAR_RED, PTX_W_OR, 0, {0, -1}, {0}, {false, true}},
         {PTX_EXEC_BAR_RED, PTX_W_OR, 1, {0, 0}, {0}, {false, false}},
         0},
        {PTX_W_OR,
         {PTX_EXEC_BAR_RED, PTX_W_OR, 0, {0, 0}, {0}, {false, true}},
         {PTX_EXEC_BAR_RED, PTX_W_OR, 1, {0, 0}, {0}, {false, false}},
         1},
    };
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct block block;
        struct crs_barriers *chi = block_init(&block, 0);
        assert_null(apply(chi, &rows[i].first));
        assert_null(apply(chi, &rows[i].second));
        assert_int_equal(block.at[0].red, rows[i].red);
        assert_int_equal(crs_reduce(chi, &block.at[0]), rows[i].value);
    }
}

/* ---- random actions against a naive reading of 5.5.1 ---- */

enum { IDS = 3, ACTIONS = 6, BLOCKS = 20000 };

struct naive {
    uint32_t tc, ac, red, lanes, truths;
    bool used, defaults;
    lane_mask waiting[WARPS];
};

/* False: some premise does not hold. */
static bool naive_info(const struct row *row, uint32_t barid, uint32_t *tc, lane_mask *lanes)
{
    *tc = 0;
    *lanes = 0;
    for (uint32_t lane = 0; lane < 2; lane++) {
        if (row->barid[lane] != (int)barid)
            continue;
        if (row->tc[lane] > 0 && *tc > 0 && row->tc[lane] != *tc)
            return false;
        *tc = row->tc[lane] > 0 ? row->tc[lane] : *tc;
        *lanes |= (lane_mask)1 << lane;
    }
    return true;
}

static bool naive_step(struct naive *at, const struct row *row, uint32_t options,
                       uint32_t completed)
{
    uint32_t tc[IDS];
    lane_mask lanes[IDS];
    for (uint32_t b = 0; b < IDS; b++)
        if (!naive_info(row, b, &tc[b], &lanes[b]))
            return false;
    for (uint32_t b = 0; b < IDS; b++)
        if (lanes[b] && at[b].used && ((tc[b] > 0 && tc[b] != at[b].tc) || row->red != at[b].red))
            return false;
    for (uint32_t b = 0; b < IDS; b++) {
        if (!lanes[b])
            continue;
        if (!at[b].used)
            at[b] = (struct naive){.used = true,
                                   .tc = tc[b] > 0 ? tc[b] : WARPS * WARP_SIZE,
                                   .ac = options & BLOCK_EXIT_ARRIVES ? completed * WARP_SIZE : 0,
                                   .red = row->red,
                                   .defaults = tc[b] == 0};
        uint32_t count = lanes[b] == 3 ? 2 : 1;
        at[b].ac += options & BLOCK_LANES ? count : WARP_SIZE;
        if (row->type != PTX_EXEC_BAR_ARRIVE)
            at[b].waiting[row->warp] |= lanes[b];
        for (uint32_t lane = 0; lane < 2 && row->type == PTX_EXEC_BAR_RED; lane++) {
            at[b].lanes += lanes[b] >> lane & 1;
            at[b].truths += (lanes[b] >> lane & 1) && row->truth[lane];
        }
    }
    return true;
}

static struct row random_row(struct pcg *rng)
{
    static const uint32_t counts[] = {0, 0, 0, 2, 4, 6};
    static const uint32_t reductions[] = {PTX_W_AND, PTX_W_OR, PTX_W_POPC};
    static const enum ptx_exec types[] = {PTX_EXEC_BAR_SYNC, PTX_EXEC_BAR_ARRIVE, PTX_EXEC_BAR_RED};
    struct row row = {.type = types[pcg_below(rng, 3)], .red = NONE, .warp = pcg_below(rng, WARPS)};
    if (row.type == PTX_EXEC_BAR_RED)
        row.red = reductions[pcg_below(rng, 8) ? 0 : pcg_below(rng, 3)];
    uint32_t barid = pcg_below(rng, IDS);
    for (uint32_t lane = 0; lane < 2; lane++) {
        row.barid[lane] = (int)(pcg_below(rng, 4) ? barid : pcg_below(rng, IDS));
        row.tc[lane] = counts[pcg_below(rng, 6)];
        row.truth[lane] = pcg_below(rng, 2);
    }
    if (pcg_below(rng, 4) == 0)
        row.barid[pcg_below(rng, 2)] = -1;
    return row;
}

static void compare_barriers(const struct block *block, const struct naive *at)
{
    for (uint32_t b = 0; b < IDS; b++) {
        const struct crs_barrier *found = &block->at[b];
        const struct naive none = {.red = NONE}, *wanted = at[b].used ? &at[b] : &none;
        assert_int_equal(found->tc, wanted->tc);
        assert_int_equal(found->ac, wanted->ac);
        assert_int_equal(found->lanes, wanted->lanes);
        assert_int_equal(found->truths, wanted->truths);
        assert_int_equal(found->defaults != 0, wanted->defaults);
        assert_true(!at[b].used || found->red == wanted->red);
        assert_int_equal(crs_barrier_full(found), wanted->tc > 0 && wanted->ac >= wanted->tc);
        for (uint32_t warp = 0; warp < WARPS; warp++)
            assert_int_equal(*crs_barrier_waiting(&block->chi, b, warp), wanted->waiting[warp]);
    }
}

static void random_actions(void **state)
{
    static const uint32_t options[] = {0, 0, BLOCK_LANES, BLOCK_EXIT_ARRIVES};
    struct pcg rng;
    uint32_t refused = 0, steps = 0;
    (void)state;
    pcg_seed(&rng, 11, 4);
    for (uint32_t round = 0; round < BLOCKS; round++) {
        struct block block;
        struct naive at[IDS] = {{0}};
        uint32_t option = options[round % 4], completed = pcg_below(&rng, WARPS);
        struct crs_barriers *chi = block_init(&block, option);
        for (uint32_t i = 0; i < ACTIONS; i++) {
            const struct row row = random_row(&rng);
            const struct crs_barrier_action action = action_of(&row);
            struct crs_barrier_infos infos;
            const char *why = crs_upd_bar(chi, WARPS * WARP_SIZE, completed, &action, &infos);
            bool good = naive_step(at, &row, option, completed);
            assert_int_equal(why == NULL, good);
            refused += !good;
            steps++;
            if (!good)
                break;
            compare_barriers(&block, at);
            uint32_t b = pcg_below(&rng, IDS);
            if (pcg_below(&rng, 4) == 0) { /* its generation ends */
                crs_barrier_clear(chi, b);
                at[b] = (struct naive){.used = false};
                compare_barriers(&block, at);
            }
        }
    }
    assert_true(refused > BLOCKS / 10 && steps > 2 * BLOCKS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bar_info_has_one_entry_a_barrier),
        cmocka_unit_test(steps_agree_or_contradict),
        cmocka_unit_test(arrivals_count_warps_and_distinct_barriers),
        cmocka_unit_test(options_change_the_counts),
        cmocka_unit_test(reductions_are_over_those_who_took_part),
        cmocka_unit_test(random_actions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
