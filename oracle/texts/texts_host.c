/*
 * drawn_host.c - host programs over their whole grammar, and beside them what they say: in two contexts with buffers,
 * streams and events of the same names, options in any order. They are read, printed and read again, and never run.
 */
#include "engine/host/host.h"
#include "oracle/drawn/drawn.h"
#include "oracle/texts/texts.h"

#include <string.h>

enum {
    NAMES = 5,
    ARRAYS = 12,
    CONTEXTS = 2,
    STATEMENTS = 14,
    WORDS = 8 /* of an array, at least */
};

struct array {
    const char *name;
    uint32_t context; /* CONTEXTS: of the host */
    uint32_t words;
};

struct maker {
    struct drawn *d;
    struct array arrays[ARRAYS];
    uint32_t count, context, launches;
    bool has_context[CONTEXTS], recorded[CONTEXTS], claims;
    struct text hosts[NAMES], buffers, statements; /* what they say, in this order */
};

static const char *const contexts[] = {"main", "second", "host"};
static const char *const names[NAMES] = {"a", "b", "_c", "stream", "d4"};

static uint32_t below(struct maker *m, uint32_t n)
{
    return drawn_below(m->d, n);
}

static bool once_in(struct maker *m, uint32_t n)
{
    return drawn_once_in(m->d, n);
}

static void put(struct maker *m, const char *word)
{
    static const char *const blanks[] = {" ", "  ", "\t"};
    struct text *text = &m->d->text;
    if (text->length > 0 && text->bytes[text->length - 1] != '\n')
        text_put(text, blanks[below(m, 3)]);
    text_put(text, word);
}

static void put_number(struct maker *m, int64_t value)
{
    put(m, value >= 0 && once_in(m, 3)
               ? arena_printf(m->d->arena, "0x%llx", (unsigned long long)value)
               : arena_printf(m->d->arena, "%lld", (long long)value));
}

static void end_line(struct maker *m)
{
    static const char *const ends[] = {"\n", "\n", "\n\n", " # sync\n", " // end\n", "\r\n"};
    text_put(&m->d->text, ends[below(m, 6)]);
}

#define SAY(m, ...) text_format(&(m)->statements, __VA_ARGS__)

/* ---- values ---- */

static int32_t value(struct maker *m)
{
    static const int32_t bounds[] = {0, 1, -1, INT32_MAX, INT32_MIN, 77};
    int32_t value = bounds[below(m, 6)];
    put_number(m, value);
    return value;
}

/* Up to so many of them, or what all words are. */
static void values(struct maker *m, struct text *out, uint32_t most)
{
    static const char *const fills[] = {
        [HOST_ZERO] = "zero", [HOST_IOTA] = "iota", [HOST_RANDOM] = "random", [HOST_SAME] = "all"};
    uint32_t fill = below(m, 6), count = 1 + below(m, most);
    if (fill < 4) {
        put(m, fills[fill]);
        text_format(out, "fill%u value %d { } ", fill, fill >= HOST_RANDOM ? value(m) : 0);
        return;
    }
    text_format(out, "fill0 value 0 { ");
    put(m, fill == 4 ? "{" : "");
    for (uint32_t i = 0; i < (fill == 4 ? count : 1); i++) {
        put(m, i ? "," : "");
        text_format(out, "%d ", value(m));
    }
    put(m, fill == 4 ? "}" : "");
    text_format(out, "} ");
}

/* How many words the values just drawn are, by what they say; 0: they are no list. */
static uint32_t listed(const struct text *said, size_t from)
{
    uint32_t count = 0;
    for (const char *at = strchr(said->bytes + from, '{') + 2; *at != '}'; at = strchr(at, ' ') + 1)
        count++;
    return count;
}

/* ---- declarations ---- */

static void array(struct maker *m, bool is_host)
{
    const uint32_t name = below(m, NAMES);
    struct array x = {names[name], is_host ? CONTEXTS : m->context, WORDS + below(m, 3)};
    for (uint32_t i = 0; i < m->count; i++)
        if (strcmp(m->arrays[i].name, x.name) == 0 &&
            (m->arrays[i].context == CONTEXTS || m->arrays[i].context == m->context || is_host))
            return;
    if (m->count == ARRAYS)
        return;
    put(m, is_host ? "host" : "buffer");
    put(m, x.name);
    put(m, "[");
    put_number(m, x.words);
    put(m, "]");
    struct text *out = is_host ? &m->hosts[name] : &m->buffers;
    text_format(out, "array %s of %s %u ", x.name, contexts[x.context], x.words);
    if (once_in(m, 2)) {
        put(m, "=");
        values(m, out, WORDS);
    } else {
        text_put(out, "fill0 value 0 { } ");
    }
    end_line(m);
    if (!is_host)
        SAY(m, "buffer %s ", x.name);
    m->arrays[m->count++] = x;
}

/* One that is there: of the host, or of the context at hand. NULL: none. */
static const struct array *visible(struct maker *m)
{
    const struct array *found = NULL;
    uint32_t seen = 0;
    for (uint32_t i = 0; i < m->count; i++)
        if ((m->arrays[i].context == CONTEXTS || m->arrays[i].context == m->context) &&
            below(m, ++seen) == 0)
            found = &m->arrays[i];
    return found;
}

/* The first use of a context makes it. */
static void enter(struct maker *m, uint32_t context)
{
    put(m, m->has_context[context] ? "use" : "context");
    put(m, contexts[context]);
    end_line(m);
    SAY(m, "%s %s ", m->has_context[context] ? "use" : "context", contexts[context]);
    m->context = context;
    m->has_context[context] = true;
}

/* Each context has a stream and an event, of the same names. */
static void handles(struct maker *m)
{
    put(m, "stream");
    put(m, "s");
    end_line(m);
    put(m, "event");
    put(m, "e");
    end_line(m);
}

/* ---- statements ---- */

static void option(struct maker *m, const char *key, uint32_t number)
{
    put(m, key);
    put(m, "=");
    put_number(m, number);
}

/* `stream=s`, or none: what is said of it. */
static const char *stream(struct maker *m, bool given)
{
    if (!given)
        return "-";
    put(m, "stream");
    put(m, "=");
    put(m, "s");
    return "s";
}

static void copy(struct maker *m)
{
    const struct array *from = visible(m), *to = visible(m);
    if (!from || !to)
        return;
    uint32_t first = below(m, 3), into = below(m, 3), count = 1 + below(m, WORDS - 3);
    bool in_stream = once_in(m, 2), early = once_in(m, 2);
    put(m, "copy");
    put(m, from->name);
    put(m, "->");
    put(m, to->name);
    if (early)
        option(m, "count", count);
    if (first)
        option(m, "from", first);
    stream(m, in_stream);
    if (into)
        option(m, "into", into);
    if (!early)
        option(m, "count", count);
    end_line(m);
    SAY(m, "copy %s of %s to %s of %s %u %u %u stream %s ", from->name, contexts[from->context],
        to->name, contexts[to->context], first, into, count, in_stream ? "s" : "-");
}

/* name, or name[first]. */
static uint32_t place(struct maker *m, const struct array *x, bool ranged)
{
    uint32_t first = ranged ? below(m, 3) : 0;
    put(m, x->name);
    if (!ranged)
        return 0;
    put(m, "[");
    put_number(m, first);
    put(m, "]");
    return first;
}

static void set_or_expect(struct maker *m)
{
    const struct array *x = visible(m);
    bool is_set = m->claims || once_in(m, 2), ranged = once_in(m, 2),
         any = !is_set && once_in(m, 3);
    if (!x)
        return;
    put(m, is_set ? "set" : "expect");
    uint32_t first = place(m, x, ranged);
    put(m, is_set ? "=" : any ? "in" : "==");
    SAY(m, "%s %s of %s %u %s ", is_set ? "set" : "expect", x->name, contexts[x->context], first,
        any ? "any" : "all");
    const size_t from = m->statements.length;
    values(m, &m->statements, WORDS - 3);
    end_line(m);
    uint32_t list = listed(&m->statements, from);
    SAY(m, "%u ", any ? 1 : list ? list : is_set ? x->words - first : ranged ? 1 : x->words);
}

static void dimensions(struct maker *m, const char *key, uint32_t size[3])
{
    uint32_t count = 1 + below(m, 3);
    const char *text = "";
    size[0] = size[1] = size[2] = 1;
    for (uint32_t i = 0; i < count; i++) {
        size[i] = 1 + below(m, 4);
        text = arena_printf(m->d->arena, "%s%s%u", text, i ? "x" : "", size[i]);
    }
    put(m, key);
    put(m, "=");
    put(m, text);
}

static void launch(struct maker *m)
{
    uint32_t grid[3] = {3, 1, 1}, block[3] = {2, 1, 1}, shared = once_in(m, 3) ? below(m, 99) : 0;
    bool named = once_in(m, 3), in_stream = once_in(m, 2);
    const struct array *x = visible(m);
    put(m, "launch");
    if (named) {
        const char *name = arena_printf(m->d->arena, "l%u", m->launches++);
        put(m, name);
        put(m, ":");
        SAY(m, "launch %s ", name);
    } else {
        SAY(m, "launch - ");
    }
    put(m, "k");
    if (once_in(m, 2))
        dimensions(m, "block", block);
    stream(m, in_stream);
    if (once_in(m, 2))
        dimensions(m, "grid", grid);
    if (shared)
        option(m, "shared", shared);
    SAY(m, "k %u %u %u %u %u %u shared %u stream %s { ", grid[0], grid[1], grid[2], block[0],
        block[1], block[2], shared, in_stream ? "s" : "-");
    if (x && x->context != CONTEXTS) {
        put(m, "x");
        put(m, "=");
        put(m, x->name);
        SAY(m, "x %s of %s ", x->name, contexts[x->context]);
    }
    if (once_in(m, 2)) {
        put(m, "y=-7");
        SAY(m, "y -7 ");
    }
    end_line(m);
    SAY(m, "} ");
}

static void event(struct maker *m)
{
    bool records = !m->recorded[m->context] || once_in(m, 2), in_stream = once_in(m, 2);
    put(m, records ? "record" : "wait");
    put(m, "e");
    stream(m, in_stream);
    end_line(m);
    m->recorded[m->context] = true;
    SAY(m, "%s e stream %s ", records ? "record" : "wait", in_stream ? "s" : "-");
}

static void sync_or_abort(struct maker *m)
{
    uint32_t kind = below(m, 4);
    if (kind == 3 && m->launches > 0) {
        const char *name = arena_printf(m->d->arena, "l%u", below(m, m->launches));
        put(m, "abort");
        put(m, name);
        SAY(m, "abort %s ", name);
    } else {
        const char *what = kind == 0 ? "s" : kind == 1 && m->recorded[m->context] ? "e" : "";
        put(m, "sync");
        if (*what)
            put(m, what);
        SAY(m, "sync %s ", *what ? what : "-");
    }
    end_line(m);
}

static void free_one(struct maker *m)
{
    const struct array *x = visible(m);
    if (!x || x->context == CONTEXTS)
        return;
    put(m, "free");
    put(m, x->name);
    put(m, "now");
    end_line(m);
    SAY(m, "free %s of %s now ", x->name, contexts[x->context]);
    uint32_t at = (uint32_t)(x - m->arrays);
    m->arrays[at] = m->arrays[--m->count];
}

static void statement(struct maker *m)
{
    switch (below(m, 9)) {
    case 0:
        array(m, once_in(m, 3));
        break;
    case 1:
        copy(m);
        break;
    case 2:
    case 3:
        set_or_expect(m);
        break;
    case 4:
        launch(m);
        break;
    case 5:
        event(m);
        break;
    case 6:
        sync_or_abort(m);
        break;
    case 7:
        if (!m->claims && once_in(m, 2))
            free_one(m);
        break;
    default:
        if (m->has_context[1])
            enter(m, 1 - m->context);
        break;
    }
}

static void claim(struct maker *m)
{
    const struct array *x = visible(m);
    if (x) {
        uint32_t first = below(m, WORDS);
        put(m, "observe");
        put(m, x->name);
        put(m, "[");
        put_number(m, first);
        put(m, "]");
        end_line(m);
        SAY(m, "observe %s of %s %u ", x->name, contexts[x->context], first);
        put(m, "claim sms = 2 : outcomes 1 2 ; stuck");
        end_line(m);
        SAY(m, "claim sms=2 outcomes 1 2 lost 0 stuck 1 ");
    }
    put(m, "claim : never lost");
    end_line(m);
    SAY(m, "claim  outcomes - lost -1 stuck 0 ");
}

static void draw(struct maker *m)
{
    m->has_context[0] = true;
    m->claims = once_in(m, 4);
    text_put(&m->d->text,
             "kernel k\nlaunch(threads=2, blocks=3); global int x; kernel k() { }\nend\n");
    array(m, true);
    array(m, false);
    handles(m);
    if (once_in(m, 2)) {
        enter(m, 1);
        handles(m);
    }
    for (uint32_t i = 0; i < STATEMENTS; i++)
        statement(m);
    if (m->claims)
        claim(m);
    for (uint32_t i = 0; i < NAMES; i++)
        text_put(&m->d->words, m->hosts[i].bytes);
    text_put(&m->d->words, m->buffers.bytes);
    text_put(&m->d->words, m->statements.bytes);
}

/* ---- what is read ---- */

static void tell_values(struct text *out, const struct host_values *v)
{
    text_format(out, "fill%d value %d { ", (int)v->fill, (int)v->value);
    for (uint32_t i = 0; i < v->count; i++)
        text_format(out, "%d ", (int)v->list[i]);
    text_put(out, "} ");
}

static const char *name_of(struct arena *arena, const struct host_program *p, uint32_t array)
{
    const struct host_array *a = &p->arrays[array];
    return arena_printf(arena, "%s of %s", a->name,
                        a->is_host ? "host" : p->contexts[a->context].name);
}

static void tell_launch(struct text *out, const struct host_program *p,
                        const struct host_statement *s)
{
    text_format(out, "launch %s %s %u %u %u %u %u %u shared %u stream %s { ",
                s->name ? s->name : "-", p->kernels[s->kernel].name, s->grid[0], s->grid[1],
                s->grid[2], s->block[0], s->block[1], s->block[2], s->shared,
                s->has_stream ? p->streams[s->stream].name : "-");
    for (uint32_t i = 0; i < s->argument_count; i++)
        text_format(out, "%s %s ", s->arguments[i].name,
                    s->arguments[i].array == HOST_NONE
                        ? s->arguments[i].text
                        : name_of(out->arena, p, s->arguments[i].array));
    text_put(out, "} ");
}

static void tell(struct text *out, const struct host_program *p, const struct host_statement *s)
{
    const char *x = s->array == HOST_NONE ? "" : name_of(out->arena, p, s->array);
    const char *in = s->has_stream ? p->streams[s->stream].name : "-";
    const char *kind = host_kind_names[s->kind];
    switch ((int)s->kind) {
    case HOST_CONTEXT:
    case HOST_USE:
        text_format(out, "%s %s ", kind, p->contexts[s->context].name);
        break;
    case HOST_BUFFER:
        text_format(out, "buffer %s ", p->arrays[s->array].name);
        break;
    case HOST_FREE:
        text_format(out, "free %s %s ", x, s->now ? "now" : "-");
        break;
    case HOST_COPY:
        text_format(out, "copy %s to %s %u %u %u stream %s ", x, name_of(out->arena, p, s->to),
                    s->from, s->into, s->count, in);
        break;
    case HOST_SET:
    case HOST_EXPECT:
        text_format(out, "%s %s %u %s ", kind, x, s->from, s->any ? "any" : "all");
        tell_values(out, &s->values);
        text_format(out, "%u ", s->count);
        break;
    case HOST_LAUNCH:
        tell_launch(out, p, s);
        break;
    case HOST_RECORD:
    case HOST_WAIT:
        text_format(out, "%s %s stream %s ", kind, p->events[s->event].name, in);
        break;
    case HOST_SYNC:
        text_format(out, "sync %s ",
                    s->event != HOST_NONE    ? p->events[s->event].name
                    : s->stream != HOST_NONE ? p->streams[s->stream].name
                                             : "-");
        break;
    case HOST_ABORT:
        text_format(out, "abort %s ", p->statements[s->target].name);
        break;
    default:
        text_format(out, "%s ", kind);
        break;
    }
}

static void tell_array(struct text *out, const struct host_program *p, uint32_t i)
{
    text_format(out, "array %s %u ", name_of(out->arena, p, i), p->arrays[i].words);
    tell_values(out, &p->arrays[i].values);
}

/* Arrays of the host in the order of their names: they have no places among the statements. */
static void tell_arrays(struct text *out, const struct host_program *p)
{
    for (uint32_t name = 0; name < NAMES; name++)
        for (uint32_t i = 0; i < p->array_count; i++)
            if (p->arrays[i].is_host && strcmp(p->arrays[i].name, names[name]) == 0)
                tell_array(out, p, i);
    for (uint32_t i = 0; i < p->array_count; i++)
        if (!p->arrays[i].is_host)
            tell_array(out, p, i);
}

static const char *words_of(struct arena *arena, const struct host_program *p)
{
    struct text out = text_begin(arena);
    tell_arrays(&out, p);
    for (uint32_t i = 0; i < p->count; i++)
        tell(&out, p, &p->statements[i]);
    for (uint32_t i = 0; i < p->observed_count; i++)
        text_format(&out, "observe %s %u ", name_of(arena, p, p->observed[i].array),
                    p->observed[i].word);
    for (uint32_t i = 0; i < p->claim_count; i++)
        text_format(&out, "claim %s outcomes %s lost %d stuck %d ", p->claims[i].options,
                    p->claims[i].outcomes ? p->claims[i].outcomes : "-", p->claims[i].lost,
                    p->claims[i].stuck);
    return out.bytes;
}

static struct host_program *read(struct arena *arena, const char *text, const char **why)
{
    struct diag *diag = ARENA_NEW(arena, struct diag);
    diag_init(diag, "text.host", text, strlen(text));
    struct host_program *program = host_parse(arena, "text.host", text, strlen(text), diag);
    if (!program)
        *why = drawn_first_error(arena, diag);
    return program;
}

const char *texts_of_host(struct arena *arena, uint64_t number, const char **text)
{
    struct drawn d = drawn_begin(arena, number, DRAWN_HOSTS);
    struct maker m = {.d = &d, .buffers = text_begin(arena), .statements = text_begin(arena)};
    const char *why;
    for (uint32_t i = 0; i < NAMES; i++)
        m.hosts[i] = text_begin(arena);
    draw(&m);
    *text = d.text.bytes;
    const struct host_program *p = read(arena, *text, &why), *again;
    if (!p)
        return arena_printf(arena, "read: refused, %s", why);
    const char *differs = drawn_differ(arena, "read", words_of(arena, p), d.words.bytes);
    if (differs)
        return differs;
    *text = host_print(arena, p);
    again = read(arena, *text, &why);
    if (!again)
        return arena_printf(arena, "printed: refused, %s", why);
    return drawn_differ(arena, "printed", words_of(arena, again), d.words.bytes);
}
