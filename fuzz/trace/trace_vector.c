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

static int32_t component(const struct trace_text *text, const struct code_place *place,
                         uint32_t thread)
{
    const struct machine *machine = text->machine;
    return machine->memory[machine->threads[thread].base[place->space] + place->offset];
}

const char *trace_vector(struct trace_text *text, const struct step_event *event)
{
    const struct code_place *place = vector_place(text, event);
    const uint32_t *threads;
    if (!place)
        return NULL;
    uint32_t count = lockstep_threads(text->machine, event->actor, &threads);
    const char *list = "";
    for (uint32_t i = 0; i < count && i < COMPONENTS_SHOWN; i++)
        list = arena_printf(text->arena, "%s%s%" PRId32, list, i ? ", " : "",
                            component(text, place, threads[i]));
    return arena_printf(text->arena, "%s = <%s%s>", vector_name(text, event->stm), list,
                        count > COMPONENTS_SHOWN ? ", ..." : "");
}

void trace_vector_json(struct trace_text *text, struct json *json, const struct step_event *event)
{
    const struct code_place *place = vector_place(text, event);
    const uint32_t *threads;
    uint32_t count = lockstep_threads(text->machine, event->actor, &threads);
    json_key(json, "vector");
    if (!place) {
        json_null(json);
        return;
    }
    json_object_begin(json);
    json_key_string(json, "variable", vector_name(text, event->stm));
    json_key(json, "values");
    json_array_begin(json);
    for (uint32_t i = 0; i < count; i++)
        json_int(json, component(text, place, threads[i]));
    json_array_end(json);
    json_object_end(json);
}
