/*
 * block_order.h - the blocks of a function stand in a valid sort order.
 */
#ifndef TESTS_UNIT_BLOCK_ORDER_H
#define TESTS_UNIT_BLOCK_ORDER_H

#include "engine/forms/cfg.h"
#include "tests/unit/shared/support.h"

static inline void block_order_check(const struct ast_function *function)
{
    const char *reason = NULL;
    struct location at;
    struct cfg *cfg = cfg_build(&test_arena, function, &reason, &at);
    if (!cfg)
        fail_msg("%s", reason);
    cfg->order = ARENA_ARRAY(&test_arena, uint32_t, cfg->count);
    cfg->position = ARENA_ARRAY(&test_arena, uint32_t, cfg->count);
    for (uint32_t b = 0; b < cfg->count; b++)
        cfg->order[b] = cfg->position[b] = b;
    assert_true(cfg_order_valid(cfg));
    if (function->blocks->next)
        for (uint32_t e = 0; e < cfg->target_first[cfg->count]; e++)
            assert_int_not_equal(cfg->targets[e], 0); /* the entry is no target */
}

#endif
