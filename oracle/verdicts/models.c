/*
 * models.c - what a model of unrolled loops says, where each term has the value that was drawn for it: who the threads
 * are, where it goes wrong, what inputs hold, what is made up, and what memory holds behind each barrier that both
 * threads pass.
 */
#include "oracle/verdicts/models.h"

#include "engine/base/pcg.h"

#include <inttypes.h>
#include <string.h>

enum { TOLD = 16 /* values that are made up */, ELEMENTS = 1024, WORDS = 4096 };

uint32_t models_value(uint64_t seed, const struct duo *duo, term t)
{
    const struct term_node *node = term_of(&duo->terms, t);
    const uint64_t drawn = pcg_splitmix(pcg_splitmix(seed) ^ t);
    if (node->op == TERM_CONSTANT)
        return (uint32_t)node->value;
    if (node->sort == SORT_BOOL)
        return drawn % 4 == 0;
    return drawn % 8 ? (uint32_t)(drawn >> 8) % 8 : (uint32_t)(drawn >> 8);
}

struct modelled {
    struct arena *arena;
    uint64_t seed;
    struct duo *duo;
    const struct obligation *o;
    const struct proof_model *m;
    uint8_t *cone, *asked; /* what the obligation rests on; what all that were asked about do */
};

static uint32_t value(const struct modelled *x, term t)
{
    return models_value(x->seed, x->duo, t);
}

static term element(const struct modelled *x, const struct ast_var *var, term held, uint32_t n)
{
    struct terms *t = &x->duo->terms;
    return var->is_array ? term_select(t, held, term_word(t, (int32_t)n)) : held;
}

/* t and all below it. */
static uint8_t *below(const struct modelled *x, uint8_t *seen, term t)
{
    seen[t] = 1;
    for (; t > 0; t--) {
        const struct term_node *node = term_of(&x->duo->terms, t);
        if (seen[t])
            seen[node->a] = seen[node->b] = seen[node->c] = 1;
    }
    return seen;
}

static uint8_t *none(const struct modelled *x)
{
    return ARENA_ARRAY(x->arena, uint8_t, x->duo->terms.limit);
}

/* ---- where, and who ---- */

static const char *wrong_place(const struct modelled *x)
{
    static const char *const kinds[] = {[LOG_READ] = "read",
                                        [LOG_WRITE] = "write",
                                        [LOG_ATOMIC] = "atomic",
                                        [LOG_STRONG_READ] = "read"};
    const struct obligation *o = x->o;
    const struct proof_model *m = x->m;
    const struct duo *duo = x->duo;
    const bool races = o->goal == GOAL_RACE;
    const term watched = o->var ? duo->watched[o->var->mark] : (term)TERM_NONE;
    if (m->goal != o->goal || m->at.line != o->at.line || m->at.column != o->at.column)
        return "it goes wrong elsewhere";
    if (!m->var != !o->var || (m->var && strcmp(m->var, o->var->name) != 0))
        return "it is another variable";
    if (m->element != (watched ? value(x, watched) / duo->units : 0))
        return "it is another element";
    if (!m->kind != !races || (races && strcmp(m->kind, kinds[o->kind]) != 0))
        return "it is another access";
    for (uint32_t k = 0; k < 2; k++)
        if (m->tid[k] != value(x, duo->tid[k]) || m->bid[k] != value(x, duo->bid[k]))
            return "these are other threads";
    if (m->threads != value(x, duo->thread_count))
        return "these are more threads, or less";
    if (m->assumes != duo->assumes || !m->by_unrolling ||
        m->ordered != (duo->lift && duo->lift->ordered))
        return "what is said of assumes, of order or of cut loops is otherwise";
    return NULL;
}

/* ---- inputs ---- */

/* What a replay can set: memory that the file has no values of, of one variable for all who share it. */
static bool can_be_set(const struct duo *duo, const struct ast_var *var)
{
    const bool shares = var->space == SPACE_GLOBAL || duo->blocks == 1;
    return var->is_input && is_memory(var) && var->length <= ELEMENTS &&
           !(duo->options->file_inputs && shares);
}

static const char *wrong_inputs(const struct modelled *x)
{
    const term *start = duo_start(x->duo);
    uint32_t count = 0;
    bool private = false;
    for (uint32_t i = 0; i < x->duo->var_count; i++) {
        const struct ast_var *var = x->duo->vars[i];
        private |= var->is_input && !is_memory(var);
        if (!can_be_set(x->duo, var))
            continue;
        if (count == x->m->input_count || x->m->inputs[count].var != var)
            return "an input is missing";
        for (uint32_t n = 0; n < var->length; n++)
            if ((uint32_t)x->m->inputs[count].values[n] !=
                value(x, element(x, var, start[slot_var(x->duo, var, 0)], n)))
                return "an input holds something else";
        count++;
    }
    return count != x->m->input_count || x->m->private_inputs != private ? "these are other inputs"
                                                                         : NULL;
}

/* ---- what is made up ---- */

/* Whether some value that is made up is in the cone. */
static bool has_fresh(const struct modelled *x, const uint8_t *cone)
{
    for (uint32_t i = 0; i < x->duo->fresh.count; i++)
        if (cone[GROWN(x->duo->fresh, term)[i]])
            return true;
    return false;
}

static bool is_told(const struct modelled *x, uint32_t at, const char *name, uint32_t is)
{
    return at < x->m->guess_count && strcmp(x->m->guesses[at].name, name) == 0 &&
           x->m->guesses[at].value == is;
}

static const char *wrong_guesses(const struct modelled *x)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < x->duo->reads.count && count < TOLD; i++) {
        const struct read_seen *read = &GROWN(x->duo->reads, struct read_seen)[i];
        if (!x->cone[read->value] || !has_fresh(x, below(x, none(x), read->value)))
            continue;
        const int32_t is = (int32_t)value(x, read->value), at = (int32_t)value(x, read->index);
        const char *index = read->var->is_array ? arena_printf(x->arena, "[%" PRId32 "]", at) : "";
        if (!is_told(x, count++,
                     arena_printf(x->arena, "line %" PRIu32 " reads %" PRId32 " from %s%s",
                                  read->at.line, is, read->var->name, index),
                     (uint32_t)is))
            return "what is read is told otherwise";
    }
    for (uint32_t i = 0; i < x->duo->fresh.count && count < TOLD; i++) {
        const term t = GROWN(x->duo->fresh, term)[i];
        const struct term_node *node = term_of(&x->duo->terms, t);
        if (x->cone[t] &&
            !is_told(x, count++, node->name, node->sort == SORT_ARRAY ? 0 : value(x, t)))
            return "what is made up is told otherwise";
    }
    return count == x->m->guess_count ? NULL : "more is told to be made up, or less";
}

/* ---- memory behind barriers ---- */

static bool is_behind(const struct duo *duo, term t)
{
    for (uint32_t i = 0; i < duo->passed.count; i++)
        for (uint32_t v = 0; v < 2 * duo->var_count; v++)
            if (GROWN(duo->passed, struct passed)[i].memory[v] == t)
                return true;
    return false;
}

/* A run can be told of it: of one block, without assumes and private inputs, where nothing is made up but some memory
 * behind barriers, and not too much. */
static bool can_be_told(const struct modelled *x)
{
    const struct duo *duo = x->duo;
    uint32_t words = 0;
    for (uint32_t v = 0; v < duo->var_count; v++)
        if (is_memory(duo->vars[v]) && duo->written[v])
            words += duo->vars[v]->length * duo->passed.count;
    for (uint32_t i = 0; i < duo->fresh.count; i++) {
        const term t = GROWN(duo->fresh, term)[i];
        if (x->cone[t] && !is_behind(duo, t))
            return false;
    }
    return !duo->lift && !x->m->assumes && !x->m->private_inputs && words <= WORDS &&
           x->m->bid[0] == x->m->bid[1] && has_fresh(x, x->cone);
}

static const char *wrong_interval(const struct modelled *x, const struct passed *passed,
                                  const struct proof_interval *interval)
{
    uint32_t count = 0;
    for (uint32_t v = 0; v < x->duo->var_count; v++) {
        const struct ast_var *var = x->duo->vars[v];
        const term held = passed->memory[v];
        if (!held)
            continue;
        if (count == interval->var_count || interval->vars[count].var != var)
            return "a variable is missing behind a barrier";
        for (uint32_t n = 0; n < var->length; n++)
            if ((uint32_t)interval->vars[count].values[n] !=
                (x->asked[held] ? value(x, element(x, var, held, n)) : 0))
                return "memory behind a barrier holds something else";
        count++;
    }
    return count == interval->var_count ? NULL : "a variable is too much behind a barrier";
}

static const char *wrong_memory(const struct modelled *x)
{
    uint32_t count = 0;
    const char *why = NULL;
    if (x->m->guided != can_be_told(x) || x->m->guided != (x->m->intervals != NULL))
        return "a run can be told of it, and is not, or the other way round";
    for (uint32_t i = 0; i < x->duo->passed.count && x->m->guided && !why; i++) {
        const struct passed *passed = &GROWN(x->duo->passed, struct passed)[i];
        if (value(x, passed->reached) == 0)
            continue;
        why = count < x->m->interval_count ? wrong_interval(x, passed, &x->m->intervals[count++])
                                           : "a barrier is missing";
    }
    return why || !x->m->guided || count == x->m->interval_count ? why : "a barrier is too much";
}

const char *models_wrong(struct arena *arena, uint64_t seed, struct duo *duo,
                         const struct obligation *of, uint32_t count, uint32_t which,
                         const struct proof_model *model)
{
    struct modelled x = {.arena = arena, .seed = seed, .duo = duo, .o = &of[which], .m = model};
    x.cone = below(&x, none(&x), of[which].wrong);
    x.asked = none(&x);
    for (uint32_t i = 0; i < count; i++)
        (void)below(&x, x.asked, of[i].wrong);
    x.cone[TERM_NONE] = 0;
    const char *why = wrong_place(&x);
    why = why ? why : wrong_inputs(&x);
    why = why ? why : wrong_guesses(&x);
    return why ? why : wrong_memory(&x);
}
