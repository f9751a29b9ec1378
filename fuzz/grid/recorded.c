#include "fuzz/grid/recorded.h"

#include "engine/base/text.h"

#include <string.h>

/* ---- what of memory differs ---- */

struct difference {
    uint64_t bytes, buffers;         /* compared */
    uint64_t words;                  /* that differ */
    const struct ptx_region *region; /* of the first one; NULL: all is the same */
    uint32_t at;                     /* its byte */
    uint32_t here, there;
    bool numbers; /* some of them are no NaNs in both places */
    uint32_t
        units; /* most units in the last place between two floats of 32 bits; UINT32_MAX: not near */
};

static const struct ptx_region *region_of(const struct launch *launch, const char *name)
{
    const struct ptx_regions *regions = &launch->program->ptx->global;
    for (uint32_t i = 0; i < regions->count; i++)
        if (strcmp(regions->items[i].name, name) == 0)
            return &regions->items[i];
    return NULL;
}

/* A float's place on the line of all floats. */
static int64_t place_of(uint32_t bits)
{
    return bits >> 31 ? -(int64_t)(bits & INT32_MAX) : (int64_t)bits;
}

static bool is_double_nan(const uint8_t *bytes)
{
    double number;
    memcpy(&number, bytes, sizeof number);
    return number != number;
}

static bool is_float_nan(uint32_t bits)
{
    return (bits & INT32_MAX) > 0x7f800000;
}

static void note_word(struct difference *d, const struct ptx_region *region, uint32_t at,
                      uint32_t here, uint32_t there)
{
    const int64_t apart = place_of(here) - place_of(there);
    const uint64_t units = (uint64_t)(apart < 0 ? -apart : apart);
    if (d->words++ == 0) {
        d->region = region;
        d->at = at;
        d->here = here;
        d->there = there;
    }
    if (units > d->units)
        d->units = units < UINT32_MAX ? (uint32_t)units : UINT32_MAX;
}

static void compare(const struct launch *launch, struct difference *d)
{
    for (const struct ptx_bind *r = launch->kernel->ptx->results; r; r = r->next) {
        const struct ptx_region *region = region_of(launch, r->parameter);
        if (!region)
            continue;
        const uint8_t *bytes = launch_bytes(launch, region);
        d->buffers++;
        d->bytes += r->data_bytes;
        for (uint32_t at = 0; at < r->data_bytes; at += 4) {
            const uint32_t left = r->data_bytes - at, size = left < 4 ? left : 4;
            uint32_t here = 0, there = 0;
            memcpy(&here, bytes + at, size);
            memcpy(&there, r->data + at, size);
            if (here == there)
                continue;
            note_word(d, region, at, here, there);
            const uint32_t pair = at / 8 * 8;
            bool nans = pair + 8 <= r->data_bytes && is_double_nan(bytes + pair) &&
                        is_double_nan(r->data + pair);
            d->numbers |= !nans && !(is_float_nan(here) && is_float_nan(there));
        }
    }
}

/* ---- why it may ---- */

static bool is_read(const struct ptx_code *code, const struct ptx_place *place)
{
    for (uint32_t pc = 1; pc < code->count; pc++)
        for (uint32_t s = 0; s < code->ops[pc].source_count; s++)
            if (memcmp(&code->ops[pc].sources[s], place, sizeof *place) == 0)
                return true;
    return false;
}

/* Sums, bounds and bits of whole numbers, whose old value nobody reads, come to the same in any order. */
static bool commutes(const struct ptx_code *code, const struct ptx_op *op)
{
    return op->exec == PTX_EXEC_ATOM && !op->is_float && op->mode != PTX_W_CAS &&
           op->mode != PTX_W_EXCH && op->mode != PTX_W_INC && op->mode != PTX_W_DEC &&
           (op->result_count == 0 || !is_read(code, &op->results[0]));
}

static bool is_approximate(const struct ptx_op *op)
{
    const struct ptx_statement *s = op->statement;
    if (!s || s->kind != PTX_INSTRUCTION)
        return false;
    const uint8_t *words = s->u.instruction.words;
    return words[PTX_SLOT_APPROX] != PTX_W_NONE ||
           (op->opcode == PTX_OP_TEX && words[PTX_SLOT_TYPE] == PTX_W_F32 &&
            words[PTX_SLOT_TYPE2] == PTX_W_F32) ||
           (op->exec == PTX_EXEC_MMA &&
            ptx_type_of((enum ptx_word)words[PTX_SLOT_TYPE]).kind == PTX_CLASS_FLOAT);
}

/* NaNs of 32 bits have one form, but where they are only converted. */
static bool makes_nans(const struct ptx_op *op)
{
    const struct ptx_statement *s = op->statement;
    if (!s || s->kind != PTX_INSTRUCTION)
        return false;
    const uint8_t type = s->u.instruction.words[PTX_SLOT_TYPE];
    return type == PTX_W_F64 || (type == PTX_W_F32 && op->opcode == PTX_OP_CVT);
}

/* The first statement of a kind; CODE_NONE: none. */
static uint32_t find(const struct launch *launch, bool (*is)(const struct ptx_op *))
{
    const struct ptx_code *code = launch->program->ptx;
    for (uint32_t pc = 1; pc < code->count; pc++)
        if (is(&code->ops[pc]))
            return pc;
    return CODE_NONE;
}

/* The statement whose results the definition leaves open; *what says why. CODE_NONE: none. */
static uint32_t open_statement(const struct launch *launch, const struct difference *d,
                               const char **what)
{
    const struct ptx_code *code = launch->program->ptx;
    const struct launch_manner *manners = launch->race->manners;
    enum ptx_word mode = PTX_W_NONE;
    uint32_t first = d->numbers ? CODE_NONE : find(launch, makes_nans);
    *what = "makes NaNs, whose bits PTX leaves open";
    if (first != CODE_NONE)
        return first;
    first = find(launch, is_approximate);
    *what = "is approximate";
    if (first != CODE_NONE)
        return first;
    for (uint32_t pc = 1; pc < code->count; pc++) {
        const struct ptx_op *op = &code->ops[pc];
        *what = op->exec == PTX_EXEC_CLOCK ? "reads a clock"
                : !manners[pc].strong      ? NULL
                : !commutes(code, op)      ? "can tell in which order threads come"
                : mode && mode != op->mode ? "is one of several kinds of atomics"
                                           : NULL;
        if (*what)
            return pc;
        mode = manners[pc].strong ? (enum ptx_word)op->mode : mode;
    }
    return CODE_NONE;
}

static bool races(const struct launch *launch)
{
    for (const struct launch_finding *f = launch->race->findings; f; f = f->next)
        if (f->kind == LAUNCH_RACE)
            return true;
    return false;
}

/* Why it is no finding that the device left something else; NULL: it is one. */
static const char *reason(const struct launch *launch, const struct difference *d)
{
    struct arena *arena = launch->arena;
    const char *what = NULL;
    if (races(launch))
        return "which is no wonder, since its threads race";
    const uint32_t pc = open_statement(launch, d, &what);
    if (pc == CODE_NONE)
        return NULL;
    const char *source = launch_source(arena, launch->program, pc);
    const char *slash = strrchr(source, '/');
    return arena_printf(arena, "which may be: %s %s%s", slash ? slash + 1 : source, what,
                        d->units < 1 << 20
                            ? arena_printf(arena,
                                           ", and as floats they are at most %u units in "
                                           "the last place apart",
                                           d->units)
                            : "");
}

const char *recorded_compare(struct launch *launch)
{
    struct arena *arena = launch->arena;
    struct difference d = {.bytes = 0};
    if (!launch->kernel->ptx->results)
        return NULL;
    if (launch->status != STATUS_TERMINATED)
        return "what it left is not compared: this execution did not come to its end";
    compare(launch, &d);
    if (!d.region)
        return arena_printf(arena, "left the same %llu bytes in %llu buffers",
                            (unsigned long long)d.bytes, (unsigned long long)d.buffers);
    const char *text =
        arena_printf(arena,
                     "byte %u of %s: 0x%08x on the device, 0x%08x here; %llu words of %llu bytes "
                     "differ",
                     d.at, d.region->name, d.there, d.here, (unsigned long long)d.words,
                     (unsigned long long)d.bytes);
    const char *why = reason(launch, &d);
    if (why)
        return arena_printf(arena, "%s, %s", text, why);
    struct launch_finding *finding = ARENA_NEW(arena, struct launch_finding);
    *finding = (struct launch_finding){.kind = LAUNCH_DIFFERS, .text = text, .count = 1};
    *launch->race->last = finding;
    launch->race->last = &finding->next;
    return "left other values";
}
