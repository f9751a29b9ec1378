/*
 * host_parse.c - the text of a host program, statement by statement.
 *
 * The first error of a line ends that line; the next one is read all the same, so that several errors are told.
 */
#include "engine/base/pcg.h"
#include "engine/base/text.h"
#include "engine/host/host_internal.h"
#include "engine/input/input.h"
#include "engine/input/ptx_kernel.h"

#include <stdlib.h>
#include <string.h>

const char *const host_kind_names[HOST_KIND_COUNT] = {
    [HOST_CONTEXT] = "context", [HOST_USE] = "use",       [HOST_BUFFER] = "buffer",
    [HOST_FREE] = "free",       [HOST_COPY] = "copy",     [HOST_SET] = "set",
    [HOST_LAUNCH] = "launch",   [HOST_RECORD] = "record", [HOST_WAIT] = "wait",
    [HOST_SYNC] = "sync",       [HOST_ABORT] = "abort",   [HOST_DESTROY] = "destroy",
    [HOST_EXPECT] = "expect",
};

bool host_is_path(const char *path)
{
    size_t length = strlen(path);
    return length > 5 && strcmp(path + length - 5, ".host") == 0;
}

int32_t host_value(const struct host_values *values, uint32_t i)
{
    if (i < values->count)
        return values->list[i];
    if (values->fill == HOST_IOTA)
        return (int32_t)i;
    if (values->fill == HOST_SAME)
        return values->value;
    if (values->fill == HOST_RANDOM)
        return (int32_t)(pcg_splitmix(((uint64_t)(uint32_t)values->value << 32) | i) >> 33 & 0xff);
    return 0;
}

/* ---- names ---- */

static uint32_t find_array(const struct host_reader *r, const char *name, bool is_host)
{
    const struct host_program *p = r->program;
    for (uint32_t i = p->array_count; i-- > 0;) {
        const struct host_array *a = &p->arrays[i];
        if (a->is_host == is_host && strcmp(a->name, name) == 0 &&
            (is_host || (a->context == r->context && a->freed == HOST_NONE)))
            return i;
    }
    return HOST_NONE;
}

static uint32_t find_named(const struct host_named *named, uint32_t count, uint32_t context,
                           const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (named[i].name && named[i].context == context && strcmp(named[i].name, name) == 0)
            return i;
    return HOST_NONE;
}

static uint32_t find_context(const struct host_reader *r, const char *name)
{
    for (uint32_t i = 0; i < r->program->context_count; i++)
        if (strcmp(r->program->contexts[i].name, name) == 0)
            return i;
    return HOST_NONE;
}

static uint32_t find_stream(const struct host_reader *r, const char *name)
{
    return find_named(r->program->streams, r->program->stream_count, r->context, name);
}

static uint32_t find_event(const struct host_reader *r, const char *name)
{
    return find_named(r->program->events, r->program->event_count, r->context, name);
}

static bool take_array(struct host_reader *r, uint32_t *array)
{
    const char *name = host_take_name(r, "the name of a buffer or of an array of the host");
    if (!name)
        return false;
    *array = find_array(r, name, false);
    if (*array == HOST_NONE)
        *array = find_array(r, name, true);
    if (*array != HOST_NONE)
        return true;
    r->next--;
    for (uint32_t i = 0; i < r->program->array_count; i++) {
        const struct host_array *a = &r->program->arrays[i];
        if (strcmp(a->name, name) == 0 && a->freed != HOST_NONE && a->context == r->context)
            return host_fail(r, "buffer '%s' was freed in line %u", name,
                             (unsigned)r->program->statements[a->freed].at.line);
        if (strcmp(a->name, name) == 0)
            return host_fail(r, "buffer '%s' belongs to context '%s'", name,
                             r->program->contexts[a->context].name);
    }
    return host_fail(r, "no buffer and no array of the host is named '%s'", name);
}

/* ---- pieces of statements ---- */

static struct host_statement *add(struct host_reader *r, enum host_kind kind)
{
    struct host_program *p = r->program;
    if (p->count == HOST_STATEMENTS) {
        host_fail(r, "more than %d statements", HOST_STATEMENTS);
        r->at = r->end;
        return ARENA_NEW(r->arena, struct host_statement);
    }
    struct host_statement *s = &p->statements[p->count++];
    *s = (struct host_statement){.kind = kind,
                                 .at = {r->line, r->words[0].column},
                                 .context = r->context,
                                 .stream = r->context,
                                 .event = HOST_NONE,
                                 .target = HOST_NONE,
                                 .array = HOST_NONE,
                                 .to = HOST_NONE,
                                 .kernel = HOST_NONE};
    return s;
}

static bool take_stream(struct host_reader *r, struct host_statement *s)
{
    const char *name = host_take_name(r, "the name of a stream");
    if (!name)
        return false;
    s->stream = find_stream(r, name);
    s->has_stream = true;
    if (s->stream != HOST_NONE)
        return true;
    r->next--;
    return host_fail(r, "context '%s' has no stream '%s'", r->program->contexts[r->context].name,
                     name);
}

/* `key =` at the place where the reader is. */
static bool take_key(struct host_reader *r, const char *key)
{
    if (r->next + 1 >= r->word_count || strcmp(r->words[r->next].text, key) != 0 ||
        strcmp(r->words[r->next + 1].text, "=") != 0)
        return false;
    r->next += 2;
    return true;
}

static bool take_size(struct host_reader *r, uint32_t *words)
{
    if (!host_take(r, "["))
        return host_fail(r, "an array is declared as name[WORDS]");
    if (!host_number(r, "a number of words", HOST_ARRAY_WORDS, words))
        return false;
    if (*words == 0) {
        r->next--;
        return host_fail(r, "an array has one word at least");
    }
    return host_take(r, "]") ? true : host_fail(r, "`]` is expected");
}

static bool read_array(struct host_reader *r, bool is_host)
{
    struct host_program *p = r->program;
    struct location at = host_here(r);
    const char *name = host_take_name(r, is_host ? "the name of an array" : "the name of a buffer");
    if (!name)
        return false;
    if (find_array(r, name, false) != HOST_NONE || find_array(r, name, true) != HOST_NONE) {
        r->next--;
        return host_fail(r, "'%s' is there already", name);
    }
    if (p->array_count == HOST_ARRAYS)
        return host_fail(r, "more than %d buffers and arrays", HOST_ARRAYS);
    struct host_array array = {.name = name,
                               .is_host = is_host,
                               .context = is_host ? HOST_NONE : r->context,
                               .made = HOST_NONE,
                               .freed = HOST_NONE,
                               .at = at};
    if (!take_size(r, &array.words))
        return false;
    if (host_take(r, "=") && !host_values_read(r, &array.values))
        return false;
    if (array.values.count > array.words)
        return host_fail(r, "%u values for %u words", (unsigned)array.values.count,
                         (unsigned)array.words);
    if (!is_host) {
        add(r, HOST_BUFFER)->array = p->array_count;
        array.made = p->count - 1;
    }
    p->arrays[p->array_count++] = array;
    return true;
}

static bool read_buffer(struct host_reader *r)
{
    return read_array(r, false);
}

static bool read_host(struct host_reader *r)
{
    return read_array(r, true);
}

static bool read_named(struct host_reader *r, struct host_named *named, uint32_t *count,
                       uint32_t most, const char *what)
{
    struct location at = host_here(r);
    const char *name = host_take_name(r, what);
    if (!name)
        return false;
    if (find_named(named, *count, r->context, name) != HOST_NONE) {
        r->next--;
        return host_fail(r, "'%s' is there already", name);
    }
    if (*count == most)
        return host_fail(r, "more than %u of them", (unsigned)most);
    named[(*count)++] = (struct host_named){name, r->context, at};
    return true;
}

static bool read_stream(struct host_reader *r)
{
    return read_named(r, r->program->streams, &r->program->stream_count, HOST_STREAMS,
                      "the name of a stream");
}

static bool read_event(struct host_reader *r)
{
    return read_named(r, r->program->events, &r->program->event_count, HOST_EVENTS,
                      "the name of an event");
}

/* ---- contexts ---- */

static bool read_context(struct host_reader *r)
{
    struct host_program *p = r->program;
    struct location at = host_here(r);
    const char *name = host_take_name(r, "the name of a context");
    if (!name)
        return false;
    if (find_context(r, name) != HOST_NONE) {
        r->next--;
        return host_fail(r, "'%s' is there already", name);
    }
    if (p->context_count == HOST_CONTEXTS)
        return host_fail(r, "more than %d contexts", HOST_CONTEXTS);
    r->context = p->context_count;
    p->contexts[p->context_count++] = (struct host_named){name, r->context, at};
    add(r, HOST_CONTEXT);
    return true;
}

/* A context that is there: use, destroy. */
static bool take_context(struct host_reader *r, uint32_t *context)
{
    const char *name = host_take_name(r, "the name of a context");
    if (!name)
        return false;
    *context = find_context(r, name);
    if (*context == HOST_NONE) {
        r->next--;
        return host_fail(r, "there is no context '%s'", name);
    }
    for (uint32_t i = 0; i < r->program->count; i++) {
        const struct host_statement *s = &r->program->statements[i];
        if (s->kind == HOST_DESTROY && s->context == *context)
            return host_fail(r, "context '%s' was destroyed in line %u", name,
                             (unsigned)s->at.line);
    }
    return true;
}

static bool read_use(struct host_reader *r)
{
    uint32_t context;
    if (!take_context(r, &context))
        return false;
    r->context = context;
    add(r, HOST_USE);
    return true;
}

static bool read_destroy(struct host_reader *r)
{
    struct host_program *p = r->program;
    uint32_t context;
    if (!take_context(r, &context))
        return false;
    for (uint32_t i = 0; i < p->array_count; i++)
        if (!p->arrays[i].is_host && p->arrays[i].context == context &&
            p->arrays[i].freed == HOST_NONE) {
            p->arrays[i].freed = p->count;
            p->arrays[i].freed_by = HOST_DESTROY;
        }
    struct host_statement *s = add(r, HOST_DESTROY);
    s->context = context;
    s->now = host_take(r, "now");
    return true;
}

/* ---- memory ---- */

static bool read_free(struct host_reader *r)
{
    struct host_program *p = r->program;
    uint32_t array;
    if (!take_array(r, &array))
        return false;
    if (p->arrays[array].is_host) {
        r->next--;
        return host_fail(r, "'%s' is an array of the host, which nobody frees",
                         p->arrays[array].name);
    }
    p->arrays[array].freed = p->count;
    p->arrays[array].freed_by = HOST_FREE;
    struct host_statement *s = add(r, HOST_FREE);
    s->array = array;
    s->now = host_take(r, "now");
    return true;
}

static bool read_copy(struct host_reader *r)
{
    uint32_t array, to;
    if (!take_array(r, &array))
        return false;
    if (!host_take(r, "->"))
        return host_fail(r, "a copy is `copy FROM -> TO`");
    if (!take_array(r, &to))
        return false;
    struct host_statement *s = add(r, HOST_COPY);
    s->array = array;
    s->to = to;
    while (!host_at_end(r)) {
        bool good = take_key(r, "from")   ? host_number(r, "from", HOST_ARRAY_WORDS, &s->from)
                    : take_key(r, "into") ? host_number(r, "into", HOST_ARRAY_WORDS, &s->into)
                    : take_key(r, "count")
                        ? (s->ranged = true, host_number(r, "count", HOST_ARRAY_WORDS, &s->count))
                    : take_key(r, "stream")
                        ? take_stream(r, s)
                        : host_fail(r, "a copy takes from=, into=, count= and stream=");
        if (!good)
            return false;
    }
    if (!s->ranged)
        s->count = r->program->arrays[array].words;
    return true;
}

/* name, or name[first]; of expect and set */
static bool take_place(struct host_reader *r, struct host_statement *s, uint32_t array)
{
    s->array = array;
    s->ranged = host_take(r, "[");
    if (!s->ranged)
        return true;
    if (!host_number(r, "an index", HOST_ARRAY_WORDS, &s->from))
        return false;
    return host_take(r, "]") ? true : host_fail(r, "`]` is expected");
}

static bool read_set(struct host_reader *r)
{
    uint32_t array;
    if (!take_array(r, &array))
        return false;
    struct host_statement *s = add(r, HOST_SET);
    if (!take_place(r, s, array))
        return false;
    if (!host_take(r, "="))
        return host_fail(r, "`=` and values are expected");
    if (!host_values_read(r, &s->values))
        return false;
    s->count = s->values.list ? s->values.count : r->program->arrays[array].words - s->from;
    return true;
}

static bool read_expect(struct host_reader *r)
{
    uint32_t array;
    if (!take_array(r, &array))
        return false;
    struct host_statement *s = add(r, HOST_EXPECT);
    if (!take_place(r, s, array))
        return false;
    s->any = host_take(r, "in");
    if (!s->any && !host_take(r, "=="))
        return host_fail(r, "`==` or `in` is expected");
    if (!host_values_read(r, &s->values))
        return false;
    s->count = s->any           ? 1
               : s->values.list ? s->values.count
               : s->ranged      ? 1
                                : r->program->arrays[array].words;
    return true;
}

/* ---- kernels ---- */

static const char *beside(struct host_reader *r, const char *path)
{
    const char *slash = strrchr(r->path, '/');
    if (*path == '/' || !slash)
        return path;
    return arena_printf(r->arena, "%.*s%s", (int)(slash + 1 - r->path), r->path, path);
}

static bool parse_text(struct host_reader *r, struct host_kernel *k)
{
    struct diag *diag = ARENA_NEW(r->arena, struct diag);
    diag_init(diag, k->path ? k->path : r->path, k->text, k->length);
    const char *settings = k->entry ? arena_printf(r->arena, "entry=%s", k->entry) : NULL;
    k->kernel = ptx_is_ptx(k->text, k->length)
                    ? ptx_kernel_parse_with(r->arena, k->text, k->length, settings, diag)
                    : parse_kernel(r->arena, k->text, k->length, diag);
    if (k->kernel)
        return true;
    const struct diag_entry *e = &diag->entries[0];
    if (k->path)
        return host_fail(r, "%s:%u:%u: %s", k->path, (unsigned)e->at.line, (unsigned)e->at.column,
                         e->text);
    diag_error(r->diag,
               (struct location){k->text_line + e->at.line - (e->at.line > 0), e->at.column}, "%s",
               e->text);
    return false;
}

static bool read_kernel_file(struct host_reader *r, struct host_kernel *k)
{
    struct diag *diag = ARENA_NEW(r->arena, struct diag);
    if (host_at_end(r) || !r->words[r->next].quoted)
        return host_fail(r, "the name of a file in quotes is expected");
    k->path = host_next(r);
    if (take_key(r, "entry") && !(k->entry = host_next(r)))
        return host_fail(r, "the name of an entry is expected");
    const char *path = beside(r, k->path);
    diag_init(diag, path, NULL, 0);
    k->text = parse_read_file(r->arena, path, &k->length, diag);
    if (!k->text)
        return host_fail(r, "%s: %s", path, diag->entries[0].text);
    return parse_text(r, k);
}

static bool read_kernel(struct host_reader *r)
{
    struct host_program *p = r->program;
    struct host_kernel k = {.at = host_here(r)};
    k.name = host_take_name(r, "the name of a kernel");
    if (!k.name)
        return false;
    for (uint32_t i = 0; i < p->kernel_count; i++)
        if (strcmp(p->kernels[i].name, k.name) == 0)
            return host_fail(r, "kernel '%s' is there already", k.name);
    if (p->kernel_count == HOST_KERNELS)
        return host_fail(r, "more than %d kernels", HOST_KERNELS);
    if (host_take(r, "=")) {
        if (!read_kernel_file(r, &k))
            return false;
    } else {
        struct location at = {r->line, r->words[0].column};
        k.text_line = r->line + 1;
        k.text = host_read_block(r, &k.length);
        if (!k.text) {
            diag_error(r->diag, at, "the text of kernel '%s' does not end: a line `end` is missing",
                       k.name);
            return false;
        }
        r->next = r->word_count;
        if (!parse_text(r, &k))
            return false;
    }
    p->kernels[p->kernel_count++] = k;
    return true;
}

/* ---- launches ---- */

/* 4, 4x2, 4x2x1: the words are numbers with an x in them. */
static bool take_dimensions(struct host_reader *r, const char *what, uint32_t *dimensions)
{
    const char *text = host_at_end(r) ? "" : r->words[r->next].text;
    uint64_t product = 1;
    dimensions[0] = dimensions[1] = dimensions[2] = 1;
    for (uint32_t i = 0; i < 3; i++) {
        char *end;
        unsigned long long value = strtoull(text, &end, 10);
        if (end == text || (*end && *end != 'x') || (*end && i == 2) || value >= UINT32_MAX)
            return host_fail(r, "%s is a number of 4, 4x2 or 4x2x2, not `%.40s`", what, text);
        if (value == 0)
            return host_fail(r, "%s of 0", what);
        dimensions[i] = (uint32_t)value;
        product *= value;
        if (product >= UINT32_MAX)
            return host_fail(r, "%s of more than 2^32 - 2", what);
        text = end + 1;
        if (!*end)
            break;
    }
    r->next++;
    return true;
}

static bool take_argument(struct host_reader *r, struct host_statement *s)
{
    struct host_argument *argument = &s->arguments[s->argument_count];
    if (s->argument_count == HOST_ARGUMENTS)
        return host_fail(r, "more than %d arguments", HOST_ARGUMENTS);
    argument->name = host_next(r);
    for (uint32_t i = 0; i < s->argument_count; i++)
        if (strcmp(s->arguments[i].name, argument->name) == 0)
            return host_fail(r, "argument '%s' is given twice", argument->name);
    if (!host_take(r, "="))
        return host_fail(r, "an argument is NAME=VALUE");
    if (host_at_end(r))
        return host_fail(r, "a value is expected");
    argument->text = r->words[r->next].text;
    argument->array = HOST_NONE;
    s->argument_count++;
    if (!strchr("-0123456789", argument->text[0]) && strncmp(argument->text, "f:", 2) != 0) {
        if (!take_array(r, &argument->array))
            return false;
        if (!r->program->arrays[argument->array].is_host)
            return true;
        r->next--;
        return host_fail(r, "'%s' is an array of the host, which no kernel reaches",
                         argument->text);
    }
    r->next++;
    return true;
}

static uint32_t find_kernel(const struct host_program *p, const char *name)
{
    for (uint32_t i = 0; i < p->kernel_count; i++)
        if (strcmp(p->kernels[i].name, name) == 0)
            return i;
    return HOST_NONE;
}

static bool take_launched(struct host_reader *r, struct host_statement *s)
{
    const char *name = host_take_name(r, "the name of a kernel");
    if (!name)
        return false;
    if (host_take(r, ":")) {
        s->name = name;
        name = host_take_name(r, "the name of a kernel");
        if (!name)
            return false;
    }
    s->kernel = find_kernel(r->program, name);
    if (s->kernel != HOST_NONE)
        return true;
    r->next--;
    return host_fail(r, "there is no kernel '%s'", name);
}

static bool read_launch(struct host_reader *r)
{
    struct host_statement s = {.kind = HOST_LAUNCH};
    if (!take_launched(r, &s))
        return false;
    struct host_statement *added = add(r, HOST_LAUNCH);
    added->name = s.name;
    added->kernel = s.kernel;
    const struct ast_launch *own = &r->program->kernels[s.kernel].kernel->launch;
    added->grid[0] = own->blocks;
    added->block[0] = own->threads;
    added->grid[1] = added->grid[2] = added->block[1] = added->block[2] = 1;
    while (!host_at_end(r)) {
        bool good = take_key(r, "grid")     ? take_dimensions(r, "a grid", added->grid)
                    : take_key(r, "block")  ? take_dimensions(r, "a block", added->block)
                    : take_key(r, "shared") ? host_number(r, "shared", 1 << 20, &added->shared)
                    : take_key(r, "stream") ? take_stream(r, added)
                                            : take_argument(r, added);
        if (!good)
            return false;
    }
    return true;
}

static bool read_abort(struct host_reader *r)
{
    const struct host_program *p = r->program;
    const char *name = host_take_name(r, "the name of a launch");
    uint32_t target = HOST_NONE;
    if (!name)
        return false;
    for (uint32_t i = 0; i < p->count; i++)
        if (p->statements[i].kind == HOST_LAUNCH && p->statements[i].name &&
            strcmp(p->statements[i].name, name) == 0)
            target = i;
    if (target == HOST_NONE) {
        r->next--;
        return host_fail(r, "no launch above is named '%s'", name);
    }
    add(r, HOST_ABORT)->target = target;
    return true;
}

/* ---- streams and events ---- */

static bool take_event(struct host_reader *r, uint32_t *event)
{
    const char *name = host_take_name(r, "the name of an event");
    if (!name)
        return false;
    *event = find_event(r, name);
    if (*event != HOST_NONE)
        return true;
    r->next--;
    return host_fail(r, "context '%s' has no event '%s'", r->program->contexts[r->context].name,
                     name);
}

static bool read_event_use(struct host_reader *r, enum host_kind kind)
{
    uint32_t event;
    if (!take_event(r, &event))
        return false;
    struct host_statement *s = add(r, kind);
    s->event = event;
    if (take_key(r, "stream"))
        return take_stream(r, s);
    return true;
}

static bool read_record(struct host_reader *r)
{
    return read_event_use(r, HOST_RECORD);
}

static bool read_wait(struct host_reader *r)
{
    return read_event_use(r, HOST_WAIT);
}

static bool read_sync(struct host_reader *r)
{
    struct host_statement *s = add(r, HOST_SYNC);
    s->stream = HOST_NONE;
    if (host_at_end(r))
        return true;
    const char *name = r->words[r->next].text;
    s->event = find_event(r, name);
    s->stream = find_stream(r, name);
    if (s->event == HOST_NONE && s->stream == HOST_NONE)
        return host_fail(r, "no stream and no event is named '%.40s'", name);
    if (s->event != HOST_NONE)
        s->stream = HOST_NONE;
    r->next++;
    return true;
}

/* ---- claims ---- */

static bool read_device(struct host_reader *r)
{
    struct text text = text_begin(r->arena);
    r->program->device_at = host_here(r);
    for (const char *word; (word = host_next(r));)
        text_format(&text, "%s%s", word,
                    host_at_end(r) || strcmp(word, "=") == 0 ||
                            strcmp(r->words[r->next].text, "=") == 0
                        ? ""
                        : " ");
    r->program->device = text.bytes;
    return true;
}

static bool read_observe(struct host_reader *r)
{
    struct host_program *p = r->program;
    while (!host_at_end(r)) {
        struct host_observed o = {.at = host_here(r)};
        struct host_statement place = {.kind = HOST_EXPECT};
        if (!take_array(r, &o.array) || !take_place(r, &place, o.array))
            return false;
        if (!place.ranged)
            return host_fail(r, "a word is observed: NAME[INDEX]");
        if (place.from >= p->arrays[o.array].words)
            return host_fail(r, "'%s' has %u words", p->arrays[o.array].name,
                             (unsigned)p->arrays[o.array].words);
        if (p->observed_count == HOST_OBSERVED)
            return host_fail(r, "more than %d words are observed", HOST_OBSERVED);
        o.word = place.from;
        p->observed[p->observed_count++] = o;
    }
    return true;
}

/* The rest of the line up to a colon, or all of it. */
static const char *rest_of(struct host_reader *r, const char *stop)
{
    struct text text = text_begin(r->arena);
    while (!host_at_end(r) && strcmp(r->words[r->next].text, stop) != 0) {
        const char *word = host_next(r);
        bool tight = host_at_end(r) || strcmp(word, "=") == 0 || strcmp(word, ",") == 0 ||
                     strcmp(r->words[r->next].text, "=") == 0 ||
                     strcmp(r->words[r->next].text, ",") == 0 ||
                     strcmp(r->words[r->next].text, stop) == 0;
        text_format(&text, "%s%s", word, tight ? "" : " ");
    }
    return text.bytes;
}

static bool read_claim(struct host_reader *r)
{
    struct host_program *p = r->program;
    struct host_claim claim = {.at = {r->line, r->words[0].column}};
    claim.options = rest_of(r, ":");
    if (!host_take(r, ":"))
        return host_fail(r, "a claim is `claim DEVICE: outcomes ...`, `lost`, `never lost`");
    while (!host_at_end(r)) {
        if (host_take(r, "outcomes"))
            claim.outcomes = rest_of(r, ";");
        else if (host_take(r, "lost"))
            claim.lost = 1;
        else if (host_take(r, "stuck"))
            claim.stuck = 1;
        else if (host_take(r, "never") && host_take(r, "lost"))
            claim.lost = -1;
        else
            return host_fail(r, "`outcomes`, `lost`, `never lost` or `stuck` is expected");
        host_take(r, ";");
    }
    if (p->claim_count == p->claim_capacity) {
        uint32_t capacity = p->claim_capacity ? 2 * p->claim_capacity : 16;
        struct host_claim *claims = ARENA_ARRAY(r->arena, struct host_claim, capacity);
        if (p->claim_count)
            memcpy(claims, p->claims, p->claim_count * sizeof *claims);
        p->claims = claims;
        p->claim_capacity = capacity;
    }
    p->claims[p->claim_count++] = claim;
    return true;
}

/* ---- the program ---- */

static const struct {
    const char *word;
    bool (*read)(struct host_reader *r);
} readers[] = {
    {"kernel", read_kernel},   {"host", read_host},     {"buffer", read_buffer},
    {"free", read_free},       {"stream", read_stream}, {"event", read_event},
    {"context", read_context}, {"use", read_use},       {"destroy", read_destroy},
    {"copy", read_copy},       {"set", read_set},       {"launch", read_launch},
    {"abort", read_abort},     {"record", read_record}, {"wait", read_wait},
    {"sync", read_sync},       {"expect", read_expect}, {"observe", read_observe},
    {"claim", read_claim},     {"device", read_device},
};

static void read_statement(struct host_reader *r)
{
    for (uint32_t i = 0; i < sizeof readers / sizeof *readers; i++)
        if (host_take(r, readers[i].word)) {
            if (readers[i].read(r) && !host_at_end(r))
                host_fail(r, "nothing more is expected in this line, not `%.40s`",
                          r->words[r->next].text);
            return;
        }
    host_fail(r, "`%.40s` begins no statement of a host program", r->words[0].text);
}

struct host_program *host_parse(struct arena *arena, const char *path, const char *text,
                                size_t length, struct diag *diag)
{
    struct host_program *program = ARENA_NEW(arena, struct host_program);
    struct host_reader r = {
        .arena = arena, .diag = diag, .program = program, .path = path, .text = text, .at = text};
    r.end = text + length;
    r.words = ARENA_ARRAY(arena, struct host_word, HOST_WORDS);
    program->statements = ARENA_ARRAY(arena, struct host_statement, HOST_STATEMENTS);
    program->device = "";
    program->contexts[0] = (struct host_named){.name = "main"};
    program->context_count = 1;
    program->stream_count = HOST_CONTEXTS; /* their default streams */
    for (uint32_t i = 0; i < HOST_CONTEXTS; i++)
        program->streams[i].context = i;
    while (r.at < r.end) {
        uint32_t errors = diag->count;
        if (host_read_line(&r))
            read_statement(&r);
        else if (diag->count == errors)
            break;
    }
    if (diag->count == 0)
        host_check(arena, program, diag);
    return diag->count == 0 ? program : NULL;
}
