/*
 * duo_eval.c - expressions and accesses of one of the two threads.
 *
 * Thread 1 logs, thread 2 checks: of a variable that somebody writes one location is watched, an arbitrary
 * one, and the log is whether thread 1 has read, written, atomically changed that location.
 */
#include "engine/duo/duo.h"

#include <inttypes.h>

bool duo_reads_memory(const struct ast_expr *e)
{
    if (!e)
        return false;
    bool here = (e->kind == EXPR_VAR || e->kind == EXPR_INDEX) && is_memory(e->var);
    return here || duo_reads_memory(e->a) || duo_reads_memory(e->b) || duo_reads_memory(e->c);
}

/* ---- accesses ---- */

/* Whether the access is of the watched location. */
static term is_watched(struct duo *duo, const struct access_seen *access)
{
    struct terms *t = &duo->terms;
    term watched = duo->watched[access->var->mark];
    if (access->count == 1)
        return term_eq(t, access->index, watched);
    return term_below(t, term_binary(t, BINARY_SUB, watched, access->index),
                      term_word(t, (int32_t)access->count));
}

static void log_access(struct duo *duo, term *state, const struct access_seen *access)
{
    struct terms *t = &duo->terms;
    uint32_t slot = slot_log(duo, access->var, access->kind);
    term here = is_watched(duo, access);
    state[slot] = term_or(t, state[slot], term_and(t, access->enabled, here));
    grown_add(duo->arena, &duo->accesses, access, sizeof *access);
}

/* What of thread 1 conflicts with an access of thread 2. */
static term conflicts(struct duo *duo, const term *state, const struct ast_var *var, uint32_t kind)
{
    static const uint8_t with[LOG_KINDS] = {[LOG_READ] = 1 << LOG_WRITE | 1 << LOG_ATOMIC,
                                            [LOG_WRITE] = 1 << LOG_READ | 1 << LOG_WRITE |
                                                          1 << LOG_ATOMIC | 1 << LOG_STRONG_READ,
                                            [LOG_ATOMIC] = 1 << LOG_READ | 1 << LOG_WRITE,
                                            [LOG_STRONG_READ] = 1 << LOG_WRITE};
    term any = TERM_FALSE;
    for (uint32_t i = 0; i < LOG_KINDS; i++)
        if (with[kind] >> i & 1)
            any = term_or(&duo->terms, any, state[slot_log(duo, var, i)]);
    return any;
}

void duo_obligation(struct duo *duo, const struct obligation *o)
{
    if (o->wrong == TERM_FALSE)
        return;
    duo_note(duo, (struct deed){.kind = DEED_WRONG, .count = duo->obligations.count});
    grown_add(duo->arena, &duo->obligations, o, sizeof *o);
}

static void check_access(struct duo *duo, const term *state, const struct access_seen *access,
                         struct location at)
{
    struct terms *t = &duo->terms;
    term wrong = conflicts(duo, state, access->var, access->kind);
    if (duo->threads * duo->blocks == 1)
        return;
    wrong = term_and(t, wrong, is_watched(duo, access));
    wrong = term_and(t, wrong, access->enabled);
    if (access->var->space == SPACE_SHARED)
        wrong = term_and(t, wrong, duo->same);
    wrong = term_and(t, wrong, state[slot_path(duo)]);
    duo_obligation(
        duo,
        &(struct obligation){
            .goal = GOAL_RACE, .wrong = wrong, .at = at, .var = access->var, .kind = access->kind});
}

void duo_access(struct duo *duo, term *state, uint32_t k, const struct access_seen *access,
                struct location at)
{
    if (!duo->written[access->var->mark] || access->enabled == TERM_FALSE)
        return;
    term when = term_and(&duo->terms, access->enabled, state[slot_path(duo)]);
    duo_note(duo, (struct deed){DEED_ACCESS, (uint8_t)k, .when = when, .seen = *access});
    if (k == 0)
        log_access(duo, state, access);
    else
        check_access(duo, state, access, at);
}

void duo_oblige(struct duo *duo, const term *state, uint32_t k, const struct obligation *of)
{
    struct obligation o = *of;
    o.wrong = term_and(&duo->terms, o.wrong, state[slot_path(duo)]);
    if (k == 0)
        duo_obligation(duo, &o);
}

/* ---- places ---- */

static term within_bounds(struct duo *duo, term *state, uint32_t k, struct ast_var *var, term index,
                          term *enabled, struct location at)
{
    struct terms *t = &duo->terms;
    term within = term_below(t, index, term_word(t, (int32_t)var->length));
    duo_oblige(duo, state, k,
               &(struct obligation){.goal = GOAL_BOUNDS,
                                    .wrong = term_and(t, *enabled, term_not(t, within)),
                                    .at = at,
                                    .var = var});
    *enabled = term_and(t, *enabled, within);
    return index;
}

term duo_index(struct duo *duo, term *state, uint32_t k, const struct ast_lvalue *place,
               term *enabled)
{
    if (!place->index)
        return term_word(&duo->terms, 0);
    term index = duo_eval(duo, state, k, place->index, enabled);
    return within_bounds(duo, state, k, place->var, index, enabled, place->at);
}

/* ---- reading ---- */

static term read_variable(struct duo *duo, term *state, uint32_t k, const struct ast_expr *e,
                          term *enabled)
{
    struct terms *t = &duo->terms;
    struct ast_var *var = e->var;
    term index = term_word(t, 0);
    if (e->kind == EXPR_INDEX) {
        index = duo_eval(duo, state, k, e->a, enabled);
        within_bounds(duo, state, k, var, index, enabled, e->at);
    }
    term held = term_under(t, *enabled, state[slot_var(duo, var, k)]);
    if (is_memory(var)) {
        duo_access(
            duo, state, k,
            &(struct access_seen){
                .var = var, .index = index, .enabled = *enabled, .count = 1, .kind = LOG_READ},
            e->at);
        if (duo->options->memory == PROOF_ADVERSARY && duo->written[var->mark])
            return duo_fresh(duo, SORT_WORD,
                             arena_printf(duo->arena, "what line %" PRIu32 " reads from %s",
                                          e->at.line, var->name));
    }
    term value = var->is_array ? term_select(t, held, index) : held;
    struct read_seen read = {.var = var, .index = index, .value = value, .at = e->at};
    if (is_memory(var) && duo->written[var->mark])
        grown_add(duo->arena, &duo->reads, &read, sizeof read);
    return value;
}

/* ---- constants of the launch ---- */

static bool power_of_two(uint32_t n, int32_t *exponent)
{
    *exponent = 0;
    while (*exponent < 31 && 1u << *exponent < n)
        ++*exponent;
    return 1u << *exponent == n;
}

/* tid / warp and tid % warp of numbers that are not negative: shifts and masks are easier to solve. */
static term of_warp(struct duo *duo, uint32_t k, bool lane)
{
    struct terms *t = &duo->terms;
    uint32_t width = duo->kernel->launch.warp;
    int32_t exponent;
    if (duo->threads <= width)
        return lane ? duo->tid[k] : term_word(t, 0);
    if (!power_of_two(width, &exponent)) {
        term divisor = term_word(t, (int32_t)width);
        return lane ? term_urem(t, duo->tid[k], divisor) : term_udiv(t, duo->tid[k], divisor);
    }
    return lane ? term_binary(t, BINARY_AND, duo->tid[k], term_word(t, (int32_t)width - 1))
                : term_binary(t, BINARY_SHR, duo->tid[k], term_word(t, exponent));
}

static term builtin(struct duo *duo, uint32_t k, enum ast_builtin which)
{
    switch (which) {
    case BUILTIN_TID:
        return duo->tid[k];
    case BUILTIN_THREADS:
        return duo->thread_count;
    case BUILTIN_LANE:
        return of_warp(duo, k, true);
    case BUILTIN_WARP:
        return of_warp(duo, k, false);
    case BUILTIN_WARP_SIZE:
        return term_word(&duo->terms, (int32_t)duo->kernel->launch.warp);
    case BUILTIN_BID:
        return duo->bid[k];
    case BUILTIN_BLOCKS:
        return term_word(&duo->terms, (int32_t)duo->blocks);
    case BUILTIN_COUNT:
        break;
    }
    return TERM_NONE;
}

/* ---- expressions ---- */

/* An operand that is evaluated only where `condition` holds; who falls out there is out altogether. */
static term eval_under(struct duo *duo, term *state, uint32_t k, const struct ast_expr *e,
                       term condition, term *enabled)
{
    struct terms *t = &duo->terms;
    term before = term_and(t, *enabled, condition), after = before;
    term value = duo_eval(duo, state, k, e, &after);
    if (after != before)
        *enabled = term_and(t, *enabled, term_or(t, term_not(t, condition), after));
    return value;
}

static term eval_logical(struct duo *duo, term *state, uint32_t k, const struct ast_expr *e,
                         term *enabled)
{
    struct terms *t = &duo->terms;
    bool is_and = e->binary == BINARY_LOGICAL_AND;
    term a = term_holds(t, duo_eval(duo, state, k, e->a, enabled));
    term b = term_holds(t, eval_under(duo, state, k, e->b, is_and ? a : term_not(t, a), enabled));
    return term_as_word(t, is_and ? term_and(t, a, b) : term_or(t, a, b));
}

static term eval_choice(struct duo *duo, term *state, uint32_t k, const struct ast_expr *e,
                        term *enabled)
{
    struct terms *t = &duo->terms;
    term condition = term_holds(t, duo_eval(duo, state, k, e->a, enabled));
    term b = eval_under(duo, state, k, e->b, condition, enabled);
    term c = eval_under(duo, state, k, e->c, term_not(t, condition), enabled);
    return term_ite(t, condition, b, c);
}

/* Operations whose result may be no word. */
static bool may_overflow(enum ast_binary op)
{
    return op == BINARY_MUL || op == BINARY_ADD || op == BINARY_SUB || op == BINARY_SHL ||
           op == BINARY_DIV;
}

static void note_overflow(struct duo *duo, const term *state, term value, term enabled)
{
    struct terms *t = &duo->terms;
    struct overflow o = {.evaluated = term_and(t, enabled, state[slot_path(duo)]), .value = value};
    if (duo->unroll == 0 && term_of(t, value)->op == TERM_BINARY)
        grown_add(duo->arena, &duo->overflows, &o, sizeof o);
}

static bool is_comparison(enum ast_binary op)
{
    return op >= BINARY_LT && op <= BINARY_NE;
}

static term eval_binary_expr(struct duo *duo, term *state, uint32_t k, const struct ast_expr *e,
                             term *enabled)
{
    if (e->binary == BINARY_LOGICAL_AND || e->binary == BINARY_LOGICAL_OR)
        return eval_logical(duo, state, k, e, enabled);
    term a = duo_eval(duo, state, k, e->a, enabled);
    term b = duo_eval(duo, state, k, e->b, enabled);
    if (is_comparison(e->binary)) {
        struct test_seen test = {.k = k, .a = a, .b = b};
        grown_add(duo->arena, &duo->tests, &test, sizeof test);
    }
    term value = term_binary(&duo->terms, e->binary, a, b);
    if (may_overflow(e->binary))
        note_overflow(duo, state, value, *enabled);
    return value;
}

static term eval_unary_expr(struct duo *duo, term *state, uint32_t k, const struct ast_expr *e,
                            term *enabled)
{
    term value = term_unary(&duo->terms, e->unary, duo_eval(duo, state, k, e->a, enabled));
    if (e->unary == UNARY_NEG)
        note_overflow(duo, state, value, *enabled);
    return value;
}

term duo_eval(struct duo *duo, term *state, uint32_t k, const struct ast_expr *e, term *enabled)
{
    switch (e->kind) {
    case EXPR_INT:
        return term_word(&duo->terms, e->value);
    case EXPR_VAR:
    case EXPR_INDEX:
        return read_variable(duo, state, k, e, enabled);
    case EXPR_BUILTIN:
        return builtin(duo, k, e->builtin);
    case EXPR_UNARY:
        return eval_unary_expr(duo, state, k, e, enabled);
    case EXPR_BINARY:
        return eval_binary_expr(duo, state, k, e, enabled);
    case EXPR_COND:
        return eval_choice(duo, state, k, e, enabled);
    case EXPR_ALL:
    case EXPR_ANY:
        break;
    }
    duo->reason = "all() and any() are of the lock-step form";
    return term_word(&duo->terms, 0);
}
