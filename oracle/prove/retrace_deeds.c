/*
 * retrace_deeds.c - what a pair of threads does, held against what these threads did in an execution.
 */
#include "oracle/prove/retrace_internal.h"

#include <inttypes.h>
#include <string.h>

#include "engine/machine/choice.h"

void pair_complain(struct retracing *w, const char *what, const char *why)
{
    if (!w->fault.what)
        w->fault = (struct retrace_fault){what, why};
}

static const struct code_var *variable(const struct program *program, const struct ast_var *var)
{
    for (uint32_t i = 0; i < program->var_count; i++)
        if (strcmp(program->vars[i].ast->name, var->name) == 0)
            return &program->vars[i];
    return NULL;
}

/* Where a variable of thread k begins in memory, in words. */
static uint32_t address_of(const struct retracing *w, const struct ast_var *var, uint32_t k)
{
    const struct program *p = w->x->program;
    const struct retraced *f = &w->f[k];
    const struct code_var *here = variable(p, var);
    uint32_t offset = here ? here->offset : 0;
    if (var->space == SPACE_SHARED)
        return p->shared_base + f->block * p->words[SPACE_SHARED] + offset;
    if (var->space == SPACE_PRIVATE)
        return p->private_base + f->thread * p->words[SPACE_PRIVATE] + offset;
    return offset;
}

const char *pair_who(struct retracing *w, uint32_t k)
{
    return arena_printf(w->arena, "thread %" PRIu32 " (beside thread %" PRIu32 ")", w->f[k].thread,
                        w->f[1 - k].thread);
}

/* ---- what is told ---- */

/* A symbol is what memory holds of the variable. */
static void tell(struct retracing *w, term symbol, const struct ast_var *var, const int32_t *memory)
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
static void tell_inputs(struct retracing *w)
{
    const term *start = duo_start(w->duo);
    for (uint32_t i = 0; i < w->duo->var_count; i++)
        for (uint32_t k = 0; k < 2; k++) {
            const struct ast_var *var = w->duo->vars[i];
            if (w->duo->lift && !is_memory(var))
                continue;
            term held = start[slot_var(w->duo, var, k)];
            const struct term_node *node = term_of(&w->duo->terms, held);
            bool either = node->op == TERM_ITE && k == 1 && var->space == SPACE_SHARED;
            tell(w, either ? node->c : held, var, w->x->initial + address_of(w, var, k));
        }
}

static void tell_number(struct retracing *w, term number, uint32_t value)
{
    if (term_of(&w->duo->terms, number)->op == TERM_SYMBOL)
        w->values.words[number] = value;
}

/* By dimensions; a number that is one of them, or none, has its own. */
static void tell_dimensions(struct retracing *w, uint32_t k, uint32_t thread)
{
    const struct lift *lift = w->duo->lift;
    uint32_t block[3], grid[3], rest = w->f[k].block;
    ptx_kernel_dimensions(w->duo->given, block, grid);
    for (uint32_t i = 0; i < 3; i++) {
        tell_number(w, lift->tid[k][i], thread % block[i]);
        tell_number(w, lift->bid[k][i], rest % grid[i]);
        thread /= block[i];
        rest /= grid[i];
    }
}

static void tell_launch(struct retracing *w)
{
    struct duo *duo = w->duo;
    const uint32_t threads = w->x->program->launch.threads;
    tell_number(w, duo->thread_count, threads);
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t thread = w->f[k].thread % threads;
        if (duo->lift)
            tell_dimensions(w, k, thread);
        tell_number(w, duo->tid[k], thread);
        tell_number(w, duo->bid[k], w->f[k].block);
    }
}

void pair_begin(struct retracing *w)
{
    w->logged = ARENA_ARRAY(w->arena, uint8_t, w->duo->var_count * LOG_KINDS + 1);
    tell_launch(w);
    tell_inputs(w);
}

/* ---- accesses ---- */

/* A strong write is logged as atomics are. */
static bool is_of_kind(const struct retracing *w, enum access_kind kind, uint32_t logged)
{
    static const enum access_kind kinds[LOG_KINDS] = {[LOG_READ] = ACCESS_READ,
                                                      [LOG_WRITE] = ACCESS_WRITE,
                                                      [LOG_ATOMIC] = ACCESS_ATOMIC,
                                                      [LOG_STRONG_READ] = ACCESS_READ};
    return kind == kinds[logged] || (w->duo->lift && logged == LOG_ATOMIC && kind == ACCESS_WRITE);
}

/* Whether the execution has an access of the location. */
static bool meet_location(struct retracing *w, const struct deed *d, uint32_t address)
{
    const struct retraced *f = &w->f[d->k];
    bool met = false;
    for (uint32_t i = 0; i < w->x->log->count; i++) {
        const struct race_log_entry *e = &w->x->log->entries[i];
        if (e->access.thread != f->thread || e->interval != f->interval || e->address != address ||
            !is_of_kind(w, e->access.kind, d->seen.kind))
            continue;
        met = true;
        w->met[i] = 1;
    }
    return met;
}

static bool writes(const struct retracing *w, const struct deed *d)
{
    return d->seen.kind == LOG_WRITE && !(w->duo->lift && w->duo->lift->ordered);
}

/* Accesses that the execution has, too. */
static void meet_access(struct retracing *w, const struct deed *d)
{
    struct retraced *f = &w->f[d->k];
    uint32_t first = (uint32_t)w->values.words[d->seen.index], units = w->duo->units;
    uint32_t address = address_of(w, d->seen.var, d->k) * units + first;
    for (uint32_t i = 0; i < d->seen.count; i++) {
        if (writes(w, d) && f->written_count < WRITTEN_MAX)
            f->written[f->written_count++] = (struct written){d->seen.var, first + i};
        if (!meet_location(w, d, address + i) && f->exact)
            pair_complain(
                w, "access",
                arena_printf(w->arena,
                             "%s does, in interval %" PRIu32 ", access location %" PRIu32 " of %s, "
                             "and not in the execution",
                             pair_who(w, d->k), f->interval, first + i, d->seen.var->name));
    }
}

/* Def. 3.1, of two threads: one of them writes; not both are atomics, or strong. */
static bool conflict(uint32_t a, uint32_t b)
{
    bool reads = (a == LOG_READ || a == LOG_STRONG_READ) && (b == LOG_READ || b == LOG_STRONG_READ);
    bool strong =
        (a == LOG_ATOMIC || a == LOG_STRONG_READ) && (b == LOG_ATOMIC || b == LOG_STRONG_READ);
    return !reads && !strong;
}

/* Thread 1's log of the location watched, and whether an access of thread 2 conflicts with it. */
static void keep_log(struct retracing *w, const struct deed *d)
{
    const struct access_seen *seen = &d->seen;
    uint8_t *logged = &w->logged[seen->var->mark * LOG_KINDS];
    uint32_t from = (uint32_t)w->values.words[seen->index];
    uint32_t watched = (uint32_t)w->values.words[w->duo->watched[seen->var->mark]];
    bool apart = seen->var->space == SPACE_SHARED && w->f[0].block != w->f[1].block;
    if (watched < from || watched >= from + seen->count)
        return;
    if (d->k == 0)
        logged[seen->kind] = 1;
    for (uint32_t kind = 0; d->k == 1 && kind < LOG_KINDS && !apart; kind++)
        w->meets |= logged[kind] && conflict(kind, seen->kind);
}

static void access(struct retracing *w, const struct deed *d)
{
    meet_access(w, d);
    keep_log(w, d);
}

/* ---- what is made up ---- */

/* The draws of a thread are a function of how many it has made. */
static void draw_havoc(struct retracing *w, const struct deed *d)
{
    struct retraced *f = &w->f[d->k];
    w->values.words[d->made[0]] = choice_value(w->x->program->launch.seed, f->thread, f->choices++);
}

static void draw_target(struct retracing *w, const struct deed *d)
{
    struct retraced *f = &w->f[d->k];
    uint32_t feasible = 0, skip = 0;
    for (uint32_t i = 0; i < d->count; i++)
        feasible += pair_is_true(w, d->may[i]);
    if (feasible >= 2)
        skip = choice_index(w->x->program->launch.seed, f->thread, f->choices++, feasible);
    for (uint32_t i = 0; i < d->count; i++) {
        bool may = pair_is_true(w, d->may[i]);
        if (d->chosen[i])
            w->values.words[d->chosen[i]] = may && skip == 0;
        skip -= may;
    }
}

static void find_atomic(struct retracing *w, const struct deed *d)
{
    struct retraced *f = &w->f[d->k];
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

/* ---- instructions of PTX ---- */

/* What thread k does next in the execution; NULL: nothing. */
static const struct executed_op *next_op(const struct retracing *w, uint32_t k)
{
    const struct executed *x = w->x;
    for (uint32_t i = w->f[k].ops; i < x->op_count; i++)
        if (x->ops[i].thread == w->f[k].thread)
            return &x->ops[i];
    return NULL;
}

static void make(struct retracing *w, const struct deed *d)
{
    const struct executed_op *op = next_op(w, d->k);
    bool is_long = term_of(&w->duo->terms, d->made[0])->sort == SORT_LONG;
    uint64_t value = d->as == LIFT_MET ? 1 : 0;
    if (op && d->as < PTX_CODE_RESULTS)
        value = op->results[d->as];
    else if (op && d->as == LIFT_LEFT)
        value = op->left;
    w->values.words[d->made[0]] = is_long ? (int64_t)value : (int32_t)(uint32_t)value;
}

static void compare_results(struct retracing *w, const struct deed *d, const struct executed_op *op)
{
    for (uint32_t i = 0; i < PTX_CODE_RESULTS; i++) {
        if (!d->may[i])
            continue;
        bool is_long = term_of(&w->duo->terms, d->may[i])->sort == SORT_LONG;
        int64_t seen = w->values.words[d->may[i]];
        int64_t is = is_long ? (int64_t)op->results[i] : (int32_t)(uint32_t)op->results[i];
        if (seen != is)
            pair_complain(w, "value",
                          arena_printf(w->arena,
                                       "of %s result %" PRIu32 " of the instruction at line "
                                       "%" PRIu32 " is %" PRId64 ", and in the execution %" PRId64,
                                       pair_who(w, d->k), i, w->x->program->ptx->ops[d->count].line,
                                       seen, is));
    }
}

/* Thread k does what it did, and has what it had; false: from here on nothing is known. */
static bool take_op(struct retracing *w, uint32_t k, uint32_t pc)
{
    struct retraced *f = &w->f[k];
    const struct executed_op *op = next_op(w, k);
    const struct ptx_op *ops = w->x->program->ptx->ops;
    if (!op || op->entries > w->x->known) {
        if (!op && f->exact)
            pair_complain(w, "control",
                          arena_printf(w->arena,
                                       "%s executes line %" PRIu32
                                       ", and nothing any more in the execution",
                                       pair_who(w, k), ops[pc].line));
        f->ops = w->x->op_count;
        return false;
    }
    f->ops = (uint32_t)(op - w->x->ops) + 1;
    if (op->pc != pc)
        pair_complain(w, "control",
                      arena_printf(w->arena,
                                   "%s executes line %" PRIu32 ", and in the execution line "
                                   "%" PRIu32,
                                   pair_who(w, k), ops[pc].line, ops[op->pc].line));
    return op->pc == pc;
}

static void do_op(struct retracing *w, const struct deed *d)
{
    const struct executed_op *op = next_op(w, d->k);
    if (take_op(w, d->k, d->count))
        compare_results(w, d, op);
}

static bool is_barrier(const struct retracing *w, const struct executed_op *op)
{
    return w->x->program->ptx->ops[op->pc].exec == PTX_EXEC_BAR_SYNC;
}

/* Whether both have come to one barrier; of P nobody can have come to another. */
static bool at_one_barrier(const struct retracing *w)
{
    const struct executed_op *one = next_op(w, 0), *other = next_op(w, 1);
    return !w->duo->lift || (one && other && one->pc == other->pc);
}

/* ---- barriers ---- */

/* The bits of a word that the location is. */
static uint32_t bits_of(const struct retracing *w, int32_t word, uint32_t location)
{
    uint32_t bits = 32 / w->duo->units;
    return (uint32_t)word >> location % w->duo->units * bits & UINT32_MAX >> (32 - bits);
}

/* What the thread sees of what it has written is what memory holds; `held`: by variable, `stride` apart. */
static void compare_written(struct retracing *w, uint32_t k, const term *held, uint32_t stride,
                            const int32_t *memory)
{
    struct retraced *f = &w->f[k];
    for (uint32_t i = 0; w->well && i < f->written_count; i++) {
        const struct ast_var *var = f->written[i].var;
        uint32_t location = f->written[i].location, element = location / w->duo->units;
        term view = held[var->mark * stride];
        int32_t is = memory[address_of(w, var, k) + element];
        int32_t seen = var->is_array ? term_array_element(w->values.arrays[view], (int32_t)element)
                                     : (int32_t)w->values.words[view];
        if (bits_of(w, seen, location) != bits_of(w, is, location))
            pair_complain(w, "value",
                          arena_printf(w->arena,
                                       "%s sees %" PRId32 " in %s[%" PRIu32
                                       "] at the end of interval "
                                       "%" PRIu32 ", where the execution has %" PRId32,
                                       pair_who(w, k), seen, var->name, element, f->interval, is));
    }
    f->written_count = 0;
}

/* Behind the barrier a thread finds what its block found there. */
static void pass(struct retracing *w, uint32_t k, const struct passed *p)
{
    struct retraced *f = &w->f[k];
    struct duo *duo = w->duo;
    bool own = k == 1 && w->f[0].block != f->block;
    const struct executed_op *op = next_op(w, k);
    if (f->interval == w->x->passed_count[f->block]) {
        w->stopped = true;
        if (w->well)
            pair_complain(w, "barrier",
                          arena_printf(w->arena,
                                       "%s passes more barriers than the %" PRIu32
                                       " of the execution",
                                       pair_who(w, k), f->interval));
        return;
    }
    if (duo->lift && op)
        f->ops = (uint32_t)(op - w->x->ops) + 1;
    if (duo->lift && op && !is_barrier(w, op))
        pair_complain(w, "control",
                      arena_printf(w->arena,
                                   "%s passes a barrier, and is at line %" PRIu32
                                   " in the execution",
                                   pair_who(w, k), w->x->program->ptx->ops[op->pc].line));
    const int32_t *memory = w->x->passed[f->block][f->interval];
    compare_written(w, k, p->held + k * duo->var_count, 1, memory);
    f->interval++;
    for (uint32_t i = 0; i < duo->var_count; i++)
        if (p->memory[i])
            tell(w, p->memory[(own ? duo->var_count : 0) + i], duo->vars[i],
                 memory + address_of(w, duo->vars[i], k));
}

/* Of threads of one block a barrier separates what they do. */
static void meet(struct retracing *w, const struct deed *d)
{
    const struct passed *p = &GROWN(w->duo->passed, struct passed)[d->count];
    if (pair_is_true(w, p->reached) && w->f[0].block == w->f[1].block)
        memset(w->logged, 0, w->duo->var_count * LOG_KINDS);
    if (pair_is_true(w, p->reached))
        pass(w, 0, p);
    if (pair_is_true(w, p->other))
        pass(w, 1, p);
}

/* ---- what goes wrong ---- */

static void go_wrong(struct retracing *w, const struct deed *d)
{
    const struct obligation *o = &GROWN(w->duo->obligations, struct obligation)[d->count];
    bool parts = o->goal == GOAL_DIVERGENCE;
    if (!pair_is_true(w, o->wrong))
        return;
    w->wrong[o->goal] = true;
    if (o->goal == GOAL_RACE && w->race_name && strcmp(o->var->name, w->race_name) == 0)
        w->race_kinds |= 1u << o->kind;
    w->stopped = w->stopped || parts;
    if (w->well && !(parts && !at_one_barrier(w)))
        pair_complain(w, proof_goal_names[o->goal],
                      arena_printf(w->arena,
                                   "of threads %" PRIu32 " and %" PRIu32
                                   " of an execution in which all goes well it is said that they "
                                   "go wrong at line %" PRIu32 " (%s)",
                                   w->f[0].thread, w->f[1].thread, o->at.line,
                                   proof_goal_names[o->goal]));
}

/* An access of thread 2 and the obligation about it, which stands right behind it, say the same. */
static void compare_race(struct retracing *w, const struct deed *d)
{
    const struct obligation *o = d && d->kind == DEED_WRONG
                                     ? &GROWN(w->duo->obligations, struct obligation)[d->count]
                                     : NULL;
    bool said = o && o->goal == GOAL_RACE && pair_is_true(w, o->wrong);
    if (said != w->meets)
        pair_complain(w, "race",
                      arena_printf(w->arena,
                                   "of threads %" PRIu32 " and %" PRIu32 " the second %s what "
                                   "the first has logged, and it is %s",
                                   w->f[0].thread, w->f[1].thread,
                                   w->meets ? "meets" : "does not meet",
                                   said ? "said that it does" : "not said"));
    w->meets = false;
}

void pair_deed(struct retracing *w, const struct deed *d)
{
    static void (*const does[])(struct retracing *, const struct deed *) = {
        [DEED_ACCESS] = access,      [DEED_HAVOC] = draw_havoc, [DEED_ATOMIC] = find_atomic,
        [DEED_CHOICE] = draw_target, [DEED_MADE] = make,        [DEED_DONE] = do_op,
        [DEED_BARRIER] = meet,       [DEED_WRONG] = go_wrong};
    bool of_both = d->kind == DEED_BARRIER || d->kind == DEED_WRONG;
    compare_race(w, d);
    if (of_both || pair_is_true(w, d->when))
        does[d->kind](w, d);
}

/* ---- the end ---- */

/* Thread k has ended, with the private variables that it had. */
static void compare_private(struct retracing *w, uint32_t k)
{
    const struct duo *duo = w->duo;
    for (uint32_t i = 0; i < duo->var_count && !duo->lift; i++) {
        const struct ast_var *var = duo->vars[i];
        const int32_t *is = w->x->final + address_of(w, var, k);
        term held = duo->end[slot_var(duo, var, k)];
        if (var->space != SPACE_PRIVATE || !variable(w->x->program, var))
            continue;
        for (uint32_t n = 0; n < var->length; n++) {
            int32_t seen = var->is_array ? term_array_element(w->values.arrays[held], (int32_t)n)
                                         : (int32_t)w->values.words[held];
            if (seen != is[n])
                pair_complain(w, "value",
                              arena_printf(w->arena,
                                           "%s ends with %" PRId32 " in %s[%" PRIu32
                                           "], and in the execution with %" PRId32,
                                           pair_who(w, k), seen, var->name, n, is[n]));
        }
    }
}

static void compare_end(struct retracing *w, uint32_t k)
{
    const struct duo *duo = w->duo;
    if (!pair_is_true(w, duo->end[slot_at(duo, duo->block_count, k)]))
        pair_complain(
            w, "end",
            arena_printf(w->arena, "%s does not end, and does in the execution", pair_who(w, k)));
    if (duo->var_count > 0)
        compare_written(w, k, duo->end + slot_var(duo, duo->vars[0], k), 2, w->x->final);
    compare_private(w, k);
}

/* A thread is in one place: in a block, at the end, or dead. */
static void compare_place(struct retracing *w, uint32_t k)
{
    const struct duo *duo = w->duo;
    uint32_t places = pair_is_true(w, duo->end[slot_dead(duo, k)]);
    for (uint32_t b = 0; b <= duo->block_count; b++)
        places += pair_is_true(w, duo->end[slot_at(duo, b, k)]);
    if (places != 1)
        pair_complain(w, "place",
                      arena_printf(w->arena, "%s is in %" PRIu32 " places at the end",
                                   pair_who(w, k), places));
}

static bool is_written(const struct duo *duo, const struct ast_var *var)
{
    for (uint32_t i = 0; i < duo->var_count; i++)
        if (is_memory(duo->vars[i]) && strcmp(duo->vars[i]->name, var->name) == 0)
            return duo->written[i];
    return false;
}

/* Whatever thread k has done, as far as that is sure; it may wait at a barrier that nobody passes. */
static void compare_accesses(struct retracing *w, uint32_t k)
{
    const struct race_log *log = w->x->log;
    const struct executed_op *op = next_op(w, k);
    for (uint32_t i = 0; i < w->x->sure; i++) {
        const struct race_log_entry *e = &log->entries[i];
        struct program_location at = program_locate(w->x->program, e->address);
        if (w->met[i] || e->access.thread != w->f[k].thread || !is_written(w->duo, at.var))
            continue;
        pair_complain(w, "access",
                      arena_printf(w->arena,
                                   "%s does not do, in interval %" PRIu32 ", the %s of %s[%" PRIu32
                                   "] that the execution has",
                                   pair_who(w, k), e->interval, race_access_names[e->access.kind],
                                   at.var->name, at.element));
    }
    if (w->duo->lift && op && op->entries <= w->x->known && !is_barrier(w, op))
        pair_complain(w, "control",
                      arena_printf(w->arena,
                                   "%s has ended, and executes line %" PRIu32 " in the execution",
                                   pair_who(w, k), w->x->program->ptx->ops[op->pc].line));
}

void pair_end(struct retracing *w, uint32_t k)
{
    compare_race(w, NULL);
    compare_place(w, k);
    compare_accesses(w, k);
    if (w->well)
        compare_end(w, k);
}
