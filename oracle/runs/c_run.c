#include "oracle/runs/c_run.h"

#include "oracle/runs/c_internal.h"

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

static struct c_token read_token(const char *text, const char *at)
{
    static const char *const pairs[] = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+="};
    while (*at == ' ' || *at == '\n' || *at == '#')
        at = *at == '#' ? skip_line(at) : at + 1;
    struct c_token token = {.start = (uint32_t)(at - text), .length = *at != '\0', .known = true};
    if (is_letter(*at))
        token.length = name_length(at);
    else if (*at == '"')
        token.length = 2 + (uint32_t)strcspn(at + 1, "\"");
    for (uint32_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (at[0] == pairs[i][0] && at[1] == pairs[i][1])
            token.length = 2;
    return token;
}

/* A text is read many times, and from the same places. */
void c_next(struct c_run *c)
{
    struct c_token *token = &c->tokens[c->at - c->text];
    if (!token->known)
        *token = read_token(c->text, c->at);
    c->token = c->text + token->start;
    c->length = token->length;
    c->at = c->token + token->length;
}

void c_go(struct c_run *c, const char *at)
{
    c->at = at;
    c_next(c);
}

bool c_is_text(const char *token, uint32_t length, const char *text)
{
    return strlen(text) == length && memcmp(token, text, length) == 0;
}

bool c_at(const struct c_run *c, const char *token)
{
    return *c->token == *token && c_is_text(c->token, c->length, token);
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

void c_skip_group(struct c_run *c)
{
    uint32_t depth = 0;
    struct c_token *first = &c->tokens[c->token - c->text];
    if (first->behind > 0) {
        c_go(c, c->text + first->behind);
        return;
    }
    do {
        depth += c_at(c, "(") || c_at(c, "{") || c_at(c, "[");
        depth -= c_at(c, ")") || c_at(c, "}") || c_at(c, "]");
        c_next(c);
    } while (depth > 0 && c->length > 0);
    first->behind = (uint32_t)(c->token - c->text);
}

/* ---- statements ---- */

void c_skip_statement(struct c_run *c)
{
    if (c_at(c, "{")) {
        c_skip_group(c);
    } else if (c_accept(c, "if")) {
        c_skip_group(c);
        c_skip_statement(c);
        if (c_accept(c, "else"))
            c_skip_statement(c);
    } else if (c_accept(c, "loop") || c_accept(c, "continuing")) {
        c_skip_group(c);
    } else if (c_accept(c, "while") || c_accept(c, "for") || c_accept(c, "switch")) {
        c_skip_group(c);
        c_skip_statement(c);
    } else if (c_accept(c, "do")) {
        c_skip_statement(c);
        c_next(c);
        c_skip_group(c);
        c_next(c);
    } else {
        while (!c_at(c, ";") && !c_at(c, ":") && c->length > 0)
            if (c_at(c, "("))
                c_skip_group(c);
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
        c_skip_statement(c);
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
        c_statement(c);
    }
    while (!c_at(c, "}") && c->length > 0)
        c_skip_statement(c);
    c_next(c);
}

/* Behind its '{'. */
void c_block(struct c_run *c)
{
    uint32_t count = c->count;
    list_from(c, c->token);
    c->count = count;
}

bool c_condition(struct c_run *c)
{
    c_expect(c, "(");
    bool holds = c_truth(c);
    c_expect(c, ")");
    return holds;
}

static void taken(struct c_run *c, bool is_taken)
{
    if (is_taken)
        c_statement(c);
    else
        c_skip_statement(c);
}

/* Whether a loop goes on behind its body. */
bool c_goes_on(struct c_run *c)
{
    if (c->signal == C_CONTINUE)
        c->signal = C_ON;
    if (++c->steps > STEPS)
        c_fail(c, "no end");
    return c->signal == C_ON;
}

void c_leave_loop(struct c_run *c)
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
        bool holds = c_condition(c);
        const char *body = c->token;
        if (holds)
            c_statement(c);
        on = holds && c_goes_on(c);
        if (!on)
            c_go(c, body);
    }
    c_skip_statement(c);
    c_leave_loop(c);
}

static void do_statement(struct c_run *c)
{
    const char *body = c->token;
    bool on = true;
    while (on) {
        c_go(c, body);
        c_statement(c);
        on = c_goes_on(c);
        c_go(c, body);
        c_skip_statement(c);
        c_expect(c, "while");
        if (on)
            on = c_condition(c);
        else
            c_skip_group(c);
    }
    c_expect(c, ";");
    c_leave_loop(c);
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
    if (c->launch->is_wgsl && c_wgsl_statement(c))
        ;
    else if (c_read_type(c, &type))
        c_declaration(c, type);
    else
        expression_statement(c);
    const char *guard = c->token;
    bool on = true;
    while (on) {
        c_go(c, guard);
        on = c_at(c, ";") || c_truth(c);
        c_expect(c, ";");
        const char *step = c->token;
        c_go(c, head);
        c_skip_group(c);
        if (on) {
            c_statement(c);
            on = c_goes_on(c);
        }
        if (on) {
            c_go(c, step);
            simple(c);
        }
    }
    c_go(c, head);
    c_skip_group(c);
    c_skip_statement(c);
    c->count = count;
    c_leave_loop(c);
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
            c_skip_statement(c);
            continue;
        }
        from = matches && !from ? c->token : from;
        otherwise = is_default ? c->token : otherwise;
    }
    from = from ? from : otherwise;
    if (c->launch->is_wgsl) {
        const char *end = c->token;
        if (from)
            c_go(c, from);
        if (from && c->signal == C_ON)
            c_statement(c);
        c_go(c, end);
        c_next(c);
    } else {
        if (from)
            c_go(c, from);
        list_from(c, start);
    }
    c_leave_loop(c);
}

/* place = value, place += value, or what is done for its effect. */
static void simple(struct c_run *c)
{
    enum c_type type;
    if (c_at(c, ")") || c_at(c, ";"))
        return;
    c_accept(c, "*"); /* place: a parameter of WGSL */
    if (!c_find(c)) {
        (void)c_expression(c);
        return;
    }
    struct c_value *place = c_place(c, &type);
    c_check_atomics(c, false);
    const bool is_shared = c->is_shared, adds = c_at(c, "+=");
    c_next(c);
    struct c_value value = c_taken_as(c, c_expression(c), type);
    if (c->signal == C_FAILED || !place)
        return;
    if (adds)
        value.i += place->i;
    c_put(c, place, is_shared, value, type);
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

/* Fences are for others; at a barrier a thread waits for those that are to run up to it, or goes on as they all did. */
static bool order(struct c_run *c)
{
    static const char *const fences[] = {"mem_fence", "__threadfence", "memoryBarrier",
                                         "storageBarrier"},
                             *const barriers[] = {"barrier", "__syncthreads", "controlBarrier",
                                                  "workgroupBarrier"};
    bool is_fence = false, is_barrier = false;
    for (uint32_t i = 0; i < 4; i++) {
        is_fence |= c_at(c, fences[i]);
        is_barrier |= c_at(c, barriers[i]);
    }
    if (!is_fence && !is_barrier)
        return false;
    c_next(c);
    c_skip_group(c);
    c_expect(c, ";");
    if (is_barrier && c->log && c->passed++ == c->allowed)
        c->signal = C_WAITS;
    return true;
}

void c_statement(struct c_run *c)
{
    enum c_type type;
    bool matches, is_default;
    if (++c->steps > STEPS)
        c_fail(c, "no end");
    if (c->signal != C_ON || c_accept(c, ";") || jump(c) || order(c) ||
        accept_case(c, 0, &matches, &is_default) || (c->launch->is_wgsl && c_wgsl_statement(c)))
        return;
    if (c_accept(c, "{")) {
        c_block(c);
    } else if (c_accept(c, "if")) {
        bool holds = c_condition(c);
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
        c_skip_statement(c);
    } else if (c_read_type(c, &type)) {
        c_declaration(c, type);
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
        const bool is_address = c->launch->is_wgsl && c_accept(c, "&");
        var = is_address ? c_find(c) : var;
        if (c_at(c, "p")) {
            c_next(c);
        } else if (var && (is_address || var->is_pointer) && (*c->at == ',' || *c->at == ')')) {
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

/* type name, type *name; struct k0_private *p is left out */
static bool read_parameter(struct c_run *c, const char **name, uint32_t *length, enum c_type *type,
                           bool *is_pointer)
{
    if (c->launch->is_wgsl)
        return c_wgsl_parameter(c, name, length, type, is_pointer);
    if (c_accept(c, "struct")) {
        c_next(c);
        c_next(c);
        c_next(c);
        return false;
    }
    if (!c_read_type(c, type) || *type == C_VOID)
        return false;
    *is_pointer = c_accept(c, "*");
    *name = c->token;
    *length = c->length;
    c_next(c);
    return true;
}

static void take_arguments(struct c_run *c, const struct argument *list, uint32_t count)
{
    for (uint32_t i = 0; !c_at(c, ")") && c->signal == C_ON; c_accept(c, ",")) {
        const char *name;
        uint32_t length;
        enum c_type type;
        bool is_pointer;
        if (!read_parameter(c, &name, &length, &type, &is_pointer))
            continue;
        struct c_variable *var =
            i < count && is_pointer == list[i].is_alias
                ? c_declare(c, name, length,
                            is_pointer ? list[i].alias.object : c_new_object(c, type, 1))
                : NULL;
        if (!var) {
            c_fail(c, "other arguments than parameters");
            return;
        }
        var->is_pointer = is_pointer;
        var->first = is_pointer ? list[i].alias.first : 0;
        if (!is_pointer)
            var->object->cells[0] = c_taken_as(c, list[i].value, type);
        i++;
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
    c_block(c);
    if (c->signal == C_RETURN)
        c->signal = C_ON;
    else if (c->signal == C_GOTO)
        c_fail(c, "a label that is not there");
    c->count = variables;
    c->frame = frame;
    c_go(c, back);
    return f->type == C_VOID || c->signal != C_ON ? result : c_taken_as(c, c->result, f->type);
}

/* ---- the file ---- */

/* GLSL: k0_private k0_p; layout(..) ..; */
static bool read_glsl_item(struct c_run *c)
{
    if (c_accept(c, "layout")) {
        while (!c_at(c, ";") && c->length > 0)
            if (c_at(c, "(") || c_at(c, "{"))
                c_skip_group(c);
            else
                c_next(c);
    } else if (c->member_count > 0 && c_accept(c, "k0_private")) {
        c_name_members(c);
    } else {
        return false;
    }
    c_expect(c, ";");
    return true;
}

void c_add_function(struct c_run *c, struct c_function f)
{
    if (c->function_count < C_FUNCTIONS)
        c->functions[c->function_count++] = f;
    else
        c_fail(c, "too many functions");
}

static void read_item(struct c_run *c)
{
    enum c_type type = C_VOID;
    if (c->launch->is_wgsl) {
        c_wgsl_item(c);
        return;
    }
    if (c_accept(c, "typedef")) {
        c_skip_statement(c);
        return;
    }
    if (c_accept(c, "struct")) {
        c_read_struct(c);
        return;
    }
    if (read_glsl_item(c))
        return;
    if (!c_read_type(c, &type)) {
        c_fail(c, arena_printf(c->arena, "what is '%.30s'", c->token));
        return;
    }
    while (c_accept_qualifier(c))
        continue;
    if (*c->at != '(') {
        c_declaration(c, type);
        return;
    }
    struct c_function f = {.name = c->token, .length = c->length, .type = type};
    c_next(c);
    f.parameters = c->at;
    c_skip_group(c);
    if (c_accept(c, ";"))
        return;
    f.body = c->at;
    c_skip_group(c);
    c_add_function(c, f);
}

/* ---- threads ---- */

static void run_thread(struct c_run *c)
{
    c->count = c->frame = c->file_count;
    c->done = c->passed = 0;
    for (uint32_t i = 0; i < c->member_count; i++)
        c_unset(c->members[i].object);
    for (uint32_t i = 0; i < c->file_count; i++)
        if (c->variables[i].object->of_thread)
            c_unset(c->variables[i].object);
    for (uint32_t i = 0; i < c->function_count; i++) {
        const struct c_function *f = &c->functions[i];
        if (!c_is_text(f->name, f->length, c->launch->entry))
            continue;
        c_go(c, f->body);
        c_block(c);
        if (c->signal == C_RETURN)
            c->signal = C_ON;
        return;
    }
    c_fail(c, "no entry");
}

/* Each thread up to its next barrier; true: that is where they all are. */
static bool run_up_to_barrier(struct c_run *c, struct c_log *logs)
{
    uint32_t waiting = 0;
    for (uint32_t i = 0; i < c->launch->threads && c->signal == C_ON; i++) {
        c->thread = c->launch->backwards ? c->launch->threads - 1 - i : i;
        c->log = logs ? &logs[c->thread] : NULL;
        if (!c->log || !c->log->ended)
            run_thread(c);
        if (c->signal == C_WAITS) {
            c->signal = C_ON;
            waiting++;
        } else if (c->log) {
            c->log->ended = true;
        }
    }
    if (waiting > 0 && waiting < c->launch->threads)
        c_fail(c, "a barrier that not all come to");
    return waiting > 0 && c->signal == C_ON;
}

static void run_block(struct c_run *c, bool has_barrier)
{
    struct c_log *logs = has_barrier && c->launch->threads > 1
                             ? ARENA_ARRAY(c->arena, struct c_log, c->launch->threads)
                             : NULL;
    c->shared_count = 0;
    for (uint32_t i = 0; i < c->file_count; i++)
        if (c->variables[i].object->of_block)
            c_unset(c->variables[i].object);
    for (c->allowed = 0; run_up_to_barrier(c, logs); c->allowed++)
        continue;
}

const char *c_run(struct arena *arena, const char *text, const struct c_launch *launch)
{
    struct c_run *c = ARENA_NEW(arena, struct c_run);
    *c = (struct c_run){.arena = arena, .launch = launch, .text = text};
    c->tokens = ARENA_ARRAY(arena, struct c_token, strlen(text) + 1);
    struct c_object *memory = c_new_object(c, C_INT, launch->words);
    memory->of_grid = true;
    for (uint32_t i = 0; i < launch->words; i++)
        memory->cells[i] = (struct c_value){.type = C_INT, .i = launch->memory[i]};
    c_declare(c, "mem", 3, memory)->is_pointer = true;
    c_go(c, text);
    while (c->length > 0 && c->signal == C_ON)
        read_item(c);
    c->file_count = c->count;
    const bool has_barrier = strstr(text, "barrier(") || strstr(text, "__syncthreads()") ||
                             strstr(text, "controlBarrier") || strstr(text, "workgroupBarrier");
    for (c->block = 0; c->block < launch->blocks && c->signal == C_ON; c->block++)
        run_block(c, has_barrier);
    for (uint32_t i = 0; i < launch->words; i++)
        launch->memory[i] = (int32_t)memory->cells[i].i;
    return c->signal == C_ON ? NULL : c->why ? c->why : "a jump to nowhere";
}
