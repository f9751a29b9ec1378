#include "oracle/prove/retrace_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/pcg.h"
#include "engine/smt/term_range.h"
#include "oracle/verdicts/kinds.h"

enum {
    EXECUTIONS = 3,
    PAIRS = 4,                 /* of an execution without a race */
    TRIPS_MAX = 1 << 10,       /* of a loop */
    EVALUATIONS_MAX = 1 << 21, /* of terms, for a pair */
    TERMS_MAX = 1 << 17        /* of a larger formula nothing is asked */
};

/* ---- the walk ---- */

/* What is known of each word, whatever symbols are, holds of its value: its bounds, its lowest bits. */
static void check_known(struct retracing *w, term t)
{
    if (!term_is_within(&w->duo->terms, t, w->values.words[t]))
        pair_complain(w, "range",
                      arena_printf(w->arena,
                                   "a word is %" PRId64 ", which is not where it is known to lie",
                                   w->values.words[t]));
}

static void evaluate(struct retracing *w, term from, term to)
{
    if (to > from)
        term_values_find(&w->duo->terms, &w->values, w->all + from, to - from);
    for (term t = from; t < to; t++)
        check_known(w, t);
    w->evaluations += to - from;
    w->spent = w->spent || w->evaluations > EVALUATIONS_MAX;
    w->stopped = w->stopped || w->spent;
}

/* The terms from .. to - 1, and what is done meanwhile: deeds first .. end - 1. */
static void advance(struct retracing *w, term from, term to, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end && !w->stopped; i++) {
        const struct deed *d = &GROWN(w->duo->deeds, struct deed)[i];
        evaluate(w, from, d->built);
        from = d->built > from ? d->built : from;
        pair_deed(w, d);
    }
    evaluate(w, from, to);
}

/* Of a state, by slots. */
static int64_t *words_of(struct retracing *w, const term *state)
{
    int64_t *words = ARENA_ARRAY(w->arena, int64_t, w->duo->slot_count);
    for (uint32_t i = 0; i < w->duo->slot_count; i++)
        words[i] = w->values.words[state[i]];
    return words;
}

/* A trip begins with what there was before it: nothing that the loop changes is forgotten. */
static void compare_head(struct retracing *w, const struct loop_cut *cut, const int64_t *before)
{
    for (uint32_t i = 0; i < w->duo->slot_count && !w->stopped; i++)
        if (w->values.words[cut->head[i]] != before[i])
            pair_complain(w, "loop",
                          arena_printf(w->arena,
                                       "threads %" PRIu32 " and %" PRIu32
                                       " lose what they had when a trip of the loop at line "
                                       "%" PRIu32 " begins",
                                       w->f[0].thread, w->f[1].thread, cut->at.line));
}

static void enter(struct retracing *w, const struct loop_cut *cut, const term *state)
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

static bool somebody_in(const struct retracing *w, const struct loop_cut *cut)
{
    uint32_t head = w->duo->cfg->loops[cut->loop].head;
    return pair_is_true(w, cut->head[slot_at(w->duo, head, 0)]) ||
           pair_is_true(w, cut->head[slot_at(w->duo, head, 1)]);
}

static void walk(struct retracing *w, uint32_t around, term from, term to, uint32_t first,
                 uint32_t end);

/* The invariants that were found hold at each trip; guesses, also those that were dropped, are what they are called. */
static void check_kept(struct retracing *w, const struct loop_cut *cut)
{
    uint8_t *seen = ARENA_ARRAY(w->arena, uint8_t, w->duo->terms.count);
    for (uint32_t n = 0; n < cut->candidate_count; n++)
        term_mark_cone(&w->duo->terms, cut->candidates[n].holds, seen);
    for (term t = cut->begin; w->well && t < w->duo->terms.count; t++)
        if (seen[t])
            evaluate(w, t, t + 1);
    for (uint32_t n = 0; w->well && n < cut->candidate_count; n++) {
        const struct candidate *c = &cut->candidates[n];
        if (c->kept && !pair_is_true(w, c->holds))
            pair_complain(w, "invariant",
                          arena_printf(w->arena,
                                       "threads %" PRIu32 " and %" PRIu32
                                       " are at the loop at line %" PRIu32 " where '%s' is false",
                                       w->f[0].thread, w->f[1].thread, cut->at.line, c->text));
    }
    if (w->well)
        pair_guesses(w, cut);
}

/* Trip after trip, and once more with nobody in the loop: what stands behind it speaks of that. */
static void walk_loop(struct retracing *w, const struct loop_cut *cut)
{
    const term *from = cut->entry;
    for (uint32_t trip = 0; !w->stopped; trip++) {
        const int64_t *before = words_of(w, from);
        enter(w, cut, from);
        check_kept(w, cut);
        walk(w, cut->loop, cut->begin, cut->end, cut->deed_first, cut->deed_end);
        compare_head(w, cut, before);
        if (!somebody_in(w, cut))
            return;
        w->spent = w->spent || trip == TRIPS_MAX;
        w->stopped = w->stopped || w->spent || !pair_is_true(w, cut->latch[slot_path(w->duo)]);
        from = cut->latch;
    }
}

/* The first loop from there on that is cut and stands right in the loop `around`. */
static const struct loop_cut *next_cut(const struct retracing *w, uint32_t around, term from)
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

static void walk(struct retracing *w, uint32_t around, term from, term to, uint32_t first,
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
static bool is_allowed(const struct retracing *w)
{
    const struct duo *duo = w->duo;
    for (uint32_t i = 0; i < duo->assumptions.count; i++)
        if (!pair_is_true(w, GROWN(duo->assumptions, term)[i]))
            return false;
    return true;
}

static bool trips_left(const struct retracing *w)
{
    for (uint32_t i = 0; i < w->duo->left.count; i++)
        if (pair_is_true(w, GROWN(w->duo->left, term)[i]))
            return true;
    return false;
}

static void compare(struct retracing *w)
{
    bool left = trips_left(w);
    for (uint32_t k = 0; k < 2 && !w->stopped && !left; k++)
        pair_end(w, k);
    w->left = left;
    w->spent = w->spent || left;
    w->stopped = w->stopped || w->spent;
}

/* The element that thread 1 is watched at: of one variable the one given, of others some that it accesses. */
static void watch(struct retracing *w, uint32_t address, uint64_t seed)
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
                w->values.words[duo->watched[v]] =
                    at.element * duo->units + at.byte * duo->units / 4;
    }
}

static void start(struct retracing *w)
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
    pair_begin(w);
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
static struct retracing retrace(struct arena *arena, struct duo *duo, const struct executed *x,
                                const uint32_t *pair, uint32_t address, uint64_t seed)
{
    struct retracing w = {.arena = arena, .duo = duo, .x = x};
    duo_start(duo);
    w.well = x->status == STATUS_TERMINATED && x->race_count == 0;
    for (uint32_t k = 0; k < 2; k++)
        w.f[k] = (struct retraced){.thread = pair[k],
                                   .block = pair[k] / x->program->launch.threads,
                                   .exact = w.well || (has_died(x) && pair[k] == x->fault_thread)};
    if (address != CODE_NONE)
        w.race_name = program_locate(x->program, address).var->name;
    start(&w);
    if (pair[0] == pair[1] || !is_allowed(&w)) {
        w.stopped = true;
        if ((pair[0] == pair[1]) == is_allowed(&w))
            pair_complain(&w, "launch",
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
    struct retrace_fault fault;
};

static struct retracing retrace_pair(struct asked *a, uint32_t s, uint32_t t, uint32_t address)
{
    size_t mark = arena_mark(a->arena);
    const uint32_t pair[2] = {s, t};
    struct retracing w = retrace(a->arena, a->duo, a->x, pair, address, pcg_next64(&a->rng));
    a->pairs++;
    if (a->ends && w.left && w.well)
        pair_complain(&w, "trips",
                      "nobody is to go on behind the trips that are unrolled, and one does");
    if (!a->fault.what)
        a->fault = w.fault;
    if (!w.fault.what)
        arena_release(a->arena, mark);
    return w;
}

/* Whether the pair goes wrong so; true, too, where it cannot be retraced that far. Threads that do not part go on
 * where the execution has ended: that says nothing of a race, but that they do not. */
static bool goes(struct asked *a, uint32_t s, uint32_t t, enum proof_goal goal)
{
    struct retracing w = retrace_pair(a, s, t, CODE_NONE);
    return (goal == GOAL_DIVERGENCE ? w.spent : w.stopped) || (goal < GOAL_COUNT && w.wrong[goal]);
}

/* The same of a race of thread t, which thread s has logged. */
static bool races(struct asked *a, uint32_t s, const struct race_log_entry *of)
{
    static const uint32_t kinds[] = {
        [ACCESS_READ] = LOG_READ, [ACCESS_WRITE] = LOG_WRITE, [ACCESS_ATOMIC] = LOG_ATOMIC};
    struct retracing w = retrace_pair(a, s, of->access.thread, of->address);
    return w.stopped || w.race_kinds >> kinds[of->access.kind] & 1;
}

static void miss(struct asked *a, uint32_t s, uint32_t t, enum proof_goal goal)
{
    if (a->fault.what)
        return;
    a->fault = (struct retrace_fault){proof_goal_names[goal],
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
        a->fault = (struct retrace_fault){
            proof_goal_names[GOAL_DIVERGENCE],
            "threads of an execution part at a barrier, and no obligation says so of any two"};
}

/* Thread 2 meets what thread 1 has logged: who is thread 1 comes first in P. */
static void retrace_race(struct asked *a, const struct executed_race *race)
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

static void retrace_execution(struct asked *a)
{
    const struct executed *x = a->x;
    uint32_t s = pcg_below(&a->rng, x->program->total_threads);
    /* Strong accesses: no races of proofs (docs/prove.md). */
    const bool ordered = a->duo->lift && a->duo->lift->ordered;
    if (x->race_count > 0 && !ordered) {
        retrace_race(a, &x->races[0]);
        retrace_race(a, over_barrier(x));
        for (uint32_t n = 2; n < PAIRS; n++)
            retrace_race(a, &x->races[pcg_below(&a->rng, x->race_count)]);
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
    if (x->race_count == 0 &&
        (x->status == STATUS_BARRIER_DIVERGENCE || x->status == STATUS_DEADLOCK)) {
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
    for (uint32_t i = 0; i < duo->var_count && !duo->lift; i++)
        if (!is_memory(duo->vars[i]) && duo->written[i] & 2)
            return false;
    return true;
}

static struct duo *walked(struct arena *arena, struct forms *forms,
                          const struct proof_options *options, uint32_t unroll, const char **reason)
{
    *reason = NULL;
    struct duo *duo = duo_new(arena, forms, options, unroll, reason);
    if (duo)
        duo_run(duo);
    return duo && !duo->reason && duo->terms.count <= TERMS_MAX ? duo : NULL;
}

/* Of the statements that the translation leaves, named barriers, votes and choices of a number have no proof, and all
 * others have one. */
static bool is_refused_in_vain(const char *reason)
{
    static const char *const without[] = {"sync", "arrive", "vote", "pick"};
    char what[16];
    bool named = reason && sscanf(reason, "'%15[^']' at line %*u is not handled", what) == 1;
    for (uint32_t i = 0; i < sizeof without / sizeof *without; i++)
        named = named && strcmp(what, without[i]) != 0;
    return named;
}

/* The program that the two threads run; NULL: none that is executed thread by thread. */
static const struct program *retraced_program(struct arena *arena, struct forms *forms)
{
    static const enum program_id programs[] = {[FORM_STRUCTURED] = PROGRAM_ANCHORED,
                                               [FORM_BLOCKS] = PROGRAM_BLOCKS,
                                               [FORM_PTX] = PROGRAM_PTX};
    const enum ast_form form = forms->given->form;
    if (form != FORM_STRUCTURED && form != FORM_BLOCKS && form != FORM_PTX)
        return NULL;
    const struct program *program = forms_get(forms, programs[form])->program;
    bool runs = program && program->total_threads > 1;
    if (runs && form == FORM_PTX)
        runs = machine_refuses(arena, &semantics_block, program) == NULL;
    return runs ? program : NULL;
}

/* What inputs are is a part of some formulas; some are of as many threads as there are, or of one or two more. */
static struct proof_options drawn_options(const struct program *program, uint64_t drawn)
{
    struct proof_options some = PROOF_DEFAULTS;
    some.file_inputs = drawn % 3 == 0;
    if (drawn / 3 % 3 == 0 && program->form != FORM_PTX && program->launch.threads > 1) {
        some.threads_from = 2;
        some.threads_to = program->launch.threads + (uint32_t)(drawn / 9 % 3);
    }
    return some;
}

struct retrace_fault retrace_executions(struct arena *arena, struct forms *forms,
                                        struct retrace_claims claims, uint64_t seed,
                                        uint32_t *pairs)
{
    struct asked a = {.arena = arena, .ends = claims.ends};
    const struct program *program = retraced_program(arena, forms);
    *pairs = 0;
    if (!program)
        return a.fault;
    const struct proof_options some = drawn_options(program, pcg_splitmix(seed));
    struct proof_options all_cut = some; /* also loops whose trips constants count */
    all_cut.counted = false;
    const char *refused = NULL;
    struct duo *duos[2] = {claims.cut ? claims.cut : walked(arena, forms, &all_cut, 0, &refused)};
    if (program->form != FORM_PTX && is_refused_in_vain(refused))
        a.fault = (struct retrace_fault){"refused", refused};
    if (!duos[0] || !is_heard(duos[0]))
        return a.fault;
    const char *kind = duos[0]->lift ? kinds_differ(arena, duos[0]->lift) : NULL;
    if (kind) {
        a.fault = (struct retrace_fault){"access", kind};
        return a.fault;
    }
    if (duos[0]->cfg->loop_count > 0 && !claims.alike)
        duos[1] = walked(arena, forms, &some, some.unroll, &refused);
    pcg_seed(&a.rng, seed, 1);
    for (uint32_t n = 0; n < (claims.alike ? 1 : EXECUTIONS) && !a.fault.what; n++) {
        a.x = executed_run(arena, program, pcg_next64(&a.rng));
        for (uint32_t i = 0; i < 2 && a.x->complete && !a.fault.what; i++)
            if ((a.duo = duos[i]))
                retrace_execution(&a);
    }
    *pairs = a.pairs;
    return a.fault;
}
