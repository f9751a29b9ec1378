#include "fuzz/keep/keep_seen.h"

#include "engine/language/print.h"

#include <string.h>

static const struct {
    const char *name, *words;
    enum status status;
} endings[] = {
    {"oob", "an access outside an array", STATUS_OUT_OF_BOUNDS},
    {"deadlock", "a deadlock", STATUS_DEADLOCK},
    {"divergence", "a divergent barrier", STATUS_BARRIER_DIVERGENCE},
    {"assert", "a failed assert", STATUS_ASSERT_FAILS},
    {"hang", "a hang", STATUS_NONTERMINATING},
};

/* What stands behind "race:", "status:"; NULL: it is another name. */
static const char *behind(const char *name, const char *prefix)
{
    size_t length = strlen(prefix);
    return strncmp(name, prefix, length) == 0 && name[length] ? name + length : NULL;
}

/* False: there is none of this name. */
static bool find_status(const char *name, enum status *status)
{
    const char *own = behind(name, "status:");
    for (size_t i = 0; !own && i < sizeof endings / sizeof endings[0]; i++)
        if (strcmp(name, endings[i].name) == 0) {
            *status = endings[i].status;
            return true;
        }
    for (int s = STATUS_TERMINATED; own && s < STATUS_COUNT; s++)
        if (strcmp(own, status_names[s]) == 0) {
            *status = (enum status)s;
            return true;
        }
    return false;
}

/* False: there is no such thing to keep. */
static bool parse(const char *name, struct keep_seen *keep)
{
    *keep = (struct keep_seen){.what = KEEP_RACE, .var = behind(name, "race:")};
    if (keep->var || strcmp(name, "race") == 0)
        return true;
    keep->what = KEEP_EXPECT;
    if (strcmp(name, "expect") == 0)
        return true;
    keep->what = KEEP_STATUS;
    return find_status(name, &keep->status);
}

bool keep_seen_is_known(const char *name)
{
    struct keep_seen keep;
    return parse(name, &keep);
}

/* ---- what is seen ---- */

static unsigned endings_of(const struct check_result *result)
{
    unsigned seen = 0;
    for (uint32_t s = 0; s < SUBJECT_COUNT; s++)
        for (uint32_t status = 0; status < STATUS_COUNT; status++)
            seen |= (unsigned)(result->runs[s].statuses[status] > 0) << status;
    return seen;
}

/* Whether a subject saw a race on the file-level variable with this number, or, NULL, on any. */
static bool races_on(const struct check_run *run, const char *name)
{
    if (!run->race || !name)
        return run->race;
    for (uint32_t i = 0; i < run->program->var_count; i++)
        if (run->racy_vars[i] && strcmp(run->program->vars[i].ast->name, name) == 0)
            return true;
    return false;
}

static bool any_race(const struct check_result *result, const char *name)
{
    bool race = false;
    for (uint32_t s = 0; s < SUBJECT_COUNT; s++)
        race |= races_on(&result->runs[s], name);
    return race;
}

/* A kernel that nobody runs fails every expectation: that is none of its doing. */
static bool somebody_ran(const struct check_result *result, const struct ast_expect *expect)
{
    for (uint32_t s = 0; s < SUBJECT_COUNT; s++)
        if (!result->runs[s].reason && result->runs[s].schedules > 0 &&
            subject_matches(expect->subject, (enum subject_id)s))
            return true;
    return false;
}

static const struct check_claim *failing_claim(const struct check_result *result)
{
    for (uint32_t i = 0; i < result->claim_count; i++)
        if (!result->claims[i].met && somebody_ran(result, result->claims[i].expect))
            return &result->claims[i];
    return NULL;
}

static bool is_seen(const struct keep_seen *keep, const struct check_result *result)
{
    switch (keep->what) {
    case KEEP_RACE:
        return any_race(result, keep->var);
    case KEEP_STATUS:
        return (endings_of(result) >> keep->status) & 1;
    case KEEP_EXPECT:
        return failing_claim(result) != NULL;
    }
    return false;
}

/* Another ending is another kernel; where nothing terminates, a final value is wrong in another
 * way. */
static bool ends_alike(const struct keep_seen *keep, unsigned now)
{
    const unsigned terminated = 1u << STATUS_TERMINATED;
    bool same = keep->what != KEEP_EXPECT || ((now ^ keep->endings) & terminated) == 0;
    return same && (now & ~keep->endings & ~terminated) == 0;
}

static bool shown(const struct interest *interest, struct interest_question *question)
{
    const struct keep_seen *keep = interest->state;
    struct check_result *result = ARENA_NEW(question->arena, struct check_result);
    check_kernel(question->arena, question->kernel, question->check, result);
    question->steps = result->thread_steps + result->warp_steps;
    return is_seen(keep, result) && ends_alike(keep, endings_of(result));
}

struct interest keep_seen_interest(struct keep_seen *keep)
{
    return (struct interest){.shown = shown,
                             .state = keep,
                             .checks = true,
                             .oracles = keep->oracles,
                             .expects = keep->what == KEEP_EXPECT};
}

/* ---- what the given kernel shows ---- */

static bool look(struct arena *arena, const struct ast_kernel *kernel,
                 const struct check_options *check, uint32_t oracles, struct keep_seen *keep,
                 struct check_result *result)
{
    struct check_options asked = *check;
    asked.oracles = keep->oracles = oracles;
    check_kernel(arena, kernel, &asked, result);
    keep->endings = endings_of(result);
    return is_seen(keep, result);
}

/* "terminated, out_of_bounds, a race on a, a race on b" */
static const char *print_seen(struct arena *arena, const struct check_result *result)
{
    const char *text = result->reason ? result->reason : "";
    unsigned seen = endings_of(result);
    for (int s = 0; s < STATUS_COUNT; s++)
        if ((seen >> s) & 1)
            text = arena_printf(arena, "%s%s%s", text, *text ? ", " : "", status_names[s]);
    for (uint32_t i = 0; result->program && i < result->program->var_count; i++) {
        const char *name = result->program->vars[i].ast->name;
        if (any_race(result, name))
            text = arena_printf(arena, "%s, a race on %s", text, name);
    }
    return text;
}

/* "threads: terminates" */
static const char *print_claim(struct arena *arena, const struct ast_expect *claim)
{
    const char *text = print_expect_comments(arena, claim);
    const char *start = text + strspn(text, "/ ") + strlen("expect");
    start += strspn(start, ": ");
    return arena_strndup(arena, start, strcspn(start, "\n"));
}

static const char *words_of(struct arena *arena, const struct keep_seen *keep)
{
    for (size_t i = 0; keep->what == KEEP_STATUS && i < sizeof endings / sizeof endings[0]; i++)
        if (endings[i].status == keep->status)
            return endings[i].words;
    if (keep->what == KEEP_STATUS)
        return arena_printf(arena, "the ending %s", status_names[keep->status]);
    if (keep->what == KEEP_EXPECT)
        return "an expectation that fails";
    return keep->var ? arena_printf(arena, "a race on %s", keep->var) : "a race";
}

/* The first expectation that fails is the only one from now on. */
static void keep_claim(struct arena *arena, struct ast_kernel *kernel,
                       const struct check_claim *claim, struct keep_seen *keep)
{
    kernel->expects = ARENA_NEW(arena, struct ast_expect);
    *kernel->expects = *claim->expect;
    kernel->expects->next = NULL;
    keep->words =
        arena_printf(arena, "the failure of 'expect %s'", print_claim(arena, kernel->expects));
}

bool keep_seen_of(struct arena *arena, struct ast_kernel *kernel, const struct check_options *check,
                  const char *name, struct keep_seen *keep, const char **error)
{
    struct check_result *result = ARENA_NEW(arena, struct check_result);
    if (!parse(name, keep)) {
        *error = arena_printf(arena, "there is nothing called '%s' to keep", name);
        return false;
    }
    keep->words = words_of(arena, keep);
    /* An expectation may need what an oracle looks for; all else is mostly seen without any. */
    bool seen = keep->what != KEEP_EXPECT && look(arena, kernel, check, 0, keep, result);
    if (!seen && !look(arena, kernel, check, check->oracles, keep, result)) {
        *error = arena_printf(arena, "the kernel does not show %s; seen: %s", keep->words,
                              print_seen(arena, result));
        return false;
    }
    if (keep->what == KEEP_EXPECT)
        keep_claim(arena, kernel, failing_claim(result), keep);
    return true;
}
