#include "fuzz/step/step_show.h"

#include "fuzz/out/demangle.h"
#include "fuzz/step/step_caches.h"
#include "fuzz/view/view.h"
#include "fuzz/view/view_letters.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

enum {
    NAMES_SHOWN = 4,
    LANES_SHOWN = 32,
    LANES_COLUMNS = 60,
    SOURCE_ROWS = 15,
    PLACES = 64,       /* registers */
    PLACES_STEPS = 512 /* in which they were written */
};

static void put(struct step_lines *lines, bool marked, const char *line)
{
    if (lines->count == STEP_LINES)
        return;
    lines->marked[lines->count] = marked;
    lines->line[lines->count++] = line;
}

/* A loop that goes on is `while°` in traces: here it is a while. */
static const char *plain(const struct stepper *s, const char *text)
{
    static const char again[] = "°";
    struct text out = text_begin(s->scratch);
    text_put(&out, "");
    for (const char *found; (found = strstr(text, again)) != NULL; text = found + sizeof again - 1)
        text_put_bytes(&out, text, (size_t)(found - text));
    text_put(&out, text);
    return demangle_text(s->scratch, out.bytes);
}

/* "threads 1-3,5": those of a mask. */
static const char *threads_text(struct arena *arena, const char *mask, uint32_t first)
{
    struct text out = text_begin(arena);
    uint32_t count = 0, parts = 0;
    for (uint32_t i = 0, end; mask[i]; i = end) {
        end = i + 1;
        if (mask[i] != '1')
            continue;
        while (mask[end] == '1')
            end++;
        text_put(&out, parts++ ? "," : "");
        text_format(&out, "%" PRIu32, first + i);
        if (end - i > 1)
            text_format(&out, "-%" PRIu32, first + end - 1);
        count += end - i;
    }
    if (count == 0)
        return "no thread";
    return arena_printf(arena, "thread%s %s", count == 1 ? "" : "s", out.bytes);
}

/* ---- where it is ---- */

static const char *ending(const struct stepper *s)
{
    struct arena *a = s->scratch;
    if (s->loop.length > 0)
        return arena_printf(
            a, "never ends: after step %" PRIu64 " the same %" PRIu64 " again and again",
            s->loop.stem, s->loop.length);
    if (s->status == STATUS_STEP_LIMIT)
        return "still running at the last one";
    return s->fault ? arena_printf(a, "%s: %s", status_names[s->status], s->fault)
                    : status_names[s->status];
}

const char *step_title(const struct stepper *s)
{
    return arena_printf(s->scratch, "step %" PRIu64 " of %" PRIu64 "   %s, %s", s->at, s->count,
                        s->subject->name, ending(s));
}

static const char *actor_text(const struct stepper *s, const char *threads)
{
    uint32_t actor = s->actor;
    bool warps = s->text.view == TRACE_WARPS || s->text.view == TRACE_CRS;
    if (warps && s->machine->actor_count > 1)
        return arena_printf(s->scratch, "%s of warp %" PRIu32, threads, actor);
    return threads;
}

/* ---- what the step did ---- */

static const char *place_name(const struct stepper *s, uint32_t address)
{
    return demangle_text(s->scratch, program_location_name(s->scratch, s->program, address));
}

/* "reads b[3], b[4]", of one kind of access; each location once. */
static const char *accesses_text(const struct stepper *s, enum access_kind kind)
{
    static const char *const did[] = {"reads ", "writes ", "changes at once "};
    static const char *const asks[] = {"asks to read ", "asks to write ",
                                       "asks to change at once "};
    const char *const *verbs = s->machine->semantics->environment ? asks : did;
    struct text out = text_begin(s->scratch);
    uint32_t shown = 0;
    for (uint32_t i = 0; i < s->access_count; i++) {
        const struct step_access *a = &s->accesses[i];
        const char *name = place_name(s, a->address);
        if (a->kind != kind || (out.bytes && strstr(out.bytes, name)))
            continue;
        if (shown++ >= NAMES_SHOWN)
            continue;
        text_put(&out, shown > 1 ? ", " : verbs[kind]);
        text_put(&out, name);
        if (kind != ACCESS_READ)
            text_format(&out, " = %" PRId32, a->value);
    }
    if (shown > NAMES_SHOWN)
        text_format(&out, " and %" PRIu32 " more", shown - NAMES_SHOWN);
    return out.bytes;
}

static void say_accesses(struct stepper *s, struct step_lines *lines)
{
    struct text out = text_begin(s->scratch);
    for (enum access_kind kind = ACCESS_READ; kind <= ACCESS_ATOMIC; kind++) {
        const char *text = accesses_text(s, kind);
        if (!text || !*text)
            continue;
        text_put(&out, out.length ? ", " : "");
        text_put(&out, text);
    }
    const char *written = step_caches_written(s);
    if (written)
        text_format(&out, "%s%s", out.length ? "; " : "", written);
    const char *own = trace_private_text(&s->own, s->scratch);
    if (own)
        text_format(&out, "%s%s", out.length ? "; " : "", demangle_text(s->scratch, own));
    if (out.length > 0)
        put(lines, false, out.bytes);
}

static void say_events(struct stepper *s, struct step_lines *lines)
{
    const struct step_record *record = &s->records[s->at - 1];
    if (record->flags & STEP_PARTS)
        put(lines, true, "The threads part here: the condition holds for some of them only.");
    if (record->flags & STEP_RACES)
        put(lines, true,
            arena_printf(s->scratch, "A data race: %s.",
                         s->race_says ? s->race_says : "another location"));
    if (s->loop.length > 0 && s->at > s->loop.stem)
        put(lines, true,
            arena_printf(s->scratch, "Round %" PRIu64 " of a loop that never ends.",
                         (s->at - 1 - s->loop.stem) / s->loop.length + 1));
    if (s->at == s->count && s->loop.length == 0)
        put(lines, true, arena_printf(s->scratch, "The end: %s.", ending(s)));
}

void step_says(struct stepper *s, struct step_lines *lines)
{
    if (s->at == 0) {
        put(lines, false, "The start: nothing has been executed yet.");
        return;
    }
    const struct step_record *record = &s->records[s->at - 1];
    uint32_t line = stepper_line(s, record->stm);
    const char *who = actor_text(s, threads_text(s->scratch, s->ran, s->ran_first));
    if (stepper_is_environment(s))
        who = record->stm == CODE_NONE ? "a silent step"
                                       : arena_printf(s->scratch, "memory operation of %s", who);
    const char *where = line ? arena_printf(s->scratch, "line %" PRIu32 ": ", line) : "";
    put(lines, false,
        arena_printf(s->scratch, "%s, %s%s   (rule %s)", who, where, plain(s, s->executed),
                     rule_table[record->rule].name));
    say_accesses(s, lines);
    say_events(s, lines);
}

/* ---- the source ---- */

/* Threads that come to a line next, as ranges: those that are closed, and the one that may still grow. */
struct next {
    const char *closed;
    uint32_t first, last;
    bool any;
};

static const char *next_text(const struct stepper *s, const struct next *next)
{
    const char *closed = next->closed ? next->closed : "";
    if (!next->any)
        return closed;
    if (next->first == next->last)
        return arena_printf(s->scratch, "%s%" PRIu32, closed, next->first);
    return arena_printf(s->scratch, "%s%" PRIu32 "-%" PRIu32, closed, next->first, next->last);
}

static void add_next(const struct stepper *s, struct next *next, uint32_t thread)
{
    if (next->any && next->last + 1 == thread) {
        next->last = thread;
        return;
    }
    if (next->any)
        next->closed = arena_printf(s->scratch, "%s,", next_text(s, next));
    next->first = next->last = thread;
    next->any = true;
}

static void put_next(struct stepper *s, struct next *next)
{
    const struct machine *m = s->machine;
    for (uint32_t i = 0; i < m->actor_count; i++) {
        uint32_t first, line = stepper_line(s, m->semantics->next_stm(m, i));
        if (line == 0 || line > s->source_count)
            continue;
        uint32_t lanes = view_threads(&s->text, i, &first);
        char *letters = ARENA_ARRAY(s->scratch, char, lanes + 1);
        view_letters(&s->text, i, letters);
        for (uint32_t k = 0; k < lanes; k++)
            if (letters[k] == 'a' || letters[k] == 'w' || letters[k] == 'c' || letters[k] == 'm')
                add_next(s, &next[line - 1], first + k);
    }
}

/* Tabs become blanks, and what would speak to the terminal is not said. */
static const char *shown_line(const struct stepper *s, const char *line)
{
    struct text out = text_begin(s->scratch);
    text_put(&out, "");
    for (; *line; line++) {
        bool tab = *line == '\t', control = (unsigned char)*line < ' ' || *line == 0x7f;
        text_put_bytes(&out, tab ? "    " : control ? "?" : line, tab ? 4 : 1);
    }
    return out.bytes;
}

void step_source(struct stepper *s, struct step_lines *lines, uint32_t rows)
{
    struct next *next = ARENA_ARRAY(s->scratch, struct next, s->source_count + 1);
    uint32_t now = s->at > 0 ? stepper_line(s, s->records[s->at - 1].stm) : 0;
    put_next(s, next);
    uint32_t shown = now;
    for (uint32_t i = 0; i < s->source_count && shown == 0; i++)
        shown = next[i].any ? i + 1 : 0;
    uint32_t from = shown > rows / 2 ? shown - rows / 2 : 1;
    if (s->source_count > rows && from + rows > s->source_count + 1)
        from = s->source_count + 1 - rows;
    for (uint32_t i = from; i < from + rows && i <= s->source_count; i++)
        put(lines, i == now,
            arena_printf(s->scratch, "%c%4" PRIu32 " %-8.8s %s", i == now ? '>' : ' ', i,
                         next_text(s, &next[i - 1]), shown_line(s, s->source[i - 1])));
}

/* ---- threads over time ---- */

struct lanes {
    uint32_t rows, columns, column;
    char *cells; /* a row after the other */
};

static void see_column(struct stepper *s, struct lanes *lanes)
{
    for (uint32_t i = 0; i < s->machine->actor_count; i++) {
        uint32_t first, count = view_threads(&s->text, i, &first);
        char letters[LIMIT_TOTAL_THREADS + 2];
        if (first >= lanes->rows)
            break;
        view_letters(&s->text, i, letters);
        for (uint32_t k = 0; k < count && first + k < lanes->rows; k++) {
            char letter = letters[k] == 'a' ? '-' : letters[k] == 'f' ? ' ' : letters[k];
            lanes->cells[(first + k) * lanes->columns + lanes->column] = letter;
        }
    }
}

static void see_lanes(void *context, struct stepper *s, uint64_t step,
                      const struct step_event *event)
{
    struct lanes *lanes = context;
    uint32_t first;
    const char *ran = view_ran(&s->text, event, &first);
    (void)step;
    see_column(s, lanes);
    for (uint32_t i = 0; ran[i] && first + i < lanes->rows; i++)
        if (ran[i] == '1')
            lanes->cells[(first + i) * lanes->columns + lanes->column] =
                event->actor < s->machine->actor_count ? '#' : '+';
    lanes->column++;
}

void step_lanes(struct stepper *s, struct step_lines *lines, uint32_t columns, uint32_t rows)
{
    uint32_t threads = s->program->total_threads;
    struct lanes lanes = {.rows = threads < rows ? threads : rows, .columns = columns + 1};
    uint64_t at = s->at, from = at > columns ? at - columns : 0;
    const struct step_watcher watcher = {&lanes, see_lanes};
    lanes.cells = ARENA_ARRAY(s->scratch, char, (size_t)lanes.rows *lanes.columns);
    memset(lanes.cells, ' ', (size_t)lanes.rows * lanes.columns);
    put(lines, false,
        arena_printf(s->scratch, "steps %" PRIu64 " to %" PRIu64 "%s", from + (at > 0), at,
                     threads > lanes.rows
                         ? arena_printf(s->scratch, ", %" PRIu32 " of %" PRIu32 " threads",
                                        lanes.rows, threads)
                         : ""));
    stepper_look_back(s, columns, &watcher);
    for (uint32_t i = 0; i < lanes.rows; i++)
        put(lines, false,
            arena_printf(s->scratch, "%3" PRIu32 " %.*s", i, (int)lanes.column,
                         lanes.cells + (size_t)i * lanes.columns));
}

/* ---- the stack ---- */

/* As structured kernels and PTX have them; a comparison looks like none. */
static const char *const tokens[] = {"<sync",  "<brk",    "<call",  "<div",
                                     "(sync,", "(break,", "(call,", "(diverge,"};

static bool begins_token(const char *c)
{
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++)
        if (strncmp(c, tokens[i], strlen(tokens[i])) == 0)
            return true;
    return false;
}

/* Tokens stand in lines of their own. */
void step_stack(struct stepper *s, struct step_lines *lines)
{
    uint32_t actor = s->actor;
    const char *text = plain(s, trace_stack(&s->text, actor));
    bool warps = s->text.view == TRACE_WARPS || s->text.view == TRACE_CRS;
    put(lines, false,
        arena_printf(s->scratch, "stack of %s %" PRIu32 ", topmost first",
                     warps ? "warp" : "thread", actor));
    while (*text) {
        const char *end = text;
        if (begins_token(text)) {
            end += strcspn(text, *text == '<' ? ">" : ")");
            end += *end != '\0';
        } else {
            while (*end && !begins_token(end))
                end++;
        }
        size_t length = (size_t)(end - text);
        while (length > 0 && text[length - 1] == ' ')
            length--;
        put(lines, false, arena_printf(s->scratch, "  %.*s", (int)length, text));
        text = end + strspn(end, " ");
    }
}

/* ---- memory ---- */

/* The threads that read, or write, the variable in this step; NULL: none does. */
static const char *who_touches(const struct stepper *s, const struct ast_var *var, bool reads)
{
    char *mask = NULL;
    for (uint32_t i = 0; i < s->access_count; i++) {
        const struct step_access *a = &s->accesses[i];
        if ((a->kind == ACCESS_READ) != reads || program_locate(s->program, a->address).var != var)
            continue;
        if (!mask) {
            mask = ARENA_ARRAY(s->scratch, char, s->program->total_threads + 1);
            memset(mask, '0', s->program->total_threads);
        }
        mask[a->thread] = '1';
    }
    return mask ? threads_text(s->scratch, mask, 0) : NULL;
}

void step_memory(struct stepper *s, struct step_lines *lines)
{
    for (uint32_t i = 0; i < s->program->var_count; i++) {
        const struct ast_var *var = s->program->vars[i].ast;
        if (var->space != SPACE_GLOBAL && var->space != SPACE_SHARED)
            continue;
        const char *writers = who_touches(s, var, false), *readers = who_touches(s, var, true);
        const char *who = writers   ? arena_printf(s->scratch, "   <- written by %s", writers)
                          : readers ? arena_printf(s->scratch, "   -> read by %s", readers)
                                    : "";
        put(lines, writers || readers,
            arena_printf(s->scratch, "%s %s = %s%s", ast_space_names[var->space],
                         demangle_text(s->scratch, var->name), trace_values(&s->text, i), who));
    }
    if (lines->count == 0)
        put(lines, false, "no global or shared memory");
}

/* ---- private values ---- */

/* Registers and variables of functions, as they were written last. */
struct places {
    uint32_t count;
    const char *name[PLACES], *text[PLACES];
    uint64_t step[PLACES];
};

static void see_places(void *context, struct stepper *s, uint64_t step,
                       const struct step_event *event)
{
    struct places *all = context;
    (void)event;
    for (uint32_t i = 0; i < s->own.count; i++) {
        struct trace_private one = {.machine = s->own.machine, .count = 1};
        uint32_t k = 0;
        one.places[0] = s->own.places[i];
        while (k < all->count && strcmp(all->name[k], one.places[0].name) != 0)
            k++;
        if (k == PLACES)
            continue;
        all->count += k == all->count;
        all->name[k] = one.places[0].name;
        all->text[k] = trace_private_text(&one, s->scratch);
        all->step[k] = step;
    }
}

/* A private variable of the file: its values are known without running. */
static bool is_private(const struct stepper *s, const char *name)
{
    for (uint32_t i = 0; i < s->program->var_count; i++) {
        const struct ast_var *var = s->program->vars[i].ast;
        if (s->program->form != FORM_PTX && var->space == SPACE_PRIVATE &&
            strncmp(var->name, name, strcspn(name, "[")) == 0)
            return true;
    }
    return false;
}

static void put_places(struct stepper *s, struct step_lines *lines)
{
    struct places *all = ARENA_NEW(s->scratch, struct places);
    const struct step_watcher watcher = {all, see_places};
    stepper_look_back(s, PLACES_STEPS, &watcher);
    for (uint32_t i = 0; i < all->count; i++)
        if (!is_private(s, all->name[i]))
            put(lines, all->step[i] == s->at,
                arena_printf(s->scratch, "%s   (step %" PRIu64 ")", all->text[i], all->step[i]));
}

void step_values(struct stepper *s, struct step_lines *lines)
{
    for (uint32_t i = 0; i < s->program->var_count && s->program->form != FORM_PTX; i++) {
        const struct ast_var *var = s->program->vars[i].ast;
        if (var->space == SPACE_PRIVATE)
            put(lines, false,
                arena_printf(s->scratch, "%s = %s", var->name, trace_values(&s->text, i)));
    }
    put_places(s, lines);
    if (lines->count == 0)
        put(lines, false, "no private values");
}

/* ---- the rule ---- */

void step_rule(struct stepper *s, struct step_lines *lines)
{
    if (s->at == 0) {
        put(lines, false, "no rule: this is the start");
        return;
    }
    enum rule rule = (enum rule)s->records[s->at - 1].rule;
    put(lines, false,
        arena_printf(s->scratch, "%s of %s: %s", rule_table[rule].name, rule_table[rule].semantics,
                     rule_table[rule].source));
    for (const char *text = rule == RULE_NONE ? "" : view_rule_texts[rule]; *text;) {
        size_t length = strcspn(text, "\n");
        put(lines, false, arena_strndup(s->scratch, text, length));
        text += length + (text[length] == '\n');
    }
}

/* ---- by name ---- */

static void some_source(struct stepper *s, struct step_lines *lines)
{
    step_source(s, lines, SOURCE_ROWS);
}

static void some_lanes(struct stepper *s, struct step_lines *lines)
{
    step_lanes(s, lines, LANES_COLUMNS, LANES_SHOWN);
}

const struct step_part step_parts[] = {
    {"source", some_source}, {"lanes", some_lanes},
    {"stack", step_stack},   {"memory", step_memory},
    {"values", step_values}, {"rule", step_rule},
    {"caches", step_caches}, {NULL, NULL},
};
