#include "fuzz/trace/trace.h"

#include "engine/crs/crs.h"
#include "fuzz/out/demangle.h"
#include "fuzz/trace/trace_blocks.h"
#include "fuzz/trace/trace_crs.h"
#include "fuzz/trace/trace_internal.h"
#include "fuzz/trace/trace_vector.h"
#include "oracle/follow/follow.h"
#include "oracle/race/race.h"

#include <inttypes.h>
#include <string.h>

enum { WRITES_SHOWN = 4 };

enum column {
    COLUMN_STEP,
    COLUMN_ACTOR,
    COLUMN_RULE,
    COLUMN_PC, /* PTX machines */
    COLUMN_LINE,
    COLUMN_EXECUTED,
    COLUMN_WRITES,
    COLUMN_ACTIVE,   /* of a block program: the block */
    COLUMN_DISABLED, /* of a vector program: the enabled components */
    COLUMN_STACK,
    COLUMN_PCS /* thread-pc */
};

static void see_write(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm)
{
    struct tracer *t = context;
    (void)thread;
    (void)stm;
    if (t->write_count < WRITES_MAX)
        t->writes[t->write_count++] = (struct written){address, value};
}

/* ---- table ---- */

static const char *writes_text(struct tracer *t)
{
    const char *text = trace_private_text(&t->own, t->arena);
    for (uint32_t i = 0; i < t->write_count; i++) {
        if (i == WRITES_SHOWN)
            return arena_printf(t->arena, "%s, ... %" PRIu32 " more", text, t->write_count - i);
        const char *name = demangle_text(
            t->arena, program_location_name(t->arena, t->machine->program, t->writes[i].address));
        text = arena_printf(t->arena, "%s%s%s = %" PRId32, text ? text : "", text ? ", " : "", name,
                            t->writes[i].value);
    }
    return text;
}

static void fill_state(struct tracer *t, struct table_row *row, uint32_t actor)
{
    row->cells[COLUMN_STACK] = trace_stack(&t->text, actor);
    if (t->view == TRACE_CRS) {
        row->cells[COLUMN_ACTIVE] = trace_crs_active(&t->text, actor);
        row->cells[COLUMN_DISABLED] = trace_crs_disabled(&t->text, actor);
        row->cells[COLUMN_PCS] = trace_crs_pcs(&t->text, actor);
    }
    if (t->view != TRACE_WARPS)
        return;
    struct warp_state warp = simt_state(t->machine, actor);
    row->cells[COLUMN_ACTIVE] = trace_mask(&t->text, warp.theta, warp.lanes);
    row->cells[COLUMN_DISABLED] = trace_disabled(&t->text, &warp);
}

const char *trace_executed(const struct tracer *t, const struct step_event *event)
{
    bool shared = t->machine->semantics->stack_of && event->stm != CODE_NONE;
    if (!shared && (!trace_is_ptx(t->view) || event->rule != t->machine->semantics->barrier_rule))
        return t->tops[event->actor];
    return event->stm == CODE_NONE ? "" : t->text.heads[event->stm];
}

static uint32_t actors_a_block(const struct machine *machine)
{
    return machine->actor_count / machine->program->launch.blocks;
}

const char *trace_actor(const struct tracer *t, uint32_t actor)
{
    uint32_t count = actors_a_block(t->machine);
    if (t->machine->program->launch.blocks == 1 || count == 1)
        return arena_printf(t->arena, "%" PRIu32, actor);
    return arena_printf(t->arena, "%" PRIu32 ".%" PRIu32, actor / count, actor % count);
}

static void add_row(struct tracer *t, const struct step_event *event)
{
    struct table_row *row = table_add(&t->table);
    row->cells[COLUMN_STEP] = arena_printf(t->arena, "%" PRIu64, t->steps);
    row->cells[COLUMN_ACTOR] = trace_actor(t, event->actor);
    row->cells[COLUMN_RULE] = rule_table[event->rule].name;
    if (event->stm != CODE_NONE && trace_is_ptx(t->view))
        row->cells[COLUMN_PC] = arena_printf(t->arena, "%" PRIu32, event->stm);
    if (event->stm != CODE_NONE && t->machine->program->stms[event->stm].line > 0)
        row->cells[COLUMN_LINE] =
            arena_printf(t->arena, "%" PRIu32, t->machine->program->stms[event->stm].line);
    row->cells[COLUMN_EXECUTED] = demangle_text(t->arena, trace_executed(t, event));
    row->cells[COLUMN_WRITES] = writes_text(t);
    if (t->view == TRACE_VECTORS && t->write_count == 0)
        row->cells[COLUMN_WRITES] = trace_vector(&t->text, event);
    t->any_writes |= row->cells[COLUMN_WRITES] != NULL;
    if (trace_is_blocks(t->view))
        row->cells[COLUMN_ACTIVE] = t->blocks[event->actor];
    if (t->view == TRACE_VECTORS)
        row->cells[COLUMN_DISABLED] = trace_blocks_enabled(&t->text, event->actor);
    fill_state(t, row, event->actor);
}

/* ---- the execution ---- */

static void see_top(struct tracer *t, uint32_t actor)
{
    t->tops[actor] = trace_top(&t->text, actor);
    if (trace_is_blocks(t->view))
        t->blocks[actor] = trace_blocks_block(&t->text, actor);
}

/* A barrier that is passed moves all who waited at it; what some actors share is moved by one of them. */
static void see_tops(struct tracer *t, const struct step_event *event)
{
    const struct semantics *semantics = t->machine->semantics;
    if (event->rule != semantics->barrier_rule && !semantics->stack_of) {
        see_top(t, event->actor);
        return;
    }
    for (uint32_t i = 0; i < t->machine->actor_count; i++)
        see_top(t, i);
}

/* Whether the step writes what is watched. */
static bool is_watched(struct tracer *t)
{
    const struct trace_filter *filter = &t->options->filter;
    for (uint32_t i = 0; i < t->own.count; i++)
        if (trace_filter_watches(filter, t->own.places[i].name))
            return true;
    for (uint32_t i = 0; i < t->write_count; i++)
        if (trace_filter_watches(
                filter, program_location_name(t->arena, t->machine->program, t->writes[i].address)))
            return true;
    return filter->watch == NULL;
}

static void see_step(void *context, const struct machine *machine, const struct step_event *event)
{
    struct tracer *t = context;
    size_t mark = arena_mark(t->arena);
    t->steps++;
    trace_private_see(&t->own, &t->text, event);
    bool wanted = trace_filter_wants(&t->options->filter, machine, t->view, event) && is_watched(t);
    t->shown += wanted;
    if (wanted && !t->options->json)
        add_row(t, event);
    else if (wanted)
        trace_print_json(t, event);
    if (!wanted || t->options->json)
        arena_release(t->arena, mark);
    see_tops(t, event);
    t->write_count = 0;
}

/* A step that no actor takes: of an operation, of a cache. */
static void see_environment(void *context, const struct machine *machine,
                            const struct step_event *event)
{
    struct tracer *t = context;
    const struct program *program = machine->program;
    const char *name = machine->semantics->environment_name(t->arena, machine, event->actor);
    t->steps++;
    if (trace_filters(&t->options->filter))
        return;
    t->shown++;
    if (t->options->json) {
        trace_print_environment(t, event, name);
        return;
    }
    struct table_row *row = table_add(&t->table);
    row->cells[COLUMN_STEP] = arena_printf(t->arena, "%" PRIu64, t->steps);
    row->cells[COLUMN_ACTOR] = name;
    row->cells[COLUMN_RULE] = rule_table[event->rule].name;
    if (event->stm == CODE_NONE)
        return;
    row->cells[COLUMN_PC] = arena_printf(t->arena, "%" PRIu32, event->stm);
    row->cells[COLUMN_LINE] = arena_printf(t->arena, "%" PRIu32, program->stms[event->stm].line);
    row->cells[COLUMN_EXECUTED] = demangle_text(t->arena, t->text.heads[event->stm]);
    trace_private_see(&t->own, &t->text, event);
    row->cells[COLUMN_WRITES] = trace_private_text(&t->own, t->arena);
    t->any_writes |= row->cells[COLUMN_WRITES] != NULL;
}

static void print_memory(struct tracer *t, const char *when, bool inputs_only, FILE *out)
{
    const struct program *program = t->machine->program;
    for (uint32_t i = 0; i < program->var_count; i++) {
        const struct ast_var *var = program->vars[i].ast;
        if (!inputs_only || var->is_input)
            fprintf(out, "%s %s %s = %s\n", when, ast_space_names[var->space],
                    demangle_text(t->arena, var->name), trace_values(&t->text, i));
    }
}

static void start_row(struct tracer *t)
{
    struct table_row *row = table_add(&t->table);
    row->cells[COLUMN_STEP] = "0";
    row->cells[COLUMN_ACTOR] = t->machine->actor_count > 1 ? "all" : "0";
    row->cells[COLUMN_RULE] = "start";
    fill_state(t, row, 0);
}

static void start(struct tracer *t)
{
    static const char *const titles[][11] = {
        {"step", "thread", "rule", "", "line", "executed", "writes", "", "", "stack", ""},
        {"step", "warp", "rule", "", "line", "executed", "writes", "active", "disabled", "stack",
         ""},
        {"step", "thread", "rule", "", "line", "executed", "writes", "block", "", "left", ""},
        {"step", "vector", "rule", "", "line", "executed", "writes", "block", "enabled", "left",
         ""},
        {"step", "warp", "rule", "pc", "line", "executed", "writes", "active", "disabled", "stack",
         "pcs"},
        {"step", "thread", "rule", "pc", "line", "executed", "writes", "", "", "then", ""},
    };
    static const uint32_t hidden[] = {
        [TRACE_THREADS] = 1u << COLUMN_ACTIVE | 1u << COLUMN_DISABLED,
        [TRACE_WARPS] = 0,
        [TRACE_BLOCKS] = 1u << COLUMN_DISABLED,
        [TRACE_VECTORS] = 0,
        [TRACE_CRS] = 0,
        [TRACE_CTA] = 1u << COLUMN_ACTIVE | 1u << COLUMN_DISABLED,
    };
    t->tops = ARENA_ARRAY(t->arena, const char *, t->machine->actor_count);
    t->blocks = ARENA_ARRAY(t->arena, const char *, t->machine->actor_count);
    for (uint32_t i = 0; i < t->machine->actor_count; i++)
        see_top(t, i);
    table_start(&t->table, t->arena, titles[t->view], "rrlrrllllll");
    t->table.hidden = hidden[t->view] | (trace_is_ptx(t->view) ? 0 : 1u << COLUMN_PC);
    if (!t->machine->semantics->has_pcs)
        t->table.hidden |= 1u << COLUMN_PCS;
    if ((t->view == TRACE_WARPS || t->view == TRACE_VECTORS || t->view == TRACE_CRS) &&
        t->machine->actor_count == 1)
        t->table.hidden |= 1u << COLUMN_ACTOR;
    start_row(t);
}

static void print_header(const struct tracer *t, const struct trace_options *options, FILE *out)
{
    const struct program *program = t->machine->program;
    const struct ast_launch *launch = &program->launch;
    fprintf(out,
            "kernel %s: threads %" PRIu32 ", warp %" PRIu32 ", blocks %" PRIu32 ", seed 0x%" PRIx64
            "\n",
            program->core->name, launch->threads, launch->warp, launch->blocks, launch->seed);
    fprintf(out, "subject %s: %s\n", subject_table[options->subject].name,
            subject_table[options->subject].sentence);
    if (t->machine->actor_count > 1)
        fprintf(out, "schedule %s\n", sched_name(t->arena, &options->schedule));
}

/* ---- what fits ---- */

/* A mask of many lanes as its lanes: "all", "0-4,8"; a disable mask "b1-2 r5"; "-": none. */
static const char *ranges(struct tracer *t, const char *mask)
{
    struct text out = {.arena = t->arena};
    for (const char *state = "1bre"; *state; state++) {
        if (*state == '1' && !strchr(mask, '0') && !strpbrk(mask, "bre"))
            return "all";
        bool first = true;
        for (size_t i = 0; mask[i]; i++) {
            size_t run = strspn(mask + i, (char[]){*state, '\0'});
            if (run == 0)
                continue;
            const char *before = !first ? "," : *state == '1' ? "" : (char[]){*state, '\0'};
            if (first && out.length > 0)
                text_put(&out, " ");
            text_put(&out, arena_printf(t->arena, run > 1 ? "%s%zu-%zu" : "%s%zu", before, i,
                                        i + run - 1));
            first = false;
            i += run - 1;
        }
    }
    return out.bytes ? out.bytes : "-";
}

/* Within the width that is asked for: masks become ranges of lanes, then long stacks are cut, then whatever is long. */
static void fit(struct tracer *t)
{
    static const uint8_t stack[TABLE_COLUMNS_MAX] = {[COLUMN_STACK] = 20, [COLUMN_PCS] = 8};
    static const uint8_t all[TABLE_COLUMNS_MAX] = {
        [COLUMN_EXECUTED] = 10, [COLUMN_WRITES] = 10, [COLUMN_ACTIVE] = 5,
        [COLUMN_DISABLED] = 8,  [COLUMN_STACK] = 8,   [COLUMN_PCS] = 4};
    size_t width = t->options->width;
    if (width == 0)
        return;
    if ((t->view == TRACE_WARPS || t->view == TRACE_CRS) && table_width(&t->table) > width)
        for (struct table_row *row = t->table.first; row; row = row->next) {
            row->cells[COLUMN_ACTIVE] = ranges(t, row->cells[COLUMN_ACTIVE]);
            row->cells[COLUMN_DISABLED] = ranges(t, row->cells[COLUMN_DISABLED]);
        }
    table_fit(&t->table, width, stack);
    table_fit(&t->table, width, all);
}

struct survey {
    struct observer observer;
    const uint8_t *selected;
    uint32_t *counts; /* an actor */
};

static void survey_step(void *context, const struct machine *machine,
                        const struct step_event *event)
{
    struct survey *survey = context;
    (void)machine;
    if (event->stm != CODE_NONE && survey->selected[event->stm])
        survey->counts[event->actor]++;
}

void trace_survey(struct arena *arena, struct machine *machine, struct sched_spec *spec,
                  uint64_t max_steps)
{
    if (spec->kind != SCHED_PCT && spec->kind != SCHED_SURW)
        return;
    struct sched_spec rr = {.kind = SCHED_ROUND_ROBIN, .seed = spec->seed};
    struct scheduler scheduler;
    struct race_detector *race = race_new(arena, machine->program);
    race_begin(race);
    machine_observe(machine, &race->observer);
    sched_start(&scheduler, &rr, machine, arena);
    machine_run(machine, &scheduler.choices, max_steps, NULL);
    spec->length_estimate = machine->steps;

    struct survey survey = {.observer = {.step = survey_step}, .selected = race->racy_stms};
    survey.observer.context = &survey;
    survey.counts = ARENA_ARRAY(arena, uint32_t, machine->actor_count);
    machine_reset(machine);
    machine_observe(machine, &survey.observer);
    sched_start(&scheduler, &rr, machine, arena);
    machine_run(machine, &scheduler.choices, max_steps, NULL);
    spec->selected = survey.selected;
    spec->selected_counts = survey.counts;
    machine_observe(machine, NULL); /* it ends here */
    machine_reset(machine);
}

/* Barriers that the end leaves half-filled (C-3). */
static void print_dangling(const struct tracer *t, FILE *out)
{
    for (uint32_t block = 0; block < t->machine->program->launch.blocks; block++)
        for (uint32_t set = cta_dangling(t->machine, block); set; set &= set - 1) {
            struct cta_barrier b = cta_barrier(t->machine, block, (uint32_t)__builtin_ctz(set));
            fprintf(out, "half-filled: barrier %d of block %u, %u of %u\n", __builtin_ctz(set),
                    (unsigned)block, (unsigned)(b.synced + b.arrived), (unsigned)b.count);
        }
}

static void print_end(struct tracer *t, enum status status, FILE *out)
{
    const struct machine_head *head = t->machine->head;
    bool error = status != STATUS_TERMINATED && status != STATUS_STEP_LIMIT;
    const struct ast_launch *launch = &t->machine->program->launch;
    fprintf(out, "%s after %" PRIu64 " steps", status_names[status], t->steps);
    if (error && head->fault_stm != CODE_NONE)
        fprintf(out, ": thread %" PRIu32, head->fault_thread);
    if (error && head->fault_stm != CODE_NONE && launch->blocks > 1)
        fprintf(out, " (block %" PRIu32 ", thread %" PRIu32 ")",
                head->fault_thread / launch->threads, head->fault_thread % launch->threads);
    if (error && head->fault_stm != CODE_NONE)
        fprintf(out, ", line %" PRIu32, t->machine->program->stms[head->fault_stm].line);
    if (error && t->machine->fault_text)
        fprintf(out, ": %s", t->machine->fault_text);
    fputc('\n', out);
    if (trace_filters(&t->options->filter))
        fprintf(out, "%" PRIu64 " of %" PRIu64 " steps shown\n", t->shown, t->steps);
    print_memory(t, "end:", false, out);
    if (status == STATUS_TERMINATED && t->view == TRACE_CTA)
        print_dangling(t, out);
}

/* What a PCT schedule is worth: n actors, k steps (of an earlier execution), depth d. */
static void print_pct_bound(const struct machine *machine, const struct sched_spec *spec, FILE *out)
{
    fprintf(out,
            "PCT: a schedule finds a bug of depth %" PRIu32
            " with probability at least 1/(n k^%" PRIu32 ") = %.2g (n = %" PRIu32
            " actors, k = %" PRIu64 " steps)\n",
            spec->depth, spec->depth - 1,
            sched_pct_bound(machine->actor_count, spec->length_estimate, spec->depth),
            machine->actor_count, spec->length_estimate);
}

/* The reference beside the machine, behind the tracer; NULL: it cannot follow, *why. */
static struct follower *follow(struct arena *arena, const struct machine *machine,
                               const struct trace_options *options, const char **why)
{
    struct follower *f = follow_new(arena, ref_room_new(arena), options->subject, machine, why);
    if (f)
        follow_begin(f, options->max_steps);
    return f;
}

static const char *what_reference_says(struct arena *arena, const struct follower *f,
                                       const char *why)
{
    const char *steps = f && f->steps == 1 ? "step" : "steps";
    if (!f)
        return arena_printf(arena, "cannot follow: %s", why);
    if (f->state == FOLLOW_LOST)
        return arena_printf(arena, "cannot follow beyond step %" PRIu64 ": it does not know %s",
                            f->steps, f->unknown);
    if (f->state == FOLLOW_ALONG || f->state == FOLLOW_CUT)
        return arena_printf(arena, "the same in all %" PRIu64 " %s", f->steps, steps);
    return arena_printf(
        arena, "differs first after step %" PRIu64 ", rule %s, in: %s (%s, reference: %s)",
        f->steps, rule_table[f->rule].name, f->observable, f->engine_has, f->reference_has);
}

static void print_reference(struct tracer *t, struct follower *f, const char *why,
                            enum status status, FILE *out)
{
    if (f)
        follow_end(f, status);
    const char *says = what_reference_says(t->arena, f, why);
    if (!t->options->json) {
        fprintf(out, "reference: %s\n", says);
        return;
    }
    json_object_begin(&t->json);
    json_key_string(&t->json, "reference", says);
    json_line_end(&t->json);
}

enum status trace_run(struct arena *arena, const struct program *program,
                      const struct trace_options *options, FILE *out)
{
    const struct subject_info *subject = &subject_table[options->subject];
    struct machine_options machine_options = subject->options;
    struct machine *machine = machine_new(arena, subject->vtable, program, &machine_options);
    struct sched_spec spec = options->schedule;
    trace_survey(arena, machine, &spec, options->max_steps);

    struct tracer *t = ARENA_NEW(arena, struct tracer);
    t->observer = (struct observer){.context = t,
                                    .write = see_write,
                                    .atomic = see_write,
                                    .step = see_step,
                                    .environment = see_environment};
    t->arena = arena;
    t->machine = machine;
    t->view = trace_view_of(machine);
    t->options = options;
    trace_text_start(&t->text, arena, machine, t->view);
    trace_private_start(&t->own, arena, machine);
    json_start(&t->json, out);
    start(t);
    if (!options->json) {
        print_header(t, options, out);
        if (spec.kind == SCHED_PCT)
            print_pct_bound(machine, &spec, out);
        print_memory(t, "start:", true, out);
    }

    struct scheduler scheduler;
    const char *why = NULL;
    struct follower *f = options->against_reference ? follow(arena, machine, options, &why) : NULL;
    t->observer.next = f ? &f->observer : NULL;
    machine_observe(machine, &t->observer);
    sched_start(&scheduler, &spec, machine, arena);
    enum status status = machine_run(machine, &scheduler.choices, options->max_steps, NULL);
    if (!options->json) {
        if (!t->any_writes)
            t->table.hidden |= 1u << COLUMN_WRITES;
        fputc('\n', out);
        fit(t);
        table_print(&t->table, out);
        fputc('\n', out);
        print_end(t, status, out);
    }
    if (options->against_reference)
        print_reference(t, f, why, status, out);
    return status;
}
