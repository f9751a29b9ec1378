/*
 * The text of a kernel given as PTX: head comments with settings and claims, then the module.
 */
#include "engine/base/invariant.h"
#include "engine/input/crs_tokens.h"
#include "engine/input/ptx_kernel_internal.h"
#include "engine/language/parse.h"
#include "engine/language/print.h"

#include <string.h>

/* ---- head comments ---- */

/* Reading the blanks and comments before a text. */
struct head {
    const char *at, *end, *line_start;
    uint32_t line;
};

static bool starts(const struct head *h, const char *text)
{
    size_t length = strlen(text);
    return (size_t)(h->end - h->at) >= length && memcmp(h->at, text, length) == 0;
}

static void head_step(struct head *h)
{
    if (*h->at++ == '\n') {
        h->line++;
        h->line_start = h->at;
    }
}

/* The next line comment, without its slashes; *at is where it starts. False: the head has ended. */
static bool head_comment(struct head *h, const char **text, size_t *length, struct location *at)
{
    static const char mark[] = "\xef\xbb\xbf";
    if (h->line == 1 && h->at == h->line_start && starts(h, mark))
        h->at += strlen(mark);
    while (h->at < h->end) {
        if (*h->at == ' ' || (*h->at >= '\t' && *h->at <= '\r')) {
            head_step(h);
        } else if (starts(h, "/*")) {
            h->at += 2;
            while (h->at < h->end && !starts(h, "*/"))
                head_step(h);
            h->at += starts(h, "*/") ? 2 : 0;
        } else if (starts(h, "//")) {
            const char *stop = memchr(h->at, '\n', (size_t)(h->end - h->at));
            *at = (struct location){h->line, (uint32_t)(h->at - h->line_start) + 3};
            *text = h->at + 2;
            *length = (size_t)((stop ? stop : h->end) - *text);
            h->at = stop ? stop : h->end;
            return true;
        } else {
            return false;
        }
    }
    return false;
}

static struct head head_of(const char *text, size_t length)
{
    return (struct head){.at = text, .end = text + length, .line_start = text, .line = 1};
}

bool ptx_is_ptx(const char *text, size_t length)
{
    struct head h = head_of(text, length);
    const char *comment;
    size_t size;
    struct location at;
    while (head_comment(&h, &comment, &size, &at))
        continue;
    return h.at < h.end && *h.at == '.';
}

/* Skips blanks, and the word if it is next. */
static bool accept_word(const char **text, size_t *length, struct location *at, const char *word)
{
    size_t blanks = 0, size = strlen(word);
    while (blanks < *length && ((*text)[blanks] == ' ' || (*text)[blanks] == '\t'))
        blanks++;
    if (*length - blanks < size || memcmp(*text + blanks, word, size) != 0)
        return false;
    *text += blanks + size;
    *length -= blanks + size;
    at->column += (uint32_t)(blanks + size);
    return true;
}

/* The comment lines that a text ends with: claims may stand there, too, so that no line moves. */
static struct head tail_of(const char *text, size_t length)
{
    struct head h = head_of(text, length);
    const char *line = text + length, *tail = line;
    while (line > text) {
        const char *start = line - 1;
        while (start > text && start[-1] != '\n')
            start--;
        if (*start != '\n' && (line - start < 2 || start[0] != '/' || start[1] != '/'))
            break;
        tail = line = start;
    }
    for (const char *c = text; c < tail; c++)
        h.line += *c == '\n';
    h.at = h.line_start = tail;
    return h;
}

/* A comment that says what is expected; false: there are too many. */
static bool read_claims(struct ptx_settings *s, const char *comment, size_t size,
                        struct location at, uint32_t *group)
{
    if (!accept_word(&comment, &size, &at, "expect") || size == 0 ||
        (*comment != ' ' && *comment != ':'))
        return true;
    if (*group == PTX_LIMIT_SETTINGS) {
        diag_error(s->diag, at, "more than %d lines of claims", PTX_LIMIT_SETTINGS);
        return false;
    }
    parse_expect_comment(s->arena, s->kernel, comment, size, at, (*group)++, s->diag);
    return true;
}

struct ast_kernel *ptx_kernel_parse(struct arena *arena, const char *text, size_t length,
                                    struct diag *diag)
{
    return ptx_kernel_parse_with(arena, text, length, NULL, diag);
}

struct ast_kernel *ptx_kernel_parse_with(struct arena *arena, const char *text, size_t length,
                                         const char *settings, struct diag *diag)
{
    uint32_t errors = diag->count;
    /* Who names an entry asks for what it reaches. */
    const bool some = settings && strstr(settings, "entry=");
    const struct ptx_module *module =
        some ? ptx_parse_some(arena, text, length, diag) : ptx_parse(arena, text, length, diag);
    if (!module)
        return NULL;
    struct ptx_settings s = {.arena = arena, .diag = diag, .kernel = ptx_kernel_of(arena, module)};
    const char *comment;
    size_t size;
    struct location at;
    for (struct head h = head_of(text, length); head_comment(&h, &comment, &size, &at);)
        if (accept_word(&comment, &size, &at, "simtfuzz:")) {
            s.kernel->launch.at = at;
            s.from_head = true;
            ptx_settings_read(&s, comment, size, at);
        }
    s.from_head = false;
    if (settings)
        ptx_settings_read(&s, settings, strlen(settings), (struct location){0, 0});
    if (diag->count != errors || !ptx_kernel_build(&s))
        return NULL;
    uint32_t group = 0;
    for (struct head h = head_of(text, length); head_comment(&h, &comment, &size, &at);)
        if (!read_claims(&s, comment, size, at, &group))
            break;
    for (struct head h = tail_of(text, length); head_comment(&h, &comment, &size, &at);)
        if (!read_claims(&s, comment, size, at, &group))
            break;
    return diag->count == errors && ast_check(s.kernel, diag) ? s.kernel : NULL;
}

/* ---- text ---- */

static const char *dimensions_text(struct arena *arena, const uint32_t d[3])
{
    return d[2] != 1   ? arena_printf(arena, "%ux%ux%u", d[0], d[1], d[2])
           : d[1] != 1 ? arena_printf(arena, "%ux%u", d[0], d[1])
                       : arena_printf(arena, "%u", d[0]);
}

static const char *launch_text(struct arena *arena, const struct ast_kernel *kernel)
{
    const struct ptx_kernel *ptx = kernel->ptx;
    uint32_t block[3], grid[3];
    ptx_kernel_dimensions(kernel, block, grid);
    const char *window = "";
    if (ptx->window > 0 && ptx->window == kernel->launch.blocks && !ptx->whole)
        window = arena_printf(arena, "/%u+%u", ptx->first_block, ptx->window);
    const char *text = arena_printf(arena, "// simtfuzz: entry=%s blocks=%s%s threads=%s warp=%u",
                                    ptx->entry->name, dimensions_text(arena, grid), window,
                                    dimensions_text(arena, block), kernel->launch.warp);
    if (kernel->launch.seed)
        text = arena_printf(arena, "%s seed=0x%llx", text, (unsigned long long)kernel->launch.seed);
    const char *caches = cache_sizes_print(arena, &kernel->launch.caches, ",");
    if (*caches)
        text = arena_printf(arena, "%s caches=%s", text, caches);
    if (ptx->cluster_given)
        text = arena_printf(arena, "%s cluster=%s", text, dimensions_text(arena, ptx->cluster));
    if (ptx->shared_given)
        text = arena_printf(arena, "%s shared=%u", text, ptx->shared_bytes);
    return ptx->raw ? arena_printf(arena, "%s raw\n", text) : arena_printf(arena, "%s\n", text);
}

static const char *stack_text(struct arena *arena, const struct ptx_kernel *ptx)
{
    static const char *const types[] = {
        [CRS_SYNC] = "sync", [CRS_DIVERGE] = "div", [CRS_CALL] = "call", [CRS_BREAK] = "brk"};
    const char *text = "";
    for (uint32_t i = 0; i < ptx->token_count; i++) {
        const struct ptx_token_init *token = &ptx->tokens[i];
        char mask[LIMIT_WARP + 1];
        uint32_t lanes = 0;
        for (uint32_t k = 0; k < LIMIT_WARP; k++) {
            mask[k] = token->mask >> k & 1 ? '1' : '0';
            lanes = token->mask >> k & 1 ? k + 1 : lanes;
        }
        mask[lanes ? lanes : 1] = '\0';
        text = arena_printf(arena, "%s%s%s,%s,%u", text,
                            i ? "+" : "// simtfuzz: stack=", types[token->type], mask, token->pc);
    }
    return ptx->token_count ? arena_printf(arena, "%s\n", text) : "";
}

/* Texts that are joined in one go: there may be thousands. */
struct pieces {
    struct arena *arena;
    const char **texts;
    uint32_t count, capacity;
};

static void add_piece(struct pieces *pieces, const char *text)
{
    INVARIANT(pieces->count < pieces->capacity);
    pieces->texts[pieces->count++] = text;
}

static uint32_t count_values(const struct ptx_values *list)
{
    uint32_t count = 0;
    for (; list; list = list->next)
        count++;
    return count;
}

static uint32_t count_binds(const struct ptx_bind *list)
{
    uint32_t count = 0;
    for (; list; list = list->next)
        count++;
    return count;
}

static void add_binds_text(struct pieces *pieces, const char *key, const struct ptx_bind *list)
{
    for (; list; list = list->next)
        add_piece(pieces, arena_printf(pieces->arena, "// simtfuzz: %s:%s=%s\n", key,
                                       list->parameter, list->text));
}

static void add_values_text(struct pieces *pieces, const char *key, const struct ptx_values *list)
{
    for (; list; list = list->next)
        add_piece(pieces, arena_printf(pieces->arena, "// simtfuzz: %s:%s=%s\n", key, list->name,
                                       list->text));
}

static char *join(struct arena *arena, const struct pieces *pieces)
{
    size_t length = 0;
    for (uint32_t i = 0; i < pieces->count; i++)
        length += strlen(pieces->texts[i]);
    char *text = ARENA_ARRAY(arena, char, length + 1), *at = text;
    for (uint32_t i = 0; i < pieces->count; i++) {
        size_t size = strlen(pieces->texts[i]);
        memcpy(at, pieces->texts[i], size);
        at += size;
    }
    return text;
}

char *ptx_kernel_print(struct arena *arena, const struct ast_kernel *kernel)
{
    const struct ptx_kernel *ptx = kernel->ptx;
    uint32_t count = 6 + count_values(ptx->registers) + count_values(ptx->init);
    count += count_binds(ptx->binds) + count_binds(ptx->memory) + count_binds(ptx->results) +
             count_binds(ptx->textures);
    struct pieces all = {.arena = arena,
                         .texts = ARENA_ARRAY(arena, const char *, count),
                         .capacity = count},
                  *pieces = &all;
    add_piece(pieces, launch_text(arena, kernel));
    add_binds_text(pieces, "bind", ptx->binds);
    add_binds_text(pieces, "memory", ptx->memory);
    add_binds_text(pieces, "texture", ptx->textures);
    add_binds_text(pieces, "result", ptx->results);
    add_values_text(pieces, "reg", ptx->registers);
    add_piece(pieces, stack_text(arena, ptx));
    add_values_text(pieces, "init", ptx->init);
    add_piece(pieces, print_expect_comments(arena, kernel->expects));
    add_piece(pieces, print_progress(arena, kernel, kernel->progress));
    add_piece(pieces, "\n");
    add_piece(pieces, ptx_print(arena, ptx->module));
    return join(arena, pieces);
}
