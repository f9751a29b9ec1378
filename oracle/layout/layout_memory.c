/*
 * layout_memory.c - where regions lie, and what they hold at first: bytes, as the initial values, buffers and settings
 * of the text say.
 */
#include "engine/base/pcg.h"
#include "oracle/layout/layout_internal.h"

#include <string.h>

/* ---- regions ---- */

/* Regions in a row: as far apart as they say, in words that nobody else has. False: they are not. */
static bool are_apart(const struct ptx_regions *regions, bool packed, uint64_t *words)
{
    uint64_t end = 0;
    *words = 0;
    for (uint32_t i = 0; i < regions->count; i++) {
        const struct ptx_region *r = &regions->items[i];
        if ((i > 0 && r->address < end + regions->gap) || r->address % 4 != 0 ||
            (packed ? r->word != *words : r->word != r->address / 4))
            return false;
        end = r->address + r->bytes;
        *words += (r->bytes + 3) / 4;
    }
    return true;
}

static void regions(struct layout *l, const struct ptx_regions *regions, bool packed, uint64_t most,
                    uint64_t *words)
{
    const struct ptx_region *last = regions->count ? &regions->items[regions->count - 1] : NULL;
    if (!are_apart(regions, packed, words) || (last && last->address + last->bytes > most))
        layout_part(l, "where variables lie");
    for (uint32_t i = 0; i < regions->count; i++) {
        const struct ptx_region *r = &regions->items[i];
        const struct ast_var *var =
            r->var; /* behind its name a number, where another variable has that */
        if (var && (strncmp(var->name, r->name, strlen(r->name)) != 0 ||
                    var->length != (r->bytes + 3) / 4))
            layout_part(l, "variable of the kernel");
    }
}

static void frames(struct layout *l)
{
    uint64_t words;
    for (uint32_t f = 0; f < l->code->function_count; f++) {
        const struct ptx_code_function *function = &l->code->functions[f];
        regions(l, &function->locals, false, function->frame_bytes, &words);
        if (function->frame_bytes % 16 != 0)
            layout_part(l, "size of a frame");
    }
    if (l->code->frame_local_base % 16 != 0)
        layout_part(l, "where frames begin");
}

/* Addresses have 64 bits where the module says so, unless a parameter that holds one has fewer. */
static bool has_far_addresses(const struct ptx_code *code)
{
    bool far = code->kernel->module->address_size == 64;
    for (uint32_t i = 0; i < code->kernel->argument_count; i++)
        if (code->kernel->arguments[i].bind.kind == PTX_BIND_BUFFER)
            far = far && ptx_type_of(code->kernel->arguments[i].parameter->type).bits == 64;
    return far;
}

static void all_regions(struct layout *l)
{
    const struct ptx_code *code = l->code;
    const struct program *program = l->program;
    const uint64_t window = code->is_far ? PTX_FAR_WINDOW : PTX_LOCAL_BASE - PTX_SHARED_BASE;
    const uint64_t shared = code->has_clusters ? 1u << PTX_CLUSTER_SHIFT : window;
    uint64_t words;
    if (code->is_far != has_far_addresses(code))
        layout_part(l, "size of addresses");
    if (!code->kernel->memory) { /* else they stand where the host had them */
        regions(l, &code->global, true, code->is_far ? PTX_FAR_END : PTX_SHARED_BASE, &words);
        if (program->words[SPACE_GLOBAL] != words || program->shared_base != words)
            layout_part(l, "words of global memory");
    }
    regions(l, &code->shared, true, shared, &words);
    if (program->words[SPACE_SHARED] < words ||
        (!code->underway && program->words[SPACE_SHARED] != words) ||
        (code->underway && code->underway_word < words) ||
        program->private_base !=
            program->shared_base + program->launch.blocks * program->words[SPACE_SHARED])
        layout_part(l, "words of shared memory");
    regions(l, &code->constant, true,
            code->is_far ? PTX_FAR_WINDOW : PTX_WINDOW_END - PTX_CONST_BASE, &words);
    regions(l, &code->local, false, code->frame_local_base, &words);
    frames(l);
}

/* ---- initial values ---- */

/* Memory as bytes, and the constants. */
struct image {
    struct layout *l;
    uint8_t *bytes;
    uint64_t size;
    bool is_unknown; /* names what the account does not know */
};

/* Variables of the module stand first, then those of functions, then buffers. */
static const struct ptx_region *region_named(const struct ptx_regions *regions, const char *name,
                                             bool last)
{
    const struct ptx_region *found = NULL;
    for (uint32_t i = 0; i < regions->count && (last || !found); i++)
        if (strcmp(regions->items[i].name, name) == 0)
            found = &regions->items[i];
    return found;
}

static uint64_t address_of(struct image *image, const struct ptx_init *init)
{
    const struct ptx_code *code = image->l->code;
    for (const struct ptx_item *item = code->module->items; item; item = item->next) {
        const struct ptx_variable *var = item->kind == PTX_ITEM_VARIABLE ? item->u.variable : NULL;
        if (!var || strcmp(var->name, init->name) != 0)
            continue;
        const enum ptx_window window = var->space == PTX_W_GLOBAL   ? PTX_WINDOW_GLOBAL
                                       : var->space == PTX_W_SHARED ? PTX_WINDOW_SHARED
                                       : var->space == PTX_W_CONST  ? PTX_WINDOW_CONST
                                                                    : PTX_WINDOW_LOCAL;
        const struct ptx_regions *regions = window == PTX_WINDOW_GLOBAL   ? &code->global
                                            : window == PTX_WINDOW_SHARED ? &code->shared
                                            : window == PTX_WINDOW_CONST  ? &code->constant
                                                                          : &code->local;
        const struct ptx_region *region = region_named(regions, init->name, false);
        if (!region)
            break;
        return region->address + (init->generic ? ptx_window_base(window, code->is_far) : 0);
    }
    const struct ptx_function f = {.name = init->name};
    const uint32_t number = layout_callee(image->l, &f);
    image->is_unknown |= number == LAYOUT_MODULE;
    return number == LAYOUT_MODULE ? 0 : code->functions[number].entry;
}

static uint64_t value_of(struct image *image, const struct ptx_init *init, struct ptx_type type)
{
    union {
        uint64_t bits;
        double number;
    } d = {init->value};
    union {
        uint32_t bits;
        float number;
    } s = {(uint32_t)init->value};
    if (init->kind == PTX_INIT_ADDRESS) {
        const uint64_t address = address_of(image, init) + init->value;
        uint32_t byte = 0;
        while (init->mask && (init->mask >> 8 * byte & 0xff) == 0)
            byte++;
        return init->mask ? address >> 8 * byte & 0xff : address;
    }
    if (type.kind != PTX_CLASS_FLOAT || init->kind == PTX_INIT_INTEGER)
        return init->value;
    if (init->kind == PTX_INIT_FLOAT32 && type.bits == 64) {
        d.number = (double)s.number;
        return d.bits;
    }
    if (init->kind == PTX_INIT_FLOAT64 && type.bits == 32) {
        s.number = (float)d.number;
        return s.bits;
    }
    return init->value;
}

/* Row by row: braces hold one row each, whether it is whole or not; the first braces hold all. */
static void put_values(struct image *image, const struct ptx_variable *var,
                       const struct ptx_init *init, uint32_t depth, uint64_t at, uint64_t end)
{
    const struct ptx_type type = ptx_type_of(var->type);
    const uint64_t each = type.bits / 8u;
    uint64_t row = each * (depth < var->dimension_count ? (var->vector == PTX_W_V2   ? 2
                                                           : var->vector == PTX_W_V4 ? 4
                                                                                     : 1)
                                                        : 1);
    for (uint32_t i = depth + 1; i < var->dimension_count; i++)
        row *= var->dimensions[i];
    for (; init && at < end; init = init->next) {
        if (init->kind == PTX_INIT_LIST) {
            put_values(image, var, init->items, depth + 1, at, end);
            at += row;
            continue;
        }
        const uint64_t value = value_of(image, init, type);
        for (uint64_t k = 0; k < each && at + k < end; k++)
            image->bytes[at + k] = (uint8_t)(value >> 8 * k);
        at += each;
    }
}

/* The only variable of this name and space in the module and the functions that are reached; NULL: none, or several. */
static const struct ptx_variable *only(const struct layout *l, const struct ptx_statement *stm,
                                       const char *name, enum ptx_word space, uint32_t *count)
{
    const struct ptx_variable *found = NULL;
    for (; stm; stm = stm->next) {
        const struct ptx_variable *inner = NULL;
        if (stm->kind == PTX_BLOCK)
            inner = only(l, stm->u.block, name, space, count);
        else if (stm->kind == PTX_VARIABLE && stm->u.variable->space == space &&
                 strcmp(stm->u.variable->name, name) == 0 && ++*count > 0)
            inner = stm->u.variable;
        found = inner ? inner : found;
    }
    return found;
}

static const struct ptx_variable *variable_named(const struct layout *l, const char *name,
                                                 enum ptx_word space)
{
    const struct ptx_variable *found = NULL;
    uint32_t count = 0;
    for (const struct ptx_item *item = l->code->module->items; item; item = item->next)
        if (item->kind == PTX_ITEM_VARIABLE && item->u.variable->space == space &&
            strcmp(item->u.variable->name, name) == 0) {
            found = item->u.variable;
            count++;
        }
    for (uint32_t f = 0; f < l->code->function_count; f++) {
        const struct ptx_variable *own =
            only(l, l->code->functions[f].function->body, name, space, &count);
        found = own ? own : found;
    }
    return count == 1 ? found : NULL;
}

/* The first regions are of variables. */
static void put_variables(struct image *image, const struct ptx_regions *regions, uint32_t count,
                          enum ptx_word space)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct ptx_region *r = &regions->items[i];
        const struct ptx_variable *var = variable_named(image->l, r->name, space);
        const struct ptx_init *init = var ? var->init : NULL;
        image->is_unknown |= !var || r->bytes != layout_bytes(var);
        if (init)
            put_values(image, var, init->kind == PTX_INIT_LIST ? init->items : init, 0,
                       4 * (uint64_t)r->word, 4 * (uint64_t)r->word + r->bytes);
    }
}

static void put_word(struct image *image, uint64_t at, uint64_t value)
{
    for (uint32_t k = 0; k < 4; k++)
        image->bytes[at + k] = (uint8_t)(value >> 8 * k);
}

/* One in eight anywhere, the others small. */
static uint32_t any_word(struct pcg *rng)
{
    return pcg_below(rng, 8) == 0 ? pcg_next(rng) : pcg_below(rng, 17);
}

static void put_buffer(struct image *image, const struct ptx_bind *bind, const struct ptx_region *r,
                       uint32_t number)
{
    struct pcg rng =
        pcg_derive(image->l->code->kernel ? image->l->program->launch.seed : 0, PCG_INPUT, number);
    image->is_unknown |= bind->fill == PTX_FILL_FILE || bind->texture;
    for (uint32_t word = 0; 4 * word < r->bytes; word++)
        put_word(image, 4 * ((uint64_t)r->word + word),
                 bind->fill == PTX_FILL_IOTA     ? word
                 : bind->fill == PTX_FILL_RANDOM ? any_word(&rng)
                 : bind->fill == PTX_FILL_ALL    ? bind->value
                                                 : 0);
}

static uint32_t count_buffers(const struct ptx_kernel *ptx, enum ptx_bind_kind kind)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < ptx->argument_count; i++)
        count += ptx->arguments[i].bind.kind == kind;
    return count;
}

/* The words of shared memory, and some of global memory, that a setting gives. */
static void put_given(struct image *image)
{
    const struct program *program = image->l->program;
    for (const struct ptx_values *v = image->l->code->kernel->init; v; v = v->next) {
        const struct ptx_region *global = region_named(&image->l->code->global, v->name, false),
                                *shared = region_named(&image->l->code->shared, v->name, false);
        const struct ptx_region *r = global ? global : shared;
        image->is_unknown |= !r || (global && shared);
        for (uint32_t block = 0; r && block < (global ? 1 : program->launch.blocks); block++)
            for (uint32_t k = 0; k < v->count && 4 * k < r->bytes; k++)
                put_word(
                    image,
                    4 * ((uint64_t)r->word + k +
                         (global ? 0
                                 : program->shared_base + block * program->words[SPACE_SHARED])),
                    v->values[k]);
    }
}

static void compare(const struct image *image, const uint32_t *words, const char *what)
{
    for (uint64_t i = 0; i < image->size && !image->is_unknown; i++)
        if (image->bytes[i] != (uint8_t)(words[i / 4] >> i % 4 * 8)) {
            layout_part(image->l, what);
            return;
        }
}

static struct image image_of(struct layout *l, uint64_t words)
{
    return (struct image){
        .l = l, .bytes = ARENA_ARRAY(l->arena, uint8_t, 4 * words + 4), .size = 4 * words};
}

static void begin_memory(struct layout *l)
{
    const struct ptx_kernel *ptx = l->code->kernel;
    struct image image = image_of(l, l->program->private_base);
    const uint32_t buffers = count_buffers(ptx, PTX_BIND_BUFFER);
    put_variables(&image, &l->code->global, l->code->global.count - buffers, PTX_W_GLOBAL);
    for (uint32_t i = 0; i < ptx->argument_count; i++)
        if (ptx->arguments[i].bind.kind == PTX_BIND_BUFFER)
            put_buffer(&image, &ptx->arguments[i].bind,
                       region_named(&l->code->global, ptx->arguments[i].parameter->name, true), i);
    put_given(&image);
    compare(&image, (const uint32_t *)l->code->initial, "initial memory");
}

/* Parameters of the entry are the last constants, in their order. */
static void begin_constants(struct layout *l)
{
    const struct ptx_kernel *ptx = l->code->kernel;
    const struct ptx_regions *constant = &l->code->constant;
    const uint32_t buffers = count_buffers(ptx, PTX_BIND_CONST), parameters = ptx->argument_count;
    uint64_t words = 0;
    for (uint32_t i = 0; i < constant->count; i++)
        words += (constant->items[i].bytes + 3) / 4;
    struct image image = image_of(l, words);
    put_variables(&image, constant, constant->count - parameters - buffers, PTX_W_CONST);
    for (uint32_t i = 0, number = constant->count - parameters - buffers; i < parameters; i++) {
        const struct ptx_bind *bind = &ptx->arguments[i].bind;
        const struct ptx_region *r = &constant->items[constant->count - parameters + i],
                                *buffer = NULL;
        if (bind->kind == PTX_BIND_CONST)
            put_buffer(&image, bind, buffer = &constant->items[number++], i);
        else if (bind->kind == PTX_BIND_BUFFER || bind->kind == PTX_BIND_SHARED)
            buffer =
                region_named(bind->kind == PTX_BIND_BUFFER ? &l->code->global : &l->code->shared,
                             ptx->arguments[i].parameter->name, true);
        const uint64_t value = buffer ? buffer->address : bind->value;
        for (uint32_t k = 0; k < r->bytes; k++) {
            const uint64_t word = bind->kind != PTX_BIND_WORDS ? 0
                                  : k / 4 < bind->words->count
                                      ? bind->words->values[k / 4] >> 8 * (k % 4)
                                      : 0;
            image.bytes[4 * (uint64_t)r->word + k] = (uint8_t)(bind->kind == PTX_BIND_WORDS ? word
                                                               : k < 8 ? value >> 8 * k
                                                                       : 0);
        }
    }
    compare(&image, l->code->constants, "constants");
}

void layout_memory(struct layout *l)
{
    all_regions(l);
    if (l->differs || l->code->kernel->memory)
        return;
    if (l->has_text)
        begin_memory(l);
    begin_constants(l);
}
