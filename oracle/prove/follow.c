#include "oracle/prove/follow.h"

#include <inttypes.h>
#include <string.h>

#include "engine/base/pcg.h"
#include "engine/duo/duo.h"
#include "engine/machine/choice.h"
#include "engine/smt/term_value.h"
#include "oracle/prove/executed.h"

enum {
    EXECUTIONS = 3,
    PAIRS = 4,                 /* of an execution without a race */
    TRIPS_MAX = 1 << 10,       /* of a loop */
    EVALUATIONS_MAX = 1 << 21, /* of terms, for a pair */
    TERMS_MAX = 1 << 17,       /* of a larger formula nothing is asked */
    WRITTEN_MAX = 64           /* of an interval, whose values are compared at its end */
};

/* Where a thread has written in its interval. */
struct written {
    const struct ast_var *var;
    uint32_t element;
};

/* Thread k of the pair, as far as it has come. */
struct follower {
    uint32_t thread; /* in the grid */
    bool exact; /* it has done all that it does: the execution went well, or ended with its death */
    uint32_t block;
    uint32_t interval;
    uint32_t choices;
    uint32_t atomics; /* of the execution's list: what comes next */
    uint32_t written_count;
    struct written written[WRITTEN_MAX];
};

struct following {
    struct arena *arena;
    struct duo *duo;
    const struct executed *x;
    struct term_values values;
    const term *all; /* term number n */
    struct follower f[2];
    uint8_t *met; /* an entry of the log: it was met */
    bool wrong[GOAL_COUNT];
    uint32_t race_kinds;   /* LOG_.. of thread 2, by bits, in obligations about .. */
    const char *race_name; /* .. this variable */
    bool well;             /* nothing can go wrong in this execution, of which all is known */
    bool left;             /* trips are */
    bool spent;            /* it is too long */
    bool stopped; /* the path ended, more is asked than the execution did, or one of these two */
    uint64_t evaluations;
    struct follow_fault fault;
};

static void complain(struct following *w, const char *what, const char *why)
{
    if (!w->fault.what)
        w->fault = (struct follow_fault){what, why};
}

static bool is_true(const struct following *w, term t)
{
    return w->values.words[t] != 0;
}

static const struct code_var *variable(const struct program *program, const struct ast_var *var)
{
    for (uint32_t i = 0; i < program->var_count; i++)
        if (strcmp(program->vars[i].ast->name, var->name) == 0)
            return &program->vars[i];
    return NULL;
}

/* Where a variable of thread k begins in memory. */
static uint32_t address_of(const struct following *w, const struct ast_var *var, uint32_t k)
{
    const struct program *p = w->x->program;
    const struct follower *f = &w->f[k];
    const struct code_var *here = variable(p, var);
    uint32_t offset = here ? here->offset : 0;
    if (var->space == SPACE_SHARED)
        return p->shared_base + f->block * p->words[SPACE_SHARED] + offset;
    if (var->space == SPACE_PRIVATE)
        return p->private_base + f->thread * p->words[SPACE_PRIVATE] + offset;
    return offset;
}

static const char *who(struct following *w, uint32_t k)
{
    return arena_printf(w->arena, "thread %" PRIu32 " (beside thread %" PRIu32 ")", w->f[k].thread,
                        w->f[1 - k].thread);
}

/* ---- what is told ---- */

/* A symbol is what memory holds of the variable. */
static void tell(struct following *w, term symbol, const struct ast_var *var, const int32_t *memory)
{
    if (term_of(&w->duo->terms, symbol)->op != TERM_SYMBOL)
        return;
    if (var->is_array) {
        struct term_array *array = ARENA_NEW(w->arena, struct term_array);
        array->elements = memory;
        array->element_count = var->length;
        w->values.arrays[symbol] = array;
    } else {
        w->values.words[symbol] = memory[0];
    }
}

/* What threads find at first: of shared memory thread 2 may have another block's. */
static void tell_inputs(struct following *w)
{
    const term *start = duo_start(w->duo);
    for (uint32_t i = 0; i < w->duo->var_count; i++)
        for (uint32_t k = 0; k < 2; k++) {
            const struct ast_var *var = w->duo->vars[i];
            term held = start[slot_var(w->duo, var, k)];
            const struct term_node *node = term_of(&w->duo->terms, held);
            bool either = node->op == TERM_ITE && k == 1 && var->space == SPACE_SHARED;
            tell(w, either ? node->c : held, var, w->x->initial + address_of(w, var, k));
        }
}

static void tell_launch(struct following *w)
{
    struct duo *duo = w->duo;
    for (uint32_t k = 0; k < 2; k++) {
        if (term_of(&duo->terms, duo->tid[k])->op == TERM_SYMBOL)
            w->values.words[duo->tid[k]] = w->f[k].thread % duo->threads;
        if (term_of(&duo->terms, duo->bid[k])->op == TERM_SYMBOL)
            w->values.words[duo->bid[k]] = w->f[k].block;
    }
}

/* ---- deeds ---- */

/* An access that the execution has, too. */
static void meet_access(struct following *w, const struct deed *d)
{
    static const enum access_kind kinds[LOG_KINDS] = {
        [LOG_READ] = ACCESS_READ, [LOG_WRITE] = ACCESS_WRITE, [LOG_ATOMIC] = ACCESS_ATOMIC};
    struct follower *f = &w->f[d->k];
    uint32_t element = (uint32_t)w->values.words[d->seen.index];
    uint32_t address = address_of(w, d->seen.var, d->k) + element;
    bool met = false;
    for (uint32_t i = 0; i < w->x->log->count; i++) {
        const struct race_log_entry *e = &w->x->log->entries[i];
        if (e->access.thread != f->thread || e->interval != f->interval || e->address != address ||
            e->access.kind != kinds[d->seen.kind])
            continue;
        met = true;
        w->met[i] = 1;
    }
    if (d->seen.kind == LOG_WRITE && f->written_count < WRITTEN_MAX)
        f->written[f->written_count++] = (struct written){d->seen.var, element};
    if (!met && f->exact)
        complain(w, "access",
                 arena_printf(w->arena,
                              "%s does, in interval %" PRIu32 ", a %s of %s[%" PRIu32
                              "] that the execution has not",
                              who(w, d->k), f->interval, race_access_names[kinds[d->seen.kind]],
                              d->seen.var->name, element));
}

/* The draws of a thread are a function of how many it has made. */
static void draw_havoc(struct following *w, const struct deed *d)
{
    struct follower *f = &w->f[d->k];
    w->values.words[d->made[0]] = choice_value(w->x->program->launch.seed, f->thread, f->choices++);
}

static void draw_target(struct following *w, const struct deed *d)
{
    struct follower *f = &w->f[d->k];
    uint32_t feasible = 0, skip = 0;
    for (uint32_t i = 0; i < d->count; i++)
        feasible += is_true(w, d->may[i]);
    if (feasible >= 2)
        skip = choice_index(w->x->program->launch.seed, f->thread, f->choices++, feasible);
    for (uint32_t i = 0; i < d->count; i++) {
        bool may = is_true(w, d->may[i]);
        if (d->chosen[i])
            w->values.words[d->chosen[i]] = may && skip == 0;
        skip -= may;
    }
}

static void find_atomic(struct following *w, const struct deed *d)
{
    struct follower *f = &w->f[d->k];
    const struct executed *x = w->x;
    while (f->atomics < x->atomic_count && x->atomics[f->atomics].thread != f->thread)
        f->atomics++;
    if (f->atomics == x->atomic_count)
        return;
    w->values.words[d->made[0]] = x->atomics[f->atomics].left;
    if (d->made[1])
        w->values.words[d->made[1]] = x->atomics[f->atomics].found;
    f->atomics++;
}

/* What the thread sees of what it has written is what memory holds; `held`: by variable, `stride` apart. */
static void compare_written(struct following *w, uint32_t k, const term *held, uint32_t stride,
                            const int32_t *memory)
{
    struct follower *f = &w->f[k];
    for (uint32_t i = 0; w->well && i < f->written_count; i++) {
        const struct ast_var *var = f->written[i].var;
        term view = held[var->mark * stride];
        int32_t is = memory[address_of(w, var, k) + f->written[i].element];
        int32_t seen = var->is_array ? term_array_element(w->values.arrays[view],
                                                          (int32_t)f->written[i].element)
                                     : (int32_t)w->values.words[view];
        if (seen != is)
            complain(w, "value",
                     arena_printf(w->arena,
                                  "%s sees %" PRId32 " in %s[%" PRIu32 "] at the end of interval "
                                  "%" PRIu32 ", where the execution has %" PRId32,
                                  who(w, k), seen, var->name, f->written[i].element, f->interval,
                                  is));
    }
    f->written_count = 0;
}

/* Behind the barrier a thread finds what its block found there. */
static void pass(struct following *w, uint32_t k, const struct passed *p)
{
    struct follower *f = &w->f[k];
    struct duo *duo = w->duo;
    bool own = k == 1 && w->f[0].block != f->block;
    if (f->interval == w->x->passed_count[f->block]) {
        w->stopped = true;
        if (w->well)
            complain(w, "barrier",
                     arena_printf(w->arena,
                                  "%s passes more barriers than the %" PRIu32 " of the execution",
                                  who(w, k), f->interval));
        return;
    }
    const int32_t *memory = w->x->passed[f->block][f->interval];
    compare_written(w, k, p->held + k * duo->var_count, 1, memory);
    f->interval++;
    for (uint32_t i = 0; i < duo->var_count; i++)
        if (p->memory[i])
            tell(w, p->memory[(own ? duo->var_count : 0) + i], duo->vars[i],
                 memory + address_of(w, duo->vars[i], k));
}

static void go_wrong(struct following *w, const struct deed *d)
{
    const struct obligation *o = &GROWN(w->duo->obligations, struct obligation)[d->count];
    if (!is_true(w, o->wrong))
        return;
    w->wrong[o->goal] = true;
    if (o->goal == GOAL_RACE && w->race_name && strcmp(o->var->name, w->race_name) == 0)
        w->race_kinds |= 1u << o->kind;
    w->stopped = w->stopped || o->goal == GOAL_DIVERGENCE;
    if (w->well)
        complain(w, proof_goal_names[o->goal],
                 arena_printf(w->arena,
                              "of threads %" PRIu32 " and %" PRIu32 " of an execution in which all "
                              "goes well it is said that they go wrong at line %" PRIu32 " (%s)",
                              w->f[0].thread, w->f[1].thread, o->at.line,
                              proof_goal_names[o->goal]));
}

static void meet(struct following *w, const struct deed *d)
{
    const struct passed *p = &GROWN(w->duo->passed, struct passed)[d->count];
    if (is_true(w, p->reached))
        pass(w, 0, p);
    if (is_true(w, p->other))
        pass(w, 1, p);
}

static void fire(struct following *w, const struct deed *d)
{
    static void (*const does[])(struct following *, const struct deed *) = {
        [DEED_ACCESS] = meet_access, [DEED_HAVOC] = draw_havoc, [DEED_ATOMIC] = find_atomic,
        [DEED_CHOICE] = draw_target, [DEED_BARRIER] = meet,     [DEED_WRONG] = go_wrong};
    bool of_both = d->kind == DEED_BARRIER || d->kind == DEED_WRONG;
    if (of_both || is_true(w, d->when))
        does[d->kind](w, d);
}

/* ---- the walk ---- */

static void evaluate(struct following *w, term from, term to)
{
    if (to > from)
        term_values_find(&w->duo->terms, &w->values, w->all + from, to - from);
    w->evaluations += to - from;
    w->spent = w->spent || w->evaluations > EVALUATIONS_MAX;
    w->stopped = w->stopped || w->spent;
}

/* The terms from .. to - 1, and what is done meanwhile: deeds first .. end - 1. */
static void advance(struct following *w, term from, term to, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end && !w->stopped; i++) {
        const struct deed *d = &GROWN(w->duo->deeds, struct deed)[i];
        evaluate(w, from, d->built);
        from = d->built > from ? d->built : from;
        fire(w, d);
    }
    evaluate(w, from, to);
}

static void enter(struct following *w, const struct loop_cut *cut, const term *state)
{
    int64_t *words = ARENA_ARRAY(w->arena, int64_t, cut->symbol_count + 1);
    const struct term_array **arrays =
        ARENA_ARRAY(w->arena, const struct term_array *, cut->symbol_count + 1);
    for (uint32_t i = 0; i < cut->symbol_count; i++) {
        words[i] = w->values.words[state[cut->symbol_slots[i]]];
        arrays[i] = w->values.arrays[state[cut->symbol_slots[i]]];
    }
    for (uint32_t i = 0; i < cut->symbol_count; i++) {
        w->values.words[cut->symbols[i]] = words[i];
        w->values.arrays[cut->symbols[i]] = arrays[i];
    }
    w->values.words[cut->invariant] = 1;
}

static bool somebody_in(const struct following *w, const struct loop_cut *cut)
{
    uint32_t head = w->duo->cfg->loops[cut->loop].head;
    return is_true(w, cut->head[slot_at(w->duo, head, 0)]) ||
           is_true(w, cut->head[slot_at(w->duo, head, 1)]);
}

static void walk(struct following *w, uint32_t around, term from, term to, uint32_t first,
                 uint32_t end);

/* The invariants that were found hold at each trip. */
static void check_kept(struct following *w, const struct loop_cut *cut)
{
    uint8_t *seen = ARENA_ARRAY(w->arena, uint8_t, w->duo->terms.count);
    for (uint32_t n = 0; n < cut->candidate_count; n++)
        if (cut->candidates[n].kept)
            term_mark_cone(&w->duo->terms, cut->candidates[n].holds, seen);
    for (term t = cut->begin; w->well && t < w->duo->terms.count; t++)
        if (seen[t])
            evaluate(w, t, t + 1);
    for (uint32_t n = 0; w->well && n < cut->candidate_count; n++) {
        const struct candidate *c = &cut->candidates[n];
        if (c->kept && !is_true(w, c->holds))
            complain(w, "invariant",
                     arena_printf(w->arena,
                                  "threads %" PRIu32 " and %" PRIu32
                                  " are at the loop at line %" PRIu32 " where '%s' is false",
                                  w->f[0].thread, w->f[1].thread, cut->at.line, c->text));
    }
}

/* Trip after trip, and once more with nobody in the loop: what stands behind it speaks of that. */
static void walk_loop(struct following *w, const struct loop_cut *cut)
{
    enter(w, cut, cut->entry);
    for (uint32_t trip = 0; !w->stopped; trip++) {
        check_kept(w, cut);
        walk(w, cut->loop, cut->begin, cut->end, cut->deed_first, cut->deed_end);
        if (!somebody_in(w, cut))
            return;
        w->spent = w->spent || trip == TRIPS_MAX;
        w->stopped = w->stopped || w->spent || !is_true(w, cut->latch[slot_path(w->duo)]);
        enter(w, cut, cut->latch);
    }
}

/* The first loop from there on that is cut and stands right in the loop `around`. */
static const struct loop_cut *next_cut(const struct following *w, uint32_t around, term from)
{
    const struct loop_cut *next = NULL;
    for (uint32_t i = 0; i < w->duo->cuts.count; i++) {
        const struct loop_cut *cut = GROWN(w->duo->cuts, struct loop_cut *)[i];
        if (w->duo->cfg->loops[cut->loop].parent == around && cut->begin >= from &&
            (!next || cut->begin < next->begin))
            next = cut;
    }
    return next;
}

static void walk(struct following *w, uint32_t around, term from, term to, uint32_t first,
                 uint32_t end)
{
    const struct loop_cut *cut = NULL;
    while (!w->stopped && (cut = next_cut(w, around, from))) {
        advance(w, from, cut->begin, first, cut->deed_first);
        if (!w->stopped)
            walk_loop(w, cut);
        from = cut->end;
        first = cut->deed_end;
    }
    if (!w->stopped)
        advance(w, from, to, first, end);
}

/* ---- a pair ---- */

/* Whether the launch allows the pair: different threads. */
static bool is_allowed(const struct following *w)
{
    const struct duo *duo = w->duo;
    for (uint32_t i = 0; i < duo->assumptions.count; i++)
        if (!is_true(w, GROWN(duo->assumptions, term)[i]))
            return false;
    return true;
}

static bool trips_left(const struct following *w)
{
    for (uint32_t i = 0; i < w->duo->left.count; i++)
        if (is_true(w, GROWN(w->duo->left, term)[i]))
            return true;
    return false;
}

/* Thread k has ended, with the private variables that it had. */
static void compare_private(struct following *w, uint32_t k)
{
    const struct duo *duo = w->duo;
    for (uint32_t i = 0; i < duo->var_count; i++) {
        const struct ast_var *var = duo->vars[i];
        const int32_t *is = w->x->final + address_of(w, var, k);
        term held = duo->end[slot_var(duo, var, k)];
        if (var->space != SPACE_PRIVATE || !variable(w->x->program, var))
            continue;
        for (uint32_t n = 0; n < var->length; n++) {
            int32_t seen = var->is_array ? term_array_element(w->values.arrays[held], (int32_t)n)
                                         : (int32_t)w->values.words[held];
            if (seen != is[n])
                complain(w, "value",
                         arena_printf(w->arena,
                                      "%s ends with %" PRId32 " in %s[%" PRIu32
                                      "], and in the execution with %" PRId32,
                                      who(w, k), seen, var->name, n, is[n]));
        }
    }
}

static void compare_end(struct following *w, uint32_t k)
{
    const struct duo *duo = w->duo;
    if (!is_true(w, duo->end[slot_at(duo, duo->block_count, k)]))
        complain(w, "end",
                 arena_printf(w->arena, "%s does not end, and does in the execution", who(w, k)));
    if (duo->var_count > 0)
        compare_written(w, k, duo->end + slot_var(duo, duo->vars[0], k), 2, w->x->final);
    compare_private(w, k);
}

static bool is_written(const struct duo *duo, const char *name)
{
    for (uint32_t i = 0; i < duo->var_count; i++)
        if (strcmp(duo->vars[i]->name, name) == 0)
            return duo->written[i];
    return false;
}

/* Whatever thread k has done, as far as that is sure. */
static void compare_accesses(struct following *w, uint32_t k)
{
    const struct race_log *log = w->x->log;
    for (uint32_t i = 0; i < w->x->sure; i++) {
        const struct race_log_entry *e = &log->entries[i];
        struct program_location at = program_locate(w->x->program, e->address);
        if (w->met[i] || e->access.thread != w->f[k].thread || !is_written(w->duo, at.var->name))
            continue;
        complain(w, "access",
                 arena_printf(w->arena,
                              "%s does not do, in interval %" PRIu32 ", the %s of %s[%" PRIu32
                              "] that the execution has",
                              who(w, k), e->interval, race_access_names[e->access.kind],
                              at.var->name, at.element));
    }
}

static void compare(struct following *w)
{
    bool left = trips_left(w);
    for (uint32_t k = 0; k < 2 && !w->stopped && !left; k++) {
        compare_accesses(w, k);
        if (w->well)
            compare_end(w, k);
    }
    w->left = left;
    w->spent = w->spent || left;
    w->stopped = w->stopped || w->spent;
}

/* The element that thread 1 is watched at: of one variable the one given, of others some that it accesses. */
static void watch(struct following *w, uint32_t address, uint64_t seed)
{
    const struct duo *duo = w->duo;
    const struct race_log *log = w->x->log;
    for (uint32_t n = 0; n <= log->count; n++) {
        uint32_t i = (uint32_t)((seed + n) % (log->count + 1));
        uint32_t place = i < log->count ? log->entries[i].address : address;
        if (n == log->count)
            place = address;
        else if (i == log->count || log->entries[i].access.thread != w->f[0].thread)
            continue;
        if (place == CODE_NONE)
            continue;
        struct program_location at = program_locate(w->x->program, place);
        for (uint32_t v = 0; v < duo->var_count; v++)
            if (duo->watched[v] && term_of(&duo->terms, duo->watched[v])->op == TERM_SYMBOL &&
                strcmp(duo->vars[v]->name, at.var->name) == 0)
                w->values.words[duo->watched[v]] = at.element;
    }
}

static void start(struct following *w)
{
    static const struct term_array zeros = {.seed = 0};
    struct terms *t = &w->duo->terms;
    term *all = ARENA_ARRAY(w->arena, term, t->count);
    term launch = 0;
    term_values_init(&w->values, w->arena, t->count);
    w->met = ARENA_ARRAY(w->arena, uint8_t, w->x->log->count + 1);
    w->all = all;
    for (term i = 0; i < t->count; i++) {
        all[i] = i;
        w->values.arrays[i] = &zeros;
    }
    tell_launch(w);
    tell_inputs(w);
    for (uint32_t i = 0; i < w->duo->assumptions.count; i++)
        launch = GROWN(w->duo->assumptions, term)[i] > launch ? GROWN(w->duo->assumptions, term)[i]
                                                              : launch;
    evaluate(w, 1, launch + 1);
}

/* An index, an assertion, an assume ended a thread, and so the execution: it had done all that it did. */
static bool has_died(const struct executed *x)
{
    return x->race_count == 0 &&
           (x->status == STATUS_OUT_OF_BOUNDS || x->status == STATUS_ASSERT_FAILS ||
            x->status == STATUS_INFEASIBLE);
}

/* Threads s and t, thread 1 watched at the address, or CODE_NONE: it is to go wrong so, or GOAL_COUNT. */
static struct following follow(struct arena *arena, struct duo *duo, const struct executed *x,
                               const uint32_t *pair, uint32_t address, uint64_t seed)
{
    struct following w = {.arena = arena, .duo = duo, .x = x};
    duo_start(duo);
    w.well = x->status == STATUS_TERMINATED && x->race_count == 0;
    for (uint32_t k = 0; k < 2; k++)
        w.f[k] = (struct follower){.thread = pair[k],
                                   .block = pair[k] / x->program->launch.threads,
                                   .exact = w.well || (has_died(x) && pair[k] == x->fault_thread)};
    if (address != CODE_NONE)
        w.race_name = program_locate(x->program, address).var->name;
    start(&w);
    if (pair[0] == pair[1] || !is_allowed(&w)) {
        w.stopped = true;
        if ((pair[0] == pair[1]) == is_allowed(&w))
            complain(&w, "launch",
                     pair[0] == pair[1] ? "a thread may be beside itself"
                                        : "the launch excludes two threads that it has");
        return w;
    }
    watch(&w, address, seed);
    walk(&w, CFG_NO_LOOP, 1, duo->run_end, 0, duo->deeds.count);
    compare(&w);
    return w;
}

/* ---- an execution ---- */

struct asked {
    struct arena *arena;
    struct duo *duo;
    const struct executed *x;
    bool ends;
    struct pcg rng;
    uint32_t pairs;
    struct follow_fault fault;
};

static struct following follow_pair(struct asked *a, uint32_t s, uint32_t t, uint32_t address)
{
    size_t mark = arena_mark(a->arena);
    const uint32_t pair[2] = {s, t};
    struct following w = follow(a->arena, a->duo, a->x, pair, address, pcg_next64(&a->rng));
    a->pairs++;
    if (a->ends && w.left && w.well)
        complain(&w, "trips",
                 "nobody is to go on behind the trips that are unrolled, and one does");
    if (!a->fault.what)
        a->fault = w.fault;
    if (!w.fault.what)
        arena_release(a->arena, mark);
    return w;
}

/* Whether the pair goes wrong so; true, too, where it cannot be followed that far. Threads that do not part go on
 * where the execution has ended: that says nothing of a race, but that they do not. */
static bool goes(struct asked *a, uint32_t s, uint32_t t, enum proof_goal goal)
{
    struct following w = follow_pair(a, s, t, CODE_NONE);
    return (goal == GOAL_DIVERGENCE ? w.spent : w.stopped) || (goal < GOAL_COUNT && w.wrong[goal]);
}

/* The same of a race of thread t, which thread s has logged. */
static bool races(struct asked *a, uint32_t s, const struct race_log_entry *of)
{
    static const uint32_t kinds[] = {
        [ACCESS_READ] = LOG_READ, [ACCESS_WRITE] = LOG_WRITE, [ACCESS_ATOMIC] = LOG_ATOMIC};
    struct following w = follow_pair(a, s, of->access.thread, of->address);
    return w.stopped || w.race_kinds >> kinds[of->access.kind] & 1;
}

static void miss(struct asked *a, uint32_t s, uint32_t t, enum proof_goal goal)
{
    if (a->fault.what)
        return;
    a->fault = (struct follow_fault){proof_goal_names[goal],
                                     arena_printf(a->arena,
                                                  "threads %" PRIu32 " and %" PRIu32
                                                  " of an execution go wrong (%s), and "
                                                  "no obligation says so",
                                                  s, t, proof_goal_names[goal])};
}

static uint32_t another(struct asked *a, uint32_t thread)
{
    uint32_t total = a->x->program->total_threads;
    return (thread + 1 + pcg_below(&a->rng, total - 1)) % total;
}

/* Some thread of the block has parted with the one that is at the barrier. */
static void must_part(struct asked *a, uint32_t thread)
{
    uint32_t each = a->x->program->launch.threads, first = thread / each * each;
    bool parted = false;
    for (uint32_t t = first; t < first + each && !parted; t++)
        parted = t != thread && goes(a, thread, t, GOAL_DIVERGENCE);
    if (!parted && !a->fault.what)
        a->fault = (struct follow_fault){
            proof_goal_names[GOAL_DIVERGENCE],
            "threads of an execution part at a barrier, and no obligation says so of any two"};
}

/* Thread 2 meets what thread 1 has logged: who is thread 1 comes first in P. */
static void follow_race(struct asked *a, const struct executed_race *race)
{
    const struct race_log_entry *first = &a->x->log->entries[race->first],
                                *second = &a->x->log->entries[race->second];
    uint32_t one = first->access.thread, other = second->access.thread;
    if (!races(a, one, second) && !races(a, other, first))
        miss(a, one, other, GOAL_RACE);
}

/* A race of two blocks' threads with a barrier between, if there is one. */
static const struct executed_race *over_barrier(const struct executed *x)
{
    const struct race_log_entry *entries = x->log->entries;
    uint32_t n = x->race_count - 1;
    while (n > 0 && entries[x->races[n].first].interval == entries[x->races[n].second].interval)
        n--;
    return &x->races[n];
}

static void follow_execution(struct asked *a)
{
    const struct executed *x = a->x;
    uint32_t s = pcg_below(&a->rng, x->program->total_threads);
    if (x->race_count > 0) {
        follow_race(a, &x->races[0]);
        follow_race(a, over_barrier(x));
        for (uint32_t n = 2; n < PAIRS; n++)
            follow_race(a, &x->races[pcg_below(&a->rng, x->race_count)]);
        return;
    }
    if (has_died(x)) {
        enum proof_goal goal = x->status == STATUS_OUT_OF_BOUNDS  ? GOAL_BOUNDS
                               : x->status == STATUS_ASSERT_FAILS ? GOAL_ASSERTS
                                                                  : GOAL_COUNT;
        uint32_t t = another(a, x->fault_thread);
        if (!goes(a, x->fault_thread, t, goal) && goal < GOAL_COUNT)
            miss(a, x->fault_thread, t, goal);
        return;
    }
    if (x->status == STATUS_BARRIER_DIVERGENCE) {
        must_part(a, x->fault_thread);
        return;
    }
    goes(a, s, s, GOAL_COUNT);
    for (uint32_t n = 0; n < PAIRS; n++) {
        s = pcg_below(&a->rng, x->program->total_threads);
        uint32_t t = another(a, s);
        goes(a, s, t, GOAL_COUNT);
    }
}

/* ---- all of it ---- */

/* Nobody hears of an atomic on a variable of the thread's own. */
static bool is_heard(const struct duo *duo)
{
    for (uint32_t i = 0; i < duo->var_count; i++)
        if (!is_memory(duo->vars[i]) && duo->written[i] & 2)
            return false;
    return true;
}

static struct duo *walked(struct arena *arena, struct forms *forms,
                          const struct proof_options *options, uint32_t unroll)
{
    const char *reason = NULL;
    struct duo *duo = duo_new(arena, forms, options, unroll, &reason);
    if (duo)
        duo_run(duo);
    return duo && !duo->reason && duo->terms.count <= TERMS_MAX ? duo : NULL;
}

struct follow_fault follow_executions(struct arena *arena, struct forms *forms,
                                      struct follow_claims claims, uint64_t seed, uint32_t *pairs)
{
    const enum ast_form form = forms->given->form;
    struct asked a = {.arena = arena, .ends = claims.ends};
    *pairs = 0;
    if (form != FORM_STRUCTURED && form != FORM_BLOCKS)
        return a.fault;
    struct proof_options all_cut = PROOF_DEFAULTS; /* also loops whose trips constants count */
    all_cut.counted = false;
    struct duo *duos[2] = {claims.cut ? claims.cut : walked(arena, forms, &all_cut, 0), NULL};
    const struct program *program =
        forms_get(forms, form == FORM_STRUCTURED ? PROGRAM_ANCHORED : PROGRAM_BLOCKS)->program;
    if (!duos[0] || !is_heard(duos[0]) || !program || program->total_threads < 2)
        return a.fault;
    if (duos[0]->cfg->loop_count > 0)
        duos[1] = walked(arena, forms, &PROOF_DEFAULTS, PROOF_DEFAULTS.unroll);
    pcg_seed(&a.rng, seed, 1);
    for (uint32_t n = 0; n < EXECUTIONS && !a.fault.what; n++) {
        a.x = executed_run(arena, program, pcg_next64(&a.rng));
        for (uint32_t i = 0; i < 2 && a.x->complete && !a.fault.what; i++)
            if ((a.duo = duos[i]))
                follow_execution(&a);
    }
    *pairs = a.pairs;
    return a.fault;
}
