#include "fuzz/case/example.h"

#include "engine/input/input.h"
#include "fuzz/case/signature.h"
#include "oracle/check/oracle.h"

#include <inttypes.h>
#include <string.h>

struct ast_kernel *example_kernel(struct arena *arena, const struct fuzz_case *c, const char **text)
{
    if (c->generated)
        *text = print_kernel(arena, case_kernel(arena, c, NULL));
    return parse_printed(arena, *text);
}

static const char *copy(struct arena *arena, const char *text)
{
    return text ? arena_strndup(arena, text, strlen(text)) : NULL;
}

static void show(struct arena *arena, const struct check_result *result, const struct divergence *d,
                 struct shown *shown)
{
    shown->found = true;
    shown->cause = signature_cause(arena, result, d, false);
    shown->signature = divergence_signature(arena, d);
    shown->k1 = divergence_key(arena, d);
    shown->oracle = oracle_table[d->oracle].name;
    shown->class_name = copy(arena, d->class_name);
    shown->rule = rule_table[d->rule].name;
    shown->observable = copy(arena, d->observable);
    shown->subject = subject_table[d->subject].name;
    shown->known = copy(arena, d->known);
    shown->evidence = copy(arena, d->evidence);
    shown->summary = copy(arena, d->summary);
    shown->tape = d->tape ? tape_print(arena, d->tape) : "";
    shown->other_tape = d->other_tape ? tape_print(arena, d->other_tape) : "";
    shown->line = d->line;
    shown->about = d->drawn && d->about ? print_kernel(arena, d->about) : NULL;
}

void example_run(struct arena *arena, struct arena *scratch, const struct ast_kernel *kernel,
                 const struct check_options *check, const char *signature, bool k1_only,
                 struct shown *shown)
{
    size_t mark = arena_mark(scratch);
    struct check_result *result = ARENA_NEW(scratch, struct check_result);
    check_kernel(scratch, kernel, check, result);
    const struct divergence *d = check_find(scratch, result, signature, k1_only);
    *shown = (struct shown){.steps = result->thread_steps + result->warp_steps};
    if (d)
        show(arena, result, d, shown);
    arena_release(scratch, mark);
}

/* NULL: equal; otherwise what differs. */
static const char *difference(const struct shown *a, const struct shown *b)
{
    if (!a->found || !b->found)
        return "one run shows the divergence, another does not";
    if (strcmp(a->signature, b->signature) != 0)
        return "the signature differs between two runs";
    if (strcmp(a->tape, b->tape) != 0 || strcmp(a->other_tape, b->other_tape) != 0)
        return "the tape differs between two runs";
    if (strcmp(a->evidence, b->evidence) != 0)
        return "the evidence differs between two runs";
    return NULL;
}

/* The check with which a minimised kernel shows its divergence: its oracle alone, and the shortest
 * tape that the reducer found (an empty one is the sequential execution). */
static struct check_options small_check(const struct check_options *check,
                                        const struct signature_result *found, struct arena *scratch)
{
    struct check_options small = *check;
    small.oracles = 1u << found->divergence->oracle;
    small.transforms = found->reduced.check.transforms;
    if (found->divergence->tape) {
        small.tape = found->tape ? found->tape : tape_new(scratch, 1);
        small.tape_subject = found->divergence->subject;
    }
    return small;
}

static void describe_small(struct arena *arena, const struct ast_kernel *kernel,
                           const struct check_options *check, struct example *example)
{
    struct fuzz_case c = {.check = *check, .has_tape = check->tape != NULL};
    const struct ast_launch *launch = &kernel->launch;
    example->small_case = case_print(arena, &c);
    example->small_tape = check->tape ? tape_print(arena, check->tape) : "";
    example->small_transforms = transform_print_list(arena, &check->transforms);
    const char *caches = cache_sizes_print(arena, &launch->caches, ",");
    example->small_launch = arena_printf(
        arena, "threads=%" PRIu32 " warp=%" PRIu32 " blocks=%" PRIu32 " seed=0x%" PRIx64 "%s%s",
        launch->threads, launch->warp, launch->blocks, launch->seed, *caches ? " caches=" : "",
        caches);
    example->small_statements = ast_kernel_size(kernel);
}

static const struct ast_kernel *kernel_besides(struct arena *scratch,
                                               const struct ast_kernel *kernel,
                                               const struct check_options *check,
                                               enum oracle_id oracle)
{
    for (uint32_t i = 0; i < oracle_door_count; i++)
        if (oracle_doors[i].id == oracle && oracle_doors[i].besides)
            return oracle_doors[i].besides(scratch, kernel, check);
    return NULL;
}

/* What the reference sees in the kernel that the oracle runs besides, or draws: an execution that goes wrong may be one
 * of that. NULL: nothing. */
static const char *cause_elsewhere(struct arena *arena, struct arena *scratch,
                                   const struct ast_kernel *kernel, struct check_options check,
                                   const struct divergence *of)
{
    const struct ast_kernel *other =
        of->drawn ? of->about : kernel_besides(scratch, kernel, &check, of->oracle);
    if (!other)
        return NULL;
    if (of->drawn)
        check.subjects = SUBJECTS_DEFAULT;
    struct check_result *result = ARENA_NEW(scratch, struct check_result);
    check.oracles = 1u << ORACLE_REFERENCE;
    check.tape = NULL;
    check_kernel(scratch, other, &check, result);
    const struct divergence *d = signature_closest(result, 0);
    return d ? signature_cause(arena, result, d, true) : NULL;
}

/* What else the minimised kernel shows, all oracles asked, says what its cause is. */
static const char *cause_of_small(struct arena *arena, struct arena *scratch,
                                  const struct ast_kernel *kernel, struct check_options check,
                                  uint32_t oracles, const char *signature)
{
    size_t mark = arena_mark(scratch);
    struct check_result *result = ARENA_NEW(scratch, struct check_result);
    const struct divergence *d = NULL;
    const uint32_t asked[] = {oracles, check.oracles};
    /* The first step that the reference makes otherwise is the closest to the cause. */
    check.always = 1u << ORACLE_REFERENCE;
    for (int i = 0; i < 2 && !d; i++) {
        check.oracles = asked[i];
        *result = (struct check_result){0};
        check_kernel(scratch, kernel, &check, result);
        d = check_find(scratch, result, signature, false);
    }
    const char *cause = d ? signature_cause(arena, result, d, true) : copy(arena, signature);
    if (d && (d->drawn || !result->answers[ORACLE_REFERENCE].divergence)) {
        const char *other = cause_elsewhere(arena, scratch, kernel, check, d);
        cause = other ? other : cause;
    }
    arena_release(scratch, mark);
    return cause;
}

/* EXAMPLE_RUNS fresh runs of what was printed, byte for byte the same. */
static bool shows_again(struct arena *arena, struct arena *scratch, const struct ast_kernel *kernel,
                        const struct check_options *check, const char *signature,
                        struct shown *shown)
{
    example_run(arena, scratch, kernel, check, signature, false, shown);
    bool same = shown->found;
    for (int run = 1; run < EXAMPLE_RUNS && same; run++) {
        size_t mark = arena_mark(arena);
        struct shown again;
        example_run(arena, scratch, kernel, check, signature, false, &again);
        same = difference(shown, &again) == NULL;
        shown->steps += again.steps;
        arena_release(arena, mark);
    }
    return same;
}

/* What is minimised. An expectation holds for its kernel alone, so nothing can be cut from that, and what is drawn
 * beside a kernel stands in no statement of it: of what else the kernel shows, or the reference says of the drawn one
 * by itself, what looks closest to the cause is kept in its place. */
static const char *to_keep(struct arena *scratch, const struct ast_kernel **kernel,
                           const char *signature, const struct reduce_options *options,
                           struct example *example)
{
    const bool fixed = keep_signature(scratch, signature)->fixed;
    const struct ast_kernel *asked =
        example->raw.about ? parse_printed(scratch, example->raw.about) : *kernel;
    if (!fixed && !example->raw.about)
        return signature;
    struct check_result *result = ARENA_NEW(scratch, struct check_result);
    struct check_options check = options->check;
    if (fixed)
        check.always = 1u << ORACLE_REFERENCE;
    else /* what others see of it is no closer than what was seen */
        check.oracles = 1u << ORACLE_REFERENCE;
    check_kernel(scratch, asked, &check, result);
    example->runs++;
    example->steps += result->thread_steps + result->warp_steps;
    const struct divergence *d = signature_closest(result, 1u << ORACLE_DIRECTIONS);
    if (!d)
        return signature;
    *kernel = asked;
    return divergence_signature(scratch, d);
}

bool example_minimise(struct arena *arena, struct arena *scratch, const struct ast_kernel *kernel,
                      const char *signature, const struct reduce_options *options,
                      struct example *example)
{
    size_t mark = arena_mark(scratch);
    struct signature_result found;
    const struct reduce_result *reduced = &found.reduced;
    const char *kept = to_keep(scratch, &kernel, signature, options, example);
    reduce_finding(scratch, kernel, kept, options, &found);
    example->tests = reduced->tests;
    example->runs += reduced->runs;
    example->relaxed = found.relaxed;
    example->ending = reduced->ending;
    example->steps += reduced->steps;
    if (reduced->reproduced && found.divergence) {
        const char *wanted = divergence_signature(scratch, found.divergence);
        struct check_options small = small_check(&options->check, &found, scratch);
        example->small_kernel = print_kernel(arena, reduced->kernel);
        const struct ast_kernel *again = parse_printed(scratch, example->small_kernel);
        bool shown = shows_again(arena, scratch, again, &small, wanted, &example->small);
        example->steps += example->small.steps;
        if (!shown && small.tape) {
            small.tape = NULL;
            shown = shows_again(arena, scratch, again, &small, wanted, &example->small);
            example->steps += example->small.steps;
        }
        if (shown) {
            describe_small(arena, again, &small, example);
            example->slipped = strcmp(wanted, signature) != 0;
            example->small.cause =
                cause_of_small(arena, scratch, again, small, options->check.oracles, wanted);
            if (kept != signature)
                example->raw.cause = example->small.cause;
        }
        example->minimised = shown;
    }
    example->hopeless =
        reduced->reproduced && !example->minimised && reduced->ending != REDUCE_STOPPED;
    arena_release(scratch, mark);
    return example->minimised;
}

void example_make(struct arena *arena, struct arena *scratch, const struct fuzz_case *c,
                  const char *text, const char *signature, const struct reduce_options *options,
                  struct example *example)
{
    *example = (struct example){.replayed = true};
    size_t mark = arena_mark(scratch);
    const struct ast_kernel *kernel = example_kernel(scratch, c, &text);
    example->kernel = copy(arena, text);
    example->case_text = case_print(arena, c);
    example->statements = ast_kernel_size(kernel);
    int runs = options->max_tests > 0 ? EXAMPLE_RUNS : 1;
    for (int run = 0; run < runs && example->replayed; run++) {
        size_t run_mark = arena_mark(arena);
        struct shown again;
        example_run(arena, scratch, kernel, &c->check, signature, false, &again);
        if (run == 0)
            example->raw = again;
        example->steps += again.steps;
        example->why = difference(&example->raw, &again);
        example->replayed = example->why == NULL;
        if (run > 0)
            arena_release(arena, run_mark);
    }
    struct reduce_options small = *options;
    small.check = c->check;
    struct reduce_so_far start = {.size = example->statements};
    if (example->replayed && options->max_tests > 0 &&
        (!small.go_on || small.go_on(small.go_on_context, &start)))
        example_minimise(arena, scratch, kernel, signature, &small, example);
    arena_release(scratch, mark);
}

void example_of_incident(struct arena *arena, struct arena *scratch, const struct fuzz_case *c,
                         const char *text, const struct incident *incident, struct example *example)
{
    *example = (struct example){.case_text = case_print(arena, c),
                                .replayed = incident->state == INCIDENT_CONFIRMED};
    size_t mark = arena_mark(scratch);
    if (incident->phase != WATCH_GENERATING) {
        const struct ast_kernel *kernel = example_kernel(scratch, c, &text);
        example->kernel = copy(arena, text);
        example->statements = ast_kernel_size(kernel);
    }
    arena_release(scratch, mark);
}
