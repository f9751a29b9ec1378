#include "engine/language/print.h"

#include "engine/base/invariant.h"
#include "engine/base/text.h"

#include <string.h>

/* Deeper lines are not indented further: the text stays linear in the size of the tree. */
enum { INDENT_WIDTH = 4, INDENT_MAX = 20 };

struct out {
    struct text text;
    uint32_t indent;
};

static struct out out_begin(struct arena *arena)
{
    return (struct out){.text = text_begin(arena)};
}

static void put_bytes(struct out *out, const char *bytes, size_t count)
{
    text_put_bytes(&out->text, bytes, count);
}

static void put(struct out *out, const char *text)
{
    text_put(&out->text, text);
}

static void put_number(struct out *out, int64_t value)
{
    text_format(&out->text, "%lld", (long long)value);
}

static void put_seed(struct out *out, uint64_t seed)
{
    text_format(&out->text, "0x%llx", (unsigned long long)seed);
}

static void put_indent(struct out *out)
{
    static const char blanks[INDENT_WIDTH * INDENT_MAX + 1] = "                    "
                                                              "                    "
                                                              "                    "
                                                              "                    ";
    uint32_t levels = out->indent < INDENT_MAX ? out->indent : INDENT_MAX;
    put_bytes(out, blanks, (size_t)levels * INDENT_WIDTH);
}

/* ---- expressions ---- */

/* How tightly an expression binds: C's levels, loosest first. */
enum { LEVEL_COND, LEVEL_UNARY = 11, LEVEL_PRIMARY };

/* A negative literal is one unit wherever it stands: the parser folds `-` and a literal after it. */
static uint32_t level_of(const struct ast_expr *expr)
{
    switch (expr->kind) {
    case EXPR_COND:
        return LEVEL_COND;
    case EXPR_BINARY:
        return ast_binary_levels[expr->binary];
    case EXPR_UNARY:
        return LEVEL_UNARY;
    case EXPR_INT:
    case EXPR_VAR:
    case EXPR_INDEX:
    case EXPR_BUILTIN:
    case EXPR_ALL:
    case EXPR_ANY:
        break;
    }
    return LEVEL_PRIMARY;
}

static void put_expr(struct out *out, const struct ast_expr *expr);

/* An operand that must bind at least as tightly as `level`. */
static void put_operand(struct out *out, const struct ast_expr *expr, uint32_t level)
{
    bool parentheses = level_of(expr) < level;
    if (parentheses)
        put(out, "(");
    put_expr(out, expr);
    if (parentheses)
        put(out, ")");
}

/* `-` before a literal would fold into it, and `--` is one token. */
static void put_unary(struct out *out, const struct ast_expr *expr)
{
    static const char *const names[] = {
        [UNARY_NEG] = "-", [UNARY_NOT] = "!", [UNARY_COMPLEMENT] = "~"};
    put(out, names[expr->unary]);
    if (expr->unary == UNARY_NEG && expr->a->kind == EXPR_INT) {
        put(out, "(");
        put_expr(out, expr->a);
        put(out, ")");
        return;
    }
    if (expr->unary == UNARY_NEG && expr->a->kind == EXPR_UNARY && expr->a->unary == UNARY_NEG)
        put(out, " ");
    put_operand(out, expr->a, LEVEL_UNARY);
}

static void put_index(struct out *out, const struct ast_var *var, const struct ast_expr *index)
{
    put(out, var->name);
    if (!index)
        return;
    put(out, "[");
    put_expr(out, index);
    put(out, "]");
}

static void put_expr(struct out *out, const struct ast_expr *expr)
{
    switch (expr->kind) {
    case EXPR_INT:
        put_number(out, expr->value);
        break;
    case EXPR_VAR:
        put(out, expr->var->name);
        break;
    case EXPR_INDEX:
        put_index(out, expr->var, expr->a);
        break;
    case EXPR_BUILTIN:
        put(out, ast_builtin_names[expr->builtin]);
        break;
    case EXPR_UNARY:
        put_unary(out, expr);
        break;
    case EXPR_BINARY:
        put_operand(out, expr->a, ast_binary_levels[expr->binary]);
        put(out, " ");
        put(out, ast_binary_names[expr->binary]);
        put(out, " ");
        put_operand(out, expr->b, ast_binary_levels[expr->binary] + 1u);
        break;
    case EXPR_ALL:
    case EXPR_ANY:
        put(out, expr->kind == EXPR_ALL ? "all(" : "any(");
        put_expr(out, expr->a);
        put(out, ")");
        break;
    case EXPR_COND:
        put_operand(out, expr->a, LEVEL_COND + 1);
        put(out, " ? ");
        put_expr(out, expr->b);
        put(out, " : ");
        put_expr(out, expr->c);
        break;
    }
}

static void put_expr_list(struct out *out, const struct ast_expr *list)
{
    for (; list; list = list->next) {
        put_expr(out, list);
        if (list->next)
            put(out, ", ");
    }
}

/* ---- statements on one line ---- */

static void put_lvalue(struct out *out, const struct ast_lvalue *lvalue)
{
    put_index(out, lvalue->var, lvalue->index);
}

static void put_target(struct out *out, const struct ast_stm *stm)
{
    if (!stm->target.var)
        return;
    put_lvalue(out, &stm->target);
    put(out, " = ");
}

/* name(value) or name(value, second). */
static void put_operation(struct out *out, const char *name, const struct ast_stm *stm)
{
    put(out, name);
    put(out, "(");
    if (stm->value)
        put_expr(out, stm->value);
    if (stm->second) {
        put(out, ", ");
        put_expr(out, stm->second);
    }
    put(out, ")");
}

/* In- and out-parameters in the order of the declaration. */
static void put_arguments(struct out *out, const struct ast_stm *stm)
{
    const struct ast_expr *in = stm->arguments, *outs = stm->outs;
    const struct ast_var *parameter = stm->function->locals;
    while (in || outs) {
        bool is_out = !in || (outs && parameter && parameter->is_out);
        put_expr(out, is_out ? outs : in);
        if (is_out)
            outs = outs->next;
        else
            in = in->next;
        put(out, in || outs ? ", " : "");
        parameter = parameter ? parameter->next : NULL;
    }
}

static void put_call(struct out *out, const struct ast_stm *stm)
{
    put_target(out, stm);
    put(out, stm->function->name);
    put(out, "(");
    put_arguments(out, stm);
    put(out, ")");
}

static void put_atomic(struct out *out, const struct ast_stm *stm)
{
    put_target(out, stm);
    put(out, ast_atomic_names[stm->atomic]);
    put(out, "(");
    put_lvalue(out, &stm->place);
    if (stm->arguments)
        put(out, ", ");
    put_expr_list(out, stm->arguments);
    put(out, ")");
}

/* pick(target, k1 : e1, .., kn : en) */
static void put_pick(struct out *out, const struct ast_stm *stm)
{
    put(out, "pick(");
    put_lvalue(out, &stm->target);
    for (const struct ast_expr *e = stm->arguments; e; e = e->next->next) {
        put(out, ", ");
        put_expr(out, e);
        put(out, " : ");
        put_expr(out, e->next);
    }
    put(out, ")");
}

static void put_condition(struct out *out, const struct ast_stm *stm)
{
    if (!stm->annotation) {
        put_operation(out, ast_stm_names[stm->kind], stm);
        return;
    }
    put(out, stm->kind == STM_ASSERT ? "invariant " : "requires ");
    put_expr(out, stm->value);
}

/* A statement that has no parts; without its semicolon and its guard. */
static void put_unguarded(struct out *out, const struct ast_stm *stm)
{
    switch (stm->kind) {
    case STM_ASSIGN:
        put_lvalue(out, &stm->target);
        put(out, " ");
        put(out, ast_assign_names[stm->op]);
        put(out, " ");
        put_expr(out, stm->value);
        break;
    case STM_CALL:
        put_call(out, stm);
        break;
    case STM_ATOMIC:
        put_atomic(out, stm);
        break;
    case STM_VOTE:
        put_target(out, stm);
        put_operation(out, ast_vote_names[stm->vote], stm);
        break;
    case STM_HAVOC:
        put(out, "havoc(");
        put_lvalue(out, &stm->place);
        put(out, ")");
        break;
    case STM_PICK:
        put_pick(out, stm);
        break;
    case STM_LOCKSYNC:
    case STM_BARRIER:
    case STM_MEMBAR:
    case STM_SYNC:
    case STM_ARRIVE:
        put_operation(out, ast_stm_names[stm->kind], stm);
        break;
    case STM_ASSERT:
    case STM_ASSUME:
        put_condition(out, stm);
        break;
    case STM_BREAK:
    case STM_CONTINUE:
    case STM_EXIT:
    case STM_RETURN:
        put(out, ast_stm_names[stm->kind]);
        if (stm->value) {
            put(out, " ");
            put_expr(out, stm->value);
        }
        break;
    case STM_SKIP:
    case STM_BLOCK:
    case STM_IF:
    case STM_WHILE:
    case STM_DO:
    case STM_FOR:
    case STM_SWITCH:
    case STM_KIND_COUNT:
        break;
    }
}

static void put_simple(struct out *out, const struct ast_stm *stm)
{
    put_unguarded(out, stm);
    if (stm->guard) {
        put(out, " if (");
        put_expr(out, stm->guard);
        put(out, ")");
    }
}

static void put_for_head(struct out *out, const struct ast_stm *stm)
{
    put(out, "for (");
    if (stm->init)
        put_simple(out, stm->init);
    put(out, ";");
    if (stm->value) {
        put(out, " ");
        put_expr(out, stm->value);
    }
    put(out, ";");
    if (stm->step) {
        put(out, " ");
        put_simple(out, stm->step);
    }
    put(out, ")");
}

/* What stands before the parts of a compound statement. */
static void put_compound_head(struct out *out, const struct ast_stm *stm)
{
    if (stm->kind == STM_FOR) {
        put_for_head(out, stm);
    } else {
        put(out, ast_stm_names[stm->kind]);
        if (stm->kind == STM_DO)
            return;
        put(out, " (");
        put_expr(out, stm->value);
        put(out, ")");
    }
}

/* ---- statements with their parts ---- */

static void put_stms(struct out *out, const struct ast_stm *list);

/* The statements in the braces of a part: braces that hold one statement, as the parser sees them,
 * are the part's own. */
static const struct ast_stm *part_list(const struct ast_stm *part)
{
    while (part && part->kind == STM_BLOCK && !part->next)
        part = part->body;
    return part;
}

/* " {", the statements, "}" without a newline. */
static void put_part(struct out *out, const struct ast_stm *part)
{
    put(out, " {\n");
    out->indent++;
    put_stms(out, part_list(part));
    out->indent--;
    put_indent(out);
    put(out, "}");
}

static void put_if(struct out *out, const struct ast_stm *stm)
{
    for (;;) {
        put_compound_head(out, stm);
        put_part(out, stm->body);
        if (!stm->other)
            break;
        put(out, " else");
        const struct ast_stm *other = part_list(stm->other);
        if (!other || other->next || other->kind != STM_IF) {
            put_part(out, stm->other);
            break;
        }
        put(out, " ");
        stm = other;
    }
    put(out, "\n");
}

static void put_switch(struct out *out, const struct ast_stm *stm)
{
    put_compound_head(out, stm);
    put(out, " {\n");
    for (const struct ast_case *c = stm->cases; c; c = c->next) {
        put_indent(out);
        if (c->is_default) {
            put(out, "default:\n");
        } else {
            put(out, "case ");
            put_number(out, c->value);
            put(out, ":\n");
        }
        out->indent++;
        put_stms(out, c->body);
        out->indent--;
    }
    put_indent(out);
    put(out, "}\n");
}

static void put_stm(struct out *out, const struct ast_stm *stm)
{
    put_indent(out);
    switch (stm->kind) {
    case STM_BLOCK:
        put(out, "{\n");
        out->indent++;
        put_stms(out, stm->body);
        out->indent--;
        put_indent(out);
        put(out, "}\n");
        break;
    case STM_IF:
        put_if(out, stm);
        break;
    case STM_WHILE:
    case STM_FOR:
        put_compound_head(out, stm);
        put_part(out, stm->body);
        put(out, "\n");
        break;
    case STM_DO:
        put_compound_head(out, stm);
        put_part(out, stm->body);
        put(out, " while (");
        put_expr(out, stm->value);
        put(out, ");\n");
        break;
    case STM_SWITCH:
        put_switch(out, stm);
        break;
    case STM_SKIP:
    case STM_ASSIGN:
    case STM_CALL:
    case STM_BREAK:
    case STM_CONTINUE:
    case STM_RETURN:
    case STM_EXIT:
    case STM_BARRIER:
    case STM_SYNC:
    case STM_ARRIVE:
    case STM_ATOMIC:
    case STM_VOTE:
    case STM_ASSERT:
    case STM_ASSUME:
    case STM_HAVOC:
    case STM_MEMBAR:
    case STM_PICK:
    case STM_LOCKSYNC:
    case STM_KIND_COUNT:
        put_simple(out, stm);
        put(out, ";\n");
        break;
    }
}

static void put_stms(struct out *out, const struct ast_stm *list)
{
    for (; list; list = list->next)
        put_stm(out, list);
}

/* ---- declarations, blocks, expectations ---- */

static void put_values(struct out *out, const int32_t *values, uint32_t count, bool braces)
{
    if (braces)
        put(out, "{");
    for (uint32_t i = 0; i < count; i++) {
        put_number(out, values[i]);
        if (i + 1 < count)
            put(out, ", ");
    }
    if (braces)
        put(out, "}");
}

static void put_var(struct out *out, const struct ast_var *var)
{
    put_indent(out);
    put(out, ast_space_names[var->space]);
    put(out, var->is_input ? " input int " : " int ");
    put(out, var->name);
    if (var->is_array) {
        put(out, "[");
        put_number(out, var->length);
        put(out, "]");
    }
    if (var->init_count) {
        put(out, " = ");
        put_values(out, var->init, var->init_count, var->is_array);
    }
    put(out, ";\n");
}

static void put_block(struct out *out, const struct ast_block *block)
{
    put_indent(out);
    put(out, block->name);
    put(out, ":\n");
    out->indent++;
    put_stms(out, block->body);
    put_indent(out);
    put(out, block->returns ? "return" : "goto ");
    for (uint32_t i = 0; !block->returns && i < block->target_count; i++) {
        put(out, i ? ", " : "");
        put(out, block->targets[i] ? block->targets[i]->name : "End");
    }
    put(out, ";\n");
    out->indent--;
}

/* What follows the parentheses: statements, or blocks, in braces. */
static void put_body(struct out *out, const struct ast_function *function, enum ast_form form)
{
    static const char *const heads[FORM_PTX] = {[FORM_STRUCTURED] = "\n{\n",
                                                [FORM_BLOCKS] = " blocks\n{\n",
                                                [FORM_LOCKSTEP] = " lockstep\n{\n"};
    put(out, heads[form]);
    out->indent++;
    for (const struct ast_var *var = function->locals; var; var = var->next)
        if (!var->is_parameter)
            put_var(out, var);
    put_stms(out, function->body);
    for (const struct ast_block *block = function->blocks; block; block = block->next)
        put_block(out, block);
    out->indent--;
    put(out, "}\n");
}

static void put_function(struct out *out, const struct ast_function *function, enum ast_form form)
{
    put(out, function->returns_int ? "int " : "void ");
    put(out, function->name);
    put(out, "(");
    for (const struct ast_var *var = function->locals; var && var->is_parameter; var = var->next) {
        put(out, var->is_out ? "out int " : "int ");
        put(out, var->name);
        if (var->next && var->next->is_parameter)
            put(out, ", ");
    }
    put(out, ")");
    put_body(out, function, form);
    put(out, "\n");
}

static void put_kernel(struct out *out, const struct ast_kernel *kernel)
{
    put(out, "kernel ");
    put(out, kernel->name);
    put(out, "()");
    put_body(out, kernel->main, kernel->form);
}

static void put_claim(struct out *out, const struct ast_expect *expect)
{
    put(out, ast_claim_names[expect->claim]);
    if (expect->var) {
        put(out, " ");
        put(out, expect->var->name);
    }
    if (expect->claim == CLAIM_FINAL) {
        put(out, " == ");
        put_values(out, expect->values, expect->value_count, expect->var->is_array);
    }
}

/* The claims of one expect statement; returns what follows them. */
static const struct ast_expect *put_claims(struct out *out, const struct ast_expect *list)
{
    uint32_t group = list->group;
    put_claim(out, list);
    for (list = list->next; list && list->group == group; list = list->next) {
        put(out, ", ");
        put_claim(out, list);
    }
    return list;
}

static void put_expects(struct out *out, const struct ast_expect *list)
{
    while (list) {
        put(out, "expect ");
        if (list->subject) {
            put(out, list->subject);
            put(out, ": ");
        }
        list = put_claims(out, list);
        put(out, ";\n");
    }
}

char *print_expect_comments(struct arena *arena, const struct ast_expect *expects)
{
    struct out out = out_begin(arena);
    while (expects) {
        put(&out, "// expect");
        if (expects->subject) {
            put(&out, " ");
            put(&out, expects->subject);
        }
        put(&out, ": ");
        expects = put_claims(&out, expects);
        put(&out, "\n");
    }
    return out.text.bytes;
}

/* The rows of one `expect progress`; returns what follows them. */
static const struct ast_progress *put_rows(struct out *out, const struct ast_progress *list)
{
    const struct ast_progress *first = list, *before = NULL;
    for (; list && list->group == first->group; before = list, list = list->next) {
        bool anew = !before || before->ending != list->ending;
        if (anew) {
            put(out, before ? ", " : "");
            put(out, matrix_ending_names[list->ending]);
        }
        if (list->unit < MATRIX_UNITS && (anew || before->unit != list->unit)) {
            put(out, " ");
            put(out, matrix_unit_names[list->unit]);
        }
        put(out, " ");
        put(out, list->model ? list->model : "*");
    }
    return list;
}

char *print_progress(struct arena *arena, const struct ast_kernel *kernel,
                     const struct ast_progress *progress)
{
    bool ptx = kernel->form == FORM_PTX;
    struct out out = out_begin(arena);
    while (progress) {
        put(&out, ptx ? "// expect progress" : "expect progress");
        if (kernel->progress_states) {
            put(&out, " within ");
            put_number(&out, kernel->progress_states);
        }
        put(&out, ": ");
        progress = put_rows(&out, progress);
        put(&out, ptx ? "\n" : ";\n");
    }
    return out.text.bytes;
}

static void put_launch(struct out *out, const struct ast_launch *launch)
{
    put(out, "launch(threads=");
    put_number(out, launch->threads);
    put(out, ", warp=");
    put_number(out, launch->warp);
    put(out, ", blocks=");
    put_number(out, launch->blocks);
    if (launch->seed) {
        put(out, ", seed=");
        put_seed(out, launch->seed);
    }
    const char *caches = cache_sizes_print(out->text.arena, &launch->caches, ", ");
    if (*caches) {
        put(out, ", ");
        put(out, caches);
    }
    put(out, ");\n\n");
}

char *language_print(struct arena *arena, const struct ast_kernel *kernel)
{
    struct out out = out_begin(arena);
    put_launch(&out, &kernel->launch);
    for (const struct ast_var *var = kernel->vars; var; var = var->next)
        put_var(&out, var);
    if (kernel->vars)
        put(&out, "\n");
    for (const struct ast_function *f = kernel->functions; f; f = f->next)
        put_function(&out, f, kernel->form);
    put_kernel(&out, kernel);
    if (kernel->expects || kernel->progress)
        put(&out, "\n");
    put_expects(&out, kernel->expects);
    put(&out, print_progress(arena, kernel, kernel->progress));
    return out.text.bytes;
}

char *print_expr(struct arena *arena, const struct ast_expr *expr)
{
    struct out out = out_begin(arena);
    put_expr(&out, expr);
    return out.text.bytes;
}

char *print_stm_head(struct arena *arena, const struct ast_stm *stm)
{
    struct out out = out_begin(arena);
    switch (stm->kind) {
    case STM_BLOCK:
        put(&out, "{ ... }");
        break;
    case STM_IF:
    case STM_WHILE:
    case STM_FOR:
    case STM_SWITCH:
        put_compound_head(&out, stm);
        put(&out, " ...");
        break;
    case STM_DO:
        put(&out, "do ... while (");
        put_expr(&out, stm->value);
        put(&out, ");");
        break;
    case STM_SKIP:
    case STM_ASSIGN:
    case STM_CALL:
    case STM_BREAK:
    case STM_CONTINUE:
    case STM_RETURN:
    case STM_EXIT:
    case STM_BARRIER:
    case STM_SYNC:
    case STM_ARRIVE:
    case STM_ATOMIC:
    case STM_VOTE:
    case STM_ASSERT:
    case STM_ASSUME:
    case STM_HAVOC:
    case STM_MEMBAR:
    case STM_PICK:
    case STM_LOCKSYNC:
    case STM_KIND_COUNT:
        put_simple(&out, stm);
        put(&out, ";");
        break;
    }
    return out.text.bytes;
}
