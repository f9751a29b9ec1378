/*
 * view_side.c - an execution as one JSON object: what it was, the state before the first step that is kept, the steps.
 *
 *     stms      [line, text, [variables read], [variables written], function]
 *     actors    [first thread, threads]
 *     cells     [variable, space, block, address of the first word, words, is it an array, [values]]
 *     private   [variable, [a value a thread]]
 *     flow      which statement may follow which; functions: where each begins (view_flow.c)
 *     states    [actor, letters, stack(, leader)]; how the actors stood before the first step
 *     texts     strings; what follows calls them by their number
 *     entries   [kind, mask, statement, text]: of stacks
 *     nodes     entry, node below, entry, node below ...; node 0 is the empty stack
 *     shapes    [rule, actor, statement or -1, first thread, who took part, what was executed, [states afterwards](,
 *               for whom a guard held)]
 *     accesses  [kind, count, threads, addresses, values]; kind 0 reads, 1 writes, 2 is atomic
 *     values    [place, first thread, lanes, values]: what threads wrote that only they see
 *     caches    null, or the operations under way and the L1s (view_caches.c); accesses of kind 3, 4, 5 are asked for
 *     steps     shape, accesses + 1 or 0, values + 1 or 0, ...
 *
 * Numbers in a row are one number, if they are all the same; [first, difference]; or [0, [one by one]].
 */
#include "engine/machine/live.h"
#include "fuzz/out/demangle.h"
#include "fuzz/out/json.h"
#include "fuzz/view/view_internal.h"
#include "oracle/check/evidence.h"

#include <inttypes.h>
#include <stdlib.h>

const char *view_quoted(struct arena *arena, const char *text)
{
    char *bytes = NULL;
    size_t length = 0;
    struct json json;
    FILE *out = open_memstream(&bytes, &length);
    if (!out)
        return "\"\"";
    json_start(&json, out);
    json_string(&json, text);
    fclose(out);
    const char *copy = arena_strndup(arena, bytes, length);
    free(bytes);
    return copy;
}

/* ---- the program ---- */

static void put_variables(struct json *json, uint64_t set)
{
    json_array_begin(json);
    for (uint32_t i = 0; i < 63; i++)
        if (set >> i & 1)
            json_u64(json, i);
    json_array_end(json);
}

static void put_program(const struct view_recorder *r, struct json *json)
{
    const struct program *program = r->machine->program;
    json_key_array_begin(json, "variables");
    for (uint32_t i = 0; i < program->var_count; i++)
        json_string(json, program->vars[i].ast->name);
    json_array_end(json);
    json_key_array_begin(json, "stms");
    for (uint32_t i = 0; i < program->stm_count; i++) {
        const struct code_stm *stm = &program->stms[i];
        json_array_begin(json);
        json_u64(json, stm->line);
        json_string(json, demangle_text(r->scratch, r->text.heads[i]));
        put_variables(json, stm->reads);
        put_variables(json, stm->writes);
        json_string(json, program->form == FORM_PTX ? "" : program->functions[stm->function].name);
        json_array_end(json);
    }
    json_array_end(json);
}

static void put_rules(const struct view_recorder *r, struct json *json)
{
    json_key_object_begin(json, "rules");
    for (uint32_t i = 0; i <= RULE_COUNT; i++) {
        char number[16];
        if (!r->fired[i])
            continue;
        snprintf(number, sizeof number, "%" PRIu32, i);
        json_key_array_begin(json, number);
        json_string(json, rule_table[i].name);
        json_string(json, rule_table[i].semantics);
        json_string(json, rule_table[i].source);
        json_string(json, i == RULE_NONE ? "" : view_rule_texts[i]);
        json_array_end(json);
    }
    json_object_end(json);
}

/* ---- what it was ---- */

static void put_head(const struct view_recorder *r, struct json *json)
{
    static const char *const views[] = {
        [TRACE_THREADS] = "threads", [TRACE_WARPS] = "warps", [TRACE_BLOCKS] = "blocks",
        [TRACE_VECTORS] = "vectors", [TRACE_CRS] = "crs",     [TRACE_CTA] = "cta"};
    const struct program *program = r->machine->program;
    const struct subject_info *subject = &subject_table[r->options->subject];
    json_key_string(json, "subject", subject->name);
    json_key_string(json, "semantics", subject->semantics);
    json_key_string(json, "sentence", subject->sentence);
    json_key_string(json, "program", program_id_names[subject->program]);
    json_key_string(json, "schedule", r->options->schedule_name);
    json_key_string(json, "view", r->machine->semantics->stack_of ? "splits" : views[r->text.view]);
    json_key_u64(json, "threads", program->total_threads);
    json_key_u64(json, "warp", program->launch.warp);
    json_key_u64(json, "block", program->launch.threads);
    json_key_u64(json, "units", program->units);
    json_key_u64(json, "taken", r->taken);
    json_key_u64(json, "first", r->first);
    json_key_u64(json, "kept", r->kept);
    json_key_array_begin(json, "actors");
    for (uint32_t i = 0; i < r->machine->actor_count; i++) {
        json_array_begin(json);
        json_u64(json, r->actors[i].first);
        json_u64(json, r->actors[i].lanes);
        json_array_end(json);
    }
    json_array_end(json);
}

static void put_loop(const struct view_recorder *r, const struct view_ending *e, struct json *json)
{
    json_key(json, "loop");
    if (e->loop.length == 0) {
        json_null(json);
        return;
    }
    json_object_begin(json);
    json_key_u64(json, "stem", e->loop.stem);
    json_key_u64(json, "length", e->loop.length);
    json_key_bool(json, "fair", e->loop.fair);
    json_key_array_begin(json, "idle");
    for (uint32_t i = 0; i < r->machine->actor_count; i++)
        if (e->loop.lasso.live && e->loop.lasso.live[i] && !e->loop.lasso.stepped[i])
            json_u64(json, i);
    json_array_end(json);
    json_object_end(json);
}

static void put_end(const struct view_recorder *r, const struct view_ending *e, struct json *json)
{
    const struct machine_head *head = r->machine->head;
    bool fault = e->status != STATUS_TERMINATED && e->status != STATUS_STEP_LIMIT &&
                 e->status != STATUS_NONTERMINATING && head->fault_stm != CODE_NONE;
    json_key_object_begin(json, "end");
    json_key_string(json, "status", status_names[e->status]);
    json_key(json, "thread");
    if (fault)
        json_u64(json, head->fault_thread);
    else
        json_null(json);
    json_key_u64(json, "line", fault ? evidence_line(r->machine->program, head->fault_stm) : 0);
    json_key_string(json, "text", fault ? r->machine->fault_text : NULL);
    json_object_end(json);
    put_loop(r, e, json);
}

static void put_access(const struct view_recorder *r, struct json *json,
                       const struct race_access *access)
{
    json_array_begin(json);
    json_u64(json, access->thread);
    json_int(json, access->stm == CODE_NONE ? -1 : (int64_t)access->stm);
    json_u64(json, evidence_line(r->machine->program, access->stm));
    json_string(json, race_access_names[access->kind]);
    json_array_end(json);
}

/* The first race: its location, and the two accesses in the order of the execution. */
static void put_race(const struct view_recorder *r, const struct view_ending *e, struct json *json)
{
    const struct race_witness *witness = e->race->found ? &e->race->witness : NULL;
    json_key(json, "race");
    if (!witness) {
        json_null(json);
        return;
    }
    json_object_begin(json);
    json_key_u64(json, "address", witness->address);
    json_key_string(json, "place",
                    program_location_name(r->scratch, r->machine->program, witness->address));
    json_key_string(json, "says", evidence_race_sentence(r->scratch, r->machine->program, witness));
    json_key(json, "first");
    put_access(r, json, &witness->first);
    json_key(json, "second");
    put_access(r, json, &witness->second);
    json_object_end(json);
}

void view_print_side(struct view_recorder *r, const struct view_ending *ending, const char *steps,
                     const char *start, FILE *out)
{
    struct json json;
    json_line_begin(&json, out);
    put_head(r, &json);
    put_end(r, ending, &json);
    put_race(r, ending, &json);
    put_program(r, &json);
    put_rules(r, &json);
    /* What follows is made of pieces that are JSON already. */
    fprintf(out, ", %s, ", *start ? start : "\"cells\": [], \"private\": [], \"states\": []");
    view_print_flow(r->machine->program, out);
    fputs(", ", out);
    view_pool_print(&r->texts, "texts", out);
    fputs(", ", out);
    view_pool_print(&r->entries, "entries", out);
    fputs(", ", out);
    view_pool_print(&r->nodes, "nodes", out);
    fputs(", ", out);
    view_pool_print(&r->shapes, "shapes", out);
    fputs(", ", out);
    view_pool_print(&r->accesses, "accesses", out);
    fputs(", ", out);
    view_pool_print(&r->values, "values", out);
    fputs(", ", out);
    view_caches_print(r, out);
    fprintf(out, ", \"steps\": [%s]", steps);
    json_object_end(&json);
}
