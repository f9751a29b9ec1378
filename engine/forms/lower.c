#include "engine/forms/lower.h"

#include "engine/base/invariant.h"
#include "engine/input/input.h"
#include "engine/language/walk.h"

#include <string.h>

/* A list under construction, with its end at hand. */
struct stm_list {
    struct ast_stm *first, *last;
};

/* A loop of the core program that is being built around the statements at hand. Only `break` leaves
 * it; a jump to the end of a loop further out sets that loop's flag, and each loop on the way is
 * followed by a test of it. Every loop is crossed by jumps to one target at most: break crosses only
 * the one-trip loop of its own loop's body, continue only the loops of switches within that body. */
struct core_loop {
    struct core_loop *parent;
    uint32_t depth;            /* loops around it in its function */
    struct ast_var *flag;      /* set: leave it; made when the first jump needs it */
    struct core_loop *crossed; /* target of the jumps that leave this loop and go on */
};

/* What surrounds a statement. */
struct scope {
    struct core_loop *innermost;
    struct core_loop *break_target;
    struct core_loop *continue_target; /* NULL: continue falls through to the end of the body */
    bool tail; /* nothing follows in the loop body, and no core loop lies between it and here */
    uint32_t switch_depth;
};

/* A variable made for loops or switches of one depth; those side by side share it. */
struct slot {
    uint32_t depth;
    struct ast_var *var;
    struct slot *next;
};

struct lowering {
    struct arena *arena;
    struct ast_kernel *kernel;
    struct ast_function *function;
    const char *suffix; /* of all new names: underscores enough to make them new */
    bool keep_switch, calls_meet;
    struct ast_var **arguments;
    struct ast_var *result;
    struct slot *flags, *selectors, *entries; /* of the function at hand */
    uint32_t flag_count;
    struct slot *operands, *olds; /* of the function at hand; `depth` numbers the operands */
};

/* ---- new names ---- */

static const char *const new_names[] = {"arg",   "result",  "leave", "switch",
                                        "entry", "operand", "old"};

/* Trailing underscores of a name that could be one of ours, -1 for any other. */
static int clash_underscores(const char *name)
{
    size_t length = strlen(name), end = length;
    while (end > 0 && name[end - 1] == '_')
        end--;
    size_t stem = end;
    while (stem > 0 && name[stem - 1] >= '0' && name[stem - 1] <= '9')
        stem--;
    for (size_t i = 0; i < sizeof new_names / sizeof new_names[0]; i++)
        if (strlen(new_names[i]) == stem && memcmp(name, new_names[i], stem) == 0)
            return (int)(length - end);
    return -1;
}

/* taken[k]: a name with k underscores at its end could clash. */
static void note_name(bool taken[LIMIT_NAME + 1], const char *name)
{
    int underscores = clash_underscores(name);
    if (underscores >= 0 && underscores <= LIMIT_NAME)
        taken[underscores] = true;
}

static void note_variables(bool taken[LIMIT_NAME + 1], const struct ast_var *list)
{
    for (const struct ast_var *var = list; var; var = var->next)
        note_name(taken, var->name);
}

static const char *choose_suffix(struct arena *arena, const struct ast_kernel *kernel)
{
    bool taken[LIMIT_NAME + 1] = {false};
    note_name(taken, kernel->name);
    note_variables(taken, kernel->vars);
    note_variables(taken, kernel->main->locals);
    for (const struct ast_function *f = kernel->functions; f; f = f->next) {
        note_name(taken, f->name);
        note_variables(taken, f->locals);
    }
    int underscores = 0;
    while (underscores < LIMIT_NAME && taken[underscores])
        underscores++;
    char *suffix = ARENA_ARRAY(arena, char, (size_t)underscores + 1);
    memset(suffix, '_', (size_t)underscores);
    return suffix;
}

static struct ast_var *new_local(struct lowering *l, const char *stem, uint32_t number)
{
    const char *name = arena_printf(l->arena, "%s%u%s", stem, (unsigned)number, l->suffix);
    struct ast_var *var = ast_var(l->arena, name, SPACE_LOCAL, 1, false);
    ast_var_append(&l->function->locals, var);
    return var;
}

/* The variable of a depth, if there is one yet. */
static struct ast_var *slot_find(const struct slot *slots, uint32_t depth)
{
    while (slots && slots->depth != depth)
        slots = slots->next;
    return slots ? slots->var : NULL;
}

static struct ast_var *slot_var(struct lowering *l, struct slot **slots, uint32_t depth,
                                const char *stem, uint32_t number)
{
    struct ast_var *var = slot_find(*slots, depth);
    if (var)
        return var;
    struct slot *slot = ARENA_NEW(l->arena, struct slot);
    slot->depth = depth;
    slot->var = new_local(l, stem, number);
    slot->next = *slots;
    *slots = slot;
    return slot->var;
}

static void need_flag(struct lowering *l, struct core_loop *loop)
{
    if (loop->flag)
        return;
    loop->flag = slot_find(l->flags, loop->depth);
    if (!loop->flag)
        loop->flag = slot_var(l, &l->flags, loop->depth, "leave", ++l->flag_count);
}

/* ---- building ---- */

static void add(struct stm_list *out, struct ast_stm *stm)
{
    stm->next = NULL;
    if (out->last)
        out->last->next = stm;
    else
        out->first = stm;
    out->last = stm;
}

static void add_simple(struct lowering *l, struct stm_list *out, enum ast_stm_kind kind,
                       struct location at)
{
    add(out, ast_stm(l->arena, kind, at));
}

static void add_assign(struct lowering *l, struct stm_list *out, struct ast_var *var,
                       struct ast_expr *value, struct location at)
{
    add(out, ast_assign(l->arena, var, NULL, value, at));
}

/* The one statement that a branch or loop body is: a block only around several. */
static struct ast_stm *branch_of(struct lowering *l, struct stm_list list, struct location at)
{
    if (!list.first)
        return ast_stm(l->arena, STM_SKIP, at);
    if (list.first == list.last)
        return list.first;
    struct ast_stm *block = ast_stm(l->arena, STM_BLOCK, at);
    block->body = list.first;
    return block;
}

static void add_if(struct lowering *l, struct stm_list *out, struct ast_expr *guard,
                   struct stm_list then, struct stm_list other, struct location at)
{
    struct ast_stm *stm = ast_stm(l->arena, STM_IF, at);
    stm->value = guard;
    stm->body = branch_of(l, then, at);
    stm->other = branch_of(l, other, at);
    add(out, stm);
}

/* The statement that `loop` became; before it its flag is reset, after it the flag of the loop that
 * jumps out of it aim at is tested. */
static void add_leavable(struct lowering *l, struct stm_list *out, const struct core_loop *loop,
                         struct ast_stm *stm)
{
    if (loop->flag)
        add_assign(l, out, loop->flag, ast_int(l->arena, 0), stm->at);
    add(out, stm);
    if (loop->crossed) {
        struct stm_list leave = {0}, stay = {0};
        add_simple(l, &leave, STM_BREAK, stm->at);
        add_if(l, out, ast_var_ref(l->arena, loop->crossed->flag), leave, stay, stm->at);
    }
}

static void add_loop(struct lowering *l, struct stm_list *out, const struct core_loop *loop,
                     struct ast_expr *guard, struct stm_list body, struct location at)
{
    struct ast_stm *stm = ast_stm(l->arena, STM_WHILE, at);
    stm->value = guard;
    stm->body = branch_of(l, body, at);
    add_leavable(l, out, loop, stm);
}

/* A loop left at the end of its first trip. */
static void add_one_trip(struct lowering *l, struct stm_list *out, const struct core_loop *loop,
                         struct stm_list body, struct location at)
{
    if (!body.last || (body.last->kind != STM_BREAK && body.last->kind != STM_RETURN &&
                       body.last->kind != STM_EXIT))
        add_simple(l, &body, STM_BREAK, at);
    add_loop(l, out, loop, ast_int(l->arena, 1), body, at);
}

/* Leaves the target and all loops inside it. */
static void add_jump(struct lowering *l, struct stm_list *out, const struct scope *scope,
                     struct core_loop *target, struct location at)
{
    for (struct core_loop *loop = scope->innermost; loop != target; loop = loop->parent) {
        INVARIANT(!loop->crossed || loop->crossed == target);
        loop->crossed = target;
        need_flag(l, target);
    }
    if (scope->innermost != target)
        add_assign(l, out, target->flag, ast_int(l->arena, 1), at);
    add_simple(l, out, STM_BREAK, at);
}

/* ---- where jumps go ---- */

/* Whether a list has a continue of the loop around it. */
static bool has_continue(const struct ast_stm *list)
{
    for (const struct ast_stm *stm = list; stm; stm = stm->next) {
        if (stm->kind == STM_CONTINUE)
            return true;
        if ((stm->kind == STM_BLOCK || stm->kind == STM_IF) &&
            (has_continue(stm->body) || has_continue(stm->other)))
            return true;
        if (stm->kind == STM_SWITCH)
            for (const struct ast_case *c = stm->cases; c; c = c->next)
                if (has_continue(c->body))
                    return true;
    }
    return false;
}

/* Whether a list has a break of the switch around it. */
static bool has_break(const struct ast_stm *list)
{
    for (const struct ast_stm *stm = list; stm; stm = stm->next) {
        if (stm->kind == STM_BREAK)
            return true;
        if ((stm->kind == STM_BLOCK || stm->kind == STM_IF) &&
            (has_break(stm->body) || has_break(stm->other)))
            return true;
    }
    return false;
}

/* Whether a continue in the list is no mere fall through to the end of the loop body. From a switch
 * at the tail of the body, leaving the switch is enough. */
static bool needs_trip(const struct ast_stm *list, bool tail)
{
    for (const struct ast_stm *stm = list; stm; stm = stm->next) {
        bool last = tail && !stm->next;
        if (stm->kind == STM_CONTINUE && !last)
            return true;
        if ((stm->kind == STM_BLOCK || stm->kind == STM_IF) &&
            (needs_trip(stm->body, last) || needs_trip(stm->other, last)))
            return true;
        if (stm->kind == STM_SWITCH && !last)
            for (const struct ast_case *c = stm->cases; c; c = c->next)
                if (has_continue(c->body))
                    return true;
    }
    return false;
}

/* Whether control cannot reach the end of the list. */
static bool never_ends(const struct ast_stm *list)
{
    for (const struct ast_stm *stm = list; stm; stm = stm->next) {
        if (stm->kind == STM_RETURN || stm->kind == STM_EXIT)
            return true;
        if (stm->kind == STM_BLOCK && never_ends(stm->body))
            return true;
        if (stm->kind == STM_IF && stm->other && never_ends(stm->body) && never_ends(stm->other))
            return true;
    }
    return false;
}

/* ---- statements ---- */

static void lower_stm(struct lowering *l, struct stm_list *out, struct scope scope,
                      struct ast_stm *stm);

static void lower_list(struct lowering *l, struct stm_list *out, struct scope scope,
                       struct ast_stm *list)
{
    for (struct ast_stm *stm = list, *next; stm; stm = next) {
        next = stm->next;
        struct scope inner = scope;
        inner.tail = scope.tail && !next;
        lower_stm(l, out, inner, stm);
    }
}

/* x op= e  as  x = x op e */
static void lower_assign(struct lowering *l, struct stm_list *out, struct ast_stm *stm)
{
    stm->value = ast_assigned_value(l->arena, stm);
    stm->op = ASSIGN_SET;
    add(out, stm);
}

/* r = f(e1, .., en)  as  arg1 = e1; ..; argn = en; f(); r = result;
 * The index of an array element r is evaluated after the call. */
static void lower_call(struct lowering *l, struct stm_list *out, struct ast_stm *stm)
{
    uint32_t i = 0;
    for (struct ast_expr *value = stm->arguments, *next; value; value = next) {
        next = value->next;
        value->next = NULL;
        add_assign(l, out, l->arguments[i++], value, stm->at);
    }
    struct ast_lvalue target = stm->target;
    stm->arguments = NULL;
    stm->target = (struct ast_lvalue){0};
    add(out, stm);
    if (target.var)
        add(out, ast_assign(l->arena, target.var, target.index, ast_var_ref(l->arena, l->result),
                            stm->at));
}

/* ---- atomics, votes, havoc ---- */

/* operand_k = e;  when e reads what others may write; operand_k then stands for e. */
static struct ast_expr *lower_operand(struct lowering *l, struct stm_list *out, uint32_t k,
                                      struct ast_expr *e, struct location at)
{
    if (!ast_reads_shared(e))
        return e;
    struct ast_var *var = slot_var(l, &l->operands, k, "operand", k + 1);
    struct ast_expr *ref = ast_var_ref(l->arena, var);
    ref->next = e->next;
    e->next = NULL;
    add_assign(l, out, var, e, at);
    return ref;
}

/* x = old;  behind a statement whose value only a private scalar takes: there it is `old`. */
static void add_with_target(struct lowering *l, struct stm_list *out, struct ast_stm *stm)
{
    struct ast_lvalue target = stm->target;
    const struct ast_var *var = target.var;
    add(out, stm);
    if (!var || (!var->is_array && (var->space == SPACE_PRIVATE || var->space == SPACE_LOCAL)))
        return;
    struct ast_var *old = slot_var(l, &l->olds, 0, "old", 1);
    stm->target = (struct ast_lvalue){.var = old, .at = target.at};
    add(out, ast_assign(l->arena, target.var, target.index, ast_var_ref(l->arena, old), stm->at));
}

/* x = op(y[i], e, f)  as  operand1 = i; operand2 = e; operand3 = f; old = op(y[operand1], operand2,
 * operand3); x = old; as far as i, e, f read shared or global memory and x is no private scalar. */
static void lower_atomic(struct lowering *l, struct stm_list *out, struct ast_stm *stm)
{
    uint32_t k = 0;
    stm->place.index = lower_operand(l, out, k++, stm->place.index, stm->at);
    for (struct ast_expr **e = &stm->arguments; *e; e = &(*e)->next)
        *e = lower_operand(l, out, k++, *e, stm->at);
    add_with_target(l, out, stm);
}

static void lower_havoc(struct lowering *l, struct stm_list *out, struct ast_stm *stm)
{
    stm->place.index = lower_operand(l, out, 0, stm->place.index, stm->at);
    add(out, stm);
}

static void lower_return(struct lowering *l, struct stm_list *out, struct ast_stm *stm)
{
    if (stm->value)
        add_assign(l, out, l->result, stm->value, stm->at);
    stm->value = NULL;
    add(out, stm);
}

static void lower_if(struct lowering *l, struct stm_list *out, struct scope scope,
                     struct ast_stm *stm)
{
    struct stm_list then = {0}, other = {0};
    lower_list(l, &then, scope, stm->body);
    lower_list(l, &other, scope, stm->other);
    add_if(l, out, stm->value, then, other, stm->at);
}

static struct core_loop loop_in(const struct scope *scope)
{
    const struct core_loop *parent = scope->innermost;
    return (struct core_loop){.parent = scope->innermost, .depth = parent ? parent->depth + 1 : 0};
}

/* The body of a source loop that became the core loop `loop`; in a one-trip loop of its own when a
 * continue has to leave it. */
static void lower_loop_body(struct lowering *l, struct stm_list *out, const struct scope *scope,
                            struct core_loop *loop, struct ast_stm *stm)
{
    struct scope inner = {
        .innermost = loop, .break_target = loop, .tail = true, .switch_depth = scope->switch_depth};
    if (!needs_trip(stm->body, true)) {
        lower_list(l, out, inner, stm->body);
        return;
    }
    struct core_loop trip = loop_in(&inner);
    struct stm_list body = {0};
    inner.innermost = inner.continue_target = &trip;
    inner.tail = false;
    lower_list(l, &body, inner, stm->body);
    add_one_trip(l, out, &trip, body, stm->at);
}

static void lower_while(struct lowering *l, struct stm_list *out, const struct scope *scope,
                        struct ast_stm *stm)
{
    struct core_loop loop = loop_in(scope);
    struct stm_list body = {0};
    lower_loop_body(l, &body, scope, &loop, stm);
    add_loop(l, out, &loop, stm->value, body, stm->at);
}

/* do S while (e);  as  while (1) { S if (e) ; else break; } */
static void lower_do(struct lowering *l, struct stm_list *out, const struct scope *scope,
                     struct ast_stm *stm)
{
    struct core_loop loop = loop_in(scope);
    struct stm_list body = {0}, stay = {0}, leave = {0};
    lower_loop_body(l, &body, scope, &loop, stm);
    add_simple(l, &leave, STM_BREAK, stm->at);
    add_if(l, &body, stm->value, stay, leave, stm->at);
    add_loop(l, out, &loop, ast_int(l->arena, 1), body, stm->at);
}

/* for (i; e; u) S  as  i; while (e) { S u } */
static void lower_for(struct lowering *l, struct stm_list *out, const struct scope *scope,
                      struct ast_stm *stm)
{
    struct core_loop loop = loop_in(scope);
    struct stm_list body = {0};
    struct scope simple = {0};
    lower_list(l, out, simple, stm->init);
    lower_loop_body(l, &body, scope, &loop, stm);
    lower_list(l, &body, simple, stm->step);
    add_loop(l, out, &loop, stm->value ? stm->value : ast_int(l->arena, 1), body, stm->at);
}

/* ---- switch ---- */

enum { SELECT_CHUNK = 32 }; /* nested ?: in one assignment, far below LIMIT_DEPTH */

/* entry = value == c0 ? 0 : value == c1 ? 1 : .. : otherwise;  the number of the first body to run,
 * where only bodies that hold something count; in pieces of SELECT_CHUNK cases, each
 * with the entry found so far as its last alternative. */
static void add_selection(struct lowering *l, struct stm_list *out, const struct ast_stm *stm,
                          struct ast_var *value, struct ast_var *entry, uint32_t otherwise)
{
    const struct ast_case *c = stm->cases;
    uint32_t bodies = 0;
    struct ast_expr *rest = ast_int(l->arena, (int32_t)otherwise);
    for (bool first = true;; first = false) {
        struct ast_expr *head = NULL, **hole = &head;
        for (uint32_t n = 0; c && n < SELECT_CHUNK; c = c->next) {
            if (!c->is_default) {
                struct ast_expr *is = ast_binary(l->arena, BINARY_EQ, ast_var_ref(l->arena, value),
                                                 ast_int(l->arena, c->value));
                *hole = ast_cond(l->arena, is, ast_int(l->arena, (int32_t)bodies), rest);
                hole = &(*hole)->c;
                n++;
            }
            bodies += c->body != NULL;
        }
        if (!head && !first)
            return;
        *hole = rest;
        add_assign(l, out, entry, head, stm->at);
        rest = ast_var_ref(l->arena, entry);
    }
}

/* The bodies in order, each run when the entry is at or before it: they fall through. The default is
 * the last case, so that every entry reaches its body. */
static void add_bodies(struct lowering *l, struct stm_list *out, struct scope scope,
                       const struct ast_stm *stm, struct ast_var *entry, uint32_t otherwise)
{
    uint32_t number = 0;
    for (struct ast_case *c = stm->cases; c; c = c->next) {
        if (!c->body)
            continue;
        bool always = otherwise == number;
        struct stm_list body = {0}, nothing = {0};
        lower_list(l, always ? out : &body, scope, c->body);
        if (!always) {
            struct ast_expr *reached = ast_binary(l->arena, BINARY_LE, ast_var_ref(l->arena, entry),
                                                  ast_int(l->arena, (int32_t)number));
            add_if(l, out, reached, body, nothing, c->at);
        }
        number++;
    }
}

/* Number of the body where no case's value leads: the default's, or one past the last. */
static uint32_t default_entry(const struct ast_stm *stm)
{
    uint32_t bodies = 0;
    for (const struct ast_case *c = stm->cases; c && !c->is_default; c = c->next)
        bodies += c->body != NULL;
    return bodies;
}

/* Whether lanes may meet in a list: at a barrier, or in a vote. */
static bool meets(const struct ast_stm *list, bool calls_meet)
{
    for (const struct ast_stm *stm = list; stm; stm = stm->next) {
        if (stm->kind == STM_BARRIER || stm->kind == STM_SYNC || stm->kind == STM_VOTE ||
            (stm->kind == STM_CALL && calls_meet))
            return true;
        if (meets(stm->body, calls_meet) || meets(stm->other, calls_meet))
            return true;
        for (const struct ast_case *c = stm->cases; c; c = c->next)
            if (meets(c->body, calls_meet))
                return true;
    }
    return false;
}

/* switch (e) { .. }  stays, with its bodies lowered in place. It counts as a loop where something leaves
 * it, since `break` in it leaves it and nothing else. */
static void keep_switch(struct lowering *l, struct stm_list *out, struct scope scope,
                        struct ast_stm *stm, bool leaves)
{
    struct core_loop loop = loop_in(&scope);
    if (leaves)
        scope.innermost = scope.break_target = &loop;
    if (leaves && scope.tail)
        scope.continue_target = &loop;
    scope.tail = false;
    for (struct ast_case *c = stm->cases; c; c = c->next) {
        struct stm_list body = {0};
        lower_list(l, &body, scope, c->body);
        c->body = body.first;
    }
    add_leavable(l, out, &loop, stm);
}

/* switch (e) { .. }  as  value = e; entry = ..; and the bodies, in a one-trip loop when there is
 * something that leaves them. */
static void lower_switch(struct lowering *l, struct stm_list *out, struct scope scope,
                         struct ast_stm *stm)
{
    bool breaks = false, continues = false, meet = false;
    for (const struct ast_case *c = stm->cases; c; c = c->next) {
        breaks |= has_break(c->body);
        continues |= has_continue(c->body);
    }
    for (const struct ast_case *c = stm->cases; c; c = c->next)
        meet |= l->keep_switch && meets(c->body, l->calls_meet);
    if (l->keep_switch && !meet) {
        keep_switch(l, out, scope, stm, breaks || continues);
        return;
    }
    uint32_t depth = scope.switch_depth++;
    struct ast_var *value = slot_var(l, &l->selectors, depth, "switch", depth + 1);
    struct ast_var *entry = slot_var(l, &l->entries, depth, "entry", depth + 1);
    uint32_t otherwise = default_entry(stm);
    add_assign(l, out, value, stm->value, stm->at);
    add_selection(l, out, stm, value, entry, otherwise);
    if (!breaks && !(continues && scope.tail)) {
        scope.tail = false;
        add_bodies(l, out, scope, stm, entry, otherwise);
        return;
    }
    struct core_loop loop = loop_in(&scope);
    struct stm_list body = {0};
    scope.innermost = scope.break_target = &loop;
    if (scope.tail)
        scope.continue_target = &loop;
    scope.tail = false;
    add_bodies(l, &body, scope, stm, entry, otherwise);
    add_one_trip(l, out, &loop, body, stm->at);
}

static void lower_stm(struct lowering *l, struct stm_list *out, struct scope scope,
                      struct ast_stm *stm)
{
    switch (stm->kind) {
    case STM_BLOCK:
        lower_list(l, out, scope, stm->body);
        return;
    case STM_ASSIGN:
        lower_assign(l, out, stm);
        return;
    case STM_CALL:
        lower_call(l, out, stm);
        return;
    case STM_IF:
        lower_if(l, out, scope, stm);
        return;
    case STM_WHILE:
        lower_while(l, out, &scope, stm);
        return;
    case STM_DO:
        lower_do(l, out, &scope, stm);
        return;
    case STM_FOR:
        lower_for(l, out, &scope, stm);
        return;
    case STM_SWITCH:
        lower_switch(l, out, scope, stm);
        return;
    case STM_BREAK:
        add_jump(l, out, &scope, scope.break_target, stm->at);
        return;
    case STM_CONTINUE:
        if (scope.continue_target)
            add_jump(l, out, &scope, scope.continue_target, stm->at);
        else
            add_simple(l, out, STM_SKIP, stm->at);
        return;
    case STM_RETURN:
        lower_return(l, out, stm);
        return;
    case STM_ATOMIC:
        lower_atomic(l, out, stm);
        return;
    case STM_VOTE:
        add_with_target(l, out, stm);
        return;
    case STM_HAVOC:
        lower_havoc(l, out, stm);
        return;
    case STM_SKIP:
    case STM_EXIT:
    case STM_BARRIER:
    case STM_SYNC:
    case STM_ARRIVE:
    case STM_ASSERT:
    case STM_ASSUME:
    case STM_MEMBAR:
    case STM_PICK:
    case STM_LOCKSYNC:
        add(out, stm);
        return;
    case STM_KIND_COUNT:
        break;
    }
    invariant_fail("a statement of the language", __FILE__, __LINE__);
}

/* ---- functions ---- */

/* p_i = arg_i; and the parameters become locals like the others. */
static void take_arguments(struct lowering *l, struct stm_list *out, struct ast_function *f)
{
    struct ast_var *var = f->locals;
    for (uint32_t i = 0; i < f->parameter_count; i++, var = var->next) {
        add_assign(l, out, var, ast_var_ref(l->arena, l->arguments[i]), f->at);
        var->is_parameter = false;
    }
    f->parameter_count = 0;
}

static void lower_function(struct lowering *l, struct ast_function *f)
{
    struct stm_list out = {0};
    struct scope scope = {0};
    l->function = f;
    l->flags = l->selectors = l->entries = l->operands = l->olds = NULL;
    l->flag_count = 0;
    bool falls_off = f->returns_int && !never_ends(f->body);
    take_arguments(l, &out, f);
    lower_list(l, &out, scope, f->body);
    if (falls_off)
        add_assign(l, &out, l->result, ast_int(l->arena, 0), f->at);
    if (!out.first)
        add_simple(l, &out, STM_SKIP, f->at);
    f->body = out.first;
    f->returns_int = false;
}

static struct ast_var *new_private(struct lowering *l, const char *name)
{
    struct ast_var *var = ast_var(l->arena, name, SPACE_PRIVATE, 1, false);
    ast_var_append(&l->kernel->vars, var);
    return var;
}

/* One set for all functions: they are copied as soon as a call or return is done. */
static void make_call_variables(struct lowering *l)
{
    uint32_t most = 0;
    bool results = false;
    for (const struct ast_function *f = l->kernel->functions; f; f = f->next) {
        most = f->parameter_count > most ? f->parameter_count : most;
        results |= f->returns_int;
    }
    l->arguments = ARENA_ARRAY(l->arena, struct ast_var *, most);
    for (uint32_t i = 0; i < most; i++)
        l->arguments[i] =
            new_private(l, arena_printf(l->arena, "arg%u%s", (unsigned)i + 1, l->suffix));
    if (results)
        l->result = new_private(l, arena_printf(l->arena, "result%s", l->suffix));
}

struct ast_kernel *lower_core(struct arena *arena, const struct ast_kernel *kernel)
{
    return lower_core_with(arena, kernel, false);
}

struct ast_kernel *lower_core_with(struct arena *arena, const struct ast_kernel *kernel,
                                   bool keep_switch)
{
    INVARIANT(kernel->form == FORM_STRUCTURED);
    struct ast_kernel *core = ast_kernel_copy(arena, kernel);
    struct lowering l = {.arena = arena,
                         .kernel = core,
                         .suffix = choose_suffix(arena, core),
                         .keep_switch = keep_switch};
    make_call_variables(&l);
    for (const struct ast_function *f = core->functions; f && keep_switch; f = f->next)
        l.calls_meet = l.calls_meet || meets(f->body, false);
    for (struct ast_function *f = core->functions; f; f = f->next)
        lower_function(&l, f);
    lower_function(&l, core->main);
    return core;
}
