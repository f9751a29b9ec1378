#include "oracle/results/metamorphic.h"

#include "engine/base/pcg.h"
#include "engine/input/input.h"
#include "oracle/check/evidence.h"
#include "oracle/results/result.h"

#include <string.h>

enum { AGAIN_SHARE = 8 /* lists of steps are done twice in one case of so many */ };

/* A kernel transformed, and one execution of it. */
struct transformed {
    struct checking t;          /* its own: programs, machines, executions */
    struct transform_list list; /* the steps that did something */
    bool keeps_graph;           /* all of them do */
    uint32_t words;             /* of its global and shared memory .. */
    uint32_t *addresses;        /* .. and where in K (CODE_NONE: new); NULL: in the same place */
};

/* What is known of K in a group; both NULL: nothing. */
struct knowledge {
    const struct execution *clean, *dirty;
};

/* Warps of a kernel given as PTX order what its threads do not: how they come to a store is the same only
 * where the threads do not race, on their own; and that they race, or deadlock, says nothing. */
static struct knowledge know_warps(const struct checking *c)
{
    struct knowledge k = {.clean = result_find_clean(c, GROUP_FIRST)};
    if (!result_find_clean(c, GROUP_PTX) || c->groups[GROUP_PTX].any_race)
        k.clean = NULL;
    return k;
}

static struct knowledge know(const struct checking *c, enum group_id group)
{
    if (c->kernel->form == FORM_PTX && group == GROUP_FIRST)
        return know_warps(c);
    struct knowledge k = {.clean = result_find_clean(c, group)};
    for (uint32_t i = 0; i < c->execution_count && !k.dirty; i++) {
        const struct execution *e = c->executions[i];
        if (!e->searched && explore_execution_group(c, e) == group &&
            !explore_follows(c, e->subject) && result_clean_of(e->status, e->race) == DIRTY)
            k.dirty = e;
    }
    return k;
}

/* ---- the kernel transformed ---- */

static uint32_t base_of(const struct program *p, enum ast_space space, uint32_t block)
{
    return space == SPACE_GLOBAL ? 0 : p->shared_base + block * p->words[SPACE_SHARED];
}

/* A program in which file-level variables stand in their order: global and shared memory lies so in all. */
static const struct program *layout_of(struct forms *forms)
{
    const struct program *core = forms_get(forms, PROGRAM_CORE)->program;
    return core ? core : forms_get(forms, PROGRAM_BLOCKS)->program;
}

/* Of a module the memory stays as it is, and its locations may be smaller than words. */
static bool map_module(struct checking *c, struct transformed *x)
{
    x->words = c->result->program->private_base;
    x->addresses = NULL;
    return x->t.result->program->private_base == x->words;
}

/* File-level variables keep their numbers, new ones come last. False: it cannot be told where they lie. */
static bool map_addresses(struct checking *c, struct transformed *x)
{
    if (c->kernel->form == FORM_PTX)
        return map_module(c, x);
    const struct program *p = layout_of(c->forms), *q = layout_of(x->t.forms);
    if (!p || !q)
        return false;
    x->words = q->private_base;
    x->addresses = ARENA_ARRAY(c->arena, uint32_t, q->private_base + 1);
    for (uint32_t i = 0; i < q->private_base; i++)
        x->addresses[i] = CODE_NONE;
    for (uint32_t v = 0; v < p->var_count && v < q->var_count; v++) {
        enum ast_space space = p->vars[v].ast->space;
        if (space != SPACE_GLOBAL && space != SPACE_SHARED)
            continue;
        for (uint32_t b = 0; b < (space == SPACE_GLOBAL ? 1 : p->launch.blocks); b++)
            for (uint32_t i = 0; i < p->vars[v].ast->length; i++)
                x->addresses[base_of(q, space, b) + q->vars[v].offset + i] =
                    base_of(p, space, b) + p->vars[v].offset + i;
    }
    return true;
}

/* Those of the subjects of K that the seed puts first; seed 0: all. */
static subject_set draw_subjects(const struct checking *c)
{
    subject_set drawn = 0;
    uint64_t seed = c->options->seed;
    for (uint32_t n = 0; n < SUBJECT_COUNT && (seed == 0 || n < METAMORPHIC_SUBJECTS); n++) {
        uint64_t least = UINT64_MAX;
        uint32_t first = SUBJECT_COUNT;
        for (uint32_t s = 0; s < SUBJECT_COUNT; s++) {
            uint64_t rank = pcg_splitmix(pcg_splitmix(seed) ^ s);
            if (rank >= least || (drawn >> s) & 1 || !explore_runs(c, (enum subject_id)s) ||
                explore_group(c, (enum subject_id)s) == GROUP_NONE)
                continue;
            least = rank;
            first = s;
        }
        if (first == SUBJECT_COUNT)
            break;
        drawn |= SUBJECT_BIT(first);
    }
    return drawn;
}

struct ast_kernel *metamorphic_besides(struct arena *arena, const struct ast_kernel *kernel,
                                       const struct check_options *options)
{
    struct transform_list done;
    return options->transforms.count > 0
               ? transform_apply(arena, kernel, &options->transforms, &done)
               : NULL;
}

/* What a transformation makes of a kernel is a kernel. */
static const char *report_broken(struct checking *c, const struct transform_list *list)
{
    const char *name = transform_table[list->steps[list->count - 1].id].name;
    struct divergence *d = ARENA_NEW(c->arena, struct divergence);
    struct evidence e;
    evidence_open(&e, c->arena);
    evidence_string(&e, "transforms", transform_print_list(c->arena, list));
    evidence_string(&e, "why", list->broken);
    *d = (struct divergence){.oracle = ORACLE_METAMORPHIC,
                             .class_name = "kernel",
                             .rule = RULE_NONE,
                             .observable = name,
                             .subject = SUBJECT_THREADS,
                             .evidence = evidence_close(&e)};
    d->summary = arena_printf(c->arena, "what '%s' makes is no kernel: %s", name, list->broken);
    answer_diverge(&c->result->answers[ORACLE_METAMORPHIC], d);
    return "what a transformation makes is no kernel";
}

/* Any run of statements can be wrapped (engine/rewrite/transform_wrap.c); that drawing finds no place may be chance. */
static bool has_places(struct arena *arena, const struct ast_kernel *kernel)
{
    return kernel->form != FORM_STRUCTURED || ast_kernel_size(kernel) == 0 ||
           transform_places(arena, kernel, TRANSFORM_WRAP) > 0;
}

static void report_none(struct checking *c)
{
    struct divergence *d = ARENA_NEW(c->arena, struct divergence);
    struct evidence e;
    evidence_open(&e, c->arena);
    evidence_number(&e, "statements", ast_kernel_size(c->kernel));
    *d = (struct divergence){.oracle = ORACLE_METAMORPHIC,
                             .class_name = "kernel",
                             .rule = RULE_NONE,
                             .observable = "no transformation",
                             .subject = SUBJECT_THREADS,
                             .evidence = evidence_close(&e)};
    d->summary = "no statement is said to be one that can be wrapped";
    answer_diverge(&c->result->answers[ORACLE_METAMORPHIC], d);
}

/* The steps that were drawn, done again one by one, make the same kernel. */
static bool is_made_again(struct checking *c, const struct ast_kernel *kernel,
                          const struct transform_list *list)
{
    const size_t mark = arena_mark(c->arena);
    struct transform_list done;
    const struct ast_kernel *again = transform_apply(c->arena, c->kernel, list, &done);
    const bool same = done.count == list->count && !done.broken &&
                      memcmp(done.steps, list->steps, list->count * sizeof *list->steps) == 0 &&
                      strcmp(print_kernel(c->arena, again), print_kernel(c->arena, kernel)) == 0;
    arena_release(c->arena, mark);
    return same;
}

/* NULL: it is ready; or why there is nothing to compare. */
static const char *transform(struct checking *c, uint64_t seed, struct check_options *options,
                             struct transformed *x)
{
    struct check_result *result = ARENA_NEW(c->arena, struct check_result);
    const struct transform_list *given = &c->options->transforms;
    struct ast_kernel *kernel = given->count > 0
                                    ? transform_apply(c->arena, c->kernel, given, &x->list)
                                    : transform_draw(c->arena, c->kernel, seed, &x->list);
    if (!x->list.broken && given->count == 0 && x->list.count > 0 && seed % AGAIN_SHARE == 0 &&
        !is_made_again(c, kernel, &x->list))
        x->list.broken = "the same steps make another kernel";
    if (x->list.broken)
        return report_broken(c, &x->list);
    if (x->list.count == 0) {
        if (given->count == 0 && !has_places(c->arena, c->kernel))
            report_none(c);
        return "no transformation has a place in the kernel";
    }
    x->keeps_graph = true;
    for (uint32_t i = 0; i < x->list.count; i++)
        x->keeps_graph &= (transform_table[x->list.steps[i].id].forms & KEEPS_GRAPH) != 0;
    kernel->expects = NULL;
    *options = *c->options;
    options->oracles = 0;
    options->exhaustive = false;
    options->tape = NULL;
    options->subjects = draw_subjects(c);
    for (uint32_t s = 0; s < SUBJECT_COUNT; s++)
        result->runs[s].subject = (enum subject_id)s;
    result->kernel = kernel;
    x->t = (struct checking){.arena = c->arena,
                             .options = options,
                             .kernel = kernel,
                             .forms = forms_new(c->arena, kernel),
                             .result = result,
                             .alone = true};
    explore_prepare(&x->t);
    if (!result->program)
        return "no subject runs the kernel transformed";
    return map_addresses(c, x) ? NULL : "the kernel has neither core nor blocks";
}

/* ---- reports ---- */

static const char *end_name(const struct execution *e)
{
    return e->race ? "race" : status_names[e->status];
}

static struct divergence *new_divergence(struct checking *c, struct transformed *x,
                                         const struct execution *base,
                                         const struct execution *other, struct evidence *e)
{
    enum { TEXT_MAX = 4096 };
    const struct explored *explored = &x->t.subjects[other->subject];
    explored->machine->options.then_first = subject_table[other->subject].options.then_first;
    struct first_difference first =
        result_first_write(c, base, other->subject, explored->machine, &other->spec,
                           other->steps ? other->steps : c->options->budget_steps, x->addresses);
    struct divergence *d = ARENA_NEW(c->arena, struct divergence);
    *d = (struct divergence){.oracle = ORACLE_METAMORPHIC,
                             .rule = first.rule,
                             .subject = other->subject,
                             .line = evidence_line(explored->program, first.stm)};
    evidence_open(e, c->arena);
    evidence_string(e, "transforms", transform_print_list(c->arena, &x->list));
    evidence_string(e, "subject", subject_table[base->subject].name);
    evidence_string(e, "schedule", explore_name(c, base));
    evidence_string(e, "status", status_names[base->status]);
    evidence_string(e, "transformed_subject", subject_table[other->subject].name);
    evidence_string(e, "transformed_schedule", explore_name(&x->t, other));
    evidence_string(e, "transformed_status", status_names[other->status]);
    if (base->race)
        evidence_race(e, "race", c->subjects[base->subject].program, &base->witness);
    if (other->race)
        evidence_race(e, "transformed_race", explored->program, &other->witness);
    const char *text = print_kernel(c->arena, x->t.kernel);
    evidence_string(e, "transformed", arena_printf(c->arena, "%.*s", TEXT_MAX, text));
    return d;
}

/* One is clean, the other is not. */
static void report_clean(struct checking *c, struct answer *answer, struct transformed *x,
                         const struct execution *base, const struct execution *other)
{
    struct evidence e;
    struct divergence *d = new_divergence(c, x, base, other, &e);
    bool known = result_clean_of(other->status, other->race) != CLEAN_UNKNOWN;
    d->class_name = known ? "clean" : "status";
    d->observable = end_name(base->race || base->status != STATUS_TERMINATED ? base : other);
    d->evidence = evidence_close(&e);
    d->summary =
        arena_printf(c->arena, "%s: %s; transformed, %s: %s", subject_table[base->subject].name,
                     end_name(base), subject_table[other->subject].name, end_name(other));
    answer_diverge(answer, d);
}

static void report_store(struct checking *c, struct answer *answer, struct transformed *x,
                         const struct execution *base, const struct execution *other,
                         uint32_t address, int32_t value, int32_t other_value)
{
    const char *name = program_location_name(c->arena, c->result->program, address);
    struct evidence e;
    struct divergence *d = new_divergence(c, x, base, other, &e);
    evidence_string(&e, "location", name);
    evidence_number(&e, "value", value);
    evidence_number(&e, "transformed_value", other_value);
    d->class_name = "store";
    d->observable = result_space(c->result->program, address);
    d->evidence = evidence_close(&e);
    d->summary = arena_printf(c->arena, "%s ends with %s == %d; transformed, %s with %d",
                              subject_table[base->subject].name, name, value,
                              subject_table[other->subject].name, other_value);
    answer_diverge(answer, d);
}

/* ---- the oracle ---- */

static void compare_stores(struct checking *c, struct answer *answer, struct transformed *x,
                           const struct group *group, const struct execution *other)
{
    const int32_t *memory = x->t.subjects[other->subject].machine->memory;
    for (uint32_t i = 0; i < x->words; i++) {
        uint32_t address = x->addresses ? x->addresses[i] : i;
        if (address == CODE_NONE || group->reference_store[address] == memory[i])
            continue;
        report_store(c, answer, x, group->reference, other, address,
                     group->reference_store[address], memory[i]);
        return;
    }
}

/* Why an end of T(K) says nothing about a clean K; or NULL. */
static const char *tells_nothing(enum status status)
{
    if (status == STATUS_STEP_LIMIT)
        return "the kernel transformed spent its budget";
    if (status == STATUS_CALL_DEPTH)
        return "the bound on calls: transformed, there are others";
    if (status == STATUS_UNSUPPORTED)
        return "the kernel transformed met something unsupported";
    return NULL;
}

/* One execution of T(K) under a subject; NULL: compared, or why it cannot be told. */
static const char *judge_subject(struct checking *c, struct answer *answer, struct transformed *x,
                                 enum subject_id subject)
{
    enum group_id group = explore_group(c, subject);
    struct knowledge k = know(c, group);
    bool follows = explore_follows(c, subject) || explore_follows(&x->t, subject);
    if ((!k.clean && !k.dirty) || (!k.clean && follows))
        return "nothing is known of the kernel as it was";
    if (k.clean && k.dirty)
        return "the kernel as it was is clean and is not";
    if (group == GROUP_BLOCKS && !x->keeps_graph)
        return "barriers and jumps: its blocks have other loops";
    uint64_t number = 1 + pcg_splitmix(pcg_splitmix(c->options->seed) ^ subject) % 15;
    const struct sched_spec spec =
        sched_portfolio(c->options->seed, number, x->t.subjects[subject].machine->actor_count, 0);
    const struct execution *e = explore_once(&x->t, subject, &spec);
    if (explore_execution_group(&x->t, e) == GROUP_NONE)
        return "the execution is compared with nothing";
    enum clean clean = result_clean_of(e->status, e->race);
    const char *why = clean == DIRTY ? NULL : tells_nothing(e->status);
    if (c->kernel->form == FORM_PTX && e->status == STATUS_DEADLOCK)
        why = "a deadlock of PTX: a barrier waits for who has not ended yet (BAR.2, BAR.4)";
    if (why || (k.dirty && clean == CLEAN_UNKNOWN))
        return why ? why : "the kernel transformed does not end";
    answer->checked++;
    if (k.clean && clean == CLEAN)
        compare_stores(c, answer, x, &c->groups[group], e);
    else if (k.clean || clean == CLEAN)
        report_clean(c, answer, x, k.clean ? k.clean : k.dirty, e);
    return NULL;
}

static const char *judge_list(struct checking *c, struct answer *answer, uint64_t seed)
{
    struct check_options options;
    struct transformed x;
    const char *why = transform(c, seed, &options, &x), *unknown = NULL;
    for (uint32_t s = 0; s < SUBJECT_COUNT && !why; s++) {
        if (!explore_runs(&x.t, (enum subject_id)s))
            continue;
        const char *reason = judge_subject(c, answer, &x, (enum subject_id)s);
        unknown = unknown ? unknown : reason;
    }
    return why ? why : unknown;
}

/* How many kernels transformed are compared. */
static uint32_t lists_of(const struct check_options *options)
{
    if (options->transforms.count > 0)
        return 1;
    if (options->seed == 0)
        return METAMORPHIC_LISTS;
    if (options->always >> ORACLE_METAMORPHIC & 1 || options->oracles == 1u << ORACLE_METAMORPHIC)
        return METAMORPHIC_ALWAYS;
    return pcg_splitmix(pcg_splitmix(options->seed + 2)) % METAMORPHIC_SHARE == 0;
}

void metamorphic_judge(struct checking *c)
{
    struct answer *answer = &c->result->answers[ORACLE_METAMORPHIC];
    const char *why = c->incomparable;
    uint32_t lists = lists_of(c->options);
    if (lists == 0) {
        answer->reason = "not drawn: of large kernels one in four is";
        return;
    }
    for (uint32_t i = 0; i < lists && !c->incomparable; i++) {
        size_t mark = arena_mark(c->arena);
        const char *reason = judge_list(c, answer, c->options->seed + i);
        why = why ? why : reason;
        if (answer->verdict != VERDICT_DIVERGE && !reason)
            arena_release(c->arena, mark);
    }
    if (answer->verdict == VERDICT_DIVERGE)
        return;
    answer->verdict = answer->checked > 0 ? VERDICT_AGREE : VERDICT_NOT_APPLICABLE;
    answer->reason = answer->checked > 0
                         ? "transformed, it is clean or not as it was, with the same store"
                         : why;
}
