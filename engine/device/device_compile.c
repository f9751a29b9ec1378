/*
 * device_compile.c - the kernel of a launch as a program for the blocks that are resident: its parameters and variables
 * are regions of the device's memory.
 */
#include "engine/base/text.h"
#include "engine/device/device_internal.h"
#include "engine/input/input.h"
#include "engine/input/ptx_kernel.h"
#include "engine/program/ptx_code.h"
#include "engine/ptx/ptx_reach.h"
#include "engine/subjects/forms.h"
#include "engine/to_ptx/lower_ptx.h"

#include <stdlib.h>
#include <string.h>

/* Buffers of 64-bit addresses lie so far apart that no 32-bit index leads from one into the next. */
#define ADDRESS_STEP ((uint64_t)1 << 34)

static uint64_t address_of(const struct device *device, uint32_t array)
{
    uint32_t step = device->program->arrays[array].context * HOST_ARRAYS + array;
    return PTX_FAR_GLOBAL_BASE + ADDRESS_STEP * (1 + (uint64_t)step % 4096);
}

struct compiling {
    struct device *device;
    struct device_grid *grid;
    const struct host_statement *launch;
    const struct host_kernel *kernel;
    struct diag *diag;
};

static bool fail(const struct compiling *c, const char *text)
{
    diag_error(c->diag, c->launch->at, "launch of '%s': %s", c->kernel->name, text);
    return false;
}

#define FAIL(c, ...) fail(c, arena_printf((c)->device->arena, __VA_ARGS__))

static uint32_t volume(const uint32_t *d)
{
    return d[0] * d[1] * d[2];
}

/* ---- PTX ---- */

static const struct ptx_variable *parameter_of(const struct ptx_function *entry, const char *name,
                                               uint32_t *number)
{
    const struct ptx_variable *p = entry->parameters;
    char *end;
    unsigned long given = strtoul(name, &end, 10);
    bool is_number = *name >= '0' && *name <= '9' && !*end;
    for (*number = 0; p; p = p->next, ++*number)
        if (strcmp(p->name, name) == 0 || (is_number && given == *number))
            return p;
    return NULL;
}

static const struct ptx_variable *module_variable(const struct ptx_module *module, const char *name)
{
    for (const struct ptx_item *item = module->items; item; item = item->next)
        if (item->kind == PTX_ITEM_VARIABLE && strcmp(item->u.variable->name, name) == 0)
            return item->u.variable;
    return NULL;
}

/* `bind:` of a number or of a buffer's address, `memory:` where the buffer lies. */
static bool put_argument(const struct compiling *c, const struct ptx_kernel *ptx,
                         const struct host_argument *argument, struct text *settings, bool *placed)
{
    uint32_t number;
    const struct ptx_variable *parameter = parameter_of(ptx->entry, argument->name, &number);
    const struct ptx_variable *variable = module_variable(ptx->module, argument->name);
    if (!parameter && !(variable && variable->space == PTX_W_GLOBAL))
        return FAIL(c, "the kernel has no parameter and no global variable '%s'", argument->name);
    if (argument->array == HOST_NONE) {
        if (!parameter)
            return FAIL(c, "'%s' is a variable: it takes a buffer", argument->name);
        text_format(settings, " bind:%u=%s", (unsigned)number, argument->text);
        return true;
    }
    const struct host_array *array = &c->device->program->arrays[argument->array];
    unsigned long long address = (unsigned long long)address_of(c->device, argument->array);
    if (parameter && ptx_memory_bytes(parameter) != 8)
        return FAIL(c, "parameter '%s' has %llu bytes: it takes no buffer", argument->name,
                    (unsigned long long)ptx_memory_bytes(parameter));
    if (parameter)
        text_format(settings, " bind:%u=0x%llx", (unsigned)number, address);
    if (!parameter && placed[argument->array])
        return FAIL(c, "buffer '%s' is given twice", array->name);
    if (!parameter || !placed[argument->array])
        text_format(settings, " memory:%s=0x%llx:%llu", parameter ? array->name : variable->name,
                    address, 4ull * array->words);
    placed[argument->array] = true;
    return true;
}

static bool all_are_given(const struct compiling *c, const struct ptx_function *entry)
{
    uint32_t number = 0, of;
    for (const struct ptx_variable *p = entry->parameters; p; p = p->next, number++) {
        bool given = false;
        for (uint32_t i = 0; i < c->launch->argument_count && !given; i++)
            given = parameter_of(entry, c->launch->arguments[i].name, &of) && of == number;
        if (!given)
            return FAIL(c, "parameter '%s' is not given", p->name);
    }
    return true;
}

static const char *settings_of(const struct compiling *c, const struct ptx_kernel *ptx)
{
    const struct host_statement *l = c->launch;
    const uint32_t *g = l->grid, *b = l->block;
    struct text text = text_begin(c->device->arena);
    bool *placed = ARENA_ARRAY(c->device->arena, bool, HOST_ARRAYS);
    text_format(&text, "entry=%s blocks=%ux%ux%u/0+1 threads=%ux%ux%u", ptx->entry->name, g[0],
                g[1], g[2], b[0], b[1], b[2]);
    if (l->shared)
        text_format(&text, " shared=%u", (unsigned)l->shared);
    for (uint32_t i = 0; i < l->argument_count; i++)
        if (!put_argument(c, ptx, &l->arguments[i], &text, placed))
            return NULL;
    return all_are_given(c, ptx->entry) ? text.bytes : NULL;
}

static struct ast_kernel *make_ptx(const struct compiling *c)
{
    struct diag *diag = ARENA_NEW(c->device->arena, struct diag);
    const struct ptx_kernel *ptx = c->kernel->kernel->ptx;
    const char *settings = settings_of(c, ptx);
    if (!settings)
        return NULL;
    diag_init(diag, c->kernel->name, NULL, 0);
    struct ast_kernel *kernel = ast_kernel_copy(c->device->arena, c->kernel->kernel);
    kernel->expects = NULL; /* of another launch */
    if (!ptx_kernel_set(c->device->arena, kernel, settings, diag)) {
        fail(c, diag->entries[0].text);
        return NULL;
    }
    return kernel;
}

/* ---- structured kernels ---- */

static struct ast_kernel *make_lowered(const struct compiling *c)
{
    const struct host_statement *l = c->launch;
    const char *reason = NULL;
    struct ast_kernel *kernel = ast_kernel_copy(c->device->arena, c->kernel->kernel);
    if (l->grid[1] != 1 || l->grid[2] != 1 || l->block[1] != 1 || l->block[2] != 1) {
        fail(c, "a kernel of the kernel language has grids and blocks of one dimension");
        return NULL;
    }
    kernel->launch.threads = l->block[0];
    kernel->launch.blocks = 1;
    if (kernel->launch.warp > kernel->launch.threads)
        kernel->launch.warp = kernel->launch.threads;
    struct ast_kernel *lowered = lower_ptx(c->device->arena, kernel, &reason);
    if (!lowered)
        fail(c, reason);
    return lowered;
}

/* ---- where the regions lie ---- */

static uint32_t array_named(const struct compiling *c, const char *region)
{
    for (uint32_t i = 0; i < c->launch->argument_count; i++) {
        const struct host_argument *a = &c->launch->arguments[i];
        if (a->array != HOST_NONE &&
            (strcmp(a->name, region) == 0 ||
             strcmp(c->device->program->arrays[a->array].name, region) == 0))
            return a->array;
    }
    return HOST_NONE;
}

/* A variable that the launch does not give: it belongs to the kernel, and stays from launch to launch. */
static uint32_t variable_base(const struct compiling *c, const struct ptx_region *region)
{
    struct device *device = c->device;
    for (const struct device_grid *g = device->grids; g < c->grid; g++) {
        const struct host_statement *other = &device->program->statements[g->statement];
        if (other->kernel != c->launch->kernel || other->context != c->launch->context)
            continue;
        const struct ptx_regions *regions = &g->program->ptx->global;
        for (uint32_t i = 0; i < regions->count; i++)
            if (strcmp(regions->items[i].name, region->name) == 0 &&
                g->regions[i].base >= device->program->device_words)
                return g->regions[i].base;
    }
    return HOST_NONE;
}

static uint32_t add_variable(const struct compiling *c, const struct ptx_region *region,
                             uint32_t words)
{
    struct device *device = c->device;
    uint32_t base = device->memory_words, before = base - device->program->device_words;
    int32_t *variables = ARENA_ARRAY(device->arena, int32_t, before + words);
    if (before)
        memcpy(variables, device->variables, (size_t)4 * before);
    memcpy(variables + before, c->grid->program->ptx->initial + region->word, (size_t)4 * words);
    device->variables = variables;
    device->memory_words += words;
    return base;
}

static bool map_regions(const struct compiling *c)
{
    const struct ptx_regions *regions = &c->grid->program->ptx->global;
    c->grid->region_count = regions->count;
    c->grid->regions = ARENA_ARRAY(c->device->arena, struct device_region, regions->count + 1);
    for (uint32_t i = 0; i < regions->count; i++) {
        const struct ptx_region *region = &regions->items[i];
        uint32_t array = array_named(c, region->name), words = (region->bytes + 3) / 4;
        uint32_t base =
            array != HOST_NONE ? c->device->program->arrays[array].base : variable_base(c, region);
        if (array != HOST_NONE && words > c->device->program->arrays[array].words)
            return FAIL(c, "'%s' has %u words, buffer '%s' %u", region->name, (unsigned)words,
                        c->device->program->arrays[array].name,
                        (unsigned)c->device->program->arrays[array].words);
        for (uint32_t k = 0; k < i && array != HOST_NONE; k++)
            if (c->grid->regions[k].base == base)
                return FAIL(c, "'%s' and '%s' are one buffer", regions->items[k].name,
                            region->name);
        if (base == HOST_NONE)
            base = add_variable(c, region, words);
        c->grid->regions[i] = (struct device_region){region->word, base, words};
    }
    return true;
}

/* ---- the launch ---- */

/* Blocks that the device holds at a time, of this kernel alone. */
static uint32_t resident_blocks(const struct compiling *c, uint32_t threads)
{
    const struct device_options *o = &c->device->options;
    uint32_t most = o->blocks;
    if (!o->crowded && o->threads / threads < most)
        most = o->threads / threads;
    uint32_t all = most * o->sms;
    if (o->crowded || all > LIMIT_BLOCKS)
        all = LIMIT_BLOCKS;
    if (all > LIMIT_TOTAL_THREADS / threads)
        all = LIMIT_TOTAL_THREADS / threads;
    return c->grid->blocks < all ? c->grid->blocks : all;
}

static bool fits(const struct compiling *c, uint32_t threads)
{
    const struct device_options *o = &c->device->options;
    const struct device_grid *g = c->grid;
    if (threads > LIMIT_THREADS)
        return FAIL(c, "too large: a block of %u threads; %d are the most", (unsigned)threads,
                    LIMIT_THREADS);
    if (threads > o->threads)
        return FAIL(c, "too large: no SM takes a block of %u threads; an SM holds %u",
                    (unsigned)threads, (unsigned)o->threads);
    if (g->program && g->registers > o->registers)
        return FAIL(c, "too large: no SM takes a block of %u registers; an SM has %u",
                    (unsigned)g->registers, (unsigned)o->registers);
    if (g->program && g->shared_bytes > o->shared)
        return FAIL(c, "too large: no SM takes a block of %u bytes of shared memory; an SM has %u",
                    (unsigned)g->shared_bytes, (unsigned)o->shared);
    return true;
}

static bool check_arguments(const struct compiling *c)
{
    const struct ptx_regions *regions = &c->grid->program->ptx->global;
    for (uint32_t i = 0; i < c->launch->argument_count; i++) {
        const struct host_argument *a = &c->launch->arguments[i];
        bool found = c->kernel->kernel->form == FORM_PTX;
        for (uint32_t k = 0; k < regions->count && !found; k++)
            found = strcmp(regions->items[k].name, a->name) == 0;
        if (!found)
            return FAIL(c, "the kernel has no global variable '%s'", a->name);
        if (a->array == HOST_NONE && c->kernel->kernel->form != FORM_PTX)
            return FAIL(c, "'%s' is a variable: it takes a buffer", a->name);
    }
    return true;
}

bool device_compile(struct device *device, struct device_grid *grid, struct diag *diag)
{
    const struct host_statement *launch = &device->program->statements[grid->statement];
    struct compiling c = {device, grid, launch, &device->program->kernels[launch->kernel], diag};
    uint32_t threads = volume(launch->block);
    const char *reason = NULL;
    grid->blocks = volume(launch->grid);
    if (!fits(&c, threads))
        return false;
    struct ast_kernel *kernel =
        c.kernel->kernel->form == FORM_PTX ? make_ptx(&c) : make_lowered(&c);
    if (!kernel)
        return false;
    struct ptx_kernel *own = ARENA_NEW(device->arena, struct ptx_kernel);
    *own = *kernel->ptx;
    kernel->ptx = own;
    grid->kernel = kernel;
    grid->slots = resident_blocks(&c, threads);
    memcpy(kernel->ptx->grid, launch->grid, sizeof kernel->ptx->grid);
    kernel->launch.blocks = kernel->ptx->window = grid->slots;
    kernel->ptx->first_block = 0;
    const struct form *form = forms_get(forms_new(device->arena, kernel), PROGRAM_CRS);
    grid->program = form->program;
    if (!grid->program)
        return fail(&c, form->reason);
    reason = machine_refuses(device->arena, &semantics_crs, grid->program);
    if (reason)
        return fail(&c, reason);
    const struct ptx_rows *rows = &grid->program->ptx->rows;
    grid->registers = (rows->narrow + 2 * rows->wide) * threads;
    grid->shared_bytes = 4 * grid->program->words[SPACE_SHARED];
    if (grid->shared_bytes < launch->shared) /* which no variable of the kernel uses */
        grid->shared_bytes = launch->shared;
    return fits(&c, threads) && map_regions(&c) && check_arguments(&c);
}
