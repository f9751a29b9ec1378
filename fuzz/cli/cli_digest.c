/*
 * cli_digest.c - `simtfuzz digest`.
 */
#include "fuzz/case.h"
#include "fuzz/cli/cli.h"
#include "fuzz/digest.h"

#include <inttypes.h>

/* False: an enumeration has no such case. */
static bool print_digest(struct cli *cli, const struct fuzz_case *c, struct gen_walk *walk)
{
    struct arena *arena = &cli->arena;
    const struct ast_kernel *kernel = gen_next_case(arena, c->seed, c->number, &c->gen, walk);
    if (!kernel)
        return false;
    struct check_result *result = ARENA_NEW(arena, struct check_result);
    check_kernel(arena, kernel, &c->check, result);
    uint64_t digest = digest_case(arena, kernel, result);
    if (cli->options.json)
        printf("{\"version\": 1, \"case\": %" PRIu64 ", \"digest\": \"0x%016" PRIx64
               "\", \"steps\": %" PRIu64 "}\n",
               c->number, digest, result->thread_steps + result->warp_steps);
    else
        printf("%" PRIu64 " %016" PRIx64 "\n", c->number, digest);
    return true;
}

int command_digest(struct cli *cli)
{
    const struct cli_options *o = &cli->options;
    struct gen_options gen = GEN_DEFAULTS;
    struct check_options check = cli_check_options(cli);
    struct gen_walk walk = {.started = false};
    bool more = true;
    gen.features = o->features;
    gen.small = gen.enumerate = o->enumerate;
    for (uint64_t i = 0; i < o->count && more; i++) {
        size_t mark = arena_mark(&cli->arena);
        struct fuzz_case c;
        case_of_campaign(&c, o->seed, o->first_case + i, &gen, &check);
        more = print_digest(cli, &c, &walk);
        arena_release(&cli->arena, mark);
    }
    return CLI_OK;
}
