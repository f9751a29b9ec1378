/*
 * cli_check.c - `simtfuzz check`: kernels under every subject and oracle, and what they expect.
 */
#include "engine/program/ptx_code.h"
#include "fuzz/base/interrupt.h"
#include "fuzz/case/case.h"
#include "fuzz/commands/cli_matrix.h"
#include "fuzz/out/json.h"
#include "fuzz/out/table.h"
#include "oracle/check/evidence.h"
#include "oracle/check/expect.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- what both forms of output need ---- */

static const char *verdict_name(const struct check_result *result, uint32_t failed)
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

static uint32_t failed_claims(const struct check_result *result)
{
    uint32_t failed = 0;
    for (uint32_t i = 0; i < result->claim_count; i++)
        failed += is_asked(result, &result->claims[i]) && !result->claims[i].met;
    return failed;
}

static const char *claim_text(struct arena *arena, const struct ast_expect *expect)
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

/* ---- JSON ---- */

static void json_access(struct json *json, struct arena *arena, const struct program *program,
                        const char *key, const struct race_access *access)
{
    json_key(json, key);
    json_object_begin(json);
    json_key_u64(json, "thread", access->thread);
    json_key_u64(json, "line", program->stms[access->stm].line);
    const char *source = evidence_source(arena, program, access->stm);
    if (source)
        json_key_string(json, "source", source);
    json_key_string(json, "access", race_access_names[access->kind]);
    json_object_end(json);
}

static void json_race(struct json *json, struct arena *arena, const struct program *program,
                      const struct check_run *run)
{
    json_key(json, "race");
    if (!run->race) {
        json_null(json);
        return;
    }
    json_object_begin(json);
    json_key_string(json, "location", program_location_name(arena, program, run->witness.address));
    json_access(json, arena, program, "first", &run->witness.first);
    json_access(json, arena, program, "second", &run->witness.second);
    if (run->witness.first.kind == ACCESS_WRITE && run->witness.second.kind == ACCESS_WRITE) {
        json_key_bool(json, "same_value", run->witness.same_value);
        json_key_bool(json, "simultaneous", run->witness.simultaneous);
    }
    json_object_end(json);
}

static void json_values(struct json *json, const int32_t *values, const struct ast_var *var)
{
    if (!var->is_array) {
        json_int(json, values[0]);
        return;
    }
    json_array_begin(json);
    for (uint32_t i = 0; i < var->length; i++)
        json_int(json, values[i]);
    json_array_end(json);
}

/* One final store: each global variable, and each shared one (a list over blocks if there are
 * several). */
static void json_store(struct json *json, const struct program *program, const int32_t *store)
{
    json_object_begin(json);
    for (uint32_t i = 0; i < program->var_count; i++) {
        const struct code_var *var = &program->vars[i];
        enum ast_space space = var->ast->space;
        if (space != SPACE_GLOBAL && space != SPACE_SHARED)
            continue;
        json_key(json, var->ast->name);
        if (space == SPACE_GLOBAL || program->launch.blocks == 1) {
            uint32_t base = space == SPACE_GLOBAL ? 0 : program->shared_base;
            json_values(json, store + base + var->offset, var->ast);
            continue;
        }
        json_array_begin(json);
        for (uint32_t b = 0; b < program->launch.blocks; b++)
            json_values(
                json, store + program->shared_base + b * program->words[SPACE_SHARED] + var->offset,
                var->ast);
        json_array_end(json);
    }
    json_object_end(json);
}

static void json_search(struct json *json, const struct search_result *search)
{
    json_key(json, "search");
    if (!search) {
        json_null(json);
        return;
    }
    json_object_begin(json);
    json_key_string(json, "method", search_method_names[search->method]);
    json_key_u64(json, "states", search->states);
    json_key_u64(json, "executions", search->executions);
    json_key_u64(json, "outcomes", search->outcome_count);
    json_key_string(json, "cut", search->cut);
    json_object_end(json);
}

static void json_run(struct json *json, struct arena *arena, const struct check_run *run)
{
    const struct program *program = run->program;
    json_object_begin(json);
    json_key_string(json, "subject", subject_table[run->subject].name);
    json_key_u64(json, "schedules", run->schedules);
    json_key_bool(json, "exhaustive", run->search && run->search->complete);
    json_search(json, run->search);
    json_key(json, "statuses");
    json_object_begin(json);
    for (uint32_t i = 0; i < STATUS_COUNT; i++)
        if (run->statuses[i] > 0)
            json_key_u64(json, status_names[i], run->statuses[i]);
    json_object_end(json);
    json_key_string(json, "error", run->error);
    json_race(json, arena, program, run);
    json_key_string(json, "race_unknown",
                    run->race_incomplete && !run->race ? "the race detector ran out of room"
                                                       : run->race_unknown);
    json_key(json, "finals");
    json_array_begin(json);
    for (uint32_t i = 0; i < run->final_count; i++)
        json_store(json, program, run->finals[i]);
    json_array_end(json);
    json_key_bool(json, "more_finals", run->more_finals);
    json_key_string(json, "reason", run->reason);
    json_object_end(json);
}

static void json_divergence(struct json *json, struct arena *arena, const struct divergence *d)
{
    json_object_begin(json);
    json_key_string(json, "signature", divergence_signature(arena, d));
    json_key_string(json, "known", d->known);
    json_key_string(json, "summary", d->summary);
    json_key(json, "evidence");
    json_raw(json, d->evidence);
    json_key_string(json, "tape", d->tape ? tape_print(arena, d->tape) : NULL);
    json_object_end(json);
}

/* The first divergence, and those with other signatures. */
static void json_findings(struct json *json, struct arena *arena, const struct divergence *d)
{
    json_key(json, "finding");
    if (d)
        json_divergence(json, arena, d);
    else
        json_null(json);
    json_key(json, "further");
    json_array_begin(json);
    for (d = d ? d->next : NULL; d; d = d->next)
        json_divergence(json, arena, d);
    json_array_end(json);
}

static void json_answers(struct json *json, struct arena *arena,
                         const struct check_options *options, const struct check_result *result)
{
    json_key(json, "oracles");
    json_array_begin(json);
    for (uint32_t i = 0; i < ORACLE_COUNT; i++) {
        const struct answer *answer = &result->answers[i];
        if (!(options->oracles & 1u << i))
            continue;
        json_object_begin(json);
        json_key_string(json, "oracle", oracle_table[i].name);
        json_key_string(json, "verdict", verdict_names[answer->verdict]);
        json_key_u64(json, "checked", answer->checked);
        json_key_string(json, "reason", answer->reason);
        json_findings(json, arena, answer->divergence);
        json_object_end(json);
    }
    json_array_end(json);
}

static void json_expectations(struct json *json, struct arena *arena,
                              const struct check_result *result)
{
    json_key(json, "expectations");
    json_array_begin(json);
    for (uint32_t i = 0; i < result->claim_count; i++) {
        const struct check_claim *claim = &result->claims[i];
        json_object_begin(json);
        json_key_string(json, "claim", claim_text(arena, claim->expect));
        json_key_string(json, "subject", claim->expect->subject);
        json_key_u64(json, "line", claim->expect->at.line);
        const char *why;
        json_key(json, "met");
        if (expect_is_asked(claim->expect, result->subjects, &why)) {
            json_bool(json, claim->met);
            why = claim->met ? NULL : claim->why;
        } else {
            json_null(json);
        }
        json_key_string(json, "why", why);
        json_object_end(json);
    }
    json_array_end(json);
}

/* What is good to know of a kernel given as PTX: what was assumed; which register it reads first, before
 * anything is injected. */
static const char *note_of(struct arena *arena, const struct check_result *result, uint32_t number)
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

enum { NOTES = 2 };

static void json_notes(struct json *json, struct arena *arena, const struct check_result *result)
{
    json_key(json, "notes");
    json_array_begin(json);
    for (uint32_t i = 0; i < NOTES; i++) {
        const char *note = note_of(arena, result, i);
        if (note)
            json_string(json, note);
    }
    json_array_end(json);
}

static void print_json(struct arena *arena, const char *path, const struct check_options *options,
                       const struct check_result *result, const struct cli_stated *stated)
{
    struct json json;
    json_start(&json, stdout);
    json_object_begin(&json);
    cli_json_kernel(&json, path, result->kernel);
    json_notes(&json, arena, result);
    json_key(&json, "runs");
    json_array_begin(&json);
    for (uint32_t i = 0; i < SUBJECT_COUNT; i++)
        if (result->subjects & SUBJECT_BIT(i))
            json_run(&json, arena, &result->runs[i]);
    json_array_end(&json);
    json_answers(&json, arena, options, result);
    json_expectations(&json, arena, result);
    if (result->kernel->progress)
        cli_json_stated(&json, stated);
    json_key_string(&json, "verdict",
                    verdict_name(result, failed_claims(result) + cli_stated_failed(stated)));
    json_object_end(&json);
    json_end_line(&json);
}

/* ---- text ---- */

static void print_head(const struct cli *cli, const char *word, const char *color, const char *path,
                       const char *more)
{
    bool colored = cli->options.color;
    printf("%s%-9s%s %s%s\n", colored ? color : "", word, colored ? "\033[0m" : "", path, more);
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
    const struct search_result *search = run->search;
    const char *plural = search->outcome_count == 1 ? "" : "s";
    printf("    %s: ", subject_table[run->subject].name);
    if (search->complete)
        printf("all executions searched, %" PRIu32 " outcome%s", search->outcome_count, plural);
    else
        printf("NOT all executions: %s%s cut the search off; %" PRIu32 " outcome%s found, a subset",
               strcmp(search->cut, "interrupted") == 0 ? "" : "the bound on ",
               strcmp(search->cut, "interrupted") == 0 ? "an interruption" : search->cut,
               search->outcome_count, plural);
    if (search->method == SEARCH_STATES)
        printf(" (states: %" PRIu64 ")\n", search->states);
    else
        printf(" (partial-order reduction, executions: %" PRIu64 ")\n", search->executions);
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

static const char *known_text(struct arena *arena, const struct check_options *options,
                              const struct check_result *result)
{
    const char *text = "";
    for (uint32_t i = 0; i < ORACLE_COUNT; i++) {
        const struct divergence *d = result->answers[i].divergence;
        if ((options->oracles & 1u << i) && d && d->known)
            text = arena_printf(arena, "%s  %s: known divergence %s", text, oracle_table[i].name,
                                d->known);
    }
    return text;
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
               claim_text(arena, expect), asked ? "" : "not asked: ", asked ? claim->why : why);
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
        row->cells[5] = run->race ? evidence_race_sentence(arena, run->program, &run->witness)
                        : run->race_unknown ? run->race_unknown
                                            : "none";
    }
    if (table.first)
        table_print(&table, stdout);
    for (uint32_t i = 0; i < SUBJECT_COUNT; i++)
        if (result->runs[i].error && *result->runs[i].error)
            printf("    %s: %s\n", subject_table[i].name, result->runs[i].error);
}

static void print_text(struct cli *cli, const char *path, const struct check_options *options,
                       const struct check_result *result, const struct cli_stated *stated)
{
    struct arena *arena = &cli->arena;
    const char *known = known_text(arena, options, result);
    uint32_t failed = failed_claims(result) + cli_stated_failed(stated);
    if (check_divergences(result, false) > 0)
        print_head(cli, "DIVERGE", "\033[31m", path, known);
    else if (failed > 0)
        print_head(cli, "FAILED", "\033[31m", path, known);
    else if (!result->program)
        print_head(cli, "refused", "\033[33m", path, arena_printf(arena, "  %s", result->reason));
    else
        print_head(cli, "agree", "\033[32m", path, known);
    for (uint32_t i = 0; i < NOTES; i++) {
        const char *note = note_of(arena, result, i);
        if (note)
            printf("    note: %s\n", note);
    }
    for (uint32_t i = 0; i < SUBJECT_COUNT; i++)
        if (result->runs[i].search)
            print_search(&result->runs[i]);
    if (result->program)
        print_refusals(result);
    print_divergences(arena, options, result);
    if (result->claim_count > 0)
        print_claims(arena, result);
    else
        print_runs(arena, result);
    cli_print_stated(arena, stated);
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
    struct check_result *result = ARENA_NEW(&cli->arena, struct check_result);
    check_kernel(&cli->arena, kernel, options, result);
    struct cli_stated stated = cli_check_matrix(cli, kernel, options);
    if (cli->options.json)
        print_json(&cli->arena, path, options, result, &stated);
    else
        print_text(cli, path, options, result, &stated);
    uint32_t diverged = check_divergences(result, false);
    uint32_t failed = failed_claims(result) + cli_stated_failed(&stated);
    sums->kernels++;
    sums->diverged += diverged > 0;
    sums->failed += failed > 0;
    bool refused = !result->program && failed == 0;
    sums->refused += refused;
    sums->agreed += diverged == 0 && failed == 0 && !refused;
    sums->known += check_divergences(result, true) > diverged;
    if (diverged > 0 || failed > 0)
        return CLI_DIVERGENCE;
    return refused && is_bad_ptx(result) ? CLI_USAGE : CLI_OK;
}

int cli_check_file(struct cli *cli, const char *path, const struct check_options *options,
                   struct cli_check_sums *sums)
{
    size_t mark = arena_mark(&cli->arena);
    int status = check_kernel_file(cli, path, options, sums);
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

int command_check(struct cli *cli)
{
    struct cli_files files;
    struct cli_check_sums sums = {0};
    struct check_options options = cli_check_options(cli);
    int status = CLI_OK;
    if (!read_tape(cli, &options) ||
        !cli_find_files(cli, cli->arguments, cli->argument_count, &files))
        return CLI_USAGE;
    if (options.exhaustive)
        bound_searches(cli, &options);
    for (uint32_t i = 0; i < files.count && !interrupted; i++)
        status = worse(status, cli_check_file(cli, files.paths[i], &options, &sums));
    if (!cli->options.json && files.count > 1)
        printf("%" PRIu32 " kernels: %" PRIu32 " agree (%" PRIu32
               " with a known divergence), %" PRIu32 " diverge, %" PRIu32
               " with a failed expectation, %" PRIu32 " refused, %" PRIu32 " in error\n",
               sums.kernels + sums.bad, sums.agreed, sums.known, sums.diverged, sums.failed,
               sums.refused, sums.bad);
    fflush(stdout);
    if (interrupted)
        cli_message(cli, "interrupted: the searches were cut off");
    else if (interrupt_time_over())
        cli_message(cli, "the time is over: searches that were not ready by then say so");
    return interrupted ? CLI_INTERRUPTED : status;
}
