#include "fuzz/grid/branches.h"

#include "engine/ptx/ptx_reach.h"
#include "fuzz/grid/grid.h"
#include "oracle/launch/launch.h"

#include <inttypes.h>
#include <string.h>

enum { IS_BRANCH = 1, JUMPED = 2, WENT_ON = 4 };

/* ---- what there is ---- */

static void note_constant(struct branches *b, const struct ptx_instruction *i)
{
    const uint32_t most = sizeof b->constants / sizeof b->constants[0];
    for (const struct ptx_operand *o = i->operands; o; o = o->next) {
        uint32_t k = 0;
        while (k < b->constant_count && b->constants[k] != (int64_t)o->value)
            k++;
        if (o->kind == PTX_OPERAND_INTEGER && k == b->constant_count && k < most)
            b->constants[b->constant_count++] = (int64_t)o->value;
    }
}

static void find(struct branches *b, const struct ptx_statement *list, uint32_t *source)
{
    for (; list; list = list->next) {
        const struct ptx_instruction *i = &list->u.instruction;
        if (list->kind == PTX_BLOCK)
            find(b, list->u.block, source);
        else if (list->kind == PTX_LOC)
            *source = list->u.loc.line;
        if (list->kind != PTX_INSTRUCTION || list->at.line >= b->lines)
            continue;
        if (ptx_forms[i->form].opcode == PTX_OP_SETP)
            note_constant(b, i);
        if (ptx_forms[i->form].opcode != PTX_OP_BRA || !i->guard || b->ways[list->at.line])
            continue;
        b->ways[list->at.line] = IS_BRANCH;
        b->source[list->at.line] = *source;
        b->all += 2;
    }
}

void branches_find(struct arena *arena, const struct ptx_module *module,
                   const struct ptx_function *entry, uint32_t lines, struct branches *branches)
{
    struct ptx_reach reach = {.function_count = 0};
    *branches = (struct branches){.lines = lines + 1,
                                  .ways = ARENA_ARRAY(arena, uint8_t, lines + 1),
                                  .source = ARENA_ARRAY(arena, uint32_t, lines + 1)};
    ptx_reach(arena, module, entry, &reach);
    for (uint32_t f = 0; f < reach.function_count; f++) {
        uint32_t source = 0;
        find(branches, reach.functions[f]->body, &source);
    }
}

bool branches_want(const struct branches *b, uint32_t line, bool jumps)
{
    return line < b->lines && (b->ways[line] & IS_BRANCH) &&
           !(b->ways[line] & (jumps ? JUMPED : WENT_ON));
}

/* ---- what executions do ---- */

struct watch {
    struct branches *branches; /* or NULL */
    struct short_run *run;
    bool stores;
    uint32_t count;
    struct {
        uint32_t first, end; /* locations of its buffer */
    } places[REACHED];
};

static void on_step(void *context, const struct machine *machine, const struct step_event *event)
{
    struct branches *b = ((const struct watch *)context)->branches;
    if (event->stm == CODE_NONE || !b)
        return;
    const uint32_t line = machine->program->ptx->ops[event->stm].line;
    if (machine->program->ptx->ops[event->stm].exec != PTX_EXEC_BRA || line >= b->lines ||
        !(b->ways[line] & IS_BRANCH))
        return;
    unsigned ways = ((event->active & event->truth) != 0 ? JUMPED : 0u) |
                    ((event->active & ~event->truth) != 0 ? WENT_ON : 0u);
    ways &= ~(unsigned)b->ways[line];
    b->taken += (uint32_t)__builtin_popcount(ways);
    b->ways[line] = (uint8_t)(b->ways[line] | ways);
}

static void on_row(void *context, enum access_kind kind, const struct access_row *row)
{
    struct watch *w = context;
    w->stores |= kind != ACCESS_READ;
    for (uint32_t i = 0; i < row->count; i++) {
        const uint32_t first = row->location[row->order[i]], end = first + row->span;
        for (uint32_t p = 0; p < w->count; p++)
            if (first >= w->places[p].first && first < w->places[p].end &&
                end - w->places[p].first > w->run->bytes[p])
                w->run->bytes[p] = end - w->places[p].first;
    }
}

static void find_places(struct watch *w, const struct launch *launch)
{
    const struct program *program = launch->program;
    const struct ptx_kernel *ptx = launch->kernel->ptx;
    w->count = ptx->argument_count < REACHED ? ptx->argument_count : REACHED;
    for (uint32_t p = 0; p < w->count; p++)
        for (uint32_t i = 0; i < program->var_count; i++) {
            const struct code_var *var = &program->vars[i];
            if (var->ast != ptx->arguments[p].buffer || var->ast->space != SPACE_GLOBAL)
                continue;
            w->places[p].first = var->offset * program->units;
            w->places[p].end = (var->offset + var->ast->length) * program->units;
        }
}

static void conclude(struct watch *w, const struct launch *launch)
{
    struct short_run *run = w->run;
    for (uint32_t p = 0; p < w->count; p++)
        run->bytes[p] *= 4 / launch->program->units;
    run->steps = launch->steps;
    run->is_wrong = launch->race->findings != NULL;
    run->is_unwritten = grid_only_unwritten(launch);
    run->stores = w->stores;
    run->is_cut = launch->status == STATUS_STEP_LIMIT;
    run->is_well = launch->status == STATUS_TERMINATED && !launch->race->findings && w->stores &&
                   launch_decides(launch);
    run->leaves_end = launch->status == STATUS_OUT_OF_BOUNDS && launch->fault->variable &&
                      !launch->fault_misaligned &&
                      launch->fault->offset + launch->fault->bytes > (int64_t)launch->fault->size;
    run->size_left = run->leaves_end ? launch->fault->size : 0;
}

struct short_run branches_run(struct cli *cli, struct ast_kernel *kernel, uint64_t steps,
                              struct branches *branches)
{
    const struct launch_options options = {.budget = steps};
    struct short_run run = {.can_run = false};
    struct watch watch = {.branches = branches, .run = &run};
    const struct observer watcher = {.context = &watch, .step = on_step, .access_row = on_row};
    const uint32_t before = branches ? branches->taken : 0;
    const char *why = NULL;
    uint32_t block[3], grid[3];
    struct arena arena; /* its own, which costs what the execution touches */
    ptx_kernel_dimensions(kernel, block, grid);
    if (arena_init(&arena, cli->arena.size) != 0)
        return run;
    struct launch *launch = launch_new(&arena, kernel, grid, &options, &why);
    run.can_run = launch != NULL;
    if (launch) {
        struct observer *last = launch->print ? &launch->print->observer : &launch->race->observer;
        last->next = &watcher;
        find_places(&watch, launch);
        grid_mark_written(launch);
        launch_run(launch, &options);
        conclude(&watch, launch);
        run.is_new = branches && branches->taken > before;
    }
    arena_destroy(&arena);
    return run;
}

const char *branches_text(struct arena *arena, const struct branches *b)
{
    const char *text =
        arena_printf(arena, "%" PRIu32 " of %" PRIu32 " ways of branches taken", b->taken, b->all);
    for (uint32_t line = 0; line < b->lines; line++) {
        const unsigned missing = ~(unsigned)b->ways[line] & (JUMPED | WENT_ON);
        if (!(b->ways[line] & IS_BRANCH) || !missing)
            continue;
        const char *what = missing == JUMPED    ? "never jumps"
                           : missing == WENT_ON ? "always jumps"
                                                : "is not reached";
        return b->source[line]
                   ? arena_printf(arena, "%s (the branch of line %" PRIu32 " %s)", text,
                                  b->source[line], what)
                   : arena_printf(arena, "%s (line %" PRIu32 " of the PTX %s)", text, line, what);
    }
    return text;
}
