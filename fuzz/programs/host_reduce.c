#include "fuzz/programs/host_reduce.h"

#include "engine/base/text.h"
#include "engine/host/host.h"

#include <string.h>

enum { LINES_MAX = 8192 };

struct reducer {
    struct arena *arena;
    const char *path;
    const struct host_judge_options *options;
    const char **lines; /* whole lines, with their ends */
    size_t *lengths;
    bool *out;
    uint32_t count, tests, most;
    enum host_kind_of_finding kind;
    const char *word;                               /* NULL: any */
    bool reference;                                 /* findings of the reference alone count */
    bool usual;                                     /* without options->settings nothing is wrong */
    bool (*shows)(void *context, const char *text); /* NULL: what is above is kept */
    void *context;
};

const char *host_word_of_line(struct arena *arena, const char *text, uint32_t line)
{
    for (; line > 1 && *text; line--) {
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    return arena_strndup(arena, text, strcspn(text, " \t\n"));
}

bool host_judge_text(struct arena *arena, const char *path, const char *text, size_t length,
                     const struct host_judge_options *options, struct host_verdict *verdict)
{
    struct diag *diag = ARENA_NEW(arena, struct diag);
    struct host_judge_options own = *options;
    const char *why;
    diag_init(diag, path, text, length);
    struct host_program *program = host_parse(arena, path, text, length, diag);
    own.device = DEVICE_SC;
    return program && device_set(arena, &own.device, program->device, &why) &&
           (!own.settings || device_set(arena, &own.device, own.settings, &why)) &&
           host_judge(arena, program, &own, verdict, diag);
}

/* The first finding that fails. */
static const struct host_finding *first(const struct host_verdict *verdict, bool reference)
{
    const struct host_finding *f = verdict->findings;
    while (f && (reference ? f->kind != FINDING_REFERENCE
                           : f->kind == FINDING_FORWARD || f->kind == FINDING_UNKNOWN))
        f = f->next;
    return f;
}

static const char *text_of(const struct reducer *r)
{
    struct text text = text_begin(r->arena);
    for (uint32_t i = 0; i < r->count; i++)
        if (!r->out[i])
            text_put_bytes(&text, r->lines[i], r->lengths[i]);
    return text.bytes;
}

/* Whether nothing is wrong on the device as the program has it. */
static bool is_clean(const struct reducer *r, const char *text)
{
    struct host_judge_options usual = *r->options;
    struct host_verdict verdict;
    usual.settings = NULL;
    return host_judge_text(r->arena, r->path, text, strlen(text), &usual, &verdict) &&
           !first(&verdict, r->reference);
}

static bool keeps(struct reducer *r)
{
    size_t mark = arena_mark(r->arena);
    struct host_verdict verdict;
    const char *text = text_of(r);
    r->tests++;
    if (r->shows) {
        const bool same = r->shows(r->context, text);
        arena_release(r->arena, mark);
        return same;
    }
    const struct host_finding *f =
        host_judge_text(r->arena, r->path, text, strlen(text), r->options, &verdict)
            ? first(&verdict, r->reference)
            : NULL;
    bool good = f && f->kind == r->kind &&
                (!r->word || strcmp(host_word_of_line(r->arena, text, f->line), r->word) == 0);
    good = good && (!r->usual || is_clean(r, text));
    arena_release(r->arena, mark);
    return good;
}

/* Leaves [from, from + count) out, if that keeps the finding; later lines first, since they need earlier ones. */
static bool try_without(struct reducer *r, uint32_t from, uint32_t count)
{
    bool before[LINES_MAX];
    bool any = false;
    memcpy(before, r->out, r->count * sizeof *before);
    for (uint32_t i = from; i < from + count && i < r->count; i++) {
        any |= !r->out[i];
        r->out[i] = true;
    }
    if (any && r->tests < r->most && keeps(r))
        return true;
    memcpy(r->out, before, r->count * sizeof *before);
    return false;
}

static bool pass(struct reducer *r, uint32_t size)
{
    bool any = false;
    for (uint32_t from = (r->count - 1) / size * size;; from -= size) {
        any |= try_without(r, from, size);
        if (from == 0)
            return any;
    }
}

static void split(struct reducer *r, const char *text, size_t length)
{
    const char *end = text + length;
    while (text < end && r->count < LINES_MAX) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *next = newline ? newline + 1 : end;
        r->lines[r->count] = text;
        r->lengths[r->count++] = (size_t)(next - text);
        text = next;
    }
}

/* The lines of a kernel's text go together, once no launch needs it. */
static void drop_kernels(struct reducer *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        uint32_t end = i;
        if (r->out[i] || strncmp(r->lines[i], "kernel ", 7) != 0)
            continue;
        while (end < r->count && strncmp(r->lines[end], "end", 3) != 0)
            end++;
        try_without(r, i, end + 1 - i);
    }
}

static bool start(struct reducer *r, const char *text, size_t length)
{
    r->lines = ARENA_ARRAY(r->arena, const char *, LINES_MAX);
    r->lengths = ARENA_ARRAY(r->arena, size_t, LINES_MAX);
    r->out = ARENA_ARRAY(r->arena, bool, LINES_MAX);
    split(r, text, length);
    return r->count > 0 && r->count < LINES_MAX;
}

static struct host_reduced reduce(struct reducer *r)
{
    for (uint32_t size = 16; size > 0; size /= 2)
        while (pass(r, size) && size > 1)
            ;
    drop_kernels(r);
    while (pass(r, 1))
        ;
    struct host_reduced result = {
        .text = text_of(r), .kind = r->kind, .lines = r->count, .tests = r->tests};
    for (uint32_t i = 0; i < r->count; i++)
        result.left += !r->out[i];
    return result;
}

struct host_reduced host_reduce_showing(struct arena *arena, const char *text,
                                        bool (*shows)(void *context, const char *text),
                                        void *context, uint32_t most)
{
    struct reducer r = {.arena = arena, .shows = shows, .context = context, .most = most};
    if (!start(&r, text, strlen(text)) || !shows(context, text))
        return (struct host_reduced){.text = NULL};
    return reduce(&r);
}

struct host_reduced host_reduce(struct arena *arena, const char *path, const char *text,
                                size_t length, const struct host_judge_options *options,
                                const char *word, bool reference, uint32_t most)
{
    struct host_judge_options own = *options;
    struct reducer r = {.arena = arena,
                        .path = path,
                        .options = &own,
                        .word = word,
                        .reference = reference,
                        .most = most};
    struct host_verdict verdict;
    if (!start(&r, text, length) ||
        !host_judge_text(arena, path, text, length, options, &verdict) ||
        !first(&verdict, reference))
        return (struct host_reduced){.text = NULL};
    r.kind = first(&verdict, reference)->kind;
    if (r.kind != FINDING_REFERENCE)
        own.followed = FOLLOW_NONE;
    r.usual = options->settings && is_clean(&r, text);
    return reduce(&r);
}
