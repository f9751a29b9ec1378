#include "fuzz/trace/trace_blocks.h"
#include "fuzz/trace/trace_crs.h"
#include "fuzz/trace/trace_internal.h"
#include "fuzz/trace/trace_vector.h"
#include "oracle/check/evidence.h"

#include <inttypes.h>

/* Where execution goes on when the token at `i` is popped: the slice right below it. */
static void json_continuation(struct tracer *t, const struct trace_entries *entries, uint32_t i)
{
    bool statement = false;
    if (i > 0) {
        enum entry_kind kind = entry_kind(entries->stack[i - 1]);
        statement = kind == ENTRY_STM || kind == ENTRY_CONT;
    }
    if (statement)
        json_u64(&t->json, entry_number(entries->stack[i - 1]));
    else
        json_null(&t->json);
}

static void json_stack(struct tracer *t, uint32_t actor)
{
    if (trace_is_ptx(t->view)) {
        trace_crs_json_stack(&t->text, &t->json, actor);
        return;
    }
    if (trace_is_blocks(t->view)) {
        trace_blocks_frames(&t->text, &t->json, actor);
        return;
    }
    struct trace_entries entries = trace_entries(t->machine, t->view == TRACE_WARPS, actor);
    json_array_begin(&t->json);
    for (uint32_t i = entries.depth; i-- > 0;) {
        enum entry_kind kind = entry_kind(entries.stack[i]);
        bool statement = kind == ENTRY_STM || kind == ENTRY_CONT;
        json_array_begin(&t->json);
        json_string(&t->json, trace_entry_names[kind]);
        if (statement || !entries.masks)
            json_null(&t->json);
        else
            json_string(&t->json, trace_mask(&t->text, entries.masks[i], entries.lanes));
        if (statement)
            json_u64(&t->json, entry_number(entries.stack[i]));
        else
            json_continuation(t, &entries, i);
        json_array_end(&t->json);
    }
    json_array_end(&t->json);
}

static void json_writes(struct tracer *t)
{
    json_array_begin(&t->json);
    for (uint32_t i = 0; i < t->write_count; i++) {
        json_array_begin(&t->json);
        json_string(&t->json,
                    program_location_name(t->arena, t->machine->program, t->writes[i].address));
        json_int(&t->json, t->writes[i].value);
        json_array_end(&t->json);
    }
    json_array_end(&t->json);
}

static void json_place(struct tracer *t, uint32_t stm)
{
    json_key(&t->json, "pc");
    if (stm == CODE_NONE)
        json_null(&t->json);
    else
        json_u64(&t->json, stm);
    json_key(&t->json, "line");
    if (stm == CODE_NONE || t->machine->program->stms[stm].line == 0)
        json_null(&t->json);
    else
        json_u64(&t->json, t->machine->program->stms[stm].line);
}

void trace_print_json(struct tracer *t, const struct step_event *event)
{
    struct json *json = &t->json;
    json_object_begin(json);
    json_key_u64(json, "step", t->steps);
    json_key_string(json, "rule", rule_table[event->rule].name);
    if (t->view == TRACE_WARPS || t->view == TRACE_CRS)
        json_key_string(json, "actor", arena_printf(t->arena, "warp %" PRIu32, event->actor));
    else if (t->view == TRACE_VECTORS)
        json_key_string(json, "actor", arena_printf(t->arena, "block %" PRIu32, event->actor));
    else
        json_key_u64(json, "thread", event->actor);
    json_place(t, event->stm);
    if (trace_is_ptx(t->view) && event->stm != CODE_NONE)
        json_key_string(json, "source", evidence_source(t->arena, t->machine->program, event->stm));
    json_key_string(json, "executed", trace_executed(t, event));
    if (trace_is_blocks(t->view))
        json_key_string(json, "block", t->blocks[event->actor]);
    if (t->view == TRACE_VECTORS) {
        json_key_string(json, "enabled", trace_blocks_enabled(&t->text, event->actor));
        trace_vector_json(&t->text, json, event);
    }
    if (t->view == TRACE_WARPS) {
        struct warp_state warp = simt_state(t->machine, event->actor);
        json_key_string(json, "active", trace_mask(&t->text, warp.theta, warp.lanes));
        json_key_string(json, "disabled", trace_disabled(&t->text, &warp));
    }
    if (t->view == TRACE_CRS) {
        json_key_string(json, "active", trace_crs_active(&t->text, event->actor));
        json_key_string(json, "disabled", trace_crs_disabled(&t->text, event->actor));
    }
    json_key(json, "stack");
    json_stack(t, event->actor);
    json_key(json, "writes");
    json_writes(t);
    json_key(json, "private");
    trace_private_json(&t->own, json);
    json_key_string(json, "status", status_names[machine_status(t->machine)]);
    json_line_end(json);
}

void trace_print_environment(struct tracer *t, const struct step_event *event, const char *name)
{
    struct json *json = &t->json;
    json_object_begin(json);
    json_key_u64(json, "step", t->steps);
    json_key_string(json, "rule", rule_table[event->rule].name);
    json_key_string(json, "environment", name);
    json_place(t, event->stm);
    json_key_string(json, "status", status_names[machine_status(t->machine)]);
    json_line_end(json);
}
