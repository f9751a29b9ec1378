#include "fuzz/beside/beside_internal.h"

#include "fuzz/programs/host_divergence.h"
#include "fuzz/programs/host_gen.h"
#include "oracle/device/host_tiny.h"

#include <string.h>

enum { SCHEDULES = 2, TESTS_MOST = 400, TINY_SHARE = 2 };

/* *program: its text. */
static struct host_case make(struct arena *arena, const struct fuzz_case *c, const char **program)
{
    struct pcg rng = pcg_derive(c->seed, PCG_KERNEL, c->number);
    if (pcg_below(&rng, TINY_SHARE) == 0) {
        *program = host_tiny(arena, &rng);
        return (struct host_case){.seed = c->seed,
                                  .number = c->number,
                                  .schedules = SCHEDULES,
                                  .tiny = true,
                                  .device = host_tiny_settings(arena, &rng)};
    }
    struct host_made made = host_gen(arena, c->seed, c->number);
    *program = made.text;
    return (struct host_case){.seed = c->seed,
                              .number = c->number,
                              .schedules = SCHEDULES,
                              .races = made.races,
                              .device = ""};
}

const char *host_case_judge(struct arena *arena, const struct fuzz_case *c, uint64_t *steps)
{
    const char *program;
    uint64_t taken;
    const struct host_case host = make(arena, c, &program);
    const struct host_divergence d = host_case_divergence(arena, &host, program, &taken);
    *steps += taken;
    return d.class ? d.signature : NULL;
}

static void show(struct arena *arena, const struct host_case *host, const char *program,
                 const struct host_divergence *d, struct shown *shown)
{
    const char *class = arena_strndup(arena, d->class, strlen(d->class));
    const char *signature = arena_strndup(arena, d->signature, strlen(d->signature));
    *shown = (struct shown){.found = true,
                            .signature = signature,
                            .k1 = arena_printf(arena, "host|%s", class),
                            .oracle = "host",
                            .class_name = class,
                            .rule = arena_strndup(arena, d->word, strlen(d->word)),
                            .observable = "",
                            .subject = "device",
                            .cause = host_case_cause(arena, host, program, class),
                            .evidence = host_divergence_evidence(arena, d, host),
                            .summary = "",
                            .tape = "",
                            .other_tape = "",
                            .line = d->line};
}

struct showing {
    struct arena *arena;
    const struct host_case *host;
    const char *signature;
};

static bool shows(void *context, const char *text)
{
    const struct showing *s = context;
    uint64_t steps;
    const struct host_divergence d = host_case_divergence(s->arena, s->host, text, &steps);
    return d.class && strcmp(d.signature, s->signature) == 0;
}

/* The smaller program shows the same, or it is none. */
static void make_small(struct arena *arena, struct arena *scratch, const struct host_case *host,
                       const char *program, uint32_t most, struct example *example)
{
    struct host_judge_options options = HOST_JUDGE_DEFAULTS;
    uint64_t steps;
    options.schedules = host->schedules;
    options.settings = *host->device ? host->device : NULL;
    options.budget = 1 << 18;
    host_follow_drawn(&options, host->seed, host->number);
    struct showing showing = {scratch, host, example->raw.signature};
    const struct host_reduced reduced =
        host->tiny ? host_reduce_showing(scratch, program, shows, &showing, most)
                   : host_reduce(scratch, "generated.host", program, strlen(program), &options,
                                 example->raw.rule, host->races, most);
    example->tests = reduced.tests;
    if (!reduced.text)
        return;
    const struct host_divergence d = host_case_divergence(scratch, host, reduced.text, &steps);
    if (!d.class || strcmp(d.signature, example->raw.signature) != 0)
        return;
    example->minimised = true;
    example->small_kernel = arena_strndup(arena, reduced.text, strlen(reduced.text));
    example->small_case = example->case_text;
    example->small_tape = example->small_launch = example->small_transforms = "";
    example->small_statements = reduced.left;
    show(arena, host, reduced.text, &d, &example->small);
}

void host_case_example(struct arena *arena, struct arena *scratch, const struct fuzz_case *c,
                       const char *signature, uint32_t most, struct example *example)
{
    const char *program;
    const struct host_case host = make(scratch, c, &program);
    const struct host_divergence d = host_case_divergence(scratch, &host, program, &example->steps);
    *example = (struct example){.kernel = arena_strndup(arena, program, strlen(program)),
                                .case_text = host_case_print(arena, &host),
                                .statements = host_lines(program),
                                .steps = example->steps,
                                .runs = 1};
    example->replayed = d.class && strcmp(d.signature, signature) == 0;
    if (!example->replayed) {
        example->why = "another run of the program shows something else";
        return;
    }
    show(arena, &host, program, &d, &example->raw);
    example->hopeless = !host_can_be_small(d.class, &host);
    if (most > 0 && !example->hopeless)
        make_small(arena, scratch, &host, program, most < TESTS_MOST ? most : TESTS_MOST, example);
}

/* ---- a finding that is stored ---- */

struct beside_again host_case_again(struct arena *arena, const struct db_finding *finding,
                                    const char *text)
{
    struct host_case c;
    uint64_t steps;
    if (!host_case_parse(arena, finding->raw_case, &c))
        return (struct beside_again){.why = "the stored case is damaged", .seen_as = ""};
    const struct host_divergence d = host_case_divergence(arena, &c, text, &steps);
    if (!d.class)
        return (struct beside_again){.why = "nothing is wrong with it any more", .seen_as = ""};
    if (strcmp(d.signature, finding->signature) != 0)
        return (struct beside_again){.why = arena_printf(arena, "it shows as %s", d.signature),
                                     .seen_as = d.signature};
    return (struct beside_again){.shows = true, .why = d.text, .seen_as = ""};
}

void host_case_reduce(struct arena *arena, const struct db_finding *finding, const char *text,
                      uint32_t most, struct example *example)
{
    struct host_case c;
    *example = (struct example){.case_text = finding->raw_case,
                                .statements = host_lines(text),
                                .raw = {.signature = finding->signature, .rule = finding->rule}};
    if (host_case_parse(arena, finding->raw_case, &c))
        make_small(arena, arena, &c, text, most, example);
}
