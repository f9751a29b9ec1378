#include "fuzz/check/refused.h"

#include <string.h>

/* ---- what it is ---- */

/* By how an instruction, or a directive, begins; the first that fits. */
static const struct {
    const char *start, *what;
} kinds[] = {
    {"tex.", "it reads a texture in a way that docs/ptx.md does not have"},
    {"tld4.", "it reads a texture in a way that docs/ptx.md does not have"},
    {"txq.", "it asks what kind of texture it is"},
    {"suld.", "it reads a surface in a way that docs/ptx.md does not have"},
    {"sust.", "it writes a surface in a way that docs/ptx.md does not have"},
    {"sured.", "it changes a surface; bind the array as a buffer instead"},
    {"suq.", "it asks what kind of surface it is"},
    {"clusterlaunchcontrol.", "it asks for work of other clusters (sm_100)"},
    {"st.async", "it stores into shared memory of another block of the cluster (sm_90)"},
    {"red.async", "it changes shared memory of another block of the cluster (sm_90)"},
    {"cp.async.bulk.tensor", "it copies a part of a tensor (TMA, sm_90)"},
    {"cp.async.bulk.prefetch", "it asks for a tensor ahead of time (TMA, sm_90)"},
    {"cp.reduce.async.bulk", "it adds a block of memory to another (TMA, sm_90)"},
    {"cp.async.bulk",
     "it is a bulk copy of a kind that is not modelled (docs/ptx.md has those that are)"},
    {"tensormap.", "it changes the description of a tensor (TMA, sm_90)"},
    {"wgmma.", "it multiplies matrices of a group of four warps (sm_90a)"},
    {"tcgen05.", "it multiplies matrices in tensor memory (sm_100a)"},
    {"mma.sp", "it multiplies a sparse matrix"},
    {"mma.", "it multiplies matrices of a shape or type that is not modelled (docs/ptx.md has "
             "those that are)"},
    {"wmma.",
     "it has matrices of a shape or type that is not modelled (docs/ptx.md has those that are)"},
    {"ldmatrix.", "it loads matrices of a shape that is not modelled"},
    {"stmatrix.", "it stores matrices of a shape that is not modelled"},
    {"multimem.", "it accesses the memory of several devices (sm_90)"},
    {"createpolicy.", "it is a hint for caches"},
    {"discard.", "it gives up what a cache line holds"},
};

/* ---- lines of PTX ---- */

static const char *next_line(const char *at, const char *end)
{
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    return newline ? newline + 1 : end;
}

static const char *word_in(const char *at, const char *end, const char *word)
{
    const size_t length = strlen(word);
    for (; at + length <= end; at++)
        if (memcmp(at, word, length) == 0)
            return at;
    return NULL;
}

static bool begins(const char *at, const char *end, const char *word)
{
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    return (size_t)(end - at) >= strlen(word) && memcmp(at, word, strlen(word)) == 0;
}

/* Numbers from `at` on, up to `count` of them. */
static uint32_t numbers(const char *at, const char *end, uint32_t *values, uint32_t count)
{
    uint32_t found = 0;
    while (found < count && at < end) {
        while (at < end && (*at == ' ' || *at == '\t'))
            at++;
        if (at == end || *at < '0' || *at > '9')
            break;
        values[found] = 0;
        for (; at < end && *at >= '0' && *at <= '9'; at++)
            values[found] = values[found] * 10 + (uint32_t)(*at - '0');
        found++;
    }
    return found;
}

struct ptx_text {
    const char *begin, *end;
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Whether .file says that file `number` is the one at `path`. */
static bool is_file(const struct ptx_text *text, uint32_t number, const char *path)
{
    const char *name = base_name(path);
    for (const char *at = text->begin; at < text->end; at = next_line(at, text->end)) {
        const char *end = next_line(at, text->end), *file = word_in(at, end, ".file");
        uint32_t value;
        if (!begins(at, end, ".file") || numbers(file + 5, end, &value, 1) == 0 || value != number)
            continue;
        const char *quote = memchr(file, '"', (size_t)(end - file));
        const char *close = quote ? memchr(quote + 1, '"', (size_t)(end - quote - 1)) : NULL;
        size_t length = close ? (size_t)(close - quote - 1) : 0;
        return length >= strlen(name) && memcmp(close - strlen(name), name, strlen(name)) == 0 &&
               (close[-(long)strlen(name) - 1] == '/' || length == strlen(name));
    }
    return false;
}

/* Of a line of .loc: the place in the source, where the function that it says was called if that is elsewhere. */
static bool place_of(const struct ptx_text *text, const char *at, const char *path,
                     struct location *place)
{
    const char *end = next_line(at, text->end), *inlined = word_in(at, end, "inlined_at");
    uint32_t own[3], call[3];
    bool has_own = numbers(word_in(at, end, ".loc") + 4, end, own, 3) == 3;
    bool has_call = inlined && numbers(inlined + strlen("inlined_at"), end, call, 3) == 3;
    if (has_own && is_file(text, own[0], path))
        *place = (struct location){own[1], own[2]};
    else if (has_call && is_file(text, call[0], path))
        *place = (struct location){call[1], call[2]};
    else
        return false;
    place->column += place->column == 0;
    return true;
}

/* The last place in the source before the line, within its function; before the first one, that. Calls of functions
 * that were called in the source themselves say only where these stand: what came before them is as near. */
static bool find_place(const struct ptx_text *text, uint32_t line, const char *path,
                       struct location *place)
{
    bool found = false;
    uint32_t number = 1;
    for (const char *at = text->begin; at < text->end; at = next_line(at, text->end), number++) {
        const char *end = next_line(at, text->end);
        if (number <= line && (word_in(at, end, ".entry ") || word_in(at, end, ".func")))
            found = false;
        if (begins(at, end, ".loc") && (number <= line || !found))
            found |= place_of(text, at, path, place);
        if (number >= line && found)
            break;
    }
    return found;
}

/* ---- errors ---- */

static const char *instruction_at(const struct ptx_text *text, struct location at, size_t *length)
{
    const char *from = text->begin;
    for (uint32_t line = 1; line < at.line && from < text->end; line++)
        from = next_line(from, text->end);
    const char *end = next_line(from, text->end);
    from += at.column > 0 ? at.column - 1 : 0;
    from = from < end ? from : end;
    while (from > text->begin && !strchr(" \t\n;{}", from[-1])) /* a modifier is what is wrong */
        from--;
    *length = 0;
    while (from + *length < end && !strchr(" \t\n;", from[*length]))
        ++*length;
    return from;
}

static const char *kind_of(const char *instruction, size_t length)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strlen(kinds[i].start) <= length &&
            memcmp(instruction, kinds[i].start, strlen(kinds[i].start)) == 0)
            return kinds[i].what;
    return NULL;
}

static bool is_there(const struct diag *diag, struct location at, const char *text)
{
    for (uint32_t i = 0; i < diag->count && i < DIAG_MAX; i++)
        if (diag->entries[i].at.line == at.line && strcmp(diag->entries[i].text, text) == 0)
            return true;
    return false;
}

static const char *told(struct arena *arena, const struct ptx_text *text,
                        const struct diag_entry *error, bool found)
{
    size_t length;
    const char *instruction = instruction_at(text, error->at, &length);
    const char *kind = kind_of(instruction, length);
    const char *told =
        kind ? arena_printf(arena, "'%.*s' is not supported: %s", (int)length, instruction, kind)
             : arena_printf(arena, "%s: %.*s", error->text, (int)length, instruction);
    return found ? told : arena_printf(arena, "%s (line %u of its PTX)", told, error->at.line);
}

/* No lines, and nothing that is known: the text is told as it stands. */
static bool is_plain(const struct ptx_text *text, const struct diag *ptx)
{
    size_t length;
    const char *instruction = instruction_at(text, ptx->entries[0].at, &length);
    return !word_in(text->begin, text->end, ".loc") && !kind_of(instruction, length);
}

const struct diag *refused_at_source(struct arena *arena, const struct diag *ptx, const char *path,
                                     const char *source, size_t length)
{
    const struct ptx_text text = {ptx->source, ptx->source + ptx->source_length};
    struct diag *diag = ARENA_NEW(arena, struct diag);
    uint32_t kept = ptx->count < DIAG_MAX ? ptx->count : DIAG_MAX;
    if (kept == 0 || is_plain(&text, ptx))
        return ptx;
    diag_init(diag, path, source, length);
    for (uint32_t i = 0; i < kept; i++) {
        struct location at = {0};
        bool found = find_place(&text, ptx->entries[i].at.line, path, &at);
        const char *message = told(arena, &text, &ptx->entries[i], found);
        if (!is_there(diag, at, message))
            diag_error(diag, at, "%s", message);
    }
    diag->count += ptx->count - kept;
    return diag;
}
