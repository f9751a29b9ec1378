#include "fuzz/programs/host_gen.h"

#include "engine/base/pcg.h"
#include "engine/base/text.h"
#include "engine/host/host.h"

#include <string.h>

enum { WORDS = 8, BUFFERS = 5, STREAMS = 4, CONTEXTS = 2, OPS = 14, DEFAULT_STREAM = 0 };
enum { ARRAYS = BUFFERS + 2 /* of the host, behind those of the device */ };

/* Work of one stream, up to which somebody knows: [stream] = so many of its operations have ended. */
struct clock {
    uint32_t of[STREAMS];
};

struct op { /* a place in a stream; count 0: nobody */
    uint32_t stream, count;
};

struct buffer {
    int32_t values[WORDS];
    struct op writer;
    struct op readers[STREAMS]; /* the last one of each stream */
};

struct world { /* a context */
    struct buffer buffers[ARRAYS];
    uint32_t streams, counts[STREAMS]; /* operations put into each stream */
    struct clock known[STREAMS];       /* what has ended when the stream's next operation begins */
    struct clock host;
    uint32_t events, launches;
    uint32_t early
        [STREAMS]; /* an event that its stream has recorded, and nobody waited for yet, + 1; 0: none */
};

struct maker {
    struct arena *arena;
    struct pcg rng;
    struct text text;
    struct world worlds[CONTEXTS];
    uint32_t world_count, current;
    bool wants_race, races;
    bool left_out; /* of the operation at hand */
    const char *why;
};

static uint32_t below(struct maker *m, uint32_t bound)
{
    return pcg_below(&m->rng, bound);
}

static struct world *world(struct maker *m)
{
    return &m->worlds[m->current];
}

static void merge(struct clock *clock, const struct clock *other)
{
    for (uint32_t s = 0; s < STREAMS; s++)
        if (other->of[s] > clock->of[s])
            clock->of[s] = other->of[s];
}

static const char *stream_name(uint32_t stream)
{
    static const char *const names[STREAMS] = {"", "s", "t", "u"};
    return names[stream];
}

/* Arrays of the host are of all contexts: each has its own of them. */
static const char *buffer_name(struct maker *m, uint32_t buffer)
{
    return buffer < BUFFERS ? arena_printf(m->arena, "%c", 'a' + (int)buffer)
                            : arena_printf(m->arena, "h%u%c", (unsigned)m->current,
                                           'a' + (int)(buffer - BUFFERS));
}

static void put_stream(struct maker *m, uint32_t stream)
{
    if (stream != DEFAULT_STREAM)
        text_format(&m->text, " stream=%s", stream_name(stream));
    text_put(&m->text, "\n");
}

/* ---- kernels ---- */

enum kernel { SCALE, ROTATE, ADD, REVERSE, LAST, KERNELS };
static const char *const kernel_names[KERNELS] = {"scale", "rotate", "add", "reverse", "last"};

static void put_kernels(struct maker *m)
{
    text_put(&m->text, "kernel scale\n"
                       "    launch(threads = 4, warp = 2);\n"
                       "    global int src[8];\n"
                       "    global int dst[8];\n"
                       "    private int i;\n"
                       "    kernel scale() {\n"
                       "        i = bid * threads + tid;\n"
                       "        dst[i] = src[i] * 3 + 1;\n"
                       "    }\n"
                       "end\n"
                       "kernel rotate\n"
                       "    launch(threads = 4, warp = 4);\n"
                       "    global int src[8];\n"
                       "    global int dst[8];\n"
                       "    private int i;\n"
                       "    kernel rotate() {\n"
                       "        i = bid * threads + tid;\n"
                       "        dst[i] = src[(i + 1) % 8];\n"
                       "    }\n"
                       "end\n"
                       "kernel add\n"
                       "    launch(threads = 2);\n"
                       "    global int dst[8];\n"
                       "    private int i;\n"
                       "    kernel add() {\n"
                       "        i = bid * threads + tid;\n"
                       "        dst[i] = dst[i] + i;\n"
                       "    }\n"
                       "end\n"
                       "kernel reverse\n"
                       "    launch(threads = 4, warp = 2);\n"
                       "    global int src[8];\n"
                       "    global int dst[8];\n"
                       "    shared int part[4];\n"
                       "    kernel reverse() {\n"
                       "        part[tid] = src[bid * threads + tid];\n"
                       "        barrier();\n"
                       "        dst[bid * threads + tid] = part[threads - 1 - tid];\n"
                       "    }\n"
                       "end\n"
                       "kernel last\n" /* the block that ends last takes the sum */
                       "    launch(threads = 1);\n"
                       "    global int src[8];\n"
                       "    global int dst[8];\n"
                       "    global int sum[1];\n"
                       "    global int done[1];\n"
                       "    private int t;\n"
                       "    kernel last() {\n"
                       "        atomic_add(sum[0], src[bid]);\n"
                       "        membar();\n"
                       "        t = atomic_add(done[0], 1);\n"
                       "        if (t == blocks - 1) {\n"
                       "            t = atomic_exch(sum[0], 0);\n"
                       "            atomic_exch(done[0], 0);\n"
                       "            dst[0] = t;\n"
                       "        }\n"
                       "    }\n"
                       "end\n");
}

/* What the kernel makes of its buffers; src and dst may not be one. */
static void run_kernel(enum kernel kernel, const int32_t *src, int32_t *dst)
{
    int32_t sum = 0;
    for (int32_t i = 0; i < WORDS; i++) {
        switch (kernel) {
        case SCALE:
            dst[i] = (int32_t)((uint32_t)src[i] * 3 + 1);
            break;
        case ROTATE:
            dst[i] = src[(i + 1) % WORDS];
            break;
        case ADD:
            dst[i] = (int32_t)((uint32_t)dst[i] + (uint32_t)i);
            break;
        case REVERSE:
            dst[i] = src[i / 4 * 4 + 3 - i % 4];
            break;
        case LAST:
        case KERNELS:
            sum = (int32_t)((uint32_t)sum + (uint32_t)src[i]);
            break;
        }
    }
    if (kernel == LAST)
        dst[0] = sum;
}

/* ---- order ---- */

static bool is_known(const struct clock *clock, struct op op)
{
    return op.count == 0 || clock->of[op.stream] >= op.count;
}

static uint32_t new_event(struct maker *m)
{
    uint32_t event = world(m)->events++;
    text_format(&m->text, "event e%u\n", (unsigned)event);
    return event;
}

/* An event is recorded before the operation, too: who waits for it waits for its last record. */
static void record_early(struct maker *m, uint32_t stream)
{
    struct world *w = world(m);
    if (w->early[stream] || below(m, 3) > 0)
        return;
    w->early[stream] = 1 + new_event(m);
    text_format(&m->text, "record e%u", (unsigned)(w->early[stream] - 1));
    put_stream(m, stream);
}

/* The host has waited for the stream's operations up to its last one, or for all: what begins now is behind them. */
static void host_waited(struct world *w, uint32_t stream, bool for_all)
{
    for (uint32_t s = 0; s < STREAMS; s++)
        if (for_all || s == stream) {
            merge(&w->host, &w->known[s]);
            w->host.of[s] = w->counts[s];
        }
    for (uint32_t s = 0; s < STREAMS; s++)
        merge(&w->known[s], &w->host);
}

static void put_sync(struct maker *m)
{
    text_put(&m->text, "sync\n");
    host_waited(world(m), DEFAULT_STREAM, true);
}

/* The host waits for all, or for what the stream has been given: for the stream, or an event at its end. */
static void host_waits(struct maker *m, uint32_t stream)
{
    uint32_t how = below(m, 4);
    if (how == 0 && stream != DEFAULT_STREAM) {
        text_format(&m->text, "sync %s\n", stream_name(stream));
    } else if (how == 1) {
        uint32_t event = new_event(m);
        text_format(&m->text, "record e%u", (unsigned)event);
        put_stream(m, stream);
        text_format(&m->text, "sync e%u\n", (unsigned)event);
    } else {
        put_sync(m);
        return;
    }
    host_waited(world(m), stream, false);
}

/* The stream's next operation begins behind `op`: a record there, a wait here; or the host waits. */
static void order(struct maker *m, uint32_t stream, struct op op)
{
    struct world *w = world(m);
    if (m->left_out || op.stream == stream || is_known(&w->known[stream], op))
        return; /* what else the operation waits for might stand in for what was left out */
    if (m->wants_race && !m->races && below(m, 4) > 0) {
        m->races = m->left_out = true;
        m->why = arena_printf(m->arena, "stream '%s' does not wait for operation %u of stream '%s'",
                              stream_name(stream), (unsigned)op.count, stream_name(op.stream));
        return;
    }
    if (below(m, 4) == 0) {
        host_waits(m, op.stream);
        return;
    }
    uint32_t event = w->early[op.stream] ? w->early[op.stream] - 1 : new_event(m);
    w->early[op.stream] = 0;
    text_format(&m->text, "record e%u", (unsigned)event);
    put_stream(m, op.stream);
    text_format(&m->text, "wait e%u", (unsigned)event);
    put_stream(m, stream);
    merge(&w->known[stream], &w->known[op.stream]);
    w->known[stream].of[op.stream] = w->counts[op.stream];
}

static struct op begin(struct maker *m, uint32_t stream)
{
    struct world *w = world(m);
    m->left_out = false;
    merge(&w->known[stream], &w->host);
    w->counts[stream]++;
    w->known[stream].of[stream] = w->counts[stream];
    return (struct op){stream, w->counts[stream]};
}

static void order_read(struct maker *m, uint32_t stream, const struct buffer *b)
{
    order(m, stream, b->writer);
}

static void order_write(struct maker *m, uint32_t stream, const struct buffer *b)
{
    order(m, stream, b->writer);
    for (uint32_t s = 0; s < STREAMS; s++)
        order(m, stream, b->readers[s]);
}

static void note_write(struct buffer *b, struct op op)
{
    b->writer = op;
    memset(b->readers, 0, sizeof b->readers);
}

/* ---- operations ---- */

/* The variables of `last` belong to the kernel, so two launches of it are never under way at a time: they take one
 * stream. */
static void make_launch(struct maker *m)
{
    struct world *w = world(m);
    enum kernel kernel = (enum kernel)below(m, KERNELS);
    uint32_t stream = kernel == LAST ? DEFAULT_STREAM : below(m, w->streams);
    uint32_t src = below(m, BUFFERS), dst = (src + 1 + below(m, BUFFERS - 1)) % BUFFERS;
    if (kernel != ADD)
        order_read(m, stream, &w->buffers[src]);
    order_write(m, stream, &w->buffers[dst]);
    record_early(m, stream);
    struct op op = begin(m, stream);
    text_format(&m->text, "launch l%u%u: %s grid=%d block=%d", (unsigned)m->current,
                (unsigned)w->launches++, kernel_names[kernel],
                kernel == LAST  ? WORDS
                : kernel == ADD ? 4
                                : 2,
                kernel == LAST  ? 1
                : kernel == ADD ? 2
                                : 4);
    if (kernel != ADD)
        text_format(&m->text, " src=%s", buffer_name(m, src));
    text_format(&m->text, " dst=%s", buffer_name(m, dst));
    put_stream(m, stream);
    if (kernel != ADD)
        w->buffers[src].readers[stream] = op;
    run_kernel(kernel, w->buffers[src].values, w->buffers[dst].values);
    note_write(&w->buffers[dst], op);
}

/* A part of the words, or all of them. Where a race is wanted all: those of two parts may have none. */
struct part {
    uint32_t from, into, count;
};

static struct part draw_part(struct maker *m)
{
    struct part p = {0, 0, WORDS};
    if (m->wants_race || below(m, 3) > 0)
        return p;
    p.count = 1 + below(m, WORDS - 1);
    p.from = below(m, WORDS - p.count + 1);
    p.into = below(m, WORDS - p.count + 1);
    return p;
}

static void put_part(struct maker *m, const struct part *p)
{
    if (p->from)
        text_format(&m->text, " from=%u", (unsigned)p->from);
    if (p->into)
        text_format(&m->text, " into=%u", (unsigned)p->into);
    if (p->count != WORDS)
        text_format(&m->text, " count=%u", (unsigned)p->count);
}

/* Without a name the host waits for all that the stream has, and copies. */
static void make_copy(struct maker *m)
{
    struct world *w = world(m);
    uint32_t stream = w->streams > 1 && below(m, 3) ? 1 + below(m, w->streams - 1) : DEFAULT_STREAM;
    uint32_t src = below(m, ARRAYS), dst = (src + 1 + below(m, ARRAYS - 1)) % ARRAYS;
    const struct part p = draw_part(m);
    order_read(m, stream, &w->buffers[src]);
    order_write(m, stream, &w->buffers[dst]);
    struct op op = begin(m, stream);
    const char *from = buffer_name(m, src);
    text_format(&m->text, "copy %s -> %s", from, buffer_name(m, dst));
    put_part(m, &p);
    put_stream(m, stream);
    w->buffers[src].readers[stream] = op;
    memmove(w->buffers[dst].values + p.into, w->buffers[src].values + p.from,
            p.count * sizeof w->buffers[dst].values[0]);
    note_write(&w->buffers[dst], op);
    if (stream == DEFAULT_STREAM)
        host_waited(w, stream, false);
}

/* Whether the host knows that all is over that accesses the array. */
static bool host_may_write(const struct world *w, const struct buffer *b)
{
    bool may = is_known(&w->host, b->writer);
    for (uint32_t s = 0; s < STREAMS; s++)
        may = may && is_known(&w->host, b->readers[s]);
    return may;
}

/* The host writes one of its arrays, or reads it: at once. */
static void make_access(struct maker *m)
{
    struct world *w = world(m);
    uint32_t number = BUFFERS + below(m, ARRAYS - BUFFERS), word = below(m, WORDS);
    struct buffer *b = &w->buffers[number];
    if (!host_may_write(w, b))
        put_sync(m);
    if (below(m, 2) && !m->races) {
        text_format(&m->text, "expect %s[%u] ", buffer_name(m, number), (unsigned)word);
        text_format(&m->text, below(m, 2) ? "== %d\n" : "in {-1, %d}\n", (int)b->values[word]);
        return;
    }
    b->values[word] = (int32_t)below(m, 100) - 20;
    text_format(&m->text, "set %s[%u] = %d\n", buffer_name(m, number), (unsigned)word,
                (int)b->values[word]);
}

/* A launch that is over is told to vanish, which changes nothing. */
static void make_abort(struct maker *m)
{
    struct world *w = world(m);
    if (w->launches == 0)
        return;
    put_sync(m);
    text_format(&m->text, "abort l%u%u\n", (unsigned)m->current, (unsigned)below(m, w->launches));
}

/* VALUES of each kind. */
static void make_values(struct maker *m, struct buffer *b)
{
    uint32_t kind = below(m, 8);
    int32_t base = (int32_t)below(m, 50);
    for (int32_t i = 0; i < WORDS; i++) {
        uint64_t random = pcg_splitmix((uint64_t)base << 32 | (uint32_t)i) >> 33 & 0xff;
        b->values[i] = kind == 0   ? i
                       : kind == 1 ? base
                       : kind == 2 ? (int32_t)random
                       : kind == 3 ? 0
                                   : base + i * (1 + base % 7);
    }
    if (kind < 4)
        text_format(&m->text,
                    kind == 0   ? " = iota\n"
                    : kind == 1 ? " = all %d\n"
                    : kind == 2 ? " = random %d\n"
                                : " = zero\n",
                    (int)base);
    for (int32_t i = 0; i < WORDS && kind >= 4; i++)
        text_format(&m->text, "%s%d%s", i ? ", " : " = {", (int)b->values[i],
                    i + 1 == WORDS ? "}\n" : "");
}

static void make_context(struct maker *m, uint32_t number)
{
    struct world *w = &m->worlds[number];
    m->current = number;
    if (number > 0)
        text_format(&m->text, "context c%u\n", (unsigned)number);
    w->streams = 1 + below(m, STREAMS);
    if (w->streams > STREAMS)
        w->streams = STREAMS;
    for (uint32_t s = 1; s < w->streams; s++)
        text_format(&m->text, "stream %s\n", stream_name(s));
    for (uint32_t b = 0; b < ARRAYS; b++) {
        text_format(&m->text, "%s %s[%d]", b < BUFFERS ? "buffer" : "host", buffer_name(m, b),
                    WORDS);
        make_values(m, &w->buffers[b]);
    }
}

static void put_end(struct maker *m, uint32_t number)
{
    const struct world *w = &m->worlds[number];
    if (m->world_count > 1)
        text_format(&m->text, "use %s\n",
                    number ? arena_printf(m->arena, "c%u", (unsigned)number) : "main");
    m->current = number;
    text_put(&m->text, "sync\n");
    for (uint32_t b = 0; b < ARRAYS && !m->races; b++) {
        text_format(&m->text, "expect %s == {", buffer_name(m, b));
        for (uint32_t i = 0; i < WORDS; i++)
            text_format(&m->text, "%s%d", i ? ", " : "", (int)w->buffers[b].values[i]);
        text_put(&m->text, "}\n");
    }
    for (uint32_t b = 0; b < BUFFERS; b++)
        if (below(m, 6) == 0)
            text_format(&m->text, "free %s\n", buffer_name(m, b));
    if (number > 0 && below(m, 2))
        text_format(&m->text, "destroy c%u\n", (unsigned)number);
}

/* One program in three is meant for a device that has just as many threads and bytes as its kernels need, or some more,
 * one to three blocks at a time, and multiprocessors and grids as few. */
static void put_device(struct maker *m)
{
    uint32_t threads = 4 * (1 + below(m, 2)) + below(m, 2),
             shared = 16 * (1 + below(m, 2)) + 4 * below(m, 2);
    uint32_t blocks = 1 + below(m, 3), sms = 1 + below(m, 3), grids = 1 + below(m, 3);
    if (below(m, 3) == 0)
        text_format(&m->text, "device threads=%u shared=%u blocks=%u sms=%u grids=%u\n",
                    (unsigned)threads, (unsigned)shared, (unsigned)blocks, (unsigned)sms,
                    (unsigned)grids);
}

/* As it is printed when it has been read: that must say the same. */
static const char *printed(struct arena *arena, const char *text)
{
    struct diag diag;
    diag_init(&diag, "generated.host", text, strlen(text));
    struct host_program *program = host_parse(arena, "generated.host", text, strlen(text), &diag);
    return program ? host_print(arena, program) : text;
}

struct host_made host_gen(struct arena *arena, uint64_t seed, uint64_t number)
{
    struct maker *m = ARENA_NEW(arena, struct maker);
    m->arena = arena;
    m->rng = pcg_derive(seed, PCG_KERNEL, number);
    m->text = text_begin(arena);
    m->wants_race = below(m, 3) == 0;
    m->world_count = 1 + (below(m, 4) == 0);
    put_kernels(m);
    for (uint32_t c = 0; c < m->world_count; c++)
        make_context(m, c);
    uint32_t ops = 2 + below(m, OPS);
    for (uint32_t i = 0; i < ops; i++) {
        uint32_t next = below(m, m->world_count);
        if (next != m->current)
            text_format(&m->text, "use %s\n", next ? "c1" : "main");
        m->current = next;
        uint32_t what = below(m, 16);
        if (what < 4)
            make_copy(m);
        else if (what == 4)
            make_access(m);
        else if (what == 5 && !m->wants_race)
            make_abort(m);
        else
            make_launch(m);
    }
    for (uint32_t c = 0; c < m->world_count; c++)
        put_end(m, c);
    put_device(m);
    const char *text = below(m, 2) ? printed(arena, m->text.bytes) : m->text.bytes;
    return (struct host_made){text, m->races, m->why};
}
