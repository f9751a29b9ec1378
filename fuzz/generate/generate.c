#include "fuzz/generate/generate.h"

#include "fuzz/graphs/gen_blocks.h"
#include "fuzz/known/gen_known.h"
#include "fuzz/raw/gen_crs.h"
#include "fuzz/rows/gen_rows.h"
#include "fuzz/waiting/gen_spin.h"

static uint32_t banned_forms(const struct gen *g)
{
    if (g->options->blocks_only && g->weights[W_FORM_GRAPH] > 0)
        return GEN_BAN(FORM, STRUCTURED) | GEN_BAN(FORM, CRS) | GEN_BAN(FORM, KNOWN);
    bool can = g->weights[W_FORM_CRS] > 0 || g->weights[W_FORM_KNOWN] > 0;
    return gen_ptx_only(g->options) && can ? GEN_BAN(FORM, STRUCTURED) : 0;
}

static void make_main(struct gen *g)
{
    struct ast_function *function = ARENA_NEW(g->arena, struct ast_function);
    struct gen_scope scope = {.function = function, .locals_end = &function->locals};
    function->name = g->kernel->name;
    g->scope = &scope;
    g->kernel->main = function;
    if (gen_instructions_only(g->options) && !g->options->small) {
        gen_rows_main(g);
        return;
    }
    uint32_t form = gen_pick(g, GROUP_FORM, banned_forms(g));
    if (form == W_FORM_CRS) {
        gen_crs_main(g);
    } else if (form == W_FORM_KNOWN) {
        gen_known_main(g);
    } else if (form != W_FORM_STRUCTURED) {
        g->kernel->form = FORM_BLOCKS;
        g->barriers +=
            g->apart; /* ways that calls and loops tell apart are of structured kernels */
        g->apart = false;
        if (!g->options->small)
            g->rare = gen_pick(g, GROUP_RARE, 0);
        if (gen_chance(g, 50))
            scope.locals_end = NULL;
        gen_declare_values(g);
        if (form == W_FORM_DIRECTIONS)
            gen_directions_main(g);
        else
            gen_blocks_main(g);
    } else {
        g->rare = gen_pick(g, GROUP_RARE, 0);
        if (gen_has(g, FEATURE_OOB) && g->weights[W_RARE_DEEP] > 0 && gen_chance(g, 20))
            g->rare = W_RARE_DEEP;
        gen_declare_values(g);
        function->body = gen_structured_body(g);
    }
}

/* A function may stand behind those that call it; in the languages of others it may not. */
static void shuffle_functions(struct gen *g)
{
    struct ast_function *functions[LIMIT_FUNCTIONS];
    uint32_t count = 0;
    for (struct ast_function *f = g->kernel->functions; f; f = f->next)
        functions[count++] = f;
    if (count < 2 || g->features & GEN_PORTABLE || !gen_chance(g, 40))
        return;
    struct ast_function **end = &g->kernel->functions;
    for (; count > 0; count--) {
        uint32_t i = gen_below(g, count);
        *end = functions[i];
        end = &functions[i]->next;
        functions[i] = functions[count - 1];
    }
    *end = NULL;
}

struct ast_kernel *gen_kernel_counted(struct arena *arena, struct source *source,
                                      const struct gen_options *options, uint32_t *hits,
                                      uint32_t *communication)
{
    struct gen g = {.arena = arena, .source = source, .options = options, .hits = hits};
    g.kernel = ARENA_NEW(arena, struct ast_kernel);
    g.kernel->name = "k";
    g.vars_end = &g.kernel->vars;
    g.functions_end = &g.kernel->functions;
    gen_draw_weights(&g);
    if (options->spin) {
        gen_spin_kernel(&g);
        return g.kernel;
    }
    gen_prepare(&g);
    make_main(&g);
    if (gen_has(&g, FEATURE_OOB) && !options->small && g.kernel->form != FORM_PTX &&
        gen_chance(&g, 60))
        gen_leave_array(&g);
    if (!options->small)
        shuffle_functions(&g);
    if (communication)
        *communication = g.communication;
    return g.kernel;
}

struct ast_kernel *gen_kernel(struct arena *arena, struct source *source,
                              const struct gen_options *options)
{
    return gen_kernel_counted(arena, source, options, NULL, NULL);
}

static struct ast_kernel *nth_kernel(struct arena *arena, uint64_t number,
                                     const struct gen_options *options, struct gen_walk *walk)
{
    if (!walk->started || number < walk->number) {
        *walk = (struct gen_walk){.started = true};
        source_enumerate(&walk->source);
    }
    while (!walk->ended) {
        size_t mark = arena_mark(arena);
        struct ast_kernel *kernel = gen_kernel(arena, &walk->source, options);
        walk->ended = !source_advance(&walk->source);
        if (walk->number++ == number)
            return kernel;
        arena_release(arena, mark);
    }
    return NULL;
}

struct ast_kernel *gen_next_case(struct arena *arena, uint64_t seed, uint64_t number,
                                 const struct gen_options *options, struct gen_walk *walk)
{
    struct source source;
    if (options->enumerate)
        return nth_kernel(arena, number, options, walk);
    source_random(&source, seed, number);
    return gen_kernel(arena, &source, options);
}

struct ast_kernel *gen_case(struct arena *arena, uint64_t seed, uint64_t number,
                            const struct gen_options *options)
{
    struct gen_walk walk = {.started = false};
    return gen_next_case(arena, seed, number, options, &walk);
}
