/* From structured kernels to blocks, normal forms, predicated and lock-step programs. */
#include "tests/cases/cases.h"

#include "engine/forms/cfg.h"
#include "engine/forms/lower_cfg.h"
#include "engine/forms/normalise.h"
#include "engine/language/print.h"
#include "tests/unit/shared/block_order.h"
#include "tests/unit/shared/blocks.h"

static size_t begin_case(void)
{
    if (!test_arena.base)
        assert_int_equal(support_setup(NULL), 0);
    return arena_mark(&test_arena);
}

/* What is printed is read again and printed the same. */
static const char *print_again(const struct ast_kernel *kernel)
{
    const char *text = print_kernel(&test_arena, kernel);
    assert_string_equal(print_kernel(&test_arena, support_parse(text)), text);
    return text;
}

/* ---- blocks, a line each: "name: statements > targets" ---- */

static void put_blocks(struct text *out, const struct ast_function *function)
{
    for (const struct ast_block *b = function->blocks; b; b = b->next) {
        text_format(out, "%s:", b->name);
        for (const struct ast_stm *stm = b->body; stm; stm = stm->next)
            text_format(out, " %s", print_stm_head(&test_arena, stm));
        for (uint32_t i = 0; i < b->target_count; i++)
            text_format(out, " %s%s", i ? "" : "> ", b->targets[i] ? b->targets[i]->name : "End");
        text_put(out, b->returns ? " return\n" : "\n");
    }
}

static void put_all_blocks(struct text *out, const struct ast_kernel *kernel)
{
    for (const struct ast_function *f = kernel->functions; f; f = f->next) {
        text_format(out, "procedure %s\n", f->name);
        put_blocks(out, f);
    }
    if (kernel->functions)
        text_format(out, "kernel %s\n", kernel->name);
    put_blocks(out, kernel->main);
}

/* ---- lower: a core kernel ---- */

/* `body`: what stands between the braces of the kernel. */
static void put_kernel(const char *options, struct text *out, const char *printed)
{
    const char *brace = strstr(printed, ")\n{\n");
    if (!cases_option(options, "body") || !brace) {
        text_put(out, printed);
        return;
    }
    for (const char *at = brace + 4; *at && *at != '}';) {
        const char *end = strchr(at, '\n') + 1;
        size_t indent = strspn(at, " ") < 4 ? 0 : 4;
        text_put_bytes(out, at + indent, (size_t)(end - at) - indent);
        at = end;
    }
}

/* The source stays as it was; what is lowered stays so when it is lowered again. */
static void lower(const char *options, const char *input, struct text *out)
{
    size_t mark = begin_case();
    const struct ast_kernel *source = support_parse(input);
    const char *before = print_kernel(&test_arena, source);
    const struct ast_kernel *core = lower_core(&test_arena, source);
    const char *text = print_again(core);
    assert_string_equal(print_kernel(&test_arena, source), before);
    assert_string_equal(print_kernel(&test_arena, lower_core(&test_arena, core)), text);
    for (const struct ast_expect *e = core->expects; e; e = e->next) {
        const struct ast_var *var = core->vars;
        while (var && var != e->var)
            var = var->next;
        assert_ptr_equal(var, e->var); /* of the copy, or NULL */
    }
    put_kernel(options, out, text);
    arena_release(&test_arena, mark);
}

/* ---- blocks: structured kernels to block form, in a valid order; or why not ---- */

static void blocks(const char *options, const char *input, struct text *out)
{
    size_t mark = begin_case();
    const char *reason = NULL;
    const struct lower_cfg_options wanted = {
        .anchored = cases_option(options, "anchored"),
        .then_first = cases_option(options, "then-first"),
        .logic_blocks = cases_option(options, "logic-blocks"),
        .keep_calls = cases_option(options, "keep-calls"),
    };
    struct ast_kernel *core = lower_core(&test_arena, support_parse(input));
    const struct ast_kernel *kernel = lower_cfg(&test_arena, core, &wanted, &reason);
    if (kernel) {
        struct location at;
        block_order_check(kernel->main);
        const struct ast_kernel *again = support_parse(print_again(kernel));
        if (cases_option(options, "well-formed"))
            assert_int_equal(well_formed(&test_arena, again, &reason, &at), WELL_FORMED);
        put_all_blocks(out, kernel);
    } else {
        text_format(out, "refused: %s\n", reason);
    }
    arena_release(&test_arena, mark);
}

/* ---- normalise: passes by their names; done twice it is the same ---- */

static void normal_form(const char *options, const char *input, struct text *out)
{
    static const struct {
        const char *name;
        unsigned pass;
    } passes[] = {{"entry", NORMALISE_ENTRY},     {"final", NORMALISE_FINAL},
                  {"assumes", NORMALISE_ASSUMES}, {"calls", NORMALISE_CALLS},
                  {"return", NORMALISE_RETURN},   {"all", NORMALISE_ALL}};
    size_t mark = begin_case();
    const char *reason = NULL;
    unsigned wanted = 0;
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++)
        wanted |= cases_option(options, passes[i].name) ? passes[i].pass : 0;
    assert_true(wanted);
    const struct ast_kernel *kernel = support_parse(input);
    const char *before = print_kernel(&test_arena, kernel);
    const struct ast_kernel *once = normalise(&test_arena, kernel, wanted, &reason);
    assert_string_equal(print_kernel(&test_arena, kernel), before);
    if (!once) {
        text_format(out, "refused: %s\n", reason);
    } else {
        const char *text = print_again(once);
        assert_string_equal(
            print_kernel(&test_arena, normalise(&test_arena, once, wanted, &reason)), text);
        if (strcmp(text, before) == 0)
            text_put(out, "nothing changes\n");
        else
            put_all_blocks(out, once);
    }
    arena_release(&test_arena, mark);
}

/* Def. 5.1: the verdict, and the line that it is about. */
static void def_5_1(const char *options, const char *input, struct text *out)
{
    static const char *const names[] = {[WELL_FORMED] = "well-formed",
                                        [WELL_FORMED_UNKNOWN] = "not known",
                                        [ILL_FORMED] = "ill-formed"};
    size_t mark = begin_case();
    const char *reason = NULL;
    struct location at = {0, 0};
    (void)options;
    enum well_formed verdict = well_formed(&test_arena, support_parse(input), &reason, &at);
    text_put(out, names[verdict]);
    if (verdict != WELL_FORMED)
        text_format(out, ", line %u: %s", at.line, reason);
    arena_release(&test_arena, mark);
}

/* ---- pi, phi: predicated, and in lock-step ---- */

/* `statement`: what the statements of the block Start have become, up to the choice of the next one. */
static void put_statement(struct text *out, const struct ast_kernel *kernel)
{
    const struct ast_block *block = kernel->main->blocks->next;
    for (const struct ast_stm *stm = block->body; stm && stm->next; stm = stm->next)
        if (stm->kind == STM_PICK && strcmp(stm->target.var->name, "v_next") == 0)
            return;
        else
            text_format(out, "%s%s", out->length ? " " : "", print_stm_head(&test_arena, stm));
}

static void predicated(const char *options, const char *input, struct text *out, bool lockstep)
{
    size_t mark = begin_case();
    const char *reason = NULL;
    const struct predicate_options wanted = {.no_early = cases_option(options, "no-early"),
                                             .one_loop = cases_option(options, "one-loop"),
                                             .entry_in_start =
                                                 cases_option(options, "entry-in-start")};
    struct ast_kernel *kernel = support_parse(input);
    blocks_compile(kernel);
    const struct ast_kernel *result = lockstep
                                          ? lockstep_form(&test_arena, kernel, &wanted, &reason)
                                          : predicate(&test_arena, kernel, &wanted, &reason);
    if (!result)
        text_format(out, "refused: %s\n", reason);
    else if (cases_option(options, "statement"))
        put_statement(out, result);
    else if (cases_option(options, "whole"))
        text_put(out, print_again(result));
    else
        put_all_blocks(out, result);
    if (result)
        print_again(result);
    arena_release(&test_arena, mark);
}

static void pi(const char *options, const char *input, struct text *out)
{
    predicated(options, input, out, false);
}

static void phi(const char *options, const char *input, struct text *out)
{
    predicated(options, input, out, true);
}

/* ---- graph: loops and the sort order ---- */

static void put_members(struct text *out, const struct cfg *cfg, const uint64_t *members)
{
    for (uint32_t b = 0; b < cfg->count; b++)
        if (members[b / 64] >> (b % 64) & 1)
            text_format(out, " %s", cfg->blocks[b]->name);
    text_put(out, "\n");
}

/* Each loop, inner ones first: its natural members, and those of Appendix A where they are others; then the order. */
static void graph(const char *options, const char *input, struct text *out)
{
    size_t mark = begin_case();
    const char *reason = NULL;
    struct location at;
    (void)options;
    struct cfg *cfg = cfg_build(&test_arena, support_parse(input)->main, &reason, &at);
    if (!cfg) {
        text_format(out, "refused, line %u: %s\n", at.line, reason);
        arena_release(&test_arena, mark);
        return;
    }
    for (uint32_t i = 0; i < cfg->loop_count; i++) {
        const struct cfg_loop *loop = &cfg->loops[i];
        uint64_t *members = ARENA_ARRAY(&test_arena, uint64_t, cfg->count / 64 + 1);
        text_format(out, "loop %s:", cfg->blocks[loop->head]->name);
        put_members(out, cfg, loop->members);
        cfg_appendix_loop(cfg, loop->head, members);
        if (memcmp(members, loop->members, (cfg->count + 63) / 64 * sizeof *members) != 0) {
            text_put(out, "  Appendix A:");
            put_members(out, cfg, members);
        }
        if (loop->parent != CFG_NO_LOOP)
            text_format(out, "  within %s\n", cfg->blocks[cfg->loops[loop->parent].head]->name);
    }
    cfg_sort(&test_arena, cfg, 0);
    assert_true(cfg_order_valid(cfg));
    text_put(out, "order:");
    for (uint32_t place = 0; place < cfg->count; place++)
        text_format(out, " %s", cfg->blocks[cfg->order[place]]->name);
    text_put(out, "\n");
    arena_release(&test_arena, mark);
}

const struct cases_command cases_forms[] = {
    {"lower", lower}, {"blocks", blocks}, {"normalise", normal_form}, {"well-formed", def_5_1},
    {"pi", pi},       {"phi", phi},       {"graph", graph},           {NULL, NULL}};
