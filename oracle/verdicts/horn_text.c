#include "oracle/verdicts/horn_text.h"

#include "engine/base/pcg.h"
#include "engine/prove/inference.h"
#include "engine/smt/term_value.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { WORLDS = 3, NAME_BYTES = 96, OPERANDS = 3, CUTS = 16 };

struct horn_value {
    int64_t number; /* of a Boolean 0 or 1 */
    const struct term_array *array;
};

/* What a clause is to say: conclusion of a state, or false (state NULL) where `outside` is no word, if it is a term. */
struct horn_clause {
    term condition, outside;
    const struct loop_cut *cut;
    const term *state;
};

struct horn_reading {
    struct arena *arena;
    const char *at, *text;
    struct duo *duo;
    struct term_values values;
    struct horn_value *bound; /* by term, in the clause at hand; and those of a defined function */
    uint8_t *is_bound, *is_quantified;
    uint8_t *is_asked, *is_needed; /* a word of an overflow; a clause rests on its fitting */
    uint8_t *has_clause;           /* an overflow, by number */
    struct horn_value parameters[2];
    term *arguments[CUTS]; /* of each relation, as a premise first has them */
    uint32_t argument_count[CUTS];
    uint8_t premise[CUTS]; /* a relation is one of the clause at hand */
    bool gone;             /* integers leave the words: nothing more can be said of this clause */
    bool is_next;          /* the text was read once: arguments are known */
    const char *why;
};

static struct horn_value fail(struct horn_reading *r, const char *why)
{
    if (!r->why)
        r->why = arena_printf(r->arena, "%s at '%.*s'", why, (int)strcspn(r->at, "\n"), r->at);
    r->at += strlen(r->at);
    return (struct horn_value){0, NULL};
}

/* ---- words of the text ---- */

static void skip(struct horn_reading *r)
{
    while (*r->at == ' ' || *r->at == '\n')
        r->at++;
}

static bool take(struct horn_reading *r, const char *word)
{
    skip(r);
    if (strncmp(r->at, word, strlen(word)) != 0)
        return false;
    r->at += strlen(word);
    return true;
}

static void want(struct horn_reading *r, const char *word)
{
    if (!take(r, word))
        fail(r, arena_printf(r->arena, "'%s' is missing", word));
}

static const struct term_node *node_of(const struct horn_reading *r, term t)
{
    return term_of(&r->duo->terms, t);
}

/* |name|, or t and its number; TERM_NONE: neither. */
static term take_term(struct horn_reading *r)
{
    char *end;
    skip(r);
    if (r->at[0] == 't' && r->at[1] >= '0' && r->at[1] <= '9') {
        const term t = (term)strtoul(r->at + 1, &end, 10);
        r->at = end;
        return t < r->duo->terms.count ? t : (term)TERM_NONE;
    }
    if (*r->at != '|')
        return TERM_NONE;
    const char *name = r->at + 1;
    const size_t length = strcspn(name, "|");
    r->at = name + length + 1;
    for (term t = 1; t < r->duo->terms.count; t++)
        if (node_of(r, t)->op == TERM_SYMBOL && strlen(node_of(r, t)->name) == length &&
            strncmp(node_of(r, t)->name, name, length) == 0)
            return t;
    return TERM_NONE;
}

/* ---- expressions ---- */

static struct horn_value expression(struct horn_reading *r);

static struct horn_value integer(int64_t number)
{
    return (struct horn_value){number, NULL};
}

/* (define-fun NAME ((x Int) (y Int)) SORT BODY) */
static struct horn_value defined(struct horn_reading *r, const char *name,
                                 const struct horn_value *operands)
{
    const char *back = r->at,
               *start = strstr(r->text, arena_printf(r->arena, "(define-fun %s (", name));
    const struct horn_value before[2] = {r->parameters[0], r->parameters[1]};
    if (!start)
        return fail(r, arena_printf(r->arena, "'%s' is unknown", name));
    memcpy(r->parameters, operands, sizeof r->parameters);
    r->at = strstr(start, "))") + 2;
    if (!take(r, "Int"))
        want(r, "Bool");
    const struct horn_value value = expression(r);
    memcpy(r->parameters, before, sizeof before);
    r->at = back;
    return value;
}

/* The rest is not negative: SMT-LIB, theory Ints. */
static int64_t divided(struct horn_reading *r, int64_t a, int64_t b, bool rest)
{
    if (b == 0 || b == -1) {
        r->gone |= b == 0;
        return rest || b == 0 ? 0 : -a;
    }
    int64_t quotient = a / b;
    if (a % b < 0)
        quotient += b > 0 ? -1 : 1;
    return rest ? a - quotient * b : quotient;
}

static struct horn_value applied(struct horn_reading *r, const char *op, const struct horn_value *v,
                                 uint32_t count)
{
    const int64_t a = v[0].number, b = v[1].number;
    int64_t made = 0;
    bool wraps = false;
    if (strcmp(op, "-") == 0)
        wraps = count == 1 ? __builtin_sub_overflow((int64_t)0, a, &made)
                           : __builtin_sub_overflow(a, b, &made);
    else if (strcmp(op, "+") == 0)
        wraps = __builtin_add_overflow(a, b, &made);
    else if (strcmp(op, "*") == 0)
        wraps = __builtin_mul_overflow(a, b, &made);
    else if (strcmp(op, "div") == 0 || strcmp(op, "mod") == 0)
        made = divided(r, a, b, op[0] == 'm');
    else if (strcmp(op, "not") == 0)
        made = !a;
    else if (strcmp(op, "and") == 0)
        made = a && b && (count < 3 || v[2].number);
    else if (strcmp(op, "or") == 0)
        made = a || b;
    else if (strcmp(op, "=") == 0 && v[0].array)
        r->gone = true;
    else if (strcmp(op, "=") == 0)
        made = a == b;
    else if (strcmp(op, "<") == 0)
        made = a < b;
    else if (strcmp(op, "<=") == 0)
        made = a <= b;
    else if (strcmp(op, ">=") == 0)
        made = a >= b;
    else if (strcmp(op, "ite") == 0)
        return a ? v[1] : v[2];
    else if (strcmp(op, "select") == 0 && v[0].array)
        made = term_array_element(v[0].array, (int32_t)b);
    else
        return defined(r, op, v);
    r->gone |= wraps;
    return integer(made);
}

static struct horn_value array_of(struct horn_reading *r, const struct term_array *below,
                                  int64_t index, int64_t value)
{
    struct term_array *made = ARENA_NEW(r->arena, struct term_array);
    *made = (struct term_array){.below = below, .index = (int32_t)index, .value = (int32_t)value};
    return (struct horn_value){0, made};
}

static struct horn_value atom(struct horn_reading *r)
{
    char *end;
    if (*r->at >= '0' && *r->at <= '9') {
        const int64_t number = strtoll(r->at, &end, 10);
        r->at = end;
        return integer(number);
    }
    if (take(r, "true"))
        return integer(1);
    if (take(r, "false"))
        return integer(0);
    if (*r->at == 'x' || *r->at == 'y')
        return r->parameters[*r->at++ - 'x'];
    const char *from = r->at;
    const term t = take_term(r);
    if (t == TERM_NONE || !r->is_bound[t]) {
        r->at = from;
        return fail(r, "what stands here is neither quantified nor defined");
    }
    return r->bound[t];
}

static struct horn_value expression(struct horn_reading *r)
{
    char op[NAME_BYTES] = "";
    struct horn_value v[OPERANDS] = {{0, NULL}};
    uint32_t count = 0;
    skip(r);
    if (*r->at != '(')
        return atom(r);
    r->at++;
    const bool is_table = take(r, "(as const (Array Int Int))");
    const size_t length = strcspn(r->at, " ()");
    if (length >= NAME_BYTES || (length == 0 && !is_table))
        return fail(r, "an operation is expected");
    if (!is_table) {
        strncat(op, r->at, length);
        r->at += length;
    }
    for (skip(r); *r->at && *r->at != ')'; skip(r)) {
        const struct horn_value value = expression(r);
        if (count == OPERANDS)
            return fail(r, "too many operands");
        v[count++] = value;
    }
    want(r, ")");
    if (is_table)
        return array_of(r, NULL, 0, v[0].number);
    if (strcmp(op, "store") == 0)
        return array_of(r, v[0].array, v[1].number, v[2].number);
    return applied(r, op, v, count);
}

/* ---- what a clause stands for ---- */

static const struct loop_cut *cut_number(const struct horn_reading *r, uint32_t i)
{
    return GROWN(r->duo->cuts, struct loop_cut *)[i];
}

static bool is_word(int64_t number)
{
    return number >= INT32_MIN && number <= INT32_MAX;
}

/* A number below 31 shifts by it, a mask of the lowest bits leaves a rest, and ^ -1 is -1 - x: integers can say all
 * that and sums, products, quotients and rests, where it is asked whether they fit. */
static bool can_be_said(const struct horn_reading *r, term t)
{
    const struct term_node *node = node_of(r, t);
    int32_t by = -1;
    const bool known = node->b && term_is_constant(&r->duo->terms, node->b, &by),
               below = known && by >= 0 && by < 31;
    switch ((int)node->binary) {
    case BINARY_MUL:
    case BINARY_ADD:
    case BINARY_SUB:
    case BINARY_DIV:
        return r->is_asked[t];
    case BINARY_SHL:
        return r->is_asked[t] && below;
    case BINARY_SHR:
        return below;
    case BINARY_AND:
        return known && by > 0 && by < INT32_MAX && (by & (by + 1)) == 0;
    case BINARY_XOR:
        return known && by == -1;
    default:
        return node->binary == BINARY_REM;
    }
}

/* Unsigned operations are asked of bounds: of what is negative they may say anything. */
static bool may_differ(const struct horn_reading *r, const struct term_node *node)
{
    const int64_t *words = r->values.words;
    const bool is_unsigned =
        node->op == TERM_BELOW || node->op == TERM_UREM || node->op == TERM_UDIV;
    return is_unsigned && (words[node->a] < 0 || words[node->b] < 0 ||
                           (node->op != TERM_BELOW && words[node->b] == 0));
}

static void bind(struct horn_reading *r, term t, struct horn_value value)
{
    r->bound[t] = value;
    r->is_bound[t] = 1;
}

static struct horn_value drawn_value(const struct horn_reading *r, term t)
{
    return (struct horn_value){r->values.words[t], r->values.arrays[t]};
}

/* ((|x| Int) .. (unused Int)); how many are words. */
static uint32_t read_variables(struct horn_reading *r)
{
    uint32_t words = 0;
    while (take(r, "(") && !take(r, "unused")) {
        const term t = take_term(r);
        if (t == TERM_NONE)
            fail(r, "a variable is no term");
        else if (node_of(r, t)->op != TERM_SYMBOL &&
                 (node_of(r, t)->op != TERM_BINARY || can_be_said(r, t)))
            fail(r, arena_printf(r->arena, "t%" PRIu32 " is any word, and can be said", t));
        bind(r, t, drawn_value(r, t));
        r->is_quantified[t] = 1;
        words += t && node_of(r, t)->sort == SORT_WORD;
        want(r, node_of(r, t)->sort == SORT_WORD   ? "Int)"
                : node_of(r, t)->sort == SORT_BOOL ? "Bool)"
                                                   : "(Array Int Int))");
    }
    want(r, "Int))");
    return words;
}

/* (let ((t12 ..)) for each; how many. */
static uint32_t read_lets(struct horn_reading *r)
{
    uint32_t count = 0;
    for (; !r->why && !r->gone && take(r, "(let ((");) {
        const term t = take_term(r);
        const struct term_node *node = node_of(r, t);
        if (node->op == TERM_BINARY && !can_be_said(r, t))
            fail(r, arena_printf(r->arena, "t%" PRIu32 " is nothing that integers say", t));
        const struct horn_value value = expression(r);
        want(r, "))");
        count++;
        if (r->why || r->gone)
            break;
        bind(r, t, value);
        if (node->sort == SORT_ARRAY)
            continue;
        r->is_needed[t] = 1;
        if (node->op == TERM_BINARY && !is_word(value.number) && r->is_asked[t])
            r->gone = true;
        else if (value.number != r->values.words[t] && !may_differ(r, node))
            fail(r, arena_printf(r->arena, "t%" PRIu32 " is %" PRId64 ", and should be %" PRId64, t,
                                 value.number, r->values.words[t]));
        else
            bind(r, t, drawn_value(r, t));
    }
    return count;
}

/* I0, or (I0 argument ..): the cut; CUTS: none stands here. As a premise its arguments are variables, the same in all
 * clauses; of a conclusion they are the state's. */
static uint32_t read_relation(struct horn_reading *r, const struct loop_cut *of, const term *state)
{
    char *end;
    skip(r);
    const bool has_arguments = r->at[0] == '(' && r->at[1] == 'I';
    if (!has_arguments && r->at[0] != 'I')
        return CUTS;
    const uint32_t i = (uint32_t)strtoul(r->at + 1 + has_arguments, &end, 10);
    r->at = end;
    if (i >= r->duo->cuts.count || (of && cut_number(r, i) != of)) {
        fail(r, "another loop's relation is concluded");
        return CUTS;
    }
    if (of && !r->arguments[i]) { /* not known yet */
        r->gone = true;
        return i;
    }
    const bool is_first = !of && !r->arguments[i];
    const uint32_t most = is_first ? r->duo->terms.count : r->argument_count[i];
    if (is_first)
        r->arguments[i] = ARENA_ARRAY(r->arena, term, most);
    uint32_t count = 0;
    for (skip(r); has_arguments && !r->why && *r->at != ')' && count < most; skip(r), count++) {
        if (of) {
            term t = r->arguments[i][count];
            for (uint32_t n = 0; n < of->symbol_count; n++)
                if (of->symbols[n] == r->arguments[i][count])
                    t = state[of->symbol_slots[n]];
            const bool is_array = node_of(r, t)->sort == SORT_ARRAY;
            const struct horn_value is = expression(r);
            if (!r->why && !is_array && is.number != r->values.words[t])
                fail(r, "the relation is concluded of another state");
        } else {
            const term t = take_term(r);
            if (is_first)
                r->arguments[i][count] = t;
            if (t == TERM_NONE || r->arguments[i][count] != t || !r->is_quantified[t])
                fail(r, "an argument is another one here, or is not quantified");
        }
    }
    r->argument_count[i] = is_first ? count : r->argument_count[i];
    if (count != r->argument_count[i])
        fail(r, "arguments of a relation are missing");
    if (has_arguments)
        want(r, ")");
    return i;
}

/* Whether the clause mentions the invariant; widely: or something below a relation's argument does. */
static bool mentions(const struct horn_reading *r, const struct horn_clause *c, term invariant,
                     bool widely)
{
    const uint32_t count = r->duo->terms.count;
    uint8_t *seen = ARENA_ARRAY(r->arena, uint8_t, count);
    seen[c->condition] = 1;
    seen[c->outside] = 1;
    for (uint32_t i = 0; i < r->duo->assumptions.count; i++)
        seen[GROWN(r->duo->assumptions, term)[i]] = 1;
    for (uint32_t i = 0; i < r->duo->cuts.count; i++)
        for (uint32_t n = 0; n < r->argument_count[i]; n++) {
            term t = r->arguments[i][n];
            if (cut_number(r, i) == c->cut && c->state) {
                for (uint32_t s = 0; s < c->cut->symbol_count; s++)
                    if (c->cut->symbols[s] == t)
                        t = c->state[c->cut->symbol_slots[s]];
                seen[t] = 1;
            }
            if (r->premise[i] && widely)
                seen[r->arguments[i][n]] = 1;
        }
    for (term t = count - 1; t > 0; t--)
        if (seen[t])
            seen[node_of(r, t)->a] = seen[node_of(r, t)->b] = seen[node_of(r, t)->c] = 1;
    return seen[invariant];
}

/* A variable of the loop's state is an argument of its relation. */
static void check_arguments(struct horn_reading *r, uint32_t i)
{
    const struct loop_cut *cut = cut_number(r, i);
    for (uint32_t n = 0; n < cut->symbol_count; n++) {
        uint32_t a = 0;
        while (a < r->argument_count[i] && r->arguments[i][a] != cut->symbols[n])
            a++;
        if (r->is_quantified[cut->symbols[n]] && a == r->argument_count[i])
            fail(r, "what a loop changes is no argument of its relation");
    }
}

static void check_relations(struct horn_reading *r, const struct horn_clause *c)
{
    for (uint32_t i = 0; i < r->duo->cuts.count && !r->why; i++) {
        if (r->premise[i])
            check_arguments(r, i);
        if (r->premise[i] != mentions(r, c, cut_number(r, i)->invariant, r->premise[i]))
            fail(r, r->premise[i] ? "a loop's relation is assumed where nobody goes through it"
                                  : "a loop's relation is missing where its invariant is assumed");
    }
}

/* (=> (and condition assumed .. (word x) .. (I0 ..) .. (not (word y))) */
static void read_premises(struct horn_reading *r, const struct horn_clause *c, uint32_t words)
{
    memset(r->premise, 0, sizeof r->premise);
    want(r, "(=> (and");
    if (!r->why && expression(r).number != r->values.words[c->condition] && !r->why)
        fail(r, "the condition is another one");
    for (uint32_t i = 0; i < r->duo->assumptions.count && !r->why; i++)
        if (expression(r).number != r->values.words[GROWN(r->duo->assumptions, term)[i]])
            fail(r, "what is assumed is something else");
    for (; take(r, "(word "); words--) {
        const term t = take_term(r);
        if (t == TERM_NONE || !r->is_quantified[t])
            fail(r, "a word is no variable");
        want(r, ")");
    }
    for (uint32_t i; !r->why && (i = read_relation(r, NULL, NULL)) < CUTS;)
        r->premise[i] = 1;
    if (c->outside) {
        want(r, "(not (word");
        (void)expression(r);
        want(r, "))");
    }
    want(r, ")");
    if (words != 0)
        fail(r, "a variable is not said to be a word");
}

static void read_clause(struct horn_reading *r, const struct horn_clause *c)
{
    memset(r->is_bound, 0, r->duo->terms.count);
    memset(r->is_quantified, 0, r->duo->terms.count);
    r->gone = false;
    want(r, "(assert (forall (");
    const uint32_t words = read_variables(r);
    uint32_t lets = read_lets(r);
    if (!r->gone)
        read_premises(r, c, words);
    if (!r->gone && c->state)
        (void)read_relation(r, c->cut, c->state);
    else if (!r->gone)
        want(r, "false");
    if (r->gone || r->why)
        return;
    if (r->is_next)
        check_relations(r, c);
    for (want(r, ")"); lets > 0; lets--)
        want(r, ")");
    want(r, "))\n");
}

/* ---- all of them ---- */

/* The next clause; behind a comment. */
static bool find_next(struct horn_reading *r)
{
    while (*r->at && strncmp(r->at, "(assert", 7) != 0) {
        r->at += strcspn(r->at, "\n");
        r->at += *r->at == '\n';
    }
    return *r->at != '\0';
}

static void read_next(struct horn_reading *r, struct horn_clause c)
{
    if (c.condition == TERM_FALSE || r->why)
        return;
    if (find_next(r))
        read_clause(r, &c);
    else
        fail(r, "a clause is missing");
}

/* The term that the clause says not to be a word. */
static term outside_of(struct horn_reading *r)
{
    static const char start[] = "(not (word ";
    const char *back = r->at;
    r->at = strstr(back, start);
    if (!r->at) {
        r->at = back;
        return TERM_NONE;
    }
    r->at += sizeof start - 1;
    const term t = take_term(r);
    r->at = back;
    return t;
}

/* In the order of the walk, those that matter. */
static void read_overflows(struct horn_reading *r)
{
    const struct overflow *all = GROWN(r->duo->overflows, struct overflow);
    uint32_t i = 0;
    while (!r->why && find_next(r)) {
        const term t = outside_of(r);
        while (i < r->duo->overflows.count && (all[i].value != t || all[i].evaluated == TERM_FALSE))
            i++;
        if (i == r->duo->overflows.count) {
            fail(r, "a clause is about nothing that may overflow");
            return;
        }
        read_clause(r, &(struct horn_clause){.condition = all[i].evaluated, .outside = t});
        r->has_clause[i++] = 1;
    }
}

static void read_all(struct horn_reading *r)
{
    const struct duo *duo = r->duo;
    for (uint32_t i = 0; i < duo->cuts.count; i++) {
        const struct loop_cut *cut = cut_number(r, i);
        const uint32_t path = slot_path(duo);
        read_next(r, (struct horn_clause){
                         .condition = cut->entry[path], .cut = cut, .state = cut->entry});
        read_next(r, (struct horn_clause){
                         .condition = cut->latch[path], .cut = cut, .state = cut->latch});
    }
    for (uint32_t i = 0; i < duo->obligations.count; i++)
        read_next(r, (struct horn_clause){.condition =
                                              GROWN(duo->obligations, struct obligation)[i].wrong});
    read_overflows(r);
}

static void draw_world(struct horn_reading *r, struct pcg *rng)
{
    const struct terms *terms = &r->duo->terms;
    term *all = ARENA_ARRAY(r->arena, term, terms->count);
    for (term t = 1; t < terms->count; t++) {
        const struct term_node *node = term_of(terms, t);
        all[t] = t;
        if (node->op != TERM_SYMBOL)
            continue;
        term_value_draw(terms, &r->values, t, pcg_next64(rng));
        if (node->sort == SORT_WORD && node->value == 0 && pcg_below(rng, 4) > 0)
            r->values.words[t] = (int64_t)pcg_below(rng, 14) - 3;
    }
    for (uint32_t i = 0; i < r->duo->cuts.count; i++)
        r->values.words[cut_number(r, i)->invariant] = 1;
    term_values_find(terms, &r->values, all + 1, terms->count - 1);
}

/* What a clause rests on is asked about. */
static void check_asked(struct horn_reading *r)
{
    const struct overflow *all = GROWN(r->duo->overflows, struct overflow);
    for (uint32_t i = 0; i < r->duo->overflows.count && !r->why; i++)
        if (r->is_needed[all[i].value] && all[i].evaluated != TERM_FALSE && !r->has_clause[i])
            r->why = arena_printf(r->arena, "whether t%" PRIu32 " fits 32 bits is not asked",
                                  all[i].value);
}

/* x / 0 is 0, x % 0 is x; both round to 0 (docs/kernel-language.md). */
static void check_functions(struct horn_reading *r, struct pcg *rng)
{
    const int64_t limit = INT64_C(1) << 31;
    for (uint32_t i = 0; i < 8 && !r->why; i++) {
        const uint32_t few = pcg_below(rng, 28);
        const int64_t x = ((int64_t)pcg_next64(rng) >> 31) >> few,
                      y = i % 4 == 0 ? x : ((int64_t)pcg_next(rng) - limit) >> pcg_below(rng, 32);
        const struct horn_value v[2] = {integer(x), integer(y)};
        const bool right = defined(r, "word", v).number == (x >= -limit && x < limit) &&
                           defined(r, "below", v).number == (x >= 0 && x < y) &&
                           (y == 0 || (defined(r, "quotient", v).number == x / y &&
                                       defined(r, "rest", v).number == x % y));
        if (!right)
            r->why = arena_printf(r->arena, "of %" PRId64 " and %" PRId64 " a function is another",
                                  x, y);
    }
    r->gone = false;
}

const char *horn_text_judge(struct arena *arena, struct duo *duo, uint64_t seed)
{
    const uint32_t count = duo->terms.count;
    struct horn_reading r = {.arena = arena, .duo = duo};
    struct text text = text_begin(arena);
    struct pcg rng;
    pcg_seed(&rng, seed, 5);
    if (duo->cuts.count > CUTS)
        return NULL;
    horn_print(&text, duo, duo->obligations.items, duo->obligations.count);
    r.text = text.bytes;
    term_values_init(&r.values, arena, count);
    r.bound = ARENA_ARRAY(arena, struct horn_value, count);
    r.is_bound = ARENA_ARRAY(arena, uint8_t, count);
    r.is_quantified = ARENA_ARRAY(arena, uint8_t, count);
    r.is_asked = ARENA_ARRAY(arena, uint8_t, count);
    r.has_clause = ARENA_ARRAY(arena, uint8_t, duo->overflows.count + 1);
    for (uint32_t i = 0; i < duo->overflows.count; i++)
        r.is_asked[GROWN(duo->overflows, struct overflow)[i].value] = 1;
    r.is_needed = ARENA_ARRAY(arena, uint8_t, count);
    check_functions(&r, &rng);
    for (uint32_t world = 0; world < WORLDS && !r.why; world++) {
        draw_world(&r, &rng);
        r.at = r.text;
        read_all(&r);
        r.is_next = true;
    }
    check_asked(&r);
    return r.why;
}
