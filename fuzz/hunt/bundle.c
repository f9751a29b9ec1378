#define _XOPEN_SOURCE 700 /* nftw */
#include "fuzz/hunt/bundle.h"

#include "engine/input/input.h"
#include "engine/language/print.h"
#include "fuzz/base/version.h"
#include "fuzz/hunt/host.h"
#include "fuzz/hunt/show.h"
#include "fuzz/hunt/tidy.h"
#include "fuzz/outside/worker.h"
#include "fuzz/serve/child.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char *extension(const struct outside_subject *subject)
{
    static const char *const extensions[EMIT_LANGUAGE_COUNT] = {
        [EMIT_OPENCL] = "cl", [EMIT_CUDA] = "cu",     [EMIT_GLSL] = "comp",
        [EMIT_WGSL] = "wgsl", [EMIT_BLOCKS] = "json", [EMIT_PTX] = "ptx"};
    return extensions[subject->language];
}

static void put_words(struct text *text, const char *name, const int32_t *words, uint32_t count)
{
    text_format(text, "%s:", name);
    for (uint32_t i = 0; i < count; i++)
        text_format(text, " %d", (int)words[i]);
    text_put(text, "\n");
}

static const char *memory_text(struct arena *arena, const struct hunt_finding *f,
                               const struct emitted *emitted)
{
    struct text text = text_begin(arena);
    text_format(&text, "kernel: %s\nthreads: %u\nblocks: %u\n", emitted->entry,
                (unsigned)emitted->threads, (unsigned)emitted->blocks);
    put_words(&text, "initial", emitted->initial, emitted->words);
    put_words(&text, "expected", f->expected->final, f->expected->words);
    if (f->trial.verdict == TRIAL_WRONG)
        put_words(&text, "actual", f->trial.memory, f->expected->words);
    return text.bytes;
}

/* The text as it was run. NULL: it cannot be emitted, which it once was. */
static const char *whole_text(struct arena *arena, const struct hunt_finding *f,
                              struct emitted *emitted)
{
    struct text text = text_begin(arena);
    enum emit_language language = f->subject->language;
    const char *reason;
    if (!emit_kernel(&text, ast_kernel_copy(arena, f->expected->kernel), language, f->knobs, 0,
                     emitted, &reason))
        return NULL;
    return emit_text(arena, language, text.bytes);
}

/* Without parentheses and lines that mean nothing. */
static const char *shorter_text(struct arena *arena, const struct hunt_finding *f,
                                const char *whole)
{
    enum tidy_bare bare = !*f->command                             ? TIDY_NOT_BARE
                          : strstr(f->command, "-DSIMTFUZZ_BARE ") ? TIDY_BARE
                                                                   : TIDY_BOTH;
    /* Of WGSL's operators few may stand beside each other without parentheses. */
    return f->subject->language == EMIT_WGSL ? whole : tidy_text(arena, whole, bare);
}

/* The shorter text, unless only the whole one shows the finding. */
static const char *kernel_text(struct arena *arena, const struct hunt_finding *f,
                               struct emitted *emitted, struct show *show)
{
    const char *whole = whole_text(arena, f, emitted);
    if (!whole)
        return NULL;
    const char *text = shorter_text(arena, f, whole);
    *show = show_finding(arena, f, emitted, text);
    if (show->end != SHOW_NO || strcmp(text, whole) == 0)
        return text;
    const struct show other = show_finding(arena, f, emitted, whole);
    if (other.end != SHOW_YES)
        return text;
    *show = other;
    return whole;
}

static const char *const kind_titles[TRIAL_VERDICT_COUNT] = {
    [TRIAL_WRONG] = "wrong value",
    [TRIAL_WRONG_STEPS] = "wrong steps",
    [TRIAL_CRASH] = "crash",
    [TRIAL_HANG] = "hang",
    [TRIAL_COMPILE_ERROR] = "refusal of a valid kernel",
    [TRIAL_RUN_ERROR] = "error at run time"};

static void put_difference(struct text *text, const struct hunt_finding *f)
{
    enum { SHOWN = 12 };
    uint32_t count = 0;
    text_put(text, "| word of the buffer | expected | actual |\n| ---: | ---: | ---: |\n");
    for (uint32_t w = 0; w < f->expected->words; w++)
        if (f->trial.memory[w] != f->expected->final[w] && count++ < SHOWN)
            text_format(text, "| %u | %d | %d |\n", (unsigned)w, (int)f->expected->final[w],
                        (int)f->trial.memory[w]);
    if (count > SHOWN)
        text_format(text, "\nThese are %d of %u words that differ; all stand in memory.txt.\n",
                    (int)SHOWN, (unsigned)count);
    if (strncmp(f->subject->name, "compiler:", strlen("compiler:")) == 0)
        text_format(text,
                    "\nThe PTX that the compiler made was run by simtfuzz's own machine "
                    "(semantics `%s`).\n",
                    f->trial.way);
}

static void put_what(struct text *text, const struct hunt_finding *f)
{
    text_put(text, "## What happens\n\n");
    if (f->trial.verdict == TRIAL_WRONG)
        put_difference(text, f);
    else if (f->trial.verdict == TRIAL_WRONG_STEPS)
        text_format(text,
                    "Memory at the end is right, but what the program says of its steps cannot be. "
                    "%s: %s.\n",
                    f->trial.cause, f->trial.log);
    else
        text_format(text, "It ends with: %s. What it printed stands in log.txt.\n",
                    *f->trial.cause ? f->trial.cause : "no message");
}

static void put_again(struct text *text, const struct hunt_finding *f,
                      const struct emitted *emitted, const struct show *show)
{
    text_put(text, "\n## How to see it\n\n");
    if (host_name(f))
        text_format(text, "    %s\n\n%s\n\n", host_command(text->arena, f), show->sentence);
    text_format(text,
                "Kernel `%s` of kernel.%s, %u blocks of %u threads; its argument is a buffer of %u "
                "32-bit words. What they hold at first, and must hold at the end, stands in "
                "memory.txt.\n",
                emitted->entry, extension(f->subject), (unsigned)emitted->blocks,
                (unsigned)emitted->threads, (unsigned)emitted->words);
}

/* What a knob says, added or taken away. */
static void put_knob(struct text *text, const char *name, size_t length, bool added)
{
    for (uint32_t i = 0; i < EMIT_KNOB_COUNT; i++)
        if (strlen(emit_knob_names[i]) == length && strncmp(emit_knob_names[i], name, length) == 0)
            text_format(text, "if it is %s that %s", added ? "so" : "not so",
                        emit_knob_sentences[i]);
}

/* "unoptimised,+opaque-switches" in words. */
static void put_vanishes(struct text *text, const char *list)
{
    const char *between = "It is right ";
    while (*list && strcmp(list, "nothing") != 0) {
        size_t length = strcspn(list, ",");
        text_put(text, between);
        if (*list == '+' || *list == '-')
            put_knob(text, list + 1, length - 1, *list == '+');
        else
            text_put(text, "without optimisation");
        between = "; ";
        list += length;
        list += *list == ',';
    }
    if (*between == ';')
        text_put(text, ".\n");
}

static void put_more(struct text *text, uint64_t seed, const struct hunt_finding *f)
{
    text_put(text, "\n## What is known about it\n\n");
    put_vanishes(text, f->vanishes);
    if (*f->second)
        text_format(text, "Other implementations, same kernel: %s.\n", f->second);
    text_put(text,
             "\nThe kernel has no data race and no undefined behaviour (sums and products are "
             "unsigned, shifts and divisions are guarded, indices stay in their arrays). Four "
             "semantics of simtfuzz, each under several schedules, end with the expected "
             "memory.\n\n");
    text_format(text, "Found by simtfuzz %s as case %llu of seed 0x%llx (`%s`).", SIMTFUZZ_VERSION,
                (unsigned long long)f->number, (unsigned long long)seed, f->signature);
    if (f->minimised.kernel)
        text_format(text,
                    " Made small with %u candidates, %u of them valid, %u runs of the "
                    "implementation.",
                    (unsigned)f->minimised.candidates, (unsigned)f->minimised.valid,
                    (unsigned)f->minimised.runs);
    text_format(text,
                " With simtfuzz:\n\n    simtfuzz outside --subject '%s' --knobs %s%s "
                "--kernel kernel.simt\n",
                f->subject->name, emit_print_knobs(text->arena, f->knobs),
                f->expected->as_it_is ? " --as-it-is" : "");
}

/* A report as a maintainer wants it: what, where, how to see it, what else is known. */
static const char *report(struct arena *arena, uint64_t seed, const struct hunt_finding *f,
                          const struct emitted *emitted, const char *kernel,
                          const struct show *show)
{
    struct text text = text_begin(arena);
    text_format(&text, "# %s: %s\n\nVersion: %s\n\n", f->subject->name,
                kind_titles[f->trial.verdict],
                *f->subject->version ? f->subject->version : "it says none");
    put_what(&text, f);
    put_again(&text, f, emitted, show);
    text_format(&text, "\n```c\n%s```\n", kernel);
    put_more(&text, seed, f);
    return text.bytes;
}

static bool make_folder(const char *path)
{
    return mkdir(path, 0777) == 0 || errno == EEXIST;
}

static bool write_in(struct arena *arena, const char *folder, const char *name, const char *text)
{
    return child_write(arena_printf(arena, "%s/%s", folder, name), text);
}

/* exec: what the program is told. */
static bool write_request(struct arena *arena, const char *folder, const struct hunt_finding *f,
                          const struct emitted *emitted, const char *kernel)
{
    const struct outside_batch batch = {
        .language = f->subject->language, .text = kernel, .count = 1, .kernels = emitted};
    struct text bytes = text_begin(arena);
    worker_put_messages(&bytes, &batch, "");
    FILE *file = fopen(arena_printf(arena, "%s/request", folder), "wb");
    bool written = file && fwrite(bytes.bytes, 1, bytes.length, file) == bytes.length;
    return file && fclose(file) == 0 && written;
}

bool bundle_write_program(struct arena *arena, const char *folder, const struct hunt_finding *f,
                          const struct emitted *emitted, const char *kernel)
{
    const char *host = host_name(f);
    bool page = host && strcmp(host, "host.html") == 0;
    return write_in(arena, folder, arena_printf(arena, "kernel.%s", extension(f->subject)),
                    kernel) &&
           (!host ||
            write_in(arena, folder, host,
                     page ? host_page(arena, f, emitted, kernel) : host_text(arena, f, emitted))) &&
           (strncmp(f->subject->name, "exec:", strlen("exec:")) != 0 ||
            write_request(arena, folder, f, emitted, kernel));
}

static bool write_files(struct arena *arena, const char *folder, uint64_t seed,
                        const struct hunt_finding *f, struct show *show)
{
    struct emitted emitted;
    const char *kernel = kernel_text(arena, f, &emitted, show);
    return kernel &&
           write_in(arena, folder, "README.md", report(arena, seed, f, &emitted, kernel, show)) &&
           write_in(arena, folder, "kernel.simt", print_kernel(arena, f->kernel)) &&
           write_in(arena, folder, "memory.txt", memory_text(arena, f, &emitted)) &&
           write_in(arena, folder, "log.txt", f->trial.log) &&
           bundle_write_program(arena, folder, f, &emitted, kernel);
}

struct bundle bundle_write(struct arena *arena, const char *folder, uint64_t seed,
                           const struct hunt_finding *f)
{
    struct show show;
    if (!make_folder(folder) || !write_files(arena, folder, seed, f, &show))
        return (struct bundle){.folder = NULL};
    return (struct bundle){folder, show_end_names[show.end]};
}

struct bundle bundle_write_below(struct arena *arena, const char *parent, uint64_t seed,
                                 const struct hunt_finding *f)
{
    char *name = arena_printf(arena, "%s-%s-%llu", trial_verdict_names[f->trial.verdict],
                              f->subject->name, (unsigned long long)f->number);
    for (char *c = name; *c; c++)
        if (strchr(" /{}'", *c))
            *c = '_';
    if (!make_folder(parent))
        return (struct bundle){.folder = NULL};
    return bundle_write(arena, arena_printf(arena, "%s/%s", parent, name), seed, f);
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status;
    (void)kind;
    (void)walk;
    (void)remove(path);
    return 0;
}

void bundle_remove_folder(const char *folder)
{
    enum { OPEN_MOST = 16 };
    (void)nftw(folder, remove_one, OPEN_MOST, FTW_DEPTH | FTW_PHYS);
}
