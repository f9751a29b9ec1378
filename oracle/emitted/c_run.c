#include "oracle/emitted/c_run.h"

#include "oracle/emitted/c_internal.h"

#include <string.h>

enum { STEPS = 200000 };

void c_fail(struct c_run *c, const char *why)
{
    if (c->signal != C_FAILED)
        c->why = why;
    c->signal = C_FAILED;
}

/* ---- tokens ---- */

static bool is_letter(char x)
{
    return (x >= 'a' && x <= 'z') || (x >= 'A' && x <= 'Z') || (x >= '0' && x <= '9') || x == '_';
}

/* What is for compilers without headers is left out. */
static const char *skip_line(const char *at)
{
    static const char bare[] = "#ifdef SIMTFUZZ_BARE";
    if (strncmp(at, bare, strlen(bare)) == 0)
        while (*at && strncmp(at, "#else", 5) != 0 && strncmp(at, "#endif", 6) != 0) {
            at += strcspn(at, "\n");
            at += *at == '\n';
        }
    return at + strcspn(at, "\n");
}

/* A name with "->" or "." and the name behind it is one. */
static uint32_t name_length(const char *at)
{
    uint32_t n = 0;
    const bool is_number = *at >= '0' && *at <= '9';
    while (is_letter(at[n]) || (at[n] == '.' && n > 0) ||
           (at[n] == '-' && at[n + 1] == '>' && !is_number) ||
           (at[n] == '>' && n && at[n - 1] == '-'))
        n++;
    return n;
}

void c_next(struct c_run *c)
{
    static const char *const pairs[] = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+="};
    while (*c->at == ' ' || *c->at == '\n' || *c->at == '#')
        c->at = *c->at == '#' ? skip_line(c->at) : c->at + 1;
    c->token = c->at;
    c->length = *c->at == '\0' ? 0 : 1;
    if (is_letter(*c->at))
        c->length = name_length(c->at);
    else if (*c->at == '"')
        c->length = 2 + (uint32_t)strcspn(c->at + 1, "\"");
    for (uint32_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (c->at[0] == pairs[i][0] && c->at[1] == pairs[i][1])
            c->length = 2;
    c->at += c->length;
}

void c_go(struct c_run *c, const char *at)
{
    c->at = at;
    c_next(c);
}

static bool is_text(const char *token, uint32_t length, const char *text)
{
    return strlen(text) == length && memcmp(token, text, length) == 0;
}

bool c_at(const struct c_run *c, const char *token)
{
    return *c->token == *token && is_text(c->token, c->length, token);
}

bool c_accept(struct c_run *c, const char *token)
{
    if (!c_at(c, token))
        return false;
    c_next(c);
    return true;
}

void c_expect(struct c_run *c, const char *token)
{
    if (c_accept(c, token) || c->signal == C_FAILED)
        return;
    c_fail(c, arena_printf(c->arena, "'%s' is missing before '%.30s'", token, c->token));
}

/* Behind what closes the bracket at hand. */
static void skip_group(struct c_run *c)
{
    uint32_t depth = 0;
    do {
        depth += c_at(c, "(") || c_at(c, "{") || c_at(c, "[");
        depth -= c_at(c, ")") || c_at(c, "}") || c_at(c, "]");
        c_next(c);
    } while (depth > 0 && c->length > 0);
}

/* ---- types and variables ---- */

static bool accept_qualifier(struct c_run *c)
{
    if (!strchr("_cseiu\"", *c->token))
        return false;
    static const char *const words[] = {"const",    "static",     "extern",          "\"C\"",
                                        "inline",   "__device__", "__shared__",      "__constant__",
                                        "__global", "__local",    "__constant",      "__noinline__",
                                        "__kernel", "shared",     "__forceinline__", "__global__"};
    for (uint32_t i = 0; i < sizeof words / sizeof *words; i++)
        if (c_accept(c, words[i]))
            return true;
    if (!c_at(c, "__attribute__") && !c_at(c, "__launch_bounds__"))
        return false;
    c_next(c);
    skip_group(c);
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
                 {"int64_t", C_LONG}, {"uint64_t", C_ULONG}, {"bool", C_INT}};
    bool some = false;
    if (!strchr("_cseiulfvb\"", *c->token)) /* what types and qualifiers begin with */
        return false;
    while (accept_qualifier(c))
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
        if (is_text(c->token, c->length, c->members[i].name))
            return &c->members[i];
    struct c_variable *var = find_between(c, c->frame, c->count);
    return var ? var : find_between(c, 0, c->file_count);
}

static struct c_object *new_object(struct c_run *c, enum c_type type, uint32_t count)
{
    struct c_object *object = ARENA_NEW(c->arena, struct c_object);
    *object = (struct c_object){type, ARENA_ARRAY(c->arena, struct c_value, count), count};
    for (uint32_t i = 0; i < count; i++)
        object->cells[i].type = type;
    return object;
}

static struct c_variable *declare(struct c_run *c, const char *name, uint32_t length,
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
    struct c_variable *var = declare(c, name, length, other->object);
    if (var) {
        var->first = other->first + offset;
        var->is_pointer = true;
    }
}

/* name, name[n], with what it holds at first. Shared variables are those of the one block that runs. */
static void declare_variable(struct c_run *c, enum c_type type)
{
    const char *name = c->token;
    uint32_t length = c->length, count = 1;
    c_next(c);
    bool is_array = c_accept(c, "[");
    if (is_array) {
        count = (uint32_t)c_expression(c).i;
        c_expect(c, "]");
    }
    struct c_object *object = new_object(c, type, count);
    struct c_variable *var = declare(c, name, length, object);
    if (var)
        var->is_pointer = is_array;
    if (!c_accept(c, "="))
        return;
    if (is_array && c_read_type(c, &type)) { /* GLSL: int[2](1, 2) */
        c_accept(c, "[");
        c_next(c);
        c_accept(c, "]");
    }
    bool braces = c_accept(c, "{") || (is_array && c_accept(c, "("));
    for (uint32_t i = 0; i < count; i++) {
        object->cells[i] = c_convert(c, c_expression(c), type);
        if (braces)
            c_accept(c, ",");
    }
    if (braces)
        c_next(c);
}

/* type name[, name]; `struct k0_private self, *p = &self;` has been told of by its members. */
static void declaration(struct c_run *c, enum c_type type)
{
    do {
        if (c_accept(c, "*"))
            declare_pointer(c);
        else
            declare_variable(c, type);
    } while (c_accept(c, ",") && c->signal == C_ON);
    c_expect(c, ";");
}

/* ---- statements ---- */

static void statement(struct c_run *c);

static void skip_statement(struct c_run *c)
{
    if (c_at(c, "{")) {
        skip_group(c);
    } else if (c_accept(c, "if")) {
        skip_group(c);
        skip_statement(c);
        if (c_accept(c, "else"))
            skip_statement(c);
    } else if (c_accept(c, "while") || c_accept(c, "for") || c_accept(c, "switch")) {
        skip_group(c);
        skip_statement(c);
    } else if (c_accept(c, "do")) {
        skip_statement(c);
        c_next(c);
        skip_group(c);
        c_next(c);
    } else {
        while (!c_at(c, ";") && !c_at(c, ":") && c->length > 0)
            if (c_at(c, "("))
                skip_group(c);
            else
                c_next(c);
        c_next(c);
    }
}

/* Whether a label stands here: name `:`. */
static bool at_label(struct c_run *c)
{
    return is_letter(*c->token) && *c->at == ':';
}

/* Looks for the label that is gone to among the statements from `start` on, up to their brace. */
static bool find_label(struct c_run *c, const char *start)
{
    const char *label = c->label;
    const uint32_t length = c->label_length;
    for (c_go(c, start); !c_at(c, "}") && c->length > 0;) {
        if (at_label(c) && c->length == length && memcmp(c->token, label, length) == 0) {
            c_next(c);
            c_next(c);
            return true;
        }
        skip_statement(c);
    }
    return false;
}

/* Statements up to the brace; `start` is the text of the first one of them. */
static void list_from(struct c_run *c, const char *start)
{
    for (;;) {
        if (c->signal == C_GOTO && find_label(c, start))
            c->signal = C_ON;
        if (c->signal != C_ON || c_at(c, "}") || c->length == 0)
            break;
        statement(c);
    }
    while (!c_at(c, "}") && c->length > 0)
        skip_statement(c);
    c_next(c);
}

/* Behind its '{'. */
static void block(struct c_run *c)
{
    uint32_t count = c->count;
    list_from(c, c->token);
    c->count = count;
}

static bool condition(struct c_run *c)
{
    c_expect(c, "(");
    bool holds = c_is_true(c_expression(c));
    c_expect(c, ")");
    return holds;
}

static void taken(struct c_run *c, bool is_taken)
{
    if (is_taken)
        statement(c);
    else
        skip_statement(c);
}

/* Whether a loop goes on behind its body. */
static bool goes_on(struct c_run *c)
{
    if (c->signal == C_CONTINUE)
        c->signal = C_ON;
    if (++c->steps > STEPS)
        c_fail(c, "no end");
    return c->signal == C_ON;
}

static void leave_loop(struct c_run *c)
{
    if (c->signal == C_BREAK)
        c->signal = C_ON;
}

static void while_statement(struct c_run *c)
{
    const char *head = c->token;
    bool on = true;
    while (on) {
        c_go(c, head);
        bool holds = condition(c);
        const char *body = c->token;
        if (holds)
            statement(c);
        on = holds && goes_on(c);
        if (!on)
            c_go(c, body);
    }
    skip_statement(c);
    leave_loop(c);
}

static void do_statement(struct c_run *c)
{
    const char *body = c->token;
    bool on = true;
    while (on) {
        c_go(c, body);
        statement(c);
        on = goes_on(c);
        c_go(c, body);
        skip_statement(c);
        c_expect(c, "while");
        if (on)
            on = condition(c);
        else
            skip_group(c);
    }
    c_expect(c, ";");
    leave_loop(c);
}

static void simple(struct c_run *c);

static void expression_statement(struct c_run *c)
{
    simple(c);
    c_expect(c, ";");
}

static void for_statement(struct c_run *c)
{
    uint32_t count = c->count;
    const char *head = c->token;
    enum c_type type;
    c_expect(c, "(");
    if (c_read_type(c, &type))
        declaration(c, type);
    else
        expression_statement(c);
    const char *guard = c->token;
    bool on = true;
    while (on) {
        c_go(c, guard);
        on = c_at(c, ";") || c_is_true(c_expression(c));
        c_expect(c, ";");
        const char *step = c->token;
        c_go(c, head);
        skip_group(c);
        if (on) {
            statement(c);
            on = goes_on(c);
        }
        if (on) {
            c_go(c, step);
            simple(c);
        }
    }
    c_go(c, head);
    skip_group(c);
    skip_statement(c);
    c->count = count;
    leave_loop(c);
}

/* case value: or default: here? *matches: the value. */
static bool accept_case(struct c_run *c, int64_t value, bool *matches, bool *is_default)
{
    *matches = *is_default = false;
    if (c_accept(c, "default")) {
        *is_default = true;
    } else if (c_accept(c, "case")) {
        *matches = c_expression(c).i == value;
    } else {
        return false;
    }
    c_expect(c, ":");
    return true;
}

static void switch_statement(struct c_run *c)
{
    c_expect(c, "(");
    int64_t value = c_expression(c).i;
    c_expect(c, ")");
    c_expect(c, "{");
    const char *start = c->token, *from = NULL, *otherwise = NULL;
    bool matches, is_default;
    while (!c_at(c, "}") && c->length > 0 && c->signal == C_ON) {
        if (!accept_case(c, value, &matches, &is_default)) {
            skip_statement(c);
            continue;
        }
        from = matches && !from ? c->token : from;
        otherwise = is_default ? c->token : otherwise;
    }
    from = from ? from : otherwise;
    if (from)
        c_go(c, from);
    list_from(c, start);
    leave_loop(c);
}

/* place = value, place += value, or what is done for its effect. */
static void simple(struct c_run *c)
{
    const struct c_variable *var = c_find(c);
    enum c_type type;
    if (c_at(c, ")") || c_at(c, ";"))
        return;
    if (!var) {
        (void)c_expression(c);
        return;
    }
    struct c_value *place = c_place(c, &type);
    bool adds = c_at(c, "+=");
    c_next(c);
    struct c_value value = c_expression(c);
    if (c->signal == C_FAILED || !place)
        return;
    if (adds)
        value.i += place->i;
    *place = c_convert(c, value, type);
}

static bool jump(struct c_run *c)
{
    if (c_accept(c, "break")) {
        c->signal = C_BREAK;
    } else if (c_accept(c, "continue")) {
        c->signal = C_CONTINUE;
    } else if (c_accept(c, "goto")) {
        c->label = c->token;
        c->label_length = c->length;
        c->signal = C_GOTO;
        c_next(c);
        if (++c->steps > STEPS)
            c_fail(c, "no end");
    } else if (c_accept(c, "return")) {
        if (!c_at(c, ";"))
            c->result = c_expression(c);
        if (c->signal == C_ON)
            c->signal = C_RETURN;
    } else {
        return false;
    }
    c_expect(c, ";");
    return true;
}

/* Barriers and fences: threads run one after the other. */
static bool order(struct c_run *c)
{
    static const char *const names[] = {"barrier",       "mem_fence",      "__syncthreads",
                                        "__threadfence", "controlBarrier", "memoryBarrier"};
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
        if (c_accept(c, names[i])) {
            skip_group(c);
            c_expect(c, ";");
            return true;
        }
    return false;
}

static void statement(struct c_run *c)
{
    enum c_type type;
    bool matches, is_default;
    if (++c->steps > STEPS)
        c_fail(c, "no end");
    if (c->signal != C_ON || c_accept(c, ";") || jump(c) || order(c) ||
        accept_case(c, 0, &matches, &is_default))
        return;
    if (c_accept(c, "{")) {
        block(c);
    } else if (c_accept(c, "if")) {
        bool holds = condition(c);
        taken(c, holds);
        if (c_accept(c, "else"))
            taken(c, !holds && c->signal == C_ON);
    } else if (c_accept(c, "while")) {
        while_statement(c);
    } else if (c_accept(c, "do")) {
        do_statement(c);
    } else if (c_accept(c, "for")) {
        for_statement(c);
    } else if (c_accept(c, "switch")) {
        switch_statement(c);
    } else if (at_label(c)) {
        c_next(c);
        c_next(c);
    } else if (c_at(c, "struct")) {
        skip_statement(c);
    } else if (c_read_type(c, &type)) {
        declaration(c, type);
    } else {
        expression_statement(c);
    }
}

/* ---- functions ---- */

const struct c_function *c_find_function(const struct c_run *c)
{
    for (uint32_t i = 0; i < c->function_count; i++)
        if (c->functions[i].length == c->length &&
            memcmp(c->functions[i].name, c->token, c->length) == 0)
            return &c->functions[i];
    return NULL;
}

struct argument {
    struct c_value value;
    struct c_variable alias; /* of an array or pointer */
    bool is_alias;
};

/* What a call gives; the pointer to the struct is left out. */
static uint32_t read_arguments(struct c_run *c, struct argument *list)
{
    uint32_t count = 0;
    c_expect(c, "(");
    while (!c_at(c, ")") && c->signal == C_ON && count < C_ARGUMENTS) {
        const struct c_variable *var = c_find(c);
        if (c_at(c, "p")) {
            c_next(c);
        } else if (var && var->is_pointer && (*c->at == ',' || *c->at == ')')) {
            list[count++] = (struct argument){.alias = *var, .is_alias = true};
            c_next(c);
        } else {
            list[count++] = (struct argument){.value = c_expression(c)};
        }
        if (!c_at(c, ")"))
            c_expect(c, ",");
    }
    c_expect(c, ")");
    return count;
}

static void take_arguments(struct c_run *c, const struct argument *list, uint32_t count)
{
    for (uint32_t i = 0; !c_at(c, ")") && c->signal == C_ON;) {
        enum c_type type;
        if (c_accept(c, "struct")) {
            c_next(c);
            c_next(c);
            c_next(c);
        } else if (c_read_type(c, &type) && type != C_VOID) {
            bool is_pointer = c_accept(c, "*");
            struct c_variable *var =
                i < count && is_pointer == list[i].is_alias
                    ? declare(c, c->token, c->length,
                              is_pointer ? list[i].alias.object : new_object(c, type, 1))
                    : NULL;
            if (!var) {
                c_fail(c, "other arguments than parameters");
                return;
            }
            var->is_pointer = is_pointer;
            var->first = is_pointer ? list[i].alias.first : 0;
            if (!is_pointer)
                var->object->cells[0] = c_convert(c, list[i].value, type);
            i++;
            c_next(c);
        }
        c_accept(c, ",");
    }
}

struct c_value c_call(struct c_run *c, const struct c_function *f)
{
    struct argument list[C_ARGUMENTS];
    c_next(c);
    uint32_t count = read_arguments(c, list);
    const char *back = c->token;
    const uint32_t frame = c->frame, variables = c->count;
    struct c_value result = {.type = f->type};
    if (c->dead > 0 || c->signal != C_ON)
        return result;
    if (++c->steps > STEPS)
        c_fail(c, "no end");
    c_go(c, f->parameters);
    take_arguments(c, list, count);
    c->frame = variables;
    c_go(c, f->body);
    c->result = result;
    block(c);
    if (c->signal == C_RETURN)
        c->signal = C_ON;
    else if (c->signal == C_GOTO)
        c_fail(c, "a label that is not there");
    c->count = variables;
    c->frame = frame;
    c_go(c, back);
    return f->type == C_VOID ? result : c_convert(c, c->result, f->type);
}

/* ---- the file ---- */

/* struct name { type member; .. }; */
static void read_struct(struct c_run *c)
{
    enum c_type type;
    c_next(c);
    c_expect(c, "{");
    c->member_count = 0;
    while (c_read_type(c, &type) && c->member_count < C_VARIABLES / 4) {
        const char *name = arena_printf(c->arena, "p->%.*s", (int)c->length, c->token);
        declare_variable(c, type);
        struct c_variable *var = &c->members[c->member_count++];
        *var = c->variables[--c->count];
        var->name = name;
        c_expect(c, ";");
    }
    c_expect(c, "}");
    c_expect(c, ";");
}

/* GLSL: k0_private k0_p; layout(..) ..; */
static bool read_glsl_item(struct c_run *c)
{
    if (c_accept(c, "layout")) {
        while (!c_at(c, ";") && c->length > 0)
            if (c_at(c, "(") || c_at(c, "{"))
                skip_group(c);
            else
                c_next(c);
    } else if (c->member_count > 0 && c_accept(c, "k0_private")) {
        for (uint32_t i = 0; i < c->member_count; i++)
            c->members[i].name = arena_printf(c->arena, "%.*s.%s", (int)c->length, c->token,
                                              c->members[i].name + strlen("p->"));
        c_next(c);
    } else {
        return false;
    }
    c_expect(c, ";");
    return true;
}

static void read_item(struct c_run *c)
{
    enum c_type type = C_VOID;
    if (c_accept(c, "typedef")) {
        skip_statement(c);
        return;
    }
    if (c_accept(c, "struct")) {
        read_struct(c);
        return;
    }
    if (read_glsl_item(c))
        return;
    if (!c_read_type(c, &type)) {
        c_fail(c, arena_printf(c->arena, "what is '%.30s'", c->token));
        return;
    }
    while (accept_qualifier(c))
        continue;
    if (*c->at != '(') {
        declaration(c, type);
        return;
    }
    struct c_function f = {.name = c->token, .length = c->length, .type = type};
    c_next(c);
    f.parameters = c->at;
    skip_group(c);
    if (c_accept(c, ";"))
        return;
    f.body = c->at;
    skip_group(c);
    if (c->function_count < C_FUNCTIONS)
        c->functions[c->function_count++] = f;
    else
        c_fail(c, "too many functions");
}

static void run_thread(struct c_run *c)
{
    c->count = c->frame = c->file_count;
    for (uint32_t i = 0; i < c->member_count; i++)
        memset(c->members[i].object->cells, 0,
               c->members[i].object->count * sizeof *c->members[i].object->cells);
    for (uint32_t i = 0; i < c->function_count; i++) {
        const struct c_function *f = &c->functions[i];
        if (!is_text(f->name, f->length, c->launch->entry))
            continue;
        c_go(c, f->body);
        block(c);
        if (c->signal == C_RETURN)
            c->signal = C_ON;
        return;
    }
    c_fail(c, "no entry");
}

const char *c_run(struct arena *arena, const char *text, const struct c_launch *launch)
{
    struct c_run *c = ARENA_NEW(arena, struct c_run);
    *c = (struct c_run){.arena = arena, .launch = launch};
    struct c_object *memory = new_object(c, C_INT, launch->words);
    for (uint32_t i = 0; i < launch->words; i++)
        memory->cells[i].i = launch->memory[i];
    declare(c, "mem", 3, memory)->is_pointer = true;
    c_go(c, text);
    while (c->length > 0 && c->signal == C_ON)
        read_item(c);
    c->file_count = c->count;
    for (c->block = 0; c->block < launch->blocks && c->signal == C_ON; c->block++)
        for (c->thread = 0; c->thread < launch->threads && c->signal == C_ON; c->thread++)
            run_thread(c);
    for (uint32_t i = 0; i < launch->words; i++)
        launch->memory[i] = (int32_t)memory->cells[i].i;
    return c->signal == C_ON ? NULL : c->why ? c->why : "a jump to nowhere";
}
