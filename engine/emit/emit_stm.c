/*
 * emit_stm.c - statements. Those of the kernel's language are C's, so most go over as they are.
 */
#include "engine/emit/emit_internal.h"

#include "engine/language/walk.h"

static void put_statement(struct emitter *e, const struct ast_stm *stm);

static bool is_visible(const struct ast_var *var)
{
    return var->space == SPACE_GLOBAL || var->space == SPACE_SHARED;
}

static enum emit_type target_type(const struct emitter *e, const struct ast_lvalue *target)
{
    return emit_type_of(e, target->var);
}

/* Up to the value that is stored; what stands behind that. */
static const char *put_target(struct emitter *e, const struct ast_lvalue *target)
{
    bool is_atomic = emit_is_atomic(e, target->var);
    text_put(e->out, is_atomic ? "atomicStore(&" : "");
    emit_lvalue(e, target);
    text_put(e->out, is_atomic ? ", " : " = ");
    return is_atomic ? ")" : "";
}

/* x op= v is x = x op v: nothing in an index has an effect. */
static void put_assignment(struct emitter *e, const struct ast_stm *stm)
{
    const char *end = put_target(e, &stm->target);
    emit_value(e, ast_assigned_value(e->arena, stm), target_type(e, &stm->target));
    text_put(e->out, end);
}

void emit_leave(struct emitter *e)
{
    bool is_inline = e->is_body && !emit_has(e, EMIT_KNOB_OUTLINED);
    if (is_inline && e->dialect->has_pointers)
        text_format(e->out, "goto k%u_end;", (unsigned)e->number);
    else
        text_put(e->out, e->function->returns_int ? "return 0;" : "return;");
}

static void put_call(struct emitter *e, const struct ast_stm *stm)
{
    text_format(e->out, "k%u_%s(", (unsigned)e->number, stm->function->name);
    bool some = emit_context(e, false);
    for (const struct ast_expr *a = stm->arguments; a; a = a->next) {
        text_put(e->out, some ? ", " : "");
        emit_expr(e, a, TYPE_INT);
        some = true;
    }
    text_put(e->out, ")");
}

/* The value is taken only if the thread goes on. */
static void put_call_statement(struct emitter *e, const struct ast_stm *stm)
{
    bool keeps = stm->target.var != NULL;
    bool is_wgsl = e->dialect->is_wgsl;
    text_put(e->out, !keeps ? "" : is_wgsl ? "{ let sf_value = " : "{ int sf_value = ");
    put_call(e, stm);
    text_put(e->out, ";");
    if (stm->function->mark) {
        text_format(e->out, " if (%s%s) %s", emit_ended(e), e->dialect->has_pointers ? "" : " != 0",
                    is_wgsl ? "{ " : "");
        emit_leave(e);
        text_put(e->out, is_wgsl ? " }" : "");
    }
    if (!keeps)
        return;
    enum emit_type type = target_type(e, &stm->target);
    text_put(e->out, " ");
    const char *end = put_target(e, &stm->target);
    text_format(e->out, "%s(sf_value)%s; }", e->dialect->casts[type], end);
}

static void put_atomic(struct emitter *e, const struct ast_stm *stm)
{
    const struct emit_dialect *d = e->dialect;
    const char *name = d->atomics[stm->atomic], *end = "";
    if (!name) {
        emit_refuse(e, "%s has no '%s' that never fails, at line %u", d->name,
                    ast_atomic_names[stm->atomic], (unsigned)stm->at.line);
        return;
    }
    if (stm->target.var) {
        end = put_target(e, &stm->target);
        text_format(e->out, "%s(", d->casts[target_type(e, &stm->target)]);
    }
    text_format(e->out, "%s(%s", name, d->has_pointers || d->is_wgsl ? "&" : "");
    emit_lvalue(e, &stm->place);
    for (const struct ast_expr *a = stm->arguments; a; a = a->next) {
        text_put(e->out, ", ");
        emit_expr(e, a, TYPE_INT);
    }
    text_format(e->out, "%s%s;", stm->target.var ? "))" : ")", end);
}

static void put_nested(struct emitter *e, const struct ast_stm *list)
{
    text_put(e->out, " {");
    e->indent++;
    emit_statements(e, list);
    e->indent--;
    emit_line(e);
    text_put(e->out, "}");
}

/* The one statement of a branch or loop. */
static void put_body(struct emitter *e, const struct ast_stm *stm)
{
    put_nested(e, stm && stm->kind == STM_BLOCK && !stm->next ? stm->body : stm);
}

static void put_if(struct emitter *e, const struct ast_stm *stm)
{
    text_put(e->out, "if (");
    emit_condition(e, stm->value);
    text_put(e->out, ")");
    put_body(e, stm->body);
    if (!stm->other)
        return;
    text_put(e->out, " else");
    put_body(e, stm->other);
}

static void put_while(struct emitter *e, const struct ast_stm *stm)
{
    text_put(e->out, "while (");
    emit_condition(e, stm->value);
    text_put(e->out, ")");
    put_body(e, stm->body);
}

/* WGSL's loop without a condition before it. */
static void put_loop(struct emitter *e, const struct ast_stm *stm)
{
    text_put(e->out, "loop {");
    e->indent++;
    emit_statements(e, stm->body);
    emit_line(e);
    text_put(e->out, "continuing {");
    e->indent++;
    emit_line(e);
    text_put(e->out, "break if (!");
    emit_condition(e, stm->value);
    text_put(e->out, ");");
    e->indent--;
    emit_line(e);
    text_put(e->out, "}");
    e->indent--;
    emit_line(e);
    text_put(e->out, "}");
}

static void put_do(struct emitter *e, const struct ast_stm *stm)
{
    if (e->dialect->is_wgsl) {
        put_loop(e, stm);
        return;
    }
    text_put(e->out, "do");
    put_body(e, stm->body);
    text_put(e->out, " while (");
    emit_condition(e, stm->value);
    text_put(e->out, ");");
}

/* A part of a for's head. */
static void put_simple(struct emitter *e, const struct ast_stm *stm)
{
    if (!stm || stm->kind == STM_SKIP)
        return;
    if (stm->kind == STM_ASSIGN)
        put_assignment(e, stm);
    else
        emit_refuse(e, "%s has no '%s' in the head of a for, at line %u", e->dialect->name,
                    ast_stm_names[stm->kind], (unsigned)stm->at.line);
}

static void put_for(struct emitter *e, const struct ast_stm *stm)
{
    text_put(e->out, "for (");
    put_simple(e, stm->init);
    text_put(e->out, "; ");
    if (stm->value)
        emit_condition(e, stm->value);
    text_put(e->out, "; ");
    put_simple(e, stm->step);
    text_put(e->out, ")");
    put_body(e, stm->body);
}

static void put_case_label(struct emitter *e, const struct ast_case *c)
{
    emit_line(e);
    if (c->is_default)
        text_put(e->out, "default:");
    else if (c->value == INT32_MIN)
        text_put(e->out, "case (-2147483647 - 1):");
    else
        text_format(e->out, "case %d:", (int)c->value);
}

/* Where no case falls through, each has the statements of those behind it, too, up to a jump. */
static void put_whole_case(struct emitter *e, const struct ast_case *c)
{
    enum { MOST = 1 << 18 };
    put_case_label(e, c);
    text_put(e->out, " {");
    e->indent++;
    for (; c; c = c->next) {
        const struct ast_stm *last = c->body;
        emit_statements(e, c->body);
        while (last && last->next)
            last = last->next;
        if (last && ast_is(last, STM_JUMP))
            break;
    }
    e->indent--;
    emit_line(e);
    text_put(e->out, "}");
    if (e->out->length > MOST)
        emit_refuse(e, "%s has no cases that fall through, and this kernel has too many",
                    e->dialect->name);
}

static void put_whole_cases(struct emitter *e, const struct ast_stm *stm)
{
    bool has_default = false;
    for (const struct ast_case *c = stm->cases; c && !e->reason; c = c->next) {
        has_default |= c->is_default;
        put_whole_case(e, c);
    }
    if (has_default)
        return;
    emit_line(e);
    text_put(e->out, "default: {}");
}

/* The last case wants a statement. */
static void put_cases(struct emitter *e, const struct ast_stm *stm)
{
    for (const struct ast_case *c = stm->cases; c; c = c->next) {
        put_case_label(e, c);
        e->indent++;
        emit_statements(e, c->body);
        if (!c->body) {
            emit_line(e);
            text_put(e->out, ";");
        }
        e->indent--;
    }
}

static void put_switch(struct emitter *e, const struct ast_stm *stm)
{
    text_put(e->out, "switch (");
    emit_expr(e, stm->value, TYPE_INT);
    if (emit_has(e, EMIT_KNOB_OPAQUE_SWITCHES)) {
        text_put(e->out, " ^ ");
        emit_zero(e, ZERO_OF_SWITCHES);
    }
    text_put(e->out, ") {");
    if (e->dialect->is_wgsl)
        put_whole_cases(e, stm);
    else
        put_cases(e, stm);
    emit_line(e);
    text_put(e->out, "}");
}

static void put_return(struct emitter *e, const struct ast_stm *stm)
{
    if (e->is_body || !stm->value) {
        emit_leave(e);
        return;
    }
    text_put(e->out, "return ");
    emit_expr(e, stm->value, TYPE_INT);
    text_put(e->out, ";");
}

static void put_exit(struct emitter *e)
{
    if (!e->is_body)
        text_format(e->out, "%s = 1; ", emit_ended(e));
    emit_leave(e);
}

/* A guard of the block form stands in no structured kernel. */
static void put_statement(struct emitter *e, const struct ast_stm *stm)
{
    switch (stm->kind) {
    case STM_SKIP:
    case STM_ASSERT: /* of a valid kernel it holds */
        text_put(e->out, ";");
        return;
    case STM_ASSIGN:
        put_assignment(e, stm);
        text_put(e->out, ";");
        return;
    case STM_CALL:
        put_call_statement(e, stm);
        return;
    case STM_BLOCK:
        put_nested(e, stm->body);
        return;
    case STM_IF:
        put_if(e, stm);
        return;
    case STM_WHILE:
        put_while(e, stm);
        return;
    case STM_DO:
        put_do(e, stm);
        return;
    case STM_FOR:
        put_for(e, stm);
        return;
    case STM_SWITCH:
        put_switch(e, stm);
        return;
    case STM_BREAK:
    case STM_CONTINUE:
        text_format(e->out, "%s;", ast_stm_names[stm->kind]);
        return;
    case STM_RETURN:
        put_return(e, stm);
        return;
    case STM_EXIT:
        put_exit(e);
        return;
    case STM_BARRIER:
        text_format(e->out, "%s;", e->dialect->barrier);
        return;
    case STM_MEMBAR:
        text_format(e->out, "%s;", e->dialect->fence);
        return;
    case STM_ATOMIC:
        if (!is_visible(stm->place.var))
            break;
        put_atomic(e, stm);
        return;
    case STM_ASSUME: /* of a block: who goes there was asked */
        if (e->kernel->form != FORM_BLOCKS)
            break;
        text_put(e->out, ";");
        return;
    case STM_SYNC:
    case STM_ARRIVE:
    case STM_VOTE:
    case STM_HAVOC:
    case STM_PICK:
    case STM_LOCKSYNC:
    case STM_KIND_COUNT:
        break;
    }
    emit_refuse(e, "%s has no '%s', at line %u", e->dialect->name, ast_stm_names[stm->kind],
                (unsigned)stm->at.line);
}

void emit_statements(struct emitter *e, const struct ast_stm *list)
{
    for (; list; list = list->next) {
        emit_line(e);
        put_statement(e, list);
    }
}
