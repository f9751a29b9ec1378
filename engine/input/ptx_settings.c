/*
 * The words of a PTX kernel's settings: key=value, key:name=value.
 */
#include "engine/input/crs_tokens.h"
#include "engine/input/input.h"
#include "engine/input/ptx_kernel_internal.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SHOWN = 60, VALUES_MAX = 1 << 16, TOKENS_MAX = 256 };

struct setting {
    const char *name; /* behind the colon of the key, in the arena; NULL: none */
    const char *value;
    struct location at;
};

static void complain(struct ptx_settings *s, const struct setting *w, const char *what)
{
    diag_error(s->diag, w->at, "%s, not '%.*s'", what, SHOWN, w->value);
}

/* ---- numbers ---- */

/* Decimal or 0x; all of the text up to `end`. */
static bool parse_number(const char *text, const char *end, uint64_t *value)
{
    bool hex = end - text > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    uint64_t base = hex ? 16 : 10;
    *value = 0;
    text += hex ? 2 : 0;
    if (text == end)
        return false;
    for (; text < end; text++) {
        char c = *text;
        uint64_t digit = c >= '0' && c <= '9'          ? (uint64_t)(c - '0')
                         : hex && c >= 'a' && c <= 'f' ? (uint64_t)(c - 'a') + 10
                         : hex && c >= 'A' && c <= 'F' ? (uint64_t)(c - 'A') + 10
                                                       : 99;
        if (digit >= base || *value > (UINT64_MAX - digit) / base)
            return false;
        *value = *value * base + digit;
    }
    return true;
}

static bool parse_signed(const char *text, const char *end, uint64_t *value)
{
    bool negative = text < end && *text == '-';
    if (!parse_number(text + negative, end, value) ||
        (negative && *value > (uint64_t)INT64_MAX + 1))
        return false;
    *value = negative ? 0 - *value : *value;
    return true;
}

static const char *text_end(const char *text)
{
    return text + strlen(text);
}

/* 8, 8x4, 8x4x2: each from 1 up to `most`; all of the text up to `stop`. */
static bool parse_dimensions(const char *text, const char *stop, uint32_t most,
                             uint32_t dimensions[3])
{
    dimensions[0] = dimensions[1] = dimensions[2] = 1;
    for (int i = 0; i < 3; i++) {
        uint64_t value;
        const char *end = text + strcspn(text, "x/");
        if (!parse_number(text, end, &value) || value == 0 || value > most)
            return false;
        dimensions[i] = (uint32_t)value;
        if (end == stop)
            return true;
        if (*end != 'x')
            return false;
        text = end + 1;
    }
    return false;
}

/* ---- launch ---- */

static void set_entry(struct ptx_settings *s, const struct setting *w)
{
    s->entry = w->value;
    s->entry_at = w->at;
}

static void set_threads(struct ptx_settings *s, const struct setting *w)
{
    uint32_t given[3];
    if (!parse_dimensions(w->value, text_end(w->value), LIMIT_THREADS, given) ||
        given[0] * given[1] > LIMIT_THREADS || given[0] * given[1] * given[2] > LIMIT_THREADS) {
        complain(s, w, "'threads' are 1 to 1024, in up to three dimensions (8x4)");
        return;
    }
    memcpy(s->kernel->ptx->block, given, sizeof given);
    s->kernel->launch.threads = given[0] * given[1] * given[2];
}

static void set_cluster(struct ptx_settings *s, const struct setting *w)
{
    uint32_t given[3];
    if (!parse_dimensions(w->value, text_end(w->value), PTX_CLUSTER_MOST, given) ||
        given[0] * given[1] * given[2] > PTX_CLUSTER_MOST) {
        complain(s, w, "'cluster' is 1 to 16 blocks, in up to three dimensions (2x2)");
        return;
    }
    memcpy(s->kernel->ptx->cluster, given, sizeof given);
    s->kernel->ptx->cluster_given = true;
}

/* FIRST+COUNT: blocks of a grid that run. */
static bool parse_window(const char *text, uint64_t blocks, struct ptx_kernel *ptx)
{
    uint64_t first, count;
    const char *plus = text + strcspn(text, "+");
    if (*plus == '\0' || !parse_number(text, plus, &first) ||
        !parse_number(plus + 1, text_end(plus), &count) || count == 0 || count > LIMIT_BLOCKS ||
        first >= blocks || count > blocks - first)
        return false;
    ptx->window = (uint32_t)count;
    ptx->first_block = (uint32_t)first;
    return true;
}

static void set_blocks(struct ptx_settings *s, const struct setting *w)
{
    struct ptx_kernel *ptx = s->kernel->ptx;
    uint32_t given[3];
    const char *slash = strchr(w->value, '/');
    const char *end = slash ? slash : text_end(w->value);
    uint64_t blocks = 0;
    ptx->window = ptx->first_block = 0;
    ptx->whole = false;
    if (parse_dimensions(w->value, end, INT32_MAX, given))
        blocks = (uint64_t)given[0] * given[1];
    blocks = blocks > UINT32_MAX ? 0 : blocks * given[2];
    if (blocks == 0 || blocks > UINT32_MAX) {
        complain(s, w, "'blocks' are 1 to 2^31 - 1, in up to three dimensions (2x2)");
        return;
    }
    if (slash && !parse_window(slash + 1, blocks, ptx)) {
        complain(s, w, "blocks=GRID/FIRST+COUNT names up to 64 blocks of the grid");
        return;
    }
    memcpy(ptx->grid, given, sizeof given);
    s->kernel->launch.blocks = slash ? ptx->window : (uint32_t)blocks;
}

static bool read_number(struct ptx_settings *s, const struct setting *w, uint64_t most,
                        uint64_t *value)
{
    if (parse_number(w->value, text_end(w->value), value) && *value <= most)
        return true;
    diag_error(s->diag, w->at, "a number up to %llu is wanted here, not '%.*s'",
               (unsigned long long)most, SHOWN, w->value);
    return false;
}

static void set_warp(struct ptx_settings *s, const struct setting *w)
{
    uint64_t value;
    if (!read_number(s, w, LIMIT_WARP, &value))
        return;
    if (value == 0)
        complain(s, w, "a warp has 1 to 64 lanes");
    else
        s->kernel->launch.warp = (uint32_t)value;
}

static void set_seed(struct ptx_settings *s, const struct setting *w)
{
    uint64_t value;
    if (read_number(s, w, UINT64_MAX, &value))
        s->kernel->launch.seed = value;
}

static void set_caches(struct ptx_settings *s, const struct setting *w)
{
    const char *wrong = cache_sizes_read(s->arena, &s->kernel->launch.caches, w->value);
    if (wrong)
        complain(s, w, wrong);
}

static void set_shared(struct ptx_settings *s, const struct setting *w)
{
    uint64_t value;
    if (!read_number(s, w, (uint64_t)LIMIT_MEMORY_WORDS * 4, &value))
        return;
    s->kernel->ptx->shared_bytes = (uint32_t)value;
    s->kernel->ptx->shared_given = true;
}

static void set_raw(struct ptx_settings *s, const struct setting *w)
{
    (void)w;
    s->kernel->ptx->raw = true;
}

static uint32_t count_values(const char *text)
{
    uint32_t count = 1;
    for (; *text; text++)
        count += *text == ',';
    return count;
}

/* 1,2,3 */
static bool read_numbers(struct arena *arena, struct ptx_values *values)
{
    const char *text = values->text;
    values->count = count_values(text);
    if (values->count > VALUES_MAX)
        return false;
    values->values = ARENA_ARRAY(arena, uint64_t, values->count);
    for (uint32_t i = 0; i < values->count; i++) {
        const char *end = text + strcspn(text, ",");
        if (!parse_signed(text, end, &values->values[i]))
            return false;
        text = end + 1;
    }
    return true;
}

/* ---- parameters ---- */

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Whether the file, behind all links, lies below the folder of the text that names it: who opens a stranger's kernel
 * does not have other files of their own read into its results. */
static bool is_below(const char *path, const char *text_file, bool joined)
{
    const char *slash = text_file ? strrchr(text_file, '/') : NULL;
    char *folder = !slash               ? strdup(".")
                   : slash == text_file ? strdup("/")
                                        : strndup(text_file, (size_t)(slash - text_file));
    char *real_folder = folder ? realpath(folder, NULL) : NULL, *real = realpath(path, NULL);
    size_t length = real_folder ? strlen(real_folder) : 0;
    bool below = real && real_folder && (joined || path[0] != '/') &&
                 strncmp(real, real_folder, length) == 0 && (real[length] == '/' || length == 1);
    free(folder);
    free(real_folder);
    free(real);
    return below;
}

/* Files that were allowed: transformations print a kernel and read it again, where nobody knows any more who named the
 * file. */
enum { ALLOWED_MAX = 64 };
static char *allowed[ALLOWED_MAX];
static pthread_mutex_t allowed_lock = PTHREAD_MUTEX_INITIALIZER;

/* Whether the path is among them; with `add` it is from now on. */
static bool is_allowed(const char *path, bool add)
{
    uint32_t i = 0;
    pthread_mutex_lock(&allowed_lock);
    while (i < ALLOWED_MAX && allowed[i] && strcmp(allowed[i], path) != 0)
        i++;
    if (add && i < ALLOWED_MAX && !allowed[i])
        allowed[i] = strdup(path);
    bool found = i < ALLOWED_MAX && allowed[i];
    pthread_mutex_unlock(&allowed_lock);
    return found;
}

/* What a kernel's own text names, and is not found from here, lies where the kernel lies. */
static bool join_folder(const struct ptx_settings *s, struct ptx_bind *bind)
{
    const char *slash = s->diag->file ? strrchr(s->diag->file, '/') : NULL;
    if (!s->from_head || !slash || bind->path[0] == '/' || access(bind->path, F_OK) == 0)
        return false;
    size_t before = (size_t)(bind->path - bind->text);
    bind->text = arena_printf(s->arena, "%.*s%.*s%s", (int)before, bind->text,
                              (int)(slash + 1 - s->diag->file), s->diag->file, bind->path);
    bind->path = bind->text + before;
    return true;
}

static bool read_file(struct ptx_settings *s, const struct setting *w, struct ptx_bind *bind)
{
    const bool joined = join_folder(s, bind);
    struct diag *diag = ARENA_NEW(s->arena, struct diag);
    size_t length;
    const size_t usual = 4 * (size_t)LIMIT_MEMORY_WORDS;
    char *data = parse_read_bytes(s->arena, bind->path, bind->bytes > usual ? bind->bytes : usual,
                                  &length, diag);
    if (!data) {
        diag_error(s->diag, w->at, "'%.200s': %s", bind->path, diag->entries[0].text);
        return false;
    }
    bool may = !s->from_head || is_below(bind->path, s->diag->file, joined);
    if (!may && !is_allowed(bind->path, false)) {
        complain(
            s, w,
            "a file that a kernel's own text names lies below the kernel's folder; --bind takes "
            "any other");
        return false;
    }
    if (may)
        is_allowed(bind->path, true);
    bind->data = (const uint8_t *)data;
    bind->data_bytes = (uint32_t)(length < bind->bytes ? length : bind->bytes);
    return true;
}

/* "all:-1" */
static bool read_filling(struct ptx_settings *s, const struct setting *w, const char *text,
                         struct ptx_bind *bind)
{
    bind->fill = PTX_FILL_ALL;
    if (parse_signed(text, text_end(text), &bind->value) &&
        (bind->value <= UINT32_MAX || bind->value >= (uint64_t)INT32_MIN))
        return true;
    complain(s, w, "a buffer is filled with words of 32 bits: all:-1");
    return false;
}

/* zero|iota|random|all:WORD|file:PATH */
static bool read_fill(struct ptx_settings *s, const struct setting *w, const char *fill,
                      struct ptx_bind *bind)
{
    if (strcmp(fill, "zero") == 0) {
        bind->fill = PTX_FILL_ZERO;
    } else if (strcmp(fill, "iota") == 0) {
        bind->fill = PTX_FILL_IOTA;
    } else if (strcmp(fill, "random") == 0) {
        bind->fill = PTX_FILL_RANDOM;
    } else if (starts_with(fill, "all:")) {
        return read_filling(s, w, fill + strlen("all:"), bind);
    } else if (starts_with(fill, "file:")) {
        bind->fill = PTX_FILL_FILE;
        bind->path = fill + strlen("file:");
        return read_file(s, w, bind);
    } else {
        complain(s, w, "a buffer is filled with zero, iota, random, all:WORD or file:PATH");
        return false;
    }
    return true;
}

/* BYTES[:FILL] */
static bool read_buffer(struct ptx_settings *s, const struct setting *w, const char *text,
                        struct ptx_bind *bind)
{
    uint64_t bytes;
    const bool is_placed = bind->address != 0;
    const char *end = text + strcspn(text, ":");
    if (!parse_number(text, end, &bytes) || bytes == 0 ||
        bytes > (uint64_t)(is_placed ? LIMIT_PLACED_WORDS : LIMIT_MEMORY_WORDS) * 4) {
        complain(s, w,
                 is_placed ? "placed memory has 1 to 1073741824 bytes"
                           : "a buffer has 1 to 16777216 bytes");
        return false;
    }
    bind->kind = PTX_BIND_BUFFER;
    bind->bytes = (uint32_t)bytes;
    return read_fill(s, w, *end ? end + 1 : "zero", bind);
}

/* FORMAT:SIZE[:WORD..]; *text is behind it. */
static bool read_texture(struct ptx_settings *s, const struct setting *w, const char **text,
                         struct ptx_bind *bind)
{
    struct ptx_texture *texture = ARENA_NEW(s->arena, struct ptx_texture);
    const char *wrong = ptx_texture_read(texture, text);
    bind->texture = texture;
    if (wrong)
        complain(s, w, wrong);
    return !wrong;
}

/* A buffer that is one: FORMAT:SIZE[:WORD..][:FILL] */
static bool read_texture_buffer(struct ptx_settings *s, const struct setting *w, const char *text,
                                struct ptx_bind *bind)
{
    if (!read_texture(s, w, &text, bind))
        return false;
    bind->kind = PTX_BIND_BUFFER;
    bind->bytes = (uint32_t)((ptx_texture_bytes(bind->texture) + 3) / 4 * 4);
    if (bind->bytes <= (uint32_t)LIMIT_MEMORY_WORDS * 4)
        return read_fill(s, w, *text ? text + 1 : "zero", bind);
    complain(s, w, "the memory of a texture has up to 16777216 bytes");
    return false;
}

/* In the place of the one of this name, or behind all. */
static void put_bind(struct ptx_bind **last, struct ptx_bind *bind)
{
    while (*last && strcmp((*last)->parameter, bind->parameter) != 0)
        last = &(*last)->next;
    bind->next = *last ? (*last)->next : NULL;
    *last = bind;
}

/* Behind all: a parameter has a number, too, so another one for it may stand between. */
static void put_bind_last(struct ptx_bind **last, struct ptx_bind *bind)
{
    while (*last && strcmp((*last)->parameter, bind->parameter) != 0)
        last = &(*last)->next;
    *last = *last ? (*last)->next : NULL;
    put_bind(last, bind);
}

/* ADDRESS:BYTES[:FILL] */
static void set_memory(struct ptx_settings *s, const struct setting *w)
{
    struct ptx_bind *memory = ARENA_NEW(s->arena, struct ptx_bind);
    const char *end = w->value + strcspn(w->value, ":");
    *memory = (struct ptx_bind){.parameter = w->name, .text = w->value, .at = w->at};
    if (*end == '\0' || !parse_number(w->value, end, &memory->address) || memory->address == 0 ||
        memory->address % 4 != 0) {
        complain(s, w, "memory is ADDRESS:BYTES[:FILL], the address a multiple of 4");
        return;
    }
    if (read_buffer(s, w, end + 1, memory))
        put_bind(&s->kernel->ptx->memory, memory);
}

/* ADDRESS:FORMAT:SIZE[:WORD..] */
static void set_texture(struct ptx_settings *s, const struct setting *w)
{
    struct ptx_bind *texture = ARENA_NEW(s->arena, struct ptx_bind);
    const char *end = w->value + strcspn(w->value, ":"), *text = *end ? end + 1 : end;
    *texture = (struct ptx_bind){.parameter = w->name, .text = w->value, .at = w->at};
    if (!parse_number(w->value, end, &texture->address) || texture->address % 4 != 0) {
        complain(s, w, "a texture is ADDRESS:FORMAT:SIZE[:WORD..], the address a multiple of 4");
        return;
    }
    if (!parse_number(w->name, text_end(w->name), &texture->value))
        texture->value = 0; /* of a variable */
    if (!read_texture(s, w, &text, texture))
        return;
    if (*text)
        complain(s, w,
                 "a texture has the words clamp, wrap, mirror, border, pitch=BYTES, linear, "
                 "normalized, unit, layers, memory");
    else
        put_bind(&s->kernel->ptx->textures, texture);
}

/* file:PATH */
static void set_result(struct ptx_settings *s, const struct setting *w)
{
    struct ptx_bind *result = ARENA_NEW(s->arena, struct ptx_bind);
    *result = (struct ptx_bind){.parameter = w->name, .text = w->value, .at = w->at};
    result->bytes = 4 * LIMIT_PLACED_WORDS;
    result->path = w->value + strlen("file:");
    if (!starts_with(w->value, "file:"))
        complain(s, w, "what a device left is in a file: result:NAME=file:PATH");
    else if (read_file(s, w, result))
        put_bind(&s->kernel->ptx->results, result);
}

static bool read_shared(struct ptx_settings *s, const struct setting *w, const char *text,
                        struct ptx_bind *bind)
{
    uint64_t bytes;
    if (!parse_number(text, text_end(text), &bytes) || bytes == 0 ||
        bytes > (uint64_t)LIMIT_MEMORY_WORDS * 4) {
        complain(s, w, "shared memory of a parameter has 1 to 16777216 bytes");
        return false;
    }
    bind->kind = PTX_BIND_SHARED;
    bind->bytes = (uint32_t)bytes;
    return true;
}

static bool read_words(struct ptx_settings *s, const struct setting *w, const char *text,
                       struct ptx_bind *bind)
{
    struct ptx_values *words = ARENA_NEW(s->arena, struct ptx_values);
    words->text = text;
    bind->kind = PTX_BIND_WORDS;
    bind->words = words;
    if (read_numbers(s->arena, words))
        return true;
    complain(s, w, "words are numbers joined by ','");
    return false;
}

/* Whether the value fits the type is seen when the entry is known. */
static void set_bind(struct ptx_settings *s, const struct setting *w)
{
    struct ptx_bind *bind = ARENA_NEW(s->arena, struct ptx_bind);
    *bind = (struct ptx_bind){.parameter = w->name, .text = w->value, .at = w->at};
    if (starts_with(w->value, "buffer:") && !read_buffer(s, w, w->value + strlen("buffer:"), bind))
        return;
    const char *texture = w->value + strlen("texture:");
    if (starts_with(w->value, "texture:") && !read_texture_buffer(s, w, texture, bind))
        return;
    if (starts_with(w->value, "shared:") && !read_shared(s, w, w->value + strlen("shared:"), bind))
        return;
    if (starts_with(w->value, "words:") && !read_words(s, w, w->value + strlen("words:"), bind))
        return;
    put_bind_last(&s->kernel->ptx->binds, bind);
}

static bool is_float(const struct ptx_variable *parameter)
{
    return ptx_type_of(parameter->type).kind == PTX_CLASS_FLOAT;
}

static bool float_bits(const char *text, uint32_t bits, uint64_t *value)
{
    char *end;
    double number = strtod(text, &end);
    float single = (float)number;
    uint32_t word;
    if (end == text || *end != '\0')
        return false;
    memcpy(&word, &single, sizeof word);
    memcpy(value, &number, sizeof number);
    *value = bits == 32 ? word : *value;
    return bits >= 32;
}

bool ptx_settings_value(const char *text, const struct ptx_variable *parameter, uint64_t *bits)
{
    uint32_t size = ptx_type_of(parameter->type).bits;
    if (starts_with(text, "f:"))
        return float_bits(text + 2, size, bits);
    if (is_float(parameter))
        return float_bits(text, size, bits);
    if (!parse_signed(text, text_end(text), bits))
        return false;
    uint64_t high = size < 64 ? *bits >> size : 0;
    bool negative = *text == '-' && size < 64;
    if (negative && *bits != 0 ? *bits < UINT64_MAX << (size - 1) : high != 0)
        return false;
    *bits &= size < 64 ? ((uint64_t)1 << size) - 1 : UINT64_MAX;
    return true;
}

/* ---- registers, tokens, shared memory ---- */

static void add_values(struct ptx_values **last, struct ptx_values *values)
{
    while (*last && strcmp((*last)->name, values->name) != 0)
        last = &(*last)->next;
    values->next = *last ? (*last)->next : NULL;
    *last = values;
}

/* 0110 */
static bool read_predicates(struct arena *arena, struct ptx_values *values)
{
    size_t count = strlen(values->text);
    if (count == 0 || count > LIMIT_THREADS || strspn(values->text, "01") != count)
        return false;
    values->count = (uint32_t)count;
    values->values = ARENA_ARRAY(arena, uint64_t, count);
    for (size_t i = 0; i < count; i++)
        values->values[i] = values->text[i] == '1';
    return true;
}

bool ptx_settings_values(struct arena *arena, struct ptx_values *values, bool are_predicates)
{
    return are_predicates ? read_predicates(arena, values) : read_numbers(arena, values);
}

static struct ptx_values *new_values(struct ptx_settings *s, const struct setting *w)
{
    struct ptx_values *values = ARENA_NEW(s->arena, struct ptx_values);
    *values = (struct ptx_values){.name = w->name, .text = w->value, .at = w->at};
    return values;
}

static void set_register(struct ptx_settings *s, const struct setting *w)
{
    add_values(&s->kernel->ptx->registers, new_values(s, w));
}

static void set_init(struct ptx_settings *s, const struct setting *w)
{
    add_values(&s->kernel->ptx->init, new_values(s, w));
}

/* type,mask,address */
static bool read_token(const char *text, const char *end, struct ptx_token_init *token)
{
    static const struct {
        const char *name;
        enum crs_token_type type;
    } types[] = {
        {"sync,", CRS_SYNC}, {"div,", CRS_DIVERGE}, {"call,", CRS_CALL}, {"brk,", CRS_BREAK}};
    size_t i = 0, count = sizeof types / sizeof types[0];
    while (i < count && !starts_with(text, types[i].name))
        i++;
    if (i == count)
        return false;
    token->type = (uint32_t)types[i].type;
    text += strlen(types[i].name);
    uint32_t lane = 0;
    for (; text < end && (*text == '0' || *text == '1') && lane < LIMIT_WARP; text++, lane++)
        token->mask |= (uint64_t)(*text == '1') << lane;
    uint64_t address;
    if (lane == 0 || text >= end || *text != ',' || !parse_number(text + 1, end, &address) ||
        address > UINT32_MAX)
        return false;
    token->pc = (uint32_t)address;
    return true;
}

static void set_stack(struct ptx_settings *s, const struct setting *w)
{
    struct ptx_token_init *tokens = ARENA_ARRAY(s->arena, struct ptx_token_init, TOKENS_MAX);
    uint32_t count = 0;
    for (const char *text = w->value; *text; count++) {
        const char *end = text + strcspn(text, "+");
        if (count == TOKENS_MAX || !read_token(text, end, &tokens[count])) {
            complain(s, w,
                     "tokens are type,mask,address joined by '+', type sync, div, call or brk");
            return;
        }
        text = *end ? end + 1 : end;
    }
    s->kernel->ptx->token_count = count;
    s->kernel->ptx->tokens = tokens;
}

/* ---- words ---- */

static const struct setting_row {
    const char *key;
    bool is_named; /* key:name= */
    bool is_bare;  /* no value */
    void (*set)(struct ptx_settings *, const struct setting *);
} rows[] = {
    {"entry", false, false, set_entry},    {"threads", false, false, set_threads},
    {"blocks", false, false, set_blocks},  {"warp", false, false, set_warp},
    {"seed", false, false, set_seed},      {"shared", false, false, set_shared},
    {"caches", false, false, set_caches},  {"raw", false, true, set_raw},
    {"bind", true, false, set_bind},       {"reg", true, false, set_register},
    {"init", true, false, set_init},       {"stack", false, false, set_stack},
    {"memory", true, false, set_memory},   {"result", true, false, set_result},
    {"texture", true, false, set_texture}, {"cluster", false, false, set_cluster},
};

static void read_word(struct ptx_settings *s, const char *word, struct location at)
{
    size_t key = strcspn(word, ":="), name = strcspn(word, "=");
    struct setting setting = {.at = at, .value = word[name] ? word + name + 1 : ""};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct setting_row *row = &rows[i];
        if (strlen(row->key) != key || memcmp(row->key, word, key) != 0)
            continue;
        if (row->is_named != (word[key] == ':') || row->is_bare != (word[name] == '\0') ||
            (row->is_named && name == key + 1)) {
            diag_error(s->diag, at, "'%s' is written %s%s%s", row->key, row->key,
                       row->is_named ? ":NAME" : "", row->is_bare ? "" : "=VALUE");
            return;
        }
        if (row->is_named)
            setting.name = arena_strndup(s->arena, word + key + 1, name - key - 1);
        row->set(s, &setting);
        return;
    }
    diag_error(s->diag, at, "'%.*s' is no setting", (int)(key > SHOWN ? SHOWN : key), word);
}

void ptx_settings_read(struct ptx_settings *s, const char *text, size_t length, struct location at)
{
    static const char blanks[] = " \t\r\n\v\f";
    char *words = arena_strndup(s->arena, text, length);
    size_t i = 0;
    while (i < length && s->diag->count < DIAG_MAX) {
        if (words[i] == '\0' || strchr(blanks, words[i])) {
            i++;
            continue;
        }
        size_t size = strcspn(words + i, blanks);
        struct location word_at = {at.line, at.column + (uint32_t)i};
        if (s->words++ >= PTX_LIMIT_SETTINGS) {
            if (s->words == PTX_LIMIT_SETTINGS + 1)
                diag_error(s->diag, word_at, "more than %d settings", PTX_LIMIT_SETTINGS);
            return;
        }
        bool is_last = i + size >= length;
        words[i + size] = '\0';
        read_word(s, words + i, word_at);
        i += size + !is_last;
    }
}
