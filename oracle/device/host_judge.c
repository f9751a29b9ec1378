#include "oracle/device/host_judge.h"

#include "engine/program/program.h"
#include "oracle/device/host_follow.h"
#include "oracle/device/host_grids.h"
#include "oracle/device/host_order.h"

#include <stdlib.h>
#include <string.h>

const char *const host_finding_names[FINDING_KINDS] = {
    [FINDING_RACE] = "race",
    [FINDING_GRID] = "kernel",
    [FINDING_EXPECTATION] = "expectation",
    [FINDING_FAULT] = "fault",
    [FINDING_STUCK] = "deadlock",
    [FINDING_HANG] = "hang",
    [FINDING_RESULT] = "result",
    [FINDING_CLAIM] = "claim",
    [FINDING_UNKNOWN] = "unknown",
    [FINDING_REFERENCE] = "reference",
    [FINDING_FORWARD] = "co-residency",
};

const struct host_judge_options HOST_JUDGE_DEFAULTS = {
    .schedules = 4, .budget = 1 << 22, .states = 1 << 18};

/* The usual device, and those that differ in what must not matter. */
static const char *const devices[] = {"", "sms=1", "sms=4 pick=any", "sms=3 blocks=2 pick=any",
                                      "sms=1 blocks=1"};
enum {
    DEVICES = sizeof devices / sizeof *devices,
    LONELY = DEVICES - 1,
    UNFAIR_STEPS = 1 << 14,
    ALL_STEPS = 1 << 24
};

struct judge {
    struct arena *arena;
    const struct host_program *program;
    const struct host_judge_options *options;
    struct host_verdict *verdict;
    struct diag *diag;
    uint64_t hash; /* of the first execution's result */
    enum device_end end;
    uint64_t first_steps;
    bool failed;                /* an expectation, in some execution */
    struct host_follow *follow; /* of the device at hand; NULL: nobody follows */
};

void host_add(struct arena *arena, struct host_verdict *verdict, enum host_kind_of_finding kind,
              uint32_t line, const char *text)
{
    for (const struct host_finding *f = verdict->findings; f; f = f->next)
        if (f->kind == kind && f->line == line && strcmp(f->text, text) == 0)
            return;
    struct host_finding *finding = ARENA_NEW(arena, struct host_finding);
    *finding = (struct host_finding){.kind = kind, .line = line, .text = text};
    *verdict->last = finding;
    verdict->last = &finding->next;
    verdict->count += kind != FINDING_FORWARD && kind != FINDING_UNKNOWN;
}

static void add(struct judge *j, enum host_kind_of_finding kind, uint32_t line, const char *text)
{
    host_add(j->arena, j->verdict, kind, line, text);
}

/* ---- one execution ---- */

/* All arrays that are there at the end. */
static uint64_t result_of(struct device *device)
{
    const struct host_program *p = device->program;
    uint64_t hash = 1469598103934665603U;
    device_settle_memory(device);
    for (uint32_t i = 0; i < p->array_count; i++) {
        const struct host_array *a = &p->arrays[i];
        const int32_t *words = (a->is_host ? device->host_memory : device->memory) + a->base;
        for (uint32_t w = 0; a->freed == HOST_NONE && w < a->words; w++)
            hash = (hash ^ (uint32_t)words[w]) * 1099511628211U;
    }
    return hash;
}

static void tell_expectations(struct judge *j, struct device *device, const char *where)
{
    const struct host_program *p = j->program;
    for (uint32_t i = 0; i < p->count && !j->failed; i++) {
        const struct device_expectation *e = &device->expectations[i];
        if (!e->asked || e->holds)
            continue;
        add(j, FINDING_EXPECTATION, p->statements[i].at.line,
            arena_printf(j->arena, "`%s` does not hold%s: %s[%u] is %d",
                         host_print_statement(j->arena, p, i), where,
                         p->arrays[p->statements[i].array].name, (unsigned)e->word, (int)e->value));
        j->failed = true;
    }
}

static uint32_t host_line(const struct device *device)
{
    const struct host_program *p = device->program;
    uint32_t at = device->head->host < p->count ? device->head->host : p->count - 1;
    return p->count ? p->statements[at].at.line : 1;
}

static void tell_end(struct judge *j, struct device *device, enum device_end end, const char *where)
{
    uint32_t line = host_line(device);
    const char *text;
    switch (end) {
    case END_FAULT:
        text = device_fault(j->arena, device, &line);
        add(j, FINDING_FAULT, line, arena_printf(j->arena, "%s%s", text, where));
        break;
    case END_STUCK:
        add(j, FINDING_STUCK, line,
            arena_printf(j->arena, "nothing can step%s: %s", where,
                         device_waits(j->arena, device)));
        break;
    case END_HANG:
        add(j, FINDING_HANG, line,
            arena_printf(j->arena, "the program never ends%s: %s", where,
                         device_waits(j->arena, device)));
        break;
    case END_NONE_LEFT:
        add(j, FINDING_UNKNOWN, line,
            arena_printf(j->arena, "not over after %llu steps%s: %s",
                         (unsigned long long)j->options->budget, where,
                         device_waits(j->arena, device)));
        break;
    case END_RUNNING:
    case END_DONE:
    case END_COUNT:
        break;
    }
}

/* ---- the first one, which is watched ---- */

struct launches {
    struct judge *judge;
    struct device *device;
    struct arena scratch;
};

static void see_start(void *context, struct device_alternative step, enum device_rule rule)
{
    struct launches *l = context;
    (void)rule;
    if (step.kind != ALTERNATIVE_START)
        return;
    host_grids_launch(l->judge->arena, l->device, &l->device->grids[l->device->grid_of[step.a]],
                      l->judge->options->budget, l->judge->verdict);
}

/* Each launch by itself, first: its races are told by its own lines. */
static void watch_launches(struct judge *j, struct device *device)
{
    struct launches launches = {.judge = j, .device = device};
    const struct device_watcher watcher = {.context = &launches, .step = see_start};
    struct device_schedule schedule = {.order = ORDER_TURNS, .budget = j->options->budget};
    device->watcher = &watcher;
    device_execute(device, &schedule);
    device->watcher = NULL;
    device_reset(device);
}

static bool judge_first(struct judge *j, struct device *device)
{
    struct device_schedule schedule = {.order = ORDER_TURNS, .budget = j->options->budget};
    if (!j->options->no_launches)
        watch_launches(j, device);
    struct host_order *order = host_order_watch(j->arena, device);
    j->end = device_execute(device, &schedule);
    j->first_steps = device->steps;
    host_order_leave(order);
    host_order_tell(order, j->verdict);
    j->verdict->executions++;
    j->verdict->steps += device->steps;
    j->verdict->launches = device->grid_count;
    for (uint32_t i = 0; i < device->grid_count; i++)
        j->verdict->blocks += device->grid_states[i].completed;
    tell_end(j, device, j->end, "");
    tell_expectations(j, device, "");
    j->hash = result_of(device);
    j->verdict->ended = j->end == END_DONE;
    return j->verdict->ended;
}

/* ---- the others ---- */

static const char *const order_texts[] = {[ORDER_TURNS] = "in turns",
                                          [ORDER_RANDOM] = "at random",
                                          [ORDER_LAZY] = "with the host last",
                                          [ORDER_LAST] = "the latest first",
                                          [ORDER_LATE] = "with operations last"};

static const char *where_text(struct judge *j, uint32_t device, const struct device_schedule *s)
{
    return arena_printf(j->arena, " on the device `%s`, %s%s",
                        *devices[device] ? devices[device] : "as it is", order_texts[s->order],
                        s->order == ORDER_RANDOM
                            ? arena_printf(j->arena, " (seed %llu)", (unsigned long long)s->seed)
                            : "");
}

/* Where only one block is resident a program may wait for ever: that is told, and nothing more is compared. */
static bool tell_forward(struct judge *j, struct device *device, enum device_end end,
                         uint32_t number)
{
    if (number != LONELY || (end != END_HANG && end != END_STUCK && end != END_NONE_LEFT))
        return false;
    add(j, FINDING_FORWARD, host_line(device),
        arena_printf(j->arena,
                     "the program ends, but not on a device that holds one block at a time: it "
                     "relies on blocks that are resident together (%s)",
                     device_waits(j->arena, device)));
    return true;
}

static enum device_end execute_followed(struct judge *j, struct device *device,
                                        struct device_schedule *schedule, const char *where)
{
    const char *text;
    uint32_t line = 0;
    enum device_end end = host_follow_run(device, j->follow, schedule, &text, &line);
    if (text)
        add(j, FINDING_REFERENCE, line, arena_printf(j->arena, "%s%s", text, where));
    return end;
}

/* False: nothing more is to be learnt on this device. */
static bool judge_one(struct judge *j, struct device *device, uint32_t number,
                      struct device_schedule *schedule)
{
    const char *where = where_text(j, number, schedule);
    enum device_end end = execute_followed(j, device, schedule, where);
    j->verdict->executions++;
    j->verdict->steps += device->steps;
    if (tell_forward(j, device, end, number))
        return false;
    if (end == END_NONE_LEFT && (schedule->order == ORDER_LAZY || schedule->order == ORDER_LAST))
        return true; /* they leave somebody out: that they go on says nothing */
    tell_end(j, device, end, where);
    if (end != END_DONE)
        return false;
    tell_expectations(j, device, where);
    if (!j->verdict->not_compared && result_of(device) != j->hash) {
        add(j, FINDING_RESULT, host_line(device),
            arena_printf(j->arena, "another result%s", where));
        return false;
    }
    return true;
}

static void judge_orders(struct judge *j, struct device *device, uint32_t number)
{
    struct device_schedule schedule = {.budget = j->options->budget};
    static const enum device_order fixed[] = {ORDER_TURNS, ORDER_LAZY, ORDER_LAST};
    uint32_t count = number == LONELY ? 1 : 3;
    uint64_t unfair = 4 * j->first_steps + UNFAIR_STEPS;
    for (uint32_t i = 0; i < count; i++) {
        schedule.order = fixed[i];
        schedule.budget = i == 0 ? j->options->budget : unfair;
        if (!judge_one(j, device, number, &schedule))
            return;
    }
    schedule.order = ORDER_RANDOM;
    schedule.budget = j->options->budget;
    for (uint32_t i = 0; i < j->options->schedules; i++) {
        schedule.seed = j->options->seed + i;
        if (!judge_one(j, device, number, &schedule))
            return;
    }
}

static void judge_device(struct judge *j, struct device *device, uint32_t number)
{
    const struct host_judge_options *o = j->options;
    bool follows = o->followed == FOLLOW_ALL ||
                   (o->followed == FOLLOW_DRAWN && o->follow_seed % DEVICES == number);
    j->follow = follows ? host_follow_watch(j->arena, device) : NULL;
    judge_orders(j, device, number);
    if (j->follow)
        host_follow_leave(j->follow);
}

static bool judge_others(struct judge *j)
{
    for (uint32_t i = 0; i < DEVICES; i++) {
        const char *why;
        struct diag *diag = ARENA_NEW(j->arena, struct diag);
        struct device_options options = j->options->device;
        diag_init(diag, "", NULL, 0);
        if (!device_set(j->arena, &options, devices[i], &why))
            continue;
        struct device *device = device_new(j->arena, j->program, &options, diag);
        if (!device)
            continue;
        j->verdict->devices++;
        judge_device(j, device, i);
        if (j->verdict->steps > ALL_STEPS)
            break; /* a large program: what was asked is counted */
    }
    return true;
}

/* Why results of different executions may differ, though nothing is wrong. */
static const char *why_not_compared(const struct judge *j, const struct device *device)
{
    if (j->verdict->count > 0)
        return "something else is wrong";
    for (uint32_t i = 0; i < device->grid_count; i++)
        if (!program_atomics_commute(device->grids[i].program))
            return "the order of atomics shows";
    return NULL;
}

/* ---- claims ---- */

/* Whether the words of `stated` are the outcomes, in whatever order. */
static bool same_outcomes(struct arena *arena, const char *stated, const struct device_outcomes *o)
{
    uint32_t count = 0, found = 0;
    while (*stated) {
        size_t length = strcspn(stated, " ");
        const char *word = arena_strndup(arena, stated, length);
        for (uint32_t i = 0; length > 0 && i < o->count; i++)
            found += strcmp(o->texts[i], word) == 0;
        count += length > 0;
        stated += length + (stated[length] == ' ');
    }
    return count == o->count && found == count;
}

static const char *outcomes_text(struct arena *arena, const struct device_outcomes *o)
{
    const char *text = "";
    for (uint32_t i = 0; i < o->count; i++)
        text = arena_printf(arena, "%s%s%s", text, i ? " " : "", o->texts[i]);
    return text;
}

static void check_claim(struct judge *j, const struct host_claim *claim,
                        const struct device_outcomes *o)
{
    struct arena *arena = j->arena;
    const char *on = *claim->options ? claim->options : "the device";
    if (o->cut) {
        add(j, FINDING_CLAIM, claim->at.line,
            arena_printf(arena, "%s: the search was cut off after %llu states", on,
                         (unsigned long long)o->states));
        return;
    }
    if (claim->outcomes && !same_outcomes(arena, claim->outcomes, o))
        add(j, FINDING_CLAIM, claim->at.line,
            arena_printf(arena, "%s: the outcomes are {%s}, not {%s}", on, outcomes_text(arena, o),
                         claim->outcomes));
    if (claim->lost > 0 && o->lost == 0)
        add(j, FINDING_CLAIM, claim->at.line,
            arena_printf(arena, "%s: from every state the program can end", on));
    if (claim->lost < 0 && o->lost > 0)
        add(j, FINDING_CLAIM, claim->at.line,
            arena_printf(arena, "%s: from %llu of %llu states the program cannot end", on,
                         (unsigned long long)o->lost, (unsigned long long)o->states));
    if ((claim->stuck > 0) != (o->stuck > 0) && (claim->stuck || claim->lost < 0))
        add(j, FINDING_CLAIM, claim->at.line,
            arena_printf(arena, "%s: %llu of %llu states are stuck", on,
                         (unsigned long long)o->stuck, (unsigned long long)o->states));
}

static void judge_claim(struct judge *j, const struct host_claim *claim)
{
    struct device_options options = j->options->device;
    struct device_outcomes *outcomes = ARENA_NEW(j->arena, struct device_outcomes);
    const char *why;
    if (!device_set(j->arena, &options, claim->options, &why)) {
        diag_error(j->diag, claim->at, "%s", why);
        return;
    }
    struct device *device = device_new(j->arena, j->program, &options, j->diag);
    if (!device)
        return;
    device_search(device, j->options->states, DEVICE_EAGER, outcomes);
    j->verdict->claims++;
    j->verdict->states += outcomes->states;
    check_claim(j, claim, outcomes);
}

/* ---- all of it ---- */

bool host_judge(struct arena *arena, const struct host_program *program,
                const struct host_judge_options *options, struct host_verdict *verdict,
                struct diag *diag)
{
    struct judge j = {
        .arena = arena, .program = program, .options = options, .verdict = verdict, .diag = diag};
    *verdict = (struct host_verdict){.last = NULL};
    verdict->last = &verdict->findings;
    struct device *device = device_new(arena, program, &options->device, diag);
    if (!device)
        return false;
    if (program->claim_count == 0 && judge_first(&j, device)) {
        verdict->not_compared = why_not_compared(&j, device);
        judge_others(&j);
    }
    for (uint32_t i = 0; i < program->claim_count && !options->no_claims; i++)
        judge_claim(&j, &program->claims[i]);
    if (options->followed != FOLLOW_NONE)
        host_follow_devices(arena, program, options, verdict);
    return diag->count == 0;
}
