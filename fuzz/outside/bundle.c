#define _XOPEN_SOURCE 700 /* nftw */
#include "fuzz/outside/bundle.h"

#include "engine/input/input.h"
#include "engine/language/print.h"
#include "fuzz/base/version.h"
#include "fuzz/serve/child.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char *extension(const struct outside_subject *subject)
{
    return subject->language == EMIT_CUDA ? "cu" : "cl";
}

static void put_words(struct text *text, const char *name, const int32_t *words, uint32_t count)
{
    text_format(text, "%s:", name);
    for (uint32_t i = 0; i < count; i++)
        text_format(text, " %d", (int)words[i]);
    text_put(text, "\n");
}

/* The buffer at first comes from the emitter, which is asked again. */
static const char *memory_text(struct arena *arena, const struct hunt_finding *f)
{
    struct text text = text_begin(arena), ignored = text_begin(arena);
    struct emitted emitted;
    const char *reason;
    if (!emit_kernel(&ignored, ast_kernel_copy(arena, f->expected->kernel), f->subject->language,
                     f->knobs, 0, &emitted, &reason))
        return reason;
    text_format(&text, "kernel: %s\nthreads: %u\nblocks: %u\n", emitted.entry,
                (unsigned)emitted.threads, (unsigned)emitted.blocks);
    put_words(&text, "initial", emitted.initial, emitted.words);
    put_words(&text, "expected", f->expected->final, f->expected->words);
    if (f->trial.verdict == TRIAL_WRONG)
        put_words(&text, "actual", f->trial.memory, f->expected->words);
    return text.bytes;
}

static void put_what(struct text *text, const struct hunt_finding *f)
{
    if (f->trial.verdict == TRIAL_WRONG)
        text_format(text,
                    "Word %u of the buffer is %d; every execution of the kernel leaves %d there "
                    "(seen under %s).\n",
                    (unsigned)f->trial.word, (int)f->trial.actual, (int)f->trial.expected,
                    f->trial.way);
    else
        text_format(text, "The implementation ended with %s: %s.\n",
                    trial_verdict_names[f->trial.verdict],
                    *f->trial.cause ? f->trial.cause : "no message");
}

static const char *report(struct arena *arena, uint64_t seed, const struct hunt_finding *f)
{
    struct text text = text_begin(arena);
    text_format(&text, "# %s: %s\n\nVersion: %s\n\n", f->subject->name,
                trial_verdict_names[f->trial.verdict], f->subject->version);
    put_what(&text, f);
    text_format(
        &text,
        "\nThe kernel has no data race, no undefined behaviour and one result. Launch, initial and "
        "expected memory stand in memory.txt, the text in kernel.%s.\n\n",
        extension(f->subject));
    text_format(&text, "- it vanishes with: %s\n- other implementations: %s\n- signature: `%s`\n",
                attribution_print(arena, &f->attribution, f->knobs),
                *f->second ? f->second : "none was asked", f->signature);
    text_format(&text,
                "- command: `simtfuzz outside --subject '%s' --seed 0x%llx --from %llu --cases 1 "
                "--knobs %s` (simtfuzz %s)\n",
                f->subject->name, (unsigned long long)seed, (unsigned long long)f->number,
                emit_print_knobs(arena, f->knobs), SIMTFUZZ_VERSION);
    if (f->minimised.kernel)
        text_format(&text,
                    "- kernel.simt is that case made small: %u candidates, %u of them valid, %u "
                    "runs of the implementation; to see it again: `simtfuzz outside --subject '%s' "
                    "--knobs %s "
                    "--kernel kernel.simt`\n",
                    (unsigned)f->minimised.candidates, (unsigned)f->minimised.valid,
                    (unsigned)f->minimised.runs, f->subject->name,
                    emit_print_knobs(arena, f->knobs));
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

const char *bundle_write(struct arena *arena, const char *parent, uint64_t seed,
                         const struct hunt_finding *f)
{
    char *name = arena_printf(arena, "%s-%s-%llu", trial_verdict_names[f->trial.verdict],
                              f->subject->name, (unsigned long long)f->number);
    for (char *c = name; *c; c++)
        if (strchr(" /{}'", *c))
            *c = '_';
    const char *folder = arena_printf(arena, "%s/%s", parent, name);
    const char *kernel = print_kernel(arena, f->kernel);
    bool written =
        make_folder(parent) && make_folder(folder) &&
        write_in(arena, folder, "README.md", report(arena, seed, f)) &&
        write_in(arena, folder, "kernel.simt", kernel) &&
        write_in(arena, folder, arena_printf(arena, "kernel.%s", extension(f->subject)), f->text) &&
        write_in(arena, folder, "memory.txt", memory_text(arena, f)) &&
        write_in(arena, folder, "log.txt", f->trial.log);
    return written ? folder : NULL;
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
