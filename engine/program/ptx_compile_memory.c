#include "engine/arith/ptx_soft.h"
#include "engine/base/invariant.h"
#include "engine/base/pages.h"
#include "engine/base/pcg.h"
#include "engine/program/ptx_compile_internal.h"

#include <stdlib.h>
#include <string.h>

/* Between a variable and the next one, so that what misses one finds nothing: at least, and at most. */
enum { GAP = 256, FIRST_ADDRESS = 256, NEAR_GAP = 1 << 30 };

/* ---- homes ---- */

void ptx_build_home(struct ptx_builder *b, const struct ptx_variable *var, enum ptx_home home,
                    uint64_t address)
{
    bool is_new;
    if (b->home_count == b->home_capacity) {
        uint32_t capacity = b->home_capacity ? 2 * b->home_capacity : 64;
        void *list = arena_alloc(b->arena, capacity, sizeof *b->home_list);
        if (b->home_count)
            memcpy(list, b->home_list, b->home_count * sizeof *b->home_list);
        b->home_list = list;
        b->home_capacity = capacity;
    }
    *ptx_map_add(&b->homes, var, 0, &is_new) = b->home_count;
    b->home_list[b->home_count].home = home;
    b->home_list[b->home_count++].address = address;
}

const uint32_t *ptx_build_find_home(const struct ptx_builder *b, const struct ptx_variable *var)
{
    return ptx_map_find(&b->homes, var, 0);
}

uint32_t ptx_build_align(struct ptx_builder *b, const struct ptx_variable *var)
{
    uint32_t align = ptx_type_of(var->type).bits / 8u;
    align *= var->vector == PTX_W_V2 ? 2 : var->vector == PTX_W_V4 ? 4 : 1;
    if (var->align > PTX_LIMIT_ALIGN || (var->align & (var->align - 1)) != 0)
        ptx_build_fail(b, "'%.80s' cannot be aligned to %u bytes", var->name, var->align);
    else if (var->align > align)
        align = var->align;
    return align < 4 ? 4 : align;
}

/* ---- regions ---- */

struct region_list {
    struct ptx_regions *regions;
    uint64_t next;
    uint64_t words;
};

static uint64_t round_up(uint64_t value, uint32_t multiple)
{
    return (value + multiple - 1) & ~(uint64_t)(multiple - 1);
}

/* Places `bytes` behind what is there. */
static uint64_t add_region(struct ptx_builder *b, struct region_list *list, const char *name,
                           const struct ast_var *var, uint64_t bytes, uint32_t align)
{
    uint64_t address = round_up(list->next, align > GAP ? align : GAP);
    uint64_t words = bytes / 4 + (bytes % 4 != 0);
    if (list->words + words > ptx_kernel_memory_limit(b->ptx)) {
        ptx_build_fail(b, "'%.80s' and the variables before it take more than %u words", name,
                       (unsigned)ptx_kernel_memory_limit(b->ptx));
        return 0;
    }
    list->regions->items[list->regions->count++] = (struct ptx_region){
        .address = address,
        .bytes = (uint32_t)bytes,
        .word = (uint32_t)list->words,
        .var = var,
        .name = name,
    };
    list->words += words;
    list->next = address + bytes + list->regions->gap;
    return address;
}

/* `memory:` says where the variable or buffer that was placed last lies. */
static uint64_t move_region(struct region_list *list, uint64_t before, uint64_t address)
{
    list->regions->items[list->regions->count - 1].address = address;
    list->next = before;
    return address;
}

/* What the room leaves between variables, a power of two. */
static uint64_t find_gap(uint64_t room, uint32_t count, uint64_t most)
{
    uint64_t gap = GAP;
    while (2 * gap <= most && 2 * gap * (count + 1) + (uint64_t)LIMIT_MEMORY_WORDS * 4 <= room)
        gap *= 2;
    return gap;
}

/* The next of the kernel's variables, which were made of another version of the same module. */
static const struct ast_var *next_var(struct ptx_builder *b, const struct ast_var **var,
                                      const char *name, uint64_t bytes)
{
    const struct ast_var *found = *var;
    if (!found || found->length != bytes / 4 + (bytes % 4 != 0)) {
        ptx_build_fail(b, "the kernel has no variable '%.80s' of %llu bytes", name,
                       (unsigned long long)bytes);
        return NULL;
    }
    *var = found->next;
    return found;
}

static void place_variables(struct ptx_builder *b, struct region_list *list, enum ptx_word space,
                            enum ptx_home home, const struct ast_var **next)
{
    for (uint32_t i = 0; i < b->reach.variable_count && !ptx_build_failed(b); i++) {
        const struct ptx_variable *var = b->reach.variables[i];
        uint64_t bytes = ptx_memory_bytes(var);
        if (var->space != space || (space == PTX_W_SHARED && bytes == 0))
            continue;
        if (bytes == 0) {
            ptx_build_fail(b, "how long '%.80s' is is not known", var->name);
            return;
        }
        const struct ast_var *ast = next ? next_var(b, next, var->name, bytes) : NULL;
        const struct ptx_bind *placed =
            space == PTX_W_GLOBAL ? ptx_kernel_placed(b->ptx, var->name) : NULL;
        uint64_t before = list->next;
        uint64_t address = add_region(b, list, var->name, ast, bytes, ptx_build_align(b, var));
        if (placed && !ptx_build_failed(b))
            address = move_region(list, before, placed->address);
        ptx_build_home(b, var, home, address);
    }
}

static void place_buffers(struct ptx_builder *b, struct region_list *list, enum ptx_bind_kind kind,
                          const struct ast_var **next)
{
    for (uint32_t i = 0; i < b->ptx->argument_count && !ptx_build_failed(b); i++) {
        const struct ptx_argument *argument = &b->ptx->arguments[i];
        if (argument->bind.kind != kind)
            continue;
        const struct ast_var *ast =
            next ? next_var(b, next, argument->parameter->name, argument->bind.bytes) : NULL;
        const uint32_t number = list->regions->count;
        add_region(b, list, argument->parameter->name, ast, argument->bind.bytes, GAP);
        if (ptx_build_failed(b))
            return;
        struct ptx_region *copy =
            ARENA_NEW(b->arena, struct ptx_region); /* `items` is sorted later */
        *copy = list->regions->items[number];
        b->buffers[i] = copy;
    }
}

/* Buffers at addresses of their own. */
static void place_memory(struct ptx_builder *b, struct region_list *list,
                         const struct ast_var **next)
{
    for (const struct ptx_bind *m = b->ptx->memory; m && !ptx_build_failed(b); m = m->next) {
        if (!m->var)
            continue;
        uint64_t before = list->next;
        add_region(b, list, m->parameter, next_var(b, next, m->parameter, m->bytes), m->bytes, GAP);
        if (!ptx_build_failed(b))
            move_region(list, before, m->address);
    }
}

static int by_address(const void *a, const void *b)
{
    const struct ptx_region *x = a, *y = b;
    return x->address < y->address ? -1 : x->address > y->address;
}

/* Regions in the order of their addresses; two that overlap, or that lie outside of global memory, are refused. The
 * least gap is what tells of an address which variable it may have missed. */
static void order_memory(struct ptx_builder *b)
{
    struct ptx_regions *global = &b->code->global;
    if (!b->ptx->memory)
        return;
    qsort(global->items, global->count, sizeof *global->items, by_address);
    for (uint32_t i = 0; i < global->count; i++) {
        const struct ptx_region *region = &global->items[i];
        uint64_t end = region->address + region->bytes;
        if (!b->code->is_far || region->address < PTX_FAR_GLOBAL_BASE || end > PTX_FAR_END)
            ptx_build_fail(b, "'%.80s' does not lie in global memory", region->name);
        else if (i + 1 < global->count && global->items[i + 1].address < end)
            ptx_build_fail(b, "'%.80s' and '%.80s' overlap", region->name,
                           global->items[i + 1].name);
        else if (i + 1 < global->count && global->items[i + 1].address - end < global->gap)
            global->gap = global->items[i + 1].address - end;
    }
}

/* All of shared memory without a length is one region. */
static void place_dynamic(struct ptx_builder *b, struct region_list *list,
                          const struct ast_var **next)
{
    uint64_t address = 0;
    for (uint32_t i = 0; i < b->reach.variable_count && !ptx_build_failed(b); i++) {
        const struct ptx_variable *var = b->reach.variables[i];
        if (var->space != PTX_W_SHARED || ptx_memory_bytes(var) != 0)
            continue;
        uint32_t bytes = b->ptx->shared_bytes;
        if (address == 0)
            address =
                add_region(b, list, var->name, bytes ? next_var(b, next, var->name, bytes) : NULL,
                           bytes, PTX_LIMIT_ALIGN);
        ptx_build_home(b, var, PTX_HOME_SHARED, address);
    }
}

static void place_parameters(struct ptx_builder *b, struct region_list *list)
{
    uint32_t number = 0;
    for (const struct ptx_variable *p = b->entry->parameters; p; p = p->next, number++) {
        uint64_t bytes = ptx_variable_bytes(p);
        if (number >= b->ptx->argument_count || bytes == 0) {
            ptx_build_fail(b, "parameter '%.80s' of the entry has no size or value", p->name);
            return;
        }
        uint64_t address = add_region(b, list, p->name, NULL, bytes, ptx_build_align(b, p));
        ptx_build_home(b, p, PTX_HOME_CONST, address);
    }
}

/* Addresses of local memory are its bytes: no gaps. */
static void place_locals(struct ptx_builder *b)
{
    struct ptx_regions *local = &b->code->local;
    uint64_t next = 0;
    local->items = ARENA_ARRAY(b->arena, struct ptx_region, b->reach.variable_count);
    for (uint32_t i = 0; i < b->reach.variable_count && !ptx_build_failed(b); i++) {
        const struct ptx_variable *var = b->reach.variables[i];
        uint64_t bytes = ptx_memory_bytes(var);
        if (var->space != PTX_W_LOCAL)
            continue;
        next = round_up(next, ptx_build_align(b, var));
        if (bytes == 0 || next + bytes > (uint64_t)LIMIT_MEMORY_WORDS * 4) {
            ptx_build_fail(b, "'%.80s' takes no number of bytes that local memory has", var->name);
            return;
        }
        local->items[local->count++] = (struct ptx_region){.address = next,
                                                           .bytes = (uint32_t)bytes,
                                                           .word = (uint32_t)(next / 4),
                                                           .name = var->name};
        ptx_build_home(b, var, PTX_HOME_LOCAL, next);
        next += bytes;
    }
    b->code->frame_local_base = (uint32_t)next;
}

/* Variables of the space, and buffers of this kind. */
static uint32_t count_regions(const struct ptx_builder *b, enum ptx_word space,
                              enum ptx_bind_kind kind)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < b->reach.variable_count; i++)
        count += b->reach.variables[i]->space == space;
    for (uint32_t i = 0; i < b->ptx->argument_count; i++)
        count += b->ptx->arguments[i].bind.kind == kind;
    return count;
}

static struct region_list start_list(struct ptx_builder *b, struct ptx_regions *regions,
                                     uint32_t count, uint64_t first, uint64_t end)
{
    regions->items = ARENA_ARRAY(b->arena, struct ptx_region, count);
    regions->gap = find_gap(end - first, count, end > PTX_FAR_WINDOW ? PTX_FAR_GAP : NEAR_GAP);
    return (struct region_list){.regions = regions, .next = first};
}

/* Addresses of global memory have 64 bits; else 32: a parameter that holds one may have no more. */
static bool is_far(const struct ptx_builder *b)
{
    bool is_far = b->ptx->module->address_size == 64;
    for (uint32_t i = 0; i < b->ptx->argument_count; i++) {
        const struct ptx_argument *argument = &b->ptx->arguments[i];
        if (argument->bind.kind == PTX_BIND_BUFFER)
            is_far &= ptx_type_of(argument->parameter->type).bits == 64;
    }
    return is_far;
}

/* Whether one of the forms from the first to the last stands in the code that is reached. */
static bool has_form(const struct ptx_statement *stm, enum ptx_form a, enum ptx_form b)
{
    bool has = false;
    for (; stm && !has; stm = stm->next) {
        enum ptx_form form = stm->u.instruction.form;
        has = stm->kind == PTX_BLOCK ? has_form(stm->u.block, a, b)
                                     : stm->kind == PTX_INSTRUCTION && form >= a && form <= b;
    }
    return has;
}

static bool reaches_form(const struct ptx_builder *b, enum ptx_form first, enum ptx_form last)
{
    bool has = false;
    for (uint32_t f = 0; f < b->reach.function_count && !has; f++)
        has = has_form(b->reach.functions[f]->body, first, last);
    return has;
}

/* The lists of global, shared and constant memory, whose addresses start and end here. */
static void start_lists(struct ptx_builder *b, struct region_list *global,
                        struct region_list *shared, struct region_list *constant)
{
    struct ptx_code *code = b->code;
    const bool far = is_far(b);
    uint32_t globals = count_regions(b, PTX_W_GLOBAL, PTX_BIND_BUFFER), placed = 0;
    for (const struct ptx_bind *m = b->ptx->memory; m; m = m->next)
        placed += m->var != NULL;
    uint32_t shareds = count_regions(b, PTX_W_SHARED, PTX_BIND_SHARED);
    uint32_t constants = count_regions(b, PTX_W_CONST, PTX_BIND_CONST) + b->ptx->argument_count;
    code->is_far = far;
    code->has_clusters =
        ptx_cluster_size(b->ptx) > 1 ||
        reaches_form(b, PTX_FORM_MAPA_ANY, PTX_FORM_GETCTARANK_ANY) ||
        reaches_form(b, PTX_FORM_CP_MULTICAST, PTX_FORM_CP_MULTICAST_HINT) ||
        reaches_form(b, PTX_FORM_BARRIER_CLUSTER_ARRIVE, PTX_FORM_BARRIER_CLUSTER_WAIT);
    *global =
        far ? start_list(b, &code->global, globals + placed, PTX_FAR_GLOBAL_BASE, PTX_FAR_END)
            : start_list(b, &code->global, globals + placed, PTX_GLOBAL_BASE, PTX_SHARED_BASE);
    *shared =
        start_list(b, &code->shared, shareds, FIRST_ADDRESS,
                   /* in 24 bits: one half for gaps, one for variables */
                   code->has_clusters ? (1u << (PTX_CLUSTER_SHIFT - 1)) + LIMIT_MEMORY_WORDS * 4
                   : far              ? PTX_FAR_WINDOW
                                      : PTX_LOCAL_BASE - PTX_SHARED_BASE);
    *constant = start_list(b, &code->constant, constants, FIRST_ADDRESS,
                           far ? PTX_FAR_WINDOW : PTX_WINDOW_END - PTX_CONST_BASE);
}

/* What a block's mbarriers wait for lies behind its variables, where no address leads. */
static void place_underway(struct ptx_builder *b, struct region_list *shared)
{
    struct ptx_code *code = b->code;
    if (!reaches_form(b, PTX_FORM_CP_ARRIVE, PTX_FORM_CP_BULK_IN) &&
        !reaches_form(b, PTX_FORM_CP_BULK_CLUSTER, PTX_FORM_RED_ASYNC_LOGIC))
        return;
    code->underway =
        PTX_UNDERWAY_LEAST + PTX_UNDERWAY_EACH * (uint32_t)b->program->launch.threads +
        (uint32_t)(shared->words < PTX_UNDERWAY_SHARED ? shared->words : PTX_UNDERWAY_SHARED);
    code->underway_word = (uint32_t)shared->words;
    shared->words += 2 + (uint64_t)code->underway * PTX_UNDERWAY_WORDS;
}

void ptx_build_memory(struct ptx_builder *b)
{
    struct ptx_code *code = b->code;
    struct program *program = b->program;
    const struct ast_var *next = b->kernel->vars;
    struct region_list global, shared, constant;
    start_lists(b, &global, &shared, &constant);
    b->buffers = ARENA_ARRAY(b->arena, const struct ptx_region *, b->ptx->argument_count);
    place_variables(b, &global, PTX_W_GLOBAL, PTX_HOME_GLOBAL, &next);
    place_buffers(b, &global, PTX_BIND_BUFFER, &next);
    place_memory(b, &global, &next);
    place_variables(b, &shared, PTX_W_SHARED, PTX_HOME_SHARED, &next);
    place_buffers(b, &shared, PTX_BIND_SHARED, &next);
    place_dynamic(b, &shared, &next);
    place_underway(b, &shared);
    if (code->has_clusters && shared.next > 1u << PTX_CLUSTER_SHIFT)
        ptx_build_fail(b,
                       "the shared memory of a block in a cluster takes more than 2^24 addresses");
    place_variables(b, &constant, PTX_W_CONST, PTX_HOME_CONST, NULL);
    place_buffers(b, &constant, PTX_BIND_CONST, NULL);
    place_parameters(b, &constant);
    place_locals(b);
    code->constants = ARENA_ARRAY(b->arena, uint32_t, constant.words + 1);
    uint64_t all = global.words + shared.words * program->launch.blocks;
    if (all > ptx_kernel_memory_limit(b->ptx))
        ptx_build_fail(b, "needs %llu words of memory, limit %u", (unsigned long long)all,
                       (unsigned)ptx_kernel_memory_limit(b->ptx));
    if (ptx_build_failed(b))
        return;
    program->words[SPACE_GLOBAL] = (uint32_t)global.words;
    program->words[SPACE_SHARED] = (uint32_t)shared.words;
    program->shared_base = (uint32_t)global.words;
    program->private_base = program->frame_base = (uint32_t)all;
}

/* ---- initialisers ---- */

/* Bytes of one variable, while its initialiser is read. */
struct image {
    struct ptx_builder *b;
    uint8_t *bytes; /* NULL: only to be checked */
    uint64_t size;
    uint32_t element; /* bytes */
    const struct ptx_variable *var;
};

/* A host of any byte order: words hold bytes with the first one lowest. */
static void put_byte(uint32_t *words, uint64_t byte, uint8_t value)
{
    uint32_t shift = (uint32_t)(byte % 4) * 8;
    words[byte / 4] = (words[byte / 4] & ~(0xffu << shift)) | (uint32_t)value << shift;
}

static uint64_t symbol_address(struct ptx_builder *b, const struct ptx_init *init)
{
    static const enum ptx_window windows[] = {[PTX_HOME_GLOBAL] = PTX_WINDOW_GLOBAL,
                                              [PTX_HOME_SHARED] = PTX_WINDOW_SHARED,
                                              [PTX_HOME_CONST] = PTX_WINDOW_CONST,
                                              [PTX_HOME_LOCAL] = PTX_WINDOW_LOCAL,
                                              [PTX_HOME_FRAME] = PTX_WINDOW_LOCAL};
    const struct ptx_item *item = ptx_symbol(&b->reach.symbols, init->name);
    const struct ptx_function *f = ptx_symbol_function(&b->reach.symbols, init->name);
    if (f)
        return ptx_build_entry(b, f);
    const uint32_t *home =
        item && item->kind == PTX_ITEM_VARIABLE ? ptx_build_find_home(b, item->u.variable) : NULL;
    if (!home) {
        ptx_build_fail(b, "the address of '%.80s' is not known in line %u", init->name,
                       init->at.line);
        return 0;
    }
    uint64_t base = ptx_window_base(windows[b->home_list[*home].home], b->code->is_far);
    return b->home_list[*home].address + (init->generic ? base : 0);
}

static uint64_t init_bits(const struct image *image, const struct ptx_init *init)
{
    struct ptx_type type = ptx_type_of(image->var->type);
    uint64_t bits = init->value;
    float single;
    double number;
    if (init->kind == PTX_INIT_ADDRESS) {
        bits = symbol_address(image->b, init) + init->value;
        for (uint64_t mask = init->mask; mask && !(mask & 1); mask >>= 1)
            bits >>= 1;
        return init->mask ? bits & 0xff : bits;
    }
    if (init->kind == PTX_INIT_FLOAT64 && type.kind == PTX_CLASS_FLOAT && type.bits == 32) {
        uint32_t word;
        memcpy(&number, &bits, sizeof number);
        single = (float)number;
        memcpy(&word, &single, sizeof word);
        return word;
    }
    if (init->kind == PTX_INIT_FLOAT32 && type.kind == PTX_CLASS_FLOAT && type.bits == 64) {
        uint32_t word = (uint32_t)bits;
        memcpy(&single, &word, sizeof single);
        number = single;
        memcpy(&bits, &number, sizeof bits);
    }
    return bits;
}

/* Bytes that one item of a list at this depth covers: a list of depth d+1 fills all of them. */
static uint64_t item_bytes(const struct image *image, uint32_t depth)
{
    uint64_t bytes = image->element;
    const struct ptx_variable *var = image->var;
    uint32_t vector = var->vector == PTX_W_V2 ? 2 : var->vector == PTX_W_V4 ? 4 : 1;
    if (depth < var->dimension_count)
        bytes *= vector;
    for (uint32_t i = depth + 1; i < var->dimension_count; i++)
        bytes *= var->dimensions[i];
    return bytes;
}

static void put_init(const struct image *image, uint32_t *words, uint64_t first, uint64_t at,
                     const struct ptx_init *init, uint32_t depth)
{
    for (; init && at < image->size && !ptx_build_failed(image->b); init = init->next) {
        if (init->kind == PTX_INIT_LIST) {
            put_init(image, words, first, at, init->items, depth + 1);
            at += item_bytes(image, depth);
            continue;
        }
        uint64_t bits = init_bits(image, init);
        for (uint32_t k = 0; k < image->element && at + k < image->size; k++)
            put_byte(words, first + at + k, (uint8_t)(bits >> k * 8));
        at += image->element;
    }
}

static void init_region(struct ptx_builder *b, uint32_t *words, const struct ptx_region *region,
                        const struct ptx_variable *var)
{
    struct image image = {
        .b = b, .size = region->bytes, .element = ptx_type_of(var->type).bits / 8u, .var = var};
    const struct ptx_init *init = var->init;
    if (init && init->kind == PTX_INIT_LIST)
        put_init(&image, words, (uint64_t)region->word * 4, 0, init->items, 0);
    else if (init)
        put_init(&image, words, (uint64_t)region->word * 4, 0, init, 0);
}

const uint8_t *ptx_variable_image(struct arena *arena, const struct ptx_variable *var,
                                  uint64_t bytes, const char **why)
{
    struct ptx_builder b = {.arena = arena};
    struct ptx_region region = {.bytes = (uint32_t)bytes};
    uint32_t *words = ARENA_ARRAY(arena, uint32_t, bytes / 4 + 1);
    uint8_t *image = ARENA_ARRAY(arena, uint8_t, bytes + 1);
    static const struct ptx_module none;
    b.homes.arena = arena;
    ptx_symbols_init(&b.reach.symbols, arena, &none);
    init_region(&b, words, &region, var);
    *why = b.reason;
    for (uint64_t i = 0; i < bytes; i++)
        image[i] = (uint8_t)(words[i / 4] >> i % 4 * 8);
    return b.reason ? NULL : image;
}

static void init_variables(struct ptx_builder *b, uint32_t *words, enum ptx_word space,
                           const struct ptx_regions *regions)
{
    uint32_t number = 0;
    for (uint32_t i = 0; i < b->reach.variable_count && !ptx_build_failed(b); i++)
        if (b->reach.variables[i]->space == space)
            init_region(b, words, &regions->items[number++], b->reach.variables[i]);
}

/* ---- buffers, parameters, shared memory ---- */

/* One value of a random buffer: mostly small, where indices and counters live, as `input` of the kernel
 * language is; one in eight anywhere. */
static uint32_t draw_word(struct pcg *rng)
{
    return pcg_below(rng, 8) == 0 ? pcg_next(rng) : pcg_below(rng, 17);
}

/* The channels of a texture are 0, 1, 2 .. in its own format. */
static void fill_channels(uint32_t *words, const struct ptx_region *region,
                          const struct ptx_texture *texture)
{
    const struct ptx_type type = ptx_type_of(texture->type);
    const uint32_t bytes = type.bits / 8u;
    for (uint32_t i = 0; i < region->bytes / bytes; i++) {
        const bool is_float = type.kind == PTX_CLASS_FLOAT;
        const struct soft number = soft_of_integer(i, false);
        uint64_t value =
            is_float ? soft_pack(number, soft_format_of(texture->type), SOFT_NEAREST) : i;
        for (uint32_t k = 0; k < bytes; k++)
            put_byte(words, (uint64_t)region->word * 4 + i * bytes + k, (uint8_t)(value >> 8 * k));
    }
}

static void fill_buffer(const struct ptx_builder *b, uint32_t *words, const struct ptx_bind *bind,
                        const struct ptx_region *region, uint32_t number)
{
    struct pcg rng = pcg_derive(b->kernel->launch.seed, PCG_INPUT, number);
    const uint32_t count = (region->bytes + 3) / 4;
    uint32_t *at = words + region->word;
    if (bind->fill == PTX_FILL_IOTA && bind->texture) {
        fill_channels(words, region, bind->texture);
        return;
    }
    switch (bind->fill) {
    case PTX_FILL_ZERO:
        return;
    case PTX_FILL_FILE:
        for (uint32_t byte = 0; byte < region->bytes; byte++)
            put_byte(at, byte, byte < bind->data_bytes ? bind->data[byte] : 0);
        return;
    case PTX_FILL_IOTA:
        for (uint32_t i = 0; i < count; i++)
            at[i] = i;
        return;
    case PTX_FILL_RANDOM:
        for (uint32_t i = 0; i < count; i++)
            at[i] = draw_word(&rng);
        return;
    case PTX_FILL_ALL:
        for (uint32_t i = 0; i < count; i++)
            at[i] = (uint32_t)bind->value;
        return;
    }
}

static void init_arguments(struct ptx_builder *b, uint32_t *global, uint32_t *constants)
{
    const struct ptx_regions *constant = &b->code->constant;
    const struct ptx_region *region = constant->items + constant->count - b->ptx->argument_count;
    for (uint32_t i = 0; i < b->ptx->argument_count; i++, region++) {
        const struct ptx_bind *bind = &b->ptx->arguments[i].bind;
        uint64_t value = b->buffers[i] ? b->buffers[i]->address : bind->value;
        if (bind->kind == PTX_BIND_BUFFER || bind->kind == PTX_BIND_CONST)
            fill_buffer(b, bind->kind == PTX_BIND_CONST ? constants : global, bind, b->buffers[i],
                        i);
        for (uint32_t k = 0; k < region->bytes; k++) {
            uint32_t word = k / 4;
            if (bind->kind == PTX_BIND_WORDS)
                value = word < bind->words->count ? bind->words->values[word] >> k % 4 * 8 : 0;
            else if (k > 0)
                value = k < 8 ? value >> 8 : 0;
            put_byte(constants, (uint64_t)region->word * 4 + k, (uint8_t)value);
        }
    }
}

/* memory: what it is filled with. A variable that is placed without a word about it keeps its initial values. */
static void init_placed(struct ptx_builder *b, uint32_t *words, const struct ptx_regions *regions)
{
    const bool is_global = regions == &b->code->global;
    uint32_t number = b->ptx->argument_count;
    for (uint32_t i = 0; b->ptx->memory && i < regions->count; i++) {
        const struct ptx_bind *memory = ptx_kernel_placed(b->ptx, regions->items[i].name);
        if (memory && memory->var && !is_global)
            continue; /* a parameter that has the name of a buffer */
        if (memory && (memory->var || memory->fill != PTX_FILL_ZERO))
            fill_buffer(b, words, memory, &regions->items[i], number++);
    }
}

/* init: of all blocks alike; global variables may have it, too. */
static void init_given(struct ptx_builder *b, uint32_t *memory)
{
    const struct program *program = b->program;
    for (const struct ptx_values *v = b->ptx->init; v; v = v->next)
        for (uint32_t i = 0; i < program->var_count; i++) {
            const struct code_var *var = &program->vars[i];
            bool is_shared = var->ast->space == SPACE_SHARED;
            if (strcmp(var->ast->name, v->name) != 0)
                continue;
            for (uint32_t block = 0; block < (is_shared ? program->launch.blocks : 1); block++)
                for (uint32_t k = 0; k < v->count && k < var->ast->length; k++)
                    memory[(is_shared ? program->shared_base : 0) +
                           block * program->words[SPACE_SHARED] + var->offset + k] =
                        (uint32_t)v->values[k];
        }
}

void ptx_build_initial(struct ptx_builder *b, const struct ptx_code_options *options)
{
    struct ptx_code *code = b->code;
    uint32_t words = b->program->private_base;
    uint32_t *memory = ARENA_ARRAY(b->arena, uint32_t, words + 1);
    uint32_t constant_words = 0;
    for (uint32_t i = 0; i < code->constant.count; i++)
        constant_words += (code->constant.items[i].bytes + 3) / 4;
    uint32_t *constants = ARENA_ARRAY(b->arena, uint32_t, constant_words + 1);
    init_variables(b, memory, PTX_W_GLOBAL, &code->global);
    init_variables(b, constants, PTX_W_CONST, &code->constant);
    init_arguments(b, memory, constants);
    init_placed(b, memory, &code->global);
    init_placed(b, constants, &code->constant);
    init_given(b, memory);
    if (options && options->initial)
        pages_copy(memory, options->initial, words * sizeof *memory);
    code->constants = constants;
    code->initial = (int32_t *)memory;
    order_memory(b);
}
