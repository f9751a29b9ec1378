/*
 * normal_form.c - lockstep-cfg's normal form (App. A; CFG.start, CFG.final, PROC.norm), by definition.
 */
#include "engine/base/pcg.h"
#include "engine/forms/normalise.h"
#include "engine/input/input.h"
#include "engine/program/program.h"
#include "engine/reference/ref_flow.h"
#include "oracle/graphs/graphs.h"

#include <string.h>

enum { DEEP = 3 /* calls within each other, of what is drawn */ };

#define EACH_BLOCK(b, f) for (const struct ast_block *b = (f)->blocks; b; b = b->next)

static uint32_t number_of(const struct ast_function *f, const struct ast_block *block)
{
    uint32_t number = 0;
    for (const struct ast_block *b = f->blocks; b && b != block; b = b->next)
        number++;
    return number;
}

static bool goes_to(const struct ast_block *from, const struct ast_block *to)
{
    for (uint32_t i = 0; i < from->target_count; i++)
        if (from->targets[i] == to)
            return true;
    return false;
}

static bool has_call(const struct ast_block *b)
{
    for (const struct ast_stm *s = b->body; s; s = s->next)
        if (s->kind == STM_CALL)
            return true;
    return false;
}

/* Nothing leads to the block that the function begins with; the kernel's calls nobody. */
static bool entry(const struct ast_function *f, bool is_kernel)
{
    EACH_BLOCK (b, f)
        if (goes_to(b, f->blocks))
            return false;
    return !is_kernel || !has_call(f->blocks);
}

/* A call is alone in its block. */
static bool calls(const struct ast_function *f)
{
    EACH_BLOCK (b, f)
        if (has_call(b) && b->body->next)
            return false;
    return true;
}

static struct ref_flow *flow_of(struct arena *arena, const struct ast_function *f)
{
    uint32_t count = number_of(f, NULL), *most = ARENA_ARRAY(arena, uint32_t, count);
    EACH_BLOCK (b, f)
        most[number_of(f, b)] = b->target_count;
    struct ref_flow *g = ref_flow_new(arena, count, most);
    EACH_BLOCK (b, f)
        for (uint32_t i = 0; i < b->target_count; i++)
            if (b->targets[i])
                ref_flow_add(g, number_of(f, b), number_of(f, b->targets[i]));
    return g;
}

/* No call is last in a loop: a block of its loop comes behind it, on a way without back edges. */
static bool last(struct ref_flow *g, const struct ast_function *f)
{
    EACH_BLOCK (b, f) {
        uint32_t own = number_of(f, b), head = ref_flow_innermost(g, own);
        bool behind = !has_call(b) || head == REF_FLOW_NONE;
        for (uint32_t i = 0; i < g->next_count[own]; i++)
            behind = behind || (ref_flow_in_loop(g, head, g->next[own][i]) &&
                                !ref_flow_is_back(g, own, g->next[own][i]));
        if (!behind)
            return false;
    }
    return true;
}

/* A procedure returns from one block, which is empty and stands last. */
static bool returns(const struct ast_function *f)
{
    EACH_BLOCK (b, f)
        if (b->returns && (b->body || b->next))
            return false;
    return true;
}

/* One block of the kernel goes to End, nowhere else, and is a barrier of all threads. */
static bool final(const struct ast_function *f)
{
    uint32_t count = 0;
    EACH_BLOCK (b, f) {
        const struct ast_stm *s = b->body;
        if (!goes_to(b, NULL))
            continue;
        count++;
        if (s && s->kind == STM_ASSUME && s->value->kind == EXPR_INT && s->value->value)
            s = s->next;
        if (b->target_count != 1 || !s || s->kind != STM_BARRIER || s->guard || s->next)
            return false;
    }
    return count <= 1;
}

/* Each block but those of calls and returns begins with an assume. */
static bool assumes(const struct ast_function *f)
{
    EACH_BLOCK (b, f)
        if (!b->returns && !has_call(b) && (!b->body || b->body->kind != STM_ASSUME))
            return false;
    return true;
}

const char *graphs_normal_form(struct arena *arena, const struct ast_function *f, bool is_kernel)
{
    return !entry(f, is_kernel)          ? "normal form, entry"
           : !calls(f)                   ? "normal form, calls"
           : !last(flow_of(arena, f), f) ? "normal form, last in a loop"
           : !is_kernel && !returns(f)   ? "normal form, return"
           : is_kernel && !final(f)      ? "normal form, final barrier"
           : !assumes(f)                 ? "normal form, assumes"
                                         : NULL;
}

/* ---- loops that count (CFG.bv.loop) ---- */

/* A barrier is reached in the block, by calls of so many procedures within each other. */
static bool reaches(const struct ast_block *block, uint32_t deep)
{
    for (const struct ast_stm *s = block->body; s; s = s->next) {
        if (s->kind == STM_BARRIER)
            return true;
        if (s->kind != STM_CALL || deep == 0)
            continue;
        EACH_BLOCK (b, s->function)
            if (reaches(b, deep - 1))
                return true;
    }
    return false;
}

static uint32_t loops_with_barriers(struct ref_flow *g, const struct ast_function *f, uint32_t deep)
{
    uint32_t count = 0;
    for (uint32_t head = 0; head < g->count; head++) {
        bool found = false;
        EACH_BLOCK (b, f)
            found = found || (ref_flow_heads(g, head) &&
                              ref_flow_in_loop(g, head, number_of(f, b)) && reaches(b, deep));
        count += found;
    }
    return count;
}

static const char *count_loops(struct arena *arena, const struct ast_kernel *kernel)
{
    const char *reason;
    const struct program *program = program_compile(arena, kernel, &reason);
    for (uint32_t i = 0; program && i < program->function_count; i++) {
        const struct ast_function *f = i ? kernel->functions : kernel->main;
        while (i && f && strcmp(f->name, program->functions[i].name) != 0)
            f = f->next;
        if (f && loops_with_barriers(flow_of(arena, f), f, DEEP) != program->functions[i].counters)
            return "loops that count";
    }
    return NULL;
}

/* ---- functions that are drawn ---- */

enum drawn_function { KERNEL, CALLER, CALLED, FUNCTIONS };

/* The kernel calls p, which calls q. */
static const char *draw_statement(struct pcg *rng, enum drawn_function which)
{
    static const char *const statements[FUNCTIONS][4] = {
        {" x = 1;", " barrier();", " p();", " barrier() if (tid);"},
        {" x = 1;", " x = 2;", " q();", " barrier();"},
        {" x = 1;", " x = 2;", " barrier();", " barrier() if (tid);"}};
    return statements[which][pcg_below(rng, 4)];
}

static const char *draw_name(struct arena *arena, uint32_t number, uint32_t count)
{
    return number == count ? "End" : number == 0 ? "Start" : arena_printf(arena, "B%u", number);
}

/* A block goes to the next one, and perhaps to another; the last one, and now and then others, to the end alone. */
static const char *draw_block(struct arena *arena, struct pcg *rng, uint32_t number, uint32_t count,
                              enum drawn_function which)
{
    bool is_kernel = which == KERNEL;
    const char *name = draw_name(arena, number, count), *next = draw_name(arena, number + 1, count);
    const char *text = arena_printf(arena, "%s:%s", name, pcg_below(rng, 3) ? "" : " assume(1);");
    uint32_t other = pcg_below(rng, 2) ? number + 1 : pcg_below(rng, count + is_kernel);
    bool returns = number + 1 == count || pcg_below(rng, 6) == 0;
    if (is_kernel && returns && pcg_below(rng, 2))
        return arena_printf(arena, "%s barrier(); goto End; ", text);
    for (uint32_t left = pcg_below(rng, 3); left > 0; left--) {
        const char *statement = draw_statement(rng, which);
        text = arena_printf(arena, "%s%s", text, statement);
    }
    if (returns)
        return arena_printf(arena, "%s %s; ", text, is_kernel ? "goto End" : "return");
    if (other == number + 1)
        return arena_printf(arena, "%s goto %s; ", text, next);
    return arena_printf(arena, "%s goto %s, %s; ", text, next, draw_name(arena, other, count));
}

static const char *draw_function(struct arena *arena, struct pcg *rng, enum drawn_function which)
{
    static const char *const heads[FUNCTIONS] = {"kernel k()", "void p()", "void q()"};
    uint32_t count = 1 + pcg_below(rng, 5);
    const char *text = arena_printf(arena, "%s blocks { ", heads[which]);
    for (uint32_t i = 0; i < count; i++) {
        const char *block = draw_block(arena, rng, i, count, which);
        text = arena_printf(arena, "%s%s", text, block);
    }
    return arena_printf(arena, "%s} ", text);
}

const char *graphs_text(struct arena *arena, uint64_t number)
{
    struct pcg rng = pcg_derive(number, PCG_KERNEL, 31);
    const char *text = "launch(threads = 2); shared int x;";
    static const enum drawn_function orders[][FUNCTIONS] = {{CALLER, CALLED, KERNEL},
                                                            {CALLED, CALLER, KERNEL}};
    const enum drawn_function *order = orders[pcg_below(&rng, 2)];
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        const char *function = draw_function(arena, &rng, order[i]);
        text = arena_printf(arena, "%s %s", text, function);
    }
    return text;
}

const char *graphs_normalised(struct arena *arena, const char *text, bool *taken)
{
    struct diag diag;
    const char *reason = NULL, *differs;
    diag_init(&diag, "drawn", text, strlen(text));
    const struct ast_kernel *kernel = parse_kernel(arena, text, strlen(text), &diag);
    if (kernel)
        kernel = normalise(arena, kernel, NORMALISE_ALL, &reason);
    *taken = kernel != NULL;
    if (!kernel)
        return NULL;
    differs = graphs_normal_form(arena, kernel->main, true);
    for (const struct ast_function *f = kernel->functions; f && !differs; f = f->next)
        differs = graphs_normal_form(arena, f, false);
    return differs ? differs : count_loops(arena, kernel);
}
