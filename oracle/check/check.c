#include "oracle/check/check.h"

#include "oracle/check/expect.h"
#include "oracle/check/oracle.h"

#include <string.h>

/* 16 schedules are one cycle of the portfolio. 2^16 steps are ten times what generated kernels take
 * at most, and a few milliseconds when a kernel spins. */
const struct check_options CHECK_DEFAULTS = {
    .schedules = 16,
    .budget_steps = 1 << 16,
    .subjects = SUBJECTS_DEFAULT,
    .oracles = ORACLES_DEFAULT,
};

/* So that a large grid is not cut off in the middle of a short kernel. */
enum { BUDGET_STEPS_A_THREAD = 512 };

static void start_result(struct check_result *result, const struct ast_kernel *kernel,
                         const struct check_options *options)
{
    memset(result, 0, sizeof *result);
    result->kernel = kernel;
    result->subjects = options->subjects;
    for (uint32_t s = 0; s < SUBJECT_COUNT; s++) {
        result->runs[s].subject = (enum subject_id)s;
        if (!((options->subjects >> s) & 1))
            result->runs[s].reason = "not asked";
    }
    for (uint32_t o = 0; o < ORACLE_COUNT; o++)
        result->answers[o] =
            (struct answer){.verdict = VERDICT_NOT_APPLICABLE, .reason = "not asked"};
}

/* The variants that the kernel's expectations name. */
static subject_set named_variants(const struct ast_kernel *kernel)
{
    subject_set named = 0;
    enum subject_id subject;
    for (const struct ast_expect *e = kernel->expects; e; e = e->next)
        if (e->subject && subject_parse(e->subject, strlen(e->subject), &subject) &&
            subject_table[subject].role != SUBJECT_ORDINARY)
            named |= SUBJECT_BIT(subject);
    return named;
}

/* Subjects whose memory is not sequentially consistent are held against the same ones with one that is. */
static subject_set plain_ones(subject_set asked)
{
    subject_set plain = 0;
    for (uint32_t s = 0; s < SUBJECT_COUNT; s++) {
        const struct semantics *vtable = subject_table[s].vtable;
        for (uint32_t p = 0; vtable && asked >> s & 1 && p < SUBJECT_COUNT; p++)
            if (subject_table[p].vtable == vtable->plain && vtable->plain &&
                subject_table[p].role == SUBJECT_ORDINARY)
                plain |= SUBJECT_BIT(p);
    }
    return plain;
}

/* No subject runs the kernel: the reason of the first one that it is a kernel for. */
static void refuse(struct checking *c)
{
    bool suited = false;
    for (uint32_t s = 0; s < SUBJECT_COUNT && !suited; s++) {
        if (!((c->options->subjects >> s) & 1))
            continue;
        c->result->reason = c->result->runs[s].reason;
        suited = subject_suits((enum subject_id)s, c->kernel->form);
    }
    for (uint32_t o = 0; o < ORACLE_COUNT; o++)
        if (oracle_asked(c, (enum oracle_id)o))
            c->result->answers[o].reason = c->result->reason;
}

static void explore(struct checking *c)
{
    for (uint32_t s = 0; s < SUBJECT_COUNT; s++)
        if (explore_runs(c, (enum subject_id)s))
            explore_subject(c, (enum subject_id)s);
    for (uint32_t i = 0; i < oracle_door_count; i++)
        if (oracle_doors[i].explored)
            oracle_doors[i].explored(c);
}

static void judge(struct checking *c)
{
    for (uint32_t i = 0; i < oracle_door_count; i++)
        if (oracle_doors[i].restrict_groups)
            oracle_doors[i].restrict_groups(c);
    for (uint32_t i = 0; i < oracle_door_count; i++) {
        const struct oracle *oracle = &oracle_doors[i];
        if (oracle->judge && (oracle->unasked || oracle_asked(c, oracle->id)))
            oracle->judge(c);
    }
}

static void finish(struct checking *c)
{
    for (uint32_t i = 0; i < oracle_door_count; i++)
        if (oracle_doors[i].finish)
            oracle_doors[i].finish(c);
}

static void count_hits(const struct checking *c)
{
    const struct machine *counted[SUBJECT_COUNT + 1] = {c->threads};
    for (uint32_t s = 0; s < SUBJECT_COUNT; s++) {
        bool again = false;
        for (uint32_t i = 0; i <= s; i++)
            again |= counted[i] == c->subjects[s].machine;
        counted[s + 1] = again ? NULL : c->subjects[s].machine;
    }
    for (uint32_t s = 0; s <= SUBJECT_COUNT; s++)
        for (uint32_t r = 0; counted[s] && r <= RULE_COUNT; r++)
            c->result->hits[r] += counted[s]->hits[r];
}

uint64_t check_budget(const struct check_options *options, const struct program *program)
{
    const uint64_t least = (uint64_t)BUDGET_STEPS_A_THREAD * program->total_threads;
    const bool is_default = options->budget_steps == CHECK_DEFAULTS.budget_steps;
    return is_default && options->budget_steps < least ? least : options->budget_steps;
}

void check_kernel(struct arena *arena, const struct ast_kernel *kernel,
                  const struct check_options *options, struct check_result *result)
{
    struct check_options scaled = *options;
    struct checking c = {.arena = arena, .options = &scaled, .kernel = kernel, .result = result};
    if (scaled.subjects == SUBJECTS_DEFAULT)
        scaled.subjects |= named_variants(kernel);
    for (uint32_t s = 0; s < SUBJECT_COUNT; s++)
        if (subject_suits((enum subject_id)s, kernel->form))
            scaled.subjects |= scaled.also & SUBJECT_BIT(s);
    scaled.subjects |= plain_ones(scaled.subjects);
    start_result(result, kernel, &scaled);
    c.forms = forms_new(arena, kernel);
    explore_prepare(&c);
    if (result->program) {
        scaled.budget_steps = check_budget(options, result->program);
        c.finals = expect_prepare(&c);
        explore(&c);
        judge(&c);
        count_hits(&c);
        finish(&c);
        explore_count_lone(&c);
    } else {
        refuse(&c);
    }
    expect_judge(&c);
}

uint32_t check_divergences(const struct check_result *result, bool with_known)
{
    uint32_t count = 0;
    for (uint32_t o = 0; o < ORACLE_COUNT; o++) {
        bool counted = false;
        for (const struct divergence *d = result->answers[o].divergence; d; d = d->next)
            counted |= with_known || !d->known;
        count += counted;
    }
    return count;
}

const struct divergence *check_find(struct arena *arena, const struct check_result *result,
                                    const char *signature, bool k1_only)
{
    const struct divergence *found = NULL;
    size_t mark = arena_mark(arena);
    for (uint32_t o = 0; o < ORACLE_COUNT && !found; o++)
        for (const struct divergence *d = result->answers[o].divergence; d && !found; d = d->next) {
            const char *text = k1_only ? divergence_key(arena, d) : divergence_signature(arena, d);
            if (strcmp(text, signature) == 0)
                found = d;
        }
    arena_release(arena, mark);
    return found;
}
