/*
 * What people read of a device: findings with the lines of the source, and notes.
 */
#include "fuzz/check/headline.h"
#include "fuzz/exec/device.h"
#include "fuzz/out/demangle.h"
#include "oracle/check/fault.h"

#include <inttypes.h>
#include <string.h>

enum { COLUMNS = 108 };

static const char *dimensions(struct arena *arena, const uint32_t n[3])
{
    if (n[1] == 1 && n[2] == 1)
        return arena_printf(arena, "%" PRIu32, n[0]);
    if (n[2] == 1)
        return arena_printf(arena, "(%" PRIu32 ",%" PRIu32 ")", n[0], n[1]);
    return arena_printf(arena, "(%" PRIu32 ",%" PRIu32 ",%" PRIu32 ")", n[0], n[1], n[2]);
}

const char *device_launch_text(struct arena *arena, const struct device *device,
                               const struct device_launch *launch, const char *name)
{
    const char *kernel = demangle_text(arena, name);
    const char *stack = host_stack(arena, device, &launch->stack, kernel, NULL);
    return arena_printf(arena, "%s<<<%s, %s>>>%s%s", kernel, dimensions(arena, launch->grid),
                        dimensions(arena, launch->block), stack ? ", launched by " : "",
                        stack ? stack : "");
}

/* ---- quotations ---- */

/* "path/sum.cu:12": the line of that file, without the blanks around it; NULL: it cannot be read. */
static const char *quoted_line(struct arena *arena, const char *source)
{
    char line[512];
    const char *text = NULL;
    uint32_t wanted, number = 0;
    const char *path = source_file(arena, source, &wanted);
    FILE *file = path ? source_open(path) : NULL;
    if (!file)
        return NULL;
    while (!text && fgets(line, sizeof line, file)) {
        bool ends = strchr(line, '\n') != NULL;
        if (number + 1 == wanted) {
            char *start = line + strspn(line, " \t");
            start[strcspn(start, "\r\n")] = '\0';
            for (char *c = start; *c; c++)
                *c = (unsigned char)*c < ' ' ? ' ' : *c;
            text = arena_strndup(arena, start, strlen(start));
        }
        number += ends;
    }
    fclose(file);
    return text;
}

void device_tell_sources(FILE *out, const char *indent, struct arena *arena,
                         const struct launch_finding *finding)
{
    for (int i = 0; i < 2; i++) {
        const char *source = finding->sources[i];
        const char *line = quoted_line(arena, source);
        if (!line || (i == 1 && finding->sources[0] && strcmp(source, finding->sources[0]) == 0))
            continue;
        const char *slash = strrchr(source, '/');
        fprintf(out, "%s%s | %s\n", indent, slash ? slash + 1 : source, line);
    }
}

/* ---- findings ---- */

const char *device_finding_kind(const struct launch_finding *finding)
{
    if (finding->kind == LAUNCH_RACE)
        return "race";
    if (finding->kind == LAUNCH_UNWRITTEN)
        return "unwritten";
    if (finding->kind == LAUNCH_LEAK)
        return "leak";
    if (finding->kind == LAUNCH_DIFFERS)
        return "differs";
    if (finding->kind == LAUNCH_MISUSE)
        return "misuse";
    enum outcome outcome = outcome_of(finding->status);
    return outcome < OUTCOME_COUNT ? outcome_names[outcome] : "misuse";
}

static const char *word_of(const struct launch_finding *finding)
{
    if (finding->kind == LAUNCH_RACE)
        return "RACE";
    if (finding->kind == LAUNCH_UNWRITTEN)
        return "UNWRITTEN";
    if (finding->kind == LAUNCH_LEAK)
        return "LEAK";
    if (finding->kind == LAUNCH_MISUSE)
        return "WRONG";
    return finding->status == STATUS_NONTERMINATING || finding->status == STATUS_DEADLOCK ? "HANG"
                                                                                          : "FAULT";
}

static bool is_same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static const char *kept(struct device *device, const char *text)
{
    return text ? arena_strndup(device->report->arena, text, strlen(text)) : NULL;
}

/* What was told already is counted only: a kernel may be launched a thousand times, and a line may be many
 * instructions. */
static bool is_new(struct device *device, const char *kernel, const struct launch_finding *finding)
{
    for (struct device_told *t = device->report->told; t; t = t->next)
        if (t->kind == finding->kind && t->status == finding->status &&
            is_same(t->sources[0], finding->sources[0]) &&
            is_same(t->sources[1], finding->sources[1]) && strcmp(t->kernel, kernel) == 0)
            return false;
    struct device_told *told = ARENA_NEW(device->report->arena, struct device_told);
    *told = (struct device_told){
        .kind = finding->kind,
        .status = finding->status,
        .kernel = kept(device, kernel),
        .sources = {kept(device, finding->sources[0]), kept(device, finding->sources[1])},
        .next = device->report->told};
    device->report->told = told;
    return true;
}

static void tell(const struct device *device, const char *word, bool is_bad, const char *text)
{
    const char *on = !device->options->color ? "" : is_bad ? "\033[1;31m" : "\033[1m";
    fprintf(device->out, "%s%-9s%s %s\n", on, word, *on ? "\033[0m" : "", text);
    fflush(device->out);
}

/* In lines of people's screens, each behind ten blanks. */
static void tell_wrapped(const struct device *device, const char *text)
{
    while (*text) {
        size_t length = strlen(text), line = length;
        if (length > COLUMNS) {
            line = COLUMNS;
            while (line > 0 && text[line] != ' ')
                line--;
            line = line ? line : strcspn(text, " ");
        }
        fprintf(device->out, "          %.*s\n", (int)line, text);
        text += line + (text[line] == ' ');
    }
}

bool device_tell_finding(struct device *device, struct arena *arena, const char *launch,
                         const char *kernel, const struct launch_finding *finding)
{
    if (!is_new(device, finding->kind == LAUNCH_MISUSE ? finding->text : kernel, finding))
        return false;
    tell(device, word_of(finding), true, launch);
    if (finding->text != launch)
        tell_wrapped(device, demangle_within(arena, finding->text, kernel));
    device_tell_sources(device->out, "          ", arena, finding);
    if (finding->count > 1)
        fprintf(device->out, "          and %" PRIu64 " more of these\n", finding->count - 1);
    fflush(device->out);
    return true;
}

void device_found(struct device *device, struct arena *arena, const char *launch,
                  const char *kernel, const struct launch_finding *finding)
{
    if (suppress_matches(device->options->suppressions, device_finding_kind(finding),
                         finding->sources, 2)) {
        device->report->suppressed++;
        return;
    }
    device->report->findings++;
    if (!device_tell_finding(device, arena, launch, kernel, finding))
        return;
    device->report->shown++;
    if (device->found)
        device->found(device->context, kernel, launch, finding);
}

void device_tell_note(struct device *device, const char *word, const char *text)
{
    tell(device, word, false, text);
}
