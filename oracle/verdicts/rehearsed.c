/*
 * rehearsed.c - guesses that a drawn run of the two threads shows to be false are dropped before a solver is asked
 * (engine/prove/rehearse.c). In loops whose trips only exchange variables it is known of many guesses whether they hold
 * at every trip: those that do are kept, and those that the second trip of any run shows to be false are not. A guess
 * that is dropped and holds leaves open what could be proved, which no execution shows.
 */
#include "engine/base/pcg.h"
#include "engine/base/text.h"
#include "engine/input/input.h"
#include "engine/prove/inference.h"
#include "oracle/verdicts/verdicts.h"

#include <inttypes.h>
#include <string.h>

struct fact {
    const char *text; /* how it begins */
    bool holds;
    enum { ALWAYS, ALIKE, WHERE_UNIFORM, FROM_ZERO, NOT_FROM_ZERO, INNER } when;
};

/* Of a loop that counts i up, in which x, y and z change their places, and all threads write g[3]. */
static const struct fact facts[] = {
    {"thread 1: invariant ", true, ALWAYS},
    {"thread 2: invariant ", true, ALWAYS},
    {"both threads are alive", true, ALWAYS},
    {"both threads are in the loop, or none", true, WHERE_UNIFORM},
    {"x$1 == x$2 where both are at the head", true, ALIKE},
    {"z$1 == z$2 where both are at the head", true, ALIKE},
    {"i$1 == i$2 where both are at the head", true, INNER},
    {"i$1 and i$2 have grown alike", true, INNER},
    {"i$1 has not grown more than i$2", true, WHERE_UNIFORM},
    {"i$1 has not fallen", true, INNER},
    {"i$2 has not fallen", true, INNER},
    {"i$1 >= 0", true, INNER},
    {"i$2 != 0", true, NOT_FROM_ZERO},
    {"i$2 != 0", false, FROM_ZERO},
    {"i$1 has not risen", false, INNER},
    {"i$2 has not risen", false, INNER},
    {"thread 1 is not at End", true, ALWAYS},
    {"x$1 != 0", true, ALWAYS},
    {"y$2 >= 0", true, ALWAYS},
    {"what thread 1 has written of g in the loop: nothing", false, INNER},
    {"what thread 1 has written of g in the loop: is the first element", true, ALWAYS},
};

static const char *const exchanges[] = {"t = x; x = y; y = t;",
                                        "t = x; x = y; y = z; z = t;",
                                        "t = z; z = y; y = x; x = t;",
                                        "x = x + y; y = x - y; x = x - y;",
                                        "x = x ^ z; z = x ^ z; x = x ^ z;",
                                        "if (i & 1) { t = x; x = y; y = t; }",
                                        "t = y; y = x; x = t; t = y; y = z; z = t;"};

struct drawn_loop {
    bool is_uniform, is_nested;
    uint32_t from;
};

static const struct ast_kernel *draw(struct arena *arena, struct pcg *rng, struct drawn_loop *loop)
{
    static const char *const bounds[] = {"5", "6", "5 + (tid & 1)"};
    const uint32_t x = 1 + pcg_below(rng, 4), y = x + 1 + pcg_below(rng, 4), z = y + 3;
    const char *known[] = {arena_printf(arena, "x + y + z == %" PRIu32, x + y + z),
                           arena_printf(arena, "x * y * z == %" PRIu32, x * y * z),
                           arena_printf(arena, "(x ^ y ^ z) == %" PRIu32, x ^ y ^ z),
                           "x != y",
                           "y != z",
                           "x != z"};
    struct text out = text_begin(arena);
    const uint32_t bound = pcg_below(rng, 3), exchange = pcg_below(rng, 7);
    *loop = (struct drawn_loop){bound < 2, pcg_below(rng, 3) == 0, pcg_below(rng, 3)};
    /* Behind a barrier that one of two threads comes to is nobody: nothing is false there. */
    const bool parts = pcg_below(rng, 3) == 0;
    const char *parting =
        "if (i == 2) { if (tid) barrier(); } if (i > 2) { x = tid + 9; z = tid; }";
    loop->from %= parts ? 2 : 3;
    text_format(&out,
                "launch(threads=%" PRIu32 ", warp=2);\nglobal int g[16];\nkernel k() { private int "
                "t, i, j, x, y, z; x = %" PRIu32 "; y = %" PRIu32 "; z = %" PRIu32 ";\n%sfor (i = "
                "%" PRIu32
                "; i < %s; i += 1) { invariant %s; %s invariant %s; g[3] = i; %s }\n%s}\n",
                2 + pcg_below(rng, 3) * !parts, x, y, z,
                loop->is_nested ? "for (j = 0; j < 3; j += 1) {\n" : "", loop->from, bounds[bound],
                known[pcg_below(rng, 6)], exchanges[exchange], known[pcg_below(rng, 6)],
                parts ? parting : "", loop->is_nested ? "}\n" : "");
    return parse_printed(arena, out.bytes);
}

static bool is_meant(const struct fact *fact, const struct drawn_loop *loop, bool is_inner)
{
    switch (fact->when) {
    case ALWAYS:
        return true;
    case ALIKE:
        return loop->is_uniform || !loop->is_nested;
    case WHERE_UNIFORM:
        return is_inner && loop->is_uniform;
    case FROM_ZERO:
        return is_inner && loop->from == 0;
    case NOT_FROM_ZERO:
        return is_inner && loop->from > 0;
    case INNER:
        return is_inner;
    }
    return false;
}

static const char *wrong(struct arena *arena, const struct drawn_loop *loop,
                         const struct candidate *c, bool is_inner)
{
    for (uint32_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (strncmp(c->text, facts[i].text, strlen(facts[i].text)) == 0 &&
            is_meant(&facts[i], loop, is_inner) && c->kept != facts[i].holds)
            return arena_printf(arena, "'%s' is %s a loop that only exchanges variables", c->text,
                                c->kept ? "false, and is kept of" : "dropped, and holds of");
    return NULL;
}

struct verdicts_fault rehearsed_judge(struct arena *arena, uint64_t seed, const char **text)
{
    struct pcg rng = pcg_derive(seed, PCG_INPUT, 5);
    struct proof_options options = PROOF_DEFAULTS;
    struct drawn_loop loop;
    struct verdicts_fault fault = {NULL, NULL};
    const char *reason;
    const struct ast_kernel *kernel = draw(arena, &rng, &loop);
    *text = print_kernel(arena, kernel);
    options.counted = false;
    struct duo *duo = duo_new(arena, forms_new(arena, kernel), &options, 0, &reason);
    if (!duo)
        return (struct verdicts_fault){"what is handled", reason};
    duo_run(duo);
    for (uint32_t i = 0; i < duo->cuts.count; i++)
        candidates_find(duo, GROWN(duo->cuts, struct loop_cut *)[i]);
    rehearse(duo);
    for (uint32_t i = 0; i < duo->cuts.count && !fault.why; i++) {
        const struct loop_cut *cut = GROWN(duo->cuts, struct loop_cut *)[i];
        const bool is_inner = !loop.is_nested || duo->cfg->loops[cut->loop].parent != CFG_NO_LOOP;
        for (uint32_t n = 0; n < cut->candidate_count && !fault.why; n++)
            fault.why = wrong(arena, &loop, &cut->candidates[n], is_inner);
    }
    fault.stage = fault.why ? "guesses that are rehearsed" : NULL;
    return fault;
}
