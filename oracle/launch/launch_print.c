#include "oracle/launch/launch_print.h"

#include "engine/crs/crs.h"
#include "engine/lanes/ptx_outside.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { FORMAT_BYTES = 2048, STRING_BYTES = 1024, PIECE_BYTES = 40 };

/* A lane that prints: its arguments lie one behind the other, each at a multiple of its size. */
struct printing {
    struct launch_print *out;
    const struct machine *machine;
    const struct ptx_lanes *lanes;
    uint32_t lane;
    uint64_t arguments; /* where the next one is */
    bool full;
};

static uint64_t next_argument(struct printing *p, uint32_t bytes)
{
    uint64_t value = 0;
    p->arguments = (p->arguments + bytes - 1) / bytes * bytes;
    (void)ptx_outside_bytes(p->machine, p->lanes, p->lane, p->arguments, &value, bytes);
    p->arguments += bytes;
    return value;
}

/* What snprintf wrote, or would have. */
static void grow(struct printing *p, int written)
{
    size_t room = LAUNCH_PRINT_BYTES - p->out->length;
    if (written < 0 || (size_t)written >= room)
        p->full = true;
    else
        p->out->length += (size_t)written;
}

static void put_bytes(struct printing *p, const char *bytes, size_t count)
{
    char *to = p->out->text + p->out->length;
    size_t room = LAUNCH_PRINT_BYTES - p->out->length;
    if (count < room)
        memcpy(to, bytes, count);
    grow(p, count < room ? (int)count : -1);
}

/* Formats are the kernel's: each is checked to be one conversion of its argument's type before it is used. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static void convert_integer(struct printing *p, const char *piece, bool wide, char conversion)
{
    char *to = p->out->text + p->out->length, format[PIECE_BYTES + 8];
    const size_t room = LAUNCH_PRINT_BYTES - p->out->length;
    const uint64_t value = next_argument(p, wide ? 8 : 4);
    snprintf(format, sizeof format, "%sll%c", piece, conversion);
    if (conversion == 'd' || conversion == 'i')
        grow(p, snprintf(to, room, format, wide ? (long long)value : (long long)(int32_t)value));
    else
        grow(p, snprintf(to, room, format, (unsigned long long)value));
}

/* One conversion. `piece` is "%" with flags, width and precision; `wide`: it says l, ll, z, j or t. */
static void convert(struct printing *p, const char *piece, bool wide, char conversion)
{
    char *to = p->out->text + p->out->length, format[PIECE_BYTES + 8], string[STRING_BYTES];
    const size_t room = LAUNCH_PRINT_BYTES - p->out->length;
    double number;
    if (strchr("diuoxX", conversion)) {
        convert_integer(p, piece, wide, conversion);
        return;
    }
    const uint64_t value = next_argument(p, conversion == 'c' ? 4 : 8);
    snprintf(format, sizeof format, "%s%c", piece, conversion);
    if (conversion == 'c') {
        grow(p, snprintf(to, room, format, (int)value));
    } else if (conversion == 'p') {
        grow(p, snprintf(to, room, "0x%" PRIx64, value));
    } else if (conversion == 's') {
        uint32_t bytes =
            ptx_outside_bytes(p->machine, p->lanes, p->lane, value, string, sizeof string - 1);
        string[bytes] = '\0';
        grow(p, snprintf(to, room, format, string));
    } else { /* a, e, f, g */
        memcpy(&number, &value, sizeof number);
        grow(p, snprintf(to, room, format, number));
    }
}

#pragma GCC diagnostic pop

/* From a '%' on: where it goes on. What is no conversion is printed as it is. */
static const char *print_piece(struct printing *p, const char *at)
{
    char piece[PIECE_BYTES];
    size_t length = 1 + strspn(at + 1, "-+ #0123456789.");
    size_t sizes = strspn(at + length, "hlLqjzt");
    const char *letter = at + length + sizes;
    bool wide = strcspn(at + length, "lqjzt") < sizes;
    if (*letter == '%') {
        put_bytes(p, "%", 1);
        return letter + 1;
    }
    if (length >= sizeof piece || !*letter || !strchr("diuoxXcpsaAeEfFgG", *letter)) {
        put_bytes(p, at, 1);
        return at + 1;
    }
    memcpy(piece, at, length);
    piece[length] = '\0';
    convert(p, piece, wide, *letter);
    return letter + 1;
}

static void print(struct printing *p, const char *format)
{
    size_t before = p->out->length;
    for (const char *at = format; *at && !p->full;) {
        size_t plain = strcspn(at, "%");
        put_bytes(p, at, plain);
        at += plain;
        if (*at && !p->full)
            at = print_piece(p, at);
    }
    if (p->full)
        p->out->length = before;
    p->out->dropped += p->full;
}

static void on_step(void *context, const struct machine *machine, const struct step_event *event)
{
    struct launch_print *out = context;
    char format[FORMAT_BYTES];
    if (event->stm == CODE_NONE ||
        machine->program->ptx->ops[event->stm].outside != PTX_OUTSIDE_PRINT)
        return;
    struct crs_warp warp = crs_warp(machine, event->actor);
    for (lane_mask rest = event->truth; rest; rest &= rest - 1) {
        struct printing p = {.out = out,
                             .machine = machine,
                             .lanes = warp.lanes,
                             .lane = (uint32_t)__builtin_ctzll(rest)};
        uint64_t at = ptx_outside_argument(machine, p.lanes, event->stm, p.lane, 0);
        p.arguments = ptx_outside_argument(machine, p.lanes, event->stm, p.lane, 1);
        uint32_t bytes = ptx_outside_bytes(machine, p.lanes, p.lane, at, format, sizeof format - 1);
        format[bytes] = '\0';
        print(&p, format);
    }
}

struct launch_print *launch_print_new(struct arena *arena, const struct program *program)
{
    bool prints = false;
    for (uint32_t pc = 1; pc < program->ptx->count; pc++)
        prints |= program->ptx->ops[pc].outside == PTX_OUTSIDE_PRINT;
    if (!prints)
        return NULL;
    struct launch_print *print = ARENA_NEW(arena, struct launch_print);
    print->observer = (struct observer){.context = print, .step = on_step};
    print->text = ARENA_ARRAY(arena, char, LAUNCH_PRINT_BYTES);
    return print;
}
