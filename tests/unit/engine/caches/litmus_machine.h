/*
 * litmus_machine.h - litmus tests as kernels, run by `crs` with caches: all their outcomes.
 */
#ifndef TESTS_UNIT_CACHES_LITMUS_MACHINE_H
#define TESTS_UNIT_CACHES_LITMUS_MACHINE_H

#include "tests/unit/shared/support.h"

#include "engine/caches/caches.h"
#include "engine/crs/crs.h"
#include "engine/litmus/litmus.h"
#include "engine/litmus/litmus_kernel.h"
#include "engine/program/ptx_code.h"
#include "tests/unit/engine/caches/explore.h"

#include <stdio.h>

enum { LIMIT = 400000 };

struct collecting {
    const struct litmus_test *test;
    struct litmus_result result;
    struct ptx_place places[LITMUS_OBSERVED];
    uint32_t actors[LITMUS_OBSERVED], lanes[LITMUS_OBSERVED], words[LITMUS_OBSERVED];
    uint32_t dead, broken;
    struct arena *arena;
};

static void ended(void *context, const struct machine *machine)
{
    struct collecting *x = context;
    int16_t values[LITMUS_OBSERVED] = {0};
    if (machine_status(machine) != STATUS_TERMINATED) {
        x->dead++;
        return;
    }
    for (uint32_t i = 0; i < x->test->observed; i++) {
        if (!x->test->observe[i].is_register) {
            values[i] = (int16_t)caches_current(machine, x->words[i]);
            continue;
        }
        const struct ptx_lanes *lanes = crs_warp(machine, x->actors[i]).lanes;
        values[i] = (int16_t)ptx_source(machine, lanes, &x->places[i], x->lanes[i]);
    }
    litmus_add_outcome(x->arena, x->test, &x->result, values);
}

static void passed(void *context, const struct machine *machine)
{
    struct collecting *x = context;
    const char *broken = caches_broken(machine);
    if (broken && x->broken++ == 0)
        print_error("%s: %s\n", x->test->name, broken);
}

static uint32_t region_word(const struct ptx_regions *regions, const char *name)
{
    for (uint32_t i = 0; i < regions->count; i++)
        if (strcmp(regions->items[i].name, name) == 0)
            return regions->items[i].word;
    return 0;
}

static struct program *program_of(const struct litmus_test *test)
{
    const char *reason = NULL, *text = litmus_kernel(&test_arena, test);
    struct diag diag;
    assert_non_null(text);
    diag_init(&diag, test->name, text, strlen(text));
    struct ast_kernel *kernel = parse_kernel(&test_arena, text, strlen(text), &diag);
    if (!kernel)
        diag_print(&diag, stderr);
    assert_non_null(kernel);
    struct program *program = ptx_compile(&test_arena, kernel, kernel->ptx->module, NULL, &reason);
    if (!program)
        fail_msg("%s\n%s", reason, text);
    return program;
}

/* The register's place is the result of the instruction that writes its first value. */
static struct ptx_place place_of(const struct program *program, uint32_t thread, uint32_t reg)
{
    char name[32];
    snprintf(name, sizeof name, "mov.u32 %%a%u_%u, ", (unsigned)thread, (unsigned)reg);
    for (uint32_t pc = 1; pc < program->ptx->count; pc++)
        if (strstr(ptx_op_text(&test_arena, program->ptx, pc), name))
            return program->ptx->ops[pc].results[0];
    fail_msg("no register %s", name);
    return (struct ptx_place){0};
}

static void find_observed(struct collecting *x, const struct program *program)
{
    struct litmus_shape shape = litmus_shape(x->test);
    for (uint32_t i = 0; i < x->test->observed; i++) {
        const struct litmus_observed *o = &x->test->observe[i];
        uint32_t block, warp, reg = o->number;
        litmus_place(x->test, o->is_register ? o->thread : 0, &block, &warp);
        if (o->is_register) {
            x->lanes[i] = litmus_lane_of(x->test, o->thread, &reg);
            x->places[i] = place_of(program, o->thread, reg);
            x->actors[i] = block * shape.warps + warp;
        } else if (o->number < LITMUS_GLOBALS) {
            x->words[i] = region_word(&program->ptx->global, "g") + o->number;
        } else if (o->number < LITMUS_GLOBALS + 4 * LITMUS_THREADS) {
            uint32_t k = o->number - LITMUS_GLOBALS;
            x->words[i] = program->shared_base + k / 4 * program->words[SPACE_SHARED] +
                          region_word(&program->ptx->shared, "s") + k % 4;
        } else {
            uint32_t k = o->number - LITMUS_GLOBALS - 4 * LITMUS_THREADS;
            litmus_place(x->test, o->thread, &block, &warp);
            uint32_t number = (block * shape.warps + warp) * shape.lanes;
            x->words[i] = program->frame_base + number * program->words[SPACE_LOCAL] +
                          program->ptx->frame_local_base / 4 + k % 2;
        }
    }
}

static struct memory_options options_of(const struct litmus_test *test, enum litmus_model model)
{
    static const uint8_t profiles[] = {[LITMUS_PRINTED] = MEMORY_PRINTED,
                                       [LITMUS_LLH] = MEMORY_LLH,
                                       [LITMUS_COHERENT] = MEMORY_COHERENT};
    static const uint8_t splits[] = {[0] = SPLIT_LINES, [1] = SPLIT_LANES, [2] = SPLIT_EITHER};
    struct memory_options o = {.profile = profiles[model],
                               .words = test->options.words_a_line,
                               .lines = 8,
                               .sms = (uint8_t)litmus_shape(test).blocks,
                               .slots = 8,
                               .split = splits[test->options.split],
                               .strong = test->options.strong,
                               .before = test->options.before,
                               .inval = test->options.inval,
                               .eager = true};
    return o;
}

static void add_warm(struct memory_options *o, const struct litmus_test *test,
                     const struct program *program)
{
    static uint32_t warm[2 * LITMUS_THREADS * LITMUS_GLOBALS];
    uint32_t from = region_word(&program->ptx->global, "g");
    o->warm = warm;
    for (uint32_t sm = 0; sm < LITMUS_THREADS; sm++)
        for (uint32_t w = 0; w < LITMUS_GLOBALS; w++)
            if (test->warm[sm] >> w & 1) {
                warm[2 * o->warm_count] = sm;
                warm[2 * o->warm_count++ + 1] = from + w;
            }
}

/* Memory for `limit` states is asked for: a sanitizer pays for each byte of it. */
static inline uint32_t run_within(uint32_t limit, const struct litmus_test *test,
                                  struct collecting *x, struct arena *arena,
                                  struct memory_options *o)
{
    struct program *program = program_of(test);
    *x = (struct collecting){.test = test, .arena = arena};
    add_warm(o, test, program);
    struct machine_options options = {.track = true, .memory = *o};
    struct machine *machine = machine_new(&test_arena, &semantics_crs_caches, program, &options);
    find_observed(x, program);
    return explore_all(machine, limit, ended, passed, x);
}

static inline uint32_t run(const struct litmus_test *test, struct collecting *x,
                           struct arena *arena, struct memory_options *o)
{
    return run_within(LIMIT, test, x, arena, o);
}

#endif
