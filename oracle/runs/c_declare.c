/*
 * c_declare.c - types and variables of C, OpenCL C, CUDA C and GLSL.
 */
#include "oracle/runs/c_internal.h"

#include <string.h>

/* ---- types and variables ---- */

bool c_accept_qualifier(struct c_run *c)
{
    if (!strchr("_cseiu\"", *c->token))
        return false;
    static const char *const words[] = {"const",    "static",     "extern",          "\"C\"",
                                        "inline",   "__device__", "__shared__",      "__constant__",
                                        "__global", "__local",    "__constant",      "__noinline__",
                                        "__kernel", "shared",     "__forceinline__", "__global__"};
    c->declares_shared |= c_at(c, "__shared__") || c_at(c, "__local") || c_at(c, "shared");
    for (uint32_t i = 0; i < sizeof words / sizeof *words; i++)
        if (c_accept(c, words[i]))
            return true;
    if (!c_at(c, "__attribute__") && !c_at(c, "__launch_bounds__"))
        return false;
    c_next(c);
    c_skip_group(c);
    return true;
}

bool c_read_type(struct c_run *c, enum c_type *type)
{
    static const struct {
        const char *name;
        enum c_type type;
    } types[] = {{"int", C_INT},      {"uint", C_UINT},      {"long", C_LONG},
                 {"ulong", C_ULONG},  {"float", C_FLOAT},    {"short", C_SHORT},
                 {"void", C_VOID},    {"ushort", C_USHORT},  {"uchar", C_UCHAR},
                 {"int64_t", C_LONG}, {"uint64_t", C_ULONG}, {"bool", C_BOOL},
                 {"i32", C_INT},      {"u32", C_UINT},       {"f32", C_FLOAT}};
    bool some = false;
    c->declares_shared = false;
    if (!strchr("_cseiulfvb\"", *c->token)) /* what types and qualifiers begin with */
        return false;
    while (c_accept_qualifier(c))
        continue;
    const bool is_unsigned = c_accept(c, "unsigned");
    for (uint32_t i = 0; i < sizeof types / sizeof *types && !some; i++)
        if (c_accept(c, types[i].name)) {
            *type = types[i].type;
            some = true;
        }
    if (some && *type == C_LONG)
        c_accept(c, "long");
    if (is_unsigned)
        *type = *type == C_LONG ? C_ULONG : C_UINT;
    return some;
}

static struct c_variable *find_between(struct c_run *c, uint32_t first, uint32_t end)
{
    for (uint32_t i = end; i > first; i--)
        if (c->variables[i - 1].length == c->length &&
            memcmp(c->variables[i - 1].name, c->token, c->length) == 0)
            return &c->variables[i - 1];
    return NULL;
}

struct c_variable *c_find(struct c_run *c)
{
    const bool is_member =
        memchr(c->token, '.', c->length) || (c->length > 3 && c->token[1] == '-');
    for (uint32_t i = 0; i < c->member_count && is_member; i++)
        if (c_is_text(c->token, c->length, c->members[i].name))
            return &c->members[i];
    struct c_variable *var = find_between(c, c->frame, c->count);
    return var ? var : find_between(c, 0, c->file_count);
}

struct c_object *c_new_object(struct c_run *c, enum c_type type, uint32_t count)
{
    struct c_object *object = ARENA_NEW(c->arena, struct c_object);
    *object = (struct c_object){
        .type = type, .cells = ARENA_ARRAY(c->arena, struct c_value, count), .count = count};
    c_unset(object);
    return object;
}

void c_unset(struct c_object *object)
{
    for (uint32_t i = 0; i < object->count; i++)
        object->cells[i] = (struct c_value){.type = object->type, .unset = true};
}

/* That of a block is declared by each of its threads. */
static struct c_object *shared_object(struct c_run *c, const char *name, uint32_t length,
                                      enum c_type type, uint32_t count)
{
    for (uint32_t i = 0; i < c->shared_count; i++)
        if (c->shared[i].length == length && memcmp(c->shared[i].name, name, length) == 0)
            return c->shared[i].object;
    struct c_object *object = c_new_object(c, type, count);
    object->of_block = true;
    if (c->file_count == 0)
        return object;
    if (c->shared_count == C_SHARED)
        c_fail(c, "too many shared variables");
    else
        c->shared[c->shared_count++] =
            (struct c_variable){.name = name, .length = length, .object = object};
    return object;
}

struct c_variable *c_declare(struct c_run *c, const char *name, uint32_t length,
                             struct c_object *object)
{
    if (c->count == C_VARIABLES) {
        c_fail(c, "too many variables");
        return NULL;
    }
    struct c_variable *var = &c->variables[c->count++];
    *var = (struct c_variable){.name = name, .length = length, .object = object};
    return var;
}

/* A pointer: name = other + offset. */
static void declare_pointer(struct c_run *c)
{
    const char *name = c->token;
    uint32_t length = c->length;
    c_next(c);
    c_expect(c, "=");
    const struct c_variable *other = c_find(c);
    if (!other) {
        c_fail(c, "a pointer to nothing");
        return;
    }
    c_next(c);
    c_expect(c, "+");
    int64_t offset = c_expression(c).i;
    struct c_variable *var = c_declare(c, name, length, other->object);
    if (var) {
        var->first = other->first + offset;
        var->is_pointer = true;
    }
}

/* name, name[n], with what it holds at first. */
static void declare_variable(struct c_run *c, enum c_type type)
{
    const char *name = c->token;
    uint32_t length = c->length, count = 1;
    const bool is_shared = c->declares_shared;
    c_next(c);
    bool is_array = c_accept(c, "[");
    if (is_array) {
        count = (uint32_t)c_expression(c).i;
        c_expect(c, "]");
    }
    struct c_object *object =
        is_shared ? shared_object(c, name, length, type, count) : c_new_object(c, type, count);
    struct c_variable *var = c_declare(c, name, length, object);
    if (var)
        var->is_pointer = is_array;
    object->of_thread = c->file_count == 0 && !is_shared && !c_at(c, "=");
    if (!c_accept(c, "="))
        return;
    if (is_array && c_read_type(c, &type)) { /* GLSL: int[2](1, 2) */
        c_accept(c, "[");
        c_next(c);
        c_accept(c, "]");
    }
    bool braces = c_accept(c, "{") || (is_array && c_accept(c, "("));
    for (uint32_t i = 0; i < count; i++) {
        object->cells[i] = c_taken_as(c, c_expression(c), type);
        if (braces)
            c_accept(c, ",");
    }
    if (braces)
        c_next(c);
}

/* type name[, name]; `struct k0_private self, *p = &self;` has been told of by its members. */
void c_declaration(struct c_run *c, enum c_type type)
{
    do {
        if (c_accept(c, "*"))
            declare_pointer(c);
        else
            declare_variable(c, type);
    } while (c_accept(c, ",") && c->signal == C_ON);
    c_expect(c, ";");
}

/* ---- the one struct ---- */

void c_add_member(struct c_run *c, const char *name, uint32_t length, struct c_object *object)
{
    if (c->member_count < C_VARIABLES / 4)
        c->members[c->member_count++] =
            (struct c_variable){.name = arena_printf(c->arena, "p->%.*s", (int)length, name),
                                .object = object,
                                .is_pointer = object->count > 1};
    else
        c_fail(c, "too many members");
}

void c_name_members(struct c_run *c)
{
    for (uint32_t i = 0; i < c->member_count; i++)
        c->members[i].name = arena_printf(c->arena, "%.*s.%s", (int)c->length, c->token,
                                          c->members[i].name + strlen("p->"));
    c_next(c);
}

/* name { type member; .. }; */
void c_read_struct(struct c_run *c)
{
    enum c_type type;
    c_next(c);
    c_expect(c, "{");
    while (c_read_type(c, &type) && c->signal == C_ON) {
        declare_variable(c, type);
        const struct c_variable *var = &c->variables[--c->count];
        c_add_member(c, var->name, var->length, var->object);
        c_expect(c, ";");
    }
    c_expect(c, "}");
    c_expect(c, ";");
}
