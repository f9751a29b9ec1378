#include "fuzz/grid/branches.h"

#include "engine/ptx/ptx_reach.h"
#include "oracle/launch/launch.h"

#include <inttypes.h>
#include <string.h>

enum { IS_BRANCH = 1, JUMPED = 2, WENT_ON = 4, STEPS_MOST = 1 << 20 };

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

/* ---- what is taken ---- */

struct watching {
    struct branches *branches;
    const struct program *program;
    uint32_t buffers;
    const struct ptx_region *regions[BRANCHES_BUFFERS]; /* by parameter; NULL: it is no buffer */
};

static void on_step(void *context, const struct machine *machine, const struct step_event *event)
{
    struct branches *b = ((struct watching *)context)->branches;
    if (event->stm == CODE_NONE)
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
    struct watching *w = context;
    const uint64_t units = w->program->units;
    (void)kind;
    for (uint32_t i = 0; i < row->count; i++) {
        const uint64_t location = row->location[row->order[i]], word = location / units;
        for (uint32_t p = 0; p < w->buffers; p++) {
            const struct ptx_region *r = w->regions[p];
            if (!r || word < r->word || word >= r->word + (r->bytes + 3) / 4)
                continue;
            const uint64_t end = (location + row->span - r->word * units) * 4 / units;
            if (end > w->branches->reached[p])
                w->branches->reached[p] = end;
        }
    }
}

static void find_buffers(struct watching *w, const struct ptx_kernel *ptx)
{
    const struct ptx_regions *all = &w->program->ptx->global;
    w->buffers = ptx->argument_count < BRANCHES_BUFFERS ? ptx->argument_count : BRANCHES_BUFFERS;
    memset(w->branches->reached, 0, sizeof w->branches->reached);
    for (uint32_t p = 0; p < w->buffers; p++)
        for (uint32_t i = 0; i < all->count; i++)
            if (ptx->arguments[p].buffer && all->items[i].var == ptx->arguments[p].buffer)
                w->regions[p] = &all->items[i];
}

bool branches_run(struct cli *cli, struct ast_kernel *kernel, struct branches *branches)
{
    const struct launch_options options = {.budget = STEPS_MOST};
    struct watching watching = {.branches = branches};
    const struct observer watcher = {.context = &watching, .step = on_step, .access_row = on_row};
    const uint32_t before = branches->taken;
    const char *why = NULL;
    uint32_t block[3], grid[3];
    ptx_kernel_dimensions(kernel, block, grid);
    struct launch *launch = launch_new(&cli->arena, kernel, grid, &options, &why);
    if (!launch)
        return false;
    struct observer *last = launch->print ? &launch->print->observer : &launch->race->observer;
    last->next = &watcher;
    watching.program = launch->program;
    find_buffers(&watching, kernel->ptx);
    launch_run(launch, &options);
    return branches->taken > before;
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
