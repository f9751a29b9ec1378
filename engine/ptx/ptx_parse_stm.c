#include "engine/ptx/ptx_parse_internal.h"

#include <string.h>

enum { SUFFIXES = 16, GROUPS = 16, SHOWN = 60 };

/* The modifiers of one instruction as they stand in the text. */
struct suffixes {
    struct ptx_token tokens[SUFFIXES];
    uint32_t count;
};

/* ---- which form ---- */

/* How far the modifiers fit a form. */
struct match {
    uint32_t taken;         /* modifiers that fit */
    struct ptx_group lacks; /* the group that the next one does not fit; words NULL: none */
    bool fits;
    uint8_t words[PTX_SLOT_COUNT];
};

static bool take(struct match *m, const struct suffixes *s, const struct ptx_group *group)
{
    if (m->taken == s->count)
        return false;
    const struct ptx_token *t = &s->tokens[m->taken];
    if (m->words[group->slot] != PTX_W_NONE || !ptx_group_has(group, t->text, t->length))
        return false;
    m->words[group->slot] = (uint8_t)ptx_word_find(t->text, t->length);
    m->taken++;
    return true;
}

static void take_floating(struct match *m, const struct suffixes *s, const struct ptx_group *groups,
                          uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (groups[i].floating && take(m, s, &groups[i]))
            i = UINT32_MAX; /* from the first one again */
}

static struct match match_form(const struct suffixes *s, const char *pattern)
{
    struct ptx_group groups[GROUPS];
    struct match m = {.taken = 0};
    uint32_t count = 0;
    while (count < GROUPS && ptx_group_next(&pattern, &groups[count]))
        count++;
    for (uint32_t i = 0; i < count && !m.lacks.words; i++) {
        take_floating(&m, s, groups, count);
        if (!groups[i].floating && !take(&m, s, &groups[i]) && !groups[i].optional)
            m.lacks = groups[i];
    }
    take_floating(&m, s, groups, count);
    for (uint32_t i = 0; i < count && !m.lacks.words; i++)
        if (groups[i].floating && !groups[i].optional && m.words[groups[i].slot] == PTX_W_NONE)
            m.lacks = groups[i];
    m.fits = m.taken == s->count && !m.lacks.words;
    return m;
}

static void report_mismatch(struct ptx_parser *p, const struct ptx_token *mnemonic,
                            const struct suffixes *s, const struct match *best)
{
    int length = (int)mnemonic->length;
    if (best->taken < s->count) {
        const struct ptx_token *t = &s->tokens[best->taken];
        ptx_error(p, t->at, "'.%.*s' is not supported here in '%.*s'",
                  (int)(t->length > SHOWN ? SHOWN : t->length), t->text, length, mnemonic->text);
        return;
    }
    int shown = (int)(best->lacks.length > SHOWN ? SHOWN : best->lacks.length);
    ptx_error(p, mnemonic->at, "'%.*s' needs one more modifier: .%.*s%s", length, mnemonic->text,
              shown, best->lacks.words, best->lacks.length > SHOWN ? ".." : "");
}

/* The first form that takes the modifiers; false: reported. */
static bool find_form(struct ptx_parser *p, const struct ptx_token *mnemonic,
                      const struct suffixes *s, enum ptx_opcode opcode,
                      struct ptx_instruction *instruction)
{
    struct match best = {.taken = 0};
    bool any = false;
    for (int i = 0; i < PTX_FORM_COUNT; i++) {
        if (ptx_forms[i].opcode != opcode)
            continue;
        struct match m = match_form(s, ptx_forms[i].modifiers);
        if (m.fits) {
            instruction->form = (enum ptx_form)i;
            memcpy(instruction->words, m.words, sizeof m.words);
            return true;
        }
        if (!any || m.taken > best.taken)
            best = m;
        any = true;
    }
    report_mismatch(p, mnemonic, s, &best);
    return false;
}

/* ---- instructions ---- */

static bool parse_suffixes(struct ptx_parser *p, struct suffixes *s)
{
    for (s->count = 0; p->token.kind == PTX_TOKEN_DOT; ptx_advance(p)) {
        if (s->count == SUFFIXES) {
            ptx_error(p, p->token.at, "more than %d modifiers", SUFFIXES);
            return false;
        }
        s->tokens[s->count++] = p->token;
    }
    return true;
}

static enum ptx_opcode find_opcode(const struct ptx_token *mnemonic)
{
    static const char other[] = "brk"; /* the report writes both */
    if (mnemonic->length == strlen(other) && memcmp(mnemonic->text, other, strlen(other)) == 0)
        return PTX_OP_BREAK;
    return ptx_opcode_find(mnemonic->text, mnemonic->length);
}

/* mnemonic {.modifier} operands ; with the mnemonic taken. */
static bool parse_instruction(struct ptx_parser *p, const struct ptx_token *mnemonic,
                              struct ptx_statement *stm)
{
    struct suffixes s;
    stm->kind = PTX_INSTRUCTION;
    enum ptx_opcode opcode = find_opcode(mnemonic);
    if (opcode == PTX_OPCODE_COUNT) {
        ptx_error(p, mnemonic->at, "instruction '%.*s' is not supported",
                  (int)(mnemonic->length > SHOWN ? SHOWN : mnemonic->length), mnemonic->text);
        return false;
    }
    return parse_suffixes(p, &s) && find_form(p, mnemonic, &s, opcode, &stm->u.instruction) &&
           ptx_operands(p, opcode, &stm->u.instruction.operands) && ptx_expect(p, ";");
}

/* @p or @!p */
static bool parse_guarded(struct ptx_parser *p, struct ptx_statement *stm)
{
    ptx_advance(p);
    bool negated = ptx_accept(p, "!");
    struct ptx_operand *guard = ptx_operand_name(p, "a predicate");
    if (!guard)
        return false;
    guard->negated = negated;
    stm->u.instruction.guard = guard;
    stm->at = p->token.at;
    struct ptx_token mnemonic = p->token;
    if (mnemonic.kind != PTX_TOKEN_NAME) {
        ptx_unexpected(p, "an instruction");
        return false;
    }
    ptx_advance(p);
    return parse_instruction(p, &mnemonic, stm);
}

/* ---- labelled lists ---- */

static bool parse_targets(struct ptx_parser *p, struct ptx_statement *stm)
{
    struct ptx_operand **last = &stm->u.targets;
    do {
        *last = ptx_operand_name(p, "a label or function");
        if (!*last)
            return false;
        last = &(*last)->next;
    } while (ptx_accept(p, ","));
    return ptx_expect(p, ";");
}

/* .callprototype taken: (returns) _ (parameters) [.noreturn] ; */
static bool parse_prototype(struct ptx_parser *p, struct ptx_statement *stm)
{
    struct ptx_function *f = ARENA_NEW(p->arena, struct ptx_function);
    stm->u.prototype = f;
    f->at = p->token.at;
    if (!ptx_parameters(p, &f->returns))
        return false;
    f->name = ptx_name(p, "'_'");
    if (!f->name || !ptx_parameters(p, &f->parameters))
        return false;
    if (ptx_accept_dot(p, "noreturn")) {
        f->attributes = ARENA_NEW(p->arena, struct ptx_attribute);
        f->attributes->kind = PTX_NORETURN;
    }
    return ptx_expect(p, ";");
}

/* name : taken. */
static bool parse_label(struct ptx_parser *p, struct ptx_statement *stm)
{
    stm->kind = PTX_LABEL;
    if (ptx_at_dot(p, "branchtargets") || ptx_at_dot(p, "calltargets")) {
        stm->kind = ptx_at_dot(p, "branchtargets") ? PTX_BRANCH_TARGETS : PTX_CALL_TARGETS;
        ptx_advance(p);
        return parse_targets(p, stm);
    }
    if (ptx_accept_dot(p, "callprototype")) {
        stm->kind = PTX_PROTOTYPE;
        return ptx_count(p) && parse_prototype(p, stm);
    }
    return true;
}

static bool parse_named(struct ptx_parser *p, struct ptx_statement *stm)
{
    struct ptx_token name = p->token;
    ptx_advance(p);
    if (!ptx_at(p, ":"))
        return parse_instruction(p, &name, stm);
    if (name.length > PTX_LIMIT_NAME) {
        ptx_error(p, name.at, "this is longer than %d bytes", PTX_LIMIT_NAME);
        return false;
    }
    stm->name = ptx_intern(p, name.text, name.length);
    ptx_advance(p);
    return parse_label(p, stm);
}

/* ---- directives ---- */

static bool parse_place(struct ptx_parser *p, uint32_t *file, uint32_t *line, uint32_t *column)
{
    return ptx_number(p, UINT32_MAX, file) && ptx_number(p, UINT32_MAX, line) &&
           ptx_number(p, UINT32_MAX, column);
}

static bool at_name(const struct ptx_parser *p, const char *name)
{
    return p->token.kind == PTX_TOKEN_NAME && strlen(name) == p->token.length &&
           memcmp(p->token.text, name, p->token.length) == 0;
}

/* .loc taken: file line column [, function_name label [+ n], inlined_at file line column] */
static bool parse_loc(struct ptx_parser *p, struct ptx_statement *stm)
{
    struct ptx_loc *loc = &stm->u.loc;
    stm->kind = PTX_LOC;
    if (!parse_place(p, &loc->file, &loc->line, &loc->column))
        return false;
    if (!ptx_accept(p, ","))
        return true;
    loc->is_inlined = true;
    if (!at_name(p, "function_name")) {
        ptx_unexpected(p, "'function_name'");
        return false;
    }
    ptx_advance(p);
    loc->function = ptx_name(p, "a label");
    if (!loc->function || !ptx_offset(p, &loc->function_offset) || !ptx_expect(p, ","))
        return false;
    if (!at_name(p, "inlined_at")) {
        ptx_unexpected(p, "'inlined_at'");
        return false;
    }
    ptx_advance(p);
    return parse_place(p, &loc->at_file, &loc->at_line, &loc->at_column);
}

static bool parse_pragma(struct ptx_parser *p, struct ptx_statement *stm)
{
    stm->kind = PTX_PRAGMA;
    stm->name = ptx_string(p, "the text of a pragma");
    return stm->name && ptx_expect(p, ";");
}

static bool parse_directive(struct ptx_parser *p, struct ptx_statement *stm)
{
    if (ptx_accept_dot(p, "loc"))
        return parse_loc(p, stm);
    if (ptx_accept_dot(p, "pragma"))
        return parse_pragma(p, stm);
    if (ptx_at_space(p)) {
        stm->kind = PTX_VARIABLE;
        stm->u.variable = ptx_variables(p, PTX_LINK_LOCAL);
        return stm->u.variable && ptx_expect(p, ";");
    }
    ptx_unexpected(p, "a statement");
    return false;
}

/* ---- blocks ---- */

static bool parse_statement(struct ptx_parser *p, struct ptx_statement *stm)
{
    stm->at = p->token.at;
    if (ptx_accept(p, "{")) {
        stm->kind = PTX_BLOCK;
        return ptx_block(p, &stm->u.block);
    }
    if (ptx_at(p, "@"))
        return parse_guarded(p, stm);
    if (p->token.kind == PTX_TOKEN_DOT)
        return parse_directive(p, stm);
    if (p->token.kind == PTX_TOKEN_NAME)
        return parse_named(p, stm);
    ptx_unexpected(p, "a statement");
    return false;
}

/* `.reg .b32 a, b;` is two statements, one a variable. */
static struct ptx_statement **split_variables(struct ptx_parser *p, struct ptx_statement *stm)
{
    struct ptx_variable *var = stm->u.variable;
    while (var->next && ptx_count(p)) {
        struct ptx_statement *more = ARENA_NEW(p->arena, struct ptx_statement);
        more->kind = PTX_VARIABLE;
        more->u.variable = var->next;
        more->at = var->next->at;
        var->next = NULL;
        var = more->u.variable;
        stm->next = more;
        stm = more;
    }
    return &stm->next;
}

bool ptx_block(struct ptx_parser *p, struct ptx_statement **last)
{
    if (!ptx_parse_enter(p))
        return false;
    while (!ptx_at(p, "}") && p->token.kind != PTX_TOKEN_END) {
        if (ptx_accept(p, ";"))
            continue;
        if (!ptx_count(p))
            break;
        struct ptx_statement *stm = ARENA_NEW(p->arena, struct ptx_statement);
        const uint32_t before = p->diag->count;
        if (!parse_statement(p, stm)) {
            if (p->some && before >= PTX_REFUSED_MOST) /* after many nothing is read */
                p->diag->count = before;
            ptx_skip_statement(p);
            continue;
        }
        *last = stm;
        last = stm->kind == PTX_VARIABLE ? split_variables(p, stm) : &stm->next;
    }
    ptx_parse_leave(p);
    return ptx_expect(p, "}");
}
