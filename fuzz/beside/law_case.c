#include "fuzz/beside/beside_internal.h"

#include "fuzz/laws/laws.h"
#include "oracle/check/evidence.h"

#include <inttypes.h>
#include <string.h>

static const char *signature_of(struct arena *arena, const struct drawn_test *test)
{
    return arena_printf(arena, "litmus|%s|", law_table[test->law].name);
}

/* The first of the case's tests that breaks its law. False: none does. */
static bool find_broken(struct arena *arena, const struct fuzz_case *c, struct drawn_test *test)
{
    for (uint64_t i = 0; i < BESIDE_TESTS; i++) {
        size_t mark = arena_mark(arena);
        *test = litmus_draw(c->seed, c->number * BESIDE_TESTS + i);
        bool broken = law_ask(arena, test) == LAW_BROKEN;
        arena_release(arena, mark);
        if (broken)
            return true;
    }
    return false;
}

const char *law_case_judge(struct arena *arena, const struct fuzz_case *c, uint64_t *steps)
{
    struct drawn_test test;
    (void)steps; /* of other machines */
    return find_broken(arena, c, &test) ? signature_of(arena, &test) : NULL;
}

static void show(struct arena *arena, const struct drawn_test *test, struct shown *shown)
{
    const struct law_info *law = &law_table[test->law];
    const char *signature = signature_of(arena, test);
    struct evidence e;
    evidence_open(&e, arena);
    evidence_string(&e, "law", law->sentence);
    *shown = (struct shown){.found = true,
                            .signature = signature,
                            .k1 = signature,
                            .oracle = beside_table[BESIDE_LITMUS].name,
                            .class_name = law->name,
                            .rule = "",
                            .observable = "",
                            .subject = "litmus",
                            .cause = signature,
                            .evidence = evidence_close(&e),
                            .summary = "",
                            .tape = "",
                            .other_tape = ""};
}

static uint32_t instructions(const struct drawn_test *test)
{
    uint32_t sum = 0;
    for (uint32_t t = 0; t < DRAWN_THREADS; t++)
        sum += litmus_draw_length(test, t);
    return sum;
}

void law_case_example(struct arena *arena, struct arena *scratch, const struct fuzz_case *c,
                      const char *signature, uint32_t most, struct example *example)
{
    struct drawn_test test;
    bool broken = find_broken(scratch, c, &test);
    const char *text = litmus_draw_text(arena, &test);
    *example =
        (struct example){.kernel = text ? text : "",
                         .case_text = arena_printf(arena, "litmus seed=0x%" PRIx64 " case=%" PRIu64,
                                                   c->seed, c->number),
                         .statements = instructions(&test),
                         .runs = 1};
    example->replayed = broken && strcmp(signature_of(scratch, &test), signature) == 0;
    if (!example->replayed) {
        example->why = "asked again the tests keep their laws";
        return;
    }
    show(arena, &test, &example->raw);
    if (most == 0)
        return;
    law_make_small(scratch, &test);
    example->minimised = true;
    example->small_kernel = litmus_draw_text(arena, &test);
    example->small_case = example->case_text;
    example->small_tape = example->small_launch = example->small_transforms = "";
    example->small_statements = instructions(&test);
    example->tests = example->statements; /* at least so many: each was left out once */
    show(arena, &test, &example->small);
}

struct beside_again law_case_again(struct arena *arena, const struct db_finding *finding,
                                   const char *text)
{
    enum law_holding holding;
    if (!law_ask_text(arena, text, finding->class, &holding))
        return (struct beside_again){.why = "the stored test is damaged", .seen_as = ""};
    return holding == LAW_BROKEN
               ? (struct beside_again){.shows = true, .why = "its law is broken", .seen_as = ""}
               : (struct beside_again){.why = "its law holds", .seen_as = ""};
}
