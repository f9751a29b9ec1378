#include "fuzz/triage/builds.h"

#include "fuzz/base/process.h"

#include <inttypes.h>
#include <string.h>

enum { ARGUMENTS_MAX = 24, HELP_MS = 20000 };

const char *build_says_name(enum build_says says)
{
    switch (says) {
    case BUILD_SHOWS:
        return "shows";
    case BUILD_SHOWS_OTHER:
        return "shows another";
    case BUILD_GONE:
        return "gone";
    case BUILD_CANNOT_SAY:
        return "cannot say";
    }
    return "";
}

/* ---- command lines ---- */

struct command {
    struct arena *arena;
    char *arguments[ARGUMENTS_MAX + 1];
    uint32_t count;
};

static void add(struct command *command, const char *text)
{
    if (command->count < ARGUMENTS_MAX)
        command->arguments[command->count++] = arena_strndup(command->arena, text, strlen(text));
    command->arguments[command->count] = NULL;
}

static struct command check_command(struct arena *arena, const struct build *build,
                                    const char *kernel)
{
    struct command command = {.arena = arena};
    add(&command, build->path);
    add(&command, "check");
    if (kernel)
        add(&command, kernel);
    return command;
}

/* How a process ended that should have ended well. */
static const char *ending(struct arena *arena, const struct process_result *result)
{
    if (!result->started)
        return result->error;
    if (result->timed_out)
        return "took too long";
    const char *how = result->status < 0 ? arena_printf(arena, "ended by signal %d", result->signal)
                                         : arena_printf(arena, "exit status %d", result->status);
    return *result->error ? arena_printf(arena, "%s: %s", how, result->error) : how;
}

struct build build_open(struct arena *arena, const char *path, const char *folder)
{
    struct build build = {.path = path, .version = ""};
    struct command command = check_command(arena, &build, NULL);
    add(&command, "--help");
    struct process_result help = process_run(arena, folder, command.arguments, HELP_MS);
    if (help.status != 0) {
        build.why = ending(arena, &help);
        return build;
    }
    if (!strstr(help.output, "--json") || !strstr(help.output, "--oracles")) {
        build.why = "its `check --help` names neither --json nor --oracles: no simtfuzz";
        return build;
    }
    build.takes_case = strstr(help.output, "--case") != NULL;
    build.takes_budget = strstr(help.output, "--budget") != NULL;
    build.takes_transforms = strstr(help.output, "--transforms") != NULL;
    command = (struct command){.arena = arena};
    add(&command, path);
    add(&command, "--version");
    struct process_result version = process_run(arena, folder, command.arguments, HELP_MS);
    build.version = arena_strndup(arena, version.output, strcspn(version.output, "\n"));
    return build;
}

static uint32_t oracle_bit(const char *name)
{
    for (uint32_t i = 0; i < ORACLE_COUNT; i++)
        if (strcmp(oracle_table[i].name, name) == 0)
            return 1u << i;
    return 0;
}

static struct command ask_by_case(struct arena *arena, const struct build *build,
                                  const struct build_question *question, bool oracle_alone)
{
    struct command command = check_command(arena, build, question->kernel);
    struct fuzz_case c = *question->c;
    if (oracle_alone)
        c.check.oracles = oracle_bit(question->oracle);
    add(&command, "--json");
    add(&command, "--case");
    add(&command, case_print(arena, &c));
    if (c.has_tape) {
        add(&command, "--tape");
        add(&command, question->tape);
    }
    return command;
}

/* What is as the build has it by default is left out: its defaults may have other names. */
static struct command ask_by_options(struct arena *arena, const struct build *build,
                                     const struct build_question *question)
{
    const struct check_options *check = &question->c->check;
    struct command command = check_command(arena, build, question->kernel);
    add(&command, "--json");
    uint32_t oracle = oracle_bit(question->oracle);
    add(&command, "--oracles");
    add(&command, case_oracles(arena, oracle ? oracle : check->oracles, check->modes));
    add(&command, "--seed");
    add(&command, arena_printf(arena, "0x%" PRIx64, check->seed));
    add(&command, "--schedules");
    add(&command, arena_printf(arena, "%" PRIu32, check->schedules));
    if (check->subjects != CHECK_DEFAULTS.subjects) {
        add(&command, "--subjects");
        add(&command, case_subjects(arena, check->subjects));
    }
    if (build->takes_budget && check->budget_steps != CHECK_DEFAULTS.budget_steps) {
        add(&command, "--budget");
        add(&command, arena_printf(arena, "%" PRIu64, check->budget_steps));
    }
    if (build->takes_transforms && check->transforms.count > 0) {
        add(&command, "--transforms");
        add(&command, transform_print_list(arena, &check->transforms));
    }
    if (check->exhaustive)
        add(&command, "--exhaustive");
    if (check->same_value)
        add(&command, "--same-value");
    if (check->atomics_sync)
        add(&command, "--atomics-sync");
    if (check->unscoped)
        add(&command, "--unscoped");
    return command;
}

/* ---- answers ---- */

/* Copies a JSON string up to its closing quote, escapes undone as far as signatures have them; *at moves
 * behind it. */
static const char *json_text(struct arena *arena, const char **at)
{
    const char *c = *at;
    size_t length = 0;
    while (c[length] && c[length] != '"')
        length += c[length] == '\\' && c[length + 1] ? 2 : 1;
    char *text = ARENA_ARRAY(arena, char, length + 1);
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        if (c[i] == '\\' && i + 1 < length)
            i++;
        text[used++] = c[i];
    }
    text[used] = '\0';
    *at = c + length + (c[length] == '"');
    return text;
}

/* Two first parts: oracle|class. */
static bool same_k1(const char *a, const char *b)
{
    for (int bars = 0; *a && *a == *b; a++, b++) {
        bars += *a == '|';
        if (bars == 2)
            return true;
    }
    return false;
}

/* What the oracle says in the output of `check --json`. Keys are strings in front of a colon; those inside
 * texts (kernels, reasons) are not met, since whole strings are stepped over. */
struct reader {
    const struct build_question *question;
    bool inside; /* the answer of the oracle that was asked */
    bool read;   /* its verdict was read */
    const char *verdict, *reason, *other;
    bool shows;
};

static void take(struct reader *reader, const char *key, const char *value)
{
    if (strcmp(key, "oracle") == 0)
        reader->inside = !reader->read && strcmp(value, reader->question->oracle) == 0;
    if (!reader->inside)
        return;
    if (strcmp(key, "verdict") == 0 && !reader->read) {
        reader->verdict = value;
        reader->read = true;
    }
    if (strcmp(key, "reason") == 0 && !*reader->reason)
        reader->reason = value;
    if (strcmp(key, "signature") == 0) {
        reader->shows |= strcmp(value, reader->question->signature) == 0;
        if (!*reader->other && same_k1(value, reader->question->signature))
            reader->other = value;
    }
}

static void read_output(struct arena *arena, const char *output, struct reader *reader)
{
    const char *key = NULL;
    for (const char *at = output; *at;) {
        if (*at != '"') {
            if (*at == '{' || *at == '[' || *at == ',' || *at == '}')
                key = NULL;
            at++;
            continue;
        }
        at++;
        const char *text = json_text(arena, &at);
        if (*at == ':') {
            key = text;
        } else if (key) {
            take(reader, key, text);
            key = NULL;
        }
    }
}

static struct build_reply cannot(struct arena *arena, const char *what, const char *why)
{
    return (struct build_reply){
        .says = BUILD_CANNOT_SAY, .signature = "", .why = arena_printf(arena, "%s%s", what, why)};
}

static struct build_reply judge(struct arena *arena, const struct build_question *question,
                                const struct process_result *result)
{
    struct reader reader = {.question = question, .verdict = "", .reason = "", .other = ""};
    bool engine = strcmp(question->oracle, "engine") == 0; /* the build itself crashes or hangs */
    if (engine && (result->signal || result->timed_out)) {
        bool hang = strncmp(question->signature, "engine|hang", strlen("engine|hang")) == 0;
        if (hang == result->timed_out)
            return (struct build_reply){.says = BUILD_SHOWS, .signature = question->signature};
    }
    if (result->status != 0 && result->status != 1)
        return cannot(arena, "", ending(arena, result));
    if (engine)
        return (struct build_reply){.says = BUILD_GONE, .signature = ""};
    read_output(arena, result->output, &reader);
    if (reader.shows)
        return (struct build_reply){.says = BUILD_SHOWS, .signature = question->signature};
    if (*reader.other)
        return (struct build_reply){.says = BUILD_SHOWS_OTHER, .signature = reader.other};
    if (strcmp(reader.verdict, "not_applicable") == 0)
        return cannot(arena, "the oracle does not apply: ", reader.reason);
    if (strcmp(reader.verdict, "inconclusive") == 0)
        return cannot(arena, "inconclusive: ", reader.reason);
    if (!reader.read)
        return cannot(arena, "", "its JSON does not have the oracle's verdict");
    return (struct build_reply){.says = BUILD_GONE, .signature = ""};
}

static struct build_reply ask_once(struct arena *arena, const struct build *build,
                                   const char *folder, const struct build_question *question)
{
    struct command command = build->takes_case ? ask_by_case(arena, build, question, false)
                                               : ask_by_options(arena, build, question);
    struct process_result result = process_run(arena, folder, command.arguments, question->time_ms);
    if (build->takes_case && result.status == 2 &&
        oracle_bit(question->oracle)) { /* perhaps for another oracle, that it lacks */
        command = ask_by_case(arena, build, question, true);
        result = process_run(arena, folder, command.arguments, question->time_ms);
    }
    return judge(arena, question, &result);
}

struct build_reply build_ask(struct arena *arena, const struct build *build, const char *folder,
                             const struct build_question *question)
{
    if (build->why)
        return cannot(arena, "", build->why);
    struct build_reply reply = {.says = BUILD_CANNOT_SAY, .signature = ""};
    for (uint32_t run = 1; run <= question->runs; run++) {
        reply = ask_once(arena, build, folder, question);
        reply.runs = run;
        if (reply.says != BUILD_GONE)
            break;
    }
    return reply;
}
