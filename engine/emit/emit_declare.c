/*
 * emit_declare.c - what texts declare: variables, the struct that functions reach, constant arrays, memory.
 */
#include "engine/emit/emit_internal.h"

#include <string.h>

/* Before the names of variables of the file: kernels of one text share these names where nothing else keeps them
 * apart. */
static const char *file_prefix(const struct emitter *e)
{
    return e->dialect->is_wgsl ? arena_printf(e->arena, "k%u_v_", (unsigned)e->number) : "v_";
}

static const char *self(const struct emitter *e)
{
    return e->dialect->has_pointers ? "p->" : arena_printf(e->arena, "k%u_p.", (unsigned)e->number);
}

const char *emit_ended(const struct emitter *e)
{
    return arena_printf(e->arena, "%sended", self(e));
}

const char *emit_memory(const struct emitter *e)
{
    return e->dialect->is_wgsl ? arena_printf(e->arena, "k%u_mem", (unsigned)e->number) : "mem";
}

void emit_var(struct emitter *e, const struct ast_var *var)
{
    if (!emit_is_file_level(var)) {
        text_format(e->out, "l_%s", var->name);
        return;
    }
    const struct emit_place *place = emit_place_of(e, var);
    if (place->is_table)
        text_format(e->out, "k%u_c_%s", (unsigned)e->number, var->name);
    else if (emit_is_struct_member(e, place))
        text_format(e->out, "%sv_%s", self(e), var->name);
    else
        text_format(e->out, "%s%s", file_prefix(e), var->name);
}

void emit_number(struct emitter *e, int32_t value)
{
    if (value == INT32_MIN)
        text_put(e->out, "(-2147483647 - 1)");
    else
        text_format(e->out, "%d", (int)value);
}

/* `head` stands before the name where types stand behind it: "var ", "var<private> ". */
static void put_typed(struct emitter *e, const char *head, const char *name, const char *type,
                      const struct ast_var *var)
{
    const char *length = var->is_array ? arena_printf(e->arena, "%u", (unsigned)var->length) : NULL;
    if (e->dialect->is_wgsl && length)
        text_format(e->out, "%s%s: array<%s, %s>", head, name, type, length);
    else if (e->dialect->is_wgsl)
        text_format(e->out, "%s%s: %s", head, name, type);
    else if (length)
        text_format(e->out, "%s %s[%s]", type, name, length);
    else
        text_format(e->out, "%s %s", type, name);
}

static void put_named(struct emitter *e, const struct ast_var *var, const char *head,
                      const char *prefix)
{
    put_typed(e, head, arena_printf(e->arena, "%s%s", prefix, var->name),
              e->dialect->types[emit_type_of(e, var)], var);
}

void emit_local(struct emitter *e, const struct ast_var *var)
{
    put_named(e, var, "var ", emit_is_file_level(var) ? file_prefix(e) : "l_");
}

void emit_parameter(struct emitter *e, const struct ast_var *var)
{
    put_named(e, var, "", e->dialect->is_wgsl ? "a_" : "l_");
}

/* A private variable that functions reach by its name. */
bool emit_is_of_file(const struct emitter *e, const struct emit_place *place)
{
    return !e->dialect->has_pointers && place->var->space == SPACE_PRIVATE && place->carried &&
           !emit_is_struct_member(e, place);
}

static void put_member(struct emitter *e, const struct ast_var *var)
{
    text_put(e->out, "    ");
    put_named(e, var, "", "v_");
    text_put(e->out, e->dialect->is_wgsl ? ",\n" : ";\n");
}

void emit_struct(struct emitter *e)
{
    const unsigned number = e->number;
    if (!e->has_members)
        return;
    text_format(e->out, "struct k%u_private {\n    %s\n", number,
                e->dialect->is_wgsl ? "ended: i32," : "int ended;");
    for (uint32_t i = 0; i < e->place_count; i++)
        if (emit_is_struct_member(e, &e->places[i]))
            put_member(e, e->places[i].var);
    text_put(e->out, e->dialect->is_wgsl ? "}\n" : "};\n");
    if (e->dialect->is_wgsl)
        text_format(e->out, "var<private> k%u_p: k%u_private;\n", number, number);
    else
        text_put(e->out, e->dialect->has_pointers
                             ? "\n"
                             : arena_printf(e->arena, "k%u_private k%u_p;\n", number, number));
}

static void put_table(struct emitter *e, const struct emit_place *place)
{
    const unsigned number = e->number, length = place->var->length;
    const char *name = place->var->name;
    bool braces = e->dialect->has_pointers;
    if (e->dialect->is_wgsl)
        text_format(e->out, "const k%u_c_%s = array<i32, %u>(", number, name, length);
    else
        text_format(e->out, "%sint k%u_c_%s[%u] = ", e->dialect->table, number, name, length);
    if (!e->dialect->is_wgsl)
        text_put(e->out, braces ? "{" : arena_printf(e->arena, "int[%u](", length));
    for (uint32_t w = 0; w < length; w++) {
        text_put(e->out, w ? ", " : "");
        emit_number(e, e->initial[place->offset + w]);
    }
    text_put(e->out, braces ? "};\n" : ");\n");
}

void emit_tables(struct emitter *e)
{
    for (uint32_t i = 0; i < e->place_count; i++)
        if (e->places[i].is_table)
            put_table(e, &e->places[i]);
}

void emit_pointer(struct emitter *e, const struct emit_place *place, bool declared)
{
    if (declared)
        text_format(e->out, "%sint *",
                    emit_lies_in_shared(e, place->var) ? e->dialect->shared : e->dialect->global);
    text_format(e->out, "v_%s", place->var->name);
}

void emit_memory_pointers(struct emitter *e)
{
    for (uint32_t i = 0; i < e->place_count; i++) {
        const struct emit_place *place = &e->places[i];
        const struct ast_var *var = place->var;
        if (var->space == SPACE_PRIVATE || place->is_table || !e->dialect->has_pointers)
            continue;
        emit_line(e);
        if (emit_lies_in_shared(e, var)) {
            text_format(e->out, "%sint v_%s[%u];", e->dialect->shared_variable, var->name,
                        (unsigned)var->length);
            continue;
        }
        emit_pointer(e, place, true);
        if (var->space == SPACE_GLOBAL)
            text_format(e->out, " = mem + %u;", (unsigned)place->offset);
        else
            text_format(e->out, " = mem + %uu + %s * %uu;",
                        (unsigned)(e->global_words + place->offset), e->dialect->block_uint,
                        (unsigned)e->shared_words);
    }
}

/* ---- the head of a kernel's text ---- */

void emit_kernel_head(struct emitter *e)
{
    const struct emit_dialect *d = e->dialect;
    if (emit_has(e, EMIT_KNOB_FIXED_SIZE)) {
        const char *number = strstr(d->fixed_size, "%u");
        text_format(e->out, "%.*s%u%s", (int)(number - d->fixed_size), d->fixed_size,
                    (unsigned)e->kernel->launch.threads, number + 2);
    } else if (d->is_wgsl) {
        text_format(e->out, "@compute @workgroup_size(k%u_threads)\n", (unsigned)e->number);
    } else {
        text_put(e->out, d->kernel_head);
    }
}

/* A shared variable has words that atomics take if some atomic does; of the buffer all words are such then. */
static void put_file_variable(struct emitter *e, const struct emit_place *place)
{
    const struct ast_var *var = place->var;
    const bool is_wgsl = e->dialect->is_wgsl;
    if (emit_lies_in_shared(e, var) && is_wgsl)
        text_format(e->out, "var<workgroup> %s%s: array<%s, %u>;\n", file_prefix(e), var->name,
                    emit_is_atomic(e, var) ? "atomic<i32>" : "i32", (unsigned)var->length);
    else if (emit_lies_in_shared(e, var))
        text_format(e->out, "%sint v_%s[%u];\n", e->dialect->shared_variable, var->name,
                    (unsigned)var->length);
    if (!emit_is_of_file(e, place))
        return;
    put_named(e, var, "var<private> ", file_prefix(e));
    text_put(e->out, ";\n");
}

/* Memory is coherent only if threads see what others wrote: otherwise loads may be moved and kept. */
static void put_buffer(struct emitter *e)
{
    const bool coherent = e->talks || (e->shared_words && !emit_has_shared(e));
    const unsigned number = e->number;
    if (e->dialect->is_wgsl) {
        text_format(e->out, "@group(0) @binding(0) var<storage, read_write> k%u_mem: array<%s>;\n",
                    number, e->atomic_memory ? "atomic<i32>" : "i32");
        if (!emit_has(e, EMIT_KNOB_FIXED_SIZE))
            text_format(e->out, "override k%u_threads: u32 = %uu;\n", number,
                        (unsigned)e->kernel->launch.threads);
        return;
    }
    text_format(e->out, "#if SF_KERNEL == %u\n", number);
    emit_kernel_head(e);
    text_format(e->out, "\nlayout(set = 0, binding = 0, std430) %sbuffer Memory { int mem[]; };\n",
                coherent ? "coherent " : "");
}

void emit_file_head(struct emitter *e)
{
    put_buffer(e);
    for (uint32_t i = 0; i < e->place_count; i++)
        put_file_variable(e, &e->places[i]);
}
