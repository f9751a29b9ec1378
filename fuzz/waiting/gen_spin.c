#include "fuzz/waiting/gen_spin.h"

#include "engine/base/invariant.h"
#include "engine/input/input.h"

#include <string.h>

/* ---- patterns ---- */

static void write_until(struct spin_writing *w, const char *at, const char *end);

/* The first of $| and $) at this level, or the end. */
static const char *skip_to_mark(const char *at, const char *end)
{
    for (uint32_t depth = 0; at < end; at++) {
        if (*at != '$')
            continue;
        at++;
        if (depth == 0 && (*at == '|' || *at == ')'))
            return at - 1;
        depth += *at == '(';
        depth -= *at == ')';
    }
    invariant_fail("a pattern's parentheses match", __FILE__, __LINE__);
}

/* `at` stands behind $(; returns what is behind its $). */
static const char *write_one_of(struct spin_writing *w, const char *at, const char *end)
{
    uint32_t count = 1;
    const char *mark = skip_to_mark(at, end);
    for (const char *m = mark; m[1] == '|'; count++)
        m = skip_to_mark(m + 2, end);
    for (uint32_t chosen = gen_below(w->g, count); chosen > 0; chosen--) {
        at = mark + 2;
        mark = skip_to_mark(at, end);
    }
    write_until(w, at, mark);
    while (mark[1] == '|')
        mark = skip_to_mark(mark + 2, end);
    return mark + 2;
}

static void write_name(struct spin_writing *w, char name)
{
    switch (name) {
    case 'S':
        text_put(&w->text, w->space);
        break;
    case 'W':
        text_put(&w->text, w->who);
        break;
    case 'N':
        text_format(&w->text, "%u", w->threads);
        break;
    case 'F':
        text_format(&w->text, "%u", gen_below(w->g, w->threads));
        break;
    case 'K':
        spin_write(w, "$W $(== $F$|!= $F$|% 2 == 0$|> 0$)");
        break;
    case 'C':
        spin_write(w, "$(d@ = d@ + 1;$|$|e@ = d@;$|d@ = $W;$|if (d@ == 0) d@ = 1;$)");
        break;
    default:
        invariant_fail("a pattern knows its names", __FILE__, __LINE__);
    }
}

static void write_until(struct spin_writing *w, const char *at, const char *end)
{
    while (at < end) {
        if (*at == '@') {
            text_format(&w->text, "%u", w->number);
            at++;
        } else if (*at != '$') {
            text_put_bytes(&w->text, at++, 1);
        } else if (at[1] == '(') {
            at = write_one_of(w, at + 2, end);
        } else {
            write_name(w, at[1]);
            at += 2;
        }
    }
}

void spin_write(struct spin_writing *writing, const char *pattern)
{
    write_until(writing, pattern, pattern + strlen(pattern));
}

/* ---- idioms, and what is around them ---- */

static const struct spin_idiom *draw_idiom(struct gen *g)
{
    return &spin_idioms[gen_pick(g, GROUP_LOCK_IDIOM, 0) - W_LOCK_IDIOM_FIRST];
}

static void write_body(struct spin_writing *w, const struct spin_idiom *idiom, uint32_t number)
{
    w->number = number;
    spin_write(w, idiom->body);
}

static void write_shape(struct spin_writing *w, uint32_t shape, const struct spin_idiom *first,
                        const struct spin_idiom *second)
{
    bool one_block = w->g->kernel->launch.blocks == 1;
    switch (shape) {
    case W_LOCK_SHAPE_BRANCH:
        spin_write(w, "if ($K) {");
        write_body(w, first, 0);
        spin_write(w, "}");
        if (second) {
            spin_write(w, "else {");
            write_body(w, second, gen_below(w->g, 2) && first == second ? 0 : 1);
            spin_write(w, "}");
        }
        return;
    case W_LOCK_SHAPE_LOOP:
        spin_write(w, "for (r = 0; r < $(2$|1 + $W % 2$); r++) {");
        write_body(w, first, 0);
        spin_write(w, "}");
        return;
    case W_LOCK_SHAPE_CALL:
        spin_write(w, "$(wait();$|if ($K) wait(); else wait();$|if ($K) wait();$)");
        return;
    case W_LOCK_SHAPE_EXIT:
        spin_write(w, "if ($K) $(exit;$|return;$)");
        break;
    case W_LOCK_SHAPE_SWITCH:
        spin_write(w, "switch ($W) { case 0: $(break;$|r = 1;$) case 1:");
        write_body(w, first, 0);
        spin_write(w, "$(break;$|$) default:");
        write_body(w, second ? second : first, second ? 1 : 0);
        spin_write(w, "}");
        return;
    case W_LOCK_SHAPE_BARRIER:
        spin_write(w, one_block ? "$(barrier();$|if ($K) barrier();$)" : "");
        break;
    case W_LOCK_SHAPE_DELAY:
        spin_write(w, "for (r = 0; r < $W; r++) ;");
        break;
    default:
        break;
    }
    write_body(w, first, 0);
    if (shape == W_LOCK_SHAPE_TWICE) {
        spin_write(w, " ");
        write_body(w, second ? second : first, second ? 1 : 0);
    } else if (shape == W_LOCK_SHAPE_BARRIER && one_block) {
        spin_write(w, "$(barrier();$|$)");
    }
}

static void declare_idiom(struct spin_writing *w, const char *declarations, uint32_t number)
{
    w->number = number;
    spin_write(w, declarations);
}

void spin_write_idioms(struct spin_writing *w)
{
    struct gen *g = w->g;
    uint32_t shape = gen_pick(g, GROUP_LOCK_SHAPE, 0);
    bool two =
        shape == W_LOCK_SHAPE_BRANCH || shape == W_LOCK_SHAPE_TWICE || shape == W_LOCK_SHAPE_SWITCH;
    const struct spin_idiom *first = draw_idiom(g);
    const struct spin_idiom *second = two && gen_chance(g, 60) ? draw_idiom(g) : NULL;
    declare_idiom(w, first->shared, 0);
    if (second)
        declare_idiom(w, second->shared, 1);
    if (shape == W_LOCK_SHAPE_CALL) {
        spin_write(w, "void wait() { private ");
        declare_idiom(w, first->private, 0);
        write_body(w, first, 0);
        spin_write(w, "}");
    }
    spin_write(w, "kernel k() { private int r; ");
    if (shape != W_LOCK_SHAPE_CALL) {
        spin_write(w, "private ");
        declare_idiom(w, first->private, 0);
    }
    if (second) {
        spin_write(w, "private ");
        declare_idiom(w, second->private, 1);
    }
    write_shape(w, shape, first, second);
    spin_write(w, "}");
}

/* ---- the kernel ---- */

static void draw_place(struct gen *g, uint32_t threads)
{
    struct ast_launch *launch = &g->kernel->launch;
    *launch = (struct ast_launch){.threads = threads, .warp = threads, .blocks = 1};
    switch (gen_pick(g, GROUP_LOCK_PLACE, threads < 4 ? GEN_BAN(LOCK_PLACE, MIXED) : 0)) {
    case W_LOCK_PLACE_WARPS:
        launch->warp = threads == 4 ? 2 : 1;
        break;
    case W_LOCK_PLACE_BLOCKS:
        *launch = (struct ast_launch){.threads = 1, .warp = 1, .blocks = threads};
        break;
    case W_LOCK_PLACE_MIXED:
        *launch = (struct ast_launch){.threads = 2, .warp = 1 + gen_below(g, 2), .blocks = 2};
        break;
    default:
        break;
    }
}

static struct ast_kernel *read_kernel(const struct spin_writing *w)
{
    const struct ast_launch *launch = &w->g->kernel->launch;
    struct ast_kernel *kernel = parse_printed(w->g->arena, w->text.bytes);
    kernel->launch = *launch;
    return kernel;
}

void gen_spin_kernel(struct gen *g)
{
    struct ast_launch *launch = &g->kernel->launch;
    bool tiny = gen_pick(g, GROUP_LOCK_KIND, 0) == W_LOCK_KIND_TINY, enumerate = g->options->small;
    uint32_t length = !tiny ? 0 : enumerate ? 1 + gen_below(g, 4) : 2 + gen_below(g, 5);
    uint32_t many = GEN_BAN(LOCK_THREADS, THREE) | GEN_BAN(LOCK_THREADS, FOUR);
    uint32_t banned = enumerate && length > 2 ? many : 0;
    g->total_threads = gen_pick(g, GROUP_LOCK_THREADS, banned) - W_LOCK_THREADS_TWO + 2;
    draw_place(g, g->total_threads);
    struct spin_writing w = {.g = g,
                             .text = text_begin(g->arena),
                             .threads = g->total_threads,
                             .space = launch->blocks > 1 ? "global" : "shared",
                             .who = launch->blocks == 1    ? "tid"
                                    : launch->threads == 1 ? "bid"
                                                           : "(bid * threads + tid)"};
    if (tiny)
        spin_write_tiny(&w, length);
    else
        spin_write_idioms(&w);
    g->kernel = read_kernel(&w);
    spin_finish(g, g->kernel, !tiny);
}
