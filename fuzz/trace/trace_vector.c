#include "fuzz/trace/trace_vector.h"

#include "engine/blocks/lockstep.h"

#include <inttypes.h>

enum { COMPONENTS_SHOWN = 16 };

/* The statement's target, if it is a private scalar that it writes in every component; NULL. */
static const struct code_place *vector_place(const struct trace_text *text,
                                             const struct step_event *event)
{
    if (event->rule != RULE_LOCK_VEC_ASSIGN && event->rule != RULE_LOCK_VEC_HAVOC &&
        event->rule != RULE_LOCK_PICK)
        return NULL;
    const struct code_place *place = &text->machine->program->stms[event->stm].place;
    return place->space > SPACE_SHARED && place->index == CODE_NONE ? place : NULL;
}

static const char *vector_name(const struct trace_text *text, uint32_t stm)
{
    const struct ast_stm *source = text->machine->program->stms[stm].source;
    return source->kind == STM_HAVOC ? source->place.var->name : source->target.var->name;
}

bool trace_vector_see(const struct trace_text *text, const struct step_event *event,
                      struct trace_vector *vector)
{
    const struct code_place *place = vector_place(text, event);
    if (!place)
        return false;
    *vector = (struct trace_vector){.name = vector_name(text, event->stm), .place = place};
    vector->count = lockstep_threads(text->machine, event->actor, &vector->threads);
    return true;
}

int32_t trace_vector_component(const struct trace_text *text, const struct trace_vector *vector,
                               uint32_t i)
{
    const struct machine *machine = text->machine;
    return machine->memory[machine->threads[vector->threads[i]].base[vector->place->space] +
                           vector->place->offset];
}

const char *trace_vector(struct trace_text *text, const struct step_event *event)
{
    struct trace_vector vector;
    if (!trace_vector_see(text, event, &vector))
        return NULL;
    const char *list = "";
    for (uint32_t i = 0; i < vector.count && i < COMPONENTS_SHOWN; i++)
        list = arena_printf(text->arena, "%s%s%" PRId32, list, i ? ", " : "",
                            trace_vector_component(text, &vector, i));
    return arena_printf(text->arena, "%s = <%s%s>", vector.name, list,
                        vector.count > COMPONENTS_SHOWN ? ", ..." : "");
}

void trace_vector_json(struct trace_text *text, struct json *json, const struct step_event *event)
{
    struct trace_vector vector;
    json_key(json, "vector");
    if (!trace_vector_see(text, event, &vector)) {
        json_null(json);
        return;
    }
    json_object_begin(json);
    json_key_string(json, "variable", vector.name);
    json_key_array_begin(json, "values");
    for (uint32_t i = 0; i < vector.count; i++)
        json_int(json, trace_vector_component(text, &vector, i));
    json_array_end(json);
    json_object_end(json);
}
