#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "fuzz/hunt/show.h"

#include "fuzz/hunt/bundle.h"
#include "fuzz/hunt/host.h"
#include "fuzz/serve/cause.h"
#include "fuzz/serve/child.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t MEMORY_MOST = (uint64_t)32 << 30;

enum { CPU_SECONDS = 20, SHELL_SIGNALED = 128, PRINTED_MOST = 160 };

const char *const show_end_names[] = {[SHOW_YES] = "yes",
                                      [SHOW_NO] = "no",
                                      [SHOW_NOT_RUN] = "not run",
                                      [SHOW_NOT_JUDGED] = "not judged"};

static struct child_result shell(struct arena *arena, const char *folder, uint64_t memory,
                                 const char *line)
{
    char *arguments[] = {arena_printf(arena, "sh"), arena_printf(arena, "-c"),
                         arena_printf(arena, "%s", line), NULL};
    const struct child_limits limits = {
        .folder = folder, .cpu_seconds = CPU_SECONDS, .memory = memory};
    return child_run(arena, &limits, arguments);
}

/* Its first line, or its last one. */
static const char *line_of(struct arena *arena, const char *text, bool last)
{
    const char *at = text;
    for (const char *end; last && (end = strchr(at, '\n')) && end[1];)
        at = end + 1;
    size_t length = strcspn(at, "\n");
    return length ? arena_strndup(arena, at, length < PRINTED_MOST ? length : PRINTED_MOST)
                  : "nothing";
}

/* The signal of a process, or of the last one of a shell; 0: it ended by itself. */
static int signal_of(const struct child_result *r)
{
    if (r->end == CHILD_SIGNALED)
        return r->status;
    return r->end == CHILD_EXITED && r->status > SHELL_SIGNALED ? r->status - SHELL_SIGNALED : 0;
}

/* The shell itself did, or the program that it ran. */
static bool used_up_its_time(const struct child_result *r)
{
    return r->end == CHILD_HANG || signal_of(r) == SIGXCPU;
}

/* The first wrong word, as each program says it. */
static bool says_word(struct arena *arena, const struct hunt_finding *f, const char *output)
{
    uint32_t w = 0;
    while (w < f->expected->words && f->trial.memory[w] == f->expected->final[w])
        w++;
    return w < f->expected->words &&
           strstr(output, arena_printf(arena, "word %u is %d, not %d", (unsigned)w,
                                       (int)f->trial.memory[w], (int)f->expected->final[w]));
}

static bool is_shown(struct arena *arena, const struct hunt_finding *f,
                     const struct child_result *r)
{
    const enum trial_verdict verdict = f->trial.verdict;
    if (verdict == TRIAL_WRONG)
        return says_word(arena, f, r->output);
    if (verdict == TRIAL_HANG)
        return used_up_its_time(r);
    if (verdict == TRIAL_CRASH && signal_of(r))
        return true;
    if (verdict == TRIAL_CRASH)
        return strcmp(f->trial.cause, cause_none) != 0 &&
               strcmp(f->trial.cause, cause_of_log(arena, r->output)) == 0;
    if (f->subject->language == EMIT_WGSL) /* a page has no exit status */
        return !strstr(r->output, "all words are right");
    return r->end == CHILD_EXITED && r->status != 0;
}

/* Wrong words are printed last, errors first. */
static const char *what_was_seen(struct arena *arena, const struct child_result *r, bool last)
{
    if (used_up_its_time(r))
        return "it used up its time";
    if (signal_of(r))
        return arena_printf(arena, "it died by signal %d (%s)", signal_of(r),
                            strsignal(signal_of(r)));
    return arena_printf(arena, "it ended with status %d, and printed `%s`", r->status,
                        line_of(arena, r->output, last));
}

static struct show run_in(struct arena *arena, const char *folder, const struct hunt_finding *f)
{
    if (f->trial.verdict == TRIAL_WRONG && strcmp(host_name(f), "run.sh") == 0)
        return (struct show){SHOW_NOT_JUDGED,
                             "It makes the PTX; what that does wrong, simtfuzz's own machine "
                             "shows by the command below."};
    const char *build = host_build_command(f);
    /* A browser reserves more address space than there is. */
    const uint64_t memory = f->subject->language == EMIT_WGSL ? 0 : MEMORY_MOST;
    struct child_result r = {.end = CHILD_EXITED};
    if (build)
        r = shell(arena, folder, memory, build);
    if (r.end != CHILD_EXITED || r.status != 0)
        return (struct show){SHOW_NOT_RUN, arena_printf(arena,
                                                        "It was not run when this folder was "
                                                        "written: `%s` failed with `%s`.",
                                                        build, line_of(arena, r.output, false))};
    r = shell(arena, folder, memory, host_run_command(arena, f));
    bool shown = is_shown(arena, f, &r);
    return (struct show){shown ? SHOW_YES : SHOW_NO,
                         arena_printf(arena,
                                      "Run when this folder was written, it %s the finding: %s.",
                                      shown ? "showed" : "did NOT show",
                                      what_was_seen(arena, &r, f->trial.verdict == TRIAL_WRONG))};
}

struct show show_finding(struct arena *arena, const struct hunt_finding *f,
                         const struct emitted *emitted, const char *kernel)
{
    char folder[] = "/tmp/simtfuzz-show-XXXXXX";
    struct show show = {SHOW_NOT_RUN, ""};
    if (!host_name(f) || !mkdtemp(folder))
        return show;
    if (bundle_write_program(arena, folder, f, emitted, kernel))
        show = run_in(arena, folder, f);
    bundle_remove_folder(folder);
    return show;
}
