/*
 * prove.c - what is asked of a solver, in which order, and what its answers mean.
 *
 * First all loops are unrolled a few trips: that finds what is wrong, and proves what cannot go on. What is
 * left is asked with loops cut at invariants.
 */
#include "engine/duo/lift.h"
#include "engine/prove/inference.h"

#include <inttypes.h>
#include <string.h>

const char *const proof_verdict_names[] = {"proved", "model", "bounded", "unknown"};

/* ---- models ---- */

enum { GUESSES_MAX = 16, INPUT_ELEMENTS_MAX = 1024, MEMORY_WORDS_MAX = 4096 };

/* Terms whose values are asked for, and where in the answer they stand. */
struct asking {
    struct grown wanted; /* term */
    uint32_t obligations, tids, watched, inputs, fresh, reads, memory;
    bool guided;   /* memory behind barriers is asked for */
    uint8_t *cone; /* terms that the obligations rest on: of others not all are asked for */
};

static void want_if_asked(struct duo *duo, struct asking *asking, term t)
{
    term wanted = asking->cone[t] ? t : (term)TERM_FALSE;
    grown_add(duo->arena, &asking->wanted, &wanted, sizeof wanted);
}

static uint32_t want(struct duo *duo, struct asking *asking, term t)
{
    grown_add(duo->arena, &asking->wanted, &t, sizeof t);
    return asking->wanted.count - 1;
}

/* The input symbol of a variable as a replay can set it: one for all who share it. */
static bool is_settable(const struct duo *duo, const struct ast_var *var)
{
    return var->is_input && is_memory(var) &&
           !(duo->options->file_inputs && (var->space == SPACE_GLOBAL || duo->blocks == 1)) &&
           var->length <= INPUT_ELEMENTS_MAX;
}

static void want_inputs(struct duo *duo, struct asking *asking, const term *start)
{
    struct terms *t = &duo->terms;
    for (uint32_t i = 0; i < duo->var_count; i++) {
        const struct ast_var *var = duo->vars[i];
        term held = start[slot_var(duo, var, 0)];
        if (!is_settable(duo, var))
            continue;
        for (uint32_t n = 0; n < var->length; n++)
            want(duo, asking,
                 var->is_array ? term_select(t, held, term_word(t, (int32_t)n)) : held);
    }
}

/* Memory behind each barrier: of an array that the obligations rest on each element, of others nothing. */
static void want_memory(struct duo *duo, struct asking *asking)
{
    struct terms *t = &duo->terms;
    for (uint32_t i = 0; i < duo->passed.count; i++) {
        const struct passed *passed = &GROWN(duo->passed, struct passed)[i];
        want(duo, asking, passed->reached);
        for (uint32_t v = 0; v < duo->var_count; v++) {
            term held = passed->memory[v];
            for (uint32_t n = 0; held && n < duo->vars[v]->length; n++) {
                bool read = asking->cone[held];
                term element = duo->vars[v]->is_array && read
                                   ? term_select(t, held, term_word(t, (int32_t)n))
                                   : held;
                want(duo, asking, read ? element : (term)TERM_FALSE);
            }
        }
    }
}

static uint32_t memory_words(const struct duo *duo)
{
    uint32_t words = 0;
    for (uint32_t v = 0; v < duo->var_count; v++)
        words += is_memory(duo->vars[v]) && duo->written[v] ? duo->vars[v]->length : 0;
    return words * duo->passed.count;
}

static void want_all(struct duo *duo, struct asking *asking, const struct obligation *of,
                     uint32_t count)
{
    asking->cone = ARENA_ARRAY(duo->arena, uint8_t, duo->terms.count);
    for (uint32_t i = 0; i < count; i++) {
        want(duo, asking, of[i].wrong);
        term_mark_cone(&duo->terms, of[i].wrong, asking->cone);
    }
    asking->tids = want(duo, asking, duo->tid[0]);
    want(duo, asking, duo->tid[1]);
    want(duo, asking, duo->bid[0]);
    want(duo, asking, duo->bid[1]);
    want(duo, asking, duo->thread_count);
    asking->watched = asking->wanted.count;
    for (uint32_t i = 0; i < duo->var_count; i++)
        want(duo, asking, duo->watched[i] ? duo->watched[i] : (term)TERM_FALSE);
    asking->inputs = asking->wanted.count;
    want_inputs(duo, asking, duo_start(duo));
    asking->fresh = asking->wanted.count;
    for (uint32_t i = 0; i < duo->fresh.count; i++) {
        term symbol = GROWN(duo->fresh, term)[i];
        bool is_array = term_of(&duo->terms, symbol)->sort == SORT_ARRAY;
        want_if_asked(duo, asking, is_array ? (term)TERM_FALSE : symbol);
    }
    asking->reads = asking->wanted.count;
    for (uint32_t i = 0; i < duo->reads.count; i++) {
        const struct read_seen *read = &GROWN(duo->reads, struct read_seen)[i];
        want(duo, asking, asking->cone[read->value] ? read->index : (term)TERM_FALSE);
        want_if_asked(duo, asking, read->value);
    }
    asking->memory = asking->wanted.count;
    if (asking->guided)
        want_memory(duo, asking);
}

static void take_inputs(struct duo *duo, struct proof_model *model, const uint32_t *values)
{
    model->inputs = ARENA_ARRAY(duo->arena, struct proof_input, duo->var_count + 1);
    for (uint32_t i = 0; i < duo->var_count; i++) {
        const struct ast_var *var = duo->vars[i];
        if (!is_settable(duo, var))
            continue;
        struct proof_input *input = &model->inputs[model->input_count++];
        input->var = var;
        input->values = ARENA_ARRAY(duo->arena, int32_t, var->length);
        for (uint32_t n = 0; n < var->length; n++)
            input->values[n] = (int32_t)*values++;
    }
}

/* Whether it is made up, or of an array that is. */
static bool rests_on_guess(const struct duo *duo, term value)
{
    uint8_t *seen = ARENA_ARRAY(duo->arena, uint8_t, value + 1);
    bool guessed = false;
    term_mark_cone(&duo->terms, value, seen);
    for (uint32_t i = 0; i < duo->fresh.count && !guessed; i++) {
        term symbol = GROWN(duo->fresh, term)[i];
        guessed = symbol <= value && seen[symbol];
    }
    return guessed;
}

/* The reads that decide whether it goes wrong and whose values are made up, with what they gave. */
static void take_reads(struct duo *duo, struct proof_model *model, const uint8_t *seen,
                       const uint32_t *values)
{
    for (uint32_t i = 0; i < duo->reads.count && model->guess_count < GUESSES_MAX; i++) {
        const struct read_seen *read = &GROWN(duo->reads, struct read_seen)[i];
        if (!seen[read->value] || !rests_on_guess(duo, read->value))
            continue;
        const char *name = read->var->name;
        const char *element =
            read->var->is_array ? arena_printf(duo->arena, "[%" PRId32 "]", (int32_t)values[2 * i])
                                : "";
        model->guesses[model->guess_count++] = (struct proof_value){
            .name = arena_printf(duo->arena, "line %" PRIu32 " reads %" PRId32 " from %s%s",
                                 read->at.line, (int32_t)values[2 * i + 1], name, element),
            .value = values[2 * i + 1]};
    }
}

/* What the obligation's truth rests on: its cone, with that of the invariants that it mentions. */
static void take_guesses(struct duo *duo, struct proof_model *model, term wrong,
                         const uint32_t *values, const uint32_t *read_values)
{
    uint8_t *seen = ARENA_ARRAY(duo->arena, uint8_t, duo->terms.count);
    term_mark_cone(&duo->terms, wrong, seen);
    model->guesses = ARENA_ARRAY(duo->arena, struct proof_value, GUESSES_MAX);
    take_reads(duo, model, seen, read_values);
    for (uint32_t i = 0; i < duo->fresh.count; i++) {
        term symbol = GROWN(duo->fresh, term)[i];
        if (!seen[symbol])
            continue;
        if (model->guess_count < GUESSES_MAX)
            model->guesses[model->guess_count] = (struct proof_value){
                .name = term_of(&duo->terms, symbol)->name, .value = values[i]};
        model->guess_count++;
    }
    for (uint32_t i = 0; i < duo->var_count; i++)
        if (duo->vars[i]->is_input && !is_memory(duo->vars[i]))
            model->private_inputs = true;
    if (model->guess_count > GUESSES_MAX)
        model->guess_count = GUESSES_MAX;
}

/* Whether the symbol is what memory holds behind a barrier. */
static bool is_behind_barrier(const struct duo *duo, term symbol)
{
    for (uint32_t i = 0; i < duo->passed.count; i++)
        for (uint32_t v = 0; v < 2 * duo->var_count; v++)
            if (GROWN(duo->passed, struct passed)[i].memory[v] == symbol)
                return true;
    return false;
}

/* Whether nothing else is made up that the obligation rests on, and a run of the pair can be told all of it. */
static bool is_guidable(const struct duo *duo, const struct proof_model *model, term wrong)
{
    uint8_t *seen = ARENA_ARRAY(duo->arena, uint8_t, duo->terms.count);
    bool all = duo->unroll > 0 && !duo->lift && !model->private_inputs && !model->assumes &&
               model->bid[0] == model->bid[1] && model->guess_count > 0 &&
               memory_words(duo) <= MEMORY_WORDS_MAX;
    term_mark_cone(&duo->terms, wrong, seen);
    for (uint32_t i = 0; i < duo->fresh.count && all; i++) {
        term symbol = GROWN(duo->fresh, term)[i];
        all = !seen[symbol] || is_behind_barrier(duo, symbol);
    }
    return all;
}

static void take_memory(struct duo *duo, struct proof_model *model, const uint32_t *values)
{
    model->intervals = ARENA_ARRAY(duo->arena, struct proof_interval, duo->passed.count + 1);
    for (uint32_t i = 0; i < duo->passed.count; i++) {
        const struct passed *passed = &GROWN(duo->passed, struct passed)[i];
        struct proof_interval *interval = &model->intervals[model->interval_count];
        model->interval_count += *values++ == 1;
        *interval = (struct proof_interval){
            .vars = ARENA_ARRAY(duo->arena, struct proof_input, duo->var_count + 1)};
        for (uint32_t v = 0; v < duo->var_count; v++) {
            if (!passed->memory[v])
                continue;
            struct proof_input *input = &interval->vars[interval->var_count++];
            input->var = duo->vars[v];
            input->values = ARENA_ARRAY(duo->arena, int32_t, input->var->length);
            for (uint32_t n = 0; n < input->var->length; n++)
                input->values[n] = (int32_t)*values++;
        }
    }
}

static const struct proof_model *read_model(struct duo *duo, const struct asking *asking,
                                            const struct obligation *of, uint32_t count,
                                            const uint32_t *values)
{
    static const char *const kinds[LOG_KINDS] = {"read", "write", "atomic", "read"};
    struct proof_model *model = ARENA_NEW(duo->arena, struct proof_model);
    uint32_t which = 0;
    while (which < count && values[which] != 1)
        which++;
    for (uint32_t i = 0; which == count && i < count; i++)
        if (values[i] == SOLVER_NO_VALUE)
            which = i;
    if (which == count)
        return NULL;
    const struct obligation *o = &of[which];
    model->goal = o->goal;
    model->at = o->at;
    model->var = o->var ? o->var->name : NULL;
    model->element = o->var ? values[asking->watched + o->var->mark] / duo->units : 0;
    model->kind = o->goal == GOAL_RACE ? kinds[o->kind] : NULL;
    for (uint32_t k = 0; k < 2; k++) {
        model->tid[k] = values[asking->tids + k];
        model->bid[k] = values[asking->tids + 2 + k];
    }
    model->threads = values[asking->tids + 4];
    model->assumes = duo->assumes;
    model->ordered = duo->lift && duo->lift->ordered;
    model->by_unrolling = duo->cuts.count == 0;
    take_inputs(duo, model, values + asking->inputs);
    take_guesses(duo, model, o->wrong, values + asking->fresh, values + asking->reads);
    model->guided = is_guidable(duo, model, o->wrong);
    if (asking->guided)
        take_memory(duo, model, values + asking->memory);
    return model;
}

/* ---- goals ---- */

struct proving {
    struct arena *arena;
    struct forms *forms;
    const struct proof_options *options;
    struct solver *solver;
    struct proof_result *result;
    bool possible[GOAL_COUNT];
};

/* The solver's last reason, kept. */
static const char *why(const struct proving *p)
{
    return arena_printf(p->arena, "%s", solver_reason(p->solver));
}

static uint32_t obligations_of(struct duo *duo, enum proof_goal goal, struct obligation **list)
{
    uint32_t count = 0;
    *list = ARENA_ARRAY(duo->arena, struct obligation, duo->obligations.count + 1);
    for (uint32_t i = 0; i < duo->obligations.count; i++) {
        const struct obligation *o = &GROWN(duo->obligations, struct obligation)[i];
        if (o->goal == goal)
            (*list)[count++] = *o;
    }
    return count;
}

static term any_of(struct duo *duo, const struct obligation *of, uint32_t count)
{
    term any = TERM_FALSE;
    for (uint32_t i = 0; i < count; i++)
        any = term_or(&duo->terms, any, of[i].wrong);
    return any;
}

static enum solver_answer ask_model(struct duo *duo, struct solver *solver,
                                    const struct obligation *of, uint32_t count, bool guided,
                                    struct proof_answer *answer)
{
    struct asking asking = {.guided = guided};
    term any = any_of(duo, of, count);
    want_all(duo, &asking, of, count);
    uint32_t *values = ARENA_ARRAY(duo->arena, uint32_t, asking.wanted.count + 1);
    enum solver_answer said =
        duo_ask(duo, solver, any, GROWN(asking.wanted, term), values, asking.wanted.count);
    if (said != SOLVER_SAT)
        return said;
    answer->model = read_model(duo, &asking, of, count, values);
    if (answer->model)
        return said;
    answer->reason = "the solver's values do not make wrong what it says can go wrong";
    return SOLVER_FAILED;
}

/* Is one of the obligations possible? With a model, if so; one that a run of the pair can be told is asked for once
 * more, with all that memory holds. */
static enum solver_answer ask_obligations(struct duo *duo, struct solver *solver,
                                          const struct obligation *of, uint32_t count,
                                          struct proof_answer *answer)
{
    struct proof_answer again = {0};
    enum solver_answer said = ask_model(duo, solver, of, count, false, answer);
    if (said == SOLVER_SAT && answer->model->guided &&
        ask_model(duo, solver, of, count, true, &again) == SOLVER_SAT)
        answer->model = again.model;
    return said;
}

/* Where all together are too much for the budget, each alone. */
static enum solver_answer ask_goal(struct duo *duo, struct solver *solver, enum proof_goal goal,
                                   struct proof_answer *answer)
{
    struct obligation *of;
    uint32_t count = obligations_of(duo, goal, &of);
    enum solver_answer said = ask_obligations(duo, solver, of, count, answer);
    if (said != SOLVER_UNKNOWN || count < 2)
        return said;
    bool unknown = false;
    for (uint32_t i = 0; i < count; i++) {
        said = ask_obligations(duo, solver, &of[i], 1, answer);
        if (said == SOLVER_SAT || said == SOLVER_FAILED)
            return said;
        unknown = unknown || said == SOLVER_UNKNOWN;
    }
    return unknown ? SOLVER_UNKNOWN : SOLVER_UNSAT;
}

static bool is_open(const struct proof_answer *answer)
{
    return answer->verdict == PROOF_BOUNDED || answer->verdict == PROOF_UNKNOWN;
}

/* Nothing is said of other goals behind a race or divergence (settle_dependence): they are asked no more. */
static bool some_open(const struct proof_result *result)
{
    if (result->answers[GOAL_RACE].verdict == PROOF_MODEL ||
        result->answers[GOAL_DIVERGENCE].verdict == PROOF_MODEL)
        return false;
    for (int goal = 0; goal < GOAL_COUNT; goal++)
        if (is_open(&result->answers[goal]))
            return true;
    return false;
}

static void give_up(struct proof_result *result, const char *reason)
{
    for (int goal = 0; goal < GOAL_COUNT; goal++)
        if (result->answers[goal].verdict == PROOF_UNKNOWN)
            result->answers[goal].reason = reason;
}

/* ---- loops unrolled ---- */

static bool goes_on(struct proving *p, struct duo *duo)
{
    term left = TERM_FALSE;
    for (uint32_t i = 0; i < duo->left.count; i++)
        left = term_or(&duo->terms, left, GROWN(duo->left, term)[i]);
    return duo_ask(duo, p->solver, left, NULL, NULL, 0) != SOLVER_UNSAT;
}

static const char *unrolled_method(const struct proving *p, const struct duo *duo)
{
    if (duo->cfg->loop_count == 0)
        return "no loop";
    return duo->left.count == 0 ? "all trips"
                                : arena_printf(p->arena, "unrolled %" PRIu32, duo->unroll);
}

static void judge_unrolled(struct proving *p, struct duo *duo)
{
    bool asked = false, further = false;
    for (int goal = 0; goal < GOAL_COUNT; goal++) {
        struct proof_answer *answer = &p->result->answers[goal];
        if (!is_open(answer))
            continue;
        enum solver_answer said = ask_goal(duo, p->solver, (enum proof_goal)goal, answer);
        if (said == SOLVER_SAT)
            answer->verdict = PROOF_MODEL;
        else if (said != SOLVER_UNSAT)
            answer->reason = answer->reason ? answer->reason : why(p);
        if (said != SOLVER_UNSAT)
            continue;
        further = asked ? further : goes_on(p, duo);
        asked = true;
        answer->verdict = further ? PROOF_BOUNDED : PROOF_PROVED;
        answer->method = unrolled_method(p, duo);
    }
}

/* What the kernel has nothing of is answered without a solver. */
static void note_possible(struct proving *p, const struct duo *duo)
{
    static const char *const methods[GOAL_COUNT] = {
        [GOAL_RACE] = "no two threads share memory that is written",
        [GOAL_DIVERGENCE] = "no barrier that threads share",
        [GOAL_BOUNDS] = "no array",
        [GOAL_ASSERTS] = "no assertion"};
    for (int goal = 0; goal < GOAL_COUNT; goal++) {
        p->possible[goal] = duo->possible[goal];
        if (!duo->possible[goal])
            p->result->answers[goal] =
                (struct proof_answer){.verdict = PROOF_PROVED, .method = methods[goal]};
    }
}

static void try_unrolled(struct proving *p, uint32_t trips)
{
    struct duo *duo = duo_new(p->arena, p->forms, p->options, trips, &p->result->refused);
    if (!duo)
        return;
    note_possible(p, duo);
    duo_run(duo);
    p->result->unrolled = duo;
    p->result->terms = duo->terms.count;
    if (duo->reason) {
        give_up(p->result, duo->reason);
        return;
    }
    p->result->unroll = trips;
    judge_unrolled(p, duo);
}

/* ---- loops cut ---- */

static void note_loops(struct proving *p, const struct duo *duo)
{
    p->result->loop_count = duo->cuts.count;
    p->result->loops = ARENA_ARRAY(p->arena, struct proof_loop, duo->cuts.count + 1);
    for (uint32_t i = 0; i < duo->cuts.count; i++) {
        const struct loop_cut *cut = GROWN(duo->cuts, struct loop_cut *)[i];
        struct proof_loop *loop = &p->result->loops[i];
        loop->at = cut->at;
        loop->candidate_count = cut->candidate_count;
        loop->kept = ARENA_ARRAY(p->arena, const char *, cut->candidate_count + 1);
        for (uint32_t n = 0; n < cut->candidate_count; n++)
            if (cut->candidates[n].kept)
                loop->kept[loop->kept_count++] = cut->candidates[n].text;
    }
}

/* What some trips reach. Trips may not have been run before: one is enough. */
static bool unroll_some(struct proving *p)
{
    const char *refused = NULL;
    if (!p->result->unrolled) {
        p->result->unrolled = duo_new(p->arena, p->forms, p->options, 1, &refused);
        if (p->result->unrolled)
            duo_run(p->result->unrolled);
    }
    return p->result->unrolled && !p->result->unrolled->reason;
}

static bool is_about_something(struct proving *p, struct duo *cut, const char **reason)
{
    return !unroll_some(p) ||
           points_agree(cut, p->result->unrolled, p->solver, &p->result->unreachable, reason);
}

static void judge_cut(struct proving *p, struct duo *duo)
{
    for (int goal = 0; goal < GOAL_COUNT; goal++) {
        struct proof_answer *answer = &p->result->answers[goal], now = {0};
        if (!is_open(answer))
            continue;
        enum solver_answer said = ask_goal(duo, p->solver, (enum proof_goal)goal, &now);
        if (said == SOLVER_UNSAT)
            *answer = (struct proof_answer){.verdict = PROOF_PROVED, .method = "invariants"};
        else if (said == SOLVER_SAT)
            answer->model = now.model;
        else if (answer->verdict == PROOF_UNKNOWN)
            answer->reason = why(p);
    }
}

/* ---- loops cut, their invariants left to the solver ---- */

enum { HORN_TEXT_MAX = 1 << 20 }; /* of more z3's budget says nothing: it hangs before it counts */

/* Only "safe" says something: integers allow more than words do. */
static bool is_safe(struct proving *p, struct duo *duo, enum proof_goal goal)
{
    struct obligation *of;
    uint32_t count = obligations_of(duo, goal, &of);
    struct text text = text_begin(p->arena);
    horn_print(&text, duo, of, count);
    return text.length <= HORN_TEXT_MAX &&
           solver_ask(p->solver, text.bytes, NULL, NULL, 0) == SOLVER_SAT;
}

/* What is safe because nobody gets there is not proved. While races or divergence are open, nothing is
 * (settle_dependence): the goals behind them are not asked. */
static void judge_integers(struct proving *p, struct duo *duo)
{
    bool safe[GOAL_COUNT] = {false}, some = false;
    const char *reason = NULL;
    for (int goal = 0; goal < GOAL_COUNT; goal++) {
        bool open = is_open(&p->result->answers[goal]);
        safe[goal] = open && is_safe(p, duo, (enum proof_goal)goal);
        some = some || safe[goal];
        if (open && !safe[goal] && goal <= GOAL_DIVERGENCE)
            break;
    }
    if (some && unroll_some(p) && !points_reached(duo, p->result->unrolled, p->solver, &reason)) {
        give_up(p->result, reason);
        return;
    }
    for (int goal = 0; goal < GOAL_COUNT; goal++)
        if (safe[goal])
            p->result->answers[goal] =
                (struct proof_answer){.verdict = PROOF_PROVED, .method = "integers"};
}

static void try_integers(struct proving *p)
{
    const char *refused = NULL;
    struct duo *duo = duo_new(p->arena, p->forms, p->options, 0, &refused);
    if (!duo || duo->lift || !solver_knows_horn(p->solver))
        return;
    duo_run(duo);
    if (!duo->reason)
        judge_integers(p, duo);
}

const char *prove_horn_text(struct arena *arena, struct forms *forms,
                            const struct proof_options *options, const char **reason)
{
    struct proof_options each = *options; /* loop has clauses of its own */
    each.counted = false;
    struct duo *duo = duo_new(arena, forms, &each, 0, reason);
    if (!duo)
        return NULL;
    if (duo->lift) {
        *reason = "integers do not say what PTX's bits are";
        return NULL;
    }
    duo_run(duo);
    *reason = duo->reason;
    if (duo->reason)
        return NULL;
    struct text text = text_begin(arena);
    horn_print(&text, duo, duo->obligations.items, duo->obligations.count);
    text_put(&text, "(check-sat)\n");
    return text.bytes;
}

/* ---- loops cut at guessed invariants ---- */

/* Whether guesses were left out: more of them cost more, so not where these spent the budget. */
static bool try_guesses(struct proving *p, bool plain)
{
    const char *reason = NULL;
    struct duo *duo = duo_new(p->arena, p->forms, p->options, 0, &p->result->refused);
    if (!duo)
        return false;
    duo->plain = plain;
    duo_run(duo);
    note_possible(p, duo);
    reason = duo->reason;
    p->result->terms += duo->terms.count;
    if (reason || !houdini(duo, p->solver, &p->result->rounds, &reason) ||
        !is_about_something(p, duo, &reason)) {
        give_up(p->result, reason);
        return false;
    }
    note_loops(p, duo);
    p->result->cut = duo;
    judge_cut(p, duo);
    return duo->left_out;
}

/* Remainders cost most: they are guessed at only where it does not do without. */
static void try_invariants(struct proving *p)
{
    if (try_guesses(p, true) && some_open(p->result))
        try_guesses(p, false);
}

/* ---- what is required ---- */

/* Whether it is the last that speaks of its statement (each trip has one), and thread 1 is stopped by all of them. */
static bool excludes_all(struct proving *p, struct duo *duo, uint32_t last)
{
    const struct required *all = GROWN(duo->required, struct required);
    term there = TERM_FALSE, met = TERM_FALSE;
    for (uint32_t i = last + 1; i < duo->required.count; i++)
        if (all[i].stm == all[last].stm)
            return false;
    for (uint32_t i = 0; i <= last; i++)
        if (all[i].stm == all[last].stm) {
            there = term_or(&duo->terms, there, all[i].there);
            met = term_or(&duo->terms, met, all[i].met);
        }
    return duo_ask(duo, p->solver, met, NULL, NULL, 0) == SOLVER_UNSAT &&
           duo_ask(duo, p->solver, there, NULL, NULL, 0) == SOLVER_SAT;
}

/* What no launch and no input meets: behind it nothing can be wrong, and nothing is proved. */
static void check_required(struct proving *p)
{
    struct duo *duo = unroll_some(p) ? p->result->unrolled : NULL;
    for (uint32_t i = 0; duo && i < duo->required.count; i++) {
        const struct ast_stm *stm = GROWN(duo->required, struct required)[i].stm;
        if (!excludes_all(p, duo, i))
            continue;
        for (int goal = 0; goal < GOAL_COUNT; goal++)
            p->result->answers[goal] = (struct proof_answer){
                .verdict = PROOF_UNKNOWN,
                .reason = arena_printf(p->arena,
                                       "nothing meets what is given at line %" PRIu32
                                       ": no proof would mean anything",
                                       stm->at.line)};
        return;
    }
}

/* ---- up to the first race or divergence ---- */

/* Whether what is said of `goal` is not so while `other` is open: of all trips, or of a few, of which nothing of the
 * other was found in as many. */
static bool rests_on(const struct proving *p, int goal, int other)
{
    enum proof_verdict said = p->result->answers[goal].verdict,
                       first = p->result->answers[other].verdict;
    return goal != other && p->possible[goal] && first != PROOF_PROVED &&
           !(said == PROOF_BOUNDED && first == PROOF_BOUNDED);
}

static void settle_dependence(struct proving *p)
{
    static const char *const firsts[] = {
        [GOAL_RACE] = "race", [GOAL_DIVERGENCE] = "barrier divergence"};
    struct proof_answer settled[GOAL_COUNT];
    memcpy(settled, p->result->answers, sizeof settled);
    for (int goal = 0; goal < GOAL_COUNT; goal++)
        for (int other = GOAL_RACE; other <= GOAL_DIVERGENCE; other++)
            if ((settled[goal].verdict == PROOF_PROVED ||
                 (settled[goal].verdict == PROOF_BOUNDED && !settled[goal].model)) &&
                rests_on(p, goal, other))
                settled[goal] = (struct proof_answer){
                    .verdict = PROOF_UNKNOWN,
                    .reason = arena_printf(p->arena,
                                           "nothing is wrong before the first %s, and nothing "
                                           "is known behind one",
                                           firsts[other])};
    memcpy(p->result->answers, settled, sizeof settled);
}

void prove_kernel(struct arena *arena, struct forms *forms, const struct proof_options *options,
                  struct solver *solver, struct proof_result *result)
{
    struct proving p = {.arena = arena, .forms = forms, .options = options, .solver = solver};
    *result = (struct proof_result){0};
    p.result = result;
    for (int goal = 0; goal < GOAL_COUNT; goal++)
        result->answers[goal] = (struct proof_answer){.verdict = PROOF_UNKNOWN};
    if (options->unroll > 0 || !options->invariants)
        try_unrolled(&p, options->unroll > 0 ? options->unroll : 1);
    bool first = options->integers && options->threads_to > 0;
    if (!result->refused && some_open(result) && first)
        try_integers(&p);
    if (!result->refused && some_open(result) && options->invariants)
        try_invariants(&p);
    if (!result->refused && some_open(result) && options->integers && !first)
        try_integers(&p);
    if (!result->refused)
        check_required(&p);
    settle_dependence(&p);
}
