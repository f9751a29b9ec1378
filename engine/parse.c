/*
 * parse.c - recursive descent over one token of lookahead. Every parse_* function that fails has
 * reported why and returns NULL or false; statements and declarations then skip to a place where the
 * next one can start.
 */
#include "engine/parse.h"

#include "engine/lex.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Forward references: functions and blocks may be named before they are defined. */
struct call_fixup {
    struct ast_stm *stm;
    const char *name;
    struct call_fixup *next;
};

struct goto_fixup {
    struct ast_block **slot;
    const char *name;
    struct location at;
    struct goto_fixup *next;
};

struct parser {
    struct arena *arena;
    struct diag *diag;
    struct lexer lexer;
    struct token token;  /* the one looked at */
    struct token before; /* the one consumed last, for "after ..." */
    struct ast_kernel *kernel;
    struct ast_function *function; /* that is being parsed; NULL at file level */
    bool in_kernel;                /* function is the kernel's body */
    uint32_t depth;                /* nesting of what is being parsed */
    uint32_t loops, breakables;    /* around the statement that is being parsed */
    uint32_t nodes;
    struct call_fixup *calls;
    struct goto_fixup *gotos;
};

static const char *const keywords[] = {
    "launch",      "shared",     "global",     "private",    "input",      "int",
    "void",        "kernel",     "blocks",     "expect",     "if",         "else",
    "while",       "do",         "for",        "switch",     "case",       "default",
    "break",       "continue",   "return",     "exit",       "goto",       "barrier",
    "sync",        "arrive",     "assert",     "assume",     "havoc",      "membar",
    "skip",        "tid",        "threads",    "lane",       "warp",       "warp_size",
    "bid",         "atomic_add", "atomic_min", "atomic_max", "atomic_and", "atomic_or",
    "atomic_exch", "atomic_cas", "vote_all",   "vote_any",   "vote_uni",   "vote_ballot",
};

/* ---- tokens ---- */

static bool token_is(const struct token *token, const char *text)
{
    return (token->kind == TOKEN_PUNCT || token->kind == TOKEN_NAME) &&
           strlen(text) == token->length && memcmp(token->text, text, token->length) == 0;
}

static bool at(const struct parser *p, const char *text)
{
    return token_is(&p->token, text);
}

/* Past DIAG_MAX errors the rest of a text is not worth reading: it seems to end. */
static void advance(struct parser *p)
{
    p->before = p->token;
    p->token = lex_next(&p->lexer);
    if (p->diag->count >= DIAG_MAX)
        p->token.kind = TOKEN_END;
}

static bool accept(struct parser *p, const char *text)
{
    if (!at(p, text))
        return false;
    advance(p);
    return true;
}

/* The token as a message shows it. */
static const char *shown(struct parser *p, const struct token *token)
{
    if (token->kind == TOKEN_END)
        return "the end of the text";
    uint32_t length = token->length < 40 ? token->length : 40;
    return arena_printf(p->arena, "'%.*s'", (int)length, token->text);
}

/* An error at the current token; a lexical error there has been reported already. */
static void unexpected(struct parser *p, const char *wanted)
{
    if (p->token.kind == TOKEN_INVALID)
        return;
    if (p->before.length)
        diag_error(p->diag, p->token.at, "expected %s after %s, found %s", wanted,
                   shown(p, &p->before), shown(p, &p->token));
    else
        diag_error(p->diag, p->token.at, "expected %s, found %s", wanted, shown(p, &p->token));
}

static bool expect(struct parser *p, const char *text)
{
    if (accept(p, text))
        return true;
    unexpected(p, arena_printf(p->arena, "'%s'", text));
    return false;
}

static bool is_keyword(const struct token *token)
{
    for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++)
        if (token_is(token, keywords[i]))
            return true;
    return false;
}

/* A new name, copied to the arena; NULL: reported. */
static const char *parse_name(struct parser *p, const char *what)
{
    if (p->token.kind != TOKEN_NAME) {
        unexpected(p, what);
        return NULL;
    }
    if (is_keyword(&p->token)) {
        diag_error(p->diag, p->token.at, "%s is a reserved word", shown(p, &p->token));
        return NULL;
    }
    if (p->token.length > LIMIT_NAME) {
        diag_error(p->diag, p->token.at, "this name is longer than %d characters", LIMIT_NAME);
        return NULL;
    }
    const char *name = arena_strndup(p->arena, p->token.text, p->token.length);
    advance(p);
    return name;
}

/* Index of the token's text in a table of names, -1: not there. */
static int token_index(const struct token *token, const char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        if (token_is(token, names[i]))
            return i;
    return -1;
}

static bool next_is_parenthesis(const struct parser *p)
{
    const char *at_char = p->lexer.next;
    while (at_char < p->lexer.end && (*at_char == ' ' || *at_char == '\t' || *at_char == '\n'))
        at_char++;
    return at_char < p->lexer.end && *at_char == '(';
}

static bool enter(struct parser *p)
{
    if (p->depth >= LIMIT_DEPTH) {
        diag_error(p->diag, p->token.at, "nested more than %d deep", LIMIT_DEPTH);
        return false;
    }
    p->depth++;
    return true;
}

static void leave(struct parser *p)
{
    p->depth--;
}

/* Counts what the text makes us allocate. */
static bool count_node(struct parser *p)
{
    if (++p->nodes <= LIMIT_NODES)
        return true;
    if (p->nodes == LIMIT_NODES + 1)
        diag_error(p->diag, p->token.at, "more than %d statements and expressions", LIMIT_NODES);
    return false;
}

/* ---- names ---- */

static struct ast_var *find_in(struct ast_var *list, const struct token *name)
{
    for (; list; list = list->next)
        if (strlen(list->name) == name->length && memcmp(list->name, name->text, name->length) == 0)
            return list;
    return NULL;
}

static struct ast_var *find_var(struct parser *p, const struct token *name)
{
    struct ast_var *var = p->function ? find_in(p->function->locals, name) : NULL;
    return var ? var : find_in(p->kernel->vars, name);
}

static struct ast_function *find_function(const struct parser *p, const char *name)
{
    for (struct ast_function *f = p->kernel->functions; f; f = f->next)
        if (strcmp(f->name, name) == 0)
            return f;
    return NULL;
}

/* ---- expressions ---- */

static struct ast_expr *parse_expr(struct parser *p);
static struct ast_expr *parse_cond(struct parser *p, uint32_t *height);

/* An operator over operands of the given heights: bounded, since every later pass recurses. */
static bool grow(struct parser *p, struct location where, uint32_t *height, uint32_t other)
{
    *height = (*height > other ? *height : other) + 1;
    if (*height <= LIMIT_DEPTH)
        return count_node(p);
    diag_error(p->diag, where, "nested more than %d deep", LIMIT_DEPTH);
    return false;
}

static struct ast_expr *located(struct ast_expr *expr, struct location where)
{
    expr->at = where;
    return expr;
}

static struct ast_expr *parse_number(struct parser *p)
{
    struct location where = p->token.at;
    uint64_t value = p->token.number;
    if (value > UINT32_MAX) {
        diag_error(p->diag, where, "%s does not fit 32 bits", shown(p, &p->token));
        return NULL;
    }
    advance(p);
    return located(ast_int(p->arena, (int32_t)(uint32_t)value), where);
}

/* name or name[index], by what the name is. NULL in `var`: reported. */
static bool parse_access(struct parser *p, struct ast_var **var, struct ast_expr **index)
{
    struct token name = p->token;
    *index = NULL;
    *var = find_var(p, &name);
    if (!*var) {
        diag_error(p->diag, name.at, "%s is not declared", shown(p, &name));
        return false;
    }
    advance(p);
    if (!(*var)->is_array) {
        if (!at(p, "["))
            return true;
        diag_error(p->diag, p->token.at, "'%s' is no array", (*var)->name);
        return false;
    }
    if (!at(p, "[")) {
        diag_error(p->diag, name.at, "'%s' is an array: an index is needed", (*var)->name);
        return false;
    }
    advance(p);
    *index = parse_expr(p);
    return *index && expect(p, "]");
}

static struct ast_expr *parse_name_expr(struct parser *p, uint32_t *height)
{
    struct token name = p->token;
    int builtin = token_index(&name, ast_builtin_names, BUILTIN_COUNT);
    if (builtin >= 0) {
        advance(p);
        return located(ast_builtin_ref(p->arena, (enum ast_builtin)builtin), name.at);
    }
    if (is_keyword(&name)) {
        unexpected(p, "an expression");
        return NULL;
    }
    if (next_is_parenthesis(p) && !find_var(p, &name)) {
        diag_error(p->diag, name.at,
                   "a call is no expression: it stands alone, as in x = %.*s(...);",
                   (int)(name.length < 40 ? name.length : 40), name.text);
        return NULL;
    }
    struct ast_var *var;
    struct ast_expr *index;
    if (!parse_access(p, &var, &index))
        return NULL;
    if (!index)
        return located(ast_var_ref(p->arena, var), name.at);
    (*height)++; /* at least; the index was bounded by itself and by the nesting */
    return located(ast_index(p->arena, var, index), name.at);
}

static struct ast_expr *parse_primary(struct parser *p, uint32_t *height)
{
    *height = 1;
    if (!count_node(p))
        return NULL;
    if (p->token.kind == TOKEN_NUMBER)
        return parse_number(p);
    if (p->token.kind == TOKEN_NAME)
        return parse_name_expr(p, height);
    if (accept(p, "(")) {
        struct ast_expr *inner = parse_cond(p, height);
        return inner && expect(p, ")") ? inner : NULL;
    }
    unexpected(p, "an expression");
    return NULL;
}

static struct ast_expr *parse_unary(struct parser *p, uint32_t *height)
{
    static const char *const names[] = {
        [UNARY_NEG] = "-", [UNARY_NOT] = "!", [UNARY_COMPLEMENT] = "~"};
    struct location where = p->token.at;
    int op = token_index(&p->token, names, 3);
    if (op < 0)
        return parse_primary(p, height);
    if (!enter(p))
        return NULL;
    advance(p);
    struct ast_expr *operand = parse_unary(p, height);
    leave(p);
    if (!operand)
        return NULL;
    /* A negative literal is a literal: there is one tree for each number. */
    if (op == UNARY_NEG && operand->kind == EXPR_INT) {
        operand->value = ast_eval_unary(UNARY_NEG, operand->value);
        operand->at = where;
        return operand;
    }
    if (!grow(p, where, height, 0))
        return NULL;
    return located(ast_unary(p->arena, (enum ast_unary)op, operand), where);
}

/* C's precedences, lowest 1. */
static int precedence(enum ast_binary op)
{
    switch (op) {
    case BINARY_LOGICAL_OR:
        return 1;
    case BINARY_LOGICAL_AND:
        return 2;
    case BINARY_OR:
        return 3;
    case BINARY_XOR:
        return 4;
    case BINARY_AND:
        return 5;
    case BINARY_EQ:
    case BINARY_NE:
        return 6;
    case BINARY_LT:
    case BINARY_LE:
    case BINARY_GT:
    case BINARY_GE:
        return 7;
    case BINARY_SHL:
    case BINARY_SHR:
        return 8;
    case BINARY_ADD:
    case BINARY_SUB:
        return 9;
    case BINARY_MUL:
    case BINARY_DIV:
    case BINARY_REM:
        return 10;
    }
    return 0;
}

static struct ast_expr *parse_binary(struct parser *p, int lowest, uint32_t *height)
{
    struct ast_expr *left = parse_unary(p, height);
    while (left) {
        int op = token_index(&p->token, ast_binary_names, BINARY_COUNT);
        if (op < 0 || precedence((enum ast_binary)op) < lowest)
            return left;
        struct location where = p->token.at;
        uint32_t right_height = 0;
        advance(p);
        struct ast_expr *right =
            parse_binary(p, precedence((enum ast_binary)op) + 1, &right_height);
        if (!right || !grow(p, where, height, right_height))
            return NULL;
        left = located(ast_binary(p->arena, (enum ast_binary)op, left, right), left->at);
    }
    return NULL;
}

static struct ast_expr *parse_cond_inner(struct parser *p, uint32_t *height)
{
    struct ast_expr *guard = parse_binary(p, 1, height);
    if (!guard || !at(p, "?"))
        return guard;
    struct location where = p->token.at;
    uint32_t then_height = 0, else_height = 0;
    advance(p);
    struct ast_expr *then = parse_cond(p, &then_height);
    if (!then || !expect(p, ":"))
        return NULL;
    struct ast_expr *other = parse_cond(p, &else_height);
    if (!other || !grow(p, where, height, then_height > else_height ? then_height : else_height))
        return NULL;
    return located(ast_cond(p->arena, guard, then, other), guard->at);
}

static struct ast_expr *parse_cond(struct parser *p, uint32_t *height)
{
    if (!enter(p))
        return NULL;
    struct ast_expr *expr = parse_cond_inner(p, height);
    leave(p);
    return expr;
}

static struct ast_expr *parse_expr(struct parser *p)
{
    uint32_t height = 0;
    return parse_cond(p, &height);
}

/* The value of an expression of literals. */
static bool constant_value(struct parser *p, const struct ast_expr *e, int32_t *value)
{
    int32_t a = 0, b = 0;
    if (e->kind == EXPR_VAR || e->kind == EXPR_INDEX || e->kind == EXPR_BUILTIN) {
        diag_error(p->diag, e->at, "a constant is needed here");
        return false;
    }
    if (e->kind == EXPR_INT) {
        *value = e->value;
        return true;
    }
    if (!constant_value(p, e->a, &a))
        return false;
    if (e->kind == EXPR_UNARY) {
        *value = ast_eval_unary(e->unary, a);
        return true;
    }
    if (e->kind == EXPR_COND)
        return constant_value(p, a ? e->b : e->c, value);
    if (!constant_value(p, e->b, &b))
        return false;
    *value = ast_eval_binary(e->binary, a, b);
    return true;
}

static bool parse_constant(struct parser *p, int32_t *value)
{
    struct ast_expr *expr = parse_expr(p);
    return expr && constant_value(p, expr, value);
}

/* ---- declarations ---- */

static bool parse_initialiser(struct parser *p, struct ast_var *var)
{
    if (!accept(p, "{")) {
        var->init = ARENA_ARRAY(p->arena, int32_t, 1);
        var->init_count = 1;
        return parse_constant(p, &var->init[0]);
    }
    if (!var->is_array) {
        diag_error(p->diag, p->before.at, "'%s' is no array", var->name);
        return false;
    }
    var->init = ARENA_ARRAY(p->arena, int32_t, var->length);
    do {
        int32_t value;
        struct location where = p->token.at;
        if (!parse_constant(p, &value))
            return false;
        if (var->init_count == var->length) {
            diag_error(p->diag, where, "more initial values than '%s' has elements (%u)", var->name,
                       var->length);
            return false;
        }
        var->init[var->init_count++] = value;
    } while (accept(p, ","));
    return expect(p, "}");
}

static bool parse_length(struct parser *p, struct ast_var *var)
{
    if (!accept(p, "["))
        return true;
    if (p->token.kind != TOKEN_NUMBER) {
        unexpected(p, "a number of elements");
        return false;
    }
    if (p->token.number == 0 || p->token.number > LIMIT_ARRAY) {
        diag_error(p->diag, p->token.at, "an array has 1 to %d elements", LIMIT_ARRAY);
        return false;
    }
    var->is_array = true;
    var->length = (uint32_t)p->token.number;
    advance(p);
    return expect(p, "]");
}

static uint32_t list_length(const struct ast_var *list)
{
    uint32_t length = 0;
    for (; list; list = list->next)
        length++;
    return length;
}

/* One variable of a declaration, appended to its scope. */
static bool parse_var(struct parser *p, struct ast_var **scope, enum ast_space space, bool is_input)
{
    struct token name = p->token;
    const char *text = parse_name(p, "the name of a variable");
    if (!text || !count_node(p))
        return false;
    if (find_in(*scope, &name)) {
        diag_error(p->diag, name.at, "'%s' is declared twice", text);
        return false;
    }
    if (list_length(*scope) >= LIMIT_VARIABLES) {
        diag_error(p->diag, name.at, "more than %d variables in one scope", LIMIT_VARIABLES);
        return false;
    }
    struct ast_var *var = ast_var(p->arena, text, space, 1, false);
    var->is_input = is_input;
    var->at = name.at;
    if (!parse_length(p, var))
        return false;
    if (at(p, "=") && is_input) {
        diag_error(p->diag, p->token.at, "'%s' is input: it has no initial value of its own", text);
        return false;
    }
    if (accept(p, "=") && !parse_initialiser(p, var))
        return false;
    ast_var_append(scope, var);
    return true;
}

static int token_space(const struct token *token)
{
    return token_index(token, ast_space_names, SPACE_PRIVATE + 1);
}

/* space [input] int var {, var} ; */
static bool parse_decl(struct parser *p)
{
    enum ast_space space = (enum ast_space)token_space(&p->token);
    struct ast_var **scope = &p->kernel->vars;
    struct location where = p->token.at;
    advance(p);
    if (p->function) {
        if (space != SPACE_PRIVATE) {
            diag_error(p->diag, where, "variables of a body are private");
            return false;
        }
        space = SPACE_LOCAL;
        scope = &p->function->locals;
    }
    bool is_input = accept(p, "input");
    if (is_input && p->function) {
        diag_error(p->diag, p->before.at, "input variables are declared outside functions");
        return false;
    }
    if (!expect(p, "int"))
        return false;
    do {
        if (!parse_var(p, scope, space, is_input))
            return false;
    } while (accept(p, ","));
    return expect(p, ";");
}

/* ---- statements ---- */

static struct ast_stm *parse_stm(struct parser *p);

/* Skips to where a statement may start: behind the next ';', or before a '}' or a keyword. */
static void recover(struct parser *p)
{
    static const char *const starts[] = {"if",     "while",   "do",     "for",    "switch",
                                         "break",  "return",  "kernel", "expect", "shared",
                                         "global", "private", "void",   "case",   "default"};
    while (p->token.kind != TOKEN_END && !at(p, "}") && !at(p, "{")) {
        if (accept(p, ";") || token_index(&p->token, starts, 15) >= 0)
            return;
        advance(p);
    }
}

static struct ast_stm *new_stm(struct parser *p, enum ast_stm_kind kind, struct location where)
{
    return count_node(p) ? ast_stm(p->arena, kind, where) : NULL;
}

static bool parse_lvalue(struct parser *p, struct ast_lvalue *lvalue)
{
    lvalue->at = p->token.at;
    if (p->token.kind != TOKEN_NAME || is_keyword(&p->token)) {
        unexpected(p, "a variable");
        return false;
    }
    return parse_access(p, &lvalue->var, &lvalue->index);
}

/* e {, e} up to the closing parenthesis. */
static bool parse_arguments(struct parser *p, struct ast_expr **list)
{
    uint32_t count = 0;
    if (accept(p, ")"))
        return true;
    do {
        *list = parse_expr(p);
        if (!*list)
            return false;
        list = &(*list)->next;
        if (++count > LIMIT_PARAMETERS) {
            diag_error(p->diag, p->before.at, "more than %d arguments", LIMIT_PARAMETERS);
            return false;
        }
    } while (accept(p, ","));
    return expect(p, ")");
}

/* name(arguments), the name being the current token; resolved when all functions are known. */
static struct ast_stm *parse_call(struct parser *p, const struct ast_lvalue *target)
{
    struct ast_stm *s = new_stm(p, STM_CALL, p->token.at);
    if (!s)
        return NULL;
    struct call_fixup *fixup = ARENA_NEW(p->arena, struct call_fixup);
    fixup->stm = s;
    fixup->name = parse_name(p, "a function");
    if (!fixup->name || !expect(p, "(") || !parse_arguments(p, &s->arguments))
        return NULL;
    if (target) {
        s->target = *target;
        if (target->var->space != SPACE_PRIVATE && target->var->space != SPACE_LOCAL) {
            diag_error(p->diag, target->at, "a call's value goes into a private variable");
            return NULL;
        }
    }
    fixup->next = p->calls;
    p->calls = fixup;
    return s;
}

static struct ast_stm *parse_atomic(struct parser *p, const struct ast_lvalue *target, int atomic)
{
    struct ast_stm *s = new_stm(p, STM_ATOMIC, p->token.at);
    if (!s)
        return NULL;
    advance(p);
    s->atomic = (enum ast_atomic)atomic;
    if (target)
        s->target = *target;
    if (!expect(p, "(") || !parse_lvalue(p, &s->place))
        return NULL;
    uint32_t wanted = atomic == ATOMIC_CAS ? 2 : 1, count = 0;
    struct ast_expr **list = &s->arguments;
    while (accept(p, ",")) {
        *list = parse_expr(p);
        if (!*list)
            return NULL;
        list = &(*list)->next;
        count++;
    }
    if (count != wanted) {
        diag_error(p->diag, s->at, "%s takes a location and %u operand%s", ast_atomic_names[atomic],
                   wanted, wanted == 1 ? "" : "s");
        return NULL;
    }
    return expect(p, ")") ? s : NULL;
}

static struct ast_stm *parse_vote(struct parser *p, const struct ast_lvalue *target, int vote)
{
    struct ast_stm *s = new_stm(p, STM_VOTE, p->token.at);
    if (!s)
        return NULL;
    advance(p);
    s->vote = (enum ast_vote)vote;
    s->target = *target;
    if (!expect(p, "("))
        return NULL;
    s->value = parse_expr(p);
    return s->value && expect(p, ")") ? s : NULL;
}

/* What stands right of `target =`. */
static struct ast_stm *parse_set(struct parser *p, const struct ast_lvalue *target)
{
    int atomic = token_index(&p->token, ast_atomic_names, ATOMIC_COUNT);
    if (atomic >= 0)
        return parse_atomic(p, target, atomic);
    int vote = token_index(&p->token, ast_vote_names, VOTE_COUNT);
    if (vote >= 0)
        return parse_vote(p, target, vote);
    if (p->token.kind == TOKEN_NAME && !is_keyword(&p->token) && next_is_parenthesis(p) &&
        !find_var(p, &p->token))
        return parse_call(p, target);
    struct ast_expr *value = parse_expr(p);
    if (!value || !count_node(p))
        return NULL;
    struct ast_stm *s = ast_assign(p->arena, target->var, target->index, value, target->at);
    s->target.at = target->at;
    return s;
}

static struct ast_stm *parse_assign(struct parser *p)
{
    static const char *const ops[] = {
        [ASSIGN_SET] = "=",  [ASSIGN_ADD] = "+=", [ASSIGN_SUB] = "-=", [ASSIGN_MUL] = "*=",
        [ASSIGN_XOR] = "^=", [ASSIGN_OR] = "|=",  [ASSIGN_AND] = "&="};
    struct ast_lvalue target = {0};
    if (!parse_lvalue(p, &target))
        return NULL;
    if (accept(p, "="))
        return parse_set(p, &target);
    int op = token_index(&p->token, ops, ASSIGN_COUNT);
    struct ast_expr *value = NULL;
    if (at(p, "++") || at(p, "--")) {
        op = at(p, "++") ? ASSIGN_ADD : ASSIGN_SUB;
        advance(p);
        value = ast_int(p->arena, 1);
    } else if (op >= 0) {
        advance(p);
        value = parse_expr(p);
    } else {
        unexpected(p, "an assignment operator");
    }
    if (!value || !count_node(p))
        return NULL;
    struct ast_stm *s = ast_assign(p->arena, target.var, target.index, value, target.at);
    s->op = (enum ast_assign_op)op;
    s->target.at = target.at;
    return s;
}

/* word ( [e [, e]] ): statements that look like calls. */
static const struct {
    const char *word;
    enum ast_stm_kind kind;
    int operands;
} words[] = {
    {"barrier", STM_BARRIER, 0}, {"membar", STM_MEMBAR, 0}, {"assert", STM_ASSERT, 1},
    {"assume", STM_ASSUME, 1},   {"sync", STM_SYNC, 2},     {"arrive", STM_ARRIVE, 2},
};

static struct ast_stm *parse_word(struct parser *p, size_t i)
{
    struct ast_stm *s = new_stm(p, words[i].kind, p->token.at);
    if (!s)
        return NULL;
    advance(p);
    if (!expect(p, "("))
        return NULL;
    if (words[i].operands >= 1 && !(s->value = parse_expr(p)))
        return NULL;
    if (words[i].operands == 2 && (!expect(p, ",") || !(s->second = parse_expr(p))))
        return NULL;
    return expect(p, ")") ? s : NULL;
}

/* A simple statement without its semicolon. */
static struct ast_stm *parse_simple(struct parser *p)
{
    struct location where = p->token.at;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (at(p, words[i].word))
            return parse_word(p, i);
    if (accept(p, "skip"))
        return new_stm(p, STM_SKIP, where);
    if (accept(p, "havoc")) {
        struct ast_stm *s = new_stm(p, STM_HAVOC, where);
        return s && expect(p, "(") && parse_lvalue(p, &s->place) && expect(p, ")") ? s : NULL;
    }
    int atomic = token_index(&p->token, ast_atomic_names, ATOMIC_COUNT);
    if (atomic >= 0)
        return parse_atomic(p, NULL, atomic);
    if (p->token.kind != TOKEN_NAME || is_keyword(&p->token)) {
        unexpected(p, "a statement");
        return NULL;
    }
    if (next_is_parenthesis(p) && !find_var(p, &p->token))
        return parse_call(p, NULL);
    return parse_assign(p);
}

/* { stm } up to the closing brace; errors inside are skipped over, so that all are reported. */
static bool parse_list(struct parser *p, struct ast_stm **list)
{
    while (!at(p, "}") && !at(p, "case") && !at(p, "default")) {
        if (p->token.kind == TOKEN_END) {
            unexpected(p, "'}'");
            return false;
        }
        struct ast_stm *s = parse_stm(p);
        if (!s) {
            const char *stuck = p->token.text;
            recover(p);
            if (p->token.text == stuck && p->token.kind != TOKEN_END && !at(p, "}"))
                advance(p);
            continue;
        }
        *list = s;
        list = &s->next;
    }
    return true;
}

static struct ast_stm *parse_block_stm(struct parser *p)
{
    struct ast_stm *s = new_stm(p, STM_BLOCK, p->token.at);
    advance(p);
    if (!s || !parse_list(p, &s->body))
        return NULL;
    return expect(p, "}") ? s : NULL;
}

static bool parse_guard(struct parser *p, struct ast_stm *s)
{
    return expect(p, "(") && (s->value = parse_expr(p)) && expect(p, ")");
}

static bool parse_loop_body(struct parser *p, struct ast_stm *s)
{
    p->loops++;
    p->breakables++;
    s->body = parse_stm(p);
    p->loops--;
    p->breakables--;
    return s->body;
}

static struct ast_stm *parse_if(struct parser *p, struct ast_stm *s)
{
    if (!parse_guard(p, s) || !(s->body = parse_stm(p)))
        return NULL;
    if (accept(p, "else") && !(s->other = parse_stm(p)))
        return NULL;
    return s;
}

static struct ast_stm *parse_do(struct parser *p, struct ast_stm *s)
{
    return parse_loop_body(p, s) && expect(p, "while") && parse_guard(p, s) && expect(p, ";")
               ? s
               : NULL;
}

static struct ast_stm *parse_for(struct parser *p, struct ast_stm *s)
{
    if (!expect(p, "(") || (!at(p, ";") && !(s->init = parse_simple(p))) || !expect(p, ";") ||
        (!at(p, ";") && !(s->value = parse_expr(p))) || !expect(p, ";") ||
        (!at(p, ")") && !(s->step = parse_simple(p))) || !expect(p, ")"))
        return NULL;
    return parse_loop_body(p, s) ? s : NULL;
}

static struct ast_case *parse_case(struct parser *p, struct ast_case *cases)
{
    struct ast_case *c = ARENA_NEW(p->arena, struct ast_case);
    c->at = p->token.at;
    c->is_default = accept(p, "default");
    if (!count_node(p))
        return NULL;
    if (!c->is_default) {
        if (!expect(p, "case") || !parse_constant(p, &c->value))
            return NULL;
        for (const struct ast_case *other = cases; other; other = other->next)
            if (!other->is_default && other->value == c->value) {
                diag_error(p->diag, c->at, "case %d occurs twice", c->value);
                return NULL;
            }
    }
    return expect(p, ":") && parse_list(p, &c->body) ? c : NULL;
}

static struct ast_stm *parse_switch(struct parser *p, struct ast_stm *s)
{
    if (!parse_guard(p, s) || !expect(p, "{"))
        return NULL;
    struct ast_case **last = &s->cases;
    uint32_t count = 0;
    bool had_default = false;
    p->breakables++;
    while (at(p, "case") || at(p, "default")) {
        if (had_default)
            diag_error(p->diag, p->token.at, "default is the last of a switch's cases");
        if (++count > LIMIT_CASES)
            diag_error(p->diag, p->token.at, "more than %d cases", LIMIT_CASES);
        *last = had_default || count > LIMIT_CASES ? NULL : parse_case(p, s->cases);
        if (!*last)
            break;
        had_default = (*last)->is_default;
        last = &(*last)->next;
    }
    p->breakables--;
    return expect(p, "}") ? s : NULL;
}

static struct ast_stm *parse_jump(struct parser *p, struct ast_stm *s)
{
    if (s->kind == STM_BREAK && p->breakables == 0) {
        diag_error(p->diag, s->at, "break outside a loop or switch");
        return NULL;
    }
    if (s->kind == STM_CONTINUE && p->loops == 0) {
        diag_error(p->diag, s->at, "continue outside a loop");
        return NULL;
    }
    if (s->kind == STM_RETURN && !at(p, ";") && !(s->value = parse_expr(p)))
        return NULL;
    if (s->kind == STM_RETURN && s->value && !p->function->returns_int) {
        diag_error(p->diag, s->at, "%s returns no value",
                   p->in_kernel ? "a kernel" : "a void function");
        return NULL;
    }
    if (s->kind == STM_RETURN && !s->value && p->function->returns_int) {
        diag_error(p->diag, s->at, "'%s' returns an int: a value is needed", p->function->name);
        return NULL;
    }
    return expect(p, ";") ? s : NULL;
}

static const struct {
    const char *word;
    enum ast_stm_kind kind;
    struct ast_stm *(*parse)(struct parser *, struct ast_stm *);
} control[] = {
    {"if", STM_IF, parse_if},           {"do", STM_DO, parse_do},
    {"for", STM_FOR, parse_for},        {"switch", STM_SWITCH, parse_switch},
    {"break", STM_BREAK, parse_jump},   {"continue", STM_CONTINUE, parse_jump},
    {"return", STM_RETURN, parse_jump}, {"exit", STM_EXIT, parse_jump},
};

static struct ast_stm *parse_while(struct parser *p, struct ast_stm *s)
{
    return parse_guard(p, s) && parse_loop_body(p, s) ? s : NULL;
}

static struct ast_stm *parse_stm_inner(struct parser *p)
{
    struct location where = p->token.at;
    if (at(p, "{"))
        return parse_block_stm(p);
    if (accept(p, ";"))
        return new_stm(p, STM_SKIP, where);
    if (token_space(&p->token) >= 0) {
        diag_error(p->diag, where, "declarations stand at the start of a body");
        return NULL;
    }
    if (at(p, "goto")) {
        diag_error(p->diag, where, "goto stands at the end of a block of the block form");
        return NULL;
    }
    if (accept(p, "while")) {
        struct ast_stm *s = new_stm(p, STM_WHILE, where);
        return s ? parse_while(p, s) : NULL;
    }
    for (size_t i = 0; i < sizeof control / sizeof control[0]; i++)
        if (accept(p, control[i].word)) {
            struct ast_stm *s = new_stm(p, control[i].kind, where);
            return s ? control[i].parse(p, s) : NULL;
        }
    struct ast_stm *s = parse_simple(p);
    return s && expect(p, ";") ? s : NULL;
}

static struct ast_stm *parse_stm(struct parser *p)
{
    if (!enter(p))
        return NULL;
    struct ast_stm *s = parse_stm_inner(p);
    leave(p);
    return s;
}

/* ---- functions and kernels ---- */

/* { {decl} {stm} } */
static bool parse_body(struct parser *p)
{
    if (!expect(p, "{"))
        return false;
    while (token_space(&p->token) >= 0)
        if (!parse_decl(p))
            recover(p);
    return parse_list(p, &p->function->body) && expect(p, "}");
}

static bool parse_parameters(struct parser *p, struct ast_function *f)
{
    if (!expect(p, "("))
        return false;
    if (accept(p, ")"))
        return true;
    do {
        struct token name;
        if (!expect(p, "int"))
            return false;
        name = p->token;
        const char *text = parse_name(p, "the name of a parameter");
        if (!text)
            return false;
        if (find_in(f->locals, &name) || f->parameter_count == LIMIT_PARAMETERS) {
            if (f->parameter_count == LIMIT_PARAMETERS)
                diag_error(p->diag, name.at, "more than %d parameters", LIMIT_PARAMETERS);
            else
                diag_error(p->diag, name.at, "'%s' is declared twice", text);
            return false;
        }
        struct ast_var *var = ast_var(p->arena, text, SPACE_LOCAL, 1, false);
        var->is_parameter = true;
        var->at = name.at;
        ast_var_append(&f->locals, var);
        f->parameter_count++;
    } while (accept(p, ","));
    return expect(p, ")");
}

static void append_function(struct parser *p, struct ast_function *f)
{
    struct ast_function **last = &p->kernel->functions;
    uint32_t count = 0;
    for (; *last; last = &(*last)->next)
        count++;
    if (count >= LIMIT_FUNCTIONS)
        diag_error(p->diag, f->at, "more than %d functions", LIMIT_FUNCTIONS);
    *last = f;
}

static bool parse_function(struct parser *p)
{
    struct ast_function *f = ARENA_NEW(p->arena, struct ast_function);
    f->returns_int = at(p, "int");
    advance(p);
    f->at = p->token.at;
    f->name = parse_name(p, "the name of a function");
    if (!f->name || !count_node(p))
        return false;
    if (find_function(p, f->name)) {
        diag_error(p->diag, f->at, "function '%s' is defined twice", f->name);
        return false;
    }
    append_function(p, f);
    p->function = f;
    bool ok = parse_parameters(p, f) && parse_body(p);
    p->function = NULL;
    return ok;
}

/* simple ; .. goto names ; or return ; */
static bool parse_block_end(struct parser *p, struct ast_block *block)
{
    if (accept(p, "return")) {
        block->returns = true;
        return expect(p, ";");
    }
    if (!expect(p, "goto"))
        return false;
    struct ast_block *targets[LIMIT_CASES];
    struct goto_fixup *first = p->gotos;
    do {
        struct goto_fixup *fixup = ARENA_NEW(p->arena, struct goto_fixup);
        fixup->at = p->token.at;
        fixup->name = parse_name(p, "a block");
        if (!fixup->name)
            return false;
        if (block->target_count == LIMIT_CASES) {
            diag_error(p->diag, fixup->at, "more than %d targets", LIMIT_CASES);
            return false;
        }
        targets[block->target_count++] = NULL;
        fixup->next = p->gotos;
        p->gotos = fixup;
    } while (accept(p, ","));
    block->targets = ARENA_ARRAY(p->arena, struct ast_block *, block->target_count);
    memcpy(block->targets, targets, block->target_count * sizeof targets[0]);
    uint32_t i = block->target_count;
    for (struct goto_fixup *fixup = p->gotos; fixup != first; fixup = fixup->next)
        fixup->slot = &block->targets[--i];
    return expect(p, ";");
}

static struct ast_block *find_block(const struct parser *p, const char *name)
{
    for (struct ast_block *b = p->kernel->blocks; b; b = b->next)
        if (strcmp(b->name, name) == 0)
            return b;
    return NULL;
}

static struct ast_block *parse_block(struct parser *p)
{
    struct ast_block *block = ARENA_NEW(p->arena, struct ast_block);
    block->at = p->token.at;
    block->name = parse_name(p, "the name of a block");
    if (!block->name || !count_node(p))
        return NULL;
    if (find_block(p, block->name) || strcmp(block->name, "End") == 0) {
        diag_error(p->diag, block->at, "block '%s' is defined %s", block->name,
                   strcmp(block->name, "End") == 0 ? "by the language" : "twice");
        return NULL;
    }
    if (!expect(p, ":"))
        return NULL;
    struct ast_stm **last = &block->body;
    while (!at(p, "goto") && !at(p, "return")) {
        *last = parse_simple(p);
        if (!*last || !expect(p, ";"))
            return NULL;
        last = &(*last)->next;
    }
    return parse_block_end(p, block) ? block : NULL;
}

static void resolve_gotos(struct parser *p)
{
    for (struct goto_fixup *fixup = p->gotos; fixup; fixup = fixup->next) {
        if (!fixup->slot || strcmp(fixup->name, "End") == 0)
            continue;
        *fixup->slot = find_block(p, fixup->name);
        if (!*fixup->slot)
            diag_error(p->diag, fixup->at, "there is no block '%s'", fixup->name);
    }
}

static bool parse_blocks(struct parser *p)
{
    struct ast_block **last = &p->kernel->blocks;
    uint32_t count = 0;
    advance(p);
    if (!expect(p, "{"))
        return false;
    while (!at(p, "}")) {
        *last = parse_block(p);
        if (!*last)
            return false;
        if (count == 0 && strcmp((*last)->name, "Start") != 0)
            diag_error(p->diag, (*last)->at, "the first block is Start");
        if (++count > LIMIT_LABELS) {
            diag_error(p->diag, (*last)->at, "more than %d blocks", LIMIT_LABELS);
            return false;
        }
        last = &(*last)->next;
    }
    if (count == 0)
        diag_error(p->diag, p->token.at, "a kernel of blocks has at least Start");
    resolve_gotos(p);
    return expect(p, "}");
}

static bool parse_kernel_definition(struct parser *p)
{
    struct ast_function *f = ARENA_NEW(p->arena, struct ast_function);
    f->at = p->token.at;
    advance(p);
    f->name = p->kernel->name = parse_name(p, "the name of the kernel");
    if (!f->name || !expect(p, "(") || !expect(p, ")"))
        return false;
    p->kernel->main = f;
    p->function = f;
    p->in_kernel = true;
    bool ok = at(p, "blocks") ? parse_blocks(p) : parse_body(p);
    p->function = NULL;
    p->in_kernel = false;
    return ok;
}

static uint32_t argument_count(const struct ast_expr *list)
{
    uint32_t count = 0;
    for (; list; list = list->next)
        count++;
    return count;
}

static void resolve_calls(struct parser *p)
{
    for (struct call_fixup *fixup = p->calls; fixup; fixup = fixup->next) {
        struct ast_stm *s = fixup->stm;
        struct ast_function *f = s->function = find_function(p, fixup->name);
        uint32_t given = argument_count(s->arguments);
        if (!f)
            diag_error(p->diag, s->at, "there is no function '%s'", fixup->name);
        else if (given != f->parameter_count)
            diag_error(p->diag, s->at, "'%s' has %u parameter%s, %u given", f->name,
                       f->parameter_count, f->parameter_count == 1 ? "" : "s", given);
        else if (s->target.var && !f->returns_int)
            diag_error(p->diag, s->at, "'%s' returns no value", f->name);
    }
}

/* ---- launch and expectations ---- */

static bool parse_setting(struct parser *p, struct ast_launch *launch)
{
    static const char *const names[] = {"threads", "warp", "blocks", "seed"};
    static const uint64_t limits[] = {LIMIT_THREADS, LIMIT_WARP, LIMIT_BLOCKS, UINT64_MAX};
    int setting = token_index(&p->token, names, 4);
    if (setting < 0) {
        unexpected(p, "threads, warp, blocks or seed");
        return false;
    }
    advance(p);
    if (!expect(p, "="))
        return false;
    if (p->token.kind != TOKEN_NUMBER) {
        unexpected(p, "a number");
        return false;
    }
    uint64_t value = p->token.number;
    if ((value == 0 && setting != 3) || value > limits[setting]) {
        diag_error(p->diag, p->token.at, "%s must be 1 to %llu", names[setting],
                   (unsigned long long)limits[setting]);
        return false;
    }
    advance(p);
    if (setting == 3)
        launch->seed = value;
    else
        *(uint32_t *[]){&launch->threads, &launch->warp, &launch->blocks}[setting] =
            (uint32_t)value;
    return true;
}

static bool parse_launch(struct parser *p)
{
    struct location where = p->token.at;
    p->kernel->launch.at = where;
    advance(p);
    if (!expect(p, "("))
        return false;
    do {
        if (!parse_setting(p, &p->kernel->launch))
            return false;
    } while (accept(p, ","));
    if (!expect(p, ")") || !expect(p, ";"))
        return false;
    if (p->kernel->launch.threads * p->kernel->launch.blocks > LIMIT_TOTAL_THREADS) {
        diag_error(p->diag, where, "more than %d threads in all", LIMIT_TOTAL_THREADS);
        return false;
    }
    return true;
}

/* A number of a `final` claim: with a sign, as printed. */
static bool parse_final_values(struct parser *p, struct ast_expect *claim)
{
    bool braces = accept(p, "{");
    claim->values = ARENA_ARRAY(p->arena, int32_t, claim->var->length);
    do {
        struct location where = p->token.at;
        int32_t value;
        if (!parse_constant(p, &value))
            return false;
        if (claim->value_count == claim->var->length) {
            diag_error(p->diag, where, "more values than '%s' has elements (%u)", claim->var->name,
                       claim->var->length);
            return false;
        }
        claim->values[claim->value_count++] = value;
    } while (braces && accept(p, ","));
    if (claim->var->is_array != braces || claim->value_count != claim->var->length) {
        diag_error(p->diag, claim->at, "'%s' has %u element%s: as many values are needed%s",
                   claim->var->name, claim->var->length, claim->var->length == 1 ? "" : "s",
                   claim->var->is_array ? ", in braces" : "");
        return false;
    }
    return !braces || expect(p, "}");
}

static bool parse_claim_var(struct parser *p, struct ast_expect *claim)
{
    claim->var = p->token.kind == TOKEN_NAME ? find_var(p, &p->token) : NULL;
    if (!claim->var || claim->var->space == SPACE_PRIVATE) {
        diag_error(p->diag, p->token.at, "%s is no global or shared variable", shown(p, &p->token));
        return false;
    }
    advance(p);
    return true;
}

static bool parse_claim(struct parser *p, const struct token *word, struct ast_expect *claim)
{
    struct token name = *word;
    name.kind = TOKEN_NAME;
    int kind = token_index(&name, ast_claim_names, CLAIM_COUNT);
    claim->at = word->at;
    if (kind < 0) {
        diag_error(p->diag, word->at, "%s is no claim", shown(p, word));
        return false;
    }
    claim->claim = (enum ast_claim)kind;
    p->before = *word;
    if (kind == CLAIM_RACE && p->token.kind == TOKEN_NAME)
        return parse_claim_var(p, claim);
    if (kind == CLAIM_FINAL)
        return parse_claim_var(p, claim) && expect(p, "==") && parse_final_values(p, claim);
    return true;
}

/* The words before and after the colons of `expect subject:option: claim`: all but the last are the
 * subject. */
static struct token parse_subject(struct parser *p, const char **subject)
{
    const char *start = p->token.text, *end = NULL;
    for (;;) {
        struct token word = lex_word(&p->lexer, &p->token);
        advance(p);
        if (!at(p, ":") || word.length == 0) {
            if (end)
                *subject = arena_strndup(p->arena, start, (size_t)(end - start));
            return word;
        }
        end = word.text + word.length;
        advance(p);
    }
}

static bool parse_expect(struct parser *p)
{
    static const struct ast_expect NONE = {0};
    struct ast_expect **last = &p->kernel->expects;
    uint32_t group = 0;
    for (; *last; last = &(*last)->next)
        group = (*last)->group + 1;
    advance(p);
    const char *subject = NULL;
    bool first = true;
    do {
        if (p->token.kind != TOKEN_NAME) {
            unexpected(p, "a claim");
            return false;
        }
        struct token word = p->token;
        if (first)
            word = parse_subject(p, &subject);
        else
            advance(p);
        first = false;
        struct ast_expect *claim = ARENA_NEW(p->arena, struct ast_expect);
        *claim = NONE;
        claim->subject = subject;
        claim->group = group;
        if (!count_node(p) || !parse_claim(p, &word, claim))
            return false;
        *last = claim;
        last = &claim->next;
    } while (accept(p, ","));
    return expect(p, ";");
}

/* ---- files ---- */

/* `int f(` and `void f(` start functions, `shared int` a declaration. */
static bool parse_item(struct parser *p)
{
    if (token_space(&p->token) >= 0)
        return parse_decl(p);
    if (at(p, "int") || at(p, "void"))
        return parse_function(p);
    unexpected(p, "a declaration, a function or a kernel");
    return false;
}

/* Skips to the next item of a file. */
static void recover_item(struct parser *p)
{
    static const char *const starts[] = {"shared", "global", "private", "void",
                                         "int",    "kernel", "expect"};
    do
        advance(p);
    while (p->token.kind != TOKEN_END && token_index(&p->token, starts, 7) < 0);
}

static void parse_file(struct parser *p)
{
    if (at(p, "launch") && !parse_launch(p))
        recover_item(p);
    while (p->token.kind != TOKEN_END && !at(p, "kernel"))
        if (!parse_item(p))
            recover_item(p);
    if (p->token.kind == TOKEN_END) {
        if (p->diag->count == 0)
            diag_error(p->diag, p->token.at, "there is no kernel");
        return;
    }
    if (!parse_kernel_definition(p))
        recover_item(p);
    resolve_calls(p);
    while (p->token.kind != TOKEN_END) {
        if (at(p, "expect") && parse_expect(p))
            continue;
        if (!at(p, "expect") && p->diag->count == 0)
            unexpected(p, "'expect'");
        recover_item(p);
    }
}

struct ast_kernel *parse_kernel(struct arena *arena, const char *text, size_t length,
                                struct diag *diag)
{
    struct parser p = {.arena = arena, .diag = diag};
    if (length > LIMIT_SOURCE_BYTES) {
        diag_error(diag, (struct location){0, 0}, "the text is larger than %d bytes",
                   LIMIT_SOURCE_BYTES);
        return NULL;
    }
    p.kernel = ARENA_NEW(arena, struct ast_kernel);
    p.kernel->launch = AST_DEFAULT_LAUNCH;
    lex_init(&p.lexer, text, length, diag);
    advance(&p);
    p.before.length = 0;
    parse_file(&p);
    return diag->count == 0 ? p.kernel : NULL;
}

char *parse_read_file(struct arena *arena, const char *path, size_t *length, struct diag *diag)
{
    struct location nowhere = {0, 0};
    diag_init(diag, path, NULL, 0);
    FILE *file = fopen(path, "rb");
    if (!file) {
        diag_error(diag, nowhere, "cannot open: %s", strerror(errno));
        return NULL;
    }
    char *text = arena_alloc(arena, LIMIT_SOURCE_BYTES + 2, 1);
    *length = fread(text, 1, LIMIT_SOURCE_BYTES + 1, file);
    bool failed = ferror(file);
    int error = errno;
    fclose(file);
    if (failed)
        diag_error(diag, nowhere, "cannot read: %s", strerror(error));
    else if (*length > LIMIT_SOURCE_BYTES)
        diag_error(diag, nowhere, "larger than %d bytes", LIMIT_SOURCE_BYTES);
    else
        diag_init(diag, path, text, *length);
    return diag->count == 0 ? text : NULL;
}
