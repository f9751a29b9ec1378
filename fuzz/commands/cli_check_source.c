/*
 * cli_check_source.c - `simtfuzz check kernel.cu`: compiled, and each of its entries under launches that are made up.
 */
#include "engine/base/pcg.h"
#include "engine/input/input.h"
#include "engine/input/ptx_kernel.h"
#include "engine/ptx/ptx_reach.h"
#include "fuzz/check/compile.h"
#include "fuzz/check/refused.h"
#include "fuzz/commands/cli_check.h"
#include "fuzz/grid/branches.h"
#include "fuzz/grid/indices.h"
#include "fuzz/grid/wanted.h"
#include "fuzz/hunt/bundle.h"
#include "fuzz/out/demangle.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GRID_BARRIER 0x4f0000000000ull /* below what else is placed */

enum { ENTRIES_MAX = 256, LAUNCHES = 4, INPUTS = 32, STREAM = 25 };

/* A launch that is made up. What a kernel says of its own size (.reqntid) it keeps. */
struct made_up {
    uint32_t block[2], grid[2];
};

/* For kernels whose threads have one number, and for those that count them in two dimensions. */
static const struct made_up lines[LAUNCHES] = {
    {{64, 1}, {2, 1}}, {{32, 1}, {1, 1}}, {{256, 1}, {2, 1}}, {{7, 1}, {3, 1}}};
static const struct made_up squares[LAUNCHES] = {
    {{8, 8}, {2, 2}}, {{16, 16}, {2, 2}}, {{4, 4}, {2, 2}}, {{32, 32}, {1, 1}}};
/* Integers that are no addresses are sizes, mostly: that of the launch; of one dimension also one that it does not
 * fill. */
enum { SIZES = 2 };

/* What the text says of a launch. */
struct shape {
    uint32_t threads; /* of a block, or of a side of a square one; 0: nothing says it */
    bool square;      /* threads are counted in two dimensions */
    bool one_block;   /* blocks would all do the same */
};

struct source_check {
    struct cli *cli;
    const char *path, *ptx, *text;
    size_t length;
    bool is_ptx;       /* nothing was compiled */
    const char *given; /* settings of the command line, or NULL: all are made up */
    const char *more;  /* what any launch of the entry at hand has, or "" */
};

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

/* Errors of the PTX, as such of the source. */
static void print_refused(const struct source_check *s, const struct diag *ptx)
{
    struct diag *ignored = ARENA_NEW(&s->cli->arena, struct diag);
    size_t length = 0;
    const char *source = parse_read_file(&s->cli->arena, s->path, &length, ignored);
    diag_print(refused_at_source(&s->cli->arena, ptx, s->path, source, length), stderr);
}

static struct ast_kernel *read_with(const struct source_check *s, const char *settings, bool tell)
{
    struct arena *arena = &s->cli->arena;
    struct diag *diag = ARENA_NEW(arena, struct diag);
    diag_init(diag, s->path, s->text, s->length);
    struct ast_kernel *kernel = ptx_kernel_parse_with(
        arena, s->text, s->length, arena_printf(arena, "%s%s", settings, s->more), diag);
    if (!kernel && tell)
        print_refused(s, diag);
    return kernel;
}

/* ---- structs: what is read of them says what they hold ---- */

enum { STRUCT_WORDS = 64, STRUCT_BUFFER = 4096 };

struct fields {
    const struct ptx_variable *parameter;
    uint64_t pointers,
        floats; /* sets of words at which something is read: an address, its lower half; a number */
    uint64_t read;
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
                                  memory, number, 4 * w, address, STRUCT_BUFFER);
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

static bool is_number(const struct ptx_variable *p)
{
    const struct ptx_type type = ptx_type_of(p->type);
    return p->dimension_count == 0 && type.bits == 32 && type.kind != PTX_CLASS_FLOAT &&
           !p->is_pointer;
}

/* " bind:2=61" for each integer parameter of 32 bits; buffers are what ptx_kernel makes of them. */
static const char *bound_numbers(struct arena *arena, const struct ptx_function *entry,
                                 uint32_t value)
{
    const char *text = "";
    uint32_t number = 0, buffers = 0;
    for (const struct ptx_variable *p = entry->parameters; p; p = p->next, number++) {
        if (is_number(p))
            text = arena_printf(arena, "%s bind:%" PRIu32 "=%" PRIu32, text, number, value);
        else if (p->dimension_count > 0)
            text = arena_printf(arena, "%s%s", text,
                                bound_struct(arena, entry, p, number, value, &buffers));
    }
    return text;
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
static uint32_t threads_by_arrays(const struct source_check *s, const struct ptx_module *module,
                                  const struct ptx_function *entry, bool square)
{
    struct ptx_reach reach = {.function_count = 0};
    ptx_reach(&s->cli->arena, module, entry, &reach);
    for (uint32_t i = 0; i < reach.variable_count; i++) {
        const struct ptx_variable *var = reach.variables[i];
        uint64_t elements = ptx_memory_bytes(var) / element_bytes(var);
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

static bool is_for_one_block(const struct source_check *s, const struct ptx_module *module,
                             const struct ptx_function *entry)
{
    const size_t mark = arena_mark(&s->cli->arena);
    struct ptx_reach reach = {.function_count = 0};
    bool tells = false;
    ptx_reach(&s->cli->arena, module, entry, &reach);
    for (uint32_t i = 0; i < reach.function_count && !tells; i++)
        tells = tells_blocks(reach.functions[i]->body);
    for (const struct ptx_attribute *a = entry->attributes; a; a = a->next)
        tells |= a->kind == PTX_REQNCTAPERCLUSTER || a->kind == PTX_EXPLICITCLUSTER;
    arena_release(&s->cli->arena, mark);
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

/* One whose length may be another. */
static bool is_buffer(const struct ptx_argument *argument)
{
    return argument->buffer && !argument->bind.texture;
}

/* Enough of it for what the launch accesses, as far as one execution says. */
static const char *with_buffers(const struct source_check *s, const char *settings)
{
    enum { USUAL = 4096, LARGE = 1 << 20 };
    struct arena *arena = &s->cli->arena;
    const struct ast_kernel *kernel = read_with(s, settings, false);
    const char *large = "", *fitting = "";
    uint64_t bytes[REACHED];
    if (!kernel)
        return settings;
    const uint32_t count =
        kernel->ptx->argument_count < REACHED ? kernel->ptx->argument_count : REACHED;
    for (uint32_t p = 0; p < count; p++)
        if (is_buffer(&kernel->ptx->arguments[p]))
            large = arena_printf(arena, "%s bind:%" PRIu32 "=buffer:%d:iota", large, p, LARGE);
    struct ast_kernel *roomy = read_with(s, arena_printf(arena, "%s%s", settings, large), false);
    if (!roomy || roomy->ptx->whole || !branches_reach(s->cli, roomy, bytes))
        return settings;
    for (uint32_t p = 0; p < count; p++)
        if (is_buffer(&kernel->ptx->arguments[p]) && bytes[p] > USUAL)
            fitting = arena_printf(arena, "%s bind:%" PRIu32 "=buffer:%" PRIu64 ":iota", fitting, p,
                                   (bytes[p] + USUAL - 1) / USUAL * USUAL);
    return *fitting ? arena_printf(arena, "%s%s", settings, fitting) : settings;
}

/* A size that the launch fills, one that it does not, a small number, or what the kernel compares with. */
static int64_t drawn_number(struct pcg *rng, const struct branches *b, uint32_t width)
{
    const uint32_t kind = pcg_below(rng, 6), more = pcg_below(rng, width) + 1;
    if (kind >= 3 && b->constant_count > 0)
        return b->constants[more % b->constant_count] + (int64_t)(pcg_below(rng, 3)) - 1;
    return kind == 0 ? width : kind == 1 ? more : kind == 2 ? width + more : more % 5;
}

/* As the text says; so many blocks, in both dimensions of a square one. */
static void fit(struct made_up *launch, const struct shape *shape, uint32_t blocks)
{
    if (shape->threads > 0) {
        launch->block[0] = shape->threads;
        launch->block[1] = shape->square ? shape->threads : 1;
    }
    launch->grid[0] = shape->one_block ? 1 : blocks;
    launch->grid[1] = shape->one_block || !shape->square ? 1 : blocks;
}

static void fill_warps(struct made_up *launch, const struct indices *indices)
{
    enum { WARP = 32 };
    if (indices->whole_warps && launch->block[0] * launch->block[1] % WARP != 0)
        launch->block[0] = (launch->block[0] + WARP - 1) / WARP * WARP;
}

/* Launch number `i`, drawn: each number on its own, but those that are wanted. */
static const char *drawn_settings(const struct source_check *s, const struct ptx_function *entry,
                                  const struct branches *b, const struct indices *indices,
                                  const struct wanted *wanted, const struct shape *shape,
                                  uint32_t i)
{
    struct arena *arena = &s->cli->arena;
    struct pcg rng;
    pcg_seed(&rng, pcg_splitmix(i), STREAM);
    struct made_up launch = (shape->square ? squares : lines)[pcg_below(&rng, LAUNCHES)];
    fit(&launch, shape, launch.grid[0]);
    fill_warps(&launch, indices);
    const uint32_t width = launch.block[0] * launch.grid[0];
    const char *text =
        arena_printf(arena, "entry=%s threads=%" PRIu32 "x%" PRIu32 " blocks=%" PRIu32 "x%" PRIu32,
                     entry->name, launch.block[0], launch.block[1], launch.grid[0], launch.grid[1]);
    uint32_t number = 0, buffers = 0;
    for (const struct ptx_variable *p = entry->parameters; p; p = p->next, number++) {
        int64_t value = drawn_number(&rng, b, width);
        if (wanted && number < WANTED_PARAMETERS && (wanted->set >> number & 1))
            value = wanted->values[number];
        if (number < 64 && (indices->pitches >> number & 1) && value < width)
            value = width;
        text = is_number(p) ? arena_printf(arena, "%s bind:%" PRIu32 "=%" PRId32, text, number,
                                           (int32_t)value)
               : p->dimension_count > 0
                   ? arena_printf(arena, "%s%s", text,
                                  bound_struct(arena, entry, p, number,
                                               (uint32_t)(value < 0 ? 0 : value), &buffers))
                   : text;
    }
    return text;
}

/* Number `i` of the launches, or NULL: there are no more. */
static const char *made_up_settings(const struct source_check *s, const struct ptx_function *entry,
                                    const struct indices *indices, const struct shape *shape,
                                    uint32_t i)
{
    static const uint32_t grids[LAUNCHES] = {2, 1, 3, 4};
    const uint32_t launches = shape->threads && shape->one_block ? 1 : LAUNCHES;
    struct arena *arena = &s->cli->arena;
    struct made_up launch = shape->square ? squares[i % launches] : lines[i % launches];
    const bool has_sizes = !shape->square && *bound_numbers(arena, entry, 1) != '\0';
    if (i >= launches * (has_sizes ? SIZES : 1))
        return NULL;
    fit(&launch, shape, shape->threads ? grids[i % launches] : launch.grid[0]);
    fill_warps(&launch, indices);
    const uint32_t width = launch.block[0] * launch.grid[0];
    const uint32_t sizes[SIZES] = {width, width > 3 ? width - 3 : width};
    return arena_printf(arena,
                        "entry=%s threads=%" PRIu32 "x%" PRIu32 " blocks=%" PRIu32 "x%" PRIu32 "%s",
                        entry->name, launch.block[0], launch.block[1], launch.grid[0],
                        launch.grid[1], bound_numbers(arena, entry, sizes[i / launches]));
}

/* What an execution under made-up settings is worth to be shown. An access out of bounds may be the fault of a size
 * that was made up, and what else happens in that execution as well. */
enum worth { WORTH_VACUOUS, WORTH_CLEAN, WORTH_OUTSIDE, WORTH_WRONG };

static enum worth worth_of(const struct headline *headline)
{
    for (uint32_t i = 0; i < headline->count; i++)
        if (headline->happenings[i].outcome == OUTCOME_OOB)
            return WORTH_OUTSIDE;
    if (headline->count > 0)
        return WORTH_WRONG;
    return strcmp(headline->word, "vacuous") == 0 ? WORTH_VACUOUS : WORTH_CLEAN;
}

/* Out of bounds in shared memory, whose arrays are as long as the text says. */
static bool is_out_of_shared(struct arena *arena, const struct headline *headline)
{
    for (uint32_t i = 0; i < headline->count; i++)
        if (headline->happenings[i].outcome == OUTCOME_OOB &&
            strstr(headline_text(arena, &headline->happenings[i]), "at shared address"))
            return true;
    return false;
}

struct tried {
    const char
        *settings; /* of the launch to be shown: the one that shows most, of equals the first */
    uint32_t launches, vacuous, clean, out_of_bounds;
    struct branches branches;
    bool drawn;  /* launches were drawn, besides those that are always made up */
    bool others; /* one that was not is in bounds, or leaves other memory than shared one */
};

static uint32_t line_count(const struct source_check *s)
{
    uint32_t count = 1;
    for (size_t i = 0; i < s->length; i++)
        count += s->text[i] == '\n';
    return count;
}

/* Whether an input takes a branch's way that none before it took: on a kernel of its own, which the execution
 * changes. */
static bool takes_new_way(const struct source_check *s, const char *settings,
                          struct branches *branches)
{
    const size_t mark = arena_mark(&s->cli->arena);
    struct ast_kernel *kernel = read_with(s, settings, false);
    const bool is_new = kernel && !kernel->ptx->whole && branches_run(s->cli, kernel, branches);
    arena_release(&s->cli->arena, mark);
    return is_new;
}

static struct shape shape_of(const struct source_check *s, const struct ptx_module *module,
                             const struct ptx_function *entry, const struct indices *indices)
{
    bool is_own = true;
    struct shape shape = {.square = reads_second_dimension(module, entry->body, &is_own),
                          .one_block = is_for_one_block(s, module, entry)};
    shape.threads = threads_by_bounds(entry, shape.square);
    if (!shape.threads && !shape.square)
        shape.threads = threads_by_indices(indices);
    if (!shape.threads)
        shape.threads = threads_by_arrays(s, module, entry, shape.square);
    return shape;
}

static void try_launches(const struct source_check *s, const struct ptx_module *module,
                         const struct ptx_function *entry, const struct check_options *options,
                         struct tried *tried)
{
    struct arena *arena = &s->cli->arena;
    const struct indices indices = indices_find(arena, entry);
    const struct shape shape = shape_of(s, module, entry, &indices);
    const uint32_t inputs = s->cli->options.inputs ? s->cli->options.inputs : INPUTS;
    const char *settings, *in_bounds = NULL;
    struct wanted wanted[WANTED_MOST];
    uint32_t wanted_count = 0, next_wanted = 0;
    enum worth most = WORTH_VACUOUS;
    branches_find(arena, module, entry, line_count(s), &tried->branches);
    for (uint32_t i = 0; i < inputs; i++) {
        settings = tried->drawn ? NULL : made_up_settings(s, entry, &indices, &shape, i);
        if (!settings && !tried->drawn && tried->branches.taken < tried->branches.all)
            wanted_count = wanted_find(arena, entry, &tried->branches, wanted);
        tried->drawn |= !settings;
        if (!settings && tried->branches.taken == tried->branches.all)
            break;
        if (!settings)
            settings = drawn_settings(s, entry, &tried->branches, &indices,
                                      next_wanted < wanted_count ? &wanted[next_wanted++] : NULL,
                                      &shape, i);
        if (!takes_new_way(s, settings, &tried->branches) && tried->drawn)
            continue;
        settings = with_buffers(s, settings);
        size_t mark = arena_mark(arena);
        struct ast_kernel *kernel = read_with(s, settings, false);
        enum worth worth = WORTH_VACUOUS;
        if (kernel) {
            struct check_result *result = ARENA_NEW(arena, struct check_result);
            struct headline headline;
            struct check_options asked = *options;
            asked.subjects = check_subjects(kernel, options->subjects);
            check_kernel(arena, kernel, &asked, result);
            headline_of(arena, result, &headline);
            worth = worth_of(&headline);
            tried->others |= !tried->drawn && !is_out_of_shared(arena, &headline);
            tried->launches++;
            tried->vacuous += worth == WORTH_VACUOUS;
            tried->clean += worth == WORTH_CLEAN;
            tried->out_of_bounds += worth == WORTH_OUTSIDE;
        }
        arena_release(arena, mark); /* the settings lie before it */
        if (!kernel)
            continue;
        if (worth == WORTH_CLEAN && !in_bounds)
            in_bounds = settings;
        if (!tried->settings || worth > most)
            tried->settings = settings;
        most = worth > most ? worth : most;
    }
    /* Out of bounds under some launches only: the kernel wants other ones. */
    if (most == WORTH_OUTSIDE && in_bounds && tried->others)
        tried->settings = in_bounds;
}

/* How far an execution of two blocks of 64 threads comes in each buffer where all numbers are n. */
static bool reaches(const struct source_check *s, const struct ptx_function *entry, uint32_t n,
                    uint64_t bytes[REACHED])
{
    struct arena *arena = &s->cli->arena;
    const char *settings = arena_printf(arena, "entry=%s threads=64 blocks=2%s", entry->name,
                                        bound_numbers(arena, entry, n));
    struct ast_kernel *kernel = read_with(s, settings, false);
    return kernel && !kernel->ptx->whole && branches_reach(s->cli, kernel, bytes);
}

/* Buffers that need some elements more than n, whatever n is below the number of threads: so it is where an index
 * goes a step too far. */
static void tell_reached(const struct source_check *s, const struct ptx_function *entry)
{
    enum { N = 125, FEWER = 3, ELEMENT_MOST = 16 };
    struct arena *arena = &s->cli->arena;
    const size_t mark = arena_mark(arena);
    uint64_t all[REACHED], without[REACHED];
    const bool ran = *bound_numbers(arena, entry, 1) && reaches(s, entry, N, all) &&
                     reaches(s, entry, N - FEWER, without);
    for (uint32_t p = 0; ran && p < REACHED; p++) {
        const uint64_t more = all[p] - without[p], element = more / FEWER;
        if (element == 0 || element > ELEMENT_MOST || element * FEWER != more ||
            all[p] % element != 0 || all[p] / element <= N)
            continue;
        printf("    note: where numbers are n, parameter %" PRIu32 " must have n + %" PRIu64
               " elements of %" PRIu64 " bytes\n",
               p, all[p] / element - N, element);
    }
    arena_release(arena, mark);
}

static void tell_tried(struct arena *arena, const struct tried *tried, const char *launch)
{
    uint32_t bad = tried->launches - tried->clean - tried->out_of_bounds - tried->vacuous;
    printf("    note: launches that were made up: %" PRIu32 ", ", tried->launches);
    if (bad > 0)
        printf("of which %" PRIu32 " show%s this; ", bad, bad == 1 ? "s" : "");
    if (tried->out_of_bounds > 0 && tried->clean > 0)
        printf("%" PRIu32 " of them out of bounds, so that the kernel may want others; ",
               tried->out_of_bounds);
    if (tried->vacuous > 0 && tried->vacuous < tried->launches)
        printf("%" PRIu32 " come to no store; ", tried->vacuous);
    printf("shown:%s\n", launch);
    if (tried->branches.all > 0)
        printf("    note: %s\n", branches_text(arena, &tried->branches));
}

/* --entry alone says nothing of the launch. */
static bool is_only_name(const char *given)
{
    const char *name = given + strspn(given, " ");
    return strncmp(name, "entry=", 6) == 0 && !strchr(name + 6, '=') && !strchr(name + 6, ' ');
}

/* A kernel that waits for its grid is launched so that it can. */
static const char *cooperation(struct arena *arena, const struct ptx_module *module,
                               const struct ptx_function *entry)
{
    return ptx_waits_for_grid(arena, module, entry)
               ? arena_printf(arena, " memory:" PTX_GRID_BARRIER "=0x%llx:%d", GRID_BARRIER,
                              PTX_GRID_BARRIER_BYTES)
               : "";
}

static int check_entry(struct source_check *s, const struct ptx_module *module,
                       const struct ptx_function *entry, const struct check_options *options,
                       struct cli_check_sums *sums)
{
    struct arena *arena = &s->cli->arena;
    struct tried tried = {.settings = NULL};
    s->more = cooperation(arena, module, entry);
    if (!s->given || is_only_name(s->given))
        try_launches(s, module, entry, options, &tried);
    const char *settings =
        tried.settings ? tried.settings
                       : arena_printf(arena, "%s entry=%s", s->given ? s->given : "", entry->name);
    struct ast_kernel *kernel = read_with(s, settings, true);
    if (!kernel) {
        sums->bad++;
        return CLI_USAGE;
    }
    const char *name = demangle_text(arena, entry->name);
    const char *shown = arena_printf(arena, "%s: %.*s", s->path, (int)strcspn(name, "("), name);
    int status = check_judge(s->cli, shown, kernel, options, sums);
    if (tried.settings && !s->cli->options.json) {
        tell_tried(arena, &tried, settings + strlen("entry=") + strlen(entry->name));
        tell_reached(s, entry);
    }
    if (*s->more && !s->cli->options.json)
        puts(
            "    note: the launch is cooperative, since the kernel waits for its grid (grid.sync)");
    return status;
}

/* Whether an entry has this name, as the PTX has it or as the source does: "scale", "scale<float>". */
static bool has_name(struct arena *arena, const struct ptx_function *entry, const char *name,
                     size_t length)
{
    const char *shown = demangle_text(arena, entry->name);
    const char *type = strstr(shown, " "), *open = shown + strcspn(shown, "(<");
    if (strlen(entry->name) == length && strncmp(entry->name, name, length) == 0)
        return true;
    if (type && type < open)
        shown = type + 1; /* of templates the type of the result stands in front */
    return strncmp(shown, name, length) == 0 && (shown[length] == '(' || shown[length] == '<');
}

/* All of them, unless --entry names one. */
static bool is_wanted(const struct source_check *s, const struct ptx_function *entry)
{
    const char *named = s->given ? strstr(s->given, "entry=") : NULL;
    if (!entry->is_entry || !entry->has_body || (s->is_ptx && ptx_does_nothing(entry)))
        return false;
    return !named || has_name(&s->cli->arena, entry, named + strlen("entry="),
                              strcspn(named + strlen("entry="), " "));
}

static int check_entries(struct source_check *s, const struct check_options *options,
                         struct cli_check_sums *sums)
{
    struct diag *diag = ARENA_NEW(&s->cli->arena, struct diag);
    diag_init(diag, s->path, s->text, s->length);
    const struct ptx_module *module = ptx_parse(&s->cli->arena, s->text, s->length, diag);
    uint32_t count = 0;
    int status = CLI_OK;
    if (!module) {
        print_refused(s, diag);
        sums->bad++;
        return CLI_USAGE;
    }
    for (const struct ptx_item *item = module->items; item && count < ENTRIES_MAX;
         item = item->next) {
        if (item->kind != PTX_ITEM_FUNCTION || !is_wanted(s, item->u.function))
            continue;
        size_t mark = arena_mark(&s->cli->arena);
        int one = check_entry(s, module, item->u.function, options, sums);
        status = one > status ? one : status;
        count++;
        arena_release(&s->cli->arena, mark);
    }
    if (count == 0) {
        cli_message(s->cli, "%s: it has no kernel%s", s->path,
                    s->given && strstr(s->given, "entry=") ? " of this name" : "");
        sums->bad++;
        return CLI_USAGE;
    }
    return status;
}

/* Without a launch, and without the name of an entry as the PTX has it. A stored case is of the kernel's own launch. */
bool check_has_entries(struct cli *cli, const char *path)
{
    struct arena *arena = &cli->arena;
    struct diag *diag = ARENA_NEW(arena, struct diag);
    const char *given = cli->options.settings;
    size_t length = strlen(path);
    uint32_t count = 0;
    if (length < 4 || strcmp(path + length - 4, ".ptx") != 0 || cli->options.check_case ||
        (given && !is_only_name(given)))
        return false;
    diag_init(diag, path, NULL, 0);
    const char *text = parse_read_bytes(arena, path, PTX_LIMIT_SOURCE_BYTES, &length, diag);
    if (!text || !ptx_is_ptx(text, length) || strstr(text, "// simtfuzz:") ||
        strstr(text, "// expect"))
        return false;
    const struct ptx_module *module = ptx_parse(arena, text, length, diag);
    for (const struct ptx_item *i = module ? module->items : NULL; i; i = i->next) {
        const struct ptx_function *f = i->kind == PTX_ITEM_FUNCTION ? i->u.function : NULL;
        if (!f || !f->is_entry || !f->has_body || ptx_does_nothing(f))
            continue;
        const char *name = given ? strchr(given, '=') + 1 : f->name;
        if (given && strcmp(name, f->name) == 0)
            return false;
        count += has_name(arena, f, name, strlen(name));
    }
    return count > 0;
}

int check_entries_of(struct cli *cli, const char *path, const struct check_options *options,
                     struct cli_check_sums *sums)
{
    struct source_check s = {.cli = cli,
                             .path = path,
                             .ptx = path,
                             .is_ptx = true,
                             .given = cli->options.settings,
                             .more = ""};
    struct diag *diag = ARENA_NEW(&cli->arena, struct diag);
    diag_init(diag, path, NULL, 0);
    s.text = parse_read_bytes(&cli->arena, path, PTX_LIMIT_SOURCE_BYTES, &s.length, diag);
    return check_entries(&s, options, sums);
}

int check_source(struct cli *cli, const char *path, const struct check_options *options,
                 struct cli_check_sums *sums)
{
    struct source_check s = {.cli = cli, .path = path, .given = cli->options.settings, .more = ""};
    char folder[] = "/tmp/simtfuzz-check-XXXXXX";
    const char *why = NULL;
    int status = CLI_USAGE;
    if (access(path, R_OK) != 0 || !mkdtemp(folder)) {
        cli_message(cli, "%s: %s", path, strerror(errno));
        sums->bad++;
        return CLI_USAGE;
    }
    s.ptx = compile_to_ptx(&cli->arena, path, cli->options.compiler, folder, &why);
    struct diag *diag = ARENA_NEW(&cli->arena, struct diag);
    diag_init(diag, path, NULL, 0);
    if (s.ptx)
        s.text = parse_read_bytes(&cli->arena, s.ptx, PTX_LIMIT_SOURCE_BYTES, &s.length, diag);
    if (s.text) {
        status = check_entries(&s, options, sums);
    } else {
        cli_message(cli, "%s: %s", path, why ? why : "its PTX cannot be read");
        sums->bad++;
    }
    bundle_remove_folder(folder);
    return status;
}
