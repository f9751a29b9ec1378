/*
 * repair_ptx.c - a kernel in PTX form with one fence or barrier more, before each access of memory and each branch in
 * turn: between two such places it makes no difference where it stands.
 */
#include "fuzz/repair/repair_internal.h"

#include "engine/input/input.h"
#include "engine/input/ptx_kernel.h"
#include "engine/ptx/ptx_ops.h"
#include "engine/rewrite/edit.h"

#include <inttypes.h>
#include <string.h>

/* Schedules of a first look, and of what seems to help: a fence that the reader passes too early is seen to be too weak
 * only where the others come in between. */
enum { PTX_PLACES = 200, PTX_LOOK = 64, PTX_SURE = 4096 };

/* What is put in, the weakest first: it is not looked for what is stronger than what helps. */
static const struct {
    const char *text, *cuda;
} helpers[] = {
    {"membar.cta;", "__threadfence_block()"},
    {"bar.warp.sync -1;", "__syncwarp()"},
    {"membar.gl;", "__threadfence()"},
    {"bar.sync 0;", "__syncthreads()"},
};
enum { HELPERS = sizeof helpers / sizeof *helpers };

/* ---- places ---- */

static bool is_place(const struct ptx_statement *s)
{
    if (s->kind != PTX_INSTRUCTION)
        return false;
    const struct ptx_instruction *in = &s->u.instruction;
    uint8_t space = in->words[PTX_SLOT_SPACE];
    enum ptx_opcode op = ptx_forms[in->form].opcode;
    bool access = op == PTX_OP_LD || op == PTX_OP_ST || op == PTX_OP_ATOM || op == PTX_OP_RED;
    bool leaves = op == PTX_OP_BRA || op == PTX_OP_RET || op == PTX_OP_EXIT || op == PTX_OP_CALL;
    return leaves ||
           (access && space != PTX_W_PARAM && space != PTX_W_CONST && space != PTX_W_LOCAL);
}

/* The slot of place number `*left`, counted down; NULL: there are fewer. */
static struct ptx_statement **find_in(struct ptx_statement **list, uint32_t *left)
{
    for (struct ptx_statement **slot = list; *slot; slot = &(*slot)->next) {
        struct ptx_statement **within =
            (*slot)->kind == PTX_BLOCK ? find_in(&(*slot)->u.block, left) : NULL;
        if (within)
            return within;
        if (is_place(*slot) && (*left)-- == 0)
            return slot;
    }
    return NULL;
}

/* The tree came from a text of its own (edit_reread). */
static struct ptx_statement **find(const struct ast_kernel *kernel, uint32_t number)
{
    struct ptx_module *module = (struct ptx_module *)(uintptr_t)kernel->ptx->module;
    for (struct ptx_item *item = module->items; item; item = item->next) {
        struct ptx_statement **slot =
            item->kind == PTX_ITEM_FUNCTION ? find_in(&item->u.function->body, &number) : NULL;
        if (slot)
            return slot;
    }
    return NULL;
}

/* An instruction as a statement: out of a kernel that has nothing else. */
static struct ptx_statement *read_helper(struct arena *arena, const char *text)
{
    struct diag *diag = ARENA_NEW(arena, struct diag);
    const char *module = arena_printf(
        arena,
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n%s\nret;\n}\n",
        text);
    diag_init(diag, "helper", module, strlen(module));
    struct ast_kernel *kernel = parse_kernel(arena, module, strlen(module), diag);
    for (struct ptx_item *item = kernel ? kernel->ptx->module->items : NULL; item;
         item = item->next)
        if (item->kind == PTX_ITEM_FUNCTION)
            return item->u.function->body;
    return NULL;
}

/* The kernel with the helper in place; NULL: PTX of its version has no such instruction. */
static struct ast_kernel *put(struct arena *arena, const struct ast_kernel *kernel, uint32_t number,
                              const char *text)
{
    struct ast_kernel *copy = edit_reread(arena, kernel);
    struct ptx_statement **slot = copy ? find(copy, number) : NULL;
    struct ptx_statement *helper = slot ? read_helper(arena, text) : NULL;
    if (!helper)
        return NULL;
    helper->next = *slot;
    *slot = helper;
    return edit_reread(arena, copy);
}

/* ---- what becomes of it ---- */

static const struct check_run *run_of(const struct check_result *result)
{
    const struct check_run *block = &result->runs[SUBJECT_BLOCK];
    return block->schedules > 0 ? block : &result->runs[SUBJECT_CRS];
}

/* Single threads where they can be run, which is all that PTX promises; else warps in lock-step. */
static void check(struct arena *arena, const struct ast_kernel *kernel, uint32_t schedules,
                  struct check_result *result)
{
    struct check_options options = CHECK_DEFAULTS;
    options.oracles = 0;
    options.schedules = schedules;
    options.subjects = 1u << SUBJECT_BLOCK;
    check_kernel(arena, kernel, &options, result);
    if (result->runs[SUBJECT_BLOCK].schedules > 0)
        return;
    options.subjects = 1u << SUBJECT_CRS;
    check_kernel(arena, kernel, &options, result);
}

/* Ways of ending that the kernel had before are not the helper's. */
static enum verdict_of judge(const struct check_result *result, const struct check_result *before)
{
    const struct check_run *run = run_of(result), *old = run_of(before);
    if (run->schedules == 0)
        return REFUSED;
    if (repair_races(result))
        return RACES;
    for (int s = 0; s < STATUS_COUNT; s++) {
        bool ends = s == STATUS_TERMINATED,
             endless = s == STATUS_STEP_LIMIT || s == STATUS_NONTERMINATING;
        if (run->statuses[s] == 0 || ends || old->statuses[s] > 0)
            continue;
        return s == STATUS_BARRIER_DIVERGENCE || s == STATUS_DEADLOCK ? DIVERGES
               : endless                                              ? ENDLESS
                                                                      : FAILS;
    }
    if (run->statuses[STATUS_TERMINATED] == 0)
        return ENDLESS;
    return repair_keeps_claims(result) ? REPAIRED : CLAIMS;
}

static void say(struct arena *arena, const struct ptx_statement *at, uint32_t helper,
                const struct check_result *result, FILE *out)
{
    const struct check_run *run = run_of(result);
    const char *instruction = ptx_print_instruction(arena, &at->u.instruction);
    fprintf(out, "    %.*s (%s) before line %" PRIu32 " (%s): no race, ",
            (int)strlen(helpers[helper].text) - 1, helpers[helper].text, helpers[helper].cuda,
            at->at.line, instruction);
    if (run->final_count == 1)
        fprintf(out, "one result");
    else
        fprintf(out, "%" PRIu32 " results", run->final_count);
    const char *drawn = run->schedules == 1
                            ? "one execution"
                            : arena_printf(arena, "%" PRIu32 " executions", run->schedules);
    fprintf(out, "%s, in the %s of %s that %s drawn\n",
            result->claim_count > 0 ? ", and what the kernel expects" : "", drawn,
            run == &result->runs[SUBJECT_BLOCK] ? "block" : "crs",
            run->schedules == 1 ? "was" : "were");
}

/* The first helper that helps there. *verdict: of the last one that was tried, else. */
static bool try_place(struct arena *arena, const struct ast_kernel *kernel, uint32_t number,
                      const struct check_result *before, enum verdict_of *verdict, FILE *out)
{
    for (uint32_t h = 0; h < HELPERS; h++) {
        size_t mark = arena_mark(arena);
        struct ast_kernel *changed = put(arena, kernel, number, helpers[h].text);
        struct check_result *result = ARENA_NEW(arena, struct check_result);
        *verdict = REFUSED;
        if (changed) {
            check(arena, changed, PTX_LOOK, result);
            *verdict = judge(result, before);
        }
        if (*verdict == REPAIRED) {
            check(arena, changed, PTX_SURE, result);
            *verdict = judge(result, before);
        }
        if (*verdict == REPAIRED)
            say(arena, *find(kernel, number), h, result, out);
        arena_release(arena, mark);
        if (*verdict == REPAIRED)
            return true;
    }
    return false;
}

void repair_ptx(struct arena *arena, const struct ast_kernel *kernel, struct repair_sums *sums,
                const volatile sig_atomic_t *stop, FILE *out)
{
    uint32_t counts[VERDICTS] = {0};
    struct check_result *before = ARENA_NEW(arena, struct check_result);
    check(arena, kernel, PTX_SURE, before);
    sums->fences = true;
    sums->racy = repair_races(before);
    if (!sums->racy)
        return;
    for (uint32_t i = 0; i < PTX_PLACES && find(kernel, i) && !(stop && *stop); i++) {
        enum verdict_of verdict;
        sums->repairs += try_place(arena, kernel, i, before, &verdict, out);
        counts[verdict]++;
        sums->tried++;
    }
    repair_put_others(counts, out);
}
