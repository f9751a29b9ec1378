#include "oracle/runs/s_run.h"

#include "engine/reference/reference.h"
#include "oracle/drawn/drawn.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { LEVEL_MOST = 6, STEPS = 20000 };

static struct s_value expression(struct s_run *r, uint32_t level);

/* ---- words of the text ---- */

static void skip(struct s_run *r)
{
    while (*r->at == ' ')
        r->at++;
}

static bool take(struct s_run *r, const char *word)
{
    size_t length = strlen(word);
    skip(r);
    if (strncmp(r->at, word, length) != 0)
        return false;
    r->at += length;
    return true;
}

static void want(struct s_run *r, const char *word)
{
    if (!take(r, word))
        r->unknown = true;
}

static bool take_name(struct s_run *r, char name[S_NAME])
{
    uint32_t length = 0;
    skip(r);
    for (; isalnum((unsigned char)*r->at) || *r->at == '_' || *r->at == '$' || *r->at == '.' ||
           *r->at == '#';
         r->at++)
        if (length + 1 < S_NAME)
            name[length++] = *r->at;
        else
            r->unknown = true;
    name[length] = '\0';
    return length > 0;
}

static struct s_cell *cell_of(struct s_run *r, const char *name)
{
    uint32_t at = 0;
    for (const char *c = name; *c; c++)
        at = (at * 31 + (unsigned char)*c) % S_CELLS;
    for (; r->cells[at].name[0]; at = (at + 1) % S_CELLS)
        if (strcmp(r->cells[at].name, name) == 0)
            return &r->cells[at];
    if (++r->count == S_CELLS) {
        r->count--;
        r->unknown = true;
    } else {
        memcpy(r->cells[at].name, name, strlen(name) + 1);
    }
    return &r->cells[at];
}

static struct s_value *cell(struct s_run *r, const char *name)
{
    return &cell_of(r, name)->value;
}

void s_set(struct s_run *r, const char *name, int32_t word)
{
    cell(r, name)->word = word;
}

void s_set_element(struct s_run *r, const char *name, uint32_t element, int32_t word)
{
    cell(r, name)->element[element % S_ELEMENTS] = word;
}

/* ---- expressions ---- */

static struct s_value word_of(int64_t word)
{
    struct s_value value = {.word = (int32_t)word};
    return value;
}

/* By an operator of the kernel language, or Boogie's function; what Boogie asks of unsigned numbers is never divided by
 * 0. */
static struct s_value operate(struct s_run *r, const char *name, int32_t a, int32_t b)
{
    static const char *const functions[BINARY_COUNT] = {
        [BINARY_MUL] = "bvmul",  [BINARY_DIV] = "quotient", [BINARY_REM] = "bvsrem",
        [BINARY_ADD] = "bvadd",  [BINARY_SUB] = "bvsub",    [BINARY_SHL] = "bvshl",
        [BINARY_SHR] = "bvashr", [BINARY_LT] = "bvslt",     [BINARY_LE] = "bvsle",
        [BINARY_GT] = "bvsgt",   [BINARY_GE] = "bvsge",     [BINARY_AND] = "bvand",
        [BINARY_XOR] = "bvxor",  [BINARY_OR] = "bvor"};
    const uint32_t x = (uint32_t)a, y = (uint32_t)b;
    for (uint32_t op = 0; op < BINARY_COUNT; op++)
        if (strcmp(drawn_operators[op].token, name) == 0 ||
            (functions[op] && strcmp(functions[op], name) == 0))
            return word_of(ref_binary((enum ast_binary)op, a, b));
    if (strcmp(name, "bvult") == 0)
        return word_of(x < y);
    if (y > 0 && strcmp(name, "bvurem") == 0)
        return word_of(x % y);
    if (y > 0 && strcmp(name, "bvudiv") == 0)
        return word_of(x / y);
    r->unknown = true;
    return word_of(0);
}

static struct s_value named(struct s_run *r)
{
    char name[S_NAME];
    if (!take_name(r, name)) {
        r->unknown = true;
        return word_of(0);
    }
    if (strcmp(name, "true") == 0 || strcmp(name, "false") == 0)
        return word_of(name[0] == 't');
    if (!take(r, "("))
        return *cell(r, name);
    struct s_value a = expression(r, 0);
    want(r, ",");
    struct s_value b = expression(r, 0);
    want(r, ")");
    return operate(r, name, a.word, b.word);
}

static struct s_value choice(struct s_run *r)
{
    bool which = expression(r, 0).word != 0;
    want(r, "then");
    struct s_value a = expression(r, 0);
    want(r, "else");
    struct s_value b = expression(r, 0);
    return which ? a : b;
}

static struct s_value primary(struct s_run *r)
{
    struct s_value value;
    char *end;
    if (take(r, "(")) {
        value = take(r, "if ") ? choice(r) : expression(r, 0);
        want(r, ")");
    } else if (take(r, "!")) {
        value = word_of(!primary(r).word);
    } else if (take(r, "-")) {
        value = word_of(-(int64_t)primary(r).word);
    } else if (skip(r), isdigit((unsigned char)*r->at)) {
        value = word_of((int32_t)strtoul(r->at, &end, 10));
        r->at = strncmp(end, "bv32", 4) == 0 ? end + 4 : end;
    } else {
        value = named(r);
    }
    while (take(r, "[")) {
        uint32_t index = (uint32_t)expression(r, 0).word % S_ELEMENTS;
        if (take(r, ":="))
            value.element[index] = expression(r, 0).word;
        else
            value = word_of(value.element[index]);
        want(r, "]");
    }
    return value;
}

/* The operator of the level that comes next; NULL: another, or none. Those of words stand in parentheses. */
static const char *operator_of(struct s_run *r, uint32_t level)
{
    static const char *const levels[LEVEL_MOST][8] = {
        {"==>"},    {"||"},
        {"&&"},     {"==", "!=", "<=", ">=", "<", ">"},
        {"+", "-"}, {"*", "/", "%", "<<", ">>", "&", "^", "|"}};
    skip(r);
    const bool is_longer = level == 5 && *r->at && r->at[0] == r->at[1] && strchr("&|", *r->at);
    for (uint32_t i = 0; i < 8 && levels[level][i] && !is_longer; i++)
        if ((level == 0 || strncmp(r->at, "==>", 3) != 0) && take(r, levels[level][i]))
            return levels[level][i];
    return NULL;
}

static struct s_value expression(struct s_run *r, uint32_t level)
{
    if (level == LEVEL_MOST)
        return primary(r);
    struct s_value a = expression(r, level + 1);
    for (const char *op; !r->unknown && (op = operator_of(r, level)) != NULL;) {
        struct s_value b = expression(r, level + 1);
        if (level == 0)
            a = word_of(!a.word || b.word);
        else
            a = operate(r, op, a.word, b.word);
    }
    return a;
}

/* ---- statements ---- */

static int32_t *flag(struct s_run *r, const char *kind, const char *array)
{
    char name[2 * S_NAME] = "";
    strcat(strcat(strcat(name, kind), "_"), array);
    name[S_NAME - 1] = '\0';
    return &cell(r, name)->word;
}

/* LOG_WRITE_A(enabled, index); and CHECK_, as the text's head says. */
static enum s_end access(struct s_run *r, bool log)
{
    static const char *const kinds[] = {"READ", "WRITE", "ATOMIC"};
    char array[S_NAME];
    uint32_t kind = 0;
    while (kind < 2 && !take(r, kinds[kind]))
        kind++;
    want(r, kind == 2 ? "ATOMIC_" : "_");
    take_name(r, array);
    want(r, "(");
    bool enabled = expression(r, 0).word != 0;
    want(r, ",");
    enabled = expression(r, 0).word == *flag(r, "WO", array) && enabled;
    if (strcmp(array, r->shared) == 0)
        enabled = enabled && cell(r, "same")->word;
    if (!enabled)
        return S_PASSES;
    if (log)
        *flag(r, kinds[kind], array) = 1;
    bool conflict = (*flag(r, "READ", array) && kind != 0) || *flag(r, "WRITE", array) ||
                    (*flag(r, "ATOMIC", array) && kind != 2);
    return !log && conflict ? S_FAILS : S_PASSES;
}

/* What is before a loop is what it is called by. */
static bool is_remembered(const char *name, const char *value)
{
    const size_t before = strcspn(name, "#"), number = strspn(name + before, "#0123456789");
    const char *behind = name + before + number;
    return strncmp(value, name, before) == 0 &&
           strncmp(value + before, behind, strlen(behind)) == 0 &&
           value[before + strlen(behind)] == ';';
}

static enum s_end assignment(struct s_run *r)
{
    char name[S_NAME];
    if (!take_name(r, name) || !cell_of(r, name)->is_declared)
        r->unknown = true;
    cell_of(r, name)->is_assigned = true;
    want(r, ":=");
    skip(r);
    if (strchr(name, '#') && !is_remembered(name, r->at))
        r->unknown = true;
    struct s_value value = expression(r, 0);
    *cell(r, name) = value;
    return S_PASSES;
}

/* var x$1, x$2: sort; */
static enum s_end declaration(struct s_run *r)
{
    char name[S_NAME];
    do {
        if (!take_name(r, name) || cell_of(r, name)->is_declared)
            r->unknown = true;
        cell_of(r, name)->is_declared = true;
    } while (!r->unknown && take(r, ","));
    return S_PASSES;
}

/* Nothing is made of what an invariant says, but what it remembers there has to be. */
static enum s_end invariant(struct s_run *r)
{
    char name[S_NAME];
    while (*r->at && *r->at != '\n' && !r->unknown) {
        const bool is_name = take_name(r, name);
        if (is_name && strchr(name, '#') && !cell_of(r, name)->is_assigned)
            r->unknown = true;
        r->at += !is_name && *r->at != '\n';
    }
    return S_PASSES;
}

static bool says_nothing(struct s_run *r)
{
    static const char *const heads[] = {"//",    "const ", "function ", "procedure ",
                                        "type ", "havoc ", "modifies "};
    skip(r);
    if (*r->at == '\n' || !*r->at)
        return true;
    for (uint32_t i = 0; i < sizeof heads / sizeof *heads; i++)
        if (strncmp(r->at, heads[i], strlen(heads[i])) == 0)
            return true;
    return false;
}

static enum s_end line(struct s_run *r)
{
    enum s_end end = S_PASSES;
    if (says_nothing(r))
        return S_PASSES;
    if (take(r, "axiom ") || take(r, "assume "))
        end = expression(r, 0).word ? S_PASSES : S_IMPOSSIBLE;
    else if (take(r, "assert "))
        end = expression(r, 0).word ? S_PASSES : S_FAILS;
    else if (take(r, "invariant "))
        end = invariant(r);
    else if (take(r, "var "))
        end = declaration(r);
    else if (take(r, "LOG_"))
        end = access(r, true);
    else if (take(r, "CHECK_"))
        end = access(r, false);
    else
        end = assignment(r);
    return r->unknown ? S_UNKNOWN : end;
}

/* Behind the brace that ends what is around. */
static const char *behind(const char *at)
{
    uint32_t depth = 0;
    for (const char *line = at; *line; line += *line == '\n') {
        line += strspn(line, " ");
        if (*line == '{')
            depth++;
        if (*line == '}' && depth-- == 0)
            return line + 1;
        line += strcspn(line, "\n");
    }
    return at + strlen(at);
}

/* A trip begins with what it assumes: where that is not so there is no trip more. NULL: that is no line of braces. */
static const char *braces(struct s_run *r, const char *next, bool loops)
{
    const bool opens = take(r, "{");
    if (!opens && !take(r, "}"))
        return NULL;
    if (opens && r->depth < S_DEPTH)
        r->bodies[r->depth++] = loops ? next : NULL;
    else if (opens || r->depth == 0)
        r->unknown = true;
    const char *body = r->depth > 0 ? r->bodies[r->depth - 1] : NULL;
    if (!body) {
        r->depth -= !opens && r->depth > 0;
        return next;
    }
    r->at = body;
    if (take(r, "assume ") && expression(r, 0).word)
        return body;
    r->depth--;
    return behind(body);
}

enum s_end s_run(struct s_run *r, const char *text)
{
    enum s_end end = S_PASSES;
    bool loops = false; /* braces are a loop's */
    for (r->at = text; *r->at && end == S_PASSES;) {
        const char *next = strchr(r->at, '\n');
        next = next ? next + 1 : r->at + strlen(r->at);
        const char *other = braces(r, next, loops);
        if (!other && take(r, "while (*)")) {
            loops = true;
            other = next;
        } else if (other) {
            loops = false;
        } else {
            end = line(r);
        }
        r->at = other ? other : next;
        if (r->unknown || ++r->steps > STEPS)
            end = S_UNKNOWN;
    }
    return end;
}
