/*
 * view_record.c - the steps of an execution, as they are taken. A step is three numbers: its shape - rule, actor,
 * statement, who took part, how actors stand afterwards -, its accesses, and the private values that it wrote.
 */
#include "engine/caches/caches.h"
#include "fuzz/trace/trace_vector.h"
#include "fuzz/view/view_internal.h"
#include "fuzz/view/view_letters.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers in a row ---- */

static bool is_even(const int64_t *values, uint32_t count)
{
    uint64_t step = (uint64_t)values[1] - (uint64_t)values[0];
    for (uint32_t i = 2; i < count; i++)
        if ((uint64_t)values[i] - (uint64_t)values[i - 1] != step)
            return false;
    return values[1] - values[0] < INT32_MAX && values[1] - values[0] > INT32_MIN;
}

/* Beyond 2^53 a reader in JavaScript would round. */
static void put_number(struct text *out, int64_t value)
{
    const int64_t exact = (int64_t)1 << 53;
    text_format(out, value > exact || value < -exact ? "\"%" PRId64 "\"" : "%" PRId64, value);
}

void view_put_row(struct text *out, const int64_t *values, uint32_t count)
{
    bool same = true;
    for (uint32_t i = 1; i < count; i++)
        same &= values[i] == values[0];
    if (same) {
        put_number(out, values[0]);
        return;
    }
    bool even = count > 2 && is_even(values, count);
    text_put(out, even ? "[" : "[0,");
    if (even)
        text_format(out, "%" PRId64 ",%" PRId64 "]", values[0], values[1] - values[0]);
    for (uint32_t i = 0; i < count && !even; i++) {
        text_put(out, i ? "," : "[");
        put_number(out, values[i]);
    }
    if (!even)
        text_put(out, "]]");
}

/* ---- accesses ---- */

void view_see_access(struct view_recorder *r, uint32_t kind, uint32_t thread, uint32_t address,
                     int32_t value)
{
    if (r->seen_count == VIEW_ACCESSES)
        r->unseen++;
    else
        r->seen[r->seen_count++] = (struct view_access){kind, thread, address, value};
}

static void see_access(struct view_recorder *r, enum access_kind kind, uint32_t thread,
                       uint32_t address, int32_t value)
{
    if (r->caches)
        view_caches_asked(r->caches, (struct view_access){kind, thread, address, value});
    view_see_access(r, r->caches ? kind + VIEW_ASKS : kind, thread, address, value);
}

static void see_read(void *context, uint32_t thread, uint32_t address, uint32_t stm)
{
    (void)stm;
    see_access(context, ACCESS_READ, thread, address, 0);
}

static void see_write(void *context, uint32_t thread, uint32_t address, int32_t value, uint32_t stm)
{
    (void)stm;
    see_access(context, ACCESS_WRITE, thread, address, value);
}

static void see_atomic(void *context, uint32_t thread, uint32_t address, int32_t value,
                       uint32_t stm)
{
    (void)stm;
    see_access(context, ACCESS_ATOMIC, thread, address, value);
}

static void see_use(void *context, const struct machine *machine, const struct barrier_use *use)
{
    struct view_recorder *r = context;
    (void)machine;
    r->all_changed |= use->kind == BARRIER_RELEASES;
}

/* Accesses of one kind, one behind the other: [kind, count, threads, addresses, values]. */
static void put_accesses_of(struct text *out, const struct view_access *seen, uint32_t count)
{
    int64_t row[3][VIEW_ACCESSES];
    for (uint32_t i = 0; i < count; i++) {
        row[0][i] = seen[i].thread;
        row[1][i] = seen[i].address;
        row[2][i] = seen[i].value;
    }
    text_format(out, "[%" PRIu32 ",%" PRIu32, seen->kind, count);
    for (int i = 0; i < (seen->kind % VIEW_ASKS == ACCESS_READ ? 2 : 3); i++) {
        text_put(out, ",");
        view_put_row(out, row[i], count);
    }
    text_put(out, "]");
}

/* The number of the step's accesses, + 1; 0: none. */
static uint32_t accesses_of_step(struct view_recorder *r)
{
    struct text out = text_begin(r->scratch);
    if (r->seen_count == 0)
        return 0;
    for (uint32_t i = 0, end; i < r->seen_count; i = end) {
        for (end = i + 1; end < r->seen_count && r->seen[end].kind == r->seen[i].kind;)
            end++;
        text_put(&out, i ? "," : "[");
        put_accesses_of(&out, r->seen + i, end - i);
    }
    if (r->unseen > 0)
        text_format(&out, ",%" PRIu32, r->unseen);
    text_put(&out, "]");
    return view_pool_text(&r->accesses, out.bytes) + 1;
}

/* ---- private values ---- */

static void put_float(struct text *out, const struct trace_place *place, uint32_t lane)
{
    double value;
    float narrow;
    uint32_t bits = (uint32_t)place->values[lane];
    memcpy(&value, &place->values[lane], sizeof value);
    memcpy(&narrow, &bits, sizeof narrow);
    text_format(out, "\"%g\"", place->is_wide ? value : (double)narrow);
}

/* [name, first thread, lanes, values] */
static void put_place(struct view_recorder *r, struct text *out, const struct trace_place *place,
                      uint32_t first)
{
    int64_t row[LIMIT_WARP];
    uint32_t count = 0;
    uint32_t lanes = 64 - (uint32_t)__builtin_clzll(place->lanes);
    text_format(out, "[%s,%" PRIu32 ",\"%s\",", view_quoted(r->scratch, place->name), first,
                trace_mask(&r->text, place->lanes, lanes));
    if (place->is_float)
        text_put(out, "[0,[");
    for (lane_mask rest = place->lanes; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctzll(rest);
        if (place->is_float) {
            text_put(out, count ? "," : "");
            put_float(out, place, lane);
        }
        row[count++] = place->is_wide ? (int64_t)place->values[lane]
                                      : (int64_t)(int32_t)(uint32_t)place->values[lane];
    }
    if (place->is_float)
        text_put(out, "]]");
    else
        view_put_row(out, row, count);
    text_put(out, "]");
}

/* What a step of a lock-step program writes, all components. */
static void put_vector(struct view_recorder *r, struct text *out, const struct step_event *event)
{
    struct trace_vector vector;
    if (!trace_vector_see(&r->text, event, &vector))
        return;
    int64_t *row = ARENA_ARRAY(r->scratch, int64_t, vector.count);
    char *all = ARENA_ARRAY(r->scratch, char, vector.count + 1);
    for (uint32_t i = 0; i < vector.count; i++)
        row[i] = trace_vector_component(&r->text, &vector, i);
    memset(all, '1', vector.count);
    text_format(out, "[[%s,%" PRIu32 ",\"%s\",", view_quoted(r->scratch, vector.name),
                vector.threads[0], all);
    view_put_row(out, row, vector.count);
    text_put(out, "]");
}

static uint32_t values_of_step(struct view_recorder *r, const struct step_event *event,
                               uint32_t first)
{
    struct text out = text_begin(r->scratch);
    if (r->text.view == TRACE_VECTORS)
        put_vector(r, &out, event);
    for (uint32_t i = 0; i < r->own.count; i++) {
        text_put(&out, i ? "," : "[");
        put_place(r, &out, &r->own.places[i], first);
    }
    if (out.length == 0)
        return 0;
    text_put(&out, "]");
    return view_pool_text(&r->values, out.bytes) + 1;
}

/* ---- steps ---- */

/* What the step executed, if its statement does not say it: a token, the second half of an assignment. */
static const char *executed(const struct view_recorder *r, const struct step_event *event)
{
    bool barrier = event->rule == r->machine->semantics->barrier_rule;
    if (event->actor >= r->machine->actor_count && event->stm == CODE_NONE)
        return r->machine->semantics->environment_name(r->scratch, r->machine, event->actor);
    if (event->stm != CODE_NONE &&
        (barrier || trace_is_ptx(r->text.view) || r->machine->semantics->stack_of))
        return r->text.heads[event->stm];
    return barrier ? "" : r->tops[event->actor];
}

void view_put_state(struct view_recorder *r, uint32_t actor, struct text *out)
{
    const struct view_actor *a = &r->actors[actor];
    text_format(out, "[%" PRIu32 ",%" PRIu32 ",%" PRIu32, actor, a->letters - 1, a->node);
    if (a->leader != actor)
        text_format(out, ",%" PRIu32, a->leader);
    text_put(out, "]");
}

static bool changes_others(const struct view_recorder *r, const struct step_event *event)
{
    return r->all_changed || r->caches || event->rule == r->machine->semantics->barrier_rule ||
           r->machine->semantics->stack_of || machine_status(r->machine) != STATUS_RUNNING;
}

static void put_states(struct view_recorder *r, const struct step_event *event, struct text *out)
{
    bool all = changes_others(r, event);
    uint32_t from = all ? 0 : event->actor, to = all ? r->machine->actor_count : event->actor + 1;
    bool any = false;
    for (uint32_t i = from; i < to; i++) {
        if (!view_see_actor(r, i))
            continue;
        text_put(out, any ? "," : "");
        view_put_state(r, i, out);
        any = true;
    }
    r->all_changed = false;
}

/* For whom the condition of a branch or a loop held. */
static void put_truth(struct view_recorder *r, const struct step_event *event, const char *ran,
                      struct text *out)
{
    const struct program *program = r->machine->program;
    enum code_kind kind = event->stm == CODE_NONE ? CODE_SKIP : program->stms[event->stm].kind;
    bool branches = kind == CODE_PTX && program->ptx->ops[event->stm].exec == PTX_EXEC_BRA;
    if ((kind != CODE_IF && kind != CODE_WHILE && !branches) ||
        event->actor >= r->machine->actor_count)
        return;
    uint32_t lanes = (uint32_t)strlen(ran);
    const char *truth = trace_mask(&r->text, event->truth, lanes);
    text_format(out, ",%" PRIu32,
                view_pool_text(&r->texts, arena_printf(r->scratch, "\"%s\"", truth)));
}

/* The actor whose operation steps, and that it is one; of a cache's step the first actor, for want of another. */
static uint32_t actor_of_step(const struct view_recorder *r, const struct step_event *event)
{
    uint32_t actor = event->actor, place;
    if (actor < r->machine->actor_count)
        return actor;
    return caches_is_operation(r->machine, event->actor, &actor, &place) ? actor : 0;
}

/* [rule, actor, statement, first thread, who took part, what was executed, [states](, for whom its condition held)], of
 * a step that no actor takes null, 1 behind. */
static uint32_t shape_of_step(struct view_recorder *r, const struct step_event *event,
                              const char *says, uint32_t first, const char *ran)
{
    struct text out = text_begin(r->scratch);
    uint32_t text = view_pool_text(&r->texts, view_quoted(r->scratch, says));
    uint32_t mask = view_pool_text(&r->texts, arena_printf(r->scratch, "\"%s\"", ran));
    text_format(&out, "[%d,%" PRIu32 ",%" PRId64 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",[",
                (int)event->rule, actor_of_step(r, event),
                event->stm == CODE_NONE ? (int64_t)-1 : (int64_t)event->stm, first, mask, text);
    put_states(r, event, &out);
    text_put(&out, "]");
    put_truth(r, event, ran, &out);
    text_put(&out, event->actor < r->machine->actor_count ? "]" : ",null,1]");
    return view_pool_text(&r->shapes, out.bytes);
}

static void keep_step(struct view_recorder *r, const struct step_event *event)
{
    uint32_t first;
    const char *says = executed(r, event);
    const char *ran = view_ran(&r->text, event, &first);
    uint32_t shape = shape_of_step(r, event, says, first, ran);
    view_caches_see(r, first);
    uint32_t accesses = accesses_of_step(r), values = values_of_step(r, event, first);
    int bytes = fprintf(r->steps, "%s%" PRIu32 ",%" PRIu32 ",%" PRIu32, r->kept ? "," : "", shape,
                        accesses, values);
    r->fired[event->rule] = true;
    r->step_bytes += (size_t)bytes;
    r->kept++;
    view_caches_keep(r);
    r->full = r->kept == r->options->kept ||
              r->step_bytes + r->texts.bytes + r->entries.bytes + r->nodes.bytes + r->shapes.bytes +
                      r->accesses.bytes + r->values.bytes + view_caches_bytes(r) >
                  r->options->bytes;
}

/* ---- the state before the first step ---- */

static void put_variable(const struct view_recorder *r, const struct code_var *var, uint32_t block,
                         struct text *out)
{
    const struct program *program = r->machine->program;
    const struct ast_var *ast = var->ast;
    uint32_t word =
        r->machine->threads[block * program->launch.threads].base[ast->space] + var->offset;
    uint32_t shown = ast->length < VIEW_CELLS ? ast->length : VIEW_CELLS;
    if (program->form == FORM_PTX)
        word = (ast->space == SPACE_SHARED
                    ? program->shared_base + block * program->words[SPACE_SHARED]
                    : 0) +
               var->offset;
    text_format(out, "[%s,\"%s\",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%d,[",
                view_quoted(r->scratch, ast->name), ast_space_names[ast->space], block,
                word * program->units, ast->length, ast->is_array);
    for (uint32_t i = 0; i < shown; i++)
        text_format(out, "%s%" PRId32, i ? "," : "", r->machine->memory[word + i]);
    text_put(out, "]]");
}

static void put_cells(struct view_recorder *r, FILE *out)
{
    const struct program *program = r->machine->program;
    bool any = false;
    fputs("\"cells\": [", out);
    for (uint32_t i = 0; i < program->var_count; i++) {
        enum ast_space space = program->vars[i].ast->space;
        uint32_t copies = space == SPACE_GLOBAL   ? 1
                          : space == SPACE_SHARED ? program->launch.blocks
                                                  : 0;
        for (uint32_t block = 0; block < copies; block++) {
            struct text text = text_begin(r->scratch);
            put_variable(r, &program->vars[i], block, &text);
            fprintf(out, "%s%s", any ? "," : "", text.bytes);
            any = true;
        }
    }
    fputs("]", out);
}

/* Private scalars of structured kernels and blocks: [name, [a value a thread]]. */
static void put_private(struct view_recorder *r, FILE *out)
{
    const struct program *program = r->machine->program;
    uint32_t threads = program->total_threads < VIEW_LANES ? program->total_threads : VIEW_LANES;
    bool any = false;
    fputs("\"private\": [", out);
    for (uint32_t i = 0; i < program->var_count && program->form != FORM_PTX; i++) {
        const struct ast_var *var = program->vars[i].ast;
        if (var->space != SPACE_PRIVATE || var->is_array)
            continue;
        fprintf(out, "%s[%s,[", any ? "," : "", view_quoted(r->scratch, var->name));
        for (uint32_t t = 0; t < threads; t++)
            fprintf(out, "%s%" PRId32, t ? "," : "",
                    r->machine->memory[r->machine->threads[t].base[SPACE_PRIVATE] +
                                       program->vars[i].offset]);
        fputs("]]", out);
        any = true;
    }
    fputs("]", out);
}

static void put_start(struct view_recorder *r)
{
    struct text states = text_begin(r->scratch);
    for (uint32_t i = 0; i < r->machine->actor_count; i++) {
        view_see_actor(r, i);
        text_put(&states, i ? "," : "");
        view_put_state(r, i, &states);
    }
    view_caches_keep(r);
    put_cells(r, r->start);
    fputs(", ", r->start);
    put_private(r, r->start);
    fprintf(r->start, ", \"states\": [%s]", states.bytes);
}

/* ---- watching ---- */

static void see_tops(struct view_recorder *r, const struct step_event *event)
{
    bool all = changes_others(r, event);
    uint32_t from = all ? 0 : event->actor, to = all ? r->machine->actor_count : event->actor + 1;
    for (uint32_t i = from; i < to; i++) {
        const char *top = trace_top(&r->text, i);
        if (r->tops[i] && strcmp(r->tops[i], top) == 0)
            continue;
        r->tops[i] = arena_strndup(r->arena, top, strlen(top));
    }
}

/* `event` of an actor, or of an operation or a cache, whose numbers lie behind theirs. */
static void see_step(void *context, const struct machine *machine, const struct step_event *event)
{
    struct view_recorder *r = context;
    size_t mark = arena_mark(r->scratch);
    (void)machine;
    r->taken++;
    trace_private_see(&r->own, &r->text, event);
    if (r->taken >= r->first && !r->full)
        keep_step(r, event);
    if (r->taken + 1 >= r->first && !r->full)
        see_tops(r, event);
    if (r->taken + 1 == r->first)
        put_start(r);
    arena_release(r->scratch, mark);
    r->seen_count = r->unseen = 0;
}

void view_record_start(struct view_recorder *r, struct machine *machine)
{
    struct view_pool *pools[] = {&r->texts,  &r->entries,  &r->nodes,
                                 &r->shapes, &r->accesses, &r->values};
    bool fresh;
    for (size_t i = 0; i < sizeof pools / sizeof *pools; i++)
        view_pool_start(pools[i], r->arena);
    view_pool_find(&r->nodes, "empty", 5, &fresh);
    view_pool_say(&r->nodes, "0,0");
    r->observer = (struct observer){.context = r,
                                    .read = see_read,
                                    .write = see_write,
                                    .atomic = see_atomic,
                                    .use = see_use,
                                    .step = see_step,
                                    .environment = see_step};
    r->machine = machine;
    trace_text_start(&r->text, r->arena, machine, trace_view_of(machine));
    r->text.arena = r->scratch;
    trace_private_start(&r->own, r->arena, machine);
    r->actors = ARENA_ARRAY(r->arena, struct view_actor, machine->actor_count);
    r->tops = ARENA_ARRAY(r->arena, const char *, machine->actor_count);
    for (uint32_t i = 0; i < machine->actor_count; i++) {
        const char *top = trace_top(&r->text, i);
        r->tops[i] = arena_strndup(r->arena, top, strlen(top));
        r->actors[i].lanes = view_threads(&r->text, i, &r->actors[i].first);
    }
    view_caches_start(r);
    if (r->first == 1)
        put_start(r);
}
