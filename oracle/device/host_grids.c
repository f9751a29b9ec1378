#include "oracle/device/host_grids.h"

#include "engine/input/input.h"
#include "engine/input/ptx_kernel.h"
#include "oracle/device/host_order.h"
#include "oracle/launch/launch.h"

#include <string.h>

enum { FINDINGS_TOLD = 4 };

/* The kernel and its settings once more: a launch changes them. */
static struct ast_kernel *copy_kernel(struct arena *arena, const struct device_grid *grid)
{
    struct ast_kernel *kernel = ast_kernel_copy(arena, grid->kernel);
    struct ptx_kernel *ptx = ARENA_NEW(arena, struct ptx_kernel);
    *ptx = *grid->kernel->ptx;
    kernel->ptx = ptx;
    return kernel;
}

static void fill_memory(struct device *device, const struct device_grid *grid,
                        struct launch *launch)
{
    const struct ptx_regions *regions = &launch->program->ptx->global;
    device_settle_memory(device);
    for (uint32_t i = 0; i < regions->count; i++)
        memcpy(launch_bytes(launch, &regions->items[i]), device->memory + grid->regions[i].base,
               (size_t)4 * grid->regions[i].words);
    launch->race->written = NULL; /* the host says what every word holds at first */
}

static void add_finding(struct arena *arena, const struct device *device,
                        const struct device_grid *grid, const struct launch_finding *f,
                        struct host_verdict *verdict)
{
    const struct host_statement *s = &device->program->statements[grid->statement];
    const char *text = arena_printf(arena, "%s in `%s`: %s",
                                    f->kind == LAUNCH_FAULT ? status_names[f->status] : "race",
                                    device->program->kernels[s->kernel].name, f->text);
    host_add(arena, verdict, FINDING_GRID, s->at.line, text);
}

static bool tell(struct arena *arena, const struct device *device, const struct device_grid *grid,
                 const struct launch *launch, struct host_verdict *verdict)
{
    uint32_t told = 0;
    for (const struct launch_finding *f = launch->race->findings; f; f = f->next)
        if (f->kind != LAUNCH_UNWRITTEN && f->status != STATUS_NONTERMINATING &&
            told++ < FINDINGS_TOLD)
            add_finding(arena, device, grid, f, verdict);
    return told > 0;
}

/* ---- the same launch with one block resident at a time ---- */

struct alone {
    uint32_t word; /* of shared memory, that a block does not find as the module has it; */
    bool differs;
};

/* GR.issue, as docs/host.md has it: the shared memory of a block that begins is as the module says. */
static void see_group(void *context, const struct machine *machine)
{
    struct alone *a = context;
    const struct program *program = machine->program;
    const int32_t *initial = program->ptx->initial + program->shared_base;
    const uint32_t words = program->words[SPACE_SHARED];
    for (uint32_t i = 0; i < program->launch.blocks * words && !a->differs; i++) {
        a->differs = machine->memory[program->shared_base + i] != initial[i % words];
        a->word = i % words;
    }
}

/* Blocks of a launch without a race need nobody beside them but for those that wait for others. NULL: nothing is
 * wrong. */
static const char *differs_alone(struct arena *arena, struct device *device,
                                 const struct device_grid *grid, const struct launch *together)
{
    struct alone alone = {.differs = false};
    const struct launch_options options = {
        .budget = 4 * together->steps, .resident = 1, .begins = see_group, .context = &alone};
    const char *reason;
    struct launch *launch =
        launch_new(arena, copy_kernel(arena, grid),
                   device->program->statements[grid->statement].grid, &options, &reason);
    if (!launch)
        return NULL;
    fill_memory(device, grid, launch);
    launch_run(launch, &options);
    if (alone.differs)
        return arena_printf(arena, "a block finds word %u of its shared memory changed",
                            (unsigned)alone.word);
    bool same = memcmp(launch->machine->memory, together->machine->memory,
                       (size_t)4 * launch->program->shared_base) == 0;
    if (launch->status != STATUS_TERMINATED || same || !program_atomics_commute(launch->program))
        return NULL;
    return "the launch leaves another memory with one block resident at a time";
}

bool host_grids_launch(struct arena *arena, struct device *device, struct device_grid *grid,
                       uint64_t budget, struct host_verdict *verdict)
{
    const struct launch_options options = {.budget = budget};
    const char *reason;
    size_t mark = arena_mark(arena);
    struct launch *launch =
        launch_new(arena, copy_kernel(arena, grid),
                   device->program->statements[grid->statement].grid, &options, &reason);
    if (!launch)
        return false;
    fill_memory(device, grid, launch);
    launch_run(launch, &options);
    bool told = tell(arena, device, grid, launch, verdict);
    if (!told && launch->status == STATUS_TERMINATED && launch->blocks > 1) {
        const char *text = differs_alone(arena, device, grid, launch);
        told = text != NULL;
        if (told)
            host_add(arena, verdict, FINDING_REFERENCE,
                     device->program->statements[grid->statement].at.line, text);
    }
    if (!told)
        arena_release(arena, mark);
    return told;
}
