/*
 * host_follow_texts.c - what the device says of its alternatives, of who waits and of a fault, a second time: from the
 * reference's state.
 */
#include "oracle/device/host_follow_internal.h"

#include "engine/base/text.h"

#include <stdio.h>
#include <string.h>

static const struct host_statement *statement_of(const struct host_follow *f, uint32_t grid)
{
    return &f->device->program->statements[f->ref->grids[grid].layout.statement];
}

static const char *kernel_of(const struct host_follow *f, uint32_t grid)
{
    return f->device->program->kernels[statement_of(f, grid)->kernel].name;
}

static void put_grid(const struct host_follow *f, struct text *text, uint32_t grid)
{
    text_format(text, " of `%s` (line %u)", kernel_of(f, grid),
                (unsigned)statement_of(f, grid)->at.line);
}

static uint32_t grid_of(const struct host_follow *f, uint32_t statement)
{
    uint32_t grid = 0;
    while (grid < f->ref->grid_count && f->ref->grids[grid].layout.statement != statement)
        grid++;
    return grid;
}

static void put_warp(const struct host_follow *f, struct text *text, struct device_alternative x)
{
    const uint32_t warps = f->ref->grids[x.a].layout.warps;
    const struct ref_block *block = ref_block_in(f->ref, x.a, x.b / warps);
    text_format(text, "warp %u of block %u", (unsigned)(x.b % warps),
                block ? (unsigned)(block - f->ref->grids[x.a].blocks) : 0);
    put_grid(f, text, x.a);
}

/* Of operations of caches what stands in front of the grid is theirs to say. */
static void put_move(const struct host_follow *f, struct text *text, struct device_alternative x)
{
    const uint32_t number = f->cached || x.kind != ALTERNATIVE_MICRO ? 0 : follow_operation(f, x.a);
    const struct ref_flight *o = &f->ref->flights[number == HOST_NONE ? 0 : number];
    if (f->cached) {
        put_grid(f, text, x.a);
    } else if (x.kind == ALTERNATIVE_SILENT) {
        text_format(text, "SM %u drops a line", (unsigned)x.a);
    } else {
        text_format(text, "%s of word %u%s by lane %u of warp %u of grid %u",
                    ptx_mnemonics[ptx_forms[o->instruction->form].opcode], (unsigned)o->word,
                    o->is_shared ? " of shared memory" : "", (unsigned)o->lane,
                    (unsigned)(o->slot * f->ref->grids[o->grid].layout.warps + o->warp),
                    (unsigned)o->grid);
    }
}

static const char *text_of(const struct host_follow *f, struct device_alternative x)
{
    const struct host_program *p = f->device->program;
    struct text text = text_begin(f->arena);
    const struct host_statement *s = &p->statements[f->ref->host];
    switch (x.kind) {
    case ALTERNATIVE_HOST:
        text_format(&text, "host, line %u: %s", (unsigned)s->at.line,
                    host_print_statement(f->arena, p, f->ref->host));
        break;
    case ALTERNATIVE_START:
        text_format(&text, "start `%s` (line %u)", kernel_of(f, grid_of(f, x.a)),
                    (unsigned)p->statements[x.a].at.line);
        break;
    case ALTERNATIVE_COPY:
        text_format(&text, "copy of line %u", (unsigned)p->statements[x.a].at.line);
        break;
    case ALTERNATIVE_ISSUE:
        text_put(&text, "a block");
        put_grid(f, &text, x.a);
        text_format(&text, " to SM %u", (unsigned)x.b);
        break;
    case ALTERNATIVE_WARP:
        put_warp(f, &text, x);
        break;
    case ALTERNATIVE_MICRO:
    case ALTERNATIVE_SILENT:
        put_move(f, &text, x);
        break;
    }
    return text.bytes;
}

void follow_compare_text(struct host_follow *f, struct device_alternative x)
{
    const char *says = device_alternative_text(f->arena, f->device, x), *expected = text_of(f, x);
    size_t length = strlen(says), wanted = strlen(expected);
    bool cached = f->cached && (x.kind == ALTERNATIVE_MICRO || x.kind == ALTERNATIVE_SILENT);
    bool same = length >= wanted && strcmp(says + length - wanted, expected) == 0;
    if (!same || (length > wanted && !cached))
        follow_tell(f, arena_printf(f->arena, "`%s` is called `%s`", expected, says));
}

/* ---- at the end ---- */

static void put_waiting(const struct host_follow *f, struct text *text, uint32_t statement)
{
    const struct host_statement *s = &f->device->program->statements[statement];
    const uint32_t grid = grid_of(f, statement);
    text_format(text, "%sthe %s of line %u", *text->bytes ? ", " : "", host_kind_names[s->kind],
                (unsigned)s->at.line);
    if (f->ref->stands[statement] == REF_WAITS)
        text_put(text, " has not begun");
    else
        text_format(text, " has %u blocks resident, %u not issued and %u completed of %u",
                    (unsigned)ref_count(f->ref, grid, REF_ACTIVE),
                    (unsigned)ref_count(f->ref, grid, REF_UNSCHEDULED),
                    (unsigned)ref_count(f->ref, grid, REF_COMPLETED),
                    (unsigned)f->ref->grids[grid].layout.blocks);
}

static void compare_waits(struct host_follow *f)
{
    const struct host_program *p = f->device->program;
    struct text text = text_begin(f->arena);
    if (f->ref->host < p->count)
        text_format(&text, "the host waits in line %u",
                    (unsigned)p->statements[f->ref->host].at.line);
    for (uint32_t i = 0; i < p->count; i++) {
        if (f->ref->stands[i] == REF_DRAINS)
            return; /* how many blocks have vanished is not said */
        if (f->ref->stands[i] == REF_WAITS || f->ref->stands[i] == REF_RUNS)
            put_waiting(f, &text, i);
    }
    const char *says = device_waits(f->arena, f->device);
    if (strcmp(says, text.bytes) != 0)
        follow_tell(f, arena_printf(f->arena, "`%s` is told as `%s`", text.bytes, says));
}

/* Of a thread that there is, in a block that is resident. */
static void compare_fault(struct host_follow *f)
{
    unsigned thread, block;
    uint32_t line;
    char kernel[LIMIT_NAME + 2] = "";
    const uint32_t grid = f->device->head->fault_grid;
    const struct ref_grid *g = &f->ref->grids[grid];
    const char *says = device_fault(f->arena, f->device, &line), *colon = strchr(says, ':');
    bool right = colon && sscanf(colon, ": thread %u of block %u of `%64[^`]`", &thread, &block,
                                 kernel) == 3;
    right = right && thread < g->layout.threads && block < g->layout.blocks &&
            g->blocks[block].where == REF_ACTIVE && strcmp(kernel, kernel_of(f, grid)) == 0 &&
            line == statement_of(f, grid)->at.line;
    if (!right)
        follow_tell(f, arena_printf(f->arena, "a fault is told as `%s`", says));
}

void follow_compare_end(struct host_follow *f, enum device_end end)
{
    if (end == END_FAULT)
        compare_fault(f);
    else if (end != END_DONE)
        compare_waits(f);
}
