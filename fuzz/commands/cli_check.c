/*
 * cli_check.c - `simtfuzz check`: kernels under every subject and oracle, and what they expect.
 */
#include "fuzz/commands/cli_check.h"

#include "engine/host/host.h"
#include "engine/input/input.h"
#include "engine/program/ptx_code.h"
#include "fuzz/base/interrupt.h"
#include "fuzz/case/case.h"
#include "fuzz/check/check_report.h"
#include "fuzz/check/compile.h"
#include "fuzz/grid/grid.h"
#include "fuzz/host/cli_host.h"
#include "fuzz/out/demangle.h"
#include "fuzz/out/door.h"
#include "fuzz/out/output.h"
#include "fuzz/out/table.h"
#include "fuzz/prove/brief.h"
#include "oracle/check/evidence.h"
#include "oracle/check/expect.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what all forms of output need ---- */

const char *check_verdict_name(const struct check_result *result, uint32_t failed)
{
    if (check_divergences(result, false) > 0)
        return "diverge";
    return failed > 0 ? "expectation_failed" : "agree";
}

/* A claim about a subject that the command line left out is not asked. */
static bool is_asked(const struct check_result *result, const struct check_claim *claim)
{
    const char *why;
    return expect_is_asked(claim->expect, result->subjects, &why);
}

uint32_t check_failed_claims(const struct check_result *result)
{
    uint32_t failed = 0;
    for (uint32_t i = 0; i < result->claim_count; i++)
        failed += is_asked(result, &result->claims[i]) && !result->claims[i].met;
    return failed;
}

const char *check_claim_text(struct arena *arena, const struct ast_expect *expect)
{
    const char *name = ast_claim_names[expect->claim];
    if (!expect->var)
        return name;
    const char *text = arena_printf(arena, "%s %s", name, expect->var->name);
    if (expect->claim != CLAIM_FINAL)
        return text;
    text = arena_printf(arena, "%s == %s", text, expect->var->is_array ? "{" : "");
    for (uint32_t i = 0; i < expect->value_count; i++)
        text = arena_printf(arena, "%s%s%" PRId32, text, i ? ", " : "", expect->values[i]);
    return expect->var->is_array ? arena_printf(arena, "%s}", text) : text;
}

const char *check_note(struct arena *arena, const struct check_result *result, uint32_t number)
{
    const struct ast_kernel *kernel = result->kernel;
    const char *reason;
    if (kernel->form != FORM_PTX)
        return NULL;
    if (number == 0)
        return kernel->ptx->notes;
    const struct program *program = program_compile(arena, kernel, &reason);
    return program ? program->ptx->uninitialised : NULL;
}

/* ---- text ---- */

static void print_head(const struct cli *cli, const char *word, const char *color, const char *path,
                       const char *more)
{
    bool colored = cli->options.color;
    if (colored)
        door_control(stdout, color);
    printf("%-9s", word);
    if (colored)
        door_control(stdout, "\033[0m");
    printf(" %s%s\n", path, more);
}

static void print_divergences(struct arena *arena, const struct check_options *options,
                              const struct check_result *result)
{
    for (uint32_t i = 0; i < ORACLE_COUNT; i++) {
        const struct divergence *d = result->answers[i].divergence;
        if (!(options->oracles & 1u << i) || !d)
            continue;
        if (d->known)
            printf("    %s: known divergence %s\n", oracle_table[i].name, d->known);
        else
            printf("    %s\n", divergence_signature(arena, d));
        if (d->line)
            printf("        line %" PRIu32 ": %s\n", d->line, d->summary);
        else
            printf("        %s\n", d->summary);
    }
}

/* What --exhaustive reached: all executions, or where a bound cut the search off. */
static void print_search(const struct check_run *run)
{
    const struct search_result *search = run->reduced ? run->reduced : run->search;
    const char *plural = search->outcome_count == 1 ? "" : "s";
    printf("    %s: ", subject_table[run->subject].name);
    if (run->reduced)
        printf("outcomes alone: ");
    if (search->complete)
        printf("all executions searched, %" PRIu32 " outcome%s", search->outcome_count, plural);
    else
        printf("NOT all executions: %s%s cut the search off; %" PRIu32 " outcome%s found, a subset",
               strcmp(search->cut, "interrupted") == 0 ? "" : "the bound on ",
               strcmp(search->cut, "interrupted") == 0 ? "an interruption" : search->cut,
               search->outcome_count, plural);
    if (search->method != SEARCH_DPOR)
        printf(" (states: %" PRIu64 ")\n", search->states);
    else
        printf(" (partial-order reduction, executions: %" PRIu64 ")\n", search->executions);
}

/* The searches of a kernel as they end: the rest of what is said of it may take as long again. */
struct searched {
    const struct cli *cli;
    const char *path;
    bool begun;
};

static void tell_searched(void *context, const struct check_run *run)
{
    struct searched *searched = context;
    if (!searched->begun)
        print_head(searched->cli, "searching", "\033[36m", searched->path, "");
    searched->begun = true;
    print_search(run);
    fflush(stdout);
}

/* Subjects that could not run the kernel, although they run kernels of its form. */
static void print_refusals(const struct check_result *result)
{
    for (uint32_t i = 0; i < SUBJECT_COUNT; i++) {
        const struct subject_info *subject = &subject_table[i];
        if ((result->subjects & SUBJECT_BIT(i)) && result->runs[i].reason &&
            subject_suits((enum subject_id)i, result->kernel->form))
            printf("    %s did not run: %s\n", subject->name, result->runs[i].reason);
    }
}

/* The claims that are not met, and those that this run did not ask. */
static void print_claims(struct arena *arena, const struct check_result *result)
{
    for (uint32_t i = 0; i < result->claim_count; i++) {
        const struct check_claim *claim = &result->claims[i];
        const struct ast_expect *expect = claim->expect;
        const char *why;
        bool asked = expect_is_asked(expect, result->subjects, &why);
        if (asked && claim->met)
            continue;
        printf("    line %" PRIu32 ": expect %s%s%s\n        %s%s\n", expect->at.line,
               expect->subject ? expect->subject : "", expect->subject ? ": " : "",
               check_claim_text(arena, expect),
               asked ? "" : "not asked: ", asked ? claim->why : why);
    }
}

/* "terminated 14, step_limit 2" */
static const char *ends_text(struct arena *arena, const struct check_run *run)
{
    const char *text = "";
    for (uint32_t i = 0; i < STATUS_COUNT; i++)
        if (run->statuses[i] > 0)
            text = arena_printf(arena, "%s%s%s %" PRIu32, text, *text ? ", " : "", status_names[i],
                                run->statuses[i]);
    return text;
}

/* What each subject does with a kernel that does not say what it expects. */
static void print_runs(struct arena *arena, const struct check_result *result)
{
    static const char *const titles[] = {"", "subject", "executions", "ended", "stores", "race"};
    struct table table;
    table_start(&table, arena, titles, "llrlrl");
    for (uint32_t i = 0; i < SUBJECT_COUNT; i++) {
        const struct check_run *run = &result->runs[i];
        if (!run->program || run->schedules == 0)
            continue;
        struct table_row *row = table_add(&table);
        row->cells[0] = "  ";
        row->cells[1] = subject_table[i].name;
        row->cells[2] = arena_printf(arena, "%" PRIu32, run->schedules);
        row->cells[3] = ends_text(arena, run);
        row->cells[4] = arena_printf(arena, "%" PRIu32 "%s", run->final_count,
                                     run->more_finals ? " or more" : "");
        row->cells[5] =
            run->race
                ? demangle_within(arena, evidence_race_sentence(arena, run->program, &run->witness),
                                  result->kernel->name)
            : run->race_unknown ? run->race_unknown
                                : "none";
    }
    if (table.first)
        table_print(&table, stdout);
}

/* The line of a text, or NULL. */
static const char *line_of(struct arena *arena, const char *text, size_t length, uint32_t line)
{
    const char *end = text + length;
    for (uint32_t n = 1; n < line && text < end; n++) {
        const char *next = memchr(text, '\n', (size_t)(end - text));
        text = next ? next + 1 : end;
    }
    const char *stop = text < end ? memchr(text, '\n', (size_t)(end - text)) : NULL;
    return text < end ? arena_strndup(arena, text, (size_t)((stop ? stop : end) - text)) : NULL;
}

/* Of a place in a source ("warpsum.cu:13"): the file beside the kernel. */
static const char *source_path(struct arena *arena, const char *path, const char *source,
                               uint32_t *line)
{
    const char *file = source_file(arena, source, line), *slash = strrchr(path, '/');
    const int folder = slash && *source != '/' ? (int)(slash + 1 - path) : 0;
    return arena_printf(arena, "%.*s%s", folder, path, file ? file : source);
}

enum { QUOTE_BYTES = 100 };

/* The line itself, as the user wrote it: of the source if it is there, else of the kernel's file. */
static void print_quote(struct arena *arena, const char *path, const struct source_place *place)
{
    struct diag *diag = ARENA_NEW(arena, struct diag);
    uint32_t line = place->line;
    size_t length;
    char *text = NULL;
    if (place->line == 0)
        return;
    if (place->source)
        text =
            parse_read_file(arena, source_path(arena, path, place->source, &line), &length, diag);
    if (!text) {
        line = place->line;
        text = parse_read_file(arena, path, &length, diag);
    }
    const char *quoted = text ? line_of(arena, text, length, line) : NULL;
    if (quoted)
        printf("    %6" PRIu32 " | %.*s%s\n", line, QUOTE_BYTES, quoted,
               strlen(quoted) > QUOTE_BYTES ? " ..." : "");
}

/* What else happens, and the lines concerned. */
static void print_happenings(struct arena *arena, const char *path, const char *kernel,
                             const struct headline *headline)
{
    for (uint32_t i = 0; i < headline->count; i++) {
        const struct happening *h = &headline->happenings[i];
        if (i > 0)
            printf("    also %s\n", demangle_within(arena, headline_text(arena, h), kernel));
        for (uint32_t p = 0; p < HAPPENING_PLACES; p++)
            print_quote(arena, path, &h->places[p]);
    }
}

/* Behind the kernel's name: what happens, in one line; of a kernel that states what it expects in brief. */
static const char *head_text(struct arena *arena, const struct check_result *result,
                             const struct headline *headline, bool brief)
{
    const char *text = "";
    if (!result->program)
        return arena_printf(arena, "  %s", result->reason);
    if (headline->count == 0)
        return arena_printf(arena, "  (%s%s)", brief && headline->suppressed == 0 ? "clean: " : "",
                            headline->scope);
    if (!brief) { /* the word stands in front of the name */
        text = headline_text(arena, &headline->happenings[0]) + strlen(headline->word);
        return arena_printf(arena, "%s%s", *text == ':' ? "" : ":", text);
    }
    for (uint32_t i = 0; i < headline->count; i++)
        text = arena_printf(arena, "%s%s%s", text, *text ? ", " : "",
                            outcome_names[headline->happenings[i].outcome]);
    return arena_printf(arena, "  (%s)", text);
}

enum { PROOF_BUDGET_SHARE = 4 }; /* a proof beside a check is to be cheap */

/* The first line's word about it. */
static const char *word_of(const struct check_result *result, const struct headline *headline,
                           uint32_t failed)
{
    if (check_divergences(result, false) > 0)
        return "DIVERGE";
    if (failed > 0)
        return "FAILED";
    if (!result->program)
        return "refused";
    return result->claim_count > 0 ? "agree" : headline->word;
}

static void print_text(struct cli *cli, const char *path, const struct check_options *options,
                       const struct check_result *result, const struct cli_stated *stated,
                       const struct headline *headline)
{
    struct arena *arena = &cli->arena;
    uint32_t failed = check_failed_claims(result) + cli_stated_failed(stated);
    bool states = result->claim_count > 0;
    bool diverges = check_divergences(result, false) > 0;
    const char *more = demangle_within(
        arena, head_text(arena, result, headline, states || diverges), result->kernel->name);
    const bool bad = diverges || failed > 0 || (result->program && !states && headline->count > 0);
    print_head(cli, word_of(result, headline, failed),
               bad                ? "\033[31m"
               : !result->program ? "\033[33m"
                                  : "\033[32m",
               path, more);
    for (uint32_t i = 0; i < CHECK_NOTES; i++) {
        const char *note = check_note(arena, result, i);
        if (note)
            printf("    note: %s\n", demangle_within(arena, note, result->kernel->name));
    }
    if (strcmp(headline->word, "vacuous") == 0)
        printf("    note: no execution comes to any of its stores, so this says nothing of them; "
               "other parameters "
               "(--bind) or another launch may\n");
    if (headline->met_by_threads)
        printf("    note: lanes of a mask meet at different instructions: warps with one pc are "
               "stuck there, threads "
               "with pcs of their own (its) are not\n");
    if (!states || failed > 0)
        print_happenings(arena, path, result->kernel->name, headline);
    if (result->program)
        print_refusals(result);
    print_divergences(arena, options, result);
    if (result->claim_count > 0)
        print_claims(arena, result);
    else
        print_runs(arena, result);
    cli_print_stated(arena, stated);
    if (cli->options.prove.beside && result->program)
        printf("    %s\n", prove_brief(arena, result->kernel, PROOF_BUDGET_SHARE));
}

/* ---- for others ---- */

/* In the source, if it is there, else in the kernel's file. */
static void set_place(struct arena *arena, const char *path, const struct source_place *place,
                      struct check_problem *problem)
{
    const char *sources[] = {place->source, place->path};
    for (int i = 0; i < 2; i++) {
        problem->path = sources[i] ? source_path(arena, path, sources[i], &problem->line) : NULL;
        if (problem->path && access(problem->path, R_OK) == 0)
            return;
    }
    problem->path = NULL;
    problem->line = place->line;
}

static void report_kernel(struct arena *arena, struct check_report *report, const char *path,
                          const struct check_result *result, const struct headline *headline,
                          const char *word, const struct fail_on *fail_on)
{
    bool states = result->kernel->expects != NULL;
    const char *kernel = result->kernel->name;
    check_report_kernel(report, word, path, demangle_text(arena, kernel));
    for (uint32_t i = 0; i < headline->count; i++) {
        const struct happening *h = &headline->happenings[i];
        struct check_problem problem = {.rule = outcome_names[h->outcome],
                                        .text =
                                            demangle_within(arena, headline_text(arena, h), kernel),
                                        .fails = !states && headline_counts(h, fail_on)};
        set_place(arena, path, &h->places[0], &problem);
        check_report_problem(report, &problem);
    }
    for (uint32_t i = 0; i < ORACLE_COUNT; i++)
        for (const struct divergence *d = result->answers[i].divergence; d; d = d->next) {
            struct check_problem problem = {
                .rule = arena_printf(arena, "oracle %s", oracle_table[i].name),
                .text = arena_printf(arena, "%s (%s)", d->summary, divergence_signature(arena, d)),
                .line = d->line,
                .fails = !d->known};
            check_report_problem(report, &problem);
        }
    for (uint32_t i = 0; i < result->claim_count; i++) {
        const struct check_claim *claim = &result->claims[i];
        struct check_problem problem = {.rule = "expectation",
                                        .text = arena_printf(arena, "expect %s: %s",
                                                             check_claim_text(arena, claim->expect),
                                                             claim->why ? claim->why : ""),
                                        .line = claim->expect->at.line,
                                        .fails = true};
        if (is_asked(result, claim) && !claim->met)
            check_report_problem(report, &problem);
    }
}

/* What counts for this kernel: that it may hang is no surprise where its termination matrix is stated. */
static struct fail_on fail_on_of(const struct cli *cli, const char *path,
                                 const struct ast_kernel *kernel)
{
    struct fail_on fail_on = cli->options.fail_outcomes;
    fail_on.path = path;
    if (kernel->progress)
        fail_on.outcomes &= ~(1u << OUTCOME_HANG);
    return fail_on;
}

/* ---- the command ---- */

/* No machine that runs PTX can run this: an instruction that is not supported, too much memory. */
static bool is_bad_ptx(const struct check_result *result)
{
    for (uint32_t i = 0; i < SUBJECT_COUNT; i++)
        if (result->kernel->form == FORM_PTX && !result->program &&
            (result->subjects & SUBJECT_BIT(i)) && subject_suits((enum subject_id)i, FORM_PTX))
            return true;
    return false;
}

/* A kernel of a corpus says what must happen to it; a user's own need not. */
static bool in_corpus(const char *path)
{
    char *full = realpath(path, NULL);
    bool result = full && strstr(full, "/corpus/");
    free(full);
    return result;
}

enum { REPORT_BYTES = 64 << 20 };

static int check_kernel_file(struct cli *cli, const char *path, const struct check_options *options,
                             struct cli_check_sums *sums)
{
    struct ast_kernel *kernel = cli_read_launched(cli, path);
    if (!kernel) {
        sums->bad++;
        return CLI_USAGE;
    }
    if (!kernel->expects && in_corpus(path)) {
        fprintf(stderr, "%s:1:1: error: a kernel of the corpus needs an expect\n", path);
        sums->bad++;
        return CLI_USAGE;
    }
    if (!kernel->progress && in_corpus(path)) {
        fprintf(stderr,
                "%s:1:1: error: a kernel of the corpus needs an expect progress: "
                "simtfuzz progress --expect prints it\n",
                path);
        sums->bad++;
        return CLI_USAGE;
    }
    return check_judge(cli, path, kernel, options, false, sums);
}

subject_set check_subjects(const struct ast_kernel *kernel, subject_set asked)
{
    bool plain = asked == SUBJECTS_DEFAULT && kernel->form == FORM_PTX && !kernel->expects;
    return plain && ptx_kernel_has_meetings(kernel) ? asked | SUBJECT_BIT(SUBJECT_ITS) : asked;
}

/* Whoever says what is expected, or how much is to be looked at, gets that. */
static bool may_grow(const struct cli *cli, const struct ast_kernel *kernel)
{
    const struct cli_options *o = &cli->options;
    return kernel->form == FORM_PTX && !kernel->expects && !kernel->progress && !o->budget_steps &&
           !o->exhaustive && !o->check_case;
}

/* Nothing happens to it that one would tell. */
static bool is_quiet(struct cli *cli, const struct check_result *result)
{
    const size_t mark = arena_mark(&cli->arena);
    struct headline headline;
    headline_of(&cli->arena, result, &headline);
    arena_release(&cli->arena, mark);
    return headline.count == 0;
}

int check_judge(struct cli *cli, const char *path, struct ast_kernel *kernel,
                const struct check_options *options, bool is_unfit, struct cli_check_sums *sums)
{
    if (kernel->form == FORM_PTX && (kernel->ptx->whole || kernel->ptx->results))
        return grid_check(cli, path, kernel, sums);
    struct check_result *result = ARENA_NEW(&cli->arena, struct check_result);
    struct searched searched = {.cli = cli, .path = path};
    struct check_options telling = *options;
    telling.searched = cli->options.json ? NULL : tell_searched;
    telling.searched_context = &searched;
    telling.subjects = check_subjects(kernel, options->subjects);
    struct grid *one = may_grow(cli, kernel) ? grid_try(cli, path, kernel) : NULL;
    if (grid_decides(one, CHECK_DEFAULTS.budget_steps))
        return grid_tell(one, sums);
    check_kernel(&cli->arena, kernel, &telling, result);
    const bool tells_more =
        grid_reads_unwritten(one) || (grid_is_cut(one) && budget_is_short(result, &telling));
    if (tells_more && options->subjects == SUBJECTS_DEFAULT && is_quiet(cli, result))
        return grid_tell(one, sums);
    grid_drop(one);
    return check_conclude(cli, path, result, &telling, is_unfit, sums);
}

int check_conclude(struct cli *cli, const char *path, struct check_result *result,
                   const struct check_options *options, bool is_unfit, struct cli_check_sums *sums)
{
    const struct ast_kernel *kernel = result->kernel;
    struct headline headline;
    headline_of(&cli->arena, result, &headline);
    if (headline.count == 0 && may_grow(cli, kernel) && budget_is_short(result, options)) {
        budget_grow(cli, kernel, options, result);
        headline_of(&cli->arena, result, &headline);
    }
    if (is_unfit)
        headline_unfit(&cli->arena, &headline);
    struct cli_stated stated = cli_check_matrix(cli, kernel, options);
    const struct fail_on fail_on = fail_on_of(cli, path, kernel);
    headline_suppress(&headline, &fail_on);
    if (cli->options.json)
        check_print_json(&cli->arena, path, options, result, &stated, &headline);
    else
        print_text(cli, path, options, result, &stated, &headline);
    uint32_t diverged = check_divergences(result, false);
    uint32_t failed = check_failed_claims(result) + cli_stated_failed(&stated);
    sums->kernels++;
    sums->diverged += diverged > 0;
    sums->failed += failed > 0;
    for (uint32_t i = 0; i < headline.suppressed && !cli->options.json; i++)
        printf("    note: %s suppresses: %s\n", cli->options.suppress,
               demangle_within(&cli->arena,
                               headline_text(&cli->arena, &headline.happenings[headline.count + i]),
                               kernel->name));
    if (sums->report)
        report_kernel(&cli->arena, sums->report, path, result, &headline,
                      word_of(result, &headline, failed), &fail_on);
    bool states = kernel->expects != NULL;
    bool unwanted = !states && headline_fails(&headline, &fail_on);
    sums->unwanted += unwanted;
    bool refused = !result->program && failed == 0;
    sums->refused += refused;
    sums->agreed += diverged == 0 && failed == 0 && !refused && !unwanted;
    sums->known += check_divergences(result, true) > diverged;
    if (diverged > 0 || failed > 0 || unwanted)
        return CLI_DIVERGENCE;
    return refused && is_bad_ptx(result) ? CLI_USAGE : CLI_OK;
}

int cli_check_file(struct cli *cli, const char *path, const struct check_options *options,
                   struct cli_check_sums *sums)
{
    if (host_is_path(path))
        return cli_host_check(cli, path, sums);
    size_t mark = arena_mark(&cli->arena);
    int status = CLI_OK;
    if (compile_is_source(path))
        status = check_source(cli, path, options, sums);
    else if (!check_entries_of(cli, path, options, sums, &status))
        status = check_kernel_file(cli, path, options, sums);
    arena_release(&cli->arena, mark);
    return status;
}

static int worse(int a, int b)
{
    return a > b ? a : b;
}

/* --tape and --case belong together. */
static bool read_tape(struct cli *cli, struct check_options *options)
{
    const struct fuzz_case *c = cli->options.check_case;
    bool wanted = c && c->has_tape;
    if (wanted == (cli->options.tape != NULL)) {
        options->tape = wanted ? cli_read_tape(cli, cli->options.tape) : NULL;
        return !wanted || options->tape;
    }
    cli_misuse(cli, wanted ? "--case says tape-of=SUBJECT: it wants --tape FILE"
                           : "--tape wants a --case that says tape-of=SUBJECT");
    return false;
}

/* All searches together have the time of --time; Ctrl-C ends them, too. What they have found by then is printed. */
static void bound_searches(const struct cli *cli, struct check_options *options)
{
    if (options->search.max_states == 0)
        options->search = SEARCH_DEFAULTS;
    options->search.stop = &interrupt_stop;
    interrupt_catch();
    interrupt_after(cli->options.time_ms);
}

static bool read_suppressions(struct cli *cli)
{
    const char *path = cli->options.suppress;
    if (path)
        cli->options.fail_outcomes.suppressions = suppress_read(&cli->arena, path, stderr);
    return !path || cli->options.fail_outcomes.suppressions;
}

/* Instead of a check: ends and repairs. A place of a repair is searched for a short while only. */
static int repair_files(struct cli *cli, const struct cli_files *files)
{
    enum { REPAIR_STATES = 1 << 15 };
    struct check_options options = cli_check_options(cli);
    int status = CLI_OK;
    bound_searches(cli, &options);
    if (cli->options.repair)
        options.search.max_states = REPAIR_STATES;
    for (uint32_t i = 0; i < files->count && !interrupted; i++)
        status = worse(status, cli_repair_file(cli, files->paths[i], &options.search));
    return interrupted ? CLI_INTERRUPTED : status;
}

static uint32_t count_hosts(const struct cli_files *files)
{
    uint32_t hosts = 0;
    for (uint32_t i = 0; i < files->count; i++)
        hosts += host_is_path(files->paths[i]);
    return hosts;
}

/* Options that are for the other kind of files. */
static bool options_fit(struct cli *cli, const struct cli_files *files)
{
    const uint32_t hosts = count_hosts(files);
    if (cli->options.device && hosts == 0)
        cli_misuse(cli, "--device is for host programs (*.host)");
    else if (cli->options.subjects != SUBJECTS_DEFAULT && files->count > 0 && hosts == files->count)
        cli_misuse(cli, "--subjects is for kernels: on a device (--device) they run under crs");
    else if (cli->options.exhaustive && files->count > 0 && hosts == files->count)
        cli_misuse(
            cli,
            "--exhaustive is for kernels: executions of a host program are drawn (--schedules)");
    else
        return true;
    return false;
}

int command_check(struct cli *cli)
{
    struct cli_files files;
    struct cli_check_sums sums = {0};
    struct check_options options = cli_check_options(cli);
    int status = CLI_OK;
    if (!read_suppressions(cli) || !read_tape(cli, &options) ||
        !cli_find_checked(cli, cli->arguments, cli->argument_count, &files))
        return CLI_USAGE;
    if (!options_fit(cli, &files))
        return CLI_USAGE;
    if (cli->options.repair || cli->options.outcomes)
        return repair_files(cli, &files);
    struct arena kept;
    const bool reports = cli_wants_reports(cli);
    if (reports && arena_init(&kept, REPORT_BYTES) != 0) {
        cli_message(cli, "cannot reserve %d MB for the report", REPORT_BYTES >> 20);
        return CLI_FAULT;
    }
    sums.report = reports ? check_report_new(&kept) : NULL;
    if (options.exhaustive)
        bound_searches(cli, &options);
    uint32_t done = 0;
    for (; done < files.count && !interrupted; done++) {
        status = worse(status, cli_check_file(cli, files.paths[done], &options, &sums));
        fflush(stdout); /* the next one may take its time */
    }
    if (reports) {
        check_report_unjudged(sums.report, sums.bad + sums.refused + files.count - done);
        status = worse(status, cli_write_reports(cli, sums.report));
        arena_destroy(&kept);
    }
    if (!cli->options.json && files.count > 1)
        printf("%" PRIu32 " kernels: %" PRIu32 " agree (%" PRIu32
               " with a known divergence), %" PRIu32 " diverge, %" PRIu32
               " with a failed expectation, %" PRIu32 " that race or fault, %" PRIu32
               " refused, %" PRIu32 " in error\n",
               sums.kernels + sums.bad, sums.agreed, sums.known, sums.diverged, sums.failed,
               sums.unwanted, sums.refused, sums.bad);
    fflush(stdout);
    if (interrupted)
        cli_message(cli, "interrupted: the searches were cut off");
    else if (interrupt_time_over())
        cli_message(cli, "the time is over: searches that were not ready by then say so");
    return interrupted ? CLI_INTERRUPTED : status;
}
