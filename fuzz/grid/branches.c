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

bool branches_want(const struct branches *b, uint32_t line, bool jumps)
{
    return line < b->lines && (b->ways[line] & IS_BRANCH) &&
           !(b->ways[line] & (jumps ? JUMPED : WENT_ON));
}

/* ---- what executions do ---- */

static const struct launch_options short_run = {.budget = STEPS_MOST};

/* One of them, in memory of its own, which costs what it touches. */
static bool run_watched(struct cli *cli, struct ast_kernel *kernel, const struct observer *watcher,
                        const struct launch **running)
{
    const char *why = NULL;
    uint32_t block[3], grid[3];
    struct arena arena;
    ptx_kernel_dimensions(kernel, block, grid);
    if (arena_init(&arena, cli->arena.size) != 0)
        return false;
    struct launch *launch = launch_new(&arena, kernel, grid, &short_run, &why);
    *running = launch;
    if (launch) {
        struct observer *last = launch->print ? &launch->print->observer : &launch->race->observer;
        last->next = watcher;
        launch_run(launch, &short_run);
    }
    arena_destroy(&arena);
    return launch != NULL;
}

static void on_step(void *context, const struct machine *machine, const struct step_event *event)
{
    struct branches *b = context;
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

bool branches_run(struct cli *cli, struct ast_kernel *kernel, struct branches *branches)
{
    const struct observer watcher = {.context = branches, .step = on_step};
    const uint32_t before = branches->taken;
    const struct launch *running;
    return run_watched(cli, kernel, &watcher, &running) && branches->taken > before;
}

struct reaching {
    const struct launch *launch;
    uint64_t *bytes;
};

static void on_row(void *context, enum access_kind kind, const struct access_row *row)
{
    const struct reaching *r = context;
    const struct program *program = r->launch->program;
    const struct ptx_kernel *ptx = r->launch->kernel->ptx;
    (void)kind;
    for (uint32_t i = 0; i < row->count; i++) {
        const struct program_location at = program_locate(program, row->location[row->order[i]]);
        const uint64_t end = (uint64_t)4 * at.element + at.byte + 4 * row->span / program->units;
        for (uint32_t p = 0; p < ptx->argument_count && p < REACHED; p++)
            if (ptx->arguments[p].buffer == at.var && end > r->bytes[p])
                r->bytes[p] = end;
    }
}

bool branches_reach(struct cli *cli, struct ast_kernel *kernel, uint64_t bytes[REACHED])
{
    struct reaching reaching = {.bytes = bytes};
    const struct observer watcher = {.context = &reaching, .access_row = on_row};
    memset(bytes, 0, REACHED * sizeof *bytes);
    return run_watched(cli, kernel, &watcher, &reaching.launch);
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
