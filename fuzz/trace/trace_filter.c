#include "fuzz/trace/trace_filter.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- lists ---- */

/* The next piece of a list, its end behind it; NULL: there is none. */
static const char *next_piece(const char **list, size_t *length)
{
    const char *piece = *list;
    if (!piece || !*piece)
        return NULL;
    *length = strcspn(piece, ",");
    *list = piece + *length + (piece[*length] == ',');
    return piece;
}

static bool is_number(const char **text, uint32_t *number)
{
    char *end;
    if (!isdigit((unsigned char)**text))
        return false;
    unsigned long value = strtoul(*text, &end, 10);
    *text = end;
    *number = value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
    return true;
}

/* "4" or "4-9". */
static bool parse_range(const char *piece, size_t length, uint32_t *first, uint32_t *last)
{
    const char *end = piece + length;
    if (!is_number(&piece, first))
        return false;
    *last = *first;
    if (piece < end && *piece == '-') {
        piece++;
        if (!is_number(&piece, last))
            return false;
    }
    return piece == end && *first <= *last;
}

/* "3", or "1.0": warp 0 of block 1. */
static bool parse_warp(const char *text, const struct program *program, uint32_t *warp)
{
    uint32_t block = 0;
    if (!is_number(&text, warp))
        return false;
    if (*text == '.') {
        text++;
        block = *warp;
        if (!is_number(&text, warp) || *warp >= program->warps_per_block)
            return false;
        *warp += block * program->warps_per_block;
    }
    return *text == '\0' && *warp < program->warp_count;
}

/* ---- what is wrong ---- */

static bool is_rule(const char *name, size_t length)
{
    for (uint32_t i = 0; i < RULE_COUNT; i++)
        if (strncmp(rule_table[i].name, name, length) == 0 && rule_table[i].name[length] == '\0')
            return true;
    return false;
}

static const char *refuse_rules(const char *list, struct arena *arena)
{
    size_t length;
    for (const char *piece; (piece = next_piece(&list, &length));)
        if (!is_rule(piece, length))
            return arena_printf(arena,
                                "--rules: there is no rule '%.*s' (simtfuzz rules lists them)",
                                (int)length, piece);
    return NULL;
}

static const char *refuse_lines(const char *list, struct arena *arena)
{
    size_t length;
    uint32_t first, last;
    for (const char *piece; (piece = next_piece(&list, &length));)
        if (!parse_range(piece, length, &first, &last))
            return arena_printf(arena, "--lines: '%.*s' is not a line, or first-last", (int)length,
                                piece);
    return NULL;
}

const char *trace_filter_refuses(const struct trace_filter *filter, struct arena *arena,
                                 const struct program *program)
{
    uint32_t warp;
    const char *why = refuse_lines(filter->lines, arena);
    if (!why)
        why = refuse_rules(filter->rules, arena);
    if (!why && filter->warp && !parse_warp(filter->warp, program, &warp))
        why = arena_printf(arena, "--warp: there is no warp '%s', only 0 to %" PRIu32 "%s",
                           filter->warp, program->warp_count - 1,
                           program->launch.blocks > 1 ? ", or block.warp" : "");
    return why;
}

/* ---- what passes ---- */

static bool is_in_warp(const struct trace_filter *filter, const struct machine *machine,
                       enum trace_view view, uint32_t actor)
{
    const struct program *program = machine->program;
    uint32_t warp = 0, threads = program->launch.threads;
    parse_warp(filter->warp, program, &warp);
    if (view == TRACE_VECTORS)
        return actor == warp / program->warps_per_block;
    if (view == TRACE_WARPS || view == TRACE_CRS)
        return actor == warp;
    return warp ==
           actor / threads * program->warps_per_block + actor % threads / program->launch.warp;
}

static bool is_in_lines(const char *list, const struct program *program, uint32_t stm)
{
    size_t length;
    uint32_t first, last, line = stm == CODE_NONE ? 0 : program->stms[stm].line;
    for (const char *piece; line > 0 && (piece = next_piece(&list, &length));)
        if (parse_range(piece, length, &first, &last) && line >= first && line <= last)
            return true;
    return false;
}

static bool is_listed(const char *list, const char *name, size_t name_length)
{
    size_t length;
    for (const char *piece; (piece = next_piece(&list, &length));)
        if (length == name_length && strncmp(piece, name, length) == 0)
            return true;
    return false;
}

bool trace_filter_wants(const struct trace_filter *filter, const struct machine *machine,
                        enum trace_view view, const struct step_event *event)
{
    const char *rule = rule_table[event->rule].name;
    return (!filter->warp || is_in_warp(filter, machine, view, event->actor)) &&
           (!filter->lines || is_in_lines(filter->lines, machine->program, event->stm)) &&
           (!filter->rules || is_listed(filter->rules, rule, strlen(rule)));
}

bool trace_filter_watches(const struct trace_filter *filter, const char *name)
{
    size_t array = strcspn(name, "[ "), element = strcspn(name, " ");
    return !filter->watch || is_listed(filter->watch, name, array) ||
           is_listed(filter->watch, name, element);
}
