/*
 * drawn_settings.c - the head comments of a kernel given as PTX: settings, a few in a line, the last of a kind
 * counting; and claims.
 */
#include "engine/input/crs_tokens.h"
#include "engine/input/ptx_kernel.h"
#include "oracle/drawn/drawn.h"
#include "oracle/drawn/words.h"

struct head {
    struct drawn *d;
    bool in_line;
    uint32_t grid[3]; /* 0: not all of it runs, or nothing says so */
    bool is_wrong;    /* nobody may take it */
};

/* One setting, in this line or the next one. */
static void put(struct head *h, const char *setting)
{
    bool same = h->in_line && !drawn_once_in(h->d, 3);
    text_put(&h->d->text, same ? " " : h->in_line ? "\n// simtfuzz: " : "// simtfuzz:\t");
    text_put(&h->d->text, setting);
    h->in_line = true;
}

/* What it says; or first something else of the same name, which does not count. */
static void put_last(struct head *h, void (*one)(struct head *h, uint32_t at), uint32_t at)
{
    struct text *words = &h->d->words;
    const size_t length = words->length;
    while (drawn_once_in(h->d, 4)) {
        one(h, at);
        words->length = length;
        words->bytes[length] = '\0';
    }
    one(h, at);
}

static void end_line(struct head *h)
{
    text_put(&h->d->text, h->in_line ? "\n" : "");
    h->in_line = false;
}

static const char *number(struct drawn *d, uint64_t value)
{
    return arena_printf(d->arena, drawn_once_in(d, 3) ? "0x%llx" : "%llu",
                        (unsigned long long)value);
}

/* So many dimensions of up to `most`. */
static const char *dimensions(struct drawn *d, uint32_t most, uint32_t size[3])
{
    uint32_t count = 1 + drawn_below(d, 3);
    const char *text = "";
    for (uint32_t i = 0; i < 3; i++) {
        size[i] = i < count ? 1 + drawn_below(d, most) : 1;
        if (i < count)
            text = arena_printf(d->arena, "%s%s%u", text, i ? "x" : "", size[i]);
    }
    return text;
}

/* ---- the launch ---- */

static void launch(struct head *h)
{
    struct drawn *d = h->d;
    uint32_t threads[3] = {32, 1, 1}, grid[3] = {1, 1, 1}, warp = 32, window = 0, first = 0;
    uint64_t seed = 0;
    if (drawn_once_in(d, 2))
        put(h, "threads=3");
    if (h->in_line || drawn_once_in(d, 2)) {
        const char *text = dimensions(d, 4, threads);
        put(h, arena_printf(d->arena, "threads=%s", text));
    }
    if (!drawn_once_in(d, 3)) {
        const char *text = dimensions(d, 3, grid);
        uint32_t blocks = grid[0] * grid[1] * grid[2];
        bool part = drawn_once_in(d, 2);
        if (drawn_once_in(d, 3))
            put(h, drawn_once_in(d, 2) ? "blocks=2x2x2" : "blocks=3x2/2+4");
        if (part) {
            first = drawn_once_in(d, 2) ? 0 : drawn_below(d, blocks);
            window = 1 + drawn_below(d, blocks - first);
            text = arena_printf(d->arena, "%s/%u+%u", text, first, window);
        }
        put(h, arena_printf(d->arena, "blocks=%s", text));
        for (uint32_t i = 0; i < 3; i++)
            h->grid[i] = part ? 0 : grid[i];
    }
    if (drawn_once_in(d, 2)) {
        warp = 1 + drawn_below(d, LIMIT_WARP);
        if (drawn_once_in(d, 3))
            put(h, "warp=7");
        put(h, arena_printf(d->arena, "warp=%u", warp));
    }
    if (drawn_once_in(d, 2)) {
        if (drawn_once_in(d, 3))
            put(h, "seed=9");
        seed = pcg_next64(&d->rng);
        put(h, arena_printf(d->arena, "seed=%s", number(d, seed)));
    }
    uint32_t lines = drawn_once_in(d, 4) ? 1 + drawn_below(d, 64) : 0;
    uint32_t policy = lines ? drawn_below(d, 4) : 0;
    static const char *const policies[] = {"", ",policy=any", ",policy=first", ",policy=lowest"};
    if (lines)
        put(h, arena_printf(d->arena, "caches=lines=%u%s", lines, policies[policy]));
    text_format(&d->words, "in-ptx launch %u %u %u %llu caches %u 0 0 0 %u ",
                threads[0] * threads[1] * threads[2], warp,
                window ? window : grid[0] * grid[1] * grid[2], (unsigned long long)seed, lines,
                policy);
    text_format(&d->words, "run k grid %u %u %u window %u %u 0 block %u %u %u ", grid[0], grid[1],
                grid[2], window, first, threads[0], threads[1], threads[2]);
}

/* Clusters are at most 16 blocks, and the grid is whole ones in each dimension; else it is refused. */
static void clusters(struct head *h, uint32_t cluster[3])
{
    const bool may_be_any = h->grid[0] > 0;
    const char *text = dimensions(h->d, may_be_any ? 3 : 1, cluster);
    h->is_wrong |= cluster[0] * cluster[1] * cluster[2] > 16;
    for (uint32_t i = 0; i < 3; i++)
        h->is_wrong |= may_be_any && h->grid[i] % cluster[i] != 0;
    put(h, arena_printf(h->d->arena, "cluster=%s", text));
}

static void rest_of_launch(struct head *h)
{
    struct drawn *d = h->d;
    uint32_t cluster[3] = {1, 1, 1};
    bool given = drawn_once_in(d, 2), raw = drawn_once_in(d, 5), has_clusters = drawn_once_in(d, 8);
    uint32_t bytes = given && !drawn_once_in(d, 3) ? drawn_below(d, 5000) : 0;
    if (given)
        put(h, arena_printf(d->arena, "shared=%s", number(d, bytes)));
    if (raw)
        put(h, "raw");
    if (has_clusters)
        clusters(h, cluster);
    text_format(&d->words, "cluster %d %u %u %u shared %d %u %s ", has_clusters, cluster[0],
                cluster[1], cluster[2], given, bytes, raw ? "raw" : "injected");
    if (drawn_once_in(d, 3))
        put(h, "entry=k");
}

/* ---- parameters, memory, textures ---- */

static void say_bind(struct drawn *d, const char *what, const char *name, enum ptx_bind_kind kind,
                     uint64_t value, uint32_t bytes, enum ptx_fill fill, uint64_t address)
{
    text_format(&d->words, "%s %s kind%d value %llx bytes %u fill%d address %llx ", what, name,
                (int)kind, (unsigned long long)value, bytes, (int)fill,
                (unsigned long long)address);
}

static const char *const fills[] = {
    [PTX_FILL_ZERO] = "zero", [PTX_FILL_IOTA] = "iota", [PTX_FILL_RANDOM] = "random"};

/* Even ones are .u64, odd ones .s32; what is not bound is assumed. */
static void assumed(struct head *h, uint32_t at)
{
    const char *name = arena_printf(h->d->arena, "k_param_%u", at);
    if (at % 2 == 0)
        say_bind(h->d, name, "-", PTX_BIND_BUFFER, 0, 4096, PTX_FILL_IOTA, 0);
    else
        say_bind(h->d, name, "-", PTX_BIND_VALUE, 16, 0, PTX_FILL_ZERO, 0);
}

static void bound(struct head *h, uint32_t at)
{
    struct drawn *d = h->d;
    const char *name = arena_printf(d->arena, "k_param_%u", at);
    const char *called = drawn_once_in(d, 2) ? name : arena_printf(d->arena, "%u", at);
    const bool wide = at % 2 == 0;
    uint32_t kind = drawn_below(d, 3), small = drawn_below(d, 1000), fill = drawn_below(d, 4);
    if (kind == 0 && wide) {
        put(h, arena_printf(d->arena, "bind:%s=buffer:%u%s%s", called, 4 * small + 4,
                            fill < 3 ? ":" : "", fill < 3 ? fills[fill] : ""));
        say_bind(d, name, name, PTX_BIND_BUFFER, 0, 4 * small + 4,
                 fill < 3 ? (enum ptx_fill)fill : PTX_FILL_ZERO, 0);
    } else if (kind == 1) {
        put(h, arena_printf(d->arena, "bind:%s=-%u", called, small));
        uint64_t value = 0 - (uint64_t)small;
        say_bind(d, name, name, PTX_BIND_VALUE, wide ? value : (uint32_t)value, 0, PTX_FILL_ZERO,
                 0);
    } else {
        put(h, arena_printf(d->arena, "bind:%s=%s", called, number(d, small)));
        say_bind(d, name, name, PTX_BIND_VALUE, small, 0, PTX_FILL_ZERO, 0);
    }
}

static void memory(struct head *h, uint32_t at)
{
    struct drawn *d = h->d;
    const char *name = arena_printf(d->arena, "m%u", at);
    uint64_t address = 0x600000000000u + ((uint64_t)at << 40);
    uint32_t bytes = 4 + 4 * drawn_below(d, 64), fill = drawn_below(d, 3);
    put(h, arena_printf(d->arena, "memory:%s=0x%llx:%u:%s", name, (unsigned long long)address,
                        bytes, fills[fill]));
    say_bind(d, "memory", name, PTX_BIND_BUFFER, 0, bytes, (enum ptx_fill)fill, address);
}

static void texture(struct head *h, uint32_t at)
{
    static const struct {
        const char *name, *word;
        uint32_t bytes;
    } formats[] = {{"u8", "u8", 1}, {"s16", "signed16", 2}, {"f32", "float32", 4}};
    static const char *const modes[] = {"clamp", "wrap", "mirror", "border"};
    struct drawn *d = h->d;
    uint32_t format = drawn_below(d, 3), channels = 1u << drawn_below(d, 3),
             count = 1 + drawn_below(d, 3), size[3] = {1, 1, 1}, mode[3] = {0, 0, 0};
    bool linear = format == 2 && drawn_once_in(d, 2), normalized = drawn_once_in(d, 2),
         layers = count > 1 && drawn_once_in(d, 3), unit = format < 2 && drawn_once_in(d, 3),
         is_memory = count == 1 && !linear && !normalized && drawn_once_in(d, 2);
    const char *name = arena_printf(d->arena, "%u", at + 7);
    const char *text = arena_printf(d->arena, "texture:%s=4096:%s%s", name, formats[format].name,
                                    channels == 1   ? ""
                                    : channels == 2 ? "x2"
                                                    : "x4");
    for (uint32_t i = 0; i < count; i++) {
        size[i] = 1 + drawn_below(d, 40);
        text = arena_printf(d->arena, "%s%s%u", text, i ? "x" : ":", size[i]);
    }
    /* The first mode is that of all dimensions, the next of all but the first .. */
    for (uint32_t i = 0, given = drawn_below(d, 4); i < given; i++) {
        mode[i] = drawn_below(d, 4);
        text = arena_printf(d->arena, "%s:%s", text, modes[mode[i]]);
        for (uint32_t k = i; k < 3; k++)
            mode[k] = mode[i];
    }
    uint32_t pitch = (size[0] * channels * formats[format].bytes + 15) / 16 * 16;
    if (drawn_once_in(d, 3)) {
        pitch += 16 * drawn_below(d, 3);
        text = arena_printf(d->arena, "%s:pitch=%u", text, pitch);
    }
    put(h, arena_printf(d->arena, "%s%s%s%s%s%s", text, linear ? ":linear" : "",
                        normalized ? ":normalized" : "", unit ? ":unit" : "",
                        layers ? ":layers" : "", is_memory ? ":memory" : ""));
    say_bind(d, "texture", name, PTX_BIND_VALUE, at + 7, 0, PTX_FILL_ZERO, 4096);
    text_format(&d->words,
                "texture %s %u size %u %u %u %u pitch %u modes %u %u %u flags %d%d%d%d%d ",
                formats[format].word, channels, count, size[0], size[1], size[2], pitch, mode[0],
                mode[1], mode[2], linear, normalized, unit, layers, is_memory);
}

/* ---- registers, tokens ---- */

static void one_register(struct head *h, uint32_t at)
{
    struct drawn *d = h->d;
    uint32_t a = drawn_below(d, 100), b = drawn_below(d, 100);
    const char *text = arena_printf(d->arena, "%u,-%u,0x%x", a, b, a);
    put(h, arena_printf(d->arena, "reg:r%u=%s", at, text));
    text_format(&d->words, "register r%u %s ", at, text);
}

static void tokens(struct head *h, uint32_t at)
{
    static const char *const names[] = {
        [CRS_SYNC] = "sync", [CRS_DIVERGE] = "div", [CRS_CALL] = "call", [CRS_BREAK] = "brk"};
    struct drawn *d = h->d;
    const char *text = "";
    for (uint32_t i = at; i > 0; i--) {
        uint32_t type = drawn_below(d, 4), pc = drawn_below(d, 50), lanes = 1 + drawn_below(d, 40);
        uint64_t mask = pcg_next64(&d->rng) & (((uint64_t)1 << lanes) - 1);
        char bits[64];
        for (uint32_t k = 0; k < lanes; k++)
            bits[k] = mask >> k & 1 ? '1' : '0';
        text = arena_printf(d->arena, "%s%s%s,%.*s,%u", text, *text ? "+" : "", names[type],
                            (int)lanes, bits, pc);
        text_format(&d->words, "token %u %llx %u ", type, (unsigned long long)mask, pc);
    }
    put(h, arena_printf(d->arena, "stack=%s", text));
}

/* ---- claims ---- */

static const char *claims(struct head *h)
{
    static const struct {
        const char *token;
        enum ast_claim claim;
    } all[] = {{"race_free", CLAIM_RACE_FREE},
               {"terminates", CLAIM_TERMINATES},
               {"deadlock", CLAIM_DEADLOCK},
               {"stuck", CLAIM_STUCK}};
    static const char *const subjects[] = {"-", "crs", "thread-pc:no-reset"};
    struct drawn *d = h->d;
    const char *words = "";
    for (uint32_t i = drawn_below(d, 3); i > 0; i--) {
        const char *subject = subjects[drawn_below(d, 3)];
        text_format(&d->text, "// expect%s%s", *subject == '-' ? "" : " ",
                    *subject == '-' ? "" : subject);
        for (uint32_t k = 0, count = 1 + drawn_below(d, 2); k < count; k++) {
            uint32_t at = drawn_below(d, 4);
            text_format(&d->text, "%s %s", k ? "," : ":", all[at].token);
            words = arena_printf(d->arena, "%s%s %s %s - { } ", words, k ? "and" : "claim", subject,
                                 words_of_claim[all[at].claim]);
        }
        text_put(&d->text, "\n");
    }
    return words;
}

static void put_all(struct head *h, void (*one)(struct head *h, uint32_t at), uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        put_last(h, one, i);
}

const char *drawn_settings(struct drawn *d, uint32_t parameters, bool *is_wrong)
{
    struct head h = {.d = d};
    launch(&h);
    rest_of_launch(&h);
    for (uint32_t i = 0; i < parameters; i++)
        if (drawn_once_in(d, 4))
            assumed(&h, i);
        else
            put_last(&h, bound, i);
    put_all(&h, memory, drawn_below(d, 3));
    put_all(&h, texture, drawn_below(d, 3));
    put_all(&h, one_register, drawn_below(d, 3));
    if (drawn_once_in(d, 3))
        put_last(&h, tokens, 1 + drawn_below(d, 3));
    end_line(&h);
    *is_wrong = h.is_wrong;
    return claims(&h);
}
