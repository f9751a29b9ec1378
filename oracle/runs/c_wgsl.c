/*
 * c_wgsl.c - what WGSL has in place of C's: names stand before types, a loop has its condition at its end, and
 * addresses are taken of variables of the file.
 */
#include "oracle/runs/c_internal.h"

#include <stdlib.h>

/* i32, array<atomic<i32>, 4>, ptr<private, i32>; *count 0: an array whose length is not said. */
static bool read_type(struct c_run *c, enum c_type *type, uint32_t *count)
{
    const bool is_array = c_accept(c, "array");
    if (is_array)
        c_expect(c, "<");
    const bool is_pointer = c_accept(c, "ptr");
    c->of_atomics = c_accept(c, "atomic");
    if (is_pointer || c->of_atomics)
        c_expect(c, "<");
    if (is_pointer) {
        c_expect(c, "private");
        c_expect(c, ",");
    }
    *count = !is_array;
    if (!c_read_type(c, type))
        c_fail(c, arena_printf(c->arena, "what type is '%.30s'", c->token));
    while (c_accept(c, ">") || c_accept(c, ">>"))
        continue;
    if (is_array && c_accept(c, ",")) {
        *count = (uint32_t)strtoul(c->token, NULL, 10);
        c_next(c);
        c_expect(c, ">");
    }
    return is_pointer;
}

bool c_wgsl_parameter(struct c_run *c, const char **name, uint32_t *length, enum c_type *type,
                      bool *is_pointer)
{
    uint32_t count;
    *name = c->token;
    *length = c->length;
    c_next(c);
    c_expect(c, ":");
    *is_pointer = read_type(c, type, &count);
    return c->signal == C_ON;
}

/* ---- variables ---- */

/* name = value; the type is that of the value, or is said: name: type = value. `space`: what is between < and >. */
static void variable(struct c_run *c, const char *space)
{
    const char *name = c->token;
    const uint32_t length = c->length;
    enum c_type type = C_VOID;
    uint32_t count = 1;
    c_next(c);
    c->of_atomics = false;
    if (c_accept(c, ":")) {
        if (c->member_count > 0 && c_at(c, "k0_private")) {
            c_next(c);
            const char *end = c->token;
            c_go(c, name);
            c_name_members(c);
            c_go(c, end);
            return;
        }
        read_type(c, &type, &count);
    }
    const bool of_atomics = c->of_atomics;
    if (*space == 's') { /* storage: there is one such */
        c->variables[0].object->of_atomics = of_atomics;
        c_declare(c, name, length, c->variables[0].object)->is_pointer = true;
        return;
    }
    struct c_value value = {.unset = true};
    const bool has_value = c_accept(c, "=");
    if (has_value)
        value = type == C_VOID ? c_expression(c) : c_taken_as(c, c_expression(c), type);
    struct c_object *object = c_new_object(c, type == C_VOID ? value.type : type, count);
    if (has_value)
        object->cells[0] = value;
    object->of_block = *space == 'w';
    object->of_thread = *space == 'p';
    object->of_atomics = of_atomics;
    struct c_variable *var = c_declare(c, name, length, object);
    if (var)
        var->is_pointer = count > 1;
}

/* const k0_c_x = array<i32, 2>(1, 2); */
static void table(struct c_run *c)
{
    const char *name = c->token;
    const uint32_t length = c->length;
    enum c_type type = C_INT;
    uint32_t count;
    c_next(c);
    c_expect(c, "=");
    read_type(c, &type, &count);
    c_expect(c, "(");
    struct c_object *object = c_new_object(c, type, count);
    for (uint32_t i = 0; i < count && c->signal == C_ON; i++) {
        object->cells[i] = c_taken_as(c, c_expression(c), type);
        if (i + 1 < count)
            c_expect(c, ",");
    }
    c_expect(c, ")");
    c_declare(c, name, length, object)->is_pointer = true;
}

/* name { member: type, .. } */
static void read_struct(struct c_run *c)
{
    c_next(c);
    c_expect(c, "{");
    while (!c_at(c, "}") && c->signal == C_ON) {
        const char *name;
        const uint32_t length = c->length;
        enum c_type type;
        uint32_t count;
        name = c->token;
        c_next(c);
        c_expect(c, ":");
        read_type(c, &type, &count);
        c_add_member(c, name, length, c_new_object(c, type, count));
        c_expect(c, ",");
    }
    c_expect(c, "}");
}

/* fn name(..) -> type { .. } */
static void function(struct c_run *c)
{
    uint32_t count;
    struct c_function f = {.name = c->token, .length = c->length, .type = C_VOID};
    c_next(c);
    f.parameters = c->at;
    c_skip_group(c);
    if (c_accept(c, "-")) {
        c_expect(c, ">");
        read_type(c, &f.type, &count);
    }
    f.body = c->at;
    c_skip_group(c);
    c_add_function(c, f);
}

void c_wgsl_item(struct c_run *c)
{
    const char *space = "";
    while (c_accept(c, "@")) {
        c_next(c);
        if (c_at(c, "("))
            c_skip_group(c);
    }
    if (c_accept(c, "fn")) {
        function(c);
        return;
    }
    if (c_accept(c, "struct")) {
        read_struct(c);
        return;
    }
    if (c_at(c, "enable") || c_at(c, "diagnostic")) {
        c_skip_statement(c);
        return;
    }
    if (c_accept(c, "const")) {
        table(c);
    } else if (c_accept(c, "var") || c_accept(c, "override")) {
        if (c_accept(c, "<")) {
            space = c->token;
            while (!c_accept(c, ">") && c->length > 0)
                c_next(c);
        }
        variable(c, space);
    } else {
        c_fail(c, arena_printf(c->arena, "what is '%.30s'", c->token));
    }
    c_expect(c, ";");
}

/* ---- statements ---- */

/* { .. continuing { break if (condition); } }, behind `loop`: whoever goes on to the next turn comes to its end. */
static void loop(struct c_run *c)
{
    const char *body = c->token;
    bool on = true;
    while (on) {
        c_go(c, body);
        c_expect(c, "{");
        c_block(c);
        on = c_goes_on(c);
        if (!on)
            break;
        c_go(c, body);
        c_next(c);
        while (!c_at(c, "continuing") && c->length > 0)
            c_skip_statement(c);
        c_next(c);
        c_expect(c, "{");
        c_expect(c, "break");
        c_expect(c, "if");
        on = !c_truth(c);
        c_expect(c, ";");
        c_expect(c, "}");
        c_expect(c, "}");
    }
    c_go(c, body);
    c_skip_group(c);
    c_leave_loop(c);
}

bool c_wgsl_statement(struct c_run *c)
{
    if (c_accept(c, "continuing")) { /* the loop's business */
        c_skip_group(c);
    } else if (c_accept(c, "loop")) {
        loop(c);
    } else if (c_accept(c, "var") || c_accept(c, "let")) {
        variable(c, "");
        c_expect(c, ";");
    } else {
        return false;
    }
    return true;
}
