/*
 * outcomes.c - the ends of a kernel that depend on the schedule: for each its shortest execution, and what decides.
 */
#include "fuzz/repair/repair.h"

#include "engine/schedule/sched.h"
#include "engine/subjects/forms.h"
#include "fuzz/trace/trace_text.h"
#include "oracle/check/evidence.h"

#include <inttypes.h>
#include <string.h>

enum { SHOWN = 8, ACCESSES = 512, LINES = 40, DECIDE = 3, VARIABLES = 8 };

/* An access of an execution; `turn`: it is the thread's so-manyth. */
struct deed {
    enum access_kind kind;
    uint32_t thread, address, turn, line;
    int32_t value;
};

struct play {
    struct observer observer;
    struct machine *machine;
    uint32_t *turns; /* a thread */
    struct deed *deeds;
    uint32_t count, more;
    uint64_t steps;
};

static void see(struct play *play, enum access_kind kind, uint32_t thread, uint32_t address,
                int32_t value, uint32_t stm)
{
    uint32_t turn = play->turns[thread]++;
    if (play->count == ACCESSES) {
        play->more++;
        return;
    }
    play->deeds[play->count++] = (struct deed){.kind = kind,
                                               .thread = thread,
                                               .address = address,
                                               .turn = turn,
                                               .line = evidence_line(play->machine->program, stm),
                                               .value = value};
}

static void see_read(void *context, uint32_t thread, uint32_t address, uint32_t stm)
{
    struct play *play = context;
    bool words = play->machine->program->units == 1;
    see(play, ACCESS_READ, thread, address, words ? play->machine->memory[address] : 0, stm);
}

static void see_write(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm)
{
    see(context, ACCESS_WRITE, thread, address, value, stm);
}

static void see_atomic(void *context, uint32_t thread, uint32_t address, int32_t value,
                       uint32_t stm)
{
    see(context, ACCESS_ATOMIC, thread, address, value, stm);
}

/* The execution of an outcome, again; the machine is left at its end. */
static void play_again(struct arena *arena, struct machine *machine, const struct tape *tape,
                       struct play *play)
{
    struct scheduler scheduler;
    const struct sched_spec spec = {.kind = SCHED_TAPE, .tape = tape};
    *play = (struct play){.machine = machine};
    play->turns = ARENA_ARRAY(arena, uint32_t, machine->program->total_threads);
    play->deeds = ARENA_ARRAY(arena, struct deed, ACCESSES);
    play->observer = (struct observer){
        .context = play, .read = see_read, .write = see_write, .atomic = see_atomic};
    machine_reset(machine);
    machine_observe(machine, &play->observer);
    sched_start(&scheduler, &spec, machine, arena);
    machine_run(machine, &scheduler.choices, tape->count, NULL);
    machine_observe(machine, NULL);
    play->steps = machine->steps;
}

/* ---- what decides ---- */

static const char *const verbs[] = {"reads", "writes", "changes"};

static const struct deed *same_deed(const struct play *play, const struct deed *deed)
{
    for (uint32_t i = 0; i < play->count; i++) {
        const struct deed *d = &play->deeds[i];
        if (d->thread == deed->thread && d->turn == deed->turn && d->address == deed->address &&
            d->kind == deed->kind && d->line == deed->line)
            return d;
    }
    return NULL;
}

static bool conflict(const struct deed *a, const struct deed *b)
{
    return a->thread != b->thread && a->address == b->address &&
           (a->kind != ACCESS_READ || b->kind != ACCESS_READ);
}

/* Conflicting accesses that come in another order than in the first execution. */
static void put_deciding(struct arena *arena, const struct play *first, const struct play *other,
                         FILE *out)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < first->count && found < DECIDE; i++)
        for (uint32_t k = i + 1; k < first->count && found < DECIDE; k++) {
            const struct deed *a = &first->deeds[i], *b = &first->deeds[k];
            const struct deed *x = conflict(a, b) ? same_deed(other, a) : NULL;
            const struct deed *y = x ? same_deed(other, b) : NULL;
            if (!y || x < y)
                continue;
            fprintf(out,
                    "        %s thread %" PRIu32 " %s %s at line %" PRIu32 " before thread %" PRIu32
                    " %s it at line %" PRIu32 "; in 1 it is the other way "
                    "round\n",
                    found++ ? "and" : "what decides:", b->thread, verbs[b->kind],
                    program_location_name(arena, first->machine->program, a->address), b->line,
                    a->thread, verbs[a->kind], a->line);
        }
}

/* ---- an outcome ---- */

static void put_deeds(struct arena *arena, const struct play *play, FILE *out)
{
    bool words = play->machine->program->units == 1;
    for (uint32_t i = 0; i < play->count && i < LINES; i++) {
        const struct deed *d = &play->deeds[i];
        const char *name = program_location_name(arena, play->machine->program, d->address);
        fprintf(out, "        line %-3" PRIu32 " thread %-2" PRIu32 " %s %s", d->line, d->thread,
                verbs[d->kind], name);
        if (d->kind != ACCESS_READ || words)
            fprintf(out, "%s %" PRId32, d->kind == ACCESS_READ ? ":" : " =", d->value);
        fputc('\n', out);
    }
    if (play->count + play->more > LINES)
        fprintf(out, "        ... %" PRIu32 " more\n", play->count + play->more - LINES);
}

static void put_store(struct trace_text *text, const struct machine *machine, FILE *out)
{
    const struct program *program = machine->program;
    uint32_t shown = 0;
    for (uint32_t i = 0; i < program->var_count; i++) {
        const struct ast_var *var = program->vars[i].ast;
        if (var->space != SPACE_GLOBAL && var->space != SPACE_SHARED)
            continue;
        if (shown++ < VARIABLES)
            fprintf(out, "%s%s = %s", shown > 1 ? ", " : "", var->name, trace_values(text, i));
    }
}

static void put_outcome(struct arena *arena, struct machine *machine, uint32_t number,
                        const struct search_outcome *outcome, const struct play *first,
                        struct play *play, FILE *out)
{
    struct trace_text text;
    play_again(arena, machine, outcome->tape, play);
    trace_text_start(&text, arena, machine, trace_view_of(machine));
    fprintf(out, "    %" PRIu32 ". ", number);
    if (outcome->status == STATUS_TERMINATED)
        put_store(&text, machine, out);
    else
        fputs(status_names[outcome->status], out);
    fprintf(out, ", after %" PRIu64 " steps\n", play->steps);
    put_deeds(arena, play, out);
    if (first)
        put_deciding(arena, first, play, out);
    fprintf(out, "        schedule: %s\n", tape_print(arena, outcome->tape));
}

/* ---- all ---- */

static const struct subject_info *subject_for(enum ast_form form)
{
    static const enum subject_id ids[] = {[FORM_STRUCTURED] = SUBJECT_THREADS,
                                          [FORM_BLOCKS] = SUBJECT_INTERLEAVE,
                                          [FORM_LOCKSTEP] = SUBJECT_LOCKSTEP,
                                          [FORM_PTX] = SUBJECT_BLOCK};
    return &subject_table[ids[form]];
}

static void put_head(const struct search_result *search, FILE *out)
{
    fprintf(out, "    %" PRIu32 " outcome%s%s", search->outcome_count,
            search->outcome_count == 1 ? "" : "s",
            search->complete ? ", of all executions" : ", and there may be more: ");
    if (!search->complete)
        fprintf(out, "the bound on %s cut the search off", search->cut);
    fprintf(out, "%s\n", search->race ? "; there are data races" : "");
}

bool repair_outcomes(struct arena *arena, const struct ast_kernel *kernel,
                     const struct search_options *bounds, FILE *out, const char **why)
{
    const struct subject_info *subject = subject_for(kernel->form);
    const struct form *form = forms_get(forms_new(arena, kernel), subject->program);
    struct search_options options = *bounds;
    struct play first, other;
    *why = form->program ? machine_refuses(arena, subject->vtable, form->program) : form->reason;
    if (*why)
        return false;
    options.method = SEARCH_STATES; /* breadth first: the shortest execution of each */
    struct machine *searched = search_machine(arena, subject->vtable, form->program, false);
    const struct search_result *search = search_run(arena, searched, &options);
    struct machine_options plain = subject->options;
    struct machine *machine = machine_new(arena, subject->vtable, form->program, &plain);
    put_head(search, out);
    for (uint32_t i = 0; i < search->outcome_count && i < SHOWN; i++)
        put_outcome(arena, machine, i + 1, &search->outcomes[i], i ? &first : NULL,
                    i ? &other : &first, out);
    if (search->outcome_count > SHOWN)
        fprintf(out, "    ... %" PRIu32 " more outcomes\n", search->outcome_count - SHOWN);
    return true;
}
