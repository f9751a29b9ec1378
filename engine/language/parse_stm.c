#include "engine/language/parse_internal.h"

#include <string.h>

static struct ast_stm *parse_stm(struct parser *p);

/* ---- after an error ---- */

/* Skips behind the next ';', or before a brace or a word that starts a statement. */
static void recover(struct parser *p)
{
    static const char *const starts[] = {
        "if",   "while", "do",     "for",    "switch", "break",   "continue", "return", "exit",
        "case", "goto",  "kernel", "expect", "shared", "default", "private",  "void",   "global",
    };
    int count = sizeof starts / sizeof starts[0];
    while (p->token.kind != TOKEN_END && !parser_at(p, "{") && !parser_at(p, "}")) {
        if (parser_accept(p, ";") || parser_index(p, starts, count) >= 0)
            return;
        parser_advance(p);
    }
}

/* From somewhere in the parentheses of a statement's head to behind them, or to the brace that
 * follows. */
static bool skip_head(struct parser *p, bool over_semicolons)
{
    uint32_t open = 0;
    while (p->token.kind != TOKEN_END && !parser_at(p, "}")) {
        if (parser_at(p, "{"))
            return true;
        if (parser_at(p, ";") && !over_semicolons)
            return false;
        bool closes = parser_at(p, ")") && open == 0;
        open += parser_at(p, "(");
        open -= parser_at(p, ")") && !closes;
        parser_advance(p);
        if (!closes)
            continue;
        while (parser_accept(p, ")"))
            continue;
        return true;
    }
    return false;
}

/* ---- simple statements ---- */

static struct ast_stm *new_stm(struct parser *p, enum ast_stm_kind kind, struct location at)
{
    return parser_count(p) ? ast_stm(p->arena, kind, at) : NULL;
}

/* An unknown variable leaves `var` NULL: reported, and parsing goes on behind it. */
static bool parse_lvalue(struct parser *p, struct ast_lvalue *lvalue)
{
    lvalue->at = p->token.at;
    if (!parser_at_name(p)) {
        parser_unexpected(p, "a variable");
        return false;
    }
    lvalue->var = parser_variable(p);
    if (!parser_accept(p, "["))
        return true;
    lvalue->index = parser_expr(p);
    return lvalue->index && parser_expect(p, "]");
}

/* e {, e} behind what is there of the list. */
static bool parse_arguments(struct parser *p, struct ast_expr **list)
{
    do {
        *list = parser_expr(p);
        if (!*list)
            return false;
        list = &(*list)->next;
    } while (parser_accept(p, ","));
    return true;
}

/* name(arguments), at the name. */
static struct ast_stm *parse_call(struct parser *p, struct location at,
                                  const struct ast_lvalue *target)
{
    if (parser_find_variable(p)) {
        parser_error(p, p->token.at, "%s is a variable, not a function", parser_show(p, &p->token));
        return NULL;
    }
    struct ast_stm *s = new_stm(p, STM_CALL, at);
    if (!s)
        return NULL;
    s->target = *target;
    struct parse_call *call = ARENA_NEW(p->arena, struct parse_call);
    call->stm = s;
    call->at = p->token.at;
    call->name = parser_name(p, "a function");
    if (!call->name || !parser_expect(p, "("))
        return NULL;
    if (!parser_at(p, ")") && !parse_arguments(p, &s->arguments))
        return NULL;
    if (parser_at(p, ":") && strcmp(call->name, "pick") == 0) {
        parser_error(p, call->at,
                     p->form == FORM_STRUCTURED
                         ? "'pick' stands only in a kernel in block or lock-step form"
                         : "'pick' has no value: its variable stands in the parentheses");
        return NULL;
    }
    if (!parser_expect(p, ")"))
        return NULL;
    call->next = p->calls;
    p->calls = call;
    return s;
}

/* value : condition {, value : condition} behind what is there of the list. */
static bool parse_alternatives(struct parser *p, struct ast_expr **list)
{
    do {
        int32_t value = 0;
        struct location at = p->token.at;
        if (!parser_constant(p, &value) || !parser_count(p))
            return false;
        *list = ast_int(p->arena, value);
        (*list)->at = at;
        list = &(*list)->next;
        if (!parser_expect(p, ":") || !(*list = parser_expr(p)))
            return false;
        list = &(*list)->next;
    } while (parser_accept(p, ","));
    return true;
}

/* pick(v, k1 : e1, .., kn : en), behind the word. */
static struct ast_stm *parse_pick(struct parser *p, struct location at)
{
    struct ast_stm *s = new_stm(p, STM_PICK, at);
    if (!s || !parser_expect(p, "(") || !parse_lvalue(p, &s->target) || !parser_expect(p, ",") ||
        !parse_alternatives(p, &s->arguments))
        return NULL;
    return parser_expect(p, ")") && s->target.var ? s : NULL;
}

/* `pick` is a word of the block forms only, and only before a parenthesis. */
static bool at_pick(const struct parser *p)
{
    return p->form != FORM_STRUCTURED && parser_at(p, "pick") && parser_next_is(p, "(");
}

/* Whether what stands here, behind its target or without one, looks like a call. In the block forms
 * no call has a value. */
static bool at_call(const struct parser *p)
{
    return parser_at_name(p) && parser_next_is(p, "(");
}

static struct ast_stm *parse_atomic(struct parser *p, struct location at,
                                    const struct ast_lvalue *target, int atomic)
{
    struct ast_stm *s = new_stm(p, STM_ATOMIC, at);
    if (!s)
        return NULL;
    s->atomic = (enum ast_atomic)atomic;
    s->target = *target;
    parser_advance(p);
    if (!parser_expect(p, "(") || !parse_lvalue(p, &s->place))
        return NULL;
    if (parser_accept(p, ",") && !parse_arguments(p, &s->arguments))
        return NULL;
    return parser_expect(p, ")") && s->place.var ? s : NULL;
}

static struct ast_stm *parse_vote(struct parser *p, struct location at,
                                  const struct ast_lvalue *target, int vote)
{
    struct ast_stm *s = new_stm(p, STM_VOTE, at);
    if (!s)
        return NULL;
    s->vote = (enum ast_vote)vote;
    s->target = *target;
    parser_advance(p);
    if (!parser_expect(p, "("))
        return NULL;
    s->value = parser_expr(p);
    return s->value && parser_expect(p, ")") ? s : NULL;
}

static struct ast_stm *parse_value(struct parser *p, struct location at,
                                   const struct ast_lvalue *target, enum ast_assign_op op)
{
    struct ast_stm *s = new_stm(p, STM_ASSIGN, at);
    if (!s)
        return NULL;
    s->op = op;
    s->target = *target;
    s->value = parser_expr(p);
    return s->value ? s : NULL;
}

/* What stands right of `target =`. */
static struct ast_stm *parse_set(struct parser *p, struct location at,
                                 const struct ast_lvalue *target)
{
    int atomic = parser_index(p, ast_atomic_names, ATOMIC_COUNT);
    if (atomic >= 0)
        return parse_atomic(p, at, target, atomic);
    int vote = parser_index(p, ast_vote_names, VOTE_COUNT);
    if (vote >= 0)
        return parse_vote(p, at, target, vote);
    bool reduces = p->form != FORM_STRUCTURED && (parser_at(p, "all") || parser_at(p, "any"));
    if (at_call(p) && !reduces)
        return parse_call(p, at, target);
    return parse_value(p, at, target, ASSIGN_SET);
}

/* target++ and target--: by one, as op= does it. */
static struct ast_stm *parse_step(struct parser *p, struct location at,
                                  const struct ast_lvalue *target)
{
    struct ast_stm *s = new_stm(p, STM_ASSIGN, at);
    if (!s || !parser_count(p))
        return NULL;
    s->op = parser_at(p, "++") ? ASSIGN_ADD : ASSIGN_SUB;
    s->target = *target;
    s->value = ast_int(p->arena, 1);
    s->value->at = p->token.at;
    parser_advance(p);
    return s;
}

static struct ast_stm *parse_assign(struct parser *p)
{
    struct ast_lvalue target = {0};
    struct location at = p->token.at;
    struct ast_stm *s = NULL;
    if (!parse_lvalue(p, &target))
        return NULL;
    int op = parser_index(p, ast_assign_names, ASSIGN_COUNT);
    if (op >= 0) {
        parser_advance(p);
        s = op == ASSIGN_SET ? parse_set(p, at, &target)
                             : parse_value(p, at, &target, (enum ast_assign_op)op);
    } else if (parser_at(p, "++") || parser_at(p, "--")) {
        s = parse_step(p, at, &target);
    } else if (target.var) {
        parser_unexpected(p, "an assignment");
    }
    return target.var ? s : NULL; /* of an unknown variable nothing is made */
}

static struct ast_stm *parse_havoc(struct parser *p, struct location at)
{
    struct ast_stm *s = new_stm(p, STM_HAVOC, at);
    if (!s || !parser_expect(p, "(") || !parse_lvalue(p, &s->place))
        return NULL;
    return parser_expect(p, ")") && s->place.var ? s : NULL;
}

/* word(), word(e), word(e, e); sync(e) is another statement than sync(b, n). */
static struct ast_stm *parse_operation(struct parser *p, struct location at, enum ast_stm_kind kind,
                                       uint32_t operands)
{
    struct ast_stm *s = new_stm(p, kind, at);
    if (!s || !parser_expect(p, "("))
        return NULL;
    if (operands > 0 && !(s->value = parser_expr(p)))
        return NULL;
    if (kind == STM_SYNC && parser_accept(p, ")")) {
        s->kind = STM_LOCKSYNC;
        return s;
    }
    if (operands > 1 && (!parser_expect(p, ",") || !(s->second = parser_expr(p))))
        return NULL;
    return parser_expect(p, ")") ? s : NULL;
}

/* requires e, invariant e: an assume, an assert that proofs make more of. */
static struct ast_stm *parse_annotation(struct parser *p, struct location at,
                                        enum ast_stm_kind kind)
{
    struct ast_stm *s = new_stm(p, kind, at);
    if (!s || !(s->value = parser_expr(p)))
        return NULL;
    s->annotation = true;
    return s;
}

static struct ast_stm *not_a_statement(struct parser *p)
{
    if (parser_index(p, ast_vote_names, VOTE_COUNT) >= 0)
        parser_error(p, p->token.at, "the value of %s must go into a variable",
                     parser_show(p, &p->token));
    else if (parser_at(p, "++") || parser_at(p, "--"))
        parser_error(p, p->token.at, "%s stands behind its variable", parser_show(p, &p->token));
    else
        parser_unexpected(p, "a statement");
    return NULL;
}

struct ast_stm *parser_simple(struct parser *p)
{
    static const struct {
        enum ast_stm_kind kind;
        uint32_t operands;
    } operations[] = {
        {STM_BARRIER, 0}, {STM_MEMBAR, 0}, {STM_ASSERT, 1},
        {STM_ASSUME, 1},  {STM_SYNC, 2},   {STM_ARRIVE, 2},
    };
    static const struct ast_lvalue none;
    struct location at = p->token.at;
    for (uint32_t i = 0; i < sizeof operations / sizeof operations[0]; i++)
        if (parser_accept(p, ast_stm_names[operations[i].kind]))
            return parse_operation(p, at, operations[i].kind, operations[i].operands);
    if (parser_accept(p, "requires"))
        return parse_annotation(p, at, STM_ASSUME);
    if (parser_accept(p, "invariant"))
        return parse_annotation(p, at, STM_ASSERT);
    if (parser_accept(p, "skip"))
        return new_stm(p, STM_SKIP, at);
    if (parser_accept(p, "havoc"))
        return parse_havoc(p, at);
    int atomic = parser_index(p, ast_atomic_names, ATOMIC_COUNT);
    if (atomic >= 0)
        return parse_atomic(p, at, &none, atomic);
    if (!parser_at_name(p))
        return not_a_statement(p);
    if (at_pick(p)) {
        parser_advance(p);
        return parse_pick(p, at);
    }
    return at_call(p) ? parse_call(p, at, &none) : parse_assign(p);
}

/* Where there are no guards, an `if` more often follows a missing ';' than it is one. */
bool parser_guard(struct parser *p, struct ast_stm *stm)
{
    if (!parser_at(p, "if") || (p->form == FORM_STRUCTURED && !parser_guard_is_next(p)))
        return true;
    parser_advance(p);
    if (!parser_expect(p, "("))
        return false;
    stm->guard = parser_expr(p);
    return stm->guard && parser_expect(p, ")");
}

/* ---- lists and parts ---- */

static bool at_file_item(const struct parser *p)
{
    static const char *const words[] = {"kernel", "expect", "shared", "global",
                                        "void",   "launch", "input"};
    return parser_index(p, words, sizeof words / sizeof words[0]) >= 0;
}

static bool at_case(const struct parser *p)
{
    return parser_at(p, "case") || parser_at(p, "default");
}

/* Statements up to a '}', a case (in a switch), or what can only stand outside of bodies. */
static void parse_list(struct parser *p, struct ast_stm **list, bool in_switch)
{
    while (p->token.kind != TOKEN_END && !parser_at(p, "}") && !at_file_item(p) &&
           !(in_switch && at_case(p))) {
        const char *start = p->token.text;
        *list = parse_stm(p);
        if (*list) {
            list = &(*list)->next;
            continue;
        }
        recover(p);
        if (p->token.text == start)
            parser_advance(p);
    }
}

/* { stm } without what is inside: at the '{', and behind the '}' where there is one. */
static struct ast_stm *parse_braces(struct parser *p)
{
    struct ast_stm *s = new_stm(p, STM_BLOCK, p->token.at);
    if (!s)
        return NULL;
    parser_advance(p);
    parse_list(p, &s->body, false);
    parser_expect(p, "}");
    return s;
}

/* The statement that an if or a loop governs. Braces around a single one are not kept: the printer
 * puts them around all. What cannot be parsed is replaced by `;`, so that an else or a while that
 * follows is not an error. deeper: how much it is nested more, in shares of a level. */
static struct ast_stm *parse_governed(struct parser *p, uint32_t deeper)
{
    struct location at = p->token.at;
    p->depth += deeper;
    struct ast_stm *s = parser_at(p, "{") ? parse_braces(p) : parse_stm(p);
    p->depth -= deeper;
    if (!s) {
        recover(p);
        return ast_stm(p->arena, STM_SKIP, at);
    }
    while (s->kind == STM_BLOCK && s->body && !s->body->next)
        s = s->body;
    return s;
}

static struct ast_stm *parse_part(struct parser *p)
{
    return parse_governed(p, LIMIT_CHAIN);
}

/* ---- compound statements ---- */

static bool parse_guard(struct parser *p, struct ast_stm *s)
{
    if (!parser_expect(p, "("))
        return false;
    s->value = parser_expr(p);
    if (s->value && parser_expect(p, ")"))
        return true;
    s->value = ast_int(p->arena, 0);
    return skip_head(p, false);
}

static struct ast_stm *parse_if(struct parser *p, struct ast_stm *s)
{
    if (!parse_guard(p, s))
        return NULL;
    s->body = parse_part(p);
    if (parser_accept(p, "else"))
        s->other = parse_governed(p, parser_at(p, "if") ? 1 : LIMIT_CHAIN);
    return s;
}

static struct ast_stm *parse_while(struct parser *p, struct ast_stm *s)
{
    if (!parse_guard(p, s))
        return NULL;
    s->body = parse_part(p);
    return s;
}

static struct ast_stm *parse_do(struct parser *p, struct ast_stm *s)
{
    s->body = parse_part(p);
    return parser_expect(p, "while") && parse_guard(p, s) && parser_expect(p, ";") ? s : NULL;
}

static bool parse_for_head(struct parser *p, struct ast_stm *s)
{
    if (!parser_at(p, ";") && !(s->init = parser_simple(p)))
        return false;
    if (!parser_expect(p, ";"))
        return false;
    if (!parser_at(p, ";") && !(s->value = parser_expr(p)))
        return false;
    if (!parser_expect(p, ";"))
        return false;
    if (!parser_at(p, ")") && !(s->step = parser_simple(p)))
        return false;
    return parser_expect(p, ")");
}

static struct ast_stm *parse_for(struct parser *p, struct ast_stm *s)
{
    if (!parser_expect(p, "("))
        return NULL;
    if (!parse_for_head(p, s) && !skip_head(p, true))
        return NULL;
    s->body = parse_part(p);
    return s;
}

/* The label of a case; where it is wrong, parsing goes on behind its colon. */
static void parse_label(struct parser *p, struct ast_case *c)
{
    c->is_default = parser_accept(p, "default");
    if (!c->is_default) {
        parser_advance(p);
        if (!parser_constant(p, &c->value)) {
            p->unsound = true;
            while (p->token.kind != TOKEN_END && !parser_at(p, ":") && !parser_at(p, ";") &&
                   !parser_at(p, "{") && !parser_at(p, "}"))
                parser_advance(p);
        }
    }
    parser_expect(p, ":");
}

static struct ast_case *parse_case(struct parser *p)
{
    struct ast_case *c = ARENA_NEW(p->arena, struct ast_case);
    c->at = p->token.at;
    if (!parser_count(p))
        return NULL;
    parse_label(p, c);
    p->depth += LIMIT_CHAIN;
    parse_list(p, &c->body, true);
    p->depth -= LIMIT_CHAIN;
    return c;
}

static struct ast_stm *parse_switch(struct parser *p, struct ast_stm *s)
{
    if (!parse_guard(p, s) || !parser_expect(p, "{"))
        return NULL;
    struct ast_case **last = &s->cases;
    if (!at_case(p) && !parser_at(p, "}")) {
        struct ast_stm *dropped = NULL;
        parser_unexpected(p, "'case', 'default' or '}'");
        parse_list(p, &dropped, true);
    }
    while (at_case(p) && (*last = parse_case(p)))
        last = &(*last)->next;
    return parser_expect(p, "}") ? s : NULL;
}

static struct ast_stm *parse_jump(struct parser *p, struct ast_stm *s)
{
    if (s->kind == STM_RETURN && !parser_at(p, ";") && !(s->value = parser_expr(p)))
        return NULL;
    return parser_expect(p, ";") ? s : NULL;
}

static const struct {
    enum ast_stm_kind kind;
    struct ast_stm *(*parse)(struct parser *, struct ast_stm *);
} compounds[] = {
    {STM_IF, parse_if},     {STM_WHILE, parse_while},   {STM_DO, parse_do},
    {STM_FOR, parse_for},   {STM_SWITCH, parse_switch}, {STM_BREAK, parse_jump},
    {STM_EXIT, parse_jump}, {STM_CONTINUE, parse_jump}, {STM_RETURN, parse_jump},
};

/* What stands where a statement should, and is none; false: nothing of the kind. */
static bool misplaced(struct parser *p)
{
    static const struct {
        const char *word, *message;
    } words[] = {
        {"private", "variables are declared at the start of a body"},
        {"int", "variables of a body are declared at its start, as 'private int'"},
        {"goto", "'goto' stands only at the end of a block of a block-form kernel"},
        {"else", "'else' without 'if'"},
        {"case", "'case' outside of a switch"},
        {"default", "'default' outside of a switch"},
    };
    for (uint32_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (parser_at(p, words[i].word)) {
            parser_error(p, p->token.at, "%s", words[i].message);
            return true;
        }
    return false;
}

static struct ast_stm *parse_stm(struct parser *p)
{
    struct location at = p->token.at;
    if (p->depth > LIMIT_DEPTH * LIMIT_CHAIN) {
        parser_stop(p, at, "statements are nested more than %d deep", LIMIT_DEPTH);
        return NULL;
    }
    if (parser_accept(p, ";"))
        return new_stm(p, STM_SKIP, at);
    if (parser_at(p, "{")) {
        p->depth += LIMIT_CHAIN;
        struct ast_stm *s = parse_braces(p);
        p->depth -= LIMIT_CHAIN;
        return s;
    }
    if (misplaced(p)) {
        parser_advance(p);
        return NULL;
    }
    for (uint32_t i = 0; i < sizeof compounds / sizeof compounds[0]; i++)
        if (parser_accept(p, ast_stm_names[compounds[i].kind])) {
            struct ast_stm *s = new_stm(p, compounds[i].kind, at);
            return s ? compounds[i].parse(p, s) : NULL;
        }
    struct ast_stm *s = parser_simple(p);
    return s && parser_guard(p, s) && parser_expect(p, ";") ? s : NULL;
}

/* Behind the ';' of a declaration that is wrong, over the braces of its initialiser. */
static void skip_declaration(struct parser *p)
{
    while (p->token.kind != TOKEN_END && !parser_at(p, "}") && !at_file_item(p)) {
        if (parser_accept(p, ";"))
            return;
        bool braces = parser_accept(p, "{");
        while (braces && p->token.kind != TOKEN_END && !parser_at(p, "}") && !parser_at(p, ";"))
            parser_advance(p);
        if (!braces || parser_at(p, "}"))
            parser_advance(p);
    }
}

void parser_decls(struct parser *p)
{
    while (parser_at_space(p))
        if (!parser_decl(p))
            skip_declaration(p);
}

bool parser_body(struct parser *p)
{
    if (!parser_expect(p, "{"))
        return false;
    parser_decls(p);
    p->depth = LIMIT_CHAIN;
    parse_list(p, &p->function->body, false);
    return parser_expect(p, "}");
}
