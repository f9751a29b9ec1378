/*
 * cli_check_json.c - what `check` says as JSON: one document a kernel.
 */
#include "engine/base/pcg.h"
#include "engine/program/ptx_code.h"
#include "fuzz/commands/cli_check.h"
#include "fuzz/out/json.h"
#include "oracle/check/evidence.h"
#include "oracle/check/expect.h"
#include "oracle/scoped/scoped.h"

#include <inttypes.h>

static void json_access(struct json *json, struct arena *arena, const struct program *program,
                        const char *key, const struct race_access *access)
{
    json_key_object_begin(json, key);
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
    if (run->witness.cause.why != RACE_UNORDERED) {
        json_key_string(json, "why", race_why_names[run->witness.cause.why]);
        json_key_string(json, "because", scoped_cause_sentence(arena, program, &run->witness));
    }
    json_object_end(json);
}

/* Arrays that are longer are told by what was written to them: megabytes of zeros for every subject help nobody. */
enum { ELEMENTS_MAX = 4096, CHANGED_MAX = 1024 };

static void json_changes(struct json *json, const int32_t *values, const int32_t *initial,
                         uint32_t length)
{
    uint32_t changed = 0;
    uint64_t hash = 0;
    char name[16];
    json_object_begin(json);
    json_key_u64(json, "length", length);
    json_key_object_begin(json, "elements");
    for (uint32_t i = 0; i < length; i++) {
        hash = pcg_splitmix(hash ^ (uint32_t)values[i]);
        if (values[i] == initial[i] || changed++ >= CHANGED_MAX)
            continue;
        snprintf(name, sizeof name, "%" PRIu32, i);
        json_key(json, name);
        json_int(json, values[i]);
    }
    json_object_end(json);
    json_key_u64(json, "changed", changed);
    snprintf(name, sizeof name, "%08" PRIx32, (uint32_t)(hash >> 32));
    json_key_string(json, "hash", name);
    json_object_end(json);
}

static void json_values(struct json *json, const int32_t *values, const int32_t *initial,
                        const struct ast_var *var)
{
    if (!var->is_array) {
        json_int(json, values[0]);
        return;
    }
    if (var->length > ELEMENTS_MAX) {
        json_changes(json, values, initial, var->length);
        return;
    }
    json_array_begin(json);
    for (uint32_t i = 0; i < var->length; i++)
        json_int(json, values[i]);
    json_array_end(json);
}

/* One final store: each global variable, and each shared one (a list over blocks if there are
 * several). */
static void json_store(struct json *json, const struct program *program, const int32_t *store,
                       const int32_t *initial)
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
            json_values(json, store + base + var->offset, initial + base + var->offset, var->ast);
            continue;
        }
        json_array_begin(json);
        for (uint32_t b = 0; b < program->launch.blocks; b++) {
            uint32_t at = program->shared_base + b * program->words[SPACE_SHARED] + var->offset;
            json_values(json, store + at, initial + at, var->ast);
        }
        json_array_end(json);
    }
    json_object_end(json);
}

static void json_finals(struct json *json, struct arena *arena, const struct check_run *run)
{
    size_t mark = arena_mark(arena);
    int32_t *initial = NULL;
    if (run->final_count > 0) {
        initial = arena_room(arena, (size_t)run->program->memory_words * sizeof *initial);
        program_init_memory(run->program, initial);
    }
    json_key_array_begin(json, "finals");
    for (uint32_t i = 0; i < run->final_count; i++)
        json_store(json, run->program, run->finals[i], initial);
    json_array_end(json);
    arena_release(arena, mark);
}

static void json_search(struct json *json, const char *key, const struct search_result *search)
{
    json_key(json, key);
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

/* "threads": who stands where, of an execution in which some wait for others. */
static void json_waiting(struct json *json, const struct program *program,
                         const struct check_fault *fault)
{
    json_key_array_begin(json, "waiting");
    for (uint32_t t = 0; t < fault->thread_count; t++) {
        uint32_t at = fault->waits_at[t];
        json_object_begin(json);
        json_key_u64(json, "thread", t);
        json_key_string(json, "state",
                        at == FAULT_ENDED  ? "ended"
                        : at == FAULT_RUNS ? "running"
                                           : "waiting");
        if (at < FAULT_ENDED)
            json_key_u64(json, "line", program->stms[at].line);
        json_object_end(json);
    }
    json_array_end(json);
}

static void json_fault(struct json *json, struct arena *arena, const struct program *program,
                       enum outcome outcome, const struct check_fault *fault)
{
    uint32_t threads = program->launch.threads;
    json_object_begin(json);
    json_key_string(json, "kind", outcome_names[outcome]);
    json_key_string(json, "status", status_names[fault->status]);
    json_key_u64(json, "line", fault->line);
    const char *source = evidence_source(arena, program, fault->stm);
    if (source)
        json_key_string(json, "source", source);
    if (outcome != OUTCOME_HANG) {
        json_key_u64(json, "thread", fault->thread % threads);
        json_key_u64(json, "block", fault->thread / threads);
        json_key_string(json, "sentence", fault_sentence(arena, program, fault));
    }
    if (fault->length > 0) {
        json_key_string(json, "variable", fault->var ? fault->var->name : NULL);
        json_key(json, "index");
        json_int(json, fault->index);
        json_key_u64(json, "length", fault->length);
    }
    if (fault->bytes > 0) {
        json_key_string(json, "variable", fault->variable);
        json_key_hex(json, "address", fault->address);
        json_key_u64(json, "bytes", fault->bytes);
        json_key(json, "offset");
        json_int(json, fault->offset);
        json_key_u64(json, "size", fault->size);
    }
    if (fault->thread_count > 0)
        json_waiting(json, program, fault);
    json_object_end(json);
}

/* The first execution of each kind of fault. */
static void json_faults(struct json *json, struct arena *arena, const struct check_run *run)
{
    json_key_array_begin(json, "faults");
    for (uint32_t o = 0; o < OUTCOME_COUNT; o++)
        if (run->faults[o])
            json_fault(json, arena, run->program, (enum outcome)o, run->faults[o]);
    json_array_end(json);
}

static void json_subjects(struct json *json, const char *key, subject_set subjects)
{
    json_key_array_begin(json, key);
    for (uint32_t s = 0; s < SUBJECT_COUNT; s++)
        if (subjects & SUBJECT_BIT(s))
            json_string(json, subject_table[s].name);
    json_array_end(json);
}

/* What a person reads first. */
static void json_headline(struct json *json, struct arena *arena, const struct headline *headline)
{
    json_key_object_begin(json, "headline");
    json_key_string(json, "word", headline->word);
    json_key_string(json, "scope", headline->scope);
    json_key_array_begin(json, "happenings");
    for (uint32_t i = 0; i < headline->count; i++) {
        const struct happening *h = &headline->happenings[i];
        json_object_begin(json);
        json_key_string(json, "kind", outcome_names[h->outcome]);
        json_subjects(json, "subjects", h->shown);
        json_subjects(json, "clean", h->clean);
        json_key_u64(json, "line", h->places[0].line);
        json_key_string(json, "text", headline_text(arena, h));
        json_object_end(json);
    }
    json_array_end(json);
    json_key_u64(json, "suppressed", headline->suppressed);
    json_object_end(json);
}

static void json_run(struct json *json, struct arena *arena, const struct check_run *run)
{
    const struct program *program = run->program;
    json_object_begin(json);
    json_key_string(json, "subject", subject_table[run->subject].name);
    json_key_u64(json, "schedules", run->schedules);
    json_key_bool(json, "exhaustive", run->search && run->search->complete);
    json_search(json, "search", run->search);
    if (run->reduced)
        json_search(json, "reduced", run->reduced);
    json_key_object_begin(json, "statuses");
    for (uint32_t i = 0; i < STATUS_COUNT; i++)
        if (run->statuses[i] > 0)
            json_key_u64(json, status_names[i], run->statuses[i]);
    json_object_end(json);
    json_key_string(json, "error", run->error);
    json_faults(json, arena, run);
    json_race(json, arena, program, run);
    json_key_string(json, "race_unknown",
                    run->race_incomplete && !run->race ? "the race detector ran out of room"
                                                       : run->race_unknown);
    json_finals(json, arena, run);
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
    json_key_array_begin(json, "further");
    for (d = d ? d->next : NULL; d; d = d->next)
        json_divergence(json, arena, d);
    json_array_end(json);
}

static void json_answers(struct json *json, struct arena *arena,
                         const struct check_options *options, const struct check_result *result)
{
    json_key_array_begin(json, "oracles");
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
    json_key_array_begin(json, "expectations");
    for (uint32_t i = 0; i < result->claim_count; i++) {
        const struct check_claim *claim = &result->claims[i];
        json_object_begin(json);
        json_key_string(json, "claim", check_claim_text(arena, claim->expect));
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

static void json_notes(struct json *json, struct arena *arena, const struct check_result *result)
{
    json_key_array_begin(json, "notes");
    for (uint32_t i = 0; i < CHECK_NOTES; i++) {
        const char *note = check_note(arena, result, i);
        if (note)
            json_string(json, note);
    }
    json_array_end(json);
}

void check_print_json(struct arena *arena, const char *path, const struct check_options *options,
                      const struct check_result *result, const struct cli_stated *stated,
                      const struct headline *headline)
{
    struct json json;
    json_line_begin(&json, stdout);
    cli_json_kernel(&json, path, result->kernel);
    json_notes(&json, arena, result);
    json_headline(&json, arena, headline);
    json_key_array_begin(&json, "runs");
    for (uint32_t i = 0; i < SUBJECT_COUNT; i++)
        if (result->subjects & SUBJECT_BIT(i))
            json_run(&json, arena, &result->runs[i]);
    json_array_end(&json);
    json_answers(&json, arena, options, result);
    json_expectations(&json, arena, result);
    if (result->kernel->progress)
        cli_json_stated(&json, stated);
    json_key_string(
        &json, "verdict",
        check_verdict_name(result, check_failed_claims(result) + cli_stated_failed(stated)));
    json_line_end(&json);
}
