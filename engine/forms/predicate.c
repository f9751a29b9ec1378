/*
 * predicate.c - blocks and kernels: lockstep-cfg Tables 2, 4, 5 (pi) and 3b, 6 (phi).
 *
 * The transformation works on a copy of P. A block keeps its node, so gotos stay as they are until the
 * block itself is rewritten; `origin` is set for the whole copy before anything changes.
 */
#include "engine/forms/predicate_internal.h"

#include "engine/base/invariant.h"
#include "engine/input/input.h"
#include "engine/language/walk.h"

#include <string.h>

enum { SUFFIX_ROOM = 16 }; /* of a block's name: "_nocall" and a number */

static bool gave_up(const struct transform *t)
{
    return *t->reason != NULL;
}

/* ---- names ---- */

static bool has_variable(const struct ast_var *list, const char *name)
{
    for (; list; list = list->next)
        if (strcmp(list->name, name) == 0)
            return true;
    return false;
}

/* Whether something that the function at hand can name has the name: blocks and locals of other
 * functions do not count. */
static bool is_taken(const struct transform *t, const char *name)
{
    const struct ast_kernel *kernel = t->kernel;
    for (const struct ast_function *f = kernel->functions; f; f = f->next)
        if (strcmp(f->name, name) == 0)
            return true;
    for (const struct ast_block *b = t->function->blocks; b; b = b->next)
        if (strcmp(b->name, name) == 0)
            return true;
    return strcmp(kernel->name, name) == 0 || has_variable(kernel->vars, name) ||
           has_variable(t->function->locals, name);
}

const char *transform_fresh_name(const struct transform *t, const char *stem)
{
    const char *name = stem;
    for (uint32_t k = 1; is_taken(t, name); k++)
        name = arena_printf(t->arena, "%s%u", stem, (unsigned)k);
    return name;
}

struct ast_var *transform_new_local(struct transform *t, const char *stem)
{
    const char *name = transform_fresh_name(t, stem);
    struct ast_var *var = ast_var(t->arena, name, SPACE_LOCAL, 1, false);
    ast_var_append(&t->function->locals, var);
    return var;
}

/* ---- building blocks ---- */

static void set_targets(struct transform *t, struct ast_block *block, uint32_t count)
{
    block->target_count = count;
    block->targets = ARENA_ARRAY(t->arena, struct ast_block *, count);
}

static void go_to(struct transform *t, struct ast_block *block, struct ast_block *target)
{
    set_targets(t, block, 1);
    block->targets[0] = target;
}

/* A block of P's block that is new, behind `after` in the list. */
static struct ast_block *new_block(struct transform *t, struct ast_block *after, const char *base,
                                   const char *suffix)
{
    const char *stem =
        arena_printf(t->arena, "%.*s%s", (int)(LIMIT_NAME - SUFFIX_ROOM), base, suffix);
    struct ast_block *block = ARENA_NEW(t->arena, struct ast_block);
    block->name = transform_fresh_name(t, stem);
    block->at = after->at;
    block->next = after->next;
    after->next = block;
    return block;
}

static struct ast_stm *assume(const struct transform *t, struct ast_expr *e, struct location at)
{
    struct ast_stm *stm = ast_stm(t->arena, STM_ASSUME, at);
    stm->value = e;
    return stm;
}

/* e1 && e2; NULL is true. */
static struct ast_expr *both(const struct transform *t, struct ast_expr *a, struct ast_expr *b)
{
    return !a ? b : !b ? a : ast_binary(t->arena, BINARY_LOGICAL_AND, a, b);
}

/* ---- what a goto may take ---- */

/* Of a function's blocks: what P says before anything is rewritten. */
struct block_info {
    struct ast_expr *guard; /* e_i: of the leading assume; NULL = true */
    uint32_t number;        /* k: what v_active holds */
};

static struct ast_expr *leading_guard(const struct ast_block *block)
{
    const struct ast_stm *first = block->body;
    if (!first || first->kind != STM_ASSUME)
        return NULL;
    bool is_true = first->value->kind == EXPR_INT && first->value->value != 0;
    return is_true ? NULL : first->value;
}

/* What rewriting a function works on. */
struct rewriting {
    struct cfg *cfg;
    struct ast_block **order; /* in the sort order; a procedure's return block last */
    struct block_info *info;  /* by number in cfg */
};

static uint32_t target_number(const struct rewriting *r, const struct ast_block *target)
{
    return target ? r->info[target->mark].number : 0;
}

static struct ast_expr *target_guard(const struct transform *t, const struct rewriting *r,
                                     const struct ast_block *target)
{
    struct ast_expr *guard = target && !t->options->no_early ? r->info[target->mark].guard : NULL;
    return guard ? ast_expr_copy(t->arena, guard) : NULL;
}

/*  PRED.setnext     v_next :in { B_1 | e_1, .., B_n | e_n }
 */
static struct ast_stm *set_next(const struct transform *t, const struct rewriting *r,
                                const struct ast_block *block)
{
    struct ast_stm *pick = ast_stm(t->arena, STM_PICK, block->at);
    struct ast_expr **tail = &pick->arguments;
    pick->target = (struct ast_lvalue){.var = t->next, .at = block->at};
    pick->guard = active_is(t, t->block);
    for (uint32_t i = 0; i < block->target_count; i++) {
        struct ast_expr *guard = target_guard(t, r, block->targets[i]);
        *tail = ast_int(t->arena, (int32_t)target_number(r, block->targets[i]));
        (*tail)->next = guard ? guard : ast_int(t->arena, 1);
        tail = &(*tail)->next->next;
    }
    return pick;
}

/*  PRED.early (App. B.4)     assume act => /\_i (v_next = B_i => e_i)
 *
 *  NULL where every e_i is true. One that reads shared variables (not WF.1) says nothing about the
 *  time when B_i is reduced and is left out.
 */
static struct ast_stm *early_assume(const struct transform *t, const struct rewriting *r,
                                    const struct ast_block *block)
{
    struct ast_expr *conjunction = NULL;
    for (uint32_t i = 0; i < block->target_count; i++) {
        struct ast_expr *guard = target_guard(t, r, block->targets[i]);
        if (!guard || ast_reads_shared(guard))
            continue;
        struct ast_expr *other =
            ast_binary(t->arena, BINARY_NE, ast_var_ref(t->arena, t->next),
                       ast_int(t->arena, (int32_t)target_number(r, block->targets[i])));
        conjunction = both(t, conjunction, ast_binary(t->arena, BINARY_LOGICAL_OR, other, guard));
    }
    if (!conjunction)
        return NULL;
    struct ast_expr *implies =
        ast_binary(t->arena, BINARY_LOGICAL_OR, active_is_not(t, t->block), conjunction);
    return assume(t, for_all_threads(t, implies), block->at);
}

/*  PRED.block, LOCK.block     v_next :in ..; early assume; v_active := act ? v_next : v_active
 */
static void leave_block(struct transform *t, const struct rewriting *r,
                        const struct ast_block *block, struct stm_list *list)
{
    transform_add(list, set_next(t, r, block));
    struct ast_stm *early = early_assume(t, r, block);
    if (early)
        transform_add(list, early);
    transform_add(list, predicated_assign(t, t->active, ast_var_ref(t->arena, t->next), block->at));
}

/* ---- last blocks of loops ---- */

/* The heads of the loops whose last block stands at `place` in the order, innermost first. */
static uint32_t loops_that_end(const struct transform *t, const struct rewriting *r, uint32_t place,
                               struct ast_block **heads)
{
    const struct cfg *cfg = r->cfg;
    uint32_t count = 0, block = r->order[place]->mark;
    for (uint32_t l = 0; l < cfg->loop_count; l++) {
        if (!cfg_in_loop(cfg, l, block))
            continue;
        bool goes_on = place + 1 < cfg->count && cfg_in_loop(cfg, l, r->order[place + 1]->mark);
        if (!goes_on)
            heads[count++] = cfg->blocks[cfg->loops[l].head];
    }
    if (t->options->one_loop && count > 1) {
        heads[0] = heads[count - 1];
        count = 1;
    }
    return count;
}

/*  B_back^Lk     pi: assume v_active = head(Lk)        phi: assume (\/_t v_active,t = head(Lk))
 *                goto head(Lk)                                  /\ (/\_t /\_i<k v_active,t != head(Li))
 */
static struct ast_block *back_block(struct transform *t, const struct rewriting *r,
                                    struct ast_block *after, const char *name,
                                    struct ast_block *head, struct ast_expr *no_inner)
{
    struct ast_block *back = new_block(t, after, name, "_back");
    struct ast_expr *waiting = for_some_thread(t, active_is(t, target_number(r, head)));
    if (t->lockstep && no_inner)
        waiting = both(t, waiting, for_all_threads(t, ast_expr_copy(t->arena, no_inner)));
    back->body = assume(t, waiting, after->at);
    go_to(t, back, head);
    return back;
}

/*  PRED.block_last, LOCK.block_last (Tables 4, 6a)
 *      goto B_back^L1, .., B_back^Ln, B_exit;
 *      B_exit: assume /\_i v_active != head(Li) (phi: of all threads); goto next(B)
 */
static void end_loops(struct transform *t, const struct rewriting *r, struct ast_block *block,
                      struct ast_block **heads, uint32_t count, struct ast_block *next)
{
    struct ast_block *last = block;
    struct ast_expr *none = NULL;
    set_targets(t, block, count + 1);
    for (uint32_t k = 0; k < count; k++) {
        last = block->targets[k] = back_block(t, r, last, block->name, heads[k], none);
        none = both(t, none, active_is_not(t, target_number(r, heads[k])));
    }
    struct ast_block *leave = new_block(t, last, block->name, "_exit");
    leave->body = assume(t, for_all_threads(t, none), block->at);
    go_to(t, leave, next);
    block->targets[count] = leave;
}

/* ---- calls ---- */

/* phi: <x_out,t> := call ..; <x_t> := <act_t ? x_out,t : x_t> */
static void take_outs(struct transform *t, struct ast_stm *call, struct stm_list *list)
{
    struct stm_list taken = {0};
    struct ast_expr *outs = call->outs, **tail = &call->outs;
    uint32_t i = 0;
    for (struct ast_expr *x = outs; x; x = x->next, i++) {
        if (!t->outs[i])
            t->outs[i] = transform_new_local(t, arena_printf(t->arena, "v_out%u", (unsigned)i + 1));
        transform_add(&taken,
                      predicated_assign(t, x->var, ast_var_ref(t->arena, t->outs[i]), call->at));
    }
    *tail = NULL;
    for (uint32_t k = 0; k < i; k++, tail = &(*tail)->next)
        *tail = ast_var_ref(t->arena, t->outs[k]);
    transform_add(list, call);
    for (struct ast_stm *stm = taken.first; stm;) {
        struct ast_stm *rest = stm->next;
        transform_add(list, stm);
        stm = rest;
    }
}

/* e for the threads that call, `otherwise` for the others, who evaluate nothing (B-9). */
static struct ast_expr *argument(const struct transform *t, struct ast_expr *e)
{
    return t->lockstep ? ast_cond(t->arena, active_is(t, t->block), e, ast_int(t->arena, 0)) : e;
}

/* The in-parameters and v_active: B_p, for the others (phi) End_p. */
static void pass_arguments(const struct transform *t, struct ast_stm *call)
{
    struct ast_expr *list = call->arguments, **tail = &call->arguments;
    while (list) {
        struct ast_expr *rest = list->next;
        list->next = NULL;
        *tail = argument(t, list);
        tail = &(*tail)->next;
        list = rest;
    }
    *tail = argument(t, ast_int(t->arena, (int32_t)call->function->mark));
}

/*  PRED.call (Table 5), LOCK.call (Table 6b)
 *      B: goto B_call, B_nocall
 *      B_call: assume v_active = B (phi: of some thread); call; leave B; goto next(B)
 *      B_nocall: assume v_active != B (phi: of all threads); goto next(B)
 */
static void call_block(struct transform *t, const struct rewriting *r, struct ast_block *block,
                       struct ast_stm *call, struct ast_block *next)
{
    struct stm_list list = {0};
    struct ast_block *calls = new_block(t, block, block->name, "_call");
    struct ast_block *skips = new_block(t, calls, block->name, "_nocall");
    calls->origin = block->origin;
    transform_add(&list, assume(t, for_some_thread(t, active_is(t, t->block)), call->at));
    pass_arguments(t, call);
    if (t->lockstep)
        take_outs(t, call, &list);
    else
        transform_add(&list, call);
    leave_block(t, r, block, &list);
    calls->body = list.first;
    go_to(t, calls, next);
    skips->body = assume(t, for_all_threads(t, active_is_not(t, t->block)), call->at);
    go_to(t, skips, next);
    set_targets(t, block, 2);
    block->targets[0] = calls;
    block->targets[1] = skips;
}

/* ---- functions ---- */

/* The statements in front of a call, or all; *call is taken out of the list. */
static struct stm_list transform_body(struct transform *t, struct ast_block *block,
                                      struct ast_stm **call)
{
    struct stm_list list = {0};
    struct ast_stm *stm = block->body;
    for (*call = NULL; stm && !gave_up(t);) {
        struct ast_stm *rest = stm->next;
        if (*call) {
            *t->reason = arena_printf(t->arena, "block '%s' goes on after its call (PROC.norm)",
                                      block->name);
        } else if (stm->kind == STM_CALL) {
            *call = stm;
            stm->next = NULL;
        } else {
            transform_statement(t, stm, &list);
        }
        stm = rest;
    }
    return list;
}

static void rewrite_block(struct transform *t, const struct rewriting *r, uint32_t place)
{
    struct ast_block *block = r->order[place];
    if (block->returns) /* B: return     B: return */
        return;
    struct ast_block **heads = ARENA_ARRAY(t->arena, struct ast_block *, r->cfg->loop_count + 1);
    struct ast_block *next = place + 1 < r->cfg->count ? r->order[place + 1] : NULL;
    struct ast_stm *call;
    t->block = r->info[block->mark].number;
    struct stm_list list = transform_body(t, block, &call);
    uint32_t loops = loops_that_end(t, r, place, heads);
    if (call && loops > 0)
        *t->reason =
            arena_printf(t->arena, "block '%s' calls and ends a loop (PROC.norm)", block->name);
    if (gave_up(t))
        return;
    if (call)
        call_block(t, r, block, call, next);
    else
        leave_block(t, r, block, &list);
    block->body = list.first;
    if (loops > 0)
        end_loops(t, r, block, heads, loops, next);
    else if (!call)
        go_to(t, block, next);
}

static bool only_returns(const struct ast_block *block)
{
    for (const struct ast_stm *stm = block->body; stm; stm = stm->next)
        if (stm->kind != STM_SKIP)
            return false;
    return true;
}

/* A procedure's return block goes to the end of the order: it has no successor. */
static void return_last(struct transform *t, struct rewriting *r)
{
    uint32_t kept = 0, count = r->cfg->count;
    struct ast_block *returns = NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (!r->order[i]->returns)
            r->order[kept++] = r->order[i];
        else
            returns = r->order[i];
    }
    if (kept + 1 != count || !only_returns(returns))
        *t->reason = arena_printf(t->arena,
                                  "procedure '%s' needs one return block, empty "
                                  "(PROC.norm)",
                                  t->function->name);
    else
        r->order[kept] = returns;
}

static bool begin_rewriting(struct transform *t, struct rewriting *r)
{
    struct location at;
    r->cfg = cfg_build(t->arena, t->function, t->reason, &at);
    if (!r->cfg)
        return false;
    cfg_sort(t->arena, r->cfg, t->options->order_seed);
    r->order = ARENA_ARRAY(t->arena, struct ast_block *, r->cfg->count);
    r->info = ARENA_ARRAY(t->arena, struct block_info, r->cfg->count);
    for (uint32_t i = 0; i < r->cfg->count; i++) {
        r->order[i] = r->cfg->blocks[r->cfg->order[i]];
        r->info[i].guard = leading_guard(r->cfg->blocks[i]);
        r->info[i].number = r->cfg->blocks[i]->origin;
    }
    if (t->function != t->kernel->main)
        return_last(t, r);
    return !gave_up(t);
}

static void relink(struct transform *t, const struct rewriting *r)
{
    struct ast_block **tail = &t->function->blocks;
    for (uint32_t i = 0; i < r->cfg->count; i++, tail = &(*tail)->next)
        *tail = r->order[i];
    *tail = NULL;
}

/* v_active as an extra in-parameter, behind the others (Table 5). */
static struct ast_var *active_parameter(struct transform *t)
{
    struct ast_function *f = t->function;
    struct ast_var *var =
        ast_var(t->arena, transform_fresh_name(t, "v_active"), SPACE_LOCAL, 1, false);
    struct ast_var **tail = &f->locals; /* behind the last in-parameter */
    for (struct ast_var *v = f->locals; v; v = v->next)
        if (v->is_parameter && !v->is_out)
            tail = &v->next;
    var->is_parameter = true;
    var->next = *tail;
    *tail = var;
    if (++f->parameter_count > LIMIT_PARAMETERS)
        *t->reason =
            arena_printf(t->arena, "procedure '%s' has no room for v_active: %d parameters",
                         f->name, LIMIT_PARAMETERS);
    return var;
}

/*  PRED.entry, LOCK.entry (B-12)     Entry: v_active := Start; goto Start
 *
 *  With entry_in_start (as printed, section 4.1) the assignment stands at the head of pi(Start).
 *  The entry of a kernel is called Start: so the fresh block has that name and P's gets another.
 */
static void enter_start(struct transform *t, const struct rewriting *r)
{
    struct ast_function *f = t->function;
    struct ast_block *start = f->blocks;
    struct ast_expr *number = ast_int(t->arena, (int32_t)target_number(r, start));
    struct ast_stm *set = ast_assign(t->arena, t->active, NULL, number, start->at);
    if (t->options->entry_in_start) {
        set->next = start->body;
        start->body = set;
        return;
    }
    struct ast_block *entry = ARENA_NEW(t->arena, struct ast_block);
    entry->name = start->name;
    start->name = transform_fresh_name(t, start->name);
    entry->at = start->at;
    entry->body = set;
    entry->next = start;
    go_to(t, entry, start);
    f->blocks = entry;
}

static void transform_function(struct transform *t, struct ast_function *f)
{
    struct rewriting r;
    bool is_main = f == t->kernel->main;
    t->function = f;
    t->havoc = NULL;
    memset(t->outs, 0, sizeof t->outs);
    if (!begin_rewriting(t, &r))
        return;
    relink(t, &r);
    t->active = is_main ? transform_new_local(t, "v_active") : active_parameter(t);
    t->next = transform_new_local(t, "v_next");
    for (uint32_t i = 0; i < r.cfg->count && !gave_up(t); i++)
        rewrite_block(t, &r, i);
    if (is_main && !gave_up(t))
        enter_start(t, &r);
}

/* ---- kernels ---- */

/* Numbers of P become origins; a function's mark becomes the number of its entry block. */
static void note_origins(struct ast_function *f)
{
    for (struct ast_block *b = f->blocks; b; b = b->next) {
        b->origin = 1 + b->mark;
        for (struct ast_stm *stm = b->body; stm; stm = stm->next)
            stm->origin = 1 + stm->mark;
    }
    f->mark = f->blocks->origin;
}

/* Claims of P that hold of the transformed program: those about every subject; not about races, since
 * pi writes v := v where P does nothing (ORA.55r). */
static void keep_expects(struct transform *t)
{
    struct ast_expect **link = &t->kernel->expects;
    while (*link) {
        bool race = (*link)->claim == CLAIM_RACE || (*link)->claim == CLAIM_RACE_FREE;
        if ((*link)->subject || (race && !t->lockstep))
            *link = (*link)->next;
        else
            link = &(*link)->next;
    }
}

static bool within_limits(struct transform *t)
{
    struct diag *diag = ARENA_NEW(t->arena, struct diag);
    diag_init(diag, "", NULL, 0);
    if (ast_check(t->kernel, diag))
        return true;
    *t->reason = arena_printf(t->arena, "the result is no kernel: %s",
                              diag->count ? diag->entries[0].text : "refused");
    return false;
}

static struct ast_kernel *transform_kernel(struct arena *arena, const struct ast_kernel *kernel,
                                           const struct predicate_options *options, bool lockstep,
                                           const char **reason)
{
    INVARIANT(kernel->form == FORM_BLOCKS);
    struct transform t = {.arena = arena,
                          .options = options,
                          .lockstep = lockstep,
                          .kernel = ast_kernel_copy(arena, kernel),
                          .reason = reason};
    *reason = NULL;
    note_origins(t.kernel->main);
    for (struct ast_function *f = t.kernel->functions; f; f = f->next)
        note_origins(f);
    transform_function(&t, t.kernel->main);
    for (struct ast_function *f = t.kernel->functions; f && !gave_up(&t); f = f->next)
        transform_function(&t, f);
    t.kernel->form = lockstep ? FORM_LOCKSTEP : FORM_BLOCKS;
    keep_expects(&t);
    return !gave_up(&t) && within_limits(&t) ? t.kernel : NULL;
}

struct ast_kernel *predicate(struct arena *arena, const struct ast_kernel *kernel,
                             const struct predicate_options *options, const char **reason)
{
    return transform_kernel(arena, kernel, options, false, reason);
}

struct ast_kernel *lockstep_form(struct arena *arena, const struct ast_kernel *kernel,
                                 const struct predicate_options *options, const char **reason)
{
    return transform_kernel(arena, kernel, options, true, reason);
}
