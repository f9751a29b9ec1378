/*
 * cli_check_source.c - `simtfuzz check kernel.cu`: compiled, and each of its entries under launches that are made up.
 */
#include "engine/input/input.h"
#include "engine/input/ptx_kernel.h"
#include "engine/ptx/ptx_reach.h"
#include "engine/to_ptx/ptx_inject.h"
#include "fuzz/check/compile.h"
#include "fuzz/check/refused.h"
#include "fuzz/commands/cli_check.h"
#include "fuzz/grid/grid.h"
#include "fuzz/grid/made_up.h"
#include "fuzz/hunt/bundle.h"
#include "fuzz/out/demangle.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GRID_BARRIER 0x4f0000000000ull /* below what else is placed */

enum { INPUTS = 32, DRAWN_FIRST = 12 };

/* Of what somebody wrote to be run, not to try simtfuzz with, the oracle `reference` follows the first steps, and
 * `metamorphic` is not asked. */
enum { FOLLOWED_STEPS = 1 << 10 };

struct source_check {
    struct cli *cli;
    const char *path;
    const char *text; /* of the PTX */
    size_t length;
    bool is_ptx;                                /* nothing was compiled */
    const struct ptx_module *module, *injected; /* NULL: it cannot be */
    const char *given; /* settings of the command line, or NULL: all are made up */
    const char *more;  /* what any launch of the entry at hand has, or "" */
};

/* Errors of the PTX, as such of the source. */
static void print_refused(const struct source_check *s, const struct diag *ptx)
{
    struct diag *ignored = ARENA_NEW(&s->cli->arena, struct diag);
    size_t length = 0;
    const char *source = parse_read_file(&s->cli->arena, s->path, &length, ignored);
    diag_print(refused_at_source(&s->cli->arena, ptx, s->path, source, length), stderr);
}

static struct ast_kernel *read_with(const struct source_check *s, const char *settings, bool tell)
{
    struct arena *arena = &s->cli->arena;
    struct diag *diag = ARENA_NEW(arena, struct diag);
    diag_init(diag, s->path, s->text, s->length);
    struct ast_kernel *kernel =
        ptx_kernel_new(arena, s->module, arena_printf(arena, "%s%s", settings, s->more), diag);
    if (!kernel && tell)
        print_refused(s, diag);
    if (kernel)
        kernel->ptx->injected = s->injected;
    return kernel;
}

/* ---- room for what a launch accesses ---- */

enum { USUAL = 4096, LARGER = 1 << 16, LARGE = 1 << 20, SHARED_MOST = 227 << 10 };

/* Of warps, until a launch is too long to be looked at; of drawn ones there are many. */
enum { FIRST_STEPS = 1 << 18, DRAWN_STEPS = 1 << 16 };

/* Drawn launches that have taken so many steps of warps and no new way are enough; a launch takes the time of some
 * steps by itself. */
enum { QUIET_STEPS = 1 << 12, LAUNCH_STEPS = 1 << 7 };

/* One whose length may be another. */
static bool is_buffer(const struct ptx_argument *argument)
{
    return argument->buffer && !argument->bind.texture;
}

static bool has_dynamic(const struct ptx_kernel *ptx)
{
    return ptx->shared_bytes > 0 && !ptx->shared_given;
}

/* " bind:0=buffer:8192:iota" for each buffer that needs more than is usual - so many bytes, or what it needs - or holds
 * something else. */
static const char *bound_buffers(struct arena *arena, const struct ptx_kernel *ptx,
                                 const struct made_up_launch *launch, const uint64_t *bytes,
                                 uint64_t all)
{
    const char *text = "";
    for (uint32_t p = 0; p < ptx->argument_count && p < REACHED; p++) {
        const uint64_t needed = all ? all : (bytes[p] + USUAL - 1) / USUAL * USUAL;
        const uint64_t wanted = needed > USUAL ? needed : USUAL;
        if (is_buffer(&ptx->arguments[p]) &&
            (wanted > USUAL || strcmp(launch->fills[p], "iota") != 0))
            text = arena_printf(arena, "%s bind:%" PRIu32 "=buffer:%" PRIu64 ":%s", text, p, wanted,
                                launch->fills[p]);
    }
    return text;
}

/* Whether a variable that a launch leaves is as long as was made up here. */
static bool is_made_up(uint64_t bytes)
{
    return bytes == USUAL || bytes == LARGER || bytes == LARGE || bytes == SHARED_MOST ||
           bytes == MADE_UP_STRUCT_BUFFER;
}

/* One execution of a launch, with as much memory as it accesses; the settings say how much, if it is not the usual. */
static struct short_run run_fitted(const struct source_check *s, struct made_up_launch *launch,
                                   uint64_t steps, struct branches *branches)
{
    static const uint64_t sizes[] = {USUAL, LARGER, LARGE};
    struct arena *arena = &s->cli->arena;
    const struct ast_kernel *bare = read_with(s, launch->settings, false);
    struct short_run run = {.can_run = false};
    if (!bare || bare->ptx->whole)
        return run;
    const char *usual = bound_buffers(arena, bare->ptx, launch, run.bytes, 0);
    const char *settings = launch->settings;
    launch->settings = arena_printf(arena, "%s%s", settings, usual);
    struct ast_kernel *kernel = read_with(s, launch->settings, false);
    if (kernel)
        run = branches_run(s->cli, kernel, steps, branches);
    for (uint32_t i = 0; kernel && i < 2 && run.leaves_end && run.size_left == sizes[i]; i++) {
        const char *most =
            has_dynamic(bare->ptx) ? arena_printf(arena, " shared=%d", SHARED_MOST) : "";
        const char *large = bound_buffers(arena, bare->ptx, launch, run.bytes, sizes[i + 1]);
        const bool was_new = run.is_new;
        kernel = read_with(s, arena_printf(arena, "%s%s%s", settings, large, most), false);
        if (!kernel)
            break;
        run = branches_run(s->cli, kernel, steps, branches);
        run.is_new |= was_new;
        launch->settings = arena_printf(
            arena, "%s%s%s", settings, bound_buffers(arena, bare->ptx, launch, run.bytes, 0), most);
    }
    return run;
}

/* ---- what launches show ---- */

/* What an execution under made-up settings is worth to be shown. An access out of bounds may be the fault of a size
 * that was made up, and what else happens in that execution as well. */
enum worth { WORTH_NONE, WORTH_UNFIT, WORTH_VACUOUS, WORTH_CLEAN, WORTH_OUTSIDE, WORTH_WRONG };

static enum worth worth_of(const struct headline *headline)
{
    for (uint32_t i = 0; i < headline->count; i++)
        if (headline->happenings[i].outcome == OUTCOME_OOB)
            return WORTH_OUTSIDE;
    if (headline->count > 0)
        return WORTH_WRONG;
    return strcmp(headline->word, "vacuous") == 0 ? WORTH_VACUOUS : WORTH_CLEAN;
}

/* Out of bounds in shared memory, whose arrays are as long as the text says. */
static bool is_out_of_shared(struct arena *arena, const struct headline *headline)
{
    for (uint32_t i = 0; i < headline->count; i++)
        if (headline->happenings[i].outcome == OUTCOME_OOB &&
            strstr(headline_text(arena, &headline->happenings[i]), "at shared address"))
            return true;
    return false;
}

struct seen {
    const char *text;
    struct seen *next;
};

struct tried {
    /* Of the launch to be shown: the one that shows most, of equals the first. */
    const char *settings;
    const char *in_bounds; /* of the first that is clean */
    uint32_t launches, vacuous, clean, out_of_bounds, cut, checked;
    uint64_t spent; /* steps of warps of those that were checked */
    /* So many threads in a row are too many: an execution was cut off; 0: none was. */
    uint32_t too_wide;
    enum worth most;
    struct check_result *kept; /* of the launch that was checked first, or NULL */
    const char *kept_settings;
    bool decided; /* one execution of the launch to be shown is clean, and stands for all */
    struct branches branches;
    struct wanted wanted[WANTED_MOST];
    uint32_t wanted_count, wanted_next;
    bool has_asked;    /* the solver, for those */
    uint32_t drawn;    /* launches, besides those that are always made up */
    uint64_t quiet;    /* steps of these since one took a new way */
    struct seen *seen; /* launches that were tried */
    bool others;       /* one that was not is in bounds, or leaves other memory than shared one */
    const char *unwritten; /* of the first that only reads memory that nothing wrote, or NULL */
    bool written;          /* one that is not drawn does no such thing */
};

static uint32_t line_count(const struct source_check *s)
{
    uint32_t count = 1;
    for (size_t i = 0; i < s->length; i++)
        count += s->text[i] == '\n';
    return count;
}

/* All subjects and schedules of it. What oracles say of the subjects is asked of the launch that is shown: the first
 * one, mostly, whose result is kept. */
static enum worth check_launch(const struct source_check *s, const char *settings,
                               const struct check_options *options, struct tried *tried)
{
    struct arena *arena = &s->cli->arena;
    const size_t mark = arena_mark(arena);
    const bool is_first = tried->checked == 1 && !options->exhaustive;
    struct ast_kernel *kernel = read_with(s, settings, false);
    enum worth worth = WORTH_NONE;
    if (kernel) {
        struct check_result *result = ARENA_NEW(arena, struct check_result);
        struct headline headline;
        struct check_options asked = *options;
        asked.subjects = check_subjects(kernel, options->subjects);
        if (!is_first)
            asked.oracles &= 1u << ORACLE_RACE | 1u << ORACLE_LIVENESS;
        check_kernel(arena, kernel, &asked, result);
        headline_of(arena, result, &headline);
        worth = worth_of(&headline);
        tried->others |= !tried->drawn && !is_out_of_shared(arena, &headline);
        if (is_first) {
            tried->kept = result;
            tried->kept_settings = settings;
            return worth;
        }
    }
    arena_release(arena, mark);
    return worth;
}

/* All subjects are asked about what is wrong in one, and about the first two and those that take new ways as far as
 * that is cheap. */
static bool is_worth_checking(const struct short_run *run, const struct check_options *options,
                              const struct tried *tried)
{
    enum { SECOND = 1 << 14, STEPS = 1 << 12 };
    if (run->is_well && options->subjects == SUBJECTS_DEFAULT)
        return false;
    if (tried->checked == 0 || (run->is_wrong && tried->most < WORTH_WRONG) ||
        (run->stores && tried->most <= WORTH_VACUOUS))
        return true;
    if (tried->checked == 1)
        return tried->spent + run->steps <= SECOND;
    return run->is_new && tried->spent + run->steps <= STEPS;
}

/* A launch that is too long, or wants more memory than is made up, says nothing of the kernel; of one whose execution
 * stands for all nothing else need be asked. */
static enum worth worth_of_run(const struct source_check *s, const char *settings,
                               const struct short_run *run, const struct check_options *options,
                               struct tried *tried)
{
    if (run->is_cut || (run->leaves_end && is_made_up(run->size_left))) {
        tried->cut += run->is_cut;
        tried->others |= !tried->drawn;
        return WORTH_UNFIT;
    }
    if (run->can_run && !is_worth_checking(run, options, tried)) {
        tried->others |= !tried->drawn;
        return run->is_wrong ? WORTH_NONE : run->stores ? WORTH_CLEAN : WORTH_VACUOUS;
    }
    tried->checked++;
    tried->spent += run->steps;
    return check_launch(s, settings, options, tried);
}

static void try_launch(const struct source_check *s, struct made_up_launch *launch,
                       const struct check_options *options, struct tried *tried)
{
    const struct short_run run =
        run_fitted(s, launch, tried->drawn ? DRAWN_STEPS : FIRST_STEPS, &tried->branches);
    const char *settings = launch->settings;
    if (run.is_unwritten && !tried->unwritten)
        tried->unwritten = settings;
    tried->written |= !tried->drawn && !run.is_unwritten && run.stores;
    tried->quiet = !tried->drawn || run.is_new ? 0 : tried->quiet + run.steps + LAUNCH_STEPS;
    const bool shows = run.is_new || (launch->is_marked && run.is_wrong);
    if (tried->drawn && !shows && tried->most > WORTH_UNFIT)
        return;
    const enum worth worth = worth_of_run(s, settings, &run, options, tried);
    if (worth == WORTH_NONE)
        return;
    tried->launches++;
    tried->vacuous += worth == WORTH_VACUOUS;
    tried->clean += worth == WORTH_CLEAN;
    tried->out_of_bounds += worth == WORTH_OUTSIDE || (worth == WORTH_UNFIT && !run.is_cut);
    if (worth == WORTH_CLEAN && !tried->in_bounds)
        tried->in_bounds = settings;
    if (!tried->settings || worth > tried->most) {
        tried->settings = settings;
        tried->most = worth;
        tried->decided = worth == WORTH_CLEAN && run.is_well;
    }
}

/* Drawn launches that show nothing new; --inputs says how many there are nevertheless. */
static bool is_quiet(const struct source_check *s, const struct tried *tried)
{
    return tried->quiet > QUIET_STEPS && tried->most > WORTH_VACUOUS && !s->cli->options.inputs;
}

/* The next launch that is made up. False: no more are needed. The solver takes longer than what is drawn first. */
static bool next_launch(const struct source_check *s, const struct made_up *m, uint32_t i,
                        struct tried *tried, struct made_up_launch *launch)
{
    const bool takes_all = tried->branches.taken == tried->branches.all;
    const struct wanted *wanted = NULL;
    if (!tried->drawn && made_up_first(m, i, launch))
        return true;
    if (takes_all && tried->most > WORTH_UNFIT)
        return false;
    if (++tried->drawn >= DRAWN_FIRST || is_quiet(s, tried)) {
        if (!tried->has_asked && !takes_all)
            tried->wanted_count = wanted_find(m->arena, m->entry, &tried->branches, tried->wanted);
        tried->has_asked = true;
    }
    if (tried->wanted_next < tried->wanted_count)
        wanted = &tried->wanted[tried->wanted_next++];
    else if (is_quiet(s, tried))
        return false;
    made_up_drawn(m, &tried->branches, wanted, tried->most <= WORTH_VACUOUS, i, launch);
    return true;
}

/* Whether it was tried before, which is noted. */
static bool is_seen(const struct made_up *m, const struct made_up_launch *launch,
                    struct tried *tried)
{
    const char *text = launch->settings;
    for (uint32_t p = 0; p < REACHED; p++)
        text = arena_printf(m->arena, "%s %s", text, launch->fills[p]);
    for (const struct seen *seen = tried->seen; seen; seen = seen->next)
        if (strcmp(seen->text, text) == 0)
            return true;
    struct seen *seen = ARENA_NEW(m->arena, struct seen);
    *seen = (struct seen){.text = text, .next = tried->seen};
    tried->seen = seen;
    return false;
}

/* Whether a launch that is not drawn need not be tried, as one of fewer threads was too long. */
static bool is_too_wide(const struct made_up *m, uint32_t i, const struct tried *tried)
{
    return !tried->drawn && tried->too_wide && made_up_width(m, i) >= tried->too_wide;
}

static void try_launches(const struct source_check *s, const struct made_up *m,
                         const struct check_options *options, struct tried *tried)
{
    const uint32_t inputs = s->cli->options.inputs ? s->cli->options.inputs : INPUTS;
    struct made_up_launch launch;
    branches_find(m->arena, m->module, m->entry, line_count(s), &tried->branches);
    for (uint32_t i = 0; i < inputs && next_launch(s, m, i, tried, &launch); i++) {
        const uint32_t cut = tried->cut;
        if (is_too_wide(m, i, tried) || is_seen(m, &launch, tried))
            continue;
        try_launch(s, &launch, options, tried);
        if (tried->cut > cut && !tried->drawn)
            tried->too_wide = made_up_width(m, i);
    }
    /* Out of bounds under some launches only: the kernel wants other ones. */
    if (tried->most == WORTH_OUTSIDE && tried->in_bounds && tried->others)
        tried->settings = tried->in_bounds;
}

/* How far an execution of two blocks of 64 threads comes in each buffer where all numbers are n. */
static bool reaches(const struct source_check *s, const struct made_up *m, uint32_t n,
                    struct made_up_launch *launch, uint64_t bytes[REACHED])
{
    made_up_first(m, 0, launch);
    launch->settings = arena_printf(m->arena, "entry=%s threads=64 blocks=2%s", m->entry->name,
                                    made_up_numbers(m, n));
    const struct short_run run = run_fitted(s, launch, FIRST_STEPS, NULL);
    memcpy(bytes, run.bytes, sizeof run.bytes);
    return run.can_run;
}

/* Buffers that need some elements more than n, whatever n is below the number of threads: so it is where an index
 * goes a step too far. */
struct reached {
    struct made_up_launch launch;             /* where n is N_REACHED */
    uint64_t more[REACHED], element[REACHED]; /* 0: this is no such buffer */
};

enum { N_REACHED = 125 };

static struct reached find_reached(const struct source_check *s, const struct made_up *m)
{
    enum { N = N_REACHED, FEWER = 3, ELEMENT_MOST = 16 };
    struct reached r = {.more = {0}};
    struct made_up_launch fewer;
    uint64_t all[REACHED], without[REACHED];
    if (!*made_up_numbers(m, 1) || !reaches(s, m, N, &r.launch, all) ||
        !reaches(s, m, N - FEWER, &fewer, without))
        return r;
    for (uint32_t p = 0; p < REACHED; p++) {
        const uint64_t grown = all[p] - without[p], element = grown / FEWER;
        if (element == 0 || element > ELEMENT_MOST || element * FEWER != grown ||
            all[p] % element != 0 || all[p] / element <= N)
            continue;
        r.more[p] = all[p] / element - N;
        r.element[p] = element;
    }
    return r;
}

static void tell_reached(const struct reached *r)
{
    for (uint32_t p = 0; p < REACHED; p++)
        if (r->more[p])
            printf("    note: where numbers are n, parameter %" PRIu32 " must have n + %" PRIu64
                   " elements of %" PRIu64 " bytes\n",
                   p, r->more[p], r->element[p]);
}

/* Threads up to number n pass a guard, and so each of these buffers has to have one element more than n: a launch in
 * which they have n. NULL: it is not so. */
static const char *without_reached(const struct made_up *m, const struct reached *r)
{
    const char *settings = r->launch.settings;
    bool any = false;
    for (uint32_t p = 0; p < REACHED && m->indices.reached; p++)
        if (r->more[p] == 1) {
            settings = arena_printf(m->arena, "%s bind:%" PRIu32 "=buffer:%" PRIu64 ":%s", settings,
                                    p, N_REACHED * r->element[p], r->launch.fills[p]);
            any = true;
        }
    return any ? settings : NULL;
}

static void tell_tried(struct arena *arena, const struct tried *tried, const char *launch)
{
    uint32_t bad =
        tried->launches - tried->clean - tried->out_of_bounds - tried->vacuous - tried->cut;
    printf("    note: launches that were made up: %" PRIu32 ", ", tried->launches);
    if (bad > 0)
        printf("of which %" PRIu32 " show%s this; ", bad, bad == 1 ? "s" : "");
    if (tried->out_of_bounds > 0 && tried->clean > 0)
        printf("%" PRIu32 " of them out of bounds, so that the kernel may want others; ",
               tried->out_of_bounds);
    if (tried->vacuous > 0 && tried->vacuous < tried->launches)
        printf("%" PRIu32 " come to no store; ", tried->vacuous);
    if (tried->cut > 0)
        printf("%" PRIu32 " too long; ", tried->cut);
    printf("shown:%s\n", launch);
    if (tried->branches.all > 0)
        printf("    note: %s\n", branches_text(arena, &tried->branches));
}

/* --entry alone says nothing of the launch. */
static bool is_only_name(const char *given)
{
    const char *name = given + strspn(given, " ");
    return strncmp(name, "entry=", 6) == 0 && !strchr(name + 6, '=') && !strchr(name + 6, ' ');
}

/* A kernel that waits for its grid is launched so that it can. */
static const char *cooperation(struct arena *arena, const struct ptx_module *module,
                               const struct ptx_function *entry)
{
    return ptx_waits_for_grid(arena, module, entry)
               ? arena_printf(arena, " memory:" PTX_GRID_BARRIER "=0x%llx:%d", GRID_BARRIER,
                              PTX_GRID_BARRIER_BYTES)
               : "";
}

/* The launch that is shown, or was given. */
static int tell_launch(const struct source_check *s, const char *shown, struct ast_kernel *kernel,
                       const struct tried *tried, const struct check_options *options,
                       struct cli_check_sums *sums)
{
    if (tried->unwritten && tried->settings == tried->unwritten) {
        struct grid *reads = s->cli->options.json ? NULL : grid_try(s->cli, shown, kernel);
        if (reads)
            return grid_tell(reads, sums);
    }
    const bool is_unfit = tried->most == WORTH_UNFIT && tried->settings;
    if (tried->kept && tried->kept_settings == tried->settings) {
        struct check_options asked = *options;
        asked.subjects = tried->kept->subjects;
        return check_conclude(s->cli, shown, tried->kept, &asked, is_unfit, sums);
    }
    struct grid *one =
        tried->decided && !s->cli->options.json ? grid_try(s->cli, shown, kernel) : NULL;
    return one ? grid_tell(one, sums) : check_judge(s->cli, shown, kernel, options, is_unfit, sums);
}

/* Whether the entry reaches a body that cannot run, which is told. */
static bool is_refused(const struct source_check *s, const struct ptx_function *entry)
{
    struct arena *arena = &s->cli->arena;
    struct ptx_reach reach = {.function_count = 0};
    ptx_reach(arena, s->module, entry, &reach);
    struct diag *diag = ARENA_NEW(arena, struct diag);
    diag_init(diag, s->path, s->text, s->length);
    if (!ptx_reach_refused(&reach, diag))
        return false;
    print_refused(s, diag);
    return true;
}

static int check_entry(struct source_check *s, const struct ptx_function *entry,
                       const struct check_options *options, struct cli_check_sums *sums)
{
    struct arena *arena = &s->cli->arena;
    if (is_refused(s, entry)) {
        sums->bad++;
        return CLI_USAGE;
    }
    struct tried tried = {.settings = NULL};
    s->more = cooperation(arena, s->module, entry);
    const struct made_up made_up = made_up_for(arena, s->module, entry);
    struct reached reached = {.more = {0}};
    if (!s->given || is_only_name(s->given)) {
        try_launches(s, &made_up, options, &tried);
        reached = find_reached(s, &made_up);
    }
    if (tried.most == WORTH_CLEAN && tried.unwritten && !tried.written &&
        options->subjects == SUBJECTS_DEFAULT)
        tried.settings = tried.unwritten;
    else
        tried.unwritten = NULL;
    const char *beyond = tried.most < WORTH_WRONG ? without_reached(&made_up, &reached) : NULL;
    if (beyond) {
        tried.settings = beyond;
        tried.most = WORTH_OUTSIDE;
        tried.decided = false;
        tried.launches++;
    }
    const char *settings =
        tried.settings ? tried.settings
                       : arena_printf(arena, "%s entry=%s", s->given ? s->given : "", entry->name);
    struct ast_kernel *kernel = read_with(s, settings, true);
    if (!kernel) {
        sums->bad++;
        return CLI_USAGE;
    }
    const char *name = demangle_text(arena, entry->name);
    const char *shown = arena_printf(arena, "%s: %.*s", s->path, (int)strcspn(name, "("), name);
    const int status = tell_launch(s, shown, kernel, &tried, options, sums);
    if (tried.settings && !s->cli->options.json) {
        tell_tried(arena, &tried, settings + strlen("entry=") + strlen(entry->name));
        tell_reached(&reached);
        if (beyond)
            puts("    note: a guard lets the thread of number n pass; buffers of n elements end "
                 "before it. If they have more, --bind says so");
    }
    if (*s->more && !s->cli->options.json)
        puts(
            "    note: the launch is cooperative, since the kernel waits for its grid (grid.sync)");
    return status;
}

/* Whether an entry has this name, as the PTX has it or as the source does: "scale", "scale<float>". */
static bool has_name(struct arena *arena, const struct ptx_function *entry, const char *name,
                     size_t length)
{
    const char *shown = demangle_text(arena, entry->name);
    const char *type = strstr(shown, " "), *open = shown + strcspn(shown, "(<");
    if (strlen(entry->name) == length && strncmp(entry->name, name, length) == 0)
        return true;
    if (type && type < open)
        shown = type + 1; /* of templates the type of the result stands in front */
    return strncmp(shown, name, length) == 0 && (shown[length] == '(' || shown[length] == '<');
}

/* All of them, unless --entry names one. */
static bool is_wanted(const struct source_check *s, const struct ptx_function *entry)
{
    const char *named = s->given ? strstr(s->given, "entry=") : NULL;
    if (!entry->is_entry || !entry->has_body || (s->is_ptx && ptx_does_nothing(entry)))
        return false;
    return !named || has_name(&s->cli->arena, entry, named + strlen("entry="),
                              strcspn(named + strlen("entry="), " "));
}

static int check_entries(struct source_check *s, const struct check_options *options,
                         struct cli_check_sums *sums)
{
    struct check_options briefly = *options;
    const char *why;
    uint32_t count = 0;
    int status = CLI_OK;
    if (options->oracles == ORACLES_DEFAULT) {
        briefly.reference_steps = FOLLOWED_STEPS;
        briefly.oracles &= ~(1u << ORACLE_METAMORPHIC);
    }
    s->injected = ptx_inject(&s->cli->arena, s->module, &why);
    for (const struct ptx_item *item = s->module->items; item; item = item->next) {
        if (item->kind != PTX_ITEM_FUNCTION || !is_wanted(s, item->u.function))
            continue;
        size_t mark = arena_mark(&s->cli->arena);
        int one = check_entry(s, item->u.function, &briefly, sums);
        status = one > status ? one : status;
        count++;
        arena_release(&s->cli->arena, mark);
    }
    if (count == 0) {
        cli_message(s->cli, "%s: it has no kernel%s", s->path,
                    s->given && strstr(s->given, "entry=") ? " of this name" : "");
        sums->bad++;
        return CLI_USAGE;
    }
    return status;
}

/* The text; false: what is wrong with it is in `diag`. */
static bool parse(struct source_check *s, struct diag *diag)
{
    diag_init(diag, s->path, s->text, s->length);
    s->module = ptx_parse_some(&s->cli->arena, s->text, s->length, diag);
    return s->module != NULL;
}

/* Without a launch, and without the name of an entry as the PTX has it. A stored case is of the kernel's own launch. */
static bool has_entries(struct source_check *s)
{
    struct arena *arena = &s->cli->arena;
    struct diag *diag = ARENA_NEW(arena, struct diag);
    const size_t length = strlen(s->path);
    uint32_t count = 0;
    if (length < 4 || strcmp(s->path + length - 4, ".ptx") != 0 || s->cli->options.check_case ||
        (s->given && !is_only_name(s->given)))
        return false;
    s->text = parse_read_bytes(arena, s->path, PTX_LIMIT_SOURCE_BYTES, &s->length, diag);
    if (!s->text || !ptx_is_ptx(s->text, s->length) || strstr(s->text, "// simtfuzz:") ||
        strstr(s->text, "// expect") || !parse(s, diag))
        return false;
    for (const struct ptx_item *i = s->module->items; i; i = i->next) {
        const struct ptx_function *f = i->kind == PTX_ITEM_FUNCTION ? i->u.function : NULL;
        if (!f || !f->is_entry || !f->has_body || ptx_does_nothing(f))
            continue;
        const char *name = s->given ? strchr(s->given, '=') + 1 : f->name;
        if (s->given && strcmp(name, f->name) == 0)
            return false;
        count += has_name(arena, f, name, strlen(name));
    }
    return count > 0;
}

bool check_entries_of(struct cli *cli, const char *path, const struct check_options *options,
                      struct cli_check_sums *sums, int *status)
{
    struct source_check s = {
        .cli = cli, .path = path, .is_ptx = true, .given = cli->options.settings, .more = ""};
    if (!has_entries(&s))
        return false;
    *status = check_entries(&s, options, sums);
    return true;
}

int check_source(struct cli *cli, const char *path, const struct check_options *options,
                 struct cli_check_sums *sums)
{
    struct source_check s = {.cli = cli, .path = path, .given = cli->options.settings, .more = ""};
    char folder[] = "/tmp/simtfuzz-check-XXXXXX";
    const char *why = NULL;
    int status = CLI_USAGE;
    if (access(path, R_OK) != 0 || !mkdtemp(folder)) {
        cli_message(cli, "%s: %s", path, strerror(errno));
        sums->bad++;
        return CLI_USAGE;
    }
    const char *ptx = compile_to_ptx(&cli->arena, path, cli->options.compiler, folder, &why);
    struct diag *diag = ARENA_NEW(&cli->arena, struct diag);
    if (ptx)
        s.text = parse_read_bytes(&cli->arena, ptx, PTX_LIMIT_SOURCE_BYTES, &s.length, diag);
    if (s.text && parse(&s, diag)) {
        status = check_entries(&s, options, sums);
    } else {
        sums->bad++;
        if (s.text)
            print_refused(&s, diag);
        else
            cli_message(cli, "%s: %s", path, why ? why : "its PTX cannot be read");
    }
    bundle_remove_folder(folder);
    return status;
}
