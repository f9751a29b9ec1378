#include "oracle/reference/wild.h"

#include "engine/base/pcg.h"
#include "engine/input/input.h"
#include "engine/rewrite/transform.h"
#include "oracle/searches/footprint.h"

#include <string.h>

enum {
    STEPS = 160,
    STEPS_OF_THREAD = 8,
    STEPS_PTX = 3,
    FORMS_SHARE = 4,
    TURNS_SHARE = 2,
    TRANSFORMS_SHARE = 2
};

/* ---- who runs it ---- */

static bool has_caches(enum subject_id subject)
{
    return subject_table[subject].vtable->environment != NULL;
}

static bool is_ptx(enum subject_id subject)
{
    return subject_table[subject].vtable->form == FORM_PTX;
}

static bool has_other_barriers(enum subject_id subject)
{
    return subject_table[subject].options.block_options != 0;
}

/* One of those for whom there is any point; the ordinary ones, and what is given, three times of four; of the others
 * those with other barriers one time in three. PTX of kernels in block form, whose guards it seldom has, is asked by
 * cases. */
static enum subject_id draw_subject(enum ast_form form, uint64_t drawn)
{
    enum subject_id of[SUBJECT_COUNT];
    uint32_t count = 0;
    const bool variant = drawn % 4 < (form == FORM_PTX ? 2 : 1);
    const bool of_barriers =
        variant && (form == FORM_STRUCTURED || form == FORM_PTX) && drawn / 4 % 3 == 0;
    if (form == FORM_LOCKSTEP)
        return variant ? SUBJECT_LOCKSTEP_VACUOUS_SYNC : SUBJECT_LOCKSTEP;
    for (uint32_t s = 0; s < SUBJECT_COUNT; s++) {
        const enum subject_id id = (enum subject_id)s;
        const struct subject_info *info = &subject_table[s];
        const bool usual = info->role != SUBJECT_VARIANT || id == SUBJECT_CONVERGENCE;
        if (info->vtable && !has_caches(id) && subject_suits(id, form) && usual != variant &&
            !(form == FORM_BLOCKS && is_ptx(id)) && (!of_barriers || has_other_barriers(id)))
            of[count++] = id;
    }
    return of[drawn / 12 % count];
}

static struct sched_spec draw_schedule(const struct machine *machine, uint64_t drawn)
{
    const bool threads = !stackless_refuses(machine->semantics);
    unsigned possible = threads ? PORTFOLIO_STACKLESS : 0;
    if (threads && drawn % 3 == 0)
        possible |= PORTFOLIO_POLICIES;
    return sched_portfolio(drawn, drawn / 3 % 26, machine->actor_count, possible);
}

/* ---- what runs ---- */

/* The kernel after up to four transformations of those that leave each thread's history as it was, access for access;
 * unroll and split test a condition twice, commute has two accesses in another order. */
static const struct ast_kernel *transformed(struct wild_run *x, const struct ast_kernel *kernel)
{
    static const enum transform_id ids[] = {
        TRANSFORM_WRAP,    TRANSFORM_DO_ONCE, TRANSFORM_DEAD_JUMP, TRANSFORM_DEAD_CODE,
        TRANSFORM_OPAQUE,  TRANSFORM_NEGATE,  TRANSFORM_PEEL,      TRANSFORM_FLAG,
        TRANSFORM_OUTLINE, TRANSFORM_INLINE,  TRANSFORM_DOUBLE,    TRANSFORM_CONSTANT,
        TRANSFORM_RENAME,  TRANSFORM_REORDER, TRANSFORM_DUPLICATE};
    struct transform_list drawn = {.count = 0}, done;
    struct pcg rng = pcg_derive(x->number, PCG_TRANSFORM, 1);
    for (uint32_t n = 2 + pcg_below(&rng, 3); n > 0; n--) {
        const enum transform_id id = pcg_below(&rng, 4) == 0
                                         ? TRANSFORM_FLATTEN /* few ifs are as it needs them */
                                         : ids[pcg_below(&rng, sizeof ids / sizeof *ids)];
        drawn.steps[drawn.count++] = (struct transform_step){id, pcg_next(&rng)};
    }
    kernel = transform_apply(x->arena, kernel, &drawn, &done);
    x->transforms = done.count ? transform_print_list(x->arena, &done) : NULL;
    if (done.broken)
        x->differs = arena_printf(x->arena, "what a transformation makes is no kernel: %s, by %s",
                                  done.broken, x->transforms);
    return kernel;
}

/* The machine, if there is one, and who follows it. */
static void prepare(struct wild_run *x)
{
    static const enum ast_form drawn_forms[] = {FORM_STRUCTURED, FORM_STRUCTURED, FORM_STRUCTURED,
                                                FORM_BLOCKS,     FORM_LOCKSTEP,   FORM_LOCKSTEP,
                                                FORM_PTX,        FORM_PTX};
    const uint64_t drawn = pcg_splitmix(x->number);
    const enum ast_form form = drawn_forms[drawn & 7];
    const char *why;
    x->subject = draw_subject(form, drawn >> 3);
    const struct wild_wish wish = {.form = form,
                                   .of_ptx = is_ptx(x->subject),
                                   .of_barriers =
                                       subject_table[x->subject].options.block_options != 0};
    x->text = form == FORM_PTX ? wild_ptx(x->arena, wish.of_barriers, x->number)
                               : wild_text(x->arena, &wish, x->number);
    const struct subject_info *subject = &subject_table[x->subject];
    const struct ast_kernel *text = parse_printed(x->arena, x->text), *kernel = text;
    const bool has_source = form == FORM_STRUCTURED && source_applies(x->subject) &&
                            !forms_is_predicated(subject->program);
    if (has_source && drawn / 4096 % TRANSFORMS_SHARE == 0)
        kernel = transformed(x, text);
    if (x->differs)
        return;
    struct forms *forms = forms_new(x->arena, kernel);
    const struct form *made = forms_get(forms, subject->program);
    x->refused =
        made->program ? machine_refuses(x->arena, subject->vtable, made->program) : made->reason;
    x->differs =
        form == FORM_PTX ? NULL : wild_refusal_differs(x->arena, kernel, x->subject, x->refused);
    if (!x->differs && drawn / 256 % FORMS_SHARE == 0)
        x->differs = wild_form_differs(x->arena, kernel, x->subject, made);
    if (!x->differs && made->program && form != FORM_PTX)
        x->differs = footprint_differs(x->arena, made->program);
    if (x->refused || x->differs)
        return;
    x->machine = machine_new(x->arena, subject->vtable, made->program, &subject->options);
    x->follower = follow_new(x->arena, ref_room_new(x->arena), x->subject, x->machine, &why);
    if (has_source)
        x->source = source_new(x->arena, ref_room_new(x->arena), text,
                               forms_get(forms_new(x->arena, text), PROGRAM_CORE)->program, &why);
}

/* What each thread did is what its text does; and the text does not do what is told of a thread otherwise. */
static void ask_source(struct wild_run *x)
{
    const struct source_answer a = source_end(x->source, x->machine, x->status);
    /* Flattened, a condition and the value behind it are one statement, which may read once what two read twice. */
    if (x->transforms && strstr(x->transforms, "flatten") && a.differs &&
        strcmp(a.differs, "read") == 0)
        return;
    x->differs = a.differs;
    x->of_source = a.differs != NULL;
    if (a.differs)
        return;
    const char *allowed =
        source_allows(x->source, x->machine, x->status, pcg_splitmix(x->number + 2));
    if (allowed)
        x->differs = arena_printf(x->arena, "the text allows: %s", allowed);
}

/* ---- one execution: a step that is another's ---- */

/* The schedule's choices, but that from pick number `at` on the first that has an alternative is another's. */
struct usurper {
    struct choices choices; /* first member */
    struct choices *inner;
    uint64_t at, picks;
    bool done;
};

static uint32_t usurp_pick(struct choices *choices, const struct machine *machine)
{
    struct usurper *u = (struct usurper *)choices;
    const uint32_t own = u->inner->pick(u->inner, machine), count = machine->head->live_count;
    if (u->done || u->picks++ < u->at || count < 2)
        return own;
    u->done = true;
    return (own + 1 + (uint32_t)(u->at % (count - 1))) % count;
}

static uint32_t usurp_choose(struct choices *choices, uint32_t n)
{
    struct usurper *u = (struct usurper *)choices;
    return u->inner->choose(u->inner, n);
}

/* Executes it once more, until somebody steps whose turn it is not: that must be noticed. */
static void ask_turn(struct wild_run *x, uint64_t steps)
{
    struct scheduler scheduler;
    struct usurper u = {.choices = {usurp_pick, usurp_choose, NULL},
                        .at = steps ? pcg_splitmix(x->number + 3) % steps : 0};
    follow_begin(x->follower, 4 * steps + 16);
    follow_obey(x->follower, x->arena, &x->spec);
    x->follower->observer.next = NULL;
    machine_observe(x->machine, &x->follower->observer);
    machine_reset(x->machine);
    sched_start(&scheduler, &x->spec, x->machine, x->arena);
    u.inner = &scheduler.choices;
    for (enum status s = STATUS_STEP_LIMIT; s == STATUS_STEP_LIMIT && !u.done && u.picks < steps;)
        s = machine_run(x->machine, &u.choices, 1, NULL);
    if (u.done && x->follower->state == FOLLOW_ALONG && x->follower->turn_known)
        x->differs = "somebody steps whose turn it is not";
    follow_begin(x->follower, 1); /* that they part is as it should be */
}

static void run(struct wild_run *x)
{
    /* A statement is some eight instructions of PTX; what fills an array takes six an element. */
    const uint64_t budget =
        (STEPS + (uint64_t)STEPS_OF_THREAD * x->machine->program->total_threads) *
        (is_ptx(x->subject) ? STEPS_PTX : 1);
    struct scheduler scheduler;
    x->spec = draw_schedule(x->machine, pcg_splitmix(x->number + 1));
    follow_begin(x->follower, 4 * budget);
    follow_obey(x->follower, x->arena, &x->spec);
    struct observer *behind = x->source ? source_begin(x->source, x->machine) : NULL;
    x->follower->observer.next = behind;
    if (behind)
        behind->next = NULL;
    machine_observe(x->machine, &x->follower->observer);
    machine_reset(x->machine);
    sched_start(&scheduler, &x->spec, x->machine, x->arena);
    x->status = machine_run(x->machine, &scheduler.choices, budget, NULL);
    follow_end(x->follower, x->status);
    /* Transformed, calls nest otherwise. */
    if (behind && x->follower->state != FOLLOW_PARTED &&
        !(x->transforms && x->status == STATUS_CALL_DEPTH))
        ask_source(x);
    if (!x->differs && x->follower->state == FOLLOW_ALONG && x->number % TURNS_SHARE == 0 &&
        x->follower->turn_known && x->spec.stackless.policy != STACKLESS_RANDOM)
        ask_turn(x, x->machine->steps);
}

bool wild_agrees(struct arena *arena, uint64_t number, struct wild_run *x)
{
    *x = (struct wild_run){.arena = arena, .number = number};
    x->differs = wild_names_differ(arena, number);
    if (x->differs)
        return false;
    prepare(x);
    if (x->follower)
        run(x);
    return !x->differs && (!x->follower || x->follower->state != FOLLOW_PARTED);
}
