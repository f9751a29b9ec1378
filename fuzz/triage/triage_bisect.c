/*
 * triage_bisect.c - `simtfuzz triage bisect`: which of the given builds is the first that shows a finding, or
 * the first that no longer does.
 *
 * The kernel as it was found and the minimised one are asked about apart: a change that makes the small one
 * disappear may leave the other as it was.
 */
#include "engine/input/ptx_kernel.h"
#include "fuzz/base/process.h"
#include "fuzz/beside/beside.h"
#include "fuzz/hunt/again.h"
#include "fuzz/out/table.h"
#include "fuzz/triage/bisect.h"
#include "fuzz/triage/build_list.h"
#include "fuzz/triage/builds.h"
#include "fuzz/triage/stored.h"
#include "fuzz/triage/triage.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FORMS = 2 };

/* A stored form, and what each build says of it. */
struct form {
    struct stored stored;
    struct fuzz_case c;
    struct build_question question;
    struct build_reply *replies;
    enum bisect_state *states;
    struct bisect_result result;
};

struct bisection {
    struct triage *t;
    struct db_finding *finding;
    struct build_list list;
    struct build *builds;
    bool *opened;
    char folder[256]; /* of our files */
    struct form forms[FORMS];
    uint32_t form_count;
    struct form *form; /* that is being asked about */
};

/* ---- files ---- */

static bool write_file(struct bisection *b, const char *path, const char *text)
{
    FILE *out = fopen(path, "w");
    bool good = out && fputs(text, out) >= 0;
    good = out && fclose(out) == 0 && good;
    if (!good)
        cli_message(b->t->cli, "%s: %s", path, strerror(errno));
    return good;
}

static bool make_folder(struct bisection *b)
{
    const char *base = getenv("TMPDIR");
    if (!base || strlen(base) + sizeof "/simtfuzz-XXXXXX" > sizeof b->folder)
        base = "/tmp";
    snprintf(b->folder, sizeof b->folder, "%s/simtfuzz-XXXXXX", base);
    if (mkdtemp(b->folder))
        return true;
    cli_message(b->t->cli, "%s: %s", b->folder, strerror(errno));
    return false;
}

static void remove_folder(struct bisection *b)
{
    static const char *const names[] = {
        "raw.simt",      "raw.ptx",        "raw.tape", "minimised.simt",
        "minimised.ptx", "minimised.tape", "out",      "err"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unlink(arena_printf(&b->t->cli->arena, "%s/%s", b->folder, names[i]));
    rmdir(b->folder);
}

/* ---- what is asked ---- */

static uint32_t runs(const struct bisection *b)
{
    if (b->t->cli->options.triage.runs)
        return b->t->cli->options.triage.runs;
    return stored_is_flaky(b->finding) ? STORED_FLAKY_RUNS : 1;
}

static bool prepare_form(struct bisection *b, struct replayer *r, struct stored stored)
{
    struct arena *arena = &b->t->cli->arena;
    struct form *form = &b->forms[b->form_count];
    int status;
    form->stored = stored;
    const char *text = cli_get_kernel(b->t->cli, b->t->db, &b->t->message, stored.kernel, &status);
    if (!text || !stored_case(r, &stored, &form->c))
        return false;
    const char *ending = ptx_is_ptx(text, strlen(text)) ? "ptx" : "simt";
    form->question = (struct build_question){
        .kernel = arena_printf(arena, "%s/%s.%s", b->folder, stored.form, ending),
        .tape = arena_printf(arena, "%s/%s.tape", b->folder, stored.form),
        .c = &form->c,
        .oracle = b->finding->oracle,
        .signature = stored.signature,
        .runs = runs(b),
        .time_ms = b->t->cli->options.time_ms ? b->t->cli->options.time_ms : STORED_TIME_MS};
    form->replies = ARENA_ARRAY(arena, struct build_reply, b->list.count);
    form->states = ARENA_ARRAY(arena, enum bisect_state, b->list.count);
    b->form_count++;
    return write_file(b, form->question.kernel, text) &&
           (!form->c.has_tape || write_file(b, form->question.tape, stored.tape));
}

static bool prepare(struct bisection *b)
{
    struct replayer r = {.cli = b->t->cli, .db = b->t->db};
    struct stored raw;
    if (!stored_raw(&r, b->finding, &raw) || !prepare_form(b, &r, raw))
        return false;
    return !stored_is_minimised(b->finding) || prepare_form(b, &r, stored_minimised(b->finding));
}

/* A second signal ends us at once. */
static void interrupt(int signal_number)
{
    (void)signal_number;
    process_stop = 1;
}

static void catch_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaction(signals[i], &action, NULL);
}

static enum bisect_state ask(void *context, uint32_t at)
{
    struct bisection *b = context;
    struct arena *arena = &b->t->cli->arena;
    struct build_reply *reply = &b->form->replies[at];
    *reply = (struct build_reply){.says = BUILD_CANNOT_SAY, .signature = "", .why = "interrupted"};
    if (process_stop)
        return BISECT_CANNOT_SAY;
    if (!b->opened[at])
        b->builds[at] = build_open(arena, b->list.paths[at], b->folder);
    b->opened[at] = true;
    *reply = build_ask(arena, &b->builds[at], b->folder, &b->form->question);
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "%s: %s: %s\n", b->list.paths[at], b->form->stored.form,
                build_says_name(reply->says));
    switch (reply->says) {
    case BUILD_SHOWS:
    case BUILD_SHOWS_OTHER:
        return BISECT_SHOWS;
    case BUILD_GONE:
        return BISECT_GONE;
    case BUILD_CANNOT_SAY:
        break;
    }
    return BISECT_CANNOT_SAY;
}

/* ---- the answer ---- */

static uint32_t between(const struct bisect_result *result)
{
    return result->changes > 0 ? result->after - result->before - 1 : 0;
}

/* "first shows in PATH (simtfuzz 0.3.0); not in PATH" */
static const char *answer_text(struct bisection *b, const struct form *form)
{
    struct arena *arena = &b->t->cli->arena;
    const struct bisect_result *result = &form->result;
    const struct build *before = &b->builds[result->before], *after = &b->builds[result->after];
    const char *silent = "";
    if (between(result) > 0)
        silent = arena_printf(arena, "; or in one of the %" PRIu32 " between, which cannot say",
                              between(result));
    switch (result->answer) {
    case BISECT_STARTS:
        return arena_printf(arena, "first shows in %s (%s), not yet in %s%s", after->path,
                            after->version, before->path, silent);
    case BISECT_CEASES:
        return arena_printf(arena, "first gone in %s (%s), still shows in %s%s", after->path,
                            after->version, before->path, silent);
    case BISECT_ALWAYS:
        return "shows in every build that was asked";
    case BISECT_NEVER:
        return "shows in no build that was asked";
    case BISECT_NO_BUILD:
        break;
    }
    return "no build can say";
}

/* What the answer rests on. */
static const char *worth_text(struct bisection *b, const struct form *form)
{
    struct arena *arena = &b->t->cli->arena;
    const struct bisect_result *r = &form->result;
    const char *asked =
        arena_printf(arena, "%" PRIu32 " of %" PRIu32 " builds asked, %" PRIu32 " cannot say",
                     r->tested, b->list.count, r->silent);
    if (r->changes > 1)
        return arena_printf(arena,
                            "%s; NOT MONOTONE: it changes %" PRIu32 " times, this is the last one",
                            asked, r->changes);
    if (r->tested < b->list.count)
        return arena_printf(arena, "%s; right if it changes at most once: --all asks each", asked);
    return asked;
}

/* The last build that says anything about the form. */
static enum bisect_state newest(const struct form *form, uint32_t count)
{
    enum bisect_state state = BISECT_CANNOT_SAY;
    for (uint32_t i = 0; i < count; i++)
        if (form->states[i] == BISECT_SHOWS || form->states[i] == BISECT_GONE)
            state = form->states[i];
    return state;
}

/* The small kernel is clean and the one that was found is not, or the other way round. */
static const char *disagreement(const struct bisection *b)
{
    if (b->form_count < FORMS)
        return NULL;
    enum bisect_state raw = newest(&b->forms[0], b->list.count);
    enum bisect_state small = newest(&b->forms[1], b->list.count);
    if (raw == BISECT_SHOWS && small == BISECT_GONE)
        return "NOT FIXED: the minimised kernel is clean, the one that was found still shows it";
    if (raw == BISECT_GONE && small == BISECT_SHOWS)
        return "NOT FIXED: the kernel that was found is clean, the minimised one still shows it";
    return NULL;
}

static const char *cell_text(struct arena *arena, const struct form *form, uint32_t i)
{
    const struct build_reply *reply = &form->replies[i];
    if (form->states[i] == BISECT_UNTESTED)
        return "not asked";
    if (reply->says == BUILD_SHOWS_OTHER)
        return arena_printf(arena, "shows as %s", reply->signature);
    return reply->says == BUILD_CANNOT_SAY ? arena_printf(arena, "cannot say: %s", reply->why)
                                           : build_says_name(reply->says);
}

static void print_text(struct bisection *b)
{
    static const char *const titles[] = {"build", "version", "raw", "minimised"};
    struct arena *arena = &b->t->cli->arena;
    struct table table;
    printf("finding %" PRIu64 ": %s\n", b->finding->id, b->finding->signature);
    table_start(&table, arena, titles, b->form_count == FORMS ? "llll" : "lll");
    for (uint32_t i = 0; i < b->list.count; i++) {
        struct table_row *row = table_add(&table);
        row->cells[0] = b->list.paths[i];
        row->cells[1] = b->opened[i] ? b->builds[i].version : "";
        for (uint32_t f = 0; f < b->form_count; f++)
            row->cells[2 + f] = cell_text(arena, &b->forms[f], i);
    }
    table_print(&table, stdout);
    for (uint32_t f = 0; f < b->form_count; f++)
        printf("%-10s %s\n%-10s (%s)\n", b->forms[f].stored.form, answer_text(b, &b->forms[f]), "",
               worth_text(b, &b->forms[f]));
    if (disagreement(b))
        puts(disagreement(b));
}

static void json_form(struct json *json, struct bisection *b, const struct form *form)
{
    const struct bisect_result *result = &form->result;
    json_object_begin(json);
    json_key_string(json, "form", form->stored.form);
    json_key_string(json, "signature", form->stored.signature);
    json_key_string(json, "answer", bisect_answer_name(result->answer));
    json_key_string(json, "before", result->changes > 0 ? b->list.paths[result->before] : NULL);
    json_key_string(json, "after", result->changes > 0 ? b->list.paths[result->after] : NULL);
    json_key_u64(json, "between", between(result));
    json_key_u64(json, "changes", result->changes);
    json_key_u64(json, "asked", result->tested);
    json_key_u64(json, "silent", result->silent);
    json_key_array_begin(json, "builds");
    for (uint32_t i = 0; i < b->list.count; i++) {
        const struct build_reply *reply = &form->replies[i];
        bool asked = form->states[i] != BISECT_UNTESTED;
        json_object_begin(json);
        json_key_string(json, "build", b->list.paths[i]);
        json_key_string(json, "version", b->opened[i] ? b->builds[i].version : NULL);
        json_key_string(json, "says", asked ? build_says_name(reply->says) : "not asked");
        json_key_string(json, "signature", asked && *reply->signature ? reply->signature : NULL);
        json_key_string(json, "why", asked ? reply->why : NULL);
        json_object_end(json);
    }
    json_array_end(json);
    json_object_end(json);
}

static void print_json(struct bisection *b)
{
    struct json json;
    json_line_begin(&json, stdout);
    json_key_u64(&json, "version", 1);
    json_key_u64(&json, "id", b->finding->id);
    json_key_string(&json, "signature", b->finding->signature);
    json_key_bool(&json, "all", b->t->cli->options.triage.all_builds);
    json_key_array_begin(&json, "forms");
    for (uint32_t f = 0; f < b->form_count; f++)
        json_form(&json, b, &b->forms[f]);
    json_array_end(&json);
    json_key_string(&json, "warning", disagreement(b));
    json_line_end(&json);
}

/* ---- the action ---- */

/* 0: a build was found for each form; 1: for some there is none; 3: no build can say anything. */
static int exit_status(const struct bisection *b)
{
    int status = CLI_OK;
    uint32_t silent = 0;
    for (uint32_t f = 0; f < b->form_count; f++) {
        const struct bisect_result *result = &b->forms[f].result;
        if (result->changes == 0)
            status = CLI_DIVERGENCE;
        silent += result->answer == BISECT_NO_BUILD;
    }
    return silent == b->form_count ? CLI_FAULT : status;
}

static int store(struct bisection *b)
{
    int error = db_begin(b->t->db);
    for (uint32_t f = 0; f < b->form_count && error == DB_OK; f++) {
        const struct bisect_result *result = &b->forms[f].result;
        bool found = result->changes > 0;
        struct db_bisection row = {.finding = b->finding->id,
                                   .form = b->forms[f].stored.form,
                                   .answer = bisect_answer_name(result->answer),
                                   .before = found ? b->list.paths[result->before] : "",
                                   .after = found ? b->list.paths[result->after] : "",
                                   .unclear = between(result),
                                   .builds = b->list.count,
                                   .asked = result->tested,
                                   .silent = result->silent,
                                   .changes = result->changes};
        error = db_bisection_put(b->t->db, &row);
    }
    if (error == DB_OK)
        error = db_commit(b->t->db);
    if (error != DB_OK)
        db_rollback(b->t->db);
    return error;
}

static int run_bisection(struct bisection *b)
{
    if (!prepare(b))
        return CLI_FAULT;
    for (uint32_t f = 0; f < b->form_count; f++) {
        b->form = &b->forms[f];
        bisect(b->list.count, b->t->cli->options.triage.all_builds, ask, b, b->form->states,
               &b->form->result);
    }
    if (process_stop) {
        cli_message(b->t->cli, "interrupted: nothing is stored");
        return CLI_INTERRUPTED;
    }
    if (b->t->cli->options.json)
        print_json(b);
    else
        print_text(b);
    int error = store(b);
    return error == DB_OK ? exit_status(b) : cli_db_failed(b->t->cli, &b->t->message, error);
}

int triage_bisect(struct triage *t)
{
    struct bisection b = {.t = t};
    struct triage_ids ids;
    int status;
    if (!build_list_find(t->cli, t->arguments + 1, t->count - 1, &b.list))
        return CLI_USAGE;
    if (!triage_open(t, DB_READWRITE, &status) ||
        !triage_resolve(t, t->arguments, 1, &ids, &status))
        return status;
    if (ids.count > 1)
        return cli_misuse(t->cli, "one finding at a time, not '%s'", t->arguments[0]);
    b.finding = triage_get(t, ids.ids[0], &status);
    if (!b.finding)
        return status;
    const struct beside_kind *beside = beside_of(b.finding->oracle);
    if (beside)
        return cli_misuse(t->cli,
                          "%s is not bisected: simtfuzz triage export makes a file of it, and each "
                          "build judges that",
                          beside->what);
    if (again_is_outside(b.finding))
        return cli_misuse(t->cli, "builds of simtfuzz do not decide what an outside implementation "
                                  "does: simtfuzz replay runs it on what is installed");
    b.builds = ARENA_ARRAY(&t->cli->arena, struct build, b.list.count);
    b.opened = ARENA_ARRAY(&t->cli->arena, bool, b.list.count);
    if (!make_folder(&b))
        return CLI_FAULT;
    catch_signals();
    status = run_bisection(&b);
    remove_folder(&b);
    return status;
}
