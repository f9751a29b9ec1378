/*
 * drawn_stm.c - statements of a drawn kernel.
 */
#include "oracle/drawn/drawn_internal.h"

/* ---- simple statements ---- */

/* A guard where none may stand. */
static void may_be_guarded(struct maker *m, const char *told)
{
    if (!maker_errs(m, told))
        return;
    put(m, "if");
    put(m, "(");
    maker_wrong(m, "1");
    put(m, ")");
}

static void assign(struct maker *m, bool guarded)
{
    static const char *const tokens[ASSIGN_COUNT] = {
        [ASSIGN_SET] = "=",  [ASSIGN_ADD] = "+=", [ASSIGN_SUB] = "-=", [ASSIGN_MUL] = "*=",
        [ASSIGN_XOR] = "^=", [ASSIGN_OR] = "|=",  [ASSIGN_AND] = "&="};
    uint32_t op = guarded || once_in(m, 2) ? ASSIGN_SET : below(m, ASSIGN_COUNT);
    bool steps = (op == ASSIGN_ADD || op == ASSIGN_SUB) && once_in(m, 2);
    say(m, words_of_assignment[op]);
    maker_place(m, false, 2);
    if (steps) {
        put(m, op == ASSIGN_ADD ? "++" : "--");
        say(m, "1");
        return;
    }
    put(m, tokens[op]);
    maker_expression(m);
    if (op != ASSIGN_SET && m->form != FORM_STRUCTURED)
        may_be_guarded(m, "an assignment with a guard is written with '='");
}

static void target(struct maker *m, bool needed, bool is_private)
{
    if (!needed && once_in(m, 2)) {
        say(m, "-");
        return;
    }
    maker_place(m, is_private, 1);
    put(m, "=");
}

static void atomic(struct maker *m)
{
    static const char *const tokens[ATOMIC_COUNT] = {
        [ATOMIC_ADD] = "atomic_add", [ATOMIC_MIN] = "atomic_min", [ATOMIC_MAX] = "atomic_max",
        [ATOMIC_AND] = "atomic_and", [ATOMIC_OR] = "atomic_or",   [ATOMIC_EXCH] = "atomic_exch",
        [ATOMIC_CAS] = "atomic_cas"};
    uint32_t op = below(m, ATOMIC_COUNT);
    say(m, words_of_atomic[op]);
    target(m, false, false);
    put(m, tokens[op]);
    put(m, "(");
    maker_place(m, false, 2);
    say(m, "{");
    for (uint32_t i = 0; i < (op == ATOMIC_CAS ? 2u : 1u); i++) {
        put(m, ",");
        maker_expression(m);
    }
    say(m, "}");
    put(m, ")");
}

static void vote(struct maker *m)
{
    static const char *const tokens[VOTE_COUNT] = {[VOTE_ALL] = "vote_all",
                                                   [VOTE_ANY] = "vote_any",
                                                   [VOTE_UNI] = "vote_uni",
                                                   [VOTE_BALLOT] = "vote_ballot"};
    uint32_t op = below(m, VOTE_COUNT);
    say(m, words_of_vote[op]);
    target(m, true, false);
    put(m, tokens[op]);
    put(m, "(");
    maker_expression(m);
    put(m, ")");
}

/* word(e, ..): so many operands. */
static void operation(struct maker *m, const char *token, const char *word, uint32_t operands)
{
    say(m, word);
    put(m, token);
    put(m, "(");
    for (uint32_t i = 0; i < operands; i++) {
        put(m, i ? "," : "");
        maker_expression(m);
    }
    put(m, ")");
    for (uint32_t i = operands; i > 0 && i < 2; i++)
        say(m, "-");
}

static void annotation(struct maker *m, const char *token)
{
    say(m, token);
    put(m, token);
    maker_expression(m);
    say(m, "-");
}

static void havoc(struct maker *m)
{
    say(m, "anything");
    put(m, "havoc");
    put(m, "(");
    maker_place(m, false, 2);
    put(m, ")");
}

static void pick(struct maker *m)
{
    uint32_t count = 1 + below(m, 3);
    say(m, "pick");
    put(m, "pick");
    put(m, "(");
    maker_scalar(m, maker_find(m, false, true));
    say(m, "{");
    for (uint32_t i = 0; i < count; i++) {
        put(m, ",");
        int32_t value = maker_constant(m);
        drawn_number_word(m->d, value);
        put(m, ":");
        maker_expression(m);
    }
    say(m, "}");
    put(m, ")");
}

/* A private variable that takes what comes out. */
static bool is_taker(const struct maker *m, const struct name *n)
{
    return n->length == 0 && n->space >= SPACE_PRIVATE && !maker_is_hidden(m, n);
}

/* The words of what goes in stand before those of what comes out: these are kept meanwhile. */
static void arguments(struct maker *m, const struct callee *callee)
{
    struct drawn *d = m->d;
    struct text in = {.arena = d->arena}, out = {.arena = d->arena}, words = d->words;
    uint32_t taken = 0;
    for (uint32_t i = 0; i < callee->count; i++) {
        put(m, i ? "," : "");
        d->words = callee->outs[i] ? out : in;
        if (callee->outs[i]) {
            while (!is_taker(m, &m->names[taken]))
                taken++;
            maker_scalar(m, &m->names[taken++]);
            out = d->words;
        } else {
            maker_expression(m);
            in = d->words;
        }
    }
    d->words = words;
    say(m, arena_printf(d->arena, "{ %s} { %s}", in.bytes ? in.bytes : "",
                        out.bytes ? out.bytes : ""));
}

static uint32_t takers(const struct maker *m)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->count; i++)
        count += is_taker(m, &m->names[i]);
    return count;
}

/* (1, a, 1, b): numbers go in; what comes out goes to private variables, one each, or all to one, or to a number. */
static void plain_arguments(struct maker *m, const struct callee *callee, bool to_one, bool to_none)
{
    uint32_t taken = 0;
    put(m, "(");
    for (uint32_t i = 0, outs = 0; i < callee->count; i++) {
        put(m, i ? "," : "");
        if (!callee->outs[i]) {
            put(m, "1");
            continue;
        }
        while (!is_taker(m, &m->names[taken]))
            taken++;
        if ((to_one && outs == 1) || (to_none && outs == 0))
            maker_wrong(m, to_none ? "1" : m->names[taken].name);
        else
            put(m, m->names[taken].name);
        taken += !to_one;
        outs++;
    }
}

static bool wrong_call(struct maker *m, const struct callee *callee)
{
    uint32_t outs = 0;
    for (uint32_t i = 0; i < callee->count; i++)
        outs += callee->outs[i];
    const bool many = maker_errs(m, "takes"),
               to_one = outs > 1 && maker_errs(m, "takes two out-parameters of one call"),
               to_none = outs > 0 && maker_errs(m, "needs a private variable");
    if (!many && !to_one && !to_none)
        return false;
    if (many)
        maker_wrong(m, callee->name);
    else
        put(m, callee->name);
    plain_arguments(m, callee, to_one, to_none);
    put(m, many && callee->count ? "," : "");
    put(m, many ? "1" : "");
    put(m, ")");
    return true;
}

static void call(struct maker *m)
{
    const struct callee *callee = &m->callees[below(m, m->callee_count)];
    if (wrong_call(m, callee))
        return;
    say(m, "call");
    if (callee->returns_int)
        target(m, false, true);
    else
        say(m, "-");
    say(m, callee->name);
    put(m, callee->name);
    put(m, "(");
    arguments(m, callee);
    put(m, ")");
}

enum { VOTE = 12 };

/* Statements that take a guard come first, those that take none last. */
static void simple(struct maker *m, bool guarded)
{
    const uint32_t kind = below(m, guarded ? 8 : 20);
    switch (kind) {
    case 0:
        operation(m, "barrier", "barrier", 0);
        break;
    case 1:
        havoc(m);
        break;
    case 2:
    case 3:
        atomic(m);
        break;
    case 4:
        if (m->form == FORM_STRUCTURED)
            assign(m, guarded);
        else
            pick(m);
        break;
    case 10:
    case 11:
        if (m->callee_count > 0 && takers(m) >= 4)
            call(m);
        else
            assign(m, guarded);
        break;
    case VOTE:
        vote(m);
        break;
    case 13:
        operation(m, "membar", "fence", 0);
        break;
    case 14:
        operation(m, "assert", "assert", 1);
        break;
    case 15:
        operation(m, "assume", "assume", 1);
        break;
    case 16:
        annotation(m, once_in(m, 2) ? "requires" : "invariant");
        break;
    case 17:
        operation(m, "sync", "meet", 2);
        break;
    case 18:
        if (m->form == FORM_LOCKSTEP)
            operation(m, "sync", "all-meet", 1);
        else
            operation(m, "arrive", "arrive", 2);
        break;
    case 19:
        say(m, "skip");
        put(m, "skip");
        break;
    default:
        assign(m, guarded);
        break;
    }
    if (kind >= VOTE && m->form != FORM_STRUCTURED)
        may_be_guarded(m, "takes no guard");
}

static void guard(struct maker *m)
{
    put(m, "if");
    put(m, "(");
    maker_expression(m);
    put(m, ")");
}

/* The guard's words stand in front of the statement's. */
void maker_guarded(struct maker *m)
{
    struct drawn *d = m->d;
    struct text words = d->words;
    d->words = (struct text){.arena = d->arena};
    simple(m, true);
    const char *inner = d->words.bytes;
    d->words = words;
    say(m, "guarded");
    guard(m);
    text_put(&d->words, inner);
}

/* ---- statements ---- */

static void statement(struct maker *m, uint32_t nested, bool single);

static void list(struct maker *m, uint32_t most, uint32_t nested)
{
    uint32_t count = below(m, most + 1);
    say(m, "{");
    for (uint32_t i = 0; i < count; i++)
        statement(m, nested, count == 1);
    say(m, "}");
}

/* What an if or a loop governs: a simple statement may stand without braces. An inner `if` too, when no `else`
 * follows. */
static void part(struct maker *m, uint32_t nested, bool else_follows)
{
    bool in_braces = nested == 0 || !once_in(m, 3);
    if (in_braces) {
        put(m, "{");
        list(m, 3, nested > 0 ? nested - 1 : 0);
        put(m, "}");
        return;
    }
    say(m, "{");
    statement(m, else_follows ? 0 : nested - 1, true);
    say(m, "}");
}

static void condition(struct maker *m)
{
    put(m, "(");
    maker_expression(m);
    put(m, ")");
}

static void loop_part(struct maker *m, uint32_t nested)
{
    bool in_loop = m->in_loop, breakable = m->breakable;
    m->in_loop = m->breakable = true;
    part(m, nested, true);
    m->in_loop = in_loop;
    m->breakable = breakable;
}

static void if_statement(struct maker *m, uint32_t nested)
{
    bool has_else = once_in(m, 2);
    say(m, "if");
    put(m, "if");
    condition(m);
    part(m, nested, has_else);
    if (!has_else) {
        say(m, "{ }");
        return;
    }
    put(m, "else");
    if (once_in(m, 3) && nested > 0) {
        say(m, "{");
        if_statement(m, nested - 1);
        say(m, "}");
    } else {
        part(m, nested, true);
    }
}

static void head_part(struct maker *m)
{
    say(m, "{");
    if (!once_in(m, 3))
        assign(m, false);
    say(m, "}");
}

static void for_statement(struct maker *m, uint32_t nested)
{
    say(m, "for");
    put(m, "for");
    put(m, "(");
    head_part(m);
    put(m, ";");
    if (once_in(m, 4))
        say(m, "-");
    else
        maker_expression(m);
    put(m, ";");
    head_part(m);
    put(m, ")");
    loop_part(m, nested);
}

/* Not one of those before it. */
static void new_label(struct maker *m, int32_t *labels, uint32_t count)
{
    struct text *text = &m->d->text;
    size_t before = text->length;
    uint32_t k = 0;
    do {
        text->length = before;
        labels[count] = maker_constant(m);
        for (k = 0; k < count && labels[k] != labels[count]; k++)
            continue;
    } while (k < count);
}

static void switch_statement(struct maker *m, uint32_t nested)
{
    bool breakable = m->breakable;
    int32_t labels[4];
    uint32_t count = 0;
    say(m, "switch");
    put(m, "switch");
    condition(m);
    put(m, "{");
    say(m, "{");
    m->breakable = true;
    for (uint32_t i = below(m, 4); i > 0; i--) {
        put(m, "case");
        new_label(m, labels, count);
        drawn_number_word(m->d, labels[count++]);
        put(m, ":");
        list(m, 2, nested - 1);
    }
    if (count > 0 && maker_errs(m, "duplicate case value")) {
        maker_wrong(m, "case");
        put(m, arena_printf(m->d->arena, "%d", (int)labels[below(m, count)]));
        put(m, ":");
    }
    if (maker_errs(m, "'default' must be the last case")) {
        maker_wrong(m, "default");
        put(m, ": case 77 :");
        list(m, 2, nested - 1);
    }
    if (once_in(m, 2)) {
        put(m, "default");
        put(m, ":");
        say(m, "otherwise");
        list(m, 2, nested - 1);
    }
    put(m, "}");
    say(m, "}");
    m->breakable = breakable;
}

/* A jump where there is nothing to leave, a value for nobody, or none. */
static bool wrong_jump(struct maker *m)
{
    if (!m->breakable && maker_errs(m, "'break' outside of a loop or switch"))
        maker_wrong(m, "break");
    else if (!m->in_loop && maker_errs(m, "'continue' outside of a loop"))
        maker_wrong(m, "continue");
    else if (m->is_main && maker_errs(m, "a kernel returns no value"))
        maker_wrong(m, "return");
    else if (!m->is_main &&
             maker_errs(m, m->returns_int ? "must return a value" : "returns no value"))
        maker_wrong(m, "return");
    else
        return false;
    if (!m->returns_int && m->d->text.bytes[m->mistake->at] == 'r')
        put(m, "1");
    put(m, ";");
    return true;
}

static void jump(struct maker *m)
{
    uint32_t kind = below(m, 4);
    if (wrong_jump(m))
        return;
    const char *token = kind == 0 && m->breakable ? "break"
                        : kind == 1 && m->in_loop ? "continue"
                        : kind == 2               ? "exit"
                                                  : "return";
    put(m, token);
    say(m, *token == 'b' ? "leave" : *token == 'c' ? "again" : token);
    if (*token == 'r') {
        if (m->returns_int)
            maker_expression(m);
        else
            say(m, "-");
        say(m, "-");
    }
    put(m, ";");
}

static void compound(struct maker *m, uint32_t nested, bool single)
{
    switch (below(m, single ? 5 : 6)) {
    case 0:
        say(m, "while");
        put(m, "while");
        condition(m);
        loop_part(m, nested);
        break;
    case 1:
        say(m, "do");
        put(m, "do");
        loop_part(m, nested);
        put(m, "while");
        condition(m);
        put(m, ";");
        break;
    case 2:
        for_statement(m, nested);
        break;
    case 3:
        switch_statement(m, nested);
        break;
    case 4:
        if_statement(m, nested);
        break;
    default: /* alone in a part, its braces would be the part's */
        put(m, "{");
        list(m, 2, nested - 1);
        put(m, "}");
        break;
    }
}

static void statement(struct maker *m, uint32_t nested, bool single)
{
    uint32_t kind = below(m, 8);
    if (m->left == 0) {
        put(m, ";");
        say(m, "skip");
        return;
    }
    m->left--;
    if (kind < 3 && nested > 0) {
        compound(m, nested, single);
    } else if (kind == 3) {
        jump(m);
    } else {
        simple(m, false);
        may_be_guarded(m, "a guard stands only behind a statement");
        put(m, ";");
    }
}

void maker_simple(struct maker *m)
{
    simple(m, false);
}

void maker_statements(struct maker *m)
{
    list(m, 5, NESTED);
}
