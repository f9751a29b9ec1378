#include "fuzz/case/finding.h"

#include "fuzz/case/signature.h"

#include <string.h>

void finding_describe(const struct shown *shown, struct db_finding *finding)
{
    finding->signature = shown->signature;
    finding->k1 = shown->k1;
    finding->oracle = shown->oracle;
    finding->class = shown->class_name;
    finding->rule = shown->rule;
    finding->observable = shown->observable;
    finding->subject = shown->subject;
    finding->evidence = shown->evidence;
    finding->cause = shown->cause;
    finding->reference = shown->known;
}

int finding_put_minimised(struct db *db, struct arena *arena, const struct example *example,
                          struct db_finding *finding)
{
    finding->minimised =
        (struct db_minimised){.kernel = case_text_hash(arena, example->small_kernel),
                              .launch = example->small_launch,
                              .tape = example->small_tape,
                              .case_text = example->small_case,
                              .tests = example->tests,
                              .statements = example->small_statements};
    return db_kernel_put(db, finding->minimised.kernel, example->small_kernel);
}

int finding_put_slipped(struct db *db, struct arena *arena, const struct example *example,
                        uint64_t campaign, uint64_t case_number, struct db_finding *finding,
                        struct db_upserted *stored)
{
    *finding = (struct db_finding){.raw_case = example->small_case,
                                   .raw_statements = example->small_statements,
                                   .minimisation = DB_MINIMISATION_DONE,
                                   .signature_version = SIGNATURE_VERSION};
    finding_describe(&example->small, finding);
    int error = finding_put_minimised(db, arena, example, finding);
    finding->raw_kernel = finding->minimised.kernel;
    struct db_occurrence occurrence = {
        .campaign = campaign,
        .case_number = case_number,
        .tapes = arena_printf(arena, "%s\n%s", example->small.tape, example->small.other_tape),
        .raw_key = example->small.signature,
        .cause = example->small.cause,
        .replayed = true};
    return error == DB_OK ? db_example_put(db, finding, &occurrence, stored) : error;
}

static const char *copy(struct arena *arena, const char *text)
{
    return arena_strndup(arena, text, strlen(text));
}

struct db_finding *finding_copy(struct arena *arena, const struct db_finding *finding)
{
    struct db_finding *c = ARENA_NEW(arena, struct db_finding);
    *c = *finding;
    const char **texts[] = {&c->signature,
                            &c->k1,
                            &c->oracle,
                            &c->class,
                            &c->rule,
                            &c->observable,
                            &c->subject,
                            &c->reference,
                            &c->note,
                            &c->raw_kernel,
                            &c->raw_case,
                            &c->evidence,
                            &c->cause,
                            &c->minimised.kernel,
                            &c->minimised.launch,
                            &c->minimised.case_text,
                            &c->minimised.tape};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        *texts[i] = copy(arena, *texts[i]);
    return c;
}
