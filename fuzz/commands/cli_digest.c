/*
 * cli_digest.c - `simtfuzz digest`.
 */
#include "fuzz/case/case.h"
#include "fuzz/case/digest.h"
#include "fuzz/cli/cli.h"
#include "fuzz/out/json.h"

#include <inttypes.h>

/* A reader that waits for a case, the first with a divergence say, can stop there. */
static void print_json(const struct fuzz_case *c, const struct check_result *result,
                       uint64_t digest)
{
    struct json json;
    char text[24];
    snprintf(text, sizeof text, "0x%016" PRIx64, digest);
    json_line_begin(&json, stdout);
    json_key_u64(&json, "version", 1);
    json_key_u64(&json, "case", c->number);
    json_key_string(&json, "digest", text);
    json_key_u64(&json, "steps", result->thread_steps + result->warp_steps);
    json_key_array_begin(&json, "diverge");
    for (uint32_t i = 0; i < ORACLE_COUNT; i++)
        if (result->answers[i].verdict == VERDICT_DIVERGE && !result->answers[i].divergence->known)
            json_string(&json, oracle_table[i].name);
    json_array_end(&json);
    json_line_end(&json);
    fflush(stdout);
}

/* False: an enumeration has no such case. */
static bool print_digest(struct cli *cli, const struct fuzz_case *c, struct gen_walk *walk)
{
    struct arena *arena = &cli->arena;
    const struct ast_kernel *kernel = case_kernel(arena, c, walk);
    if (!kernel)
        return false;
    struct check_result *result = ARENA_NEW(arena, struct check_result);
    check_kernel(arena, kernel, &c->check, result);
    uint64_t digest = digest_case(arena, kernel, result);
    if (cli->options.json)
        print_json(c, result, digest);
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
    gen.weights = o->weights;
    gen.mutate = o->mutate;
    gen.small = gen.enumerate = o->enumerate;
    gen.spin = o->spin;
    gen.caches = o->launch.caches;
    for (uint64_t i = 0; i < o->count && more; i++) {
        size_t mark = arena_mark(&cli->arena);
        struct fuzz_case c;
        case_of_campaign(&c, o->seed, o->first_case + i, &gen, &check);
        more = print_digest(cli, &c, &walk);
        arena_release(&cli->arena, mark);
    }
    return CLI_OK;
}
