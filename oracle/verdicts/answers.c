/*
 * answers.c - what solvers print, drawn: `sat` with a value for each name, in z3's and in cvc5's spelling, or another
 * word. Read back (engine/smt/solver.h) it must be what was drawn; with a byte more or less it must be refused.
 */
#include "engine/base/pcg.h"
#include "engine/base/text.h"
#include "engine/smt/solver.h"
#include "oracle/verdicts/verdicts.h"

#include <inttypes.h>
#include <string.h>

enum { NAMES = 5 };

enum spelling { AS_Z3, AS_CVC5 };

struct answering {
    struct arena *arena;
    struct pcg rng;
    struct text out;
    enum spelling spelling;
    bool
        flat; /* no parentheses within terms: those that are left could stand for one that is not */
    uint32_t count, values[NAMES];
    const char *names[NAMES];
};

static uint32_t below(struct answering *a, uint32_t count)
{
    return pcg_below(&a->rng, count);
}

/* Blanks stand wherever they may. */
static void put_blank(struct answering *a, bool needed)
{
    static const char *const blanks[] = {" ", "\n ", "\t", "\r\n"};
    if (needed || below(a, 4) == 0)
        text_put(&a->out, blanks[below(a, 3) ? 0 : below(a, 4)]);
}

static void put_bits(struct answering *a, uint32_t value, uint32_t width)
{
    text_put(&a->out, "#b");
    for (uint32_t bit = width; bit-- > 0;)
        text_put(&a->out, bit < 32 && value >> bit & 1 ? "1" : "0");
}

/* A number that is a name of itself, as it is asked for; a solver may print it in another base. */
static void put_word(struct answering *a, uint32_t value, bool is_name)
{
    uint32_t width = !is_name && below(a, 4) == 0 ? 64 : 32;
    if (a->spelling == AS_CVC5)
        put_bits(a, value, width);
    else if (!is_name && below(a, 3) == 0)
        text_format(&a->out, "(_ bv%" PRIu32 " %" PRIu32 ")", value, width);
    else
        text_format(&a->out, width == 64 ? "#x00000000%08" PRIx32 : "#x%08" PRIx32, value);
}

static void put_name(struct answering *a, const char *name, uint32_t number)
{
    size_t length = strlen(name);
    if (name[0] == '#')
        put_word(a, number, true);
    else if (name[0] == '|' && a->spelling == AS_CVC5)
        text_put_bytes(&a->out, name + 1, length - 2);
    else
        text_put(&a->out, name);
}

static uint32_t draw_word(struct answering *a)
{
    uint32_t word = pcg_next(&a->rng);
    return below(a, 2) ? word & 0x2f : word;
}

/* A name with its value: of a number the number itself. A term in the place of a value says nothing. */
static void put_pair(struct answering *a, uint32_t i)
{
    static const char *const terms[] = {"(= a b)", "(ite (select a #x00000001) true (not false))"};
    uint32_t number = draw_word(a), kind = below(a, 4);
    a->names[i] = kind == 0   ? arena_printf(a->arena, "#x%08" PRIx32, number)
                  : kind == 1 ? arena_printf(a->arena, "|x%" PRIu32 "|", i)
                              : arena_printf(a->arena, "t%" PRIu32, 10 + i);
    text_put(&a->out, "(");
    put_blank(a, false);
    put_name(a, a->names[i], number);
    put_blank(a, true);
    a->values[i] = kind == 0 ? number : draw_word(a);
    if (kind != 0 && below(a, 3) == 0) {
        a->values[i] &= 1;
        text_put(&a->out, a->values[i] ? "true" : "false");
    } else if (kind != 0 && below(a, 5) == 0) {
        a->values[i] = SOLVER_NO_VALUE;
        text_put(&a->out, terms[a->flat ? 0 : below(a, 2)]);
    } else {
        put_word(a, a->values[i], false);
    }
    put_blank(a, false);
    text_put(&a->out, ")");
    put_blank(a, false);
}

static const char *draw_sat(struct answering *a)
{
    a->out = text_begin(a->arena);
    a->spelling = below(a, 2) ? AS_Z3 : AS_CVC5;
    a->count = below(a, NAMES + 1);
    text_put(&a->out, "sat\n");
    if (a->count > 0)
        text_put(&a->out, "(");
    for (uint32_t i = 0; i < a->count; i++)
        put_pair(a, i);
    text_put(&a->out, a->count > 0 ? ")\nsimtfuzz-end\n" : "simtfuzz-end\n");
    return a->out.bytes;
}

static const char *read_sat(struct answering *a, struct solver *solver)
{
    uint32_t values[NAMES] = {0};
    const char *text = draw_sat(a);
    if (solver_read(solver, text, a->names, values, a->count) != SOLVER_SAT)
        return arena_printf(a->arena, "'%s' is not read", text);
    for (uint32_t i = 0; i < a->count; i++)
        if (values[i] != a->values[i])
            return arena_printf(a->arena, "of '%s' value %" PRIu32 " is read as %" PRIu32, text, i,
                                values[i]);
    return NULL;
}

/* Without one of its parentheses, or about another name, it is none. */
static const char *read_broken(struct answering *a, struct solver *solver)
{
    uint32_t values[NAMES] = {0};
    a->flat = true;
    const char *text = draw_sat(a);
    size_t length = strlen(text), at = 4 + below(a, (uint32_t)length - 4);
    if (a->count == 0)
        return NULL;
    if (below(a, 2)) {
        a->names[below(a, a->count)] = below(a, 2) ? "u" : "|y z|";
    } else {
        char *other = arena_alloc(a->arena, length + 1, 1);
        while (text[at] != '(' && text[at] != ')')
            at = at + 1 < length ? at + 1 : 4;
        memcpy(other, text, length + 1);
        other[at] = ' ';
        text = other;
    }
    return solver_read(solver, text, a->names, values, a->count) == SOLVER_FAILED
               ? NULL
               : arena_printf(a->arena, "'%s' is no answer, and is read", text);
}

static const char *read_word(struct answering *a, struct solver *solver)
{
    static const struct {
        const char *text;
        enum solver_answer answer;
    } words[] = {{"unsat\n", SOLVER_UNSAT},
                 {"unsat\n(error \"line 9: model is not available\")\n", SOLVER_UNSAT},
                 {"unknown\n", SOLVER_UNKNOWN},
                 {"timeout\n", SOLVER_UNKNOWN},
                 {"unsatisfied\n", SOLVER_FAILED},
                 {"(error \"out of memory\")\nsat\n", SOLVER_FAILED},
                 {"saturated\n", SOLVER_FAILED},
                 {"", SOLVER_FAILED}};
    uint32_t which = below(a, sizeof words / sizeof words[0]);
    const char *text = arena_printf(a->arena, "%ssimtfuzz-end\n", words[which].text);
    return solver_read(solver, text, NULL, NULL, 0) == words[which].answer
               ? NULL
               : arena_printf(a->arena, "'%s' is read as another answer", text);
}

struct verdicts_fault answers_judge(struct arena *arena, uint64_t seed)
{
    struct answering a = {.arena = arena};
    const struct solver_options options = {.command = SOLVER_COMMAND};
    struct solver *solver = solver_new(arena, &options);
    pcg_seed(&a.rng, seed, 2);
    const char *why = read_sat(&a, solver);
    why = why ? why : read_broken(&a, solver);
    why = why ? why : read_word(&a, solver);
    return (struct verdicts_fault){why ? "answers that are read" : NULL, why};
}
