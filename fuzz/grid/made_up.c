#include "fuzz/grid/made_up.h"

#include "engine/base/pcg.h"
#include "engine/ptx/ptx_reach.h"

#include <inttypes.h>
#include <string.h>

enum { LAUNCHES = 4, STREAM = 25 };

/* A launch that is made up. What a kernel says of its own size (.reqntid) it keeps. */
struct launch_size {
    uint32_t block[2], grid[2];
};

/* For kernels whose threads have one number, and for those that count them in two dimensions. */
static const struct launch_size lines[LAUNCHES] = {
    {{64, 1}, {2, 1}}, {{32, 1}, {1, 1}}, {{256, 1}, {2, 1}}, {{7, 1}, {3, 1}}};
static const struct launch_size squares[LAUNCHES] = {
    {{8, 8}, {2, 2}}, {{16, 16}, {2, 2}}, {{4, 4}, {2, 2}}, {{32, 32}, {1, 1}}};
/* Which of these a launch has that is drawn: mostly a small one, as ways of branches depend on numbers. */
enum { DRAWN = 8 };
static const uint8_t drawn[2][DRAWN] = {{0, 1, 3, 0, 1, 3, 1, 2}, {0, 2, 0, 2, 0, 2, 1, 3}};
/* Integers that are no addresses are sizes, mostly: that of the launch, or one that it does not fill. */
enum { UNFILLED = 3 };

/* In the source itself: cooperative_groups' thread_rank reads all dimensions, of whatever launch. */
static bool reads_second_dimension(const struct ptx_module *module,
                                   const struct ptx_statement *list, bool *is_own)
{
    for (; list; list = list->next) {
        if (list->kind == PTX_LOC)
            *is_own = !ptx_is_library(module, list->u.loc.file);
        if (list->kind == PTX_BLOCK && reads_second_dimension(module, list->u.block, is_own))
            return true;
        if (list->kind != PTX_INSTRUCTION || !*is_own)
            continue;
        for (const struct ptx_operand *o = list->u.instruction.operands; o; o = o->next)
            if (o->name && strcmp(o->name, "%tid") == 0 && o->element == 'y')
                return true;
    }
    return false;
}

/* ---- structs: what is read of them says what they hold ---- */

enum { STRUCT_WORDS = 64 };

struct fields {
    const struct ptx_variable *parameter;
    /* Sets of words at which something is read: an address, its lower half; a number; anything. */
    uint64_t pointers, floats, read;
};

static void see_field(struct fields *f, uint64_t byte, struct ptx_type type)
{
    uint64_t bit = byte / 4 < STRUCT_WORDS ? (uint64_t)1 << byte / 4 : 0;
    f->read |= bit;
    f->pointers |= type.bits == 64 && type.kind != PTX_CLASS_FLOAT ? bit : 0;
    f->floats |= type.bits == 32 && type.kind == PTX_CLASS_FLOAT ? bit : 0;
}

static void see_fields(struct fields *f, const struct ptx_statement *list)
{
    for (; list; list = list->next) {
        if (list->kind == PTX_BLOCK)
            see_fields(f, list->u.block);
        if (list->kind != PTX_INSTRUCTION)
            continue;
        const struct ptx_instruction *i = &list->u.instruction;
        const struct ptx_operand *from = i->operands ? i->operands->next : NULL;
        if (ptx_forms[i->form].opcode != PTX_OP_LD || !from || !from->name ||
            strcmp(from->name, f->parameter->name) != 0)
            continue;
        struct ptx_type type = ptx_type_of((enum ptx_word)i->words[PTX_SLOT_TYPE]);
        uint32_t count = i->words[PTX_SLOT_VECTOR] == PTX_W_V4   ? 4
                         : i->words[PTX_SLOT_VECTOR] == PTX_W_V2 ? 2
                                                                 : 1;
        for (uint32_t e = 0; e < count; e++)
            see_field(f, from->value + e * type.bits / 8u, type);
    }
}

/* " memory:p0_2=0x500000000000:4096:iota bind:0=words:61,0,0,0x5000": pointers lead to buffers, numbers are sizes. */
static const char *bound_struct(struct arena *arena, const struct ptx_function *entry,
                                const struct ptx_variable *p, uint32_t number, uint32_t value,
                                uint32_t *buffers)
{
    struct fields f = {.parameter = p};
    const char *memory = "", *words = "";
    uint64_t count = (ptx_memory_bytes(p) + 3) / 4;
    see_fields(&f, entry->body);
    if (!f.read || count > STRUCT_WORDS)
        return "";
    for (uint32_t w = 0; w < count; w++) {
        const char *comma = w ? "," : "";
        if (f.pointers >> w & 1) {
            uint64_t address = 0x500000000000 + ((uint64_t)(*buffers)++ << 40);
            memory = arena_printf(arena, "%s memory:p%" PRIu32 "_%" PRIu32 "=0x%" PRIx64 ":%d:iota",
                                  memory, number, 4 * w, address, MADE_UP_STRUCT_BUFFER);
            words = arena_printf(arena, "%s%s0x%" PRIx64 ",0x%" PRIx64, words, comma,
                                 address & 0xffffffff, address >> 32);
            w++;
        } else {
            uint32_t word = f.floats >> w & 1 ? 0x3f800000 : f.read >> w & 1 ? value : 0;
            words = arena_printf(arena, "%s%s%" PRIu32, words, comma, word);
        }
    }
    return arena_printf(arena, "%s bind:%" PRIu32 "=words:%s", memory, number, words);
}

/* Of 64 bits: one that is compared, and that no address is computed from. */
static bool is_number(const struct made_up *m, const struct ptx_variable *p, uint32_t number)
{
    const struct ptx_type type = ptx_type_of(p->type);
    if (p->dimension_count > 0 || type.kind == PTX_CLASS_FLOAT || p->is_pointer)
        return false;
    return type.bits == 32 ||
           (type.bits == 64 && number < 64 && (m->indices.numbers >> number & 1));
}

static bool is_pitch(const struct made_up *m, uint32_t number)
{
    return number < 64 && (m->indices.pitches >> number & 1);
}

/* The same, but what rows are long by at least `row`. */
static const char *numbers_of(const struct made_up *m, uint32_t value, uint32_t row)
{
    const char *text = "";
    uint32_t number = 0, buffers = 0;
    for (const struct ptx_variable *p = m->entry->parameters; p; p = p->next, number++) {
        if (is_number(m, p, number))
            text = arena_printf(m->arena, "%s bind:%" PRIu32 "=%" PRIu32, text, number,
                                is_pitch(m, number) && value < row ? row : value);
        else if (p->dimension_count > 0)
            text = arena_printf(m->arena, "%s%s", text,
                                bound_struct(m->arena, m->entry, p, number, value, &buffers));
    }
    return text;
}

const char *made_up_numbers(const struct made_up *m, uint32_t value)
{
    return numbers_of(m, value, 0);
}

/* What an array seems to be of: compilers write bytes with the alignment of what they are bytes of, 16 of an int4. */
static uint32_t element_bytes(const struct ptx_variable *array)
{
    uint32_t bytes = ptx_type_of(array->type).bits / 8u;
    bytes = array->align > bytes ? array->align : bytes;
    return bytes < 4 ? 4 : bytes;
}

/* So many; of a square block its side, or 0: there is no such square. */
static uint32_t threads_or_side(uint32_t threads, bool square)
{
    uint32_t side = 1;
    while (side * side < threads)
        side++;
    return !square ? threads : side * side == threads ? side : 0;
}

/* Threads of a block, if an array in shared memory has an element for each of them, as it seems: of tiles, of a block's
 * sums. 0: no array says so. */
static uint32_t threads_by_arrays(const struct made_up *m, bool square)
{
    enum { WARP = 32 };
    struct ptx_reach reach = {.function_count = 0};
    ptx_reach(m->arena, m->module, m->entry, &reach);
    for (uint32_t i = 0; i < reach.variable_count; i++) {
        const struct ptx_variable *var = reach.variables[i];
        uint64_t elements = ptx_memory_bytes(var) / element_bytes(var);
        if (m->indices.counts_warps && elements <= WARP)
            continue;
        if (var->space == PTX_W_SHARED && elements >= 16 && elements <= 1024 &&
            threads_or_side((uint32_t)elements, square) > 0)
            return threads_or_side((uint32_t)elements, square);
    }
    return 0;
}

/* As many as __launch_bounds__ says (.maxntid), which is what such a kernel is launched with, mostly. 0: nothing is
 * said. */
static uint32_t threads_by_bounds(const struct ptx_function *entry, bool square)
{
    uint64_t threads = 0;
    for (const struct ptx_attribute *a = entry->attributes; a; a = a->next)
        if (a->kind == PTX_MAXNTID) {
            threads = 1;
            for (uint32_t i = 0; i < a->count && threads <= LIMIT_THREADS; i++)
                threads *= a->values[i];
        }
    return threads > LIMIT_THREADS ? 0 : threads_or_side((uint32_t)threads, square);
}

/* Whether blocks may do different things: they read which block they are, or take turns by atomics. Others do all the
 * same, to the same places, so that the kernel is for one block. */
static bool tells_blocks(const struct ptx_statement *list)
{
    bool tells = false;
    for (; list && !tells; list = list->next) {
        if (list->kind == PTX_BLOCK)
            tells = tells_blocks(list->u.block);
        if (list->kind != PTX_INSTRUCTION)
            continue;
        const enum ptx_opcode opcode = ptx_forms[list->u.instruction.form].opcode;
        tells |= opcode == PTX_OP_ATOM || opcode == PTX_OP_RED;
        for (const struct ptx_operand *o = list->u.instruction.operands; o; o = o->next)
            tells |= o->target_kind == PTX_TARGET_SPECIAL &&
                     (o->target.special == PTX_SPECIAL_CTAID ||
                      o->target.special >= PTX_SPECIAL_CLUSTERID);
    }
    return tells;
}

static bool is_for_one_block(const struct made_up *m)
{
    struct ptx_reach reach = {.function_count = 0};
    bool tells = false;
    ptx_reach(m->arena, m->module, m->entry, &reach);
    for (uint32_t i = 0; i < reach.function_count && !tells; i++)
        tells = tells_blocks(reach.functions[i]->body);
    for (const struct ptx_attribute *a = m->entry->attributes; a; a = a->next)
        tells |= a->kind == PTX_REQNCTAPERCLUSTER || a->kind == PTX_EXPLICITCLUSTER;
    return !tells;
}

/* As many as the indices of its arrays in shared memory have room for, rounded to what somebody would launch: an index
 * that goes a step too far leaves room for one less, and is to be seen. 0: they say nothing. */
static uint32_t threads_by_indices(const struct indices *indices)
{
    enum { LEAST = 8, MOST = 1024, WARP = 32, NEAR = 4 };
    const uint32_t room = indices->threads;
    const uint32_t whole = room < MOST ? (room + NEAR) / WARP * WARP : room;
    if (room >= LEAST && room < WARP && (room & (room - 1)) == 0)
        return room;
    return whole > 0 && whole <= MOST && whole <= room + NEAR && room <= whole + NEAR ? whole : 0;
}

/* Of a square block, which has a side of 4, 8, 16 or 32: a tile with a rim has more room than its threads need. */
static uint32_t side_by_indices(const struct indices *indices)
{
    enum { LEAST = 4, MOST = 32 };
    uint32_t side = MOST;
    while (side > indices->threads)
        side /= 2;
    return indices->threads <= MOST + LEAST && side >= LEAST ? side : 0;
}

static struct shape shape_of(const struct made_up *m)
{
    bool is_own = true;
    struct shape shape = {.square = reads_second_dimension(m->module, m->entry->body, &is_own),
                          .one_block = is_for_one_block(m)};
    shape.threads = threads_by_bounds(m->entry, shape.square);
    if (!shape.threads && !shape.square)
        shape.threads = threads_by_indices(&m->indices);
    if (!shape.threads && shape.square)
        shape.threads = side_by_indices(&m->indices);
    if (!shape.threads)
        shape.threads = threads_by_arrays(m, shape.square);
    return shape;
}

struct made_up made_up_for(struct arena *arena, const struct ptx_module *module,
                           const struct ptx_function *entry)
{
    struct made_up m = {
        .arena = arena, .module = module, .entry = entry, .indices = indices_find(arena, entry)};
    m.shape = shape_of(&m);
    return m;
}

/* ---- settings ---- */

/* A size that the launch fills, one that it does not, a small number, or what the kernel compares with. */
static int64_t drawn_number(struct pcg *rng, const struct branches *b, uint32_t width)
{
    const uint32_t kind = pcg_below(rng, 6), more = pcg_below(rng, width) + 1;
    if (kind >= 3 && b->constant_count > 0)
        return b->constants[more % b->constant_count] + (int64_t)(pcg_below(rng, 3)) - 1;
    return kind == 0 ? width : kind == 1 ? more : kind == 2 ? width + more : more % 5;
}

/* Of a launch in which each number is one of two: what a row has threads, or a small one. Kernels with several sizes
 * are short then, as sizes of loops are small ones, too. */
static int64_t drawn_of_two(struct pcg *rng, uint32_t width, uint32_t small)
{
    return pcg_below(rng, 2) ? width : small;
}

/* As the text says; so many blocks, in both dimensions of a square one. */
static void fit(struct launch_size *launch, const struct shape *shape, uint32_t blocks)
{
    if (shape->threads > 0) {
        launch->block[0] = shape->threads;
        launch->block[1] = shape->square ? shape->threads : 1;
    }
    launch->grid[0] = shape->one_block ? 1 : blocks;
    launch->grid[1] = shape->one_block || !shape->square ? 1 : blocks;
}

/* Of a square block each row is one. */
static void fill_warps(struct launch_size *launch, const struct indices *indices)
{
    enum { WARP = 32 };
    if (indices->whole_warps && launch->block[1] > 1) {
        launch->block[1] = (launch->block[0] * launch->block[1] + WARP - 1) / WARP;
        launch->block[0] = WARP;
    } else if (indices->whole_warps && launch->block[0] % WARP != 0) {
        launch->block[0] = (launch->block[0] + WARP - 1) / WARP * WARP;
    }
}

static const char *settings_of(const struct made_up *m, const struct launch_size *launch,
                               const char *numbers)
{
    return arena_printf(m->arena,
                        "entry=%s threads=%" PRIu32 "x%" PRIu32 " blocks=%" PRIu32 "x%" PRIu32 "%s",
                        m->entry->name, launch->block[0], launch->block[1], launch->grid[0],
                        launch->grid[1], numbers);
}

/* Counters begin with zero, and what else is in memory is numbered: indices of other buffers, no two alike. */
static void fill_buffers(const struct made_up *m, struct made_up_launch *launch)
{
    launch->is_marked = false;
    for (uint32_t p = 0; p < REACHED; p++)
        launch->fills[p] = m->indices.counted >> p & 1 ? "zero" : "iota";
}

/* Drawn buffers hold what the kernel compares their words with; if nothing has come to a store yet, small numbers, all
 * the same. */
static void refill_buffers(const struct made_up *m, struct pcg *rng, bool is_vacuous,
                           struct made_up_launch *launch)
{
    static const char *const small[] = {"iota", "zero", "all:1", "all:2"};
    const uint32_t count = m->indices.sentinel_count;
    for (uint32_t p = 0; p < REACHED && is_vacuous; p++)
        if (pcg_below(rng, 2))
            launch->fills[p] = small[pcg_below(rng, sizeof small / sizeof *small)];
    if (count == 0 || pcg_below(rng, 2))
        return;
    const struct sentinel *s = &m->indices.sentinels[pcg_below(rng, count)];
    launch->is_marked = s->parameter < REACHED;
    if (launch->is_marked)
        launch->fills[s->parameter] = arena_printf(m->arena, "all:%" PRId32, s->word);
}

void made_up_drawn(const struct made_up *m, const struct branches *branches,
                   const struct wanted *wanted, bool is_vacuous, uint32_t i,
                   struct made_up_launch *made_up)
{
    struct pcg rng;
    pcg_seed(&rng, pcg_splitmix(i), STREAM);
    struct launch_size launch =
        (m->shape.square ? squares : lines)[drawn[m->shape.square][pcg_below(&rng, DRAWN)]];
    fit(&launch, &m->shape, launch.grid[0]);
    fill_warps(&launch, &m->indices);
    const uint32_t width = launch.block[0] * launch.grid[0];
    const uint32_t small = pcg_below(&rng, 4);
    const char *text = "";
    uint32_t number = 0, buffers = 0;
    for (const struct ptx_variable *p = m->entry->parameters; p; p = p->next, number++) {
        int64_t value =
            i % 2 ? drawn_of_two(&rng, width, small + 1) : drawn_number(&rng, branches, width);
        if (wanted && number < WANTED_PARAMETERS && (wanted->set >> number & 1))
            value = wanted->values[number];
        if (is_pitch(m, number) && value < width)
            value = width;
        if (is_number(m, p, number))
            text = arena_printf(m->arena, "%s bind:%" PRIu32 "=%" PRId32, text, number,
                                (int32_t)value);
        else if (p->dimension_count > 0)
            text = arena_printf(m->arena, "%s%s", text,
                                bound_struct(m->arena, m->entry, p, number,
                                             (uint32_t)(value < 0 ? 0 : value), &buffers));
    }
    made_up->settings = settings_of(m, &launch, text);
    fill_buffers(m, made_up);
    refill_buffers(m, &rng, is_vacuous, made_up);
}

/* Sizes that are tried first, each once. */
static uint32_t size_count(const struct shape *shape)
{
    return shape->threads && shape->one_block ? 1 : LAUNCHES;
}

/* What numbers are: as many as a row has threads; fewer in every second launch of one dimension, and in the last one
 * fewer than one block has. */
static uint32_t number_of(const struct shape *shape, const struct launch_size *launch, uint32_t i)
{
    const bool is_last = i == size_count(shape);
    const uint32_t width = is_last ? launch->block[0] : launch->block[0] * launch->grid[0];
    const bool fills = shape->square || (i % 2 == 0 && !is_last);
    return fills || width <= UNFILLED ? width : width - UNFILLED;
}

/* False: there are no more. */
static bool launch_size_of(const struct made_up *m, uint32_t i, struct launch_size *launch)
{
    static const uint32_t grids[LAUNCHES] = {2, 1, 3, 4};
    const struct shape *shape = &m->shape;
    const uint32_t launches = size_count(shape);
    const bool has_sizes = !shape->square && *made_up_numbers(m, 1) != '\0';
    *launch = (shape->square ? squares : lines)[i % launches];
    fit(launch, shape, shape->threads ? grids[i % launches] : launch->grid[0]);
    fill_warps(launch, &m->indices);
    return i < launches + has_sizes;
}

uint32_t made_up_width(const struct made_up *m, uint32_t i)
{
    struct launch_size launch;
    return launch_size_of(m, i, &launch) ? launch.block[0] * launch.grid[0] : 0;
}

bool made_up_first(const struct made_up *m, uint32_t i, struct made_up_launch *made_up)
{
    struct launch_size launch;
    if (!launch_size_of(m, i, &launch))
        return false;
    made_up->settings =
        settings_of(m, &launch, numbers_of(m, number_of(&m->shape, &launch, i), launch.block[0]));
    fill_buffers(m, made_up);
    return true;
}
