#include "fuzz/host/host_again.h"

#include "fuzz/case/case.h"
#include "fuzz/case/signature.h"
#include "fuzz/laws/laws.h"

#include <string.h>

bool host_is_program(const struct db_finding *finding)
{
    return strcmp(finding->oracle, "host") == 0;
}

bool host_is_litmus(const struct db_finding *finding)
{
    return strcmp(finding->oracle, "litmus") == 0;
}

const struct host_words *host_words_of(const struct db_finding *finding)
{
    static const struct host_words program = {"a host program", ".host", "trace FILE.host"},
                                   litmus = {"a litmus test", ".litmus", "litmus FILE.litmus"};
    return host_is_program(finding) ? &program : host_is_litmus(finding) ? &litmus : NULL;
}

static struct host_judge_options options_of(const struct host_case *c)
{
    struct host_judge_options options = HOST_JUDGE_DEFAULTS;
    options.schedules = c->schedules;
    options.settings = c->device;
    return options;
}

static struct host_again litmus_again(struct arena *arena, const struct db_finding *finding,
                                      const char *test)
{
    enum law_holding holding;
    if (!law_ask_text(arena, test, finding->class, &holding))
        return (struct host_again){.why = "the stored test is damaged", .seen_as = ""};
    return holding == LAW_BROKEN
               ? (struct host_again){.shows = true, .why = "its law is broken", .seen_as = ""}
               : (struct host_again){.why = "its law holds", .seen_as = ""};
}

struct host_again host_again(struct arena *arena, const struct db_finding *finding,
                             const char *text)
{
    if (host_is_litmus(finding))
        return litmus_again(arena, finding, text);
    struct host_verdict *verdict = ARENA_NEW(arena, struct host_verdict);
    struct host_case c;
    if (!host_case_parse(arena, finding->raw_case, &c))
        return (struct host_again){.why = "the stored case is damaged", .seen_as = ""};
    const struct host_judge_options options = options_of(&c);
    bool read = host_judge_text(arena, "stored.host", text, strlen(text), &options, verdict);
    struct host_alarm alarm = host_alarm_of(arena, text, c.races, read, verdict);
    if (!alarm.class)
        return (struct host_again){.why = "nothing is wrong with it any more", .seen_as = ""};
    if (strcmp(alarm.signature, finding->signature) != 0)
        return (struct host_again){.why = arena_printf(arena, "it shows as %s", alarm.signature),
                                   .seen_as = alarm.signature};
    return (struct host_again){.shows = true, .why = alarm.text, .seen_as = ""};
}

struct host_reduced host_again_reduce(struct arena *arena, const struct db_finding *finding,
                                      const char *program, uint32_t most)
{
    struct host_case c;
    if (!host_case_parse(arena, finding->raw_case, &c))
        return (struct host_reduced){.text = NULL};
    struct host_judge_options options = options_of(&c);
    options.budget = 1 << 18;
    struct host_reduced reduced =
        host_reduce(arena, "stored.host", program, strlen(program), &options, finding->rule, most);
    if (reduced.text && (strcmp(host_finding_names[reduced.kind], finding->class) != 0 ||
                         !host_again(arena, finding, reduced.text).shows))
        reduced.text = NULL;
    return reduced;
}

int host_again_store(struct arena *arena, struct db *db, const struct db_finding *finding,
                     const struct host_reduced *reduced)
{
    const struct db_finding smaller = {.cause = finding->cause,
                                       .signature_version = SIGNATURE_VERSION,
                                       .evidence = "",
                                       .minimised = {.kernel = case_text_hash(arena, reduced->text),
                                                     .launch = "",
                                                     .tape = "",
                                                     .case_text = finding->raw_case,
                                                     .tests = reduced->tests,
                                                     .statements = reduced->left}};
    int error = db_begin(db);
    if (error == DB_OK)
        error = db_kernel_put(db, smaller.minimised.kernel, reduced->text);
    if (error == DB_OK)
        error = db_finding_minimised_set(db, finding->id, &smaller);
    if (error == DB_OK)
        error = db_commit(db);
    if (error != DB_OK)
        db_rollback(db);
    return error;
}
